"""The part of a verification that is about a positive class: metrics, areas and fronts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from . import metrics
from ._audit import Audit, Data, Walk, outcome_of, text, walk_down
from ._formulas import as_float, is_value, value_of
from ._reprove import Question
from ._reprove_points import all_points, area, best_areas, best_points, point_grid
from .certificate import Exact, exact, show
from .metrics._monotonicity import check_monotone, is_taken_on_trust

# Two floats that stand for the same exact number, one of which was rounded on the way.
_NEARLY = 1e-12

# Most values of a user's metric that are compared with each other.
_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Confusion:
    """Weights of rows by class and prediction."""

    fp: Exact
    fn: Exact
    positives: Exact
    negatives: Exact

    def value(self, metric: Any) -> Any:
        """Return the exact value of a metric, by its textbook definition."""
        fp, fn = Fraction(self.fp), Fraction(self.fn)
        return value_of(metric, self.positives - fn, fp, fn, self.negatives - fp)


def positive_class(audit: Audit) -> int:
    """Return the position of the positive class that the parameters ask for."""
    asked, classes = audit.claim.parameters["pos_label"], audit.claim.classes
    return len(classes) - 1 if asked is None else classes.index(asked)


def count_confusion(audit: Audit, data: Data, walk: Walk) -> Confusion:
    """Count by going through the rows of every leaf."""
    positive = positive_class(audit)
    fp: Exact = 0
    fn: Exact = 0
    totals: list[Exact] = [0, 0]
    for leaf in walk.leaves(audit.claim.nodes):
        says = audit.claim.nodes[leaf]["label"] == positive
        for row in walk.rows[leaf]:
            weight, is_positive = data.weights[row], data.classes[row] == positive
            totals[is_positive] += weight
            if says and not is_positive:
                fp += weight
            elif is_positive and not says:
                fn += weight
    return Confusion(exact(fp), exact(fn), exact(totals[1]), exact(totals[0]))


def check_metric_cost(audit: Audit, data: Data, walk: Walk) -> Exact:
    """Compare confusion, metric, cost and objective, and return the cost."""
    certificate = audit.claim.certificate
    found = count_confusion(audit, data, walk)
    audit.compare("positive class", certificate.pos_label, _label(audit))
    for name in ("fp", "fn", "positives", "negatives"):
        audit.compare(name, getattr(certificate, name), getattr(found, name))
    audit.done("false positives and false negatives")
    if certificate.task == "front":
        audit.compare("cost", certificate.cost, found.fn)
        audit.compare("leaf cost", certificate.leaf_cost, found.fn)
        _compare_floats(audit, float(1 - found.fn / Fraction(found.positives)))
        return found.fn
    metric = metrics.get(audit.claim.parameters["objective"])
    n_leaves = len(walk.leaves(audit.claim.nodes))
    n_paid = n_leaves if certificate.complexity_per == "leaf" else len(walk.rows) - n_leaves
    penalty = n_paid * Fraction(certificate.split_penalty)
    value: Any
    if metric.kind == "chain":
        value = _area(audit, data, walk, metric.max_fpr)  # type: ignore[attr-defined]
    else:
        value = found.value(metric)
    if not is_value(1 + penalty - certificate.cost, value):
        audit.differ(
            f"{metric.name}: certified {text(1 + penalty - certificate.cost)}, recomputed "
            f"{as_float(value):.15g}"
        )
    audit.compare("leaf cost", certificate.leaf_cost, certificate.cost - penalty)
    _compare_floats(audit, as_float(value) - float(penalty))
    _check_cuts(audit, found, len(walk.rows) - n_leaves)
    audit.done(f"{metric.name} and cost, from the confusion matrix")
    return certificate.cost


def _label(audit: Audit) -> Any:
    return audit.claim.classes[positive_class(audit)]


def _compare_floats(audit: Audit, recomputed: float) -> None:
    if abs(audit.claim.certificate.objective - recomputed) > _NEARLY:
        audit.compare("objective", audit.claim.certificate.objective, recomputed)


def _area(audit: Audit, data: Data, walk: Walk, max_fpr: Fraction) -> Fraction:
    positive = positive_class(audit)
    totals: list[Exact] = [0, 0]
    steps = []
    for leaf in walk.leaves(audit.claim.nodes):
        step: list[Exact] = [0, 0]
        for row in walk.rows[leaf]:
            step[data.classes[row] == positive] += data.weights[row]
        steps.append((Fraction(step[0]), Fraction(step[1])))
        totals = [total + part for total, part in zip(totals, step, strict=True)]
    return area(steps, (Fraction(totals[0]), Fraction(totals[1])), Fraction(max_fpr))


def _check_cuts(audit: Audit, found: Confusion, n_splits: int) -> None:
    """See that what is said of every tree is true of this one."""
    for a, b, c, least in audit.claim.certificate.cuts or ():
        if a * found.fp + b * found.fn + c * n_splits < least:
            audit.differ(
                f"cut: {text(a)} fp + {text(b)} fn + {text(c)} splits >= {text(least)} does not "
                "hold for the tree"
            )


# ---- fronts ------------------------------------------------------------------------------------


def check_front(audit: Audit, data: Data, front: Any) -> None:
    """Recompute every point of a front from its tree, and see that none beats another."""
    claimed = front.certificate
    if len(front.trees) != len(claimed.points):
        audit.differ(f"front: {len(front.trees)} trees, but {len(claimed.points)} points")
        return
    for place, (tree, point) in enumerate(zip(front.trees, claimed.points, strict=True)):
        own = Audit(replace(audit.claim, tree=tree.to_dict()))
        walk = walk_down(own, data)
        found = count_confusion(own, data, walk)
        splits = len(walk.rows) - len(walk.leaves(own.claim.nodes))
        audit.compare(f"point {place} of the front", point, (found.fp, found.fn, splits))
        for name in ("positives", "negatives"):
            audit.compare(f"{name} of the front", getattr(claimed, name), getattr(found, name))
        _check_size(audit, place, own, walk)
        for difference in own.differences:
            audit.differ(f"point {place} of the front: {difference}")
    audit.compare("positive class of the front", claimed.pos_label, _label(audit))
    _check_order(audit, claimed)
    audit.done(f"{len(front.trees)} points of the front, of which none beats another")


def _check_size(audit: Audit, place: int, own: Audit, walk: Walk) -> None:
    parameters = audit.claim.parameters
    leaves = walk.leaves(own.claim.nodes)
    n_splits = len(walk.rows) - len(leaves)
    limits = (parameters["max_depth"], parameters["max_splits"])
    for what, size, limit in zip(
        ("depth", "number of splits"), (max(walk.depth.values()), n_splits), limits, strict=True
    ):
        if limit is not None and size > limit:
            audit.differ(f"point {place} of the front: {what} {size} is above the limit {limit}")
    least = min(len(walk.rows[leaf]) for leaf in leaves)
    if n_splits and least < parameters["min_samples_leaf"]:
        audit.differ(f"point {place} of the front: a leaf has only {least} rows")


def _check_order(audit: Audit, claimed: Any) -> None:
    points = [tuple(p) if claimed.per_splits else tuple(p[:2]) for p in claimed.points]
    for i, one in enumerate(points):
        for j, other in enumerate(points):
            if i != j and all(a <= b for a, b in zip(one, other, strict=True)):
                audit.differ(f"front: point {i} is no worse than point {j} in any respect")
                return
    if claimed.supported_only and set(points) != _corners(points):
        audit.differ("front: some points are no corners of the convex hull")
    if claimed.status == "optimal" and not claimed.supported_only:
        audit.compare("lower points of the front", claimed.lower_points, claimed.points)


def _corners(points: list[Any]) -> set[Any]:
    """Return the points that are strictly below the line between any two others around them."""
    return {
        p
        for p in points
        if not any(
            a[0] < p[0] < b[0] and (p[1] - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (p[0] - a[0])
            for a in points
            for b in points
        )
    }


# ---- by trying all trees -----------------------------------------------------------------------


def ask(audit: Audit, data: Data, *, binary: bool = False) -> Question:
    """Return the problem that a brute force is to solve again."""
    certificate = audit.claim.certificate
    tests = []
    for test in audit.claim.tests:
        column = data.columns[test["feature"]]
        parts: dict[int, int] = {}
        for i, row in enumerate(data.rows):
            outcome = outcome_of(test, column[row])
            parts[outcome] = parts.get(outcome, 0) | 1 << i
        tests.append(tuple(parts.values()))
    classes = [data.classes[row] for row in data.rows]
    if binary:
        positive = positive_class(audit)
        classes = [int(klass == positive) for klass in classes]
    return Question(
        tests,
        classes,
        [Fraction(data.weights[row]) for row in data.rows],
        len(audit.claim.classes),
        Fraction(certificate.split_penalty),
        certificate.max_depth,
        certificate.max_splits,
        certificate.min_samples_leaf,
        certificate.complexity_per == "leaf",
    )


def check_metric_optimum(audit: Audit, data: Data) -> None:
    """Prove the best value of a metric or area again by trying all trees."""
    certificate = audit.claim.certificate
    question = ask(audit, data, binary=True)
    metric = metrics.get(audit.claim.parameters["objective"])
    paid = question.is_per_leaf
    if metric.kind == "chain":
        max_fpr = Fraction(metric.max_fpr)  # type: ignore[attr-defined]
        costs = [1 - a + question.penalty * (k + paid) for a, k in best_areas(question, max_fpr)]
        best = min(costs)
        _compare_bounds(audit, best, best)
        audit.done(f"optimum {show(best)}, by trying all trees")
        return
    if certificate.task == "front":
        points = best_points(question, per_splits=False)
        fewest = min(fn for fp, fn, _ in points if fp <= (certificate.fp or 0))
        _compare_bounds(audit, fewest, fewest)
        audit.done(f"{show(fewest)} false negatives at least, by trying all trees")
        return
    totals = (Fraction(certificate.positives or 0), Fraction(certificate.negatives or 0))
    values = [
        (Confusion(fp, fn, *totals).value(metric), question.penalty * (k + paid))
        for fp, fn, k in _points_that_count(audit, question, metric, totals)
    ]
    # No value may exceed what the lower bound allows, and one must reach the cost.
    above = [
        as_float(value)
        for value, penalty in values
        if _exceeds(value, 1 - Fraction(certificate.lower_bound) + penalty)
    ]
    reached = any(
        is_value(1 - Fraction(certificate.cost) + penalty, value)
        or _exceeds(value, 1 - Fraction(certificate.cost) + penalty)
        for value, penalty in values
    )
    if above or not reached:
        audit.differ(
            f"optimum: the best {metric.name} over all trees is outside of the certified bounds "
            f"{text(1 - Fraction(certificate.cost))} to "
            f"{text(1 - Fraction(certificate.lower_bound))}"
        )
    audit.done(f"best {metric.name}, by trying all trees")


def _points_that_count(
    audit: Audit, question: Question, metric: Any, totals: tuple[Fraction, Fraction]
) -> list[tuple[Fraction, Fraction, int]]:
    """Return points among which a metric has its greatest value.

    For a metric of a user these are the points of all trees. If they are too many, the metric must
    be shown to fall with errors at all weights that they could have.
    """
    if not is_taken_on_trust(metric):
        return best_points(question, per_splits=question.penalty > 0)
    try:
        return all_points(question)
    except ValueError:
        grid = point_grid(question, _MOST_VALUES)
        if grid is None:
            raise
    values: dict[tuple[Exact, Exact], Any] = {
        (fp, fn): Fraction(Confusion(fp, fn, *totals).value(metric))
        for fp in grid[0]
        for fn in grid[1]
    }
    try:
        check_monotone(metric.name, values)
    except ValueError as error:
        audit.differ(f"optimum: {error}")
    return best_points(question, per_splits=question.penalty > 0)


def _exceeds(value: Any, level: Fraction) -> bool:
    """Return whether a value is greater than a level, and not by its rounding."""
    if is_value(level, value):
        return False
    if isinstance(value, Fraction):
        return value > level
    return value[0] * value[1] > level * abs(level)  # type: ignore[no-any-return]


def _compare_bounds(audit: Audit, low: Exact, high: Exact) -> None:
    certificate = audit.claim.certificate
    if certificate.lower_bound > low or certificate.cost < high:
        audit.differ(
            f"optimum: the best tree costs {text(low)}, outside of the certified bounds "
            f"{text(certificate.lower_bound)} to {text(certificate.cost)}"
        )


def check_whole_front(audit: Audit, data: Data, front: Any) -> None:
    """Compare a front with that of all trees."""
    claimed = front.certificate
    points = best_points(ask(audit, data, binary=True), per_splits=claimed.per_splits)
    size = 3 if claimed.per_splits else 2
    wanted = {tuple(point[:size]) for point in points}
    if claimed.supported_only:
        wanted = _corners(list(wanted))
    found = {tuple(point[:size]) for point in claimed.points}
    if claimed.status == "optimal":
        missing, extra = wanted - found, found - wanted
        if missing or extra:
            audit.differ(
                f"front: {len(missing)} points are missing, {len(extra)} are no part of it, by "
                "trying all trees"
            )
    if claimed.status != "optimal" or claimed.supported_only:
        for point in points:
            if not any(
                all(a <= b for a, b in zip(low, point, strict=True)) for low in claimed.lower_points
            ):
                audit.differ(f"front: the tree at {text(point)} has no lower point")
                break
    audit.done(f"{len(wanted)} points of the front, by trying all trees")
