"""The front: all trees that no other tree beats in both false positives and false negatives.

For every metric that does not rise with either kind of error, a best tree is among them. So one
front answers all such metrics, without another search: compare its points. When a limit stopped
the search, *lower points* take the place of the proof: for every tree, one of them is at least as
good in both respects, so the best value of a metric over the lower points bounds every tree.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from certree import metrics
from certree.metrics._monotonicity import look_around
from certree.numbers._exact import parse_complexity, parse_penalty
from certree.tree import Tree

from ._certificate import Certificate, Exact, exact, many, show
from ._chart import Chart
from ._chart_plot import draw
from ._charts import front_chart
from ._record import Record, status_text
from ._rounding import at_most, nearest
from ._trees import CertifiedTrees

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from certree.estimators import OptimalTreeClassifier
    from certree.metrics import Metric

Point = tuple[Exact, Exact, int]
"""Weight of false positives, weight of false negatives, number of splits."""

_MOST_LINES = 30
"""If a front has more trees, only those that are best for some metric are printed."""

_ON_HULL = ("linear", "linear-fractional", "supported")

# Their penalties are shares of all rows.
_SHARES = (metrics.Accuracy, metrics.BalancedAccuracy)


@dataclass(frozen=True, repr=False)
class FrontCertificate(Record):
    """The trees that were searched, and the proof about a front.

    Attributes
    ----------
    status : str
        "optimal": the points are complete; otherwise the reason why the search stopped.
    points : tuple of (fp, fn, splits)
        The points found, by rising false positives. Weights are exact numbers.
    lower_points : tuple of (fp, fn, splits)
        For every tree within the limits, one of these is at most as great in all three. For a
        proven front that is not only its convex part, they are the points themselves.
    positives, negatives : int or Fraction
        Weight of the rows of the positive class, and of the others.
    pos_label : object
        The positive class.
    supported_only : bool
        Whether the front has only the corners of the convex hull. Every tree lies on or above the
        lines between neighbours.
    per_splits : bool
        Whether a point is left out only if a point with no more splits beats it.
    seconds : float
        Wall-clock time of the fit, encoding included.
    counters : dict of str to int
        Work done by the search.
    n_solves : int
        Number of searches.
    """

    status: str
    points: tuple[Point, ...]
    lower_points: tuple[Point, ...]
    positives: Exact
    negatives: Exact
    pos_label: Any
    supported_only: bool
    per_splits: bool
    seconds: float
    counters: dict[str, int] = field(hash=False)
    n_solves: int = 1

    @property
    def is_optimal(self) -> bool:
        """Whether the front is proven: no tree is missing."""
        return self.status == "optimal"

    def _in_few_words(self) -> tuple[str, ...]:
        return (many(len(self.points), "tree"),)

    def _facts(self) -> list[tuple[str, str]]:
        return [("trees", str(len(self.points)))]

    def statement(self) -> str:
        """Return the proven statement in one sentence."""
        what = "corners of the convex hull" if self.supported_only else "nondominated trees"
        if self.is_optimal:
            return f"These are all {what}: every other tree within the limits is no better."
        return (
            f"The search was {status_text(self.status)}: {what} may be missing, but "
            f"every tree is no better than one of {len(self.lower_points)} lower points."
        )


class ParetoFront(CertifiedTrees["OptimalTreeClassifier"]):
    """All nondominated trees; made by :func:`pareto_front`, or kept by a model as ``front_``.

    A sequence of fitted models, by rising false positives and falling false negatives. Each
    predicts, exports and verifies like any other.

    Parameters
    ----------
    model : OptimalTreeClassifier
        A model fitted to one of the points; the others are made from it.
    trees : sequence of Tree
        The trees, in the order of the points.
    certificate : FrontCertificate
        The points and their proof.

    Attributes
    ----------
    trees : tuple of Tree
        The trees.
    certificate : FrontCertificate
        What is proven.
    fp, fn, splits : array of shape (n_points,)
        The points.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import pareto_front
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [1, 1]]
    >>> front = pareto_front(X, [0, 1, 0, 0, 1], max_depth=1)
    >>> front.points.tolist()
    [[0, 2, 0], [1, 0, 1]]
    >>> front.best("f1").certificate_.objective
    0.8
    """

    def __init__(
        self,
        model: OptimalTreeClassifier,
        trees: Sequence[Tree],
        certificate: FrontCertificate,
    ) -> None:
        self._model = model
        self._trees = trees
        self.certificate = certificate

    # ---- the points -----------------------------------------------------------------------------

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in the order of the points."""
        return tuple(self._trees)

    @property
    def points(self) -> NDArray[Any]:
        """False positives, false negatives and splits, one row per tree."""
        return _array(self.certificate.points)

    @property
    def lower_points(self) -> NDArray[Any]:
        """For every tree, one of these is at least as good; for a proven front, its points."""
        return _array(self.certificate.lower_points)

    @property
    def fp(self) -> NDArray[Any]:
        """Weight of the false positives of each tree."""
        return self.points[:, 0]

    @property
    def fn(self) -> NDArray[Any]:
        """Weight of the false negatives of each tree."""
        return self.points[:, 1]

    @property
    def measures(self) -> tuple[str, str]:
        """What `fp` and `fn` are called: "weighted" where rows or classes have weights."""
        by = "weighted " if self._model.certificate_.is_weighted else ""
        return f"{by}false positives", f"{by}false negatives"

    @property
    def splits(self) -> NDArray[np.int64]:
        """Number of splits of each tree."""
        return self.points[:, 2].astype(np.int64)

    @property
    def is_supported(self) -> NDArray[np.bool_]:
        """Whether each tree is best for some weights of the two errors: a corner of the hull."""
        hull = _hull([point[:2] for point in self.certificate.points])
        return np.array([point[:2] in hull for point in self.certificate.points])

    # ---- models ---------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._trees)

    def _entry(self, place: int) -> OptimalTreeClassifier:
        certificate = self._point_certificate(place)
        changes = {"max_splits": certificate.max_splits} if self.certificate.per_splits else {}
        return self._fitted(self._trees[place], certificate, **changes)

    def best(
        self,
        metric: Any = "accuracy",
        *,
        complexity: float = 0.0,
        complexity_per: Literal["split", "leaf"] = "split",
    ) -> OptimalTreeClassifier:
        """Return the best tree for a metric, as a fitted model with its certificate.

        Nothing is searched again. Of equally good trees it is the one with the fewest splits. A
        function that rises with errors is refused, if the points of the front or a grid show it.

        Parameters
        ----------
        metric : str, Metric or callable, default="accuracy"
            What is maximised, as `objective` of :class:`OptimalTreeClassifier`.
        complexity : float, default=0.0
            Penalty per split or leaf, in units of the metric; needs a front with
            ``per_splits=True``.
        complexity_per : {"split", "leaf"}, default="split"
            What the penalty counts.
        """
        chosen = metrics.get(metric)
        penalty = _read_penalty(complexity, complexity_per, chosen)
        self._check_pick(chosen, penalty)
        paid = 1 if complexity_per == "leaf" else 0
        totals = (self.certificate.positives, self.certificate.negatives)
        visited = (*self.certificate.points, *self.certificate.lower_points)
        look_around(chosen, (point[:2] for point in visited), *totals)

        def value(point: Point) -> Any:
            return chosen.exact(point[0], point[1], *totals) - penalty * (point[2] + paid)

        points = self.certificate.points
        values = [value(point) for point in points]
        best = max(values)
        place = min(
            (i for i in range(len(points)) if values[i] == best), key=lambda i: points[i][2]
        )
        bound = best
        if not self.is_optimal:
            bound = max(best, *(value(point) for point in self.certificate.lower_points))
        certificate = self._pick_certificate(place, chosen, best, bound, penalty, complexity_per)
        # By these two names searches count errors; as metrics they are one minus the cost.
        is_direct = isinstance(metric, str) and isinstance(chosen, _SHARES)
        return self._fitted(
            self._trees[place],
            certificate,
            objective=chosen if is_direct else metric,
            complexity=complexity,
            complexity_per=complexity_per,
        )

    def _check_pick(self, metric: Metric, penalty: Fraction) -> None:
        if metric.kind in ("front", "chain"):
            raise ValueError(
                f"The metric {metric.name!r} is not a function of false positives and negatives, "
                "so its best tree may not be on the front; fit with it as the objective."
            )
        if self.certificate.supported_only and metric.kind not in _ON_HULL:
            raise ValueError(
                f"The best tree for the metric {metric.name!r} may lie above the convex hull, and "
                "this front has its corners only; compute it with supported_only=False."
            )
        if penalty > 0 and not self.certificate.per_splits:
            raise ValueError(
                f"complexity={penalty} needs the trees with fewer splits, too; compute the front "
                "with per_splits=True."
            )

    def _fitted(
        self, tree: Tree, certificate: Certificate, **parameters: Any
    ) -> OptimalTreeClassifier:
        model = copy.copy(self._model)
        for name, value in parameters.items():
            setattr(model, name, value)
        model.tree_, model.certificate_ = tree, certificate
        return model

    # ---- certificates of single trees -----------------------------------------------------------

    def _whole(self) -> OptimalTreeClassifier:
        """Return a model for the point with the fewest false positives, of any size."""
        place = min(range(len(self)), key=lambda i: self.certificate.points[i])
        return self._fitted(self._trees[place], self._point_certificate(place, any_size=True))

    def _point_certificate(self, place: int, *, any_size: bool = False) -> Certificate:
        """Certify that no tree with as few false positives has fewer false negatives.

        With a front per number of splits: no tree with at most as many splits, unless `any_size`.
        """
        fp, fn, splits = self.certificate.points[place]
        most = splits if self.certificate.per_splits and not any_size else None
        bound = fn
        if not self.is_optimal:
            bound = min(
                low[1]
                for low in self.certificate.lower_points
                if low[0] <= fp and (most is None or low[2] <= most)
            )
        base = self._model.certificate_
        return replace(
            base,
            status="optimal" if bound >= fn else self.status,
            objective=float(1 - fn / Fraction(self.certificate.positives)),
            cost=fn,
            lower_bound=min(bound, fn),
            upper_bound=fn,
            gap=exact(fn - min(bound, fn)),
            leaf_cost=fn,
            n_splits=splits,
            depth=self._trees[place].depth,
            history=(),
            max_splits=base.max_splits if most is None else most,
            fp=fp,
            fn=fn,
        )

    def _pick_certificate(
        self,
        place: int,
        metric: Metric,
        best: Any,
        bound: Any,
        penalty: Fraction,
        complexity_per: Literal["split", "leaf"],
    ) -> Certificate:
        splits = self.certificate.points[place][2]
        cost = nearest(1 - best)
        lower = cost if bound == best else min(cost, at_most(1 - bound))
        n_paid = splits + (complexity_per == "leaf")
        return replace(
            self._point_certificate(place),
            status="optimal" if bound == best else self.status,
            objective=float(best),
            cost=cost,
            lower_bound=lower,
            upper_bound=cost,
            gap=exact(cost - lower),
            leaf_cost=exact(cost - n_paid * penalty),
            max_splits=self._model.certificate_.max_splits,
            task=metric.name,
            complexity=exact(penalty),
            complexity_per=complexity_per,
            split_penalty=exact(penalty),
            cuts=self._cuts(),
        )

    def _cuts(self) -> tuple[tuple[Exact, ...], ...]:
        """Return what the front proves: no tree is below a side of its convex hull."""
        proven = self.certificate.points if self.is_optimal else self.certificate.lower_points
        corners = sorted(_hull([point[:2] for point in proven]))
        cuts: list[tuple[Exact, ...]] = [(1, 0, 0, corners[0][0]), (0, 1, 0, corners[-1][1])]
        for (fp, fn), (more_fp, less_fn) in pairwise(corners):
            a, b = exact(fn - less_fn), exact(more_fp - fp)
            cuts.append((a, b, 0, exact(a * fp + b * fn)))
        return tuple(cuts)

    # ---- reports --------------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per tree.

        The columns are fp, fn, splits, depth, is_supported, and the metrics by their names.
        """
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        totals = (self.certificate.positives, self.certificate.negatives)
        columns: dict[str, Any] = {"fp": self.fp, "fn": self.fn, "splits": self.splits}
        columns["depth"] = [tree.depth for tree in self.trees]
        columns["is_supported"] = self.is_supported
        for metric in map(metrics.get, metrics.names()):
            if metric.kind not in ("front", "chain"):
                columns[metric.name] = [
                    float(metric.exact(fp, fn, *totals)) for fp, fn, _ in self.certificate.points
                ]
        return columns

    def plot(  # type: ignore[override]
        self, picks: Sequence[Any] = ("accuracy", "f1", "mcc"), ax: Axes | None = None
    ) -> Axes:
        """Draw false negatives against false positives, with the picks marked; return the axes.

        Parameters
        ----------
        picks : sequence of str, Metric or callable
            Metrics whose best trees are marked.
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        return draw(front_chart(self, picks), ax)

    def _chart(self) -> Chart:
        return front_chart(self)

    def _title(self) -> str:
        by = ", by weight" if self._model.certificate_.is_weighted else ""
        return f"Front of {many(len(self), 'tree')}{by}: {status_text(self.status)}"

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        lines = [
            (i, show(fp), show(fn), n) for i, (fp, fn, n) in enumerate(self.certificate.points)
        ]
        return ("", *self.measures, "splits"), lines

    def __repr__(self) -> str:
        return f"ParetoFront({len(self)} trees, status={self.status!r})"

    def __str__(self) -> str:
        status = status_text(self.status)
        # All numbers of a table are by weight, where one is.
        by = ", by weight" if self._model.certificate_.is_weighted else ""
        wide = max((len(show(x)) for point in self.certificate.points for x in point), default=0)
        wide = max(10, wide)
        lines = [
            f"Front of {len(self)} trees{by}: {status}, {self.certificate.seconds:.3g} s",
            f"{'':>4} {'fp':>{wide}} {'fn':>{wide}} {'splits':>7}  best for",
        ]
        named: dict[int, list[str]] = {}
        for metric in map(metrics.get, metrics.names()):
            if metric.kind in ("front", "chain"):
                continue
            if self.certificate.supported_only and metric.kind not in _ON_HULL:
                continue
            tree = self.best(metric).tree_
            place = next(i for i, other in enumerate(self._trees) if other is tree)
            named.setdefault(place, []).append(metric.name)
        last = len(self) - 1
        for i, (fp, fn, splits) in enumerate(self.certificate.points):
            if len(self) > _MOST_LINES and i not in named and i not in (0, last):
                if lines[-1] != "   ...":
                    lines.append("   ...")
                continue
            best = ", ".join(named.get(i, []))
            numbers = f"{i:>4} {show(fp):>{wide}} {show(fn):>{wide}} {splits:>7}"
            lines.append(f"{numbers}  {best}".rstrip())
        return "\n".join([*lines, self.certificate.statement()])


