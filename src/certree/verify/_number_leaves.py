"""Leaves that predict a number: squared errors, losses around quantiles, deviances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from certree.exceptions import CertificateError

from ._audit import Data
from ._leaf_costs import Leaves, Rates
from ._notes import Note, RowsOf, deviation, mean
from ._plain_numbers import LAST_FLOAT, read, read_list, share_explained

# Distances from a mean, as shares of it, for which a series of so many terms has all digits: the
# next term is less than 2**-54 of the first.
_SMALL, _N_TERMS = 2.0**-8, 9


def squares(data: Data, y: Any) -> Leaves:
    """Return leaves that cost the squared error around their mean."""
    numbers = read_list(y, data.n_rows, "y")
    target = {row: numbers[row] for row in data.rows}
    # Distances from one number give the same errors, in smaller fractions.
    middle = (max(target.values()) + min(target.values())) / 2

    def moments(rows: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
        weight = total = square = Fraction(0)
        for row in rows:
            w, t = data.weights[row], target[row] - middle
            weight, total, square = weight + w, total + w * t, square + w * t * t
        return weight, total, square

    def least(rows: Sequence[int]) -> Fraction:
        weight, total, square = moments(rows)
        return square - total**2 / weight

    def of(rows: Sequence[int], value: Any) -> Fraction:
        weight, total, square = moments(rows)
        mean = middle + total / weight
        scale = max(abs(target[row]) for row in rows)
        # The digits that float64 has for numbers of this size, and a few last bits for a sum.
        close = 16 * scale / 2**52 + LAST_FLOAT
        if not isinstance(value, float | int) or abs(read(value) - mean) > close:
            raise CertificateError(
                f"a leaf predicts {value!r}, but the mean of its rows is {float(mean)!r}."
            )
        return square - total**2 / weight

    whole = least(data.rows)

    def score(cost: Fraction) -> float:
        return share_explained(cost, whole)

    def note(rows: Sequence[int], off: Fraction) -> Note:
        weight = data.weight(rows)
        spread = deviation(least(rows) if rows else Fraction(0), weight, off)
        return ["mean of ", RowsOf(), ", deviation ", spread]

    return Leaves("squared_error", of, least, score, whole, target=target, note=note)


def quantiles(data: Data, y: Any, quantile: Any = None) -> Leaves:
    """Return leaves that cost the loss around their quantile; None: absolute error."""
    numbers = read_list(y, data.n_rows, "y")
    level = Fraction(1, 2) if quantile is None else Fraction(read(quantile, "quantile"))
    above, below = (level, 1 - level) if quantile is not None else (Fraction(1), Fraction(1))
    target = {row: numbers[row] for row in data.rows}

    def loss(rows: Sequence[int], value: Fraction) -> Fraction:
        parts = (
            data.weights[row] * max(above * (target[row] - value), below * (value - target[row]))
            for row in rows
        )
        return sum(parts, Fraction(0))

    def best(rows: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return the least and the largest of the best values."""
        ordered = sorted(rows, key=lambda row: target[row])
        wanted = level * data.weight(rows)
        passed = Fraction(0)
        for place, row in enumerate(ordered):
            passed += data.weights[row]
            if passed > wanted:
                return target[row], target[row]
            if passed == wanted:
                return target[row], target[ordered[place + 1]]
        raise AssertionError("no row has weight")

    def of(rows: Sequence[int], value: Any) -> Fraction:
        low, high = best(rows)
        middle = (low + high) / 2
        if not isinstance(value, float | int) or abs(read(value) - middle) > (
            abs(middle) / 2**50 + LAST_FLOAT
        ):
            raise CertificateError(
                f"a leaf predicts {value!r}, but the middle of its best values is "
                f"{float(middle)!r}."
            )
        return loss(rows, middle)

    def least(rows: Sequence[int]) -> Fraction:
        return loss(rows, best(rows)[0])

    def note(rows: Sequence[int], off: Fraction) -> Note:
        weight = data.weight(rows)
        name = "median of " if level == Fraction(1, 2) else "quantile of "
        what = ", mean absolute error " if quantile is None else ", mean pinball loss "
        return [name, RowsOf(), what, mean(least(rows), weight, off)]

    whole = least(data.rows)
    return Leaves(
        "absolute_error" if quantile is None else "quantile",
        of,
        least,
        lambda cost: share_explained(cost, whole),
        whole,
        target=target,
        slopes=(level.numerator, level.denominator - level.numerator),
        note=note,
    )


