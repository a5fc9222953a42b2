"""A hint if the best accuracy neglects a rare class, and no hint where it would not help."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from certree import (
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    RareClassWarning,
    regularization_path,
    solve,
    tasks,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(420, 3))
# One row in 21 is sick, whatever the columns say.
SICK = np.where(np.arange(420) % 21 == 0, "sick", "well")


def hints(fit: Any) -> list[str]:
    """Return the hints that something gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in caught if issubclass(one.category, RareClassWarning)]


def hints_of(y: Any, rows: Any = X, sample_weight: Any = None, **parameters: Any) -> list[str]:
    model = OptimalTreeClassifier(**{"max_depth": 1, **parameters})
    return hints(lambda: model.fit(rows, y, sample_weight))


def test_a_neglected_rare_class_is_named_with_what_to_use() -> None:
    (hint,) = hints_of(SICK)
    assert hint.startswith("The class 'sick' has less than 5 % of the rows")
    assert "objective='auc'" in hint
    assert "objective='balanced_accuracy'" in hint


def test_the_hint_points_to_the_line_of_the_user() -> None:
    with pytest.warns(RareClassWarning, match="'sick'") as caught:
        OptimalTreeClassifier(max_depth=1).fit(X, SICK)
    assert caught[0].filename == __file__
    assert issubclass(RareClassWarning, UserWarning)


@pytest.mark.parametrize("objective", ["auc", "balanced_accuracy", "f1"])
def test_what_it_recommends_gives_no_hint(objective: str) -> None:
    assert hints_of(SICK, objective=objective, pos_label="sick") == []


def test_areas_are_for_two_classes() -> None:
    y = np.where(SICK == "sick", 2, RNG.integers(0, 2, 420))
    (hint,) = hints_of(y)
    assert hint.startswith("The class 2 has less")
    assert "auc" not in hint
    assert hints_of(y, objective="balanced_accuracy") == []


@pytest.mark.parametrize(
    "given",
    [
        {"class_weight": "balanced"},
        {"class_weight": {"sick": 20, "well": 1}},
        {"sample_weight": np.ones(420)},
        {"rows": X[:84], "y": SICK[:84]},  # a small table
        {"y": np.where(np.arange(420) % 20 == 0, "sick", "well")},  # 5 %, not less
        {"rows": np.column_stack([X, SICK == "sick"])},  # the tree finds these rows
        {"y": np.full(420, "well")},
    ],
)
def test_no_hint_where_it_would_not_help(given: dict[str, Any]) -> None:
    assert hints_of(**{"y": SICK, **given}) == []


def test_every_search_for_errors_hints_at_what_it_can_do() -> None:
    groups = np.arange(420) % 2
    fair = FairTreeClassifier(max_depth=1)
    errors = tasks.Misclassification()
    calls = {
        "capacity": lambda: OptimalTreeClassifier(1, capacity={"sick": 300}).fit(X, SICK),
        "fair": lambda: fair.fit(X, SICK, sensitive_features=groups),
        "path": lambda: regularization_path(X, SICK, max_depth=1),
        "solve": lambda: solve(errors, X, SICK, max_depth=1),
        "limits": lambda: solve(errors & tasks.Limit("s", {"sick": 1}, at_most=300), X, SICK),
        "outputs": lambda: OptimalTreeClassifier(1).fit(X, np.column_stack([X[:, 0] > 0, SICK])),
    }
    for name, call in calls.items():
        (hint,) = hints(call)
        assert hint.startswith("The class 'sick'"), (name, hint)
        assert "'auc'" not in hint
        wanted = {"outputs": "compute_sample_weight", "solve": "tasks.", "limits": "tasks."}
        assert wanted.get(name, "objective='balanced_accuracy'") in hint, (name, hint)
    OptimalTreeClassifier(1, capacity={"sick": 300}, objective="balanced_accuracy").fit(X, SICK)
    weighted = tasks.Misclassification(class_weight="balanced")
    assert hints(lambda: solve(weighted, X, SICK, max_depth=1)) == []
    costs = FairTreeClassifier(max_depth=1, cost_matrix=[[0, 1], [1, 0]])
    assert hints(lambda: costs.fit(X, SICK, sensitive_features=groups)) == []
    ones = np.ones(420)
    assert hints(lambda: regularization_path(X, SICK, max_depth=1, sample_weight=ones)) == []


def test_cross_validation_hints_once() -> None:
    model = OptimalTreeClassifierCV(depths=(1, 2), cv=3)
    assert len(hints(lambda: model.fit(X, SICK))) == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_over_many_models_hints_once(n_jobs: int) -> None:
    grid = {"max_depth": [0, 1]}
    search = GridSearchCV(OptimalTreeClassifier(), grid, cv=3, n_jobs=n_jobs)
    assert len(hints(lambda: search.fit(X, SICK))) == 1
    one = OptimalTreeClassifier(max_depth=1)
    assert hints(lambda: cross_val_score(one, X, SICK, cv=3)) == []
    assert hints(lambda: BaggingClassifier(one, n_estimators=2).fit(X, SICK)) == []
    assert len(hints(lambda: make_pipeline(StandardScaler(), one).fit(X, SICK))) == 1


def test_it_can_be_silenced_by_its_class() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RareClassWarning)
        OptimalTreeClassifier(max_depth=1).fit(X, SICK)
