"""The base of oracles: the best decision for each of many cost vectors, with checks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers

Matrix = NDArray[np.float64]

SENSES = ("min", "max")

# Two decisions tie if their costs differ by less than this share of the amounts added up.
_TIE = 1e-12

# Listing more decisions than this to look for ties costs more than asking twice.
_FEW = 1000

# Integers from a solver may be off by this.
_WHOLE = 1e-6


class OracleError(ValueError):
    """An oracle gave no decision; the message names the cost vector and the solver's status."""

    __module__ = "certree.oracles"


class Solutions(NamedTuple):
    """Best decisions, one line per cost vector, and what they cost."""

    values: NDArray[np.float64]
    decisions: Matrix


@dataclass(frozen=True)
class Constraints:
    """The feasible decisions as linear constraints, for solvers of mixed-integer programs.

    The first variables are the decision itself; there may be auxiliary ones after it. Feasible are
    ``row_lower <= matrix @ x <= row_upper``, ``lower <= x <= upper``, integers where `integer` is
    set. The best decision for every cost vector is among the extreme points of this set.
    """

    matrix: Any
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]


class Oracle(ABC):
    """A set of feasible decisions that knows the best one for any cost vector.

    With the feasible decisions :math:`S` and a cost vector :math:`c` it finds a
    :math:`w^*(c)` that attains :math:`z^*(c) = \\min_{w \\in S} c^\\top w` (or the largest value),
    for many cost vectors at once. Subclasses implement ``_decide``.

    Parameters
    ----------
    n_costs : int
        Number of entries of a cost vector, and of a decision.
    sense : {"min", "max"}
        Whether costs are to be small, or rewards to be large.

    Attributes
    ----------
    n_costs : int
        Number of entries of a cost vector.
    sense : str
        "min" or "max".
    """

    is_integral: bool = False
    """Whether decisions are integers, so that costs can be added exactly."""

    is_fast: ClassVar[bool] = False
    """Whether an answer is as fast as looking it up."""

    tolerance: ClassVar[float] = 0.0
    """A decision may miss the best value by at most this share of the amounts added up."""

    _limit: ClassVar[int] = 1_000_000

    def __init__(self, n_costs: int, sense: str = "min") -> None:
        if sense not in SENSES:
            raise ValueError(f'sense must be "min" or "max", got {sense!r}.')
        if n_costs < 1:
            raise ValueError(f"an oracle needs at least one cost, got {n_costs}.")
        self.n_costs = int(n_costs)
        self.sense = sense

    @abstractmethod
    def _decide(self, costs: Matrix) -> Any:
        """Return a decision of least cost for each line of `costs`, also if the sense is "max"."""

    def solve(self, costs: Any) -> Solutions:
        """Return the best decision for each cost vector, and its value.

        Parameters
        ----------
        costs : array-like of shape (n_vectors, n_costs)
            Finite numbers.

        Returns
        -------
        Solutions
            ``values`` of shape (n_vectors,) and ``decisions`` of shape (n_vectors, n_costs).

        Raises
        ------
        OracleError
            If there is no best decision for some vector; the message names it.
        """
        table = check_numbers(costs, "costs", (None, self.n_costs))
        if not len(table):
            return Solutions(np.zeros(0), np.zeros((0, self.n_costs)))
        decisions = self._checked(self._decide(table if self.sense == "min" else -table), table)
        return Solutions(np.einsum("ij,ij->i", table, decisions), decisions)

    def decide(self, costs: Any) -> Matrix:
        """Return the best decision for each cost vector.

        Parameters
        ----------
        costs : array-like of shape (n_vectors, n_costs)
            Finite numbers.
        """
        return self.solve(costs).decisions

    def _checked(self, answer: Any, costs: Matrix) -> Matrix:
        """Return an answer as numbers; refuse a wrong shape or values that are not finite."""
        try:
            decisions = np.asarray(answer, dtype=np.float64)
        except (TypeError, ValueError):
            raise OracleError(
                f"{self!r} returned {type(answer).__name__}, which cannot be read as numbers; "
                f"decisions must have shape ({len(costs)}, {self.n_costs})."
            ) from None
        if decisions.shape != costs.shape:
            raise OracleError(
                f"{self!r} returned decisions of shape {decisions.shape} for {len(costs)} cost "
                f"vectors; expected {costs.shape}."
            )
        bad = ~np.isfinite(decisions).all(axis=1)
        if bad.any():
            row = int(np.argmax(bad))
            raise OracleError(
                f"{self!r} returned a decision with entries that are not finite numbers for cost "
                f"vector {row}, {show_vector(costs[row])}: {show_vector(decisions[row])}."
            )
        if self.is_integral:
            bad = (np.abs(decisions - np.rint(decisions)) > _WHOLE).any(axis=1)
            if bad.any():
                row = int(np.argmax(bad))
                raise OracleError(
                    f"{self!r} is said to be integral, but returned {show_vector(decisions[row])} "
                    f"for cost vector {row}, {show_vector(costs[row])}; use is_integral=False."
                )
        return decisions

    @property
    def n_decisions(self) -> int | None:
        """Number of decisions that have to be considered; None if they cannot be listed."""
        return None

    def decisions(self) -> Matrix:
        """Return all decisions that have to be considered, one per line.

        Raises
        ------
        ValueError
            If there is no list, or it has more than a million lines.
        """
        count = self.n_decisions
        if count is None:
            raise ValueError(f"The decisions of {self!r} cannot be listed.")
        if count > self._limit:
            raise ValueError(
                f"{self!r} has {count} decisions, but a list may have at most {self._limit}; use "
                "the oracle itself."
            )
        return self._list()

    def _list(self) -> Matrix:
        raise NotImplementedError

    def constraints(self) -> Constraints:
        """Return the feasible set as linear constraints.

        Raises
        ------
        ValueError
            If the oracle does not know its set of decisions.
        """
        if self.n_decisions is None:
            raise ValueError(
                f"{self!r} does not state its feasible decisions; give an oracle that does, "
                "such as LinearProgram, MixedIntegerProgram or Decisions."
            )
        return hull(self.decisions())

    def describe(self, decision: NDArray[Any]) -> str:
        """Return a decision in words.

        Parameters
        ----------
        decision : array of shape (n_costs,)
            A feasible decision.
        """
        used = np.flatnonzero(decision)
        if len(used) == 0:
            return "nothing"
        if np.isin(decision[used], (1.0,)).all():
            return " + ".join(str(i) for i in used)
        return " + ".join(f"{decision[i]:.4g} of {i}" for i in used)

    def worst(self, predicted: Any, costs: Any) -> Matrix:
        """Return the worst decision in truth among the best ones for a prediction.

        The SPO loss of a prediction is defined by this decision. It differs from what `decide`
        returns only if several decisions are best for the prediction, up to rounding errors of a
        share of 1e-12. Oracles that do not know all their decisions are asked once more, with the
        prediction moved a little away from the true costs.

        Parameters
        ----------
        predicted, costs : array-like of shape (n_rows, n_costs)
            Predicted and true cost vectors.
        """
        guess = check_numbers(predicted, "predicted", (None, self.n_costs))
        truth = check_numbers(costs, "costs", (len(guess), self.n_costs))
        return self._worst(guess, truth)

    def _worst(self, guess: Matrix, truth: Matrix) -> Matrix:
        sign = 1.0 if self.sense == "min" else -1.0
        count = self.n_decisions
        if count is not None and count <= _FEW:
            return worst_listed(self.decisions(), guess, truth, sign)
        first = self.solve(guess)
        if not len(guess):
            return first.decisions
        size = np.abs(guess).max(axis=1)
        step = 1e-6 * np.where(size > 0, size, 1.0) / np.maximum(np.abs(truth).max(axis=1), 1e-300)
        other = self.decide(guess - step[:, None] * truth)
        tie = _TIE * np.einsum("ij,ij->i", np.abs(guess), np.abs(other) + np.abs(first.decisions))
        is_tie = sign * (np.einsum("ij,ij->i", guess, other) - first.values) <= tie
        is_worse = sign * np.einsum("ij,ij->i", truth, other - first.decisions) > 0
        return np.where((is_tie & is_worse)[:, None], other, first.decisions)

    def __call__(self, costs: Any) -> Matrix:
        return self.decide(costs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_costs} costs)"


