"""Explanations: the way of a row, and the fewest columns that change its prediction."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.fitted import Case, cases

from certree import (
    Explanation,
    Explanations,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SPOTree,
    Tree,
    oracles,
)
from certree.encoding import Category, Flag, Level, Missing, Multiway, Subset, Threshold, read_table
from certree.tree._explain import Explainer

WITH_TREE = [name for name, case in cases().items() if hasattr(case.model, "tree_")]


def _rows(X: Any, start: int, stop: int) -> Any:
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


@pytest.fixture(params=WITH_TREE)
def case(request: Any) -> Case:
    return cases()[request.param]


def _changed(row: dict[str, Any], change: Any) -> list[list[Any]]:
    """Return the row after a change."""
    values = {**row, **{one.column: one.example for one in change.columns}}
    return [list(values.values())]


def test_every_estimator_explains_its_predictions(case: Case) -> None:
    model, tree = case.model, case.model.tree_
    found = model.explain(_rows(case.X, 0, 12))
    assert isinstance(found, Explanations)
    assert [one.leaf for one in found] == tree.apply(_rows(case.X, 0, 12)).tolist()
    for one in found:
        path = tree.decision_path([list(one.row.values())]).indices
        assert len(one.steps) == len(path) - 1
        assert one.weight == tree.weights[one.leaf]
        others = {int(tree.label[k]) for k in np.flatnonzero(tree.test < 0)}
        assert len(one.changes) <= len(others) - 1
        sizes = [change.n_columns for change in one.changes]
        assert sizes == sorted(sizes)
        for change in one.changes:
            assert tree.apply(_changed(one.row, change)).tolist() == [change.leaf]
            assert not tree.payload.same(change.leaf, one.leaf)
        assert json.loads(one.to_json()) == one.to_dict()
        for text in (str(one), one.to_html(), repr(one)):
            assert one.name in text or "&" in text


# ---- the fewest columns, against all changes -----------------------------------------------------

VALUES: list[list[Any]] = [
    [None, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 9.0],
    [None, "a", "b", "c", "d", "new"],
    [None, True, False],
    [None, "low", "mid", "high", "new"],
]
LEVELS = ("low", "mid", "high")


def _random_test(random: Any) -> Any:
    missing = random.choice([None, True, False])
    feature = int(random.integers(0, 4))
    name = f"x{feature}"
    if random.random() < 0.15:
        return Missing(feature, name)
    if feature == 0:
        return Threshold(0, name, float(random.choice([0.0, 0.5, 1.0, 2.0])), missing)
    if feature == 1 and random.random() < 0.5:
        return Multiway(1, name, [("a", "b"), ("c", None), ("d",)], default=int(random.integers(3)))
    if feature == 1 and random.random() < 0.5:
        return Subset(1, name, ("a", "b"), bool(random.integers(2)), missing)
    if feature == 1:
        return Category(1, name, str(random.choice(["a", "b", "c"])), missing and False)
    if feature == 2:
        return Flag(2, name, True, missing)
    return Level(3, name, LEVELS, str(random.choice(LEVELS)), missing)


def _random_tree(random: Any, depth: int = 4) -> Tree:
    tests: list[Any] = []
    test, first, label = [], [], []
    queue = [0]
    for level in queue:
        if level < depth and random.random() < 0.85:
            tests.append(_random_test(random))
            test.append(len(tests) - 1)
            first.append(len(queue))
            label.append(-1)
            queue += [level + 1] * tests[-1].n_outcomes
        else:
            test.append(-1)
            first.append(-1)
            label.append(int(random.integers(0, 3)))
    counts = np.asarray(random.integers(0, 9, (len(test), 3)))
    return Tree(tests, test, first, label, counts=counts, classes=["p", "q", "r"], n_features=4)


def _fewest(tree: Tree, row: list[Any], wanted: str) -> int | None:
    """Try all changes of one column, of two columns and so on."""
    for size in range(1, 5):
        for columns in itertools.combinations(range(4), size):
            rows = []
            for values in itertools.product(*(VALUES[c] for c in columns)):
                changed = list(row)
                for column, value in zip(columns, values, strict=True):
                    changed[column] = value
                rows.append(changed)
            if wanted in tree.predict(read_table(_with_types(rows))).tolist():
                return size
    return None


def _with_types(rows: list[list[Any]]) -> Any:
    """Columns of text stay text, also where all values of them are missing."""
    return pd.DataFrame(
        {
            "x0": pd.Series([row[0] for row in rows], dtype="float64"),
            "x1": pd.Series([row[1] for row in rows], dtype=object),
            "x2": pd.Series([row[2] for row in rows], dtype="boolean"),
            "x3": pd.Series([row[3] for row in rows], dtype=object),
        }
    )


@pytest.mark.parametrize("seed", range(40))
def test_no_change_of_fewer_columns_gives_the_other_prediction(seed: int) -> None:
    random = np.random.default_rng(seed)
    tree = _random_tree(random)
    row = [values[random.integers(0, len(values))] for values in VALUES]
    table = read_table(_with_types([row]))
    found = Explainer(tree, tree.tests).explain(table)[0]
    by_name = {change.name: change.n_columns for change in found.changes}
    now = str(tree.predict(table)[0])
    for wanted in ("p", "q", "r"):
        expected = None if wanted == now else _fewest(tree, row, wanted)
        assert by_name.get(wanted) == expected
    for change in found.changes:
        changed = _changed(found.row, change)
        assert tree.apply(_with_types(changed)).tolist() == [change.leaf]


def test_a_column_that_is_asked_twice_gets_one_interval() -> None:
    X = np.arange(30.0)[:, None]
    model = OptimalTreeClassifier(max_depth=2, thresholds="all").fit(X, (X[:, 0] // 10) % 2 == 1)
    found = model.explain([[3.0]])
    assert [step.condition for step in found.steps] == ["x0 <= 9.5"]
    assert found.nearest.columns[0].condition == "9.5 < x0 <= 19.5"
    assert found.nearest.columns[0].example == 10
    assert found.nearest.n_columns == 1


def test_ties_go_to_present_values_then_to_the_leaf_with_more_rows() -> None:
    tests = [Missing(0, "x0"), Threshold(1, "x1", 5.0), Threshold(2, "x2", 5.0)]
    counts = [[20, 20], [0, 9], [20, 11], [0, 3], [20, 8], [0, 8], [20, 0]]
    tree = Tree(
        *(tests, [0, -1, 1, -1, 2, -1, -1], [1, -1, 3, -1, 5, -1, -1], [-1, 1, -1, 1, -1, 1, 0]),
        counts=counts,
        classes=["no", "yes"],
        n_features=3,
    )
    found = Explainer(tree, tree.tests).explain(read_table([[1.0, 9.0, 9.0]]))[0]
    # All three leaves are one column away; that of nine rows needs a missing value.
    assert [one.condition for one in found.changes[0].columns] == ["x2 <= 5"]


def test_missing_and_unseen_values_are_spoken_of() -> None:
    X = pd.DataFrame({"city": ["Ulm"] * 4 + ["Bonn"] * 4 + ["Kiel"] * 2, "age": [1.0, 2.0] * 5})
    y = (X["city"] == "Ulm") & (X["age"] > 1)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    found = model.explain({"city": "Rom", "age": None})
    assert "city is Rom (not seen in training; the answer is no)" in str(found)
    found = model.explain({"city": "Ulm", "age": None})
    said = "age is missing (no value was missing in training; the answer is no)"
    assert said in str(found)
    assert said in found.notes
    gaps = X.assign(age=[None, 2.0, 1.0, 2.0, None, 2.0, 1.0, 2.0, None, 2.0])
    present = (X["city"] == "Ulm") & (gaps["age"] != 1)
    model = OptimalTreeClassifier(max_depth=2).fit(gaps, present)
    found = model.explain({"city": "Ulm", "age": None})
    assert "age is missing (missing values go this way)" in str(found)
    ways = OptimalTreeClassifier(max_depth=2, splits="multiway").fit(X, y)
    assert "not seen in training; it takes the usual way" in str(
        ways.explain({"city": "Rom", "age": 2})
    )


def test_dates_are_given_and_read_as_text() -> None:
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60, tz="UTC"), "n": range(60)})
    model = OptimalTreeClassifier(max_depth=2).fit(X[["day"]], (X["n"] // 20) == 1)
    found = model.explain(X[["day"]].iloc[[0]])
    assert found.row == {"day": "2024-01-01T00:00Z"}
    change = found.nearest.columns[0]
    assert change.condition.startswith("2024-01-2")
    assert model.explain({"day": change.example}).prediction is True
    assert json.loads(found.to_json())["row"] == found.row


@pytest.mark.parametrize(
    "present",
    [["Bonn", "Ulm", "Hof", "Bonn"], list(pd.to_datetime(["2024-03-01"] * 2 + ["2024-05-06"] * 2))],
)
def test_a_value_that_has_to_be_present_is_of_the_kind_of_its_column(present: list[Any]) -> None:
    X = pd.DataFrame({"column": [*present, None, None]})
    model = OptimalTreeClassifier(max_depth=1, min_category_rows=2).fit(X, [0, 0, 0, 0, 1, 1])
    change = model.explain(X.iloc[[5]]).nearest
    assert change is not None
    assert change.columns[0].condition == "column is present"
    assert model.explain({"column": change.columns[0].example}).prediction == 0


def test_many_cut_points_take_no_time() -> None:
    X = np.random.default_rng(0).normal(size=(60_000, 2))
    model = OptimalTreeClassifier(max_depth=1, thresholds="all").fit(X, X[:, 0] > 0)
    assert len(model.encoder_.tests_) > 100_000
    assert len(model.encoder_.tests_.samples()) == 2
    assert model.explain(X[:1]).prediction == (X[0, 0] > 0)


def test_rare_categories_are_not_called_unseen() -> None:
    X = pd.DataFrame({"city": ["Ulm"] * 9 + ["Bonn"] * 9 + ["Kiel", "Rom"]})
    model = OptimalTreeClassifier(max_depth=2, min_category_rows=5).fit(X, [0] * 18 + [1, 1])
    found = model.explain({"city": "Kiel"})
    assert [step.condition for step in found.steps] == ["city is rare"]
    assert found.notes == ()
    assert found.nearest.columns[0].condition == "city is frequent"
    assert model.explain({"city": found.nearest.columns[0].example}).prediction == 0


def test_one_row_may_be_a_frame_a_series_a_mapping_or_a_list() -> None:
    X = pd.DataFrame({"a": [1, 2, 3, 4], "b": ["u", "v", "u", "v"]})
    model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1, 1, 0])
    texts = {
        str(model.explain(row))
        for row in (X.iloc[[1]], X.iloc[1], {"a": 2, "b": "v"}, {"b": "v", "a": 2}, [[2, "v"]])
    }
    assert len(texts) == 1
    assert isinstance(model.explain(X.iloc[[1]]), Explanation)
    assert len(model.explain(X)) == 4
    assert str(model.explain(X)[1:2]).startswith("Row 0\nPrediction: ")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 2}, r"^The row lacks the column 'b'; the model was fitted on 'a', 'b'\.$"),
        ({"a": 2, "b": "v", "c": 3}, "The row has the column 'c', which the model does not know"),
        (pd.DataFrame({"a": [2]}), "The row lacks the column 'b'"),
        ([[2]], "X has 1 columns, but the model was fitted on 2: 'a', 'b'"),
        ([2, "v"], r"explain needs rows of a table, such as X\.iloc\[\[0\]\]"),
        (3, "explain needs rows of a table"),
        ({"a": "old", "b": "v"}, "Column 'a' held numbers in training, but now holds text"),
        ([], "Expected 2D|0 sample|rows of a table"),
    ],
)
def test_bad_rows_are_one_clear_line(row: Any, message: str) -> None:
    X = pd.DataFrame({"a": [1, 2, 3, 4], "b": ["u", "v", "u", "v"]})
    model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1, 1, 0])
    with pytest.raises(ValueError, match=message):
        model.explain(row)


def test_a_target_leaves_only_the_ways_to_it() -> None:
    X = np.arange(12)[:, None]
    model = OptimalTreeClassifier(max_depth=2).fit(X, np.repeat(["a", "b", "c"], 4))
    found = model.explain([[0]])
    assert [change.name for change in found.changes] == ["b", "c"]
    assert [change.name for change in model.explain([[0]], target="c").changes] == ["c"]
    with pytest.raises(ValueError, match=r"No leaf of the tree predicts 'd'; .* predict a, b, c"):
        model.explain([[0]], target="d")
    numbers = OptimalTreeRegressor(max_depth=1).fit(X, X[:, 0] > 5)
    assert numbers.explain([[0]], target=1.0).changes[0].prediction == 1.0
    roads = oracles.Decisions([[1, 0], [0, 1]], names=["coast", "hills"])
    decides = SPOTree(roads, max_depth=1).fit([[0], [1]], [[1, 2], [2, 1]])
    assert decides.explain([[0]], target="hills").nearest.name == "hills"
    assert decides.explain([[0]], target=(0.0, 1.0)).nearest.name == "hills"


def test_a_single_leaf_asks_nothing_and_cannot_change() -> None:
    found = OptimalTreeClassifier(max_depth=0).fit([[0], [1]], [1, 1]).explain([[0]])
    assert found.changes == ()
    assert found.nearest is None
    assert "The tree is a single leaf and asks nothing." in str(found)
    assert "no other can be reached" in repr(found)


def test_hostile_names_stay_on_their_line_and_out_of_html() -> None:
    X = pd.DataFrame({"<b>\n": [0.0, 1.0], "y": ["<script>", "\u2028"]})
    model = OptimalTreeClassifier(max_depth=1).fit(X, ["<i>", "&"])
    found = model.explain(X.iloc[[0]])
    assert "<script>" not in found.to_html()
    assert "<i>" not in found.to_html()
    assert "<b>" not in found.to_html()
    assert len(str(found).splitlines()) == len(str(found).split("\n")) <= 8


def test_a_model_must_be_fitted() -> None:
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().explain([[0]])
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().to_text()


def test_text_and_picture_are_those_of_the_tree() -> None:
    model = cases()["path"].model
    assert model.to_text(decimals=1) == model.tree_.to_text(decimals=1)
    pytest.importorskip("matplotlib")
    assert model.plot(fontsize=8).texts
