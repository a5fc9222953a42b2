"""Trees that users give: read, expressed in the tests of the encoder, and valued.

A tree that is known before the search is only of use if it is one of the trees searched. So each
of its tests is looked up among the encoder's, by how it divides the training rows, and added to
them if it is not there. Before that, what the rows do not need is dropped: splits with an empty
side, and splits between leaves of the same label. Leaves get the best label for their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import Table, TableEncoder, Test, check_columns
from certree.encoding._cell_values import is_missing
from certree.encoding._row_cells import Cells, as_columns, find_test, with_tests
from certree.numbers._scale import Scale
from certree.tree import Tree
from certree.tree._from_sklearn import from_sklearn, is_sklearn_tree


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
    return fitting(tree, table)


def fitting(tree: Tree, table: Table) -> Tree:
    """Return a tree if it has the columns of a table; raise ValueError otherwise."""
    try:
        check_columns(table, tree.n_features, tree.feature_names if tree.has_names else None)
    except ValueError as error:
        raise ValueError(f"The tree does not fit the columns of X: {error}") from None
    return tree


def express(
    tree: Tree,
    table: Table,
    encoder: TableEncoder,
    problem: engine.Problem,
    *,
    merges: bool = True,
) -> tuple[WarmTree, list[Test], Cells]:
    """Return a tree over the candidates of an encoder, without what the rows do not need.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : Table
        The rows that count.
    encoder : TableEncoder
        Whose tests may be asked.
    problem : Problem
        The same rows encoded by its tests, and what labels cost.
    merges : bool, default=True
        Whether leaves of the same label are made one.

    Returns
    -------
    warm : WarmTree
        The tree, over the candidates that the encoder has once `added` are appended.
    added : list of Test
        Tests of it that no column stands for; they come after all columns.
    columns : Cells
        The answers of the problem with those to the tests added.
    """
    builder = _Builder(tree, [_answer(test, table) for test in tree.tests], problem)
    builder.descend()
    if merges:
        builder.merge()
    positions = _TestPositions(encoder, problem.columns)
    found = {i: positions.of(tree.tests[i], builder.answers[i]) for i in builder.tests_in_use()}
    added = [_named(test, table) for test in positions.added]
    candidates = {i: positions.candidate(position) for i, position in found.items()}
    return builder.lay_out(candidates, positions.outcomes()), added, positions.columns()


class _Position(NamedTuple):
    """Where a test is among columns, or among multiway tests, and the order of its outcomes.

    Outcome j is the tree's outcome ``order[j]``; None if no row has it.
    """

    number: int
    order: tuple[int | None, ...]
    is_multiway: bool = False


class _TestPositions:
    """Looks tests of a tree up by how they divide the rows, and keeps those that are new."""

    def __init__(self, encoder: TableEncoder, columns: Cells) -> None:
        self.encoder = encoder
        self.given = columns
        self.added: list[Test] = []
        self._answers: list[NDArray[np.uint8]] = []
        self._hidden = encoder._hidden_columns()
        self._features = encoder.tests_.features()
        self._known: dict[tuple[int, bytes], _Position] = {}

    def of(self, test: Test, answers: NDArray[np.uint8]) -> _Position:
        """Return the position of a test with these outcomes; a new one if there is none."""
        if test.n_outcomes != 2:
            return self._multiway(test, answers)
        key = test.feature, np.packbits(answers != 0).tobytes()
        if key not in self._known:
            self._known[key] = self._find(test, answers == 0) or self._add(test, answers == 0)
        return self._known[key]

    def _find(self, test: Test, holds: NDArray[np.bool_]) -> _Position | None:
        """Return the position of a test of the same column that divides the rows in this way."""
        positions = np.flatnonzero(self._features == test.feature).tolist()
        visible = [position for position in positions if position not in self._hidden]
        for exchanged in (False, True):
            position = find_test(self.given, holds ^ exchanged, test.feature, visible)
            if position is not None:
                return _Position(position, (1, 0) if exchanged else (0, 1))
        return None

    def _add(self, test: Test, holds: NDArray[np.bool_]) -> _Position:
        """Return the position of a new test."""
        self.added.append(test)
        self._answers.append(holds.astype(np.uint8))
        return _Position(len(self.encoder.tests_) + len(self.added) - 1, (0, 1))

    def _multiway(self, test: Test, answers: NDArray[np.uint8]) -> _Position:
        for number, (known, positions) in enumerate(self.encoder._multiway):
            if known.feature != test.feature:
                continue
            outcome = as_columns(self.given)[:, positions].argmax(axis=1)
            pairs = sorted(set(zip(outcome.tolist(), answers.tolist(), strict=True)))
            order: list[int | None] = [None] * len(positions)
            for j, mine in pairs:
                order[j] = mine
            is_same = len(pairs) == len({j for j, _ in pairs}) == len({mine for _, mine in pairs})
            if is_same:
                return _Position(number, tuple(order), is_multiway=True)
        raise ValueError(
            f"The tree asks {test.name!r} with {test.n_outcomes} outcomes, but splits="
            f"{self.encoder.splits!r} has no question that divides the rows in this way; use "
            "splits='multiway' or 'both', and the same categories."
        )

    def candidate(self, position: _Position) -> tuple[int, tuple[int | None, ...]]:
        """Return a position as a candidate of the encoder, and the order of its outcomes."""
        number = position.number
        if position.is_multiway:
            number += len(self.encoder.tests_) + len(self.added) - len(self._hidden)
        else:
            number -= sum(hidden < number for hidden in self._hidden)
        return number, position.order

    def outcomes(self) -> list[NDArray[np.int32]] | None:
        """Return the columns of all candidates, if some test is multiway."""
        if not self.encoder._multiway:
            return None
        n_columns = len(self.encoder.tests_) + len(self.added)
        single = [c for c in range(n_columns) if c not in self._hidden]
        several = [columns for _, columns in self.encoder._multiway]
        return [*(np.array([c], dtype=np.int32) for c in single), *several]

    def columns(self) -> Cells:
        """Return the answers with those to the tests added."""
        return with_tests(self.given, self._answers, [test.feature for test in self.added])


def _answer(test: Test, table: Table) -> NDArray[np.uint8]:
    """Return the outcome of each row."""
    try:
        return test.outcome(test.column_of(table)).astype(np.uint8)
    except ValueError as error:
        raise ValueError(f"The tree does not fit the columns of X: {error}") from None


def _named(test: Test, table: Table) -> Test:
    """Return a test with the table's name of its column, and a word about missing values."""
    has_missing = bool(is_missing(table.column(test.feature)).any())
    return test.renamed(table.names[test.feature], has_missing)


