"""How databases quote names and texts, and what they take for truth values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._wording import plain

_CLOSING = {'"': '"', "`": "`", "[": "]"}

DIALECTS = (
    *("bigquery", "clickhouse", "databricks", "duckdb", "mysql", "oracle", "postgres"),
    *("redshift", "snowflake", "spark", "sqlite", "trino", "tsql"),
)
"""Those that are tested; sqlglot knows how each of them quotes."""

_STANDARD = {
    "date": "DATE",
    "time": "TIMESTAMP",
    "zoned": "TIMESTAMP WITH TIME ZONE",
    "duration": "INTERVAL",
}

# These have no truth values: columns of them are numbers or bits.
_WITHOUT_TRUTH = ("oracle", "tsql")


@dataclass(frozen=True)
class Dialect:
    """The words of a database.

    Parameters
    ----------
    quote : {'"', '`', '['}
        Quotation mark of identifiers in standard SQL.
    name : str, optional
        One of `DIALECTS`, which then says how to quote.
    """

    quote: str = '"'
    name: str | None = None

    def __post_init__(self) -> None:
        if self.quote not in _CLOSING:
            raise ValueError(f"quote must be one of {', '.join(_CLOSING)}, got {self.quote!r}.")
        if self.name is not None and self.name not in DIALECTS:
            raise ValueError(
                f"dialect must be one of {', '.join(DIALECTS)}, or None for standard SQL, got "
                f"{self.name!r}."
            )
        if self.name is not None and self.quote != '"':
            raise ValueError(f"dialect={self.name!r} says how to quote; leave quote out.")

    @property
    def has_truth(self) -> bool:
        """Whether the database has truth values, which are conditions by themselves."""
        return self.name not in _WITHOUT_TRUTH if self.name else self.quote != "["

    @property
    def is_server(self) -> bool:
        """Whether it is SQL Server."""
        return self.name == "tsql" or self.quote == "["

    def identifier(self, name: str) -> str:
        """Return the name of a column or of the result, quoted."""
        _check(name)
        if self.name is None:
            closing = _CLOSING[self.quote]
            return self.quote + name.replace(closing, closing * 2) + closing
        if self.name == "oracle" and '"' in name:
            raise ValueError(f"Oracle allows no quotation mark in a name, got {name!r}; rename it.")
        return str(_sqlglot().to_identifier(name, quoted=True).sql(dialect=self.name))

    def literal(self, value: Any) -> str:
        """Return a label, category or threshold."""
        value = plain(value)
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return repr(value)
        raise TypeError(
            f"{value!r} of type {type(value).__name__} has no literal in standard SQL; "
            "train with strings, finite numbers or booleans."
        )

    def time(self, form: str, text: str) -> str:
        """Return a date, a time, a time with a zone or a duration, given as standard SQL has it."""
        if self.name == "sqlite" or (form == "duration" and not self._has_durations):
            raise TypeError(
                f"to_sql cannot express {text!r} for {self.name or 'SQL Server'}, which has no "
                "type for it; train with numbers, such as days."
            )
        if self.is_server:
            kinds = {"date": "date", "time": "datetime2", "zoned": "datetimeoffset"}
            return f"CAST('{text}' AS {kinds[form]})"
        if self.name is None or form == "duration":
            return f"{_STANDARD[form]} '{text}'"
        exp, kinds = _sqlglot(), {"date": "date", "time": "timestamp", "zoned": "timestamptz"}
        return str(exp.cast(exp.Literal.string(text), kinds[form]).sql(dialect=self.name))

    @property
    def _has_durations(self) -> bool:
        return self.name in ("postgres", "duckdb", "redshift") if self.name else self.quote != "["

    def _truth(self, value: bool) -> str:
        # Without TRUE and FALSE: SQLite takes these for columns, if there are such.
        if self.has_truth:
            return f"(1 = {int(value)})"
        return str(int(value)) if self.name == "oracle" else f"CAST({int(value)} AS BIT)"

    def _text(self, text: str) -> str:
        _check(text)
        if self.name == "oracle" and text == "":
            raise ValueError("Oracle takes an empty text for NULL, so a category cannot be empty.")
        if self.name is None:
            return "'" + text.replace("'", "''") + "'"
        literal = str(_sqlglot().Literal.string(text).sql(dialect=self.name))
        # Without the mark, texts of SQL Server are in an eight-bit code.
        return f"N{literal}" if self.name == "tsql" and not text.isascii() else literal


def _check(text: str) -> None:
    if "\0" in text:
        raise ValueError(f"SQL text cannot hold a zero character, got {text!r}; rename it.")


def _sqlglot() -> Any:
    try:
        from sqlglot import exp
    except ImportError as error:
        raise ImportError(
            "A dialect of SQL needs sqlglot; install it with `pip install certree[sql]`, or leave "
            "dialect out for standard SQL."
        ) from error
    return exp
