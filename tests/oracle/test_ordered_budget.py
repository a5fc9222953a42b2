"""What the search over ordered features says when it is cut short, or may stop early."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeClassifier, _core, verify

ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)

IS_SANITIZED = _core.build_info()["sanitized"]
# Sanitized code is about ten times slower, and does so much more between two looks at the clock.
SOON = 15.0 if IS_SANITIZED else 1.0


def noisy_ranks(seed: int, n_rows: int, n_features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return ranks that are all different, and labels that depend on two of them."""
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.permutation(n_rows) for _ in range(n_features)], dtype=np.int32)
    labels = (ranks[0] < n_rows // 3) ^ (ranks[1] < n_rows // 2) ^ (rng.random(n_rows) < 0.2)
    return ranks, labels.astype(np.int32)


def few_ranks(n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return 20 features of 33 ranks, and labels that depend on one of them."""
    rng = np.random.default_rng(0)
    ranks = rng.integers(0, 33, size=(20, n_rows)).astype(np.int32)
    return ranks, ((ranks[0] < 10) ^ (rng.random(n_rows) < 0.1)).astype(np.int32)


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


@pytest.mark.skipif(IS_SANITIZED, reason="the first call comes before there is a better tree")
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
    ranks, labels = few_ranks(100_000)
    n_ranks = np.full(20, 33, dtype=np.int32)
    options = {"max_depth": 3, "memory_limit": 8_000_000}
    found = _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, None)
    assert found.status == "memory_limit"
    assert found.upper_bound < 12_000  # a leaf makes more than 30 000 errors
    assert found.lower_bound <= found.upper_bound
    assert found.counters["peak_bytes"] <= 8_000_000


@pytest.mark.parametrize("limit", [1e-3, 0.2])
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("has_few_ranks", [True, False])
def test_sorting_and_counting_keep_the_time_limit(
    has_few_ranks: bool, max_depth: int, limit: float
) -> None:
    """Once, 1 000 000 rows were sorted by every feature before anyone looked at the clock."""
    n_rows = 1_000_000
    if has_few_ranks:
        ranks, labels = few_ranks(n_rows)
        n_ranks = np.full(20, 33, dtype=np.int32)
    else:
        ranks, labels = noisy_ranks(0, n_rows, 20)
        n_ranks = np.full(20, n_rows, dtype=np.int32)
    options = {"max_depth": max_depth, "time_limit": limit}
    # By the processor's clock, so that other work on the machine does not count.
    start = time.process_time()
    found = _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, None)
    seconds = time.process_time() - start
    assert seconds < limit + SOON
    assert found.lower_bound == 0 or found.status == "optimal"
    assert found.status == "time_limit" or found.lower_bound == found.upper_bound
    leaf = int(min(labels.sum(), n_rows - labels.sum()))
    assert 0 < found.upper_bound <= leaf


@pytest.mark.parametrize("kind", ["labels", "rows"])
def test_the_memory_that_is_counted_is_the_memory_that_is_used(kind: str) -> None:
    """Once, 47 MB of 89 MB were counted."""
    if sys.platform != "linux":
        pytest.skip("needs the peak that /proc tells")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer has memory of its own")
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, kind], capture_output=True, text=True, check=True
    )
    counted, grown = map(int, ran.stdout.split())
    assert grown > 10_000_000
    assert counted > 0.8 * grown


MEASURE = """
import sys
import numpy as np
from certree import _core

n_rows, n_features = 100_000, 10
rng = np.random.default_rng(0)
ranks = np.empty((n_features, n_rows), dtype=np.int32)
for row in ranks:
    row[:] = rng.permutation(n_rows)
n_ranks = np.full(n_features, n_rows, dtype=np.int32)
labels = ((ranks[0] < n_rows // 3) ^ (rng.random(n_rows) < 0.3)).astype(np.int32)
errors = np.array([[0, 1], [1, 0]], dtype=np.int64)
costs = np.column_stack([labels * 3 + ranks[1] % 5, 4 - labels + ranks[2] % 3]).astype(np.int64)

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

options = {"max_depth": 3, "time_limit": 1.5}
before = peak()
if sys.argv[1] == "labels":
    found = _core.solve_ordered(ranks, n_ranks, labels, errors, None, options, None)
else:
    found = _core.solve_ordered_vector(ranks, n_ranks, costs, "min_label", options)
print(found.counters["peak_bytes"], peak() - before)
"""
