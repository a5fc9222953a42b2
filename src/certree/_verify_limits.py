"""Check trees within limits, proofs that there is none, and fronts of two objectives.

As in :mod:`certree.verify`, costs and totals are recomputed from the user's own numbers, read as
the decimals they are written as, in exact fractions. A dual cut is an inequality between cost and
totals that every tree satisfies: the tree found must, the bounds that follow are recomputed, and
a brute-force proof tries it on all trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any

import numpy as np

from ._audit import Audit, Claim, Data, Walk, decimal, text, walk_down
from ._limit_certificate import Cut, LimitedCertificate, LimitValue, NoTreeCertificate
from ._solve_limited import FrontPoint, LimitedSolution, TaskFront, TaskFrontCertificate
from ._verify_task import _read_costs, read_rows
from .certificate import STATUSES, Exact, exact, show
from .tasks import LeafMinimum, Limit

# Penalties are rounded to the unit of the search, by no more than this share of the whole cost.
_PENALTY_ROUNDING = Fraction(1, 2**20)

Certified = LimitedCertificate | NoTreeCertificate | TaskFrontCertificate


@dataclass(frozen=True)
class Total:
    """What a limit adds up: amounts by row and label, and its bounds."""

    limit: Limit
    amounts: Mapping[int, Mapping[Any, Fraction]]
    at_most: Fraction | None
    at_least: Fraction | None

    def of(self, data: Data, rows: Sequence[int], label: Any) -> Fraction:
        return sum((data.weights[row] * self.amounts[row][label] for row in rows), Fraction(0))

    def extreme(self, data: Data, choose: Callable[..., Fraction]) -> Fraction:
        """Return the least or greatest total that labels can give the rows."""
        parts = (data.weights[row] * choose(self.amounts[row].values()) for row in data.rows)
        return sum(parts, Fraction(0))


@dataclass(frozen=True)
class Problem:
    """What was asked, in the user's own numbers."""

    audit: Audit
    data: Data
    costs: Sequence[Any]
    totals: Sequence[Total]
    minimum: tuple[Mapping[int, Mapping[Any, int]], Mapping[Any, int]] | None
    penalty: Fraction
    first: Fraction

    def cost(self, k: int, walk: Walk, nodes: Sequence[Mapping[str, Any]]) -> Fraction:
        """Return what a tree costs by an objective, without penalty."""
        classes = self.audit.claim.classes
        return sum(
            (
                self.costs[k].of(walk.rows[leaf], classes[nodes[leaf]["label"]])
                for leaf in walk.leaves(nodes)
            ),
            Fraction(0),
        )


def check_limited(
    solution: LimitedSolution, X: Any, y: Any, sample_weight: Any, exhaustive: bool, task: Any
) -> tuple[Audit, Exact | None, int]:
    """Check a solution within limits; return the audit, the cost if any, and the rows."""
    asked = solution.task if task is None else task
    certificate = solution.certificate
    tree = None if solution.tree is None else solution.tree.to_dict()
    audit = _audit(solution, certificate, tree, asked, X, y)
    problem = _read_problem(audit, asked, X, y, sample_weight)
    _check_parameters(audit, certificate, solution.parameters)
    _check_stated_limits(problem, certificate)
    audit.raise_if_different()
    cost: Fraction | None = None
    if (tree is not None) != isinstance(certificate, LimitedCertificate):
        audit.differ("the certificate and the solution do not agree on whether there is a tree")
        audit.raise_if_different()
    if isinstance(certificate, LimitedCertificate):
        assert tree is not None
        cost = _check_tree(problem, certificate, tree)
        _check_bounds(audit, certificate, solution.parameters)
        _check_predictions(problem, solution, tree, X)
        _check_dual(problem, certificate)
    else:
        _check_no_tree(problem, certificate)
    audit.raise_if_different()
    from ._verify_limits_force import check_by_force, check_single_leaves

    check_single_leaves(problem, certificate)
    audit.raise_if_different()
    if exhaustive:
        check_by_force(problem, certificate)
        audit.raise_if_different()
    return audit, None if cost is None else exact(cost), len(problem.data.rows)


