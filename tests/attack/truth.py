"""What is true of all small trees, in fractions: plain Python, and nothing of the package.

Rows are bits of a Python integer. A leaf with a label adds up what its rows say of that label, a
tree adds up its leaves, and all points of all trees are kept: nothing is bounded, ordered or
rounded. A float means the decimal that Python prints for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, isnan, isqrt, lcm
from typing import Any

Point = tuple[Any, ...]
"""The sums of a tree, then its number of splits."""


def number(value: Any) -> Fraction:
    """Return the number that a user means."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return Fraction(repr(value))
    if isinstance(value, int | Fraction | Decimal | str):
        return Fraction(value)
    raise TypeError(f"no number: {value!r}")


# ---- tests and trees -----------------------------------------------------------------------------


def candidates(table: Sequence[Sequence[Any]]) -> list[int]:
    """Return the row sets that one test of a column can single out, up to the complement."""
    found = [rows for column in zip(*table, strict=True) for rows in candidates_of(column)]
    return list(dict.fromkeys(found))


def candidates_of(column: Sequence[Any]) -> list[int]:
    """Return those of one column.

    Between any two numbers that occur there is a threshold, and missing values may go to either
    side of it; or the test asks whether the value is missing. Of texts, a test asks for one.
    """
    everything = (1 << len(column)) - 1
    missing = sum(1 << i for i, value in enumerate(column) if _is_missing(value))
    values = sorted({value for value in column if not _is_missing(value)})
    sets = [missing]
    if any(isinstance(value, str) for value in values):
        sets += [sum(1 << i for i, x in enumerate(column) if x == text) for text in values]
        values = []
    for low, _ in pairwise(values):
        below = sum(1 << i for i, x in enumerate(column) if not _is_missing(x) and x <= low)
        sets += [below, below | missing]
    found = [min(rows, everything ^ rows) for rows in sets if rows not in (0, everything)]
    return list(dict.fromkeys(found))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


class AllTrees:
    """The points of all trees: the sums over their leaves, and their number of splits.

    ``leaf(rows)`` returns the sums that a leaf of these rows can have, one tuple for each label.
    A leaf of a split holds at least `min_leaf` rows; the tree without splits is always allowed.
    """

    def __init__(
        self,
        n_rows: int,
        tests: Sequence[int],
        leaf: Callable[[list[int]], Iterable[Point]],
        min_leaf: int = 1,
    ) -> None:
        self.n_rows = n_rows
        self.tests = tests
        self.leaf = leaf
        self.min_leaf = min_leaf
        self._known: dict[tuple[int, int], set[Point]] = {}

    def points(self, depth: int, max_splits: int | None = None) -> set[Point]:
        """Return the points of all trees within limits of depth and splits."""
        found = self._points((1 << self.n_rows) - 1, depth)
        return {p for p in found if max_splits is None or p[-1] <= max_splits}

    def _points(self, rows: int, depth: int) -> set[Point]:
        if (rows, depth) not in self._known:
            members = [i for i in range(self.n_rows) if rows >> i & 1]
            found = {(*sums, 0) for sums in self.leaf(members)}
            for test in self.tests if depth else ():
                yes, no = rows & test, rows & ~test
                if min(yes.bit_count(), no.bit_count()) < max(1, self.min_leaf):
                    continue
                right = self._points(no, depth - 1)
                for a in self._points(yes, depth - 1):
                    found.update(
                        (*(x + y for x, y in zip(a[:-1], b, strict=False)), a[-1] + b[-1] + 1)
                        for b in right
                    )
            self._known[rows, depth] = found
        return self._known[rows, depth]


