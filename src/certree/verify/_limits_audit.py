"""Check trees within limits, proofs that no tree keeps them, and fronts of several objectives.

Totals are exact fractions of amounts times weights, and a tree must keep its limits exactly. A dual
cut is an inequality between cost and totals that every tree satisfies: the tree found must, and so
must all single leaves; the bounds that follow are recomputed, and
`_limits_brute_force` tries all trees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from math import ceil, floor
from operator import le
from typing import Any

from ._attributes import Facts, check_attributes, stated_classes
from ._audit import (
    Audit,
    Checked,
    Data,
    GivenRows,
    Walk,
    check_n_tests,
    check_predictions,
    check_size,
    read_rows,
    walk_down,
    with_candidates,
)
from ._consistency import (
    check_bounds,
    check_no_confusion,
    check_parameters,
    check_searched,
    check_without_tree,
    has_tree,
)
from ._errors import check_counts, check_own_size, read_classes
from ._label_units import check_unit_in_leaves
from ._leaf_costs import Leaves
from ._leaves import leaves_of_estimator, leaves_of_task
from ._limits_brute_force import (
    check_by_force,
    check_metric_by_force,
    check_single_leaves,
    check_whole_front,
    errors_by_kind,
)
from ._limits_read import Asked, Cut, LimitedTask, Total, read_asked, roundings, slack_of
from ._metric_audit import Objective, check_metric_cost, metric_of
from ._plain_numbers import Exact, exact, read, show, text
from ._prices import read_charges
from ._rounding_rules import allowed_for_labels
from ._shown import check_node_costs, check_shown, quiet
from ._stated_weights import are_short, check_quantum, cost_range
from ._task_audit import (
    check_objective,
    check_rounding,
    check_total_weight,
    encoder_of,
    paid_for_tests,
    task_of,
    unpack,
)


def check_limited(model: Any, given: GivenRows) -> Checked:
    """Check an estimator or a solution within limits, with or without a tree."""
    estimator, certificate, tree = unpack(model)
    audit = Audit(certificate, estimator.get_params(deep=False))
    metric = metric_of(audit.parameters.get("objective", "accuracy"))
    if not metric.counts_errors:
        return _check_metric(model, audit, metric, given)
    data = read_rows(given.X, given.sample_weight)
    task = task_of(estimator, given)
    if task is None:
        leaves = leaves_of_estimator(estimator, data, given)
        asked = read_asked(estimator, data, leaves.labels or ())
    else:
        leaves = leaves_of_task(task.objective, data, given)
        asked = Asked.of(task, data, leaves.labels or ())
    leaves = leaves.as_noted(tree)
    audit.compare("task", certificate.task, leaves.name)
    # The other fields are then about another problem.
    audit.raise_if_different()
    is_found = has_tree(certificate, tree)
    problem = _read_problem(audit, data, [leaves], asked, encoder_of(model, estimator))
    cost: Fraction | None = None
    places: list[Sequence[int]] = [problem.data.rows]
    if is_found:
        walk = walk_down(audit, problem.data, tree)
        audit.done("the leaf of every row, by questions that are candidates")
        places += [walk.rows[leaf] for leaf in walk.leaves]
        cost = _check_tree(problem, walk)
        check_bounds(audit)
        check_predictions(audit, model.predict, given.X, walk)
        slack = roundings(certificate)[0]
        check_shown(audit, problem.data, walk, leaves, slack=slack)
        check_node_costs(audit, problem.data, walk, leaves, estimator, slack)
        _check_dual(problem)
    else:
        _check_no_tree(problem)
    if (certificate.rounding > 0 or leaves.of_groups) and certificate.unit > 0:
        check_unit_in_leaves(audit, leaves, places, certificate.rounding)
    check_attributes(estimator, Facts(audit, data.names, leaves.labels, leaves, given))
    audit.raise_if_different()
    check_single_leaves(problem)
    audit.raise_if_different()
    if given.exhaustive:
        check_by_force(problem)
        audit.raise_if_different()
    return Checked(audit, None if cost is None else exact(cost), len(data.rows))


def _check_metric(model: Any, audit: Audit, metric: Objective, given: GivenRows) -> Checked:
    """Check a classifier of a metric within limits, with or without a tree."""
    certificate, labels = audit.certificate, stated_classes(model)
    tree = getattr(model, "tree_", None)
    is_found = has_tree(certificate, tree)
    check_parameters(audit, metric.name)
    data = read_classes(audit, given, labels, model.encoder_, metric, reserve=2**8)
    check_n_tests(audit, data)
    # Totals are by the weights of rows alone.
    weights = read_rows(given.X, given.sample_weight).weights
    rows = replace(data, weights={row: weights[row] for row in data.rows}, slack=0)
    asked = read_asked(model, rows, labels)
    errors = errors_by_kind(audit, data, labels)
    problem = LimitedTask(audit, rows, errors, asked.totals, asked.minimum)
    _check_stated_limits(problem)
    for name, nothing in (("cuts", ()), ("dual bound", None), ("price of tests", 0), ("unit", 1)):
        field = {"dual bound": "dual_bound", "price of tests": "test_cost"}.get(name, name)
        audit.compare(name, getattr(certificate, field), nothing)
    cost: Exact | None = None
    if is_found:
        walk = walk_down(audit, data, tree)
        audit.done("the leaf of every row, by questions that are candidates")
        check_counts(audit, data, walk, any_label=True)
        check_own_size(audit, walk)
        _check_leaves(problem, walk, "tree")
        _check_totals(problem, walk, certificate.limits, "tree")
        audit.compare("proof that there is no tree", certificate.proof, "")
        audit.done("totals of all limits, in exact arithmetic, and that they are kept")
        cost = check_metric_cost(audit, data, walk, metric, labels)
        check_bounds(audit)
        check_predictions(audit, model.predict, given.X, walk)
    else:
        check_no_confusion(audit)
        _check_no_tree(problem)
    check_attributes(model, Facts(audit, data.names, labels))
    audit.raise_if_different()
    if given.exhaustive:
        check_metric_by_force(problem, metric)
        audit.raise_if_different()
    return Checked(audit, cost, len(data.rows))


def check_task_front(front: Any, given: GivenRows) -> Checked:
    """Check a front of several objectives: its points, and that no point beats another."""
    certificate, task = front.certificate, front.task if given.task is None else given.task
    audit = Audit(certificate, dict(front.parameters))
    data = read_rows(given.X, given.sample_weight)
    leaves = [leaves_of_task(one, data, given) for one in task.tasks]
    asked = Asked.of(task, data, leaves[0].labels or ())
    audit.compare("tasks", list(certificate.tasks), [one.name for one in leaves])
    problem = _read_problem(audit, data, leaves, asked, front.encoder)
    audit.compare("number of points", len(certificate.points), len(front.front))
    audit.raise_if_different()
    for k, point in enumerate(front.front):
        _check_point(problem, k, point)
    audit.done("costs and totals of all points, in exact arithmetic")
    _check_order(audit, certificate)
    audit.raise_if_different()
    if given.exhaustive:
        check_whole_front(problem)
        audit.raise_if_different()
    first = certificate.points[0][0] if certificate.points else None
    return Checked(audit, first, len(data.rows))


def _read_problem(
    audit: Audit, data: Data, leaves: Sequence[Leaves], asked: Asked, encoder: Any
) -> LimitedTask:
    """Compare parameters, rows, limits, rounding and penalty with the certificate."""
    certificate = audit.certificate
    check_searched(audit)
    most = cost_range(data.n_rows, certificate) // 2**12
    is_short = are_short(data.weights, most)
    stated = audit.parameters.get("test_costs")
    if hasattr(certificate, "search"):
        is_short = certificate.weight_quantum is None
        audit.compare("search", certificate.search, audit.parameters["search"])
        check_quantum(audit, data, most, may_be_short=stated is not None)
        check_no_confusion(audit)
    data = with_candidates(audit, data, encoder, is_short, leaves[0].paid_by_all(data))
    check_n_tests(audit, data)
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    if hasattr(certificate, "total_weight"):
        check_total_weight(audit, data, leaves[0], exactly=is_short)
    table = data.table
    charges = None if stated is None else read_charges(stated, len(table.columns), table.names)
    audit.compare("number of roundings", len(roundings(certificate)), len(leaves))
    audit.raise_if_different()
    for one, rounding in zip(leaves, roundings(certificate), strict=True):
        allowed = allowed_for_labels(data, one, audit, charges, with_limits=True)
        check_rounding(audit, rounding, allowed)
    _check_penalty(audit, leaves[0])
    data = replace(data, labels=leaves[0].labels)
    problem = LimitedTask(audit, data, leaves, asked.totals, asked.minimum, charges)
    _check_stated_limits(problem)
    audit.raise_if_different()
    audit.done("parameters, rows, weights, rounding and penalty")
    return problem


def _check_penalty(audit: Audit, leaves: Leaves) -> None:
    """Check that the penalty is the one asked for, exactly if nothing was rounded."""
    certificate = audit.certificate
    wanted = read(audit.parameters["complexity"], "complexity") * leaves.whole
    unit = getattr(certificate, "unit", None)
    fits = unit is not None and unit > 0 and (wanted / unit).denominator == 1
    slack = Fraction(0) if fits else leaves.whole / 2**20 + roundings(certificate)[0]
    if wanted == 0:
        slack = Fraction(0)
    audit.compare_within("penalty", certificate.split_penalty, wanted, slack)
    if unit is not None and unit <= 0:
        audit.differ(f"unit: certified {show(unit)}, which must be positive")
    elif unit is not None:
        multiples = {Fraction(certificate.gap or 0)}
        if certificate.rounding == 0 and leaves.amounts is not None and not leaves.of_groups:
            multiples |= {cost - min(line) for line in _weighted(leaves) for cost in line}
        if any((multiple / unit).denominator != 1 for multiple in multiples):
            audit.differ(f"unit: certified {show(unit)}, but not all costs are multiples of it")


def _weighted(leaves: Leaves) -> list[list[Fraction]]:
    """Return the cost of each label for each row, including weights."""
    assert leaves.amounts is not None
    labels = leaves.labels or ()
    return [[leaves.of([row], label) for label in labels] for row in leaves.amounts]


def _check_stated_limits(problem: LimitedTask) -> None:
    """Check that the certificate is about the limits that were asked for."""
    audit, limits = problem.audit, problem.audit.certificate.limits
    stated = [(limit.name, limit.at_most, limit.at_least) for limit in limits]
    asked = [(total.name, total.at_most, total.at_least) for total in problem.totals]
    audit.compare("limits", stated, asked)
    needed = {} if problem.minimum is None else problem.minimum.needed
    wanted = {str(label): number for label, number in needed.items() if number > 0}
    audit.compare("minima of labels", dict(audit.certificate.leaf_minimum), wanted)
    audit.raise_if_different()
    for limit, total in zip(limits, problem.totals, strict=True):
        if limit.unit <= 0:
            audit.differ(f"limit {limit.name!r}: the unit {show(limit.unit)} must be positive")
        else:
            _check_limit_unit(problem, limit, total)
        # Limits are kept exactly, for all weights.
        audit.compare(f"rounding of {limit.name!r}", limit.rounding, 0)
    audit.done("limits, as they were asked for")


def _check_limit_unit(problem: LimitedTask, limit: Any, total: Total) -> None:
    """Check that every amount is an integer number of units."""
    for row in problem.data.rows:
        weight = problem.data.weights[row]
        for number in total.amounts[row]:
            if (weight * number / limit.unit).denominator != 1:
                problem.audit.differ(
                    f"limit {limit.name!r}: row {row} adds {show(exact(weight * number))}, which "
                    f"is not a multiple of the unit {show(limit.unit)}"
                )
                return


def _check_totals(problem: LimitedTask, walk: Walk, limits: Sequence[Any], where: str) -> None:
    """Recompute the totals of a tree, and check that they are exactly within bounds."""
    audit = problem.audit
    for limit, total in zip(limits, problem.totals, strict=True):
        value = problem.total(total, walk)
        audit.compare(f"{where}: total of {limit.name!r}", limit.value, exact(value))
        if not total.is_within(value):
            audit.differ(
                f"{where}: the total of {limit.name!r} is {show(exact(value))}, not "
                f"{total.bounds_text()}"
            )
        if limit.least is not None or limit.greatest is not None:
            audit.differ(f"{where}: the reach of {limit.name!r} is stated only without a tree")


def _check_leaves(problem: LimitedTask, walk: Walk, where: str) -> None:
    """Check that a tree keeps the limits on size, and the minima of labels in leaves."""
    audit = problem.audit
    check_size(audit, walk, audit.certificate, where)
    if problem.minimum is None:
        return
    for leaf in walk.leaves:
        label = walk.tree.value(leaf)
        count = problem.minimum.count(walk.rows[leaf], label)
        if count < problem.minimum.needed[label]:
            audit.differ(
                f"{where}: leaf {leaf} has {count} rows for {label!r}, which needs "
                f"{problem.minimum.needed[label]}"
            )


def _check_tree(problem: LimitedTask, walk: Walk) -> Fraction:
    audit, certificate = problem.audit, problem.audit.certificate
    _check_leaves(problem, walk, "tree")
    audit.compare("number of splits", certificate.n_splits, walk.n_splits)
    audit.compare("depth of the tree", certificate.depth, walk.depth)
    audit.done("limits on depth, splits and rows per leaf")
    _check_totals(problem, walk, certificate.limits, "tree")
    audit.compare("proof that there is no tree", certificate.proof, "")
    audit.done("totals of all limits, in exact arithmetic, and that they are kept")
    leaves = problem.leaf_cost(0, walk)
    penalty = walk.n_splits * problem.penalty + problem.first
    charges = problem.charges
    paid = Fraction(0) if charges is None else paid_for_tests(audit, problem.data, walk, charges)
    cost, rounding = leaves + paid + penalty, roundings(certificate)[0]
    audit.compare_within("leaf cost", certificate.leaf_cost, leaves, rounding)
    audit.compare_within("test cost", certificate.test_cost, paid, rounding)
    audit.compare_within("cost", certificate.cost, cost, rounding)
    parts = certificate.leaf_cost + certificate.test_cost + penalty
    audit.compare("sum of leaf cost, test cost and penalty", parts, certificate.cost)
    check_objective(audit, certificate.objective, problem.leaves[0], cost, rounding)
    audit.done("cost and objective, in exact arithmetic")
    return cost


def largest_within(problem: LimitedTask, cut: Cut) -> Fraction | None:
    """Return the largest sum of a cut's totals within the limits; None if it has no bound."""
    most = Fraction(0)
    limits = problem.audit.certificate.limits
    for limit, total, factor in zip(limits, problem.totals, cut[1:-1], strict=True):
        if factor == 0:
            continue
        bound = limit.at_most if factor > 0 else limit.at_least
        if bound is None:
            return None
        choose: Callable[..., Any] = max if factor > 0 else min
        reach = total.extreme(problem.data, choose)
        units = Fraction(bound) / limit.unit
        whole = (floor(units) if factor > 0 else ceil(units)) * limit.unit
        most += factor * (min(whole, reach) if factor > 0 else max(whole, reach))
    return most


