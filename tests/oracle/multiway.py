"""Problems over tests with any number of outcomes, their optimum, and what a tree is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from tests.oracle.brute_force import BruteForce
from tests.problems import FUZZ


@dataclass(frozen=True, eq=False)
class MultiwayProblem:
    """Columns, the tests over them, costs and limits of one solve (-1: no limit)."""

    columns: NDArray[np.uint8]
    tests: tuple[tuple[int, ...], ...]
    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None
    error_scale: int = 1
    split_penalty: int = 0
    leaf_penalty: int = 0
    max_depth: int = -1
    min_leaf: int = 1
    max_splits: int = -1

    def but(self, **changes: Any) -> MultiwayProblem:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def solve(self, callback: Any = None, /, **options: Any) -> Any:
        """Run the engine; ``options`` come on top of the problem's own."""
        return _core.solve_multiway(*self._arguments(options), callback)

    def solve_path(self, **options: Any) -> Any:
        """Run the engine for all numbers of splits; penalties do not count."""
        return _core.solve_multiway_path(*self._arguments(options))

    def _arguments(self, options: dict[str, Any]) -> tuple[Any, ...]:
        names = ("error_scale", "split_penalty", "leaf_penalty", "max_depth", "min_leaf")
        return (
            self.columns,
            self.row_types,
            self.cost_matrix,
            self.weights,
            [np.array(test, dtype=np.int32) for test in self.tests],
            {**{name: getattr(self, name) for name in (*names, "max_splits")}, **options},
        )

    def row_sets(self) -> list[tuple[int, ...]]:
        """Row sets of the outcomes of each test, as the oracle takes them."""
        everything = (1 << len(self.row_types)) - 1
        ones = [sum(1 << i for i in np.flatnonzero(column).tolist()) for column in self.columns.T]
        return [
            (ones[test[0]], everything ^ ones[test[0]])
            if len(test) == 1
            else tuple(ones[c] for c in test)
            for test in self.tests
        ]

    def oracle(self) -> BruteForce:
        """All trees, for this problem's costs."""
        return BruteForce(
            self.row_sets(),
            self.row_types.tolist(),
            self.cost_matrix.tolist(),
            None if self.weights is None else self.weights.tolist(),
            error_scale=self.error_scale,
            split_penalty=self.split_penalty,
            leaf_penalty=self.leaf_penalty,
            min_leaf=self.min_leaf,
        )

    def optimum(self) -> tuple[int, int]:
        """Least value, and the fewest splits that reach it, by brute force."""
        limits = (None if limit < 0 else limit for limit in (self.max_depth, self.max_splits))
        return self.oracle().optimum(*limits)[:2]

    def check(self, result: Any, optimum: int | None = None, about: Any = "") -> tuple[int, int]:
        """Check what every result promises; return value and splits of its tree.

        The value is computed from the labels that the tree carries, not from the best labels.
        """
        where = f"{self!r} {about}"
        value, splits = self.tree_value(result)
        assert value == result.upper_bound, (
            f"a tree of {value} claims {result.upper_bound}; {where}"
        )
        assert result.lower_bound <= result.upper_bound, where
        if result.status == "optimal":
            assert result.lower_bound == result.upper_bound, where
        if optimum is not None:
            bounds = (result.lower_bound, result.upper_bound)
            assert bounds[0] <= optimum <= bounds[1], f"{optimum} not in {bounds}; {where}"
        return value, splits

    def tree_value(self, result: Any) -> tuple[int, int]:
        """Value and splits of a tree, with the labels that it carries."""
        test, first_child, label = (
            [int(v) for v in array] for array in (result.test, result.first_child, result.label)
        )
        rows: dict[int, list[int]] = {0: list(range(len(self.row_types)))}
        splits = leaves = cost = 0
        pending = [(0, 0)]
        while pending:
            node, depth = pending.pop()
            if test[node] >= 0:
                splits += 1
                assert label[node] == -1
                assert self.max_depth < 0 or depth < self.max_depth
                parts = self._parts(self.tests[test[node]], rows[node])
                for k, part in enumerate(parts):
                    child = first_child[node] + k
                    assert node < child < len(test)
                    assert child not in rows, "reached twice"
                    rows[child] = part
                    pending.append((child, depth + 1))
                continue
            assert first_child[node] == -1
            assert 0 <= label[node] < self.cost_matrix.shape[1]
            leaves += bool(rows[node])
            assert not rows[node] or len(rows[node]) >= self.min_leaf or node == 0
            for i in rows[node]:
                weight = 1 if self.weights is None else int(self.weights[i])
                cost += weight * int(self.cost_matrix[self.row_types[i], label[node]])
        assert len(rows) == len(test), "some node is not reached"
        assert self.max_splits < 0 or splits <= self.max_splits
        value = self.error_scale * cost + self.split_penalty * splits + self.leaf_penalty * leaves
        return value, splits

    def _parts(self, test: tuple[int, ...], rows: list[int]) -> list[list[int]]:
        if len(test) == 1:
            return [[i for i in rows if self.columns[i, test[0]] == bit] for bit in (1, 0)]
        return [[i for i in rows if self.columns[i, c]] for c in test]

    def __repr__(self) -> str:
        shown = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}
        return "MultiwayProblem(" + ", ".join(f"{k}={v}" for k, v in shown.items()) + ")"