class LabelledTrees:
    """All trees whose leaves have labels, with sums of ``amounts[row][label]``.

    A leaf may take a label only if its rows are `enough` for it.

    Points are integers: the sums times `scale`, which is exact and much faster than fractions.
    """

    def __init__(
        self,
        tests: Sequence[int],
        amounts: Sequence[Sequence[Sequence[Fraction]]],
        depth: int,
        min_leaf: int = 1,
        max_splits: int | None = None,
        enough: Callable[[list[int], int], bool] = lambda rows, label: True,
    ) -> None:
        self.enough = enough
        denominators = {x.denominator for row in amounts for sums in row for x in sums}
        self.scale = lcm(*denominators)
        self.amounts = [
            [tuple(int(x * self.scale) for x in sums) for sums in row] for row in amounts
        ]
        self.n_labels = len(amounts[0])
        trees = AllTrees(len(amounts), tests, self._leaf, min_leaf)
        self.points = trees.points(depth, max_splits)

    def _leaf(self, rows: list[int]) -> set[Point]:
        return {
            self.sums([label] * len(rows), rows)
            for label in range(self.n_labels)
            if self.enough(rows, label)
        }

    def sums(self, labels: Sequence[int], rows: Iterable[int] | None = None) -> Point:
        """Return the sums of rows with labels, times `scale`."""
        chosen = range(len(self.amounts)) if rows is None else rows
        each = [self.amounts[i][label] for i, label in zip(chosen, labels, strict=True)]
        return tuple(map(sum, zip(*each, strict=True)))

    def fractions(self, place: int) -> list[Fraction]:
        """Return all values of one of the sums, in order."""
        return [Fraction(x, self.scale) for x in sorted({p[place] for p in self.points})]

    def cost(self, point: Point, penalty: Fraction, place: int = 0) -> Fraction:
        """Return the cost of a point: one of its sums, and the penalty for its splits."""
        return Fraction(point[place], self.scale) + penalty * point[-1]

    def least(
        self, points: Iterable[Point], penalty: Fraction = Fraction(0), place: int = 0
    ) -> Fraction | None:
        """Return the least cost of some points; None if there are none."""
        best: dict[int, int] = {}
        for p in points:
            best[p[-1]] = min(best.get(p[-1], p[place]), p[place])
        costs = (Fraction(x, self.scale) + penalty * splits for splits, x in best.items())
        return min(costs, default=None)

    def within(self, bounds: Sequence[tuple[int, Any, Any]]) -> list[Point]:
        """Return the points with ``at_least <= sum <= at_most`` for each (place, most, least)."""
        scaled = [
            (
                place,
                None if most is None else floor(most * self.scale),
                None if least is None else ceil(least * self.scale),
            )
            for place, most, least in bounds
        ]
        return [
            p
            for p in self.points
            if all(
                (most is None or p[place] <= most) and (least is None or p[place] >= least)
                for place, most, least in scaled
            )
        ]


class PricedTrees:
    """The least cost of trees in which rows pay for columns, once each on their way.

    ``leaf(rows)`` is the cost of a leaf; ``tests`` are pairs of a row set and its column.
    """

    def __init__(
        self,
        weights: Sequence[Fraction],
        tests: Sequence[tuple[int, int]],
        prices: Sequence[Fraction],
        leaf: Callable[[list[int]], Fraction],
        min_leaf: int = 1,
    ) -> None:
        self.weights, self.tests, self.prices = weights, tests, prices
        self.leaf, self.min_leaf = leaf, min_leaf
        self._known: dict[Any, dict[int, Fraction]] = {}

    def least(self, depth: int) -> dict[int, Fraction]:
        """Return the least cost for each number of splits."""
        return self._least((1 << len(self.weights)) - 1, depth, frozenset())

    def _least(self, rows: int, depth: int, paid: frozenset[int]) -> dict[int, Fraction]:
        key = rows, depth, paid
        if key not in self._known:
            members = [i for i in range(len(self.weights)) if rows >> i & 1]
            best = {0: self.leaf(members)}
            weight = sum((self.weights[i] for i in members), Fraction(0))
            for test, column in self.tests if depth else ():
                yes, no = rows & test, rows & ~test
                if min(yes.bit_count(), no.bit_count()) < max(1, self.min_leaf):
                    continue
                price = Fraction(0) if column in paid else self.prices[column] * weight
                sides = [self._least(side, depth - 1, paid | {column}) for side in (yes, no)]
                for a, x in sides[0].items():
                    for b, y in sides[1].items():
                        cost = price + x + y
                        best[a + b + 1] = min(best.get(a + b + 1, cost), cost)
            self._known[key] = best
        return self._known[key]


