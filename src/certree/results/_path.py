"""The regularization path: the best tree for every number of splits, and where the choice changes.

With a penalty of complexity times the total weight W per split, a tree with k splits and errors e
costs ``e + complexity * W * k``: a straight line in the complexity. The best number of splits for a
given complexity is therefore a corner of the lower convex hull of the points (k, e), and it changes
where two neighbouring corners cost the same, at the complexity ``(e - e') / (W * (k' - k))``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from certree.numbers._exact import parse_complexity
from certree.numbers._fractions import to_float
from certree.tree import Tree
from certree.tree._plain import plain

from ._certificate import Exact, exact, show
from ._chart import Chart
from ._charts import path_chart
from ._record import status_text
from ._trees import Trees


@dataclass(frozen=True)
class PathEntry:
    """The best tree with a number of splits.

    Attributes
    ----------
    splits : int
        Number of splits of the tree.
    errors : int or Fraction
        Its training errors by weight, exactly.
    lower_bound : int or Fraction
        No tree within the limits and with this number of splits makes fewer; equal to `errors` when
        that is proven.
    accuracy : float
        ``1 - errors / total_weight``.
    tree : Tree
        The tree.
    """

    splits: int
    errors: Exact
    lower_bound: Exact
    accuracy: float
    tree: Tree

    @property
    def is_optimal(self) -> bool:
        """Whether it is proven that no tree with this number of splits makes fewer errors."""
        return self.errors == self.lower_bound


class RegularizationPath(Trees[PathEntry]):
    """The best tree for every number of splits; made by :func:`regularization_path`.

    A sequence of entries, in the order of their number of splits. A number of splits that does
    not lead to fewer errors than a smaller one has no entry.

    Parameters
    ----------
    entries : sequence of PathEntry
        Splits rise and errors fall from one to the next; the first has no split.
    total_weight : int or Fraction
        Weight of all rows, class weights included.
    status : str
        "optimal", or what stopped the search.
    max_depth, max_splits : int or None
        Limits on the trees.
    min_samples_leaf : int
        Smallest number of rows in a leaf.
    seconds : float
        Time of the search.
    counters : dict of str to int
        Work done by the search.
    measures : pair of str, default=("errors", "accuracy")
        The names of ``errors`` and ``accuracy`` of the entries: "weighted errors" with "weighted
        accuracy" or "balanced accuracy" where rows or classes have weights, "cost" with "objective"
        for a task.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import regularization_path
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> path = regularization_path(X, [0, 1, 0, 0, 0], max_depth=2)
    >>> [(entry.splits, entry.errors) for entry in path]
    [(0, 1), (2, 0)]
    >>> path.breakpoints()
    (Fraction(1, 10),)
    >>> path.best(max_splits=1).n_splits, path.tree(complexity=0.09).n_splits
    (0, 2)
    """

    def __init__(
        self,
        entries: Sequence[PathEntry],
        *,
        total_weight: Exact,
        status: str = "optimal",
        max_depth: int | None = None,
        max_splits: int | None = None,
        min_samples_leaf: int = 1,
        seconds: float = 0.0,
        counters: dict[str, int] | None = None,
        measures: tuple[str, str] = ("errors", "accuracy"),
    ) -> None:
        self.entries = tuple(entries)
        self.total_weight = total_weight
        self.status = status
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.min_samples_leaf = min_samples_leaf
        self.seconds = seconds
        self.counters = dict(counters or {})
        self.measures = measures

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[PathEntry]:
        return iter(self.entries)

    def _entry(self, place: int) -> PathEntry:
        return self.entries[place]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, by rising number of splits."""
        return tuple(entry.tree for entry in self.entries)

    def best(self, max_splits: int | None = None) -> Tree:
        """Return the tree with the fewest errors and at most this number of splits.

        Parameters
        ----------
        max_splits : int, optional
            Most splits; by default any number on the path.
        """
        if max_splits is not None and max_splits < 0:
            raise ValueError(f"max_splits must be at least 0, got {max_splits!r}.")
        fitting = [e for e in self.entries if max_splits is None or e.splits <= max_splits]
        return fitting[-1].tree

    def hull(self) -> tuple[PathEntry, ...]:
        """Return the entries that are best for some complexity, by rising number of splits."""
        corners: list[PathEntry] = []
        for entry in self.entries:
            # An entry on or above the line between its neighbours is nowhere the only best one.
            while len(corners) > 1 and _slope(corners[-2], corners[-1]) <= _slope(
                corners[-1], entry
            ):
                corners.pop()
            corners.append(entry)
        return tuple(corners)

    def breakpoints(self) -> tuple[Fraction, ...]:
        """Return the complexities at which the best number of splits changes, in rising order.

        Below the first, the last corner of :meth:`hull` is best; above the last, the single leaf.
        At a break-point itself two trees are equally good, and the smaller one is chosen.
        """
        corners = self.hull()
        slopes = [_slope(small, large) / self.total_weight for small, large in pairwise(corners)]
        return tuple(reversed(slopes))

    def entry(self, complexity: Any) -> PathEntry:
        """Return the best entry for a complexity; of equally good ones the smallest.

        Parameters
        ----------
        complexity : float, Fraction, Decimal or str
            Penalty per split as a share of the total weight, as in
            :class:`OptimalTreeClassifier`.
        """
        penalty = parse_complexity(complexity) * self.total_weight
        return min(self.entries, key=lambda entry: entry.errors + penalty * entry.splits)

    def tree(self, complexity: Any) -> Tree:
        """Return the best tree for a complexity; of equally good ones the smallest.

        Parameters
        ----------
        complexity : float, Fraction, Decimal or str
            Penalty per split as a share of the total weight, as in
            :class:`OptimalTreeClassifier`.
        """
        return self.entry(complexity).tree

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; exact numbers that are not whole become text such as "7/3"."""
        return {
            "status": self.status,
            "total_weight": plain(self.total_weight),
            "max_depth": self.max_depth,
            "max_splits": self.max_splits,
            "min_samples_leaf": self.min_samples_leaf,
            "seconds": self.seconds,
            "counters": dict(self.counters),
            "breakpoints": [plain(exact(point)) for point in self.breakpoints()],
            "entries": [
                {
                    "splits": entry.splits,
                    "errors": plain(entry.errors),
                    "lower_bound": plain(entry.lower_bound),
                    "accuracy": entry.accuracy,
                    "tree": entry.tree.to_dict(),
                }
                for entry in self.entries
            ],
        }

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per entry.

        The columns are splits, errors, lower_bound, accuracy, depth, on_hull, and complexity: the
        largest complexity for which the entry is best, missing where there is none. In place of
        errors and accuracy, weights give weighted_errors and weighted_accuracy or
        balanced_accuracy, and tasks give cost and objective.
        """
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        cost, score = (name.replace(" ", "_") for name in self.measures)
        corners = self.hull()
        largest = dict(zip((e.splits for e in corners[1:]), self.breakpoints()[::-1], strict=True))
        largest[0] = Fraction(1)
        return {
            "splits": [e.splits for e in self.entries],
            cost: [to_float(e.errors) for e in self.entries],
            "lower_bound": [to_float(e.lower_bound) for e in self.entries],
            score: [e.accuracy for e in self.entries],
            "depth": [e.tree.depth for e in self.entries],
            "on_hull": [e in corners for e in self.entries],
            "complexity": [float(largest.get(e.splits, "nan")) for e in self.entries],
        }

    def _chart(self) -> Chart:
        return path_chart(self)

    def _title(self) -> str:
        return f"Regularization path: {status_text(self.status)}"

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        cost, score = self.measures
        corners = self.hull()
        lines = [
            (e.splits, show(e.errors), e.accuracy, "yes" if e in corners else "")
            for e in self.entries
        ]
        return ("splits", cost, score, "best for some complexity"), lines

    def __repr__(self) -> str:
        last = self.entries[-1].splits
        return f"RegularizationPath({len(self)} trees, 0 to {last} splits, status={self.status!r})"

    def __str__(self) -> str:
        corners = self.hull()
        lowest = dict(zip((e.splits for e in corners[:-1]), self.breakpoints()[::-1], strict=True))
        cost, score = self.measures
        wide, high = max(14, len(cost)), max(9, len(score))
        lines = [
            f"Regularization path: {status_text(self.status)}, {self.seconds:.3g} s",
            f"{'splits':>8} {cost:>{wide}} {score:>{high}}  best for complexity",
        ]
        # Shares of all rows end at one; penalties in other units do not.
        upper = float(1 if cost.endswith("errors") else "inf")
        for entry in self.entries:
            proven = "" if entry.is_optimal else f" (at least {show(entry.lower_bound)} {cost})"
            best = ""
            if entry in corners:
                lower = lowest.get(entry.splits, Fraction(0))
                best = f"{float(lower):.6g} to {upper:.6g}"
                upper = float(lower)
            amounts = f"{show(entry.errors):>{wide}} {entry.accuracy:>{high}.4f}"
            lines.append(f"{entry.splits:>8} {amounts}  {best}{proven}".rstrip())
        return "\n".join(lines)


def _slope(small: PathEntry, large: PathEntry) -> Fraction:
    """Return how many errors each further split saves, on average."""
    return Fraction(small.errors - large.errors) / (large.splits - small.splits)
