"""Tasks of medians and quantiles: absolute errors and pinball losses around the best value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.leaves.costs.loss import RowCosts
from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import (
    FixedPoint,
    check_numbers,
    check_size,
    exact_decimals,
    finest,
    round_up,
)
from certree.numbers._fractions import shown, to_float
from certree.tasks._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task
from certree.tree._nodes import Nodes

# The core adds up losses in doubles, and needs room for two of them, with their signs.
_MOST_LOSS = 2**51 - 1

# Sums of float64 here are off by far less than this share of them.
_LITTLE = 2.0**-20

# Number of candidate values of a quantile, unless they are listed.
_CANDIDATES = 64

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
        check_size(target, "y")
        self.target, self.above, self.below, self.rows = target, above, below, rows
        found = _GivenLosses.read(target, rows, slopes).scaled(min(_MOST_LOSS, rows.budget))
        self.statistics = np.stack([found.weights, found.values], axis=1)
        self.unit = found.unit
        self.rounding = found.rounding
        self.constant = Fraction(0)
        self.order = np.argsort(target, kind="stable")
        whole = self._loss(np.arange(len(target)))[1]
        self.largest = max(whole, 1)
        self.whole = whole * self.unit
        self.complexity_unit = self.whole

    @property
    def most_counted(self) -> int:
        # The value of a leaf lies between the ends of all targets. So a row pays no more than at
        # one of them, which for few heavy rows is far more than the loss of a leaf of all rows.
        weights, values = self.statistics.T
        above, below = values - values.min(), values.max() - values
        each = np.maximum(self.above * above, self.below * below)
        return max(int((weights * each).sum()), self.largest)

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

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str]:
        name = "median" if self.above == self.below else "quantile"
        what = "absolute error" if self.share == 1 else "pinball loss"
        part = self.rows.total_weight / int(self.statistics[:, 0].sum())
        return [
            f"{name} of {amount}, mean {what} {to_float(loss * self.unit / (weight * part)):.4g}"
            for amount, (weight, loss, _) in zip(amounts, sums.tolist(), strict=True)
        ]

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.whole) if self.whole else 1.0


class _ScaledLosses(NamedTuple):
    """Weights and targets as integers, what a unit of loss costs, and what rounding hides."""

    weights: NDArray[np.int64]
    values: NDArray[np.int64]
    unit: Fraction
    rounding: Fraction


class _Weighing(NamedTuple):
    """Integer weights, what a unit stands for, and how far each is off, in units of shares."""

    values: NDArray[np.int64]
    step: Fraction
    errors: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class _GivenLosses:
    """Weights and targets as they were given.

    The losses of all rows together have about 50 bits, which digits of weights and of targets
    share. Numbers that fit are exact. For others, every way to share the bits hides something of
    the losses (docs/theory/quantiles.md), and :meth:`scaled` takes the one that hides least.

    Attributes
    ----------
    target : float array of shape (n_rows,)
        The targets.
    shares : float array of shape (n_rows,)
        Weights as parts of `largest`.
    exact : int64 array of shape (n_rows,), or None
        Weights as integers, if these are exactly the given ones.
    largest, quantum : Fraction
        What a share of one and a unit of `exact` stand for.
    slopes : Slopes
        What a unit of weight pays.
    """

    target: NDArray[np.float64]
    shares: NDArray[np.float64]
    exact: NDArray[np.int64] | None
    largest: Fraction
    quantum: Fraction
    slopes: Slopes

    @classmethod
    def read(cls, target: NDArray[np.float64], rows: Rows, slopes: Slopes) -> _GivenLosses:
        numbers: NDArray[Any] = rows.weights if rows.given is None else rows.given
        exponent = math.frexp(float(numbers.max()))[1]
        shares = np.ldexp(numbers.astype(np.float64), -exponent)
        largest = Fraction(2) ** exponent
        if rows.given is not None:
            return cls(target, shares, None, largest, rows.quantum, slopes)
        common = int(np.gcd.reduce(rows.weights))
        quantum = rows.quantum * common
        return cls(target, shares, rows.weights // common, largest * rows.quantum, quantum, slopes)

    def scaled(self, most: int) -> _ScaledLosses:
        """Return integers with which all losses together are at most `most` units."""
        finest(self.width or 1.0, most)  # refuses targets whose distances leave float64
        chosen, least, least_rounded = None, math.inf, math.inf
        for weights in self._weighings(most):
            hidden = self._hidden(weights, self._targets(weights, most))
            if chosen is None or hidden < least:
                chosen, least = weights, hidden
            if least == 0 or hidden > 8 * least_rounded:
                break  # the more digits weights have, the fewer are left for targets
            if weights.errors is not None:
                least_rounded = min(least_rounded, hidden)
        assert chosen is not None
        fixed = self._targets(chosen, most)
        unit = fixed.quantum * chosen.step * self.slopes.share
        return _ScaledLosses(
            chosen.values, fixed.values, unit, round_up(Fraction(least) * self.largest)
        )

    @cached_property
    def width(self) -> float:
        with np.errstate(over="ignore"):
            return float(self.target.max() - self.target.min())

    @cached_property
    def decimals(self) -> FixedPoint | None:
        """Targets as exact decimals, at least 0 and as small as they can be."""
        if self.width == 0:
            zeros = np.zeros(len(self.target), dtype=np.int64)
            return FixedPoint(zeros, Fraction(1), Fraction(0))
        fixed = exact_decimals(self.target, self.width, _MOST_LOSS)
        if fixed is None:
            return None
        values = fixed.values - fixed.values.min()
        common = int(np.gcd.reduce(values))
        return FixedPoint(values // common, fixed.quantum * common, Fraction(0))

    @cached_property
    def whole(self) -> float:
        """A little more than the loss of all rows in one leaf, in units of shares."""
        order = np.argsort(self.target, kind="stable")
        passed = np.cumsum(self.shares[order])
        low, high = self.slopes.below * passed, self.slopes.above * (passed[-1] - passed)
        loss = float((np.minimum(low, high)[:-1] * np.diff(self.target[order])).sum())
        slack = float(passed[-1]) * self.width * len(order) * 2.0**-50
        return float(self.slopes.share) * (loss + slack) * (1 + _LITTLE)

    @cached_property
    def dearest(self) -> NDArray[np.float64]:
        """What a unit of weight of each row costs in a leaf, at most."""
        above, below, share = self.slopes
        most_above = above * (self.target - self.target.min())
        most_below = below * (self.target.max() - self.target)
        return np.asarray(float(share) * np.maximum(most_above, most_below), dtype=np.float64)

    def _weighings(self, most: int) -> Iterator[_Weighing]:
        """Yield the exact weights, if they fit, and then rounded ones, from few digits to many."""
        slopes, n_rows = self.slopes.above + self.slopes.below, len(self.shares)
        if self.exact is not None and int(self.exact.sum()) * slopes <= most:
            yield _Weighing(self.exact, self.quantum)
        total = float(self.shares.sum())
        for bits in range(n_rows.bit_length() + 1, (most // slopes).bit_length()):
            # A power of two, so that only the rounding to integers is not exact.
            exponent = math.frexp(total)[1] - bits
            values = np.maximum(np.rint(np.ldexp(self.shares, -exponent)), 1.0)
            if float(values.sum()) * slopes > most:
                return
            off = np.abs(np.ldexp(values, exponent) - self.shares) + self.shares * 2.0**-51
            yield _Weighing(values.astype(np.int64), Fraction(2) ** exponent * self.largest, off)

    def _targets(self, weights: _Weighing, most: int) -> FixedPoint:
        """Return the targets in as many steps as these weights leave room for."""
        steps = most // ((self.slopes.above + self.slopes.below) * int(weights.values.sum()))
        fixed = self.decimals
        if fixed is not None and int(fixed.values.max()) <= steps:
            return fixed
        # The least multiple of a power of two, of six bits, with which the steps are enough.
        mantissa, exponent = math.frexp(self.width / max(steps - 1, 1) * (1 + _LITTLE))
        quantum = math.ldexp(math.ceil(mantissa * 64), exponent - 6)
        values = np.rint((self.target - self.target.min()) / quantum).astype(np.int64)
        return FixedPoint(values, Fraction(quantum), Fraction(quantum))

    def _hidden(self, weights: _Weighing, fixed: FixedPoint) -> float:
        """Return the most that the loss of any tree changes by rounding, in units of shares."""
        above, below, share = self.slopes
        by_targets, dearest = 0.0, self.dearest
        if fixed.error:
            moved = np.abs(fixed.values * float(fixed.quantum) - (self.target - self.target.min()))
            moved += float(np.abs(self.target).max()) * 2.0**-50
            each = float(max(above, below) * share) * float(self.shares @ moved)
            shift = float(2 * min(above, below) * share) * float(self.shares.sum() * moved.max())
            by_targets = min(each, shift)
            # Weights are rounded beside targets that are.
            dearest = dearest + float(max(above, below) * share) * (moved + moved.max())
        if weights.errors is None:
            return by_targets * (1 + _LITTLE)
        # Losses change by no more than the largest share that a weight is off by. Rows of small
        # weight, which are off by more than the others, count by what they cost in any leaf.
        parts = weights.errors / self.shares
        order = np.argsort(parts)
        alone = np.append(np.cumsum((weights.errors * dearest)[order[::-1]])[::-1], 0.0)
        common = np.append(0.0, parts[order])
        by_weights = float((common * (self.whole + by_targets) + alone).min())
        return (by_targets + by_weights) * (1 + _LITTLE)


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


def pinball(y: Any, quantile: float = 0.5, candidates: Any = None) -> RowCosts:
    r"""Return the task of least pinball loss, with leaf values from a list: quantile regression.

    .. math:: \sum_i \max\big(q (y_i - v), (q - 1) (y_i - v)\big)

    The best value of a leaf is not a function of a sum over its rows, but the loss of each
    candidate value is one. With ``quantile=0.5`` the loss is half the absolute error.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Numbers to be predicted.
    quantile : float, default=0.5
        Strictly between 0 and 1.
    candidates : array-like, optional
        Values that a leaf may predict; by default up to 64 of those in y, at equal distances in
        rank. With all of them the tree is best without restriction.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.pinball([1.0, 2.0, 9.0, 5.0], quantile=0.5)
    >>> solve(task, [[0], [0], [0], [1]], max_depth=1).predict([[0], [1]]).tolist()
    [2.0, 5.0]
    """
    target = check_numbers(y, "y", (None,))
    level = float(read_fraction(quantile, "quantile"))
    if not 0 < level < 1:
        raise ValueError(f"quantile must lie strictly between 0 and 1, got {quantile!r}.")
    if candidates is None:
        values = np.unique(target)
        places = np.linspace(0, len(values) - 1, min(len(values), _CANDIDATES))
        values = values[np.unique(np.rint(places).astype(np.intp))]
    else:
        values = np.unique(check_numbers(candidates, "candidates", (None,)))
    above = target[:, None] - values[None, :]
    # Rounded where a decimal is meant: 0.1 * 3 is 0.30000000000000004.
    costs = np.round(np.maximum(level * above, (level - 1) * above), 12)
    return RowCosts(costs, labels=values)
