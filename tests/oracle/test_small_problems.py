"""The engine against the oracle on thousands of small problems of every kind."""

from __future__ import annotations

from itertools import cycle, product

import pytest

from tests.oracle.evaluate import check_result
from tests.problems import random_problems
from tests.registry import all_isas, all_searches, all_switches, settings_one_by_one, solve


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_the_least_over_all_trees(seed: int) -> None:
    """Default options: proven optimal, and the tree that comes back is worth it."""
    for problem in random_problems(seed, 500):
        result = solve(problem)
        assert result.status == "optimal", problem
        check_result(result, problem, problem.optimal_value())


@pytest.mark.parametrize("seed", range(100, 104))
def test_every_switch_alone_leaves_the_optimum_unchanged(seed: int) -> None:
    """Each technique off by itself, and on by itself."""
    for problem in random_problems(seed, 120):
        optimum = problem.optimal_value()
        for setting in settings_one_by_one():
            result = solve(problem, **setting)
            assert result.status == "optimal", (problem, setting)
            check_result(result, problem, optimum, setting)


@pytest.mark.parametrize("search", ["auto", *all_searches()])
@pytest.mark.parametrize("seed", range(200, 203))
def test_every_search_finds_the_optimum(search: str, seed: int) -> None:
    """Orders of search differ in work only."""
    for problem in random_problems(seed, 250):
        for smallest in (True, False):
            result = solve(problem, search=search, smallest=smallest)
            assert result.status == "optimal", problem
            check_result(result, problem, problem.optimal_value(), search)


@pytest.mark.parametrize("seed", range(300, 304))
def test_the_smallest_optimal_tree_is_returned(seed: int) -> None:
    """Among trees of the least value: the fewest splits, then the least depth."""
    for problem in random_problems(seed, 500):
        facts = check_result(solve(problem, smallest=True), problem)
        assert (facts.value, facts.splits, facts.depth) == tuple(problem.optimum()), problem


@pytest.mark.parametrize("seed", range(400, 402))
def test_split_limits_follow_the_array_over_splits(seed: int) -> None:
    """Each limit on the splits gives the entry of the oracle's array."""
    for problem in random_problems(seed, 60, rows=(1, 16), columns=(1, 5)):
        depth = None if problem.max_depth < 0 else problem.max_depth
        costs = problem.oracle().costs_by_splits(7, depth)
        for limit in range(8):
            limited = problem.but(max_splits=limit)
            least = min(costs[k] + k * problem.split_penalty for k in range(limit + 1))
            check_result(solve(limited), limited, least)
            assert solve(limited).upper_bound == least, limited


@pytest.mark.parametrize("seed", range(450, 454))
def test_the_smallest_tree_within_a_split_limit(seed: int) -> None:
    """Limits on splits and on depth at once, without a penalty: ties everywhere."""
    for problem in random_problems(seed, 250, rows=(4, 16), columns=(3, 6), depths=(3, 4, 5, -1)):
        for limit in (2, 4, 6):
            limited = problem.but(max_splits=limit, split_penalty=0)
            facts = check_result(solve(limited), limited)
            assert (facts.value, facts.splits, facts.depth) == tuple(limited.optimum()), limited


@pytest.mark.parametrize("seed", range(500, 503))
def test_minimum_leaf_size_with_every_bound_on(seed: int) -> None:
    """A bound that carries trees from one row set to another must know about the leaf size."""
    everything_on = dict.fromkeys(all_switches(), True)
    settings = cycle([{}, everything_on])
    for problem in random_problems(seed, 250, rows=(4, 24), columns=(2, 6)):
        for min_leaf in (2, 3, 5):
            strict = problem.but(min_leaf=min_leaf)
            setting = next(settings)
            result = solve(strict, **setting)
            assert result.status == "optimal", (strict, setting)
            check_result(result, strict, strict.optimal_value(), setting)


@pytest.mark.parametrize("isa", all_isas())
def test_every_instruction_set_finds_the_optimum(isa: str) -> None:
    """The kernels agree with plain Python."""
    for problem in random_problems(600, 300):
        result = solve(problem, isa=isa)
        assert result.status == "optimal", problem
        check_result(result, problem, problem.optimal_value(), isa)


def test_no_depth_limit_and_a_penalty() -> None:
    """Sparse trees: every search, every switch setting, against all trees of any depth."""
    settings = cycle(product(all_searches(), settings_one_by_one()))
    for problem in random_problems(700, 1000, depths=(-1,)):
        sparse = problem.but(split_penalty=max(1, problem.split_penalty))
        search, setting = next(settings)
        result = solve(sparse, search=search, **setting)
        assert result.status == "optimal", (sparse, search, setting)
        check_result(result, sparse, sparse.optimal_value(), (search, setting))
