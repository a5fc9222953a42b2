"""optimality_gap takes trees of any origin: regressors, pipelines, fitted searches."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    SurvivalTree,
    optimality_gap,
    verify,
)
from certree.exceptions import CertificateError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 3))
NUMBERS = (X[:, 0] * X[:, 1]).round(2) + RNG.integers(0, 3, 80)
LABELS = np.where(NUMBERS > 1, "high", "low")


def greedy(**parameters: Any) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(max_depth=2, random_state=0, **parameters)


def least_error(X: Any, y: Any, criterion: str) -> Fraction:
    """Return the least cost of trees of depth 1 by all thresholds, in fractions."""
    numbers = [Fraction(str(value)) for value in y.tolist()]

    def leaf(values: list[Fraction]) -> Fraction:
        if criterion == "squared_error":
            mean = sum(values, Fraction(0)) / len(values)
            return sum(((value - mean) ** 2 for value in values), Fraction(0))
        median = sorted(values)[len(values) // 2]
        return sum((abs(value - median) for value in values), Fraction(0))

    best = leaf(numbers)
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            left = [n for n, x in zip(numbers, column, strict=True) if x <= cut]
            right = [n for n, x in zip(numbers, column, strict=True) if x > cut]
            best = min(best, leaf(left) + leaf(right))
    return best


# ---- regression ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("options", [{}, {"thresholds": "all"}, {"complexity": 0.01}])
def test_a_regression_tree_is_compared_with_the_best(criterion: Any, options: Any) -> None:
    tree = greedy(criterion=criterion).fit(X, NUMBERS)
    found = optimality_gap(tree, X, NUMBERS, **options)
    assert found.keeps_limits
    assert found.lower_bound == found.upper_bound <= found.cost
    assert found.gap == found.improvement == found.cost - found.lower_bound
    off = np.abs(tree.predict(X) - NUMBERS)
    errors = float((off**2 if criterion == "squared_error" else off).sum())
    penalty = found.tree.n_splits * found.certificate.split_penalty
    assert float(found.cost - penalty) == pytest.approx(errors, rel=1e-6)
    np.testing.assert_allclose(found.tree.predict(X), tree.predict(X))
    verify(found, X, NUMBERS)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_the_bound_is_the_least_error_of_all_stumps(criterion: Any) -> None:
    y = NUMBERS[:30]
    tree = DecisionTreeRegressor(max_depth=1, criterion=criterion, random_state=0).fit(X[:30], y)
    found = optimality_gap(tree, X[:30], y, thresholds="all")
    best = least_error(X[:30], y, criterion)
    assert abs(found.lower_bound - best) <= found.certificate.rounding
    # The greedy tree of depth one is the best one, and its float64 means count as means.
    assert found.gap == 0
    assert found.is_optimal
    assert "no tree within the limits costs less" in str(found)


def test_own_tests_of_a_tree_are_among_the_tests_searched() -> None:
    # With one cut point per column, the greedy tree would be better than the best one.
    tree = greedy().fit(X, NUMBERS)
    found = optimality_gap(tree, X, NUMBERS, thresholds=1)
    assert found.keeps_limits
    assert found.improvement >= 0
    verify(found, X, NUMBERS)


def test_own_values_of_leaves_count() -> None:
    tree = greedy().fit(X, NUMBERS)
    found = optimality_gap(tree, X, NUMBERS + 1)
    off = tree.predict(X) - (NUMBERS + 1)
    assert float(found.cost) == pytest.approx(float((off**2).sum()), rel=1e-6)
    verify(found, X, NUMBERS + 1)


def test_weights_count() -> None:
    weights = RNG.integers(0, 4, 80)
    tree = greedy().fit(X, NUMBERS, sample_weight=weights)
    found = optimality_gap(tree, X, NUMBERS, sample_weight=weights)
    off = tree.predict(X) - NUMBERS
    assert float(found.cost) == pytest.approx(float((off**2 * weights).sum()), rel=1e-6)
    assert found.improvement >= 0
    verify(found, X, NUMBERS, sample_weight=weights)


def test_models_of_certree_have_no_gap_to_themselves() -> None:
    for criterion in ("squared_error", "absolute_error"):
        model = OptimalTreeRegressor(max_depth=2, criterion=criterion).fit(X, NUMBERS)
        for one in (model, model.tree_) if criterion == "squared_error" else (model,):
            found = optimality_gap(one, X, NUMBERS)
            assert found.gap == 0
            assert found.cost == model.certificate_.cost


@pytest.mark.parametrize("field", ["cost", "gap", "lower_bound", "upper_bound", "improvement"])
def test_a_tampered_gap_is_refused(field: str) -> None:
    found = optimality_gap(greedy().fit(X, NUMBERS), X, NUMBERS)
    wrong = replace(found, **{field: getattr(found, field) - 1})
    with pytest.raises(CertificateError):
        verify(wrong, X, NUMBERS)


def test_limits_of_ones_own_may_be_broken() -> None:
    found = optimality_gap(greedy().fit(X, NUMBERS), X, NUMBERS, max_depth=0)
    assert not found.keeps_limits
    assert found.gap < 0
    verify(found, X, NUMBERS)


def test_a_stopped_regression_says_that_nothing_is_proven() -> None:
    tree = DecisionTreeRegressor(random_state=0, max_leaf_nodes=30).fit(X, NUMBERS)
    found = optimality_gap(tree, X, NUMBERS, time_limit=0.05)
    if found.lower_bound <= 0:
        assert found.certificate.statement().startswith("Nothing is proven yet; the tree found has")
        assert "Nothing is proven yet" in str(found)
    certificate = replace(found.certificate, lower_bound=0, gap=found.certificate.cost)
    assert certificate.statement().startswith("Nothing is proven yet; the tree found has")


def test_a_bound_of_zero_that_is_reached_is_proven() -> None:
    bits = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5)
    y = bits[:, 0] ^ bits[:, 1]
    for tree in (greedy(min_samples_leaf=6), DecisionTreeClassifier(max_depth=1)):
        found = optimality_gap(tree.fit(bits, y), bits, y, max_depth=2, max_splits=3)
        assert found.upper_bound == 0
        assert "a tree that costs 0 was found, which is proven best" in str(found)
        assert "Nothing is proven" not in str(found)


# ---- pipelines and searches ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "tree, y", [(greedy(), NUMBERS), (DecisionTreeClassifier(max_depth=2), LABELS)]
)
def test_a_pipeline_is_asked_for_its_last_step(tree: Any, y: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), tree).fit(X, y)
    found = optimality_gap(pipeline, X, y)
    scaled = pipeline[:-1].transform(X)
    assert found.cost == optimality_gap(pipeline[-1], scaled, y).cost
    assert found.gap >= 0
    verify(found, scaled, y)
    assert optimality_gap(make_pipeline(tree).fit(X, y), X, y).gap >= 0


@pytest.mark.parametrize("y", [NUMBERS, LABELS], ids=["numbers", "labels"])
def test_a_fitted_search_is_asked_for_its_best_estimator(y: Any) -> None:
    tree = DecisionTreeRegressor if y is NUMBERS else DecisionTreeClassifier
    pipeline = make_pipeline(StandardScaler(), tree(random_state=0))
    grid = {f"{tree.__name__.lower()}__max_depth": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    found = optimality_gap(search, X, y)
    assert found.tree.depth == search.best_estimator_[-1].get_depth()
    assert found.gap >= 0


def test_cross_validated_models_of_certree_are_taken_as_they_are() -> None:
    model = OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(X, LABELS)
    assert optimality_gap(model, X, LABELS).gap == 0


@pytest.mark.parametrize(
    "given, error, message",
    [
        (RandomForestRegressor(2).fit(X, NUMBERS), TypeError, "has many trees; pass one of them"),
        (GridSearchCV(greedy(), {}), ValueError, "no best_estimator_; call its fit"),
        (OptimalTreeClassifier(), ValueError, "OptimalTreeClassifier is not fitted"),
        (make_pipeline(StandardScaler(), greedy()), ValueError, "pipeline is not fitted"),
        (StandardScaler(), TypeError, "or a fitted search for one; got StandardScaler"),
        (3, TypeError, "got int"),
        (greedy(criterion="poisson").fit(X, NUMBERS + 9), ValueError, "squared or absolute errors"),
        (DecisionTreeRegressor(max_depth=1).fit(X, X), ValueError, "predicts 3 outputs at once"),
        (greedy().fit(X[:, :2], NUMBERS), ValueError, "fitted on 2 columns, but the table has 3"),
    ],
)
def test_everything_else_is_refused_in_one_line(given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        optimality_gap(given, X, NUMBERS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["objective", "pos_label", "class_weight", "splits"])
def test_settings_of_classes_are_refused_for_numbers(name: str) -> None:
    ask: Any = optimality_gap
    with pytest.raises(TypeError, match=f"{name} is for classes, but the tree predicts numbers"):
        ask(greedy().fit(X, NUMBERS), X, NUMBERS, **{name: "f1"})


def test_other_models_of_certree_are_pointed_to_their_certificates() -> None:
    target = np.column_stack([np.abs(NUMBERS) + 1, RNG.integers(0, 2, 80)])
    model = SurvivalTree(max_depth=1).fit(X, target)
    with pytest.raises(TypeError, match=r"this SurvivalTree predicts something else.*certificate_"):
        optimality_gap(model, X, target)
