"""An array whose columns have names, for data sets where pandas is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NamedArray"]


class NamedArray(np.ndarray[Any, np.dtype[Any]]):
    """A 2-D array with the attribute `columns`: the names of its columns, or None.

    Selections of rows, and of columns by position, keep the names. All other operations return an
    array without names, so that a name is never on a wrong column.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        The values.
    columns : sequence of str
        The names.

    Examples
    --------
    >>> people = NamedArray([[35, 1.8], [50, 1.7]], ["age", "height"])
    >>> people[:1].columns
    ('age', 'height')
    >>> people[:, [1]].columns
    ('height',)
    >>> print(people.T.columns)
    None
    """

    columns: tuple[str, ...] | None

    def __new__(cls, values: Any, columns: Sequence[str]) -> NamedArray:
        """Return a view of the values with names."""
        array = np.asarray(values).view(cls)
        if array.ndim != 2 or array.shape[1] != len(columns):
            raise ValueError(
                f"columns has {len(columns)} names for an array of shape {array.shape}."
            )
        array.columns = tuple(map(str, columns))
        return array

    def __array_finalize__(self, obj: NDArray[Any] | None) -> None:
        self.columns = None

    def __getitem__(self, key: Any) -> Any:
        """Return values; a table of some rows or columns with the names that belong to it."""
        found = super().__getitem__(key)
        if isinstance(found, NamedArray) and found.ndim == 2 and self.columns is not None:
            of_rows, *others = key if isinstance(key, tuple) else (key,)
            chosen = slice(None) if not others or others == [Ellipsis] else others[0]
            names = np.array(self.columns, dtype=object)[chosen]
            if len(others) < 2 and of_rows is not None and np.shape(names) == found.shape[1:]:
                found.columns = tuple(names)
        return found

    def __reduce__(self) -> Any:
        """Return what a pickle needs: the plain values and the names."""
        if self.columns is None:
            return np.asarray(self).__reduce__()
        return NamedArray, (np.asarray(self), self.columns)
