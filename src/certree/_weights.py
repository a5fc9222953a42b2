"""Weights of rows and classes as integers: exactly where they fit, else with a stated rounding.

What an error in a row costs is the weight of the row times that of its class. One rule turns these
products into integers times one unit:

* If all products are multiples of a unit for which their total fits the range of the search, they
  are exact. Integers, fractions and decimals of up to 15 digits are read as what they are.
* Otherwise every product is rounded to the nearest multiple of a power of two, as fine as the total
  allows or as anyone needs; a positive product is at least one unit. Weights are read as float64
  for this. By how much the products change in all is known, and a certificate states it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._fractions import common_unit, read_fraction, round_up, shown

__all__ = [
    "ErrorWeights",
    "GivenWeights",
    "ScaledWeights",
    "check_weights",
    "class_fractions",
    "error_weights",
    "read_weights",
    "relative_weights",
    "scale_given",
]

# Decimals of up to this many digits are distinct as float64, so reading them back is unambiguous.
_MAX_DIGITS = 15

# 10**22 is the last power of ten that float64 holds exactly.
_MAX_DECIMALS = 22

# Integers that stand for weights, and their totals, are below this.
_LARGEST_TOTAL = 2**62

# Weights that are rounded need no larger total than the first, and no more steps for the smallest
# of them than the second.
_FINE_TOTAL = 2**44
_FINE_STEPS = 2**22

# Sums of floats below this may have fewer digits than others.
_FEW_DIGITS = 1e-290

# What reading a number as float64 changes is at most this share of it.
_FLOAT_ERROR = Fraction(1, 2**52)


@dataclass(frozen=True)
class GivenWeights:
    """Weights of rows as they were given.

    Attributes
    ----------
    numbers : array of shape (n_rows,)
        Integers, floats, or Python's exact numbers.
    units, quantum : int64 array and fractions.Fraction
        ``units * quantum`` are exactly these, if there are such integers; None: there are none.
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
    """Read weights of rows, and find the integers that they are multiples of one unit by.

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
        If there are not as many weights as rows, or one of them cannot be a weight.
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
    if float(units.sum(dtype=np.float64)) >= _LARGEST_TOTAL:
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
            f"{type(given).__name__} that cannot be read as such."
        ) from None


def _exact_objects(array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's numbers as fractions, or as float64 where they are nothing else."""
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
            "float64, and the weights are no multiples of one unit that fit the range of the "
            "search; only ratios of weights matter, so divide them all by one number."
        ) from None
    # A fraction below all floats is still a weight.
    floats[(floats == 0) & (numbers > 0)] = math.ulp(0.0)
    return floats


def _digits(number: Fraction) -> int:
    bits = number.numerator.bit_length() - number.denominator.bit_length()
    return round(bits * math.log10(2))


Units = tuple[NDArray[np.int64] | None, Fraction]
"""Integers and the quantum that they count, if there are such integers."""


