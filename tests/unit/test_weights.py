"""Weights of rows and classes as integers: exact where they fit, else with a stated rounding."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from certree.numbers._error_weights import class_fractions, error_weights
from certree.numbers._weights import read_weights, scale_given

NUMBERS = st.one_of(
    st.integers(1, 2**70),
    st.floats(1e-300, 1.7e308),
    st.fractions(Fraction(1, 999), 1000, max_denominator=999),
    st.decimals("0.001", 1000, places=3),
)


def _value(number: Any, as_float: bool = False) -> Fraction:
    if as_float:
        return Fraction(float(number))
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def _weigh(weights: Any, codes: list[int], wanted: list[Fraction], most: int) -> Any:
    read = read_weights(weights, len(codes))
    places = np.array(codes)
    return error_weights(read, places, wanted, read.totals(places, len(wanted)), most)


def _products(found: Any, codes: list[int]) -> list[Fraction]:
    rows = [1] * len(codes) if found.row_weights is None else found.row_weights.tolist()
    return [r * found.multipliers[k] * found.unit for r, k in zip(rows, codes, strict=True)]


class TestReadWeights:
    @pytest.mark.parametrize(
        "weight",
        [2**60, 3 * 2**60 + 1, 10**400, Fraction(1, 3), Decimal("0.1"), 1 / 3, 0.1, 5e-324],
    )
    @pytest.mark.parametrize("as_list", [False, True])
    def test_equal_weights_are_exact_whatever_they_are(self, weight: Any, as_list: bool) -> None:
        weights = [weight, weight, 0] if as_list else np.array([weight, weight, 0], dtype=object)
        read = read_weights(weights, 3)
        assert read.units is not None
        assert read.units.tolist() == [1, 1, 0]
        assert read.quantum == _value(weight)

    def test_lists_of_exact_numbers_are_read_exactly(self) -> None:
        given_weights = [2**60 + 1, Fraction(1, 3), Decimal("0.25"), 0.1, 0]
        read = read_weights(given_weights, 5)
        assert read.units is None  # their total needs more than 62 bits
        read = read_weights([Fraction(1, 3), Decimal("0.25"), 0.1, 2], 4)
        assert read.units is not None
        expected = [Fraction(1, 3), Fraction(1, 4), Fraction(1, 10), Fraction(2)]
        assert [unit * read.quantum for unit in read.units.tolist()] == expected

    def test_large_integers_beside_a_float_keep_their_last_digit(self) -> None:
        read = read_weights([2**60 + 1, 0.5], 2)
        assert read.units is not None
        assert [unit * read.quantum for unit in read.units.tolist()] == [2**60 + 1, Fraction(1, 2)]

    def test_the_smallest_floats_are_the_decimals_that_they_stand_for(self) -> None:
        read = read_weights(np.array([5e-324, 1e-323, 1.5e-323]), 3)
        assert read.units is not None
        assert read.units.tolist() == [1, 2, 3]
        assert read.quantum == Fraction(5, 10**324)

    def test_huge_multiples_of_one_number_are_small_integers(self) -> None:
        read = read_weights([10**400, 3 * 10**400], 2)
        assert read.units is not None
        assert read.units.tolist() == [1, 3]

    def test_huge_numbers_without_a_common_unit_are_named(self) -> None:
        read = read_weights([3, 10**400 + 1], 2)
        with pytest.raises(ValueError, match=r"sample_weight\[1\] is about 10\*\*400, beyond"):
            read.floats()

    @given(st.lists(st.floats(0, 1.7e308), min_size=1, max_size=30))
    def test_sums_of_floats_have_no_error(self, numbers: list[float]) -> None:
        assume(any(numbers))
        read = read_weights(np.array(numbers), len(numbers))
        [total] = read.totals(np.zeros(len(numbers), dtype=np.intp), 1)
        exact = read.units is not None
        assert total == sum(_value(n, as_float=not exact) for n in numbers)

    @given(st.lists(st.floats(0, 1.7e308), min_size=1, max_size=20), st.integers(20, 50))
    def test_scaled_weights_fit_and_keep_every_row(self, numbers: list[float], bits: int) -> None:
        assume(any(numbers))
        scaled = scale_given(read_weights(np.array(numbers), len(numbers)), 2**bits, 2**20)
        assert int(scaled.values.sum()) <= 2**bits
        assert ((scaled.values > 0) == (np.array(numbers) > 0)).all()


class TestErrorWeights:
    def test_what_fits_is_exact(self) -> None:
        codes, wanted = [0, 0, 1], [Fraction(1, 3), Fraction(5, 7)]
        found = _weigh([0.1, 0.25, 2], codes, wanted, 2**40)
        assert found.is_exact
        assert _products(found, codes) == [Fraction(1, 30), Fraction(1, 12), Fraction(10, 7)]

    def test_rows_of_a_class_may_have_a_factor_of_their_own(self) -> None:
        """Seven rows of one class weigh 2**40 each, those of the other one unit."""
        codes, wanted = [0] * 7 + [1] * 3, [Fraction(1, 2**40), Fraction(1)]
        found = _weigh([2**40] * 7 + [1] * 3, codes, wanted, 100)
        assert found.is_exact
        assert _products(found, codes) == [1] * 10

    def test_balanced_totals_far_apart_are_exact(self) -> None:
        codes = [0] * 1000 + [1]
        weights = [1000] * 1000 + [Fraction(1, 10**6)]
        read = read_weights(weights, 1001)
        totals = read.totals(np.array(codes), 2)
        wanted = class_fractions("balanced", [0, 1], totals)
        found = _weigh(weights, codes, wanted, 2**40)
        assert found.is_exact
        products = _products(found, codes)
        assert sum(products[:1000]) == products[1000]

    @given(
        st.lists(NUMBERS, min_size=1, max_size=12),
        st.lists(st.fractions(0, 10**12, max_denominator=10**9), min_size=3, max_size=3),
        st.integers(10, 54),
        st.randoms(use_true_random=False),
    )
    def test_products_are_exact_or_rounded_as_stated(
        self, weights: list[Any], wanted: list[Fraction], bits: int, random: Any
    ) -> None:
        codes = [random.randrange(3) for _ in weights]
        assume(any(wanted[k] for k in codes))
        found = _weigh(weights, codes, wanted, 2**bits)
        products = _products(found, codes)
        exact = [_value(w) * wanted[k] for w, k in zip(weights, codes, strict=True)]
        assert sum(products) <= 2**bits * found.unit
        if found.is_exact:
            assert products == exact
            assert found.worst == 0
            return
        for product, weight, k in zip(products, weights, codes, strict=True):
            wished = _value(weight, as_float=True) * wanted[k]
            units = max(round(wished / found.unit), 1) if wished else 0
            assert product == units * found.unit
        change = sum(abs(p - e) for p, e in zip(products, exact, strict=True))
        assert change <= found.rounding <= change * Fraction(101, 100) + sum(exact) / 2**50
        share = max(abs(p / e - 1) for p, e in zip(products, exact, strict=True) if e)
        assert share <= Fraction(2**54 - 1, 2**54) or found.worst > 2**-20
        if share < 10**300:
            assert float(share) == pytest.approx(found.worst, rel=1e-6, abs=1e-15)

    @given(st.lists(st.floats(0.5, 1.0), min_size=2, max_size=40))
    def test_weights_of_one_size_are_rounded_by_a_millionth_of_a_millionth(
        self, weights: list[float]
    ) -> None:
        codes = [i % 2 for i in range(len(weights))]
        found = _weigh(np.array(weights), codes, [Fraction(1, 3), Fraction(2, 7)], 2**50)
        assert found.rounding <= Fraction(len(weights), 10**12)


class TestClassFractions:
    def test_without_class_weights_all_count_the_same(self) -> None:
        assert class_fractions(None, ["a", "b"], [3, 4]) == [1, 1]

    def test_balanced_is_the_exact_fraction(self) -> None:
        totals = [30, 50, 20]
        found = class_fractions("balanced", [0, 1, 2], totals)
        assert found == [Fraction(100, 3 * t) for t in totals]

    def test_balanced_leaves_classes_without_rows_out(self) -> None:
        found = class_fractions("balanced", [0, 1, 2], [30, 0, 10])
        assert found == [Fraction(40, 60), 0, Fraction(40, 20)]

    def test_given_weights_are_exact_and_others_are_one(self) -> None:
        assert class_fractions({"b": 2.5}, ["a", "b"], [1, 1]) == [1, Fraction(5, 2)]

    def test_keys_of_absent_classes_are_fine_if_all_present_ones_are_named(self) -> None:
        assert class_fractions({0: 1, 1: 2, 2: 3}, [0, 2], [1, 1]) == [1, 3]

    @pytest.mark.parametrize(
        "class_weight, message",
        [
            ({0: -1}, r"class_weight\[0\] = -1 is negative"),
            ({0: float("nan")}, r"class_weight\[0\] must be a finite number"),
            ({0: 0, 1: 0}, "weight zero to every class"),
            ({"yes": 2}, r"names \['yes'\]"),
            ("equal", "'balanced' or None, got 'equal'"),
            ([1, 2], "must be a dict"),
        ],
    )
    def test_bad_class_weights_are_refused(self, class_weight: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            class_fractions(class_weight, [0, 1], [5, 5])
