"""The engine of vector statistics against brute force, kind by kind and switch by switch."""

from __future__ import annotations

from itertools import cycle, product

import numpy as np
import pytest

from certree import _core
from tests.oracle.vector_problems import check_optimal, random_cases
from tests.problems import random_problems
from tests.registry import all_isas, all_searches, settings_one_by_one

KINDS = ("min_label", "squares", "callback", "unlawful", "label_outputs", "square_outputs")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_the_value_is_the_least_over_all_trees(kind: str, seed: int) -> None:
    """Default options: proven optimal, and the smallest tree of that value."""
    for problem in random_cases(seed, 400, kind):
        facts = check_optimal(problem.solve(), problem)
        if problem.max_depth >= 0 or problem.max_splits >= 0 or problem.split_penalty > 0:
            assert (facts.value, facts.splits, facts.depth) == tuple(problem.optimum()), problem


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(10, 13))
def test_every_switch_alone_leaves_the_optimum_unchanged(kind: str, seed: int) -> None:
    """Each technique off by itself, and on by itself."""
    for problem in random_cases(seed, 60, kind):
        for setting in settings_one_by_one():
            check_optimal(problem.solve(**setting), problem, setting)


@pytest.mark.parametrize("kind", KINDS)
def test_every_search_and_instruction_set(kind: str) -> None:
    """Orders of search and kernels differ in work only; so do threads."""
    settings = cycle(product(all_searches(), all_isas(), (True, False), (1, 3)))
    for problem in random_cases(20, 400, kind):
        search, isa, smallest, threads = next(settings)
        options = {"search": search, "isa": isa, "smallest": smallest, "threads": threads}
        check_optimal(problem.solve(**options), problem, options)


@pytest.mark.parametrize("kind", KINDS)
def test_no_depth_limit_and_a_penalty(kind: str) -> None:
    """Sparse trees: every search, every switch setting, against all trees of any depth."""
    settings = cycle(product(all_searches(), settings_one_by_one()))
    for problem in random_cases(30, 300, kind, depths=(-1,)):
        search, setting = next(settings)
        sparse = problem.but(split_penalty=max(1, problem.split_penalty), max_splits=-1)
        check_optimal(sparse.solve(search=search, **setting), sparse, (search, setting))


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_and_columns_than_a_register_holds(kind: str) -> None:
    """Blocks of columns, words of rows, and pairs that are not stored."""
    settings = cycle(product(all_isas(), ({}, {"use_sibling_subtraction": False})))
    for problem in random_cases(
        40, 60, kind, rows=(60, 140), columns=(14, 40), depths=(0, 1, 2, 2)
    ):
        isa, setting = next(settings)
        limited = problem.but(max_splits=-1)
        check_optimal(limited.solve(isa=isa, **setting), limited, (isa, setting))


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_the_path_is_optimal(kind: str) -> None:
    """The curve is the oracle's array over splits."""
    settings = cycle(settings_one_by_one())
    for problem in random_cases(50, 200, kind, depths=(0, 1, 2, 3, 4)):
        free = problem.but(split_penalty=0, error_scale=1)
        most = 7 if free.max_splits < 0 else min(free.max_splits, 7)
        result = free.but(max_splits=most).solve_path(**next(settings))
        costs = free.oracle().costs_by_splits(most, free.max_depth)
        assert result.status == "optimal", free
        found = {entry[0]: (entry[1], entry[2]) for entry in result.entries}
        expected = {
            k: (cost, cost) for k, cost in enumerate(costs) if k == 0 or cost < costs[k - 1]
        }
        assert found == expected, free


@pytest.mark.parametrize("seed", range(60, 63))
def test_costs_of_labels_equal_a_cost_matrix(seed: int) -> None:
    """Every count task is a vector task: the same values and the same smallest trees."""
    for problem in random_problems(seed, 200):
        weights = np.array(problem.weight_list(), dtype=np.int64)
        costs = problem.cost_matrix[problem.row_types] * weights[:, None]
        expected = _core.solve(
            problem.columns,
            problem.row_types,
            problem.cost_matrix,
            problem.weights,
            problem.options(),
        )
        found = _core.solve_vector(
            problem.columns, np.ascontiguousarray(costs), "min_label", None, problem.options()
        )
        assert found.upper_bound == expected.upper_bound, problem
        assert found.lower_bound == expected.lower_bound, problem
        if problem.max_depth >= 0 and problem.split_penalty == 0:
            assert found.test.tolist() == expected.test.tolist(), problem


@pytest.mark.parametrize("kind", KINDS)
def test_work_limits_leave_a_valid_interval(kind: str) -> None:
    """Stopped at any point, the optimum lies between the bounds and the tree is worth the upper."""
    for problem in random_cases(70, 150, kind, rows=(12, 20), columns=(4, 6), depths=(3, 4, -1)):
        for limit in (1, 2, 5, 20):
            result = problem.solve(work_limit=limit)
            optimum = problem.optimal_value()
            assert result.lower_bound <= optimum <= result.upper_bound, (problem, limit)
