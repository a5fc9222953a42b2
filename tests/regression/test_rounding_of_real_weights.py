"""Weights with many digits were rounded to 20 bits, and certificates of squares ignored that."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import OptimalityWarning, OptimalTreeRegressor, SPOTree, oracles, solve, tasks, verify


def _data(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 2, (n_rows, 4)), rng.random(n_rows)


def _squared_error(y, weights, leaves):
    total = Fraction(0)
    for leaf in np.unique(leaves):
        w = [Fraction(x) for x in weights[leaves == leaf].tolist()]
        t = [Fraction(x) for x in y[leaves == leaf].tolist()]
        mean = sum(map(Fraction.__mul__, w, t)) / sum(w)
        total += sum(a * (b - mean) ** 2 for a, b in zip(w, t, strict=True))
    return total


@pytest.mark.parametrize("decimals", [2, 17])
@pytest.mark.parametrize("seed", range(4))
def test_squared_errors(seed, decimals):
    rng, X, weights = _data(seed)
    y = np.round(rng.normal(size=60), decimals)
    model = OptimalTreeRegressor(max_depth=3).fit(X, y, weights)
    certificate = model.certificate_
    error = _squared_error(y, weights, model.apply(X))
    assert abs(certificate.cost - error) <= certificate.rounding
    whole = _squared_error(y, weights, np.zeros(60))
    assert certificate.rounding < whole / 10**9
    assert model.score(X, y, weights) == pytest.approx(certificate.objective, abs=1e-10)


@pytest.mark.parametrize("n_rows", [50, 2000])
def test_targets_without_weights(n_rows):
    rng, X, _ = _data(1, n_rows)
    y = rng.normal(size=n_rows)
    certificate = OptimalTreeRegressor(max_depth=3).fit(X, y).certificate_
    assert certificate.rounding < n_rows * float(y.var()) * 2e-9


def test_short_decimals_stay_exact():
    rng, X, _ = _data(2)
    y, weights = np.round(rng.normal(size=60), 3), rng.choice([0.25, 1.5, 2.0], 60)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y, weights)
    error = Fraction(0)
    for leaf in np.unique(model.apply(X)):
        at = model.apply(X) == leaf
        pairs = list(zip(weights[at].tolist(), y[at].tolist(), strict=True))
        exact = [(Fraction(str(w)), Fraction(str(t))) for w, t in pairs]
        total = sum(w for w, _ in exact)
        mean = sum(w * t for w, t in exact) / total
        error += sum(w * (t - mean) ** 2 for w, t in exact)
    # All that is rounded is the fraction of a leaf, down to the fine unit of the search.
    assert 0 <= error - model.certificate_.cost < 4 * model.certificate_.unit


@pytest.mark.parametrize("seed", range(4))
def test_sums_of_statistics(seed):
    rng, X, weights = _data(seed)
    numbers = rng.random((60, 2)) * 1000
    task = tasks.LeafCost(numbers, lambda sums: sums.min(axis=1), bounds="superadditive")
    found = solve(task, X, sample_weight=weights, max_depth=2)
    leaves, true = found.apply(X), Fraction(0)
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf).tolist()
        sums = [sum(Fraction(weights[i]) * Fraction(numbers[i, k]) for i in rows) for k in (0, 1)]
        true += min(sums)
    # Its own function is told the sums under the weights as they were given.
    assert abs(float(found.certificate.cost - true)) < float(found.certificate.rounding) + 1e-9


def test_the_noise_of_ready_made_tasks_counts_them():
    rng, X, weights = _data(3)
    y = rng.poisson(5, 60)
    found = solve(tasks.poisson_deviance(y), X, sample_weight=weights, max_depth=2).certificate
    assert found.rounding < found.cost / 10**6


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_losses_of_decisions(seed, listed):
    rng, X, weights = _data(seed)
    costs = rng.random((60, 3)) * 1e6
    oracle = oracles.TopK(3, 2)
    model = SPOTree(oracle, max_depth=2, max_listed=10 if listed else 0).fit(X, costs, weights)
    taken, best = model.decide(X), oracle.decide(costs)
    true = sum(
        Fraction(w) * sum(Fraction(c) * int(a - b) for c, a, b in zip(*line, strict=True))
        for w, line in zip(
            weights.tolist(),
            zip(costs.tolist(), taken.tolist(), best.tolist(), strict=True),
            strict=True,
        )
    )
    certificate = model.certificate_
    assert abs(certificate.cost - true) <= certificate.rounding
    assert certificate.rounding < 1e-2


@pytest.mark.parametrize("make", [tasks.entropy, tasks.gini])
def test_costs_that_rounding_swallows_are_not_called_optimal(make: Any) -> None:
    """Weights of wide range leave no digits for light rows."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, 60)
    weights = rng.random(60) * 10.0 ** rng.integers(-7, 7, 60)
    weights[0] = 1e23
    with pytest.warns(OptimalityWarning, match="rounded"):
        solution = solve(make(y), X, sample_weight=weights, max_depth=2)
    assert solution.certificate.status == "precision"
    assert verify(solution, X, sample_weight=weights)
