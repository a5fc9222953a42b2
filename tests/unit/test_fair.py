"""The fair tree as an estimator: groups of any make, certificate, curve, scikit-learn."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from certree import (
    CertificateError,
    FairnessCertificate,
    FairTreeClassifier,
    InfeasibleError,
    OptimalTreeClassifier,
    datasets,
    verify,
)


def rows(n_rows: int = 60, seed: int = 0) -> tuple[Any, Any, Any]:
    """Draw a table in which the label hangs on the group, which its first column is."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 5))
    y = np.where(rng.random(n_rows) < 0.75, X[:, 0] | X[:, 1], rng.integers(0, 2, n_rows))
    return X, y, X[:, 0]


def fitted(**parameters: Any) -> tuple[FairTreeClassifier, Any, Any, Any]:
    X, y, a = rows()
    model = FairTreeClassifier(**{"max_depth": 2, "tolerance": 0.05, **parameters})
    return model.fit(X, y, sensitive_features=a), X, y, a


def test_rates_of_predictions_are_within_the_tolerance() -> None:
    model, X, _, a = fitted()
    predicted = model.predict(X)
    rates = {g: Fraction(int(predicted[a == g].sum()), int((a == g).sum())) for g in (0, 1)}
    assert model.group_rates_ == {"selection_rate": {g: float(r) for g, r in rates.items()}}
    assert model.certificate_.disparity == abs(rates[0] - rates[1]) <= Fraction("0.05")
    assert model.disparity_ == float(abs(rates[0] - rates[1]))
    assert model.groups_.tolist() == [0, 1]


def test_fairness_has_a_price() -> None:
    model, X, y, _ = fitted(tolerance=0)
    free = OptimalTreeClassifier(max_depth=2).fit(X[:, 1:], y)
    assert model.certificate_.cost >= free.certificate_.cost
    assert model.certificate_.unconstrained_cost in (None, free.certificate_.cost)


def test_a_tolerance_of_one_is_no_constraint() -> None:
    model, X, y, _ = fitted(tolerance=1)
    free = OptimalTreeClassifier(max_depth=2).fit(X[:, 1:], y)
    assert model.certificate_.cost == free.certificate_.cost
    assert model.certificate_.unconstrained_cost is None


@pytest.mark.parametrize("tolerance", [0.2, "1/5", Fraction(1, 5), np.float64(0.2)])
def test_exactly_at_the_tolerance_is_within(tolerance: Any) -> None:
    """Rates of 3/5 and 2/5 differ by one fifth, though not in floating point."""
    X = np.array([[1]] * 3 + [[0]] * 2 + [[1]] * 2 + [[0]] * 3)
    y, a = X[:, 0], np.repeat([0, 1], 5)
    model = FairTreeClassifier(tolerance=tolerance, max_depth=1).fit(X, y, sensitive_features=a)
    assert model.certificate_.cost == 0
    assert model.certificate_.disparity == Fraction(1, 5)
    assert model.disparity_ <= 0.2
    less = FairTreeClassifier(tolerance="0.1999999999", max_depth=1)
    assert less.fit(X, y, sensitive_features=a).certificate_.cost > 0


def test_the_sensitive_feature_is_left_out_unless_it_may_be_used() -> None:
    X, y, a = rows()
    X = np.column_stack([X, 1 - a])
    model = FairTreeClassifier(tolerance=1, max_depth=3).fit(X, y, sensitive_features=a)
    assert model.certificate_.left_out == ("x0 = 1", "x5 = 1")
    assert model.certificate_.n_tests == 4
    assert not {0, 5} & {test.feature for test in asked_by(model)}
    assert "left out" in str(model.certificate_)
    model.set_params(use_sensitive=True, tolerance=1).fit(X, y, sensitive_features=a)
    assert model.certificate_.left_out == ()
    assert 0 in {test.feature for test in asked_by(model)}
    assert verify(model, X, y, sensitive_features=a)


def asked_by(model: FairTreeClassifier) -> list[Any]:
    tree = model.tree_
    return [tree.node_test(node) for node in np.flatnonzero(tree.test >= 0).tolist()]


