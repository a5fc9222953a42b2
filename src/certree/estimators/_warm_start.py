"""Trees that users bring along: read, expressed in the tests of the encoder, and valued.

A tree that is known before the search is only of use if it is one of the trees searched. So each
of its tests is looked up among the encoder's, by how it divides the training rows, and added to
them if it is not there. What the rows do not need is dropped: splits with an empty side, and
splits between leaves of the same label. Leaves get the best label for their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from certree import _engine
from certree.encoding import Table, Test, check_columns
from certree.tree import Tree
from certree.tree._from_sklearn import from_sklearn, is_sklearn_tree


@dataclass(frozen=True)
class WarmTree:
    """A tree over encoded columns, with its leaf cost in units of the cost matrix."""

    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]
    leaf_cost: int
    depth: int
    smallest_leaf: int

    @property
    def n_splits(self) -> int:
        """Number of inner nodes."""
        return int(np.count_nonzero(self.test >= 0))


def read_tree(given: Any, table: Table, classes: NDArray[Any]) -> Tree:
    """Return a tree of ours, given one, a fitted estimator of ours, or one of scikit-learn's.

    Parameters
    ----------
    given : Tree, OptimalTreeClassifier, DecisionTreeClassifier, or the latter's ``tree_``
        The tree.
    table : Table
        The training rows.
    classes : ndarray
        The class labels.

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If it does not fit the columns of the table.
    """
    tree = getattr(given, "tree_", given)
    if not isinstance(tree, Tree):
        if not is_sklearn_tree(given):
            raise TypeError(
                "A tree must be a certree Tree, a fitted estimator of certree, or a fitted "
                f"scikit-learn DecisionTreeClassifier; got {type(given).__name__}."
            )
        tree = from_sklearn(given, table, classes)
    try:
        check_columns(table, tree.n_features, tree.feature_names if tree.has_names else None)
    except ValueError as error:
        raise ValueError(f"The tree does not fit the columns of X: {error}") from None
    return tree


def express(
    tree: Tree, table: Table, columns: NDArray[np.uint8], tests: Sequence[Test]
) -> tuple[list[tuple[int, bool]], list[Test], NDArray[np.uint8]]:
    """Find the tests of a tree among those of an encoder, by how they divide the rows.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : Table
        The rows that count.
    columns : uint8 array of shape (n_rows, n_tests)
        The same rows, encoded.
    tests : sequence of Test
        What the columns mean.

    Returns
    -------
    places : list of (int, bool)
        For each test of the tree its column, and whether its outcomes are exchanged there.
    added : list of Test
        Tests of the tree that no column stands for; they come after all columns.
    columns : uint8 array
        The columns with those of the tests added.
    """
    by_feature: dict[int, dict[bytes, tuple[int, bool]]] = {}
    wanted = {test.feature for test in tree.tests}
    for position, test in enumerate(tests):
        if test.feature in wanted:
            known = by_feature.setdefault(test.feature, {})
            bits = np.packbits(columns[:, position]).tobytes()
            known.setdefault(bits, (position, False))
            known.setdefault(np.packbits(1 - columns[:, position]).tobytes(), (position, True))
    places: list[tuple[int, bool]] = []
    added: list[Test] = []
    new_columns = []
    for test in tree.tests:
        column = _answer(test, table)
        known = by_feature.setdefault(test.feature, {})
        place = known.setdefault(np.packbits(column).tobytes(), (len(tests) + len(added), False))
        if place[0] == len(tests) + len(added):
            added.append(replace(cast(Any, test), name=table.names[test.feature]))
            new_columns.append(column)
        places.append(place)
    if added:
        columns = np.asfortranarray(np.column_stack([columns, *new_columns]))
    return places, added, columns


def _answer(test: Test, table: Table) -> NDArray[np.uint8]:
    if test.n_outcomes != 2:
        raise ValueError(
            f"The tree asks {test.name!r} with {test.n_outcomes} outcomes; only trees whose tests "
            "all have two can be used here."
        )
    try:
        return test.holds(table.column(test.feature)).astype(np.uint8)
    except ValueError as error:
        raise ValueError(f"The tree does not fit the columns of X: {error}") from None


def simplify(tree: Tree, places: Sequence[tuple[int, bool]], problem: _engine.Problem) -> WarmTree:
    """Return the tree over encoded columns, without what the rows do not need.

    Parameters
    ----------
    tree : Tree
        The tree.
    places : list of (int, bool)
        Column of each of its tests, and whether outcomes are exchanged, from `express`.
    problem : Problem
        The encoded rows and what labels cost.
    """
    builder = _Builder(tree, places, problem)
    builder.descend()
    builder.merge()
    return builder.lay_out()


@dataclass
class _Part:
    """A node in the making: the rows that reach it; -1 for the column of a leaf."""

    rows: NDArray[np.intp]
    depth: int
    column: int = -1
    children: tuple[int, int] = (-1, -1)
    label: int = -1


class _Builder:
    def __init__(
        self, tree: Tree, places: Sequence[tuple[int, bool]], problem: _engine.Problem
    ) -> None:
        self.tree = tree
        self.places = places
        self.problem = problem
        self.parts: list[_Part] = []

    def descend(self) -> None:
        """Send the rows down; a node with an empty side is passed by. Parents come first."""
        n_rows = self.problem.columns.shape[0]
        self.parts = [_Part(np.arange(n_rows, dtype=np.intp), 0)]
        stack = [(0, 0)]
        while stack:
            number, node = stack.pop()
            part = self.parts[number]
            while self.tree.test[node] >= 0:
                column, exchanged = self.places[self.tree.test[node]]
                holds = self.problem.columns[part.rows, column] != 0
                first = int(self.tree.first_child[node])
                node_yes, node_no = (first + 1, first) if exchanged else (first, first + 1)
                if holds.all() or not holds.any():
                    node = node_yes if holds.all() else node_no
                    continue
                number_yes = len(self.parts)
                part.column, part.children = column, (number_yes, number_yes + 1)
                self.parts.append(_Part(part.rows[holds], part.depth + 1))
                self.parts.append(_Part(part.rows[~holds], part.depth + 1))
                stack += [(number_yes + 1, node_no), (number_yes, node_yes)]
                break
            else:
                part.label = int(np.argmin(self._costs(part.rows)))

    def merge(self) -> None:
        """Make a leaf of each split between two leaves of the same label, from below."""
        for part in reversed(self.parts):
            if part.column < 0:
                continue
            yes, no = (self.parts[child] for child in part.children)
            if yes.column < 0 and no.column < 0 and yes.label == no.label:
                part.column, part.label = -1, yes.label

    def lay_out(self) -> WarmTree:
        """Number the nodes that are left, children side by side."""
        order, test, first_child, label = [0], [], [], []
        leaves = []
        for number in order:
            part = self.parts[number]
            test.append(part.column)
            is_leaf = part.column < 0
            first_child.append(-1 if is_leaf else len(order))
            label.append(part.label if is_leaf else -1)
            if is_leaf:
                leaves.append(part)
            else:
                order += part.children
        return WarmTree(
            np.array(test, dtype=np.int32),
            np.array(first_child, dtype=np.int32),
            np.array(label, dtype=np.int32),
            leaf_cost=sum(int(self._costs(leaf.rows)[leaf.label]) for leaf in leaves),
            depth=max(leaf.depth for leaf in leaves),
            smallest_leaf=min(len(leaf.rows) for leaf in leaves),
        )

    def _costs(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return what each label would cost these rows."""
        matrix, types = self.problem.cost_matrix, self.problem.row_types[rows]
        sums = np.zeros(matrix.shape[0], dtype=np.int64)
        np.add.at(sums, types, 1 if self.problem.weights is None else self.problem.weights[rows])
        costs: NDArray[np.int64] = sums @ matrix
        return costs


def broken_limits(
    warm: WarmTree, max_depth: int | None, max_splits: int | None, min_samples_leaf: int
) -> list[str]:
    """Return in words which limits a tree breaks."""
    broken = []
    if max_depth is not None and warm.depth > max_depth:
        broken.append(f"its depth of {warm.depth} is above max_depth={max_depth}")
    if max_splits is not None and warm.n_splits > max_splits:
        broken.append(f"its {warm.n_splits} splits are above max_splits={max_splits}")
    if warm.n_splits and warm.smallest_leaf < min_samples_leaf:
        broken.append(
            f"its smallest leaf has {warm.smallest_leaf} rows, fewer than "
            f"min_samples_leaf={min_samples_leaf}"
        )
    return broken


def better_of(result: _engine.Result, warm: WarmTree, value: int) -> _engine.Result:
    """Return a result with the tree known before, unless a better one was found."""
    if result.test.size and result.upper_bound <= value:
        return result
    return replace(
        result,
        upper_bound=value,
        test=warm.test,
        first_child=warm.first_child,
        label=warm.label,
    )
