"""Small charts as inline SVG, for notebooks: no script, no library, colours of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ._chart import Chart, Series

_WIDTH, _HEIGHT = 440.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 14.0, 12.0, 44.0
_CHARACTER = 7.0  # pixels, generous for letters of 11 px
_NAME = 18.0  # the name of the upright axis, and what is left free beside it


def svg(chart: Chart) -> str:
    """Return a chart; nothing if it would have no finite point."""
    kept = chart.finite()
    if not kept:
        return ""
    xs = [x for one in kept for x, _ in one.points]
    ys = [y + side * error for one in kept for _, y, error in _banded(one) for side in (-1, 1)]
    x_ticks, y_ticks = _ticks(min(xs), max(xs)), _ticks(min(ys), max(ys))
    if chart.from_zero:
        y_ticks = _ticks(min(0.0, *ys), max(ys))
    # Labels end 7 pixels before the axis.
    longest = max(len(_label(tick)) for tick in y_ticks)
    left = max(_LEFT, _NAME + _CHARACTER * longest + 7)
    to_x = _scale(x_ticks, left, _WIDTH - _RIGHT)
    to_y = _scale(y_ticks, _HEIGHT - _BOTTOM, _TOP)
    parts = [_axis(x_ticks, y_ticks, to_x, to_y, chart.x_label, chart.y_label)]
    parts += [_draw(one, to_x, to_y) for one in kept]
    legend = "".join(
        f'<span class="key"><svg width="22" height="14" aria-hidden="true">{_sample(one)}</svg> '
        f"{escape(one.label)}</span>"
        for one in kept
        if one.label
    )
    if chart.shade_label:
        legend += f'<span class="key">darker: more {escape(chart.shade_label)}</span>'
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" '
        f'width="{_WIDTH:.0f}" aria-label="{escape(chart.title)}">'
        f"{''.join(parts)}</svg><div>{legend}</div>"
    )


def _banded(one: Series) -> list[tuple[float, float, float]]:
    """Return the points with the reach of their bands."""
    errors = one.errors or [0.0] * len(one.points)
    return [(x, y, error) for (x, y), error in zip(one.points, errors, strict=True)]


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers, a few, that enclose an interval."""
    if high <= low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / 4
    size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    step = next((k * size for k in (1, 2, 5, 10) if k * size >= rough), size)
    first = math.floor(low / step) if step > 0 else 0
    last = math.ceil(high / step - 1e-9)
    return [k * step for k in range(int(first), int(last) + 1)]


def _label(tick: float) -> str:
    return f"{tick:.6g}"


class _scale:
    """Maps numbers to pixels."""

    def __init__(self, ticks: Sequence[float], start: float, stop: float) -> None:
        self.low, self.high = ticks[0], ticks[-1]
        self.start, self.stop = start, stop

    def __call__(self, number: float) -> float:
        share = (number - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)


def _axis(
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    to_x: _scale,
    to_y: _scale,
    x_label: str,
    y_label: str,
) -> str:
    bottom, left, right = _HEIGHT - _BOTTOM, to_x.start, to_x.stop
    parts = []
    for tick in y_ticks:
        y = to_y(tick)
        parts.append(f'<path class="grid" d="M{left:.0f} {y:.1f}H{right:.0f}"/>')
        parts.append(f'<text x="{left - 7:.0f}" y="{y + 4:.1f}" class="end">{_label(tick)}</text>')
    for tick in x_ticks:
        x = to_x(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {bottom:.0f}v4"/>')
        # The last label may be wider than the margin beside the chart.
        middle = min(x, _WIDTH - _CHARACTER * len(_label(tick)) / 2)
        parts.append(f'<text x="{middle:.1f}" y="{bottom + 17:.0f}">{_label(tick)}</text>')
    middle = (_TOP + bottom) / 2
    parts.append(
        f'<text x="{(left + right) / 2:.0f}" y="{_HEIGHT - 8:.0f}">{escape(x_label)}</text>'
        f'<text transform="translate(13 {middle:.0f}) rotate(-90)">{escape(y_label)}</text>'
    )
    return "".join(parts)


def _draw(one: Series, to_x: _scale, to_y: _scale) -> str:
    places = [(to_x(x), to_y(y)) for x, y in one.points]
    parts = []
    if one.errors:
        upper = [f"{to_x(x):.1f} {to_y(y + error):.1f}" for x, y, error in _banded(one)]
        lower = [f"{to_x(x):.1f} {to_y(y - error):.1f}" for x, y, error in _banded(one)]
        around = "L".join([*upper, *lower[::-1]])
        parts.append(f'<path fill="{one.colour}" fill-opacity="0.15" d="M{around}Z"/>')
    if one.line:
        path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(
            f"H{x:.1f}V{y:.1f}" if one.line == "step" else f"L{x:.1f} {y:.1f}"
            for x, y in places[1:]
        )
        parts.append(f'<path fill="none" {_stroke(one)} d="{path}"/>')
    if one.dots:
        dots = zip(places, _opacities(one), strict=True)
        parts += [_dot(one, x, y, opacity) for (x, y), opacity in dots]
    return "".join(parts)


def _stroke(one: Series) -> str:
    dashes = ' stroke-dasharray="2 3"' if one.is_dotted else ""
    return f'stroke="{one.colour}" stroke-width="1.5"{dashes}'


def _opacities(one: Series) -> list[float]:
    """Return how dark each point is: the more, the greater its shade."""
    if not one.shades:
        return [1.0] * len(one.points)
    low, high = min(one.shades), max(one.shades)
    return [0.2 + 0.8 * (shade - low) / ((high - low) or 1.0) for shade in one.shades]


def _dot(one: Series, x: float, y: float, opacity: float = 1.0) -> str:
    inside = one.colour if one.dots == "full" else "none"
    radius = "6" if one.dots == "ring" else "3"
    faint = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{inside}"{faint} '
        f'stroke="{one.colour}"/>'
    )


def _sample(one: Series) -> str:
    """Return the line and the dot of a series for the legend."""
    line = f'<path {_stroke(one)} d="M0 7H22"/>' if one.line else ""
    return line + (_dot(one, 11, 7) if one.dots else "")
