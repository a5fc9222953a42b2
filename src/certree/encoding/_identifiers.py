"""Columns of text that name single rows, such as numbers of patients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from certree.exceptions import warn

from ._asked import held_as_text
from ._table import Table
from ._tests import is_missing

__all__ = [
    "IDENTIFIERS",
    "are_identifiers",
    "check_identifiers",
    "find_identifiers",
    "has_identifiers",
    "warn_of_identifier",
]

IDENTIFIERS = ("drop", "keep")

# Fewer rows are no evidence: every category of a small table may have one row.
_LEAST_ROWS = 20

# A value of as many rows is a group that a tree may well ask for.
_GROUP = 10


def check_identifiers(value: Any) -> None:
    """Refuse any other word for the parameter `identifiers`."""
    if value not in IDENTIFIERS:
        raise ValueError(f"identifiers must be one of {', '.join(IDENTIFIERS)}, got {value!r}.")


def are_identifiers(n_values: int, n_rows: int, most_rows: int) -> bool:
    """Return whether values name single rows: the rule of ``identifiers="drop"``.

    At least 20 rows have a value, more than nine tenths of the values are different, and no value
    is that of ten rows or more. So every test of such a column picks out a few rows, nearly always
    one.

    Parameters
    ----------
    n_values : int
        Number of different values.
    n_rows : int
        Number of rows with a value.
    most_rows : int
        Number of rows of the most frequent value.
    """
    return n_rows >= _LEAST_ROWS and 10 * n_values > 9 * n_rows and most_rows < _GROUP


def find_identifiers(table: Table, declared: Sequence[bool]) -> list[int]:
    """Return the columns of text or categories, unless declared, whose values name single rows.

    Parameters
    ----------
    table : Table
        The rows that count.
    declared : sequence of bool
        Which columns the user declares to hold categories.
    """
    return [
        index
        for index, kind in enumerate(table.kinds)
        if kind in ("text", "category")
        and not declared[index]
        and has_identifiers(table.column(index))
    ]


def has_identifiers(column: NDArray[Any]) -> bool:
    """Return whether the values of a column name single rows."""
    values = column[~is_missing(column)].tolist()
    # In most columns of categories, a quarter of the rows repeats values often enough.
    some = values[: len(values) // 4]
    if 10 * (len(some) - len(set(some))) >= len(values):
        return False
    counted = Counter(values)
    return are_identifiers(len(counted), len(values), max(counted.values(), default=0))


def warn_of_identifier(name: str, column: NDArray[Any] | None = None) -> None:
    """Say that a column is left out, and how to keep it.

    Parameters
    ----------
    name : str
        Its name.
    column : array, optional
        Its values, which may be numbers or dates as text.
    """
    what = None if column is None or column.dtype != object else held_as_text(column)[0]
    more = "" if what is None else f" If its texts are {what}, convert it to {what}."
    # It says no number of rows, so that Python shows it once for many parts of a table.
    warn(
        f"The column {name!r} has a different value in nearly every row, like an identifier. A "
        "tree could only memorise these rows, so the column is left out; identifiers='keep' keeps "
        f"it.{more}"
    )
