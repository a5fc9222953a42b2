"""Where a counter could be too narrow or a loop too short: widths, long tables, wide tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, make_problem, random_columns, random_problems
from tests.registry import all_isas, all_searches, solve

WIDTHS = (7, 8, 14, 15, 16, 30, 31, 32, 40)


def solved(problem: Problem, **options: Any) -> int:
    """Optimal value, with the tree checked."""
    result = solve(problem, **options)
    assert result.status == "optimal", (problem, options)
    return check_result(result, problem, about=options).value


def with_total(problem: Problem, total: int) -> Problem:
    """The problem with weights that add up to a total; the last row takes the rest."""
    weights = np.full(problem.n_rows, max(1, total // (2 * problem.n_rows)), dtype=np.int64)
    weights[-1] = max(1, total - int(weights[:-1].sum()))
    return problem.but(weights=weights)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("isa", all_isas())
def test_totals_around_a_power_of_two(bits: int, isa: str) -> None:
    """Total weight just below, at and just above the range of an integer type."""
    for problem in random_problems(bits, 12, rows=(4, 24), columns=(2, 6), depths=(1, 2, 3)):
        for total in (2**bits - 2, 2**bits - 1, 2**bits, 2**bits + 1):
            wide = with_total(problem, total).but(error_scale=1, split_penalty=total // 30)
            assert solved(wide, isa=isa) == wide.optimal_value(), wide


@pytest.mark.parametrize("bits", WIDTHS)
def test_costs_around_a_power_of_two(bits: int) -> None:
    """A single entry of the cost matrix at the edge, the other entries small."""
    for problem in random_problems(bits, 12, rows=(4, 24), columns=(2, 6), depths=(1, 2, 3)):
        for cost in (2**bits - 1, 2**bits):
            matrix = np.minimum(problem.cost_matrix, 3)
            matrix[0, 0] = cost
            edge = problem.but(cost_matrix=matrix, weights=None, error_scale=1, split_penalty=1)
            assert solved(edge) == edge.optimal_value(), edge


@pytest.mark.parametrize("bits", WIDTHS)
def test_leaf_costs_around_a_power_of_two(bits: int) -> None:
    """Every row has an unavoidable cost, so that the leaf at the root is at the edge."""
    for problem in random_problems(bits, 12, rows=(4, 24), columns=(2, 6), depths=(1, 2, 3)):
        costs = np.minimum(problem.cost_matrix, 1)
        for total in (2**bits, 2**bits + problem.n_rows):
            edge = problem.but(cost_matrix=costs + total // problem.n_rows, weights=None)
            edge = edge.but(error_scale=1, split_penalty=0)
            assert solved(edge) == edge.optimal_value(), edge


@pytest.mark.parametrize("n_rows", [255, 256, 16_383, 16_384, 33_000, 70_000])
def test_long_tables_are_their_row_groups(n_rows: int) -> None:
    """Row by row, grouped by the engine, or grouped beforehand into weights: one value."""
    rng = np.random.default_rng([FUZZ, n_rows])
    columns = np.asfortranarray(rng.random((n_rows, 5)) < [0.5, 0.4, 0.3, 0.5, 0.01], np.uint8)
    types = (columns[:, 0] ^ columns[:, 1] ^ (rng.random(n_rows) < 0.3)).astype(np.int32)
    types[rng.random(n_rows) < 0.1] = 2
    table = np.column_stack([columns, types])
    groups, sizes = np.unique(table, axis=0, return_counts=True)
    for depth in (1, 2, 3):
        long = make_problem(columns, types, max_depth=depth)
        grouped = make_problem(groups[:, :5], groups[:, 5], None, sizes, max_depth=depth)
        optimum = grouped.optimal_value()
        assert solved(grouped) == optimum
        for isa in all_isas():
            for use_row_groups in (True, False):
                result = solve(long, isa=isa, use_row_groups=use_row_groups)
                assert (result.status, result.upper_bound) == ("optimal", optimum)
        assert solved(long) == optimum


@pytest.mark.parametrize("n_rows", [1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 513])
@pytest.mark.parametrize("isa", all_isas())
def test_rows_at_the_edge_of_a_word(n_rows: int, isa: str) -> None:
    """The last word of a bit column is full, almost full or almost empty."""
    rng = np.random.default_rng([FUZZ, n_rows])
    for _ in range(4):
        columns = random_columns(rng, n_rows, 6)
        columns[-1] = 1
        problem = make_problem(columns, rng.integers(0, 2, size=n_rows), max_depth=2)
        for use_row_groups in (True, False):
            value = solved(problem, isa=isa, use_row_groups=use_row_groups)
            assert value == problem.optimal_value(), problem


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100])
def test_columns_at_the_edge_of_a_vector(n_columns: int) -> None:
    """Kernels run over blocks of columns; the last block may be of any length."""
    rng = np.random.default_rng([FUZZ, n_columns])
    columns = rng.integers(0, 2, size=(40, n_columns), dtype=np.uint8)
    types = rng.integers(0, 3, size=40)
    types[columns[:, -1] == 1] = 0
    problem = make_problem(columns, types, max_depth=2)
    optimum = problem.optimal_value()
    for isa in all_isas():
        for weights in (None, np.full(40, 2**20)):
            scale = 1 if weights is None else 2**20
            assert solved(problem.but(weights=weights), isa=isa) == scale * optimum


@pytest.mark.parametrize("n_types", [5, 9, 16, 17, 40])
def test_many_types_and_labels(n_types: int) -> None:
    """One class for every few rows."""
    rng = np.random.default_rng([FUZZ, n_types])
    for _ in range(6):
        columns = random_columns(rng, 60, 5)
        types = rng.integers(0, n_types, size=60)
        types[0] = n_types - 1
        for costs in (None, rng.integers(0, 9, size=(n_types, n_types + 3))):
            for depth in (2, 3, -1):
                problem = make_problem(columns, types, costs, max_depth=depth)
                assert solved(problem) == problem.optimal_value(), problem


@pytest.mark.parametrize("search", all_searches())
def test_a_deep_chain(search: str) -> None:
    """A tree as deep as it has splits, one row at each step."""
    n_rows = 12
    columns = np.eye(n_rows, dtype=np.uint8)
    types = np.arange(n_rows) % 2
    problem = make_problem(columns, types, error_scale=2, split_penalty=1)
    assert solved(problem, search=search) == problem.optimal_value()
    assert solved(problem.but(max_splits=4), search=search) == 2 * 2 + 4
