"""An array whose columns have names, for data sets where pandas is not installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._frames import column_arrays, column_labels
from ._not_tables import refuse_lazy
from ._texts import as_array

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


def read_outputs(y: Any, n_rows: int) -> NDArray[Any] | None:
    """Return several targets per row as an array; None if `y` has one target per row.

    The array has the names of the columns of a data frame, as a :class:`NamedArray`. Columns of
    different kinds, such as texts and numbers, make it an array of objects.

    Raises
    ------
    ValueError
        If `y` has more than two axes, no columns, another number of rows than `n_rows`, or rows of
        different lengths.
    """
    refuse_lazy(y, "y")
    names = None
    columns = column_arrays(y)
    if columns is not None:
        names, values = column_labels(y), side_by_side(columns)
    elif isinstance(y, np.ndarray):
        names, values = getattr(y, "columns", None), np.asarray(y)
    elif isinstance(y, list | tuple) and len(y) and isinstance(y[0], list | tuple | np.ndarray):
        if len({np.size(line) for line in y}) > 1:
            raise ValueError("y has rows of different lengths; give as many targets for each row.")
        lines = [list(line) for line in y]
        values = side_by_side([as_array(column) for column in zip(*lines, strict=True)])
    else:
        return None
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return None
    if values.ndim > 2 or values.size == 0:
        raise ValueError(
            f"y must have one column, or one for each output, got shape {values.shape}."
        )
    if len(values) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(values)}; give one per row.")
    return values if names is None else NamedArray(values, list(map(str, names)))


def count_outputs(y: Any, n_rows: int) -> int:
    """Return how many targets `y` has per row; raise ValueError as `read_outputs` does."""
    several = read_outputs(y, n_rows)
    return 1 if several is None else int(several.shape[1])


def side_by_side(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return columns as one array, of objects unless all are of one kind."""
    if not columns:
        return np.empty((0, 0))
    kinds = {"numbers" if column.dtype.kind in "iuf" else column.dtype.kind for column in columns}
    if len(kinds) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)
