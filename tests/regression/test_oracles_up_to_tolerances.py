"""Tolerances that did not fit the costs: programs returned decisions that were not best."""

from __future__ import annotations

import numpy as np
import pytest

from certree import SPOTree, datasets, oracles

pytest.importorskip("highspy")

KNAPSACK = {"A_ub": [[3, 4, 5]], "b_ub": [8], "bounds": (0, 1), "sense": "max"}


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-11])
def test_the_best_whole_decision_does_not_depend_on_the_scale_of_costs(scale: float) -> None:
    oracle = oracles.MixedIntegerProgram(**KNAPSACK)
    costs = np.random.default_rng(0).random((30, 3)) * scale
    best = (costs @ oracle.decisions().T).max(axis=1)
    np.testing.assert_allclose(oracle.solve(costs).values, best, rtol=1e-8)


@pytest.mark.parametrize("kind", [oracles.LinearProgram, oracles.MixedIntegerProgram])
def test_no_bound_exceeds_the_optimum_by_more_than_the_rounding(kind: type) -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0 - 5e-10]])
    model = SPOTree(kind(A_eq=[[1, 1]], b_eq=[1]), max_depth=0, max_listed=0)
    certificate = model.fit(np.zeros((2, 1)), costs).certificate_
    assert abs(certificate.lower_bound - 1) <= certificate.rounding


def test_the_rounding_counts_the_tolerance_of_the_solver() -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    model = SPOTree(oracles.MixedIntegerProgram(A_eq=[[1, 1]], b_eq=[1]), max_depth=0, max_listed=0)
    assert model.fit(np.zeros((2, 1)), costs).certificate_.rounding >= 6e-8


def test_the_worst_of_equal_decisions_of_a_small_program_is_found() -> None:
    oracle = oracles.MixedIntegerProgram(**KNAPSACK)
    worst = oracle.worst([[0, -2, 0]], [[-3, -1, 1]])
    assert worst.tolist() == [[1, 0, 0]]


@pytest.mark.parametrize(
    ("weights", "message"), [(0.0, "zero"), (-1.0, "negative"), (np.nan, "finite")]
)
def test_weights_of_judged_rows_are_checked(weights: float, message: str) -> None:
    roads = datasets.make_two_roads(20, random_state=0)
    model = SPOTree(method="greedy", max_depth=2).fit(roads.X, roads.C)
    for judge in (model.loss, model.prune):
        with pytest.raises(ValueError, match=message):
            judge(roads.X, roads.C, np.full(20, weights))
    with pytest.raises(ValueError, match="sample_weight"):
        model.prune(roads.X, roads.C, np.ones(3))


@pytest.mark.parametrize("given", [{"grid": 2.5}, {"n_test": -1}])
def test_counts_of_made_rows_are_checked(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(given))):
        datasets.make_shortest_path(**given)


def test_a_penalty_of_many_digits_leaves_room_for_the_worst_decisions() -> None:
    for seed in (258, 338):
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 12))
        costs, X = random.integers(-4, 7, (n, 2)), random.integers(0, 2, (n, 1))
        table = random.integers(-3, 4, (int(random.integers(1, 6)), 2))

        def best(given: np.ndarray, table: np.ndarray = table) -> np.ndarray:
            return table[(given @ table.T).argmin(axis=1)]

        listed = SPOTree(oracles.Decisions(table), max_depth=1, complexity=1 / n)
        function = oracles.Function(best, 2, is_integral=True)
        asked = SPOTree(function, max_depth=1, complexity=1 / n)
        found = [model.fit(X, costs).certificate_.objective for model in (listed, asked)]
        assert found[0] == pytest.approx(found[1])
