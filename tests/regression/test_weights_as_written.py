"""Certificates are about the weights that users write, whatever their size, type and range.

Found by attacks: balanced weights that count the majority as nothing, class weights raised to one
unit without a word, equal weights read by their float, and overflows of floats in between.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    solve,
    tasks,
    verify,
)

pytestmark = pytest.mark.filterwarnings("ignore::certree.exceptions.OptimalityWarning")

BIG = 10**400


def exact(number: Any) -> Fraction:
    """The number that a user writes."""
    if isinstance(number, np.integer):
        return Fraction(int(number))
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def least_errors(X: Any, y: Any, weights: list[Fraction]) -> Fraction:
    """The least weight of errors of a tree of depth one, by trying all of them."""
    labels = sorted(set(y))
    best = sum(weights)
    for column in range(len(X[0])):
        for pair in product(labels, repeat=2):
            wrong = [w for x, t, w in zip(X, y, weights, strict=True) if pair[x[column]] != t]
            best = min(best, sum(wrong, Fraction(0)))
    return best


def make_rows(seed: int, n_rows: int = 14, n_classes: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 3)).tolist()
    y = [*range(n_classes), *rng.integers(0, n_classes, n_rows - n_classes).tolist()]
    return X, y, rng


def make_weights(rng: Any, kind: int, n: int) -> Any:
    if kind == 0:
        return None
    if kind == 1:
        return rng.integers(1, 2**31, n)
    if kind == 2:
        return rng.random(n) * 10.0 ** rng.integers(-300, 300)
    if kind == 3:
        return [Fraction(int(a), int(b)) for a, b in rng.integers(1, 50, (n, 2))]
    if kind == 4:
        return rng.choice([1e-9, 0.5, 1.0, 1e5, 3e7], n)
    return rng.choice([1e-300, 1e-5, 1.0, 7e18, 1e300], n)


def make_class_weight(rng: Any, kind: int) -> Any:
    if kind == 0:
        return None
    if kind == 1:
        return "balanced"
    if kind == 2:
        return {k: float(10.0 ** rng.integers(-9, 9)) for k in range(3)}
    if kind == 3:
        return {0: 1, 1: 100, 2: 10 ** int(rng.integers(0, 25))}
    return {0: Fraction(1, 3), 1: Decimal("0.7"), 2: BIG}


@pytest.mark.parametrize("seed", range(60))
def test_costs_are_those_of_the_weights_as_written_within_the_rounding(seed: int) -> None:
    X, y, rng = make_rows(seed)
    weights, class_weight = make_weights(rng, seed % 6, 14), make_class_weight(rng, seed // 6 % 5)
    model = OptimalTreeClassifier(max_depth=1, class_weight=class_weight).fit(X, y, weights)
    certificate = model.certificate_
    given = [Fraction(1)] * 14 if weights is None else [exact(w) for w in weights]
    totals = [sum(w for w, t in zip(given, y, strict=True) if t == k) for k in range(3)]
    factors = {k: Fraction(1) for k in range(3)}
    if class_weight == "balanced":
        factors = {k: sum(totals) / (3 * total) for k, total in enumerate(totals)}
    elif class_weight is not None:
        factors = {k: exact(weight) for k, weight in class_weight.items()}
    true = [w * factors[t] for w, t in zip(given, y, strict=True)]
    best = least_errors(X, y, true)
    predicted = model.predict(X).tolist()
    found = sum(w for w, t, p in zip(true, y, predicted, strict=True) if t != p)
    assert certificate.lower_bound - certificate.rounding <= best
    assert abs(certificate.cost - found) <= certificate.rounding
    assert (certificate.rounding == 0) == (certificate.weight_quantum is None)
    if certificate.weight_quantum is None:
        assert certificate.status == "optimal"
        assert found == best == certificate.cost
    elif certificate.status == "optimal":
        assert found == best
    assert found - best <= certificate.gap + 2 * certificate.rounding
    for k, weight in enumerate(certificate.class_weights or (1, 1, 1)):
        assert abs(Fraction(weight) / factors[k] - 1) < Fraction(1, 2**50)
    verify(model, X, y, weights, exhaustive=True)
    assert certificate.from_json(certificate.to_json()) == certificate


def test_two_rows_of_two_million_count_as_much_as_all_others() -> None:
    n = 2_200_000
    X = np.zeros((n, 1), dtype=np.uint8)
    X[:2] = 1
    model = OptimalTreeClassifier(max_depth=1, class_weight="balanced").fit(X, X[:, 0])
    assert model.certificate_.n_splits == 1
    assert model.certificate_.weight_quantum is None
    X[5] = 1
    y = X[:, 0] * (np.arange(n) < 2)
    model.fit(X, y)
    assert model.certificate_.n_splits == 1
    assert model.certificate_.cost == Fraction(n, 2 * (n - 2))


@pytest.mark.parametrize("top", [10**6, 2**31])
@pytest.mark.parametrize("objective", ["accuracy", "balanced_accuracy", "f1", "auc"])
def test_balanced_classes_with_large_integer_weights_verify(top: int, objective: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 4))
    y = (X[:, 0] & (rng.random(300) < 0.8)).astype(int)
    for seed in range(5):
        w = np.random.default_rng(seed).integers(1, top, 300)
        model = OptimalTreeClassifier(max_depth=2, class_weight="balanced", objective=objective)
        assert model.fit(X, y, w).certificate_.status == "optimal"
        verify(model, X, y, w)


def test_class_weights_without_room_for_each_other_are_not_called_optimal() -> None:
    X, y = [[0]] * 6 + [[1]] * 6, [0] * 5 + [1] + [2] * 6
    for largest in (1e9, 1e12, 1e15):
        model = OptimalTreeClassifier(max_depth=1, class_weight={0: 1, 1: 100, 2: largest})
        assert (model.fit(X, y).certificate_.status, model.certificate_.cost) == ("optimal", 5)
    model = OptimalTreeClassifier(max_depth=1, class_weight={0: 1, 1: 100, 2: 1e18}).fit(X, y)
    certificate = model.certificate_
    assert certificate.status == "precision"
    assert not certificate.is_optimal
    assert certificate.lower_bound <= 5
    assert certificate.class_weights == (1, 100, 10**18)
    assert "rounded to multiples of" in str(certificate)
    path = model.fit(X, y, path=True).path_
    assert path.status == "precision"
    model.set_params(gap=10**6).fit(X, y)
    assert model.certificate_.status == "gap"
    verify(model, X, y)


@pytest.mark.parametrize(
    "scale",
    [2**60, 3 * 2**53 + 1, Fraction(1, 3), 10.0**300, 1e-300, 5e-324, BIG, Fraction(1, BIG)],
    ids=["2**60", "odd", "1/3", "1e300", "1e-300", "5e-324", "10**400", "10**-400"],
)
def test_multiplying_all_weights_by_a_number_multiplies_costs_and_nothing_else(scale: Any) -> None:
    X, y, rng = make_rows(7, n_rows=30, n_classes=2)
    small = rng.integers(1, 5, 30).tolist()
    weights = [exact(scale) * w for w in small]
    models = [
        OptimalTreeClassifier(max_depth=2, complexity=0.01, class_weight={0: 2, 1: 0.3}),
        OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy"),
        OptimalTreeClassifier(max_depth=2, objective="mcc"),
        OptimalTreeClassifier(max_depth=2, objective="auc"),
        CostSensitiveTreeClassifier([[0, 1], [0.3, 0]], max_depth=2),
        OptimalTreeClassifierCV(depths=(1, 2), cv=2),
    ]
    for model in models:
        first = model.fit(X, y, sample_weight=small).certificate_
        answers = getattr(model, "predict_proba", model.predict)(X)
        second = model.fit(X, y, sample_weight=weights).certificate_
        assert np.allclose(getattr(model, "predict_proba", model.predict)(X), answers, rtol=1e-12)
        assert second.weight_quantum is None
        assert (second.objective, second.status) == (first.objective, first.status)
        if model.__class__ is OptimalTreeClassifier and second.counts_errors:
            assert second.cost == first.cost * exact(scale)
        assert second.total_weight == first.total_weight * exact(scale)
        str(second), second.statement(), second.to_json()
        if not isinstance(model, OptimalTreeClassifierCV):
            verify(model, X, y, weights)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e290])
def test_regression_and_fairness_know_ratios_of_weights_only(scale: float) -> None:
    X, y, rng = make_rows(8, n_rows=30, n_classes=2)
    weights, target, groups = rng.random(30), rng.random(30), rng.integers(0, 2, 30)
    model = OptimalTreeRegressor(max_depth=2)
    plain = model.fit(X, target, weights).predict(X)
    assert np.allclose(model.fit(X, target, weights * scale).predict(X), plain, rtol=1e-9)
    verify(model, X, target, weights * scale)
    fair = FairTreeClassifier("demographic_parity", tolerance=0.2, max_depth=2)
    first = fair.fit(X, y, groups, weights).certificate_.objective
    assert fair.fit(X, y, groups, weights * scale).certificate_.objective == pytest.approx(first)
    verify(fair, X, y, weights * scale, sensitive_features=groups)


def test_costs_of_rows_are_weighed_before_they_are_rounded() -> None:
    """Weights of wide range that are exact are no worse than others."""
    rng = np.random.default_rng(0)
    X, costs = rng.integers(0, 2, (40, 6)), rng.normal(size=(40, 2))
    weights = rng.choice([1e-5, 1, 1e5], 40)
    found = solve(tasks.RowCosts(costs), X, sample_weight=weights, max_depth=2).certificate
    total = sum(map(Fraction, (weights * np.abs(costs).max(axis=1)).tolist()))
    assert found.weight_quantum is None
    assert found.rounding <= total / 10**11
    priced = solve(
        tasks.RowCosts(costs), X, sample_weight=weights, max_depth=2, test_costs=[0.1] * 6
    ).certificate
    assert priced.rounding <= total / 10**4


def test_custom_metrics_of_tiny_weights_have_no_overflow() -> None:
    X, y, rng = make_rows(9, n_rows=12, n_classes=2)
    model = OptimalTreeClassifier(
        max_depth=2, objective=lambda fp, fn, p, n: -(fp * fp + fn * fn), complexity=1e-300
    )
    weights = rng.random(12) * 1e-160
    verify(model.fit(X, y, weights), X, y, weights)


def test_a_gap_may_be_written_as_a_fraction() -> None:
    X, y, rng = make_rows(10, n_rows=30, n_classes=2)
    for gap in ("1/3", Fraction(1, 3), Decimal("0.5"), "0.5"):
        model = OptimalTreeClassifier(max_depth=2, gap=gap).fit(X, y)
        verify(model, X, y)
        regressor = OptimalTreeRegressor(max_depth=2, gap=gap).fit(X, rng.random(30))
        assert regressor.certificate_.gap <= Fraction(gap)
        solve(tasks.Misclassification(), X, y, max_depth=1, gap=gap)
        FairTreeClassifier(max_depth=1, gap=gap).fit(X, y, sensitive_features=y)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"time_limit": BIG}, r"time_limit must be a finite number greater than 0.* 10\*\*400"),
        ({"gap": BIG}, r"gap must be a finite number of at least 0, got about 10\*\*400"),
        ({"gap": "a third"}, "gap must be a finite number of at least 0, got 'a third'"),
        ({"gap": "-1/3"}, "gap must be a finite number of at least 0, got '-1/3'"),
        ({"gap": Decimal("nan")}, "gap must be a finite number of at least 0"),
        ({"complexity": BIG}, r"complexity must .* got about 10\*\*400"),
    ],
)
def test_numbers_beyond_reach_are_named(parameters: dict[str, Any], message: str) -> None:
    X, y, _ = make_rows(11)
    for model in (OptimalTreeClassifier(), CostSensitiveTreeClassifier(), OptimalTreeRegressor()):
        with pytest.raises(ValueError, match=message):
            model.set_params(**parameters).fit(X, y)


def test_weights_beyond_reach_are_named() -> None:
    with pytest.raises(ValueError, match=r"sample_weight\[2\] is about 10\*\*400, beyond"):
        OptimalTreeClassifier().fit([[0], [1], [1]], [0, 1, 0], [1, 3, BIG + 1])


def test_costs_that_rounding_swallows_are_not_called_optimal() -> None:
    """What four rows cost is less than the last digit of the others."""
    X, y, _ = make_rows(12, n_rows=20, n_classes=2)
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])[y] * np.pi
    weights = np.where(np.arange(20) < 4, 1e-30, 0.0) + np.array(y) * 1e9 * np.sqrt(2)
    found = solve(tasks.RowCosts(costs), X, sample_weight=weights, max_depth=1).certificate
    assert found.status == "precision"
    assert not found.is_optimal


def test_a_penalty_is_counted_in_the_unit_of_rounding() -> None:
    """All weights are rounded to 2**53, which is no unit that a third of the penalty fits."""
    X = [[2], [0], [0], [3], [3], [0], [3]]
    y = [0, 1, 0, 1, 1, 0, 1]
    weights = [2**53 - k for k in (2, 1, 5, 4, 3, 4, 8)]
    groups = ["a", "a", "b", "b", "a", "a", "b"]
    model = FairTreeClassifier(max_depth=1, max_splits=0, complexity=Fraction(1, 12), tolerance=0)
    model.fit(X, y, sensitive_features=groups, sample_weight=weights)
    assert model.certificate_.weight_quantum is not None
    assert verify(model, X, y, sensitive_features=groups, sample_weight=weights)
