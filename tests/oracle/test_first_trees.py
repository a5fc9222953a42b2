"""Trees of searches that end early: metrics, limits, fairness, tests with several outcomes.

The work of certree is limited, so that its first trees are compared, on any machine alike.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from certree import (
    FairTreeClassifier,
    OptimalityWarning,
    OptimalTreeClassifier,
    PolicyTree,
    metrics,
    verify,
)
from certree.engine import Nodes
from certree.engine._within_limits import LimitedProblem
from certree.proofs._limit_labels import repaired
from certree.proofs._limit_rows import LimitedRows, labellings
from tests.stopping import stopping

WORK = 4000
METRICS = ("f1", "mcc", "fowlkes_mallows", "jaccard", "cohen_kappa", "gmean", "macro_f1")


def short(kind: Any, *given: Any, work: int = WORK, **options: Any) -> Any:
    """Return an estimator that stops after a little work."""
    return stopping(kind, work)(*given, **options)


def quietly(model: Any, *data: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        return model.fit(*data, **more)


@cache
def bits(rows: int, columns: int, seed: int) -> tuple[Any, Any]:
    """Columns of 0 and 1; the label is a tree of six of them, with noise."""
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < rng.uniform(0.2, 0.8, columns)).astype(np.uint8)
    planted = rng.integers(0, 2, 64)[X[:, :6] @ (1 << np.arange(6))]
    return X, np.where(rng.random(rows) < 0.15, 1 - planted, planted)


def labelled(metric: Any, X: Any, y: Any, shares: Any) -> float:
    """Return the greatest value of a metric over thresholds of the shares of positive rows."""
    positives, negatives = int((y == 1).sum()), int((y == 0).sum())
    errors = [
        (int(((shares >= t) & (y == 0)).sum()), int(((shares < t) & (y == 1)).sum()))
        for t in np.unique(shares)
    ]
    return max(float(metric.exact(*pair, positives, negatives)) for pair in errors)


@pytest.mark.parametrize("depth", [5, 6, 8])
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_no_worse_than_that_of_trees_for_accuracy(name: str, depth: int) -> None:
    X, y = bits(600, 25, 0)
    metric = metrics.get(name)
    model = quietly(short(OptimalTreeClassifier, depth, objective=name), X, y)
    found = 1 - float(model.certificate_.cost)
    assert model.tree_.depth <= depth
    assert verify(model, X, y)
    cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    assert found >= labelled(metric, X, y, cart.predict_proba(X)[:, 1])
    plain = quietly(short(OptimalTreeClassifier, depth, work=1000), X, y)
    assert found >= labelled(metric, X, y, plain.predict_proba(X)[:, 1]) - 0.02


@cache
def groups(rows: int, seed: int) -> Any:
    """Groups that the first columns tell something of."""
    X, _ = bits(rows, 25, seed)
    rng = np.random.default_rng(seed)
    return np.where(rng.random(rows) < 0.3, rng.integers(0, 2, rows), X[:, 0] | X[:, 7])


@pytest.mark.parametrize("tolerance", ["0.01", "0"])
@pytest.mark.parametrize("constraint", ["demographic_parity", "equal_opportunity"])
def test_deep_fair_trees_are_better_than_shallow_ones(constraint: str, tolerance: str) -> None:
    X, y = bits(400, 25, 1)
    apart = groups(400, 1)
    data = {"sensitive_features": apart}
    given = {"constraint": constraint, "tolerance": tolerance}
    shallow = quietly(FairTreeClassifier(max_depth=2, **given), X, y, **data)
    model = quietly(short(FairTreeClassifier, max_depth=7, **given), X, y, **data)
    assert verify(model, X, y, **data)
    assert model.disparity_ <= float(tolerance)
    assert model.certificate_.cost < 0.8 * shallow.certificate_.cost


def test_every_fair_tree_keeps_the_tolerance() -> None:
    X, y = bits(300, 12, 2)
    apart = groups(300, 2)
    for constraint in ("predictive_equality", "equalized_odds"):
        model = short(FairTreeClassifier, constraint=constraint, tolerance=0, max_depth=9)
        quietly(model, X, y, sensitive_features=apart)
        assert model.disparity_ == 0
        assert verify(model, X, y, sensitive_features=apart)


@pytest.mark.parametrize("depth", [6, 8])
@pytest.mark.parametrize("capacity", [{"a": 0.2}, {"a": 0.2, "b": 0.3}, {"a": 0}])
def test_deep_policies_within_capacities(capacity: Any, depth: int) -> None:
    X, _ = bits(500, 20, 3)
    rng = np.random.default_rng(3)
    best = rng.integers(0, 3, 64)[X[:, :6] @ (1 << np.arange(6))]
    rewards = np.round((np.arange(3) == best[:, None]) + rng.normal(0, 0.2, (500, 3)), 2)
    given = {"treatments": ["a", "b", "c"], "capacity": capacity}
    shallow = PolicyTree(max_depth=3, **given).fit_rewards(X, rewards)
    model = short(PolicyTree, max_depth=depth, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        model.fit_rewards(X, rewards)
    assert verify(model, X, rewards)
    assert model.certificate_.cost < shallow.certificate_.cost


def limited_rows(bounds: tuple[int, ...], seed: int) -> LimitedRows:
    """Return rows with errors of two labels and a difference of two groups."""
    rng = np.random.default_rng(seed)
    y, group = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    values = np.zeros((40, 2, 2), dtype=np.int64)
    values[:, 0, 0], values[:, 1, 0] = y == 1, y == 0
    values[:, 1, 1] = 2 * group - 1
    planes = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=np.int64)
    columns = np.asfortranarray(rng.integers(0, 2, (40, 6)), dtype=np.uint8)
    return LimitedRows(LimitedProblem(columns, values, planes, bounds))


@pytest.mark.parametrize("seed", range(20))
def test_labels_are_repaired_where_labels_exist(seed: int) -> None:
    """The tree of all tests of three columns, with labels that break a limit."""
    rows = limited_rows((1, 1), seed)
    nodes = Nodes.of(
        [0, 1, 1, 2, 2, 2, 2, *[-1] * 8], [1, 3, 5, 7, 9, 11, 13, *[-1] * 8], [-1] * 7 + [1] * 8
    )
    tree = rows.evaluate(nodes)
    totals = labellings(tree, rows.problem.planes)
    assert totals is not None
    inside = totals[(totals[:, 1:] <= 1).all(axis=1), 0]
    found = repaired(rows, tree, (1, 1))[0]
    assert rows.is_inside(found, (1, 1))
    assert inside.min() <= found.values[0] <= inside.min() + 3
    assert found.values == rows.evaluate(found.nodes).values


@pytest.mark.parametrize("depth", [4, 5])
def test_more_tests_give_no_worse_first_trees(depth: int) -> None:
    """Both kinds of tests of categories together against those with several outcomes alone."""
    rng = np.random.default_rng(0)
    raw = [rng.integers(0, 3, 1500) for _ in range(12)]
    X = pd.DataFrame({f"c{j}": [f"v{v}" for v in values] for j, values in enumerate(raw)})
    z = (raw[0] == 1) + (raw[1] > 1) * (raw[2] < 2) + (raw[3] == 0) * (raw[4] != 0)
    y = (z + rng.normal(0, 0.8, 1500) > 1).astype(int)
    models = {
        kind: quietly(short(OptimalTreeClassifier, depth, splits=kind, work=work), X, y)
        for kind, work in (("multiway", 300), ("both", 1000))
    }
    assert models["both"].certificate_.cost <= models["multiway"].certificate_.cost
