"""Leaving out cuts between neighbours of one class loses optimal trees (GOSDT, theorem 3.1)."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, verify

# Two features and two classes like a chessboard of four fields. The middle cuts lie between two
# rows of the same class, in both features.
X = np.array([[1, 1], [2, 5], [3, 3], [4, 7], [5, 2], [6, 6], [7, 4], [8, 8]], dtype=float)
Y = np.array([0, 1, 0, 1, 1, 0, 1, 0])

# 72 rows in the same places, and 5 of the other class in one of them: the accuracies of the paper.
COPIES = np.array([10, 10, 10, 1, 10, 10, 11, 10])
LARGE_X = np.vstack([np.repeat(X, COPIES, axis=0), np.repeat(X[:1], 5, axis=0)])
LARGE_Y = np.concatenate([np.repeat(Y, COPIES), np.ones(5, dtype=int)])


def bucketed(values: Any, y: Any) -> list[float]:
    """Return the cuts that bucketing keeps: those whose neighbours are not all of one class."""
    levels = sorted(set(values))
    return [
        (low + high) / 2
        for low, high in pairwise(levels)
        if len(set(y[values == low]) | set(y[values == high])) > 1
    ]


def fewest_errors(X: Any, y: Any, cuts: list[list[float]]) -> int:
    """Try all trees of depth two."""
    tests = [X[:, j] <= cut for j in range(2) for cut in cuts[j]]

    def leaf(rows: Any) -> int:
        return min(int((y[rows] == label).sum()) for label in (0, 1))

    def stump(rows: Any) -> int:
        return min(leaf(rows), *(leaf(rows & test) + leaf(rows & ~test) for test in tests))

    return min(stump(test) + stump(~test) for test in tests)


@pytest.mark.parametrize(
    ("table", "labels", "all_cuts", "kept_cuts"), [(X, Y, 0, 1), (LARGE_X, LARGE_Y, 5, 6)]
)
def test_bucketing_loses_the_best_tree(
    table: Any, labels: Any, all_cuts: int, kept_cuts: int
) -> None:
    kept = [bucketed(table[:, j], labels) for j in range(2)]
    assert all(4.5 not in cuts for cuts in kept)
    best = OptimalTreeClassifier(max_depth=2, thresholds="all").fit(table, labels)
    lossy = OptimalTreeClassifier(max_depth=2, thresholds=dict(enumerate(kept)))
    lossy.fit(table, labels)
    assert best.certificate_.is_optimal
    assert lossy.certificate_.is_optimal
    assert (best.certificate_.cost, lossy.certificate_.cost) == (all_cuts, kept_cuts)
    assert fewest_errors(table, labels, kept) == kept_cuts
    assert fewest_errors(table, labels, [[v + 0.5 for v in range(1, 8)]] * 2) == all_cuts
    for model in (best, lossy):
        verify(model, table, labels)


def test_the_larger_table_has_the_accuracies_of_the_paper() -> None:
    assert len(LARGE_Y) == 77
    assert [round(100 * (1 - errors / 77), 1) for errors in (5, 6)] == [93.5, 92.2]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_default_thresholds_of_few_values_leave_out_nothing(depth: int) -> None:
    model = OptimalTreeClassifier(max_depth=depth).fit(X, Y)
    asked = {str(test) for test in model.encoder_.tests_}
    assert asked == {f"x{j} <= {v + 0.5}" for j, v in product((0, 1), range(1, 8))}
