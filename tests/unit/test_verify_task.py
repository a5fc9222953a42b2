"""Certificates of tasks are recomputed from the data, and false ones are found out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    Measurement,
    OptimalTreeRegressor,
    PolicyTree,
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
    with pytest.raises(CertificateError, match=r"labels .* does not know"):
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


@pytest.mark.parametrize("scale", [1e-8, 1e-10, 1e-100])
def test_a_target_of_tiny_variance_is_verified(scale):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (40, 3)), rng.normal(size=40) * scale
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert verify(model, X, y)
