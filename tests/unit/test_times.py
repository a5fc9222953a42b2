"""Dates, times and durations: reading, cut points, prediction, exports."""

from __future__ import annotations

import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.brute_force import BruteForce, binary_tests

import certree
from certree import OptimalTreeClassifier, OptimalTreeRegressor, TableEncoder
from certree.encoding import TimeThreshold, read_table
from certree.encoding._test_budget import BudgetLeft
from certree.encoding._time_tests import time_between
from certree.encoding._times import DAY, parse_time, time_words, write_time, zone_of
from certree.tree import Tree

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

UTC = datetime.timezone.utc


def _ns(text: str) -> int:
    return parse_time(text)[1]


class TestTexts:
    @pytest.mark.parametrize(
        "text, words",
        [
            ("2024-03-01", "2024-03-01"),
            ("2024-03-01T12:30", "2024-03-01 12:30"),
            ("2024-03-01T12:30:05.25", "2024-03-01 12:30:05.25"),
            ("2024-03-01T00:00Z", "2024-03-01 00:00 UTC"),
            ("2024-03-01T00:00+01:00", "2024-03-01 00:00+01:00"),
            ("1066-10-14T09:00-00:01:15", "1066-10-14 09:00-00:01:15"),
            ("P3D", "3 days"),
            ("P1DT4H30M5.5S", "1 day 4 h 30 min 5.5 s"),
            ("-PT90M", "-(1 h 30 min)"),
            ("PT0S", "0 s"),
        ],
    )
    def test_a_text_is_read_and_written(self, text: str, words: str) -> None:
        assert time_words(*parse_time(text)) == words
        assert parse_time(write_time(*parse_time(text))) == parse_time(text)

    @pytest.mark.parametrize(
        "text",
        ["", "P", "PT", "2024-02-30", "2024-3-1", "20240301", "2024-03-01T25:00", "soon"],
    )
    def test_other_texts_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="is no date"):
            parse_time(text)

    @pytest.mark.parametrize("text", ["P1Y", "9" * 70, "٢٠٢٤-03-01", "2024-03-01T00:00+24:00"])
    def test_odd_texts_are_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="is no date"):
            parse_time(text)

    def test_the_years_are_those_of_python(self) -> None:
        with pytest.raises(ValueError, match="outside of the years 1 to 9999"):
            parse_time("0001-01-01T00:00+05:00")

    @given(st.integers(-(10**19), 10**20), st.sampled_from(["date", "zoned", "duration"]))
    def test_no_nanosecond_is_lost(self, moment: int, form: Any) -> None:
        assert parse_time(write_time(form, moment)) == (form, moment, 0)


