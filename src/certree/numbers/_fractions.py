"""Numbers as exact fractions, and fractions as floats that never overflow."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, gcd, inf, log10
from numbers import Rational
from typing import Any, TypeGuard

import numpy as np

__all__ = [
    *("common_unit", "is_number", "is_whole", "read_fraction", "round_up", "shown", "to_float")
]

# Numbers of more digits than this are shown by their size.
_SHOWN_DIGITS = 40

# A decimal with a greater exponent is refused: its digits would take minutes and all memory.
_MOST_EXPONENT = 10_000

# Whole floats below this are the integers that Python prints for them.
_MOST_PLAIN = 2.0**53


def read_fraction(value: Any, what: str) -> Fraction:
    """Read a number as the exact fraction that it is written as.

    Parameters
    ----------
    value : int, float, fractions.Fraction, decimal.Decimal or str
        Floats are read as the decimal that Python prints for them; strings may be decimals
        (``"0.005"``) or fractions (``"1/200"``).
    what : str
        What the number is, for the error message.

    Returns
    -------
    fractions.Fraction
    """
    if type(value) is float and -_MOST_PLAIN < value < _MOST_PLAIN and value.is_integer():
        return Fraction(int(value))  # most parameters are such; the long way gives the same
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating | Rational | Decimal | str
    ):
        raise TypeError(
            f"{what} must be a number, a fraction or a decimal string, got {value!r} of type "
            f"{type(value).__name__}."
        )
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    # str and not repr: NumPy 2 prints the type into the repr of its scalars.
    text = str(value).strip()
    try:
        exponent = int(text.lower().partition("e")[2] or 0)
        if abs(exponent) <= _MOST_EXPONENT:
            return Fraction(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"{what} must be a finite number, got {shown(value)}.") from None
    raise ValueError(
        f"{what} must be 0 or a number from 1e-{_MOST_EXPONENT} to 1e{_MOST_EXPONENT}, got "
        f"{shown(value)}."
    )


def to_float(number: int | Fraction) -> float:
    """Return the nearest float; infinity for numbers beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def shown(value: object) -> str:
    """Return a value for a message, numbers of very many digits by their size."""
    if isinstance(value, int) and abs(value).bit_length() > 3.3 * _SHOWN_DIGITS:
        return f"{'-' if value < 0 else ''}about 10**{int(abs(value).bit_length() * 0.30103)}"
    text = repr(value)
    return text if len(text) <= 2 * _SHOWN_DIGITS else f"{text[:_SHOWN_DIGITS]}..."


def common_unit(numbers: Iterable[Fraction], largest_ratio: int) -> Fraction | None:
    """Return the greatest number of which all numbers are multiples; 0 if all are zero.

    None if one of them is more than `largest_ratio` times as large: the unit is then of no use.
    """
    unit, largest = Fraction(0), Fraction(0)
    for number in numbers:
        largest = max(largest, number)
        if unit == 0:
            unit = number
        elif number and (number / unit).denominator != 1:
            numerator = gcd(
                unit.numerator * number.denominator, number.numerator * unit.denominator
            )
            unit = Fraction(numerator, unit.denominator * number.denominator)
        if largest > largest_ratio * unit:
            return None
    return unit


def round_up(bound: Fraction) -> Fraction:
    """Return a bound with three or four digits that is not smaller."""
    if bound <= 0:
        return Fraction(0)
    # By bits: bounds may be smaller than any float64, or have more digits than Python prints.
    bits = bound.numerator.bit_length() - bound.denominator.bit_length()
    step = Fraction(10) ** (int(bits * log10(2)) - 3 - (bits < 0))
    return ceil(bound / step) * step


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or NumPy, but not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a real number, but not a truth value."""
    kinds = int | float | np.integer | np.floating | Fraction | Decimal
    return isinstance(value, kinds) and not isinstance(value, bool)
