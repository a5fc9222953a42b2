"""The regression tree: exact targets, scores, exports, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from certree import OptimalTreeRegressor

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
