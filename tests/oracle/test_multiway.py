"""The multiway search against the oracle: all trees of tests with any number of outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from certree import _core, engine, metrics
from certree.engine._multiway_search import MultiwaySession
from certree.proofs._metric_search import solve_metric, solve_metric_path
from tests.oracle.confusion import Confusions
from tests.oracle.multiway import MultiwayProblem, random_multiway_problems
from tests.problems import random_problems
from tests.registry import all_isas, all_switches, settings_one_by_one, solve


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_the_least_over_all_trees(seed: int) -> None:
    """Multiway, binary and mixed tests; per split and per leaf; with and without limits."""
    for number, problem in enumerate(random_multiway_problems(seed, 300)):
        result = problem.solve(threads=1 + number % 3)
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


def limited(seed: int, count: int, **ranges: Any) -> Iterator[MultiwayProblem]:
    """Problems with a limit on the number of splits."""
    for i, problem in enumerate(random_multiway_problems(seed, count, **ranges)):
        yield problem.but(max_splits=i % 7)


@pytest.mark.parametrize("seed", range(700, 704))
def test_a_limit_on_splits_is_kept(seed: int) -> None:
    """With and without a depth limit, penalties per split and per leaf, and leaf sizes."""
    for problem in limited(seed, 200, rows=(1, 18), features=(1, 4)):
        result = problem.solve()
        value, splits = problem.optimum()
        assert result.status == "optimal", problem
        assert problem.check(result, value)[1] == splits, problem


@pytest.mark.parametrize("seed", range(710, 712))
def test_every_switch_alone_leaves_the_optimum_within_a_split_limit(seed: int) -> None:
    """Each technique off by itself, and on by itself."""
    for problem in limited(seed, 50, rows=(4, 12), features=(1, 3)):
        value = problem.optimum()[0]
        for setting in settings_one_by_one():
            result = problem.solve(**setting)
            assert result.status == "optimal", (problem, setting)
            problem.check(result, value, setting)


@pytest.mark.parametrize("seed", range(720, 722))
def test_limits_of_work_and_memory_keep_the_bounds_within_a_split_limit(seed: int) -> None:
    """Stopped anywhere, or short of memory, the tree is worth its value and the bound holds."""
    for problem in limited(seed, 40, rows=(12, 18), features=(3, 4)):
        value = problem.optimum()[0]
        for limits in ({"work_limit": 1}, {"work_limit": 5}, {"work_limit": 13}):
            problem.check(problem.solve(**limits), value, limits)
        for memory in (1, 30_000, 60_000):
            problem.check(problem.solve(memory_limit=memory, work_limit=3000), value, memory)


@pytest.mark.parametrize("seed", range(730, 734))
def test_every_entry_of_a_path_is_the_least_cost_for_its_number_of_splits(seed: int) -> None:
    """All numbers of splits, with a depth limit, a split limit or both."""
    settings = cycle([{}, *({name: bool(on) for name in all_switches()} for on in (0, 1))])
    for problem in limited(seed, 100, rows=(1, 16), features=(1, 4)):
        plain = problem.but(error_scale=1, split_penalty=0, leaf_penalty=0)
        if plain.max_splits == 6 and plain.max_depth >= 0:
            plain = plain.but(max_splits=-1)
        depth = None if plain.max_depth < 0 else plain.max_depth
        most = len(plain.row_types) if plain.max_splits < 0 else plain.max_splits
        costs = plain.oracle().costs_by_splits(most, depth)
        found = plain.solve_path(**next(settings))
        assert found.status == "optimal", plain
        improving = [k for k, cost in enumerate(costs) if k == 0 or cost < costs[k - 1]]
        assert [entry[0] for entry in found.entries] == improving, plain
        for splits, lower, upper, *tree in found.entries:
            assert lower == upper == costs[splits]
            nodes = SimpleNamespace(test=tree[0], first_child=tree[1], label=tree[2])
            assert plain.tree_value(nodes) == (upper, splits)


@pytest.mark.parametrize("seed", range(740, 742))
def test_a_stopped_path_keeps_the_bounds(seed: int) -> None:
    """Whatever is found in time are trees of their cost, and the bounds hold."""
    for problem in limited(seed, 60, rows=(12, 18), features=(3, 4)):
        plain = problem.but(error_scale=1, split_penalty=0, leaf_penalty=0)
        depth = None if plain.max_depth < 0 else plain.max_depth
        costs = plain.oracle().costs_by_splits(plain.max_splits, depth)
        for work in (1, 3, 9, 27):
            for splits, lower, upper, *tree in plain.solve_path(work_limit=work).entries:
                nodes = SimpleNamespace(test=tree[0], first_child=tree[1], label=tree[2])
                assert plain.tree_value(nodes) == (upper, splits)
                assert lower <= costs[splits] <= upper


@pytest.mark.parametrize("seed", range(750, 752))
def test_a_known_tree_is_only_beaten_by_better_ones(seed: int) -> None:
    """With the value of a best tree, nothing is returned; with a worse one, a best tree is."""
    for problem in [*random_multiway_problems(seed, 80), *limited(seed, 80, rows=(1, 16))]:
        value, splits = problem.optimum()
        none = problem.solve(known_value=value, known_splits=splits)
        assert none.status == "optimal"
        assert none.lower_bound == none.upper_bound == value, problem
        assert len(none.test) == 0
        better = problem.solve(known_value=value + 1, known_splits=splits)
        assert better.upper_bound == value
        problem.check(better, value)


METRICS: list[metrics.Metric] = [metrics.F1(), metrics.MCC(), metrics.FBeta(2)]


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_metrics_are_the_greatest_of_all_trees(metric: metrics.Metric) -> None:
    """With and without a penalty per split; and for every number of splits."""
    penalties = cycle([Fraction(0), Fraction(1, 50), Fraction(0), Fraction(1, 9)])
    for problem in limited(760, 60, rows=(4, 11), features=(1, 3)):
        types = (problem.row_types > 0).astype(np.int32)
        if len(set(types.tolist())) < 2 or problem.max_depth > 3:
            continue
        tests = [np.array(test, dtype=np.int32) for test in problem.tests]
        session = MultiwaySession(problem.columns, types, problem.weights, tests)
        weights = problem.weights if problem.weights is None else problem.weights.tolist()
        row_sets = problem.row_sets()
        oracle = Confusions([], types.tolist(), weights, problem.min_leaf, tests=row_sets)
        depth = problem.max_depth if problem.max_depth >= 0 else None
        triples = oracle.triples(depth, problem.max_splits)
        by_class = np.bincount(types, problem.weights, 2).astype(int).tolist()
        totals = by_class[1], by_class[0]
        options = engine.Options(
            max_depth=depth, max_splits=problem.max_splits, min_leaf=problem.min_leaf
        )
        penalty = next(penalties)
        value = max(metric.exact(fp, fn, *totals) - penalty * k for fp, fn, k in triples)
        result = solve_metric(session, metric, options, complexity=penalty)
        assert result.status == "optimal", problem
        assert result.objective == result.bound == value, (problem, penalty)
        assert (result.fp, result.fn, result.nodes.n_splits) in triples, problem
        predicted = result.nodes.label[result.nodes.route(problem.columns)]
        counted = np.ones(len(types), dtype=int) if problem.weights is None else problem.weights
        assert result.fp == counted[(predicted == 1) & (types == 0)].sum()
        path = solve_metric_path(session, metric, options)
        assert path.status == "optimal"
        for entry in path.entries:
            small = [t for t in triples if t[2] <= entry.tree.n_splits]
            assert entry.value == max(metric.exact(fp, fn, *totals) for fp, fn, _ in small)


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
        ([[0]], {"max_splits": -2}, "max_splits"),
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
