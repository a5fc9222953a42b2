"""Time and memory limits cover the encoding: fewer tests, and bounds that hold for all of them."""

from __future__ import annotations

import dataclasses
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from certree import (
    Certificate,
    CertificateError,
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOTree,
    oracles,
    pareto_front,
    regularization_path,
    verify,
)
from certree.encoding import TableEncoder, _test_budget
from certree.encoding._cuts import choose_gaps, count_cuts, count_values
from certree.encoding._test_budget import BudgetLeft, most_per_column, thin_out
from certree.encoding._test_list import Cuts
from certree.engine import Question

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] > 0.1).astype(int) ^ (RNG.random(N) < 0.2)
MANY = 6000
LARGE = RNG.normal(size=(MANY, 20))
LABELS = RNG.integers(0, 2, MANY)


def choose_cuts(column: Any, *rules: Any) -> Any:
    """Return the cut points of a column, as an array."""
    return np.array(list(Cuts.between(*choose_gaps(column, *rules))))


@pytest.fixture
def a_column_per_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no search take ranks, for which there is always room."""
    monkeypatch.setattr(Question, "can_use_ranks", False)


def test_room_is_taken_for_all_that_fits() -> None:
    assert BudgetLeft(None, None).most_tests(10**6, 10**6) == (10**6, "")
    assert BudgetLeft(60.0, 10**9).most_tests(1000, 100) == (100, "")
    most, why = BudgetLeft(None, 10**8).most_tests(20_000, 400_000)
    assert (why, 0 < most < 3000) == ("memory_limit", True)
    most, why = BudgetLeft(1.0, None).most_tests(20_000, 400_000)
    assert (why, 0 < most < 3000) == ("time_limit", True)
    assert BudgetLeft(1.0, None, is_interrupted=True).most_tests(10, 10) == (0, "interrupted")


def test_columns_share_the_room() -> None:
    assert most_per_column([1, 5, 100], 20) == 14
    assert most_per_column([1, 5, 100], 0) == 1
    assert most_per_column([3, 3], 100) == 3


@pytest.mark.parametrize("limit", [None, 0, 7, 40])
def test_fewer_cut_points_are_some_of_those_asked_for(limit: int | None) -> None:
    column = RNG.integers(0, 60, 500).astype(float)
    weights = RNG.integers(1, 5, 500)
    asked = choose_cuts(column, limit, weights).tolist()
    counted = count_values(column, weights)
    assert len(asked) == count_cuts(counted, limit, None)
    for most in (1, 3, 10):
        some = choose_cuts(column, limit, weights, most).tolist()
        assert some == choose_cuts(column, limit, weights, most, counted).tolist()
        assert set(some) <= set(asked)
        assert 0 < len(some) <= most


@pytest.mark.filterwarnings("ignore:The search reached")
@pytest.mark.usefixtures("a_column_per_test")
def test_bounds_hold_for_the_tests_that_were_left_out() -> None:
    best = OptimalTreeClassifier(2, thresholds="all").fit(X, Y)
    n_tests = best.certificate_.n_tests
    with pytest.warns(OptimalityWarning, match=f"of the {n_tests} questions"):
        model = OptimalTreeClassifier(2, thresholds="all", memory_limit=9000).fit(X, Y)
    found = model.certificate_
    assert found.status == "memory_limit"
    assert (found.n_tests, found.n_tests_searched) == (n_tests, len(model.encoder_.tests_))
    assert 3 <= found.n_searched < n_tests
    assert found.lower_bound <= best.certificate_.cost <= found.cost
    assert all(lower <= best.certificate_.cost for *_, lower in found.history)
    some = f"{found.n_searched} of at least {n_tests} questions"
    assert f"Only {some} were searched." in found.statement()
    assert f"over {some}" in str(found)
    assert set(model.encoder_.tests_) <= set(best.encoder_.tests_)
    assert verify(model, X, Y)
    assert Certificate.from_json(found.to_json()) == found


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
@pytest.mark.usefixtures("a_column_per_test")
def test_every_objective_has_bounds_that_hold_for_all_tests() -> None:
    costs = RNG.integers(0, 9, (N, 2))
    groups = RNG.integers(0, 2, N)
    fits: list[Any] = [
        lambda m: OptimalTreeClassifier(2, objective="f1", **m).fit(X, Y),
        lambda m: OptimalTreeClassifier(2, objective="f1", complexity=0.01, **m).fit(X, Y),
        lambda m: OptimalTreeClassifier(1, objective="auc", **m).fit(X, Y),
        lambda m: OptimalTreeRegressor(2, **m).fit(X, costs[:, 0]),
        lambda m: CostSensitiveTreeClassifier(**m).fit(X, costs=costs),
        lambda m: SPOTree(oracles.GridShortestPath(2, 2), max_depth=2, **m).fit(
            X, np.column_stack([costs, costs])
        ),
        lambda m: PolicyTree(max_depth=2, capacity={1: 0.3}, **m).fit_rewards(X, costs),
        lambda m: FairTreeClassifier(max_depth=2, tolerance=0.05, **m).fit(X, Y, groups),
    ]
    for fit in fits:
        best = fit({"thresholds": "all"}).certificate_
        assert best.status == "optimal"
        found = fit({"thresholds": "all", "memory_limit": 9000}).certificate_
        assert found.status == "memory_limit"
        assert found.lower_bound <= best.cost <= found.cost
        assert found.n_tests == best.n_tests
        assert found.n_searched < found.n_tests


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
def test_paths_and_fronts_over_some_tests_are_not_called_proven() -> None:
    settings = {"max_depth": 2, "thresholds": "all", "memory_limit": 9000}
    path = regularization_path(X, Y, **settings)
    assert path.status == "memory_limit"
    assert all(entry.lower_bound == 0 for entry in path)
    front = pareto_front(X, Y, **settings)
    assert front.status == "memory_limit"
    assert front.certificate.lower_points == ((0, 0, 0),)


def test_the_most_frequent_categories_are_kept() -> None:
    names = np.array([f"c{i:02d}" for i in range(50)], dtype=object)
    column = np.repeat(names, np.arange(1, 51))[:, None]
    encoder = TableEncoder()
    columns = encoder._fit_within(column, None, lambda: BudgetLeft(None, 40_000))
    kept = [test.value for test in encoder.tests_]  # type: ignore[union-attr]
    assert 1 <= len(kept) < 50
    assert kept == names[-len(kept) :].tolist()
    assert columns.shape == (len(column), len(kept))
    assert encoder._n_left_out == 50 - len(kept)


def test_tables_of_zeros_and_ones_are_never_shortened() -> None:
    bits = RNG.integers(0, 2, (50, 40))
    encoder = TableEncoder()
    assert encoder._fit_within(bits, None, lambda: BudgetLeft(1e-9, 1)).shape == (50, 40)
    assert (encoder._stopped_by, encoder._n_left_out) == ("", 0)


@pytest.mark.filterwarnings("ignore:The search reached")
def test_a_machine_with_less_memory_than_it_says_gets_fewer_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = TableEncoder._encode_table

    def short_of_memory(encoder: TableEncoder, table: Any, *more: Any) -> Any:
        if len(encoder.tests_) > 40:
            raise MemoryError
        return answer(encoder, table, *more)

    monkeypatch.setattr(TableEncoder, "_encode_table", short_of_memory)
    with pytest.warns(OptimalityWarning, match="of the 177 questions"):
        model = OptimalTreeClassifier(2, thresholds="all").fit(X, Y)
    assert model.certificate_.status == "memory_limit"
    assert 0 < model.certificate_.n_searched <= 40


def test_a_machine_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(encoder: TableEncoder, table: Any, *more: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(TableEncoder, "_encode_table", no_memory)
    holes = np.where(X > 1, np.nan, X)
    with pytest.raises(MemoryError, match="fit fewer rows or columns"):
        OptimalTreeClassifier(2, thresholds="all").fit(holes, Y)


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
def test_a_call_keeps_its_memory_limit_encoding_included() -> None:
    tracemalloc.start()
    model = OptimalTreeClassifier(2, thresholds="all", memory_limit="60MB", time_limit=2)
    model.fit(LARGE, LABELS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak + model.certificate_.counters["peak_bytes"] < 60e6
    assert model.certificate_.n_tests == 20 * (MANY - 1)


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
@pytest.mark.parametrize(
    "call",
    [
        lambda t: OptimalTreeClassifier(3, thresholds="all", time_limit=t).fit(LARGE, LABELS),
        lambda t: OptimalTreeClassifier(4, time_limit=t).fit(LARGE, LABELS, path=True),
        lambda t: OptimalTreeClassifierCV(depths=(2, 4), cv=3, time_limit=t).fit(LARGE, LABELS),
    ],
    ids=["encoding", "path", "folds"],
)
def test_the_time_limit_is_that_of_the_whole_call(call: Any) -> None:
    """By the processor's clock, so that other work on the machine does not count."""
    start = time.process_time()
    call(1.0)
    assert time.process_time() - start < 2.5


