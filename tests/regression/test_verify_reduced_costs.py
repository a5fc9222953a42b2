"""Trees of a reduced table with costs per row are verified by the rows themselves, too."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from certree import (
    CertificateError,
    CostSensitiveTreeClassifier,
    PolicyTree,
    Reduced,
    reduce,
    verify,
)

pytest.importorskip("ibis")
pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")

NAMES = ["c0", "c1", "c2"]


def problem(seed: int, *, wide: bool = True) -> tuple[Reduced, Any, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 3, (20, 2)), columns=["a", "b"])
    sizes = 10.0 ** rng.uniform(-9, 9, (20, 3)) if wide else rng.integers(0, 9, (20, 3)) / 4
    costs = sizes * rng.choice([-1, 1], sizes.shape)
    table = X.copy()
    table[NAMES] = costs
    return reduce(table, features=["a", "b"], costs=NAMES), X, costs


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_its_rows_are_accepted(seed: int, wide: bool) -> None:
    reduced, X, costs = problem(seed, wide=wide)
    model = CostSensitiveTreeClassifier(classes=NAMES, max_depth=2).fit_reduced(reduced)
    assert verify(model, reduced)
    assert verify(model, X, costs=costs)
    policy = PolicyTree(treatments=NAMES, max_depth=2).fit_reduced(reduced)
    assert verify(policy, reduced)
    assert verify(policy, X, costs)
    policy.rewards_ = policy.rewards_.copy()
    policy.rewards_[0, 0] += costs.max()
    with pytest.raises(CertificateError, match="sum of treatment 0 in rewards_"):
        verify(policy, X, costs)


def test_one_label_that_is_best_for_all_groups_is_optimal() -> None:
    """Rounding is large beside the cost of a leaf, by rows, but no tree can be better."""
    table = pd.DataFrame({"a": [0, 0, 1, 1], "c0": [0.0, 3.1e9, 0.0, 1.7e9]})
    table["c1"] = [158.262488 / 3, 1e-9, 1e-8 / 3, -7.3e8 / 7]
    model = CostSensitiveTreeClassifier(classes=["c0", "c1"], max_depth=1)
    reduced = reduce(table, features=["a"], costs=["c0", "c1"])
    model.fit_reduced(reduced)
    assert model.certificate_.status == "optimal"
    assert verify(model, reduced)
    assert verify(model, table[["a"]], costs=table[["c0", "c1"]].to_numpy())


@pytest.mark.parametrize("by_rows", [False, True])
def test_what_its_splits_save_is_compared(by_rows: bool) -> None:
    reduced, X, costs = problem(1)
    model = CostSensitiveTreeClassifier(classes=NAMES, max_depth=2).fit_reduced(reduced)
    assert model.certificate_.n_splits > 1
    data: Any = {"X": X, "costs": costs} if by_rows else {"X": reduced}
    node_costs = model._node_costs.copy()
    for node in range(1, len(node_costs)):
        model._node_costs = node_costs.copy()
        model._node_costs[node] += node_costs[0] / 10
        with pytest.raises(CertificateError, match="cost of node"):
            verify(model, **data)


def test_another_cost_is_refused() -> None:
    reduced, X, costs = problem(2, wide=False)
    model = CostSensitiveTreeClassifier(classes=NAMES, max_depth=2).fit_reduced(reduced)
    true = model.certificate_
    for changes in (
        {"cost": true.cost + 1, "upper_bound": true.cost + 1, "leaf_cost": true.leaf_cost + 1},
        {"unit": 3 * true.unit},
        {"rounding": true.rounding + 1},
    ):
        model.certificate_ = replace(true, **changes)
        with pytest.raises(CertificateError):
            verify(model, X, costs=costs)


def test_rewards_of_rows_are_compared_row_by_row_where_there_is_no_tree() -> None:
    """A policy that nothing keeps has no tree, as groups of rows have no notes."""
    X = np.array([[0], [1], [0], [1]])
    rewards = np.array([[1.5, 2], [3, 1], [0, 1], [2, 2]])
    weights = [3, 2, 5, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PolicyTree(treatments=[0, 1], max_depth=1, capacity={0: 0, 1: 0})
        model.fit_rewards(X, rewards, weights)
    assert model.certificate_.status == "infeasible"
    assert verify(model, X, model.rewards_, sample_weight=weights)
    model.rewards_ = rewards + 1
    with pytest.raises(CertificateError, match="rewards_"):
        verify(model, X, rewards, sample_weight=weights)
