"""Choosing some of many: the cheapest k, shares within bounds, one for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers

from ._oracle import Constraints, Matrix, Oracle, read_names


class TopK(Oracle):
    """Choose exactly k of n things.

    Parameters
    ----------
    n : int
        Number of things, each with a cost.
    k : int
        How many to take.
    names : sequence of str, optional
        What trees call the things.
    sense : {"min", "max"}, default="min"
        The cheapest ones, or those with the greatest rewards.

    Notes
    -----
    Of things that cost the same the first is taken.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> oracles.TopK(4, 2, sense="max").decide([[1.0, 5.0, 2.0, 4.0]])
    array([[0., 1., 0., 1.]])
    """

    is_integral = True
    is_fast = True

    def __init__(
        self, n: int, k: int, names: Sequence[str] | None = None, sense: str = "min"
    ) -> None:
        super().__init__(n, sense)
        if not 0 <= k <= n:
            raise ValueError(f"k must be from 0 to {n}, got {k}.")
        self.k = int(k)
        self.names = read_names(names, n, "thing")

    @property
    def n_decisions(self) -> int:
        """Number of ways to take k of n."""
        return comb(self.n_costs, self.k)

    def _list(self) -> Matrix:
        chosen = list(combinations(range(self.n_costs), self.k))
        table = np.zeros((len(chosen), self.n_costs))
        for line, places in enumerate(chosen):
            table[line, list(places)] = 1.0
        return table

    def _decide(self, costs: Matrix) -> Matrix:
        cheapest = np.argsort(costs, axis=1, kind="stable")[:, : self.k]
        decisions = np.zeros(costs.shape)
        np.put_along_axis(decisions, cheapest, 1.0, axis=1)
        return decisions

    def constraints(self) -> Constraints:
        """Return shares from 0 to 1 that add up to k."""
        zeros, ones = np.zeros(self.n_costs), np.ones(self.n_costs)
        total = np.array([float(self.k)])
        return Constraints(ones[None, :], total, total, zeros, ones, zeros.astype(np.bool_))

    def describe(self, decision: NDArray[Any]) -> str:
        """Return what is taken."""
        return _named(self.names, decision) or super().describe(decision)

    def __repr__(self) -> str:
        return f"TopK({self.n_costs}, {self.k})"


class BoxSimplex(Oracle):
    """Distribute a total over n things, each within its bounds.

    Parameters
    ----------
    n : int
        Number of things, each with a cost per unit.
    upper : float or array-like of shape (n,), default=1.0
        Most of each thing.
    lower : float or array-like of shape (n,), default=0.0
        Least of each thing.
    total : float, default=1.0
        What the amounts add up to.
    names : sequence of str, optional
        What trees call the things.
    sense : {"min", "max"}, default="min"
        Whether costs are to be small, or rewards to be large.

    Notes
    -----
    Starting from the least amounts, the best thing is filled up, then the next one, and so on. Of
    things that cost the same the first is filled first.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> oracles.BoxSimplex(3, upper=0.5).decide([[3.0, 1.0, 2.0]])
    array([[0. , 0.5, 0.5]])
    """

    is_fast = True

    def __init__(
        self,
        n: int,
        upper: Any = 1.0,
        lower: Any = 0.0,
        total: float = 1.0,
        names: Sequence[str] | None = None,
        sense: str = "min",
    ) -> None:
        super().__init__(n, sense)
        self.lower = check_numbers(np.broadcast_to(lower, (n,)), "lower", (n,)).copy()
        self.upper = check_numbers(np.broadcast_to(upper, (n,)), "upper", (n,)).copy()
        self.total = float(total)
        self.names = read_names(names, n, "thing")
        if (self.lower > self.upper).any():
            place = int(np.argmax(self.lower > self.upper))
            raise ValueError(
                f"lower[{place}] = {self.lower[place]:g} is above upper[{place}] = "
                f"{self.upper[place]:g}."
            )
        least, most = float(self.lower.sum()), float(self.upper.sum())
        if not least <= self.total <= most:
            raise ValueError(
                f"total={self.total:g} is out of reach: within the bounds the amounts add up to "
                f"{least:g} to {most:g}."
            )
        numbers = np.concatenate([self.lower, self.upper, [self.total]])
        self.is_integral = bool((numbers == np.rint(numbers)).all())

    def _decide(self, costs: Matrix) -> Matrix:
        order = np.argsort(costs, axis=1, kind="stable")
        room = (self.upper - self.lower)[order]
        before = np.cumsum(room, axis=1) - room
        left = self.total - self.lower.sum()
        filled = np.clip(left - before, 0.0, room)
        decisions: Matrix = np.tile(self.lower, (len(costs), 1))
        np.put_along_axis(decisions, order, self.lower[order] + filled, axis=1)
        return decisions

    def constraints(self) -> Constraints:
        """Return the bounds and the total."""
        total = np.array([self.total])
        ones, continuous = np.ones((1, self.n_costs)), np.zeros(self.n_costs, dtype=np.bool_)
        return Constraints(ones, total, total, self.lower, self.upper, continuous)

    def describe(self, decision: NDArray[Any]) -> str:
        """Return the amounts that are not zero."""
        return _named(self.names, decision) or super().describe(decision)

    def __repr__(self) -> str:
        return f"BoxSimplex({self.n_costs})"


class Assignment(Oracle):
    """Assign n persons to n jobs, each to one.

    A cost vector holds the n x n costs, person by person; a decision is 1 where a person gets a
    job.

    Parameters
    ----------
    n : int
        Number of persons, and of jobs.
    sense : {"min", "max"}, default="min"
        Whether costs are to be small, or rewards to be large.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> oracles.Assignment(2).decide([[1.0, 2.0, 1.0, 4.0]])
    array([[0., 1., 1., 0.]])
    """

    is_integral = True

    def __init__(self, n: int, sense: str = "min") -> None:
        super().__init__(n * n, sense)
        self.n = int(n)

    @property
    def n_decisions(self) -> int:
        """Number of permutations."""
        return factorial(self.n)

    def _list(self) -> Matrix:
        orders = np.array(list(permutations(range(self.n))), dtype=np.intp)
        table = np.zeros((len(orders), self.n, self.n))
        lines, persons = np.arange(len(orders))[:, None], np.arange(self.n)[None, :]
        table[lines, persons, orders] = 1.0
        return table.reshape(len(orders), -1)

    def _decide(self, costs: Matrix) -> Matrix:
        from scipy.optimize import linear_sum_assignment

        decisions = np.zeros((len(costs), self.n, self.n))
        for line, square in enumerate(costs.reshape(-1, self.n, self.n)):
            persons, jobs = linear_sum_assignment(square)
            decisions[line, persons, jobs] = 1.0
        return decisions.reshape(len(costs), -1)

    def constraints(self) -> Constraints:
        """Return matrices whose rows and columns add up to one."""
        matrix = np.zeros((2 * self.n, self.n_costs))
        for cell in range(self.n_costs):
            matrix[cell // self.n, cell] = matrix[self.n + cell % self.n, cell] = 1.0
        sides = np.ones(2 * self.n)
        zeros, ones = np.zeros(self.n_costs), np.ones(self.n_costs)
        return Constraints(matrix, sides, sides, zeros, ones, zeros.astype(np.bool_))

    def describe(self, decision: NDArray[Any]) -> str:
        """Return who gets which job."""
        square = np.asarray(decision).reshape(self.n, self.n)
        return ", ".join(f"{p} to {int(line.argmax())}" for p, line in enumerate(square))

    def __repr__(self) -> str:
        return f"Assignment({self.n})"


def _named(names: list[str] | None, decision: NDArray[Any]) -> str | None:
    """Return a decision by the names of things, if they have names."""
    if names is None:
        return None
    used = np.flatnonzero(decision)
    parts = [names[i] if decision[i] == 1 else f"{decision[i]:.4g} {names[i]}" for i in used]
    return " + ".join(parts) or "nothing"
