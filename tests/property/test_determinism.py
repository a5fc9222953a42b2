"""One answer: whatever the threads, the instruction set, the switches or the neighbours."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, random_problems
from tests.registry import all_isas, all_searches, all_switches, settings_one_by_one, solve


def answer(problem: Problem, **options: Any) -> tuple[int, list[int], list[int], list[int]]:
    """Value and tree of a proven answer."""
    result = solve(problem, **options)
    assert result.status == "optimal", (problem, options)
    check_result(result, problem, about=options)
    arrays = (result.test, result.first_child, result.label)
    return (result.upper_bound, *(array.tolist() for array in arrays))


def problems(seed: int, small: int = 400, medium: int = 40) -> list[Problem]:
    """Small ones full of ties, and some that need several words and some work."""
    return [
        *random_problems(seed, small),
        *random_problems(seed, medium, rows=(40, 200), columns=(6, 20), depths=(2, 3, 4)),
    ]


def limited_problems(seed: int) -> list[Problem]:
    """Those for which the rule for ties is complete: with a depth limit (docs/guide/ties.md)."""
    return [problem for problem in problems(seed) if problem.max_depth >= 0]


def test_two_threads_give_the_answer_of_one() -> None:
    """Value and tree."""
    for problem in problems(1):
        assert answer(problem, threads=2) == answer(problem), problem


def test_the_same_solve_twice_is_the_same_work() -> None:
    """One thread is deterministic to the last counter."""
    for problem in problems(2, small=40):
        first, second = solve(problem), solve(problem)
        assert first.counters == second.counters, problem


@pytest.mark.parametrize("isa", all_isas())
def test_every_instruction_set_gives_the_same_tree(isa: str) -> None:
    """Value and tree."""
    for problem in problems(3):
        assert answer(problem, isa=isa) == answer(problem), problem


@pytest.mark.parametrize("search", all_searches())
def test_every_search_gives_the_same_tree(search: str) -> None:
    """The canonical tree does not depend on the order in which it was found."""
    for problem in limited_problems(4):
        assert answer(problem, search=search) == answer(problem), problem


def test_every_switch_gives_the_same_tree() -> None:
    """Ties are settled by the rule, not by what was pruned."""
    rng = np.random.default_rng([FUZZ, 5])
    settings = settings_one_by_one()
    for problem in limited_problems(5):
        expected = answer(problem)
        for number in rng.integers(0, len(settings), size=4):
            assert answer(problem, **settings[number]) == expected, (problem, settings[number])


def test_threads_and_switches_together() -> None:
    """Random settings of both."""
    rng = np.random.default_rng([FUZZ, 6])
    for problem in limited_problems(6):
        setting = {name: bool(rng.integers(0, 2)) for name in all_switches()}
        assert answer(problem, threads=2, **setting) == answer(problem), (problem, setting)


def test_two_solves_at_once_do_not_disturb_each_other() -> None:
    """No state is shared between solves."""
    drawn = problems(7)
    expected = [answer(problem) for problem in drawn]
    with ThreadPoolExecutor(max_workers=2) as pool:
        assert list(pool.map(answer, drawn)) == expected
