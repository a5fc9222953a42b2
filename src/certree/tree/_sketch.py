"""A small picture of what a leaf holds, such as a curve, for all drawings of a tree."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_STEPS = 80  # more cannot be seen in a picture of this size
_DIGITS = 3  # finer than a pixel; more would tell the times of single rows

Point = tuple[float, float]


class Sketch(NamedTuple):
    """A line and a band in a square of which both sides go from 0 to 1, y upwards.

    Attributes
    ----------
    line : list of (x, y)
        The curve.
    band : list of (x, y)
        The outline of the band around it.
    first, last : str
        What stands at the ends of the x axis.
    told : str
        What it shows, in words.
    """

    line: list[Point]
    band: list[Point]
    first: str
    last: str
    told: str

    def to_dict(self) -> dict[str, Any]:
        """Return the sketch as JSON values."""
        return {**self._asdict(), "line": [*self.line], "band": [*self.band]}


def round_end(most: float) -> float:
    """Return where an axis ends that goes up to a number: two digits, not that of a row."""
    unit = 10.0 ** (math.floor(math.log10(most)) - 1) if most > 0 else 0.0
    return float(f"{(math.floor(most / unit) + 1) * unit:.6g}") if unit > 0 else 1.0


def staircase(x: NDArray[np.float64], y: NDArray[np.float64], end: float) -> list[Point]:
    """Return the corners of a function that starts at 1 and keeps its value between steps.

    Of very many steps some are left out, never the last.
    """
    if len(x) > _MOST_STEPS:
        kept = np.unique(np.rint(np.linspace(0, len(x) - 1, _MOST_STEPS)).astype(np.intp))
        x, y = x[kept], y[kept]
    points, height = [(0.0, 1.0)], 1.0
    for at, value in zip(x.tolist(), y.tolist(), strict=True):
        points += [(at, height), (at, value)]
        height = value
    points.append((end, height))
    return [(round(a, _DIGITS), round(b, _DIGITS)) for a, b in points]
