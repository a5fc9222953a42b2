"""The answers of many tests at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._cuts import as_ordered
from ._table import Table
from ._tests import Category, Level, Test, Threshold, find_numbers, is_missing, level_ranks
from ._time_tests import TimeThreshold
from ._times import is_time, ticks

__all__ = ["encode_tests"]

# So many answers take some milliseconds.
_ANSWERS_AT_ONCE = 2**24

T = TypeVar("T")


class NoTimeLeftError(Exception):
    """There is no time to answer all tests."""


def encode_tests(
    tests: Sequence[Test], table: Table, must_stop: Callable[[], bool] | None = None
) -> NDArray[np.uint8]:
    """Answer all tests for all rows.

    Tests of a kind on the same column are answered together: a column is searched once among its
    thresholds or categories, and each test is then one comparison of small integers.

    Parameters
    ----------
    tests : sequence of Test
        Binary tests, in any order.
    table : Table
        The rows.
    must_stop : callable, optional
        Asked before every column, and now and then within columns of many tests.

    Returns
    -------
    ndarray of uint8, shape (n_rows, n_tests), in Fortran order
        1 where the test holds, else 0.

    Raises
    ------
    NoTimeLeftError
        If `must_stop` says so.
    """
    result = np.empty((table.n_rows, len(tests)), dtype=np.uint8, order="F")
    groups: dict[tuple[int, type[Test]], list[int]] = {}
    tests = list(tests)  # one by one, a list of thresholds takes a millisecond for each
    for position, test in enumerate(tests):
        groups.setdefault((test.feature, type(test)), []).append(position)
    for (_, cls), positions in groups.items():
        if must_stop is not None and must_stop():
            raise NoTimeLeftError
        group = [tests[position] for position in positions]
        column = group[0].column_of(table)
        done = False
        if len(group) > 1 and cls in (Threshold, Level, TimeThreshold):
            done = _encode_ordered(group, positions, column, result, must_stop)
        elif len(group) > 1 and cls is Category:
            done = _encode_categories(group, positions, column, result, must_stop)
        if not done:
            for test, position in in_time(zip(group, positions, strict=True), column, must_stop):
                result[:, position] = test.holds(column)
    return result


def in_time(tests: Iterable[T], column: Sized, must_stop: Callable[[], bool] | None) -> Iterator[T]:
    """Yield what tests of a column are answered with, for as long as there is time.

    Parameters
    ----------
    tests : iterable
        One item per test.
    column : sized
        The rows.
    must_stop : callable or None
        Asked whenever some milliseconds of answers were given.

    Raises
    ------
    NoTimeLeftError
        If `must_stop` says so.
    """
    between = max(_ANSWERS_AT_ONCE // max(len(column), 1), 1)
    for place, item in enumerate(tests):
        if must_stop is not None and place % between == between - 1 and must_stop():
            raise NoTimeLeftError
        yield item


def _encode_ordered(
    group: Sequence[Any],
    positions: list[int],
    column: NDArray[Any],
    result: NDArray[np.uint8],
    must_stop: Callable[[], bool] | None,
) -> bool:
    """Answer thresholds or levels of one column together; return whether it was possible."""
    # Thresholds, and levels of the same order, suit the same columns; forms of times may differ.
    for test in group if isinstance(group[0], TimeThreshold) else group[:1]:
        test.check(column)
    if isinstance(group[0], Level):
        if any(test.levels != group[0].levels for test in group):
            return False
        none = len(group[0].levels)
        bins, ranks = level_ranks(group[0].levels, column), [test.rank for test in group]
    elif isinstance(group[0], TimeThreshold):
        if not is_time(column):
            return False
        found, bins = _rank_times(group, column)
        none, ranks = len(group), found.tolist()
    else:
        cuts, found = np.unique([test.threshold for test in group], return_inverse=True)
        none, ranks = len(cuts), found.tolist()
        # The number of cuts below x: x <= cuts[r] if and only if it is at most r. NaN sorts last.
        bins = np.searchsorted(cuts, as_ordered(column), side="left")
    bins = bins.astype(np.min_scalar_type(none))
    # Missing values that hold lie below the first cut.
    filled = np.where(is_missing(column), bins.dtype.type(0), bins) if _any_holds(group) else bins
    view = result.view(np.bool_)
    asked = zip(group, positions, ranks, strict=True)
    for test, position, rank in in_time(asked, column, must_stop):
        side = filled if test.missing else bins
        np.less_equal(side, bins.dtype.type(rank), out=view[:, position])
    return True


def _rank_times(
    group: Sequence[TimeThreshold], column: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rank of each threshold, and for each time the number of thresholds below it."""
    limits = np.array([test.limit_for(column) for test in group], dtype=object)
    limits = np.clip(limits, -(2**63), 2**63 - 1).astype(np.int64)
    cuts, found = np.unique(limits, return_inverse=True)
    bins = np.searchsorted(cuts, ticks(column)[0], side="left")
    # Missing values are the least integers, and fail all tests.
    return found, np.where(is_missing(column), len(group), bins)


def _any_holds(group: Sequence[Any]) -> bool:
    """Return whether missing values hold for some of the tests."""
    return any(test.missing for test in group)


def _encode_categories(
    group: Sequence[Any],
    positions: list[int],
    column: NDArray[Any],
    result: NDArray[np.uint8],
    must_stop: Callable[[], bool] | None,
) -> bool:
    """Answer categories of one column together; return whether that was possible."""
    codes = {test.value: code for code, test in enumerate(group)}
    is_text = column.dtype == object
    if len(codes) < len(group) or any(isinstance(value, str) != is_text for value in codes):
        return False
    none = len(codes)
    if is_text:
        found = np.fromiter((codes.get(v, none) for v in column), np.intp, count=len(column))
    else:
        found = find_numbers(np.array(list(codes), dtype=np.float64), column)
    found = found.astype(np.min_scalar_type(none))
    view = result.view(np.bool_)
    for code, position in in_time(enumerate(positions), column, must_stop):
        np.equal(found, found.dtype.type(code), out=view[:, position])
    return True
