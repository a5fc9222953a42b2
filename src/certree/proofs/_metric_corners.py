"""The better points around a corner of a polygon, and the line that separates them from others.

Where sublevel sets of a metric are convex, the points of a polygon that are better than a level and
near a corner lie in a triangle: the corner, and the two points where the boundary of the polygon
enters the sublevel set. See docs/theory/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from certree.metrics._numbers import Exact, Number

from ._metric_cuts import Point, between, chord, integers, least_points, nearest_on

# Points on edges are multiples of the edge over this, and weights of chords at most this: finer
# ones would not find other trees.
_FINEST = 2**24

# Around a corner with more whole points than this, a solve is quicker than looking at them.
_MOST_POINTS = 256


@dataclass(frozen=True)
class Landscape:
    """A metric over the plane: exact values, quick ones, and a level to exceed."""

    value: Callable[[Point], Number]
    about: Callable[[float, float], float]
    level: Number

    def is_better(self, point: Point) -> bool:
        """Whether a point exceeds the level."""
        return self.value(point) > self.level


@dataclass(frozen=True)
class Triangle:
    """What may be better around a corner: between the chain of corners and its chord.

    Attributes
    ----------
    chain : list of points
        From where the boundary leaves the sublevel set on the left to where it enters it again.
    pivot : point or None
        One of its ends, if it is the point of a tree.
    """

    chain: list[Point]
    pivot: Point | None

    def line(self, largest_weight: int) -> tuple[int, int, Exact]:
        """Return weights for a solve and the height below which the triangle is.

        With rounded weights, a part of the polygon beyond an end may be below it, too.
        """
        left, right = self.chain[0], self.chain[-1]
        w_fp, w_fn = chord(left, right, self.pivot, min(largest_weight, _FINEST))
        return w_fp, w_fn, max(w_fp * fp + w_fn * fn for fp, fn in (left, right))

    def chord(self) -> tuple[int, int, Exact]:
        """Return weights and the height of the line through both ends, however large."""
        (fp, fn), (more_fp, less_fn) = self.chain[0], self.chain[-1]
        w_fp, w_fn = integers((fn - less_fn, more_fp - fp))
        return w_fp, w_fn, w_fp * fp + w_fn * fn

    def has_better(self, landscape: Landscape) -> bool:
        """Whether some whole point in it could be better; trees have no others."""
        points = least_points(self.chain, _MOST_POINTS)
        return points is None or any(map(landscape.is_better, points))


def triangle(
    polygon: Sequence[Point], at: int, trees: Sequence[Point], landscape: Landscape
) -> Triangle:
    """Return the triangle around a corner.

    Parameters
    ----------
    polygon : sequence of points
        Corners in a circle, false negatives falling first.
    at : int
        Index of the corner.
    trees : sequence of points
        Points of trees, none of them better than the level.
    landscape : Landscape
        The metric and the level.
    """
    left = _walk(polygon, at, -1, trees, landscape)
    right = _walk(polygon, at, 1, trees, landscape)
    chain = [*reversed(left.points), polygon[at], *right.points]
    ends = [walk.points[-1] for walk in (left, right) if walk.ends_at_tree]
    return Triangle(chain, ends[0] if ends else None)


@dataclass(frozen=True)
class _Walk:
    points: list[Point]
    ends_at_tree: bool


def _walk(
    polygon: Sequence[Point], at: int, step: int, trees: Sequence[Point], landscape: Landscape
) -> _Walk:
    """Go along the polygon to where the metric is at most the level, or slightly farther."""
    points: list[Point] = []
    outside = polygon[at]
    while True:
        at = (at + step) % len(polygon)
        inside = polygon[at]
        tree = nearest_on(outside, inside, trees)
        if tree is not None or not landscape.is_better(inside):
            end = inside if tree is None else tree
            entry = between(outside, end, _crossing(outside, end, landscape))
            return _Walk([*points, entry], entry == tree)
        points.append(inside)
        outside = inside


def _crossing(outside: Point, inside: Point, landscape: Landscape) -> Fraction:
    """Return about how far on a segment the metric falls to the level; never less."""
    a_fp, a_fn = float(outside[0]), float(outside[1])
    along_fp, along_fn = float(inside[0]) - a_fp, float(inside[1]) - a_fn
    low, high, limit = 0.0, 1.0, float(landscape.level)
    for _ in range(26):
        middle = (low + high) / 2
        if landscape.about(a_fp + middle * along_fp, a_fn + middle * along_fn) > limit:
            low = middle
        else:
            high = middle
    steps, step = ceil(high * _FINEST), 1
    while steps < _FINEST:
        share = Fraction(steps, _FINEST)
        if not landscape.is_better(between(outside, inside, share)):
            return share
        steps, step = steps + step, 2 * step
    return Fraction(1)
