"""From a file to rows, targets and weights, with the type of every column.

A column of a CSV file is numbers if every value is one, flags if all are true or false, dates if
all are dates or times of ISO 8601, and text otherwise. Targets and groups are no dates. Numbers
with leading zeros are codes, and so text. What a column was in training it is in prediction, too: a
model file keeps the types, also those of Parquet files. The decimal sign of a CSV file is found in
its columns (:mod:`certree.cli._decimals`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from certree.encoding._named import NamedArray
from certree.encoding._texts import as_array
from certree.encoding._times import parse_time

from ._decimals import NUMBER, decimal_signs, with_point
from ._files import FileTable
from ._problems import UsageProblem, listed, no_column
from ._table_layout import ColumnType, Layout

MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""What stands for a missing value in CSV files."""

_WHOLE = re.compile(r"[+-]?\d+")
_CODE = re.compile(r"[+-]?0\d+")
_FLAGS = {"true": True, "false": False}

# As pandas writes durations: 3 days 04:30:05.5
_DAYS = re.compile(r"(-?\d{1,6}) days?(?: \+?(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?))?", re.ASCII)


@dataclass(frozen=True)
class LearningData:
    """Rows, and what is known of them.

    Attributes
    ----------
    X : NamedArray
        The rows.
    y, weights, groups : array or None
        Targets, weights and groups, where they are asked for.
    layout : Layout
        With the types of all columns that were read.
    """

    X: NamedArray
    y: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    layout: Layout


class Columns:
    """The columns of a file, read one by one."""

    def __init__(self, raw: FileTable, layout: Layout) -> None:
        self._raw = raw
        self._places = {name: place for place, name in enumerate(raw.names)}
        self._missing = frozenset((*MISSING, *layout.missing))
        self._layout = layout
        self._signs: Mapping[str, str] = {}
        if layout.decimal is None:
            self._signs = decimal_signs(raw, self._missing, layout)
        self.types: dict[str, ColumnType] = {}

    def read(self, name: str, *, as_text: bool = False) -> NDArray[Any]:
        """Return a column: values of one type, and None where they are missing.

        With `as_text`, dates stay texts.
        """
        if name not in self._places:
            raise no_column(name, self._raw.names, self._raw.where)
        values = self._raw.columns[self._places[name]]
        wanted = self._layout.types.get(name)
        cells = values.tolist()
        if self._raw.lines is None:
            found = _type_of(cells)
            is_text = wanted == "text" or (as_text and found == "date")
            if is_text or found != "text" or wanted is None:
                self.types[name] = "text" if is_text else wanted or found
                return _as_texts(values) if is_text else values
        cells = [None if cell in self._missing else cell for cell in cells]
        guessed = wanted or self._guess(name, cells)
        self.types[name] = "text" if as_text and guessed == "date" else guessed
        column = np.empty(len(cells), dtype=object)
        convert = self._converter(name, self.types[name])
        column[:] = [None if cell is None else convert(cell, row) for row, cell in enumerate(cells)]
        return column

    def _guess(self, name: str, cells: Sequence[str | None]) -> ColumnType:
        present = {cell for cell in cells if cell is not None}
        numbers = {self._point(name, cell) for cell in present}
        if present and {_form(cell) for cell in present} in ({"date"}, {"zoned"}):
            return "date"
        if not present or any(_CODE.fullmatch(cell) for cell in numbers):
            return "text" if present else "number"
        if all(_WHOLE.fullmatch(cell) for cell in numbers):
            return "whole"
        if all(NUMBER.fullmatch(cell) for cell in numbers):
            return "number"
        return "flag" if all(cell.lower() in _FLAGS for cell in present) else "text"

    def _point(self, name: str, cell: str) -> str:
        return with_point(cell, self._layout.decimal or self._signs.get(name, "."))

    def _converter(self, name: str, kind: ColumnType) -> Any:
        def number(cell: str, row: int) -> float:
            text = self._point(name, cell)
            if NUMBER.fullmatch(text) is None:
                raise self._wrong(name, cell, row, "a number")
            return int(text) if _WHOLE.fullmatch(text) else float(text)

        def flag(cell: str, row: int) -> bool:
            if cell.lower() not in _FLAGS:
                raise self._wrong(name, cell, row, "true or false")
            return _FLAGS[cell.lower()]

        def date(cell: str, row: int) -> datetime.datetime:
            if _form(cell) is None:
                raise self._wrong(name, cell, row, "a date such as 2024-03-01")
            return _date(cell)

        def duration(cell: str, row: int) -> datetime.timedelta:
            found = _duration(cell)
            if found is None:
                raise self._wrong(name, cell, row, "a duration such as P1DT12H")
            return found

        def text(cell: str, row: int) -> str:
            return cell

        convert: dict[ColumnType, Any] = {"number": number, "whole": number, "flag": flag}
        return (convert | {"date": date, "duration": duration, "text": text})[kind]

    def _wrong(self, name: str, cell: str, row: int, wanted: str) -> UsageProblem:
        return UsageProblem(
            f"{self._raw.where}, {self._raw.place(row)}: {name!r} holds {cell!r}, which is not "
            f"{wanted}; correct it, or name it with --missing if it stands for no value."
        )


