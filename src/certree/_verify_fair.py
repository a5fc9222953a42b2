"""Check the certificate of a fair tree: the rates of all groups, from the rows.

As in :mod:`certree.verify`, everything is recomputed from the user's own values in exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np

from ._audit import Audit, Claim, Data, Walk, _row_weights, decimal, outcome_of, text
from .certificate import STATUSES, Exact, exact, show
from .encoding import test_from_dict
from .exceptions import CertificateError
from .fairness import FairnessCertificate

_MOST_POINTS = 300_000
"""Most combinations of two subtrees for which a brute force is tried: some seconds."""

# What each constraint compares: the rate, the rows that count, and whether errors are counted.
_COMPARED = {
    "demographic_parity": (("selection_rate", "all"),),
    "equal_opportunity": (("true_positive_rate", "positives"),),
    "predictive_equality": (("false_positive_rate", "negatives"),),
    "equalized_odds": (("true_positive_rate", "positives"), ("false_positive_rate", "negatives")),
    "accuracy_parity": (("error_rate", "all"),),
}


@dataclass(frozen=True)
class Compared:
    """Rows that count for a rate, by group, and the labels with which they count.

    Attributes
    ----------
    name : str
        Name of the rate.
    totals : dict
        Weight of the rows that count in each group.
    adds : dict
        For a row that counts: its group, its weight, and the codes of the labels with which it has
        the property.
    """

    name: str
    totals: Mapping[Any, Fraction]
    adds: Mapping[int, tuple[Any, Fraction, frozenset[int]]]


def fair_audit(model: Any) -> Audit:
    """Return an audit of a fair tree."""
    nothing = {"n_features": model.n_features_in_, "nodes": [], "tests": []}
    has_tree = model.certificate_.has_tree
    if has_tree != hasattr(model, "tree_"):
        raise CertificateError(
            "the certificate speaks of a tree, but the model has none."
            if has_tree
            else "the certificate says that no tree was found, but the model has one."
        )
    tree = model.tree_.to_dict() if has_tree else nothing
    if hasattr(model, "feature_names_in_"):
        tree = {**tree, "feature_names": model.feature_names_in_.tolist()}
    return Audit(
        Claim(
            model.certificate_,
            {**model.get_params(deep=False), "objective": "accuracy"},
            tree,
            [test.to_dict() for test in model.encoder_.candidates_],
            model.classes_.tolist(),
        )
    )


def check_groups(
    audit: Audit,
    data: Data,
    walk: Walk | None,
    groups: Mapping[int, Any] | None,
    sample_weight: Any,
) -> list[Compared]:
    """Compare rates, their differences, and the tests that were left out, with the certificate.

    Without a tree there is no walk, and there are no rates.
    """
    certificate = audit.claim.certificate
    assert isinstance(certificate, FairnessCertificate)
    _check_parameters(audit, certificate)
    if groups is None:
        audit.compare("constraint", certificate.constraint, None)
        audit.compare("number of tests", certificate.n_searched, len(audit.claim.tests))
        for name, nothing in (("differences", ()), ("dual", ()), ("least_disparity", None)):
            audit.compare(name, getattr(certificate, name), nothing)
        return []
    asked = asked_tests(audit, data, groups)
    audit.compare("number of tests", certificate.n_searched, sum(asked))
    hidden = [t for t, may in zip(audit.claim.tests, asked, strict=True) if not may]
    texts = tuple(test_from_dict(test).describe(0) for test in hidden)
    audit.compare("tests left out", certificate.left_out, texts)
    used = {node["test"] for node in audit.claim.nodes if "test" in node}
    tests = audit.claim.tree["tests"]
    for test in used:
        if tests[test] in hidden:
            audit.differ(f"the tree asks for the group, by {tests[test]}")
    audit.done("tests that say nothing but the group")
    compared = rates_to_compare(audit, data, groups, sample_weight)
    _check_pairs(audit, certificate, compared)
    audit.raise_if_different()
    if walk is not None:
        _check_rates(audit, certificate, compared, _labels(audit, walk))
    _check_trees(audit, certificate, compared, _single_leaves(audit, data, compared))
    audit.done("that no tree without splits is better than the certificate allows")
    return compared


def _check_pairs(
    audit: Audit, certificate: FairnessCertificate, compared: Sequence[Compared]
) -> None:
    """See that differences and dual cuts are about the limits that there are."""
    wanted = [(rate.name, *pair) for rate in compared for pair in permutations(rate.totals, 2)]
    stated = [difference[:3] for difference in certificate.differences]
    # Where the best tree of all is fair, no search within limits was made that could state them.
    searched = certificate.dual or certificate.n_solves is not None or not certificate.has_tree
    if stated != wanted and (stated or searched):
        audit.differ(
            f"differences: certified are {text(stated)}, but the limits are {text(wanted)}"
        )
    for k, (a, weights, _) in enumerate(certificate.dual):
        if len(weights) != len(wanted):
            audit.differ(f"dual cut {k} weighs {len(weights)} differences, there are {len(wanted)}")
        elif min(a, *weights) < 0:
            audit.differ(f"dual cut {k} has a negative multiplier, which proves nothing")


def _check_parameters(audit: Audit, certificate: FairnessCertificate) -> None:
    parameters = audit.claim.parameters
    for name in ("max_depth", "max_splits", "min_samples_leaf", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    audit.compare("task", certificate.task, "accuracy")
    audit.compare("complexity", certificate.complexity, decimal(parameters["complexity"]))
    if certificate.constraint is not None:
        audit.compare("constraint", certificate.constraint, parameters["constraint"])
        audit.compare("tolerance", certificate.tolerance, decimal(parameters["tolerance"]))
        audit.compare("use_sensitive", certificate.use_sensitive, parameters["use_sensitive"])
        if certificate.constraint != parameters["constraint"]:
            # Whatever else it says is about something else.
            audit.raise_if_different()
    audit.done("the parameters that the certificate speaks of")


def read_group_of_rows(audit: Audit, data: Data, sensitive: Any) -> dict[int, Any] | None:
    """Return the group of every row that counts; None if there are no groups."""
    n_rows = len(data.columns[0])
    named = audit.claim.parameters["sensitive_columns"]
    if sensitive is not None:
        columns = _sensitive_columns(sensitive)
    elif named is not None:
        names = audit.claim.tree.get("feature_names")
        wanted = list(named) if isinstance(named, list | tuple | np.ndarray) else [named]
        places = [names.index(w) if isinstance(w, str) and names else int(w) for w in wanted]
        columns = [list(data.columns[place]) for place in places]
    else:
        return None
    for column in columns:
        if len(column) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but sensitive_features has {len(column)}.")
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


def asked_tests(audit: Audit, data: Data, groups: Mapping[int, Any]) -> list[bool]:
    """Return which tests a tree may ask: those that say more than the group, or all."""
    if audit.claim.parameters["use_sensitive"]:
        return [True] * len(audit.claim.tests)
    may_ask = []
    for test in audit.claim.tests:
        column = data.columns[test["feature"]]
        seen = {(groups[row], outcome_of(test, column[row])) for row in data.rows}
        outcomes = {outcome for _, outcome in seen}
        decided = len(seen) == len({group for group, _ in seen})
        may_ask.append(len(outcomes) < 2 or not decided)
    return may_ask


def rates_to_compare(
    audit: Audit, data: Data, groups: Mapping[int, Any], sample_weight: Any
) -> list[Compared]:
    """Return the rates that the constraint compares, with the rows that count for them."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, FairnessCertificate)
    # Rates are of the weights as given, also where costs are of rounded ones.
    weights = _row_weights(sample_weight, len(data.columns[0]), None)
    labels = audit.claim.classes
    wanted = audit.claim.parameters["pos_label"]
    positive = len(labels) - 1 if wanted is None else labels.index(wanted)
    everything = frozenset(range(len(labels)))
    result = []
    for name, among in _COMPARED[str(certificate.constraint)]:
        totals = dict.fromkeys(certificate.groups, Fraction(0))
        adds = {}
        for row in data.rows:
            is_positive = data.classes[row] == positive
            if among != "all" and is_positive != (among == "positives"):
                continue
            if groups[row] not in totals:
                raise CertificateError(f"the certificate does not know the group {groups[row]!r}.")
            totals[groups[row]] += weights[row]
            counted = frozenset({positive})
            if name == "error_rate":
                counted = everything - {data.classes[row]}
            adds[row] = (groups[row], weights[row], counted)
        if not all(totals.values()):
            raise CertificateError(f"a group has no rows that count for the {name}: {totals}.")
        result.append(Compared(name, totals, adds))
    return result


