"""The task of regression: squared error around the mean of each leaf."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers, round_up
from certree.numbers._fixed_squares import SquareSums, squares
from certree.numbers._fractions import to_float

from ._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task


class SquareProblem(LeafProblem):
    r"""Squared error of integer targets, in fine units.

    A leaf with weight :math:`w`, sum :math:`s` and sum of squares :math:`q` has the squared error
    :math:`q - s^2 / w`, a fraction. The search takes the integer part of `scale` times it, which is
    superadditive like the error itself, since integer parts add up to at most the integer part of
    the sum. The counted cost of a tree is thus too small by less than one unit per leaf.
    """

    kind: ClassVar[str] = "squares"

    def __init__(self, target: NDArray[np.float64] | SquareSums, rows: Rows) -> None:
        if isinstance(target, SquareSums):
            found = target.integers(rows.budget)
            spread = int(found.statistics[:, 2].sum())
        else:
            found = squares(target, rows.weights, rows.quantum, rows.budget, rows.given)
            spread = 0
        self.target = target
        self.is_rounded = found.rounding is not None
        self.given_weights = rows.shares
        self.statistics = found.statistics
        self.centre, self.quantum, self.weight = found.centre, found.quantum, found.weight
        self.total = _error(*map(int, found.statistics.sum(axis=0)))
        # Rows of a group differ from each other, too.
        self.largest = max(_most_error(found.statistics), spread)
        # Rounded numbers fill the range by themselves.
        self.scale = 1 if self.is_rounded else _scale(self.largest, rows.budget)
        self.largest *= self.scale
        whole_unit = found.quantum**2 * found.weight
        self.unit = whole_unit / self.scale
        self.constant = Fraction(0)
        self.rounding = round_up(
            self.unit * rows.most_leaves + whole_unit * (found.rounding or Fraction(0))
        )
        self.complexity_unit = self.total * whole_unit

    def engine_settings(self) -> dict[str, Any]:
        return {"scale": self.scale}

    def units(self, sums: Sums) -> NDArray[np.int64]:
        lines = sums.tolist()
        return np.array([(q * w - s * s) * self.scale // max(w, 1) for w, s, q in lines])

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[np.float64]:
        means = np.array([float(self._mean(int(w), int(s))) for w, s, _ in sums])
        if self.is_rounded and not isinstance(self.target, SquareSums):
            # Trees are compared by rounded targets, but predict the means of the given ones.
            weights = self.given_weights
            for leaf in np.unique(leaves):
                at = leaves == leaf
                means[leaf] = math.fsum(weights[at] * self.target[at]) / math.fsum(weights[at])
        return means

    def _mean(self, weight: int, total: int) -> Fraction:
        return self.centre + self.quantum * Fraction(total, weight) if weight else self.centre

    def describe(self, sums: Sums) -> list[str]:
        texts = []
        quantum, weight_quantum = float(self.quantum), to_float(self.weight)
        for w, s, q in sums.tolist():
            # The numerator is exact, so that no digits cancel.
            deviation = math.sqrt((q * w - s * s) / max(w * w, 1)) * quantum
            texts.append(f"mean of {w * weight_quantum:g}, deviation {deviation:.4g}")
        return texts

    objective_name = "R2"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.complexity_unit) if self.complexity_unit else 1.0


class SquaredError(Task):
    r"""Weighted squared error around the mean of each leaf: regression.

    .. math:: \sum_{\text{leaves}} \sum_{i \in \text{leaf}} w_i (y_i - \bar y_\text{leaf})^2

    A complexity of one costs as much as the squared error of a single leaf, so that
    ``objective = R2 - complexity * splits``.

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

    def on(self, y: Any, rows: Rows) -> SquareProblem:
        if isinstance(y, SquareSums):
            return SquareProblem(y if rows.kept is None else y.select(rows.kept), rows)
        target = check_numbers(y, "y", (rows.n_rows,), exactly=True)
        return SquareProblem(rows.select(target), rows)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        target = check_numbers(y, "y", (n_rows,))
        target = target - target.mean()

        def cost(sums: NDArray[Any]) -> NDArray[np.float64]:
            w, s, q = sums.T
            return np.asarray(q - s * s / np.maximum(w, 1), dtype=np.float64)

        return LeafCosts(np.stack([np.ones(n_rows), target, target**2], axis=1), cost)


def _error(weight: int, total: int, square: int) -> Fraction:
    return square - Fraction(total * total, weight) if weight else Fraction(0)


def _most_error(statistics: NDArray[np.int64]) -> int:
    """Return a bound on all sums of squares: every row at the distance of the two extremes."""
    targets = statistics[:, 1] // statistics[:, 0]
    width = int(targets.max()) - int(targets.min()) + 1
    # The third column is rounded up for every row, where it is rounded.
    return int(statistics[:, 0].sum()) * width * width + len(statistics)


def _scale(total: int, most: int) -> int:
    """Return the largest power of two with which the largest error fits, at least one."""
    room = most // max(total, 1)
    return 1 << max(room.bit_length() - 1, 0)
