"""Turns of proof and improver against brute force.

Small problems are proven before the first turn ends. Here turns are a few evaluations long, from
the start, as where the proof is far: searches pause and go on, windows of exact trees share the
table with the proof, and the bound rises in steps.
"""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.oracle.evaluate import check_result
from tests.oracle.ordered import random_ordereds
from tests.oracle.test_ordered import check_optimal
from tests.oracle.test_test_costs import Enumeration, check, random_cases
from tests.problems import random_problems
from tests.registry import all_searches, settings_one_by_one, solve

TURNS = (1, 2, 5, 20)


@pytest.mark.parametrize("search", ["auto", *all_searches()])
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_the_least_over_all_trees(search: str, seed: int) -> None:
    turns = cycle(TURNS)
    for problem in random_problems(
        700 + seed, 150, rows=(6, 24), columns=(3, 7), depths=(3, 4, 5, -1)
    ):
        result = solve(problem, search=search, turn_work=next(turns))
        assert result.status == "optimal", problem
        facts = check_result(result, problem, problem.optimal_value())
        if search != "best-first" and problem.max_depth >= 0:
            assert (facts.value, facts.splits, facts.depth) == tuple(problem.optimum()), problem


@pytest.mark.parametrize("seed", range(2))
def test_every_switch_alone(seed: int) -> None:
    turns = cycle(TURNS)
    for problem in random_problems(720 + seed, 25, rows=(6, 20), columns=(3, 6), depths=(4, 5)):
        for setting in settings_one_by_one():
            result = solve(problem, turn_work=next(turns), **setting)
            assert result.status == "optimal", (problem, setting)
            check_result(result, problem, problem.optimal_value(), setting)


@pytest.mark.parametrize("seed", range(2))
def test_limits_on_splits(seed: int) -> None:
    turns = cycle(TURNS)
    for problem in random_problems(740 + seed, 80, rows=(6, 18), columns=(3, 6), depths=(4, 5, -1)):
        for most in (2, 4, 6):
            limited = problem.but(max_splits=most)
            result = solve(limited, turn_work=next(turns))
            check_result(result, limited, limited.optimal_value())


@pytest.mark.parametrize("seed", range(2))
def test_stopped_searches_state_valid_bounds(seed: int) -> None:
    turns = cycle(TURNS)
    for problem in random_problems(760 + seed, 80, rows=(8, 24), columns=(4, 7), depths=(4, 5)):
        optimum = problem.optimal_value()
        for work in (1, 3, 10, 30):
            found = solve(problem, turn_work=next(turns), work_limit=work)
            assert found.lower_bound <= optimum <= found.upper_bound, (problem, work)
            assert check_result(found, problem).value == found.upper_bound


def test_prices_of_tests() -> None:
    turns = cycle(TURNS)
    for case in random_cases(780, 120, rows=(4, 14), columns=(3, 6), depths=(3, 4, 5)):
        case.options["turn_work"] = next(turns)
        check(case, case.solve(), Enumeration(case).value())


@pytest.mark.parametrize("seed", range(3))
def test_ordered_features(seed: int) -> None:
    turns = cycle(TURNS)
    for ordered in random_ordereds(800 + seed, 150, rows=(6, 20), most_ranks=8, depths=(3, 4, 5)):
        check_optimal(ordered, turn_work=next(turns))


def test_every_switch_alone_over_ordered_features() -> None:
    turns = cycle(TURNS)
    for ordered in random_ordereds(820, 15, rows=(6, 18), most_ranks=8, depths=(4,)):
        for setting in settings_one_by_one():
            check_optimal(ordered, turn_work=next(turns), **setting)
