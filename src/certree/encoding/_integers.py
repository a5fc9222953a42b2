"""Integers beyond 2**53, of which float64 holds only some.

Columns of numbers are float64. Two different integers that are the same float64 would silently
count as equal, so training refuses them. Large integers that stay different are fine: time stamps
in nanoseconds, for instance.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._frames import as_frame
from ._table import Table

__all__ = ["EXACT_INTEGERS", "check_integers"]

EXACT_INTEGERS = 2**53
"""Up to here float64 holds all integers."""


def check_integers(X: Any, table: Table) -> None:
    """Refuse different integers that are the same float64.

    Parameters
    ----------
    X : table
        The raw table.
    table : Table
        The same table, read.

    Raises
    ------
    ValueError
        If a column holds two such integers.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return
    if table.matrix is not None and not _is_beyond(table.matrix):
        return
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        if not _is_beyond(X.data):
            return
    for i in range(table.n_columns):
        if not _is_beyond(table.column(i)):
            continue
        confused = _find_confused(_raw_column(X, i))
        if confused is not None:
            label = f"column {table.names[i]!r}" if table.has_names else f"column {i}"
            raise ValueError(
                f"X contains integers beyond 2**53 that float64 cannot tell apart: {confused[0]} "
                f"and {confused[1]} in {label}. Subtract a constant from the column, or give its "
                "values as strings if they are names."
            )


def _is_beyond(numbers: NDArray[Any]) -> bool:
    """Return whether there are numbers beyond 2**53, or integers that were rounded to it."""
    if numbers.dtype.kind not in "iuf" or numbers.dtype.itemsize < 8:
        return False
    # Missing values are NaN, which these two skip.
    most, least = np.fmax.reduce(numbers, axis=None), np.fmin.reduce(numbers, axis=None)
    return bool(most >= EXACT_INTEGERS or least <= -EXACT_INTEGERS)


def _raw_column(X: Any, index: int) -> NDArray[Any]:
    """Return a column of a table as it came."""
    if sparse.issparse(X):
        return np.asarray(X[:, [index]].toarray().ravel())
    frame = as_frame(X)
    if frame is not None:
        return np.asarray(frame[:, index].drop_nulls().to_numpy())
    if isinstance(X, np.ma.MaskedArray):
        return np.asarray(X[:, index].compressed())
    return np.asarray(X if hasattr(X, "__array__") else np.array(X, dtype=object))[:, index]


def _find_confused(values: NDArray[Any]) -> tuple[int, int] | None:
    """Return the first two different integers that are the same float64, None if there are none."""
    if values.dtype.kind == "O":
        integers = {int(v) for v in values if isinstance(v, Integral)}
        ordered = np.array(sorted(integers), dtype=object)
    elif values.dtype.kind in "iu":
        ordered = np.unique(values)
    else:
        return None
    rounded = ordered.astype(np.float64)
    same = np.flatnonzero(rounded[1:] == rounded[:-1])
    return (int(ordered[same[0]]), int(ordered[same[0] + 1])) if len(same) else None
