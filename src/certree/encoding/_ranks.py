"""Ranked columns: tests of a column that have an order, as one row of small integers.

The tests ``x <= t`` of a column are nested: each holds wherever an earlier one does. So one number
per row answers all of them: the rank of the row's value among the cut points. Ranks take four bytes
per row and column, whatever the number of cut points, while answers take one byte per cut point.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cuts import as_ordered
from ._encode import NoTimeLeftError, encode_tests, in_time
from ._table import Table
from ._test_list import CutTests, TestList
from ._tests import Level, Missing, Test, is_missing, level_ranks

__all__ = ["MOST_TESTS", "RankedColumns", "count_ranks", "rank_columns", "rank_values"]

MOST_TESTS = 2**31 - 1
"""Tests of ranked columns have numbers of 32 bits."""

# From so many rows or cut points on, sorting by digits is faster than by values, and sorting a
# column than searching each of its values.
_MANY = 1000

# The range of a column is cut into so many steps, which 32 bits hold after any rounding.
_STEPS = 4294967040.0


@dataclass(frozen=True, eq=False)
class RankedColumns:
    """The answers of all rows to all tests, as ranks.

    It reads like the array of answers with a column per test: ``columns[rows, tests]`` and `shape`.

    A feature is a run of tests, each of which holds wherever the one before it holds. The test at
    position p holds where the rank is at most p. Positions follow the list of tests, except in
    features that are `turned`: there the last test, ``x is missing``, has the first position.

    Attributes
    ----------
    ranks : int32 array of shape (n_features, n_rows)
        The rank of each row.
    n_ranks : int32 array of shape (n_features,)
        One more than the number of tests of each feature.
    turned : int array of shape (n_features,)
        1 for features whose last test has the first position, otherwise 0.
    sources : int array of shape (n_features,)
        The raw column of each feature.
    """

    ranks: NDArray[np.int32]
    n_ranks: NDArray[np.int32]
    turned: NDArray[np.intp]
    sources: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of tests."""
        return self.ranks.shape[1], int(self._offsets[-1])

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.ranks.shape[1])

    @property
    def nbytes(self) -> int:
        """Memory of the ranks."""
        return self.ranks.nbytes

    @cached_property
    def _offsets(self) -> NDArray[np.intp]:
        """The first test of each feature, and the number of all tests."""
        return np.concatenate([[0], np.cumsum(self.n_ranks - 1, dtype=np.intp)]).astype(np.intp)

    def __getitem__(self, key: tuple[Any, Any]) -> NDArray[np.bool_]:
        """Return the answers of rows to tests, one test for each row or one for all."""
        rows, tests = key
        features, places = self._find(np.asarray(tests, dtype=np.intp))
        positions = (places + self.turned[features]) % (self.n_ranks[features] - 1)
        return np.asarray(self.ranks[features, rows] <= positions)

    def _find(self, tests: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the feature of each test, and the place of the test among those of the feature."""
        features = np.searchsorted(self._offsets, tests, side="right") - 1
        return features, tests - self._offsets[features]

    def tests_at(self, positions: NDArray[Any]) -> NDArray[np.int32]:
        """Return the tests at positions that are counted through all features; -1 stays -1."""
        if self.shape[1] == 0:  # trees are leaves
            return np.full(len(positions), -1, dtype=np.int32)
        features, places = self._find(np.maximum(positions, 0).astype(np.intp))
        turned = (places - self.turned[features]) % (self.n_ranks[features] - 1)
        return np.where(positions < 0, -1, self._offsets[features] + turned).astype(np.int32)

    def find(self, answers: NDArray[np.bool_], source: int) -> int | None:
        """Return the first test of a raw column that has these answers; None if there is none.

        Parameters
        ----------
        answers : bool array
            The answer of each row; not all of them are the same.
        source : int
            The raw column.
        """
        for feature in np.flatnonzero(self.sources == source).tolist():
            ranks = self.ranks[feature]
            highest = int(ranks[answers].max())
            if highest < int(ranks[~answers].min()):
                return int(self.tests_at(self._offsets[[feature]] + highest)[0])
        return None

    def with_answers(
        self, answers: Sequence[NDArray[Any]], sources: Sequence[int]
    ) -> RankedColumns:
        """Return the columns with further tests: the answers of all rows, and the raw columns."""
        n_more = len(answers)
        ranks = np.concatenate([self.ranks, np.array(answers) == 0], dtype=np.int32)
        n_ranks = np.concatenate([self.n_ranks, np.full(n_more, 2, dtype=np.int32)])
        turned = np.append(self.turned, np.zeros(n_more, dtype=np.intp))
        return RankedColumns(ranks, n_ranks, turned, np.append(self.sources, sources))

    def constant_within(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which tests divide the rows, but no group of them."""
        found = np.zeros(self.shape[1], dtype=bool)
        for feature, n_ranks in enumerate(self.n_ranks.tolist()):
            ranks, positions = self.ranks[feature], np.arange(n_ranks - 1)
            own = (positions >= ranks.min()) & (positions < ranks.max())
            for group in np.unique(codes):
                of_group = ranks[codes == group]
                own &= (positions < of_group.min()) | (positions >= of_group.max())
            found[self.tests_at(self._offsets[feature] + positions)] = own
        return found

    def without(self, hidden: NDArray[np.bool_]) -> RankedColumns | None:
        """Return the columns without some tests; None if a feature would keep a part of its own."""
        ends = zip(self._offsets[:-1].tolist(), self._offsets[1:].tolist(), strict=True)
        parts = [hidden[begin:end] for begin, end in ends]
        kept = np.array([not part.any() for part in parts], dtype=bool)
        if any(part.any() and not part.all() for part in parts):
            return None
        return RankedColumns(
            self.ranks[kept], self.n_ranks[kept], self.turned[kept], self.sources[kept]
        )

    def rows(self, members: NDArray[np.intp]) -> RankedColumns:
        """Return the answers of some rows."""
        return replace(self, ranks=np.ascontiguousarray(self.ranks[:, members]))

    def expand(self) -> NDArray[np.uint8]:
        """Return the answers with one column per test, in Fortran order."""
        result = np.empty(self.shape, dtype=np.uint8, order="F")
        view, places = result.view(np.bool_), self.tests_at(np.arange(self.shape[1]))
        for feature, n_ranks in enumerate(self.n_ranks.tolist()):
            for position in range(n_ranks - 1):
                place = places[self._offsets[feature] + position]
                np.less_equal(self.ranks[feature], position, out=view[:, place])
        return result


@dataclass(frozen=True)
class _Feature:
    """A run of nested tests of one column; with `turned`, ``x is missing`` comes before them."""

    tests: Sequence[Test]
    turned: bool = False

    @property
    def n_ranks(self) -> int:
        return len(self.tests) + 1 + self.turned

    @property
    def is_ordered(self) -> bool:
        """Whether the tests are thresholds or levels; if not, there is just one."""
        return isinstance(self.tests, CutTests) or _is_level(self.tests[0])

    @property
    def missing(self) -> bool:
        """Whether missing values hold."""
        first = self.tests if isinstance(self.tests, CutTests) else self.tests[0]
        return bool(getattr(first, "missing", False))

    @property
    def column(self) -> int:
        """The column of the table."""
        return self.tests.feature if isinstance(self.tests, CutTests) else self.tests[0].feature


def _features(tests: TestList) -> list[_Feature]:
    """Return the features of a list of tests, in its order."""
    found: list[_Feature] = []
    for run in _runs(tests):
        before = found[-1] if found else None
        # A cut point takes time to compute, so none is made to look at its kind.
        first = None if isinstance(run, CutTests) else run[0]
        if isinstance(first, Missing) and before is not None and _joins(before, first):
            found[-1] = replace(before, turned=True)
        else:
            found.append(_Feature(run))
    return found


def _runs(tests: TestList) -> Iterator[Sequence[Test]]:
    """Yield the runs of nested tests; most are single tests, or the cut points of a column."""
    for part in tests.parts:
        if isinstance(part, CutTests):
            yield part
            continue
        for (_, _, is_level), run in groupby(part, lambda test: (*_side(test), _is_level(test))):
            group = list(run)
            yield from ([group] if is_level else ([test] for test in group))


def _side(test: Test) -> tuple[int, bool]:
    return test.feature, bool(getattr(test, "missing", False))


def _is_level(test: Test) -> bool:
    return isinstance(test, Level)


def _joins(before: _Feature, missing: Test) -> bool:
    """Return whether a test for missing values may come before the tests of a feature."""
    return before.is_ordered and before.missing and before.column == missing.feature


def count_ranks(tests: TestList) -> NDArray[np.int32]:
    """Return the number of ranks of each feature that :func:`rank_columns` would make."""
    return np.array([feature.n_ranks for feature in _features(tests)], dtype=np.int32)


def rank_columns(
    tests: TestList,
    table: Table,
    known: dict[int, NDArray[np.int32]] | None = None,
    must_stop: Callable[[], bool] | None = None,
    is_over: Callable[[], bool] | None = None,
) -> RankedColumns:
    """Answer all tests for all rows, as ranks.

    Parameters
    ----------
    tests : TestList
        Tests whose cut points lie between values of the table.
    table : Table
        The rows.
    known : dict, optional
        Ranks of the values of columns all of whose gaps have a cut point; emptied on the way.
    must_stop : callable, optional
        Asked before every column.
    is_over : callable, optional
        Asked now and then within a column of many tests.

    Raises
    ------
    NoTimeLeftError
        If one of these says so.
    """
    features = _features(tests)
    ranks = np.empty((len(features), table.n_rows), dtype=np.int32)
    known = {} if known is None else known
    for column, group in groupby(enumerate(features), lambda pair: pair[1].column):
        if must_stop is not None and must_stop():
            raise NoTimeLeftError
        single: dict[int, Test] = {}
        for place, feature in group:
            if feature.is_ordered:
                _rank(feature, table, known, ranks[place])
            else:
                single[place] = feature.tests[0]
        # Each of the others has two ranks: where it holds, and where it does not.
        answers = encode_tests(list(single.values()), table, is_over)
        asked = zip(single, answers.T, strict=True)
        for place, answer in in_time(asked, range(table.n_rows), is_over):
            np.equal(answer, 0, out=ranks[place], casting="unsafe")
        known.pop(column, None)
    n_ranks = np.array([feature.n_ranks for feature in features], dtype=np.int32)
    turned = np.array([feature.turned for feature in features], dtype=np.intp)
    sources = np.array([feature.column for feature in features], dtype=np.intp)
    return RankedColumns(ranks, n_ranks, turned, sources)


def _rank(
    feature: _Feature, table: Table, known: Mapping[int, NDArray[np.int32]], out: NDArray[np.int32]
) -> None:
    """Write the rank of each row by tests that have an order."""
    column = table.column(feature.column)
    absent = is_missing(column)
    if not absent.any():
        out[:] = _present_ranks(feature.tests, column, known)
        return
    present = ~absent
    out[present] = _present_ranks(feature.tests, column[present], known)
    # Missing values fail all tests, or hold in all; if turned, their own test comes first.
    out[present] += feature.turned
    out[absent] = 0 if feature.missing else len(feature.tests)


def _present_ranks(
    tests: Sequence[Any], column: NDArray[Any], known: Mapping[int, NDArray[np.int32]]
) -> NDArray[Any]:
    """Return the ranks of values that are not missing: how many of the tests each fails."""
    if not isinstance(tests, CutTests):
        return np.searchsorted([test.rank for test in tests], level_ranks(tests[0].levels, column))
    if tests.feature in known:
        return known[tests.feature]
    low = tests.cuts.low
    if tests.cuts.gaps is None and len(low) > _MANY:
        return rank_values(column)[1]
    return np.searchsorted(low, as_ordered(column))


def rank_values(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the different numbers in increasing order, and the rank of each row among them."""
    numbers = np.ascontiguousarray(as_ordered(column))
    order = _order_of(numbers)
    numbers = numbers[order]
    differs = numbers[1:] != numbers[:-1]
    ranks = np.zeros(len(numbers), dtype=np.int32)
    # Zero and minus zero are equal, so they have one rank.
    ranks[order[1:]] = np.cumsum(differs, dtype=np.int32)
    return numbers[np.concatenate([[True], differs])], ranks


def _order_of(numbers: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows by rising value: two digits of 16 bits put almost all of them in order."""
    if len(numbers) < _MANY or numbers.dtype != np.float64:
        return np.argsort(numbers)
    low, high = float(numbers.min()), float(numbers.max())
    scale = _STEPS / (high - low) if 0 < high - low < math.inf else math.inf
    if scale == math.inf:
        return np.argsort(numbers)
    digits = ((numbers - low) * scale).astype(np.uint32).view(np.uint16).reshape(-1, 2)
    lower, upper = (1, 0) if sys.byteorder == "big" else (0, 1)
    # NumPy sorts integers of 16 bits by counting, in linear time.
    order = np.argsort(digits[:, lower], kind="stable")
    order = order[np.argsort(digits[order, upper], kind="stable")]
    numbers = numbers[order]
    if (numbers[1:] < numbers[:-1]).any():
        # Few rows are out of place, and a stable sort makes use of runs that are in order.
        order = order[np.argsort(numbers, kind="stable")]
    return order
