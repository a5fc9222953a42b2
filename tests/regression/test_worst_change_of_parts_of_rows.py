"""The worst change by a row was multiplied by its weight, also if the weight was not an integer."""

import numpy as np
import pytest

from certree import solve, tasks

X = [
    [1, 1, 1, 0, 1],
    [0, 0, 0, 1, 1],
    [1, 1, 0, 1, 0],
    [1, 0, 1, 1, 1],
    [0, 1, 0, 1, 1],
    [1, 1, 1, 1, 1],
    [0, 0, 0, 0, 0],
    [0, 1, 0, 0, 1],
]
CLASSES = np.eye(2)[[0, 1, 1, 0, 0, 0, 0, 1]]


def _mixed(sums):
    return ((sums[:, 0] > 0) & (sums[:, 1] > 0)).astype(float)


@pytest.mark.parametrize(
    "weights", [[1.0, 0.02, 1.0, 0.02, 0.02, 0.01, 0.02, 0.02], [3, 1, 2, 1, 1, 2, 1, 1]]
)
def test_the_law_changes_no_optimum(weights):
    costs = [
        solve(
            tasks.LeafCost(CLASSES, _mixed, bounds=bounds),
            X,
            sample_weight=weights,
            max_depth=3,
            complexity=0.05,
            search="depth-first",
        ).certificate.cost
        for bounds in (None, tasks.Laws(worst_change=np.ones(8)))
    ]
    assert costs[0] == pytest.approx(costs[1], abs=1e-6)
