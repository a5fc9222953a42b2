"""Equal rows: rows of the same kind with the same answers to all tests count as one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.encoding._row_cells import Cells, as_columns, has_columns

from ._budget import current

# Kind and answers of a row are one number below this, where they fit.
_MOST_KEYS = 2**63

# Up to here, numbers are counted in a table and not sorted: 0.2 ms and not 0.8 for 20 000 rows.
_TABLE = 2**20

# Mixing so many answers takes some milliseconds.
_VALUES_AT_ONCE = 2**22


class MergedRows(NamedTuple):
    """Rows that all differ.

    Attributes
    ----------
    kinds : int64 array
        The kind of each row.
    columns : uint8 array, in Fortran order
        The answers of each row.
    sums : list of arrays
        What the rows that it stands for weigh together, for each of the weights asked for.
    """

    kinds: NDArray[np.int64]
    columns: NDArray[np.uint8]
    sums: list[NDArray[Any]]


def merge_equal(
    kinds: NDArray[Any], n_kinds: int, cells: Cells, *weights: NDArray[Any] | None
) -> MergedRows | None:
    """Merge rows that are equal.

    Parameters
    ----------
    kinds : int array
        The kind of each row: rows of different kinds stay apart.
    n_kinds : int
        The number of kinds.
    cells : Cells
        The answers of the rows.
    *weights : int array, or None
        What to add up; None: one for each row.

    Returns
    -------
    MergedRows or None
        None if there is no column per test: so many tests tell most rows apart. Also if rows of
        many columns are not half as many then, or if the time of the call ends.
    """
    if not has_columns(cells):
        return None
    columns = as_columns(cells)
    n_keys = n_kinds << columns.shape[1]
    if n_keys > _MOST_KEYS:
        return _merge_wide(kinds, columns, weights)
    keys = kinds.astype(np.int64)
    for column in columns.T:
        keys <<= 1
        keys |= column
    if n_keys <= _TABLE:
        distinct = np.flatnonzero(np.bincount(keys, minlength=n_keys))
        sums = [added_up(keys, each, n_keys)[distinct] for each in weights]
    elif all(each is None for each in weights):
        # Numbers alone are sorted faster than their places, which weights need.
        distinct, counts = np.unique(keys, return_counts=True)
        sums = [counts.astype(np.int64, copy=False) for _ in weights]
    else:
        distinct, places = np.unique(keys, return_inverse=True)
        sums = [added_up(places, each, len(distinct)) for each in weights]
    answers = np.empty((len(distinct), columns.shape[1]), dtype=np.uint8, order="F")
    for place in range(columns.shape[1] - 1, -1, -1):
        answers[:, place] = distinct & 1
        distinct >>= 1
    return MergedRows(distinct, answers, sums)


def _merge_wide(
    kinds: NDArray[Any], columns: NDArray[np.uint8], weights: tuple[NDArray[Any] | None, ...]
) -> MergedRows | None:
    """Merge rows that no number holds."""
    # Odd factors mix the entries into one number; rows of the same number are then compared.
    random = np.random.default_rng(1)
    factors = random.integers(0, 2**62, columns.shape[1] + 1, dtype=np.int64) * 2 + 1
    mixed = kinds * factors[0]
    for place, (column, factor) in enumerate(zip(columns.T, factors[1:], strict=True)):
        if _is_over(place, len(columns)):
            return None
        # As int64: NumPy 1 makes uint64 of a small type and a large number.
        mixed += column.astype(np.int64) * factor
    _, first, places = np.unique(mixed, return_index=True, return_inverse=True)
    left = kinds[first]
    if 2 * len(first) > len(kinds) or not np.array_equal(left[places], kinds):
        return None
    answers = np.empty((len(first), columns.shape[1]), dtype=np.uint8, order="F")
    for place, column in enumerate(columns.T):
        answers[:, place] = column[first]
        if _is_over(place, len(columns)) or not np.array_equal(answers[places, place], column):
            return None
    sums = [added_up(places, each, len(first)) for each in weights]
    return MergedRows(left.astype(np.int64), answers, sums)


def _is_over(place: int, n_rows: int) -> bool:
    """Return whether the time of the call is over, at some of the columns."""
    between = max(_VALUES_AT_ONCE // max(n_rows, 1), 1)
    call = current() if place % between == between - 1 else None
    return call is not None and call.status() is not None


def added_up(places: NDArray[Any], weights: NDArray[Any] | None, n_places: int) -> NDArray[Any]:
    """Return the weight of the rows at each place, exactly."""
    if weights is None:
        return np.bincount(places, minlength=n_places).astype(np.int64, copy=False)
    if weights.dtype != object and int(weights.sum()) < 2**53:  # doubles hold such sums exactly
        return np.bincount(places, weights=weights, minlength=n_places).astype(np.int64)
    total = np.zeros(n_places, dtype=weights.dtype)
    np.add.at(total, places, weights)
    return total
