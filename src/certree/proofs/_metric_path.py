"""The best tree for a metric with every number of splits, from shared path solves.

One path solve gives the least weighted errors with at most k splits for every k: a cut for each
slice, and a tree. Slices are closed one after the other, the one that is farthest from its bound
first; the other slices profit from its cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from certree import engine
from certree.metrics import Metric
from certree.metrics._numbers import Number

from ._metric_cuts import Cut, box
from ._metric_outer import Search, Slice
from ._metric_solves import Found, Relabellings, Weighable


@dataclass(frozen=True)
class MetricPathEntry:
    """The best tree with a number of splits.

    Attributes
    ----------
    tree : Found
        The tree, with its errors.
    value : Fraction or Root
        The metric, exactly.
    bound : Fraction or Root
        No tree with at most so many splits has a greater metric.
    """

    tree: Found
    value: Number
    bound: Number


@dataclass(frozen=True)
class MetricPath:
    """Entries by rising number of splits and metric."""

    status: str
    entries: list[MetricPathEntry]
    n_solves: int
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)


class PathSearch(Search):
    """A search in which every slice, of trees with at most k splits, has an incumbent."""

    def __init__(
        self,
        problem: Weighable,
        metric: Metric,
        options: engine.Options,
        callback: Callable[[engine.Event], object] | None = None,
        known: Iterable[Found] = (),
    ) -> None:
        self.best: dict[int, Found] = {}
        super().__init__(problem, metric, options, Fraction(0), callback)
        self.is_sliced = True
        for tree in known:
            self.consider(tree)

    def _slices(self) -> list[Slice]:
        start, perfect = box(self.positives, self.negatives), self.value((0, 0))
        return [Slice(k, start, perfect) for k in range(1, self.solves.max_splits + 1)]

    def consider(self, tree: Found) -> bool:
        """Take a tree for all slices in which it is better, or as good and smaller."""
        is_better = super().consider(tree)
        value = self.value(tree.point)
        for k in range(tree.n_splits, self.solves.max_splits + 1):
            known = self.best.get(k)
            if known is None or (value, -tree.n_splits) > (
                self.value(known.point),
                -known.n_splits,
            ):
                self.best[k] = tree
        return is_better

    def _best_labels(self, choices: Relabellings) -> list[int]:
        """Return the choices that are better than the incumbents of their numbers of splits."""
        most = self.solves.max_splits
        return [
            i
            for i, splits in enumerate(choices.n_splits)
            if self.value((choices.fp[i], choices.fn[i]))
            > self.value(self.best[min(splits, most)].point)
        ]

    def goal(self, top: Slice) -> Number:
        """Return the metric of the slice's incumbent."""
        return self.value(self.best[top.splits].point)

    def find(self) -> MetricPath:
        """Search until all slices are closed, or a limit is reached."""
        has_progress = True
        status = "optimal"
        while True:
            worst = self._farthest()
            if worst is None:
                break
            if self.solves.status != "optimal":
                status = self.solves.status
                break
            moved = self._advance_path(worst, has_progress)
            if not (moved or has_progress):
                # Weights that would tell the last points apart do not fit into 64 bits.
                status = "gap"
                break
            has_progress = moved
        solves = self.solves
        return MetricPath(
            status,
            self._entries(),
            solves.n_solves,
            solves.seconds,
            dict(solves.counters),
            solves.cuts,
        )

    def _farthest(self) -> Slice | None:
        """Return the open slice whose bound is farthest above its incumbent."""
        for top in self.slices:
            if self.solves.is_over():
                break
            if top.n_cuts < len(self.solves.cuts) and top.value > self.goal(top):
                self._refresh(top)
        still_open = [top for top in self.slices if top.value > self.goal(top)]
        self.bound = max([self.objective, *(top.value for top in still_open)])
        return max(
            still_open, key=lambda top: float(top.value) - float(self.goal(top)), default=None
        )

    def _advance_path(self, worst: Slice, has_progress: bool) -> bool:
        """Solve a path for the worst corner; return whether it is cut off or trees are new."""
        at = max(range(len(worst.polygon)), key=lambda i: self.value(worst.polygon[i]))
        corner, n_met = worst.polygon[at], self.n_met
        if has_progress:
            line = self._separating(worst, at)
            if line is None:
                return True
            weights = line[:2]
        else:
            along = self._along_hull(worst, corner)
            if along is None:
                return False
            weights = along
        for found in self.solves.solve_path(weights):
            self.consider(found)
            self.consider_labels(found)
        if self.n_met > n_met or self.solves.status != "optimal":
            return True
        return any(cut.excludes(corner, worst.splits) for cut in self.solves.cuts[worst.n_cuts :])

    def _entries(self) -> list[MetricPathEntry]:
        bounds = {top.splits: max(top.value, self.goal(top)) for top in self.slices}
        entries: list[MetricPathEntry] = []
        for k in range(self.solves.max_splits + 1):
            tree = self.best[k]
            value = self.value(tree.point)
            if entries and value <= entries[-1].value:
                continue
            self.check_cuts(tree)
            bound = bounds.get(k, value)
            entries.append(MetricPathEntry(tree, value, bound))
        return entries
