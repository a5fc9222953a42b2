"""Trees of every size in every fold, against all trees; and scores against their definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    TreeCV,
    metrics,
)
from certree.estimators._sizes import Part, models_within

LeafCost = Callable[[Any], float]
FOLDS = KFold(3)


def least(X: Any, rows: Any, depth: int, splits: int, leaf: LeafCost) -> float:
    """Return the least cost of a tree, by looking at all trees."""
    best = leaf(rows)
    if depth == 0 or splits == 0:
        return best
    for column in X.T:
        yes, no = rows[column[rows] == 1], rows[column[rows] == 0]
        if len(yes) == 0 or len(no) == 0:
            continue
        for above in range(splits):
            parts = (
                least(X, yes, depth - 1, above, leaf),
                least(X, no, depth - 1, splits - 1 - above, leaf),
            )
            best = min(best, sum(parts))
    return best


class Case:
    """An estimator, its rows, and what a leaf of rows costs."""

    def __init__(self, model: Any, y: Any, by_label: Any = None, **params: Any) -> None:
        self.model, self.y, self.costs, self.params = model, y, by_label, params

    def leaf(self, rows: Any) -> float:
        """Return what the best label costs some rows, or their squared error without labels."""
        if self.costs is not None:
            return float(self.costs[rows].sum(axis=0).min())
        return float(((self.y[rows] - self.y[rows].mean()) ** 2).sum())

    def paid(self, model: Any, X: Any, rows: Any) -> float:
        """Return what the leaves of a fitted model cost their rows."""
        leaves = model.apply(X[rows])
        return sum(self.leaf(rows[leaves == one]) for one in set(leaves.tolist()))


def rows() -> tuple[Any, dict[str, Case]]:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (36, 4))
    y = (X[:, 0] ^ X[:, 1] ^ (rng.random(36) < 0.2)).astype(int)
    matrix, rewards = np.array([[0, 2], [5, 0]]), rng.integers(0, 9, (36, 3))
    weights = rng.integers(1, 4, 36)
    errors = np.eye(2)[1 - y]
    return X, {
        "errors": Case(OptimalTreeClassifier(), y, errors),
        "weights": Case(
            OptimalTreeClassifier(), y, errors * weights[:, None], sample_weight=weights
        ),
        "cost matrix": Case(CostSensitiveTreeClassifier(matrix), y, matrix[y]),
        "row costs": Case(CostSensitiveTreeClassifier(), None, rewards, costs=rewards),
        "squares": Case(OptimalTreeRegressor(), rng.integers(0, 20, 36) / 2),
        "policy": Case(PolicyTree(), rewards, -rewards),
        "decisions": Case(SPOTree(), rewards, rewards),
    }


@pytest.mark.parametrize("name", list(rows()[1]))
def test_every_fold_has_the_best_tree_of_every_size(name: str) -> None:
    X, cases = rows()
    case = cases[name]
    chosen = TreeCV(case.model, depths=(1, 2), cv=FOLDS).fit(X, case.y, **case.params)
    limits = [{"max_depth": d, "max_splits": s} for d in (1, 2) for s in range(1, 2**d)]
    assert chosen.curve_.params == limits
    model = chosen._tree()
    target, params = model._prepare(X, case.y, case.params)
    for number, (train, test) in enumerate(FOLDS.split(X)):
        found = models_within(model, Part(X, target, params).rows(train), limits)
        left_out = Part(X, target, params).rows(test)
        for place, (tried, one) in enumerate(zip(found, limits, strict=True)):
            tree = tried.model.tree_
            assert tree.depth <= one["max_depth"]
            assert tree.n_splits <= one["max_splits"]
            wanted = least(X, train, one["max_depth"], one["max_splits"], case.leaf)
            assert case.paid(tried.model, X, train) == pytest.approx(wanted)
            score = tried.model._score_part(left_out.X, left_out.y, **left_out.params)
            assert chosen.curve_.scores[place, number] == pytest.approx(score)
    wanted = least(X, np.arange(len(X)), **_words(chosen.best_params_), leaf=case.leaf)
    assert case.paid(chosen, X, np.arange(len(X))) == pytest.approx(wanted)
    assert chosen.certificate_.is_optimal


def _words(limits: dict[str, int]) -> dict[str, int]:
    return {"depth": limits["max_depth"], "splits": limits["max_splits"]}


@pytest.mark.parametrize(
    "model, params",
    [
        (FairTreeClassifier(tolerance=0.2), ("sensitive_features",)),
        (FairTreeClassifier("accuracy_parity", tolerance=0.05), ("sensitive_features",)),
        (CostSensitiveTreeClassifier([[0, 2], [5, 0]], capacity={1: 0.4}), ()),
        (CostSensitiveTreeClassifier([[0, 2], [5, 0]], test_costs=[0.1, 0.2, 0.1, 0.3]), ()),
        (OptimalTreeClassifier(objective="auc"), ()),
        (OptimalTreeClassifier(objective="f1"), ()),
        (OptimalTreeClassifier(objective=metrics.GMean(), complexity=0.0), ()),
    ],
    ids=["parity", "errors alike", "capacity", "prices", "auc", "f1", "gmean"],
)
@pytest.mark.filterwarnings("ignore:No tree is within:UserWarning")
def test_other_objectives_have_the_cost_of_single_fits(model: Any, params: tuple[str, ...]) -> None:
    X, cases = rows()
    y = cases["errors"].y
    groups = np.random.default_rng(1).integers(0, 2, len(X))
    part = Part(X, y, dict.fromkeys(params, groups))
    limits = [{"max_depth": d, "max_splits": s} for d in (1, 2) for s in range(1, 2**d)]
    model._prepare(X, y, part.params)
    for train, _ in FOLDS.split(X):
        here = part.rows(train)
        for tried in models_within(model, here, limits):
            one = type(model)(**{**model.get_params(deep=False), **tried.limits})
            one.fit(here.X, here.y, **here.params)
            assert tried.has_tree == hasattr(one, "tree_")
            if tried.has_tree:
                pair = (_value(tried.model, here), _value(one, here))
                assert pair[0] == pytest.approx(pair[1])


def _value(model: Any, part: Part) -> float:
    return float(model._score_part(part.X, part.y, **part.params))


def test_a_search_is_saved_where_a_tree_keeps_narrower_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One split separates the classes, so one search answers all limits that allow it."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    calls = []
    fit = OptimalTreeClassifier.fit
    monkeypatch.setattr(
        OptimalTreeClassifier, "fit", lambda self, *a, **k: calls.append(1) or fit(self, *a, **k)
    )
    limits = [{"max_depth": d, "max_splits": s} for d in (1, 2, 3) for s in range(1, 2**d)]
    part = Part(X, X[:, 0])
    found = models_within(OptimalTreeClassifier(objective="auc"), part, limits)
    assert len(found) == 11
    assert len(calls) == 1
    assert {tried.model.tree_.n_splits for tried in found} == {1}
