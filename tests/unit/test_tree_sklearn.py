"""Trees as scikit-learn classifiers: same leaves, same predictions, accepted by its tools."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree
from sklearn.utils.validation import check_is_fitted
from tests.unit.trees import Case, cases, leaf, mixed_tree, stump

from certree.encoding import Flag, Level, Missing, Test, Threshold, encode_tests, read_table
from certree.encoding._cuts import midpoints
from certree.tree import Tree
from certree.tree._sklearn import float32_threshold


def matrix(case: Case) -> pd.DataFrame:
    rows = np.array(case.rows, dtype=np.float64)
    return pd.DataFrame(rows, columns=list(case.tree.feature_names))


def single(x: float) -> float:
    """Round to single precision, but compare in double precision, as scikit-learn does."""
    return float(np.float32(x))


@given(cases(only_numbers=True))
def test_raw_numbers_reach_the_same_leaves(case: Case) -> None:
    tree, X = case.tree, matrix(case)
    model = tree.to_sklearn()
    assert model.apply(X).tolist() == tree.apply(X).tolist()
    assert model.predict(X).tolist() == tree.predict(X).tolist()
    # Older versions of scikit-learn lose missing values on the way, in decision_path alone.
    X = X.dropna()
    if len(X):
        assert (model.decision_path(X).toarray() == tree.decision_path(X).toarray()).all()


@given(cases())
def test_encoded_rows_reach_the_same_leaves(case: Case) -> None:
    # The encoder's columns, as far as the tree knows them; others are noise to it.
    tree = case.tree
    columns = np.ones((len(case.rows), tree.n_columns), dtype=np.uint8)
    columns[:, list(tree.columns)] = encode_tests(tree.tests, read_table(case.rows))
    if tree.n_columns:
        model = tree.to_sklearn(encoded=True)
        assert model.apply(columns).tolist() == tree.apply(case.rows).tolist()
        assert model.predict(columns).tolist() == tree.predict(case.rows).tolist()


@given(cases(only_numbers=True))
def test_probabilities_agree_where_the_label_is_the_most_frequent_class(case: Case) -> None:
    tree, X = case.tree, matrix(case)
    ours, theirs = tree.predict_proba(X), tree.to_sklearn().predict_proba(X)
    leaves = tree.apply(X)
    majority = tree.counts[leaves].argmax(axis=1) == tree.label[leaves]
    assert (ours[majority] == theirs[majority]).all()
    tied = ours.max(axis=1) == ours[np.arange(len(X)), tree.label[leaves]]
    np.testing.assert_allclose(ours[tied], theirs[tied], rtol=1e-14)


def test_the_label_wins_over_the_most_frequent_class() -> None:
    counts = [[5, 5, 5], [4, 4, 2], [1, 1, 3]]
    tests = [Threshold(0, "x0", 0.5)]
    tree = Tree(tests, [0, -1, -1], [1, -1, -1], [-1, 1, 0], counts=counts, classes=[7, 8, 9])
    assert tree.to_sklearn().predict([[0.0], [1.0]]).tolist() == [8, 7]


def test_importances_and_sizes_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.integers(0, 10, (200, 4)).astype(np.float64), columns=list("abcd"))
    y = np.where(X["a"] + X["b"] > 9, "high", "low")
    fitted = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    tree = from_sklearn(fitted)
    assert (tree.predict(X) == fitted.predict(X)).all()
    assert tree.feature_importances == pytest.approx(fitted.feature_importances_)
    model = tree.to_sklearn()
    assert model.get_depth() == fitted.get_depth() == tree.depth
    assert model.get_n_leaves() == fitted.get_n_leaves() == tree.n_leaves
    assert model.feature_importances_ == pytest.approx(fitted.feature_importances_)
    assert export_text(model) == export_text(fitted)
    assert model.score(X, y) == fitted.score(X, y)


def from_sklearn(fitted: DecisionTreeClassifier) -> Tree:
    """Renumber a scikit-learn tree so that siblings are neighbours."""
    inner, names = fitted.tree_, list("abcd")[: fitted.n_features_in_]
    order, tests, test, first_child = [0], [], [], []
    for node in order:
        if inner.children_left[node] < 0:
            test.append(-1)
            first_child.append(-1)
            continue
        feature = int(inner.feature[node])
        test.append(len(tests))
        tests.append(Threshold(feature, names[feature], inner.threshold[node]))
        first_child.append(len(order))
        order += [inner.children_left[node], inner.children_right[node]]
    counts = inner.value[order, 0] * inner.weighted_n_node_samples[order][:, None]
    label = np.where(np.array(test) < 0, counts.argmax(axis=1), -1)
    return Tree(
        tests,
        test,
        first_child,
        label,
        counts=np.rint(counts).astype(np.int64),
        classes=fitted.classes_,
        feature_names=names,
    )


@pytest.mark.parametrize("side, leaves", [(None, [2, 4, 3, 4, 2]), (True, [3, 3, 3, 4, 3])])
def test_missing_values_go_where_the_tests_say(side: bool | None, leaves: list[int]) -> None:
    tests: list[Test] = [Threshold(0, "a", 0.5, side), Flag(1, "b", False, side)]
    tree = Tree(
        tests,
        [0, 1, -1, -1, -1],
        [1, 3, -1, -1, -1],
        [-1, -1, 0, 1, 2],
        counts=np.eye(5, 3) + 1,
        classes=["a", "b", "c"],
        feature_names=["a", "b"],
    )
    rows = [[np.nan, 1], [0, np.nan], [0, 1], [0, 0], [np.nan, np.nan]]
    X = pd.DataFrame(rows, columns=["a", "b"])
    assert tree.apply(X).tolist() == leaves
    assert tree.to_sklearn().apply(X).tolist() == leaves


def test_a_fitted_classifier_in_every_respect() -> None:
    model = stump().to_sklearn()
    check_is_fitted(model)
    assert type(model) is DecisionTreeClassifier
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.n_features_in_, model.n_classes_, model.n_outputs_) == (1, 2, 1)
    assert model.feature_names_in_.tolist() == ["age"]
    assert "age <= 0.50" in export_text(model, feature_names=["age"], show_weights=True)
    assert plot_tree(model)
    X = pd.DataFrame({"age": [0.0, 1.0]})
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.predict(X).tolist() == ["no", "yes"]
    assert model.cost_complexity_pruning_path(X, ["no", "yes"]).ccp_alphas.size


def test_a_single_leaf() -> None:
    model = leaf().to_sklearn()
    assert model.predict(np.zeros((2, 2))).tolist() == ["yes", "yes"]
    assert model.predict_proba(np.zeros((1, 2))).tolist() == [[0.25, 0.75]]
    assert "class: yes" in export_text(model)


def test_questions_that_are_no_comparison_need_the_encoded_tree() -> None:
    with pytest.raises(ValueError, match=r"cannot ask 'color = red'; use .*encoded=True"):
        mixed_tree().to_sklearn()
    assert mixed_tree().to_sklearn(encoded=True).n_features_in_ == 7
    with pytest.raises(ValueError, match=r"cannot ask 'stage <= I'; use .*encoded=True"):
        asking(Level(0, "stage", ("I", "II"), "I")).to_sklearn()
    missing = asking(Missing(0, "color"))
    with pytest.raises(ValueError, match="cannot ask 'color is missing'"):
        missing.to_sklearn(pd.DataFrame({"color": ["red", None]}))


def asking(test: Test) -> Tree:
    """One test and two leaves."""
    counts = [[4, 3], [4, 1], [0, 2]]
    parts = ([test], [0, -1, -1], [1, -1, -1], [-1, 0, 1])
    return Tree(*parts, counts=counts, classes=["no", "yes"], feature_names=[test.name])


# ---- thresholds in single precision ----------------------------------------------------------

finite = st.floats(-1e30, 1e30)


@given(finite, finite)
def test_thresholds_agree_wherever_float32_tells_value_and_threshold_apart(
    x: float, threshold: float
) -> None:
    if single(x) != single(threshold):
        assert (single(x) <= float32_threshold(threshold)) == (x <= threshold)


@given(finite, finite)
def test_midpoints_separate_what_float32_tells_apart(a: float, b: float) -> None:
    low, high = sorted([a, b])
    if single(low) < single(high):
        threshold = float32_threshold(low / 2 + high / 2)
        assert single(low) <= threshold < single(high)


@given(finite, st.integers(1, 2**31))
def test_cuts_of_the_encoder_separate_what_float32_tells_apart(low: float, steps: int) -> None:
    high = low + steps * float(np.spacing(abs(low)))
    if single(low) < single(high):
        (cut,) = midpoints(np.array([low]), np.array([high])).tolist()
        assert single(low) <= float32_threshold(cut) < single(high)


@given(st.floats(-(2.0**99), 2.0**99, width=32), st.integers(1, 3))
def test_midpoints_of_close_float32_values_separate_them(low: float, steps: int) -> None:
    high = np.float32(low)
    for _ in range(steps):
        high = np.nextafter(high, np.float32(np.inf))
    threshold = float32_threshold((low + float(high)) / 2)
    assert single(low) <= threshold < float(high)


@pytest.mark.parametrize("value", [0.1, 0.3, 35.5, 1e-5, 123456.7, -0.7, 1e6 + 0.1])
def test_a_value_equal_to_a_decimal_threshold_still_holds(value: float) -> None:
    assert single(value) <= float32_threshold(value)


@pytest.mark.parametrize("a, b", [(1.7e9, 1.7e9 + 100), (1.7e9 + 70, 1.7e9 + 210)])
def test_time_stamps_beyond_single_precision_are_separated(a: float, b: float) -> None:
    assert single(a) < single(b)
    assert single(a) <= float32_threshold((a + b) / 2) < single(b)


TIMES = 1_700_000_000 + 10.0 * np.arange(100)


def test_rows_that_float32_confuses_are_named() -> None:
    """Of time stamps every ten seconds, float32 keeps one in thirteen."""
    tree, X = asking(Threshold(0, "time", 1_700_000_495.0)), pd.DataFrame({"time": TIMES})
    with pytest.warns(
        UserWarning, match=r"^5 of 100 rows reach another leaf.*: rows 45, 46"
    ) as found:
        model = tree.to_sklearn(X)
    assert "time <= 1700000495" in str(found[0].message)
    assert found[0].filename == __file__
    assert np.flatnonzero(model.apply(X) != tree.apply(X)).tolist() == [45, 46, 47, 48, 49]


def test_thresholds_finer_than_float32_are_named() -> None:
    with pytest.warns(UserWarning, match=r"coarser than .*time <= 1700000495.*pass X") as found:
        asking(Threshold(0, "time", 1_700_000_495.0)).to_sklearn()
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for threshold in (35.5, 0.1, 1234.567, 0.0, -1e-7, 1e300):
            asking(Threshold(0, "x", threshold)).to_sklearn()


@given(st.lists(st.floats(1e9, 2e9), min_size=2, max_size=6, unique=True), st.data())
def test_rows_agree_or_are_named(values: list[float], data: st.DataObject) -> None:
    threshold = data.draw(st.sampled_from(sorted(values)[:-1]))
    tree, X = asking(Threshold(0, "x", threshold)), pd.DataFrame({"x": values})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = tree.to_sklearn(X)
    agree = (model.apply(X) == tree.apply(X)).all()
    assert agree == (not caught)
    above = min(value for value in values if value > threshold)
    assert agree == (single(threshold) < single(above))


def test_thresholds_outside_single_precision() -> None:
    largest = float(np.finfo(np.float32).max)
    assert float32_threshold(1e300) >= largest
    assert float32_threshold(-1e300) < -largest


def test_shap_explains_the_exported_tree() -> None:
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 10, (100, 3)).astype(np.float64), columns=list("abc"))
    y = X["a"] + X["b"] > 9
    tree = from_sklearn(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y))
    model = tree.to_sklearn()
    explained = shap.TreeExplainer(model)
    values = explained.shap_values(X)[:, :, 1].sum(axis=1) + explained.expected_value[1]
    assert values == pytest.approx(tree.predict_proba(X)[:, 1])
