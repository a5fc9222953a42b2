"""The door to the core's search over ordered features: ranks in place of a column per test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding import RankedColumns
from certree.tree._nodes import Nodes

from ._alarms import label_cost
from ._row_types import RowTypes, few_types
from ._scalar import (
    Callback,
    Options,
    PathResult,
    Result,
    Session,
    call_core,
    read_nodes,
    read_path,
    read_result,
)
from ._vector import LeafRule

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
_SWEEP = 0.65  # to add a row to the histogram of a pair of features
_SWEEP_BY_ROW = 3.0  # the same for each value of a vector
_SCAN = 2.0  # to scan a pair of bins, for each class
_SCAN_BY_ROW = 4.0  # the same where rows have vectors
# Below the root, the search over columns prunes better: that over ranks takes so many times as
# long as their first passes say, for two classes, at depth three and at more. It grows with the
# square of their number.
_DEEPER = (4.0, 12.0)


class _Rates(NamedTuple):
    """How long searches take where rows have vectors, for one kind of leaf cost.

    `columns` multiplies the time to add up pairs of tests. `ranks` multiplies that of first passes,
    for depth two, three, and more.
    """

    columns: float
    ranks: tuple[float, float, float]


# Squared errors leave many more thresholds open than costs of labels. Rates and linear models were
# measured on 300 to 1 000 rows of 5 or 10 columns of normal numbers, with 32 cut points or all. So
# were quantiles: nothing is known of their pairs of bins, and every threshold is a pass over rows.
_BY_ROW = {
    "min_label": _Rates(1.0, (1.0, 8.0, 14.0)),
    "squares": _Rates(1.0, (8.0, 60.0, 120.0)),
    "rates": _Rates(1.2, (8.0, 35.0, 70.0)),
    "linear_loss": _Rates(1.0, (6.0, 9.0, 12.0)),
    "leaf_function": _Rates(6.0, (8.0, 35.0, 70.0)),
    "quantile": _Rates(7.0, (140.0, 430.0, 900.0)),
}

# A path takes the search over columns 1.2 to 2.7 times as long as one fit, and that over ranks 2 to
# 4.5 times (depths 3 and 4, 8 to 32 cut points).
_PATH = 2.0

# Where only the price of a split limits trees, bounds over columns rise faster while tests are few:
# with 32 and 100 cut points columns win, with all of them ranks (five sets of 900 to 5 500 rows).
_NO_DEPTH = 4.0

# The histograms of a feature have at most so many bins for each square root of the rows.
_BINS = 0.7


class RankLimits(NamedTuple):
    """Limits of a search over ranks, and whether it is for a path.

    Without a depth, the price of a split is the only limit.
    """

    max_depth: int | None
    is_path: bool = False


@dataclass(frozen=True)
class OrderedProblem:
    """Rows, what a label costs them, and their weights, as in `Problem`; tests are ranks."""

    columns: RankedColumns
    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None

    @property
    def costs(self) -> tuple[Any, ...]:
        """What the core takes beside the ranks."""
        return self.row_types, self.cost_matrix, self.weights

    def cost_of(self, nodes: Nodes) -> int:
        """Return what the leaves of a tree cost."""
        leaves = nodes.route(self.columns)
        return label_cost(nodes, leaves, self.row_types, self.cost_matrix, self.weights)


def solve_ordered(
    problem: OrderedProblem, options: Options, callback: Callback | None = None
) -> Result:
    """Find the best tree within the options, as `solve` does.

    Parameters
    ----------
    problem : OrderedProblem
        The data and the costs.
    options : Options
        Limits and choices: `max_depth`, `max_splits` or a penalty is needed.
    callback : callable, optional
        As for `solve`.
    """
    return _call(_core.solve_ordered, problem, options, callback)


def solve_ordered_path(
    problem: OrderedProblem, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree for every number of splits, as `solve_path` does.

    Parameters
    ----------
    problem, options, callback
        As for `solve_ordered`; the penalty is not used.
    """
    return _call_path(_core.solve_ordered_path, problem, options, callback)


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
        if options.max_depth is None and options.max_splits is None and not options.split_penalty:
            return self.expanded.solve(cost_matrix, options, callback)
        return solve_ordered(self._problem(cost_matrix), options, callback)

    def solve_path(
        self, cost_matrix: NDArray[np.int64], options: Options, callback: Callback | None = None
    ) -> PathResult:
        """Find the best tree for every number of splits."""
        return solve_ordered_path(self._problem(cost_matrix), options, callback)

    def _problem(self, cost_matrix: NDArray[np.int64]) -> OrderedProblem:
        return OrderedProblem(self.columns, self.row_types, cost_matrix, self.weights)

    @cached_property
    def expanded(self) -> Session:
        """The session with a column per test."""
        return Session(self.columns.expand(), self.row_types, self.weights)


