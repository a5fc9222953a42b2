"""Tables that are reduced where they are: sources, forms, files, exact sums, and bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.shop import FEATURES, shop

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    Reduced,
    SPOTree,
    SurvivalTree,
    load,
    pareto_front,
    reduce,
    solve,
    tasks,
    verify,
)
from certree.numbers._fixed_squares import SquareSums

pytest.importorskip("ibis")
duckdb = pytest.importorskip("duckdb")


def questions(reduced: Reduced) -> list[str]:
    return [str(test) for test in reduced.encoder.tests_]


class TestSources:
    def test_frames_files_relations_and_ibis_tables_are_the_same(self, tmp_path: Path) -> None:
        import ibis
        import polars as pl
        import pyarrow as pa

        frame = shop().drop(columns="size")
        arrow = pa.Table.from_pandas(frame, preserve_index=False)
        frame.iloc[:300].to_parquet(tmp_path / "a.parquet")
        frame.iloc[300:].to_parquet(tmp_path / "b.parquet")
        frame.to_csv(tmp_path / "all.csv", index=False)
        connection = duckdb.connect()
        connection.register("shop", arrow)
        sources: dict[str, Any] = {
            "pandas": frame,
            "polars": pl.from_arrow(arrow),
            "pyarrow": arrow,
            "glob": str(tmp_path / "*.parquet"),
            "csv": tmp_path / "all.csv",
            "relation": connection.sql("SELECT * FROM shop"),
            "ibis": ibis.memtable(arrow),
        }
        found = {
            name: reduce(source, target="back", thresholds=4) for name, source in sources.items()
        }
        first = found.pop("pandas")
        assert first.n_rows == 600
        for name, other in found.items():
            assert questions(other) == questions(first), name
            np.testing.assert_array_equal(other.words, first.words, err_msg=name)
            np.testing.assert_array_equal(other.counts, first.counts, err_msg=name)

    def test_categories_with_an_order_keep_it(self) -> None:
        import polars as pl

        frame = shop()
        rows = OptimalTreeClassifier(max_depth=2).fit(frame[["size", "city"]], frame["back"])
        reduced = reduce(frame, features=["size", "city"], target="back")
        assert "size <= M" in questions(reduced)
        assert list(reduced.encoder.tests_) == list(rows.encoder_.tests_)
        sizes = pl.Series("size", frame["size"].tolist(), dtype=pl.Enum(["S", "M", "L"]))
        other = pl.DataFrame({"size": sizes, "back": frame["back"].tolist()})
        assert questions(reduce(other, target="back")) == ["size <= S", "size <= M"]

    @pytest.mark.parametrize(
        "options",
        [
            {"thresholds": "all"},
            {"thresholds": {"age": [30, 40], "spent": 3}},
            {"categorical_features": ["age"]},
            {"min_category_rows": 40},
            {"category_tests": "subsets"},
        ],
        ids=lambda options: next(iter(options)),
    )
    def test_what_is_asked_of_columns_means_the_same(self, options: dict[str, Any]) -> None:
        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", **options)
        model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
        rows = OptimalTreeClassifier(max_depth=2, **options).fit(frame[FEATURES], frame["back"])
        assert list(reduced.encoder.tests_) == list(rows.encoder_.tests_)
        assert model.certificate_.cost == rows.certificate_.cost
        assert model.to_text() == rows.to_text()

    def test_given_cut_points_of_a_column_with_any_number_of_values(self, monkeypatch: Any) -> None:
        monkeypatch.setattr("certree.encoding._columns._MOST_VALUES", 10)
        frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=300)})
        frame["y"] = (frame["x"] > 0.4).astype(int)
        points = {"x": [0.4, -1.0, 9.0, 0.40001, 2]}
        reduced = reduce(frame, target="y", thresholds=points)
        rows = OptimalTreeClassifier(max_depth=1, thresholds=points).fit(frame[["x"]], frame["y"])
        assert list(reduced.encoder.tests_) == list(rows.encoder_.tests_)
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(reduced)
        assert model.to_text() == rows.to_text()
        with pytest.raises(ValueError, match="more than 10 different values"):
            reduce(frame, target="y", thresholds="all")

    def test_times_in_nanoseconds_and_long_names(self) -> None:
        name = "at " * 40
        times = np.datetime64("2024-01-01", "ns") + np.arange(30) * 1_000_000_500
        frame = pd.DataFrame({name: times, "y" * 80: (np.arange(30) > 20).astype(int)})
        reduced = reduce(frame, target="y" * 80)
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(reduced)
        assert model.certificate_.cost == 0
        assert model.score(frame[[name]], frame["y" * 80]) == 1

    def test_cut_points_between_neighbouring_floats_divide_them(self) -> None:
        values = np.array([0.1, np.nextafter(0.1, 1), 1e-300, -1e300, 0.30000000000000004, 0.3])
        frame = pd.DataFrame({"x": np.tile(values, 4), "y": np.tile([0, 1, 0, 1, 1, 0], 4)})
        reduced = reduce(frame, target="y", thresholds="all")
        assert reduced.n_groups == 6
        model = OptimalTreeClassifier(max_depth=3).fit_reduced(reduced)
        assert model.certificate_.cost == 0
        assert model.score(frame[["x"]], frame["y"]) == 1
        assert verify(model, reduced)

    def test_times_with_a_zone_and_dates(self) -> None:
        import datetime

        start = pd.Timestamp("2024-01-01", tz="UTC")
        frame = pd.DataFrame({"at": start + pd.to_timedelta(np.arange(40) * 7, unit="h")})
        frame["at"] = frame["at"].astype("datetime64[us, UTC]")
        frame["day"] = [datetime.date(2023, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
        frame["y"] = (np.arange(40) > 17).astype(int)
        rows = OptimalTreeClassifier(max_depth=1).fit(frame[["at", "day"]], frame["y"])
        reduced = reduce(frame, target="y")
        assert list(reduced.encoder.tests_) == list(rows.encoder_.tests_)
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(reduced)
        assert model.to_text() == rows.to_text()


class TestEstimators:
    @pytest.mark.parametrize(
        "model",
        [
            OptimalTreeClassifier(max_depth=2),
            OptimalTreeClassifier(max_depth=3, min_samples_leaf=60),
            OptimalTreeClassifier(max_depth=3, min_samples_leaf=0.1, complexity=0.01),
            OptimalTreeClassifier(max_depth=2, objective="f1", min_samples_leaf=40),
            OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy"),
            OptimalTreeClassifier(max_depth=2, objective="auc", min_samples_leaf=40),
            OptimalTreeClassifier(max_depth=2, class_weight={"yes": 2.5}),
            CostSensitiveTreeClassifier(max_depth=2),
            CostSensitiveTreeClassifier(
                max_depth=2, cost_matrix=[[0, 1], [4, 0]], min_samples_leaf=40
            ),
        ],
        ids=lambda model: f"{type(model).__name__}-{getattr(model, 'objective', '')}",
    )
    def test_classes(self, model: Any) -> None:
        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", thresholds=5)
        assert reduced.n_groups < reduced.n_rows
        model.fit_reduced(reduced)
        rows = type(model)(**{**model.get_params(), "thresholds": 5})
        rows.fit(frame[FEATURES], frame["back"])
        for name in ("cost", "lower_bound", "n_rows", "n_tests", "status", "min_samples_leaf"):
            stated = getattr(model.certificate_, name)
            assert stated == getattr(rows.certificate_, name), name
        assert model.to_text() == rows.to_text()
        assert verify(model, reduced).n_rows == 600

    def test_a_path(self) -> None:
        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", thresholds=5)
        model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced, path=True)
        rows = OptimalTreeClassifier(max_depth=2, thresholds=5)
        rows.fit(frame[FEATURES], frame["back"], path=True)
        assert [entry.errors for entry in model.path_] == [entry.errors for entry in rows.path_]

    @pytest.mark.parametrize(("digits", "shift"), [(2, 0.0), (17, 0.0), (17, 1e12), (17, -1e12)])
    def test_squared_errors(self, digits: int, shift: float) -> None:
        """Short decimals are exact; others are rounded by no more than the certificate says."""
        frame = shop()
        frame["y"] = frame["paid"] if digits == 2 else frame["paid"] * np.pi + shift
        reduced = reduce(frame, features=FEATURES, target="y", thresholds=5)
        assert reduced.sums is not None
        assert (reduced.sums.error == 0) == (digits == 2)
        model = OptimalTreeRegressor(max_depth=2, min_samples_leaf=30).fit_reduced(reduced)
        rows = OptimalTreeRegressor(max_depth=2, min_samples_leaf=30, thresholds=5)
        rows.fit(frame[FEATURES], frame["y"])
        exactly = _squared_error(rows, frame)
        # A mean of numbers far from zero has few digits left for differences.
        noise = 1e-9 * exactly if shift else 0.0
        lost = float(model.certificate_.rounding) + noise
        assert abs(float(model.certificate_.cost) - exactly) <= lost
        assert model.certificate_.rounding < 1e-5 * exactly
        np.testing.assert_allclose(
            model.predict(frame[FEATURES]), rows.predict(frame[FEATURES]), rtol=1e-6
        )
        assert verify(model, reduced)

    def test_large_sums_are_exact(self) -> None:
        """Squares of large decimals leave 64 bits when they are added up."""
        frame = pd.DataFrame({"x": np.arange(40) % 2, "y": 2_000_000_000.5 + np.arange(40) * 1e5})
        reduced = reduce(frame, target="y", target_kind="numbers")
        assert reduced.sums is not None
        sums = reduced.sums
        quantum, weight = sums.quantum, sums.weight
        found = sum(int(total) for total in sums.totals) * quantum * weight + 40 * sums.centre
        assert found == sum(Fraction(y) for y in frame["y"].tolist())
        model = OptimalTreeRegressor(max_depth=1).fit_reduced(reduced)
        assert float(model.certificate_.cost) == pytest.approx(_squared_error(model, frame, ["x"]))

    def test_rewards_and_costs(self) -> None:
        frame, random = shop(), np.random.default_rng(1)
        names = ["mail", "call", "none"]
        for name in names:
            frame[name] = random.normal(size=600) + (frame["age"] > 35) * (name == "mail")
        reduced = reduce(frame, features=FEATURES, costs=names, thresholds=5)
        for maximise in (True, False):
            policy = PolicyTree(max_depth=2, maximise=maximise).fit_reduced(reduced)
            rows = PolicyTree(max_depth=2, maximise=maximise, thresholds=5)
            rows.fit_rewards(frame[FEATURES], frame[names])
            slack = float(policy.certificate_.rounding + rows.certificate_.rounding)
            assert slack < 1e-4
            assert abs(float(policy.certificate_.cost - rows.certificate_.cost)) <= slack
            assert policy.certificate_.objective == pytest.approx(rows.certificate_.objective)
            assert verify(policy, reduced)
        dear = CostSensitiveTreeClassifier(max_depth=2).fit_reduced(reduced)
        dear_rows = CostSensitiveTreeClassifier(max_depth=2, thresholds=5)
        dear_rows.fit(frame[FEATURES], costs=frame[names])
        assert float(dear.certificate_.cost) == pytest.approx(float(dear_rows.certificate_.cost))

    def test_limits_on_the_whole_tree(self) -> None:
        frame, random = shop(), np.random.default_rng(1)
        frame["a"], frame["b"] = random.normal(size=600).round(2), random.normal(size=600).round(2)
        reduced = reduce(frame, features=FEATURES, costs=["a", "b"], thresholds=4)
        limits = {"max_depth": 2, "capacity": {1: 0.3}, "min_samples_leaf": 50}
        policy = PolicyTree(**limits).fit_reduced(reduced)
        rows = PolicyTree(**limits, thresholds=4).fit_rewards(frame[FEATURES], frame[["a", "b"]])
        assert policy.certificate_.cost == rows.certificate_.cost
        assert policy.certificate_.n_rows == 600
        assert verify(policy, reduced).cost == policy.certificate_.cost

    def test_models_are_saved_and_checked_by_their_rows(self, tmp_path: Path) -> None:
        """With the parameters of the reduction, rows in memory verify the model, too."""
        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", thresholds=5)
        model = OptimalTreeClassifier(max_depth=2, thresholds=5).fit_reduced(reduced)
        assert verify(model, frame[FEATURES], frame["back"])
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.to_text() == model.to_text()
        assert verify(again, reduced)

    def test_what_cannot_learn_from_groups_says_so(self) -> None:
        reduced = reduce(shop(), features=FEATURES, target="back")
        with pytest.raises(TypeError, match=r"not learn from reduced tables: a linear model needs"):
            LinearTreeRegressor().fit_reduced(reduced)
        with pytest.raises(TypeError, match="does not learn from reduced tables"):
            SPOTree(oracle=None).fit_reduced(reduced)
        with pytest.raises(ValueError, match="a column of rewards for each treatment"):
            PolicyTree().fit_reduced(reduced)
        with pytest.raises(
            ValueError, match="thresholds=4 cannot be asked of a table that was reduced with 'auto'"
        ):
            OptimalTreeClassifier(thresholds=4).fit_reduced(reduced)
        with pytest.raises(ValueError, match="splits='multiway' cannot be asked"):
            OptimalTreeClassifier(splits="multiway").fit_reduced(reduced)
        with pytest.raises(TypeError, match=r"what certree\.reduce returns, got DataFrame"):
            OptimalTreeClassifier().fit_reduced(shop())  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="name them in reduce"):
            FairTreeClassifier(sensitive_columns="city").fit_reduced(reduced)
        numbers = reduce(shop(), features=FEATURES, target="paid")
        with pytest.raises(ValueError, match=r"needs classes, but .* sums of 'paid'"):
            OptimalTreeClassifier().fit_reduced(numbers)
        with pytest.raises(ValueError, match=r"target_kind='classes'\), which keeps the values"):
            OptimalTreeRegressor(criterion="absolute_error").fit_reduced(numbers)
        with pytest.raises(ValueError, match="needs several outputs"):
            OptimalTreeRegressor(output_weights=[1, 2]).fit_reduced(numbers)


def _squared_error(model: Any, frame: pd.DataFrame, features: list[str] = FEATURES) -> float:
    leaves = model.apply(frame[features])
    return sum(
        float(((frame["y"][leaves == leaf] - frame["y"][leaves == leaf].mean()) ** 2).sum())
        for leaf in np.unique(leaves)
    )


def test_group_sums_differ_from_the_rows_by_no_more_than_stated() -> None:
    """Whatever the range of the search, the rounding bound holds for every partition."""
    random = np.random.default_rng(2)
    target = random.integers(-(10**6), 10**6, 60)
    groups = np.repeat(np.arange(20), 3)
    totals = np.bincount(groups, target).astype(np.int64)
    squares = np.bincount(groups, target.astype(float) ** 2).astype(np.int64)
    given = SquareSums(
        np.full(20, 3), totals, squares, Fraction(7), Fraction(1, 10), Fraction(1), Fraction(0)
    )
    for most in (2**62, 2**44, 2**34):
        found = given.integers(most)
        assert int(found.statistics[:, 2].sum()) < most
        for _ in range(10):
            sides = random.integers(0, 2, 20)[groups]
            exactly = sum(
                sum(Fraction(int(t)) ** 2 for t in part)
                - Fraction(int(part.sum()) ** 2, max(len(part), 1))
                for part in (target[sides == 0], target[sides == 1])
            ) * Fraction(1, 100)
            counted = Fraction(0)
            for side in (0, 1):
                w, s, q = map(int, found.statistics[sides[::3] == side].sum(axis=0))
                counted += (q - Fraction(s * s, max(w, 1))) * found.unit
            lost = (found.rounding or 0) * found.unit
            assert abs(counted - exactly) <= lost, most


def test_groups_are_not_fitted_as_rows() -> None:
    """One row for each group, each of weight one, would be the best tree of something else."""
    reduced = reduce(shop(), target="back")
    with pytest.raises(TypeError, match="call fit_reduced"):
        OptimalTreeClassifier(max_depth=1).fit(reduced, reduced.target)
    with pytest.raises(TypeError, match="call fit_reduced"):
        solve(tasks.Misclassification(), reduced, reduced.target, max_depth=1)
    with pytest.raises(TypeError, match="FairTreeClassifier has no path"):
        FairTreeClassifier(max_depth=1).fit_reduced(reduced, path=True)


@pytest.mark.parametrize("values", [[3.0] * 4, ["a"] * 4, [None] * 4], ids=str)
def test_a_table_in_which_nothing_differs(values: list[Any], tmp_path: Path) -> None:
    text = isinstance(values[0], str) or values[0] is None
    frame = pd.DataFrame({"x": pd.Series(values, dtype="string" if text else float), "y": 1})
    reduced = reduce(frame, target="y")
    reduced.to_parquet(tmp_path / "same.parquet")
    for one in (reduced, Reduced.from_parquet(tmp_path / "same.parquet")):
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(one)
        assert (model.certificate_.cost, model.certificate_.n_rows) == (0, 4)
        assert verify(model, one)


class TestForms:
    def test_rows_are_packed_and_give_the_same_tree(self) -> None:
        frame = shop()
        rows = reduce(frame, features=FEATURES, target="back", thresholds=5, form="rows")
        groups = reduce(frame, features=FEATURES, target="back", thresholds=5)
        assert rows.n_groups == 600 > groups.n_groups
        # One integer of 64 bits holds five columns and the target.
        assert rows.nbytes == 600 * 8
        models = [OptimalTreeClassifier(max_depth=2).fit_reduced(one) for one in (rows, groups)]
        assert models[0].to_text() == models[1].to_text()
        assert verify(models[0], groups)
        assert verify(models[1], rows)

    def test_wide_tables_need_several_words(self) -> None:
        random = np.random.default_rng(0)
        frame = pd.DataFrame(random.random((200, 20)), columns=[f"c{i}" for i in range(20)])
        frame["y"] = (frame["c19"] > 0.5).astype(int)
        reduced = reduce(frame, target="y", thresholds=31)
        assert len(reduced.words) == 2
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(reduced)
        rows = OptimalTreeClassifier(max_depth=1, thresholds=31)
        assert model.to_text() == rows.fit(frame.drop(columns="y"), frame["y"]).to_text()

    def test_many_groups_are_warned_of_and_refused(self, monkeypatch: Any) -> None:
        monkeypatch.setattr("certree.encoding._reduce._MANY", 100)
        random = np.random.default_rng(0)
        frame = pd.DataFrame(random.random((200, 8)), columns=list("abcdefgh"))
        frame["y"] = random.integers(0, 2, 200)
        with pytest.warns(UserWarning, match=r"in \d+ groups, .* form='rows'"):
            reduce(frame, target="y")
        with pytest.raises(ValueError, match=r"more than max_groups=50 groups.*form='rows'"):
            reduce(frame, target="y", max_groups=50)

    def test_a_file_holds_all_of_it(self, tmp_path: Path) -> None:
        frame, random = shop(), np.random.default_rng(1)
        frame["at"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(600), unit="h")
        frame.loc[:20, "at"] = pd.NaT
        frame["gain"], frame["loss"] = random.normal(size=600), random.normal(size=600)
        frame["w"] = random.choice([0.25, 1.5], 600)
        roles = {"sample_weight": "w", "costs": ["gain", "loss"], "sensitive": ["member", "city"]}
        frame["city"] = frame["city"].fillna("?")
        features = ["age", "spent", "size", "at"]
        for target in ("back", "paid"):
            reduced = reduce(
                frame, features=features, target=target, thresholds=5, min_category_rows=30, **roles
            )
            path = tmp_path / "reduced.parquet"
            reduced.to_parquet(path)
            assert [p.name for p in tmp_path.iterdir()] == ["reduced.parquet"]
            for other in (Reduced.from_parquet(path), pickle.loads(pickle.dumps(reduced))):
                assert repr(other) == repr(reduced)
                assert questions(other) == questions(reduced)
                np.testing.assert_array_equal(other.words, reduced.words)
                np.testing.assert_array_equal(other.weights, reduced.weights)
                assert other.sensitive is not None
                assert reduced.sensitive is not None
                assert other.sensitive.tolist() == reduced.sensitive.tolist()
                model = PolicyTree(max_depth=2).fit_reduced(other)
                assert model.to_text() == PolicyTree(max_depth=2).fit_reduced(reduced).to_text()
                if target == "paid":
                    trees = [OptimalTreeRegressor(2).fit_reduced(one) for one in (other, reduced)]
                    assert trees[0].certificate_.cost == trees[1].certificate_.cost

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        shop().to_parquet(tmp_path / "shop.parquet")
        with pytest.raises(ValueError, match="is not a reduced table"):
            Reduced.from_parquet(tmp_path / "shop.parquet")
        (tmp_path / "text.parquet").write_text("no")
        with pytest.raises(ValueError, match="is not a reduced table"):
            Reduced.from_parquet(tmp_path / "text.parquet")
        with pytest.raises(FileNotFoundError):
            Reduced.from_parquet(tmp_path / "none.parquet")

    @pytest.mark.parametrize(
        ("old", "new"),
        [('"stride": 1}', '"stride": 0}'), ('"word": 0,', '"word": 9,'), ('"1/1000"', '"1/0"')],
    )
    def test_a_damaged_file_is_refused(self, old: str, new: str, tmp_path: Path) -> None:
        import pyarrow.parquet as pq

        path = tmp_path / "reduced.parquet"
        weighted = shop().assign(w=0.125)
        reduce(weighted, target="back", sample_weight="w").to_parquet(path)
        found = pq.read_table(path)
        schema = found.schema.metadata[b"certree"].decode()
        changed = schema.replace(old, new)
        assert changed != schema
        pq.write_table(found.replace_schema_metadata({"certree": changed}), path)
        with pytest.raises(ValueError, match="is not a reduced table"):
            Reduced.from_parquet(path)


class TestVerify:
    def test_a_wrong_certificate_is_found(self) -> None:
        import dataclasses

        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", thresholds=5)
        model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
        right = model.certificate_
        table = duckdb.connect().from_arrow(_arrow(frame))
        changes = ({"cost": right.cost - 1}, {"n_rows": 599}, {"depth": 1}, {"split_penalty": 1})
        for change in changes:
            model.certificate_ = dataclasses.replace(right, **change)
            with pytest.raises(CertificateError):
                verify(model, reduced)
            with pytest.raises(CertificateError):
                verify(model, table, "back")

    def test_a_test_that_is_no_candidate_is_found(self) -> None:
        frame = shop()
        few, many = (reduce(frame, features=["age"], target="back", thresholds=k) for k in (1, 30))
        model = OptimalTreeClassifier(max_depth=1).fit_reduced(many)
        with pytest.raises(CertificateError, match="is no candidate"):
            verify(model, few)

    def test_another_table_is_found(self) -> None:
        frame = shop()
        reduced = reduce(frame, features=FEATURES, target="back", thresholds=5)
        model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
        other = shop(seed=1)
        with pytest.raises(CertificateError, match="weighted errors"):
            verify(model, duckdb.connect().from_arrow(_arrow(other)), "back")
        with pytest.raises(CertificateError, match="the columns"):
            verify(model, reduce(frame, features=FEATURES[:2], target="back"))
        with pytest.raises(ValueError, match="no column 'backk'"):
            verify(model, duckdb.connect().from_arrow(_arrow(frame)), "backk")
        with pytest.raises(ValueError, match="exhaustive=True needs the rows"):
            verify(model, reduced, exhaustive=True)

    @pytest.mark.parametrize("criterion", ["absolute_error", "quantile", "poisson", "gamma"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_other_criteria_of_regressors(
        self, tmp_path: Path, criterion: str, weighted: bool
    ) -> None:
        frame = shop(300).drop(columns="size").assign(w=lambda rows: 1 + rows.age % 4 / 2)
        frame["paid"] = frame["paid"].abs().round() + 1
        path, weight = str(tmp_path / "shop.parquet"), "w" if weighted else None
        frame.to_parquet(path)
        table: dict[str, Any] = {"features": FEATURES[:4], "thresholds": 4, "target": "paid"}
        reduced = reduce(path, **table, sample_weight=weight, target_kind="classes")
        level = 0.8 if criterion == "quantile" else 0.5
        model = OptimalTreeRegressor(2, criterion=criterion, quantile=level, min_samples_leaf=20)
        rows = clone(model).set_params(thresholds=4)
        rows.fit(frame[FEATURES[:4]], frame["paid"], frame["w"] if weighted else None)
        model.fit_reduced(reduced)
        assert model.certificate_.cost == rows.certificate_.cost
        assert verify(model, reduced)
        assert verify(model, path, "paid", weight)
        model.certificate_ = replace(model.certificate_, cost=model.certificate_.cost - 1)
        for data in ((reduced,), (path, "paid", weight)):
            with pytest.raises(CertificateError):
                verify(model, *data)

    def test_what_sums_cannot_check_asks_for_rows(self, tmp_path: Path) -> None:
        frame = shop(100)[["age", "paid", "back"]]
        path = str(tmp_path / "shop.parquet")
        frame.to_parquet(path)
        X, y = frame[["age"]], frame["paid"].abs() + 1
        for model in (
            LinearTreeRegressor(1).fit(X, y),
            SurvivalTree(max_depth=1).fit(X, y),
            OptimalTreeClusterer(2, max_depth=1).fit(X),
            OptimalTreeRegressor(1).fit(X, np.column_stack([y, y])),
            OptimalTreeClassifier(1).fit(X, frame[["back", "back"]].to_numpy()),
        ):
            with pytest.raises(ValueError, match="cannot be verified by sums over leaves; pass"):
                verify(model, path, "paid")

    def test_files_are_queried(self, tmp_path: Path) -> None:
        frame = shop().drop(columns="size")
        frame.to_parquet(tmp_path / "shop.parquet")
        path = str(tmp_path / "*.parquet")
        reduced = reduce(path, features=FEATURES[:4], target="paid", thresholds=5)
        model = OptimalTreeRegressor(max_depth=2).fit_reduced(reduced)
        assert verify(model, path, "paid").n_rows == 600

    @pytest.fixture
    def rows(self) -> Any:
        return duckdb.connect().sql(
            "SELECT range % 7 AS x, range % 3 AS a, 2 - range % 3 AS b, range % 5 / 2 AS v, "
            "'c' || (range % 7 > 3) AS y FROM range(70)"
        )

    def test_columns_that_are_not_given_or_do_not_fit_are_named(self, rows: Any) -> None:
        tree = OptimalTreeClassifier(max_depth=1).fit_reduced(
            reduce(rows, features=["x"], target="y")
        )
        mean = OptimalTreeRegressor(max_depth=1).fit_reduced(
            reduce(rows, features=["x"], target="v", target_kind="numbers")
        )
        policy = PolicyTree(max_depth=1).fit_reduced(reduce(rows, features=["x"], costs=["a", "b"]))
        assert verify(tree, rows, "y")
        assert verify(mean, rows, "v")
        assert verify(policy, rows, costs=["a", "b"])
        for model in (tree, mean):
            with pytest.raises(ValueError, match="y must be passed: the target column"):
                verify(model, rows)
        for costs in (None, ["a"]):
            with pytest.raises(ValueError, match="costs must name 2 columns, one for each"):
                verify(policy, rows, costs=costs)
        with pytest.raises(ValueError, match="'y' must hold numbers, but is of type string"):
            verify(mean, rows, "y")
        with pytest.raises(ValueError, match="'x' must hold numbers, but is of type string"):
            verify(tree, rows.project("x::VARCHAR AS x, y"), "y")
        with pytest.raises(TypeError, match=r"y='y' names a column.*duckdb.from_df"):
            verify(tree, rows.df(), "y")

    def test_files_that_cannot_be_read_are_named(self, rows: Any, tmp_path: Path) -> None:
        tree = OptimalTreeClassifier(max_depth=1).fit_reduced(
            reduce(rows, features=["x"], target="y")
        )
        with pytest.raises(ValueError, match=r"none.parquet' cannot be read as a table"):
            verify(tree, tmp_path / "none.parquet", "y")
        connection = duckdb.connect()
        lost = connection.sql("SELECT 1 AS x, 'a' AS y")
        connection.close()
        with pytest.raises(RuntimeError, match="could not add up the rows: Connection Error"):
            verify(tree, lost, "y")

    def test_what_sums_over_leaves_do_not_tell_is_refused(self, rows: Any) -> None:
        reduced = reduce(rows, features=["x"], target="y", sensitive="a")
        frame = rows.df()
        with pytest.warns(match="No tree"):
            none = FairTreeClassifier("accuracy_parity", 0, max_depth=0).fit(
                [[0]] * 4, [0, 0, 1, 1], sensitive_features=[0, 0, 1, 1]
            )
        front = pareto_front(frame[["x"]], frame["y"], max_depth=1)
        both = OptimalTreeClassifier(max_depth=1).fit(frame[["x"]], frame[["y", "a"]])
        for model, error in (
            (none, "no tree to verify by sums"),
            (front, "ParetoFront cannot be verified by sums"),
            (both, "Several outputs cannot be verified by sums"),
        ):
            for table in (reduced, rows):
                with pytest.raises(ValueError, match=error):
                    verify(model, table, "y")


def _arrow(frame: pd.DataFrame) -> Any:
    plain = frame.assign(size=frame["size"].astype(str))
    return pytest.importorskip("pyarrow").Table.from_pandas(plain, preserve_index=False)