def random_multiway_problems(
    seed: int, count: int, *, rows: tuple[int, int] = (1, 24), features: tuple[int, int] = (1, 5)
) -> Iterator[MultiwayProblem]:
    """Yield small problems of all kinds: binary, multiway and both; per split and per leaf."""
    rng = np.random.default_rng([seed, FUZZ, 7])
    for _ in range(count):
        n_rows = int(rng.integers(rows[0], rows[1] + 1))
        columns: list[NDArray[Any]] = []
        tests: list[tuple[int, ...]] = []
        for _ in range(int(rng.integers(features[0], features[1] + 1))):
            n_categories = int(rng.integers(2, 5))
            codes = rng.integers(0, n_categories, n_rows)
            first = len(columns)
            columns += [codes == k for k in range(n_categories)]
            kind = rng.integers(0, 4)
            if kind > 0:
                tests.append(tuple(range(first, len(columns))))
            if kind != 1:
                tests += [(c,) for c in range(first, len(columns))]
        yield _with_random_costs(rng, np.array(columns, dtype=np.uint8).T, tests)


def _with_random_costs(
    rng: np.random.Generator, columns: NDArray[np.uint8], tests: list[tuple[int, ...]]
) -> MultiwayProblem:
    n_rows = len(columns)
    n_types = int(rng.integers(2, 5))
    if rng.random() < 0.7:
        costs = (1 - np.eye(n_types, dtype=np.int64)) * rng.integers(1, 4, (n_types, 1))
        costs = costs if rng.random() < 0.5 else np.minimum(costs, 1)
    else:
        costs = rng.integers(0, 6, (n_types, int(rng.integers(1, 5))))
    # Types that follow the columns to some extent, so that trees are worth something.
    scores = columns @ rng.integers(0, 3, columns.shape[1])
    types = np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_types, n_rows), scores % n_types)
    scale = int(rng.integers(1, 12))
    per_leaf = rng.random() < 0.4
    return MultiwayProblem(
        np.asfortranarray(columns),
        tuple(tests),
        types.astype(np.int32),
        costs.astype(np.int64),
        rng.integers(1, 9, n_rows) if rng.random() < 0.4 else None,
        scale,
        int(rng.integers(0, 2 * scale + 1)) if not per_leaf or rng.random() < 0.3 else 0,
        int(rng.integers(1, scale + 2)) if per_leaf else 0,
        int(rng.choice([-1, -1, -1, 0, 1, 2, 3, 4])),
        int(rng.choice([1, 1, 1, 2, 3])),
    )