@dataclass(frozen=True)
class OrderedVectors(LeafRule):
    """Rows, their vectors, and what a leaf costs, as in `VectorProblem`; tests are ranks.

    Leaf costs must be superadditive. Prices of tests and rows that stand for several are not known.
    """

    columns: RankedColumns
    statistics: NDArray[np.int64] | RowTypes

    @property
    def costs(self) -> tuple[Any, ...]:
        """What the core takes beside the ranks."""
        given = self.statistics
        by_row = given.by_row() if isinstance(given, RowTypes) else given
        return np.ascontiguousarray(by_row), self.kind

    def cost_of(self, nodes: Nodes) -> int | None:
        """Return what the leaves of a tree cost; None if only a function of the caller's knows."""
        return self.total_cost(nodes, nodes.route(self.columns), self.statistics)

    @property
    def by_type(self) -> OrderedProblem | None:
        """The same problem with types of rows; None if there are too many of them."""
        is_plain = self.kind == "min_label" and len(self.outputs) <= 1
        types = few_types(self.statistics) if is_plain else None
        if types is None:
            return None
        costs = np.ascontiguousarray(types.values)
        return OrderedProblem(self.columns, types.types, costs, types.weights)

    def ask(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the core's function with what it needs to know of leaf costs."""
        extra = self.extra()
        if self.kind == "callback" and self.worst_change is not None:
            extra["row_worst"] = np.ascontiguousarray(self.worst_change, dtype=np.int64)
        return lambda *given: function(*given, extra)


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
    by_type = problem.by_type
    if by_type is not None:
        return solve_ordered(by_type, options, callback)
    function = problem.ask(_core.solve_ordered_vector)
    return _call(function, problem, options, callback)


def solve_ordered_vector_path(
    problem: OrderedVectors, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree for every number of splits, as `solve_path` of `_vector` does.

    Parameters
    ----------
    problem, options, callback
        As for `solve_ordered_vector`; the penalty is not used.
    """
    by_type = problem.by_type
    if by_type is not None:
        return solve_ordered_path(by_type, options, callback)
    function = problem.ask(_core.solve_ordered_vector_path)
    return _call_path(function, problem, options, callback)


def _call(
    function: Callable[..., Any],
    problem: OrderedProblem | OrderedVectors,
    options: Options,
    callback: Callback | None,
) -> Result:
    """Call the core with ranks, and return its answer with tests by their place in the list."""
    raw = call_core(function, _arguments(problem, options), callback)
    return read_result(raw, options, problem.cost_of, _listed(read_nodes(raw), problem.columns))


def _call_path(
    function: Callable[..., Any],
    problem: OrderedProblem | OrderedVectors,
    options: Options,
    callback: Callback | None,
) -> PathResult:
    """Call the core as `_call` does, for a path."""
    raw = call_core(function, _arguments(problem, options), callback)
    return read_path(raw, options, problem.cost_of, lambda nodes: _listed(nodes, problem.columns))


def _arguments(problem: OrderedProblem | OrderedVectors, options: Options) -> tuple[Any, ...]:
    columns = problem.columns
    return columns.ranks, columns.n_ranks, *problem.costs, options.to_core()


def _listed(nodes: Nodes, columns: RankedColumns) -> Nodes:
    """Return a tree with tests by their place in the list."""
    return replace(nodes, test=columns.tests_at(nodes.test))


def rank_kind(rule: LeafRule) -> str | None:
    """Return which kind of leaf cost a search over ranks meets; None if its bounds do not hold."""
    if rule.kind != "callback":
        return rule.kind
    if not rule.superadditive:
        return None
    return "leaf_function" if rule.linear_loss is None else "linear_loss"


def prefers_ranks(
    n_rows: int,
    n_ranks: NDArray[np.int32],
    n_classes: int,
    limits: RankLimits,
    kind: str | None = None,
) -> bool:
    """Return whether the search over ranks is expected to be faster than that over columns.

    Small tables and tables of bits are searched in an instant either way, with a column per test.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_ranks : int32 array
        Number of ranks of each feature.
    n_classes : int
        Number of classes, or of values in the vector of a row.
    limits : RankLimits
        Limits on the trees.
    kind : str, optional
        The kind of leaf cost where rows have vectors, as `rank_kind` says. Both searches then add
        up values in place of counting rows.
    """
    tests = float((n_ranks - 1).sum())
    is_small = tests <= _FEW_TESTS or tests * n_rows <= _FEW_ANSWERS
    if is_small or n_ranks.max() <= 2:
        return False
    by_columns, by_ranks = expected_times(n_rows, n_ranks, n_classes, limits, kind)
    return by_ranks < by_columns


def expected_times(
    n_rows: int,
    n_ranks: NDArray[np.int32],
    n_classes: int,
    limits: RankLimits,
    kind: str | None = None,
) -> tuple[float, float]:
    """Return the nanoseconds that the search over columns and that over ranks are expected to take.

    Both searches spend most of their time on trees of depth two. With a column per test, that
    counts all pairs of tests, 64 rows at a time. With ranks, it adds every row to a histogram for
    each pair of features, and scans the bins of these histograms. ``python benchmarks/choice.py``
    measures both, and says by which factors to correct the rates above.

    Parameters
    ----------
    n_rows, n_ranks, n_classes, limits, kind
        As for `prefers_ranks`.
    """
    tests, features = float((n_ranks - 1).sum()), float(len(n_ranks))
    depth = 4 if limits.max_depth is None else limits.max_depth
    by_columns, by_ranks = _ANSWER * tests * n_rows, _RANK * features * n_rows
    if depth > 1:
        bins = float(np.minimum(n_ranks, max(_BINS * n_rows**0.5, 2)).sum())
        sweep, scan, pair = _SWEEP, _SCAN, _PAIR * max(n_classes - 1, 1)
        times = 1.0 if depth == 2 else _DEEPER[min(depth, 4) - 3] * (n_classes / 2) ** 2
        if kind is not None:
            sweep, scan, pair = _SWEEP_BY_ROW * n_classes, _SCAN_BY_ROW, _ADD * n_classes
            rates = _BY_ROW[kind]
            pair, times = pair * rates.columns, rates.ranks[min(depth, 4) - 2]
        pairs = sweep * features**2 / 2 * n_rows + scan * bins**2 / 2 * n_classes
        by_ranks += pairs * times * (_PATH if limits.is_path else 1.0)
        by_ranks *= _NO_DEPTH if limits.max_depth is None else 1.0
        by_columns += pair * tests**2 / 2 * n_rows / 64
    return by_columns, by_ranks


def expand(columns: Columns) -> NDArray[np.uint8]:
    """Return a column per test, for the searches that know no other form."""
    return columns.expand() if isinstance(columns, RankedColumns) else columns