def _check_dual(problem: LimitedTask) -> None:
    """Check that the tree satisfies all cuts, and that the dual bound follows from them."""
    audit, certificate = problem.audit, problem.audit.certificate
    best: Fraction | None = None
    for k, cut in enumerate(certificate.cuts):
        if not _is_cut(audit, certificate, cut, k):
            return
        totals = [Fraction(limit.value or 0) for limit in certificate.limits]
        left = cut[0] * Fraction(certificate.cost)
        left += sum((b * t for b, t in zip(cut[1:-1], totals, strict=True)), Fraction(0))
        if left < cut[-1] - slack_of(certificate, cut):
            audit.differ(f"dual cut {k}: the tree has {text(exact(left))} < {text(cut[-1])}")
        most = largest_within(problem, cut)
        if cut[0] > 0 and most is not None:
            bound = (cut[-1] - most + slack_of(certificate, cut)) / Fraction(cut[0])
            best = bound if best is None else max(best, bound)
    stated = certificate.dual_bound
    if stated is not None and (best is None or stated > best):
        audit.compare("dual bound", stated, None if best is None else exact(best))
    if stated is not None and stated > certificate.lower_bound:
        audit.differ(f"dual bound {text(stated)} is above the lower bound")
    audit.done(f"{len(certificate.cuts)} dual cuts, and the bound that follows from them")


