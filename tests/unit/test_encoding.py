"""Cut points, and the encoder that turns raw tables into 0/1 columns."""

from __future__ import annotations

import math
import pickle
import warnings
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import OptimalTreeClassifier
from certree.datasets import load_credit
from certree.encoding import Category, Flag, Missing, TableEncoder, Threshold
from certree.encoding._cuts import AUTO_THRESHOLDS, choose_gaps, midpoints
from certree.encoding._test_list import Cuts

NAN = np.nan
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@parametrize_with_checks(
    [
        TableEncoder(),
        TableEncoder(thresholds="all"),
        TableEncoder(thresholds=4, categorical_features=[0]),
    ]
)
def test_scikit_learn_accepts_the_encoder(estimator: Any, check: Any) -> None:
    check(estimator)


def choose_cuts(column: Any, *rules: Any) -> Any:
    """Return the cut points of a column, as an array."""
    return np.array(list(Cuts.between(*choose_gaps(column, *rules))))


def _words(X: Any, **options: Any) -> list[str]:
    encoder = TableEncoder(**options)
    encoder.fit(X)
    return [str(test) for test in encoder.tests_]


def _column(*values: Any) -> list[list[Any]]:
    return [[value] for value in values]


class TestMidpoints:
    @given(FINITE, FINITE)
    def test_a_cut_separates_its_neighbours(self, a: float, b: float) -> None:
        assume(a != b)
        low, high = min(a, b), max(a, b)
        (cut,) = midpoints(np.array([low]), np.array([high]))
        assert low <= cut < high

    @given(FINITE)
    def test_also_where_there_is_no_number_between_them(self, low: float) -> None:
        assume(low < 1e308)
        high = float(np.nextafter(low, np.inf))
        assert midpoints(np.array([low]), np.array([high])) == [low]

    @given(FINITE, FINITE)
    def test_a_cut_is_the_shortest_decimal_in_the_middle_half(self, a: float, b: float) -> None:
        assume(a != b)
        self._compare(min(a, b), max(a, b))

    @given(FINITE, st.integers(1, 1000))
    def test_also_between_near_numbers(self, low: float, steps: int) -> None:
        bits = np.array([abs(low)]).view(np.int64) + steps
        high = float(bits.view(np.float64)[0])
        assume(math.isfinite(high))
        self._compare(abs(low), high)
        self._compare(-high, -abs(low))

    @given(st.floats(-(2.0**99), 2.0**99, width=32), st.integers(1, 2000), st.integers(0, 2000))
    def test_float32_still_separates_the_neighbours(self, near: float, a: int, b: int) -> None:
        """Of two numbers around one of float32, in steps of a thousandth of its."""
        step = float(np.spacing(np.float32(abs(near)))) / 1000
        low, high = near - a * step, near + b * step
        if low < high:
            self._compare(low, high)

    @given(st.decimals(-1000, 1000, places=3), st.decimals("0.001", 1000, places=3))
    def test_also_between_decimals(self, low: Decimal, gap: Decimal) -> None:
        assume(low + gap != low)
        self._compare(float(low), float(low + gap))

    @given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 5000))
    def test_also_between_integers_that_float64_rounds(self, low: int, gap: int) -> None:
        assume(float(low) < float(low + gap))
        self._compare(float(low), float(low + gap))

    def _compare(self, low: float, high: float) -> None:
        """Compare a cut with exact arithmetic, up to the last bits of the interval's ends."""
        with localcontext(prec=1500), np.errstate(over="ignore"):
            self._compare_exactly(low, high)

    def _compare_exactly(self, low: float, high: float) -> None:
        (cut,) = midpoints(np.array([low]), np.array([high])).tolist()
        assert low <= cut < high
        lower, upper = np.float32(low), np.float32(high)
        if -np.inf < lower < upper < np.inf:
            assert float(lower) <= cut
            assert np.float32(cut) < upper
        slack = Decimal(math.ulp(max(abs(low), abs(high))))
        gap = Decimal(high) - Decimal(low)
        if abs(upper) < np.inf and gap < 4 * Decimal(abs(float(np.spacing(upper)))):
            return
        assert cut > low or math.nextafter(low, high) == high
        if gap < 16 * slack:
            return
        first, last = Decimal(low) + gap / 4, Decimal(high) - gap / 4
        middle = (Decimal(low) + Decimal(high)) / 2
        assert first - slack <= Decimal(cut) <= last + slack
        shortest = _shortest(first + slack, middle, last - slack)
        written = Decimal(repr(cut))
        assert _n_digits(written) <= _n_digits(shortest)
        if _n_digits(written) == _n_digits(shortest):
            assert abs(written - middle) <= abs(shortest - middle) + gap / 32

    @pytest.mark.parametrize(
        "low, high, cut",
        [
            (35, 36, 35.5),
            (0.1, 0.2, 0.15),
            (1 / 3, 2 / 3, 0.5),
            (1.23456, 1.23467, 1.2346),
            (1000, 2001, 1500),
            (-2001, -1000, -1500),
            (99, 101, 100),
            (3, 15, 9),
            (-1, 2, 0),
            (0, 2**53 - 1, 5e15),
            (2**60, 2**60 + 256, 2**60),
            (1e-18, 2e-18, 1.5e-18),
            (1e20, 2e20, 1.5e20),
            (-5e-324, 0, -5e-324),
            (0, 1e-323, 5e-324),
            (1e-320, 3e-320, 2e-320),
            (-1.7e308, 1.7e308, 0.0),
            (1e308, 1.7e308, 1.4e308),
        ],
    )
    def test_cuts_read_well(self, low: float, high: float, cut: float) -> None:
        assert midpoints(np.array([low], dtype=float), np.array([high], dtype=float)) == [cut]

    def test_many_cuts_at_once_are_those_of_each(self) -> None:
        rng = np.random.default_rng(0)
        values = np.unique(rng.normal(size=300) * 10.0 ** rng.integers(-320, 308, 300))
        cuts = midpoints(values[:-1], values[1:])
        alone = [midpoints(values[i : i + 1], values[i + 1 : i + 2])[0] for i in range(len(cuts))]
        assert cuts.tolist() == alone


