"""Numbers as the user writes them, and the integers that the search minimises."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from certree.numbers._exact import (
    class_fractions,
    cost_budget,
    error_scale,
    parse_complexity,
    read_fraction,
    scale_weights,
)
from certree.numbers._fractions import common_unit
from certree.numbers._scale import Scale


def _scale(totals: list[int], complexity: Any, class_weight: Any = None, **options: Any) -> Scale:
    budget = options.pop("budget", cost_budget(sum(totals)))
    unit = options.pop("weight_quantum", Fraction(1))
    weights = class_fractions(class_weight, list(range(len(totals))), totals)
    common = common_unit(weights, 2**62)
    assert common is not None
    multipliers = [int(weight / common) for weight in weights]
    total = sum(map(int.__mul__, multipliers, totals))
    return error_scale(total, unit * common, parse_complexity(complexity), budget=budget, **options)


class TestReadFraction:
    @pytest.mark.parametrize(
        "value, expected",
        [
            (0.1, Fraction(1, 10)),
            (1e-05, Fraction(1, 100000)),
            (0, Fraction(0)),
            (1, Fraction(1)),
            (Fraction(1, 3), Fraction(1, 3)),
            (Decimal("0.005"), Fraction(1, 200)),
            ("0.005", Fraction(1, 200)),
            (" 1/3 ", Fraction(1, 3)),
            (np.float64(0.1), Fraction(1, 10)),
            (np.float32(0.1), Fraction(1, 10)),
            (np.int64(1), Fraction(1)),
        ],
    )
    def test_numbers_are_what_they_are_written_as(self, value: Any, expected: Fraction) -> None:
        assert parse_complexity(value) == expected

    def test_numpy_integers_become_unbounded_ones(self) -> None:
        fraction = read_fraction(np.int64(2**62), "x")
        assert fraction * 4 == 2**64
        assert type(fraction.numerator) is int

    @pytest.mark.parametrize(
        "value", [float("nan"), float("inf"), "much", "1/0", Decimal("NaN"), Decimal("Infinity")]
    )
    def test_what_is_no_finite_number_is_refused(self, value: Any) -> None:
        with pytest.raises(ValueError, match="complexity must be a finite number"):
            parse_complexity(value)

    @pytest.mark.parametrize("value", [True, None, [0.1], 1j])
    def test_other_types_are_refused(self, value: Any) -> None:
        with pytest.raises(TypeError, match="complexity must be a number"):
            parse_complexity(value)

    @pytest.mark.parametrize("value", [-0.01, 1.01, 2, "-1/2"])
    def test_complexity_lies_between_zero_and_one(self, value: Any) -> None:
        with pytest.raises(ValueError, match="between 0 and 1"):
            parse_complexity(value)


class TestScaleWeights:
    def test_no_weights_are_ones(self) -> None:
        scaled = scale_weights(None, 3)
        assert scaled.values.tolist() == [1, 1, 1]
        assert scaled.quantum == 1
        assert scaled.is_exact

    def test_integers_are_exact_and_reduced(self) -> None:
        scaled = scale_weights([4, 0, 6], 3)
        assert scaled.values.tolist() == [2, 0, 3]
        assert scaled.values.dtype == np.int64
        assert scaled.quantum == 2
        assert (scaled.is_exact, scaled.relative_error) == (True, 0.0)

    def test_decimals_are_exact(self) -> None:
        scaled = scale_weights([0.1, 0.25, 1.2], 3)
        assert scaled.values.tolist() == [2, 5, 24]
        assert scaled.quantum == Fraction(1, 20)
        assert scaled.is_exact

    @pytest.mark.parametrize("weight", [1 / 3, 1e-300, 1e300, 0.1])
    def test_equal_weights_are_exact_whatever_they_are(self, weight: float) -> None:
        scaled = scale_weights([weight, weight, 0.0], 3)
        assert scaled.values.tolist() == [1, 1, 0]
        assert scaled.quantum == Fraction(str(weight))
        assert scaled.is_exact

    def test_a_single_number_is_the_weight_of_every_row(self) -> None:
        assert scale_weights(2.5, 2).quantum == Fraction(5, 2)

    def test_other_weights_are_rounded_and_it_is_said(self) -> None:
        weights = np.array([1 / 3, 2 / 7, 1.0])
        scaled = scale_weights(weights, 3)
        assert not scaled.is_exact
        assert scaled.quantum == Fraction(1, 2**20)
        assert 0 < scaled.relative_error < 2**-19
        back = scaled.values * float(scaled.quantum)
        np.testing.assert_allclose(back, weights, rtol=scaled.relative_error * 1.001)

    def test_a_positive_weight_is_never_rounded_to_zero(self) -> None:
        scaled = scale_weights([np.pi, 1e-12, 5e-324, 0.0], 4)
        assert scaled.values.tolist() == [round(np.pi * 2**18), 1, 1, 0]
        assert scaled.relative_error > 1

    def test_huge_weights_do_not_overflow(self) -> None:
        scaled = scale_weights([1.7e308, 1.1e308, 1.3e308], 3)
        assert scaled.values.max() == round(Fraction(1.7e308) / 2**1004)
        assert scaled.quantum == 2**1004

    def test_many_rows_use_a_coarser_quantum(self) -> None:
        weights = np.random.RandomState(0).random_sample(200_000) + 0.5
        budget = cost_budget(len(weights))
        scaled = scale_weights(weights, len(weights))
        assert int(scaled.values.sum()) <= budget // 2**10
        assert scaled.quantum > Fraction(1, 2**20)

    def test_long_decimals_are_rounded_when_they_do_not_fit(self) -> None:
        weights = [0.123456789012, 1.0]
        assert scale_weights(weights, 2).is_exact
        assert not scale_weights(weights, 2, budget=2**40).is_exact

    @given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20), st.integers(0, 6))
    def test_decimals_come_back_exactly(self, units: list[int], decimals: int) -> None:
        assume(any(units))
        weights = [float(Fraction(u, 10**decimals)) for u in units]
        scaled = scale_weights(weights, len(weights))
        assert scaled.is_exact
        assert [int(v) * scaled.quantum for v in scaled.values] == [
            Fraction(u, 10**decimals) for u in units
        ]

    @given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
    def test_relative_error_is_an_upper_bound(self, weights: list[float]) -> None:
        assume(any(weights))
        scaled = scale_weights(weights, len(weights))
        for value, weight in zip(scaled.values.tolist(), weights, strict=True):
            assert (value == 0) == (weight == 0)
            if weight > 0 and np.isfinite(scaled.relative_error):
                # Twice the last bit: the weight relative to the largest is itself rounded.
                slack = Fraction(scaled.relative_error) * (1 + Fraction(1, 2**40)) + 2**-50
                exact = Fraction(str(weight)) if scaled.is_exact else Fraction(weight)
                assert abs(value * scaled.quantum / exact - 1) <= slack

    @pytest.mark.parametrize(
        "weights, message",
        [
            ([1, -2, -3], r"sample_weight\[1\] = -2.0 is negative"),
            ([1, 1, np.nan], r"sample_weight\[2\] = nan is not a finite number"),
            ([np.inf, 1, 1], r"sample_weight\[0\] = inf is not a finite number"),
            ([0, 0, 0], "All sample weights are zero"),
            ([1, 1], "has 2 entries, but there are 3 rows"),
            ([[1], [1], [1]], r"shape \(3, 1\)"),
            (["a", "b", "c"], "must hold numbers"),
        ],
    )
    def test_bad_weights_are_refused(self, weights: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            scale_weights(weights, 3)


class TestErrorScale:
    def test_without_complexity_the_cost_is_the_number_of_errors(self) -> None:
        scale = _scale([6, 4], 0)
        assert (scale.error_scale, scale.split_penalty, scale.constant) == (1, 0, 0)
        assert scale.cost(3) == 3

    def test_the_penalty_is_reduced(self) -> None:
        scale = _scale([150, 50], 0.005)
        assert (scale.error_scale, scale.split_penalty) == (1, 1)
        scale = _scale([150, 51], 0.005)
        assert (scale.error_scale, scale.split_penalty) == (200, 201)

    def test_per_leaf_adds_the_first_leaf(self) -> None:
        per_split = _scale([6, 4], 0.1)
        per_leaf = _scale([6, 4], 0.1, per="leaf")
        assert per_leaf.split_penalty == per_split.split_penalty
        assert per_leaf.cost(7) == per_split.cost(7) + Fraction(1, 10) * 10

    @given(
        totals=st.lists(st.integers(1, 1000), min_size=1, max_size=4),
        complexity=st.fractions(0, 1, max_denominator=10**6),
        class_weight=st.lists(st.fractions(0, 50, max_denominator=40), min_size=4, max_size=4),
        quantum=st.fractions(Fraction(1, 1000), 10, max_denominator=1000),
        errors=st.lists(st.integers(0, 1000), min_size=4, max_size=4),
        splits=st.integers(0, 20),
        per=st.sampled_from(["split", "leaf"]),
    )
    def test_units_stand_for_errors_plus_penalty_exactly(
        self,
        totals: list[int],
        complexity: Fraction,
        class_weight: list[Fraction],
        quantum: Fraction,
        errors: list[int],
        splits: int,
        per: str,
    ) -> None:
        """U * unit == weighted errors + complexity * W * splits, in rational arithmetic."""
        given_weights = dict(enumerate(class_weight[: len(totals)]))
        assume(any(given_weights.values()))
        scale = _scale(
            totals, complexity, given_weights, weight_quantum=quantum, per=per, budget=2**60
        )
        wrong = [min(e, t) for e, t in zip(errors, totals, strict=False)]
        total = sum(given_weights[k] * t * quantum for k, t in enumerate(totals))
        weighted_errors = sum(given_weights[k] * w * quantum for k, w in enumerate(wrong))
        units = weighted_errors / (scale.unit * scale.error_scale)
        assert units.denominator == 1
        value = scale.value(units.numerator, splits)
        counted = splits + (per == "leaf")
        assert scale.penalty == complexity * total
        assert scale.cost(value) == weighted_errors + complexity * total * counted

    def test_a_penalty_too_long_for_the_range_is_rounded_and_it_is_said(self) -> None:
        budget = cost_budget(10**6)
        complexity = Fraction(123456789, 10**12 + 39)
        scale = _scale([600_000, 400_000], complexity, budget=budget)
        assert scale.complexity == complexity
        used = scale.penalty / 10**6
        assert used != complexity
        assert abs(used / complexity - 1) < Fraction(1, 10**6)
        assert scale.error_scale * 10**6 <= budget
        assert scale.cost(scale.split_penalty) == scale.penalty

    def test_a_tiny_complexity_does_not_vanish(self) -> None:
        scale = _scale([3, 4], Fraction(1, 10**40))
        assert scale.split_penalty == 1
        assert scale.penalty > 7 * Fraction(1, 10**40)

    @pytest.mark.parametrize("n_rows", [1, 10, 10**4, 10**7])
    @pytest.mark.parametrize("complexity", [0, 1e-9, 0.0123456789, 0.5, 1])
    def test_everything_fits_with_the_tie_break(self, n_rows: int, complexity: float) -> None:
        budget = cost_budget(n_rows)
        scale = _scale([n_rows], complexity, budget=budget)
        largest = 2 * scale.error_scale * n_rows + 8 * scale.split_penalty
        assert largest * (n_rows + 1) < 2**62

    def test_a_split_limit_leaves_more_room(self) -> None:
        assert cost_budget(10**6, 15) > 10**4 * cost_budget(10**6)
        assert cost_budget(10, 10**6) == cost_budget(10)

    def test_weights_beyond_the_range_are_refused(self) -> None:
        with pytest.raises(ValueError, match="overflow"):
            _scale([100, 100], 0, budget=150)

    def test_unknown_way_of_counting_is_refused(self) -> None:
        with pytest.raises(ValueError, match="'split' or 'leaf', got 'node'"):
            _scale([1, 1], 0, per="node")
