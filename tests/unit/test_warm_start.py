"""Searches that start from a tree the user has, and how far such a tree is from the best."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.oracle.brute_force import BruteForce, binary_tests
from tests.unit.trees import Case, cases, chain

from certree import OptimalTreeClassifier, Tree, datasets, optimality_gap, verify
from certree.encoding import Category, Flag, Missing, TableEncoder, Threshold, read_table
from certree.engine._scalar import Problem
from certree.fitting.known_tree import express
from certree.tree._from_sklearn import exact_threshold, from_sklearn


def binary(seed: int = 0, n_rows: int = 80, n_columns: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    noise = rng.random(n_rows) < 0.3
    return X, np.where(noise, rng.integers(0, 2, n_rows), X[:, 0] ^ X[:, 1])


def numbers(seed: int = 0, n_rows: int = 150) -> tuple[Any, Any]:
    return make_classification(n_rows, 5, n_informative=3, random_state=seed)


def stump(test: Any, **names: Any) -> Tree:
    return Tree(
        [test],
        [0, -1, -1],
        [1, -1, -1],
        [-1, 0, 1],
        counts=[[1, 1], [1, 0], [0, 1]],
        classes=[0, 1],
        **names,
    )


# ---- reading scikit-learn's trees ----------------------------------------------------------------


@given(st.floats(width=64, allow_nan=False, allow_infinity=False, min_value=-1e38, max_value=1e38))
@settings(max_examples=300)
def test_the_threshold_is_the_last_number_that_goes_left(threshold: float) -> None:
    last = exact_threshold(threshold)
    assert float(np.float32(last)) <= threshold
    assert float(np.float32(np.nextafter(last, np.inf))) > threshold


@pytest.mark.parametrize("seed", range(4))
def test_a_scikit_learn_tree_predicts_the_same(seed: int) -> None:
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, random_state=seed)
    X[:, 0] = np.round(X[:, 0], 1)
    model = DecisionTreeClassifier(max_depth=6, random_state=seed).fit(X, np.array(list("abc"))[y])
    tree = from_sklearn(model, read_table(X), model.classes_)
    new = np.round(np.random.default_rng(seed).normal(size=(500, 6)), 1)
    for rows in (X, new):
        assert (tree.predict(rows) == model.predict(rows)).all()
        np.testing.assert_allclose(tree.predict_proba(rows), model.predict_proba(rows))
    assert (tree.depth, tree.n_leaves) == (model.get_depth(), model.get_n_leaves())


# ---- warm starts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [
    {"max_depth": 3},
    {"max_depth": None, "complexity": 0.02},
    {"max_depth": None, "complexity": 0.02, "complexity_per": "leaf"},
    {"max_depth": 6, "complexity": 0.01},
    {"max_depth": None, "max_splits": 4},
    {"max_depth": 3, "min_samples_leaf": 5, "class_weight": "balanced"},
])  # fmt: skip
def test_the_optimum_is_that_of_a_cold_start(parameters: dict[str, Any]) -> None:
    for seed in range(5):
        X, y = binary(seed)
        cold = OptimalTreeClassifier(**parameters).fit(X, y)
        poor = OptimalTreeClassifier(max_depth=1, min_samples_leaf=5).fit(X, y)
        greedy = DecisionTreeClassifier(max_leaf_nodes=4, min_samples_leaf=5, random_state=0)
        for tree in (cold, cold.tree_, poor, greedy.fit(X, y)):
            warm = OptimalTreeClassifier(**parameters).fit(X, y, warm_start_tree=tree)
            assert warm.certificate_.status == "optimal"
            assert warm.certificate_.cost == cold.certificate_.cost
            assert warm.tree_.n_splits == cold.tree_.n_splits
            assert verify(warm, X, y)


def test_the_search_starts_from_the_value_of_the_tree() -> None:
    X, y = numbers(1)
    greedy = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    errors = int((greedy.predict(X) != y).sum())
    warm = OptimalTreeClassifier(max_depth=3).fit(X, y, warm_start_tree=greedy)
    assert warm.certificate_.history[0][2] == errors
    assert warm.certificate_.cost <= errors
    assert verify(warm, X, y)


def test_a_tree_that_cannot_be_beaten_comes_back() -> None:
    X, y = binary(3)
    best = OptimalTreeClassifier(max_depth=2).fit(X, y)
    again = OptimalTreeClassifier(max_depth=2).fit(X, y, warm_start_tree=best.tree_)
    assert (again.tree_.predict(X) == best.tree_.predict(X)).all()
    assert again.certificate_.is_optimal


def test_a_search_that_is_stopped_at_once_keeps_the_tree() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (600, 40)), rng.integers(0, 2, 600)
    greedy = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    errors = int((greedy.predict(X) != y).sum())
    model = OptimalTreeClassifier(max_depth=6)
    with pytest.warns(UserWarning, match="The callback stopped the search"):
        model.fit(X, y, warm_start_tree=greedy, callback=lambda progress: True)
    assert model.certificate_.cost <= errors
    assert model.certificate_.lower_bound <= model.certificate_.cost
    assert verify(model, X, y)


def test_labels_are_made_best_and_needless_splits_dropped() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    y = X[:, 0]
    # All labels wrong, a split below with two leaves of the same label, and one without rows.
    tests = [Flag(0, "x0"), Flag(1, "x1"), Threshold(0, "x0", 7.0)]
    tree = Tree(
        tests,
        [0, 1, 2, -1, -1, -1, -1],
        [1, 3, 5, -1, -1, -1, -1],
        [-1, -1, -1, 0, 0, 1, 0],
        counts=np.ones((7, 2)),
        classes=[0, 1],
    )
    model = OptimalTreeClassifier(max_depth=1, max_splits=1)
    model.fit(X, y, warm_start_tree=tree)
    assert model.certificate_.cost == 0
    assert model.tree_.n_splits == 1


def test_tests_of_the_tree_are_looked_up_or_added() -> None:
    X, y = numbers(2)
    X = np.column_stack([X, X[:, 0] > 0])
    encoder_tests = OptimalTreeClassifier(max_depth=1, thresholds=2).fit(X, y).certificate_.n_tests
    known = OptimalTreeClassifier(max_depth=1, thresholds=2).fit(X, y).encoder_.tests_[0]
    nearly = Threshold(0, "x0", known.threshold + 1e-12)
    flipped = Threshold(5, "x5", 0.5)
    other = Threshold(0, "x0", float(np.sort(X[:, 0])[10]))
    for test, n_tests in ((known, 0), (nearly, 0), (flipped, 0), (other, 1)):
        model = OptimalTreeClassifier(max_depth=1, thresholds=2)
        model.fit(X, y, warm_start_tree=stump(test, n_features=6))
        assert model.certificate_.n_tests == encoder_tests + n_tests
        assert model.encoder_.transform(X).shape[1] == encoder_tests + n_tests
        assert verify(model, X, y, exhaustive=True)


def test_the_added_test_is_part_of_the_trees_searched() -> None:
    X = np.arange(100.0)[:, None]
    y = (X[:, 0] > 13).astype(int)
    coarse = OptimalTreeClassifier(max_depth=1, thresholds=1)
    assert coarse.fit(X, y).certificate_.cost > 0
    coarse.fit(X, y, warm_start_tree=stump(Threshold(0, "x0", 13.0), n_features=1))
    assert coarse.certificate_.cost == 0
    assert coarse.tree_.to_text().startswith("x0 <= 13")


def test_two_tests_that_divide_the_rows_alike_are_added_once() -> None:
    X = np.column_stack([np.arange(100.0), np.arange(100) % 2])
    cuts = [Threshold(0, "x0", 13.0), Threshold(0, "x0", 13.5), Threshold(0, "x0", 70.0)]
    tree = Tree(
        [*cuts, Flag(1, "x1")],
        [3, 0, 1, -1, -1, -1, 2, -1, -1],
        [1, 3, 5, -1, -1, -1, 7, -1, -1],
        [-1, -1, -1, 0, 1, 1, -1, 0, 1],
        counts=np.ones((9, 2)),
        classes=[0, 1],
    )
    y = tree.predict(X)
    model = OptimalTreeClassifier(max_depth=3, thresholds=1).fit(X, y, warm_start_tree=tree)
    assert model.certificate_.cost == 0
    # One cut of the encoder, the flag, and two of the three cuts of the tree.
    assert model.certificate_.n_tests == 4
    assert verify(model, X, y, exhaustive=True)


def test_rows_without_weight_do_not_count() -> None:
    X, y = binary(4)
    weights = np.arange(len(y)) % 3
    cold = OptimalTreeClassifier(max_depth=3).fit(X, y, weights)
    warm = OptimalTreeClassifier(max_depth=3)
    warm.fit(X, y, weights, warm_start_tree=DecisionTreeClassifier(max_depth=2).fit(X, y))
    assert warm.certificate_.cost == cold.certificate_.cost
    assert verify(warm, X, y, weights)


def test_mixed_tables_with_missing_values() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    cold = OptimalTreeClassifier(max_depth=3).fit(X, y)
    warm = OptimalTreeClassifier(max_depth=3).fit(X, y, warm_start_tree=cold)
    assert warm.certificate_.cost == cold.certificate_.cost
    assert warm.certificate_.n_tests == cold.certificate_.n_tests


@given(case=cases(), seed=st.integers(0, 999), per=st.sampled_from(["split", "leaf"]))
@settings(max_examples=60, deadline=None)
def test_any_tree_over_any_table(case: Case, seed: int, per: Any) -> None:
    """The optimum over all tests, those of the tree included, is proven again by brute force."""
    y = np.random.default_rng(seed).integers(0, 2, len(case.rows))
    model = OptimalTreeClassifier(max_depth=4, complexity=0.02, complexity_per=per)
    model.fit(case.rows, y, warm_start_tree=case.tree)
    assert verify(model, case.rows, y, exhaustive=True)
    leaves = case.tree.apply(case.rows)
    errors = sum(int((leaves == v).sum() - np.bincount(y[leaves == v]).max()) for v in set(leaves))
    n_paid = case.tree.n_leaves if per == "leaf" else case.tree.n_splits
    assert model.certificate_.cost <= errors + n_paid * Fraction(2, 100) * len(y)
    wrong = [p != t for p, t in zip(case.tree.predict(case.rows).tolist(), y.tolist(), strict=True)]
    assert optimality_gap(case.tree, case.rows, y).cost == sum(wrong)


def test_a_chain_of_any_depth() -> None:
    """A tree deeper than Python's stack is read all the same."""
    n_rows = 1500
    table = read_table(np.arange(-1.0, n_rows - 1)[:, None])
    encoder = TableEncoder(thresholds="all")
    columns = encoder.fit_transform(np.arange(-1.0, n_rows - 1)[:, None])
    types = np.arange(n_rows, dtype=np.int32) % 2
    problem = Problem(columns, types, np.array([[0, 1], [1, 0]], dtype=np.int64))
    warm, added, _ = express(chain(n_rows - 2, holds=True), table, encoder, problem)
    # The first test holds for all rows, and two rows of different classes reach the last leaf.
    assert not added
    assert (warm.nodes.depth, warm.leaf_cost) == (n_rows - 3, 1)


