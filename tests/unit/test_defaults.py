"""What is not said means the same everywhere: all estimators and functions share their defaults."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import certree

FITTING = [
    certree.pareto_front,
    certree.regularization_path,
    certree.optimality_gap,
    certree.solve,
    *(
        one
        for one in (getattr(certree.estimators, name) for name in certree.estimators.__all__)
        if hasattr(one, "get_params")
    ),
]

SHARED: dict[str, Any] = {
    "max_depth": 3,
    "max_splits": None,
    "min_samples_leaf": 1,
    "complexity": 0.0,
    "complexity_per": "split",
    "objective": "accuracy",
    "pos_label": None,
    "class_weight": None,
    "categorical_features": "auto",
    "thresholds": "auto",
    "search": "auto",
    "time_limit": 60.0,
    "memory_limit": "auto",
    "gap": 0.0,
    "n_jobs": 1,
    "verbose": "auto",
    "random_state": None,
}

# Forests average trees that are grown greedily, and their trees may be deep; a gap is measured
# against trees of the size of the one that is given. A line through two rows fits them exactly.
OTHERWISE = {
    ("LinearTreeRegressor", "min_samples_leaf"): 5,
    ("SPOForest", "max_depth"): None,
    ("optimality_gap", "max_depth"): "same",
    ("optimality_gap", "max_splits"): "same",
}


@pytest.mark.parametrize("fitting", FITTING, ids=lambda fitting: fitting.__name__)
def test_the_same_parameter_has_the_same_default(fitting: Any) -> None:
    for name, parameter in inspect.signature(fitting).parameters.items():
        if name in SHARED:
            wanted = OTHERWISE.get((fitting.__name__, name), SHARED[name])
            assert parameter.default == wanted, name


def test_cross_validation_tries_no_deeper_trees_than_the_default() -> None:
    assert max(certree.OptimalTreeClassifierCV().depths) == SHARED["max_depth"]
