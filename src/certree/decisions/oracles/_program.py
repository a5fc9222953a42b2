"""Linear and mixed-integer programs, solved by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers

from . import _highs
from ._oracle import Constraints, Matrix, Oracle, OracleError, show_vector

# Bases and decisions that are remembered; beyond this looking them up costs more than solving.
_MOST_KNOWN = 256

# The most combinations of integers that are tried one by one.
_MOST_TRIED = 2**16

# A known decision is best if it misses the relaxed value by no more than this share.
_SAME = 1e-12

# HiGHS accepts a number within this distance of an integer as an integer.
_WHOLE = 1e-6


class LinearProgram(Oracle):
    r"""Minimise, or maximise, :math:`c^\top w` subject to linear constraints.

    The arguments are those of :func:`scipy.optimize.linprog` without the objective:
    ``A_ub @ w <= b_ub``, ``A_eq @ w == b_eq``, and bounds. Solved by HiGHS (``pip install
    'certree[lp]'``).

    Parameters
    ----------
    A_ub, b_ub : array-like, optional
        Inequalities.
    A_eq, b_eq : array-like, optional
        Equations.
    bounds : pair, or sequence of pairs, default=(0, None)
        Least and most of each variable; None: no bound.
    n_costs : int, optional
        Number of variables, needed if no matrix is given.
    sense : {"min", "max"}, default="min"
        Whether costs are to be small, or rewards to be large.

    Attributes
    ----------
    n_solved : int
        Number of programs that HiGHS was given so far.

    Notes
    -----
    A vertex that was optimal for one cost vector is optimal for all that keep the signs of its
    reduced costs, so that most cost vectors are answered by a matrix product and not by the solver.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> shares = oracles.LinearProgram(A_ub=[[1, 2, 0]], b_ub=[1], A_eq=[[1, 1, 1]], b_eq=[1])
    >>> shares.decide([[3.0, 1.0, 2.0]])
    array([[0. , 0.5, 0.5]])
    """

    tolerance = 1e-9

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
        n_costs: int | None = None,
        sense: str = "min",
    ) -> None:
        for matrix in (A_ub, A_eq):
            if n_costs is None and matrix is not None:
                n_costs = int(np.shape(_dense(matrix))[-1])
        if n_costs is None:
            raise ValueError("give A_ub, A_eq or n_costs, so that the number of costs is known.")
        super().__init__(n_costs, sense)
        upper, above = _side(A_ub, b_ub, n_costs, "A_ub", "b_ub")
        equal, right = _side(A_eq, b_eq, n_costs, "A_eq", "b_eq")
        lower_bounds, upper_bounds = _bounds(bounds, n_costs)
        self._constraints = Constraints(
            np.vstack([upper, equal]),
            np.concatenate([np.full(len(above), -np.inf), right]),
            np.concatenate([above, right]),
            lower_bounds,
            upper_bounds,
            np.zeros(n_costs, dtype=np.bool_),
        )
        self.n_solved = 0
        self._known: list[_highs.Basis] = []
        self._model: Any = None

    def constraints(self) -> Constraints:
        """Return the constraints as they were given."""
        return self._constraints

    def __getstate__(self) -> dict[str, Any]:
        # The solver is not pickled; another process makes its own.
        return {**self.__dict__, "_model": None}

    def _decide(self, costs: Matrix) -> Matrix:
        return self._solve_relaxed(costs)

    def _solve_relaxed(self, costs: Matrix) -> Matrix:
        """Return optimal vertices of the program without integrality."""
        decisions = np.zeros(costs.shape)
        open_rows = np.arange(len(costs))
        for basis in self._known:
            if not open_rows.size:
                break
            hit = basis.is_optimal(costs[open_rows])
            decisions[open_rows[hit]] = basis.vertex
            open_rows = open_rows[~hit]
        while open_rows.size:
            row = int(open_rows[0])
            vertex, basis_found = self._solve_one(costs[row], row)
            decisions[row] = vertex
            open_rows = open_rows[1:]
            if basis_found is not None:
                hit = basis_found.is_optimal(costs[open_rows])
                decisions[open_rows[hit]] = vertex
                open_rows = open_rows[~hit]
        return decisions

    def _solve_one(
        self, costs: NDArray[np.float64], row: int
    ) -> tuple[NDArray[np.float64], _highs.Basis | None]:
        if self._model is None:
            self._model = _highs.new_model(self._constraints, _scaled(costs), relaxed=True)
        else:
            _highs.set_costs(self._model, _scaled(costs))
        said = _highs.run(self._model)
        self.n_solved += 1
        if said != "Optimal":
            self._model = None
            raise self._failed(said, costs, row)
        vertex = _cleaned(np.array(self._model.getSolution().col_value))
        if len(self._known) >= _MOST_KNOWN:
            return vertex, None
        try:
            basis = _highs.Basis(self._model, self._constraints, vertex)
        except np.linalg.LinAlgError:
            return vertex, None
        self._known.append(basis)
        return vertex, basis

    def _failed(self, said: str, costs: NDArray[np.float64], row: int) -> OracleError:
        given = costs if self.sense == "min" else -costs
        advice = {
            "Infeasible": "no decision keeps all constraints",
            "Unbounded": "costs fall without end; bound the variables",
        }.get(said, "see the documentation of HiGHS")
        return OracleError(
            f"{type(self).__name__} has no best decision for cost vector {row}, "
            f"{show_vector(given)}: HiGHS says {said!r} ({advice})."
        )


class MixedIntegerProgram(LinearProgram):
    r"""Minimise, or maximise, :math:`c^\top w` where some variables are integers.

    As :class:`LinearProgram`, and like :func:`scipy.optimize.linprog` with `integrality`.

    Parameters
    ----------
    A_ub, b_ub, A_eq, b_eq, bounds, n_costs, sense
        As for :class:`LinearProgram`.
    integrality : bool or array-like of bool, default=True
        Which variables must be integers.

    Attributes
    ----------
    n_solved : int
        Number of programs, linear and mixed-integer ones, that HiGHS was given so far.

    Notes
    -----
    HiGHS solves the mixed-integer program only if the vertex of the relaxed program is not integer
    and no earlier decision reaches its value. All optima are proven with a
    relative gap of zero. If all variables are integers and their bounds leave no more than 65536
    combinations, those that are feasible are listed when a list is asked for.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> knapsack = oracles.MixedIntegerProgram(
    ...     A_ub=[[3, 4, 5]], b_ub=[8], bounds=(0, 1), sense="max"
    ... )
    >>> knapsack.decide([[3.0, 4.0, 6.0]])
    array([[1., 0., 1.]])
    """

    # Branch and bound compares bounds that are off by up to this: 3e-9 was seen.
    tolerance = 1e-8

    def __init__(
        self,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
        integrality: Any = True,
        n_costs: int | None = None,
        sense: str = "min",
    ) -> None:
        super().__init__(A_ub, b_ub, A_eq, b_eq, bounds, n_costs, sense)
        integer = np.array(np.broadcast_to(np.asarray(integrality) != 0, (self.n_costs,)))
        base = self._constraints
        self._constraints = Constraints(
            base.matrix, base.row_lower, base.row_upper, base.lower, base.upper, integer
        )
        self.is_integral = bool(integer.all())
        self._pool = np.zeros((0, self.n_costs))
        self._all: Matrix | None = None

    def _decide(self, costs: Matrix) -> Matrix:
        decisions = self._solve_relaxed(costs)
        integer = self._constraints.integer
        rounded = np.rint(decisions[:, integer])
        is_whole = (np.abs(decisions[:, integer] - rounded) <= _WHOLE).all(axis=1)
        bounds = np.einsum("ij,ij->i", costs, decisions)
        decisions[:, integer] = rounded
        for row in np.flatnonzero(~is_whole).tolist():
            decisions[row] = self._whole(costs[row], float(bounds[row]), row)
        return decisions

    @property
    def n_decisions(self) -> int | None:
        """Number of feasible decisions, if they are few enough to be found by trying all."""
        if self._all is None:
            self._all = self._enumerate()
        return len(self._all) or None

    def _list(self) -> Matrix:
        return np.zeros((0, self.n_costs)) if self._all is None else np.array(self._all)

    def _enumerate(self) -> Matrix:
        """Return all integer points within the bounds and constraints, if they are few."""
        base = self._constraints
        none = np.zeros((0, self.n_costs))
        lower, upper = np.ceil(base.lower - _WHOLE) + 0.0, np.floor(base.upper + _WHOLE)
        if not base.integer.all() or not np.isfinite([lower, upper]).all():
            return none
        if np.prod(np.maximum(upper - lower + 1, 0)) > _MOST_TRIED:
            return none
        ranges = [np.arange(a, b + 1) for a, b in zip(lower, upper, strict=True)]
        points = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, self.n_costs)
        activity = points @ np.asarray(base.matrix).T
        slack = _WHOLE * np.maximum(np.abs(base.matrix).sum(axis=1), 1.0)
        keeps = (activity >= base.row_lower - slack) & (activity <= base.row_upper + slack)
        found: Matrix = points[keeps.all(axis=1)]
        return found

    def _whole(self, costs: NDArray[np.float64], bound: float, row: int) -> NDArray[np.float64]:
        if len(self._pool):
            values = self._pool @ costs
            best = int(values.argmin())
            amounts = float(np.abs(costs) @ np.abs(self._pool[best]))
            if values[best] <= bound + _SAME * amounts:
                known: NDArray[np.float64] = self._pool[best]
                return known
        model = _highs.new_model(self._constraints, _scaled(costs))
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_abs_gap", 0.0)
        said = _highs.run(model)
        self.n_solved += 1
        if said != "Optimal":
            raise self._failed(said, costs, row)
        found = np.array(model.getSolution().col_value)
        integer = self._constraints.integer
        found[integer] = np.rint(found[integer])
        if len(self._pool) < _MOST_KNOWN:
            self._pool = np.vstack([self._pool, found])
        return found


def _scaled(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs of at most one: the best decision is the same, the tolerances fit."""
    largest = float(np.abs(costs).max())
    return costs / largest if largest > 0 else costs


