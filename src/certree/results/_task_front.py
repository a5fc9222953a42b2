"""Fronts of several objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from certree.encoding import TableEncoder
from certree.numbers._fractions import to_float
from certree.tasks import Front
from certree.tree import Tree

from ._certificate import (
    Exact,
    many,
    show,
)
from ._chart import Chart, Series
from ._limit_certificate import LimitValue
from ._record import Record, status_text
from ._trees import CertifiedTrees

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Costs = tuple[Exact, ...]
"""Costs of a tree by each objective of a front."""


@dataclass(frozen=True)
class FrontPoint:
    """A tree of a front of several objectives.

    Attributes
    ----------
    tree : Tree
        The tree.
    values : tuple of (int or Fraction)
        What it costs by each objective; the first includes the penalty.
    objectives : tuple of float
        The same in the terms of the objectives, such as accuracy or mean reward.
    limits : tuple of LimitValue
        The limits, if there are any, with the totals of the tree.
    """

    tree: Tree
    values: Costs
    objectives: tuple[float, ...]
    limits: tuple[LimitValue, ...] = ()

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return self.tree.n_splits


@dataclass(frozen=True, repr=False)
class TaskFrontCertificate(Record):
    """What was searched and what is proven about a front of several objectives.

    Attributes
    ----------
    status : str
        "optimal": the points are complete; "infeasible": no tree keeps the limits; otherwise the
        reason why the search stopped.
    points : tuple of (cost, cost, ...)
        Costs by each objective, by rising first.
    lower_points : tuple of (cost, cost, ...)
        For every tree within the limits, one of these is at most as great in all. For a proven
        front they are the points themselves.
    tasks : tuple of str
        What the objectives are called.
    limits : tuple of LimitValue
        Limits on all trees; without totals.
    leaf_minimum : tuple of (label, int)
        Rows that labels need in each leaf that has them.
    rounding : tuple of (int or Fraction)
        Costs of any tree, as counted here, differ by at most this from those with the numbers as
        they were given.
    max_depth, max_splits, complexity, complexity_per, split_penalty, min_samples_leaf
        What was searched, as for :class:`Certificate`.
    n_rows, n_tests : int
        Size of the table.
    seconds : float
        Wall-clock time.
    counters : dict of str to int
        Work done by the search.
    n_solves : int
        Number of searches without limits.
    version : str
        Version of certree that wrote the certificate.
    n_tests_searched : int or None
        As for :class:`Certificate`.
    """

    status: str
    points: tuple[Costs, ...]
    lower_points: tuple[Costs, ...]
    tasks: tuple[str, ...]
    limits: tuple[LimitValue, ...]
    leaf_minimum: tuple[tuple[str, int], ...]
    rounding: Costs
    max_depth: int | None
    max_splits: int | None
    complexity: Exact
    complexity_per: str
    split_penalty: Exact
    min_samples_leaf: int
    n_rows: int
    n_tests: int
    seconds: float
    counters: dict[str, int] = field(hash=False)
    n_solves: int = 0
    version: str = ""
    n_tests_searched: int | None = None

    @property
    def is_optimal(self) -> bool:
        """Whether the front is proven: no tree is missing."""
        return self.status in ("optimal", "infeasible")

    def _in_few_words(self) -> tuple[str, ...]:
        return many(len(self.points), "tree"), f"{self.n_rows} rows"

    def _facts(self) -> list[tuple[str, str]]:
        return [("trees", f"{len(self.points)} for {' and '.join(self.tasks)}")]

    def statement(self) -> str:
        """Return in one sentence what is proven."""
        if not self.is_optimal:
            return (
                f"The search was {status_text(self.status)}: nondominated trees may "
                f"be missing, but every tree is no better than one of {len(self.lower_points)} "
                "lower points."
            )
        if not self.points:
            return "No tree within the limits on size keeps to all limits on totals."
        return "These are all nondominated trees: no other tree within the limits is better."


class TaskFront(CertifiedTrees[FrontPoint]):
    """All trees that no other beats in all objectives; made by :func:`solve`.

    A sequence of points, by rising cost of the first objective; with two, the cost of the second
    falls.

    Attributes
    ----------
    front : tuple of FrontPoint
        The points.
    certificate : TaskFrontCertificate
        What is proven.
    encoder : TableEncoder
        The tests that were considered.
    task : Front
        What was asked for.
    parameters : dict
        The other arguments of :func:`solve`.
    """

    def __init__(
        self,
        front: Sequence[FrontPoint],
        certificate: TaskFrontCertificate,
        encoder: TableEncoder,
        task: Front,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.front = tuple(front)
        self.certificate = certificate
        self.encoder = encoder
        self.task = task
        self.parameters = dict(parameters or {})

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.front)

    def _entry(self, place: int) -> FrontPoint:
        return self.front[place]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in the order of the points."""
        return tuple(point.tree for point in self.front)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per tree: costs by each objective, and splits."""
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        each = enumerate(_different(self.certificate.tasks))
        costs = {name: [float(point.values[k]) for point in self.front] for k, name in each}
        return {**costs, "splits": [point.n_splits for point in self.front]}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the costs of all trees by the first two objectives; return the axes.

        A third objective is shown by colours.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        return super().plot(ax)

    def _chart(self) -> Chart:
        lines = [[to_float(number) for number in point.values] for point in self.front]
        names = self.certificate.tasks
        is_plane = len(names) == 2
        series = Series(
            "",
            [(line[0], line[1]) for line in lines],
            line="step" if is_plane else "",
            shades=() if is_plane else [line[2] for line in lines],
        )
        return Chart(
            [series],
            f"first: {names[0]}",
            f"second: {names[1]}",
            "Costs of the trees of a front",
            shade_label="" if is_plane else f"third: {names[2]}",
        )

    def _title(self) -> str:
        return f"Front of {many(len(self), 'tree')}: {status_text(self.status)}"

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        lines = [(*map(show, point.values), point.n_splits) for point in self.front]
        return (*self.certificate.tasks, "splits"), lines

    def __repr__(self) -> str:
        return f"TaskFront({len(self)} trees, {self.certificate.status})"

    def __str__(self) -> str:
        lines = [f"Front of {len(self)} trees, {status_text(self.certificate.status)}"]
        lines += [
            "  ".join(
                ("", *(f"{show(v):>12}" for v in point.values), many(point.n_splits, "split"))
            )
            for point in self.front
        ]
        return "\n".join([*lines, self.certificate.statement()])


def _different(names: Sequence[str]) -> list[str]:
    """Return names for columns: a name that occurs again gets its number."""
    return [name if name not in names[:k] else f"{name} ({k + 1})" for k, name in enumerate(names)]
