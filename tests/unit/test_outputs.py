"""Trees for several outputs, and trees of clusters: shapes, exports, files, and bad input."""

from __future__ import annotations

import sqlite3
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_linnerud
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    Tree,
    TreeCV,
    load,
    solve,
    tasks,
    verify,
)
from certree.exceptions import CertificateError

CLUB = load_linnerud(as_frame=True)
RNG = np.random.default_rng(4)
X = pd.DataFrame({"age": RNG.integers(20, 60, 50), "city": RNG.choice(["Bonn", "Ulm"], 50)})
X.loc[::9, "age"] = None
LABELS = pd.DataFrame(
    {"kind": np.where(X["city"] == "Ulm", "a", "b"), "old": (X["age"] > 40) & (X["city"] == "Ulm")}
)


# ---- predictions ---------------------------------------------------------------------------------


def test_predictions_have_the_shape_of_the_targets() -> None:
    model = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, CLUB.target)
    assert model.predict(CLUB.data).shape == CLUB.target.shape
    assert model.n_outputs_ == 3
    assert model.output_weights_.tolist() == [1, 1, 1]
    leaves = model.apply(CLUB.data)
    for leaf in set(leaves.tolist()):
        mean = CLUB.target[leaves == leaf].mean()
        np.testing.assert_allclose(model.predict(CLUB.data)[leaves == leaf][0], mean)
    assert model.score(CLUB.data, CLUB.target) == r2_score(CLUB.target, model.predict(CLUB.data))


def test_one_column_is_one_output() -> None:
    plain = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, CLUB.target["Pulse"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        column = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, CLUB.target[["Pulse"]])
    assert plain.n_outputs_ == column.n_outputs_ == 1
    assert column.predict(CLUB.data).tolist() == plain.predict(CLUB.data).tolist()


def test_the_same_output_twice_gives_the_same_tree() -> None:
    y = CLUB.target["Waist"]
    one = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, y)
    two = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, np.column_stack([y, y]))
    assert two.certificate_.cost == pytest.approx(2 * one.certificate_.cost)
    assert two.apply(CLUB.data).tolist() == one.apply(CLUB.data).tolist()


def test_balanced_weights_make_the_objective_the_mean_score() -> None:
    model = OptimalTreeRegressor(max_depth=2, output_weights="balanced")
    model.fit(CLUB.data, CLUB.target)
    assert model.certificate_.objective == pytest.approx(model.score(CLUB.data, CLUB.target))
    np.testing.assert_allclose(model.output_weights_, 1 / CLUB.target.var(ddof=0))
    greedy = DecisionTreeRegressor(max_depth=2, random_state=0)
    greedy.fit(CLUB.data, CLUB.target / CLUB.target.std())
    assert model.score(CLUB.data, CLUB.target) >= greedy.score(
        CLUB.data, CLUB.target / CLUB.target.std()
    )


def test_weights_of_outputs_decide_which_errors_are_made() -> None:
    table = [[0, 0], [0, 1], [1, 0], [1, 1]]
    both = np.array(table)
    for chosen in (0, 1):
        weights = [9, 1] if chosen == 0 else [1, 9]
        model = OptimalTreeClassifier(max_depth=1, output_weights=weights).fit(table, both)
        assert model.predict(table)[:, chosen].tolist() == both[:, chosen].tolist()


def test_classes_are_listed_by_output() -> None:
    model = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0)
    greedy.fit(pd.get_dummies(X).fillna(0), LABELS.astype(str))
    assert [one.tolist() for one in model.classes_] == [["a", "b"], [False, True]]
    assert model.n_classes_ == [2, 2]
    shares = model.predict_proba(X)
    assert [one.shape for one in shares] == [(50, 2), (50, 2)]
    assert all(np.allclose(one.sum(axis=1), 1) for one in shares)
    for k, one in enumerate(shares):
        predicted = np.array(model.classes_[k])[one.argmax(axis=1)]
        assert predicted.tolist() == model.predict(X)[:, k].tolist()
    right = (model.predict(X) == LABELS.to_numpy()).all(axis=1)
    assert model.score(X, LABELS) == right.mean()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_rows_of_weight_zero_are_left_out() -> None:
    weights = np.r_[np.zeros(5), np.ones(45)]
    weighted = OptimalTreeClassifier(max_depth=2).fit(X, LABELS, weights)
    part = OptimalTreeClassifier(max_depth=2).fit(X[5:], LABELS[5:])
    assert weighted.certificate_.cost == part.certificate_.cost
    verify(weighted, X, LABELS, weights)


