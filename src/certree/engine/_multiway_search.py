"""Solving over tests with any number of outcomes, and reading the trees that come back.

The core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * splits + leaf_penalty * leaves,

where leaves without rows do not count. A test is a list of columns, one per outcome, of which
exactly one holds in every row; a single column is a test with the outcomes "holds" and "does not".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from certree import _core

from ._scalar import Callback, Nodes, Options, Problem, Result, call_core, read_result

Tests = Sequence[NDArray[np.int32]]
"""The columns of each test."""


def solve_multiway(
    problem: Problem,
    tests: Tests,
    options: Options,
    leaf_penalty: int = 0,
    callback: Callback | None = None,
) -> Result:
    """Find the best tree of these tests within the options.

    Parameters
    ----------
    problem : Problem
        The data and the costs.
    tests : sequence of int32 arrays
        The columns of each test.
    options : Options
        Limits and choices; ``max_splits`` must be None.
    leaf_penalty : int
        Cost of each leaf that has rows.
    callback : callable, optional
        Called now and then with an event; a true answer stops the search. What it raises is
        raised here once the search has stopped.

    Returns
    -------
    Result
        Where `test` is a position in `tests`, and the children of a node are one per outcome.
    """
    arguments = (
        problem.columns,
        problem.row_types,
        problem.cost_matrix,
        problem.weights,
        list(tests),
        {**options.to_core(), "leaf_penalty": leaf_penalty},
    )
    raw = call_core(_core.solve_multiway, arguments, callback)
    return read_result(raw, options, leaf_penalty)


def leaves_of_rows(result: Nodes, columns: NDArray[np.uint8], tests: Tests) -> NDArray[np.intp]:
    """Return the leaf that each row of an encoded table reaches in the tree of a result."""
    leaves = np.zeros(columns.shape[0], dtype=np.intp)
    pending = [(0, np.arange(columns.shape[0]))]
    while pending:
        node, rows = pending.pop()
        if result.test[node] < 0:
            leaves[rows] = node
            continue
        asked = tests[result.test[node]]
        if len(asked) == 1:
            outcome = columns[rows, asked[0]] == 0
        else:
            outcome = columns[np.ix_(rows, asked)].argmax(axis=1)
        for number in range(_n_outcomes(asked)):
            part = rows[outcome == number]
            if part.size:
                pending.append((int(result.first_child[node]) + number, part))
    return leaves


def sums_of_nodes(result: Nodes, leaf_sums: NDArray[np.int64], tests: Tests) -> NDArray[np.int64]:
    """Return what reaches every node, given what reaches every leaf (rows of inner nodes zero)."""
    sums: NDArray[np.int64] = leaf_sums.copy()
    # A child is always numbered after its parent, so one backward sweep adds up everything.
    for node in range(len(result.test) - 1, -1, -1):
        if result.test[node] >= 0:
            first = int(result.first_child[node])
            sums[node] = sums[first : first + _n_outcomes(tests[result.test[node]])].sum(axis=0)
    return sums


def _n_outcomes(columns: NDArray[np.int32]) -> int:
    return 2 if len(columns) == 1 else len(columns)
