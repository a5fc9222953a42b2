"""Rare categories joined, and sets of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracle.brute_force import BruteForce, binary_tests, multiway_tests

import certree
from certree import OptimalTreeClassifier, OptimalTreeRegressor, TableEncoder, encoding, verify
from certree.encoding import Subset
from certree.encoding._test_budget import BudgetLeft
from certree.tree import Tree

pd = pytest.importorskip("pandas")


def _table(seed: int, n_rows: int = 24, missing: bool = True) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    shares = np.array([0.4, 0.25, 0.1, 0.1, 0.05, 0.05, 0.05])
    letters = rng.choice(list("abcdefg"), n_rows, p=shares).astype(object)
    if missing:
        letters[rng.random(n_rows) < 0.15] = None
    numbers = rng.choice([3, 5, 5, 5, 7, 7, 8, 11], n_rows)
    return pd.DataFrame({"letter": letters, "code": numbers}), rng.integers(0, 2, n_rows)


class TestSubset:
    @pytest.mark.parametrize(
        "test",
        [
            Subset(0, "city", ("Bonn", "Ulm")),
            Subset(0, "city", ("Bonn", "Ulm"), True, False),
            Subset(0, "city", ("Bonn",), False, True),
            Subset(0, "city", (3, 5)),
        ],
    )
    def test_it_round_trips(self, test: Subset) -> None:
        assert encoding.test_from_dict(test.to_dict()) == test

    def test_numbers_and_missing_values(self) -> None:
        column = np.array([3.0, 4.0, 5.0, np.nan])
        assert Subset(0, "x", (3, 5)).outcome(column).tolist() == [0, 1, 0, 1]
        assert Subset(0, "x", (3, 5), missing=True).outcome(column).tolist() == [0, 1, 0, 0]
        assert Subset(0, "x", (3, 5), True, False).outcome(column).tolist() == [1, 0, 1, 1]
        assert Subset(0, "x", (3, 5), True, True).describe(0) == "x is rare or missing"

    @pytest.mark.parametrize("values", [(), "ab", ("a", 1), ("a", "a"), (1, 1.0), (None,)])
    def test_odd_values_are_refused(self, values: Any) -> None:
        with pytest.raises((ValueError, TypeError), match=r"values of 'x'|category must be"):
            Subset(0, "x", values)

    def test_the_kind_of_column_is_checked(self) -> None:
        with pytest.raises(ValueError, match="held text in training, but now holds numbers"):
            Subset(0, "x", ("a", "b")).holds(np.array([1.0]))


class TestRare:
    def test_they_are_joined(self) -> None:
        frame = pd.DataFrame({"c": list("aaabbbcd")})
        for least, wanted in (
            (1, ["c = a", "c = b", "c = c", "c = d"]),
            (2, ["c = a", "c = b", "c is rare"]),
            (4, []),
        ):
            encoder = TableEncoder(min_category_rows=least).fit(frame)
            assert [str(test) for test in encoder.tests_] == wanted
        two = TableEncoder(min_category_rows=2).fit(pd.DataFrame({"c": list("aaabc")}))
        assert [str(test) for test in two.tests_] == ["c is rare"]
        none = TableEncoder(min_category_rows=4).fit(pd.DataFrame({"c": [*"aabbcd", None]}))
        assert [str(test) for test in none.tests_] == ["c is missing"]

    def test_unseen_categories_are_rare(self) -> None:
        frame = pd.DataFrame({"c": [*"aaabbbcd", None]})
        model = OptimalTreeClassifier(max_depth=2, min_category_rows=2)
        model.fit(frame, [0, 0, 0, 0, 0, 0, 1, 1, 0])
        rows = pd.DataFrame({"c": ["a", "d", "z", None]})
        assert model.predict(rows).tolist() == [0, 1, 1, 0]

    def test_rows_are_counted_and_weights_are_not(self) -> None:
        frame = pd.DataFrame({"c": list("aabbcc")})
        encoder = TableEncoder(min_category_rows=2)
        encoder.fit(frame, sample_weight=[9, 0, 1, 1, 1, 1])
        assert [str(test) for test in encoder.tests_] == ["c = b", "c = c", "c is rare"]

    @pytest.mark.parametrize("value", [0, 2.5, "2", True, None])
    def test_other_values_are_refused(self, value: Any) -> None:
        frame, y = _table(0)
        with pytest.raises((ValueError, TypeError), match="min_category_rows must be an integer"):
            OptimalTreeClassifier(min_category_rows=value).fit(frame, y)
        if not isinstance(value, bool):
            with pytest.raises(ValueError, match="min_category_rows must be an integer"):
                TableEncoder(min_category_rows=value).fit(frame)

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("least", [2, 4])
    def test_brute_force_and_verify_agree(self, seed: int, least: int) -> None:
        frame, y = _table(seed)
        model = OptimalTreeClassifier(
            max_depth=2, min_category_rows=least, categorical_features=["code"]
        ).fit(frame, y)
        joined = frame.astype(object)
        for name in frame:
            counts = frame[name].value_counts()
            rare = frame[name].isin(counts.index[counts < least])
            joined.loc[rare, name] = "rare"
        columns = []
        for name in frame:
            values = joined[name].where(joined[name].notna(), "missing").to_numpy()
            columns += [values == value for value in sorted(set(values), key=str)]
        oracle = BruteForce(
            binary_tests(np.array(columns).T.tolist()), y.tolist(), [[0, 1], [1, 0]]
        )
        assert model.certificate_.cost == oracle.optimum(2).value
        certree.verify(model, frame, y, exhaustive=True)

    @pytest.mark.parametrize("splits", ["multiway", "both"])
    @pytest.mark.parametrize("seed", range(4))
    def test_multiway_tests_have_one_outcome_for_all(self, seed: int, splits: str) -> None:
        frame, y = _table(seed)
        model = OptimalTreeClassifier(
            max_depth=2, min_category_rows=3, categorical_features=["code"], splits=splits
        ).fit(frame, y)
        certree.verify(model, frame, y, exhaustive=True)
        if splits == "multiway":
            codes = []
            for name in frame:
                counts = frame[name].value_counts()
                rare = frame[name].isin(counts.index[counts < 3])
                values = frame[name].astype(object).where(~rare, "rare")
                codes.append(pd.factorize(values, use_na_sentinel=False)[0])
            tests = multiway_tests(np.array(codes).T.tolist())
            oracle = BruteForce(tests, y.tolist(), [[0, 1], [1, 0]])
            assert model.certificate_.cost == oracle.optimum(2).value

    def test_all_rare_and_missing_in_multiway(self) -> None:
        frame = pd.DataFrame({"c": ["a", "b", None, None], "d": list("xxyy")})
        for splits in ("binary", "multiway", "both"):
            model = OptimalTreeClassifier(max_depth=1, min_category_rows=2, splits=splits)
            certree.verify(model.fit(frame, [0, 0, 1, 1]), frame, [0, 0, 1, 1])

    def test_verify_notices_another_number(self) -> None:
        frame, y = _table(1, 60)
        model = OptimalTreeClassifier(max_depth=2, min_category_rows=4).fit(frame, y)
        model.set_params(min_category_rows=1)
        with pytest.raises(certree.CertificateError, match="candidates"):
            certree.verify(model, frame, y)

    def test_a_budget_keeps_the_test_for_rare_ones(self) -> None:
        frame = pd.DataFrame({"c": [f"v{k}" for k in range(400)] * 5 + ["w1", "w2"]})
        encoder = TableEncoder(min_category_rows=2)
        encoder._fit_within(frame, None, lambda: BudgetLeft(None, 10**6))
        assert str(encoder.tests_[-1]) == "c is rare"
        assert len(encoder.tests_) + encoder._n_left_out == 401


class TestExports:
    @pytest.mark.parametrize("seed", range(4))
    def test_all_predict_the_same(self, seed: int) -> None:
        duckdb = pytest.importorskip("duckdb")
        frame, y = _table(seed, 80)
        y = frame["letter"].isin([*"defg"]).to_numpy() ^ (y & (frame["code"] == 3).to_numpy())
        model = OptimalTreeClassifier(
            max_depth=4, min_category_rows=13, categorical_features=["code"]
        ).fit(frame, y)
        assert any(isinstance(test, Subset) for test in model.tree_.tests)
        rows = pd.concat([frame, pd.DataFrame({"letter": ["z", None], "code": [99, 3]})])
        expected = model.predict(rows).tolist()
        assert Tree.from_json(model.tree_.to_json()).predict(rows).tolist() == expected
        names: dict[str, Any] = {}
        exec(model.tree_.to_python(), names)
        assert [names["predict"](row) for row in rows.to_dict("records")] == expected
        found = duckdb.sql(f"SELECT {model.tree_.to_sql()} FROM rows").fetchall()
        assert [value for (value,) in found] == expected

    def test_rules_and_pictures(self) -> None:
        frame, y = _table(2, 80, missing=False)
        model = OptimalTreeRegressor(max_depth=3, min_category_rows=5).fit(frame, y)
        text = model.tree_.to_text()
        assert "letter is rare" in text
        assert "letter is frequent" in text
        assert any("letter is rare" in str(rule) for rule in model.tree_.rules())
        assert "letter is rare" in model.tree_.to_html()


class TestSets:
    @pytest.mark.parametrize(
        "letters, wanted",
        [
            ("abab", ["c = a"]),
            ("abc", ["c = a", "c = b", "c = c"]),
            ("abcd", [f"c = {v}" for v in "abcd"] + [f"c in {{a, {v}}}" for v in "bcd"]),
            (["a", "b", None], ["c = a", "c = a or missing", "c is missing"]),
            ("aabbcd", ["c = a", "c = b", "c is rare"]),
        ],
    )
    def test_every_division_comes_once(self, letters: Any, wanted: list[str]) -> None:
        least = 2 if letters == "aabbcd" else 1
        frame = pd.DataFrame({"c": list(letters)})
        encoder = TableEncoder(category_tests="subsets", min_category_rows=least).fit(frame)
        found = [str(test) for test in encoder.tests_]
        assert sorted(found) == sorted(wanted)

    def test_many_categories_are_asked_one_by_one(self) -> None:
        frame = pd.DataFrame({"c": list("abcdefghijk"), "d": list("xyxyxyxyxyx")})
        y = np.arange(11) % 2
        model = OptimalTreeClassifier(max_depth=1, category_tests="subsets")
        with pytest.warns(UserWarning, match="'c' has 11 categories, too many for all sets"):
            model.fit(frame, y)
        assert len(model.encoder_.tests_) == 12
        certree.verify(model, frame, y)
        ten = TableEncoder(category_tests="subsets").fit(frame[:10])
        assert len(ten.tests_) == 511 + 1

    def test_what_does_not_fit_is_refused(self) -> None:
        frame, y = _table(0)
        for splits, reason in (("both", "one category each"), ("multiway", "all categories")):
            message = f"category_tests='subsets' needs splits='binary', .*{reason}"
            with pytest.raises(ValueError, match=message):
                OptimalTreeClassifier(category_tests="subsets", splits=splits).fit(frame, y)
        with pytest.raises(ValueError, match="category_tests='sorted' is not supported"):
            OptimalTreeClassifier(category_tests="sorted").fit(frame, y)
        with pytest.raises(ValueError, match=r"must be one of one, subsets, .* got 3"):
            TableEncoder(category_tests=3).fit(frame)

    def test_verify_notices_other_candidates(self) -> None:
        frame, y = _table(1, 60)
        model = OptimalTreeClassifier(max_depth=2).fit(frame, y)
        model.set_params(category_tests="subsets")
        with pytest.raises(certree.CertificateError, match="candidates"):
            certree.verify(model, frame, y)

    @pytest.mark.parametrize("least", [1, 9])
    def test_exports_predict_the_same(self, least: int) -> None:
        duckdb = pytest.importorskip("duckdb")
        frame, _ = _table(3, 80)
        y = frame["letter"].isin(["a", "c"]) | (frame["code"] == 7)
        model = OptimalTreeClassifier(
            max_depth=3, category_tests="subsets", min_category_rows=least
        ).fit(frame, y)
        assert any(isinstance(test, Subset) for test in model.tree_.tests)
        rows = pd.concat([frame, pd.DataFrame({"letter": ["z", None], "code": [99, 3]})])
        expected = model.predict(rows).tolist()
        assert Tree.from_json(model.tree_.to_json()).predict(rows).tolist() == expected
        names: dict[str, Any] = {}
        exec(model.tree_.to_python(), names)
        assert [names["predict"](row) for row in rows.to_dict("records")] == expected
        found = duckdb.sql(f"SELECT {model.tree_.to_sql()} FROM rows").fetchall()
        assert [value for (value,) in found] == expected

    def test_a_budget_keeps_sets_and_leaves_cut_points_out(self) -> None:
        frame = pd.DataFrame({"c": [*"abcdef"] * 500, "n": np.arange(3000.0)})
        encoder = TableEncoder(category_tests="subsets", thresholds="all")
        encoder._fit_within(frame, None, lambda: BudgetLeft(None, 2 * 10**6))
        assert sum(test.name == "c" for test in encoder.tests_) == 31
        assert encoder._n_left_out > 0
        assert len(encoder.tests_) + encoder._n_left_out == 31 + 2999


@pytest.mark.parametrize("kept", ["drop-first", "drop-last"])
@pytest.mark.parametrize("missing", [False, True])
def test_a_category_of_each_column_is_dropped(kept: Any, missing: bool) -> None:
    rng = np.random.default_rng(5)
    X = np.empty((60, 2), dtype=object)
    X[:, 0] = rng.choice(["a", "b", "c", "d"], 60)
    X[:, 1] = rng.choice(["no", "yes"], 60)
    if missing:
        X[:7, 0] = None
    y = (X[:, 0] == "a") ^ (X[:, 1] == "no")
    model = OptimalTreeClassifier(max_depth=4, category_tests=kept).fit(X, y)
    asked = [str(test) for test in model.encoder_.tests_ if "missing" not in str(test)]
    first = ["x0 = b", "x0 = c", "x0 = d", "x1 = yes"]
    assert asked == (first if kept == "drop-first" else ["x0 = a", "x0 = b", "x0 = c", "x1 = no"])
    assert verify(model, X, y)
    # The same trees as over columns that were dropped by hand.
    columns = np.array([X[:, int(name[1])] == name[5:] for name in asked]).T
    by_hand = columns if not missing else np.column_stack([columns, [v is None for v in X[:, 0]]])
    same = OptimalTreeClassifier(max_depth=4).fit(by_hand.astype(int), y)
    assert model.certificate_.cost == same.certificate_.cost


def test_dropped_categories_are_of_binary_splits() -> None:
    with pytest.raises(ValueError, match="category_tests='drop-first' needs splits='binary'"):
        OptimalTreeClassifier(splits="both", category_tests="drop-first").fit(
            [["a"], ["b"]], [0, 1]
        )
    with pytest.raises(ValueError, match="category_tests='subsets' needs splits='binary'"):
        TableEncoder(splits="multiway", category_tests="subsets").fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="category_tests must be one of"):
        TableEncoder(category_tests="drop").fit([["a"], ["b"]])
