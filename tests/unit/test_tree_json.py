"""Trees as dictionaries and JSON: nothing is lost, and bad input is told apart."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.unit.trees import Case, cases, leaf, mixed_tree, stump

from certree.tree import Tree


@given(cases())
def test_json_round_trip(case: Case) -> None:
    tree = Tree.from_json(case.tree.to_json())
    assert tree == case.tree
    assert tree.predict(case.rows).tolist() == case.tree.predict(case.rows).tolist()


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["no", "été ' \n"]),
        np.array([1, 2], dtype=np.int64),
        np.array([3, 4], dtype=np.uint8),
        np.array([0.1, 2.5]),
        np.array([0.1, 2.5], dtype=np.float32),
        np.array([-np.inf, np.inf]),
        np.array([False, True]),
        np.array(["a", "b"], dtype=object),
        np.array([1, "b"], dtype=object),
        np.array([np.int64(1), np.float64(0.5)], dtype=object),
        np.array([True, None], dtype=object),
    ],
    ids=lambda c: f"{c.dtype}-{c[1]!r}",
)
def test_classes_keep_value_and_dtype(classes: Any) -> None:
    tree = Tree.from_json(stump(classes).to_json())
    assert tree.classes.dtype == classes.dtype
    assert tree.classes.tolist() == classes.tolist()


def test_integer_and_real_counts_stay_what_they_are() -> None:
    assert Tree.from_json(stump().to_json()).counts.dtype == np.int64
    tree = Tree([], [-1], [-1], [0], counts=[[0.1, 1 / 3]], classes=[0, 1], n_features=1)
    again = Tree.from_json(tree.to_json())
    assert again.counts.tolist() == [[0.1, 1 / 3]]


def test_the_layout_of_format_1_stays() -> None:
    assert stump().to_dict() == {
        "format": 1,
        "type": "certree.Tree",
        "classes": {"dtype": "<U3", "values": ["no", "yes"]},
        "feature_names": ["age"],
        "n_features": 1,
        "n_columns": 1,
        "tests": [
            {"column": 0, "kind": "threshold", "feature": 0, "name": "age", "threshold": 0.5}
        ],
        "nodes": [
            {"test": 0, "children": [1, 2], "counts": [4, 3]},
            {"label": 0, "counts": [4, 1]},
            {"label": 1, "counts": [0, 2]},
        ],
    }


def test_unnamed_columns_and_single_leaves_survive() -> None:
    tree = Tree.from_json(leaf().to_json(indent=2))
    assert tree == leaf()
    assert not tree.has_names


def test_dictionaries_hold_plain_values_only() -> None:
    data = mixed_tree().to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert Tree.from_dict(data) == mixed_tree()


@pytest.mark.parametrize("bad", [{}, {"format": 3}, {"format": "1"}, {"format": 2.0}, [], None, 3])
def test_other_formats_are_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="format"):
        Tree.from_dict(bad)


def test_incomplete_dictionaries_are_refused() -> None:
    data = mixed_tree().to_dict()
    for key in set(data) - {"format", "type"}:
        with pytest.raises(ValueError, match="not a complete tree"):
            Tree.from_dict({k: v for k, v in data.items() if k != key})
    data["nodes"][0]["children"] = [1, 3]
    with pytest.raises(ValueError, match="consecutive"):
        Tree.from_dict(data)
    with pytest.raises(ValueError, match="not JSON"):
        Tree.from_json("{")


@pytest.mark.parametrize(
    "classes",
    [
        np.array([b"a", b"b"]),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        np.array([(1, 2), (3,)], dtype=object),
    ],
    ids=["bytes", "dates", "tuples"],
)
def test_labels_without_a_json_form_are_named(classes: Any) -> None:
    with pytest.raises(TypeError, match="no JSON form; train with strings"):
        stump(classes).to_dict()
