"""Trees whose leaves carry values and notes in place of class shares."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from certree import Tree
from certree.encoding import Threshold


def _tree() -> Tree:
    return Tree(
        [Threshold(0, "size", 1.5)],
        [0, -1, -1],
        [1, -1, -1],
        [-1, 1, 0],
        counts=[[2, 3], [0, 3], [2, 0]],
        classes=[1.25, 10 / 3],
        feature_names=["size"],
        notes=["all", "3 rows", "2 rows"],
    )


def test_exports_show_the_notes() -> None:
    tree = _tree()
    assert tree.to_text() == "size <= 1.5: 3.33333 (3 rows)\nsize > 1.5: 1.25 (2 rows)"
    assert "3 rows" in tree.to_dot()
    assert "3 rows" in tree.to_html()
    assert "%" not in tree.to_text()


def test_notes_survive_json_and_pickle() -> None:
    tree = _tree()
    assert Tree.from_json(tree.to_json()) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)).notes == ("all", "3 rows", "2 rows")


def test_there_is_one_note_per_node() -> None:
    with pytest.raises(ValueError, match="notes needs one text per node, 1, got 2"):
        Tree([], [-1], [-1], [0], counts=[[1]], classes=[0], notes=["a", "b"])


def test_a_tree_of_numbers_becomes_a_regressor_of_scikit_learn() -> None:
    tree = _tree()
    model = tree.to_sklearn(regressor=True)
    X = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(model.predict(X), tree.predict(X))
    assert model.tree_.value[0, 0, 0] == pytest.approx((2 * 1.25 + 3 * 10 / 3) / 5)


def test_a_tree_of_texts_is_no_regressor() -> None:
    tree = Tree([], [-1], [-1], [0], counts=[[1]], classes=["a"], n_features=1)
    with pytest.raises(ValueError, match="predicts numbers"):
        tree.to_sklearn(regressor=True)
