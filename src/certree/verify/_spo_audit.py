"""Check the certificate of a tree that decides: the cost of its decisions above the best ones.

The user's oracle gives the best decision for a sum of cost vectors, and is trusted. Everything
between the oracle and the certificate is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._attributes import Facts, check_attributes
from ._audit import (
    Audit,
    Checked,
    Data,
    GivenRows,
    Walk,
    check_finite,
    check_size,
    predictions_of,
    read_rows,
    walk_down,
)
from ._brute_force import TreeSizes, least_cost
from ._consistency import check_bounds, check_no_confusion, check_parameters
from ._leaf_costs import Leaves
from ._metric_audit import all_tests
from ._notes import Note, RowsOf, mean
from ._plain_numbers import (
    common_unit,
    decimals,
    float_or_infinite,
    is_close,
    read,
    read_table,
    show,
)
from ._rounding_rules import units_of_cost
from ._shown import check_node_costs, check_shown
from ._stated_weights import counted, most_splits
from ._task_audit import check_rounding, check_rows, compare_optimum

# Real decisions are only as exact as float64 and the solver behind the oracle.
_FLOAT = Fraction(1, 10**6)

Vector = Sequence[Fraction]


@dataclass
class Decided:
    """Rows with their cost vectors, to be minimised, and the oracle that decides on sums."""

    data: Data
    oracle: Any
    vectors: dict[int, list[Fraction]]
    known: dict[int, Fraction] = field(default_factory=dict)
    """The best value of rows."""

    def decide(self, vector: Vector) -> Any:
        """Return the oracle's decision for a cost vector."""
        sign = 1 if self.oracle.sense == "min" else -1
        return self.oracle.decide(np.array([[float_or_infinite(sign * c) for c in vector]]))[0]

    def best(self, vector: Vector) -> Fraction:
        """Return the value of that decision."""
        return value_of(vector, self.decide(vector))

    def total(self, rows: Sequence[int]) -> list[Fraction]:
        """Return the weighted sum of the cost vectors of some rows."""
        total = [Fraction(0)] * self.oracle.n_costs
        for row in rows:
            weight = self.data.weights[row]
            total = [t + weight * c for t, c in zip(total, self.vectors[row], strict=True)]
        return total

    def own(self, rows: Sequence[int]) -> Fraction:
        """Return what the best decisions of the rows themselves cost together."""
        return sum((self.data.weights[row] * self.best_of(row) for row in rows), Fraction(0))

    def best_of(self, row: int) -> Fraction:
        """Return the value of the best decision for a row."""
        if row not in self.known:
            self.known[row] = self.best(self.vectors[row])
        return self.known[row]

    def least(self, rows: Sequence[int]) -> Fraction:
        """Return the least loss of a leaf with these rows."""
        return self.best(self.total(rows)) - self.own(rows)


def value_of(vector: Vector, decision: Any) -> Fraction:
    """Return what a decision costs, exactly."""
    pairs = zip(vector, decision.tolist(), strict=True)
    return sum((cost * Fraction(amount) for cost, amount in pairs if amount), Fraction(0))


def check_spo(model: Any, given: GivenRows) -> Checked:
    """Check a tree that decides."""
    certificate = model.certificate_
    audit = Audit(certificate, model.get_params(deep=False))
    check_parameters(audit, "spo_loss")
    data, _ = check_rows(audit, read_rows(given.X, given.sample_weight), model.encoder_)
    walk = walk_down(audit, data, model.tree_)
    audit.done("the leaf of every row, by questions that are candidates")
    wanted = read(audit.parameters["complexity"], "complexity") * data.total()
    slack = 0 if (wanted / _unit(audit)).denominator == 1 else data.total() / 2**20
    audit.compare_within("penalty", certificate.split_penalty, wanted, slack)
    decided = _read(model.oracle_, data, given.y)
    rounding = _check_rounding(audit, decided)
    audit.done("parameters, rows, weights, rounding and penalty")
    sizes = counted(data, certificate.weight_quantum)
    _check_sizes(audit, sizes, walk)
    if not all(walk.rows[leaf] for leaf in walk.leaves):
        raise CertificateError("some leaves of the tree have no rows.")
    cost = _check_leaves(audit, model, decided, walk, rounding)
    _check_predictions(audit, model, given, walk)
    check_attributes(model, Facts(audit, data.names))
    leaves = _shown(decided)
    check_shown(audit, data, walk, leaves, slack=rounding)
    check_node_costs(audit, data, walk, leaves, model, rounding)
    check_bounds(audit)
    audit.raise_if_different()
    if given.exhaustive:
        limits = replace(
            TreeSizes.of(certificate), sizes=[Fraction(sizes.weights[row]) for row in data.rows]
        )
        penalty = Fraction(certificate.split_penalty)
        best = least_cost(
            all_tests(data),
            len(data.rows),
            lambda places: decided.least([data.rows[i] for i in places]),
            penalty,
            limits,
        )
        best += penalty if certificate.complexity_per == "leaf" else 0
        compare_optimum(audit, best, certificate, rounding)
        audit.raise_if_different()
    return Checked(audit, cost, len(data.rows))


