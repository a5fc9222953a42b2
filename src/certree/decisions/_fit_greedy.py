"""Fits of trees that decide, grown one split at a time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from certree.encoding._row_cells import as_columns
from certree.engine._budget import current
from certree.fitting.certify import certify
from certree.fitting.fitted import Fitted
from certree.fitting.goals import TaskGoal
from certree.fitting.request import Request
from certree.fitting.state_task import state_task
from certree.results._activity import phase
from certree.results._answer import Answer
from certree.results._certificate import exact
from certree.results._task_certificate import TaskCertificate

from . import _greedy
from ._spo_nodes import DecidedNodes, DecisionStatement, grown_costs, growth_of


@dataclass(frozen=True, kw_only=True)
class DecisionGoal(TaskGoal):
    """Decisions by predicted costs.

    Attributes
    ----------
    criterion : str
        What trees that are grown split by split minimise.
    is_flat : bool
        Whether the costs of the rows had one axis.
    """

    criterion: str
    is_flat: bool


@dataclass(frozen=True)
class GrownNodes:
    """A tree that was grown split by split.

    Attributes
    ----------
    decided : DecidedNodes
        The tree that is kept.
    costs : array of shape (n_nodes,)
        What its nodes cost by the criterion.
    """

    decided: DecidedNodes
    costs: NDArray[Any]


def fit_greedy(request: Request) -> Fitted:
    """Grow a tree that decides, split by split."""
    call = current()
    statement = state_task(request, "rows", DecisionStatement)
    start = perf_counter()
    phase("growing the tree")
    grown = _grow(request, statement)
    seconds = perf_counter() - start
    stopped_by = None if call is None else call.status()
    answer = _answer(statement, grown.decided, stopped_by or "greedy", seconds)
    return Fitted(
        goal=request.goal,
        statement=statement,
        tree=statement.tree_of(grown.decided),
        details=grown,
        certificate=certify(request, statement, answer, TaskCertificate),
    )


def _grow(request: Request, statement: DecisionStatement) -> GrownNodes:
    """Grow a tree by the criterion, and leave out splits that do not pay."""
    goal, scale = request.goal, statement.scale
    assert isinstance(goal, DecisionGoal)
    columns, weights = as_columns(statement.columns), statement.rows.weights
    growth = growth_of(statement.problem, columns, weights, goal.criterion)
    penalty: Any = 0.0
    if goal.criterion == "spo":
        penalty = Fraction(scale.split_penalty, scale.error_scale)
    nodes = _greedy.grow(
        growth,
        max_depth=request.size.max_depth,
        max_splits=request.size.max_splits,
        min_weight=statement.least_weight,
    )
    costs = grown_costs(growth, nodes)
    nodes, origin = _greedy.collapse(nodes, costs, penalty)
    return GrownNodes(statement.decide(nodes), costs[origin])


def _answer(
    statement: DecisionStatement, decided: DecidedNodes, status: str, seconds: float
) -> Answer:
    """Return what is known of a tree that was grown: it loses nothing at best."""
    scale, value = statement.scale, decided.value(statement.scale)
    bound = min(0, value)
    return Answer(
        "optimal" if bound == value else status,
        exact(scale.cost(value)),
        exact(scale.cost(bound)),
        decided.nodes,
        seconds,
        {},
    )
