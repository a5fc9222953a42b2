"""Problems whose leaves cost a function of a sum of vectors, their brute force, and generators."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.engine._vector import LinearLoss, RateLoss
from tests.oracle.brute_force import BruteForce, Optimum, Test, binary_tests
from tests.problems import FUZZ, random_columns


def outputs_of(kind: str, n_statistics: int, scale: int) -> tuple[int, ...]:
    """What the core is told of several outputs: numbers of labels, or factors of squares."""
    if kind == "square_outputs":
        return tuple(scale * factor for factor in range(1, n_statistics - 1))
    sizes: list[int] = []
    while kind == "label_outputs" and sum(sizes) < n_statistics:
        sizes.append(min(1 + (len(sizes) + 1) % 3, n_statistics - sum(sizes)))
    return tuple(sizes)


RATE_SCALE = 50  # units of cost of rates
ABOVE, BELOW = 3, 2  # what a quantile's targets above and below it pay


def rate_cost(sums: Sequence[int], scale: int) -> int:
    """Cost of one rate of events for rows with these events, exposure and own rates."""
    events, exposure, own = sums
    return own - (math.ceil(scale * events * math.log(events / exposure) - 1e-9) if events else 0)


def linear_loss(most: int) -> LinearLoss:
    """The squared error around a line of one column, in whole units."""
    return LinearLoss(True, (0.0,), (0.0,), 1.0, most)


def quantile_cost(vectors: Sequence[Sequence[int]]) -> int:
    """Least loss around any target."""

    def loss(value: int) -> int:
        return sum(w * max(ABOVE * (y - value), BELOW * (value - y)) for w, y in vectors)

    return min(loss(y) for _, y in vectors)


def leaf_cost(kind: str, sums: Sequence[int], scale: int = 1) -> int:
    """Cost of a leaf with these sums, by definition."""
    if kind == "rates":
        return rate_cost(sums, scale)
    if kind == "linear":
        return int(linear_loss(2**50).costs(np.array([sums], dtype=np.int64))[0])
    outputs = outputs_of(kind, len(sums), scale)
    if kind == "square_outputs":
        w, *totals, q = sums
        # Squares of every output are rounded down by themselves.
        return scale * q + sum(-f * s * s // w for f, s in zip(outputs, totals, strict=True))
    if kind == "label_outputs":
        ends = [sum(outputs[:k]) for k in range(len(outputs) + 1)]
        return sum(min(sums[a:b]) for a, b in pairwise(ends))
    if kind == "squares":
        w, s, q = sums
        return (scale * (q * w - s * s)) // w
    if kind == "unlawful":  # neither superadditive nor bounded by anything known of single rows
        return sum((i + 2) * (value % 7) for i, value in enumerate(sums))
    return min(sums)


def ask(kind: str, sums: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same, for many sums at once, as the engine calls it."""
    assert (sums[:, -1] >= 0).all()
    if kind == "unlawful":
        factors = np.arange(2, 2 + sums.shape[1])
        return (sums % 7) @ factors, np.zeros(len(sums), dtype=np.int32)
    return sums.min(axis=1), sums.argmin(axis=1).astype(np.int32)


class VectorBruteForce(BruteForce):
    """The brute force with another leaf cost, and rows that stand for several."""

    def __init__(
        self, tests: Sequence[Test], problem: VectorCase, error_scale: int, split_penalty: int
    ) -> None:
        n = len(problem.statistics)
        super().__init__(
            tests,
            [0] * n,
            [[0]],
            error_scale=error_scale,
            split_penalty=split_penalty,
            min_leaf=problem.min_leaf,
        )
        self.vectors = problem.statistics.tolist()
        self.counts = [1] * n if problem.row_counts is None else problem.row_counts.tolist()
        self.problem = problem

    def leaf_cost(self, rows: int) -> int:
        """Cost of a set of rows as one leaf."""
        known = self._leaf.get(rows)
        if known is None:
            members = [v for i, v in enumerate(self.vectors) if rows >> i & 1]
            known = self.error_scale * self.problem.leaf_cost(members)
            self._leaf[rows] = known
        return known

    def parts(self, rows: int, test: Test) -> list[int] | None:
        """Row sets of the children, or None when the test may not be used here."""
        found = [rows & outcome for outcome in test if rows & outcome]
        sizes = [sum(c for i, c in enumerate(self.counts) if part >> i & 1) for part in found]
        return None if len(found) < 2 or min(sizes) < self.min_leaf else found