@pytest.mark.parametrize("has_gaps", [False, True])
def test_ctrl_c_while_tests_are_answered_leaves_some_of_them_out(has_gaps: bool) -> None:
    """Once, all of them were answered, and all columns read, before anything ended."""
    table = np.where(X > 1, np.nan, X) if has_gaps else X
    whole = TableEncoder(thresholds="all").fit(table)
    n_asked = 0

    def room() -> BudgetLeft:
        nonlocal n_asked
        n_asked += 1
        return BudgetLeft(None, None, is_interrupted=n_asked > 3)

    encoder = TableEncoder(thresholds="all")
    columns = encoder._fit_within(table, None, room)
    assert encoder._stopped_by == "interrupted"
    assert columns.shape == (N, len(encoder.tests_))
    assert len(encoder.tests_) == (3 if not has_gaps else 9)
    assert {str(test) for test in encoder.tests_} <= {str(test) for test in whole.tests_}
    assert len(encoder.tests_) + encoder._n_left_out == len(whole.tests_)
    np.testing.assert_array_equal(columns, encoder.transform(table))


def test_thinner_tests_are_evenly_spaced() -> None:
    tests = TableEncoder(thresholds="all").fit([[k] for k in range(13)]).tests_
    kept, left_out = thin_out(tests, 4)
    assert [test.describe(0) for test in kept] == [f"x0 <= {k}.5" for k in (1, 4, 7, 10)]
    assert left_out == {0: 8}
    assert thin_out(tests, 100) == (tests, {})


