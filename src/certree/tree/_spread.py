"""Means and variances of what leaves predict, and the importance of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ._structure import add_up

if TYPE_CHECKING:
    from ._tree import Tree


def means(tree: Tree) -> NDArray[np.float64]:
    """Return the prediction of each leaf, and in other nodes the mean over the rows below.

    The shape is (n_nodes, n_outputs).
    """
    leaf = tree.test < 0
    values = tree.payload.numbers()[np.maximum(tree.label, 0)]
    values = np.where(leaf[:, np.newaxis], values, 0.0)
    return np.where(leaf[:, np.newaxis], values, _mean(tree, values))


def variances(tree: Tree) -> NDArray[np.float64]:
    """Return the variance between the predictions of the leaves below each node.

    What is lost between a node and its children is what the split explains, as in any sum of
    squares: the variance within leaves is not known here, and cancels.
    """
    middle = means(tree)
    leaf = (tree.test < 0)[:, np.newaxis]
    # Distances from one point have the same variance, and lose fewer digits.
    apart = (middle - middle[0]) * leaf
    spread = _mean(tree, np.square(apart)) - np.square(_mean(tree, apart))
    return np.asarray(np.maximum(spread * ~leaf, 0.0).sum(axis=1))


def importances(tree: Tree, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each raw column in what all splits save, given the cost of each node."""
    result = np.zeros(tree.n_features)
    for node in np.flatnonzero(tree.test >= 0).tolist():
        saved = costs[node] - costs[list(tree.children(node))].sum()
        result[tree.node_test(node).feature] += max(saved, 0.0)
    total = result.sum()
    return result / total if total > 0 else result


def _mean(tree: Tree, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weighted mean over the leaves below each node."""
    weights = tree.weights[:, np.newaxis].astype(np.float64)
    sums = add_up(tree, np.hstack([values * weights, weights * (tree.test < 0)[:, np.newaxis]]))
    result: NDArray[np.float64] = sums[:, :-1] / np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    return result
