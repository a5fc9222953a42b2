"""Exact values of metrics as fractions; irrational ones as the nearest decimals.

Values with a square root in them are compared exactly by the search; a certificate states them as
decimals, so that it can be written down and read again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ._certificate import Exact, exact

_DECIMALS = 10**15


def nearest(number: Any) -> Exact:
    """Return a number as a fraction; an irrational one as the nearest multiple of 10**-15."""
    if isinstance(number, int | Fraction):
        return exact(number)
    below = _floor(number)
    up = number - Fraction(2 * below + 1, 2 * _DECIMALS) > 0
    return exact(Fraction(below + up, _DECIMALS))


def at_most(number: Any) -> Exact:
    """Return a number as a fraction; an irrational one as the multiple of 10**-15 below it."""
    if isinstance(number, int | Fraction):
        return exact(number)
    return exact(Fraction(_floor(number), _DECIMALS))


def _floor(number: Any) -> int:
    """Return the greatest integer k with k / 10**15 <= number, by exact comparisons."""
    units = int(float(number) * _DECIMALS)
    # Floats of large numbers are off by many units, so bracket the integer and bisect.
    low = high = units
    step = 1
    while Fraction(low, _DECIMALS) > number:
        low, step = low - step, 2 * step
    step = 1
    while Fraction(high, _DECIMALS) <= number:
        high, step = high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(middle, _DECIMALS) <= number:
            low = middle
        else:
            high = middle
    return low
