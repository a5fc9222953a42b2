"""Real costs, rewards and targets as integers, exactly where they are short decimals.

The search adds and compares 64-bit integers. A table of real numbers becomes integers times one
quantum, a power of ten:

* Numbers that are multiples of a power of ten (as float64 reads them) are taken as these decimals,
  whenever the totals that the search forms fit its range. Nothing is rounded then.
* Otherwise they are rounded to the finest power of ten for which the totals fit. The largest
  distance of a number from its rounded value is known, and so is the most that the cost of *any*
  tree can change: a tree charges every row once.

A certificate is exact about the rounded numbers and carries that bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._fractions import read_fraction, round_up, shown

__all__ = [
    "FixedPoint",
    "LabelCosts",
    "check_numbers",
    "check_size",
    "fixed_point",
    "label_costs",
    "root_up",
    "round_up",
    "weighted_mean",
]

# Decimals of up to this many digits are distinct as float64, so reading them back is unambiguous.
_MAX_DIGITS = 15

# 10**22 is the last power of ten that float64 holds exactly.
_MAX_DECIMALS = 22

# So many numbers tell almost always that a power of ten is too coarse for all.
_FEW = 64

# Numbers that are added up, and those whose squares are, lie between this and one over it.
_LARGEST = Fraction(10**280)
_LARGEST_ROOT = Fraction(10**120)
_ONE = Fraction(1)

# Numbers that are smaller have few digits.
_SMALLEST = 1e-305

# Beyond this power of ten, products leave the range of float64.
_MAX_POWER = 280


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Numbers as integers.

    Attributes
    ----------
    values : ndarray of int64
        ``values * quantum`` are the numbers, up to `error`.
    quantum : fractions.Fraction
        What one unit stands for: a power of ten.
    error : fractions.Fraction
        Largest distance between a number and what stands for it; 0 when all are exact.
    """

    values: NDArray[np.int64]
    quantum: Fraction
    error: Fraction


def check_numbers(
    values: Any, what: str, shape: tuple[int | None, ...], *, exactly: bool = False
) -> NDArray[np.float64]:
    """Return values as float64, all finite and of a shape; None allows any length.

    Raises
    ------
    ValueError
        If the shape is wrong, a value is missing or infinite, or float64 does not hold a value that
        must be held `exactly`. The message names `what` and the first wrong position.
    """
    try:
        given = np.asarray(values)
        array = given.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(
            f"{what} holds a number beyond the range of float64; divide all of them by one number."
        ) from None
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} must hold numbers, got {type(values).__name__} with other values."
        ) from None
    refuse_times(given, what)
    wanted = " x ".join("any" if n is None else str(n) for n in shape)
    fits = array.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{what} must have shape {wanted}, got {_shape(array)}.")
    bad = ~np.isfinite(array)
    if bad.any():
        place, value = first_place(bad, array)
        raise ValueError(f"{what}{place} = {value!r} is not a finite number.")
    if exactly:
        _check_held(values, array, what)
    return array


def refuse_times(values: NDArray[Any], what: str) -> None:
    """Raise ValueError for dates and durations, which NumPy would turn into some number."""
    if values.dtype.kind in "mM":
        raise ValueError(
            f"{what} holds {'dates' if values.dtype.kind == 'M' else 'durations'}, of type "
            f"{values.dtype}, and numbers are needed; give the days or seconds since one moment."
        )


def _check_held(values: Any, array: NDArray[np.float64], what: str) -> None:
    """Raise ValueError if float64 does not hold some integers or fractions.

    A certificate would be about other numbers. Floats are the decimals that Python prints for them.
    """
    given = np.asarray(values)
    if given.dtype.kind in "iu" or (given.dtype.kind == "f" and not isinstance(values, np.ndarray)):
        # All integers up to 2**53 are held, also those beside floats in a list.
        doubtful = np.abs(array) > 2**53
    else:
        doubtful = np.full(array.shape, given.dtype.kind == "O")
    if not doubtful.any():
        return
    plain = given if given.dtype.kind in "iu" else np.asarray(values, dtype=object)
    for place in zip(*np.nonzero(doubtful), strict=True):
        number = plain[place].item() if isinstance(plain[place], np.generic) else plain[place]
        if isinstance(number, bool) or not isinstance(number, Rational | Decimal):
            continue
        if read_fraction(float(array[place]), what) != read_fraction(number, what):
            where = ", ".join(str(int(i)) for i in place)
            raise ValueError(
                f"{what}[{where}] = {shown(number)} has more digits than float64 holds, which "
                f"makes it {float(array[place])!r}. Round it, or multiply all by one number, or "
                "subtract what all have in common."
            )


