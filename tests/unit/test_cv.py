"""OptimalTreeClassifierCV: the same as fitting every pair of limits in every fold."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    datasets,
    metrics,
    verify,
)


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(31)
    X = rng.integers(0, 2, (90, 6))
    return X, (rng.random(90) < 0.1 + 0.6 * (X[:, 0] ^ X[:, 1])).astype(int)


@pytest.mark.parametrize(
    "objective", ["accuracy", "balanced_accuracy", "f1", "mcc", metrics.FBeta(2), "auc"], ids=str
)
def test_scores_are_those_of_trees_that_are_best_in_the_fold(
    data: tuple[Any, Any], objective: Any
) -> None:
    """Trees of the same value may differ, so it is the training value that is compared."""
    X, y = data
    cv = StratifiedKFold(3)
    model = OptimalTreeClassifierCV(depths=(1, 2), cv=cv, objective=objective).fit(X, y)
    results = model.cv_results_
    assert results["param_max_depth"].tolist() == [1, 2, 2, 2]
    assert results["param_max_splits"].tolist() == [1, 1, 2, 3]
    scores = np.array([results[f"split{i}_test_score"] for i in range(3)])
    assert scores.mean(axis=0) == pytest.approx(results["mean_test_score"])
    chosen = np.argmax(results["rank_test_score"] == 1)
    assert results["mean_test_score"][chosen] == pytest.approx(model.best_score_)
    assert model.certificate_.max_depth == model.best_depth_
    assert model.certificate_.max_splits == model.best_splits_
    direct = OptimalTreeClassifier(
        max_depth=model.best_depth_, max_splits=model.best_splits_, objective=objective
    ).fit(X, y)
    assert direct.certificate_.cost == model.certificate_.cost
    assert verify(model.best_estimator_, X, y)


def test_the_path_of_a_fold_has_the_trees_of_single_fits(data: tuple[Any, Any]) -> None:
    from certree.estimators._metric_fit import TrainingRows
    from certree.estimators._sizes import trees_of_all_sizes

    X, y = data
    for objective in ("accuracy", "f1", "mcc", "gmean", "auc"):
        sizes = trees_of_all_sizes(
            OptimalTreeClassifier(objective=objective), TrainingRows(X, y, None), [1, 2]
        )
        for found in sizes:
            for most in range(1, 2**found.depth):
                tree = found.best(most)
                assert tree.n_splits <= most
                assert tree.depth <= found.depth
                fitted = OptimalTreeClassifier(
                    max_depth=found.depth, max_splits=most, objective=objective
                ).fit(X, y)
                if objective == "auc":
                    value = metrics.AUC().score(y, tree.predict_proba(X)[:, 1])
                elif objective == "accuracy":
                    value = np.mean(tree.predict(X) == y)
                else:
                    value = metrics.get(objective).score(y, tree.predict(X))
                assert value == pytest.approx(fitted.certificate_.objective)


def test_simple_structure_is_found(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=(1, 2, 3)).fit(*data)
    assert model.best_depth_ >= 2
    assert model.n_splits_ == 5
    assert model.score(*data) > 0.7


def test_the_rule_of_one_standard_error_takes_a_smaller_tree(data: tuple[Any, Any]) -> None:
    best = OptimalTreeClassifierCV(depths=(1, 2, 3)).fit(*data)
    small = OptimalTreeClassifierCV(depths=(1, 2, 3), rule="one_se").fit(*data)
    assert small.best_splits_ <= best.best_splits_


def test_raw_tables_weights_and_groups() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    X, y = X[:150], y[:150]
    weights = np.random.default_rng(0).integers(1, 3, 150)
    model = OptimalTreeClassifierCV(
        depths=[2], cv=GroupKFold(3), objective="f1", pos_label="default", class_weight="balanced"
    )
    model.fit(X, y, weights, groups=np.arange(150) % 7)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert set(model.predict(X)) <= {"default", "repaid"}
    assert model.predict_proba(X).shape == (150, 2)
    assert verify(model.best_estimator_, X, y, weights)


def test_it_offers_what_the_model_it_holds_offers(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifierCV(depths=(1, 2)).fit(X, y, path=True)
    held = model.best_estimator_
    offered = {name for name in dir(held) if not name.startswith("_")}
    assert offered - set(held.get_params()) <= set(dir(model))
    for method in ("predict", "predict_proba", "apply"):
        assert np.array_equal(getattr(model, method)(X), getattr(held, method)(X))
    assert (model.decision_path(X) != held.decision_path(X)).nnz == 0
    assert model.score(X, y) == held.score(X, y)
    assert np.array_equal(model.feature_importances_, held.feature_importances_)
    for name in ("tree_", "certificate_", "encoder_", "path_", "classes_", "n_classes_"):
        assert getattr(model, name) is getattr(held, name)
    assert len(model.path_) <= model.best_splits_ + 1


def test_what_it_holds_is_not_there_before_a_fit(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=(1,))
    assert not any(hasattr(model, name) for name in ("tree_", "classes_", "n_features_in_"))
    assert not hasattr(model.fit(*data), "path_")
    assert not hasattr(model, "feature_names_in_")


def test_it_can_be_cloned_and_pickled(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=(1, 2), objective=metrics.F1()).fit(*data)
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert clone(model).fit(*data).best_score_ == model.best_score_


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"depths": ()}, "depths must be a few integers"),
        ({"depths": 3}, "depths must be a few integers"),
        ({"depths": (0, 1)}, "depths must be a few integers"),
        ({"rule": "worst"}, "rule='worst' is not supported"),
        ({"objective": "gini"}, "objective='gini' is not supported"),
        ({"objective": metrics.ErrorFront()}, "A front has no score"),
    ],
)
def test_bad_parameters_are_refused(
    data: tuple[Any, Any], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifierCV(**settings).fit(*data)


def test_searches_that_end_early_are_warned_of(
    data: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from certree.estimators import _cv

    def stopped(*arguments: Any) -> Any:
        return [dataclasses.replace(sizes, status="time_limit") for sizes in whole(*arguments)]

    whole = _cv.trees_of_all_sizes
    monkeypatch.setattr(_cv, "trees_of_all_sizes", stopped)
    with pytest.warns(OptimalityWarning, match="2 of 2 searches in cross-validation ended"):
        OptimalTreeClassifierCV(depths=(1,), cv=2).fit(*data)
