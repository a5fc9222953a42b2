"""Check the certificate of a tree that decides: what its decisions cost above the best ones.

As in :mod:`certree.verify`, costs are the decimals that the user wrote, and sums are exact
fractions. The best decision for a sum of cost vectors is the oracle's; what is not trusted is
everything between the oracle and the certificate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ._audit import Audit, Data, Walk, _row_weights, decimal, outcome_of, walk_down
from ._reprove_task import TaskQuestion, best_task_cost
from ._task_certificate import TaskCertificate
from ._verify_task import _numbers, check_parameters, check_rounding, check_rows, read_rows
from .certificate import show

# Penalties are rounded to the unit of the search, by no more than this share of the weight.
_PENALTY_ROUNDING = Fraction(1, 2**20)

# Real decisions are as exact as float64 and the solver behind the oracle make them.
_FLOAT = Fraction(1, 10**6)

Vector = Sequence[Fraction]


@dataclass
class Decided:
    """Rows with their cost vectors, and the oracle that decides on sums of them."""

    data: Data
    oracle: Any
    vectors: dict[int, list[Fraction]]
    slack: Fraction
    cost: Fraction = Fraction(0)
    sizes: dict[int, Fraction] = field(default_factory=dict)

    def best(self, vector: Vector) -> Fraction:
        """Return the value of the oracle's decision for a cost vector, turned to be small."""
        sign = 1 if self.oracle.sense == "min" else -1
        costs = np.array([[float(sign * c) for c in vector]])
        return value_of(vector, self.oracle.decide(costs)[0])

    def total(self, rows: Sequence[int]) -> list[Fraction]:
        """Return the weighted sum of the cost vectors of some rows."""
        total = [Fraction(0)] * self.oracle.n_costs
        for row in rows:
            weight = self.data.weights[row]
            total = [t + weight * c for t, c in zip(total, self.vectors[row], strict=True)]
        return total

    def least(self, rows: Sequence[int]) -> Fraction:
        """Return the least loss of a leaf with these rows."""
        own = sum((self.data.weights[row] * self.best(self.vectors[row]) for row in rows), 0)
        return self.best(self.total(rows)) - own


def value_of(vector: Vector, decision: Any) -> Fraction:
    """Return what a decision costs, exactly."""
    pairs = zip(vector, decision.tolist(), strict=True)
    return sum((cost * Fraction(amount) for cost, amount in pairs if amount), Fraction(0))


