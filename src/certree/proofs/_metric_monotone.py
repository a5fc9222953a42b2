"""Metrics that are only known to be monotone: supported trees first, then a part of the front.

Without convexity, every tree is still at or above a least integer point of the region that the cuts
leave, and that point bounds a monotone metric. Where the bound stays above the incumbent, the front
decides, restricted to points that could be better. See docs/theory/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from certree import engine
from certree.engine._front import FrontResult, solve_front
from certree.metrics import Custom, Metric
from certree.metrics._monotonicity import check_monotone
from certree.metrics._numbers import Number

from ._metric_cuts import edge_below, greatest_steps, lower_hull, minimal_below, rounded
from ._metric_outer import DEEP, Search, Slice
from ._metric_path import MetricPath, MetricPathEntry
from ._metric_solves import Found, Weighable

# Supported trees are quick to find and make the front smaller; more of them hardly do.
_MOST_SOLVES = 16

# The same for trees of one number of splits.
_MOST_VISITS = 4

# Depths of the first trees, for an incumbent.
_FIRST_DEPTHS = (2, 3)

# Values looked at to bound the trees of several numbers of splits at once.
_FEW_STEPS = 64

# The staircases between better and other points have at most so many steps.
_MOST_STEPS = 2048


class MonotoneSearch(Search):
    """A search that relies on monotonicity alone."""

    def run(self, gap: Fraction) -> str:
        """Search until the bound meets the objective, or a limit is reached."""
        self._look_around()
        self._start()
        while True:
            worst = self.worst()
            self.bound = max(self.objective, worst.value) if worst else self.objective
            self._record()
            if worst is None or self.bound - gap <= self.objective or self._is_stopped():
                break
            if not self._advance_once(worst):
                self._search_front(worst)
        self._check_custom()
        return self._end(gap)

    def _is_stopped(self) -> bool:
        return self.solves.status != "optimal"

    def _start(self) -> None:
        """Climb for an incumbent: among shallow trees with a penalty, else where trees are deep."""
        if not (self.positives and self.negatives):
            return
        limit = self.solves.options.max_depth
        if not self.penalty:
            if limit is None or limit > DEEP:
                self._climb_fast()
            return
        for depth in _FIRST_DEPTHS:
            if limit is None or depth < limit:
                self._climb(depth)
        while self._climb():
            pass

    def gradient(self) -> tuple[int, int, int]:
        """Return weights in proportion to what a few more errors of each kind would cost."""
        if self.penalty:
            return super().gradient()
        fp, fn = self.incumbent.point
        step = max((self.positives + self.negatives) // 1000, 1)
        if fp + step > self.negatives or fn + step > self.positives:
            return super().gradient()
        here = self._about(fp, fn)
        loss = here - self._about(fp + step, fn), here - self._about(fp, fn + step)
        if min(loss) <= 0:
            return super().gradient()
        return self._rounded(Fraction(loss[0]), Fraction(loss[1]), 0)

    def _look_around(self) -> None:
        """Evaluate a user's metric on a grid, so that errors in it show at once."""
        if not isinstance(self.metric, Custom):
            return
        for fp in np.linspace(0, self.negatives, 9).astype(int).tolist():
            for fn in np.linspace(0, self.positives, 9).astype(int).tolist():
                self.value((fp, fn))
        self._check_custom()

    def _check_custom(self) -> None:
        """Refuse a user's metric if two of the points visited show that it is not monotone."""
        if isinstance(self.metric, Custom):
            check_monotone(self.metric.name, self.values)

    def _about(self, fp: float, fn: float) -> float:
        return float(self.value((round(fp), round(fn))))

    def _revalue(self, top: Slice) -> None:
        """Lower the bound of a slice to what its least points allow."""
        better = self._better(top)
        bound = better[0][0] - self.penalty * top.fewest if better else self.objective
        top.value = min(top.value, bound)

    def _better(self, top: Slice) -> list[tuple[Number, tuple[int, int]]]:
        """Return least points that trees of a slice could be at and be better, best first."""
        if not top.polygon:
            return []
        goal = self.objective + self.penalty * top.fewest
        most = _MOST_STEPS if top.fewest == top.splits else _FEW_STEPS
        # The last corner has all errors; limits may leave nothing but that.
        chain = top.polygon[:-1] or top.polygon
        return greatest_steps(chain, self.value, goal, most, self.solves.is_over)

    def _advance_once(self, worst: Slice) -> bool:
        """Solve for what may cut off a better point of a slice; False if nothing can."""
        if worst.n_visits >= (_MOST_VISITS if self.penalty else _MOST_SOLVES):
            return False
        if self._look_for_any(worst):
            return True
        hull = lower_hull(self._met(worst))
        for _, point in self._better(worst):
            edge = edge_below(hull, point)
            if edge is None:
                continue
            w_fp, w_fn = rounded(edge, self.solves.largest_weight)
            budget = min(w_fp * fp + w_fn * fn for fp, fn in hull)
            worst.n_visits += 1
            split = self._split_weight(worst, point, (w_fp, w_fn, budget)) or 0
            limit = None if split or not self.penalty else worst.splits
            weights = w_fp, w_fn, split
            if any(cut[:3] == weights and cut.max_splits == limit for cut in self.solves.cuts):
                return split > 0  # the next visit is with a limit on splits
            self._solve(weights, None, limit)
            return True
        return False

    def _search_front(self, worst: Slice) -> None:
        """Look at all trees of a slice, or smaller ones, that could be better."""
        limit = worst.splits if self.penalty else None
        result = self.front(self.goal(worst), limit, by_splits=False)
        if result is None:
            return
        for i, (fp, fn, _) in enumerate(result.points.tolist()):
            if self.solves.is_over():
                return
            if self.value((fp, fn)) > self.goal(worst):
                self.consider(self.solves.rows.found(result.trees[i]))
        bound: Number = self.objective
        if result.status != "optimal":
            for fp, fn, _ in result.lower_points.tolist():
                if self.solves.is_over():
                    return
                bound = max(bound, self.value((fp, fn)) - self.penalty * worst.splits)
        worst.value = min(worst.value, bound)

    def front(
        self, level: Number, max_splits: int | None, *, by_splits: bool
    ) -> FrontResult | None:
        """Return the trees whose points may exceed a level, or None where no time is left.

        They are compared by errors and, if `by_splits`, by their number of splits.
        """
        dominated = minimal_below(
            lambda point: self.value(point) <= level,
            self.positives,
            self.negatives,
            _MOST_STEPS,
            self.solves.is_over,
        )
        options = self.solves.remaining()
        if options is None:
            return None
        if max_splits is not None:
            options = replace(options, max_splits=max_splits)
        session = self.solves.session
        watch = None if self.solves.callback is None else self.solves.watch
        if self.solves.limits is not None:
            result = self.solves.limits.front(options, watch)
            self.solves.account(result.status, result.counters)
            return result
        unused = np.zeros((2, 2), dtype=np.int64)
        problem = engine.Problem(session.columns, session.row_types, unused, session.weights)
        result = solve_front(problem, options, dominated, by_splits, watch)
        self.solves.account(result.status, result.counters)
        return result


