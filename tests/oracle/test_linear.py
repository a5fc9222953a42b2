"""Trees with linear models against brute force in exact fractions, and the laws of their cost."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from certree import LinearTreeRegressor, verify
from tests.oracle.vector import Limits, best_cost

# Seeds of one test; each of them solves several problems.
SEEDS = range(50)


def least_cost(x: Any, y: Any, weights: Any, ridge: Fraction, simple: bool) -> Any:
    """What rows cost in one leaf: by elimination in fractions, column by column."""
    n_columns = len(x[0])

    def one(rows: tuple[int, ...], columns: Sequence[int]) -> Fraction:
        total = sum(weights[i] for i in rows)
        around = []
        for values in (*([line[k] for line in x] for k in columns), y):
            mean = sum(weights[i] * values[i] for i in rows) / total
            around.append([values[i] - mean for i in rows])
        own = [weights[i] for i in rows]
        left: list[list[Fraction]] = []
        # Gram and Schmidt: what is left of each column beside those before, with the ridge as rows.
        for place, column in enumerate(around):
            line = [*column, *(Fraction(place == k) for k in range(len(columns)))]
            scale = [*own, *[ridge] * len(columns)]
            for other in left:
                square = sum(s * a * a for s, a in zip(scale, other, strict=True))
                if square:
                    dot = sum(s * a * b for s, a, b in zip(scale, line, other, strict=True))
                    line = [a - dot / square * b for a, b in zip(line, other, strict=True)]
            left.append(line)
        return sum(s * a * a for s, a in zip(scale, left[-1], strict=True))

    @cache
    def leaf(rows: tuple[int, ...]) -> Fraction:
        if simple:
            return min(one(rows, [k]) for k in range(n_columns))
        return one(rows, range(n_columns))

    return leaf


class Small:
    """A random problem: 0/1 tests, columns of models with ties and dependences, and limits."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.n_rows, n_models = int(rng.integers(6, 13)), int(rng.integers(1, 4))
        self.tests = rng.integers(0, 2, (self.n_rows, 3))
        self.models = rng.integers(-4, 5, (self.n_rows, n_models))
        if n_models > 1 and seed % 3 == 0:
            self.models[:, 1] = 2 * self.models[:, 0] - 1
        self.models = self.models / [1, 2, 10][seed % 3]
        self.y = rng.integers(-9, 10, self.n_rows) / 2
        self.weights = rng.integers(1, 4, self.n_rows)
        self.simple = bool(rng.integers(2))
        self.ridge = [0.0, 0.0, 0.5, 2.0][int(rng.integers(4))]
        self.max_depth: int | None = int(rng.integers(1, 4))
        self.max_splits = [None, 2][int(rng.integers(2))]
        self.least = int(rng.integers(1, 3))
        self.complexity = [0.0, 0.02][int(rng.integers(2))]
        if self.complexity and seed % 4 == 0:
            # Three tests, so that three levels are no limit.
            self.max_depth = None

    @property
    def X(self) -> Any:
        return np.column_stack([self.tests, self.models])

    def model(self, **others: Any) -> LinearTreeRegressor:
        places = range(3, 3 + self.models.shape[1])
        thresholds = dict.fromkeys(places, ())
        return LinearTreeRegressor(
            self.max_depth,
            max_splits=self.max_splits,
            min_samples_leaf=self.least,
            leaf_model="simple" if self.simple else "ridge",
            ridge=self.ridge,
            model_features=list(places),
            complexity=self.complexity,
            thresholds=thresholds,
            **others,
        )

    def best(self, weights: Any) -> Fraction:
        exact = [[Fraction(str(v)) for v in line] for line in self.models.tolist()]
        y = [Fraction(str(v)) for v in self.y.tolist()]
        own = [Fraction(str(w)) for w in weights.tolist()]
        leaf = least_cost(exact, y, own, Fraction(self.ridge), self.simple)
        mean = sum(w * v for w, v in zip(own, y, strict=True)) / sum(own)
        squares = sum(w * (v - mean) ** 2 for w, v in zip(own, y, strict=True))
        more = 1 if self.simple else self.models.shape[1]
        penalty = Fraction(str(self.complexity)) * squares
        limits = Limits(self.max_depth or 3, self.max_splits, self.least + more, penalty)
        return best_cost(self.tests.tolist(), leaf, limits)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_cost_of_all_trees(seed: int) -> None:
    for k in range(20):
        problem = Small(20 * seed + k)
        weights = problem.weights if k % 2 else np.ones(problem.n_rows, dtype=int)
        model = problem.model().fit(problem.X, problem.y, weights if k % 2 else None)
        found = model.certificate_
        assert found.is_optimal
        assert abs(found.cost - problem.best(weights)) <= found.rounding
        assert found.rounding <= 1e-6 * (1 + float(np.square(problem.y).sum()))


@pytest.mark.parametrize("seed", range(30))
def test_real_weights_and_long_decimals(seed: int) -> None:
    problem = Small(seed + 10_000)
    rng = np.random.default_rng(seed)
    weights = rng.random(problem.n_rows) + 0.1
    problem.y = problem.y + rng.normal(size=problem.n_rows) / 7
    model = problem.model().fit(problem.X, problem.y, weights)
    found = model.certificate_
    # The columns are rounded, too, which changes little unless they depend on each other.
    slack = found.rounding + Fraction(1, 10**5)
    assert abs(found.cost - problem.best(weights)) <= slack
    verify(model, problem.X, problem.y, sample_weight=weights)
