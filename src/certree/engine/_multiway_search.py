"""Solving over tests with any number of outcomes, and reading the trees that come back.

The core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * splits + leaf_penalty * leaves,

where leaves without rows do not count. A test is a list of columns, one per outcome, of which
exactly one holds in every row; a single column is a test with the outcomes "holds" and "does not".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.tree._nodes import Nodes

from ._scalar import (
    Callback,
    Options,
    PathResult,
    Problem,
    Result,
    call_core,
    read_path,
    read_result,
)

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
        Limits and choices.
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
    given = {**options.to_core(), "leaf_penalty": leaf_penalty}
    raw = call_core(_core.solve_multiway, _arguments(problem, tests, given), callback)
    result = read_result(raw, options, leaf_penalty)
    return replace(result, nodes=_over(result.nodes, tests))


def solve_multiway_path(
    problem: Problem, tests: Tests, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree of these tests for every number of splits.

    Parameters
    ----------
    problem, tests, callback
        As for `solve_multiway`.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed; the penalty is not used.
    """
    arguments = _arguments(problem, tests, options.to_core())
    result = read_path(call_core(_core.solve_multiway_path, arguments, callback), options)
    entries = [replace(entry, nodes=_over(entry.nodes, tests)) for entry in result.entries]
    return replace(result, entries=entries)


class MultiwaySession:
    """Rows, to be solved again and again with other costs, as a `Session` with binary tests.

    Parameters
    ----------
    columns, row_types, weights
        As in `Problem`.
    tests : sequence of int32 arrays
        The columns of each test.
    """

    def __init__(
        self,
        columns: NDArray[np.uint8],
        row_types: NDArray[np.int32],
        weights: NDArray[np.int64] | None,
        tests: Tests,
    ) -> None:
        self.columns = columns
        self.row_types = row_types
        self.weights = weights
        self.tests = tests

    def solve(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> Result:
        """Find the best tree for these costs."""
        return solve_multiway(self._problem(cost_matrix), self.tests, options, 0, callback)

    def solve_path(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> PathResult:
        """Find the best tree for every number of splits."""
        return solve_multiway_path(self._problem(cost_matrix), self.tests, options, callback)

    def most_splits(self, options: Options) -> int:
        """Return a number of splits that no tree within the options exceeds."""
        most = max(len(self.columns) - 1, 0)
        if options.max_depth is not None:
            width = max((len(columns) for columns in self.tests), default=2)
            full, level = 0, 1
            for _ in range(options.max_depth):
                if full >= most:
                    break
                full, level = full + level, level * max(width, 2)
            most = min(most, full)
        return most if options.max_splits is None else min(most, options.max_splits)

    def _problem(self, cost_matrix: NDArray[np.int64]) -> Problem:
        return Problem(self.columns, self.row_types, cost_matrix, self.weights)


def _arguments(problem: Problem, tests: Tests, options: dict[str, Any]) -> tuple[Any, ...]:
    rows = problem.columns, problem.row_types, problem.cost_matrix, problem.weights
    return *rows, list(tests), options


def _over(nodes: Nodes, tests: Tests) -> Nodes:
    return replace(nodes, outcomes=tests)
