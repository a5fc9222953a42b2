"""The estimator checks of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.estimator_checks import _enforce_estimator_tags_y


def failures_of_old_checks(estimator: Any) -> dict[str, str]:
    """Return checks of scikit-learn 1.6.0 that no classifier of two classes can pass.

    They make two classes of three by the label of the first row, after shuffling the rows of one of
    two tables that should give equal models. Later versions take the least label.
    """
    labels = np.array([0, 1, 2])
    ways = [_enforce_estimator_tags_y(estimator, labels[order]) for order in ([0, 1, 2], [1, 2, 0])]
    if np.array_equal(ways[0], ways[1][[2, 0, 1]]):
        return {}
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": "the two tables have other labels"
        for kind in ("dense", "sparse")
    }
