"""The door to the core's search over ordered features: ranks in place of a column per test."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding import RankedColumns

from ._scalar import Callback, Options, Result, call_core, read_result

Columns = NDArray[np.uint8] | RankedColumns
"""Answers of rows to tests: zeros and ones with a column per test, or ranks."""

# Tables with so few tests, or answers to tests, are searched in an instant in either way.
_FEW_TESTS = 100
_FEW_ANSWERS = 20_000

# Nanoseconds of encoding a table, and of the first pass over its trees of depth two. Measured with
# one thread by fitting generated tables (scikit-learn's make_classification, 10 % of the labels
# flipped) either way: 300 to 100 000 rows, 5 to 40 columns, 4 to 128 cut points or all, 2 to 5
# classes, depths 2 to 4. The differences between two numbers of cut points or rows give the rates.
_ANSWER = 1.5  # to answer a test for a row
_PAIR = 0.3  # to count a pair of tests in 64 rows, for each class but one
_RANK = 30.0  # to rank a row
_SWEEP = 1.0  # to add a row to the histogram of a pair of features
_SCAN = 4.0  # to scan a pair of bins, for each class
# Below the root, the search over columns prunes better: that over ranks takes so many times as
# long as their first passes say, for two classes. It grows with the square of their number.
_DEEPER = 4.0

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
    columns = problem.columns
    arguments = (
        columns.ranks,
        columns.n_ranks,
        problem.row_types,
        problem.cost_matrix,
        problem.weights,
        replace(options, threads=1).to_core(),
    )
    result = read_result(call_core(_core.solve_ordered, arguments, callback), options)
    nodes = result.nodes
    return replace(result, nodes=replace(nodes, test=columns.tests_at(nodes.test)))


def prefers_ranks(
    n_rows: int, n_ranks: NDArray[np.int32], n_classes: int, max_depth: int | None
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
        Number of classes.
    max_depth : int or None
        Limit on the depth.
    """
    tests, features = float((n_ranks - 1).sum()), float(len(n_ranks))
    is_small = tests <= _FEW_TESTS or tests * n_rows <= _FEW_ANSWERS
    if is_small or n_ranks.max() <= 2:
        return False
    depth = 99 if max_depth is None else max_depth
    by_columns, by_ranks = _ANSWER * tests * n_rows, _RANK * features * n_rows
    if depth > 1:
        bins = float(np.minimum(n_ranks, max(_BINS * n_rows**0.5, 2)).sum())
        pairs = _SWEEP * features**2 / 2 * n_rows + _SCAN * bins**2 / 2 * n_classes
        by_ranks += pairs if depth == 2 else pairs * _DEEPER * (n_classes / 2) ** 2
        by_columns += _PAIR * tests**2 / 2 * n_rows / 64 * max(n_classes - 1, 1)
    return by_ranks < by_columns


def expand(columns: Columns) -> NDArray[np.uint8]:
    """Return a column per test, for the searches that know no other form."""
    return columns.expand() if isinstance(columns, RankedColumns) else columns
