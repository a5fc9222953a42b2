"""A leaf of little weight predicted what its rounded sums say, which `verify` refused."""

from __future__ import annotations

import numpy as np
import pytest

from certree import solve, tasks, verify


@pytest.mark.filterwarnings("ignore")
def test_leaves_predict_by_the_weights_as_given() -> None:
    X, events = np.array([[0], [0], [1], [1]]), np.array([1, 1, 900, 900])
    for seed in range(20):
        weights = np.random.default_rng(seed).random(4) * [1e2, 1e2, 1e-4, 1e-4]
        found = solve(tasks.poisson_deviance(events), X, sample_weight=weights, max_depth=1)
        assert found.tree.n_splits == 1
        assert abs(found.predict([[1]])[0] - 900) < 1e-9
        assert verify(found, X, sample_weight=weights)
