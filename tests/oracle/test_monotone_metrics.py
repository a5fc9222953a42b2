"""Metrics of which only monotonicity is known, against all trees."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import cycle
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from certree import engine, metrics
from certree.proofs._metric_search import solve_metric, solve_metric_path
from certree.proofs._metric_solves import WeightedSolves
from tests.oracle.test_metrics import best, cases, check, many_sizes


def worst_rate(fp: int, fn: int, positives: int, negatives: int) -> float:
    """The smaller of the two rates: steps, and many ties."""
    return min(1 - fp / max(negatives, 1), 1 - fn / max(positives, 1))


def few_misses(fp: int, fn: int, positives: int, negatives: int) -> Fraction:
    """Precision of a sort, worth nothing where more than half of the positive rows are missed."""
    return Fraction(1, 1 + fp) if 2 * fn <= positives else Fraction(-fn)


MONOTONE = [
    metrics.GMean(),
    metrics.MacroF1(),
    metrics.Custom(worst_rate),
    metrics.Custom(few_misses),
    metrics.Custom(lambda *_: 0, name="constant"),
]
# Known to be more, searched as if they were not.
AS_CUSTOM = [metrics.F1(), metrics.MCC(), metrics.BalancedAccuracy()]


@pytest.mark.parametrize("metric", MONOTONE, ids=lambda metric: metric.name)
def test_the_value_is_the_greatest_of_all_trees(metric: metrics.Metric) -> None:
    """Without a penalty: proven, and reached by the tree that comes back."""
    for case in cases(140, 150):
        value, triples = best(case, metric)
        result = solve_metric(case.problem, metric, case.options())
        assert result.status == "optimal", case
        assert result.objective == result.bound == value, case
        check(result, case, metric, triples)


@pytest.mark.parametrize("metric", MONOTONE, ids=lambda metric: metric.name)
def test_penalties_are_exact(metric: metrics.Metric) -> None:
    """With depth limits and without."""
    penalties = cycle([Fraction(1, 100), Fraction(1, 20), Fraction(1, 7), Fraction(3, 1000)])
    for case in cases(150, 60, depths=(1, 2, 2, 3, None)):
        penalty = next(penalties)
        value, triples = best(case, metric, penalty)
        result = solve_metric(case.problem, metric, case.options(), complexity=penalty)
        assert result.status == "optimal", case
        assert result.objective == result.bound == value, (case, penalty)
        check(result, case, metric, triples, penalty)


@pytest.mark.parametrize("metric", AS_CUSTOM, ids=repr)
def test_weighted_solves_and_the_front_agree(metric: metrics.Metric) -> None:
    """The same metric by outer approximation, and as a function of which nothing is known."""

    def function(*point: int) -> float:
        # Rounded, because a square root in floating point need not be monotone in its last bit.
        return round(float(metric.exact(*point)), 9)

    custom = metrics.Custom(function, name=metric.name)
    for case in cases(160, 80):
        one = solve_metric(case.problem, metric, case.options())
        two = solve_metric(case.problem, custom, case.options())
        assert round(float(one.objective), 9) == float(two.objective), case


@pytest.mark.parametrize("metric", [MONOTONE[0], MONOTONE[2]], ids=lambda metric: metric.name)
@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
def test_a_search_that_is_stopped_has_a_valid_bound(
    metric: metrics.Metric, penalty: Fraction
) -> None:
    """Whatever the work done so far, the best value lies between objective and bound."""
    limits = cycle([1, 2, 3, 5, 8, 13, 30])
    for case in cases(170, 40, depths=(3,)):
        value, triples = best(case, metric, penalty)
        options = case.options(extra={"work_limit": next(limits)})
        result = solve_metric(case.problem, metric, options, complexity=penalty)
        assert result.objective <= value <= result.bound, case
        check(result, case, metric, triples, penalty)
        if result.status == "optimal":
            assert result.objective == value


@pytest.mark.parametrize("penalty", [Fraction(0), Fraction(1, 50)], ids=str)
def test_bounds_hold_whenever_the_clock_runs_out(
    penalty: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while steps of a staircase are not yet divided."""
    steps = cycle([0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    for case in cases(175, 60, depths=(2, 3, None) if penalty else (2, 3)):
        left = next(steps)

        def is_over(oracle: WeightedSolves) -> bool:
            nonlocal left
            left -= 1
            if left < 0:
                oracle.status = "time_limit"
            return left < 0

        monkeypatch.setattr(WeightedSolves, "is_over", is_over)
        value, triples = best(case, MONOTONE[0], penalty)
        result = solve_metric(case.problem, MONOTONE[0], case.options(), complexity=penalty)
        assert result.objective <= value <= result.bound, case
        check(result, case, MONOTONE[0], triples, penalty)


@pytest.mark.parametrize("metric", MONOTONE[:2], ids=lambda metric: metric.name)
def test_penalties_bound_the_size_without_a_depth_limit(metric: metrics.Metric) -> None:
    """Slices of few splits are closed one by one, without a front of all sizes."""
    rng = np.random.default_rng(177)
    columns = np.asfortranarray(rng.integers(0, 2, size=(500, 14)).astype(np.uint8))
    score = columns[:, 0] & (columns[:, 1] | columns[:, 2])
    types = (score ^ (rng.random(500) < 0.1)).astype(np.int32)
    problem = engine.Problem(columns, types, np.zeros((2, 2), dtype=np.int64))
    options = engine.Options(time_limit=60)
    result = solve_metric(problem, metric, options, complexity=Fraction(1, 50))
    assert result.status == "optimal"
    assert result.nodes.n_splits == 3


@pytest.mark.parametrize("metric", MONOTONE[:2], ids=lambda metric: metric.name)
@pytest.mark.parametrize("depth", [3, None])
def test_time_limits_hold_with_large_weights(metric: metrics.Metric, depth: int | None) -> None:
    """Then there are far more whole points than could be looked at."""
    problem = many_sizes(3000)
    weights = np.random.default_rng(176).integers(1, 10**6, size=3000)
    problem = replace(problem, weights=weights)
    start = perf_counter()
    result = solve_metric(
        problem,
        metric,
        engine.Options(max_depth=depth, time_limit=1),
        complexity=Fraction(0 if depth else 1, 10_000),
    )
    assert perf_counter() - start < 3
    assert result.status in ("time_limit", "optimal")
    assert result.objective <= result.bound


@pytest.mark.parametrize("metric", MONOTONE, ids=lambda metric: metric.name)
def test_every_number_of_splits_has_its_best_tree(metric: metrics.Metric) -> None:
    """One entry for each number of splits that helps, each the best of all trees so small."""
    for case in cases(180, 40, depths=(0, 1, 2, 2, 3)):
        triples, totals = case.triples(), case.totals
        path = solve_metric_path(case.problem, metric, case.options())
        assert path.status == "optimal", case
        greatest: list[Any] = []
        for k in range(max(splits for _, _, splits in triples) + 1):
            value = max(metric.exact(fp, fn, *totals) for fp, fn, s in triples if s <= k)
            if not greatest or value > greatest[-1][1]:
                greatest.append((k, value))
        assert [(e.tree.n_splits, e.value) for e in path.entries] == greatest, case


@pytest.mark.parametrize(
    "function",
    [
        lambda fp, fn, positives, negatives: fp - fn,
        lambda fp, fn, positives, negatives: abs(fp - fn),
        lambda fp, fn, positives, negatives: -fp if fn else -fp - 1,
    ],
)
def test_a_metric_that_grows_with_errors_is_refused_with_two_points(function: Any) -> None:
    """The message names points that anyone can check."""
    case = next(c for c in cases(190, 50) if min(c.totals) >= 2)
    metric = metrics.Custom(function, name="odd")
    with pytest.raises(ValueError, match="The metric 'odd' is not monotone") as caught:
        solve_metric(case.problem, metric, case.options())
    numbers = [int(n) for n in re.findall(r"f[pn]=(\d+)", str(caught.value))]
    fewer, more = numbers[:2], numbers[2:]
    assert all(a <= b for a, b in zip(fewer, more, strict=True))
    assert function(*fewer, *case.totals) < function(*more, *case.totals)


def test_functions_that_fail_are_named() -> None:
    """NaN and exceptions, with the metric and the point."""
    case = next(c for c in cases(191, 50) if min(c.totals) >= 2)

    def fails(fp: int, fn: int, positives: int, negatives: int) -> float:
        return 1 / fn

    with pytest.raises(ValueError, match="'fails' raised ZeroDivisionError at fp="):
        solve_metric(case.problem, metrics.get(fails), case.options())
    nan = metrics.Custom(lambda *_: float("nan"), name="nothing")
    with pytest.raises(ValueError, match="'nothing' returned nan at fp="):
        solve_metric(case.problem, nan, case.options())


def test_fronts_and_areas_are_not_metrics_of_one_matrix() -> None:
    """They have searches of their own."""
    case = next(cases(192, 1))
    for metric in (metrics.AUC(), metrics.ErrorFront()):
        with pytest.raises(ValueError, match="not a function of one confusion matrix"):
            solve_metric(case.problem, metric, case.options())
