"""Equal rows are merged, whatever their width and weights."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree.encoding._row_cells import take_rows
from certree.engine import _equal_rows
from certree.engine._equal_rows import added_up, merge_equal

# One table of counts; numbers that are sorted; rows that no number of 64 bits holds.
WIDTHS = (0, 5, 40, 100)


def _rows(width: int, n_kinds: int = 3) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    random = np.random.default_rng(width)
    some = random.integers(0, 2, (20, width), dtype=np.uint8)
    return random.integers(0, n_kinds, 300), some[random.integers(0, len(some), 300)]


def _expected(
    kinds: NDArray[np.int64], columns: NDArray[np.uint8], weights: list[int]
) -> Counter[tuple[int, ...]]:
    """Return the weight of each row, kind and answers, in plain Python."""
    found: Counter[tuple[int, ...]] = Counter()
    for kind, answers, weight in zip(kinds.tolist(), columns.tolist(), weights, strict=True):
        found[(kind, *answers)] += weight
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("largest", [5, 2**54])
def test_every_row_that_differs_is_left_once_with_all_its_weight(width: int, largest: int) -> None:
    kinds, columns = _rows(width)
    weights = np.random.default_rng(1).integers(1, largest, len(kinds))
    merged = merge_equal(kinds, 3, columns, weights, None)
    assert merged is not None
    rows = [tuple(row) for row in np.column_stack([merged.kinds, merged.columns]).tolist()]
    assert len(set(rows)) == len(rows)
    for given, sums in zip((weights.tolist(), [1] * len(kinds)), merged.sums, strict=True):
        found = dict(zip(rows, sums.tolist(), strict=True))
        assert found == _expected(kinds, columns, given)


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_without_weights_are_counted(width: int) -> None:
    kinds, columns = _rows(width)
    merged = merge_equal(kinds, 3, columns, None)
    assert merged is not None
    rows = map(tuple, np.column_stack([merged.kinds, merged.columns]).tolist())
    found = dict(zip(rows, merged.sums[0].tolist(), strict=True))
    assert found == _expected(kinds, columns, [1] * len(kinds))


@pytest.mark.parametrize("kind", [np.int64, object])
def test_sums_beyond_the_integers_of_a_double_are_exact(kind: Any) -> None:
    weights = np.array([2**53, 1, 2**53 + 1, 2], dtype=kind)
    assert added_up(np.array([0, 0, 1, 1]), weights, 3).tolist() == [2**53 + 1, 2**53 + 3, 0]


def test_wide_rows_that_nearly_all_differ_are_left_alone() -> None:
    """To copy and compare thousands of columns took many times the time limit."""
    kinds, columns = _rows(100)
    assert merge_equal(np.arange(len(kinds)), len(kinds), columns, None) is None


def test_the_clock_is_looked_at_while_rows_are_mixed_and_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds, columns = _rows(100)
    asked = most = 0

    class Clock:
        def status(self) -> str | None:
            nonlocal asked
            asked += 1
            return "time_limit" if asked == most else None

    monkeypatch.setattr(_equal_rows, "current", Clock)
    monkeypatch.setattr(_equal_rows, "_VALUES_AT_ONCE", len(kinds) * 10)
    for last in range(1, 22):
        asked, most = 0, last
        assert (merge_equal(kinds, 3, columns, None) is None) == (last <= 20)


def test_rows_are_taken_column_by_column() -> None:
    columns = np.asfortranarray(_rows(100)[1])
    rows = np.array([7, 3, 3, 250])
    taken = take_rows(columns, rows)
    assert isinstance(taken, np.ndarray)
    assert taken.flags.f_contiguous
    assert np.array_equal(taken, columns[rows])