def test_a_threshold_that_is_the_group_is_left_out() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(18, 80, 50)
    X = np.column_stack([age, rng.random(50)])
    y = (age + rng.integers(-20, 20, 50) > 45).astype(int)
    model = FairTreeClassifier(max_depth=2, thresholds="all")
    model.fit(X, y, sensitive_features=age >= 40)
    (name,) = model.certificate_.left_out
    cut = float(name.removeprefix("x0 <= "))
    assert age[age < 40].max() <= cut < age[age >= 40].min()


def test_frames_texts_and_columns_give_the_same_tree() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y, a = rows()
    sex = np.array(["f", "m"])[a]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(sex=sex)
    labels = np.array(["no", "yes"])[y]
    costs = set()
    for model, table, groups in (
        (FairTreeClassifier(max_depth=2), frame, pd.Series(sex, index=range(100, 160))),
        (FairTreeClassifier(max_depth=2), pl.DataFrame(frame.to_dict("list")), pl.Series(sex)),
        (FairTreeClassifier(max_depth=2), frame, sex.tolist()),
        (FairTreeClassifier(max_depth=2, sensitive_columns="sex"), frame, None),
        (FairTreeClassifier(max_depth=2, sensitive_columns=[5]), frame, None),
    ):
        model.fit(table, labels, sensitive_features=groups)
        costs.add(model.certificate_.cost)
        assert model.certificate_.groups == ("f", "m")
        assert model.certificate_.left_out == ("a = 1", "sex = m")
        assert set(model.predict(table).tolist()) <= {"no", "yes"}
        assert verify(model, table, labels, sensitive_features=groups)
    assert len(costs) == 1


def test_several_sensitive_columns_are_compared_by_combination() -> None:
    X, y, _ = rows(120)
    model = FairTreeClassifier(max_depth=2, tolerance=0.2)
    model.fit(X, y, sensitive_features=X[:, :2])
    assert model.certificate_.groups == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert model.certificate_.left_out == ("x0 = 1", "x1 = 1")
    named = FairTreeClassifier(max_depth=2, tolerance=0.2, sensitive_columns=[0, 1]).fit(X, y)
    assert named.certificate_.cost == model.certificate_.cost
    assert verify(named, X, y)
    text = model.certificate_.to_json()
    assert FairnessCertificate.from_json(text) == model.certificate_


def test_weights_are_as_good_as_repeated_rows() -> None:
    X, y, a = rows(40)
    weights = np.arange(40) % 3
    for constraint in ("demographic_parity", "equalized_odds"):
        model = FairTreeClassifier(constraint, 0.1, max_depth=2)
        model.fit(X, y, sensitive_features=a, sample_weight=weights)
        cost, rates = model.certificate_.cost, model.group_rates_
        assert verify(model, X, y, weights, sensitive_features=a)
        big = [np.repeat(part, weights, axis=0) for part in (X, y, a)]
        model.fit(big[0], big[1], sensitive_features=big[2])
        assert model.certificate_.cost == cost
        assert {name: set(of) for name, of in rates.items()} == {
            name: set(of) for name, of in model.group_rates_.items()
        }


def test_scaled_weights_change_nothing_but_the_scale() -> None:
    X, y, a = rows(40)
    weights = 1 + np.arange(40) % 3
    model = FairTreeClassifier(max_depth=2, tolerance=0.1)
    cost = model.fit(X, y, sensitive_features=a, sample_weight=weights).certificate_.cost
    scaled = model.fit(X, y, sensitive_features=a, sample_weight=weights * 0.125)
    assert scaled.certificate_.cost == Fraction(cost, 8)


def test_real_weights_are_rounded_and_the_certificate_says_so() -> None:
    X, y, a = rows(40)
    weights = np.random.default_rng(0).random(40)
    model = FairTreeClassifier(max_depth=2, tolerance=0.1)
    model.fit(X, y, sensitive_features=a, sample_weight=weights)
    assert model.certificate_.weight_quantum is not None
    assert verify(model, X, y, weights, sensitive_features=a)


