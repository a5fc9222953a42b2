"""Trees within limits on the whole tree: problems, results, and the core's entry point.

A tree's sums are integers: each leaf adds up what its rows say of its label, and the tree adds up
its leaves. A *plane* is a vector over these sums and the number of splits, and its value for a tree
is the product of both. The first plane is the objective; each of the others has a bound that its
value must not exceed. The caller knows the meaning of the sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding._row_cells import Cells, as_columns, has_columns
from certree.numbers._digits import bound_digits
from certree.tree._nodes import Forest, Nodes

from ._alarms import check_points
from ._scalar import Callback, Options, call_core
from ._vector import paid_for_tests, price_arrays

# Values of planes stay below this for every tree.
_LIMIT = 2**60


@dataclass(frozen=True)
class Finer:
    """The finer digits of a limit whose totals need more than 64 bits.

    Attributes
    ----------
    lines : int64 array of shape (n_digits, n_sums + 1)
        Planes of these digits, the coarsest first.
    bits : int
        A digit counts ``2**bits`` of the next one.
    bound : int
        The limit, in units of the last digit. The bound of the problem is one on leading digits
        that every tree within the limit keeps to.
    least : int
        The finer digits of no tree add up to less.
    least_total : int
        No total is less, in units of the last digit.
    """

    lines: NDArray[np.int64]
    bits: int
    bound: int
    least: int
    least_total: int

    @property
    def shift(self) -> int:
        """Bits of all finer digits together."""
        return self.bits * len(self.lines)

    def keep(self, digits: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which totals, given by lines of all their digits, are within the limit."""
        digits = digits.copy()
        for k in range(digits.shape[1] - 1, 0, -1):
            carry = digits[:, k] >> self.bits
            digits[:, k] -= carry << self.bits
            digits[:, k - 1] += carry
        keeps = np.ones(len(digits), dtype=np.bool_)
        # The last digit that differs from the bound, read from the finest on, decides.
        bound = bound_digits(self.bound, self.bits, len(self.lines))
        for k in range(len(bound) - 1, -1, -1):
            keeps = np.where(digits[:, k] == bound[k], keeps, digits[:, k] < bound[k])
        return keeps


