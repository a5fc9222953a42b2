"""Certificates of tasks are recomputed from the data, and false ones are found out."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    Measurement,
    OptimalTreeRegressor,
    PolicyTree,
    solve,
    tasks,
    verify,
)

rng = np.random.default_rng(5)
X = rng.integers(0, 2, (24, 4))
Y = ((X[:, 0] & X[:, 1]) | (rng.random(24) < 0.2)).astype(int)
WEIGHTS = rng.integers(1, 4, 24) / 2
REWARDS = rng.normal(size=(24, 3))
MATRIX = [[0, 1.5], [4, 0]]
PRICES = [
    Measurement([0, 1], 0.2, group="a", discounted=0.1),
    Measurement(2, 0.3, group="a", discounted=0.05),
    Measurement(3, 0.25),
]


def _cases() -> list[tuple[Any, Any, dict[str, Any]]]:
    cost = {"max_depth": 2, "complexity": 0.01}
    return [
        (CostSensitiveTreeClassifier(MATRIX, **cost), Y, {}),
        (CostSensitiveTreeClassifier(max_depth=2, complexity_per="leaf", complexity=0.1), Y, {}),
        (CostSensitiveTreeClassifier(MATRIX, PRICES, **cost), Y, {}),
        (CostSensitiveTreeClassifier(max_splits=2), None, {"costs": -REWARDS}),
        (PolicyTree(max_depth=2), REWARDS, {}),
        (PolicyTree(max_depth=2, maximise=False, min_samples_leaf=4), REWARDS, {}),
        (OptimalTreeRegressor(max_depth=2, complexity=0.02), REWARDS[:, 0], {}),
        (OptimalTreeRegressor(max_splits=2, max_depth=2), np.round(REWARDS[:, 0], 2), {}),
    ]


@pytest.mark.parametrize(("model", "y", "extra"), _cases())
def test_certificates_hold(model: Any, y: Any, extra: dict[str, Any]) -> None:
    model.fit(X, y, sample_weight=WEIGHTS, **extra)
    report = verify(model, X, y, WEIGHTS, exhaustive=True, **extra)
    assert report
    assert "trying all trees" in str(report)


@pytest.mark.parametrize(("model", "y", "extra"), _cases())
def test_false_certificates_are_found_out(model: Any, y: Any, extra: dict[str, Any]) -> None:
    model.fit(X, y, sample_weight=WEIGHTS, **extra)
    true = model.certificate_
    # A leaf cost that is too small, a bound that is too high, an objective that is made up.
    less = true.cost - max(true.cost, 1) / 10
    for change, message in (
        ({"cost": less, "upper_bound": less, "lower_bound": less, "history": ()}, "cost"),
        ({"leaf_cost": true.leaf_cost + 1}, "leaf cost"),
        ({"objective": true.objective + 0.1}, "objective"),
        ({"n_splits": true.n_splits + 1}, "number of splits"),
    ):
        model.certificate_ = replace(true, **change)
        with pytest.raises(CertificateError, match=message):
            verify(model, X, y, WEIGHTS, **extra)


def test_other_data_are_found_out() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, PRICES, max_depth=2).fit(X, Y)
    with pytest.raises(CertificateError, match="cost"):
        verify(model, X, 1 - Y)
    with pytest.raises(CertificateError, match="labels of the tree"):
        verify(model, X, Y + 1)
    with pytest.raises(CertificateError, match="total weight"):
        verify(model, X, Y, WEIGHTS)
    with pytest.raises(CertificateError, match="columns"):
        verify(model, X[:, :3], Y)


def test_a_proof_that_is_too_large_is_refused() -> None:
    table = rng.integers(0, 2, (100, 60))
    model = OptimalTreeRegressor(max_depth=4).fit(table, table[:, 0] + table[:, 1])
    with pytest.raises(ValueError, match="too large for a proof by brute force"):
        verify(model, table, table[:, 0] + table[:, 1], exhaustive=True)


def test_a_certificate_cannot_claim_more_leeway_than_rounding_takes() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, PRICES, max_depth=2).fit(X, Y)
    true = model.certificate_
    nothing = {"cost": 1, "upper_bound": 1, "lower_bound": 1, "leaf_cost": 1, "history": ()}
    for change, message in (
        ({"rounding": 10**6, **nothing, "objective": 1 / 24, "test_cost": 0}, "rounding: certif"),
        ({"rounding": true.rounding + 1}, "rounding: certified"),
        ({"unit": Fraction(1, 7)}, "unit: certified"),
        ({"task": "reward"}, "task: certified 'reward', recomputed 'cost'"),
        ({"weight_quantum": Fraction(1, 9)}, "weight quantum: certified"),
        ({"test_cost": true.test_cost + 1}, "test cost"),
        ({"total_weight": 25}, "total weight"),
    ):
        model.certificate_ = replace(true, **change)
        with pytest.raises(CertificateError, match=message):
            verify(model, X, Y, exhaustive=True)


def test_leaf_cost_test_cost_and_penalty_add_up() -> None:
    weights = rng.random(24)
    model = CostSensitiveTreeClassifier(MATRIX, PRICES, max_depth=2, complexity=0.01)
    for sample_weight in (None, WEIGHTS, weights):
        found = model.fit(X, Y, sample_weight).certificate_
        assert found.test_cost > 0
        penalty = found.n_splits * found.split_penalty
        assert found.leaf_cost + found.test_cost + penalty == found.cost
        paid = model.test_cost(X)
        total = paid.sum() if sample_weight is None else sample_weight @ paid
        assert float(found.test_cost) == pytest.approx(float(total), rel=1e-5)
        assert "for tests" in str(found)
        assert type(found).from_dict(found.to_dict()) == found
        assert verify(model, X, Y, sample_weight, exhaustive=True)


def _solved() -> list[tuple[Any, Any]]:
    one_hot = np.eye(2, dtype=int)[Y]
    return [
        (tasks.Misclassification(), Y),
        (tasks.Misclassification({0: 1, 1: 2.5}), Y),
        (tasks.Misclassification("balanced"), Y),
        (tasks.CostMatrix(MATRIX), Y),
        (tasks.RowCosts(REWARDS, labels=["a", "b", "c"]), None),
        (tasks.Rewards(REWARDS), None),
        (tasks.Rewards(REWARDS, maximise=False), None),
        (tasks.SquaredError(), REWARDS[:, 0]),
        (tasks.LeafCost(one_hot, lambda s: (s.min(axis=1), s.argmax(axis=1))), None),
        (tasks.LeafCost(one_hot, lambda s: s.min(axis=1) / 3, bounds="superadditive"), None),
        (tasks.entropy(Y), None),
        (tasks.poisson_deviance(Y + 1), None),
        (tasks.pinball(REWARDS[:, 1]), None),
    ]


@pytest.mark.parametrize("weights", [None, WEIGHTS, np.sqrt(WEIGHTS)])
@pytest.mark.parametrize(("task", "y"), _solved())
def test_solutions_are_verified(task: Any, y: Any, weights: Any) -> None:
    solution = solve(task, X, y, sample_weight=weights, max_depth=2, complexity=0.01)
    assert verify(solution, X, y, weights, exhaustive=True)
    true = solution.certificate
    for change, message in (
        ({"leaf_cost": true.leaf_cost + 1}, "leaf cost"),
        ({"rounding": true.rounding + 1}, "rounding"),
        ({"task": "other"}, "task"),
    ):
        with pytest.raises(CertificateError, match=message):
            verify(replace(solution, certificate=replace(true, **change)), X, y, weights)


def test_solutions_leave_functions_behind_when_pickled() -> None:
    task = tasks.entropy(Y)
    solution = solve(task, X, max_depth=2)
    again = pickle.loads(pickle.dumps(solution))
    assert again.certificate == solution.certificate
    assert verify(again, X, task=task)
    with pytest.raises(ValueError, match=r"pass it as verify\(..., task=...\)"):
        verify(again, X)
    with pytest.raises(CertificateError, match="task: certified 'entropy', recomputed 'gini'"):
        verify(again, X, task=tasks.gini(Y))


@pytest.mark.parametrize("scale", [1e-8, 1e-10, 1e-100])
def test_a_target_of_tiny_variance_is_verified(scale):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (40, 3)), rng.normal(size=40) * scale
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert verify(model, X, y)
