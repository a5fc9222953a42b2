"""Cross-validation: the same as fitting all limits in every fold."""

from __future__ import annotations

import dataclasses
import pickle
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, StratifiedKFold

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    PolicyTree,
    SPOForest,
    TreeCV,
    ValidationCurve,
    datasets,
    load,
    metrics,
    regularization_path,
    verify,
)
from certree.encoding import _table
from certree.fitting import budgets


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
    assert model.certificate_.max_depth == model.best_params_["max_depth"]
    assert model.certificate_.max_splits == model.best_params_["max_splits"]
    direct = OptimalTreeClassifier(**model.best_params_, objective=objective).fit(X, y)
    assert direct.certificate_.cost == model.certificate_.cost
    assert verify(model.best_estimator_, X, y)


def test_simple_structure_is_found(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=(1, 2, 3)).fit(*data)
    assert model.best_params_["max_depth"] >= 2
    assert model.n_splits_ == 5
    assert model.score(*data) > 0.7


def test_the_rule_of_one_standard_error_takes_a_smaller_tree(data: tuple[Any, Any]) -> None:
    best = OptimalTreeClassifierCV(depths=(1, 2, 3)).fit(*data)
    small = OptimalTreeClassifierCV(depths=(1, 2, 3), rule="one_se").fit(*data)
    assert small.best_params_["max_splits"] <= best.best_params_["max_splits"]


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
    offered -= {"fit_reduced"}  # folds are made of rows
    assert offered - set(held.get_params()) <= set(dir(model))
    assert not hasattr(TreeCV(depths=(1,)).fit(X, y), "fit_reduced")
    for method in ("predict", "predict_proba", "apply"):
        assert np.array_equal(getattr(model, method)(X), getattr(held, method)(X))
    assert (model.decision_path(X) != held.decision_path(X)).nnz == 0
    assert model.score(X, y) == held.score(X, y)
    assert np.array_equal(model.feature_importances_, held.feature_importances_)
    for name in ("tree_", "certificate_", "encoder_", "path_", "classes_", "n_classes_"):
        assert getattr(model, name) is getattr(held, name)
    assert len(model.path_) <= model.best_params_["max_splits"] + 1


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
        ({"depths": (-1, 1)}, "depths must be a few integers"),
        ({"sizes": 3}, "sizes must be"),
        ({"sizes": (1, -1)}, "sizes must be"),
        ({"sizes": None, "depths": None}, "Nothing to choose"),
        ({"depths": None}, "list the sizes to try"),
        ({"sizes": (1,), "complexities": (0.1,)}, "either sizes or complexities"),
        ({"complexities": "all"}, "complexities must be"),
        ({"complexities": ()}, "complexities is empty"),
        ({"complexities": "auto", "objective": "f1"}, "list the complexities"),
        ({"scoring": "gini"}, "scoring='gini' is neither"),
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
        return [dataclasses.replace(one, status="time_limit") for one in whole(*arguments)]

    whole = _cv.models_within
    monkeypatch.setattr(_cv, "models_within", stopped)
    with pytest.warns(OptimalityWarning, match="2 of 2 trees in cross-validation"):
        OptimalTreeClassifierCV(depths=(1,), cv=2).fit(*data)


# ---- what is tried -----------------------------------------------------------------------------


def test_sizes_may_be_listed_and_depths_go_without_a_limit(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=None, sizes=range(4), cv=3).fit(*data)
    assert model.cv_results_["params"] == [
        {"max_depth": None, "max_splits": size} for size in range(4)
    ]
    listed = OptimalTreeClassifierCV(depths=(1, 2), sizes=(0, 5), cv=3).fit(*data)
    assert [tuple(one.values()) for one in listed.curve_.params] == [(1, 0), (1, 1), (2, 0), (2, 3)]


def test_depths_alone_are_chosen_without_sizes(data: tuple[Any, Any]) -> None:
    whole = OptimalTreeClassifierCV(depths=(0, 1, 2), cv=3).fit(*data)
    alone = OptimalTreeClassifierCV(depths=(0, 1, 2), sizes=None, cv=3).fit(*data)
    assert alone.cv_results_["params"] == [{"max_depth": depth} for depth in (0, 1, 2)]
    last = [whole.curve_.params.index({"max_depth": d, "max_splits": 2**d - 1}) for d in (0, 1, 2)]
    assert alone.curve_.mean == pytest.approx(whole.curve_.mean[last])
    assert alone.certificate_.max_splits is None