@dataclass
class _PartialNode:
    """A node in the making: the rows that reach it, and its test; -1 for a leaf."""

    rows: NDArray[np.intp]
    test: int = -1
    children: dict[int, int] = field(default_factory=dict)  # by outcome, where there are rows
    label: int = -1


class _Builder:
    """The tree that the rows need: `answers` are the outcomes of its tests."""

    def __init__(
        self,
        tree: Tree,
        answers: Sequence[NDArray[np.uint8]],
        problem: engine.Problem,
    ) -> None:
        self.tree = tree
        self.answers = answers
        self.problem = problem
        self.parts: list[_PartialNode] = []

    def descend(self) -> None:
        """Send the rows down; a node with rows in one outcome is passed by. Parents come first."""
        n_rows = self.problem.columns.shape[0]
        self.parts = [_PartialNode(np.arange(n_rows, dtype=np.intp))]
        stack = [(0, 0)]
        while stack:
            number, node = stack.pop()
            part = self.parts[number]
            while (test := int(self.tree.test[node])) >= 0:
                outcome = self.answers[test][part.rows]
                present = np.unique(outcome).tolist()
                first = int(self.tree.first_child[node])
                if len(present) == 1:
                    node = first + present[0]
                    continue
                part.test = test
                for one in present:
                    part.children[one] = len(self.parts)
                    stack.append((len(self.parts), first + one))
                    self.parts.append(_PartialNode(part.rows[outcome == one]))
                break
            else:
                part.label = self._best_label(part.rows)

    def merge(self) -> None:
        """Make a leaf of each split between leaves of the same label, from below."""
        for part in reversed(self.parts):
            if part.test < 0:
                continue
            below = [self.parts[child] for child in part.children.values()]
            labels = {child.label for child in below}
            if all(child.test < 0 for child in below) and len(labels) == 1:
                part.test, part.label = -1, labels.pop()

    def tests_in_use(self) -> list[int]:
        """Return the tests that are still asked, in the order of the tree's list."""
        used, pending = set(), [0]
        for number in pending:  # grows while it is read
            part = self.parts[number]
            if part.test >= 0:
                used.add(part.test)
                pending += part.children.values()
        return sorted(used)

    def lay_out(
        self,
        candidates: Mapping[int, tuple[int, tuple[int | None, ...]]],
        outcomes: Sequence[NDArray[np.int32]] | None,
    ) -> WarmTree:
        """Number the nodes that are left, children side by side, and replace tests by candidates.

        Outcomes without rows are leaves with the best label of the node above.
        """
        test, first_child, label, leaves = [], [], [], []
        order = [self.parts[0]]
        for part in order:  # grows while it is read
            is_leaf = part.test < 0
            test.append(-1 if is_leaf else candidates[part.test][0])
            label.append(part.label if is_leaf else -1)
            first_child.append(-1 if is_leaf else len(order))
            if is_leaf:
                leaves += [part] if len(part.rows) else []
                continue
            for outcome in candidates[part.test][1]:
                below = None if outcome is None else part.children.get(outcome)
                if below is None:
                    empty = _PartialNode(part.rows[:0], label=self._best_label(part.rows))
                order.append(empty if below is None else self.parts[below])
        nodes = engine.Nodes.of(test, first_child, label)
        return WarmTree(
            nodes if outcomes is None else replace(nodes, outcomes=outcomes),
            leaf_cost=sum(int(self._costs(leaf.rows)[leaf.label]) for leaf in leaves),
            smallest_leaf=min(len(leaf.rows) for leaf in leaves),
        )

    def _best_label(self, rows: NDArray[np.intp]) -> int:
        return int(np.argmin(self._costs(rows)))

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
