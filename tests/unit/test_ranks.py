"""Ranked columns: the same answers as with a column per test, in less memory."""

from __future__ import annotations

import pickle
import tracemalloc
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.encoding import (
    Level,
    Missing,
    TableEncoder,
    Threshold,
    _test_budget,
    read_table,
)
from certree.encoding._ranks import RankedColumns, count_ranks, rank_columns, rank_values
from certree.encoding._test_budget import BudgetLeft, Pace
from certree.encoding._test_list import Cuts, CutTests, TestList

NO_LIMIT = BudgetLeft(None, None)


def ranked(X: Any, sample_weight: Any = None, **options: Any) -> tuple[TableEncoder, RankedColumns]:
    """Return an encoder and the ranks of a table."""
    encoder = TableEncoder(**options)
    columns = encoder._fit_within(X, sample_weight, lambda: NO_LIMIT, lambda *_: True)
    assert isinstance(columns, RankedColumns)
    return encoder, columns


def check_answers(X: Any, sample_weight: Any = None, **options: Any) -> RankedColumns:
    """Compare the ranks of a table with the answers to the tests, and return them."""
    plain = TableEncoder(**options)
    answers = plain.fit_transform(X, sample_weight=sample_weight)
    if sample_weight is not None:
        answers = answers[np.asarray(sample_weight) > 0]
    encoder, columns = ranked(X, sample_weight, **options)
    assert encoder.tests_ == plain.tests_ == list(plain.tests_)
    assert columns.shape == answers.shape
    assert columns.expand().tolist() == answers.tolist()
    for row, n_ranks in zip(columns.ranks, columns.n_ranks.tolist(), strict=True):
        # Every rank occurs, so that no cut is constant; bits may be.
        assert row.min() >= 0
        assert row.max() < n_ranks
        assert n_ranks == 2 or np.unique(row).tolist() == list(range(n_ranks))
    assert columns.n_ranks.tolist() == count_ranks(encoder.tests_).tolist()
    n_rows, n_tests = columns.shape
    for test in range(n_tests):
        assert columns[np.arange(n_rows), test].tolist() == answers[:, test].astype(bool).tolist()
    rows = np.arange(n_rows if n_tests else 0)[::-1]
    tests = rows * 7 % max(n_tests, 1)
    assert columns[rows, tests].tolist() == answers[rows, tests].astype(bool).tolist()
    return columns


def mixed(n_rows: int, seed: int) -> pd.DataFrame:
    """Return a table with all kinds of columns, and missing values in most."""
    rng = np.random.default_rng(seed)
    levels = ["low", "middle", "high", "top"]
    X = pd.DataFrame(
        {
            "rounded": rng.normal(size=n_rows).round(1),
            "whole": rng.integers(-3, 4, n_rows),
            "color": rng.choice(["red", "green", "blue"], n_rows),
            "smoker": rng.random(n_rows) < 0.5,
            "level": pd.Categorical(rng.choice(levels, n_rows), levels, ordered=True),
            "real": rng.normal(size=n_rows),
            "bit": rng.integers(0, 2, n_rows).astype(float),
        }
    )
    for name in ("rounded", "color", "level", "bit"):
        X.loc[rng.random(n_rows) < 0.15, name] = None
    return X


@pytest.mark.parametrize("thresholds", ["auto", "all", 3])
@pytest.mark.parametrize("seed", range(4))
def test_ranks_answer_all_tests_of_mixed_tables(seed: int, thresholds: Any) -> None:
    X = mixed(90, seed)
    weights = np.random.default_rng(seed).integers(0, 4, 90) if seed % 2 else None
    columns = check_answers(X, weights, thresholds=thresholds)
    # Two features where missing values may join either side of a cut.
    assert columns.sources[:2].tolist() == [0, 0]
    assert columns.turned[:2].tolist() == [0, 1]


NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 2.0**53, 2.0**53 + 2]),
    st.floats(allow_nan=True, allow_infinity=False),
    st.integers(-3, 3).map(float),
)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.sampled_from(["auto", "all", 1, 2]))
def test_ranks_answer_all_tests_of_any_numbers(values: list[float], thresholds: Any) -> None:
    check_answers([[value] for value in values], thresholds=thresholds)


@given(st.lists(NUMBERS.filter(lambda x: x == x), min_size=1, max_size=30))
def test_equal_values_have_equal_ranks(values: list[float]) -> None:
    found, ranks = rank_values(np.array(values))
    assert found.tolist() == sorted(set(values))
    assert found[ranks].tolist() == values