@dataclass(frozen=True)
class LimitedProblem:
    """Rows, what each adds to a tree's sums under each label, an objective and limits.

    Attributes
    ----------
    columns : Cells
        The answers of the rows. The search inside the gap gets a column per test.
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
    finer : tuple of Finer or None
        For each limit its finer digits, if it has any; empty: none has.
    test_costs : mapping, optional
        What tests cost, as for a `VectorProblem`. The last sum is then what a tree pays for them,
        to which labels add nothing.
    weights : int64 array of shape (n_rows,), optional
        With `test_costs`: what each row pays prices for.
    """

    columns: Cells
    values: NDArray[np.int64]
    planes: NDArray[np.int64]
    bounds: tuple[int, ...]
    names: tuple[str, ...] = ()
    row_counts: NDArray[np.int64] | None = None
    label_counts: NDArray[np.int64] | None = None
    label_min: NDArray[np.int64] | None = None
    finer: tuple[Finer | None, ...] = ()
    test_costs: Mapping[str, NDArray[Any]] | None = None
    weights: NDArray[np.int64] | None = None

    @cached_property
    def answers(self) -> NDArray[np.uint8]:
        """A column per test."""
        return as_columns(self.columns)

    def has_answers_within(self, memory: int | None) -> bool:
        """Return whether there is a column per test, or memory for it."""
        if has_columns(self.columns):
            return True
        n_rows, n_tests = self.columns.shape
        try:
            fits = memory is None or n_rows * n_tests <= memory // 2
            return fits and len(self.answers) > 0
        except MemoryError:
            return False

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
        # Doubles are exact enough for this check.
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

    def with_prices(
        self, test_costs: Mapping[str, NDArray[Any]], weights: NDArray[np.int64], unit: int
    ) -> LimitedProblem:
        """Return the problem where the objective has another sum, what tests cost, times a unit."""
        nothing = np.zeros((*self.values.shape[:2], 1), dtype=np.int64)
        planes = np.insert(self.planes, -1, 0, axis=1)
        planes[0, -2] = unit
        return replace(
            self,
            values=np.concatenate([self.values, nothing], axis=2),
            planes=planes,
            finer=tuple(
                None if some is None else replace(some, lines=np.insert(some.lines, -1, 0, axis=1))
                for some in self.finer
            ),
            test_costs=test_costs,
            weights=weights,
        )

    def price_of(self, multipliers: Sequence[int]) -> int:
        """Return what a sum of planes counts for each unit that tests cost."""
        if self.test_costs is None:
            return 0
        return sum(m * int(p) for m, p in zip(multipliers, self.planes[:, -2], strict=True))

    def prices(self) -> dict[str, NDArray[Any]]:
        """Return the prices of tests and who pays them, in the types of the core."""
        if self.test_costs is None or self.weights is None:
            return {}
        weights = np.ascontiguousarray(self.weights, dtype=np.int64)
        return {**price_arrays(self.test_costs), "weights": weights}

    @property
    def n_limits(self) -> int:
        """Number of limits."""
        return len(self.bounds)

    def name(self, limit: int) -> str:
        """Return what to call a limit."""
        return self.names[limit] if self.names else f"limit {limit}"

    @cached_property
    def all_planes(self) -> NDArray[np.int64]:
        """The planes, then those of the finer digits of all limits."""
        return np.vstack([self.planes, *(finer.lines for finer in self.finer if finer is not None)])

    def digit_places(self) -> list[tuple[int, Finer, list[int]]]:
        """Return the limits with finer digits, and where all their digits are in `all_planes`."""
        places, at = [], len(self.planes)
        for limit, finer in enumerate(self.finer):
            if finer is not None:
                own = list(range(at, at + len(finer.lines)))
                places.append((limit, finer, [limit + 1, *own]))
                at += len(own)
        return places

    def keeps_digits(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which trees are within the limits that have finer digits.

        Parameters
        ----------
        values : int64 array of shape (n_trees, n_all_planes)
            Values of `all_planes` for each tree.
        """
        keeps = np.ones(len(values), dtype=np.bool_)
        for _, finer, places in self.digit_places():
            keeps &= finer.keep(values[:, places])
        return keeps

    def total(self, limit: int, point: NDArray[np.int64]) -> int:
        """Return the value of a limit in units of its last digit, for a tree's sums and splits."""
        value = int(self.planes[limit + 1] @ point)
        finer = self.finer[limit] if self.finer else None
        if finer is not None:
            for digit in (finer.lines @ point).tolist():
                value = (value << finer.bits) + digit
        return value

    def least_total(self, limit: int, leading: int) -> int:
        """Return what the value of a limit is at least, if its leading digit is this."""
        finer = self.finer[limit] if self.finer else None
        if finer is None:
            return leading
        return max((leading << finer.shift) + finer.least, finer.least_total)


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
        No tree has less, in units of the last digit.
    attained : int or None
        What some tree has; the same, unless the search was stopped or finer digits tell them apart.
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
    nodes : Nodes
        The tree; empty if none is known.
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
    """

    status: str
    lower_bound: int
    upper_bound: int | None
    nodes: Nodes
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


@dataclass(frozen=True)
class LimitedTree:
    """One tree of a front of objective and gap."""

    nodes: Nodes
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
        What scalar solves have proven; their `bound` is not used.
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
    trees: Forest
    counters: dict[str, int]
    work: int


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
        The problem; its bounds are not used.
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
        As for `engine.solve`.

    Returns
    -------
    Inside
        The trees.
    """
    planes, corners = _with_split_limit(problem, corners, options.max_splits)
    planes, corners, finer = _with_digits(problem, planes, corners)
    n_extra = len(planes) - len(problem.planes)
    rows = [[*row, *[0] * n_extra] for row in _fitting(problem, multipliers)]
    arguments = (
        problem.answers,
        np.ascontiguousarray(problem.values, dtype=np.int64),
        problem.row_counts,
        problem.label_counts,
        problem.label_min,
        planes,
        np.array(rows, dtype=np.int64).reshape(len(rows), len(planes)),
        np.array(corners, dtype=np.int64).reshape(len(corners), len(planes)),
        None if scales is None else np.array([*scales, *[0] * n_extra], dtype=np.int64),
        *finer,
        problem.prices(),
        options.to_core(),
    )
    raw = call_core(_core.solve_limited, arguments, callback)
    trees = Forest(raw.offsets, raw.test, raw.first_child, raw.label)
    check_points(raw.points, [_point(nodes, problem) for nodes in trees])
    return Inside(
        status=raw.status,
        points=raw.points,
        trees=trees,
        counters=raw.counters,
        work=raw.history[-1][1] if raw.history else 0,
    )


def _point(nodes: Nodes, problem: LimitedProblem) -> list[int]:
    """Return the sums and the splits of a tree."""
    labels = nodes.label[nodes.route(problem.answers)]
    sums = problem.values[np.arange(len(labels)), labels].sum(axis=0).tolist()
    prices = problem.prices()
    if prices:
        sums[-1] = paid_for_tests(prices, prices["weights"], nodes, problem.answers)
    return [*sums, nodes.n_splits]


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


def _with_digits(
    problem: LimitedProblem, planes: NDArray[np.int64], corners: list[list[int]]
) -> tuple[
    NDArray[np.int64],
    list[list[int]],
    list[NDArray[np.int64] | None],
]:
    """Return planes and corners with those of finer digits, and which belong to which limit."""
    places = problem.digit_places()
    if not places:
        return planes, corners, [None, None, None]
    first = len(planes)
    moved = first - len(problem.planes)
    planes = np.vstack([planes, *(finer.lines for _, finer, _ in places)])
    next_digit, digits, bits = (np.zeros(len(planes), dtype=np.int64) for _ in range(3))
    for limit, finer, own in places:
        chain = [limit + 1, *(place + moved for place in own[1:])]
        next_digit[chain[:-1]] = chain[1:]
        digits[chain] = bound_digits(finer.bound, finer.bits, len(finer.lines))
        bits[chain] = finer.bits
    n_digits = len(planes) - first
    corners = [[*corner, *[0] * n_digits] for corner in corners]
    return planes, corners, [next_digit, digits, bits]
