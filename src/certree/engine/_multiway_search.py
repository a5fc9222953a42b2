"""Solving over tests with any number of outcomes, and reading the trees that come back.

The core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * splits + leaf_penalty * leaves,

where leaves without rows do not count. A test is a list of columns, one per outcome, of which
exactly one holds in every row; a single column is a test with the outcomes "holds" and "does not".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree import _core

from ._scalar import Callback, Options, Problem, Result, call_core, read_result

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
        Its nodes are over these tests.
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
    result = read_result(raw, options, leaf_penalty)
    return replace(result, nodes=replace(result.nodes, outcomes=tests))
