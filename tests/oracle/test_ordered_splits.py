"""Limits on splits, and the error-versus-splits curve, over ordered features: brute force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest

from certree import _core
from tests.oracle.evaluate import tree_value
from tests.oracle.ordered import Ordered, random_ordereds
from tests.registry import all_switches, settings_one_by_one

WIDER: dict[str, Any] = {"rows": (12, 32), "most_ranks": 32, "features": (1, 3), "depths": (3, 4)}
"""More ranks than a row set has bins."""


class _Entry:
    """One entry of a path, as an object with the arrays of a tree."""

    def __init__(self, entry: Any) -> None:
        self.splits, self.lower, self.upper, self.test, self.first_child, self.label = entry


def problems(seed: int, count: int, **ranges: Any) -> Iterator[Ordered]:
    """Problems with a limit on splits, one in four without another one on depth."""
    rng = np.random.default_rng(seed)
    for ordered in random_ordereds(seed, count, **ranges):
        limits = {"max_splits": int(rng.integers(0, 8))}
        if rng.random() < 0.25:
            limits["max_depth"] = -1
        yield ordered.but(**limits)


def check_optimal(ordered: Ordered, **options: Any) -> None:
    """Compare value, splits and depth with those of the smallest best tree."""
    result = ordered.solve(**options)
    assert result.status == "optimal", (ordered, options)
    optimum = ordered.problem.optimum()
    facts = ordered.check(result, optimum.value, options)
    found = (facts.value, facts.splits, facts.depth)
    assert found == (optimum.value, optimum.splits, optimum.depth), (found, optimum, ordered)


@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_the_least_within_a_limit_on_splits(seed: int) -> None:
    """Proven optimal; of the best trees one with the fewest splits, then the least depth."""
    for ordered in problems(seed, 400):
        check_optimal(ordered)


@pytest.mark.parametrize("seed", range(10, 13))
def test_the_same_where_ranks_are_many(seed: int) -> None:
    """Bins hold several thresholds, so that intervals of thresholds have work to do."""
    for ordered in problems(seed, 60, **WIDER):
        check_optimal(ordered)


@pytest.mark.parametrize("seed", range(20, 22))
def test_every_switch_alone_within_a_limit_on_splits(seed: int) -> None:
    """Each technique off by itself, on by itself, and all of them."""
    for ordered in problems(seed, 30):
        for setting in settings_one_by_one():
            check_optimal(ordered, **setting)
    for ordered in problems(seed, 6, **WIDER):
        for setting in settings_one_by_one():
            check_optimal(ordered, **setting)


@pytest.mark.parametrize("seed", range(30, 32))
def test_stopped_within_a_limit_on_splits(seed: int) -> None:
    """Whatever the work done so far, the optimum lies between the bounds."""
    for number, ordered in enumerate(problems(seed, 60, **WIDER)):
        result = ordered.solve(work_limit=1 + number % 7)
        ordered.check(result, ordered.problem.optimal_value())


def unlimited(seed: int, count: int, **ranges: Any) -> Iterator[Ordered]:
    """Problems with a price per split and no other limit."""
    rng = np.random.default_rng(seed)
    for ordered in random_ordereds(seed, count, **ranges):
        price = int(rng.choice([1, 2, 3, 5])) * max(1, ordered.problem.error_scale // 2)
        yield ordered.but(max_depth=-1, split_penalty=price)


@pytest.mark.parametrize("seed", range(60, 63))
def test_a_price_per_split_is_limit_enough(seed: int) -> None:
    """Trees of any depth, with and without the bound that makes it one."""
    off = [{name: False} for name in ("use_split_count", "use_threshold_intervals")]
    settings = cycle([{}, {}, *off])
    for ordered in unlimited(seed, 200):
        check_optimal(ordered, **next(settings))
    for ordered in unlimited(seed, 12, rows=(12, 24), most_ranks=24, features=(1, 3)):
        check_optimal(ordered, **next(settings))
        check_optimal(ordered, turn_work=3)


@pytest.mark.parametrize("seed", range(64, 66))
def test_a_price_beside_a_limit_on_splits(seed: int) -> None:
    """Without a first tree, nothing hides a bound that is too high."""
    for number, ordered in enumerate(unlimited(seed, 150)):
        limited = ordered.but(max_depth=3 + number % 2, max_splits=3 + number % 4)
        check_optimal(limited, use_greedy_incumbent=False)


def test_stopped_without_a_limit_on_the_size() -> None:
    """Whatever the work done so far, the optimum lies between the bounds."""
    for number, ordered in enumerate(unlimited(63, 60, rows=(12, 24), most_ranks=24)):
        result = ordered.solve(work_limit=1 + number % 7)
        ordered.check(result, ordered.problem.optimal_value())


def test_a_chain_has_fewer_splits_than_a_full_tree_of_less_depth() -> None:
    """Three splits in a chain are the best tree, and cost less than four."""
    bits = np.array(list(product([0, 1], repeat=3)), dtype=np.int32)
    y = bits.all(axis=1).astype(np.int32)
    weights = np.where(y == 1, 200, np.where(bits.sum(axis=1) == 2, 20, 50)).astype(np.int64)
    ranks = np.ascontiguousarray(bits.T)
    for splits in (3, 4, 5, 7):
        options = {"max_depth": 4, "max_splits": splits, "split_penalty": 10}
        for extra in ({}, {"use_greedy_incumbent": False}, {"use_split_count": False}):
            result = _core.solve_ordered(
                ranks,
                np.full(3, 2, dtype=np.int32),
                y,
                np.array([[0, 1], [1, 0]]),
                weights,
                {**options, **extra},
                None,
            )
            assert (result.lower_bound, result.upper_bound) == (30, 30), (splits, extra)


def costs_of(ordered: Ordered) -> list[int]:
    """Return the least cost for each number of splits."""
    problem = ordered.problem
    depth = None if problem.max_depth < 0 else problem.max_depth
    most = 15 if problem.max_splits < 0 else problem.max_splits
    return problem.but(error_scale=1, split_penalty=0).oracle().costs_by_splits(most, depth)


def check_path(ordered: Ordered, **options: Any) -> None:
    """Compare every entry with the brute force."""
    costs = costs_of(ordered)
    path = ordered.solve_path(**options)
    assert path.status == "optimal", (ordered, options)
    entries = [_Entry(entry) for entry in path.entries]
    steps = [k for k, cost in enumerate(costs) if k == 0 or cost < costs[k - 1]]
    assert [entry.splits for entry in entries] == steps, (ordered, options, costs)
    for entry in entries:
        facts = tree_value(entry, ordered.problem)
        assert entry.lower == entry.upper == costs[entry.splits] == facts.cost, (ordered, options)
        assert facts.splits == entry.splits


@pytest.mark.parametrize("seed", range(40, 44))
def test_every_entry_is_the_least_cost_for_its_number_of_splits(seed: int) -> None:
    """All numbers of splits, with every switch on, off, and as usual."""
    names = all_switches()
    settings = cycle([{}, dict.fromkeys(names, True), dict.fromkeys(names, False)])
    for number, ordered in enumerate(random_ordereds(seed, 150)):
        check_path(ordered, **next(settings))
        check_path(ordered.but(max_splits=number % 6), **next(settings))
    for ordered in random_ordereds(seed, 15, **WIDER):
        check_path(ordered, **next(settings))


@pytest.mark.parametrize("seed", range(50, 52))
def test_a_path_that_is_stopped_has_valid_bounds(seed: int) -> None:
    """Whatever the work done so far, the curve lies between the bounds."""
    for number, ordered in enumerate(random_ordereds(seed, 60, **WIDER)):
        costs = costs_of(ordered)
        entries = [_Entry(e) for e in ordered.solve_path(work_limit=1 + number % 9).entries]
        assert entries[0].splits == 0
        for entry in entries:
            facts = tree_value(entry, ordered.problem)
            assert facts.splits <= entry.splits
            assert entry.lower <= costs[entry.splits] <= entry.upper == facts.cost, ordered
