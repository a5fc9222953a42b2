"""The denominator of a penalty left no room for what the core adds up over single rows.

Quantile losses of few heavy rows: a leaf of all rows costs far less than what each row could cost
by itself, and fits with a penalty were refused as an overflow.
"""

from __future__ import annotations

import numpy as np
import pytest

from certree import OptimalTreeRegressor, verify

HEAVY = {
    "one row": ([0.9, 0.4, 1.3e8, 2.7e6, 0.3, 0.1, 0.2], [2.6, 0.8, 3.2, 1.7, 1.2, 7.6, 9.4]),
    "reals": (
        [0.49402223121942246, 0.1206306756316187, 0.89149367775647] * 2,
        [1e9 + 6, 1e9 + 9, 1e9 + 4, 1e9 + 4, 1e9 + 6, 1e9 + 4],
    ),
    "range": (
        [1.6e-9, 3.9e-4, 7.3e-5, 2.1e-7, 884.736, 0.04, 1.1e-6, 3.3e-8, 0.0021, 5.2e-9],
        [7.39, 7.77, 5.83, 2.17, 3.46, -1.95, -1.56, 3.33, -3.09, -1.04],
    ),
}


@pytest.mark.parametrize("name", list(HEAVY))
@pytest.mark.parametrize("complexity", [0.123456789, 1e-6])
@pytest.mark.parametrize("per", ["split", "leaf"])
@pytest.mark.parametrize("quantile", [0.9, 0.25, 0.01])
@pytest.mark.parametrize("thresholds", ["auto", "all"])
def test_a_penalty_fits_beside_rows_that_weigh_much_more_than_others(
    name: str, complexity: float, per: str, quantile: float, thresholds: str
) -> None:
    weights, target = HEAVY[name]
    X = np.arange(len(target))[:, None] % 3
    model = OptimalTreeRegressor(
        2,
        criterion="quantile",
        quantile=quantile,
        complexity=complexity,
        complexity_per=per,
        thresholds=thresholds,
    )
    model.fit(X, target, sample_weight=weights)
    assert verify(model, X, target, sample_weight=weights, exhaustive=True)
