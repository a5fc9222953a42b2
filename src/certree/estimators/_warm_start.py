"""Trees that users give: read, expressed in the tests of the encoder, and valued.

A tree that is known before the search is only of use if it is one of the trees searched. So each
of its tests is looked up among the encoder's, by how it divides the training rows, and added to
them if it is not there. Before that, what the rows do not need is dropped: splits with an empty
side, and splits between leaves of the same label. Leaves get the best label for their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import RankedColumns, SidedTest, Table, Test, check_columns
from certree.encoding._tests import is_missing
from certree.engine._ordered import Columns, OrderedProblem
from certree.numbers._scale import Scale
from certree.tree import Tree
from certree.tree._from_sklearn import from_sklearn, is_sklearn_tree


@dataclass(frozen=True)
class WarmStart:
    """A tree to start from, and whether it has to be one of the trees searched."""

    tree: Any = None
    must_keep_limits: bool = True


@dataclass(frozen=True)
class WarmTree:
    """A tree over encoded columns, with its leaf cost in units of the cost matrix."""

    nodes: engine.Nodes
    leaf_cost: int
    smallest_leaf: int

    def value(self, scale: Scale) -> int:
        """Return the value that the search gives it."""
        return scale.value(self.leaf_cost, self.nodes.n_splits)


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
        If it is of another type.
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
    tree: Tree,
    table: Table,
    tests: Sequence[Test],
    problem: engine.Problem | OrderedProblem,
    *,
    merges: bool = True,
) -> tuple[WarmTree, list[Test], Columns]:
    """Return a tree over encoded columns, without what the rows do not need.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : Table
        The rows that count.
    tests : sequence of Test
        The tests of the encoder.
    problem : Problem or OrderedProblem
        The same rows encoded by these tests, and what labels cost.
    merges : bool, default=True
        Whether leaves of the same label are made one.

    Returns
    -------
    warm : WarmTree
        The tree.
    added : list of Test
        Tests of it that no column stands for; they come after all columns.
    columns : uint8 array or RankedColumns
        The columns of the problem with those of the tests added.
    """
    answers = [_answer(test, table) for test in tree.tests]
    builder = _Builder(tree, answers, problem)
    builder.descend()
    if merges:
        builder.merge()
    places: dict[int, tuple[int, bool]] = {}
    added: list[Test] = []
    new_columns: list[NDArray[np.uint8]] = []
    columns = problem.columns
    known: dict[tuple[int, bytes], tuple[int, bool]] = {}
    if not isinstance(columns, RankedColumns):
        known = _columns_by_feature(columns, tests, {test.feature for test in tree.tests})
    for position in builder.tests_in_use():
        test, bits = tree.tests[position], np.packbits(answers[position]).tobytes()
        if isinstance(columns, RankedColumns) and (test.feature, bits) not in known:
            found = _ranked_place(columns, test.feature, answers[position])
            known |= {} if found is None else {(test.feature, bits): found}
        new = len(tests) + len(added)
        places[position] = known.setdefault((test.feature, bits), (new, False))
        if places[position][0] == new:
            added.append(_named(test, table))
            new_columns.append(answers[position])
    if added:
        columns = _with_answers(columns, new_columns, added)
    return builder.lay_out(places), added, columns


def _with_answers(
    columns: Columns, answers: Sequence[NDArray[np.uint8]], tests: Sequence[Test]
) -> Columns:
    """Return the columns with those of further tests."""
    if isinstance(columns, RankedColumns):
        return columns.with_answers(answers, [test.feature for test in tests])
    return np.asfortranarray(np.column_stack([columns, *answers]))


def _ranked_place(
    columns: RankedColumns, feature: int, answers: NDArray[np.uint8]
) -> tuple[int, bool] | None:
    """Return the test of a raw column with these answers, and whether they are exchanged."""
    for exchanged in (False, True):
        place = columns.find((answers != 0) ^ exchanged, feature)
        if place is not None:
            return place, exchanged
    return None


def _answer(test: Test, table: Table) -> NDArray[np.uint8]:
    if test.n_outcomes != 2:
        raise ValueError(
            f"The tree asks {test.name!r} with {test.n_outcomes} outcomes; only trees whose tests "
            "all have two can be used here."
        )
    try:
        return test.holds(test.column_of(table)).astype(np.uint8)
    except ValueError as error:
        raise ValueError(f"The tree does not fit the columns of X: {error}") from None


def _named(test: Test, table: Table) -> Test:
    """Return a test with the table's name of its column, and a word about missing values."""
    changes: dict[str, Any] = {"name": table.names[test.feature]}
    if isinstance(test, SidedTest) and test.missing is None:
        has_missing = is_missing(table.column(test.feature)).any()
        changes["missing"] = False if has_missing else None
    return cast(Test, replace(cast(Any, test), **changes))


