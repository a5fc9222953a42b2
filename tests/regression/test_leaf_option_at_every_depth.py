"""A node above the bottom may be a leaf; a recursion that only splits there is wrong.

Printed so in one paper.  It shows with a penalty for splits, with a minimum leaf size, and where
no column separates the rows any more.
"""

from __future__ import annotations

import pytest

from tests.oracle.evaluate import check_result
from tests.problems import make_problem
from tests.registry import all_searches, solve

CHAIN = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
TYPES = [0, 0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("search", all_searches())
@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, -1])
def test_a_pure_child_is_a_leaf_while_its_sibling_goes_on(search: str, depth: int) -> None:
    """Under a penalty every needless split would be paid for."""
    problem = make_problem(CHAIN, TYPES, error_scale=10, split_penalty=4, max_depth=depth)
    facts = check_result(solve(problem, search=search), problem)
    assert facts.value == problem.optimal_value()
    assert facts.splits == min(3, 3 if depth < 0 else depth)


@pytest.mark.parametrize("depth", [0, 1, 2, 3, -1])
def test_the_root_is_a_leaf_when_no_split_pays(depth: int) -> None:
    """The penalty is as large as all errors."""
    problem = make_problem(CHAIN, TYPES, split_penalty=3, max_depth=depth)
    facts = check_result(solve(problem), problem, problem.optimal_value())
    assert (facts.value, facts.splits) == (3, 0)


def test_the_root_is_a_leaf_when_no_split_leaves_enough_rows() -> None:
    """Every column is too small on one side."""
    problem = make_problem(CHAIN, TYPES, max_depth=3, min_leaf=4)
    facts = check_result(solve(problem), problem)
    assert (facts.value, facts.splits) == (3, 0)


def test_fewer_rows_than_a_leaf_needs_is_a_leaf() -> None:
    """The tree of one leaf is always allowed."""
    problem = make_problem([[0], [1]], [0, 1], max_depth=2, min_leaf=5)
    facts = check_result(solve(problem), problem)
    assert (facts.value, facts.splits) == (1, 0)
