"""Problems of ordered features: ranks for the engine, 0/1 columns for the oracle.

A feature has ranks 0, 1, ..., and its test number p holds for a row whose rank is at most p. So a
problem of ordered features is a problem of 0/1 columns, one for each feature and position, and the
brute force over trees of 0/1 columns is a brute force over all thresholds. The columns are made
here, by comparison; the engine never sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from tests.oracle.evaluate import TreeFacts, check_result
from tests.problems import (
    FUZZ,
    SAFE,
    Problem,
    make_problem,
    random_costs,
    random_penalty,
    random_types,
    random_weights,
)


@dataclass(frozen=True, eq=False)
class Ordered:
    """Ranks by feature and row, and the same problem over 0/1 columns."""

    ranks: NDArray[np.int32]
    n_ranks: NDArray[np.int32]
    problem: Problem

    def solve(self, callback: Any = None, /, **options: Any) -> Any:
        """Run the engine on the ranks; ``options`` come on top of the problem's own."""
        problem = self.problem
        return _core.solve_ordered(
            self.ranks,
            self.n_ranks,
            problem.row_types,
            problem.cost_matrix,
            problem.weights,
            {**problem.options(), **options},
            callback,
        )

    def solve_path(self, callback: Any = None, /, **options: Any) -> Any:
        """Run the engine for every number of splits."""
        problem = self.problem
        return _core.solve_ordered_path(
            self.ranks,
            self.n_ranks,
            problem.row_types,
            problem.cost_matrix,
            problem.weights,
            {**problem.options(), **options},
            callback,
        )

    def check(self, result: Any, optimum: int | None = None, about: Any = "") -> TreeFacts:
        """Check what every result promises; node tests count features, then positions."""
        return check_result(result, self.problem, optimum, (about, self))

    def but(self, **changes: Any) -> Ordered:
        """Return a copy with some fields of the problem changed."""
        return replace(self, problem=self.problem.but(**changes))

    def __repr__(self) -> str:
        problem = self.problem
        weights = None if problem.weights is None else problem.weights.tolist()
        limits = "".join(f", {name}={value}" for name, value in problem.options().items())
        return (
            f"make_ordered({self.ranks.tolist()}, {problem.row_types.tolist()}, "
            f"{problem.cost_matrix.tolist()}, {weights}, n_ranks={self.n_ranks.tolist()}{limits})"
        )


def expand(ranks: NDArray[np.int32], n_ranks: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return a 0/1 matrix of shape (rows, tests): features in order, positions in order."""
    columns = [
        ranks[feature] <= position
        for feature, count in enumerate(n_ranks)
        for position in range(count - 1)
    ]
    return np.array(columns, dtype=np.uint8).reshape(len(columns), ranks.shape[1]).T


def make_ordered(
    ranks: Any,
    row_types: Any,
    cost_matrix: Any = None,
    weights: Any = None,
    *,
    n_ranks: Any = None,
    **limits: Any,
) -> Ordered:
    """Build a problem from lists; without ``n_ranks`` the largest rank of a feature occurs."""
    table = np.ascontiguousarray(ranks, dtype=np.int32)
    counts = table.max(axis=1) + 1 if n_ranks is None else n_ranks
    counts = np.asarray(counts, dtype=np.int32)
    columns = expand(table, counts)
    problem = make_problem(columns, row_types, cost_matrix, weights, **limits)
    return Ordered(table, counts, problem)


def random_ranks(
    rng: np.random.Generator, n_rows: int, n_features: int, most_ranks: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Draw features with ties, copies, reversals, constants, ranks that no row has, equal rows."""
    n_ranks = rng.integers(1, most_ranks + 1, size=(2, n_features)).max(axis=0)
    features = [rng.integers(0, count, size=n_rows) for count in n_ranks]
    for f in range(n_features):
        kind = rng.random()
        source = int(rng.integers(0, f)) if f else 0
        if kind < 0.15:
            # One value is common and the others are rare.
            features[f] = np.minimum(features[f], rng.integers(0, n_ranks[f], size=n_rows))
        elif kind < 0.2:
            features[f] = np.full(n_rows, rng.integers(0, n_ranks[f]))
        elif kind < 0.3 and f:
            n_ranks[f] = n_ranks[source]
            features[f] = features[source].copy()
        elif kind < 0.4 and f:
            n_ranks[f] = n_ranks[source]
            features[f] = n_ranks[f] - 1 - features[source]
        elif kind < 0.5 and f:
            # Nearly the same order as another feature.
            n_ranks[f] = n_ranks[source]
            moved = features[source] + rng.integers(-1, 2, size=n_rows)
            features[f] = np.clip(moved, 0, n_ranks[f] - 1)
    ranks = np.array(features)
    if n_rows > 2 and rng.random() < 0.2:
        ranks = ranks[:, rng.integers(0, max(1, n_rows // 2), size=n_rows)]
    return np.ascontiguousarray(ranks, dtype=np.int32), n_ranks.astype(np.int32)


def random_ordered(
    rng: np.random.Generator,
    rows: tuple[int, int] = (1, 14),
    features: tuple[int, int] = (1, 4),
    most_ranks: int = 6,
    depths: tuple[int, ...] = (0, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4),
    max_types: int = 4,
) -> Ordered:
    """Draw a problem with any mixture of costs, weights, penalties and limits."""
    n_rows = int(rng.integers(rows[0], rows[1] + 1, size=2).max())
    n_features = int(rng.integers(features[0], features[1] + 1))
    n_types = min(max_types, int(rng.choice([1, *(2,) * 12, *(3,) * 6, *(4,) * 5, 5])))
    ranks, n_ranks = random_ranks(rng, n_rows, n_features, most_ranks)
    columns = expand(ranks, n_ranks)
    seen = columns if columns.shape[1] else np.zeros((n_rows, 1), dtype=np.uint8)
    problem = make_problem(
        columns,
        random_types(rng, seen, n_types),
        random_costs(rng, n_types),
        random_weights(rng, n_rows),
        error_scale=int(rng.choice([1, 1, 1, 2, 7, 1000])),
        max_depth=int(rng.choice(depths)),
        min_leaf=int(rng.integers(2, 5)) if rng.random() < 0.25 else 1,
    )
    if problem.magnitude() > SAFE:
        problem = problem.but(weights=None)
    penalised = problem.but(split_penalty=random_penalty(rng, problem))
    return Ordered(ranks, n_ranks, penalised if penalised.magnitude() <= SAFE else problem)


def random_ordereds(seed: int, count: int, **ranges: Any) -> Iterator[Ordered]:
    """Draw ``count`` problems; each depends on its own number only, so that it can be redrawn."""
    for number in range(count):
        yield random_ordered(np.random.default_rng([FUZZ, 14, seed, number]), **ranges)
