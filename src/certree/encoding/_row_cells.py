"""Cells: the answers of rows to tests, in the form that the engine chose.

There are two forms: a column of zeros and ones per test, and ranks. Both have `shape`, `nbytes`, a
length, and ``cells[rows, tests]``. What else is done with cells is here, for either form.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ._ranks import RankedColumns

__all__ = [
    "Cells",
    "as_columns",
    "constant_within",
    "find_test",
    "has_columns",
    "leave_out",
    "take_rows",
    "with_tests",
]

Cells = NDArray[np.uint8] | RankedColumns
"""Answers of rows to tests."""

# Counting so many answers takes some milliseconds.
_VALUES_AT_ONCE = 2**22


def has_columns(cells: Cells) -> bool:
    """Return whether there is a column per test."""
    return not isinstance(cells, RankedColumns)


def as_columns(cells: Cells) -> NDArray[np.uint8]:
    """Return a column per test, which every search knows."""
    return cells.expand() if isinstance(cells, RankedColumns) else cells


def take_rows(cells: Cells, rows: NDArray[np.intp]) -> Cells:
    """Return the answers of some rows."""
    if isinstance(cells, RankedColumns):
        return cells.rows(rows)
    # Columns lie one after the other in memory, so each is read by itself.
    taken: NDArray[np.uint8] = cells.T.take(rows, axis=1).T
    return taken


def leave_out(cells: Cells, hidden: NDArray[np.bool_]) -> Cells:
    """Return the cells without some tests."""
    if isinstance(cells, RankedColumns):
        kept = cells.without(hidden)
        if kept is not None:
            return kept
    return np.asfortranarray(as_columns(cells)[:, ~hidden])


def with_tests(cells: Cells, answers: Sequence[NDArray[np.uint8]], sources: Sequence[int]) -> Cells:
    """Return the cells with further tests, given the answers of all rows and the raw columns."""
    if not answers:
        return cells
    if isinstance(cells, RankedColumns):
        return cells.with_answers(answers, sources)
    return np.asfortranarray(np.column_stack([cells, *answers]))


def find_test(
    cells: Cells, answers: NDArray[np.bool_], source: int, places: Sequence[int]
) -> int | None:
    """Return the first test of a raw column that has these answers; None if there is none.

    Parameters
    ----------
    cells : Cells
        The answers of the rows to all tests.
    answers : bool array
        The answer of each row; not all of them are the same.
    source : int
        The raw column.
    places : sequence of int
        Where its tests are.
    """
    if isinstance(cells, RankedColumns):
        return cells.find(answers, source)
    asked = answers.view(np.uint8)
    return next((place for place in places if np.array_equal(cells[:, place], asked)), None)


def constant_within(cells: Cells, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which tests divide the rows, but no group of them."""
    if isinstance(cells, RankedColumns):
        return cells.constant_within(codes)
    n_rows, n_tests = cells.shape
    groups = [np.flatnonzero(codes == group) for group in np.unique(codes)]
    held = np.empty((len(groups), n_tests), dtype=np.int64)
    # Columns lie one after the other in memory, so some at a time are turned and read along rows.
    at_once = max(_VALUES_AT_ONCE // max(n_rows, 1), 1)
    for start in range(0, n_tests, at_once):
        turned = cells[:, start : start + at_once].T
        for group, members in enumerate(groups):
            counts = turned.take(members, axis=1).sum(axis=1, dtype=np.int64)
            held[group, start : start + at_once] = counts
    sizes = np.array([len(members) for members in groups])[:, None]
    decided = ((held == 0) | (held == sizes)).all(axis=0)
    # A test with a single outcome does not divide the rows.
    total = held.sum(axis=0)
    return np.asarray(decided & (total > 0) & (total < n_rows))
