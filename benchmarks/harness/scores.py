"""Metrics from what the harness has counted, for the objective column of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any


def value(metric: str, rows: int, counted: Mapping[str, Any]) -> Fraction:
    """Give a metric of a tree: exact where it is rational, else to fifteen digits."""
    if metric == "auc":
        return Fraction(counted["area"] or 0)
    positives = counted["positives"]
    return OF_ERRORS[metric](counted["fp"], counted["fn"], positives, rows - positives)


def f1(fp: int, fn: int, positives: int, negatives: int) -> Fraction:
    """Two true positives over two of them and the errors."""
    return Fraction(2 * (positives - fn), 2 * positives - fn + fp)


def mcc(fp: int, fn: int, positives: int, negatives: int) -> Fraction:
    """Matthews' correlation of labels and predictions."""
    predicted = positives - fn + fp
    covariance = positives * negatives - positives * fp - negatives * fn
    return over_root(
        covariance, positives * negatives * predicted * (positives + negatives - predicted)
    )


def fowlkes_mallows(fp: int, fn: int, positives: int, negatives: int) -> Fraction:
    """The geometric mean of precision and recall."""
    return over_root(positives - fn, positives * (positives - fn + fp))


def over_root(top: int, square: int) -> Fraction:
    """Give top / sqrt(square), 0 where that is undefined."""
    return Fraction(round(10**15 * top / math.sqrt(square)), 10**15) if square else Fraction(0)


OF_ERRORS: dict[str, Callable[[int, int, int, int], Fraction]] = {
    "f1": f1,
    "mcc": mcc,
    "fowlkes_mallows": fowlkes_mallows,
}
