"""Exact values of metrics: fractions, and fractions plus a square root.

Values of MCC, Fowlkes-Mallows and G-mean are square roots of fractions, and the penalty for splits
moves them by a fraction. They are compared here without rounding, by the one rule for such numbers:

    sign(c + a - b)  for  a = ±sqrt(r), b = ±sqrt(t):
    the sign of c where a - b has the same sign or is zero; otherwise whichever of c^2 and
    (a - b)^2 = r + t - 2ab is greater decides, and that comparison has a single root left in it.

Where floating-point values differ by far more than their rounding errors, they decide at once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import total_ordering
from typing import Any

Exact = int | Fraction
"""A rational number."""


def sign(value: Exact) -> int:
    """Return -1, 0 or 1."""
    return (value > 0) - (value < 0)


def _sign_with_root(number: Fraction, factor: int, square: Fraction) -> int:
    """Return the sign of ``number + factor * sqrt(square)`` for a factor of -1, 0 or 1."""
    root_sign = factor * sign(square)
    own = sign(number)
    if own == root_sign or root_sign == 0:
        return own
    if own == 0:
        return root_sign
    return own * sign(number * number - square)


@total_ordering
class Root:
    """The number ``shift + sign * sqrt(square)``, compared exactly.

    Parameters
    ----------
    sign : {-1, 1}
        Sign of the root.
    square : fractions.Fraction
        What the root is taken of, not negative.
    shift : fractions.Fraction, default=0
        What is added.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Root(1, Fraction(1, 2)) > Fraction(7, 10)
    True
    >>> Root(1, Fraction(1, 2)) - Fraction(1, 10) < Fraction(7, 10)
    True
    """

    __slots__ = ("_kept", "shift", "sign", "square")

    def __init__(self, sign: int, square: Fraction, shift: Fraction = Fraction(0)) -> None:
        self.sign = sign
        self.square = square
        self.shift = shift
        self._kept: tuple[float, float] | None = None

    def __add__(self, other: Any) -> Root:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return Root(self.sign, self.square, self.shift + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Root:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return Root(self.sign, self.square, self.shift - other)

    def __rsub__(self, other: Any) -> Root:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return Root(-self.sign, self.square, other - self.shift)

    def __neg__(self) -> Root:
        return Root(-self.sign, self.square, -self.shift)

    def _compare(self, other: Any) -> int:
        """Return the sign of ``self - other``."""
        quick = self._compare_quickly(other)
        return self._compare_exactly(other) if quick is None else quick

    def _compare_quickly(self, other: Any) -> int | None:
        """Compare in floating point, where the rounding errors are far below the difference."""
        try:
            own, size = self._about()
            there, other_size = other._about() if type(other) is Root else (float(other), 0.0)
        except OverflowError:
            return None
        # Each has an error of a few times 2**-53 of its parts; this is a thousand times as much.
        difference, error = own - there, 1e-12 * (size + other_size + abs(there))
        if abs(difference) > error:
            return 1 if difference > 0 else -1
        return None

    def _about(self) -> tuple[float, float]:
        """Return the number in floating point, and the sum of the sizes of its parts."""
        if self._kept is None:
            shift, root = float(self.shift), math.sqrt(self.square)
            self._kept = shift + self.sign * root, abs(shift) + root
        return self._kept

    def _compare_exactly(self, other: Any) -> int:
        if type(other) is not Root:
            return _sign_with_root(self.shift - other, self.sign, self.square)
        number = self.shift - other.shift
        roots = sign(self.sign * self.square - other.sign * other.square)
        own = sign(number)
        if own == roots or roots == 0:
            return own
        if own == 0:
            return roots
        # Both sides have opposite signs: compare squares, (a - b)^2 = r + t - 2ab.
        product = 4 * self.square * other.square
        rest = number * number - self.square - other.square
        return own * _sign_with_root(rest, self.sign * other.sign, product)

    def __eq__(self, other: object) -> bool:
        if type(other) is not Root and not isinstance(other, int | Fraction):
            return NotImplemented
        return self._compare(other) == 0

    def __lt__(self, other: Any) -> bool:
        if type(other) is not Root and not isinstance(other, int | Fraction):
            return NotImplemented
        return self._compare(other) < 0

    def __le__(self, other: Any) -> bool:
        if type(other) is not Root and not isinstance(other, int | Fraction):
            return NotImplemented
        return self._compare(other) <= 0

    def __hash__(self) -> int:
        return hash(float(self))

    def __float__(self) -> float:
        return self._about()[0]

    def __repr__(self) -> str:
        root = f"{'-' if self.sign < 0 else ''}sqrt({self.square})"
        return root if self.shift == 0 else f"{self.shift} + {root}"


Number = Fraction | Root
"""An exact value of a metric, in the order of the real numbers."""


def signed_root(factor: int, square: Fraction) -> Number:
    """Return ``factor * sqrt(square)``, as a fraction if rational; the factor is -1, 0 or 1."""
    if factor == 0 or square == 0:
        return Fraction(0)
    numerator, denominator = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return Fraction(factor * numerator, denominator)
    return Root(factor, square)
