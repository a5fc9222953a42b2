"""The tree object: structure, immutability, predictions, statistics, rules."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from tests.unit.trees import (
    MIXED_LEAVES,
    MIXED_ROWS,
    NAMES,
    Case,
    cases,
    chain,
    leaf,
    mixed_tree,
    stump,
)

from certree.encoding import Category, Flag, Missing, Threshold, read_table
from certree.tree import Rule, Tree


def test_sizes() -> None:
    tree = mixed_tree()
    assert (tree.n_nodes, tree.n_splits, tree.n_leaves, tree.depth) == (13, 6, 7, 4)
    assert tree.node_depth.tolist() == [0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4]
    assert tree.preorder.tolist() == [0, 1, 3, 4, 7, 8, 11, 12, 2, 5, 9, 10, 6]
    assert tree.n_features == 4
    assert tree.feature_names == NAMES


def test_only_the_tests_that_are_asked_are_kept_with_their_encoder_columns() -> None:
    tree = mixed_tree()
    assert len(tree.tests) == 6
    assert tree.columns == (0, 1, 2, 3, 4, 5)
    assert tree.n_columns == 7


def test_mean_questions_weighs_leaves_by_their_rows() -> None:
    assert leaf().mean_questions == 0
    assert stump().mean_questions == 1
    # Leaves at depth 2 hold 16 rows, at depth 3 18, at depth 4 6.
    assert mixed_tree().mean_questions == pytest.approx((2 * 16 + 3 * 18 + 4 * 6) / 40)


def test_a_tree_cannot_be_changed() -> None:
    tree = mixed_tree()
    with pytest.raises(AttributeError, match="immutable"):
        tree.depth = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        tree._test = np.zeros(1)  # type: ignore[assignment]
    with pytest.raises(AttributeError, match="immutable"):
        del tree._test
    with pytest.raises(AttributeError):
        tree.something = 1  # type: ignore[attr-defined]
    for array in (tree.test, tree.first_child, tree.label, tree.counts, tree.classes, tree.parent):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_a_tree_does_not_see_later_changes_of_the_arrays_it_was_built_from() -> None:
    counts = np.array([[4, 3], [4, 1], [0, 2]])
    tests = [Threshold(0, "x0", 0.5)]
    tree = Tree(tests, [0, -1, -1], [1, -1, -1], [-1, 0, 1], counts=counts, classes=[0, 1])
    counts[0, 0] = 99
    tests.clear()
    assert tree.counts[0, 0] == 4
    assert len(tree.tests) == 1


@given(cases())
def test_copies_equal_the_original(case: Case) -> None:
    tree = case.tree
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(tree, protocol)) == tree
    assert copy.copy(tree) == tree
    assert copy.deepcopy(tree) == tree
    assert hash(pickle.loads(pickle.dumps(tree))) == hash(tree)


def test_trees_differ_by_label_counts_classes_tests_and_names() -> None:
    tree = stump()
    kwargs: dict[str, Any] = {
        "counts": tree.counts,
        "classes": tree.classes,
        "feature_names": ["age"],
    }
    base = ([Threshold(0, "age", 0.5)], [0, -1, -1], [1, -1, -1], [-1, 0, 1])
    assert Tree(*base, **kwargs) == tree
    assert Tree(*base[:3], [-1, 1, 0], **kwargs) != tree
    assert Tree([Threshold(0, "age", 0.6)], *base[1:], **kwargs) != tree
    assert Tree(*base, **{**kwargs, "counts": tree.counts + 1}) != tree
    assert Tree(*base, **{**kwargs, "classes": [0, 1]}) != tree
    assert Tree(*base, **{**kwargs, "feature_names": ["size"]}) != tree
    assert tree != leaf()
    assert tree != "tree"


def test_repr_tells_the_size() -> None:
    text = repr(mixed_tree())
    assert text == (
        "Tree(n_splits=6, n_leaves=7, depth=4, n_features=4, classes=['no', 'yes', 'maybe'])"
    )


# ---- prediction ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows,
        lambda rows: np.array(rows, dtype=object),
        lambda rows: pd.DataFrame(rows, columns=list(NAMES)),
        read_table,
    ],
    ids=["lists", "array", "pandas", "table"],
)
def test_rows_of_any_table_reach_their_leaves(make: Any) -> None:
    tree, X = mixed_tree(), make(MIXED_ROWS)
    assert tree.apply(X).tolist() == MIXED_LEAVES
    assert tree.predict(X).tolist() == ["no", "maybe", "maybe", "no", "yes", "no", "yes"]
    assert tree.predict_proba(X)[0] == pytest.approx([8 / 9, 1 / 9, 0])


def test_polars_frames_are_read() -> None:
    pl = pytest.importorskip("polars")
    columns = dict(zip(NAMES, zip(*MIXED_ROWS, strict=True), strict=True))
    frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
    assert mixed_tree().apply(frame).tolist() == MIXED_LEAVES


def test_a_tree_of_one_leaf_predicts_for_every_row() -> None:
    tree, X = leaf(), np.zeros((3, 2))
    assert tree.predict(X).tolist() == ["yes"] * 3
    assert tree.predict_proba(X).tolist() == [[0.25, 0.75]] * 3
    assert tree.decision_path(X).toarray().tolist() == [[1]] * 3
    assert tree.depth == 0


def test_a_leaf_without_rows_is_sure_of_its_label() -> None:
    tree = Tree([], [-1], [-1], [1], counts=[[0, 0]], classes=["a", "b"], n_features=1)
    assert tree.predict_proba([[0.0]]).tolist() == [[0.0, 1.0]]


def test_tables_without_rows_are_refused_as_by_every_estimator() -> None:
    with pytest.raises(ValueError, match="0 sample"):
        mixed_tree().predict(np.zeros((0, 4)))


def test_different_columns_are_refused() -> None:
    tree = mixed_tree()
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        tree.predict(np.zeros((2, 3)))
    frame = pd.DataFrame(MIXED_ROWS, columns=list(NAMES))
    with pytest.raises(ValueError, match="same order"):
        tree.predict(frame[list(NAMES[::-1])])
    with pytest.raises(ValueError, match="weight"):
        tree.predict(frame.rename(columns={"age": "weight"}))


@given(cases())
def test_routing_equals_walking_row_by_row(case: Case) -> None:
    tree = case.tree
    table = read_table(case.rows)
    expected = []
    for row in range(table.n_rows):
        node = 0
        while tree.test[node] >= 0:
            test = tree.node_test(node)
            value = table.column(test.feature)[row : row + 1]
            node = tree.children(node)[int(test.outcome(value)[0])]
        expected.append(node)
    assert tree.apply(case.rows).tolist() == expected
    assert tree.predict(case.rows).tolist() == tree.classes[tree.label[expected]].tolist()


@given(cases())
def test_decision_path_marks_the_leaf_and_all_nodes_above(case: Case) -> None:
    tree = case.tree
    paths = tree.decision_path(case.rows)
    assert paths.shape == (len(case.rows), tree.n_nodes)
    for row, node in enumerate(tree.apply(case.rows).tolist()):
        expected = {node}
        while (node := int(tree.parent[node])) >= 0:
            expected.add(node)
        assert set(paths[[row]].indices.tolist()) == expected
    assert paths.has_canonical_format


def test_deep_trees_are_no_problem() -> None:
    tree = chain(2000, holds=False)
    assert tree.depth == 2000
    assert tree.apply([[1e9]]).tolist() == [tree.n_nodes - 1]
    assert Tree.from_json(tree.to_json()) == tree
    assert len(tree.to_text().splitlines()) == 4000


# ---- importances and rules -------------------------------------------------------------------


def test_importances_are_normalised_gini_decreases() -> None:
    importances = mixed_tree().feature_importances
    assert importances.shape == (4,)
    assert importances.sum() == pytest.approx(1)
    assert (importances > 0).all()
    assert leaf().feature_importances.tolist() == [0, 0]
    assert stump().feature_importances.tolist() == [1]


def test_rules_merge_conditions_on_a_column() -> None:
    rules = mixed_tree().rules()
    assert [rule.conditions for rule in rules] == [
        ("age <= 35.5", "color = red"),
        ("age <= 35.5", "color != red", "income is missing"),
        ("age <= 35.5", "color != red", "income <= 1234.25"),
        ("age <= 35.5", "color != red", "income > 1234.25", "income is present"),
        ("35.5 < age <= 60.25", "smoker"),
        ("age > 60.25", "smoker"),
        ("age > 35.5", "not smoker"),
    ]
    assert [rule.prediction for rule in rules[:2]] == ["no", "maybe"]
    assert [rule.support for rule in rules] == [9, 6, 3, 3, 6, 6, 7]
    conditions, prediction, support = rules[0]
    assert str(Rule(conditions, prediction, support)) == "age <= 35.5 and color = red: no"


def test_rules_list_excluded_categories_once() -> None:
    tests = [Category(0, "c", "a"), Category(0, "c", "b"), Flag(1, "f"), Missing(0, "c")]
    test = [0, -1, 1, -1, 2, -1, 3, -1, -1]
    first_child = [1, -1, 3, -1, 5, -1, 7, -1, -1]
    label = [-1, 0, -1, 1, -1, 0, -1, 1, 0]
    tree = Tree(tests, test, first_child, label, counts=np.ones((9, 2)), classes=[0, 1])
    rules = tree.rules()
    assert rules[1].conditions == ("c = b",)
    assert rules[2].conditions == ("c not in {a, b}", "f = 1")
    assert rules[4].conditions == ("c not in {a, b}", "c is present", "f = 0")


def test_the_rule_of_a_single_leaf_has_no_condition() -> None:
    (rule,) = leaf().rules()
    assert rule == Rule((), "yes", 4)
    assert str(rule) == "always: yes"


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        ({"test": []}, "at least one node"),
        ({"label": [0, 1]}, "one entry per node"),
        ({"test": [5, -1, -1]}, "test refers to position 5"),
        ({"label": [-1, 0, 2]}, "Leaf labels"),
        ({"label": [0, 0, 1]}, "label -1"),
        ({"first_child": [2, -1, -1]}, "children 2..3 of 3"),
        ({"first_child": [0, -1, -1]}, "children 0..1 of 3"),
        ({"counts": [[1, 2]]}, "counts must have shape"),
        ({"counts": [[1, 2], [-1, 1], [2, 1]]}, "not negative"),
        ({"counts": [[1, 2], [np.nan, 1], [2, 1]]}, "finite"),
        ({"classes": []}, "classes"),
        ({"feature_names": ["a", "b"], "n_features": 1}, "2 names for 1"),
        ({"feature_names": None, "n_features": 0}, "need 1 columns"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "tests": [Threshold(0, "age", 0.5)],
        "test": [0, -1, -1],
        "first_child": [1, -1, -1],
        "label": [-1, 0, 1],
        "counts": [[4, 3], [4, 1], [0, 2]],
        "classes": ["no", "yes"],
        "feature_names": ["age"],
        **change,
    }
    with pytest.raises(ValueError, match=message):
        Tree.from_arrays(**arguments)


def test_nodes_reached_twice_or_never_are_refused() -> None:
    tests = [Threshold(0, "x0", 0.5)]
    counts = np.ones((5, 2))
    with pytest.raises(ValueError, match="reached twice"):
        Tree(tests, [0, 0, -1], [1, 1, -1], [-1, -1, 0], counts=counts[:3], classes=[0, 1])
    label = [-1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="Only 3 of 5"):
        Tree(tests, [0] + [-1] * 4, [1] + [-1] * 4, label, counts=counts, classes=[0, 1])
