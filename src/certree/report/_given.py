"""The rows that a report is given: read, checked, and of the right kind for the model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from certree.encoding import Table, Test, format_value, read_table
from certree.encoding._cell_values import is_missing
from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._texts import as_array
from certree.estimators import PolicyTree
from certree.leaves.survival.censored import read_censored
from certree.tree import (
    ChosenDecisions,
    Clusters,
    Labels,
    LinearLeaves,
    Numbers,
    SeveralLabels,
    SeveralNumbers,
    SurvivalLeaves,
    Tree,
)
from certree.tree._leaf_style import colours
from certree.tree._wording import plain, shorten

MOST_LETTERS = 60
"""The most letters of a name in tables and forms; longer ones lose their middle."""


@dataclass(frozen=True)
class ReportRows:
    """Some rows.

    Attributes
    ----------
    name : str
        What they are called in the report.
    table : Table
        The columns.
    X : table
        The columns as they were given.
    y : array or None
        What is known of them: classes, numbers, times and events, rewards or costs.
    groups : array-like or None
        The groups that they belong to.
    """

    name: str
    table: Table
    X: Any
    y: NDArray[Any] | None
    groups: Any = None

    @cached_property
    def labels(self) -> tuple[list[Any], NDArray[np.intp]]:
        """The classes of the rows as plain values, and the number of the class of each row."""
        assert self.y is not None
        classes, codes = encode_labels(self.y)
        return [plain(label) for label in classes], np.asarray(codes, dtype=np.intp)


def distinct_values(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the different values of a column, and the place of each row's; -1 if it is missing."""
    absent = is_missing(column)
    values, inverse = np.unique(column[~absent], return_inverse=True)
    places = np.full(len(column), -1, dtype=np.intp)
    places[~absent] = inverse.ravel()
    return values, places


def named_values(test: Test) -> list[Any]:
    """Return the values that a test names."""
    return list(dict.fromkeys(value for one in test.conditions for value in one.named))


def text_of(value: Any) -> str:
    """Return a value of a column as a short text."""
    known = plain(value) if isinstance(value, np.number | np.bool_) else value
    is_plain = isinstance(known, str | int | float)
    return shorten(format_value(known) if is_plain else str(known), MOST_LETTERS)


def kind_of(model: Any, tree: Tree) -> str:
    """Return what a tree predicts: "classes", "numbers", "risks" and so on; "other" if unknown."""
    if isinstance(model, PolicyTree):
        return "treatments"
    if isinstance(tree.payload, ChosenDecisions):
        return "decisions"
    if isinstance(tree.payload, SurvivalLeaves):
        return "risks"
    if isinstance(tree.payload, Clusters):
        return "clusters"
    if isinstance(tree.payload, SeveralNumbers | SeveralLabels):
        return "outputs"
    if isinstance(tree.payload, Numbers | LinearLeaves) or (
        model is not None and is_regressor(model)
    ):
        return "numbers"
    if isinstance(tree.payload, Labels):
        return "numbers" if colours(tree).is_scale else "classes"
    return "other"


def read_rows(
    tree: Tree, kind: str, X: Any, y: Any, groups: Any, names: tuple[str, str, str]
) -> ReportRows | None:
    """Read rows and what is known of them; None if there are none.

    Parameters
    ----------
    tree : Tree
        The tree that they are sent through.
    kind : str
        What it predicts.
    X, y, groups : object
        As they were given.
    names : tuple of str
        What the rows, X and y are called.
    """
    name, called, target = names
    if X is None:
        if y is not None or groups is not None:
            raise ValueError(f"{target} was given without {called}; pass {called}, too.")
        return None
    table = read_table(X)
    tree.apply(table)  # raises unless names and types of columns are those of training
    known = None if y is None else _read_target(y, table.n_rows, kind, (called, target))
    if groups is not None and len(groups) != table.n_rows:
        raise ValueError(
            f"{called} has {table.n_rows} rows, but there are {len(groups)} sensitive features."
        )
    return ReportRows(name, table, X, known, groups)


def _read_target(y: Any, n_rows: int, kind: str, names: tuple[str, str]) -> NDArray[Any]:
    called, target = names
    if kind == "risks":
        return read_censored(y, n_rows, "report")
    array = as_array(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    wanted = {"decisions": (1, 2), "treatments": (1, 2), "outputs": (2,)}.get(kind, (1,))
    if kind != "other" and array.ndim not in wanted:
        what = "a column for each output" if kind == "outputs" else "one value per row"
        raise ValueError(f"{target} must have {what}, got shape {array.shape}.")
    if len(array) != n_rows:
        raise ValueError(f"{called} has {n_rows} rows, but {target} has {len(array)} values.")
    if kind == "classes":
        return check_labels(array, n_rows, "report")
    if kind == "numbers":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{target} must hold numbers for a tree that predicts them."
            ) from error
        if not np.isfinite(array).all():
            raise ValueError(f"{target} must hold finite numbers; drop rows without a value.")
    return array
