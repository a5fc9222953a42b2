"""The law checker finds what is wrong with a task, and the rows that show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import check_task, tasks
from certree.tasks import Laws, LeafCost

rng = np.random.default_rng(0)
X = rng.integers(0, 2, (30, 5))
Y = rng.integers(0, 3, 30)
ONE_HOT = np.eye(3, dtype=int)[Y]
TARGET = np.round(rng.normal(size=30), 2)


def errors(sums: Any) -> Any:
    return sums.sum(axis=1) - sums.max(axis=1)


@pytest.mark.parametrize(
    "task",
    [
        tasks.Misclassification(),
        tasks.CostMatrix([[0, 1, 2], [3, 0, 1], [1, 1, 0]]),
        tasks.RowCosts(rng.normal(size=(30, 4)) ** 2),
        tasks.LeafCost(ONE_HOT, errors, bounds="superadditive"),
        tasks.LeafCost(ONE_HOT, errors, bounds=Laws(True, np.ones(30))),
    ],
    ids=lambda task: type(task).__name__,
)
def test_tasks_that_keep_their_laws_pass(task: tasks.Task) -> None:
    report = check_task(task, X, Y)
    assert report, str(report)
    assert "No law was seen to fail" in str(report)


def test_squared_error_passes() -> None:
    assert check_task(tasks.SquaredError(), X, TARGET)


def test_a_state_that_does_not_add_up_is_found() -> None:
    task = LeafCost(lambda rows: [np.median(TARGET[rows]), len(rows)], lambda s: s[:, 1])
    report = check_task(task, X)
    assert report.law == "additive"
    first, second = report.rows
    both = np.concatenate([first, second])
    medians = np.median(TARGET[first]) + np.median(TARGET[second])
    assert not np.isclose(medians, np.median(TARGET[both]))
    assert len(both) <= 4


def test_a_cost_that_depends_on_siblings_is_found() -> None:
    task = LeafCost(ONE_HOT, lambda sums: errors(sums) / sums.sum())
    report = check_task(task, X)
    assert report.law == "context-free"
    assert "by itself" in str(report)
    assert not report


def test_a_cost_with_a_memory_is_found() -> None:
    calls = []

    def cost(sums: Any) -> Any:
        calls.append(1)
        return errors(sums) + float(len(calls))

    assert check_task(LeafCost(ONE_HOT, cost), X).law == "deterministic"


def test_a_cost_that_is_not_superadditive_is_found_with_its_rows() -> None:
    def cost(sums: Any) -> Any:
        return np.sqrt(sums.sum(axis=1))

    report = check_task(LeafCost(ONE_HOT, cost, bounds="superadditive"), X)
    assert report.law == "superadditive"
    first, second = report.rows
    assert np.sqrt(len(first)) + np.sqrt(len(second)) > np.sqrt(len(first) + len(second))
    assert not set(first) & set(second)
    # Undeclared, it is no law.
    undeclared = check_task(LeafCost(ONE_HOT, cost), X)
    assert undeclared
    assert not undeclared.suggestions


def test_a_worst_change_that_is_too_small_is_found() -> None:
    report = check_task(LeafCost(ONE_HOT, errors, bounds=Laws(True, np.full(30, 0.5))), X)
    assert report.law == "worst change"


def test_wrong_shapes_and_numbers_are_found() -> None:
    assert check_task(LeafCost(ONE_HOT, lambda s: s), X).law == "shape"
    assert check_task(LeafCost(ONE_HOT, lambda s: np.log(s[:, 0] * 0.0)), X).law == "finite"
    assert check_task(LeafCost(ONE_HOT, lambda s: -errors(s) - 1), X).law == "not negative"


def test_a_law_that_seems_to_hold_is_suggested() -> None:
    report = check_task(LeafCost(ONE_HOT, errors), X)
    assert report
    assert "bounds='superadditive'" in str(report)


def test_bad_calls_are_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a certree\.tasks\.Task"):
        check_task("accuracy", X)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least two rows"):
        check_task(tasks.LeafCost([[1]], errors), [[1]])
    with pytest.raises(ValueError, match="bounds must be 'superadditive'"):
        LeafCost(ONE_HOT, errors, bounds="monotone")
    with pytest.raises(TypeError, match="cost must be callable"):
        LeafCost(ONE_HOT, 3)  # type: ignore[arg-type]


def test_costs_per_label_and_rewards_may_have_any_sign():
    table = [[1, 0], [0, 3], [2, 1], [-4, -2]]
    for task in (tasks.Rewards(table), tasks.RowCosts(table), tasks.RowCosts([[-1.5, -2]] * 4)):
        assert check_task(task, np.eye(4)).law is None


@pytest.mark.parametrize(
    ("worst", "message"),
    [(np.ones(3), "worst_change must have shape 30, got 3"), (-np.ones(30), r"worst_change\[0\]")],
)
def test_a_wrong_worst_change_is_named(worst: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_task(LeafCost(ONE_HOT, errors, bounds=Laws(True, worst)), X)
