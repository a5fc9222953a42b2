"""The nodes of trees that decide: what is in them, what they cost, what they are grown from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding import TableEncoder
from certree.files import written_by_fields
from certree.fitting.read import least_rows
from certree.fitting.state_task import Reached, TaskStatement
from certree.fitting.statement import tree_over
from certree.numbers._scale import Scale
from certree.oracles import Oracle
from certree.tree import ChosenDecisions, Tree

from . import _greedy
from ._spo_problem import SPOProblem

if TYPE_CHECKING:
    from typing_extensions import Self

# The core counts the rows of a leaf in 32 bits.
_MOST_ROWS = 2**31 - 1


@written_by_fields
@dataclass(frozen=True)
class DecidedNodes:
    """A tree with what every node decides, whether it is a leaf or would be one.

    Attributes
    ----------
    nodes : Nodes
        The tree over encoded columns.
    costs, decisions : array of shape (n_nodes, n_costs)
        Mean cost vector of the rows, and the decision that is best for them.
    units : int64 array of shape (n_nodes,)
        The loss, in units of the search.
    weights : array of shape (n_nodes,)
        Weight of the rows.
    rows : int64 array of shape (n_nodes,), or None
        Their number, if it is not their weight.
    """

    nodes: engine.Nodes
    costs: NDArray[np.float64]
    decisions: NDArray[np.float64]
    units: NDArray[np.int64]
    weights: NDArray[Any]
    rows: NDArray[np.int64] | None = None

    @property
    def loss(self) -> int:
        """What all leaves lose, in units of the search."""
        return int(self.units[self.nodes.is_leaf].sum())

    def value(self, scale: Scale) -> int:
        """Return what the search minimises."""
        return scale.value(self.loss, self.nodes.n_splits)

    def take(self, nodes: engine.Nodes, origin: NDArray[np.intp]) -> DecidedNodes:
        """Return a tree of some of these nodes."""
        return DecidedNodes(
            nodes,
            self.costs[origin],
            self.decisions[origin],
            self.units[origin],
            self.weights[origin],
            None if self.rows is None else self.rows[origin],
        )


@dataclass(frozen=True, kw_only=True)
class DecisionStatement(TaskStatement):
    """The SPO loss on the rows of a table; leaves hold decisions.

    Attributes
    ----------
    least_weight : int
        Least weight of a leaf, in units of the rows' weights.
    """

    least_weight: int = 1

    @property
    def min_leaf(self) -> int:
        return self.least_weight

    @property
    def may_share(self) -> bool:
        # Solvers behind an oracle are not made to be asked by several threads at once.
        return self.problem.kind != "callback"

    def with_least_rows(self, min_samples_leaf: Any) -> Self:
        # Here weights count as rows.
        rows = least_rows(min_samples_leaf, self.rows.total_weight)
        least, weights = least_units(rows, self.rows.quantum), self.rows.weights
        if least <= int(weights.min()):
            least = 1
        elif not (weights == 1).all():
            if least > _MOST_ROWS:
                raise ValueError(
                    f"min_samples_leaf={min_samples_leaf} is {least} times the unit of the "
                    "sample weights, more than the search can count; give coarser weights."
                )
            self.problem.row_counts = weights
        return replace(self, least_rows=rows, least_weight=least)

    @property
    def problem(self) -> SPOProblem:
        """What leaves lose."""
        assert isinstance(self.on_rows, SPOProblem)
        return self.on_rows

    def grow(self, nodes: engine.Nodes, reached: Reached | None = None) -> Tree:
        return self.tree_of(self.decide(nodes))

    def grow_whole(self, nodes: engine.Nodes) -> tuple[Tree, DecidedNodes]:
        """Return the tree, and what every node decides."""
        decided = self.decide(nodes)
        return self.tree_of(decided), decided

    def decide(self, nodes: engine.Nodes) -> DecidedNodes:
        """Send the rows down a tree, and decide in every node."""
        leaves, sums = self.reach(nodes)
        given = self.rows.given
        shares = self.rows.weights.astype(np.float64) if given is None else given / given.max()
        counts, n_rows = self.amounts(nodes, leaves)
        return DecidedNodes(
            nodes,
            mean_costs(nodes, leaves, self.problem.true_costs, shares),
            self.problem.decide(sums),
            self.problem.units(sums),
            counts[:, 0],
            None if np.array_equal(counts, n_rows) else n_rows[:, 0],
        )

    def tree_of(self, decided: DecidedNodes) -> Tree:
        """Return the tree whose leaves hold decisions."""
        return decision_tree(decided, self.encoder, self.problem.oracle, self.problem.unit)


def decision_tree(
    decided: DecidedNodes, encoder: TableEncoder, oracle: Oracle, unit: Fraction
) -> Tree:
    """Return the tree whose leaves hold decisions; a loss of one unit costs `unit`."""
    payload = ChosenDecisions.called(
        decided.decisions, decided.nodes.is_leaf, decided.weights, oracle.describe, decided.rows
    )
    losses = (decided.units * float(unit)).tolist()
    notes = [
        ", ".join([*payload.support(node), f"loss {loss:.5g}"]) for node, loss in enumerate(losses)
    ]
    return tree_over(encoder, decided.nodes, payload=payload, notes=notes)


def least_units(min_samples_leaf: int, quantum: Fraction) -> int:
    """Return the least weight of a leaf in units of the integer weights; 1 allows all leaves."""
    return 1 if min_samples_leaf == 1 else ceil(min_samples_leaf / quantum)


def mean_costs(
    nodes: engine.Nodes,
    leaves: NDArray[np.intp],
    costs: NDArray[np.float64],
    weights: NDArray[Any],
) -> NDArray[np.float64]:
    """Return the weighted mean of the cost vectors in every node."""
    sums = nodes.add_up(leaves, np.column_stack([costs * weights[:, None], weights]))
    means: NDArray[np.float64] = sums[:, :-1] / sums[:, -1:]
    return means


# ---- what greedy trees are grown from ------------------------------------------------------------


def growth_of(
    problem: SPOProblem,
    columns: NDArray[np.uint8],
    weights: NDArray[np.int64],
    criterion: str,
    times: NDArray[np.int64] | None = None,
) -> _greedy.Growth:
    """Return what trees are grown from, with rows that count several times or not at all."""
    costs, statistics = problem.true_costs, problem.statistics
    if times is not None:
        rows = np.flatnonzero(times)
        columns, costs, weights = columns[rows], costs[rows], weights[rows] * times[rows]
        statistics = statistics[rows] * times[rows, None]
    if criterion == "squared_error":
        return _greedy.Growth(columns, _moments(costs, weights), weights, _squared_error)
    return _greedy.Growth(
        columns,
        statistics.astype(np.float64),
        weights,
        lambda sums: problem.units(np.rint(sums).astype(np.int64)),
    )


def grown_costs(growth: _greedy.Growth, nodes: engine.Nodes) -> NDArray[Any]:
    """Return what every node of a tree costs by what the tree was grown from."""
    return growth.loss(nodes.add_up(nodes.route(growth.columns), growth.statistics))


def _moments(costs: NDArray[np.float64], weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what the squared error of cost vectors is computed from."""
    centred = costs - costs.mean(axis=0)
    table = np.column_stack([np.ones(len(costs)), centred, np.square(centred).sum(axis=1)])
    weighted: NDArray[np.float64] = table * weights[:, None]
    return weighted


def _squared_error(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared error of leaves that predict the mean."""
    weight = np.maximum(sums[:, 0], 1e-300)
    error = sums[:, -1] - np.square(sums[:, 1:-1]).sum(axis=1) / weight
    # A rounding error of a leaf without loss counts as zero.
    return np.where(error <= 1e-12 * sums[:, -1], 0.0, error)
