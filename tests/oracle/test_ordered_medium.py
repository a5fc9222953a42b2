"""Ordered features against the engine of 0/1 columns, on tables that fill bins and the table.

Every threshold becomes a 0/1 column, and the search over columns, which has its own brute force,
says what the best value is. Its time bounds the sizes: all values differ at depth 2, at depth 3
there are few rows or few ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeRegressor
from tests.oracle.ordered import Ordered, make_ordered
from tests.problems import FUZZ, zero_one_costs
from tests.registry import all_switches
from tests.registry import solve as solve_columns

KINDS = ("accuracy", "weights", "costs", "penalty", "leaves", "everything")


def numbers(
    rng: np.random.Generator, n_rows: int, n_features: int, most_ranks: int
) -> NDArray[np.int32]:
    """Draw features that depend on each other; ``most_ranks`` 0: all values differ."""
    hidden = rng.normal(size=(2, n_rows))
    features = []
    for _ in range(n_features):
        values = rng.normal(size=2) @ hidden + rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n_rows)
        order = values.argsort().argsort()
        n_ranks = int(rng.integers(2, most_ranks + 1)) if most_ranks else n_rows
        # Equal bins, or bins of very different sizes.
        cuts = np.sort(rng.choice(np.arange(1, n_rows), size=n_ranks - 1, replace=False))
        features.append(np.searchsorted(cuts, order, side="right"))
    return np.array(features, dtype=np.int32)


def labels(
    rng: np.random.Generator, ranks: NDArray[np.int32], n_types: int, noise: float
) -> NDArray[np.int32]:
    """Label rows by a planted tree of depth three over random cuts, and some at random."""
    leaf = np.zeros(ranks.shape[1], dtype=np.int64)
    for _ in range(3):
        feature = ranks[rng.integers(0, len(ranks))]
        leaf = 2 * leaf + (feature <= rng.choice(feature))
    types = rng.permutation(np.arange(8) % n_types)[leaf]
    is_noise = rng.random(len(types)) < noise
    return np.where(is_noise, rng.integers(0, n_types, size=len(types)), types).astype(np.int32)


def medium(
    rng: np.random.Generator, kind: str, rows: tuple[int, int], most_ranks: int, depth: int
) -> Ordered:
    """Draw a table and what its trees are measured by."""
    n_rows = int(rng.integers(rows[0], rows[1] + 1))
    n_features = int(rng.integers(3, 7 if depth == 2 else 5))
    ranks = numbers(rng, n_rows, n_features, most_ranks)
    n_types = int(rng.choice([2, 2, 3, 5]))
    types = labels(rng, ranks, n_types, float(rng.choice([0.05, 0.2, 1.0])))
    given: dict[str, Any] = {"max_depth": depth, "cost_matrix": zero_one_costs(n_types)}
    if kind in ("weights", "everything"):
        given["weights"] = rng.integers(1, int(rng.choice([4, 1000])), size=n_rows)
    if kind in ("costs", "everything"):
        costs = rng.integers(1, 10, size=(n_types, n_types + int(rng.integers(0, 2))))
        np.fill_diagonal(costs, 0)
        given["cost_matrix"] = costs
    if kind in ("penalty", "everything"):
        given["error_scale"] = int(rng.integers(1, 4))
        given["split_penalty"] = int(rng.integers(1, 8))
    if kind in ("leaves", "everything"):
        given["min_leaf"] = int(rng.choice([2, 5, n_rows // 10, n_rows // 4]))
    return make_ordered(ranks, types, **given)


def check_equal(ordered: Ordered, setting: dict[str, Any]) -> None:
    """Compare the value and the size of the tree with those over 0/1 columns."""
    expected = solve_columns(ordered.problem)
    assert expected.status == "optimal"
    splits = int((expected.test >= 0).sum())
    for options in ({}, setting):
        result = ordered.solve(**options)
        assert result.status == "optimal", (ordered, options)
        facts = ordered.check(result, about=options)
        found = (facts.value, facts.splits)
        assert found == (expected.upper_bound, splits), (found, splits, ordered, options)


def random_setting(rng: np.random.Generator) -> dict[str, bool]:
    """Switch a few techniques off."""
    names = rng.choice(np.array(all_switches()), size=3, replace=False)
    return {str(name): False for name in names}


@pytest.mark.parametrize("kind", KINDS)
def test_depth_two_with_all_values_different(kind: str) -> None:
    """A bin holds many thresholds, at the root and below it."""
    rng = np.random.default_rng([FUZZ, 2, KINDS.index(kind)])
    for _ in range(10):
        check_equal(medium(rng, kind, (100, 400), 0, depth=2), random_setting(rng))


@pytest.mark.parametrize("kind", KINDS)
def test_depth_two_with_ties(kind: str) -> None:
    """Up to 60 ranks of very different sizes."""
    rng = np.random.default_rng([FUZZ, 3, KINDS.index(kind)])
    for _ in range(30):
        check_equal(medium(rng, kind, (100, 400), 60, depth=2), random_setting(rng))


@pytest.mark.parametrize("kind", KINDS)
def test_depth_three_with_all_values_different(kind: str) -> None:
    """Intervals of thresholds at the root, each with a search below it."""
    rng = np.random.default_rng([FUZZ, 4, KINDS.index(kind)])
    for _ in range(3):
        check_equal(medium(rng, kind, (80, 140), 0, depth=3), random_setting(rng))


@pytest.mark.parametrize("kind", KINDS)
def test_depth_three_with_ties(kind: str) -> None:
    """Up to 60 ranks and 400 rows."""
    rng = np.random.default_rng([FUZZ, 5, KINDS.index(kind)])
    for _ in range(15):
        check_equal(medium(rng, kind, (100, 400), 60, depth=3), random_setting(rng))


def test_depth_four_with_ties() -> None:
    """Two levels of intervals above the depth-two solver."""
    rng = np.random.default_rng([FUZZ, 6])
    for kind in KINDS * 4:
        check_equal(medium(rng, kind, (60, 120), 12, depth=4), random_setting(rng))


@pytest.mark.parametrize("depth", [2, 3])
def test_an_order_preserving_change_of_a_feature_changes_nothing(depth: int) -> None:
    """Ranks with gaps between them, and features turned round, have the same optimum."""
    rng = np.random.default_rng([FUZZ, 7, depth])
    for kind in KINDS:
        ordered = medium(rng, kind, (100, 200), 40, depth)
        reference = ordered.solve()
        size = int((reference.test >= 0).sum())
        for ranks in (ordered.ranks * 3 + 2, ordered.ranks.max() - ordered.ranks):
            problem = ordered.problem
            changed = make_ordered(
                ranks,
                problem.row_types,
                problem.cost_matrix,
                problem.weights,
                n_ranks=ranks.max(axis=1) + 2,
                **problem.options(),
            )
            result = changed.solve()
            facts = changed.check(result, reference.upper_bound)
            assert result.status == "optimal", changed
            assert (facts.value, facts.splits) == (reference.upper_bound, size), changed


@pytest.mark.parametrize("kind", KINDS)
def test_limits_enclose_the_optimum(kind: str) -> None:
    """Cut off after any amount of work, bounds stay on their side of the optimum."""
    rng = np.random.default_rng([FUZZ, 8, KINDS.index(kind)])
    ordered = medium(rng, kind, (150, 250), 25, depth=3)
    optimum = solve_columns(ordered.problem).upper_bound
    for limit in (1, 2, 3, 5, 8, 20, 50, 200):
        result = ordered.solve(work_limit=limit)
        assert result.status in ("optimal", "work_limit"), (ordered, limit)
        ordered.check(result, optimum, limit)
        if result.status == "optimal":
            assert result.upper_bound == optimum, (ordered, limit)
    for seconds in (1e-4, 1e-3, 1e-2):
        result = ordered.solve(time_limit=seconds)
        assert result.status in ("optimal", "time_limit"), (ordered, seconds)
        ordered.check(result, optimum, seconds)
        if result.status == "optimal":
            assert result.upper_bound == optimum, (ordered, seconds)


def least_four_runs(x: Any, y: Any, weights: Any) -> float:
    """Return the least squared error of four runs of one column, by dynamic programming."""
    order = np.argsort(x, kind="stable")
    x, y, weights = x[order], y[order], weights[order]
    ends = np.append(np.flatnonzero(x[1:] != x[:-1]) + 1, len(x))
    sums = [np.cumsum(part, axis=0)[ends - 1] for part in (weights, weights[:, None] * y)]
    squares = np.cumsum((weights[:, None] * y**2).sum(axis=1))[ends - 1]
    w, u = (np.concatenate([part[:1] * 0, part]) for part in sums)
    squares = np.append(0.0, squares)
    least = np.full(len(w), np.inf)
    least[0] = 0.0
    for _ in range(4):
        before, least = least, np.full(len(w), np.inf)
        for end in range(1, len(w)):
            means = (u[end] - u[:end]) ** 2 / (w[end] - w[:end])[:, None]
            least[end] = (before[:end] + squares[end] - squares[:end] - means.sum(axis=1)).min()
        least = np.minimum(least, before)
    return float(least[-1])


@pytest.mark.parametrize("digits", [2, 4, 12])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("kind", ["noise", "trend", "steps"])
def test_runs_of_one_column(kind: str, n_outputs: int, digits: int) -> None:
    """Depth two over one column of many rows is the best division into four runs."""
    rng = np.random.default_rng([n_outputs, digits])
    x = np.round(rng.normal(size=4500), digits)
    signal = {"noise": 0 * x, "trend": 30 * x, "steps": 20 * np.floor(3 * np.sin(4 * x))}[kind]
    y = np.round(signal[:, None] + rng.normal(size=(4500, n_outputs)) * 10)
    weights = rng.integers(1, 4, 4500) if digits == 4 else np.ones(4500, dtype=int)
    model = OptimalTreeRegressor(max_depth=2, thresholds="all", time_limit=None)
    model.fit(x[:, None], y[:, 0] if n_outputs == 1 else y, sample_weight=weights)
    assert model.certificate_.is_optimal
    assert float(model.certificate_.cost) == pytest.approx(least_four_runs(x, y, weights), rel=1e-9)