def check_task_front(
    front: TaskFront, X: Any, y: Any, sample_weight: Any, exhaustive: bool, task: Any
) -> tuple[Audit, Exact | None, int]:
    """Check a front; return the audit, the first cost of its first point, and the rows."""
    asked = front.task if task is None else task
    certificate = front.certificate
    trees = [point.tree.to_dict() for point in front]
    audit = _audit(front, certificate, trees[0] if trees else None, asked, X, y)
    problem = _read_problem(audit, asked, X, y, sample_weight)
    _check_parameters(audit, certificate, front.parameters)
    _check_stated_limits(problem, certificate)
    audit.raise_if_different()
    audit.compare("number of points", len(certificate.points), len(front))
    audit.raise_if_different()
    for k, (point, tree) in enumerate(zip(front, trees, strict=True)):
        _check_point(problem, certificate, k, point, tree)
    audit.done("costs and totals of all points, in exact arithmetic")
    _check_order(audit, certificate)
    audit.raise_if_different()
    if exhaustive:
        from ._verify_limits_force import check_whole_front

        check_whole_front(problem, certificate)
        audit.raise_if_different()
    first = certificate.points[0][0] if certificate.points else None
    return audit, first, len(problem.data.rows)


# ---- reading -----------------------------------------------------------------------------------


def _audit(
    solution: LimitedSolution | TaskFront,
    certificate: Any,
    tree: Mapping[str, Any] | None,
    task: Any,
    X: Any,
    y: Any,
) -> Audit:
    encoder = solution.encoder
    n_rows = len(X)
    none = {"n_features": encoder.n_features_in_, "nodes": [], "tests": []}
    return Audit(
        Claim(
            certificate,
            {**solution.parameters, "test_costs": None},
            none if tree is None else tree,
            [test.to_dict() for test in encoder.candidates_],
            task.labels(y, n_rows).tolist(),
        )
    )


