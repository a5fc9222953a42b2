"""Check the certificate of a task: costs, rewards and squared errors, prices of tests included.

As in :mod:`certree.verify`, everything is recomputed from the user's own numbers, read as the
decimals they are written as, in exact fractions. Where the search had to round, the certificate
says by how much at most: that is recomputed, too, and no larger difference is accepted. Functions
of the user's own are asked about the sums of the statistics as they were rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ._audit import Audit, Claim, Data, Walk, _columns, _row_weights, decimal, outcome_of, walk_down
from ._reprove_task import Charges, TaskQuestion, best_task_cost
from ._task_certificate import TaskCertificate
from .certificate import exact, show
from .estimators._measurements import Measurements
from .exceptions import CertificateError
from .tasks._base import Task
from .tasks._labels import CostMatrix, Misclassification, Rewards, RowCosts
from .tasks._leaf_cost import LeafCost, call_cost
from .tasks._squares import SquaredError

# Penalties are rounded to the unit of the search, by no more than this share of the whole cost.
_PENALTY_ROUNDING = Fraction(1, 2**20)


@dataclass(frozen=True)
class _Costs:
    """What leaves cost: by the prediction they have, at best, and as the user reads a total."""

    of: Callable[[Sequence[int], Any], Fraction]
    least: Callable[[Sequence[int]], Fraction]
    objective: Callable[[Fraction], float]
    complexity_unit: Fraction
    charges: Charges | None


def task_audit(model: Any) -> Audit:
    """Return an audit of a model whose certificate is that of a task."""
    claim = Claim(
        model.certificate_,
        model.get_params(deep=False),
        model.tree_.to_dict(),
        [test.to_dict() for test in model.encoder_.candidates_],
        model.tree_.classes.tolist(),
    )
    return Audit(claim)


def check_task_costs(
    audit: Audit, model: Any, X: Any, y: Any, sample_weight: Any, costs: Any
) -> tuple[Data, Walk, Fraction, _Costs]:
    """Recompute what the tree costs, and compare it with the certificate."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, TaskCertificate)
    data = read_rows(audit, X, sample_weight)
    walk = walk_down(audit, data)
    audit.done("the leaf of every row, by the stated tests")
    n_rows = len(data.columns[0])
    task = model._task(y, n_rows, sample_weight, costs)
    check_parameters(audit, task)
    priced = None if isinstance(task, LeafCost) else _read_costs(audit, model, task, data, y, costs)
    check_rows(audit, data)
    stated = check_rounding(audit, model, task, y, sample_weight, n_rows)
    if priced is None:
        priced = _function(data, task, stated.problem)
    penalty = decimal(audit.claim.parameters["complexity"]) * priced.complexity_unit
    slack = priced.complexity_unit * _PENALTY_ROUNDING + certificate.rounding
    if abs(certificate.split_penalty - penalty) > slack:
        audit.compare("penalty", certificate.split_penalty, penalty)
    audit.done("parameters, rows, weights and penalty")
    cost = _check_total(audit, data, walk, priced)
    return data, walk, cost, priced


def check_rows(audit: Audit, data: Data) -> None:
    """Compare number and weight of the rows; weights that are no decimals are float64."""
    certificate, total = audit.claim.certificate, data.total()
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    slack = 0 if certificate.weight_quantum is None else total / 10**12
    if abs(certificate.total_weight - total) > slack:
        audit.compare("total weight", certificate.total_weight, total)


