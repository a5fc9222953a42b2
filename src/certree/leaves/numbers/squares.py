"""The task of regression: squared error around the mean of each leaf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._named import NamedArray, read_outputs
from certree.leaves.outputs.weights import (
    balanced_weights,
    is_balanced,
    read_output_weights,
    refuse_for_one,
)
from certree.numbers._fixed_point import check_numbers, check_size, round_up, weighted_mean
from certree.numbers._fixed_squares import SquareSums, squares
from certree.tasks._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task


class SquareProblem(LeafProblem):
    r"""Squared error of integer targets, in fine units.

    A leaf with weight :math:`w`, sum :math:`s` and sum of squares :math:`q` has the squared error
    :math:`q - s^2 / w`, a fraction. The search takes the integer part of `scale` times it, which is
    superadditive like the error itself, since integer parts add up to at most the integer part of
    the sum. The counted cost of a tree is thus too small by less than one unit per leaf, and per
    output, if there are several.

    Parameters
    ----------
    target : array of shape (n_rows,) or (n_rows, n_outputs)
        What is to be predicted for the rows that count.
    rows : Rows
        These rows.
    output_weights : sequence of Fraction
        What the squared error of each output counts.
    """

    kind: ClassVar[str] = "squares"

    def __init__(
        self,
        target: NDArray[np.float64] | SquareSums,
        rows: Rows,
        output_weights: Sequence[Fraction] = (Fraction(1),),
    ) -> None:
        self.has_outputs, self.output_names = False, getattr(target, "columns", None)
        self.output_weights = output_weights
        self.target: NDArray[np.float64] | None = None
        if isinstance(target, SquareSums):
            found = target.integers(rows.budget)
        else:
            self.has_outputs = target.ndim > 1
            self.target = np.asarray(target).reshape(len(target), -1)
            for column in self.target.T:
                check_size(column, "y")
            found = squares(
                self.target, rows.weights, rows.quantum, rows.budget, rows.given, output_weights
            )
        self.is_rounded = found.rounding is not None
        self.given_weights = rows.whole_weights()[0]
        self.statistics = found.statistics
        self.factors, self.centres, self.quanta = found.factors, found.centres, found.quanta
        self.weight = found.weight
        self.total = self._error([int(x) for x in found.statistics.sum(axis=0)])
        self.largest = found.most_error
        if self.target is None:
            # Rows of a group differ from each other, too.
            self.largest = max(self.largest, int(found.statistics[:, -1].sum()))
        # Rounded numbers fill the range by themselves.
        self.scale = 1 if self.is_rounded else _scale(self.largest, rows.budget)
        self.largest *= self.scale
        self.unit = found.unit / self.scale
        self.constant = Fraction(0)
        floors = self.unit * rows.most_leaves * len(self.factors)
        self.rounding = round_up(floors + found.unit * (found.rounding or Fraction(0)))
        self.complexity_unit = self.total * found.unit

    def engine_settings(self) -> dict[str, Any]:
        outputs = tuple(self.scale * factor for factor in self.factors)
        return {"scale": self.scale, "outputs": outputs if self.has_outputs else ()}

    def _error(self, sums: list[int]) -> Fraction:
        """Return the squared error of a leaf with these sums, exactly."""
        weight, *totals, square = sums
        parts = zip(self.factors, totals, strict=True)
        saved = sum(factor * total * total for factor, total in parts)
        return square - Fraction(saved, weight) if weight else Fraction(0)

    def units(self, sums: Sums) -> NDArray[np.int64]:
        def cost(weight: int, *rest: int) -> int:
            *totals, square = rest
            parts = zip(self.factors, totals, strict=True)
            saved = sum(-(-self.scale * f * s * s // max(weight, 1)) for f, s in parts)
            return self.scale * square - saved

        return np.array([cost(*line) for line in sums.tolist()])

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[np.float64]:
        means = np.array(
            [
                [
                    float(centre + quantum * Fraction(s, w) if w else centre)
                    for s, centre, quantum in zip(totals, self.centres, self.quanta, strict=True)
                ]
                for w, *totals, _ in sums.tolist()
            ]
        )
        if self.is_rounded and self.target is not None:
            # Trees are compared by rounded targets, but predict the means of the given ones.
            weights = self.given_weights
            for leaf in np.unique(leaves):
                at = leaves == leaf
                means[leaf] = [weighted_mean(y[at], weights[at]) for y in self.target.T]
        return means if self.has_outputs else means[:, 0]

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str] | None:
        if self.has_outputs:
            # One deviation would mix the units of the outputs.
            return [f"means of {amount}" for amount in amounts]
        texts, quantum = [], float(self.quanta[0])
        for amount, (w, s, q) in zip(amounts, sums.tolist(), strict=True):
            # The numerator is exact, so that no digits cancel.
            deviation = math.sqrt((q * w - s * s) / max(w * w, 1)) * quantum
            texts.append(f"mean of {amount}, deviation {deviation:.4g}")
        return texts

    objective_name = "R2"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.complexity_unit) if self.complexity_unit else 1.0


class SquaredError(Task):
    r"""Weighted squared error around the mean of each leaf: regression.

    .. math:: \sum_{\text{leaves}} \sum_{i \in \text{leaf}} w_i (y_i - \bar y_\text{leaf})^2

    A complexity of one costs as much as the squared error of a single leaf, so that
    ``objective = R2 - complexity * splits``. If y has several columns, their squared errors are
    added, each times its weight.

    Parameters
    ----------
    output_weights : array-like of shape (n_outputs,), "balanced" or None, default=None
        What the squared error of each output counts: positive numbers; "balanced": one over the
        variance of the output; None: 1 each.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> solution = solve(tasks.SquaredError(), [[0], [0], [1]], [1.0, 2.0, 7.5], max_depth=1)
    >>> solution.certificate.cost
    Fraction(1, 2)
    >>> solution.tree.predict([[0], [1]]).tolist()
    [1.5, 7.5]
    """

    name: ClassVar[str] = "squared_error"
    laws: Laws = Laws(superadditive=True)

    def __init__(self, output_weights: Any = None) -> None:
        self.output_weights = output_weights

    def on(self, y: Any, rows: Rows) -> SquareProblem:
        if isinstance(y, SquareSums):
            return SquareProblem(y if rows.kept is None else y.select(rows.kept), rows)
        target = rows.select(target_numbers(y, rows.n_rows))
        if target.ndim == 1:
            refuse_for_one(self.output_weights)
            return SquareProblem(target, rows)
        return self.on_outputs(target, rows)

    def on_outputs(self, target: NDArray[np.float64], rows: Rows) -> SquareProblem:
        """Return the task on an array of targets of the rows that count, with two axes."""
        n_outputs = target.shape[1]
        if not is_balanced(self.output_weights):
            return SquareProblem(target, rows, read_output_weights(self.output_weights, n_outputs))
        weights, off = balanced_weights(target, rows.shares)
        problem = SquareProblem(target, rows, read_output_weights(weights, n_outputs))
        problem.rounding = round_up(problem.rounding + problem.complexity_unit * off)
        return problem

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        target = np.asarray(target_numbers(y, n_rows)).reshape(n_rows, -1)
        target = target - target.mean(axis=0)
        weights = self.output_weights
        if is_balanced(weights):
            weights, _ = balanced_weights(target, np.ones(n_rows))
        factors = [float(weight) for weight in read_output_weights(weights, target.shape[1])]

        def cost(sums: NDArray[Any]) -> NDArray[np.float64]:
            w, s, q = np.maximum(sums[:, :1], 1), sums[:, 1:-1], sums[:, -1]
            return np.asarray(q - (factors * s * s / w).sum(axis=1), dtype=np.float64)

        square = (factors * target**2).sum(axis=1)
        return LeafCosts(np.column_stack([np.ones(n_rows), target, square]), cost)

    def __repr__(self) -> str:
        given = "" if self.output_weights is None else f"output_weights={self.output_weights!r}"
        return f"SquaredError({given})"


def target_numbers(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one number per row, or several, with the names of their columns."""
    several = read_outputs(y, n_rows)
    if several is None:
        return check_numbers(y, "y", (n_rows,), exactly=True)
    numbers = check_numbers(np.asarray(several), "y", (n_rows, None), exactly=True)
    names = getattr(several, "columns", None)
    return numbers if names is None else NamedArray(numbers, names)


def _scale(total: int, most: int) -> int:
    """Return the largest power of two with which the largest error fits, at least one."""
    room = most // max(total, 1)
    return 1 << max(room.bit_length() - 1, 0)