# ---- trees that are refused ----------------------------------------------------------------------


def test_a_tree_that_breaks_the_limits_is_refused() -> None:
    X, y = binary(5)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="its depth of 3 is above max_depth=2"):
        OptimalTreeClassifier(max_depth=2).fit(X, y, warm_start_tree=tree)
    with pytest.raises(ValueError, match=r"its \d splits are above max_splits=1"):
        OptimalTreeClassifier(max_depth=3, max_splits=1).fit(X, y, warm_start_tree=tree)
    with pytest.raises(
        ValueError, match=r"smallest leaf has \d+ rows, fewer than min_samples_leaf"
    ):
        OptimalTreeClassifier(max_depth=3, min_samples_leaf=30).fit(X, y, warm_start_tree=tree)


def test_a_tree_that_does_not_fit_the_columns_is_refused() -> None:
    X, y = binary(6)
    frame, labels = datasets.load_credit(return_X_y=True)
    fit = OptimalTreeClassifier().fit
    with pytest.raises(ValueError, match=r"does not fit the columns of X.* 9 features"):
        fit(X, y, warm_start_tree=stump(Flag(8, "x8")))
    named = stump(Threshold(0, "weight", 1.0), feature_names=["weight", *frame.columns[1:]])
    with pytest.raises(ValueError, match=r"(?s)does not fit the columns of X.*weight"):
        fit(frame, labels, warm_start_tree=named)
    text = next(i for i, kind in enumerate(read_table(frame).kinds) if kind == "text")
    wrong = stump(Threshold(text, frame.columns[text], 1.0), n_features=frame.shape[1])
    with pytest.raises(ValueError, match=r"does not fit the columns of X.*text"):
        fit(frame, labels, warm_start_tree=wrong)
    other = DecisionTreeClassifier().fit(X[:, :3], y)
    with pytest.raises(ValueError, match="fitted on 3 columns, but the table has 6"):
        fit(X, y, warm_start_tree=other)


