"""Where all trees cost the same, certificates stated a rounding that `verify` refused.

Rows of one class, and costs that are the same for every label, leave nothing to choose. Real
weights must not make a difference: the cost is known exactly. And where rounding
swallows the entropy of all rows, that is not proven to be optimal.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import CostSensitiveTreeClassifier, PolicyTree, solve, tasks, verify

N_ROWS = 6


def _weights() -> Iterator[Any]:
    rng = np.random.default_rng(3)
    yield rng.random(N_ROWS)
    yield rng.random(N_ROWS) * 10.0 ** rng.integers(-12, 12, N_ROWS)
    yield [10 ** int(power) for power in rng.integers(0, 30, N_ROWS)]
    yield [Fraction(int(a), int(b)) for a, b in rng.integers(1, 10**6, (N_ROWS, 2))]


X = np.random.default_rng(4).integers(0, 2, (N_ROWS, 2))
ONES = np.ones(N_ROWS, dtype=int)


def _exactly(weights: Any) -> Fraction:
    numbers = weights.tolist() if isinstance(weights, np.ndarray) else weights
    return sum((Fraction(str(number)) for number in numbers), Fraction(0))


@pytest.mark.parametrize("weights", list(_weights()), ids=["reals", "wide", "huge", "fractions"])
def test_one_class_is_certified_and_verified_without_rounding(weights: Any) -> None:
    errors = tasks.Misclassification()
    for task in (errors, errors & tasks.Limit("ones", {1: 1}, at_least=0)):
        found = solve(task, X, ONES, sample_weight=weights, max_depth=2)
        assert (found.certificate.cost, found.certificate.rounding) == (0, 0)
        assert verify(found, X, ONES, weights)
    for task in (tasks.entropy(ONES), tasks.gini(ONES)):
        assert verify(solve(task, X, sample_weight=weights, max_depth=2), X, sample_weight=weights)


@pytest.mark.parametrize("weights", list(_weights()), ids=["reals", "wide", "huge", "fractions"])
def test_labels_that_cost_the_same_cost_exactly_that(weights: Any) -> None:
    rows = np.full((N_ROWS, 3), 0.1)
    found = solve(tasks.RowCosts(rows), X, sample_weight=weights, max_depth=2)
    assert (found.certificate.cost, found.certificate.rounding) == (_exactly(weights) / 10, 0)
    assert verify(found, X, sample_weight=weights)
    for policy in (PolicyTree(max_depth=2), PolicyTree(max_depth=2, capacity={1: 0.5})):
        assert verify(policy.fit_rewards(X, rows, weights), X, rows, weights)
    y = np.array([0, 1, 1, 1, 1, 1])
    limited = CostSensitiveTreeClassifier(np.full((2, 2), 0.3), capacity={1: 0.5}, max_depth=2)
    assert verify(limited.fit(X, y, weights), X, y, weights)


@pytest.mark.parametrize("task", [tasks.entropy, tasks.gini])
def test_nothing_is_optimal_where_rounding_swallows_it_all(task: Any) -> None:
    y, weights = np.array([1, 0, 0]), np.array([3.8e-9, 1.7e-7, 7.7e9])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = solve(task(y), [[0], [1], [1]], sample_weight=weights, max_depth=1)
    assert found.certificate.status == "precision"
    assert verify(found, [[0], [1], [1]], sample_weight=weights)


def test_a_single_row_passes_whatever_it_weighs() -> None:
    for weight in (0.3, 1e-9, 7e9):
        for task in (tasks.entropy([1]), tasks.exponential_survival([0.4], [1])):
            found = solve(task, [[1]], sample_weight=[weight], max_depth=1)
            assert verify(found, [[1]], sample_weight=[weight])


def test_costs_a_little_below_nothing_are_nothing() -> None:
    """The last digits of float64 once made the impurity of one class negative, and refused."""
    for seed in range(30):
        weights = np.random.default_rng(seed).random(N_ROWS)
        found = solve(tasks.gini(ONES), X, sample_weight=weights, max_depth=2)
        assert verify(found, X, sample_weight=weights)