def _read_problem(audit: Audit, task: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    data = read_rows(audit, X, sample_weight)
    n_rows, classes = len(data.columns[0]), audit.claim.classes
    costs = [_read_costs(audit, None, objective, data, y, None) for objective in task.objectives()]
    totals = []
    for limit in task.limits:
        upper, lower = (
            None if bound is None else decimal(bound) for bound in (limit.at_most, limit.at_least)
        )
        totals.append(Total(limit, _amounts(limit, classes, n_rows), upper, lower))
    certificate: Certified = audit.claim.certificate  # type: ignore[assignment]
    penalty = Fraction(certificate.split_penalty)
    wanted = decimal(audit.claim.parameters["complexity"]) * costs[0].complexity_unit
    slack = costs[0].complexity_unit * _PENALTY_ROUNDING + _roundings(certificate)[0]
    if abs(penalty - wanted) > slack:
        audit.compare("penalty", penalty, wanted)
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    per_leaf = certificate.complexity_per == "leaf"
    return Problem(
        audit,
        data,
        costs,
        totals,
        None if task.minimum is None else _minimum(task.minimum, classes, n_rows),
        penalty,
        penalty if per_leaf else Fraction(0),
    )


def _amounts(limit: Limit, classes: list[Any], n_rows: int) -> dict[int, dict[Any, Fraction]]:
    given = limit.amounts
    if isinstance(given, Mapping):
        columns = {label: [Fraction(0)] * n_rows for label in classes}
        for label, numbers in given.items():
            flat = np.asarray(numbers, dtype=object)
            values = [numbers] * n_rows if flat.ndim == 0 else flat.tolist()
            columns[label] = [decimal(number) for number in values]
        return {row: {label: columns[label][row] for label in classes} for row in range(n_rows)}
    if callable(given):
        lines = [list(np.asarray(given(np.array([row])), dtype=object)) for row in range(n_rows)]
    else:
        table = np.asarray(given, dtype=object)
        lines = [table.tolist()] * n_rows if table.ndim == 1 else table.tolist()
    return {
        row: {label: decimal(number) for label, number in zip(classes, line, strict=True)}
        for row, line in enumerate(lines)
    }


def _minimum(
    minimum: LeafMinimum, classes: list[Any], n_rows: int
) -> tuple[dict[int, dict[Any, int]], dict[Any, int]]:
    needed = dict.fromkeys(classes, 0)
    if isinstance(minimum.at_least, Mapping):
        needed.update({label: int(number) for label, number in minimum.at_least.items()})
    else:
        needed = dict.fromkeys(classes, int(minimum.at_least))
    if minimum.counts is None:
        counts = {row: dict.fromkeys(classes, 1) for row in range(n_rows)}
    else:
        lines = np.asarray(minimum.counts).tolist()
        counts = {
            row: {label: int(number) for label, number in zip(classes, line, strict=True)}
            for row, line in enumerate(lines)
        }
    return counts, needed


def _roundings(certificate: Certified) -> list[Fraction]:
    """Return by how much costs may be off, for each objective."""
    if isinstance(certificate, TaskFrontCertificate):
        return [Fraction(number) for number in certificate.rounding]
    return [Fraction(certificate.rounding)]


# ---- the checks --------------------------------------------------------------------------------


def _check_parameters(audit: Audit, certificate: Certified, parameters: Mapping[str, Any]) -> None:
    for name in ("max_depth", "max_splits", "min_samples_leaf", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    audit.compare("complexity", certificate.complexity, decimal(parameters["complexity"]))
    audit.compare("number of tests", certificate.n_searched, len(audit.claim.tests))
    if certificate.status not in STATUSES:
        audit.differ(f"status {certificate.status!r} is unknown")
    audit.done("parameters, rows, weights and penalty")


def _check_stated_limits(problem: Problem, certificate: Certified) -> None:
    """See that the certificate speaks of the limits that were asked for."""
    audit, limits, minimum = problem.audit, certificate.limits, certificate.leaf_minimum
    stated = [(limit.name, limit.at_most, limit.at_least) for limit in limits]
    asked = [(total.limit.name, total.at_most, total.at_least) for total in problem.totals]
    audit.compare("limits", stated, asked)
    needed = {} if problem.minimum is None else problem.minimum[1]
    asked_minimum = {str(label): number for label, number in needed.items() if number > 0}
    audit.compare("minima of labels", dict(minimum), asked_minimum)
    audit.raise_if_different()
    for limit, total in zip(limits, problem.totals, strict=True):
        if limit.rounding:
            continue
        # Without rounding every amount is a whole number of units.
        for row in problem.data.rows:
            weight = problem.data.weights[row]
            for number in total.amounts[row].values():
                if (weight * number / limit.unit).denominator != 1:
                    audit.differ(
                        f"limit {limit.name!r}: row {row} adds {show(exact(weight * number))}, "
                        f"which is no multiple of the unit {show(limit.unit)}"
                    )
                    return
    audit.done("limits, as they were asked for")


def _check_size(problem: Problem, walk: Walk, tree: Mapping[str, Any], where: str) -> int:
    """See that a tree is within the limits on size; return its number of splits."""
    audit = problem.audit
    certificate: Any = audit.claim.certificate
    leaves = walk.leaves(tree["nodes"])
    n_splits = len(walk.rows) - len(leaves)
    depth = max(walk.depth.values())
    if certificate.max_depth is not None and depth > certificate.max_depth:
        audit.differ(f"{where}: depth {depth} is above max_depth={certificate.max_depth}")
    if certificate.max_splits is not None and n_splits > certificate.max_splits:
        audit.differ(f"{where}: {n_splits} splits are above max_splits={certificate.max_splits}")
    classes = audit.claim.classes
    for leaf in leaves:
        rows = walk.rows[leaf]
        if len(rows) < certificate.min_samples_leaf and n_splits:
            audit.differ(f"{where}: leaf {leaf} has {len(rows)} rows, too few")
        if problem.minimum is not None:
            counts, needed = problem.minimum
            label = classes[tree["nodes"][leaf]["label"]]
            counted = sum(counts[row][label] for row in rows)
            if counted < needed[label]:
                audit.differ(
                    f"{where}: leaf {leaf} has {counted} rows for {label!r}, which needs "
                    f"{needed[label]}"
                )
    return n_splits


def _check_totals(
    problem: Problem,
    walk: Walk,
    tree: Mapping[str, Any],
    limits: Sequence[LimitValue],
    where: str,
) -> None:
    """Recompute the totals of a tree, and see that they are within bounds."""
    audit, nodes = problem.audit, tree["nodes"]
    for limit, total in zip(limits, problem.totals, strict=True):
        value = sum(
            (
                total.of(problem.data, walk.rows[leaf], audit.claim.classes[nodes[leaf]["label"]])
                for leaf in walk.leaves(nodes)
            ),
            Fraction(0),
        )
        slack = Fraction(limit.rounding)
        if limit.value is None or abs(limit.value - value) > slack:
            audit.compare(f"{where}: total of {limit.name!r}", limit.value, exact(value))
        if limit.excess(value) > slack:
            audit.differ(
                f"{where}: the total of {limit.name!r} is {show(exact(value))}, not "
                f"{limit.bounds_text()}"
            )


def _check_tree(
    problem: Problem, certificate: LimitedCertificate, tree: Mapping[str, Any]
) -> Fraction:
    audit = problem.audit
    walk = walk_down(audit, problem.data)
    audit.done("the leaf of every row, by the stated tests")
    n_splits = _check_size(problem, walk, tree, "tree")
    audit.compare("number of splits", certificate.n_splits, n_splits)
    audit.compare("depth of the tree", certificate.depth, max(walk.depth.values()))
    audit.done("limits on depth, splits and rows per leaf")
    _check_totals(problem, walk, tree, certificate.limits, "tree")
    audit.done("totals of all limits, in exact arithmetic, and that they are kept")
    leaves = problem.cost(0, walk, tree["nodes"])
    cost = leaves + n_splits * problem.penalty + problem.first
    rounding = _roundings(certificate)[0]
    if abs(certificate.leaf_cost - leaves) > rounding:
        audit.compare("leaf cost", certificate.leaf_cost, exact(leaves))
    if abs(certificate.cost - cost) > rounding:
        audit.compare("cost", certificate.cost, exact(cost))
    objective = problem.costs[0].objective(cost)
    unit = problem.costs[0].complexity_unit
    slack = float(2 * rounding / unit) if unit else 0.0
    if abs(certificate.objective - objective) > 1e-9 * max(1.0, abs(objective)) + slack:
        audit.compare("objective", certificate.objective, objective)
    audit.done("cost and objective, in exact arithmetic")
    return cost


def _check_bounds(
    audit: Audit, certificate: LimitedCertificate, parameters: Mapping[str, Any]
) -> None:
    """See that bound, gap and status tell one story."""
    audit.compare("upper bound", certificate.upper_bound, certificate.cost)
    audit.compare("gap", certificate.gap, certificate.upper_bound - certificate.lower_bound)
    if certificate.gap < 0:
        audit.differ(f"lower bound {text(certificate.lower_bound)} is above the cost")
    if (certificate.status == "optimal") != (certificate.gap == 0):
        audit.differ(f"status {certificate.status!r} with the gap {text(certificate.gap)}")
    if certificate.status == "infeasible":
        audit.differ("status is 'infeasible', but there is a tree")
    accepted = decimal(parameters["gap"])
    if certificate.status == "gap" and certificate.gap > accepted:
        audit.differ(f"status is 'gap', but {text(certificate.gap)} is above gap={accepted}")
    for _, _, upper, lower in certificate.history:
        if lower > certificate.cost or upper < certificate.lower_bound:
            audit.differ(f"history: {text(lower)} to {text(upper)} exclude the certified cost")
            break
    audit.done("bound, gap, status and history agree")


def _check_predictions(
    problem: Problem, solution: LimitedSolution, tree: Mapping[str, Any], X: Any
) -> None:
    audit, nodes = problem.audit, tree["nodes"]
    walk = walk_down(audit, problem.data)
    predicted = solution.predict(X).tolist()
    for leaf in walk.leaves(nodes):
        label = audit.claim.classes[nodes[leaf]["label"]]
        for row in walk.rows[leaf]:
            if predicted[row] != label:
                audit.differ(
                    f"prediction for row {row}: the solution says {predicted[row]!r}, its tree "
                    f"{label!r}"
                )
                return
    audit.done("the solution predicts what its tree says")


def _largest(problem: Problem, limits: Sequence[LimitValue], cut: Cut) -> Fraction | None:
    """Return the most that a cut's totals can add up to within the limits; None if no bound."""
    most = Fraction(0)
    for limit, total, factor in zip(limits, problem.totals, cut[1:-1], strict=True):
        if factor == 0:
            continue
        bound = limit.at_most if factor > 0 else limit.at_least
        if bound is None:
            return None
        whole = floor(Fraction(bound) / limit.unit) if factor > 0 else ceil(bound / limit.unit)
        reach = total.extreme(problem.data, max if factor > 0 else min)
        within = min(whole * limit.unit, reach) if factor > 0 else max(whole * limit.unit, reach)
        most += factor * Fraction(within)
    return most


def _is_empty(limit: LimitValue) -> bool:
    """Return whether no multiple of its unit is within the bounds of a limit."""
    if limit.at_most is None or limit.at_least is None:
        return False
    return floor(Fraction(limit.at_most) / limit.unit) < ceil(Fraction(limit.at_least) / limit.unit)


def slack_of(certificate: LimitedCertificate | NoTreeCertificate, cut: Cut) -> Fraction:
    """Return how far rounding may move the two sides of a cut."""
    parts = [abs(Fraction(cut[0])) * Fraction(certificate.rounding)]
    parts += [
        abs(Fraction(factor)) * Fraction(limit.rounding)
        for limit, factor in zip(certificate.limits, cut[1:-1], strict=True)
    ]
    return sum(parts, Fraction(0))


def _check_dual(problem: Problem, certificate: LimitedCertificate) -> None:
    """See that the tree satisfies all cuts, and that the dual bound follows from them."""
    audit = problem.audit
    best: Fraction | None = None
    for k, cut in enumerate(certificate.dual_cuts):
        if not _is_cut(audit, certificate, cut, k):
            return
        totals = [Fraction(limit.value or 0) for limit in certificate.limits]
        left = cut[0] * Fraction(certificate.cost)
        left += sum((b * t for b, t in zip(cut[1:-1], totals, strict=True)), Fraction(0))
        if left < cut[-1] - slack_of(certificate, cut):
            audit.differ(f"dual cut {k}: the tree has {text(exact(left))} < {text(cut[-1])}")
        most = _largest(problem, certificate.limits, cut)
        if cut[0] > 0 and most is not None:
            bound = (cut[-1] - most + slack_of(certificate, cut)) / Fraction(cut[0])
            best = bound if best is None else max(best, bound)
    stated = certificate.dual_bound
    if stated is not None and (best is None or stated > best):
        audit.compare("dual bound", stated, None if best is None else exact(best))
    if stated is not None and stated > certificate.lower_bound:
        audit.differ(f"dual bound {text(stated)} is above the lower bound")
    audit.done(f"{len(certificate.dual_cuts)} dual cuts, and the bound that follows from them")


def _is_cut(audit: Audit, certificate: Any, cut: Cut, k: int) -> bool:
    good = len(cut) == len(certificate.limits) + 2 and cut[0] >= 0
    for limit, factor in zip(certificate.limits, cut[1:-1], strict=False):
        bound = limit.at_most if factor > 0 else limit.at_least
        good = good and (factor == 0 or bound is not None)
    if not good:
        audit.differ(f"dual cut {k}, {text(cut)}, is none of these limits")
    return good


def _check_no_tree(problem: Problem, certificate: NoTreeCertificate) -> None:
    """See that a proof that there is no tree holds, as far as it can be recomputed."""
    audit = problem.audit
    if (certificate.status == "infeasible") != (certificate.proof in ("dual", "search")):
        audit.differ(f"status {certificate.status!r} with the proof {certificate.proof!r}")
    shown = any(map(_is_empty, certificate.limits))
    for k, cut in enumerate(certificate.dual_cuts):
        if not _is_cut(audit, certificate, cut, k):
            return
        most = _largest(problem, certificate.limits, cut)
        shown = shown or (cut[0] == 0 and most is not None and cut[-1] > most)
    if certificate.proof == "dual" and not shown:
        audit.differ("no dual cut shows that there is no tree within the limits")
    for limit in certificate.limits:
        for reach, sign in ((limit.least, 1), (limit.greatest, -1)):
            if reach is None or reach.attained is None:
                continue
            if sign * (reach.attained - reach.bound) < 0:
                audit.differ(f"limit {limit.name!r}: a tree is nearer than the bound says")
    only = certificate.is_infeasible and len(certificate.limits) == 1
    if only and problem.minimum is None and certificate.limits[0].is_kept_alone:
        audit.differ("a tree keeps to the only limit, but status is 'infeasible'")
    audit.done("the proof that there is no tree, and how near trees come")


# ---- fronts ------------------------------------------------------------------------------------


def _check_point(
    problem: Problem,
    certificate: TaskFrontCertificate,
    k: int,
    point: FrontPoint,
    tree: Mapping[str, Any],
) -> None:
    audit = problem.audit
    claim = Claim(
        audit.claim.certificate,
        audit.claim.parameters,
        tree,
        audit.claim.tests,
        audit.claim.classes,
    )
    walk = walk_down(Audit(claim), problem.data)
    n_splits = _check_size(problem, walk, tree, f"point {k}")
    _check_totals(problem, walk, tree, point.limits, f"point {k}")
    costs = [problem.cost(which, walk, tree["nodes"]) for which in (0, 1)]
    costs[0] += n_splits * problem.penalty + problem.first
    audit.compare(f"point {k}", certificate.points[k], point.values)
    for stated, cost, rounding in zip(point.values, costs, _roundings(certificate), strict=True):
        if abs(stated - cost) > rounding:
            audit.compare(f"point {k}: cost", stated, exact(cost))


def _check_order(audit: Audit, certificate: TaskFrontCertificate) -> None:
    """See that no point beats another, and that lower points are below all of them."""
    points = certificate.points
    for one, other in pairwise(points):
        if not (one[0] < other[0] and one[1] > other[1]):
            audit.differ(f"points {text(one)} and {text(other)}: one beats the other")
    for point in points:
        below = any(low[0] <= point[0] and low[1] <= point[1] for low in certificate.lower_points)
        if not below:
            audit.differ(f"no lower point is at or below {text(point)}")
    if certificate.is_optimal:
        audit.compare("lower points", set(certificate.lower_points), set(points))
    audit.done("points by rising first and falling second cost, lower points below them")
