"""Rates that must be close as limits on sums of integers.

With weight N_g of the rows of group g that count, and weight x_g of those of them that have the
property, a difference of rates times N_g N_h / gcd(N_g, N_h) is a sum of integers over the rows.
Where these sums do not fit 64 bits, they are written in digits, and limits are still kept exactly.
A curve of all tolerances compares the differences of several pairs with each other, for which
one digit each is needed: rows then add rounded shares of a fixed scale. A sum differs from the
difference of rates times the scale by at most a *slack*, which is known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._row_cells import Cells
from certree.engine._within_limits import Finer, LimitedProblem
from certree.numbers._digits import Amounts, to_digits
from certree.tasks._rates import LARGEST_SCALE, Comparison, Groups, RateKind

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
    tolerances : tuple of Fraction
        For each limit, the largest difference of its two rates.
    scales : tuple of int
        A weighted sum, in units of its last digit, divided by its scale is the difference of two
        rates.
    pairs : tuple of (str, int, int)
        Name of the rate, and the groups that are compared, the first minus the second.
    names : tuple of str
        The differences in words.
    digits : tuple of (Amounts, int, int) or None
        For each limit that has several digits: what rows add, with which sign, and the first of
        its quantities.
    slacks : tuple of int
        By how much a weighted sum may be off; zeros unless shares are rounded.
    is_strict : bool
        Whether differences must be less than the tolerance.
    """

    quantities: NDArray[np.int64]
    planes: NDArray[np.int64]
    tolerances: tuple[Fraction, ...]
    scales: tuple[int, ...]
    pairs: tuple[tuple[str, int, int], ...]
    names: tuple[str, ...]
    digits: tuple[tuple[Amounts, int, int] | None, ...]
    slacks: tuple[int, ...]
    is_strict: bool = False

    def _most(self, limit: int) -> int:
        """Return what a sum is at most, in units of its last digit."""
        most = self.tolerances[limit] * self.scales[limit]
        return math.ceil(most) - 1 if self.is_strict else math.floor(most)

    @property
    def bounds(self) -> tuple[int, ...]:
        """What the weighted sums are at most, those of leading digits where there are several."""
        bounds = []
        for limit, (digits, slack) in enumerate(zip(self.digits, self.slacks, strict=True)):
            most = self._most(limit) + slack
            if digits is not None:
                amounts, sign, _ = digits
                most = amounts.leading_bound(amounts.within(most, sign), sign)
            bounds.append(most)
        return tuple(bounds)

    @property
    def finer(self) -> tuple[Finer | None, ...]:
        """The finer digits of the limits; planes are over the quantities only."""
        return tuple(
            None if digits is None else self._finer(limit, *digits)
            for limit, digits in enumerate(self.digits)
        )

    def _finer(self, limit: int, amounts: Amounts, sign: int, first: int) -> Finer:
        lines = np.zeros((amounts.n_finer, self.planes.shape[1]), dtype=np.int64)
        lines[np.arange(len(lines)), first + 1 + np.arange(len(lines))] = sign
        most = amounts.within(self._most(limit), sign)
        least = amounts.least_finer(sign), amounts.least_total(sign)
        return Finer(lines, amounts.bits, most, *least)

    def problem(
        self, columns: Cells, own: NDArray[np.int64], objective: NDArray[np.int64]
    ) -> LimitedProblem:
        """Return rows with these limits.

        Parameters
        ----------
        columns : Cells
            The answers of the rows.
        own : int64 array of shape (n_rows, n_labels, n_own)
            Sums beside those of the limits.
        objective : int64 array of shape (n_own + 1,)
            The objective over these, and over splits.
        """
        n_own, (n_limits, n_quantities) = own.shape[2], self.planes.shape
        values = np.concatenate([own, self.quantities], axis=2)
        planes = np.zeros((1 + n_limits, n_own + n_quantities + 1), dtype=np.int64)
        planes[0, :n_own], planes[0, -1] = objective[:-1], objective[-1]
        planes[1:, n_own:-1] = self.planes
        finer = tuple(
            None if one is None else replace(one, lines=np.pad(one.lines, ((0, 0), (n_own, 1))))
            for one in self.finer
        )
        return LimitedProblem(columns, values, planes, self.bounds, self.names, finer=finer)

    @property
    def rounding(self) -> Fraction:
        """By how much the sums of a tree may differ from its differences of rates."""
        off = zip(self.slacks, self.scales, strict=True)
        return max((Fraction(slack, scale) for slack, scale in off), default=Fraction(0))

    def below(self, tolerance: Fraction) -> FairLimits:
        """Return the limits for differences that are less than another tolerance."""
        return replace(self, tolerances=(tolerance,) * len(self.tolerances), is_strict=True)


