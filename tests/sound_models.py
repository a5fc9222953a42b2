"""A sound certificate of every kind, small enough for a brute force."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    Measurement,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    SurvivalTree,
    optimality_gap,
    oracles,
    pareto_front,
    solve,
    tasks,
)
from certree.encoding._named import NamedArray


@dataclass(frozen=True)
class Case:
    """Something to verify.

    Attributes
    ----------
    subject : object
        What is passed to `verify`.
    data : dict
        The other arguments.
    read : callable
        From the subject to the certificate, or to another object with fields.
    write : callable
        From the subject and another certificate to a subject that has it.
    """

    subject: Any
    data: dict[str, Any]
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]
    weaker: frozenset[str] = frozenset()
    """Fields of which other values may state less, and nothing false."""


def _with(name: str) -> Callable[[Any, Any], Any]:
    def write(subject: Any, certificate: Any) -> Any:
        if dataclasses.is_dataclass(subject) and not hasattr(subject, "get_params"):
            return dataclasses.replace(subject, **{name: certificate})
        other = copy.copy(subject)
        setattr(other, name, certificate)
        return other

    return write


def _model(model: Any, data: dict[str, Any], **more: Any) -> Case:
    return Case(model, data, lambda m: m.certificate_, _with("certificate_"), **more)


def _solution(solution: Any, data: dict[str, Any], **more: Any) -> Case:
    return Case(solution, data, lambda s: s.certificate, _with("certificate"), **more)


def _with_front(model: Any, certificate: Any) -> Any:
    other = copy.copy(model)
    other.front_ = _with("certificate")(model.front_, certificate)
    return other


def _with_best(model: Any, certificate: Any) -> Any:
    other = copy.copy(model)
    other.best_estimator_ = _with("certificate_")(model.best_estimator_, certificate)
    return other


def with_entry(model: Any, entry: Any) -> Any:
    other = copy.copy(model)
    other._path = copy.copy(model._path)
    other._path.entries = (*model._path.entries[:-1], entry)
    return other


def _with_curve(curve: Any, certificate: Any) -> Any:
    other = copy.copy(curve)
    other._certificates = [certificate, *curve._certificates[1:]]
    return other


# A tree, and no proof, may always be said to have been stopped; a bound may be lower than it is.
_FRONT = frozenset({"status", "lower_points", "supported_only"})


def cases(seed: int = 7) -> dict[str, Case]:
    """Return a sound certificate of every kind, small enough for a brute force."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (24, 4))
    y = ((X[:, 0] & X[:, 1]) | (rng.random(24) < 0.25)).astype(int)
    table = np.round(rng.normal(size=(24, 3)), 1)
    table[rng.random((24, 3)) < 0.1] = np.nan
    whole, real = rng.integers(1, 4, 24), rng.random(24)
    target, gains = rng.normal(size=24), np.round(rng.normal(size=(24, 3)), 1)
    group = np.arange(24) % 2
    prices = [Measurement([0, 1], 0.2, group="a", discounted=0.1), Measurement(2, 0.3, group="a")]
    found: dict[str, Case] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = {"X": X, "y": y}
        weighed = {**own, "sample_weight": whole}
        really = {**own, "sample_weight": real}
        tree = OptimalTreeClassifier
        found["errors"] = _model(tree(max_depth=2, complexity=0.01).fit(X, y, whole), weighed)
        found["table"] = _model(tree(max_depth=2, thresholds=4).fit(table, y), {"X": table, "y": y})
        found["reals"] = _model(tree(max_depth=2, class_weight="balanced").fit(X, y, real), really)
        # A cut more or less, or one that says less, is no matter.
        cuts = frozenset({"cuts"})
        f1 = tree(max_depth=2, objective="f1").fit(X, y, whole)
        found["f1"] = _model(f1, weighed, weaker=cuts)
        found["mcc"] = _model(tree(max_depth=2, objective="mcc").fit(X, y), own, weaker=cuts)
        found["auc"] = _model(tree(max_depth=2, objective="auc").fit(X, y), own, weaker=cuts)
        text = np.array(["a", "b", "c"])[rng.integers(0, 3, (24, 2))]
        found["multiway"] = _model(
            tree(max_depth=2, splits="both").fit(text, y), {"X": text, "y": y}
        )
        cities = np.array(["Bonn", "Hof", "Köln", "Ulm", None], dtype=object)
        days = np.datetime64("2024-03-01") + rng.integers(0, 9, 24)
        asked: dict[str, tuple[Any, dict[str, Any]]] = {
            "sets": (cities[rng.integers(0, 5, (24, 2))], {"category_tests": "subsets"}),
            "rare": (cities[rng.integers(0, 5, (24, 2))], {"min_category_rows": 5}),
            "times": (days.reshape(-1, 1), {"thresholds": {0: ["2024-03-03", "2024-03-06"]}}),
            "shares": (table, {"min_samples_leaf": 0.2, "max_leaf_nodes": 3, "thresholds": 3}),
        }
        for name, (columns, settings) in asked.items():
            found[name] = _model(
                tree(max_depth=2, **settings).fit(columns, y), {"X": columns, "y": y}
            )
        fronted = tree(max_depth=2, objective="front").fit(X, y)
        found["front model"] = _model(fronted, own, weaker=cuts)
        found["front of a model"] = Case(
            fronted, own, lambda m: m.front_.certificate, _with_front, _FRONT
        )
        front = pareto_front(X, y, max_depth=2, per_splits=True)
        found["front"] = _solution(front, own, weaker=_FRONT)
        chosen = OptimalTreeClassifierCV(depths=(1, 2), cv=2).fit(X, y)
        found["cv"] = Case(chosen, own, lambda m: m.certificate_, _with_best)
        with_path = tree(max_depth=2).fit(X, y, path=True)
        found["path"] = Case(with_path, own, lambda m: m._path.entries[-1], with_entry)
        greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        gap = optimality_gap(greedy, X, y)
        found["gap"] = Case(gap, own, lambda g: g, lambda _, other: other)
        found["regression"] = _model(
            OptimalTreeRegressor(max_depth=2).fit(X, target), {"X": X, "y": target}
        )
        pair = np.column_stack([target, np.arange(len(X)) % 5 / 8])
        found["several numbers"] = _model(
            OptimalTreeRegressor(max_depth=2, output_weights=[1, "1/3"]).fit(X, pair),
            {"X": X, "y": pair},
        )
        found["several labels"] = _model(
            tree(max_depth=2).fit(X, pair > pair.mean(axis=0), whole),
            {"X": X, "y": pair > pair.mean(axis=0), "sample_weight": whole},
        )
        found["clusters"] = _model(
            OptimalTreeClusterer(n_clusters=3, max_depth=2).fit(pair, sample_weight=whole),
            {"X": pair, "sample_weight": whole},
        )
        for criterion in ("absolute_error", "quantile", "poisson", "gamma"):
            positive = target - target.min() + 1
            level = 0.9 if criterion == "quantile" else 0.5
            median = OptimalTreeRegressor(max_depth=2, criterion=criterion, quantile=level)
            found[criterion] = _model(median.fit(X, positive), {"X": X, "y": positive})
        y_censored = np.column_stack([np.arange(len(X)) % 7 + 1, np.arange(len(X)) % 3 > 0])
        found["survival"] = _model(
            SurvivalTree(max_depth=2, complexity=0.01).fit(X, y_censored), {"X": X, "y": y_censored}
        )
        lines = LinearTreeRegressor(max_depth=2, complexity=0.01, min_samples_leaf=2)
        found["lines"] = _model(lines.fit(X, target), {"X": X, "y": target})
        ridge = LinearTreeRegressor(max_depth=2, leaf_model="ridge", ridge=0.5, min_samples_leaf=1)
        found["ridge models"] = _model(
            ridge.fit(X, target, real), {"X": X, "y": target, "sample_weight": real}
        )
        found["costs"] = _model(
            CostSensitiveTreeClassifier([[0, 1.5], [4, 0]], prices, max_depth=2).fit(X, y, whole),
            weighed,
        )
        found["policy"] = _model(
            PolicyTree(max_depth=2, complexity=0.01).fit_rewards(X, gains), {"X": X, "y": gains}
        )
        limited = CostSensitiveTreeClassifier([[0, 1], [3, 0]], capacity={1: 0.4}, max_depth=2)
        bounds = frozenset({"cuts", "dual_bound"})
        found["capacity"] = _model(limited.fit(X, y, real), really, weaker=bounds)
        costly = PolicyTree(max_depth=1, treatment_costs=[0, 1, 2.5], budget=20)
        found["budget"] = _model(costly.fit_rewards(X, gains), {"X": X, "y": gains}, weaker=bounds)
        errors = tasks.Misclassification()
        nothing = errors & tasks.Limit("ones", {1: 1}, at_least=99)
        found["no tree"] = _solution(
            solve(nothing, X, y, max_depth=1),
            own,
            weaker=frozenset({"cuts", "proof", "limits"}),
        )
        both = tasks.Front(errors, tasks.RowCosts(np.abs(gains[:, :2])))
        found["two tasks"] = _solution(solve(both, X, y, max_depth=1), own, weaker=_FRONT)
        found["leaf cost"] = _solution(solve(tasks.entropy(y), X, max_depth=2), {"X": X})
        rows = tasks.RowCosts(gains, labels=["a", "b", "c"])
        found["row costs"] = _solution(solve(rows, X, max_depth=2), {"X": X})
        parts = tasks.Separable([0, 1], lambda r, label: int(np.sum(y[r] != label)))
        sizes = frozenset({"status", "max_splits", "min_samples_leaf", "depth"})
        found["parts"] = _solution(solve(parts, X, max_depth=2), {"X": X}, weaker=sizes)
        decided = SPOTree(oracles.TopK(3, 1), max_depth=2).fit(X, gains)
        found["decisions"] = _model(decided, {"X": X, "y": gains})
        grouped = {**own, "sensitive_features": group}
        duals = frozenset({"cuts", "unconstrained_cost", "least_disparity", "differences"})
        fair = FairTreeClassifier(tolerance=0, max_depth=2).fit(X, y, group)
        found["fair"] = _model(fair, grouped, weaker=duals)
        curve = FairTreeClassifier(max_depth=1).fairness_curve(X, y, group)
        found["curve"] = Case(
            curve, grouped, lambda c: c._certificates[0], _with_curve, duals | {"tolerance"}
        )
        people = NamedArray(np.column_stack([X[:, :2], table[:, :1]]), ["old", "smokes", "weight"])
        words = np.array(["ill", "well"])[y]
        of_people = {"X": people, "y": words, "sample_weight": real}
        named = tree(max_depth=2, class_weight={"ill": 2}).fit(people, words, real, path=True)
        found["words"] = _model(named, of_people)
        most = tree(max_depth=2, capacity={"well": 14}).fit(people, words, whole)
        found["words within limits"] = _model(
            most, {**of_people, "sample_weight": whole}, weaker=bounds
        )
        lines = LinearTreeRegressor(max_depth=1, model_features=["old", "smokes"])
        found["words in formulas"] = _model(lines.fit(people, target), {"X": people, "y": target})
        pairs = NamedArray(pair, ["pressure", "sugar"])
        balanced = OptimalTreeRegressor(max_depth=2, output_weights="balanced")
        found["words of outputs"] = _model(balanced.fit(people, pairs), {"X": people, "y": pairs})
        alone, label = np.zeros((5, 1)), np.array([0, 0, 1, 0, 0])
        a = np.array([0, 0, 1, 1, 0])
        unfair = FairTreeClassifier("accuracy_parity", 0.1, max_depth=1).fit(alone, label, a)
        found["unfair"] = _model(
            unfair, {"X": alone, "y": label, "sensitive_features": a}, weaker=duals
        )
    return found
