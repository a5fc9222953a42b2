r"""Real targets and weights as integers for squared errors.

A leaf of the search has integers w, s and q, and costs :math:`q - s^2 / w`. It is enough that every
row has :math:`q \ge s^2 / w`. Where targets and weights are short decimals, w, s and q are the sums
of ``w``, ``w * t`` and ``w * t * t`` for integer targets ``t``, and nothing is rounded. Otherwise
weights are counted in finer units, so that the means ``s / w`` of rows, and not their integer
parts, carry the digits of the targets: only q has to fit the range of costs.

Several targets, the outputs, have a sum s each, and share w and q: a leaf costs
:math:`q - \sum_k f_k s_k^2 / w`, with an integer f for each output. Exact outputs have units of
their own, and f makes up for them and for the weights of the outputs. Rounded ones are multiplied
by the roots of these weights, have one unit, and f is 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._exact import read_fraction
from ._fixed_point import exact_decimals, root_up
from ._fractions import common_unit

# The search divides by weights up to this total in float64, which is many times faster.
_NARROW = 2**25

# Weights are kept that small only if the spread of one target would have at least this many steps.
_FEWEST_STEPS = 2**30


@dataclass(frozen=True, slots=True)
class Squares:
    """A real target as the search reads it.

    Attributes
    ----------
    statistics : ndarray of int64, shape (n_rows, n_outputs + 2)
        w, all s, and q of each row.
    factors : tuple of int
        f of each output.
    centres, quanta : tuple of fractions.Fraction
        ``centre + quantum * s / w`` is the target of a row, or the mean of a leaf, by output.
    weight, unit : fractions.Fraction
        What one unit of w stands for, and one unit of the squared error.
    rounding : fractions.Fraction or None
        The squared error of any partition of the rows differs by at most this from the one with
        the given numbers, in units; None: nothing is rounded.
    """

    statistics: NDArray[np.int64]
    factors: tuple[int, ...]
    centres: tuple[Fraction, ...]
    quanta: tuple[Fraction, ...]
    weight: Fraction
    unit: Fraction
    rounding: Fraction | None

    @property
    def widths(self) -> list[int]:
        """Distances between whole numbers around the targets, by output."""
        means = self.statistics[:, 1:-1] // self.statistics[:, :1]
        return [high - low + 1 for low, high in zip(*_ends(means), strict=True)]

    @property
    def most_error(self) -> int:
        """A bound on all sums of squares: every row at the distance of the two extremes."""
        parts = zip(self.factors, self.widths, strict=True)
        # The last column is rounded up for every row, where it is rounded.
        return int(self.statistics[:, 0].sum()) * sum(
            factor * width * width for factor, width in parts
        ) + len(self.statistics) * len(self.factors)


@dataclass(frozen=True, eq=False)
class SquareSums:
    """A real target of groups of rows, by exact sums over the rows of each.

    A row has the target ``centre + quantum * t`` for an integer t, and an integer weight w.

    Attributes
    ----------
    weights, totals, squares : arrays of shape (n_groups,)
        Sums of ``w``, ``w * t`` and ``w * t * t``, as Python's integers where they may be large.
    centre, quantum : fractions.Fraction
        What an integer target stands for.
    weight : fractions.Fraction
        What one unit of weight stands for.
    error : fractions.Fraction
        How far the target of a row is from its integer, at most, in quanta; 0: nothing is rounded.
    """

    weights: NDArray[np.int64]
    totals: NDArray[Any]
    squares: NDArray[Any]
    centre: Fraction
    quantum: Fraction
    weight: Fraction
    error: Fraction

    def select(self, groups: NDArray[Any]) -> SquareSums:
        """Return the sums of some groups."""
        parts = (self.weights[groups], self.totals[groups], self.squares[groups])
        return SquareSums(*parts, self.centre, self.quantum, self.weight, self.error)

    def integers(self, most: int) -> Squares:
        """Return the sums as the search reads them; `most` is as for :func:`squares`."""
        # No group has a mean square above this.
        pairs = zip(self.squares.tolist(), self.weights.tolist(), strict=True)
        spread = math.isqrt(max(-(-int(square) // weight) for square, weight in pairs)) + 1
        if not self.error and int(self.weights.sum()) * (2 * spread + 1) ** 2 < most:
            columns = [self.weights, self.totals, self.squares]
            statistics = np.stack([np.asarray(c, dtype=np.int64) for c in columns], axis=1)
            return self._squares(statistics, self.quantum, self.weight, None)
        return self._rounded(spread, most)

    def _rounded(self, spread: int, most: int) -> Squares:
        """Round the mean of each group, and separately what its rows differ from it."""
        counted = _Weights.read(self.weights, self.weight, most, None, 1)
        times = int(counted.values[0]) // int(self.weights[0])
        limit = max(
            math.isqrt(max((most - len(self.weights)) // int(counted.values.sum()), 1)) - 3, 1
        )
        finer, coarser = limit // (2 * spread), -(-2 * spread // limit)
        steps = Fraction(2) ** (finer.bit_length() - 1 if finer else -coarser.bit_length())
        lines = []
        for weight, total, square in zip(
            self.weights.tolist(), self.totals.tolist(), self.squares.tolist(), strict=True
        ):
            s = round(total * times * steps)
            # What rows differ from the mean of their group by is the same for every tree.
            within = (square - Fraction(total * total, weight)) * times * steps * steps
            lines.append((weight * times, s, -(-s * s // (weight * times)) + math.ceil(within)))
        statistics = np.array(lines, dtype=np.int64)
        lost_by_row = float(steps * self.error) * (1 + 2.0**-40)
        errors = statistics[:, :1].astype(np.float64) * lost_by_row + 0.5
        lost = _rounding(statistics, errors, counted.errors, 1) + len(lines)
        return self._squares(statistics, self.quantum / steps, counted.quantum, lost)

    def _squares(
        self,
        statistics: NDArray[np.int64],
        quantum: Fraction,
        weight: Fraction,
        rounding: Fraction | None,
    ) -> Squares:
        """Return sums of one output."""
        unit = quantum**2 * weight
        return Squares(statistics, (1,), (self.centre,), (quantum,), weight, unit, rounding)


def squares(
    target: NDArray[np.float64],
    weights: NDArray[np.int64],
    weight_quantum: Fraction,
    most: int,
    given: NDArray[np.float64] | None = None,
    output_weights: Sequence[Fraction] = (Fraction(1),),
) -> Squares:
    """Centre real targets, and return their moments as integers.

    Parameters
    ----------
    target : ndarray of shape (n_rows, n_outputs)
        Finite numbers.
    weights : ndarray of int64, shape (n_rows,)
        Integer weights, at least one each.
    weight_quantum : fractions.Fraction
        What one unit of these stands for.
    most : int
        The largest weighted sum of squares that the search may form.
    given : ndarray of float64, shape (n_rows,), optional
        The weights as they were given, if the integers are not exactly these.
    output_weights : sequence of fractions.Fraction
        What the squared error of each output counts, more than 0.
    """
    if given is None or (target == target[0]).all():
        found = _exact(target, weights, weight_quantum, most, output_weights)
        if found is not None:
            return found
    counted = _Weights.read(weights, weight_quantum, most, given, target.shape[1])
    return _rounded(target, counted, most, output_weights)


class _Decimals(NamedTuple):
    """A target as integers: ``centre + quantum * values``."""

    values: NDArray[np.int64]
    centre: Fraction
    quantum: Fraction

    @classmethod
    def of(cls, target: NDArray[np.float64], largest: int) -> _Decimals | None:
        """Return a target of short decimals; None if there are too many digits."""
        if float(target.min()) == float(target.max()):
            zeros = np.zeros(len(target), dtype=np.int64)
            return cls(zeros, read_fraction(float(target[0]), "y"), Fraction(1))
        middle = float(target.min() / 2 + target.max() / 2)
        spread = float(max(target.max() - middle, middle - target.min()))
        fixed = exact_decimals(target, spread, largest)
        if fixed is None:
            return None
        centre = (int(fixed.values.min()) + int(fixed.values.max())) // 2
        t = fixed.values - centre
        common = max(int(np.gcd.reduce(t)), 1)
        return cls(t // common, centre * fixed.quantum, fixed.quantum * common)


def _exact(
    target: NDArray[np.float64],
    weights: NDArray[np.int64],
    weight_quantum: Fraction,
    most: int,
    output_weights: Sequence[Fraction],
) -> Squares | None:
    """Return the sums of short decimals; None if there are too many digits."""
    # Distances are at most twice the spread, so integers are at most half the root of their share.
    largest = max(math.isqrt(most // int(weights.sum())) // 2 - 1, 1)
    outputs = [_Decimals.of(column, largest) for column in target.T]
    found = [output for output in outputs if output is not None]
    if len(found) < len(outputs):
        return None
    each = [
        weight * output.quantum**2 if output.values.any() else Fraction(0)
        for weight, output in zip(output_weights, found, strict=True)
    ]
    unit = common_unit(each, most)
    if unit is None:
        return None
    unit = unit or Fraction(1)
    # A constant output has no error, whatever it counts.
    factors = tuple(max(int(part / unit), 1) for part in each)
    t = np.stack([output.values for output in found], axis=1)
    if len(found) > 1:
        widths = [high - low + 1 for low, high in zip(*_ends(t), strict=True)]
        error = sum(f * width * width for f, width in zip(factors, widths, strict=True))
        if int(weights.sum()) * error + t.size > most:
            return None
    w = weights[:, np.newaxis]
    q = (w * t * t * np.array(factors, dtype=np.int64)).sum(axis=1, keepdims=True)
    return Squares(
        np.hstack([w, w * t, q]),
        factors,
        tuple(output.centre for output in found),
        tuple(output.quantum for output in found),
        weight_quantum,
        unit * weight_quantum,
        None,
    )


def _ends(values: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Return the least and the greatest number of each column."""
    return values.min(axis=0).tolist(), values.max(axis=0).tolist()


