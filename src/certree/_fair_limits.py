"""Rates that must be close as limits on sums of integers, exactly or up to a known rounding.

With weight N_g of the rows of group g that count, and weight x_g of those of them that have the
property, a difference of rates times N_g N_h / gcd(N_g, N_h) is a sum of integers over the rows.
Where such products do not fit 64 bits, rows add rounded shares of a fixed scale instead. A sum then
differs from the difference of rates times the scale by at most a *slack*, which is known: trees
within the tolerance are among those within bounds that are wider by it, and trees within bounds
that are narrower by it are within the tolerance.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ._fairness import LARGEST_SCALE, Comparison, Groups, RateKind

# Sums may be this part of what the search has room for: multipliers take the rest.
_SHARE_EXACT = 4
_SHARE_ROUNDED = 2**6


@dataclass(frozen=True)
class FairLimits:
    """A comparison as limits on sums of integers.

    Attributes
    ----------
    quantities : int64 array of shape (n_rows, n_classes, n_quantities)
        What is added up over the rows, given their labels.
    planes : int64 array of shape (n_limits, n_quantities)
        The limits: weights of the quantities.
    tolerance : Fraction
        Largest difference of two rates.
    scales : tuple of int
        A weighted sum divided by its scale is the difference of two rates.
    slacks : tuple of int
        By how much a weighted sum may be off; zeros if nothing is rounded.
    pairs : tuple of (str, int, int)
        Name of the rate, and the groups that are compared, the first minus the second.
    names : tuple of str
        The differences in words.
    narrow : bool
        Whether bounds are narrower by the slack, rather than wider.
    """

    quantities: NDArray[np.int64]
    planes: NDArray[np.int64]
    tolerance: Fraction
    scales: tuple[int, ...]
    slacks: tuple[int, ...]
    pairs: tuple[tuple[str, int, int], ...]
    names: tuple[str, ...]
    narrow: bool = False

    @property
    def bounds(self) -> tuple[int, ...]:
        """What the weighted sums are at most."""
        sign = -1 if self.narrow else 1
        return tuple(
            math.floor(self.tolerance * scale) + sign * slack
            for scale, slack in zip(self.scales, self.slacks, strict=True)
        )

    @property
    def rounding(self) -> Fraction:
        """By how much the sums of a tree may differ from its differences of rates."""
        off = zip(self.slacks, self.scales, strict=True)
        return max((Fraction(slack, scale) for slack, scale in off), default=Fraction(0))

    def narrowed(self) -> FairLimits:
        """Return limits that only trees within the tolerance keep to."""
        return replace(self, narrow=True)


def fair_limits(comparison: Comparison, tolerance: Fraction, room: int = 2**56) -> FairLimits:
    """Return the limits that a tolerance means: two for every rate and pair of groups.

    For two groups one signed sum per rate is enough. For more, the weight of every group is a
    quantity, and every difference of two rates is a plane.

    Parameters
    ----------
    comparison : Comparison
        The rates.
    tolerance : Fraction
        Largest difference of two of them.
    room : int
        What the search has room for: the largest difference of a limit between two trees.
    """
    quantities: list[NDArray[np.int64]] = []
    planes: list[dict[int, int]] = []
    scales, slacks, pairs, names = [], [], [], []
    is_exact = _fits(comparison, room)
    for kind, totals in zip(comparison.kinds, comparison.totals, strict=True):
        first = len(quantities)
        if is_exact:
            sums = _ExactSums(comparison, kind, totals)
        else:
            scale = min(LARGEST_SCALE, 1 << max((room // _SHARE_ROUNDED).bit_length() - 1, 0))
            sums = _RoundedSums(comparison, kind, totals, scale)
        if len(totals) == 2:
            ahead, behind = sums.coefficients(0, 1)
            quantities.append(_signed(sums.amounts, comparison.groups, ahead, behind))
        else:
            for group in range(len(totals)):
                of_group = (comparison.groups.codes == group)[:, None]
                quantities.append(np.where(of_group, sums.amounts, 0))
        for g, h in itertools.permutations(range(len(totals)), 2):
            ahead, behind = sums.coefficients(g, h)
            if len(totals) == 2:
                planes.append({first: 1 if g == 0 else -1})
            else:
                planes.append({first + g: ahead, first + h: -behind})
            scales.append(ahead * sums.totals[g])
            slacks.append(sums.slacks[g] + sums.slacks[h])
            pairs.append((kind.name, g, h))
            a, b = comparison.groups.names[g], comparison.groups.names[h]
            names.append(f"{kind.title} of {a!r} minus that of {b!r}")
    return FairLimits(
        np.stack(quantities, axis=2),
        _matrix(planes, len(quantities)),
        tolerance,
        tuple(scales),
        tuple(slacks),
        tuple(pairs),
        tuple(names),
    )


def _fits(comparison: Comparison, room: int) -> bool:
    """Return whether differences of rates are integers that fit."""
    if comparison.weights is not None and comparison.weights.dtype != np.int64:
        return False
    return all(
        math.lcm(a, b) <= room // _SHARE_EXACT
        for totals in comparison.totals
        for a, b in itertools.combinations(totals, 2)
    )


class _ExactSums:
    """What rows add to the rate of their group, in units of their weight."""

    def __init__(self, comparison: Comparison, kind: RateKind, totals: Sequence[int]) -> None:
        weights = comparison.weights
        units = np.ones(len(comparison.codes), dtype=np.int64) if weights is None else weights
        self.totals = tuple(totals)
        self.slacks: Sequence[int] = (0,) * len(totals)
        self.amounts = _amounts(comparison, kind, units)

    def coefficients(self, g: int, h: int) -> tuple[int, int]:
        """Return a and b such that a x_g - b x_h is the difference of rates times a N_g = b N_h."""
        common = math.gcd(self.totals[g], self.totals[h])
        return self.totals[h] // common, self.totals[g] // common


class _RoundedSums(_ExactSums):
    """The same as shares of a scale, rounded such that a whole group adds the scale."""

    def __init__(
        self, comparison: Comparison, kind: RateKind, totals: Sequence[int], scale: int
    ) -> None:
        relevant = kind.relevant(comparison.codes, comparison.positive)
        units = np.zeros(len(relevant), dtype=np.int64)
        slacks = []
        for group, total in enumerate(totals):
            rows = np.flatnonzero(relevant & (comparison.groups.codes == group))
            given = [1] * len(rows)
            if comparison.weights is not None:
                given = [int(weight) for weight in comparison.weights[rows].tolist()]
            sums = [0, *itertools.accumulate(given)]
            shares = [
                scale * later // total - scale * now // total
                for now, later in itertools.pairwise(sums)
            ]
            units[rows] = shares
            over = sum(
                max(share * total - scale * weight, 0)
                for share, weight in zip(shares, given, strict=True)
            )
            # What is added above all shares together is missing elsewhere.
            slacks.append(-(-over // total))
        self.totals = (scale,) * len(totals)
        self.slacks = slacks
        self.amounts = _amounts(comparison, kind, units)


def _matrix(planes: Sequence[dict[int, int]], width: int) -> NDArray[np.int64]:
    matrix = np.zeros((len(planes), width), dtype=np.int64)
    for number, plane in enumerate(planes):
        for place, weight in plane.items():
            matrix[number, place] = weight
    return matrix


def _amounts(comparison: Comparison, kind: RateKind, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what a row adds to the rate of its group, by its label."""
    codes, positive = comparison.codes, comparison.positive
    counted = kind.counted(codes, positive, comparison.n_classes)
    counts = (counted & kind.relevant(codes, positive)[:, None]).astype(np.int64)
    return counts * units[:, None]


def _signed(
    amounts: NDArray[np.int64], groups: Groups, ahead: int, behind: int
) -> NDArray[np.int64]:
    factors = np.where(groups.codes == 0, ahead, -behind).astype(np.int64)
    return np.asarray(amounts * factors[:, None])