@dataclass(frozen=True, eq=False)
class VectorCase:
    """Data, leaf cost and limits of one solve (-1: no limit)."""

    columns: NDArray[np.uint8]
    statistics: NDArray[np.int64]
    kind: str = "min_label"
    row_counts: NDArray[np.int64] | None = None
    scale: int = 1
    error_scale: int = 1
    split_penalty: int = 0
    max_depth: int = -1
    max_splits: int = -1
    min_leaf: int = 1
    laws: tuple[str, ...] = ()
    _oracles: dict[None, VectorBruteForce] = field(default_factory=dict, repr=False)

    def but(self, **changes: Any) -> VectorCase:
        """Return a copy with some fields changed."""
        return replace(self, **changes, _oracles={})

    def leaf_cost(self, vectors: Sequence[Sequence[int]]) -> int:
        """Cost of a leaf with rows of these vectors."""
        if self.kind == "quantile":
            return quantile_cost(vectors)
        sums = [sum(column) for column in zip(*vectors, strict=True)]
        return leaf_cost(self.kind, sums, self.scale)

    @property
    def whole(self) -> int:
        """Cost of all rows in one leaf."""
        return self.leaf_cost(self.statistics.tolist())

    def oracle(self) -> VectorBruteForce:
        """The brute force for this problem, made once."""
        if None not in self._oracles:
            tests = binary_tests(self.columns.tolist())
            self._oracles[None] = VectorBruteForce(
                tests, self, self.error_scale, self.split_penalty
            )
        return self._oracles[None]

    def limits(self) -> tuple[int | None, int | None]:
        """Limits on depth and splits as the brute force takes them."""
        return (
            None if self.max_depth < 0 else self.max_depth,
            None if self.max_splits < 0 else self.max_splits,
        )

    def optimum(self) -> Optimum:
        """Least value, the fewest splits that reach it and then the least depth."""
        return self.oracle().optimum(*self.limits())

    def optimal_value(self) -> int:
        """Least value within the limits."""
        return self.oracle().value(*self.limits())

    def options(self) -> dict[str, int]:
        """The part of the engine's options that belongs to the problem."""
        return {
            "error_scale": self.error_scale,
            "split_penalty": self.split_penalty,
            "max_depth": self.max_depth,
            "max_splits": self.max_splits,
            "min_leaf": self.min_leaf,
        }

    def extra(self) -> dict[str, Any]:
        """What the core is told of the kind."""
        if self.kind == "squares":
            return {"scale": self.scale}
        if self.kind.endswith("_outputs"):
            outputs = list(outputs_of(self.kind, self.statistics.shape[1], self.scale))
            return {"scale": self.scale, "outputs": outputs}
        if self.kind == "quantile":
            return {"above": ABOVE, "below": BELOW}
        if self.kind == "rates":
            return {"rate_loss": RateLoss(float(self.scale), 1.0)}
        if self.kind == "linear":
            return {"linear_loss": linear_loss(self.whole), "superadditive": True}
        if self.core_kind != "callback":
            return {}
        extra: dict[str, Any] = {"leaf_function": lambda sums: ask(self.kind, sums)}
        if "superadditive" in self.laws:
            extra["superadditive"] = True
        if "worst" in self.laws:
            extra["row_worst"] = self.statistics.max(axis=1)
        return extra

    @property
    def core_kind(self) -> str:
        """The kind as the core knows it."""
        names = {
            "unlawful": "callback",
            "linear": "callback",
            "label_outputs": "min_label",
            "square_outputs": "squares",
        }
        return names.get(self.kind, self.kind)

    def solve(self, **options: Any) -> Any:
        """Run the engine; ``options`` come on top of the problem's own."""
        return _core.solve_vector(
            self.columns,
            self.statistics,
            self.core_kind,
            self.row_counts,
            {**self.options(), **options},
            None,
            self.extra(),
        )

    def solve_path(self, **options: Any) -> Any:
        """Run the engine for every number of splits."""
        return _core.solve_vector_path(
            self.columns,
            self.statistics,
            self.core_kind,
            self.row_counts,
            {**self.options(), **options},
            None,
            self.extra(),
        )

    def __repr__(self) -> str:
        counts = None if self.row_counts is None else self.row_counts.tolist()
        return (
            f"VectorCase({self.columns.tolist()}, {self.statistics.tolist()}, {self.kind!r}, "
            f"{counts}, scale={self.scale}, {self.options()}, laws={self.laws})"
        )


@dataclass(frozen=True)
class TreeFacts:
    """Size and exact value of a tree on the rows of a problem."""

    value: int
    splits: int
    depth: int


def check_tree(result: Any, problem: VectorCase) -> TreeFacts:
    """Route the rows, check limits and structure, and recompute the value of a result's tree."""
    test, first_child = result.test.tolist(), result.first_child.tolist()
    members: dict[int, list[int]] = {0: list(range(len(problem.columns)))}
    depth_of = {0: 0}
    cost = 0
    counts = problem.oracle().counts
    for node, column in enumerate(test):
        rows = members.pop(node)
        assert rows, f"an empty node in {problem!r}"
        if column < 0:
            vectors = [problem.statistics[i].tolist() for i in rows]
            sums = [sum(column) for column in zip(*vectors, strict=True)]
            cost += problem.leaf_cost(vectors)
            if problem.kind in ("min_label", "callback"):
                label = int(result.label[node])
                assert label == sums.index(min(sums)), "the label is not the first of the best"
            if len(test) > 1:
                assert sum(counts[i] for i in rows) >= problem.min_leaf
            continue
        for side, holds in enumerate((1, 0)):
            child = first_child[node] + side
            members[child] = [i for i in rows if problem.columns[i, column] == holds]
            depth_of[child] = depth_of[node] + 1
    assert not members, "the arrays are not a tree"
    splits, depth = sum(column >= 0 for column in test), max(depth_of.values())
    assert problem.max_depth < 0 or depth <= problem.max_depth
    assert problem.max_splits < 0 or splits <= problem.max_splits
    return TreeFacts(problem.error_scale * cost + problem.split_penalty * splits, splits, depth)