def _units_of_fractions(numbers: NDArray[Any]) -> Units:
    values = numbers.tolist()
    quantum = common_unit(values, _LARGEST_TOTAL)
    if quantum is None or sum(values) >= _LARGEST_TOTAL * quantum:
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
        # Numbers at the end of float64 have few digits, and are not the decimals they stand for.
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
    # Two halves of the digits, by their power of two: float64 adds up 2**26 such without an error.
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

    Exact ones may be larger than `steps`; they are wanted, unless `exact` is False.
    """
    if exact and given.units is not None and float(given.units.sum(dtype=np.float64)) <= most:
        return ScaledWeights(given.units, given.quantum, True, 0.0)
    floats = given.floats()
    rows = np.flatnonzero(floats)
    room = max(most - len(rows), len(rows))
    largest = float(floats.max())
    # A little more than their sum, relative to the largest because it could overflow.
    shares = Fraction(float((floats / largest).sum())) * (1 + Fraction(1, 2**20))
    least = Fraction(largest) * max(shares / room, Fraction(1, steps))
    rounded = _round_floats(floats[rows], _power_of_two(least))
    values = np.zeros(len(floats), dtype=np.int64)
    values[rows] = rounded.units
    return ScaledWeights(values, rounded.unit, False, rounded.worst)


@dataclass(frozen=True, slots=True)
class ErrorWeights:
    """What an error in each row costs, as integers: the product of two of them.

    Attributes
    ----------
    row_weights : int64 array or None
        The factor of each row; None: one each.
    multipliers : tuple of int
        The factor of each class.
    unit : fractions.Fraction
        What one unit of the product stands for.
    class_weights : tuple of fractions.Fraction
        Weight of each class as it was asked for.
    rounding : fractions.Fraction
        By how much the products differ, in all, from those of the weights as they were given; 0
        where they are exact.
    worst : float
        The largest relative change of a product; 0.0 when exact.
    keeps_rows : bool
        Whether `row_weights` are multiples of the sample weights, those of the classes aside.
    """

    row_weights: NDArray[np.int64] | None
    multipliers: tuple[int, ...]
    unit: Fraction
    class_weights: tuple[Fraction, ...]
    rounding: Fraction
    worst: float
    keeps_rows: bool

    @property
    def is_exact(self) -> bool:
        """Whether the integers stand for exactly the weights that were given."""
        return not self.rounding


def error_weights(
    given: GivenWeights,
    codes: NDArray[Any],
    class_weights: Sequence[Fraction],
    totals: Sequence[Fraction],
    most: int,
) -> ErrorWeights:
    """Turn the weights of rows, all above zero, times those of their classes into integers.

    Parameters
    ----------
    given : GivenWeights
        Weights of the rows.
    codes : int array of shape (n_rows,)
        Class of each row.
    class_weights : sequence of fractions.Fraction
        Weight of each class, not all of them zero.
    totals : sequence of fractions.Fraction
        Weight of the rows of each class.
    most : int
        The largest total of the integers.
    """
    wanted = tuple(class_weights)
    whole = sum(map(Fraction.__mul__, wanted, totals), Fraction(0))
    if given.units is not None:
        exact = _exact_products(given.units, given.quantum, codes, wanted, whole, most)
        if exact is not None:
            return exact
    unit = _rounding_unit(given, codes, wanted, whole, most)
    multipliers, row_weights = (1,) * len(wanted), None
    if given.units is not None and int(given.units.max()) == 1:
        # All rows weigh the same, so the classes say it all.
        counts = np.bincount(codes, minlength=len(wanted)).tolist()
        parts = [_round_fraction(weight * given.quantum / unit, 1, 1) for weight in wanted]
        multipliers = tuple(part.units for part in parts)
        errors = [part.error * count for part, count in zip(parts, counts, strict=True)]
        worst = max(part.worst for part in parts)
        change = sum(errors, Fraction(0)) * unit
    elif all(weight == 1 for weight in wanted):
        rounded = _round_floats(given.floats(), unit)
        row_weights, change, worst = rounded.units, rounded.error, rounded.worst
    else:
        rounded = _round_products(given.floats(), codes, [weight / unit for weight in wanted])
        row_weights, change, worst = rounded.units, rounded.error * unit, rounded.worst
        multipliers = tuple(int(weight > 0) for weight in wanted)
    # The smallest floats are off by more than a share of themselves.
    smallest = len(codes) * max(wanted) * Fraction(2) ** -1074
    rounding = round_up(change + whole * _FLOAT_ERROR + smallest)
    keeps = row_weights is None
    return ErrorWeights(row_weights, multipliers, unit, wanted, rounding, worst, keeps)


def _exact_products(
    units: NDArray[np.int64],
    quantum: Fraction,
    codes: NDArray[Any],
    wanted: tuple[Fraction, ...],
    whole: Fraction,
    most: int,
) -> ErrorWeights | None:
    """Return integers that stand for exactly the products, or None if these do not fit."""
    unit = common_unit(wanted, _LARGEST_TOTAL)
    if unit is not None and whole <= most * unit * quantum:
        multipliers = tuple(int(weight / unit) for weight in wanted)
        rows = None if int(units.max()) == 1 else units
        return ErrorWeights(rows, multipliers, unit * quantum, wanted, Fraction(0), 0.0, True)
    # The rows of a class may have a factor of their own in common.
    factors = [int(np.gcd.reduce(units[codes == k], initial=0)) for k in range(len(wanted))]
    scaled = list(map(Fraction.__mul__, wanted, map(Fraction, factors)))
    unit = common_unit(scaled, _LARGEST_TOTAL)
    if unit is None or whole > most * unit * quantum:
        return None
    multipliers = tuple(int(number / unit) for number in scaled)
    rows = units // np.maximum(np.array(factors, dtype=np.int64), 1)[codes]
    return ErrorWeights(rows, multipliers, unit * quantum, wanted, Fraction(0), 0.0, False)


def _rounding_unit(
    given: GivenWeights,
    codes: NDArray[Any],
    wanted: tuple[Fraction, ...],
    whole: Fraction,
    most: int,
) -> Fraction:
    """Return the unit that products are rounded to: fine, but the search takes longer with it."""
    floats = given.floats()
    parts = [(k, floats[codes == k]) for k, weight in enumerate(wanted) if weight]
    least = min(Fraction(float(part.min())) * wanted[k] for k, part in parts if len(part))
    n_rows = len(codes)
    unit = max(whole / max(most - n_rows, n_rows), min(whole / _FINE_TOTAL, least / _FINE_STEPS))
    return _power_of_two(unit)


@dataclass(frozen=True, slots=True)
class _Rounded:
    """Integers that are at least one, what a unit is, their error in all, and the worst of it."""

    units: Any
    unit: Fraction
    error: Fraction
    worst: float


def _power_of_two(least: Fraction) -> Fraction:
    """Return the least power of two that is not below a number."""
    bits = least.numerator.bit_length() - least.denominator.bit_length()
    power = Fraction(2) ** (bits - 1)
    while power < least:
        power *= 2
    return power


def _round_floats(weights: NDArray[np.float64], unit: Fraction) -> _Rounded:
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
    return _Rounded(units.astype(np.int64), unit, total * unit, worst)


def _round_products(
    weights: NDArray[np.float64], codes: NDArray[Any], factors: Sequence[Fraction]
) -> _Rounded:
    """Round the products of weights and the factors of their classes to integers, exactly."""
    units = np.ones(len(weights), dtype=np.int64)
    error, worst = Fraction(0), 0.0
    for k, factor in enumerate(factors):
        rows = np.flatnonzero(codes == k)
        if factor and len(rows):
            part = _round_multiples(weights[rows], factor)
            units[rows] = part.units
            error, worst = error + part.error, max(worst, part.worst)
    return _Rounded(units, Fraction(1), error, worst)


def _round_multiples(weights: NDArray[np.float64], factor: Fraction) -> _Rounded:
    """Round the products of weights and one factor to integers, the even ones of two."""
    shift = math.frexp(float(weights.max()))[1]
    scaled, factor_here = np.ldexp(weights, -shift), factor * Fraction(2) ** shift
    high = float(factor_here)
    low = float(factor_here - Fraction(high))
    product, rest = _two_product(scaled, high)
    rest += scaled * low
    whole = np.rint(product)
    # Integers beyond 2**53 leave their last bits to the rest.
    distance = (product - whole) + rest
    units = whole.astype(np.int64) + np.rint(distance).astype(np.int64)
    errors = np.abs(distance - np.rint(distance))
    # What is left is known to far more digits than this, so only what is closer to a tie is open.
    for i in np.flatnonzero(errors > 0.5 - 2.0**-30).tolist():
        units[i] = _round_fraction(factor, *float(weights[i]).as_integer_ratio()).units
    raised = units < 1
    units[raised] = 1
    errors[raised] = np.abs(1.0 - product[raised])
    # A weight can be smaller than any ratio can express: the error is then infinite.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        worst = float((errors / product).max())
    total = Fraction(math.fsum(errors)) * (1 + Fraction(1, 2**40))
    return _Rounded(units, Fraction(1), total, worst)


def _two_product(
    numbers: NDArray[np.float64], factor: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return products as floats, and what rounding took from each: Dekker's error-free product."""
    product = numbers * factor
    split = 2.0**27 + 1
    high = numbers * split - (numbers * split - numbers)
    low = numbers - high
    factor_high = factor * split - (factor * split - factor)
    factor_low = factor - factor_high
    rest = high * factor_high - product
    rest = ((rest + high * factor_low) + low * factor_high) + low * factor_low
    return product, rest