def _labels(audit: Audit, walk: Walk) -> dict[int, int]:
    nodes = audit.claim.nodes
    return {row: nodes[leaf]["label"] for leaf in walk.leaves(nodes) for row in walk.rows[leaf]}


def _check_rates(
    audit: Audit,
    certificate: FairnessCertificate,
    compared: Sequence[Compared],
    labels: Mapping[int, int],
) -> None:
    rates = [(rate.name, rates_of(rate, labels)) for rate in compared]
    _check_price(audit, certificate)
    recomputed = tuple((name, tuple(of_groups.values())) for name, of_groups in rates)
    audit.compare("rates of groups", certificate.rates, recomputed)
    apart = max(max(r.values()) - min(r.values()) for _, r in rates)
    audit.compare("disparity", certificate.disparity, apart)
    if apart > certificate.tolerance:
        audit.differ(
            f"rates are {show(apart)} apart, more than the tolerance {show(certificate.tolerance)}"
        )
    audit.done(f"rates of all groups, at most {show(certificate.tolerance)} apart")
    of = dict(rates)
    differences = []
    for name, group, other, claimed_difference in certificate.differences:
        difference = of[name][group] - of[name][other]
        audit.compare(
            f"{name} of {group!r} minus that of {other!r}", claimed_difference, difference
        )
        differences.append(difference)
    if certificate.differences:
        check_cuts(audit, certificate, [(certificate.cost, differences)])
    _check_dual_bounds(audit, certificate)