def check_optimal(result: Any, problem: VectorCase, about: Any = "") -> TreeFacts:
    """The result is proven, worth what it says, and no tree is better."""
    where = f"{problem!r} {about}"
    facts = check_tree(result, problem)
    assert result.status == "optimal", where
    assert result.lower_bound == result.upper_bound == facts.value, where
    assert facts.value == problem.optimal_value(), where
    return facts


def random_statistics(
    rng: np.random.Generator, kind: str, n_rows: int, weights: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Statistics of every size, with ties, zeros and conflicts."""
    if kind == "squares":
        spread = int(rng.choice([1, 3, 20, 1000]))
        y = rng.integers(-spread, spread + 1, n_rows)
        return np.stack([weights, weights * y, weights * y * y], axis=1).astype(np.int64)
    if kind == "square_outputs":
        spreads = rng.choice([1, 3, 20, 1000], size=int(rng.integers(1, 5)))
        y = np.stack([rng.integers(-spread, spread + 1, n_rows) for spread in spreads], axis=1)
        w, factors = weights[:, None], np.arange(1, len(spreads) + 1)
        q = (factors * w * y * y).sum(axis=1, keepdims=True)
        return np.ascontiguousarray(np.hstack([w, w * y, q]), dtype=np.int64)
    if kind == "quantile":
        spread = int(rng.choice([1, 3, 20, 1000]))
        y = rng.integers(-spread, spread + 1, n_rows)
        return np.stack([weights, y], axis=1).astype(np.int64)
    if kind == "rates":
        events = weights * rng.poisson(float(rng.choice([0.3, 2.0])), n_rows)
        exposure = weights * rng.integers(1, 9, n_rows)
        rates = np.maximum(events, 1) / exposure
        own = np.ceil(RATE_SCALE * events * np.log(rates) + 1e-9) * (events > 0)
        return np.stack([events, exposure, own], axis=1).astype(np.int64)
    if kind == "linear":
        x, y = rng.integers(-4, 5, n_rows), rng.integers(-20, 21, n_rows)
        parts = [np.ones_like(x), y, y * y, x, x * x, x * y]
        return np.stack([weights * part for part in parts], axis=1).astype(np.int64)
    m = int(rng.integers(1, 9 if kind == "label_outputs" else 6))
    most = int(rng.choice([1, 3, 10, 1000, 2**17 if kind in ("callback", "unlawful") else 2**33]))
    costs = rng.integers(0, most + 1, (n_rows, m))
    if rng.random() < 0.5:
        costs[np.arange(n_rows), rng.integers(0, m, n_rows)] = 0
    return np.ascontiguousarray(costs * weights[:, None], dtype=np.int64)


def random_case(
    rng: np.random.Generator,
    kind: str,
    rows: tuple[int, int] = (1, 20),
    columns: tuple[int, int] = (1, 6),
    depths: tuple[int, ...] = (0, 1, 2, 3, 4, -1),
) -> VectorCase:
    """A problem with limits, penalties, weights and repeated rows, each now and then."""
    n = int(rng.integers(rows[0], rows[1] + 1))
    table = random_columns(rng, n, int(rng.integers(columns[0], columns[1] + 1)))
    weights = rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64)
    statistics = random_statistics(rng, kind, n, weights)
    counts = rng.integers(1, 4, n).astype(np.int64) if rng.random() < 0.2 else None
    laws = tuple(
        law for law in ("superadditive", "worst") if kind == "callback" and rng.random() < 0.5
    )
    problem = VectorCase(table, statistics, kind, counts, laws=laws)
    leaf = max(problem.oracle().leaf_cost((1 << n) - 1), 1)
    penalty = int(rng.choice([0, 0, 1, max(1, leaf // 20), max(1, leaf // 5)]))
    return problem.but(
        scale=int(rng.choice([1, 1, 7])) if kind.startswith("square") else 1,
        error_scale=int(rng.choice([1, 1, 3])),
        split_penalty=penalty,
        max_depth=int(rng.choice(depths)),
        max_splits=int(rng.choice([-1, -1, -1, 1, 3, 5])),
        min_leaf=int(rng.choice([1, 1, 1, 2, 3])),
    )


def random_cases(seed: int, count: int, kind: str, **shape: Any) -> Iterator[VectorCase]:
    """Many problems; the same ones for the same seed."""
    rng = np.random.default_rng([seed, FUZZ])
    for _ in range(count):
        yield random_case(rng, kind, **shape)