def _shortest(first: Decimal, middle: Decimal, last: Decimal) -> Decimal:
    """Return the decimal of fewest digits between two others, and of several the most central."""
    if first <= 0 <= last:
        return Decimal(0)
    # Rounding to k digits gives the nearest decimal of k digits.
    rounded = (Context(prec=digits).create_decimal(middle) for digits in range(1, 800))
    return next(value for value in rounded if first <= value <= last)


def _n_digits(value: Decimal) -> int:
    return 0 if value == 0 else len("".join(map(str, value.as_tuple().digits)).rstrip("0"))


class TestCuts:
    def test_all_midpoints(self) -> None:
        assert choose_cuts(np.array([3.0, 1.0, 1.0, 2.0]), None).tolist() == [1.5, 2.5]
        assert choose_cuts(np.array([3.0, 3.0]), None).tolist() == []

    def test_all_keeps_every_distinct_value_apart(self) -> None:
        column = np.random.RandomState(0).normal(size=1000)
        cuts = choose_cuts(column, None)
        assert len(cuts) == 999
        assert len(np.unique(np.searchsorted(cuts, column))) == 1000

    def test_quantiles_split_rows_evenly(self) -> None:
        column = np.random.RandomState(0).normal(size=1000)
        cuts = choose_cuts(column, 4)
        below = np.searchsorted(np.sort(column), cuts, side="right")
        assert below.tolist() == [200, 400, 600, 800]

    @pytest.mark.parametrize(
        "n_distinct, n_cuts",
        [(AUTO_THRESHOLDS, AUTO_THRESHOLDS - 1), (AUTO_THRESHOLDS + 1, 32), (500, 32)],
    )
    def test_auto_takes_all_of_few_and_quantiles_of_many(
        self, n_distinct: int, n_cuts: int
    ) -> None:
        assert len(choose_cuts(np.arange(n_distinct, dtype=float), 0)) == n_cuts

    def test_ties_give_fewer_cuts_but_no_duplicates(self) -> None:
        column = np.array([0.0] * 90 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        cuts = choose_cuts(column, 3)
        assert cuts.tolist() == [0.5]

    @given(
        st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), min_size=1, max_size=60),
        st.integers(1, 10),
        st.sampled_from([1, 7, 2**55]),
    )
    def test_a_row_of_weight_two_is_a_row_twice(
        self, rows: list[tuple[int, int]], limit: int, scale: int
    ) -> None:
        values = np.array([v for v, _ in rows], dtype=float)
        weights = np.array([w for _, w in rows], dtype=np.int64)
        repeated = choose_cuts(np.repeat(values, weights), limit)
        assume(int(weights.sum()) * scale < 2**62)
        weighted = choose_cuts(values, limit, weights * scale)
        assert repeated.tolist() == weighted.tolist()
        assert len(repeated) <= limit


