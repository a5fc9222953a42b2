"""A path has no two entries of the same cost, and verify accepts it.

Logarithms leave a last digit in the units of the search. Costs below zero are stated as zero, and
the path of small problems had a second entry of cost zero, which verify refused.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeRegressor, SurvivalTree, verify

X = np.array([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize("rows", [[1, 1, 2], [2, 1, 1], [1, 2, 2], [2, 3, 3], [3, 3, 2]])
@pytest.mark.parametrize("kind", ["gamma", "poisson", "survival"])
@pytest.mark.parametrize("weights", [None, [2, 1, 3], [3, 1, 2]])
def test_costs_fall_along_the_path(kind: str, rows: list[int], weights: Any) -> None:
    y = np.array(rows, float)
    if kind == "survival":
        model: Any = SurvivalTree(2)
        y = np.column_stack([y, np.ones(3)])
    else:
        model = OptimalTreeRegressor(2, criterion=kind)
    model.fit(X, y, sample_weight=weights, path=True)
    assert all(one.errors > other.errors for one, other in pairwise(model.path_))
    assert verify(model, X, y, weights, exhaustive=True)