def _unit(audit: Audit) -> Fraction:
    unit = Fraction(audit.certificate.unit)
    if unit <= 0:
        raise CertificateError(f"unit: certified {show(unit)}, which must be positive.")
    return unit


def _read(oracle: Any, data: Data, costs: Any) -> Decided:
    table = np.asarray(costs)
    table = table[:, None] if table.ndim == 1 else table
    lines = read_table(table, "C", (data.n_rows, oracle.n_costs))
    sign = 1 if oracle.sense == "min" else -1
    return Decided(data, oracle, {row: [sign * c for c in lines[row]] for row in data.rows})


def _check_rounding(audit: Audit, decided: Decided) -> Fraction:
    """Check that the certificate claims no more rounding than necessary; return it."""
    certificate, data, oracle = audit.certificate, decided.data, decided.oracle
    most = min(units_of_cost(data, certificate), 2**52)
    longest = Fraction(1)
    for vector in decided.vectors.values():
        for turned in (vector, [-c for c in vector]):
            try:
                amounts = np.abs(decided.decide(turned)).tolist()
            except ValueError:
                # There may be no worst decision.
                continue
            longest = max(longest, sum(map(Fraction, amounts), Fraction(0)))
    numbers = {c for vector in decided.vectors.values() for c in vector}
    largest = max(map(abs, numbers))
    amount = sum(
        (data.weights[row] * sum(map(abs, vector)) for row, vector in decided.vectors.items()),
        Fraction(0),
    )
    total = amount * longest
    tolerance = 4 * Fraction(oracle.tolerance) * total
    places = decimals(list(numbers))
    unit = common_unit(data.weights.values())
    is_exact = certificate.weight_quantum is None and oracle.is_integral
    if is_exact and places is not None and total * 10**places * 2**20 <= unit * most:
        allowed = tolerance
    else:
        # Cost vectors are rounded before they are multiplied by weights that are integers.
        n_units = min(data.total() / unit, Fraction(most))
        error = max(total / most, largest * Fraction(max(data.weights.values())) / 2**43)
        allowed = 64 * error * longest * max(Fraction(len(data.weights)), n_units) + tolerance
        allowed = min(allowed, total / 2**5)
        if not oracle.is_integral:
            allowed += 2**14 * total / most * (most_splits(data.n_rows, certificate) + 1)
            allowed += _FLOAT * amount
    check_rounding(audit, certificate.rounding, allowed)
    multiples = (Fraction(certificate.leaf_cost), Fraction(certificate.gap))
    if any((multiple / _unit(audit)).denominator != 1 for multiple in multiples):
        audit.compare("unit", certificate.unit, common_unit(multiples))
    audit.compare("test cost", certificate.test_cost, 0)
    rounding = Fraction(certificate.rounding)
    if not oracle.is_integral:
        rounding += _FLOAT * amount
    return rounding


def _check_sizes(audit: Audit, data: Data, walk: Walk) -> None:
    """Check that the tree keeps its limits; leaves are measured by rounded weight."""
    certificate = audit.certificate
    audit.compare("depth of the tree", certificate.depth, walk.depth)
    audit.compare("number of splits", certificate.n_splits, walk.n_splits)
    check_size(audit, walk, replace(certificate, min_samples_leaf=1))
    for leaf in walk.leaves:
        weight = data.weight(walk.rows[leaf])
        if walk.n_splits and 1 < certificate.min_samples_leaf > weight:
            audit.differ(
                f"leaf {leaf} has the weight {show(weight)}, less than "
                f"min_samples_leaf={certificate.min_samples_leaf}"
            )
    audit.done("limits on depth, splits and weight of leaves")


def _check_multiples(audit: Audit, decided: Decided, rows: Sequence[int], taken: Any) -> None:
    """Check that the losses of rows are multiples of the unit, if nothing was rounded."""
    unit = _unit(audit)
    for row in rows:
        vector = decided.vectors[row]
        lost = decided.data.weights[row] * (value_of(vector, taken) - decided.best_of(row))
        if (lost / unit).denominator != 1:
            audit.differ(f"unit: certified {show(unit)}, but {show(lost)} is not a multiple of it")
            return


