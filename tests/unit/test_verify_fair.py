"""Certificates of fair trees that contradict themselves or the data, and curves."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import CertificateError, FairnessCurve, FairTreeClassifier, verify


def rows(n: int = 16) -> tuple[Any, Any, Any]:
    """Rows on which fairness has a price."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (n, 3))
    a = np.arange(n) % 2
    y = np.where(rng.random(n) < 0.8, X[:, 0], 1 - X[:, 0])
    X[:, 0] = np.where(rng.random(n) < 0.4, a, X[:, 0])
    return X, y, a


def priced() -> tuple[FairTreeClassifier, dict[str, Any]]:
    X, y, a = rows()
    model = FairTreeClassifier(tolerance=0, max_depth=2).fit(X, y, sensitive_features=a)
    assert model.certificate_.unconstrained_cost < model.certificate_.cost
    return model, {"X": X, "y": y, "sensitive_features": a}


def impossible() -> tuple[FairTreeClassifier, dict[str, Any]]:
    X, y, a = np.zeros((5, 1)), np.array([0, 0, 1, 0, 0]), np.array([0, 0, 1, 1, 0])
    model = FairTreeClassifier("accuracy_parity", 0.1, max_depth=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sensitive_features=a)
    assert model.certificate_.is_infeasible
    return model, {"X": X, "y": y, "sensitive_features": a}


def with_fields(model: FairTreeClassifier, **fields: Any) -> FairTreeClassifier:
    other = copy.copy(model)
    other.certificate_ = replace(model.certificate_, **fields)
    return other


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"status": "infeasible"}, "infeasible', but there is a tree"),
        ({"unconstrained_cost": 100}, "unconstrained cost 100"),
        ({"least_disparity": Fraction(1, 2)}, "least disparity"),
        ({"differences": ()}, "differences"),
        ({"cuts": ((1, -1, 0, -5),)}, "negative"),
        ({"cuts": ((-1, 0, 0, -50),)}, "negative"),
        ({"cuts": ((1, 0, 0),)}, "dual cut"),
        ({"cuts": ((1, 0, 0, 7),)}, "dual cut"),
    ],
)
def test_a_certificate_that_contradicts_itself_fails(
    fields: dict[str, Any], message: str, exhaustive: bool
) -> None:
    model, data = priced()
    assert verify(model, **data, exhaustive=exhaustive)
    with pytest.raises(CertificateError, match=message):
        verify(with_fields(model, **fields), **data, exhaustive=exhaustive)


def test_some_pairs_of_groups_only_are_not_all_limits() -> None:
    model, data = priced()
    some = model.certificate_.differences[:1]
    with pytest.raises(CertificateError, match="differences"):
        verify(with_fields(model, differences=some), **data)


@pytest.mark.parametrize("exhaustive", [False, True])
def test_a_bound_by_multipliers_needs_its_cuts(exhaustive: bool) -> None:
    model, data = priced()
    claim = with_fields(model, n_solves=4, cuts=())
    with pytest.raises(CertificateError, match="no dual cut"):
        verify(claim, **data, exhaustive=exhaustive)


def test_what_unfair_trees_cost_is_compared_with_all_trees() -> None:
    model, data = priced()
    cost = model.certificate_.unconstrained_cost
    assert verify(with_fields(model, unconstrained_cost=cost - 1), **data, exhaustive=True)
    with pytest.raises(CertificateError, match="unconstrained cost"):
        verify(with_fields(model, unconstrained_cost=cost + 1), **data, exhaustive=True)
    with pytest.raises(CertificateError, match="price of fairness"):
        verify(with_fields(model, unconstrained_cost=None), **data)


