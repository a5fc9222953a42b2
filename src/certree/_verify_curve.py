"""Check a curve of fair trees: that none beats another, and that none is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ._audit import Audit, Data, text
from ._verify_fair import Compared, all_trees, apart_by
from .certificate import Exact, exact
from .fairness import FairnessCurve

Pair = tuple[Exact, Exact]
"""Disparity and cost of a tree."""


def check_curve(audit: Audit, curve: FairnessCurve) -> None:
    """See that disparities rise while costs fall, and that lower points are below all trees."""
    pairs = [(point[0], point[1]) for point in curve.points]
    for one, other in pairwise(pairs):
        if not (one[0] < other[0] and one[1] > other[1]):
            audit.differ(f"trees with {text(one)} and {text(other)}: one beats the other")
    for pair in pairs:
        if not any(_is_below(low, pair) for low in curve.lower_points):
            audit.differ(f"no lower point is at or below {text(pair)}")
    if curve.is_optimal:
        # Those of rounded limits are below the disparities of the trees.
        least = min(cost for _, cost in pairs)
        for low in curve.lower_points:
            if low[1] < least:
                audit.differ(f"status is 'optimal', but lower point {text(low)} is below all trees")
    audit.done(f"{len(pairs)} trees by rising disparity and falling cost, lower points below them")


def check_whole_curve(
    audit: Audit,
    data: Data,
    groups: Mapping[int, Any],
    compared: Sequence[Compared],
    curve: FairnessCurve,
) -> None:
    """Find the curve again by trying all trees."""
    trees = all_trees(audit, data, groups, compared)
    pairs = sorted({(apart_by(rates, compared), cost) for cost, rates in trees})
    found: list[Pair] = []
    for apart, cost in pairs:
        if found and cost >= found[-1][1]:
            continue
        if found and apart <= curve.least_tolerance:
            found.pop()
        found.append((exact(apart), exact(cost)))
    stated = [(point[0], point[1]) for point in curve.points]
    if curve.is_optimal and stated == list(curve.lower_points):
        audit.compare("costs of the curve", [cost for _, cost in stated], [c for _, c in found])
        for (apart, _), (wanted, _) in zip(stated, found, strict=False):
            if max(apart, curve.least_tolerance) != max(wanted, curve.least_tolerance):
                audit.compare("disparities of the curve", apart, wanted)
    for pair in found:
        at = (max(pair[0], curve.least_tolerance), pair[1])
        if not any(_is_below(low, at) for low in curve.lower_points):
            audit.differ(f"the curve misses a tree: {text(pair)} is below all lower points")
    audit.done(f"all {len(found)} trees of the curve, by trying all trees")


def _is_below(low: Pair, pair: Pair) -> bool:
    return low[0] <= pair[0] and low[1] <= pair[1]
