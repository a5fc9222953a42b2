"""Limits with real or large weights were rounded, and trees at their bounds missed or beyond."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, PolicyTree, solve, tasks, verify

ONES = np.array([[1]] * 4 + [[0]] * 4)
GAINS = np.array([[0, 1.0]] * 4 + [[0, -1.0]] * 4)


def total(weights: Any) -> Fraction:
    return sum((Fraction(str(w)) for w in np.asarray(weights).tolist()), Fraction(0))


def real_weights(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.random(4) + 0.1) * 10.0 ** rng.integers(-12, 12)


@pytest.mark.parametrize("seed", range(12))
def test_a_policy_that_uses_up_its_capacity_is_within_it(seed: int) -> None:
    half = real_weights(seed)
    weights = np.concatenate([half, half])
    model = PolicyTree(max_depth=1, capacity={1: 0.5}).fit_rewards(ONES, GAINS, weights)
    assert model.certificate_.status == "optimal"
    assert model.predict(ONES).tolist() == [1] * 4 + [0] * 4
    assert model.certificate_.limits[0].value == total(half)
    assert verify(model, ONES, GAINS, weights)


@pytest.mark.parametrize("seed", range(12))
def test_a_policy_beyond_its_capacity_by_the_last_bit_is_not_returned(seed: int) -> None:
    half = real_weights(seed)
    weights = np.concatenate([np.nextafter(half, np.inf), half])
    model = PolicyTree(max_depth=1, capacity={1: 0.5}).fit_rewards(ONES, GAINS, weights)
    assert model.certificate_.status == "optimal"
    assert total(weights[model.predict(ONES) == 1]) <= total(weights) / 2
    assert verify(model, ONES, GAINS, weights)


@pytest.mark.parametrize("seed", range(12))
def test_a_limit_from_both_sides_that_one_tree_meets_exactly_is_feasible(seed: int) -> None:
    weights = np.concatenate([real_weights(seed), real_weights(seed + 100)])
    y = np.array([0, 1] * 4)
    wanted = total(weights[y == 1])
    for by, status in ((Fraction(0), "optimal"), (Fraction(1, 10**60), "infeasible")):
        limit = tasks.Limit("ones", {1: 1}, at_least=wanted + by, at_most=wanted + by)
        solution = solve(
            tasks.Misclassification() & limit, y[:, None], y, sample_weight=weights, max_depth=1
        )
        assert solution.certificate.status == status
        assert verify(solution, y[:, None], y, sample_weight=weights)


@pytest.mark.parametrize("most", [0, 1, 2, 2**53 - 1, 2**53])
def test_integers_beyond_48_bits_are_told_apart(most: int) -> None:
    weights = np.array([2**53 - 1, 2**53 - 1, 1, 1], dtype=np.int64)
    table, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([1, 0, 1, 1])
    task = tasks.Misclassification() & tasks.Limit("ones", {1: 1}, at_most=most)
    solution = solve(task, table, y, sample_weight=weights, max_depth=2)
    assert solution.certificate.status == "optimal"
    assert int(weights[solution.predict(table) == 1].sum()) <= most
    assert verify(solution, table, y, sample_weight=weights)


def test_a_curve_has_the_point_of_no_difference_whatever_the_weights() -> None:
    large = 2**53
    X, y, g = np.array([[1], [0], [1], [0]]), np.array([1, 0, 1, 0]), np.array(list("aabb"))
    weights = np.array([large - 1, large - 3, large - 5, large - 7])
    model = FairTreeClassifier("demographic_parity", tolerance=0, max_depth=1, pos_label=1)
    curve = model.fairness_curve(X, y, g, weights, least_tolerance=0)
    assert curve.status == "optimal"
    apart = [
        Fraction(int(a), int(a) + int(b)) for a, b in ((weights[0], weights[1]), tuple(weights[2:]))
    ]
    assert [point[0] for point in curve.points] == [0, abs(apart[0] - apart[1])]
    assert curve.points[0][1] == model.fit(X, y, g, weights).certificate_.cost
    assert verify(curve, X, y, weights, sensitive_features=g)


def test_a_front_of_many_labels_keeps_to_its_limits() -> None:
    """Trees with too many choices of labels were taken over without a look at the limits."""
    rng = np.random.default_rng(4)
    X, n_labels = rng.integers(0, 2, (40, 4)), 20
    first, second = rng.integers(0, 9, (2, 40, n_labels))
    few = tasks.Limit("few", rng.integers(0, 5, (40, n_labels)), at_most=40)
    task = tasks.Front(tasks.RowCosts(first), tasks.RowCosts(second)) & few
    front = solve(task, X, max_depth=2)
    assert all(point.limits[0].value <= 40 for point in front)
