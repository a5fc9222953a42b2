"""Deviances of large numbers by weights of few units: each unit of a weight is rounded.

`verify` allowed the rounding of one number per row, and refused honest trees of status "precision".
"""

from __future__ import annotations

import numpy as np
import pytest

from certree import OptimalTreeRegressor, verify

X = np.array([[1, 0, 1, 2, 0, 3, 2, 2, 1, 1, 3, 1], [1, 3, 0, 3, 1, 2, 0, 2, 3, 2, 3, 0]]).T
WEIGHTS = [2.3, 1.47, 1.02, 0.96, 1.42, 2.2, 0.87, 2.74, 1.13, 1.19, 2.65, 0.85]
PARTS = [2.3721938, 6.2175268, 1.3279314, 7.0859933, 7.8445293, 2.8394077, 9.9826369, 4.4235736]
TARGET = 1e9 + np.array([*PARTS, 4.4030515, 4.5357392, 3.0361129, 7.6002243])


@pytest.mark.parametrize("criterion", ["poisson", "gamma"])
@pytest.mark.parametrize("size", [1, 10, 1e3])
def test_numbers_that_are_rounded_once_for_every_unit_of_weight_pass(
    criterion: str, size: float
) -> None:
    model = OptimalTreeRegressor(2, criterion=criterion)
    model.fit(X, TARGET * size, sample_weight=WEIGHTS)
    assert verify(model, X, TARGET * size, sample_weight=WEIGHTS)