def test_what_is_no_tree_is_refused() -> None:
    X, y = binary(7)
    fit = OptimalTreeClassifier().fit
    for thing in ("tree", 3, RandomForestClassifier(), OptimalTreeClassifier()):
        with pytest.raises(TypeError, match="must be a certree Tree"):
            fit(X, y, warm_start_tree=thing)
    with pytest.raises(TypeError, match="DecisionTreeRegressor is not a classifier"):
        fit(X, y, warm_start_tree=DecisionTreeRegressor().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        fit(X, y, warm_start_tree=DecisionTreeClassifier())
    several = DecisionTreeClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises((ValueError, TypeError)):
        fit(X, y, warm_start_tree=several)


@pytest.mark.parametrize("label", [0, 1])
def test_missing_values_go_where_scikit_learn_sends_them(label: int) -> None:
    X = np.array([[1.0], [2.0], [np.nan], [8.0], [9.0]] * 4)
    y = np.array([0, 0, label, 1, 1] * 4)
    greedy = DecisionTreeClassifier(max_depth=1).fit(X, y)
    tree = from_sklearn(greedy, read_table(X), np.array([0, 1]))
    assert [test.missing for test in tree.tests] == [label == 0]  # type: ignore[attr-defined]
    assert (tree.apply(X) == greedy.apply(X)).all()
    model = OptimalTreeClassifier(max_depth=1).fit(X, y, warm_start_tree=greedy)
    assert model.certificate_.cost == 0
    assert len(model.encoder_.tests_) == 7  # three cuts with either side, and "is missing"


def test_scikit_learn_trees_are_silent_where_nothing_is_missing() -> None:
    X, y = np.arange(8.0)[:, None], np.arange(8) > 5
    greedy = DecisionTreeClassifier(max_depth=1).fit(X, y)
    tree = from_sklearn(greedy, read_table(X), np.array([False, True]))
    assert tree.to_text(show_counts=False, decimals=1) == "x0 <= 5.5: False\nx0 > 5.5: True"


def test_added_tests_say_where_missing_values_go() -> None:
    """A tree of other data is silent about missing values that this table has."""
    X = np.array([[float(i)] for i in range(50)] + [[np.nan]] * 5)
    y = np.arange(55) > 20
    tree = stump(Threshold(0, "x0", 20.5))
    model = OptimalTreeClassifier(max_depth=1, thresholds=2).fit(X, y, warm_start_tree=tree)
    assert model.certificate_.cost == 0
    assert "x0 > 20.5 or missing" in model.tree_.to_text()


# ---- how far from the best -----------------------------------------------------------------------


def test_the_gap_of_a_greedy_tree() -> None:
    for seed in range(6):
        X, y = binary(seed, 60, 5)
        greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        found = optimality_gap(greedy, X, y)
        oracle = BruteForce(binary_tests(X.tolist()), y.tolist(), [[0, 1], [1, 0]])
        best = oracle.value(2, greedy.get_n_leaves() - 1)
        assert found.cost == int((greedy.predict(X) != y).sum())
        assert found.lower_bound == found.upper_bound == best
        assert found.gap == found.improvement == found.cost - best
        assert found.is_optimal == (found.better_tree is None) == (found.cost == best)
        assert found.keeps_limits
        assert int((found.best_tree.predict(X) != y).sum()) == best


def test_the_gap_of_the_best_tree_is_zero() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=3, complexity=0.01).fit(X, y)
    found = optimality_gap(model, X, y, max_depth=3, max_splits=None, complexity=0.01)
    assert found.cost == model.certificate_.cost
    assert found.is_optimal
    assert found.better_tree is None
    assert "no tree within the limits costs less" in str(found)


