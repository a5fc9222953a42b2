"""Check how far a tree of any origin is from the best: its cost, bounds and gap."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from typing import Any

from certree.exceptions import CertificateError

from ._audit import Audit, Checked, Data, GivenRows, PlainTree, Walk, read_rows, walk_down
from ._errors import check_classifier
from ._fields import check_types
from ._formulas import is_value
from ._metric_audit import metric_of
from ._plain_numbers import Exact, exact, plain_list, read, text
from ._stated_weights import by_stated_weights, class_totals, with_classes
from ._task_audit import check_task


def check_gap(gap: Any, given: GivenRows) -> Checked:
    """Check an optimality gap: the best tree like that of a model, and the costs of both trees."""
    model = copy(gap.model)
    model.tree_, model.certificate_ = gap.best_tree, gap.certificate
    certificate = gap.certificate
    check_types(certificate)
    if type(certificate).__name__ == "TaskCertificate":
        return _check_numbers(gap, model, given)
    audit = check_classifier(model, given).audit
    labels = PlainTree.of(gap.best_tree).values
    data = with_classes(read_rows(given.X, given.sample_weight), given.y, labels)
    data = _weighted(data, certificate, len(labels))
    audit.compare_within("total weight", gap.total_weight, data.total(), data.slack)
    for what, tree, stated in (
        ("cost", gap.tree, gap.cost),
        ("upper bound", gap.best_tree, gap.upper_bound),
    ):
        _check_cost(audit, data, walk_down(audit, data, tree), what, stated, labels)
    return _check_bounds(gap, audit, data)


def _check_numbers(gap: Any, model: Any, given: GivenRows) -> Checked:
    """Check the gap of a regression tree, whose own values count in its leaves."""
    certificate = gap.certificate
    audit = check_task(model, given, may_have_more=True).audit
    data = read_rows(given.X, given.sample_weight)
    numbers = [read(number, "y") for number in plain_list(given.y)]
    is_squared, cost = model.criterion == "squared_error", Fraction(0)
    walk = walk_down(audit, data, gap.tree)
    for leaf in walk.leaves:
        value = read(walk.tree.value(leaf))
        for row in walk.rows[leaf]:
            off = abs(numbers[row] - value)
            cost += data.weights[row] * (off * off if is_squared else off)
    n_paid = walk.n_splits + (certificate.complexity_per == "leaf")
    cost += n_paid * Fraction(certificate.split_penalty)
    # A value so near to a mean, as a share of the largest target, is the float64 of this mean.
    size = max(abs(numbers[row]) for row in data.rows)
    noise = data.total() * (size / 2**44) ** 2 if is_squared else Fraction(0)
    audit.compare_within("cost", gap.cost, cost, certificate.rounding + noise)
    audit.compare_within("total weight", gap.total_weight, data.total(), data.total() / 10**12)
    return _check_bounds(gap, audit, data)


def _check_bounds(gap: Any, audit: Audit, data: Data) -> Checked:
    """Compare bounds, gap and improvement with each other, and with the limits."""
    certificate = gap.certificate
    audit.compare("cost of the best tree", certificate.cost, gap.upper_bound)
    audit.compare("lower bound", gap.lower_bound, certificate.lower_bound)
    audit.compare("gap", gap.gap, exact(gap.cost - gap.lower_bound))
    audit.compare("improvement", gap.improvement, exact(gap.cost - gap.upper_bound))
    if gap.keeps_limits and gap.cost < gap.lower_bound:
        audit.differ("a tree that keeps to the limits costs less than the lower bound")
    audit.compare("keeps_limits", gap.keeps_limits, _keeps(audit, data, gap))
    audit.done("costs of both trees, bounds and gap")
    audit.raise_if_different()
    return Checked(audit, gap.cost, len(data.rows))


def _weighted(data: Data, certificate: Any, n_classes: int) -> Data:
    used = certificate.class_weights or (1,) * n_classes
    quantum = certificate.weight_quantum
    if len(used) != n_classes or (quantum is not None and quantum <= 0):
        raise CertificateError("the certificate states impossible weights.")
    return by_stated_weights(data, used, quantum)


def _keeps(audit: Audit, data: Data, gap: Any) -> bool:
    certificate, walk = audit.certificate, walk_down(audit, data, gap.tree)
    fits = certificate.max_depth is None or walk.depth <= certificate.max_depth
    fits = fits and (certificate.max_splits is None or walk.n_splits <= certificate.max_splits)
    # The trees searched have no leaves without rows.
    least = min(len(walk.rows[leaf]) for leaf in walk.leaves if walk.rows[leaf])
    return fits and (not walk.n_splits or least >= certificate.min_samples_leaf)


def _check_cost(
    audit: Audit, data: Data, walk: Walk, what: str, stated: Exact, labels: Sequence[Any]
) -> None:
    certificate = audit.certificate
    n_paid = len(walk.leaves) if certificate.complexity_per == "leaf" else walk.n_splits
    penalty = n_paid * Fraction(certificate.split_penalty)
    wrong: dict[Any, Exact] = dict.fromkeys(labels, 0)
    for leaf in walk.leaves:
        for row in walk.rows[leaf]:
            if walk.tree.value(leaf) != labels[data.classes[row]]:
                wrong[labels[data.classes[row]]] += data.weights[row]
    if certificate.positives is None:
        audit.compare_within(what, stated, sum(wrong.values()) + penalty, data.slack)
        return
    positive = certificate.pos_label
    if positive not in labels:
        audit.differ(f"positive class: {positive!r} is not among the classes {list(labels)}")
        return
    fp = sum(
        data.weights[row]
        for leaf in walk.leaves
        for row in walk.rows[leaf]
        if walk.tree.value(leaf) == positive != labels[data.classes[row]]
    )
    metric = metric_of(audit.parameters["objective"])
    totals = class_totals(data, len(labels))
    place = list(labels).index(positive)
    value = metric.value(fp, wrong[positive], totals[place], sum(totals) - totals[place])
    if not is_value(1 + penalty - stated, value):
        audit.differ(f"{what}: certified {text(stated)}, recomputed from {metric.name} {value}")
