"""Decisions that are listed: a matrix product and the least entry of each line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers

from ._oracle import Matrix, Oracle, read_names, worst_listed


class Decisions(Oracle):
    """An explicit list of decisions.

    Parameters
    ----------
    decisions : array-like of shape (n_decisions, n_costs)
        The feasible decisions, one per line.
    names : sequence of str, optional
        Names of the decisions in trees; by default their entries.
    sense : {"min", "max"}, default="min"
        Whether costs are to be small, or rewards to be large.

    Notes
    -----
    Of several best decisions the first in the list is taken.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> roads = oracles.Decisions([[1, 0], [0, 1]], names=["main road", "side road"])
    >>> roads.decide([[3.0, 2.0], [1.0, 2.0]])
    array([[0., 1.],
           [1., 0.]])
    """

    is_fast = True

    def __init__(
        self, decisions: Any, names: Sequence[str] | None = None, sense: str = "min"
    ) -> None:
        table = check_numbers(decisions, "decisions", (None, None))
        if not table.size:
            raise ValueError(f"decisions must not be empty, got shape {table.shape}.")
        super().__init__(table.shape[1], sense)
        self._table = table
        self.names = read_names(names, len(table), "decision")
        self.is_integral = bool((table == np.rint(table)).all())

    @property
    def n_decisions(self) -> int:
        """Number of decisions."""
        return len(self._table)

    def _list(self) -> Matrix:
        return np.array(self._table)

    def _decide(self, costs: Matrix) -> Matrix:
        chosen: Matrix = self._table[(costs @ self._table.T).argmin(axis=1)]
        return chosen

    def _worst(self, guess: Matrix, truth: Matrix) -> Matrix:
        return worst_listed(self._table, guess, truth, 1.0 if self.sense == "min" else -1.0)

    def describe(self, decision: NDArray[Any]) -> str:
        """Return the name of a decision, or its entries."""
        if self.names is not None:
            same = np.flatnonzero((self._table == decision).all(axis=1))
            if len(same):
                return self.names[int(same[0])]
        return super().describe(decision)
