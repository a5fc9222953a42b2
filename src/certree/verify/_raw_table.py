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
    family = type(X).__module__.partition(".")[0]
    if family == "polars" and type(X).__name__ == "LazyFrame":
        raise ValueError("X is a polars LazyFrame, which holds no data yet; call .collect() on it.")
    is_dict = isinstance(X, Mapping) and not issparse(X)  # one format of SciPy is a dict as well
    if is_dict or (isinstance(X, list) and X and isinstance(X[0], Mapping)):
        raise ValueError("X must be a table, got dicts; pass pandas.DataFrame(X).")
    if family == "pandas" and hasattr(X, "columns"):
        return _from_pandas(X)
    if family == "polars" and hasattr(X, "get_columns"):
        columns = [_from_polars(series) for series in X.get_columns()]
        return _checked(RawTable(columns, [str(name) for name in X.columns], False))
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


def _from_pandas(X: Any) -> RawTable:
    labels = list(X.columns)
    n_levels = X.columns.nlevels
    if n_levels > 1:
        raise ValueError(
            f"The columns of X have names of {n_levels} levels, such as {labels[0]}; trees "
            'need one name each: X.columns = ["_".join(map(str, name)) for name in X.columns].'
        )
    names = [str(label) for label in labels] if all(isinstance(x, str) for x in labels) else None
    dtypes = set(X.dtypes)
    if len(dtypes) == 1 and getattr(next(iter(dtypes)), "str", "|O")[1] in "biuf":
        return _from_array(X.to_numpy(), names)
    columns = [_from_series(X.iloc[:, i]) for i in range(X.shape[1])]
    return _checked(RawTable(columns, names, False))


def _from_series(series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _from_categorical(series)
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype) and kind in "mM":
        return Column(nanoseconds_of_array(series.to_numpy()), "time")
    if kind in "biuf":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(_numbers(numbers), "flag" if kind == "b" else "number")
    return _from_objects(series.to_numpy(dtype=object).tolist())


def _from_categorical(series: Any) -> Column:
    levels = list(series.dtype.categories)
    if not all(isinstance(level, str | Number) for level in levels):
        # Intervals, periods, dates: their text is their name.
        levels = [str(level) for level in levels]
    read = _from_objects(levels)
    values = [None if code < 0 else read.values[code] for code in series.cat.codes.tolist()]
    if read.kind == "flag":
        return Column(values, "flag")
    if series.dtype.ordered and len(set(read.values)) == len(levels) > 0:
        return Column(values, "ordered", tuple(read.values))
    return Column(values, "category")


def _from_polars(series: Any) -> Column:
    dtype = series.dtype
    name = str(dtype).partition("(")[0]
    if dtype.is_numeric() and name != "Decimal":
        return Column(_numbers(series.to_numpy()), "number")
    if dtype.is_temporal():
        # Days, or numbers of the unit of time.
        unit = getattr(dtype, "time_unit", "D")
        return Column(nanoseconds_of_array(series.to_physical().to_list(), unit), "time")
    read = _from_objects(series.to_list())
    if name == "Enum" and len(dtype.categories):
        return Column(read.values, "ordered", tuple(dtype.categories.to_list()))
    return Column(read.values, "category") if name in ("Categorical", "Enum") else read
