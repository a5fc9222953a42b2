"""Curves: error against splits or tolerance, bounds against time, fronts, ROC curves; tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from certree import metrics
from certree.encoding._texts import as_array, equals

from ._charts import path_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._certificate import Certificate
    from ._fairness import FairnessCurve
    from ._pareto import ParetoFront
    from ._path import RegularizationPath
    from ._validation import ValidationCurve

_INK, _BLUE, _ORANGE, _FAINT = "#1f2328", "#1f77b4", "#d9730d", "#c5d9ea"
# Lines of trees from shallow to deep.
_SHADES = ("#7fb3dc", "#4a90c4", "#1f6fae", "#0f4c81", "#0a2f52")
_MARKERS = "DsP^Xv*<>h"


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


def data_frame(columns: Mapping[str, Any]) -> Any:
    """Return columns as a pandas data frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "A data frame needs pandas; install it with `pip install pandas`, or use to_dict(), "
            "which needs nothing."
        ) from error
    return pd.DataFrame(columns)


def plot_path(path: RegularizationPath, ax: Axes | None) -> Axes:
    """Draw the cost of leaves against splits; corners of the hull are filled and joined."""
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, "to_dict()")
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
    ax.set_ylabel(path_measure(path))
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False)
    return ax


def plot_history(certificate: Certificate, ax: Axes | None) -> Axes:
    """Draw cost of the incumbent and lower bound against time, from the first event to the end."""
    ax = new_axes(ax, "certificate.history")
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


def plot_front(front: ParetoFront, picks: Sequence[Any], ax: Axes | None) -> Axes:
    """Draw the points of a front; corners of the hull are filled and joined, picks are marked."""
    ax = new_axes(ax, "to_dict()")
    fp, fn = np.asarray(front.fp, dtype=float), np.asarray(front.fn, dtype=float)
    order = np.lexsort((fn, fp))
    least = np.minimum.accumulate(fn[order])
    ax.step(fp[order], least, where="post", color=_FAINT, linewidth=1.5, zorder=1)
    corners = front.is_supported
    places = order[corners[order]]
    ax.plot(
        fp[places],
        fn[places],
        color=_BLUE,
        linewidth=1.0,
        marker="o",
        markersize=4,
        label="best for some weights",
        zorder=3,
    )
    if not corners.all():
        ax.plot(
            fp[~corners],
            fn[~corners],
            linestyle="none",
            marker="o",
            markersize=4,
            markerfacecolor="white",
            color=_BLUE,
            label="nondominated" if front.is_optimal else "nondominated so far",
            zorder=2,
        )
    if not front.is_optimal:
        low = np.asarray(front.lower_points, dtype=float)
        low = low[np.lexsort((low[:, 1], low[:, 0]))]
        bound = np.minimum.accumulate(low[:, 1])
        ax.step(low[:, 0], bound, where="post", color=_INK, linestyle=":", label="proven bound")
    _mark_picks(front, picks, ax)
    label = repr(front.certificate.pos_label)
    ax.set_xlabel(f"false positives (positive: {label})")
    ax.set_ylabel("false negatives")
    ax.margins(0.04)
    ax.legend(frameon=False)
    return ax


def plot_fairness(curve: FairnessCurve, ax: Axes | None) -> Axes:
    """Draw the least error against the tolerance, as the steps that it is."""
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, "to_dict()")
    gaps, errors = curve.tolerances, curve.errors
    # A short line after the last tree shows that larger tolerances gain nothing.
    end = min(1.0, float(gaps[-1]) * 1.15 + 0.01) if len(gaps) else 1.0
    ax.step(
        [*gaps, end], [*errors, *errors[-1:]], where="post", color=_BLUE, linewidth=1.2, zorder=2
    )
    ax.plot(
        gaps,
        errors,
        linestyle="none",
        marker="o",
        markersize=4,
        color=_BLUE,
        label="best tree" if curve.is_optimal else "best tree so far",
        zorder=3,
    )
    if not curve.is_optimal and curve.lower_points:
        total = Fraction(curve.certificates[0].total_weight) if len(curve) else Fraction(1)
        low = np.array([[float(gap), float(cost / total)] for gap, cost in curve.lower_points])
        bound = np.minimum.accumulate(low[:, 1])
        ax.step(low[:, 0], bound, where="post", color=_INK, linestyle=":", label="proven bound")
        ax.legend(frameon=False)
    ax.set_xlabel("tolerance")
    ax.set_ylabel(f"training {curve.measure}")
    ax.set_xlim(left=0)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    return ax