def _read_penalty(complexity: Any, complexity_per: str, metric: Metric) -> Fraction:
    if complexity_per not in ("split", "leaf"):
        raise ValueError(f"complexity_per must be 'split' or 'leaf', got {complexity_per!r}.")
    if isinstance(metric, _SHARES):
        return parse_complexity(complexity)
    return parse_penalty(complexity, metric.name)


def most_accurate(points: Sequence[Point]) -> int:
    """Return the place of the point with the least weight of errors; of several the smallest."""
    return min(range(len(points)), key=lambda i: (points[i][0] + points[i][1], points[i][2]))


def _hull(points: Sequence[tuple[Exact, Exact]]) -> set[tuple[Exact, Exact]]:
    """Return the corners of the lower left convex hull of nondominated points."""
    corners: list[tuple[Exact, Exact]] = []
    least: Exact | None = None
    for x, y in sorted(set(points)):
        if least is not None and y >= least:
            continue
        least = y
        while len(corners) > 1 and _turns_right(corners[-2], corners[-1], (x, y)):
            corners.pop()
        corners.append((x, y))
    return set(corners)


def _turns_right(a: tuple[Exact, Exact], b: tuple[Exact, Exact], c: tuple[Exact, Exact]) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) <= (b[1] - a[1]) * (c[0] - a[0])


def _array(points: Sequence[Point]) -> NDArray[Any]:
    whole = all(isinstance(number, int) for point in points for number in point)
    numbers = [[number if whole else float(number) for number in point] for point in points]
    return np.array(numbers, dtype=np.int64 if whole else np.float64).reshape(-1, 3)
