"""Whatever the memory limit, there is a tree and a certificate that says what is proven."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    _core,
    engine,
    oracles,
    pareto_front,
    regularization_path,
    solve,
    tasks,
)

pytestmark = pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")

RNG = np.random.default_rng(0)
N = 120
X = RNG.integers(0, 2, (N, 10))
NUMBERS = RNG.normal(size=(N, 3)).round(1)
COLORS = np.array(["red", "green", "blue"], dtype=object)[RNG.integers(0, 3, (N, 2))]
Y = RNG.integers(0, 2, N)
GROUPS = RNG.integers(0, 2, N)
COSTS = RNG.integers(0, 9, (N, 2))
ROADS = RNG.random((N, 4))

# Powers of two, numbers between them, and numbers that are not round.
POWERS = [2**k for k in range(25)]
LIMITS = sorted({*POWERS, *(3 * p // 2 for p in POWERS[1:]), *RNG.integers(1, 2**17, 30).tolist()})

FITS: dict[str, Callable[[int], Any]] = {
    "solve": lambda m: OptimalTreeClassifier(3, memory_limit=m).fit(X, Y),
    "numbers": lambda m: OptimalTreeClassifier(3, memory_limit=m).fit(NUMBERS, Y),
    "best-first": lambda m: OptimalTreeClassifier(
        None, complexity=0.02, min_samples_leaf=3, memory_limit=m
    ).fit(X[:, :5], Y),
    "splits": lambda m: OptimalTreeClassifier(4, max_splits=3, memory_limit=m).fit(X, Y),
    "path": lambda m: OptimalTreeClassifier(3, memory_limit=m).fit(X, Y, path=True),
    "session": lambda m: OptimalTreeClassifier(3, objective="f1", memory_limit=m).fit(X, Y),
    "chain": lambda m: OptimalTreeClassifier(2, objective="auc", memory_limit=m).fit(X[:, :6], Y),
    "multiway": lambda m: OptimalTreeClassifier(2, splits="both", memory_limit=m).fit(COLORS, Y),
    "squares": lambda m: OptimalTreeRegressor(2, memory_limit=m).fit(X, COSTS[:, 0]),
    "costs": lambda m: CostSensitiveTreeClassifier(max_depth=2, memory_limit=m).fit(
        X, costs=COSTS, path=True
    ),
    "limits": lambda m: PolicyTree(max_depth=2, capacity={1: 0.3}, memory_limit=m).fit_rewards(
        X, COSTS
    ),
    "fair": lambda m: FairTreeClassifier(max_depth=2, memory_limit=m).fit(X, Y, GROUPS),
    "decisions": lambda m: SPOTree(oracles.GridShortestPath(2, 2), max_depth=2, memory_limit=m).fit(
        X, ROADS
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_every_memory_limit_gives_a_certificate(name: str) -> None:
    best = FITS[name](2**40).certificate_
    assert best.status == "optimal"
    for limit in LIMITS[:: 3 if name in ("fair", "decisions", "limits") else 1]:
        model = FITS[name](limit)
        found = model.certificate_
        assert found.status in ("optimal", "memory_limit"), limit
        assert found.lower_bound <= best.cost <= found.cost, limit
        assert (found.status == "optimal") == (found.cost == best.cost == found.lower_bound)
        assert model.tree_.n_leaves >= 1


def test_least_memory_is_a_single_leaf() -> None:
    found = OptimalTreeClassifier(3, memory_limit=1).fit(X, Y)
    assert (found.certificate_.status, found.tree_.n_splits) == ("memory_limit", 0)


@pytest.mark.parametrize("limit", LIMITS[::2])
def test_paths_and_fronts_lose_no_tree_that_they_call_proven(limit: int) -> None:
    path = regularization_path(X, Y, max_depth=3, memory_limit=limit)
    whole = regularization_path(X, Y, max_depth=3)
    assert path.status in ("optimal", "memory_limit")
    if path.status == "optimal":
        assert [entry.errors for entry in path] == [entry.errors for entry in whole]
    front = pareto_front(X[:, :6], Y, max_depth=2, memory_limit=limit)
    assert len(front) > 0
    if front.status == "optimal":
        assert front.certificate.points == pareto_front(X[:, :6], Y, max_depth=2).certificate.points


def test_functions_and_cross_validation_take_any_limit() -> None:
    second = tasks.RowCosts(COSTS[:, ::-1])
    for limit in LIMITS[::12]:
        assert solve(tasks.LeafCost(COSTS, lambda s: s.min(axis=1)), X, memory_limit=limit).tree
        front = solve(
            tasks.Front(tasks.RowCosts(COSTS), second), X, max_depth=2, memory_limit=limit
        )
        assert front.certificate.status in ("optimal", "memory_limit")
        model = OptimalTreeClassifierCV(depths=(1, 2), cv=2, memory_limit=limit).fit(X, Y)
        assert model.tree_.n_leaves >= 1


def test_what_the_core_throws_is_an_error_of_python() -> None:
    """A front of nothing, options of the wrong kind: never an error of the interpreter."""
    columns, types = np.asfortranarray(X, dtype=np.uint8), Y.astype(np.int32)
    matrix = np.array([[0, 1], [1, 0]])
    for limit in LIMITS:
        options = {"max_depth": 3, "memory_limit": limit}
        assert _core.solve(columns, types, matrix, None, options).status
        assert len(_core.solve_path(columns, types, matrix, None, options).entries) > 0
        assert len(_core.solve_front(columns, types, None, options).points) > 0
        session = _core.Session(columns, types)
        for _ in range(2):
            assert len(session.solve(matrix, options).test) > 0
            assert len(session.solve_path(matrix, options).entries) > 0


def balance_scale() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Weights and distances on both sides, one-hot without the first category of each column."""
    codes = np.array(list(product(range(5), repeat=4)))
    torque = (codes[:, 0] + 1) * (codes[:, 1] + 1) - (codes[:, 2] + 1) * (codes[:, 3] + 1)
    columns = [codes[:, j] == value for j in range(4) for value in range(1, 5)]
    return np.array(columns, dtype=np.uint8).T, np.sign(torque)


def test_best_first_finishes_in_little_memory() -> None:
    """The search hands over to depth-first once its table forgets more than it holds."""
    X, y = balance_scale()
    model = OptimalTreeClassifier(max_depth=None, complexity=0.005, memory_limit="4MB").fit(X, y)
    assert model.certificate_.status == "optimal"
    assert float(model.certificate_.cost) == 204.25
    assert model.certificate_.counters["peak_bytes"] <= 4_000_000
    # Without the change of search it takes 2.6 million evaluations in so much memory.
    problem = engine.Problem(
        np.asfortranarray(X), (y + 1).astype(np.int32), 1 - np.eye(3, dtype=np.int64)
    )
    options = engine.Options(
        error_scale=100, split_penalty=625, memory_limit=990_000, extra={"work_limit": 1_500_000}
    )
    result = engine.solve(problem, options)
    assert result.status == "optimal"
    assert result.upper_bound == 22850
    assert result.counters["table_evictions"] > result.counters["table_entries"]
