"""Solvers with limits on the whole tree: fairness between two groups, and capacities of treatments.

Like the worker this runs in the project's environment and in the peers', so it imports nothing of
the harness but the worker. Whether a tree keeps to a limit is found out here from its predictions,
in fractions, by the same code for everybody.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

try:
    from task_solvers import CertreePolicy, doubly_robust, total_cost
    from worker import Answer, Array, Solver
except ImportError:  # as a module of the harness
    from .task_solvers import CertreePolicy, doubly_robust, total_cost
    from .worker import Answer, Array, Solver


class FairSolver(Solver):
    """A solver of fair trees; the sensitive feature is the first column."""

    def read(self, data: Any) -> tuple[Any, Any]:
        """Give columns and labels."""
        return self.prepare(data["columns"], data["labels"])

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        """Count errors, and compare the groups."""
        predicted = self.predict(model, columns)
        apart = rates_apart(
            self.options["constraint"], predicted, labels, np.asarray(columns)[:, 0]
        )
        return {
            "errors": int((predicted != labels).sum()),
            "apart": str(apart),
            "within": apart <= Fraction(self.options["tolerance"]),
        }


def rates_apart(constraint: str, predicted: Array, labels: Array, groups: Array) -> Fraction:
    """Give the exact difference of the rates that a constraint compares; label 1 is positive."""
    counts = labels == 1 if constraint == "equal_opportunity" else np.ones(len(labels), dtype=bool)
    rates = []
    for group in (0, 1):
        of_group = counts & (groups == group)
        rates.append(Fraction(int((predicted[of_group] == 1).sum()), int(of_group.sum())))
    return abs(rates[0] - rates[1])


class CertreeFair(FairSolver):
    """The estimator, as a user calls it."""

    package = "certree"

    def model(self) -> Any:
        """Give the estimator."""
        from certree import FairTreeClassifier

        return FairTreeClassifier(
            max_depth=self.depth,
            complexity=self.complexity,
            time_limit=self.limit,
            n_jobs=1,
            **self.options,
        )

    def fit(self, columns: Any, labels: Any) -> Any:
        return self.model().fit(columns, labels, sensitive_features=columns[:, 0])

    def describe(self, model: Any) -> Answer:
        certificate = model.certificate_
        return {
            "proven": bool(certificate.is_optimal),
            "splits": int(model.tree_.n_splits),
            "status": certificate.status,
            "counters": dict(certificate.counters),
        }


class CertreeCurve(CertreeFair):
    """The best trees for all tolerances; what counts for the comparison is one of them."""

    def fit(self, columns: Any, labels: Any) -> Any:
        return self.model().fairness_curve(columns, labels, sensitive_features=columns[:, 0])

    def predict(self, model: Any, columns: Any) -> Array:
        return np.asarray(model.at(self.options["tolerance"]).predict(columns))

    def describe(self, model: Any) -> Answer:
        return {
            "proven": bool(model.is_optimal),
            "splits": int(model.at(self.options["tolerance"]).tree_.n_splits),
            "status": model.status,
            "points": len(model),
        }


class StreedFair(FairSolver):
    """STreeD's group fairness and equality of opportunity."""

    package = "pystreed"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.intc), labels.astype(np.intc)

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDGroupFairnessClassifier

        tasks = {
            "demographic_parity": "group-fairness",
            "equal_opportunity": "equality-of-opportunity",
        }
        depth = self.depth or 3
        model = STreeDGroupFairnessClassifier(
            tasks[self.options["constraint"]],
            sensitive_feature=0,
            discrimination_limit=float(Fraction(self.options["tolerance"])),
            max_depth=depth,
            max_num_nodes=2**depth - 1,
            time_limit=self.limit,
        )
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        if not hasattr(model, "fit_result"):  # The limit came before any tree did.
            return {"proven": False, "splits": None}
        result = model.fit_result
        return {"proven": bool(result.is_optimal()), "splits": int(result.tree_nodes())}


class CertreeCapacity(CertreePolicy):
    """Doubly robust scores, with a share of the rows that a treatment may go to."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        # Three treatments, as in the tables that are measured.
        data = super().tiny(labels)
        third = np.zeros(len(labels))
        history = np.column_stack([data["history"], third])
        return {**data, "history": history, "costs": np.column_stack([data["costs"], third])}

    def settings(self) -> dict[str, Any]:
        """Give the parameters, with the treatments as the numbers that they are."""
        settings = super().settings()
        shares = settings.pop("capacity").items()
        return {**settings, "capacity": {int(name): share for name, share in shares}}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import PolicyTree

        return PolicyTree(**self.settings()).fit_rewards(columns, doubly_robust(labels["history"]))

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        predicted = np.asarray(model.predict(columns))
        within = all(
            Fraction(int((predicted == int(name)).sum()), len(predicted)) <= Fraction(share)
            for name, share in self.options["capacity"].items()
        )
        cost = total_cost(self.tree(model), np.asarray(columns), labels)
        return {"cost": cost, "within": within}


LIMIT_SOLVERS: dict[str, type[Solver]] = {
    "certree-fair": CertreeFair,
    "certree-curve": CertreeCurve,
    "pystreed-fair": StreedFair,
    "certree-capacity": CertreeCapacity,
}
