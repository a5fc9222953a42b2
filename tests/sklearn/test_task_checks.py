"""scikit-learn's own checks for the trees of costs, policies and regression."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import (
    CostSensitiveTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    PolicyTree,
    SPOTree,
    SurvivalTree,
    TreeCV,
    estimators,
)
from certree.estimators._task_tree import BaseTaskTree

TASK_TREES = [
    one
    for one in (getattr(estimators, name) for name in estimators.__all__)
    # Trees that decide have checks of their own.
    if isinstance(one, type) and issubclass(one, BaseTaskTree) and one is not SPOTree
]

ESTIMATORS = [
    *(one(max_depth=2, thresholds=8) for one in TASK_TREES),
    OptimalTreeRegressor(max_depth=3, max_splits=3, complexity=0.01, complexity_per="leaf"),
    OptimalTreeRegressor(max_depth=2, criterion="absolute_error", thresholds=8),
    OptimalTreeRegressor(max_depth=2, criterion="quantile", quantile=0.4, thresholds=8),
    OptimalTreeRegressor(max_depth=2, criterion="poisson", thresholds=8),
    OptimalTreeRegressor(max_depth=2, criterion="gamma", thresholds=8),
    LinearTreeRegressor(max_depth=1, leaf_model="ridge", ridge=0.1, thresholds=8),
    OptimalTreeRegressorCV(depths=(1, 2), cv=3, thresholds=8),
    TreeCV(OptimalTreeRegressor(thresholds=8), depths=(2,), cv=3, complexities="auto"),
    TreeCV(CostSensitiveTreeClassifier(thresholds=8), depths=(1, 2), cv=3),
    OptimalTreeRegressorCV((2,), cv=2, criterion="absolute_error", thresholds=8),
    TreeCV(SurvivalTree(thresholds=8), depths=(1,), cv=2),
    TreeCV(LinearTreeRegressor(thresholds=8), depths=(1,), cv=2),
    TreeCV(OptimalTreeClusterer(3, thresholds=8), depths=(1,), cv=2),
]


def _expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, LinearTreeRegressor):
        rows = "coefficients need rows of their own, and a row of weight two is one row"
        found = {f"check_sample_weight_equivalence_on_{k}_data": rows for k in ("dense", "sparse")}
        if estimator.leaf_model == "ridge":
            found["check_all_zero_sample_weights_error"] = "its table has 20 columns, and models 10"
        return found
    if not isinstance(estimator, PolicyTree):
        return {}
    reason = "a target of several columns is taken to mean predictions of several columns"
    return {f"check_estimator_sparse_{form}": reason for form in ("array", "matrix")}


@pytest.mark.filterwarnings("ignore:Poor overlap:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
