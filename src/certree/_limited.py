"""Trees within limits on the whole tree: problems, results, and the door to the core's search.

A tree's sums are integers: each leaf adds up what its rows say of its label, and the tree adds up
its leaves. A *plane* is a vector over these sums and the number of splits, and its value for a tree
is the product of both. The first plane is the objective; each of the others has a bound that its
value must not exceed. What the sums mean to the user is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._engine import Callback, Options, call_core
from ._front import FrontTree

# Values of planes stay below this for every tree.
_LIMIT = 2**60


@dataclass(frozen=True)
class LimitedProblem:
    """Rows, what each adds to a tree's sums under each label, an objective and limits.

    Attributes
    ----------
    columns : uint8 array of shape (n_rows, n_columns)
        Zeros and ones, one column per test; Fortran order is read fastest.
    values : int64 array of shape (n_rows, n_labels, n_sums)
        What a row adds to each sum in a leaf with a label, weights multiplied in.
    planes : int64 array of shape (1 + n_limits, n_sums + 1)
        The objective, then the limits; the last entry of each is for the number of splits, and is
        not negative.
    bounds : tuple of int
        What the value of each limit must not exceed.
    names : tuple of str
        What to call each limit in messages.
    row_counts : int64 array of shape (n_rows,), optional
        How many rows each row stands for, for the minimum leaf size; None: one each.
    label_counts : int64 array of shape (n_rows, n_labels), optional
        What each row counts for a label.
    label_min : int64 array of shape (n_labels,), optional
        A leaf may take a label only if its rows count for so much of it.
    """

    columns: NDArray[np.uint8]
    values: NDArray[np.int64]
    planes: NDArray[np.int64]
    bounds: tuple[int, ...]
    names: tuple[str, ...] = ()
    row_counts: NDArray[np.int64] | None = None
    label_counts: NDArray[np.int64] | None = None
    label_min: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        n_rows, n_labels, n_sums = self.values.shape
        if self.columns.shape[0] != n_rows:
            raise ValueError(
                f"values are given for {n_rows} rows, but columns have {self.columns.shape[0]}."
            )
        if not (n_rows and n_labels and n_sums):
            raise ValueError(f"values need rows, labels and sums; got shape {self.values.shape}.")
        if self.planes.ndim != 2 or self.planes.shape[1] != n_sums + 1:
            raise ValueError(
                f"planes must have {n_sums + 1} entries each, for {n_sums} sums and the splits; "
                f"got an array of shape {self.planes.shape}."
            )
        if len(self.planes) != len(self.bounds) + 1:
            raise ValueError(
                f"planes are an objective and limits, and each limit has a bound: got "
                f"{len(self.planes)} planes and {len(self.bounds)} bounds."
            )
        if self.planes[:, -1].min() < 0:
            raise ValueError("A plane's entry for the number of splits must not be negative.")
        if self.names and len(self.names) != len(self.bounds):
            raise ValueError(f"{len(self.names)} names for {len(self.bounds)} limits.")
        if (self.label_counts is None) != (self.label_min is None):
            raise ValueError("label_counts and label_min go together.")
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Make sure that no value of a plane leaves 64 bits."""
        # Doubles will do for a check; and mostly a glance does.
        largest = max(abs(float(self.values.max())), abs(float(self.values.min())), 1.0)
        sizes = np.abs(self.planes.astype(np.float64)).sum(axis=1)
        if len(self.values) * largest * max(float(sizes.max()), 1.0) < 0.9 * _LIMIT:
            return
        sums = np.abs(self.values.astype(np.float64)).max(axis=1).sum(axis=0)
        worst = np.abs(self.planes.astype(np.float64)) @ np.append(sums, float(len(self.values)))
        if max(sums.max(), worst.max()) > 0.9 * _LIMIT:
            at = int(worst.argmax())
            what = "The objective" if at == 0 else f"The limit {self.name(at - 1)!r}"
            raise ValueError(
                f"{what} could reach {worst[at]:.3g} for some tree, which is more than 2**60; "
                "scale its amounts or the weights down."
            )

    @property
    def n_limits(self) -> int:
        """Number of limits."""
        return len(self.bounds)

    def name(self, limit: int) -> str:
        """Return what to call a limit."""
        return self.names[limit] if self.names else f"limit {limit}"


