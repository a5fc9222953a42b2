"""Objectives with limits and constraints that other files do not join, against trees one by one.

`verify` tries all trees with code of its own, in exact arithmetic.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, OptimalTreeClassifier, tasks, verify

METRICS = ("f1", "mcc", "gmean", "jaccard", "cohen_kappa", "accuracy", "balanced_accuracy")


def _draw_limits(rng: np.random.Generator, y: Any) -> list[Any]:
    """Return limits that many trees are just within, or just out of."""
    few = tasks.Limit("few", {1: 1}, at_most=int(rng.integers(0, len(y))))
    found = tasks.Limit("found", {1: y}, at_least=int(rng.integers(0, y.sum() + 2)))
    amounts = np.round(rng.normal(size=(len(y), 2)), 2)
    spent = tasks.Limit("spent", amounts, at_most=round(float(rng.normal()), 2))
    large = tasks.LeafMinimum({int(rng.integers(2)): int(rng.integers(1, 6))})
    chosen = [limit for limit in (few, found, spent, large) if rng.random() < 0.5]
    return chosen or [few]


@pytest.mark.parametrize("seed", range(60))
def test_metrics_within_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 25))
    X = rng.integers(0, 2, (n_rows, int(rng.integers(2, 5))))
    y = ((X[:, 0] & X[:, 1]) ^ (rng.random(n_rows) < 0.3)).astype(int)
    y[:2] = 0, 1
    weights = None if rng.random() < 0.6 else rng.integers(1, 5, n_rows) / 10
    model = OptimalTreeClassifier(
        int(rng.integers(0, 4)),
        objective=str(rng.choice(METRICS)),
        limits=_draw_limits(rng, y),
        max_splits=None if rng.random() < 0.5 else int(rng.integers(0, 4)),
        complexity=float(rng.choice([0, 0, 0.01, 0.1])),
        complexity_per=str(rng.choice(["split", "leaf"])),
        pos_label=int(rng.integers(2)),
        min_samples_leaf=int(rng.integers(1, 3)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, weights)
    assert model.certificate_.status in ("optimal", "infeasible")
    assert verify(model, X, y, weights, exhaustive=True)


def test_f1_within_a_capacity_by_hand() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (40, 3))
    y = ((X[:, 0] & X[:, 1]) | (rng.random(40) < 0.25)).astype(int)
    best = Fraction(0)
    # A tree of depth three over three columns labels each of the eight cells as it likes.
    for labels in product((0, 1), repeat=8):
        says = np.array(labels)[X @ [4, 2, 1]]
        if says.sum() <= 8:
            right = int((says & y).sum())
            best = max(best, Fraction(2 * right, int(says.sum() + y.sum())))
    model = OptimalTreeClassifier(3, objective="f1", capacity={1: 0.2}).fit(X, y)
    assert model.certificate_.is_optimal
    assert 1 - model.certificate_.cost == best
    assert model.predict(X).sum() <= 8
    free = OptimalTreeClassifier(3, objective="f1").fit(X, y)
    assert free.certificate_.objective > model.certificate_.objective


@pytest.mark.parametrize("seed", range(40))
def test_cost_matrices_of_fair_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_classes = int(rng.integers(8, 25)), int(rng.integers(2, 5))
    X = rng.integers(0, 2, (n_rows, int(rng.integers(2, 5))))
    y = rng.permutation(np.arange(n_rows) % n_classes)
    groups = rng.permutation(np.arange(n_rows) % 2)
    matrix = np.round(rng.integers(0, 6, (n_classes, n_classes)) * rng.choice([1, 0.1]), 1)
    matrix[0, 1] = 7
    weights = [None, rng.integers(1, 5, n_rows) / 10, rng.random(n_rows) + 0.1][seed % 3]
    model = FairTreeClassifier(
        "accuracy_parity" if n_classes > 2 else "demographic_parity",
        float(rng.choice([0, 0.05, 0.1, 0.3])),
        cost_matrix=matrix,
        max_depth=int(rng.integers(0, 4)),
        max_splits=None if rng.random() < 0.5 else int(rng.integers(0, 4)),
        complexity=float(rng.choice([0, 0, 0.01, 0.1])),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, groups, weights)
    assert model.certificate_.status in ("optimal", "infeasible")
    assert verify(model, X, y, weights, exhaustive=True, sensitive_features=groups)
