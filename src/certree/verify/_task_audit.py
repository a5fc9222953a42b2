"""Check the certificates of tasks: costs, rewards, squared errors and prices of tests.

Everything is recomputed from the user's own numbers, in exact fractions. Where the search had to
round, the certificate bounds the effect. `_rounding_rules` bounds what the certificate may claim,
and no larger difference is accepted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from certree.exceptions import CertificateError

from ._attributes import Facts, check_attributes
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
from ._brute_force import Charges, TreeSizes, label_points, least_cost
from ._consistency import check_bounds, check_no_confusion, check_parameters
from ._label_units import check_unit_in_leaves
from ._leaf_costs import Leaves
from ._leaves import leaves_of_estimator, leaves_of_task
from ._metric_audit import all_tests
from ._path_audit import check_path, check_whole_path
from ._plain_numbers import (
    Exact,
    common_unit,
    float_or_infinite,
    is_close,
    read,
    share_explained,
    show,
)
from ._prices import read_charges
from ._rounding_rules import (
    allowed_for_function,
    allowed_for_labels,
    allowed_for_quantiles,
    allowed_for_squares,
)
from ._shown import check_node_costs, check_shown, quiet
from ._stated_weights import (
    are_short,
    check_penalty,
    check_quantum,
    cost_range,
    stated_class_weights,
)

# A tree is not optimal if rounding is more than this share of the cost of a single leaf.
_NEGLIGIBLE = Fraction(1, 2**10)


def check_task(model: Any, given: GivenRows, **more: bool) -> Checked:
    """Check an estimator or a solution whose certificate is that of a task.

    `more` says in what candidates may differ, as for `Candidates.differences`.
    """
    estimator, certificate, tree = unpack(model)
    audit = Audit(certificate, estimator.get_params(deep=False))
    data = read_rows(given.X, given.sample_weight)
    task = task_of(estimator, given)
    leaves = _leaves(estimator, task, data, given).as_noted(tree)
    check_parameters(audit, leaves.name, leaves.more_rows)
    encoder = encoder_of(model, estimator)
    data, charges = check_rows(audit, data, encoder, leaves, **more)
    data = replace(data, labels=leaves.labels)
    slack = _check_rounding(audit, data, leaves, charges, task)
    walk = walk_down(audit, data, tree)
    audit.done("the leaf of every row, by questions that are candidates")
    audit.compare("depth of the tree", certificate.depth, walk.depth)
    audit.compare("number of splits", certificate.n_splits, walk.n_splits)
    check_size(audit, walk, certificate)
    _check_rows_in_leaves(walk)
    if (certificate.rounding > 0 or leaves.of_groups) and certificate.unit > 0:
        places = [data.rows, *(walk.rows[leaf] for leaf in walk.leaves)]
        check_unit_in_leaves(audit, leaves, places, certificate.rounding)
    slack += _noise(leaves, walk)
    cost = _check_cost(audit, data, leaves, walk, charges, slack)
    check_bounds(audit)
    check_predictions(audit, leaves.predict or model.predict, given.X, walk, leaves.says)
    check_shown(audit, data, walk, leaves, slack=slack)
    check_node_costs(audit, data, walk, leaves, estimator, slack)
    if leaves.inspect is not None:
        leaves.inspect(audit, tree, walk)
    check_attributes(estimator, Facts(audit, data.names, leaves.labels, leaves, given))
    path = model.path if hasattr(model, "path") else getattr(model, "_path", None)

    def show(walk: Walk) -> None:
        _check_rows_in_leaves(walk)
        check_shown(quiet(audit), data, walk, leaves, "tree of the path", slack)

    if charges is None:
        check_path(
            audit,
            data,
            path,
            show,
            lambda w: _leaf_cost(audit, leaves, w)[0],
            leaves.objective,
            slack,
            float_or_infinite(2 * slack / leaves.whole) if leaves.whole else 0.0,
        )
    audit.raise_if_different()
    if given.exhaustive:
        _check_optimum(audit, data, leaves, walk, charges)
        if charges is None:
            rows = data.rows

            def leaf(places: Sequence[int]) -> Fraction:
                return leaves.least([rows[place] for place in places])

            off = certificate.rounding + 2 * slack
            check_whole_path(audit, data, path, leaf, off)
        audit.raise_if_different()
    return Checked(audit, cost, len(data.rows))


def unpack(model: Any) -> tuple[Any, Any, Any]:
    """Return the estimator of a model or solution, its certificate and its tree."""
    if hasattr(model, "certificate_"):
        return model, model.certificate_, getattr(model, "tree_", None)
    if getattr(model, "_model", None) is None:
        raise ValueError("verify needs a solution that solve returned, not one made by hand.")
    return model._model, model.certificate, model.tree


def encoder_of(model: Any, estimator: Any) -> Any:
    """Return the encoder that a user sees."""
    return model.encoder if hasattr(model, "encoder") else estimator.encoder_


def task_of(estimator: Any, given: GivenRows) -> Any:
    """Return the task of a solution; None, if the estimator has none."""
    if type(estimator).__name__ != "TaskTree":
        return None
    task = estimator.task if given.task is None else given.task
    if task is None:
        raise ValueError(
            "The solution was pickled without its task, which has functions that a pickle cannot "
            "keep; pass it as verify(..., task=...)."
        )
    return task


def _leaves(estimator: Any, task: Any, data: Data, given: GivenRows) -> Leaves:
    if task is not None:
        return leaves_of_task(task, data, given)
    return leaves_of_estimator(estimator, data, given)


# ---- the checks --------------------------------------------------------------------------------


def check_rows(
    audit: Audit, data: Data, encoder: Any, leaves: Leaves | None = None, **more: bool
) -> tuple[Data, Charges | None]:
    """Compare rows, weights and candidates with the certificate, and read prices of tests.

    The leaves say what trees cost at least, and what classes weigh.
    """
    certificate, least = audit.certificate, leaves.paid_by_all(data) if leaves else 0
    stated = audit.parameters.get("test_costs")
    most = cost_range(data.n_rows, audit.sizes) // 2**12
    # Weights with many digits are rounded for prices, so that these keep theirs.
    check_quantum(audit, data, most, may_be_short=stated is not None)
    exactly = certificate.weight_quantum is None
    is_short = are_short(data.weights, cost_range(data.n_rows, audit.sizes))
    data = with_candidates(audit, data, encoder, is_short, least, **more)
    check_n_tests(audit, data)
    audit.compare("number of rows", certificate.n_rows, len(data.rows))
    check_total_weight(audit, data, leaves, exactly=exactly)
    if stated is None:
        return data, None
    return data, read_charges(stated, len(data.table.columns), data.table.names)


def check_total_weight(audit: Audit, data: Data, leaves: Leaves | None, *, exactly: bool) -> None:
    """Compare the weight of all rows, which includes that of their classes, and the latter."""
    total = data.total()
    if leaves is None or leaves.class_weights is None:
        audit.compare("class weights", audit.certificate.class_weights, None)
    else:
        stated_class_weights(audit, leaves.class_weights)
        total = leaves.whole
    # Weights with many digits are added up as float64.
    slack = 0 if exactly else total / 10**12
    audit.compare_within("total weight", audit.certificate.total_weight, total, slack)


def _check_rounding(
    audit: Audit, data: Data, leaves: Leaves, charges: Charges | None, task: Any
) -> Exact:
    """Check that the certificate claims no more rounding than necessary; return it."""
    certificate = audit.certificate
    if leaves.allowed is not None:
        allowed = leaves.allowed(certificate)
    elif leaves.amounts is not None:
        allowed = allowed_for_labels(data, leaves, audit, charges)
    elif leaves.slopes is not None:
        allowed = allowed_for_quantiles(data, leaves, certificate)
    elif leaves.target is not None:
        allowed = allowed_for_squares(data, leaves, certificate)
    else:
        allowed = allowed_for_function(data, leaves, certificate, task)
    check_rounding(audit, certificate.rounding, allowed)
    _check_precision(audit, data, leaves)
    _check_unit(audit, data, leaves, charges)
    unit = certificate.unit if certificate.unit > 0 else 1
    if leaves.whole:
        _check_penalty(audit, data, leaves, Fraction(unit))
    audit.done("rounding, unit and penalty, from the data")
    return Fraction(min(certificate.rounding, allowed))


def _check_precision(audit: Audit, data: Data, leaves: Leaves) -> None:
    """Check that no tree is called optimal if rounding is too large for that."""
    certificate = audit.certificate
    if certificate.status != "optimal" or (leaves.amounts is None and leaves.target is None):
        return
    if leaves.of_groups:
        # What trees pay at least is what groups do, and rounding is bounded by what they differ by.
        return
    above = leaves.least(data.rows) - leaves.paid_by_all(data)
    if above > certificate.rounding > 2 * above * _NEGLIGIBLE:
        audit.differ("status is 'optimal', but rounding is more than is negligible")


def _check_penalty(audit: Audit, data: Data, leaves: Leaves, unit: Fraction) -> None:
    """Check that the penalty is the one asked for: exactly, if it is a multiple of the unit."""
    certificate = audit.certificate
    wanted = read(audit.parameters["complexity"], "complexity") * leaves.whole
    exactly = are_short(data.weights, cost_range(data.n_rows, audit.sizes))
    fits = (wanted / unit).denominator == 1 and wanted < unit * 2**40
    if leaves.target is None and exactly and fits:
        check_penalty(audit, leaves.whole, 0, 1)
        return
    slack = leaves.whole / 2**20 + certificate.rounding
    audit.compare_within("penalty", certificate.split_penalty, wanted, slack)


def check_rounding(audit: Audit, rounding: Exact, allowed: Exact, what: str = "rounding") -> None:
    """Check that a rounding is at least 0 and at most the allowed one."""
    if rounding < 0:
        audit.differ(f"{what}: certified {show(rounding)}, which is negative")
    elif rounding > allowed:
        audit.differ(
            f"{what}: certified {float(rounding):.6g}, but at most {float(allowed):.6g} is lost by "
            "rounding these numbers"
        )


def _check_unit(audit: Audit, data: Data, leaves: Leaves, charges: Charges | None) -> None:
    """Check that costs are multiples of the unit, apart from the cost that every tree pays."""
    certificate = audit.certificate
    if certificate.unit <= 0:
        audit.differ(f"unit: certified {show(certificate.unit)}, which must be positive")
        return
    multiples = {Fraction(certificate.gap)}
    if certificate.rounding == 0 and leaves.amounts is not None and not leaves.of_groups:
        for row, line in leaves.amounts.items():
            multiples |= {data.weights[row] * (cost - min(line)) for cost in line}
        if charges is not None:
            prices = {*charges.price, *charges.discounted}
            multiples |= {w * price for w in set(data.weights.values()) for price in prices}
    else:
        multiples.add(Fraction(certificate.test_cost))
        if leaves.amounts is None:
            # What every tree pays for labels, by rounded weights, is no multiple. What trees
            # differ by is compared leaf by leaf (`_label_units`).
            multiples.add(Fraction(certificate.leaf_cost))
    if certificate.rounding == 0 and leaves.slopes is not None and leaves.target is not None:
        # A best value is that of a row, so losses are sums of differences of targets.
        first, level = min(leaves.target.values()), Fraction(1, max(sum(leaves.slopes), 1))
        share = level if leaves.name == "quantile" else Fraction(1)
        for row, number in leaves.target.items():
            off = data.weights[row] * (number - first) * share
            multiples |= {off * slope for slope in leaves.slopes}
    if any((multiple / certificate.unit).denominator != 1 for multiple in multiples):
        audit.compare("unit", certificate.unit, common_unit(multiples))


def _children_of_multiway(walk: Walk) -> set[int]:
    """Return the nodes that are outcomes of multiway tests, which may have no rows."""
    tree = walk.tree
    return {
        child
        for node, children in enumerate(tree.children)
        if children and tree.tests[tree.asked[node]]["kind"] == "multiway"
        for child in children
    }


def _check_rows_in_leaves(walk: Walk) -> None:
    """Raise if a leaf has no rows, and is no outcome of a multiway test."""
    for leaf in set(walk.leaves) - _children_of_multiway(walk):
        if not walk.rows[leaf]:
            raise CertificateError(f"leaf {leaf} of the tree has no rows.")


def _leaf_cost(audit: Audit, leaves: Leaves, walk: Walk) -> tuple[Fraction, Fraction]:
    """Return the cost of the leaves of a tree, and how much lower it could be."""
    total = lost = Fraction(0)
    for leaf in walk.leaves:
        rows, value = walk.rows[leaf], walk.tree.value(leaf)
        if not rows:
            continue  # an outcome that no row has at this node
        cost, least = leaves.of(rows, value), leaves.least(rows)
        total, lost = total + cost, lost + cost - least
    return total, lost


def _noise(leaves: Leaves, walk: Walk) -> Fraction:
    parts = (leaves.noise(walk.rows[leaf]) for leaf in walk.leaves if walk.rows[leaf])
    return sum(parts, Fraction(0))


def _check_cost(
    audit: Audit,
    data: Data,
    leaves: Leaves,
    walk: Walk,
    charges: Charges | None,
    slack: Fraction,
) -> Fraction:
    """Compare the cost of the tree with the certificate, and return it."""
    certificate = audit.certificate
    total, lost = _leaf_cost(audit, leaves, walk)
    if lost > 2 * slack:
        audit.differ(f"leaves could cost {show(lost)} less with other predictions")
    audit.done("the prediction of every leaf is its best")
    paid = Fraction(0) if charges is None else paid_for_tests(audit, data, walk, charges)
    n_paid = walk.n_splits + (certificate.complexity_per == "leaf")
    penalty = n_paid * Fraction(certificate.split_penalty)
    parts = certificate.leaf_cost + certificate.test_cost + penalty
    audit.compare("sum of leaf cost, test cost and penalty", parts, certificate.cost)
    cost = Fraction(total + paid + penalty)
    audit.compare_within("leaf cost", certificate.leaf_cost, total, slack)
    audit.compare_within("test cost", certificate.test_cost, paid, slack)
    audit.compare_within("cost", certificate.cost, cost, slack)
    check_objective(audit, certificate.objective, leaves, cost, slack)
    check_no_confusion(audit)
    audit.done("cost and objective, in exact arithmetic")
    return cost


def check_objective(
    audit: Audit, stated: float, leaves: Leaves, cost: Fraction, slack: Fraction
) -> None:
    """Compare the value in the user's terms."""
    objective = leaves.objective(cost)
    lost = 2 * abs(leaves.objective(cost + slack) - objective)
    if leaves.labels is None and leaves.objective(Fraction(0)) == 1:
        # A share that is explained has the rounding above and below the line of its fraction.
        whole = leaves.whole
        if slack and whole <= slack:
            return
        costs, wholes = (cost - slack, cost + slack), (whole - slack, whole + slack)
        shares = [share_explained(one, other) for one in costs for other in wholes]
        if min(shares) <= stated <= max(shares):
            return
    if not is_close(stated, objective, lost + 1e-9 * abs(objective)):
        audit.compare("objective", stated, objective)


