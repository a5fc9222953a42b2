"""Curves about a search: training error against splits, and bounds against time."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .certificate import Certificate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .path import RegularizationPath

_INK, _BLUE, _ORANGE, _FAINT = "#1f2328", "#1f77b4", "#d9730d", "#c5d9ea"


def _axes(ax: Axes | None, instead: str) -> Axes:
    """Return the axes given, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib; install it with `pip install certree[plot]`, or use "
            f"{instead}, which needs nothing."
        ) from error
    return plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1] if ax is None else ax


def plot_path(path: RegularizationPath, ax: Axes | None) -> Axes:
    """Draw training error against splits; corners of the hull are filled and joined."""
    from matplotlib.ticker import MaxNLocator

    ax = _axes(ax, "to_dict()")
    splits = [entry.splits for entry in path]
    shares = [float(entry.errors / Fraction(path.total_weight)) for entry in path]
    bounds = [float(entry.lower_bound / Fraction(path.total_weight)) for entry in path]
    ax.step(splits, shares, where="post", color=_FAINT, linewidth=1.5, zorder=1)
    corners = path.hull()
    ax.plot(
        [entry.splits for entry in corners],
        [float(entry.errors / Fraction(path.total_weight)) for entry in corners],
        color=_ORANGE,
        linewidth=1.2,
        marker="o",
        label="best for some complexity",
        zorder=3,
    )
    ax.plot(
        splits,
        shares,
        linestyle="none",
        marker="o",
        markerfacecolor="white",
        color=_BLUE,
        label="best for its number of splits",
        zorder=2,
    )
    if not path.is_optimal:
        ax.plot(splits, bounds, color=_INK, linestyle=":", label="proven lower bound")
    ax.set_xlabel("splits")
    ax.set_ylabel("training error")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def plot_history(certificate: Certificate, ax: Axes | None) -> Axes:
    """Draw cost of the incumbent and lower bound against time, from the first event to the end."""
    ax = _axes(ax, "certificate.history")
    seconds = [event[0] for event in certificate.history]
    uppers = [float(event[2]) for event in certificate.history]
    lowers = [float(event[3]) for event in certificate.history]
    seconds.append(max([certificate.seconds, *seconds]))
    uppers.append(float(certificate.upper_bound))
    lowers.append(float(certificate.lower_bound))
    ax.fill_between(seconds, lowers, uppers, step="post", color=_FAINT, alpha=0.5, linewidth=0)
    ax.step(seconds, uppers, where="post", color=_BLUE, label="best tree so far")
    ax.step(seconds, lowers, where="post", color=_ORANGE, label="proven lower bound")
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax
