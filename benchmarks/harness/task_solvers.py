"""Solvers for costs, policies, regression and survival, beside those of :mod:`worker`.

Like the worker this runs in the project's environment and in the peers', so it imports nothing of
the harness but the worker. What a tree costs is computed here from the tree, row by row, by the
same code for everybody: the cost of the labels, and the prices of the tests that a row passes.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import Any

import numpy as np

try:
    from worker import Answer, Array, Solver
except ImportError:  # as a module of the harness
    from .worker import Answer, Array, Solver

Node = Any
"""A leaf is its label; another node is (column, node where it holds, node where it does not)."""


class TaskSolver(Solver):
    """A solver of a task: how to read its data, what its trees cost."""

    def read(self, data: Any) -> tuple[Any, Any]:
        """Give columns and the rest of the data."""
        extra = {name: data[name] for name in data.files if name not in ("columns", "setting")}
        extra["setting"] = json.loads(str(data["setting"]))
        return self.prepare(data["columns"], extra)

    @abstractmethod
    def tree(self, model: Any) -> Node:
        """Give the tree of a model as nested tuples."""

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        """Give the training cost of the tree."""
        return {"cost": total_cost(self.tree(model), np.asarray(columns), labels)}

    def warm_up(self) -> None:
        """Fit a tiny table, so that lazy imports are charged to nobody."""
        bits = np.array([[i >> b & 1 for b in range(4)] for i in range(16)], dtype=np.uint8)
        self.fit(*self.prepare(bits, self.tiny(bits[:, 0] ^ bits[:, 1])))

    @abstractmethod
    def tiny(self, labels: Array) -> dict[str, Any]:
        """Give the data of the warm-up."""


def total_cost(node: Node, columns: Array, data: dict[str, Any]) -> float:
    """Add up what all rows cost: labels by the table of costs, tests by their prices."""
    prices = data["setting"].get("prices")

    def visit(node: Node, rows: Array, made: tuple[int, ...]) -> float:
        if not isinstance(node, tuple):
            if "time" in data:
                return survival_loss(data["hazard"][rows], data["event"][rows])
            if "models" in data:
                return line_error(data["models"][rows], data["target"][rows])
            if "target" in data:
                target = data["target"][rows]
                return float(np.square(target - (target.mean() if node is None else node)).sum())
            return float(data["costs"][rows, int(node)].sum())
        column, yes, no = node
        holds = columns[rows, column] == 1
        paid, then = 0.0, made
        if prices is not None:
            number = prices["of_column"][column]
            if number not in made:
                groups = {prices["group"][other] for other in made}
                known = prices["group"][number] in groups
                paid = prices["discounted" if known else "price"][number] * len(rows)
                then = (*made, number)
        return paid + visit(yes, rows[holds], then) + visit(no, rows[~holds], then)

    return visit(node, np.arange(len(columns)), ())


def line_error(models: Array, target: Array) -> float:
    """Give the least squared error of a line over one of some columns."""
    around = target - target.mean()
    best = float(np.square(around).sum())
    for column in (models - models.mean(axis=0)).T:
        if column.any():
            rest = around - column * (column @ around) / (column @ column)
            best = min(best, float(np.square(rest).sum()))
    return best


def hazard_of_all(time: Array, event: Array) -> Array:
    """Give the cumulative hazard of all rows at the time of each (Nelson and Aalen)."""
    order = np.argsort(time, kind="stable")
    _, first, group = np.unique(time[order], return_index=True, return_inverse=True)
    events = np.bincount(group, weights=event[order])
    hazard = np.empty(len(time))
    hazard[order] = np.cumsum(events / (len(time) - first))[group]
    return np.where(hazard > 0, hazard, 1 / (len(time) + 1))


def survival_loss(hazard: Array, event: Array) -> float:
    """Give the least loss of a leaf whose hazard is that of all rows times one number."""
    events = int(event.sum())
    if events == 0:
        return 0.0
    return float(-np.log(hazard[event]).sum() - events * np.log(events / hazard.sum()))


class _Certree(TaskSolver):
    """An estimator of certree."""

    package = "certree"

    def tree(self, model: Any) -> Node:
        tree = model.tree_
        columns = list(tree.columns)

        def visit(node: int) -> Node:
            if tree.test[node] < 0:
                label = int(tree.label[node])
                return float(tree.classes[label]) if self.predicts_numbers else label
            child = int(tree.first_child[node])
            return columns[int(tree.test[node])], visit(child), visit(child + 1)

        return visit(0)

    predicts_numbers = False

    def settings(self) -> dict[str, Any]:
        """Give the parameters that all estimators share."""
        return {
            "max_depth": self.depth,
            "complexity": self.complexity,
            "time_limit": self.limit,
            "n_jobs": 1,
            **self.options,
        }

    def describe(self, model: Any) -> Answer:
        certificate = model.certificate_
        return {
            "proven": bool(certificate.is_optimal),
            "splits": int(model.tree_.n_splits),
            "status": certificate.status,
            "counters": dict(certificate.counters),
        }


class _Streed(TaskSolver):
    """A solver of STreeD, with data in the types that it converts everything to."""

    package = "pystreed"

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.intc), labels

    def settings(self) -> dict[str, Any]:
        """Give the parameters that all solvers share."""
        depth = 20 if self.depth is None else self.depth
        nodes = 2**depth - 1
        return {
            "max_depth": depth,
            "max_num_nodes": nodes,
            "time_limit": self.limit,
            **self.options,
        }

    def tree(self, model: Any) -> Node:
        def visit(node: Any) -> Node:
            if node.is_leaf_node():
                return node.label
            return int(node.feature), visit(node.right_child), visit(node.left_child)

        return visit(model.get_tree())

    def describe(self, model: Any) -> Answer:
        if not hasattr(model, "fit_result"):  # The limit came before any tree did.
            return {"proven": False, "splits": None}
        result = model.fit_result
        return {"proven": bool(result.is_optimal()), "splits": int(result.tree_nodes())}


def tiny_costs(labels: Array) -> dict[str, Any]:
    """Give costs of errors, with a price for every column."""
    prices = {
        "of_column": [0, 1, 2, 3],
        "group": [0, 1, 2, 3],
        "price": [0.1] * 4,
        "discounted": [0.1] * 4,
    }
    matrix = [[0.0, 1.0], [1.0, 0.0]]
    costs = 1.0 - np.eye(2)[labels]
    return {"labels": labels, "costs": costs, "setting": {"matrix": matrix, "prices": prices}}


class CertreeCosts(_Certree):
    """Cost matrix and prices of tests."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        return tiny_costs(labels)

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        from certree import Measurement

        prices = labels["setting"]["prices"]
        of_column = np.array(prices["of_column"])
        measurements = []
        for number, group in enumerate(prices["group"]):
            full, less = prices["price"][number], prices["discounted"][number]
            alone = prices["group"].count(group) == 1
            measurements.append(
                Measurement(
                    np.flatnonzero(of_column == number).tolist(),
                    full,
                    None if alone else str(group),
                    None if alone else less,
                )
            )
        return columns, {**labels, "measurements": measurements}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import CostSensitiveTreeClassifier

        matrix = labels["setting"]["matrix"]
        model = CostSensitiveTreeClassifier(
            matrix, labels["measurements"], classes=range(len(matrix)), **self.settings()
        )
        return model.fit(columns, labels["labels"])


class StreedCosts(_Streed):
    """Cost matrix and prices of tests."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        return tiny_costs(labels)

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        from pystreed import CostSpecifier, FeatureCostSpecifier

        setting = labels["setting"]
        prices = setting["prices"]
        of_column = np.array(prices["of_column"])
        features = []
        for number, group in enumerate(prices["group"]):
            places = np.flatnonzero(of_column == number)
            alone = prices["group"].count(group) == 1
            features.append(
                FeatureCostSpecifier(
                    prices["price"][number],
                    prices["discounted"][number],
                    "x" if alone else str(group),
                    int(places[0]),
                    int(places[-1]),
                )
            )
        costs = CostSpecifier(setting["matrix"], features)
        columns = np.ascontiguousarray(columns, dtype=np.intc)
        return columns, {**labels, "labels": labels["labels"].astype(np.intc), "specifier": costs}

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDCostSensitiveClassifier

        model = STreeDCostSensitiveClassifier(**self.settings())
        return model.fit(columns, labels["labels"], labels["specifier"])


class CertreeInstance(_Certree):
    """Costs per row and label."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        return tiny_costs(labels) | {"setting": {}}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import CostSensitiveTreeClassifier

        model = CostSensitiveTreeClassifier(**self.settings())
        return model.fit(columns, costs=labels["costs"])


class StreedInstance(_Streed):
    """Costs per row and label."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        return tiny_costs(labels) | {"setting": {}}

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDInstanceCostSensitiveClassifier

        return STreeDInstanceCostSensitiveClassifier(**self.settings()).fit(
            columns, labels["costs"]
        )


class CertreePolicy(_Certree):
    """Doubly robust scores; forming them is part of the fit, as it is for STreeD."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        n = len(labels)
        chance, outcomes = np.full(n, 0.5), np.stack([labels, 1.0 - labels], axis=1)
        history = np.column_stack([labels, np.ones(n), chance, outcomes])
        return {"history": history, "costs": -outcomes, "setting": {}}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import PolicyTree

        return PolicyTree(**self.settings()).fit_rewards(columns, doubly_robust(labels["history"]))


class StreedPolicy(_Streed):
    """Doubly robust scores."""

    tiny = CertreePolicy.tiny

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDPrescriptivePolicyGenerator

        model = STreeDPrescriptivePolicyGenerator(teacher_method="DR", **self.settings())
        return model.fit(columns, labels["history"])


def doubly_robust(history: Array) -> Array:
    """Give the scores: predicted outcome, and for the treatment given the weighted rest."""
    given, outcome, chance = history[:, 0].astype(np.int64), history[:, 1], history[:, 2]
    scores = history[:, 3:].copy()
    rows = np.arange(len(history))
    scores[rows, given] += (outcome - scores[rows, given]) / chance
    return scores


