"""Rows to be explained: a table, a mapping or a series, with the columns of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from certree.encoding import Table, compare_columns, read_table
from certree.encoding._not_tables import refuse_other_forms
from certree.tree import Explanation, Explanations
from certree.tree._explain import ANY, Explainer


def explain(model: Any, X: Any, target: Any) -> Explanation | Explanations:
    """Return the explanation of one row, or of several."""
    tree = model.tree_
    table = _read_rows(model, X)
    encoder = getattr(model, "encoder_", None)
    asked = tree.tests if encoder is None else encoder.tests_.samples()
    found = Explainer(tree, asked).explain(table, ANY if target is None else target)
    return found[0] if len(found) == 1 else Explanations(found)


def _read_rows(model: Any, X: Any) -> Table:
    tree = model.tree_
    names = list(tree.feature_names) if tree.has_names else None
    if isinstance(X, Mapping):
        return _read_mapping(X, list(tree.feature_names))
    if hasattr(X, "items") and hasattr(X, "index") and np.ndim(X) == 1:  # a series of pandas
        if names is not None or len(X) != tree.n_features:
            return _read_mapping(dict(X.items()), list(tree.feature_names))
        return read_table([list(X)])
    refuse_other_forms(X)
    if np.ndim(X) == 1 if isinstance(X, list | tuple | np.ndarray) else np.isscalar(X):
        raise ValueError(
            "explain needs rows of a table, such as X.iloc[[0]] or [[5.1, 3.5]], or a mapping from "
            f"columns to values; got {type(X).__name__} without rows."
        )
    table = read_table(X)
    if table.has_names and names is not None:
        _check_names(table.names, names)
    if table.n_columns != tree.n_features:
        raise ValueError(
            f"X has {table.n_columns} columns, but the model was fitted on {tree.n_features}: "
            f"{_listed(tree.feature_names)}."
        )
    compare_columns(model, X, table)
    return table


def _read_mapping(row: Mapping[Any, Any], names: Sequence[str]) -> Table:
    """Read one row that is given by the names of columns."""
    _check_names(list(row), names)
    line = np.empty((1, len(names)), dtype=object)
    line[0, :] = [row[name] for name in names]
    return read_table(line, names=names)


def _check_names(given: Sequence[Any], names: Sequence[str]) -> None:
    lacking = [name for name in names if name not in given]
    if lacking:
        raise ValueError(
            f"The row lacks {_columns(lacking)}; the model was fitted on {_listed(names)}."
        )
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"The row has {_columns(unknown)}, which the model does not know; it was fitted on "
            f"{_listed(names)}."
        )


def _columns(names: Sequence[Any]) -> str:
    return f"the column{'' if len(names) == 1 else 's'} {_listed(names)}"


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:10])
    return f"{shown}, ..." if len(names) > 10 else shown
