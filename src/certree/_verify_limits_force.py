"""Try all trees again: the best within limits, that there is none, all dual cuts, and fronts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ._audit import outcome_of, text
from ._limit_certificate import LimitedCertificate, LimitValue, NoTreeCertificate
from ._reprove_limits import LimitQuestion, all_points
from ._solve_limited import TaskFrontCertificate
from ._verify_limits import Certified, Problem, slack_of
from .certificate import exact, show


def _points(
    problem: Problem, certificate: Certified
) -> tuple[list[tuple[Fraction, ...]], list[tuple[int, int]]]:
    """Return costs and signed totals of all trees, and which limit and sign each total has."""
    data, classes = problem.data, problem.audit.claim.classes
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
                [costs.of([row], label) for costs in problem.costs]
                + [sign * weight * problem.totals[j].amounts[row][label] for j, sign in signs]
                for label in classes
            ]
        )
    tests = []
    for test in problem.audit.claim.tests:
        column = data.columns[test["feature"]]
        holds = [outcome_of(test, column[row]) == 0 for row in data.rows]
        tests.append(sum(1 << i for i, held in enumerate(holds) if held))
    counts = needed = None
    if problem.minimum is not None:
        counts = [[problem.minimum[0][row][label] for label in classes] for row in data.rows]
        needed = [problem.minimum[1][label] for label in classes]
    n_others = len(problem.costs) - 1 + len(signs)
    question = LimitQuestion(
        tests,
        amounts,
        [problem.penalty, *[Fraction(0)] * n_others],
        counts,
        needed,
        certificate.max_depth,
        certificate.max_splits,
        certificate.min_samples_leaf,
    )
    found = [(point[0] + problem.first, *point[1:]) for point in all_points(question)]
    return found, signs


def _within(
    point: Sequence[Fraction], signs: Sequence[tuple[int, int]], limits: Sequence[LimitValue]
) -> bool:
    """Return whether signed totals keep to the limits."""
    for (j, sign), total in zip(signs, point, strict=True):
        bound = limits[j].at_most if sign == 1 else limits[j].at_least
        assert bound is not None
        if total > sign * bound:
            return False
    return True


def check_single_leaves(
    problem: Problem, certificate: LimitedCertificate | NoTreeCertificate
) -> None:
    """See that no tree without splits, which any size allows, is better than is certified."""
    audit, data = problem.audit, problem.data
    for label in audit.claim.classes:
        if problem.minimum is not None:
            counts, needed = problem.minimum
            if sum(counts[row][label] for row in data.rows) < needed[label]:
                continue
        cost = problem.costs[0].of(data.rows, label) + problem.first
        totals = [total.of(data, data.rows, label) for total in problem.totals]
        reasons = [
            *_broken_cuts(certificate, cost, totals),
            *_broken_bounds(certificate, cost, totals),
        ]
        for reason in reasons:
            audit.differ(f"a single leaf with the label {label!r} {reason}")
    audit.done("that no single leaf is better than the certificate allows")


def _broken_cuts(
    certificate: LimitedCertificate | NoTreeCertificate, cost: Fraction, totals: Sequence[Fraction]
) -> list[str]:
    reasons = []
    for k, cut in enumerate(certificate.dual_cuts):
        left = cut[0] * cost + sum(b * t for b, t in zip(cut[1:-1], totals, strict=True))
        if left < cut[-1] - slack_of(certificate, cut):
            reasons.append(f"has {show(exact(left))} < {show(cut[-1])} in dual cut {k}")
    return reasons


def _broken_bounds(
    certificate: LimitedCertificate | NoTreeCertificate, cost: Fraction, totals: Sequence[Fraction]
) -> list[str]:
    """Return the claims about all trees that this one shows to be false."""
    reasons, limits = [], certificate.limits
    # By how much a total is within both bounds, rounding aside.
    kept = [
        limit.excess(exact(total)) == 0 and not limit.rounding
        for limit, total in zip(limits, totals, strict=True)
    ]
    if all(kept) and certificate.status == "infeasible":
        reasons.append("keeps to all limits, but status is 'infeasible'")
    elif all(kept) and cost < certificate.lower_bound - certificate.rounding:
        reasons.append(
            f"keeps to all limits and costs {show(exact(cost))}, less than the lower bound "
            f"{show(certificate.lower_bound)}"
        )
    for limit, total in zip(limits, totals, strict=True):
        for reach, sign in ((limit.least, 1), (limit.greatest, -1)):
            if reach is None or not _keeps_other_side(limit, total, sign):
                continue
            if sign * total < sign * Fraction(reach.bound) - limit.rounding:
                reasons.append(
                    f"has the total {show(exact(total))} of {limit.name!r}, nearer than "
                    f"{show(reach.bound)}, which is certified as the nearest total"
                )
    return reasons


def _keeps_other_side(limit: LimitValue, total: Fraction, sign: int) -> bool:
    other = limit.at_least if sign == 1 else limit.at_most
    return other is None or sign * (total - other) >= limit.rounding


def check_by_force(problem: Problem, certificate: LimitedCertificate | NoTreeCertificate) -> None:
    """Prove the optimum, or that there is none, and all cuts again by trying all trees."""
    audit, limits = problem.audit, certificate.limits
    if any(limit.rounding for limit in limits):
        raise ValueError(
            "amounts of a limit were rounded, so that a tree at a bound may be within it by one "
            "count and not by the other; use exhaustive=False, or amounts with fewer digits."
        )
    points, signs = _points(problem, certificate)
    for k, cut in enumerate(certificate.dual_cuts):
        factors = [max(sign * cut[1 + j], 0) for j, sign in signs]
        least = min(
            (
                cut[0] * point[0] + sum(f * x for f, x in zip(factors, point[1:], strict=True))
                for point in points
            ),
            default=Fraction(cut[-1]),
        )
        if least < cut[-1] - slack_of(certificate, cut):
            audit.differ(f"dual cut {k}: some tree has {text(exact(least))} < {text(cut[-1])}")
    costs = [point[0] for point in points if _within(point[1:], signs, limits)]
    if isinstance(certificate, LimitedCertificate):
        rounding, best = Fraction(certificate.rounding), min(costs, default=None)
        low, high = certificate.lower_bound - rounding, certificate.cost + rounding
        if best is None or not low <= best <= high:
            audit.differ(
                f"optimum: the best tree costs {'-' if best is None else show(exact(best))}, "
                f"outside of the certified bounds {show(low)} to {show(high)}"
            )
        audit.done(f"optimum {show(exact(best or Fraction(0)))}, by trying all trees")
        return
    if certificate.is_infeasible and costs:
        audit.differ(f"a tree keeps to all limits, at the cost {show(exact(min(costs)))}")
    if costs and min(costs) < certificate.lower_bound - certificate.rounding:
        audit.differ(f"a tree within the limits costs {show(exact(min(costs)))}")
    _check_reach(problem, certificate, points, signs)
    audit.done("that no tree keeps to all limits, by trying all trees")


def _check_reach(
    problem: Problem,
    certificate: NoTreeCertificate,
    points: Sequence[tuple[Fraction, ...]],
    signs: Sequence[tuple[int, int]],
) -> None:
    """Compare how near trees come to each bound."""
    for place, (j, sign) in enumerate(signs):
        limit = certificate.limits[j]
        reach = limit.least if sign == 1 else limit.greatest
        if reach is None or not points:
            continue
        other = [i for i, (k, s) in enumerate(signs) if k == j and s == -sign]
        kept = [
            point[1 + place]
            for point in points
            if all(_within([point[1 + i]], [signs[i]], certificate.limits) for i in other)
        ]
        least = min(kept or [point[1 + place] for point in points])
        low = sign * reach.bound
        high = low if reach.attained is None else sign * reach.attained
        if least < low or (reach.attained is not None and least > high):
            problem.audit.compare(
                f"limit {limit.name!r}: nearest total", exact(sign * high), exact(sign * least)
            )


def check_whole_front(problem: Problem, certificate: TaskFrontCertificate) -> None:
    """Find the front again by trying all trees."""
    audit = problem.audit
    if any(certificate.rounding) or any(limit.rounding for limit in certificate.limits):
        raise ValueError("costs or amounts were rounded; use exhaustive=False.")
    points, signs = _points(problem, certificate)
    pairs = sorted({p[:2] for p in points if _within(p[2:], signs, certificate.limits)})
    front: list[tuple[Fraction, ...]] = []
    for pair in pairs:
        if not front or pair[1] < front[-1][1]:
            front.append(pair)
    if certificate.is_optimal:
        audit.compare("front", list(certificate.points), front)
    for pair in front:
        if not any(low[0] <= pair[0] and low[1] <= pair[1] for low in certificate.lower_points):
            audit.differ(f"a tree has {text(pair)}, below all lower points")
    audit.done(f"all {len(front)} points, by trying all trees")
