"""Solvers for F1, other metrics of two kinds of error, fronts and areas, beside :mod:`worker`'s.

Like the worker this runs in the project's environment and in the peers', so it imports nothing of
the harness but the worker. False positives and false negatives are counted here from the
predictions and areas from the scores, never taken from the solver.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

try:
    from worker import Answer, Array, Certree, Pystreed, Solver
except ImportError:  # as a module of the harness
    from .worker import Answer, Array, Certree, Pystreed, Solver


class CertreeMetric(Certree):
    """The estimator with a metric as objective."""

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        return mistakes(self.predict(model, columns), labels)


class CertreeArea(CertreeMetric):
    """The estimator with an area under the ROC curve as objective."""

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        scores = model.predict_proba(columns)[:, 1]
        return super().measure(model, columns, labels) | {"area": exact_area(scores, labels)}


class CertreeFront(Solver):
    """All nondominated trees; what counts for the comparison is the one with the best F1."""

    package = "certree"

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import pareto_front

        return pareto_front(
            columns, labels, max_depth=self.depth, time_limit=self.limit, **self.options
        )

    def predict(self, model: Any, columns: Any) -> Array:
        return np.asarray(model.best("f1").predict(columns))

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        return mistakes(self.predict(model, columns), labels)

    def describe(self, model: Any) -> Answer:
        return {
            "proven": model.status == "optimal",
            "splits": int(model.best("f1").tree_.n_splits),
            "status": model.status,
            "points": len(model),
        }


class PystreedF1(Pystreed):
    """STreeD's F1, which finds all nondominated trees and returns the best of them."""

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDClassifier

        model = STreeDClassifier(
            "f1-score", max_depth=self.depth, time_limit=self.limit, **self.options
        )
        return model.fit(columns, labels)

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        return mistakes(self.predict(model, columns), labels)


METRIC_SOLVERS: dict[str, type[Solver]] = {
    "certree-metric": CertreeMetric,
    "certree-area": CertreeArea,
    "certree-front": CertreeFront,
    "pystreed-f1": PystreedF1,
}


def mistakes(predicted: Array, labels: Array) -> Answer:
    """Count the errors of each kind; the greater label is positive."""
    wrong = predicted != labels
    positive = labels == labels.max()
    return {
        "errors": int(wrong.sum()),
        "positives": int(positive.sum()),
        "fp": int((wrong & ~positive).sum()),
        "fn": int((wrong & positive).sum()),
    }


def exact_area(scores: Array, labels: Array) -> str:
    """Count the pairs of a positive and a negative row that the scores rank right; ties half."""
    positive = labels == labels.max()
    twice = 0
    for score in np.unique(scores):
        here = scores == score
        below = int(((scores < score) & ~positive).sum())
        twice += int((here & positive).sum()) * (2 * below + int((here & ~positive).sum()))
    return str(Fraction(twice, 2 * int(positive.sum()) * int((~positive).sum())))
