"""Fits whose objective is a metric of false positives and negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from certree.engine import Question, Search
from certree.metrics import Custom, Metric
from certree.numbers._exact import parse_penalty, read_fraction
from certree.proofs._metric_search import MetricResult, solve_metric
from certree.results._answer import Answer
from certree.results._certificate import Exact, exact
from certree.results._progress import Callback, Observer
from certree.results._rounding import at_most, nearest

from .known_tree import WarmStart, WarmTree
from .state_binary import BinaryStatement, binary_statement, check_binary
from .state_errors import ErrorStatement, state_errors

if TYPE_CHECKING:
    from certree.estimators._classifier import OptimalTreeClassifier
    from certree.estimators._fair import FairTreeClassifier

# Weights of false positives and negatives up to this can be told apart in 64 bits.
_ERROR_WEIGHTS = 2**21


@dataclass(frozen=True)
class TrainingRows:
    """What users pass to `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    start: WarmStart = field(default_factory=WarmStart)


Fitted = tuple[Observer | None, ErrorStatement]
"""What watched the search of a fit, and what was stated."""


def most_metric_weight(budget: int) -> int:
    """Return how much of the range of the integers all rows may weigh together."""
    return budget // _ERROR_WEIGHTS


def state_metric(
    model: OptimalTreeClassifier,
    metric_name: str,
    rows: TrainingRows,
    question: Question,
    most_weight: Callable[[int], int] = most_metric_weight,
) -> tuple[BinaryStatement, WarmTree | None]:
    """Read labels, weights and table, and a tree to start from."""
    found: list[int] = []

    def check(classes: NDArray[Any], _: Any) -> None:
        found.append(check_binary(classes.tolist(), model.pos_label, metric_name))

    errors = state_errors(
        model,
        rows.X,
        rows.y,
        rows.sample_weight,
        question,
        most_weight=most_weight,
        check=check,
    )
    model.classes_ = errors.classes
    model.n_classes_ = len(errors.classes)
    warm = None
    if rows.start.tree is not None:
        warm, errors = model._warm_start(rows.start, rows.X, errors)
    return binary_statement(errors, found[0], metric_name), warm


def fit_metric(
    model: OptimalTreeClassifier, metric: Metric, rows: TrainingRows, callback: Callback | None
) -> Fitted:
    """Maximise a metric of false positives and negatives."""
    complexity = parse_penalty(model.complexity, metric.name)
    # With a penalty, trees are divided by their numbers of splits.
    wanted: Search = "path" if complexity > 0 else "tree"
    question = model._question("front" if metric.kind == "monotone" else wanted)
    statement, warm = state_metric(model, metric.name, rows, question)
    scale = replace(statement.scale, complexity=complexity, penalty=complexity)
    statement = replace(statement, scale=scale)
    watch = model._watch(decimal, statement.measure, callback)
    search = metric_search(model, metric, statement, watch)
    first = None if warm is None else warm.nodes
    result = search(statement.session, options=model._engine_options(), first=first)
    answer = metric_answer(result, statement, read_fraction(model.gap, "gap"))
    model._keep(
        statement,
        answer,
        **confusion_fields(result, statement),
        n_solves=result.n_solves,
        cuts=tuple(
            (cut.fp, cut.fn, exact(cut.split * statement.unit), exact(cut.value * statement.unit))
            for cut in result.cuts
            if cut.max_splits is None
        ),
    )
    return watch, statement


def metric_search(
    model: OptimalTreeClassifier | FairTreeClassifier,
    metric: Metric,
    statement: BinaryStatement,
    watch: Observer | None,
) -> Callable[..., MetricResult]:
    """Return the search for a metric, which still needs rows and options."""
    return partial(
        solve_metric,
        metric=in_units(metric, statement.unit),
        complexity=statement.scale.complexity,
        per=model.complexity_per,
        gap=read_fraction(model.gap, "gap"),
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
    proven = result.objective == result.bound
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
