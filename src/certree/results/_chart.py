"""What a chart shows: its axes, and series of points. `_chart_svg` and `_chart_plot` draw it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

BLUE, ORANGE, INK = "#2f81d6", "#d9730d", "currentColor"
"""Colours of CSS; INK is the colour of the text around the chart."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """Points of a chart, and how they are drawn.

    Attributes
    ----------
    label : str
        What the legend says; empty: the series is not in the legend.
    points : sequence of (x, y)
        From left to right.
    colour : str
        A colour of CSS.
    line : {"", "straight", "step"}
        How neighbours are joined; "step": along x first.
    dots : {"", "full", "empty", "ring"}
        How points are marked; a ring is drawn around the mark of another series.
    is_dotted : bool
        Whether the line is dotted, as that of a bound is.
    errors : sequence of float
        How far the band around each point reaches; empty: no band.
    shades : sequence of float
        Numbers that the colours of the points show; empty: all points have one colour.
    """

    label: str
    points: Sequence[Point]
    colour: str = BLUE
    line: str = ""
    dots: str = "full"
    is_dotted: bool = False
    errors: Sequence[float] = ()
    shades: Sequence[float] = ()


@dataclass(frozen=True)
class Chart:
    """A chart, for a page or for matplotlib.

    Attributes
    ----------
    series : sequence of Series
        What is drawn, the last on top.
    x_label, y_label : str
        The names of the axes.
    title : str
        What the chart shows, for readers who cannot see it.
    from_zero : bool
        Whether the upright axis begins at zero.
    has_whole_x : bool
        Whether numbers along x are whole.
    x_spread : float
        Matplotlib draws x beyond this by its logarithm, so that small numbers stay apart; 0: no
        number is.
    shade_label : str
        What the shades of points are.
    """

    series: Sequence[Series]
    x_label: str
    y_label: str
    title: str
    from_zero: bool = True
    has_whole_x: bool = False
    x_spread: float = 0.0
    shade_label: str = ""

    def finite(self) -> list[Series]:
        """Return the series that have finite points, with these only."""
        return [one for one in map(_finite, self.series) if one.points]


def _finite(one: Series) -> Series:
    kept = [k for k, point in enumerate(one.points) if all(map(math.isfinite, point))]
    errors = [one.errors[k] if math.isfinite(one.errors[k]) else 0.0 for k in kept if one.errors]
    shades = [one.shades[k] for k in kept if one.shades]
    return replace(one, points=[one.points[k] for k in kept], errors=errors, shades=shades)
