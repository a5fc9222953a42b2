"""Trees before the proof: what they cost it, that work decides them, and that the bound rises.

Their quality is in ``tests/oracle/test_never_worse_than_greedy.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import _core

ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)


def noisy_bits(seed: int, n_rows: int, n_columns: int, noise: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    columns = rng.random((n_rows, n_columns)) < 0.5
    labels = (columns[:, 0] & columns[:, 1]) | ((columns[:, 2] ^ columns[:, 3]) & columns[:, 4])
    labels = np.where(rng.random(n_rows) < noise, rng.random(n_rows) < 0.5, labels)
    return columns.astype(np.uint8), labels.astype(np.int32)


def solve(columns: Any, labels: Any, **options: Any) -> Any:
    return _core.solve(columns, labels, ERRORS, None, options, None)


def tree_of(result: Any) -> Any:
    return [list(part) for part in (result.test, result.first_child, result.label)]


@pytest.mark.parametrize("work", [1, 100, 5_000, 40_000])
def test_equal_work_gives_the_equal_tree(work: int) -> None:
    columns, labels = noisy_bits(3, 900, 30, 0.9)
    first, again = (solve(columns, labels, max_depth=7, work_limit=work) for _ in range(2))
    assert first.status == "work_limit"
    assert tree_of(first) == tree_of(again)
    assert first.upper_bound == again.upper_bound


@pytest.mark.parametrize("work", [1, 30, 300])
def test_equal_work_gives_the_equal_tree_over_ranks(work: int) -> None:
    rng = np.random.default_rng(5)
    ranks = rng.integers(0, 40, (4, 400)).astype(np.int32)
    labels = ((ranks[0] > ranks[1]) ^ (rng.random(400) < 0.4)).astype(np.int32)
    n_ranks = np.full(4, 40, dtype=np.int32)
    options = {"max_depth": 6, "work_limit": work}
    first, again = (
        _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, None) for _ in range(2)
    )
    assert first.status == "work_limit"
    assert tree_of(first) == tree_of(again)


def test_more_work_gives_no_worse_tree() -> None:
    columns, labels = noisy_bits(3, 900, 30, 0.5)
    costs = [
        solve(columns, labels, max_depth=7, work_limit=work).upper_bound
        for work in (1, 100, 1_000, 10_000, 50_000)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_proof_takes_hardly_more_work() -> None:
    work = {}
    for grows in (True, False):
        work[grows] = sum(
            solve(
                *noisy_bits(seed, 500, 40, 0.5), max_depth=4, use_greedy_incumbent=grows
            ).counters["depth_two_evaluations"]
            for seed in range(6)
        )
    assert work[True] <= 1.02 * work[False]


def test_the_bound_of_a_long_proof_rises_before_its_end() -> None:
    found = solve(*noisy_bits(1, 400, 24, 0.8), max_depth=6)
    assert found.status == "optimal"
    bounds = {lower for _, _, upper, lower in found.history if lower < upper}
    assert max(bounds) >= found.upper_bound // 4


def test_the_bound_of_a_stopped_proof_is_below_the_optimum() -> None:
    columns, labels = noisy_bits(1, 400, 24, 0.8)
    optimum = solve(columns, labels, max_depth=6).upper_bound
    for work in (150_000, 190_000, 200_000, 210_000):
        found = solve(columns, labels, max_depth=6, work_limit=work)
        assert found.lower_bound <= optimum <= found.upper_bound
