"""Real numbers become integers exactly where they can, and with a bound where they cannot."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.numbers._fixed_point import check_numbers, fixed_point, label_costs, root_up, round_up
from certree.numbers._fixed_squares import squares

MOST = 10**15


def test_short_decimals_are_exact() -> None:
    fixed = fixed_point(np.array([0.1, -2.25, 3.0]), 10.0, MOST)
    assert fixed.quantum == Fraction(1, 100)
    assert fixed.values.tolist() == [10, -225, 300]
    assert fixed.error == 0


def test_decimals_whose_total_does_not_fit_are_rounded() -> None:
    fixed = fixed_point(np.array([0.125, 0.5]), 1e6, 10**7)
    assert fixed.quantum == Fraction(1, 10)
    assert 0 < fixed.error < Fraction(6, 100)


@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=8),
    st.integers(3, 15),
)
def test_no_number_is_further_off_than_stated(numbers: list[float], digits: int) -> None:
    array = np.array(numbers)
    fixed = fixed_point(array, float(np.abs(array).sum()), 10**digits)
    for number, value in zip(numbers, fixed.values.tolist(), strict=True):
        # A float stands for the decimal that Python prints for it.
        assert abs(value * fixed.quantum - Fraction(str(number))) <= fixed.error
        assert abs(value) <= 10**digits


def test_costs_are_taken_above_the_cheapest_label() -> None:
    costs = label_costs(
        np.array([[1.5, 2.5], [-1.0, -4.0]]), np.array([1, 2]), Fraction(1, 2), MOST
    )
    assert costs.unit * costs.costs[0, 1] == Fraction(1, 2)
    assert costs.unit * costs.costs[1, 0] == 3
    assert costs.constant == Fraction(3, 4) - 4
    assert costs.rounding == 0
    assert costs.costs.min() == 0


@given(st.integers(0, 2**32), st.integers(6, 12))
def test_the_cost_of_a_tree_changes_by_no_more_than_the_bound(seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(6, 3))
    weights = rng.integers(1, 4, 6)
    costs = label_costs(table, weights, Fraction(1), 10**digits)
    for labels in rng.integers(0, 3, (10, 6)):
        rows = np.arange(6)
        counted = int(costs.costs[rows, labels].sum()) * costs.unit + costs.constant
        true = sum(
            int(w) * Fraction(str(c))
            for w, c in zip(weights, table[rows, labels].tolist(), strict=True)
        )
        assert abs(counted - true) <= costs.rounding


def test_a_large_common_part_takes_no_digits() -> None:
    rng = np.random.default_rng(0)
    near = rng.normal(size=(20, 3))
    weights = np.ones(20, dtype=np.int64)
    plain = label_costs(near, weights, Fraction(1), MOST)
    far = label_costs(near + 1e6, weights, Fraction(1), MOST)
    assert far.unit == plain.unit
    assert far.rounding < 1e-7
    y = squares(near[:, :1] + 1e6, weights, Fraction(1), 2**60)
    assert y.quanta == squares(near[:, :1], weights, Fraction(1), 2**60).quanta
    assert y.rounding * y.unit < 1e-7


@given(st.fractions(min_value=0, max_value=10**300), st.integers(0, 400))
def test_bounds_are_rounded_up(number: Fraction, power: int) -> None:
    small = number / 10**power
    assert small <= round_up(small) <= small * Fraction(102, 100)
    assert root_up(small) ** 2 > small
    assert root_up(small) ** 2 <= small * (1 + Fraction(1, 2**20)) + Fraction(1, 2**60)


def test_prices_share_the_unit_of_costs() -> None:
    costs = label_costs(
        np.array([[0.0, 50.0]]),
        np.array([1]),
        Fraction(1),
        MOST,
        prices=np.array([0.5, 100.0]),
        price_total=100.5,
    )
    assert (costs.unit * costs.prices[0], costs.unit * costs.prices[1]) == (Fraction(1, 2), 100)
    assert costs.unit * costs.costs[0, 1] == 50


def test_targets_are_centred_and_exact() -> None:
    target = np.array([126.201, 125.201, 120.0])
    found = squares(target[:, None], np.array([1, 1, 2]), Fraction(1), 2**60)
    assert found.rounding is None
    back = [found.centres[0] + int(t) * found.quanta[0] for t in found.statistics[:2, 1]]
    assert back == [Fraction("126.201"), Fraction("125.201")]
    assert found.statistics[2].tolist() == [
        2,
        found.statistics[2, 1],
        found.statistics[2, 1] ** 2 // 2,
    ]


def test_targets_without_spread_have_no_squares() -> None:
    found = squares(np.full((3, 1), 7.25), np.ones(3, dtype=np.int64), Fraction(1), 2**60)
    assert found.centres == (Fraction("7.25"),)
    assert not found.statistics[:, 1:].any()


def test_outputs_with_units_of_their_own_are_exact() -> None:
    target = np.array([[1.5, 10.0], [2.5, 20.0], [2.0, 0.0]])
    weights = np.array([1, 1, 2])
    found = squares(target, weights, Fraction(1), 2**60, None, [Fraction(1, 3), Fraction(2)])
    assert found.rounding is None
    w, *sums, q = (int(x) for x in found.statistics.sum(axis=0))
    saved = sum(f * s * s for f, s in zip(found.factors, sums, strict=True))
    # Means 2 and 7.5: squared errors 0.5 and 275.
    assert (q - Fraction(saved, w)) * found.unit == Fraction(1, 6) + 550


@given(
    st.integers(0, 2**32),
    st.integers(0, 2),
    st.sampled_from([0.0, 1e5, -1e9]),
    st.integers(1, 3),
)
def test_squared_errors_change_by_no_more_than_the_bound(seed, kind, shift, n_outputs):
    rng = np.random.default_rng(seed)
    target = shift + rng.normal(size=(8, n_outputs)) * 10.0 ** rng.integers(-3, 4, n_outputs)
    given = rng.random(8) * 10.0 ** rng.integers(-6, 3, 8)
    weights = np.ones(8, dtype=np.int64) if kind == 0 else rng.integers(1, 2**28, 8)
    of_outputs = [Fraction(1), Fraction(1, 7), Fraction("3.14159e3")][:n_outputs]
    quantum = Fraction(1, 3)
    found = squares(target, weights, quantum, 2**54, given if kind == 2 else None, of_outputs)
    true = [w * quantum for w in weights.tolist()]
    if kind == 2:
        true = [Fraction(w) for w in given.tolist()]
    y = [[Fraction(str(t)) for t in line] for line in target.tolist()]
    for _ in range(5):
        rows = np.flatnonzero(rng.integers(0, 2, 8)).tolist() or [0]
        w, *sums, q = (int(x) for x in found.statistics[rows].sum(axis=0))
        saved = sum(f * s * s for f, s in zip(found.factors, sums, strict=True))
        counted = (q - Fraction(saved, w)) * found.unit
        weight = sum(true[i] for i in rows)
        error = Fraction(0)
        for k, of_output in enumerate(of_outputs):
            mean = sum(true[i] * y[i][k] for i in rows) / weight
            error += of_output * sum(true[i] * (y[i][k] - mean) ** 2 for i in rows)
        assert q * w >= saved
        assert abs(counted - error) <= found.rounding * found.unit


def test_a_bad_number_is_named_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"costs\[1, 0\] = nan is not a finite"):
        check_numbers([[1.0, 2.0], [np.nan, 0.0]], "costs", (2, 2))
    with pytest.raises(ValueError, match="costs must have shape 3 x any, got 2 x 2"):
        check_numbers([[1.0, 2.0], [0.0, 0.0]], "costs", (3, None))
    with pytest.raises(ValueError, match="costs must hold numbers"):
        check_numbers([["a", "b"]], "costs", (1, 2))


@pytest.mark.parametrize("table", [[[1 / 3], [2 / 3]], [[1 / 3, 1 / 3], [2 / 3, 2 / 3]]])
def test_labels_that_all_cost_the_same_are_a_constant(table):
    scaled = label_costs(np.array(table), np.array([1, 2]), Fraction(1), 2**40)
    assert not scaled.costs.any()
    assert scaled.constant == Fraction(str(1 / 3)) + 2 * Fraction(str(2 / 3))
    assert scaled.rounding == 0