class TestCutPoints:
    @pytest.mark.parametrize(
        "low, high, cut",
        [
            ("2022-05-01", "2024-05-01", "2023-01-01"),
            ("2024-02-20", "2024-03-09", "2024-03-01"),
            ("2024-02-20", "2024-02-24", "2024-02-22"),
            ("2024-02-20", "2024-02-21", "2024-02-20T12:00"),
            ("2024-02-20T12:10", "2024-02-20T12:20", "2024-02-20T12:15"),
            ("2024-02-20T12:10:00", "2024-02-20T12:10:01", "2024-02-20T12:10:00.5"),
            ("9999-12-30", "9999-12-31", "9999-12-30T12:00"),
            ("PT30H", "P3D", "P2D"),
            ("P100D", "P400D", "P300D"),
            ("PT1H", "PT2H", "PT1H30M"),
            ("-P1D", "P1D", "PT0S"),
        ],
    )
    def test_the_shortest_in_the_middle_half(self, low: str, high: str, cut: str) -> None:
        form = parse_time(low)[0]
        assert time_between(_ns(low), _ns(high), form) == cut

    def test_whole_days_have_whole_days_between(self) -> None:
        low, high = _ns("2024-02-20"), _ns("2024-02-21")
        assert time_between(low, high, "date", DAY) == "2024-02-20"

    @given(
        st.integers(-(10**18), 10**18),
        st.integers(1, 10**18),
        st.sampled_from(["date", "zoned", "duration"]),
        st.booleans(),
    )
    def test_it_separates_its_neighbours(self, low: int, gap: int, form: Any, local: bool) -> None:
        zone = pd.Timestamp("2024-01-01", tz="Europe/Berlin").tzinfo
        text = time_between(low, low + gap, form, 1, zone if local and form == "zoned" else None)
        found, moment, _ = parse_time(text)
        assert found == form
        assert low <= moment < low + gap

    def test_a_zone_without_a_table_is_shown_in_utc(self) -> None:
        assert zone_of("Europe/Berlin").utcoffset(datetime.datetime(2024, 1, 1)) is not None
        assert zone_of("Nowhere/Atlantis") is UTC

    def test_a_zone_has_its_own_midnights(self) -> None:
        times = pd.to_datetime(["2024-01-30 10:00", "2024-02-03 11:00", "2024-07-20 09:00"])
        frame = pd.DataFrame({"at": times.tz_localize("Europe/Berlin")})
        for table in (frame, pl.from_pandas(frame)):
            found = [str(test) for test in TableEncoder().fit(table).tests_]
            assert found == ["at <= 2024-02-01 00:00+01:00", "at <= 2024-05-01 00:00+02:00"]


DAYS = [datetime.date(2024, 1, day) for day in (3, 9, 17)]
TIMES = [datetime.datetime(2024, 1, day, 12, 30) for day in (3, 9, 17)]
AWARE = [time.replace(tzinfo=UTC) for time in TIMES]
SPANS = [datetime.timedelta(hours=h) for h in (5, 30, 99)]


