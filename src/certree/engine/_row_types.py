"""Row types: what rows add to a leaf, as multiples of a few vectors.

Rows of one class have one line of a cost matrix, up to their weight. The core counts the rows of a
type by words of bits, which is much faster than adding up vectors row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._equal_rows import added_up

# With more types than this, rows have vectors of their own.
_MOST_TYPES = 64

# So many rows tell soon that there are too many types.
_SAMPLE = 512

# Up to here, types are not merged to have fewer of them, with weights.
_FEW_TYPES = 4

# A type has one plane of bits for each bit of its weights. Planes take words of 64 rows, and more
# planes than a share of the rows are mostly empty.
_ROWS_PER_PLANE = 2


@dataclass(frozen=True)
class RowTypes:
    """Rows as multiples of a few types: ``values[i] == weights[i] * values_of_types[types[i]]``."""

    types: NDArray[np.int32]
    values: NDArray[np.int64]
    weights: NDArray[np.int64] | None
    totals: NDArray[np.int64]
    """Weight of each type."""

    @property
    def are_few(self) -> bool:
        """Whether counting by type is faster than adding up the vectors of the rows."""
        if len(self.totals) > _MOST_TYPES:
            return False
        heaviest = 1 if self.weights is None else int(self.weights.max())
        n_planes = len(self.totals) * heaviest.bit_length()
        return n_planes * _ROWS_PER_PLANE <= len(self.types)

    def merged(self) -> RowTypes:
        """Return the rows with fewer types, if many of these are multiples of each other."""
        if self.weights is not None or len(self.totals) <= _FEW_TYPES:
            return self
        found = _multiples(self.values)
        if found is None or found.weights is None or 2 * len(found.totals) > len(self.totals):
            return self
        types, weights = found.types[self.types], found.weights[self.types]
        totals = added_up(types.astype(np.intp), weights, len(found.totals))
        return RowTypes(types, found.values, weights, totals)

    def of_types(
        self, by_row: Mapping[str, NDArray[np.int64]]
    ) -> dict[str, NDArray[np.int64]] | None:
        """Return other numbers of the rows by type; None: rows of one type differ in them."""
        found: dict[str, NDArray[np.int64]] = {}
        if by_row and self.weights is not None:
            return None
        place = np.zeros(len(self.totals), dtype=np.intp)
        place[self.types] = np.arange(len(self.types))
        for name, numbers in by_row.items():
            found[name] = numbers[place]
            if not np.array_equal(found[name][self.types], numbers):
                return None
        return found

    def by_row(self) -> NDArray[np.int64]:
        """Return the vector of every row."""
        rows: NDArray[np.int64] = self.values[self.types]
        if self.weights is None:
            return rows
        return rows * self.weights.reshape(-1, *[1] * (rows.ndim - 1))

    def sums(self, places: NDArray[np.intp], n_places: int) -> NDArray[np.int64]:
        """Return the sums of the rows at each place."""
        n_types = len(self.totals)
        counts = added_up(places * n_types + self.types, self.weights, n_places * n_types)
        flat = self.values.reshape(n_types, -1)
        sums: NDArray[np.int64] = counts.reshape(n_places, n_types) @ flat
        return sums.reshape(n_places, *self.values.shape[1:])


def row_types(values: NDArray[np.int64]) -> RowTypes | None:
    """Return few types of which all rows are multiples, or None if there are too many."""
    step = len(values) // _SAMPLE
    if step > 1 and _multiples(values[::step]) is None:
        return None
    found = _few_types(values.reshape(len(values), -1))
    if found is None:
        return _multiples(values)
    types, first = found
    return RowTypes(types, values[first], None, np.bincount(types).astype(np.int64))


def few_types(rows: NDArray[np.int64] | RowTypes) -> RowTypes | None:
    """Return the types of rows, or None if it is faster to add up their vectors."""
    known = rows if isinstance(rows, RowTypes) else row_types(rows)
    found = None if known is None else known.merged()
    return found if found is not None and found.are_few else None


def _multiples(values: NDArray[np.int64]) -> RowTypes | None:
    """Return the same, rows divided by what their numbers have in common."""
    flat = values.reshape(len(values), -1)
    weights = np.maximum(np.gcd.reduce(flat, axis=1), 1)
    units = flat // weights[:, None]
    found = _few_types(units)
    if found is None:
        return None
    types, first = found
    totals = added_up(types.astype(np.intp), weights, len(first))
    return RowTypes(types, units[first].reshape(-1, *values.shape[1:]), weights, totals)


def _few_types(flat: NDArray[Any]) -> tuple[NDArray[np.int32], list[int]] | None:
    """Number the different rows, and return the first of each, or None if there are many."""
    # Odd factors mix the entries into one number; rows of the same number are then compared.
    factors = np.random.default_rng(1).integers(0, 2**62, flat.shape[1], dtype=np.int64) * 2 + 1
    mixed = flat @ factors
    types = np.full(len(flat), -1, dtype=np.int32)
    first: list[int] = []
    left = np.ones(len(flat), dtype=np.bool_)
    while len(first) <= _MOST_TYPES:
        at = int(left.argmax())
        if not left[at]:
            same = np.array_equal(flat[first][types], flat)
            return (types, first) if same else None
        equal = mixed == mixed[at]
        types[equal] = len(first)
        left &= ~equal
        first.append(at)
    return None
