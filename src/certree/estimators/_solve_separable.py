"""Solutions of objectives given by their parts: all nondominated trees, with their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from certree.encoding import TableEncoder
from certree.encoding._row_cells import as_columns
from certree.encoding._texts import as_array
from certree.engine._budget import current
from certree.exceptions import OptimalityWarning, warn
from certree.fitting.budgets import open_call
from certree.fitting.read import encode
from certree.fitting.request import Request
from certree.fitting.statement import tree_over
from certree.proofs._batch_search import BatchProgramme, LimitedBatch
from certree.proofs._separable_search import (
    Candidate,
    OutOfTime,
    Programme,
    ProgrammeLimits,
    nodes_of,
)
from certree.results._activity import phase
from certree.results._certificate import many, text_of_tests
from certree.results._chart import Chart, Series
from certree.results._record import Record, status_text
from certree.results._trees import CertifiedTrees
from certree.tasks import Separable
from certree.tasks._check_task import check_task
from certree.tasks._separable import Both
from certree.tree import Labels, Tree


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


def solve_separable(request: Request) -> SeparableSolution:
    """Find all nondominated trees of an objective by its parts."""
    with open_call(request.by, request.budget):
        solution = _solve(request, request.task.task.bind(request.n_rows))
    _warn(solution.certificate)
    return solution


def _solve(request: Request, task: Separable) -> SeparableSolution:
    start = perf_counter()
    n_samples = _check(task, request.X)
    encoded = encode(request.table, request.X, None, request.question("rows"))
    columns, encoder = as_columns(encoded.cells), encoded.encoder
    sizes = ProgrammeLimits(request.size.max_depth, request.size.max_splits, encoded.least_rows)
    features = [test.feature for test in encoder.candidates_]
    # Best trees by numbers of splits are fronts of their own, which batches do not keep.
    kind: type[Programme] = Programme
    if sizes.max_splits is None and task.is_batched:
        kind = BatchProgramme
    elif sizes.max_splits is None and isinstance(task, Both) and task.is_limited_batch:
        kind = LimitedBatch
    call = current()
    programme = kind(task, columns, features, sizes, None if call is None else call.remaining())
    partial = encoder._stopped_by
    status, depth = "optimal", -1
    found: list[Candidate] = []
    phase("searching trees without splits")
    try:
        for depth, front in programme.solve():
            found = front
            phase(f"searching trees deeper than {depth}, {len(found)} trees so far")
    except OutOfTime as stop:
        status = str(stop)
    if status == "optimal":
        # The tests that were left out are unknown.
        status = partial or ("optimal" if found else "infeasible")
    certificate = SeparableCertificate(
        status,
        tuple(point.value for point in found),
        depth,
        sizes.max_depth,
        sizes.max_splits,
        sizes.min_leaf,
        columns.shape[0],
        len(encoder.candidates_),
        programme.n_row_sets,
        n_samples,
        perf_counter() - start,
    )
    points = [SeparablePoint(_tree(encoder, task, columns, one), one.value) for one in found]
    return SeparableSolution(points, certificate, encoder, task)


def _check(task: Separable, X: Any) -> int:
    """Refuse an objective that samples show not to be separable; return their number."""
    if _num_samples(X) < 2:
        return 0
    report = check_task(task, X, n_samples=60)
    if not report:
        raise ValueError(f"{task!r} is not separable (theorem 4.6 of the STreeD paper). {report}")
    return report.n_samples


def _warn(certificate: SeparableCertificate) -> None:
    if certificate.is_optimal:
        return
    warn(
        f"The search was {status_text(certificate.status)}. "
        f"{certificate.statement()} Raise the limit, or ask for smaller trees.",
        OptimalityWarning,
    )


def _tree(
    encoder: TableEncoder, task: Separable, columns: NDArray[np.uint8], found: Candidate
) -> Tree:
    nodes = nodes_of(found.plan)
    leaves = nodes.route(columns)
    cells = np.zeros((len(nodes), len(task.labels)), dtype=np.int64)
    np.add.at(cells, (leaves, nodes.label[leaves]), 1)
    payload = Labels(nodes.label, nodes.sums(cells), as_array(task.labels))
    return tree_over(encoder, nodes, payload=payload, n_columns=columns.shape[1])
