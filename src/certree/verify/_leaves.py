"""Costs of leaves by the definition of each task, in the user's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._attributes import stated_list
from ._audit import Audit, Data, GivenRows, Walk, predictions_of
from ._candidates import CandidateRules
from ._leaf_costs import Amounts, Leaves, Rates
from ._linear_audit import linear
from ._node_rows import ClassPositions, check_node_rows
from ._notes import Note, RowsOf, mean
from ._number_leaves import deviances, quantiles, squares
from ._plain_numbers import (
    as_array,
    common_unit,
    float_or_infinite,
    plain_list,
    read,
    read_list,
    read_table,
    root_above,
    share_explained,
)
from ._raw_frames import as_frame
from ._survival_audit import survival

# ---- by label ----------------------------------------------------------------------------------


def label_leaves(
    name: str,
    data: Data,
    labels: Sequence[Any],
    amounts: Amounts,
    objective: Callable[[Fraction], float] | None = None,
) -> Leaves:
    """Return leaves that take one of some labels, each at a cost per row."""
    place = {label: k for k, label in enumerate(labels)}

    def of(rows: Sequence[int], label: Any) -> Fraction:
        k = place[label]
        return sum((data.weights[row] * amounts[row][k] for row in rows), Fraction(0))

    def least(rows: Sequence[int]) -> Fraction:
        return min(of(rows, label) for label in labels)

    def mean(cost: Fraction) -> float:
        return float(cost / data.total())

    return Leaves(name, of, least, objective or mean, data.total(), labels, amounts)


def errors(data: Data, y: Any, class_weight: Any, labels: Sequence[Any] | None = None) -> Leaves:
    """Return leaves that cost the weight of their errors."""
    given = labels_of(data, y)
    known = sorted(set(given)) if labels is None else list(labels)
    weights = {label: Fraction(1) for label in known}
    if class_weight == "balanced":
        totals = dict.fromkeys(known, Fraction(0))
        for row in data.rows:
            totals[given[row]] += data.weights[row]
        share = data.total() / sum(1 for total in totals.values() if total)
        weights = {label: share / t if t else Fraction(0) for label, t in totals.items()}
    elif class_weight is not None:
        plain = dict(zip(plain_list(list(class_weight)), class_weight.values(), strict=True))
        weights = {label: read(plain.get(label, 1), "class_weight") for label in known}
    amounts = {
        row: [weights[given[row]] * (label != given[row]) for label in known] for row in data.rows
    }
    whole = sum((data.weights[row] * weights[given[row]] for row in data.rows), Fraction(0))
    leaves = label_leaves("accuracy", data, known, amounts, lambda cost: float(1 - cost / whole))
    return replace(
        leaves,
        whole=whole,
        counted={row: known.index(given[row]) for row in data.rows},
        class_weights=[weights[label] for label in known],
    )


def cost_matrix(data: Data, y: Any, matrix: Any, classes: Any) -> Leaves:
    """Return leaves whose cost is a matrix entry per row, by class and label."""
    lines = read_table(matrix, "cost_matrix", (None, None))
    given = labels_of(data, y)
    labels = match_classes(given, classes, len(lines[0]))
    if len(lines) != len(labels):
        raise ValueError(f"cost_matrix has {len(lines)} rows, but there are {len(labels)} classes.")
    place = {label: k for k, label in enumerate(labels)}
    unknown = {given[row] for row in data.rows} - set(place)
    if unknown:
        raise CertificateError(
            f"y has the labels {sorted(map(repr, unknown))}, which the model does not know; its "
            f"classes are {labels}."
        )
    counted = {row: place[given[row]] for row in data.rows}
    amounts = {row: lines[counted[row]] for row in data.rows}
    return replace(label_leaves("cost", data, labels, amounts), counted=counted)


def rank_distances(data: Data, y: Any, order: Any) -> Leaves:
    """Return leaves that cost the distance of their label from the classes of their rows."""
    n_classes = len(set(labels_of(data, y)) if order is None else plain_list(order))
    matrix = [[abs(true - label) for label in range(n_classes)] for true in range(n_classes)]
    return replace(cost_matrix(data, y, matrix, order), name="rank_distance")


def row_costs(data: Data, costs: Any, labels: Any) -> Leaves:
    """Return leaves whose cost is the sum of costs per row and label."""
    lines = read_table(costs, "costs", (data.n_rows, None))
    names = list(range(len(lines[0]))) if labels is None else plain_list(labels)
    leaves = label_leaves("cost", data, names, {row: lines[row] for row in data.rows})
    return replace(leaves, counts_best=True)


def rewards(data: Data, table: Any, treatments: Any, maximise: bool) -> Leaves:
    """Return leaves whose cost is the regret: the loss against the best treatment of each row."""
    lines = read_table(table, "rewards", (data.n_rows, None))
    if treatments is not None and len(lines[0]) == 1 and len(treatments) == 2:
        lines = [[Fraction(0), line[0]] for line in lines]
    sign = -1 if maximise else 1
    signed = {row: [sign * reward for reward in lines[row]] for row in data.rows}
    total = sum((data.weights[row] * min(signed[row]) for row in data.rows), Fraction(0))
    regret = {row: [cost - min(line) for cost in line] for row, line in signed.items()}
    names = list(range(len(lines[0]))) if treatments is None else plain_list(treatments)
    if len(names) != len(lines[0]):
        raise ValueError(f"rewards have {len(lines[0])} columns, for {len(names)} treatments.")
    leaves = label_leaves(
        "reward",
        data,
        names,
        regret,
        lambda cost: float(sign * (cost + total) / data.total()),
    )
    return replace(leaves, counts_best=True)


def labels_of(data: Data, y: Any) -> list[Any]:
    """Return one label per row."""
    if y is None:
        raise ValueError("y must be passed: one label per row.")
    given = plain_list(y)
    if len(given) != data.n_rows:
        raise ValueError(f"X has {data.n_rows} rows, but y has {len(given)} labels.")
    return given


def match_classes(given: Sequence[Any], classes: Any, n_columns: int) -> list[Any]:
    """Return the classes that the columns of a matrix stand for."""
    if classes is not None:
        return plain_list(classes)
    seen = sorted(set(given))
    return seen if len(seen) == n_columns else list(range(n_columns))


# ---- several outputs ---------------------------------------------------------------------------


def output_columns(y: Any) -> list[Any]:
    """Return the columns of y, if it has several; [] for one output."""
    frame = as_frame(y)
    if frame is not None:
        columns = [np.asarray(series.to_numpy()) for series in frame[1].iter_columns()]
        return columns if len(columns) > 1 else []
    if isinstance(y, np.ndarray):
        return list(np.asarray(y).T) if y.ndim == 2 and y.shape[1] > 1 else []
    lines = list(y) if isinstance(y, list | tuple) else []
    several = bool(lines) and isinstance(lines[0], list | tuple | np.ndarray) and len(lines[0]) > 1
    return [list(column) for column in zip(*lines, strict=True)] if several else []


def check_output_names(audit: Audit, tree: Any, y: Any) -> None:
    """Compare what a tree calls its outputs with the names of the columns of y."""
    frame = as_frame(y)
    names = getattr(y, "columns", None) if frame is None else frame[0]
    wanted = None if names is None else tuple(map(str, names))
    audit.compare("names of outputs", tree.payload.output_names, wanted)


def together(parts: Sequence[tuple[Fraction, Leaves]], **more: Any) -> Leaves:
    """Return leaves that predict several outputs, and cost the sum of what these cost."""

    def of(rows: Sequence[int], value: Any) -> Fraction:
        if not isinstance(value, list) or len(value) != len(parts):
            raise CertificateError(f"a leaf predicts {value!r} for {len(parts)} outputs.")
        pairs = zip(parts, value, strict=True)
        return sum((weight * leaves.of(rows, one) for (weight, leaves), one in pairs), Fraction(0))

    def least(rows: Sequence[int]) -> Fraction:
        return sum((weight * leaves.least(rows) for weight, leaves in parts), Fraction(0))

    whole = sum((weight * leaves.whole for weight, leaves in parts), Fraction(0))

    def note(rows: Sequence[int], off: Fraction) -> Note:
        return ["means of ", RowsOf()]

    def score(cost: Fraction) -> float:
        return share_explained(cost, whole)

    return Leaves(
        parts[0][1].name, of, least, score, whole, outputs=tuple(parts), **{"note": note, **more}
    )


def square_outputs(data: Data, y: Any, weights: Any) -> Leaves:
    """Return leaves that cost the squared error around their means, of one output or several."""
    columns = output_columns(y)
    if not columns:
        return squares(data, y)

    def inspect(audit: Audit, tree: Any, walk: Walk) -> None:
        check_output_names(audit, tree, y)

    return replace(add_squares(data, columns, weights), inspect=inspect)


def add_squares(data: Data, columns: Sequence[Any], weights: Any) -> Leaves:
    """Return leaves that cost the squared errors in all columns; a text balances these."""
    parts = [squares(data, column) for column in columns]
    if isinstance(weights, str):
        # One over the variance; the search has float64 of it.
        counted = [data.total() / part.whole if part.whole else Fraction(1) for part in parts]
        found = together(list(zip(counted, parts, strict=True)), target=parts[0].target)
        targets = [[abs(t) for t in (part.target or {}).values()] for part in parts]
        widths = [part.whole / data.total() for part in parts]
        digits = [max(t) ** 2 / width for t, width in zip(targets, widths, strict=True) if width]
        off = root_above(max([Fraction(1), *digits])) / 2**46
        return replace(found, noise=lambda rows: found.least(rows) * off)
    counted = [Fraction(1)] * len(parts)
    if weights is not None:
        counted = read_list(weights, len(parts), "output_weights")
    return together(list(zip(counted, parts, strict=True)), target=parts[0].target)


def error_outputs(data: Data, y: Any, class_weight: Any, weights: Any) -> Leaves:
    """Return leaves that cost the weight of their errors, in one output or several."""
    columns = output_columns(y)
    if not columns:
        return errors(data, y, class_weight)
    parts = [errors(data, column, None) for column in columns]
    counted = [Fraction(1)] * len(parts)
    if weights is not None:
        counted = read_list(weights, len(parts), "output_weights")
    pairs = list(zip(counted, parts, strict=True))
    amounts: dict[int, list[Fraction]] = {row: [] for row in data.rows}
    for weight, part in pairs:
        assert part.amounts is not None
        for row, line in part.amounts.items():
            amounts[row] += [weight * amount for amount in line]
    given = [labels_of(data, column) for column in columns]
    labels = [list(part.labels or ()) for part in parts]

    def inspect(audit: Audit, tree: Any, walk: Walk) -> None:
        check_output_names(audit, tree, y)
        stated = [plain_list(classes) for classes in tree.payload.classes]
        audit.compare("classes of all outputs", stated, labels)
        audit.raise_if_different()
        outputs = [
            ClassPositions({row: classes.index(column[row]) for row in data.rows}, len(classes))
            for column, classes in zip(given, labels, strict=True)
        ]
        check_node_rows(audit, data, walk, outputs)

    return together(pairs, amounts=amounts, inspect=inspect, note=None)


def _of_regressor(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    criterion = estimator.criterion
    if criterion in ("poisson", "gamma"):
        return deviances(data, given.y, criterion)
    if criterion == "absolute_error":
        return quantiles(data, given.y)
    if criterion == "quantile":
        return quantiles(data, given.y, estimator.quantile)
    return square_outputs(data, given.y, estimator.output_weights)


# ---- functions of the user ---------------------------------------------------------------------


@dataclass(frozen=True)
class Statistics:
    """Statistics of a user, weighted and summed exactly, with the error of float64 sums."""

    columns: Sequence[Mapping[int, Fraction]]
    are_integers: bool
    errors: Sequence[float]

    def sums(self, rows: Sequence[int]) -> list[Fraction]:
        """Return the exact sums over some rows."""
        return [sum((column[row] for row in rows), Fraction(0)) for column in self.columns]


def function(data: Data, task: Any) -> Leaves:
    """Return leaves whose cost is a function of the user, of sums of statistics."""
    statistics = _statistics(data, task.statistics)
    known: dict[tuple[int, ...], tuple[Fraction, list[Any], Fraction]] = {}

    def ask(rows: Sequence[int]) -> tuple[Fraction, list[Any], Fraction]:
        """Return the cost, what may be predicted, and how far off the cost may be."""
        key = tuple(rows)
        if key not in known:
            known[key] = _ask(task.cost, statistics, statistics.sums(rows))
        return known[key]

    def of(rows: Sequence[int], value: Any) -> Fraction:
        cost, predictions, _ = ask(rows)
        if not _is_prediction(value, predictions):
            raise CertificateError(
                f"a leaf predicts {value!r}, but the task says {predictions[0]!r} for its rows."
            )
        return cost

    factor, columns = getattr(task, "rate_factor", None), statistics.columns
    return Leaves(
        str(task.name),
        of,
        lambda rows: ask(rows)[0],
        float,
        data.total(),
        noise=lambda rows: ask(rows)[2],
        note=lambda rows, off: ["cost ", mean(ask(rows)[0], 1, off + ask(rows)[2], ".5g")],
        rates=None if factor is None else Rates(columns[0], columns[1], factor),
    )


def _statistics(data: Data, given: Any) -> Statistics:
    if callable(given):
        table = np.stack([np.atleast_1d(given(np.array([row]))) for row in range(data.n_rows)])
    else:
        table = as_array(given)
    lines = read_table(table, "statistics", (data.n_rows, None))
    columns, errors = [], []
    unit = common_unit(data.weights.values())
    n_units = float(units_of_weight(data))
    for k in range(len(lines[0])):
        column = {row: data.weights[row] * lines[row][k] for row in data.rows}
        total = float(sum(map(abs, column.values())))
        columns.append(column)
        # A search adds integers of 52 bits in all, and rounds to these where decimals are longer:
        # products with weights, or what integer weights are multiplied by.
        errors.append(total * max(len(column) * 2.0**-46, min(n_units * 2.0**-48, 2.0**-12)))
    whole = table.dtype.kind in "iub" and unit == 1
    return Statistics(columns, whole, [0.0] * len(columns) if whole else errors)


def units_of_weight(data: Data) -> Fraction:
    """Return the total of integer weights in units; 0 if weights are not multiples of one unit."""
    n_units = data.total() / common_unit(data.weights.values())
    return n_units if n_units < 2**48 else Fraction(0)


def _ask(cost: Any, statistics: Statistics, sums: Any) -> tuple[Fraction, list[Any], Fraction]:
    """Call the function for the sums, and for sums that are off by the largest rounding."""
    exactly, sums = sums, np.array([[float(total) for total in sums]])
    value, prediction = _call(cost, sums)
    if statistics.are_integers and max(map(abs, exactly)) < 2**63:
        whole, guess = _call(cost, np.array([[int(total) for total in exactly]], dtype=np.int64))
        # Integers keep all digits, unless the function makes them overflow.
        if abs(Fraction(whole) - Fraction(value)) <= Fraction(max(abs(value), 1)) / 2**30:
            value, prediction = whole, guess
    values, predictions = [value], [prediction]
    for k, error in enumerate(statistics.errors):
        for step in (-error, error):
            moved = sums.copy()
            moved[0, k] += (
                np.sign(moved[0, k]) * min(abs(step), abs(moved[0, k]) / 2) * np.sign(step)
            )
            try:
                with np.errstate(all="ignore"):
                    other, guess = _call(cost, moved)
            except Exception:
                # The function may fail for sums that are off.
                continue
            if other == other:
                values.append(other)
                predictions.append(guess)
    # float64 always loses a few last bits.
    apart = max(map(Fraction, values)) - min(map(Fraction, values)) + abs(Fraction(value)) / 2**44
    return max(Fraction(value), Fraction(0)), predictions, 4 * apart * len(statistics.columns)


def _call(cost: Any, sums: Any) -> tuple[Any, Any]:
    answer = cost(sums)
    prediction: Any = 0
    if isinstance(answer, tuple):
        answer, prediction = answer[0], np.asarray(answer[1]).tolist()[0]
    value = np.asarray(answer).tolist()[0]
    if isinstance(value, float) and not np.isfinite(value):
        raise CertificateError(f"the task costs {value!r} for the sums {sums[0].tolist()}.")
    return value, prediction


def _is_prediction(stated: Any, predictions: Sequence[Any]) -> bool:
    """Return whether a prediction is one of the possible ones, or a number between them."""
    if not isinstance(stated, float) or not isinstance(predictions[0], float):
        return stated in predictions
    wide = 4 * (max(predictions) - min(predictions)) + 1e-9 * abs(predictions[0])
    return bool(abs(stated - predictions[0]) <= wide)


# ---- which task --------------------------------------------------------------------------------


def leaves_of_task(task: Any, data: Data, given: GivenRows) -> Leaves:
    """Return the costs of leaves by a task of certree.

    Raises
    ------
    ValueError
        If the task is unknown.
    """
    for cls in type(task).__mro__:
        if cls.__name__ in TASKS:
            return TASKS[cls.__name__](task, data, given)
    raise ValueError(f"verify does not know the leaf costs of {task!r}.")


TASKS: Mapping[str, Callable[[Any, Data, GivenRows], Leaves]] = {
    "Misclassification": lambda task, data, given: error_outputs(
        data, given.y, task.class_weight, task.output_weights
    ),
    "CostMatrix": lambda task, data, given: cost_matrix(data, given.y, task.matrix, task.classes),
    "OrdinalError": lambda task, data, given: rank_distances(data, given.y, task.order),
    "RowCosts": lambda task, data, given: row_costs(data, task.costs, task.labels),
    "Rewards": lambda task, data, given: rewards(
        data, task.rewards, task.treatments, bool(task.maximise)
    ),
    "SquaredError": lambda task, data, given: square_outputs(data, given.y, task.output_weights),
    "AbsoluteError": lambda task, data, given: quantiles(data, given.y),
    "QuantileLoss": lambda task, data, given: quantiles(data, given.y, task.quantile),
    "SurvivalLoss": lambda task, data, given: survival(
        data, given.y, given.sample_weight is not None
    ),
    "LeafCost": lambda task, data, given: function(data, task),
}
"""Costs of leaves, by the name of the task's class."""