class TestTests:
    """Which tests a column gives."""

    @pytest.mark.parametrize(
        "X, words",
        [
            (_column(35, 20, 20), ["x0 <= 30"]),
            (
                _column(35, None, 20, 50),
                [
                    "x0 <= 30",
                    "x0 <= 40",
                    "x0 <= 30 or missing",
                    "x0 <= 40 or missing",
                    "x0 is missing",
                ],
            ),
            (_column(7, None, 7), ["x0 is missing"]),
            (_column(7, 7), []),
            (_column(None, None), []),
            (_column(0, 1, 1), ["x0 = 1"]),
            (_column(1.0, 1.0), ["x0 = 1"]),
            (_column(0, None, 1), ["x0 = 1", "x0 = 1 or missing", "x0 is missing"]),
            (_column(True, False), ["x0"]),
            (_column(True, None, False), ["x0", "x0 or missing", "x0 is missing"]),
            (_column("b", "a", "c"), ["x0 = a", "x0 = b", "x0 = c"]),
            (_column("no", "yes"), ["x0 = yes"]),
            (_column("no", None, "yes"), ["x0 = no", "x0 = yes", "x0 is missing"]),
            (_column("a", None), ["x0 is missing"]),
            (_column("a", "a"), []),
        ],
    )
    def test_by_kind_of_column(self, X: Any, words: list[str]) -> None:
        assert _words(X) == words

    def test_a_binary_table_has_one_flag_per_column(self) -> None:
        X = np.random.RandomState(0).randint(0, 2, (50, 4))
        for dtype in (np.int64, np.uint8, np.float32, bool, object):
            encoder = TableEncoder().fit(X.astype(dtype))
            boolean = dtype is bool
            assert encoder.tests_ == [Flag(i, f"x{i}", boolean) for i in range(4)]
            encoded = encoder.transform(X.astype(dtype))
            assert encoded.dtype == np.uint8
            assert encoded.flags.f_contiguous
            np.testing.assert_array_equal(encoded, X)

    def test_a_binary_table_may_have_other_values_later(self) -> None:
        encoder = TableEncoder().fit(np.array([[0.0, 1.0], [1.0, 0.0]]))
        assert encoder.transform(np.array([[NAN, 0.7]])).tolist() == [[0, 1]]
        assert encoder.transform([[True, None]]).tolist() == [[1, 0]]

    @pytest.mark.parametrize(
        "declared", ["all", ["size"], [1], [-1], [False, True], np.array([False, True])]
    )
    def test_declared_categories(self, declared: Any) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"flag": [0, 1, 0], "size": [3, 5, 4]})
        words = _words(frame, categorical_features=declared)
        assert words == ["flag = 1", "size = 3", "size = 4", "size = 5"]
        assert _words(frame) == ["flag = 1", "size <= 3.5", "size <= 4.5"]
        assert _words(frame, categorical_features=[]) == _words(frame)

    def test_text_stays_category_when_others_are_declared(self) -> None:
        X = [["a", 3], ["b", 4], ["c", 5]]
        assert _words(X, categorical_features=[1])[:3] == ["x0 = a", "x0 = b", "x0 = c"]

    def test_thresholds_option(self) -> None:
        X = np.arange(100.0)[:, None]
        assert len(_words(X, thresholds="all")) == 99
        assert len(_words(X)) == 32
        assert _words(X, thresholds=3) == ["x0 <= 24.5", "x0 <= 49.5", "x0 <= 74.5"]
        assert _words(X, thresholds=np.int64(1)) == ["x0 <= 49.5"]

    @pytest.mark.parametrize("thresholds", ["some", 0, -1, 2.5, True, None])
    def test_bad_thresholds_are_refused(self, thresholds: Any) -> None:
        with pytest.raises(ValueError, match="thresholds must be 'auto', 'all', a number"):
            TableEncoder(thresholds=thresholds).fit([[1], [2]])

    @pytest.mark.parametrize(
        "declared, error, message",
        [
            ("color", ValueError, r"write \['color'\] for a single column"),
            (["color"], ValueError, "the table has no column names"),
            ([2], ValueError, "column index 2, but the table has 2 columns"),
            ([-3], ValueError, "column index -3"),
            ([True], ValueError, "1 truth values, but the table has 2 columns"),
            ([0, True], TypeError, "got True"),
            ([0.5], TypeError, "got 0.5"),
            (3, TypeError, "got 3"),
        ],
    )
    def test_bad_declarations_are_refused(self, declared: Any, error: type, message: str) -> None:
        with pytest.raises(error, match=message):
            TableEncoder(categorical_features=declared).fit([[1, 2], [3, 4]])

    def test_an_unknown_name_is_refused(self) -> None:
        pd = pytest.importorskip("pandas")
        with pytest.raises(ValueError, match=r"'colour'.*columns are \['color'\]"):
            TableEncoder(categorical_features=["colour"]).fit(pd.DataFrame({"color": [1, 2]}))

    def test_an_identifier_gives_a_warning_that_points_here(self) -> None:
        X = _column(*(f"id{i}" for i in range(30)))
        with pytest.warns(UserWarning, match="'x0' has a different value in nearly") as caught:
            TableEncoder().fit(X)
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("values", [["3", "10", None], [" 1.5", "-2e3"], ["01", "02", "nan"]])
    def test_numbers_as_text_give_a_warning_that_points_here(self, values: Any) -> None:
        X = [["a", value] for value in values]
        with pytest.warns(UserWarning, match="'x1' holds numbers as text") as caught:
            TableEncoder().fit(X)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        with pytest.warns(UserWarning, match="name it in categorical_features") as caught:
            OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 0][: len(X)])
        assert caught[0].filename == __file__

    def test_numbers_as_text_can_be_declared_categories(self) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"zip": ["10115", "20095"], "size": ["1", "x"]})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            TableEncoder(categorical_features=["zip"]).fit(frame)
            TableEncoder().fit(frame.astype({"zip": "category"}))
            TableEncoder().fit(_column(None, None))
            TableEncoder().fit(_column("", "7"))

    def test_other_categories_give_no_warning(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            TableEncoder().fit(_column(*(f"id{i}" for i in range(10))))
            TableEncoder().fit(_column(*(f"id{i // 2}" for i in range(600))))

    def test_hundreds_of_categories_are_fine(self) -> None:
        X = np.array(_column(*(f"c{i % 300:03}" for i in range(900))))
        encoded = TableEncoder().fit_transform(X)
        assert encoded.shape == (900, 300)
        np.testing.assert_array_equal(encoded.sum(axis=0), 3)
        np.testing.assert_array_equal(encoded.argmax(axis=1), np.arange(900) % 300)

    def test_number_categories_that_float64_confuses_are_refused(self) -> None:
        X = np.array(_column(2**60, 2**60 + 1, 5))
        with pytest.raises(ValueError, match=r"beyond 2\*\*53"):
            TableEncoder(categorical_features="all").fit(X)


class TestLevels:
    """Columns of ordered categories."""

    STAGES = ("I", "II", "III", "IV")

    @pytest.fixture(params=["pandas", "polars"])
    def stages(self, request: Any) -> Any:
        """Return a function that makes a table of one ordered column."""
        library = pytest.importorskip(request.param)

        def table(*values: str | None) -> Any:
            if request.param == "pandas":
                column = library.Categorical(values, categories=self.STAGES, ordered=True)
            else:
                column = library.Series(values, dtype=library.Enum(self.STAGES))
            return library.DataFrame({"stage": column})

        return table

    def test_cuts_lie_between_levels_that_occur(self, stages: Any) -> None:
        assert _words(stages("IV", "I", "III", "I")) == ["stage <= I", "stage <= III"]
        assert _words(stages("II", "II")) == []

    def test_missing_values_join_either_side(self, stages: Any) -> None:
        assert _words(stages("III", "I", None)) == [
            "stage <= I",
            "stage <= I or missing",
            "stage is missing",
        ]
        assert _words(stages("III", None)) == ["stage is missing"]

    def test_quantiles_are_those_of_the_ranks(self, stages: Any) -> None:
        X = stages(*["I"] * 10, "II", "III", *["IV"] * 12)
        assert _words(X, thresholds=1) == ["stage <= III"]
        assert (
            _words(X, thresholds="all") == _words(X) == [f"stage <= {s}" for s in self.STAGES[:3]]
        )

    def test_declared_categories_are_not_ordered(self, stages: Any) -> None:
        X = stages("III", "I", "II")
        words = _words(X, categorical_features=["stage"])
        assert words == ["stage = I", "stage = II", "stage = III"]

    def test_prediction_takes_categories_and_strings(self, stages: Any) -> None:
        encoder = TableEncoder().fit(stages("III", "I", "II", None))
        values = ["II", "III", "IV", None]
        expected = [[0, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 1, 1]]
        assert encoder.transform(stages(*values)).tolist() == expected
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the list has no names
            assert encoder.transform(_column(*values)).tolist() == expected
            assert encoder.transform(_column("V", "i")).tolist() == [[0] * 5] * 2
            with pytest.raises(ValueError, match="'stage' held text in training"):
                encoder.transform(_column(1, 2))

    def test_levels_may_be_numbers_in_any_order(self) -> None:
        pd = pytest.importorskip("pandas")
        column = pd.Categorical([5, 1, 3], categories=[5, 3, 1], ordered=True)
        encoder = TableEncoder().fit(pd.DataFrame({"grade": column}))
        assert [str(test) for test in encoder.tests_] == ["grade <= 5", "grade <= 3"]
        assert encoder.transform(pd.DataFrame({"grade": [5, 3, 1, 4]})).tolist() == [
            [1, 1],
            [0, 1],
            [0, 0],
            [0, 0],
        ]


class TestTransform:
    def test_missing_values_hold_where_the_test_says_so_and_unseen_ones_nowhere(self) -> None:
        X = [[35, "red", 1], [20, "blue", 0], [None, "green", 1]]
        encoder = TableEncoder().fit(X)
        assert [type(test).__name__ for test in encoder.tests_] == (
            ["Threshold", "Threshold", "Missing", "Category", "Category", "Category", "Flag"]
        )
        assert encoder.transform([[None, None, None]]).tolist() == [[0, 1, 1, 0, 0, 0, 0]]
        assert encoder.transform([[20, "pink", 0]]).tolist() == [[1, 1, 0, 0, 0, 0, 0]]

    def test_text_and_numbers_are_not_exchanged(self) -> None:
        encoder = TableEncoder(categorical_features=[0]).fit([["1", 1], ["2", 2], ["3", 3]])
        with pytest.raises(ValueError, match="'x0' held text in training, but now holds numbers"):
            encoder.transform([[1, 1]])
        with pytest.raises(ValueError, match="'x1' held numbers in training, but now holds text"):
            encoder.transform([["1", "1"]])

    def test_other_columns_are_refused(self) -> None:
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
        encoder = TableEncoder().fit(frame)
        message = "X has 3 features, but TableEncoder is expecting 2 features"
        with pytest.raises(ValueError, match=message), pytest.warns(UserWarning, match="names"):
            encoder.transform([[1, "x", 2]])
        with pytest.raises(ValueError, match="same order"):
            encoder.transform(frame[["b", "a"]])
        with pytest.raises(ValueError, match="unseen at fit time"):
            encoder.transform(frame.rename(columns={"b": "c"}))

    def test_the_make_of_the_table_does_not_matter(self) -> None:
        pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
        data = {
            "age": [35, 20, None, 61],
            "color": ["red", None, "blue", "tan"],
            "smoker": [True, False, True, False],
        }
        rows = [list(row) for row in zip(*data.values(), strict=True)]
        expected = TableEncoder().fit_transform(rows)
        for frame in (pd.DataFrame(data), pl.DataFrame(data)):
            encoder = TableEncoder().fit(frame)
            np.testing.assert_array_equal(encoder.transform(frame), expected)
            assert list(encoder.feature_names_in_) == list(data)
            assert encoder.get_feature_names_out()[0] == "age <= 30"

    @pytest.mark.parametrize("thresholds", ["all", "auto", 5])
    def test_every_column_is_what_its_test_says(self, thresholds: Any) -> None:
        loans = load_credit(as_frame=False)
        encoder = TableEncoder(thresholds=thresholds).fit(loans.data)
        encoded = encoder.transform(loans.data)
        for j, test in enumerate(encoder.tests_):
            values = loans.data[:, test.feature]
            absent = np.array([v is None or v != v for v in values])
            if isinstance(test, Missing):
                expected = absent
            elif isinstance(test, Threshold):
                expected = np.array(
                    [
                        bool(test.missing) if a else v <= test.threshold
                        for v, a in zip(values, absent, strict=True)
                    ]
                )
            elif isinstance(test, Category):
                expected = np.array(
                    [not a and v == test.value for v, a in zip(values, absent, strict=True)]
                )
            else:
                expected = np.array([v is True for v in values])
            np.testing.assert_array_equal(encoded[:, j], expected, err_msg=str(test))

    @pytest.mark.parametrize("values", [[0, 1, None], [2, 7, None], [True, False, None]])
    def test_every_division_of_two_values_and_a_missing_one_is_asked(self, values: Any) -> None:
        """Whatever the two values are, each of the three can be told from the other two."""
        encoded = TableEncoder().fit_transform(_column(*values))
        divisions = {frozenset((tuple(c), tuple(1 - c))) for c in encoded.T.astype(int)}
        assert len(divisions) == 3

    def test_all_thresholds_lose_nothing(self) -> None:
        """Rows are told apart by the tests if and only if they differ."""
        data = load_credit(as_frame=False).data[:, :6].astype(float)
        encoded = TableEncoder(thresholds="all").fit_transform(data)
        raw_groups = np.unique(np.nan_to_num(data, nan=-1), axis=0)
        assert len(np.unique(encoded, axis=0)) == len(raw_groups)

    def test_fit_transform_is_fit_then_transform(self) -> None:
        data = load_credit(as_frame=False).data
        np.testing.assert_array_equal(
            TableEncoder().fit_transform(data), TableEncoder().fit(data).transform(data)
        )

    def test_rows_of_weight_zero_are_not_looked_at(self) -> None:
        X = [[1, "a"], [2, "b"], [9, "c"], [None, None]]
        encoder = TableEncoder().fit(X, sample_weight=[1, 0.5, 0, 0])
        assert [str(test) for test in encoder.tests_] == ["x0 <= 1.5", "x1 = b"]
        assert encoder.fit_transform(X, sample_weight=[1, 1, 0, 0]).shape == (4, 2)

    def test_weights_move_the_quantiles(self) -> None:
        X = np.arange(4.0)[:, None]
        encoder = TableEncoder(thresholds=1).fit(X, sample_weight=[1, 1, 1, 9])
        assert [str(test) for test in encoder.tests_] == ["x0 <= 2.5"]


class TestEstimator:
    def test_output_can_be_a_frame(self) -> None:
        pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
        X = pd.DataFrame({"age": [35, 20], "color": ["red", "blue"]})
        encoded = TableEncoder().set_output(transform="pandas").fit_transform(X)
        assert list(encoded.columns) == ["age <= 30", "color = red"]
        assert encoded.to_numpy().tolist() == [[0, 1], [1, 0]]
        encoded = TableEncoder().fit(X).set_output(transform="polars").transform(X)
        assert isinstance(encoded, pl.DataFrame)
        assert encoded.columns == ["age <= 30", "color = red"]

    def test_names_can_be_given_for_a_table_without(self) -> None:
        encoder = TableEncoder().fit([[35, "red"], [20, "blue"]])
        assert encoder.get_feature_names_out(["age", "color"]).tolist() == [
            "age <= 30",
            "color = red",
        ]
        assert encoder.get_feature_names_out().tolist() == ["x0 <= 30", "x1 = red"]
        with pytest.raises(ValueError, match=r"should have length equal.*\(2\), got 1"):
            encoder.get_feature_names_out(["age"])

    def test_clone_and_pickle(self) -> None:
        loans = load_credit(as_frame=False)
        encoder = TableEncoder(thresholds=7, categorical_features=[5]).fit(loans.data)
        back = pickle.loads(pickle.dumps(encoder))
        assert back.tests_ == encoder.tests_
        np.testing.assert_array_equal(back.transform(loans.data), encoder.transform(loans.data))
        copy = clone(encoder)
        assert copy.get_params() == encoder.get_params()
        assert copy.get_params()["thresholds"] == 7
        with pytest.raises(NotFittedError):
            copy.transform(loans.data)
        with pytest.raises(NotFittedError):
            copy.get_feature_names_out()

    def test_refitting_forgets_the_old_table(self) -> None:
        pd = pytest.importorskip("pandas")
        encoder = TableEncoder().fit(pd.DataFrame({"a": [0, 1]}))
        encoder.fit(np.array([[1.0, 2.0], [3.0, 4.0]]))
        assert not hasattr(encoder, "feature_names_in_")
        assert encoder.n_features_in_ == 2
        assert encoder.transform([[1, 4]]).tolist() == [[1, 0]]

    def test_it_works_in_a_pipeline(self) -> None:
        loans = load_credit(as_frame=False)
        model = make_pipeline(TableEncoder(), DecisionTreeClassifier(random_state=0))
        assert model.fit(loans.data, loans.target).score(loans.data, loans.target) > 0.99
