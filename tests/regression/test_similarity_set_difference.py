"""The similarity bound must subtract the rows of the solved set that are missing from ours.

Printed with the difference the other way round in two papers: a solved set {+, -} on one point
costs 1, and with the wrong difference it would bound our set {+} by 1 as well, although it costs 0.
"""

from __future__ import annotations

import pytest

from tests.oracle.evaluate import check_result
from tests.problems import make_problem
from tests.registry import all_switches, settings_one_by_one, solve


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_conflict_in_one_set_does_not_bound_its_subset(depth: int) -> None:
    """Column 0 keeps the conflicting pair together, column 1 takes one row of it away."""
    problem = make_problem(
        [[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0]],
        [0, 1, 0, 1, 1, 0, 1],
        max_depth=depth,
    )
    for setting in settings_one_by_one():
        result = solve(problem, **setting)
        check_result(result, problem, problem.optimal_value(), setting)
        assert result.status == "optimal"


def test_nested_columns_with_conflicts_at_one_end() -> None:
    """Neighbouring thresholds give row sets that differ in few, expensive rows."""
    codes = [0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 5, 5]
    types = [0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1]
    side = [i % 2 for i in range(len(codes))]
    columns = [[int(c <= t) for t in range(5)] + [s] for c, s in zip(codes, side, strict=True)]
    weights = [9, 1, 1, 1, 5, 1, 1, 7, 1, 1, 1, 3, 1]
    for depth in (2, 3, 4):
        problem = make_problem(columns, types, None, weights, max_depth=depth)
        result = solve(problem, **dict.fromkeys(all_switches(), True))
        assert result.upper_bound == problem.optimal_value()
