"""The largest (partial) area under the ROC curve of a tree's leaf scores, by listing all trees.

Plain Python and fractions; nothing here comes from the package under test. A tree is the list of
its leaves, a leaf the weights of its negatives and positives; its score is the share of positives.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Leaf = tuple[int, int]
"""Weight of negatives, weight of positives."""
LeafList = tuple[Leaf, ...]


def score(leaf: Leaf) -> Fraction:
    """Share of positives."""
    return Fraction(leaf[1], leaf[0] + leaf[1])


def rank_area(leaves: Sequence[Leaf]) -> Fraction:
    """Chance that a positive scores above a negative, ties counting one half."""
    wins = Fraction(0)
    for low in leaves:
        for high in leaves:
            if score(high) > score(low):
                wins += low[0] * high[1]
            elif score(high) == score(low):
                wins += Fraction(low[0] * high[1], 2)
    return wins / (sum(leaf[0] for leaf in leaves) * sum(leaf[1] for leaf in leaves))


def curve_area(leaves: Sequence[Leaf], max_fpr: Fraction) -> Fraction:
    """Area under the ROC curve up to a false positive rate, divided by this rate."""
    negatives = sum(leaf[0] for leaf in leaves)
    positives = sum(leaf[1] for leaf in leaves)
    fpr = tpr = area = Fraction(0)
    for value in sorted({score(leaf) for leaf in leaves}, reverse=True):
        tied = [leaf for leaf in leaves if score(leaf) == value]
        right = fpr + Fraction(sum(leaf[0] for leaf in tied), negatives)
        top = tpr + Fraction(sum(leaf[1] for leaf in tied), positives)
        end = min(right, max_fpr)
        if end > fpr:
            height = tpr + (top - tpr) * (end - fpr) / (right - fpr)
            area += (end - fpr) * (tpr + height) / 2
        fpr, tpr = right, top
        if fpr >= max_fpr:
            break
    return area / max_fpr


class AllTrees:
    """Leaf lists of all trees, with their numbers of splits."""

    def __init__(
        self,
        columns: Sequence[Sequence[int]],
        row_types: Sequence[int],
        weights: Sequence[int] | None = None,
        min_leaf: int = 1,
    ) -> None:
        self.n_rows = len(row_types)
        self.row_types = list(row_types)
        self.weights = [1] * self.n_rows if weights is None else list(weights)
        self.min_leaf = min_leaf
        sets = [
            sum(1 << i for i, row in enumerate(columns) if row[j]) for j in range(len(columns[0]))
        ]
        self.sets = list(dict.fromkeys(sets))
        self._known: dict[tuple[int, int], set[tuple[int, LeafList]]] = {}

    def leaf(self, rows: int) -> Leaf:
        """Weights of both types."""
        counts = [0, 0]
        for i in range(self.n_rows):
            if rows >> i & 1:
                counts[self.row_types[i]] += self.weights[i]
        return counts[0], counts[1]

    def trees(self, depth: int, rows: int | None = None) -> set[tuple[int, LeafList]]:
        """All (splits, sorted leaves) within a depth."""
        rows = (1 << self.n_rows) - 1 if rows is None else rows
        known = self._known.get((rows, depth))
        if known is not None:
            return known
        found = {(0, (self.leaf(rows),))}
        if depth > 0:
            for column in self.sets:
                yes, no = rows & column, rows & ~column
                if min(yes.bit_count(), no.bit_count()) < self.min_leaf:
                    continue
                for yes_splits, yes_leaves in self.trees(depth - 1, yes):
                    for no_splits, no_leaves in self.trees(depth - 1, no):
                        leaves = tuple(sorted(yes_leaves + no_leaves))
                        found.add((1 + yes_splits + no_splits, leaves))
        self._known[rows, depth] = found
        return found

    def best(
        self, depth: int, max_fpr: Fraction, penalty: Fraction, max_splits: int | None = None
    ) -> Fraction:
        """Largest normalised area less the penalty for each split."""
        return max(
            (rank_area(leaves) if max_fpr == 1 else curve_area(leaves, max_fpr)) - penalty * splits
            for splits, leaves in self.trees(depth)
            if max_splits is None or splits <= max_splits
        )
