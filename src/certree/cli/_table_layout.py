"""How a table is written, and what its columns are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ColumnType = Literal["number", "whole", "flag", "date", "duration", "text"]
"""What a column holds; whole numbers are numbers, too."""


@dataclass(frozen=True)
class FileFormat:
    """How a CSV file is written.

    Attributes
    ----------
    separator : str or None
        What is between values; None: the one of comma, semicolon, tab and bar that the header has
        most of.
    encoding : str
        The encoding of the text.
    """

    separator: str | None = None
    encoding: str = "utf-8-sig"


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are.

    Attributes
    ----------
    target : tuple of str
        The columns to predict; time and event of a survival tree.
    weights : str or None
        The column of the weights.
    drop : tuple of str
        Columns that are not used.
    groups : tuple of str
        Columns of the groups that a fair tree compares.
    missing : tuple of str
        What stands for a missing value, beside the usual texts.
    decimal : str or None
        The decimal sign; None: the one that the columns show.
    types : dict of str to ColumnType
        The types of columns that are known already.
    """

    target: tuple[str, ...] = ()
    weights: str | None = None
    drop: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    types: dict[str, ColumnType] = field(default_factory=dict)
