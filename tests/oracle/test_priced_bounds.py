"""Bounds between row sets where tests have prices: the theorem by enumeration, and its use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from tests.oracle.test_test_costs import Case, Enumeration, check, random_cases
from tests.problems import FUZZ
from tests.registry import settings_one_by_one


def price(case: Case, feature: int, tested: frozenset[int]) -> int:
    """Price of a feature after others, per unit of weight."""
    column = int(np.flatnonzero(case.feature == feature)[0])
    return case.test_price(column, tested)


class Bounds:
    """The numbers of the theorem below the splits of the root, by definition."""

    def __init__(self, case: Case, depth: int) -> None:
        self.case = case
        self.used = sorted(set(case.feature.tolist()))
        prices = sorted((price(case, f, frozenset()) for f in self.used), reverse=True)
        self.path = sum(prices[:depth])
        self.discount: dict[int, int] = {}
        for group in {int(case.group[f]) for f in self.used} - {-1}:
            members = [f for f in self.used if case.group[f] == group]
            lost = [int(case.price[f] - case.discounted[f]) for f in members]
            self.discount[group] = max(lost)
        sizes = [int(case.group[f]) for f in self.used]
        self.lost = sum(d for g, d in self.discount.items() if sizes.count(g) > 1)

    def above(self, h: int) -> int:
        """How much more a row pays without h having been tested."""
        reduced = int(self.case.discounted[h])
        group = int(self.case.group[h])
        dear = int(self.case.price[h])
        return max(dear, self.discount[group] + reduced) if group >= 0 else dear

    def beside(self, h: int, f: int) -> int:
        """How much more it pays after f instead of h."""
        if h == f:
            return 0
        group = int(self.case.group[h])
        if group >= 0 and group == int(self.case.group[f]):
            return int(self.case.discounted[h])
        return self.above(h)


def test_a_set_bounds_another_as_the_theorem_says() -> None:
    """All children of all pairs of splits, and the node above them; leaves of one row."""
    for case in random_cases(80, 150, rows=(2, 12), columns=(2, 5), depths=(2,)):
        case = replace(case, options={**case.options, "min_leaf": 1, "max_splits": -1})
        oracle, depth = Enumeration(case), 2
        bounds = Bounds(case, depth)
        worst = case.costs.max(axis=1)

        def all_worst(rows: int, worst: np.ndarray = worst) -> int:
            return sum(int(c) for i, c in enumerate(worst) if rows >> i & 1)

        def value(rows: int, tested: frozenset[int], oracle: Enumeration = oracle) -> float:
            return min(oracle.exactly(rows, 2, tested))

        sides = [
            (int(case.feature[c]), rows)
            for c, ones in enumerate(oracle.ones)
            for rows in (oracle.root & ones, oracle.root & ~ones)
            if 0 < rows.bit_count() < oracle.root.bit_count()
        ]
        for (h, a), (f, b) in product(sides, sides):
            lost = all_worst(b & ~a) + bounds.path * case.weight(b & ~a)
            more = min(bounds.beside(h, f) + bounds.lost, bounds.path) * case.weight(a & b)
            assert value(a, frozenset({h})) >= value(b, frozenset({f})) - lost - more, case
        for h, a in sides:
            rest = oracle.root & ~a
            lost = all_worst(rest) + bounds.path * case.weight(rest)
            more = min(bounds.above(h), bounds.path) * case.weight(a)
            assert value(a, frozenset({h})) >= value(oracle.root, frozenset()) - lost - more, case


def test_discounts_are_lost_with_tests_that_separate_nothing() -> None:
    """A cheap test gives a discount on a dear one, but not where it tells no rows apart."""
    columns = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.uint8)
    case = Case(
        columns,
        np.array([[0, 100], [100, 0], [100, 0]]),
        np.array([0, 1], dtype=np.int32),
        np.array([0, 0], dtype=np.int32),
        np.array([1, 40]),
        np.array([1, 0]),
        None,
        {"max_depth": 2, "max_splits": -1, "min_leaf": 1, "split_penalty": 0, "error_scale": 1},
    )
    oracle = Enumeration(case)
    whole, part = oracle.root, 0b011
    assert min(oracle.exactly(whole, 2, frozenset())) == 3
    assert min(oracle.exactly(part, 2, frozenset())) == 80
    check(case, case.solve(), 3)
    # The part has no rows that the whole lacks: all of the difference is the lost discount.
    bounds = Bounds(case, 2)
    assert bounds.lost == 40
    assert 80 - bounds.lost * case.weight(part) <= 3


def threshold_cases(seed: int, count: int) -> Iterator[Case]:
    """Thresholds of a few numbers, two or three classes, a cost matrix, and prices that matter."""
    rng = np.random.default_rng([seed, FUZZ])
    for _ in range(count):
        n, n_features = int(rng.integers(12, 40)), int(rng.integers(2, 5))
        numbers = rng.integers(0, 5, (n, n_features))
        cuts = [(f, cut) for f in range(n_features) for cut in range(1, int(rng.integers(2, 5)))]
        table = np.array([[numbers[i, f] < cut for f, cut in cuts] for i in range(n)])
        n_classes = int(rng.integers(2, 4))
        signal = numbers[:, 0] + rng.integers(0, 4, n)
        matrix = rng.integers(1, 60, (n_classes, n_classes)) * (1 - np.eye(n_classes, dtype=int))
        dear = rng.integers(0, 12, n_features)
        reduced = dear - np.minimum(dear, rng.integers(0, 8))
        yield Case(
            table.astype(np.uint8),
            matrix[signal % n_classes].astype(np.int64),
            np.array([f for f, _ in cuts], dtype=np.int32),
            rng.integers(-1, 2, n_features).astype(np.int32),
            dear.astype(np.int64),
            reduced.astype(np.int64),
            None,
            {
                "max_depth": int(rng.choice([3, 3, 4])),
                "max_splits": -1,
                "min_leaf": int(rng.choice([1, 1, 1, 2])),
                "split_penalty": int(rng.choice([0, 0, 2])),
                "error_scale": int(rng.choice([1, 3])),
            },
        )


def test_bounds_of_prices_leave_the_optimum_unchanged() -> None:
    """Where thresholds bound each other; each bound alone and all together."""
    settings = [{}, *settings_one_by_one()]
    for k, case in enumerate(threshold_cases(81, 60)):
        optimum = Enumeration(case).value()
        check(case, case.solve(), optimum)
        setting = settings[k % len(settings)]
        check(case, case.solve(**setting), optimum, setting)


def test_bounds_of_prices_save_work() -> None:
    """On thresholds fewer splits are tried than without them."""
    tried = {True: 0, False: 0}
    for case in threshold_cases(82, 20):
        for used in tried:
            found = case.solve(use_split_similarity=used, use_nested_sets=used)
            tried[used] += found.counters["splits_tried"]
    assert tried[True] < tried[False]