def _is_cut(audit: Audit, certificate: Any, cut: Cut, k: int) -> bool:
    good = len(cut) == len(certificate.limits) + 2 and cut[0] >= 0
    for limit, factor in zip(certificate.limits, cut[1:-1], strict=False):
        bound = limit.at_most if factor > 0 else limit.at_least
        good = good and (factor == 0 or bound is not None)
    if not good:
        audit.differ(f"dual cut {k}, {text(cut)}, does not match the limits")
    return good


def _check_no_tree(problem: LimitedTask) -> None:
    """Check a proof that no tree keeps the limits, as far as it can be recomputed."""
    audit, certificate = problem.audit, problem.audit.certificate
    status = certificate.status
    check_without_tree(audit)
    audit.compare("dual bound", certificate.dual_bound, None)
    if certificate.proof not in (("dual", "search") if status == "infeasible" else ("",)):
        audit.differ(f"status {status!r} with the proof {certificate.proof!r}")
    shown = any(_is_empty(limit) for limit in certificate.limits)
    for k, cut in enumerate(certificate.cuts):
        if not _is_cut(audit, certificate, cut, k):
            return
        most = largest_within(problem, cut)
        shown = shown or (cut[0] == 0 and most is not None and cut[-1] > most)
    if certificate.proof == "dual" and not shown:
        audit.differ("no dual cut proves that no tree keeps the limits")
    for limit, total in zip(certificate.limits, problem.totals, strict=True):
        audit.compare(f"total of {limit.name!r} without a tree", limit.value, None)
        _check_reach(problem, limit, total)
    only = status == "infeasible" and len(certificate.limits) == 1 and problem.minimum is None
    if only and _is_reached(certificate.limits[0], problem.totals[0]):
        audit.differ("a tree keeps to the only limit, but status is 'infeasible'")
    audit.done("the proof that there is no tree, and how near trees come")


