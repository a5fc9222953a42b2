"""Tasks of pure leaves: Gini impurity and entropy of their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._texts import as_array
from certree.tasks._leaf_cost import EPSILON, LeafCost, Noise, times_log


def gini(y: Any) -> LeafCost:
    r"""Return the task of least Gini impurity: :math:`\sum_{leaves} w (1 - \sum_k p_k^2)`.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels; a leaf predicts its most frequent class.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> solution = solve(tasks.gini([0, 1, 1]), [[0], [1], [0]], max_depth=1)
    >>> float(solution.certificate.cost)
    1.0
    """
    classes, counts = _one_hot(y)

    def cost(sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        # Squares of integers could overflow.
        weights = sums.astype(np.float64, copy=False)
        total = np.maximum(weights.sum(axis=1), 1e-300)
        return total - np.square(weights).sum(axis=1) / total, classes[sums.argmax(axis=1)]

    task = LeafCost(counts, cost, bounds="superadditive", name="gini")
    task.noise = _class_noise(lambda weights: 0.0)
    return task


def entropy(y: Any) -> LeafCost:
    r"""Return the task of least entropy: :math:`-\sum_{leaves} w \sum_k p_k \log p_k`.

    That is the negative log-likelihood of the classes under the leaves' class shares.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Class labels; a leaf predicts its most frequent class.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> solution = solve(tasks.entropy([0, 1, 1]), [[0], [1], [0]], max_depth=1)
    >>> round(float(solution.certificate.cost), 3)
    1.386
    """
    classes, counts = _one_hot(y)

    def cost(sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        total = sums.sum(axis=1)
        loss = times_log(total, total) - times_log(sums, sums).sum(axis=1)
        return np.maximum(loss, 0.0), classes[sums.argmax(axis=1)]

    task = LeafCost(counts, cost, bounds="superadditive", name="entropy")
    # Sums lie between the least weight and the total.
    task.noise = _class_noise(
        lambda weights: max(abs(np.log(weights.min())), abs(np.log(weights.sum())))
    )
    return task


def _class_noise(largest_log: Callable[[NDArray[np.float64]], float]) -> Noise:
    """Return how far sums of ``s * log(s)`` or ``s * s / total`` over classes are off, at most."""

    def noise(
        table: NDArray[np.float64], weights: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> float:
        n_classes = int(table.any(axis=0).sum())
        # Rows of one class cost nothing, whatever their weights are rounded to.
        moved = float(errors.sum()) if n_classes > 1 else 0.0
        # A change of one sum, or of all of them, counts by no more than the logarithm and two.
        share = (table.shape[1] + 8) * EPSILON * float(weights.sum()) + 2 * moved
        return float(2 * share * (1 + largest_log(weights)))

    return noise


def _one_hot(y: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes, and one column for each with ones in its rows."""
    labels = as_array(y)
    classes, codes = encode_labels(check_labels(labels, len(labels), "The task"))
    return classes, np.eye(len(classes), dtype=np.int64)[codes]