def test_the_limits_are_those_of_the_tree_or_as_given() -> None:
    X, y = binary(8)
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    same = optimality_gap(greedy, X, y).certificate
    assert (same.max_depth, same.max_splits) == (2, greedy.get_n_leaves() - 1)
    free = optimality_gap(greedy, X, y, max_depth=None, max_splits=None, complexity=0.02)
    assert (free.certificate.max_depth, free.certificate.max_splits) == (None, None)
    penalty = Fraction(2, 100) * len(y) * (greedy.get_n_leaves() - 1)
    assert free.cost == int((greedy.predict(X) != y).sum()) + penalty
    with pytest.raises(ValueError, match=r"max_depth must be an integer, None .* or 'same'"):
        optimality_gap(greedy, X, y, max_depth="auto")


def test_a_tree_beyond_the_limits_may_be_better_than_all_within() -> None:
    X, y = binary(9)
    large = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = optimality_gap(large, X, y, max_depth=1, max_splits=None)
    assert not found.keeps_limits
    assert found.gap < 0
    assert found.is_optimal
    assert found.better_tree is None


def test_own_labels_count() -> None:
    X, y = binary(10)
    best = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_
    label = np.where(best.label >= 0, 1 - best.label, -1)
    wrong = Tree(best.tests, best.test, best.first_child, label, counts=best.counts, classes=[0, 1],
                 n_features=6)  # fmt: skip
    found = optimality_gap(wrong, X, y)
    assert found.cost == int((wrong.predict(X) != y).sum())
    assert found.improvement > 0
    texts = Tree(best.tests, best.test, best.first_child, label, counts=best.counts,
                 classes=["no", "yes"], n_features=6)  # fmt: skip
    assert optimality_gap(texts, X, y).cost == len(y)


