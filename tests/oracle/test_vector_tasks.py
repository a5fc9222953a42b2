"""Tasks against brute force: every leaf cost, with limits, weights, penalties and prices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import (
    CostSensitiveTreeClassifier,
    Measurement,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    OrdinalTreeClassifier,
    PolicyTree,
    solve,
    tasks,
    verify,
)
from tests.oracle.vector import Limits, Prices, best_cost

SEEDS = range(8)


class Problem:
    """A small random table with weights and limits."""

    def __init__(self, seed: int, n_rows: int = 9, n_columns: int = 4) -> None:
        self.rng = np.random.default_rng(seed)
        self.X = self.rng.integers(0, 2, (n_rows, n_columns))
        self.weights = self.rng.integers(1, 4, n_rows)
        self.limits: dict[str, Any] = {
            "max_depth": int(self.rng.integers(1, 4)),
            "max_splits": [None, 2, 4][int(self.rng.integers(3))],
            "min_samples_leaf": int(self.rng.integers(1, 3)),
        }

    def best(
        self, leaf: Callable[[Sequence[int]], Any], penalty: Any = 0, prices: Any = None
    ) -> Fraction:
        limits = Limits(
            self.limits["max_depth"],
            self.limits["max_splits"],
            self.limits["min_samples_leaf"],
            Fraction(penalty),
        )
        return best_cost(self.X.tolist(), leaf, limits, prices)

    @property
    def total(self) -> int:
        return int(self.weights.sum())


def exact(values: NDArray[Any]) -> list[list[Fraction]]:
    """Numbers as the decimals that Python prints for them."""
    return [[Fraction(str(v)) for v in line] for line in np.atleast_2d(values).tolist()]


@pytest.mark.parametrize("seed", SEEDS)
def test_row_costs(seed: int) -> None:
    problem = Problem(seed)
    costs = np.round(problem.rng.normal(size=(9, 3)) * 10, 1)
    table = exact(costs)

    def leaf(rows: Sequence[int]) -> Fraction:
        return min(sum(int(problem.weights[i]) * table[i][k] for i in rows) for k in range(3))

    complexity = [0, 0.25][seed % 2]
    penalty = Fraction(str(complexity)) * problem.total
    found = solve(
        tasks.RowCosts(costs),
        problem.X,
        sample_weight=problem.weights,
        complexity=complexity,
        **problem.limits,
    ).certificate
    assert found.cost == problem.best(leaf, penalty)
    assert found.is_optimal
    assert found.rounding == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cost_matrix_is_the_costs_of_its_rows(seed: int) -> None:
    problem = Problem(seed)
    matrix = np.round(problem.rng.random((3, 3)) * 5, 2)
    y = problem.rng.integers(0, 3, 9)
    found = solve(tasks.CostMatrix(matrix), problem.X, y, **problem.limits)
    same = solve(tasks.RowCosts(matrix[y]), problem.X, **problem.limits)
    table = exact(matrix[y])
    best = problem.best(lambda rows: min(sum(table[i][k] for i in rows) for k in range(3)))
    assert found.certificate.cost == same.certificate.cost == best
    model = CostSensitiveTreeClassifier(matrix, **problem.limits).fit(problem.X, y)
    by_row = CostSensitiveTreeClassifier(classes=range(3), **problem.limits)
    by_row.fit(problem.X, y, costs=matrix[y])
    assert model.certificate_.cost == by_row.certificate_.cost == best


@pytest.mark.parametrize("seed", SEEDS)
def test_ordinal_error(seed: int) -> None:
    problem = Problem(seed)
    order = ["low", "middle", "high", "top"]
    ranks = problem.rng.integers(0, 3 + seed % 2, 9).tolist()
    y = [order[rank] for rank in ranks]

    def leaf(rows: Sequence[int]) -> int:
        return min(
            sum(int(problem.weights[i]) * abs(ranks[i] - label) for i in rows) for label in range(4)
        )

    complexity = [0, 0.25][seed % 2]
    best = problem.best(leaf, Fraction(str(complexity)) * problem.total)
    settings = {**problem.limits, "complexity": complexity}
    weights = problem.weights
    model = OrdinalTreeClassifier(order, **settings).fit(problem.X, y, weights)
    solution = solve(tasks.OrdinalError(order), problem.X, y, sample_weight=weights, **settings)
    assert model.certificate_.cost == solution.certificate.cost == best
    assert verify(model, problem.X, y, weights, exhaustive=True)
    assert verify(solution, problem.X, y, weights, exhaustive=True)
    penalty = complexity * model.tree_.n_splits
    assert model.score(problem.X, y, weights) == pytest.approx(
        penalty - model.certificate_.objective
    )
    assert set(model.predict(problem.X)) <= set(model.classes_.tolist()) == set(order)


@pytest.mark.parametrize(
    "order, message",
    [
        (["low", "low"], "each of them once"),
        ([], "each of them once"),
        (["low", "top"], "'high' is not among the classes"),
    ],
)
def test_an_order_names_every_class_once(order: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OrdinalTreeClassifier(order).fit([[0], [1]], ["low", "high"])
    model = OrdinalTreeClassifier().fit([[0], [1]], ["low", "high"])
    with pytest.raises(ValueError, match="'top', which is not among the classes"):
        model.score([[0]], ["top"])


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_of_zero_and_one_are_accuracy(seed: int) -> None:
    problem = Problem(seed, n_rows=40, n_columns=6)
    y = problem.rng.integers(0, 3, 40)
    settings = {**problem.limits, "complexity": [0.0, 0.02][seed % 2]}
    twin = OptimalTreeClassifier(**settings).fit(problem.X, y, problem.weights).certificate_
    costs = 1 - np.eye(3)[y]
    for found in (
        solve(tasks.RowCosts(costs), problem.X, sample_weight=problem.weights, **settings),
        solve(tasks.Misclassification(), problem.X, y, sample_weight=problem.weights, **settings),
    ):
        assert found.certificate.cost == twin.cost
        assert found.certificate.n_splits == twin.n_splits
    assert found.certificate.objective == pytest.approx(twin.objective)


@pytest.mark.parametrize("seed", SEEDS)
def test_rewards(seed: int) -> None:
    problem = Problem(seed)
    rewards = np.round(problem.rng.normal(size=(9, 3)), 2)
    sign = 1 if seed % 2 else -1
    table = exact(rewards)
    highest = [max(sign * r for r in line) for line in table]

    def regret(rows: Sequence[int]) -> Fraction:
        return min(
            sum(int(problem.weights[i]) * (highest[i] - sign * table[i][k]) for i in rows)
            for k in range(3)
        )

    policy = PolicyTree(maximise=sign > 0, **problem.limits)
    policy.fit_rewards(problem.X, rewards, problem.weights)
    assert policy.certificate_.cost == problem.best(regret)
    value = policy.value(problem.X, rewards=rewards, sample_weight=problem.weights).value
    assert policy.certificate_.objective == pytest.approx(value, abs=1e-12)
    assert policy.score(problem.X, rewards, None, problem.weights) == pytest.approx(sign * value)


def squared_error(target: list[Fraction], weights: Any, rows: Sequence[int]) -> Fraction:
    w = sum(int(weights[i]) for i in rows)
    mean = sum((int(weights[i]) * target[i] for i in rows), Fraction(0)) / w
    return sum((int(weights[i]) * (target[i] - mean) ** 2 for i in rows), Fraction(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_squared_error(seed: int) -> None:
    problem = Problem(seed)
    y = problem.rng.normal(size=9)
    if seed % 2:
        y = np.round(y * 100) / 4
    target = exact(y)[0]
    whole = squared_error(target, problem.weights, range(9))
    complexity = [0, 0.05][seed // 2 % 2]
    penalty = Fraction(str(complexity)) * whole
    best = problem.best(lambda rows: squared_error(target, problem.weights, rows), penalty)
    model = OptimalTreeRegressor(complexity=complexity, **problem.limits)
    certificate = model.fit(problem.X, y, problem.weights).certificate_
    assert certificate.is_optimal
    assert abs(certificate.cost - best) <= certificate.rounding + whole / 10**9
    assert certificate.rounding < whole / 10**6
    score = model.score(problem.X, y, problem.weights)
    penalised = score - complexity * certificate.n_splits
    assert certificate.objective == pytest.approx(penalised, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leaf_cost_equals_its_twin(seed: int) -> None:
    problem = Problem(seed, n_rows=30, n_columns=5)
    X, limits = problem.X, problem.limits
    y = problem.rng.integers(0, 3, 30)
    one_hot = np.eye(3, dtype=int)[y]

    def errors(sums: Any) -> Any:
        return sums.sum(axis=1) - sums.max(axis=1), sums.argmax(axis=1)

    def error(sums: Any) -> Any:
        return sums[:, 2] - sums[:, 1] ** 2 / sums[:, 0]

    accuracy = OptimalTreeClassifier(**limits).fit(X, y).certificate_.cost
    squares = np.stack([np.ones(30), y, y * y], axis=1).astype(int)
    twin = solve(tasks.SquaredError(), X, y, **limits).certificate
    for bounds in (None, "superadditive", tasks.Laws(True, np.ones(30))):
        task = tasks.LeafCost(one_hot, errors, bounds=bounds)
        assert solve(task, X, **limits).certificate.cost == accuracy
    found = solve(tasks.LeafCost(squares, error, bounds="superadditive"), X, **limits)
    assert abs(found.certificate.cost - twin.cost) <= found.certificate.rounding + twin.rounding


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leaf_cost_without_laws_is_searched_without_them(seed: int) -> None:
    """Costs of subsets may exceed those of sets here, and only brute force knows."""
    problem = Problem(seed)
    numbers = problem.rng.integers(0, 7, 9)

    def cost(sums: Any) -> Any:
        return sums[:, 0] * 3 % 7

    def leaf(rows: Sequence[int]) -> int:
        return int(numbers[list(rows)].sum()) * 3 % 7

    found = solve(tasks.LeafCost(numbers[:, None], cost), problem.X, **problem.limits)
    assert found.certificate.cost == problem.best(leaf)


def entropy_leaf(y: NDArray[Any], rows: Sequence[int]) -> float:
    counts = np.bincount(y[list(rows)])
    return -sum(c * math.log(c / counts.sum()) for c in counts if c)


def gini_leaf(y: NDArray[Any], rows: Sequence[int]) -> float:
    counts = np.bincount(y[list(rows)])
    return float(counts.sum() - (counts**2).sum() / counts.sum())


def poisson_leaf(y: NDArray[Any], rows: Sequence[int]) -> float:
    values = y[list(rows)].astype(float)
    mean = values.mean()
    return 2 * sum((v * math.log(v / mean) if v else 0.0) - (v - mean) for v in values)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("make", "leaf"),
    [
        (tasks.entropy, entropy_leaf),
        (tasks.gini, gini_leaf),
        (tasks.poisson_deviance, poisson_leaf),
    ],
    ids=["entropy", "gini", "poisson"],
)
def test_ready_made_leaf_costs(make: Any, leaf: Any, seed: int) -> None:
    problem = Problem(seed)
    y = problem.rng.integers(0, 4, 9)
    found = solve(make(y), problem.X, **problem.limits).certificate
    best = problem.best(lambda rows: Fraction(leaf(y, rows)))
    assert float(found.cost) == pytest.approx(float(best), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_survival(seed: int) -> None:
    problem = Problem(seed)
    time = np.round(problem.rng.exponential(size=9) + 0.01, 2)
    event = problem.rng.integers(0, 2, 9)

    def leaf(rows: Sequence[int]) -> Fraction:
        deaths, length = sum(event[i] for i in rows), sum(time[i] for i in rows)
        own = sum(-math.log(time[i]) for i in rows if event[i])
        return Fraction(2 * (own - (deaths * math.log(deaths / length) if deaths else 0)))

    found = solve(tasks.exponential_survival(time, event), problem.X, **problem.limits)
    assert float(found.certificate.cost) == pytest.approx(float(problem.best(leaf)), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_pinball_with_all_values_is_the_best_quantile(seed: int) -> None:
    problem = Problem(seed)
    y = np.round(problem.rng.normal(size=9), 1)
    target = exact(y)[0]
    q = Fraction(3, 10)

    def leaf(rows: Sequence[int]) -> Fraction:
        def loss(v: Fraction) -> Fraction:
            return sum(
                (max(q * (target[i] - v), (q - 1) * (target[i] - v)) for i in rows), Fraction(0)
            )

        return min(loss(target[i]) for i in rows)

    task = tasks.pinball(y, 0.3)
    found = solve(task, problem.X, **problem.limits).certificate
    assert found.cost == problem.best(leaf)
    costs = np.asarray(task.costs)
    values = np.asarray(task.labels)
    twin = tasks.LeafCost(costs, lambda s: (s.min(axis=1), values[s.argmin(axis=1)]))
    same = solve(twin, problem.X, **problem.limits).certificate
    assert float(same.cost) == pytest.approx(float(found.cost), abs=1e-9)


@pytest.mark.parametrize("seed", range(16))
def test_prices_of_tests(seed: int) -> None:
    """Columns 0 and 1 are one measurement; it and column 2 are a group; column 3 is its own."""
    problem = Problem(seed)
    rng = problem.rng
    matrix = np.array([[0, 6], [9, 0]]) * (1 + seed % 2)
    y = (problem.X[:, 0] ^ (problem.X[:, 2] & problem.X[:, 3])) ^ (rng.random(9) < 0.1)
    prices = np.round(rng.random(3) * 1.5, 1)
    discounted = np.round(prices * rng.random(3), 1)
    complexity = [0, 0.1][seed % 2]
    model = CostSensitiveTreeClassifier(
        matrix,
        test_costs=[
            Measurement([0, 1], prices[0], group="a", discounted=discounted[0]),
            Measurement(2, prices[1], group="a", discounted=discounted[1]),
            Measurement(3, prices[2]),
        ],
        classes=[0, 1],
        complexity=complexity,
        **problem.limits,
    ).fit(problem.X, y, problem.weights)
    oracle = Prices(
        [0, 0, 1, 2],
        [0, 0, 1],
        [Fraction(str(p)) for p in prices],
        [Fraction(str(p)) for p in (discounted[0], discounted[1], prices[2])],
        [Fraction(int(w)) for w in problem.weights],
    )

    def leaf(rows: Sequence[int]) -> int:
        return min(sum(int(problem.weights[i] * matrix[y[i], k]) for i in rows) for k in range(2))

    certificate = model.certificate_
    penalty = Fraction(str(complexity)) * problem.total
    assert certificate.cost == problem.best(leaf, penalty, oracle)
    mean = model.expected_cost(problem.X, y, problem.weights)
    paid = certificate.leaf_cost + certificate.test_cost
    assert mean == pytest.approx(float(paid) / problem.total)
