"""Cut points of ordered columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AUTO_THRESHOLDS", "choose_cuts", "choose_gaps", "midpoints"]

AUTO_THRESHOLDS = 32
"""Number of cut points (and of distinct values without loss) for ``thresholds="auto"``."""


def choose_cuts(
    column: NDArray[Any], limit: int | None, weights: NDArray[np.int64] | None = None
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
    """
    values, gaps = choose_gaps(column.astype(np.float64, copy=False), limit, weights)
    return midpoints(values[gaps], values[gaps + 1])


def choose_gaps(
    column: NDArray[Any], limit: int | None, weights: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values in increasing order, and after which of them to cut.

    Parameters
    ----------
    column, limit, weights
        As for :func:`choose_cuts`.
    """
    if weights is None:
        values, counts = np.unique(column, return_counts=True)
    else:
        values, groups = np.unique(column, return_inverse=True)
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, groups, weights)
    n_cuts = len(values) - 1
    if limit == 0:
        limit = n_cuts if len(values) <= AUTO_THRESHOLDS else AUTO_THRESHOLDS
    if limit is None or n_cuts <= limit:
        return values, np.arange(n_cuts)
    # The cut after the value whose share of rows at or below is nearest to q / (limit + 1); in
    # integers, so that scaling all weights changes nothing. Floats could round differently.
    total = int(counts.sum())
    integer = np.int64 if total * (limit + 1) < 2**63 else object
    below = np.cumsum(counts)[:-1].astype(integer) * (limit + 1)
    targets = np.arange(1, limit + 1).astype(integer) * total
    right = np.searchsorted(below, targets).clip(max=n_cuts - 1)
    left = (right - 1).clip(min=0)
    is_left_nearer = targets - below[left] <= below[right] - targets
    return values, np.unique(np.where(is_left_nearer.astype(bool) & (left < right), left, right))


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
