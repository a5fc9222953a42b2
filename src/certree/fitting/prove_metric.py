"""Fits whose objective is a metric of false positives and negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from certree import metrics
from certree.engine import Search
from certree.engine._alarms import check_bounds
from certree.metrics import Custom, Metric
from certree.numbers._exact import parse_penalty
from certree.proofs._metric_search import MetricResult, solve_metric
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._progress import Observer
from certree.results._rounding import at_most, nearest

from .fitted import Fitted, conclude
from .known_tree import WarmTree
from .read import read_classes
from .request import Request
from .start import start_with_classes
from .state_binary import BinaryStatement, check_binary, refuse_weightless
from .state_errors import state_errors

# Weights of false positives and negatives up to this can be told apart in 64 bits.
_ERROR_WEIGHTS = 2**21


def most_metric_weight(budget: int) -> int:
    """Return how much of the range of the integers all rows may weigh together."""
    return budget // _ERROR_WEIGHTS


def state_metric(
    request: Request, metric_name: str, search: Search, most_weight: int | None = None
) -> tuple[BinaryStatement, WarmTree | None]:
    """Read labels, weights and table, and a tree to start from.

    `most_weight` is how much all rows may weigh together, if not as for most metrics.
    """
    rows = read_classes(request)
    positive = check_binary(rows.classes.tolist(), request.classes.pos_label, metric_name)
    if most_weight is None:
        most_weight = most_metric_weight(request.cost_budget(rows.n_rows, Fraction(0)))
    statement = state_errors(
        request,
        rows,
        request.question(search),
        BinaryStatement,
        task=metric_name,
        most_weight=most_weight,
        positive=positive,
    )
    warm = None
    if request.start is not None:
        warm, statement = start_with_classes(request, request.start, statement)
    refuse_weightless(statement)
    return statement, warm


def fit_metric(request: Request) -> Fitted:
    """Maximise a metric of false positives and negatives."""
    metric = metrics.get(request.classes.objective)
    complexity = parse_penalty(request.size.complexity, metric.name)
    # With a penalty, trees are divided by their numbers of splits.
    wanted: Search = "path" if complexity > 0 else "tree"
    search: Search = "front" if metric.kind == "monotone" else wanted
    statement, warm = state_metric(request, metric.name, search)
    scale = replace(statement.scale, complexity=complexity, penalty=complexity)
    statement = replace(statement, scale=scale)
    watch = request.watch(decimal, statement.measure)
    solve = metric_search(request, metric, statement, watch)
    first = None if warm is None else warm.nodes
    result = solve(statement.session, options=request.options(statement), first=first)
    return conclude(
        request,
        statement,
        metric_answer(result, statement, request.gap),
        watch=watch,
        **confusion_fields(result, statement),
        n_solves=result.n_solves,
        cuts=tuple(
            (cut.fp, cut.fn, exact(cut.split * statement.unit), exact(cut.value * statement.unit))
            for cut in result.cuts
            if cut.max_splits is None
        ),
    )


def metric_search(
    request: Request, metric: Metric, statement: BinaryStatement, watch: Observer | None
) -> Callable[..., MetricResult]:
    """Return the search for a metric, which still needs rows and options."""
    return partial(
        solve_metric,
        metric=in_units(metric, statement.unit),
        complexity=statement.scale.complexity,
        per=request.size.complexity_per,
        gap=request.gap,
        callback=watch,
    )


def confusion_fields(result: MetricResult, statement: BinaryStatement) -> dict[str, Any]:
    """Return the fields of a certificate that speak of the two kinds of errors."""
    return {
        "objective": float(result.objective),
        "fp": statement.weight(result.fp),
        "fn": statement.weight(result.fn),
        **statement.totals(),
    }


def metric_answer(result: MetricResult, statement: BinaryStatement, accepted: Fraction) -> Answer:
    """Return a result in units of cost, which is one minus the metric plus the penalty."""
    check_bounds(1 - result.bound, 1 - result.objective)
    proven = result.objective == result.bound
    # An irrational cost may be rounded to below a rational bound.
    cost = nearest(1 - result.objective)
    lower = cost if proven else min(cost, at_most(1 - result.bound))
    status = "optimal" if proven else result.status
    # What is accepted is known up to the rounding of irrational values only.
    if status == "gap" and not 0 < cost - lower <= accepted:
        status = "precision"
    return Answer(
        status=status,
        cost=cost,
        lower_bound=lower,
        nodes=statement.with_class_labels(result.nodes),
        seconds=result.seconds,
        counters=dict(result.counters),
        history=tuple(
            (seconds, work, max(cost, decimal(1 - objective)), min(lower, decimal(1 - bound)))
            for seconds, work, objective, bound in result.history
        ),
    )


def in_units(metric: Metric, unit: Fraction) -> Metric:
    """Return a metric that is asked with integer weights, one of which stands for `unit`.

    This matters only for metrics that users write.
    """
    if unit == 1 or not isinstance(metric, Custom):
        return metric

    def scaled(*counts: Any) -> Any:
        return metric.exact(*(Fraction(count) * unit for count in counts))

    return Custom(scaled, name=metric.name)


def decimal(number: float) -> Exact:
    """Return what a search says on its way, to twelve decimals."""
    return exact(Fraction(round(number * 10**12), 10**12))
