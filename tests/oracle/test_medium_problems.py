"""Problems with several words in each bit column, so that compaction and the table are at work."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, random_problems
from tests.registry import all_searches, all_switches, settings_one_by_one, solve


@pytest.mark.parametrize("seed", range(6))
def test_value_equals_the_oracle_at_depth_two_and_three(seed: int) -> None:
    """Brute force over all trees of up to 12 columns and up to 200 rows."""
    settings = settings_one_by_one()
    rng = np.random.default_rng([FUZZ, seed])
    for problem in random_problems(seed, 14, rows=(30, 200), columns=(5, 12), depths=(2, 3)):
        optimum = problem.optimum()
        facts = check_result(solve(problem), problem, optimum.value)
        assert (facts.value, facts.splits, facts.depth) == tuple(optimum), problem
        for setting in rng.choice(np.array(settings, dtype=object), size=4, replace=False):
            result = solve(problem, **setting)
            assert result.status == "optimal", (problem, setting)
            check_result(result, problem, optimum.value, setting)


@pytest.mark.parametrize("seed", range(10, 13))
def test_value_equals_the_oracle_with_many_columns(seed: int) -> None:
    """Up to 30 columns at depth two."""
    for problem in random_problems(seed, 15, rows=(30, 200), columns=(20, 30), depths=(2,)):
        check_result(solve(problem), problem, problem.optimal_value())


@pytest.mark.parametrize("seed", range(20, 24))
def test_settings_agree_beyond_the_oracle(seed: int) -> None:
    """Depth three and four with up to 30 columns: all settings give one value."""
    rng = np.random.default_rng([FUZZ, seed])
    names = all_switches()
    for problem in random_problems(seed, 12, rows=(30, 200), columns=(5, 30), depths=(3, 4)):
        reference = check_result(solve(problem), problem).value
        for _ in range(6):
            setting = {name: bool(rng.integers(0, 2)) for name in names}
            search = str(rng.choice(all_searches()))
            result = solve(problem, search=search, **setting)
            assert result.status == "optimal", (problem, search, setting)
            check_result(result, problem, reference, (search, setting))


@pytest.mark.parametrize("seed", range(30, 33))
def test_searches_agree_without_a_depth_limit(seed: int) -> None:
    """Sparse trees on up to 12 columns: a penalty alone bounds the tree."""
    for problem in random_problems(seed, 12, rows=(30, 120), columns=(5, 10), depths=(-1,)):
        leaf = problem.oracle().leaf_cost(problem.oracle().root)
        sparse = problem.but(split_penalty=max(1, leaf // 12), max_splits=-1)
        optimum = sparse.optimal_value()
        for search in all_searches():
            result = solve(sparse, search=search)
            assert result.status == "optimal", (sparse, search)
            check_result(result, sparse, optimum, search)
