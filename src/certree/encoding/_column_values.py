"""One array of values of any kind as a column of numbers, flags, text or times.

A column of Python objects is numbers or text, never both: a category 1 and a category "1" would
read the same in a tree and yet be different, so mixtures are refused with a hint.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._times import form_of, read_time_array, read_time_objects

Kind = Literal["number", "flag", "text", "category", "ordered", "date", "zoned", "duration"]
Column = NDArray[Any]


def read_values(values: NDArray[Any], label: str, zone: Any = None) -> tuple[Column, Kind, Any]:
    """Read an array by its type: the column, its kind, and its time zone.

    Times are in UTC if `zone` is given.
    """
    kind = values.dtype.kind
    if kind == "O":
        return read_objects(values, label)
    if kind in "mM":
        column = read_time_array(values, label)
        return column, form_of(column, zone is not None), zone
    if kind == "c":
        raise ValueError(f"Complex data not supported: {label} holds {values.dtype} values.")
    if kind == "b":
        return values, "flag", None
    if kind in "UST":
        return read_objects(values.astype(object), label)
    numbers = values.astype(np.float64, copy=False)
    check_finite(numbers, [label])
    return numbers, "number", None


def check_finite(values: NDArray[Any], labels: list[str]) -> None:
    """Refuse infinities in a column, or in a matrix with one label per column."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.itemsize > 8:
            values = values.astype(np.float64)  # as it is read
        # For most tables the sum is finite, and no array has to be allocated.
        if np.isfinite(values.sum()):
            return
    infinite = np.isinf(values)
    if infinite.any():
        row, *column = (int(i) for i in np.argwhere(infinite)[0])
        raise ValueError(infinity(labels[column[0] if column else 0], row))


def infinity(label: str, row: int) -> str:
    """Return the message about an infinite number."""
    return (
        f"X contains infinity or a value too large for float64: {label}, row {row}. Replace it by "
        "a number, or by NaN if the value is unknown."
    )


def read_objects(column: NDArray[Any], label: str) -> tuple[Column, Kind, Any]:
    """Read an object column as numbers, flags, text or times, by the types that it holds.

    The last value is the time zone.
    """
    types = set(map(type, column))
    if any(t.__name__ in ("NAType", "NaTType") for t in types):
        column = _blank(column, lambda v: type(v).__name__ in ("NAType", "NaTType"))
        types = set(map(type, column))
    text = {t for t in types if issubclass(t, str | bytes)}
    if text and any(issubclass(t, float | np.floating) for t in types):
        column = _blank(column, lambda v: isinstance(v, float | np.floating) and v != v)
        types = set(map(type, column))
    present = types - {type(None)}
    if text and text == present:
        return (column if text == {str} else _read_text(column)), "text", None
    if present and all(issubclass(t, _TIMES) for t in present):
        is_nat = any(issubclass(t, np.datetime64 | np.timedelta64) for t in present)
        column = _blank(column, lambda v: v != v) if is_nat else column
        times, zone = read_time_objects(column, label)
        return times, form_of(times, zone is not None), zone
    _check_types(present, text, label)
    try:
        numbers = column.astype(np.float64)
    except (OverflowError, ValueError, TypeError):
        raise ValueError(
            f"X contains a number that float64 cannot hold, in {label}; rescale it, or give the "
            "values as strings if they are names."
        ) from None
    check_finite(numbers, [label])
    if present and all(issubclass(t, bool | np.bool_) for t in present):
        return (numbers.astype(np.bool_) if types == present else numbers), "flag", None
    return numbers, "number", None


def _blank(column: NDArray[Any], is_missing: Callable[[Any], bool]) -> NDArray[Any]:
    """Return the column with None for missing values."""
    result = np.empty(len(column), dtype=object)
    result[:] = [None if is_missing(v) else v for v in column]
    return result


def _check_types(types: set[type], text: set[type], label: str) -> None:
    """Refuse values that are not numbers, and say what to do about them."""
    for t in sorted(types, key=lambda t: t.__name__):
        if issubclass(t, complex | np.complexfloating):
            raise ValueError(f"Complex data not supported: {label} holds {t.__name__} values.")
        if issubclass(t, datetime.time):
            raise ValueError(clocks(label, t.__name__))
        if issubclass(t, _TIMES):
            others = sorted(t.__name__ for t in types if not issubclass(t, _TIMES))
            raise ValueError(
                f"X must hold dates or something else in a column, but {label} holds both "
                f"({t.__name__} beside {', '.join(others)}); convert it, for instance with "
                "pandas.to_datetime."
            )
        if t not in text and not issubclass(t, Number | Decimal | np.generic):
            raise TypeError(
                f"Every value of X: argument must be a string or a number, but {label} holds a "
                f"{t.__name__!r}; turn it into one or more columns of numbers or strings."
            )
    if text:
        others = sorted(t.__name__ for t in types - text)
        raise TypeError(
            f"X must hold numbers or strings in a column, but {label} holds both (strings beside "
            f"{', '.join(others)}); convert the column to one of them, for instance with "
            "astype(str)."
        )


_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def clocks(where: str, what: object) -> str:
    """Return the message about times of day."""
    return (
        f"Times of day without a date are not supported: {where} holds {what}. Convert it to "
        "numbers, such as hours since midnight."
    )


def _read_text(column: NDArray[Any]) -> Column:
    """Return text as plain str, with None for missing."""
    result = np.empty(len(column), dtype=object)
    result[:] = [
        v.decode("utf-8", "backslashreplace")
        if isinstance(v, bytes)
        else None
        if v is None
        else str(v)
        for v in column
    ]
    return result