def leaves_of_estimator(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    """Return what the leaves of an estimator cost, by its parameters.

    Raises
    ------
    ValueError
        If this package does not know the estimator.
    """
    for cls in type(estimator).__mro__:
        if cls.__name__ in ESTIMATORS:
            return ESTIMATORS[cls.__name__](estimator, data, given)
    raise ValueError(f"verify does not know the objective of a {type(estimator).__name__}.")


def _of_policy(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    stated, named = stated_list(estimator, "treatments_"), estimator.treatments
    n_treatments = max(np.asarray(given.y).shape[-1], 2)
    if named is None and estimator.outcomes_ is None:
        # Scores that were given have no names.
        named = list(range(n_treatments))
    if len(stated) != n_treatments or (named is not None and plain_list(named) != stated):
        raise CertificateError(f"treatments: {stated} are not those of the parameters and scores.")
    return rewards(data, given.y, stated, bool(estimator.maximise))


def _of_errors(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    """Return leaves that count errors; by classes of equal weight for balanced accuracy."""
    if np.ndim(given.y) > 1:
        return error_outputs(data, given.y, None, estimator.output_weights)
    is_balanced = str(estimator.objective).lower() == "balanced_accuracy"
    leaves = errors(data, given.y, "balanced" if is_balanced else estimator.class_weight)
    return replace(leaves, name="balanced_accuracy") if is_balanced else leaves


def _of_costs(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    classes, matrix = estimator.classes, estimator.cost_matrix
    if given.costs is not None:
        leaves = row_costs(data, given.costs, None)
        assert leaves.labels is not None
        if given.y is not None or classes is not None:
            seen = [] if given.y is None else labels_of(data, given.y)
            labels = match_classes(seen, classes, len(leaves.labels))
            leaves = row_costs(data, given.costs, labels)
            if given.y is not None:
                counted = {row: labels.index(seen[row]) for row in data.rows}
                leaves = replace(leaves, counted=counted, counts_best=False)
        return leaves
    if matrix is not None:
        return cost_matrix(data, given.y, matrix, classes)
    labels = labels_of(data, given.y)
    known = sorted({labels[row] for row in data.rows}) if classes is None else plain_list(classes)
    found = errors(data, given.y, None, known)
    assert found.amounts is not None
    return replace(label_leaves("cost", data, known, found.amounts), counted=found.counted)


def _of_models(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    if estimator.leaf_model == "constant" or not stated_list(estimator, "model_features_"):
        return squares(data, given.y)
    return linear(data, given.y, estimator)


def _of_clusters(estimator: Any, data: Data, given: GivenRows) -> Leaves:
    """Return leaves that cost the squared distances from their centres."""
    table = data.table
    n_columns, names = len(table.columns), list(table.names or ())
    if estimator.features is None:
        rules = CandidateRules(categorical_features=estimator.categorical_features)
        declared = rules.declared(table)
        chosen = [
            k
            for k, column in enumerate(table.columns)
            if column.kind == "number"
            and not declared[k]
            and any(value is not None for value in column.values)
        ]
    else:
        chosen = [
            names.index(one) if isinstance(one, str) else int(one) % n_columns
            for one in estimator.features
        ]
    weights = None if estimator.scale is None else "balanced"
    found = add_squares(data, [_filled(data, table.columns[k].values) for k in chosen], weights)

    def inspect(audit: Audit, tree: Any, walk: Walk) -> None:
        audit.compare("columns of centres", estimator.centre_names_, [*map(table.name, chosen)])
        predicted = predictions_of(audit, estimator.predict, given.X)
        audit.compare("labels_", stated_list(estimator, "labels_"), predicted)
        audit.compare("columns of centres", stated_list(estimator, "_centre_columns"), chosen)
        scales = [float_or_infinite(weight) for weight, _ in found.outputs]
        told = stated_list(estimator, "_scales")
        if len(told) != len(scales) or not np.allclose(told, scales, rtol=1e-9, atol=0):
            audit.compare("scales of centres", told, scales)
        titles = tree.payload.output_names
        audit.compare("names of centres", titles, tuple(map(table.name, chosen)))
        stated, inertia = estimator.inertia_, float_or_infinite(audit.certificate.leaf_cost)
        if stated != inertia and not abs(stated - inertia) <= 1e-9 * abs(stated):
            audit.compare("inertia_", stated, inertia)
        audit.done("clusters of all rows, and inertia")

    def predict(X: Any) -> Any:
        return np.asarray(estimator.cluster_centers_)[np.asarray(estimator.predict(X))]

    return replace(found, inspect=inspect, predict=predict)


def _filled(data: Data, values: Sequence[Any]) -> list[Any]:
    """Return numbers, with the mean of the known ones in place of those that are missing."""
    known = [row for row in data.rows if values[row] is not None]
    if all(value is not None for value in values):
        return list(values)
    total = sum((data.weight([row]) * read(values[row]) for row in known), Fraction(0))
    mean = float(total / data.weight(known))
    return [mean if value is None else value for value in values]


ESTIMATORS = {
    "LinearTreeRegressor": _of_models,
    "OptimalTreeClusterer": _of_clusters,
    "OptimalTreeClassifier": _of_errors,
    "OptimalTreeRegressor": _of_regressor,
    "OrdinalTreeClassifier": lambda estimator, data, given: rank_distances(
        data, given.y, estimator.order
    ),
    "PolicyTree": _of_policy,
    "SurvivalTree": lambda estimator, data, given: survival(
        data, given.y, given.sample_weight is not None
    ),
    "CostSensitiveTreeClassifier": _of_costs,
}
"""What the leaves of an estimator cost, by the name of its class."""