@pytest.mark.parametrize("thresholds", [8, "all"])
def test_columns_and_ranks_agree(thresholds: Any) -> None:
    rng = np.random.default_rng(6)
    table = rng.normal(size=(300, 4))
    y = np.column_stack([table[:, 0] > 0.3, (table[:, 1] > 0) ^ (table[:, 2] > 1)]).astype(int)
    numbers = np.round(y * [2.0, 30.0] + rng.normal(size=(300, 2)), 2)
    for model, target in (
        (OptimalTreeClassifier(2, thresholds=thresholds), y),
        (OptimalTreeRegressor(2, thresholds=thresholds), numbers),
    ):
        found = model.fit(table, target).certificate_
        # A named search goes over columns.
        other = model.set_params(search="depth-first").fit(table, target).certificate_
        assert found.status == other.status == "optimal"
        assert found.cost == other.cost


def test_sizes_are_chosen_by_other_rows() -> None:
    chosen = TreeCV(OptimalTreeRegressor(output_weights="balanced"), depths=(1, 2), cv=3)
    assert chosen.fit(CLUB.data, CLUB.target).predict(CLUB.data).shape == (20, 3)
    classes = OptimalTreeClassifierCV(depths=(1, 2), cv=3).fit(X, LABELS)
    assert classes.score(X, LABELS) == classes.best_estimator_.score(X, LABELS)


# ---- exports and files ---------------------------------------------------------------------------


def _fitted() -> list[tuple[Any, Any]]:
    numbers = OptimalTreeRegressor(max_depth=2).fit(CLUB.data, CLUB.target)
    labels = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    clusters = OptimalTreeClusterer(n_clusters=3).fit(CLUB.data)
    return [(numbers, CLUB.data), (labels, X), (clusters, CLUB.data)]


def test_exports_predict_the_same() -> None:
    for model, table in _fitted():
        expected = model.predict(table).tolist()
        code: dict[str, Any] = {}
        exec(model.tree_.to_python(), code)
        records = table.astype(object).where(table.notna(), None).to_dict("records")
        assert [code["predict"](row) for row in records] == expected
        connection = sqlite3.connect(":memory:")
        table.to_sql("rows", connection, index=False)
        found = connection.execute(f"SELECT {model.tree_.to_sql()} FROM rows").fetchall()
        lines = [list(line) if len(line) > 1 else line[0] for line in found]
        assert lines == expected


def test_text_and_pictures_name_the_outputs() -> None:
    (numbers, _), (labels, _), (clusters, _) = _fitted()
    for name in CLUB.target.columns:
        assert name in numbers.to_text()
        assert name in numbers.tree_.to_dot()
        assert name in numbers.tree_.to_html()
    assert "kind a, old" in labels.to_text()
    assert "cluster 0, Chins" in clusters.to_text()
    assert 'AS "p_kind"' in labels.tree_.to_sql(alias="p")
    unnamed = OptimalTreeRegressor(max_depth=0).fit([[0], [1]], [[1, 5], [2, 5]])
    assert unnamed.to_text() == "outputs: (1.5, 5) (means of 2 rows)"
    many = OptimalTreeRegressor(max_depth=0).fit([[0], [1]], np.ones((2, 9)))
    assert many.to_text() == "outputs: (1, 1, 1, 1, and 5 more) (means of 2 rows)"


def test_trees_and_models_are_read_back(tmp_path: Path) -> None:
    for model, table in _fitted():
        assert Tree.from_json(model.tree_.to_json()) == model.tree_
        model.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.tree_ == model.tree_
        assert again.predict(table).tolist() == model.predict(table).tolist()


def test_files_with_other_contents_are_refused() -> None:
    tree = OptimalTreeClassifier(max_depth=1).fit(X, LABELS).tree_.to_dict()
    for change in (
        {"values": [[0]]},
        {"values": [[0, 7]]},
        {"classes": []},
        {"outputs": ["one"]},
    ):
        with pytest.raises(ValueError):
            Tree.from_dict({**tree, "leaves": {**tree["leaves"], **change}})
    nodes = [{**node, "counts": node["counts"][:-1]} for node in tree["nodes"]]
    with pytest.raises(ValueError, match="counts"):
        Tree.from_dict({**tree, "nodes": nodes})


def test_explanations_speak_of_all_outputs() -> None:
    model = OptimalTreeRegressor(max_depth=1).fit(CLUB.data, CLUB.target)
    text = str(model.explain(CLUB.data.iloc[0]))
    assert "Weight" in text
    assert "Pulse" in text


def test_a_changed_count_or_mean_is_found() -> None:
    labels = OptimalTreeClassifier(max_depth=1).fit(X, LABELS)
    tree = labels.tree_.to_dict()
    tree["nodes"][-1]["counts"][0] += 1
    labels.tree_ = Tree.from_dict(tree)
    with pytest.raises(CertificateError, match="counts of node"):
        verify(labels, X, LABELS)
    numbers = OptimalTreeRegressor(max_depth=1).fit(CLUB.data, CLUB.target)
    tree = numbers.tree_.to_dict()
    tree["leaves"]["values"][0][1] += 0.01
    numbers.tree_ = Tree.from_dict(tree)
    with pytest.raises(CertificateError, match="mean of its rows"):
        verify(numbers, CLUB.data, CLUB.target)


