"""The accepted gap is a number like the complexity: a float, a fraction, or a text."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    optimality_gap,
    oracles,
    solve,
    tasks,
)

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (60, 6))
Y = RNG.integers(0, 2, 60)
COSTS = RNG.integers(0, 9, (60, 3))
GROUPS = RNG.integers(0, 2, 60)

FITS: dict[str, Callable[[Any], Any]] = {
    "errors": lambda gap: OptimalTreeClassifier(gap=gap).fit(X, Y),
    "balanced": lambda gap: OptimalTreeClassifier(gap=gap, class_weight="balanced").fit(X, Y),
    "f1": lambda gap: OptimalTreeClassifier(gap=gap, max_depth=2, objective="f1").fit(X, Y),
    "auc": lambda gap: OptimalTreeClassifier(gap=gap, max_depth=2, objective="auc").fit(X, Y),
    "squares": lambda gap: OptimalTreeRegressor(gap=gap).fit(X, COSTS[:, 0]),
    "costs": lambda gap: CostSensitiveTreeClassifier(gap=gap).fit(X, costs=COSTS),
    "policy": lambda gap: PolicyTree(gap=gap, capacity={0: 0.3}).fit_rewards(X, COSTS),
    "fair": lambda gap: FairTreeClassifier(gap=gap, max_depth=2).fit(
        X, Y, sensitive_features=GROUPS
    ),
    "decisions": lambda gap: SPOTree(oracles.TopK(3, 1), gap=gap).fit(X, COSTS),
    "task": lambda gap: solve(tasks.entropy(Y), X, max_depth=2, gap=gap),
    "other tree": lambda gap: optimality_gap(
        OptimalTreeClassifier(max_depth=1).fit(X, Y), X, Y, max_depth=2, gap=gap
    ),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_a_gap_may_be_written_as_a_fraction(fit: Callable[[Any], Any]) -> None:
    found = [fit(gap) for gap in ("1/3", Fraction(1, 3))]
    certificates = [getattr(f, "certificate_", None) or f.certificate for f in found]
    for certificate in certificates:
        assert certificate.gap <= Fraction(1, 3)
        assert certificate.status in ("gap", "optimal")
    assert certificates[0].cost == certificates[1].cost


@pytest.mark.parametrize("gap", ["third", "1/0", "-1/3", "nan", ""])
def test_what_is_no_gap_is_refused_by_name(gap: str) -> None:
    with pytest.raises(ValueError, match="gap must be a finite number of at least 0"):
        OptimalTreeClassifier(gap=gap).fit(X, Y)
