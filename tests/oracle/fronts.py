"""Pareto fronts of (false positives, false negatives, splits) by brute force.

All trees are gone through by recursion on sets of rows, which are bit masks, and every point of
every tree is kept until the end of a node, where dominated ones go. Nothing is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Point = tuple[int, int, int]


def nondominated(points: Iterable[Point]) -> list[Point]:
    """Keep the points that no other point equals or beats in all three coordinates, sorted."""
    kept: list[Point] = []
    for point in sorted(set(points)):
        if not any(q[0] <= point[0] and q[1] <= point[1] and q[2] <= point[2] for q in kept):
            kept.append(point)
    return kept


class FrontOracle:
    """Fronts of one data set; ``columns[i][j]`` is the outcome of test ``j`` in row ``i``."""

    def __init__(
        self,
        columns: Sequence[Sequence[int]],
        row_types: Sequence[int],
        weights: Sequence[int],
        min_leaf: int = 1,
    ) -> None:
        self.row_types = row_types
        self.weights = weights
        self.min_leaf = min_leaf
        n_columns = len(columns[0])
        self.masks = [
            sum(1 << i for i, row in enumerate(columns) if row[j]) for j in range(n_columns)
        ]
        self.root = (1 << len(columns)) - 1
        self._fronts: dict[tuple[int, int, int], list[Point]] = {}

    def _weight(self, rows: int, row_type: int) -> int:
        pairs = enumerate(zip(self.row_types, self.weights, strict=True))
        return sum(w for i, (t, w) in pairs if t == row_type and rows >> i & 1)

    def front(self, depth: int, max_splits: int, rows: int | None = None) -> list[Point]:
        """Nondominated (fp, fn, splits) of all trees with at most so many levels and splits."""
        rows = self.root if rows is None else rows
        key = (rows, depth, max_splits)
        if key not in self._fronts:
            points = [(0, self._weight(rows, 1), 0), (self._weight(rows, 0), 0, 0)]
            if depth > 0 and max_splits > 0:
                for mask in self.masks:
                    points += self._split(rows & mask, rows & ~mask, depth - 1, max_splits - 1)
            self._fronts[key] = nondominated(points)
        return self._fronts[key]

    def _split(self, yes: int, no: int, depth: int, max_splits: int) -> list[Point]:
        if min(yes.bit_count(), no.bit_count()) < max(1, self.min_leaf):
            return []
        return [
            (a[0] + b[0], a[1] + b[1], a[2] + b[2] + 1)
            for a in self.front(depth, max_splits, yes)
            for b in self.front(depth, max_splits, no)
            if a[2] + b[2] <= max_splits
        ]
