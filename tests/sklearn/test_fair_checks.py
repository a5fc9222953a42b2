"""scikit-learn's own checks for the fair tree; one expects weights to be neglected.

The checks know nothing of groups: they fit without any, of which fit warns.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import FairTreeClassifier
from tests.sklearn import failures_of_old_checks

ESTIMATORS = [
    FairTreeClassifier(),
    FairTreeClassifier("accuracy_parity", max_depth=2, thresholds=8),
    FairTreeClassifier("equalized_odds", max_depth=None, complexity=0.02),
]


def _expected_failures(estimator: Any) -> dict[str, str]:
    failures = failures_of_old_checks(estimator)
    # A penalty for splits outweighs the gain, and the check passes.
    if getattr(estimator, "complexity", 0):
        return failures
    return failures | {
        "check_class_weight_classifiers": "a class of a ten-millionth of the weight counts, too: "
        "where a split gets it right at no cost, the tree makes it"
    }


@pytest.mark.filterwarnings("ignore:No sensitive_features were given:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
