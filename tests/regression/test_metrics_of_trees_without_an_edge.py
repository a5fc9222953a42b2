"""Metrics within limits: the trees that keep them may have no edge to search along.

Weights of many digits leave a last corner that no solve in 64 bits cuts off. The search then goes
along an edge of the trees met; within a capacity there may be none, and it ended with an assertion.
"""

from __future__ import annotations

import warnings

import numpy as np

from certree import OptimalTreeClassifier, verify


def test_a_search_without_an_edge_ends_with_its_bound() -> None:
    """The status is "precision", and the gap is what is left of the corner."""
    rng = np.random.default_rng(1448)
    n_rows = int(rng.integers(15, 90))
    X = rng.integers(0, 3, (n_rows, int(rng.integers(2, 7))))
    y = ((X[:, 0] > 0) ^ (rng.random(n_rows) < 0.3)).astype(int)
    rng.integers(0, 2, n_rows), rng.integers(11), rng.random(), rng.random()
    weights = rng.random(n_rows) + 0.01
    model = OptimalTreeClassifier(max_depth=4, objective="jaccard", capacity={1: 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, weights)
    certificate = model.certificate_
    assert certificate.status == "precision"
    assert 0 < certificate.gap < certificate.cost / 10**6
    assert verify(model, X, y, weights)
