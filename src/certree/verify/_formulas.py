"""The metrics by their textbook definitions, for checking what a search certifies.

Nothing here is shared with :mod:`certree.metrics`, whose formulas are rearranged for the search:
these are functions of the four cells of the confusion matrix. A value with a square root is a pair
(sign, square) that stands for sign * sqrt(square).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

Cells = tuple[Fraction, Fraction, Fraction, Fraction]
Value = Fraction | tuple[int, Fraction]

ROUNDING = Fraction(1, 10**15)
"""Irrational values are stated as decimals within this distance."""


def is_value(stated: Fraction, value: Value) -> bool:
    """Return whether a stated number is the value, or its decimal where that is irrational."""
    if isinstance(value, Fraction):
        return stated == value
    low, high = _square(stated - ROUNDING), _square(stated + ROUNDING)
    return low <= value[0] * value[1] <= high


def as_float(value: Value) -> float:
    """Return a value as the nearest float, or nearly so."""
    if isinstance(value, Fraction):
        return float(value)
    scale = 10**40
    root = isqrt(int(value[1] * scale))
    return value[0] * float(Fraction(root, isqrt(scale)))


def _square(number: Fraction) -> Fraction:
    """Return the square with the sign of the number, which keeps the order."""
    return number * abs(number)


def _ratio(above: Fraction, below: Fraction) -> Fraction:
    return above / below if below else Fraction(0)


def _fbeta(metric: Any, cells: Cells) -> Fraction:
    tp, fp, fn, _ = cells
    square = _beta(metric) ** 2
    return _ratio((1 + square) * tp, (1 + square) * tp + square * fn + fp)


def _beta(metric: Any) -> Fraction:
    return Fraction(1) if metric is None else Fraction(metric.beta)


def _tversky(metric: Any, cells: Cells) -> Fraction:
    tp, fp, fn, _ = cells
    return _ratio(tp, tp + metric.alpha * fp + metric.beta * fn)


def _jaccard(_: Any, cells: Cells) -> Fraction:
    tp, fp, fn, _tn = cells
    return _ratio(tp, tp + fp + fn)


def _kappa(_: Any, cells: Cells) -> Fraction:
    tp, fp, fn, tn = cells
    total = sum(cells, Fraction(0))
    observed = (tp + tn) / total
    chance = ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / total**2
    return _ratio(observed - chance, 1 - chance)


def _mcc(_: Any, cells: Cells) -> Value:
    tp, fp, fn, tn = cells
    below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    above = tp * tn - fp * fn
    if not below or not above:
        return Fraction(0)
    return (1 if above > 0 else -1), above**2 / below


def _fowlkes_mallows(_: Any, cells: Cells) -> Value:
    tp, fp, fn, _tn = cells
    return 1, _ratio(tp, tp + fp) * _ratio(tp, tp + fn)


def _rates(cells: Cells) -> tuple[Fraction, Fraction]:
    tp, fp, fn, tn = cells
    return _ratio(tp, tp + fn), _ratio(tn, tn + fp)


def _gmean(_: Any, cells: Cells) -> Value:
    true_positive, true_negative = _rates(cells)
    return 1, true_positive * true_negative


def _informedness(_: Any, cells: Cells) -> Fraction:
    return sum(_rates(cells), Fraction(-1))


def _balanced_accuracy(_: Any, cells: Cells) -> Fraction:
    return sum(_rates(cells), Fraction(0)) / 2


def _accuracy(_: Any, cells: Cells) -> Fraction:
    return (cells[0] + cells[3]) / sum(cells, Fraction(0))


def _weighted_accuracy(metric: Any, cells: Cells) -> Fraction:
    tp, fp, fn, tn = cells
    weight = Fraction(metric.weight)
    return (weight * tp + tn) / (weight * (tp + fn) + tn + fp)


def _macro_f1(_: Any, cells: Cells) -> Fraction:
    tp, fp, fn, tn = cells
    return (_ratio(2 * tp, 2 * tp + fp + fn) + _ratio(2 * tn, 2 * tn + fp + fn)) / 2


FORMULAS: dict[str, Callable[[Any, Cells], Value]] = {
    "Accuracy": _accuracy,
    "BalancedAccuracy": _balanced_accuracy,
    "CohenKappa": _kappa,
    "F1": _fbeta,
    "FBeta": _fbeta,
    "FowlkesMallows": _fowlkes_mallows,
    "GMean": _gmean,
    "Informedness": _informedness,
    "Jaccard": _jaccard,
    "MCC": _mcc,
    "MacroF1": _macro_f1,
    "Tversky": _tversky,
    "WeightedAccuracy": _weighted_accuracy,
}
"""By the names of the classes in certree.metrics; the metric itself has the parameters."""


def exceeds(value: Any, level: Fraction) -> bool:
    """Return whether a value is greater than a level by more than its rounding."""
    if is_value(level, value):
        return False
    if isinstance(value, Fraction):
        return value > level
    return bool(value[0] * value[1] > level * abs(level))
