"""A debug build carries a known optimal tree and asserts that no prune cuts it off.

Runs in builds with ``CERTREE_DEBUG_TREE`` (``make sanitize``); others do not know the option.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree import _core
from tests.problems import Problem, random_problems
from tests.registry import all_searches, settings_one_by_one, solve
from tests.strategies import any_options, small_problems

needs_debug_build = pytest.mark.skipif(
    not _core.build_info()["debug_tree"], reason="needs a build with CERTREE_DEBUG_TREE=ON"
)


def known_tree(problem: Problem, result: Any) -> dict[str, Any]:
    """The option that hands an optimal tree back to the engine."""
    return {"debug_tree": (result.test.tolist(), result.first_child.tolist())}


@needs_debug_build
@given(problem=small_problems(), options=any_options())
def test_no_bound_exceeds_a_known_optimal_tree(problem: Problem, options: dict[str, Any]) -> None:
    """Not at the root, not at any node of the tree, not for any split of it."""
    best = solve(problem)
    again = solve(problem, **known_tree(problem, best), **options)
    assert again.upper_bound == best.upper_bound


@needs_debug_build
@pytest.mark.parametrize("search", all_searches())
def test_no_switch_cuts_a_known_optimal_tree_off(search: str) -> None:
    """Larger problems, where bounds have something to cut, under each switch alone."""
    for problem in random_problems(
        91, 25, rows=(40, 120), columns=(6, 10), depths=(-1, 3, 4, 4, 5)
    ):
        if problem.max_depth < 0 and problem.split_penalty == 0:
            continue  # Any tree that separates everything will do: nothing to prune.
        best = solve(problem, work_limit=20000)
        if best.status != "optimal":
            continue
        for setting in settings_one_by_one():
            options = {"search": search, "work_limit": 20000, **setting}
            solve(problem, **known_tree(problem, best), **options)


@needs_debug_build
@given(problem=small_problems(), discount=st.integers(1, 3))
def test_a_bound_above_the_known_value_is_caught(problem: Problem, discount: int) -> None:
    """Told that the tree is better than it is, the engine must contradict, or the check is void."""
    best = solve(problem)
    with pytest.raises(RuntimeError, match="exceeds the value"):
        solve(problem, **known_tree(problem, best), debug_discount=discount)


@needs_debug_build
def test_a_tree_over_columns_that_were_left_out_is_refused() -> None:
    """A constant column divides nothing."""
    problem = next(random_problems(92, 1, rows=(8, 8)))
    problem.columns[:, 0] = 0
    with pytest.raises(ValueError, match="column 0"):
        solve(problem, debug_tree=([0, -1, -1], [1, -1, -1]))


@pytest.mark.skipif(_core.build_info()["debug_tree"], reason="this build knows the option")
def test_other_builds_refuse_the_option() -> None:
    """Nothing of the check is in a release build."""
    problem = next(random_problems(93, 1))
    with pytest.raises(ValueError, match="unknown option 'debug_tree'"):
        solve(problem, debug_tree=([-1], [-1]))