class DualCut(NamedTuple):
    """What one scalar solve proves: ``multipliers . (values of the planes) >= value``.

    It holds for every tree within the limits on its size. For trees within all limits it follows
    that the objective is at least `bound`; or, if the objective's multiplier is zero and `value`
    exceeds the multiplied bounds, that there is no such tree (`bound` is None).
    """

    multipliers: tuple[int, ...]
    value: int
    bound: Fraction | None


class Closest(NamedTuple):
    """The least value of a limit that some tree attains, if the other side of it is kept to.

    Attributes
    ----------
    limit : int
        Which limit.
    lower_bound : int
        No tree has less.
    attained : int or None
        What some tree has; the same, unless the search was stopped.
    """

    limit: int
    lower_bound: int
    attained: int | None


@dataclass(frozen=True)
class LimitedResult:
    """The best tree found within the limits, and what is proven about it.

    Attributes
    ----------
    status : str
        "optimal"; "gap"; "infeasible": it is proven that no tree is within the limits; or what
        stopped the search: "time_limit", "memory_limit", "work_limit", "interrupted".
    lower_bound : int
        No tree within the limits has a smaller objective.
    upper_bound : int or None
        The objective of the tree; None if none is known.
    test, first_child, label : int32 arrays
        The tree, as in `_engine.Nodes`; empty if none is known.
    values : tuple of int
        Values of all planes for the tree, the objective first; empty if none is known.
    cuts : list of DualCut
        What scalar solves have proven, for verification.
    closest : list of Closest
        For infeasible problems: one for each limit.
    proof : str
        For infeasible problems: "dual" if a cut shows it, "search" if the search inside it did.
    dual_bound : Fraction or None
        The best bound of the cuts.
    n_solves, n_rounds : int
        Scalar solves, and searches inside the gap that they left.
    n_splits : int
        Splits of the tree.
    """

    status: str
    lower_bound: int
    upper_bound: int | None
    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]
    values: tuple[int, ...] = ()
    cuts: list[DualCut] = field(default_factory=list)
    closest: list[Closest] = field(default_factory=list)
    proof: str = ""
    dual_bound: Fraction | None = None
    n_solves: int = 0
    n_rounds: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    history: list[tuple[float, int, int | None, int | None]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def n_splits(self) -> int:
        """Number of inner nodes."""
        return int(np.count_nonzero(self.test >= 0))


@dataclass(frozen=True)
class LimitedTree:
    """One tree of a front of objective and gap."""

    nodes: FrontTree
    values: tuple[int, ...]
    gap: Fraction

    @property
    def objective(self) -> int:
        """Value of the first plane."""
        return self.values[0]


@dataclass(frozen=True)
class LimitedFront:
    """All nondominated pairs of objective and gap, with trees.

    Attributes
    ----------
    status : str
        "optimal" if the front is complete, or what stopped the search.
    trees : list of LimitedTree
        By rising objective and falling gap.
    lower_points : list of (int, Fraction)
        Every tree is at or above one of these pairs of objective and gap; those of the trees
        themselves if the front is complete.
    cuts : list of DualCut
        What scalar solves have proven; their `bound` plays no part.
    """

    status: str
    trees: list[LimitedTree]
    lower_points: list[tuple[int, Fraction]]
    cuts: list[DualCut] = field(default_factory=list)
    n_solves: int = 0
    counters: dict[str, int] = field(default_factory=dict)
    history: list[tuple[float, int, int]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Inside:
    """What a search inside corners found.

    Attributes
    ----------
    status : str
        "optimal" if all that is wanted was found, or what stopped the search.
    points : int64 array of shape (n_points, n_sums + 1)
        Sums and splits of each tree.
    """

    status: str
    points: NDArray[np.int64]
    offsets: NDArray[np.int64]
    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]
    counters: dict[str, int]
    work: int

    def tree(self, index: int) -> FrontTree:
        """Return the tree of a point."""
        nodes = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return FrontTree(self.test[nodes], self.first_child[nodes], self.label[nodes])


def search_inside(
    problem: LimitedProblem,
    multipliers: Sequence[Sequence[int]],
    corners: Sequence[Sequence[int]],
    options: Options,
    scales: Sequence[int] | None = None,
    callback: Callback | None = None,
) -> Inside:
    """Search for trees all of whose planes are at most those of some corner.

    Parameters
    ----------
    problem : LimitedProblem
        The problem; its bounds play no part.
    multipliers : integers of shape (n_multipliers, n_planes)
        Not negative; each row makes a sum of planes by whose least values the search is bounded.
    corners : integers of shape (n_corners, n_planes)
        Greatest values of the planes. Without `scales` there is one.
    options : Options
        Limits of the search; `max_depth` is needed.
    scales : integers of shape (n_planes,), optional
        None: the tree with the least objective is wanted. Otherwise all trees that are
        nondominated in objective and gap, which is the greatest value over scale of the planes
        that have a positive one.
    callback : callable, optional
        As for `_engine.solve`.

    Returns
    -------
    Inside
        The trees.
    """
    planes, corners = _with_split_limit(problem, corners, options.max_splits)
    n_extra = len(planes) - len(problem.planes)
    rows = [[*row, *[0] * n_extra] for row in _fitting(problem, multipliers)]
    arguments = (
        problem.columns,
        np.ascontiguousarray(problem.values, dtype=np.int64),
        problem.row_counts,
        problem.label_counts,
        problem.label_min,
        planes,
        np.array(rows, dtype=np.int64).reshape(len(rows), len(planes)),
        np.array(corners, dtype=np.int64).reshape(len(corners), len(planes)),
        None if scales is None else np.array([*scales, *[0] * n_extra], dtype=np.int64),
        options.to_core(),
    )
    raw = call_core(_core.solve_limited, arguments, callback)
    return Inside(
        status=raw.status,
        points=raw.points,
        offsets=raw.offsets,
        test=raw.test,
        first_child=raw.first_child,
        label=raw.label,
        counters=raw.counters,
        work=raw.history[-1][1] if raw.history else 0,
    )


def _fitting(problem: LimitedProblem, multipliers: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return multipliers made so small that the core can add up their planes in 64 bits.

    Any multipliers that are not negative are valid; rounding them makes them less sharp at most.
    """
    # Twice: the core takes differences of two labels. As doubles: a bound for the check.
    sums = 2 * np.abs(problem.values.astype(np.float64)).max(axis=1).sum(axis=0)
    sizes = np.abs(problem.planes.astype(np.float64)) @ np.append(sums, 2.0 * len(problem.values))
    fitting = []
    for row in multipliers:
        largest = sum(abs(m) * size for m, size in zip(row, sizes.tolist(), strict=True))
        shift = max(int(largest / (_LIMIT / 4)).bit_length(), 0)
        fitting.append([m >> shift for m in row])
    return [row for row in fitting if any(row)]


def _with_split_limit(
    problem: LimitedProblem, corners: Sequence[Sequence[int]], max_splits: int | None
) -> tuple[NDArray[np.int64], list[list[int]]]:
    """Return planes and corners with the limit on splits among them."""
    planes = np.ascontiguousarray(problem.planes, dtype=np.int64)
    if max_splits is None:
        return planes, [list(corner) for corner in corners]
    splits = np.zeros((1, planes.shape[1]), dtype=np.int64)
    splits[0, -1] = 1
    return np.vstack([planes, splits]), [[*corner, max_splits] for corner in corners]
