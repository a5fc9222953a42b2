"""Estimators on tables of numbers, with every threshold, against a brute force.

The tests that a table allows are made here from the values, in plain Python: at most a value that
occurs, with missing values on either side; equal to a category; missing. Integers beyond 2**53 are
such that float64 tells them apart; others are an error (tests/unit/test_tables.py).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from certree import OptimalTreeClassifier
from tests.oracle.brute_force import BruteForce, Optimum
from tests.problems import FUZZ, zero_one_costs

Rng = np.random.Generator

TINY = 5e-324
ONE = 1.0
COLUMNS: dict[str, Callable[[Rng, int], Any]] = {
    "real": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 4, size=n) / 3,
    "constant": lambda rng, n: np.full(n, 2.5),
    "zero-one": lambda rng, n: rng.integers(0, 2, size=n),
    "integers": lambda rng, n: rng.integers(-5, 6, size=n),
    "beyond 2**53": lambda rng, n: 2**53 + 2 * rng.integers(0, 4, size=n),
    "neighbours": lambda rng, n: rng.choice([np.nextafter(ONE, 0), ONE, np.nextafter(ONE, 2)], n),
    "zeros and denormals": lambda rng, n: rng.choice([-TINY, -0.0, 0.0, TINY, 3 * TINY], size=n),
    "huge": lambda rng, n: rng.choice([-1.7e308, -1e300, 1e300, 1.7e308], size=n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, size=n)),
    "mostly missing": lambda rng, n: np.where(rng.random(n) < 0.8, np.nan, rng.normal(size=n)),
    "colour": lambda rng, n: rng.choice(np.array(["red", "green", "blue"], dtype=object), size=n),
}


def outcomes(values: list[Any]) -> list[list[bool]]:
    """List, for every test of a column, the rows for which it holds."""
    if any(isinstance(value, str) for value in values):
        return [[value == category for value in values] for category in sorted(set(values))]
    values = [float(value) for value in values]
    known = [value for value in values if value == value]
    found = [[value <= limit for value in values] for limit in sorted(set(known))]
    if len(known) < len(values):
        found += [[not value > limit for value in values] for limit in sorted(set(known))]
        found.append([value != value for value in values])
    return found


def optimum_of(
    table: pd.DataFrame, classes: list[int], weights: list[int], depth: int, **objective: int
) -> Optimum:
    """Find the least value over all trees."""
    everything = (1 << len(classes)) - 1
    tests = []
    for name in table:
        for holds in outcomes(table[name].tolist()):
            rows = sum(1 << i for i, held in enumerate(holds) if held)
            tests.append((rows, everything ^ rows))
    costs = zero_one_costs(max(classes) + 1).tolist()
    return BruteForce(tests, classes, costs, weights, **objective).optimum(depth)


def random_table(rng: Rng) -> pd.DataFrame:
    """Draw up to four columns of any kinds."""
    n_rows = int(rng.integers(1, 15, size=2).max())
    kinds = rng.choice(np.array(list(COLUMNS)), size=int(rng.integers(1, 5)))
    columns = {f"{kind} {j}": COLUMNS[str(kind)](rng, n_rows) for j, kind in enumerate(kinds)}
    return pd.DataFrame(columns)


def check(table: pd.DataFrame, rng: Rng, about: Any) -> None:
    """Fit one table with random classes and settings, and compare with the brute force."""
    n_rows = len(table)
    classes = rng.integers(0, int(rng.choice([2, 2, 3])), size=n_rows)
    weights = rng.integers(1, 5, size=n_rows) if rng.random() < 0.4 else np.ones(n_rows, dtype=int)
    total, share = int(weights.sum()), int(rng.choice([0, 0, 1, 2]))
    depth = int(rng.integers(0, 4))
    min_leaf = int(rng.choice([1, 1, 2, 3]))
    model = OptimalTreeClassifier(
        max_depth=depth,
        min_samples_leaf=min_leaf,
        complexity=share / 20,
        thresholds="all",
    ).fit(table, classes, sample_weight=weights)
    certificate = model.certificate_
    optimum = optimum_of(
        table,
        np.unique(classes, return_inverse=True)[1].tolist(),
        weights.tolist(),
        depth,
        error_scale=20,
        split_penalty=share * total,
        min_leaf=min_leaf,
    )
    where = (about, table.to_dict("list"), classes.tolist(), weights.tolist(), depth, min_leaf)
    assert certificate.is_optimal, where
    assert Fraction(certificate.cost) == Fraction(optimum.value, 20), (optimum, where, share)
    assert model.tree_.n_splits == optimum.splits, (optimum, where, share)
    wrong = int(weights[model.predict(table) != classes].sum())
    found = 20 * wrong + share * total * model.tree_.n_splits
    assert found == optimum.value, (found, where, share)


@pytest.mark.parametrize("seed", range(4))
def test_mixed_tables(seed: int) -> None:
    """Columns of all kinds side by side; the predictions make the errors that are certified."""
    for number in range(60):
        rng = np.random.default_rng([FUZZ, seed, number])
        check(random_table(rng), rng, (seed, number))


@pytest.mark.parametrize("kind", COLUMNS)
def test_two_columns_of_one_kind(kind: str) -> None:
    """So that every kind decides."""
    for number in range(25):
        rng = np.random.default_rng([FUZZ, 9, number])
        n_rows = int(rng.integers(2, 14))
        columns = {name: COLUMNS[kind](rng, n_rows) for name in ("a", "b")}
        check(pd.DataFrame(columns), rng, (kind, number))


def test_neighbouring_floats_are_parted_and_equal_ones_are_not() -> None:
    """One split where a float lies between, none between two signs of zero."""
    low, high = 1.0, float(np.nextafter(1.0, 2.0))
    for values, errors in (
        ([low, high, low, high], 0),
        ([0.0, TINY, -0.0, TINY], 0),
        ([0.0, -0.0, 0.0, -0.0], 2),
        ([2**53 - 1, 2**53, 2**53 - 1, 2**53], 0),
    ):
        X = np.array(values).reshape(-1, 1)
        model = OptimalTreeClassifier(max_depth=1, thresholds="all").fit(X, [0, 1, 0, 1])
        assert model.certificate_.cost == errors, values
        assert int((model.predict(X) != [0, 1, 0, 1]).sum()) == errors, values


def test_a_strictly_increasing_map_of_a_feature_changes_no_cost() -> None:
    """Units and logarithms do not matter where every threshold counts."""
    rng = np.random.default_rng([FUZZ, 11])
    X = rng.lognormal(size=(150, 4)).round(4)
    y = (X[:, 0] * X[:, 1] > 1).astype(int) ^ (rng.random(150) < 0.1)
    fits = [
        OptimalTreeClassifier(max_depth=3, thresholds="all").fit(table, y)
        for table in (X, np.log(X), 1000 * X + 7, np.sqrt(X))
    ]
    costs = {fit.certificate_.cost for fit in fits}
    assert len(costs) == 1
    assert all(fit.certificate_.is_optimal for fit in fits)


def test_quantiles_lose_an_optimum_that_all_thresholds_keep() -> None:
    """Cut points at quantiles miss a band of few rows, whatever tree is made of them."""
    values = np.arange(1000.0)
    X, y = values.reshape(-1, 1), ((values >= 600) & (values < 612)).astype(int)
    costs = [
        int(OptimalTreeClassifier(max_depth=2, thresholds=t).fit(X, y).certificate_.cost)
        for t in (8, "auto", "all")
    ]
    assert costs == [12, 12, 0]