@pytest.mark.parametrize("kind", ["normal", "huge", "tiny steps", "skewed", "one", "ties"])
def test_large_columns_are_ranked_as_small_ones_are(kind: str) -> None:
    """From 1 000 rows on, digits sort most rows; steps below a digit need another look."""
    random = np.random.default_rng(0)
    values = random.normal(size=3000)
    if kind == "huge":
        values *= 1e308 / abs(values).max()
        values[:2] = -1.7e308, 1.7e308  # their difference is beyond float64
    elif kind == "tiny steps":
        values = np.append(1 + np.arange(2999)[::-1] * 2.0**-52, 1e6)
    elif kind == "skewed":
        values = np.exp(40 * values)
    elif kind == "one":
        values = np.zeros(3000)
    elif kind == "ties":
        values = random.integers(-3, 3, 3000) * 0.0 + random.integers(0, 50, 3000)
    found, ranks = rank_values(values)
    assert found.tolist() == sorted(set(values.tolist()))
    assert found[ranks].tolist() == values.tolist()


def test_tests_that_are_taken_together_are_those_taken_one_by_one() -> None:
    X = np.array([[0.1, 1, 5], [0.30001, 0, 5], [np.nan, 1, 7], [2.5, 0, 5.5], [0.7, 1, 9]])
    for thresholds in ("all", 2, {"x0": [0.2, 1]}):
        tests = TableEncoder(thresholds=thresholds).fit(pd.DataFrame(X).add_prefix("x")).tests_
        places = [len(tests) - 1, 0, 2, 0, 1]
        assert tests.take(places) == [tests[place] for place in places]


def test_neighbouring_numbers_are_told_apart() -> None:
    one = np.nextafter(1.0, 2.0)
    columns = check_answers([[1.0], [one], [np.nextafter(one, 2.0)], [1.0]], thresholds="all")
    assert columns.ranks.tolist() == [[0, 1, 2, 0]]
    assert check_answers([[0.0], [-0.0], [5e-324]], thresholds="all").ranks.tolist() == [[0, 0, 1]]


def test_large_integers_that_float64_tells_apart_have_their_ranks() -> None:
    X = np.array([[2**53 - 1], [2**53 + 1], [2**53 + 2], [2**63 - 1], [-(2**63)]])
    assert check_answers(X, thresholds="all").ranks.tolist() == [[1, 2, 3, 4, 0]]


def test_columns_without_a_test_have_no_ranks() -> None:
    X = pd.DataFrame({"same": [2.5] * 4, "none": [np.nan] * 4, "x": [1.0, 2.0, 3.0, 3.0]})
    columns = check_answers(X, thresholds="all")
    assert columns.sources.tolist() == [2]
    assert columns.n_ranks.tolist() == [3]


def test_a_value_beside_missing_ones_gives_one_test() -> None:
    columns = check_answers([[2.5, 1.0], [np.nan, 2.0], [2.5, 3.0]])
    assert columns.sources.tolist() == [0, 1]
    assert columns.ranks[0].tolist() == [1, 0, 1]


def test_answers_find_their_test() -> None:
    X = mixed(60, 1)
    encoder, columns = ranked(X, thresholds="all")
    answers = columns.expand().astype(bool)
    for place, test in enumerate(encoder.tests_):
        found = columns.find(answers[:, place], test.feature)
        assert found is not None
        assert answers[:, found].tolist() == answers[:, place].tolist()
    nobody = np.arange(60) == 7
    assert columns.find(nobody, 2) is None
    more = columns.with_answers([nobody], [2])
    assert more.shape == (60, columns.shape[1] + 1)
    assert more.find(nobody, 2) == columns.shape[1]
    assert more.expand()[:, :-1].tolist() == columns.expand().tolist()


def test_more_rows_than_small_integers_hold() -> None:
    rng = np.random.default_rng(0)
    X = rng.permutation(100_000).astype(float)[:, None]
    encoder, columns = ranked(X, thresholds="all")
    assert columns.ranks[0].tolist() == X[:, 0].tolist()
    assert len(encoder.tests_) == 99_999
    assert str(encoder.tests_[70_000]) == "x0 <= 70000.5"
    # The ranks of a list of tests alone, without those that choosing the tests gave.
    again = rank_columns(encoder.tests_, read_table(X))
    assert np.array_equal(again.ranks, columns.ranks)


def test_memory_and_time_are_linear_in_the_table() -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 5))
    start = perf_counter()
    for column in X.T:
        np.argsort(column.copy())
    sorting = perf_counter() - start
    tracemalloc.start()
    start = perf_counter()
    encoder, columns = ranked(X, thresholds="all")
    seconds, (_, peak) = perf_counter() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert columns.nbytes == 4 * X.size
    assert len(encoder.tests_) == 5 * 39_999
    assert encoder.tests_.nbytes == 8 * X.size
    assert peak < 30 * X.size
    # Loose, since machines are busy; columns of answers would take minutes, and gigabytes.
    assert seconds < 20 * sorting + 1


