"""Cut points of number columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AUTO_THRESHOLDS", "choose_cuts", "midpoints"]

AUTO_THRESHOLDS = 32
"""Number of cut points (and of distinct values without loss) for ``thresholds="auto"``."""


def choose_cuts(
    column: NDArray[Any],
    limit: int | None,
    weights: NDArray[np.int64] | None = None,
    most: int | None = None,
) -> NDArray[np.float64]:
    """Return the cut points of a column without missing values, in increasing order.

    Parameters
    ----------
    column : ndarray
        The values.
    limit : int or None
        Largest number of cut points; None: all; 0: all of a column with up to 32 distinct values,
        else 32.
    weights : ndarray of int64, optional
        Weights of the rows. A row of weight two counts as two rows.
    most : int, optional
        Of the cut points that `limit` asks for, so many at most, by the same rule.
    """
    values, counts = _count_values(column, weights)
    chosen = _asked_gaps(counts, limit)
    if most is not None and len(chosen) > most:
        chosen = chosen[_nearest_quantiles(np.cumsum(counts)[chosen], int(counts.sum()), most)]
    return midpoints(values[chosen], values[chosen + 1])


def count_cuts(
    column: NDArray[Any], limit: int | None, weights: NDArray[np.int64] | None = None
) -> int:
    """Return how many cut points `limit` asks for."""
    return len(_asked_gaps(_count_values(column, weights)[1], limit))


def _count_values(
    column: NDArray[Any], weights: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different values, in increasing order, and the weight of each."""
    numbers = column.astype(np.float64, copy=False)
    if weights is None:
        values, counts = np.unique(numbers, return_counts=True)
    else:
        values, groups = np.unique(numbers, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, groups, weights)
    return values, counts


def _asked_gaps(counts: NDArray[np.int64], limit: int | None) -> NDArray[np.intp]:
    """Return after which of the values a limit asks for a cut point."""
    n_cuts = len(counts) - 1
    if limit == 0:
        limit = n_cuts if len(counts) <= AUTO_THRESHOLDS else AUTO_THRESHOLDS
    if limit is None or n_cuts <= limit:
        return np.arange(n_cuts)
    return _nearest_quantiles(np.cumsum(counts)[:-1], int(counts.sum()), limit)


def _nearest_quantiles(below: NDArray[np.int64], total: int, limit: int) -> NDArray[np.intp]:
    """Return which of the gaps with so much weight below them are near `limit` quantiles."""
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
    """Return numbers t with low <= t < high, near the middle and with few decimals.

    Parameters
    ----------
    low, high : ndarray of float64
        Finite, ``low < high``.
    """
    middle: NDArray[np.float64] = low / 2 + high / 2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        gap = high - low
        # 10**-decimals is at most a thousandth of the gap, so rounding moves half as much at most.
        # One decimal at least: the middle between integers is then exact.
        decimals = np.maximum(np.ceil(-np.log10(gap)) + 3, 1)
        # np.round multiplies and divides by a power of ten: to the nearest decimal if the power and
        # the product are exact in float64.
        can_round = (decimals <= 22) & (np.abs(middle) * 10.0**decimals < 2.0**53)
        rounded = middle.copy()
        for places in np.unique(decimals[can_round]):
            chosen = can_round & (decimals == places)
            rounded[chosen] = np.round(middle[chosen], int(places))
    # Halving loses the last bit of the smallest numbers, and between neighbours there is no middle.
    result: NDArray[np.float64] = low.copy()
    for candidate in (middle, rounded):
        fits = (low <= candidate) & (candidate < high)
        result[fits] = candidate[fits]
    return result
