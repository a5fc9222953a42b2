"""Read a fitted scikit-learn tree as a tree of ours.

scikit-learn sends a row left if ``float32(x) <= t``. Rounding to float32 keeps the order, so there
is a largest float64 that it sends left, and that is our threshold: predictions are the same.
Missing values go where it sends them, if the table has any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from certree.encoding import Table, Threshold
from certree.encoding._cell_values import is_missing
from certree.encoding._cuts import largest_rounded_to

from ._payload_values import Numbers
from ._tree import Tree


def is_sklearn_tree(given: Any) -> bool:
    """Return whether something is a scikit-learn estimator with one tree, or its bare tree."""
    return hasattr(given, "children_left") or (
        type(given).__module__.startswith("sklearn.tree") and hasattr(given, "get_params")
    )


def from_sklearn(given: Any, table: Table, classes: NDArray[Any]) -> Tree:
    """Return a fitted scikit-learn classification tree as a tree over the columns of a table.

    Parameters
    ----------
    given : DecisionTreeClassifier or its ``tree_``
        Fitted on number columns.
    table : Table
        Rows that the tree will be asked about.
    classes : ndarray
        The class labels of a bare ``tree_``, which does not know them.

    Raises
    ------
    ValueError
        If it has several outputs or other columns than the table.
    """
    inner, names = given, None
    if not hasattr(given, "children_left"):
        if not is_classifier(given):
            raise TypeError(
                f"{type(given).__name__} is not a classifier; pass a fitted DecisionTreeClassifier."
            )
        check_is_fitted(given)
        inner, classes = given.tree_, given.classes_
        names = getattr(given, "feature_names_in_", None)
    _check_shape(inner, table)
    if inner.n_classes[0] != len(classes):
        raise ValueError(
            f"The scikit-learn tree knows {inner.n_classes[0]} classes, but there are "
            f"{len(classes)}; pass the fitted DecisionTreeClassifier instead of its tree_."
        )
    order, first_child = _side_by_side(inner)
    is_leaf = inner.children_left[order] < 0
    tests, test = _tests(inner, order, is_leaf, table)
    shares = inner.value[order, 0, :]
    # Older versions keep weights here, newer ones shares.
    totals = shares.sum(axis=1, keepdims=True)
    weights = inner.weighted_n_node_samples[order][:, np.newaxis]
    counts = shares / np.where(totals > 0, totals, 1) * weights
    if np.array_equal(inner.weighted_n_node_samples, inner.n_node_samples):
        # Without weights these are rows, which floats may miss by their last bits.
        counts = np.rint(counts).astype(np.int64)
    return Tree(
        tests,
        test,
        first_child,
        np.where(is_leaf, shares.argmax(axis=1), -1),
        counts=counts,
        classes=classes,
        feature_names=None if names is None else [str(name) for name in names],
        n_features=inner.n_features,
    )


def numbers_from_sklearn(given: Any, table: Table) -> Tree:
    """Return a fitted scikit-learn regression tree as a tree over the columns of a table.

    Parameters
    ----------
    given : DecisionTreeRegressor
        Fitted on number columns.
    table : Table
        Rows that the tree will be asked about.

    Raises
    ------
    ValueError
        If it has several outputs or other columns than the table.
    """
    check_is_fitted(given)
    inner, names = given.tree_, getattr(given, "feature_names_in_", None)
    _check_shape(inner, table)
    order, first_child = _side_by_side(inner)
    is_leaf = inner.children_left[order] < 0
    tests, test = _tests(inner, order, is_leaf, table)
    weights = inner.weighted_n_node_samples[order]
    return Tree(
        tests,
        test,
        first_child,
        payload=Numbers.of_nodes(inner.value[order, 0, 0], is_leaf, weights),
        feature_names=None if names is None else [str(name) for name in names],
        n_features=inner.n_features,
    )


def _check_shape(inner: Any, table: Table) -> None:
    """Refuse a tree with several outputs, or of other columns than the table has."""
    if inner.n_outputs != 1:
        raise ValueError(
            f"The scikit-learn tree predicts {inner.n_outputs} outputs at once; one is needed."
        )
    if inner.n_features != table.n_columns:
        raise ValueError(
            f"The scikit-learn tree was fitted on {inner.n_features} columns, but the table has "
            f"{table.n_columns}."
        )


def exact_threshold(threshold: float) -> float:
    """Return the largest float64 that rounds to a float32 of at most `threshold`."""
    with np.errstate(over="ignore"):
        below = np.float32(threshold)
        # As Python floats: NumPy would compare a float32 with a float in single precision.
        if float(below) > threshold:
            below = np.nextafter(below, np.float32(-np.inf))
        return float(largest_rounded_to(np.array([below]))[0])


def _side_by_side(inner: Any) -> tuple[NDArray[np.intp], list[int]]:
    """Return an order of the nodes in which siblings are neighbours, and the first children."""
    order, first_child = [0], []
    for position in range(inner.node_count):
        node = order[position]
        left, right = int(inner.children_left[node]), int(inner.children_right[node])
        first_child.append(-1 if left < 0 else len(order))
        if left >= 0:
            order += [left, right]
    return np.array(order, dtype=np.intp), first_child


def _tests(
    inner: Any, order: NDArray[np.intp], is_leaf: NDArray[np.bool_], table: Table
) -> tuple[list[Threshold], list[int]]:
    """Return the distinct tests and the position of each node's among them."""
    missing_left = getattr(inner, "missing_go_to_left", np.zeros(inner.node_count))
    has_missing: dict[int, bool] = {}
    positions: dict[Threshold, int] = {}
    test = []
    for node, leaf in zip(order.tolist(), is_leaf.tolist(), strict=True):
        if leaf:
            test.append(-1)
            continue
        feature = int(inner.feature[node])
        if feature not in has_missing:
            has_missing[feature] = bool(is_missing(table.column(feature)).any())
        side = bool(missing_left[node]) if has_missing[feature] else None
        threshold = exact_threshold(float(inner.threshold[node]))
        cut = Threshold(feature, table.names[feature], threshold, side)
        test.append(positions.setdefault(cut, len(positions)))
    return list(positions), test
