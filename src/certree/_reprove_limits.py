"""Re-prove trees within limits by trying all trees: slow, short, independent of the search.

What is remembered for a set of rows and a depth are the points of its trees: what they cost, their
totals with the signs of the bounds, and their splits. A point that is no better than another in any
of these can be replaced by it in every tree, so only the others are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

WORK_LIMIT = 2_000_000
"""Most pairs of partial trees that are put together, and points compared: some seconds."""

Point = tuple[int, ...]


@dataclass(frozen=True)
class LimitQuestion:
    """The problem to be solved again.

    Attributes
    ----------
    tests : list of int
        For each test the rows where it holds, as bits.
    amounts : list of lists of lists of Fraction
        ``amounts[row][label]``: what a row adds to each coordinate with a label, all to be small.
    per_split : list of Fraction
        What a split adds to each coordinate.
    counts : list of lists of int, or None
        What a row counts for each label of its leaf.
    needed : list of int, or None
        How much each label needs.
    max_depth, max_splits : int or None
        Limits on the size.
    min_leaf : int
        Fewest rows in a leaf.
    """

    tests: Sequence[int]
    amounts: Sequence[Sequence[Sequence[Fraction]]]
    per_split: Sequence[Fraction]
    counts: Sequence[Sequence[int]] | None
    needed: Sequence[int] | None
    max_depth: int | None
    max_splits: int | None
    min_leaf: int


def all_points(question: LimitQuestion) -> list[tuple[Fraction, ...]]:
    """Return the coordinates of all trees, those left out that another is nowhere above.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    force = _BruteForce(question)
    scales = force.scales
    return [
        tuple(Fraction(number, scale) for number, scale in zip(point, scales, strict=False))
        for point in force.solve()
    ]


class _BruteForce:
    """All trees of a set of rows, with answers remembered and work counted."""

    def __init__(self, question: LimitQuestion) -> None:
        self.question = question
        n_rows = len(question.amounts)
        self.all_rows = (1 << n_rows) - 1
        columns = zip(*(cell for row in question.amounts for cell in row), strict=True)
        self.scales = [
            lcm(split.denominator, *{number.denominator for number in column})
            for column, split in zip(columns, question.per_split, strict=True)
        ]
        self.amounts = [[self._integers(cell) for cell in row] for row in question.amounts]
        self.per_split = (*self._integers(question.per_split), 1)
        kept: dict[int, None] = {}
        for test in question.tests:
            if self.all_rows ^ test not in kept:
                kept[test] = None
        self.tests = list(kept)
        depth = min(len(self.tests), max(n_rows - 1, 0))
        sizes = (question.max_depth, question.max_splits)
        self.depth = min([depth, *(size for size in sizes if size is not None)])
        self.known: dict[tuple[int, int], list[Point]] = {}
        self.work = 0

    def _integers(self, numbers: Sequence[Fraction]) -> Point:
        return tuple(int(n * scale) for n, scale in zip(numbers, self.scales, strict=True))

    def solve(self) -> list[Point]:
        return self._all(self.all_rows, self.depth)

    def _all(self, rows: int, depth: int) -> list[Point]:
        depth = min(depth, rows.bit_count() - 1)
        if (rows, depth) not in self.known:
            self.known[rows, depth] = self._minimal(self._candidates(rows, depth))
        return self.known[rows, depth]

    def _candidates(self, rows: int, depth: int) -> Iterable[Point]:
        yield from self._leaves(rows)
        most = self.question.max_splits
        for test in self.tests if depth > 0 else ():
            left = rows & test
            right = rows ^ left
            if min(left.bit_count(), right.bit_count()) < max(self.question.min_leaf, 1):
                continue
            ours, theirs = self._all(left, depth - 1), self._all(right, depth - 1)
            self._count(len(ours) * len(theirs))
            for one in ours:
                for other in theirs:
                    point = tuple(map(sum, zip(one, other, self.per_split, strict=True)))
                    if most is None or point[-1] <= most:
                        yield point

    def _leaves(self, rows: int) -> Iterable[Point]:
        members = [i for i in range(len(self.amounts)) if rows >> i & 1]
        for label in range(len(self.amounts[0])):
            if self.question.counts is not None and self.question.needed is not None:
                counted = sum(self.question.counts[i][label] for i in members)
                if counted < self.question.needed[label]:
                    continue
            lines = [self.amounts[i][label] for i in members]
            yield (*map(sum, zip(*lines, strict=True)), 0)

    def _minimal(self, points: Iterable[Point]) -> list[Point]:
        # Splits count only where they are limited.
        ignored = self.question.max_splits is None
        distinct = {(*point[:-1], 0) if ignored else point for point in points}
        kept: list[Point] = []
        for point in sorted(distinct):
            self._count(len(kept))
            if not any(all(a <= b for a, b in zip(k, point, strict=True)) for k in kept):
                kept.append(point)
        return kept

    def _count(self, amount: int) -> None:
        self.work += amount
        if self.work > WORK_LIMIT:
            raise ValueError(
                "the problem is too large for a proof by brute force: more than "
                f"{WORK_LIMIT:.3g} trees put together ({len(self.tests)} different tests, depth "
                f"up to {self.depth}); use exhaustive=False, fewer tests or a smaller depth."
            )
