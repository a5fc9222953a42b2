"""Alarms where bounds are put together: planted contradictions stop with an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree import OptimalTreeClassifier, metrics, regularization_path
from certree.engine import Options, PathResult, Problem, SizedTree, solve, solve_path
from certree.engine._within_limits import LimitedProblem
from certree.exceptions import InternalError
from certree.fitting import certify, prove_limited, prove_metric, prove_metric_within
from certree.numbers._scale import Scale
from certree.proofs import _metric_solves
from certree.proofs._limit_search import LimitedSearch, solve_limited
from certree.proofs._metric_cuts import Cut
from certree.proofs._metric_limits import LimitedSession
from certree.proofs._metric_outer import Search
from certree.proofs._metric_search import solve_metric, solve_metric_path
from certree.results._answer import Answer

RNG = np.random.default_rng(5)
N_ROWS = 40
COLUMNS = np.asfortranarray(RNG.integers(0, 2, (N_ROWS, 5)).astype(np.uint8))
TYPES = (COLUMNS[:, 0] ^ (RNG.random(N_ROWS) < 0.3)).astype(np.int32)
ERRORS = np.array([[0, 1], [1, 0]], dtype=np.int64)
PROBLEM = Problem(COLUMNS, TYPES, ERRORS, RNG.integers(1, 4, N_ROWS))
OPTIONS = Options(max_depth=2, error_scale=3, split_penalty=2)
PATH = Options(max_depth=2)
LIMITED = LimitedProblem(
    columns=COLUMNS,
    values=np.stack([ERRORS[TYPES], np.tile([0, 1], (N_ROWS, 1))], axis=2),
    planes=np.array([[1, 0, 0], [0, 1, 0]], dtype=np.int64),
    bounds=(N_ROWS,),
)


def _fit(**parameters: Any) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(2, **parameters).fit(COLUMNS, TYPES)


def _bend_result(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, bend: Callable[[Any], Any]
) -> None:
    """Let a search that a module calls return something else."""
    function = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: bend(function(*given, **named)))


def test_an_answer_is_not_below_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither that of one search, nor that of a search within limits."""
    result = solve(PROBLEM, OPTIONS)
    scale = Scale.of(Fraction(2, 3), Fraction(1), Fraction(2, 3), per_leaf=False)
    assert Answer.of(result, scale).status == "optimal"
    with pytest.raises(InternalError, match="is above a tree"):
        Answer.of(replace(result, lower_bound=result.upper_bound + 1), scale)
    assert _fit(capacity={1: 10}).certificate_.is_optimal
    _bend_result(
        monkeypatch,
        prove_limited,
        "solve_limited",
        lambda found: replace(found, lower_bound=found.upper_bound + 1),
    )
    with pytest.raises(InternalError, match="is above a tree"):
        _fit(capacity={1: 10})