@dataclass(frozen=True, slots=True)
class _Weights:
    """Weights in fine units, what a unit stands for, and how far each is off, in units."""

    values: NDArray[np.int64]
    quantum: Fraction
    errors: NDArray[np.float64]

    @classmethod
    def read(
        cls,
        weights: NDArray[np.int64],
        quantum: Fraction,
        most: int,
        given: NDArray[np.float64] | None,
        n_outputs: int,
    ) -> _Weights:
        # Means between -2 and 2 then carry the digits, and squares of distances are at most 49.
        widest = max(most // (64 * n_outputs) - len(weights), len(weights))
        if given is None:
            total = int(weights.sum())
            narrow = max(min(_NARROW, widest) // total, 1)
            is_fine = math.isqrt(most * narrow // total) // 2 >= _FEWEST_STEPS
            factor = narrow if is_fine else max(widest // total, 1)
            return cls(weights * factor, quantum / factor, np.zeros(len(weights)))
        largest = float(given.max())
        shares = given / largest
        steps = 2.0 ** math.floor(math.log2(widest / float(shares.sum())))
        wanted = shares * steps
        values = np.maximum(np.rint(wanted).astype(np.int64), 1)
        errors = np.abs(values - wanted) + wanted * 2.0**-51
        return cls(values, Fraction(largest) / int(steps), errors)


def _rounded(
    target: NDArray[np.float64], weights: _Weights, most: int, output_weights: Sequence[Fraction]
) -> Squares:
    """Round the product of weight and target for every row and output."""
    w, n_outputs = weights.values[:, np.newaxis], target.shape[1]
    heaviest = max(output_weights)
    roots = np.array([math.sqrt(weight / heaviest) for weight in output_weights])
    middles = target.min(axis=0) / 2 + target.max(axis=0) / 2
    distances = (target - middles) * roots
    spread = float(np.abs(distances).max())
    exponent = math.frexp(spread)[1]
    shares = np.ldexp(distances, -exponent)
    share = math.ldexp(spread, -exponent)
    # Ends of the range are rounded outwards to whole means.
    limit = math.isqrt((most - len(w) * n_outputs) // (int(w.sum()) * n_outputs)) - 3
    steps = 1 << max(math.floor(math.log2(max(limit, 1) / (2 * share))), 0)
    s = np.rint(w * steps * shares).astype(np.int64)
    # At least s**2 / w for every output, so that no leaf has a negative cost.
    lines = zip(s.tolist(), weights.values.tolist(), strict=True)
    q = np.array([[sum(-(-x * x // y) for x in line)] for line, y in lines], dtype=np.int64)
    statistics = np.hstack([w, s, q])
    # Half a unit each, and the errors of float64 in products, differences and decimals.
    noise = np.abs(target).max(axis=0) * 2.0**-51 / spread * share * roots
    product = 2.0**-51 if (roots == 1).all() else 2.0**-49
    errors = 0.5 + np.abs(s) * product + w * (steps * noise)
    quantum = Fraction(2) ** exponent / steps
    return Squares(
        statistics,
        (1,) * n_outputs,
        tuple(map(Fraction, middles.tolist())),
        tuple(quantum / Fraction(root) for root in roots.tolist()),
        weights.quantum,
        quantum**2 * weights.quantum * heaviest,
        _rounding(statistics, errors, weights.errors, 2 * steps),
    )


def _rounding(
    statistics: NDArray[np.int64],
    errors: NDArray[np.float64],
    weight_errors: NDArray[np.float64],
    width: int,
) -> Fraction:
    """Return how much rounding can change the squared error of a partition of the rows.

    Its root is a distance, so that of targets t differs from that of t + d by at most the root of
    the sum of w d**2, and is itself at most the root of the error of a single leaf. A weight
    counts at most the square of the distance of two targets. What q is rounded up by comes on top.
    """
    weight, *totals, square = (int(x) for x in statistics.sum(axis=0))
    whole = square - Fraction(sum(total * total for total in totals), weight)
    little = 1 + Fraction(1, 10**6)
    with np.errstate(over="ignore"):
        moved = float((errors * errors / statistics[:, :1]).sum())
    if not math.isfinite(moved):
        raise ValueError(
            "y or the columns are so large that squares of what they are rounded by leave the "
            "range of float64; divide the column by one number."
        )
    most = Fraction(moved) * little
    by_weights = Fraction(float(weight_errors.sum())) * little * width * width * len(totals)
    return most + 2 * root_up(most * whole) + by_weights + len(statistics) * len(totals)
