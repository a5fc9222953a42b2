"""Areas under the ROC curve as objectives: values, scores, certificates, verification, pictures."""

from __future__ import annotations

import copy
import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from certree import (
    Certificate,
    CertificateError,
    OptimalityWarning,
    OptimalTreeClassifier,
    metrics,
    plot_roc,
    verify,
)
from certree.verify._area import area


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(12)
    X = rng.integers(0, 2, (60, 5))
    return X, (rng.random(60) < 0.15 + 0.5 * (X[:, 0] ^ X[:, 1]) + 0.2 * X[:, 2]).astype(int)


OBJECTIVES = ["auc", metrics.PartialAUC(0.3), metrics.PartialAUC("1/7")]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
@pytest.mark.parametrize("weights", ["none", "integers", "reals"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"complexity": 0.02, "pos_label": 0},
        {"complexity": 0.01, "complexity_per": "leaf", "max_splits": 2},
        {"class_weight": "balanced", "min_samples_leaf": 5},
    ],
    ids=str,
)
def test_the_best_area_is_proven_again_by_brute_force(
    data: tuple[Any, Any], objective: Any, weights: str, settings: dict[str, Any]
) -> None:
    X, y = data
    rng = np.random.default_rng(3)
    sample_weight = {
        "none": None,
        "integers": rng.integers(1, 5, len(y)),
        "reals": rng.random(len(y)),
    }[weights]
    model = OptimalTreeClassifier(max_depth=2, objective=objective, **settings)
    model.fit(X, y, sample_weight)
    assert model.certificate_.status == "optimal"
    assert verify(model, X, y, sample_weight, exhaustive=True)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_objective_is_the_area_of_the_scores(data: tuple[Any, Any], depth: int) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=depth, objective="auc").fit(X, y)
    scores = model.predict_proba(X)[:, 1]
    assert model.certificate_.objective == pytest.approx(roc_auc_score(y, scores))
    assert 1 - model.certificate_.cost == Fraction(model.certificate_.objective).limit_denominator(
        10**6
    )
    other = OptimalTreeClassifier(max_depth=depth).fit(X, y)
    assert roc_auc_score(y, other.predict_proba(X)[:, 1]) <= model.certificate_.objective + 1e-12


def test_a_part_of_the_area_is_that_of_the_metric(data: tuple[Any, Any]) -> None:
    X, y = data
    metric = metrics.PartialAUC(0.25)
    model = OptimalTreeClassifier(max_depth=3, objective=metric).fit(X, y)
    assert metric.score(y, model.predict_proba(X)[:, 1]) == pytest.approx(
        model.certificate_.objective
    )
    assert model.certificate_.task == "partial_auc"


def test_predictions_are_the_label_of_most_rows(data: tuple[Any, Any]) -> None:
    X, y = data
    model = OptimalTreeClassifier(max_depth=2, objective="auc").fit(X, y)
    likely = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert (model.predict(X) == likely).all()
    found = model.certificate_
    assert found.fp == np.sum((model.predict(X) == 1) & (y == 0))
    assert found.fn == np.sum((model.predict(X) == 0) & (y == 1))


def test_the_certificate_is_exact_and_returns_from_json(data: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective="auc", complexity=0.01).fit(*data)
    found = model.certificate_
    assert found.cost == found.leaf_cost + found.n_splits * Fraction(1, 100)
    assert Certificate.from_json(found.to_json()) == found
    assert "has auc less penalty above" in found.statement()


@pytest.mark.parametrize("complexity", [1 / 300, 0.0123456789, 1e-9])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_any_penalty_and_weights_fit(
    data: tuple[Any, Any], complexity: float, objective: Any
) -> None:
    X, y = data
    weights = np.random.default_rng(5).random(len(y)) * 1e6
    model = OptimalTreeClassifier(max_depth=2, objective=objective, complexity=complexity)
    model.fit(X, y, weights)
    assert model.certificate_.is_optimal
    assert verify(model, X, y, weights, exhaustive=True)


def test_integer_weights_are_exact_as_far_as_integers_reach() -> None:
    X, y = [[0], [0], [1], [1]], [0, 1, 0, 1]
    weights = [300001, 100000, 100000, 300000]
    model = OptimalTreeClassifier(objective=metrics.PartialAUC(0.37), complexity=0.0123)
    found = model.fit(X, y, weights).certificate_
    assert (found.positives, found.negatives) == (400000, 400001)
    assert found.split_penalty == found.complexity == Fraction(123, 10000)
    assert verify(model, X, y, weights, exhaustive=True)


