"""Tables that stay where they are: one way to query frames, files, DuckDB and ibis tables."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ._frames import as_frame, column_labels, lazy_library
from ._not_tables import refuse_lazy

__all__ = ["Source", "open_table"]

# What queries call the rows, and what DuckDB calls a frame.
_NAME, _FRAME = "certree_rows", "certree_frame"

# Rows that are read at a time.
_BATCH = 1 << 18

_READERS = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".csv.gz": "read_csv",
}


class Source(NamedTuple):
    """A table of an engine.

    Attributes
    ----------
    rows : ibis table
        What expressions are made from.
    stream : callable
        From an expression to an iterator of its batches, as Arrow tables.
    levels : dict
        By name the levels of columns whose categories have an order.
    """

    rows: Any
    stream: Callable[[Any], Iterator[Any]]
    levels: dict[str, tuple[Any, ...]]

    def batches(self, query: Any, what: str) -> Iterator[Any]:
        """Yield the answer to a query in parts, with the types that ibis expects."""
        wanted = query.schema().to_pyarrow()
        try:
            for batch in self.stream(query):
                yield batch.cast(wanted)
        except Exception as error:
            told = str(error).strip().splitlines() or [type(error).__name__]
            raise RuntimeError(
                f"The engine failed while {what}: {told[0]} ({type(error).__name__}). Nothing was "
                "kept or written; see to the table or the connection, and call again."
            ) from error

    def answer(self, query: Any, what: str) -> Any:
        """Return the answer to a query as an Arrow table."""
        import pyarrow

        parts = list(self.batches(query, what))
        return pyarrow.concat_tables(parts) if parts else query.schema().to_pyarrow().empty_table()


def open_table(table: Any, memory_limit: int | None = None) -> Source:
    """Return what queries a table.

    Parameters
    ----------
    table : ibis table, DuckDB relation, path, glob, or data frame
        The rows.
    memory_limit : int, optional
        Bytes for the DuckDB that reads files and frames.
    """
    family = type(table).__module__.partition(".")[0]
    _need("ibis", "duckdb")
    if family == "ibis":
        if not hasattr(table, "to_pyarrow_batches") or not hasattr(table, "schema"):
            raise TypeError(f"table must be an ibis table, got {type(table).__name__}.")
        return Source(table, _stream_ibis, {})
    levels: dict[str, tuple[Any, ...]] = {}
    connection = None
    if family in ("_duckdb", "duckdb"):
        relation = table
    else:
        import duckdb

        settings: dict[str, Any] = {}
        if memory_limit is not None:
            settings["memory_limit"] = f"{max(memory_limit >> 20, 64)}MiB"
        connection = duckdb.connect(config=settings)
        if isinstance(table, str | os.PathLike):
            relation = _read_files(connection, os.fspath(table))
        else:
            frame, levels = _as_arrow(table)
            connection.register(_FRAME, frame)
            relation = connection.table(_FRAME)
    return _from_relation(relation, levels, connection)


def _need(*modules: str) -> None:
    from importlib.util import find_spec

    for module in modules:
        if find_spec(module) is None:
            raise ImportError(
                f"Reducing a table where it is needs {module}; install it with "
                "pip install 'certree[sql]'."
            )


def _stream_ibis(query: Any) -> Iterator[Any]:
    import pyarrow

    if query.get_backend().name == "duckdb":
        # ibis 12 reads batches by a function that DuckDB 2 does not have.
        yield query.to_pyarrow()
        return
    for batch in query.to_pyarrow_batches(chunk_size=_BATCH):
        yield pyarrow.Table.from_batches([batch])


def _from_relation(relation: Any, levels: dict[str, tuple[Any, ...]], connection: Any) -> Source:
    import ibis
    import pyarrow

    try:
        schema = ibis.Schema.from_pyarrow(_plain(relation.limit(0).to_arrow_table().schema))
        rows = ibis.table(schema, name=_NAME)
    except Exception as error:
        raise ValueError(f"DuckDB cannot read the columns of the table: {error}") from error

    def stream(query: Any, _: Any = connection) -> Iterator[Any]:
        # A frame is there as long as the connection that knows it.
        text = str(ibis.to_sql(query, dialect="duckdb"))
        for batch in relation.query(_NAME, text).to_arrow_reader(_BATCH):
            yield pyarrow.Table.from_batches([batch])

    return Source(rows, stream, levels)


def _plain(schema: Any) -> Any:
    """Return a schema with the values of dictionaries in place of these."""
    import pyarrow

    return pyarrow.schema(
        [
            field.with_type(field.type.value_type)
            if pyarrow.types.is_dictionary(field.type)
            else field
            for field in schema
        ]
    )


def _read_files(connection: Any, pattern: str) -> Any:
    """Return the relation of one file, or of all files that a pattern matches."""
    is_remote = "://" in pattern
    if Path(pattern).is_dir():
        raise ValueError(
            f"{pattern!r} is a folder; give a pattern of its files, such as "
            f"{os.path.join(pattern, '*.parquet')!r}."
        )
    if not is_remote and not glob.glob(pattern, recursive=True):
        raise FileNotFoundError(f"No file matches {pattern!r}.")
    ending = "".join(Path(pattern).suffixes[-2:]).lower()
    reader = _READERS.get(ending) or _READERS.get(Path(pattern).suffix.lower())
    if reader is None:
        raise ValueError(
            f"{pattern!r} has no ending that says what it holds; the known ones are "
            f"{', '.join(_READERS)}."
        )
    try:
        return getattr(connection, reader)(pattern)
    except Exception as error:
        raise ValueError(f"{pattern!r} cannot be read: {error}") from error


def _as_arrow(frame: Any) -> tuple[Any, dict[str, tuple[Any, ...]]]:
    """Return a frame as an Arrow table, and the levels of categories that have an order."""
    import narwhals.stable.v2 as nw
    import pyarrow

    if lazy_library(frame) == "polars":
        refuse_lazy(frame, "table")
    known = as_frame(frame)
    if known is None:
        raise TypeError(
            "table must be an ibis table, a DuckDB relation, a path or pattern of Parquet or CSV "
            f"files, or a data frame, got {type(frame).__name__}."
        )
    labels = column_labels(frame)
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ValueError(f"The frame has two columns {twice!r}; give each a name of its own.")
    levels = {
        name: tuple(dtype.categories)
        for name, dtype in known.schema.items()
        if isinstance(dtype, nw.Enum)
    }
    if not known.implementation.is_pandas_like():
        table = known.to_arrow()
        return table.cast(_plain(table.schema)), levels
    try:
        table = pyarrow.Table.from_pandas(known.to_pandas(), preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise TypeError(f"A column of the frame holds values of several types: {error}") from error
    return table.cast(_plain(table.schema)), levels