def _check_price(audit: Audit, certificate: FairnessCertificate) -> None:
    """See that what is said of unfair trees, and of trees that are not there, fits the tree."""
    cost, unfair = certificate.cost, certificate.unconstrained_cost
    bound, n_solves = certificate.lower_bound, certificate.n_solves or 0
    if certificate.least_disparity is not None:
        audit.differ("a least disparity is stated, which is for tolerances that no tree keeps to")
    if unfair is None and certificate.differences:
        audit.differ("price of fairness: not stated, though limits had to be searched for")
    if unfair is not None and unfair > cost:
        audit.differ(
            f"unconstrained cost {show(unfair)} is above the cost {show(cost)} of the tree"
        )
    # One search is for the best tree of all, and another one may repeat it in narrower limits.
    if unfair is not None and n_solves > 2 and not certificate.dual and bound > unfair:
        audit.differ(
            f"no dual cut is stated for {n_solves} searches without limits, and the lower bound "
            f"{show(bound)} is above what is proven without any, {show(unfair)}"
        )


def rates_of(rate: Compared, labels: Mapping[int, int]) -> dict[Any, Exact]:
    """Return the rate of every group, if rows are given these labels."""
    sums = dict.fromkeys(rate.totals, Fraction(0))
    for row, (group, weight, counted) in rate.adds.items():
        if labels[row] in counted:
            sums[group] += weight
    return {group: exact(sums[group] / total) for group, total in rate.totals.items()}


def check_cuts(
    audit: Audit,
    certificate: FairnessCertificate,
    trees: Sequence[tuple[Exact, Sequence[Exact]]],
) -> None:
    """See that no tree breaks what was proven about all trees."""
    for a, weights, value in certificate.dual:
        for cost, differences in trees:
            found = a * cost + sum(b * d for b, d in zip(weights, differences, strict=True))
            if found < value:
                audit.differ(
                    f"a dual cut says that no tree is below {show(value)}, but one has "
                    f"{show(exact(Fraction(found)))}"
                )
                return
    if certificate.dual:
        audit.done("dual cuts hold")


def _check_dual_bounds(audit: Audit, certificate: FairnessCertificate) -> None:
    for a, weights, value in certificate.dual:
        if a and value - sum(weights) * certificate.tolerance > a * certificate.cost:
            audit.differ("a dual cut gives a bound above the cost of the tree")


Point = tuple[Exact, Mapping[tuple[str, Any], Exact]]
"""Cost of a tree, and the rate of every group."""


def apart_by(rates: Mapping[tuple[str, Any], Exact], compared: Sequence[Compared]) -> Exact:
    """Return the greatest difference of a rate between two groups."""
    spans = []
    for rate in compared:
        of_groups = [rates[rate.name, group] for group in rate.totals]
        spans.append(max(of_groups) - min(of_groups))
    return max(spans, default=0)


