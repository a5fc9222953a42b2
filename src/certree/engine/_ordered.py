"""The core's entry point for ordered features: ranks in place of a column per test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from certree import _core
from certree.encoding._ranks import RankedColumns
from certree.tree._nodes import Nodes

from ._row_types import RowTypes, few_types
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
from ._vector import VectorProblem


def solve_ordered(
    problem: Problem | VectorProblem, options: Options, callback: Callback | None = None
) -> Result:
    """Find the best tree within the options, as `engine.solve` does.

    Parameters
    ----------
    problem : Problem or VectorProblem
        Ranks and costs. Leaf costs must be superadditive. Prices of tests and rows that stand for
        several are not known.
    options : Options
        Limits and choices: `max_depth`, `max_splits` or a penalty is needed.
    callback : callable, optional
        As for `engine.solve`.
    """
    by_type = _by_type(problem)
    scalar, vector = _core.solve_ordered, _core.solve_ordered_vector
    function, arguments, columns = _asked(by_type, options, scalar, vector)
    raw = call_core(function, arguments, callback)
    return read_result(raw, options, by_type.cost_of, _listed(read_nodes(raw), columns))


def solve_ordered_path(
    problem: Problem | VectorProblem, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree for every number of splits, as `engine.solve_path` does.

    Parameters
    ----------
    problem, options, callback
        As for `solve_ordered`; the penalty is not used.
    """
    by_type = _by_type(problem)
    scalar, vector = _core.solve_ordered_path, _core.solve_ordered_vector_path
    function, arguments, columns = _asked(by_type, options, scalar, vector)
    raw = call_core(function, arguments, callback)
    return read_path(raw, options, by_type.cost_of, lambda nodes: _listed(nodes, columns))


def _by_type(problem: Problem | VectorProblem) -> Problem | VectorProblem:
    """Return a problem with types of rows, if these are few, so that rows are counted."""
    if isinstance(problem, Problem) or problem.kind != "min_label" or len(problem.outputs) > 1:
        return problem
    types = few_types(problem.statistics)
    if types is None:
        return problem
    costs = np.ascontiguousarray(types.values)
    return Problem(problem.columns, types.types, costs, types.weights)


def _asked(
    problem: Problem | VectorProblem,
    options: Options,
    scalar: Callable[..., Any],
    vector: Callable[..., Any],
) -> tuple[Callable[..., Any], tuple[Any, ...], RankedColumns]:
    """Return the core's function for a problem, its arguments, and the ranks."""
    columns = problem.columns
    assert isinstance(columns, RankedColumns)
    ranks = columns.ranks, columns.n_ranks
    if isinstance(problem, Problem):
        costs = problem.row_types, problem.cost_matrix, problem.weights
        return scalar, (*ranks, *costs, options.to_core()), columns
    extra, given = problem.extra(), problem.statistics
    if problem.kind == "callback" and problem.worst_change is not None:
        extra["row_worst"] = np.ascontiguousarray(problem.worst_change, dtype=np.int64)
    by_row = given.by_row() if isinstance(given, RowTypes) else given
    arguments = *ranks, np.ascontiguousarray(by_row), problem.kind, options.to_core()
    return lambda *given: vector(*given, extra), arguments, columns


def _listed(nodes: Nodes, columns: RankedColumns) -> Nodes:
    """Return a tree with tests by their place in the list."""
    return replace(nodes, test=columns.tests_at(nodes.test))
