"""A search that is stopped certifies the cost of the tree that it returns, not of an older one.

At some limits on the work the tree returned had one error less than its certificate said: a part of
it had become better after the value of the whole was computed. `verify` refused the certificate.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from certree import OptimalityWarning, OptimalTreeClassifier, verify
from tests.stopping import stopping


@pytest.mark.parametrize("work", [501, 546, 600, 640])
def test_the_certified_cost_is_that_of_the_tree(work: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5)).round(2)
    y = rng.permutation(np.arange(150) % 3)
    model = stopping(OptimalTreeClassifier, work)(5, thresholds=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        model.fit(X, y)
    assert model.certificate_.cost == (model.predict(X) != y).sum()
    assert verify(model, X, y)
