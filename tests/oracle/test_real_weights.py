"""Real weights: sums are rounded so little that ordinary problems are proven optimal."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeRegressor, SurvivalTree, verify
from certree.exceptions import OptimalityWarning

FUZZ = int(os.environ.get("CERTREE_FUZZ", "0"))
N_PROBLEMS = 1000 if FUZZ else 15


def _uniform(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.random(n)


def _propensities(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return 1 / np.clip(rng.beta(2, 5, n), 0.02, 1)


def _classes(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.where(rng.random(n) < 0.3, 0.3, 1.7)


def _tails(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.lognormal(size=n)


WEIGHTS = [_uniform, _propensities, _classes, _tails]
CRITERIA = [("absolute_error", 0.5), ("quantile", 0.9), ("quantile", 0.05), ("poisson", 0.5)]
CRITERIA += [("gamma", 0.5), ("squared_error", 0.5)]


def _loss(criterion: str, level: float, y: Any, w: Any) -> float:
    """Return the least loss of a leaf, in plain numbers."""
    if not len(y):
        return 0.0
    if criterion == "squared_error":
        return float(w @ (y - np.average(y, weights=w)) ** 2)
    if criterion in ("absolute_error", "quantile"):
        above, below = (1.0, 1.0) if criterion == "absolute_error" else (level, 1 - level)
        return min(float(w @ np.maximum(above * (y - v), below * (v - y))) for v in y)
    mean = np.average(y, weights=w)
    if criterion == "gamma":
        return float(2 * (w @ (np.log(mean / y) + y / mean - 1)))
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0.0) if mean else 0 * y
    return float(2 * (w @ (logs - y + mean)))


def _survival_loss(time: Any, event: Any, w: Any) -> Any:
    """Return the loss of a leaf of rows, by the hazard of all rows."""
    hazard, total, at_risk = np.zeros(len(time)), 0.0, float(w.sum())
    for moment in np.unique(time):
        total += float(w[(time == moment) & event].sum()) / at_risk
        at_risk -= float(w[time == moment].sum())
        hazard[time == moment] = total or w.min() / (w.sum() + w.min())

    def loss(rows: NDArray[np.bool_]) -> float:
        events = float(w[rows & event].sum())
        own = -float(w[rows & event] @ np.log(hazard[rows & event]))
        return own - events * np.log(events / float(w[rows] @ hazard[rows])) if events else 0.0

    return loss


def _best(table: NDArray[np.int64], leaf: Any) -> tuple[float, float]:
    """Return the least loss of all trees of depth two, and that of a single leaf."""
    columns = [column.astype(bool) for column in table.T]

    def below(rows: NDArray[np.bool_]) -> float:
        return min([leaf(rows)] + [leaf(rows & c) + leaf(rows & ~c) for c in columns])

    everything = np.ones(len(table), dtype=bool)
    best = min([below(everything)] + [below(c) + below(~c) for c in columns])
    return best, leaf(everything)


def _check(model: Any, table: Any, y: Any, weights: Any, best: float, whole: float) -> None:
    certificate = model.fit(table, y, sample_weight=weights).certificate_
    assert certificate.status == "optimal"
    assert float(certificate.rounding) <= 1e-4 * whole
    slack = 2 * float(certificate.rounding) + 1e-9 * (1 + best)
    assert float(certificate.cost) == pytest.approx(best, abs=slack)
    assert verify(model, table, y, sample_weight=weights)


@pytest.mark.parametrize(("criterion", "level"), CRITERIA)
@pytest.mark.parametrize("weigh", WEIGHTS)
def test_the_best_tree_is_that_of_all_trees(criterion: str, level: float, weigh: Any) -> None:
    rng = np.random.default_rng([FUZZ, CRITERIA.index((criterion, level)), WEIGHTS.index(weigh)])
    for _ in range(N_PROBLEMS):
        n = int(rng.integers(4, 25))
        table = rng.integers(0, 2, (n, 4))
        y = rng.gamma(1.0, 10.0 ** rng.integers(-2, 4), n) * (1 + table[:, 0])
        y = y if rng.random() < 0.5 else np.round(y, 2) + 0.01
        weights = weigh(rng, n)

        def leaf(rows: Any, y: Any = y, w: Any = weights) -> float:
            return _loss(criterion, level, y[rows], w[rows])

        settings = {"quantile": level} if criterion == "quantile" else {}
        model = OptimalTreeRegressor(max_depth=2, criterion=criterion, **settings)
        _check(model, table, y, weights, *_best(table, leaf))


@pytest.mark.parametrize("weigh", WEIGHTS)
def test_the_best_survival_tree_is_that_of_all_trees(weigh: Any) -> None:
    rng = np.random.default_rng([FUZZ, 99, WEIGHTS.index(weigh)])
    for _ in range(N_PROBLEMS):
        n = int(rng.integers(4, 25))
        table = rng.integers(0, 2, (n, 4))
        time = np.ceil(rng.exponential(10 * (1 + table[:, 0])))
        event = rng.random(n) < 0.7
        event[0] = True
        weights = weigh(rng, n)
        leaf = _survival_loss(time, event, weights)
        y = np.column_stack([time, event])
        _check(SurvivalTree(max_depth=2), table, y, weights, *_best(table, leaf))


def _many_rows(n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, (n, 3))
    return rng, table, np.exp(table[:, 0] + rng.normal(size=n))


@pytest.mark.parametrize(("criterion", "level"), CRITERIA)
@pytest.mark.parametrize("weigh", WEIGHTS)
def test_many_rows_with_real_weights_are_proven(criterion: str, level: float, weigh: Any) -> None:
    rng, table, y = _many_rows(50_000)
    settings = {"quantile": level} if criterion == "quantile" else {}
    model = OptimalTreeRegressor(max_depth=1, criterion=criterion, **settings)
    weights = weigh(rng, len(y))
    assert model.fit(table, y, sample_weight=weights).certificate_.status == "optimal"


@pytest.mark.parametrize("weigh", WEIGHTS)
def test_many_censored_times_with_real_weights_are_proven(weigh: Any) -> None:
    rng, table, time = _many_rows(50_000)
    y = np.column_stack([time, rng.random(len(time)) < 0.4])
    model = SurvivalTree(max_depth=1).fit(table, y, sample_weight=weigh(rng, len(time)))
    assert model.certificate_.status == "optimal"


def test_rounding_bounds_what_any_tree_loses() -> None:
    # Few bits are left for so many digits; the stated rounding must cover every partition.
    rng = np.random.default_rng(4)
    for _, level in itertools.product(range(40), ("0.5", "0.01", "0.99", "0.123456")):
        n = int(rng.integers(3, 9))
        table = np.eye(n, dtype=int)[:, : min(n, 3)]
        y = rng.lognormal(0, 8, n)
        weights = rng.lognormal(0, 8, n)
        model = OptimalTreeRegressor(max_depth=2, criterion="quantile", quantile=level)
        with np.errstate(all="raise"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("certree.leaves.numbers.quantiles._MOST_LOSS", 2**36)
            patch.setattr("certree.fitting.unproven.warn", lambda *_: None)
            model.fit(table, y, sample_weight=weights)
        leaves = model.tree_.apply(table)
        true = sum(
            _loss("quantile", float(level), y[leaves == k], weights[leaves == k])
            for k in np.unique(leaves)
        )
        certificate = model.certificate_
        assert abs(float(certificate.cost) - true) <= float(certificate.rounding) + 1e-12 * true


def test_advice_on_rounding_helps() -> None:
    rng, table, y = _many_rows(50_000)
    weights = rng.random(len(y))
    model = OptimalTreeRegressor(max_depth=1, criterion="quantile", quantile=0.002)
    with pytest.warns(OptimalityWarning, match="Round sample_weight yourself, for example to two"):
        model.fit(table, y, sample_weight=weights)
    model.fit(table, y, sample_weight=np.round(weights, 2).clip(0.01))
    assert model.certificate_.status == "optimal"


@pytest.mark.parametrize("complexity", [0, 0.02])
def test_a_deviance_is_never_below_nothing(complexity: float) -> None:
    table, y = [[0], [1], [2]], [100000.1, 100000, 100000]
    model = OptimalTreeRegressor(criterion="gamma", max_depth=1, complexity=complexity)
    with pytest.warns(OptimalityWarning, match="'squared_error' tells such rows apart"):
        certificate = model.fit(table, y).certificate_
    assert certificate.leaf_cost >= 0
    assert certificate.cost >= certificate.lower_bound >= 0
    assert certificate.objective <= 1
    assert all(lower >= 0 for *_, lower in certificate.history)
    assert verify(model, table, y)
    with pytest.warns(OptimalityWarning):
        entries = model.fit(table, y, path=True).path_
    assert all(entry.errors >= 0 and entry.accuracy <= 1 for entry in entries)
