"""The truth of the attacks agrees with the brute forces that the rest of the suite trusts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import TableEncoder, metrics
from tests.oracle import areas as area_oracle
from tests.oracle import fair as fair_oracle
from tests.oracle.brute_force import BruteForce, binary_tests
from tests.oracle.fronts import FrontOracle
from tests.oracle.limits import LimitOracle
from tests.oracle.vector import Limits, Prices, best_cost

from . import truth


def _binary(seed: int, n_classes: int = 2) -> tuple[Any, list[int], list[int], list[Fraction]]:
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(4, 10)), int(rng.integers(1, 5))
    table = rng.integers(0, 2, (n_rows, n_columns)).tolist()
    classes = [k if k < n_classes else int(rng.integers(n_classes)) for k in range(n_rows)]
    weights = rng.integers(1, 6, n_rows).tolist()
    return table, classes, weights, [Fraction(w, 7) for w in weights]


@pytest.mark.parametrize("seed", range(20))
def test_the_least_cost_is_that_of_the_brute_force(seed: int) -> None:
    """Weighted errors and a penalty per split, within limits of depth, splits and leaf size."""
    table, classes, weights, halves = _binary(seed, 3)
    amounts = [
        [[Fraction(0) if label == c else w] for label in range(3)]
        for c, w in zip(classes, halves, strict=True)
    ]
    matrix = (1 - np.eye(3, dtype=int)).tolist()
    for min_leaf, max_splits in ((1, None), (2, 2), (3, 1)):
        oracle = BruteForce(
            binary_tests(table), classes, matrix, weights, split_penalty=2, min_leaf=min_leaf
        )
        trees = truth.LabelledTrees(truth.candidates(table), amounts, 2, min_leaf, max_splits)
        least = trees.least(trees.points, Fraction(2, 7))
        assert least == Fraction(oracle.value(2, max_splits), 7)


@pytest.mark.parametrize("seed", range(10))
def test_the_points_are_those_of_the_oracle_for_limits(seed: int) -> None:
    """All sums of all trees, not only the best ones."""
    table, classes, weights, _ = _binary(seed)
    values = [
        [[w * (label != c), w * label - c] for label in range(2)]
        for c, w in zip(classes, weights, strict=True)
    ]
    oracle = LimitOracle(table, values, min_leaf=2)
    amounts = [[[Fraction(x) for x in sums] for sums in row] for row in values]
    trees = truth.LabelledTrees(truth.candidates(table), amounts, 2, 2)
    assert trees.scale == 1
    assert trees.points == oracle.points(2)


@pytest.mark.parametrize("seed", range(10))
def test_the_front_is_that_of_the_oracle(seed: int) -> None:
    """False positives and false negatives that no tree beats."""
    table, classes, weights, _ = _binary(seed)
    amounts = [
        [[Fraction(0), Fraction(w * (c == 1))], [Fraction(w * (c == 0)), Fraction(0)]]
        for c, w in zip(classes, weights, strict=True)
    ]
    trees = truth.LabelledTrees(truth.candidates(table), amounts, 2)
    oracle = FrontOracle(table, classes, weights)
    theirs = truth.nondominated(p[:2] for p in oracle.front(2, 3))
    assert truth.nondominated(p[:2] for p in trees.points) == theirs


@pytest.mark.parametrize("constraint", truth.RATES)
def test_rates_of_groups_are_those_of_the_oracle(constraint: str) -> None:
    """The curve of disparity and cost."""
    for seed in range(4):
        table, classes, weights, fractions = _binary(seed)
        groups = ["ab"[(i // 2) % 2] for i in range(len(classes))]
        classes[:4] = [0, 1, 0, 1]
        shares = truth.shares(constraint, classes, groups, fractions, 2)
        amounts = [
            [[Fraction(w * (label != c)), *rates] for label, rates in enumerate(row)]
            for row, c, w in zip(shares, classes, weights, strict=True)
        ]
        trees = truth.LabelledTrees(truth.candidates(table), amounts, 2)
        mine = truth.nondominated(
            (
                Fraction(truth.disparity(constraint, 2, p[1:-1]), trees.scale),
                Fraction(p[0], trees.scale),
            )
            for p in trees.points
        )
        theirs = list(fair_oracle.points(constraint, table, classes, groups, weights, depth=2))
        assert mine == fair_oracle.curve(theirs)


@pytest.mark.parametrize("seed", range(10))
def test_squared_errors_and_prices_are_those_of_the_oracle(seed: int) -> None:
    """Leaves that cost a squared error, and columns that cost a price the first time."""
    table, _, weights, fractions = _binary(seed)
    targets = [Fraction(w * w + i, 3) for i, w in enumerate(weights)]

    def leaf(rows: Any) -> Fraction:
        return truth.squared_error([fractions[i] for i in rows], [targets[i] for i in rows])

    n_columns = len(table[0])
    prices = [Fraction(j + 1, 9) for j in range(n_columns)]
    trees = truth.AllTrees(len(table), truth.candidates(table), lambda rows: [(leaf(rows),)], 2)
    least = min(p[0] for p in trees.points(2))
    assert least == best_cost(table, leaf, Limits(2, None, 2))
    tests = [
        (rows, j)
        for j, column in enumerate(zip(*table, strict=True))
        for rows in truth.candidates_of(column)
    ]
    priced = truth.PricedTrees(fractions, tests, prices, leaf, 2)
    given = Prices(range(n_columns), range(n_columns), prices, prices, fractions)
    for max_splits in range(4):
        mine = min(cost for splits, cost in priced.least(2).items() if splits <= max_splits)
        assert mine == best_cost(table, leaf, Limits(2, max_splits, 2), given)


@pytest.mark.parametrize("seed", range(10))
def test_areas_are_those_of_the_oracle(seed: int) -> None:
    """Under the whole curve and a part of it, with leaves of equal shares and of one class."""
    rng = np.random.default_rng(seed)
    leaves = [(1, 2), (2, 1), *((int(a), int(b)) for a, b in rng.integers(0, 4, (4, 2)) if a + b)]
    mine = [(Fraction(a), Fraction(b)) for a, b in leaves]
    theirs = [(b, a) for a, b in leaves]
    assert truth.area(mine) == area_oracle.rank_area(theirs)
    for part in (Fraction(1, 3), Fraction(3, 10), Fraction(1)):
        assert truth.area(mine, part) == area_oracle.curve_area(theirs, part)


def test_candidates_are_all_ways_to_split_a_column_by_a_threshold() -> None:
    """Missing values go to either side of a threshold, or to a side of their own."""
    nan = float("nan")
    assert truth.candidates([[0], [1], [2], [1]]) == [0b0001, 0b0100]
    assert sorted(truth.candidates([[0], [1], [nan]])) == sorted([0b001, 0b010, 0b011])
    assert truth.candidates([[5], [5]]) == []


@pytest.mark.parametrize("seed", range(10))
def test_candidates_without_missing_values_are_those_of_the_encoder(seed: int) -> None:
    """Thresholds between all neighbours."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 5, (8, 2)) * 0.1
    encoded = TableEncoder(thresholds="all").fit_transform(table)
    everything = (1 << 8) - 1
    theirs = {sum(1 << i for i, x in enumerate(column) if x) for column in np.asarray(encoded).T}
    theirs = {min(rows, everything ^ rows) for rows in theirs} - {0}
    assert set(truth.candidates(table.tolist())) == theirs


@pytest.mark.parametrize("name", truth.METRICS)
def test_metrics_are_those_of_their_definitions(name: str) -> None:
    """Written twice, they agree on all small tables of counts."""
    metric = metrics.FBeta(2) if name == "f2" else metrics.get(name)
    for fp in range(4):
        for fn in range(5):
            numbers = [Fraction(x) for x in (fp, fn, 4, 3)]
            mine = float(truth.METRICS[name](*numbers))
            assert mine == pytest.approx(metric(fp, fn, 4, 3), abs=1e-12)


def test_a_float_is_the_decimal_that_is_printed() -> None:
    """Whatever type it comes in."""
    assert (
        truth.number(0.1) == truth.number(np.float64(0.1)) == truth.number("0.1") == Fraction(1, 10)
    )
    assert truth.number(np.int64(2**60)) == 2**60
    assert truth.number(1e300) == 10**300


def test_roots_have_many_digits() -> None:
    """However small or large the number."""
    for x in (Fraction(2), Fraction(1, 10**600), Fraction(10**600) / 3):
        assert abs(truth.root(x) ** 2 / x - 1) < Fraction(1, 10**50)