def _form(cell: str) -> str | None:
    """Return whether a text is a "date", or a "zoned" time; None if it is neither."""
    try:
        form, moment, _ = parse_time(cell)
    except ValueError:
        return None
    # Python's times have no nanoseconds.
    return None if form == "duration" or moment % 1000 else form


def _date(cell: str) -> datetime.datetime:
    form, moment, offset = parse_time(cell)
    since = datetime.timedelta(microseconds=moment // 1000)
    if form == "date":
        return datetime.datetime(1970, 1, 1) + since
    zone = datetime.timezone(datetime.timedelta(seconds=offset))
    return (datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + since).astimezone(zone)


def _duration(cell: str) -> datetime.timedelta | None:
    if found := _DAYS.fullmatch(cell):
        days, hours, minutes, seconds = found.groups(default="0")
        clock = {"hours": int(hours), "minutes": int(minutes), "seconds": float(seconds)}
        return datetime.timedelta(days=int(days), **clock)
    try:
        form, length, _ = parse_time(cell)
    except ValueError:
        return None
    return datetime.timedelta(microseconds=length // 1000) if form == "duration" else None


def is_number(value: object) -> bool:
    """Whether a text reads as a number; a missing value may be one."""
    return value is None or (isinstance(value, str) and bool(NUMBER.fullmatch(value)))


def read_data(
    raw: FileTable, layout: Layout, *, features: Sequence[str] | None = None
) -> LearningData:
    """Return rows and targets of a table.

    Parameters
    ----------
    raw : FileTable
        The table.
    layout : Layout
        What its columns are.
    features : sequence of str, optional
        The columns of the rows; by default all that are nothing else.
    """
    columns = Columns(raw, layout)
    layout = replace(layout, target=_as_columns(layout.target, raw.names))
    used = [*layout.target, *([] if layout.weights is None else [layout.weights])]
    for name in layout.drop:
        if features is None and name not in raw.names:
            raise no_column(name, raw.names, raw.where)
    y = _target(columns, layout.target, raw) if layout.target else None
    weights = None if layout.weights is None else _weights(columns, layout.weights, raw)
    groups = None
    if layout.groups:
        groups = np.column_stack([_complete(columns, name, raw) for name in layout.groups])
    if features is None:
        without = {*used, *layout.drop, *layout.groups}
        features = [name for name in raw.names if name not in without]
    lacking = [name for name in features if name not in raw.names]
    if len(lacking) > 1:
        raise UsageProblem(f"{raw.where} lacks the columns {listed(lacking)} that the model needs.")
    if not features:
        beside = f" beside {listed(used)}" if used else ""
        raise UsageProblem(f"{raw.where} has no columns to learn from{beside}.")
    X = np.column_stack([columns.read(name) for name in features])
    types = {**layout.types, **columns.types}
    return LearningData(
        NamedArray(X, list(features)), y, weights, groups, replace(layout, types=types)
    )


def _as_columns(given: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that texts name: each is a column, or several with commas."""
    parts = ([text] if text in known else text.split(",") for text in given)
    names = [name.strip() for part in parts for name in part]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageProblem(f"The target {twice!r} is named twice; name every target once.")
    return tuple(names)


def _target(columns: Columns, names: tuple[str, ...], raw: FileTable) -> NDArray[Any]:
    """Return the target of each row; several have a column each."""
    targets = [as_array(_complete(columns, name, raw).tolist()) for name in names]
    if len(targets) == 1:
        return targets[0]
    if any(target.dtype.kind not in "if" for target in targets):
        targets = [target.astype(object) for target in targets]
    return NamedArray(np.stack(targets, axis=1), list(names))


def _complete(columns: Columns, name: str, raw: FileTable) -> NDArray[Any]:
    """Return a column in which no value may be missing."""
    column = columns.read(name, as_text=True)
    for row, value in enumerate(column.tolist()):
        if value is None or value != value:
            raise UsageProblem(
                f"{raw.where}, {raw.place(row)}: {name!r} is missing; give it a value, or leave "
                "the row out."
            )
    return column


def _weights(columns: Columns, name: str, raw: FileTable) -> NDArray[np.float64]:
    column = _complete(columns, name, raw)
    if columns.types[name] not in ("number", "whole"):
        raise UsageProblem(f"The weights {name!r} of {raw.where} are not numbers.")
    for row, value in enumerate(column.tolist()):
        if value < 0:
            raise UsageProblem(
                f"{raw.where}, {raw.place(row)}: the weight {value} is below 0; correct it."
            )
    return np.array(column.tolist())


def _as_texts(values: NDArray[Any]) -> NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    column[:] = [None if value is None else str(value) for value in values.tolist()]
    return column


def _type_of(values: list[Any]) -> ColumnType:
    """Return the type of a column of a typed file."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {bool}:
        return "flag"
    if kinds and all(issubclass(kind, int) for kind in kinds):
        return "whole"
    for kind, name in ((datetime.date, "date"), (datetime.timedelta, "duration"), (str, "text")):
        if kinds and all(issubclass(one, kind) for one in kinds):
            return cast(ColumnType, name)
    return "number"
