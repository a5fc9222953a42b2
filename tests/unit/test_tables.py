"""Tables of any make are read as columns of numbers, flags and text."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree.encoding import TableEncoder, check_columns, read_table

NAN = np.nan


def _assert_column(X: Any, kind: str, values: list[Any], index: int = 0) -> None:
    table = read_table(X)
    assert table.kinds[index] == kind
    column = table.column(index)
    is_text = any(isinstance(v, str) for v in values)
    assert column.dtype == (object if is_text else column.dtype)
    assert column.dtype in (np.dtype(object), np.dtype(np.float64), np.dtype(np.bool_))
    if is_text:
        assert column.tolist() == values
    else:
        np.testing.assert_array_equal(column, values)


class TestArrays:
    @pytest.mark.parametrize(
        "dtype", ["i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "longdouble", ">f8"]
    )
    def test_numbers_of_any_type(self, dtype: str) -> None:
        X = np.array([[1, 2], [3, 4]], dtype=dtype)
        _assert_column(X, "number", [2.0, 4.0], 1)
        assert read_table(X).column(0).dtype == np.float64

    def test_booleans_are_flags(self) -> None:
        table = read_table(np.array([[True], [False]]))
        assert table.kinds == ["flag"]
        assert table.column(0).dtype == np.bool_

    @pytest.mark.parametrize("dtype", ["U3", "S3", object])
    def test_text_is_category(self, dtype: Any) -> None:
        _assert_column(np.array([["red"], ["tan"]], dtype=dtype), "text", ["red", "tan"])
        assert type(read_table(np.array([["red"]], dtype=dtype)).column(0)[0]) is str

    def test_columns_without_names_are_numbered(self) -> None:
        table = read_table(np.zeros((3, 2)))
        assert (table.names, table.has_names) == (["x0", "x1"], False)
        assert (table.n_rows, table.n_columns) == (3, 2)
        assert repr(table) == "Table(3 rows, 2 columns)"

    def test_names_can_be_given(self) -> None:
        table = read_table(np.zeros((3, 2)), names=["a", "b"])
        assert (table.names, table.has_names) == (["a", "b"], True)
        with pytest.raises(ValueError, match="names has 1 entries, but the table has 2 columns"):
            read_table(np.zeros((3, 2)), names=["a"])

    def test_masked_values_are_missing(self) -> None:
        masked = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
        _assert_column(masked, "number", [NAN, 4.0], 1)
        _assert_column(np.ma.array([[1.0], [2.0]]), "number", [1.0, 2.0])

    def test_rows_can_be_selected(self) -> None:
        for X in (np.array([[1.0], [2.0], [3.0]]), [["a"], ["b"], ["c"]]):
            table = read_table(X, names=["n"])
            part = table.select(np.array([True, False, True]))
            assert part.n_rows == 2
            assert part.names == ["n"]
            assert part.column(0).tolist() == table.column(0)[[0, 2]].tolist()


class TestObjects:
    @pytest.mark.parametrize(
        "values, kind, expected",
        [
            ([1, 2.5, None], "number", [1.0, 2.5, NAN]),
            ([Decimal("0.5"), Fraction(1, 4), np.float32(2)], "number", [0.5, 0.25, 2.0]),
            ([True, False], "flag", [True, False]),
            ([True, None], "flag", [1.0, NAN]),
            ([True, 2], "number", [1.0, 2.0]),
            (["a", None], "text", ["a", None]),
            (["a", NAN], "text", ["a", None]),
            (["a", np.float32(NAN), b"b", np.str_("c")], "text", ["a", None, "b", "c"]),
            ([None, None], "number", [NAN, NAN]),
            ([NAN, None], "number", [NAN, NAN]),
        ],
    )
    def test_kinds_follow_the_values(self, values: Any, kind: str, expected: Any) -> None:
        array = np.empty((len(values), 1), dtype=object)
        array[:, 0] = values
        _assert_column(array, kind, expected)

    def test_lists_keep_numbers_beside_text(self) -> None:
        X = [[35, "red", True], [20.5, "blue", False], [None, None, None]]
        table = read_table(X)
        assert table.kinds == ["number", "text", "flag"]
        np.testing.assert_array_equal(table.column(0), [35.0, 20.5, NAN])
        assert table.column(1).tolist() == ["red", "blue", None]

    @pytest.mark.parametrize("X", [[[1, 2], [3]], [["a"], ["b", "c"]], ([1, 2], [3, None, 4])])
    def test_ragged_lists_are_refused(self, X: Any) -> None:
        with pytest.raises(ValueError, match="rows have different lengths"):
            read_table(X)

    @pytest.mark.parametrize(
        "value, error, message",
        [
            ({"a": 1}, TypeError, "argument must be a string or a number.*'dict'"),
            ("text", TypeError, "column 1 holds both"),
            (1j, ValueError, "Complex data not supported: column 1"),
            (datetime.date(2020, 1, 1), ValueError, "dates or something else.*column 1"),
            (np.datetime64("2020-01-01"), ValueError, "dates or something else.*column 1"),
            (datetime.timedelta(1), ValueError, "dates or something else.*column 1"),
            (datetime.time(12), ValueError, "Times of day.*column 1"),
            (10**400, ValueError, "float64 cannot hold, in column 1"),
            (float("inf"), ValueError, "infinity.*column 1, row 0"),
        ],
    )
    def test_what_is_no_number_is_refused(self, value: Any, error: type, message: str) -> None:
        array = np.ones((3, 2), dtype=object)
        array[0, 1] = value
        with pytest.raises(error, match=message):
            read_table(array)


class TestRefusals:
    def test_complex(self) -> None:
        with pytest.raises(ValueError, match="Complex data not supported"):
            read_table(np.array([[1j, 2]]))

    @pytest.mark.parametrize("X", [np.arange(3.0), [1, 2, 3], ["a", "b"]])
    def test_one_dimension(self, X: Any) -> None:
        with pytest.raises(ValueError, match="Reshape your data"):
            read_table(X)

    def test_three_dimensions(self) -> None:
        with pytest.raises(ValueError, match="dim 3"):
            read_table(np.zeros((2, 2, 2)))

    @pytest.mark.parametrize("dtype", [float, object])
    def test_no_rows(self, dtype: Any) -> None:
        with pytest.raises(ValueError, match=r"0 sample\(s\) \(shape=\(0, 3\)\)"):
            read_table(np.empty((0, 3), dtype=dtype))

    def test_no_columns(self) -> None:
        message = r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"
        with pytest.raises(ValueError, match=message):
            read_table(np.empty((3, 0)))

    @pytest.mark.parametrize("sign", [1, -1])
    def test_infinities_with_their_place(self, sign: int) -> None:
        X = np.ones((4, 3), dtype=np.float32)
        X[0, 0] = NAN
        X[2, 1] = sign * np.inf
        with pytest.raises(ValueError, match=r"infinity.*column 1, row 2"):
            read_table(X)

    def test_finite_numbers_whose_sum_is_not(self) -> None:
        assert read_table(np.full((4, 1), 1e308)).n_rows == 4


class TestPandas:
    pd = pytest.importorskip("pandas")

    @pytest.mark.parametrize(
        "values, dtype, kind, expected",
        [
            ([1, 2], "int8", "number", [1.0, 2.0]),
            ([1, None], "float32", "number", [1.0, NAN]),
            ([1, None], "Int64", "number", [1.0, NAN]),
            ([1, 2], "UInt8", "number", [1.0, 2.0]),
            ([0.5, None], "Float32", "number", [0.5, NAN]),
            ([True, False], "bool", "flag", [True, False]),
            ([True, False], "boolean", "flag", [True, False]),
            ([True, None], "boolean", "flag", [1.0, NAN]),
            (["a", None], "object", "text", ["a", None]),
            (["a", None], "string", "text", ["a", None]),
            (["a", None], "category", "category", ["a", None]),
            ([3, None], "category", "category", [3.0, NAN]),
            ([True, None], "category", "flag", [1.0, NAN]),
            ([None, None], "category", "category", [NAN, NAN]),
            ([1, None], "object", "number", [1.0, NAN]),
        ],
    )
    def test_columns_by_their_type(self, values: Any, dtype: str, kind: str, expected: Any) -> None:
        frame = self.pd.DataFrame(
            {"other": ["a"] * len(values), "x": self.pd.Series(values, dtype=dtype)}
        )
        _assert_column(frame, kind, expected, 1)
        _assert_column(frame[["x"]], kind, expected)

    def test_na_and_nat_are_missing(self) -> None:
        frame = self.pd.DataFrame(
            {"x": [1, self.pd.NA, self.pd.NaT], "y": ["a", self.pd.NA, NAN]}, dtype=object
        )
        _assert_column(frame, "number", [1.0, NAN, NAN])
        _assert_column(frame, "text", ["a", None, None], 1)

    def test_intervals_made_by_cut_are_named_by_their_text(self) -> None:
        frame = self.pd.DataFrame({"x": self.pd.cut([1, 9], [0, 5, 10])})
        _assert_column(frame, "ordered", ["(0, 5]", "(5, 10]"])

    def test_ordered_categoricals_keep_their_levels(self) -> None:
        column = self.pd.Categorical(["b", None], categories=["b", "c", "a"], ordered=True)
        numbers = self.pd.Categorical([2, 1], categories=[2, 1], ordered=True)
        frame = self.pd.DataFrame({"x": column, "y": numbers})
        _assert_column(frame, "ordered", ["b", None])
        _assert_column(frame, "ordered", [2.0, 1.0], 1)
        table = read_table(frame)
        assert table.levels == {0: ("b", "c", "a"), 1: (2.0, 1.0)}
        assert table.select(np.array([1])).levels == table.levels

    def test_unused_categories_do_no_harm(self) -> None:
        column = self.pd.Categorical(["b", "b"], categories=["a", "b", "c"])
        _assert_column(self.pd.DataFrame({"x": column}), "category", ["b", "b"])

    def test_names(self) -> None:
        frame = self.pd.DataFrame({"a": [1], "b": ["x"]})
        table = read_table(frame)
        assert (table.names, table.has_names) == (["a", "b"], True)
        assert not read_table(self.pd.DataFrame([[1, "x"]])).has_names
        with pytest.raises(TypeError, match="string names"):
            read_table(self.pd.DataFrame({"a": [1], 1: [2]}))

    def test_columns_of_the_same_name_stay_apart(self) -> None:
        frame = self.pd.DataFrame([[1, "a"]], columns=["x", "x"])
        assert read_table(frame).kinds == ["number", "text"]

    def test_bad_numbers_are_refused_with_the_name(self) -> None:
        with pytest.raises(ValueError, match=r"infinity.*column 'x', row 1"):
            read_table(self.pd.DataFrame({"x": [1.0, np.inf]}))
        with pytest.raises(ValueError, match=r"infinity.*column 'x', row 1"):
            read_table(self.pd.DataFrame({"x": [1.0, np.inf], "y": ["a", "b"]}))
        with pytest.raises(ValueError, match="Complex data not supported: column 'x'"):
            read_table(self.pd.DataFrame({"x": [1j], "y": ["a"]}))
        with pytest.raises(TypeError, match="column 'x' holds both"):
            read_table(self.pd.DataFrame({"x": [1, "a"]}))

    def test_series_and_empty_frames_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"2-dimensional|Reshape"):
            read_table(self.pd.Series([1, 2]))
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            read_table(self.pd.DataFrame({"a": []}))
        with pytest.raises(ValueError, match=r"0 feature\(s\)"):
            read_table(self.pd.DataFrame(index=[1, 2]))


class TestPolars:
    pl = pytest.importorskip("polars")

    @pytest.mark.parametrize(
        "values, dtype, kind, expected",
        [
            ([1, 2], "Int8", "number", [1.0, 2.0]),
            ([1, None], "Int64", "number", [1.0, NAN]),
            ([1.5, None, NAN], "Float32", "number", [1.5, NAN, NAN]),
            ([True, False], "Boolean", "flag", [True, False]),
            ([True, None], "Boolean", "flag", [1.0, NAN]),
            (["a", None], "String", "text", ["a", None]),
            (["a", None], "Categorical", "category", ["a", None]),
            ([None, None], "Null", "number", [NAN, NAN]),
            ([Decimal("0.5"), None], "Decimal", "number", [0.5, NAN]),
        ],
    )
    def test_columns_by_their_type(self, values: Any, dtype: str, kind: str, expected: Any) -> None:
        polars_type = self.pl.Decimal(10, 2) if dtype == "Decimal" else getattr(self.pl, dtype)
        frame = self.pl.DataFrame({"x": self.pl.Series(values, dtype=polars_type)})
        _assert_column(frame, kind, expected)
        assert read_table(frame).names == ["x"]

    def test_enumerations_are_ordered(self) -> None:
        series = self.pl.Series(["b", "a"], dtype=self.pl.Enum(["b", "c", "a"]))
        frame = self.pl.DataFrame({"n": [1, 2], "x": series})
        _assert_column(frame, "ordered", ["b", "a"], 1)
        assert read_table(frame).levels == {1: ("b", "c", "a")}

    @pytest.mark.parametrize(
        "values, error, message",
        [
            ([datetime.time(12)], ValueError, "Times of day.*column 'x'"),
            ([[1, 2]], TypeError, "argument must be a string or a number.*column 'x'"),
            ([float("inf")], ValueError, "infinity.*column 'x', row 0"),
        ],
    )
    def test_other_columns_are_refused(self, values: Any, error: type, message: str) -> None:
        with pytest.raises(error, match=message):
            read_table(self.pl.DataFrame({"x": values}))

    def test_lazy_frames_series_and_empty_frames_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r"call .collect\(\)"):
            read_table(self.pl.LazyFrame({"x": [1]}))
        with pytest.raises(ValueError, match="Reshape your data"):
            read_table(self.pl.Series([1, 2]))
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            read_table(self.pl.DataFrame({"x": []}))


class TestCheckColumns:
    def test_same_columns_pass(self) -> None:
        table = read_table([[1, 2]], names=["a", "b"])
        check_columns(table, 2, ["a", "b"])
        check_columns(table, 2, None)
        check_columns(read_table([[1, 2]]), 2, ["a", "b"])

    @pytest.mark.parametrize(
        "names, message",
        [
            (["b", "a"], "must be in the same order"),
            (["a", "c"], "unseen at fit time:\n- c\n.*now missing:\n- b\n"),
            (["a"], "now missing:\n- b\n"),
        ],
    )
    def test_other_names_are_refused(self, names: list[str], message: str) -> None:
        table = read_table([[1] * len(names)], names=names)
        with pytest.raises(ValueError, match=message):
            check_columns(table, 2, ["a", "b"])

    def test_long_lists_of_names_are_cut(self) -> None:
        table = read_table([[1] * 9], names=list("abcdefghi"))
        with pytest.raises(ValueError, match=r"- e\n- \.\.\.\n"):
            check_columns(table, 9, [f"n{i}" for i in range(9)])

    def test_another_number_of_columns_is_refused(self) -> None:
        message = "X has 1 features, but Model is expecting 2 features as input"
        with pytest.raises(ValueError, match=message):
            check_columns(read_table([[1]]), 2, None, owner="Model")


def test_neither_pandas_nor_polars_is_needed() -> None:
    code = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from certree.datasets import load_credit
from certree.encoding import TableEncoder
TableEncoder().fit_transform(load_credit().data)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_columns_with_the_same_name_are_refused_in_training() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(ValueError, match=r"must differ, but \['a'\] appear more than once"):
        TableEncoder().fit(frame)


class TestLargeIntegers:
    """Training refuses integers that are the same float64; other large ones are fine."""

    CONFUSED = (2**60, 2**60 + 1)

    @pytest.fixture(params=["int64", "uint64", "list", "objects", "masked", "pandas", "polars"])
    def make(self, request: Any) -> Any:
        """Return a function that makes a table whose second column holds some integers."""
        if request.param in ("int64", "uint64"):
            return lambda *v: np.array([[1, x] for x in v], dtype=request.param)
        if request.param == "list":
            return lambda *v: [[0.5, x] for x in v]
        if request.param == "objects":
            return lambda *v: np.array([["a", x] for x in (*v, None)], dtype=object)
        if request.param == "masked":
            return lambda *v: np.ma.masked_equal([[1, x] for x in (*v, 7)], 7)
        library = pytest.importorskip(request.param)
        return lambda *v: library.DataFrame({"a": [0.5] * (len(v) + 1), "b": [*v, None]})

    def test_that_are_the_same_float64_are_refused(self, make: Any) -> None:
        message = r"1152921504606846976 and 1152921504606846977 in column (1|'b')\. Subtract"
        if type(make(1)).__module__.startswith("pandas"):
            pytest.skip("pandas itself makes these floats")
        for values in (self.CONFUSED, (3, *self.CONFUSED, 2**60 + 4096)):
            with pytest.raises(ValueError, match=message):
                TableEncoder().fit(make(*values))

    def test_that_are_different_floats_are_fine(self, make: Any) -> None:
        encoder = TableEncoder(thresholds="all").fit(make(2**60 + 1, 2**61 + 1, 2**62 + 1))
        assert sum(test.feature == 1 and "<=" in str(test) for test in encoder.tests_) >= 2

    def test_may_be_predicted_for(self, make: Any) -> None:
        encoder = TableEncoder().fit(make(1, 2**60 + 1, 2**61 + 1))
        first, second, *_ = encoder.transform(make(*self.CONFUSED)).tolist()
        assert first == second

    @pytest.mark.parametrize("dtype", ["int64", "Int64", "object", "category"])
    def test_in_columns_of_pandas(self, dtype: str) -> None:
        pd = pytest.importorskip("pandas")
        values = [*self.CONFUSED, 5]
        frame = pd.DataFrame({"a": list("xyz"), "b": pd.Series(values, dtype=dtype)})
        with pytest.raises(ValueError, match=r"beyond 2\*\*53 that float64 cannot .* column 'b'"):
            TableEncoder().fit(frame)

    def test_just_above_the_limit(self) -> None:
        for sign in (1, -1):
            for X in (
                np.array([[sign * 2**53], [sign * (2**53 + 1)]]),
                [[sign * 2**53, "a"], [sign * (2**53 + 1), "b"]],
            ):
                with pytest.raises(ValueError, match="cannot tell apart"):
                    TableEncoder().fit(X)
            TableEncoder().fit(np.array([[sign * 2**53], [sign * (2**53 - 1)]]))
