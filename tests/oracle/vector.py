"""The least cost of a tree whose leaves cost what a sum over their rows says, by trying all trees.

Plain Python with exact fractions, and nothing of the package under test. Rows are bits of a Python
integer; a leaf cost is any function of the tuple of rows. Prices of tests are carried along as the
set of what has been paid for on the way, which is the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

Leaf = Callable[[tuple[int, ...]], Fraction]
"""Cost of a leaf with these rows."""


@dataclass(frozen=True)
class Prices:
    """What tests cost: by column the measurement it needs, by measurement group and prices."""

    feature: Sequence[int]
    group: Sequence[int]
    price: Sequence[Fraction]
    discounted: Sequence[Fraction]
    weights: Sequence[Fraction]

    def of(self, column: int, paid: frozenset[int], rows: Sequence[int]) -> Fraction:
        """Price of a test for these rows, after these measurements."""
        feature = self.feature[column]
        if feature in paid:
            return Fraction(0)
        groups = {self.group[other] for other in paid}
        known = self.group[feature] in groups
        price = self.discounted[feature] if known else self.price[feature]
        return Fraction(price) * sum((self.weights[row] for row in rows), Fraction(0))


@dataclass(frozen=True)
class Limits:
    """Limits on trees, and the penalty of a split."""

    max_depth: int
    max_splits: int | None = None
    min_leaf: int = 1
    penalty: Fraction = field(default_factory=Fraction)


def best_cost(
    columns: Sequence[Sequence[int]], leaf: Leaf, limits: Limits, prices: Prices | None = None
) -> Fraction:
    """Return the least cost of a tree over 0/1 columns, given row by row."""
    n_rows, n_columns = len(columns), len(columns[0])
    ones = [sum(1 << i for i in range(n_rows) if columns[i][j]) for j in range(n_columns)]

    def members(rows: int) -> tuple[int, ...]:
        return tuple(i for i in range(n_rows) if rows >> i & 1)

    @cache
    def leaf_cost(rows: int) -> Fraction:
        return Fraction(leaf(members(rows)))

    @cache
    def best(rows: int, depth: int, splits: int, paid: frozenset[int]) -> Fraction:
        least = leaf_cost(rows)
        if depth == 0 or splits == 0:
            return least
        for column in range(n_columns):
            left, right = rows & ones[column], rows & ~ones[column]
            if min(left.bit_count(), right.bit_count()) < max(limits.min_leaf, 1):
                continue
            cost, then = limits.penalty, paid
            if prices is not None:
                cost += prices.of(column, paid, members(rows))
                then = paid | {prices.feature[column]}
            for given in range(splits):
                least = min(
                    least,
                    cost
                    + best(left, depth - 1, given, then)
                    + best(right, depth - 1, splits - 1 - given, then),
                )
        return least

    most = 2**limits.max_depth - 1
    splits = most if limits.max_splits is None else min(limits.max_splits, most)
    return best((1 << n_rows) - 1, limits.max_depth, splits, frozenset())
