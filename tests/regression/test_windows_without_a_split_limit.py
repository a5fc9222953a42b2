"""Windows of the improver are searched without a limit on splits; their trees have to keep it.

The search over ordered features took the tree of such a window at the root as it was: with at most
five splits it gave one with seven, and called it proven. Paths had entries with too many splits.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.ordered import make_ordered
from tests.registry import solve as solve_columns


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_over_ranks_keeps_the_limit_on_splits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.integers(0, 6, 40) for _ in range(5)], dtype=np.int32)
    types = rng.integers(0, 2, 40).astype(np.int32)
    limit = 4 + seed % 3
    ordered = make_ordered(ranks, types, n_ranks=[6] * 5, max_depth=5, max_splits=limit)
    found, columns = ordered.solve(work_limit=4000), solve_columns(ordered.problem, work_limit=4000)
    assert int((found.test >= 0).sum()) <= limit
    assert columns.lower_bound <= found.upper_bound
    assert found.lower_bound <= columns.upper_bound


def test_an_entry_of_a_path_has_no_more_splits_than_it_says() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        ranks = np.array([rng.integers(0, 5, 30) for _ in range(4)], dtype=np.int32)
        types = rng.integers(0, 2, 30).astype(np.int32)
        ordered = make_ordered(ranks, types, n_ranks=[5] * 4, max_depth=4, max_splits=6)
        for splits, _, _, test, *_ in ordered.solve_path(work_limit=3000).entries:
            assert int((np.asarray(test) >= 0).sum()) <= splits