def _is_empty(limit: Any) -> bool:
    """Return whether no multiple of its unit is within the bounds of a limit."""
    if limit.at_most is None or limit.at_least is None:
        return False
    most, least = Fraction(limit.at_most) / limit.unit, Fraction(limit.at_least) / limit.unit
    return bool(floor(most) < ceil(least))


def _is_reached(limit: Any, total: Total) -> bool:
    """Return whether a total that some tree has is within the bounds."""
    reaches = [reach for reach in (limit.least, limit.greatest) if reach is not None]
    return any(
        attained is not None and total.is_within(Fraction(attained)) for _, attained in reaches
    )


def _check_reach(problem: LimitedTask, limit: Any, total: Total) -> None:
    """Check that the stated nearest totals are possible."""
    low, high = (total.extreme(problem.data, choose) for choose in (min, max))
    for reach, sign in ((limit.least, 1), (limit.greatest, -1)):
        if reach is None:
            continue
        bound, attained = reach
        if attained is None:
            # Without a known tree any bound may hold.
            continue
        if sign * (attained - bound) < 0:
            problem.audit.differ(f"limit {limit.name!r}: a tree is nearer than the bound says")
        if not low <= attained <= high:
            problem.audit.differ(f"limit {limit.name!r}: no labels have the total {show(attained)}")