@pytest.mark.filterwarnings("ignore::certree.OptimalityWarning")
def test_a_model_of_some_of_the_tests_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BudgetLeft, "is_over", property(lambda room: True))
    monkeypatch.setattr(BudgetLeft, "most_tests", lambda room, n_rows, n_tests: (9, "time_limit"))
    monkeypatch.setattr(BudgetLeft, "cap", lambda *arguments, **options: None)
    model = OptimalTreeClassifier(2, thresholds="all").fit(X, Y)
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.n_searched == 9
    assert verify(model, X, Y)


def test_columns_that_no_time_is_left_to_count_have_no_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 0.0, 0.6])
    monkeypatch.setattr(_test_budget, "perf_counter", lambda: next(clock, 0.6))
    values = np.column_stack([np.arange(9000.0), np.ones(9000), np.arange(9000) % 7.0])
    values[:5, 2] = np.nan
    seconds = iter([1.0, 1.0, 1.0])
    encoder = TableEncoder(thresholds="all")
    columns = encoder._fit_within(values, None, lambda: BudgetLeft(next(seconds, 0.4), None))
    assert encoder._stopped_by == "time_limit"
    assert {test.feature for test in encoder.tests_} == {0}
    assert columns.shape == (9000, len(encoder.tests_))
    # The second column has one value and no test, the third at least one.
    assert (encoder._left_out[1], encoder._left_out[2]) == (0, 1)
    assert encoder._left_out[0] + len(encoder.tests_) == 8999


def test_a_fit_without_time_to_count_says_so_and_is_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_test_budget, "_UNNOTICED", 0.0)
    with pytest.warns(OptimalityWarning, match=r"Only \d+ of at least \d+ questions"):
        model = OptimalTreeClassifier(2, thresholds="all", time_limit=1e-6).fit(LARGE, LABELS)
    certificate = model.certificate_
    assert certificate.status == "time_limit"
    assert certificate.lower_bound == 0
    assert certificate.n_tests_searched < certificate.n_tests < 20 * (MANY - 1)
    verify(model, LARGE, LABELS)


def test_columns_that_are_counted_soon_are_counted_beyond_the_limit() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    with pytest.warns(OptimalityWarning, match=r"Only \d+ of the \d+ questions"):
        model = OptimalTreeClassifier(2, thresholds="all", time_limit=1e-6).fit(X, X[:, 0] > 0)
    assert model.certificate_.n_tests == 3 * 199


def test_fair_trees_say_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_test_budget, "_UNNOTICED", 0.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 6))
    groups = rng.integers(0, 2, 20000)
    fair = FairTreeClassifier(max_depth=2, tolerance=0.1, time_limit=1e-6)
    with pytest.warns(OptimalityWarning):
        fair.fit(X, X[:, 0] > 0, sensitive_features=groups)
    certificate = fair.certificate_
    assert certificate.n_tests_searched is not None
    assert certificate.n_tests_searched < certificate.n_tests
    verify(fair, X, X[:, 0] > 0, sensitive_features=groups)


@pytest.mark.filterwarnings("ignore:Only")
def test_no_error_is_best_whatever_tests_were_left_out() -> None:
    numbers = np.random.default_rng(0).normal(size=(3000, 5))
    numbers[:, 0] = numbers[:, 0].round(1)
    labels = numbers[:, 0] > 0.1
    model = OptimalTreeClassifier(None, thresholds="all", memory_limit="4MB").fit(numbers, labels)
    found = model.certificate_
    assert found.n_searched < found.n_tests
    assert (found.status, found.cost, found.lower_bound) == ("optimal", 0, 0)
    assert verify(model, numbers, labels)
    model.certificate_ = dataclasses.replace(found, cost=1, leaf_cost=1, lower_bound=1)
    with pytest.raises(CertificateError, match="not all questions were searched"):
        verify(model, numbers, labels)
