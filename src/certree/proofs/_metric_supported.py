"""All supported trees: the corners of the convex hull of false positives and negatives.

The dichotomic search of Aneja and Nair: between two neighbouring corners a solve with weights
orthogonal to the line through both either proves that no corner lies between, or finds one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

from certree import engine

from ._metric_cuts import Cut, box, clip, integers, lower_hull, rounded
from ._metric_solves import Found, Weighable, WeightedSolves


@dataclass(frozen=True)
class SupportedFront:
    """The corners of the convex hull, by rising false positives.

    Attributes
    ----------
    trees : list of Found
        Trees with their errors.
    lower_points : list of (fp, fn, splits)
        Every tree within the limits is at or above one of these in all coordinates.
    cuts : list of Cut
        What the solves have proven.
    """

    status: str
    trees: list[Found]
    lower_points: list[tuple[int, int, int]]
    n_solves: int
    seconds: float
    counters: dict[str, int] = field(default_factory=dict)
    cuts: list[Cut] = field(default_factory=list)

    @property
    def points(self) -> list[tuple[int, int, int]]:
        """False positives, false negatives and splits of the trees."""
        return [(tree.fp, tree.fn, tree.n_splits) for tree in self.trees]


class SupportedSearch:
    """State of the dichotomic search."""

    def __init__(
        self,
        problem: Weighable,
        options: engine.Options,
        callback: Callable[[engine.Event], object] | None = None,
    ) -> None:
        self.solves = WeightedSolves(problem, options)
        self.solves.callback = callback
        self.rows = self.solves.rows
        self.trees: dict[tuple[int, int], Found] = {}
        self._is_rounded = False
        for label in (0, 1):
            self._meet(self.rows.leaf(label))

    def _meet(self, tree: Found) -> None:
        known = self.trees.get(tree.point)
        if known is None or tree.n_splits < known.n_splits:
            self.trees[tree.point] = tree

    def find(self) -> SupportedFront:
        """Search until no edge of the hull is open, or a limit is reached."""
        positives, negatives = self.rows.positives, self.rows.negatives
        # The ends: least false positives and then negatives, and the other way round.
        if positives and negatives:
            self._solve((positives + 1, 1))
            self._solve((1, negatives + 1))
        proven: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        while self.solves.status == "optimal":
            edges = [edge for edge in pairwise(lower_hull(self.trees)) if edge not in proven]
            if not edges:
                break
            for edge in edges:
                (fp, fn), (more_fp, less_fn) = edge
                self._solve((fn - less_fn, more_fp - fp))
                proven.add(edge)
        return self._result()

    def _solve(self, direction: tuple[int, int]) -> None:
        """Look for trees below all that were met, for weights in a direction."""
        exact = integers(direction)
        w_fp, w_fn = rounded(exact, self.solves.largest_weight)
        # Weights that do not fit into 64 bits leave open what is between two points.
        self._is_rounded |= (w_fp, w_fn) != exact
        known = min((w_fp * fp + w_fn * fn, tree.n_splits) for (fp, fn), tree in self.trees.items())
        found = self.solves.solve((w_fp, w_fn, 0), known)
        if found is not None:
            self._meet(found)
            choices = self.rows.relabellings(found)
            for i, (fp, fn) in enumerate(zip(choices.fp, choices.fn, strict=True)):
                met = self.trees.get((fp, fn))
                if met is None or choices.n_splits[i] < met.n_splits:
                    self._meet(choices.tree(i))

    def _result(self) -> SupportedFront:
        solves = self.solves
        hull = lower_hull(self.trees)
        # Trees above an edge are at or above no corner, but above where its ends would meet.
        chain = clip(box(self.rows.positives, self.rows.negatives), solves.cuts, 0)[:-1]
        lower = [(ceil(one[0]), ceil(two[1]), 0) for one, two in pairwise(chain)]
        is_rounded = self._is_rounded and solves.status == "optimal"
        if solves.options.partial:
            lower, solves.cuts = [(0, 0, 0)], []
        return SupportedFront(
            solves.options.status("gap" if is_rounded else solves.status),
            [self.trees[point] for point in hull],
            lower,
            solves.n_solves,
            solves.seconds,
            dict(solves.counters),
            solves.cuts,
        )
