"""A missing value may go to either side of a threshold or flag, so that encoding loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 2, 5, None]), st.booleans()), min_size=2, max_size=14)
)
def test_no_division_of_a_column_does_better(rows: list[tuple[Any, bool]]) -> None:
    """A stump is best among all that cut the numbers somewhere and send missing values anywhere."""
    values, y = [[v] for v, _ in rows], [label for _, label in rows]
    model = OptimalTreeClassifier(max_depth=1, thresholds="all").fit(values, y)
    divisions = [
        [side if v is None else v <= cut for v, _ in rows]
        for cut in (-1, 0, 1, 2, 5)
        for side in (False, True)
    ]
    assert model.certificate_.cost == min(
        sum(
            _errors([label for label, s in zip(y, division, strict=True) if s == side])
            for side in (0, 1)
        )
        for division in divisions
    )


def _errors(labels: list[bool]) -> int:
    return min(sum(labels), len(labels) - sum(labels))
