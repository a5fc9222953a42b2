"""A fitted model of every public estimator, and of the ways to fit each that leave more behind."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    Measurement,
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    PolicyTree,
    SPOForest,
    SPOTree,
    SurvivalTree,
    TreeCV,
    estimators,
    metrics,
    oracles,
    tasks,
)

N_ROWS = 60


class Case(NamedTuple):
    """A fitted model, the table, and what `verify` takes beside them."""

    name: str
    model: Any
    X: Any
    given: dict[str, Any]


def table() -> list[list[Any]]:
    """Rows with numbers, gaps, categories and truth values."""
    random = np.random.default_rng(11)
    return [
        [
            float(random.integers(0, 9)) / 4,
            None if random.random() < 0.2 else float(random.integers(0, 5)),
            ["red", "green", 'blue "1/3"', ""][random.integers(0, 4)],
            bool(random.integers(0, 2)),
        ]
        for _ in range(N_ROWS)
    ]


def labels(X: list[list[Any]], n_classes: int = 2) -> Any:
    """A class for each row that depends on the columns."""
    scores = [int(row[0] > 1) + (row[1] is None) + (row[2] == "red") for row in X]
    return np.array(["no", "yes", "so"])[np.minimum(scores, n_classes - 1)]


def _estimators() -> dict[str, Any]:
    return {
        name: one
        for name in estimators.__all__
        if isinstance(one := getattr(estimators, name), type) and hasattr(one, "fit")
    }


def _costs() -> Any:
    return np.random.default_rng(2).integers(0, 9, (N_ROWS, 4)).astype(float)


def _spo(oracle: Any, **parameters: Any) -> Callable[..., Any]:
    return lambda X: (SPOTree(oracle, max_depth=2, **parameters).fit(X, _costs()), {"y": _costs()})


def _classifier(**parameters: Any) -> Callable[..., Any]:
    path = parameters.pop("path", False)

    def fit(X: Any) -> Any:
        y = labels(X)
        model = OptimalTreeClassifier(max_depth=2, **parameters).fit(X, y, path=path)
        return model, {"y": y}

    return fit


def _numbers(model: Any) -> Callable[..., Any]:
    def fit(X: Any) -> Any:
        y = np.arange(N_ROWS) % 7 + np.array([row[0] for row in X]) / 3
        return model.fit(X, y, path=True), {"y": y}

    return fit


def _costly(X: Any) -> Any:
    y = labels(X)
    prices = [Measurement([0, 1], 0.1), Measurement(2, 0.2, "group")]
    model = CostSensitiveTreeClassifier([[0, 1], [5, 0]], prices, max_depth=2)
    return model.fit(X, y), {"y": y}


def _limited(X: Any) -> Any:
    y = labels(X)
    limit = tasks.Limit("yes", {"yes": 1}, at_most=30)
    model = CostSensitiveTreeClassifier(max_depth=2, capacity={"yes": 40}, limits=limit)
    return model.fit(X, y), {"y": y}


def _fair(X: Any) -> Any:
    y, groups = labels(X), [row[3] for row in X]
    model = FairTreeClassifier(max_depth=2, tolerance=0.1).fit(X, y, sensitive_features=groups)
    return model, {"y": y, "sensitive_features": groups}


def _policy(X: Any) -> Any:
    treated = np.random.default_rng(3).integers(0, 2, N_ROWS)
    outcome = treated * np.array([row[0] for row in X])
    model = PolicyTree(max_depth=2, cv=2, min_treated=2, random_state=0).fit(X, treated, outcome)
    return model, {"y": model.rewards_}


def _survival(X: Any) -> Any:
    random = np.random.default_rng(5)
    time = np.round(random.exponential(2 + np.array([row[0] for row in X])), 1) + 0.1
    y = np.column_stack([time, random.random(N_ROWS) < 0.7])
    return SurvivalTree(max_depth=2, complexity=0.01).fit(X, y, path=True), {"y": y}


def _linear(form: str) -> Callable[[Any], Any]:
    def fit(X: Any) -> Any:
        y = np.array([3 * row[0] if row[3] else row[0] - 5 for row in X]) + np.arange(N_ROWS) % 3
        model = LinearTreeRegressor(2, leaf_model=form, ridge=0.5, model_features=[0])
        return model.fit(X, y, path=True), {"y": y}

    return fit


def _outputs(model: Any) -> Callable[[Any], Any]:
    def fit(X: Any) -> Any:
        import pandas as pd

        y = pd.DataFrame({"kind": labels(X, n_classes=3), "is late": [row[0] > 1 for row in X]})
        if isinstance(model, OptimalTreeRegressor):
            y = pd.DataFrame({"size": [row[0] for row in X], "cost": np.arange(N_ROWS) % 7 / 10})
        return clone(model).fit(X, y, path=True), {"y": y}

    return fit


def _clusters(X: Any) -> Any:
    columns = [[row[0], k % 5 / 4, row[2]] for k, row in enumerate(X)]
    return OptimalTreeClusterer(n_clusters=3, features=[1, 0]).fit(columns), {"X": columns}


def _forest(X: Any) -> Any:
    model = SPOForest(oracles.TopK(4, 1), n_estimators=3, random_state=0).fit(X, _costs())
    return model, {}


_PROGRAM = {"A_ub": [[1, 1, 1, 1]], "b_ub": [2], "bounds": (0, 1), "sense": "max"}

_WAYS: dict[str, Callable[[Any], Any]] = {
    "path": _classifier(path=True),
    "front": _classifier(objective=metrics.ErrorFront()),
    "metric": _classifier(objective=metrics.FBeta("1/3"), complexity="1/30"),
    "area": _classifier(objective="auc"),
    "multiway": _classifier(splits="both"),
    "all thresholds": _classifier(thresholds="all", class_weight={"yes": 3}),
    "named columns": lambda X: _named(X),
    "times": lambda X: _times(X),
    "rare categories": _classifier(min_category_rows=16),
    "sets of categories": _classifier(category_tests="subsets"),
    "chosen cut points": _classifier(thresholds={0: [1.0, 1.5]}),
    "OptimalTreeRegressor": _numbers(OptimalTreeRegressor(max_depth=2)),
    "medians": _numbers(OptimalTreeRegressor(max_depth=2, criterion="absolute_error")),
    "quantiles": _numbers(OptimalTreeRegressor(max_depth=2, criterion="quantile", quantile="1/3")),
    "OptimalTreeRegressorCV": _numbers(OptimalTreeRegressorCV(depths=(1, 2), rule="one_se")),
    "TreeCV": _numbers(TreeCV(OptimalTreeRegressor(), depths=(1, 2), complexities=("1/30", 0.1))),
    "CostSensitiveTreeClassifier": _costly,
    "limits": _limited,
    "FairTreeClassifier": _fair,
    "PolicyTree": _policy,
    "SurvivalTree": _survival,
    "LinearTreeRegressor": _linear("simple"),
    "ridge models": _linear("ridge"),
    "label outputs": _outputs(OptimalTreeClassifier(max_depth=2, output_weights=[1, 0.5])),
    "number outputs": _outputs(OptimalTreeRegressor(max_depth=2, output_weights="balanced")),
    "OptimalTreeClusterer": _clusters,
    "SPOTree": _spo(None),
    "greedy": _spo(oracles.Decisions(np.eye(4), names=list("abcd")), method="greedy"),
    "grid": _spo(oracles.GridShortestPath(2, 2)),
    "paths": _spo(
        oracles.DAGShortestPath([("a", 1), ("a", 1), (1, "c"), (1, "c")], "a", "c", sense="max")
    ),
    "assignment": _spo(oracles.Assignment(2)),
    "simplex": _spo(oracles.BoxSimplex(4, upper=0.5, names=list("abcd"))),
    "linear program": _spo(oracles.LinearProgram(A_eq=[[1, 1, 1, 1]], b_eq=[1])),
    "program": _spo(oracles.MixedIntegerProgram(**_PROGRAM)),
    "SPOForest": _forest,
}


def _named(X: Any) -> Any:
    import pandas as pd

    frame, y = pd.DataFrame(X, columns=["age", "size", "color", "is old"]), labels(X)
    return OptimalTreeClassifier(max_depth=2).fit(frame, y), {"X": frame, "y": y}


def _times(X: Any) -> Any:
    import pandas as pd

    days = np.arange(N_ROWS) * 86_400
    frame = pd.DataFrame(
        {
            "admitted": pd.to_datetime(days * 3, unit="s"),
            "seen": pd.to_datetime(days, unit="s", utc=True),
            "stay": pd.to_timedelta(np.arange(N_ROWS) % 7, unit="h"),
            "age": [row[1] for row in X],
        }
    )
    frame.loc[::9, "admitted"] = None
    y = np.where((frame["stay"] > pd.Timedelta("3h")) ^ (frame["seen"].dt.day < 15), "yes", "no")
    return OptimalTreeClassifier(max_depth=3).fit(frame, y), {"X": frame, "y": y}


@cache
def cases() -> dict[str, Case]:
    """Return all cases by name; an estimator without one of its own is fitted as a classifier."""
    X, found = table(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, way in _WAYS.items():
            model, given = way(X)
            found[name] = Case(name, model, given.pop("X", X), given)
        for name, cls in _estimators().items():
            if name not in found:
                y = labels(X, n_classes=3)
                found[name] = Case(name, cls().fit(X, y), X, {"y": y})
    return found