@pytest.mark.parametrize("room", [BudgetLeft(None, 10_000), BudgetLeft(1e-9, None)])
def test_without_room_for_ranks_some_tests_are_answered(room: BudgetLeft) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 2))
    encoder = TableEncoder(thresholds="all")
    columns = encoder._fit_within(X, None, lambda: room, lambda *_: True)
    assert isinstance(columns, np.ndarray)
    assert columns.shape == (2000, len(encoder.tests_))
    assert len(encoder.tests_) + encoder._n_left_out == 2 * 1999
    assert encoder._stopped_by in ("memory_limit", "time_limit")


def test_ranks_that_take_too_long_are_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(_test_budget, "perf_counter", lambda: clock[0])
    pace = Pace(lambda: BudgetLeft(1.0 - clock[0], None), 20)
    assert not pace.must_stop()
    clock[0] = 0.04  # 0.8 seconds for all columns
    assert not pace.must_stop()
    clock[0] = 0.14  # 1.4 seconds
    assert pace.must_stop()
    unlimited = Pace(lambda: BudgetLeft(None, None), 20)
    assert not unlimited.must_stop()
    clock[0] = 1000.0
    assert not unlimited.must_stop()
    assert Pace(lambda: BudgetLeft(None, None, is_interrupted=True), 1).must_stop()


@pytest.mark.parametrize("thresholds", ["all", 8])
@pytest.mark.parametrize("n_asked", [1, 3, 5])
def test_time_that_ends_while_ranking_leaves_tests_out(
    thresholds: Any, n_asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 2))
    calls = 0

    def must_stop(_: Pace) -> bool:
        nonlocal calls
        calls += 1
        return calls > n_asked

    monkeypatch.setattr(Pace, "must_stop", must_stop)
    whole = TableEncoder(thresholds=thresholds).fit(X)
    encoder = TableEncoder(thresholds=thresholds)
    room = BudgetLeft(0.001, None)
    columns = encoder._fit_within(X, None, lambda: room, lambda *_: True)
    if n_asked == 5:
        assert isinstance(columns, RankedColumns)
        return
    assert isinstance(columns, np.ndarray)
    assert columns.shape == (2000, len(encoder.tests_))
    assert set(encoder.tests_) <= set(whole.tests_)
    assert len(encoder.tests_) + encoder._n_left_out == len(whole.tests_)
    # To answer a few tests takes no time.
    assert encoder._stopped_by == ("time_limit" if thresholds == "all" else "")


def test_tables_of_bits_are_not_ranked_but_read_as_they_are() -> None:
    encoder = TableEncoder()
    bits = np.random.default_rng(0).integers(0, 2, (50, 3))
    columns = encoder._fit_within(bits, None, lambda: NO_LIMIT, lambda *_: False)
    assert np.array_equal(columns, bits)  # type: ignore[arg-type]


# ---- lists of tests ------------------------------------------------------------------------------


def test_a_list_of_tests_reads_like_a_list() -> None:
    cuts = Cuts(np.arange(1000.0))
    tests = TestList([CutTests(0, "x", cuts, False), [], CutTests(0, "x", cuts, True)])
    tests += [Missing(0, "x")]
    plain = [Threshold(0, "x", k + 0.5, side) for side in (False, True) for k in range(999)]
    plain += [Missing(0, "x")]
    assert len(tests) == len(plain) == 1999
    assert tests == plain
    assert tests != plain[:-1]
    assert tests != plain[::-1]
    assert list(tests) == plain
    for index in (0, 998, 999, 1998, -1, -1999, np.int64(7)):
        assert tests[int(index)] == tests[index] == plain[index]
    for piece in (slice(990, 1005), slice(5), slice(-3, None), slice(7, 3), slice(1200, 900, -7)):
        assert tests[piece] == plain[piece]
        assert tests.parts[0][piece] == plain[:999][piece]
    assert plain[5] in tests
    assert tests.index(plain[1200]) == 1200
    for index in (1999, -2000):
        with pytest.raises(IndexError):
            tests[index]
    assert pickle.loads(pickle.dumps(tests)) == plain
    assert repr(tests).startswith("[Threshold(feature=0, name='x', threshold=0.5, missing=False),")
    assert repr(TestList([plain[-1:]])) == repr(plain[-1:])
    assert tests.features().tolist() == [test.feature for test in tests]


def test_a_list_of_tests_keeps_only_values_beside_cuts() -> None:
    X = np.random.default_rng(0).normal(size=(5000, 1))
    encoder = TableEncoder(thresholds=2).fit(X)
    assert len(pickle.dumps(encoder)) < 2000
    assert len(encoder.tests_) == 2


def test_levels_of_a_column_are_one_feature() -> None:
    levels = ["I", "II", "III", "IV"]
    X = pd.DataFrame({"stage": pd.Categorical(["I", "IV", "III", "I"], levels, ordered=True)})
    encoder, columns = ranked(X)
    assert [type(test) for test in encoder.tests_] == [Level, Level]
    assert columns.ranks.tolist() == [[0, 2, 1, 0]]
