"""Frames of all libraries that narwhals knows give the same columns, trees and predictions."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
    verify,
)
from certree.encoding import read_table

pd = pytest.importorskip("pandas")

N_ROWS = 60
MAKERS = ("pandas", "pandas with Arrow", "polars", "pyarrow", "modin", "cudf")


def _columns() -> dict[str, Any]:
    random = np.random.default_rng(0)
    days = np.datetime64("2024-01-01", "us") + random.integers(0, 90, N_ROWS).astype("m8[D]")
    return {
        "size": [None if i == 3 else float(v) for i, v in enumerate(random.normal(size=N_ROWS))],
        "kind": random.integers(0, 5, N_ROWS).tolist(),
        "flag": [None if i == 5 else bool(v) for i, v in enumerate(random.integers(0, 2, N_ROWS))],
        "word": [None if i == 4 else "xyz"[v] for i, v in enumerate(random.integers(0, 3, N_ROWS))],
        "day": [None if i == 6 else day for i, day in enumerate(days.astype("M8[us]").tolist())],
        "price": [Decimal(int(v)) / 8 for v in random.integers(0, 40, N_ROWS)],
    }


COLUMNS = _columns()
TARGET = [(k > 2) != (w == "x") for k, w in zip(COLUMNS["kind"], COLUMNS["word"], strict=True)]
LABELS = ["yes" if one else "no" for one in TARGET]
WEIGHTS = [1 + row % 3 for row in range(N_ROWS)]


def frame_maker(library: str) -> Callable[[dict[str, Any]], Any]:
    """Return what makes a frame of columns, which have the names of Python's types."""
    if library == "polars":
        return pytest.importorskip("polars").DataFrame
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table
    if library == "pandas with Arrow":
        pytest.importorskip("pyarrow")
        return lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow")
    module = {"modin": "modin.pandas"}.get(library, library)
    return pytest.importorskip(module).DataFrame


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return frame_maker(request.param)


def column_of(frame: Any, name: str) -> Any:
    return frame[name]


def test_columns_are_read_alike(make: Any) -> None:
    table, plain = read_table(make(COLUMNS)), read_table(pd.DataFrame(COLUMNS))
    assert table.names == plain.names == list(COLUMNS)
    assert table.kinds == plain.kinds == ["number", "number", "flag", "text", "date", "number"]
    for place in range(len(COLUMNS)):
        np.testing.assert_array_equal(table.column(place), plain.column(place))


def test_trees_predictions_and_checks_are_the_same(make: Any) -> None:
    frame = make({**COLUMNS, "label": LABELS, "weight": WEIGHTS})
    X, labels, weights = make(COLUMNS), column_of(frame, "label"), column_of(frame, "weight")
    model = OptimalTreeClassifier(max_depth=2).fit(X, labels, weights)
    plain = OptimalTreeClassifier(max_depth=2)
    plain.fit(pd.DataFrame(COLUMNS), pd.Series(LABELS), WEIGHTS)
    assert model.tree_.to_json() == plain.tree_.to_json()
    assert model.certificate_.cost == plain.certificate_.cost
    assert list(model.feature_names_in_) == list(COLUMNS)
    np.testing.assert_array_equal(model.predict(X), plain.predict(pd.DataFrame(COLUMNS)))
    np.testing.assert_array_equal(model.predict(pd.DataFrame(COLUMNS)), plain.predict(X))
    assert model.score(X, labels, weights) == plain.score(pd.DataFrame(COLUMNS), LABELS, WEIGHTS)
    verify(model, X, labels, weights)


def test_targets_of_all_forms(make: Any) -> None:
    X, numbers = make(COLUMNS), np.arange(N_ROWS) % 7 + 1
    frame = pd.DataFrame(COLUMNS)
    both = {"low": numbers.tolist(), "high": (3 * numbers).tolist()}
    for learn in (
        lambda X, pair: OptimalTreeRegressor(max_depth=1).fit(X, pair),
        lambda X, pair: OptimalTreeRegressor(max_depth=1).fit(X, column_of(pair, "low")),
        lambda X, pair: PolicyTree(max_depth=1).fit_rewards(X, pair),
    ):
        found, wanted = learn(X, make(both)), learn(frame, pd.DataFrame(both))
        assert found.certificate_.cost == wanted.certificate_.cost
        assert found.tree_.to_json() == wanted.tree_.to_json()
    model = OptimalTreeRegressor(max_depth=1).fit(X, make(both))
    verify(model, X, make(both))
    lives = {"event": [bool(row % 2) for row in range(N_ROWS)], "time": numbers.tolist()}
    survival = SurvivalTree(max_depth=1).fit(X, make(lives))
    plain = SurvivalTree(max_depth=1).fit(frame, pd.DataFrame(lives))
    assert survival.certificate_.cost == plain.certificate_.cost
    verify(survival, X, make(lives))


