"""scikit-learn's own checks of what an estimator must do; none is expected to fail."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import OptimalTreeClassifier

ESTIMATORS = [
    OptimalTreeClassifier(),
    OptimalTreeClassifier(max_depth=2),
    OptimalTreeClassifier(max_depth=None, complexity=0.02),
    OptimalTreeClassifier(max_depth=3, max_splits=4, complexity=0.001, complexity_per="leaf"),
    OptimalTreeClassifier(max_depth=2, objective="balanced_accuracy", thresholds="all"),
    OptimalTreeClassifier(max_depth=2, thresholds=4, n_jobs=2, search="depth-first"),
]


# One check gives a class ten million times the weight of another, of which fit warns.
@pytest.mark.filterwarnings("ignore:class_weight is less than:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
