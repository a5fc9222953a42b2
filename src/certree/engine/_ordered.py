"""The door to the core's search over ordered features: ranks in place of a column per test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding import RankedColumns

from ._row_types import RowTypes, few_types
from ._scalar import Callback, Options, PathResult, Result, Session, call_core, read_result

Columns = NDArray[np.uint8] | RankedColumns
"""Answers of rows to tests: zeros and ones with a column per test, or ranks."""

# Tables with so few tests, or answers to tests, are searched in an instant in either way.
_FEW_TESTS = 100
_FEW_ANSWERS = 20_000

# Nanoseconds of encoding a table, and of the first pass over its trees of depth two. Measured with
# one thread by fitting generated tables (scikit-learn's make_classification, 10 % of the labels
# flipped) either way: 300 to 100 000 rows, 5 to 40 columns, 4 to 128 cut points or all, 2 to 5
# classes, depths 2 to 4. The differences between two numbers of cut points or rows give the rates.
# Those for vectors are from tables of normal numbers: 500 to 20 000 rows, 5 to 40 columns, 8 to 300
# cut points or all, costs of 2 to 8 labels and squared errors with as much noise as signal.
_ANSWER = 1.5  # to answer a test for a row
_PAIR = 0.3  # to count a pair of tests in 64 rows, for each class but one
_ADD = 2.5  # the same where rows have vectors, for each of their values
_RANK = 30.0  # to rank a row
_SWEEP = 1.0  # to add a row to the histogram of a pair of features
_SWEEP_BY_ROW = 3.0  # the same for each value of a vector
_SCAN = 4.0  # to scan a pair of bins, for each class
# Below the root, the search over columns prunes better: that over ranks takes so many times as
# long as their first passes say, for two classes. It grows with the square of their number.
_DEEPER = 4.0
# The same where rows have vectors, for depth two, three, and more. Squared errors leave many more
# thresholds open than costs of labels.
_DEEPER_BY_ROW = {"min_label": (1.0, 8.0, 14.0), "squares": (8.0, 60.0, 120.0)}

ORDERED_KINDS = tuple(_DEEPER_BY_ROW)
"""Kinds of `VectorProblem` that `solve_ordered_vector` knows."""

# The histograms of a feature have at most so many bins for each square root of the rows.
_BINS = 0.7


@dataclass(frozen=True)
class OrderedProblem:
    """Rows, what a label costs them, and their weights, as in `Problem`; tests are ranks."""

    columns: RankedColumns
    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None


def solve_ordered(
    problem: OrderedProblem, options: Options, callback: Callback | None = None
) -> Result:
    """Find the best tree within the options, as `solve` does.

    Parameters
    ----------
    problem : OrderedProblem
        The data and the costs.
    options : Options
        Limits and choices: `max_depth` is needed, `max_splits` is not known, and neither are
        several threads, of which it uses one.
    callback : callable, optional
        As for `solve`.
    """
    costs = (problem.row_types, problem.cost_matrix, problem.weights)
    return _call(_core.solve_ordered, problem.columns, costs, options, callback)


class OrderedSession:
    """Ranked rows, to be solved again and again with other costs, as a `Session` with columns.

    What the search over ranks does not know gets a column per test.

    Parameters
    ----------
    columns, row_types, weights
        As in `OrderedProblem`.
    """

    def __init__(
        self,
        columns: RankedColumns,
        row_types: NDArray[np.int32],
        weights: NDArray[np.int64] | None = None,
    ) -> None:
        self.columns = columns
        self.row_types = row_types
        self.weights = weights

    def solve(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> Result:
        """Find the best tree for these costs."""
        if options.max_depth is None or options.max_splits is not None:
            return self.expanded.solve(cost_matrix, options, callback)
        problem = OrderedProblem(self.columns, self.row_types, cost_matrix, self.weights)
        return solve_ordered(problem, options, callback)

    def solve_path(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> PathResult:
        """Find the best tree for every number of splits."""
        return self.expanded.solve_path(cost_matrix, options, callback)

    @cached_property
    def expanded(self) -> Session:
        """The session with a column per test."""
        return Session(self.columns.expand(), self.row_types, self.weights)


@dataclass(frozen=True)
class OrderedVectors:
    """Rows, their vectors, and what a sum of vectors costs, as in `VectorProblem`; tests are ranks.

    Python functions, prices of tests and rows that stand for several are not known.
    """

    columns: RankedColumns
    statistics: NDArray[np.int64] | RowTypes
    kind: str = "min_label"
    scale: int = 1


def solve_ordered_vector(
    problem: OrderedVectors, options: Options, callback: Callback | None = None
) -> Result:
    """Find the best tree within the options, as `solve` of `_vector` does.

    Parameters
    ----------
    problem : OrderedVectors
        The data and the costs.
    options, callback
        As for `solve_ordered`.
    """
    given = problem.statistics
    types = few_types(given) if problem.kind == "min_label" else None
    if types is not None:
        costs = np.ascontiguousarray(types.values)
        by_type = OrderedProblem(problem.columns, types.types, costs, types.weights)
        return solve_ordered(by_type, options, callback)
    by_row = given.by_row() if isinstance(given, RowTypes) else given
    arguments = (np.ascontiguousarray(by_row), problem.kind, problem.scale)
    return _call(_core.solve_ordered_vector, problem.columns, arguments, options, callback)


def _call(
    function: Callable[..., Any],
    columns: RankedColumns,
    costs: tuple[Any, ...],
    options: Options,
    callback: Callback | None,
) -> Result:
    """Call the core with ranks, and return its answer with tests by their place in the list."""
    settings = replace(options, threads=1).to_core()
    arguments = (columns.ranks, columns.n_ranks, *costs, settings)
    result = read_result(call_core(function, arguments, callback), options)
    nodes = result.nodes
    return replace(result, nodes=replace(nodes, test=columns.tests_at(nodes.test)))


def prefers_ranks(
    n_rows: int,
    n_ranks: NDArray[np.int32],
    n_classes: int,
    max_depth: int | None,
    kind: str | None = None,
) -> bool:
    """Return whether the search over ranks is expected to be faster than that over columns.

    Both searches spend most of their time on trees of depth two. With a column per test, that
    counts all pairs of tests, 64 rows at a time. With ranks, it adds every row to a histogram for
    each pair of features, and scans the bins of these histograms.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_ranks : int32 array
        Number of ranks of each feature.
    n_classes : int
        Number of classes, or of values in the vector of a row.
    max_depth : int or None
        Limit on the depth.
    kind : str, optional
        The kind of leaf cost where rows have vectors. Both searches then add up values in place of
        counting rows.
    """
    tests, features = float((n_ranks - 1).sum()), float(len(n_ranks))
    is_small = tests <= _FEW_TESTS or tests * n_rows <= _FEW_ANSWERS
    if is_small or n_ranks.max() <= 2:
        return False
    depth = 99 if max_depth is None else max_depth
    by_columns, by_ranks = _ANSWER * tests * n_rows, _RANK * features * n_rows
    if depth > 1:
        bins = float(np.minimum(n_ranks, max(_BINS * n_rows**0.5, 2)).sum())
        sweep, pair = _SWEEP, _PAIR * max(n_classes - 1, 1)
        times = 1.0 if depth == 2 else _DEEPER * (n_classes / 2) ** 2
        if kind is not None:
            sweep, pair = _SWEEP_BY_ROW * n_classes, _ADD * n_classes
            times = _DEEPER_BY_ROW[kind][min(depth, 4) - 2]
        pairs = sweep * features**2 / 2 * n_rows + _SCAN * bins**2 / 2 * n_classes
        by_ranks += pairs * times
        by_columns += pair * tests**2 / 2 * n_rows / 64
    return by_ranks < by_columns


def expand(columns: Columns) -> NDArray[np.uint8]:
    """Return a column per test, for the searches that know no other form."""
    return columns.expand() if isinstance(columns, RankedColumns) else columns