def deviances(data: Data, y: Any, kind: str) -> Leaves:
    """Return leaves that cost the Poisson or gamma deviance from their mean."""
    numbers = read_list(y, data.n_rows, "y")
    is_gamma = kind == "gamma"
    if any(numbers[row] < 0 or (is_gamma and not numbers[row]) for row in data.rows):
        raise ValueError(f"y has numbers for which the {kind} deviance is not defined.")
    logs = {row: math.log(numbers[row]) if numbers[row] else 0.0 for row in data.rows}

    def moments(rows: Sequence[int]) -> tuple[Fraction, Fraction]:
        total = sum((data.weights[row] * numbers[row] for row in rows), Fraction(0))
        return Fraction(data.weight(rows)), Fraction(total)

    def loss(rows: Sequence[int]) -> tuple[Fraction, Fraction]:
        """Return the deviance, and how far off it may be: here, and in a note of a tree."""
        weight, total = moments(rows)
        if len({numbers[row] for row in rows}) <= 1:
            return Fraction(0), Fraction(0)
        of_mean, losses, sizes = math.log(total / weight), [], []
        for row in rows:
            # The distance from the mean, as a share of it: exact, and rounded once.
            distance = float(numbers[row] * weight / total - 1)
            log = logs[row] - of_mean if numbers[row] else 0.0
            share, found = float(data.weights[row] / weight), _unit_loss(distance, log, is_gamma)
            losses.append(share * found)
            # With e = 2**-50, a mean of float64 is off by the share e, so that distances are off
            # by e * (1 + |d|), and logarithms by e * (1 + their size). Losses have slopes of at
            # most 1 + |log| far from the mean, and of 2 |d| near it.
            far = 1 + abs(logs[row]) + abs(of_mean) if abs(distance) >= _SMALL else 0.0
            sizes.append(share * (abs(distance) + (1 + abs(distance)) * far))
        events = weight if is_gamma else total
        noise = Fraction(math.fsum(sizes)) / 2**46 + Fraction(1, 2**96)
        return Fraction(2 * math.fsum(losses)) * events, 2 * noise * events

    def of(rows: Sequence[int], value: Any) -> Fraction:
        weight, total = moments(rows)
        mean = total / weight
        if not isinstance(value, float | int) or abs(read(value) - mean) > mean / 10**11:
            raise CertificateError(
                f"a leaf predicts {value!r}, but the mean of its rows is {float(mean)!r}."
            )
        return loss(rows)[0]

    def note(rows: Sequence[int], off: Fraction) -> Note:
        weight, (cost, noise) = data.weight(rows), loss(rows)
        return ["mean of ", RowsOf(), ", mean deviance ", mean(cost, weight, noise)]

    whole = loss(data.rows)[0]
    weights = {row: Fraction(data.weights[row]) for row in data.rows}
    # Of numbers that are all equal, only weights matter.
    are_equal = len({numbers[row] for row in data.rows}) == 1
    amounts = {row: w * (1 if are_equal else numbers[row]) for row, w in weights.items()}
    return Leaves(
        kind,
        of,
        lambda rows: loss(rows)[0],
        lambda cost: share_explained(cost, whole),
        whole,
        noise=lambda rows: loss(rows)[1],
        rates=Rates(weights, amounts, 2) if is_gamma else Rates(amounts, weights, 2),
        note=note,
    )


def _unit_loss(distance: float, log: float, is_gamma: bool) -> float:
    """Return half the deviance of a row, as a share of the mean where counts are compared.

    With d the distance from the mean, as a share of it, and ``log(1 + d)``, that is
    ``d - log(1 + d)`` for gamma and ``(1 + d) * log(1 + d) - d`` for Poisson.
    """
    if abs(distance) >= _SMALL:
        return distance - log if is_gamma else (1 + distance) * log - distance
    return math.fsum(
        (-distance) ** k / (k if is_gamma else k * (k - 1)) for k in range(2, _N_TERMS)
    )
