"""A missing value may go to either side of a threshold or flag, so that encoding loses nothing."""

from __future__ import annotations

import numpy as np
import pytest

from certree import OptimalTreeClassifier, verify


@pytest.mark.parametrize("one", [1.0, 2.0])
@pytest.mark.parametrize("y", [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
def test_recoding_a_value_changes_no_optimum(one: float, y: list[int]) -> None:
    """A 0/1 column had no test for {0} against {1, missing}; a column of 0 and 2 had."""
    X = np.array([[0.0], [one], [np.nan]] * 3)
    model = OptimalTreeClassifier(max_depth=1, thresholds="all").fit(X, y * 3)
    assert model.certificate_.cost == 0
    assert model.predict(X).tolist() == y * 3
    verify(model, X, y * 3)
