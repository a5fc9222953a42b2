"""All nondominated pairs of objective and gap: what each tolerance of limits costs, in one search.

The gap of a tree is the greatest value over scale of some planes. Scalar solves for a few gaps give
trees of the front, and multipliers that bound what else can be on it; one search inside the corners
that the known trees leave finds the rest. See docs/theory/limits.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor, lcm
from operator import le
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._budget import Spending
from certree.engine._within_limits import LimitedFront, LimitedProblem, LimitedTree, search_inside

from ._limit_dual import Dual, cut_bound
from ._limit_rows import EvaluatedTree, LimitedRows, labellings, labels_of
from ._limit_scalar import Scalars
from ._limit_search import checked_options

# Gaps that scalar solves are made for, and multipliers for the search inside the corners.
_MOST_LEVELS = 8
_MOST_MULTIPLIERS = 8

# The first round covers this share of the widest corner, and each one more than the last.
_SHARE = 16
_GROWTH = 4


def solve_limited_front(
    problem: LimitedProblem,
    scales: Sequence[int],
    options: engine.Options,
    *,
    least_gap: Fraction = Fraction(0),
    dual: bool = True,
    callback: engine.Callback | None = None,
) -> LimitedFront:
    """Find all nondominated pairs of objective and gap within the limits.

    Parameters
    ----------
    problem : LimitedProblem
        The data, the objective and the limits.
    scales : sequence of int
        One for each plane. The gap of a tree is the greatest value over scale of the planes with a
        positive one; the others have zero, the objective among them.
    options : Options
        As for `solve_limited`.
    least_gap : Fraction, default=0
        Of the trees with this gap or less, only one with the least objective is wanted: the last
        points of a front, whose gaps are next to nothing, can take most of the time.
    dual : bool, default=True
        As for `solve_limited`.
    callback : callable, optional
        Called now and then with seconds, work and n_points; a true answer stops the search.

    Returns
    -------
    LimitedFront
        The front, "infeasible" if it is proven that no tree is within the limits.
    """
    if len(scales) != len(problem.planes) or scales[0] != 0 or min(scales) < 0 or not any(scales):
        raise ValueError(
            f"scales must be zero for the objective, not negative for the {problem.n_limits} "
            f"limits, and positive for one of them; got {list(scales)}."
        )
    alone = replace(options, partial="")
    search = _FrontSearch(problem, [int(s) for s in scales], alone, least_gap, callback)
    found = search.result(search.run(dual))
    if not options.partial:
        return found
    # The proof covers only the tests that were searched.
    least = max(Fraction(search.rows.least[e], s) for e, s in enumerate(search.scales) if s)
    lower_points = [(search.rows.least[0], least)]
    status = options.status(found.status)
    return replace(found, status=status, lower_points=lower_points, cuts=[])


def solve_objectives(
    problem: LimitedProblem,
    n_objectives: int,
    options: engine.Options,
    callback: engine.Callback | None = None,
) -> LimitedFront:
    """Find all trees within the limits that no other beats in all of several objectives.

    Parameters
    ----------
    problem : LimitedProblem
        The first planes are the objectives, with bounds that no tree exceeds.
    n_objectives : int
        How many of them; with two, `solve_limited_front` has bounds and is faster.
    options, callback
        As for `solve_limited_front`.

    Returns
    -------
    LimitedFront
        Gaps are zero, and `lower_points` is empty.
    """
    checked = checked_options(problem, replace(options, partial=""))
    spent = Spending(checked)
    rows = LimitedRows(problem, checked.min_leaf)
    most = checked.most_splits(len(problem.columns))
    first = rows.most[0] + most * rows.split_values[0]
    scales = [0, *[-1] * (n_objectives - 1), *[0] * (len(problem.bounds) - n_objectives + 1)]
    found = search_inside(
        rows.problem, [], [(first, *rows.problem.bounds)], replace(checked, gap=0), scales, callback
    )
    spent.account(found.status, found.counters, found.work)
    kept: list[tuple[tuple[int, ...], engine.Nodes]] = []
    for nodes in found.trees:
        tree = rows.evaluate(nodes.merged())
        kept.append((tree.values, tree.nodes))
    values = {v[:n_objectives] for v, _ in kept}
    # With fewer splits a tree may be better than it was, if the search was stopped.
    trees = [
        LimitedTree(nodes, v, Fraction(0))
        for v, nodes in sorted(kept, key=lambda one: one[0])
        if not any(
            other != v[:n_objectives] and all(map(le, other, v[:n_objectives])) for other in values
        )
    ]
    status = options.status(found.status)
    if status == "optimal" and not trees:
        status = "infeasible"
    return LimitedFront(
        status,
        trees,
        [],
        counters=dict(spent.counters),
        seconds=spent.seconds,
    )


class _Known(NamedTuple):
    """A pair of the front, and the tree that has it."""

    objective: int
    gap: int
    values: tuple[int, ...]
    nodes: engine.Nodes


class _Corner(NamedTuple):
    """Where an unknown pair may be: at most this objective, and less than this gap."""

    objective: int
    gap: int | None
    bounds: tuple[int, ...]
    """What follows for the limits."""


class _FrontSearch:
    """State of the search. Gaps are integers here, in units of one over `unit`."""

    def __init__(
        self,
        problem: LimitedProblem,
        scales: list[int],
        options: engine.Options,
        least_gap: Fraction,
        callback: engine.Callback | None,
    ) -> None:
        self.scales = scales
        self.options = checked_options(problem, options)
        self.unit = lcm(*(s for s in scales if s))
        # Negative gaps are told apart unless the caller says otherwise.
        self.least_gap = floor(least_gap * self.unit) if least_gap else None
        self.factors = [self.unit // s if s else 0 for s in scales]
        self.spent = Spending(self.options)
        self.rows = LimitedRows(problem, self.options.min_leaf)
        self.problem = self.rows.problem
        self.callback = callback
        watch = None if callback is None else self._watch
        self.scalars = Scalars(self.rows, self.options)
        self.dual = Dual(self.rows, self.scalars, self.spent, self._meet, watch)
        self.known: list[_Known] = []
        self.searched: list[_Corner] = []
        self._by_cuts: dict[tuple[int, ...], tuple[int, int]] = {}
        self.history: list[tuple[float, int, int]] = []
        most = self.options.most_splits(len(problem.columns))
        self.most = self.rows.most[0] + most * self.rows.split_values[0]

    def _watch(self, event: engine.Event) -> object:
        assert self.callback is not None
        now = {"seconds": self.spent.seconds, "work": self.spent.work + event.get("work", 0)}
        return self.callback({**event, **now, "n_points": len(self.known)})

    # Trees.

    def _meet(self, tree: EvaluatedTree) -> None:
        """Take over the pairs that a tree has with any labels."""
        found = labellings(tree, self.problem.all_planes)
        if found is None:
            if tree.is_allowed and self.rows.is_inside(tree, self.problem.bounds):
                self._merge(np.array([tree.values]), [tree.nodes])
            return
        n_planes = len(self.problem.planes)
        keeps = (found[:, 1:n_planes] <= np.array(self.problem.bounds)).all(axis=1)
        inside = np.flatnonzero(keeps & self.problem.keeps_digits(found))
        found = found[:, :n_planes]
        if len(inside):
            chosen = self._nondominated(found[inside])
            labels = [labels_of(tree, int(inside[i])) for i in chosen]
            self._merge(found[inside[chosen]], [tree.nodes.with_labels(one) for one in labels])

    def _gaps(self, values: NDArray[np.int64]) -> NDArray[Any]:
        """Return the gaps of trees with these values of planes."""
        which = [e for e, factor in enumerate(self.factors) if factor]
        most = max(self.factors) * max(int(np.abs(values[:, which]).max()), 1)
        # Python's integers where 64 bits might not do.
        kind: type[Any] = np.int64 if most < 2**62 else np.object_
        factors: NDArray[Any] = np.array([self.factors[e] for e in which], dtype=kind)
        return np.asarray((values[:, which].astype(kind) * factors).max(axis=1))

    def _nondominated(self, values: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return which trees have nondominated pairs, by rising objective."""
        _, ranks = np.unique(self._gaps(values), return_inverse=True)
        order = np.lexsort((ranks, values[:, 0]))
        least = np.minimum.accumulate(ranks[order])
        is_new = np.append(np.True_, least[1:] < least[:-1])
        chosen: NDArray[np.intp] = order[is_new]
        return chosen

    def _merge(self, values: NDArray[np.int64], trees: Sequence[engine.Nodes]) -> None:
        """Take over pairs that are within the limits and nondominated."""
        gaps = self._gaps(values)
        new = [
            _Known(v[0], int(gap), tuple(v), tree)
            for v, gap, tree in zip(values.tolist(), gaps, trees, strict=True)
        ]
        both = sorted([*self.known, *new], key=lambda one: one[:2])
        kept: list[_Known] = []
        for one in both:
            if not kept or (one.gap < kept[-1].gap and self._is_wanted(kept[-1].gap)):
                kept.append(one)
        if [one[:2] for one in kept] != [one[:2] for one in self.known]:
            self.history.append((self.spent.seconds, self.spent.work, len(kept)))
        self.known = kept

    # Corners.

    def _bounds_below(self, gap: int | None) -> tuple[int, ...]:
        """Return the bounds of limits for trees whose gap is less."""
        bounds = list(self.problem.bounds)
        for e, factor in enumerate(self.factors):
            if factor and gap is not None:
                bounds[e - 1] = min(bounds[e - 1], -(-gap // factor) - 1)
        return tuple(bounds)

    def corners(self) -> list[_Corner]:
        """Return where unknown pairs may be, between those that are known."""
        gaps = [None, *(one.gap for one in self.known)]
        objectives = [*(one.objective - 1 for one in self.known), self.most]
        found = [
            _Corner(objective, gap, self._bounds_below(gap))
            for objective, gap in zip(objectives, gaps, strict=True)
        ]
        return [c for c in found if self._is_wanted(c.gap) and not self._is_empty(c)]

    def _is_wanted(self, gap: int | None) -> bool:
        """Whether pairs with less than a gap are to be told apart from one with it."""
        return gap is None or self.least_gap is None or gap > self.least_gap

    def _is_empty(self, corner: _Corner) -> bool:
        """Whether a cut proves that no tree is inside a corner."""
        if self._least(corner) > corner.objective:
            return True
        most = (corner.objective, *corner.bounds)
        return any(
            sum(m * b for m, b in zip(cut.multipliers, most, strict=True)) < cut.value
            for cut in self.dual.cuts
            if not cut.multipliers[0]
        )

    def _least(self, corner: _Corner) -> int:
        """Return an objective that no unknown pair inside a corner is below."""
        least = self._least_by_cuts(corner.bounds)
        gap = corner.gap
        for done in self.searched:
            # Smaller gaps are inside larger ones.
            if done.objective >= least and (
                done.gap is None or (gap is not None and gap <= done.gap)
            ):
                least = done.objective + 1
        return least

    def _least_by_cuts(self, bounds: tuple[int, ...]) -> int:
        """Return an objective that no tree within bounds of the limits is below."""
        n_cuts, least = self._by_cuts.get(bounds, (0, self.rows.least[0]))
        for cut in self.dual.cuts[n_cuts:]:
            first = cut.multipliers[0]
            if first:
                rest = sum(m * b for m, b in zip(cut.multipliers[1:], bounds, strict=True))
                least = max(least, -((rest - cut.value) // first))
        self._by_cuts[bounds] = len(self.dual.cuts), least
        return least

    def _lower_point(self, corner: _Corner) -> tuple[int, Fraction]:
        """Return a pair that every unknown pair inside a corner is at or above."""
        objective = self._least(corner)
        gaps: list[Fraction] = []
        for cut in self.dual.cuts:
            first, others = cut.multipliers[0], cut.multipliers[1:]
            scale = sum(m * s for m, s in zip(others, self.scales[1:], strict=True))
            fixed = sum(
                m * b
                for m, b, s in zip(others, corner.bounds, self.scales[1:], strict=True)
                if not s
            )
            if scale:
                gaps.append(Fraction(cut.value - first * corner.objective - fixed, scale))
        least = max(Fraction(self.rows.least[e], s) for e, s in enumerate(self.scales) if s)
        return objective, max([least, *gaps])

    # The search.

    def run(self, dual: bool = True) -> str:
        """Search, and return the status."""
        for label in range(self.rows.n_labels):
            self.dual.add(self.rows.leaf(label))
        self._cancel()
        depth = self.options.max_depth
        assert depth is not None
        if dual:
            self._levels(depth - 1 if depth > 2 else None)
            if depth > 2:
                self._levels(None)
        else:
            self._at_once()
        if self.spent.status == "optimal":
            self._search()
        if self.spent.status == "optimal" and not self.known:
            return "infeasible"
        return self.spent.status

    def _at_once(self) -> None:
        """Find everything in one search, without multipliers."""
        corners, options = self.corners(), self.spent.remaining()
        if corners and options is not None:
            self._round(corners, self.most - self.rows.least[0], False, options)

    def _cancel(self) -> None:
        """Prove that two sides of one limit are not both negative, which takes no search."""
        planes = self.problem.planes
        for j in range(1, len(planes)):
            for k in range(j + 1, len(planes)):
                if not (planes[j] + planes[k]).any():
                    pair = [0] * len(planes)
                    pair[j] = pair[k] = 1
                    self.dual.prove(tuple(pair))

    def _levels(self, max_depth: int | None) -> None:
        """Find multipliers for gaps at which much is unknown."""
        done: set[tuple[int, ...]] = set()
        bounds = self.problem.bounds
        for _ in range(_MOST_LEVELS):
            if bounds in done or self.spent.status != "optimal":
                return
            done.add(bounds)
            self.dual.aim(bounds)
            self.dual.run(lambda proven, possible: False, max_depth)
            open_corners = [c for c in self.corners() if c.bounds not in done]
            if not open_corners:
                return
            bounds = max(open_corners, key=self._size).bounds

    def _size(self, corner: _Corner) -> Fraction:
        """Return how much of an unknown corner there is, roughly."""
        objective, gap = self._lower_point(corner)
        width = Fraction(corner.objective + 1 - objective)
        top = self.known[0].gap if corner.gap is None and self.known else corner.gap
        return width * (
            max(Fraction(top or 0, self.unit) - gap, Fraction(0)) + Fraction(1, self.unit)
        )

    def _search(self) -> None:
        """Find what is left inside the corners, up to objectives that are farther and farther."""
        corners = self.corners()
        first = max(max((c.objective - self._least(c) for c in corners), default=0) // _SHARE, 1)
        width, near, is_single = first, first, False
        while corners:
            # In one corner, the least objective alone is found faster than all pairs; but where
            # there is one, there may be many near it.
            is_single = len(corners) == 1 and not is_single
            up_to = width
            if len(corners) == 1 and not is_single:
                up_to, near = near, 2 * near
            n_known, options = len(self.history), self.spent.remaining()
            if options is None or not self._round(corners, up_to, is_single, options):
                return
            corners = self.corners()
            width *= _GROWTH if len(self.history) == n_known else 2

    def _round(
        self, corners: list[_Corner], width: int, is_single: bool, options: engine.Options
    ) -> bool:
        """Search up to some objective in each corner; return whether that was completed."""
        clipped = [c._replace(objective=min(c.objective, self._least(c) + width)) for c in corners]
        found = search_inside(
            self.problem,
            self._multipliers(clipped),
            [(c.objective, *c.bounds) for c in clipped],
            replace(options, gap=0),
            None if is_single else self.scales,
            None if self.callback is None else self._watch,
        )
        self.spent.account(found.status, found.counters, found.work)
        if len(found.points):
            values = found.points @ self.problem.planes.T
            self._merge(values, found.trees)
            if is_single:
                clipped[0] = clipped[0]._replace(objective=int(values[0, 0]) - 1)
        if found.status == "optimal":
            self.searched += clipped
        return found.status == "optimal"

    def _multipliers(self, corners: list[_Corner]) -> list[tuple[int, ...]]:
        """Return the multipliers that bound the objective best at some corner."""
        cuts = [cut for cut in self.dual.cuts if cut.multipliers[0]]
        wins: dict[tuple[int, ...], int] = {}
        for corner in corners if cuts else ():
            bounds = [(cut_bound(cut.multipliers, cut.value, corner.bounds), cut) for cut in cuts]
            best = max(bounds, key=lambda pair: pair[0])[1]
            wins[best.multipliers] = wins.get(best.multipliers, 0) + 1
        order = sorted(wins, key=lambda one: wins[one], reverse=True)
        return order[:_MOST_MULTIPLIERS]

    def result(self, status: str) -> LimitedFront:
        """Return the front and what is proven."""
        trees: list[LimitedTree] = []
        for one in self.known:
            nodes = one.nodes.merged()
            fewer = one.nodes.n_splits - nodes.n_splits
            values = tuple(
                v - fewer * split
                for v, split in zip(one.values, self.rows.split_values, strict=True)
            )
            gap = max(Fraction(v, s) for v, s in zip(values, self.scales, strict=True) if s)
            # With fewer splits a tree may be better than it was, if the search was stopped.
            while trees and trees[-1].objective >= values[0] and trees[-1].gap >= gap:
                trees.pop()
            if not trees or (
                trees[-1].gap > gap and self._is_wanted(int(trees[-1].gap * self.unit))
            ):
                trees.append(LimitedTree(nodes, values, gap))
        points = [(tree.objective, tree.gap) for tree in trees]
        if status not in ("optimal", "infeasible"):
            points = sorted({*points, *(self._lower_point(c) for c in self.corners())})
        return LimitedFront(
            status=status,
            trees=trees,
            lower_points=points,
            cuts=self.dual.cuts,
            n_solves=self.scalars.n_solves,
            counters=dict(self.spent.counters),
            history=self.history,
            seconds=self.spent.seconds,
        )
