"""A limit that is hit gives a valid answer: lower bound <= optimum <= value of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import Problem, make_problem, random_problems
from tests.registry import all_searches, solve

SEARCHES = all_searches()


def hard_problem(seed: int = 0) -> Problem:
    """Noise on many columns: hundreds of depth-two evaluations at depth four."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, size=(150, 20), dtype=np.uint8)
    return make_problem(columns, rng.integers(0, 2, size=150), max_depth=4)


def medium_problems(seed: int, count: int = 12) -> list[tuple[Problem, int]]:
    """Problems that need some work, with their optimum by brute force."""
    drawn = random_problems(seed, count, rows=(40, 150), columns=(6, 10), depths=(3,))
    return [(problem, problem.optimal_value()) for problem in drawn]


def check_history(result: Any, optimum: int) -> None:
    """Incumbents never rise, bounds never fall, and each entry encloses the optimum."""
    uppers = [entry[2] for entry in result.history]
    lowers = [entry[3] for entry in result.history]
    works = [entry[1] for entry in result.history]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)
    assert works == sorted(works)
    assert all(lower <= optimum <= upper for lower, upper in zip(lowers, uppers, strict=True))
    assert all(lower <= result.lower_bound for lower in lowers)
    assert all(upper >= result.upper_bound for upper in uppers)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_work_limit_gives_valid_bounds(search: str) -> None:
    """At every point where the search can be cut off."""
    for problem, optimum in medium_problems(1):
        for limit in (1, 2, 3, 5, 8, 13, 30, 100):
            result = solve(problem, search=search, work_limit=limit)
            assert result.status in ("optimal", "work_limit"), (problem, limit)
            check_result(result, problem, optimum, (search, limit))
            check_history(result, optimum)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_work_limit_is_hit_on_a_hard_problem(search: str) -> None:
    """So that the law above is not empty."""
    problem = hard_problem()
    optimum = solve(problem).upper_bound
    result = solve(problem, search=search, work_limit=5)
    assert result.status == "work_limit"
    check_result(result, problem, optimum, search)


@pytest.mark.parametrize("search", SEARCHES)
def test_more_work_never_loosens_the_bounds(search: str) -> None:
    """A deterministic search that goes on can only gain."""
    problem = hard_problem(1)
    results = [solve(problem, search=search, work_limit=2**k) for k in range(0, 12, 2)]
    uppers = [result.upper_bound for result in results]
    lowers = [result.lower_bound for result in results]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_history_is_monotone_and_valid(search: str) -> None:
    """From the first incumbent to the proof."""
    for problem, optimum in medium_problems(2):
        result = solve(problem, search=search)
        assert result.status == "optimal"
        assert result.history
        check_history(result, optimum)
        assert tuple(result.history[-1][2:]) == (optimum, optimum)


@pytest.mark.parametrize("search", SEARCHES)
def test_an_accepted_gap_is_kept(search: str) -> None:
    """The answer is within the gap, and no more work is done than for the proof."""
    for problem, optimum in medium_problems(3):
        for gap in (1, problem.error_scale * 3, max(1, optimum // 4), optimum + 1):
            result = solve(problem, search=search, gap=gap)
            assert result.status in ("optimal", "gap"), (problem, gap)
            assert result.upper_bound - result.lower_bound <= gap, (problem, gap)
            check_result(result, problem, optimum, (search, gap))


@pytest.mark.parametrize("search", SEARCHES)
def test_a_tiny_memory_limit_still_gives_the_right_value(search: str) -> None:
    """A table that keeps forgetting costs work, not truth."""
    for problem, optimum in medium_problems(4):
        for limit in (1, 10_000, 200_000, 2_000_000):
            result = solve(problem, search=search, memory_limit=limit)
            assert result.status in ("optimal", "memory_limit"), (problem, limit)
            check_result(result, problem, optimum, (search, limit))


@pytest.mark.parametrize("search", SEARCHES)
def test_two_megabytes_are_enough_for_a_proof(search: str) -> None:
    """Hundreds of subproblems fit, or are evicted and solved again."""
    problem = hard_problem(2)
    result = solve(problem, search=search, memory_limit=2_000_000)
    assert result.status == "optimal"
    assert result.upper_bound == solve(problem).upper_bound


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_callback_may_stop_the_search(search: str, after: int) -> None:
    """The answer is the incumbent of that moment, with valid bounds."""
    problem = hard_problem(3)
    optimum = solve(problem).upper_bound
    seen: list[dict[str, Any]] = []

    def stop(progress: dict[str, Any]) -> bool:
        seen.append(dict(progress))
        return len(seen) >= after

    result = solve(problem, stop, search=search)
    assert seen, "the callback was never called"
    for progress in seen:
        assert progress["lower_bound"] <= optimum <= progress["upper_bound"]
    if len(seen) >= after:
        assert result.status in ("interrupted", "optimal")
    check_result(result, problem, optimum, search)


def test_a_callback_that_only_watches_changes_nothing() -> None:
    """Same tree, same work."""
    problem = hard_problem(4)
    quiet, watched = solve(problem), solve(problem, lambda progress: False)
    assert watched.status == "optimal"
    assert watched.test.tolist() == quiet.test.tolist()
    assert watched.counters == quiet.counters


def test_an_error_in_a_callback_reaches_the_caller() -> None:
    """It is neither swallowed nor fatal."""

    def broken(progress: dict[str, Any]) -> bool:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        solve(hard_problem(5), broken)


def test_a_time_limit_gives_valid_bounds() -> None:
    """A limit of no time at all still returns a tree."""
    problem = hard_problem(6)
    result = solve(problem, time_limit=1e-6)
    assert result.status in ("optimal", "time_limit")
    check_result(result, problem, solve(problem).upper_bound)


def test_values_that_do_not_fit_are_refused() -> None:
    """An overflow is an error, never a wrong value."""
    problem = make_problem([[0], [1]], [0, 1], weights=[2**62, 2**62], max_depth=1)
    with pytest.raises(ValueError, match="overflow"):
        solve(problem.but(error_scale=8))


def test_unknown_options_are_refused() -> None:
    """With the name that was given."""
    with pytest.raises(ValueError, match="no_such_option"):
        solve(hard_problem(), no_such_option=1)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("max_depth", [4, 5, 6])
def test_a_callback_that_stops_the_search_is_not_called_again(search: str, max_depth: int) -> None:
    """Also while the search, on its way out, still finds trees."""
    calls = []

    def stop(event: Any) -> bool:
        calls.append(event)
        return True

    result = solve(hard_problem(2).but(max_depth=max_depth), stop, search=search)
    assert result.status == "interrupted"
    assert len(calls) == 1
