"""Statements that count weighted errors: classes, their weights, and trees that predict them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._equal_rows import added_up
from certree.engine._multiway_search import solve_multiway, solve_multiway_path
from certree.numbers._error_weights import ErrorWeights, class_fractions, error_weights
from certree.numbers._exact import error_scale, parse_complexity
from certree.results._answer import Answer
from certree.results._certificate import Certificate, Exact, exact
from certree.results._progress import Measure
from certree.results._record import Record
from certree.tree import Labels, Tree

from .counted_rows import CountedRows
from .objectives import task_name
from .read import ClassRows, encode, read_classes, rows_behind
from .request import Request
from .statement import Statement, tree_over

# Rounding may change what an error in a row costs by this share; beyond, nothing is optimal.
_NEGLIGIBLE = 2.0**-20

# The same for the weight of a class, where shares of it are what counts.
_NEGLIGIBLE_SHARE = Fraction(1, 2**10)

E = TypeVar("E", bound="ErrorStatement")


@dataclass(frozen=True, kw_only=True)
class ErrorStatement(Statement):
    """A statement whose costs are weighted errors plus a penalty.

    Attributes
    ----------
    rows : int array or None
        The rows of the table that count; None: all.
    classes, codes : arrays
        The classes, and that of each row of `columns`.
    row_weights : int64 array or None
        Integer weight of these rows; None: one each.
    weights : ErrorWeights
        What the integers stand for.
    class_totals : tuple of Fraction
        Weight of each class, as the integers have it.
    leaf_penalty : int
        What a leaf costs the search where it counts leaves itself, for multiway tests.
    """

    rows: NDArray[np.intp] | None
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    row_weights: NDArray[np.int64] | None
    weights: ErrorWeights
    class_totals: tuple[Fraction, ...]
    leaf_penalty: int = 0

    certificate_kind: ClassVar[type[Record]] = Certificate

    @property
    def is_weighted(self) -> bool:
        """Whether errors are counted by weights of rows or classes."""
        return self.counted.is_weighted or any(w != 1 for w in self.weights.class_weights)

    @property
    def measures(self) -> tuple[str, str]:
        if not self.is_weighted:
            return "errors", "accuracy"
        is_balanced = self.task == "balanced_accuracy"
        return "weighted errors", "balanced accuracy" if is_balanced else "weighted accuracy"

    @property
    def unit(self) -> Fraction:
        """The weight that one unit of integer row and class weight stands for."""
        return self.weights.unit

    @property
    def complexity_unit(self) -> Fraction:
        """What a complexity of one costs: all rows."""
        return self.total_weight

    @property
    def most_cost(self) -> Fraction:
        """No tree makes more errors than there is weight."""
        return self.total_weight

    @property
    def measure(self) -> Measure:
        # A penalty makes more of the cost than errors.
        has_penalty = self.scale.penalty != 0
        return Measure(
            "cost" if has_penalty else self.measures[0],
            exact,
            exact(self.total_weight),
            "of all weight" if self.is_weighted else "of the rows",
        )

    @property
    def cost_matrix(self) -> NDArray[np.int64]:
        """What a label costs a row of each class, for one unit of its weight."""
        costs = np.array(self.weights.multipliers, dtype=np.int64)
        matrix = np.repeat(costs[:, None], len(costs), axis=1)
        np.fill_diagonal(matrix, 0)
        return matrix

    @property
    def error_problem(self) -> engine.Problem:
        """The rows with what labels cost them in errors."""
        return engine.Problem(self.columns, self.codes, self.cost_matrix, self.row_weights)

    @property
    def problem(self) -> engine.Problem:
        """What the core is asked to solve."""
        return self.error_problem

    def solve(self, options: engine.Options, watch: engine.Callback | None) -> engine.Result:
        outcomes = self.encoder.multiway_columns_
        if outcomes is None:
            return engine.solve(self.problem, options, watch)
        return solve_multiway(self.problem, outcomes, options, self.leaf_penalty, watch)

    def paid_for_leaves(self, nodes: engine.Nodes) -> int:
        return self.leaf_penalty * self.n_paid(nodes, "leaf") if self.leaf_penalty else 0

    def solve_path(
        self, options: engine.Options, watch: engine.Callback | None
    ) -> engine.PathResult:
        outcomes = self.encoder.multiway_columns_
        if outcomes is not None:
            return solve_multiway_path(self.problem, outcomes, options, watch)
        return engine.solve_path(self.problem, options, watch)

    def leaf_cost(self, units: int) -> Fraction:
        return units * self.unit

    def objective(self, cost: Exact) -> float:
        return float(1 - Fraction(cost) / self.total_weight)

    def grow(self, nodes: engine.Nodes) -> Tree:
        leaves = nodes.route(self.columns)
        counts, rows = self.counted.in_nodes(nodes, leaves, self.codes, len(self.classes))
        payload = Labels(nodes.label, counts, self.classes, rows=rows)
        return tree_over(self.encoder, nodes, payload=payload, n_columns=self.columns.shape[1])

    def n_paid(self, nodes: engine.Nodes, per: str) -> int:
        if nodes.outcomes is None or per != "leaf":
            return super().n_paid(nodes, per)
        # Outcomes of a multiway test without training rows cost no leaf penalty.
        sizes = np.bincount(nodes.route(self.columns), minlength=len(nodes))
        return max(int(np.count_nonzero(sizes[nodes.is_leaf])), 1)

    def stated_weights(self) -> dict[str, Any]:
        weights = self.weights
        plain = all(weight == 1 for weight in weights.class_weights)
        return {
            "weight_quantum": None if weights.is_exact else exact(weights.unit),
            "class_weights": None if plain else tuple(map(exact, weights.class_weights)),
            "rounding": exact(weights.rounding),
        }

    @property
    def hidden(self) -> Fraction:
        # With the weights as they were given, the tree found and the best one both cost up to the
        # rounding more or less.
        return 2 * self.weights.rounding if self.weights.worst > _NEGLIGIBLE else Fraction(0)

    def doubted(self, answer: Answer, accepted: Fraction) -> Answer:
        if not self.hidden or answer.cost is None:
            return answer
        lower = max(Fraction(answer.lower_bound) - self.hidden, Fraction(0))
        lower = min(lower, Fraction(answer.lower_bound))
        gap = answer.cost - lower
        status = answer.status
        if status in ("optimal", "gap") and gap:
            status = "gap" if gap <= accepted else "precision"
        return replace(answer, status=status, lower_bound=exact(lower))

    @property
    def loses_shares(self) -> bool:
        """Whether rounding changes the weight of some class by more than is negligible."""
        least = min(total for total in self.class_totals if total)
        return self.weights.rounding > _NEGLIGIBLE_SHARE * least

    def with_multiway_leaves(self, per: str) -> ErrorStatement:
        """Return the statement for multiway tests, whose leaves are counted one by one."""
        if self.encoder.multiway_columns_ is None:
            return self
        scale = replace(self.scale, constant=Fraction(0))
        if per != "leaf":
            return replace(self, scale=scale)
        penalty = scale.split_penalty
        return replace(self, scale=replace(scale, split_penalty=0), leaf_penalty=penalty)


def state_classes(request: Request) -> ErrorStatement:
    """Return what is asked of a search that counts weighted errors."""
    goal, rows = request.classes, read_classes(request)
    # The objective does not use pos_label, but a class that y lacks is a typing error.
    find_positive(rows.classes.tolist(), goal.pos_label, task_name(goal.objective))
    question = request.question("path" if request.path else "tree")
    return state_errors(request, rows, question, ErrorStatement)


def state_errors(
    request: Request,
    rows: ClassRows,
    question: engine.Question,
    kind: type[E],
    *,
    task: str | None = None,
    budget: int | None = None,
    most_weight: int | None = None,
    **own: Any,
) -> E:
    """Set up what is to be minimised, and encode the table.

    Parameters
    ----------
    request : Request
        What is asked.
    rows : ClassRows
        Classes and weights.
    question : Question
        What the rows will be searched for.
    kind : type
        The statement to make.
    task : str, optional
        What certificates call the objective; by default its name.
    budget : int, optional
        The largest total cost that can be minimised.
    most_weight : int, optional
        For objectives with a positive class, which multiply weights with others, and whose penalty
        is not counted in errors: how much all rows may weigh together.
    **own
        Fields that only this kind of statement has.
    """
    goal, codes = request.classes, rows.codes
    classes = rows.classes.tolist()
    for_metric = most_weight is not None
    complexity = Fraction(0) if for_metric else parse_complexity(request.size.complexity)
    if budget is None:
        budget = request.cost_budget(rows.n_rows, complexity)
    totals = rows.given.totals(codes, len(classes))
    wanted = class_fractions(goal.class_weight, classes, totals)
    is_balanced = not for_metric and task_name(goal.objective) == "balanced_accuracy"
    if is_balanced and goal.class_weight != "balanced":
        # The objective is then the weighted mean of the classes' recalls.
        equal = class_fractions("balanced", classes, totals)
        wanted = list(map(Fraction.__mul__, wanted, equal))
    most = budget if most_weight is None else max(most_weight, 1)
    weights = error_weights(rows.given, codes, wanted, totals, most)
    sums = added_up(codes, weights.row_weights, len(classes)).tolist()
    units = list(map(int.__mul__, sums, weights.multipliers))
    per = request.size.complexity_per
    scale = error_scale(sum(units), weights.unit, complexity, per=per, budget=budget)
    question = replace(question, n_values=len(classes))
    encoded = encode(request.table, request.X, rows.for_encoder, question)
    behind = rows_behind(request.X)
    counted = CountedRows.read(behind, request.sample_weight, rows.n_rows, rows.kept)
    return kind(
        task=task_name(goal.objective) if task is None else task,
        columns=encoded.cells,
        encoder=encoded.encoder,
        scale=scale,
        n_rows=counted.number(len(codes)),
        total_weight=sum(units) * weights.unit,
        counted=counted,
        seconds=perf_counter() - rows.start,
        least_rows=encoded.least_rows,
        row_counts=encoded.row_counts,
        rows=rows.kept,
        classes=rows.classes,
        codes=codes,
        row_weights=weights.row_weights,
        weights=weights,
        class_totals=tuple(total * weights.unit for total in units),
        **own,
    )


def find_positive(labels: list[Any], pos_label: Any, name: str, kind: str = "metric") -> int:
    """Return the position of the positive class; by default the last of them.

    Raises
    ------
    ValueError
        If it is not there.
    """
    if pos_label is None:
        return len(labels) - 1
    if pos_label not in labels:
        raise ValueError(
            f"pos_label={pos_label!r}, for the {kind} {name!r}, is not among the classes of "
            f"y, which are {few(labels)}; None stands for the greater of two classes."
        )
    return labels.index(pos_label)


def few(labels: list[Any]) -> str:
    """Return the first of some labels in words."""
    return ", ".join(map(repr, labels[:5])) + (", ..." if labels[5:] else "")
