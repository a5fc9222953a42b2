"""The mixed-integer program of the SPO paper, which the benchmarks compare with the search."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from benchmarks.papers.spo import speed
from benchmarks.papers.spo_program import Program, bound_by_decisions, solve

from certree import SPOTree, datasets, oracles

GRID = oracles.GridShortestPath(4, 4)


@pytest.fixture(scope="module")
def paths() -> Any:
    return datasets.make_shortest_path(n=120, random_state=3, n_test=200)


def program_of(paths: Any, **limits: Any) -> Program:
    X, C = paths.X[:20], paths.C[:20]
    start = SPOTree(GRID, "greedy", thresholds=3, **limits).fit(X, C)
    return Program(start, X, C, np.ones(20))


def test_a_stopped_program_is_no_worse_than_the_greedy_tree(paths: Any) -> None:
    settings: dict[str, Any] = {"max_depth": 3, "thresholds": 6}
    stopped = solve(GRID, paths.X, paths.C, time_limit=2.0, **settings)
    greedy = SPOTree(GRID, method="greedy", **settings).fit(paths.X, paths.C)
    exact = SPOTree(GRID, **settings).fit(paths.X, paths.C)
    cost = float(exact.certificate_.cost)
    assert not stopped.is_proven
    assert cost - 1e-6 <= stopped.loss <= float(greedy.certificate_.cost) + 1e-6
    assert 0 < stopped.bound <= cost + 1e-6


def test_the_relaxed_program_costs_no_less_than_the_best_decisions(paths: Any) -> None:
    import highspy

    program = program_of(paths, max_depth=2)
    solver = program.model()
    for column in range(program.n_variables):
        solver.changeColIntegrality(column, highspy.HighsVarType.kContinuous)
    solver.run()
    best = np.einsum("ij,ij->i", paths.C[:20], GRID.decide(paths.C[:20])).sum()
    assert solver.getInfo().objective_function_value >= best - 1e-6


@pytest.mark.parametrize("complexity", [0.0, 0.02])
@pytest.mark.parametrize("n_leaves", [1, 2, 4])
def test_the_bound_by_decisions_is_below_every_choice_of_them(
    paths: Any, n_leaves: int, complexity: float
) -> None:
    program = program_of(paths, max_depth=2, max_splits=n_leaves - 1, complexity=complexity)
    losses = program.costs @ GRID.decisions().T
    losses -= losses.min(axis=1, keepdims=True)
    best = min(
        losses[:, list(some)].min(axis=1).sum() + program.penalty * (size - 1)
        for size in range(1, n_leaves + 1)
        for some in itertools.combinations(range(losses.shape[1]), size)
    )
    bound = bound_by_decisions(program)
    assert 0 < bound <= best
    # The relaxation is close to it, and exact for one decision.
    assert bound >= (0.999 if n_leaves == 1 else 0.8) * best


def test_oracles_must_state_their_decisions(paths: Any) -> None:
    with pytest.raises(ValueError, match="does not state its feasible decisions"):
        solve(lambda c: (c < 0).astype(float), paths.X, paths.C, max_depth=1)


def test_the_program_and_the_search_agree_in_the_table_of_times() -> None:
    exact, program = (speed(method, 20, 1, 30.0) for method in ("exact", "milp"))
    assert exact["proven"]
    assert program["proven"]
    assert program["loss"] == pytest.approx(exact["loss"])
