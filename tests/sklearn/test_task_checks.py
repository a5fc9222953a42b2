"""scikit-learn's own checks for the trees of costs, policies and regression; none may fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import (
    CostSensitiveTreeClassifier,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    SPOTree,
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
    OptimalTreeRegressorCV(depths=(1, 2), cv=3, thresholds=8),
    TreeCV(OptimalTreeRegressor(thresholds=8), depths=(2,), cv=3, complexities="auto"),
    TreeCV(CostSensitiveTreeClassifier(thresholds=8), depths=(1, 2), cv=3),
]


@pytest.mark.filterwarnings("ignore:Poor overlap:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