def first_place(bad: NDArray[np.bool_], array: NDArray[Any]) -> tuple[str, Any]:
    """Return the first position that is set, such as ``[3, 1]``, and the value there."""
    place = np.unravel_index(int(np.argmax(bad)), bad.shape)
    value = array[place]
    text = f"[{', '.join(str(int(i)) for i in place)}]"
    return text, value.item() if isinstance(value, np.generic) else value


def fixed_point(
    numbers: NDArray[np.float64], total: float, most: int, *, binary: bool = False
) -> FixedPoint:
    """Turn finite numbers into integers times a power of ten.

    Parameters
    ----------
    numbers : ndarray of float64
        Finite numbers.
    total : float
        The largest amount that the search will form from them, in the same unit.
    most : int
        The largest integer that may stand for this amount.
    binary : bool, default=False
        Whether numbers with too many decimals become integers times a power of two, which fills
        the range: products with it are exact.

    Returns
    -------
    FixedPoint
    """
    exact = exact_decimals(numbers, total, most)
    if exact is not None:
        return exact
    if not binary:
        return _round(numbers, total, most)
    finest(total, most)  # refuses a total beyond float64
    # One bit stays free for the sum of what rows are rounded up by.
    bits = most.bit_length() - 2 - math.frexp(total)[1]
    quantum = Fraction(2) ** -bits
    units = np.rint(np.ldexp(numbers, bits)).astype(np.int64)
    return FixedPoint(units, quantum, quantum / 2)


def exact_decimals(numbers: NDArray[np.float64], total: float, most: int) -> FixedPoint | None:
    """Return numbers as exact decimals; None if they have too many digits or totals do not fit."""
    largest = float(np.abs(numbers).max(initial=0.0))
    if largest == 0.0:
        return FixedPoint(np.zeros(numbers.shape, dtype=np.int64), Fraction(1), Fraction(0))
    few = numbers.ravel()[:_FEW]
    for decimals in range(min(finest(total or largest, most), _MAX_DECIMALS) + 1):
        if largest * 10.0**decimals >= 10.0**_MAX_DIGITS:
            break
        power = 10.0**decimals
        if not np.array_equal(np.rint(few * power) / power, few):
            continue
        units = np.rint(numbers * power)
        # The division is correctly rounded and both operands are exact, so equality says that the
        # number is the float64 that the decimal units / power is read as.
        if np.array_equal(units / power, numbers):
            return FixedPoint(units.astype(np.int64), Fraction(1, 10**decimals), Fraction(0))
    return None


def finest(total: float, most: int) -> int:
    """Return the number of decimals, possibly negative, with which `total` is at most `most`.

    Raises
    ------
    ValueError
        If the total is beyond the range of float64.
    """
    if not math.isfinite(total):
        raise ValueError(
            "The numbers are so large that their total leaves the range of float64; scale the "
            "costs, rewards, statistics or weights down."
        )
    decimals = math.floor(math.log10(most) - math.log10(total))
    # Logarithms are not exact; the comparison of fractions is.
    while Fraction(total) * Fraction(10) ** decimals > most:
        decimals -= 1
    return decimals


def _round(numbers: NDArray[np.float64], total: float, most: int) -> FixedPoint:
    largest = float(np.abs(numbers).max())
    # With 43 bits the product below is off by less than 0.005 of a unit, for every power.
    decimals = math.floor(math.log10(2.0**43) - math.log10(largest))
    decimals = min(decimals, finest(max(total, largest), most))
    quantum = Fraction(10) ** -decimals
    if abs(decimals) > _MAX_POWER:
        # The power of ten is near the end of float64, so the quantum is a power of two.
        bits = math.floor(decimals * math.log2(10))
        quantum = Fraction(2) ** -bits
        units = np.rint(np.ldexp(numbers, bits))
    else:
        units = np.rint(numbers * 10.0**decimals if decimals >= 0 else numbers / 10.0**-decimals)
    return FixedPoint(units.astype(np.int64), quantum, quantum * Fraction(505, 1000))


