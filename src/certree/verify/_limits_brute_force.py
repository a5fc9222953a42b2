"""Try all trees: the best within limits, proofs that none keeps them, dual cuts, and fronts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import le
from typing import Any

from ._audit import Audit, Data
from ._brute_force import Point, TreeSizes, different, label_points, nondominated
from ._formulas import exceeds, is_value
from ._leaf_costs import Leaves
from ._leaves import label_leaves
from ._limits_read import LimitedTask, Total, roundings, slack_of
from ._metric_audit import Objective, all_tests, positive_class
from ._plain_numbers import exact, show, text


def _points(problem: LimitedTask) -> tuple[list[tuple[Fraction, ...]], list[tuple[int, int]]]:
    """Return costs and signed totals of all trees, and which limit and sign each total has."""
    found, signs = _all_points(problem, problem.penalty)
    return [(point[0] + problem.first, *point[1:-1]) for point in found], signs


def _all_points(
    problem: LimitedTask, per_split: Fraction, keep: Any = None
) -> tuple[list[Point], list[tuple[int, int]]]:
    """Return the same with numbers of splits, and another penalty for the first cost."""
    data, certificate = problem.data, problem.audit.certificate
    signs = [
        (j, sign)
        for j, total in enumerate(problem.totals)
        for bound, sign in ((total.at_most, 1), (total.at_least, -1))
        if bound is not None
    ]
    amounts = []
    for row in data.rows:
        weight = Fraction(data.weights[row])
        amounts.append(
            [
                [leaves.of([row], label) for leaves in problem.leaves]
                + [sign * weight * problem.totals[j].amounts[row][k] for j, sign in signs]
                for k, label in enumerate(problem.labels)
            ]
        )

    def is_allowed(places: Sequence[int], k: int) -> bool:
        assert problem.minimum is not None
        label = problem.labels[k]
        count = problem.minimum.count([data.rows[i] for i in places], label)
        return count >= problem.minimum.needed[label]

    n_others = len(problem.leaves) - 1 + len(signs)
    found = label_points(
        all_tests(data),
        amounts,
        [per_split, *[Fraction(0)] * n_others],
        TreeSizes.of(certificate),
        keep,
        is_allowed=None if problem.minimum is None else is_allowed,
        charges=problem.charges,
        weights=[Fraction(data.weights[row]) for row in data.rows],
    )
    return found, signs


def errors_by_kind(audit: Audit, data: Data, labels: Sequence[Any]) -> list[Leaves]:
    """Return false positives and false negatives as two objectives over the labels."""
    positive = positive_class(audit, labels)
    each = []
    for kind in (False, True):
        amounts = {
            row: [
                Fraction((data.classes[row] == positive) is kind and label != data.classes[row])
                for label in range(len(labels))
            ]
            for row in data.rows
        }
        each.append(label_leaves(audit.certificate.task, data, list(labels), amounts))
    return each


def check_metric_by_force(problem: LimitedTask, metric: Objective) -> None:
    """Prove the best metric within the limits, or that no tree keeps them, by trying all trees."""
    audit, certificate = problem.audit, problem.audit.certificate
    points, signs = _all_points(problem, Fraction(0), different if metric.is_own else nondominated)
    # A single leaf is wrong about all rows of the other class.
    negatives, positives = (
        max(leaves.of(problem.data.rows, label) for label in problem.labels)
        for leaves in problem.leaves
    )
    kept = [
        (
            metric.value(point[0], point[1], positives, negatives),
            problem.penalty * point[-1] + problem.first,
        )
        for point in points
        if _within(point[2:-1], signs, problem.totals)
    ]
    if certificate.cost is None:
        if kept and certificate.status == "infeasible":
            audit.differ("a tree keeps to all limits")
        audit.done("that no tree keeps to all limits, by trying all trees")
        return
    level = 1 - Fraction(certificate.cost)
    above = any(exceeds(v, 1 - Fraction(certificate.lower_bound) + paid) for v, paid in kept)
    if above or not any(is_value(level + p, v) or exceeds(v, level + p) for v, p in kept):
        audit.differ(f"optimum: the best {metric.name} within limits is outside of the bounds")
    audit.done(f"best {metric.name} within limits, by trying all trees")


def _within(
    point: Sequence[Fraction], signs: Sequence[tuple[int, int]], totals: Sequence[Total]
) -> bool:
    """Return whether signed totals keep to the limits."""
    for (j, sign), value in zip(signs, point, strict=True):
        bound = totals[j].at_most if sign == 1 else totals[j].at_least
        assert bound is not None
        if value > sign * bound:
            return False
    return True


def check_single_leaves(problem: LimitedTask) -> None:
    """Check that no tree without splits, which any size allows, is better than certified."""
    audit, data, minimum = problem.audit, problem.data, problem.minimum
    for k, label in enumerate(problem.labels):
        if minimum is not None and minimum.count(data.rows, label) < minimum.needed[label]:
            continue
        cost = problem.leaves[0].of(data.rows, label) + problem.first
        totals = [total.of(data, data.rows, k) for total in problem.totals]
        for reason in [
            *_broken_cuts(audit.certificate, cost, totals),
            *_broken_bounds(problem, cost, totals),
        ]:
            audit.differ(f"a single leaf with the label {label!r} {reason}")
    audit.done("that no single leaf is better than the certificate allows")


def _broken_cuts(certificate: Any, cost: Fraction, totals: Sequence[Fraction]) -> list[str]:
    reasons = []
    for k, cut in enumerate(certificate.cuts):
        left = cut[0] * cost + sum(b * t for b, t in zip(cut[1:-1], totals, strict=True))
        if left < cut[-1] - slack_of(certificate, cut):
            reasons.append(f"has {show(exact(left))} < {show(cut[-1])} in dual cut {k}")
    return reasons


def _broken_bounds(problem: LimitedTask, cost: Fraction, totals: Sequence[Fraction]) -> list[str]:
    """Return the claims about all trees that this tree refutes."""
    certificate = problem.audit.certificate
    reasons = []
    kept = all(t.is_within(value) for t, value in zip(problem.totals, totals, strict=True))
    if kept and certificate.status == "infeasible":
        reasons.append("keeps to all limits, but status is 'infeasible'")
    elif kept and cost < certificate.lower_bound - certificate.rounding:
        reasons.append(
            f"keeps to all limits and costs {show(exact(cost))}, less than the lower bound "
            f"{show(certificate.lower_bound)}"
        )
    for limit, value in zip(certificate.limits, totals, strict=True):
        for reach, sign in ((limit.least, 1), (limit.greatest, -1)):
            other = limit.at_least if sign == 1 else limit.at_most
            if reach is None or (other is not None and sign * (value - other) < 0):
                continue
            if sign * value < sign * Fraction(reach[0]):
                reasons.append(
                    f"has the total {show(exact(value))} of {limit.name!r}, nearer than "
                    f"{show(reach[0])}, which is certified as the nearest total"
                )
    return reasons


def check_by_force(problem: LimitedTask) -> None:
    """Prove the optimum, or that no tree keeps the limits, and all cuts by trying all trees."""
    audit, certificate = problem.audit, problem.audit.certificate
    points, signs = _points(problem)
    for k, cut in enumerate(certificate.cuts):
        factors = [max(sign * cut[1 + j], 0) for j, sign in signs]
        sums = (
            cut[0] * point[0] + sum(f * x for f, x in zip(factors, point[1:], strict=True))
            for point in points
        )
        least = min(sums, default=Fraction(cut[-1]))
        if least < cut[-1] - slack_of(certificate, cut):
            audit.differ(f"dual cut {k}: some tree has {text(exact(least))} < {text(cut[-1])}")
    costs = [point[0] for point in points if _within(point[1:], signs, problem.totals)]
    best, rounding = min(costs, default=None), roundings(certificate)[0]
    if certificate.cost is not None:
        low, high = certificate.lower_bound - rounding, certificate.cost + rounding
        if best is None or not low <= best <= high:
            audit.differ(
                f"optimum: the best tree costs {'-' if best is None else show(exact(best))}, "
                f"outside of the certified bounds {show(low)} to {show(high)}"
            )
        audit.done(f"optimum {show(exact(best or Fraction(0)))}, by trying all trees")
        return
    if best is not None and certificate.status == "infeasible":
        audit.differ(f"a tree keeps to all limits, at the cost {show(exact(best))}")
    elif best is not None and best < certificate.lower_bound - rounding:
        audit.differ(f"a tree within the limits costs {show(exact(best))}")
    _check_reach(problem, points, signs)
    audit.done("that no tree keeps to all limits, by trying all trees")


def _check_reach(
    problem: LimitedTask, points: Sequence[tuple[Fraction, ...]], signs: Sequence[tuple[int, int]]
) -> None:
    """Compare how near trees come to each bound."""
    for place, (j, sign) in enumerate(signs):
        limit = problem.audit.certificate.limits[j]
        reach = limit.least if sign == 1 else limit.greatest
        if reach is None or not points:
            continue
        other = [i for i, (k, s) in enumerate(signs) if k == j and s == -sign]
        kept = [
            point[1 + place]
            for point in points
            if all(_within([point[1 + i]], [signs[i]], problem.totals) for i in other)
        ]
        least = min(kept or [point[1 + place] for point in points])
        low = sign * reach[0]
        high = low if reach[1] is None else sign * reach[1]
        missed = reach[1] is not None and least > high
        if least < low or missed:
            problem.audit.compare(
                f"limit {limit.name!r}: nearest total", exact(sign * high), exact(sign * least)
            )


def check_whole_front(problem: LimitedTask) -> None:
    """Find the front again by trying all trees."""
    audit, certificate = problem.audit, problem.audit.certificate
    if any(certificate.rounding):
        raise ValueError("costs were rounded; use exhaustive=False.")
    points, signs = _points(problem)
    n = len(problem.leaves)
    every = sorted({p[:n] for p in points if _within(p[n:], signs, problem.totals)})
    front: list[tuple[Fraction, ...]] = []
    for one in every:
        # Those before it have no greater first cost.
        if not any(all(map(le, other, one)) for other in front):
            front.append(one)
    if certificate.status in ("optimal", "infeasible"):
        audit.compare("front", list(certificate.points), front)
    for one in front:
        if not any(all(map(le, low, one)) for low in certificate.lower_points):
            audit.differ(f"a tree has {text(one)}, below all lower points")
    audit.done(f"all {len(front)} points, by trying all trees")
