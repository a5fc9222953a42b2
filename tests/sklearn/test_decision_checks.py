"""scikit-learn's checks of trees and forests that decide.

The target is a table of costs; the checks have a single column, which is welcome as well: with the
default oracle there is then nothing to decide. A forest that draws its rows draws others when rows
are repeated instead of weighted, as that of scikit-learn does; without drawing it passes.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from certree import SPOForest, SPOTree

ESTIMATORS = [
    SPOTree(),
    SPOTree(max_depth=2, max_listed=0),
    SPOTree(method="greedy", max_depth=None, min_samples_leaf=2),
    SPOTree(method="greedy", criterion="squared_error"),
    SPOForest(n_estimators=3, random_state=0),
    SPOForest(n_estimators=3, bootstrap=False, criterion="squared_error", random_state=0),
]


def _expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, SPOForest) and estimator.bootstrap:
        reason = "rows are drawn at random, other ones when there are more of them"
        check = "check_sample_weight_equivalence_on_{}_data"
        return {check.format(form): reason for form in ("dense", "sparse")}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=_expected_failures)
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)
