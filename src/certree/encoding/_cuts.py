"""Cut points of ordered columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AUTO_THRESHOLDS", "as_ordered", "choose_gaps", "midpoints"]

AUTO_THRESHOLDS = 32
"""Number of cut points (and of distinct values without loss) for ``thresholds="auto"``."""

Counted = tuple[NDArray[Any], NDArray[np.int64]]
"""Different values in increasing order, and the weight of each."""


def as_ordered(column: NDArray[Any]) -> NDArray[Any]:
    """Return values that have an order as float64; dates and durations stay as they are."""
    return column if column.dtype.kind in "mM" else column.astype(np.float64, copy=False)


_POWERS = np.array([float(f"1e{power}") for power in range(309)])


def choose_gaps(
    column: NDArray[Any],
    limit: int | None,
    weights: NDArray[np.int64] | None = None,
    most: int | None = None,
    counted: Counted | None = None,
    points: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values in increasing order, and after which of them to cut.

    Parameters
    ----------
    column : ndarray
        Values, none of them missing.
    limit : int or None
        Largest number of cut points; None: all; 0: all of a column with up to 32 distinct values,
        else 32.
    weights : ndarray of int64, optional
        Weights of the rows. A row of weight two counts as two rows.
    most : int, optional
        Keep at most this many of the cut points that `limit` asks for, by the same rule.
    counted : tuple of arrays, optional
        The result of :func:`count_values` for the column, if it is known.
    points : ndarray, optional
        Cut points in increasing order, in place of `limit`.
    """
    values, counts = count_values(column, weights) if counted is None else counted
    if points is None and most is not None and most < len(values) - 1 and _is_all(counts, limit):
        # The most frequent case of many values: no array of all gaps is made.
        limit = most
    chosen = _asked_gaps(counts, limit) if points is None else _gaps_of(values, points)
    if most is not None and len(chosen) > most:
        chosen = chosen[_nearest_quantiles(np.cumsum(counts)[chosen], int(counts.sum()), most)]
    return values, chosen


def count_cuts(counted: Counted, limit: int | None, points: NDArray[Any] | None) -> int:
    """Return how many cut points are asked for, of values with such weights."""
    values, counts = counted
    if points is not None:
        return len(_gaps_of(values, points))
    return len(values) - 1 if _is_all(counts, limit) else len(_asked_gaps(counts, limit))


def _gaps_of(values: NDArray[Any], points: NDArray[Any]) -> NDArray[np.intp]:
    """Return after which of the values some point lies, and further values."""
    gaps = np.unique(np.searchsorted(values, points, side="right") - 1)
    return gaps[(gaps >= 0) & (gaps < len(values) - 1)]


def count_values(column: NDArray[Any], weights: NDArray[np.int64] | None = None) -> Counted:
    """Return the different values, in increasing order, and the weight of each."""
    if weights is None:
        ordered = np.sort(column)
        first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        if first.all():
            return ordered, np.broadcast_to(np.int64(1), ordered.shape)
        starts = np.flatnonzero(first)
        values, counts = ordered[starts], np.diff(starts, append=len(ordered))
    else:
        values, groups = np.unique(column, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, groups, weights)
    return values, counts


def _asked_gaps(counts: NDArray[np.int64], limit: int | None) -> NDArray[np.intp]:
    """Return the values after which a limit asks for a cut point."""
    if _is_all(counts, limit):
        return np.arange(len(counts) - 1)
    most = limit or AUTO_THRESHOLDS
    return _nearest_quantiles(np.cumsum(counts)[:-1], int(counts.sum()), most)


def _is_all(counts: NDArray[np.int64], limit: int | None) -> bool:
    """Return whether a limit asks for a cut point in every gap."""
    if limit == 0:
        return len(counts) <= AUTO_THRESHOLDS
    return limit is None or len(counts) - 1 <= limit


def _nearest_quantiles(below: NDArray[np.int64], total: int, limit: int) -> NDArray[np.intp]:
    """Return the gaps nearest to `limit` quantiles, given the weight below each gap."""
    # The cut after the value whose share of rows at or below is nearest to q / (limit + 1); in
    # integers, so that scaling all weights changes nothing. Floats could round differently.
    integer = np.int64 if total * (limit + 1) < 2**63 else object
    shares = below.astype(integer) * (limit + 1)
    targets = np.arange(1, limit + 1).astype(integer) * total
    right = np.searchsorted(shares, targets).clip(max=len(shares) - 1)
    left = (right - 1).clip(min=0)
    is_left_nearer = targets - shares[left] <= shares[right] - targets
    return np.unique(np.where(is_left_nearer.astype(bool) & (left < right), left, right))


