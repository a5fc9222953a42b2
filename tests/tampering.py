"""Certificates of every kind, and every way to tamper with what a user reads.

That is every field of a certificate, every attribute of a fitted model, and every value and text
that a tree has in a file: names, classes, counts, notes, formulas, curves. ``python -m
tests.tampering --certificates 5000 --seed 7`` tampers with models of new data, prints what passes,
sound models that are refused, and a table.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from certree import (
    CertificateError,
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
    Tree,
    optimality_gap,
    oracles,
    pareto_front,
    solve,
    tasks,
    verify,
)
from certree.encoding._named import NamedArray
from certree.verify._attributes import OWN
from certree.verify._fields import CHECKED


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


@dataclass(frozen=True)
class Forgery:
    """A subject with one thing changed.

    Attributes
    ----------
    name : str
        The case.
    case : Case
        What was changed.
    field_name : str
        Where: a field of the certificate, ``attribute classes_``, or ``tree: nodes.counts``.
    old, new : object
        What it was, and what it is.
    subject : callable
        Returns the subject that states the new value; None if that is no value, or the same.
    """

    name: str
    case: Case = field(repr=False)
    field_name: str
    old: Any
    new: Any
    subject: Callable[[], Any] = field(repr=False)


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


def _with_entry(model: Any, entry: Any) -> Any:
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
        found["path"] = Case(with_path, own, lambda m: m._path.entries[-1], _with_entry)
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


# Of the models of one seed so many tampered ones are tried.
_EACH = 600

_WRONG = (None, "x", float("nan"), 1.5, (), True, object)
"""Values that are wrong for every number."""


def other_values(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values of all kinds that differ from one."""
    number = isinstance(old, int | Fraction) and not isinstance(old, bool)
    if isinstance(old, bool):
        yield from (not old, None, 2)
    elif number:
        some = Fraction(int(rng.integers(1, 10**6)), int(rng.integers(1, 10**6)))
        yield from (old + 1, old - 1, 2 * old + 1, -old - 1, old + Fraction(1, 7), 10**9)
        yield from (old + some, old - some, old * (1 + some) + 1, 0)
        yield from _WRONG
    elif isinstance(old, float):
        yield from (old + 0.01, old - 1e-3, 2 * old + 1, -old - 1, float("nan"), float("inf"))
        yield from (None, "x", ())
    elif isinstance(old, str):
        yield from ("x", "optimal", "infeasible", "time_limit", "gap", "greedy", "leaf", None, 3)
    elif isinstance(old, tuple):
        yield from ((), None, "x", (*old, 1), (*old, *old[-1:]), old[:-1])
        for place, part in enumerate(old):
            for new in other_values(part, rng):
                yield (*old[:place], new, *old[place + 1 :])
    elif old is None:
        yield from (1, 0, Fraction(1, 3), "x", (), 2.5)
    elif dataclasses.is_dataclass(old):
        for name in CHECKED.get(type(old).__name__, ()):
            for new in other_values(getattr(old, name), rng):
                if not is_same(getattr(old, name), new):
                    yield dataclasses.replace(old, **{name: new})


def is_same(old: Any, new: Any) -> bool:
    """Return whether two values state the same."""
    return type(old) is type(new) and bool(old == new)


def forgeries(found: dict[str, Case], seed: int = 0) -> Iterator[Forgery]:
    """Yield every tampered certificate, model and tree."""
    rng = np.random.default_rng(seed)
    for name, case in found.items():
        yield from _forged_fields(name, case, rng)
        yield from forged_attributes(name, case, rng)
        yield from forged_trees(name, case, rng)


