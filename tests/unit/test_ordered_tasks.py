"""Tasks by ranks: the same proofs as with a column per test, for tables of any kind."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
    solve,
    tasks,
    verify,
)
from certree.encoding._ranks import RankedColumns
from certree.encoding._row_cells import constant_within
from certree.engine import Question, _choice, _ordered, _search
from certree.engine._choice import prefers_ranks
from certree.fitting.request import Request
from certree.fitting.state_task import TaskStatement, state_task
from certree.proofs import _limit_scalar
from certree.tasks._rates import read_groups

from .test_ranks import mixed, ranked

Fit = Callable[..., tuple[Any, dict[str, Any]]]
"""From table, seed, weights and parameters to a fitted model, and what `verify` needs besides."""


def fit_policy(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a policy for three treatments to scores."""
    rewards = np.random.default_rng(seed).normal(size=(len(X), 3))
    model = PolicyTree(**options).fit_rewards(X, rewards, weights)
    return model, {"y": rewards}


def fit_costs(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a classifier to costs per row."""
    rng = np.random.default_rng(seed)
    y, costs = rng.integers(0, 3, len(X)), rng.integers(0, 50, (len(X), 3)) / 10
    model = CostSensitiveTreeClassifier(**options).fit(X, y, weights, costs=costs)
    return model, {"y": y, "costs": costs}


def fit_matrix(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a classifier to costs per class."""
    y = np.random.default_rng(seed).integers(0, 3, len(X))
    matrix = [[0, 2, 5], [1, 0, 3], [4, 1, 0]]
    model = CostSensitiveTreeClassifier(cost_matrix=matrix, **options).fit(X, y, weights)
    return model, {"y": y}


def fit_errors(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Solve the task of fewest errors."""
    y = np.random.default_rng(seed).integers(0, 4, len(X))
    return solve(tasks.Misclassification(), X, y, sample_weight=weights, **options), {"y": y}


def fit_numbers(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a regression tree."""
    y = np.round(np.random.default_rng(seed).normal(size=len(X)), 2)
    return OptimalTreeRegressor(**options).fit(X, y, weights), {"y": y}


def fit_row_costs(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Solve a task of costs per row and label."""
    costs = np.random.default_rng(seed).integers(0, 1000, (len(X), 4))
    solution = solve(tasks.RowCosts(costs), X, sample_weight=weights, **options)
    return solution, {"task": tasks.RowCosts(costs)}


def fit_quantile(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit quantiles."""
    y = np.round(np.random.default_rng(seed).normal(size=len(X)), 2)
    model = OptimalTreeRegressor(criterion="quantile", quantile="0.8", **options)
    return model.fit(X, y, weights), {"y": y}


def fit_poisson(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit rates of counts."""
    y = np.random.default_rng(seed).poisson(2.0, len(X))
    return OptimalTreeRegressor(criterion="poisson", **options).fit(X, y, weights), {"y": y}


def fit_gamma(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit means of amounts."""
    y = np.round(np.random.default_rng(seed).gamma(2.0, size=len(X)) + 0.01, 2)
    return OptimalTreeRegressor(criterion="gamma", **options).fit(X, y, weights), {"y": y}


def fit_survival(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a tree to censored times."""
    rng = np.random.default_rng(seed)
    y = np.empty(len(X), dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(len(X)) < 0.7, np.round(rng.exponential(size=len(X)), 2) + 1
    return SurvivalTree(**options).fit(X, y, weights), {"y": y}


def fit_lines(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fit a tree with a line in each leaf."""
    y = np.round(np.random.default_rng(seed).normal(size=len(X)), 2)
    features = [0] if isinstance(X, np.ndarray) else ["real"]
    model = LinearTreeRegressor(model_features=features, **{"min_samples_leaf": 2, **options})
    return model.fit(X, y, weights), {"y": y}


def fit_function(X: Any, seed: int, weights: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Solve a task whose leaf cost is a function in Python."""
    counts = np.random.default_rng(seed).integers(0, 5, (len(X), 3))
    task = tasks.LeafCost(counts, least_sum, bounds="superadditive")
    return solve(task, X, sample_weight=weights, **options), {"task": task}


def least_sum(sums: Any) -> Any:
    """Return three times the least sum."""
    return 3 * sums.min(axis=1)


FITS: list[Fit] = [fit_policy, fit_costs, fit_matrix, fit_errors, fit_numbers, fit_row_costs]
ASKED: list[Fit] = [fit_quantile, fit_poisson, fit_gamma, fit_survival, fit_lines, fit_function]


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what chooses the search of all fits that follow."""

    def force(by_ranks: bool) -> None:
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, **__: by_ranks)

    return force


@pytest.fixture
def by_ranks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the number of tests of every search over ranks."""
    found: list[int] = []

    def search(problem: Any, *others: Any) -> Any:
        found.append(problem.columns.shape[1])
        return _ordered.solve_ordered(problem, *others)

    monkeypatch.setattr(_search, "solve_ordered", search)
    return found


def certificate_of(model: Any) -> Any:
    """Return the certificate of an estimator or a solution."""
    return model.certificate if hasattr(model, "certificate") else model.certificate_


def fit_both(forced: Any, fit: Fit, X: Any, seed: int, weights: Any = None, **options: Any) -> Any:
    """Fit by columns and by ranks, compare what is proven, and return both models."""
    models = []
    for choice in (False, True):
        forced(choice)
        model, given = fit(X, seed, weights, **options)
        assert verify(model, X, sample_weight=weights, **given)
        models.append(model)
    first, second = map(certificate_of, models)
    names = ("cost", "lower_bound", "status", "n_tests", "n_rows", "objective", "leaf_cost", "unit")
    for name in (*names, "rounding", "weight_quantum"):
        assert getattr(first, name) == getattr(second, name), name
    # Of equally good trees, both return one of the smallest.
    assert (first.n_splits, first.depth) == (second.n_splits, second.depth)
    assert first.is_optimal
    return models


# ---- the same proofs -----------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [*FITS, *ASKED], ids=lambda fit: fit.__name__)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"complexity": 0.05},
        {"complexity": 0.02, "complexity_per": "leaf"},
        {"min_samples_leaf": 4},
        {"n_jobs": 2},
        {"max_depth": 0},
        {"max_depth": 1},
        {"max_depth": 3, "thresholds": 4},
        {"max_depth": 3, "max_splits": 4, "thresholds": 4},
        {"max_depth": None, "max_splits": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_both_searches_prove_the_same(
    forced: Any, by_ranks: list[int], fit: Fit, options: dict[str, Any], seed: int
) -> None:
    """Tables with categories, levels and missing values; weights may be zero."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, 50) if seed == 1 else None
    thresholds = ("all", "auto", 4)[seed]
    options = {"max_depth": 2, "thresholds": thresholds, **options}
    models = fit_both(forced, fit, mixed(50, seed), seed, weights, **options)
    assert by_ranks == [certificate_of(models[1]).n_tests]


@pytest.mark.parametrize("fit", [*FITS, *ASKED], ids=lambda fit: fit.__name__)
def test_both_searches_prove_the_same_of_larger_tables(forced: Any, fit: Fit) -> None:
    X = np.random.default_rng(1).normal(size=(400, 6))
    fit_both(forced, fit, X, 1, thresholds=60, max_depth=2)
    fit_both(forced, fit, X, 2, thresholds=12, max_depth=3)


@pytest.mark.parametrize("fit", [*FITS, *ASKED], ids=lambda fit: fit.__name__)
@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_weights_that_are_rounded(forced: Any, fit: Fit, scale: float) -> None:
    rng = np.random.default_rng(4)
    weights = rng.random(60) * scale
    weights[::7] = 0
    fit_both(forced, fit, mixed(60, 4), 4, weights, thresholds="all", max_depth=2)


@pytest.mark.parametrize("fit", [fit_policy, fit_costs, fit_numbers], ids=lambda fit: fit.__name__)
def test_the_tree_costs_what_the_certificate_says(forced: Any, fit: Fit) -> None:
    forced(True)
    X = np.round(np.random.default_rng(2).normal(size=(80, 3)), 1)
    model, given = fit(X, 2, None, max_depth=2, thresholds="all")
    rows = np.arange(80)
    if fit is fit_numbers:
        cost = float(((model.predict(X) - given["y"]) ** 2).sum())
    elif fit is fit_costs:
        cost = float(given["costs"][rows, model.predict(X)].sum())
    else:
        rewards = given["y"]
        cost = float((rewards.max(axis=1) - rewards[rows, model.predict(X)]).sum())
    assert float(model.certificate_.cost) == pytest.approx(cost)
    assert verify(model, X, **given)
    counts = model.tree_.counts.sum(axis=1) if fit is fit_costs else None
    if counts is not None:
        leaves = model.apply(X)
        assert counts[leaves].tolist() == np.bincount(leaves)[leaves].tolist()


@pytest.mark.parametrize("fit", ASKED[:-1], ids=lambda fit: fit.__name__)
@pytest.mark.parametrize(
    "options", [{"complexity": 0.2}, {"complexity": 0.04, "max_splits": 3}], ids=str
)
def test_a_price_in_place_of_a_depth(forced: Any, fit: Fit, options: dict[str, Any]) -> None:
    fit_both(forced, fit, mixed(40, 6), 6, thresholds=4, max_depth=None, **options)


@pytest.mark.parametrize("fit", [fit_quantile, fit_poisson], ids=lambda fit: fit.__name__)
def test_an_order_preserving_change_changes_nothing(forced: Any, fit: Fit) -> None:
    forced(True)
    X = np.random.default_rng(8).normal(size=(120, 4))
    costs = {
        certificate_of(fit(table, 8, None, max_depth=2, thresholds="all")[0]).cost
        for table in (X, np.exp(X), -(X**3))
    }
    assert len(costs) == 1


@pytest.mark.parametrize("criterion", ["quantile", "poisson"])
def test_paths_of_costs_that_are_asked_for(forced: Any, criterion: str) -> None:
    X, y = mixed(60, 3), np.random.default_rng(3).poisson(2.0, 60)
    paths = []
    for choice in (False, True):
        forced(choice)
        model = OptimalTreeRegressor(max_depth=3, thresholds=5, criterion=criterion)
        model.fit(X, y, path=True)
        assert verify(model, X, y)
        paths.append([(entry.splits, entry.errors, entry.lower_bound) for entry in model.path_])
    assert paths[0] == paths[1]


def test_a_slow_function_stops_in_time(forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    X, counts = rng.normal(size=(400, 6)), rng.integers(0, 5, (400, 3))

    def slow(sums: Any) -> Any:
        time.sleep(1e-5 * len(sums))
        return sums.min(axis=1)

    task = tasks.LeafCost(counts, slow, bounds="superadditive")
    start = time.perf_counter()
    with pytest.warns(UserWarning, match="time_limit"):
        solution = solve(task, X, max_depth=3, thresholds="all", time_limit=1.0)
    assert time.perf_counter() - start < 5
    assert solution.certificate.lower_bound <= solution.certificate.cost
    assert verify(solution, X, task=task)


@pytest.mark.parametrize("kind", ["labels", "numbers", "rows"])
@pytest.mark.parametrize("options", [{}, {"max_splits": 4}, {"min_samples_leaf": 3}], ids=str)
def test_paths_are_the_same(forced: Any, kind: str, options: dict[str, Any]) -> None:
    """Every number of splits, with types of rows, squared errors, and costs per row."""
    rng = np.random.default_rng(3)
    X = mixed(60, 3)
    costs = rng.integers(0, 30, (60, 3)) if kind == "rows" else None
    y = np.round(rng.normal(size=60), 2) if kind == "numbers" else rng.integers(0, 3, 60)
    paths = []
    for choice in (False, True):
        forced(choice)
        settings = {"max_depth": 3, "thresholds": 5, **options}
        if kind == "numbers":
            model: Any = OptimalTreeRegressor(**settings).fit(X, y, path=True)
        else:
            model = CostSensitiveTreeClassifier(**settings).fit(X, y, costs=costs, path=True)
        assert verify(model, X, y, **({} if costs is None else {"costs": costs}))
        paths.append([(entry.splits, entry.errors, entry.lower_bound) for entry in model.path_])
    assert paths[0] == paths[1]


def test_brute_force_agrees(forced: Any) -> None:
    forced(True)
    X = np.random.default_rng(0).integers(0, 6, (16, 2)) / 2
    for fit in [*FITS, *ASKED]:
        model, given = fit(X, 5, None, max_depth=2, thresholds="all")
        assert verify(model, X, exhaustive=True, **given)


# ---- which search --------------------------------------------------------------------------------


def test_ranks_are_preferred_sooner_where_rows_have_vectors() -> None:
    n_ranks = np.full(8, 33, dtype=np.int32)
    assert not prefers_ranks(5000, n_ranks, Question(3, n_values=4))
    assert prefers_ranks(5000, n_ranks, Question(3, n_values=4, kind="min_label"))
    # Squared errors leave many thresholds open.
    assert not prefers_ranks(5000, n_ranks, Question(3, n_values=3, kind="squares"))
    assert prefers_ranks(5000, n_ranks, Question(2, n_values=3, kind="squares"))
    for kind in _choice._BY_ROW:
        few = np.array([33, 23, 33, 22], dtype=np.int32)
        assert not prefers_ranks(150, few, Question(4, n_values=3, kind=kind))
        assert not prefers_ranks(10**6, np.full(1000, 2, dtype=np.int32), Question(3, kind=kind))
        assert prefers_ranks(
            2000, np.full(8, 2000, dtype=np.int32), Question(3, n_values=3, kind=kind)
        )


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": None, "complexity": 0.05},
        {"max_depth": None, "complexity": 0.05, "search": "best-first"},
        {"test_costs": [0.1, 0.2]},
    ],
    ids=str,
)
def test_what_the_search_over_ranks_lacks_gets_a_column_per_test(
    options: dict[str, Any], by_ranks: list[int]
) -> None:
    rng = np.random.default_rng(0)
    X, costs = rng.normal(size=(700, 2)), rng.integers(0, 1000, (700, 2))
    task = tasks.RowCosts(costs)
    solve(task, X, **{"max_depth": 2, "thresholds": 60, "gap": 1e6, **options})
    assert not by_ranks
    solve(task, X, max_depth=2, thresholds=60)
    assert by_ranks == [120]


def test_fronts_and_lawless_costs_get_columns(forced: Any, by_ranks: list[int]) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    rewards = rng.normal(size=(40, 2))
    unlawful = tasks.LeafCost(np.eye(2, dtype=int)[y], lambda sums: sums.min(axis=1) // 3)
    solve(unlawful, X, max_depth=1, thresholds=8)
    ridge = LinearTreeRegressor(leaf_model="ridge", ridge=1.0, max_depth=1, thresholds=8)
    ridge.fit(X, rewards[:, 0])
    front = tasks.Front(tasks.RowCosts(np.abs(rewards)), tasks.RowCosts(np.abs(rewards[::-1])))
    solve(front, X, max_depth=1, thresholds=4)
    assert not by_ranks
    # Of limits, only what is searched inside the gap has columns.
    PolicyTree(max_depth=1, thresholds=8, capacity={1: 10}).fit_rewards(X, rewards)
    assert by_ranks


def test_a_fit_with_every_midpoint_takes_memory_by_the_size_of_the_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    rewards = np.column_stack([X[:, 0] > 0.2, X[:, 1] > 1]) + rng.random((20_000, 2))
    tracemalloc.start()
    model = PolicyTree(max_depth=1, thresholds="all").fit_rewards(X, rewards)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.certificate_.is_optimal
    assert model.certificate_.n_tests == 4 * 19_999
    # A column per test would take 1.6 GB.
    assert peak < 50e6
    assert verify(model, X, rewards)


def test_ranks_hold_the_rows_that_count(forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.normal(size=100)
    weights = (np.arange(100) % 3 > 0).astype(int)
    model = OptimalTreeRegressor(2, thresholds="all")
    statement = state_task(Request.of(model, X, y, weights), "tree", TaskStatement)
    assert isinstance(statement.columns, RankedColumns)
    assert statement.columns.shape == (66, 130)
    assert statement.engine_problem.columns.shape == (66, 130)


# ---- limits on the whole tree --------------------------------------------------------------------


def fit_capacity(X: Any, seed: int, **options: Any) -> Any:
    """Fit a policy that treats a quarter of the rows at most, and verify it."""
    rewards = np.random.default_rng(seed).normal(size=(len(X), 2))
    rewards[:, 1] += 1.0
    model = PolicyTree(capacity={1: len(X) // 4}, thresholds="all", **options)
    model.fit_rewards(X, rewards)
    assert verify(model, X, y=rewards)
    return model.certificate_


@pytest.mark.parametrize(
    "options",
    [{}, {"complexity": 0.05}, {"min_samples_leaf": 4}, {"max_depth": 3, "max_splits": 3}],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_limits_on_the_tree_are_the_same(
    forced: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], seed: int
) -> None:
    """Scalar solves have ranks, and what they leave open has a column per test."""
    solves: list[bool] = []
    call = _limit_scalar.Scalars._call

    def spy(scalars: Any, *others: Any) -> Any:
        solves.append(isinstance(scalars.rows.columns, RankedColumns))
        return call(scalars, *others)

    monkeypatch.setattr(_limit_scalar.Scalars, "_call", spy)
    found = []
    for choice in (False, True):
        forced(choice)
        found.append(fit_capacity(mixed(40, seed), seed, **{"max_depth": 2, **options}))
        assert solves[-1] is choice
    first, second = found
    for name in ("cost", "lower_bound", "status", "n_tests", "n_splits", "values"):
        assert getattr(first, name, None) == getattr(second, name, None), name
    assert first.is_optimal


def test_a_gap_stays_where_columns_do_not_fit(forced: Any) -> None:
    """Bounds and trees of scalar solves count without the search inside the gap."""
    forced(True)
    X = np.random.default_rng(0).normal(size=(300, 4))
    proven = fit_capacity(X, 0, max_depth=2)
    with pytest.warns(UserWarning, match="memory_limit"):
        stopped = fit_capacity(X, 0, max_depth=2, memory_limit=300_000)
    assert proven.is_optimal
    assert stopped.status == "memory_limit"
    assert stopped.n_tests == proven.n_tests
    assert 0 < stopped.lower_bound <= proven.cost <= stopped.cost


@pytest.mark.parametrize("options", [{}, {"complexity": 0.02}, {"min_samples_leaf": 4}], ids=str)
@pytest.mark.parametrize("is_inside", [False, True])
def test_fair_trees_are_the_same(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], is_inside: bool
) -> None:
    """With ranks for all but the search inside the gap, whether or not X has the groups."""
    rng = np.random.default_rng(3)
    X, group = mixed(80, 3), rng.integers(0, 2, 80)
    y = ((X["real"] + 0.8 * group + 0.5 * rng.normal(size=80)) > 0.3).astype(int)
    if is_inside:
        X["group"] = group
    found = []
    for choice in (False, True):
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, by=choice, **__: by)
        model = FairTreeClassifier(max_depth=2, tolerance=0.05, thresholds="all", **options)
        model.fit(X, y, sensitive_features=group)
        assert verify(model, X, y, sensitive_features=group)
        found.append(model.certificate_)
    first, second = found
    for name in ("cost", "lower_bound", "status", "n_tests", "n_splits"):
        assert getattr(first, name) == getattr(second, name), name
    assert first.is_optimal


def test_tests_that_only_state_the_group_are_found_by_ranks() -> None:
    X, codes = mixed(60, 5), np.random.default_rng(5).integers(0, 3, 60)
    X["group"] = codes
    X["name"] = np.array(["a", "b", "c"])[codes]
    columns = ranked(X, thresholds="all")[1]
    groups = read_groups(codes, 60)
    expected = constant_within(columns.expand(), groups.codes)
    assert expected.any()
    assert constant_within(columns, groups.codes).tolist() == expected.tolist()
    kept = columns.without(expected)
    assert kept is not None
    assert (kept.expand() == columns.expand()[:, ~expected]).all()


@pytest.mark.parametrize("kind", ["squared_error", "absolute_error", "poisson", "gamma", "linear"])
def test_targets_that_are_all_equal_give_one_leaf(kind: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(600, 2)), np.ones(600)
    settings: dict[str, Any] = {"max_depth": None, "complexity": 0.1, "thresholds": "all"}
    model: Any = LinearTreeRegressor(**settings)
    if kind != "linear":
        model = OptimalTreeRegressor(criterion=kind, **settings)
    certificate = model.fit(X, y).certificate_
    assert (certificate.is_optimal, model.tree_.n_splits) == (True, 0)
    assert certificate.max_depth is None
    verify(model, X, y)


def test_survival_without_events_gives_one_leaf() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 5)), np.column_stack([rng.integers(1, 9, 600), np.zeros(600)])
    model = SurvivalTree(max_depth=None, complexity=0.1, thresholds="all")
    with pytest.warns(UserWarning, match="y has no event"):
        model.fit(X, y)
    assert (model.certificate_.is_optimal, model.tree_.n_splits) == (True, 0)
    verify(model, X, y)
