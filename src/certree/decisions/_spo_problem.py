"""The SPO loss as the search reads it: regret of one decision for all rows of a leaf.

The loss of a leaf with the rows R is ``min over decisions w of (sum of c_i) w - sum of z*(c_i)``.
With few decisions these are costs per row and decision, as for any label; otherwise the oracle is
asked for the best decision of every sum of cost vectors that the search looks at.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.engine._budget import current
from certree.numbers._exact import check_weights
from certree.numbers._fixed_point import (
    FixedPoint,
    check_numbers,
    finest,
    fixed_point,
    refuse_tiny,
)
from certree.numbers._fractions import to_float
from certree.oracles import Decisions, Oracle, OracleError, as_oracle
from certree.tasks._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task

# Sums of integers below this are exact in float64, in whatever order they are added.
_EXACT = 2**52

# Real decisions are counted to this share of the unit of the cost vectors.
_COARSER = 2**12

# Answers of an oracle that are remembered by the sums they belong to.
_MOST_KNOWN = 2**18


# No oracle is turned into a table of more costs per row and decision than this.
_MOST_ENTRIES = 20_000_000


class SPOProblem(LeafProblem):
    """What both kinds share: the cost vectors as integers, and how decisions are told.

    Costs are turned round for oracles that maximise, so that less is always better here.
    """

    def __init__(self, oracle: Oracle, costs: NDArray[np.float64], rows: Rows) -> None:
        rows.check_range()
        refuse_tiny(costs, "costs")
        largest = float(np.abs(costs).max(initial=0.0))
        finest(largest * to_float(rows.total_weight) or 1.0, 2**62)  # refuses what leaves float64
        self.oracle = oracle
        self.sign = 1.0 if oracle.sense == "min" else -1.0
        self.true_costs = costs
        self.total_weight = rows.total_weight
        self.complexity_unit = rows.total_weight
        self.constant = Fraction(0)
        self.weights = rows.weights
        self.row_counts: NDArray[np.int64] | None = None
        self.n_vectors = self.n_batches = 0
        self.n_solved_before = getattr(oracle, "n_solved", 0)

    def engine_settings(self) -> dict[str, Any]:
        return {} if self.row_counts is None else {"row_counts": self.row_counts}

    def ask(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the oracle's decisions for costs that are to be small, and count them."""
        self.n_vectors += len(costs)
        self.n_batches += 1
        return self.oracle.decide(self.sign * costs)

    @abstractmethod
    def decide(self, sums: Sums) -> NDArray[np.float64]:
        """Return the decisions of leaves with these sums."""

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        return self.decide(sums)

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str]:
        losses = [to_float(units * self.unit) for units in self.units(sums).tolist()]
        pairs = zip(amounts, losses, strict=True)
        return [f"{amount}, loss {loss:.5g}" for amount, loss in pairs]

    objective_name = "mean regret"

    def objective(self, cost: Fraction) -> float:
        return float(cost / self.total_weight)

    def counters(self) -> dict[str, int]:
        """Return how often the oracle was asked."""
        found = {"oracle_vectors": self.n_vectors, "oracle_batches": self.n_batches}
        if hasattr(self.oracle, "n_solved"):
            found["oracle_solves"] = self.oracle.n_solved - self.n_solved_before
        return found


