"""Pareto fronts of (false positives, false negatives): the core's entry point for them.

Rows of type 1 are positive, rows of type 0 negative; false positives and negatives are sums of
integer row weights. Metrics and estimators interpret the front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.tree._nodes import Forest, Nodes

from ._alarms import check_points
from ._scalar import Event, Options, Problem, call_core


@dataclass(frozen=True)
class FrontResult:
    """What a front search found and proved.

    Attributes
    ----------
    status : str
        "optimal", or the limit that stopped the search.
    points : int64 array of shape (n_points, 3)
        False positives, false negatives and splits of each tree, by false positives, then splits.
    trees : sequence of Nodes
        The tree of each point.
    lower_points : int64 array of shape (n_bounds, 3)
        Every tree that was wanted is at or above one of these in all three coordinates. Without
        `per_splits` and without a limit on splits, the third is 0.
    counters : dict
        Work counters of the search.
    seconds : float
        Wall-clock time.
    history : list of (seconds, work, n_points)
        How the front grew.
    """

    status: str
    points: NDArray[np.int64]
    trees: Sequence[Nodes]
    lower_points: NDArray[np.int64]
    counters: dict[str, int]
    seconds: float
    history: list[tuple[float, int, int]]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)


def _as_points(dominated: Iterable[tuple[int, int]] | NDArray[np.int64]) -> NDArray[np.int64]:
    points = np.asarray(
        dominated if isinstance(dominated, np.ndarray) else list(dominated), dtype=np.int64
    )
    if points.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"dominated must be pairs (fp, fn), got an array of shape {points.shape}")
    return np.ascontiguousarray(points)


def solve_front(
    problem: Problem,
    options: Options,
    dominated: Iterable[tuple[int, int]] | NDArray[np.int64] | None = None,
    per_splits: bool = False,
    callback: Callable[[Event], object] | None = None,
) -> FrontResult:
    """Find all nondominated pairs of false positives and false negatives, with trees.

    Parameters
    ----------
    problem : Problem
        The data; its cost matrix is not used.
    options : Options
        Limits; penalties, gap and known values are not used.
    dominated : pairs (fp, fn), optional
        Trees that are at or above one of these in both coordinates are not wanted.
    per_splits : bool, default=False
        Nondominated in (fp, fn, splits) instead of (fp, fn).
    callback : callable, optional
        Called now and then with seconds, work and n_points; a true answer stops the search. What
        it raises is raised here once the search has stopped.

    Returns
    -------
    FrontResult
        The front when the search ended, with its status and bounds.
    """
    arguments = (
        problem.answers,
        problem.row_types,
        problem.weights,
        options.to_core(),
        None if dominated is None else _as_points(dominated),
        per_splits,
    )
    raw = call_core(_core.solve_front, arguments, callback)
    trees = Forest(raw.offsets, raw.test, raw.first_child, raw.label)
    check_points(raw.points, [_point(nodes, problem) for nodes in trees])
    return FrontResult(
        status=options.status(raw.status),
        points=raw.points,
        trees=trees,
        # The proof covers only the tests that were searched.
        lower_points=np.zeros((1, 3), np.int64) if options.partial else raw.lower_points,
        counters=raw.counters,
        seconds=raw.seconds,
        history=raw.history,
    )


def _point(nodes: Nodes, problem: Problem) -> list[int]:
    """Return the false positives, the false negatives and the splits of a tree."""
    said = nodes.label[nodes.route(problem.columns)]
    wrong = [(said != truth) & (problem.row_types == truth) for truth in (0, 1)]
    if problem.weights is None:
        return [*(int(rows.sum()) for rows in wrong), nodes.n_splits]
    return [*(int(problem.weights[rows].sum()) for rows in wrong), nodes.n_splits]