def _cleaned(vertex: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a vertex with entries near an integer rounded to it."""
    whole = np.rint(vertex)
    return np.where(np.abs(vertex - whole) <= 1e-11, whole, vertex) + 0.0


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _side(
    matrix: Any, right: Any, n_costs: int, matrix_name: str, right_name: str
) -> tuple[Matrix, NDArray[np.float64]]:
    """Return one block of constraints."""
    if matrix is None and right is None:
        return np.zeros((0, n_costs)), np.zeros(0)
    if matrix is None or right is None:
        raise ValueError(f"{matrix_name} and {right_name} come together; one of them is missing.")
    rows = check_numbers(_dense(matrix), matrix_name, (None, n_costs))
    return rows, check_numbers(np.atleast_1d(np.asarray(right)), right_name, (len(rows),))


def _bounds(bounds: Any, n_costs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds from pairs in the manner of scipy."""
    if bounds is None:
        bounds = (0, None)
    pairs = list(bounds)
    if len(pairs) == 2 and all(p is None or np.ndim(p) == 0 for p in pairs):
        pairs = [tuple(pairs)] * n_costs
    if len(pairs) == 1 and n_costs > 1:
        pairs = pairs * n_costs
    if len(pairs) != n_costs or any(np.shape(p) != (2,) for p in pairs):
        raise ValueError(
            f"bounds must be one pair (least, most), or one for each of {n_costs} variables."
        )
    lower = np.array([-np.inf if p[0] is None else float(p[0]) for p in pairs])
    upper = np.array([np.inf if p[1] is None else float(p[1]) for p in pairs])
    if np.isnan(lower).any() or np.isnan(upper).any():
        raise ValueError("bounds must be numbers or None, got NaN.")
    return lower, upper
