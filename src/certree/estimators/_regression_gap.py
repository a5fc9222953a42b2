"""How far a regression tree of any origin is from the best."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from certree.encoding import read_table
from certree.fitting.known_tree import fitting
from certree.fitting.state_task import TaskStatement
from certree.leaves.numbers.estimator import OptimalTreeRegressor
from certree.numbers._digits import whole_numbers
from certree.numbers._fractions import read_fraction
from certree.results._certificate import Exact, exact
from certree.tree import Tree
from certree.tree._from_sklearn import numbers_from_sklearn
from certree.tree._nodes import Nodes

# scikit-learn adds up float64, so a value that is so near to a mean, as a share of the largest
# target, is this mean.
_SAME = Fraction(1, 2**44)

Criterion = Literal["squared_error", "absolute_error"]

_CRITERIA: dict[str, Criterion] = {
    "squared_error": "squared_error",
    "friedman_mse": "squared_error",
    "absolute_error": "absolute_error",
}
"""What trees minimise in the words of scikit-learn and of certree."""

_OF_CLASSES = ("objective", "pos_label", "class_weight", "splits")


def read_numbers_tree(given: Any, X: Any) -> tuple[Tree, Criterion]:
    """Return a regression tree, and the criterion by which its leaves are the best."""
    criterion = getattr(given, "criterion", "squared_error")
    if criterion not in _CRITERIA:
        raise ValueError(
            "optimality_gap compares regression trees by squared or absolute errors, but this tree "
            f"has criterion={criterion!r}. Fit OptimalTreeRegressor(criterion={criterion!r}): its "
            "certificate_ says how far it is from the best."
        )
    table, tree = read_table(X), getattr(given, "tree_", given)
    if not isinstance(tree, Tree):
        tree = numbers_from_sklearn(given, table)
    return fitting(tree, table), _CRITERIA[criterion]


def refuse_settings_of_classes(settings: Mapping[str, Any]) -> None:
    """Refuse settings that only classifiers have."""
    for name in _OF_CLASSES:
        if name in settings:
            raise TypeError(f"{name} is for classes, but the tree predicts numbers; leave it out.")


def cost_of(
    tree: Tree, model: OptimalTreeRegressor, statement: TaskStatement, X: Any, y: Any
) -> Exact:
    """Return the cost of a tree with its own values in the leaves.

    It is what the search counts for its leaves, more what their values cost above the best ones.
    """
    rows, nodes = statement.rows, Nodes.of(tree.test.tolist(), tree.first_child.tolist())
    leaves = rows.select(tree.apply(X))
    reached = np.unique(leaves)
    sums = statement.problem.node_sums(nodes, leaves)
    counted = statement.leaf_cost(int(statement.problem.units(sums)[reached].sum()))
    target, unit = whole_numbers(rows.select(np.asarray(y, dtype=np.float64).reshape(-1)), "y")
    weights, weight_unit = rows.whole_weights()
    above = _above_squares if model.criterion == "squared_error" else _above_absolutes
    excess = Fraction(0)
    for leaf in reached.tolist():
        here = leaves == leaf
        value = read_fraction(tree.payload.value(leaf), "a leaf") / unit
        excess += above(value, target[here].tolist(), weights[here].tolist())
    excess *= weight_unit * (unit**2 if above is _above_squares else unit)
    n_paid = tree.n_splits + (model.complexity_per == "leaf")
    return exact(counted + excess + n_paid * Fraction(model.certificate_.split_penalty))


def _above_squares(value: Fraction, target: list[int], weights: list[int]) -> Fraction:
    """Return by how much more the squared error around a value is than that around the mean."""
    total = sum(weights)
    mean = Fraction(sum(w * t for w, t in zip(weights, target, strict=True)), total)
    size = max(abs(t) for t in target)
    return Fraction(0) if abs(value - mean) <= _SAME * size else total * (value - mean) ** 2


def _above_absolutes(value: Fraction, target: list[int], weights: list[int]) -> Fraction:
    """Return by how much more the absolute error around a value is than that around the median."""
    pairs = sorted(zip(target, weights, strict=True))
    total, passed, median = sum(weights), 0, 0
    for number, weight in pairs:
        passed, median = passed + weight, number
        if 2 * passed >= total:
            break
    return sum((w * (abs(t - value) - abs(t - median)) for t, w in pairs), Fraction(0))
