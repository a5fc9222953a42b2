"""Whatever stops the search, its tree is at least as good as the greedy tree of the same depth.

The greedy trees are scikit-learn's, over the same candidates, with the same least number of rows in
a leaf; ties between splits are drawn, so the best of three counts. The work of certree is limited,
hence its first trees are what is compared, and the result does not depend on the machine.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from certree import OptimalityWarning, OptimalTreeClassifier, OptimalTreeRegressor, TableEncoder
from tests.stopping import stopping

WORK = 50
DEPTHS = (2, 3, 4, 5, 6, 8, 10)


# They stop after a little work, and at once.
ShortClassifier = stopping(OptimalTreeClassifier, WORK)
ShortRegressor = stopping(OptimalTreeRegressor, WORK)
StoppedClassifier = stopping(OptimalTreeClassifier, 1)


@dataclass(frozen=True, repr=False)
class Table:
    """Rows, labels or integer targets, and integer weights."""

    X: Any
    y: Any
    weights: Any = None
    thresholds: Any = "auto"
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def columns(self) -> Any:
        """The answers to the candidates, which is what the greedy tree sees."""
        encoder = TableEncoder(thresholds=self.thresholds)
        return encoder.fit_transform(self.X, self.y, self.weights)

    def weight_list(self) -> list[int]:
        return [1] * len(self.y) if self.weights is None else [int(w) for w in self.weights]


def numbers(rows: int, features: int, classes: int, seed: int, **more: Any) -> Table:
    """Numbers of which some are informative, with a tenth of the labels flipped."""
    X, y = datasets.make_classification(
        rows, features, n_informative=5, n_classes=classes, flip_y=0.1, random_state=seed
    )
    return Table(X, y, **more)


def bits(rows: int, columns: int, classes: int, seed: int, **more: Any) -> Table:
    """Columns of 0 and 1; the label is a tree of six of them, with noise."""
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, columns)) < rng.uniform(0.2, 0.8, columns)).astype(np.uint8)
    planted = rng.integers(0, classes, 64)[X[:, :6] @ (1 << np.arange(6))]
    y = np.where(rng.random(rows) < 0.1, rng.integers(0, classes, rows), planted)
    return Table(X, y, **more)


def parity(rows: int, columns: int, seed: int) -> Table:
    """The parity of three columns, which no single column helps to tell."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, columns), dtype=np.uint8)
    return Table(X, np.where(rng.random(rows) < 0.05, 0, X[:, :3].sum(axis=1) % 2))


def duplicates(seed: int) -> Table:
    """Few different rows, each many times and with labels that differ."""
    few = bits(40, 12, 3, seed)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 40, 600)
    y = np.where(rng.random(600) < 0.3, rng.integers(0, 3, 600), few.y[drawn])
    return Table(few.X[drawn], y)