def test_a_tree_for_each_complexity_comes_from_the_same_path(data: tuple[Any, Any]) -> None:
    X, y = data
    complexities = (0, 0.01, "1/30", 0.2)
    model = OptimalTreeClassifierCV(depths=(2,), complexities=complexities, cv=3).fit(X, y)
    tried = [one["complexity"] for one in model.curve_.params]
    assert tried == [0.2, Fraction(1, 30), 0.01, 0]
    for number, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        for place, one in enumerate(tried):
            fitted = OptimalTreeClassifier(2, complexity=one).fit(X[train], y[train])
            if one:  # without a penalty, trees of the same errors differ
                assert model.curve_.scores[place, number] == fitted.score(X[test], y[test])
    assert model.certificate_.complexity == Fraction(str(model.best_params_["complexity"]))


def test_automatic_complexities_are_one_for_each_tree_of_the_hull(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifierCV(depths=(2,), complexities="auto", cv=3).fit(X, y)
    path = regularization_path(X, y, max_depth=2)
    tried = [one["complexity"] for one in model.curve_.params]
    assert [path.entry(one).splits for one in tried] == [entry.splits for entry in path.hull()]


def test_a_size_limit_and_a_penalty_of_the_estimator_hold_in_all_folds(
    data: tuple[Any, Any],
) -> None:
    X, y = data
    tree = OptimalTreeClassifier(max_splits=2, complexity=0.05)
    model = TreeCV(tree, depths=(2, 3), cv=3).fit(X, y)
    assert [tuple(one.values()) for one in model.curve_.params] == [(2, 1), (2, 2), (3, 1), (3, 2)]
    assert model.certificate_.complexity == Fraction(1, 20)
    train, test = next(iter(StratifiedKFold(3).split(X, y)))
    fitted = clone(tree).set_params(max_depth=2).fit(X[train], y[train])
    assert model.curve_.scores[1, 0] == fitted.score(X[test], y[test])


# ---- scores ------------------------------------------------------------------------------------


def test_scores_of_scikit_learn_and_of_users(data: tuple[Any, Any]) -> None:
    X, y = data
    weights = np.random.default_rng(0).integers(1, 4, len(y))

    def twice(model: Any, X: Any, y: Any) -> float:
        return 2 * float(np.mean(model.predict(X) == y))

    own = OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(X, y)
    named = OptimalTreeClassifierCV(depths=(1, 2), cv=3, scoring="accuracy").fit(X, y)
    other = OptimalTreeClassifierCV(depths=(1, 2), cv=3, scoring=twice).fit(X, y)
    assert named.curve_.mean == pytest.approx(own.curve_.mean)
    assert other.curve_.mean == pytest.approx(2 * own.curve_.mean)
    assert (own.curve_.measure, other.curve_.measure) == ("accuracy", "twice")
    for scoring in ("neg_log_loss", make_scorer(f1_score), metrics.F1(), "mcc", "roc_auc"):
        scored = OptimalTreeClassifierCV(depths=(1,), cv=3, scoring=scoring).fit(X, y, weights)
        assert np.isfinite(scored.curve_.scores).all()
    by_scikit = OptimalTreeClassifierCV(depths=(2,), cv=3, scoring=make_scorer(f1_score))
    by_metric = OptimalTreeClassifierCV(depths=(2,), cv=3, scoring=metrics.F1())
    assert by_scikit.fit(X, y, weights).curve_.scores == pytest.approx(
        by_metric.fit(X, y, weights).curve_.scores
    )
    with pytest.raises(ValueError, match="needs a classifier"):
        OptimalTreeRegressorCV(scoring=metrics.F1()).fit(X, y)
    with pytest.raises(TypeError, match="scoring must be"):
        OptimalTreeClassifierCV(scoring=3).fit(X, y)


def test_without_a_refit_there_are_scores_and_no_model(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifierCV(depths=(1,), cv=2).fit(*data)
    model.set_params(refit=False).fit(*data)
    assert model.best_params_ == {"max_depth": 1, "max_splits": 1}
    assert not hasattr(model, "best_estimator_")
    with pytest.raises(AttributeError, match="refit=False"):
        model.predict(data[0])


def test_folds_in_threads_have_the_same_scores(data: tuple[Any, Any]) -> None:
    one = OptimalTreeClassifierCV(depths=(1, 2)).fit(*data)
    two = OptimalTreeClassifierCV(depths=(1, 2), n_jobs=2).fit(*data)
    assert np.array_equal(one.curve_.scores, two.curve_.scores)
    assert one.tree_ == two.tree_


def test_a_warning_in_a_fold_does_not_reach_the_user(data: tuple[Any, Any]) -> None:
    """Folds share what is left of the time; one warning at the end speaks of all of them."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 12)), rng.integers(0, 2, 400)
    with pytest.warns(OptimalityWarning) as caught:
        OptimalTreeClassifierCV(depths=(6,), sizes=(9,), cv=3, time_limit=0.5).fit(X, y)
    texts = [str(one.message) for one in caught]
    assert sum("trees in cross-validation" in text for text in texts) == 1
    assert len(texts) <= 3


# ---- the curve ---------------------------------------------------------------------------------


def test_the_rule_of_one_standard_error_by_hand() -> None:
    params = [{"max_depth": d, "max_splits": s} for d, s in ((1, 1), (2, 1), (2, 2), (2, 3))]
    scores = [[0.5, 0.6], [0.5, 0.6], [0.6, 0.8], [0.7, 0.9]]
    best, small = (ValidationCurve(params, scores, rule=rule) for rule in ("best", "one_se"))
    assert (best.best, best.chosen, small.best) == (3, 3, 3)
    assert small.standard_error == pytest.approx([0.05, 0.05, 0.1, 0.1])
    assert small.chosen == 2
    assert best.cv_results()["rank_test_score"].tolist() == [3, 3, 2, 1]
    frame = small.to_frame()
    assert frame["chosen"].tolist() == [False, False, True, False]
    assert small.to_dict()["mean"] == pytest.approx([0.55, 0.55, 0.7, 0.8])
    assert "chosen" in str(small).splitlines()[4]
    assert repr(small) == "ValidationCurve(4 limits, 2 folds, chosen: max_depth=2, max_splits=2)"


def test_of_complexities_the_largest_is_the_smallest_tree() -> None:
    params = [{"max_depth": 3, "complexity": c} for c in (0.0, 0.1, 0.05)]
    assert ValidationCurve(params, [[0.5], [0.5], [0.5]]).chosen == 1


def test_limits_without_a_tree_are_not_chosen() -> None:
    nan = float("nan")
    curve = ValidationCurve([{"max_depth": d} for d in (0, 1)], [[nan, 0.9], [0.1, 0.2]])
    assert curve.chosen == 1
    assert curve.cv_results()["rank_test_score"].tolist() == [2, 1]
    with pytest.raises(ValueError, match="No limits have a score in every fold"):
        ValidationCurve([{"max_depth": 0}], [[nan]])


@pytest.mark.parametrize(
    "settings",
    [{}, {"sizes": None}, {"complexities": "auto"}, {"depths": None, "sizes": (1, 2)}],
    ids=str,
)
def test_the_curve_is_drawn(data: tuple[Any, Any], settings: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    given = {"depths": (1, 2), "cv": 3, "rule": "one_se", **settings}
    model = OptimalTreeClassifierCV(**given).fit(*data)
    ax = model.curve_.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "chosen" in labels
    assert len(ax.collections) == (1 if "sizes" in settings else 2)
    assert ax.get_ylabel() == "accuracy on rows left out"
    plt.close(ax.figure)


# ---- what it takes -----------------------------------------------------------------------------


def test_a_path_and_all_folds_take_a_few_times_the_work_of_one_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In depth-two evaluations, which are most of the time; seconds are not the same twice."""
    from certree.estimators import _sizes

    spent = []

    def counted(*arguments: Any, **more: Any) -> Any:
        result = whole(*arguments, **more)
        spent.append(result.counters["depth_two_evaluations"])
        return result

    X, y = load_breast_cancer(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=3).fit(X, y, path=True)
    one = model.certificate_.counters["depth_two_evaluations"]
    assert model.path_.counters["depth_two_evaluations"] <= 3 * one
    assert model.path_.best() == model.tree_
    whole = _sizes.solve_path
    monkeypatch.setattr(_sizes, "solve_path", counted)
    chosen = OptimalTreeClassifierCV().fit(X, y)
    refit = chosen.certificate_.counters["depth_two_evaluations"]
    assert len(spent) == 15
    assert sum(spent) + refit <= 17 * one


# ---- every tree --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model, given, message",
    [
        (TreeCV(3), {}, "estimator must be a tree of certree"),
        (TreeCV(SPOForest()), {}, "estimator must be a tree of certree"),
        (TreeCV(OptimalTreeClusterer(), sizes=range(2)), {}, "numbers of clusters such as"),
        (TreeCV(OptimalTreeClassifier(splits="multiway")), {}, "needs columns of categories"),
        (TreeCV(CostSensitiveTreeClassifier()), {"costs": [[0, 1]]}, "costs must have one value"),
        (TreeCV(FairTreeClassifier()), {"sensitive_features": "sex"}, "sensitive_features must"),
        (TreeCV(PolicyTree()), {}, "PolicyTree needs outcomes"),
        (TreeCV(refit=1), {}, "refit must be True or False"),
        (TreeCV(cv=1), {}, "at least one train/test split|n_splits"),
    ],
    ids=[
        "number",
        "forest",
        "clusters",
        "multiway",
        "costs",
        "groups",
        "outcomes",
        "refit",
        "folds",
    ],
)
def test_what_cannot_be_chosen_is_refused(
    data: tuple[Any, Any], model: TreeCV, given: dict[str, Any], message: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(*data, **given)


def test_several_outputs_have_their_size_chosen(data: tuple[Any, Any]) -> None:
    X, y = data
    for model in (OptimalTreeRegressorCV((1, 2)), OptimalTreeClassifierCV((1, 2))):
        model.fit(X, np.column_stack([y, 1 - y]))
        assert model.n_outputs_ == 2
        assert model.predict(X).shape == (len(y), 2)


def test_multiway_trees_have_their_depth_chosen() -> None:
    X = [[word] for word in "abcabcabcabc"]
    y = [0, 1, 1] * 4
    tree = OptimalTreeClassifier(splits="multiway")
    model = TreeCV(tree, depths=(0, 1), sizes=None, cv=2).fit(X, y)
    assert model.best_params_ == {"max_depth": 1}
    assert model.best_score_ == 1.0


def test_a_tree_in_general_offers_what_its_model_offers(data: tuple[Any, Any]) -> None:
    X, y = data
    tree = CostSensitiveTreeClassifier([[0, 1], [4, 0]], test_costs=[0.1] * 6)
    model = TreeCV(tree, depths=(1, 2), cv=3).fit(X, y, path=True)
    held = model.best_estimator_
    assert model.score(X, y) == held.score(X, y) == -model.expected_cost(X, y)
    assert model.cost_report(X, y) == held.cost_report(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert model.path_ is held.path_
    assert is_classifier(model)
    assert not is_classifier(TreeCV(OptimalTreeRegressor()))
    assert model.estimator is tree
    assert tree.classes is None
    with pytest.raises(AttributeError, match="has no attribute 'decide'"):
        model.decide  # noqa: B018
    again = pickle.loads(pickle.dumps(model))
    assert again.expected_cost(X, y) == model.expected_cost(X, y)


def test_limits_are_those_of_the_whole_choice(data: tuple[Any, Any]) -> None:
    model = TreeCV(OptimalTreeClassifier(time_limit=1e-9), depths=(1, 2), time_limit=None)
    assert model.fit(*data).certificate_.is_optimal
    assert model.best_estimator_.time_limit is None


def test_rows_are_divided_with_all_that_belongs_to_them() -> None:
    """Frames, series and arrays, in the folds as in single fits."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    X = pandas.DataFrame(rng.integers(0, 2, (60, 3)), columns=["a", "b", "c"], index=range(60, 120))
    y = pandas.Series(rng.integers(0, 2, 60), index=X.index)
    groups = pandas.Series(rng.choice(["f", "m"], 60), index=X.index)
    folds = StratifiedKFold(3)
    tree = FairTreeClassifier(tolerance=0.2)
    model = TreeCV(tree, depths=(1, 2), sizes=None, cv=folds).fit(X, y, sensitive_features=groups)
    for number, (train, test) in enumerate(folds.split(X, y)):
        for place, depth in enumerate((1, 2)):
            one = clone(tree).set_params(max_depth=depth)
            one.fit(X.iloc[train], y.iloc[train], sensitive_features=groups.iloc[train])
            # Trees of the same errors differ on other rows.
            if one.tree_.n_splits == 0:
                wanted = one.score(X.iloc[test], y.iloc[test])
                assert model.curve_.scores[place, number] == pytest.approx(wanted)
    assert model.disparity_ <= 0.2
    assert verify(model, X, y, sensitive_features=groups)


def test_policies_are_scored_by_rewards_that_are_estimated_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from certree.decisions import _policy

    calls = []
    whole = _policy.policy_scores
    monkeypatch.setattr(_policy, "policy_scores", lambda *given: calls.append(1) or whole(*given))
    rows = datasets.make_policy_example(120)
    model = TreeCV(PolicyTree(random_state=0), depths=(1, 2), cv=3)
    model.fit(rows.data, rows.treatment, outcome=rows.outcome)
    assert len(calls) == 1
    same = TreeCV(PolicyTree(treatments=model.treatments_), depths=(1, 2), cv=3)
    same.fit(rows.data, model.rewards_)
    assert np.array_equal(same.curve_.scores, model.curve_.scores)
    assert set(model.predict(rows.data)) <= set(rows.treatment)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_time_limit_is_for_all_folds_together(n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 10)), rng.normal(size=500)
    model = OptimalTreeRegressorCV(depths=(5,), sizes=(20,), time_limit=1.5, n_jobs=n_jobs, cv=4)
    start = perf_counter()
    with pytest.warns(OptimalityWarning, match="4 of 4 trees in cross-validation"):
        model.fit(X, y)
    assert perf_counter() - start < 15
    assert model.n_splits_ == 4
    assert verify(model, X, y)


# ---- files and notebooks -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        OptimalTreeClassifierCV(depths=(1, 2), cv=3, complexities=("1/30", 0.1)),
        OptimalTreeRegressorCV(depths=(1, 2), cv=3, rule="one_se"),
        TreeCV(CostSensitiveTreeClassifier([[0, 1], [4, 0]]), depths=(1,), cv=3, refit=True),
    ],
    ids=["classifier", "regressor", "any"],
)
def test_a_choice_is_saved_with_its_curve(
    data: tuple[Any, Any], model: Any, tmp_path: Path
) -> None:
    X, y = data
    model.fit(X, y).save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert type(again) is type(model)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.best_params_ == model.best_params_
    assert again.curve_.to_dict() == model.curve_.to_dict()
    assert "rows left out" in again.curve_._repr_html_()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_folds_run_in_the_processes_of_a_joblib_backend(
    n_jobs: int | None, data: tuple[Any, Any]
) -> None:
    phases: list[str] = []
    expected = OptimalTreeClassifierCV(depths=(1, 2), cv=4).fit(*data)
    with (
        parallel_config(backend="loky", n_jobs=2),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(budgets, "phase", phases.append)
        model = OptimalTreeClassifierCV(depths=(1, 2), cv=4, n_jobs=n_jobs).fit(*data)
    assert "searching folds, 4 of 4 done" in phases
    assert model.best_params_ == expected.best_params_
    np.testing.assert_array_equal(model.curve_.scores, expected.curve_.scores)


def test_folds_run_on_backends_that_give_all_results_at_once(data: tuple[Any, Any]) -> None:
    expected = OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(*data)
    with parallel_config(backend="multiprocessing", n_jobs=2):
        model = OptimalTreeClassifierCV(depths=(1, 2), cv=3, n_jobs=None).fit(*data)
    np.testing.assert_array_equal(model.curve_.scores, expected.curve_.scores)


def test_fair_trees_with_a_cost_matrix_are_chosen_by_what_they_cost() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    owner = (X["housing"] == "own").to_numpy()
    weights = np.where(owner, 2, 1)
    matrix = np.array([[0, 5], [1, 0]])  # a missed "default" costs 5
    folds = list(StratifiedKFold(3).split(X, y))
    tree = FairTreeClassifier(cost_matrix=matrix / 2, max_depth=1, thresholds=3, tolerance=0.05)
    found = TreeCV(tree, depths=(1,), sizes=None, cv=folds)
    found.fit(X, y, sensitive_features=owner, sample_weight=weights)
    assert str(found.curve_).startswith("negative mean cost on rows left out")
    for (train, test), score in zip(folds, found.curve_.scores[0], strict=True):
        model = clone(tree).fit(
            X.iloc[train], y[train], sensitive_features=owner[train], sample_weight=weights[train]
        )
        wrong = model.predict(X.iloc[test]) != y[test]
        costs = np.where(wrong, np.where(y[test] == "default", 2.5, 0.5), 0.0)
        assert score == pytest.approx(-np.average(costs, weights=weights[test]))


def test_rows_left_out_are_read_once_for_all_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = datasets.load_credit(return_X_y=True)
    read: list[int] = []
    plain = _table._read_frame

    def count(frame: Any, labels: list[Any]) -> Any:
        read.append(len(frame))
        return plain(frame, labels)

    monkeypatch.setattr(_table, "_read_frame", count)
    tree = CostSensitiveTreeClassifier([[0, 5], [1, 0]], {"savings": 0.02}, thresholds=3)
    model = TreeCV(tree, depths=(3,), cv=3).fit(X, y)
    assert len(model.curve_.mean) == 7
    assert read.count(len(X) // 3) == 3
