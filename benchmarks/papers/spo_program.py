"""The mixed-integer program of the paper on SPO trees, on HiGHS: the peer of the exact search.

The tree constraints are those of Bertsimas and Dunn on a complete tree: a branch node t either asks
one test (``sum over f of a[t, f] = 1``) or none, in which case all its rows go on to the right, and
a node below one that asks none asks none. With 0/1 columns a row is on the left of t exactly if
``a[t] x_i = 1``, so that thresholds and small constants are not needed. A row is in one leaf
(``sum over l of r[i, l] = 1``), and leaves that are used hold the least weight asked for. Each leaf
has a decision ``w[l]`` in S, which must be bounded and given by constraints. With the cost M of the
worst decision for row i and the cost z of the best one,

    y[i, l] >= c_i w[l] - M (1 - r[i, l]),    y[i, l] >= z r[i, l]

make y the cost of a row in its leaf. The paper has a lower bound of all costs in place of z; with z
no relaxation costs less than the best decisions, so that bounds on the loss begin at zero. The
weighted sum of y plus the penalty is minimised. HiGHS starts from the greedy tree. Its own bound
hardly leaves zero before the end, because rows that are in parts in all leaves pay nothing. Where
decisions can be listed, another bound does (:func:`bound_by_decisions`). All of it is floating
point: what HiGHS proves it proves up to its tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import SPOTree, oracles

# HiGHS keeps constraints to this, instead of its usual 1e-6, which large constants would magnify.
TOLERANCE = 1e-9

# The bound by decisions is left out above so many rows times decisions.
MOST_CHOICES = 50_000

Entries = NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """The total loss of the best tree found plus its penalty, and a lower bound on all trees."""

    loss: float
    bound: float
    is_proven: bool


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
        self._entries.append((row.ravel(), column.ravel(), value.ravel()))

    def add(self, lower: float, columns: Any, values: Any, upper: float = np.inf) -> None:
        """Add ``lower <= sum of values * columns <= upper``."""
        self.put(self.begin(lower, upper), columns, values)

    def model(self, lower: Any, upper: Any, integer: Any, objective: Any) -> Any:
        """Return a quiet HiGHS that minimises `objective` over variables between two ends."""
        import highspy
        from scipy.sparse import csr_array

        row, column, value = (np.concatenate(parts) for parts in zip(*self._entries, strict=True))
        matrix = csr_array((value.astype(float), (row, column)), shape=(self.n_rows, len(lower)))
        sides = (np.concatenate(parts) for parts in zip(*self._sides, strict=True))
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.passModel(
            len(lower),
            self.n_rows,
            matrix.nnz,
            int(highspy.MatrixFormat.kRowwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            *(np.ascontiguousarray(ends, dtype=np.float64) for ends in (objective, lower, upper)),
            *sides,
            matrix.indptr.astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data,
            np.asarray(integer).astype(np.int32),
        )
        return model


class Program:
    """Where the variables are, and what they must satisfy.

    Parameters
    ----------
    start : SPOTree
        A greedy tree on the rows: its limits and tests are those of the program.
    X, C, weights : arrays
        The rows, their cost vectors and their weights.
    """

    def __init__(self, start: SPOTree, X: Any, C: Any, weights: NDArray[np.float64]) -> None:
        self.start, self.oracle, self.weights = start, start.oracle_, weights
        self.costs = (1.0 if self.oracle.sense == "min" else -1.0) * np.asarray(C, dtype=np.float64)
        self.columns = start.encoder_.transform(X)
        self.tests = np.arange(self.columns.shape[1])
        self.feasible: oracles.Constraints = self.oracle.constraints()
        self.penalty = float(start.complexity) * float(weights.sum())
        self.depth = int(start.max_depth)
        self.n_rows, self.n_leaves = len(self.costs), 2**self.depth
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
        self.best = self._least(self.costs)
        self.high = np.maximum(-self._least(-self.costs), 0.0)
        self.rows = ProgramRows()
        self._tree_constraints()
        self._leaf_constraints()
        self._decision_constraints()

    def _least(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the best decision for each of some cost vectors costs."""
        decisions = self._decide(costs)
        return np.asarray(np.einsum("ij,ij->i", costs, decisions))

    def _decide(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.oracle.decide(costs if self.oracle.sense == "min" else -costs)

    def _tree_constraints(self) -> None:
        for t in range(self.n_branches):
            self.rows.add(-np.inf, self.a[t], np.ones(len(self.tests)), 1.0)
            if t > 0:
                above = self.a[(t - 1) // 2]
                signs = np.concatenate([np.ones(len(above)), -np.ones(len(above))])
                self.rows.add(0.0, np.concatenate([above, self.a[t]]), signs)
        if self.start.max_splits is not None:
            most = float(self.start.max_splits)
            self.rows.add(-np.inf, self.a.ravel(), np.ones(self.a.size), most)

    def _leaf_constraints(self) -> None:
        least = min(float(self.start.min_samples_leaf), float(self.weights.sum()))
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
            held = np.append(self.weights, -least)
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

    def model(self) -> Any:
        """Return HiGHS with the program in it."""
        lower, upper = np.zeros(self.n_variables), np.ones(self.n_variables)
        integer = np.zeros(self.n_variables, dtype=np.bool_)
        integer[self.a.ravel()] = integer[self.r.ravel()] = integer[self.used] = True
        lower[self.y.ravel()] = np.repeat(-np.maximum(-self.best, 0.0), self.n_leaves)
        upper[self.y.ravel()] = np.inf
        lower[self.w], upper[self.w] = self.feasible.lower, self.feasible.upper
        integer[self.w] = self.feasible.integer
        objective = np.zeros(self.n_variables)
        objective[self.y.ravel()] = np.repeat(self.weights, self.n_leaves)
        objective[self.a.ravel()] = self.penalty
        return self.rows.model(lower, upper, integer, objective)

    def first_point(self) -> NDArray[np.float64]:
        """Return the greedy tree as values of all variables but the auxiliary ones of decisions."""
        x = np.zeros(self.n_variables)
        tree, decisions = self.start.tree_, self.start.decisions_
        places = {test: column for column, test in enumerate(self.start.encoder_.tests_)}
        rest = self.feasible.lower[self.costs.shape[1] :]
        # Leaves that are not used may decide anything.
        x[self.w] = np.concatenate([decisions[0], rest])
        stack = [(0, 0, np.arange(self.n_rows), 0)]
        while stack:
            node, place, rows, depth = stack.pop()
            if tree.test[node] >= 0:
                column = places[tree.tests[tree.test[node]]]
                x[self.a[place, column]] = 1.0
                holds = self.columns[rows, column] != 0
                child = int(tree.first_child[node])
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

    def loss(self, x: NDArray[np.float64]) -> float:
        """Return what the tree of some values costs, without splits that separate nothing."""
        asks, total = x[self.a], 0.0
        waiting = [(0, np.arange(self.n_rows))]
        while waiting:
            place, rows = waiting.pop()
            while place < self.n_branches and asks[place].max() > 0.5:
                holds = self.columns[rows, int(asks[place].argmax())] != 0
                if holds.any() and not holds.all():
                    total += self.penalty
                    waiting += [(2 * place + 1, rows[holds]), (2 * place + 2, rows[~holds])]
                    break
                place = 2 * place + (1 if holds.all() else 2)
            else:
                total += float(self._least((self.weights[rows] @ self.costs[rows])[None, :])[0])
                total -= float(self.weights[rows] @ self.best[rows])
        return total


def solve(
    oracle: Any,
    X: Any,
    C: Any,
    sample_weight: Any = None,
    *,
    time_limit: float = np.inf,
    **limits: Any,
) -> Answer:
    """Solve the program for trees within the limits of an :class:`certree.SPOTree`."""
    begin = perf_counter()
    start = SPOTree(oracle, "greedy", verbose=0, **limits).fit(X, C, sample_weight)
    weights = np.ones(len(C)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    program = Program(start, X, C, weights)
    model = program.model()
    known = bound_by_decisions(program)
    largest = max(float(weights @ program.high), 1e-300)
    point = program.first_point()
    said = _run(model, point, 1e-12 * largest, time_limit - (perf_counter() - begin))
    info = model.getInfo()
    loss = program.loss(point)
    if info.primal_solution_status == 2:
        loss = min(loss, program.loss(np.array(model.getSolution().col_value)))
    bound = float(info.mip_dual_bound) - float(weights @ program.best) - 1e-9 * largest
    is_proven = said == "Optimal"
    return Answer(loss, loss if is_proven else min(max(bound, known), loss), is_proven)


def bound_by_decisions(program: Program) -> float:
    """Return a lower bound on the loss of all trees plus their penalty.

    A tree takes at most as many decisions as it has leaves. So it costs no less than the best
    choice of so many decisions, each row having the best of them for itself; and that no less than
    its linear relaxation, which is solved here: every tree is a point of it, with 1 for its
    decisions, of which there are at most one more than it has splits. Zero where decisions are not
    listed.
    """
    count = program.oracle.n_decisions
    if count is None or count * program.n_rows > MOST_CHOICES:
        return 0.0
    losses = program.costs @ program.oracle.decisions().T
    losses = program.weights[:, None] * (losses - losses.min(axis=1, keepdims=True))
    splits, penalty = program.start.max_splits, program.penalty
    n_leaves = program.n_leaves if splits is None else min(program.n_leaves, int(splits) + 1)
    n, m = losses.shape
    chosen, given = np.arange(m), np.arange(m, m + n * m).reshape(n, m)
    rows = ProgramRows()
    rows.add(1.0, chosen, np.ones(m), float(n_leaves))
    rows.put(rows.begin(np.ones(n), 1.0)[:, None], given, 1.0)
    within = rows.begin(np.zeros((n, m)), np.inf)
    rows.put(within, chosen, 1.0)
    rows.put(within, given, -1.0)
    largest = max(float(losses.max(axis=1).sum()), penalty * m, 1e-300)
    objective = np.append(np.full(m, penalty), losses.ravel()) / largest
    none = np.zeros(m + n * m)
    model = rows.model(none, none + 1, none, objective)
    model.run()
    if model.modelStatusToString(model.getModelStatus()) != "Optimal":
        return 0.0
    # One leaf has no split.
    return max((model.getInfo().objective_function_value - 1e-9) * largest - penalty, 0.0)


def _run(model: Any, start: NDArray[np.float64], gap: float, seconds: float) -> str:
    """Let HiGHS search from a starting point; return what it says."""
    import highspy

    warm = highspy.HighsSolution()
    warm.col_value = start
    model.setSolution(warm)
    for name, value in (
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", gap),
        ("mip_feasibility_tolerance", TOLERANCE),
        ("primal_feasibility_tolerance", TOLERANCE),
        ("dual_feasibility_tolerance", TOLERANCE),
        ("time_limit", max(seconds, 0.0)),
    ):
        model.setOptionValue(name, value)
    model.run()
    return str(model.modelStatusToString(model.getModelStatus()))
