"""Values of a column: which are missing, which are listed, and how they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_numbers", "format_value", "is_missing", "level_ranks", "plain_value"]


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value of a column of a table whether it is missing."""
    if column.dtype == object:
        return np.asarray(column == None, dtype=np.bool_)  # noqa: E711 (elementwise)
    if column.dtype == np.bool_:
        return np.zeros(len(column), dtype=np.bool_)
    return np.asarray(np.isnan(column), dtype=np.bool_)


def format_value(value: str | int | float | bool) -> str:
    """Return a threshold or category as it reads in a tree: 3 for 3.0, all digits otherwise."""
    if isinstance(value, str):
        # Blanks at the ends cannot be seen, nor can an empty string.
        return value if value and value == value.strip() else f'"{value}"'
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def plain_value(value: Any) -> str | int | float | bool:
    """Return a category as the plain Python value that equals it."""
    if type(value) is str:  # most are, and a table may have as many as rows
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool | int | str) or (isinstance(value, float) and value == value):
        return value
    raise TypeError(
        f"A category must be a string, a number or a truth value, got {value!r} of type "
        f"{type(value).__name__}."
    )


def level_ranks(levels: Sequence[Any], column: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each value among the levels; the number of levels for other values."""
    positions = {level: position for position, level in enumerate(levels)}
    none = len(positions)
    if column.dtype == object or isinstance(levels[0], str):
        return np.fromiter((positions.get(v, none) for v in column), np.intp, count=len(column))
    return find_numbers(np.array(levels, dtype=np.float64), column)


def find_numbers(values: NDArray[np.float64], column: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each number among the values; the number of values for others."""
    order = np.argsort(values)
    numbers = column.astype(np.float64, copy=False)
    nearest = order[np.searchsorted(values, numbers, sorter=order).clip(max=len(values) - 1)]
    return np.where(values[nearest] == numbers, nearest, len(values))
