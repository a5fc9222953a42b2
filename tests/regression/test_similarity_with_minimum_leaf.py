"""A tree that is feasible on one row set may be infeasible on another when leaves have a size.

The similarity bound carries a tree from our rows to the solved ones, so it is void there: a leaf
that is large enough in our set may have too few rows in the other.  The problem was shrunken from
a failure of an engine that used the bound nevertheless.
"""

from __future__ import annotations

import pytest

from tests.problems import make_problem
from tests.registry import settings_one_by_one, solve

COLUMNS = [
    [0, 0, 1], [1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 1, 1], [0, 1, 0], [0, 1, 0],
]  # fmt: skip
TYPES = [0, 0, 0, 1, 1, 0, 1, 1]


@pytest.mark.parametrize("smallest", [True, False])
@pytest.mark.parametrize("min_leaf", [1, 2, 3])
def test_an_infeasible_neighbour_does_not_bound_a_feasible_set(
    min_leaf: int, smallest: bool
) -> None:
    """Three splits separate the types with two rows in each leaf."""
    for depth in (2, 3, 4, -1):
        problem = make_problem(COLUMNS, TYPES, max_depth=depth, min_leaf=min_leaf)
        for setting in settings_one_by_one():
            result = solve(problem, smallest=smallest, **setting)
            assert result.upper_bound == problem.optimal_value(), setting
