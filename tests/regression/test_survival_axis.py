"""The axis of survival curves ended at the longest time of the training rows, to six digits."""

from __future__ import annotations

import numpy as np
import pytest

from certree import SurvivalTree, report
from certree.tree._sketch import round_end


@pytest.mark.parametrize(
    "most, end",
    [(161.296, 170), (99.9, 100), (0.00123, 0.0013), (1e300, 1.1e300), (5, 5.1), (0, 1)],
)
def test_an_axis_ends_at_a_round_number_beyond_all_rows(most: float, end: float) -> None:
    assert round_end(most) == pytest.approx(end, rel=1e-9)


def test_no_time_of_a_row_is_in_the_pictures() -> None:
    rng = np.random.default_rng(0)
    X, time = rng.integers(0, 2, (60, 2)), rng.exponential(10, 60).round(6)
    y = np.column_stack([time, rng.random(60) < 0.7])
    model = SurvivalTree(max_depth=1).fit(X, y)
    pages = str(report(model, X, y)) + model.tree_.to_html()
    for one in time:
        assert f"{one:.6g}" not in pages
        assert str(one) not in pages
