"""Problems that are hard for their size, so that bounds, table and incumbents do real work.

Labels are noise, or the penalty is worth a few rows only: many trees are nearly as good as the
best, and a subproblem is met again and again before it is settled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, make_problem, random_columns, random_types
from tests.registry import all_searches, all_switches, settings_one_by_one, solve

EVERYTHING_OFF = dict.fromkeys(all_switches(), False)


def solved(problem: Problem, **options: Any) -> int:
    """Optimal value, with the tree checked."""
    result = solve(problem, **options)
    assert result.status == "optimal", (problem, options)
    return check_result(result, problem, about=options).value


def noise(rng: np.random.Generator, rows: tuple[int, int], columns: tuple[int, int]) -> Problem:
    """Random bits and random labels."""
    n_rows, n_columns = int(rng.integers(*rows)), int(rng.integers(*columns))
    table = rng.integers(0, 2, size=(n_rows, n_columns))
    return make_problem(table, rng.integers(0, 2, size=n_rows))


def sparse(rng: np.random.Generator, rows: tuple[int, int], columns: tuple[int, int]) -> Problem:
    """No depth limit, structured labels with some noise, a split worth a few rows."""
    table = random_columns(rng, int(rng.integers(*rows)), int(rng.integers(*columns)))
    types = random_types(rng, table, int(rng.integers(2, 4)))
    return make_problem(table, types, split_penalty=int(rng.integers(1, 6)))


def one_hot(rng: np.random.Generator, n_groups: int) -> Problem:
    """Columns that each settle one small group of rows: every split pays a little."""
    sizes = rng.integers(1, 5, size=n_groups)
    group = np.repeat(np.arange(n_groups), sizes)
    table = (group[:, None] == np.arange(n_groups)[None, :]).astype(np.uint8)
    types = np.where(rng.random(len(group)) < 0.15, 1, group % 2)
    return make_problem(table, types, error_scale=2, split_penalty=int(rng.integers(1, 8)))


@pytest.mark.parametrize("seed", range(4))
def test_noise_at_depth_four_and_five(seed: int) -> None:
    """The plain recursion and every way to speed it up."""
    rng = np.random.default_rng([FUZZ, 1, seed])
    for _ in range(5):
        problem = noise(rng, (60, 200), (8, 13)).but(
            max_depth=int(rng.integers(4, 6)),
            split_penalty=int(rng.choice([0, 0, 1, 2])),
            min_leaf=int(rng.choice([1, 1, 3])),
        )
        expected = solved(problem, **EVERYTHING_OFF)
        for setting in settings_one_by_one():
            assert solved(problem, **setting) == expected, (problem, setting)
        for search in all_searches():
            assert solved(problem, search=search, threads=2) == expected, (problem, search)


@pytest.mark.parametrize("seed", range(4))
def test_sparse_trees_of_many_near_ties(seed: int) -> None:
    """Best-first search leaves nodes half done and comes back to them."""
    rng = np.random.default_rng([FUZZ, 2, seed])
    settings = settings_one_by_one()
    for _ in range(25):
        problem = sparse(rng, (60, 200), (8, 14))
        expected = solved(problem, search="depth-first", use_table=False)
        for search in all_searches():
            assert solved(problem, search=search) == expected, (problem, search)
            setting = settings[int(rng.integers(0, len(settings)))]
            if any(setting.get(name, True) for name in ("use_table", "use_split_count")):
                assert solved(problem, search=search, **setting) == expected, (problem, setting)


@pytest.mark.parametrize("seed", range(3))
def test_sparse_trees_against_the_oracle(seed: int) -> None:
    """All trees of any depth on up to seven columns."""
    rng = np.random.default_rng([FUZZ, 3, seed])
    for _ in range(10):
        problem = sparse(rng, (60, 200), (6, 8))
        for search in all_searches():
            assert solved(problem, search=search) == problem.optimal_value(), (problem, search)


@pytest.mark.parametrize("seed", range(3))
def test_splits_that_pay_a_little(seed: int) -> None:
    """A bound that is off by one row or one split takes the wrong ones away."""
    rng = np.random.default_rng([FUZZ, 4, seed])
    settings = settings_one_by_one()
    for _ in range(25):
        problem = one_hot(rng, int(rng.integers(3, 9)))
        optimum = problem.optimal_value()
        for search in all_searches():
            setting = settings[int(rng.integers(0, len(settings)))]
            assert solved(problem, search=search) == optimum, (problem, search)
            assert solved(problem, search=search, **setting) == optimum, (problem, setting)


@pytest.mark.parametrize("seed", range(3))
def test_a_split_limit_on_hard_problems(seed: int) -> None:
    """The same curve of cost over splits, with every bound on and off."""
    rng = np.random.default_rng([FUZZ, 5, seed])
    settings = settings_one_by_one()
    for _ in range(6):
        problem = noise(rng, (40, 120), (6, 9)).but(
            max_depth=int(rng.choice([3, 4, -1])), min_leaf=int(rng.choice([1, 1, 2]))
        )
        for limit in (3, 5, 6):
            limited = problem.but(max_splits=limit)
            optimum = limited.optimal_value()
            for _ in range(3):
                setting = settings[int(rng.integers(0, len(settings)))]
                assert solved(limited, **setting) == optimum, (limited, setting)
