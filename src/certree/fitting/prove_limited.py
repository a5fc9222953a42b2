"""Trees within limits on the whole tree: from a composed task to tree and certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._within_limits import Closest, DualCut, LimitedProblem
from certree.numbers._scale import Scale, fitting_penalty
from certree.proofs._limit_search import solve_limited
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._limit_certificate import (
    Cut,
    LimitedCertificate,
    LimitValue,
    Reach,
)
from certree.results._progress import Callback, Measure, Observer
from certree.tasks._limited import Limited, LimitedOnRows, Planes
from certree.tree import Payload

from .fitted import Fitted, conclude
from .request import Request, SizeRequest
from .state_task import Reached, TaskStatement, scale_of, state_task

# The most that the splits of a tree may cost, and its leaves, in units of the search.
_MOST_PENALTIES = 2**56
_MOST_TOTAL = 2**46


@dataclass(frozen=True, kw_only=True)
class LimitedStatement(TaskStatement):
    """A task with limits on the whole tree, or several objectives, on the rows of a table."""

    @property
    def limited(self) -> LimitedOnRows:
        """Objectives and limits on these rows."""
        assert isinstance(self.on_rows, LimitedOnRows)
        return self.on_rows

    @cached_property
    def planes(self) -> Planes:
        """What the search minimises and keeps to."""
        return self.limited.planes(self.scale.error_scale, self.scale.split_penalty)

    @property
    def sources(self) -> list[tuple[int, int]]:
        """Which limit each plane after the objectives stands for, and with which sign."""
        return self.planes.sources

    @property
    def limited_problem(self) -> LimitedProblem:
        """What the search is asked."""
        planes, on_rows = self.planes, self.limited
        more = [problem.largest for problem in on_rows.problems[1:]]
        others = [f"objective {k}" for k in range(2, 2 + len(more))]
        problem = LimitedProblem(
            columns=self.columns,
            values=on_rows.values(),
            planes=np.stack(planes.lines),
            bounds=(*more, *planes.bounds),
            names=(*others, *planes.names),
            label_counts=on_rows.label_counts,
            label_min=on_rows.label_min,
            row_counts=self.row_counts,
            finer=(*(None for _ in more), *planes.finer),
        )
        if self.measurements is None:
            return problem
        prices = self.measurements.for_engine(self.problem)
        return problem.with_prices(prices, self.rows.weights, self.scale.error_scale)

    def payload(self, nodes: engine.Nodes, reached: Reached) -> Payload:
        """Return the labels that the search gave the leaves."""
        classes = self.problem.classes()
        assert classes is not None
        label = np.where(nodes.is_leaf, nodes.label, -1).astype(np.int32)
        return self.labels(nodes, reached.leaves, label, classes)

    def limit_values(self, nodes: engine.Nodes) -> tuple[LimitValue, ...]:
        """Return the limits, with the totals of a tree."""
        return limit_values(self.limited, nodes.label[nodes.route(self.columns)])

    def needed(self) -> tuple[tuple[str, int], ...]:
        """Return the rows that labels need in their leaves."""
        return self.limited.needed(self.limited.problems[0].labels)


def state_limited(request: Request) -> LimitedStatement:
    """Encode the table and turn objectives and limits into integers."""
    is_front = not isinstance(request.task.task, Limited)
    statement = state_task(request, "front" if is_front else "tree", LimitedStatement)
    return replace(statement, scale=_with_full_penalty(request.size, statement))


def _with_full_penalty(size: SizeRequest, statement: LimitedStatement) -> Scale:
    """Return the scale with the penalty as it was given.

    Without limits a penalty above all that a split can save is as good as any other; with them,
    trees may need splits at any price.
    """
    problem = statement.problem
    units = statement.scale.complexity * problem.complexity_unit / problem.unit
    most = _MOST_PENALTIES // len(statement.rows.weights)
    if units > most:
        raise ValueError(
            f"complexity={size.complexity!r} is too large for a search with limits: a split would "
            f"cost {float(units):.3g} times the smallest difference between two costs, and at most "
            f"{most:.3g} times fits 64 bits."
        )
    room = min(statement.rows.budget, _MOST_TOTAL) // max(problem.largest, 1)
    room = max(min(room, most // max(ceil(units), 1)), 1)
    return scale_of(size, problem, fitting_penalty(units, room))


def fit_within(request: Request) -> Fitted:
    """Find the best tree within limits.

    If there is no tree within the limits, or none was found in time, the certificate says why.
    """
    statement = state_limited(request)
    scale = statement.scale
    options = request.options(statement)
    options = replace(options, gap=scale.gap(request.gap, statement.most_cost))
    watch = None
    if request.is_watched:
        largest = statement.problem.largest * scale.error_scale
        watch = LimitedObserver(scale.cost, request.callback, statement.measure, largest)
    result = solve_limited(statement.limited_problem, options, callback=watch)
    answer = Answer.of(result, scale)
    cuts = tuple(user_cut(statement, cut) for cut in result.cuts)
    if answer.cost is None:
        reach = reach_of(statement.limited, statement.sources, result.closest)
        limits = limit_values(statement.limited, reach=reach)
        proven: dict[str, Any] = {"proof": stated_proof(result.proof, limits, cuts)}
    else:
        limits = statement.limit_values(answer.nodes)
        proven = {"dual_bound": _dual_bound(statement, result.cuts)}
    return conclude(
        request,
        statement,
        answer,
        LimitedCertificate,
        watch=watch,
        limits=limits,
        cuts=cuts,
        n_solves=result.n_solves,
        n_rounds=result.n_rounds,
        leaf_minimum=statement.needed(),
        **proven,
    )


def limit_values(
    limited: LimitedOnRows,
    labels: NDArray[np.int32] | None = None,
    reach: Mapping[tuple[int, int], Reach] | None = None,
) -> tuple[LimitValue, ...]:
    """Return the limits, with the totals for labels of rows or with how near trees come."""
    totals: Sequence[Fraction | None] = [None] * len(limited.limits)
    if labels is not None:
        totals = limited.totals(labels)
    near = {} if reach is None else reach
    return tuple(
        LimitValue(
            limit.name,
            None if total is None else exact(total),
            None if limit.at_most is None else exact(limit.at_most),
            None if limit.at_least is None else exact(limit.at_least),
            0,
            exact(limit.unit),
            near.get((j, 1)),
            near.get((j, -1)),
        )
        for j, (limit, total) in enumerate(zip(limited.limits, totals, strict=True))
    )


def stated_proof(proof: str, limits: Sequence[LimitValue], cuts: Sequence[Cut]) -> str:
    """Return the proof that there is no tree: "dual" only if a limit or a cut shows it by itself.

    Totals beyond 64 bits are searched in digits, and a search may also use that leading digits are
    whole numbers. A cut in the user's terms does not say that.
    """
    if proof != "dual":
        return proof
    for limit in limits:
        if None not in (limit.at_most, limit.at_least) and _within(limit, 1) < _within(limit, -1):
            return proof
    for first, *weights, value in cuts:
        pairs = [(b, limit) for b, limit in zip(weights, limits, strict=True) if b]
        most = sum((b * _within(limit, 1 if b > 0 else -1) for b, limit in pairs), Fraction(0))
        if first == 0 and value > most:
            return proof
    return "search"


def _within(limit: LimitValue, sign: int) -> Fraction:
    """Return the last total within a bound of a limit, from above or from below."""
    bound = limit.at_most if sign > 0 else limit.at_least
    assert bound is not None
    units = Fraction(bound) / limit.unit
    return (floor(units) if sign > 0 else ceil(units)) * Fraction(limit.unit)


def user_cut(statement: LimitedStatement, cut: DualCut) -> Cut:
    """Return a cut in terms of the cost and the limits' totals.

    The search has shown ``m_0 U + sum m_e p_e >= v`` for the objective U in its units and planes
    ``p_e`` of the limits' leading digits, which are at most ``(sign * total - least) / unit``, with
    the least that finer digits add; the cost is ``U unit + constant``.
    """
    first = cut.multipliers[0] / statement.scale.unit
    value = cut.value + first * statement.scale.constant
    totals = [Fraction(0)] * len(statement.limited.limits)
    for (j, sign), multiplier in zip(statement.sources, cut.multipliers[1:], strict=True):
        limit = statement.limited.limits[j]
        totals[j] += Fraction(sign * multiplier) / limit.leading_unit
        value += Fraction(multiplier * limit.amounts.least_finer(sign), 2**limit.amounts.shift)
    return tuple(exact(number) for number in (first, *totals, value))


def _dual_bound(statement: LimitedStatement, cuts: Sequence[DualCut]) -> Exact | None:
    """Return the best bound on the cost that follows from cuts for trees within the limits."""
    limits = statement.limited.limits
    sides = [
        Fraction(bound, 2**limit.amounts.shift) for limit in limits for bound, _ in limit.sides
    ]
    bounds = []
    for cut in cuts:
        first, *_, value = user_cut(statement, cut)
        if first:
            rest = sum(m * b for m, b in zip(cut.multipliers[1:], sides, strict=True))
            bounds.append(Fraction(value - rest) / first)
    return exact(max(bounds)) if bounds else None


def reach_of(
    limited: LimitedOnRows, sources: Sequence[tuple[int, int]], closest_found: Sequence[Closest]
) -> dict[tuple[int, int], Reach]:
    """Return how near trees come to each side of each limit."""
    reach: dict[tuple[int, int], Reach] = {}
    for closest in closest_found:
        j, sign = sources[closest.limit]
        unit = sign * limited.limits[j].unit
        attained = None if closest.attained is None else exact(closest.attained * unit)
        reach[j, sign] = Reach(exact(closest.lower_bound * unit), attained)
    return reach


class LimitedObserver(Observer):
    """Watch a search within limits; callbacks see the costliest tree until a tree is known."""

    def __init__(
        self,
        to_cost: Callable[[int], Exact],
        callback: Callback | None,
        measure: Measure,
        largest: int,
    ) -> None:
        super().__init__(to_cost, callback, measure)
        self._largest = largest
        self._has_tree = False

    def __call__(self, event: engine.Event) -> bool:
        upper, lower = event.get("upper_bound"), event.get("lower_bound")
        self._has_tree = upper is not None
        bounds = {
            "upper_bound": self._largest if upper is None else upper,
            "lower_bound": 0 if lower is None else lower,
        }
        return super().__call__({**event, **bounds})

    def text(self) -> str:
        now = self.progress()
        return self.text_of(now.upper_bound if self._has_tree else None, now.lower_bound)
