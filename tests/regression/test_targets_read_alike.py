"""fit and verify read targets by the same rule, or fit refuses them with one clear line.

verify could not read a y of one column. Dates became numbers of microseconds, and an integer beside
texts became a text, without a word.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from certree import (
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    OrdinalTreeClassifier,
    solve,
    tasks,
    verify,
)

X = [[0.0], [1.0], [2.0], [3.0]]
DATES = np.array(["2024", "2025", "2025", "2024"], dtype="datetime64[D]")


@pytest.mark.parametrize("model", [OptimalTreeClassifier(1), OptimalTreeRegressor(1)])
@pytest.mark.parametrize("make", [list, np.array])
def test_one_column_is_read_as_no_column(model: Any, make: Any) -> None:
    y = make([[0], [1], [1], [0]])
    with pytest.warns(DataConversionWarning):
        model.fit(X, y)
    assert verify(model, X, y)
    assert verify(model, X, [0, 1, 1, 0])


def test_one_column_of_a_frame_is_read_as_no_column() -> None:
    pd = pytest.importorskip("pandas")
    y = pd.DataFrame({"y": ["a", "b", "b", "a"]})
    with pytest.warns(DataConversionWarning):
        model = OptimalTreeClassifier(1).fit(X, y)
    assert verify(model, X, y)


@pytest.mark.parametrize("y", [DATES, DATES - DATES[0]])
def test_dates_are_no_numbers(y: Any) -> None:
    for model in (
        OptimalTreeRegressor(1),
        OptimalTreeRegressor(1, criterion="absolute_error"),
        LinearTreeRegressor(1),
    ):
        with pytest.raises(ValueError, match=r"y holds (dates|durations), of type .* are needed"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="costs holds"):
        solve(tasks.RowCosts(np.column_stack([y, y])), X, max_depth=1)
    with pytest.raises(ValueError, match="y must hold numbers"):
        OptimalTreeRegressor(1).fit(X, [date(2024, 1, 1)] * 4)


@pytest.mark.parametrize("model", [OptimalTreeClassifier(1), OrdinalTreeClassifier(max_depth=1)])
@pytest.mark.parametrize("y", [["a", 1, 1, "a"], [["a"], [1], [1], ["a"]], ("a", 1.5, True, "a")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_numbers_beside_texts_are_refused(model: Any, y: Any) -> None:
    with pytest.raises(TypeError, match="class labels must be all texts"):
        model.fit(X, y)


def test_a_missing_label_beside_texts_is_missing() -> None:
    with pytest.raises(ValueError, match=r"contains NaN or None .first in row 1"):
        OptimalTreeClassifier(1).fit(X, ["a", float("nan"), "b", "a"])