def paid_for_tests(audit: Audit, data: Data, walk: Walk, charges: Charges) -> Fraction:
    """Return the price of tests for all rows, given the measurements above each node."""
    made: dict[int, frozenset[int]] = {0: frozenset()}
    total = Fraction(0)
    for node in sorted(walk.rows, key=lambda node: walk.depths[node]):
        if walk.tree.asked[node] < 0:
            continue
        column = walk.tree.tests[walk.tree.asked[node]]["feature"]
        total += charges.price_of(column, made[node]) * data.weight(walk.rows[node])
        for child in walk.tree.children[node]:
            made[child] = made[node] | {charges.measurement[column]}
    audit.done("prices of all tests, with what was paid before")
    return total


def _check_optimum(
    audit: Audit, data: Data, leaves: Leaves, walk: Walk, charges: Charges | None
) -> None:
    """Prove the optimum again by brute force, over all candidates."""
    certificate = audit.certificate
    penalty, rows = Fraction(certificate.split_penalty), data.rows
    sizes = TreeSizes.of(certificate)
    if leaves.amounts is None or leaves.outputs:
        best = least_cost(
            all_tests(data),
            len(rows),
            lambda places: leaves.least([rows[i] for i in places]),
            penalty,
            sizes,
        )
    else:
        amounts = [[(data.weights[row] * a,) for a in leaves.amounts[row]] for row in rows]
        weights = [Fraction(data.weights[row]) for row in rows]
        points = label_points(
            all_tests(data), amounts, [penalty], sizes, charges=charges, weights=weights
        )
        best = min(point[0] for point in points)
    best += penalty if certificate.complexity_per == "leaf" else 0
    slack = certificate.rounding + 2 * _noise(leaves, walk)
    compare_optimum(audit, best, certificate, slack)


def compare_optimum(audit: Audit, best: Fraction, certificate: Any, slack: Exact) -> None:
    """Check that the best of all trees is within the certified bounds."""
    low, high = certificate.lower_bound, certificate.cost
    if not low - slack <= best <= high + slack:
        audit.differ(
            f"optimum: the best tree costs {show(best)}, outside of the certified bounds "
            f"{show(low)} to {show(high)}"
        )
    audit.done(f"optimum {show(best)}, by trying all trees")
