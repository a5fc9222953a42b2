"""Solving tasks: labels, rounding, limits, and costs of users that go wrong."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    OptimalityWarning,
    OptimalTreeClassifier,
    TaskCertificate,
    Tree,
    solve,
    tasks,
    verify,
)

rng = np.random.default_rng(1)
X = rng.integers(0, 2, (40, 6))
Y = rng.integers(0, 3, 40)
ONE_HOT = np.eye(3)[Y]


def errors(sums: Any) -> Any:
    return sums.sum(axis=1) - sums.max(axis=1), sums.argmax(axis=1)


def test_a_solution_is_a_tree_and_a_certificate() -> None:
    solution = solve(tasks.Misclassification(), X, Y, max_depth=2)
    assert isinstance(solution.tree, Tree)
    wrong = int((solution.predict(X) != Y).sum())
    assert solution.certificate.cost == wrong
    assert "proven optimal" in str(solution)
    assert solution.apply(X).shape == (40,)


def test_labels_may_be_anything() -> None:
    costs = rng.integers(0, 9, (40, 2))
    solution = solve(tasks.RowCosts(costs, labels=["wait", "act"]), X, max_depth=1)
    assert set(solution.predict(X)) <= {"wait", "act"}


def test_a_leaf_cost_without_predictions_still_has_leaves() -> None:
    task = tasks.LeafCost(ONE_HOT, lambda sums: errors(sums)[0], bounds="superadditive")
    solution = solve(task, X, max_depth=2)
    assert (
        float(solution.certificate.cost)
        == solve(tasks.Misclassification(), X, Y, max_depth=2).certificate.cost
    )


def test_float_costs_carry_their_rounding() -> None:
    costs = rng.random((40, 3))
    certificate = solve(tasks.RowCosts(costs), X, max_depth=2).certificate
    assert 0 < float(certificate.rounding) < 1e-6
    short = solve(tasks.RowCosts(np.round(costs, 3)), X, max_depth=2).certificate
    assert short.rounding == 0


def test_certificates_survive_json_and_pickle() -> None:
    certificate = solve(tasks.SquaredError(), X, Y / 3, max_depth=2).certificate
    assert TaskCertificate.from_json(certificate.to_json()) == certificate
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_a_path_of_a_task() -> None:
    solution = solve(tasks.RowCosts(1 - ONE_HOT), X, max_depth=2, path=True)
    assert solution.path is not None
    assert solution.path[-1].errors == solution.certificate.cost


def test_a_callback_can_stop_the_search() -> None:
    big = rng.integers(0, 2, (300, 40))
    costs = rng.random((300, 4))
    with pytest.warns(OptimalityWarning, match="callback stopped") as caught:
        solution = solve(tasks.RowCosts(costs), big, max_depth=5, callback=lambda _: True)
    assert [warning.filename for warning in caught] == [__file__]
    assert solution.certificate.lower_bound <= solution.certificate.cost
    assert solution.certificate.status == "interrupted"


def test_complexity_per_leaf_adds_one_penalty() -> None:
    by_split = solve(tasks.RowCosts(1 - ONE_HOT), X, complexity=0.02)
    by_leaf = solve(tasks.RowCosts(1 - ONE_HOT), X, complexity=0.02, complexity_per="leaf")
    assert (
        by_leaf.certificate.cost - by_split.certificate.cost == by_split.certificate.split_penalty
    )
    assert by_leaf.certificate.leaf_cost == by_split.certificate.leaf_cost


def test_costs_of_users_that_go_wrong_are_named() -> None:
    def solved(cost: Any) -> Any:
        return solve(tasks.LeafCost(ONE_HOT, cost), X, max_depth=2)

    with pytest.raises(ValueError, match=r"costs of shape \(\d+,\)"):
        solved(lambda sums: sums)
    with pytest.raises(ValueError, match=r"predictions of shape \(\d+,\)"):
        solved(lambda sums: (sums.min(axis=1), np.zeros(1 + len(sums))))
    with pytest.raises(ValueError, match="is not a finite number"):
        solved(lambda sums: np.where(sums[:, 0] < 3, np.nan, 1.0))
    with pytest.raises(ValueError, match="must not be negative"):
        solved(lambda sums: sums.min(axis=1) - 3.0)
    with pytest.raises(ValueError, match="must return numbers"):
        solved(lambda sums: np.array(["a"] * len(sums)))
    with pytest.raises(ValueError, match="costs, or costs and predictions; got 3"):
        solved(lambda sums: (sums, sums, sums))
    with pytest.raises(ZeroDivisionError):
        solved(lambda sums: 1 / 0)


def test_bad_calls_are_refused() -> None:
    with pytest.raises(TypeError, match=r"task must be a certree\.tasks\.Task"):
        solve("accuracy", X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="statistics must have shape 40 x any"):
        solve(tasks.LeafCost(ONE_HOT[:5], errors), X)
    worse = tasks.LeafCost(ONE_HOT, errors, bounds=tasks.Laws(True, np.full(40, -1.0)))
    with pytest.raises(ValueError, match=r"worst_change\[0\] = -1.0 must not be negative"):
        solve(worse, X)
    with pytest.raises(ValueError, match="labels must be distinct, one for each column of costs"):
        solve(tasks.RowCosts(ONE_HOT, labels=[1, 1, 2]), X)
    with pytest.raises(ValueError, match="costs has 3 columns, so labels must name as many"):
        solve(tasks.RowCosts(ONE_HOT, labels=[1, 2]), X)
    with pytest.raises(ValueError, match="costs must have at least one column"):
        solve(tasks.RowCosts(np.zeros((40, 0))), X)
    with pytest.raises(ValueError, match=r"time\[1\] = 0.0 is not positive"):
        tasks.exponential_survival([1, 0], [1, 1])
    with pytest.raises(ValueError, match=r"event\[0\] = 2.0 is neither"):
        tasks.exponential_survival([1, 1], [2, 1])
    with pytest.raises(ValueError, match="quantile must lie strictly"):
        tasks.pinball([1, 2], 1.0)
    with pytest.raises(TypeError, match=r"quantile must be a number, .* got \[0, 1, 3\] of type"):
        tasks.pinball([1, 2], [0, 1, 3])
    with pytest.raises(ValueError, match=r"test_costs cannot be combined.*no law of separability"):
        solve(tasks.SquaredError(), X, Y, test_costs=[1] * 6)


@pytest.mark.parametrize("weights", [None, [2] * 30 + [1] * 30, [0] * 5 + [0.25] * 55])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 2.5}])
def test_class_weights_are_those_of_the_classifier(weights: Any, class_weight: Any) -> None:
    rng = np.random.default_rng(7)
    X = rng.integers(0, 2, (60, 4))
    y = X[:, 0] ^ (rng.random(60) < 0.2)
    task = tasks.Misclassification(class_weight)
    settings = {"max_depth": 2, "complexity": 0.02}
    found = solve(task, X, y, sample_weight=weights, **settings).certificate
    twin = OptimalTreeClassifier(class_weight=class_weight, **settings).fit(X, y, weights)
    assert found.rounding == 0
    assert found.cost == twin.certificate_.cost
    assert found.objective == twin.certificate_.objective
    with pytest.raises(ValueError, match="class_weight gives weight zero to every class"):
        solve(tasks.Misclassification({0: 0, 1: 0}), X, y)


@pytest.mark.parametrize("whole", [0.0, 1e-6, 1e9])
def test_a_cost_without_laws_may_be_small_for_all_rows(whole: float) -> None:
    def cost(sums: Any) -> Any:
        return np.where(sums.sum(axis=1) == 40, whole, sums.min(axis=1) / 3 + 1e6)

    found = solve(tasks.LeafCost(ONE_HOT, cost), X, max_depth=2).certificate
    assert found.is_optimal
    assert found.cost == pytest.approx(min(whole, 2e6), rel=1e-5, abs=float(found.rounding))
    assert found.rounding < 1e-7 * max(whole, 1e6)


def test_the_unit_of_a_cost_may_be_given() -> None:
    dear = ONE_HOT[X[:, 0] == 0].sum(axis=0)

    def cost(sums: Any) -> Any:
        return np.where((sums == dear).all(axis=1), 1e9, np.sqrt(sums.sum(axis=1)))

    task = tasks.LeafCost(ONE_HOT, cost)
    with pytest.raises(ValueError, match="give LeafCost a larger unit, or bounds"):
        solve(task, X, max_depth=3)
    found = solve(tasks.LeafCost(ONE_HOT, cost, unit=0.25), X, max_depth=3).certificate
    assert (found.unit, found.cost) == (Fraction(1, 4), 6.25)
    with pytest.raises(ValueError, match="unit must be greater than 0"):
        tasks.LeafCost(ONE_HOT, cost, unit=0)
    with pytest.raises(ValueError, match="unit=1e-15 is too fine"):
        solve(tasks.LeafCost(ONE_HOT, cost, unit=1e-15), X)


def test_a_cost_that_is_not_defined_for_few_rows_is_not_asked_about_them() -> None:
    def variance(sums: Any) -> Any:
        if (sums.sum(axis=1) < 2).any():
            raise ZeroDivisionError
        return sums.min(axis=1) / (sums.sum(axis=1) - 1.0)

    task = tasks.LeafCost(ONE_HOT, variance)
    assert solve(task, X, max_depth=1, min_samples_leaf=5).certificate.is_optimal


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_costs_may_be_tiny_or_huge(scale: float) -> None:
    costs = np.random.default_rng(3).random((40, 3))
    plain = solve(tasks.RowCosts(costs), X, max_depth=2)
    found = solve(tasks.RowCosts(costs * scale), X, max_depth=2).certificate
    assert float(found.cost / Fraction(scale)) == pytest.approx(float(plain.certificate.cost))
    assert found.rounding < Fraction(scale) / 10**9


def test_costs_of_few_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="1e-315 in size, where float64 has few digits"):
        solve(tasks.RowCosts(ONE_HOT * 1e-315), X, max_depth=2)


def test_totals_beyond_float64_are_refused() -> None:
    with pytest.raises(ValueError, match="so large that their total leaves the range of float64"):
        solve(tasks.RowCosts(ONE_HOT * 1e308), X, max_depth=2)
    weights = np.random.default_rng(3).random(40) * 1e308
    task = tasks.LeafCost(ONE_HOT, errors)
    with pytest.raises(ValueError, match="sample_weight has a total that leaves the range"):
        solve(task, X, sample_weight=weights, max_depth=2)


def test_only_ratios_of_weights_matter_also_beyond_float64() -> None:
    weights = np.random.default_rng(3).random(40)
    task = tasks.RowCosts(ONE_HOT * 0.3)
    plain = solve(task, X, sample_weight=weights, max_depth=2)
    huge = solve(task, X, sample_weight=weights * 2.0**1023, max_depth=2)
    assert huge.certificate.cost == plain.certificate.cost * 2**1023
    assert huge.certificate.objective == plain.certificate.objective
    assert np.array_equal(huge.tree.predict(X), plain.tree.predict(X))
    assert "e+" in str(huge.certificate)
    verify(huge, X, sample_weight=weights * 2.0**1023)


def test_predictions_of_leaves_are_values() -> None:
    def cost(sums: Any) -> Any:
        return errors(sums)[0], np.where(sums[:, 0] > 3, np.nan, 1.0)

    with pytest.raises(ValueError, match=r"cost predicts nan for the sums \["):
        solve(tasks.LeafCost(ONE_HOT, cost), X, max_depth=2)
