"""verify accepts honest trees of a reduced table whose costs are negative in all.

It allowed rounding up to a share of what a single leaf costs, which was then below zero.
"""

from __future__ import annotations

import pytest

from certree import CostSensitiveTreeClassifier, PolicyTree, reduce, verify

pd = pytest.importorskip("pandas")
pytest.importorskip("ibis")
pytest.importorskip("duckdb")


@pytest.mark.parametrize("maximise", [None, False, True])
def test_totals_may_be_negative(maximise: bool | None) -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, 2.0], "a": [-0.9, -0.7, 0.5], "b": [0.8, -0.5, -0.4]})
    reduced = reduce(table, features=["x"], costs=["a", "b"])
    if maximise is None:
        model = CostSensitiveTreeClassifier(classes=["a", "b"], max_depth=1).fit_reduced(reduced)
        assert model.certificate_.cost < 0
    else:
        model = PolicyTree(treatments=["a", "b"], max_depth=1, maximise=maximise)
        model.fit_reduced(reduced)
    assert verify(model, reduced)