# ---- clusters ------------------------------------------------------------------------------------


def test_clusters_are_numbered_leaves() -> None:
    iris = load_iris().data
    model = OptimalTreeClusterer(n_clusters=3)
    assert model.fit_predict(iris).tolist() == model.labels_.tolist()
    assert model.cluster_centers_.shape == (3, 4)
    assert sorted(set(model.labels_.tolist())) == [0, 1, 2]
    assert model.inertia_ == pytest.approx(-model.score(iris))
    scaled = (iris - iris.mean(axis=0)) / iris.std(axis=0)
    free = KMeans(3, n_init=5, random_state=0).fit(scaled).inertia_
    assert free <= model.inertia_ < 1.2 * free
    plain = OptimalTreeClusterer(n_clusters=3, scale=None).fit(iris)
    distances = ((iris - plain.cluster_centers_[plain.labels_]) ** 2).sum()
    assert plain.inertia_ == pytest.approx(distances)


def test_distances_are_those_of_the_chosen_columns() -> None:
    model = OptimalTreeClusterer(n_clusters=2, max_depth=1, features=["income"])
    table = pd.DataFrame(
        {"income": [1.0, 2.0, 9.0, 8.0], "city": ["a", "a", "b", "b"], "age": [1, None, 2, 3]}
    )
    assert model.fit(table).labels_.tolist() == [0, 0, 1, 1]
    assert model.centre_names_ == ["income"]
    assert model.cluster_centers_.tolist() == [[1.5], [8.5]]
    verify(model, table, exhaustive=True)


@pytest.mark.parametrize("weights", [None, [1, 2, 0.5, 1, 3, 1, 0, 1]])
@pytest.mark.parametrize("scale", ["standard", None])
def test_missing_values_count_as_the_mean_of_their_column(weights: Any, scale: Any) -> None:
    table = pd.DataFrame(
        {
            "income": [1.0, 2.0, 9.0, 8.0, None, 3.5, None, 7.0],
            "age": [30, None, 61, 65, 40, 33, 50, 58],
            "empty": [None] * 8,
        },
        dtype=float,
    )
    model = OptimalTreeClusterer(n_clusters=3, scale=scale)
    with pytest.warns(UserWarning, match="missing in 'income', 'age'; distances count them as"):
        model.fit(table, sample_weight=weights)
    assert model.centre_names_ == ["income", "age"]
    shares = np.ones(8) if weights is None else np.array(weights)
    filled = table[["income", "age"]].apply(
        lambda column: column.fillna(np.average(column.dropna(), weights=shares[column.notna()]))
    )
    by = "balanced" if scale else None
    same = OptimalTreeRegressor(max_leaf_nodes=3, output_weights=by)
    same.fit(table, filled, sample_weight=weights)
    assert model.inertia_ == pytest.approx(float(same.certificate_.cost), rel=1e-9)
    assert -model.score(table, sample_weight=weights) == pytest.approx(model.inertia_, rel=1e-9)
    assert verify(model, table, sample_weight=weights, exhaustive=True)
    # Also in rows to come, where none was missing before.
    whole = OptimalTreeClusterer(n_clusters=2, scale=None).fit([[1.0, 0.0], [3.0, 4.0]])
    assert whole.score([[1.0, np.nan]]) == -4


def test_equal_rows_are_one_cluster() -> None:
    model = OptimalTreeClusterer(n_clusters=4).fit([[1.0, 2.0]] * 5)
    assert model.labels_.tolist() == [0] * 5
    assert model.inertia_ == 0


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y, told",
    [
        (np.ones((4, 2, 2)), "one column, or one for each output"),
        (np.ones((3, 2)), "X has 4 rows, but y has 3"),
        ([[1, 2], [3], [1, 2], [1, 2]], "rows of different lengths"),
        ([[1.0, np.nan]] * 4, "NaN"),
        ([[1.0, np.inf]] * 4, "infinity"),
        ([["a", 1.0]] * 4, "must hold numbers"),
    ],
)
def test_targets_of_a_wrong_form_are_refused(y: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        OptimalTreeRegressor().fit([[0], [1], [2], [3]], y)


@pytest.mark.parametrize(
    "weights, told",
    [
        ([1], "one number for each of the 2 columns"),
        ([1, 0], "more than 0"),
        ([1, -1], "more than 0"),
        ("standard", "positive number for each output"),
        ([1, 1e-200], "1e100"),
    ],
)
def test_weights_of_outputs_that_make_no_sense_are_refused(weights: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        OptimalTreeRegressor(output_weights=weights).fit([[0], [1]], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=told):
        OptimalTreeClassifier(output_weights=weights).fit([[0], [1]], [[1, 2], [3, 4]])


def test_weights_of_outputs_need_several() -> None:
    for model in (OptimalTreeRegressor, OptimalTreeClassifier):
        with pytest.raises(ValueError, match="several outputs"):
            model(output_weights=[1]).fit([[0], [1]], [1, 2])


@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "f1"},
        {"objective": "balanced_accuracy"},
        {"class_weight": "balanced"},
        {"splits": "both"},
        {"pos_label": "a"},
    ],
)
def test_what_needs_one_output_says_so(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(settings))} needs one output"):
        OptimalTreeClassifier(**settings).fit(X, LABELS)


