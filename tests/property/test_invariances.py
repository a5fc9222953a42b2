"""Changes of the data that must not change the answer, or change it in a known way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.oracle.evaluate import check_result
from tests.problems import FUZZ, Problem, random_problems
from tests.registry import solve


def problems(seed: int, **changes: Any) -> list[tuple[Problem, np.random.Generator]]:
    """Many small and some larger problems, each with a generator of its own."""
    drawn = [
        *random_problems(seed, 400),
        *random_problems(seed, 30, rows=(60, 200), columns=(6, 20), depths=(2, 3)),
    ]
    return [
        (problem.but(**changes), np.random.default_rng([FUZZ, seed, number]))
        for number, problem in enumerate(drawn)
    ]


def value(problem: Problem) -> int:
    """Optimal value as the engine proves it, with the tree checked."""
    result = solve(problem)
    assert result.status == "optimal", problem
    return check_result(result, problem).value


def tree(problem: Problem) -> tuple[list[int], list[int], list[int]]:
    """The arrays of the engine's tree."""
    result = solve(problem)
    return result.test.tolist(), result.first_child.tolist(), result.label.tolist()


def with_rows(problem: Problem, rows: Any) -> Problem:
    """The problem on some of the rows, in that order."""
    weights = None if problem.weights is None else problem.weights[rows]
    return problem.but(
        columns=np.asfortranarray(problem.columns[rows]),
        row_types=problem.row_types[rows],
        weights=weights,
    )


def with_columns(problem: Problem, columns: Any) -> Problem:
    """The problem with another matrix."""
    return problem.but(columns=np.asfortranarray(columns.astype(np.uint8)))


def test_row_order_does_not_matter() -> None:
    """Neither for the value nor for the tree."""
    for problem, rng in problems(1):
        assert tree(with_rows(problem, rng.permutation(problem.n_rows))) == tree(problem), problem


def test_column_order_does_not_matter_for_the_value() -> None:
    """Only ties are settled by the order of the columns."""
    for problem, rng in problems(2):
        order = rng.permutation(problem.n_columns)
        assert value(with_columns(problem, problem.columns[:, order])) == value(problem), problem


def test_complementing_columns_does_not_change_the_value() -> None:
    """A test and its negation split the rows alike."""
    for problem, rng in problems(3):
        flips = rng.integers(0, 2, size=problem.n_columns, dtype=np.uint8)
        assert value(with_columns(problem, problem.columns ^ flips)) == value(problem), problem


def test_useless_columns_do_not_change_the_tree() -> None:
    """Constants, copies and complements at the end are never needed."""
    for problem, rng in problems(4):
        copied = problem.columns[:, rng.integers(0, problem.n_columns)]
        extra = [copied, 1 - copied, np.zeros_like(copied), np.ones_like(copied)]
        more = with_columns(problem, np.column_stack([problem.columns, *extra]))
        assert tree(more) == tree(problem), problem


def test_a_row_twice_is_a_row_of_weight_two() -> None:
    """Rows are told apart by their weight only, as long as leaves may have any size."""
    for problem, rng in problems(5, min_leaf=1):
        times = rng.integers(1, 4, size=problem.n_rows)
        repeated = with_rows(problem, np.repeat(np.arange(problem.n_rows), times))
        weights = np.array(problem.weight_list(), dtype=np.int64) * times
        assert tree(repeated) == tree(problem.but(weights=weights)), problem
        assert value(repeated) == value(problem.but(weights=weights)), problem


def test_weights_of_one_are_no_weights() -> None:
    """The way without weights is a short cut, not another problem."""
    for problem, _ in problems(6, weights=None):
        ones = np.ones(problem.n_rows, dtype=np.int64)
        assert tree(problem.but(weights=ones)) == tree(problem), problem


@pytest.mark.parametrize("what", ["weights", "cost_matrix", "error_scale"])
def test_scaling_the_costs_scales_the_value(what: str) -> None:
    """Together with the penalty; the tree stays as it is."""
    for problem, rng in problems(7):
        factor = int(rng.choice([2, 3, 7]))
        scaled: Any = {
            "weights": np.array(problem.weight_list(), dtype=np.int64),
            "cost_matrix": problem.cost_matrix,
            "error_scale": problem.error_scale,
        }[what]
        larger = problem.but(
            **{what: scaled * factor, "split_penalty": problem.split_penalty * factor}
        )
        assert value(larger) == factor * value(problem), problem
        assert tree(larger) == tree(problem), problem


def test_renaming_types_and_labels_does_not_change_the_value() -> None:
    """Types and labels are names."""
    for problem, rng in problems(8):
        n_types, n_labels = problem.cost_matrix.shape
        types, labels = rng.permutation(n_types), rng.permutation(n_labels)
        renamed = problem.but(
            row_types=np.argsort(types).astype(np.int32)[problem.row_types],
            cost_matrix=np.ascontiguousarray(problem.cost_matrix[types][:, labels]),
        )
        assert value(renamed) == value(problem), problem


def test_a_dominated_label_is_never_needed() -> None:
    """A copy of a label, made dearer or not, changes neither value nor tree."""
    for problem, rng in problems(9):
        label = int(rng.integers(0, problem.cost_matrix.shape[1]))
        dearer = problem.cost_matrix[:, label] + rng.integers(0, 2, size=len(problem.cost_matrix))
        more = problem.but(cost_matrix=np.column_stack([problem.cost_matrix, dearer]))
        assert tree(more) == tree(problem), problem


def test_a_type_may_be_split_into_two_equal_ones() -> None:
    """Types with the same costs are one type."""
    for problem, rng in problems(10):
        n_types = len(problem.cost_matrix)
        second = rng.integers(0, 2, size=problem.n_rows, dtype=np.int32)
        split = problem.but(
            row_types=problem.row_types + n_types * second,
            cost_matrix=np.vstack([problem.cost_matrix, problem.cost_matrix]),
        )
        assert tree(split) == tree(problem), problem


def test_an_unavoidable_cost_is_simply_added() -> None:
    """A constant on all labels of a type adds its weight times the constant to every tree."""
    for problem, rng in problems(11):
        extra = rng.integers(0, 4, size=len(problem.cost_matrix))
        dearer = problem.but(cost_matrix=problem.cost_matrix + extra[:, None])
        added = sum(
            w * int(extra[t]) for w, t in zip(problem.weight_list(), problem.row_types, strict=True)
        )
        assert value(dearer) == value(problem) + problem.error_scale * added, problem
        assert tree(dearer) == tree(problem), problem


def test_the_memory_layout_of_the_columns_does_not_matter() -> None:
    """C order and Fortran order hold the same table."""
    for problem, _ in problems(12):
        c_order = problem.but(columns=np.ascontiguousarray(problem.columns))
        assert tree(c_order) == tree(problem), problem
