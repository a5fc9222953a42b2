"""Fits whose objective is the area under the ROC convex hull, or a part of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt

from certree import metrics
from certree.engine._chain import ChainResult, solve_chain
from certree.metrics import PartialAUC
from certree.numbers._exact import parse_complexity, parse_penalty
from certree.numbers._scale import Scale, fitting_penalty
from certree.results._answer import Answer
from certree.results._certificate import exact

from .fitted import Fitted, conclude
from .prove_metric import state_metric
from .request import Request
from .state_binary import BinaryStatement

# The search multiplies 2 P N by the denominators of rate and complexity, and allows for as many
# penalties as there are rows and one more; either is below 2**58. A rounded penalty may be larger
# by one.
_RANGE = 2**58 - 2**33
# A penalty that has to be rounded leaves so much for the grid of mixtures.
_ROUNDED_RANGE = 2**52
_FINEST_PENALTY = 10**3


def fit_area(request: Request) -> Fitted:
    """Maximise the area up to a false positive rate."""
    metric, size = metrics.get(request.classes.objective), request.size
    assert isinstance(metric, PartialAUC)
    parse_penalty(size.complexity, metric.name)  # refuses negative ones
    rate, complexity = Fraction(metric.max_fpr), parse_complexity(size.complexity)
    # Where a search needs all its range for weights, the complexity is rounded. 2 P N is at most
    # half the square of the weight of all rows.
    reserve = min(complexity.denominator, _FINEST_PENALTY)
    factor = reserve * _range_factor(rate, complexity, request.n_rows)
    statement, _ = state_metric(request, metric.name, "chain", isqrt(2 * _RANGE // factor))
    scale = _scale(statement, rate, complexity, per_leaf=size.complexity_per == "leaf")
    statement = replace(statement, scale=scale)
    options = replace(
        request.options(statement),
        error_scale=scale.error_scale,
        split_penalty=scale.split_penalty,
        gap=scale.gap(request.gap, Fraction(1)),
    )
    watch = request.watch(scale.cost, statement.measure)
    result = solve_chain(statement.problem, rate, options, watch)
    answer = _answer(statement, result)
    negatives, positives = statement.leaf_counts(answer.nodes)
    says = answer.nodes.label == statement.positive
    leaves = answer.nodes.is_leaf
    return conclude(
        request,
        statement,
        answer,
        watch=watch,
        fp=statement.weight(int(negatives[leaves & says].sum())),
        fn=statement.weight(int(positives[leaves & ~says].sum())),
        **statement.totals(),
    )


def _range_factor(rate: Fraction, complexity: Fraction, n_rows: int) -> int:
    """Return what 2 P N is multiplied by, at most, in the integers of the search."""
    return max(rate.denominator, ceil(rate.numerator * complexity * (n_rows + 1)))


def _scale(
    statement: BinaryStatement, rate: Fraction, complexity: Fraction, *, per_leaf: bool
) -> Scale:
    """Return the scale of costs, which are one minus the area, plus a penalty."""
    twice = 2 * statement.positives * statement.negatives
    factor = _range_factor(rate, complexity, len(statement.columns))
    loss_unit = Fraction(1, twice * rate.numerator)
    penalty = complexity / loss_unit
    if penalty.denominator * twice * factor > _RANGE:
        penalty = fitting_penalty(penalty, _ROUNDED_RANGE // (twice * factor))
    return Scale.of(penalty, loss_unit, complexity, per_leaf=per_leaf)


def _answer(statement: BinaryStatement, result: ChainResult) -> Answer:
    """Return a result in units of cost, with the leaves labelled by most weight.

    That is what predictions by the probabilities would be.
    """
    scale = statement.scale
    cost, lower = exact(scale.cost(result.value)), exact(scale.cost(result.bound))
    negatives, positives = statement.leaf_counts(result.nodes)
    by_class = [negatives, positives] if statement.positive else [positives, negatives]
    return Answer(
        status="optimal" if cost == lower else result.status,
        cost=cost,
        lower_bound=lower,
        nodes=result.nodes.with_labels(by_class[1] > by_class[0]),
        seconds=result.seconds,
        counters=dict(result.counters),
        history=tuple(
            (seconds, work, max(cost, exact(scale.cost(u))), min(lower, exact(scale.cost(l))))
            for seconds, work, u, l in result.history
        ),
    )
