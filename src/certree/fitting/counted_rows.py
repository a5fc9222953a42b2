"""The training rows that count, for what trees say of their nodes: how many, and what they weigh.

Only sample weights enter. Weights of classes and of the objective are part of what errors cost, so
the same tree says the same of its rows, whatever it was found for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._equal_rows import added_up
from certree.numbers._digits import whole_numbers
from certree.numbers._weights import read_weights

# Weights of all rows below this, and above its reciprocal, are too close to the ends of float64.
_SMALLEST = Fraction(1, 10**290)

# Whole weights of all rows below this are integers in trees.
_MOST_WHOLE = 2**62


class NodeAmounts(NamedTuple):
    """What reaches every node, in a column for each class.

    Attributes
    ----------
    counts : array of shape (n_nodes, n_columns)
        The weight of the rows; as shares of all weight where that leaves the range of float64.
    rows : int64 array of the same shape
        Their number.
    """

    counts: NDArray[Any]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class CountedRows:
    """The rows that a search gets, which may be groups of the user's rows.

    Attributes
    ----------
    units : int array, or None
        The weight of each, exactly as it was given, in units, as Python's integers where these may
        be large; None: one each.
    unit : Fraction
        What a unit stands for.
    n_rows : int64 array, or None
        How many rows of the user each stands for; None: one each.
    """

    units: NDArray[Any] | None
    unit: Fraction
    n_rows: NDArray[np.int64] | None

    @classmethod
    def read(
        cls,
        behind: NDArray[np.int64] | None,
        sample_weight: Any,
        n_rows: int,
        kept: NDArray[np.intp] | None,
    ) -> CountedRows:
        """Read the weights of a table with so many rows, of which only those `kept` count.

        `behind` is how many rows of the user each row stands for; None: one each.
        """
        if kept is not None and behind is not None:
            behind = behind[kept]
        if sample_weight is None:
            return cls(None, Fraction(1), behind)
        given = read_weights(sample_weight, n_rows)
        given = given if kept is None else given.select(kept)
        if given.units is not None:
            return cls(given.units, given.quantum, behind)
        return cls(*whole_numbers(given.numbers, "sample_weight"), behind)

    def number(self, n_held: int) -> int:
        """Return how many rows of the user all rows stand for, if these are so many."""
        return n_held if self.n_rows is None else int(self.n_rows.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether a row counts as more or less than one."""
        if self.units is None:
            return False
        # Python's integers do not overflow, and most weights show it at the first row.
        counts = repeat(1) if self.n_rows is None else self.n_rows.tolist()
        pairs = zip(self.units.tolist(), counts, strict=False)
        return any(units * self.unit != count for units, count in pairs)

    def in_nodes(
        self,
        nodes: engine.Nodes,
        leaves: NDArray[np.intp],
        codes: NDArray[Any] | None = None,
        n_codes: int = 1,
    ) -> NodeAmounts:
        """Return what reaches every node, given the leaf of each row, and its column."""
        cells = leaves * n_codes if codes is None else leaves * n_codes + codes
        shape = len(nodes), n_codes

        def add_up(amounts: NDArray[Any] | None) -> NDArray[Any]:
            return nodes.sums(added_up(cells, amounts, shape[0] * shape[1]).reshape(shape))

        rows = add_up(self.n_rows)
        if self.units is None:
            return NodeAmounts(rows if self.n_rows is None else add_up(None), rows)
        return NodeAmounts(self._weights(add_up(self.units)), rows)

    def _weights(self, units: NDArray[Any]) -> NDArray[Any]:
        """Return the weights that so many units in every node stand for."""
        unit, total = self.unit, int(units[0].sum()) * self.unit
        if unit.denominator == 1 and total < _MOST_WHOLE:
            return np.asarray(units * int(unit), dtype=np.int64)
        if not _SMALLEST <= total <= 1 / _SMALLEST:
            unit = unit / total
        # Rounded once from the exact value, so that equal weights stay equal.
        return np.array([[float(int(number) * unit) for number in line] for line in units])
