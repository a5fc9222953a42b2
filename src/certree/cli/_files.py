"""Reading tables from files: rows of text from CSV, columns from Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._problems import UsageProblem
from ._table_layout import FileFormat

_SEPARATORS = (",", ";", "\t", "|")
_PARQUET = (".parquet", ".pq")
_SHEETS = (".xlsx", ".xls", ".ods")


@dataclass(frozen=True)
class FileTable:
    """A table as it is in a file.

    Attributes
    ----------
    where : str
        The file.
    names : list of str
        Names of the columns.
    columns : list of array
        Text, if the file is CSV; otherwise any values.
    lines : list of int, or None
        Line of each row in a CSV file.
    """

    where: str
    names: list[str]
    columns: list[NDArray[Any]]
    lines: list[int] | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    def place(self, row: int) -> str:
        """Return where a row is, for messages."""
        return f"row {row}" if self.lines is None else f"line {self.lines[row]}"


def read_file(path: str, style: FileFormat) -> FileTable:
    """Read a table; ``-`` is CSV from the standard input."""
    if path != "-":
        _check_file(Path(path))
        if Path(path).suffix.lower() in _PARQUET:
            return _read_parquet(path)
    where = "the standard input" if path == "-" else path
    text = _decode(_bytes(path, where), style.encoding, where)
    if not text.strip():
        raise UsageProblem(f"{where} is empty; give a CSV file with a header and rows.")
    return _read_csv(text, style.separator, where)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise UsageProblem(f"{path} is a folder; give a CSV or Parquet file.")
    if not path.exists():
        raise UsageProblem(f"{path} does not exist; check the name and the folder.")
    if path.suffix.lower() in _SHEETS:
        raise UsageProblem(f"{path} is a spreadsheet; save it as CSV first.")


def _bytes(path: str, where: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        data = Path(path).read_bytes()
        return gzip.decompress(data) if path.lower().endswith(".gz") else data
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageProblem(f"{where} cannot be read: {reason}.") from None


def _decode(data: bytes, encoding: str, where: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) and encoding == "utf-8-sig":
        encoding = "utf-16"
    try:
        return data.decode(encoding)
    except LookupError:
        raise UsageProblem(
            f"--encoding {encoding} is unknown; try utf-8, latin-1 or cp1252."
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageProblem(
            f"{where} is not {encoding.removesuffix('-sig')} text: byte 0x{data[error.start]:02x} "
            f"in line {line}; give its encoding, such as --encoding cp1252."
        ) from None


# ---- CSV -----------------------------------------------------------------------------------------


def _read_csv(text: str, separator: str | None, where: str) -> FileTable:
    if separator is None:
        header = text.lstrip("\r\n").partition("\n")[0]
        separator = max(_SEPARATORS, key=header.count)
    rows = _rows(text, separator, where)
    names = [name.strip() for name in next(rows)[1]]
    _check_names(names, where)
    lines, cells = [], []
    for line, row in rows:
        if len(row) != len(names):
            raise UsageProblem(
                f"{where}, line {line} has {len(row)} values, but the header has {len(names)} "
                "columns; repair the line, or name the --separator."
            )
        lines.append(line)
        cells.append(row)
    if not cells:
        raise UsageProblem(f"{where} has a header, but no rows; there is nothing to read.")
    columns = []
    for values in zip(*cells, strict=True):
        column = np.empty(len(values), dtype=object)
        column[:] = [value.strip() for value in values]
        columns.append(column)
    return FileTable(where, names, columns, lines)


def _rows(text: str, separator: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with the lines that they begin in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    before = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise UsageProblem(
                f"{where}, line {before + 1} is not CSV: {error}; repair the line."
            ) from None
        if row is None:
            return
        if row and (len(row) > 1 or row[0].strip()):
            yield before + 1, row
        before = reader.line_num


def _check_names(names: list[str], where: str) -> None:
    empty = [str(place + 1) for place, name in enumerate(names) if not name]
    if empty:
        raise UsageProblem(
            f"{where} has no name for column {empty[0]}; name all columns in the first line."
        )
    _refuse_repeated(names, where)


def _refuse_repeated(names: list[str], where: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise UsageProblem(f"{where} has two columns {repeated[0]!r}; rename one of them.")


# ---- Parquet -------------------------------------------------------------------------------------


def _read_parquet(path: str) -> FileTable:
    if find_spec("pyarrow") is None:
        raise UsageProblem(
            f"{path} is Parquet, which needs pyarrow: pip install pyarrow, or save the table as "
            "CSV."
        )
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise UsageProblem(f"{path} is not Parquet: {reason}") from None
    if not table.num_rows or not table.num_columns:
        raise UsageProblem(f"{path} has no rows; there is nothing to read.")
    try:
        columns = [
            np.fromiter(column.to_pylist(), dtype=object, count=table.num_rows)
            for column in table.columns
        ]
    except ValueError as error:
        raise UsageProblem(f"{path} cannot be read: {error}") from None
    _refuse_repeated(table.column_names, path)
    return FileTable(path, table.column_names, columns, None)