def _forged_fields(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    certificate = case.read(case.subject)
    for one in dataclasses.fields(certificate):
        if one.name not in CHECKED[type(certificate).__name__]:
            continue
        old = getattr(certificate, one.name)
        for new in other_values(old, rng):
            if not is_same(old, new):
                changed = dataclasses.replace(certificate, **{one.name: new})
                make = partial(case.write, case.subject, changed)
                yield Forgery(name, case, one.name, old, new, make)


# ---- attributes --------------------------------------------------------------------------------


def model_of(subject: Any) -> Any:
    """Return the fitted estimator of a subject; None if users do not see one."""
    model = getattr(subject, "best_estimator_", subject)
    return model if hasattr(model, "get_params") else None


def attributes_of(model: Any) -> list[str]:
    """Return the attributes of a model that users may read, and that are no trees or proofs."""
    fitted = set(vars(model)) - set(model.get_params(deep=False)) - OWN
    whole = {"tree_", "certificate_", "encoder_", "front_", "_path"}
    return sorted(fitted - whole)


def forged_attributes(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield models with one attribute changed."""
    model = model_of(case.subject)
    for attribute in [] if model is None else attributes_of(model):
        old = getattr(model, attribute)
        for new in other_plain(old, rng):
            if not _is_equal(old, new):
                make = partial(_with_attribute, case.subject, attribute, new)
                yield Forgery(name, case, f"attribute {attribute}", old, new, make)


def _with_attribute(subject: Any, attribute: str, value: Any) -> Any:
    if hasattr(subject, "best_estimator_"):
        best = _with_attribute(subject.best_estimator_, attribute, value)
        return _with_attribute_itself(subject, "best_estimator_", best)
    return _with_attribute_itself(subject, attribute, value)


def _with_attribute_itself(subject: Any, attribute: str, value: Any) -> Any:
    if not hasattr(subject, "__dict__") or isinstance(subject, tuple):
        return subject._replace(**{attribute: value})
    # A copy of a solution would lose its task, if that has functions.
    other = object.__new__(type(subject))
    other.__dict__.update(vars(subject))
    object.__setattr__(other, attribute, value)
    return other


def other_plain(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values that differ from that of an attribute, in kind or in one of its parts.

    Raises
    ------
    NotImplementedError
        For values of other kinds, which need a way to tamper with them.
    """
    if isinstance(old, np.ndarray):
        yield from (None, old[::-1], old[:-1], np.append(old, old[-1:], axis=0))
        for place in {0, len(old) - 1, int(rng.integers(len(old)))}:
            for new in other_plain(old[place], rng):
                changed = old.astype(object) if isinstance(new, str) else old.copy()
                with contextlib.suppress(TypeError, ValueError):
                    changed[place] = new
                    yield changed
    elif isinstance(old, np.generic):
        yield from other_plain(old.item(), rng)
    elif isinstance(old, bool):
        yield not old
    elif isinstance(old, int | Fraction):
        yield from (old + 1, 2 * old + 1, -old - 1)
    elif isinstance(old, float):
        yield from (old + 0.5, 2 * old + 1, -old - 1, 0.0)
    elif isinstance(old, str):
        yield from ("another", old + "s", old[::-1])
    elif isinstance(old, dict):
        yield from ({}, None)
        for key, value in old.items():
            yield from ({**old, key: new} for new in other_plain(value, rng))
            yield {f"{key}s" if k == key else k: v for k, v in old.items()}
    elif isinstance(old, list | tuple):
        yield from (None, old[::-1], old[:-1], old + old[-1:])
        for place, part in enumerate(old):
            for new in other_plain(part, rng):
                yield type(old)([*old[:place], new, *old[place + 1 :]])
    elif old is not None:
        raise NotImplementedError(f"tamper with a {type(old).__name__}, too")


def _is_equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and bool((one == other).all())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_is_equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_is_equal(one[k], other[k]) for k in one)
    return bool(one == other or (one != one and other != other))


# ---- trees -------------------------------------------------------------------------------------


def trees_of(subject: Any) -> Iterator[tuple[str, Tree, Callable[[Tree], Any]]]:
    """Yield the trees of a subject, and what puts another in the place of each."""
    model = model_of(subject)
    if model is not None and getattr(model, "tree_", None) is not None:
        yield "tree", model.tree_, partial(_with_attribute, subject, "tree_")
    if getattr(model, "_path", None) is not None:
        entry = model._path.entries[-1]
        replaced = partial(_with_attribute_itself, entry, "tree")
        yield "path", entry.tree, lambda tree: _with_entry(subject, replaced(tree))
    if model is None and isinstance(getattr(subject, "tree", None), Tree):
        name = "best_tree" if hasattr(subject, "best_tree") else "tree"
        if not hasattr(subject, "front"):
            yield name, getattr(subject, name), partial(_with_attribute_itself, subject, name)
    front = getattr(subject, "front_", subject)
    if hasattr(front, "_trees"):
        trees = list(front._trees)

        def put(tree: Tree) -> Any:
            other = _with_attribute_itself(front, "_trees", [*trees[:-1], tree])
            return other if front is subject else _with_attribute(subject, "front_", other)

        yield "front", trees[-1], put
    elif isinstance(getattr(subject, "front", None), tuple) and subject.front:
        points = subject.front

        def put_point(tree: Tree) -> Any:
            last = _with_attribute_itself(points[-1], "tree", tree)
            return _with_attribute_itself(subject, "front", (*points[:-1], last))

        yield "front", points[-1].tree, put_point


def forged_trees(name: str, case: Case, rng: np.random.Generator) -> Iterator[Forgery]:
    """Yield subjects with a tree of which one value in its file is another."""
    for where, tree, put in trees_of(case.subject):
        plain = tree.to_dict()
        for path in _paths(plain):
            old = _at(plain, path)
            told = ".".join(key for key in path if isinstance(key, str))
            for new in other_json(old, rng):
                make = partial(_with_value, tree, plain, path, new, put)
                yield Forgery(name, case, f"{where}: {told}", old, new, make)


def _paths(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all values in a file, and of all lists."""
    if isinstance(plain, dict):
        for key, value in plain.items():
            yield from _paths(value, (*path, key))
        return
    if path:
        yield path
    if isinstance(plain, list):
        for key, value in enumerate(plain):
            yield from _paths(value, (*path, key))


def _at(plain: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        plain = plain[key]
    return plain


def other_json(old: Any, rng: np.random.Generator) -> Iterator[Any]:
    """Yield values that differ from one in a file."""
    if isinstance(old, list):
        yield from (old[::-1], old[:-1])
    elif isinstance(old, bool):
        yield not old
    elif isinstance(old, int | float):
        yield from (old + 1, 2 * old + 1, 0, old + int(rng.integers(2, 9)))
    elif isinstance(old, str):
        yield from ("another", f"{old} not", old.replace("1", "7").replace("2", "1"))
    elif old is None:
        yield from ("another", 1, True)


def _with_value(
    tree: Tree, plain: Any, path: tuple[Any, ...], new: Any, put: Callable[[Tree], Any]
) -> Any:
    """Return the subject whose tree has another value in its file; None if it has no meaning."""
    other = copy.deepcopy(plain)
    _at(other, path[:-1])[path[-1]] = new
    try:
        made = Tree.from_dict(other)
    except (ValueError, TypeError):
        return None
    return None if made == tree else put(made)


# ---- outcomes ----------------------------------------------------------------------------------


def may_be_true(forgery: Forgery) -> bool:
    """Return whether what is stated may be true, or nothing that sums show.

    A lower bound that is too high, and a cut or a nearest total that no tree has, are found out by
    trying all trees; bounds that are too low, and a search that is said to have been stopped, state
    less than is known. With another test, a tree may have its rows all the same.
    """
    if forgery.field_name in forgery.case.weaker:
        return True
    if forgery.field_name == "attribute _node_costs":
        pair = [model_of(one) for one in (forgery.case.subject, forgery.subject())]
        shown = [one.feature_importances_ for one in pair]
        return bool(np.allclose(*shown, atol=1e-5))
    where, _, part = forgery.field_name.partition(": ")
    if not part.startswith("tests") or part.endswith(".name"):
        return False
    other = {name: tree for name, tree, _ in trees_of(forgery.subject())}
    return _has_its_rows(other[where], forgery.case)


def _has_its_rows(tree: Tree, case: Case) -> bool:
    """Return whether the rows of all nodes weigh what a tree says, by its own paths."""
    passed = tree.decision_path(case.data["X"]).toarray().astype(bool)
    weights = case.data.get("sample_weight")
    weights = np.ones(len(passed)) if weights is None else np.asarray(weights)
    columns = [weights]
    if len(tree.counts[0]) > 1 and tree.notes is None and np.ndim(case.data.get("y")) == 1:
        columns = [weights * (case.data["y"] == label) for label in tree.classes]
    found = np.stack([passed.T @ column for column in columns], axis=1)
    stated = tree.counts if len(columns) > 1 else tree.weights[:, None]
    return bool(np.allclose(found, stated))


def outcome(forgery: Forgery) -> str:
    """Return the outcome of `verify` for a tampered certificate.

    "caught"; "no matter" if it may pass; "nothing" if nothing was changed, or it cannot be read;
    otherwise "passed", or an error of another kind.
    """
    subject = forgery.subject()
    if subject is None:
        return "nothing"
    try:
        verify(subject, **forgery.case.data)
    except CertificateError:
        return "caught"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no matter" if may_be_true(forgery) else "passed"


def accepted(case: Case) -> str:
    """Return why `verify` refuses something sound; nothing, if it accepts it."""
    try:
        verify(case.subject, **case.data)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def in_turns(found: dict[str, Case], seed: int) -> Iterator[Forgery]:
    """Yield a few tampered subjects for each field of each case, in any order."""
    groups: dict[tuple[str, str], list[Forgery]] = {}
    for forgery in forgeries(found, seed):
        groups.setdefault((forgery.name, forgery.field_name), []).append(forgery)
    rng = np.random.default_rng(seed)
    lists = list(groups.values())
    for place in rng.permutation(len(lists)):
        some = rng.permutation(len(lists[place]))[:3]
        yield from (lists[place][one] for one in some)


def main() -> int:
    """Tamper with many certificates; return 1 if one passes that must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.tampering")
    parser.add_argument("--certificates", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    seen: Counter[tuple[str, str]] = Counter()
    seed, n_honest, n_refused = options.seed, 0, 0
    while seen.total() < options.certificates:
        found = cases(seed)
        for name, case in found.items():
            said = accepted(case)
            n_honest += 1
            if said:
                sys.stdout.write(f"seed {seed}: {name} is sound, and refused: {said}\n")
                n_refused += 1
        for forgery in islice(in_turns(found, seed), _EACH):
            if seen.total() == options.certificates:
                break
            said = outcome(forgery)
            if said == "nothing":
                continue
            if said not in ("caught", "no matter"):
                sys.stdout.write(f"seed {seed}: {forgery}: {said}\n")
                said = "wrong"
            seen[forgery.name, said] += 1
        seed += 1
    columns = ("caught", "no matter", "wrong")
    sys.stdout.write(f"{'kind':<18}" + "".join(f"{name:>11}" for name in columns) + "\n")
    for kind in [*sorted({kind for kind, _ in seen}), "all"]:
        counts = [
            sum(n for (k, s), n in seen.items() if s == c and kind in (k, "all")) for c in columns
        ]
        sys.stdout.write(f"{kind:<18}" + "".join(f"{count:>11}" for count in counts) + "\n")
    sys.stdout.write(f"{n_honest} sound models, of which {n_refused} were refused\n")
    return int(n_refused > 0 or any(said == "wrong" for _, said in seen))


if __name__ == "__main__":
    sys.exit(main())
