"""Two limits on one sum, beside one from the other side, must both be compared.

A plane and its negative ask for equal values. With two equal planes, one of them inactive, the
other was compared with nothing, and points were dropped that only it wanted.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from certree.engine._scalar import Options
from certree.engine._within_limits import LimitedProblem, search_inside
from tests.oracle.limits import LimitOracle

# The objective; one sum from below, from above, and from above once more but less tightly.
PLANES = np.array([[1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 1, 0]], dtype=np.int64)


def least_objective(columns, values, depth: int, low: int, high: int) -> int | None:
    """Return the least objective of trees whose sum is within bounds."""
    points = LimitOracle(columns.tolist(), values.tolist()).points(depth)
    inside = [point[0] for point in points if low <= point[1] <= high]
    return min(inside) if inside else None


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_both_of_two_equal_planes_count(first):
    for seed in range(first, first + 100):
        draw = random.Random(seed)
        n_rows, n_columns = draw.randint(8, 16), draw.randint(3, 4)
        depth = draw.choice([1, 2, 3])
        columns = np.array(
            [[draw.randint(0, 1) for _ in range(n_columns)] for _ in range(n_rows)], dtype=np.uint8
        )
        labels = [draw.randint(0, 1) for _ in range(n_rows)]
        amounts = [draw.randint(-3, 5) for _ in range(n_rows)]
        values = np.array(
            [[[int(y != k), k * a] for k in (0, 1)] for y, a in zip(labels, amounts, strict=True)],
            dtype=np.int64,
        )
        low = draw.randint(-3, 6)
        high = low + draw.randint(0, 3)
        bounds = (-low, high, high + draw.choice([1, 2, 5, 1000]))
        problem = LimitedProblem(np.asfortranarray(columns), values, PLANES, bounds)
        found = search_inside(
            problem, [(1, 0, 0, 0)], [(n_rows, *bounds)], Options(max_depth=depth)
        )
        objective = int(found.points[0][0]) if len(found.points) else None
        assert objective == least_objective(columns, values, depth, low, high), seed
