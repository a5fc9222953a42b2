"""Try all trees: slow, short, and independent of the search.

Rows are bits of Python integers. For a set of rows and a depth, the *points* of its trees are
remembered: tuples of numbers about a tree, with the number of splits at the end. A set has the
points of its single leaves, and those that join the points of the parts of each test. The caller
chooses the points to keep: all that differ, those that no other beats, or the cheapest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb, lcm
from typing import Any

Point = tuple[Any, ...]
Points = Iterable[Point]
Count = Callable[[int], None]
"""Receives the amount of work done."""

WORK_LIMIT = 2_000_000
"""Most points that are joined and compared, and rows that are summed: some seconds."""


@dataclass(frozen=True)
class Charges:
    """Prices of tests: the measurement of each column, and group and prices of each."""

    measurement: Sequence[int]
    group: Sequence[Any]
    price: Sequence[Fraction]
    discounted: Sequence[Fraction]

    def price_of(self, column: int, made: frozenset[int]) -> Fraction:
        """Return what a row pays for a test of a column after these measurements."""
        number = self.measurement[column]
        if number in made:
            return Fraction(0)
        group = self.group[number]
        known = group is not None and any(self.group[other] == group for other in made)
        return self.discounted[number] if known else self.price[number]


@dataclass(frozen=True)
class TreeSizes:
    """Limits on trees.

    Attributes
    ----------
    max_depth, max_splits : int or None
        Limits; None: no limit.
    min_leaf : int
        Fewest rows in a leaf of a split, or least weight, if rows have a size.
    sizes : list of numbers or None
        What each row counts for `min_leaf`, if that is more than one.
    """

    max_depth: int | None
    max_splits: int | None
    min_leaf: int
    sizes: Sequence[Any] | None = None

    @classmethod
    def of(cls, certificate: Any) -> TreeSizes:
        """Return the limits that a certificate states."""
        return cls(certificate.max_depth, certificate.max_splits, certificate.min_samples_leaf)


@dataclass
class AllTrees:
    """All trees over some rows.

    Attributes
    ----------
    tests : list of (list of int, int)
        For each test the rows of each of its outcomes, as bits, and its column.
    n_rows : int
        Number of rows.
    sizes : TreeSizes
        Limits on trees.
    leaf : callable
        From places of rows to the points of single leaves.
    join : callable
        From two points to one.
    keep : callable
        From points to those that are to be remembered.
    split : callable
        From a point, the places of the rows, the column and what has been measured above, to the
        point with what the split itself adds.
    measured : callable, optional
        From a column to what a test of it measures, if that matters further down.
    leaf_work : int
        How much work a row of a leaf is.
    """

    tests: Sequence[tuple[Sequence[int], int]]
    n_rows: int
    sizes: TreeSizes
    leaf: Callable[[Sequence[int]], Points]
    join: Callable[[Point, Point], Point]
    keep: Callable[[Points, Count], list[Point]]
    split: Callable[[Point, Sequence[int], int, frozenset[int]], Point]
    measured: Callable[[int], int] | None = None
    leaf_work: int = 1
    known: dict[Any, list[Point]] = field(default_factory=dict)
    work: int = 0

    def solve(self) -> list[Point]:
        """Return the points of all trees.

        Raises
        ------
        ValueError
            If there are too many trees to try.
        """
        different: dict[Any, tuple[tuple[int, ...], int]] = {}
        for parts, column in self.tests:
            if len(parts) > 1:
                price = None if self.measured is None else self.measured(column)
                different.setdefault((frozenset(parts), price), (tuple(parts), column))
        self.tests = list(different.values())
        limits = [len(self.tests), max(self.n_rows - 1, 0)]
        limits += [n for n in (self.sizes.max_depth, self.sizes.max_splits) if n is not None]
        depth = min(limits)
        n_sets = sum(2**k * comb(len(self.tests), k) for k in range(depth))
        if n_sets * len(self.tests) > 8 * WORK_LIMIT:
            self._refuse(n_sets * len(self.tests))
        return self._points((1 << self.n_rows) - 1, depth, frozenset())

    def _points(self, rows: int, depth: int, made: frozenset[int]) -> list[Point]:
        depth = min(depth, rows.bit_count() - 1)
        key = (rows, depth, made)
        if key not in self.known:
            self.known[key] = self.keep(self._candidates(rows, depth, made), self._count)
        return self.known[key]

    def _candidates(self, rows: int, depth: int, made: frozenset[int]) -> Points:
        members = [i for i in range(self.n_rows) if rows >> i & 1]
        self._count(len(members) * self.leaf_work // 4 + 1)
        yield from self.leaf(members)
        most = self.sizes.max_splits
        for test, column in self.tests if depth > 0 else ():
            self._count(1)
            parts = [rows & part for part in test if rows & part]
            if len(parts) < 2 or not all(map(self._is_large_enough, parts)):
                continue
            then = made if self.measured is None else made | {self.measured(column)}
            whole = self._points(parts[0], depth - 1, then)
            for part in parts[1:]:
                others = self._points(part, depth - 1, then)
                self._count(len(whole) * len(others))
                whole = [self.join(one, other) for one in whole for other in others]
            for point in whole:
                if most is None or point[-1] < most:
                    point = self.split(point, members, column, made)
                    yield (*point[:-1], point[-1] + 1)

    def _is_large_enough(self, rows: int) -> bool:
        least, sizes = self.sizes.min_leaf, self.sizes.sizes
        if sizes is None or least <= 1:
            return rows.bit_count() >= least
        return bool(sum(sizes[i] for i in range(self.n_rows) if rows >> i & 1) >= least)

    def _count(self, amount: int) -> None:
        self.work += amount
        if self.work > WORK_LIMIT:
            self._refuse(self.work)

    def _refuse(self, work: int) -> None:
        raise ValueError(
            f"the problem is too large for a proof by brute force: {work:.3g} or more trees to put "
            f"together ({len(self.tests)} different questions on {self.n_rows} rows), and the "
            f"limit is {WORK_LIMIT:.3g}; use exhaustive=False, fewer questions or a smaller depth."
        )


# ---- what is kept ------------------------------------------------------------------------------


def different(points: Points, _: Count) -> list[Point]:
    """Keep all points that differ, each with the fewest splits."""
    fewest: dict[Point, int] = {}
    for point in points:
        fewest[point[:-1]] = min(point[-1], fewest.get(point[:-1], point[-1]))
    return [(*point, splits) for point, splits in fewest.items()]


def all_different(points: Points, _: Count) -> list[Point]:
    """Keep all points that differ, in their number of splits as well."""
    return list(set(points))


def nondominated(points: Points, count: Count) -> list[Point]:
    """Keep the points that no other point beats or equals in all numbers."""
    kept: list[Point] = []
    for point in sorted(set(points)):
        count(len(kept))
        if not any(all(a <= b for a, b in zip(k, point, strict=True)) for k in kept):
            kept.append(point)
    return kept


def keeper(max_splits: int | None) -> Callable[[Points, Count], list[Point]]:
    """Return the function that keeps nondominated points; splits count only if limited."""
    if max_splits is not None:
        return nondominated
    return lambda points, count: nondominated(((*point[:-1], 0) for point in points), count)


def add(one: Point, other: Point) -> Point:
    """Join two points whose numbers add up."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