@pytest.mark.parametrize("depth", [1, 6, 12, None])
def test_real_weights_leave_room_for_deep_trees(depth: int | None) -> None:
    """Products of weights, multipliers and splits must fit 64 bits."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 4))
    a, y = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    weights = rng.random(300) * 1e6
    model = FairTreeClassifier("equalized_odds", max_depth=depth, complexity=0.003)
    model.fit(X, y, sensitive_features=a, sample_weight=weights)
    assert model.certificate_.is_optimal
    assert verify(model, X, y, weights, sensitive_features=a)
    curve = model.fairness_curve(X, y, a, weights, least_tolerance=0.02)
    assert curve.is_optimal


def test_class_weights_count_in_errors_but_not_in_rates() -> None:
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=2, tolerance=0.1, class_weight={0: 3})
    model.fit(X, y, sensitive_features=a)
    predicted = model.predict(X)
    assert model.certificate_.cost == int((np.where(y == 0, 3, 1) * (predicted != y)).sum())
    rates = [predicted[a == g].mean() for g in (0, 1)]
    assert model.disparity_ == pytest.approx(abs(rates[0] - rates[1]))
    assert verify(model, X, y, sensitive_features=a, exhaustive=False)


def test_the_positive_class_can_be_chosen() -> None:
    X, y, a = rows()
    model = FairTreeClassifier("equal_opportunity", 0, max_depth=2, pos_label=0)
    model.fit(X, y, sensitive_features=a)
    predicted = model.predict(X)
    rates = [(predicted[(a == g) & (y == 0)] == 0).mean() for g in (0, 1)]
    assert list(model.group_rates_["true_positive_rate"].values()) == pytest.approx(rates)
    with pytest.raises(ValueError, match="pos_label='x'"):
        FairTreeClassifier(pos_label="x").fit(X, y, sensitive_features=a)


def test_more_than_two_classes_are_for_accuracy_parity_only() -> None:
    X, _, a = rows()
    y = np.arange(60) % 3
    with pytest.raises(ValueError, match=r"Only binary .*accuracy_parity"):
        FairTreeClassifier().fit(X, y, sensitive_features=a)
    model = FairTreeClassifier("accuracy_parity", 0.2, max_depth=2)
    model.fit(X, y, sensitive_features=a)
    assert len(model.classes_) == 3
    assert verify(model, X, y, sensitive_features=a)


def impossible() -> tuple[Any, Any, Any]:
    """Rows that all look alike: one group is then always right, the other always wrong."""
    return np.zeros((4, 1)), np.array([0, 0, 1, 1]), np.array(["a", "a", "b", "b"])


def test_no_tree_within_the_tolerance_is_a_proof_and_no_model() -> None:
    X, y, a = impossible()
    model = FairTreeClassifier("accuracy_parity", 0.5)
    with pytest.warns(UserWarning, match=r"No tree is within tolerance=0.5.* of 1 can be kept"):
        model.fit(X, y, sensitive_features=a)
    certificate = model.certificate_
    assert certificate.is_infeasible
    assert not certificate.is_optimal
    assert certificate.least_disparity == 1
    assert "There is no tree with" in certificate.statement()
    assert "infeasible" in str(certificate)
    assert FairnessCertificate.from_json(certificate.to_json()).least_disparity == 1
    with pytest.raises(InfeasibleError, match="There is no tree with"):
        model.predict(X)
    assert verify(model, X, y, sensitive_features=a, exhaustive=True)
    model.certificate_ = replace(certificate, least_disparity=Fraction(3, 4))
    assert verify(model, X, y, sensitive_features=a)
    with pytest.raises(CertificateError, match="least disparity"):
        verify(model, X, y, sensitive_features=a, exhaustive=True)
    model.set_params(tolerance=1).fit(X, y, sensitive_features=a)
    assert model.predict(X).shape == (4,)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"tolerance": 1.5}, ValueError, "tolerance must lie between 0 and 1"),
        ({"tolerance": -1}, ValueError, "tolerance must lie between 0 and 1"),
        ({"tolerance": None}, TypeError, "tolerance must be a number"),
        ({"constraint": "parity"}, ValueError, "constraint='parity' is not supported"),
        ({"use_sensitive": "no"}, TypeError, "use_sensitive must be True or False"),
        ({"sensitive_columns": "sex"}, ValueError, "'sex', which is not a column"),
        ({"sensitive_columns": 9}, ValueError, "9, which is not a column"),
        ({"sensitive_columns": []}, ValueError, "sensitive_columns is empty"),
        ({"max_depth": None}, ValueError, "Nothing limits the size"),
    ],
)
def test_bad_parameters_are_refused(parameters: Any, error: Any, message: str) -> None:
    X, y, _ = rows()
    with pytest.raises(error, match=message):
        FairTreeClassifier(**parameters).fit(X, y)


def test_bad_groups_are_refused() -> None:
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=1)
    with pytest.raises(ValueError, match="59 entries, but X has 60 rows"):
        model.fit(X, y, sensitive_features=a[1:])
    gaps = a.astype(float)
    gaps[7] = np.nan
    with pytest.raises(ValueError, match="first in row 7"):
        model.fit(X, y, sensitive_features=gaps)
    with pytest.raises(ValueError, match="only one group"):
        model.fit(X, y, sensitive_features=np.zeros(60))
    with pytest.raises(ValueError, match="only one group"):
        model.fit(X, y, sensitive_features=a, sample_weight=a)
    with pytest.raises(ValueError, match="choose one of the two"):
        model.set_params(sensitive_columns=0).fit(X, y, sensitive_features=a)
    opportunity = FairTreeClassifier("equal_opportunity")
    with pytest.raises(ValueError, match="group 0 has no row of a class 1"):
        opportunity.fit(X, a, sensitive_features=a)


def test_without_groups_fit_warns_and_finds_the_best_tree() -> None:
    X, y, _ = rows()
    with pytest.warns(UserWarning, match="No sensitive_features were given"):
        model = FairTreeClassifier(max_depth=2).fit(X, y)
    best = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.certificate_.cost == best.certificate_.cost
    assert model.certificate_.constraint is None
    assert model.group_rates_ == {}
    assert verify(model, X, y, exhaustive=True)
    with pytest.raises(ValueError, match="compares groups"):
        model.fairness_curve(X, y)


def test_a_limit_on_splits_without_one_on_depth() -> None:
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=None, max_splits=2, tolerance=0.1)
    model.fit(X, y, sensitive_features=a)
    assert model.tree_.n_splits <= 2
    assert verify(model, X, y, sensitive_features=a)
    sparse = FairTreeClassifier(max_depth=None, complexity=0.05, tolerance=0.1)
    sparse.fit(X, y, sensitive_features=a)
    assert verify(sparse, X, y, sensitive_features=a)


# ---- manners -------------------------------------------------------------------------------------


def test_models_are_cloned_and_pickled() -> None:
    model, X, _, _ = fitted()
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    assert again.certificate_ == model.certificate_
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "tree_")


def test_groups_reach_models_in_searches_and_pipelines() -> None:
    X, y, a = rows()
    grid = {"tolerance": [0.05, 0.5]}
    search = GridSearchCV(FairTreeClassifier(max_depth=1), grid, cv=2)
    search.fit(X, y, sensitive_features=a)
    assert search.best_estimator_.certificate_.constraint == "demographic_parity"
    with config_context(enable_metadata_routing=True):
        model = FairTreeClassifier(max_depth=1).set_fit_request(sensitive_features=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        pipeline.fit(X, y, sensitive_features=a)
        assert pipeline[-1].certificate_.groups == (0, 1)
        scores = cross_validate(pipeline, X, y, params={"sensitive_features": a}, cv=2)
        assert len(scores["test_score"]) == 2


def test_a_callback_stops_the_search() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (600, 40))
    y, a = rng.integers(0, 2, 600), rng.integers(0, 2, 600)
    seen = []

    def stop(progress: Any) -> bool:
        seen.append(progress)
        return True

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairTreeClassifier(max_depth=5, tolerance=0)
        model.fit(X, y, sensitive_features=a, callback=stop)
    assert seen
    assert all(p.upper_bound is None or p.lower_bound <= p.upper_bound for p in seen)
    certificate = model.certificate_
    assert certificate.status in ("interrupted", "optimal")
    assert certificate.lower_bound <= certificate.cost
    assert model.disparity_ == 0
    assert verify(model, X, y, sensitive_features=a)


# ---- certificate and report ----------------------------------------------------------------------


def test_the_certificate_reads_back_from_json() -> None:
    model, *_ = fitted(constraint="equalized_odds")
    certificate = model.certificate_
    assert FairnessCertificate.from_json(certificate.to_json()) == certificate
    json.loads(certificate.to_json())


def test_the_statement_names_the_limit() -> None:
    model, *_ = fitted(constraint="equalized_odds", tolerance="1/8")
    text = model.certificate_.statement()
    assert "true positive rates and false positive rates of groups at most 0.125 apart" in text


def test_the_report_shows_all_rates() -> None:
    model, *_ = fitted(constraint="equalized_odds")
    lines = model.certificate_.report().splitlines()
    assert lines[0].split() == ["group", "true", "positive", "rate", "false", "positive", "rate"]
    assert [line.split()[0] for line in lines[1:]] == ["0", "1", "apart"]
    assert lines[-1].endswith("(allowed: 0.05)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"disparity": 0.5}, "disparity"),
        ({"tolerance": Fraction(1, 7)}, "tolerance"),
        ({"cost": 1, "upper_bound": 1}, "cost"),
        ({"n_tests": 5}, "number of questions"),
        ({"constraint": "equal_opportunity"}, "constraint"),
        ({"cuts": ((1, 0, 0, 10**6),)}, "dual cut"),
    ],
)
def test_verify_finds_what_is_wrong(change: dict[str, Any], message: str) -> None:
    model, X, y, a = fitted(tolerance=0)
    assert verify(model, X, y, sensitive_features=a)
    model.certificate_ = replace(model.certificate_, **change)
    with pytest.raises(CertificateError, match=message):
        verify(model, X, y, sensitive_features=a)


def test_verify_finds_other_groups() -> None:
    model, X, y, a = fitted(tolerance=0)
    with pytest.raises(CertificateError):
        verify(model, X, y, sensitive_features=X[:, 1])
    with pytest.raises(ValueError, match="59"):
        verify(model, X, y, sensitive_features=a[1:])


def test_a_report_on_the_training_rows_has_the_rates_of_the_certificate() -> None:
    for constraint in ("demographic_parity", "equalized_odds", "accuracy_parity"):
        model, X, y, a = fitted(constraint=constraint)
        report = model.fairness_report(X, y, sensitive_features=a)
        for name, of_groups in model.group_rates_.items():
            assert report.rates[name] == pytest.approx(of_groups)
        assert report.disparity == pytest.approx(model.disparity_)
        assert sum(report.weights) == 60
        json.dumps(report.to_dict())


def test_a_report_on_new_rows_bears_groups_without_a_rate() -> None:
    model, X, y, a = fitted()
    few = y == 1
    report = model.fairness_report(X[few], y[few], sensitive_features=a[few])
    assert np.isnan(list(report.rates["false_positive_rate"].values())).all()
    assert np.isnan(report.differences["false_positive_rate"])
    assert "nan" in str(report)
    one = model.fairness_report(X[a == 0], y[a == 0], a[a == 0], np.full((a == 0).sum(), 0.5))
    assert one.disparity == 0
    assert one.weights == ((a == 0).sum() / 2,)
    with pytest.raises(ValueError, match="compares groups"):
        model.fairness_report(X, y)


# ---- the curve -----------------------------------------------------------------------------------


def test_the_curve_has_the_best_tree_of_every_tolerance() -> None:
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=2)
    curve = model.fairness_curve(X, y, sensitive_features=a, least_tolerance=0)
    assert curve.is_optimal
    assert (np.diff(curve.tolerances) > 0).all()
    assert (np.diff(curve.costs) < 0).all()
    assert not hasattr(model, "tree_")
    for tolerance in (0, 0.01, 0.05, 0.1, "1/3", 1):
        one = clone(model).set_params(tolerance=tolerance).fit(X, y, sensitive_features=a)
        assert curve.at(tolerance).certificate_.cost == one.certificate_.cost
        assert verify(curve.at(tolerance), X, y, sensitive_features=a)
    for point, member in zip(curve.points, curve, strict=True):
        assert member.certificate_.disparity == point[0]
        assert member.certificate_.cost == int((member.predict(X) != y).sum()) == point[1]
    assert len(curve[:2]) == min(2, len(curve))


def test_the_curve_ends_where_the_constraint_does_not_matter() -> None:
    X, y, a = rows()
    curve = FairTreeClassifier(max_depth=2).fairness_curve(X, y, sensitive_features=a)
    free = OptimalTreeClassifier(max_depth=2).fit(X[:, 1:], y)
    assert curve.costs[-1] == free.certificate_.cost
    assert curve.errors[-1] == pytest.approx(free.certificate_.cost / 60)


def test_a_curve_begins_where_it_is_asked_to() -> None:
    X, y, a = rows(200, seed=5)
    model = FairTreeClassifier(max_depth=3)
    whole = model.fairness_curve(X, y, sensitive_features=a, least_tolerance=0)
    part = model.fairness_curve(X, y, sensitive_features=a, least_tolerance="1/20")
    beyond = [point for point in whole.points if point[0] > Fraction(1, 20)]
    assert [point[:2] for point in part.points[1:]] == [point[:2] for point in beyond]
    assert part.points[0][1] == whole.at(0.05).certificate_.cost
    assert part.points[0][0] <= Fraction(1, 20)
    if part.points[0][0] > 0:
        with pytest.raises(ValueError, match="below least_tolerance="):
            part.at(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.fairness_curve(X, y, sensitive_features=a, least_tolerance=2)


def test_a_curve_may_begin_above_zero() -> None:
    X, y, a = impossible()
    curve = FairTreeClassifier("accuracy_parity").fairness_curve(X, y, sensitive_features=a)
    assert curve.points == ((1, 2, 0),)
    with pytest.raises(ValueError, match="closest has 1"):
        curve.at(0.5)


def test_curves_print_draw_and_pickle() -> None:
    pytest.importorskip("matplotlib").use("agg")
    pd = pytest.importorskip("pandas")
    X, y, a = rows()
    curve = FairTreeClassifier(max_depth=2).fairness_curve(X, y, sensitive_features=a)
    assert str(curve).splitlines()[0].startswith(f"Fairness curve of {len(curve)} tree")
    assert len(str(curve).splitlines()) == len(curve) + 2
    axes = curve.plot()
    assert axes.get_xlabel() == "tolerance"
    assert curve.plot(ax=axes) is axes
    assert isinstance(curve.to_frame(), pd.DataFrame)
    assert len(curve.to_frame()) == len(curve)
    json.dumps(curve.to_dict())
    again = pickle.loads(pickle.dumps(curve))
    assert again.points == curve.points
    assert (again.at(0.1).predict(X) == curve.at(0.1).predict(X)).all()


def test_credit_with_ages() -> None:
    X, y = datasets.load_credit(return_X_y=True, as_frame=False)
    young = X[:, 0].astype(float) < 30
    model = FairTreeClassifier(max_depth=2, tolerance=0.01, pos_label="repaid")
    model.fit(X, y, sensitive_features=np.where(young, "young", "old"))
    assert model.certificate_.is_optimal
    assert model.disparity_ <= 0.01
    assert verify(model, X, y, sensitive_features=np.where(young, "young", "old"))


def test_curves_of_a_cost_matrix_speak_of_mean_costs() -> None:
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("pandas")
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=2, cost_matrix=[[0, 1], [3, 0]])
    curve = model.fairness_curve(X, y, sensitive_features=a)
    assert curve.to_frame()["mean cost"].tolist() == (curve.costs / len(y)).tolist()
    assert "mean cost" in str(curve)
    assert "error" not in str(curve)
    assert "Training mean cost" in curve._repr_html_()
    assert curve.plot().get_ylabel() == "training mean cost"
