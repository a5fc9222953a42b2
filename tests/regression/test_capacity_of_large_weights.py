"""Shares of weights whose sum exceeds 64 bits: it wrapped around, and no tree was within it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import PolicyTree


@pytest.mark.parametrize(
    "weights",
    [np.full(10, 2**60), np.full(10, 2**63, dtype=np.uint64), np.full(4, 2**62)],
    ids=["int64", "uint64", "few rows"],
)
def test_a_share_is_one_of_the_exact_sum(weights: Any) -> None:
    """Half of the rows get the treatment that is good for them."""
    n_rows = len(weights)
    X = np.arange(n_rows)[:, None] % 2
    rewards = np.column_stack([np.zeros(n_rows), np.where(X[:, 0] == 1, 1.0, -1.0)])
    model = PolicyTree(max_depth=1, capacity={1: 0.6}).fit_rewards(X, rewards, weights)
    assert model.certificate_.limits[0].at_most == Fraction(3, 5) * sum(weights.tolist())
    assert (model.predict(X) == X[:, 0]).all()
