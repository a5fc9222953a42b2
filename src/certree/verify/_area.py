"""Areas under the ROC curve of a tree, and those of all trees.

The leaves of a tree are the steps of its curve, the purest first. If the curve of one subtree is
at no point below that of another, this stays true in any tree that contains them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from ._brute_force import AllTrees, Count, TreeSizes

Curve = tuple[tuple[tuple[int, int], ...], int]
"""Steps of (negatives, positives), and the number of splits."""


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


def all_areas(
    tests: Sequence[tuple[Sequence[int], int]],
    is_positive: Sequence[bool],
    weights: Sequence[Fraction],
    sizes: TreeSizes,
    max_fpr: Fraction,
) -> list[tuple[Fraction, int]]:
    """Return (area up to a false positive rate, splits) of all trees that can be best."""
    scale = lcm(*(Fraction(weight).denominator for weight in weights))
    units = [int(weight * scale) for weight in weights]

    def leaf(rows: Sequence[int]) -> list[Curve]:
        positives = sum(units[row] for row in rows if is_positive[row])
        return [(((sum(units[row] for row in rows) - positives, positives),), 0)]

    def unchanged(point: Any, *_: Any) -> Any:
        return point

    trees = AllTrees(tests, len(units), sizes, leaf, _join_curves, _outer_curves, unchanged)
    everything = leaf(range(len(units)))[0][0][0]
    return [(area(steps, everything, max_fpr), splits) for steps, splits in trees.solve()]


def _join_curves(one: Any, other: Any) -> Any:
    steps: list[tuple[int, int]] = []
    for step in sorted([*one[0], *other[0]], key=_impurity):
        if steps and _impurity(steps[-1]) == _impurity(step):
            steps[-1] = steps[-1][0] + step[0], steps[-1][1] + step[1]
        else:
            steps.append(step)
    return tuple(steps), one[1] + other[1]


def _impurity(step: tuple[int, int]) -> Fraction:
    return Fraction(step[0], step[0] + step[1])


def _outer_curves(curves: Iterable[Any], count: Count) -> list[Any]:
    kept: list[Any] = []
    for curve in sorted(set(curves), key=lambda c: c[1]):
        count(10 * len(kept))
        if not any(_is_above(other, curve) for other in kept):
            kept = [other for other in kept if other[1] < curve[1] or not _is_above(curve, other)]
            kept.append(curve)
    return kept


def _is_above(one: Curve, other: Curve) -> bool:
    """Return whether a curve is at no point below another; the corners of the other decide."""
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
