"""Tables whose tests are as many as their rows keep the time limit.

Once, four of 90 fits with ``time_limit=2`` took 20 to 49 s: nobody looked at the clock while lists
of all pairs of features were made, and while zeros were written to gigabytes.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, OptimalTreeClassifier, OptimalTreeRegressor, _core

pytestmark = [
    pytest.mark.filterwarnings("ignore::certree.OptimalityWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

# Sanitized code is about ten times slower.
SOON = 10.0 if _core.build_info()["sanitized"] else 1.0

ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)


def seconds_after(limit: float, call: Any) -> tuple[Any, float]:
    """Return what a call returns, and the processor time that it took after its limit."""
    at_limit: list[float] = []
    timer = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    timer.start()
    found = call()
    end = time.process_time()
    timer.cancel()
    return found, end - at_limit[0] if at_limit else 0.0


def with_identifiers(seed: int, n_rows: int, n_numbers: int) -> tuple[Any, Any]:
    """Return numbers, a text and an integer that name each row, and labels."""
    rng = np.random.default_rng(seed)
    table = np.empty((n_rows, n_numbers + 2), dtype=object)
    table[:, :n_numbers] = np.round(rng.normal(size=(n_rows, n_numbers)), 3)
    table[:, n_numbers] = [f"C{row}" for row in rng.permutation(n_rows)]
    table[:, n_numbers + 1] = rng.permutation(n_rows)
    return table, rng.random(n_rows) < 0.1


def keeping(model: Any) -> Any:
    """Let a model keep columns that name the rows, if it would leave them out."""
    if "identifiers" in model.get_params():
        model.set_params(identifiers="keep")
    return model


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [0.05, 0.3, 1.0])
def test_a_fit_with_identifiers_ends_in_time(limit: float, seed: int) -> None:
    n_rows = (1_000, 3_000, 8_000, 20_000)[seed]
    X, y = with_identifiers(seed, n_rows, 10)
    model = keeping(OptimalTreeClassifier(max_depth=3, time_limit=limit))
    seen: list[Any] = []
    fitted, seconds = seconds_after(
        limit, lambda: model.fit(X, y, callback=lambda event: bool(seen.append(event)))
    )
    assert seconds < SOON
    assert 0 <= fitted.certificate_.cost <= y.sum()
    assert all(event.upper_bound <= y.sum() for event in seen)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_regression_with_identifiers_ends_in_time(criterion: str) -> None:
    X, y = with_identifiers(0, 5_000, 5)
    model = keeping(OptimalTreeRegressor(criterion=criterion, max_depth=3, time_limit=0.5))
    _, seconds = seconds_after(0.5, lambda: model.fit(X, y.astype(float)))
    assert seconds < SOON


@pytest.mark.parametrize("limit", [1.0, 2.0])
@pytest.mark.parametrize("kind", ["capacity", "fair"])
def test_a_fit_within_limits_of_many_categories_ends_in_time(kind: str, limit: float) -> None:
    rng = np.random.default_rng(7)
    X, y = with_identifiers(7, 20_000, 6)
    X[:, :6] = np.round(X[:, :6].astype(float), 1)
    # So many categories have a column each: rows of thousands of columns are copied and compared.
    X[:, 6] = [f"g{place}" for place in rng.integers(0, 6_000, len(X))]
    if kind == "fair":
        fair = FairTreeClassifier(max_depth=3, time_limit=limit)
        groups = rng.integers(0, 2, len(X))
        _, seconds = seconds_after(limit, lambda: fair.fit(X, y, sensitive_features=groups))
    else:
        model = OptimalTreeClassifier(max_depth=3, time_limit=limit, capacity={True: 5000})
        _, seconds = seconds_after(limit, lambda: model.fit(X, y))
    assert seconds < SOON


def flags(n_flags: int, n_rows: int) -> tuple[Any, Any, Any]:
    """Return ranks of five numbers and of flags that name a row each, and labels."""
    rng = np.random.default_rng(0)
    ranks = np.ones((5 + n_flags, n_rows), dtype=np.int32)
    ranks[:5] = [rng.permutation(n_rows) for _ in range(5)]
    ranks[5 + np.arange(n_flags), rng.integers(0, n_rows, n_flags)] = 0
    n_ranks = np.array([n_rows] * 5 + [2] * n_flags, dtype=np.int32)
    return ranks, n_ranks, (rng.random(n_rows) < 0.3).astype(np.int32)


def test_a_callback_is_heard_while_pairs_of_features_are_counted() -> None:
    """Once, it waited for a list of twelve million pairs, and for zeros in three gigabytes."""
    ranks, n_ranks, labels = flags(5_000, 1_500)
    moments = [time.process_time()]

    def stop(_: Any) -> bool:
        moments.append(time.process_time())
        return moments[-1] > moments[0] + 0.8

    options = {"max_depth": 2, "use_greedy_incumbent": False}
    found = _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, stop)
    moments.append(time.process_time())
    assert found.status == "interrupted"
    assert max(np.diff(moments)) < SOON
    assert found.counters["peak_bytes"] < 500_000_000


@pytest.mark.parametrize("n_flags", [2_000, 8_000])
@pytest.mark.parametrize("max_depth", [2, 4])
def test_the_search_over_ranks_ends_in_time(max_depth: int, n_flags: int) -> None:
    """Flags that name a row each, beside numbers: all pairs of features are too many to list."""
    ranks, n_ranks, labels = flags(n_flags, 4_000)
    options = {"max_depth": max_depth, "time_limit": 0.3}
    found, seconds = seconds_after(
        0.3, lambda: _core.solve_ordered(ranks, n_ranks, labels, ERRORS, None, options, None)
    )
    assert seconds < SOON
    assert found.status == "time_limit"
    assert 0 <= found.lower_bound <= found.upper_bound <= labels.sum()


@pytest.mark.parametrize(
    "search", ["solve", "solve_path", "solve_chain", "solve_front", "multiway"]
)
def test_the_searches_over_columns_end_in_time(search: str) -> None:
    """Columns that name a row each: a pass over all pairs of them takes much longer."""
    n_rows = n_columns = 8_000
    columns = np.asfortranarray(np.eye(n_rows, n_columns, dtype=np.uint8))
    labels = (np.random.default_rng(0).random(n_rows) < 0.3).astype(np.int32)
    options = {"max_depth": 3, "time_limit": 0.3}
    tests = [np.arange(n_columns, dtype=np.int32), np.array([0], dtype=np.int32)]
    calls = {
        "solve": lambda: _core.solve(columns, labels, ERRORS, None, options),
        "solve_path": lambda: _core.solve_path(columns, labels, ERRORS, None, options),
        "solve_chain": lambda: _core.solve_chain(columns, labels, None, options, 1, 1),
        "solve_front": lambda: _core.solve_front(columns, labels, None, options),
        "multiway": lambda: _core.solve_multiway(columns, labels, ERRORS, None, tests, options),
    }
    found, seconds = seconds_after(0.3, calls[search])
    assert seconds < SOON
    assert found.status in ("time_limit", "optimal")
