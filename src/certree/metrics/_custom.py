"""Metrics that users write."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import isfinite, log10
from numbers import Rational, Real
from typing import Any, ClassVar

import numpy as np

from ._metric import Metric
from ._numbers import Exact

_LARGEST = 10**200


class Custom(Metric):
    """Any function of false positives and negatives that never rises with either.

    Searches and fronts rely on this. They compare the points that they visit, and refuse the metric
    if a point with more errors is worth more; the message names both points.

    Parameters
    ----------
    function : callable
        ``function(fp, fn, positives, negatives)`` with integers (weights, where rows have
        weights), returning a number: of Python or NumPy, a Fraction or a Decimal.
    name : str, optional
        Name for messages; by default that of the function.

    Examples
    --------
    >>> cost = Custom(lambda fp, fn, positives, negatives: -max(fp, 2 * fn), name="worst case")
    >>> cost(fp=3, fn=1, positives=4, negatives=6)
    -3.0
    """

    kind = "monotone"
    _name = "custom"
    _parameters: ClassVar[tuple[str, ...]] = ("function", "name")

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        if not callable(function):
            raise TypeError(
                f"Custom needs a function of (fp, fn, positives, negatives), got {function!r} of "
                f"type {type(function).__name__}."
            )
        self.function = function
        self._given_name = name

    @property
    def name(self) -> str:
        """Name for messages."""
        if self._given_name is not None:
            return self._given_name
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Fraction:
        """Return what the function returns, as the fraction that the number is."""
        point = f"fp={fp}, fn={fn} (of {positives} positives and {negatives} negatives)"
        try:
            value = self.function(*(_plain(n) for n in (fp, fn, positives, negatives)))
        except Exception as error:
            raise ValueError(
                f"The metric {self.name!r} raised {type(error).__name__} at {point}: {error}"
            ) from error
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if not isinstance(value, Real | Decimal) or not _is_finite(value):
            raise ValueError(
                f"The metric {self.name!r} returned {value!r} at {point}; it must return a finite "
                "number for all numbers of errors, none and all included."
            )
        number = Fraction(value if isinstance(value, Rational | Decimal) else float(value))
        if abs(number) > _LARGEST:
            raise ValueError(
                f"The metric {self.name!r} returned a number of about 10**{_digits(number)} at "
                f"{point}; values must stay below 10**200, well within floats: divide it by a "
                "constant."
            )
        return number


def _is_finite(value: Any) -> bool:
    # Integers and fractions of any size are finite; floats could not hold them all.
    return isinstance(value, Rational) or bool(isfinite(value))


def _digits(number: Fraction) -> int:
    # By bits: decimals of very large integers are slow to make.
    bits = abs(number.numerator).bit_length() - number.denominator.bit_length()
    return int(bits * log10(2))


def _plain(number: Exact) -> int | float:
    """Return an int where the number is whole, since users expect integer counts."""
    whole = Fraction(number)
    return whole.numerator if whole.denominator == 1 else float(whole)
