"""Regression by medians, quantiles and deviances against brute force over all trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeRegressor, solve, tasks, verify
from certree.engine import Options
from certree.engine._vector import VectorProblem
from certree.engine._vector import solve as solve_vector
from tests.oracle.vector import Limits, best_cost

Leaf = Callable[[Sequence[int]], Any]


def pinball_leaf(y: Sequence[Any], w: Sequence[Any], above: Any, below: Any) -> Leaf:
    """The loss at the best of all targets, by trying them."""

    def leaf(rows: Sequence[int]) -> Any:
        return min(
            sum(w[i] * max(above * (y[i] - y[k]), below * (y[k] - y[i])) for i in rows)
            for k in rows
        )

    return leaf


def random_table(rng: np.random.Generator, seed: int) -> NDArray[np.uint8]:
    """Few rows: some alone, many equal, and columns that are constant."""
    n_rows = 1 if seed % 50 == 0 else int(rng.integers(2, 12))
    # Registers hold 8 or 16 columns.
    n_columns = int(rng.integers(15, 36)) if seed % 10 == 0 else int(rng.integers(1, 5))
    table = rng.random((n_rows, n_columns)) < rng.random(n_columns)
    return np.asfortranarray(table.astype(np.uint8))


@pytest.mark.parametrize("part", range(20))
def test_the_core_finds_the_least_loss_around_quantiles(part: int) -> None:
    for seed in range(100 * part, 100 * part + 100):
        rng = np.random.default_rng(seed)
        table = random_table(rng, seed)
        n_rows, n_columns = table.shape
        # Few values, so that there are ties; large ones need more than 32 bits.
        y = rng.integers(-5, 6, n_rows) * (10**9 if seed % 2 else 1) + rng.integers(0, 3, n_rows)
        w = rng.integers(1, 4, n_rows) if seed % 3 else np.ones(n_rows, dtype=np.int64)
        above, below = [(1, 1), (1, 9), (9, 1), (3, 2)][seed % 4]
        depth = int(rng.integers(1, 3 if n_columns > 8 else 4))
        max_splits = [None, 2, 4][int(rng.integers(3))]
        least = int(rng.integers(1, 4))
        penalty = int(rng.integers(0, 3))
        leaf = pinball_leaf(y.tolist(), w.tolist(), above, below)
        limits = Limits(depth, max_splits, least, Fraction(penalty))
        problem = VectorProblem(
            table, np.stack([w, y], axis=1), kind="quantile", above=above, below=below
        )
        isa = ["baseline", "avx2", "avx512"][seed % 3]
        options = Options(depth, max_splits, least, split_penalty=penalty, extra={"isa": isa})
        try:
            found = solve_vector(problem, options)
        except ValueError:  # an instruction set that this processor lacks
            found = solve_vector(problem, Options(depth, max_splits, least, split_penalty=penalty))
        best = best_cost(table.tolist(), leaf, limits)
        assert found.lower_bound == found.upper_bound == best


@pytest.mark.parametrize("n_rows", [40, 300])
@pytest.mark.parametrize("step", [1, 10**9])
def test_many_rows_in_one_leaf_cost_what_their_quantile_says(n_rows: int, step: int) -> None:
    """Lists of many chunks, with ties over their ends."""
    rng = np.random.default_rng(n_rows)
    table = np.asfortranarray((rng.random((n_rows, 20)) < 0.5).astype(np.uint8))
    y, w = rng.integers(0, n_rows // 4, n_rows) * step, rng.integers(1, 5, n_rows)
    statistics = np.stack([w, y], axis=1)
    for above, below in ((1, 1), (2, 7)):
        problem = VectorProblem(table, statistics, kind="quantile", above=above, below=below)

        def leaf(rows: NDArray[np.intp], above: int = above, below: int = below) -> int:
            far = y[rows][:, None] - y[rows][None, :]
            return int((w[rows][:, None] * np.maximum(above * far, -below * far)).sum(axis=0).min())

        def sides(rows: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
            return [(rows[c[rows] == 1], rows[c[rows] == 0]) for c in table.T]

        def stump(rows: NDArray[np.intp]) -> int:
            return min(leaf(yes) + leaf(no) for yes, no in sides(rows) if len(yes) and len(no))

        everything = np.arange(n_rows)
        found = solve_vector(problem, Options(max_depth=2))
        assert found.upper_bound == min(stump(yes) + stump(no) for yes, no in sides(everything))


@pytest.mark.parametrize("seed", range(24))
def test_medians_and_quantiles_of_an_estimator(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (9, 4))
    y = np.round(rng.normal(size=9) * 3, seed % 3)
    weights = [None, rng.integers(1, 4, 9), np.round(rng.random(9) + 0.1, 2)][seed % 3]
    w = [Fraction(1)] * 9 if weights is None else [Fraction(str(x)) for x in weights.tolist()]
    target = [Fraction(str(x)) for x in y.tolist()]
    quantile = ["0.5", "0.9", "1/3", "0.05"][seed % 4]
    q = Fraction(quantile)
    limits = {"max_depth": 2 + seed % 2, "min_samples_leaf": 1 + seed % 3, "complexity": 0.01}
    for criterion, slopes in (("absolute_error", (1, 1)), ("quantile", (q, 1 - q))):
        leaf = pinball_leaf(target, w, *slopes)
        penalty = Fraction(1, 100) * leaf(range(9))
        best = best_cost(
            table.tolist(),
            leaf,
            Limits(limits["max_depth"], None, limits["min_samples_leaf"], penalty),
        )
        model = OptimalTreeRegressor(criterion=criterion, quantile=quantile, **limits)
        model.fit(table, y, sample_weight=weights)
        assert model.certificate_.cost == best
        assert model.certificate_.rounding == 0
        assert model.certificate_.is_optimal
        verify(model, table, y, sample_weight=weights, exhaustive=True)
        task = tasks.AbsoluteError() if slopes == (1, 1) else tasks.QuantileLoss(quantile)
        solution = solve(task, table, y, sample_weight=weights, **limits)
        assert solution.certificate.cost == best


@pytest.mark.parametrize("seed", range(16))
def test_deviances_of_an_estimator(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (9, 4))
    weights = [None, rng.integers(1, 4, 9), rng.random(9) + 0.1][seed % 3]
    w = np.ones(9) if weights is None else weights
    for criterion in ("poisson", "gamma"):
        y = rng.integers(0, 6, 9).astype(float) if criterion == "poisson" else rng.gamma(2, 5, 9)

        def leaf(rows: Sequence[int], criterion: str = criterion, y: Any = y) -> Fraction:
            rows = list(rows)
            mean = float((w[rows] * y[rows]).sum() / w[rows].sum())
            if criterion == "gamma":
                own = [math.log(mean / y[i]) for i in rows]
            else:
                own = [y[i] * math.log(y[i] / mean) if y[i] else 0.0 for i in rows]
            return Fraction(2 * math.fsum(w[rows] * own))

        limits = {"max_depth": 2 + seed % 2, "min_samples_leaf": 1 + seed % 2}
        best = best_cost(table.tolist(), leaf, Limits(limits["max_depth"], None, 1 + seed % 2))
        model = OptimalTreeRegressor(criterion=criterion, **limits)
        model.fit(table, y, sample_weight=weights)
        assert abs(model.certificate_.cost - best) <= model.certificate_.rounding + 1e-9
        verify(model, table, y, sample_weight=weights, exhaustive=True)
        if criterion == "gamma":
            one = solve(tasks.gamma_deviance(y), table, sample_weight=weights, **limits)
            assert abs(one.certificate.cost - best) <= one.certificate.rounding + 1e-9
