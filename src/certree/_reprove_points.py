"""Re-prove metrics, fronts and areas by trying all trees: slow, short, apart from the search.

What is remembered for a set of rows and a depth is no single best tree but all that can be of use
to a larger one: the confusions that no other beats in false positives, false negatives and splits;
or, for areas, the ROC curves that no other is nowhere below. A tree above another in every respect
stays above whatever the rest of the tree adds, so nothing else is dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from fractions import Fraction
from math import lcm
from typing import Any, Generic, TypeVar

from ._reprove import Question

WORK_LIMIT = 1_000_000
"""Most pairs of partial trees that are put together: some seconds."""

Point = tuple[int, int, int]
Curve = tuple[tuple[tuple[int, int], ...], int]
Partial = TypeVar("Partial", bound=tuple[Any, ...])
"""What is remembered of a tree; its number of splits comes last."""


def best_points(question: Question, *, per_splits: bool) -> list[tuple[Fraction, Fraction, int]]:
    """Return all nondominated (fp, fn, splits), or (fp, fn) with the fewest splits.

    Rows of class 1 are the positives; penalties play no part.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    trees = _Trees(question)
    force = _BruteForce(trees, _leaf_points, _join_points, _nondominated)
    points = force.solve()
    if not per_splits:
        points = [p for p in points if not any(_beats(q, p) for q in points)]
    return [(Fraction(x, trees.scale), Fraction(y, trees.scale), k) for x, y, k in sorted(points)]


def all_points(question: Question) -> list[tuple[Fraction, Fraction, int]]:
    """Return the (fp, fn) of all trees, each with the fewest splits; nothing is dropped as worse.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    trees = _Trees(question)
    points = _BruteForce(trees, _leaf_points, _join_points, _different).solve()
    return [(Fraction(x, trees.scale), Fraction(y, trees.scale), k) for x, y, k in sorted(points)]


def point_grid(question: Question, most: int) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return all weights that false positives and negatives could have; None if too many pairs."""
    trees = _Trees(question)
    negatives, positives = trees.sums(trees.all_rows)
    if (negatives + 1) * (positives + 1) > most:
        return None
    fp, fn = (
        [Fraction(units, trees.scale) for units in range(total + 1)]
        for total in (negatives, positives)
    )
    return fp, fn


