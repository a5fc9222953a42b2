"""How many tests fit the time and memory of a search, and which ones are left out.

A table with many different numbers has too many cut points to answer for every row, or to compare
in pairs: 20 columns of 20 000 different numbers give 400 000 tests. This module estimates how many
fit, from a few measured rates. The search also checks its budget itself.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._asked import AskedCuts
from ._choose import without_needless
from ._cuts import AUTO_THRESHOLDS, Counted, as_ordered, count_cuts, count_values
from ._subsets import MOST_GROUPS
from ._table import Table
from ._tests import Category, Level, Test, Threshold, is_missing
from ._time_tests import TimeThreshold

__all__ = ["BudgetLeft", "Cap", "Pace"]

# Bytes of a test in a row, of a test, and of a pair of tests (the core counts rows in pairs): the
# least that they take, and what a search needs to make progress.
_LEAST_BYTES = (1.25, 100.0, 4.0)
_USUAL_BYTES = (2.0, 300.0, 32.0)
# The same in seconds; that of a pair is for 64 rows.
_LEAST_SECONDS = (4e-9, 5e-6, 0.0)
_USUAL_SECONDS = (12e-9, 25e-6, 3e-10)
# Answering tests and counting pairs once may take this share of the time; the rest is for the
# search.
_SHARE = 0.5

# Counting the values of columns may take so many seconds, even if the limit is shorter.
_UNNOTICED = 0.2
# If fewer seconds than this are left, the time is over.
_MOMENT = 0.01


@dataclass(frozen=True)
class BudgetLeft:
    """The budget that is left of a call when its table has been read.

    Attributes
    ----------
    seconds : float or None
        Time left; None: no limit.
    memory : int or None
        Bytes; None: no limit.
    is_interrupted : bool
        Whether Ctrl-C has ended the time.
    has_pairs : bool
        Whether trees may have a test below another.
    """

    seconds: float | None
    memory: int | None
    is_interrupted: bool = False
    has_pairs: bool = True

    def most_tests(self, n_rows: int, n_tests: int) -> tuple[int, str]:
        """Return how many of these tests fit, and the status of the budget that binds, or ""."""
        seconds = 0.0 if self.is_interrupted else self.seconds
        most, stopped_by = n_tests, ""
        if self.memory is not None and self._bytes(n_rows, n_tests, _LEAST_BYTES) > self.memory:
            most = largest(
                lambda n: self._bytes(n_rows, n, _USUAL_BYTES) <= (self.memory or 0), most
            )
            stopped_by = "memory_limit"
        if seconds is not None and self._seconds(n_rows, n_tests, _LEAST_SECONDS) > seconds:
            in_time = largest(
                lambda n: self._seconds(n_rows, n, _USUAL_SECONDS) <= _SHARE * (seconds or 0.0),
                most,
            )
            if in_time < most or not stopped_by:
                most, stopped_by = in_time, "time_limit"
        if stopped_by and self.is_interrupted:
            stopped_by = "interrupted"
        return most, stopped_by

    def fits_ranks(self, n_rows: int, n_features: int, n_tests: int) -> bool:
        """Return whether ranks of so many features fit the memory."""
        # Ranks, the values beside the cut points, and sorting a column.
        needed = 4 * n_rows * n_features + 8 * n_tests + 32 * n_rows
        return self.memory is None or needed <= self.memory

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.is_interrupted or (self.seconds is not None and self.seconds < _MOMENT)

    def cap(
        self,
        table: Table,
        are_categories: Sequence[bool],
        cuts: Sequence[AskedCuts],
        weights: NDArray[np.int64] | None,
        later: Callable[[], BudgetLeft] | None = None,
        *,
        min_category_rows: int = 1,
        category_tests: str = "one",
        without: Collection[int] = (),
    ) -> Cap | None:
        """Return how many cut points or categories columns may have if not all of them fit.

        Parameters
        ----------
        table : Table
            The rows that count.
        are_categories : sequence of bool
            Which columns hold categories.
        cuts : sequence of AskedCuts
            The cut points of each column.
        weights : ndarray of int64, optional
            Weights of the rows.
        later : callable, optional
            What is left when the numbers have been looked at.
        min_category_rows : int
            Categories of fewer rows are one choice.
        category_tests : str
            What is asked of categories; sets of them are all kept.
        without : collection of int
            Columns whose values have no tests.
        """
        # Counting the different numbers takes time, and is useless where all cut points fit.
        most_cuts = min(table.n_rows, max(map(_most_cuts, cuts)))
        has_categories = any(are_categories) or "ordered" in table.kinds
        per_column = 2 * (table.n_rows if has_categories else most_cuts) + 1
        if not self.most_tests(table.n_rows, table.n_columns * per_column)[1]:
            return None
        start = perf_counter()
        asked, sides, known = [], [], {}
        uncounted: dict[int, int] = {}
        n_kept = 0
        # To sort all numbers once more takes time, to keep them memory.
        is_kept = self.memory is None or 32 * table.n_rows * table.n_columns <= self.memory
        for i, is_category in enumerate(are_categories):
            if i in without:
                asked.append(0)
                sides.append(1)
                continue
            if later is not None and self._must_leave_out(perf_counter() - start, later()):
                uncounted[i] = int(_has_values(table.column(i)))
                asked.append(0)
                sides.append(1)
                continue
            found = _count_choices(table, i, is_category, cuts[i], weights, min_category_rows)
            n_choices, has_missing = found.n_choices, found.has_missing
            is_small = n_choices + 1 + has_missing <= MOST_GROUPS
            if is_category and is_small and category_tests == "subsets":
                n_kept += 2 ** (n_choices + has_missing)
                n_choices = 0
            elif is_category:
                n_choices = found.count_categories(category_tests)
            asked.append(n_choices)
            # Missing values may join either side of a cut.
            sides.append(1 if is_category else 1 + has_missing)
            if is_kept and found.counted is not None:
                known[i] = found.counted
        n_tests = n_kept + sum(n * k for n, k in zip(asked, sides, strict=True))
        left = self if later is None else later()
        most, stopped_by = left.most_tests(table.n_rows, n_tests)
        per_column = most_per_column(asked, most - n_kept, sides)
        if any(uncounted.values()):
            status = "interrupted" if left.is_interrupted else "time_limit"
            return Cap(per_column, stopped_by or status, asked, known, uncounted)
        if not stopped_by or per_column >= max(asked):
            return None
        return Cap(per_column, stopped_by, asked, known)

    def _must_leave_out(self, spent: float, left: BudgetLeft) -> bool:
        """Return whether to stop counting values, so that the search has time left."""
        if self.seconds is None:
            return left.is_over
        return left.is_interrupted or spent > max(_SHARE * self.seconds, _UNNOTICED)

    def _bytes(self, n_rows: int, n_tests: int, rates: tuple[float, float, float]) -> float:
        pairs = n_tests**2 if self.has_pairs else 0
        return rates[0] * n_rows * n_tests + rates[1] * n_tests + rates[2] * pairs

    def _seconds(self, n_rows: int, n_tests: int, rates: tuple[float, float, float]) -> float:
        return self._bytes(n_rows, n_tests, (rates[0], rates[1], rates[2] * n_rows / 64))


class Pace:
    """Whether a loop over columns can end in time, from how long the first ones took.

    Work that will not be done in time is better not begun: what to do without it takes time, too.

    Parameters
    ----------
    budget : callable
        What is left of it.
    n_columns : int
        Number of columns.
    """

    def __init__(self, budget: Callable[[], BudgetLeft], n_columns: int) -> None:
        self._budget = budget
        self._n_columns = n_columns
        self._n_done = -1
        self._start = perf_counter()

    def must_stop(self) -> bool:
        """Return whether to give up; to be asked before every column."""
        self._n_done += 1
        left = self._budget()
        if left.is_over or left.seconds is None or self._n_done == 0:
            return left.is_over
        each = (perf_counter() - self._start) / self._n_done
        return each * (self._n_columns - self._n_done) > left.seconds


def largest(fits: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` that fits; smaller numbers fit, too, and 0 always."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if fits(middle):
            low = middle
        else:
            most = middle - 1
    return low


def most_per_column(n_choices: list[int], most: int, n_tests: list[int] | None = None) -> int:
    """Return the largest number of choices per column for this many tests; at least one.

    A choice gives one test, or as many as `n_tests` says for its column.
    """
    each = [1] * len(n_choices) if n_tests is None else n_tests
    top = max(n_choices, default=1)
    return max(
        largest(
            lambda k: sum(min(n, k) * m for n, m in zip(n_choices, each, strict=True)) <= most, top
        ),
        1,
    )


def thin_out(tests: Sequence[Test], most: int) -> tuple[list[Test], dict[int, int]]:
    """Return fewer tests, and how many are left out of each column.

    Cut points of a column are taken at even distances, with all of their sides for missing values;
    other tests are kept.

    Parameters
    ----------
    tests : sequence of Test
        Those of a column by rising cut points.
    most : int
        How many there may be, about; every column keeps one at least.
    """
    cuts: dict[int, dict[float | str, int]] = {}
    tests = list(tests)  # a list of thresholds makes them anew each time
    for test in tests:
        if isinstance(test, Threshold | Level | TimeThreshold):
            own = cuts.setdefault(test.feature, {})
            own[_cut(test)] = own.get(_cut(test), 0) + 1
    n_cuts = [len(own) for own in cuts.values()]
    sides = [max(own.values()) for own in cuts.values()]
    per_column = most_per_column(n_cuts, most, sides)
    kept: set[tuple[int, float | str]] = set()
    for feature, own in cuts.items():
        values, n = list(own), min(len(own), per_column)
        kept |= {(feature, values[(2 * k + 1) * len(values) // (2 * n)]) for k in range(n)}
    left_out: dict[int, int] = {}
    result = []
    for test in tests:
        if (
            isinstance(test, Threshold | Level | TimeThreshold)
            and (test.feature, _cut(test)) not in kept
        ):
            left_out[test.feature] = left_out.get(test.feature, 0) + 1
        else:
            result.append(test)
    return result, left_out


def _cut(test: Threshold | Level | TimeThreshold) -> float | str:
    return test.threshold if isinstance(test, Threshold) else test.value


@dataclass(frozen=True)
class Cap:
    """How many cut points or categories a column may have, why, and how many each one has.

    Of columns of numbers, also what was counted to know that, if there is memory for it. Columns
    that there was no time to count have no test; `uncounted` says how many they have at least.
    """

    most: int
    stopped_by: str
    asked: list[int]
    known: Mapping[int, Counted]
    uncounted: Mapping[int, int] = field(default_factory=dict)

    def count_left_out(self, index: int, found: Sequence[Test]) -> int:
        """Return how many tests of a column are missing among those found."""
        kinds = (Threshold, Category, Level, TimeThreshold)
        of_choices = [test for test in found if isinstance(test, kinds)]
        if self.asked[index] <= self.most or not of_choices:
            return 0
        kept = {getattr(test, "threshold", getattr(test, "value", None)) for test in of_choices}
        # Where values are missing, a choice may give more than one test.
        return (self.asked[index] - len(kept)) * (len(of_choices) // len(kept))


class _Choices(NamedTuple):
    """How many cut points or categories a column has, and of numbers also which.

    Rare categories are one choice beside the others, which is always kept.
    """

    n_choices: int
    has_missing: bool
    counted: Counted | None = None
    has_rare: bool = False

    def count_categories(self, category_tests: str) -> int:
        """Return how many tests ask for one category."""
        tests = [True] * self.n_choices + [False] * (self.has_rare and self.n_choices > 0)
        return sum(without_needless(tests, self.has_missing, category_tests))


def _count_choices(
    table: Table,
    index: int,
    is_category: bool,
    cuts: AskedCuts,
    weights: NDArray[np.int64] | None,
    min_category_rows: int = 1,
) -> _Choices:
    """Count the cut points or categories of a column."""
    # A column of a matrix is spread over its memory, and read several times here.
    column = np.ascontiguousarray(table.column(index))
    absent = is_missing(column)
    has_missing = bool(absent.any())
    if has_missing:
        column = column[~absent]
        weights = None if weights is None else weights[~absent]
    if is_category or column.dtype in (object, np.bool_) or not len(column):
        counts = Counter(column.tolist()).values()
        n_frequent = sum(count >= min_category_rows for count in counts)
        return _Choices(n_frequent, has_missing, has_rare=n_frequent < len(counts))
    counted = count_values(as_ordered(column), weights)
    return _Choices(count_cuts(counted, cuts.limit, cuts.points), has_missing, counted)


def _has_values(column: NDArray[Any]) -> bool:
    """Return whether a column has two different values, of which one may be missing."""
    absent = is_missing(column)
    if absent.any():
        return not absent.all()
    return bool((column[1:] != column[0]).any())


def _most_cuts(cuts: AskedCuts) -> int:
    """Return how many cut points a column of any length may have."""
    if cuts.points is not None:
        return len(cuts.points)
    return sys.maxsize if cuts.limit is None else cuts.limit or AUTO_THRESHOLDS
