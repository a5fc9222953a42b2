"""scikit-learn's own checks for the trees of costs, policies and regression; none may fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import CostSensitiveTreeClassifier, OptimalTreeRegressor, PolicyTree

ESTIMATORS = [
    CostSensitiveTreeClassifier(max_depth=2, thresholds=8),
    OptimalTreeRegressor(max_depth=2, thresholds=8),
    OptimalTreeRegressor(max_depth=3, max_splits=3, complexity=0.01, complexity_per="leaf"),
    PolicyTree(max_depth=2, thresholds=8),
]


@pytest.mark.filterwarnings("ignore:Poor overlap:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
