"""Heuristic and anytime peers, and certree with its history, beside :mod:`worker`'s solvers.

Like the worker this runs in the project's environment and in the peers', so it imports nothing of
the harness but the worker. Every solver tells the depth of its tree, the number of tests on the
longest path: packages differ in what they call depth, and a deeper tree would win unfairly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from number_solvers import Cart
    from worker import Answer, Array, Certree, Solver
except ImportError:  # as a module of the harness
    from .number_solvers import Cart
    from .worker import Answer, Array, Certree, Solver


class CertreeHistory(Certree):
    """The estimator with its history; of numbers it gets the numbers, and encodes them itself."""

    def read(self, data: Any) -> tuple[Any, Any]:
        return data["numbers"] if "numbers" in data else data["columns"], data["labels"]

    def describe(self, model: Any) -> Answer:
        certificate = model.certificate_
        return super().describe(model) | {
            "depth": certificate.depth,
            "certificate_seconds": certificate.seconds,
            "history": [
                (seconds, float(upper), float(lower))
                for seconds, _, upper, lower in certificate.history
            ],
            "lower_bound": float(certificate.lower_bound),
        }


class Greedy(Cart):
    """scikit-learn's greedy tree over the same 0/1 columns, with its depth."""

    def describe(self, model: Any) -> Answer:
        return super().describe(model) | {"depth": int(model.get_depth())}


class LicketySplit(Solver):
    """LicketySPLIT; `lookahead_k` is an option. It has no time limit.

    Its penalty per leaf must be positive to keep trees small; 1e-5 never outweighs an error.
    """

    package = "licketysplit"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        classes = np.unique(labels, return_inverse=True)[1]
        return np.ascontiguousarray(columns, dtype=np.uint8), classes.astype(np.int32)

    def fit(self, columns: Any, labels: Any) -> Any:
        from licketysplit import LicketySPLITClassifier

        model = LicketySPLITClassifier(lambda_leaf=1e-5, depth_budget=self.depth, **self.options)
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        paths = model.get_tree_paths()[0]
        return {"proven": False, "splits": len(paths) - 1, "depth": max(map(len, paths))}


class Pytrees(Solver):
    """What the solvers of pytrees-rs share: float64 columns, and scikit-learn's arrays of nodes."""

    package = "pytrees-rs"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.float64), labels

    def describe(self, model: Any) -> Answer:
        if model.tree_ is None:  # The limit came before any tree did.
            return {"proven": False, "splits": None}
        left, right = model.tree_.children_left, model.tree_.children_right
        depth = np.zeros(len(left), dtype=np.int64)
        for node in np.flatnonzero(left >= 0):
            depth[left[node]] = depth[right[node]] = depth[node] + 1
        proven = getattr(model, "status_", None) == "optimal"
        return {"proven": proven, "splits": int((left >= 0).sum()), "depth": int(depth.max())}


class Lgdt(Pytrees):
    """LGDT: every test is the root of the best tree of depth two for the rows of its node."""

    def fit(self, columns: Any, labels: Any) -> Any:
        from pytrees import LGDTClassifier

        return LGDTClassifier(max_depth=self.depth, **self.options).fit(columns, labels)


class Discrepancies(Pytrees):
    """DL8.5 by limited discrepancies in the order of information gain, as its pages advise."""

    def fit(self, columns: Any, labels: Any) -> Any:
        from pytrees import DL85Classifier
        from pytrees.rules import DiscrepancyRule

        model = DL85Classifier(
            max_depth=self.depth,
            max_time=self.limit,
            heuristic="information_gain",
            discrepancy=DiscrepancyRule(),
            **self.options,
        )
        return model.fit(columns, labels)


class FastSmallTree(Solver):
    """FastSmallTree of imodels. It has a penalty per leaf and no limit on the depth."""

    package = "imodels"

    def fit(self, columns: Any, labels: Any) -> Any:
        from imodels import FastSmallTreeClassifier

        model = FastSmallTreeClassifier(
            regularization=self.complexity, time_limit=self.limit, **self.options
        )
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        depth = int(model.estimator_.tree_.max_depth)
        return {"proven": bool(model.optimal_), "splits": int(model.complexity_), "depth": depth}


ANYTIME_SOLVERS: dict[str, type[Solver]] = {
    "certree-history": CertreeHistory,
    "greedy": Greedy,
    "licketysplit": LicketySplit,
    "lgdt": Lgdt,
    "discrepancies": Discrepancies,
    "fast-small-tree": FastSmallTree,
}
