"""Oracles from user code: functions on batches, and models in the manner of PyEPO."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._decisions import Decisions
from ._oracle import Matrix, Oracle, OracleError, show_vector


class Function(Oracle):
    """Any Python function from cost vectors to decisions.

    Parameters
    ----------
    function : callable
        Called with an array of costs of shape (n_vectors, n_costs); returns the best
        decisions, an array of the same shape.
    n_costs : int
        Number of entries of a cost vector.
    sense : {"min", "max"}, default="min"
        Which decisions the function finds best: those with the least, or with the largest value.
    is_integral : bool, default=False
        Whether all decisions consist of integers. Costs are then added exactly.
    describe : callable, optional
        From a decision to what trees call it.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import numpy as np
    >>> from certree import oracles
    >>> cheapest = oracles.Function(
    ...     lambda costs: np.eye(costs.shape[1])[costs.argmin(axis=1)], 3, is_integral=True
    ... )
    >>> cheapest.decide([[2.0, 1.0, 3.0]])
    array([[0., 1., 0.]])
    """

    def __init__(
        self,
        function: Callable[[Matrix], Any],
        n_costs: int,
        sense: str = "min",
        is_integral: bool = False,
        describe: Callable[[Any], str] | None = None,
    ) -> None:
        super().__init__(n_costs, sense)
        if not callable(function):
            raise TypeError(f"function must be callable, got {type(function).__name__}.")
        self.function = function
        self.is_integral = bool(is_integral)
        self._describe = describe

    def _decide(self, costs: Matrix) -> Any:
        given = costs if self.sense == "min" else -costs
        try:
            return self.function(given.copy())
        except OracleError:
            raise
        except Exception as error:
            raise OracleError(self._failure(given, error)) from error

    def _failure(self, costs: Matrix, error: Exception) -> str:
        """Return a message that names the failing cost vector, found by asking one by one."""
        for row in range(len(costs)):
            try:
                self.function(costs[row : row + 1].copy())
            except Exception as alone:
                return (
                    f"the function of {self!r} failed for cost vector {row}, "
                    f"{show_vector(costs[row])}: {type(alone).__name__}: {alone}"
                )
        return (
            f"the function of {self!r} failed for {len(costs)} cost vectors together, though for "
            f"none alone: {type(error).__name__}: {error}"
        )

    def describe(self, decision: Any) -> str:
        """Return a decision in words."""
        return super().describe(decision) if self._describe is None else self._describe(decision)


class _OneByOne:
    """A model that is given one objective after another, as a function on batches."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, costs: Matrix) -> Matrix:
        decisions = np.zeros(costs.shape)
        for row, vector in enumerate(costs):
            try:
                self.model.setObj(vector)
                answer = self.model.solve()
                solution = answer[0] if isinstance(answer, tuple) else answer
                decisions[row] = np.asarray(solution, dtype=np.float64)
            except Exception as error:
                raise OracleError(
                    f"{type(self.model).__name__} failed for cost vector {row}, "
                    f"{show_vector(vector)}: {type(error).__name__}: {error}"
                ) from error
        return decisions


def from_model(model: Any, *, is_integral: bool = False) -> Function:
    """Return the oracle of an optimisation model in the manner of PyEPO.

    Parameters
    ----------
    model : object
        With the methods ``setObj(costs)`` and ``solve()``, which returns the solution, or a pair
        of solution and value; with the attributes ``num_cost`` and, if it maximises,
        ``modelSense`` (-1 or a name that says so).
    is_integral : bool, default=False
        Whether all solutions consist of integers.

    Returns
    -------
    Function
        The oracle.

    Notes
    -----
    .. versionadded:: 0.1
    """
    missing = [name for name in ("setObj", "solve", "num_cost") if not hasattr(model, name)]
    if missing:
        raise TypeError(
            f"{type(model).__name__} has no {', '.join(missing)}; a model needs setObj(costs), "
            "solve() and num_cost."
        )
    sense = getattr(model, "modelSense", 1)
    maximises = "max" in str(getattr(sense, "name", sense)).lower() or sense in (-1,)
    return Function(
        _OneByOne(model), int(model.num_cost), "max" if maximises else "min", is_integral
    )


def as_oracle(given: Any, n_costs: int) -> Oracle:
    """Return the oracle for an oracle, a list of decisions, a function, a model or None."""
    if given is None:
        return Decisions(np.eye(n_costs))
    if isinstance(given, Oracle):
        if given.n_costs != n_costs:
            raise ValueError(
                f"C has {n_costs} columns, but {given!r} decides on {given.n_costs} costs."
            )
        return given
    if hasattr(given, "setObj") and hasattr(given, "solve"):
        return as_oracle(from_model(given), n_costs)
    if callable(given):
        return Function(given, n_costs)
    return as_oracle(Decisions(given), n_costs)
