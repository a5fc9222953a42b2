"""Tasks of medians and quantiles: absolute errors and pinball losses around the best value."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import check_numbers, fixed_point, round_up
from certree.numbers._fractions import shown, to_float
from certree.tree._nodes import Nodes

from ._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task

# The core adds up losses in doubles, and needs room for two of them.
_MOST_LOSS = 2**50

# Weights that have to be rounded keep this total, so that targets keep about as many digits.
_MOST_WEIGHT = 2**24

# The denominator of a quantile takes room from the digits of targets.
_FINEST_QUANTILE = 10**6


class Slopes(NamedTuple):
    """What a unit of weight pays above and below the value of its leaf, in units of a share."""

    above: int
    below: int
    share: Fraction


class QuantileProblem(LeafProblem):
    r"""Losses around quantiles of integer targets.

    With the quantile :math:`p / r`, a unit of weight pays :math:`p` for a unit that its target is
    above the value of its leaf, and :math:`r - p` for a unit below. The loss of a leaf is an
    integer, and no function of a sum over its rows: what stands for sums here are the weight, the
    loss and the place of the best value of every node.
    """

    kind: ClassVar[str] = "quantile"

    def __init__(self, target: NDArray[np.float64], rows: Rows, slopes: Slopes) -> None:
        above, below, self.share = slopes
        self.target, self.above, self.below, self.rows = target, above, below, rows
        weights, quantum, lost_weight = _whole_weights(rows, above + below)
        if target.min() == target.max():
            target = np.zeros_like(target)
        middle = float(target.min() / 2 + target.max() / 2)
        spread = float(max(target.max() - middle, middle - target.min()))
        most = min(_MOST_LOSS, rows.budget)
        total = 2.0 * (above + below) * float(weights.sum()) * spread
        fixed = fixed_point(target, total, most)
        lost = fixed.error
        if fixed.error:
            # Digits that all targets share are not needed.
            fixed = fixed_point(target - middle, total, most)
            lost = fixed.error + Fraction(float(np.abs(target).max())) / 2**51
        values = fixed.values - fixed.values.min()
        common = max(int(np.gcd.reduce(values)), 1)
        self.statistics = np.stack([weights, values // common], axis=1)
        self.unit = fixed.quantum * common * quantum * self.share
        self.constant = Fraction(0)
        dearest = max(above, below) * self.share
        total_weight = int(weights.sum()) * quantum
        self.rounding = round_up(
            dearest * (lost * total_weight + lost_weight * Fraction(2 * spread))
        )
        self.order = np.argsort(target, kind="stable")
        whole = self._loss(np.arange(len(target)))[1]
        self.largest = max(whole, 1)
        self.whole = whole * self.unit
        self.complexity_unit = self.whole

    objective_name = "D2"

    def engine_settings(self) -> dict[str, Any]:
        return {"above": self.above, "below": self.below}

    def single_leaf(self) -> Fraction:
        return self.whole

    def _loss(self, rows: NDArray[np.intp]) -> tuple[int, int, int]:
        """Return weight, least loss, and the row at the lower quantile, of rows of a node."""
        weights, values = self.statistics[rows].T
        order = np.argsort(values, kind="stable")
        passed = np.cumsum(weights[order])
        total = int(passed[-1])
        low, high = self.below * passed, self.above * (total - passed)
        loss = int((np.diff(values[order]) * np.minimum(low, high)[:-1]).sum())
        return total, loss, int(rows[order[int(np.argmax(low >= high))]])

    def node_sums(self, nodes: Nodes, leaves: NDArray[np.intp]) -> Sums:
        rows = [np.flatnonzero(leaves == node) for node in range(len(nodes))]
        for node in np.flatnonzero(nodes.test >= 0)[::-1].tolist():
            rows[node] = np.concatenate(rows[nodes.children(node)])
        return np.array([self._loss(of) if len(of) else (0, 0, 0) for of in rows], dtype=np.int64)

    def units(self, sums: Sums) -> NDArray[np.int64]:
        return np.asarray(sums[:, 1], dtype=np.int64)

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the middle of all best values of each leaf, by targets and weights as given."""
        values = self.target[sums[:, 2]]
        weights, _ = self.rows.whole_weights()
        for leaf in np.unique(leaves).tolist():
            at = self.order[leaves[self.order] == leaf]
            values[leaf] = self._middle(self.target[at], np.cumsum(weights[at]))
        return values

    def _middle(self, target: NDArray[np.float64], passed: NDArray[Any]) -> float:
        """Return the middle of the best values of sorted targets with these weights added up."""
        slope = (self.above + self.below) * passed - self.above * passed[-1]
        first = int(np.argmax(slope >= 0))
        if slope[first] > 0:
            return float(target[first])
        # Every value up to the next target costs the same.
        low, high = float(target[first]), float(target[first + 1])
        return float((read_fraction(low, "y") + read_fraction(high, "y")) / 2)

    def describe(self, sums: Sums) -> list[str]:
        name = "median" if self.above == self.below else "quantile"
        what = "absolute error" if self.share == 1 else "pinball loss"
        part = self.rows.total_weight / int(self.statistics[:, 0].sum())
        return [
            f"{name} of {to_float(weight * part):g}, mean {what} "
            f"{to_float(loss * self.unit / (weight * part)):.4g}"
            for weight, loss, _ in sums.tolist()
        ]

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.whole) if self.whole else 1.0


