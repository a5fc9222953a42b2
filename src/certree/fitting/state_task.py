"""Statements of tasks, in which a leaf costs a function of a sum over its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine import _vector
from certree.engine._multiway_search import solve_multiway, solve_multiway_path
from certree.engine._row_types import RowTypes, row_types
from certree.engine._vector import LeafRule
from certree.leaves.labels.errors import OutputErrors
from certree.numbers._exact import check_weights, read_fraction, scale_weights
from certree.numbers._fractions import shown
from certree.numbers._scale import Scale, fitting_penalty
from certree.numbers._weights import read_weights, scale_given
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._progress import Measure
from certree.results._record import Record
from certree.results._task_certificate import TaskCertificate
from certree.tasks._limited import LimitedOnRows
from certree.tasks._task import LeafProblem, Rows
from certree.tree import Labels, Numbers, Payload, SeveralLabels, SeveralNumbers, Tree

from .counted_rows import CountedRows, NodeAmounts
from .measurements import Measurements
from .read import encode, rows_behind
from .request import Request, SizeRequest
from .statement import Statement, tree_over

# No tree is called optimal if rounding is more than one over this of the cost of a single leaf.
_NEGLIGIBLE = 2**10

# Share of the integer range kept free for the denominator of the complexity.
_RESERVED = 2**10

# Costs of the core stay below this.
_INFINITE = 2**60

# Up to so many rows, each may be a type of its own for the search over multiway tests.
_MOST_TYPES = 2**12

# Steps of the weights by which rows pay for tests, where they are rounded.
_STEPS = 2**20, 2**16, 2**12

if TYPE_CHECKING:
    from typing_extensions import Self

S = TypeVar("S", bound="TaskStatement")


class Reached(NamedTuple):
    """Where rows go in a tree: the leaf of each, and the sums of their statistics in all nodes."""

    leaves: NDArray[np.intp]
    sums: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class TaskStatement(Statement):
    """A task on the rows of a table.

    Attributes
    ----------
    rows : Rows
        The rows that count, and their weights.
    on_rows : LeafProblem or LimitedOnRows
        The task in integers.
    measurements : Measurements or None
        Prices of tests.
    """

    rows: Rows
    on_rows: LeafProblem | LimitedOnRows
    measurements: Measurements | None

    certificate_kind: ClassVar[type[Record]] = TaskCertificate

    def with_least_rows(self, min_samples_leaf: Any) -> Self:
        """Return the statement with the least size of leaves as its task counts rows."""
        return self

    @property
    def problem(self) -> LeafProblem:
        """What leaves cost; by the first objective, if there are several."""
        return first_problem(self.on_rows)

    @property
    def complexity_unit(self) -> Fraction:
        return self.problem.complexity_unit

    @property
    def most_cost(self) -> Fraction:
        return self.problem.largest * self.problem.unit

    @property
    def engine_problem(self) -> engine.VectorProblem:
        """What the core is asked to solve."""
        settings: dict[str, Any] = {"row_counts": self.row_counts, **self.problem.engine_settings()}
        if self.measurements is not None:
            settings["test_costs"] = self.measurements.for_engine(self.problem)
            settings["weights"] = self.rows.weights
        vectors, kind = vectors_of(self.problem), self.problem.kind
        return engine.VectorProblem(self.columns, vectors, kind=kind, **settings)

    def solve(self, options: engine.Options, watch: engine.Callback | None) -> engine.Result:
        tests = self.encoder.multiway_columns_
        if tests is not None:
            problem, prices = self._by_type()
            return solve_multiway(problem, tests, options, 0, watch, prices=prices)
        return engine.solve(self.engine_problem, options, watch)

    def solve_path(
        self, options: engine.Options, watch: engine.Callback | None
    ) -> engine.PathResult:
        tests = self.encoder.multiway_columns_
        if tests is not None:
            problem, prices = self._by_type()
            return solve_multiway_path(problem, tests, options, watch, prices=prices)
        return engine.solve_path(self.engine_problem, options, watch)

    def _by_type(self) -> tuple[engine.Problem, dict[str, NDArray[Any]] | None]:
        """Return the rows as the search over multiway tests counts them, and prices of tests.

        Raises
        ------
        ValueError
            If the rows are of too many types.
        """
        vectors = vectors_of(self.problem)
        if self.measurements is not None:
            # What a row pays times is one more of its numbers.
            by_row = vectors.by_row() if isinstance(vectors, RowTypes) else vectors
            vectors = np.column_stack([by_row, self.rows.weights])
        if isinstance(vectors, RowTypes):
            types = vectors
        else:
            types = row_types(vectors) or self._types_of_their_own(vectors)
        costs, prices = types.values, None
        if self.measurements is not None:
            costs = np.ascontiguousarray(costs[:, :-1])
            prices = {**self.measurements.for_engine(self.problem), "weights": types.values[:, -1]}
        return engine.Problem(self.columns, types.types, costs, types.weights), prices

    def _types_of_their_own(self, vectors: NDArray[np.int64]) -> RowTypes:
        n = len(vectors)
        if n > _MOST_TYPES:
            raise ValueError(
                f"splits={self.encoder.splits!r} counts rows by what labels cost them, but the "
                f"costs of these {n} rows are of too many kinds, as costs of single rows and "
                f"weights with many digits are. Up to {_MOST_TYPES} rows may all differ; for more, "
                "give a cost_matrix and whole weights, or use splits='binary'."
            )
        return RowTypes(np.arange(n, dtype=np.int32), vectors, None, np.ones(n, dtype=np.int64))

    def leaf_cost(self, units: int) -> Fraction:
        cost, least = units * self.problem.unit + self.problem.constant, self.least_leaf_cost
        return cost if least is None else max(cost, least)

    @property
    def least_leaf_cost(self) -> Fraction | None:
        return self.problem.least_leaf_cost

    @property
    def measure(self) -> Measure:
        name = self.problem.objective_name
        if name == "accuracy" and (self.problem.class_weights or self.counted.is_weighted):
            name = "weighted accuracy"
        return Measure(name, self.objective)

    def objective(self, cost: Exact) -> float:
        return self.problem.objective(Fraction(cost))

    def stated_weights(self) -> dict[str, Any]:
        rows = self.rows
        return {
            "weight_quantum": None if rows.given is None else exact(rows.quantum),
            "rounding": exact(self.problem.rounding),
            "unit": exact(self.scale.unit),
            **self._stated_classes(),
        }

    def _stated_classes(self) -> dict[str, Any]:
        """Return the weights of classes, and the weight of all rows that includes them."""
        weights = self.problem.class_weights
        if weights is None:
            return {"class_weights": None}
        total = exact(self.problem.complexity_unit)
        return {"class_weights": tuple(map(exact, weights)), "total_weight": total}

    def doubted(self, answer: Answer, accepted: Fraction) -> Answer:
        if answer.status in ("optimal", "gap") and hides_much(self.problem):
            return replace(answer, status="precision")
        return answer

    def counters(self) -> dict[str, int]:
        return self.problem.counters()

    def test_cost(self, nodes: engine.Nodes) -> Exact:
        if self.measurements is None:
            return 0
        prices = self.measurements.for_engine(self.problem)
        paid = _vector.paid_for_tests(prices, self.rows.weights, nodes, self.columns)
        return paid * self.problem.unit

    # ---- trees -------------------------------------------------------------------------------

    def reach(self, nodes: engine.Nodes) -> Reached:
        """Send the rows down a tree."""
        leaves = nodes.route(self.columns)
        return Reached(leaves, self.problem.node_sums(nodes, leaves))

    def grow(self, nodes: engine.Nodes, reached: Reached | None = None) -> Tree:
        reached = self.reach(nodes) if reached is None else reached
        payload = self.payload(nodes, reached)
        notes = _notes(self.problem, nodes, reached, payload)
        n_columns = self.columns.shape[1]
        return tree_over(self.encoder, nodes, payload=payload, notes=notes, n_columns=n_columns)

    def grow_whole(self, nodes: engine.Nodes) -> tuple[Tree, Any]:
        """Return the tree, and what its nodes cost, in units of the search."""
        reached = self.reach(nodes)
        return self.grow(nodes, reached), self.problem.units(reached.sums).astype(np.float64)

    def payload(self, nodes: engine.Nodes, reached: Reached) -> Payload:
        """Return what the leaves predict: numbers, or labels, which other values are too."""
        leaf = nodes.is_leaf
        predictions = self.problem.read(_asked_sums(nodes, reached), reached.leaves)
        if isinstance(self.problem, OutputErrors):
            return self._several_labels(self.problem, nodes, reached.leaves, predictions)
        if predictions.ndim > 1:
            counts, rows = self.amounts(nodes, reached.leaves)
            names = self.problem.output_names
            return SeveralNumbers.of_outputs(predictions, leaf, counts, names, rows)
        classes = self.problem.classes()
        if classes is None and predictions.dtype.kind == "f":
            return Numbers.of_nodes(predictions, leaf, *self.amounts(nodes, reached.leaves))
        if classes is None:
            classes = np.unique(predictions[leaf])
        positions = {value: k for k, value in enumerate(classes.tolist())}
        label = np.full(len(leaf), -1, dtype=np.int32)
        label[leaf] = [positions[value] for value in predictions[leaf].tolist()]
        return self.labels(nodes, reached.leaves, label, classes)

    def _several_labels(
        self,
        problem: OutputErrors,
        nodes: engine.Nodes,
        leaves: NDArray[np.intp],
        predictions: NDArray[np.intp],
    ) -> SeveralLabels:
        amounts = [
            self.counted.in_nodes(nodes, leaves, codes, len(classes))
            for codes, classes in zip(problem.output_codes.T, problem.output_classes, strict=True)
        ]
        return SeveralLabels.of_outputs(
            predictions,
            nodes.is_leaf,
            np.hstack([one.counts for one in amounts]),
            problem.output_classes,
            problem.output_names,
            np.hstack([one.rows for one in amounts]),
        )

    def labels(
        self,
        nodes: engine.Nodes,
        leaves: NDArray[np.intp],
        label: NDArray[np.int32],
        classes: NDArray[Any],
    ) -> Labels:
        """Return labels, with the rows in every node by their class, or by what they get."""
        codes = self.problem.codes()
        codes = label[leaves].astype(np.intp) if codes is None else codes
        counts, rows = self.counted.in_nodes(nodes, leaves, codes, len(classes))
        return Labels(label, counts, classes, rows=rows)

    def amounts(self, nodes: engine.Nodes, leaves: NDArray[np.intp]) -> NodeAmounts:
        """Return the weight and the number of the rows in every node."""
        return self.counted.in_nodes(nodes, leaves)


def _asked_sums(nodes: engine.Nodes, reached: Reached) -> NDArray[np.int64]:
    """Return the sums by which nodes predict: outcomes without rows do so as the node above."""
    if nodes.outcomes is None:
        return reached.sums
    sums: NDArray[np.int64] = reached.sums.copy()
    n_rows = nodes.add_up(reached.leaves, np.ones(len(reached.leaves), dtype=np.int64))
    for node in np.flatnonzero(nodes.test >= 0).tolist():
        children = np.arange(len(nodes))[nodes.children(node)]
        sums[children[n_rows[children] == 0]] = sums[node]
    return sums


def first_problem(on_rows: LeafProblem | LimitedOnRows) -> LeafProblem:
    """Return what leaves cost by the only objective, or the first of them."""
    return on_rows if isinstance(on_rows, LeafProblem) else on_rows.problems[0]


def vectors_of(problem: LeafProblem) -> NDArray[np.int64] | RowTypes:
    """Return what rows add to their leaf, by type if they are known to be of a few types."""
    return problem.statistics if problem.types is None else problem.types


def hides_much(problem: LeafProblem) -> bool:
    """Return whether rounding is more than a thousandth of what a tree without splits costs."""
    return 0 < problem.single_leaf() < problem.hidden * _NEGLIGIBLE


def _notes(
    problem: LeafProblem, nodes: engine.Nodes, reached: Reached, payload: Payload
) -> list[str] | None:
    """Return a remark on each node: what it counts, if it does not count classes of the rows."""
    amounts = [" of ".join(Payload.support(payload, node)) for node in range(len(payload.label))]
    told = problem.describe_nodes(nodes, reached.leaves, reached.sums, amounts)
    if told is not None or not problem.counted:
        return told
    told = [f"{amount} in all" for amount in amounts]
    for leaf in np.flatnonzero(payload.label >= 0).tolist():
        told[leaf] = f"{problem.counted} {', '.join(payload.support(leaf))}"
    return told


# ---- stating ---------------------------------------------------------------------------------


def state_task(request: Request, search: engine.Search, kind: type[S]) -> S:
    """Encode the table and turn the task into integers.

    Parameters
    ----------
    request : Request
        What is asked.
    search : str
        What the rows will be searched for.
    kind : type
        The statement to make.
    """
    start = perf_counter()
    goal, n_rows, sample_weight = request.task, request.n_rows, request.sample_weight
    budget = request.cost_budget(n_rows, Fraction(0))
    weights = scale_weights(sample_weight, n_rows, budget=budget)
    kept = None if weights.values.all() else np.flatnonzero(weights.values)
    for_encoder = None if sample_weight is None else weights.values
    question = request.question(search if goal.is_searched else "rows")
    if goal.weights_are_rows:
        question = replace(question, has_row_counts=sample_weight is not None)
    measurements = encoded = None
    if goal.test_costs is not None:
        # Prices of tests are among the costs, and tests have to be known for that.
        question = replace(question, has_test_costs=True)
        encoded = encode(request.table, request.X, for_encoder, question, goal.more_rows)
        measurements = Measurements.read(
            goal.test_costs,
            [test.feature for test in encoded.encoder.tests_],
            encoded.encoder.n_features_in_,
            getattr(encoded.encoder, "feature_names_in_", None),
        )
    rows = Rows(
        n_rows,
        kept,
        weights.values if kept is None else weights.values[kept],
        weights.quantum,
        budget // _RESERVED,
        budget,
        request.most_splits(n_rows) + 1,
        None if measurements is None else measurements.numbers(),
        0.0 if measurements is None else measurements.most_paid(request.size.max_depth),
        None if weights.is_exact else _given(sample_weight, n_rows, kept),
        sample_weight,
    )
    rows, on_rows, scale = _finest(request, rows)
    if encoded is None:
        problem = first_problem(on_rows)
        rule = LeafRule(kind=problem.kind, **problem.engine_settings())
        question = question.about(rule, vectors_of(problem))
        encoded = encode(request.table, request.X, for_encoder, question, goal.more_rows)
    counted = CountedRows.read(rows_behind(request.X), sample_weight, n_rows, kept)
    statement = kind(
        task=goal.name or goal.task.name,
        columns=encoded.cells,
        encoder=encoded.encoder,
        scale=scale,
        n_rows=counted.number(len(rows.weights)),
        total_weight=rows.total_weight,
        counted=counted,
        seconds=perf_counter() - start,
        least_rows=encoded.least_rows,
        row_counts=encoded.row_counts,
        rows=rows,
        on_rows=on_rows,
        measurements=measurements,
    )
    return statement.with_least_rows(request.table.min_samples_leaf)


def _finest(request: Request, rows: Rows) -> tuple[Rows, LeafProblem | LimitedOnRows, Scale]:
    """Return the rows with the weights that leave least to rounding, and the task on them."""
    stated = (rows, *_on(request, rows))
    has_choice = rows.prices is not None and rows.sample_weight is not None
    if not has_choice or not first_problem(stated[1]).rounding:
        return stated
    # Rows pay for tests by their weight, and prices have fewer digits the more it has.
    given = read_weights(rows.sample_weight, rows.n_rows)
    others = []
    for steps in _STEPS:
        rounded = scale_given(given, 2**62, steps, exact=False)
        coarser = replace(
            rows,
            weights=rows.select(rounded.values),
            quantum=rounded.quantum,
            given=_given(rows.sample_weight, rows.n_rows, rows.kept),
        )
        others.append((coarser, *_on(request, coarser)))
    return min(stated, *others, key=lambda one: first_problem(one[1]).rounding)


def _on(request: Request, rows: Rows) -> tuple[LeafProblem | LimitedOnRows, Scale]:
    """Return the task in integers, and the scale of its costs."""
    task, y = request.task.task, request.task.y
    on_rows = task.on(y, rows)
    problem = first_problem(on_rows)
    complexity = read_penalty(request.size.complexity)
    # The search makes room for a tree with the most splits, which all pay the penalty.
    wanted = complexity * problem.complexity_unit / problem.unit
    share = min(wanted / max(problem.largest, 1), Fraction(1))
    room = int(rows.budget / (1 + share * (rows.most_leaves + 1)))
    if problem.largest > room:
        on_rows = task.on(y, replace(rows, budget=room, most=max(room // _RESERVED, 1)))
        problem = first_problem(on_rows)
    wanted = complexity * problem.complexity_unit
    # A split saves at most what the largest leaf costs. So penalties above that act like it.
    most = Fraction(problem.largest + 1)
    units = min(wanted / problem.unit, most)
    penalty = fitting_penalty(units, room // max(problem.largest, 1))
    leaves, counted = rows.most_leaves, problem.most_counted
    if (penalty.denominator * counted + penalty.numerator * leaves + 1) * leaves >= _INFINITE:
        # The core adds up more than a leaf can cost, so that there is less room for a penalty.
        steps = (_INFINITE // leaves - 1) // (counted + (problem.largest + 2) * leaves)
        penalty = fitting_penalty(units, steps)
    stated = wanted if units == most else None
    return on_rows, scale_of(request.size, problem, penalty, stated)


def scale_of(
    size: SizeRequest, problem: LeafProblem, penalty: Fraction, stated: Fraction | None = None
) -> Scale:
    """Return the scale of a task on which a split costs so many units."""
    return Scale.of(
        penalty,
        problem.unit,
        read_penalty(size.complexity),
        constant=problem.constant,
        per_leaf=size.complexity_per == "leaf",
        stated=stated,
    )


def read_penalty(value: Any) -> Fraction:
    """Return the complexity of a task."""
    complexity = read_fraction(value, "complexity")
    if not 0 <= complexity <= 10**200:
        raise ValueError(f"complexity must be at least 0, and at most 1e200, got {shown(value)}.")
    return complexity


def rows_with_weights(n_rows: int, kept: NDArray[np.intp] | None, sample_weight: Any) -> Rows:
    """Return rows that amounts of limits are weighed by, where costs have integers of their own."""
    ones = np.ones(n_rows if kept is None else len(kept), dtype=np.int64)
    given = None if sample_weight is None else _given(sample_weight, n_rows, kept)
    most = int(np.iinfo(np.int64).max)
    return Rows(
        n_rows, kept, ones, Fraction(1), most, most, len(ones), None, 0.0, given, sample_weight
    )


def _given(weights: Any, n_rows: int, kept: NDArray[np.intp] | None) -> NDArray[np.float64]:
    """Return weights as they were given, of the rows that count."""
    numbers = check_weights(weights, n_rows)
    return numbers if kept is None else numbers[kept]
