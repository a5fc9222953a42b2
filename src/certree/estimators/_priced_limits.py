"""Trees within limits whose tests have prices: what was measured is the state of the path."""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._ordered import expand
from certree.engine._within_limits import LimitedResult
from certree.proofs._batch_search import LimitedBatch
from certree.proofs._separable_search import Candidate, OutOfTime, ProgrammeLimits, nodes_of
from certree.tasks import Limit, Separable
from certree.tasks._limit import LimitOnRows
from certree.tasks._separable import Both

if TYPE_CHECKING:
    from ._limited_fit import LimitedStatement


def solve_with_prices(
    statement: LimitedStatement, options: engine.Options, watch: engine.Callback | None
) -> LimitedResult:
    """Find the best tree within limits, where rows pay for tests."""
    start = perf_counter()
    task: Any = _objective(statement)
    for limit in statement.limited.limits:
        for side in _sides(limit):
            task = task & side
    n_rows = len(statement.columns)
    assert statement.measurements is not None
    sizes = ProgrammeLimits(options.max_depth, None, options.min_leaf)
    programme = LimitedBatch(
        task.bind(n_rows),
        expand(statement.columns),
        statement.measurements.of_test.tolist(),
        sizes,
        options.time_limit,
    )
    if watch is not None:
        nothing = {"work": 0, "upper_bound": None, "lower_bound": None}
        programme.poll = lambda: watch({**nothing, "seconds": perf_counter() - start})
    status = "optimal"
    found: list[Candidate] = []
    try:
        for _, front in programme.solve():
            found = front
    except OutOfTime as stop:
        status = str(stop)
    is_infeasible = status == "optimal" and not found
    upper = _value(found[0].value, task) if found else None
    return LimitedResult(
        status=options.status("infeasible" if is_infeasible else status),
        lower_bound=upper if status == "optimal" and upper is not None else 0,
        upper_bound=upper,
        nodes=nodes_of(found[0].plan).merged() if found else engine.Nodes.empty(),
        proof="search" if is_infeasible else "",
        n_rounds=1,
        counters={"row_sets": programme.n_row_sets},
        seconds=perf_counter() - start,
    )


def _value(value: Any, task: Any) -> int:
    """Return the objective of a value with the totals of limits."""
    while isinstance(task, Both):
        value, task = value[0], task.first
    return int(value)


def _objective(statement: LimitedStatement) -> Separable:
    """Return costs of labels and prices of tests in units of the search."""
    scale, measurements = statement.scale, statement.measurements
    assert measurements is not None
    prices = measurements.for_engine(statement.problem)
    numbers = range(len(measurements.price))

    @cache
    def charged(made: frozenset[int]) -> NDArray[np.int64]:
        each = [
            measurements.charge(number, sorted(made), prices["price"], prices["discounted"])
            for number in numbers
        ]
        return np.array(each, dtype=np.int64) * scale.error_scale

    costs = statement.problem.statistics
    return Separable(
        list(range(costs.shape[1])),
        lambda sums: sums[:, :-1] * scale.error_scale,
        split_cost=lambda sums, made: sums[:, -1:] * charged(made) + scale.split_penalty,
        initial=frozenset(),
        transition=lambda made, number, holds: made | {number},
        statistics=np.column_stack([costs, statement.rows.weights]),
    )


def _sides(limit: LimitOnRows) -> list[Limit]:
    """Return the bounds of a limit in integers, one by one: both may be out of reach."""
    if limit.amounts.n_finer:
        raise ValueError(
            f"limit {limit.name!r} has totals beyond 64 bits, which cannot be combined with "
            "test_costs; round its amounts or the weights."
        )
    amounts = limit.amounts.leading
    return [
        Limit(f"{limit.name} {sign}", amounts, **{_SIDE[sign]: sign * bound})
        for bound, sign in limit.sides
    ]


_SIDE = {1: "at_most", -1: "at_least"}
