"""Solvers for tables of numbers, beside :mod:`worker`'s.

Like the worker this runs in the project's environment and in the peers', so it imports nothing of
the harness but the worker.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

try:
    from worker import Answer, Array, Certree, CertreeCore, Solver
except ImportError:  # as a module of the harness
    from .worker import Answer, Array, Certree, CertreeCore, Solver


class CertreeNumbers(Certree):
    """The estimator on numbers; the option `thresholds` says which cut points are considered."""

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.float64), labels


class CertreeOrdered(CertreeCore):
    """The compiled core on ranks, one per distinct value: no encoding, every switch at hand."""

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        _, types = super().prepare(columns, labels)
        ranked = [np.unique(column, return_inverse=True) for column in columns.T]
        self.n_ranks = np.array([len(values) for values, _ in ranked], dtype=np.int32)
        return np.array([ranks for _, ranks in ranked], dtype=np.int32), types

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import _core

        options = {"max_depth": self.depth, "time_limit": self.limit, **self.options}
        return _core.solve_ordered(
            columns, self.n_ranks, labels, self.cost_matrix, None, options, None
        )

    def predict(self, model: Any, columns: Any) -> Array:
        # Tests count the positions of all features before theirs.
        ends = np.cumsum(self.n_ranks - 1)
        test, first = np.asarray(model.test), np.asarray(model.first_child)
        feature = np.searchsorted(ends, test, side="right").clip(0, len(ends) - 1)
        position = test - np.concatenate([[0], ends])[feature]
        node = np.zeros(columns.shape[1], dtype=np.int64)
        while (inner := test[node] >= 0).any():
            rows = np.flatnonzero(inner)
            here = node[rows]
            node[rows] = first[here] + (columns[feature[here], rows] > position[here])
        return np.asarray(model.label)[node]


class Pycontree(Solver):
    """ConTree with its defaults: all thresholds, double precision, labels from zero on."""

    package = "pycontree"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        numbers = np.ascontiguousarray(columns, dtype=np.float64)
        return numbers, np.unique(labels, return_inverse=True)[1].astype(np.intc)

    def fit(self, columns: Any, labels: Any) -> Any:
        from pycontree import ConTree

        model = ConTree(max_depth=self.depth, time_limit=self.limit, **self.options)
        # A warning is its only word about a search that ran out of time.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(columns, labels)
        model.is_done = not any("time limit" in str(warning.message) for warning in caught)
        return model

    def describe(self, model: Any) -> Answer:
        return {"proven": model.is_done, "splits": int(model.get_num_branching_nodes())}


class Cart(Solver):
    """scikit-learn's greedy tree; single precision is what it computes with."""

    package = "scikit-learn"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.float32), labels

    def fit(self, columns: Any, labels: Any) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        model = DecisionTreeClassifier(max_depth=self.depth, random_state=0, **self.options)
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        tree = model.tree_
        return {"proven": False, "splits": int(tree.node_count - tree.n_leaves)}


class CertreeSquares(CertreeNumbers):
    """The estimator for squared errors."""

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import OptimalTreeRegressor

        limits = {"max_depth": self.depth, "time_limit": self.limit, "n_jobs": 1}
        return OptimalTreeRegressor(**limits, **self.options).fit(columns, labels)

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        return {"cost": float(np.square(self.predict(model, columns) - labels).sum())}


class CartSquares(Cart):
    """scikit-learn's greedy tree for squared errors."""

    def fit(self, columns: Any, labels: Any) -> Any:
        from sklearn.tree import DecisionTreeRegressor

        model = DecisionTreeRegressor(max_depth=self.depth, random_state=0, **self.options)
        return model.fit(columns, labels)

    measure = CertreeSquares.measure


NUMBER_SOLVERS: dict[str, type[Solver]] = {
    "certree-numbers": CertreeNumbers,
    "certree-ordered": CertreeOrdered,
    "pycontree": Pycontree,
    "cart": Cart,
    "certree-squares": CertreeSquares,
    "cart-squares": CartSquares,
}
