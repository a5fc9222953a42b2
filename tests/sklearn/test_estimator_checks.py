"""scikit-learn's own checks of what an estimator must do; one expects weights to be neglected."""

from __future__ import annotations

from typing import Any

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


def _expected_failures(estimator: Any) -> dict[str, str]:
    # A penalty for splits outweighs the gain, and the check passes.
    if getattr(estimator, "complexity", 0):
        return {}
    return {
        "check_class_weight_classifiers": "a class of a ten-millionth of the weight counts, too: "
        "where a split gets it right at no cost, the tree makes it"
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