# ---- fronts ------------------------------------------------------------------------------------


def _check_point(problem: LimitedTask, k: int, point: Any) -> None:
    audit, certificate = problem.audit, problem.audit.certificate
    walk = walk_down(audit, problem.data, point.tree, f"point {k}")
    _check_leaves(problem, walk, f"point {k}")
    slack = roundings(certificate)[0]
    check_shown(quiet(audit), problem.data, walk, problem.leaves[0], f"point {k}", slack)
    stated = [(limit.name, limit.at_most, limit.at_least) for limit in point.limits]
    asked = [(total.name, total.at_most, total.at_least) for total in problem.totals]
    audit.compare(f"limits of point {k}", stated, asked)
    audit.raise_if_different()
    _check_totals(problem, walk, point.limits, f"point {k}")
    costs = [problem.leaf_cost(which, walk) for which in range(len(problem.leaves))]
    costs[0] += walk.n_splits * problem.penalty + problem.first
    if problem.charges is not None:
        costs[0] += paid_for_tests(audit, problem.data, walk, problem.charges)
    audit.compare(f"point {k}", certificate.points[k], point.values)
    for which, rounding in enumerate(roundings(certificate)):
        audit.compare_within(f"point {k}: cost", point.values[which], costs[which], rounding)
        check_objective(
            audit, point.objectives[which], problem.leaves[which], costs[which], rounding
        )


def _check_order(audit: Audit, certificate: Any) -> None:
    """Check that no point beats another, and that lower points are below all of them."""
    points = certificate.points
    for one, other in pairwise(points):
        if one[0] > other[0]:
            audit.differ(f"points {text(one)} and {text(other)}: the first cost must rise")
    for one, other in permutations(points, 2):
        if all(map(le, one, other)):
            audit.differ(f"points {text(one)} and {text(other)}: one beats the other")
            break
    for point in points:
        below = any(all(map(le, low, point)) for low in certificate.lower_points)
        if not below:
            audit.differ(f"no lower point is at or below {text(point)}")
    if certificate.status in ("optimal", "infeasible"):
        audit.compare("lower points", set(certificate.lower_points), set(points))
        if (certificate.status == "optimal") != bool(points):
            audit.differ(f"status {certificate.status!r} with {len(points)} points")
    if certificate.status in ("gap", "greedy"):
        audit.differ(f"the status of a front cannot be {certificate.status!r}")
    audit.done("points by rising first cost, none beaten by another, lower points below them")
