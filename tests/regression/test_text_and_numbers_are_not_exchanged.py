"""A column that held text in training must hold text in prediction, and numbers must stay numbers.

Whether that is checked must not depend on which rows reach the test: a tree looked at the column
only for the rows that arrived there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, Tree
from certree.encoding import Category, Flag, Level, Multiway, Test, Threshold

TEXT: list[Test] = [
    Category(1, "x", "a"),
    Level(1, "x", ("a", "b"), "a", True),
    Multiway(1, "x", ["a", "b", None]),
]
NUMBERS: list[Test] = [
    Threshold(1, "x", 1.0, True),
    Flag(1, "x"),
    Flag(1, "x", True),
    Category(1, "x", 1),
    Level(1, "x", (2, 1), 2),
    Multiway(1, "x", [1, 2]),
]
A_NUMBER: list[Any] = [1, 0.5, True]


def below_the_root(test: Test) -> Tree:
    """Return a tree that asks a test of the second column only where the first is small."""
    n_outcomes = test.n_outcomes
    return Tree(
        [Threshold(0, "root", 0.0), test],
        [0, 1, *[-1] * (1 + n_outcomes)],
        [1, 3, *[-1] * (1 + n_outcomes)],
        [-1, -1, *[0] * (1 + n_outcomes)],
        counts=np.ones((3 + n_outcomes, 1)),
        classes=[0],
        feature_names=["root", "x"],
    )


@pytest.mark.parametrize("method", ["predict", "apply", "predict_proba", "decision_path"])
@pytest.mark.parametrize("root", [-1.0, 1.0])
@pytest.mark.parametrize("test", TEXT + NUMBERS, ids=repr)
def test_trees_refuse_it_on_whatever_path(test: Test, root: float, method: str) -> None:
    ask = getattr(below_the_root(test), method)
    wrong, words = (A_NUMBER, "text.*numbers") if test in TEXT else (["a"], "numbers.*text")
    for value in wrong:
        with pytest.raises(ValueError, match=f"'x' held {words}; convert it to"):
            ask([[root, value]])
    ask([[root, None]])
    ask([[root, "z" if test in TEXT else 7]])


@pytest.mark.parametrize("method", ["predict", "apply"])
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_models_refuse_it_for_every_type_of_text(dtype: Any, splits: str, method: str) -> None:
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"x": pd.Series(["a", "b", "c", "a"], dtype=dtype)})
    model = OptimalTreeClassifier(max_depth=2, splits=splits).fit(X, [0, 1, 0, 0])
    numbers = pd.Series([1, 2])
    for given in (numbers, numbers.astype(object), numbers.astype("category"), numbers > 1):
        with pytest.raises(ValueError, match="'x' held text in training, but now holds numbers"):
            getattr(model, method)(pd.DataFrame({"x": given}))


@pytest.mark.parametrize("method", ["predict", "apply"])
def test_models_refuse_text_for_flags(method: str) -> None:
    X = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    model = OptimalTreeClassifier(max_depth=1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="'x0' held numbers in training, but now holds text"):
        getattr(model, method)([["0", "1"]])