@pytest.mark.parametrize("bits", range(10, 34, 2))
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_weights_of_any_size_fit(objective: Any, bits: int) -> None:
    rng = np.random.default_rng(bits)
    X, y = rng.integers(0, 2, (30, 3)), np.arange(30) % 2
    weights = rng.integers(1, 2**bits, 30)
    for complexity in (0, 0.0123, 0.5, 1e-9):
        model = OptimalTreeClassifier(max_depth=2, objective=objective, complexity=complexity)
        assert model.fit(X, y, weights).certificate_.is_optimal
        if bits <= 14:
            assert model.certificate_.positives == weights[y == 1].sum()
        assert verify(model, X, y, weights, exhaustive=True)


def test_a_limit_leaves_a_valid_bound_and_warns() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (300, 30)), rng.integers(0, 2, 300)
    model = OptimalTreeClassifier(max_depth=4, objective="auc")
    with pytest.warns(OptimalityWarning, match="The callback stopped the search"):
        model.fit(X, y, callback=lambda progress: True)
    found = model.certificate_
    assert found.lower_bound < found.cost
    assert verify(model, X, y)


def test_an_accepted_gap_is_in_units_of_area(data: tuple[Any, Any]) -> None:
    best = OptimalTreeClassifier(max_depth=3, objective="auc").fit(*data).certificate_
    model = OptimalTreeClassifier(max_depth=3, objective="auc", gap=0.05).fit(*data)
    assert model.certificate_.gap <= Fraction(1, 20)
    assert model.certificate_.cost - best.cost <= Fraction(1, 20)
    assert verify(model, *data)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"cost": Fraction(1, 100), "upper_bound": Fraction(1, 100)}, "auc: certified 0.99"),
        ({"leaf_cost": 0}, "leaf cost: certified 0"),
        ({"fp": 99}, "fp: certified 99"),
        ({"objective": 0.999}, "objective: certified 0.999"),
    ],
)
def test_a_forged_certificate_is_caught(
    data: tuple[Any, Any], changes: dict[str, Any], message: str
) -> None:
    model = OptimalTreeClassifier(max_depth=2, objective="auc").fit(*data)
    forged = copy.copy(model)
    forged.certificate_ = dataclasses.replace(model.certificate_, **changes)
    with pytest.raises(CertificateError, match=message):
        verify(forged, *data)


def test_a_worse_tree_is_caught_by_trying_all(data: tuple[Any, Any]) -> None:
    small = OptimalTreeClassifier(max_depth=1, objective="auc").fit(*data)
    small.max_depth = 2
    small.certificate_ = dataclasses.replace(small.certificate_, max_depth=2)
    with pytest.raises(CertificateError, match="outside of the certified bounds"):
        verify(small, *data, exhaustive=True)


def test_areas_of_a_curve_by_hand() -> None:
    steps = [(1, 3), (3, 1)]
    assert area(steps, (4, 4), Fraction(1)) == Fraction(3, 4)
    assert area(steps, (4, 4), Fraction(1, 4)) == Fraction(3, 8)
    assert area([(0, 2), (4, 2)], (4, 4), Fraction(1, 2)) == Fraction(5, 8)


# ---- pictures ----------------------------------------------------------------------------------


def test_a_curve_is_drawn_with_its_area(data: tuple[Any, Any]) -> None:
    pytest.importorskip("matplotlib")
    X, y = data
    model = OptimalTreeClassifier(max_depth=2, objective="auc").fit(X, y)
    axes = plot_roc(model, X, y)
    line = axes.lines[1]
    assert line.get_label() == f"AUC {model.certificate_.objective:.4f}"
    x, height = line.get_data()
    assert np.trapezoid(height, x) == pytest.approx(model.certificate_.objective)
    assert plot_roc(model, X, y, pos_label=0, sample_weight=np.ones(len(y)), ax=axes) is axes


def test_a_curve_needs_two_classes(data: tuple[Any, Any]) -> None:
    X, y = data
    three = OptimalTreeClassifier(max_depth=2).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="needs two classes, but the model has 3"):
        plot_roc(three, X, y)
    two = OptimalTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="pos_label='x' is not among the classes"):
        plot_roc(two, X, y, pos_label="x")


@pytest.mark.parametrize("rate", [1 / 3, 2 / 7, 0.1, 0.123456, 0.1 + 0.2, 0.123456789012])
def test_a_rate_is_the_fraction_that_was_meant(rate: float) -> None:
    found = metrics.PartialAUC(rate).max_fpr
    assert float(found) == rate
    meant = {1 / 3: Fraction(1, 3), 2 / 7: Fraction(2, 7)}.get(rate, Fraction(str(rate)))
    assert found == meant


def test_a_third_of_the_negatives_is_no_overflow() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 4)), rng.integers(0, 2, 40)
    model = OptimalTreeClassifier(objective=metrics.PartialAUC(1 / 3), max_depth=2).fit(X, y)
    assert verify(model, X, y, exhaustive=True)
