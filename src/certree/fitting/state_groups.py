"""Statements about groups: rows, groups and the tests that may be asked, with limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import read_table
from certree.encoding._row_cells import Cells, constant_within, leave_out
from certree.engine._equal_rows import merge_equal
from certree.engine._within_limits import LimitedProblem
from certree.metrics import Metric
from certree.numbers._digits import whole_numbers
from certree.numbers._exact import parse_complexity, parse_penalty
from certree.numbers._fixed_point import check_numbers
from certree.numbers._scale import Scale, fitting_penalty
from certree.numbers._weights import read_weights
from certree.proofs._fair_limits import FairLimits
from certree.proofs._metric_limits import LimitedSession
from certree.results._certificate import Exact, exact
from certree.results._progress import Measure
from certree.tasks._rates import (
    Comparison,
    Groups,
    allowed_by_rate,
    compare_groups,
    constraint_names,
    needs_two_classes,
    read_groups,
    read_tolerances,
)

from .goals import GroupGoal, sensitive_name
from .objectives import read_metric
from .prove_metric import most_metric_weight
from .read import ClassRows, read_classes
from .request import Request
from .state_binary import BinaryStatement, check_binary, refuse_weightless
from .state_errors import ErrorStatement, find_positive, state_errors

# Part of the range of integers that costs of the rows leave to multipliers.
_ROOM_FOR_MULTIPLIERS = 2**8

F = TypeVar("F", bound="FairStatement")

# Costs of a matrix are integers up to this, which leaves room for weights.
_MOST_PRICE = 2**20


@dataclass(frozen=True)
class Prices:
    """A cost matrix in integers.

    Attributes
    ----------
    units : int64 array of shape (n_classes, n_classes)
        What a label costs a row of a class.
    unit : Fraction
        What one of these stands for, for a weight of one.
    """

    units: NDArray[np.int64]
    unit: Fraction

    @property
    def most(self) -> Fraction:
        """The largest cost."""
        return int(self.units.max()) * self.unit


def read_prices(matrix: Any) -> Prices | None:
    """Return a cost matrix as it is written; ValueError for other values."""
    if matrix is None:
        return None
    table = check_numbers(matrix, "cost_matrix", (None, None), exactly=True)
    if table.shape[0] != table.shape[1] or (table < 0).any() or not table.any():
        raise ValueError(
            "cost_matrix must have one row and one column per class, with costs of at least 0, not "
            f"all of them 0; got {table.tolist()}."
        )
    numbers, unit = whole_numbers(table, "cost_matrix")
    common = math.gcd(*numbers.ravel().tolist())
    if int(numbers.max()) // common > _MOST_PRICE:
        raise ValueError(
            f"cost_matrix has too many digits: its costs are up to {int(numbers.max()) // common} "
            f"times their greatest common divisor, and {_MOST_PRICE} fit; use np.round."
        )
    return Prices((numbers // common).astype(np.int64), unit * common)


@dataclass(frozen=True, kw_only=True)
class FairStatement(ErrorStatement):
    """A statement about groups, too: errors are minimised, and rates are compared.

    Rows that agree in all tests, in class and in group count as one row with their weight, unless
    leaves need several rows.

    Attributes
    ----------
    comparison : Comparison or None
        The groups of the rows; None if there are none.
    group_tests : bool array or None
        Which tests only state the group, so that they may not be asked; None: none.
    prices : Prices or None
        What labels cost rows of each class, in place of one for every error.
    """

    comparison: Comparison | None = None
    group_tests: NDArray[np.bool_] | None = None
    prices: Prices | None = None

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The tests that may be asked."""
        if self.group_tests is None:
            return np.arange(self.columns.shape[1])
        return np.flatnonzero(~self.group_tests)

    @cached_property
    def asked(self) -> Cells:
        """The answers to these tests."""
        return (
            self.columns if self.group_tests is None else leave_out(self.columns, self.group_tests)
        )

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The tests that may not be asked."""
        if self.group_tests is None:
            return ()
        tests = self.encoder.candidates_
        return tuple(tests[i].describe(0) for i in np.flatnonzero(self.group_tests).tolist())

    @property
    def cost_matrix(self) -> NDArray[np.int64]:
        return super().cost_matrix if self.prices is None else self.prices.units

    @property
    def most_cost(self) -> Fraction:
        return self.total_weight * (1 if self.prices is None else self.prices.most)

    @property
    def measure(self) -> Measure:
        return super().measure if self.prices is None else Measure("cost", exact)

    def leaf_cost(self, units: int) -> Fraction:
        return units * self.scale.unit

    def objective(self, cost: Exact) -> float:
        if self.prices is None:
            return super().objective(cost)
        return float(Fraction(cost) / self.total_weight)

    @property
    def hidden(self) -> Fraction:
        return super().hidden * (1 if self.prices is None else self.prices.most)

    def stated_weights(self) -> dict[str, Any]:
        stated = super().stated_weights()
        if self.prices is not None:
            stated["rounding"] = exact(self.weights.rounding * self.prices.most)
        return stated

    @property
    def compared(self) -> Comparison:
        """The groups, where there are some."""
        assert self.comparison is not None
        return self.comparison

    @property
    def problem(self) -> engine.Problem:
        """What the core is asked to solve if rates do not matter."""
        return replace(super().problem, columns=self.asked)

    def count_tests(self) -> tuple[int, int]:
        # Tests are made one by one where they are asked for by place: that takes long for many.
        features = self.encoder.tests_.features()
        asked = set(features[np.asarray(self.places, dtype=np.intp)].tolist())
        # All tests of a column that is not asked state the group, unless it has none at all.
        others = set(features.tolist()) - asked
        left_out = self.encoder._left_out
        return len(self.places), sum(left_out[i] for i in left_out if i not in others)

    def with_limits(self, limits: FairLimits) -> LimitedProblem:
        """Return the rows with limits, as the search takes them."""
        costs = self.cost_matrix[self.codes]
        if self.row_weights is not None:
            costs = costs * self.row_weights[:, None]
        objective = np.array([self.scale.error_scale, self.scale.split_penalty], dtype=np.int64)
        problem = limits.problem(self.asked, costs[:, :, None], objective)
        return replace(problem, row_counts=self.row_counts)

    def rates(self, nodes: engine.Nodes) -> list[list[Fraction]]:
        """Return the rates of all groups under a tree over all tests."""
        if self.comparison is None:
            return []
        labels = nodes.label[nodes.route(self.columns)]
        return self.comparison.rates(labels)


@dataclass(frozen=True, kw_only=True)
class FairMetricStatement(FairStatement, BinaryStatement):
    """A statement about groups and a metric: labels of the search are 1 for positive."""

    def fair_session(self, limits: FairLimits) -> LimitedSession:
        """Return the rows with limits, to be solved with weights of the two errors."""
        if not self.positive:
            # Quantities are by the codes of the classes.
            limits = replace(limits, quantities=limits.quantities[:, ::-1])
        return self.limited_session(partial(limits.problem, self.asked))


def state_groups(request: Request) -> FairStatement:
    """Read and encode everything."""
    start = perf_counter()
    goal = request.groups
    tolerances = read_tolerances(goal.constraint, goal.tolerance)
    metric, prices = read_metric(goal.objective), read_prices(goal.cost_matrix)
    rows = read_classes(request)
    classes = rows.classes.tolist()
    positive = _check_classes(goal, classes)
    if prices is not None and len(prices.units) != len(classes):
        raise ValueError(
            f"cost_matrix is for {len(prices.units)} classes, but y has {len(classes)}: "
            f"{classes[:9]}; its rows and columns are the classes of y, sorted."
        )
    groups: Groups | None = None
    if metric is not None:
        check_binary(classes, goal.pos_label, metric.name)
    sensitive = read_sensitive(goal, request.X)
    if sensitive is not None:
        groups = read_groups(sensitive, request.n_rows, rows.kept, what=sensitive_name(goal))
    if metric is None:
        statement = _state_plainly(request, rows, prices)
    else:
        statement = _state_metric(request, rows, metric, positive, prices)
    given = _weights_as_given(statement, request.sample_weight)
    if statement.least_rows == 1:
        statement, groups, given = _join_rows(statement, groups, given)
    comparison = None
    if groups is not None:
        comparison = compare_groups(
            allowed_by_rate(goal.constraint, tolerances),
            groups,
            statement.codes,
            positive,
            len(classes),
            statement.row_weights if given is None else given,
            classes[positive],
        )
    group_tests = None
    if comparison is not None and not goal.use_sensitive:
        # Their outcome is the same in every group, so that they state the group.
        found = constant_within(statement.columns, comparison.groups.codes)
        group_tests = found if found.any() else None
    return replace(
        statement,
        comparison=comparison,
        group_tests=group_tests,
        seconds=perf_counter() - start,
    )


def _state_plainly(request: Request, rows: ClassRows, prices: Prices | None) -> FairStatement:
    """Return what is asked where errors or costs of labels are added up."""
    complexity = parse_complexity(request.size.complexity)
    budget = _cost_budget(request, rows.n_rows, complexity, prices)
    question = request.question("tree")
    statement = state_errors(request, rows, question, FairStatement, budget=budget, prices=prices)
    if prices is None:
        return statement
    return replace(statement, task="cost", scale=_priced_scale(request, statement, prices))


def _state_metric(
    request: Request, rows: ClassRows, metric: Metric, positive: int, prices: Prices | None
) -> FairMetricStatement:
    """Return what is asked where a metric of two kinds of errors is maximised."""
    budget = _cost_budget(request, rows.n_rows, Fraction(0), prices)
    statement = state_errors(
        request,
        rows,
        request.question("limited metric"),
        FairMetricStatement,
        task=metric.name,
        budget=budget,
        most_weight=most_metric_weight(budget),
        positive=positive,
        prices=prices,
    )
    refuse_weightless(statement)
    complexity = parse_penalty(request.size.complexity, metric.name)
    scale = replace(statement.scale, complexity=complexity, penalty=complexity)
    return replace(statement, scale=scale)


def _cost_budget(request: Request, n_rows: int, complexity: Fraction, prices: Prices | None) -> int:
    """Return the largest total cost: multiples of differences of rates need room, too."""
    if prices is None:
        return request.cost_budget(n_rows, complexity) // _ROOM_FOR_MULTIPLIERS
    share = complexity / prices.most
    room = _ROOM_FOR_MULTIPLIERS * int(prices.units.max())
    return max(request.cost_budget(n_rows, share) // room, 1)


def _priced_scale(request: Request, errors: ErrorStatement, prices: Prices) -> Scale:
    """Return the scale of costs by a matrix, with a penalty in units of the mean cost."""
    complexity, unit = errors.scale.complexity, errors.unit * prices.unit
    largest = errors.total_weight * prices.most / unit
    budget = _cost_budget(request, errors.n_rows, complexity, prices) * int(prices.units.max())
    penalty = complexity * errors.total_weight / unit
    fitting = fitting_penalty(penalty, max(int(budget // largest), 1))
    return Scale.of(fitting, unit, complexity, per_leaf=request.size.complexity_per == "leaf")


def _check_classes(goal: GroupGoal, classes: list[Any]) -> int:
    """Return which class is positive, and refuse more than two where a constraint needs two."""
    named = " and ".join(constraint_names(goal.constraint))
    positive = find_positive(classes, goal.pos_label, named, "constraint")
    if needs_two_classes(goal.constraint) and len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported by constraint={goal.constraint!r}: y has "
            f"{len(classes)} classes. Make it two classes, or use constraint='accuracy_parity', "
            "which speaks of no positive class."
        )
    return positive


def _weights_as_given(errors: ErrorStatement, sample_weight: Any) -> NDArray[Any] | None:
    """Return the weights of the rows that count as integers of any size, if costs have others.

    Costs are then those of rounded weights, or have those of the classes in them, but rates are
    those of the weights that were given.
    """
    if sample_weight is None or errors.weights.keeps_rows:
        return None
    n_rows = errors.n_rows if errors.rows is None else np.size(sample_weight)
    weights = read_weights(sample_weight, n_rows).numbers
    rows = weights if errors.rows is None else weights[errors.rows]
    return whole_numbers(rows, "sample_weight")[0]


def _join_rows(
    errors: F, groups: Groups | None, given: NDArray[Any] | None
) -> tuple[F, Groups | None, NDArray[Any] | None]:
    """Join rows that agree in all columns, class and group, where that saves half of them."""
    n_groups = 1 if groups is None else len(groups)
    kinds = errors.codes.astype(np.int64) * n_groups
    if groups is not None:
        kinds += groups.codes
    n_kinds = len(errors.classes) * n_groups
    counted = errors.counted
    weights = [errors.row_weights, counted.units, counted.n_rows]
    weights += [] if given is None else [given]
    merged = merge_equal(kinds, n_kinds, errors.columns, *weights)
    if merged is None or 2 * len(merged.kinds) > len(kinds):
        return errors, groups, given
    joined = replace(
        errors,
        columns=merged.columns,
        codes=(merged.kinds // n_groups).astype(errors.codes.dtype),
        row_weights=merged.sums[0],
        counted=replace(counted, units=merged.sums[1], n_rows=merged.sums[2]),
    )
    if groups is not None:
        groups = Groups(groups.names, (merged.kinds % n_groups).astype(np.intp))
    return joined, groups, None if given is None else merged.sums[3]


def read_sensitive(goal: GroupGoal, X: Any) -> Any:
    """Return the groups, from `fit` or from the columns of X that the parameters name."""
    named = goal.sensitive_columns
    if goal.sensitive_features is not None or named is None:
        return goal.sensitive_features
    table = read_table(X)
    wanted = list(named) if isinstance(named, list | tuple | np.ndarray) else [named]
    if not wanted:
        raise ValueError("sensitive_columns is empty; name at least one column, or use None.")
    columns = []
    for entry in wanted:
        if isinstance(entry, str) and table.has_names and entry in table.names:
            columns.append(table.column(table.names.index(entry)))
        elif isinstance(entry, int | np.integer) and 0 <= entry < table.n_columns:
            columns.append(table.column(int(entry)))
        else:
            raise ValueError(
                f"sensitive_columns names {entry!r}, which is not a column of X; give names of "
                f"columns, or numbers from 0 to {table.n_columns - 1}."
            )
    if len(columns) == 1:
        return columns[0]
    rows = np.empty((table.n_rows, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        rows[:, i] = column
    return rows
