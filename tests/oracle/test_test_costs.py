"""Prices of tests against an enumeration that carries the set of what was paid for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import _core
from tests.problems import FUZZ, random_columns
from tests.registry import all_isas, all_searches, settings_one_by_one


@dataclass(frozen=True, eq=False)
class Case:
    """Rows, costs of labels, prices of tests and limits (-1: none)."""

    columns: NDArray[np.uint8]
    costs: NDArray[np.int64]
    feature: NDArray[np.int32]
    group: NDArray[np.int32]
    price: NDArray[np.int64]
    discounted: NDArray[np.int64]
    weights: NDArray[np.int64] | None
    options: dict[str, int]

    def extra(self) -> dict[str, Any]:
        """The prices as the core takes them."""
        names = ("feature", "group", "price", "discounted")
        prices = {name: getattr(self, name) for name in names}
        return prices if self.weights is None else {**prices, "weights": self.weights}

    def solve(self, **options: Any) -> Any:
        """Run the engine."""
        given = {**self.options, **options}
        return _core.solve_vector(
            self.columns, self.costs, "min_label", None, given, None, self.extra()
        )

    def solve_path(self, **options: Any) -> Any:
        """Run the engine for every number of splits."""
        given = {**self.options, **options}
        return _core.solve_vector_path(
            self.columns, self.costs, "min_label", None, given, None, self.extra()
        )

    def test_price(self, column: int, paid: frozenset[int]) -> int:
        """Price of a test per unit of weight, by definition."""
        feature = int(self.feature[column])
        if feature in paid:
            return 0
        group = int(self.group[feature])
        known = group >= 0 and any(int(self.group[other]) == group for other in paid)
        return int(self.discounted[feature] if known else self.price[feature])

    def weight(self, rows: int) -> int:
        """Weight of a set of rows."""
        return sum(
            1 if self.weights is None else int(self.weights[i])
            for i in range(len(self.columns))
            if rows >> i & 1
        )


class Enumeration:
    """Least cost, tests included, with exactly k splits, by trying all trees."""

    def __init__(self, case: Case) -> None:
        self.case = case
        n = len(case.columns)
        self.root = (1 << n) - 1
        self.ones = [
            sum(1 << i for i in range(n) if case.columns[i, j])
            for j in range(case.columns.shape[1])
        ]
        self.known: dict[tuple[int, int, frozenset[int]], list[float]] = {}

    def leaf(self, rows: int) -> int:
        """Cost of the best label."""
        chosen = [i for i in range(len(self.case.columns)) if rows >> i & 1]
        return int(self.case.costs[chosen].sum(axis=0).min())

    def exactly(self, rows: int, depth: int, paid: frozenset[int]) -> list[float]:
        """Least cost with exactly k splits, by k."""
        key = (rows, depth, paid)
        if key in self.known:
            return self.known[key]
        best: list[float] = [self.leaf(rows)]
        if depth > 0:
            for column, ones in enumerate(self.ones):
                yes, no = rows & ones, rows & ~ones
                if min(yes.bit_count(), no.bit_count()) < max(self.case.options["min_leaf"], 1):
                    continue
                then = paid | {int(self.case.feature[column])}
                test = self.case.test_price(column, paid) * self.case.weight(rows)
                first = self.exactly(yes, depth - 1, then)
                second = self.exactly(no, depth - 1, then)
                best += [math.inf] * (len(first) + len(second) - len(best))
                for (a, x), (b, y) in product(enumerate(first), enumerate(second)):
                    best[a + b + 1] = min(best[a + b + 1], test + x + y)
        self.known[key] = best
        return best

    def costs(self) -> list[float]:
        """Least cost with exactly k splits, within the depth of the case."""
        depth = self.case.options["max_depth"]
        return self.exactly(self.root, len(self.case.columns) if depth < 0 else depth, frozenset())

    def value(self) -> int:
        """Least value within the limits."""
        options = self.case.options
        most = options["max_splits"]
        return min(
            int(options["error_scale"] * cost + options["split_penalty"] * k)
            for k, cost in enumerate(self.costs())
            if cost < math.inf and (most < 0 or k <= most)
        )


def tree_cost(case: Case, result: Any) -> int:
    """Send the rows through the tree of a result and add up what they pay."""
    total = 0
    for i, row in enumerate(case.columns):
        node, paid = 0, frozenset[int]()
        weight = 1 if case.weights is None else int(case.weights[i])
        while result.test[node] >= 0:
            column = int(result.test[node])
            total += weight * case.test_price(column, paid)
            paid |= {int(case.feature[column])}
            node = int(result.first_child[node]) + (row[column] == 0)
        total += int(case.costs[i, result.label[node]])
    return total


def check(case: Case, result: Any, optimum: int, about: Any = "") -> None:
    """Proven, worth what it says, and no tree is better."""
    splits = int((result.test >= 0).sum())
    worth = case.options["error_scale"] * tree_cost(case, result)
    worth += case.options["split_penalty"] * splits
    assert result.status == "optimal", (case, about)
    assert worth == result.upper_bound == result.lower_bound == optimum, (case, about)


def random_cases(
    seed: int,
    count: int,
    rows: tuple[int, int] = (1, 18),
    columns: tuple[int, int] = (1, 6),
    depths: tuple[int, ...] = (0, 1, 2, 3, 4),
) -> Iterator[Case]:
    """Cheap and dear tests, features of several columns, groups with discounts, weights."""
    rng = np.random.default_rng([seed, FUZZ])
    for _ in range(count):
        n = int(rng.integers(rows[0], rows[1] + 1))
        table = random_columns(rng, n, int(rng.integers(columns[0], columns[1] + 1)))
        n_features = int(rng.integers(1, table.shape[1] + 1))
        most = int(rng.choice([5, 40, 1000]))
        costs = rng.integers(0, most + 1, (n, int(rng.integers(1, 4))))
        price = rng.integers(0, max(2, most // int(rng.choice([2, 5, 20]))), n_features)
        discounted = (price * rng.choice([0.0, 0.3, 1.0], n_features)).astype(np.int64)
        weighted = rng.random() < 0.3
        yield Case(
            table,
            np.ascontiguousarray(costs, dtype=np.int64),
            rng.integers(0, n_features, table.shape[1]).astype(np.int32),
            rng.integers(-1, max(1, n_features // 2), n_features).astype(np.int32),
            price.astype(np.int64),
            discounted,
            rng.integers(1, 4, n).astype(np.int64) if weighted else None,
            {
                "max_depth": int(rng.choice(depths)),
                "max_splits": int(rng.choice([-1, -1, -1, 1, 3, 5])),
                "min_leaf": int(rng.choice([1, 1, 1, 2, 3])),
                "split_penalty": int(rng.choice([0, 0, 1, max(1, most // 5)])),
                "error_scale": int(rng.choice([1, 1, 3])),
            },
        )


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_is_the_least_over_all_trees(seed: int) -> None:
    """Default options, on problems with every kind of price."""
    for case in random_cases(seed, 250):
        check(case, case.solve(), Enumeration(case).value())


@pytest.mark.parametrize("seed", range(10, 12))
def test_every_switch_alone_leaves_the_optimum_unchanged(seed: int) -> None:
    """Each technique off by itself, and on by itself."""
    for case in random_cases(seed, 50):
        optimum = Enumeration(case).value()
        for setting in settings_one_by_one():
            check(case, case.solve(**setting), optimum, setting)


def test_every_search_and_instruction_set() -> None:
    """Orders of search, kernels and threads differ in work only."""
    settings = cycle(product(all_searches(), all_isas(), (True, False), (1, 3)))
    for case in random_cases(20, 250):
        search, isa, smallest, threads = next(settings)
        options = {"search": search, "isa": isa, "smallest": smallest, "threads": threads}
        check(case, case.solve(**options), Enumeration(case).value(), options)


def test_no_depth_limit() -> None:
    """Best-first and depth-first, with a penalty."""
    settings = cycle(all_searches())
    for case in random_cases(30, 150, rows=(1, 12), columns=(1, 5), depths=(-1, 5, 6)):
        penalty = max(1, case.options["split_penalty"])
        sparse = replace(case, options={**case.options, "split_penalty": penalty})
        search = next(settings)
        check(sparse, sparse.solve(search=search), Enumeration(sparse).value(), search)


def test_many_columns() -> None:
    """More columns than a register holds."""
    isas = cycle(all_isas())
    for case in random_cases(40, 30, rows=(50, 90), columns=(15, 36), depths=(1, 2, 2)):
        free = replace(case, options={**case.options, "max_splits": -1})
        check(free, free.solve(isa=next(isas)), Enumeration(free).value())


def test_every_entry_of_the_path_is_optimal() -> None:
    """Costs by number of splits, tests included."""
    for case in random_cases(50, 150):
        options = {**case.options, "max_splits": 7, "split_penalty": 0, "error_scale": 1}
        free = replace(case, options=options)
        exact = Enumeration(free).costs()[:8]
        least = [min(exact[: k + 1]) for k in range(len(exact))]
        expected = {k: c for k, c in enumerate(least) if k == 0 or c < least[k - 1]}
        result = free.solve_path()
        assert result.status == "optimal", free
        assert {entry[0]: entry[2] for entry in result.entries} == expected, free


def test_free_tests_change_nothing() -> None:
    """With all prices zero the problem is that without prices."""
    for case in random_cases(60, 100):
        free = replace(case, price=case.price * 0, discounted=case.price * 0)
        plain = _core.solve_vector(case.columns, case.costs, "min_label", None, case.options)
        assert free.solve().upper_bound == plain.upper_bound, case


def test_prices_that_make_no_sense_are_refused() -> None:
    """The message says which."""
    case = next(random_cases(70, 1, columns=(3, 3)))
    n = len(case.price)
    with pytest.raises(ValueError, match="price of feature 0 is negative"):
        replace(case, price=np.full(n, -1), discounted=np.full(n, -1)).solve()
    with pytest.raises(ValueError, match="discounted price of feature 0 is above its price"):
        replace(case, price=np.zeros(n, dtype=np.int64), discounted=np.ones(n, dtype=int)).solve()
    with pytest.raises(ValueError, match="feature of column 1 is outside"):
        replace(case, feature=np.array([0, n, 0], dtype=np.int32)).solve()
    with pytest.raises(ValueError, match="one entry per feature"):
        replace(case, group=np.zeros(n + 1, dtype=np.int32)).solve()
