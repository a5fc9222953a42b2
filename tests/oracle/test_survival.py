"""Survival trees against brute force, and curves and scores against scikit-survival."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sksurv.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    integrated_brier_score,
)
from sksurv.nonparametric import kaplan_meier_estimator, nelson_aalen_estimator
from sksurv.util import Surv

from certree import SurvivalTree, check_task, datasets, solve, tasks, verify
from certree.engine import Options
from certree.engine._vector import RateLoss, VectorProblem
from certree.engine._vector import solve as solve_vector
from tests.oracle.test_vector_tasks import Problem
from tests.registry import all_isas

SEEDS = range(16)


def censored(rng: Any, n_rows: int = 9) -> Any:
    """Times with ties, some of them censored before all events."""
    return np.column_stack([rng.integers(1, 7, n_rows) / 2, rng.random(n_rows) < 0.6])


def baseline(y: Any, weights: Sequence[Fraction]) -> list[Fraction]:
    """The cumulative hazard of every row by its definition, in fractions."""

    def at(moment: float) -> Fraction:
        total = Fraction(0)
        for time in {t for t, e in y.tolist() if e and t <= moment}:
            events = sum(w for w, (t, e) in zip(weights, y, strict=True) if e and t == time)
            total += events / sum(w for w, (t, _) in zip(weights, y, strict=True) if t >= time)
        return total

    least = min(weights) / (sum(weights) + min(weights))
    return [at(t) or least for t in y[:, 0].tolist()]


def loss(y: Any, weights: Sequence[Fraction], hazard: Sequence[Fraction]) -> Any:
    """The least negative log-likelihood of a leaf, less that of a risk for every row."""

    def leaf(rows: Sequence[int]) -> Fraction:
        events = sum(weights[i] for i in rows if y[i, 1])
        if not events:
            return Fraction(0)
        risk = float(events / sum(weights[i] * hazard[i] for i in rows))
        terms = []
        for i in rows:
            seen, w, h = y[i, 1], float(weights[i]), float(hazard[i])
            terms.append(w * (risk * h - seen * math.log(risk * h)))
            terms.append(-w * seen)
        return Fraction(math.fsum(terms))

    return leaf


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
def test_the_tree_has_the_least_loss_of_all_trees(seed: int, kind: str) -> None:
    problem = Problem(seed)
    y = censored(problem.rng)
    given = {"none": None, "whole": problem.weights, "real": problem.rng.random(9) + 0.1}[kind]
    weights = [Fraction(1)] * 9 if given is None else [Fraction(str(w)) for w in given.tolist()]
    leaf = loss(y, weights, baseline(y, weights))
    whole = leaf(range(9))
    complexity = [0, 0.05][seed % 2]
    model = SurvivalTree(complexity=complexity, **problem.limits).fit(problem.X, y, given)
    found = model.certificate_
    best = problem.best(leaf, Fraction(str(complexity)) * whole)
    assert found.is_optimal
    assert float(found.cost) == pytest.approx(float(best), abs=1e-6)
    assert found.objective == pytest.approx(1 - float(best / whole), abs=1e-5)
    verify(model, problem.X, y, sample_weight=given, exhaustive=True)


@pytest.mark.parametrize("seed", range(4))
def test_the_task_alone_finds_the_same(seed: int) -> None:
    problem = Problem(seed)
    y = censored(problem.rng)
    found = solve(tasks.SurvivalLoss(), problem.X, y, **problem.limits)
    model = SurvivalTree(**problem.limits).fit(problem.X, y)
    assert found.certificate.cost == model.certificate_.cost
    assert found.predict(problem.X).tolist() == model.predict(problem.X).tolist()
    verify(found, problem.X, y)


def test_the_loss_keeps_its_law() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 3)), censored(rng, 40)
    assert check_task(tasks.SurvivalLoss(), X, y)


@pytest.mark.parametrize("weights", [None, "real"])
def test_the_core_and_numpy_compute_the_same_loss(weights: Any) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (60, 4)), censored(rng, 60)
    given = None if weights is None else rng.random(60) + 0.01
    by_core = tasks.poisson_deviance(y[:, 1], y[:, 0])
    by_numpy = tasks.poisson_deviance(y[:, 1], y[:, 0])
    by_numpy.rate_factor = None
    found = [solve(task, X, sample_weight=given, max_depth=3) for task in (by_core, by_numpy)]
    slack = 2 * float(found[0].certificate.rounding)
    costs = [float(one.certificate.cost) for one in found]
    assert costs[0] == pytest.approx(costs[1], abs=slack)
    assert found[0].predict(X).tolist() == found[1].predict(X).tolist()
    loss = RateLoss(1000.0, 1.0)
    sums = np.array([[0, 5, 0], [0, 0, 0], [2, 4, 0], [4, 2, 3000], [1, 1, 7]])
    wanted = [0, 0, int(2000 * np.log(2)), 3000 - math.ceil(4000 * np.log(2)), 7]
    assert loss.costs(sums).tolist() == wanted


def test_logarithms_of_the_core_are_those_of_decimals() -> None:
    rng = np.random.default_rng(3)
    sizes = 2.0 ** rng.uniform(0, 50, (2, 3000))
    near = np.abs(sizes[0] * rng.uniform(0.999, 1.001, 3000))
    events = np.concatenate([sizes[0], sizes[0], sizes[0]]).astype(np.int64)
    exposure = np.concatenate([sizes[1], near, np.floor(sizes[0])]).astype(np.int64) + 1
    unit = 2.0**45 / events.max()
    for e, s in zip(events.tolist(), exposure.tolist(), strict=True):
        loss = RateLoss(unit, 1.0)
        found = -int(loss.costs(np.array([[e, s, 0]]))[0])
        with localcontext(prec=40):
            true = Decimal(unit) * e * (Decimal(e) / s).ln()
            off = (abs(true) + Decimal(unit) * e) / 2**48
        # Rounded up, from a number that is a little too small.
        assert true - off <= found < true + 1


def best_of_depth_two(columns: Any, sums: Any, cost: Any, least: int) -> int:
    """The least cost of all trees of depth two, each of their leaves with enough rows."""

    def one_split(rows: Any) -> int:
        found = [cost(sums[rows].sum(axis=0, keepdims=True))[0]]
        for column in columns.T == 1:
            sides = rows & column, rows & ~column
            if min(side.sum() for side in sides) >= least:
                found.append(sum(cost(sums[s].sum(axis=0, keepdims=True))[0] for s in sides))
        return int(min(found))

    every = np.ones(len(columns), dtype=bool)
    found = [one_split(every)]
    for column in columns.T == 1:
        if min(column.sum(), (~column).sum()) >= least:
            found.append(one_split(column) + one_split(~column))
    return min(found)


def squares(sums: Any) -> Any:
    return [1000 * q - -(-1000 * u * u // w) for w, u, q in sums.tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_estimates_and_instruction_sets_change_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(30, 200)), int(rng.integers(3, 40))
    numbers = rng.integers(0, 6, (n, 8))
    cuts = [(numbers[:, k] <= c) for k in range(8) for c in range(5)]
    columns = np.asfortranarray(np.column_stack(cuts)[:, :m].astype(np.uint8))
    loss = RateLoss(1e6, 2.0**-40)
    rates = np.zeros((n, 3), dtype=np.int64)
    rates[:, 0] = rng.integers(0, 3, n)
    rates[:, 1] = rng.integers(1, 2 ** (40 if seed % 2 else 44), n)
    rates[:, 2] = 1 - loss.costs(rates)
    y = rng.integers(-99, 100, n) if seed % 2 else rng.integers(10**6, 10**6 + 50, n)
    moments = np.stack([np.ones(n, dtype=np.int64), y, y * y], axis=1)
    least = 1 + seed % 3
    # Some splits pay, others do not: trees of two and three splits are both the best of a child.
    penalty = int(10 ** rng.integers(4, 7))
    for sums, cost, setting in (
        (rates, loss.costs, {"kind": "rates", "rate_loss": loss}),
        (moments, squares, {"kind": "squares", "scale": 1000}),
    ):
        problem = VectorProblem(columns, sums, **setting)
        values = {
            tuple(
                solve_vector(
                    problem, Options(depth, None, least, split_penalty=penalty, extra=extra)
                ).upper_bound
                for depth, penalty in ((2, 0), (3, 0), (3, penalty))
            )
            for isa in all_isas()
            for extra in (
                {"isa": isa},
                {"isa": isa, "use_saving_estimates": False},
                {"isa": isa, "use_sibling_subtraction": False},
            )
        }
        assert len(values) == 1
        assert values.pop()[0] == best_of_depth_two(columns, sums, cost, least)


def test_risks_are_events_by_expected_events() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (30, 3)), censored(rng, 30)
    model = SurvivalTree(max_depth=2).fit(X, y)
    hazard = baseline(y, [Fraction(1)] * 30)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        expected = float(sum(hazard[i] for i in rows))
        risk = (y[rows, 1].sum() or 0.5) / expected
        assert model.predict(X)[rows[0]] == pytest.approx(risk, rel=1e-12)


def heart() -> tuple[Any, Any]:
    data = datasets.make_heart_failure(250)
    return data.data, data.target


def test_curves_are_those_of_scikit_survival() -> None:
    X, y = heart()
    model = SurvivalTree(max_depth=2, thresholds=8).fit(X, y)
    leaves = model.apply(X)
    for leaf, curve in model.curves_.items():
        rows = leaves == leaf
        time, survival, band = kaplan_meier_estimator(
            y["event"][rows], y["time"][rows], conf_type="log-log"
        )
        np.testing.assert_allclose(curve(time), survival, atol=1e-12)
        at = np.searchsorted(time, curve.time)
        np.testing.assert_allclose([curve.lower, curve.upper], band[:, at], atol=1e-12)
    time, hazard = nelson_aalen_estimator(y["event"], y["time"])
    functions = model.predict_cumulative_hazard_function(X)
    np.testing.assert_allclose(functions[0](time), hazard * model.predict(X)[0], rtol=1e-12)


def test_scores_are_those_of_scikit_survival() -> None:
    X, y = heart()
    model = SurvivalTree(max_depth=3, thresholds=6, time_limit=None).fit(X, y)
    risk = model.predict(X)
    wanted = concordance_index_censored(y["event"], y["time"], risk)[0]
    assert model.score(X, y) == pytest.approx(wanted, abs=1e-12)
    # Tied times, and rows that are censored at the time of an event.
    coarse = Surv.from_arrays(y["event"], np.ceil(y["time"] / 200))
    wanted = concordance_index_censored(coarse["event"], coarse["time"], risk)[0]
    assert model.score(X, coarse) == pytest.approx(wanted, abs=1e-12)


def test_scikit_survival_reads_the_predictions() -> None:
    X, y = heart()
    model = SurvivalTree(max_depth=2, thresholds=6, min_samples_leaf=20).fit(X, y)
    times = np.quantile(y["time"], [0.2, 0.4, 0.6])
    curves = np.array([function(times) for function in model.predict_survival_function(X)])
    brier = integrated_brier_score(y, y, curves, times)
    average = SurvivalTree(max_depth=0).fit(X, y).predict_survival_function(X)
    assert brier < integrated_brier_score(y, y, np.array([f(times) for f in average]), times)
    uno = concordance_index_ipcw(y, y, model.predict(X), tau=float(times[-1]))[0]
    assert 0.6 < uno < 1
