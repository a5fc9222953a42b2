"""The error-versus-splits curve, and searches that start from a known tree, against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from certree import _core, regularization_path
from tests.oracle.evaluate import check_result, tree_value
from tests.problems import Problem, make_problem, random_problems
from tests.registry import all_searches, all_switches, solve


class _Entry:
    """One entry of a path, as an object with the arrays of a tree."""

    def __init__(self, entry: Any) -> None:
        self.splits, self.lower, self.upper, self.test, self.first_child, self.label = entry


def solve_path(problem: Problem, **options: Any) -> tuple[str, list[_Entry]]:
    found = _core.solve_path(
        problem.columns,
        problem.row_types,
        problem.cost_matrix,
        problem.weights,
        {**problem.options(), **options},
    )
    return found.status, [_Entry(entry) for entry in found.entries]


def problems(seed: int, count: int) -> list[Problem]:
    """Problems with a limit on depth, on splits or on both."""
    ranges: dict[str, Any] = {"rows": (1, 18), "columns": (1, 5), "depths": (0, 1, 2, 3, 4, -1)}
    drawn = [p.but(error_scale=1) for p in random_problems(seed, count, **ranges)]
    return [p.but(max_splits=6) if p.max_depth < 0 and p.max_splits < 0 else p for p in drawn]


@pytest.mark.parametrize("seed", range(2000, 2004))
def test_every_entry_is_the_least_cost_for_its_number_of_splits(seed: int) -> None:
    """All numbers of splits, with every switch on, off, and as usual."""
    names = all_switches()
    settings = cycle([{}, dict.fromkeys(names, True), dict.fromkeys(names, False)])
    for problem in problems(seed, 120):
        depth = None if problem.max_depth < 0 else problem.max_depth
        most = 15 if problem.max_splits < 0 else problem.max_splits
        costs = problem.oracle().costs_by_splits(most, depth)
        setting = next(settings)
        status, entries = solve_path(problem, **setting)
        assert status == "optimal"
        assert [e.splits for e in entries] == [
            k for k, cost in enumerate(costs) if k == 0 or cost < costs[k - 1]
        ], (problem, setting)
        for entry in entries:
            facts = tree_value(entry, problem)
            assert entry.lower == entry.upper == costs[entry.splits] == facts.cost, problem
            assert facts.splits == entry.splits


def test_a_path_that_is_stopped_has_valid_bounds() -> None:
    """Whatever the work done so far, the curve lies between the bounds."""
    for number, problem in enumerate(problems(2010, 80)):
        depth = None if problem.max_depth < 0 else problem.max_depth
        most = 15 if problem.max_splits < 0 else problem.max_splits
        costs = problem.oracle().costs_by_splits(most, depth)
        _, entries = solve_path(problem, work_limit=1 + number % 5)
        assert entries[0].splits == 0
        for entry in entries:
            facts = tree_value(entry, problem)
            assert facts.splits <= entry.splits
            assert entry.lower <= costs[entry.splits] <= entry.upper == facts.cost, problem


def hard_table(seed: int) -> Problem:
    """A table of which no path of depth eight is proven in a moment."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, size=(400, 25), dtype=np.uint8)
    parity = columns[:, :3].sum(axis=1) % 2 == 1
    return make_problem(columns, parity ^ (rng.random(400) < 0.2), max_depth=8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limits", [{"work_limit": 1}, {"work_limit": 300}, {"time_limit": 0.3}])
def test_a_path_that_is_stopped_has_good_trees_of_every_size(seed: int, limits: Any) -> None:
    """Its largest tree is no worse than one found by itself; sizes in between cost in between."""
    problem = hard_table(seed)
    status, entries = solve_path(problem, **limits)
    assert status in limits
    single = solve(problem, work_limit=1).upper_bound
    assert entries[-1].upper <= single
    for entry in entries:
        facts = tree_value(entry, problem)
        assert facts.cost == entry.upper
        assert facts.splits == entry.splits
    # The trees of a greedy tree's sizes are on the way to it.
    assert len(entries) > min(entries[-1].splits, 40) / 2


def test_a_path_that_is_stopped_is_the_same_every_time() -> None:
    """For the same work."""
    problem = hard_table(5)
    for work in (1, 10, 300, 3000):
        first, second = (solve_path(problem, work_limit=work)[1] for _ in range(2))
        for one, other in zip(first, second, strict=True):
            assert (one.splits, one.lower, one.upper) == (other.splits, other.lower, other.upper)
            assert np.array_equal(one.test, other.test)


def test_a_path_with_little_memory_still_has_trees() -> None:
    """Curves and tables may fill it."""
    problem = hard_table(6)
    for memory in (2**18, 2**20, 2**22):
        status, entries = solve_path(problem, memory_limit=memory, time_limit=1.0)
        assert status in ("memory_limit", "time_limit")
        for entry in entries:
            assert tree_value(entry, problem).cost == entry.upper >= entry.lower


def test_break_points_are_where_brute_force_changes_its_mind() -> None:
    """The oracle's curve at, just below and just above each complexity."""
    for problem in problems(2020, 60):
        if problem.n_rows < 6 or len(np.unique(problem.row_types)) < 2:
            continue
        depth = 3
        path = regularization_path(problem.columns, problem.row_types, max_depth=depth)
        plain = problem.but(
            cost_matrix=1 - np.eye(int(problem.row_types.max()) + 1, dtype=np.int64),
            weights=None,
            min_leaf=1,
            max_depth=depth,
            max_splits=-1,
        )
        costs = plain.oracle().costs_by_splits(7, depth)
        for point in path.breakpoints():
            below, above = point * Fraction(999_999, 10**6), point * Fraction(1_000_001, 10**6)
            chosen = {}
            for complexity in (below, point, above):
                values = [c + complexity * plain.n_rows * k for k, c in enumerate(costs)]
                chosen[complexity] = values.index(min(values))
                assert path.entry(complexity).splits == chosen[complexity]
            assert chosen[below] > chosen[point] == chosen[above]


@pytest.mark.parametrize("search", ["auto", *all_searches()])
def test_a_known_value_changes_nothing_but_the_work(search: str) -> None:
    """Better trees are found, and without any the bound meets the value that was known."""
    for problem in random_problems(2030, 400, rows=(1, 20)):
        value, splits, _ = problem.optimum()
        root = problem.oracle().leaf_cost(problem.oracle().root)
        for known, size in ((value, splits), (root, 0)):
            result = solve(problem, search=search, known_value=known, known_splits=size)
            assert result.status == "optimal", problem
            assert result.lower_bound == result.upper_bound == value, problem
            if known > value:
                assert result.test.size, problem
            if result.test.size:
                assert check_result(result, problem, value).splits == splits