def check_spo_costs(audit: Audit, model: Any, X: Any, costs: Any, sample_weight: Any) -> Decided:
    """Recompute what the tree loses, and compare it with the certificate."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, TaskCertificate)
    data = read_rows(audit, X, sample_weight)
    walk = walk_down(audit, data)
    audit.done("the leaf of every row, by the stated tests")
    n_rows = len(data.columns[0])
    task = model._task(costs, n_rows)
    check_parameters(audit, task)
    check_rows(audit, data)
    check_rounding(audit, model, task, None, sample_weight, n_rows)
    penalty = decimal(audit.claim.parameters["complexity"]) * data.total()
    if abs(certificate.split_penalty - penalty) > data.total() * _PENALTY_ROUNDING:
        audit.compare("penalty", certificate.split_penalty, penalty)
    audit.done("parameters, rows, weights and penalty")
    decided = _read(model, data, costs, certificate)
    sizes = _row_weights(sample_weight, n_rows, certificate.weight_quantum)
    decided.sizes = {row: sizes[row] for row in data.rows}
    _check_sizes(audit, decided.sizes, walk)
    _check_leaves(audit, model, decided, walk)
    return decided


def _read(model: Any, data: Data, costs: Any, certificate: TaskCertificate) -> Decided:
    oracle = model.oracle_
    table = np.asarray(costs)
    table = table[:, None] if table.ndim == 1 else table
    lines = _numbers(table, "C", (len(data.columns[0]), oracle.n_costs))
    sign = 1 if oracle.sense == "min" else -1
    vectors = {row: [sign * c for c in lines[row]] for row in data.rows}
    slack = Fraction(certificate.rounding)
    if not oracle.is_integral:
        amount = sum((data.weights[row] * max(map(abs, vectors[row])) for row in data.rows), 0)
        slack += _FLOAT * amount
    return Decided(data, oracle, vectors, slack)


def _check_sizes(audit: Audit, sizes: Mapping[int, Fraction], walk: Walk) -> None:
    """See that the tree keeps its limits; leaves are measured by weight, as it was rounded."""
    certificate, nodes = audit.claim.certificate, audit.claim.nodes
    leaves = walk.leaves(nodes)
    n_splits = len(walk.rows) - len(leaves)
    depth = max(walk.depth.values())
    audit.compare("depth of the tree", certificate.depth, depth)
    audit.compare("number of splits", certificate.n_splits, n_splits)
    if certificate.max_depth is not None and depth > certificate.max_depth:
        audit.differ(f"depth {depth} is above the limit max_depth={certificate.max_depth}")
    if certificate.max_splits is not None and n_splits > certificate.max_splits:
        audit.differ(f"{n_splits} splits are above the limit max_splits={certificate.max_splits}")
    for leaf in leaves:
        weight = sum((sizes[row] for row in walk.rows[leaf]), Fraction(0))
        if n_splits and 1 < certificate.min_samples_leaf > weight:
            audit.differ(
                f"leaf {leaf} has the weight {show(weight)}, less than "
                f"min_samples_leaf={certificate.min_samples_leaf}"
            )
    audit.done("limits on depth, splits and weight of leaves")


def _check_leaves(audit: Audit, model: Any, decided: Decided, walk: Walk) -> None:
    certificate = audit.claim.certificate
    taken = model.decisions_
    total = Fraction(0)
    for leaf in walk.leaves(audit.claim.nodes):
        rows = walk.rows[leaf]
        value = value_of(decided.total(rows), taken[leaf])
        if value - decided.best(decided.total(rows)) > 2 * decided.slack:
            audit.differ(f"leaf {leaf} does not take the decision that is best for its rows")
        own = [decided.data.weights[row] * decided.best(decided.vectors[row]) for row in rows]
        total += value - sum(own, Fraction(0))
        name = audit.claim.classes[audit.claim.nodes[leaf]["label"]]
        if name != decided.oracle.describe(taken[leaf]):
            audit.differ(f"leaf {leaf} is called {name!r}, which is not its decision")
    audit.done("the decision of every leaf is its best")
    n_splits = certificate.n_splits
    n_paid = n_splits + 1 if certificate.complexity_per == "leaf" else n_splits
    cost = total + n_paid * certificate.split_penalty
    for what, certified, found in (
        ("loss", certificate.leaf_cost, total),
        ("cost", certificate.cost, cost),
    ):
        if abs(certified - found) > decided.slack:
            audit.compare(what, certified, found)
    mean = float(cost / decided.data.total())
    slack = float(decided.slack / decided.data.total()) + 1e-9 * max(1.0, abs(mean))
    if abs(certificate.objective - mean) > slack:
        audit.compare("objective", certificate.objective, mean)
    audit.done("loss, cost and objective")
    decided.cost = cost


def check_spo_optimum(audit: Audit, decided: Decided) -> None:
    """Prove the optimum again by brute force, over all the tests that the encoder made."""
    certificate, data = audit.claim.certificate, decided.data
    tests = []
    for test in audit.claim.tests:
        column = data.columns[test["feature"]]
        holds = [outcome_of(test, column[row]) == 0 for row in data.rows]
        tests.append((sum(1 << i for i, held in enumerate(holds) if held), test["feature"]))
    best = best_task_cost(
        TaskQuestion(
            tests,
            len(data.rows),
            lambda rows: decided.least([data.rows[i] for i in rows]),
            [decided.sizes[row] for row in data.rows],
            Fraction(certificate.split_penalty),
            certificate.max_depth,
            certificate.max_splits,
            certificate.min_samples_leaf,
            None,
            by_weight=True,
        )
    )
    best += certificate.split_penalty if certificate.complexity_per == "leaf" else 0
    low, high = certificate.lower_bound, certificate.cost
    if not low - decided.slack <= best <= high + decided.slack:
        audit.differ(
            f"optimum: the best tree costs {show(best)}, outside of the certified bounds "
            f"{show(low)} to {show(high)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")