@dataclass(frozen=True, slots=True)
class LabelCosts:
    """What each label costs each row, as the search reads it.

    Attributes
    ----------
    costs : ndarray of int64, shape (n_rows, n_labels)
        Weighted cost of a label above the row's cheapest one; not negative. As many rows as were
        given, however often they occur.
    prices : ndarray of int64
        Prices of tests per unit of weight, in the same unit.
    unit : fractions.Fraction
        What one unit stands for.
    constant : fractions.Fraction
        What every tree pays: the total cost of the rows' cheapest labels.
    rounding : fractions.Fraction
        The cost of any tree, as counted here, differs from the one with unrounded costs by at
        most this.
    """

    costs: NDArray[np.int64]
    prices: NDArray[np.int64]
    unit: Fraction
    constant: Fraction
    rounding: Fraction


def label_costs(
    costs: NDArray[np.float64],
    weights: NDArray[np.int64],
    weight_quantum: Fraction,
    most: int,
    prices: NDArray[np.float64] | None = None,
    price_total: float = 0.0,
    price_weight: int | None = None,
    times: NDArray[np.int64] | None = None,
) -> LabelCosts:
    """Turn costs per row and label into integers that are not negative.

    Every tree pays at least a row's cheapest label, so it is taken out of the sums. The remaining
    numbers are smaller, which sharpens the bounds that use the largest cost of a row.

    Parameters
    ----------
    costs : ndarray of shape (n_rows, n_labels)
        Finite costs, of any sign.
    weights : ndarray of int64, shape (n_rows,)
        Integer weight of each row.
    weight_quantum : fractions.Fraction
        What one unit of weight stands for.
    most : int
        The largest total cost that the search may form.
    prices : ndarray, optional
        Prices of tests, not negative, to be expressed in the same unit.
    price_total : float
        The most that one unit of weight can pay for tests.
    price_weight : int, optional
        Weight of all rows that pay for tests; by default that of all rows.
    times : ndarray of int64, shape (n_rows,), optional
        How often each row occurs, with its weight; by default once.
    """
    often = np.ones(len(costs), dtype=np.int64) if times is None else times
    all_weights = weights * often
    paying = int(all_weights.sum()) if price_weight is None else price_weight
    with np.errstate(over="ignore"):
        ranges = costs.max(axis=1) - costs.min(axis=1)
        total = float(all_weights @ ranges) + paying * price_total
    extra = np.zeros(0) if prices is None else prices
    numbers = np.concatenate([costs.ravel(), extra.ravel()])
    fixed = exact_decimals(numbers, total, most)
    if fixed is not None:
        table = fixed.values[: costs.size].reshape(costs.shape)
        cheapest = table.min(axis=1)
        above = (table - cheapest[:, None]) * weights[:, None]
        constant = _exact_dot(all_weights, cheapest) * fixed.quantum
        prices_fixed = fixed.values[costs.size :]
        divisors = np.gcd.reduce(above, axis=None), np.gcd.reduce(prices_fixed, axis=None)
        common, rounding = max(int(np.gcd(*divisors)), 1), Fraction(0)
    elif not ranges.any() and not extra.any():
        # All labels cost the same and all tests are free: all trees pay the same.
        fixed = FixedPoint(np.zeros(len(numbers), dtype=np.int64), Fraction(1), Fraction(0))
        above, prices_fixed = np.zeros(costs.shape, dtype=np.int64), fixed.values[costs.size :]
        pairs = zip(all_weights.tolist(), costs[:, 0].tolist(), strict=True)
        constant = sum((w * read_fraction(cost, "costs") for w, cost in pairs), Fraction(0))
        common, rounding = 1, Fraction(0)
    else:
        # Differences are rounded, not costs: a large common part would take all the digits. They
        # are multiplied by weights first, so that each row is rounded once.
        least = costs.min(axis=1)
        with np.errstate(over="ignore"):
            differences = (costs - least[:, None]) * weights[:, None]
            amounts = weights * np.abs(costs).max(axis=1)
        finest(float(amounts.sum()) or 1.0, most)
        fixed = _round(np.concatenate([differences.ravel(), extra.ravel()]), total, most)
        above = fixed.values[: costs.size].reshape(costs.shape)
        least_total = _float_sum(weights * least, often)
        constant = round(Fraction(least_total) / fixed.quantum) * fixed.quantum
        prices_fixed = fixed.values[costs.size :]
        n_rounded = int(often.sum()) + (len(extra) * paying if price_total else 0)
        # The errors of float64 in differences and products, and of rounding the constant.
        noise = Fraction(float(amounts.sum())) / 2**49 + fixed.quantum
        common, rounding = 1, n_rounded * fixed.error + noise
    unit = fixed.quantum * weight_quantum
    return LabelCosts(
        above // common,
        prices_fixed // common,
        unit * common,
        constant * weight_quantum,
        round_up(rounding * weight_quantum),
    )