def _round_fraction(factor: Fraction, numerator: int, denominator: int) -> _Rounded:
    """Round a product to the nearest integer, the even one of two; if positive, to at least one."""
    top, bottom = factor.numerator * numerator, factor.denominator * denominator
    if top == 0:
        return _Rounded(0, Fraction(1), Fraction(0), 0.0)
    units, rest = divmod(top, bottom)
    units += 2 * rest > bottom or (2 * rest == bottom and units % 2 == 1)
    units = max(units, 1)
    off = abs(units * bottom - top)
    worst = off / top if off <= top << 1000 else math.inf
    return _Rounded(units, Fraction(1), Fraction(off, bottom), worst)


def class_fractions(
    class_weight: Mapping[Any, Any] | Literal["balanced"] | None,
    classes: list[Any],
    totals: Sequence[int | Fraction],
) -> list[Fraction]:
    """Return the weight of each class as an exact fraction, for the total weight of its rows."""
    if class_weight is None:
        return [Fraction(1)] * len(classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = sum(1 for total in totals if total)
        total = sum(totals)
        return [Fraction(total) / (present * t) if t else Fraction(0) for t in totals]
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}; for weights "
            "per row use sample_weight."
        )
    labels = [_plain(label) for label in classes]
    unnamed = [label for label in labels if label not in class_weight]
    unknown = [key for key in class_weight if _plain(key) not in labels]
    # Keys beyond the classes at hand are normal in a fold that lacks a class; together with a class
    # that has no weight they are a slip of the pen.
    if unnamed and unknown:
        raise ValueError(
            f"class_weight names {unknown}, which are no classes of y, and lacks {unnamed}; the "
            f"classes are {labels}."
        )
    weights = []
    for label in labels:
        weight = read_fraction(class_weight.get(label, 1), f"class_weight[{label!r}]")
        if weight < 0:
            raise ValueError(
                f"class_weight[{label!r}] = {class_weight[label]!r} is negative; class weights "
                "must be at least 0."
            )
        weights.append(weight)
    if not any(map(Fraction.__mul__, weights, map(Fraction, totals))):
        raise ValueError(
            "class_weight gives weight zero to every class in y, so no row counts; give at least "
            f"one of the classes {labels} a positive weight."
        )
    return weights


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
