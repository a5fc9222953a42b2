"""What a fitted OptimalTreeClassifier is and does."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.utils import get_tags

import certree
from certree import OptimalTreeClassifier, verify


def binary_table(seed: int, n_rows: int, n_columns: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    noise = rng.integers(0, n_classes, n_rows)
    y = np.where(rng.random(n_rows) < 0.3, noise, (X[:, 0] + X[:, 1] * X[:, 2]) % n_classes)
    return X, y


@pytest.fixture
def table() -> tuple[Any, Any]:
    return binary_table(0, 60, 5)


def fewest_errors_depth_two(X: NDArray[Any], y: NDArray[Any]) -> int:
    """Try all trees with a test at the root and one on either side."""

    def leaf(rows: NDArray[Any]) -> int:
        return int(rows.sum() - max(np.bincount(y[rows], minlength=1), default=0))

    def stump(rows: NDArray[Any]) -> int:
        tests = (X[:, j] == 1 for j in range(X.shape[1]))
        return min(leaf(rows), *(leaf(rows & t) + leaf(rows & ~t) for t in tests))

    everything = np.ones(len(y), dtype=bool)
    tests = [X[:, j] == 1 for j in range(X.shape[1])]
    return min(leaf(everything), *(stump(everything & t) + stump(everything & ~t) for t in tests))


# ---- the constructor ---------------------------------------------------------------------------


def test_the_constructor_has_the_documented_parameters_and_defaults() -> None:
    signature = inspect.signature(OptimalTreeClassifier)
    assert {name: p.default for name, p in signature.parameters.items()} == {
        "max_depth": 3,
        "max_splits": None,
        "max_leaf_nodes": None,
        "complexity": 0.0,
        "complexity_per": "split",
        "objective": "accuracy",
        "pos_label": None,
        "min_samples_leaf": 1,
        "class_weight": None,
        "splits": "binary",
        "categorical_features": "auto",
        "thresholds": "auto",
        "min_category_rows": 1,
        "category_tests": "one",
        "search": "auto",
        "time_limit": 60.0,
        "memory_limit": "auto",
        "gap": 0.0,
        "n_jobs": 1,
        "verbose": "auto",
        "executor": None,
        "output_weights": None,
        "capacity": None,
        "limits": None,
    }


def test_every_public_name_is_there() -> None:
    for name in certree.__all__:
        assert hasattr(certree, name)
    assert callable(certree.verify)


def test_tags_say_what_tables_are_welcome() -> None:
    tags = get_tags(OptimalTreeClassifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.classifier_tags.multi_class
    assert tags.input_tags.sparse


# ---- the value ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_the_best_of_all_trees_of_depth_two(seed: int) -> None:
    X, y = binary_table(seed, 40, 6, n_classes=2 + seed % 2)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.cost == fewest_errors_depth_two(X, y)
    assert int(np.sum(model.predict(X) != y)) == model.certificate_.cost
    assert model.score(X, y) == pytest.approx(model.certificate_.objective)


def test_deeper_trees_are_never_worse(table: tuple[Any, Any]) -> None:
    costs = [OptimalTreeClassifier(max_depth=d).fit(*table).certificate_.cost for d in range(5)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] == min(np.bincount(table[1]))


def test_max_splits_limits_the_tests(table: tuple[Any, Any]) -> None:
    for max_splits in range(5):
        model = OptimalTreeClassifier(max_depth=4, max_splits=max_splits).fit(*table)
        assert model.tree_.n_splits <= max_splits
        verify(model, *table, exhaustive=True)


def test_no_limit_on_the_depth_separates_what_can_be_separated() -> None:
    X = np.array(list(product([0, 1], repeat=4)))
    y = X.sum(axis=1) % 2
    model = OptimalTreeClassifier(max_depth=None).fit(X, y)
    assert model.certificate_.cost == 0
    assert model.certificate_.max_depth is None
    assert model.tree_.n_splits == 15


def test_min_samples_leaf_counts_rows_not_weights(table: tuple[Any, Any]) -> None:
    X, y = table
    weights = np.full(len(y), 7)
    model = OptimalTreeClassifier(max_depth=3, min_samples_leaf=9).fit(X, y, weights)
    assert np.bincount(model.apply(X))[np.unique(model.apply(X))].min() >= 9
    verify(model, X, y, weights, exhaustive=True)


def test_more_rows_per_leaf_than_rows_gives_a_leaf(table: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(min_samples_leaf=10**6).fit(*table)
    assert model.tree_.n_splits == 0
    verify(model, *table)


def test_ties_go_to_the_smaller_tree() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    model = OptimalTreeClassifier(max_depth=4).fit(X, X[:, 1])
    assert model.tree_.n_splits == 1


# ---- complexity --------------------------------------------------------------------------------


def test_complexity_is_the_decimal_that_was_written() -> None:
    X, y = binary_table(3, 50, 5)
    model = OptimalTreeClassifier(max_depth=3, complexity=0.1).fit(X, y)
    certificate = model.certificate_
    assert certificate.complexity == Fraction(1, 10)
    assert certificate.split_penalty == 5
    assert certificate.cost == certificate.leaf_cost + 5 * model.tree_.n_splits
    assert certificate.objective == pytest.approx(
        model.score(X, y) - 0.1 * model.tree_.n_splits, abs=1e-12
    )
    verify(model, X, y, exhaustive=True)


def test_complexity_per_leaf_adds_one_penalty() -> None:
    X, y = binary_table(4, 50, 5)
    split = OptimalTreeClassifier(max_depth=3, complexity=0.03).fit(X, y)
    leaf = OptimalTreeClassifier(max_depth=3, complexity=0.03, complexity_per="leaf").fit(X, y)
    assert leaf.certificate_.cost == split.certificate_.cost + Fraction("1.5")
    assert leaf.certificate_.leaf_cost == split.certificate_.leaf_cost
    verify(leaf, X, y, exhaustive=True)


def test_a_larger_complexity_never_has_more_splits() -> None:
    X, y = binary_table(5, 60, 6)
    sizes = [
        OptimalTreeClassifier(max_depth=3, complexity=c).fit(X, y).tree_.n_splits
        for c in (0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0


@pytest.mark.parametrize("complexity", [1 / 3, 0.1234567890123456, 1e-16, 1.0])
@pytest.mark.parametrize(
    "limits", [{"max_depth": None}, {"max_depth": None, "max_splits": 3}, {"max_depth": 2}]
)
def test_a_complexity_with_many_digits_fits_the_integers_of_the_search(
    complexity: float, limits: dict[str, Any]
) -> None:
    X, y = binary_table(16, 40, 4)
    weights = 1 + np.arange(40) % 7 / 10
    model = OptimalTreeClassifier(complexity=complexity, class_weight="balanced", **limits)
    found = model.fit(X, y, weights).certificate_
    assert found.complexity == Fraction(str(complexity))
    assert float(found.split_penalty) == pytest.approx(
        complexity * float(found.total_weight), abs=1e-9 * float(found.total_weight)
    )
    verify(model, X, y, weights, exhaustive=True)


# ---- weights -----------------------------------------------------------------------------------


def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row() -> None:
    X, y = binary_table(6, 40, 5)
    weights = np.random.default_rng(1).integers(0, 4, 40)
    weighted = OptimalTreeClassifier(max_depth=3).fit(X, y, weights)
    repeated = OptimalTreeClassifier(max_depth=3).fit(X.repeat(weights, axis=0), y.repeat(weights))
    # The trees differ in the number of rows alone.
    payload = replace(weighted.tree_.payload, rows=None)
    assert weighted.tree_._with(payload=payload) == repeated.tree_
    assert weighted.tree_.rows is not None
    assert weighted.tree_.rows[0].sum() == np.count_nonzero(weights)
    assert repeated.tree_.rows is not None
    assert repeated.tree_.rows[0].sum() == weights.sum()
    assert weighted.certificate_.cost == repeated.certificate_.cost
    assert weighted.certificate_.n_rows == np.count_nonzero(weights)


def test_classes_and_columns_of_rows_without_weight_are_forgotten() -> None:
    X = np.array([[1.5], [2.5], [9.5]])
    model = OptimalTreeClassifier().fit(X, ["a", "b", "c"], [1, 1, 0])
    assert model.classes_.tolist() == ["a", "b"]
    assert [str(test) for test in model.encoder_.tests_] == ["x0 <= 2"]


def test_decimal_weights_are_exact() -> None:
    X, y = binary_table(7, 40, 5)
    weights = np.random.default_rng(2).integers(1, 30, 40) / 10
    model = OptimalTreeClassifier(max_depth=2).fit(X, y, weights)
    certificate = model.certificate_
    assert certificate.weight_quantum is None
    assert certificate.total_weight == sum(Fraction(str(w)) for w in weights)
    wrong = model.predict(X) != y
    assert certificate.cost == sum(Fraction(str(w)) for w in weights[wrong])
    verify(model, X, y, weights, exhaustive=True)


def test_other_weights_are_rounded_and_the_certificate_says_so() -> None:
    X, y = binary_table(8, 40, 5)
    weights = np.random.default_rng(3).random(40)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y, weights)
    quantum = model.certificate_.weight_quantum
    assert quantum is not None
    assert quantum < Fraction(weights.min()) / 2**20
    rounded = {w: round(Fraction(w) / quantum) * quantum for w in weights.tolist()}
    wrong = weights[model.predict(X) != y].tolist()
    assert model.certificate_.cost == sum(rounded[w] for w in wrong)
    change = sum(abs(rounded[w] - Fraction(w)) for w in weights.tolist())
    assert change <= model.certificate_.rounding < change + Fraction(weights.sum()) / 2**50
    assert "rounded to multiples of" in str(model.certificate_)
    verify(model, X, y, weights, exhaustive=True)


def test_class_weight_is_sample_weight_by_class() -> None:
    X, y = binary_table(9, 50, 5, n_classes=3)
    by_class = OptimalTreeClassifier(max_depth=2, class_weight={0: 2, 1: 0.5, 2: 1}).fit(X, y)
    by_row = OptimalTreeClassifier(max_depth=2).fit(X, y, np.array([2, 0.5, 1])[y])
    assert by_class.certificate_.cost == by_row.certificate_.cost
    assert by_class.certificate_.class_weights == (2, Fraction(1, 2), 1)
    assert np.array_equal(by_class.predict(X), by_row.predict(X))
    verify(by_class, X, y, exhaustive=True)


def test_balanced_class_weight_follows_the_weighted_totals() -> None:
    X, y = binary_table(10, 50, 5)
    weights = 1 + np.arange(50) % 3
    model = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y, weights)
    total = weights.sum()
    assert model.certificate_.class_weights == tuple(
        Fraction(int(total), int(2 * weights[y == k].sum())) for k in (0, 1)
    )
    assert model.certificate_.total_weight == total
    verify(model, X, y, weights, exhaustive=True)


def test_a_small_class_weight_counts_as_much_as_it_says() -> None:
    X, y = binary_table(11, 40, 5)
    model = OptimalTreeClassifier(class_weight={0: 1000, 1: 0.0001}).fit(X, y)
    assert model.certificate_.class_weights == (1000, Fraction(1, 10000))
    assert model.certificate_.cost == Fraction(np.count_nonzero(model.predict(X) != y), 10000)
    verify(model, X, y)


def test_classes_named_in_class_weight_may_be_absent_from_y() -> None:
    X, y = binary_table(11, 40, 5)
    model = OptimalTreeClassifier(class_weight={0: 2, 1: 1, 2: 5}).fit(X, y)
    assert model.certificate_.class_weights == (2, 1)


# ---- balanced accuracy -------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_accuracy_is_the_mean_recall(n_classes: int) -> None:
    X, y = binary_table(12, 70, 5, n_classes)
    weights = 1 + np.arange(70) % 4
    model = OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy", complexity=0.004)
    model.fit(X, y, weights)
    recall = balanced_accuracy_score(y, model.predict(X), sample_weight=weights)
    assert model.certificate_.objective == pytest.approx(recall - 0.004 * model.tree_.n_splits)
    assert model.certificate_.task == "balanced_accuracy"
    verify(model, X, y, weights, exhaustive=True)


def test_balanced_accuracy_with_class_weight_is_the_weighted_mean_recall() -> None:
    X, y = binary_table(13, 60, 5)
    model = OptimalTreeClassifier(
        max_depth=2, objective="balanced_accuracy", class_weight={0: 3, 1: 1}
    ).fit(X, y)
    predicted = model.predict(X)
    recalls = [np.mean(predicted[y == k] == k) for k in (0, 1)]
    assert model.certificate_.objective == pytest.approx((3 * recalls[0] + recalls[1]) / 4)
    verify(model, X, y, exhaustive=True)


# ---- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([-1, 1]),
        np.array([3, 700], dtype=np.uint16),
        np.array([0.0, 2.0]),
    ],
    ids=["text", "objects", "booleans", "signed", "unsigned", "floats"],
)
def test_labels_of_any_kind_come_back_as_they_were(
    labels: NDArray[Any], table: tuple[Any, Any]
) -> None:
    X, y = table
    model = OptimalTreeClassifier(max_depth=2).fit(X, labels[y])
    assert model.classes_.dtype == labels.dtype
    assert model.classes_.tolist() == labels.tolist()
    assert model.predict(X).dtype == labels.dtype
    assert accuracy_score(labels[y], model.predict(X)) == model.score(X, labels[y])
    verify(model, X, labels[y])


def test_lists_of_labels_are_welcome(table: tuple[Any, Any]) -> None:
    X, y = table
    model = OptimalTreeClassifier().fit(X.tolist(), ["yes" if v else "no" for v in y])
    assert set(model.predict(X)) <= {"yes", "no"}


def test_predict_proba_gives_the_frequencies_of_the_leaf(table: tuple[Any, Any]) -> None:
    X, y = table
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    shares = model.predict_proba(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert np.allclose(shares[rows], np.bincount(y[rows], minlength=2) / rows.sum())
    assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))


def test_ties_in_a_leaf_are_the_same_for_labels_and_frequencies() -> None:
    # One third and one seventh have no float64, but their weights tie exactly.
    X, y = np.ones((10, 1)), np.array([0] * 3 + [1] * 7)
    weights = [Fraction(1, 3)] * 3 + [Fraction(1, 7)] * 7
    model = OptimalTreeClassifier().fit(X, y, weights)
    assert model.predict_proba(X)[0].tolist() == [0.5, 0.5]
    assert model.predict(X)[0] == 0


def test_class_weights_choose_labels_and_leave_probabilities_alone() -> None:
    X, y = np.ones((10, 1)), np.array([0] * 3 + [1] * 7)
    model = OptimalTreeClassifier(class_weight="balanced").fit(X, y)
    assert model.predict(X)[0] == 0
    assert model.predict_proba(X)[0].tolist() == [0.3, 0.7]


def test_apply_and_decision_path_agree(table: tuple[Any, Any]) -> None:
    X, y = table
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    path = model.decision_path(X)
    assert sparse.issparse(path)
    assert path.shape == (len(X), model.tree_.n_nodes)
    assert np.all(path[np.arange(len(X)), model.apply(X)] == 1)
    assert np.all(path[:, [0]].toarray() == 1)


def test_feature_importances_name_the_column_that_decides() -> None:
    X = np.random.default_rng(0).integers(0, 2, (50, 4))
    model = OptimalTreeClassifier().fit(X, X[:, 2])
    assert model.feature_importances_.tolist() == [0, 0, 1, 0]
    leaf = OptimalTreeClassifier(max_depth=0).fit(X, X[:, 2])
    assert leaf.feature_importances_.tolist() == [0, 0, 0, 0]


def test_one_class_gives_a_leaf() -> None:
    model = OptimalTreeClassifier().fit([[1, 2], [3, 4]], ["only", "only"])
    assert model.tree_.n_splits == 0
    assert model.n_classes_ == 1
    assert model.predict([[5, 6]]).tolist() == ["only"]
    assert model.predict_proba([[5, 6]]).tolist() == [[1.0]]
    assert model.certificate_.cost == 0


def test_constant_columns_give_a_leaf() -> None:
    X = np.full((6, 3), 2.5)
    model = OptimalTreeClassifier().fit(X, [0, 0, 0, 0, 1, 1])
    assert model.tree_.n_splits == 0
    assert model.certificate_.status == "optimal"
    assert model.certificate_.cost == 2
    verify(model, X, [0, 0, 0, 0, 1, 1], exhaustive=True)


def test_one_row_is_enough() -> None:
    assert OptimalTreeClassifier().fit([[1.0, 2.0]], [7]).predict([[0, 0]]).tolist() == [7]


def test_max_depth_zero_gives_the_majority(table: tuple[Any, Any]) -> None:
    X, y = table
    model = OptimalTreeClassifier(max_depth=0).fit(X, y)
    assert set(model.predict(X)) == {np.bincount(y).argmax()}


# ---- life as a scikit-learn estimator ----------------------------------------------------------


def test_fit_keeps_the_parameters_and_clone_forgets_the_fit(table: tuple[Any, Any]) -> None:
    model = OptimalTreeClassifier(max_depth=2, complexity=0.01, class_weight={0: 1, 1: 2})
    before = model.get_params()
    model.fit(*table)
    assert model.get_params() == before
    copied = clone(model)
    assert copied.get_params() == before
    with pytest.raises(NotFittedError):
        copied.predict(table[0])


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_predict_and_certify_the_same(copier: Any, table: tuple[Any, Any]) -> None:
    X, y = table
    model = OptimalTreeClassifier(max_depth=3, complexity=0.001).fit(X, y)
    copied = copier(model)
    assert copied.certificate_ == model.certificate_
    assert copied.tree_ == model.tree_
    assert np.array_equal(copied.predict_proba(X), model.predict_proba(X))
    verify(copied, X, y)


def test_a_second_fit_replaces_the_first_completely() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = binary_table(14, 30, 3)
    model = OptimalTreeClassifier(max_depth=2)
    model.fit(pandas.DataFrame(X, columns=["a", "b", "c"]), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(np.hstack([X, X]), y + 5)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 6
    assert set(model.classes_) == {5, 6}


def test_the_tree_does_not_depend_on_threads_nor_on_row_order(table: tuple[Any, Any]) -> None:
    X, y = table
    one = OptimalTreeClassifier(max_depth=3, n_jobs=1).fit(X, y)
    two = OptimalTreeClassifier(max_depth=3, n_jobs=2).fit(X[::-1], y[::-1])
    assert one.tree_ == two.tree_


def test_importances_and_predictions_before_fit_say_so() -> None:
    for method in ("predict", "predict_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(OptimalTreeClassifier(), method)([[0]])
    with pytest.raises(NotFittedError):
        _ = OptimalTreeClassifier().feature_importances_


@pytest.mark.parametrize("columns", list(combinations(range(4), 2)))
def test_the_column_order_does_not_change_the_value(columns: tuple[int, int]) -> None:
    X, y = binary_table(15, 40, 4)
    order = [*columns, *(j for j in range(4) if j not in columns)]
    costs = {
        OptimalTreeClassifier(max_depth=3).fit(Z, y).certificate_.cost for Z in (X, X[:, order])
    }
    assert len(costs) == 1