def test_limits_and_prices_need_one_output() -> None:
    limit = tasks.Limit("ones", {0: 1}, at_most=1)
    with pytest.raises(ValueError, match="one output"):
        solve(tasks.Misclassification() & limit, [[0], [1]], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="one output"):
        solve(tasks.Misclassification(), [[0], [1]], [[0, 1], [1, 0]], test_costs=[1])


def test_constant_targets_are_one_leaf() -> None:
    model = OptimalTreeRegressor().fit([[0], [1], [2]], [[1, 0.1]] * 3)
    assert model.tree_.n_splits == 0
    assert model.predict([[5]]).tolist() == [[1, 0.1]]
    assert model.certificate_.objective == 1
    classes = OptimalTreeClassifier().fit([[0], [1], [2]], [["a", "b"]] * 3)
    assert classes.predict([[5]]).tolist() == [["a", "b"]]


def test_numbers_whose_squares_overflow_are_refused() -> None:
    rows = np.array([[1.0], [3], [7]]) * 1e160
    for fit in (
        lambda: OptimalTreeClusterer().fit(rows),
        lambda: OptimalTreeRegressor(output_weights="balanced").fit(rows, np.hstack([rows, rows])),
    ):
        with pytest.raises(ValueError, match=r"divide (the column|all of them) by one number"):
            fit()


def test_tables_without_numbers_have_no_clusters() -> None:
    with pytest.raises(ValueError, match="needs columns of numbers, but there is none"):
        OptimalTreeClusterer().fit([["a"], ["b"]])
    with pytest.raises(ValueError, match="'city' is not one"):
        OptimalTreeClusterer(features=["city"]).fit(X)
    empty = pd.DataFrame({"city": ["a", "b"], "age": [np.nan, np.nan]})
    with pytest.raises(ValueError, match="needs columns of numbers, but there is none"):
        OptimalTreeClusterer().fit(empty)
    with pytest.raises(ValueError, match="'age' has no value in any row that counts"):
        OptimalTreeClusterer(features=["age"]).fit(empty)
    with pytest.raises(ValueError, match="n_clusters"):
        OptimalTreeClusterer(n_clusters=0).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="scale='minmax'"):
        OptimalTreeClusterer(scale="minmax").fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="twice"):
        OptimalTreeClusterer(features=[0, 0]).fit([[1.0], [2.0]])


def test_verify_says_that_it_needs_y() -> None:
    table, y = [[0.0], [1.0], [2.0], [3.0]], [1, 0, 1, 1]
    for estimator in (OptimalTreeClassifier(1), OptimalTreeRegressor(1)):
        with pytest.raises(ValueError, match=r"needs the y that .* call verify\(model, X, y\)"):
            verify(estimator.fit(table, y), table)


def test_verify_logs_what_it_has_checked(caplog: pytest.LogCaptureFixture) -> None:
    model = OptimalTreeRegressor(1).fit([[0.0], [1.0]], [1, 2])
    with caplog.at_level("INFO", logger="certree"):
        caplog.clear()  # another test may have asked for the log of fits
        report = verify(model, [[0.0], [1.0]], [1, 2])
    assert [record.getMessage() for record in caplog.records] == [
        f"verify: checked {check}" for check in report.checks
    ]


def test_verify_asks_for_as_many_columns_as_the_model_has_outputs() -> None:
    table, two = [[0.0], [1.0], [2.0], [3.0]], np.array([[0, 1], [0, 1], [1, 0], [1, 1]])
    for estimator in (OptimalTreeClassifier(1), OptimalTreeRegressor(1)):
        one = clone(estimator).fit(table, two[:, 0])
        with pytest.raises(ValueError, match=r"y must have 1 columns, as in fit, got shape \(4, 2"):
            verify(one, table, two)
        with pytest.raises(ValueError, match=r"y must have 2 columns, as in fit, got shape \(4,"):
            verify(estimator.fit(table, two), table, two[:, 0])
        assert verify(estimator, table, two)
