"""The multiway search against the oracle: all trees of tests with any number of outcomes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import _core
from tests.oracle.multiway import MultiwayProblem, random_multiway_problems
from tests.problems import random_problems
from tests.registry import all_isas, all_switches, settings_one_by_one, solve


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_the_least_over_all_trees(seed: int) -> None:
    """Multiway, binary and mixed tests; per split and per leaf; with and without limits."""
    for problem in random_multiway_problems(seed, 300):
        result = problem.solve()
        value, splits = problem.optimum()
        assert result.status == "optimal", problem
        found = problem.check(result, value)
        if problem.max_depth >= 0 or problem.split_penalty or problem.leaf_penalty:
            assert found[1] == splits, problem


@pytest.mark.parametrize("seed", range(100, 104))
def test_every_switch_alone_leaves_the_optimum_unchanged(seed: int) -> None:
    """Each technique off by itself, and on by itself; small, since one is the table."""
    for problem in random_multiway_problems(seed, 60, rows=(1, 11), features=(1, 3)):
        value = problem.optimum()[0]
        for setting in settings_one_by_one():
            result = problem.solve(**setting)
            assert result.status == "optimal", (problem, setting)
            problem.check(result, value, setting)


@pytest.mark.parametrize("seed", range(150, 154))
def test_both_searches_find_the_optimum(seed: int) -> None:
    """Depth-first and best-first, with every technique and with random ones."""
    rng = np.random.default_rng(seed)
    for problem in random_multiway_problems(seed, 200):
        value = problem.optimum()[0]
        for search in ("depth-first", "best-first"):
            setting = {name: bool(rng.integers(0, 2)) for name in all_switches()}
            for options in ({}, setting):
                result = problem.solve(search=search, **options)
                assert result.status == "optimal", (problem, search, options)
                problem.check(result, value, (search, options))


@pytest.mark.parametrize("isa", all_isas())
def test_every_instruction_set_finds_the_optimum(isa: str) -> None:
    """The same values, whatever the processor."""
    for problem in random_multiway_problems(200, 150, rows=(20, 90), features=(2, 3)):
        problem.check(problem.solve(isa=isa), problem.optimum()[0], isa)


@pytest.mark.parametrize("seed", range(300, 302))
def test_binary_tests_give_what_the_binary_search_gives(seed: int) -> None:
    """One column per test is the problem that solve() answers."""
    for problem in random_problems(seed, 150):
        if problem.max_splits >= 0:
            continue
        multiway = MultiwayProblem(
            problem.columns,
            tuple((c,) for c in range(problem.n_columns)),
            problem.row_types,
            problem.cost_matrix,
            problem.weights,
            problem.error_scale,
            problem.split_penalty,
            0,
            problem.max_depth,
            problem.min_leaf,
        )
        result = multiway.solve()
        multiway.check(result)
        assert result.upper_bound == solve(problem).upper_bound, problem


@pytest.mark.parametrize("seed", range(400, 404))
def test_a_work_limit_keeps_the_optimum_between_the_bounds(seed: int) -> None:
    """Stopped anywhere, the tree is worth its value and the bound holds; history is monotone."""
    for problem in random_multiway_problems(seed, 60, rows=(12, 24), features=(3, 5)):
        value = problem.optimum()[0]
        for limit in (1, 2, 3, 5, 8, 13):
            result = problem.solve(work_limit=limit)
            problem.check(result, value, limit)
            uppers = [event[2] for event in result.history]
            lowers = [event[3] for event in result.history]
            assert uppers == sorted(uppers, reverse=True)
            assert lowers == sorted(lowers)
            assert all(low <= value <= up for low, up in zip(lowers, uppers, strict=True))


@pytest.mark.parametrize("seed", range(500, 502))
def test_a_gap_is_kept(seed: int) -> None:
    """The search may stop once the bounds are this close."""
    for problem in random_multiway_problems(seed, 100):
        result = problem.solve(gap=3)
        problem.check(result, problem.optimum()[0])
        assert result.status in ("optimal", "gap")
        assert result.upper_bound - result.lower_bound <= 3


@pytest.mark.parametrize("memory", [1, 20_000, 60_000, 200_000])
def test_a_memory_limit_costs_search_only(memory: int) -> None:
    """Whatever is forgotten, the bounds hold."""
    for problem in random_multiway_problems(600, 40, rows=(20, 24), features=(4, 5)):
        result = problem.solve(memory_limit=memory, work_limit=3000)
        problem.check(result, problem.optimum()[0], memory)


def test_a_callback_stops_the_search() -> None:
    """A true answer ends it with the incumbent."""
    problem = next(random_multiway_problems(7, 1, rows=(400, 400), features=(5, 5)))
    problem = problem.but(max_depth=-1, min_leaf=1, split_penalty=1, leaf_penalty=0)
    events: list[Any] = []

    def stop(event: Any) -> bool:
        events.append(event)
        return True

    result = problem.solve(stop)
    assert result.status in ("interrupted", "optimal")
    assert events
    problem.check(result)


def test_empty_outcomes_are_leaves_with_the_best_label() -> None:
    """A category without rows has a child all the same."""
    columns = np.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]], dtype=np.uint8)
    costs = 1 - np.eye(2, dtype=np.int64)
    problem = MultiwayProblem(columns, ((0, 1, 2),), np.array([1, 1, 0], dtype=np.int32), costs)
    result = problem.solve()
    assert result.upper_bound == 0
    assert result.test.tolist() == [0, -1, -1, -1]
    assert result.label.tolist() == [-1, 1, 1, 0]


@pytest.mark.parametrize(
    ("tests", "options", "message"),
    [
        ([[0, 1]], {}, "must partition the rows"),
        ([[]], {}, "has no columns"),
        ([[7]], {}, "outside of the table"),
        ([[0]], {"max_splits": 3}, "max_splits"),
        ([[0]], {"leaf_penalty": -1}, "leaf_penalty"),
        ([[0]], {"no_such": 1}, "unknown option"),
    ],
)
def test_bad_arguments_are_refused(tests: Any, options: Any, message: str) -> None:
    """Errors say what is wrong."""
    with pytest.raises(ValueError, match=message):
        _core.solve_multiway(
            np.array([[1, 0], [1, 1]], dtype=np.uint8),
            np.array([0, 1], dtype=np.int32),
            1 - np.eye(2, dtype=np.int64),
            None,
            [np.array(test, dtype=np.int32) for test in tests],
            options,
        )