@pytest.mark.parametrize(("more", "message"), [(1, "is above a tree"), (-1, "called optimal")])
def test_bounds_are_looked_at_when_they_are_certified(
    more: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever changed them after the search."""
    _bend_result(
        monkeypatch, certify, "_lifted", lambda a: replace(a, lower_bound=a.lower_bound + more)
    )
    with pytest.raises(InternalError, match=message):
        _fit()


@pytest.mark.parametrize("objective", ["f1", "mcc"])
def test_a_metric_is_not_above_its_bound(objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rational and irrational values are compared exactly."""
    assert _fit(objective=objective).certificate_.is_optimal
    least = Fraction(1, 10**30)
    _bend_result(
        monkeypatch, prove_metric, "solve_metric", lambda r: replace(r, bound=r.bound - least)
    )
    with pytest.raises(InternalError, match="is above a tree"):
        _fit(objective=objective)


def test_a_metric_within_limits_is_not_above_the_bound_of_all_trees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The two searches contradict each other."""
    assert _fit(objective="f1", capacity={1: 10}).certificate_.is_optimal
    metric_search = prove_metric_within.metric_search

    def wrong(*given: Any) -> Any:
        search = metric_search(*given)

        def run(problem: Any, **named: Any) -> Any:
            found = search(problem, **named)
            is_within = isinstance(problem, LimitedSession)
            return found if is_within else replace(found, bound=Fraction(1, 100))

        return run

    monkeypatch.setattr(prove_metric_within, "metric_search", wrong)
    # It is noticed before there is an answer.
    monkeypatch.setattr(prove_metric_within, "metric_answer", None)
    with pytest.raises(InternalError, match="is above a tree"):
        _fit(objective="f1", capacity={1: 10})


def test_a_users_metric_that_rises_with_errors_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where two searches contradict each other, the points of both are compared."""
    metric = metrics.Custom(lambda fp, fn, *_: -fp - fn, name="own")
    metric_search = prove_metric_within.metric_search

    def wrong(*given: Any) -> Any:
        search = metric_search(*given)

        def run(problem: Any, **named: Any) -> Any:
            found = search(problem, **named)
            if isinstance(problem, LimitedSession):
                return found
            # What a search sees of a metric that is worth little at a point of few errors.
            few = Fraction(0), Fraction(1, 2)
            return replace(found, bound=Fraction(-100), values={few: Fraction(-100)})

        return run

    monkeypatch.setattr(prove_metric_within, "metric_search", wrong)
    with pytest.raises(ValueError, match="not monotone"):
        _fit(objective=metric, capacity={1: 10})


@pytest.mark.parametrize(
    ("metric", "message"),
    [(metrics.F1(), "contradicts"), (metrics.BalancedAccuracy(), "is above a tree")],
)
def test_a_cut_that_the_best_tree_contradicts_is_noticed(
    metric: metrics.Metric, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One unit of weight too much, in a search for one tree or for all sizes."""
    assert solve_metric(PROBLEM, metric, PATH).status == "optimal"
    assert solve_metric_path(PROBLEM, metric, PATH).status == "optimal"
    monkeypatch.setattr(
        _metric_solves,
        "Cut",
        lambda fp, fn, split, value, most: Cut(fp, fn, split, value + 1, most),
    )
    with pytest.raises(InternalError, match=message):
        solve_metric(PROBLEM, metric, PATH)
    with pytest.raises(InternalError, match="contradicts"):
        solve_metric_path(PROBLEM, metric, PATH)


def test_the_bound_without_a_search_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is all that is known where some tests were not searched."""
    options = replace(PATH, partial="memory_limit")
    assert solve_metric(PROBLEM, metrics.F1(), options).status == "memory_limit"
    run = Search.run

    def wrong(self: Search, gap: Fraction) -> str:
        self.first_bound = Fraction(0)
        return run(self, gap)

    monkeypatch.setattr(Search, "run", wrong)
    with pytest.raises(InternalError, match="is above a tree"):
        solve_metric(PROBLEM, metrics.F1(), options)


def test_known_trees_of_a_path_are_not_below_its_bounds() -> None:
    """A known tree that costs what is proven is fine, one that costs less is not."""
    path = solve_path(PROBLEM, PATH)
    last = path.entries[-1]
    known = SizedTree(last.splits, 0, last.upper_bound, last.nodes)
    assert path.with_trees([known]).entries[-1].lower_bound == last.upper_bound
    with pytest.raises(InternalError, match="is above a tree"):
        path.with_trees([replace(known, upper_bound=last.upper_bound - 1)])


def test_the_entries_of_a_path_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """After they are put together."""
    assert len(regularization_path(COLUMNS, TYPES, max_depth=2)) > 1
    _bend_result(
        monkeypatch,
        PathResult,
        "with_trees",
        lambda path: replace(
            path, entries=[replace(e, lower_bound=e.upper_bound + 1) for e in path.entries]
        ),
    )
    with pytest.raises(InternalError, match="is above a tree"):
        regularization_path(COLUMNS, TYPES, max_depth=2)


def test_a_search_within_limits_looks_at_its_own_bounds() -> None:
    """When a round finds a tree, and at the end."""
    best = solve_limited(LIMITED, PATH).upper_bound
    assert best is not None
    search = LimitedSearch(LIMITED, PATH)
    search.lower = best + 1
    with pytest.raises(InternalError, match="is above a tree"):
        search.run(dual=False)
    search = LimitedSearch(LIMITED, PATH)
    status = search.run()
    assert search.result(status, []).lower_bound == best
    search.proof = "search"
    with pytest.raises(InternalError, match="a proof that there is none"):
        search.result(status, [])
    search.proof, search.lower = "", best + 1
    with pytest.raises(InternalError, match="is above a tree"):
        search.result(status, [])
