"""The similarity bound must subtract the rows of the solved set that are missing from ours.

Printed with the difference the other way round in two papers: a solved set {+, -} on one point
costs 1, and with the wrong difference it would bound our set {+} by 1 as well, although it costs 0.
The problems below were shrunken from failures of an engine with the difference exchanged.
"""

from __future__ import annotations

import pytest

from tests.problems import make_problem
from tests.registry import settings_one_by_one, solve

PROBLEMS = {
    "where the column holds": (
        [[0, 0, 0, 0], [1, 0, 0, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 0, 0, 0]],
        [0, 1, 0, 0, 0],
    ),
    "where it does not": (
        [[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]],
        [0, 0, 0, 1, 1],
    ),
    "conflicting pair": (
        [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]],
        [0, 1, 0, 1, 1, 0, 1],
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("smallest", [True, False])
def test_a_solved_set_does_not_bound_its_subset(name: str, smallest: bool) -> None:
    """Every depth, every switch setting."""
    columns, types = PROBLEMS[name]
    for depth in (1, 2, 3, 4):
        problem = make_problem(columns, types, max_depth=depth)
        for setting in settings_one_by_one():
            result = solve(problem, smallest=smallest, **setting)
            assert result.upper_bound == problem.optimal_value(), setting