class TestReading:
    @pytest.mark.parametrize(
        "values, kind",
        [(DAYS, "date"), (TIMES, "date"), (AWARE, "zoned"), (SPANS, "duration")],
    )
    def test_every_source_gives_the_same_tests(self, values: list[Any], kind: str) -> None:
        with_none = [*values, None]
        series = pd.Series(with_none)
        if kind == "date":
            series = pd.to_datetime(series)
        sources: list[Any] = [
            pd.DataFrame({"x0": series, "t": "a"}),
            pd.DataFrame({"x0": series}),
            pl.DataFrame({"x0": with_none}),
            [[value] for value in with_none],
            pd.DataFrame({"x0": pd.array(with_none, dtype=object)}),
        ]
        if kind != "zoned":
            array = np.array(with_none, dtype="m8" if kind == "duration" else "M8[s]")
            sources += [array.astype(f"{array.dtype.kind}8[{u}]")[:, None] for u in ("us", "ns")]
        texts = []
        for source in sources:
            table = read_table(source)
            assert table.kinds[0] == kind
            assert np.isnat(table.column(0)).tolist() == [False, False, False, True]
            found = TableEncoder(thresholds="all").fit(source).tests_
            texts.append([str(test) for test in found if test.feature == 0])
        assert all(text == texts[0] for text in texts), texts
        assert len(texts[0]) == 5

    def test_arrow_columns(self) -> None:
        pa = pytest.importorskip("pyarrow")
        for kind in (pa.timestamp("us"), pa.timestamp("ns", tz="UTC"), pa.date32()):
            series = pd.Series(AWARE if getattr(kind, "tz", None) else DAYS)
            frame = pd.DataFrame({"x": series.astype(pd.ArrowDtype(kind))})
            assert read_table(frame).kinds[0] in ("date", "zoned")

    @pytest.mark.parametrize(
        "values, message",
        [
            ([DAYS[0], SPANS[0]], "both dates and durations in column 0"),
            ([TIMES[0], AWARE[0]], "with and without a time zone in column 0"),
            ([TIMES[0], 3], "dates or something else.*column 0.*beside int"),
            ([TIMES[0], "2024-01-01"], "dates or something else.*column 0.*beside str"),
            ([np.timedelta64(1, "M"), None], "unit of fixed length.*column 0"),
            ([np.datetime64("10000-01-01"), None], "years 1 to 9999.*column 0.*10000"),
            ([np.datetime64(1, "ps"), None], "finer than nanoseconds, in column 0"),
            ([np.datetime64(1, "ns"), datetime.date(3000, 1, 1)], "too far from 1970.*column 0"),
        ],
    )
    def test_mixtures_and_odd_times_are_refused(self, values: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            read_table([[value] for value in values])

    def test_dates_are_no_categories(self) -> None:
        with pytest.raises(ValueError, match="'at', which holds dates"):
            TableEncoder(categorical_features=["at"]).fit(
                pd.DataFrame({"at": pd.to_datetime(DAYS)})
            )

    def test_dates_as_text_give_a_warning(self) -> None:
        with pytest.warns(UserWarning, match="holds dates as text.*pandas.to_datetime"):
            TableEncoder().fit(pd.DataFrame({"at": ["2024-01-01", "2024-01-02", "2024-01-01"]}))


def _visits(seed: int = 0, n_rows: int = 60) -> tuple[Any, Any]:
    """Return rows with days, nanoseconds, a zone and durations, and labels."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2024-01-05")
    frame = pd.DataFrame(
        {
            "day": start + pd.to_timedelta(rng.integers(0, 90, n_rows), unit="D"),
            "at": pd.Timestamp("2024-03-01 12:00:00.000000001")
            + pd.to_timedelta(rng.integers(0, 40, n_rows), unit="ns"),
            "zoned": (start + pd.to_timedelta(rng.integers(0, 10**7, n_rows), unit="s"))
            .tz_localize("UTC")
            .tz_convert("America/New_York"),
            "stay": pd.to_timedelta(rng.integers(-50, 50, n_rows), unit="h"),
        }
    )
    for column in frame:
        frame.loc[rng.random(n_rows) < 0.1, column] = pd.NaT
    return frame, rng.integers(0, 2, n_rows)


class TestFits:
    @pytest.mark.parametrize("seed", range(5))
    @pytest.mark.parametrize("thresholds", [3, "all"])
    def test_brute_force_over_the_integers_agrees(self, seed: int, thresholds: Any) -> None:
        frame, y = _visits(seed, 14)
        # What any time is at most, on either side for missing ones.
        answers = set()
        encoder = TableEncoder(thresholds=thresholds).fit(frame)
        for name in frame:
            numbers = [None if pd.isna(v) else v for v in frame[name].tolist()]
            levels = sorted({v for v in numbers if v is not None})
            for cut in levels[:-1]:
                answers.add(tuple(v is not None and v <= cut for v in numbers))
                answers.add(tuple(v is None or v <= cut for v in numbers))
            answers.add(tuple(v is None for v in numbers))
        answers.discard((False,) * len(frame))
        columns = np.array(sorted(answers), dtype=np.uint8).T
        if thresholds == "all":
            assert {tuple(c) for c in encoder.transform(frame).astype(bool).T.tolist()} == answers
        else:
            columns = encoder.transform(frame)
        model = OptimalTreeClassifier(max_depth=2, thresholds=thresholds).fit(frame, y)
        oracle = BruteForce(binary_tests(columns.tolist()), y.tolist(), [[0, 1], [1, 0]])
        assert model.certificate_.cost == oracle.optimum(2).value
        certree.verify(model, frame, y)

    @pytest.mark.parametrize("thresholds", [4, "auto", "all"])
    def test_verify_derives_the_candidates_again(self, thresholds: Any) -> None:
        frame, y = _visits()
        polars = pl.from_pandas(frame)
        objects = frame.astype(object).to_numpy()
        for table in (frame, polars, objects, frame[["day", "at"]].to_numpy()):
            model = OptimalTreeClassifier(max_depth=2, thresholds=thresholds).fit(table, y)
            certree.verify(model, table, y)
            changed = model.encoder_.tests_[0]
            assert isinstance(changed, TimeThreshold)

    def test_regression_ranks_and_columns_agree(self) -> None:
        frame, _ = _visits()
        stay = frame["stay"].dt.total_seconds().fillna(0)
        model = OptimalTreeRegressor(max_depth=2, thresholds="all").fit(frame, stay)
        numbers = pd.DataFrame(
            {name: [np.nan if pd.isna(v) else v.value for v in frame[name]] for name in frame}
        )
        numbers["at"] -= pd.Timestamp("2024-03-01 12:00").value
        numbers["at"] = [np.nan if pd.isna(v) else v.nanosecond for v in frame["at"]]
        again = OptimalTreeRegressor(max_depth=2, thresholds="all").fit(numbers, stay)
        assert model.certificate_.cost == again.certificate_.cost

    def test_a_tree_round_trips_and_prints_ranges(self) -> None:
        days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=90)})
        y = (days["day"] > "2024-02-01") & (days["day"] <= "2024-03-01")
        model = OptimalTreeClassifier(max_depth=2, thresholds="all").fit(days, y)
        again = Tree.from_json(model.tree_.to_json())
        assert again.to_text() == model.tree_.to_text()
        assert again.predict(days).tolist() == y.tolist()
        rules = [str(rule) for rule in model.tree_.rules()]
        assert "2024-02-01 < day <= 2024-03-01: True" in rules
        warm = OptimalTreeClassifier(max_depth=2).fit(days, y, warm_start_tree=model)
        assert warm.certificate_.cost == 0

    @pytest.mark.parametrize("seconds, memory", [(None, 10**6), (1e-3, None)])
    def test_a_budget_leaves_cut_points_out(self, seconds: Any, memory: Any) -> None:
        times = pd.Timestamp("2024-01-01") + pd.to_timedelta(range(2000), unit="s")
        frame = pd.DataFrame({"at": times, "then": times[::-1]})
        encoder = TableEncoder(thresholds="all")
        columns = encoder._fit_within(frame, None, lambda: BudgetLeft(seconds, memory))
        n_tests = len(encoder.tests_)
        assert 0 < n_tests == columns.shape[1] < 3998
        assert n_tests + encoder._n_left_out == 3998


class TestPrediction:
    frame = pd.DataFrame({"at": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-04"])})
    model = OptimalTreeClassifier(max_depth=1).fit(frame, [0, 0, 1])

    @pytest.mark.parametrize(
        "values",
        [
            ["2024-01-03", "2024-01-03T00:00:00.000000001", None],
            np.array(["2024-01-03", "2024-01-04", "NaT"], dtype="M8[D]"),
            np.array(["2024-01-03T00", "2024-01-03T01", "NaT"], dtype="M8[h]"),
            np.array(["2024-01", "2024-02", "NaT"], dtype="M8[M]"),
            [datetime.date(2024, 1, 3), datetime.datetime(2024, 1, 3, 0, 0, 1), None],
            np.array(["0001-01-01", "9999-12-31", "NaT"], dtype="M8[D]"),
        ],
    )
    def test_other_units_and_texts(self, values: Any) -> None:
        assert str(self.model.tree_.tests[0]) == "at <= 2024-01-03"
        table = pd.DataFrame({"at": pd.Series(values, dtype=object)})
        assert self.model.predict(table).tolist() == [0, 1, 1]
        assert self.model.encoder_.transform(table)[:, -1].tolist() == [1, 0, 0]
        if isinstance(values, np.ndarray):
            assert self.model.predict(values[:, None]).tolist() == [0, 1, 1]

    def test_a_column_without_values(self) -> None:
        assert self.model.predict([[None], [np.nan]]).tolist() == [1, 1]

    @pytest.mark.parametrize(
        "values, message",
        [
            ([[3.0]], "held dates in training, but now holds numbers; give dates"),
            ([["soon"]], "held dates in training, but row 0 holds another text: 'soon'"),
            ([["P3D"]], "held dates in training, but now holds durations, such as 'P3D'"),
            ([["2024-01-01T00:00Z"]], "now holds times with a time zone, such as"),
            ([[AWARE[0]]], "held dates in training, but now holds times with a time zone; give"),
            ([[SPANS[0]]], "held dates in training, but now holds durations; give dates"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, values: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.model.predict(values)

    def test_dates_in_place_of_numbers_and_texts(self) -> None:
        numbers = OptimalTreeClassifier(max_depth=1).fit([[1.5], [2.5], [3.5]], [0, 0, 1])
        with pytest.raises(ValueError, match="held numbers in training, but now holds dates"):
            numbers.predict(self.frame.to_numpy())
        texts = OptimalTreeClassifier(max_depth=1).fit([["a"], ["b"], ["c"]], [0, 0, 1])
        with pytest.raises(ValueError, match="held text in training, but now holds dates"):
            texts.predict(self.frame.to_numpy())


class TestExports:
    @pytest.mark.parametrize("seed", range(3))
    def test_python_predicts_the_same(self, seed: int) -> None:
        frame, y = _visits(seed)
        frame["at"] = frame["at"].dt.floor("us") + pd.to_timedelta(range(60), unit="us")
        model = OptimalTreeClassifier(max_depth=4).fit(frame, y)
        names: dict[str, Any] = {}
        exec(model.tree_.to_python(), names)
        expected = model.predict(frame).tolist()
        rows = frame.to_dict("records")
        assert [names["predict"](row) for row in rows] == expected
        assert [names["predict"](row) for row in frame.itertuples(index=False)] == expected
        plain = pl.from_pandas(frame).rows()
        assert [names["predict"](list(row)) for row in plain] == expected

    def test_python_has_no_nanoseconds(self) -> None:
        times = pd.DataFrame({"at": pd.to_datetime([1, 3, 5], unit="ns")})
        model = OptimalTreeClassifier(max_depth=1).fit(times, [0, 0, 1])
        assert model.tree_.to_text().startswith("at <= 1970-01-01 00:00:00.000000004")
        with pytest.raises(TypeError, match="no nanoseconds"):
            model.tree_.to_python()

    @pytest.mark.parametrize("seed", range(3))
    def test_duckdb_predicts_the_same(self, seed: int) -> None:
        duckdb = pytest.importorskip("duckdb")
        frame, y = _visits(seed)
        frame["at"] = frame["at"].dt.floor("us") + pd.to_timedelta(range(60), unit="us")
        model = OptimalTreeClassifier(max_depth=4).fit(frame, y)
        visits = pl.from_pandas(frame)  # noqa: F841 (DuckDB finds it by its name)
        found = duckdb.sql(f"SELECT {model.tree_.to_sql()} FROM visits").fetchall()
        assert [value for (value,) in found] == model.predict(frame).tolist()

    def test_literals(self) -> None:
        frame = pd.DataFrame({"at": pd.to_datetime(["2024-01-01", "2024-01-03"])})
        tree = OptimalTreeClassifier(max_depth=1).fit(frame, [0, 1]).tree_
        assert "\"at\" <= DATE '2024-01-02'" in tree.to_sql()
        assert "[at] <= CAST('2024-01-02 00:00:00' AS datetime2)" in tree.to_sql(quote="[")
        assert "at <= datetime(2024, 1, 2)" in tree.to_python()
        with pytest.raises(ValueError, match="cannot ask 'at <= 2024-01-02'"):
            tree.to_sklearn()
        assert "at &lt;= 2024-01-02" in tree.to_html()


def test_cut_points_of_many_seconds_stay_in_order() -> None:
    numbers = np.unique(np.random.default_rng(0).integers(0, 10**9, 2000))
    encoder = TableEncoder(thresholds="all").fit(numbers.astype("M8[s]")[:, None])
    moments = [test.moment for test in encoder.tests_ if isinstance(test, TimeThreshold)]
    assert all(one < other for one, other in pairwise(moments))
    assert len(moments) == len(numbers) - 1