def _float_sum(numbers: NDArray[np.float64], often: NDArray[np.int64]) -> float:
    """Return the sum of numbers that occur several times, correctly rounded."""
    if not (often > 1).any():
        return math.fsum(numbers)
    pairs = zip(numbers.tolist(), often.tolist(), strict=True)
    return float(sum((Fraction(number) * n for number, n in pairs), Fraction(0)))


def check_size(
    numbers: NDArray[np.float64], what: str, total: Fraction = _ONE, *, are_squared: bool = False
) -> None:
    """Refuse numbers so large or small that what is made of them leaves the range of float64.

    Parameters
    ----------
    numbers : ndarray
        Finite numbers.
    what : str
        What they are called.
    total : Fraction
        The weight of all rows, where it is multiplied in, and squares are computed.
    are_squared : bool
        Whether squares are computed without it.
    """
    largest = Fraction(float(np.abs(numbers).max(initial=0.0)))
    limit = _LARGEST if total is _ONE and not are_squared else _LARGEST_ROOT
    sizes = {largest, largest * total}
    if largest and not all(1 / limit <= size <= limit for size in sizes):
        weighed = "" if total is _ONE else ", times the total of sample_weight,"
        which = "whose squares" if are_squared else f"which{weighed}"
        raise ValueError(
            f"{what} has numbers up to {float(largest):.3g} in size, {which} leave the range of "
            "float64; multiply or divide all of them by one number."
        )


def refuse_tiny(numbers: NDArray[np.float64], what: str) -> None:
    """Refuse numbers so near to zero that float64 has few digits of them, all or some."""
    sizes = np.abs(numbers)
    largest = float(sizes.max(initial=0.0))
    if 0 < largest < _SMALLEST:
        raise ValueError(
            f"{what} are at most {largest:.3g} in size, where float64 has few digits; multiply all "
            "of them by one number."
        )
    least = float(sizes.min(initial=1.0, where=sizes > 0))
    if least < np.finfo(np.float64).tiny:
        raise ValueError(
            f"{what} are as small as {least:.3g}, where float64 has few digits; write 0 for them."
        )


def weighted_mean(numbers: NDArray[np.float64], weights: NDArray[Any]) -> float:
    """Return the mean of some numbers; neither these nor their weights leave float64."""
    shares = weights / weights.max()
    exponent = math.frexp(float(np.abs(numbers).max()))[1]
    parts = shares * np.ldexp(numbers, -exponent)
    return math.ldexp(math.fsum(parts) / math.fsum(shares), exponent)


def root_up(square: Fraction) -> Fraction:
    """Return a little more than the root of a fraction."""
    shift = max(0, 64 - square.numerator.bit_length() + square.denominator.bit_length()) // 2 + 1
    scaled = (square.numerator << 2 * shift) // square.denominator
    return Fraction(math.isqrt(scaled) + 1, 1 << shift)


def _exact_dot(weights: NDArray[np.int64], values: NDArray[np.int64]) -> int:
    """Return the sum of products, whether or not it fits 64 bits."""
    largest = int(np.abs(values).max(initial=0))
    if largest * int(weights.sum()) < 2**62:
        return int(weights @ values)
    return sum(int(w) * int(v) for w, v in zip(weights, values, strict=True))


def _shape(array: NDArray[Any]) -> str:
    return " x ".join(map(str, array.shape)) if array.ndim else "a single number"
