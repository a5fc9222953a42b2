"""Certificates that verify once believed, and sound ones that it once refused."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import certree.tasks._leaf_cost
from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    Tree,
    optimality_gap,
    solve,
    tasks,
    verify,
)


def table(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(n, 3)), 1)
    return X, ((X[:, 0] > 0.23) ^ (X[:, 1] > 0.3)).astype(int)


def taken_over(model: Any, other: Any, *names: str) -> Any:
    """Return a model with the tree of another, and what its certificate says of it."""
    forged = copy.copy(model)
    forged.tree_ = other.tree_
    fields = ("cost", "upper_bound", "lower_bound", "leaf_cost", "objective", "n_splits", "depth")
    values = {name: getattr(other.certificate_, name) for name in (*fields, *names)}
    forged.certificate_ = replace(model.certificate_, **values, history=())
    return forged


def test_a_tree_asks_nothing_but_candidates() -> None:
    X, y = table()
    few = OptimalTreeClassifier(max_depth=2, thresholds=1).fit(X, y)
    many = OptimalTreeClassifier(max_depth=2, thresholds="all").fit(X, y)
    with pytest.raises(CertificateError, match="not a candidate"):
        verify(taken_over(few, many), X, y)


def test_a_fair_tree_does_not_ask_for_the_group() -> None:
    rng = np.random.default_rng(3)
    X, y = table()
    group = rng.integers(0, 2, 60)
    X, y = np.column_stack([X, group]), np.where(rng.random(60) < 0.7, group, y)
    settings = {"constraint": "predictive_equality", "tolerance": 1, "max_depth": 1}
    asks = FairTreeClassifier(use_sensitive=True, **settings).fit(X, y, group)
    asks_not = FairTreeClassifier(use_sensitive=False, **settings).fit(X, y, group)
    forged = taken_over(
        asks_not, asks, "gap", "rates", "disparity", "differences", "unconstrained_cost", "cuts"
    )
    with pytest.raises(CertificateError, match="asks for the group"):
        verify(forged, X, y, sensitive_features=group)


def test_candidates_are_those_that_the_parameters_ask_for() -> None:
    X, y = table(20)
    lame = OptimalTreeClassifier(max_depth=1, thresholds=1).fit(X, y)
    with pytest.raises(CertificateError, match=r"1 cut points, but \d+ gaps"):
        verify(lame.set_params(thresholds="all"), X, y)


def test_limits_give_no_leeway() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 4))
    y = ((X[:, 0] ^ X[:, 1]) | (rng.random(60) < 0.3)).astype(int)
    model = CostSensitiveTreeClassifier([[0, 1], [3, 0]], capacity={1: 0.4}, max_depth=2).fit(X, y)
    true = model.certificate_
    assert verify(model, X, y)
    nothing = dict.fromkeys(("cost", "upper_bound", "lower_bound", "leaf_cost", "gap"), 0)
    model.certificate_ = replace(true, **nothing, objective=0.0, rounding=10**6, history=())
    with pytest.raises(CertificateError, match="rounding"):
        verify(model, X, y)
    limit = replace(true.limits[0], rounding=10**6, value=0)
    model.certificate_ = replace(true, limits=(limit,))
    with pytest.raises(CertificateError, match="rounding of"):
        verify(model, X, y)


@pytest.mark.parametrize("scale", [1e-11, 1.0, 1e200])
def test_means_are_compared_at_the_scale_of_the_data(scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    y = (X[:, 0] * 3 + rng.normal(size=40)) * scale
    model = OptimalTreeRegressor(max_depth=1).fit(X, y)
    assert verify(model, X, y)
    values = model.tree_.to_dict()
    for share in (1e-3, 1e-9, 1e-13):
        tampered = copy.deepcopy(values)
        tampered["leaves"]["values"] = [v * (1 + share) for v in values["leaves"]["values"]]
        model.tree_ = Tree.from_dict(tampered)
        with pytest.raises(CertificateError, match="the mean of its rows"):
            verify(model, X, y)


@pytest.mark.parametrize("exhaustive", [False, True])
def test_a_task_does_not_certify_its_own_statistics(
    monkeypatch: pytest.MonkeyPatch, exhaustive: bool
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, 30)
    statistics = np.column_stack([np.ones(30), y.astype(float)])

    def gini(sums: Any) -> Any:
        return sums[:, 1] * (sums[:, 0] - sums[:, 1]) / sums[:, 0]

    task = tasks.LeafCost(statistics, gini)
    assert verify(solve(task, X, max_depth=2), X, exhaustive=exhaustive)
    scaled = certree.tasks._leaf_cost._scaled

    def broken(*given: Any) -> Any:
        values, *others = scaled(*given)
        values = values.copy()
        values[::2, 1] = 0
        return values, *others

    monkeypatch.setattr(certree.tasks._leaf_cost, "_scaled", broken)
    with pytest.raises(CertificateError, match="leaf cost"):
        verify(solve(task, X, max_depth=2), X, exhaustive=exhaustive)


@pytest.mark.parametrize("top", [10**6, 10**9, 2**31])
def test_balanced_classes_with_large_weights_are_not_refused(top: int) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 4))
    y = (X[:, 0] & (rng.random(200) < 0.8)).astype(int)
    for seed in range(3):
        weights = np.random.default_rng(seed).integers(1, top, 200)
        model = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y, weights)
        assert verify(model, X, y, weights)


@pytest.mark.parametrize("weight", [2**60, 2**53 * 3, Fraction(1, 3), 1e-300, 1e300])
def test_equal_weights_of_any_size_are_not_refused(weight: Any) -> None:
    X, y = [[0], [0], [1], [1]], [0, 1, 1, 1]
    model = OptimalTreeClassifier(max_depth=1).fit(X, y, [weight] * 4)
    assert verify(model, X, y, [weight] * 4, exhaustive=True)


def test_fair_trees_with_weights_of_wide_range_are_not_refused() -> None:
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 0, 1, 1, 1]
    group, weights = [0, 1, 0, 1, 0, 1], [1, 0.3, 1, 1, 1, 1e-9]
    model = FairTreeClassifier(
        "predictive_equality", tolerance=1, max_depth=2, class_weight="balanced"
    ).fit(X, y, group, weights)
    assert verify(model, X, y, weights, sensitive_features=group)


def test_a_cross_validated_model_is_verified() -> None:
    X, y = table()
    model = OptimalTreeClassifierCV(depths=(1, 2), cv=2).fit(X, y)
    assert verify(model, X, y)
    model.best_estimator_.certificate_ = replace(model.certificate_, cost=77)
    with pytest.raises(CertificateError, match="cost"):
        verify(model, X, y)


def test_squares_of_large_integer_weights_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    weights = rng.integers(1, 2**31, 40)
    solution = solve(tasks.gini(y), X, sample_weight=weights, max_depth=1)
    assert verify(solution, X, sample_weight=weights)
    nearly = solve(tasks.gini(y), X, sample_weight=weights * 1.0000001, max_depth=1)
    assert float(solution.certificate.cost) == pytest.approx(float(nearly.certificate.cost))


def test_a_function_that_overflows_is_found_out() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)
    weights = rng.integers(1, 2**31, 40)

    def gini(sums: Any) -> Any:
        total = np.maximum(sums.sum(axis=1), 1)
        return np.abs(total - np.square(sums).sum(axis=1) / total)

    task = tasks.LeafCost(np.eye(2, dtype=int)[y], gini)
    assert verify(solve(task, X, max_depth=1), X)
    with pytest.raises(CertificateError, match="leaf cost"):
        verify(solve(task, X, sample_weight=weights, max_depth=1), X, sample_weight=weights)


def test_a_gap_is_proven_again_by_trying_all_trees() -> None:
    """`exhaustive=True` once tried nothing for a gap, and the report said that it had."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (24, 4)), rng.integers(0, 2, 24)
    small = OptimalTreeClassifier(max_depth=1).fit(X, y)
    found = optimality_gap(small, X, y, max_depth=2, max_splits=None)
    assert found.improvement > 0
    model = taken_over(found.model, small)
    forged = replace(
        found,
        **dict.fromkeys(("lower_bound", "upper_bound"), found.cost),
        **dict.fromkeys(("gap", "improvement"), 0),
        best_tree=small.tree_,
        certificate=model.certificate_,
    )
    assert verify(forged, X, y)
    with pytest.raises(CertificateError, match="optimum"):
        verify(forged, X, y, exhaustive=True)


@pytest.mark.parametrize("estimator", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_a_path_is_proven_again_by_trying_all_trees(estimator: Any) -> None:
    """A path without one of its trees once passed all checks."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (20, 4))
    y = X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3]
    model = estimator(max_depth=2).fit(X, y, path=True)
    assert verify(model, X, y, exhaustive=True)
    entries = model.path_.entries
    assert len(entries) > 2
    forged = copy.copy(model)
    forged._path = copy.copy(model._path)
    forged._path.entries = (*entries[:1], *entries[2:])
    with pytest.raises(CertificateError, match="misses a tree with 1 split"):
        verify(forged, X, y, exhaustive=True)
    forged._path.entries = entries
    forged._path.status = "fine"
    with pytest.raises(CertificateError, match="status 'fine' of the path"):
        verify(forged, X, y)
