"""Cut points that users choose by column."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from tests.oracle.brute_force import BruteForce, binary_tests

import certree
from certree import OptimalTreeClassifier, OptimalTreeRegressor, TableEncoder
from certree.encoding._test_budget import BudgetLeft

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame(
    {
        "bmi": [17.0, 19.0, 23.5, 26.1, 29.9, 31.4, None, 22.8],
        "age": [23, 45, 31, 60, 38, 52, 47, 29],
        "visit": pd.to_datetime(["2024-01-09", "2024-02-11", "2024-02-27", "2024-03-03"] * 2),
        "stage": pd.Categorical(
            ["I", "II", "III", "IV"] * 2, categories=["I", "II", "III", "IV"], ordered=True
        ),
        "smoker": [True, False] * 4,
        "city": ["Bonn", "Ulm"] * 4,
        "has_pet": [0, 1] * 4,
    }
)
Y = np.array([1, 0, 0, 1, 0, 1, 1, 0])


def _texts(thresholds: Any, columns: list[str], frame: Any = FRAME) -> list[str]:
    encoder = TableEncoder(thresholds=thresholds).fit(frame[columns])
    return [str(test) for test in encoder.tests_]


class TestChoice:
    def test_they_read_as_they_were_written(self) -> None:
        assert _texts({"bmi": [30, 18.5, 25]}, ["bmi"]) == [
            "bmi <= 18.5",
            "bmi <= 25",
            "bmi <= 30",
            "bmi <= 18.5 or missing",
            "bmi <= 25 or missing",
            "bmi <= 30 or missing",
            "bmi is missing",
        ]

    def test_other_columns_are_automatic(self) -> None:
        assert len(_texts({"bmi": 1}, ["bmi", "age"])) == 3 + 7
        assert len(_texts({"age": 2}, ["bmi", "age"])) == 13 + 2
        assert _texts({}, ["age"]) == _texts("auto", ["age"])

    @pytest.mark.parametrize("key", ["age", 1, -1, np.int64(1)])
    def test_columns_by_name_or_position(self, key: Any) -> None:
        assert _texts({key: [40]}, ["bmi", "age"])[-1] == "age <= 40"

    def test_points_without_effect_are_left_out(self) -> None:
        # Nothing is below 20 or above 70, and 39 to 44 divide the rows alike.
        assert _texts({"age": [3, 39, 41, 44, 60, 70]}, ["age"]) == ["age <= 39"]
        assert _texts({"age": []}, ["age"]) == []

    def test_a_point_may_be_a_value(self) -> None:
        assert _texts({"age": [45, 60]}, ["age"]) == ["age <= 45"]

    @pytest.mark.parametrize(
        "point",
        ["2024-03-01", datetime.date(2024, 3, 1), np.datetime64("2024-03-01"), "2024-03-01T00:00"],
    )
    def test_dates(self, point: Any) -> None:
        assert _texts({"visit": [point]}, ["visit"]) == ["visit <= 2024-03-01"]

    def test_levels(self) -> None:
        assert _texts({"stage": ["III", "I"]}, ["stage"]) == ["stage <= I", "stage <= III"]
        assert _texts({"stage": 1}, ["stage"]) == ["stage <= II"]

    def test_columns_of_zeros_and_ones_may_be_cut(self) -> None:
        assert _texts({"has_pet": [0.5]}, ["has_pet"]) == ["has_pet <= 0.5"]
        array = FRAME[["has_pet"]].to_numpy()
        assert TableEncoder(thresholds={0: [0.5]}).fit(array).transform(array)[:, 0].sum() == 4
        assert [str(t) for t in TableEncoder(thresholds={0: 3}).fit(array).tests_] == ["x0 = 1"]

    def test_zones_and_durations(self) -> None:
        frame = pd.DataFrame(
            {
                "at": FRAME["visit"].dt.tz_localize("Europe/Berlin"),
                "stay": FRAME["visit"] - pd.Timestamp("2024-01-01"),
            }
        )
        points = {"at": ["2024-02-01T08:00+01:00"], "stay": ["P50D", datetime.timedelta(20)]}
        assert _texts(points, ["at", "stay"], frame) == [
            "at <= 2024-02-01 08:00+01:00",
            "stay <= 20 days",
            "stay <= 50 days",
        ]

    def test_a_budget_leaves_some_out(self) -> None:
        frame = pd.DataFrame({"a": np.arange(5000.0), "b": np.arange(5000.0)[::-1]})
        encoder = TableEncoder(thresholds={"a": list(range(4000)), "b": "all"})
        encoder._fit_within(frame, None, lambda: BudgetLeft(None, 10**6))
        points = [test.threshold for test in encoder.tests_ if test.name == "a"]
        assert 1 < len(points) < 100
        assert all(point.is_integer() for point in points)
        assert len(encoder.tests_) + encoder._n_left_out == 4000 + 4999


class TestErrors:
    @pytest.mark.parametrize(
        "thresholds, error, message",
        [
            ({"height": [3]}, ValueError, "names the column 'height', which the table does not"),
            ({9: [3]}, ValueError, "thresholds holds the column index 9"),
            ({1.5: [3]}, TypeError, "thresholds must hold column names or column indices"),
            ({"age": [3], 1: [4]}, ValueError, "names the column 'age' twice"),
            ({"age": [np.nan]}, ValueError, "finite numbers.*'age' holds numbers, got nan"),
            ({"age": [np.inf]}, ValueError, "finite numbers"),
            ({"age": ["30"]}, ValueError, "finite numbers.*got '30'"),
            ({"age": [True]}, ValueError, "finite numbers.*got True"),
            ({"age": 0}, ValueError, r"thresholds\['age'\] must be 'auto', 'all', a number"),
            ({"age": "many"}, ValueError, "a list of cut points, got 'many'"),
            ({"age": 2.5}, ValueError, "a list of cut points, got 2.5"),
            ({"city": [3]}, ValueError, "'city', which holds categories"),
            ({"city": "all"}, ValueError, "'city', which holds categories"),
            ({"smoker": [0.5]}, ValueError, "'smoker', which holds truth values"),
            ({"visit": [3]}, ValueError, "dates without a time zone, as the column does, got 3"),
            ({"visit": ["P3D"]}, ValueError, "dates without a time zone"),
            ({"visit": ["2024-03-01T00:00Z"]}, ValueError, "dates without a time zone"),
            ({"visit": ["March"]}, ValueError, "ISO 8601"),
            ({"stage": ["V"]}, ValueError, "'V', which is not a level of the column"),
            ([18.5, 25], ValueError, "or a dict by columns"),
        ],
    )
    def test_one_clear_line(self, thresholds: Any, error: type, message: str) -> None:
        with pytest.raises(error, match=message):
            OptimalTreeClassifier(thresholds=thresholds).fit(FRAME, Y)

    def test_names_need_a_table_with_names(self) -> None:
        with pytest.raises(ValueError, match="the table has no column names"):
            TableEncoder(thresholds={"age": 3}).fit([[1.0], [2.0]])


POINTS = {"bmi": [18.5, 25, Decimal(30)], "age": "all", "visit": ["2024-03-01"], "stage": ["II"]}


class TestFits:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_brute_force_and_verify_agree(self, depth: int, weighted: bool) -> None:
        weights = np.array([1, 2, 1, 0, 3, 1, 1, 2]) if weighted else None
        model = OptimalTreeClassifier(max_depth=depth, thresholds=POINTS)
        model.fit(FRAME, Y, sample_weight=weights)
        kept = np.ones(8, dtype=bool) if weights is None else weights > 0
        columns = []
        for name in FRAME:
            values = FRAME.loc[kept, name]
            if name == "bmi":
                columns += [values <= point for point in (18.5, 25, 30)]
                columns += [(values <= point) | values.isna() for point in (18.5, 25, 30)]
                columns += [values.isna()]
            elif name == "age":
                columns += [values <= point for point in values]
            else:
                cut = {"visit": pd.Timestamp("2024-03-01"), "stage": "II"}.get(name)
                columns += [values == values.iloc[0] if cut is None else values <= cut]
        oracle = BruteForce(
            binary_tests(np.array(columns).T.tolist()),
            Y[kept].tolist(),
            [[0, 1], [1, 0]],
            None if weights is None else weights[kept].tolist(),
        )
        assert model.certificate_.cost == oracle.optimum(depth).value
        certree.verify(model, FRAME, Y, weights, exhaustive=True)

    def test_verify_notices_another_cut_point(self) -> None:
        model = OptimalTreeClassifier(max_depth=2, thresholds=POINTS).fit(FRAME, Y)
        model.set_params(thresholds={**POINTS, "visit": ["2024-02-01"]})
        with pytest.raises(certree.CertificateError, match="candidates of column 'visit'"):
            certree.verify(model, FRAME, Y)

    def test_ranks_and_columns_agree(self) -> None:
        rng = np.random.default_rng(1)
        X = rng.normal(size=(3000, 3))
        y = rng.normal(size=3000) + (X[:, 0] > 0.3)
        points = {0: [-0.5, 0.3, 1.0, 0.31], 1: "all"}
        ranked = OptimalTreeRegressor(max_depth=2, thresholds=points).fit(X, y)
        limited = OptimalTreeRegressor(max_depth=2, max_splits=3, thresholds={**points, 1: 30})
        limited.fit(X, y)
        assert "x0 <= 0.3" in ranked.tree_.to_text()
        assert ranked.certificate_.cost <= limited.certificate_.cost
        certree.verify(ranked, X, y)

    def test_clone_and_parameters(self) -> None:
        from sklearn.base import clone

        model = clone(OptimalTreeClassifier(thresholds=POINTS))
        assert model.get_params()["thresholds"] == POINTS
