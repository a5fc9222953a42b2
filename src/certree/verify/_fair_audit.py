"""Check fair trees: the rates of all groups, from the rows, and that no tree is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit, Checked, Data, GivenRows, Walk, check_predictions, walk_down
from ._candidates import Test, outcome_of
from ._errors import check_cost, check_counts, check_own_size, error_amounts, read_classes
from ._force import TreeSizes, all_different, different, label_points
from ._plain_numbers import Exact, exact, read, read_list, show, text
from ._story import (
    check_bounds,
    check_no_confusion,
    check_parameters,
    check_without_tree,
    has_tree,
)

# The rates that each constraint compares: name, rows that count, and whether errors are counted.
_COMPARED = {
    "demographic_parity": (("selection_rate", "all"),),
    "equal_opportunity": (("true_positive_rate", "positives"),),
    "predictive_equality": (("false_positive_rate", "negatives"),),
    "equalized_odds": (("true_positive_rate", "positives"), ("false_positive_rate", "negatives")),
    "accuracy_parity": (("error_rate", "all"),),
}

Groups = Mapping[int, Any]
"""The group of every row that counts."""

FairPoint = tuple[Exact, Mapping[tuple[str, Any], Exact]]
"""Cost of a tree, and the rate of every group."""


@dataclass(frozen=True)
class Compared:
    """The rows of a rate, by group, and the labels with which they count.

    Attributes
    ----------
    name : str
        Name of the rate.
    tolerance : int or Fraction
        Largest difference between two groups.
    totals : dict
        Weight of the rows that count in each group.
    adds : dict
        For a row that counts: its group, its weight, and the places of the labels with which it
        has the property.
    """

    name: str
    tolerance: Exact
    totals: Mapping[Any, Fraction]
    adds: Mapping[int, tuple[Any, Fraction, frozenset[int]]]

    def rates(self, labels: Mapping[int, int]) -> dict[Any, Exact]:
        """Return the rate of every group, if rows are given these labels."""
        sums = dict.fromkeys(self.totals, Fraction(0))
        for row, (group, weight, counted) in self.adds.items():
            if labels[row] in counted:
                sums[group] += weight
        return {group: exact(sums[group] / total) for group, total in self.totals.items()}


@dataclass(frozen=True)
class Fair:
    """The parts of a check of a fair tree."""

    audit: Audit
    data: Data
    labels: Sequence[Any]
    compared: Sequence[Compared]

    @property
    def certificate(self) -> Any:
        """The certificate in question."""
        return self.audit.certificate

    def tolerance_of(self, name: str) -> Exact:
        """Return the largest difference of a rate that is allowed."""
        return next(rate.tolerance for rate in self.compared if rate.name == name)

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
        cost = check_cost(audit, fair.data, walk)
        if fair.compared:
            _check_rates(fair, walk)
        check_bounds(audit)
        check_predictions(audit, model.predict, given.X, walk)
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
    parameters = {**model.get_params(deep=False), "objective": "accuracy"}
    audit = Audit(certificate, parameters)
    tree = getattr(model, "tree_", None)
    is_found = has_tree(certificate, tree)
    check_parameters(audit, "accuracy")
    check_no_confusion(audit)
    _check_constraint(audit)
    labels = model.classes_.tolist()
    data = read_classes(audit, given, labels, model.encoder_, reserve=2**8)
    groups = _read_groups(parameters, data, given)
    _check_candidates(audit, data, groups, model.encoder_)
    walk = None
    if is_found:
        walk = walk_down(audit, data, tree)
        audit.done("the leaf of every row, by tests that are candidates")
    if groups is None:
        _check_no_groups(audit)
        return Fair(audit, data, labels, ()), walk
    _check_left_out(audit, data, groups, walk)
    compared = _rates_to_compare(audit, data, groups, given, labels)
    _check_pairs(audit, compared)
    audit.raise_if_different()
    asked = [test for test in data.tests if not _is_hidden(audit, data, groups, test)]
    return Fair(audit, replace(data, tests=asked), labels, compared), walk


def _check_constraint(audit: Audit) -> None:
    certificate, parameters = audit.certificate, audit.parameters
    if certificate.constraint is None:
        return
    asked = parameters["constraint"]
    asked = asked if isinstance(asked, str) else tuple(asked)
    audit.compare("constraint", certificate.constraint, asked)
    audit.raise_if_different()
    audit.compare("tolerance", certificate.tolerance, _tolerances(asked, parameters["tolerance"]))
    audit.compare("use_sensitive", certificate.use_sensitive, bool(parameters["use_sensitive"]))


def _tolerances(asked: str | tuple[str, ...], given: Any) -> Any:
    """Return the tolerance of a constraint, or of each."""
    if isinstance(asked, str) and not isinstance(given, Mapping | list | tuple):
        return read(given, "tolerance")
    names = (asked,) if isinstance(asked, str) else asked
    if isinstance(given, Mapping):
        each = [given[name] for name in names]
    else:
        each = list(given) if isinstance(given, list | tuple) else [given] * len(names)
    found = tuple(read(one, "tolerance") for one in each)
    return found[0] if isinstance(asked, str) else found


def _allowed(certificate: Any) -> dict[tuple[str, str], Exact]:
    """Return the rates that the constraints compare, with the least tolerance of each."""
    names, most = certificate.constraint, certificate.tolerance
    if isinstance(names, str):
        names, most = (names,), (most,)
    if any(name not in _COMPARED for name in names):
        raise CertificateError(f"the constraint {certificate.constraint!r} is unknown.")
    if not isinstance(most, tuple) or len(most) != len(names):
        raise CertificateError("the certificate does not state a tolerance for each constraint.")
    allowed: dict[tuple[str, str], Exact] = {}
    for name, tolerance in zip(names, most, strict=True):
        for rate in _COMPARED[name]:
            allowed[rate] = min(tolerance, allowed.get(rate, tolerance))
    return allowed


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


def _read_groups(parameters: Mapping[str, Any], data: Data, given: GivenRows) -> Groups | None:
    """Return the group of every row that counts; None if there are no groups."""
    named = parameters["sensitive_columns"]
    if given.sensitive_features is not None:
        columns = _sensitive_columns(given.sensitive_features)
    elif named is not None:
        wanted = list(named) if isinstance(named, list | tuple | np.ndarray) else [named]
        names = list(data.table.names or ())
        places = [names.index(w) if isinstance(w, str) else int(w) for w in wanted]
        columns = [list(data.table.columns[place].values) for place in places]
    else:
        return None
    for column in columns:
        if len(column) != data.n_rows:
            raise ValueError(f"X has {data.n_rows} rows, but sensitive_features has {len(column)}.")
    if len(columns) == 1:
        return {row: _whole(columns[0][row]) for row in data.rows}
    return {row: tuple(_whole(column[row]) for column in columns) for row in data.rows}


def _sensitive_columns(sensitive: Any) -> list[list[Any]]:
    if hasattr(sensitive, "iloc") and hasattr(sensitive, "columns"):
        return [sensitive.iloc[:, i].tolist() for i in range(sensitive.shape[1])]
    if hasattr(sensitive, "get_columns"):
        return [column.to_list() for column in sensitive.get_columns()]
    if hasattr(sensitive, "to_list"):
        return [list(sensitive.to_list())]
    array = sensitive if isinstance(sensitive, np.ndarray) else np.array(sensitive, dtype=object)
    if array.ndim == 2:
        return [array[:, i].tolist() for i in range(array.shape[1])]
    return [array.tolist()]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_hidden(audit: Audit, data: Data, groups: Groups, test: Test) -> bool:
    """Return whether a test only states the group, and must not be asked."""
    if audit.parameters["use_sensitive"]:
        return False
    column = data.column(test)
    seen = {(groups[row], outcome_of(test, column[row])) for row in data.rows}
    is_decided = len(seen) == len({group for group, _ in seen})
    return is_decided and len({outcome for _, outcome in seen}) > 1


def _check_candidates(audit: Audit, data: Data, groups: Groups | None, encoder: Any) -> None:
    hidden = [groups is not None and _is_hidden(audit, data, groups, t) for t in data.tests]
    certificate = audit.certificate
    if certificate.n_tests_searched is None:
        audit.compare("number of tests", certificate.n_tests, hidden.count(False))
    else:
        audit.compare("number of tests searched", certificate.n_tests_searched, hidden.count(False))
    texts = [
        str(test) for test, is_left in zip(encoder.candidates_, hidden, strict=True) if is_left
    ]
    audit.compare("tests left out", audit.certificate.left_out, tuple(texts))


def _check_left_out(audit: Audit, data: Data, groups: Groups, walk: Walk | None) -> None:
    for test in [] if walk is None else walk.tree.tests:
        if _is_hidden(audit, data, groups, test):
            audit.differ(f"the tree asks for the group, by column {test['name']!r}")
    audit.done("tests that only state the group")


def _rates_to_compare(
    audit: Audit, data: Data, groups: Groups, given: GivenRows, labels: Sequence[Any]
) -> list[Compared]:
    """Return the rates that the constraint compares, with the rows that count for them."""
    certificate = audit.certificate
    allowed = _allowed(certificate)
    different_groups = set(groups.values())
    if len(certificate.groups) != len(different_groups) or set(certificate.groups) != (
        different_groups
    ):
        raise CertificateError(
            f"groups: certified {list(certificate.groups)}, but the rows have "
            f"{sorted(map(repr, different_groups))}; the certificate does not know the group."
        )
    # Rates are of the weights as given, also where costs are of rounded ones.
    weights = [Fraction(1)] * data.n_rows
    if given.sample_weight is not None:
        weights = read_list(given.sample_weight, data.n_rows, "sample_weight")
    wanted = audit.parameters["pos_label"]
    positive = len(labels) - 1 if wanted is None else labels.index(wanted)
    everything = frozenset(range(len(labels)))
    result = []
    for (name, among), tolerance in allowed.items():
        totals = dict.fromkeys(certificate.groups, Fraction(0))
        adds = {}
        for row in data.rows:
            is_positive = data.classes[row] == positive
            if among != "all" and is_positive != (among == "positives"):
                continue
            totals[groups[row]] += weights[row]
            counted = frozenset({positive})
            if name == "error_rate":
                counted = everything - {data.classes[row]}
            adds[row] = (groups[row], weights[row], counted)
        if not all(totals.values()):
            raise CertificateError(f"a group has no rows that count for the {name}: {totals}.")
        result.append(Compared(name, tolerance, totals, adds))
    return result


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
    _check_price(audit)
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


def _check_price(audit: Audit) -> None:
    """Check that the fields about other trees agree with the tree."""
    certificate = audit.certificate
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
    if unfair is not None and n_solves > 2 and not certificate.cuts and bound > unfair:
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
        errors = sum(data.weights[row] for row in data.rows if data.classes[row] != label)
        labels = dict.fromkeys(data.rows, label)
        rates = {
            (rate.name, group): number
            for rate in fair.compared
            for group, number in rate.rates(labels).items()
        }
        points.append((errors + paid, rates))
    return points


def _check_trees(fair: Fair, trees: Sequence[FairPoint]) -> None:
    """Check that no known tree is better than the certificate allows."""
    certificate = fair.certificate
    pairs = certificate.differences
    stated = [
        (cost, [rates[name, group] - rates[name, other] for name, group, other, _ in pairs])
        for cost, rates in trees
    ]
    _check_cuts(fair, stated)
    for (cost, rates), (_, differences) in zip(trees, stated, strict=True):
        reasons = _reasons(fair, cost + fair.data.slack, rates)
        if certificate.cost is None:
            reasons += _nearer(fair, differences)
        for reason in reasons:
            fair.audit.differ(reason)
        if reasons:
            return


def _reasons(fair: Fair, cost: Exact, rates: Mapping[tuple[str, Any], Exact]) -> list[str]:
    """Return the claims that a tree with this cost and these rates refutes."""
    reasons = []
    certificate, apart = fair.certificate, apart_by(rates, fair.compared)
    unfair, least = certificate.unconstrained_cost, certificate.least_disparity
    if unfair is not None and cost < unfair:
        reasons.append(f"unconstrained cost {show(unfair)}, but a tree costs {show(cost)}")
    if least is not None and apart < least:
        reasons.append(f"least disparity: certified {show(least)}, but a tree has {show(apart)}")
    if not fair.is_within(rates):
        return reasons
    if certificate.status == "infeasible":
        reasons.append(f"a tree of cost {show(cost)} is within the tolerance")
    elif certificate.lower_bound is not None and cost < certificate.lower_bound:
        reasons.append(
            f"a tree of cost {show(cost)} is within the tolerance, below the lower bound "
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
    for row, line in zip(data.rows, error_amounts(data, len(fair.labels)), strict=True):
        cells = []
        for label, errors in enumerate(line):
            cell = [*errors]
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
    points = label_points(
        tests, amounts, [penalty, *[Fraction(0)] * len(keys)], TreeSizes.of(certificate), keep
    )
    first = penalty if certificate.complexity_per == "leaf" else 0
    found: list[FairPoint] = []
    for point in points:
        rates = [x / n for x, n in zip(point[1:-1], totals, strict=True)]
        found.append((point[0] + first, dict(zip(keys, rates, strict=True))))
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
    fits = (c for c, rates in trees if fair.is_within(rates))
    best = min(fits, default=None)
    slack = fair.data.slack
    if best is None or not (certificate.lower_bound - slack <= best <= certificate.cost + slack):
        audit.differ(
            f"optimum: the best tree costs {best}, outside of the certified bounds "
            f"{show(certificate.lower_bound)} to {show(certificate.cost)}"
        )
    else:
        audit.done(f"optimum {show(best)}, by trying all trees")
