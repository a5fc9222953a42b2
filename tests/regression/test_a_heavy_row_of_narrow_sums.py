"""One row may have most of the weight of its label.

The best second split was lost where all thresholds of the second feature came after so heavy a row
that the sum there was more than half of what the type of sums holds: 9 000 with 16 bits.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.ordered import make_ordered
from tests.registry import all_isas
from tests.registry import solve as solve_columns


@pytest.mark.parametrize("isa", all_isas())
@pytest.mark.parametrize("weight", [8000, 9000, 16_000, 20_000, 2**29, 2**30 - 60])
def test_the_split_beside_a_heavy_row_is_found(weight: int, isa: str) -> None:
    for seed in range(8, 16):
        rng = np.random.default_rng(seed)
        types = rng.integers(0, 2, 45).astype(np.int32)
        heavy = rng.choice(np.flatnonzero(types == 1))
        ranks = np.array([np.arange(45), rng.integers(0, 2, 45)], dtype=np.int32)
        weights = np.ones(45, dtype=np.int64)
        weights[heavy] = weight
        ordered = make_ordered(ranks, types, n_ranks=[45, 2], weights=weights, max_depth=2)
        found, columns = ordered.solve(isa=isa), solve_columns(ordered.problem)
        assert found.status == columns.status == "optimal"
        assert found.upper_bound == columns.upper_bound, (seed, weight)
