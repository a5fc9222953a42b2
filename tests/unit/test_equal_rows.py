"""Equal rows are merged, whatever their width and weights."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

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
