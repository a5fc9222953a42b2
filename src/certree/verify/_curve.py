"""Check a curve of fair trees: no tree beats another, and no tree is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from certree.exceptions import CertificateError

from ._audit import Audit, Checked, GivenRows
from ._fair_audit import all_trees, apart_by, check_fair, set_up
from ._fields import STATUSES, check_types, is_exact
from ._plain_numbers import Exact, exact, text

Pair = tuple[Exact, Exact]
"""Disparity and cost of a tree."""


def check_curve(curve: Any, given: GivenRows) -> Checked:
    """Check all trees of a curve, and that together they form a curve."""
    if not len(curve):
        raise ValueError("the curve has no trees to verify.")
    _check_types(curve)
    for place in range(len(curve)):
        try:
            check_types(curve.certificates[place])
            _check_rates(curve.certificates[place])
            result = check_fair(curve[place], replace(given, exhaustive=False))
        except CertificateError as error:
            raise CertificateError(f"tree {place} of the curve: {error}") from None
    audit = Audit(curve[0].certificate_, {})
    audit.done(f"all of the following, for each of {len(curve)} trees")
    audit.checks += result.audit.checks
    _check_order(audit, curve)
    audit.raise_if_different()
    if given.exhaustive:
        _check_whole(audit, curve, given)
        audit.raise_if_different()
    return Checked(audit, curve.points[0][1], result.n_rows)


def _check_types(curve: Any) -> None:
    good = (
        len(curve.points) == len(curve)
        and all(len(p) == 3 and all(map(is_exact, p)) for p in curve.points)
        and all(len(p) == 2 and all(map(is_exact, p)) for p in curve.lower_points)
        and is_exact(curve.least_tolerance)
        and curve.status in STATUSES
    )
    if not good:
        raise CertificateError("the curve states impossible points, tolerance or status.")


def _check_rates(certificate: Any) -> None:
    """Check that there is a tree, with one rate per group."""
    n_groups = len(certificate.groups)
    if certificate.disparity is None or any(len(r) != n_groups for _, r in certificate.rates):
        raise CertificateError("the certificate does not state a rate for every group.")


def _check_order(audit: Audit, curve: Any) -> None:
    """Check that disparities rise while costs fall, and that lower points are below all trees."""
    pairs = [(point[0], point[1]) for point in curve.points]
    for place, (point, certificate) in enumerate(
        zip(curve.points, curve.certificates, strict=True)
    ):
        stated = (certificate.disparity, certificate.cost, certificate.n_splits)
        audit.compare(f"point {place} of the curve", point, stated)
    for one, other in pairwise(pairs):
        if not (one[0] < other[0] and one[1] > other[1]):
            audit.differ(f"trees with {text(one)} and {text(other)}: one beats the other")
    for pair in pairs:
        if not any(_is_below(low, pair) for low in curve.lower_points):
            audit.differ(f"no lower point is at or below {text(pair)}")
    if curve.status == "optimal":
        # Those of rounded limits are below the disparities of the trees.
        least = min(cost for _, cost in pairs)
        for low in curve.lower_points:
            if low[1] < least:
                audit.differ(f"status is 'optimal', but lower point {text(low)} is below all trees")
    if curve.status in ("infeasible", "gap", "greedy"):
        audit.differ(f"the status of a curve with trees cannot be {curve.status!r}")
    if not 0 <= curve.least_tolerance <= 1:
        audit.differ(f"least tolerance {text(curve.least_tolerance)} is not between 0 and 1")
    audit.done(f"{len(pairs)} trees by rising disparity and falling cost, lower points below them")


def _check_whole(audit: Audit, curve: Any, given: GivenRows) -> None:
    """Find the curve again by trying all trees."""
    fair, _ = set_up(curve[0], given)
    pairs = sorted({(apart_by(rates, fair.compared), own[0]) for own, rates in all_trees(fair)})
    found: list[Pair] = []
    for apart, cost in pairs:
        if found and cost >= found[-1][1]:
            continue
        if found and apart <= curve.least_tolerance:
            found.pop()
        found.append((exact(apart), exact(cost)))
    stated = [(point[0], point[1]) for point in curve.points]
    if curve.status == "optimal" and stated == list(curve.lower_points):
        audit.compare("costs of the curve", [cost for _, cost in stated], [c for _, c in found])
        for (apart, _), (wanted, _) in zip(stated, found, strict=False):
            if max(apart, curve.least_tolerance) != max(wanted, curve.least_tolerance):
                audit.compare("disparities of the curve", apart, wanted)
    for pair in found:
        at = (max(pair[0], curve.least_tolerance), pair[1])
        if not any(_is_below(low, at) for low in curve.lower_points):
            audit.differ(f"the curve misses a tree: {text(pair)} is below all lower points")
    audit.done(f"all {len(found)} trees of the curve, by trying all trees")


def _is_below(low: Sequence[Exact], pair: Pair) -> bool:
    return low[0] <= pair[0] and low[1] <= pair[1]