def _single_leaves(audit: Audit, data: Data, compared: Sequence[Compared]) -> list[Point]:
    """Return the trees without splits: they are within all limits on size."""
    certificate = audit.claim.certificate
    paid = certificate.split_penalty if certificate.complexity_per == "leaf" else 0
    points: list[Point] = []
    for label in range(len(audit.claim.classes)):
        errors = sum(data.weights[row] for row in data.rows if data.classes[row] != label)
        labels = dict.fromkeys(data.rows, label)
        rates = {
            (rate.name, group): number
            for rate in compared
            for group, number in rates_of(rate, labels).items()
        }
        points.append((errors + paid, rates))
    return points


def _check_trees(
    audit: Audit,
    certificate: FairnessCertificate,
    compared: Sequence[Compared],
    trees: Sequence[Point],
) -> None:
    """See that no tree is better than the certificate says that any is."""
    pairs = certificate.differences
    stated = [
        (cost, [rates[name, group] - rates[name, other] for name, group, other, _ in pairs])
        for cost, rates in trees
    ]
    check_cuts(audit, certificate, stated)
    for (cost, rates), (_, differences) in zip(trees, stated, strict=True):
        reasons = _reasons(certificate, cost, apart_by(rates, compared))
        if not certificate.has_tree:
            reasons += _nearer(certificate, differences)
        for reason in reasons:
            audit.differ(reason)
        if reasons:
            return


def _reasons(certificate: FairnessCertificate, cost: Exact, apart: Exact) -> list[str]:
    """Return what a tree with this cost and disparity shows to be false."""
    reasons = []
    unfair, least = certificate.unconstrained_cost, certificate.least_disparity
    if unfair is not None and cost < unfair:
        reasons.append(f"unconstrained cost {show(unfair)}, but a tree costs {show(cost)}")
    if least is not None and apart < least:
        reasons.append(f"least disparity: certified {show(least)}, but a tree has {show(apart)}")
    if apart > certificate.tolerance:
        return reasons
    if certificate.is_infeasible:
        reasons.append(f"a tree of cost {show(cost)} is within the tolerance")
    elif cost < certificate.lower_bound:
        reasons.append(
            f"a tree of cost {show(cost)} is within the tolerance, below the lower bound "
            f"{show(certificate.lower_bound)}"
        )
    return reasons


def _nearer(certificate: FairnessCertificate, differences: Sequence[Exact]) -> list[str]:
    """Return the limits to which a tree comes nearer than it is said that any does."""
    reasons = []
    for (name, group, other, least), found in zip(
        certificate.differences, differences, strict=True
    ):
        # Among trees that keep to the limit from the other side.
        if least is not None and -certificate.tolerance <= found < least:
            reasons.append(
                f"least {name} of {group!r} minus that of {other!r}: certified {show(least)}, but "
                f"a tree has {show(found)}"
            )
    return reasons


def check_fair_optimum(
    audit: Audit, data: Data, groups: Mapping[int, Any] | None, compared: Sequence[Compared]
) -> None:
    """Prove the optimum again by trying all trees."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, FairnessCertificate)
    trees = all_trees(audit, data, groups, compared)
    _check_trees(audit, certificate, compared, trees)
    audit.raise_if_different()
    if not certificate.has_tree:
        _check_least(audit, certificate, compared, trees)
        return
    best = min(
        (cost for cost, rates in trees if apart_by(rates, compared) <= certificate.tolerance),
        default=None,
    )
    if best is None or not certificate.lower_bound <= best <= certificate.cost:
        audit.differ(
            f"optimum: the best tree costs {best}, outside of the certified bounds "
            f"{show(certificate.lower_bound)} to {show(certificate.cost)}"
        )
    else:
        audit.done(f"optimum {show(best)}, by trying all trees")


def all_trees(
    audit: Audit, data: Data, groups: Mapping[int, Any] | None, compared: Sequence[Compared]
) -> list[Point]:
    """Return cost and rates of every tree within the limits on size."""
    asked = [True] * len(audit.claim.tests) if groups is None else asked_tests(audit, data, groups)
    tests = [test for test, may in zip(audit.claim.tests, asked, strict=True) if may]
    return _AllTrees(audit, data, tests, compared).trees()


def check_without_tree(audit: Audit) -> None:
    """See that a certificate without a tree tells one story."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, FairnessCertificate)
    for name in ("cost", "upper_bound", "gap", "leaf_cost", "disparity"):
        audit.compare(name, getattr(certificate, name), None)
    audit.compare("rates", certificate.rates, ())
    if certificate.status in ("optimal", "gap") or certificate.status not in STATUSES:
        audit.differ(f"status {certificate.status!r} needs a tree")
    least = certificate.least_disparity
    if certificate.is_infeasible:
        audit.compare("lower_bound", certificate.lower_bound, None)
        if least is not None and least <= certificate.tolerance:
            audit.differ(f"a tree with disparity {show(least)} would be within the tolerance")
    elif least is not None:
        audit.differ(f"least disparity: known only if no tree is fair, not if {certificate.status}")
    audit.done("status, and the least disparity")


