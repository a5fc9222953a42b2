"""Trees that only a penalty limits: searches, histories, and what nothing limits at all."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.oracle.brute_force import BruteForce, binary_tests

from certree import OptimalityWarning, OptimalTreeClassifier, verify

SEARCHES = ("auto", "depth-first", "best-first")


def table(seed: int, n_rows: int = 60, n_columns: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_columns))
    noise = rng.random(n_rows) < 0.2
    return X, np.where(noise, rng.integers(0, 2, n_rows), X[:, 0] ^ X[:, 1] ^ (X[:, 2] & X[:, 3]))


def unavoidable(X: Any, y: Any) -> int:
    """Errors of a table that answers each different row with its most frequent class."""
    _, group = np.unique(X, axis=0, return_inverse=True)
    group = group.ravel()
    return sum(
        int((group == g).sum() - np.bincount(y[group == g]).max()) for g in range(group.max() + 1)
    )


@pytest.mark.parametrize("complexity", ["0.003", "0.01", "1/30", 1])
@pytest.mark.parametrize("search", SEARCHES)
def test_without_a_depth_limit_the_tree_is_the_best_of_all(search: Any, complexity: Any) -> None:
    for seed in range(4):
        X, y = table(seed, 30 + seed, 5)
        penalty = Fraction(complexity)
        scale = penalty.denominator
        oracle = BruteForce(
            binary_tests(X.tolist()),
            y.tolist(),
            [[0, 1], [1, 0]],
            error_scale=scale,
            split_penalty=penalty.numerator * len(y),
        )
        model = OptimalTreeClassifier(max_depth=None, complexity=complexity, search=search)
        found = model.fit(X, y).certificate_
        assert found.status == "optimal"
        assert found.cost == Fraction(oracle.value(), scale)
        assert found.search == search
        assert verify(model, X, y)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("max_depth", [None, 6])
def test_the_history_is_monotone_and_always_valid(search: Any, max_depth: int | None) -> None:
    for seed in range(3):
        X, y = table(seed, 200, 10)
        model = OptimalTreeClassifier(max_depth=max_depth, complexity=0.01, search=search)
        found = model.fit(X, y).certificate_
        assert found.is_optimal
        seconds, work, upper, lower = zip(*found.history, strict=True)
        for rising in (seconds, work, lower, [-u for u in upper]):
            assert list(rising) == sorted(rising)
        assert max(lower) <= found.cost <= min(upper)
        assert seconds[-1] <= found.seconds


def test_stopping_at_any_time_gives_the_best_tree_so_far() -> None:
    X, y = table(5, 600, 24)
    best = OptimalTreeClassifier(max_depth=None, complexity=0.005).fit(X, y).certificate_.cost
    for events in (1, 3, 10, 30):
        countdown = iter(range(events))
        model = OptimalTreeClassifier(max_depth=None, complexity=0.005)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimalityWarning)
            model.fit(X, y, callback=lambda progress, left=countdown: next(left, None) is None)
        assert model.certificate_.lower_bound <= best <= model.certificate_.cost
        assert verify(model, X, y)


def test_iterations_and_evaluations_are_counted() -> None:
    X, y = table(6, 300, 12)
    model = OptimalTreeClassifier(max_depth=None, complexity=0.004, search="best-first").fit(X, y)
    counters = model.certificate_.counters
    assert counters["iterations"] > 0
    assert counters["depth_two_evaluations"] > 0
    deep = OptimalTreeClassifier(max_depth=None, complexity=0.004, search="depth-first").fit(X, y)
    assert deep.certificate_.counters["iterations"] == 0
    assert deep.certificate_.cost == model.certificate_.cost


def test_balanced_accuracy_and_class_weights_without_a_depth_limit() -> None:
    X, y = table(7)
    y = y & X[:, 4]
    for parameters in (
        {"objective": "balanced_accuracy"},
        {"class_weight": {1: 4}},
        {"class_weight": "balanced"},
    ):
        model = OptimalTreeClassifier(max_depth=None, complexity=0.03, **parameters).fit(X, y)  # type: ignore[arg-type]
        assert verify(model, X, y, exhaustive=True)


def test_a_class_weight_is_a_weight_on_false_negatives() -> None:
    X, y = table(8)
    y = y & X[:, 4]
    weight = 2.5
    model = OptimalTreeClassifier(max_depth=2, class_weight={1: weight}).fit(X, y)
    predicted = model.predict(X)
    false_negatives = int(((y == 1) & (predicted == 0)).sum())
    false_positives = int(((y == 0) & (predicted == 1)).sum())
    assert float(model.certificate_.cost) == weight * false_negatives + false_positives
    total = weight * (y == 1).sum() + (y == 0).sum()
    assert model.certificate_.objective == pytest.approx(1 - model.certificate_.cost / total)


# ---- nothing limits the size ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(50, 3), (300, 8), (3000, 40)])
def test_a_full_tree_is_returned_at_once(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, shape), rng.integers(0, 3, shape[0])
    model = OptimalTreeClassifier(max_depth=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.cost == unavoidable(X, y)
    assert model.certificate_.seconds < 5


def test_a_search_without_end_is_announced() -> None:
    X, y = table(9)
    model = OptimalTreeClassifier(max_depth=None, min_samples_leaf=3)
    with pytest.warns(UserWarning, match="Nothing limits the size of the tree") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert verify(model, X, y)


def test_it_still_ends_at_its_limits() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (800, 40)), rng.integers(0, 2, 800)
    model = OptimalTreeClassifier(max_depth=None, min_samples_leaf=5, time_limit=0.5)
    with pytest.warns(UserWarning, match="Nothing limits|time_limit"):
        model.fit(X, y)
    assert model.certificate_.lower_bound <= model.certificate_.cost
    assert verify(model, X, y)


@pytest.mark.parametrize(
    "limit", [{"max_depth": 3}, {"max_splits": 2}, {"complexity": 0.01}, {"min_samples_leaf": 1}]
)
def test_nothing_is_announced_when_something_limits_it(limit: dict[str, Any]) -> None:
    X, y = table(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OptimalTreeClassifier(**{"max_depth": None, "min_samples_leaf": 2, **limit}).fit(X, y)


@pytest.mark.parametrize("complexity", [-0.01, 1.01, float("nan"), float("inf"), "much"])
def test_a_complexity_that_is_no_share_is_refused(complexity: Any) -> None:
    X, y = table(11)
    with pytest.raises(ValueError, match=r"complexity must (lie between 0 and 1|be a finite)"):
        OptimalTreeClassifier(max_depth=None, complexity=complexity).fit(X, y)
