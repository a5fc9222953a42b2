"""The penalty of a linear tree is the share of the squared error that was asked for.

It was a share of what rounded rows have. Where lines fit exactly, that is off by much more than the
stated rounding, which is about the costs of leaves.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from certree import LinearTreeRegressor, verify
from tests.attack.truth import squared_error


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("per", ["leaf", "split"])
def test_exact_lines_cost_their_penalty(seed: int, per: str) -> None:
    rng = np.random.default_rng(seed)
    x, weights = np.arange(12.0), rng.random(12) + 0.05
    y = np.where(x < 6, 3 * x, 40 - seed * x)
    model = LinearTreeRegressor(
        max_depth=1, min_samples_leaf=1, complexity=0.01, complexity_per=per
    ).fit(x[:, None], y, sample_weight=weights)
    certificate = model.certificate_
    assert certificate.n_splits == 1
    whole = squared_error(
        [Fraction(str(w)) for w in weights.tolist()], [Fraction(v) for v in y.tolist()]
    )
    cost = whole / 100 * (2 if per == "leaf" else 1)
    assert abs(Fraction(certificate.cost) - cost) <= certificate.rounding <= whole / 10**6
    assert verify(model, x[:, None], y, weights)


def test_one_line_costs_its_penalty() -> None:
    """A single leaf that fits exactly: rounding is next to nothing."""
    rng = np.random.default_rng(0)
    x, weights = np.arange(20.0), rng.random(20) + 0.05
    y = 5 * x - 3
    model = LinearTreeRegressor(max_depth=1, complexity=0.01, complexity_per="leaf")
    certificate = model.fit(x[:, None], y, sample_weight=weights).certificate_
    whole = squared_error(
        [Fraction(str(w)) for w in weights.tolist()], [Fraction(v) for v in y.tolist()]
    )
    assert abs(Fraction(certificate.cost) - whole / 100) <= certificate.rounding