def check_rounding(
    audit: Audit, model: Any, task: Any, y: Any, sample_weight: Any, n_rows: int
) -> Any:
    """Turn the task into integers again: the certificate may not claim more leeway than that."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, TaskCertificate)
    try:
        stated = model._state_task(task, y, n_rows, sample_weight)
    except ValueError as error:
        audit.differ(f"the task cannot be stated for these data: {error}")
        audit.raise_if_different()
    quantum = None if stated.rows.given is None else exact(stated.rows.quantum)
    audit.compare("weight quantum", certificate.weight_quantum, quantum)
    audit.compare("unit", certificate.unit, exact(stated.objective.unit))
    if certificate.rounding > stated.problem.rounding:
        audit.compare("rounding", certificate.rounding, exact(stated.problem.rounding))
    audit.done("rounding and unit, from the data")
    return stated


def check_task_optimum(audit: Audit, data: Data, priced: _Costs) -> None:
    """Prove the optimum again by brute force, over all the tests that the encoder made."""
    certificate = audit.claim.certificate
    assert isinstance(certificate, TaskCertificate)
    tests = []
    for test in audit.claim.tests:
        column = data.columns[test["feature"]]
        holds = [outcome_of(test, column[row]) == 0 for row in data.rows]
        tests.append((sum(1 << i for i, held in enumerate(holds) if held), test["feature"]))
    penalty = Fraction(certificate.split_penalty)
    best = best_task_cost(
        TaskQuestion(
            tests,
            len(data.rows),
            lambda rows: priced.least([data.rows[i] for i in rows]),
            [Fraction(data.weights[row]) for row in data.rows],
            penalty,
            certificate.max_depth,
            certificate.max_splits,
            certificate.min_samples_leaf,
            priced.charges,
        )
    )
    best += penalty if certificate.complexity_per == "leaf" else 0
    low, high = certificate.lower_bound, certificate.cost
    if not low - certificate.rounding <= best <= high + certificate.rounding:
        audit.differ(
            f"optimum: the best tree costs {show(best)}, outside of the certified bounds "
            f"{show(low)} to {show(high)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")


def read_rows(audit: Audit, X: Any, sample_weight: Any) -> Data:
    columns = _columns(X)
    expected = audit.claim.tree["n_features"]
    if len(columns) != expected:
        raise CertificateError(
            f"X has {len(columns)} columns, but the tree was fitted on {expected}."
        )
    n_rows = len(columns[0])
    weights = _row_weights(sample_weight, n_rows, None)
    rows = [row for row, weight in enumerate(weights) if weight > 0]
    return Data(columns, rows, {}, {row: weights[row] for row in rows})


def check_parameters(audit: Audit, task: Task) -> None:
    """Compare what was asked for with what the certificate speaks of."""
    certificate, parameters = audit.claim.certificate, audit.claim.parameters
    audit.compare("task", certificate.task, task.name)
    # Whatever else it says is about something else.
    audit.raise_if_different()
    for name in ("max_depth", "max_splits", "min_samples_leaf", "complexity_per"):
        audit.compare(name, getattr(certificate, name), parameters[name])
    audit.compare("complexity", certificate.complexity, decimal(parameters["complexity"]))
    audit.compare("number of tests", certificate.n_searched, len(audit.claim.tests))


def _read_costs(audit: Audit, model: Any, task: Task, data: Data, y: Any, costs: Any) -> _Costs:
    """Return what the leaves of this model cost, in the user's numbers."""
    n_rows, classes = len(data.columns[0]), audit.claim.classes
    charges = _charges(audit, model)
    if isinstance(task, SquaredError):
        return _squares(data, _numbers(y, "y", (n_rows,)))
    if isinstance(task, Rewards):
        return _rewards(
            data,
            _table(_numbers(task.rewards, "rewards", (n_rows, None)), classes),
            -1 if task.maximise else 1,
        )
    if isinstance(task, Misclassification):
        return _errors(audit, data, y, task.class_weight, charges)
    if isinstance(task, CostMatrix):
        table = _by_class(audit, data, y, task.matrix)
    elif "cost_matrix" in audit.claim.parameters and costs is None:
        # Without a matrix every wrong label costs the same.
        labels = _labels_of(y, n_rows)
        table = {
            r: {label: Fraction(int(label != labels[r])) for label in classes} for r in data.rows
        }
    elif isinstance(task, RowCosts):
        table = _table(_numbers(task.costs, "costs", (n_rows, len(classes))), classes)
    else:
        raise ValueError(f"verify does not know what a leaf costs by {task!r}.")
    return _labels(data, table, lambda cost: float(cost / data.total()), charges)


def _labels_of(y: Any, n_rows: int) -> list[Any]:
    labels: list[Any] = np.asarray(y).ravel().tolist()
    if len(labels) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels.")
    return labels


def _known_labels(audit: Audit, data: Data, y: Any) -> list[Any]:
    """Return the label of every row; those of rows that count must be classes of the tree."""
    labels = _labels_of(y, len(data.columns[0]))
    unknown = {labels[row] for row in data.rows} - set(audit.claim.classes)
    if unknown:
        raise CertificateError(
            f"y has the labels {sorted(map(repr, unknown))}, which the model does not know; its "
            f"classes are {audit.claim.classes}."
        )
    return labels


