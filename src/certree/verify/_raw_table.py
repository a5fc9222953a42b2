"""The raw table as this package reads it: columns of plain values, and the kind of each.

A column holds numbers, truth values, times, or categories; categories may have an order. A number
is the float64 that stands for it, a time or duration is a whole number of nanoseconds, a category
is text or a number, and None is a missing value.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from ._plain_times import nanoseconds, nanoseconds_of_array
from ._raw_frames import as_frame

Kind = Literal["number", "flag", "category", "ordered", "time"]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    values : list
        Plain values, None where one is missing.
    kind : str
        "number", "flag" (truth values), "category", "ordered" (categories with an order), or
        "time" (dates and durations).
    levels : tuple
        The categories in their order, if they have one.
    """

    values: Sequence[Any]
    kind: Kind
    levels: tuple[Any, ...] = ()


@dataclass(frozen=True)
class RawTable:
    """All columns, their names if there are any, and whether it came as one array of numbers."""

    columns: Sequence[Column]
    names: Sequence[str] | None
    is_matrix: bool

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0].values)

    def name(self, column: int) -> str:
        """Return the name of a column in trees."""
        return f"x{column}" if self.names is None else self.names[column]


def read_table(X: Any) -> RawTable:
    """Read a table of any kind.

    Raises
    ------
    ValueError
        If it is not a table.
    """
    is_dict = isinstance(X, Mapping) and not issparse(X)  # one format of SciPy is a dict as well
    if is_dict or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        raise ValueError("X must be a table, got dicts; pass pandas.DataFrame(X).")
    frame = as_frame(X)
    if frame is not None:
        return _from_frame(*frame)
    if issparse(X):
        return _from_sparse(X.tocsc())
    # An array may know the names of its columns.
    names = getattr(X, "columns", None) if isinstance(X, np.ndarray) else None
    return _from_array(X, None if names is None else [str(name) for name in names])


def _from_sparse(X: Any) -> RawTable:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError("A sparse X must be a table of numbers or truth values.")
    kind: Kind = "flag" if X.dtype.kind == "b" else "number"
    columns = [Column(_numbers(X[:, [i]].toarray()[:, 0]), kind) for i in range(X.shape[1])]
    return _checked(RawTable(columns, None, True))


def _checked(table: RawTable) -> RawTable:
    if not table.columns or table.n_rows == 0:
        raise ValueError("X must be a table of rows and columns, and it is empty.")
    return table


def is_missing(value: Any) -> bool:
    """Return whether a raw value is missing."""
    # pandas' NA compares to neither true nor false, and pandas need not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(value != value)


def _from_array(X: Any, names: Sequence[str] | None) -> RawTable:
    if isinstance(X, np.ma.MaskedArray):
        masked, X = np.ma.getmaskarray(X), np.ma.getdata(X)
        if masked.any():
            X = X.astype(object)
            X[masked] = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            array = np.asarray(X)
        if array.dtype.kind in "US" and isinstance(X, list | tuple):
            # Numbers beside texts stay numbers.
            array = np.asarray(X, dtype=object)
    except (ValueError, Warning):
        raise ValueError("X must be a table whose rows have the same length.") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"X must be a table of rows and columns, got shape {array.shape}.")
    if array.dtype.kind in "biuf":
        kind: Kind = "flag" if array.dtype.kind == "b" else "number"
        columns = [Column(_numbers(array[:, i]), kind) for i in range(array.shape[1])]
        return _checked(RawTable(columns, names, True))
    if array.dtype.kind in "mM":
        columns = [Column(nanoseconds_of_array(array[:, i]), "time") for i in range(array.shape[1])]
        return _checked(RawTable(columns, names, False))
    return _checked(
        RawTable([_from_objects(array[:, i].tolist()) for i in range(array.shape[1])], names, False)
    )


def _numbers(column: Any) -> list[Any]:
    """Return an array of numbers as floats, None for NaN."""
    numbers = column.astype(np.float64).tolist()
    return [None if number != number else number for number in numbers]


