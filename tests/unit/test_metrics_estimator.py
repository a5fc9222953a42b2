"""OptimalTreeClassifier with metrics: values, certificates, parameters, refusals, verification."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from certree import (
    Certificate,
    CertificateError,
    OptimalityWarning,
    OptimalTreeClassifier,
    metrics,
    optimality_gap,
    regularization_path,
    verify,
)

NAMES = [name for name in metrics.names() if metrics.get(name).kind not in ("front", "chain")]
DIRECT = ("accuracy", "balanced_accuracy")
METRICS = [
    *(name for name in NAMES if name not in DIRECT),
    metrics.FBeta(2),
    metrics.Tversky(0.2, 0.9),
    metrics.WeightedAccuracy(3),
    metrics.BalancedAccuracy(),
]


def called(value: Any) -> str:
    """Return a name for a test case that is the same in every process."""
    return str(getattr(value, "__name__", value))


def harmonic(fp: float, fn: float, positives: float, negatives: float) -> float:
    """The harmonic mean of the two rates: monotone, and not supported."""
    rates = 1 - fn / positives, 1 - fp / negatives
    return 2 * rates[0] * rates[1] / sum(rates) if sum(rates) else 0.0


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (70, 6))
    noisy = rng.random(70) < 0.25
    return X, np.where(noisy, rng.random(70) < 0.3, X[:, 0] & (X[:, 1] | X[:, 2])).astype(int)


def weights_of(kind: str, n_rows: int) -> Any:
    rng = np.random.default_rng(8)
    return {
        "none": None,
        "integers": rng.integers(1, 4, n_rows),
        "decimals": np.round(rng.random(n_rows), 2),
        "reals": rng.random(n_rows),
    }[kind]


# ---- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", [*METRICS, harmonic], ids=called)
@pytest.mark.parametrize("weights", ["none", "decimals"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"complexity": 0.03, "pos_label": 0},
        {"complexity": 0.02, "complexity_per": "leaf", "max_splits": 2},
        {"class_weight": {0: 1, 1: 2.5}, "min_samples_leaf": 4},
    ],
    ids=str,
)
def test_the_best_value_is_proven_again_by_brute_force(
    data: tuple[Any, Any], objective: Any, weights: str, settings: dict[str, Any]
) -> None:
    X, y = data
    sample_weight = weights_of(weights, len(y))
    model = OptimalTreeClassifier(max_depth=2, objective=objective, **settings)
    model.fit(X, y, sample_weight)
    assert model.certificate_.status == "optimal"
    assert verify(model, X, y, sample_weight, exhaustive=True)


@pytest.mark.parametrize(
    "objective, score",
    [
        ("f1", sklearn_metrics.f1_score),
        ("mcc", sklearn_metrics.matthews_corrcoef),
        ("jaccard", sklearn_metrics.jaccard_score),
        ("cohen_kappa", sklearn_metrics.cohen_kappa_score),
        (metrics.BalancedAccuracy(), sklearn_metrics.balanced_accuracy_score),
    ],
    ids=called,
)
@pytest.mark.parametrize("weights", ["none", "reals"])
def test_the_objective_is_what_scikit_learn_computes(
    data: tuple[Any, Any], objective: Any, score: Any, weights: str
) -> None:
    X, y = data
    sample_weight = weights_of(weights, len(y))
    model = OptimalTreeClassifier(max_depth=3, objective=objective).fit(X, y, sample_weight)
    expected = score(y, model.predict(X), sample_weight=sample_weight)
    # Weights with many digits are rounded.
    assert model.certificate_.objective == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in DIRECT])
def test_no_tree_for_accuracy_is_better(data: tuple[Any, Any], name: str) -> None:
    X, y = data
    best = OptimalTreeClassifier(max_depth=3, objective=name).fit(X, y)
    other = OptimalTreeClassifier(max_depth=3).fit(X, y)
    score = metrics.get(name).score
    assert score(y, best.predict(X)) >= score(y, other.predict(X))
    assert best.certificate_.objective == pytest.approx(score(y, best.predict(X)))


def test_balanced_accuracy_is_the_same_as_an_object_and_by_name(data: tuple[Any, Any]) -> None:
    direct = OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy").fit(*data)
    metric = OptimalTreeClassifier(max_depth=2, objective=metrics.BalancedAccuracy()).fit(*data)
    assert direct.certificate_.objective == metric.certificate_.objective
    assert metric.certificate_.cost == 1 - Fraction(
        metric.certificate_.objective
    ).limit_denominator(10**6)


def test_kappa_has_two_names(data: tuple[Any, Any]) -> None:
    short = OptimalTreeClassifier(max_depth=2, objective="kappa").fit(*data).certificate_
    assert short.task == "cohen_kappa"
    long = OptimalTreeClassifier(max_depth=2, objective="cohen_kappa").fit(*data).certificate_
    assert short.cost == long.cost


def test_the_other_class_can_be_the_positive_one(data: tuple[Any, Any]) -> None:
    X, y = data
    names = np.array(["yes", "no"])[y]
    model = OptimalTreeClassifier(max_depth=2, objective="f1", pos_label="no").fit(X, names)
    default = OptimalTreeClassifier(max_depth=2, objective="f1").fit(X, names)
    flipped = OptimalTreeClassifier(max_depth=2, objective="f1").fit(X, y)
    assert model.certificate_.pos_label == "no"
    assert default.certificate_.pos_label == "yes"
    assert model.certificate_.cost == flipped.certificate_.cost
    expected = sklearn_metrics.f1_score(names, model.predict(X), pos_label="no")
    assert model.certificate_.objective == pytest.approx(expected)
    assert verify(model, X, names)


def test_a_function_sees_real_weights(data: tuple[Any, Any]) -> None:
    X, y = data
    seen = set()

    def metric(fp: float, fn: float, positives: float, negatives: float) -> float:
        seen.add((positives, negatives))
        return -max(fp, 2 * fn)

    sample_weight = np.full(len(y), 0.5)
    model = OptimalTreeClassifier(max_depth=1, objective=metric).fit(X, y, sample_weight)
    assert seen == {(y.sum() / 2, (1 - y).sum() / 2)}
    assert model.certificate_.task == "metric"
    assert verify(model, X, y, sample_weight, exhaustive=True)


# ---- the certificate ---------------------------------------------------------------------------


def test_the_certificate_states_confusion_cost_and_searches(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=2, objective="f1", complexity=0.01).fit(X, y)
    found = model.certificate_
    tn, fp, fn, tp = sklearn_metrics.confusion_matrix(y, model.predict(X)).ravel()
    assert (found.fp, found.fn) == (fp, fn)
    assert (found.positives, found.negatives) == (tp + fn, tn + fp)
    f1 = Fraction(int(2 * tp), int(2 * tp + fp + fn))
    assert found.leaf_cost == 1 - f1
    assert found.cost == 1 - f1 + found.n_splits * Fraction(1, 100)
    assert found.lower_bound == found.upper_bound == found.cost
    assert found.task == "f1"
    assert found.n_solves is not None
    assert found.n_solves > 1
    assert found.n_row_groups == len(np.unique(X, axis=0))
    assert Certificate.from_json(found.to_json()) == found
    text = str(found)
    assert f"{fp} false positives, {fn} false negatives" in text
    assert "has f1 less penalty above" in text
    uppers = [event[2] for event in found.history]
    assert uppers == sorted(uppers, reverse=True)


def test_an_irrational_cost_is_a_decimal(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective="mcc").fit(*data)
    found = model.certificate_
    assert 10**15 % Fraction(found.cost).denominator == 0
    assert float(found.cost) == pytest.approx(1 - found.objective, abs=1e-15)
    assert found.gap == 0
    assert "has mcc above" in found.statement()


def test_a_limit_leaves_a_valid_bound_and_warns(data: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 40))
    y = rng.integers(0, 2, 400)
    calls = []

    def stop(progress: Any) -> bool:
        calls.append(progress)
        return True

    model = OptimalTreeClassifier(max_depth=4, objective="f1")
    with pytest.warns(OptimalityWarning, match="The callback stopped the search"):
        model.fit(X, y, callback=stop)
    found = model.certificate_
    assert calls
    assert calls[0].upper_bound >= calls[0].lower_bound
    assert found.status == "interrupted"
    assert found.lower_bound < found.cost
    assert "less than the best" in found.statement()
    assert verify(model, X, y)


def test_an_accepted_gap_is_in_units_of_the_metric(data: tuple[Any, Any]) -> None:
    exact = OptimalTreeClassifier(max_depth=3, objective="mcc").fit(*data).certificate_
    model = OptimalTreeClassifier(max_depth=3, objective="mcc", gap=0.2).fit(*data)
    assert model.certificate_.gap <= Fraction(1, 5)
    assert model.certificate_.status in ("gap", "optimal")
    assert model.certificate_.cost - exact.cost <= Fraction(1, 5)
    assert verify(model, *data)


def test_progress_is_shown_on_request(data: tuple[Any, Any], capsys: Any) -> None:
    OptimalTreeClassifier(max_depth=3, objective="f1", verbose=1).fit(*data)
    assert "optimal" in capsys.readouterr().err


# ---- manners of an estimator -------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["f1", metrics.FBeta(0.5), metrics.MCC()], ids=str)
def test_a_model_can_be_cloned_and_pickled(data: tuple[Any, Any], objective: Any) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective=objective, pos_label=1).fit(*data)
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate_ == model.certificate_
    copied = clone(model).fit(*data)
    assert copied.certificate_.cost == model.certificate_.cost
    copied.set_params(objective="accuracy").fit(*data)
    assert copied.certificate_.task == "accuracy"
    assert copied.certificate_.fp is None


def test_metrics_can_be_searched_over(data: tuple[Any, Any]) -> None:
    grid = {"objective": ["accuracy", "f1", metrics.FBeta(2)], "max_depth": [1, 2]}
    search = GridSearchCV(OptimalTreeClassifier(), grid, cv=3, scoring=metrics.F1().scorer())
    search.fit(*data)
    assert search.best_params_["max_depth"] in (1, 2)


def test_probabilities_are_shares_whatever_the_label(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=1, objective=metrics.FBeta(5)).fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        assert model.predict_proba(X[leaves == leaf])[0, 1] == pytest.approx(
            y[leaves == leaf].mean()
        )


# ---- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels, settings, message",
    [
        ([0, 1, 2, 1], {}, "Only binary classification is supported by the metric 'f1'.*3 classes"),
        ([0, 0, 0, 0], {}, "metric 'f1' needs rows of two classes.*only one class, 0"),
        (
            list("abab"),
            {"pos_label": "c"},
            "pos_label='c', for the metric 'f1'.*'a', 'b'",
        ),
        ([0, 1, 0, 1], {"splits": "multiway"}, "needs columns of categories"),
        ([0, 1, 0, 1], {"class_weight": {0: 0, 1: 1}}, "class_weight gives the class 0 no weight"),
    ],
)
def test_what_a_metric_cannot_do_is_said(labels: Any, settings: Any, message: str) -> None:
    model = OptimalTreeClassifier(objective="f1", **settings)
    with pytest.raises(ValueError, match=message):
        model.fit([[0], [1], [0], [1]], labels)


@pytest.mark.parametrize(
    "objective, error, message",
    [
        ("f2", ValueError, 'objective=\'f2\' is not supported.*"accuracy".*"mcc"'),
        (3, TypeError, "objective=3 is not supported"),
        (metrics.F1, TypeError, r"objective=F1 is a class; give one of its instances, F1\(\)"),
    ],
)
def test_what_is_no_objective_is_refused(objective: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        OptimalTreeClassifier(objective=objective).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda fp, fn, p, n: fp - fn, "more errors|falls|rise|monotone"),
        (lambda fp, fn, p, n: float("nan"), "returned nan at fp="),
        (lambda fp, fn, p, n: 1 / 0, "raised ZeroDivisionError at fp="),
    ],
)
def test_a_function_that_is_no_metric_is_refused(
    data: tuple[Any, Any], function: Any, message: str
) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective=function)
    with pytest.raises(ValueError, match=message):
        model.fit(*data)


def test_paths_need_errors(data: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="no path for the metric 'f1'"):
        OptimalTreeClassifier(objective="f1").fit(*data, path=True)
    with pytest.raises(ValueError, match="no path for the metric 'f1'"):
        regularization_path(*data, max_depth=2, objective="f1")


# ---- verification ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(data: tuple[Any, Any]) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=2, objective="mcc", complexity=0.01).fit(*data)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"fp": 1000}, "fp: certified 1000"),
        ({"fn": 0}, "fn: certified 0"),
        ({"positives": 1}, "positives: certified 1"),
        ({"pos_label": 0}, "positive class: certified 0"),
        ({"objective": 0.99}, "objective: certified 0.99"),
        ({"task": "f1"}, "task: certified 'f1'"),
        ({"complexity": 0}, "complexity: certified 0"),
        ({"split_penalty": 0}, "penalty per split: certified 0"),
        ({"cost": Fraction(1, 10), "upper_bound": Fraction(1, 10)}, "mcc: certified"),
        ({"leaf_cost": Fraction(1, 2)}, "leaf cost"),
        ({"lower_bound": 0}, "gap"),
        ({"cuts": ((1, 1, 0, 10**6),)}, "cut: 1 fp"),
        ({"positives": None}, "does not state the cost"),
    ],
)
def test_a_forged_certificate_is_caught(
    model: OptimalTreeClassifier, data: tuple[Any, Any], changes: dict[str, Any], message: str
) -> None:
    forged = copy.copy(model)
    forged.certificate_ = dataclasses.replace(model.certificate_, **changes)
    with pytest.raises(CertificateError, match=message):
        verify(forged, *data)


def test_a_worse_tree_is_caught_by_trying_all(data: tuple[Any, Any]) -> None:
    X, y = data
    small = OptimalTreeClassifier(max_depth=1, objective="f1").fit(X, y)
    small.max_depth = 2
    small.certificate_ = dataclasses.replace(small.certificate_, max_depth=2)
    assert verify(small, X, y)
    with pytest.raises(CertificateError, match="best f1 over all trees is outside"):
        verify(small, X, y, exhaustive=True)


def test_other_labels_do_not_pass(model: OptimalTreeClassifier, data: tuple[Any, Any]) -> None:
    X, y = data
    with pytest.raises(CertificateError, match=r"positives: certified"):
        verify(model, X, 1 - y)


def test_nothing_is_warned_of_when_all_is_proven(data: tuple[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OptimalTreeClassifier(max_depth=3, objective="mcc").fit(*data)


# ---- trees that users bring --------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["f1", "mcc", "gmean", harmonic], ids=called)
@pytest.mark.parametrize("settings", [{}, {"complexity": 0.01, "complexity_per": "leaf"}], ids=str)
def test_a_tree_to_start_from_is_never_lost(
    data: tuple[Any, Any], objective: Any, settings: dict[str, Any]
) -> None:
    """A gap that accepts anything ends the search at once, with nothing better than that tree."""
    X, y = data
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(max_depth=2, objective=objective, gap=5, **settings)
    plain = metrics.get(objective).score(y, greedy.predict(X))
    model.fit(X, y, warm_start_tree=greedy)
    value = metrics.get(objective).score(y, model.predict(X))
    if not settings:
        assert value >= plain - 1e-12
    assert verify(model, X, y)
    exact = OptimalTreeClassifier(max_depth=2, objective=objective, **settings)
    exact.fit(X, y, warm_start_tree=greedy)
    assert verify(exact, X, y, exhaustive=True)


def test_a_tree_to_start_from_must_keep_the_limits(data: tuple[Any, Any]) -> None:
    greedy = DecisionTreeClassifier(max_depth=3, random_state=0).fit(*data)
    with pytest.raises(ValueError, match="warm_start_tree is outside the search"):
        OptimalTreeClassifier(max_depth=2, objective="f1").fit(*data, warm_start_tree=greedy)
    with pytest.raises(ValueError, match="warm_start_tree is of no use to the metric 'auc'"):
        OptimalTreeClassifier(max_depth=3, objective="auc").fit(*data, warm_start_tree=greedy)


@pytest.mark.parametrize("objective", ["f1", "mcc", metrics.BalancedAccuracy()], ids=str)
def test_the_gap_of_any_tree_is_known(data: tuple[Any, Any], objective: Any) -> None:
    X, y = data
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    weights = np.random.default_rng(0).integers(1, 3, len(y))
    found = optimality_gap(
        greedy, X, y, objective=objective, pos_label=0, sample_weight=weights, max_splits=None
    )
    metric = metrics.get(objective)
    value = metric.score(y, greedy.predict(X), pos_label=0, sample_weight=weights)
    assert float(found.cost) == pytest.approx(1 - value)
    assert found.lower_bound == found.upper_bound <= found.cost
    assert "of all weight" not in str(found)
    best = OptimalTreeClassifier(max_depth=2, objective=objective, pos_label=0).fit(X, y, weights)
    assert best.certificate_.cost == found.upper_bound


@pytest.mark.parametrize("objective", ["accuracy", "Balanced_Accuracy", "mcc", "auc", "front"])
def test_an_unknown_positive_class_is_named_with_the_metric(
    data: tuple[Any, Any], objective: str
) -> None:
    message = f"pos_label=7, for the metric '{objective.lower()}', is not among the classes"
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(max_depth=1, objective=objective, pos_label=7).fit(*data)


def test_names_in_capitals_are_the_same_objectives(data: tuple[Any, Any]) -> None:
    for name in ("balanced_accuracy", "f1"):
        one = OptimalTreeClassifier(max_depth=2, objective=name).fit(*data)
        other = OptimalTreeClassifier(max_depth=2, objective=name.upper()).fit(*data)
        assert one.certificate_.cost == other.certificate_.cost
        assert one.certificate_.task == other.certificate_.task
        verify(other, *data, exhaustive=True)


@pytest.mark.parametrize("objective", ["auc", "front"])
def test_the_gap_of_what_is_no_value_of_a_tree_is_refused(
    data: tuple[Any, Any], objective: str
) -> None:
    tree = OptimalTreeClassifier(max_depth=1).fit(*data).tree_
    with pytest.raises(ValueError, match=f"optimality_gap has no objective='{objective}'"):
        optimality_gap(tree, *data, objective=objective)


@pytest.mark.parametrize("objective", ["accuracy", "f1"])
def test_an_accepted_gap_of_nothing_is_caught(data: tuple[Any, Any], objective: str) -> None:
    fitted = OptimalTreeClassifier(max_depth=1, objective=objective, gap=0.1).fit(*data)
    cost = fitted.certificate_.cost
    fitted.certificate_ = dataclasses.replace(
        fitted.certificate_, status="gap", lower_bound=cost, gap=0, history=()
    )
    with pytest.raises(CertificateError, match="status is 'gap', but the gap is 0"):
        verify(fitted, *data)


def test_limits_on_splits_leave_room_for_real_weights() -> None:
    """The core makes room for all trees of the depth that so many splits allow."""
    rng = np.random.default_rng(0)
    X, weights = rng.integers(0, 2, (400, 9)), rng.random(400)
    y = X[:, 0] ^ (rng.random(400) < 0.1)
    limited = OptimalTreeClassifier(
        objective="f1", max_depth=None, max_splits=6, complexity=0.01
    ).fit(X, y, weights)
    assert limited.certificate_.status == "optimal"
    assert verify(limited, X, y, weights)
