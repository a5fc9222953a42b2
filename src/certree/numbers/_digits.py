"""Integers of any size: numbers exactly as written, and their digits for sums of 64 bits.

Amounts and weights are decimals or fractions, and limits on their totals are kept exactly. Where a
total needs more than 64 bits, every amount is written in digits to the base ``2**bits``. The search
bounds by the leading digit, and the finer digits decide where leading digits are equal. Digits
are balanced (between minus and plus half the base), so that the digits of a negated amount are the
negated digits. See docs/theory/limits.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._exact import read_fraction

# The largest total with one digit; multipliers then still fit 60 bits.
MOST_TOTAL = 2**48

# Bits of a total of leading digits, about, where there are finer digits.
_LEADING_BITS = 36

# The most finer digits in the core, and the most bits of their sums.
_MOST_DIGITS = 128
_SUM_BITS = 57

# Enough digits for any float64, whose exponents go from -324 to 308.
_CONTEXT = Context(prec=2000)


def whole_numbers(values: NDArray[Any], what: str) -> tuple[NDArray[Any], Fraction]:
    """Return numbers as integers of any size times one unit, exactly as they are written.

    Parameters
    ----------
    values : ndarray
        Integers, floats (read as the decimals that Python prints), fractions or texts.
    what : str
        What they are, for messages.

    Returns
    -------
    integers : ndarray of Python integers, of the same shape
    unit : Fraction
    """
    flat = values.reshape(-1)
    if flat.dtype.kind in "biu":
        integers, unit = [int(v) for v in flat.tolist()], Fraction(1)
    elif flat.dtype.kind == "f":
        decimals = [Decimal(str(v)) for v in flat.tolist()]
        exponents = [d.as_tuple().exponent for d in decimals]
        if not all(isinstance(e, int) for e in exponents):
            raise ValueError(f"{what} must hold finite numbers.")
        least = min(e for e in exponents if isinstance(e, int))
        integers = [int(_CONTEXT.scaleb(d, -least)) for d in decimals]
        unit = Fraction(10) ** least
    else:
        fractions = [read_fraction(v, what) for v in flat.tolist()]
        denominator = math.lcm(*(f.denominator for f in fractions))
        integers = [f.numerator * (denominator // f.denominator) for f in fractions]
        unit = Fraction(1, denominator)
    common = math.gcd(*integers) or 1
    whole = np.empty(len(integers), dtype=object)
    whole[:] = [number // common for number in integers]
    return whole.reshape(values.shape), unit * common


@dataclass(frozen=True)
class Amounts:
    """What rows add to a total with each label, in digits.

    Attributes
    ----------
    leading : int64 array of shape (n_rows, n_labels)
        The first digit, which may be large.
    finer : int64 array of shape (n_rows, n_labels, n_finer)
        The digits that follow; none where one digit is enough.
    bits : int
        A digit counts ``2**bits`` of the next one.
    finer_range : (int, int)
        The finer digits of any tree add up to at least and at most this, in units of the last one.
    range : (int, int)
        The same for totals.
    """

    leading: NDArray[np.int64]
    finer: NDArray[np.int64]
    bits: int
    finer_range: tuple[int, int]
    range: tuple[int, int]

    @property
    def n_finer(self) -> int:
        """Number of digits after the leading one."""
        return int(self.finer.shape[2])

    @property
    def shift(self) -> int:
        """Bits of all finer digits together."""
        return self.bits * self.n_finer

    def total(self, labels: NDArray[Any]) -> int:
        """Return the total for labels of all rows, in units of the last digit."""
        rows = np.arange(len(labels))
        total = int(self.leading[rows, labels].sum())
        for digit in self.finer[rows, labels].sum(axis=0).tolist():
            total = (total << self.bits) + digit
        return total

    def least_finer(self, sign: int) -> int:
        """Return the least that the finer digits of a tree add, times a sign."""
        return self.finer_range[0] if sign > 0 else -self.finer_range[1]

    def least_total(self, sign: int) -> int:
        """Return the least total, times a sign."""
        return self.range[0] if sign > 0 else -self.range[1]

    def within(self, bound: int, sign: int) -> int:
        """Return a bound on signed totals, or the nearest bound that allows the same trees."""
        return min(max(bound, self.least_total(sign) - 1), -self.least_total(-sign))

    def leading_bound(self, bound: int, sign: int) -> int:
        """Return the largest total of leading digits among trees within a bound."""
        return (bound - self.least_finer(sign)) >> self.shift


def to_digits(amounts: NDArray[Any], what: str, most: int = MOST_TOTAL) -> Amounts:
    """Return integers of any size in digits whose sums fit 64 bits.

    Parameters
    ----------
    amounts : array of Python integers, of shape (n_rows, n_labels)
        What a row adds with each label.
    what : str
        What they are, for messages.
    most : int
        The largest total that one digit may have.
    """
    amounts = amounts.astype(object)
    least, highest = amounts.min(axis=1), amounts.max(axis=1)
    span = int(least.sum()), int(highest.sum())
    total = int(np.maximum(np.abs(least), np.abs(highest)).sum())
    if total <= most:
        none = np.zeros((*amounts.shape, 0), dtype=np.int64)
        return Amounts(amounts.astype(np.int64), none, 0, (0, 0), span)
    rest_bits = total.bit_length() - min(_LEADING_BITS, most.bit_length() - 1)
    n_finer = -(-rest_bits // (_SUM_BITS - len(amounts).bit_length()))
    bits = -(-rest_bits // n_finer)
    if n_finer >= _MOST_DIGITS:
        raise ValueError(
            f"{what} times the weights span more than {total.bit_length() * 3 // 10} decimal "
            "digits, which is more than the search can tell apart; bring them closer together."
        )
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    digits = []
    rest = amounts
    for _ in range(n_finer):
        digit = ((rest + half) & mask) - half
        digits.append(digit.astype(np.int64))
        rest = (rest - digit) >> bits
    tail = amounts - (rest << (bits * n_finer))
    return Amounts(
        rest.astype(np.int64),
        np.stack(digits[::-1], axis=2),
        bits,
        (int(tail.min(axis=1).sum()), int(tail.max(axis=1).sum())),
        span,
    )


def bound_digits(bound: int, bits: int, n_finer: int) -> list[int]:
    """Return the digits of a bound, the leading one first; the others are not negative."""
    digits = []
    for _ in range(n_finer):
        digits.append(bound & ((1 << bits) - 1))
        bound >>= bits
    return [bound, *digits[::-1]]