def _whole_weights(rows: Rows, slopes: int) -> tuple[NDArray[np.int64], Fraction, Fraction]:
    """Return integer weights, what a unit stands for, and how far all are off together."""
    weights, quantum = rows.weights, rows.quantum
    common = int(np.gcd.reduce(weights))
    weights, quantum = weights // common, quantum * common
    lost = Fraction(0)
    errors = rows.weight_errors
    if errors is not None:
        lost = Fraction(math.fsum(errors)) * (1 + Fraction(1, 2**40))
    total = int(weights.sum())
    if total * slopes <= max(_MOST_LOSS // _MOST_WEIGHT, _MOST_WEIGHT):
        return weights, quantum, lost
    # Few digits are left for targets, so weights keep only some of theirs.
    step = Fraction(total * slopes, max(_MOST_WEIGHT, 4 * slopes * len(weights)))
    rounded = np.array([max(round(int(w) / step), 1) for w in weights.tolist()], dtype=np.int64)
    moved = sum(abs(int(r) * step - int(w)) for r, w in zip(rounded, weights.tolist(), strict=True))
    return rounded, quantum * step, lost + moved * quantum


def read_quantile(value: Any) -> Fraction:
    """Read a quantile as the decimal or fraction that is written, strictly between 0 and 1.

    Examples
    --------
    >>> read_quantile(0.9)
    Fraction(9, 10)
    """
    quantile = read_fraction(value, "quantile")
    if not 0 < quantile < 1:
        raise ValueError(
            f"quantile must lie strictly between 0 and 1, got {shown(value)}; 0.5 is the median."
        )
    if quantile.denominator > _FINEST_QUANTILE:
        raise ValueError(
            f"quantile={shown(value)} has too many digits; give at most six decimals, or a "
            "fraction such as '1/3'."
        )
    return quantile


class AbsoluteError(Task):
    r"""Weighted absolute error around the median of each leaf.

    .. math:: \sum_{\text{leaves}} \min_v \sum_{i \in \text{leaf}} w_i |y_i - v|

    A complexity of one costs as much as the absolute error of a single leaf, so that
    ``objective = D2 - complexity * splits``. If a leaf has several best values, it predicts the
    middle of them.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> X, y = [[0], [0], [0], [1], [1]], [1.0, 2.0, 9.0, 5.0, 6.0]
    >>> solution = solve(tasks.AbsoluteError(), X, y, max_depth=1)
    >>> solution.certificate.cost
    9
    >>> solution.predict([[0], [1]]).tolist()
    [2.0, 5.5]
    """

    name: ClassVar[str] = "absolute_error"
    laws: Laws = Laws(superadditive=True)

    @property
    def slopes(self) -> Slopes:
        """What a unit of weight pays for a unit above and below the value of its leaf."""
        return Slopes(1, 1, Fraction(1))

    def on(self, y: Any, rows: Rows) -> QuantileProblem:
        target = check_numbers(y, "y", (rows.n_rows,), exactly=True)
        return QuantileProblem(rows.select(target), rows, self.slopes)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        values, places = np.unique(check_numbers(y, "y", (n_rows,)), return_inverse=True)
        above, below, share = self.slopes

        def cost(sums: NDArray[Any]) -> NDArray[np.float64]:
            # The weight of every value is a sum over rows, so that the loss is a function of sums.
            passed = np.cumsum(sums, axis=1)
            least = np.minimum(below * passed, above * (passed[:, -1:] - passed))[:, :-1]
            return np.asarray(
                float(share) * (least * np.diff(values)).sum(axis=1), dtype=np.float64
            )

        return LeafCosts(np.eye(len(values))[places.reshape(-1)], cost)


class QuantileLoss(AbsoluteError):
    r"""Weighted pinball loss around a quantile of each leaf.

    .. math:: \sum_{\text{leaves}} \min_v \sum_{i \in \text{leaf}}
              w_i \max\big(q (y_i - v), (q - 1) (y_i - v)\big)

    A complexity of one costs as much as the loss of a single leaf. With ``quantile=0.5`` the loss
    is half of the absolute error.

    Parameters
    ----------
    quantile : float, fraction or str, default=0.5
        Strictly between 0 and 1, with at most six decimals, or a fraction such as ``"1/3"``.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> X, y = [[0], [0], [0], [1], [1]], [1.0, 2.0, 9.0, 5.0, 6.0]
    >>> solution = solve(tasks.QuantileLoss(0.9), X, y, max_depth=1)
    >>> solution.predict([[0], [1]]).tolist()
    [9.0, 6.0]
    """

    name: ClassVar[str] = "quantile"

    def __init__(self, quantile: Any = 0.5) -> None:
        read_quantile(quantile)
        self.quantile = quantile

    @property
    def slopes(self) -> Slopes:
        quantile = read_quantile(self.quantile)
        above, whole = quantile.numerator, quantile.denominator
        return Slopes(above, whole - above, Fraction(1, whole))

    def __repr__(self) -> str:
        return f"QuantileLoss({self.quantile!r})"
