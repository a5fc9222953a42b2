"""Outer approximation: the loop that finds and proves the best tree for a metric.

Scalar solves (weighted accuracies with a penalty per split) prove cuts; the corners of what the
cuts leave bound the metric; and the corner that is worth most says what to solve next. One loop
covers linear, linear-fractional and supported metrics, with Dinkelbach's and Aneja and Nair's
algorithms as special cases. See docs/theory/metrics.md for the theorems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil
from typing import Any

from certree import engine
from certree.engine._alarms import alarm, check_bounds
from certree.metrics import Metric
from certree.metrics._metric import RatioMetric, SupportedMetric
from certree.metrics._numbers import Number

from ._metric_corners import Landscape, triangle
from ._metric_cuts import Cut, Point, above, box, clip, edge_below, integers, lower_hull, rounded
from ._metric_solves import Found, Relabellings, Weighable, WeightedSolves

# Trees deeper than this are first looked for by short solves. Each takes a share of the time left
# and at most so much work, the next one more; they end when trees no longer get better.
SHALLOW = 4
_SHORT_SHARE = 0.15
_SHORT_WORK = 1000
_MORE_WORK = 3
_MOST_SHORT = 2
_MOST_SHORT_OF_DEEP = 5

# Beyond this depth trees with one level less are no help; they take a share of the time at most.
DEEP = 6
_LESS_DEPTH = 0.25, 10**9

# Values that differ by less than this in floating point are compared exactly.
_NEAR = 1e-9


@dataclass(frozen=True)
class MetricResult:
    """The best tree found for a metric, and what is proven about it.

    Attributes
    ----------
    status : str
        "optimal", "gap", or the limit that ended the search.
    nodes : Nodes
        The tree.
    fp, fn : int
        Weight of its errors.
    value : Fraction or Root
        The metric, exactly.
    objective : Fraction or Root
        The metric less the penalty.
    bound : Fraction or Root
        No tree within the limits has a greater objective.
    cuts : list of Cut
        What the solves have proven, for verification.
    values : dict
        The metric at the points that the search looked at.
    """

    status: str
    nodes: engine.Nodes
    fp: int
    fn: int
    value: Number
    objective: Number
    bound: Number
    n_solves: int
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)
    history: list[tuple[float, int, float, float]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    values: dict[Point, Number] = field(default_factory=dict)


class Slice:
    """What is known of the trees with numbers of splits in a range (or all, without a penalty)."""

    def __init__(
        self, splits: int, polygon: list[Point], value: Number, fewest: int | None = None
    ) -> None:
        self.splits = splits
        """Most splits; cuts are applied as they hold for this number."""
        self.fewest = splits if fewest is None else fewest
        self.polygon = polygon
        self.value = value
        """Upper bound of the metric less the penalty."""
        self.n_cuts = 0
        self.n_visits = 0

    def halves(self) -> tuple[Slice, Slice]:
        """Return the slices of the smaller and of the larger trees, without cuts of their own."""
        middle = (self.fewest + self.splits) // 2
        return (
            Slice(middle, self.polygon, self.value, self.fewest),
            Slice(self.splits, self.polygon, self.value, middle + 1),
        )


class Search:
    """State of one search: incumbent, trees met, cuts, and polygons by numbers of splits."""

    def __init__(
        self,
        problem: Weighable,
        metric: Metric,
        options: engine.Options,
        penalty: Fraction,
        callback: Callable[[engine.Event], object] | None = None,
    ) -> None:
        self.solves = WeightedSolves(problem, options)
        self.metric = metric
        self.penalty = penalty
        self.is_sliced = penalty > 0
        self.positives, self.negatives = self.solves.rows.positives, self.solves.rows.negatives
        self.trees: dict[tuple[int, int], int] = {}
        """Points of trees met, and the fewest splits met for each."""
        self.n_met = 0
        self.values: dict[Point, Number] = {}
        self.history: list[tuple[float, int, float, float]] = []
        first = self.solves.first_trees()
        self.incumbent = first[0]
        self.objective = self.value(self.incumbent.point) - penalty * self.incumbent.n_splits
        for tree in first:
            self.consider(tree)
        self.slices = self._slices()
        self._heap: list[tuple[Number, int, Slice]] = []
        self._n_pushed = 0
        for one in self.slices:
            self._push(one)
        self.bound: Number = max([self.objective, *(s.value for s in self.slices)])
        self.first_bound = self.bound
        if callback is not None:
            self.solves.callback = self._watched(callback)

    def _slices(self) -> list[Slice]:
        """Return one slice; with a penalty it is divided by numbers of splits where needed."""
        start = box(self.positives, self.negatives)
        perfect = self.value((0, 0))
        if self.solves.max_splits == 0:
            return []
        if self.penalty == 0:
            return [Slice(0, start, perfect)]
        most = perfect - self.penalty
        return [Slice(self.solves.max_splits, start, most, 1)] if most > self.objective else []

    def _watched(self, callback: Callable[[engine.Event], object]) -> engine.Callback:
        def watch(event: engine.Event) -> object:
            bounds = {
                "upper_bound": 1 - float(self.objective),
                "lower_bound": 1 - float(self.bound),
            }
            return callback({**event, **bounds})

        return watch

    def goal(self, top: Slice) -> Number:
        """Return what a tree of a slice must exceed to be better than the incumbent."""
        return self.objective + self.penalty * top.splits

    # Values, trees, incumbent.

    def value(self, point: Point) -> Number:
        """Return the exact metric at a point."""
        known = self.values.get(point)
        if known is None:
            known = self.metric.exact(*point, self.positives, self.negatives)
            self.values[point] = known
        return known

    def consider(self, tree: Found) -> bool:
        """Take a tree as the incumbent if it is better, or as good and smaller."""
        self._meet(tree.point, tree.n_splits)
        objective = self.value(tree.point) - self.penalty * tree.n_splits
        better = objective > self.objective
        if better or (objective == self.objective and tree.n_splits < self.incumbent.n_splits):
            self.incumbent, self.objective = tree, objective
        return better

    def consider_labels(self, tree: Found) -> None:
        """Consider a tree with all labels of its leaves that are best for some weights.

        Where trees have to keep limits, other labels might break them.
        """
        if self.solves.limits is not None:
            self.consider(tree)
            return
        choices = self.solves.rows.relabellings(tree)
        for fp, fn, splits in zip(choices.fp, choices.fn, choices.n_splits, strict=True):
            self._meet((fp, fn), splits)
        for i in self._best_labels(choices):
            self.consider(choices.tree(i))

    def _best_labels(self, choices: Relabellings) -> list[int]:
        """Return which labels are worth a look: one choice that is best, exactly."""
        points = list(zip(choices.fp, choices.fn, strict=True))
        penalty = float(self.penalty)
        about = [
            self._about(*point) - penalty * splits
            for point, splits in zip(points, choices.n_splits, strict=True)
        ]
        # Floating point leaves a few, and exact values decide between those.
        least = max(about) - _NEAR * max(1.0, *map(abs, about))
        near = [i for i, value in enumerate(about) if value >= least]

        def objective(i: int) -> tuple[Number, int]:
            splits = choices.n_splits[i]
            return self.value(points[i]) - self.penalty * splits, -splits

        return [max(near, key=objective)]

    def _meet(self, point: tuple[int, int], splits: int) -> None:
        known = self.trees.get(point)
        if known is None or splits < known:
            self.trees[point] = splits
            self.n_met += 1

    def _about(self, fp: float, fn: float) -> float:
        return self.metric.approximate(fp, fn, self.positives, self.negatives)

    # The loop.

    def run(self, gap: Fraction) -> str:
        """Search until the bound meets the objective, or a limit is reached."""
        if self.metric.kind == "linear" and self._solve_linear():
            return self._end(gap)
        self._start()
        has_progress = True
        while True:
            worst = self.worst()
            self.bound = max(self.objective, worst.value) if worst else self.objective
            self._record()
            if self.bound - gap <= self.objective:
                self._shrink()
                return self._end(gap)
            if self.solves.status != "optimal":
                return self.solves.status
            assert worst is not None
            moved = self._advance(worst, has_progress)
            if not (moved or has_progress):
                # Weights that would tell the last points apart do not fit into 64 bits.
                return self._end(gap)
            has_progress = moved

    def _end(self, gap: Fraction) -> str:
        """Return the status of a search that ran to its end."""
        if self.bound == self.objective:
            return "optimal"
        if self.bound - gap <= self.objective or self.solves.status == "optimal":
            return "gap"
        return self.solves.status

    def _advance(self, worst: Slice, has_progress: bool) -> bool:
        """Cut off the worst corner or meet a new tree; return whether one of both was achieved."""
        if self._look_for_any(worst):
            return True
        at = max(range(len(worst.polygon)), key=lambda i: self.value(worst.polygon[i]))
        corner, n_met = worst.polygon[at], self.n_met
        if not has_progress:
            along = self._along_hull(worst, corner)
            if along is None:
                return False
            self._solve((*along, 0), None, worst.splits if self.is_sliced else None)
            if self.solves.status != "optimal":
                return True
            last = self.solves.cuts[-1]
            is_cut_off = last.fp * corner[0] + last.fn * corner[1] < last.value
            return is_cut_off or self.n_met > n_met
        line = self._separating(worst, at)
        if line is None:
            return True
        w_fp, w_fn, budget = line
        worst.n_visits += 1
        split = self._split_weight(worst, corner, line)
        if split is not None:
            self._solve((w_fp, w_fn, split), budget + split * worst.splits, None)
            return True
        self._solve((w_fp, w_fn, 0), budget, worst.splits if self.is_sliced else None)
        if self.n_met > n_met or self.solves.status != "optimal":
            return True
        return self.solves.cuts[-1].value >= budget

    def _look_for_any(self, worst: Slice) -> bool:
        """Solve for any tree of a slice where none is met, since none of them may keep limits."""
        if self._met(worst):
            return False
        self._solve((1, 1, 0), None, worst.splits)
        return True

    def _solve_linear(self) -> bool:
        """Answer a linear metric by one solve; False if its weights do not fit into 64 bits."""
        assert isinstance(self.metric, RatioMetric)
        constant, fp, fn = self.metric.numerator(self.positives, self.negatives)
        weights = integers((-fp, -fn, self.penalty))
        if max(weights) > self.solves.largest_weight:
            return False
        self._solve((weights[0], weights[1], weights[2]), None, None)
        if self.solves.cuts:
            unit = sum(weights) / (self.penalty - fp - fn)
            self.bound = constant - self.solves.cuts[-1].value / unit
            check_bounds(1 - self.bound, 1 - self.objective)
        self._record()
        return True

    def _start(self) -> None:
        """Climb along gradients for an incumbent, first among shallower trees."""
        depth = self.solves.options.max_depth
        if not (self.positives and self.negatives):
            return
        is_easy = (depth is not None and depth <= SHALLOW) or self._climb_fast()
        if depth is None or 2 < depth <= (depth if is_easy else DEEP):
            for _ in range(2):
                is_better = self._climb(2 if depth is None else depth - 1, _LESS_DEPTH)
                if is_easy and not self.solves.is_proven:
                    self._climb_fast()
                if not (is_better and self.solves.is_proven):
                    break
        if self.penalty:
            while self._climb():
                pass
        elif self.metric.kind == "supported":
            self._climb()

    def _climb_fast(self) -> bool:
        """Climb by short solves; return whether the last one was not too short."""
        depth = self.solves.options.max_depth
        is_deep = depth is None or depth > DEEP
        for step in range(_MOST_SHORT_OF_DEEP if is_deep else _MOST_SHORT):
            is_better = self._climb(part=(_SHORT_SHARE, _SHORT_WORK * _MORE_WORK**step))
            if self.solves.is_proven or not is_better:
                break
        return self.solves.is_proven

    def _climb(self, max_depth: int | None = None, part: tuple[float, int] | None = None) -> bool:
        """Solve for the gradient at the incumbent, and return whether it got better."""
        before = self.objective
        self._solve(self.gradient(), None, None, max_depth, part)
        return self.objective > before

    def _solve(
        self,
        weights: tuple[int, int, int],
        budget: int | None,
        max_splits: int | None,
        max_depth: int | None = None,
        part: tuple[float, int] | None = None,
    ) -> None:
        """Solve for trees below the budget and below all trees met."""
        known = [
            (weights[0] * fp + weights[1] * fn + weights[2] * splits, splits)
            for (fp, fn), splits in self.trees.items()
            if max_splits is None or splits <= max_splits
        ]
        best = min(known, default=None)
        if budget is not None and (best is None or budget < best[0]):
            best = (budget, 0)
        found = self.solves.solve(
            weights, best, max_splits=max_splits, max_depth=max_depth, part=part
        )
        if found is not None:
            self.consider(found)
            self.consider_labels(found)

    def _record(self) -> None:
        objective, bound = float(self.objective), float(self.bound)
        self.history.append((self.solves.seconds, self.solves.work, objective, bound))

    def worst(self) -> Slice | None:
        """Return the slice whose bound is the greatest, with all cuts applied to it.

        It has one number of splits, unless a limit is reached or all slices are closed.
        """
        while self._heap:
            value, _, top = self._heap[0]
            if value == -top.value and (top.value <= self.objective or self.solves.is_over()):
                return top
            if top.n_cuts < len(self.solves.cuts):
                self._refresh(top)
            elif value == -top.value:
                if top.fewest == top.splits:
                    return top
                heappop(self._heap)
                for half in top.halves():
                    self._refresh(half)
                    self._push(half)
                continue
            heappop(self._heap)
            self._push(top)
        return None

    def _push(self, top: Slice) -> None:
        """Queue a slice by its bound; where that falls later, the next look at it sees it."""
        self._n_pushed += 1
        heappush(self._heap, (-top.value, self._n_pushed, top))

    def _refresh(self, top: Slice) -> None:
        top.polygon = clip(top.polygon, self.solves.cuts[top.n_cuts :], top.splits)
        top.n_cuts = len(self.solves.cuts)
        self._revalue(top)

    def _revalue(self, top: Slice) -> None:
        if not top.polygon:
            top.value = min(top.value, self.objective)
            return
        values = [self.value(corner) for corner in top.polygon]
        if not isinstance(self.metric, RatioMetric):
            # The single leaves are trees, and sublevel sets below their values need not be convex.
            values += [self.value((0, self.positives)), self.value((self.negatives, 0))]
        top.value = min(top.value, max(values) - self.penalty * top.fewest)

    # Directions.

    def gradient(self) -> tuple[int, int, int]:
        """Return weights for which the objective is linear to first order at the incumbent."""
        fp, fn = self.incumbent.point
        if isinstance(self.metric, RatioMetric):
            level = self.metric.exact(fp, fn, self.positives, self.negatives)
            line = self.metric.level_line(level, self.positives, self.negatives)
            below = self.metric.denominator(self.positives, self.negatives)(fp, fn)
            return self._rounded(line.fp, line.fn, self.penalty * below)
        normal = None
        if isinstance(self.metric, SupportedMetric):
            normal = self.metric.tangent(fp, fn, self.positives, self.negatives)
        w_fp, w_fn = normal or (self.positives, self.negatives)
        return self._rounded(
            w_fp, w_fn, self.penalty * self._steepness(self.incumbent.point, w_fp, w_fn)
        )

    def _steepness(self, point: Point, w_fp: Any, w_fn: Any) -> Fraction:
        """Return how much weight stands for one unit of the metric, about, near a point."""
        if not self.penalty:
            return Fraction(0)
        step = max(self.positives + self.negatives, 100) / 1000
        fp, fn = float(point[0]), float(point[1])
        size = float(w_fp * w_fp + w_fn * w_fn) ** 0.5
        ahead = fp + step * float(w_fp) / size, fn + step * float(w_fn) / size
        near = min(ahead[0], float(self.negatives)), min(ahead[1], float(self.positives))
        weight = float(w_fp) * (near[0] - fp) + float(w_fn) * (near[1] - fn)
        loss = self._about(fp, fn) - self._about(*near)
        # As fractions: the ratio may be beyond all floats.
        steepness = Fraction(weight) / Fraction(loss) if loss > 0 else Fraction(size)
        return steepness.limit_denominator(1000)

    def _rounded(self, *weights: Any) -> tuple[int, int, int]:
        w_fp, w_fn, split = rounded(weights, self.solves.largest_weight)
        return w_fp, w_fn, split

    def _along_hull(self, worst: Slice, corner: Point) -> tuple[int, int] | None:
        """Return weights orthogonal to an edge of the trees met that the corner is below.

        Trees within limits may have none: both single leaves, which are the ends of the hull
        otherwise, may break the limits.
        """
        edge = edge_below(lower_hull(self._met(worst)), corner)
        if edge is None:
            return None
        w_fp, w_fn = rounded(edge, self.solves.largest_weight)
        return w_fp, w_fn

    def _met(self, worst: Slice) -> list[tuple[int, int]]:
        """Return the points of trees met that have at most as many splits."""
        return [p for p, k in self.trees.items() if not self.is_sliced or k <= worst.splits]

    def _split_weight(self, worst: Slice, corner: Point, line: tuple[int, int, int]) -> int | None:
        """Return the weight of a split for a cut that holds for all numbers of splits, or None.

        With it, no tree met may be below what the slice needs: that bounds it from above by trees
        with fewer splits, and from below by those with more. Between, it is what the penalty
        amounts to in the units of the weights.
        """
        w_fp, w_fn, budget = line
        if not self.penalty or worst.n_visits > 1:
            return None
        least, most = 0, self.solves.largest_weight
        for (fp, fn), splits in self.trees.items():
            room, more = w_fp * fp + w_fn * fn - budget, splits - worst.splits
            if more < 0:
                most = min(most, room // -more)
            elif more > 0:
                least = max(least, -(room // more))
            elif room < 0:
                return None
        if least > most:
            return None
        return max(least, min(most, ceil(self.penalty * self._steepness(corner, w_fp, w_fn))))

    def _separating(self, worst: Slice, at: int) -> tuple[int, int, int] | None:
        """Return weights and the value below which all better points around a corner are.

        None if there are no such points: the corner is then cut off already.
        """
        level = self.goal(worst)
        if isinstance(self.metric, RatioMetric) and isinstance(level, Fraction):
            line = self.metric.level_line(level, self.positives, self.negatives)
            w_fp, w_fn = integers((line.fp, line.fn))
            if max(w_fp, w_fn) <= self.solves.largest_weight:
                scale = Fraction(w_fp + w_fn) / (line.fp + line.fn)
                return w_fp, w_fn, ceil(-line.constant * scale)
        landscape = Landscape(self.value, self._about, level)
        around = triangle(worst.polygon, at, self._met(worst), landscape)
        if not around.has_better(landscape):
            # Along the chord itself: below a line of rounded weights there could be other points.
            left = above(worst.polygon, *around.chord())
            if worst.polygon[at] not in left:
                worst.polygon = left
                self._revalue(worst)
                return None
        w_fp, w_fn, height = around.line(self.solves.largest_weight)
        return w_fp, w_fn, ceil(height)

    # The end.

    def _shrink(self) -> None:
        """Look for a smaller tree at the same point, where one solve can tell."""
        if self.penalty or not isinstance(self.metric, SupportedMetric):
            return
        normal = self.metric.tangent(*self.incumbent.point, self.positives, self.negatives)
        if normal is None or self.incumbent.n_splits < 2 or self.solves.status != "optimal":
            return
        w_fp, w_fn, _ = self._rounded(*normal, 0)
        budget = w_fp * self.incumbent.fp + w_fn * self.incumbent.fn
        found = self.solves.solve((w_fp, w_fn, 0), (budget, self.incumbent.n_splits))
        if found is not None:
            self.consider(found)
        self.solves.status = "optimal"

    def result(self, status: str, offset: Fraction) -> MetricResult:
        """Return the incumbent and what is proven; the offset is a constant penalty."""
        tree = self.incumbent
        self.check_cuts(tree)
        return MetricResult(
            status=status,
            nodes=tree.nodes,
            fp=tree.fp,
            fn=tree.fn,
            value=self.value(tree.point),
            objective=self.objective - offset,
            bound=self.bound - offset,
            n_solves=self.solves.n_solves,
            seconds=self.solves.seconds,
            counters=dict(self.solves.counters),
            history=self.history,
            cuts=self.solves.cuts,
            values=self.values,
        )

    def check_cuts(self, tree: Found) -> None:
        """Stop if a tree is where none is, by what was proven."""
        for cut in self.solves.cuts:
            if cut.excludes(tree.point, tree.n_splits):
                alarm(f"a tree with {tree.fp} and {tree.fn} errors contradicts {cut}")
