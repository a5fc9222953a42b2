"""Fits whose objective is a metric of false positives and negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.metrics import Custom, Metric
from certree.numbers._exact import parse_penalty, read_fraction
from certree.proofs._metric_search import MetricResult, solve_metric
from certree.results._certificate import Certificate, Exact, exact
from certree.results._progress import Callback, Observer
from certree.results._rounding import at_most, nearest

from ._binary import BinaryTarget, read_binary
from ._certify import build_tree, searched
from ._target import read_target
from ._warm_start import WarmTree

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier

# Weights of false positives and negatives up to this can be told apart in 64 bits.
_ERROR_WEIGHTS = 2**21


@dataclass(frozen=True)
class WarmStart:
    """A tree to start from, and whether it has to be one of the trees searched."""

    tree: Any = None
    must_keep_limits: bool = True


@dataclass(frozen=True)
class Rows:
    """What users pass to `fit`."""

    X: Any
    y: Any
    sample_weight: Any
    start: WarmStart = WarmStart()


@dataclass(frozen=True)
class Encoded:
    """The same as the searches take it, and the time that took."""

    columns: NDArray[np.uint8]
    binary: BinaryTarget
    seconds: float
    warm: WarmTree | None = None


def most_metric_weight(budget: int) -> int:
    """Return how much of the range of the integers all rows may weigh together."""
    return budget // _ERROR_WEIGHTS


def encode_binary(
    model: OptimalTreeClassifier,
    metric_name: str,
    rows: Rows,
    most_weight: Callable[[int], int] = most_metric_weight,
) -> Encoded:
    """Read labels and weights, and encode the rows that count."""
    start = perf_counter()
    n_rows = model._row_count(rows.X)
    target = read_target(model, rows.y, rows.sample_weight, n_rows, most_weight=most_weight)
    binary = read_binary(target, model.pos_label, metric_name)
    columns = model._encode(rows.X, target.sample_weight, target.rows)
    model.classes_ = target.classes
    model.n_classes_ = len(target.classes)
    warm = None
    if rows.start.tree is not None:
        given, keep = rows.start.tree, rows.start.must_keep_limits
        warm, columns = model._warm_start(given, rows.X, columns, target, keep)
    return Encoded(columns, binary, perf_counter() - start, warm)


def fit_metric(
    model: OptimalTreeClassifier, metric: Metric, rows: Rows, callback: Callback | None
) -> Observer | None:
    """Maximise a metric of false positives and negatives; return what watched the search."""
    encoded = encode_binary(model, metric.name, rows)
    binary = encoded.binary
    watch = model._watch(_decimal, None, callback)
    result = solve_metric(
        binary.problem(encoded.columns),
        in_units(metric, binary.unit),
        model._engine_options(),
        complexity=parse_penalty(model.complexity, metric.name),
        per=model.complexity_per,
        gap=read_fraction(model.gap, "gap"),
        first=None if encoded.warm is None else encoded.warm.nodes,
        callback=watch,
    )
    nodes = binary.with_class_labels(result.nodes)
    model.tree_ = build_tree(model, nodes, encoded.columns, binary.target)
    model.certificate_ = _certify_metric(model, metric, result, encoded)
    return watch


def in_units(metric: Metric, unit: Fraction) -> Metric:
    """Return a metric that is asked with integer weights, one of which stands for `unit`.

    This matters only for metrics that users write.
    """
    if unit == 1 or not isinstance(metric, Custom):
        return metric

    def scaled(*counts: Any) -> Any:
        return metric.exact(*(Fraction(count) * unit for count in counts))

    return Custom(scaled, name=metric.name)


def _certify_metric(
    model: OptimalTreeClassifier, metric: Metric, result: MetricResult, encoded: Encoded
) -> Certificate:
    """Translate a result to the user's terms."""
    binary = encoded.binary
    complexity = parse_penalty(model.complexity, metric.name)
    proven = result.objective == result.bound
    cost = nearest(1 - result.objective)
    lower = cost if proven else min(cost, at_most(1 - result.bound))
    status = "optimal" if proven else result.status
    # What is accepted is known up to the rounding of irrational values only.
    if status == "gap" and not 0 < cost - lower <= read_fraction(model.gap, "gap"):
        status = "precision"
    if status in ("optimal", "gap") and binary.target.loses_shares:
        status = "precision"
    n_splits = model.tree_.n_splits
    n_paid = n_splits + (model.complexity_per == "leaf")
    return Certificate(
        status=status,
        objective=float(result.objective),
        cost=cost,
        lower_bound=lower,
        upper_bound=cost,
        gap=exact(cost - lower),
        leaf_cost=exact(cost - n_paid * complexity),
        n_splits=n_splits,
        depth=model.tree_.depth,
        seconds=encoded.seconds + result.seconds,
        counters=dict(result.counters),
        history=tuple(
            (
                encoded.seconds + seconds,
                work,
                max(cost, _decimal(1 - objective)),
                min(lower, _decimal(1 - bound)),
            )
            for seconds, work, objective, bound in result.history
        ),
        task=metric.name,
        complexity=exact(complexity),
        split_penalty=exact(complexity),
        n_row_groups=result.counters.get("row_groups"),
        fp=binary.weight(result.fp),
        fn=binary.weight(result.fn),
        **binary.totals(),
        n_solves=result.n_solves,
        cuts=tuple(
            (cut.fp, cut.fn, exact(cut.split * binary.unit), exact(cut.value * binary.unit))
            for cut in result.cuts
            if cut.max_splits is None
        ),
        **searched(model, binary.target),
    )


def _decimal(number: float) -> Exact:
    """Return what a search says on its way, to twelve decimals."""
    return exact(Fraction(round(number * 10**12), 10**12))