def fair_limits(
    comparison: Comparison,
    tolerance: Fraction | None = None,
    room: int = 2**56,
    *,
    may_round: bool = False,
) -> FairLimits:
    """Return the limits that tolerances mean: two for every rate and pair of groups.

    For two groups one signed sum per rate is enough. For more, the weight of every group is a
    quantity, and every difference of two rates is a plane; if that takes several digits, every pair
    has a sum of its own.

    Parameters
    ----------
    comparison : Comparison
        The rates.
    tolerance : Fraction, optional
        Largest difference of two of them; by default each rate has its own.
    room : int
        What the search has room for: the largest difference of a limit between two trees.
    may_round : bool
        Whether sums that take several digits are rounded to one.
    """
    made = _Limits(comparison)
    fits = _fits(comparison, room)
    for kind, own, totals in zip(
        comparison.kinds, comparison.tolerances, comparison.totals, strict=True
    ):
        made.tolerance = own if tolerance is None else tolerance
        if fits:
            made.add_rate(kind, _ExactSums(comparison, kind, totals))
        elif may_round:
            scale = min(LARGEST_SCALE, 1 << max((room // _SHARE_ROUNDED).bit_length() - 1, 0))
            made.add_rate(kind, _RoundedSums(comparison, kind, totals, scale))
        else:
            made.add_digits(kind, _ExactSums(comparison, kind, totals), room // _SHARE_ROUNDED)
    return made.limits()


class _Limits:
    """Limits in the making."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.tolerance = Fraction(1)
        """Of the rate that is being added."""
        self.tolerances: list[Fraction] = []
        self.quantities: list[NDArray[np.int64]] = []
        self.planes: list[dict[int, int]] = []
        self.scales: list[int] = []
        self.slacks: list[int] = []
        self.pairs: list[tuple[str, int, int]] = []
        self.names: list[str] = []
        self.digits: list[tuple[Amounts, int, int] | None] = []

    def add_rate(self, kind: RateKind, sums: _ExactSums) -> None:
        """Add the limits for a rate, in one digit each."""
        first, groups = len(self.quantities), self.comparison.groups
        n_groups = len(sums.totals)
        if n_groups == 2:
            self.quantities.append(_signed(sums, groups, 0, 1))
        else:
            for group in range(n_groups):
                of_group = (groups.codes == group)[:, None]
                self.quantities.append(np.where(of_group, sums.amounts, 0))
        for g, h in itertools.permutations(range(n_groups), 2):
            ahead, behind = sums.coefficients(g, h)
            plane = {first + g: ahead, first + h: -behind}
            self._add(kind, sums, g, h, {first: 1 if g == 0 else -1} if n_groups == 2 else plane)

    def add_digits(self, kind: RateKind, sums: _ExactSums, most: int) -> None:
        """Add the limits for a rate, each pair in digits of its own."""
        places: dict[tuple[int, int], tuple[Amounts, int]] = {}
        for g, h in itertools.combinations(range(len(sums.totals)), 2):
            signed = _signed(sums, self.comparison.groups, g, h)
            amounts = to_digits(signed, f"rates of {kind.title}", most)
            places[g, h] = amounts, len(self.quantities)
            self.quantities += [amounts.leading, *np.moveaxis(amounts.finer, 2, 0)]
        for g, h in itertools.permutations(range(len(sums.totals)), 2):
            amounts, first = places[min(g, h), max(g, h)]
            sign = 1 if g < h else -1
            digits = (amounts, sign, first) if amounts.n_finer else None
            self._add(kind, sums, g, h, {first: sign}, digits)

    def _add(
        self,
        kind: RateKind,
        sums: _ExactSums,
        g: int,
        h: int,
        plane: dict[int, int],
        digits: tuple[Amounts, int, int] | None = None,
    ) -> None:
        a, b = self.comparison.groups.names[g], self.comparison.groups.names[h]
        self.planes.append(plane)
        self.tolerances.append(self.tolerance)
        self.scales.append(sums.coefficients(g, h)[0] * sums.totals[g])
        self.slacks.append(sums.slacks[g] + sums.slacks[h])
        self.pairs.append((kind.name, g, h))
        self.names.append(f"{kind.title} of {a!r} minus that of {b!r}")
        self.digits.append(digits)

    def limits(self) -> FairLimits:
        """Return the limits."""
        return FairLimits(
            np.stack(self.quantities, axis=2).astype(np.int64),
            _matrix(self.planes, len(self.quantities)),
            tuple(self.tolerances),
            tuple(self.scales),
            tuple(self.pairs),
            tuple(self.names),
            tuple(self.digits),
            tuple(self.slacks),
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


def _amounts(comparison: Comparison, kind: RateKind, units: NDArray[Any]) -> NDArray[Any]:
    """Return what a row adds to the rate of its group, by its label."""
    codes, positive = comparison.codes, comparison.positive
    counted = kind.counted(codes, positive, comparison.n_classes)
    counts = (counted & kind.relevant(codes, positive)[:, None]).astype(np.int64)
    return np.asarray(counts * units[:, None])


def _signed(sums: _ExactSums, groups: Groups, g: int, h: int) -> NDArray[Any]:
    """Return what rows add to the difference of the rates of two groups."""
    ahead, behind = sums.coefficients(g, h)
    # Python's integers where 64 bits might not do.
    fits = max(ahead, behind) * int(sums.amounts.max(initial=1)) < 2**62
    kind = np.int64 if fits and sums.amounts.dtype == np.int64 else np.object_
    factors = np.zeros(len(groups.codes), dtype=kind)
    factors[groups.codes == g] = ahead
    factors[groups.codes == h] = -behind
    return np.asarray(sums.amounts * factors[:, None])