class ListedProblem(SPOProblem):
    """Few decisions: what each costs each row above the row's best."""

    kind: ClassVar[str] = "min_label"

    def __init__(
        self,
        oracle: Oracle,
        costs: NDArray[np.float64],
        rows: Rows,
        most: int,
        table: NDArray[np.float64],
    ) -> None:
        super().__init__(oracle, costs, rows)
        entries = fixed_point(table, float(np.abs(table).max()) or 1.0, 2**20)
        whole = entries.values
        weighed, weights = rows.weigh(costs)
        amounts = np.abs(weighed) @ np.abs(whole).T.astype(np.float64)
        total = float(weights @ amounts.max(axis=1))
        fixed = fixed_point(self.sign * weighed, total, most)
        above = _exact_product(fixed.values, whole.T)
        above -= above.min(axis=1, keepdims=True)
        self.table = table
        losses = self.sign * weighed @ table.T
        losses -= losses.min(axis=1, keepdims=True)
        self.whole = Fraction(float((weights @ losses).min())) * rows.quantum
        self.kept = _not_dominated(above)
        above = above[:, self.kept] * weights[:, None]
        common = max(int(np.gcd.reduce(above, axis=None)), 1)
        self.statistics = np.ascontiguousarray(above // common)
        self.unit = fixed.quantum * entries.quantum * rows.quantum * common
        # The search makes room for the worst decision of every row.
        self.largest = max(int(self.statistics.max(axis=1).sum()), 1)
        weight = int(weights.sum()) * rows.quantum
        self.rounding = weight * self._error(fixed.error + rows.noise(weighed), entries, weighed)

    def _error(
        self, error: Fraction, entries: FixedPoint, weighed: NDArray[np.float64]
    ) -> Fraction:
        """Bound what rounding changes: for each row in its decision, and in its best one."""
        longest = Fraction(float(np.abs(self.table).sum(axis=1).max()))
        total = error * longest
        if entries.error:
            total += entries.error * Fraction(float(np.abs(weighed).sum(axis=1).max()))
        return 2 * total

    def counters(self) -> dict[str, int]:
        """Return how often the oracle was asked, and how many decisions are in the list."""
        return {**super().counters(), "decisions_listed": len(self.kept)}

    def units(self, sums: Sums) -> NDArray[np.int64]:
        return np.asarray(sums.min(axis=1))

    def single_leaf(self) -> Fraction:
        # Before rounding, which may leave nothing of it.
        return self.whole

    def decide(self, sums: Sums) -> NDArray[np.float64]:
        chosen: NDArray[np.float64] = self.table[self.kept[sums.argmin(axis=1)]]
        return chosen


class OracleProblem(SPOProblem):
    """Any oracle: sums of cost vectors, and of the rows' own best values.

    z* is concave and positively homogeneous, so the loss of a leaf is superadditive; a row more
    adds at most the largest regret that any decision has for it.
    """

    kind: ClassVar[str] = "callback"

    def __init__(self, oracle: Oracle, costs: NDArray[np.float64], rows: Rows, most: int) -> None:
        super().__init__(oracle, costs, rows)
        best = self._own(rows)
        weighed, weights = rows.weigh(costs)
        amounts = np.abs(weighed).sum(axis=1) * max(float(np.abs(best).max()), 1.0)
        total = float(weights @ amounts)
        fixed = fixed_point(self.sign * weighed, total, most)
        if not oracle.is_integral:
            fixed = _finer(fixed, total, most)
        self.known: dict[bytes, int] = {}
        self.coarser = 1 if oracle.is_integral else _COARSER
        self.n_costs = costs.shape[1]
        if oracle.is_integral:
            own = (fixed.values * np.rint(best).astype(np.int64)).sum(axis=1)
        else:
            own = np.rint((fixed.values * best).sum(axis=1)).astype(np.int64)
        self.statistics = np.hstack([fixed.values, own[:, None]]) * weights[:, None]
        self.quantum = fixed.quantum * rows.quantum
        self.unit = self.quantum * self.coarser
        self.largest = max(int(self.units(self.statistics.sum(axis=0)[None, :])[0]), 1)
        error = fixed.error + rows.noise(weighed)
        longest = Fraction(float(np.abs(best).sum(axis=1).max()))
        self.rounding = 2 * error * longest * int(weights.sum()) * rows.quantum
        if not oracle.is_integral:
            self.rounding += int(weights.sum()) * self.quantum / 2
            self.rounding += 2 * rows.most_leaves * self.unit
        # Solvers may miss the best value of a leaf's sum, and of each row.
        self.rounding += 2 * Fraction(oracle.tolerance) * Fraction(total) * rows.quantum
        if total == 0:
            self.rounding = Fraction(0)
        self.worst_change = self._worst_change(rows)
        if self.worst_change is not None:
            # The search makes room for the worst decision of every row.
            self.largest = max(self.largest, int(self.worst_change.sum()))

    def _own(self, rows: Rows) -> NDArray[np.float64]:
        """Return the best decision of every row; complaints are about the caller's rows."""
        costs = self.sign * self.true_costs
        if rows.kept is None:
            return self.ask(costs)
        # Rows that do not count take the place of theirs.
        table = np.repeat(costs[:1], rows.n_rows, axis=0)
        table[rows.kept] = costs
        decisions: NDArray[np.float64] = self.ask(table)[rows.kept]
        return decisions

    def _worst_change(self, rows: Rows) -> NDArray[np.int64] | None:
        """Return the largest regret of any decision for each row, if that is bounded."""
        vectors = self.statistics[:, : self.n_costs]
        try:
            worst = self._best(-vectors)
        except OracleError:
            return None
        values = self._values(vectors, worst) - self.statistics[:, self.n_costs]
        # Rounded up, and one more for the integer parts of two costs.
        extra = 0 if self.oracle.is_integral else 1
        changes = np.ceil(np.asarray(values, dtype=np.float64) / self.coarser) + extra
        return np.asarray(np.clip(changes, 0, self.largest), dtype=np.int64)

    def _values(self, vectors: Sums, decisions: NDArray[np.float64]) -> NDArray[Any]:
        """Return what decisions cost: exactly if they are whole."""
        if self.oracle.is_integral:
            whole = np.rint(decisions).astype(np.int64)
            return np.asarray(np.einsum("ij,ij->i", vectors, whole))
        return np.asarray(np.einsum("ij,ij->i", vectors.astype(np.float64), decisions))

    def engine_settings(self) -> dict[str, Any]:
        return {
            **super().engine_settings(),
            "leaf_function": self.units,
            "superadditive": True,
            "worst_change": self.worst_change,
        }

    def units(self, sums: Sums) -> NDArray[np.int64]:
        if self.oracle.is_fast:
            return self._ask_units(sums)
        keys = [line.tobytes() for line in np.ascontiguousarray(sums)]
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self.known}
        answers = {}
        if first:
            answers = dict(zip(first, self._ask_units(sums[list(first.values())]), strict=True))
        units = [answers[key] if key in answers else self.known[key] for key in keys]
        if len(self.known) + len(answers) <= _MOST_KNOWN:
            self.known.update(answers)
        return np.array(units, dtype=np.int64)

    def _ask_units(self, sums: Sums) -> NDArray[np.int64]:
        vectors = sums[:, : self.n_costs]
        values = self._values(vectors, self._best(vectors))
        losses = values - sums[:, self.n_costs]
        if not self.oracle.is_integral:
            # Integer parts keep superadditivity; noise of float64 counts as zero.
            losses = np.floor(losses / self.coarser + 2.0**-6)
        return np.maximum(losses, 0).astype(np.int64)

    def decide(self, sums: Sums) -> NDArray[np.float64]:
        return self._best(sums[:, : self.n_costs])

    def _best(self, vectors: Sums) -> NDArray[np.float64]:
        """Ask for sums: as integers, or in the user's numbers where the user's code sees them."""
        unit = 1.0 if self.oracle.is_fast else float(self.quantum)
        return self.ask(vectors.astype(np.float64) * unit)