def weighted(table: Table, high: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    return replace(table, weights=rng.integers(1, high, len(table.y)))


def bundled(name: str, **more: Any) -> Table:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Table(X, y.astype(np.int64), **more)


def targets(rows: int, features: int, seed: int, **more: Any) -> Table:
    """Numbers with whole targets."""
    X, y = datasets.make_friedman1(rows, features, noise=1.0, random_state=seed)
    return Table(X, np.round(10 * y).astype(np.int64), **more)


LEAF = {"min_samples_leaf": 7}

CLASSES: dict[str, Callable[[], Table]] = {
    "numbers-small": lambda: numbers(60, 8, 2, 0),
    "numbers": lambda: numbers(500, 10, 2, 1),
    "numbers-medium": lambda: numbers(2000, 10, 2, 2),
    "numbers-4-classes": lambda: numbers(600, 10, 4, 3),
    "numbers-leaf": lambda: numbers(500, 10, 3, 4, options=LEAF),
    "numbers-weights": lambda: weighted(numbers(400, 8, 2, 5), 50),
    "numbers-all": lambda: numbers(150, 8, 2, 6, thresholds="all"),
    "numbers-all-leaf": lambda: numbers(150, 8, 3, 7, thresholds="all", options=LEAF),
    "numbers-best-first": lambda: numbers(400, 8, 2, 8, options={"search": "best-first"}),
    "bits-small": lambda: bits(80, 10, 2, 0),
    "bits": lambda: bits(700, 30, 2, 1),
    "bits-wide": lambda: bits(400, 200, 2, 2),
    "bits-5-classes": lambda: bits(900, 25, 5, 3),
    "bits-leaf": lambda: bits(600, 25, 2, 4, options=LEAF),
    "bits-weights": lambda: weighted(bits(500, 20, 3, 5), 10**6),
    "bits-weights-leaf": lambda: weighted(bits(500, 20, 2, 6, options=LEAF), 4),
    "bits-best-first": lambda: bits(500, 20, 2, 7, options={"search": "best-first"}),
    "parity": lambda: parity(400, 15, 0),
    "duplicates": lambda: duplicates(0),
    "duplicates-weights": lambda: weighted(duplicates(1), 9),
    "wine": lambda: bundled("wine"),
    "breast-cancer": lambda: bundled("breast_cancer"),
    "digits": lambda: bundled("digits"),
}

TARGETS: dict[str, Callable[[], Table]] = {
    "friedman-small": lambda: targets(50, 6, 0),
    "friedman": lambda: targets(400, 8, 1),
    "friedman-leaf": lambda: targets(400, 8, 2, options=LEAF),
    "friedman-weights": lambda: weighted(targets(300, 8, 3), 9),
    "diabetes": lambda: bundled("diabetes"),
}


@cache
def table_of(name: str) -> Table:
    return {**CLASSES, **TARGETS}[name]()


def errors(table: Table, predicted: Any) -> int:
    """Weight of the rows with another label."""
    weights = table.weight_list()
    return sum(w for w, y, p in zip(weights, table.y, predicted, strict=True) if y != p)


def squares(table: Table, leaves: Any) -> Fraction:
    """Squared error around the means of the leaves, exactly."""
    total = Fraction(0)
    weights, y = np.array(table.weight_list()), np.asarray(table.y)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        weight, first = int(weights[rows].sum()), int((weights[rows] * y[rows]).sum())
        total += int((weights[rows] * y[rows] ** 2).sum()) - Fraction(first**2, weight)
    return total


def quietly(model: Any, table: Table) -> Any:
    """Fit without the warning that there is no proof."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimalityWarning)
        return model.fit(table.X, table.y, table.weights)


def greedy_trees(kind: Any, table: Table, **limits: Any) -> list[Any]:
    columns = table.columns
    least = table.options.get("min_samples_leaf", 1)
    return [
        kind(min_samples_leaf=least, random_state=seed, **limits).fit(
            columns, table.y, table.weights
        )
        for seed in range(3)
    ]


def greedy_errors(table: Table, **limits: Any) -> int:
    """The fewest errors of three greedy trees."""
    columns = table.columns
    trees = greedy_trees(DecisionTreeClassifier, table, **limits)
    return min(errors(table, tree.predict(columns)) for tree in trees)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", CLASSES)
def test_a_classifier_is_never_worse_than_greedy(name: str, depth: int) -> None:
    table = table_of(name)
    model = ShortClassifier(depth, thresholds=table.thresholds, **table.options)
    found = errors(table, quietly(model, table).predict(table.X))
    assert found == model.certificate_.cost
    assert model.certificate_.lower_bound <= found
    assert model.tree_.depth <= depth
    assert found <= greedy_errors(table, max_depth=depth)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", TARGETS)
def test_a_regressor_is_never_worse_than_greedy(name: str, depth: int) -> None:
    table = table_of(name)
    model = ShortRegressor(depth, thresholds=table.thresholds, **table.options)
    found = squares(table, quietly(model, table).predict(table.X))
    columns = table.columns
    trees = greedy_trees(DecisionTreeRegressor, table, max_depth=depth)
    assert found <= min(squares(table, tree.apply(columns)) for tree in trees)


@pytest.mark.parametrize("depth", [3, 6, 10])
@pytest.mark.parametrize("name", ["numbers-small", "bits", "numbers-all", "bits-weights-leaf"])
def test_a_search_that_stops_at_once_is_never_worse_than_greedy(name: str, depth: int) -> None:
    table = table_of(name)
    model = StoppedClassifier(depth, thresholds=table.thresholds, **table.options)
    found = errors(table, quietly(model, table).predict(table.X))
    assert found <= greedy_errors(table, max_depth=depth)


@pytest.mark.parametrize("splits", [2, 5, 10, 20, 40])
@pytest.mark.parametrize("name", ["numbers", "bits", "bits-5-classes", "duplicates-weights"])
def test_no_greedy_tree_of_as_many_splits_is_better(name: str, splits: int) -> None:
    """A greedy tree of a given size splits first where impurity falls most."""
    table = table_of(name)
    model = quietly(ShortClassifier(12, max_splits=splits, **table.options), table)
    found = errors(table, model.predict(table.X))
    assert model.tree_.n_splits <= splits
    assert found <= greedy_errors(table, max_depth=12, max_leaf_nodes=splits + 1)


@pytest.mark.parametrize("complexity", [0.001, 0.01])
@pytest.mark.parametrize("name", ["numbers", "bits", "bits-5-classes", "digits"])
def test_no_pruned_greedy_tree_costs_less_with_a_penalty(name: str, complexity: float) -> None:
    """A greedy tree pays for its splits too, and may be pruned by cost and complexity."""
    table = table_of(name)
    model = quietly(ShortClassifier(8, complexity=complexity, **table.options), table)
    columns, n_rows = table.columns, len(table.y)
    for alpha in (0.0, complexity / 2, complexity, 2 * complexity):
        for tree in greedy_trees(DecisionTreeClassifier, table, max_depth=8, ccp_alpha=alpha):
            splits = (tree.tree_.node_count - 1) // 2
            penalty = Fraction(repr(complexity)) * n_rows * splits
            assert model.certificate_.cost <= errors(table, tree.predict(columns)) + penalty


@pytest.mark.parametrize("depth", [6, 9])
@pytest.mark.parametrize("name", ["numbers-4-classes", "bits-wide"])
def test_a_time_limit_keeps_the_first_tree(name: str, depth: int) -> None:
    """However slow the machine is, the first tree is finished."""
    table = table_of(name)
    model = OptimalTreeClassifier(depth, time_limit=0.2)
    found = errors(table, quietly(model, table).predict(table.X))
    assert found <= greedy_errors(table, max_depth=depth)