class CertreeRegression(_Certree):
    """Squared error."""

    predicts_numbers = True

    def tiny(self, labels: Array) -> dict[str, Any]:
        return {"target": labels.astype(np.float64), "setting": {}}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import OptimalTreeRegressor

        return OptimalTreeRegressor(**self.settings()).fit(columns, labels["target"])


class StreedRegression(_Streed):
    """Squared error, without a penalty."""

    tiny = CertreeRegression.tiny

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDRegressor

        model = STreeDRegressor("regression", **self.settings())
        return model.fit(columns, labels["target"])


class OsrtRegression(TaskSolver):
    """OSRT, without a penalty; its depth counts nodes. Predictions of six digits become means."""

    package = "osrt"
    tiny = CertreeRegression.tiny

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        import pandas as pd

        names = [str(number) for number in range(columns.shape[1])]
        return pd.DataFrame(columns.astype(np.int64), columns=names), labels

    def fit(self, columns: Any, labels: Any) -> Any:
        import pandas as pd
        from osrt import OSRT

        depth = 0 if self.depth is None else self.depth + 1
        setting = {"depth_budget": depth, "time_limit": round(self.limit), "worker_limit": 1}
        free = {"regularization": 0.0, "allow_small_reg": True}
        model = OSRT({**setting, **free, **self.options})
        model.fit(columns, pd.Series(labels["target"]))
        return model

    def tree(self, model: Any) -> Node:
        def visit(node: Any) -> Node:
            if "prediction" in node:
                return None
            return int(node["feature"]), visit(node["true"]), visit(node["false"])

        return visit(model.tree.source)

    def describe(self, model: Any) -> Answer:
        def splits(node: Any) -> int:
            return 1 + splits(node[1]) + splits(node[2]) if isinstance(node, tuple) else 0

        return {"proven": not model.timeout, "splits": splits(self.tree(model))}


class CertreeLinear(_Certree):
    """Squared error around the best line over one column in each leaf; five rows at least."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        target = np.arange(len(labels)) + 5.0 * labels
        return {"models": target[:, None] ** 2, "target": target, "setting": {}}

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        return np.column_stack([columns, labels["models"]]), labels

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import LinearTreeRegressor

        # Tests are the 0/1 columns, and models have the others.
        places = range(columns.shape[1] - labels["models"].shape[1], columns.shape[1])
        model = LinearTreeRegressor(
            min_samples_leaf=4,
            model_features=list(places),
            thresholds=dict.fromkeys(places, ()),
            **self.settings(),
        )
        return model.fit(columns, labels["target"])

    def tree(self, model: Any) -> Node:
        tree = model.tree_

        def visit(node: int) -> Node:
            if tree.test[node] < 0:
                return 0
            child = int(tree.first_child[node])
            # A test of zeros and ones asks whether there is a one.
            return tree.node_test(node).feature, visit(child), visit(child + 1)

        return visit(0)


class StreedLinear(_Streed):
    """The same, without a penalty."""

    tiny = CertreeLinear.tiny

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDPiecewiseLinearRegressor

        model = STreeDPiecewiseLinearRegressor(
            simple=True, cost_complexity=0.0, min_leaf_node_size=5, **self.settings()
        )
        return model.fit(columns, labels["target"], continuous_columns=labels["models"])


class CertreeSurvival(_Certree):
    """The likelihood of censored times."""

    def tiny(self, labels: Array) -> dict[str, Any]:
        time = 1.0 + np.arange(len(labels)) + 5 * labels
        return {"time": time, "event": time % 3 > 0, "setting": {}}

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        pairs = list(zip(labels["event"].tolist(), labels["time"].tolist(), strict=True))
        y = np.array(pairs, dtype=[("event", bool), ("time", np.float64)])
        hazard = hazard_of_all(labels["time"], labels["event"])
        return columns, {**labels, "y": y, "hazard": hazard}

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import SurvivalTree

        return SurvivalTree(**self.settings()).fit(columns, labels["y"])


class StreedSurvival(_Streed):
    """The same."""

    tiny = CertreeSurvival.tiny

    def prepare(self, columns: Array, labels: Any) -> tuple[Any, Any]:
        return CertreeSurvival.prepare(self, *super().prepare(columns, labels))  # type: ignore[arg-type]

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDSurvivalAnalysis

        return STreeDSurvivalAnalysis(**self.settings()).fit(columns, labels["y"])


TASK_SOLVERS: dict[str, type[TaskSolver]] = {
    "certree-costs": CertreeCosts,
    "pystreed-costs": StreedCosts,
    "certree-instance": CertreeInstance,
    "pystreed-instance": StreedInstance,
    "certree-policy": CertreePolicy,
    "pystreed-policy": StreedPolicy,
    "certree-regression": CertreeRegression,
    "pystreed-regression": StreedRegression,
    "osrt-regression": OsrtRegression,
    "certree-linear": CertreeLinear,
    "pystreed-linear": StreedLinear,
    "certree-survival": CertreeSurvival,
    "pystreed-survival": StreedSurvival,
}
