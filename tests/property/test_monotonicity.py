"""More freedom is never worse, less is never better, and a dearer split is never used more."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.evaluate import TreeFacts, check_result
from tests.problems import FUZZ, Problem, random_problems
from tests.registry import solve


def problems(seed: int, **ranges: Any) -> list[Problem]:
    """Small ones of every kind and some of more than one word."""
    return [
        *random_problems(seed, 250, **ranges),
        *random_problems(seed, 12, rows=(60, 200), columns=(6, 14), depths=(2, 3)),
    ]


def solved(problem: Problem) -> TreeFacts:
    """Facts of the optimal tree."""
    result = solve(problem)
    assert result.status == "optimal", problem
    return check_result(result, problem)


def shape(problem: Problem) -> tuple[int, int, int]:
    """Value, splits and depth of the smallest optimal tree."""
    facts = solved(problem)
    return facts.value, facts.splits, facts.depth


def test_deeper_is_never_worse() -> None:
    """And no limit at all is as good as any depth."""
    for problem in random_problems(1, 300):
        values = [solved(problem.but(max_depth=depth)).value for depth in (0, 1, 2, 3, 4, 5, -1)]
        assert values == sorted(values, reverse=True), problem


def test_more_splits_are_never_worse() -> None:
    """And no limit at all is as good as any number."""
    for problem in problems(2):
        values = [solved(problem.but(max_splits=limit)).value for limit in (*range(8), -1)]
        assert values == sorted(values, reverse=True), problem


def test_a_larger_leaf_size_is_never_better() -> None:
    """Each step of the limit forbids trees."""
    for problem in problems(3):
        values = [solved(problem.but(min_leaf=size)).value for size in range(1, 7)]
        assert values == sorted(values), problem


def test_a_larger_penalty_never_has_more_splits() -> None:
    """Holds for any choice of optimal trees, by exchange."""
    for problem in problems(4):
        step = max(1, problem.split_penalty)
        facts = [solved(problem.but(split_penalty=step * k)) for k in (0, 1, 2, 3, 5, 8)]
        splits = [fact.splits for fact in facts]
        assert splits == sorted(splits, reverse=True), problem
        assert [fact.cost for fact in facts] == sorted(fact.cost for fact in facts), problem


def test_the_value_is_concave_in_the_penalty() -> None:
    """It is a minimum of lines, one for each tree."""
    for problem in problems(5):
        step = max(1, problem.split_penalty)
        values = [solved(problem.but(split_penalty=step * k)).value for k in range(5)]
        slopes = np.diff(np.array(values, dtype=object))
        assert list(slopes) == sorted(slopes, reverse=True), problem


def test_a_full_tree_needs_no_split_limit() -> None:
    """A tree of depth d has at most 2**d - 1 splits, one of k splits at most depth k."""
    for problem in problems(6):
        for depth in (1, 2, 3):
            deep = problem.but(max_depth=depth, max_splits=-1)
            assert shape(deep) == shape(deep.but(max_splits=2**depth - 1)), deep
            few = problem.but(max_depth=-1, max_splits=depth)
            assert shape(few) == shape(few.but(max_depth=depth)), few


def test_a_depth_beyond_the_rows_is_no_limit() -> None:
    """Every split on a path takes a row away."""
    for problem in random_problems(7, 300, rows=(1, 12)):
        deep = problem.but(max_depth=problem.n_rows)
        assert shape(deep) == shape(problem.but(max_depth=-1)), problem


def test_another_column_is_never_worse() -> None:
    """The old trees are still there."""
    for number, problem in enumerate(problems(8)):
        rng = np.random.default_rng([FUZZ, 8, number])
        extra = rng.integers(0, 2, size=problem.n_rows, dtype=np.uint8)
        more = problem.but(columns=np.asfortranarray(np.column_stack([problem.columns, extra])))
        assert solved(more).value <= solved(problem).value, problem


def test_fewer_rows_are_never_dearer() -> None:
    """And one row more costs at most its worst label, leaves of any size."""
    for problem in problems(9):
        if problem.n_rows < 2:
            continue
        problem = problem.but(min_leaf=1)
        fewer = problem.but(
            columns=np.asfortranarray(problem.columns[1:]),
            row_types=problem.row_types[1:],
            weights=None if problem.weights is None else problem.weights[1:],
        )
        worst = problem.weight_list()[0] * int(problem.cost_matrix[problem.row_types[0]].max())
        difference = solved(problem).value - solved(fewer).value
        assert 0 <= difference <= problem.error_scale * worst, problem
