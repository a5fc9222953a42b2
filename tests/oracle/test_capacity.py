"""Policies and classifiers within capacities and budgets equal brute force."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import CostSensitiveTreeClassifier, PolicyTree, tasks, verify


def labellings(
    table: Any, n_labels: int, depth: int, received: Any = None, least: int = 0
) -> set[tuple[int, ...]]:
    """Return all labellings by trees whose leaves hold enough rows that received their label."""

    def visit(rows: tuple[int, ...], depth: int) -> set[tuple[int, ...]]:
        found = set()
        for label in range(n_labels):
            if received is None or sum(received[row] == label for row in rows) >= least:
                found.add((label,) * len(rows))
        for test in range(table.shape[1] if depth else 0):
            yes = tuple(row for row in rows if table[row, test])
            no = tuple(row for row in rows if not table[row, test])
            if not yes or not no:
                continue
            for a in visit(yes, depth - 1):
                for b in visit(no, depth - 1):
                    of = dict(zip(yes, a, strict=True)) | dict(zip(no, b, strict=True))
                    found.add(tuple(of[row] for row in rows))
        return found

    return visit(tuple(range(len(table))), depth)


def draw(rng: Any) -> Iterator[tuple[Any, ...]]:
    """Yield small tables with rewards of three treatments, and the treatment each row received."""
    for _ in range(25):
        n_rows = int(rng.integers(4, 11))
        table = rng.integers(0, 2, (n_rows, int(rng.integers(1, 4))))
        rewards = rng.integers(-5, 6, (n_rows, 3))
        weights = rng.integers(1, 4, n_rows) if rng.random() < 0.4 else np.ones(n_rows, dtype=int)
        yield table, rewards, rng.integers(0, 3, n_rows), weights, int(rng.integers(0, 3))


def gain(labels: tuple[int, ...], rewards: Any, weights: Any) -> int:
    return int(sum(w * r[label] for label, r, w in zip(labels, rewards, weights, strict=True)))


def spent(labels: tuple[int, ...], prices: Any, weights: Any) -> Fraction:
    costs = [Fraction(str(price)) for price in prices]
    return sum((int(w) * costs[k] for k, w in zip(labels, weights, strict=True)), Fraction(0))


def fit(model: PolicyTree, *arguments: Any, **others: Any) -> PolicyTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.fit_rewards(*arguments, **others)


def same(model: PolicyTree, table: Any, weights: Any, rewards: Any, best: int | None) -> None:
    """Compare the value of a policy with the best there is, and verify its certificate."""
    if best is None:
        assert model.certificate_.status == "infeasible"
    else:
        assert model.certificate_.status == "optimal"
        predicted = tuple(model.predict(table).tolist())
        assert gain(predicted, rewards, weights) == best
    assert verify(model, table, rewards, weights, exhaustive=True)


@pytest.mark.parametrize("share", [0, 0.1, 0.2, "1/3", Fraction(1, 2), 1, 3])
def test_capacities_equal_brute_force(share: Any) -> None:
    """Shares that trees hit exactly, and numbers of rows."""
    rng = np.random.default_rng([1, *map(ord, str(share))])
    for table, rewards, _, weights, depth in draw(rng):
        total = int(weights.sum())
        most = share if isinstance(share, int) else Fraction(str(share)) * total
        prices = [0, 0, 1]
        values = [
            gain(labels, rewards, weights)
            for labels in labellings(table, 3, depth)
            if spent(labels, prices, weights) <= most
        ]
        model = PolicyTree(capacity={2: share}, max_depth=depth)
        fit(model, table, rewards, weights)
        same(model, table, weights, rewards, max(values))


def test_budgets_and_several_capacities_equal_brute_force() -> None:
    rng = np.random.default_rng(2)
    for table, rewards, _, weights, depth in draw(rng):
        prices = [0.1, 1.5, 0.7]
        budget = Fraction(str(round(float(rng.random() * 1.2 * weights.sum()), 1)))
        values = [
            gain(labels, rewards, weights)
            for labels in labellings(table, 3, depth)
            if spent(labels, prices, weights) <= budget
            and spent(labels, [1, 0, 0], weights) <= Fraction(int(weights.sum()), 2)
        ]
        model = PolicyTree(
            capacity={0: "1/2"}, treatment_costs=prices, budget=budget, max_depth=depth
        )
        fit(model, table, rewards, weights)
        same(model, table, weights, rewards, max(values, default=None))


@pytest.mark.parametrize("least", [1, 2, 3])
def test_rows_that_received_the_treatment_equal_brute_force(least: int) -> None:
    rng = np.random.default_rng([3, least])
    for table, rewards, received, weights, depth in draw(rng):
        values = [
            gain(labels, rewards, weights)
            for labels in labellings(table, 3, depth, received, least)
        ]
        model = PolicyTree(min_treated=least, max_depth=depth)
        fit(model, table, rewards, weights, treatment=received)
        same(model, table, weights, rewards, max(values, default=None))


def test_costs_within_limits_equal_brute_force() -> None:
    rng = np.random.default_rng(4)
    for table, rewards, _, weights, depth in draw(rng):
        costs = 6 - rewards
        load = rng.integers(0, 4, len(table))
        bound = int(load.sum()) // 2
        values = [
            -gain(labels, -costs, weights)
            for labels in labellings(table, 3, depth)
            if spent(labels, [1, 0, 0], weights) <= Fraction(int(weights.sum()), 3)
            and sum(int(w * a) for k, a, w in zip(labels, load, weights, strict=True) if k == 1)
            <= bound
        ]
        model = CostSensitiveTreeClassifier(
            capacity={0: "1/3"},
            limits=[tasks.Limit("load", {1: load}, at_most=bound)],
            max_depth=depth,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model.fit(table, costs=costs, sample_weight=weights)
        if not values:
            assert model.certificate_.status == "infeasible"
            continue
        predicted = tuple(model.predict(table).tolist())
        assert -gain(predicted, -costs, weights) == min(values)
        assert verify(model, table, None, weights, costs=costs, exhaustive=True)
