"""The rows of a limited problem: their types, and what trees make of their sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree.encoding._row_cells import as_columns, has_columns
from certree.engine import Nodes
from certree.engine._equal_rows import merge_equal
from certree.engine._row_types import RowTypes, row_types
from certree.engine._vector import paid_for_tests
from certree.engine._within_limits import LimitedProblem

# With so many rows, and not too many columns, equal rows are merged first.
_MANY_ROWS = 4096
_FEW_COLUMNS = 56

# All labels of a tree's leaves are tried if there are at most this many choices.
_MOST_LABELLINGS = 2**16


@dataclass(frozen=True)
class EvaluatedTree:
    """A tree, the values of all planes for it, and the sums of its leaves by label."""

    nodes: Nodes
    values: tuple[int, ...]
    leaves: NDArray[np.intp]
    """Nodes that are leaves."""
    leaf_sums: NDArray[np.int64]
    """Of shape (n_leaves, n_labels, n_sums)."""
    allowed: NDArray[np.bool_]
    """Which labels each leaf may take, of shape (n_leaves, n_labels)."""
    is_allowed: bool
    """Whether all leaves have labels that they may take."""
    point: NDArray[np.int64]
    """The sums of the tree, then its number of splits."""
    fixed: NDArray[np.int64]
    """What of the point does not depend on labels: prices of tests, and splits."""


def _merge_equal(problem: LimitedProblem, types: RowTypes) -> tuple[LimitedProblem, RowTypes]:
    """Return large problems with fewer rows: those of the same columns and type become one."""
    n_rows, n_columns = problem.columns.shape
    has_more = problem.label_counts is not None or problem.test_costs is not None
    if n_rows < _MANY_ROWS or n_columns > _FEW_COLUMNS or has_more:
        return problem, types
    merged = merge_equal(types.types, len(types.totals), problem.answers, types.weights)
    if merged is None:
        return problem, types
    kinds, columns, (weights,) = merged
    fewer = RowTypes(kinds.astype(np.int32), types.values, weights, types.totals)
    values = fewer.by_row()
    return replace(problem, columns=columns, values=values, row_counts=None), fewer


class LimitedRows:
    """The rows of a problem, ready to evaluate trees.

    Parameters
    ----------
    problem : LimitedProblem
        The problem. The attribute of this name may have fewer rows with the same sums, and bounds
        that are at most one beyond the totals of trees.
    min_leaf : int
        Least number of rows of a leaf. If it is more than one, all rows are kept.
    max_depth : int, optional
        Of the trees, which limits what a row pays for tests.
    """

    def __init__(
        self, problem: LimitedProblem, min_leaf: int = 1, max_depth: int | None = None
    ) -> None:
        self.types = row_types(problem.values)
        if self.types is not None and min_leaf <= 1:
            problem, self.types = _merge_equal(problem, self.types)
        self.problem = problem
        given = problem.columns
        self.columns = np.asfortranarray(as_columns(given)) if has_columns(given) else given
        sums = problem.values if self.types is None else self.types.values
        self.n_labels = sums.shape[1]
        # By plane, row or type, and label, less the least of all labels; splits are apart.
        planes = np.moveaxis(sums @ problem.planes[:, :-1].T, 2, 0)
        low, high = planes.min(axis=2), planes.max(axis=2)
        self.planes = np.ascontiguousarray(planes - low[:, :, None])
        self.split_values = [int(v) for v in problem.planes[:, -1]]
        each = None if self.types is None else self.types.totals
        self.least = self._total(low, each)
        self.most = self._total(high, each)
        if problem.test_costs is not None:
            paid = self._most_paid(max_depth)
            self.most = [
                most + int(price) * paid
                for most, price in zip(self.most, problem.planes[:, -2], strict=True)
            ]
        self.problem = self._with_near_bounds()

    def _with_near_bounds(self) -> LimitedProblem:
        """Return the problem with bounds that are at most one beyond the totals of trees."""
        splits = len(self.columns) - 1
        bounds = tuple(
            min(max(bound, self.least[j] - 1), self.most[j] + splits * self.split_values[j])
            for j, bound in enumerate(self.problem.bounds, start=1)
        )
        return (
            self.problem if bounds == self.problem.bounds else replace(self.problem, bounds=bounds)
        )

    def _most_paid(self, max_depth: int | None) -> int:
        """Return the most that all rows together can pay for tests."""
        if self.problem.test_costs is None or self.problem.weights is None:
            return 0
        dearest = np.sort(self.problem.test_costs["price"])[::-1][:max_depth]
        return int(dearest.sum()) * int(self.problem.weights.sum())

    @staticmethod
    def _total(by_type: NDArray[np.int64], each: NDArray[np.int64] | None) -> list[int]:
        total = by_type.sum(axis=1) if each is None else by_type @ each
        return [int(v) for v in total]

    @property
    def spans(self) -> list[int]:
        """How far apart the values of each plane can be, splits aside."""
        return [high - low for low, high in zip(self.least, self.most, strict=True)]

    def leaf(self, label: int) -> EvaluatedTree:
        """Return the tree of one leaf."""
        return self.evaluate(Nodes.leaf(label))

    def evaluate(self, nodes: Nodes) -> EvaluatedTree:
        """Return a tree with its values."""
        leaves, codes = self._leaf_codes(nodes)
        sums = self._leaf_sums(codes, len(leaves))
        labels = nodes.label[leaves]
        sums_of_tree = sums[np.arange(len(leaves)), labels].sum(axis=0)
        fixed = np.append(np.zeros_like(sums_of_tree), nodes.n_splits)
        if self.problem.test_costs is not None and self.problem.weights is not None:
            fixed[-2] = paid_for_tests(
                self.problem.test_costs, self.problem.weights, nodes, self.columns
            )
        point = np.append(sums_of_tree, 0) + fixed
        values = tuple((self.problem.planes @ point).tolist())
        allowed = self._allowed(codes, len(leaves))
        is_allowed = bool(allowed[np.arange(len(leaves)), labels].all())
        return EvaluatedTree(nodes, values, leaves, sums, allowed, is_allowed, point, fixed)

    def is_inside(self, tree: EvaluatedTree, bounds: Sequence[int]) -> bool:
        """Whether a tree is within bounds of the limits, in all their digits."""
        if not all(v <= b for v, b in zip(tree.values[1:], bounds, strict=True)):
            return False
        values = self.problem.all_planes @ tree.point
        return bool(self.problem.keeps_digits(values[None])[0])

    def sizes(self, tree: EvaluatedTree) -> NDArray[np.int64]:
        """Return how many rows each leaf stands for."""
        _, codes = self._leaf_codes(tree.nodes)
        counts = self.problem.row_counts
        ones = np.ones(len(codes), dtype=np.int64) if counts is None else counts
        return _sums_by_code(codes, ones[:, None], len(tree.leaves))[:, 0]

    def _leaf_codes(self, tree: Nodes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the leaves, and for each row which of them it reaches."""
        n_rows = len(self.columns)
        leaves = np.flatnonzero(tree.test < 0)
        if len(leaves) == 1:
            return leaves, np.zeros(n_rows, dtype=np.intp)
        codes = np.zeros(n_rows, dtype=np.uint8 if len(leaves) < 256 else np.int32)
        reach: dict[int, NDArray[np.bool_]] = {0: np.ones(n_rows, dtype=np.bool_)}
        n_leaves = 0
        for node, test in enumerate(tree.test.tolist()):  # children come after their parents
            here = reach.pop(node)
            if test < 0:
                if n_leaves:
                    codes += here * codes.dtype.type(n_leaves)
                n_leaves += 1
                continue
            child = int(tree.first_child[node])
            reach[child] = here & self.columns[:, test].view(np.bool_)
            reach[child + 1] = here ^ reach[child]
        return leaves, codes.astype(np.intp)

    def _leaf_sums(self, codes: NDArray[np.intp], n_leaves: int) -> NDArray[np.int64]:
        if self.types is None:
            values = self.problem.values
            flat = values.reshape(len(values), -1)
            return _sums_by_code(codes, flat, n_leaves).reshape(n_leaves, *values.shape[1:])
        return self.types.sums(codes, n_leaves)

    def _allowed(self, codes: NDArray[np.intp], n_leaves: int) -> NDArray[np.bool_]:
        counts, least = self.problem.label_counts, self.problem.label_min
        if counts is None or least is None:
            return np.ones((n_leaves, self.n_labels), dtype=np.bool_)
        return np.asarray(_sums_by_code(codes, counts, n_leaves) >= least)

    def best_labels(
        self, tree: EvaluatedTree, bounds: tuple[int, ...], below: int | None
    ) -> EvaluatedTree | None:
        """Return the tree with the labels that are best within the bounds of the limits.

        Parameters
        ----------
        tree : EvaluatedTree
            Any tree.
        bounds : tuple of int
            Of the limits.
        below : int or None
            Only labels with an objective below this are wanted.

        Returns
        -------
        EvaluatedTree or None
            None if no labels are within the bounds, or there are too many choices to try.
        """
        totals = labellings(tree, self.problem.all_planes)
        if totals is None:
            return None
        inside = (totals[:, 1 : len(bounds) + 1] <= np.array(bounds, dtype=np.int64)).all(axis=1)
        if below is not None:
            inside &= totals[:, 0] < below
        inside &= self.problem.keeps_digits(totals)
        if not inside.any():
            return None
        choices = np.flatnonzero(inside)
        labels = labels_of(tree, int(choices[totals[choices, 0].argmin()]))
        return self.evaluate(tree.nodes.with_labels(labels).merged())