def test_sensitive_columns(make: Any) -> None:
    X = make(COLUMNS)
    groups = {
        "old": [row % 2 for row in range(N_ROWS)],
        "town": ["ab"[row % 3 > 0] for row in range(N_ROWS)],
    }
    for given in (make(groups), column_of(make(groups), "town")):
        model = FairTreeClassifier(max_depth=2, tolerance=0.3)
        model.fit(X, TARGET, sensitive_features=given)
        verify(model, X, TARGET, sensitive_features=given)
    fair = FairTreeClassifier(max_depth=2, tolerance=0.3)
    fair.fit(pd.DataFrame(COLUMNS), TARGET, sensitive_features=pd.DataFrame(groups))
    again = FairTreeClassifier(max_depth=2, tolerance=0.3)
    again.fit(X, TARGET, sensitive_features=make(groups))
    assert again.certificate_.cost == fair.certificate_.cost


class TestArrow:
    pa = pytest.importorskip("pyarrow")

    def test_dictionaries_are_categories(self) -> None:
        texts = self.pa.array(["b", None, "a", "b"]).dictionary_encode()
        ordered = self.pa.DictionaryArray.from_arrays(
            [1, None, 0, 1], ["low", "high"], ordered=True
        )
        numbers = self.pa.array([3, None, 2, 3]).dictionary_encode()
        frame = self.pa.table({"t": texts, "o": ordered, "n": numbers})
        # Parts of a column may have dictionaries of their own.
        frame = self.pa.concat_tables([frame.slice(2), frame.slice(0, 2)])
        table = read_table(frame)
        assert table.kinds == ["category", "ordered", "category"]
        assert table.column(0).tolist() == ["a", "b", "b", None]
        assert table.column(1).tolist() == ["low", "high", "high", None]
        assert table.levels == {1: ("low", "high")}
        np.testing.assert_array_equal(table.column(2), [2.0, 3.0, 3.0, np.nan])
        model = OptimalTreeClassifier(max_depth=2).fit(frame, [0, 1, 0, 1])
        verify(model, frame, [0, 1, 0, 1])

    def test_labels_with_a_dictionary_keep_what_is_missing(self) -> None:
        frame = self.pa.table({"x": [1, 2, 3]})
        labels = self.pa.chunked_array([self.pa.array(["a", None, "b"]).dictionary_encode()])
        with pytest.raises(ValueError, match=r"NaN or None \(first in row 1\)"):
            OptimalTreeClassifier().fit(frame, labels)

    def test_times_have_their_unit_and_zone(self) -> None:
        zoned = self.pa.timestamp("ns", tz="+01:00")
        moment = datetime.datetime(2024, 3, 1, 12, tzinfo=datetime.timezone.utc)
        frame = self.pa.table(
            {
                "at": self.pa.array([moment, None], zoned),
                "day": self.pa.array([datetime.date(2024, 3, 1), None]),
                "long": self.pa.array([datetime.timedelta(1), None]),
            }
        )
        table = read_table(frame)
        assert table.kinds == ["zoned", "date", "duration"]
        assert table.column(0).dtype == "M8[ns]"
        assert table.zones[0].utcoffset(None) == datetime.timedelta(hours=1)
        assert [bool(np.isnat(table.column(i))[1]) for i in range(3)] == [True] * 3

    def test_large_integers_stay_apart(self) -> None:
        frame = self.pa.table({"x": [2**53, 2**53 + 1, None, 1]})
        with pytest.raises(ValueError, match=r"integers beyond 2\*\*53.*column 'x'"):
            OptimalTreeClassifier().fit(frame, [0, 1, 0, 1])

    def test_texts_keep_their_last_characters(self) -> None:
        column = read_table(self.pa.table({"x": ["a", "a\0"]})).column(0)
        assert column.tolist() == ["a", "a\0"]

    def test_names_that_repeat_are_refused_in_training(self) -> None:
        frame = self.pa.table([[1, 2], ["a", "b"]], names=["x", "x"])
        assert read_table(frame).kinds == ["number", "text"]
        with pytest.raises(ValueError, match=r"Column names must differ, but \['x'\]"):
            OptimalTreeClassifier().fit(frame, [0, 1])

    def test_times_of_day_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"Times of day.*column 'x'"):
            read_table(self.pa.table({"x": [datetime.time(12)]}))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Port-au-Prince", "UTC+01:00"])
def test_zones_of_pandas_keep_their_name(zone: str) -> None:
    when = pd.Series(
        [pd.Timestamp("2024-03-01 12:00", tz="UTC").tz_convert(zone.removeprefix("UTC")), pd.NaT]
    )
    table = read_table(pd.DataFrame({"at": when, "n": [1, 2]}))
    assert table.kinds[0] == "zoned"
    assert table.column(0)[0] == np.datetime64("2024-03-01T12:00")
    assert table.zones[0] == when.dtype.tz


def test_queries_without_data_are_refused() -> None:
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(TypeError, match=r"X is a query of duckdb.*certree\.reduce"):
        OptimalTreeClassifier().fit(duckdb.sql("SELECT 1 AS x"), [1])


def test_arrays_do_not_load_narwhals_of_themselves() -> None:
    """Versions of scikit-learn that need narwhals load it themselves."""
    code = """
import sys
import sklearn.utils.validation
known = set(sys.modules)
from certree import OptimalTreeClassifier
OptimalTreeClassifier(max_depth=1).fit([[0, "a"], [1, "b"]], ["x", "y"])
loaded = {name for name in sys.modules if name.startswith("narwhals")} - known
assert not loaded, loaded
assert not {"pandas", "polars", "pyarrow"} & (set(sys.modules) - known)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
