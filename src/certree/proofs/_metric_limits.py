"""Metrics of false positives and negatives over the trees within limits on the whole tree.

The searches for metrics know trees only by their false positives and negatives, and by what solves
with weights prove of these. Their theorems hold for any finite set of points, so also for those of
the trees within limits: a solve then asks for the best of these, and its cut is a statement about
them. See docs/theory/metrics.md.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._budget import current
from certree.engine._front import FrontResult
from certree.engine._within_limits import Closest, LimitedProblem

from ._limit_front import solve_limited_front
from ._limit_rows import LimitedRows
from ._limit_search import solve_limited

# What weights of the two errors leave of the range of the integers is for multipliers of limits.
ROOM_FOR_MULTIPLIERS = 2**8

# Trees of this depth, or with so few paths of tests, are searched without multipliers, which took
# 1 to 6 times as long.
_SHALLOW = 2
_FEW_PATHS = 1000


def is_small(n_columns: int, depth: int | None) -> bool:
    """Return whether trees of a depth are found faster without multipliers."""
    if depth is None:
        return False
    return depth <= _SHALLOW or n_columns ** min(depth, 40) <= _FEW_PATHS


def with_time_left(options: engine.Options) -> engine.Options:
    """Return options with the time that the call has left."""
    call = current()
    return options if call is None else replace(options, time_limit=call.remaining())


def _is_small_enough(nodes: engine.Nodes, options: engine.Options) -> bool:
    limits = (nodes.n_splits, options.max_splits), (nodes.depth, options.max_depth)
    return all(most is None or size <= most for size, most in limits)


class LimitedSession:
    """Rows of two types and limits, to be solved with weights of their errors.

    Parameters
    ----------
    problem : LimitedProblem
        Labels 0 and 1; the first two sums are false positives and false negatives, and the first
        plane is not used.
    row_types : int array
        1 for positive rows, 0 for the others.
    weights : int64 array or None
        Integer weight of each row.

    Attributes
    ----------
    trees : list of Nodes
        Trees within the limits that are known.
    has_leaves : bool
        Whether both trees without splits keep the limits.
    is_infeasible : bool
        Whether the last solve has proven that no tree keeps the limits.
    closest : list of Closest
        How near trees then come to each of them.
    """

    def __init__(
        self,
        problem: LimitedProblem,
        row_types: NDArray[np.int32],
        weights: NDArray[np.int64] | None,
    ) -> None:
        self.problem = problem
        self.columns = problem.columns
        self.row_types = row_types
        self.weights = weights
        self._rows = LimitedRows(problem)
        self.trees: list[engine.Nodes] = []
        self.is_infeasible = False
        self.closest: list[Closest] = []
        for label in (0, 1):
            leaf = engine.Nodes.leaf(label)
            if self.keeps(leaf):
                self.trees.append(leaf)
        self.has_leaves = len(self.trees) == 2

    def keeps(self, nodes: engine.Nodes) -> bool:
        """Return whether a tree keeps the limits."""
        tree = self._rows.evaluate(nodes)
        return tree.is_allowed and self._rows.is_inside(tree, self._rows.problem.bounds)

    def _weighed(self, weights: tuple[int, int, int]) -> LimitedProblem:
        """Return the problem of weights of false positives, false negatives and splits."""
        planes = self.problem.planes.copy()
        planes[0] = 0
        planes[0, :2], planes[0, -1] = weights[:2], weights[2]
        return replace(self.problem, planes=planes)

    def solve(
        self,
        matrix: NDArray[np.int64],
        options: engine.Options,
        callback: engine.Callback | None = None,
    ) -> engine.Result:
        """Find the best tree within the limits; what options say of known trees is not used."""
        weights = int(matrix[0, 1]), int(matrix[1, 0]), options.split_penalty
        problem = self._weighed(weights)
        inside = [nodes for nodes in self.trees if _is_small_enough(nodes, options)]
        first = min(inside, key=lambda nodes: self._value(problem, nodes), default=None)
        found = solve_limited(
            problem,
            replace(options, split_penalty=0, known=None),
            first=first,
            dual=not is_small(problem.columns.shape[1], options.max_depth),
            callback=callback,
        )
        self.is_infeasible, self.closest = found.status == "infeasible", found.closest
        upper = found.lower_bound
        if found.upper_bound is not None:
            upper = found.upper_bound
            self.trees.append(found.nodes)
        history = [
            (s, work, upper if u is None else u, low or 0) for s, work, u, low in found.history
        ]
        return engine.Result(
            found.status,
            found.lower_bound,
            upper,
            found.nodes,
            found.counters,
            history,
            found.seconds,
        )

    def _value(self, problem: LimitedProblem, nodes: engine.Nodes) -> tuple[int, int]:
        point = self._rows.evaluate(nodes).point
        return int(problem.planes[0] @ point), nodes.n_splits

    def front(
        self, options: engine.Options, callback: engine.Callback | None = None
    ) -> FrontResult:
        """Find all nondominated pairs of false positives and negatives within the limits."""
        problem = self._weighed((1, 0, 0))
        second = np.zeros((1, problem.planes.shape[1]), dtype=np.int64)
        second[0, 1] = 1
        most = int(problem.values[:, :, 1].max(axis=1).sum())
        finer = (None, *problem.finer) if problem.finer else ()
        both = replace(
            problem,
            planes=np.vstack([problem.planes[:1], second, problem.planes[1:]]),
            bounds=(most, *problem.bounds),
            names=("false negatives", *problem.names) if problem.names else (),
            finer=finer,
        )
        scales = [0, 1, *(0 for _ in problem.bounds)]
        found = solve_limited_front(
            both, scales, replace(options, split_penalty=0, known=None), callback=callback
        )
        points = [(*tree.values[:2], tree.nodes.n_splits) for tree in found.trees]
        lower = [(int(fp), ceil(fn), 0) for fp, fn in found.lower_points]
        return FrontResult(
            # That no tree of this size keeps the limits is a proven front without points.
            "optimal" if found.status == "infeasible" else found.status,
            np.array(points, dtype=np.int64).reshape(-1, 3),
            [tree.nodes for tree in found.trees],
            np.array(lower, dtype=np.int64).reshape(-1, 3),
            found.counters,
            found.seconds,
            found.history,
        )