class SPOLoss(Task):
    """The SPO loss of cost vectors under an oracle, as a task of the search."""

    name: ClassVar[str] = "spo_loss"
    laws: Laws = Laws(superadditive=True)

    def __init__(self, costs: Any, oracle: Any, max_listed: int, has_penalty: bool = True) -> None:
        self.costs = costs
        self.oracle = oracle
        self.max_listed = max_listed
        self.has_penalty = has_penalty

    def on(self, y: Any, rows: Rows) -> SPOProblem:
        costs = read_costs(self.costs, rows.n_rows)
        oracle = as_oracle(self.oracle, costs.shape[1])
        counted = rows.select(costs)
        # Without a penalty none of the range has to be kept free for its denominator.
        most = min(_EXACT, rows.most if self.has_penalty else rows.budget)
        call = current()
        # While the oracle is asked, there is no tree that Ctrl-C could return.
        with nullcontext() if call is None else call.nothing_to_return():
            table = listed(oracle, min(self.max_listed, _MOST_ENTRIES // max(len(counted), 1)))
            if table is not None:
                return ListedProblem(oracle, counted, rows, most, table)
            return OracleProblem(oracle, counted, rows, most)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        costs = read_costs(self.costs, n_rows)
        oracle = as_oracle(self.oracle, costs.shape[1])
        sign = 1.0 if oracle.sense == "min" else -1.0
        values = oracle.solve(costs).values

        def cost(sums: NDArray[Any]) -> NDArray[np.float64]:
            loss = sign * (oracle.solve(sums[:, :-1]).values - sums[:, -1])
            return np.asarray(np.maximum(loss, 0.0))

        return LeafCosts(np.hstack([costs, values[:, None]]), cost)


def read_costs(costs: Any, n_rows: int) -> NDArray[np.float64]:
    """Return a table of cost vectors; a single column may come as a vector."""
    table = np.asarray(costs)
    if table.ndim == 1:
        table = table[:, None]
    return check_numbers(table, "C", (n_rows, None), exactly=True)


def read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the weights of rows that are judged; some row must count."""
    return np.ones(n_rows) if weights is None else check_weights(weights, n_rows)


def read_target(costs: Any, n_rows: int, name: str) -> tuple[NDArray[np.float64], bool]:
    """Return the cost vectors of a fit, and whether they came as a single column without axis."""
    if costs is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None; give the cost vectors."
        )
    return read_costs(costs, n_rows), np.asarray(costs).ndim == 1


def listed(oracle: Oracle, most: int) -> NDArray[np.float64] | None:
    """Return the decisions of an oracle if it has at most so many; lists are always used."""
    count = oracle.n_decisions
    if count is None or (count > most and not isinstance(oracle, Decisions)):
        return None
    return oracle.decisions()


def _finer(fixed: FixedPoint, total: float, most: int) -> FixedPoint:
    """Return the same numbers in a unit so fine that their total fills the range."""
    factor = max(int(most / max(total / float(fixed.quantum), 1.0)), 1)
    return FixedPoint(fixed.values * factor, fixed.quantum / factor, fixed.error)


def _exact_product(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Multiply matrices of integers whose sums are below 2**53, by the fast product of floats."""
    product = left.astype(np.float64) @ right.astype(np.float64)
    return product.astype(np.int64)


def _not_dominated(above: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the decisions for which no other costs every row as little, the first of equals."""
    lines = np.ascontiguousarray(above.T)
    # A few rows tell most decisions apart.
    first = lines[:, :64]
    kept = np.zeros(0, dtype=np.intp)
    # In the order of their totals: a decision is dominated only by one with no greater total.
    order = np.lexsort((np.arange(len(lines)), lines.sum(axis=1)))
    for k in order.tolist():
        candidates = kept[(first[kept] <= first[k]).all(axis=1)]
        if not any((lines[j] <= lines[k]).all() for j in candidates):
            kept = np.append(kept, k)
    return np.sort(kept)
