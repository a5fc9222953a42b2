"""Limits on the size of trees, in the words of scikit-learn: shares of rows, numbers of leaves.

Also the choice of such limits by folds, for trees whose leaves hold more than a class.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

import certree
from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    PolicyTree,
    SPOForest,
    SPOTree,
    SurvivalTree,
    TreeCV,
    pareto_front,
    regularization_path,
    solve,
    tasks,
    verify,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
C = RNG.random((60, 2))
ORACLE = np.eye(2)


def _smallest(model: Any, rows: Any = X) -> int:
    return int(np.unique(model.apply(rows), return_counts=True)[1].min())


FITS: list[tuple[Any, tuple[Any, ...]]] = [
    (OptimalTreeClassifier(), (X, Y)),
    (OptimalTreeClassifier(objective="f1"), (X, Y)),
    (OptimalTreeClassifier(objective="auc"), (X, Y)),
    (OptimalTreeRegressor(), (X, X[:, 1] + Y)),
    (CostSensitiveTreeClassifier([[0, 2], [3, 0]]), (X, Y)),
    (FairTreeClassifier(), (X, Y)),
    (SPOTree(ORACLE), (X, C)),
    (SPOTree(ORACLE, method="greedy"), (X, C)),
]


# No groups are compared.
pytestmark = pytest.mark.filterwarnings("ignore:No sensitive_features")


def _named(fit: Any) -> str:
    return str(fit[0])


def _with(model: Any, **parameters: Any) -> Any:
    return clone(model).set_params(**parameters)


class TestShares:
    @pytest.mark.parametrize("fit", FITS, ids=_named)
    def test_a_share_is_a_number_of_rows(self, fit: Any) -> None:
        model, data = fit
        one, other = (_with(model, max_depth=2, min_samples_leaf=n) for n in (0.19, 12))
        one.fit(*data)
        other.fit(*data)
        assert one.certificate_.min_samples_leaf == 12
        assert one.certificate_.cost == other.certificate_.cost
        assert _smallest(one) >= 12
        assert one.tree_.n_splits > 0
        certree.verify(one, *data)

    @pytest.mark.parametrize(
        "share, n_rows", [(0.07, 7), (np.float64(0.07), 7), (Decimal("0.071"), 8), (0.5, 50)]
    )
    def test_it_counts_as_it_is_written(self, share: Any, n_rows: int) -> None:
        rows = np.arange(100.0)[:, None]
        model = OptimalTreeClassifier(max_depth=1, min_samples_leaf=share)
        model.fit(rows, rows[:, 0] > 2)
        assert model.certificate_.min_samples_leaf == n_rows
        certree.verify(model, rows, rows[:, 0] > 2)

    def test_rows_without_weight_do_not_count(self) -> None:
        weights = np.where(np.arange(60) < 30, 0, 2)
        model = OptimalTreeClassifier(max_depth=2, min_samples_leaf=Fraction(1, 10))
        model.fit(X, Y, sample_weight=weights)
        assert model.certificate_.min_samples_leaf == 3
        certree.verify(model, X, Y, weights)

    def test_weights_of_decisions_count_as_rows(self) -> None:
        weights = np.where(np.arange(60) < 30, 1, 3)
        model = SPOTree(ORACLE, max_depth=2, min_samples_leaf=0.25).fit(X, C, sample_weight=weights)
        assert model.certificate_.min_samples_leaf == 30
        certree.verify(model, X, C, weights)

    def test_forests_and_cross_validation(self) -> None:
        forest = SPOForest(ORACLE, n_estimators=3, min_samples_leaf=0.4, bootstrap=False)
        forest.fit(X, C)
        same = SPOForest(ORACLE, n_estimators=3, min_samples_leaf=24, bootstrap=False)
        forest.set_params(random_state=0)
        same.set_params(random_state=0)
        assert (forest.fit(X, C).predict(X) == same.fit(X, C).predict(X)).all()
        search = OptimalTreeClassifierCV(depths=(1, 2), min_samples_leaf=0.2).fit(X, Y)
        assert _smallest(search) >= 12

    def test_optimality_gap_and_separable(self) -> None:
        tree = OptimalTreeClassifier(max_depth=1, min_samples_leaf=3).fit(X, Y)
        gap = certree.optimality_gap(tree, X, Y, min_samples_leaf=0.05)
        assert gap.gap == 0

    @pytest.mark.parametrize("value", [0.0, 0.51, 1.0, -0.1, float("nan"), 0])
    def test_other_numbers_are_refused(self, value: Any) -> None:
        with pytest.raises(ValueError, match="min_samples_leaf must be an integer"):
            OptimalTreeClassifier(min_samples_leaf=value).fit(X, Y)

    @pytest.mark.parametrize("value", [None, "0.1", True])
    def test_other_types_are_refused(self, value: Any) -> None:
        with pytest.raises(TypeError, match="min_samples_leaf must be an integer"):
            OptimalTreeClassifier(min_samples_leaf=value).fit(X, Y)


class TestLeaves:
    @pytest.mark.parametrize("fit", FITS, ids=_named)
    def test_leaves_are_splits_plus_one(self, fit: Any) -> None:
        model, data = fit
        one = _with(model, max_depth=3, max_leaf_nodes=3).fit(*data)
        other = _with(model, max_depth=3, max_splits=2).fit(*data)
        assert one.certificate_.max_splits == 2
        assert one.certificate_.cost == other.certificate_.cost
        assert one.tree_.n_leaves <= 3
        certree.verify(one, *data)

    def test_it_limits_a_tree_of_any_depth(self) -> None:
        one = OptimalTreeRegressor(max_depth=None, max_leaf_nodes=4, thresholds=4).fit(X, X[:, 0])
        assert one.tree_.n_leaves == 4
        policy = PolicyTree(max_depth=None, max_leaf_nodes=2, thresholds=4)
        policy.fit(X, Y, RNG.random(60))
        assert policy.tree_.n_leaves <= 2

    def test_functions_take_it_too(self) -> None:
        path = regularization_path(X, Y, max_leaf_nodes=3)
        assert [entry.splits for entry in path][-1] == 2
        front = pareto_front(X, Y, max_leaf_nodes=2)
        assert {tree.n_leaves for tree in front.trees} <= {1, 2}
        found = solve(tasks.RowCosts(C), X, max_leaf_nodes=2)
        assert found.tree is not None
        assert found.tree.n_leaves <= 2

    def test_both_may_say_the_same(self) -> None:
        model = OptimalTreeClassifier(max_splits=3, max_leaf_nodes=4).fit(X, Y)
        assert model.certificate_.max_splits == 3
        assert OptimalTreeClassifier(max_leaf_nodes=1).fit(X, Y).tree_.n_leaves == 1

    def test_what_disagrees_is_refused(self) -> None:
        with pytest.raises(ValueError, match="max_splits=3 and max_leaf_nodes=3 disagree"):
            regularization_path(X, Y, max_splits=3, max_leaf_nodes=3)
        with pytest.raises(ValueError, match="max_splits=4 and max_leaf_nodes=4 disagree"):
            OptimalTreeClassifier(max_splits=4, max_leaf_nodes=4).fit(X, Y)
        with pytest.raises(ValueError, match="max_leaf_nodes=4 needs splits='binary'"):
            OptimalTreeClassifier(splits="multiway", max_leaf_nodes=4).fit([["a"], ["b"]], [0, 1])
        with pytest.raises(ValueError, match="max_leaf_nodes must be an integer of at least 1"):
            OptimalTreeClassifier(max_leaf_nodes=0).fit(X, Y)


def _people() -> tuple[Any, Any]:
    """A raw table, and a time that its columns explain."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.integers(20, 80, 90), "ward": rng.choice(["a", "b"], 90)})
    X["dose"] = np.where(rng.random(90) < 0.1, np.nan, rng.integers(0, 5, 90))
    return X, (X.age / 10 + 4 * (X.ward == "a") + rng.integers(1, 3, 90)).round(1)


