"""Weights of rows and classes as integers: exactly where they fit, else with a stated rounding.

An error in a row costs the weight of the row times the weight of its class. One rule turns these
products into integers times one unit:

* If all products are multiples of a unit for which their total fits the range of the search, they
  are exact. Integers, fractions and decimals of up to 15 digits are read exactly.
* Otherwise every product is rounded to the nearest multiple of a power of two, as fine as the total
  allows or as anyone needs; a positive product is at least one unit. Weights are read as float64
  for this. The certificate states the sum of all changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._fractions import common_unit, read_fraction, round_up
from ._weights import LARGEST_TOTAL, GivenWeights, Rounded, power_of_two, round_floats

__all__ = ["ErrorWeights", "class_fractions", "error_weights"]

# Weights with many bits slow the search down if there are many rows. The total of rounded weights
# is about the second number over the number of rows. It is larger where the first number is larger,
# or where the smallest weight would have fewer units than the third.
_FINE_TOTAL = 2**44
_FINE_SQUARES = 2**60
_FINE_STEPS = 2**22

# Reading a number as float64 changes it by at most this share.
_FLOAT_ERROR = Fraction(1, 2**52)


@dataclass(frozen=True, slots=True)
class ErrorWeights:
    """The cost of an error in each row, as the product of two integers.

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
        # All rows weigh the same, so only the class weights matter.
        counts = np.bincount(codes, minlength=len(wanted)).tolist()
        parts = [_round_fraction(weight * given.quantum / unit, 1, 1) for weight in wanted]
        multipliers = tuple(part.units for part in parts)
        errors = [part.error * count for part, count in zip(parts, counts, strict=True)]
        worst = max(part.worst for part in parts)
        change = sum(errors, Fraction(0)) * unit
    elif all(weight == 1 for weight in wanted):
        rounded = round_floats(given.floats(), unit)
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
    unit = common_unit(wanted, LARGEST_TOTAL)
    if unit is not None and whole <= most * unit * quantum:
        multipliers = tuple(int(weight / unit) for weight in wanted)
        rows = None if int(units.max()) == 1 else units
        return ErrorWeights(rows, multipliers, unit * quantum, wanted, Fraction(0), 0.0, True)
    # The rows of a class may have a factor of their own in common.
    factors = [int(np.gcd.reduce(units[codes == k], initial=0)) for k in range(len(wanted))]
    scaled = list(map(Fraction.__mul__, wanted, map(Fraction, factors)))
    unit = common_unit(scaled, LARGEST_TOTAL)
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
    """Return the unit that products are rounded to."""
    floats = given.floats()
    parts = [(k, floats[codes == k]) for k, weight in enumerate(wanted) if weight]
    least = min(Fraction(float(part.min())) * wanted[k] for k, part in parts if len(part))
    n_rows = len(codes)
    fine = max(_FINE_TOTAL, _FINE_SQUARES // n_rows)
    unit = max(whole / max(most - n_rows, n_rows), min(whole / fine, least / _FINE_STEPS))
    return power_of_two(unit)


def _round_products(
    weights: NDArray[np.float64], codes: NDArray[Any], factors: Sequence[Fraction]
) -> Rounded:
    """Round the products of weights and the factors of their classes to integers, exactly."""
    units = np.ones(len(weights), dtype=np.int64)
    error, worst = Fraction(0), 0.0
    for k, factor in enumerate(factors):
        rows = np.flatnonzero(codes == k)
        if factor and len(rows):
            part = _round_multiples(weights[rows], factor)
            units[rows] = part.units
            error, worst = error + part.error, max(worst, part.worst)
    return Rounded(units, Fraction(1), error, worst)


def _round_multiples(weights: NDArray[np.float64], factor: Fraction) -> Rounded:
    """Round the products of weights and one factor to integers, the even ones of two."""
    shift = math.frexp(float(weights.max()))[1]
    scaled, factor_here = np.ldexp(weights, -shift), factor * Fraction(2) ** shift
    high = float(factor_here)
    low = float(factor_here - Fraction(high))
    product, rest = _two_product(scaled, high)
    rest += scaled * low
    whole = np.rint(product)
    # The last bits of integers beyond 2**53 go to the remainder.
    distance = (product - whole) + rest
    units = whole.astype(np.int64) + np.rint(distance).astype(np.int64)
    errors = np.abs(distance - np.rint(distance))
    # The remainder is known to far more digits than this, so only numbers closer to a tie are open.
    for i in np.flatnonzero(errors > 0.5 - 2.0**-30).tolist():
        units[i] = _round_fraction(factor, *float(weights[i]).as_integer_ratio()).units
    raised = units < 1
    units[raised] = 1
    errors[raised] = np.abs(1.0 - product[raised])
    # A weight can be smaller than any ratio can express: the error is then infinite.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        worst = float((errors / product).max())
    total = Fraction(math.fsum(errors)) * (1 + Fraction(1, 2**40))
    return Rounded(units, Fraction(1), total, worst)


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


def _round_fraction(factor: Fraction, numerator: int, denominator: int) -> Rounded:
    """Round a product to the nearest integer, the even one of two; if positive, to at least one."""
    top, bottom = factor.numerator * numerator, factor.denominator * denominator
    if top == 0:
        return Rounded(0, Fraction(1), Fraction(0), 0.0)
    units, rest = divmod(top, bottom)
    units += 2 * rest > bottom or (2 * rest == bottom and units % 2 == 1)
    units = max(units, 1)
    off = abs(units * bottom - top)
    worst = off / top if off <= top << 1000 else math.inf
    return Rounded(units, Fraction(1), Fraction(off, bottom), worst)


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
    # In a fold that lacks a class, additional keys are normal. An additional key together with a
    # class without a weight is a typing error.
    if unnamed and unknown:
        raise ValueError(
            f"class_weight names {unknown}, which y does not contain, and lacks {unnamed}; the "
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