def _from_objects(values: Sequence[Any]) -> Column:
    """Read a column of Python values by what it holds."""
    known = [None if is_missing(value) else value for value in values]
    times = [None if value is None else nanoseconds(value) for value in known]
    if any(time is not None for time in times):
        if any((time is None) != (v is None) for time, v in zip(times, known, strict=True)):
            raise ValueError("X must hold times, or something else, and not both in a column.")
        return Column(times, "time")
    plain = [value.item() if isinstance(value, np.generic) else value for value in known]
    present = [value for value in plain if value is not None]
    if present and all(isinstance(value, str | bytes) for value in present):
        return Column([None if v is None else _as_text(v) for v in plain], "category")
    try:
        numbers = [None if v is None else float(v) for v in plain]
    except (TypeError, ValueError, OverflowError):
        raise ValueError("X must hold numbers or texts, and not both in a column.") from None
    is_flag = bool(present) and all(isinstance(value, bool) for value in present)
    return Column(numbers, "flag" if is_flag else "number")


def _as_text(value: str | bytes) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _from_frame(labels: list[Any], frame: Any) -> RawTable:
    if any(isinstance(label, tuple) for label in labels):
        raise ValueError(
            f"The columns of X have names of {len(labels[0])} levels, such as {labels[0]}; trees "
            'need one name each: X.columns = ["_".join(map(str, name)) for name in X.columns].'
        )
    names = [str(label) for label in labels] if all(isinstance(x, str) for x in labels) else None
    native = frame.to_native()
    dtypes = set(native.dtypes) if frame.implementation.is_pandas_like() else set()
    if len(dtypes) == 1 and getattr(next(iter(dtypes)), "str", "|O")[1] in "biuf":
        return _from_array(native.to_numpy(), names)
    columns = [_from_series(series) for series in frame.iter_columns()]
    return _checked(RawTable(columns, names, False))


def _from_series(series: Any) -> Column:
    import narwhals.stable.v2 as nw

    dtype, native = series.dtype, series.to_native()
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _from_categories(series)
    if isinstance(dtype, nw.Boolean):
        return Column(_from_objects(series.to_list()).values, "flag")
    if isinstance(dtype, nw.Decimal) or not (dtype.is_numeric() or dtype.is_temporal()):
        # NumPy knows sparse columns, which are of none of these types.
        array = native.to_numpy() if hasattr(native, "sparse") else np.empty(0, dtype=object)
        if array.dtype.kind in "biuf":
            return Column(_numbers(array), "flag" if array.dtype.kind == "b" else "number")
        return _from_objects(series.to_list())
    if dtype.is_numeric():
        return Column(_numbers(series.to_numpy()), "number")
    array = np.asarray(series.to_numpy())
    if array.dtype.kind not in "mM":
        return _from_objects(array.tolist())
    return Column(nanoseconds_of_array(array), "time")


def _from_categories(series: Any) -> Column:
    import narwhals.stable.v2 as nw

    native, values = series.to_native(), series.to_list()
    levels, is_ordered = [], isinstance(series.dtype, nw.Enum)
    if hasattr(native, "unify_dictionaries"):
        # The type of Arrow knows whether its dictionary has an order.
        levels = native.unify_dictionaries().combine_chunks().dictionary.to_pylist()
        is_ordered = bool(native.type.ordered)
    elif is_ordered or hasattr(getattr(native, "cat", None), "categories"):
        levels = list(series.dtype.categories if is_ordered else native.cat.categories)
    if not all(isinstance(level, str | Number) for level in levels):
        # Intervals, periods, dates: their text is their name.
        levels = [str(level) for level in levels]
        values = [None if is_missing(value) else str(value) for value in values]
    read = _from_objects([*levels, *values])
    levels, plain = list(read.values[: len(levels)]), read.values[len(levels) :]
    if read.kind == "flag":
        return Column(plain, "flag")
    if is_ordered and len(set(levels)) == len(levels) > 0:
        return Column(plain, "ordered", tuple(levels))
    return Column(plain, "category")