def _by_class(audit: Audit, data: Data, y: Any, matrix: Any) -> dict[int, dict[Any, Fraction]]:
    classes, labels = audit.claim.classes, _known_labels(audit, data, y)
    lines = _numbers(matrix, "cost_matrix", (len(classes), len(classes)))
    place = {label: k for k, label in enumerate(classes)}
    return {row: dict(zip(classes, lines[place[labels[row]]], strict=True)) for row in data.rows}


def _errors(audit: Audit, data: Data, y: Any, class_weight: Any, charges: Charges | None) -> _Costs:
    """Return what errors cost, by weights of the classes."""
    classes, labels = audit.claim.classes, _known_labels(audit, data, y)
    weights = {label: Fraction(1) for label in classes}
    if class_weight == "balanced":
        totals = dict.fromkeys(classes, Fraction(0))
        for row in data.rows:
            totals[labels[row]] += data.weights[row]
        share = data.total() / sum(1 for total in totals.values() if total)
        weights = {
            label: share / total if total else Fraction(0) for label, total in totals.items()
        }
    elif class_weight is not None:
        weights = {label: decimal(class_weight.get(label, 1)) for label in classes}
    table = {
        row: {label: weights[labels[row]] * (label != labels[row]) for label in classes}
        for row in data.rows
    }
    whole = sum((data.weights[row] * weights[labels[row]] for row in data.rows), Fraction(0))
    priced = _labels(data, table, lambda cost: float(1 - cost / whole), charges)
    return replace(priced, complexity_unit=whole)


def _rewards(data: Data, table: Mapping[int, Mapping[Any, Fraction]], sign: int) -> _Costs:
    """Return what treatments lose against the best of each row."""
    signed = {row: {k: sign * reward for k, reward in table[row].items()} for row in data.rows}
    best = {row: min(signed[row].values()) for row in data.rows}
    total = sum((data.weights[row] * best[row] for row in data.rows), Fraction(0))
    regret = {
        row: {label: cost - best[row] for label, cost in signed[row].items()} for row in data.rows
    }
    return _labels(data, regret, lambda cost: float(sign * (cost + total) / data.total()))


def _function(data: Data, task: LeafCost, problem: Any) -> _Costs:
    """Return what the user's function says of the sums of the rounded statistics."""
    place = {row: i for i, row in enumerate(data.rows)}
    statistics = problem.statistics.tolist()

    def ask(rows: Sequence[int]) -> tuple[Fraction, Any]:
        lines = [statistics[place[row]] for row in rows]
        sums = np.array([[sum(column) for column in zip(*lines, strict=True)]], dtype=np.int64)
        costs, predictions = call_cost(task.cost, problem.sums(sums))
        cost = max(Fraction(costs[0].item()), Fraction(0))
        return cost, 0 if predictions is None else predictions.tolist()[0]

    def of(rows: Sequence[int], value: Any) -> Fraction:
        cost, prediction = ask(rows)
        if prediction != value:
            raise CertificateError(
                f"a leaf predicts {value!r}, but the task says {prediction!r} for its rows."
            )
        return cost

    return _Costs(of, lambda rows: ask(rows)[0], float, data.total(), None)


def _numbers(values: Any, what: str, shape: tuple[int | None, ...]) -> list[Any]:
    """Return numbers as the decimals they are written as, in a list or a list of lists."""
    array = np.asarray(values)
    fits = array.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{what} has shape {array.shape}, which is not that of the data.")
    if array.ndim == 1:
        return [decimal(value) for value in array.tolist()]
    return [[decimal(value) for value in line] for line in array.tolist()]


def _table(lines: list[Any], classes: list[Any]) -> dict[int, dict[Any, Fraction]]:
    if lines and len(lines[0]) == 1 and len(classes) == 2:
        lines = [[Fraction(0), line[0]] for line in lines]
    return {row: dict(zip(classes, line, strict=True)) for row, line in enumerate(lines)}


def _labels(
    data: Data,
    table: Mapping[int, Mapping[Any, Any]],
    objective: Callable[[Fraction], float],
    charges: Charges | None = None,
) -> _Costs:
    labels = list(table[data.rows[0]]) if data.rows else []

    def of(rows: Sequence[int], label: Any) -> Fraction:
        return sum((data.weights[row] * table[row][label] for row in rows), Fraction(0))

    def least(rows: Sequence[int]) -> Fraction:
        return min(of(rows, label) for label in labels)

    return _Costs(of, least, objective, data.total(), charges)


