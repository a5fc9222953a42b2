"""Trees that decide reach the value that trying all trees reaches, for all oracles and methods."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from benchmarks.papers.spo_program import solve
from hypothesis import given, settings
from hypothesis import strategies as st

from certree import SPOTree, oracles, verify

from .spo import best_loss


def _flow(grid: oracles.GridShortestPath) -> dict[str, Any]:
    constraints = grid.constraints()
    return {"A_eq": constraints.matrix, "b_eq": constraints.row_lower, "bounds": (0, 1)}


_GRID = oracles.GridShortestPath(3, 3)
ORACLES: list[tuple[oracles.Oracle, np.ndarray]] = [
    (oracles.Decisions(np.eye(3)), np.eye(3)),
    (oracles.Decisions([[1, 0.5], [0.25, 2], [0, 3]]), np.array([[1, 0.5], [0.25, 2], [0, 3]])),
    (_GRID, _GRID.decisions()),
    (oracles.DAGShortestPath(_GRID.edges, _GRID.source, _GRID.target), _GRID.decisions()),
    (oracles.TopK(4, 2), oracles.TopK(4, 2).decisions()),
    (oracles.Assignment(2), oracles.Assignment(2).decisions()),
    (oracles.BoxSimplex(3), np.eye(3)),
    (oracles.BoxSimplex(3, upper=0.5), oracles.TopK(3, 2).decisions() / 2),
    (oracles.LinearProgram(**_flow(_GRID)), _GRID.decisions()),
    (oracles.MixedIntegerProgram(**_flow(_GRID)), _GRID.decisions()),
    (oracles.Function(lambda c: np.eye(3)[c.argmin(axis=1)], 3, is_integral=True), np.eye(3)),
    (oracles.Function(lambda c: np.eye(3)[c.argmin(axis=1)], 3), np.eye(3)),
]


@pytest.mark.parametrize("max_listed", [0, 128])
@pytest.mark.parametrize(("oracle", "decisions"), ORACLES, ids=lambda x: repr(x)[:30])
def test_the_value_is_that_of_brute_force(
    oracle: oracles.Oracle, decisions: np.ndarray, max_listed: int
) -> None:
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = random.integers(0, 2, (9, 4))
        costs = random.integers(-4, 9, (9, oracle.n_costs)) / 2
        model = SPOTree(oracle, max_depth=2, max_listed=max_listed).fit(X, costs)
        expected = best_loss(X.tolist(), costs.tolist(), decisions.tolist(), 2)
        slack = 0 if oracle.is_integral else Fraction(1, 10**6)
        assert abs(model.certificate_.cost - expected) <= slack
        assert model.certificate_.status == "optimal"
        assert verify(model, X, costs)


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    n_rows, n_columns = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    numbers = st.integers(-3, 6)
    k, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows = st.lists(st.integers(0, 1), min_size=n_columns, max_size=n_columns)
    vectors = st.lists(numbers, min_size=d, max_size=d)
    return {
        "X": draw(st.lists(rows, min_size=n_rows, max_size=n_rows)),
        "C": draw(st.lists(vectors, min_size=n_rows, max_size=n_rows)),
        "decisions": draw(st.lists(vectors, min_size=k, max_size=k)),
        "weights": draw(st.lists(st.integers(1, 3), min_size=n_rows, max_size=n_rows)),
        "max_depth": draw(st.integers(0, 3)),
        "max_splits": draw(st.one_of(st.none(), st.integers(0, 4))),
        "min_samples_leaf": draw(st.integers(1, 4)),
        "complexity": draw(st.sampled_from([0, 0.125, 0.5])),
        "sense": draw(st.sampled_from(["min", "max"])),
    }


@given(problem=problems())
@settings(max_examples=60)
def test_limits_weights_and_penalties_are_kept_by_lists_and_by_oracles(
    problem: dict[str, Any],
) -> None:
    X, C, weights = problem["X"], np.array(problem["C"]), problem["weights"]
    limits = {name: problem[name] for name in ("max_depth", "max_splits", "min_samples_leaf")}
    sign = 1 if problem["sense"] == "min" else -1
    expected = best_loss(
        X,
        (sign * C).tolist(),
        problem["decisions"],
        problem["max_depth"],
        problem["max_splits"],
        problem["min_samples_leaf"],
        Fraction(problem["complexity"]) * sum(weights),
        weights,
    )
    table = np.array(problem["decisions"], dtype=float)
    listed = oracles.Decisions(table, sense=problem["sense"])
    asked = oracles.Function(listed.decide, C.shape[1], problem["sense"], is_integral=True)
    for oracle in (listed, asked):
        model = SPOTree(oracle, complexity=problem["complexity"], **limits)
        model.fit(X, C, weights)
        assert model.certificate_.cost == expected
        greedy = SPOTree(oracle, method="greedy", complexity=problem["complexity"], **limits)
        assert greedy.fit(X, C, weights).certificate_.cost >= expected
        verify(greedy, X, C, weights)
        verify(model, X, C, weights, exhaustive=problem["max_depth"] < 3)


@pytest.mark.parametrize("seed", range(12))
def test_real_numbers_are_counted_as_exactly_as_certified(seed: int) -> None:
    """Costs, decisions and weights that are no whole numbers, in lists and behind an oracle."""
    random = np.random.default_rng(seed)
    n_rows, n_costs = int(random.integers(2, 9)), int(random.integers(1, 4))
    X = random.integers(0, 2, (n_rows, 3))
    C = np.round(random.normal(size=(n_rows, n_costs)), int(random.integers(0, 12)))
    table = np.round(random.uniform(size=(4, n_costs)), 2)
    weights = np.round(random.uniform(0.1, 3, n_rows), 2)
    limits = {"max_depth": 2, "min_samples_leaf": int(random.integers(1, 3)), "complexity": 0.01}

    def decimals(values: np.ndarray) -> list[list[Fraction]]:
        return [[Fraction(str(value)) for value in line] for line in values.tolist()]

    exact_weights = decimals(weights[None])[0]
    expected = best_loss(
        X.tolist(),
        decimals(C),
        decimals(table),
        2,
        min_weight=limits["min_samples_leaf"],
        penalty=Fraction("0.01") * sum(exact_weights),
        weights=exact_weights,
    )
    listed = oracles.Decisions(table)
    for oracle in (listed, oracles.Function(listed.decide, n_costs)):
        model = SPOTree(oracle, **limits).fit(X, C, weights)
        slack = max(model.certificate_.rounding, Fraction(1, 10**9))
        assert abs(model.certificate_.cost - expected) <= slack
        verify(model, X, C, weights, exhaustive=True)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize(
    ("oracle", "decisions"), [ORACLES[k] for k in (0, 1, 2, 4, 7, 8)], ids=lambda x: repr(x)[:30]
)
def test_the_program_reaches_the_same_value(
    oracle: oracles.Oracle, decisions: np.ndarray, sense: str
) -> None:
    del decisions
    oracle.sense = sense
    try:
        random = np.random.default_rng(5)
        X = random.integers(0, 2, (8, 3))
        costs = np.round(random.uniform(0, 3, (8, oracle.n_costs)), 2)
        weights = random.integers(1, 3, 8)
        for limits in ({"max_depth": 1}, {"max_depth": 2, "complexity": 0.05}):
            exact = SPOTree(oracle, **limits).fit(X, costs, weights)
            program = solve(oracle, X, costs, weights, **limits)
            assert program.loss == pytest.approx(float(exact.certificate_.cost))
            assert program.is_proven
    finally:
        oracle.sense = "min"


def test_the_program_keeps_the_limits() -> None:
    random = np.random.default_rng(7)
    X = random.integers(0, 2, (12, 3))
    costs = random.integers(0, 9, (12, 3))
    for limits in ({"max_splits": 2}, {"min_samples_leaf": 4}, {"max_splits": 0}):
        exact = SPOTree(max_depth=2, **limits).fit(X, costs)
        program = solve(None, X, costs, max_depth=2, **limits)
        assert program.loss == pytest.approx(float(exact.certificate_.cost))
