"""Metrics over ranks: the same values as all trees give, and as a search with columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from certree import OptimalTreeClassifier, engine, metrics, verify
from certree.encoding import TableEncoder
from certree.encoding._test_budget import BudgetLeft
from certree.engine import Session, _choice, _search
from certree.proofs._metric_search import solve_metric, solve_metric_path
from tests.oracle.confusion import Confusions

NAMES = ["f1", "mcc", "jaccard", "balanced_accuracy", "cohen_kappa"]


def some_rows(seed: int, n_rows: int, n_values: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a table with ties and, for some seeds, missing values; and labels of two classes."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, n_values, (n_rows, 3)) / 4
    labels = ((table[:, 0] + table[:, 1] > n_values / 4) ^ (rng.random(n_rows) < 0.25)).astype(int)
    labels[:2] = 0, 1
    if seed % 3 == 2:
        table[rng.random(table.shape) < 0.1] = np.nan
    return table, labels


def ranked_session(table: Any, labels: Any, weights: Any) -> Session:
    encoder = TableEncoder(thresholds="all")
    room = BudgetLeft(None, None)
    columns = encoder._fit_within(table, None, lambda: room, lambda *_: True)
    assert not isinstance(columns, np.ndarray)
    return Session(columns, labels.astype(np.int32), weights)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(9))
def test_metrics_over_ranks_are_those_of_all_trees(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    table, labels = some_rows(seed, 12, 6)
    weights = rng.integers(1, 5, 12) if seed % 2 else None
    min_leaf = 1 + seed % 4 // 3
    session = ranked_session(table, labels, weights)
    metric = metrics.get(name)
    options = engine.Options(max_depth=2, min_leaf=min_leaf)
    found = solve_metric(session, metric, options)
    oracle = Confusions(
        session.columns.expand().tolist(),
        labels.tolist(),
        None if weights is None else weights.tolist(),
        min_leaf=min_leaf,
    )
    totals = np.ones(12, dtype=int) if weights is None else weights
    both = int(totals[labels == 1].sum()), int(totals[labels == 0].sum())
    best = max(metric.exact(fp, fn, *both) for fp, fn, _ in oracle.triples(2, None))
    assert (found.status, found.value, found.bound) == ("optimal", best, best)
    assert metric.exact(found.fp, found.fn, *both) == best


@pytest.mark.parametrize(
    "options", [{}, {"min_samples_leaf": 7}, {"class_weight": "balanced"}, {"complexity": 0.02}]
)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_ranks_and_columns_prove_the_same_value(
    max_depth: int, name: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, labels = some_rows(max_depth, 150, 14)
    n_calls = 0

    def solve(problem: Any, *others: Any) -> Any:
        nonlocal n_calls
        n_calls += 1
        return original(problem, *others)

    original = _search.solve_ordered
    monkeypatch.setattr(_search, "solve_ordered", solve)
    models = []
    for by_ranks in (False, True):
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, _b=by_ranks, **__: _b)
        model = OptimalTreeClassifier(max_depth, objective=name, thresholds="all", **options)
        models.append(model.fit(table, labels))
        assert (n_calls > 0) == by_ranks
        assert verify(model, table, labels)
    first, second = (model.certificate_ for model in models)
    assert first.status == second.status == "optimal"
    assert (first.objective, first.cost, first.n_tests) == (
        second.objective,
        second.cost,
        second.n_tests,
    )


def test_a_fit_over_many_cut_points_takes_ranks() -> None:
    """With a column per test this takes 32 million answers, and minutes."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4000, 2))
    labels = ((table[:, 0] > 0.3) ^ (rng.random(4000) < 0.1)).astype(int)
    model = OptimalTreeClassifier(2, objective="f1", thresholds="all").fit(table, labels)
    assert model.certificate_.status == "optimal"
    assert model.certificate_.n_tests == 2 * 3999
    assert model.certificate_.counters["peak_bytes"] < 20_000_000
    score = metrics.get("f1").score(labels, model.predict(table))
    assert score == pytest.approx(model.certificate_.objective)
    warm = OptimalTreeClassifier(2, objective="f1", thresholds="all")
    warm.fit(table, labels, warm_start_tree=model.tree_)
    assert warm.certificate_.cost == model.certificate_.cost


def test_what_ranks_do_not_know_gets_columns() -> None:
    table, labels = some_rows(0, 30, 5)
    session = ranked_session(table, labels, None)
    columns = engine.Session(session.columns.expand(), session.row_types)
    custom = metrics.Custom(lambda fp, fn, p, n: 1 - (fp * fp + fn) / (n * n + p))
    for metric in (metrics.F1(), custom):
        for options in (
            engine.Options(max_depth=2),
            engine.Options(max_splits=2),
            engine.Options(max_depth=3, max_splits=2),
        ):
            values = [solve_metric(rows, metric, options).value for rows in (session, columns)]
            assert values[0] == values[1]
    options = engine.Options(max_depth=2)
    paths = [solve_metric_path(rows, metrics.F1(), options) for rows in (session, columns)]
    first, second = ([entry.value for entry in path.entries] for path in paths)
    assert first == second


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
def test_a_search_over_ranks_that_is_cut_short_bounds_the_metric() -> None:
    table, labels = some_rows(1, 400, 60)
    model = OptimalTreeClassifier(3, objective="f1", thresholds="all").fit(table, labels)
    short = OptimalTreeClassifier(3, objective="f1", thresholds="all")
    short.fit(table, labels, callback=lambda event: True)
    found = short.certificate_
    assert found.lower_bound <= model.certificate_.cost <= found.cost
    assert verify(short, table, labels)
