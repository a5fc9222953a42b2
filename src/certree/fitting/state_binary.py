"""Statements about two classes, of which one is the positive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._equal_rows import added_up
from certree.engine._multiway_search import MultiwaySession
from certree.engine._within_limits import LimitedProblem
from certree.numbers._fractions import to_float
from certree.proofs._metric_limits import LimitedSession
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._progress import Measure

from .state_errors import ErrorStatement, few, find_positive

# One unit of cost for a false positive, and one for a false negative: [row type][label].
_ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class BinaryStatement(ErrorStatement):
    """A statement about two classes, of which one is the positive; costs are one minus a metric.

    Attributes
    ----------
    positive : int
        Code of the positive class.
    """

    positive: int

    @cached_property
    def row_types(self) -> NDArray[np.int32]:
        """1 for positive rows, 0 for the others."""
        return np.asarray(self.codes == self.positive, dtype=np.int32)

    @cached_property
    def type_weights(self) -> NDArray[np.int64] | None:
        """Integer weight of each row, class weights included; None: one each."""
        weights, multipliers = self.row_weights, self.weights.multipliers
        if all(multiplier == 1 for multiplier in multipliers):
            return weights
        per_row = np.array(multipliers, dtype=np.int64)[self.codes]
        return per_row if weights is None else weights * per_row

    @cached_property
    def _totals(self) -> tuple[int, int]:
        negatives, positives = added_up(self.row_types, self.type_weights, 2).tolist()
        return negatives, positives

    @property
    def positives(self) -> int:
        """Integer weight of the positive rows."""
        return self._totals[1]

    @property
    def negatives(self) -> int:
        """Integer weight of the other rows."""
        return self._totals[0]

    @property
    def pos_label(self) -> Any:
        """The positive class, as a plain value."""
        return self.classes[self.positive : self.positive + 1].tolist()[0]

    @property
    def problem(self) -> engine.Problem:
        """The rows as the searches for metrics take them."""
        return engine.Problem(self.columns, self.row_types, _ERRORS, self.type_weights)

    @property
    def session(self) -> engine.Problem | MultiwaySession:
        """The rows for searches that solve for one pair of weights after the other."""
        tests = self.encoder.multiway_columns_
        if tests is None:
            return self.problem
        return MultiwaySession(self.columns, self.row_types, self.type_weights, tests)

    def limited_session(
        self, make: Callable[[NDArray[np.int64], NDArray[np.int64]], LimitedProblem]
    ) -> LimitedSession:
        """Return the rows within limits, to be solved with weights of the two errors.

        `make` gets the errors of rows by label, and an objective over these and splits, and adds
        the limits.
        """
        n_rows = len(self.row_types)
        weights = self.type_weights
        weights = np.ones(n_rows, dtype=np.int64) if weights is None else weights
        errors = np.zeros((n_rows, 2, 2), dtype=np.int64)
        errors[:, 1, 0] = np.where(self.row_types == 0, weights, 0)
        errors[:, 0, 1] = np.where(self.row_types == 1, weights, 0)
        problem = make(errors, np.zeros(3, dtype=np.int64))
        return LimitedSession(problem, self.row_types, self.type_weights)

    @property
    def measure(self) -> Measure:
        return Measure(self.task.replace("_", " "), self.objective)

    def objective(self, cost: Exact) -> float:
        return to_float(1 - Fraction(cost))

    def doubted(self, answer: Answer, accepted: Fraction) -> Answer:
        if answer.status in ("optimal", "gap") and self.loses_shares:
            return replace(answer, status="precision")
        return answer

    def weight(self, units: int) -> Exact:
        """Return the weight that so many units stand for."""
        return exact(units * self.unit)

    def totals(self) -> dict[str, Any]:
        """Return the fields of a certificate that say what is positive, and how much."""
        return {
            "positives": self.weight(self.positives),
            "negatives": self.weight(self.negatives),
            "pos_label": self.pos_label,
        }

    def with_class_labels(self, nodes: engine.Nodes) -> engine.Nodes:
        """Return a tree whose labels are codes of classes, not 1 for positive."""
        return nodes if self.positive else nodes.with_labels(1 - nodes.label)

    def leaf_counts(self, nodes: engine.Nodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return integer weight of negatives and positives in every node that is a leaf."""
        n_nodes = len(nodes)
        cells = nodes.route(self.columns) * 2 + self.row_types
        sums = added_up(cells, self.type_weights, 2 * n_nodes).reshape(n_nodes, 2)
        return sums[:, 0], sums[:, 1]


def check_binary(labels: list[Any], pos_label: Any, metric_name: str) -> int:
    """Return the position of the positive class; refuse what is not two classes.

    Raises
    ------
    ValueError
        If there are not two classes, or the positive class is not among them.
    """
    if len(labels) > 2:
        raise ValueError(
            f"Only binary classification is supported by the metric {metric_name!r}: y has "
            f"{len(labels)} classes, {few(labels)}. Make it two classes, or use "
            "objective='accuracy' or 'balanced_accuracy'."
        )
    positive = find_positive(labels, pos_label, metric_name)
    if len(labels) < 2:
        raise ValueError(
            f"The metric {metric_name!r} needs rows of two classes, but y has only one class, "
            f"{labels[0]!r}, among the rows that count; give rows of both, or use "
            "objective='accuracy'."
        )
    return positive


def refuse_weightless(statement: BinaryStatement) -> None:
    """Raise ValueError unless both classes have weight."""
    labels, multipliers = statement.classes.tolist(), statement.weights.multipliers
    if not all(multipliers):
        raise ValueError(
            f"class_weight gives the class {labels[multipliers.index(0)]!r} no weight, but the "
            f"metric {statement.task!r} needs two classes; give both a weight greater than 0."
        )
