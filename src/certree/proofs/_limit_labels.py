"""Labels of a given tree that keep its limits, chosen leaf by leaf where they are many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._limit_rows import EvaluatedTree, LimitedRows

# Every leaf changes its label about so many times at most.
_MOST_CHANGES = 3

# Of so many changes that cost least, pairs are tried, so many times.
_CHEAPEST = 200
_MOST_PAIRS = 20


def repaired(rows: LimitedRows, tree: EvaluatedTree, bounds: Sequence[int]) -> list[EvaluatedTree]:
    """Return a tree with other labels that keep the bounds of limits, or nearly so.

    Labels are changed leaf by leaf in several ways. The first tree has the best of them; the second
    one has those that cost little, if they do not keep the bounds. None where a leaf may take no
    label.
    """
    if not tree.allowed.any(axis=1).all():
        return []
    planes = rows.problem.planes
    by_leaf = tree.leaf_sums @ planes[:, :-1].T  # (leaves, labels, planes)
    costs = np.where(tree.allowed, by_leaf[:, :, 0], np.iinfo(np.int64).max)
    own = tree.nodes.label[tree.leaves]
    at = np.arange(len(own))
    start = np.where(tree.allowed[at, own], own, costs.argmin(axis=1))
    room = np.array(bounds, dtype=np.int64) - planes[1:] @ tree.fixed
    choices = [_Choice(by_leaf, tree.allowed, start, room) for _ in range(rows.n_labels + 2)]
    for choice in choices[:2]:
        choice.come_near()
    choices[1].change_pairs()
    for label, choice in enumerate(choices[2:]):
        choice.sweep(label)
    for choice in choices:
        choice.improve()
    best = min(choices, key=lambda choice: (choice.excess, choice.totals[0]))
    best.change_pairs()
    found = []
    for choice in (best,) if choices[0].excess == 0 else (best, choices[0]):
        label = tree.nodes.label.copy()
        label[tree.leaves] = choice.labels
        found.append(rows.evaluate(tree.nodes.with_labels(label).merged()))
    return found


class _Choice:
    """Labels of leaves, what they add up to, and the bounds of that."""

    def __init__(
        self,
        by_leaf: NDArray[np.int64],
        allowed: NDArray[np.bool_],
        labels: NDArray[np.intp],
        bounds: NDArray[np.int64],
    ) -> None:
        self.by_leaf = by_leaf
        self.allowed = allowed
        self.labels = labels.copy()
        self.bounds = bounds
        self.at = np.arange(len(labels))
        self.totals: NDArray[np.int64] = by_leaf[self.at, labels].sum(axis=0)
        self.scale = 1.0 / np.maximum(np.abs(by_leaf[:, :, 1:]).max(axis=1).sum(axis=0), 1)

    @property
    def excess(self) -> float:
        """By how much limits are exceeded; 0 if and only if none is."""
        return float(self._excess(self.totals[1:]))

    def _excess(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        over = np.maximum(totals - self.bounds, 0) * self.scale
        return np.asarray(over.sum(axis=-1))

    def _changes(self) -> NDArray[np.int64]:
        return np.asarray(self.by_leaf - self.by_leaf[self.at, self.labels][:, None, :])

    def come_near(self) -> None:
        """Take the change that saves most excess for what it costs, until none saves any."""
        for _ in range(_MOST_CHANGES * len(self.labels)):
            changes, excess = self._changes(), self.excess
            saved = excess - self._excess(self.totals[1:] + changes[:, :, 1:])
            useful = self.allowed & (saved > 0)
            if excess == 0 or not useful.any():
                return
            price = np.maximum(changes[:, :, 0], 0) + 1.0
            self._take(changes, np.where(useful, saved / price, -1.0))

    def sweep(self, label: int) -> None:
        """Give leaves a label, those first for which it costs least, until that is best.

        Limits on differences can be kept by many changes where each one alone exceeds them more.
        """
        changes = self._changes()[:, label]
        moved = (np.abs(changes[:, 1:]) * self.scale).sum(axis=1)
        useful = np.flatnonzero(self.allowed[:, label] & (moved > 0))
        order = useful[np.argsort(changes[useful, 0] / moved[useful], kind="stable")]
        totals = self.totals + np.vstack([0 * self.totals, np.cumsum(changes[order], axis=0)])
        count = int(np.lexsort((totals[:, 0], self._excess(totals[:, 1:])))[0])
        self.labels[order[:count]] = label
        self.totals = totals[count]

    def improve(self) -> None:
        """Within the limits, take the change that saves most of the objective, until none does."""
        for _ in range(_MOST_CHANGES * len(self.labels) if self.excess == 0 else 0):
            changes = self._changes()
            inside = (self.totals[1:] + changes[:, :, 1:] <= self.bounds).all(axis=2)
            useful = self.allowed & inside & (changes[:, :, 0] < 0)
            if not useful.any():
                return
            self._take(changes, np.where(useful, -changes[:, :, 0], -1).astype(np.float64))

    def change_pairs(self) -> None:
        """Take the two changes that come nearest to the limits, or cost least within them.

        Where limits are tight, one change makes up for what the other one breaks.
        """
        for _ in range(_MOST_PAIRS):
            changes = self._changes()
            first, label = np.nonzero(self.allowed & (changes != 0).any(axis=2))
            cheap = np.argsort(changes[first, label, 0], kind="stable")[:_CHEAPEST]
            first, label = first[cheap], label[cheap]
            single = changes[first, label]
            both = single[:, None] + single[None, :]
            excess = self._excess(self.totals[1:] + both[:, :, 1:])
            excess[first[:, None] == first[None, :]] = np.inf
            if not len(first) or not np.isfinite(excess).any():
                return
            least = excess.min()
            cost = np.where(excess == least, both[:, :, 0], np.iinfo(np.int64).max)
            one, other = np.unravel_index(int(cost.argmin()), cost.shape)
            if (least, cost[one, other]) >= (self.excess, 0):
                return
            self.totals = self.totals + both[one, other]
            self.labels[first[[one, other]]] = label[[one, other]]

    def _take(self, changes: NDArray[np.int64], worth: NDArray[np.float64]) -> None:
        leaf, label = np.unravel_index(int(worth.argmax()), worth.shape)
        self.totals = self.totals + changes[leaf, label]
        self.labels[leaf] = label
