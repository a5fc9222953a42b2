"""What users ask of columns: which hold categories, and where to cut."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import warn

from ._table import Table
from ._times import form_of, parse_time, read_time_objects, ticks, write_time

__all__ = [
    "AskedCuts",
    "asked_cuts",
    "declared_categories",
    "held_as_text",
    "is_index",
    "warn_of_texts",
]

_TIMES = ("date", "zoned", "duration")


@dataclass(frozen=True, eq=False)
class AskedCuts:
    """The cut points that are asked of a column.

    Attributes
    ----------
    limit : int or None
        Largest number of cut points; None: all; 0: all of a column with up to 32 distinct values,
        else 32.
    points : ndarray or None
        Given cut points in increasing order: numbers, times, or positions of levels.
    texts : ndarray or None
        Given cut points as texts, for times.
    """

    limit: int | None = 0
    points: NDArray[Any] | None = None
    texts: NDArray[Any] | None = None


def asked_cuts(thresholds: Any, table: Table, are_categories: Sequence[bool]) -> list[AskedCuts]:
    """Return what the parameter `thresholds` asks of each column."""
    if not isinstance(thresholds, Mapping):
        return [AskedCuts(_limit(thresholds, "thresholds"))] * table.n_columns
    asked: dict[int, AskedCuts] = {}
    for key, value in thresholds.items():
        column = _find_column(key, table, "thresholds")
        name = table.names[column]
        if column in asked:
            raise ValueError(f"thresholds names the column {name!r} twice, by {key!r} and before.")
        if are_categories[column] or table.kinds[column] == "flag":
            what = "truth values" if table.kinds[column] == "flag" else "categories"
            raise ValueError(
                f"thresholds asks for cut points of the column {name!r}, which holds {what}; cut "
                "points are for numbers, dates and ordered categories."
            )
        where = f"thresholds[{key!r}]"
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            asked[column] = _given(list(value), table, column, where)
        else:
            asked[column] = AskedCuts(_limit(value, where))
    return [asked.get(column, AskedCuts()) for column in range(table.n_columns)]


def _limit(value: Any, where: str) -> int | None:
    """Return the largest number of cut points, 0 for "auto", None for all."""
    if isinstance(value, str) and value in ("auto", "all"):
        return 0 if value == "auto" else None
    if is_index(value) and value >= 1:
        return int(value)
    others = "a list of cut points" if "[" in where else "a dict by columns"
    raise ValueError(
        f"{where} must be 'auto', 'all', a number of quantiles of at least 1, or {others}, got "
        f"{value!r}."
    )


def _given(values: list[Any], table: Table, column: int, where: str) -> AskedCuts:
    """Return cut points that a user lists."""
    if table.kinds[column] == "ordered":
        levels = table.levels[column]
        for value in values:
            if value not in levels:
                raise ValueError(
                    f"{where} holds {value!r}, which is not a level of the column; its levels are "
                    f"{list(levels)}."
                )
        return AskedCuts(points=np.array(sorted({levels.index(v) for v in values}), dtype=np.intp))
    if table.kinds[column] in _TIMES:
        return _given_times(values, table.column(column), table.kinds[column], where)
    for value in values:
        is_number = not isinstance(value, bool) and isinstance(value, Real | Decimal)
        if not is_number or not isfinite(value):
            raise ValueError(
                f"{where} must hold finite numbers, since the column {table.names[column]!r} holds "
                f"numbers, got {value!r}."
            )
    return AskedCuts(points=np.unique(np.array([float(value) for value in values])))


def _given_times(values: list[Any], column: NDArray[Any], kind: str, where: str) -> AskedCuts:
    """Return times that a user lists, in the unit of a column; rounding down divides it alike."""
    found = {}
    for value in values:
        try:
            form, moment, offset = _read_time(value)
        except (ValueError, TypeError):
            form = ""
        if form != kind:
            what = {"date": "dates without", "zoned": "times with"}.get(kind)
            what = "durations" if what is None else f"{what} a time zone"
            raise ValueError(
                f"{where} must hold {what}, as the column does, got {value!r}; texts are those of "
                "ISO 8601, such as '2024-03-01'."
            )
        found[moment] = write_time(form_of(column, kind == "zoned"), moment, offset)
    size = ticks(column[:0])[1]
    moments = sorted(found)
    numbers = [min(max(moment // size, -(2**63) + 1), 2**63 - 1) for moment in moments]
    texts = np.array([found[moment] for moment in moments], dtype=object)
    return AskedCuts(points=np.array(numbers, dtype=np.int64).view(column.dtype), texts=texts)


def _read_time(value: Any) -> tuple[str, int, int]:
    """Return form, nanoseconds and offset of a time as users write it."""
    if isinstance(value, str):
        return parse_time(value)
    read, zone = read_time_objects(np.array([value], dtype=object), "thresholds")
    number, size = ticks(read)
    offset = None if zone is None else value.utcoffset()
    seconds = 0 if offset is None else int(offset / datetime.timedelta(seconds=1))
    return form_of(read, zone is not None), int(number[0]) * size, seconds


def declared_categories(given: Any, table: Table) -> list[bool]:
    """Return for each column whether the user declares it to be categorical."""
    declared = _declared(given, table)
    for name, kind, is_declared in zip(table.names, table.kinds, declared, strict=True):
        if is_declared and kind in _TIMES:
            raise ValueError(
                f"categorical_features names the column {name!r}, which holds dates, times or "
                "durations; leave it out, or give its month, weekday or text as a column of its "
                "own."
            )
    return declared


def _declared(given: Any, table: Table) -> list[bool]:
    if isinstance(given, str):
        if given in ("auto", "all"):
            return [given == "all"] * table.n_columns
        raise ValueError(
            "categorical_features must be 'auto', 'all', or a list of column names, column "
            f"indices or truth values, got {given!r}; write [{given!r}] for a single column."
        )
    if not isinstance(given, Iterable):
        raise TypeError(
            "categorical_features must be 'auto', 'all', or a list of column names, column "
            f"indices or truth values, got {given!r}."
        )
    entries = list(given)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != table.n_columns:
            raise ValueError(
                f"categorical_features has {len(entries)} truth values, but the table has "
                f"{table.n_columns} columns."
            )
        return [bool(entry) for entry in entries]
    declared = [False] * table.n_columns
    for entry in entries:
        declared[_find_column(entry, table, "categorical_features")] = True
    return declared


def number_columns(categorical_features: Any, table: Table) -> list[int]:
    """Return the columns of numbers, without those that are declared to hold categories."""
    declared = declared_categories(categorical_features, table)
    kinds = zip(table.kinds, declared, strict=True)
    return [k for k, (kind, is_name) in enumerate(kinds) if kind == "number" and not is_name]


def asked_columns(given: Any, table: Table, where: str) -> list[int]:
    """Return the indices of columns that a user lists by name or index."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{where} must be a list of columns, got {given!r}; write [{given!r}].")
    found = [_find_column(entry, table, where) for entry in given]
    if len(set(found)) < len(found):
        raise ValueError(f"{where} names a column twice, got {list(given)}.")
    return found


