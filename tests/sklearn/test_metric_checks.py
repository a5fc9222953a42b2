"""scikit-learn's checks for objectives with a positive class, and for tuning."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import OptimalTreeClassifier, OptimalTreeClassifierCV, metrics

ESTIMATORS = [
    OptimalTreeClassifier(max_depth=2, objective="f1"),
    OptimalTreeClassifier(max_depth=2, objective=metrics.MCC(), complexity=0.01),
    OptimalTreeClassifier(max_depth=2, objective="auc"),
    OptimalTreeClassifierCV(depths=(1, 2), cv=3),
    OptimalTreeClassifierCV(depths=(1, 2), cv=3, objective="f1"),
]


# Folds of the few rows of some checks lack classes or hold some only once, of which sklearn warns.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@pytest.mark.filterwarnings("ignore:class_weight is less than:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
