"""Fair trees by brute force: all labellings of the rows that some tree gives, and their rates.

Written from the definitions alone, for a handful of rows; nothing is shared with the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

Labelling = tuple[int, ...]


def labellings(
    table: Sequence[Sequence[int]], n_classes: int, depth: int, min_leaf: int = 1
) -> dict[Labelling, int]:
    """Return every labelling of the rows by a tree, with the fewest splits that it takes."""
    n_rows, n_tests = len(table), len(table[0]) if table else 0

    def visit(rows: tuple[int, ...], depth: int) -> dict[Labelling, int]:
        found = {(label,) * len(rows): 0 for label in range(n_classes)}
        for test in range(n_tests if depth else 0):
            yes = tuple(row for row in rows if table[row][test])
            no = tuple(row for row in rows if not table[row][test])
            if min(len(yes), len(no)) < min_leaf:
                continue
            for a, splits_a in visit(yes, depth - 1).items():
                for b, splits_b in visit(no, depth - 1).items():
                    of = dict(zip(yes, a, strict=True)) | dict(zip(no, b, strict=True))
                    labels = tuple(of[row] for row in rows)
                    splits = splits_a + splits_b + 1
                    found[labels] = min(found.get(labels, splits), splits)
        return found

    return visit(tuple(range(n_rows)), depth)


def rates(
    constraint: str,
    labels: Labelling,
    classes: Sequence[int],
    groups: Sequence[Any],
    weights: Sequence[int],
) -> list[dict[Any, Fraction]]:
    """Return the rates that a constraint compares, for every group; class 1 is positive."""
    if constraint == "equalized_odds":
        return [
            *rates("equal_opportunity", labels, classes, groups, weights),
            *rates("predictive_equality", labels, classes, groups, weights),
        ]
    result = {}
    for group in sorted(set(groups)):
        among = some = 0
        for label, klass, other, weight in zip(labels, classes, groups, weights, strict=True):
            if other != group:
                continue
            if constraint == "equal_opportunity" and klass != 1:
                continue
            if constraint == "predictive_equality" and klass == 1:
                continue
            among += weight
            some += weight * (label != klass if constraint == "accuracy_parity" else label == 1)
        result[group] = Fraction(some, among)
    return [result]


def apart(of_rates: Sequence[dict[Any, Fraction]]) -> Fraction:
    """Return the largest difference of a rate between two groups."""
    return max(max(rate.values()) - min(rate.values()) for rate in of_rates)


def points(
    constraint: str,
    table: Sequence[Sequence[int]],
    classes: Sequence[int],
    groups: Sequence[Any],
    weights: Sequence[int],
    *,
    depth: int,
    min_leaf: int = 1,
    max_splits: int | None = None,
    penalty: Fraction = Fraction(0),
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield disparity and cost of every tree; trees with the same labels once."""
    n_classes = max(classes) + 1
    for labels, splits in labellings(table, n_classes, depth, min_leaf).items():
        if max_splits is not None and splits > max_splits:
            continue
        errors = sum(
            weight
            for label, klass, weight in zip(labels, classes, weights, strict=True)
            if label != klass
        )
        of_rates = rates(constraint, labels, classes, groups, weights)
        yield apart(of_rates), errors + penalty * splits


def best(found: Sequence[tuple[Fraction, Fraction]], tolerance: Fraction) -> Fraction | None:
    """Return the least cost within a tolerance."""
    return min((cost for gap, cost in found if gap <= tolerance), default=None)


def curve(found: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the pairs that no other beats, by rising disparity."""
    front: list[tuple[Fraction, Fraction]] = []
    for gap, cost in sorted(set(found)):
        if not front or cost < front[-1][1]:
            front.append((gap, cost))
    return front
