"""The result of a search in the user's terms."""

from __future__ import annotations

from dataclasses import dataclass, field

from certree import engine
from certree.engine._alarms import check_bounds
from certree.engine._within_limits import LimitedResult
from certree.numbers._scale import Scale
from certree.tree._nodes import Nodes

from ._certificate import Exact, exact

History = tuple[tuple[float, int, Exact, Exact], ...]
"""Seconds, work, upper bound and lower bound, in units of cost."""


@dataclass(frozen=True)
class Answer:
    """A tree, its cost, and the lower bound on the cost of all trees.

    Attributes
    ----------
    status : str
        What ended the search; see :class:`Certificate`.
    cost : int or Fraction or None
        Cost of the tree; None if there is no tree.
    lower_bound : int or Fraction
        No tree costs less.
    nodes : Nodes
        The tree; empty if there is none.
    seconds, counters, history
        As in a certificate; seconds are those of the search.
    """

    status: str
    cost: Exact | None
    lower_bound: Exact
    nodes: Nodes
    seconds: float
    counters: dict[str, int]
    history: History = field(default=())

    @classmethod
    def without_tree(cls, result: engine.Result) -> Answer:
        """Return the result of a search that found no tree; its bound is in other units."""
        seconds, counters = result.seconds, dict(result.counters)
        return cls(result.status, None, 0, result.nodes, seconds, counters)

    @classmethod
    def of(cls, result: engine.Result | LimitedResult, scale: Scale) -> Answer:
        """Return the result of a search in units of cost."""
        upper = result.upper_bound
        cost = None if upper is None else exact(scale.cost(upper))
        lower = exact(scale.cost(result.lower_bound))
        if cost is not None:
            check_bounds(lower, cost)
        # From one entry of the history to the next one of its two bounds stays.
        bounds = {value for *_, u, l in result.history for value in (u, l) if value is not None}
        costs = {value: exact(scale.cost(value)) for value in bounds}
        return cls(
            # A proven value is optimal, also if a budget ended the choice among equal trees.
            status="optimal" if cost == lower else result.status,
            cost=cost,
            lower_bound=lower,
            nodes=result.nodes,
            seconds=result.seconds,
            counters=dict(result.counters),
            history=tuple(
                (seconds, work, costs[u], costs[l])
                for seconds, work, u, l in result.history
                if u is not None and l is not None
            ),
        )
