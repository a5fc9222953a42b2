"""scikit-learn's own checks for the fair tree; none may fail.

The checks know nothing of groups: they fit without any, of which fit warns.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import FairTreeClassifier

ESTIMATORS = [
    FairTreeClassifier(),
    FairTreeClassifier("accuracy_parity", max_depth=2, thresholds=8),
    FairTreeClassifier("equalized_odds", max_depth=None, complexity=0.02),
]


@pytest.mark.filterwarnings("ignore:No sensitive_features were given:UserWarning")
@pytest.mark.filterwarnings("ignore:class_weight is less than:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
