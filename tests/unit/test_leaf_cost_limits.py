"""Leaf costs written in Python may be slow: limits hold inside of a pass over pairs, too."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalityWarning, solve, tasks

rng = np.random.default_rng(3)
WIDE = rng.integers(0, 2, (60, 120), dtype=np.uint8)
CLASSES = np.eye(2, dtype=np.int64)[rng.integers(0, 2, 60)]
# Small sums are few, large ones are all different.
STATISTICS = {"small": CLASSES, "large": CLASSES * (10**6 + rng.integers(0, 10**6, (60, 1)))}


def slow_cost(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the smaller sum, after a millisecond for each leaf: minutes for a pass."""
    until = time.perf_counter() + 1e-3 * len(sums)
    while time.perf_counter() < until:
        pass
    return np.asarray(sums.min(axis=1))


@pytest.mark.parametrize("size", STATISTICS)
@pytest.mark.parametrize("bounds", ["superadditive", None])
def test_a_slow_cost_keeps_the_time_limit(size: str, bounds: str | None) -> None:
    task = tasks.LeafCost(STATISTICS[size], slow_cost, bounds=bounds)
    start = time.perf_counter()
    with pytest.warns(OptimalityWarning):
        found = solve(task, WIDE, max_depth=3, time_limit=0.3).certificate
    assert time.perf_counter() - start < 2
    assert found.status == "time_limit"
    best = solve(tasks.RowCosts(STATISTICS[size][:, ::-1]), WIDE, max_depth=3).certificate.cost
    assert found.lower_bound <= best <= found.cost


@pytest.mark.usefixtures("listens_to_ctrl_c")
def test_ctrl_c_within_a_slow_cost_keeps_the_incumbent() -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    task = tasks.LeafCost(STATISTICS["large"], slow_cost, bounds="superadditive")
    start = time.perf_counter()
    try:
        with pytest.warns(OptimalityWarning, match="interrupted"):
            found = solve(task, WIDE, max_depth=3, time_limit=60).certificate
    finally:
        timer.cancel()
    assert time.perf_counter() - start < 5
    assert found.status == "interrupted"
    assert found.lower_bound <= found.cost


def test_an_error_of_the_cost_comes_back_as_itself() -> None:
    def fails(sums: NDArray[np.int64]) -> NDArray[np.int64]:
        if len(sums) > 1:
            raise LookupError("no such price")
        return np.asarray(sums.min(axis=1))

    with pytest.raises(LookupError, match="no such price"):
        solve(tasks.LeafCost(CLASSES, fails), WIDE, max_depth=2)