def _columns_by_feature(
    columns: NDArray[np.uint8], tests: Sequence[Test], features: set[int]
) -> dict[tuple[int, bytes], tuple[int, bool]]:
    """Return the first column for each division of the rows by a test of some raw columns.

    With it comes whether its outcomes are exchanged, for divisions that only the complement of a
    column makes.
    """
    known: dict[tuple[int, bytes], tuple[int, bool]] = {}
    for exchanged in (False, True):
        for position, test in enumerate(tests):
            if test.feature in features:
                column = columns[:, position] ^ exchanged
                key = (test.feature, np.packbits(column).tobytes())
                known.setdefault(key, (position, exchanged))
    return known


@dataclass
class _PartialNode:
    """A node in the making: the rows that reach it, and its test; -1 for a leaf."""

    rows: NDArray[np.intp]
    test: int = -1
    children: tuple[int, int] = (-1, -1)
    label: int = -1


class _Builder:
    """The tree that the rows need: `answers` are those of its tests, 1 where they hold."""

    def __init__(
        self,
        tree: Tree,
        answers: Sequence[NDArray[np.uint8]],
        problem: engine.Problem | OrderedProblem,
    ) -> None:
        self.tree = tree
        self.answers = answers
        self.problem = problem
        self.parts: list[_PartialNode] = []

    def descend(self) -> None:
        """Send the rows down; a node with an empty side is passed by. Parents come first."""
        n_rows = self.problem.columns.shape[0]
        self.parts = [_PartialNode(np.arange(n_rows, dtype=np.intp))]
        stack = [(0, 0)]
        while stack:
            number, node = stack.pop()
            part = self.parts[number]
            while (test := int(self.tree.test[node])) >= 0:
                holds = self.answers[test][part.rows] != 0
                yes = int(self.tree.first_child[node])
                if holds.all() or not holds.any():
                    node = yes if holds.all() else yes + 1
                    continue
                child = len(self.parts)
                part.test, part.children = test, (child, child + 1)
                self.parts.append(_PartialNode(part.rows[holds]))
                self.parts.append(_PartialNode(part.rows[~holds]))
                stack += [(child + 1, yes + 1), (child, yes)]
                break
            else:
                part.label = int(np.argmin(self._costs(part.rows)))

    def merge(self) -> None:
        """Make a leaf of each split between two leaves of the same label, from below."""
        for part in reversed(self.parts):
            if part.test < 0:
                continue
            yes, no = (self.parts[child] for child in part.children)
            if yes.test < 0 and no.test < 0 and yes.label == no.label:
                part.test, part.label = -1, yes.label

    def tests_in_use(self) -> list[int]:
        """Return the tests that are still asked, in the order of the tree's list."""
        return sorted({self.parts[number].test for number in self._order()} - {-1})

    def lay_out(self, places: Mapping[int, tuple[int, bool]]) -> WarmTree:
        """Number the nodes that are left, children side by side, and replace tests by columns."""
        test, first_child, label, leaves = [], [], [], []
        next_child = 1
        for number in self._order(places):
            part = self.parts[number]
            is_leaf = part.test < 0
            test.append(-1 if is_leaf else places[part.test][0])
            label.append(part.label if is_leaf else -1)
            first_child.append(-1 if is_leaf else next_child)
            if is_leaf:
                leaves.append(part)
            else:
                next_child += 2
        return WarmTree(
            engine.Nodes.of(test, first_child, label),
            leaf_cost=sum(int(self._costs(leaf.rows)[leaf.label]) for leaf in leaves),
            smallest_leaf=min(len(leaf.rows) for leaf in leaves),
        )

    def _order(self, places: Mapping[int, tuple[int, bool]] | None = None) -> list[int]:
        """Return the parts that are left, level by level; exchanged where `places` says so."""
        order = [0]
        for number in order:
            part = self.parts[number]
            if part.test >= 0:
                yes, no = part.children
                exchanged = places is not None and places[part.test][1]
                order += [no, yes] if exchanged else [yes, no]
        return order

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
    depth, n_splits = warm.nodes.depth, warm.nodes.n_splits
    if max_depth is not None and depth > max_depth:
        broken.append(f"its depth of {depth} is above max_depth={max_depth}")
    if max_splits is not None and n_splits > max_splits:
        broken.append(f"its {n_splits} splits are above max_splits={max_splits}")
    if n_splits and warm.smallest_leaf < min_samples_leaf:
        broken.append(
            f"its smallest leaf has {warm.smallest_leaf} rows, fewer than "
            f"min_samples_leaf={min_samples_leaf}"
        )
    return broken


def better_of(result: engine.Result, warm: WarmTree, value: int) -> engine.Result:
    """Return a result with the tree known before, unless a better one was found."""
    if len(result.nodes) and result.upper_bound <= value:
        return result
    return replace(result, upper_bound=value, nodes=warm.nodes)
