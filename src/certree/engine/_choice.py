"""Columns or ranks: in which form rows go to the search, by what it is asked.

Any search knows a column per test. Ranks are known to the search for a tree and to that for a path,
if something limits the size of the tree; where both forms can be searched, a model of the time of
both searches decides. Where there is no memory for a column per test, ranks leave no test out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.encoding import TableEncoder
from certree.encoding._row_cells import Cells
from certree.encoding._test_budget import BudgetLeft

from ._row_types import RowTypes, few_types
from ._vector import LeafRule

Search = Literal["tree", "path", "front", "chain", "metric path", "limited metric", "rows"]
"""What is looked for: a tree, perhaps by several solves; the best trees of all sizes; trees by two
kinds of errors; what other code than the core finds in rows."""

# The searches that know ranks.
_BY_RANKS = ("tree", "path")

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


@dataclass(frozen=True)
class Question:
    """What a search is asked, as far as the form of its rows depends on it.

    Attributes
    ----------
    max_depth, max_splits : int or None
        Limits on the trees.
    search : str
        What is looked for.
    has_penalty : bool
        Whether splits have a price.
    is_multiway : bool
        Whether tests have more than two outcomes.
    is_shared : bool
        Whether several processes search.
    has_row_counts : bool
        Whether rows stand for several where leaves have a least size.
    has_test_costs : bool
        Whether rows pay for tests.
    n_values : int
        Number of classes, or of values in the vector of a row.
    kind : str or None
        What leaves cost where rows have vectors, as `LeafRule.kind` says; "other" where the bounds
        of the search over ranks do not hold; None: rows are counted by class.
    """

    max_depth: int | None = None
    max_splits: int | None = None
    search: Search = "tree"
    has_penalty: bool = False
    is_multiway: bool = False
    is_shared: bool = False
    has_row_counts: bool = False
    has_test_costs: bool = False
    n_values: int = 2
    kind: str | None = None

    @property
    def depth(self) -> int | None:
        """No tree is deeper; None: no limit but a price per split."""
        limits = [limit for limit in (self.max_depth, self.max_splits) if limit is not None]
        return min(limits, default=None)

    @property
    def has_pairs(self) -> bool:
        """Whether trees may have a test below another."""
        return self.max_depth is None or self.max_depth > 1

    @property
    def can_use_ranks(self) -> bool:
        """Whether the search over ranks knows all that is asked."""
        is_limited = self.depth is not None or (self.search == "tree" and self.has_penalty)
        needs_columns = (
            *(self.is_multiway, self.is_shared, self.has_row_counts, self.has_test_costs),
            *(self.search not in _BY_RANKS, self.kind == "other"),
        )
        return is_limited and not any(needs_columns)

    def about(self, rule: LeafRule, vectors: NDArray[np.int64] | RowTypes) -> Question:
        """Return the question for leaf costs, given the vectors of the rows."""
        if not self.can_use_ranks:
            return self
        kind = _kind_of(rule)
        is_plain = kind == "min_label" and not rule.outputs
        types = few_types(vectors) if is_plain else None
        if types is not None:
            return replace(self, n_values=len(types.totals))
        values = vectors.values if isinstance(vectors, RowTypes) else vectors
        return replace(self, n_values=values.shape[1], kind=kind)


def encode_rows(
    encoder: TableEncoder,
    X: Any,
    sample_weight: NDArray[np.int64] | None,
    budget: Callable[[], BudgetLeft],
    question: Question,
) -> Cells:
    """Fit an encoder, and answer its tests for the rows that count, in the form that suits best.

    Parameters
    ----------
    encoder : TableEncoder
        What chooses tests, as many as fit the budget, unless its tests are chosen.
    X : table
        The rows; a `Table` if tests are chosen.
    sample_weight : int64 array, optional
        Rows of weight zero do not count.
    budget : callable
        What is left of it.
    question : Question
        What the rows will be searched for.
    """

    def prefers(n_rows: int, n_ranks: NDArray[np.int32]) -> bool:
        return prefers_ranks(n_rows, n_ranks, question)

    choice = prefers if question.can_use_ranks else None
    if hasattr(encoder, "tests_"):
        return encoder._answer_within(X, budget, choice)
    return encoder._fit_within(X, sample_weight, budget, choice)


def prefers_ranks(n_rows: int, n_ranks: NDArray[np.int32], question: Question) -> bool:
    """Return whether the search over ranks is expected to be faster than that over columns.

    Small tables and tables of bits are searched in an instant either way, with a column per test.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_ranks : int32 array
        Number of ranks of each feature.
    question : Question
        One that both searches can answer.
    """
    tests = float((n_ranks - 1).sum())
    is_small = tests <= _FEW_TESTS or tests * n_rows <= _FEW_ANSWERS
    if is_small or n_ranks.max() <= 2:
        return False
    by_columns, by_ranks = expected_times(n_rows, n_ranks, question)
    return by_ranks < by_columns


def expected_times(
    n_rows: int, n_ranks: NDArray[np.int32], question: Question
) -> tuple[float, float]:
    """Return the nanoseconds that the search over columns and that over ranks are expected to take.

    Both searches spend most of their time on trees of depth two. With a column per test, that
    counts all pairs of tests, 64 rows at a time. With ranks, it adds every row to a histogram for
    each pair of features, and scans the bins of these histograms. Where rows have vectors, both
    add up values in place of counting rows. ``python benchmarks/choice.py``
    measures both, and says by which factors to correct the rates above.

    Parameters
    ----------
    n_rows, n_ranks, question
        As for `prefers_ranks`.
    """
    tests, features = float((n_ranks - 1).sum()), float(len(n_ranks))
    depth = 4 if question.depth is None else question.depth
    n_values, kind = question.n_values, question.kind
    by_columns, by_ranks = _ANSWER * tests * n_rows, _RANK * features * n_rows
    if depth > 1:
        bins = float(np.minimum(n_ranks, max(_BINS * n_rows**0.5, 2)).sum())
        sweep, scan, pair = _SWEEP, _SCAN, _PAIR * max(n_values - 1, 1)
        times = 1.0 if depth == 2 else _DEEPER[min(depth, 4) - 3] * (n_values / 2) ** 2
        if kind is not None:
            sweep, scan, pair = _SWEEP_BY_ROW * n_values, _SCAN_BY_ROW, _ADD * n_values
            rates = _BY_ROW[kind]
            pair, times = pair * rates.columns, rates.ranks[min(depth, 4) - 2]
        pairs = sweep * features**2 / 2 * n_rows + scan * bins**2 / 2 * n_values
        by_ranks += pairs * times * (_PATH if question.search == "path" else 1.0)
        by_ranks *= _NO_DEPTH if question.depth is None else 1.0
        by_columns += pair * tests**2 / 2 * n_rows / 64
    return by_columns, by_ranks


def _kind_of(rule: LeafRule) -> str:
    """Return which kind of leaf cost a search over ranks meets."""
    if rule.kind != "callback":
        return rule.kind
    if not rule.superadditive:
        return "other"
    return "leaf_function" if rule.linear_loss is None else "linear_loss"
