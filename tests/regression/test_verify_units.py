"""Units and roundings of certificates that `verify` once accepted, or could not compute with."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    PolicyTree,
    verify,
)

rng = np.random.default_rng(909)
N = 40
X = np.column_stack([rng.integers(0, 4, N), rng.integers(0, 3, N)])
Y = rng.integers(0, 2, N)
WEIGHTS = rng.uniform(0.1, 3, N)
GAINS = rng.normal(size=(N, 3))

ROUNDED = {
    "capacity": CostSensitiveTreeClassifier([[0, 1], [3, 0]], capacity={1: 0.4}, max_depth=2),
    "weights": CostSensitiveTreeClassifier([[0, 1], [3, 0]], max_depth=2),
    "prices": CostSensitiveTreeClassifier([[0, 1], [3, 0]], max_depth=2, test_costs=[0.01, 0.1]),
    "several outputs": OptimalTreeClassifier(2),
}


def fitted(name: str) -> tuple[Any, Any]:
    y = np.column_stack([Y, Y ^ (X[:, 0] > 1)]) if name == "several outputs" else Y
    return ROUNDED[name].fit(X, y, sample_weight=WEIGHTS), y


def forged(model: Any, **changes: Any) -> Any:
    model.certificate_ = replace(model.certificate_, **changes)
    return model


@pytest.mark.parametrize("name", list(ROUNDED))
@pytest.mark.parametrize("unit", [Fraction(8546575975328543, 9736479047680000), Fraction(1), 10**9])
def test_no_unit_passes_of_which_costs_by_rounded_weights_are_no_multiples(
    name: str, unit: Any
) -> None:
    model, y = fitted(name)
    assert model.certificate_.rounding > 0
    assert verify(model, X, y, sample_weight=WEIGHTS, exhaustive=True)
    with pytest.raises(CertificateError, match="unit: certified"):
        verify(forged(model, unit=unit), X, y, sample_weight=WEIGHTS)


def test_no_unit_passes_of_which_rounded_rewards_are_no_multiples() -> None:
    model = PolicyTree(max_depth=2).fit_rewards(X, GAINS)
    assert model.certificate_.rounding > 0
    assert verify(model, X, GAINS)
    with pytest.raises(CertificateError, match="unit: certified"):
        verify(forged(model, unit=Fraction(1, 7)), X, GAINS)


def test_a_negative_rounding_is_impossible_for_every_model() -> None:
    y = rng.normal(size=N)
    model = LinearTreeRegressor(max_depth=1, leaf_model="ridge", ridge=1).fit(X, y)
    for rounding in (-1, model.certificate_.rounding - 1):
        with pytest.raises(CertificateError, match="impossible values: rounding"):
            verify(forged(model, rounding=rounding), X, y)
