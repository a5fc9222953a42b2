"""Class weights were counted as rows, and made probabilities that no row has.

With ``objective="balanced_accuracy"`` the leaf below said "sick (8 of 11.08, 72.2%)".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, metrics

X = np.array([[0]] * 8 + [[1]] * 8)
Y = np.array(["well"] * 13 + ["sick"] * 3)


@pytest.mark.parametrize(
    "asked",
    [
        {"objective": "balanced_accuracy"},
        {"class_weight": "balanced"},
        {"objective": metrics.BalancedAccuracy(), "pos_label": "sick"},
        {"class_weight": {"sick": 4}},
    ],
)
def test_a_leaf_says_how_many_of_its_rows_have_the_class(asked: dict[str, Any]) -> None:
    model = OptimalTreeClassifier(1, **asked).fit(X, Y)
    assert model.to_text() == "x0 = 1: sick (3 of 8, 37.5%)\nx0 = 0: well (8 of 8, 100.0%)"
    assert model.predict_proba([[1]]).tolist() == [[0.375, 0.625]]
    assert model.predict([[1]]).tolist() == ["sick"]
    assert "Training rows in this leaf: well 5, sick 3" in str(model.explain([[1]]))
    assert "weight" not in model.to_text()