def plot_validation(curve: ValidationCurve, ax: Axes | None) -> Axes:
    """Draw mean scores with bands of one standard error, a line for each depth."""
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, "to_dict()")
    across, where, lines = curve._lines()
    x = np.array(where)
    for number, (name, places) in enumerate(lines):
        color = _shade(number, len(lines))
        mean, error = curve.mean[places], np.nan_to_num(curve.standard_error[places])
        ax.fill_between(x[places], mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
        ax.plot(x[places], mean, color=color, marker="o", markersize=4, label=name)
    chosen = curve.chosen
    ax.plot(
        [x[chosen]],
        [curve.mean[chosen]],
        linestyle="none",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgewidth=1.8,
        color=_ORANGE,
        label="chosen",
        zorder=4,
    )
    if curve.rule == "one_se" and curve.n_folds > 1:
        least = curve.mean[curve.best] - curve.standard_error[curve.best]
        ax.axhline(least, color=_INK, linestyle=":", linewidth=1, label="best less one error")
    if across == "complexity":
        ax.set_xscale("symlog", linthresh=min(x[x > 0], default=1.0))
        ax.set_xlabel("complexity (smaller trees to the right)")
    else:
        ax.set_xlabel(across)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylabel(f"{curve.measure} on rows left out")
    ax.legend(frameon=False)
    return ax


def _shade(number: int, of: int) -> str:
    """Return the colour of one of several lines, from light to dark."""
    return _BLUE if of == 1 else _SHADES[round(number * (len(_SHADES) - 1) / (of - 1))]


def _mark_picks(front: ParetoFront, picks: Sequence[Any], ax: Axes) -> None:
    """Draw a marker around the best tree of each metric; metrics that agree share one."""
    names: dict[tuple[float, float], list[str]] = {}
    for pick in picks:
        metric = metrics.get(pick)
        tree = front.best(metric).tree_
        place = next(i for i, other in enumerate(front.trees) if other is tree)
        names.setdefault((float(front.fp[place]), float(front.fn[place])), []).append(metric.name)
    for number, ((x, y), called) in enumerate(names.items()):
        ax.plot(
            [x],
            [y],
            linestyle="none",
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=10,
            markerfacecolor="none",
            markeredgewidth=1.6,
            color=_ORANGE,
            label=f"best {', '.join(called)}",
            zorder=4,
        )


def plot_roc(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ROC curve of a fitted model on some rows, and mark the point of its predictions.

    Parameters
    ----------
    model : classifier
        Fitted, with `predict_proba` for two classes.
    X : table of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Their classes.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    pos_label : label, optional
        The positive class; by default that of the model, or the greater of the two.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure. Several models may share one.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Notes
    -----
    .. versionadded:: 0.1
    """
    from sklearn.metrics import roc_curve

    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise TypeError(
            f"plot_roc needs one fitted classifier with predict_proba, got {type(model).__name__}; "
            "of a front, give one of its models, such as front.best('f1'), or draw it with "
            "front.plot()."
        )
    classes = np.asarray(model.classes_).tolist()
    if len(classes) != 2:
        raise ValueError(f"A ROC curve needs two classes, but the model has {len(classes)}.")
    if pos_label is None:
        pos_label = getattr(model, "pos_label", None)
    if pos_label is None:
        pos_label = classes[1]
    if pos_label not in classes:
        raise ValueError(f"pos_label={pos_label!r} is not among the classes {classes}.")
    scores = model.predict_proba(X)[:, classes.index(pos_label)]
    truth, says = equals(as_array(y), pos_label), equals(model.predict(X), pos_label)
    fpr, tpr, _ = roc_curve(truth, scores, sample_weight=sample_weight)
    area = metrics.AUC().score(y, scores, pos_label=pos_label, sample_weight=sample_weight)
    is_new = ax is None
    ax = new_axes(ax, "sklearn.metrics.roc_curve")
    if is_new:
        ax.plot([0, 1], [0, 1], color=_FAINT, linewidth=1.0, zorder=1)
    (line,) = ax.plot(fpr, tpr, marker="o", markersize=3, label=f"AUC {area:.4f}", zorder=2)
    weights = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    x = np.sum(weights[says & ~truth]) / np.sum(weights[~truth])
    ax.plot(
        [x],
        [np.sum(weights[says & truth]) / np.sum(weights[truth])],
        linestyle="none",
        marker="s",
        markersize=9,
        markerfacecolor="none",
        markeredgewidth=1.6,
        color=line.get_color(),
        label="predictions",
        zorder=3,
    )
    ax.set_xlabel("false positive rate")
    ax.set_ylabel(f"true positive rate (positive: {pos_label!r})")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="lower right")
    return ax
