"""Switches, instruction sets, threads and search orders change the work, never the value."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import given

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, random_problems
from tests.registry import all_switches, solve
from tests.strategies import any_options, small_problems


@given(problem=small_problems(), options=any_options())
def test_every_option_leaves_the_optimum_unchanged(
    problem: Problem, options: dict[str, Any]
) -> None:
    """Bounds, caches and orderings may change the work, never the value."""
    result = solve(problem, **options)
    assert result.status == "optimal"
    check_result(result, problem, problem.optimal_value(), options)


@given(problem=small_problems(max_rows=12, max_columns=4), options=any_options())
def test_the_smallest_tree_is_found_under_every_option(
    problem: Problem, options: dict[str, Any]
) -> None:
    """The number of splits and the depth of the answer do not depend on the options either."""
    facts = check_result(solve(problem, **{**options, "smallest": True}), problem)
    assert (facts.value, facts.splits, facts.depth) == tuple(problem.optimum())


def test_all_combinations_of_switches_on_a_few_problems() -> None:
    """Every combination where they are few enough, else a large sample of them."""
    names = all_switches()
    rng = np.random.default_rng(FUZZ)
    for problem in random_problems(7, 6, rows=(16, 24), columns=(5, 6), depths=(3, 4)):
        optimum = problem.optimal_value()
        combinations: Any = product((False, True), repeat=len(names))
        if 2 ** len(names) > 512:
            combinations = rng.integers(0, 2, size=(512, len(names))).astype(bool).tolist()
        for values in combinations:
            setting = dict(zip(names, values, strict=True))
            result = solve(problem, **setting)
            assert result.status == "optimal", (problem, setting)
            check_result(result, problem, optimum, setting)
