"""Cuts in the plane of false positives and negatives, and the polygons that they leave.

A cut is what one scalar solve proves; see docs/theory/metrics.md. All coordinates are fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

from certree.metrics._numbers import Exact, Number

Point = tuple[Exact, Exact]
"""False positives and false negatives."""


class Cut(NamedTuple):
    """``fp * (false positives) + fn * (false negatives) + split * splits >= value``.

    It holds for all trees within the limits of the search and with at most `max_splits` splits
    (None: any number).
    """

    fp: int
    fn: int
    split: int
    value: int
    max_splits: int | None = None

    def at(self, splits: int) -> tuple[int, int, int] | None:
        """Return weights and right-hand side for trees with so many splits, or None."""
        if self.max_splits is not None and self.max_splits < splits:
            return None
        return self.fp, self.fn, self.value - self.split * splits

    def excludes(self, point: Point, splits: int) -> bool:
        """Whether no tree with so many splits is at a point."""
        line = self.at(splits)
        return line is not None and line[0] * point[0] + line[1] * point[1] < line[2]


def box(positives: int, negatives: int) -> list[Point]:
    """Return the corners of the box of all points, from ``(0, positives)`` by falling ``fn``."""
    return [(0, positives), (0, 0), (negatives, 0), (negatives, positives)]


def clip(polygon: list[Point], cuts: Iterable[Cut], splits: int) -> list[Point]:
    """Return the corners of what cuts leave of a polygon.

    Parameters
    ----------
    polygon : list of points
        A box, or what other cuts have left of it.
    cuts : iterable of Cut
        Cuts, those included that do not hold for this number of splits.
    splits : int
        Number of splits of the trees.

    Returns
    -------
    list of points
        In the same order; empty where no tree can have so many splits.
    """
    for cut in cuts:
        line = cut.at(splits)
        if line is not None and line[2] > 0:
            polygon = above(polygon, *line)
    return polygon


def above(polygon: list[Point], w_fp: int, w_fn: int, value: Exact) -> list[Point]:
    """Return the corners of the part of a polygon that is on or above a line."""
    heights = [w_fp * fp + w_fn * fn - value for fp, fn in polygon]
    if all(height >= 0 for height in heights):
        return polygon
    kept: list[Point] = []
    for i, point in enumerate(polygon):
        before, height = heights[i - 1], heights[i]
        if (before < 0 < height) or (height < 0 < before):
            other = polygon[i - 1]
            share = Fraction(before) / (before - height)
            kept.append(tuple(a + share * (b - a) for a, b in zip(other, point, strict=True)))  # type: ignore[arg-type]
        if height >= 0:
            kept.append(point)
    return kept


def integers(weights: Sequence[Exact]) -> tuple[int, ...]:
    """Return the smallest integers in the same proportion."""
    factor = lcm(*(Fraction(w).denominator for w in weights))
    whole = [int(w * factor) for w in weights]
    common = gcd(*whole) or 1
    return tuple(w // common for w in whole)


def rounded(weights: Sequence[Exact], most: int) -> tuple[int, ...]:
    """Return integers up to `most` that are nearly in proportion; the exact ones if they fit."""
    exact = integers(weights)
    largest = max(exact)
    if largest <= most:
        return exact
    return tuple(max(round(Fraction(w * most, largest)), 1 if w else 0) for w in exact)


def chord(left: Point, right: Point, pivot: Point | None, most: int) -> tuple[int, int]:
    """Return weights whose lines run along two points.

    Parameters
    ----------
    left, right : points
        The first has fewer false positives and more false negatives.
    pivot : point or None
        Which of them must not be below the line through the other, where weights are rounded.
    most : int
        The largest weight there may be.
    """
    normal = integers((left[1] - right[1], right[0] - left[0]))
    largest = max(normal)
    if largest <= most:
        return normal[0], normal[1]
    steep = [w * most // largest for w in normal]
    for w_fp, w_fn in ((steep[0] + 1, steep[1]), (steep[0], steep[1] + 1), tuple(steep)):
        if pivot is None:
            break
        other = left if pivot is right else right
        if w_fp * pivot[0] + w_fn * pivot[1] >= w_fp * other[0] + w_fn * other[1]:
            break
    return w_fp, w_fn


def lower_hull(points: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the corners of the convex hull that are best for some weights, by false positives."""
    hull: list[tuple[int, int]] = []
    for point in sorted(set(points)):
        if hull and hull[-1][1] <= point[1]:
            continue
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return hull


def _turn(a: Point, b: Point, c: Point) -> Exact:
    """Return a positive number if the way from a by b to c turns left."""
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])


def edge_below(hull: Sequence[tuple[int, int]], corner: Point) -> tuple[int, int] | None:
    """Return weights orthogonal to the edge of a hull that a point is farthest below, or None."""
    best: tuple[Fraction, tuple[int, int]] | None = None
    for (fp, fn), (more_fp, less_fn) in pairwise(hull):
        w_fp, w_fn = integers((fn - less_fn, more_fp - fp))
        depth = Fraction(w_fp * (fp - corner[0]) + w_fn * (fn - corner[1])) / (w_fp + w_fn)
        if depth > 0 and (best is None or depth > best[0]):
            best = depth, (w_fp, w_fn)
    return None if best is None else best[1]


