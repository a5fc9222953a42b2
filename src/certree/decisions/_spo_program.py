"""The paper's mixed-integer program for SPO trees, on HiGHS.

The tree constraints are those of Bertsimas and Dunn on a complete tree: a branch node t either asks
one test (``sum over f of a[t, f] = 1``) or none, in which case all its rows go on to the right, and
a node below one that asks none asks none. With 0/1 columns a row is on the left of t exactly if
``a[t] x_i = 1``, so that thresholds and small constants are not needed. A row is in one leaf
(``sum over l of r[i, l] = 1``), and leaves that are used hold the least weight asked for. Each leaf
has a decision ``w[l]`` in S, and, with the cost M of the worst decision for row i and the cost z of
the best one,

    y[i, l] >= c_i w[l] - M (1 - r[i, l]),    y[i, l] >= z r[i, l]

make y the cost of a row in its leaf. The paper has a lower bound of all costs in place of z; with z
no relaxation costs less than the best decisions, so that bounds on the loss begin at zero. The
weighted sum of y plus the penalty is minimised. HiGHS starts from the greedy tree. Its own bound
hardly leaves zero before the end, because rows that are in parts in all leaves pay nothing. Where
decisions can be listed, another bound does (:func:`bound_by_decisions`). HiGHS works in floating
point: the value of the tree it finds is counted exactly afterwards, its proof holds up to
its tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.decisions.oracles import _highs
from certree.encoding._cells import as_columns
from certree.engine import Nodes
from certree.engine._budget import Budget, current
from certree.oracles import Constraints, OracleError

from ._spo_nodes import DecidedNodes, DecisionStatement
from ._spo_problem import ListedProblem, SPOProblem

# HiGHS keeps constraints to this, instead of its usual 1e-6, which large constants would magnify.
_TOLERANCE = 1e-9

# For each entry of the program: the time until HiGHS looks at the clock (0.15 us to write it down,
# 0.16 us to presolve it), and memory.
_SECONDS = 3e-7
_BYTES = 60

# The bound by decisions is left out above so many rows times decisions.
_MOST_CHOICES = 50_000

Entries = NDArray[Any]


@dataclass(frozen=True)
class ProgramAnswer:
    """A tree, what HiGHS said, and its bound in units of the search."""

    decided: DecidedNodes
    status: str
    lower_bound: int
    counters: dict[str, int]


class ProgramRows:
    """Constraints that are being collected, in blocks."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._entries: list[tuple[Entries, Entries, Entries]] = []
        self._sides: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []

    def begin(self, lower: Any, upper: Any) -> NDArray[np.intp]:
        """Begin constraints with these sides, and return their numbers in the same shape."""
        low, high = np.broadcast_arrays(np.asarray(lower, dtype=np.float64), upper)
        first, self.n_rows = self.n_rows, self.n_rows + low.size
        self._sides.append((low.ravel(), high.ravel().astype(np.float64)))
        return np.arange(first, self.n_rows).reshape(low.shape)

    def put(self, rows: Any, columns: Any, values: Any) -> None:
        """Add `values` times variables to constraints; the three are broadcast."""
        row, column, value = np.broadcast_arrays(rows, columns, values)
        self._entries.append(
            (row.ravel().astype(np.int32), column.ravel().astype(np.int32), value.ravel())
        )

    def add(self, lower: float, columns: Any, values: Any, upper: float = np.inf) -> None:
        """Add ``lower <= sum of values * columns <= upper``."""
        self.put(self.begin(lower, upper), columns, values)

    def matrix(self, n_columns: int) -> Any:
        """Return all constraints as a sparse matrix."""
        from scipy.sparse import csr_array

        row, column, value = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        values = value.astype(np.float64, copy=False)
        return csr_array((values, (row, column)), shape=(self.n_rows, n_columns))

    def sides(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lower and the upper sides of all constraints."""
        low, high = (np.concatenate(parts) for parts in zip(*self._sides, strict=True))
        return low, high


class Program:
    """Where the variables are, and what they must satisfy."""

    def __init__(
        self, statement: DecisionStatement, depth: int, max_splits: int | None, least: int
    ) -> None:
        problem = statement.problem
        assert isinstance(problem, SPOProblem)
        self.statement, self.problem, self.depth = statement, problem, depth
        self.costs = problem.sign * problem.true_costs
        self.weights = statement.rows.floats
        self.columns = as_columns(statement.columns)
        self.tests = np.arange(self.columns.shape[1])
        self.feasible: Constraints = problem.oracle.constraints()
        self.n_rows, self.n_leaves = len(self.costs), 2**depth
        self.n_branches = self.n_leaves - 1
        self.n_decided = len(self.feasible.lower)
        sizes = (
            self.n_branches * len(self.tests),
            self.n_rows * self.n_leaves,
            self.n_leaves,
            self.n_rows * self.n_leaves,
            self.n_leaves * self.n_decided,
        )
        ends = np.cumsum(sizes)
        self.a, self.r, self.used, self.y, self.w = (
            np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)
        )
        self.a = self.a.reshape(self.n_branches, -1)
        self.r = self.r.reshape(self.n_rows, self.n_leaves)
        self.y = self.y.reshape(self.n_rows, self.n_leaves)
        self.w = self.w.reshape(self.n_leaves, -1)
        self.n_variables = int(ends[-1])
        self._bound_values()
        self.rows = ProgramRows()
        self._tree_constraints(max_splits)
        self._leaf_constraints(least)
        self._decision_constraints()

    def _bound_values(self) -> None:
        """Find the least and the largest value of any decision for each row."""
        problem = self.problem
        best = np.einsum("ij,ij->i", self.costs, problem.ask(self.costs))
        try:
            worst = np.einsum("ij,ij->i", self.costs, problem.ask(-self.costs))
        except OracleError as error:
            raise ValueError(
                f"method='milp' needs a bounded set of decisions, so that costs have a largest "
                f"value: {error}"
            ) from error
        self.best, self.high, self.low = best, np.maximum(worst, 0.0), np.maximum(-best, 0.0)

    def _tree_constraints(self, max_splits: int | None) -> None:
        for t in range(self.n_branches):
            self.rows.add(-np.inf, self.a[t], np.ones(len(self.tests)), 1.0)
            if t > 0:
                above = self.a[(t - 1) // 2]
                signs = np.concatenate([np.ones(len(above)), -np.ones(len(above))])
                self.rows.add(0.0, np.concatenate([above, self.a[t]]), signs)
        if max_splits is not None:
            self.rows.add(-np.inf, self.a.ravel(), np.ones(self.a.size), float(max_splits))

    def _leaf_constraints(self, least: int) -> None:
        weights = self.statement.rows.weights
        least = min(least, int(weights.sum()))
        ones = np.ones(self.n_rows)
        rows = self.rows
        # A row is in one leaf, which is used, and on the side of each branch node that leads there.
        rows.put(rows.begin(ones, 1.0)[:, None], self.r, 1.0)
        used = rows.begin(np.zeros(self.r.shape), np.inf)
        rows.put(used, self.used[None, :], 1.0)
        rows.put(used, self.r, -1.0)
        holding, tests = np.nonzero(self.columns)
        for leaf in range(self.n_leaves):
            for t, is_left in self._above(leaf):
                on_side = rows.begin(*((0.0 * ones, np.inf) if is_left else (-np.inf * ones, 1.0)))
                rows.put(on_side[holding], self.a[t, tests], 1.0)
                rows.put(on_side, self.r[:, leaf], -1.0 if is_left else 1.0)
        for leaf in range(self.n_leaves):
            held = np.append(weights.astype(np.float64), -float(least))
            rows.add(0.0, np.append(self.r[:, leaf], self.used[leaf]), held)

    def _above(self, leaf: int) -> list[tuple[int, bool]]:
        """Return the branch nodes above a leaf, and whether it is to the left of each."""
        node, path = self.n_branches + leaf, []
        while node > 0:
            path.append(((node - 1) // 2, node % 2 == 1))
            node = (node - 1) // 2
        return path

    def _decision_constraints(self) -> None:
        feasible, rows = self.feasible, self.rows
        matrix = np.asarray(feasible.matrix)
        lines, places = np.nonzero(matrix)
        paying, costly = np.nonzero(self.costs)
        for leaf in range(self.n_leaves):
            kept = rows.begin(feasible.row_lower, feasible.row_upper)
            rows.put(kept[lines], self.w[leaf, places], matrix[lines, places])
            dear = rows.begin(-self.high, np.inf)
            rows.put(dear, self.y[:, leaf], 1.0)
            rows.put(dear[paying], self.w[leaf, costly], -self.costs[paying, costly])
            rows.put(dear, self.r[:, leaf], -self.high)
            cheap = rows.begin(np.zeros(self.n_rows), np.inf)
            rows.put(cheap, self.y[:, leaf], 1.0)
            rows.put(cheap, self.r[:, leaf], -self.best)

    def model(self, penalty: float) -> Any:
        """Return HiGHS with the program in it."""
        lower, upper = np.zeros(self.n_variables), np.ones(self.n_variables)
        integer = np.zeros(self.n_variables, dtype=np.bool_)
        integer[self.a.ravel()] = integer[self.r.ravel()] = integer[self.used] = True
        lower[self.y.ravel()] = np.repeat(-self.low, self.n_leaves)
        upper[self.y.ravel()] = np.inf
        lower[self.w], upper[self.w] = self.feasible.lower, self.feasible.upper
        integer[self.w] = self.feasible.integer
        objective = np.zeros(self.n_variables)
        objective[self.y.ravel()] = np.repeat(self.weights, self.n_leaves)
        objective[self.a.ravel()] = penalty
        matrix = self.rows.matrix(self.n_variables)
        sides = self.rows.sides()
        return _highs.new_model(Constraints(matrix, *sides, lower, upper, integer), objective)

    def point(self, decided: DecidedNodes) -> NDArray[np.float64]:
        """Return a tree as values of all variables but the auxiliary ones of decisions."""
        x = np.zeros(self.n_variables)
        nodes, decisions, columns = decided.nodes, decided.decisions, self.columns
        rest = self.feasible.lower[self.costs.shape[1] :]
        # Leaves that are not used may decide anything.
        x[self.w] = np.concatenate([decisions[0], rest])
        stack = [(0, 0, np.arange(self.n_rows), 0)]
        while stack:
            node, place, rows, depth = stack.pop()
            if nodes.test[node] >= 0:
                x[self.a[place, nodes.test[node]]] = 1.0
                holds = columns[rows, nodes.test[node]] != 0
                child = int(nodes.first_child[node])
                stack.append((child, 2 * place + 1, rows[holds], depth + 1))
                stack.append((child + 1, 2 * place + 2, rows[~holds], depth + 1))
                continue
            for _ in range(self.depth - depth):
                place = 2 * place + 2
            leaf = place - self.n_branches
            x[self.r[rows, leaf]] = x[self.used[leaf]] = 1.0
            x[self.y[rows, leaf]] = self.costs[rows] @ decisions[node]
            x[self.w[leaf]] = np.concatenate([decisions[node], rest])
        return x

    def tree(self, x: NDArray[np.float64]) -> Nodes:
        """Return the tree that the variables describe, without splits that separate nothing."""
        asks = x[self.a]
        test, first_child = [-1], [-1]
        waiting = [(0, 0, np.arange(self.n_rows))]
        while waiting:
            node, place, rows = waiting.pop(0)
            while place < self.n_branches and asks[place].max() > 0.5:
                column = int(asks[place].argmax())
                holds = self.columns[rows, column] != 0
                if holds.any() and not holds.all():
                    test[node], first_child[node] = column, len(test)
                    waiting.append((len(test), 2 * place + 1, rows[holds]))
                    waiting.append((len(test) + 1, 2 * place + 2, rows[~holds]))
                    test += [-1, -1]
                    first_child += [-1, -1]
                    break
                place = 2 * place + (1 if holds.all() else 2)
        return Nodes.of(test, first_child)


def solve_program(
    statement: DecisionStatement,
    depth: int,
    max_splits: int | None,
    least: int,
    start: DecidedNodes,
    gap: float,
) -> ProgramAnswer:
    """Solve the program within the budget of the current call, starting from a tree.

    Returns
    -------
    ProgramAnswer
        The better one of the tree that HiGHS found and the one it started from.
    """
    call = current() or Budget()
    limit = _too_large_for(call, statement, depth)
    n_leaves = 2**depth if max_splits is None else min(2**depth, max_splits + 1)
    known = bound_by_decisions(statement, n_leaves, call)
    if limit is not None:
        return ProgramAnswer(start, limit, known, {"milp_nodes": 0})
    program = Program(statement, depth, max_splits, least)
    scale = statement.scale
    model = program.model(float(scale.penalty))
    largest = max(float(program.weights @ program.high), 1e-300)
    said = _run(model, program.point(start), max(gap, 1e-12 * largest), call)
    statuses = {
        "Optimal": "optimal",
        "Time limit reached": "time_limit",
        "Interrupted by user": "interrupted" if call.is_interrupted else "time_limit",
    }
    if said not in statuses:
        raise OracleError(f"HiGHS could not solve the program for the tree; it says {said!r}.")
    info = model.getInfo()
    best = start
    if info.primal_solution_status == 2:
        found = program.tree(np.array(model.getSolution().col_value))
        best = min(statement.decide(found), start, key=lambda tree: tree.value(scale))
    bound = float(info.mip_dual_bound) - float(program.weights @ program.best) - 1e-9 * largest
    status = statuses[said]
    if status == "optimal" and gap > 0:
        status = "gap"
    units = (bound - float(scale.constant)) / float(scale.unit)
    lower = max(int(np.floor(units)), known) if np.isfinite(units) else known
    return ProgramAnswer(best, status, lower, {"milp_nodes": max(int(info.mip_node_count), 0)})


def bound_by_decisions(statement: DecisionStatement, n_leaves: int, call: Budget) -> int:
    """Return a lower bound on the cost of trees with so many leaves, in units of the search.

    A tree takes at most as many decisions as it has leaves. So it costs no less than the best
    choice of so many decisions, each row having the best of them for itself; and that no less than
    its linear relaxation, which is solved here. Zero where decisions are not listed.
    """
    problem, scale = statement.problem, statement.scale
    if not isinstance(problem, ListedProblem) or problem.statistics.size > _MOST_CHOICES:
        return 0
    losses = scale.error_scale * problem.statistics.astype(np.float64)
    n, m = losses.shape
    chosen, given = np.arange(m), np.arange(m, m + n * m).reshape(n, m)
    rows = ProgramRows()
    rows.add(1.0, chosen, np.ones(m), float(n_leaves))
    rows.put(rows.begin(np.ones(n), 1.0)[:, None], given, 1.0)
    within = rows.begin(np.zeros((n, m)), np.inf)
    rows.put(within, chosen, 1.0)
    rows.put(within, given, -1.0)
    largest = max(float(losses.max(axis=1).sum()), float(scale.split_penalty) * m, 1.0)
    objective = np.append(np.full(m, float(scale.split_penalty)), losses.ravel()) / largest
    whole = np.zeros(m + n * m, dtype=np.bool_)
    ends = np.zeros(len(whole)), np.ones(len(whole))
    model = _highs.new_model(
        Constraints(rows.matrix(len(whole)), *rows.sides(), *ends, whole), objective
    )
    seconds = call.remaining()
    model.setOptionValue("time_limit", float("inf") if seconds is None else seconds)
    if _highs.run(model, lambda: call.is_interrupted) != "Optimal":
        return 0
    value = (model.getInfo().objective_function_value - 1e-9) * largest
    # One leaf has no split.
    return max(int(np.floor(value - float(scale.split_penalty))), 0)


def _too_large_for(call: Budget, statement: DecisionStatement, depth: int) -> str | None:
    """Return the limit that ends before HiGHS could begin to search, if there is one."""
    columns = statement.columns
    n_entries = len(columns) * columns.shape[1] / 2 * depth * 2**depth
    seconds, memory = call.remaining(), call.memory_left()
    if call.is_interrupted:
        return "interrupted"
    if seconds is not None and n_entries * _SECONDS > seconds:
        return "time_limit"
    return "memory_limit" if memory is not None and n_entries * _BYTES > memory else None


def _run(model: Any, start: NDArray[np.float64], gap: float, call: Budget) -> str:
    """Let HiGHS search from a starting point for the time that is left; return what it says."""
    highspy = _highs.import_highspy()
    warm = highspy.HighsSolution()
    warm.col_value = start
    model.setSolution(warm)
    seconds = call.remaining()
    for name, value in (
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", gap),
        ("mip_feasibility_tolerance", _TOLERANCE),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("time_limit", float("inf") if seconds is None else seconds),
    ):
        model.setOptionValue(name, value)
    return _highs.run(model, lambda: call.is_interrupted or call.status() is not None)