def labellings(tree: EvaluatedTree, planes: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the values of planes for all labels that the leaves may take, by rows.

    None if there are no labels, or too many to try.
    """
    labels = [np.flatnonzero(row) for row in tree.allowed]
    if not _is_product_small([len(some) for some in labels]):
        return None
    by_leaf = tree.leaf_sums @ planes[:, :-1].T  # (leaves, labels, planes)
    totals = (planes @ tree.fixed)[None]
    for leaf, some in enumerate(labels):
        totals = (totals[:, None, :] + by_leaf[leaf, some][None]).reshape(-1, len(planes))
    return totals


def labels_of(tree: EvaluatedTree, choice: int) -> NDArray[np.int32]:
    """Return the labels of all nodes for a row of `labellings`."""
    chosen: NDArray[np.int32] = tree.nodes.label.copy()
    for leaf in range(len(tree.leaves) - 1, -1, -1):
        some = np.flatnonzero(tree.allowed[leaf])
        choice, at = divmod(choice, len(some))
        chosen[tree.leaves[leaf]] = some[at]
    return chosen


def _is_product_small(sizes: list[int]) -> bool:
    product = 1
    for size in sizes:
        product *= size
        if product > _MOST_LABELLINGS:
            return False
    return product > 0


def _sums_by_code(
    codes: NDArray[np.intp], rows: NDArray[np.int64], n_codes: int
) -> NDArray[np.int64]:
    """Return the sums of the rows of each code."""
    sizes = np.bincount(codes, minlength=n_codes)
    has_rows = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[has_rows]
    order = np.argsort(codes, kind="stable")
    sums = np.zeros((n_codes, rows.shape[1]), dtype=np.int64)
    sums[has_rows] = np.add.reduceat(rows[order], starts, axis=0)
    return sums
