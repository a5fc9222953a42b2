"""Two texts are the same category, class or group exactly if Python calls them equal.

NumPy's arrays of texts drop NUL characters at the end: "a" and "a\\x00" were two categories for the
search and one for `predict`, so that the certificate was false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OrdinalTreeClassifier,
    PolicyTree,
    TreeCV,
    classification_summary,
    metrics,
    reduce,
    report,
    solve,
    tasks,
    verify,
)
from certree.files import model_from_json, model_to_json

TEXTS = [
    *(("a", "a\0"), ("a\0", "a\0\0"), ("b\0a", "b"), ("a", "a "), ("é", "e\u0301")),
    *(("\ud800", "\ud801"), ("x" * 300, "x" * 300 + "\0"), ("ﬁ", "fi"), ("K", "\u212a")),
]
"""Pairs of different texts that something may take for one."""


def as_objects(values: list[Any]) -> Any:
    """Return an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


FORMS: list[Callable[[list[Any]], Any]] = [list, as_objects]


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize(
    "settings",
    [{}, {"splits": "multiway"}, {"category_tests": "subsets"}, {"thresholds": "all"}],
    ids=str,
)
def test_categories(pair: tuple[str, str], settings: dict[str, Any]) -> None:
    values = [*pair, "other", pair[0], pair[1], "other"]
    y = [0, 1, 1, 0, 1, 1]
    for X in ([[value] for value in values], as_objects(values)[:, None]):
        model = OptimalTreeClassifier(2, **settings).fit(X, y)
        assert model.certificate_.cost == 0
        assert model.predict(X).tolist() == y
        verify(model, X, y)
        loaded = model_from_json(model_to_json(model))
        assert loaded.predict(X).tolist() == y
        verify(loaded, X, y)


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("form", FORMS)
def test_classes(pair: tuple[str, str], form: Callable[[list[Any]], Any]) -> None:
    X, labels = [[0], [1], [2], [0], [1], [2]], [*pair, pair[0], *pair, pair[0]]
    y = form(labels)
    for model in (
        OptimalTreeClassifier(2),
        OptimalTreeClassifier(2, objective="f1", pos_label=pair[1]),
        OptimalTreeClassifier(2, objective="auc", pos_label=pair[0]),
        OptimalTreeClassifier(2, class_weight={pair[0]: 2, pair[1]: 1}),
        CostSensitiveTreeClassifier(max_depth=2),
        CostSensitiveTreeClassifier([[0, 1], [2, 0]], classes=list(pair), max_depth=2),
        OrdinalTreeClassifier(order=list(pair), max_depth=2),
    ):
        model.fit(X, y)
        assert sorted(model.classes_.tolist()) == sorted(pair)
        assert model.predict(X).tolist() == labels
        verify(model, X, y)
        loaded = model_from_json(model_to_json(model))
        assert loaded.predict(X).tolist() == labels
        assert loaded.tree_ == model.tree_
        # Of costs and distances the score is their negative mean.
        assert model.score(X, y) == int(isinstance(model, OptimalTreeClassifier))


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("form", FORMS)
def test_scores(pair: tuple[str, str], form: Callable[[list[Any]], Any]) -> None:
    truth, said = form([*pair, pair[0]]), form([pair[0], pair[1], pair[1]])
    found = classification_summary(truth, said, pos_label=pair[1])
    assert (found["tp"], found["fp"], found["fn"], found["tn"]) == (1, 1, 0, 1)
    assert metrics.get("f1").score(truth, said, pos_label=pair[1]) == pytest.approx(2 / 3)
    assert metrics.AUC().score(truth, [0.1, 0.9, 0.2], pos_label=pair[1]) == 1


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("form", FORMS)
def test_groups(pair: tuple[str, str], form: Callable[[list[Any]], Any]) -> None:
    X, y = [[0], [1], [2], [3]] * 3, ["no", "yes", "yes", "no"] * 3
    groups = form([*pair, pair[1], pair[0]] * 3)
    model = FairTreeClassifier(max_depth=2, tolerance=0.1)
    model.fit(X, y, sensitive_features=groups)
    assert sorted(model.group_rates_["selection_rate"]) == sorted(pair)
    verify(model, X, y, sensitive_features=groups)


@pytest.mark.parametrize("pair", TEXTS[:2], ids=range(2))
@pytest.mark.parametrize("form", FORMS)
def test_treatments(pair: tuple[str, str], form: Callable[[list[Any]], Any]) -> None:
    X = [[k % 2] for k in range(8)]
    treatment = [pair[(k // 2) % 2] for k in range(8)]
    outcome = [float((treatment[k] == pair[0]) == (k % 2 == 0)) for k in range(8)]
    model = PolicyTree(max_depth=1, treatments=list(pair))
    model.fit(X, form(treatment), outcome, propensity=[[0.5, 0.5]] * 8)
    assert model.predict([[0], [1]]).tolist() == list(pair)
    verify(model, X, model.rewards_)


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
def test_several_outputs(pair: tuple[str, str]) -> None:
    X, y = [[0], [1], [0], [1]], [[pair[0], pair[1]], [pair[1], pair[0]]] * 2
    model = OptimalTreeClassifier(1).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.score(X, y) == 1
    verify(model, X, y)
    assert model_from_json(model_to_json(model)).predict(X).tolist() == y


@pytest.mark.parametrize("pair", TEXTS[:2], ids=range(2))
def test_cross_validation_and_reports(pair: tuple[str, str]) -> None:
    X, y = [[pair[0]], [pair[1]]] * 10, [*pair] * 10
    model = TreeCV(OptimalTreeClassifier(), depths=[1], cv=2).fit(X, y)
    assert model.curve_.scores.max() == 1
    assert model.score(X, y) == 1
    assert report(model, X, y)._repr_html_()


@pytest.mark.parametrize("pair", TEXTS, ids=range(len(TEXTS)))
def test_labels_of_tasks(pair: tuple[str, str]) -> None:
    X, y = np.array([[0], [1], [0], [1]], dtype=np.uint8), [*pair] * 2
    for task in (tasks.Misclassification(), tasks.gini(y)):
        assert solve(task, X, y, max_depth=1).tree.predict(X).tolist() == y


@pytest.mark.parametrize("pair", TEXTS[:3], ids=range(3))
def test_reduced_tables(pair: tuple[str, str]) -> None:
    pytest.importorskip("ibis")
    pandas = pytest.importorskip("pandas")
    rows = {"name": [*pair, "other"] * 4, "y": [*pair, pair[0]] * 4, "group": [*pair] * 6}
    frame = pandas.DataFrame(rows)
    reduced = reduce(frame, target="y", sensitive="group")
    model = FairTreeClassifier(max_depth=2, tolerance=1).fit_reduced(reduced)
    assert model.predict(frame[["name"]]).tolist() == rows["y"]
    assert sorted(model.group_rates_["selection_rate"]) == sorted(pair)
    verify(model, reduced)
    verify(model, frame[["name"]], rows["y"], sensitive_features=frame["group"])