def hull(decisions: Matrix) -> Constraints:
    """Return the convex hull of listed decisions, as weights that add up to one."""
    n_decisions, n_costs = decisions.shape
    matrix = np.zeros((n_costs + 1, n_costs + n_decisions))
    matrix[:n_costs, :n_costs] = np.eye(n_costs)
    matrix[:n_costs, n_costs:] = -decisions.T
    matrix[n_costs, n_costs:] = 1.0
    right = np.append(np.zeros(n_costs), 1.0)
    lower = np.concatenate([decisions.min(axis=0), np.zeros(n_decisions)])
    upper = np.concatenate([decisions.max(axis=0), np.ones(n_decisions)])
    return Constraints(matrix, right, right, lower, upper, np.zeros(len(lower), dtype=np.bool_))


def worst_listed(table: Matrix, guess: Matrix, truth: Matrix, sign: float) -> Matrix:
    """Return the worst in truth of the listed decisions that are best for a prediction."""
    values = sign * (guess @ table.T)
    amounts = np.abs(guess) @ np.abs(table).T
    is_best = values <= values.min(axis=1, keepdims=True) + _TIE * amounts
    paid = np.where(is_best, sign * (truth @ table.T), -np.inf)
    chosen: Matrix = table[paid.argmax(axis=1)]
    return chosen


def show_vector(vector: NDArray[Any]) -> str:
    """Return the first entries of a vector as text."""
    shown = ", ".join(f"{value:.6g}" for value in vector[:6])
    return f"[{shown}{', ...' if len(vector) > 6 else ''}]"


def read_names(names: Sequence[Any] | None, count: int, what: str) -> list[str] | None:
    """Return names as texts, one for each of `count` things."""
    if names is None:
        return None
    texts = [str(name) for name in names]
    if len(texts) != count:
        raise ValueError(f"names must have one text per {what}, {count}, got {len(texts)}.")
    return texts
