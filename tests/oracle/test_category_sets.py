"""Sets of categories against brute force, and the classical theorem about sorted categories."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import certree
from certree import CostSensitiveTreeClassifier, OptimalTreeClassifier, OptimalTreeRegressor
from tests.oracle.brute_force import BruteForce, binary_tests

pd = pytest.importorskip("pandas")

ERRORS = [[0, 1], [1, 0]]


def _all_sets(values: Any) -> list[Any]:
    """Return the answers to all sets of the values of a column; None is a value like others."""
    values = np.array(["(none)" if v is None or v != v else v for v in values], dtype=object)
    known = sorted(set(values), key=str)
    return [
        np.isin(values.astype(str), [str(v) for v in chosen])
        for size in range(1, len(known))
        for chosen in combinations(known, size)
    ]


def _table(seed: int, n_rows: int = 26, missing: bool = True) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    city = rng.choice(list("abcde"), n_rows).astype(object)
    if missing:
        city[rng.random(n_rows) < 0.15] = None
    frame = pd.DataFrame({"city": city, "code": rng.integers(1, 5, n_rows)})
    return frame, rng.integers(0, 2, n_rows)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("least", [1, 5])
def test_all_sets_are_searched(seed: int, depth: int, least: int) -> None:
    frame, y = _table(seed, missing=seed % 2 == 0)
    model = OptimalTreeClassifier(
        max_depth=depth,
        category_tests="subsets",
        categorical_features=["code"],
        min_category_rows=least,
    ).fit(frame, y)
    columns = []
    for name in frame:
        counts = frame[name].value_counts()
        rare = frame[name].isin(counts.index[counts < least])
        columns += _all_sets(frame[name].astype(object).where(~rare, "(rare)").tolist())
    oracle = BruteForce(binary_tests(np.array(columns).T.tolist()), y.tolist(), ERRORS)
    assert model.certificate_.cost == oracle.optimum(depth).value
    certree.verify(model, frame, y, exhaustive=depth == 1)


def _sorted_by(frame: Any, target: Any) -> Any:
    """Return the cities as ordered categories, by the mean of the target."""
    means = pd.Series(target).groupby(frame["city"].to_numpy()).mean().sort_values()
    order = pd.CategoricalDtype(means.index, ordered=True)
    return pd.DataFrame({"city": frame["city"].astype(order)})


@pytest.mark.parametrize("seed", range(12))
def test_sorted_categories_are_enough_for_one_split(seed: int) -> None:
    frame, y = _table(seed, 40, missing=False)
    cities = frame[["city"]]
    ordered = _sorted_by(frame, y)
    models: list[tuple[Any, Any]] = [
        (OptimalTreeClassifier(), y),
        (OptimalTreeRegressor(), np.random.default_rng(seed).normal(size=40)),
        (CostSensitiveTreeClassifier(cost_matrix=[[0, 3], [1, 0]]), y),
    ]
    for model, target in models:
        table = _sorted_by(frame, target) if target is not y else ordered
        model.set_params(max_depth=1, thresholds="all")
        by_order = model.fit(table, target).certificate_.cost
        model.set_params(category_tests="subsets")
        assert by_order == model.fit(cities, target).certificate_.cost


def test_sorted_categories_are_not_enough_for_two_splits() -> None:
    city = np.repeat(list("abc"), 10)
    x = np.concatenate([np.arange(10) < n for n in (6, 5, 4)])
    y = np.where(city == "b", x, ~x)
    frame = pd.DataFrame({"city": city, "x": x})
    means = pd.Series(y).groupby(city).mean()
    assert means.tolist() == [0.4, 0.5, 0.6]
    ordered = _sorted_by(frame, y).assign(x=x)
    sets = OptimalTreeClassifier(max_depth=2, category_tests="subsets").fit(frame, y)
    cuts = OptimalTreeClassifier(max_depth=2).fit(ordered, y)
    assert sets.certificate_.cost == 0
    assert cuts.certificate_.cost > 0


def test_sorted_categories_are_not_enough_with_large_leaves() -> None:
    frame = pd.DataFrame({"city": list("abbc")})
    y = np.array([0.0, 1.0, 1.0, 2.0])
    model = OptimalTreeRegressor(max_depth=1, min_samples_leaf=2, category_tests="subsets")
    assert model.fit(frame, [1.0, 5.0, 5.0, 1.5]).tree_.n_splits == 1
    cuts = OptimalTreeRegressor(max_depth=1, min_samples_leaf=2)
    assert cuts.fit(_sorted_by(frame, y), y).tree_.n_splits == 0
