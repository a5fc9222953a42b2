"""Check a model by sums over the rows of each leaf, which a reduced table or one query gives.

Rows that share leaf, class and sensitive group are one cell: how many they are, what they weigh,
and the sums of their costs or squared errors. The rules that are checked are those for single rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._attributes import Facts, check_attributes, stated_classes, stated_list
from ._audit import (
    Audit,
    Checked,
    Data,
    GivenRows,
    PlainTree,
    Walk,
    check_identifiers,
    check_labels,
    check_names,
    check_size,
)
from ._brute_force import Charges
from ._candidates import outcome_of, plain_test
from ._consistency import check_bounds, check_no_confusion, check_parameters, check_searched
from ._errors import check_cost, check_counts, read_prices
from ._fair_audit import Fair, _check_constraint, _check_pairs, _check_rates
from ._fair_groups import rates_to_compare
from ._leaf_costs import Leaves
from ._leaves import label_leaves, leaves_of_estimator
from ._limits_audit import _check_dual, _check_stated_limits
from ._limits_audit import _check_tree as _check_limited_tree
from ._limits_brute_force import check_single_leaves
from ._limits_read import LimitedTask, read_asked
from ._metric_audit import check_metric_cost, metric_of
from ._notes import Note, RowsOf, deviation
from ._plain_numbers import Exact, exact, last_bits, plain_list, read
from ._plain_times import nanoseconds_of_array
from ._prices import read_charges
from ._raw_table import Column, RawTable
from ._shown import check_node_costs, check_shown, has_labels
from ._stated_weights import stated_class_weights, wanted_class_weights, with_all_classes
from ._task_audit import _check_cost as check_task_cost
from ._task_audit import _noise as noise_of_leaves

# Rounding is negligible up to this share of what trees can differ by.
_NEGLIGIBLE = Fraction(1, 2**10)


@dataclass
class Cell:
    """The rows that share leaf, class and group.

    Attributes
    ----------
    leaf, n_rows : int
        Their leaf, and how many they are.
    weight : Fraction
        What they weigh.
    label, group : object
        Their class and their group, if they have one.
    costs : list of Fraction
        The sum of the costs of each label.
    ends : tuple of Fraction
        The sum of the least, and of the greatest cost of each row.
    off, square : Fraction
        Sums of the target less what the leaf predicts, and of the square of that.
    size : Fraction
        The sum of the sizes of what was added up as float64; 0 if sums are exact.
    best : int or None
        The place of the label that is best for each of them, where the rows have costs.
    """

    leaf: int
    n_rows: int
    weight: Fraction
    label: Any = None
    group: Any = None
    costs: Sequence[Fraction] = ()
    ends: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    off: Fraction = Fraction(0)
    square: Fraction = Fraction(0)
    size: Fraction = Fraction(0)
    best: int | None = None


def check_has_leaves(model: Any) -> None:
    """Refuse what sums over the rows of leaves do not tell enough about."""
    stated = getattr(model, "certificate_", model)
    kind = type(stated).__name__
    if kind not in ("Certificate", "TaskCertificate", "FairnessCertificate", "LimitedCertificate"):
        raise ValueError(
            f"A {kind} cannot be verified by sums over leaves; pass the rows themselves."
        )
    if getattr(model, "tree_", None) is None:
        raise ValueError(
            "There is no tree to verify by sums over leaves; pass the rows themselves."
        )
    if kind == "LimitedCertificate" and stated.positives is not None:
        raise ValueError(
            f"{stated.task} within limits cannot be verified by sums over leaves; pass the rows."
        )
    if getattr(model, "n_outputs_", 1) > 1:
        raise ValueError("Several outputs cannot be verified by sums over leaves; pass the rows.")


def check_cells(
    model: Any, cells: Sequence[Cell], names: Sequence[str], encoder: Any = None
) -> Checked:
    """Check the certificate of a model by the cells of its rows.

    Parameters
    ----------
    model : estimator
        The model.
    cells : sequence of Cell
        All rows.
    names : sequence of str
        The columns of the table.
    encoder : object, optional
        What the tree may ask, its ``candidates_``, if that is known, and the columns like an
        identifier.

    Raises
    ------
    CertificateError
        If something differs.
    """
    if not cells:
        raise ValueError("The table has no rows (of positive weight).")
    certificate = model.certificate_
    kind = type(certificate).__name__
    parameters = {"objective": "accuracy", **model.get_params(deep=False)}
    audit = Audit(certificate, parameters)
    walk = _walk(model.tree_, cells)
    if len(names) != walk.tree.n_columns:
        audit.compare("number of columns", walk.tree.n_columns, len(names))
        audit.raise_if_different()
    check_names(audit, names, walk.tree)
    audit.compare("number of rows", certificate.n_rows, sum(cell.n_rows for cell in cells))
    _check_limits(audit, walk, cells)
    if encoder is not None:
        _check_tests(audit, walk, encoder.candidates_)
        check_identifiers(audit, encoder.identifiers_)
    data = Data(
        RawTable([Column(range(len(cells)), "number")], None, False),
        {place: exact(cell.weight) for place, cell in enumerate(cells)},
        behind={place: cell.n_rows for place, cell in enumerate(cells)},
    )
    cost: Exact
    if kind == "LimitedCertificate":
        cost = _check_limited(audit, data, walk, model, cells)
    elif kind == "TaskCertificate":
        cost = _check_task(audit, data, walk, model, cells)
    else:
        cost = _check_classes(audit, data, walk, model, cells)
    check_bounds(audit)
    check_attributes(model, Facts(audit, names, walk.tree.values if has_labels(walk) else None))
    audit.raise_if_different()
    return Checked(audit, cost, certificate.n_rows)


def _walk(tree: Any, cells: Sequence[Cell]) -> Walk:
    """Return the cells that pass each node."""
    plain = PlainTree.of(tree)
    depths, above = {0: 0}, {}
    stack = [0]
    while stack:
        node = stack.pop()
        for child in plain.children[node]:
            if child in depths:
                raise CertificateError(f"node {child} of the tree is reached twice.")
            depths[child], above[child] = depths[node] + 1, node
            stack.append(child)
    rows: dict[int, list[int]] = {node: [] for node in depths}
    for place, cell in enumerate(cells):
        at = cell.leaf
        rows[at].append(place)
        while at:
            at = above[at]
            rows[at].append(place)
    return Walk(plain, rows, depths)


def _check_tests(audit: Audit, walk: Walk, candidates: Any) -> None:
    """Check that the tree asks candidates."""
    n_columns = walk.tree.n_columns
    allowed = [plain_test(test, n_columns) for test in candidates]
    for test in walk.tree.tests:
        if test not in allowed:
            audit.differ(f"the tree asks a test of column {test['name']!r} that is no candidate")
    audit.done("the tests of the tree are candidates of the reduced table")


def _check_penalty(audit: Audit, whole: Exact, slack: Exact = 0) -> None:
    """Check that the penalty is the one asked for, up to the rounding of the search."""
    wanted = read(audit.parameters["complexity"], "complexity") * whole
    stated = audit.certificate.split_penalty
    audit.compare_within("penalty", stated, wanted, wanted / 2**20 + slack)


def _check_limits(audit: Audit, walk: Walk, cells: Sequence[Cell]) -> None:
    certificate = audit.certificate
    audit.compare("depth of the tree", certificate.depth, walk.depth)
    audit.compare("number of splits", certificate.n_splits, walk.n_splits)
    check_size(audit, walk, replace(certificate, min_samples_leaf=1))
    for leaf in walk.leaves:
        n_rows = sum(cells[place].n_rows for place in walk.rows[leaf])
        if walk.n_splits and n_rows < certificate.min_samples_leaf:
            audit.differ(
                f"leaf {leaf} has {n_rows} rows, fewer than "
                f"min_samples_leaf={certificate.min_samples_leaf}"
            )
    audit.done("number of rows, and limits on depth, splits and rows per leaf")


def _check_classes(
    audit: Audit, data: Data, walk: Walk, model: Any, cells: Sequence[Cell]
) -> Exact:
    """Check weighted errors, a metric of them, and rates of groups."""
    certificate, labels = audit.certificate, stated_classes(model)
    _check_target(cells)
    metric = metric_of(audit.parameters["objective"])
    has_prices = audit.parameters.get("cost_matrix") is not None
    check_parameters(audit, "cost" if has_prices else metric.name)
    data = with_all_classes(data, [cell.label for cell in cells], labels)
    check_labels(audit, labels, walk.tree)
    if certificate.weight_quantum is not None:
        raise ValueError("Weights that were rounded cannot be verified by sums; pass the rows.")
    used = stated_class_weights(audit, wanted_class_weights(audit.parameters, data, labels))
    weights = {row: exact(weight * used[data.classes[row]]) for row, weight in data.weights.items()}
    prices = read_prices(audit.parameters)
    data = replace(data, weights=weights, prices=prices, given=data.sample_weights)
    audit.compare("total weight", certificate.total_weight, exact(data.total()))
    is_fair = type(certificate).__name__ == "FairnessCertificate"
    check_counts(audit, data, walk, any_label=is_fair or not metric.counts_errors)
    _check_penalty(audit, data.total() if metric.counts_errors else 1)
    if is_fair and certificate.constraint is not None:
        _check_groups(Fair(audit, data, labels, (), metric), walk, cells)
    if not metric.counts_errors:
        return check_metric_cost(audit, data, walk, metric, labels)
    return check_cost(audit, data, walk)


def _check_target(cells: Sequence[Cell]) -> None:
    if any(cell.label is None for cell in cells):
        raise ValueError("y must be passed: the target column, with a value in every row.")


def _check_groups(fair: Fair, walk: Walk, cells: Sequence[Cell]) -> None:
    """Check the rates of the groups."""
    groups = {place: cell.group for place, cell in enumerate(cells)}
    if any(group is None for group in groups.values()):
        raise ValueError("sensitive_features must be passed: the columns of the groups.")
    audit = fair.audit
    _check_constraint(audit)
    given = GivenRows(None, sample_weight=[cell.weight for cell in cells])
    compared = rates_to_compare(audit, fair.data, groups, given, fair.labels)
    _check_pairs(audit, compared)
    _check_rates(replace(fair, compared=compared), walk)


# ---- tasks -------------------------------------------------------------------------------------


def _check_task(
    audit: Audit, data: Data, walk: Walk, model: Any, cells: Sequence[Cell]
) -> Fraction:
    """Check the cost of the leaves of a task."""
    certificate = audit.certificate
    leaves = _leaves(model, data, cells)
    if leaves.labels is not None:
        check_labels(audit, leaves.labels, walk.tree)
    check_parameters(audit, leaves.name)
    noise = _check_weight(audit, data, cells)
    allowed = _apart(leaves, data, cells)
    if certificate.status != "precision":
        allowed *= _NEGLIGIBLE
    slack = min(Fraction(certificate.rounding), allowed) + noise
    _check_penalty(audit, leaves.whole, slack)
    check_no_confusion(audit)
    slack += noise_of_leaves(leaves, walk)
    cost = check_task_cost(audit, data, leaves, walk, _charges(model, walk), slack)
    check_shown(audit, data, walk, leaves, slack=slack)
    # Where rows have costs, sums do not tell what each costs at least.
    seen = replace(leaves, of_groups=bool(cells[0].costs))
    check_node_costs(audit, data, walk, seen, model, slack)
    return cost


def _apart(leaves: Leaves, data: Data, cells: Sequence[Cell]) -> Fraction:
    """Return how far apart the costs of two trees can be, at most."""
    if leaves.amounts is None:
        return leaves.whole
    if cells[0].costs:
        return sum((cell.ends[1] - cell.ends[0] for cell in cells), Fraction(0))
    lines = leaves.amounts.items()
    return sum((data.weights[row] * (max(line) - min(line)) for row, line in lines), Fraction(0))


def _check_weight(audit: Audit, data: Data, cells: Sequence[Cell]) -> Fraction:
    """Check the weight of all rows; return how far sums of float64 may be off."""
    n_terms = sum(cell.n_rows for cell in cells)
    noise = sum((cell.size for cell in cells), Fraction(0)) * last_bits(n_terms)
    audit.compare_within("total weight", audit.certificate.total_weight, data.total(), noise)
    return noise


def _charges(model: Any, walk: Walk) -> Charges | None:
    """Return the prices of tests."""
    stated = getattr(model, "test_costs", None)
    return None if stated is None else read_charges(stated, walk.tree.n_columns, walk.tree.columns)


def _check_limited(
    audit: Audit, data: Data, walk: Walk, model: Any, cells: Sequence[Cell]
) -> Fraction:
    """Check a tree within limits on how many rows get a label, or on what labels cost together."""
    for name in ("limits", "min_treated"):
        if getattr(model, name, None) is not None:
            raise ValueError(
                f"{name} may speak of single rows, so that sums over leaves do not tell whether "
                "it is kept; pass the rows themselves."
            )
    certificate, leaves = audit.certificate, _leaves(model, data, cells)
    check_labels(audit, leaves.labels or (), walk.tree)
    audit.compare("task", certificate.task, leaves.name)
    check_searched(audit)
    noise = _check_weight(audit, data, cells)
    _check_penalty(audit, leaves.whole, Fraction(certificate.rounding) + noise)
    asked = read_asked(model, data, leaves.labels or ())
    # The rows of every leaf were counted before; a cell stands for many.
    eased = replace(certificate, min_samples_leaf=1, rounding=exact(certificate.rounding + noise))
    problem = LimitedTask(
        replace(audit, certificate=eased),
        data,
        [leaves],
        asked.totals,
        asked.minimum,
        _charges(model, walk),
    )
    _check_stated_limits(problem)
    cost = _check_limited_tree(problem, walk)
    check_shown(audit, data, walk, leaves, slack=Fraction(certificate.rounding) + noise)
    _check_dual(problem)
    check_single_leaves(problem)
    return cost


def _leaves(model: Any, data: Data, cells: Sequence[Cell]) -> Leaves:
    """Return what leaves cost, by the estimator."""
    is_policy, listed = is_a(model, "PolicyTree"), len(cells[0].costs)
    if adds_squares(model):
        _check_target(cells)
        return _square_leaves(cells, data)
    n_labels = len(model.treatments_ if is_policy else model.classes_) if listed or is_policy else 0
    if listed != n_labels:
        raise ValueError(
            f"costs must name {n_labels} columns, one for each label or treatment, got {listed}."
        )
    if listed:
        leaves = (_reward_leaves if is_policy else _cost_leaves)(model, data, cells)
        return _counted(leaves, model, cells)
    _check_target(cells)
    return leaves_of_estimator(model, data, GivenRows(None, [cell.label for cell in cells]))


def _cost_leaves(model: Any, data: Data, cells: Sequence[Cell]) -> Leaves:
    """Return leaves whose cost is the sum of costs per row and label."""
    return label_leaves("cost", data, plain_list(model.classes_), _per_weight(cells))


def _counted(leaves: Leaves, model: Any, cells: Sequence[Cell]) -> Leaves:
    """Return leaves with what rows are counted by: their class, or the label best for them.

    Rows that were reduced before the tree was grown are counted by what they get.
    """
    labels = list(leaves.labels or ())
    if all(cell.label in labels for cell in cells):
        counted = {place: labels.index(cell.label) for place, cell in enumerate(cells)}
        return replace(leaves, counted=counted)
    if model.tree_.notes is None or any(cell.best is None for cell in cells):
        return leaves
    best = {place: cell.best for place, cell in enumerate(cells) if cell.best is not None}
    return replace(leaves, counted=best, counts_best=True)


def is_a(model: Any, *names: str) -> bool:
    return any(cls.__name__ in names for cls in type(model).__mro__)


def adds_squares(model: Any) -> bool:
    """Return whether leaves cost the squared error of one output."""
    return is_a(model, "OptimalTreeRegressor") and model.criterion == "squared_error"


def refuse_rows_needed(model: Any) -> None:
    """Raise if the cost of a leaf depends on more than sums over cells."""
    several = getattr(model, "n_outputs_", 1) > 1
    needs = ("LinearTreeRegressor", "SurvivalTree", "OptimalTreeClusterer")
    if several or is_a(model, *needs):
        what = " with several outputs" if several else ""
        raise ValueError(
            f"{type(model).__name__}{what} cannot be verified by sums over leaves; pass the rows "
            "themselves, in memory."
        )


def _per_weight(cells: Sequence[Cell]) -> Mapping[int, list[Fraction]]:
    """Return the mean cost of each label in every cell."""
    return {place: [cost / cell.weight for cost in cell.costs] for place, cell in enumerate(cells)}


def _reward_leaves(model: Any, data: Data, cells: Sequence[Cell]) -> Leaves:
    """Return leaves whose cost is the regret."""
    sign = -1 if model.maximise else 1
    best = [sign * cell.ends[1 if model.maximise else 0] for cell in cells]
    regret = {
        place: [(sign * cost - best[place]) / cell.weight for cost in cell.costs]
        for place, cell in enumerate(cells)
    }
    total = sum(best, Fraction(0))

    def mean(cost: Fraction) -> float:
        return float(sign * (cost + total) / data.total())

    return label_leaves("reward", data, plain_list(model.treatments_), regret, mean)


def _square_leaves(cells: Sequence[Cell], data: Data) -> Leaves:
    """Return leaves that cost the squared error around what they predict."""

    def of(rows: Sequence[int], value: Any) -> Fraction:
        return sum((cells[row].square for row in rows), Fraction(0))

    def least(rows: Sequence[int]) -> Fraction:
        return _whole_square([cells[row] for row in rows])

    def score(cost: Fraction) -> float:
        return float(1 - cost / whole) if whole else 1.0

    def note(rows: Sequence[int], off: Fraction) -> Note:
        weight = data.weight(rows)
        spread = deviation(least(rows), weight, off)
        return ["mean of ", RowsOf(), ", deviation ", spread]

    whole = _whole_square(cells)
    return Leaves("squared_error", of, least, score, whole, note=note)


def _whole_square(cells: Sequence[Cell]) -> Fraction:
    """Return the squared error of some rows around their mean."""
    weight = sum((cell.weight for cell in cells), Fraction(0))
    total = sum((cell.off + cell.weight * cell.label for cell in cells), Fraction(0))
    mean = total / weight
    parts = (
        cell.square + 2 * (cell.label - mean) * cell.off + cell.weight * (cell.label - mean) ** 2
        for cell in cells
    )
    return sum(parts, Fraction(0))


# ---- cells of a reduced table ------------------------------------------------------------------


def cells_of_reduced(model: Any, reduced: Any) -> list[Cell]:
    """Return the cells of the groups of a reduced table."""
    refuse_rows_needed(model)
    tree = PlainTree.of(model.tree_)
    names = list(reduced.feature_names)
    fitted = stated_list(model, "feature_names_in_")
    if fitted != names:
        raise CertificateError(f"the model was fitted on the columns {fitted}, not on {names}.")
    leaf = np.zeros(len(reduced), dtype=np.int64)
    for node, place in enumerate(tree.asked):
        if place < 0:
            continue
        test = tree.tests[place]
        feature = reduced.features[test["feature"]]
        outcomes = np.array([outcome_of(test, value) for value in _plain(feature.values)])
        at = leaf == node
        leaf[at] = tree.children[node].start + outcomes[reduced.codes(feature)[at]]
    keys = [leaf]
    places = [] if reduced.classes is None else [reduced.classes]
    places += reduced.groups.values()
    keys += [reduced.codes(place) for place in places]
    distinct, of_group = np.unique(np.stack(keys), axis=1, return_inverse=True)
    of_group = of_group.reshape(-1)
    values = [_plain(place.values) for place in places]
    cells = []
    for line in distinct.T.tolist():
        known = [value[code] for value, code in zip(values, line[1:], strict=True)]
        label = None if reduced.classes is None else known.pop(0)
        group = tuple(known) if len(known) > 1 else known[0] if known else None
        cells.append(Cell(line[0], 0, Fraction(0), label, group))
    _add_up(cells, of_group, reduced, tree)
    if reduced.classes is not None and adds_squares(model):
        for cell in cells:
            value = read(tree.value(cell.leaf))
            distance = read(cell.label) - value
            cell.off, cell.square = distance * cell.weight, distance**2 * cell.weight
            cell.label = value
    return cells


def _add_up(cells: list[Cell], of_group: Any, reduced: Any, tree: PlainTree) -> None:
    """Add the groups of a reduced table to their cells."""

    def sums(numbers: Any) -> list[int]:
        total = np.zeros(len(cells), dtype=object)
        np.add.at(total, of_group, numbers.astype(object))
        return [int(number) for number in total]

    units = reduced.counts if reduced.units is None else reduced.units
    unit = Fraction(1) if reduced.units is None else reduced.unit
    for cell, n_rows, weight in zip(cells, sums(reduced.counts), sums(units), strict=True):
        cell.n_rows, cell.weight = n_rows, weight * unit
    costs, target = reduced.costs, reduced.sums
    if costs is not None:
        lines = [sums(column) for column in costs.sums.T]
        for place, cell in enumerate(cells):
            cell.costs = [line[place] * costs.unit for line in lines]
        # The best of each row is known for all rows together.
        cells[0].ends = costs.least * costs.unit, costs.greatest * costs.unit
    if target is not None:
        total, square = sums(target.totals), sums(target.squares)
        for place, cell in enumerate(cells):
            cell.label = value = read(tree.value(cell.leaf))
            q, centre = target.quantum, target.centre - value
            off = total[place] * q * target.weight
            cell.off = off + centre * cell.weight
            cell.square = (
                square[place] * q * q * target.weight
                + 2 * centre * off
                + centre * centre * cell.weight
            )


def _plain(values: Any) -> list[Any]:
    """Return values as tests read them: None for missing, times as nanoseconds."""
    if values.dtype.kind in "mM":
        return list(nanoseconds_of_array(values))
    listed = values.tolist()
    if values.dtype.kind in "fb":
        return [None if value != value else float(value) for value in listed]
    return list(listed)
