"""The tree as a fitted scikit-learn tree, for SHAP, ONNX and other tools.

scikit-learn keeps a tree in a structured array whose layout differs a little between versions, so
its own dtype is asked for and filled by field name. It sends a row left if ``float32(x) <= t``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Flag, Multiway, Test, Threshold

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from certree.tree._tree import Tree

# What scikit-learn writes where a leaf has no children, and no feature or threshold.
_NO_CHILD, _UNDEFINED = -1, -2


def to_sklearn(
    tree: Tree, encoded: bool, regressor: bool
) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Build the classifier or regressor."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import Tree as SklearnTree

    _require_two_outcomes(tree)
    if not encoded:
        _require_numbers(tree)
    n_features = tree.n_columns if encoded else tree.n_features
    n_classes = 1 if regressor else int(tree.classes.size)
    inner = SklearnTree(n_features, np.array([n_classes], dtype=np.intp), 1)
    values = _means(tree) if regressor else _values(tree)
    inner.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": _nodes(tree, encoded),
            "values": np.ascontiguousarray(values[:, np.newaxis, :]),
        }
    )
    model = DecisionTreeRegressor() if regressor else DecisionTreeClassifier()
    model.n_features_in_ = n_features
    if tree.has_names and not encoded:
        model.feature_names_in_ = np.array(tree.feature_names, dtype=object)
    model.n_outputs_ = 1
    if not regressor:
        model.classes_ = tree.classes.copy()
        model.n_classes_ = np.intp(n_classes)
    model.max_features_ = n_features
    model.tree_ = inner
    return model


def float32_threshold(threshold: float) -> float:
    """Return t' such that ``float32(x) <= t'`` agrees with ``x <= threshold``.

    Rounding to float32 keeps the order, so only values that round to the same float32 as the
    threshold are in doubt, and every t' sends all of those the same way. They go left if that
    float32 is at most the threshold, or is its name in decimal (0.1 is less than float32(0.1),
    yet data equal to 0.1 must go left); else right. The second case decides for a midpoint
    between two values that float32 can still tell apart: if the midpoint rounds up, a neighbour
    that rounds to the same float32 can only be the upper one.
    """
    with np.errstate(over="ignore"):
        nearest = np.float32(threshold)
    # As Python floats: NumPy would compare a float32 with a float in single precision.
    if float(nearest) <= threshold or math.isclose(float(str(nearest)), threshold, rel_tol=1e-15):
        return float(nearest)
    return float(np.nextafter(nearest, np.float32(-np.inf)))


def _require_two_outcomes(tree: Tree) -> None:
    """Raise if the tree asks a multiway test, which no single column of the encoder answers."""
    for test in tree.tests:
        if isinstance(test, Multiway) or test.n_outcomes != 2:
            raise ValueError(
                f"A scikit-learn node has two children and compares one number, but the test of "
                f"{test.name!r} is a multiway test with {test.n_outcomes} outcomes; train with "
                "splits='binary', or use to_python, to_sql or to_json."
            )


def _require_numbers(tree: Tree) -> None:
    """Raise unless every test is a comparison of a number, which scikit-learn can express."""
    for test in tree.tests:
        if not isinstance(test, (Threshold, Flag)):
            raise ValueError(
                f"A scikit-learn tree compares numbers only and cannot ask {test.describe(0)!r}; "
                "use to_sklearn(encoded=True) for a tree over the 0/1 columns of the encoder."
            )


def _split(test: Test, column: int, first_child: int, encoded: bool) -> dict[str, Any]:
    """Return the fields of a node that asks a test."""
    if isinstance(test, Threshold) and not encoded:
        return {
            "left_child": first_child,
            "right_child": first_child + 1,
            "feature": test.feature,
            "threshold": float32_threshold(test.threshold),
            "missing_go_to_left": 0,
        }
    # A bit that is set goes right in scikit-learn, and outcome 0 is our first child. A missing
    # value does not set the bit.
    return {
        "left_child": first_child + 1,
        "right_child": first_child,
        "feature": column if encoded else test.feature,
        "threshold": 0.5,
        "missing_go_to_left": 1,
    }


def _nodes(tree: Tree, encoded: bool) -> NDArray[np.void]:
    from sklearn.tree._tree import NODE_DTYPE

    weights = tree.counts.sum(axis=1).astype(np.float64)
    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = _NO_CHILD
    nodes["feature"] = nodes["threshold"] = _UNDEFINED
    nodes["impurity"] = tree.impurities
    # The tree knows weights, not rows; for unweighted data they are the same.
    nodes["n_node_samples"] = np.maximum(np.rint(weights), 1)
    nodes["weighted_n_node_samples"] = weights
    for node in np.flatnonzero(tree.test >= 0):
        position = tree.test[node]
        fields = _split(
            tree.tests[position], tree.columns[position], int(tree.first_child[node]), encoded
        )
        for name, value in fields.items():
            if name in (NODE_DTYPE.names or ()):
                nodes[name][node] = value
    return nodes


def _values(tree: Tree) -> NDArray[np.float64]:
    """Return class shares whose largest is the label, since that is what scikit-learn predicts.

    With a cost matrix, or in a tie, a leaf's label need not be its most frequent class. There,
    and only there, the label's share is raised by the least that makes it the largest.
    """
    values = tree.probabilities
    for leaf in np.flatnonzero(tree.test < 0):
        label = tree.label[leaf]
        if values[leaf].argmax() != label:
            values[leaf, label] = np.nextafter(values[leaf].max(), np.inf)
    return values


def _means(tree: Tree) -> NDArray[np.float64]:
    """Return the value of each leaf, and in other nodes the mean over the rows below."""
    if tree.classes.dtype.kind not in "iuf":
        raise ValueError(
            f"A regression tree predicts numbers, but this tree predicts {tree.classes.tolist()}; "
            "use to_sklearn(regressor=False)."
        )
    weights = tree.counts.sum(axis=1)
    means = tree.counts @ tree.classes / np.where(weights > 0, weights, 1)
    leaf = tree.test < 0
    means[leaf] = tree.classes[tree.label[leaf]]
    return np.asarray(means, dtype=np.float64)[:, None]
