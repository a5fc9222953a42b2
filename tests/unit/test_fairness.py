"""Groups, rates and limits of fairness: exact to the last unit."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree.encoding._row_cells import constant_within
from certree.proofs._fair_limits import fair_limits
from certree.tasks._rates import (
    CONSTRAINTS,
    compare_groups,
    disparity,
    needs_two_classes,
    read_groups,
    read_tolerance,
)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (0, Fraction(0)),
        (0.1, Fraction(1, 10)),
        (0.2, Fraction(1, 5)),
        ("1/3", Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (np.float64(0.3), Fraction(3, 10)),
        (1, Fraction(1)),
    ],
)
def test_a_tolerance_is_the_decimal_that_is_written(given: Any, read: Fraction) -> None:
    assert read_tolerance(given) == read


@pytest.mark.parametrize("given", [-0.01, 1.01, 2, "nan", float("inf")])
def test_a_tolerance_outside_of_zero_to_one_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        read_tolerance(given)


@pytest.mark.parametrize(
    "given",
    [
        ["f", "m", "f"],
        np.array(["f", "m", "f"]),
        np.array(["f", "m", "f"], dtype=object),
        [["f"], ["m"], ["f"]],
    ],
)
def test_texts_are_groups(given: Any) -> None:
    groups = read_groups(given, 3)
    assert groups.names == ("f", "m")
    assert groups.codes.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ([True, False, True], (False, True)),
        ([1, 0, 1], (0, 1)),
        ([1.0, 0.0, 1.0], (0, 1)),
        (np.array([3, 1, 2], dtype=np.uint8), (1, 2, 3)),
        ([0.5, 1.5, 0.5], (0.5, 1.5)),
    ],
)
def test_numbers_and_truth_values_are_groups(given: Any, names: tuple[Any, ...]) -> None:
    assert read_groups(given, 3).names == names


def test_groups_of_frames_and_series() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    sex, old = ["f", "m", "f", "m"], [True, True, False, False]
    categories = pd.Categorical(sex, categories=["m", "f", "x"])
    for given in (pd.Series(sex), pl.Series(sex), pd.Series(categories), pd.DataFrame({"s": sex})):
        # A category without rows is no group.
        assert read_groups(given, 4).names == ("f", "m")
    expected = (("f", False), ("f", True), ("m", False), ("m", True))
    for frame in (pd.DataFrame({"sex": sex, "old": old}), pl.DataFrame({"sex": sex, "old": old})):
        groups = read_groups(frame, 4)
        assert groups.names == expected
        assert groups.codes.tolist() == [1, 3, 0, 2]


def test_only_combinations_that_occur_are_groups() -> None:
    groups = read_groups(np.array([[0, 0], [1, 0], [0, 0]]), 3)
    assert groups.names == ((0, 0), (1, 0))


@pytest.mark.parametrize(
    "given",
    [
        ["f", None, "m"],
        [1.0, float("nan"), 0.0],
        np.array(["f", float("nan"), "m"], dtype=object),
        [1.0, float("inf"), 0.0],
    ],
)
def test_missing_groups_are_refused_with_their_row(given: Any) -> None:
    with pytest.raises(ValueError, match=r"sensitive_features .*row 1"):
        read_groups(given, 3)


def test_missing_groups_of_pandas_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="row 2"):
        read_groups(pd.Series([1, 0, None], dtype="Int64"), 3)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (["f", "m"], ValueError, "2 entries, but X has 3 rows"),
        (["f", "f", "f"], ValueError, "only one group, 'f'"),
        (np.zeros((3, 2, 2)), ValueError, "shape"),
        (["f", 1, "m"], (TypeError, ValueError), "sensitive_features|X has"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), TypeError, "dtype"),
    ],
)
def test_bad_groups_are_refused(given: Any, error: Any, message: str) -> None:
    if message.startswith("sensitive_features|"):
        given = np.array(given, dtype=object)
    with pytest.raises(error, match=message):
        read_groups(given, 3)


def test_too_many_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="40 groups, but at most 16"):
        read_groups(np.arange(40), 40)


def test_groups_without_weight_do_not_count() -> None:
    with pytest.raises(ValueError, match="only one group"):
        read_groups(["f", "m", "f"], 3, kept=np.array([0, 2]))


def test_tests_that_say_nothing_but_the_group() -> None:
    groups = read_groups([0, 0, 1, 1], 4)
    columns = np.array(
        # same, negation, constant, another, less
        [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0], [1, 0, 1, 0, 0], [1, 0, 1, 1, 1]],
        dtype=np.uint8,
    )
    assert constant_within(columns, groups.codes).tolist() == [True, True, False, False, False]


def test_of_three_groups_any_part_says_nothing_but_the_group() -> None:
    groups = read_groups(["a", "b", "c", "c"], 4)
    columns = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0], [0, 0, 1]], dtype=np.uint8)
    assert constant_within(columns, groups.codes).tolist() == [True, True, False]


def comparison(constraint: str, groups: Any, codes: Any, weights: Any = None) -> Any:
    codes = np.asarray(codes)
    weights = None if weights is None else np.asarray(weights, dtype=np.int64)
    n_classes = max(2, int(codes.max()) + 1)
    read = read_groups(groups, len(codes))
    kinds = dict.fromkeys(CONSTRAINTS[constraint], Fraction(1))
    return compare_groups(kinds, read, codes, 1, n_classes, weights, "yes")


def test_rates_by_hand() -> None:
    groups, codes = ["a"] * 4 + ["b"] * 3, [1, 1, 0, 0, 1, 0, 0]
    predicted = np.array([1, 0, 1, 0, 1, 1, 0])
    expected = {
        "demographic_parity": [[Fraction(1, 2), Fraction(2, 3)]],
        "equal_opportunity": [[Fraction(1, 2), Fraction(1)]],
        "predictive_equality": [[Fraction(1, 2), Fraction(1, 2)]],
        "equalized_odds": [[Fraction(1, 2), Fraction(1)], [Fraction(1, 2), Fraction(1, 2)]],
        "accuracy_parity": [[Fraction(1, 2), Fraction(1, 3)]],
    }
    for constraint, rates in expected.items():
        assert comparison(constraint, groups, codes).rates(predicted) == rates
    assert disparity(expected["equalized_odds"]) == Fraction(1, 2)


def test_weights_are_as_good_as_repeated_rows() -> None:
    groups, codes, weights = [0, 0, 1, 1], [1, 0, 1, 0], [3, 1, 2, 5]
    predicted = np.array([1, 0, 0, 1])
    for constraint in CONSTRAINTS:
        weighted = comparison(constraint, groups, codes, weights).rates(predicted)
        repeated = comparison(
            constraint, np.repeat(groups, weights), np.repeat(codes, weights)
        ).rates(np.repeat(predicted, weights))
        assert weighted == repeated


@pytest.mark.parametrize(
    ("constraint", "codes", "message"),
    [
        ("equal_opportunity", [1, 0, 0, 0], r"true positive rate.*group 'b'.*class 'yes'"),
        ("predictive_equality", [1, 1, 1, 0], r"false positive rate.*group 'a'.*other than 'yes'"),
        ("equalized_odds", [1, 0, 1, 1], r"false positive rate.*group 'b'"),
    ],
)
def test_a_group_without_a_rate_is_refused(constraint: str, codes: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        comparison(constraint, ["a", "a", "b", "b"], codes)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_limits_hold_exactly_when_rates_are_close(constraint: str, n_groups: int) -> None:
    """For all kinds of labels, and tolerances that are hit exactly, and missed by a hair."""
    rng = np.random.default_rng(n_groups)
    n_rows = 7 * n_groups
    n_classes = 2 if needs_two_classes(constraint) else 3
    groups = np.arange(n_rows) % n_groups
    codes = (np.arange(n_rows) // n_groups + rng.integers(0, 2, n_rows)) % n_classes
    weights = rng.integers(1, 4, n_rows)
    compared = comparison(constraint, groups, codes, weights)
    hair = Fraction(1, 10**9)
    for _ in range(40):
        predicted = rng.integers(0, n_classes, n_rows)
        apart = disparity(compared.rates(predicted))
        for tolerance in (Fraction(0), Fraction(1, 10), Fraction(1, 5), Fraction(1, 3), apart):
            assert within(compared, tolerance, predicted) == (apart <= tolerance)
        if apart > 0:
            assert not within(compared, apart - hair, predicted)


def within(compared: Any, tolerance: Fraction, predicted: Any) -> bool:
    limits = fair_limits(compared, tolerance)
    sums = limits.quantities[np.arange(len(predicted)), predicted].sum(axis=0)
    values = (limits.planes @ sums).tolist()
    # What the integers stand for are differences of rates.
    rates = dict(
        zip([kind.name for kind in compared.kinds], compared.rates(predicted), strict=True)
    )
    for value, scale, (name, g, h) in zip(values, limits.scales, limits.pairs, strict=True):
        assert Fraction(value, scale) == rates[name][g] - rates[name][h]
    return all(value <= bound for value, bound in zip(values, limits.bounds, strict=True))


def test_two_groups_need_one_signed_sum_for_each_rate() -> None:
    limits = fair_limits(comparison("equalized_odds", [0, 0, 1, 1], [0, 1, 0, 1]), Fraction(0))
    assert limits.quantities.shape == (4, 2, 2)
    assert len(limits.bounds) == 4
    assert len(set(limits.names)) == 4


def test_all_pairs_of_groups_are_compared() -> None:
    limits = fair_limits(comparison("demographic_parity", [0, 1, 2], [0, 1, 1]), Fraction(1, 2))
    assert {(g, h) for _, g, h in limits.pairs} == set(itertools.permutations(range(3), 2))


def test_totals_with_a_common_factor_make_small_integers() -> None:
    limits = fair_limits(comparison("demographic_parity", [0] * 60 + [1] * 40, [0, 1] * 50), 0)
    assert set(np.unique(limits.quantities).tolist()) == {-3, 0, 2}
    assert limits.scales == (120, 120)