def _check_held(audit: Audit, model: Any, decided: Decided, walk: Walk, leaf: int) -> None:
    """See that a leaf of the tree holds its decision, under its name."""
    taken, stated = model.decisions_[leaf], walk.tree.value(leaf)
    if stated != taken.tolist():
        audit.differ(f"leaf {leaf} of the tree holds {stated}, but its decision is {taken}")
    called, name = walk.tree.name(leaf), decided.oracle.describe(taken)
    if called != name:
        audit.differ(f"leaf {leaf} is called {called!r}, but its decision is {name!r}")


def _check_means(audit: Audit, model: Any, decided: Decided, walk: Walk, node: int) -> None:
    """See that a node has the mean of the cost vectors of its rows."""
    rows = walk.rows[node]
    sign = 1 if decided.oracle.sense == "min" else -1
    weight = sum((decided.data.weights[row] for row in rows), Fraction(0))
    largest = max(abs(c) for row in rows for c in decided.vectors[row])
    predicted = model.costs_[node].tolist()
    for k, (total, stated) in enumerate(zip(decided.total(rows), predicted, strict=True)):
        if not abs(float(sign * total / weight) - stated) <= 1e-9 * float(largest):
            audit.differ(f"node {node} has {stated!r} for cost {k}, which is not the mean")


def _check_predictions(audit: Audit, model: Any, given: GivenRows, walk: Walk) -> None:
    """Check that the model predicts the costs of its leaves, and takes their decisions."""
    is_flat = np.ndim(given.y) == 1
    for what, stated, said in (
        ("prediction", model.costs_[:, 0] if is_flat else model.costs_, model.predict),
        ("decision", model.decisions_, model.decide),
    ):
        found = predictions_of(audit, said, given.X)
        if found is None:
            return
        wanted = {row: stated[leaf].tolist() for leaf in walk.leaves for row in walk.rows[leaf]}
        wrong = [row for row, value in wanted.items() if found[row] != value]
        if wrong:
            audit.differ(f"{what} for row {wrong[0]}: the model says {found[wrong[0]]!r}")
    audit.done("the model predicts and decides what its leaves hold")


def _shown(decided: Decided) -> Leaves:
    """Return what trees show of nodes."""

    def note(rows: Sequence[int], off: Fraction) -> Note:
        return [RowsOf(", "), ", loss ", mean(decided.least(rows), 1, off, ".5g")]

    total = decided.data.total()
    return Leaves(
        "spo_loss", lambda rows, _: decided.least(rows), decided.least, float, total, note=note
    )


def _check_leaves(
    audit: Audit, model: Any, decided: Decided, walk: Walk, rounding: Fraction
) -> Fraction:
    """Compare decisions, losses and the objective; return the cost."""
    certificate, taken = audit.certificate, model.decisions_
    shape = (len(walk.rows), decided.oracle.n_costs)
    if np.shape(taken) != shape or np.shape(model.costs_) != shape:
        raise CertificateError(f"decisions_ and costs_ must be of shape {shape}, by node and cost.")
    check_finite(taken, "a decision in decisions_")
    total = Fraction(0)
    for node, rows in walk.rows.items():
        sums = decided.total(rows)
        value, best = value_of(sums, taken[node]), decided.best(sums)
        if value - best > 2 * rounding:
            audit.differ(f"node {node} does not take the decision that is best for its rows")
        if best - value > 2 * rounding:
            audit.differ(f"node {node} takes a decision that costs less than all that are feasible")
        _check_means(audit, model, decided, walk, node)
        if walk.tree.asked[node] >= 0:
            continue
        total += value - decided.own(rows)
        if certificate.rounding == 0 and decided.oracle.is_integral:
            _check_multiples(audit, decided, rows, taken[node])
        _check_held(audit, model, decided, walk, node)
    audit.done("the decision of every leaf is its best, and its cost vector the mean")
    n_paid = walk.n_splits + (certificate.complexity_per == "leaf")
    penalty = n_paid * Fraction(certificate.split_penalty)
    audit.compare_within("loss", certificate.leaf_cost, total, rounding)
    audit.compare_within("cost", certificate.cost, total + penalty, rounding)
    audit.compare("sum of loss and penalty", certificate.leaf_cost + penalty, certificate.cost)
    weight = decided.data.total()
    mean = float((total + penalty) / weight)
    if not is_close(certificate.objective, mean, float(rounding / weight) + 1e-9 * abs(mean)):
        audit.compare("objective", certificate.objective, mean)
    check_no_confusion(audit)
    audit.done("loss, cost and objective")
    return Fraction(total + penalty)