# ---- sums over rows by their label -------------------------------------------------------------


def label_points(
    tests: Sequence[tuple[Sequence[int], int]],
    amounts: Sequence[Sequence[Sequence[Fraction]]],
    per_split: Sequence[Fraction],
    sizes: TreeSizes,
    keep: Callable[[Points, Count], list[Point]] | None = None,
    is_allowed: Callable[[Sequence[int], int], bool] | None = None,
    charges: Charges | None = None,
    weights: Sequence[Fraction] = (),
) -> list[Point]:
    """Return the points of all trees whose leaves have labels.

    Parameters
    ----------
    tests : list of (list of int, int)
        Rows of the outcomes of each test, and its column.
    amounts : list of lists of lists
        ``amounts[row][label]``: what a row adds to each number of the point with a label.
    per_split : list
        What a split adds to each.
    sizes : TreeSizes
        Limits on trees.
    keep : callable, optional
        The points to keep; by default those that no other beats.
    is_allowed : callable, optional
        Whether a leaf with these rows may have a label.
    charges : Charges, optional
        Prices of tests, which the first number pays by `weights`.
    weights : list
        Weights of the rows, for prices.
    """
    prices = [] if charges is None else [*charges.price, *charges.discounted]
    columns = list(zip(*(cell for row in amounts for cell in row), strict=True))
    scales = [
        lcm(split.denominator, *{Fraction(number).denominator for number in column})
        for column, split in zip(columns, per_split, strict=True)
    ]
    if charges is not None:
        paid = {(Fraction(w) * price).denominator for w in set(weights) for price in prices}
        scales[0] = lcm(scales[0], *paid)

    def whole(numbers: Sequence[Fraction]) -> Point:
        return tuple(int(n * scale) for n, scale in zip(numbers, scales, strict=True))

    units = [[whole(cell) for cell in row] for row in amounts]
    step = whole(per_split)

    def leaf(rows: Sequence[int]) -> Points:
        for label in range(len(units[0])):
            if is_allowed is None or is_allowed(rows, label):
                lines = [units[row][label] for row in rows]
                yield (*map(sum, zip(*lines, strict=True)), 0)

    def split(point: Point, rows: Sequence[int], column: int, made: frozenset[int]) -> Point:
        point = (*map(sum, zip(point, step, strict=False)), point[-1])
        if charges is None:
            return point
        price = charges.price_of(column, made) * sum(weights[row] for row in rows)
        return (point[0] + int(price * scales[0]), *point[1:])

    trees = AllTrees(
        tests,
        len(amounts),
        sizes,
        leaf,
        add,
        keeper(sizes.max_splits) if keep is None else keep,
        split,
        None if charges is None else charges.measurement.__getitem__,
    )
    return [
        (*(Fraction(n, scale) for n, scale in zip(point, scales, strict=False)), point[-1])
        for point in trees.solve()
    ]


def least_cost(
    tests: Sequence[tuple[Sequence[int], int]],
    n_rows: int,
    leaf: Callable[[Sequence[int]], Fraction],
    penalty: Fraction,
    sizes: TreeSizes,
) -> Fraction:
    """Return the cost of the best tree, where a function of the rows gives the cost of a leaf."""
    points = cost_points(tests, n_rows, leaf, penalty, sizes, keeper(sizes.max_splits))
    return Fraction(min(point[0] for point in points))


def cost_points(
    tests: Sequence[tuple[Sequence[int], int]],
    n_rows: int,
    leaf: Callable[[Sequence[int]], Fraction],
    penalty: Fraction,
    sizes: TreeSizes,
    keep: Callable[[Points, Count], list[Point]] = nondominated,
) -> list[Point]:
    """Return cost and splits of trees, where a function of the rows gives the cost of a leaf."""
    trees = AllTrees(
        tests,
        n_rows,
        sizes,
        lambda rows: [(leaf(rows), 0)],
        add,
        keep,
        lambda point, *_: (point[0] + penalty, point[1]),
        leaf_work=20,
    )
    return trees.solve()
