"""Check trees that make as few errors as possible: counts, labels, errors, and the optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

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
from ._brute_force import TreeSizes, label_points, least_cost
from ._consistency import check_bounds, check_no_confusion, check_parameters
from ._fields import check_types
from ._front_audit import check_front, check_whole_front
from ._metric_audit import Objective, all_tests, check_metric_cost, check_metric_optimum, metric_of
from ._node_rows import ClassPositions, check_node_rows
from ._path_audit import check_path, check_whole_path
from ._plain_numbers import Exact, common_unit, exact, is_close, read, show, text
from ._shown import check_no_notes, quiet
from ._stated_weights import (
    are_short,
    check_penalty,
    class_totals,
    cost_range,
    units_for_area,
    units_for_errors,
    units_for_metric,
    weighted_by_class,
    with_all_classes,
)


def check_classifier(model: Any, given: GivenRows) -> Checked:
    """Check a classifier: of errors, of a metric, of an area, or of a front."""
    audit = Audit(model.certificate_, model.get_params(deep=False))
    labels = stated_classes(model)
    metric = metric_of(audit.parameters["objective"])
    check_parameters(audit, metric.name)
    if metric.counts_errors != (audit.certificate.positives is None):
        audit.differ(f"the certificate does not state the cost of {metric.name!r}")
        audit.raise_if_different()
    data = read_classes(audit, given, labels, model.encoder_, metric, may_have_more=True)
    walk = walk_down(audit, data, model.tree_)
    audit.done("the leaf of every row, by questions that are candidates")
    check_counts(audit, data, walk, any_label=not metric.counts_errors)
    check_own_size(audit, walk)
    if metric.counts_errors:
        cost: Exact = check_cost(audit, data, walk)
    else:
        cost = check_metric_cost(audit, data, walk, metric, labels)
    check_bounds(audit)
    check_predictions(audit, model.predict, given.X, walk)
    check_attributes(model, Facts(audit, data.names, labels))

    def show(walk: Walk) -> None:
        check_counts(quiet(audit), data, walk, any_label=True)

    if metric.counts_errors:
        check_path(audit, data, getattr(model, "_path", None), show)
    front = getattr(model, "front_", None)
    if front is not None:
        check_front(audit, data, front, labels, show, is_of_model=True)
    audit.raise_if_different()
    if given.exhaustive:
        if metric.counts_errors:
            check_optimum(audit, data, len(labels))
            leaf = _cost_of_leaf(data, len(labels))
            check_whole_path(audit, data, getattr(model, "_path", None), leaf, data.slack)
        else:
            check_metric_optimum(audit, data, metric, labels)
        if front is not None:
            check_whole_front(audit, data, front, labels)
        audit.raise_if_different()
    return Checked(audit, cost, len(data.rows))


def check_pareto_front(front: Any, given: GivenRows) -> Checked:
    """Check a front: its points, and the fields that they share."""
    model = front._model
    base = model.certificate_
    check_types(base)
    audit = Audit(base, model.get_params(deep=False))
    labels = stated_classes(model)
    check_parameters(audit, "front")
    data = read_classes(audit, given, labels, model.encoder_, Objective("front", "ErrorFront"))

    def show(walk: Walk) -> None:
        check_counts(quiet(audit), data, walk, any_label=True)

    check_front(audit, data, front, labels, show, is_of_model=False)
    check_attributes(model, Facts(audit, data.names, labels))
    audit.raise_if_different()
    if given.exhaustive:
        check_whole_front(audit, data, front, labels)
        audit.raise_if_different()
    points = front.certificate.points
    return Checked(audit, min(points)[1] if points else None, len(data.rows))


def read_classes(
    audit: Audit,
    given: GivenRows,
    labels: Sequence[Any],
    encoder: Any,
    metric: Any = None,
    reserve: int = 1,
    **more: bool,
) -> Data:
    """Read rows with classes and weights, and compare them with the certificate.

    Where limits on the tree need a `reserve` of the range of integers, the caller counts the tests.
    """
    certificate = audit.certificate
    plain = with_all_classes(read_rows(given.X, given.sample_weight), given.y, labels)
    if metric is None or metric.counts_errors:
        room = units_for_errors(plain, audit, reserve)
    elif metric.max_fpr is not None:
        room = units_for_area(plain, audit, metric.max_fpr)
    else:
        room = units_for_metric(plain, audit, reserve)
    plain = replace(plain, prices=read_prices(audit.parameters))
    if plain.prices is not None:
        room = int(room / max(plain.dearest / common_unit(chain(*plain.prices)), Fraction(1)))
    exactly = are_short(plain.weights, cost_range(plain.n_rows, certificate))
    plain = with_candidates(audit, plain, encoder, exactly, **more)
    audit.compare("number of rows", certificate.n_rows, len(plain.rows))
    data = weighted_by_class(audit, plain, labels, room)
    audit.compare_within("total weight", certificate.total_weight, data.total(), data.slack)
    data = replace(data, slack=data.slack * plain.dearest)
    _check_penalty(audit, data, metric, room)
    if reserve == 1:
        check_n_tests(audit, data)
    audit.done("rows, weights and penalty")
    return data


def read_prices(parameters: Mapping[str, Any]) -> list[list[Fraction]] | None:
    """Return the cost matrix of a fair tree, if there is one."""
    matrix = parameters.get("cost_matrix")
    if matrix is None:
        return None
    return [[read(n, "cost_matrix") for n in line] for line in np.asarray(matrix).tolist()]


def _check_penalty(audit: Audit, data: Data, metric: Any, room: int) -> None:
    if metric is None or metric.counts_errors:
        # The search counts in the unit of rounding, also if rounded weights have more in common.
        quantum = audit.certificate.weight_quantum
        unit = common_unit(data.weights.values()) if quantum is None else quantum
        if data.prices is not None:
            unit *= common_unit(chain(*data.prices))
        check_penalty(audit, data.total(), unit, room)
    elif metric.max_fpr is None:
        check_penalty(audit, Fraction(1), 0, 1)
    else:
        # The search counts pairs of a positive and a negative row.
        units = [total / common_unit(data.weights.values()) for total in class_totals(data, 2)]
        finest = 1 / (2 * units[0] * units[1] * metric.max_fpr.numerator)
        check_penalty(audit, Fraction(1), finest, 2**44)


def check_counts(audit: Audit, data: Data, walk: Walk, *, any_label: bool) -> None:
    """Compare the class counts of all nodes, and check that each leaf has its best label.

    For a metric, or a limit on the whole tree, the best label may differ from the majority.
    """
    tree, values = walk.tree, walk.tree.values
    check_node_rows(audit, data, walk, [ClassPositions(data.classes, len(values))])
    check_no_notes(audit, walk)
    if any_label:
        return
    for leaf in walk.leaves:
        costs: list[Exact] = [0] * len(values)
        for row in walk.rows[leaf]:
            costs[data.classes[row]] += data.weights[row]
        if costs[tree.label[leaf]] < max(costs) - data.slack:
            best = values[costs.index(max(costs))]
            audit.differ(
                f"label of leaf {leaf}: {tree.value(leaf)!r}, but {best!r} has more weight"
            )
    audit.done("labels of all leaves")


def check_own_size(audit: Audit, walk: Walk) -> None:
    """Compare the size of the tree with the certificate and with its limits."""
    audit.compare("depth of the tree", audit.certificate.depth, walk.depth)
    audit.compare("number of splits", audit.certificate.n_splits, walk.n_splits)
    check_size(audit, walk, audit.certificate)
    audit.done("limits on depth, splits and rows per leaf")


def errors_of(data: Data, walk: Walk) -> Exact:
    """Return the weight of the rows that a tree gets wrong, or what its labels cost."""
    label = walk.tree.label
    return sum(data.lost(row, label[leaf]) for leaf in walk.leaves for row in walk.rows[leaf])


def check_cost(audit: Audit, data: Data, walk: Walk) -> Exact:
    """Compare errors, cost and objective, and return the cost."""
    certificate = audit.certificate
    errors = errors_of(data, walk)
    n_leaves = max(sum(1 for leaf in walk.leaves if walk.rows[leaf]), 1)
    n_paid = n_leaves if certificate.complexity_per == "leaf" else walk.n_splits
    cost = errors + n_paid * certificate.split_penalty
    audit.compare_within("weighted errors", certificate.leaf_cost, errors, data.slack)
    audit.compare_within("cost", certificate.cost, cost, data.slack)
    parts = certificate.leaf_cost + n_paid * certificate.split_penalty
    audit.compare("sum of errors and penalty", parts, certificate.cost)
    mean = cost / data.total()
    objective = float(1 - mean if data.prices is None else mean)
    if not is_close(certificate.objective, objective):
        audit.compare("objective", certificate.objective, objective)
    check_no_confusion(audit)
    audit.done("errors, cost and objective, in exact arithmetic")
    return exact(cost)


def error_amounts(data: Data, n_classes: int) -> list[list[tuple[Fraction]]]:
    """Return what each label costs each row."""
    return [[(Fraction(data.lost(row, label)),) for label in range(n_classes)] for row in data.rows]


def _cost_of_leaf(
    data: Data, n_classes: int, per_leaf: Fraction | int = 0
) -> Callable[[Sequence[int]], Fraction]:
    """Return what tells the cost of a leaf with its best label, given the places of its rows."""
    amounts = error_amounts(data, n_classes)

    def leaf(places: Sequence[int]) -> Fraction:
        costs = (sum(amounts[place][k][0] for place in places) for k in range(n_classes))
        return Fraction(min(costs) + per_leaf)

    return leaf


def check_optimum(audit: Audit, data: Data, n_classes: int) -> None:
    """Prove the optimum again by brute force, over all candidates."""
    certificate = audit.certificate
    penalty = Fraction(certificate.split_penalty)
    amounts = error_amounts(data, n_classes)
    sizes = TreeSizes.of(certificate)
    if any(test["kind"] == "multiway" for test in data.tests):
        per_leaf = penalty if certificate.complexity_per == "leaf" else Fraction(0)
        leaf = _cost_of_leaf(data, n_classes, per_leaf)
        best = least_cost(all_tests(data), len(amounts), leaf, penalty - per_leaf, sizes)
    else:
        best = min(point[0] for point in label_points(all_tests(data), amounts, [penalty], sizes))
        best += penalty if certificate.complexity_per == "leaf" else 0
    if not certificate.lower_bound - data.slack <= best <= certificate.cost + data.slack:
        audit.differ(
            f"optimum: the best tree costs {text(best)}, outside of the certified bounds "
            f"{text(certificate.lower_bound)} to {text(certificate.cost)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")
