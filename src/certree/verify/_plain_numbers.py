"""Numbers as this package reads them: always exact fractions.

A float means the decimal that Python prints for it; ints, fractions and decimals mean themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

Exact = int | Fraction
"""An exact number: an int when it is whole, a Fraction otherwise."""

# Decimals of up to this many digits are distinct as float64, so reading them back is unambiguous.
MOST_DIGITS = 15

LAST_FLOAT = Fraction(1, 2**1073)
"""Numbers next to zero, as float64 has them, are so far apart, or a little less."""

_FEW_TERMS = 2**12

# A decimal with a greater exponent takes minutes to write out.
_MOST_EXPONENT = 10_000


def last_bits(n_terms: int = 0) -> Fraction:
    """Return by what share of the sizes of its terms a sum of float64 may be off.

    With u = 2**-53, each of n terms that takes k operations is off by at most k u of its size, and
    adding them up in any order by (n - 1) u of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, section 4.2), up to factors of 1 + (n + k) u. With a factor
    of two for the latter, and for k up to 16, that is (n + 16) 2**-52. Sums of few terms get the
    room of 4096, since they may be differences of numbers that are a thousand times as large.
    """
    return Fraction(max(n_terms, _FEW_TERMS) + 16, 2**52)


def read(number: Any, what: str = "a number") -> Fraction:
    """Return the fraction that a number is written as.

    Raises
    ------
    ValueError
        If it is not a finite number.
    """
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, Rational):
        return Fraction(number)
    if not isinstance(number, float | Decimal | str):
        raise ValueError(f"{what} must be a number, got {number!r}.")
    written = str(number).strip()
    try:
        if abs(int(written.lower().partition("e")[2] or 0)) <= _MOST_EXPONENT:
            return Fraction(written)
    except (ValueError, ZeroDivisionError):
        pass
    raise ValueError(f"{what} must be a finite number, got {number!r}.")


def read_list(values: Any, n_rows: int, what: str) -> list[Fraction]:
    """Return one number per row; a single number stands for all rows."""
    array = as_array(values)
    if array.ndim == 0:
        return [read(array.item() if array.dtype != object else array[()], what)] * n_rows
    if array.ndim != 1 or len(array) != n_rows:
        raise ValueError(
            f"there are {n_rows} rows, but {what} has {array.shape[0]} entries."
            if array.ndim == 1
            else f"{what} has shape {array.shape}, which is not that of the data."
        )
    return [read(value, what) for value in array.tolist()]


def read_table(
    values: Any, what: str, shape: tuple[int | None, int | None]
) -> list[list[Fraction]]:
    """Return a table of numbers, row by row."""
    array = as_array(values)
    fits = array.ndim == 2 and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{what} has shape {array.shape}, which is not that of the data.")
    return [[read(value, what) for value in line] for line in array.tolist()]


def as_array(values: Any) -> Any:
    """Return an array of numbers; a list of integers of any size stays one of integers."""
    try:
        array = np.asarray(values)
    except OverflowError:
        array = np.asarray(values, dtype=object)
    if array.dtype.kind == "f" and isinstance(values, list | tuple) and array.ndim == 1:
        # Integers beside floats would lose the digits that float64 does not hold.
        array = np.empty(len(values), dtype=object)
        array[:] = values
    return array


def plain_list(values: Any) -> list[Any]:
    """Return a list of labels as plain Python values."""
    if isinstance(values, list | tuple):
        return [value.item() if isinstance(value, np.generic) else value for value in values]
    return list(np.asarray(values).ravel().tolist())


def exact(value: Exact) -> Exact:
    """Return the same number, as an int when it is whole."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def show(number: Exact) -> str:
    """Return an exact number as short text: a decimal when it ends, else with its fraction."""
    number = exact(number)
    if isinstance(number, int):
        return str(number)
    try:
        text = f"{float(number):.10g}"
    except OverflowError:
        return f"~10**{len(str(abs(int(number)))) - 1}"
    if Fraction(text) == number:
        return text
    if len(str(number)) > 12:
        return f"~{float(number):.7g}"
    return f"{float(number):.6g} ({number})"


def text(value: object) -> str:
    """Return any value as text for a message."""
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return show(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return "[" + ", ".join(text(item) for item in value) + "]"
    return repr(value)


def is_close(stated: float, number: float, slack: float = 0.0) -> bool:
    """Return whether two floats stand for the same number, up to their last digits."""
    return abs(stated - number) <= slack + 1e-12 * max(1.0, abs(number))


def share_explained(cost: Fraction, whole: Fraction) -> float:
    """Return what is left of one less the share of a cost; one where there is nothing to explain.

    Beyond the range of floats it is infinite.
    """
    return float_or_infinite(1 - cost / whole) if whole else 1.0


def float_or_infinite(number: Exact) -> float:
    """Return the nearest float, or an infinite one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def as_float(number: Fraction, what: str) -> float:
    """Return the nearest float.

    Raises
    ------
    CertificateError
        If the number is beyond the range of floats.
    """
    try:
        return float(number)
    except OverflowError:
        raise CertificateError(f"{what} leaves the range of floats.") from None


def common_unit(numbers: Iterable[Exact]) -> Fraction:
    """Return the greatest number of which all are multiples; 0 if all are 0."""
    fractions = {Fraction(number) for number in numbers}
    below = math.lcm(*(number.denominator for number in fractions))
    return Fraction(math.gcd(*(int(number * below) for number in fractions)), below)


def decimals(numbers: Sequence[Fraction]) -> int | None:
    """Return the number of decimals of all numbers; None if some never end or are long."""
    below = math.lcm(*{number.denominator for number in numbers})
    places = next((n for n in range(23) if 10**n % below == 0), None)
    if places is None:
        return None
    largest = max(max(numbers, default=Fraction(0)), -min(numbers, default=Fraction(0)))
    return places if largest * 10**places < 10**MOST_DIGITS else None


def above_short(number: Fraction) -> Fraction:
    """Return a little more than a positive fraction, over a power of two, with 64 digits."""
    above, below = number.numerator, number.denominator
    shift = 64 + below.bit_length() - above.bit_length()
    if shift < 0:
        return Fraction((above // (below << -shift) + 1) << -shift)
    return Fraction((above << shift) // below + 1, 1 << shift)


def root_between(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the root of a fraction that is not negative, equal where it is a fraction.

    They have 128 binary digits. With s the square times ``4**shift``, rounded down, the integer
    root r of s has ``r <= root * 2**shift < r + 1``.
    """
    if not square:
        return square, square
    above, below = square.numerator, square.denominator
    roots = math.isqrt(above), math.isqrt(below)
    if roots[0] ** 2 == above and roots[1] ** 2 == below:
        return Fraction(*roots), Fraction(*roots)
    shift = (257 + below.bit_length() - above.bit_length()) // 2
    scaled = (above << 2 * shift) // below if shift >= 0 else above // (below << -2 * shift)
    least, unit = math.isqrt(scaled), Fraction(2) ** -shift
    return least * unit, (least + 1) * unit


def root_above(square: Fraction) -> Fraction:
    """Return the root of a fraction that is not negative, or a little more."""
    return root_between(square)[1]
