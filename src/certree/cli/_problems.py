"""Exit codes, and what is wrong with what a user gave."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

PROVEN = 0
FAILURE = 1
USAGE = 2
STOPPED = 3
"""A tree was found, but a limit or Ctrl-C ended the search before it was proven best."""

INTERRUPTED = 130
"""Ctrl-C ended the program: 128 and the number of the signal, as shells have it."""
PIPE_CLOSED = 141
"""What reads the output, such as ``head``, has seen enough."""

_MOST_LISTED = 8


class UsageProblem(Exception):
    """Something that the user can put right: one line says what is wrong and what to do."""


def no_column(name: str, columns: Sequence[str], where: str) -> UsageProblem:
    """Return that a table lacks a column, with the columns that it has."""
    near = get_close_matches(name, columns, n=1) or [
        column for column in columns if column.lower() == name.lower()
    ]
    if near:
        return UsageProblem(f"{where} has no column {name!r}; did you mean {near[0]!r}?")
    return UsageProblem(f"{where} has no column {name!r}; its columns are {listed(columns)}.")


def listed(names: Sequence[str]) -> str:
    """Return names in one line, not too many of them."""
    if len(names) <= _MOST_LISTED + 1:  # "and 1 more" would be no shorter than its name
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_LISTED])} and {len(names) - _MOST_LISTED} more"
