"""Weights of rows as they are given, and as integers: exactly where they fit, else rounded.

Integers, fractions and decimals of up to 15 digits are read exactly. Weights that have to
be rounded are read as float64, and rounded to multiples of a power of two, which float64 does
without an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._fractions import common_unit, read_fraction, shown

__all__ = [
    "LARGEST_TOTAL",
    "GivenWeights",
    "Rounded",
    "ScaledWeights",
    "check_weights",
    "power_of_two",
    "read_weights",
    "relative_weights",
    "round_floats",
    "scale_given",
]

# Decimals of up to this many digits are distinct as float64, so reading them back is unambiguous.
_MAX_DIGITS = 15

# 10**22 is the last power of ten that float64 holds exactly.
_MAX_DECIMALS = 22

# Integers that stand for weights, and their totals, are below this.
LARGEST_TOTAL = 2**62

# Sums of floats below this may have fewer digits than others.
_FEW_DIGITS = 1e-290


@dataclass(frozen=True)
class GivenWeights:
    """Weights of rows as they were given.

    Attributes
    ----------
    numbers : array of shape (n_rows,)
        Integers, floats, or Python's exact numbers.
    units, quantum : int64 array and fractions.Fraction
        ``units * quantum`` are exactly the weights; None if they are not multiples of one unit.
    """

    numbers: NDArray[Any]
    units: NDArray[np.int64] | None
    quantum: Fraction

    def select(self, rows: NDArray[np.intp]) -> GivenWeights:
        """Return the weights of some rows."""
        units = None if self.units is None else self.units[rows]
        return GivenWeights(self.numbers[rows], units, self.quantum)

    def counted(self) -> NDArray[np.bool_]:
        """Return which rows have a weight above zero."""
        return np.asarray(self.numbers > 0, dtype=np.bool_)

    def floats(self) -> NDArray[np.float64]:
        """Return the weights as float64; those above zero stay above zero."""
        return _as_floats(self.numbers)

    def totals(self, codes: NDArray[Any], n_classes: int) -> list[Fraction]:
        """Return the exact weight of each class."""
        if self.units is not None:
            sums = np.zeros(n_classes, dtype=np.int64)
            np.add.at(sums, codes, self.units)
            return [total * self.quantum for total in sums.tolist()]
        floats = self.floats()
        return [_exact_sum(floats[codes == k]) for k in range(n_classes)]


def read_weights(sample_weight: Any, n_rows: int) -> GivenWeights:
    """Read weights of rows, and write them as integers times one unit if possible.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Numbers of at least 0, not all of them zero; None and a single number mean that all rows
        weigh the same. Python's integers, fractions and decimals are read exactly.
    n_rows : int
        Number of rows.

    Raises
    ------
    ValueError
        If the number of weights is not the number of rows, or one of them is not a valid weight.
    """
    if sample_weight is None:
        ones = np.ones(n_rows, dtype=np.int64)
        return GivenWeights(ones, ones, Fraction(1))
    numbers = _numbers(sample_weight, n_rows)
    if numbers.dtype.kind == "O":
        return GivenWeights(numbers, *_units_of_fractions(numbers))
    if numbers.dtype.kind == "f":
        return GivenWeights(numbers, *_units_of_floats(numbers))
    common = max(int(np.gcd.reduce(numbers)), 1)
    units = numbers // numbers.dtype.type(common)
    if float(units.sum(dtype=np.float64)) >= LARGEST_TOTAL:
        return GivenWeights(numbers, None, Fraction(1))
    return GivenWeights(numbers, units.astype(np.int64), Fraction(common))


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return weights of rows as float64: finite, not negative, and not all zero."""
    return _as_floats(_numbers(sample_weight, n_rows))


