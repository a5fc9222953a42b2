"""A tree as rules: one per leaf for people, or an ordered decision list for machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from certree.encoding import Condition, Test, format_value

from ._payload_labels import Labels
from ._routing import path
from ._wording import one_line, plain

if TYPE_CHECKING:
    from ._tree import Tree


_OR_MISSING = " or missing"


class Rule(NamedTuple):
    """What a tree says about the rows of one leaf.

    Attributes
    ----------
    conditions : tuple of str
        All must hold; conditions on the same column are merged. Empty if the tree is one leaf.
    prediction : object
        What the leaf predicts: a class, a number, or the numbers of a vector or decision.
    support : int or float
        Number of the training rows in the leaf; their weight, if the tree knows only that.
    """

    conditions: tuple[str, ...]
    prediction: Any
    support: float

    @property
    def body(self) -> str:
        """All conditions as one text; "always" if there are none."""
        parts = self.conditions
        if len(parts) > 1:
            # "or" binds less than the "and" between conditions.
            parts = tuple(f"({part})" if part.endswith(_OR_MISSING) else part for part in parts)
        return " and ".join(parts) or "always"

    def __str__(self) -> str:
        return f"{self.body}: {one_line(str(self.prediction))}"


def steps(tree: Tree, leaf: int) -> list[tuple[Test, int]]:
    """Return the tests above a leaf, each with the outcome that leads to the leaf."""
    nodes = path(tree, leaf)
    return [
        (tree.node_test(above), below - int(tree.first_child[above]))
        for above, below in pairwise(nodes)
    ]


def conditions(tree: Tree, leaf: int) -> list[Condition]:
    """Return the conditions that lead to a leaf, from the root on."""
    return [test.condition(outcome) for test, outcome in steps(tree, leaf)]


def rules(tree: Tree) -> list[Rule]:
    """Return one rule per leaf, leaves from left to right."""
    payload = tree.payload
    amounts = payload.weights if payload.node_rows is None else payload.node_rows
    return [
        Rule(merged(conditions(tree, leaf)), payload.value(leaf), plain(amounts[leaf]))
        for leaf in tree.preorder.tolist()
        if tree.test[leaf] < 0
    ]


def to_frame(tree: Tree) -> Any:
    """Return the rules as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "A data frame needs pandas; install it with `pip install pandas`, or use rules(), "
            "which needs nothing."
        ) from error
    leaves = [leaf for leaf in tree.preorder.tolist() if tree.test[leaf] < 0]
    payload = tree.payload
    predictions = np.empty(len(leaves), dtype=object)
    predictions[:] = [payload.value(leaf) for leaf in leaves]
    columns = {
        "leaf": leaves,
        "depth": tree.node_depth[leaves],
        "rule": [rule.body for rule in rules(tree)],
        "prediction": pd.Series(predictions).infer_objects(),
    }
    if payload.node_rows is not None:
        columns["rows"] = payload.node_rows[leaves]
    if payload.is_weighted:
        columns["weight"] = payload.weights[leaves]
    if isinstance(payload, Labels):
        columns["share"] = payload.shares(leaves)[np.arange(len(leaves)), payload.label[leaves]]
    return pd.DataFrame(columns)


def decision_list(tree: Tree) -> Iterator[tuple[list[Condition], int]]:
    """Yield (conditions, leaf) such that a row belongs to the first leaf whose conditions hold.

    Leaves come from left to right, and a condition is listed only where it is not the last
    outcome of its test. No negation is needed: say a row's own leaf is L and an earlier leaf E
    matches it too. Where their paths part, E takes the earlier outcome, which is listed for E, so
    it holds for the row; but then the row would not have gone towards L. Ranges on one column
    shrink to the one that implies all of them; missing values hold if they do for all.
    """
    for leaf in tree.preorder.tolist():
        if tree.test[leaf] >= 0:
            continue
        listed: dict[Any, Condition] = {}
        for test, outcome in steps(tree, leaf):
            if outcome == test.n_outcomes - 1:
                continue
            condition = test.condition(outcome)
            key = condition.order if condition.is_range else condition
            known = listed.get(key, condition)
            listed[key] = known.narrowed(condition) if condition.is_range else condition
        yield list(listed.values()), leaf


@dataclass(slots=True)
class _Column:
    """What the tests on a path say about one column."""

    name: str
    interval: Condition | None = None
    category: Any = None
    is_category: bool = False
    others: list[Any] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    is_flag: set[bool] = field(default_factory=set)  # whether a flag is to be set
    asked_missing: bool | None = None  # what the test "is missing" found
    may_be_missing: bool = True  # whether all conditions so far take missing values
    is_said: bool = False  # whether some test had missing values in training
    known: bool = False  # whether some condition already implies that the value is present

    def add(self, condition: Condition) -> None:
        """Take in one more condition."""
        self.may_be_missing &= condition.missing
        if condition.kind == "missing":
            self.asked_missing = condition.missing
            return
        self.is_said |= condition.tells_missing
        self.known |= not condition.missing
        is_plain, known = condition.said is None, self.interval or condition
        if is_plain and condition.is_range and known.order == condition.order:
            self.interval = known.narrowed(condition)
        elif is_plain and len(condition.values) == 1:
            if not condition.excluded:
                self.category, self.is_category = condition.values[0], True
            elif condition.values[0] not in self.others:
                self.others.append(condition.values[0])
        else:
            # About missing values there is one sentence for the whole column.
            sentence = one_line(condition.words())
            if condition.kind == "flag":
                self.is_flag.add(condition.high is None)
            if sentence not in self.sentences:
                self.sentences.append(sentence)

    def conditions(self) -> Iterator[str]:
        """Yield what is asked of the column, in words."""
        if self.may_be_missing and (self.asked_missing or self._is_impossible()):
            yield f"{one_line(self.name)} is missing"
            return
        ending = _OR_MISSING if self.may_be_missing and self.is_said else ""
        texts = [*self._texts(), *self.sentences]
        yield from (text + ending for text in texts)
        if self.asked_missing:
            yield f"{one_line(self.name)} is missing"
        elif self.asked_missing is False and not self.known and not (texts and self.is_said):
            yield f"{one_line(self.name)} is present"

    def _is_impossible(self) -> bool:
        """Return whether no value but a missing one fulfils the conditions."""
        return len(self.is_flag) > 1 or (self.interval is not None and self.interval.is_empty)

    def _texts(self) -> Iterator[str]:
        name = one_line(self.name)
        if self.interval is not None:
            yield one_line(self.interval.words())
        if self.is_category:
            yield f"{name} = {one_line(format_value(self.category))}"
        elif len(self.others) == 1:
            yield f"{name} != {one_line(format_value(self.others[0]))}"
        elif self.others:
            yield f"{name} not in {{{', '.join(one_line(format_value(v)) for v in self.others)}}}"


def merged(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Return the conditions of a path, merged by column, in order of first appearance."""
    columns: dict[int, _Column] = {}
    for condition in conditions:
        columns.setdefault(condition.feature, _Column(condition.name)).add(condition)
    return tuple(text for column in columns.values() for text in column.conditions())
