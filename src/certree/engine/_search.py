"""Which search of the core answers a problem: over columns or ranks, in one process or several."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding._row_cells import Cells, as_columns, has_columns

from . import _scalar, _vector
from ._executors import solve_shared
from ._ordered import solve_ordered, solve_ordered_path
from ._scalar import Callback, Options, PathResult, Problem, Result, call_core
from ._vector import VectorProblem


def solve(
    problem: Problem | VectorProblem, options: Options, callback: Callback | None = None
) -> Result:
    """Find the best tree within the options.

    Parameters
    ----------
    problem : Problem or VectorProblem
        The data and the costs.
    options : Options
        Limits and choices.
    callback : callable, optional
        Called now and then with an event; a true answer stops the search. What it raises is
        raised here once the search has stopped.

    Returns
    -------
    Result
        The incumbent when the search ended, with its status and bounds.
    """
    if _by_ranks(problem):
        if options.limits_size:
            return solve_ordered(problem, options, callback)
        # Where a single leaf costs nothing, no penalty is left to limit trees; nor do they gain.
        leaf = solve_ordered(problem, replace(options, max_depth=0), callback)
        if leaf.upper_bound == 0:
            return leaf
    if isinstance(problem, VectorProblem):
        return _vector.solve(problem, options, callback)
    if options.executor is not None:
        return solve_shared(problem, options, callback)
    return _scalar.solve(problem, options, callback)


def solve_path(
    problem: Problem | VectorProblem, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree for every number of splits within the options.

    Parameters
    ----------
    problem : Problem or VectorProblem
        The data and the costs.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed; the penalty is not used.
    callback : callable, optional
        As for `solve`.

    Returns
    -------
    PathResult
        Costs are those of the leaves, in the units of the problem.
    """
    if _by_ranks(problem):
        return solve_ordered_path(problem, options, callback)
    if isinstance(problem, VectorProblem):
        return _vector.solve_path(problem, options, callback)
    return _scalar.solve_path(problem, options, callback)


def _by_ranks(problem: Problem | VectorProblem) -> bool:
    """Return whether the rows have ranks, and the search over these knows the problem."""
    if has_columns(problem.columns):
        return False
    if isinstance(problem, Problem):
        return True
    return problem.row_counts is None and problem.test_costs is None


class Session:
    """One table of rows, to be solved again and again with other costs.

    Where there is a column per test, rows are packed once, and what was proved for one cost matrix
    bounds the next solve. The answers are those of the functions `solve` and `solve_path`. One
    solve at a time: a session is not for several threads, nor for its own callbacks.

    Parameters
    ----------
    columns, row_types, weights
        As in `Problem`; they must not change while the session is in use.
    """

    def __init__(
        self,
        columns: Cells,
        row_types: NDArray[np.int32],
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        self.columns = columns
        self.row_types = row_types
        self.weights = weights
        self._has_columns = has_columns(columns)
        if self._has_columns:
            _ = self._packed

    @cached_property
    def _packed(self) -> Any:
        """The rows with a column per test, as the core keeps them."""
        return _core.Session(as_columns(self.columns), self.row_types, self.weights)

    def solve(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> Result:
        """Find the best tree for these costs, as the function `solve` does."""
        problem = self._problem(cost_matrix)
        if not self._has_columns and options.limits_size:
            return solve_ordered(problem, options, callback)
        raw = call_core(self._packed.solve, (cost_matrix, options.to_core()), callback)
        return _scalar.read_result(raw, options, problem.cost_of)

    def solve_path(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> PathResult:
        """Find the best tree for every number of splits, as the function `solve_path` does."""
        problem = self._problem(cost_matrix)
        if not self._has_columns:
            return solve_ordered_path(problem, options, callback)
        raw = call_core(self._packed.solve_path, (cost_matrix, options.to_core()), callback)
        return _scalar.read_path(raw, options, problem.cost_of)

    def _problem(self, cost_matrix: NDArray[np.int64]) -> Problem:
        return Problem(self.columns, self.row_types, cost_matrix, self.weights)
