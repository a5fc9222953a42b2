"""Class labels as users pass them, and their codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from certree.exceptions import warn

from ._not_tables import refuse_lazy
from ._texts import as_array

_MANY_CLASSES = 50


def check_labels(y: Any, n_rows: int, estimator_name: str) -> NDArray[Any]:
    """Return labels, one per row, as an array without missing values.

    Raises
    ------
    ValueError
        If labels are missing, infinite, continuous, two-dimensional or not given.
    TypeError
        If labels of different kinds are mixed, so that they cannot be put in order.
    """
    if y is None:
        raise ValueError(
            f"{estimator_name} requires y to be passed, but the target y is None; "
            "give one class label per row."
        )
    refuse_lazy(y, "y")
    listed = as_array(y)
    is_plain = type(listed) is np.ndarray and listed.ndim == 1
    labels: NDArray[Any] = listed if is_plain else column_or_1d(listed, warn=True)
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        # NumPy makes a text of every number beside a text.
        _from_objects(_as_objects(y))
    if len(labels) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, but y has {len(labels)} labels; give one label per row."
        )
    if labels.dtype.kind == "f":
        _refuse_not_finite(labels)
    elif labels.dtype.kind == "O":
        labels = _from_objects(labels)
    if labels.dtype.kind == "f":
        check_classification_targets(labels)
    if labels.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y has dtype {labels.dtype}.")
    if labels.dtype.kind not in "iubfUTO":
        raise TypeError(
            f"Unknown label type: y has dtype {labels.dtype}; class labels must be texts, booleans "
            "or numbers."
        )
    if labels.dtype.kind in "iuf" and len(labels) >= 4 * _MANY_CLASSES:
        _warn_of_many(labels)
    return labels


def _warn_of_many(labels: NDArray[Any]) -> None:
    """Warn if the labels look like measured numbers and not like classes."""
    n_classes = len(np.unique(labels))
    if n_classes > max(_MANY_CLASSES, len(labels) // 4):
        warn(
            f"y has {n_classes} different numbers in {len(labels)} rows, and each is a class of "
            "its own; to predict numbers use OptimalTreeRegressor.",
            UserWarning,
        )


def _refuse_not_finite(labels: NDArray[Any]) -> None:
    if np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        raise ValueError(
            f"Input y contains NaN (first in row {row}); drop the rows without a label, "
            "or give them a class of their own."
        )
    if not np.isfinite(labels).all():
        raise ValueError(
            f"Input y contains infinity or a value too large for dtype('{labels.dtype}'); "
            "class labels must be finite."
        )


def _as_objects(y: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return the labels of a list, or of a list with lists of one, as they are."""
    labels = np.empty(len(y), dtype=object)
    labels[:] = [one[0] if isinstance(one, list | tuple) else one for one in y]
    return labels


def _from_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Turn an object array into one of texts, booleans or numbers."""
    for row, label in enumerate(labels):
        if _is_missing(label):
            raise ValueError(
                f"Input y contains NaN or None (first in row {row}); drop the rows without a "
                "label, or give them a class of their own."
            )
    if all(isinstance(label, str) for label in labels):
        return labels
    kinds = {type(label) for label in labels}
    plain = np.asarray(labels.tolist()) if len(kinds) == 1 else np.empty(0, dtype=object)
    if plain.ndim == 1 and plain.dtype.kind in "iubf" and len(plain):
        if plain.dtype.kind == "f":
            _refuse_not_finite(plain)
        return plain
    names = sorted(kind.__name__ for kind in kinds)
    raise TypeError(
        f"Unknown label type: y holds objects of type {', '.join(names)}; class labels must be all "
        "texts, all booleans or all numbers of one type."
    )


def _is_missing(label: object) -> bool:
    # pandas' NA compares to neither true nor false, and pandas need not be installed.
    return (
        label is None
        or (isinstance(label, (float, np.floating)) and bool(label != label))
        or type(label).__name__ in ("NAType", "NaTType")
    )


def encode_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted classes and each row's class as a number."""
    if labels.dtype.kind in "iub" and len(labels):
        # Small integers, the usual case, need no sort.
        low, high = int(labels.min()), int(labels.max())
        if low >= 0 and high < 2 * len(labels) + 2:
            numbers = labels.astype(np.intp, copy=False)
            present = np.bincount(numbers) > 0
            codes = (np.cumsum(present) - 1).astype(np.int32)
            return np.flatnonzero(present).astype(labels.dtype), codes[numbers]
    classes, positions = np.unique(labels, return_inverse=True)
    return classes, positions.astype(np.int32)