def is_index(value: Any) -> bool:
    """Return whether a value is an integer, and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _find_column(entry: Any, table: Table, where: str) -> int:
    """Return the index of a column given by name or index."""
    if isinstance(entry, str):
        if not table.has_names:
            raise ValueError(
                f"{where} names the column {entry!r}, but the table has no column "
                "names; give indices, or a data frame."
            )
        if entry not in table.names:
            raise ValueError(
                f"{where} names the column {entry!r}, which the table does not have; "
                f"its columns are {table.names}."
            )
        return table.names.index(entry)
    if is_index(entry):
        if not -table.n_columns <= entry < table.n_columns:
            raise ValueError(
                f"{where} holds the column index {entry}, but the table has "
                f"{table.n_columns} columns."
            )
        return int(entry) % int(table.n_columns)
    others = ", or one truth value per column" if where == "categorical_features" else ""
    raise TypeError(f"{where} must hold column names or column indices{others}, got {entry!r}.")


def warn_of_texts(table: Table, declared: Sequence[bool]) -> None:
    """Warn of columns of text in which all values are numbers or dates, unless declared."""
    for i, name in enumerate(table.names):
        if table.kinds[i] != "text" or declared[i]:
            continue
        what, example = held_as_text(table.column(i))
        if what is not None:
            method = {"numbers": "astype(float)", "dates": "pandas.to_datetime"}[what]
            warn(
                f"The column {name!r} holds {what} as text, such as {example!r}, and is read as "
                f"categories without an order. Convert it to {what}, for instance with {method}, "
                "or name it in categorical_features if it holds categories."
            )


def held_as_text(column: NDArray[Any]) -> tuple[str | None, str]:
    """Return "numbers" or "dates" if all texts of a column are such, and the first text."""
    present = [value for value in column if value is not None]
    example = present[0] if present else ""
    for what, is_one in (("numbers", _is_number), ("dates", _is_date)):
        if is_one(example) and all(map(is_one, set(present))):
            return what, example
    return None, example


def _is_date(text: str) -> bool:
    try:
        # Texts such as "P3D" may well be names.
        return parse_time(text)[0] != "duration"
    except ValueError:
        return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
