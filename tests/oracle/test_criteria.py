"""Regression by medians, quantiles and deviances against brute force over all trees.

Also every tree with such leaves, models, curves or clusters where a penalty alone limits its size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import (
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    SurvivalTree,
    solve,
    tasks,
    verify,
)
from certree.engine import Options
from certree.engine._vector import VectorProblem
from certree.engine._vector import solve as solve_vector
from tests.oracle.test_survival import baseline, loss
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


def deviance_leaf(y: Any, w: Any, criterion: str) -> Leaf:
    """The deviance from the mean, by its definition."""

    def leaf(rows: Sequence[int]) -> Fraction:
        rows = list(rows)
        mean = float((w[rows] * y[rows]).sum() / w[rows].sum())
        if criterion == "gamma":
            own = [math.log(mean / y[i]) for i in rows]
        else:
            own = [y[i] * math.log(y[i] / mean) if y[i] else 0.0 for i in rows]
        return Fraction(2 * math.fsum(w[rows] * own))

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
        level = quantile if criterion == "quantile" else 0.5
        model = OptimalTreeRegressor(criterion=criterion, quantile=level, **limits)
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

        leaf = deviance_leaf(y, w, criterion)
        limits = {"max_depth": 2 + seed % 2, "min_samples_leaf": 1 + seed % 2}
        best = best_cost(table.tolist(), leaf, Limits(limits["max_depth"], None, 1 + seed % 2))
        model = OptimalTreeRegressor(criterion=criterion, **limits)
        model.fit(table, y, sample_weight=weights)
        assert abs(model.certificate_.cost - best) <= model.certificate_.rounding + 1e-9
        verify(model, table, y, sample_weight=weights, exhaustive=True)
        if criterion == "gamma":
            one = solve(tasks.gamma_deviance(y), table, sample_weight=weights, **limits)
            assert abs(one.certificate.cost - best) <= one.certificate.rounding + 1e-9


def _squares(x: NDArray[np.float64], y: NDArray[np.float64], ridge: float = 0.0) -> float:
    """The least squared error of a linear model, the ridge included."""
    x, y = x - x.mean(axis=0), y - y.mean()
    slopes = np.linalg.pinv(x.T @ x + ridge * np.eye(x.shape[1])) @ (x.T @ y)
    return float(((y - x @ slopes) ** 2).sum() + ridge * (slopes**2).sum())


def _sparse_cases(rng: np.random.Generator, X: NDArray[Any]) -> Iterator[tuple[Any, Any, Leaf]]:
    """Every tree with other leaves than one class, what it learns, and what a leaf costs."""
    n_rows = len(X)
    y = rng.integers(1, 9, n_rows).astype(float)
    ones = [Fraction(1)] * n_rows
    exact = [Fraction(int(x)) for x in y]
    yield OptimalTreeRegressor(criterion="absolute_error"), y, pinball_leaf(exact, ones, 1, 1)
    quantile = OptimalTreeRegressor(criterion="quantile", quantile="1/3")
    yield quantile, y, pinball_leaf(exact, ones, Fraction(1, 3), Fraction(2, 3))
    for criterion in ("poisson", "gamma"):
        yield (
            OptimalTreeRegressor(criterion=criterion),
            y,
            deviance_leaf(y, np.ones(n_rows), criterion),
        )
    yield (
        OptimalTreeRegressor(),
        np.c_[y, X[:, 0] - y % 3],
        lambda r: sum(
            _squares(np.zeros((len(r), 1)), one[list(r)]) for one in (y, X[:, 0] - y % 3)
        ),
    )
    labels = np.c_[y > 4, y % 2 == 0]
    yield (
        OptimalTreeClassifier(),
        labels,
        lambda r: sum(min(int(of.sum()), int((~of).sum())) for of in labels[list(r)].T),
    )
    times = np.c_[y, rng.random(n_rows) < 0.7]
    yield SurvivalTree(), times, loss(times, ones, baseline(times, ones))
    yield (
        OptimalTreeClusterer(None, scale=None),
        None,
        lambda r: float(((X[list(r)] - X[list(r)].mean(axis=0)) ** 2).sum()),
    )
    lines = LinearTreeRegressor(min_samples_leaf=1)
    yield (
        lines,
        y,
        lambda r: min(_squares(X[list(r)][:, [k]], y[list(r)]) for k in range(X.shape[1])),
    )
    models = LinearTreeRegressor(min_samples_leaf=1, leaf_model="ridge", ridge=0.5)
    yield models, y, lambda r: _squares(X[list(r)], y[list(r)], 0.5)


@pytest.mark.parametrize("seed", range(8))
def test_without_a_depth_limit_a_penalty_decides(seed: int) -> None:
    """Trees of all depths are searched, and none is cheaper with the price of its splits."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (18, 4)).astype(float)
    complexity = Fraction(1, [50, 20, 8][seed % 3])
    for model, y, leaf in _sparse_cases(rng, X):
        coefficients = {"simple": 1, "ridge": 4}.get(getattr(model, "leaf_model", ""), 0)
        unit = Fraction(leaf(range(18)))
        if isinstance(model, OptimalTreeClassifier):
            unit = Fraction(2 * 18)  # one error for each output
        elif isinstance(model, LinearTreeRegressor):
            unit = Fraction(_squares(np.zeros((18, 1)), y))
        # A path asks for each of four columns once at most.
        limits = Limits(4, None, 1 + coefficients, complexity * unit)
        best = best_cost(X.astype(int).tolist(), leaf, limits)
        per = ["split", "leaf"][seed % 2]  # a tree has one leaf more than splits
        best += limits.penalty if per == "leaf" else 0
        model.set_params(max_depth=None, complexity=str(complexity), complexity_per=per).fit(X, y)
        certificate = model.certificate_
        assert certificate.is_optimal, model
        assert float(certificate.cost) == pytest.approx(float(best), abs=1e-6), model
        verify(model, X, y)


def test_the_slack_of_rough_savings_is_the_proven_one() -> None:
    root = Path(__file__).parents[2]
    code = (root / "cpp/core/counts/kernels_impl_savings.hpp").read_text()
    page = (root / "docs/theory/vector-statistics.md").read_text()
    bits = re.findall(r"kRough = 0x1p-(\d+);", code)
    assert bits == re.findall(r"is off by less than \$2\^\{-(\d+)\} E\$", page)
