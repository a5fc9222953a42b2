"""From what the core returns to what users read: the tree and its certificate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree._version import __version__
from certree.encoding import TableEncoder
from certree.numbers._exact import read_fraction
from certree.results._certificate import Certificate, exact
from certree.tree import Tree

from ._objective import task_name
from ._target import Target, class_sums

if TYPE_CHECKING:
    from ._classifier import OptimalTreeClassifier

# Weights of all rows below this, and above its reciprocal, are too close to the ends of float64.
_SMALLEST_COUNT = Fraction(1, 10**290)

AnyCertificate = TypeVar("AnyCertificate", bound=Certificate)


def build_tree(
    model: OptimalTreeClassifier,
    nodes: engine.Nodes,
    columns: NDArray[np.uint8],
    target: Target,
) -> Tree:
    """Give the tree of a result its tests, labels and class counts."""
    n_nodes, n_classes = len(nodes), len(target.classes)
    cells = nodes.route(columns) * n_classes + target.codes
    sums = class_sums(cells, target.row_weights, n_nodes * n_classes)
    counts: NDArray[Any] = nodes.sums(sums.reshape(n_nodes, n_classes))
    counts = counts * np.array(target.weights.multipliers)
    if target.unit != 1:
        counts = float_counts(counts, target.unit, target.objective.total_weight)
    asked = nodes.outcomes
    names = getattr(model, "feature_names_in_", None)
    return Tree.from_arrays(
        model.encoder_.candidates_,
        nodes.test,
        nodes.first_child,
        nodes.label,
        counts=counts,
        classes=target.classes,
        feature_names=None if names is None else names.tolist(),
        n_features=model.n_features_in_,
        columns=None if asked is None else [int(places[0]) for places in asked],
        n_columns=columns.shape[1],
    )


def float_counts(
    counts: NDArray[Any], unit: Fraction, total_weight: Fraction
) -> NDArray[np.float64]:
    """Return weights in nodes as floats, as shares of all weight where they leave that range."""
    if not _SMALLEST_COUNT <= total_weight <= 1 / _SMALLEST_COUNT:
        unit = unit / total_weight
    # Rounded once from the exact value, so that equal weights stay equal.
    return np.array([[float(int(count) * unit) for count in row] for row in counts])


def certify(
    model: OptimalTreeClassifier,
    result: engine.Result,
    target: Target,
    seconds_before: float,
) -> Certificate:
    """Translate a result to the user's terms."""
    objective = target.objective
    cost = exact(objective.cost(result.upper_bound))
    lower_bound = exact(objective.cost(result.lower_bound))
    penalty = objective.complexity_used * objective.total_weight
    n_splits = model.tree_.n_splits
    # Outcomes of a multiway test without training rows cost no leaf penalty.
    n_leaves = int(np.count_nonzero(model.tree_.counts[model.tree_.test < 0].any(axis=1)))
    n_paid = max(n_leaves, 1) if model.complexity_per == "leaf" else n_splits
    certificate = Certificate(
        # The value is proven, so a budget that ended the choice among equal trees does not matter.
        status="optimal" if cost == lower_bound else result.status,
        objective=float(1 - cost / objective.total_weight),
        cost=cost,
        lower_bound=lower_bound,
        upper_bound=cost,
        gap=exact(cost - lower_bound),
        leaf_cost=exact(cost - n_paid * penalty),
        n_splits=n_splits,
        depth=model.tree_.depth,
        seconds=seconds_before + result.seconds,
        counters=dict(result.counters),
        history=tuple(
            (seconds_before + seconds, work, exact(objective.cost(u)), exact(objective.cost(l)))
            for seconds, work, u, l in result.history
        ),
        task=task_name(model.objective),
        complexity=exact(objective.complexity),
        split_penalty=exact(penalty),
        n_row_groups=result.counters.get("row_groups"),
        **searched(model, target),
    )
    return with_rounding(certificate, target, model.gap)


def with_rounding(certificate: AnyCertificate, target: Target, accepted: Any) -> AnyCertificate:
    """Lower the bound by what rounding can hide, if that is more than is negligible.

    With the weights as they were given, the tree found and the best one both cost up to `rounding`
    more or less.
    """
    if not target.loses_rows or certificate.cost is None:
        return certificate
    lower = Fraction(certificate.lower_bound) - 2 * target.weights.rounding
    lower = min(max(lower, Fraction(0)), Fraction(certificate.lower_bound))
    gap = certificate.cost - lower
    status = certificate.status
    if status in ("optimal", "gap") and gap:
        status = "gap" if gap <= read_fraction(accepted, "gap") else "precision"
    return replace(certificate, status=status, lower_bound=exact(lower), gap=exact(gap))


def count_tests(encoder: TableEncoder) -> dict[str, Any]:
    """Return the fields of a certificate that say how many tests there are, and were searched."""
    n_tests, n_left_out = len(encoder.candidates_), encoder._n_left_out
    return {
        "n_tests": n_tests + n_left_out,
        "n_tests_searched": n_tests if n_left_out else None,
    }


def searched(model: OptimalTreeClassifier, target: Target) -> dict[str, Any]:
    """Return the fields of a certificate that say what was searched, whatever was found."""
    weights = target.weights
    plain = all(weight == 1 for weight in weights.class_weights)
    return {
        "max_depth": None if model.max_depth is None else int(model.max_depth),
        "max_splits": None if model.max_splits is None else int(model.max_splits),
        "complexity_per": model.complexity_per,
        "min_samples_leaf": int(model.min_samples_leaf),
        "n_rows": len(target.codes),
        **count_tests(model.encoder_),
        "total_weight": exact(target.objective.total_weight),
        "weight_quantum": None if weights.is_exact else exact(weights.unit),
        "class_weights": None if plain else tuple(map(exact, weights.class_weights)),
        "rounding": exact(weights.rounding),
        "search": model.search,
        "version": __version__,
    }
