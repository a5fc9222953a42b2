"""Trees that one search found are known to the next: sizes and depths never get worse."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.stopping import limit_work

from certree import OptimalityWarning, OptimalTreeClassifier, OptimalTreeRegressor, engine, verify
from certree.estimators._sizes import Part, models_within
from certree.fitting.certify import solve_path, state_path
from certree.fitting.prove import state_sum
from certree.fitting.request import Request


def table(seed: int, numeric: bool = False) -> tuple[NDArray[Any], NDArray[Any]]:
    """A parity of three columns with noise, which takes long to prove anything about."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, size=(300, 20))
    labels = (bits[:, :3].sum(axis=1) + (rng.random(300) < 0.2)) % 2
    return (bits + rng.normal(0, 0.3, bits.shape) if numeric else bits), labels


def stop_deep_searches(patch: pytest.MonkeyPatch) -> None:
    """Let searches stop after less work the deeper their trees may be."""
    limit_work(patch, lambda request: 40_000 if request.size.max_depth == 4 else 1)


def sized(*pairs: tuple[int, int], lower: int = 0) -> list[engine.SizedTree]:
    return [engine.SizedTree(k, lower, cost, engine.Nodes.leaf(0)) for k, cost in pairs]


def test_known_trees_fill_and_replace_entries() -> None:
    path = engine.PathResult("time_limit", sized((0, 50), (2, 40), (5, 20), lower=7), {}, 0.0)
    merged = path.with_trees(sized((1, 45), (2, 41), (3, 18), (9, 10)))
    assert [(e.splits, e.upper_bound) for e in merged.entries] == [
        (0, 50),
        (1, 45),
        (2, 40),
        (3, 18),
        (9, 10),
    ]
    # A bound for five splits holds for fewer, and says nothing of nine.
    assert [e.lower_bound for e in merged.entries] == [7, 7, 7, 7, 0]


def test_of_equally_good_trees_a_path_has_those_that_are_known() -> None:
    path = engine.PathResult("optimal", sized((0, 50), (2, 40), lower=40), {}, 0.0)
    known = sized((2, 40))
    merged = path.with_trees(known)
    assert merged.entries[0].nodes is path.entries[0].nodes
    assert merged.entries[1].nodes is known[0].nodes
    assert [entry.lower_bound for entry in merged.entries] == [40, 40]


@pytest.mark.parametrize("objective", ["accuracy", "mcc"])
def test_no_depth_is_worse_than_a_smaller_one(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However early the deeper search is stopped."""
    stop_deep_searches(monkeypatch)
    X, y = table(1)
    limits = [{"max_depth": d, "max_splits": size} for d in (4, 6) for size in range(1, 16)]
    found = models_within(OptimalTreeClassifier(objective=objective), Part(X, y), limits)
    assert found[-1].status == "work_limit"
    for smaller, larger in zip(found[:15], found[15:], strict=True):
        few, many = (one.model.tree_.predict(X) for one in (smaller, larger))
        if objective == "accuracy":
            assert (many != y).sum() <= (few != y).sum()
        else:
            assert np.corrcoef(many, y)[0, 1] >= np.corrcoef(few, y)[0, 1] - 1e-9


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("kind", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_the_path_of_a_model_has_its_tree_or_a_better_one(kind: Any, numeric: bool) -> None:
    """Also where the path was stopped, as it is on most machines."""
    X, y = table(2, numeric)
    model = kind(max_depth=6, time_limit=0.6, thresholds="all" if numeric else "auto")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        model.fit(X, y, path=True)
    n_splits = model.tree_.n_splits
    best = [entry.errors for entry in model.path_ if entry.splits <= n_splits][-1]
    assert best <= model.certificate_.cost
    costs = [float(entry.errors) for entry in model.path_]
    assert costs == sorted(costs, reverse=True)
    for entry in model.path_:
        assert entry.lower_bound <= entry.errors
        assert float(entry.errors) == pytest.approx(((entry.tree.predict(X) - y) ** 2).sum())
    assert verify(model, X, y)


def test_an_entry_of_a_path_has_the_splits_of_its_tree() -> None:
    """A search that was stopped may have found a smaller tree than it was looking for."""
    X, y = table(0)
    request = Request.of(OptimalTreeClassifier(max_depth=2), X, y, path=True)
    statement = state_sum(request)
    found = solve_path(request, statement)
    assert [entry.splits for entry in found.entries] == [0, 1, 2, 3]
    entries = [replace(entry, splits=min(entry.splits + 1, 3)) for entry in found.entries]
    stopped = replace(found, status="time_limit", entries=[*entries[:2], entries[3]])
    path = state_path(request, statement, stopped)
    assert [entry.splits for entry in path] == [entry.tree.n_splits for entry in path] == [0, 1, 3]
    assert all(entry.lower_bound <= entry.errors for entry in path)
