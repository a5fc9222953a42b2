"""Rates that no 64-bit integers hold: limits in several digits, and curves, are exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import FairTreeClassifier, verify
from certree.fitting import prove_groups
from certree.numbers import _digits
from certree.proofs import _fair_limits, _metric_limits
from certree.tasks._rates import CONSTRAINTS

from . import fair
from .test_fair import TOLERANCES, asked, draw, fit


def all_points(constraint: str, data: Any, depth: int) -> list[Any]:
    table, classes, groups, weights = data
    return list(
        fair.points(
            constraint,
            asked(table, groups).tolist(),
            classes.tolist(),
            groups.tolist(),
            weights.tolist(),
            depth=depth,
        )
    )


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("bits", [3, 6, 40])
@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_fair_trees_are_the_best_however_few_digits_lead(
    constraint: str, n_groups: int, bits: int, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fair_limits, "_SHARE_EXACT", 2**62)
    monkeypatch.setattr(_fair_limits, "_SHARE_ROUNDED", 2**62)
    monkeypatch.setattr(_digits, "_SUM_BITS", bits + 5)
    if not at_once:
        monkeypatch.setattr(_metric_limits, "_SHALLOW", -1)
        monkeypatch.setattr(_metric_limits, "_FEW_PATHS", -1)
        monkeypatch.setattr(prove_groups, "_FEW_TESTS", -1)
    rng = np.random.default_rng([9, n_groups, *map(ord, constraint)])
    for _ in range(4):
        data = table, classes, groups, weights = draw(rng, constraint, n_groups)
        depth = int(rng.integers(0, 3))
        found = all_points(constraint, data, depth)
        for tolerance in TOLERANCES:
            model = fit(
                FairTreeClassifier(constraint, tolerance, max_depth=depth, pos_label=1), *data
            )
            expected = fair.best(found, Fraction(str(tolerance)))
            certificate = model.certificate_
            if expected is None:
                assert certificate.is_infeasible
                continue
            assert certificate.status == "optimal"
            assert certificate.lower_bound == expected == certificate.cost
            assert certificate.disparity <= Fraction(str(tolerance))
            assert verify(
                model, table, classes, weights, exhaustive=True, sensitive_features=groups
            )


@pytest.mark.parametrize("bits", [4, 40])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_curves_with_rounded_limits(
    constraint: str, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_fair_limits, "_SHARE_EXACT", 2**62)
    monkeypatch.setattr(_fair_limits, "LARGEST_SCALE", 2**bits)
    rng = np.random.default_rng([11, *map(ord, constraint)])
    for _ in range(6):
        data = table, classes, groups, weights = draw(rng, constraint, 2)
        found = all_points(constraint, data, 2)
        curve = FairTreeClassifier(constraint, max_depth=2, pos_label=1).fairness_curve(
            table, classes, groups, weights, least_tolerance=0
        )
        assert curve.status == "optimal"
        assert [point[:2] for point in curve.points] == fair.curve(found)
        assert all(point[:2] in {(gap, cost) for gap, cost in found} for point in curve.points)
        for one, (apart, cost, _) in zip(curve, curve.points, strict=True):
            assert one.certificate_.disparity == one.certificate_.tolerance == apart
            best = fair.best(found, Fraction(apart))
            assert one.certificate_.lower_bound <= best <= cost == one.certificate_.cost
        for tolerance in TOLERANCES:
            best = fair.best(found, Fraction(str(tolerance)))
            if any(point[0] <= Fraction(str(tolerance)) for point in curve.points):
                certificate = curve.at(tolerance).certificate_
                assert certificate.lower_bound <= best <= certificate.cost
