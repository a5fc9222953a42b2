"""Whatever the data and the limits: a tree or a proof that there is none, and a valid bound."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    verify,
)

Fit = Callable[..., tuple[Any, tuple[Any, ...]]]


def costs(n_rows: int, n_columns: int) -> Any:
    return np.random.default_rng(1).integers(0, 10, (n_rows, n_columns)).astype(float)


def fit_labels(kind: Any, **fixed: Any) -> Fit:
    def fit(X: Any, y: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
        return kind(**fixed, **options).fit(X, y), (X, y)

    return fit


def fit_cost_sensitive(X: Any, y: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    matrix = np.array([[0, 3, 1], [1, 0, 5], [2, 2, 0]])
    model = CostSensitiveTreeClassifier(matrix, classes=[0, 1, 2], **options)
    return model.fit(X, y), (X, y)


def fit_policy(capacity: Any, X: Any, y: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    rewards = costs(len(y), 3)
    model = PolicyTree(treatments=["a", "b", "c"], capacity=capacity, **options)
    return model.fit_rewards(X, rewards), (X, rewards)


def fit_fair(X: Any, y: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    groups = np.arange(len(y)) % 2
    labels = (np.asarray(y) > 0).astype(int)
    model = FairTreeClassifier(tolerance=0, **options)
    return model.fit(X, labels, sensitive_features=groups), (X, labels, groups)


def fit_decisions(X: Any, y: Any, **options: Any) -> tuple[Any, tuple[Any, ...]]:
    C = costs(len(y), 3)
    return SPOTree(**options).fit(X, C), (X, C)


FITS: dict[str, Fit] = {
    "classifier": fit_labels(OptimalTreeClassifier),
    "best-first": fit_labels(OptimalTreeClassifier, search="best-first"),
    "all-thresholds": fit_labels(OptimalTreeClassifier, thresholds="all"),
    "balanced": fit_labels(OptimalTreeClassifier, class_weight="balanced"),
    "regressor": fit_labels(OptimalTreeRegressor),
    "costs": fit_cost_sensitive,
    "policy": lambda X, y, **options: fit_policy(None, X, y, **options),
    "capacity-0": lambda X, y, **options: fit_policy({"a": 0, "b": 0}, X, y, **options),
    "fair-0": fit_fair,
    "decisions": fit_decisions,
}


def table(n_rows: int, n_columns: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Numbers, and labels of which every class has a row."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, n_columns)).round(2), rng.permutation(y)


def checked(name: str, X: Any, y: Any, **options: Any) -> Any:
    """Fit, and check what there is: a tree within the limits between the bounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        model, data = FITS[name](X, y, **options)
    found = model.certificate_
    if not found.has_tree:
        assert found.status == "infeasible"
        return model
    assert found.lower_bound <= found.cost == found.upper_bound
    assert model.tree_.depth == found.depth <= min(options["max_depth"], len(y))
    assert len(model.predict(X)) == len(y)
    if name == "capacity-0":
        assert set(model.predict(X)) == {"c"}
    if name == "fair-0":
        chosen = [np.mean(model.predict(X)[np.arange(len(y)) % 2 == group]) for group in (0, 1)]
        assert chosen[0] == chosen[1]
        assert verify(model, *data[:2], sensitive_features=data[2])
    else:
        assert verify(model, *data)
    return model


@pytest.mark.parametrize("name", FITS)
def test_a_depth_far_beyond_the_rows(name: str) -> None:
    model = checked(name, *table(20, 3, 3), max_depth=1000, time_limit=5.0)
    assert model.certificate_.has_tree


@pytest.mark.parametrize("name", FITS)
def test_a_time_limit_of_a_millisecond(name: str) -> None:
    model = checked(name, *table(300, 6, 3), max_depth=7, time_limit=0.001)
    assert model.certificate_.has_tree
    assert model.certificate_.status in ("optimal", "time_limit")


@pytest.mark.parametrize("name", FITS)
def test_a_depth_and_a_time_limit_far_from_what_is_needed(name: str) -> None:
    model = checked(name, *table(150, 5, 3), max_depth=1000, time_limit=0.001)
    assert model.certificate_.has_tree


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("depth", [0, 1, 8])
def test_one_class(name: str, depth: int) -> None:
    X, _ = table(12, 3, 1)
    model = checked(name, X, np.zeros(12, dtype=int), max_depth=depth)
    if name not in ("policy", "capacity-0", "decisions"):
        assert model.certificate_.is_optimal
        assert model.certificate_.cost == 0


@pytest.mark.parametrize("name", [name for name in FITS if name != "fair-0"])
@pytest.mark.parametrize("depth", [0, 1, 1000])
def test_one_row(name: str, depth: int) -> None:
    model = checked(name, [[1.5, 0.0]], [0], max_depth=depth)
    assert model.certificate_.is_optimal
    assert model.tree_.n_splits == 0


def test_one_row_is_one_group_which_fairness_refuses() -> None:
    with pytest.raises(ValueError, match="has only one group, 0"):
        checked("fair-0", [[1.5, 0.0]], [0], max_depth=3)
