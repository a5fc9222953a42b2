"""Objectives that are given by their parts: all nondominated trees."""

from __future__ import annotations

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
from certree.proofs._batch_search import BatchProgramme, LimitedBatch
from certree.proofs._separable_search import (
    Candidate,
    OutOfTime,
    Programme,
    ProgrammeLimits,
    nodes_of,
)
from certree.results._activity import phase
from certree.results._record import status_text
from certree.results._separable_solution import (
    SeparableCertificate,
    SeparablePoint,
    SeparableSolution,
)
from certree.tasks import Separable
from certree.tasks._check_task import check_task
from certree.tasks._separable import Both
from certree.tree import Labels, Tree

from .budgets import open_call
from .read import encode
from .request import Request
from .statement import tree_over


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
