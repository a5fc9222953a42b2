"""Watching the searches for a fair tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from certree import engine
from certree.proofs._metric_search import MetricResult
from certree.results._certificate import Exact, exact
from certree.results._progress import Callback, Measure, Observer, Progress, trees_so_far

from .prove_metric import decimal
from .request import Request
from .state_groups import FairMetricStatement, FairStatement


class FairObserver(Observer):
    """Watch the searches of a fit; the tree of the first search may be out of limits."""

    def __init__(
        self,
        to_cost: Callable[[Any], Exact],
        callback: Callback | None,
        measure: Measure,
        knows_lower: bool,
        knows_upper: bool,
    ) -> None:
        super().__init__(to_cost, callback, measure)
        self._knows_lower = knows_lower
        self._knows_upper = knows_upper
        self._lower: Exact = 0
        self._upper: Exact | None = None
        self._seconds, self._work = 0.0, 0

    def go_on(self, free: engine.Result | MetricResult) -> None:
        """From here on, events are about trees within limits; bounds for all trees still hold."""
        self._knows_upper = self._knows_lower
        if isinstance(free, MetricResult):
            self._lower = self._to_cost(1 - float(free.bound))
        else:
            self._lower = exact(self._to_cost(free.lower_bound))
        self._seconds = free.seconds
        self._work = free.history[-1][1] if free.history else 0

    def __call__(self, event: engine.Event) -> bool:
        # While points of a curve are searched, events have no bounds.
        upper, lower = event.get("upper_bound"), event.get("lower_bound")
        if self._knows_lower and lower is not None:
            self._lower = max(self._lower, exact(self._to_cost(lower)))
        if self._knows_upper and upper is not None:
            cost = exact(self._to_cost(upper))
            self._upper = cost if self._upper is None else min(cost, self._upper)
        return super().__call__(event)

    def progress(self) -> Progress:
        event, upper, lower = self._event, self._upper, self._lower
        seconds, work = self._seconds + event["seconds"], self._work + event["work"]
        gap = None if upper is None else exact(upper - lower)
        return Progress(seconds, work, upper, lower, gap)

    def text(self) -> str:
        return super().text() if self._knows_lower else trees_so_far(self._event)

    @property
    def best(self) -> object:
        return self._upper


def watch_fair(
    request: Request, statement: FairStatement, *, has_bounds: bool = True
) -> FairObserver | None:
    """Return what watches the search, if anything does."""
    if not request.is_watched:
        return None
    # Without groups, every tree is fair.
    knows_upper = has_bounds and statement.comparison is None
    # Searches for metrics say one minus the metric.
    is_metric = isinstance(statement, FairMetricStatement)
    to_cost: Callable[[Any], Exact] = decimal if is_metric else statement.scale.cost
    measure = statement.measure
    return FairObserver(to_cost, request.callback, measure, has_bounds, knows_upper)
