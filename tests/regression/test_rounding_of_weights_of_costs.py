"""Rounded weights of rows with large costs were not part of what a certificate calls rounding."""

from fractions import Fraction

import numpy as np
import pytest

from certree import solve, tasks


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", [tasks.RowCosts, tasks.Rewards])
def test_the_cost_under_the_given_weights_lies_within_the_rounding(seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (40, 4))
    costs = rng.integers(-1, 2, (40, 2)) * 1_000_000.0
    weights = rng.random(40)
    found = solve(kind(costs), X, sample_weight=weights, max_depth=2)
    chosen = costs[np.arange(40), found.predict(X).astype(int)]
    if kind is tasks.Rewards:
        chosen = costs.max(axis=1) - chosen
    true = sum(
        Fraction(w) * Fraction(c) for w, c in zip(weights.tolist(), chosen.tolist(), strict=True)
    )
    assert abs(true - found.certificate.cost) <= found.certificate.rounding
