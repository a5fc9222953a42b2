"""Solving over tests with any number of outcomes, and reading the trees that come back.

The core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * splits + leaf_penalty * leaves,

where leaves without rows do not count. A test is a list of columns, one per outcome, of which
exactly one holds in every row; a single column is a test with the outcomes "holds" and "does not".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding._row_cells import Cells
from certree.tree._nodes import Nodes

from ._scalar import (
    Callback,
    Options,
    PathResult,
    Problem,
    Result,
    call_core,
    read_nodes,
    read_path,
    read_result,
)
from ._vector import paid_for_tests

Tests = Sequence[NDArray[np.int32]]
"""The columns of each test."""

Prices = Mapping[str, NDArray[Any]]
"""Prices of features, with the feature of each column and the weight of each type of rows."""


def solve_multiway(
    problem: Problem,
    tests: Tests,
    options: Options,
    leaf_penalty: int = 0,
    callback: Callback | None = None,
    *,
    prices: Prices | None = None,
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
    prices : mapping, optional
        Prices of tests, as for `VectorProblem`, by the feature of each column; "weights" says what
        rows of each type pay times.

    Returns
    -------
    Result
        Its nodes are over these tests.
    """
    given = {**options.to_core(), "leaf_penalty": leaf_penalty, **_priced(prices)}
    raw = call_core(_core.solve_multiway, _arguments(problem, tests, given), callback)
    nodes = _over(read_nodes(raw), tests)
    n_leaves = len(np.unique(nodes.route(problem.columns))) if len(nodes) and leaf_penalty else 0
    return read_result(
        raw,
        options,
        lambda tree: _cost_of(tree, problem, prices),
        nodes,
        leaf_penalty * n_leaves,
        leaf_penalty,
    )


def solve_multiway_path(
    problem: Problem,
    tests: Tests,
    options: Options,
    callback: Callback | None = None,
    *,
    prices: Prices | None = None,
) -> PathResult:
    """Find the best tree of these tests for every number of splits.

    Parameters
    ----------
    problem, tests, callback, prices
        As for `solve_multiway`; what is paid counts as cost of leaves.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed; the penalty is not used.
    """
    arguments = _arguments(problem, tests, {**options.to_core(), **_priced(prices)})
    return read_path(
        call_core(_core.solve_multiway_path, arguments, callback),
        options,
        lambda tree: _cost_of(tree, problem, prices),
        lambda tree: _over(tree, tests),
    )


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
        columns: Cells,
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
    rows = problem.answers, problem.row_types, problem.cost_matrix, problem.weights
    return *rows, list(tests), options


def _priced(prices: Prices | None) -> dict[str, Any]:
    if prices is None:
        return {}
    narrow = ("feature", "group")
    return {
        "test_costs": {
            name: np.ascontiguousarray(numbers, dtype=np.int32 if name in narrow else np.int64)
            for name, numbers in prices.items()
        }
    }


def _cost_of(nodes: Nodes, problem: Problem, prices: Prices | None) -> int:
    """Return what the leaves of a tree cost, and its tests."""
    cost = problem.cost_of(nodes)
    if prices is None:
        return cost
    ones = np.ones(len(problem.columns), dtype=np.int64)
    weights = ones if problem.weights is None else problem.weights
    if "weights" in prices:
        weights = weights * np.asarray(prices["weights"], dtype=np.int64)[problem.row_types]
    return cost + paid_for_tests(prices, weights, nodes, problem.columns)


def _over(nodes: Nodes, tests: Tests) -> Nodes:
    return replace(nodes, outcomes=tests)