@pytest.mark.parametrize(
    ("model", "measure"),
    [
        (SurvivalTree(), "concordance"),
        (LinearTreeRegressor(), "R2"),
        (LinearTreeRegressor(leaf_model="ridge", ridge=1.0), "R2"),
        (OptimalTreeClusterer(features=["age"], categorical_features=["ward"]), "share of the"),
        (OptimalTreeRegressor(criterion="absolute_error"), "D2"),
        (OptimalTreeRegressor(criterion="quantile", quantile=0.8), "D2"),
        (OptimalTreeRegressor(criterion="poisson"), "D2"),
        (OptimalTreeRegressor(criterion="gamma"), "D2"),
        (OptimalTreeRegressor(output_weights=[2, 1]), "R2"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_trees_of_all_leaves_have_their_size_chosen(model: Any, measure: str) -> None:
    """Raw tables, weights: the scores are those of a fit within the limits in each fold."""
    X, time = _people()
    y: Any = time
    if isinstance(model, SurvivalTree):
        y = pd.DataFrame({"time": time, "event": X.age < 70})
    elif isinstance(model, OptimalTreeClusterer):
        y = None
    elif getattr(model, "output_weights", None) is not None:
        y = np.column_stack([time, X.age])
    weights, folds = np.arange(90) % 3 + 1, KFold(3)
    chosen = TreeCV(model, depths=(1, 2), cv=folds).fit(X, y, weights)
    assert chosen.curve_.measure.startswith(measure)
    for place, params in enumerate(chosen.cv_results_["params"]):
        train, test = next(iter(folds.split(X)))
        part = clone(model).set_params(**params)
        part.fit(X.iloc[train], None if y is None else _some(y, train), weights[train])
        score = part._score_part(
            X.iloc[test],
            part._read_target(_some(y, test), len(test)) if y is not None else None,
            sample_weight=weights[test],
        )
        assert chosen.curve_.scores[place, 0] == pytest.approx(score)
    assert verify(chosen, X, y, weights)


def _some(y: Any, rows: Any) -> Any:
    return y.iloc[rows] if hasattr(y, "iloc") else y[rows]


def test_the_number_of_clusters_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(k * 10, 1, (30, 2)) for k in range(3)]).round(2)
    tried = TreeCV(OptimalTreeClusterer(5), depths=(1, 2), sizes=(1, 2, 3), rule="one_se", cv=3)
    model = tried.fit(rng.permutation(X))
    assert model.best_params_ == {"max_depth": 2, "n_clusters": 3}
    assert [one["n_clusters"] for one in model.cv_results_["params"]] == [1, 2, 1, 2, 3]
    assert model.best_score_ > 0.9
    assert set(model.predict(X)) == {0, 1, 2}
    assert "n_clusters=3" in model.curve_.statement()
    assert model.curve_.plot().get_xlabel() == "most clusters"


def test_columns_that_are_complete_in_a_fold_alone_are_in_no_model() -> None:
    X = np.column_stack([np.arange(40.0), np.arange(40.0) % 7])
    y = X[:, 0] * 2
    X[1, 0] = np.nan  # in the first fold
    chosen = TreeCV(LinearTreeRegressor(), depths=(1,), cv=KFold(2)).fit(X, y)
    assert chosen.model_features_.tolist() == [1]
    assert np.isfinite(chosen.curve_.scores).all()
    X[30, 1] = np.nan
    with pytest.warns(UserWarning, match="leaves hold constants"):
        chosen = TreeCV(LinearTreeRegressor(), depths=(1,), cv=KFold(2)).fit(X, y)
    assert chosen.model_features_.tolist() == []
    with pytest.warns(UserWarning, match="mean"):
        clusters = TreeCV(OptimalTreeClusterer(3), depths=(1,), cv=KFold(2)).fit(X)
    assert np.isfinite(clusters.curve_.scores).all()


def test_weights_of_outputs_hold_in_the_choice_of_a_size() -> None:
    X, y = _people()
    for kinds, targets in (
        ((OptimalTreeRegressorCV, OptimalTreeRegressor), np.column_stack([y, X.age])),
        ((OptimalTreeClassifierCV, OptimalTreeClassifier), np.column_stack([y > 8, X.age > 50])),
    ):
        chosen = kinds[0]((1,), sizes=None, cv=2, output_weights=[5, 1]).fit(X, targets)
        tree = kinds[1](1, output_weights=[5, 1]).fit(X, targets)
        assert chosen.certificate_.cost == tree.certificate_.cost
        assert chosen.certificate_.cost != kinds[1](1).fit(X, targets).certificate_.cost


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "quantile", "poisson"])
def test_the_regressor_takes_the_criteria_of_its_tree(criterion: str) -> None:
    X, y = _people()
    settings = {"criterion": criterion, "quantile": 0.9 if criterion == "quantile" else 0.5}
    model = OptimalTreeRegressorCV((1, 2), cv=3, **settings).fit(X, y)
    tree = OptimalTreeRegressor(**settings, **model.best_params_).fit(X, y)
    assert model.certificate_.cost == tree.certificate_.cost
    assert model.curve_.measure == ("R2" if criterion == "squared_error" else "D2")
    assert model.__sklearn_tags__().target_tags.positive_only == (criterion == "poisson")
