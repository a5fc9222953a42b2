"""A monotone metric within limits that leave nothing but all errors, with a penalty.

The region that cuts leave was one point, and its lower border was taken to be empty.
"""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from certree import OptimalTreeClassifier, tasks, verify

X, Y, WEIGHTS = [["b"], ["d"]], [1, 0], [0.92, 0.67]


@pytest.mark.parametrize("objective", ["gmean", "macro_f1"])
@pytest.mark.parametrize("complexity, best", [(0, 0), (0.02, -0.02)])
def test_the_tree_with_all_errors_is_found(objective: str, complexity: float, best: float) -> None:
    limits = [
        tasks.Limit("first", {0: [F(1), F(-1, 3)], 1: [F(3), F(1)]}, at_most=F(159, 100)),
        tasks.Limit("second", {1: [F(1), F(1)]}, at_least=F(53, 400)),
    ]
    model = OptimalTreeClassifier(2, objective=objective, limits=limits, complexity=complexity)
    model.fit(X, Y, sample_weight=WEIGHTS)
    assert model.certificate_.is_optimal
    assert model.certificate_.objective == best
    assert verify(model, X, Y, WEIGHTS, exhaustive=True)
