"""Bad input is refused with what was wrong, what was given and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning, NotFittedError

from certree import OptimalTreeClassifier
from certree.encoding._classes import check_labels, encode_labels

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
Y = np.array([0, 1, 0, 1])


# ---- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameter, value, error, message",
    [
        ("max_depth", -1, ValueError, "max_depth must be an integer of at least 0, or None"),
        ("max_depth", 2.5, TypeError, "max_depth must be an integer .* got 2.5 of type float"),
        ("max_depth", "3", TypeError, "max_depth must be .* got '3' of type str"),
        ("max_depth", True, TypeError, "max_depth must be .* got True of type bool"),
        ("max_splits", -2, ValueError, "max_splits must be .* got -2"),
        ("max_splits", 1.0, TypeError, "max_splits must be an integer"),
        ("complexity", -0.1, ValueError, "complexity must lie between 0 and 1, got -0.1"),
        ("complexity", 1.5, ValueError, "complexity must lie between 0 and 1, got 1.5"),
        ("complexity", float("nan"), ValueError, "complexity must be a finite number, got nan"),
        ("complexity", None, TypeError, "complexity must be a number"),
        ("complexity_per", "node", ValueError, 'supported values are "split", "leaf"'),
        ("objective", "gini", ValueError, 'objective=\'gini\'.*"accuracy", "balanced_accuracy"'),
        ("objective", 7, TypeError, 'supported values are "accuracy", "balanced_accuracy"'),
        ("min_samples_leaf", 0, ValueError, "min_samples_leaf must be .* at least 1.*, got 0"),
        ("min_samples_leaf", "few", TypeError, "min_samples_leaf must be an integer"),
        ("min_samples_leaf", None, TypeError, "min_samples_leaf must be an integer"),
        ("class_weight", "heavy", ValueError, "class_weight must be a dict, 'balanced' or None"),
        ("class_weight", [1, 2], ValueError, "class_weight must be a dict"),
        ("class_weight", {0: -1}, ValueError, "is negative"),
        ("class_weight", {0: "a", 1: 1}, ValueError, "must be a finite number, got 'a'"),
        ("class_weight", {0: 0, 1: 0}, ValueError, "weight zero to every class"),
        ("class_weight", {5: 1}, ValueError, r"names \[5\].*the classes are \[0, 1\]"),
        ("splits", "ternary", ValueError, 'supported values are "binary", "multiway", "both"'),
        ("splits", "multiway", ValueError, "needs columns of categories, but the table has none"),
        ("thresholds", 0, ValueError, "thresholds must be"),
        ("thresholds", "some", ValueError, "thresholds must be .*'some'"),
        ("categorical_features", "color", ValueError, "categorical_features must be"),
        ("categorical_features", [7], ValueError, "column index 7, but the table has 2 columns"),
        ("search", "random", ValueError, '"auto", "depth-first", "best-first"'),
        ("time_limit", 0, ValueError, "time_limit must be a finite number greater than 0"),
        ("time_limit", -3.0, ValueError, "time_limit must be .* got -3.0"),
        ("time_limit", float("inf"), ValueError, r"time_limit must be .*or None \(no limit\)"),
        ("time_limit", "1h", TypeError, "time_limit must be .* got '1h' of type str"),
        ("memory_limit", "2 hands", ValueError, "memory_limit='2 hands' is not a size"),
        ("memory_limit", 0, ValueError, "memory_limit must be more than 0 bytes"),
        ("memory_limit", 2.5, TypeError, "memory_limit must be an integer"),
        ("gap", -1, ValueError, "gap must be a finite number of at least 0, got -1"),
        ("gap", float("nan"), ValueError, "gap must be"),
        ("gap", None, TypeError, "gap must be"),
        ("n_jobs", 0, ValueError, "n_jobs=0 has no meaning"),
        ("n_jobs", 1.5, TypeError, "n_jobs must be an integer or None"),
        ("verbose", -1, ValueError, "verbose must be"),
        ("verbose", "loud", TypeError, "verbose must be"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_was_given(
    parameter: str, value: Any, error: type[Exception], message: str
) -> None:
    model = OptimalTreeClassifier(**{parameter: value})
    with pytest.raises(error, match=message):
        model.fit(X, Y)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match="deepness"):
        OptimalTreeClassifier(deepness=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="deepness"):
        OptimalTreeClassifier().set_params(deepness=3)


def test_numpy_numbers_and_booleans_are_as_good_as_pythons() -> None:
    model = OptimalTreeClassifier(
        max_depth=np.int64(2),
        complexity=np.float64(0.01),
        min_samples_leaf=np.int32(1),
        time_limit=np.float32(5),
        gap=np.int64(0),
        n_jobs=np.int64(1),
        verbose=False,
    ).fit(X, Y)
    assert type(model.certificate_.max_depth) is int
    assert str(model.certificate_.complexity) == "1/100"


# ---- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels, error, message",
    [
        ([0, 1, 0], ValueError, "X has 4 rows, but y has 3 labels"),
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([0.0, np.nan, 0.0, 1.0], ValueError, r"Input y contains NaN \(first in row 1\)"),
        ([0.0, np.inf, 0.0, 1.0], ValueError, "Input y contains infinity"),
        ([0.5, 1.25, 0.1, 1.0], ValueError, "Unknown label type: continuous"),
        (["a", None, "b", "a"], ValueError, r"Input y contains NaN or None \(first in row 1\)"),
        (np.array(["a", np.nan, "b", "a"], dtype=object), ValueError, "contains NaN"),
        (np.array([1, "a", 2, "b"], dtype=object), TypeError, "objects of type int, str"),
        (np.array([{}, [], {}, []], dtype=object), TypeError, "objects of type dict, list"),
        (np.zeros((4, 2, 2), dtype=int), ValueError, "one column, or one for each output"),
        (np.array(["2020-01-01"] * 4, dtype="datetime64[D]"), TypeError, "Unknown label type"),
        (
            np.array([1j, 0, 1j, 0]),
            ValueError,
            "Complex data not supported: y has dtype complex128",
        ),
        (7, ValueError, "y should be a 1d array"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_labels_are_refused(labels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        OptimalTreeClassifier().fit(X, labels)


def test_missing_labels_of_pandas_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    for labels in (
        pandas.Series([1, None, 0, 1], dtype="Int64"),
        pandas.Series([True, None, False, True], dtype="boolean"),
        pandas.Series(["a", None, "b", "a"], dtype="string"),
        pandas.Series(["a", None, "b", "a"], dtype="category"),
    ):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            OptimalTreeClassifier().fit(X, labels)


def test_objects_of_one_plain_type_are_labels() -> None:
    for labels in ([3, 1, 3, 1], [True, False, True, False], [2.0, 1.0, 2.0, 1.0]):
        checked = check_labels(np.array(labels, dtype=object), 4, "Model")
        assert checked.tolist() == labels
        assert checked.dtype != object


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1, 1]),
        np.array([2, 200, 2], dtype=np.uint8),
        np.array([2**63, 1, 0], dtype=np.uint64),
        np.array([-5, 3, 3]),
        np.array([10**12, 0, 7]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([2.0, 1.0, 2.0]),
    ],
    ids=str,
)
def test_codes_number_the_sorted_classes(labels: Any) -> None:
    classes, codes = encode_labels(labels)
    assert classes.tolist() == sorted(set(labels.tolist()))
    assert classes.dtype == labels.dtype
    assert codes.dtype == np.int32
    assert classes[codes].tolist() == labels.tolist()


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning):
        OptimalTreeClassifier().fit(X, Y[:, None])


# ---- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 1, -1, 1], r"sample_weight\[2\] = -1.0 is negative"),
        ([1, np.nan, 1, 1], r"sample_weight\[1\] = nan is not a finite number"),
        ([1, np.inf, 1, 1], r"sample_weight\[1\] = inf is not a finite number"),
        ([0, 0, 0, 0], "All sample weights are zero"),
        ([1, 2, 3], "sample_weight has 3 entries, but there are 4 rows"),
        (np.ones((4, 2)), "sample_weight must be 1D"),
        (["a", "b", "c", "d"], "sample_weight must hold numbers"),
    ],
    ids=str,
)
def test_wrong_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier().fit(X, Y, weights)


# ---- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table, error, message",
    [
        (np.empty((0, 3)), ValueError, r"0 sample\(s\)"),
        (np.empty((4, 0)), ValueError, r"0 feature\(s\) \(shape=\(4, 0\)\)"),
        (np.zeros(4), ValueError, "Reshape your data"),
        (np.zeros((4, 2, 2)), ValueError, "."),
        (np.array([[0, 1], [1, np.inf], [0, 1], [1, 1]]), ValueError, "infinity"),
        (X.astype(complex), ValueError, "Complex data not supported"),
        (sparse.csr_array(X * np.inf), ValueError, "infinity.*column 0, row 1"),
        (sparse.csr_array(X.astype(complex)), ValueError, "Complex data not supported"),
        ([[0, 1], [1], [0, 1], [1, 0]], ValueError, "different lengths"),
        ([[{}], [1], [2], [3]], TypeError, "dict"),
        ("abcd", (TypeError, ValueError), "."),
        (None, (TypeError, ValueError), "."),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_tables_are_refused(table: Any, error: type[Exception], message: str) -> None:
    labels = Y[: len(table)] if isinstance(table, np.ndarray) and table.ndim else Y
    with pytest.raises(error, match=message):
        OptimalTreeClassifier().fit(table, labels)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "apply", "decision_path"])
def test_other_columns_at_prediction_are_refused(method: str) -> None:
    model = OptimalTreeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"X has 3 features, but Opt.* is expecting 2"):
        getattr(model, method)(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="infinity"):
        getattr(model, method)([[np.inf, 0.0]])
    with pytest.raises(ValueError, match=r"X has 3 features, but Opt.* is expecting 2"):
        getattr(model, method)(sparse.csr_array(np.zeros((2, 3))))


def test_other_names_at_prediction_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    model = OptimalTreeClassifier().fit(pandas.DataFrame(X, columns=["a", "b"]), Y)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        model.predict(pandas.DataFrame(X, columns=["b", "a"]))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)


def test_text_where_numbers_were_is_refused() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[1.5], [2.5], [3.5]], [0, 1, 1])
    with pytest.raises(ValueError, match="held numbers in training, but now holds text"):
        model.predict([["red"]])


def test_a_failed_fit_leaves_an_unfitted_model_unfitted() -> None:
    model = OptimalTreeClassifier(max_depth=-1)
    with pytest.raises(ValueError, match="max_depth"):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(X)
