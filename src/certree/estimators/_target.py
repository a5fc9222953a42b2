"""The rows that count, their classes and weights, and what is to be minimised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding._classes import check_labels, encode_labels
from certree.numbers._error_weights import ErrorWeights, class_fractions, error_weights
from certree.numbers._exact import Objective, build_objective, cost_budget, parse_complexity
from certree.numbers._weights import read_weights, scale_given

from ._objective import task_name

# Shares of the weight of rows choose thresholds; weights that are rounded have so many steps there.
_ENCODER_STEPS = 2**30

# Rounding may change what an error in a row costs by this share; beyond, nothing is optimal.
_NEGLIGIBLE = 2.0**-20

# The same for the weight of a class, where shares of it are what counts.
_NEGLIGIBLE_SHARE = Fraction(1, 2**10)


class Wishes(Protocol):
    """The parameters of an estimator that say what is to be minimised."""

    complexity: float
    complexity_per: Literal["split", "leaf"]
    objective: Any
    class_weight: Mapping[Any, float] | Literal["balanced"] | None

    def _cost_budget(self, n_rows: int, complexity: Fraction) -> int: ...


@dataclass(frozen=True)
class Target:
    """The rows that count, with their classes and weights, and what is to be minimised.

    Attributes
    ----------
    sample_weight : int64 array or None
        Weights of all rows for the encoder, those of the classes aside.
    rows : int array or None
        The rows that count; None: all.
    classes, codes : arrays
        The classes, and that of each row that counts.
    row_weights : int64 array or None
        Integer weight of these rows; None: one each.
    weights : ErrorWeights
        What the integers stand for.
    class_totals : tuple of fractions.Fraction
        Weight of each class, as the integers have it.
    objective : Objective
        What is minimised.
    """

    sample_weight: NDArray[np.int64] | None
    rows: NDArray[np.intp] | None
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    row_weights: NDArray[np.int64] | None
    weights: ErrorWeights
    class_totals: tuple[Fraction, ...]
    objective: Objective

    @property
    def unit(self) -> Fraction:
        """The weight that one unit of integer row and class weight stands for."""
        return self.weights.unit

    @property
    def loses_rows(self) -> bool:
        """Whether rounding changes what some error costs by more than is negligible."""
        return self.weights.worst > _NEGLIGIBLE

    @property
    def loses_shares(self) -> bool:
        """Whether rounding changes the weight of some class by more than is negligible."""
        least = min(total for total in self.class_totals if total)
        return self.weights.rounding > _NEGLIGIBLE_SHARE * least

    def problem(self, columns: NDArray[np.uint8]) -> engine.Problem:
        """Return what the core is asked to solve."""
        return engine.Problem(columns, self.codes, self.objective.cost_matrix, self.row_weights)


def read_target(
    wishes: Wishes,
    y: Any,
    sample_weight: Any,
    n_rows: int,
    *,
    most_weight: Callable[[int], int] | None = None,
) -> Target:
    """Read labels and weights, and set up what is to be minimised.

    Objectives with a positive class multiply weights with others, and their penalty is not counted
    in errors: `most_weight` then says how much of the range of the integers all rows may weigh.
    """
    labels = check_labels(y, n_rows, type(wishes).__name__)
    for_metric = most_weight is not None
    complexity = Fraction(0) if for_metric else parse_complexity(wishes.complexity)
    budget = wishes._cost_budget(n_rows, complexity)
    most = budget if most_weight is None else max(most_weight(budget), 1)
    given, rows, for_encoder = read_weights(sample_weight, n_rows), None, None
    if sample_weight is not None:
        for_encoder = scale_given(given, cost_budget(n_rows), _ENCODER_STEPS).values
        if not for_encoder.all():
            rows = np.flatnonzero(for_encoder)
            labels, given = labels[rows], given.select(rows)
    classes, codes = encode_labels(labels)
    totals = given.totals(codes, len(classes))
    wanted = class_fractions(wishes.class_weight, classes.tolist(), totals)
    is_balanced = not for_metric and task_name(wishes.objective) == "balanced_accuracy"
    if is_balanced and wishes.class_weight != "balanced":
        # The weighted mean of the classes' recalls is then what counts.
        equal = class_fractions("balanced", classes.tolist(), totals)
        wanted = list(map(Fraction.__mul__, wanted, equal))
    weights = error_weights(given, codes, wanted, totals, most)
    sums = class_sums(codes, weights.row_weights, len(classes)).tolist()
    units = list(map(int.__mul__, sums, weights.multipliers))
    objective = build_objective(
        sum(units),
        weights.multipliers,
        weights.unit,
        complexity,
        per=wishes.complexity_per,
        budget=budget,
    )
    return Target(
        for_encoder,
        rows,
        classes,
        codes,
        weights.row_weights,
        weights,
        tuple(total * weights.unit for total in units),
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
