"""Fits whose objective is the area under the ROC convex hull, or a part of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, isqrt
from typing import TYPE_CHECKING

from certree import engine
from certree.engine._chain import ChainResult, solve_chain
from certree.metrics import PartialAUC
from certree.numbers._exact import parse_complexity, read_fraction
from certree.results._certificate import Certificate, exact
from certree.results._progress import Callback, Observer

from ._certify import build_tree, searched
from ._metric_fit import Encoded, Rows, encode_binary

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier

# The search multiplies 2 P N by the denominators of rate and complexity, and allows for as many
# penalties as there are rows and one more; either is below 2**58. A rounded penalty may be larger
# by one.
_RANGE = 2**58 - 2**33
# A penalty that has to be rounded leaves so much for the grid of mixtures.
_ROUNDED_RANGE = 2**52
_FINEST_PENALTY = 10**3


def fit_chain(
    model: OptimalTreeClassifier, metric: PartialAUC, rows: Rows, callback: Callback | None
) -> Observer | None:
    """Maximise the area up to a false positive rate; return what watched the search."""
    rate, complexity = Fraction(metric.max_fpr), parse_complexity(model.complexity)
    # Where a search needs all its range for weights, the complexity is rounded. 2 P N is at most
    # half the square of the weight of all rows.
    reserve = min(complexity.denominator, _FINEST_PENALTY)
    factor = reserve * _range_factor(rate, complexity, model._row_count(rows.X))
    encoded = encode_binary(model, metric.name, rows, lambda _: isqrt(2 * _RANGE // factor))
    scale = _Scale(encoded, rate, complexity, per_leaf=model.complexity_per == "leaf")
    options = replace(
        model._engine_options(),
        error_scale=scale.error_scale,
        split_penalty=scale.split_penalty,
        gap=int(min(read_fraction(model.gap, "gap"), Fraction(1)) / scale.unit),
    )
    watch = model._watch(scale.cost, None, callback)
    binary = encoded.binary
    result = solve_chain(binary.problem(encoded.columns), rate, options, watch)
    nodes = _with_majority_labels(encoded, result)
    model.tree_ = build_tree(model, nodes, encoded.columns, binary.target)
    model.certificate_ = _certify(model, metric, encoded, result, scale)
    return watch


def _range_factor(rate: Fraction, complexity: Fraction, n_rows: int) -> int:
    """Return what 2 P N is multiplied by, at most, in the integers of the search."""
    return max(rate.denominator, ceil(rate.numerator * complexity * (n_rows + 1)))


class _Scale:
    """How the integers of the search relate to the cost: one minus the area, plus penalty."""

    def __init__(
        self, encoded: Encoded, rate: Fraction, complexity: Fraction, *, per_leaf: bool
    ) -> None:
        binary = encoded.binary
        twice = 2 * binary.positives * binary.negatives
        factor = _range_factor(rate, complexity, len(encoded.columns))
        loss_unit = Fraction(1, twice * rate.numerator)
        penalty = complexity / loss_unit
        if penalty.denominator * twice * factor > _RANGE:
            room = max(_ROUNDED_RANGE // (twice * factor), 1)
            # No penalty that was asked for vanishes.
            penalty = penalty.limit_denominator(room) or Fraction(1, room)
        self.error_scale, self.split_penalty = penalty.denominator, penalty.numerator
        self.unit = loss_unit / self.error_scale
        self.complexity = complexity
        self.penalty = penalty * loss_unit
        self.first_leaf = self.penalty if per_leaf else Fraction(0)

    def cost(self, value: int | Fraction) -> Fraction:
        """Return the cost that a value of the search stands for."""
        return value * self.unit + self.first_leaf


def _with_majority_labels(encoded: Encoded, result: ChainResult) -> engine.Nodes:
    """Label the leaves by most weight, as predictions by the probabilities would."""
    negatives, positives = encoded.binary.leaf_counts(result.nodes, encoded.columns)
    by_class = [negatives, positives] if encoded.binary.positive else [positives, negatives]
    return result.nodes.with_labels(by_class[1] > by_class[0])


def _certify(
    model: OptimalTreeClassifier,
    metric: PartialAUC,
    encoded: Encoded,
    result: ChainResult,
    scale: _Scale,
) -> Certificate:
    """Translate a result to the user's terms."""
    binary = encoded.binary
    cost, lower = exact(scale.cost(result.value)), exact(scale.cost(result.bound))
    negatives, positives = binary.leaf_counts(result.nodes, encoded.columns)
    says = _with_majority_labels(encoded, result).label == binary.positive
    leaves = result.nodes.is_leaf
    status = "optimal" if cost == lower else result.status
    if status in ("optimal", "gap") and binary.target.loses_shares:
        status = "precision"
    return Certificate(
        status=status,
        objective=float(1 - cost),
        cost=cost,
        lower_bound=lower,
        upper_bound=cost,
        gap=exact(cost - lower),
        leaf_cost=exact(1 - result.area),
        n_splits=model.tree_.n_splits,
        depth=model.tree_.depth,
        seconds=encoded.seconds + result.seconds,
        counters=dict(result.counters),
        history=tuple(
            (
                encoded.seconds + seconds,
                work,
                max(cost, exact(scale.cost(upper))),
                min(lower, exact(scale.cost(least))),
            )
            for seconds, work, upper, least in result.history
        ),
        task=metric.name,
        complexity=exact(scale.complexity),
        split_penalty=exact(scale.penalty),
        n_row_groups=result.counters.get("row_groups"),
        fp=binary.weight(int(negatives[leaves & says].sum())),
        fn=binary.weight(int(positives[leaves & ~says].sum())),
        **binary.totals(),
        **searched(model, binary.target),
    )
