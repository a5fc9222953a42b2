"""Sums over whole trees by brute force: every point that a tree can have, and what follows from it.

Plain Python, and nothing of the package under test. Rows are bits of a Python integer. A leaf with
a label adds up what its rows say of that label; a tree adds up its leaves. All points of all trees
within the limits are kept, so that an optimum under limits, its absence, the least value of a plane
and the front of objective and gap are read off.

Conventions: a tree of one leaf is always large enough, whatever `min_leaf` says; a leaf may only
take a label that enough of its rows count for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Point = tuple[int, ...]
"""The sums of a tree, then its number of splits."""


@dataclass
class LimitOracle:
    """All points of the trees over 0/1 columns.

    ``columns[i][j]`` is the outcome of test ``j`` in row ``i``; ``values[i][k][d]`` is what row
    ``i`` adds to sum ``d`` in a leaf of label ``k``. A leaf may take label ``k`` only if its rows'
    ``label_counts[i][k]`` add up to ``label_min[k]``.
    """

    columns: Sequence[Sequence[int]]
    values: Sequence[Sequence[Sequence[int]]]
    row_counts: Sequence[int] | None = None
    label_counts: Sequence[Sequence[int]] | None = None
    label_min: Sequence[int] | None = None
    min_leaf: int = 1
    _known: dict[tuple[int, int], set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_rows = len(self.columns)
        self.n_labels, self.n_sums = len(self.values[0]), len(self.values[0][0])
        self.root = (1 << n_rows) - 1
        self.masks = [
            sum(1 << i for i in range(n_rows) if self.columns[i][j])
            for j in range(len(self.columns[0]))
        ]
        # A point is one number in a base that no sum reaches, which makes adding points fast.
        most = sum(max(abs(v) for label in row for v in label) for row in self.values)
        self.base = 2 * max(most, n_rows) + 3

    def points(self, depth: int, max_splits: int | None = None) -> set[Point]:
        """Return the points of all trees within limits of depth and splits."""
        points = (self._read(code) for code in self._codes(self.root, depth))
        return {p for p in points if max_splits is None or p[-1] <= max_splits}

    def _read(self, code: int) -> Point:
        digits = []
        for _ in range(self.n_sums + 1):
            digit = (code + self.base // 2) % self.base - self.base // 2
            digits.append(digit)
            code = (code - digit) // self.base
        return tuple(digits)

    def _codes(self, rows: int, depth: int) -> set[int]:
        key = rows, depth
        if key not in self._known:
            found = self._leaf(rows)
            if depth > 0:
                for mask in self.masks:
                    found |= self._split(rows & mask, rows & ~mask, depth - 1)
            self._known[key] = found
        return self._known[key]

    def _split(self, yes: int, no: int, depth: int) -> set[int]:
        if min(self._size(yes), self._size(no)) < max(1, self.min_leaf):
            return set()
        one_split = self.base**self.n_sums
        first = [code + one_split for code in self._codes(yes, depth)]
        second = self._codes(no, depth)
        return {a + b for a in first for b in second}

    def _members(self, rows: int) -> list[int]:
        return [i for i in range(len(self.columns)) if rows >> i & 1]

    def _size(self, rows: int) -> int:
        if self.row_counts is None:
            return rows.bit_count()
        return sum(self.row_counts[i] for i in self._members(rows))

    def _leaf(self, rows: int) -> set[int]:
        members = self._members(rows)
        found = set()
        for k in range(self.n_labels):
            if self.label_min is not None:
                assert self.label_counts is not None
                if sum(self.label_counts[i][k] for i in members) < self.label_min[k]:
                    continue
            sums = [sum(self.values[i][k][d] for i in members) for d in range(self.n_sums)]
            found.add(sum(total * self.base**d for d, total in enumerate(sums)))
        return found


def value(plane: Sequence[int], point: Point) -> int:
    """Return the value of a plane at a point."""
    return sum(a * x for a, x in zip(plane, point, strict=True))


def feasible(points: set[Point], limits: Sequence[tuple[Sequence[int], int]]) -> list[Point]:
    """Return the points whose values are at most the bounds of all limits."""
    return [p for p in points if all(value(plane, p) <= bound for plane, bound in limits)]


def least(
    points: set[Point], plane: Sequence[int], limits: Sequence[tuple[Sequence[int], int]] = ()
) -> int | None:
    """Return the least value of a plane within limits, or None if no tree is within them."""
    return min((value(plane, p) for p in feasible(points, limits)), default=None)


def front(
    points: set[Point],
    planes: Sequence[Sequence[int]],
    limits: Sequence[tuple[Sequence[int], int]],
    scales: Sequence[int],
) -> list[tuple[int, Fraction]]:
    """Return the nondominated pairs of objective and gap within limits, by rising objective.

    The objective is the first plane; the gap is the largest value over scale of those with one.
    """
    pairs = {
        (
            value(planes[0], p),
            max(Fraction(value(f, p), s) for f, s in zip(planes, scales, strict=True) if s),
        )
        for p in feasible(points, limits)
    }
    kept: list[tuple[int, Fraction]] = []
    for pair in sorted(pairs):
        if not kept or pair[1] < kept[-1][1]:
            kept.append(pair)
    return kept
