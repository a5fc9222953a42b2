"""Check fair trees: the rates of all groups, from the rows, and that no tree is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

from ._attributes import Facts, check_attributes, stated_classes
from ._audit import Audit, Checked, Data, GivenRows, Walk, check_predictions, walk_down
from ._brute_force import TreeSizes, all_different, different, label_points
from ._consistency import (
    check_bounds,
    check_no_confusion,
    check_parameters,
    check_without_tree,
    has_tree,
)
from ._errors import check_cost, check_counts, check_own_size, error_amounts, read_classes
from ._fair_groups import (
    Compared,
    Groups,
    is_hidden,
    rates_to_compare,
    read_groups,
    tolerances_of,
)
from ._formulas import as_float, exceeds, is_value
from ._metric_audit import Objective, check_metric_cost, metric_of, positive_class
from ._plain_numbers import Exact, exact, show, text

FairPoint = tuple[Sequence[Any], Mapping[tuple[str, Any], Exact]]
"""Cost of a tree, or its false positives, false negatives and penalty; the rate of every group."""


@dataclass(frozen=True)
class Fair:
    """The parts of a check of a fair tree."""

    audit: Audit
    data: Data
    labels: Sequence[Any]
    compared: Sequence[Compared]
    metric: Objective

    @property
    def certificate(self) -> Any:
        """The certificate in question."""
        return self.audit.certificate

    def tolerance_of(self, name: str) -> Exact:
        """Return the largest difference of a rate that is allowed."""
        return next(rate.tolerance for rate in self.compared if rate.name == name)

    def value(self, own: Sequence[Any]) -> Any:
        """Return the metric of a tree."""
        positive = positive_class(self.audit, self.labels)
        totals: list[Exact] = [0, 0]
        for row in self.data.rows:
            totals[self.data.classes[row] == positive] += self.data.weights[row]
        return self.metric.value(own[0], own[1], totals[1], totals[0])

    def is_cheaper(self, own: Sequence[Any], level: Exact) -> bool:
        """Return whether a tree costs less than a level, by more than rounding."""
        if self.metric.counts_errors:
            return bool(own[0] + self.data.slack < level)
        return exceeds(self.value(own), 1 - Fraction(level) + own[2])

    def cost_text(self, own: Sequence[Any]) -> str:
        """Return the cost of a tree as text."""
        if self.metric.counts_errors:
            return show(own[0])
        return f"{1 + float(own[2]) - as_float(self.value(own)):.12g}"

    def is_within(self, rates: Mapping[tuple[str, Any], Exact]) -> bool:
        """Return whether a tree with these rates keeps all tolerances."""
        return all(apart_by(rates, [rate]) <= rate.tolerance for rate in self.compared)


def check_fair(model: Any, given: GivenRows) -> Checked:
    """Check a fair tree, or the proof that none exists."""
    fair, walk = set_up(model, given)
    audit, certificate = fair.audit, fair.certificate
    cost: Exact | None = None
    if walk is None:
        _check_without_tree(audit)
    else:
        check_counts(audit, fair.data, walk, any_label=True)
        check_own_size(audit, walk)
        if fair.metric.counts_errors:
            cost = check_cost(audit, fair.data, walk)
        else:
            cost = check_metric_cost(audit, fair.data, walk, fair.metric, fair.labels)
        if fair.compared:
            _check_rates(fair, walk)
        check_bounds(audit)
        check_predictions(audit, model.predict, given.X, walk)
    check_attributes(model, Facts(audit, fair.data.names, fair.labels))
    if certificate.constraint is not None:
        _check_trees(fair, _single_leaves(fair))
        audit.done("that no tree without splits is better than the certificate allows")
    audit.raise_if_different()
    if given.exhaustive:
        _check_optimum(fair)
        audit.raise_if_different()
    return Checked(audit, cost, len(fair.data.rows))


def set_up(model: Any, given: GivenRows) -> tuple[Fair, Walk | None]:
    """Read everything, and compare parameters, rows, candidates and groups."""
    certificate = model.certificate_
    parameters = model.get_params(deep=False)
    audit = Audit(certificate, parameters)
    metric = metric_of(parameters["objective"])
    tree = getattr(model, "tree_", None)
    is_found = has_tree(certificate, tree)
    check_parameters(audit, metric.name if parameters["cost_matrix"] is None else "cost")
    if metric.counts_errors or not is_found:
        check_no_confusion(audit)
    _check_constraint(audit)
    labels = stated_classes(model)
    data = read_classes(audit, given, labels, model.encoder_, metric, reserve=2**8)
    groups = read_groups(parameters, data, given)
    _check_candidates(audit, data, groups, model.encoder_)
    walk = None
    if is_found:
        walk = walk_down(audit, data, tree)
        audit.done("the leaf of every row, by questions that are candidates")
    if groups is None:
        _check_no_groups(audit)
        return Fair(audit, data, labels, (), metric), walk
    _check_left_out(audit, data, groups, walk)
    compared = rates_to_compare(audit, data, groups, given, labels)
    _check_pairs(audit, compared)
    audit.raise_if_different()
    asked = [test for test in data.tests if not is_hidden(audit, data, groups, test)]
    return Fair(audit, replace(data, tests=asked), labels, compared, metric), walk


def _check_constraint(audit: Audit) -> None:
    certificate, parameters = audit.certificate, audit.parameters
    if certificate.constraint is None:
        return
    asked = parameters["constraint"]
    asked = asked if isinstance(asked, str) else tuple(asked)
    audit.compare("constraint", certificate.constraint, asked)
    audit.raise_if_different()
    audit.compare("tolerance", certificate.tolerance, tolerances_of(asked, parameters["tolerance"]))
    audit.compare("use_sensitive", certificate.use_sensitive, bool(parameters["use_sensitive"]))


def _check_no_groups(audit: Audit) -> None:
    """Check that a certificate without groups states nothing about groups."""
    certificate = audit.certificate
    nothing = {
        "constraint": None,
        "groups": (),
        "rates": (),
        "disparity": None,
        "differences": (),
        "unconstrained_cost": None,
        "least_disparity": None,
        "left_out": (),
        "cuts": (),
    }
    for name, empty in nothing.items():
        audit.compare(name, getattr(certificate, name), empty)


# ---- groups ------------------------------------------------------------------------------------


def _check_candidates(audit: Audit, data: Data, groups: Groups | None, encoder: Any) -> None:
    hidden = [groups is not None and is_hidden(audit, data, groups, t) for t in data.tests]
    certificate = audit.certificate
    if certificate.n_tests_searched is None:
        audit.compare("number of questions", certificate.n_tests, hidden.count(False))
    else:
        audit.compare(
            "number of questions searched", certificate.n_tests_searched, hidden.count(False)
        )
    texts = [
        str(test) for test, is_left in zip(encoder.candidates_, hidden, strict=True) if is_left
    ]
    audit.compare("questions left out", audit.certificate.left_out, tuple(texts))


def _check_left_out(audit: Audit, data: Data, groups: Groups, walk: Walk | None) -> None:
    for test in [] if walk is None else walk.tree.tests:
        if is_hidden(audit, data, groups, test):
            audit.differ(f"the tree asks for the group, by column {test['name']!r}")
    audit.done("questions that only state the group")


def _check_pairs(audit: Audit, compared: Sequence[Compared]) -> None:
    """Check that differences and dual cuts are about the limits of this problem."""
    certificate = audit.certificate
    wanted = [(rate.name, *pair) for rate in compared for pair in permutations(rate.totals, 2)]
    stated = [difference[:3] for difference in certificate.differences]
    # If the best tree of all is fair, no search within limits ran, and none are stated.
    without_tree = certificate.cost is None
    searched = certificate.cuts or certificate.n_solves is not None or without_tree
    if stated != wanted and (stated or searched):
        audit.differ(
            f"differences: certified are {text(stated)}, but the limits are {text(wanted)}"
        )
    for k, (a, *weights, _) in enumerate(certificate.cuts):
        if len(weights) != len(wanted):
            audit.differ(f"dual cut {k} weighs {len(weights)} differences, there are {len(wanted)}")
        elif min(a, *weights) < 0:
            audit.differ(f"dual cut {k} has a negative multiplier, which proves nothing")


# ---- rates and bounds --------------------------------------------------------------------------


def _check_rates(fair: Fair, walk: Walk) -> None:
    audit, certificate = fair.audit, fair.certificate
    labels = {row: walk.tree.label[leaf] for leaf in walk.leaves for row in walk.rows[leaf]}
    rates = [(rate.name, rate.rates(labels)) for rate in fair.compared]
    _check_price(fair)
    recomputed = tuple((name, tuple(of_groups.values())) for name, of_groups in rates)
    audit.compare("rates of groups", certificate.rates, recomputed)
    apart = max(max(r.values()) - min(r.values()) for _, r in rates)
    audit.compare("disparity", certificate.disparity, apart)
    for rate, (name, of_groups) in zip(fair.compared, rates, strict=True):
        span = max(of_groups.values()) - min(of_groups.values())
        if span > rate.tolerance:
            audit.differ(
                f"{name}s are {show(span)} apart, more than the tolerance {show(rate.tolerance)}"
            )
        audit.done(f"{name}s of all groups, at most {show(rate.tolerance)} apart")
    of, differences = dict(rates), []
    for name, group, other, claimed in certificate.differences:
        difference = of[name][group] - of[name][other]
        audit.compare(f"{name} of {group!r} minus that of {other!r}", claimed, difference)
        differences.append(difference)
    if certificate.differences:
        _check_cuts(fair, [(certificate.cost, differences)])
    most = [fair.tolerance_of(name) for name, *_ in certificate.differences]
    for a, *weights, value in certificate.cuts:
        rest = sum(w * t for w, t in zip(weights, most, strict=True))
        if a and value - rest > a * certificate.cost:
            audit.differ("a dual cut gives a bound above the cost of the tree")


def _check_price(fair: Fair) -> None:
    """Check that the fields about other trees agree with the tree."""
    audit, certificate = fair.audit, fair.certificate
    cost, unfair = certificate.cost, certificate.unconstrained_cost
    bound = certificate.lower_bound
    n_solves = certificate.n_solves if isinstance(certificate.n_solves, int) else 0
    if certificate.least_disparity is not None:
        audit.differ("a least disparity is stated, but a tree keeps the tolerance")
    if unfair is None and certificate.differences:
        audit.differ("price of fairness: not stated, although trees within limits were searched")
    if unfair is not None and unfair > cost:
        audit.differ(
            f"unconstrained cost {show(unfair)} is above the cost {show(cost)} of the tree"
        )
    # One search finds the best tree of all, and another may repeat it with smaller sizes.
    is_dual = unfair is not None and n_solves > 2 and fair.metric.counts_errors
    if is_dual and not certificate.cuts and bound > unfair:
        audit.differ(
            f"no dual cut is stated for {n_solves} searches without limits, and the lower bound "
            f"{show(bound)} is above what is proven without any, {show(unfair)}"
        )


def _check_cuts(fair: Fair, trees: Sequence[tuple[Exact, Sequence[Exact]]]) -> None:
    """Check that no known tree breaks a dual cut."""
    for a, *weights, value in fair.certificate.cuts:
        for cost, differences in trees:
            found = a * cost + sum(b * d for b, d in zip(weights, differences, strict=True))
            if found < value - a * fair.data.slack:
                fair.audit.differ(
                    f"a dual cut says that no tree is below {show(value)}, but one has "
                    f"{show(exact(Fraction(found)))}"
                )
                return
    if fair.certificate.cuts:
        fair.audit.done("dual cuts hold")


def apart_by(rates: Mapping[tuple[str, Any], Exact], compared: Sequence[Compared]) -> Exact:
    """Return the greatest difference of a rate between two groups."""
    spans = []
    for rate in compared:
        of_groups = [rates[rate.name, group] for group in rate.totals]
        spans.append(max(of_groups) - min(of_groups))
    return max(spans, default=0)


def _single_leaves(fair: Fair) -> list[FairPoint]:
    """Return the trees without splits, which keep all limits on size."""
    certificate, data = fair.certificate, fair.data
    paid = certificate.split_penalty if certificate.complexity_per == "leaf" else 0
    points: list[FairPoint] = []
    for label in range(len(fair.labels)):
        errors = sum(data.lost(row, label) for row in data.rows)
        own: Sequence[Any] = (errors + paid,)
        if not fair.metric.counts_errors:
            says_yes = label == positive_class(fair.audit, fair.labels)
            own = (errors, 0, paid) if says_yes else (0, errors, paid)
        labels = dict.fromkeys(data.rows, label)
        rates = {
            (rate.name, group): number
            for rate in fair.compared
            for group, number in rate.rates(labels).items()
        }
        points.append((own, rates))
    return points


def _check_trees(fair: Fair, trees: Sequence[FairPoint]) -> None:
    """Check that no known tree is better than the certificate allows."""
    certificate = fair.certificate
    pairs = certificate.differences
    stated = [
        (own[0], [rates[name, group] - rates[name, other] for name, group, other, _ in pairs])
        for own, rates in trees
    ]
    _check_cuts(fair, stated)
    for (own, rates), (_, differences) in zip(trees, stated, strict=True):
        reasons = _reasons(fair, own, rates)
        if certificate.cost is None:
            reasons += _nearer(fair, differences)
        for reason in reasons:
            fair.audit.differ(reason)
        if reasons:
            return


def _reasons(fair: Fair, own: Sequence[Any], rates: Mapping[tuple[str, Any], Exact]) -> list[str]:
    """Return the claims that a tree with this cost and these rates refutes."""
    reasons = []
    certificate, apart = fair.certificate, apart_by(rates, fair.compared)
    unfair, least = certificate.unconstrained_cost, certificate.least_disparity
    if unfair is not None and fair.is_cheaper(own, unfair):
        told = f"unconstrained cost {show(unfair)}, but a tree costs {fair.cost_text(own)}"
        reasons.append(told)
    if least is not None and apart < least:
        reasons.append(f"least disparity: certified {show(least)}, but a tree has {show(apart)}")
    if not fair.is_within(rates):
        return reasons
    if certificate.status == "infeasible":
        reasons.append(f"a tree of cost {fair.cost_text(own)} is within the tolerance")
    elif certificate.lower_bound is not None and fair.is_cheaper(own, certificate.lower_bound):
        reasons.append(
            f"a tree of cost {fair.cost_text(own)} is within the tolerance, below the lower bound "
            f"{show(certificate.lower_bound)}"
        )
    return reasons


def _nearer(fair: Fair, differences: Sequence[Exact]) -> list[str]:
    """Return the limits to which a tree comes nearer than the certificate allows."""
    reasons = []
    for (name, group, other, least), found in zip(
        fair.certificate.differences, differences, strict=True
    ):
        # Among trees that keep to the limit from the other side.
        if least is not None and -fair.tolerance_of(name) <= found < least:
            reasons.append(
                f"least {name} of {group!r} minus that of {other!r}: certified {show(least)}, but "
                f"a tree has {show(found)}"
            )
    return reasons


def _check_without_tree(audit: Audit) -> None:
    """Check that the fields of a certificate without a tree agree."""
    certificate = audit.certificate
    check_without_tree(audit)
    audit.compare("disparity", certificate.disparity, None)
    audit.compare("rates", certificate.rates, ())
    least = certificate.least_disparity
    if certificate.status == "infeasible":
        tolerance = certificate.tolerance
        smallest = min(tolerance) if isinstance(tolerance, tuple) else tolerance
        if least is not None and not smallest < least <= 1:
            audit.differ(f"a tree with disparity {show(least)} would be within the tolerance")
    elif least is not None:
        audit.differ(f"least disparity: known only if no tree is fair, not if {certificate.status}")
    audit.done("status, and the least disparity")


# ---- by trying all trees -----------------------------------------------------------------------


def all_trees(fair: Fair) -> list[FairPoint]:
    """Return cost and rates of every tree within the limits on size."""
    certificate, data = fair.certificate, fair.data
    keys = [(rate.name, group) for rate in fair.compared for group in rate.totals]
    totals = [rate.totals[group] for rate in fair.compared for group in rate.totals]
    amounts = []
    positive = positive_class(fair.audit, fair.labels)
    n_own = 1 if fair.metric.counts_errors else 2
    for row, line in zip(data.rows, error_amounts(data, len(fair.labels)), strict=True):
        cells = []
        for label, (errors,) in enumerate(line):
            cell = [errors]
            if n_own == 2:
                cell = [errors, Fraction(0)] if label == positive else [Fraction(0), errors]
            for rate in fair.compared:
                group, weight, counted = rate.adds.get(row, (None, Fraction(0), frozenset()))
                cell += [
                    weight if group == other and label in counted else Fraction(0)
                    for other in rate.totals
                ]
            cells.append(cell)
        amounts.append(cells)
    tests = [(data.parts(test), test["feature"]) for test in data.tests]
    penalty = Fraction(certificate.split_penalty)
    keep = different if certificate.max_splits is None else all_different
    nothing = [Fraction(0)] * (len(keys) + n_own - 1)
    per_split = [penalty if n_own == 1 else Fraction(0), *nothing]
    points = label_points(tests, amounts, per_split, TreeSizes.of(certificate), keep)
    first = penalty if certificate.complexity_per == "leaf" else 0
    found: list[FairPoint] = []
    for point in points:
        rates = [x / n for x, n in zip(point[n_own:-1], totals, strict=True)]
        own: Sequence[Any] = (point[0] + first,)
        if n_own == 2:
            own = (point[0], point[1], penalty * point[-1] + first)
        found.append((own, dict(zip(keys, rates, strict=True))))
    return found


def _check_optimum(fair: Fair) -> None:
    """Prove the optimum again by trying all trees."""
    audit, certificate = fair.audit, fair.certificate
    trees = all_trees(fair)
    if certificate.constraint is not None:
        _check_trees(fair, trees)
        audit.raise_if_different()
    if certificate.cost is None:
        least = min(apart_by(rates, fair.compared) for _, rates in trees)
        if certificate.least_disparity is not None:
            audit.compare("least disparity", certificate.least_disparity, least)
        is_proven = certificate.status == "infeasible"
        what = "that no tree is within the tolerance" if is_proven else "the bounds"
        audit.done(f"{what}, by trying all trees")
        return
    fits = [own for own, rates in trees if fair.is_within(rates)]
    if not fair.metric.counts_errors:
        _check_best_metric(fair, fits)
        return
    best = min((own[0] for own in fits), default=None)
    slack = fair.data.slack
    if best is None or not (certificate.lower_bound - slack <= best <= certificate.cost + slack):
        audit.differ(
            f"optimum: the best tree costs {best}, outside of the certified bounds "
            f"{show(certificate.lower_bound)} to {show(certificate.cost)}"
        )
    else:
        audit.done(f"optimum {show(best)}, by trying all trees")


def _check_best_metric(fair: Fair, fits: Sequence[Sequence[Any]]) -> None:
    """Compare the bounds of a metric with the trees that keep the tolerances."""
    certificate = fair.certificate
    level = 1 - Fraction(certificate.cost)
    reached = any(
        is_value(level + own[2], fair.value(own)) or exceeds(fair.value(own), level + own[2])
        for own in fits
    )
    if not reached or any(fair.is_cheaper(own, certificate.lower_bound) for own in fits):
        fair.audit.differ(
            f"optimum: the best {fair.metric.name} of fair trees is outside of the certified bounds"
        )
    fair.audit.done(f"best {fair.metric.name} of fair trees, by trying all trees")
