"""Limits on the size of trees, in the words of scikit-learn: shares of rows, numbers of leaves."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import certree
from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOForest,
    SPOTree,
    pareto_front,
    regularization_path,
    solve,
    tasks,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
C = RNG.random((60, 2))
ORACLE = np.eye(2)


def _smallest(model: Any, rows: Any = X) -> int:
    return int(np.unique(model.apply(rows), return_counts=True)[1].min())


FITS: list[tuple[Any, tuple[Any, ...]]] = [
    (OptimalTreeClassifier(), (X, Y)),
    (OptimalTreeClassifier(objective="f1"), (X, Y)),
    (OptimalTreeClassifier(objective="auc"), (X, Y)),
    (OptimalTreeRegressor(), (X, X[:, 1] + Y)),
    (CostSensitiveTreeClassifier([[0, 2], [3, 0]]), (X, Y)),
    (FairTreeClassifier(), (X, Y)),
    (SPOTree(ORACLE), (X, C)),
    (SPOTree(ORACLE, method="greedy"), (X, C)),
]


# No groups are compared.
pytestmark = pytest.mark.filterwarnings("ignore:No sensitive_features")


def _named(fit: Any) -> str:
    return str(fit[0])


def _with(model: Any, **parameters: Any) -> Any:
    return clone(model).set_params(**parameters)


class TestShares:
    @pytest.mark.parametrize("fit", FITS, ids=_named)
    def test_a_share_is_a_number_of_rows(self, fit: Any) -> None:
        model, data = fit
        one, other = (_with(model, max_depth=2, min_samples_leaf=n) for n in (0.19, 12))
        one.fit(*data)
        other.fit(*data)
        assert one.certificate_.min_samples_leaf == 12
        assert one.certificate_.cost == other.certificate_.cost
        assert _smallest(one) >= 12
        assert one.tree_.n_splits > 0
        certree.verify(one, *data)

    @pytest.mark.parametrize(
        "share, n_rows", [(0.07, 7), (np.float64(0.07), 7), (Decimal("0.071"), 8), (0.5, 50)]
    )
    def test_it_counts_as_it_is_written(self, share: Any, n_rows: int) -> None:
        rows = np.arange(100.0)[:, None]
        model = OptimalTreeClassifier(max_depth=1, min_samples_leaf=share)
        model.fit(rows, rows[:, 0] > 2)
        assert model.certificate_.min_samples_leaf == n_rows
        certree.verify(model, rows, rows[:, 0] > 2)

    def test_rows_without_weight_do_not_count(self) -> None:
        weights = np.where(np.arange(60) < 30, 0, 2)
        model = OptimalTreeClassifier(max_depth=2, min_samples_leaf=Fraction(1, 10))
        model.fit(X, Y, sample_weight=weights)
        assert model.certificate_.min_samples_leaf == 3
        certree.verify(model, X, Y, weights)

    def test_weights_of_decisions_count_as_rows(self) -> None:
        weights = np.where(np.arange(60) < 30, 1, 3)
        model = SPOTree(ORACLE, max_depth=2, min_samples_leaf=0.25).fit(X, C, sample_weight=weights)
        assert model.certificate_.min_samples_leaf == 30
        certree.verify(model, X, C, weights)

    def test_forests_and_cross_validation(self) -> None:
        forest = SPOForest(ORACLE, n_estimators=3, min_samples_leaf=0.4, bootstrap=False)
        forest.fit(X, C)
        same = SPOForest(ORACLE, n_estimators=3, min_samples_leaf=24, bootstrap=False)
        forest.set_params(random_state=0)
        same.set_params(random_state=0)
        assert (forest.fit(X, C).predict(X) == same.fit(X, C).predict(X)).all()
        search = OptimalTreeClassifierCV(depths=(1, 2), min_samples_leaf=0.2).fit(X, Y)
        assert _smallest(search) >= 12

    def test_optimality_gap_and_separable(self) -> None:
        tree = OptimalTreeClassifier(max_depth=1, min_samples_leaf=3).fit(X, Y)
        gap = certree.optimality_gap(tree, X, Y, min_samples_leaf=0.05)
        assert gap.gap == 0

    @pytest.mark.parametrize("value", [0.0, 0.51, 1.0, -0.1, float("nan"), 0])
    def test_other_numbers_are_refused(self, value: Any) -> None:
        with pytest.raises(ValueError, match="min_samples_leaf must be an integer"):
            OptimalTreeClassifier(min_samples_leaf=value).fit(X, Y)

    @pytest.mark.parametrize("value", [None, "0.1", True])
    def test_other_types_are_refused(self, value: Any) -> None:
        with pytest.raises(TypeError, match="min_samples_leaf must be an integer"):
            OptimalTreeClassifier(min_samples_leaf=value).fit(X, Y)


class TestLeaves:
    @pytest.mark.parametrize("fit", FITS, ids=_named)
    def test_leaves_are_splits_plus_one(self, fit: Any) -> None:
        model, data = fit
        one = _with(model, max_depth=3, max_leaf_nodes=3).fit(*data)
        other = _with(model, max_depth=3, max_splits=2).fit(*data)
        assert one.certificate_.max_splits == 2
        assert one.certificate_.cost == other.certificate_.cost
        assert one.tree_.n_leaves <= 3
        certree.verify(one, *data)

    def test_it_limits_a_tree_of_any_depth(self) -> None:
        one = OptimalTreeRegressor(max_depth=None, max_leaf_nodes=4, thresholds=4).fit(X, X[:, 0])
        assert one.tree_.n_leaves == 4
        policy = PolicyTree(max_depth=None, max_leaf_nodes=2, thresholds=4)
        policy.fit(X, Y, RNG.random(60))
        assert policy.tree_.n_leaves <= 2

    def test_functions_take_it_too(self) -> None:
        path = regularization_path(X, Y, max_leaf_nodes=3)
        assert [entry.splits for entry in path][-1] == 2
        front = pareto_front(X, Y, max_leaf_nodes=2)
        assert {tree.n_leaves for tree in front.trees} <= {1, 2}
        found = solve(tasks.RowCosts(C), X, max_leaf_nodes=2)
        assert found.tree is not None
        assert found.tree.n_leaves <= 2

    def test_both_may_say_the_same(self) -> None:
        model = OptimalTreeClassifier(max_splits=3, max_leaf_nodes=4).fit(X, Y)
        assert model.certificate_.max_splits == 3
        assert OptimalTreeClassifier(max_leaf_nodes=1).fit(X, Y).tree_.n_leaves == 1

    def test_what_disagrees_is_refused(self) -> None:
        with pytest.raises(ValueError, match="max_splits=3 and max_leaf_nodes=3 disagree"):
            regularization_path(X, Y, max_splits=3, max_leaf_nodes=3)
        with pytest.raises(ValueError, match="max_splits=4 and max_leaf_nodes=4 disagree"):
            OptimalTreeClassifier(max_splits=4, max_leaf_nodes=4).fit(X, Y)
        with pytest.raises(ValueError, match="max_leaf_nodes=4 needs splits='binary'"):
            OptimalTreeClassifier(splits="multiway", max_leaf_nodes=4).fit([["a"], ["b"]], [0, 1])
        with pytest.raises(ValueError, match="max_leaf_nodes must be an integer of at least 1"):
            OptimalTreeClassifier(max_leaf_nodes=0).fit(X, Y)