def _check_least(
    audit: Audit,
    certificate: FairnessCertificate,
    compared: Sequence[Compared],
    trees: Sequence[Point],
) -> None:
    least = min(apart_by(rates, compared) for _, rates in trees)
    if certificate.least_disparity is not None:
        audit.compare("least disparity", certificate.least_disparity, least)
    what = "that no tree is within the tolerance" if certificate.is_infeasible else "the bounds"
    audit.done(f"{what}, by trying all trees")


class _AllTrees:
    """All sums that trees can have: errors, rows with each property by group, and splits."""

    def __init__(
        self,
        audit: Audit,
        data: Data,
        tests: Sequence[Mapping[str, Any]],
        compared: Sequence[Compared],
    ) -> None:
        self.certificate = audit.claim.certificate
        self.n_classes = len(audit.claim.classes)
        self.data = data
        self.compared = compared
        self.keys = [(rate.name, group) for rate in compared for group in rate.totals]
        holds = []
        for test in tests:
            column = data.columns[test["feature"]]
            holds.append(frozenset(row for row in data.rows if outcome_of(test, column[row]) == 0))
        self.tests = sorted(set(holds), key=sorted)
        self.known: dict[tuple[frozenset[int], int], set[tuple[Any, ...]]] = {}
        self.work = 0

    def trees(self) -> list[Point]:
        """Return cost and rates of every tree; trees with the same sums once."""
        certificate = self.certificate
        depth = len(self.tests) if certificate.max_depth is None else certificate.max_depth
        penalty, most = certificate.split_penalty, certificate.max_splits
        found: list[Point] = []
        for point in self._points(frozenset(self.data.rows), depth):
            errors, sums, splits = point[0], point[1:-1], point[-1]
            if most is not None and splits > most:
                continue
            paid = splits + (certificate.complexity_per == "leaf")
            totals = [rate.totals[group] for rate in self.compared for group in rate.totals]
            rates = [Fraction(x) / n for x, n in zip(sums, totals, strict=True)]
            found.append((errors + paid * penalty, dict(zip(self.keys, rates, strict=True))))
        return found

    def _leaf(self, rows: frozenset[int], label: int) -> tuple[Any, ...]:
        errors = sum(self.data.weights[row] for row in rows if self.data.classes[row] != label)
        sums: list[Fraction] = []
        for rate in self.compared:
            of_group = dict.fromkeys(rate.totals, Fraction(0))
            for row in rows & rate.adds.keys():
                group, weight, counted = rate.adds[row]
                if label in counted:
                    of_group[group] += weight
            sums += of_group.values()
        return (Fraction(errors), *sums, 0)

    def _points(self, rows: frozenset[int], depth: int) -> set[tuple[Any, ...]]:
        if (rows, depth) in self.known:
            return self.known[rows, depth]
        points = {self._leaf(rows, label) for label in range(self.n_classes)}
        for test in self.tests if depth > 0 else ():
            left, right = rows & test, rows - test
            if min(len(left), len(right)) < max(self.certificate.min_samples_leaf, 1):
                continue
            ours, theirs = self._points(left, depth - 1), self._points(right, depth - 1)
            self.work += len(ours) * len(theirs)
            if self.work > _MOST_POINTS:
                raise ValueError(
                    "the problem is too large for a proof by brute force: more than "
                    f"{_MOST_POINTS:,} pairs of subtrees; use exhaustive=False, fewer tests or a "
                    "smaller depth."
                )
            for a in ours:
                for b in theirs:
                    both = tuple(x + y for x, y in zip(a, b, strict=True))
                    points.add((*both[:-1], both[-1] + 1))
        self.known[rows, depth] = points
        return points