def monotone_path(
    problem: Weighable,
    metric: Metric,
    options: engine.Options,
    callback: Callable[[engine.Event], object] | None = None,
    known: Iterable[Found] = (),
) -> MetricPath:
    """Find the best tree for every number of splits, from one front over errors and splits."""
    search = MonotoneSearch(problem, metric, options, Fraction(0), callback)
    search._look_around()
    leaf = search.incumbent
    result = search.front(search.objective, search.solves.max_splits, by_splits=True)
    found: list[Found] = [leaf, *known]
    lower: list[tuple[int, int, int]] = [(0, 0, 0)]
    if result is not None:
        found += map(search.solves.rows.found, result.trees)
        lower = [(fp, fn, splits) for fp, fn, splits in result.lower_points.tolist()]
    status = search.solves.status
    entries: list[MetricPathEntry] = []
    for tree in sorted(found, key=lambda tree: tree.n_splits):
        value = max(search.value(t.point) for t in found if t.n_splits <= tree.n_splits)
        if search.value(tree.point) < value or (entries and value <= entries[-1].value):
            continue
        bound = value
        if status != "optimal":
            small = [search.value((fp, fn)) for fp, fn, k in lower if k <= tree.n_splits]
            bound = max([value, *small]) if tree.n_splits else value
        entries.append(MetricPathEntry(tree, value, bound))
    search._check_custom()
    solves = search.solves
    return MetricPath(status, entries, solves.n_solves, solves.seconds, dict(solves.counters))