def nondominated(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the pairs that no other one beats, by rising first number."""
    kept: list[tuple[Any, Any]] = []
    for pair in sorted(set(pairs)):
        if not kept or pair[1] < kept[-1][1]:
            kept.append(pair)
    return kept


def squared_error(weights: Sequence[Fraction], targets: Sequence[Fraction]) -> Fraction:
    """Return the squared distance of targets from their mean."""
    total = sum(weights, Fraction(0))
    mean = sum((w * y for w, y in zip(weights, targets, strict=True)), Fraction(0)) / total
    return sum((w * (y - mean) ** 2 for w, y in zip(weights, targets, strict=True)), Fraction(0))


# ---- weights of classes --------------------------------------------------------------------------


def class_weights(
    given: Any, classes: Sequence[Any], totals: Sequence[Fraction], *, balance: bool = False
) -> list[Fraction]:
    """Return the weight of each class for the total weight of its rows.

    "balanced" gives all classes the same total and leaves the sum as it is. With `balance`, for the
    mean of the shares of right answers, weights in a dict multiply those of "balanced".
    """
    equal = [sum(totals, Fraction(0)) / (len(classes) * total) for total in totals]
    if isinstance(given, str):
        return equal
    named = [Fraction(1) if given is None else number(given.get(c, 1)) for c in classes]
    return [a * b for a, b in zip(named, equal, strict=True)] if balance else named


# ---- metrics of false positives and false negatives ----------------------------------------------

DIGITS = 10**60


def root(x: Fraction) -> Fraction:
    """Return the square root, to at least 50 significant digits."""
    if x <= 0:
        return Fraction(0)
    scale = DIGITS
    while x * scale * scale < DIGITS**2:
        scale *= DIGITS
    return Fraction(isqrt(int(x * scale * scale)), scale)


def _fbeta(square: Fraction, fp: Fraction, fn: Fraction, p: Fraction, n: Fraction) -> Fraction:
    return (1 + square) * (p - fn) / ((1 + square) * p - fn + fp)


def _mcc(fp: Fraction, fn: Fraction, p: Fraction, n: Fraction) -> Fraction:
    predicted = p - fn + fp
    square = p * n * predicted * (p + n - predicted)
    return (p * n - p * fp - n * fn) / root(square) if square > 0 else Fraction(0)


def _kappa(fp: Fraction, fn: Fraction, p: Fraction, n: Fraction) -> Fraction:
    agree = (p + n - fp - fn) / (p + n)
    predicted = p - fn + fp
    chance = (p * predicted + n * (p + n - predicted)) / (p + n) ** 2
    return (agree - chance) / (1 - chance)


def _macro_f1(fp: Fraction, fn: Fraction, p: Fraction, n: Fraction) -> Fraction:
    one = Fraction(1)
    return (_fbeta(one, fp, fn, p, n) + _fbeta(one, fn, fp, n, p)) / 2


METRICS: dict[str, Callable[..., Fraction]] = {
    "f1": lambda fp, fn, p, n: _fbeta(Fraction(1), fp, fn, p, n),
    "f2": lambda fp, fn, p, n: _fbeta(Fraction(4), fp, fn, p, n),
    "jaccard": lambda fp, fn, p, n: (p - fn) / (p + fp),
    "cohen_kappa": _kappa,
    "informedness": lambda fp, fn, p, n: 1 - fp / n - fn / p,
    "macro_f1": _macro_f1,
    "mcc": _mcc,
    "fowlkes_mallows": lambda fp, fn, p, n: (
        (p - fn) / root(p * (p - fn + fp)) if p - fn + fp else Fraction(0)
    ),
    "gmean": lambda fp, fn, p, n: root((p - fn) / p * (n - fp) / n),
}
"""By their textbook definitions, for tables with rows of both classes."""

WITH_ROOTS = ("mcc", "fowlkes_mallows", "gmean")


def area(leaves: Iterable[tuple[Fraction, Fraction]], max_fpr: Fraction = Fraction(1)) -> Fraction:
    """Return the area under the ROC curve of leaves up to a rate, divided by that rate.

    Leaves are (weight of positive rows, weight of negative rows), and come in the order of their
    share of positives.
    """
    steps = sorted(leaves, key=lambda leaf: leaf[0] / (leaf[0] + leaf[1]), reverse=True)
    positives = sum((p for p, _ in steps), Fraction(0))
    negatives = sum((n for _, n in steps), Fraction(0))
    x = y = total = Fraction(0)
    for p, n in steps:
        width, height = n / negatives, p / positives
        used = min(width, max(max_fpr - x, Fraction(0)))
        if width:
            total += used * (y + height * used / width / 2)
        x, y = x + width, y + height
    return total / max_fpr


# ---- rates of groups -----------------------------------------------------------------------------

RATES = {
    "demographic_parity": ("selected",),
    "equal_opportunity": ("selected positives",),
    "predictive_equality": ("selected negatives",),
    "equalized_odds": ("selected positives", "selected negatives"),
    "accuracy_parity": ("wrong",),
}
"""What each constraint compares between groups."""


def shares(
    constraint: str,
    classes: Sequence[int],
    groups: Sequence[Any],
    weights: Sequence[Fraction],
    n_labels: int,
) -> list[list[list[Fraction]]]:
    """Return what rows with each label add to every rate of every group; class 1 is positive."""
    names = sorted(set(groups))
    amounts: list[list[list[Fraction]]] = [[[] for _ in range(n_labels)] for _ in classes]
    for rate in RATES[constraint]:
        among = {"selected positives": (1,), "selected negatives": (0,)}.get(rate, (0, 1, 2))
        for group in names:
            counted = [c in among and g == group for c, g in zip(classes, groups, strict=True)]
            total = sum(
                (w for w, counts in zip(weights, counted, strict=True) if counts), start=Fraction(0)
            )
            for i, counts in enumerate(counted):
                for label in range(n_labels):
                    has = label != classes[i] if rate == "wrong" else label == 1
                    share = weights[i] / total if counts and has else Fraction(0)
                    amounts[i][label].append(share)
    return amounts


def disparity(constraint: str, n_groups: int, sums: Sequence[Any]) -> Any:
    """Return the largest difference of a rate between two groups, from the sums of `shares`."""
    parts = [sums[k * n_groups : (k + 1) * n_groups] for k in range(len(RATES[constraint]))]
    return max(max(part) - min(part) for part in parts)
