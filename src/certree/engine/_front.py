"""Pareto fronts of (false positives, false negatives): the door to the core's front search.

Rows of type 1 are positive, rows of type 0 negative; false positives and negatives are sums of
integer row weights. What a metric or an estimator makes of a front is their business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree import _core

from ._scalar import Event, Options, Problem, call_core


@dataclass(frozen=True)
class FrontTree:
    """One tree of a front, as arrays of nodes (see `_engine.Nodes`)."""

    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]

    @property
    def n_splits(self) -> int:
        """Number of inner nodes."""
        return int(np.count_nonzero(self.test >= 0))


@dataclass(frozen=True)
class FrontResult:
    """What a front search found and proved.

    Attributes
    ----------
    status : str
        "optimal", or the limit that stopped the search.
    points : int64 array of shape (n_points, 3)
        False positives, false negatives and splits of each tree, by false positives, then splits.
    offsets : int64 array of shape (n_points + 1,)
        Tree i has the nodes ``offsets[i]:offsets[i + 1]`` of the next three arrays, in which
        `first_child` counts from the tree's own first node.
    test, first_child, label : int32 arrays
        The nodes of all trees, one after the other.
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
    offsets: NDArray[np.int64]
    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]
    lower_points: NDArray[np.int64]
    counters: dict[str, int]
    seconds: float
    history: list[tuple[float, int, int]]

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    def tree(self, index: int) -> FrontTree:
        """Return the tree of a point."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"the front has {len(self)} points, there is no point {index}")
        index %= len(self)
        nodes = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return FrontTree(self.test[nodes], self.first_child[nodes], self.label[nodes])


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
        The data; its cost matrix plays no part.
    options : Options
        Limits; penalties, gap and known values play no part.
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
        problem.columns,
        problem.row_types,
        problem.weights,
        options.to_core(),
        None if dominated is None else _as_points(dominated),
        per_splits,
    )
    raw = call_core(_core.solve_front, arguments, callback)
    return FrontResult(
        status=options.status(raw.status),
        points=raw.points,
        offsets=raw.offsets,
        test=raw.test,
        first_child=raw.first_child,
        label=raw.label,
        # Over some of the tests only, nothing is proven of the others.
        lower_points=np.zeros((1, 3), np.int64) if options.partial else raw.lower_points,
        counters=raw.counters,
        seconds=raw.seconds,
        history=raw.history,
    )