def relative_weights(numbers: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers as floats for means and shares, relative to the largest if it is extreme."""
    plain = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    largest = Fraction(max(plain))
    if not _FEW_DIGITS <= largest <= 1 / _FEW_DIGITS:
        plain = [Fraction(number) / largest for number in plain]
    return np.array([float(number) for number in plain])


def _numbers(sample_weight: Any, n_rows: int) -> NDArray[Any]:
    """Return weights as integers, floats or exact fractions, one per row, after all checks."""
    numbers = _read_array(sample_weight)
    if numbers.ndim == 0:
        numbers = np.repeat(numbers.reshape(1), n_rows)
    if numbers.ndim != 1:
        raise ValueError(
            f"sample_weight must be 1D array or scalar, got an array of shape {numbers.shape}; "
            "give one weight per row."
        )
    if len(numbers) != n_rows:
        raise ValueError(
            f"sample_weight has {len(numbers)} entries, but there are {n_rows} rows; give one "
            "weight per row."
        )
    finite = np.isfinite(numbers) if numbers.dtype.kind == "f" else np.ones(n_rows, dtype=np.bool_)
    for bad, complaint in ((~finite, "not a finite number"), (numbers < 0, "negative")):
        if bad.any():
            index = int(np.argmax(bad))
            value = numbers[index]
            value = float(value) if isinstance(value, np.generic) else value
            raise ValueError(
                f"sample_weight[{index}] = {shown(value)} is {complaint}; weights must be finite "
                "and at least 0."
            )
    if not numbers.any():
        raise ValueError(
            "All sample weights are zero, so no row counts; give at least one row a positive "
            "weight."
        )
    return numbers


def refuse_few_digits(numbers: NDArray[Any]) -> None:
    """Refuse floats next to zero beside others as weights: float64 has few digits of them."""
    if numbers.dtype.kind != "f":
        return
    tiny = (numbers > 0) & (numbers < np.finfo(np.float64).tiny)
    if tiny.any() and numbers[~tiny].any():
        index = int(np.argmax(tiny))
        raise ValueError(
            f"sample_weight[{index}] = {float(numbers[index]):.3g} has few digits in float64, and "
            f"other weights are up to {float(numbers.max()):.3g}; write 0, or a Fraction."
        )


def _read_array(given: Any) -> NDArray[Any]:
    """Return numbers as an array of integers or floats, of fractions where neither holds them."""
    try:
        array = np.asarray(given)
        # NumPy makes floats of a list with a single float in it, also of large integers.
        is_list = array.dtype.kind == "f" and not hasattr(given, "dtype")
        if is_list and not (np.abs(array) < 2.0**53).all():
            array = np.asarray(given, dtype=object)
        if array.dtype.kind == "O":
            return _exact_objects(array)
        if array.dtype.kind in "iu":
            return array
        return np.asarray(array, dtype=np.int64 if array.dtype.kind == "b" else np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "sample_weight must hold numbers, one per row; got "
            f"{type(given).__name__} with other values."
        ) from None


def _exact_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's numbers as fractions, or as float64 if all are floats."""
    values = array.ravel().tolist()
    if all(isinstance(value, float | bool) for value in values):
        return array.astype(np.float64)
    if any(isinstance(v, float | np.floating | Decimal) and not math.isfinite(v) for v in values):
        return array.astype(np.float64)
    result = np.empty(len(values), dtype=object)
    result[:] = [read_fraction(value, "sample_weight") for value in values]
    return result.reshape(array.shape)


def _as_floats(numbers: NDArray[Any]) -> NDArray[np.float64]:
    try:
        floats = numbers.astype(np.float64)
    except OverflowError:
        index = next(i for i, number in enumerate(numbers) if number >= 2**1024)
        raise ValueError(
            f"sample_weight[{index}] is about 10**{_digits(numbers[index])}, beyond the range of "
            "float64, and the weights are not multiples of one unit that fit the range of the "
            "search; only ratios of weights matter, so divide them all by one number."
        ) from None
    # A fraction below all floats is still a weight.
    floats[(floats == 0) & (numbers > 0)] = math.ulp(0.0)
    return floats


def _digits(number: Fraction) -> int:
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    return round(bits * math.log10(2))


Units = tuple[NDArray[np.int64] | None, Fraction]
"""Integers and the quantum that they count, if the weights are multiples of one."""


def _units_of_fractions(numbers: NDArray[Any]) -> Units:
    values = numbers.tolist()
    quantum = common_unit(values, LARGEST_TOTAL)
    if quantum is None or sum(values) >= LARGEST_TOTAL * quantum:
        return None, Fraction(1)
    return np.array([int(value / quantum) for value in values], dtype=np.int64), quantum


def _units_of_floats(weights: NDArray[np.float64]) -> Units:
    largest = float(weights.max())
    positive = weights > 0
    if bool((weights[positive] == largest).all()):
        return positive.astype(np.int64), read_fraction(largest, "sample_weight")
    for decimals in range(_MAX_DECIMALS + 1):
        power = 10.0**decimals
        if largest * power >= 10.0**_MAX_DIGITS:
            break
        units = np.rint(weights * power)
        # The division is correctly rounded and both operands are exact, so equality says that the
        # weight is the float64 that the decimal units / power is read as.
        if np.array_equal(units / power, weights):
            integers = units.astype(np.int64)
            common = int(np.gcd.reduce(integers))
            return integers // common, Fraction(common, 10**decimals)
    if largest < _FEW_DIGITS:
        # The smallest float64 numbers have few digits, and differ from the decimals they stand for.
        exact = np.empty(len(weights), dtype=object)
        exact[:] = [read_fraction(weight, "sample_weight") for weight in weights.tolist()]
        return _units_of_fractions(exact)
    return None, Fraction(1)


def _exact_sum(numbers: NDArray[np.float64]) -> Fraction:
    """Return the sum of floats without rounding."""
    if not len(numbers):
        return Fraction(0)
    mantissas, exponents = np.frexp(numbers)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    least = int(exponents.min())
    places = exponents - least
    # Two halves of the digits, by their power of two: float64 adds up 2**26 of these exactly.
    high, low = np.bincount(places, whole >> 27), np.bincount(places, whole & (2**27 - 1))
    total = 0
    for place in np.flatnonzero(high + low).tolist():
        total += ((int(high[place]) << 27) + int(low[place])) << place
    return total * Fraction(2) ** (least - 53)


@dataclass(frozen=True, slots=True)
class ScaledWeights:
    """Sample weights as integers.

    Attributes
    ----------
    values : ndarray of int64
        ``values * quantum`` are the weights, up to rounding where ``is_exact`` is False. Rows of
        weight zero have value zero; all others have at least one.
    quantum : fractions.Fraction
        The weight that one unit stands for.
    is_exact : bool
        Whether ``values * quantum`` equals the given weights, read as decimals.
    relative_error : float
        The largest relative change of a weight by rounding; 0.0 when exact.
    """

    values: NDArray[np.int64]
    quantum: Fraction
    is_exact: bool
    relative_error: float


def scale_given(given: GivenWeights, most: int, steps: int, *, exact: bool = True) -> ScaledWeights:
    """Turn weights into integers with a total of at most `most`, each of at most `steps`.

    Exact integers may be larger than `steps`; they are used unless `exact` is False.
    """
    if exact and given.units is not None and float(given.units.sum(dtype=np.float64)) <= most:
        return ScaledWeights(given.units, given.quantum, True, 0.0)
    floats = given.floats()
    rows = np.flatnonzero(floats)
    # Rounding may add one to each row.
    total = max(most - len(rows), len(rows))
    largest = float(floats.max())
    # A little more than their sum, relative to the largest because it could overflow.
    shares = Fraction(float((floats / largest).sum())) * (1 + Fraction(1, 2**20))
    least = Fraction(largest) * max(shares / total, Fraction(1, steps))
    rounded = round_floats(floats[rows], power_of_two(least))
    values = np.zeros(len(floats), dtype=np.int64)
    values[rows] = rounded.units
    return ScaledWeights(values, rounded.unit, False, rounded.worst)


@dataclass(frozen=True, slots=True)
class Rounded:
    """Integers that are at least one, what a unit is, their error in all, and the worst of it."""

    units: Any
    unit: Fraction
    error: Fraction
    worst: float


def power_of_two(least: Fraction) -> Fraction:
    """Return the least power of two that is not below a number."""
    bits = least.numerator.bit_length() - least.denominator.bit_length()
    power = Fraction(2) ** (bits - 1)
    while power < least:
        power *= 2
    return power


def round_floats(weights: NDArray[np.float64], unit: Fraction) -> Rounded:
    """Round weights to multiples of a power of two, which float64 does without an error."""
    exponent = unit.numerator.bit_length() - unit.denominator.bit_length()
    wanted = np.ldexp(weights, -exponent)
    units = np.maximum(np.rint(wanted), 1.0)
    errors = np.abs(units - wanted)
    # A weight can be smaller than any ratio can express: the error is then infinite.
    with np.errstate(divide="ignore", over="ignore"):
        worst = float((errors / wanted).max())
    # Sums of float64 are off by less than that.
    total = Fraction(math.fsum(errors)) * (1 + Fraction(1, 2**40))
    return Rounded(units.astype(np.int64), unit, total * unit, worst)
