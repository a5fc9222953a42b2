"""A tree as rules: one per leaf for people, or an ordered decision list for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from certree.encoding import (
    Category,
    Flag,
    Level,
    Missing,
    SidedTest,
    Test,
    Threshold,
    TimeThreshold,
    format_value,
)

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


def rules(tree: Tree) -> list[Rule]:
    """Return one rule per leaf, leaves from left to right."""
    payload = tree.payload
    amounts = payload.weights if payload.node_rows is None else payload.node_rows
    return [
        Rule(merged(steps(tree, leaf)), payload.value(leaf), plain(amounts[leaf]))
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


def decision_list(tree: Tree) -> Iterator[tuple[list[tuple[Test, int]], int]]:
    """Yield (conditions, leaf) such that a row belongs to the first leaf whose conditions hold.

    Leaves come from left to right, and a condition is listed only where it is not the last
    outcome of its test. No negation is needed: say a row's own leaf is L and an earlier leaf E
    matches it too. Where their paths part, E takes the earlier outcome, which is listed for E, so
    it holds for the row; but then the row would not have gone towards L. Of several thresholds on
    one column only the lowest is kept, since it implies the others; missing values hold if they do
    for all.
    """
    for leaf in tree.preorder.tolist():
        if tree.test[leaf] >= 0:
            continue
        listed: dict[Any, tuple[Test, int]] = {}
        for test, outcome in steps(tree, leaf):
            if outcome == test.n_outcomes - 1:
                continue
            key = _order_of(test) or (test, outcome)
            known = listed.get(key, (None, 0))[0]
            listed[key] = (test if known is None else _both(known, test), outcome)
        yield list(listed.values()), leaf


def _order_of(test: Test) -> Any:
    """Return what tests have in common of which one implies another, if there are such."""
    if isinstance(test, Threshold | TimeThreshold):
        return type(test), test.feature
    return (Level, test.feature, test.levels) if isinstance(test, Level) else None


def _both(one: Test, other: Test) -> Test:
    """Return the test that holds where two of the same order, or two equal ones, do."""
    if isinstance(one, Threshold) and isinstance(other, Threshold):
        lower: Threshold | Level | TimeThreshold = (
            one if one.threshold <= other.threshold else other
        )
    elif isinstance(one, TimeThreshold) and isinstance(other, TimeThreshold):
        lower = one if one.moment <= other.moment else other
    elif isinstance(one, Level) and isinstance(other, Level):
        lower = one if one.rank <= other.rank else other
    else:
        return one
    if lower.missing and not (one.missing and other.missing):
        return replace(lower, missing=False)
    return lower


@dataclass(slots=True)
class _Column:
    """What the tests on a path say about one column."""

    name: str
    low: Any = None
    high: Any = None
    # Of low and high: "numbers", "times" with their words, or levels of which they are the ranks.
    order: Any = None
    category: Any = None
    is_category: bool = False
    others: list[Any] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    is_flag: set[int] = field(default_factory=set)
    asked_missing: int | None = None  # the outcome of the test "is missing"
    may_be_missing: bool = True  # whether all tests so far send missing values here
    is_said: bool = False  # whether some test had missing values in training
    known: bool = False  # whether some condition already implies that the value is present

    def add(self, test: Test, outcome: int) -> None:
        """Take in one more test."""
        self.may_be_missing &= test.missing_outcome == outcome
        if isinstance(test, Missing):
            self.asked_missing = outcome
            return
        self.is_said |= isinstance(test, SidedTest) and test.missing is not None
        self.known |= isinstance(test, SidedTest) and test.missing_outcome != outcome
        if isinstance(test, Threshold) and self.order in (None, "numbers"):
            self.order = "numbers"
            self._bound(test.threshold, outcome)
        elif isinstance(test, TimeThreshold) and self.order in (None, "times"):
            self.order = "times"
            self._bound((test.moment, test.words), outcome)
        elif isinstance(test, Level) and self.order in (None, test.levels):
            self.order = test.levels
            self._bound(test.rank, outcome)
        elif isinstance(test, Category):
            if outcome == 0:
                self.category, self.is_category = test.value, True
            elif test.value not in self.others:
                self.others.append(test.value)
        else:
            # About missing values there is one sentence for the whole column.
            silent = test.silent() if isinstance(test, SidedTest) else test
            sentence = one_line(silent.describe(outcome))
            if isinstance(test, Flag):
                self.is_flag.add(outcome)
            if sentence not in self.sentences:
                self.sentences.append(sentence)

    def _bound(self, value: Any, outcome: int) -> None:
        if outcome == 0:
            self.high = value if self.high is None else min(self.high, value)
        else:
            self.low = value if self.low is None else max(self.low, value)

    def conditions(self) -> Iterator[str]:
        """Yield what is asked of the column, in words."""
        if self.may_be_missing and (self.asked_missing == 0 or self._is_impossible()):
            yield f"{one_line(self.name)} is missing"
            return
        ending = _OR_MISSING if self.may_be_missing and self.is_said else ""
        texts = [*self._texts(), *self.sentences]
        yield from (text + ending for text in texts)
        if self.asked_missing == 0:
            yield f"{one_line(self.name)} is missing"
        elif self.asked_missing == 1 and not self.known and not (texts and self.is_said):
            yield f"{one_line(self.name)} is present"

    def _is_impossible(self) -> bool:
        """Return whether no value but a missing one fulfils the conditions."""
        is_empty = self.low is not None and self.high is not None and self.low >= self.high
        return is_empty or len(self.is_flag) > 1

    def _texts(self) -> Iterator[str]:
        name = one_line(self.name)
        if self.low is not None and self.high is not None:
            yield f"{self._value(self.low)} < {name} <= {self._value(self.high)}"
        elif self.high is not None:
            yield f"{name} <= {self._value(self.high)}"
        elif self.low is not None:
            yield f"{name} > {self._value(self.low)}"
        if self.is_category:
            yield f"{name} = {one_line(format_value(self.category))}"
        elif len(self.others) == 1:
            yield f"{name} != {one_line(format_value(self.others[0]))}"
        elif self.others:
            yield f"{name} not in {{{', '.join(one_line(format_value(v)) for v in self.others)}}}"

    def _value(self, bound: Any) -> str:
        if self.order == "times":
            return str(bound[1])
        value = bound if self.order == "numbers" else self.order[int(bound)]
        return one_line(format_value(value))


def merged(tests: list[tuple[Test, int]]) -> tuple[str, ...]:
    """Return the conditions of a path, merged by column, in order of first appearance."""
    columns: dict[int, _Column] = {}
    for test, outcome in tests:
        columns.setdefault(test.feature, _Column(test.name)).add(test, outcome)
    return tuple(text for column in columns.values() for text in column.conditions())
