r"""Real targets and weights as integers for squared errors.

A leaf of the search has integers w, s and q, and costs :math:`q - s^2 / w`. It is enough that every
row has :math:`q \ge s^2 / w`. Where targets and weights are short decimals, w, s and q are the sums
of ``w``, ``w * t`` and ``w * t * t`` for integer targets ``t``, and nothing is rounded. Otherwise
weights are counted in finer units, so that the means ``s / w`` of rows, and not their integer
parts, carry the digits of the targets: only q has to fit the range of costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exact import read_fraction
from ._fixed_point import exact_decimals, root_up

# The search divides by weights up to this total in float64, which is many times faster.
_NARROW = 2**25

# Weights are kept that small only if the spread of the targets has at least this many steps.
_FEWEST_STEPS = 2**30


@dataclass(frozen=True, slots=True)
class Squares:
    """A real target as the search reads it.

    Attributes
    ----------
    statistics : ndarray of int64, shape (n_rows, 3)
        w, s and q of each row.
    centre, quantum : fractions.Fraction
        ``centre + quantum * s / w`` is the target of a row, or the mean of a leaf.
    weight : fractions.Fraction
        What one unit of w stands for.
    rounding : fractions.Fraction or None
        The squared error of any partition of the rows differs by at most this from the one with
        the given numbers, in units of ``quantum**2 * weight``; None: nothing is rounded.
    """

    statistics: NDArray[np.int64]
    centre: Fraction
    quantum: Fraction
    weight: Fraction
    rounding: Fraction | None


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
            return Squares(statistics, self.centre, self.quantum, self.weight, None)
        return self._rounded(spread, most)

    def _rounded(self, spread: int, most: int) -> Squares:
        """Round the mean of each group, and separately what its rows differ from it."""
        counted = _Weights.read(self.weights, self.weight, most, None)
        times = int(counted.values[0]) // int(self.weights[0])
        room = max(
            math.isqrt(max((most - len(self.weights)) // int(counted.values.sum()), 1)) - 3, 1
        )
        finer, coarser = room // (2 * spread), -(-2 * spread // room)
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
        errors = statistics[:, 0].astype(np.float64) * lost_by_row + 0.5
        lost = _rounding(statistics, errors, counted.errors, 1) + len(lines)
        return Squares(statistics, self.centre, self.quantum / steps, counted.quantum, lost)


def squares(
    target: NDArray[np.float64],
    weights: NDArray[np.int64],
    weight_quantum: Fraction,
    most: int,
    given: NDArray[np.float64] | None = None,
) -> Squares:
    """Centre a real target, and return its moments as integers.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        Finite numbers.
    weights : ndarray of int64, shape (n_rows,)
        Integer weights, at least one each.
    weight_quantum : fractions.Fraction
        What one unit of these stands for.
    most : int
        The largest weighted sum of squares that the search may form.
    given : ndarray of float64, shape (n_rows,), optional
        The weights as they were given, if the integers are not exactly these.
    """
    if float(target.min()) == float(target.max()):
        zeros = np.zeros_like(weights)
        exact = read_fraction(float(target[0]), "y")
        return Squares(
            np.stack([weights, zeros, zeros], axis=1), exact, Fraction(1), weight_quantum, None
        )
    if given is None:
        found = _exact(target, weights, weight_quantum, most)
        if found is not None:
            return found
    counted = _Weights.read(weights, weight_quantum, most, given)
    return _rounded(target, counted, most)


def _exact(
    target: NDArray[np.float64], weights: NDArray[np.int64], weight_quantum: Fraction, most: int
) -> Squares | None:
    """Return the sums of short decimals; None if there are too many digits."""
    middle = float(target.min() / 2 + target.max() / 2)
    spread = float(max(target.max() - middle, middle - target.min()))
    # Distances are at most twice the spread, so integers are at most half the root of their share.
    largest = math.isqrt(most // int(weights.sum())) // 2 - 1
    fixed = exact_decimals(target, spread, max(largest, 1))
    if fixed is None:
        return None
    centre = (int(fixed.values.min()) + int(fixed.values.max())) // 2
    t = fixed.values - centre
    common = max(int(np.gcd.reduce(t)), 1)
    t //= common
    return Squares(
        np.stack([weights, weights * t, weights * t * t], axis=1),
        centre * fixed.quantum,
        fixed.quantum * common,
        weight_quantum,
        None,
    )


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
    ) -> _Weights:
        # Means between -2 and 2 then carry the digits, and squares of distances are at most 49.
        widest = max(most // 64 - len(weights), len(weights))
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


def _rounded(target: NDArray[np.float64], weights: _Weights, most: int) -> Squares:
    """Round the product of weight and target for every row."""
    w = weights.values
    middle = float(target.min() / 2 + target.max() / 2)
    distances = target - middle
    spread = float(np.abs(distances).max())
    exponent = math.frexp(spread)[1]
    shares = np.ldexp(distances, -exponent)
    share = math.ldexp(spread, -exponent)
    # Ends of the range are rounded outwards to whole means.
    room = math.isqrt((most - len(w)) // int(w.sum())) - 3
    steps = 1 << max(math.floor(math.log2(max(room, 1) / (2 * share))), 0)
    s = np.rint(w * steps * shares).astype(np.int64)
    # At least s**2 / w, so that no leaf has a negative cost.
    q = [-(-x * x // y) for x, y in zip(s.tolist(), w.tolist(), strict=True)]
    statistics = np.stack([w, s, np.array(q, dtype=np.int64)], axis=1)
    # Half a unit each, and the errors of float64 in products, differences and decimals.
    noise = float(np.abs(target).max()) * 2.0**-51 / spread * share
    errors = 0.5 + np.abs(s) * 2.0**-51 + w * (steps * noise)
    return Squares(
        statistics,
        Fraction(middle),
        Fraction(2) ** exponent / steps,
        weights.quantum,
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
    weight, total, square = (int(x) for x in statistics.sum(axis=0))
    whole = square - Fraction(total * total, weight)
    little = 1 + Fraction(1, 10**6)
    most = Fraction(float((errors * errors / statistics[:, 0]).sum())) * little
    by_weights = Fraction(float(weight_errors.sum())) * little * width * width
    return most + 2 * root_up(most * whole) + by_weights + len(statistics)
