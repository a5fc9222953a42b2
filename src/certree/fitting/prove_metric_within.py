"""Metrics of false positives and negatives over the trees within limits on the whole tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine, metrics
from certree.engine._within_limits import LimitedProblem
from certree.numbers._exact import parse_penalty
from certree.proofs._metric_limits import ROOM_FOR_MULTIPLIERS, LimitedSession
from certree.proofs._metric_search import solve_metric_within
from certree.results._answer import Answer
from certree.results._limit_certificate import LimitedCertificate, LimitValue
from certree.tasks._limited import LimitedOnRows, Planes, limits_on

from .fitted import Fitted, conclude
from .prove_limited import limit_values, reach_of
from .prove_metric import (
    confusion_fields,
    decimal,
    metric_answer,
    metric_search,
    most_metric_weight,
)
from .read import read_classes
from .request import Request
from .state_binary import BinaryStatement, check_binary, refuse_weightless
from .state_errors import state_errors
from .state_task import rows_with_weights
from .watch_groups import FairObserver


@dataclass(frozen=True, kw_only=True)
class LimitedMetricStatement(BinaryStatement):
    """A statement about a metric over the trees within limits on the whole tree.

    Attributes
    ----------
    limited : LimitedOnRows
        The limits; their labels are codes of classes.
    """

    limited: LimitedOnRows

    @cached_property
    def planes(self) -> Planes:
        """The objective, which solves replace, and the limits beside the two errors."""
        return self.limited.planes_beside(np.zeros((1, 2), dtype=np.int64))

    def session_within(self) -> LimitedSession:
        """Return the rows within the limits, to be solved with weights of the two errors."""
        return self.limited_session(self._with_limits)

    def _with_limits(self, errors: NDArray[np.int64], _: NDArray[np.int64]) -> LimitedProblem:
        planes, limited = self.planes, self.limited
        values, counts, least = (
            limited.values_beside([errors]),
            limited.label_counts,
            limited.label_min,
        )
        if not self.positive:
            # The search says 1 for positive.
            values[:, :, 2:] = values[:, ::-1, 2:]
            counts = None if counts is None else np.ascontiguousarray(counts[:, ::-1])
            least = None if least is None else np.ascontiguousarray(least[::-1])
        return LimitedProblem(
            columns=self.columns,
            values=np.ascontiguousarray(values),
            planes=np.stack(planes.lines),
            bounds=tuple(planes.bounds),
            names=tuple(planes.names),
            label_counts=counts,
            label_min=least,
            row_counts=self.row_counts,
            finer=tuple(planes.finer),
        )

    def limit_values(self, nodes: engine.Nodes) -> tuple[LimitValue, ...]:
        """Return the limits, with the totals of a tree whose labels are codes of classes."""
        return limit_values(self.limited, nodes.label[nodes.route(self.columns)])


def fit_metric_within(request: Request) -> Fitted:
    """Maximise a metric of false positives and negatives over the trees within limits."""
    goal, metric = request.classes, metrics.get(request.classes.objective)
    complexity = parse_penalty(request.size.complexity, metric.name)
    rows = read_classes(request)
    positive = check_binary(rows.classes.tolist(), goal.pos_label, metric.name)
    # Multipliers of limits need a part of the range, too.
    most = most_metric_weight(request.cost_budget(rows.n_rows, Fraction(0))) // ROOM_FOR_MULTIPLIERS
    limits, minimum = goal.limits_on(rows.classes.tolist(), rows.n_rows, request.sample_weight)
    counted = rows_with_weights(rows.n_rows, rows.kept, request.sample_weight)
    statement = state_errors(
        request,
        rows,
        request.question("limited metric"),
        LimitedMetricStatement,
        task=metric.name,
        most_weight=most,
        positive=positive,
        limited=limits_on(limits, minimum, rows.classes, counted),
    )
    refuse_weightless(statement)
    scale = replace(statement.scale, complexity=complexity, penalty=complexity)
    statement = replace(statement, scale=scale)
    watch = None
    if request.is_watched:
        watch = FairObserver(decimal, request.callback, statement.measure, True, False)
    session = statement.session_within()
    result = solve_metric_within(
        metric_search(request, metric, statement, watch),
        metric,
        statement.problem,
        request.options(statement),
        lambda: session,
        is_kept=session.keeps,
        go_on=lambda free: None if watch is None else watch.go_on(free),
        callback=watch,
    )
    if result.found is None:
        assert result.without is not None
        reach = reach_of(statement.limited, statement.planes.sources, session.closest)
        is_proven = result.without.status == "infeasible"
        answer = Answer.without_tree(result.without)
        about: dict[str, Any] = {
            "limits": limit_values(statement.limited, reach=reach if is_proven else None),
            "proof": "search" if is_proven else "",
            "n_solves": 1 + result.free.n_solves,
        }
    else:
        answer = metric_answer(result.found, statement, request.gap)
        about = {
            **confusion_fields(result.found, statement),
            "limits": statement.limit_values(answer.nodes),
            "n_solves": result.found.n_solves,
        }
    about["leaf_minimum"] = statement.limited.needed(statement.classes)
    about["n_row_groups"] = None
    return conclude(request, statement, answer, LimitedCertificate, watch=watch, **about)
