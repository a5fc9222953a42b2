"""What scikit-learn's trees can be asked, ours can be asked, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from tests.fitted import cases

from certree import OptimalTreeClassifier

WITH_TREE = [name for name, case in cases().items() if getattr(case.model, "tree_", None)]
WITH_SHARES = [name for name in WITH_TREE if hasattr(cases()[name].model, "predict_proba")]


@pytest.mark.parametrize("name", WITH_TREE)
def test_every_tree_says_its_depth_and_its_leaves(name: str) -> None:
    model = cases()[name].model
    assert model.get_depth() == model.tree_.depth
    assert model.get_n_leaves() == model.tree_.n_leaves
    assert type(model.get_depth()) is type(model.get_n_leaves()) is int


@pytest.mark.parametrize("name", WITH_SHARES)
def test_logarithms_are_those_of_the_shares(name: str) -> None:
    case = cases()[name]
    shares, logs = case.model.predict_proba(case.X), case.model.predict_log_proba(case.X)
    assert type(shares) is type(logs)
    pairs = zip(shares, logs, strict=True) if isinstance(shares, list) else [(shares, logs)]
    for share, log in pairs:
        np.testing.assert_allclose(np.exp(log), share)


def test_a_share_of_zero_gives_no_warning() -> None:
    X, y = [[0], [1]], [0, 1]
    with np.errstate(all="raise"):
        logs = OptimalTreeClassifier(max_depth=1).fit(X, y).predict_log_proba(X)
    assert logs.tolist() == [[0.0, -np.inf], [-np.inf, 0.0]]


@pytest.mark.parametrize("method", ["get_depth", "get_n_leaves"])
def test_before_fit_there_is_no_answer(method: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(OptimalTreeClassifier(), method)()


def test_public_methods_of_their_classifier_are_ours() -> None:
    # Pruning by cost and complexity is certree's regularization_path.
    without: set[Any] = {"cost_complexity_pruning_path"}
    theirs = {name for name in dir(DecisionTreeClassifier) if not name.startswith("_")}
    ours = {name for name in dir(OptimalTreeClassifier) if not name.startswith("_")}
    assert {name for name in theirs - ours if "request" not in name} == without
