"""What every wheel must do before it is published: import, fit, prove, verify, report."""

from __future__ import annotations

import pickle

import numpy as np

from certree import OptimalTreeClassifier, report, verify


def test_a_wheel_fits_proves_and_verifies() -> None:
    """Exclusive or needs two levels; a greedy tree sees no gain in the first."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.certificate_.is_optimal
    assert model.certificate_.cost == 0
    assert model.score(X, y) == 1.0
    verify(model, X, y)
    # Pages need files beside the code.
    assert "TreeView" in model.tree_.to_html()
    assert "TreeView" in str(report(model, X, y))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), y)
