"""Objectives with a positive class: the search that each calls for, and metrics within limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._within_limits import LimitedProblem
from certree.metrics import ErrorFront, Metric, PartialAUC
from certree.numbers._exact import parse_penalty, read_fraction
from certree.proofs._metric_limits import ROOM_FOR_MULTIPLIERS, LimitedSession
from certree.proofs._metric_search import solve_metric_within
from certree.results._activity import activity
from certree.results._answer import Answer
from certree.results._limit_certificate import LimitedCertificate, LimitValue
from certree.results._progress import Callback
from certree.tasks._limited import LimitedOnRows, Planes, limits_on

from .plan import Route
from .prove_area import fit_chain
from .prove_front import fit_front
from .prove_limited import limit_values, reach_of
from .prove_metric import (
    Fitted,
    TrainingRows,
    confusion_fields,
    decimal,
    fit_metric,
    metric_answer,
    metric_search,
    most_metric_weight,
    state_metric,
)
from .state_binary import BinaryStatement
from .state_task import rows_with_weights
from .watch_groups import FairObserver

if TYPE_CHECKING:
    from certree.estimators._classifier import OptimalTreeClassifier


def fit_binary(
    model: OptimalTreeClassifier,
    route: Route,
    metric: Metric,
    rows: TrainingRows,
    callback: Callback | None,
) -> Fitted:
    """Fit a model by the route of its metric."""
    if route.name == "area":
        assert isinstance(metric, PartialAUC)
        parse_penalty(model.complexity, metric.name)  # refuses negative ones
        return fit_chain(model, metric, rows, callback)
    if route.name == "front of errors":
        assert isinstance(metric, ErrorFront)
        return fit_front(model, metric, rows, callback)
    if route.name == "metric within limits":
        return fit_metric_within(model, metric, rows, callback)
    return fit_metric(model, metric, rows, callback)


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


def fit_metric_within(
    model: OptimalTreeClassifier, metric: Metric, rows: TrainingRows, callback: Callback | None
) -> Fitted:
    """Maximise a metric of false positives and negatives over the trees within limits."""
    complexity = parse_penalty(model.complexity, metric.name)
    # Multipliers of limits need a part of the range, too.
    binary, _ = state_metric(
        model, metric.name, rows, model._question("limited metric"), _most_weight_within
    )
    n_rows, weights = model._row_count(rows.X), rows.sample_weight
    limits, minimum = model._limits_on(binary.classes.tolist(), n_rows, weights)
    counted = rows_with_weights(n_rows, binary.rows, weights)
    scale = replace(binary.scale, complexity=complexity, penalty=complexity)
    statement = LimitedMetricStatement(
        **{**vars(binary), "scale": scale},
        limited=limits_on(limits, minimum, binary.classes, counted),
    )
    watch = None
    if callback is not None or activity() is not None:
        watch = FairObserver(decimal, callback, statement.measure, True, False)
    session = statement.session_within()
    result = solve_metric_within(
        metric_search(model, metric, statement, watch),
        statement.problem,
        model._engine_options(),
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
        answer = metric_answer(result.found, statement, read_fraction(model.gap, "gap"))
        about = {
            **confusion_fields(result.found, statement),
            "limits": statement.limit_values(answer.nodes),
            "n_solves": result.found.n_solves,
        }
    about["leaf_minimum"] = statement.limited.needed(statement.classes)
    model._keep(statement, answer, LimitedCertificate, n_row_groups=None, **about)
    return watch, statement


def _most_weight_within(budget: int) -> int:
    return most_metric_weight(budget) // ROOM_FOR_MULTIPLIERS
