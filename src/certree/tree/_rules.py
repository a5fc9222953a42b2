"""A tree as rules: one per leaf for people, or an ordered decision list for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from certree.encoding import Category, Flag, Missing, Test, Threshold, format_value
from certree.tree._labels import one_line, plain
from certree.tree._routing import path

if TYPE_CHECKING:
    from certree.tree._tree import Tree


class Rule(NamedTuple):
    """What a tree says about the rows of one leaf.

    Attributes
    ----------
    conditions : tuple of str
        All must hold; conditions on the same column are merged. Empty if the tree is one leaf.
    prediction : object
        The class.
    support : float
        Weight of the training rows in the leaf.
    """

    conditions: tuple[str, ...]
    prediction: Any
    support: float

    def __str__(self) -> str:
        body = " and ".join(self.conditions) or "always"
        return f"{body}: {one_line(str(self.prediction))}"


def steps(tree: Tree, leaf: int) -> list[tuple[Test, int]]:
    """Return the tests above a leaf, each with the outcome that leads to the leaf."""
    nodes = path(tree, leaf)
    return [
        (tree.node_test(above), below - int(tree.first_child[above]))
        for above, below in pairwise(nodes)
    ]


def rules(tree: Tree) -> list[Rule]:
    """Return one rule per leaf, leaves from left to right."""
    return [
        Rule(
            _merged(steps(tree, leaf)),
            plain(tree.classes[tree.label[leaf]]),
            plain(tree.counts[leaf].sum()),
        )
        for leaf in tree.preorder.tolist()
        if tree.test[leaf] < 0
    ]


def decision_list(tree: Tree) -> Iterator[tuple[list[tuple[Test, int]], int]]:
    """Yield (conditions, leaf) such that a row belongs to the first leaf whose conditions hold.

    Leaves come from left to right, and a condition is listed only where it is not the last
    outcome of its test. No negation is needed: say a row's own leaf is L and an earlier leaf E
    matches it too. Where their paths part, E takes the earlier outcome, which is listed for E, so
    it holds for the row; but then the row would not have gone towards L. Hence a missing value,
    which satisfies no listed condition, ends where training sent it. Of several thresholds on one
    column only the lowest is kept, since it implies the others.
    """
    for leaf in tree.preorder.tolist():
        if tree.test[leaf] >= 0:
            continue
        listed: dict[Any, tuple[Test, int]] = {}
        for test, outcome in steps(tree, leaf):
            if outcome == test.n_outcomes - 1:
                continue
            key = (Threshold, test.feature) if isinstance(test, Threshold) else (test, outcome)
            known = listed.get(key, (None, 0))[0]
            if (
                isinstance(test, Threshold)
                and isinstance(known, Threshold)
                and known.threshold <= test.threshold
            ):
                continue
            listed[key] = (test, outcome)
        yield list(listed.values()), leaf


@dataclass(slots=True)
class _Column:
    """What the tests on a path say about one column."""

    name: str
    low: float | None = None
    high: float | None = None
    category: Any = None
    is_category: bool = False
    others: list[Any] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    present: str | None = None
    known: bool = False  # some condition already implies that the value is present

    def add(self, test: Test, outcome: int) -> None:
        if isinstance(test, Threshold):
            if outcome == 0:
                self.high = test.threshold if self.high is None else min(self.high, test.threshold)
                self.known = True
            else:
                self.low = test.threshold if self.low is None else max(self.low, test.threshold)
        elif isinstance(test, Category):
            if outcome == 0:
                self.category, self.is_category, self.known = test.value, True, True
            elif test.value not in self.others:
                self.others.append(test.value)
        else:
            self.known = self.known or (isinstance(test, Flag) and outcome == 0)
            sentence = one_line(test.describe(outcome))
            if isinstance(test, Missing) and outcome == 1:
                self.present = sentence
            elif sentence not in self.sentences:
                self.sentences.append(sentence)

    def conditions(self) -> Iterator[str]:
        name = one_line(self.name)
        if self.low is not None and self.high is not None:
            yield f"{format_value(self.low)} < {name} <= {format_value(self.high)}"
        elif self.high is not None:
            yield f"{name} <= {format_value(self.high)}"
        elif self.low is not None:
            yield f"{name} > {format_value(self.low)}"
        if self.is_category:
            yield f"{name} = {one_line(format_value(self.category))}"
        elif len(self.others) == 1:
            yield f"{name} != {one_line(format_value(self.others[0]))}"
        elif self.others:
            yield f"{name} not in {{{', '.join(one_line(format_value(v)) for v in self.others)}}}"
        yield from self.sentences
        if self.present is not None and not self.known:
            yield self.present


def _merged(tests: list[tuple[Test, int]]) -> tuple[str, ...]:
    """Return the conditions of a path, merged by column, in order of first appearance."""
    columns: dict[int, _Column] = {}
    for test, outcome in tests:
        columns.setdefault(test.feature, _Column(test.name)).add(test, outcome)
    return tuple(text for column in columns.values() for text in column.conditions())
