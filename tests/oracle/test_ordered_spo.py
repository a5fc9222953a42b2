"""SPO trees with a list of decisions, over ranks: the same losses as with a column per test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from certree import SPOTree, oracles, verify
from certree.engine import _choice, _search


@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 6}, {"complexity": 0.02}])
@pytest.mark.parametrize("oracle", ["list", "paths"])
@pytest.mark.parametrize("max_depth", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_ranks_and_columns_prove_the_same_loss(
    seed: int,
    max_depth: int,
    oracle: str,
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(60, 2)).round(1)
    n_costs = 4
    costs = (rng.integers(0, 9, (60, n_costs)) + (table[:, :1] > 0.2) * [4, 0, -3, 1]).round(2)
    decisions = oracles.Decisions(np.eye(n_costs)[:3] + np.eye(n_costs)[1:])
    asked = decisions if oracle == "list" else oracles.GridShortestPath(2, 2)
    found, n_calls = [], 0

    def solve(*arguments: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        return original(*arguments)

    original = _search.solve_ordered
    monkeypatch.setattr(_search, "solve_ordered", solve)
    for by_ranks in (False, True):
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, _b=by_ranks, **__: _b)
        model = SPOTree(asked, max_depth=max_depth, thresholds="all", **options)
        model.fit(table, costs)
        assert n_calls == by_ranks
        assert verify(model, table, costs)
        found.append(model.certificate_)
    first, second = found
    assert first.status == second.status == "optimal"
    assert (first.cost, first.n_tests, first.n_splits) == (
        second.cost,
        second.n_tests,
        second.n_splits,
    )


def test_weights_and_grown_trees_have_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, **__: True)
    monkeypatch.setattr(_search, "solve_ordered", None)
    rng = np.random.default_rng(0)
    table, costs = rng.normal(size=(40, 2)), rng.integers(0, 9, (40, 3))
    model = SPOTree(oracles.Decisions(np.eye(3)), max_depth=2, thresholds="all")
    model.fit(table, costs, sample_weight=rng.integers(1, 4, 40))
    assert model.certificate_.status == "optimal"
    model.set_params(method="greedy").fit(table, costs)
    assert model.certificate_.cost >= model.certificate_.lower_bound


def test_paths_over_ranks_are_those_over_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table, costs = rng.normal(size=(40, 2)), rng.integers(0, 9, (40, 3))
    paths = []
    for by_ranks in (False, True):
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, _b=by_ranks, **__: _b)
        model = SPOTree(oracles.Decisions(np.eye(3)), max_depth=2, thresholds="all")
        model.fit(table, costs, path=True)
        assert model.path_.status == "optimal"
        paths.append([(entry.splits, entry.errors) for entry in model.path_])
    assert paths[0] == paths[1]
