"""Data frames and their columns, of any library that narwhals knows.

pandas, polars, pyarrow, modin and cuDF are read through one interface. narwhals is imported when
something comes that may be a frame, and imports no library that is not loaded.
"""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ._column_values import Column, Kind, clocks, read_objects, read_values
from ._times import zone_of

Levels = tuple[Any, ...]


def as_frame(given: Any) -> Any:
    """Return a frame as one of narwhals, None for anything else.

    Where names repeat, which narwhals refuses, columns are named by their positions.
    """
    if _is_plain(given) or len(getattr(given, "shape", (0, 0))) == 1:
        return None
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(given, pass_through=True, eager_only=True)
    except DuplicateError:
        places = range(len(column_labels(given)))
        if hasattr(given, "rename_columns"):
            given = given.rename_columns([str(place) for place in places])
        else:
            given = given.set_axis(places, axis=1)
        frame = nw.from_native(given, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_plain(given: Any) -> bool:
    """Return whether something is no frame and no column for certain."""
    return (
        given is None
        or isinstance(given, np.ndarray | np.generic | list | tuple | dict | str | int | float)
        or issparse(given)
    )


def as_matrix(given: Any) -> NDArray[Any] | None:
    """Return a frame like those of pandas as an array if its columns have one type of NumPy.

    It is one array already, and the usual frame of numbers. None for anything else.
    """
    if _is_plain(given):
        return None
    from narwhals.stable.v2.dependencies import is_pandas_like_dataframe

    if not is_pandas_like_dataframe(given):
        return None
    dtypes = set(given.dtypes)
    if len(dtypes) != 1 or getattr(next(iter(dtypes)), "str", "|O")[1] not in "biuf":
        return None
    return np.asarray(given.to_numpy())


def column_labels(frame: Any) -> list[Any]:
    """Return what the columns of a frame are called, which need not be text in pandas."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def lazy_library(given: Any) -> str | None:
    """Return the library of a frame without data, None for anything else."""
    if _is_plain(given) or hasattr(given, "__array__"):
        return None
    import narwhals.stable.v2 as nw

    found = nw.from_native(given, pass_through=True)
    return str(found.implementation) if isinstance(found, nw.LazyFrame) else None


def column_arrays(given: Any) -> list[NDArray[Any]] | None:
    """Return the columns of a frame as arrays; None if it is no frame."""
    frame = as_frame(given)
    return None if frame is None else [_to_array(series) for series in frame.iter_columns()]


def column_array(given: Any) -> NDArray[Any] | None:
    """Return a column of a frame, or a frame of one column, as an array; None for anything else."""
    if _is_plain(given):
        return None
    if isinstance(getattr(given, "dtype", None), np.dtype) and hasattr(given, "to_numpy"):
        return np.asarray(given.to_numpy())
    import narwhals.stable.v2 as nw

    found = nw.from_native(given, pass_through=True, series_only=True)
    if isinstance(found, nw.Series):
        return _to_array(found)
    columns = column_arrays(given)
    return columns[0][:, None] if columns is not None and len(columns) == 1 else None


def _to_array(series: Any) -> NDArray[Any]:
    """Return a column as an array, of objects where NumPy has no such type."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), np.dtype):
        return np.asarray(native.to_numpy())
    dtype = series.dtype
    # NumPy's arrays of these lose missing values, digits, or the borders of cells. pyarrow gives
    # a wrong category where one is missing.
    special = (nw.Categorical, nw.Enum, nw.Decimal, nw.Int128, nw.UInt128)
    # Texts of polars are in a list sooner than in an array.
    is_listed = isinstance(dtype, nw.String) and series.implementation.is_polars()
    if is_listed or isinstance(dtype, special) or dtype.is_nested():
        return np.fromiter(series.to_list(), dtype=object, count=len(series))
    return np.asarray(series.to_numpy())


def read_column(series: Any, label: str) -> tuple[Column, Kind, Any]:
    """Read a column of a frame by its type, with its levels or its time zone."""
    import narwhals.stable.v2 as nw

    given = getattr(series.to_native(), "dtype", None)
    if isinstance(given, np.dtype):
        return read_values(_to_array(series), label)
    # Zones of pandas need not have a name.
    zone = getattr(given, "tz", None)
    if zone is not None:
        return read_values(series.to_native().dt.tz_convert(None).to_numpy(), label, zone)
    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _read_categories(series, label)
    if isinstance(dtype, nw.Time):
        raise ValueError(clocks(label, dtype))
    if getattr(dtype, "time_zone", None) is not None:
        zone, series = zone_of(dtype.time_zone), series.dt.convert_time_zone("UTC")
        series = series.dt.replace_time_zone(None)
    column, kind, zone = read_values(_to_array(series), label, zone)
    return column, "flag" if isinstance(dtype, nw.Boolean) else kind, zone


def _read_categories(series: Any, label: str) -> tuple[Column, Kind, Levels | None]:
    """Read categories once, then which of them rows have, where the library tells that."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if hasattr(getattr(native, "cat", None), "codes"):
        codes, categories = native.cat.codes.to_numpy(), list(native.cat.categories)
        return _pick(codes, categories, bool(native.cat.ordered), label)
    if hasattr(native, "unify_dictionaries"):
        whole = native.unify_dictionaries().combine_chunks()
        codes = whole.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        return _pick(codes, whole.dictionary.to_pylist(), bool(native.type.ordered), label)
    column, _, _ = read_objects(_to_array(series), label)
    levels = tuple(series.dtype.categories) if isinstance(series.dtype, nw.Enum) else ()
    return column, "ordered" if levels else "category", levels or None


def _pick(
    codes: NDArray[Any], categories: list[Any], is_ordered: bool, label: str
) -> tuple[Column, Kind, Levels | None]:
    """Return the category of each row, none for the code -1."""
    if not all(isinstance(v, str | Number) for v in categories):
        # Intervals, periods, dates: the user has made them categories, so their text is a name.
        categories = [None if v is None else str(v) for v in categories]
    given = np.fromiter(categories, dtype=object, count=len(categories))
    values, kind, _ = read_objects(given, label)
    levels = tuple(values.tolist())
    # A code of -1 means missing and picks the last entry.
    missing = np.array([None if values.dtype == object else np.nan])
    values = np.concatenate([values, missing]) if (codes < 0).any() else values
    if kind == "flag":
        return values[codes], "flag", None
    # Reading may have made different levels equal.
    is_ordered &= 0 < len(levels) == len(set(levels)) and None not in levels
    return values[codes], "ordered" if is_ordered else "category", levels if is_ordered else None
