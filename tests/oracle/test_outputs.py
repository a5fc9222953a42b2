"""Trees for several outputs, and trees of clusters, against brute force in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import (
    OptimalTreeClassifier,
    OptimalTreeClusterer,
    OptimalTreeRegressor,
    solve,
    tasks,
    verify,
)
from tests.oracle.vector import Limits, best_cost
from tests.problems import FUZZ

Draw = np.random.Generator


def squares(
    Y: NDArray[Any], weights: Sequence[Fraction], of_outputs: Sequence[Fraction]
) -> Callable[[tuple[int, ...]], Fraction]:
    """Return the squared error of a leaf around its means, by definition."""
    lines = [[Fraction(str(y)) for y in line] for line in Y.tolist()]

    def cost(rows: tuple[int, ...]) -> Fraction:
        total = sum((weights[i] for i in rows), Fraction(0))
        parts = Fraction(0)
        for k, of_output in enumerate(of_outputs):
            mean = sum((weights[i] * lines[i][k] for i in rows), Fraction(0)) / (total or 1)
            error = sum((weights[i] * (lines[i][k] - mean) ** 2 for i in rows), Fraction(0))
            parts += of_output * error
        return parts

    return cost


def errors(
    Y: NDArray[Any], weights: Sequence[Fraction], of_outputs: Sequence[Fraction]
) -> Callable[[tuple[int, ...]], Fraction]:
    """Return the weight of the wrong labels of a leaf that takes the best of each output."""

    def cost(rows: tuple[int, ...]) -> Fraction:
        parts = Fraction(0)
        for k, of_output in enumerate(of_outputs):
            column = Y[:, k].tolist()
            total = sum((weights[i] for i in rows), Fraction(0))
            most = max(
                sum((weights[i] for i in rows if column[i] == label), Fraction(0))
                for label in set(column)
            )
            parts += of_output * (total - most)
        return parts

    return cost


def columns_of(X: NDArray[Any]) -> list[list[int]]:
    """Return a column for every threshold between values."""
    cuts = [(f, v) for f in range(X.shape[1]) for v in np.unique(X[:, f])[:-1].tolist()]
    return [[int(row[f] <= v) for f, v in cuts] or [0] for row in X.tolist()]


def random_table(rng: Draw) -> NDArray[Any]:
    """Draw few values, so that rows repeat; now and then a constant column."""
    n_rows = int(rng.integers(1, 15))
    X = rng.integers(0, int(rng.integers(1, 4)), (n_rows, int(rng.integers(1, 4))))
    if rng.random() < 0.3:
        X[:, 0] = 2
    return X


def random_weights(rng: Draw, n_rows: int) -> tuple[Any, list[Fraction]]:
    """Draw sample weights, some of them 0, and give them as fractions, too."""
    if rng.random() < 0.5:
        return None, [Fraction(1)] * n_rows
    weights = rng.integers(0, 4, n_rows) / 2
    weights[0] = 1.5
    return weights, [Fraction(str(w)) for w in weights.tolist()]


def random_targets(rng: Draw, n_rows: int, n_outputs: int) -> NDArray[Any]:
    """Draw short decimals in units that differ by output; now and then a constant one."""
    units = rng.choice([0.01, 0.5, 1.0, 100.0], n_outputs)
    Y = np.round(rng.integers(-5, 6, (n_rows, n_outputs)) * units, 2)
    if rng.random() < 0.2:
        Y[:, 0] = 7.25
    return np.asarray(Y)


def random_limits(rng: Draw, whole: Fraction) -> tuple[Limits, dict[str, Any]]:
    """Draw limits on trees, for the brute force and for the estimator."""
    depth, least = int(rng.integers(0, 4)), int(rng.choice([1, 1, 2, 3]))
    splits = None if rng.random() < 0.6 else int(rng.integers(0, 4))
    complexity = Fraction(rng.choice(["0", "0", "0.02", "0.2"]))
    given = {
        "max_depth": depth,
        "max_splits": splits,
        "min_samples_leaf": least,
        "complexity": str(complexity),
        "thresholds": "all",
    }
    return Limits(depth, splits, least, complexity * whole), given


def kept(weights: Sequence[Fraction]) -> list[int]:
    """Return the rows that count."""
    return [i for i, weight in enumerate(weights) if weight > 0]


def check(
    rng: Draw,
    X: NDArray[Any],
    leaf: Callable[[tuple[int, ...]], Fraction],
    weights: list[Fraction],
    fit: Callable[[dict[str, Any]], Any],
    whole: Fraction,
) -> Any:
    """Compare the cost of a fitted tree with the least over all trees."""
    rows = kept(weights)
    limits, given = random_limits(rng, whole)

    def of_kept(places: tuple[int, ...]) -> Fraction:
        return leaf(tuple(rows[place] for place in places))

    best = best_cost([columns_of(X[rows])[k] for k in range(len(rows))], of_kept, limits)
    model = fit(given)
    certificate = model.certificate_
    assert certificate.status == "optimal"
    assert abs(certificate.cost - best) <= certificate.rounding, (X.tolist(), given)
    return model


@pytest.mark.parametrize("seed", range(4))
def test_squared_errors_of_several_outputs_are_least(seed: int) -> None:
    rng = np.random.default_rng([FUZZ, 71, seed])
    for number in range(250):
        X, n_outputs = random_table(rng), int(rng.integers(2, 5))
        Y = random_targets(rng, len(X), n_outputs)
        given, weights = random_weights(rng, len(X))
        counted = [Fraction(1)] * n_outputs
        if number % 2:
            counted = [Fraction(int(k), 10) for k in rng.integers(1, 40, n_outputs)]
        leaf = squares(Y, weights, counted)
        whole = leaf(tuple(kept(weights)))
        stated = [str(weight) for weight in counted] if number % 2 else None

        def fit(limits: dict[str, Any], X=X, Y=Y, given=given, stated=stated) -> Any:
            return OptimalTreeRegressor(output_weights=stated, **limits).fit(X, Y, given)

        model = check(rng, X, leaf, weights, fit, whole)
        if number % 10 == 0:
            verify(model, X, Y, given, exhaustive=True)


@pytest.mark.parametrize("seed", range(4))
def test_errors_in_several_outputs_are_fewest(seed: int) -> None:
    rng = np.random.default_rng([FUZZ, 72, seed])
    for number in range(250):
        X, n_outputs = random_table(rng), int(rng.integers(2, 5))
        Y = rng.integers(0, int(rng.integers(1, 4)), (len(X), n_outputs))
        given, weights = random_weights(rng, len(X))
        counted = [Fraction(1)] * n_outputs
        if number % 2:
            counted = [Fraction(int(k), 10) for k in rng.integers(1, 40, n_outputs)]
        leaf = errors(Y, weights, counted)
        whole = sum(weights, Fraction(0)) * sum(counted)
        stated = [str(weight) for weight in counted] if number % 2 else None

        def fit(limits: dict[str, Any], X=X, Y=Y, given=given, stated=stated) -> Any:
            return OptimalTreeClassifier(output_weights=stated, **limits).fit(X, Y, given)

        model = check(rng, X, leaf, weights, fit, whole)
        assert model.certificate_.rounding == 0
        if number % 10 == 0:
            verify(model, X, Y, given, exhaustive=True)


@pytest.mark.parametrize("seed", range(3))
def test_squared_distances_from_centres_are_least(seed: int) -> None:
    rng = np.random.default_rng([FUZZ, 73, seed])
    for number in range(250):
        X = random_table(rng)
        given, weights = random_weights(rng, len(X))
        counted = [Fraction(1)] * X.shape[1]
        rows = kept(weights)
        if number % 2:
            plain = [squares(X[:, [k]], weights, [Fraction(1)]) for k in range(X.shape[1])]
            total = sum(weights, Fraction(0))
            spreads = [one(tuple(rows)) for one in plain]
            counted = [total / spread if spread else Fraction(1) for spread in spreads]
        leaf = squares(X, weights, counted)
        scale = "standard" if number % 2 else None

        def fit(limits: dict[str, Any], X=X, given=given, scale=scale) -> Any:
            splits = limits.pop("max_splits")
            limits["n_clusters"] = None if splits is None else splits + 1
            return OptimalTreeClusterer(scale=scale, **limits).fit(X, sample_weight=given)

        model = check(rng, X, leaf, weights, fit, leaf(tuple(rows)))
        for cluster in set(model.labels_[rows].tolist()):
            members = [i for i in rows if model.labels_[i] == cluster]
            of_rows = np.array([float(weights[i]) for i in members])
            centre = np.average(X[members], axis=0, weights=of_rows)
            np.testing.assert_allclose(model.cluster_centers_[cluster], centre, atol=1e-12)
        if number % 10 == 0:
            verify(model, X, sample_weight=given, exhaustive=True)


def test_without_a_depth_limit_a_penalty_decides() -> None:
    rng = np.random.default_rng([FUZZ, 74])
    for _ in range(40):
        X = random_table(rng)
        Y = random_targets(rng, len(X), 2)
        leaf = squares(Y, [Fraction(1)] * len(X), [Fraction(1)] * 2)
        whole = leaf(tuple(range(len(X))))
        limits = Limits(len(X), min(len(X) - 1, 5), 1, whole / 5)
        best = best_cost(columns_of(X), leaf, limits)
        model = OptimalTreeRegressor(None, complexity="1/5", thresholds="all").fit(X, Y)
        assert abs(model.certificate_.cost - best) <= model.certificate_.rounding


def test_every_tree_of_a_path_is_best_for_its_size() -> None:
    rng = np.random.default_rng([FUZZ, 75])
    for number in range(40):
        X = random_table(rng)
        of_outputs = [Fraction(1), Fraction(3)]
        each = [Fraction(1)] * len(X)
        if number % 2:
            Y = rng.integers(0, 3, (len(X), 2))
            leaf, task = errors(Y, each, of_outputs), tasks.Misclassification(None, [1, 3])
        else:
            Y = random_targets(rng, len(X), 2)
            leaf, task = squares(Y, each, of_outputs), tasks.SquaredError([1, 3])
        found = solve(task, X, Y, max_depth=3, thresholds="all", path=True)
        for entry in found.path:
            best = best_cost(columns_of(X), leaf, Limits(3, entry.splits))
            assert abs(entry.errors - best) <= found.certificate.rounding
