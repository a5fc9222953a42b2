"""Rates of fair trees are exact whatever rows weigh."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, verify


def rates_as_given(model: FairTreeClassifier, X: Any, a: Any, weights: Any) -> list[Fraction]:
    """Return the selection rates of two groups by weights as they are written."""
    predicted = model.predict(X)
    exact = [Fraction(str(weight)) for weight in np.asarray(weights).tolist()]
    rates = []
    for group in (0, 1):
        members = [i for i in range(len(a)) if a[i] == group]
        chosen = sum(exact[i] for i in members if predicted[i] == 1)
        rates.append(chosen / sum(exact[i] for i in members))
    return rates


def test_large_whole_weights_are_not_rounded() -> None:
    """A tree that is one part in 400 million beyond the tolerance is beyond it."""
    X = np.array([[1], [0], [1], [0]])
    a, weights = np.array([0, 0, 1, 1]), [10**8 + 1, 10**8, 10**8, 10**8]
    model = FairTreeClassifier(tolerance=0, max_depth=1)
    model.fit(X, X[:, 0], sensitive_features=a, sample_weight=weights)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.weight_quantum is None
    assert certificate.cost == 2 * 10**8
    apart = Fraction(10**8 + 1, 2 * 10**8 + 1) - Fraction(1, 2)
    model = FairTreeClassifier(tolerance=apart, max_depth=1)
    model.fit(X, X[:, 0], sensitive_features=a, sample_weight=weights)
    assert model.certificate_.cost == 0
    assert model.certificate_.disparity == apart


def test_a_certificate_tells_that_costs_are_rounded_and_rates_are_not() -> None:
    rng = np.random.default_rng(2)
    X, y, a = rng.integers(0, 2, (3, 40, 3))
    model = FairTreeClassifier(max_depth=1, tolerance=0.5)
    model.fit(X, y[:, 0], sensitive_features=a[:, 0], sample_weight=rng.random(40))
    assert re.search(r"weights +rounded to multiples of \S+ in costs", str(model.certificate_))


def test_a_tree_beyond_the_tolerance_by_next_to_nothing_is_not_returned() -> None:
    """Its rates differ by less than one part in 10**15, which 64 bits do not hold."""
    X = np.array([[1], [0], [1], [0]])
    a, weights = np.array([0, 0, 1, 1]), [10**15 - 1, 10**15 - 3, 10**15 - 3, 10**15 - 3]
    model = FairTreeClassifier(tolerance=0, max_depth=1)
    model.fit(X, X[:, 0], sensitive_features=a, sample_weight=weights)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert certificate.disparity == 0 < certificate.lower_bound == certificate.cost
    assert verify(model, X, X[:, 0], weights, sensitive_features=a)


@pytest.mark.parametrize("scale", [1, 10**4, 10**9])
def test_rates_are_those_of_the_weights_as_given(scale: int) -> None:
    """Survey weights: totals whose products exceed 64 bits, and weights with many digits."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (300, 5))
    a, y = rng.integers(0, 2, 300), X[:, 0] | rng.integers(0, 2, 300)
    whole = rng.integers(12_285, 1_484_705, 300) * scale + rng.integers(0, scale, 300)
    for weights in (whole, rng.random(300) * scale):
        for tolerance in ("0", "0.01"):
            model = FairTreeClassifier(tolerance=tolerance, max_depth=3)
            model.fit(X, y, sensitive_features=a, sample_weight=weights)
            first, second = rates_as_given(model, X, a, weights)
            assert model.certificate_.rates == (("selection_rate", (first, second)),)
            assert model.certificate_.disparity == abs(first - second) <= Fraction(tolerance)
            assert model.certificate_.is_optimal
            assert verify(model, X, y, weights, sensitive_features=a)
        curve = model.fairness_curve(X, y, a, weights)
        for one in curve[:5]:
            first, second = rates_as_given(one, X, a, weights)
            assert one.certificate_.disparity == abs(first - second)
            assert verify(one, X, y, weights, sensitive_features=a)


def test_integers_that_floats_do_not_hold_are_weights_of_their_own() -> None:
    """As floats all of these are the same, and the tree that asks is fair."""
    X = np.array([[1], [0], [1], [0]])
    a, weights = np.array([0, 0, 1, 1]), [10**18 + 1, 10**18, 10**18, 10**18]
    model = FairTreeClassifier(tolerance=0, max_depth=1)
    model.fit(X, X[:, 0], sensitive_features=a, sample_weight=weights)
    assert model.certificate_.is_optimal
    first, second = rates_as_given(model, X, a, weights)
    assert model.certificate_.disparity == abs(first - second) == 0
    assert verify(model, X, X[:, 0], weights, sensitive_features=a)
