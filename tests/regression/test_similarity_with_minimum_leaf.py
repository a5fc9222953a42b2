"""A tree that is feasible on one row set may be infeasible on another when leaves have a size.

The similarity bound carries a tree from our rows to the solved ones, so it is void there: the
smaller set may keep a leaf large enough that the other one has no rows for.
"""

from __future__ import annotations

import pytest

from tests.oracle.evaluate import check_result
from tests.problems import make_problem
from tests.registry import settings_one_by_one, solve


@pytest.mark.parametrize("min_leaf", [1, 2, 3, 4])
def test_an_infeasible_neighbour_does_not_bound_a_feasible_one(min_leaf: int) -> None:
    """Columns 0 and 1 differ in one row, which decides whether column 2 may split the rest."""
    columns = [
        [1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 0, 0],
        [0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0],
    ]  # fmt: skip
    types = [0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1]
    for depth in (2, 3):
        problem = make_problem(columns, types, max_depth=depth, min_leaf=min_leaf)
        for setting in settings_one_by_one():
            result = solve(problem, **setting)
            check_result(result, problem, problem.optimal_value(), setting)
            assert result.status == "optimal"
