"""OptimalTreeClassifier on raw tables, in pipelines and in searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from certree import OptimalTreeClassifier, TableEncoder, verify

COLUMNS: dict[str, list[Any]] = {
    "age": [23.0, 35.0, None, 51.0, 62.0, 18.0, 44.0, None, 29.0, 70.0, 33.0, 41.0],
    "color": ["red", "blue", "green", "red", None, "green", "blue", "red", "red", "blue"]
    + ["red"] * 2,
    "smoker": [True, False, False, True, True, False, False, False, True, True, False, True],
    "visits": [0, 3, 1, 0, 2, 5, 1, 0, 2, 3, 4, 1],
}
LABELS = [
    "sick",
    "well",
    "well",
    "sick",
    "sick",
    "well",
    "well",
    "well",
    "sick",
    "sick",
    "well",
    "sick",
]


def as_pandas() -> Any:
    return pytest.importorskip("pandas").DataFrame(COLUMNS)


def as_polars() -> Any:
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def as_nullable_pandas() -> Any:
    return as_pandas().convert_dtypes()


def as_categorical_pandas() -> Any:
    return as_pandas().astype({"color": "category"})


def as_lists() -> list[list[Any]]:
    return [list(row) for row in zip(*COLUMNS.values(), strict=True)]


FRAMES = [as_pandas, as_nullable_pandas, as_categorical_pandas, as_polars]


@pytest.mark.parametrize("make", [*FRAMES, as_lists], ids=lambda make: make.__name__)
def test_all_makes_of_a_table_give_the_same_tree(make: Any) -> None:
    X = make()
    model = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    reference = OptimalTreeClassifier(max_depth=2).fit(as_pandas(), LABELS)
    assert model.certificate_.cost == reference.certificate_.cost == 0
    assert model.predict(X).tolist() == reference.predict(as_pandas()).tolist() == LABELS
    assert verify(model, X, LABELS, exhaustive=True)


@pytest.mark.parametrize("make", FRAMES, ids=lambda make: make.__name__)
def test_names_of_columns_are_remembered_and_read_in_the_tree(make: Any) -> None:
    model = OptimalTreeClassifier(max_depth=2).fit(make(), LABELS)
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    assert "smoker" in model.tree_.to_text()


def test_missing_values_and_unseen_categories_have_their_way() -> None:
    frame = as_pandas()
    model = OptimalTreeClassifier(max_depth=3).fit(frame[["age", "color"]], LABELS)
    other = frame[["age", "color"]].copy()
    other["color"] = "violet"
    assert len(model.predict(other)) == len(other)
    verify(model, frame[["age", "color"]], LABELS)


@pytest.mark.parametrize("make", FRAMES, ids=lambda make: make.__name__)
def test_labels_may_be_a_series(make: Any) -> None:
    X = make()
    series = type(X[X.columns[0]])(LABELS)
    model = OptimalTreeClassifier(max_depth=2).fit(X, series)
    assert model.score(X, series) == 1.0
    assert verify(model, X, series)


def test_categorical_labels_and_nullable_booleans_are_labels() -> None:
    pandas = pytest.importorskip("pandas")
    X = as_pandas()
    categorical = pandas.Series(LABELS, dtype="category")
    assert OptimalTreeClassifier(max_depth=2).fit(X, categorical).score(X, categorical) == 1.0
    nullable = pandas.Series([label == "sick" for label in LABELS], dtype="boolean")
    model = OptimalTreeClassifier(max_depth=2).fit(X, nullable)
    assert model.classes_.tolist() == [False, True]


def test_thresholds_all_is_exact_on_numbers() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 1))
    y = (np.abs(X[:, 0]) < 0.5).astype(int)
    few = OptimalTreeClassifier(max_depth=2, thresholds=1).fit(X, y)
    every = OptimalTreeClassifier(max_depth=2, thresholds="all").fit(X, y)
    assert every.certificate_.cost == 0 < few.certificate_.cost
    assert few.certificate_.n_tests == 1
    assert every.certificate_.n_tests == 79


def test_categorical_features_reach_the_encoder() -> None:
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    y = [0, 1, 0, 0, 1, 0]
    names = OptimalTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, y)
    numbers = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert names.certificate_.cost == 0 < numbers.certificate_.cost
    assert str(names.tree_.tests[0]) == "x0 = 1"


def test_the_encoder_and_the_tree_agree() -> None:
    X = as_pandas()
    model = OptimalTreeClassifier(max_depth=3).fit(X, LABELS)
    columns = model.encoder_.transform(X)
    assert columns.shape == (len(LABELS), model.certificate_.n_tests)
    leaves = model.apply(X)
    root = model.tree_.columns[model.tree_.test[0]]
    first = model.tree_.first_child[0]
    on_the_left = model.decision_path(X)[:, [first]].toarray().ravel() == 1
    assert np.array_equal(columns[:, root] == 1, on_the_left)
    assert np.all(leaves > 0)


def test_pipelines_and_grid_searches_take_it_as_their_own() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    pipeline = make_pipeline(StandardScaler(), OptimalTreeClassifier(thresholds=5))
    grid = {
        "optimaltreeclassifier__max_depth": [1, 2],
        "optimaltreeclassifier__complexity": [0, 0.05],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[-1].certificate_.is_optimal
    assert cross_val_score(pipeline, X, y, cv=3).min() > 0.5


def test_the_encoder_as_a_step_of_its_own_gives_the_same_value() -> None:
    X = as_pandas()
    alone = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    steps = make_pipeline(
        TableEncoder().set_output(transform="pandas"), OptimalTreeClassifier(max_depth=2)
    ).fit(X, LABELS)
    assert steps[-1].certificate_.cost == alone.certificate_.cost
    assert steps.predict(X).tolist() == alone.predict(X).tolist()


def test_named_output_of_the_step_before_names_the_columns() -> None:
    step = FunctionTransformer(lambda table: table, feature_names_out="one-to-one")
    X = as_pandas()[["visits", "smoker"]]
    model = make_pipeline(step.set_output(transform="pandas"), OptimalTreeClassifier()).fit(
        X, LABELS
    )
    assert model[-1].feature_names_in_.tolist() == ["visits", "smoker"]


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_global_choice_of_output_does_not_disturb_the_fit(output: str) -> None:
    pytest.importorskip(output)
    X = as_pandas()
    expected = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    with sklearn.config_context(transform_output=output):
        model = OptimalTreeClassifier(max_depth=2).fit(X, LABELS, [1] * 11 + [0])
        again = OptimalTreeClassifier(max_depth=2).fit(X, LABELS)
    assert again.tree_ == expected.tree_
    assert model.certificate_.n_rows == 11


def test_weights_are_routed_by_metadata() -> None:
    X, y = np.arange(12.0)[:, None], np.array([0, 1] * 6)
    weights = np.ones(12)
    with sklearn.config_context(enable_metadata_routing=True):
        model = OptimalTreeClassifier(max_depth=1).set_fit_request(sample_weight=True)
        search = GridSearchCV(
            model.set_score_request(sample_weight=False), {"max_depth": [1]}, cv=2
        )
        assert search.fit(X, y, sample_weight=weights).best_params_ == {"max_depth": 1}
