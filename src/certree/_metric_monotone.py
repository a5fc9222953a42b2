"""Metrics of which only monotonicity is known: supported trees first, then a part of the front.

No convexity helps here, but every tree is at or above a least whole point of what the cuts leave,
and a monotone metric is no greater there. Where that bound does not fall to the incumbent, the
front decides, restricted to points that could be better. See docs/theory/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from . import _engine
from ._front import FrontResult, solve_front
from ._metric_cuts import (
    box,
    clip,
    edge_below,
    greatest_steps,
    lower_hull,
    minimal_below,
    rounded,
)
from ._metric_oracle import Found
from ._metric_outer import Search, Slice
from ._metric_path import MetricPath, MetricPathEntry
from .metrics import Custom, Metric
from .metrics._monotonicity import check_monotone
from .metrics._numbers import Number

# Supported trees are quick to find and make the front smaller; more of them hardly do.
_MOST_SOLVES = 16

# The staircases between better and other points have at most so many steps.
_MOST_STEPS = 2048


class MonotoneSearch(Search):
    """A search that relies on monotonicity alone."""

    _seen: tuple[int, Number] | None = None
    _least: list[tuple[Number, tuple[int, int]]]

    def _slices(self) -> list[Slice]:
        return []

    def run(self, gap: Fraction) -> str:
        """Search until the bound meets the objective, or a limit is reached."""
        self._look_around()
        self.bound = max(self.objective, self.value((0, 0)) - self.penalty)
        if self.oracle.max_splits == 0:
            self.bound = self.objective
        while self.bound - gap > self.objective and self.oracle.status == "optimal":
            weights = self._next_weights()
            if weights is None:
                self._search_front()
                break
            self._solve(weights, None, None)
            self._tighten()
            self._record()
        self._record()
        self._check_custom()
        return self._end(gap)

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

    def _better(self) -> list[tuple[Number, tuple[int, int]]]:
        """Return least points that trees could be at and that would be better, best first."""
        if self._seen == (len(self.oracle.cuts), self.objective):
            return self._least
        polygon = clip(box(self.positives, self.negatives), self.oracle.cuts, 0)
        goal = self.objective + self.penalty
        self._least = greatest_steps(
            polygon[:-1], self.value, goal, _MOST_STEPS, self.oracle.is_over
        )
        self._seen = len(self.oracle.cuts), self.objective
        return self._least

    def _tighten(self) -> None:
        """Lower the bound to what the least points allow; single leaves have been considered."""
        better = self._better()
        bound = better[0][0] - self.penalty if better else self.objective
        self.bound = max(self.objective, min(self.bound, bound))

    def _next_weights(self) -> tuple[int, int, int] | None:
        """Return weights that may cut off a better point, or None if no weights can."""
        if self.oracle.n_solves >= _MOST_SOLVES:
            return None
        hull = lower_hull(self.trees)
        for _, point in self._better():
            edge = edge_below(hull, point)
            if edge is not None:
                w_fp, w_fn = rounded(edge, self.oracle.largest_weight)
                proven = any((cut.fp, cut.fn) == (w_fp, w_fn) for cut in self.oracle.cuts)
                return None if proven else (w_fp, w_fn, 0)
        return None

    def _search_front(self) -> None:
        """Look at all trees that could be better."""
        level = self.objective + self.penalty
        result = self.front(level, self._most_splits() if self.penalty else None)
        if result is None:
            return
        for i, (fp, fn, splits) in enumerate(result.points.tolist()):
            if self.oracle.is_over():
                return
            if self.value((fp, fn)) - self.penalty * splits > self.objective:
                self.consider(self.oracle.rows.found(result.tree(i)))
        bound: Number = self.objective
        if result.status != "optimal":
            for fp, fn, splits in result.lower_points.tolist():
                if self.oracle.is_over():
                    return
                bound = max(bound, self.value((fp, fn)) - self.penalty * max(splits, 1))
        self.bound = max(self.objective, min(self.bound, bound))

    def _most_splits(self) -> int:
        """Return the most splits that a better tree can have."""
        # A tree with one split has at most the bound, one with k splits k - 1 penalties less.
        room = float(self.bound) - float(self.objective)
        most = min(self.oracle.max_splits, int(room / float(self.penalty)) + 3)
        while most > 1 and self.bound - self.penalty * (most - 1) <= self.objective:
            most -= 1
        return most

    def front(self, level: Number, max_splits: int | None) -> FrontResult | None:
        """Return the trees whose points may exceed a level, or None where no time is left.

        With a limit on splits, trees are compared by their number of splits, too.
        """
        dominated = minimal_below(
            lambda point: self.value(point) <= level,
            self.positives,
            self.negatives,
            _MOST_STEPS,
            self.oracle.is_over,
        )
        options = self.oracle.remaining()
        if options is None:
            return None
        if max_splits is not None:
            options = replace(options, max_splits=max_splits)
        session = self.oracle.session
        unused = np.zeros((2, 2), dtype=np.int64)
        problem = _engine.Problem(session.columns, session.row_types, unused, session.weights)
        watch = None if self.oracle.callback is None else self.oracle.watch
        result = solve_front(problem, options, dominated, max_splits is not None, watch)
        self.oracle.account(result.status, result.counters)
        return result


def monotone_path(
    problem: _engine.Session | _engine.Problem,
    metric: Metric,
    options: _engine.Options,
    callback: Callable[[_engine.Event], object] | None = None,
) -> MetricPath:
    """Find the best tree for every number of splits, from one front over errors and splits."""
    search = MonotoneSearch(problem, metric, options, Fraction(0), callback)
    search._look_around()
    leaf = search.incumbent
    result = search.front(search.objective, search.oracle.max_splits)
    found: list[Found] = [leaf]
    lower: list[tuple[int, int, int]] = [(0, 0, 0)]
    if result is not None:
        found += [search.oracle.rows.found(result.tree(i)) for i in range(len(result))]
        lower = [(fp, fn, splits) for fp, fn, splits in result.lower_points.tolist()]
    status = search.oracle.status
    entries: list[MetricPathEntry] = []
    for tree in sorted(found, key=lambda tree: tree.n_splits):
        value = max(search.value(t.point) for t in found if t.n_splits <= tree.n_splits)
        if search.value(tree.point) < value or (entries and value <= entries[-1].value):
            continue
        bound = value
        if status != "optimal":
            small = [search.value((fp, fn)) for fp, fn, k in lower if k <= tree.n_splits]
            bound = max([value, *small]) if tree.n_splits else value
        nodes = tree.test, tree.first_child, tree.label
        entries.append(MetricPathEntry(*nodes, tree.fp, tree.fn, tree.n_splits, value, bound))
    search._check_custom()
    oracle = search.oracle
    return MetricPath(status, entries, oracle.n_solves, oracle.seconds, dict(oracle.counters))
