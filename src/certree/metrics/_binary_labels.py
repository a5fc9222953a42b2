"""From labels and predictions to false positives and negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from certree.encoding._texts import as_array, equals


def confusion(
    name: str, y_true: Any, y_pred: Any, pos_label: Any = None, sample_weight: Any = None
) -> tuple[Any, ...]:
    """Return the weights of false positives, false negatives, positives and negatives.

    Parameters
    ----------
    name : str
        What it is for, in error messages.
    y_true, y_pred : array-like of shape (n_rows,)
        Labels and predictions.
    pos_label : label, optional
        The positive class; by default the greater of the two.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    """
    truth, predicted = as_array(y_true), as_array(y_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape:
        raise ValueError(
            f"{name}: y_true and y_pred must be of one dimension and equally long, got shapes "
            f"{truth.shape} and {predicted.shape}."
        )
    if not len(truth):
        raise ValueError(f"{name}: there are no rows.")
    positive = positive_class(name, np.union1d(truth, predicted), pos_label)
    is_positive, says_positive = equals(truth, positive), equals(predicted, positive)
    masks = (~is_positive & says_positive, is_positive & ~says_positive, is_positive, ~is_positive)
    if sample_weight is None:
        return tuple(int(np.count_nonzero(mask)) for mask in masks)
    weights = np.asarray(sample_weight)
    if weights.shape != truth.shape:
        raise ValueError(
            f"{name}: sample_weight must have one entry per row, got shape {weights.shape} for "
            f"{len(truth)} rows."
        )
    return tuple(weights[mask].sum().item() for mask in masks)


def positive_class(name: str, classes: Any, pos_label: Any = None) -> Any:
    """Return the positive one of at most two classes, or raise.

    Parameters
    ----------
    name : str
        What it is for, in error messages.
    classes : array
        The classes, in order.
    pos_label : label, optional
        The positive class; by default the greater of the two, and 1 or True where there is only
        one class.
    """
    labels = as_array(classes).tolist()
    if len(labels) > 2:
        raise ValueError(
            f"{name} is a metric of two classes, got {len(labels)}: {labels[:10]}. Merge classes, "
            "or use accuracy or balanced accuracy."
        )
    if pos_label is not None:
        if pos_label not in labels and len(labels) == 2:
            raise ValueError(
                f"{name}: pos_label={pos_label!r} is not among the classes {labels}; name one of "
                "them."
            )
        return pos_label
    if len(labels) == 2:
        return labels[1]
    if labels[0] in (0, 1, -1):
        return 1
    raise ValueError(
        f"{name}: there is only the class {labels[0]!r}, so the positive class is unknown; "
        "give pos_label."
    )
