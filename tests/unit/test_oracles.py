"""Oracles: best decisions, lists, ties, and errors that name the cost vector."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree import oracles
from certree.oracles import OracleError


def _listable() -> list[oracles.Oracle]:
    return [
        oracles.Decisions([[1, 0, 2], [0, 3, 0], [1, 1, 1]]),
        oracles.GridShortestPath(3, 4),
        oracles.GridShortestPath(1, 3),
        oracles.DAGShortestPath([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3)], 0, 3),
        oracles.TopK(5, 2),
        oracles.Assignment(3),
    ]


def _grid_program(kind: type[oracles.LinearProgram], **more: Any) -> oracles.LinearProgram:
    flow = oracles.GridShortestPath(4, 4).constraints()
    return kind(A_eq=flow.matrix, b_eq=flow.row_lower, bounds=(0, 1), **more)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("oracle", _listable(), ids=repr)
def test_the_best_decision_is_the_best_of_the_list(oracle: oracles.Oracle, sense: str) -> None:
    oracle.sense = sense
    costs = np.random.default_rng(0).normal(size=(60, oracle.n_costs))
    table = oracle.decisions()
    values = costs @ table.T
    found = oracle.solve(costs)
    best = values.min(axis=1) if sense == "min" else values.max(axis=1)
    np.testing.assert_allclose(found.values, best)
    assert len(table) == oracle.n_decisions == len(np.unique(table, axis=0))
    lines = {tuple(line) for line in table.tolist()}
    assert all(tuple(line) in lines for line in found.decisions.tolist())


@pytest.mark.parametrize("oracle", _listable(), ids=repr)
def test_constraints_describe_the_decisions(oracle: oracles.Oracle) -> None:
    """Every decision keeps them, and none that is better does."""
    constraints = oracle.constraints()
    program = oracles.LinearProgram(
        A_ub=np.vstack([constraints.matrix, -constraints.matrix]),
        b_ub=np.concatenate([constraints.row_upper, -constraints.row_lower]),
        bounds=list(zip(constraints.lower, constraints.upper, strict=True)),
    )
    costs = np.random.default_rng(1).normal(size=(20, oracle.n_costs))
    padded = np.hstack([costs, np.zeros((20, len(constraints.lower) - oracle.n_costs))])
    np.testing.assert_allclose(program.solve(padded).values, oracle.solve(costs).values)


def test_list_graph_and_programs_agree_on_the_grid() -> None:
    grid = oracles.GridShortestPath(4, 4)
    assert grid.n_costs == 24
    assert grid.n_decisions == 20
    costs = np.random.default_rng(2).uniform(0, 5, size=(300, 24))
    expected = grid.solve(costs).values
    for other in (
        oracles.Decisions(grid.decisions()),
        oracles.DAGShortestPath(grid.edges, grid.source, grid.target),
        _grid_program(oracles.LinearProgram),
        _grid_program(oracles.MixedIntegerProgram),
    ):
        np.testing.assert_allclose(other.solve(costs).values, expected, rtol=1e-9)


def test_the_edges_of_a_grid_come_row_by_row() -> None:
    grid = oracles.GridShortestPath(2, 3)
    assert grid.edges == [
        ((0, 0), (0, 1)),
        ((0, 1), (0, 2)),
        ((0, 0), (1, 0)),
        ((0, 1), (1, 1)),
        ((0, 2), (1, 2)),
        ((1, 0), (1, 1)),
        ((1, 1), (1, 2)),
    ]
    assert sorted(grid.describe(w) for w in grid.decisions()) == ["EEN", "ENE", "NEE"]


@given(st.integers(0, 10**6))
def test_amounts_within_bounds_are_filled_up_in_the_order_of_costs(seed: int) -> None:
    random = np.random.default_rng(seed)
    lower, room = random.uniform(0, 1, 4), random.uniform(0, 2, 4)
    total = float(lower.sum() + random.uniform(0, 1) * room.sum())
    oracle = oracles.BoxSimplex(4, lower=lower, upper=lower + room, total=total)
    costs = random.normal(size=(3, 4))
    found = oracle.solve(costs)
    np.testing.assert_allclose(found.decisions.sum(axis=1), total)
    assert (found.decisions >= lower - 1e-12).all()
    assert (found.decisions <= lower + room + 1e-12).all()
    program = oracles.LinearProgram(
        A_eq=np.ones((1, 4)), b_eq=[total], bounds=list(zip(lower, lower + room, strict=True))
    )
    np.testing.assert_allclose(found.values, program.solve(costs).values, atol=1e-8)


def test_whole_decisions_of_a_program_are_the_best_of_all() -> None:
    knapsack = oracles.MixedIntegerProgram(
        A_ub=[[3, 4, 5, 7, 2]], b_ub=[10], bounds=(0, 1), sense="max"
    )
    costs = np.random.default_rng(3).uniform(0, 1, size=(80, 5))
    choices = np.array(list(itertools.product((0, 1), repeat=5)))
    allowed = choices[choices @ [3, 4, 5, 7, 2] <= 10]
    np.testing.assert_allclose(knapsack.solve(costs).values, (costs @ allowed.T).max(axis=1))
    assert knapsack.is_integral
    assert {tuple(w) for w in knapsack.decisions().tolist()} == set(map(tuple, allowed.tolist()))


def test_whole_decisions_are_listed_only_if_they_are_few() -> None:
    assert _grid_program(oracles.MixedIntegerProgram).n_decisions is None
    assert oracles.MixedIntegerProgram(A_ub=[[1, 1]], b_ub=[3]).n_decisions is None
    mixed = oracles.MixedIntegerProgram(A_ub=[[1, 1]], b_ub=[3], bounds=(0, 2), integrality=[1, 0])
    assert mixed.n_decisions is None
    few = oracles.MixedIntegerProgram(A_ub=[[2, 1]], b_ub=[3], bounds=[(0, 2), (-1, 1)])
    found = sorted(few.decisions().tolist())
    assert found == [[0, -1], [0, 0], [0, 1], [1, -1], [1, 0], [1, 1], [2, -1]]


def test_known_vertices_save_programs() -> None:
    """Cost vectors that are multiples of each other have the same vertex."""
    program = oracles.LinearProgram(A_ub=[[1, 2, 0]], b_ub=[1], A_eq=[[1, 1, 1]], b_eq=[1])
    costs = np.outer(np.arange(1, 101), [3.0, 1.0, 2.0])
    np.testing.assert_allclose(program.decide(costs), np.tile([0.0, 0.5, 0.5], (100, 1)))
    assert program.n_solved == 1


def test_oracles_are_pickled() -> None:
    for oracle in (*_listable(), _grid_program(oracles.LinearProgram)):
        costs = np.ones((1, oracle.n_costs))
        oracle.solve(costs)
        again = pickle.loads(pickle.dumps(oracle))
        np.testing.assert_array_equal(again.decide(costs), oracle.decide(costs))


class _Model:
    """A model in the manner of PyEPO: pick one thing."""

    num_cost = 3
    modelSense = -1

    def setObj(self, costs: Any) -> None:
        self.costs = np.asarray(costs)

    def solve(self) -> tuple[list[float], float]:
        if self.costs[0] == 7:
            raise RuntimeError("licence expired")
        best = int(self.costs.argmax())
        return [float(i == best) for i in range(3)], float(self.costs.max())


def test_a_model_becomes_an_oracle() -> None:
    oracle = oracles.from_model(_Model())
    assert oracle.sense == "max"
    np.testing.assert_array_equal(oracle.decide([[1, 3, 2]]), [[0, 1, 0]])
    with pytest.raises(OracleError, match=r"cost vector 1, \[7, 1, 1\]: .*licence expired"):
        oracle.solve([[1, 1, 1], [7, 1, 1]])


def test_the_worst_of_the_best_decisions_is_found() -> None:
    for oracle in (
        oracles.Decisions(np.eye(3)),
        oracles.TopK(3, 1),
        oracles.LinearProgram(A_eq=[[1, 1, 1]], b_eq=[1]),
        oracles.Function(lambda c: np.eye(3)[c.argmin(axis=1)], 3),
    ):
        found = oracle.worst([[1, 1, 2], [1, 2, 2]], [[0, 5, 9], [4, 0, 0]])
        np.testing.assert_allclose(found, [[0, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (
            oracles.LinearProgram(A_ub=[[1, 1]], b_ub=[-1]),
            r"cost vector 0, \[1, 1\]: HiGHS says 'Infeasible'",
        ),
        (oracles.LinearProgram(n_costs=2), r"cost vector 1, \[-1, 2\]: HiGHS says 'Unbounded'"),
        (
            oracles.Function(lambda c: np.where(c < 0, np.nan, 1.0), 2),
            r"not finite numbers for cost vector 1, \[-1, 2\]",
        ),
        (
            oracles.Function(lambda c: np.where(c < 0, 0.5, 1.0), 2, is_integral=True),
            r"said to be integral, but returned \[0.5, 1\] for cost vector 1",
        ),
        (oracles.Function(lambda c: c[:, :1], 2), r"shape \(2, 1\) for 2 cost vectors"),
        (oracles.Function(lambda c: 1 / int(c.min() + 1), 2), "cost vector 1.*ZeroDivisionError"),
    ],
)
def test_failures_name_the_cost_vector(oracle: oracles.Oracle, message: str) -> None:
    with pytest.raises(OracleError, match=message):
        oracle.solve([[1, 1], [-1, 2]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: oracles.Decisions([]), "decisions must"),
        (lambda: oracles.Decisions([[1, np.nan]]), r"decisions\[0, 1\] = nan"),
        (lambda: oracles.TopK(3, 4), "k must be from 0 to 3"),
        (lambda: oracles.DAGShortestPath([(0, 1), (1, 0)], 0, 1), "cycle"),
        (lambda: oracles.DAGShortestPath([(0, 1), (2, 1)], 2, 0), "no path from 2 to 0"),
        (lambda: oracles.BoxSimplex(2, upper=0.3), "out of reach"),
        (lambda: oracles.LinearProgram(A_ub=[[1, 1]]), "come together"),
        (lambda: oracles.LinearProgram(), "number of costs"),
        (lambda: oracles.TopK(3, 1, sense="up"), "sense must be"),
        (lambda: oracles.TopK(3, 1).solve([[1, 2]]), "costs must have shape any x 3"),
        (lambda: oracles.TopK(2, 1).solve([[1, np.inf]]), r"costs\[0, 1\] = inf"),
        (lambda: oracles.Function(len, 2).decisions(), "cannot be listed"),
        (lambda: oracles.TopK(60, 30).decisions(), "a list may have at most"),
    ],
)
def test_malformed_oracles_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
