"""Solutions of objectives given by their parts: all nondominated trees, with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from numpy.typing import NDArray

from certree.encoding import TableEncoder
from certree.tasks import Separable
from certree.tree import Tree

from ._certificate import many, text_of_tests
from ._chart import Chart, Series
from ._record import Record, status_text
from ._trees import CertifiedTrees


@dataclass(frozen=True)
class SeparablePoint:
    """A tree and its value.

    Attributes
    ----------
    tree : Tree
        The tree.
    value : object
        What the objective makes of it.
    """

    tree: Tree
    value: Any


@dataclass(frozen=True, repr=False)
class SeparableCertificate(Record):
    """What was searched and what is proven about the trees of a separable objective.

    Attributes
    ----------
    status : str
        "optimal": no nondominated value is missing; "infeasible": no tree is feasible;
        "time_limit": the statement is about trees of `depth` only.
    values : tuple
        The values, one for each tree.
    depth : int
        All trees of up to this depth were tried.
    max_depth, max_splits : int or None
        Limits on the trees; None: no limit.
    min_samples_leaf : int
        Smallest number of rows in a leaf.
    n_rows, n_tests : int
        Size of the encoded table.
    n_row_sets : int
        Number of pairs of row set and depth that were solved.
    n_samples : int
        Number of samples on which the objective was seen to be separable.
    seconds : float
        Wall-clock time.
    """

    status: str
    values: tuple[Any, ...]
    depth: int
    max_depth: int | None
    max_splits: int | None
    min_samples_leaf: int
    n_rows: int
    n_tests: int
    n_row_sets: int
    n_samples: int
    seconds: float

    @property
    def is_optimal(self) -> bool:
        """Whether no nondominated value is missing."""
        return self.status in ("optimal", "infeasible")

    def _in_few_words(self) -> tuple[str, ...]:
        return many(len(self.values), "tree"), f"{self.n_rows} rows"

    def statement(self) -> str:
        """Return in words what is proven, and what it rests on."""
        limits = f"depth at most {self.depth}"
        if self.max_splits is not None:
            limits += f" and at most {self.max_splits} splits"
        trees = f"No tree with {limits} over {text_of_tests(self.n_tests)}"
        what = "is feasible" if not self.values else "has a value better than these"
        return (
            f"{trees} {what}, if the objective is separable; {self.n_samples} samples did not show "
            "otherwise."
        )


class SeparableSolution(CertifiedTrees[SeparablePoint]):
    """All nondominated trees of a separable objective; made by :func:`solve`.

    Attributes
    ----------
    front : tuple of SeparablePoint
        The trees and their values: one, if all values can be compared.
    certificate : SeparableCertificate
        What is proven.
    encoder : TableEncoder
        The tests that were considered.
    task : Separable
        What was asked for.
    """

    def __init__(
        self,
        front: Sequence[SeparablePoint],
        certificate: SeparableCertificate,
        encoder: TableEncoder,
        task: Separable,
    ) -> None:
        self.front = tuple(front)
        self.certificate = certificate
        self.encoder = encoder
        self.task = task

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.front)

    def _entry(self, place: int) -> SeparablePoint:
        return self.front[place]

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in the order of their values."""
        return tuple(point.tree for point in self.front)

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per tree: value, splits and depth."""
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        return {
            "value": [point.value for point in self.front],
            "splits": [tree.n_splits for tree in self.trees],
            "depth": [tree.depth for tree in self.trees],
        }

    def _chart(self) -> Chart:
        """Return values against splits, where values are numbers."""
        points = [
            (float(point.tree.n_splits), float(point.value))
            for point in self.front
            if isinstance(point.value, Real)
        ]
        title = "Values of trees against their splits"
        return Chart([Series("", points)], "splits", "value", title, has_whole_x=True)

    def _title(self) -> str:
        return f"{many(len(self), 'tree')}: {status_text(self.status)}"

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        columns = self._columns()
        return tuple(columns), list(
            zip(map(str, columns["value"]), *list(columns.values())[1:], strict=True)
        )

    def _only(self) -> SeparablePoint:
        if len(self.front) != 1:
            raise ValueError(
                f"there are {len(self.front)} nondominated trees; choose one of them, such as "
                "solution[0]."
                if self.front
                else self.certificate.statement()
            )
        return self.front[0]

    @property
    def tree(self) -> Tree:
        """The tree, if there is only one."""
        return self._only().tree

    @property
    def value(self) -> Any:
        """Its value, if there is only one tree."""
        return self._only().value

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the prediction of the leaf of each row, if there is only one tree."""
        return self.tree.predict(X)

    def __repr__(self) -> str:
        return f"SeparableSolution({len(self)} trees, {self.certificate.status})"
