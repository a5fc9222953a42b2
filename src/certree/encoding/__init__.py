"""Raw tables as 0/1 columns whose meaning is remembered.

:func:`read_table` reads tables of any kind. :class:`TableEncoder` chooses the tests for a table and
encodes other tables with them. A :class:`Test` knows what its column means.
"""

from __future__ import annotations

from ._condition import Condition
from ._encode import encode_tests
from ._encoder import TableEncoder
from ._multiway import Multiway
from ._named import NamedArray
from ._reduced import Reduced
from ._subsets import Subset
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
    kind_of_test,
    kinds_of_tests,
    test_from_dict,
)
from ._time_tests import TimeThreshold

__all__ = [
    "Category",
    "Condition",
    "Flag",
    "Kind",
    "Level",
    "Missing",
    "Multiway",
    "NamedArray",
    "Reduced",
    "SidedTest",
    "Subset",
    "Table",
    "TableEncoder",
    "Test",
    "Threshold",
    "TimeThreshold",
    "check_columns",
    "compare_columns",
    "encode_tests",
    "format_value",
    "kind_of_test",
    "kinds_of_tests",
    "read_table",
    "remember_columns",
    "test_from_dict",
]
