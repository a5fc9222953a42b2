"""Trees to test with: a readable one, and Hypothesis strategies for tables and trees on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from certree.encoding import Category, Flag, Level, Missing, Test, Threshold
from certree.tree import Tree

NAMES = ("age", "color", "income", "smoker")


def mixed_tree() -> Tree:
    """Seven leaves over a number, a category, a number with missing values and a boolean."""
    tests = [
        Threshold(0, "age", 35.5),
        Category(1, "color", "red"),
        Missing(2, "income"),
        Threshold(2, "income", 1234.25),
        Flag(3, "smoker", True),
        Threshold(0, "age", 60.25),
        Threshold(0, "age", 99.0),  # never asked
    ]
    test = [0, 1, 4, -1, 2, 5, -1, -1, 3, -1, -1, -1, -1]
    first_child = [1, 3, 5, -1, 7, 9, -1, -1, 11, -1, -1, -1, -1]
    label = [-1, -1, -1, 0, -1, -1, 1, 2, -1, 0, 1, 2, 0]
    leaf_counts = {
        3: (8, 1, 0),
        6: (0, 7, 0),
        7: (1, 0, 5),
        9: (4, 1, 1),
        10: (0, 6, 0),
        11: (0, 0, 3),
        12: (2, 0, 1),
    }
    counts = node_counts(test, first_child, leaf_counts, n_classes=3)
    return Tree.from_arrays(
        tests,
        test,
        first_child,
        label,
        counts=counts,
        classes=np.array(["no", "yes", "maybe"]),
        feature_names=NAMES,
    )


def node_counts(
    test: Sequence[int], first_child: Sequence[int], leaves: dict[int, Any], n_classes: int
) -> Any:
    """Add up the counts of leaves towards the root; children have larger numbers."""
    counts = np.zeros((len(test), n_classes), dtype=np.int64)
    for node in reversed(range(len(test))):
        if test[node] < 0:
            counts[node] = leaves[node]
        else:
            counts[node] = counts[first_child[node]] + counts[first_child[node] + 1]
    return counts


MIXED_ROWS: list[list[Any]] = [
    [30.0, "red", 10.0, True],
    [30.0, "blue", None, False],
    [30.0, None, 1234.25, True],
    [30.0, "unseen", 5000.0, False],
    [None, "red", 1.0, True],
    [60.25, "red", 1.0, True],
    [70.0, "red", None, False],
]
MIXED_LEAVES = [3, 7, 11, 12, 10, 9, 6]


def stump(classes: Any = ("no", "yes"), name: str = "age", category: str | None = None) -> Tree:
    """One test and two leaves."""
    test: Test = Threshold(0, name, 0.5) if category is None else Category(0, name, category)
    return Tree(
        [test],
        [0, -1, -1],
        [1, -1, -1],
        [-1, 0, 1],
        counts=[[4, 3], [4, 1], [0, 2]],
        classes=classes,
        feature_names=[name],
    )


def leaf(classes: Any = ("no", "yes"), n_features: int = 2) -> Tree:
    """No test at all."""
    return Tree([], [-1], [-1], [1], counts=[[1, 3]], classes=classes, n_features=n_features)


def chain(depth: int, *, holds: bool) -> Tree:
    """A tree of any depth that goes on where the test holds, or where it does not."""
    tests = [Threshold(0, "x0", float(depth - i if holds else i)) for i in range(depth)]
    test, first_child, label = [-1], [-1], [0]
    node = 0
    for i in range(depth):
        test[node], first_child[node], label[node] = i, len(test), -1
        test += [-1, -1]
        first_child += [-1, -1]
        label += [i % 2, (i + 1) % 2]
        node = len(test) - (2 if holds else 1)
    counts = np.ones((len(test), 2))
    return Tree(tests, test, first_child, label, counts=counts, classes=[0, 1])


class Case(NamedTuple):
    """A tree and rows for it, as lists of plain values with None for missing."""

    tree: Tree
    rows: list[list[Any]]
    kinds: list[str]


# Letters, quotation marks, escapes, markup, line breaks, other scripts; no zero character, which
# SQL cannot hold.
texts = st.text(alphabet="aB'\"`\\\n\t;%{}<&>$_ -]é漢🌳\u2028", min_size=1, max_size=8)
numbers = st.integers(-40, 40).map(lambda i: i / 8)


@st.composite
def _column(draw: st.DrawFn, feature: int, name: str, kind: str) -> tuple[Any, list[Test]]:
    """Return a strategy for the values of a column and the tests that may be asked about it."""
    values: st.SearchStrategy[Any]
    sides = draw(st.sampled_from([(None,), (False,), (False, True)]))
    if kind == "number":
        cuts = draw(st.lists(numbers, min_size=1, max_size=3, unique=True))
        tests: list[Test] = [Threshold(feature, name, cut, side) for cut in cuts for side in sides]
        values = st.one_of(numbers, st.sampled_from(cuts))
    elif kind == "ordered":
        levels = tuple(draw(st.lists(texts, min_size=2, max_size=4, unique=True)))
        tests = [
            Level(feature, name, levels, level, side) for level in levels[:-1] for side in sides
        ]
        values = st.one_of(st.sampled_from(levels), texts)
    elif kind == "category":
        words = draw(st.lists(texts, min_size=2, max_size=4, unique=True))
        tests = [Category(feature, name, word, sides[0]) for word in words[1:]]
        values = st.sampled_from(words)
    elif kind == "code":
        tests = [Category(feature, name, code) for code in (1, 2)]
        values = st.sampled_from([0, 1, 2, 3])
    else:
        tests = [Flag(feature, name, kind == "boolean", side) for side in sides]
        values = st.booleans() if kind == "boolean" else st.sampled_from([0, 1])
    return st.one_of(values, values, values, st.none()), [*tests, Missing(feature, name)]


@st.composite
def cases(draw: st.DrawFn, *, only_numbers: bool = False) -> Case:
    """Random trees over random tables."""
    kinds_of = ["number", "flag"]
    if not only_numbers:
        kinds_of += ["boolean", "category", "code", "ordered"]
    kinds = draw(st.lists(st.sampled_from(kinds_of), min_size=1, max_size=4))
    unique = {"unique_by": str.casefold, "min_size": len(kinds), "max_size": len(kinds)}
    names = draw(st.lists(texts, **unique))
    columns = [draw(_column(i, n, k)) for i, (n, k) in enumerate(zip(names, kinds, strict=True))]
    rows = draw(st.lists(st.tuples(*[values for values, _ in columns]), min_size=1, max_size=12))
    tests = [test for _, some in columns for test in some]
    tree = draw(trees(tests, names))
    return Case(tree, [list(row) for row in rows], kinds)


@st.composite
def trees(draw: st.DrawFn, tests: list[Test], names: list[str]) -> Tree:
    """Random trees that ask some of the given tests; nodes are numbered level by level."""
    classes = draw(
        st.one_of(
            st.lists(texts, min_size=2, max_size=3, unique=True),
            st.lists(st.integers(-5, 5), min_size=2, max_size=3, unique=True),
            st.just([0.5, 1.5]),
            st.just([False, True]),
        )
    )
    test, first_child, label, depths = [-1], [-1], [0], [0]
    node = 0
    while node < len(test):
        if depths[node] < 4 and draw(st.booleans() if node else st.integers(0, 9)):
            test[node] = draw(st.integers(0, len(tests) - 1))
            first_child[node], label[node] = len(test), -1
            test += [-1, -1]
            first_child += [-1, -1]
            label += [0, 0]
            depths += [depths[node] + 1] * 2
        else:
            label[node] = draw(st.integers(0, len(classes) - 1))
        node += 1
    count = st.lists(st.integers(0, 9), min_size=len(classes), max_size=len(classes))
    leaf_counts = {node: draw(count) for node in range(len(test)) if test[node] < 0}
    counts = node_counts(test, first_child, leaf_counts, len(classes))
    return Tree.from_arrays(
        tests, test, first_child, label, counts=counts, classes=classes, feature_names=names
    )
