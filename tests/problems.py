"""A problem for the solver, and seeded generators of many kinds of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracle.brute_force import BruteForce, Optimum, binary_tests

SAFE = 2**58
"""Generated problems stay below this, well inside 64-bit integers."""

FUZZ = int(os.environ.get("CERTREE_FUZZ", "0"))
"""Set it to any number to try other random problems than the usual ones."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, costs and limits of one solve, as the engine takes them (-1: no limit)."""

    columns: NDArray[np.uint8]
    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None
    error_scale: int = 1
    split_penalty: int = 0
    max_depth: int = -1
    max_splits: int = -1
    min_leaf: int = 1
    _oracles: dict[None, BruteForce] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[1])

    def weight_list(self) -> list[int]:
        """Weights as Python integers, ones where none are given."""
        return [1] * self.n_rows if self.weights is None else [int(w) for w in self.weights]

    def but(self, **changes: Any) -> Problem:
        """Return a copy with some fields changed."""
        return replace(self, **changes, _oracles={})

    def oracle(self) -> BruteForce:
        """The brute force for this problem, made once."""
        if None not in self._oracles:
            self._oracles[None] = BruteForce(
                binary_tests(self.columns.tolist()),
                self.row_types.tolist(),
                self.cost_matrix.tolist(),
                self.weight_list(),
                error_scale=self.error_scale,
                split_penalty=self.split_penalty,
                min_leaf=self.min_leaf,
            )
        return self._oracles[None]

    def optimal_value(self) -> int:
        """Least value within the limits, by brute force."""
        return self.oracle().value(*self._limits())

    def optimum(self) -> Optimum:
        """Least value, the fewest splits that reach it and then the least depth."""
        return self.oracle().optimum(*self._limits())

    def _limits(self) -> tuple[int | None, int | None]:
        return (
            None if self.max_depth < 0 else self.max_depth,
            None if self.max_splits < 0 else self.max_splits,
        )

    def options(self) -> dict[str, int]:
        """The part of the engine's options that belongs to the problem."""
        return {
            "error_scale": self.error_scale,
            "split_penalty": self.split_penalty,
            "max_depth": self.max_depth,
            "max_splits": self.max_splits,
            "min_leaf": self.min_leaf,
        }

    def magnitude(self) -> int:
        """A bound on all values that appear, with room for the number of splits as tie-break."""
        worst = sum(self.weight_list()) * int(self.cost_matrix.max())
        return (self.error_scale * worst + self.split_penalty * self.n_rows) * (self.n_rows + 1)

    def __repr__(self) -> str:
        weights = None if self.weights is None else self.weights.tolist()
        limits = "".join(f", {name}={value}" for name, value in self.options().items())
        return (
            f"make_problem({self.columns.tolist()}, {self.row_types.tolist()}, "
            f"{self.cost_matrix.tolist()}, {weights}{limits})"
        )


def make_problem(
    columns: Any, row_types: Any, cost_matrix: Any = None, weights: Any = None, **limits: Any
) -> Problem:
    """Build a problem from lists; without a cost matrix every wrong label costs 1."""
    types = np.asarray(row_types, dtype=np.int32)
    if cost_matrix is None:
        cost_matrix = zero_one_costs(int(types.max()) + 1)
    return Problem(
        np.asfortranarray(np.asarray(columns, dtype=np.uint8).reshape(len(types), -1)),
        types,
        np.asarray(cost_matrix, dtype=np.int64),
        None if weights is None else np.asarray(weights, dtype=np.int64),
        **limits,
    )


def zero_one_costs(n_types: int) -> NDArray[np.int64]:
    """Cost matrix of plain accuracy."""
    return np.ones((n_types, n_types), dtype=np.int64) - np.eye(n_types, dtype=np.int64)


