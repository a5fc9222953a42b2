"""The model of a Lagrangian dual: which multipliers the trees met so far make look best.

Floating point is good enough here, as it only chooses what to solve; what is proven is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = tuple[int, ...]
"""Values of all planes for a tree."""

# Multipliers are whole multiples of about this share of the largest.
_GRAIN = 2**20

# Pivots of one small linear programme; a library solves what takes more.
_MOST_PIVOTS = 300


class Step(NamedTuple):
    """Multipliers to try, and what the model says that they prove (None: anything)."""

    multipliers: tuple[Fraction, ...]
    value: Fraction | None


def best_on_line(points: Sequence[tuple[int, int]]) -> tuple[Fraction, Fraction] | None:
    """Return the multiplier for one limit that is best in the model, and its value.

    Parameters
    ----------
    points : sequence of (int, int)
        Objective, and value less bound of the limit, of the trees met.

    Returns
    -------
    (Fraction, Fraction) or None
        The multiplier m that maximises the least ``objective + m * excess``; None if that has no
        maximum, as all trees are beyond the limit.
    """
    # Of lines over m: the lowest at m = 0, and from there along the lower envelope.
    height, slope = min(points)
    at = Fraction(0)
    while slope > 0:
        crossings = [(Fraction(o - height, slope - e), e, o) for o, e in points if e < slope]
        if not crossings:
            return None
        at, slope, height = min(crossings)
    return at, height + at * slope


def best_in_model(points: Sequence[Values], bounds: Sequence[int]) -> Step:
    """Return the multipliers that are best in the model of several limits.

    Parameters
    ----------
    points : sequence of tuples of int
        Values of the planes for the trees met.
    bounds : sequence of int
        Of the limits.
    """
    excess = np.array(
        [[v - b for v, b in zip(p[1:], bounds, strict=True)] for p in points], dtype=np.float64
    )
    size = np.maximum(np.abs(excess).max(axis=0), 1.0)
    excess = excess / size
    lowest = min(p[0] for p in points)
    height = np.array([p[0] - lowest for p in points], dtype=np.float64)
    scale = max(float(height.max()), 1.0)
    found = _simplex(height / scale, excess)
    if found is None:
        ray, found = _by_library(height / scale, excess)
        if ray is not None:
            return Step((Fraction(0), *_fractions(ray / size)), None)
    if found is None:
        return Step((Fraction(1), *[Fraction(0)] * len(size)), None)
    multipliers = (Fraction(1), *_fractions(found * scale / size))
    return Step(multipliers, model_value(multipliers, points, bounds))


def _simplex(
    height: NDArray[np.float64], excess: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the multipliers m >= 0 that maximise the least ``height + excess @ m``.

    Solves the dual: the mixture of trees within all limits whose height is least. It starts from
    the best tree that is within them by itself; None if there is none, or it takes too long.
    """
    inside = np.flatnonzero((excess <= 0).all(axis=1))
    if not len(inside):
        return None
    first = int(inside[height[inside].argmin()])
    n_points, n_limits = excess.shape
    # Columns: shares of trees, slacks of limits, right-hand side; the last row is the objective.
    rows = np.zeros((n_limits + 2, n_points + n_limits + 1))
    rows[:n_limits, :n_points] = (excess - excess[first]).T
    rows[:n_limits, n_points:-1] = np.eye(n_limits)
    rows[:n_limits, -1] = -excess[first]
    rows[n_limits, :n_points] = rows[n_limits, -1] = 1.0
    rows[-1, :n_points] = height - height[first]
    rows[-1, -1] = -height[first]
    for pivot in range(_MOST_PIVOTS):
        costs = rows[-1, :-1]
        entering = int(costs.argmin()) if pivot < 50 else int((costs < -1e-10).argmax())
        if costs[entering] >= -1e-10:
            return np.maximum(rows[-1, n_points:-1], 0.0)
        column = rows[:-1, entering]
        ratios = np.full(len(column), np.inf)
        np.divide(rows[:-1, -1], column, out=ratios, where=column > 1e-10)
        leaving = int(ratios.argmin())
        if not np.isfinite(ratios[leaving]):
            return None
        rows[leaving] /= rows[leaving, entering]
        others = rows[:, entering].copy()
        others[leaving] = 0.0
        rows -= others[:, None] * rows[leaving]
    return None


def _by_library(
    height: NDArray[np.float64], excess: NDArray[np.float64]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return multipliers for which all trees are beyond the limits, or else the best ones."""
    from scipy.optimize import linprog

    n_points, n_limits = excess.shape
    above = np.hstack([-excess, np.ones((n_points, 1))])
    cost = np.append(np.zeros(n_limits), -1.0)
    sides: list[tuple[float | None, float | None]] = [*[(0.0, None)] * n_limits, (None, None)]
    # First whether some mixture of the trees met is within all limits.
    simplex = np.append(np.ones(n_limits), 0.0)[None]
    ray = linprog(cost, above, np.zeros(n_points), simplex, [1.0], sides)
    if ray.status == 0 and -ray.fun > 1e-9:
        return ray.x[:-1], None
    best = linprog(cost, above, height, bounds=sides)
    return None, best.x[:-1] if best.status == 0 else None


def _fractions(floats: NDArray[np.float64]) -> list[Fraction]:
    """Return fractions near floats; what is close to zero is zero."""
    largest = float(floats.max())
    if largest <= 0:
        return [Fraction(0)] * len(floats)
    unit = Fraction(largest).limit_denominator(10**12) / _GRAIN
    return [max(round(float(x) / largest * _GRAIN), 0) * unit for x in floats]


def model_value(
    multipliers: Sequence[Fraction], points: Sequence[Values], bounds: Sequence[int]
) -> Fraction:
    """Return the least value of multiplied planes less bounds among trees met."""
    rest = sum((m * b for m, b in zip(multipliers[1:], bounds, strict=True)), Fraction(0))
    least = min(sum(m * v for m, v in zip(multipliers, p, strict=True)) for p in points)
    return Fraction(least) - rest
