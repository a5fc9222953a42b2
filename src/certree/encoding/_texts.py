"""Texts in arrays: two texts are equal if they have the same characters, as in Python.

NumPy's arrays of texts of fixed width drop NUL characters at the end, and ``array == text`` makes
such an array of the text. Where texts of users become arrays or are compared with one, these
functions keep "a" and "a\\x00" apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._frames import column_array

__all__ = ["as_array", "equals"]


def as_array(values: Any) -> NDArray[Any]:
    """Return values as an array: of objects if an array of texts would drop characters.

    Examples
    --------
    >>> as_array(["a", "b"])
    array(['a', 'b'], dtype='<U1')
    >>> as_array(["a", "a\\x00"])
    array(['a', 'a\\x00'], dtype=object)
    """
    if isinstance(values, np.ndarray):
        return values
    column = column_array(values)
    if column is not None:
        return column
    array = np.asarray(values)
    if array.dtype.kind != "U" or hasattr(values, "dtype"):
        return array
    objects = np.asarray(values, dtype=object)
    return objects if any(str(value).endswith("\0") for value in objects.flat) else array


def equals(array: NDArray[Any], value: Any) -> NDArray[np.bool_]:
    """Return where an array holds a value.

    Examples
    --------
    >>> equals(as_array(["a", "a\\x00"]), "a\\x00")
    array([False,  True])
    """
    if isinstance(value, str):
        text = np.empty((), dtype=object)
        text[()] = value
        value = text
    return np.asarray(array == value, dtype=np.bool_)
