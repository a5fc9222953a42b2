"""The tree as a fitted scikit-learn tree, for SHAP, ONNX and other tools.

scikit-learn keeps a tree in a structured array whose layout differs a little between versions, so
its own dtype is asked for and filled by field name. It sends a row left if ``float32(x) <= t``, and
missing values where the node says. Thresholds are chosen so that the values of a table reach the
same leaves as here, wherever float32 tells the values next to a threshold apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Table, Test
from certree.exceptions import warn

from ._payload_labels import Labels
from ._routing import route
from ._spread import means

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from ._tree import Tree

# What scikit-learn writes where a leaf has no children, and no feature or threshold.
_NO_CHILD, _UNDEFINED = -1, -2


# Of scikit-learn's warnings, how many rows and columns are named.
_NAMED = 5


def to_sklearn(
    tree: Tree, table: Table | None, encoded: bool, regressor: bool
) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Build the classifier or regressor; the table is one that it will be asked about."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import Tree as SklearnTree

    _require_two_outcomes(tree)
    if not encoded:
        _require_numbers(tree, table)
    n_features = tree.n_columns if encoded else tree.n_features
    regressor |= not isinstance(tree.payload, Labels)
    # One line for each output, with a column for each class.
    values = _means(tree)[:, :, np.newaxis] if regressor else _values(tree)[:, np.newaxis, :]
    n_outputs, n_classes = values.shape[1:]
    inner = SklearnTree(n_features, np.full(n_outputs, n_classes, dtype=np.intp), n_outputs)
    inner.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": _nodes(tree, encoded, [_threshold(test, table) for test in tree.tests]),
            "values": np.ascontiguousarray(values),
        }
    )
    model = DecisionTreeRegressor() if regressor else DecisionTreeClassifier()
    model.n_features_in_ = n_features
    if tree.has_names and not encoded:
        model.feature_names_in_ = np.array(tree.feature_names, dtype=object)
    model.n_outputs_ = n_outputs
    if not regressor:
        model.classes_ = tree.classes.copy()
        model.n_classes_ = np.intp(n_classes)
    model.max_features_ = n_features
    model.tree_ = inner
    if not encoded:
        _warn_of_rounding(tree, inner, table)
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
        if test.usual_outcome is not None or test.n_outcomes != 2:
            raise ValueError(
                "A scikit-learn node has two children and compares one number, but the question "
                f"of {test.name!r} is a multiway question with {test.n_outcomes} outcomes; train "
                "with splits='binary', or use to_python, to_sql or to_json."
            )


def _require_numbers(tree: Tree, table: Table | None) -> None:
    """Raise unless every test is about a number, which scikit-learn can express."""
    for test in tree.tests:
        is_text = table is not None and table.column(test.feature).dtype == object
        kind = test.condition(0).kind
        is_number = kind == "missing" or (test.cut is not None and kind != "time")
        if is_text or not is_number:
            raise ValueError(
                f"A scikit-learn tree compares numbers only and cannot ask {test.describe(0)!r}; "
                "use to_sklearn(encoded=True) for a tree over the 0/1 columns of the encoder."
            )


def _threshold(test: Test, table: Table | None) -> float:
    """Return where scikit-learn has to cut a raw column."""
    if test.condition(0).kind == "flag":
        return 0.5
    if not _is_threshold(test):
        # Every number is at most this one, so that only missing values go right.
        return float(np.finfo(np.float32).max)
    threshold = float32_threshold(test.cut)
    if table is not None:
        low, high = _neighbours(test, table)
        if low < high and not low <= threshold < high:
            threshold = max(low, min(threshold, float(np.nextafter(high, -np.inf))))
    return threshold


def _is_threshold(test: Test) -> bool:
    """Return whether a test compares a number with a threshold."""
    return test.cut is not None and test.condition(0).kind == "number"


def _neighbours(test: Test, table: Table) -> tuple[float, float]:
    """Return as float32 the largest value up to the threshold, and the smallest above it."""
    column = table.column(test.feature)
    with np.errstate(over="ignore"):
        low = np.float32(column[column <= test.cut].max(initial=-np.inf))
        high = np.float32(column[column > test.cut].min(initial=np.inf))
    return float(low), float(high)


def _split(test: Test, first_child: int, threshold: float) -> dict[str, Any]:
    """Return the fields of a node that asks a test about a raw column."""
    # What is at most the threshold goes left.
    holds_left = test.condition(0).high is not None
    missing_holds = test.missing_outcome == 0
    return {
        "left_child": first_child + (not holds_left),
        "right_child": first_child + holds_left,
        "feature": test.feature,
        "threshold": threshold,
        "missing_go_to_left": int(missing_holds == holds_left),
    }


def _encoded_split(column: int, first_child: int) -> dict[str, Any]:
    """Return the fields of a node that asks a column of the encoder: ones go right."""
    return {
        "left_child": first_child + 1,
        "right_child": first_child,
        "feature": column,
        "threshold": 0.5,
        "missing_go_to_left": 1,
    }


def _nodes(tree: Tree, encoded: bool, thresholds: list[float]) -> NDArray[np.void]:
    from sklearn.tree._tree import NODE_DTYPE

    weights = tree.weights.astype(np.float64)
    nodes = np.zeros(tree.n_nodes, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = _NO_CHILD
    nodes["feature"] = nodes["threshold"] = _UNDEFINED
    nodes["impurity"] = tree.impurities
    rows = tree.payload.node_rows
    nodes["n_node_samples"] = np.maximum(np.rint(weights) if rows is None else rows, 1)
    nodes["weighted_n_node_samples"] = weights
    for node in np.flatnonzero(tree.test >= 0):
        position, first_child = int(tree.test[node]), int(tree.first_child[node])
        if encoded:
            fields = _encoded_split(tree.columns[position], first_child)
        else:
            fields = _split(tree.tests[position], first_child, thresholds[position])
        for name, value in fields.items():
            if name in (NODE_DTYPE.names or ()):
                nodes[name][node] = value
    return nodes


def _values(tree: Tree) -> NDArray[np.float64]:
    """Return class shares whose largest is the label, since that is what scikit-learn predicts.

    With class weights or costs, for a metric, or in a tie, a leaf's label need not be its most
    frequent class. There, and only there, the label's share is raised until it is the largest, and
    all are divided by their sum.
    """
    values = tree.probabilities
    for leaf in np.flatnonzero(tree.test < 0):
        label = tree.label[leaf]
        if values[leaf].argmax() != label:
            values[leaf, label] = values[leaf].max()
            values[leaf] /= values[leaf].sum()
            values[leaf, label] = np.nextafter(values[leaf].max(), np.inf)
    return values


def _means(tree: Tree) -> NDArray[np.float64]:
    """Return the value of each leaf, and in other nodes the mean over the rows below."""
    if not isinstance(tree.payload, Labels):
        return means(tree)
    values = tree.payload.numbers()
    weights = tree.weights[:, np.newaxis]
    leaf = (tree.test < 0)[:, np.newaxis]
    return np.where(
        leaf, values[tree.label], tree.counts @ values / np.where(weights > 0, weights, 1)
    )


# ---- what float32 cannot tell apart --------------------------------------------------------------


def _warn_of_rounding(tree: Tree, inner: Any, table: Table | None) -> None:
    """Warn of rows that reach another leaf in scikit-learn, or of thresholds where some may."""
    if table is None:
        fine = [test for test in tree.tests if _is_threshold(test) and _is_fine(test.cut)]
        if fine:
            warn(
                "scikit-learn rounds values to float32, which is coarser than these questions of "
                f"the tree: {_listed([test.describe(0) for test in fine])}. Values next to them "
                "may go the other way; pass X to to_sklearn to see which rows do.",
                UserWarning,
            )
        return
    asked = {test.feature for test in tree.tests}
    columns = [
        table.column(i).astype(np.float64) if i in asked else np.zeros(table.n_rows)
        for i in range(tree.n_features)
    ]
    with np.errstate(over="ignore"):
        rounded = np.column_stack(columns).astype(np.float32)
    different = np.flatnonzero(inner.apply(rounded) != route(tree, table))
    if len(different):
        confused = [
            test.describe(0)
            for test in tree.tests
            if _is_threshold(test) and np.greater_equal(*_neighbours(test, table))
        ]
        warn(
            f"{len(different)} of {table.n_rows} rows reach another leaf in scikit-learn, which "
            f"rounds values to float32: rows {_listed(map(str, different.tolist()))}. Values on "
            f"the two sides of {_listed(confused)} are the same in float32; subtract a constant "
            "from the column before training, or use to_python or to_sql.",
            UserWarning,
        )


def _is_fine(threshold: float) -> bool:
    """Return whether the last digit of a threshold is smaller than the steps of float32."""
    last = Decimal(repr(threshold)).normalize().as_tuple().exponent
    with np.errstate(over="ignore"):
        step = abs(float(np.spacing(np.float32(threshold))))
    return math.isfinite(step) and Decimal(1).scaleb(int(last)) < Decimal(step)


def _listed(texts: Iterable[str]) -> str:
    texts = list(texts)
    return ", ".join(texts[:_NAMED]) + (", ..." if len(texts) > _NAMED else "")
