"""The ROC curve of a fitted model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from certree import metrics
from certree.encoding._texts import as_array, equals

from ._chart_plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAINT = "#c5d9ea"


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