def between(start: Point, end: Point, share: Fraction) -> Point:
    """Return the point at a share of the way from one point to another."""
    if share == 1:
        return end
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def nearest_on(start: Point, end: Point, points: Iterable[Point]) -> Point | None:
    """Return the point on a segment, its start excepted, that is nearest to its start, or None."""
    along = end[0] - start[0], end[1] - start[1]
    w_fp, w_fn, height = integers((along[1], -along[0], along[1] * start[0] - along[0] * start[1]))
    axis = 0 if along[0] else 1
    low, high = sorted((start[axis], end[axis]))
    on = [p for p in points if w_fp * p[0] + w_fn * p[1] == height and low <= p[axis] <= high]

    def distance(point: Point) -> Exact:
        return max(point[axis], start[axis]) - min(point[axis], start[axis])

    return min((p for p in on if p != start), key=distance, default=None)


def least_points(chain: Sequence[Point], most: int) -> list[tuple[int, int]] | None:
    """Return whole points of which one is at or below each whole point above a chain.

    Parameters
    ----------
    chain : sequence of points
        By rising false positives and falling false negatives; only points between those of the
        first and of the last are asked for.
    most : int
        Return None if they would be more.
    """
    (left, top), (right, bottom) = chain[0], chain[-1]
    by_rows = top - bottom < right - left
    if by_rows:
        chain = [(fn, fp) for fp, fn in reversed(chain)]
        left, right = bottom, top
    if right - left > most:
        return None
    points: dict[int, int] = {}
    for start, end in pairwise(chain):
        along = end[0] - start[0], end[1] - start[1]
        if along[0] == 0:
            continue
        fall, run, height = integers(
            (-along[1], along[0], -along[1] * start[0] + along[0] * start[1])
        )
        for at in range(ceil(start[0]), floor(end[0]) + 1):
            points.setdefault(at, -((fall * at - height) // run))
            points[at] = min(points[at], -((fall * at - height) // run))
    return [(fn, fp) if by_rows else (fp, fn) for fp, fn in points.items()]


def greatest_steps(
    chain: Sequence[Point],
    value: Callable[[tuple[int, int]], Number],
    goal: Number,
    most: int,
    is_over: Callable[[], bool],
) -> list[tuple[Number, tuple[int, int]]]:
    """Return whole points at or below all whole points above a chain that could exceed a goal.

    Parameters
    ----------
    chain : sequence of points
        Corners of a convex curve, by rising false positives and falling false negatives.
    value : callable
        A monotone metric.
    goal : Fraction or Root
        Only points that are worth more are of interest.
    most : int
        About how many values may be computed; with fewer than needed, points lie lower.
    is_over : callable
        Whether to stop at once, with points that lie lower.

    Returns
    -------
    list of (value, point)
        The greatest value first.
    """
    lines = [
        integers((a[1] - b[1], b[0] - a[0], (a[1] - b[1]) * a[0] + (b[0] - a[0]) * a[1]))
        for a, b in pairwise(chain)
        if b[0] > a[0]
    ]
    steps: list[tuple[Number, int, int, tuple[int, int]]] = []

    def push(left: int, right: int) -> None:
        # The curve falls, so its least height on a step is that at its right end.
        heights = (-((fall * right - at) // run) for fall, run, at in lines)
        point = left, max(max(heights, default=0), 0)
        worth = value(point)
        if worth > goal:
            heappush(steps, (-worth, left, right, point))

    push(ceil(chain[0][0]), floor(chain[-1][0]))
    for _ in range(most // 2):
        # The step that is worth most is halved, until it has one column.
        if not steps or steps[0][1] == steps[0][2] or is_over():
            break
        _, left, right, _ = heappop(steps)
        middle = (left + right) // 2
        push(left, middle)
        push(middle + 1, right)
    return [(-worth, point) for worth, _, _, point in sorted(steps)]


def minimal_below(
    is_low: Callable[[tuple[int, int]], bool],
    positives: int,
    negatives: int,
    most: int,
    is_over: Callable[[], bool] = lambda: False,
) -> list[tuple[int, int]]:
    """Return points that are low such that nearly all low points are at or above one of them.

    Parameters
    ----------
    is_low : callable
        Whether a point is low; with more errors it stays low.
    positives, negatives : int
        The box.
    most : int
        About how many points there may be; with fewer than all minimal ones, some low points are
        above none.
    is_over : callable
        Whether to stop at once, with the points so far.
    """
    points: list[tuple[int, int]] = []
    step = negatives // most + 1
    highest = positives
    for fp in [*range(0, negatives, step), negatives]:
        if is_over():
            break
        if not is_low((fp, highest)):
            continue
        # Down in growing steps, then by bisection, to the least that is low.
        low, jump = highest, 1
        while low > 0 and is_low((fp, max(low - jump, 0))):
            low, jump = max(low - jump, 0), 2 * jump
        high = max(low - jump, -1)
        while low - high > 1:
            middle = (low + high) // 2
            if is_low((fp, middle)):
                low = middle
            else:
                high = middle
        if not points or low < points[-1][1]:
            points.append((fp, low))
        highest = low
        if low == 0:
            break
    return points
