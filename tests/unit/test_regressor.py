"""The regression tree: exact targets, scores, exports, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import (
    d2_absolute_error_score,
    d2_pinball_score,
    d2_tweedie_score,
    mean_absolute_error,
    r2_score,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor

from certree import (
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    TreeCV,
    check_task,
    solve,
    tasks,
    verify,
)

rng = np.random.default_rng(3)
X = rng.normal(size=(120, 4))
Y = np.where(X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > -0.5) * 3.0 + rng.normal(size=120)
Y = np.round(Y, 2)


def test_no_greedy_tree_is_better() -> None:
    for depth in (1, 2):
        best = OptimalTreeRegressor(max_depth=depth, thresholds="all").fit(X, Y)
        greedy = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, Y)
        assert best.score(X, Y) >= greedy.score(X, Y) - 1e-12
        assert best.certificate_.is_optimal


def test_score_and_certificate_agree() -> None:
    model = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    assert model.certificate_.objective == pytest.approx(model.score(X, Y), abs=1e-9)
    errors = float(np.square(Y - model.predict(X)).sum())
    assert float(model.certificate_.cost) == pytest.approx(errors)


def test_a_complexity_is_paid_in_units_of_r2() -> None:
    small = OptimalTreeRegressor(max_depth=3, complexity=0.05).fit(X, Y)
    path = OptimalTreeRegressor(max_depth=3).fit(X, Y, path=True).path_
    best = max(entry.accuracy - 0.05 * entry.splits for entry in path)
    assert small.certificate_.objective == pytest.approx(best, abs=1e-9)
    none = OptimalTreeRegressor(complexity=1, max_depth=None).fit(X, Y)
    assert none.tree_.n_splits == 0


def test_targets_far_from_zero_lose_nothing() -> None:
    near = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    far = OptimalTreeRegressor(max_depth=2).fit(X, Y + 1e6)
    assert far.certificate_.cost == near.certificate_.cost
    assert far.tree_.test.tolist() == near.tree_.test.tolist()


def test_targets_that_are_no_decimals_are_rounded_with_a_bound() -> None:
    noisy = Y + rng.normal(size=120)
    model = OptimalTreeRegressor(max_depth=2).fit(X, noisy)
    errors = sum(
        (Fraction(y) - Fraction(p)) ** 2
        for y, p in zip(noisy.tolist(), model.predict(X).tolist(), strict=True)
    )
    assert 0 < abs(model.certificate_.cost - errors) <= model.certificate_.rounding + 1e-9


def test_a_constant_target_needs_no_split() -> None:
    model = OptimalTreeRegressor().fit(X, np.full(120, 7.25))
    assert model.predict(X[:2]).tolist() == [7.25, 7.25]
    assert model.certificate_.cost == 0


def test_the_tree_can_leave() -> None:
    model = OptimalTreeRegressor(max_depth=2, thresholds=8).fit(X, Y)
    twin = model.to_sklearn()
    np.testing.assert_allclose(twin.predict(X), model.predict(X))
    assert "(mean of " in model.tree_.to_text()
    predict: dict[str, object] = {}
    exec(model.tree_.to_python(), predict)
    assert predict["predict"](X[0].tolist()) == model.predict(X[:1])[0]  # type: ignore[operator]
    assert "CASE" in model.tree_.to_sql()


def test_importances_are_shares_of_what_is_explained() -> None:
    model = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert (model.feature_importances_ >= 0).all()


def test_grid_search() -> None:
    search = GridSearchCV(OptimalTreeRegressor(thresholds=4), {"max_depth": [0, 2]}, cv=3)
    assert search.fit(X, Y).best_params_ == {"max_depth": 2}


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match=r"NaN \(first in row 1\)"):
        OptimalTreeRegressor().fit(X[:3], [1, np.nan, 2])
    with pytest.raises(ValueError, match="y must hold numbers"):
        OptimalTreeRegressor().fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="X has 3 rows, but y has 2"):
        OptimalTreeRegressor().fit(X[:3], [1, 2])
    with pytest.raises(ValueError, match="requires y to be passed"):
        OptimalTreeRegressor().fit(X[:3], None)


@pytest.mark.parametrize("kind", [OptimalTreeRegressor, OptimalTreeRegressorCV])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_quantile_is_for_the_criterion_of_that_name(kind: Any, criterion: str) -> None:
    message = f"quantile=0.9 is for criterion='quantile', got criterion='{criterion}'; set"
    with pytest.raises(ValueError, match=message):
        kind(criterion=criterion, quantile=0.9).fit(X, POSITIVE)
    OptimalTreeRegressor(1, criterion=criterion, quantile="1/2").fit(X, POSITIVE)


CRITERIA = ("absolute_error", "quantile", "poisson", "gamma")
LEVELS = {name: 0.8 if name == "quantile" else 0.5 for name in CRITERIA}
POSITIVE = np.round(np.exp(Y / 3), 2)


def _share(criterion: str, y: Any, predicted: Any, weights: Any = None) -> float:
    """The explained share of the loss, by scikit-learn."""
    if criterion == "absolute_error":
        return float(d2_absolute_error_score(y, predicted, sample_weight=weights))
    if criterion == "quantile":
        return float(d2_pinball_score(y, predicted, alpha=0.8, sample_weight=weights))
    power = {"poisson": 1, "gamma": 2}[criterion]
    return float(d2_tweedie_score(y, predicted, power=power, sample_weight=weights))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_objective_of_a_criterion_is_the_explained_share_of_its_loss(criterion: str) -> None:
    model = OptimalTreeRegressor(
        max_depth=2, criterion=criterion, quantile=LEVELS[criterion], thresholds=8
    )
    model.fit(X, POSITIVE)
    predicted = model.predict(X)
    share = _share(criterion, POSITIVE, predicted)
    assert model.certificate_.objective == pytest.approx(share, abs=1e-6)
    assert model.score(X, POSITIVE) == pytest.approx(r2_score(POSITIVE, predicted))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_summary_calls_the_objective_by_its_name(criterion: str) -> None:
    model = OptimalTreeRegressor(
        max_depth=1, criterion=criterion, quantile=LEVELS[criterion], thresholds=4
    )
    certificate = model.fit(X, POSITIVE).certificate_
    loss = {"absolute_error": "an absolute error", "quantile": "a pinball loss"}
    assert f"D2 {certificate.objective:.6g}," in certificate.summary()
    assert f"has {loss.get(criterion, 'a deviance')} below" in certificate.statement()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_cross_validation_scores_by_the_criterion(criterion: str) -> None:
    tree = OptimalTreeRegressor(criterion=criterion, quantile=LEVELS[criterion], thresholds=4)
    folds = list(KFold(3).split(X))
    weights = np.random.default_rng(1).integers(1, 4, len(POSITIVE))
    search = TreeCV(tree, depths=(1,), sizes=None, cv=folds).fit(X, POSITIVE, weights)
    tree.set_params(max_depth=1)
    for fold, (train, test) in enumerate(folds):
        predicted = tree.fit(X[train], POSITIVE[train], weights[train]).predict(X[test])
        wanted = _share(criterion, POSITIVE[test], predicted, weights[test])
        assert search.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(wanted)
    assert search.curve_.measure == "D2"


def test_a_leaf_without_counts_has_a_finite_score() -> None:
    table, counts = np.repeat([[0.0], [1.0]], 6, axis=0), np.array([0] * 5 + [1] + [2, 3] * 3)
    folds = [([0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]), ([3, 4, 5, 9], [0, 1, 2])]
    tree = OptimalTreeRegressor(criterion="poisson")
    search = TreeCV(tree, depths=(0, 1), sizes=None, cv=folds).fit(table, counts)
    assert np.isfinite(search.curve_.scores).all()
    assert search.best_params_ == {"max_depth": 0}


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_no_greedy_tree_of_the_same_criterion_is_better(criterion: str) -> None:
    for depth in (1, 2):
        best = OptimalTreeRegressor(max_depth=depth, criterion=criterion, thresholds="all")
        best.fit(X, POSITIVE)
        greedy = DecisionTreeRegressor(max_depth=depth, criterion=criterion, random_state=0)
        greedy.fit(X, POSITIVE)
        wanted = _share(criterion, POSITIVE, greedy.predict(X))
        assert _share(criterion, POSITIVE, best.predict(X)) >= wanted - 1e-9


def test_a_leaf_predicts_the_middle_of_its_best_values() -> None:
    model = OptimalTreeRegressor(max_depth=0, criterion="absolute_error")
    assert model.fit([[0]] * 4, [1.0, 2.0, 5.0, 9.0]).predict([[0]]).tolist() == [3.5]
    assert model.certificate_.cost == 11
    weighted = model.fit([[0]] * 3, [1.0, 2.0, 5.0], sample_weight=[1, 1, 3])
    assert weighted.predict([[0]]).tolist() == [5.0]
    high = OptimalTreeRegressor(max_depth=0, criterion="quantile", quantile=0.75)
    assert high.fit([[0]] * 4, [1.0, 2.0, 5.0, 9.0]).predict([[0]]).tolist() == [7.0]
    assert high.certificate_.cost == Fraction(19, 4)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_does_what_the_regressor_does(criterion: str, tmp_path: Any) -> None:
    table = X.copy()
    table[rng.random(table.shape) < 0.1] = np.nan
    weights = rng.integers(0, 3, len(X))
    model = OptimalTreeRegressor(
        max_depth=3,
        max_splits=4,
        criterion=criterion,
        quantile="1/3" if criterion == "quantile" else 0.5,
        thresholds=4,
        min_samples_leaf=5,
        complexity=0.005,
    )
    model.fit(table, POSITIVE, sample_weight=weights, path=True)
    assert model.certificate_.is_optimal
    verify(model, table, POSITIVE, sample_weight=weights)
    assert [entry.splits for entry in model.path_] == sorted(e.splits for e in model.path_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert "mean" in model.tree_.to_text()
    assert "CASE" in model.tree_.to_sql()
    np.testing.assert_array_equal(model.to_sklearn().predict(table), model.predict(table))
    chosen = TreeCV(OptimalTreeRegressor(criterion=criterion, thresholds=4), depths=(1, 2), cv=3)
    chosen.fit(X, POSITIVE)
    assert chosen.best_params_["max_depth"] in (1, 2)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criteria_without_a_limit_on_depth(criterion: str) -> None:
    model = OptimalTreeRegressor(
        max_depth=None, complexity=0.05, criterion=criterion, thresholds=3, time_limit=None
    ).fit(X[:60], POSITIVE[:60])
    deep = OptimalTreeRegressor(max_depth=5, complexity=0.05, criterion=criterion, thresholds=3)
    assert model.certificate_.is_optimal
    assert model.certificate_.cost == deep.fit(X[:60], POSITIVE[:60]).certificate_.cost


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_constant_target_costs_nothing_by_any_criterion(criterion: str) -> None:
    model = OptimalTreeRegressor(criterion=criterion).fit(X, np.full(120, 7.3))
    assert model.predict(X[:1]).tolist() == [7.3]
    assert model.certificate_.objective == 1.0
    assert model.tree_.n_splits == 0
    verify(model, X, np.full(120, 7.3))


def test_real_targets_are_rounded_with_a_bound() -> None:
    noisy = Y + rng.normal(size=120)
    weights = rng.random(120) + 0.01
    model = OptimalTreeRegressor(max_depth=2, criterion="absolute_error", thresholds=6)
    model.fit(X, noisy, sample_weight=weights)
    error = mean_absolute_error(noisy, model.predict(X), sample_weight=weights) * weights.sum()
    off = abs(float(model.certificate_.cost) - error)
    assert off <= model.certificate_.rounding + 1e-9
    assert float(model.certificate_.rounding) < 1e-3 * error
    assert model.certificate_.is_optimal
    verify(model, X, noisy, sample_weight=weights)


def test_exposures_are_weights_of_rates() -> None:
    """A row of exposure 3 counts as three rows that share its events."""
    counts, exposure = np.array([0, 3, 1, 9]), np.array([1, 3, 1, 3])
    table = [[0], [0], [1], [1]]
    model = OptimalTreeRegressor(max_depth=1, criterion="poisson")
    model.fit(table, counts / exposure, sample_weight=exposure)
    assert model.predict([[0], [1]]) == pytest.approx([0.75, 2.5])


def test_laws_of_the_tasks_hold() -> None:
    for task in (tasks.AbsoluteError(), tasks.QuantileLoss(0.9)):
        assert check_task(task, X[:20], POSITIVE[:20])


@pytest.mark.parametrize("bad", [0, 1, -0.5, 1.5, "half"])
def test_quantiles_outside_of_their_range_are_refused(bad: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="quantile must be a number above 0 and"):
        OptimalTreeRegressor(criterion="quantile", quantile=bad).fit(X, Y)


def test_targets_that_no_deviance_fits_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y\[1\] = -1.0, but .* needs counts of at least 0"):
        OptimalTreeRegressor(criterion="poisson").fit(X[:3], [1, -1, 0])
    with pytest.raises(ValueError, match=r"y\[2\] = 0.0, but .* needs amounts above 0"):
        OptimalTreeRegressor(criterion="gamma").fit(X[:3], [1, 2, 0])
    with pytest.raises(ValueError, match=r"criterion=.huber. is not supported; the supported"):
        OptimalTreeRegressor(criterion="huber").fit(X, Y)
    with pytest.raises(ValueError, match="at most six decimals"):
        OptimalTreeRegressor(criterion="quantile", quantile=0.123456789).fit(X, Y)


@pytest.mark.parametrize("size", [1e-9, 1e9, 1e12, 1e14])
def test_gamma_trees_do_not_depend_on_the_unit_of_y(size: float) -> None:
    own = np.random.default_rng(0)
    table = own.integers(0, 2, (40, 6))
    y = np.round(np.exp(own.normal(size=40) + table[:, 0] - table[:, 1]), 2) + 0.01
    plain = OptimalTreeRegressor(criterion="gamma", max_depth=2).fit(table, y)
    scaled = OptimalTreeRegressor(criterion="gamma", max_depth=2).fit(table, y * size)
    verify(scaled, table, y * size)
    assert scaled.certificate_.status == "optimal"
    assert float(scaled.certificate_.cost) == pytest.approx(float(plain.certificate_.cost))
    assert float(scaled.certificate_.rounding) < 1e-7
    event = own.random(40) < 0.7
    costs = [
        float(solve(task, table, max_depth=2).certificate.cost)
        for task in (tasks.exponential_survival(y * k, event) for k in (1.0, size))
    ]
    assert costs[0] == pytest.approx(costs[1])


def test_amounts_that_are_far_apart_keep_their_digits() -> None:
    for seed in range(4):
        own = np.random.default_rng(seed)
        y, table = np.exp(own.normal(size=130) * 4) + 1e-6, own.integers(0, 2, (130, 3))
        model = OptimalTreeRegressor(criterion="gamma", max_depth=1).fit(table, y)
        verify(model, table, y)
        assert float(model.certificate_.rounding) < 1e-3


def test_counts_with_weights_that_are_far_apart() -> None:
    own = np.random.default_rng(1)
    table, y = own.integers(0, 2, (60, 4)), own.poisson(3, 60).astype(float)
    weights = np.where(np.arange(60) < 5, 1e9, 1.0)
    y[:5] = 1e4
    model = OptimalTreeRegressor(criterion="poisson", max_depth=2, complexity=0.001)
    model.fit(table, y, sample_weight=weights)
    certificate = model.certificate_
    verify(model, table, y, sample_weight=weights)
    splits = model.tree_.n_splits
    paid = float(certificate.split_penalty) * splits
    true = len(y) * np.average(
        _poisson_losses(y, model.predict(table)), weights=weights / weights.mean()
    )
    true *= weights.mean()
    assert float(certificate.cost) == pytest.approx(true + paid, abs=float(certificate.rounding))


def test_a_loss_below_the_rounding_is_not_called_optimal() -> None:
    y = [100000.1, 100000, 100000]
    for complexity in (0, 0.02):
        model = OptimalTreeRegressor(criterion="gamma", max_depth=1, complexity=complexity)
        certificate = model.fit([[0], [1], [2]], y).certificate_
        assert certificate.status == "precision"
        verify(model, [[0], [1], [2]], y)
    large = 1e13 + np.sqrt(1e13) * np.random.default_rng(0).normal(size=300)
    table = np.arange(300)[:, None] % 7
    model = OptimalTreeRegressor(criterion="poisson", max_depth=1, complexity=0.001)
    assert model.fit(table, np.round(large)).certificate_.status == "precision"
    # A coarse unit hides as much as noise does.
    task = tasks.gamma_deviance([1.0, 1.1, 1.0, 1.1])
    task.unit = 0.01
    assert solve(task, [[0], [1], [0], [1]], max_depth=1).certificate.status == "precision"


@pytest.mark.parametrize("criterion", ["poisson", "gamma"])
def test_one_row_has_a_deviance_of_nothing(criterion: str) -> None:
    model = OptimalTreeRegressor(criterion=criterion, max_depth=0).fit([[0.0]], [2.5])
    verify(model, [[0.0]], [2.5])
    model.fit([[0.0], [1.0]], [2.5, 4], sample_weight=[1, 0])
    verify(model, [[0.0], [1.0]], [2.5, 4], sample_weight=[1, 0])


def _poisson_losses(y: Any, mean: Any) -> Any:
    return 2 * (y * np.log(np.where(y > 0, y, 1) / mean) - y + mean)
