"""Raw tables as 0/1 columns whose meaning is remembered.

:func:`read_table` reads tables of any make, :class:`TableEncoder` chooses the tests for one and
encodes others by them, and a :class:`Test` knows what its column means.
"""

from __future__ import annotations

from ._encode import encode_tests
from ._encoder import TableEncoder
from ._multiway import Multiway
from ._table import Kind, Table, check_columns, compare_columns, read_table, remember_columns
from ._tests import (
    Category,
    Flag,
    Level,
    Missing,
    SidedTest,
    Test,
    Threshold,
    format_value,
    test_from_dict,
)

__all__ = [
    "Category",
    "Flag",
    "Kind",
    "Level",
    "Missing",
    "Multiway",
    "SidedTest",
    "Table",
    "TableEncoder",
    "Test",
    "Threshold",
    "check_columns",
    "compare_columns",
    "encode_tests",
    "format_value",
    "read_table",
    "remember_columns",
    "test_from_dict",
]
