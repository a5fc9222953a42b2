"""What the search over ordered features says when it is cut short, or may stop early."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeClassifier, _core, verify

ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)


def noisy_ranks(seed: int, n_rows: int, n_features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return ranks that are all different, and labels that depend on two of them."""
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.permutation(n_rows) for _ in range(n_features)], dtype=np.int32)
    labels = (ranks[0] < n_rows // 3) ^ (ranks[1] < n_rows // 2) ^ (rng.random(n_rows) < 0.2)
    return ranks, labels.astype(np.int32)


def solve(ranks: NDArray[Any], labels: NDArray[Any], callback: Any = None, **options: Any) -> Any:
    n_ranks = np.full(len(ranks), ranks.shape[1], dtype=np.int32)
    return _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, callback)


def errors_of(result: Any, ranks: NDArray[Any], labels: NDArray[Any]) -> int:
    """Send the rows down the tree, one by one."""
    n_tests = ranks.shape[1] - 1
    errors = 0
    for row, label in enumerate(labels):
        node = 0
        while result.test[node] >= 0:
            feature, position = divmod(int(result.test[node]), n_tests)
            node = result.first_child[node] + (ranks[feature, row] > position)
        errors += int(result.label[node] != label)
    return errors


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gap", [3, 10])
def test_a_tree_within_a_gap_costs_what_its_certificate_says(seed: int, gap: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(400, 3))
    labels = (table[:, 0] * table[:, 1] + rng.normal(size=400) > 0).astype(int)
    model = OptimalTreeClassifier(max_depth=3, thresholds="all", gap=gap).fit(table, labels)
    certificate = model.certificate_
    assert certificate.cost == int((model.predict(table) != labels).sum())
    assert certificate.lower_bound <= certificate.cost <= certificate.lower_bound + gap
    assert verify(model, table, labels)


@pytest.mark.parametrize("uses_table", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_search_that_is_cut_short_tells_the_cost_of_its_tree(seed: int, uses_table: bool) -> None:
    ranks, labels = noisy_ranks(seed, 70, 3)
    best = solve(ranks, labels, max_depth=3)
    for work in range(1, 60, 3):
        found = solve(ranks, labels, max_depth=3, work_limit=work, use_table=uses_table)
        assert found.lower_bound <= best.upper_bound <= found.upper_bound
        assert errors_of(found, ranks, labels) == found.upper_bound
        assert found.status == "work_limit" or found.upper_bound == best.upper_bound


def test_a_callback_is_heard_within_depth_two() -> None:
    ranks, labels = noisy_ranks(0, 150_000, 10)
    labels = np.random.default_rng(1).integers(0, 2, labels.shape[0]).astype(np.int32)
    start, calls = time.monotonic(), []

    def stop(_: Any) -> bool:
        calls.append(time.monotonic() - start)
        return True

    found = solve(ranks, labels, stop, max_depth=2)
    assert calls
    assert found.status == "interrupted" or found.lower_bound == found.upper_bound
    assert found.upper_bound < len(labels) // 2


def test_memory_that_ends_after_depth_two_leaves_its_tree() -> None:
    rng = np.random.default_rng(0)
    ranks = rng.integers(0, 33, size=(20, 100_000)).astype(np.int32)
    labels = ((ranks[0] < 10) ^ (rng.random(100_000) < 0.1)).astype(np.int32)
    n_ranks = np.full(20, 33, dtype=np.int32)
    options = {"max_depth": 2, "memory_limit": 15_000_000}
    found = _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, None)
    assert found.upper_bound < 12_000  # a leaf makes more than 30 000 errors
    assert found.lower_bound <= found.upper_bound