def test_weights_and_bare_trees() -> None:
    X, y = binary(11)
    weights = np.arange(len(y)) % 4 / 4
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    found = optimality_gap(greedy.tree_, X, y, sample_weight=weights, class_weight={1: 3})
    wrong = greedy.predict(X) != y
    assert float(found.cost) == pytest.approx((weights * np.where(y == 1, 3, 1))[wrong].sum())
    assert found.upper_bound <= found.cost
    halves = optimality_gap(greedy, X, y, sample_weight=0.5)
    assert halves.keeps_limits
    assert halves.cost == Fraction(int(wrong.sum()), 2)
    with pytest.raises(ValueError, match="knows 2 classes, but there are 3"):
        optimality_gap(greedy.tree_, X, np.arange(len(y)) % 3)


def test_the_gap_in_words_and_as_a_dictionary() -> None:
    X, y = numbers(3, 300)
    greedy = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    found = optimality_gap(greedy, X, y)
    assert f"The tree costs {found.cost}" in str(found)
    assert found.improvement == 0 or "a tree that costs" in str(found)
    values = found.to_dict()
    assert Fraction(values["gap"]) == found.gap
    assert Tree.from_dict(values["best_tree"]) == found.best_tree


def test_a_gap_that_is_not_closed_has_valid_bounds() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (1500, 90)), rng.integers(0, 2, 1500)
    greedy = DecisionTreeClassifier(max_depth=7, random_state=0).fit(X, y)
    found = optimality_gap(greedy, X, y, max_splits=None, time_limit=0.3)
    assert found.certificate.status == "time_limit"
    assert found.lower_bound < found.upper_bound <= found.cost
    assert "which is proven best" not in str(found)


def test_every_kind_of_test_can_be_asked() -> None:
    X, y = datasets.load_credit(return_X_y=True)
    table = read_table(X)
    for i, kind in enumerate(table.kinds):
        name = table.names[i]
        tests: list[Any] = [Missing(i, name)]
        if kind == "text":
            tests.append(Category(i, name, next(v for v in table.column(i) if v is not None)))
        else:
            tests.append(Threshold(i, name, float(np.nanmedian(table.column(i)))))
        for test in tests:
            tree = stump(test, feature_names=table.names)
            assert optimality_gap(tree, X, y).upper_bound <= len(y)
