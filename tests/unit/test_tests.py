"""The questions that trees ask: answers, words, JSON."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.encoding import (
    Category,
    Flag,
    Level,
    Missing,
    Multiway,
    Test,
    Threshold,
    encode_tests,
    read_table,
)
from certree.encoding import test_from_dict as read_test
from certree.encoding._tests import format_value

NAN = np.nan
STAGES = ("I", "II", "III")
ALL_TESTS: list[Test] = [
    Threshold(0, "age", 35.5),
    Category(1, "color", "red"),
    Category(2, "size", 3),
    Category(2, "size", 3.5),
    Category(2, "size", True),
    Flag(3, "smoker"),
    Flag(3, "smoker", True),
    Missing(4, "income"),
    Threshold(0, "age", 35.5, True),
    Threshold(0, "age", 35.5, False),
    Category(1, "color", "red", False),
    Flag(3, "smoker", False, True),
    Level(5, "stage", STAGES, "II"),
    Level(5, "stage", STAGES, "II", True),
    Level(5, "grade", (3, 1, 2.5), 1, False),
]


def _text(*values: Any) -> Any:
    return np.array(values, dtype=object)


@pytest.mark.parametrize(
    "test, column, outcomes",
    [
        (Threshold(0, "x", 2.0), np.array([1.0, 2.0, 2.5, NAN]), [0, 0, 1, 1]),
        (Threshold(0, "x", 0.5), np.array([True, False]), [1, 0]),
        (Category(0, "x", "a"), _text("a", "b", None, "A"), [0, 1, 1, 1]),
        (Category(0, "x", 3), np.array([3.0, 2.0, NAN]), [0, 1, 1]),
        (Category(0, "x", 0.1), np.array([0.1, 0.2]), [0, 1]),
        (Category(0, "x", True), np.array([True, False]), [0, 1]),
        (Category(0, "x", True), np.array([1.0, 0.0]), [0, 1]),
        (Category(0, "x", "a"), np.array([NAN, NAN]), [1, 1]),
        (Flag(0, "x"), np.array([1.0, 0.0, NAN, 0.7]), [0, 1, 1, 0]),
        (Flag(0, "x", True), np.array([True, False]), [0, 1]),
        (Missing(0, "x"), np.array([1.0, NAN]), [1, 0]),
        (Missing(0, "x"), np.array([True, False]), [1, 1]),
        (Missing(0, "x"), _text("a", None, ""), [1, 0, 1]),
        (Threshold(0, "x", 2.0, False), np.array([1.0, 2.5, NAN]), [0, 1, 1]),
        (Threshold(0, "x", 2.0, True), np.array([1.0, 2.5, NAN]), [0, 1, 0]),
        (Category(0, "x", "a", False), _text("a", "b", None), [0, 1, 1]),
        (Flag(0, "x", False, True), np.array([1.0, 0.0, NAN]), [0, 1, 0]),
        (Flag(0, "x", True, True), np.array([True, False]), [0, 1]),
        (Level(0, "x", STAGES, "II"), _text("I", "II", "III", "IV", None), [0, 0, 1, 1, 1]),
        (Level(0, "x", STAGES, "II", True), _text("I", "III", "IV", None), [0, 1, 1, 0]),
        (Level(0, "x", STAGES, "II", True), np.array([NAN, NAN]), [0, 0]),
        (Level(0, "x", (3, 1), 3), np.array([3.0, 1.0, 2.0, NAN]), [0, 1, 1, 1]),
    ],
)
def test_outcome_zero_is_where_the_test_holds(test: Test, column: Any, outcomes: list[int]) -> None:
    answer = test.outcome(column)
    assert answer.dtype == np.int32
    assert answer.tolist() == outcomes
    assert test.n_outcomes == 2


@pytest.mark.parametrize(
    "test, holds, holds_not",
    [
        (Threshold(0, "age", 35.5), "age <= 35.5", "age > 35.5"),
        (Threshold(0, "age", 35), "age <= 35", "age > 35"),
        (Threshold(0, "age", -0.1), "age <= -0.1", "age > -0.1"),
        (Category(0, "color", "red"), "color = red", "color != red"),
        (Category(0, "color", 3.0), "color = 3", "color != 3"),
        (Category(0, "color", ""), 'color = ""', 'color != ""'),
        (Category(0, "color", " red"), 'color = " red"', 'color != " red"'),
        (Flag(0, "smoker"), "smoker = 1", "smoker = 0"),
        (Flag(0, "smoker", True), "smoker", "not smoker"),
        (Missing(0, "income"), "income is missing", "income is present"),
        (Threshold(0, "age", 35.5, True), "age <= 35.5 or missing", "age > 35.5"),
        (Threshold(0, "age", 35.5, False), "age <= 35.5", "age > 35.5 or missing"),
        (Category(0, "color", "red", False), "color = red", "color != red or missing"),
        (Flag(0, "smoker", False, True), "smoker = 1 or missing", "smoker = 0"),
        (Flag(0, "smoker", True, False), "smoker", "not smoker or missing"),
        (Level(0, "stage", STAGES, "II"), "stage <= II", "stage > II"),
        (Level(0, "stage", STAGES, "II", False), "stage <= II", "stage > II or missing"),
    ],
)
def test_both_outcomes_have_words(test: Test, holds: str, holds_not: str) -> None:
    assert (test.describe(0), test.describe(1)) == (holds, holds_not)
    assert str(test) == holds


@pytest.mark.parametrize("test", ALL_TESTS, ids=str)
def test_an_outcome_that_does_not_exist_is_refused(test: Test) -> None:
    with pytest.raises(ValueError, match="has outcomes 0 and 1, got 2"):
        test.describe(2)


@pytest.mark.parametrize("value", [1e15, 1e300, 0.1, 1 / 3, 5e-324, -1e-7])
def test_numbers_are_written_with_all_their_digits(value: float) -> None:
    assert float(format_value(value)) == value


@pytest.mark.parametrize("test", ALL_TESTS, ids=str)
def test_json_and_pickle_round_trips(test: Test) -> None:
    back = read_test(json.loads(json.dumps(test.to_dict())))
    assert back == test
    assert type(back) is type(test)
    assert back.describe(1) == test.describe(1)
    assert pickle.loads(pickle.dumps(test)) == test
    assert hash(back) == hash(test)


@pytest.mark.parametrize("test", ALL_TESTS, ids=str)
def test_dictionaries_of_older_versions_do_not_mention_missing_values(test: Test) -> None:
    values = test.to_dict()
    side = values.pop("missing", None)
    back = read_test(values)
    assert back.missing_outcome == (1 if side else test.missing_outcome)


@pytest.mark.parametrize("test", ALL_TESTS, ids=str)
def test_the_outcome_of_a_missing_value(test: Test) -> None:
    assert test.outcome(np.array([NAN])).tolist() == [test.missing_outcome]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Threshold(0, "x", 1, "yes"), "missing must be True, False or None, got 'yes'"),  # type: ignore[arg-type]
        (lambda: Flag(0, "x", False, 1), "missing must be True, False or None, got 1"),  # type: ignore[arg-type]
        (lambda: Category(0, "x", "a", True), "a category of its own and never equals 'a'"),
        (lambda: Level(0, "x", ("a", "b"), "c"), "must differ and contain 'c'"),
        (lambda: Level(0, "x", ("a", "a"), "a"), "must differ and contain 'a'"),
        (lambda: Level(0, "x", ("a", 1), "a"), "both text and numbers"),
        (lambda: Level(0, "x", "ab", "a"), "must be a list, got 'ab'"),  # type: ignore[arg-type]
    ],
)
def test_fields_that_make_no_sense_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_threshold_survives_json_to_the_last_bit(value: float) -> None:
    test = Threshold(0, "x", value)
    assert read_test(json.loads(json.dumps(test.to_dict()))).threshold == value  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value, plain", [(np.str_("a"), str), (np.float64(2.0), int), (np.int8(2), int), (2.5, float)]
)
def test_categories_become_plain_values(value: Any, plain: type) -> None:
    test = Category(0, "x", value)
    assert type(test.value) is plain
    assert test.value == value


@pytest.mark.parametrize("value", [None, NAN, ("a",), b"a"])
def test_what_is_no_category_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="category must be a string, a number"):
        Category(0, "x", value)


def test_tests_cannot_be_changed() -> None:
    with pytest.raises((FrozenInstanceError, TypeError)):
        ALL_TESTS[0].name = "other"


@pytest.mark.parametrize(
    "values, message",
    [
        ({"kind": "oracle", "feature": 0, "name": "x"}, "Unknown kind of question 'oracle'"),
        ({"feature": 0, "name": "x"}, "Unknown kind of question None"),
        ({"kind": "threshold", "feature": 0, "name": "x"}, "has the keys"),
        ({"kind": "missing", "feature": 0, "name": "x", "value": 1}, "has the keys"),
    ],
)
def test_dictionaries_of_no_test_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_test(values)


@pytest.mark.parametrize(
    "test",
    [Threshold(0, "x", 1), Flag(0, "x"), Category(0, "x", 1), Level(0, "x", (1, 2), 1)],
)
def test_text_where_numbers_were_is_refused(test: Test) -> None:
    with pytest.raises(ValueError, match="'x' held numbers in training, but now holds text"):
        test.outcome(_text("1", "2"))


@pytest.mark.parametrize("test", [Category(0, "x", "1"), Level(0, "x", ("1", "2"), "1")])
def test_numbers_where_text_was_are_refused(test: Test) -> None:
    for column in (np.array([1.0, NAN]), np.array([True])):
        with pytest.raises(ValueError, match="'x' held text in training, but now holds numbers"):
            test.outcome(column)


class TestEncodeTests:
    """Many tests at once give what each gives alone."""

    def _check(self, tests: list[Test], X: Any) -> None:
        table = read_table(X)
        encoded = encode_tests(tests, table)
        assert encoded.dtype == np.uint8
        assert encoded.flags.f_contiguous
        assert encoded.shape == (table.n_rows, len(tests))
        for j, test in enumerate(tests):
            alone = test.holds(table.column(test.feature))
            assert encoded[:, j].tolist() == alone.astype(int).tolist(), str(test)

    @given(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, -1.0]), min_size=1, max_size=5),
        st.lists(st.one_of(st.just(NAN), st.sampled_from([0.0, 0.5, 1.0, 3.0, -2.0])), min_size=1),
        st.lists(st.sampled_from([None, False, True]), min_size=5, max_size=5),
    )
    def test_thresholds(self, cuts: list[float], values: list[float], sides: list[Any]) -> None:
        tests: list[Test] = [
            Threshold(0, "x", cut, side) for cut, side in zip(cuts, sides, strict=False)
        ]
        self._check(tests, np.array(values)[:, None])

    @given(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=5),
        st.lists(st.sampled_from(["a", "b", "c", "d", "z", None]), min_size=1),
        st.lists(st.sampled_from([None, False, True]), min_size=5, max_size=5),
        st.permutations("abcd"),
    )
    def test_levels(
        self, cuts: list[str], values: list[Any], sides: list[Any], levels: list[str]
    ) -> None:
        tests: list[Test] = [
            Level(0, "x", tuple(levels), cut, side) for cut, side in zip(cuts, sides, strict=False)
        ]
        if any(values):
            self._check(tests, [[v] for v in values])
            self._check([*tests, Level(0, "x", ("z",), "z")], [[v] for v in values])

    def test_more_thresholds_than_a_byte_can_count(self) -> None:
        cuts: list[Test] = [Threshold(0, "x", float(c)) for c in range(700)]
        self._check(cuts, np.linspace(-3, 705, 101)[:, None])

    @given(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=5),
        st.lists(st.sampled_from(["a", "b", "z", None]), min_size=1),
    )
    def test_text_categories(self, categories: list[str], values: list[Any]) -> None:
        if any(values):
            self._check([Category(0, "x", c) for c in categories], [[v] for v in values])

    @given(
        st.lists(st.sampled_from([0, 1, 2.5, -3]), min_size=1, max_size=5),
        st.lists(st.sampled_from([0, 1, 2.5, 7, NAN]), min_size=1),
    )
    def test_number_categories(self, categories: list[float], values: list[float]) -> None:
        self._check([Category(0, "x", c) for c in categories], np.array(values)[:, None])

    def test_columns_and_kinds_in_any_order(self) -> None:
        X = [[1, "a", True], [None, None, False], [3, "b", True]]
        tests: list[Test] = [
            Category(1, "c", "b"),
            Threshold(0, "n", 2),
            Missing(1, "c"),
            Category(1, "c", "a"),
            Flag(2, "f", True),
            Threshold(0, "n", 0.5),
            Missing(0, "n"),
            Threshold(0, "n", 1),
        ]
        self._check(tests, X)

    def test_a_wholly_missing_column_has_no_category(self) -> None:
        tests: list[Test] = [Category(0, "x", "a"), Category(0, "x", "b"), Missing(0, "x")]
        assert encode_tests(tests, read_table([[None], [None]])).tolist() == [[0, 0, 1]] * 2

    @pytest.mark.parametrize(
        "tests, X",
        [
            ([Threshold(0, "x", 1), Threshold(0, "x", 2)], [["1"], ["2"]]),
            ([Category(0, "x", 1), Category(0, "x", 2)], [["1"], ["2"]]),
            ([Category(0, "x", "1"), Category(0, "x", "2")], [[1], [2]]),
        ],
    )
    def test_columns_of_another_type_are_refused(self, tests: list[Test], X: Any) -> None:
        with pytest.raises(ValueError, match="in training, but now holds"):
            encode_tests(tests, read_table(X))


def test_large_categories_meet_any_column() -> None:
    for test in (Category(0, "code", 2**64), Multiway(0, "code", [2**64, 1])):
        assert test.outcome(np.array([2.0**64, 1.0])).tolist() == [0, 1]
        assert test.outcome(np.array([True, True])).tolist() == [1, 1]