def random_columns(rng: np.random.Generator, n_rows: int, n_columns: int) -> NDArray[np.uint8]:
    """Columns of several densities, some of them copies, complements or constant."""
    density = rng.choice([0.1, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7], size=n_columns)
    columns = (rng.random((n_rows, n_columns)) < density).astype(np.uint8)
    if rng.random() < 0.12:
        # Ordered thresholds of one number: a nested family, as binarised tables have them.
        order = rng.integers(0, n_columns + 1, size=n_rows)
        columns = (order[:, None] <= np.arange(n_columns)[None, :]).astype(np.uint8)
    for j in range(1, n_columns):
        kind = rng.random()
        source = columns[:, rng.integers(0, j)]
        if kind < 0.06:
            columns[:, j] = source
        elif kind < 0.12:
            columns[:, j] = 1 - source
        elif kind < 0.15:
            columns[:, j] = rng.integers(0, 2)
    if n_rows > 2 and rng.random() < 0.2:
        columns = columns[rng.integers(0, max(1, n_rows // 2), size=n_rows)]
    return np.asfortranarray(columns)


def random_types(
    rng: np.random.Generator, columns: NDArray[np.uint8], n_types: int
) -> NDArray[np.int32]:
    """Row types: noise, a planted tree with some noise, or parity of two columns."""
    n_rows, n_columns = columns.shape
    noise = np.asarray(rng.integers(0, n_types, size=n_rows), dtype=np.int32)
    kind = rng.random()
    if kind < 0.35:
        return noise
    picked = rng.permutation(np.arange(max(3, n_columns)) % n_columns)[:3]
    bits = columns[:, picked].astype(np.int32)
    if kind < 0.8:
        leaf_type = rng.permutation(np.arange(8) % n_types)
        planted = leaf_type[bits @ np.array([1, 2, 4])]
    else:
        planted = (bits[:, 0] ^ bits[:, 1]) * (n_types - 1)
    keep = rng.random(n_rows) < rng.choice([0.75, 0.9, 1.0])
    types: NDArray[np.int32] = np.where(keep, planted, noise).astype(np.int32)
    return types


def random_weights(rng: np.random.Generator, n_rows: int) -> NDArray[np.int64] | None:
    """No weights, small, large, very large, or powers of two."""
    kind = int(rng.integers(0, 8))
    if kind < 4:
        return None
    if kind == 4:
        return rng.integers(1, 4, size=n_rows, dtype=np.int64)
    if kind == 5:
        return rng.integers(1, 10**6, size=n_rows, dtype=np.int64)
    if kind == 6:
        return rng.integers(10**9, 10**10, size=n_rows, dtype=np.int64)
    exponents = rng.integers(0, rng.choice([4, 30]), size=n_rows, dtype=np.int64)
    return np.asarray(np.left_shift(np.int64(1), exponents), dtype=np.int64)


def random_costs(rng: np.random.Generator, n_types: int) -> NDArray[np.int64]:
    """0/1, class weights, or any small matrix, also with more or fewer labels than types."""
    kind = int(rng.integers(0, 12))
    if kind >= 7:
        return zero_one_costs(n_types)
    if kind <= 1:
        return zero_one_costs(n_types) * rng.integers(1, 6, size=(n_types, 1))
    high = int(rng.choice([2, 4, 10, 1000]))
    if kind == 2:
        n_labels = int(rng.integers(1, n_types + 3))
        return rng.integers(0, high, size=(n_types, n_labels), dtype=np.int64)
    # A label made for each type, and sometimes one that suits nobody too badly.
    costs = rng.integers(1, high + 1, size=(n_types, n_types), dtype=np.int64)
    np.fill_diagonal(costs, rng.integers(0, 2, size=n_types))
    middle = np.full((n_types, 1), (high + 1) // 2, dtype=np.int64)
    return np.hstack([costs, middle]) if kind <= 4 else costs


def random_problem(
    rng: np.random.Generator,
    rows: tuple[int, int] = (1, 24),
    columns: tuple[int, int] = (1, 6),
    depths: tuple[int, ...] = (0, 1, *(-1, 2, 3, 4) * 4, 2, 3),
    max_types: int = 4,
) -> Problem:
    """Draw a problem with any mixture of costs, weights, penalties and limits."""
    # The larger of two draws: tiny problems are worth having, but seldom have a split.
    n_rows = int(rng.integers(rows[0], rows[1] + 1, size=2).max())
    n_columns = int(rng.integers(columns[0], columns[1] + 1, size=2).max())
    n_types = min(max_types, int(rng.choice([1, *(2,) * 15, *(3,) * 6, *(4,) * 3])))
    matrix = random_columns(rng, n_rows, n_columns)
    costs = random_costs(rng, n_types)
    weights = random_weights(rng, n_rows)
    problem = Problem(
        matrix,
        random_types(rng, matrix, n_types),
        costs,
        weights,
        error_scale=int(rng.choice([1, 1, 1, 2, 7, 1000])),
        max_depth=int(rng.choice(depths)),
        max_splits=int(rng.integers(0, 8)) if rng.random() < 0.25 else -1,
        min_leaf=int(rng.integers(2, 6)) if rng.random() < 0.3 else 1,
    )
    if problem.magnitude() > SAFE:
        problem = problem.but(weights=None)
    penalised = problem.but(split_penalty=random_penalty(rng, problem))
    return penalised if penalised.magnitude() <= SAFE else problem


def random_penalty(rng: np.random.Generator, problem: Problem) -> int:
    """Zero every other time, else from one unit (ties) to more than the cost of a leaf."""
    if rng.random() < 0.55:
        return 0
    oracle = problem.oracle()
    root = oracle.leaf_cost(oracle.root)
    unit = problem.error_scale * (1 if problem.weights is None else int(problem.weights.min()))
    choices = [1, 1, unit, unit, 2 * unit, unit + 1, *(root // k + 1 for k in (30, 20, 10, 6, 1))]
    return int(choices[int(rng.integers(0, len(choices)))])


def random_problems(
    seed: int, count: int, rows: tuple[int, int] = (1, 24), **ranges: Any
) -> Iterator[Problem]:
    """Draw ``count`` problems; each depends on its own number only, so that it can be redrawn."""
    for number in range(count):
        yield random_problem(np.random.default_rng([FUZZ, seed, number]), rows, **ranges)
