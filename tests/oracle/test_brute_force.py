"""The oracle against the enumeration of all trees, and against values known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.brute_force import BruteForce, binary_tests, multiway_tests
from tests.oracle.enumeration import all_trees, best_by_enumeration
from tests.problems import make_problem, random_costs, random_problem, zero_one_costs


def test_the_enumeration_holds_every_tree() -> None:
    """Counts of labelled trees: T(d) = L + F * T(d-1)**2."""
    assert len(all_trees(0, (2, 2), 3)) == 3
    assert len(all_trees(1, (2, 2), 3)) == 3 + 2 * 3**2
    assert len(all_trees(2, (2, 2), 3)) == 3 + 2 * 21**2
    assert len(all_trees(1, (3,), 2)) == 2 + 2**3


@pytest.mark.parametrize("seed", range(8))
def test_memoised_and_enumerated_optimum_agree_on_binary_tests(seed: int) -> None:
    """Value, splits and depth of the smallest optimal tree, under every limit."""
    rng = np.random.default_rng([1, seed])
    for _ in range(12):
        problem = random_problem(rng, rows=(1, 9), columns=(1, 3), depths=(0, 1, 2), max_types=2)
        cost_matrix = problem.cost_matrix[:, :2]
        problem = problem.but(cost_matrix=cost_matrix)
        expected = best_by_enumeration(
            (1 - problem.columns).tolist(),
            problem.row_types.tolist(),
            cost_matrix.tolist(),
            problem.weight_list(),
            max_depth=problem.max_depth,
            max_splits=None if problem.max_splits < 0 else problem.max_splits,
            min_leaf=problem.min_leaf,
            error_scale=problem.error_scale,
            split_penalty=problem.split_penalty,
        )
        assert tuple(problem.optimum()) == expected, problem


@pytest.mark.parametrize("per", ["split", "leaf"])
@pytest.mark.parametrize("seed", range(4))
def test_memoised_and_enumerated_optimum_agree_on_multiway_tests(seed: int, per: str) -> None:
    """One branch for each category; penalty for each split or for each leaf."""
    rng = np.random.default_rng([2, seed])
    for _ in range(10):
        n_rows = int(rng.integers(2, 10))
        codes = np.stack([rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)], axis=1)
        types = rng.integers(0, 2, n_rows).tolist()
        costs = random_costs(rng, 2)[:, :2].tolist()
        weights = rng.integers(1, 4, n_rows).tolist()
        penalty = {f"{per}_penalty": int(rng.integers(0, 3))}
        oracle = BruteForce(multiway_tests(codes.tolist()), types, costs, weights, **penalty)
        expected = best_by_enumeration(
            codes.tolist(), types, costs, weights, max_depth=2, **penalty
        )
        assert tuple(oracle.optimum(max_depth=2)) == expected


@pytest.mark.parametrize("seed", range(6))
def test_the_array_over_splits_contains_the_optimum(seed: int) -> None:
    """min_k A[k] + p*k is the optimum, for every penalty and depth, also without a limit."""
    rng = np.random.default_rng([3, seed])
    for _ in range(10):
        problem = random_problem(rng, rows=(1, 12), columns=(1, 4))
        oracle = problem.oracle()
        depth = None if problem.max_depth < 0 else problem.max_depth
        array = oracle.costs_by_splits(problem.n_rows, depth)
        assert array == sorted(array, reverse=True)
        values = [cost + problem.split_penalty * k for k, cost in enumerate(array)]
        assert oracle.value(depth) == min(values)
        for k in range(4):
            assert oracle.value(depth, k) == min(values[: k + 1])


def test_parity_needs_three_splits() -> None:
    """No single split helps with x xor y, three splits are perfect."""
    problem = make_problem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert problem.oracle().costs_by_splits(3) == [2, 2, 1, 0]
    assert tuple(problem.optimum()) == (0, 3, 2)
    assert problem.but(min_leaf=2).optimal_value() == 2


def test_a_penalty_as_large_as_the_gain_keeps_the_leaf() -> None:
    """Of two trees of equal value the one with fewer splits is the smallest."""
    problem = make_problem([[0], [1]], [0, 1], split_penalty=1)
    assert tuple(problem.optimum()) == (1, 0, 0)


def test_a_chain_is_deeper_than_a_balanced_tree_of_equal_size() -> None:
    """The least depth is found among trees with the fewest splits."""
    rows = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    types = [(b if a else c) for a, b, c in rows]
    assert tuple(make_problem(rows, types).optimum()) == (0, 3, 2)


def test_conflicting_rows_cost_the_lighter_type() -> None:
    """Rows that no test tells apart are settled by weight."""
    oracle = BruteForce(
        binary_tests([[0], [0], [0]]), [0, 1, 1], zero_one_costs(2).tolist(), [5, 2, 2]
    )
    assert oracle.optimum() == (4, 0, 0)


def test_multiway_outcomes_without_rows_cost_nothing() -> None:
    """Three categories, of which one has no row: two leaves."""
    oracle = BruteForce(
        [(0b0011, 0b1100, 0)], [0, 0, 1, 1], zero_one_costs(2).tolist(), error_scale=3,
        leaf_penalty=2,
    )  # fmt: skip
    assert oracle.value(0) == 3 * 2 + 2
    assert oracle.optimum() == (2 * 2, 1, 1)


def test_a_multiway_test_settles_its_feature_in_one_split() -> None:
    """One three-way split does what needs two binary ones."""
    codes = [[0], [1], [2]]
    costs = zero_one_costs(3).tolist()
    one_hot = [[int(code == value) for value in range(3)] for (code,) in codes]
    assert BruteForce(multiway_tests(codes), [0, 1, 2], costs).optimum() == (0, 1, 1)
    assert BruteForce(binary_tests(one_hot), [0, 1, 2], costs).optimum() == (0, 2, 2)
