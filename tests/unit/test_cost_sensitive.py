"""The cost-sensitive classifier: costs in, prices of tests, what it reports, what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from certree import CostSensitiveTreeClassifier, Measurement, OptimalTreeClassifier, datasets

MATRIX = [[0, 10], [50, 0]]
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
Y = np.array(["no", "yes", "yes", "no"])


def test_without_costs_it_counts_errors() -> None:
    table, y = datasets.load_credit(return_X_y=True)
    model = CostSensitiveTreeClassifier(max_depth=2, thresholds=4).fit(table, y)
    twin = OptimalTreeClassifier(max_depth=2, thresholds=4).fit(table, y)
    assert model.certificate_.cost == twin.certificate_.cost
    assert -model.score(table, y) * len(y) == pytest.approx(float(twin.certificate_.cost))


def test_tests_are_asked_only_where_they_pay() -> None:
    dear = CostSensitiveTreeClassifier(MATRIX, test_costs=[3, 4], max_depth=2).fit(X, Y)
    assert dear.tree_.n_splits == 0
    assert dear.tests_used(X) == [[], [], [], []]
    assert dear.test_cost(X).tolist() == [0, 0, 0, 0]
    cheap = CostSensitiveTreeClassifier(MATRIX, test_costs=[1, 2], max_depth=2).fit(X, Y)
    assert cheap.certificate_.cost == 12
    assert cheap.test_cost(X).tolist() == [3, 3, 3, 3]
    assert sorted(cheap.tests_used(X)[0]) == [0, 1]


def test_columns_are_named_in_what_is_used() -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=["blood", "pulse"])
    model = CostSensitiveTreeClassifier(MATRIX, test_costs={"blood": 1, "pulse": 2}, max_depth=2)
    assert sorted(model.fit(frame, Y).tests_used(frame)[0]) == ["blood", "pulse"]


def test_a_column_is_paid_for_once_however_many_thresholds_ask_it() -> None:
    x = np.arange(8.0)[:, None]
    y = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    model = CostSensitiveTreeClassifier([[0, 10], [10, 0]], test_costs=[1], max_depth=2)
    model.fit(x, y)
    assert model.tree_.n_splits == 3
    assert model.certificate_.cost == 8


def test_a_group_is_discounted_once_one_of_it_was_measured() -> None:
    model = CostSensitiveTreeClassifier(
        MATRIX,
        test_costs=[
            Measurement(0, 2.0, group="blood", discounted=0.5),
            Measurement(1, 2.0, group="blood", discounted=0.25),
        ],
        max_depth=2,
    ).fit(X, Y)
    assert float(model.certificate_.cost) == 4 * (2 + 0.25)
    assert model.test_cost(X).tolist() == [2.25] * 4


def test_a_measurement_may_reveal_several_columns() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, test_costs=[Measurement([0, 1], 2)], max_depth=2)
    assert model.fit(X, Y).certificate_.cost == 8


def test_the_normalised_cost_is_that_of_the_definition() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, test_costs=[1, 2], max_depth=2).fit(X, Y)
    y = np.array(["no", "yes", "no", "no"])
    # Three for tests, and a false "yes" at 10 for one row in four.
    assert model.expected_cost(X, y) == 3 + 10 / 4
    assert model.normalized_cost(X, y) == (3 + 10 / 4) / (3 + 0.25 * 50)


def test_costs_per_row_may_replace_labels() -> None:
    costs = np.array([[0, 5.5], [1, 0], [2, 0.5], [0, 3]])
    model = CostSensitiveTreeClassifier(max_depth=2).fit(X, costs=costs)
    assert model.classes_.tolist() == [0, 1]
    assert model.expected_cost(X, costs=costs) == costs.min(axis=1).mean()
    named = CostSensitiveTreeClassifier(classes=["wait", "act"], max_depth=2).fit(X, costs=costs)
    assert named.predict(X).tolist() == ["wait", "act", "act", "wait"]


def test_a_fold_without_a_class_keeps_the_matrix() -> None:
    model = CostSensitiveTreeClassifier([[0, 1, 1], [1, 0, 1], [1, 1, 0]], max_depth=1)
    model.fit(X, [0, 2, 2, 0])
    assert model.classes_.tolist() == [0, 1, 2]


def test_grid_search_finds_the_least_cost() -> None:
    table, y = datasets.load_binary_example(return_X_y=True)
    model = CostSensitiveTreeClassifier([[0, 1], [4, 0]], test_costs=[0.1] * table.shape[1])
    search = GridSearchCV(model, {"max_depth": [0, 1, 2]}, cv=3).fit(table, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.best_score_ < 0


def test_costs_of_rows_are_routed_to_fit_and_score() -> None:
    table, y = datasets.load_binary_example(return_X_y=True)
    costs = np.random.default_rng(0).random((len(y), 2))
    model = CostSensitiveTreeClassifier(classes=np.unique(y))
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(costs=True).set_score_request(costs=True)
        search = GridSearchCV(model, {"max_depth": [0, 2]}, cv=2).fit(table, y, costs=costs)
    assert search.best_score_ < 0


def test_the_path_has_the_best_tree_for_every_number_of_splits() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, max_depth=2).fit(X, Y, path=True)
    assert [(entry.splits, entry.errors) for entry in model.path_] == [(0, 20), (2, 10), (3, 0)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test_costs": [1, -2]}, r"test_costs\[1\] .* has the price -2"),
        ({"test_costs": {5: 1}}, r"test_costs\[0\] names the column 5, which X does not have"),
        ({"test_costs": {"age": 1}}, r"names the column 'age'"),
        ({"test_costs": [1, 2, 3]}, "test_costs must have shape 2, got 3"),
        ({"test_costs": [Measurement(0, 3, "a", 1)]}, r"its group 'a' has no other measurement"),
        ({"test_costs": [Measurement(0, 3, None, 1)]}, r"its group None has no other"),
        (
            {"test_costs": [Measurement(0, 3, "a", 4), Measurement(1, 1, "a")]},
            "more than its price",
        ),
        ({"test_costs": [Measurement(0, 3), Measurement([0, 1], 1)]}, "priced already"),
        ({"cost_matrix": [[0, 1]]}, "one row and one column per class"),
        ({"cost_matrix": [[0, np.nan], [1, 0]]}, r"matrix\[0, 1\] = nan"),
        ({"cost_matrix": np.zeros((3, 3))}, "say with classes what the columns stand for"),
        ({"cost_matrix": MATRIX, "classes": ["a", "b"]}, r"y\[0\] = 'no' is not among the classes"),
        ({"complexity": -1}, "complexity must be at least 0"),
    ],
)
def test_what_is_wrong_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CostSensitiveTreeClassifier(**{"cost_matrix": MATRIX, **settings}).fit(X, Y)


def test_wrong_costs_are_named() -> None:
    with pytest.raises(ValueError, match=r"costs\[2, 1\] = inf"):
        CostSensitiveTreeClassifier().fit(X, costs=[[0, 1], [1, 0], [0, np.inf], [1, 0]])
    with pytest.raises(ValueError, match="costs must have shape 4 x any"):
        CostSensitiveTreeClassifier().fit(X, costs=[[0, 1]])
    with pytest.raises(ValueError, match="either cost_matrix or"):
        CostSensitiveTreeClassifier(MATRIX).fit(X, Y, costs=np.zeros((4, 2)))
    with pytest.raises(TypeError, match="test_costs must be a mapping"):
        CostSensitiveTreeClassifier(MATRIX, test_costs=3).fit(X, Y)


def test_a_matrix_is_called_by_its_name() -> None:
    for matrix, message in (
        ([[0, np.nan], [1, 0]], r"cost_matrix\[0, 1\] = nan"),
        ([[0, 1, 2], [1, 0, 2]], "cost_matrix has 3 columns"),
        ([[0, 1]], "cost_matrix must have one row and one column per class"),
    ):
        with pytest.raises(ValueError, match=message):
            CostSensitiveTreeClassifier(matrix).fit(X, Y)
    with pytest.raises(ValueError, match="classes must be distinct, one for each column of cost_m"):
        CostSensitiveTreeClassifier(MATRIX, classes=["no", "no"]).fit(X, Y)


def test_a_measurement_under_another_column_is_refused() -> None:
    model = CostSensitiveTreeClassifier(MATRIX, test_costs={0: Measurement(1, 3)})
    with pytest.raises(ValueError, match=r"test_costs\[0\] is a Measurement of 1"):
        model.fit(X, Y)
    right = {0: Measurement([0, 1], 1)}
    model = CostSensitiveTreeClassifier(MATRIX, test_costs=right, max_depth=2).fit(X, Y)
    assert model.certificate_.cost == 4


def test_prices_may_be_a_series() -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=["blood", "pulse"])
    for prices in (pd.Series([1, 2]), pd.Series({"pulse": 2.0, "blood": 1.0})):
        model = CostSensitiveTreeClassifier(MATRIX, test_costs=prices, max_depth=2).fit(frame, Y)
        assert model.certificate_.cost == 12


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], r"sample_weight\[1\] = -1.0 is negative"),
        ([0, 0, 0, 0], "All sample weights are zero"),
        ([1, 1], "sample_weight has 2 entries, but there are 4 rows"),
        ([1, np.nan, 1, 1], r"sample_weight\[1\] = nan"),
    ],
)
def test_wrong_weights_of_an_evaluation_are_named(weights: Any, message: str) -> None:
    model = CostSensitiveTreeClassifier(MATRIX, max_depth=1).fit(X, Y)
    for method in (model.expected_cost, model.score, model.normalized_cost):
        with pytest.raises(ValueError, match=message):
            method(X, Y, weights)


def test_the_report_counts_what_each_row_is_asked() -> None:
    """Against sums over the rows, by hand: the tree asks b of rows with a = 0 only."""
    X = pandas_frame()
    y = ["p", "q", "r", "r", "r"]
    weights = np.array([1, 2, 3, 1, 1])
    prices = [Measurement("a", 0.05, group="g"), Measurement("b", 0.04, group="g", discounted=0.01)]
    model = CostSensitiveTreeClassifier(test_costs=prices).fit(X, y, weights)
    report = model.cost_report(X, ["p", "p", "r", "r", "q"], weights)
    asked = model.tests_used(X)
    assert asked == [["a", "b"], ["a", "b"], ["a"], ["a"], ["a"]]
    assert report.n_rows == 5
    assert report.n_tests == report.n_columns == pytest.approx((2 * 3 + 5) / 8)
    assert report.test_cost == pytest.approx((3 * 0.06 + 5 * 0.05) / 8)
    assert report.label_cost == pytest.approx((2 + 1) / 8)
    assert report.cost == pytest.approx(model.expected_cost(X, ["p", "p", "r", "r", "q"], weights))
    assert report.measured == pytest.approx({"a": 1.0, "b": 3 / 8})
    assert "asks b" in str(report)
    assert report.to_dict()["measured"]["b"] == pytest.approx(3 / 8)
    bare = model.cost_report(X)
    assert (bare.label_cost, bare.cost, bare.normalized_cost) == (None, None, None)
    assert bare.test_cost == pytest.approx((2 * 0.06 + 3 * 0.05) / 5)


def test_several_tests_of_a_column_are_one_column_of_the_report() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "c", "d"]
    report = CostSensitiveTreeClassifier(max_depth=2, test_costs=[0.1]).fit(X, y).cost_report(X, y)
    assert (report.n_tests, report.n_columns) == (2.0, 1.0)
    assert report.cost == pytest.approx(0.1)


def pandas_frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]})