def best_areas(question: Question, max_fpr: Fraction) -> list[tuple[Fraction, int]]:
    """Return (normalised area up to a false positive rate, splits) of all useful trees.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    trees = _Trees(question)
    force = _BruteForce(trees, _leaf_curve, _join_curves, _outer_curves)
    totals = trees.sums(trees.all_rows)
    return [(area(list(steps), totals, max_fpr), splits) for steps, splits in force.solve()]


def area(
    steps: Iterable[tuple[int | Fraction, int | Fraction]],
    totals: tuple[int | Fraction, int | Fraction],
    max_fpr: Fraction,
) -> Fraction:
    """Return the area under a ROC curve up to a rate, divided by the rate, exactly.

    Parameters
    ----------
    steps : iterable of (negatives, positives)
        Weights of the leaves, in any order; the curve takes the purest first.
    totals : (negatives, positives)
        Weights of all rows.
    max_fpr : Fraction
        The rate.
    """
    ordered = sorted(
        (step for step in steps if step[0] or step[1]),
        key=lambda step: Fraction(step[0]) / (step[0] + step[1]),
    )
    end, x, y = max_fpr * totals[0], Fraction(0), Fraction(0)
    total = Fraction(0)
    for negatives, positives in ordered:
        width = min(Fraction(negatives), end - x)
        height = positives if not negatives else positives * width / negatives
        total += width * (y + Fraction(height) / 2)
        x, y = x + width, y + positives
        if x >= end and negatives:
            break
    return total / (end * totals[1])


class _Trees:
    """Rows as bits, different tests, limits, and integer weights."""

    def __init__(self, question: Question) -> None:
        self.scale = lcm(*(weight.denominator for weight in question.weights))
        self.weights = [int(weight * self.scale) for weight in question.weights]
        self.classes = question.classes
        self.all_rows = (1 << len(self.classes)) - 1
        self.min_leaf = question.min_leaf
        kept: dict[int, None] = {}
        for parts in question.tests:
            if len(parts) == 2 and parts[1] not in kept:
                kept[parts[0]] = None
        self.tests = list(kept)
        depth = min(len(self.tests), max(len(self.classes) - 1, 0))
        limits = [limit for limit in (question.max_depth, question.max_splits) if limit is not None]
        self.depth = min([depth, *limits])
        self.max_splits = question.max_splits

    def sums(self, rows: int) -> tuple[int, int]:
        """Return the weight of negatives and of positives."""
        totals = [0, 0]
        for row, klass in enumerate(self.classes):
            if rows >> row & 1:
                totals[klass] += self.weights[row]
        return totals[0], totals[1]


class _BruteForce(Generic[Partial]):
    """All trees of a set of rows, with answers remembered and work counted."""

    def __init__(
        self,
        trees: _Trees,
        leaf: Callable[[int, int], list[Partial]],
        join: Callable[[Partial, Partial], Partial],
        useful: Callable[[Iterable[Partial]], list[Partial]],
    ) -> None:
        self.trees = trees
        self.leaf, self.join, self.useful = leaf, join, useful
        self.known: dict[tuple[int, int], list[Partial]] = {}
        self.work = 0

    def solve(self) -> list[Partial]:
        return self._all(self.trees.all_rows, self.trees.depth)

    def _all(self, rows: int, depth: int) -> list[Partial]:
        depth = min(depth, rows.bit_count() - 1)
        if (rows, depth) not in self.known:
            self.known[rows, depth] = self.useful(self._candidates(rows, depth))
        return self.known[rows, depth]

    def _candidates(self, rows: int, depth: int) -> Iterable[Partial]:
        yield from self.leaf(*self.trees.sums(rows))
        for test in self.trees.tests if depth > 0 else ():
            left = rows & test
            right = rows ^ left
            if min(left.bit_count(), right.bit_count()) < max(self.trees.min_leaf, 1):
                continue
            ours, theirs = self._all(left, depth - 1), self._all(right, depth - 1)
            self._count_work(len(ours) * len(theirs))
            for one in ours:
                for other in theirs:
                    tree = self.join(one, other)
                    if self.trees.max_splits is None or tree[-1] <= self.trees.max_splits:
                        yield tree

    def _count_work(self, amount: int) -> None:
        self.work += amount
        if self.work > WORK_LIMIT:
            raise ValueError(
                "the problem is too large for a proof by brute force: more than "
                f"{WORK_LIMIT:.3g} trees put together ({len(self.trees.tests)} different tests, "
                f"depth up to {self.trees.depth}); use exhaustive=False, fewer tests or a smaller "
                "depth."
            )


# ---- confusions --------------------------------------------------------------------------------


def _leaf_points(negatives: int, positives: int) -> list[Point]:
    return [(0, positives, 0), (negatives, 0, 0)]


def _join_points(one: Point, other: Point) -> Point:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2] + 1


def _nondominated(points: Iterable[Point]) -> list[Point]:
    kept: list[Point] = []
    for fp, fn, splits in sorted(set(points)):
        # What comes before has no more false positives.
        if not any(other[1] <= fn and other[2] <= splits for other in kept):
            kept.append((fp, fn, splits))
    return kept


def _different(points: Iterable[Point]) -> list[Point]:
    fewest: dict[tuple[int, int], int] = {}
    for fp, fn, splits in points:
        fewest[fp, fn] = min(splits, fewest.get((fp, fn), splits))
    return [(*point, splits) for point, splits in fewest.items()]


def _beats(one: Point, other: Point) -> bool:
    """Return whether a point is as good in both errors, and better in one or in splits."""
    return (
        one != other
        and one[0] <= other[0]
        and one[1] <= other[1]
        and (one[:2] != other[:2] or one[2] < other[2])
    )


# ---- ROC curves --------------------------------------------------------------------------------


def _leaf_curve(negatives: int, positives: int) -> list[Curve]:
    return [(((negatives, positives),), 0)]


def _join_curves(one: Curve, other: Curve) -> Curve:
    steps: list[tuple[int, int]] = []
    for step in sorted([*one[0], *other[0]], key=_impurity):
        if steps and _impurity(steps[-1]) == _impurity(step):
            steps[-1] = steps[-1][0] + step[0], steps[-1][1] + step[1]
        else:
            steps.append(step)
    return tuple(steps), one[1] + other[1] + 1


def _impurity(step: tuple[int, int]) -> Fraction:
    return Fraction(step[0], step[0] + step[1])


def _outer_curves(curves: Iterable[Curve]) -> list[Curve]:
    kept: list[Curve] = []
    for curve in sorted(set(curves), key=lambda c: c[1]):
        if not any(_is_above(other, curve) for other in kept):
            kept = [other for other in kept if other[1] < curve[1] or not _is_above(curve, other)]
            kept.append(curve)
    return kept


def _is_above(one: Curve, other: Curve) -> bool:
    """Return whether a curve is nowhere below another: it is not at the corners of that."""
    corners = _corners(one)
    places = [x for x, _ in corners]
    for x, y in _corners(other):
        # The last corner at or before x; of several above each other the highest.
        i = bisect_right(places, x) - 1
        height = Fraction(corners[i][1])
        if i + 1 < len(corners):
            width = corners[i + 1][0] - corners[i][0]
            height += Fraction(corners[i + 1][1] - corners[i][1], width) * (x - corners[i][0])
        if height < y:
            return False
    return True


def _corners(curve: Curve) -> list[tuple[int, int]]:
    x = y = 0
    corners = [(0, 0)]
    for negatives, positives in curve[0]:
        x, y = x + negatives, y + positives
        corners.append((x, y))
    return corners
