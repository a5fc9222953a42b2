"""The least SPO loss of a tree, by looking at all trees: plain Python, exact fractions.

Nothing here comes from the package under test but the list of decisions that it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any


def best_loss(
    columns: Sequence[Sequence[int]],
    costs: Sequence[Sequence[Any]],
    decisions: Sequence[Sequence[Any]],
    max_depth: int,
    max_splits: int | None = None,
    min_weight: int = 1,
    penalty: Fraction = Fraction(0),
    weights: Sequence[Any] | None = None,
) -> Fraction:
    """Return the least weighted loss plus penalty of any tree; less cost is better.

    A least weight of one, the default, allows every leaf that has rows.
    """
    n_rows = len(columns)
    weight = [1] * n_rows if weights is None else list(weights)
    paid = [
        [sum(Fraction(c) * Fraction(w) for c, w in zip(line, d, strict=True)) for d in decisions]
        for line in costs
    ]
    regret = [[weight[i] * (p - min(paid[i])) for p in paid[i]] for i in range(n_rows)]
    tests = {sum(1 << i for i in range(n_rows) if columns[i][j]) for j in range(len(columns[0]))}

    def members(rows: int) -> list[int]:
        return [i for i in range(n_rows) if rows >> i & 1]

    @cache
    def best(rows: int, depth: int, splits: int) -> Fraction:
        inside = members(rows)
        least = min(sum(regret[i][k] for i in inside) for k in range(len(decisions)))
        if depth == 0 or splits == 0:
            return Fraction(least)
        for test in tests:
            left, right = rows & test, rows & ~test
            sizes = [sum(Fraction(weight[i]) for i in members(part)) for part in (left, right)]
            if min(sizes) <= 0 or 1 < min_weight > min(sizes):
                continue
            for given in range(splits):
                below = best(left, depth - 1, given) + best(right, depth - 1, splits - 1 - given)
                least = min(least, penalty + below)
        return Fraction(least)

    whole = (1 << n_rows) - 1
    return best(whole, max_depth, 2**max_depth - 1 if max_splits is None else max_splits)