def _squares(data: Data, target: list[Fraction]) -> _Costs:
    def least(rows: Sequence[int]) -> Fraction:
        weight = sum((Fraction(data.weights[row]) for row in rows), Fraction(0))
        total = sum((data.weights[row] * target[row] for row in rows), Fraction(0))
        square = sum((data.weights[row] * target[row] ** 2 for row in rows), Fraction(0))
        return square - total**2 / weight

    def of(rows: Sequence[int], value: Any) -> Fraction:
        weight = sum((Fraction(data.weights[row]) for row in rows), Fraction(0))
        total = sum((data.weights[row] * target[row] for row in rows), Fraction(0))
        if abs(float(total / weight) - value) > 1e-9 * max(1.0, abs(value)):
            raise CertificateError(
                f"a leaf predicts {value!r}, but the mean of its rows is {float(total / weight)!r}."
            )
        return least(rows)

    whole = least(data.rows)
    return _Costs(of, least, lambda cost: float(1 - cost / whole) if whole else 1.0, whole, None)


def _charges(audit: Audit, model: Any) -> Charges | None:
    stated = audit.claim.parameters.get("test_costs")
    if stated is None:
        return None
    names = getattr(model, "feature_names_in_", None)
    prices = Measurements.read(stated, [], audit.claim.tree["n_features"], names)
    return Charges(
        prices.of_column.tolist(),
        prices.group.tolist(),
        [decimal(price) for price in prices.price.tolist()],
        [decimal(price) for price in prices.discounted.tolist()],
    )


def _check_total(audit: Audit, data: Data, walk: Walk, priced: _Costs) -> Fraction:
    certificate, nodes = audit.claim.certificate, audit.claim.nodes
    assert isinstance(certificate, TaskCertificate)
    leaves = walk.leaves(nodes)
    total = Fraction(0)
    for leaf in leaves:
        value = audit.claim.classes[nodes[leaf]["label"]]
        cost, least = priced.of(walk.rows[leaf], value), priced.least(walk.rows[leaf])
        if cost - least > 2 * certificate.rounding:
            audit.differ(
                f"leaf {leaf} predicts {value!r} at the cost {show(cost)}, and could have cost "
                f"{show(least)}"
            )
        total += cost
    audit.done("the prediction of every leaf is its best")
    paid = Fraction(0)
    if priced.charges is not None:
        paid = _paid(audit, data, walk, priced.charges)
    n_splits = len(walk.rows) - len(leaves)
    n_paid = n_splits + 1 if certificate.complexity_per == "leaf" else n_splits
    cost = total + paid + n_paid * certificate.split_penalty
    parts = certificate.leaf_cost + certificate.test_cost + n_paid * certificate.split_penalty
    audit.compare("sum of leaf cost, test cost and penalty", parts, certificate.cost)
    for what, certified, found in (
        ("leaf cost", certificate.leaf_cost, total),
        ("test cost", certificate.test_cost, paid),
        ("cost", certificate.cost, cost),
    ):
        if abs(certified - found) > certificate.rounding:
            audit.compare(what, certified, found)
    objective = priced.objective(cost)
    scale = max(1.0, abs(objective))
    # A share of explained variance has the rounding above and below the line of its fraction.
    unit = priced.complexity_unit
    slack = float(2 * certificate.rounding / unit) if unit else 0.0
    if abs(certificate.objective - objective) > 1e-9 * scale + slack:
        audit.compare("objective", certificate.objective, objective)
    audit.done("cost and objective, in exact arithmetic")
    return cost


def _paid(audit: Audit, data: Data, walk: Walk, charges: Charges) -> Fraction:
    """Return what all rows pay for tests, by what was measured on the way to each node."""
    nodes, tests = audit.claim.nodes, audit.claim.tree["tests"]
    made: dict[int, frozenset[int]] = {0: frozenset()}
    total = Fraction(0)
    for node in sorted(walk.rows, key=lambda node: walk.depth[node]):
        if "test" not in nodes[node]:
            continue
        column = tests[nodes[node]["test"]]["feature"]
        weight = sum((Fraction(data.weights[row]) for row in walk.rows[node]), Fraction(0))
        total += charges.price_of(column, made[node]) * weight
        for child in nodes[node]["children"]:
            made[child] = made[node] | {charges.measurement[column]}
    audit.done("prices of all tests, with what was paid before")
    return total
