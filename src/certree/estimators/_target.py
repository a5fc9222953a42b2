"""The rows that count, their classes and weights, and what is to be minimised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from certree import _engine
from certree._exact import (
    ClassWeights,
    Objective,
    ScaledWeights,
    build_objective,
    class_multipliers,
    parse_complexity,
    scale_weights,
)

from ._labels import balanced_weights, check_labels, drop_negligible, encode_labels
from ._objective import task_name


class Wishes(Protocol):
    """The parameters of an estimator that say what is to be minimised."""

    complexity: float
    complexity_per: Literal["split", "leaf"]
    objective: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None

    def _cost_budget(self, n_rows: int, complexity: Fraction) -> int: ...


@dataclass(frozen=True)
class Target:
    """The rows that count, with their classes and weights, and what is to be minimised."""

    sample_weight: NDArray[np.int64] | None
    rows: NDArray[np.intp] | None
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    row_weights: NDArray[np.int64] | None
    weights: ScaledWeights
    class_weights: ClassWeights
    objective: Objective

    @property
    def unit(self) -> Fraction:
        """The weight that one unit of integer row and class weight stands for."""
        return self.weights.quantum * self.class_weights.quantum

    def problem(self, columns: NDArray[np.uint8]) -> _engine.Problem:
        """Return what the core is asked to solve."""
        return _engine.Problem(columns, self.codes, self.objective.cost_matrix, self.row_weights)


def read_target(
    wishes: Wishes,
    y: Any,
    sample_weight: Any,
    n_rows: int,
    *,
    most_weight: Callable[[int], int] | None = None,
    reserve: int | None = None,
) -> Target:
    """Read labels and weights, and set up what is to be minimised.

    Objectives with a positive class multiply weights with others, and their penalty is no number of
    errors: `most_weight` then says how much of the range of the integers all rows may weigh.
    `reserve` is the factor that is kept free for class weights and the denominator of the
    complexity, if less than usual will do.
    """
    labels = check_labels(y, n_rows, type(wishes).__name__)
    for_metric = most_weight is not None
    complexity = Fraction(0) if for_metric else parse_complexity(wishes.complexity)
    budget = wishes._cost_budget(n_rows, complexity)
    most = budget if most_weight is None else max(most_weight(budget), 1)
    if for_metric:
        reserve = 1 if wishes.class_weight is None else 2**12
        weights = scale_weights(sample_weight, n_rows, budget=most, reserve=reserve)
    elif reserve is not None:
        weights = scale_weights(sample_weight, n_rows, budget=budget, reserve=reserve)
    else:
        weights = scale_weights(sample_weight, n_rows, budget=budget)
    values, rows = weights.values, None
    if sample_weight is not None and not values.all():
        rows = np.flatnonzero(values)
        labels, values = labels[rows], values[rows]
    classes, codes = encode_labels(labels)
    row_weights = None if sample_weight is None or (values == 1).all() else values
    totals = class_sums(codes, row_weights, len(classes))
    class_weights = class_multipliers(wishes.class_weight, classes, totals, budget=most)
    if not for_metric:
        class_weights = drop_negligible(class_weights, classes)
    is_balanced = not for_metric and task_name(wishes.objective) == "balanced_accuracy"
    if is_balanced and wishes.class_weight != "balanced":
        balanced = balanced_weights(class_weights, classes, totals)
        class_weights = class_multipliers(balanced, classes, totals, budget=budget)
    objective = build_objective(
        totals,
        class_weights,
        complexity,
        per=wishes.complexity_per,
        weight_quantum=weights.quantum,
        budget=budget,
    )
    return Target(
        None if sample_weight is None else weights.values,
        rows,
        classes,
        codes,
        row_weights,
        weights,
        class_weights,
        objective,
    )


def class_sums(
    cells: NDArray[Any], weights: NDArray[np.int64] | None, n_cells: int
) -> NDArray[np.int64]:
    """Return the exact total weight of the rows in each cell."""
    if weights is None:
        return np.bincount(cells, minlength=n_cells)
    sums = np.zeros(n_cells, dtype=np.int64)
    np.add.at(sums, cells, weights)
    return sums
