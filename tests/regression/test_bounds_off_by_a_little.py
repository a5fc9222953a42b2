"""Smallest problems on which a bound that is a little too strong takes the optimum away.

Shrunken from failures of engines with one bound altered on purpose.
"""

from __future__ import annotations

import pytest

from tests.problems import Problem, make_problem
from tests.registry import all_searches, settings_one_by_one, solve

PROBLEMS = {
    "nested sets, half of the sibling's cost": make_problem(
        [[1, 0, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]], [0, 2, 2, 1], max_depth=3
    ),
    "leaf support, two penalties": make_problem(
        [[1, 1, 0, 0], [1, 1, 1, 1], [1, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1]],
        [0, 3, 3, 1, 1],
        max_depth=3,
        error_scale=2,
        split_penalty=1,
    ),
}


@pytest.mark.parametrize("search", all_searches())
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
def test_the_optimum_survives_every_bound(problem: Problem, search: str) -> None:
    """Every switch setting, with and without a depth limit."""
    for depth in (problem.max_depth, -1):
        limited = problem.but(max_depth=depth)
        for setting in settings_one_by_one():
            for smallest in (True, False):
                result = solve(limited, search=search, smallest=smallest, **setting)
                assert result.upper_bound == limited.optimal_value(), setting