@pytest.mark.parametrize("exhaustive", [False, True])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lower_bound": 99}, "lower_bound"),
        ({"least_disparity": Fraction(3, 4)}, "least disparity"),
        ({"unconstrained_cost": 50}, "unconstrained cost"),
        ({"cuts": ((0, 1, 1, 7),)}, "dual cut"),
        ({"cuts": ((0, 1, 0),)}, "dual cut"),
        ({"differences": ()}, "differences"),
        ({"status": "time_limit", "lower_bound": 0}, "least disparity"),
    ],
)
def test_a_false_story_without_a_tree_fails(
    fields: dict[str, Any], message: str, exhaustive: bool
) -> None:
    model, data = impossible()
    assert verify(model, **data, exhaustive=exhaustive)
    with pytest.raises(CertificateError, match=message):
        verify(with_fields(model, **fields), **data, exhaustive=exhaustive)


def test_a_tree_that_the_certificate_denies_fails() -> None:
    model, data = priced()
    nothing = dict.fromkeys(("cost", "lower_bound", "upper_bound", "gap", "leaf_cost", "disparity"))
    claim = with_fields(model, status="infeasible", rates=(), n_splits=0, depth=0, **nothing)
    with pytest.raises(CertificateError, match="tree"):
        verify(claim, **data)
    other, data = impossible()
    claim = with_fields(other, cost=1, lower_bound=1, upper_bound=1, gap=0, status="optimal")
    with pytest.raises(CertificateError, match="tree"):
        verify(claim, **data)


def test_without_a_tree_the_report_has_no_cost() -> None:
    model, data = impossible()
    report = verify(model, **data)
    assert report.cost is None
    assert str(report).splitlines()[0].endswith("no tree")


# ---- curves ------------------------------------------------------------------------------------


def curve() -> tuple[FairnessCurve, dict[str, Any]]:
    X, y, a = rows()
    found = FairTreeClassifier(max_depth=2).fairness_curve(X, y, sensitive_features=a)
    assert len(found) > 2
    return found, {"X": X, "y": y, "sensitive_features": a}


def part(whole: FairnessCurve, places: list[int], **fields: Any) -> FairnessCurve:
    settings = {
        "status": whole.status,
        "lower_points": whole.lower_points,
        "least_tolerance": whole.least_tolerance,
        "seconds": 0.0,
        **fields,
    }
    trees = [whole.trees[i] for i in places]
    certificates = [whole.certificates[i] for i in places]
    points = [whole.points[i] for i in places]
    return FairnessCurve(whole[0], trees, certificates, points, **settings)


@pytest.mark.parametrize("exhaustive", [False, True])
def test_a_curve_is_verified(exhaustive: bool) -> None:
    whole, data = curve()
    report = verify(whole, **data, exhaustive=exhaustive)
    assert report
    assert report.cost == whole.points[0][1]
    assert any(f"{len(whole)} trees" in check for check in report.checks)


def test_a_curve_with_a_least_tolerance_is_verified() -> None:
    X, y, a = rows()
    model = FairTreeClassifier(max_depth=2)
    for least in (0.2, "1/3"):
        found = model.fairness_curve(X, y, sensitive_features=a, least_tolerance=least)
        assert verify(found, X, y, sensitive_features=a, exhaustive=True)


def test_a_curve_that_misses_a_tree_is_found_by_force() -> None:
    whole, data = curve()
    places = [i for i in range(len(whole)) if i != 1]
    left = [point for i, point in enumerate(whole.lower_points) if i != 1]
    missing = part(whole, places, lower_points=left)
    assert verify(missing, **data)
    with pytest.raises(CertificateError, match="curve"):
        verify(missing, **data, exhaustive=True)


def test_a_curve_in_disorder_or_with_a_wrong_tree_fails() -> None:
    whole, data = curve()
    with pytest.raises(CertificateError, match="beats"):
        verify(part(whole, list(range(len(whole)))[::-1]), **data)
    with pytest.raises(CertificateError, match="beats"):
        verify(part(whole, [0, 0, 1]), **data)
    with pytest.raises(CertificateError, match="lower point"):
        verify(part(whole, list(range(len(whole))), lower_points=((1, 0),)), **data)
    wrong = part(whole, list(range(len(whole))))
    wrong._trees = [whole.trees[0], *whole.trees[:-1]]
    with pytest.raises(CertificateError, match="tree 1 of the curve"):
        verify(wrong, **data)
