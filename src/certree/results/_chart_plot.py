"""Draw charts with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._chart import INK, Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Rings get shapes of their own, so that several can be told apart.
_RINGS = "oDsP^Xv*<>h"
_SIZE, _RING_SIZE = 4.5, 11.0


def new_axes(ax: Axes | None, instead: str) -> Axes:
    """Return the axes given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib; install it with `pip install certree[plot]`, or use "
            f"{instead}, which needs nothing."
        ) from error
    return plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1] if ax is None else ax


def draw(chart: Chart, ax: Axes | None, instead: str = "to_dict()") -> Axes:
    """Draw a chart into axes, by default those of a new figure, and return them.

    `instead` tells a user without matplotlib what to use.
    """
    axes = new_axes(ax, instead)
    from matplotlib.ticker import MaxNLocator

    n_rings = 0
    for order, one in enumerate(chart.finite(), start=2):
        ring = _RINGS[n_rings % len(_RINGS)]
        n_rings += one.dots == "ring"
        _draw_series(one, axes, order, ring, chart.shade_label)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if chart.from_zero and axes.get_ylim()[0] > 0:
        axes.set_ylim(bottom=0)
    if chart.x_spread:
        axes.set_xscale("symlog", linthresh=chart.x_spread)
    elif chart.has_whole_x:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if any(one.label for one in chart.series):
        axes.legend(frameon=False)
    return axes


def _draw_series(one: Series, axes: Axes, order: int, ring: str, shade_label: str) -> None:
    xs, ys = [x for x, _ in one.points], [y for _, y in one.points]
    colour = axes.xaxis.label.get_color() if one.colour == INK else one.colour
    if one.errors:
        low = [y - error for y, error in zip(ys, one.errors, strict=True)]
        high = [y + error for y, error in zip(ys, one.errors, strict=True)]
        axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    if one.shades:
        shown = axes.scatter(xs, ys, c=one.shades, zorder=order)
        axes.figure.colorbar(shown, ax=axes, label=shade_label)
        return
    style: dict[str, Any] = {"color": colour, "linewidth": 1.3, "zorder": order}
    style["linestyle"] = "none" if not one.line else ":" if one.is_dotted else "-"
    if one.line == "step":
        style["drawstyle"] = "steps-post"
    if one.dots:
        style |= {"marker": "o", "markersize": _SIZE}
    if one.dots == "empty":
        style["markerfacecolor"] = "white"
    elif one.dots == "ring":
        style |= {"marker": ring, "markersize": _RING_SIZE, "markeredgewidth": 1.6}
        style["markerfacecolor"] = "none"
    axes.plot(xs, ys, label=one.label or "_nolegend_", **style)