def midpoints(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return short numbers t with low <= t < high.

    Each is the decimal with the fewest digits in the middle half of the interval, and of several
    the nearest to the middle. Where float64 has no number between the two, it is `low`. Where `low`
    and `high` differ as float32, ``float32(low) <= t`` and ``float32(t) < float32(high)``, so that
    programs that round values to float32, and perhaps t, still separate them.

    Parameters
    ----------
    low, high : ndarray of float64
        Finite, ``low < high``.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        low, high = _within_float32(low, high)
        gap = high - low
        # The difference of two huge numbers of different sign may be beyond float64.
        is_finite = np.isfinite(gap)
        middle = np.where(is_finite, low + gap / 2, low / 2 + high / 2)
        first = np.where(is_finite, low + gap / 4, low / 4 * 3 + high / 4)
        last = np.where(is_finite, high - gap / 4, low / 4 + high / 4 * 3)
        cut = _shortest_decimals(first, middle, last)
    # Neighbours have no middle, and near neighbours may round to one of the ends.
    result: NDArray[np.float64] = low.copy()
    for candidate in (middle, cut):
        fits = (low < candidate) & (candidate < high)
        result[fits] = candidate[fits]
    return result


def _within_float32(
    low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the range of allowed cuts: narrower if float32 moves the values towards it."""
    lower, upper = low.astype(np.float32), high.astype(np.float32)
    start = np.maximum(low, lower.astype(np.float64))
    end = np.nextafter(largest_rounded_to(np.nextafter(upper, np.float32(-np.inf))), np.inf)
    margin = (high - low) / 4
    matters = (lower < upper) & ((end < high - margin) | (start > low + margin))
    matters &= np.isfinite(lower) & np.isfinite(upper)
    return np.where(matters, start, low), np.where(matters, end, high)


def largest_rounded_to(below: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the largest float64 that rounds to each float32."""
    exact = below.astype(np.float64)
    middle = (exact + np.nextafter(below, np.float32(np.inf)).astype(np.float64)) / 2
    # Ties go to the even one of the two.
    is_even = middle.astype(np.float32) == below
    return np.asarray(np.where(is_even, middle, np.nextafter(middle, -np.inf)))


def _shortest_decimals(
    first: NDArray[np.float64], middle: NDArray[np.float64], last: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the decimal of fewest digits in each interval, and of several the most central.

    Let 10**e be the least power of ten above the width. At most one of its multiples lies in the
    interval. If one does, it is the answer, since a multiple of a larger power would be the same
    number. Else it is the multiple of 10**(e - 1) nearest to the middle, since one does.
    """
    result = np.zeros(len(middle))
    is_zero = (first <= 0) & (last >= 0)  # the shortest of all
    # Quotients by powers of ten are then integers of 15 digits, which float64 just holds.
    is_tiny = last - first < np.abs(middle) * 2.0**-44
    tiny = np.flatnonzero(is_tiny & ~is_zero)
    ends = (first[tiny].tolist(), middle[tiny].tolist(), last[tiny].tolist())
    result[tiny] = [_shortest_neighbour(*three) for three in zip(*ends, strict=True)]
    rest = np.flatnonzero(~is_zero & ~is_tiny)
    first, middle, last = first[rest], middle[rest], last[rest]
    power = _power_above(last - first)
    digits = np.rint(_shift(middle, -power))
    value = _shift(digits, power)
    is_outside = ~((first <= value) & (value <= last))
    power = power - is_outside
    digits = np.where(is_outside, np.rint(_shift(middle, -power)), digits)
    # Below 10**e the multiples of 10**(e - 1) have one digit, too.
    below = (np.abs(digits) == 1) & (np.abs(_shift(middle, -power)) < 1)
    power = power - below
    digits = np.where(below, np.rint(_shift(middle, -power)), digits)
    result[rest] = _decimals(digits, power)
    return result


def _power_above(width: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the least e with 10**e > width."""
    power = np.floor(np.log10(width)).astype(np.intp) + 1
    # Logarithms are not exact at powers of ten.
    one = np.ones(len(width))
    power += _shift(one, power) <= width
    power -= _shift(one, power - 1) > width
    return power


def _shift(values: NDArray[np.float64], powers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return values * 10**powers, rounded once if the powers are at most 22 in size."""
    # A division by 10**22 rounds once, a product with 10**-22 twice.
    shifted: NDArray[np.float64] = values / _POWERS[np.minimum(np.maximum(-powers, 0), 308)]
    shifted *= _POWERS[np.minimum(np.maximum(powers, 0), 308)]
    # 10**-320 is beyond float64, so the rest follows in a second step.
    far = np.flatnonzero(np.abs(powers) > 308)
    if len(far):
        shifted[far] *= 10.0 ** (powers[far] - np.clip(powers[far], -308, 308))
    return shifted


def _decimals(digits: NDArray[np.float64], powers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the float64 nearest to each digits * 10**powers."""
    # Powers of ten up to 22 are exact, and so is the one rounding of a product or quotient.
    result = _shift(digits, powers)
    far = np.abs(powers) > 22
    pairs = zip(digits[far].tolist(), powers[far].tolist(), strict=True)
    result[far] = [float(f"{digits:.0f}e{power}") for digits, power in pairs]
    return result


def _shortest_neighbour(first: float, middle: float, last: float) -> float:
    """Return the number in a tiny interval with 13 digits, or the next more that it needs."""
    for digits in range(13, 18):
        value = float(f"{middle:.{digits - 1}e}")
        if first <= value <= last:
            return value
    return middle
