"""Limits, gaps, interruptions, and what can be seen of a search while it runs."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.stopping import limit_work, stopping

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    Progress,
    engine,
    verify,
)
from certree.fitting import budgets
from certree.fitting.budgets import memory_bytes, open_call, processor_count, thread_count
from certree.fitting.fit import find
from certree.fitting.request import Request


def noise(n_rows: int, n_columns: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n_rows, n_columns)), rng.integers(0, 2, n_rows)


HARD = noise(1500, 90)


# Stops after a fixed amount of work, so that the tests do not depend on the machine.
WorkLimited = stopping(OptimalTreeClassifier, 1)


# ---- reading limits ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, size",
    [
        ("2GB", 2 * 10**9),
        ("512MB", 512 * 10**6),
        ("1.5GiB", 3 * 2**29),
        ("100 kb", 10**5),
        (".5 MiB", 2**19),
        ("4096", 4096),
        ("64b", 64),
        (123, 123),
        (np.int64(5), 5),
        (None, None),
    ],
)
def test_memory_is_read_with_its_unit(text: Any, size: int | None) -> None:
    assert memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "2 potatoes", "-1GB", "1e3", "two GB", "Auto"])
def test_memory_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"memory_limit=.* is not a size"):
        memory_bytes(text)


def test_memory_must_be_positive_and_of_the_right_type() -> None:
    for size in (0, -5, "0GB"):
        with pytest.raises(ValueError, match="memory_limit must be more than 0 bytes"):
            memory_bytes(size)
    for wrong in (1.5, True, [1]):
        with pytest.raises(TypeError, match="memory_limit must be an integer"):
            memory_bytes(wrong)


def test_auto_is_half_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "machine_memory", lambda: 1000)
    assert memory_bytes("auto") == 500
    monkeypatch.setattr(budgets, "machine_memory", lambda: None)
    assert memory_bytes("auto") is None


def test_the_limit_of_the_control_group_counts(tmp_path: Any, monkeypatch: Any) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    monkeypatch.setattr(budgets, "_GROUP_LIMITS", (str(limit), str(tmp_path / "absent")))
    physical = budgets.machine_memory.__wrapped__()
    assert physical is None or physical > 2**20
    limit.write_text("1048576\n")
    assert budgets.machine_memory.__wrapped__() == 2**20


def test_threads_are_counted_as_in_scikit_learn() -> None:
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) == processor_count()
    assert thread_count(-2) == max(1, processor_count() - 1)
    assert thread_count(-(10**6)) == 1


# ---- stopping ----------------------------------------------------------------------------------


def test_a_work_limit_keeps_the_incumbent_with_a_valid_bound_and_warns() -> None:
    X, y = noise(120, 12)
    best = OptimalTreeClassifier(max_depth=4).fit(X, y).certificate_.cost
    model = WorkLimited(max_depth=4)
    with pytest.warns(OptimalityWarning, match=r"work_limit.* so the gap is \d+ \(.*% of the rows"):
        model.fit(X, y)
    found = model.certificate_
    assert found.status == "work_limit"
    assert found.lower_bound <= best <= found.cost
    assert found.gap == found.cost - found.lower_bound > 0
    assert verify(model, X, y)


def test_the_warning_points_to_the_line_that_called_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit_work(monkeypatch, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        OptimalTreeClassifier(max_depth=4).fit(*noise(120, 12))
    assert [w.filename for w in caught if w.category is OptimalityWarning] == [__file__]


def test_a_time_limit_is_kept() -> None:
    model = OptimalTreeClassifier(max_depth=8, time_limit=0.3)
    start = time.perf_counter()
    with pytest.warns(OptimalityWarning, match=r"time_limit=0\.3 .*Raise time_limit"):
        model.fit(*HARD)
    assert time.perf_counter() - start < 0.3 + 0.5
    assert model.certificate_.status == "time_limit"
    assert 0 <= model.certificate_.lower_bound < model.certificate_.cost
    assert verify(model, *HARD)


def test_little_memory_costs_time_but_not_the_optimum() -> None:
    X, y = noise(300, 14)
    plenty = OptimalTreeClassifier(max_depth=4).fit(X, y)
    scarce = OptimalTreeClassifier(max_depth=4, memory_limit="1MB").fit(X, y)
    assert scarce.certificate_.status == "optimal"
    assert scarce.tree_ == plenty.tree_


def test_a_proven_value_is_optimal_whatever_stopped_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A limit may end the choice among trees of the best value, which is no news for the user.
    solve = engine.solve
    monkeypatch.setattr(
        engine, "solve", lambda *arguments: replace(solve(*arguments), status="time_limit")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OptimalTreeClassifier(max_depth=2).fit(*noise(50, 5))
    assert model.certificate_.status == "optimal"


def test_no_warning_when_the_tree_is_proven_optimal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OptimalTreeClassifier(max_depth=2).fit(*noise(60, 6))


def test_an_accepted_gap_is_no_reason_to_warn() -> None:
    X, y = noise(200, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OptimalTreeClassifier(max_depth=4, gap=40).fit(X, y)
    best = OptimalTreeClassifier(max_depth=4).fit(X, y).certificate_.cost
    assert model.certificate_.gap <= 40
    assert model.certificate_.lower_bound <= best <= model.certificate_.cost <= best + 40
    assert model.certificate_.status == ("gap" if model.certificate_.gap else "optimal")
    assert verify(model, X, y)


def test_the_gap_is_in_units_of_the_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[engine.Options] = []
    solve = engine.solve

    def spy(problem: Any, options: engine.Options, callback: Any) -> Any:
        seen.append(options)
        return solve(problem, options, callback)

    monkeypatch.setattr(engine, "solve", spy)
    X, y = noise(50, 4)
    OptimalTreeClassifier(max_depth=1, gap=2.5).fit(X, y)
    OptimalTreeClassifier(max_depth=1, gap=2.5).fit(X, y, np.where(y == 1, 0.2, 0.1))
    # 50 rows at 0.001 each are a penalty of 1/20: errors count 20 units each.
    OptimalTreeClassifier(max_depth=1, gap=2.5, complexity=0.001).fit(X, y)
    assert [options.gap for options in seen] == [2, 25, 50]


def test_limits_reach_the_engine() -> None:
    model = OptimalTreeClassifier(
        time_limit=None, memory_limit="1MB", n_jobs=2, search="best-first"
    )
    request = Request.of(model, [[0], [1]], [0, 1])
    statement = find(request).statement
    with open_call(request.by, request.budget):
        options = request.options(statement).to_core()
    assert options["time_limit"] == 0.0
    assert options["memory_limit"] == 10**6
    assert options["threads"] == 2
    assert options["search"] == "best-first"
    model.set_params(max_depth=None, max_splits=None, time_limit=5.0)
    request = Request.of(model, [[0], [1]], [0, 1])
    with open_call(request.by, request.budget):
        options = request.options(statement, 0.5).to_core()
    assert (options["max_depth"], options["max_splits"]) == (-1, -1)
    assert 0 < options["time_limit"] <= 2.5


# ---- callbacks ---------------------------------------------------------------------------------


def test_a_callback_sees_the_search_in_units_of_cost_and_can_stop_it() -> None:
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return True

    model = OptimalTreeClassifier(max_depth=8, complexity=0.001, time_limit=30)
    with pytest.warns(OptimalityWarning, match="The callback stopped the search"):
        model.fit(*HARD, callback=stop)
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.seconds < 20
    assert seen
    for progress in seen:
        assert progress.gap == progress.upper_bound - progress.lower_bound >= 0
        assert progress.upper_bound >= model.certificate_.cost
        assert progress.seconds >= 0
        assert progress.work >= 0
    assert verify(model, *HARD)


def test_a_callback_that_answers_nothing_changes_nothing() -> None:
    X, y = noise(80, 8)
    watched = OptimalTreeClassifier(max_depth=3).fit(X, y, callback=lambda progress: None)
    plain = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert watched.tree_ == plain.tree_
    assert watched.certificate_.status == "optimal"


def test_what_a_callback_raises_is_raised_by_fit() -> None:
    def fail(progress: Progress) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        OptimalTreeClassifier(max_depth=8, time_limit=30).fit(*HARD, callback=fail)


def test_a_gap_beyond_all_integers_accepts_any_tree() -> None:
    model = OptimalTreeClassifier(max_depth=8, gap=1e300).fit(*HARD)
    assert model.certificate_.status == "gap"


def test_limits_beyond_all_integers_are_no_limits() -> None:
    X, y = [[1], [2], [3]], [0, 1, 0]
    huge = OptimalTreeClassifier(max_depth=10**30, max_splits=10**30, memory_limit=10**30)
    assert huge.fit(X, y).score(X, y) == 1.0
    assert OptimalTreeClassifier(min_samples_leaf=10**30).fit(X, y).tree_.n_splits == 0


@pytest.mark.usefixtures("listens_to_ctrl_c")
def test_ctrl_c_keeps_the_incumbent() -> None:
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    model = OptimalTreeClassifier(max_depth=8, time_limit=30)
    try:
        with pytest.warns(OptimalityWarning, match="The search was interrupted"):
            model.fit(*HARD)
    finally:
        timer.cancel()
    assert model.certificate_.status == "interrupted"
    assert model.certificate_.seconds < 10
    assert verify(model, *HARD)


def test_ctrl_c_within_a_callback_keeps_the_incumbent() -> None:
    def interrupt(progress: Progress) -> bool:
        raise KeyboardInterrupt

    model = OptimalTreeClassifier(max_depth=8, time_limit=30)
    with pytest.warns(OptimalityWarning, match="The search was interrupted"):
        model.fit(*HARD, callback=interrupt)
    assert model.certificate_.status == "interrupted"
