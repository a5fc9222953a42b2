"""Solving tasks: labels, rounding, limits, and costs of users that go wrong."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    TaskCertificate,
    Tree,
    solve,
    tasks,
)

rng = np.random.default_rng(1)
X = rng.integers(0, 2, (40, 6))
Y = rng.integers(0, 3, 40)
ONE_HOT = np.eye(3)[Y]


def errors(sums: Any) -> Any:
    return sums.sum(axis=1) - sums.max(axis=1), sums.argmax(axis=1)


def test_a_solution_is_a_tree_and_a_certificate() -> None:
    solution = solve(tasks.Misclassification(), X, Y, max_depth=2)
    assert isinstance(solution.tree, Tree)
    wrong = int((solution.predict(X) != Y).sum())
    assert solution.certificate.cost == wrong
    assert "proven optimal" in str(solution)
    assert solution.apply(X).shape == (40,)


def test_labels_may_be_anything() -> None:
    costs = rng.integers(0, 9, (40, 2))
    solution = solve(tasks.RowCosts(costs, labels=["wait", "act"]), X, max_depth=1)
    assert set(solution.predict(X)) <= {"wait", "act"}


def test_a_leaf_cost_without_predictions_still_has_leaves() -> None:
    task = tasks.LeafCost(ONE_HOT, lambda sums: errors(sums)[0], bounds="superadditive")
    solution = solve(task, X, max_depth=2)
    assert (
        float(solution.certificate.cost)
        == solve(tasks.Misclassification(), X, Y, max_depth=2).certificate.cost
    )


def test_float_costs_carry_their_rounding() -> None:
    costs = rng.random((40, 3))
    certificate = solve(tasks.RowCosts(costs), X, max_depth=2).certificate
    assert 0 < float(certificate.rounding) < 1e-6
    short = solve(tasks.RowCosts(np.round(costs, 3)), X, max_depth=2).certificate
    assert short.rounding == 0


def test_certificates_survive_json_and_pickle() -> None:
    certificate = solve(tasks.SquaredError(), X, Y / 3, max_depth=2).certificate
    assert TaskCertificate.from_json(certificate.to_json()) == certificate
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_a_path_of_a_task() -> None:
    solution = solve(tasks.RowCosts(1 - ONE_HOT), X, max_depth=2, path=True)
    assert solution.path is not None
    assert solution.path[-1].errors == solution.certificate.cost


def test_a_callback_can_stop_the_search() -> None:
    big = rng.integers(0, 2, (300, 40))
    costs = rng.random((300, 4))
    with pytest.warns(OptimalityWarning, match="callback stopped"):
        solution = solve(tasks.RowCosts(costs), big, max_depth=5, callback=lambda _: True)
    assert solution.certificate.lower_bound <= solution.certificate.cost
    assert solution.certificate.status == "interrupted"


def test_complexity_per_leaf_adds_one_penalty() -> None:
    by_split = solve(tasks.RowCosts(1 - ONE_HOT), X, complexity=0.02)
    by_leaf = solve(tasks.RowCosts(1 - ONE_HOT), X, complexity=0.02, complexity_per="leaf")
    assert (
        by_leaf.certificate.cost - by_split.certificate.cost == by_split.certificate.split_penalty
    )
    assert by_leaf.certificate.leaf_cost == by_split.certificate.leaf_cost


def test_costs_of_users_that_go_wrong_are_named() -> None:
    def solved(cost: Any) -> Any:
        return solve(tasks.LeafCost(ONE_HOT, cost), X, max_depth=2)

    with pytest.raises(ValueError, match=r"costs of shape \(\d+,\)"):
        solved(lambda sums: sums)
    with pytest.raises(ValueError, match=r"predictions of shape \(\d+,\)"):
        solved(lambda sums: (sums.min(axis=1), np.zeros(1 + len(sums))))
    with pytest.raises(ValueError, match="is not a finite number"):
        solved(lambda sums: np.where(sums[:, 0] < 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="must not be negative"):
        solved(lambda sums: sums.min(axis=1) - 3.0)
    with pytest.raises(ValueError, match="must return numbers"):
        solved(lambda sums: np.array(["a"] * len(sums)))
    with pytest.raises(ValueError, match="costs, or costs and predictions; got 3"):
        solved(lambda sums: (sums, sums, sums))
    with pytest.raises(ZeroDivisionError):
        solved(lambda sums: 1 / 0)


def test_bad_calls_are_refused() -> None:
    with pytest.raises(TypeError, match=r"task must be a certree\.tasks\.Task"):
        solve("accuracy", X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="statistics must have shape 40 x any"):
        solve(tasks.LeafCost(ONE_HOT[:5], errors), X)
    worse = tasks.LeafCost(ONE_HOT, errors, bounds=tasks.Laws(True, np.full(40, -1.0)))
    with pytest.raises(ValueError, match=r"worst_change\[0\] = -1.0 must not be negative"):
        solve(worse, X)
    with pytest.raises(ValueError, match="labels of the columns of costs must be distinct"):
        solve(tasks.RowCosts(ONE_HOT, labels=[1, 1, 2]), X)
    with pytest.raises(ValueError, match="as many labels are needed"):
        solve(tasks.RowCosts(ONE_HOT, labels=[1, 2]), X)
    with pytest.raises(ValueError, match="costs must have at least one column"):
        solve(tasks.RowCosts(np.zeros((40, 0))), X)
    with pytest.raises(ValueError, match=r"time\[1\] = 0.0 is not positive"):
        tasks.exponential_survival([1, 0], [1, 1])
    with pytest.raises(ValueError, match=r"event\[0\] = 2.0 is neither"):
        tasks.exponential_survival([1, 1], [2, 1])
    with pytest.raises(ValueError, match="quantile must lie strictly"):
        tasks.pinball([1, 2], 1.0)
    with pytest.raises(ValueError, match="test_costs need a task with costs per label"):
        solve(tasks.SquaredError(), X, Y, test_costs=[1] * 6)


@pytest.mark.parametrize("weights", [None, [2] * 30 + [1] * 30, [0] * 5 + [0.25] * 55])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 2.5}])
def test_class_weights_are_those_of_the_classifier(weights: Any, class_weight: Any) -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (60, 4))
    y = X[:, 0] ^ (rng.random(60) < 0.2)
    task = tasks.Misclassification(class_weight)
    settings = {"max_depth": 2, "complexity": 0.02}
    found = solve(task, X, y, sample_weight=weights, **settings).certificate
    twin = OptimalTreeClassifier(class_weight=class_weight, **settings).fit(X, y, weights)
    assert found.rounding == 0
    assert found.cost == twin.certificate_.cost
    assert found.objective == twin.certificate_.objective
    with pytest.raises(ValueError, match="class_weight gives weight zero to every class"):
        solve(tasks.Misclassification({0: 0, 1: 0}), X, y)
