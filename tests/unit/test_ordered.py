"""Fits by ranks: the same proofs as with a column per test, for tables of any kind."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from certree import OptimalTreeClassifier, optimality_gap, regularization_path, verify
from certree.encoding._ranks import RankedColumns
from certree.engine import Question, _choice, _ordered, _search
from certree.engine._choice import prefers_ranks
from certree.fitting.request import Request
from certree.fitting.state_errors import state_classes

from .test_ranks import mixed


@pytest.fixture
def forced(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what chooses the search of all fits that follow."""

    def force(by_ranks: bool) -> None:
        monkeypatch.setattr(_choice, "prefers_ranks", lambda *_, **__: by_ranks)

    return force


@pytest.fixture
def by_ranks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the number of tests of every search over ranks."""
    found: list[int] = []

    def solve(problem: Any, *others: Any) -> Any:
        found.append(problem.columns.shape[1])
        return _ordered.solve_ordered(problem, *others)

    monkeypatch.setattr(_search, "solve_ordered", solve)
    return found


def fit_both(forced: Any, X: Any, y: Any, weights: Any = None, **options: Any) -> Any:
    """Fit by columns and by ranks, compare what is proven, and return both models."""
    models = []
    for choice in (False, True):
        forced(choice)
        models.append(OptimalTreeClassifier(**options).fit(X, y, sample_weight=weights))
        verify(models[-1], X, y, sample_weight=weights)
    first, second = (model.certificate_ for model in models)
    for name in ("cost", "lower_bound", "status", "n_tests", "n_rows", "objective", "leaf_cost"):
        assert getattr(first, name) == getattr(second, name), name
    # Of equally good trees, both return one of the smallest.
    assert (first.n_splits, first.depth) == (second.n_splits, second.depth)
    assert first.is_optimal
    return models


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"complexity": 0.03},
        {"complexity": 0.02, "complexity_per": "leaf"},
        {"complexity": 0.12, "max_depth": None},
        {"min_samples_leaf": 4},
        {"objective": "balanced_accuracy"},
        {"class_weight": {0: 1, 1: 2.5, 2: 1}},
        {"gap": 2},
        {"n_jobs": 2},
        {"max_depth": 0},
        {"max_depth": 1},
        {"max_depth": 3, "thresholds": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(4))
def test_both_searches_prove_the_same(forced: Any, options: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = mixed(50, seed), rng.integers(0, 3, 50)
    weights = rng.integers(0, 4, 50) if seed % 2 else None
    thresholds = "all" if seed < 2 else "auto"
    if options.get("gap"):
        forced(True)
        model = OptimalTreeClassifier(max_depth=2, **options).fit(X, y)
        assert model.certificate_.gap <= 2
        assert verify(model, X, y)
        return
    fit_both(forced, X, y, weights, **{"max_depth": 2, "thresholds": thresholds, **options})


@pytest.mark.parametrize(("n_rows", "n_cuts"), [(300, 100), (1000, 40)])
def test_both_searches_prove_the_same_of_larger_tables(
    forced: Any, n_rows: int, n_cuts: int
) -> None:
    X, y = make_classification(
        n_rows, 10, n_informative=8, n_redundant=0, flip_y=0.1, random_state=0
    )
    fit_both(forced, X, y, max_depth=3, thresholds=n_cuts)


@pytest.mark.parametrize("seed", range(5))
def test_predictions_on_training_rows_are_those_of_the_certificate(seed: int, forced: Any) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((80, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    # Neighbouring numbers and denormals.
    X[:, 1] = np.where(X[:, 1] > 0, np.nextafter(X[:, 2], np.inf), X[:, 2])
    X[:10, 0] = np.arange(10) * 5e-324
    y = rng.integers(0, 2, 80)
    forced(True)
    model = OptimalTreeClassifier(2, thresholds="all").fit(X, y)
    assert int((model.predict(X) != y).sum()) == model.certificate_.cost
    assert verify(model, X, y, exhaustive=True)
    counts = [model.tree_.counts[leaf].sum() for leaf in model.apply(X)]
    assert counts == np.bincount(model.apply(X))[model.apply(X)].tolist()


def test_a_monotone_transformation_changes_no_cost(forced: Any) -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(120, 3)), 1)
    y = rng.integers(0, 3, 120)
    forced(True)
    costs = [
        OptimalTreeClassifier(2, thresholds="all").fit(rows, y).certificate_.cost
        for rows in (X, np.exp(X), X**3 * 1e9, -X)
    ]
    assert len(set(costs)) == 1


def test_fewer_cut_points_may_lose_the_best_tree() -> None:
    """The class changes next to the least of many values, far from every quantile."""
    x = np.arange(3000.0)
    X, y = np.column_stack([x, x % 7]), (x < 1).astype(int)
    few = OptimalTreeClassifier(1, thresholds=2, class_weight="balanced").fit(X, y)
    every = OptimalTreeClassifier(1, thresholds="all", class_weight="balanced").fit(X, y)
    assert few.certificate_.is_optimal
    assert every.certificate_.cost == 0 < few.certificate_.cost
    assert str(every.tree_.tests[0]) == "x0 <= 0.5"
    auto = OptimalTreeClassifier(1, class_weight="balanced").fit(X, y)
    assert auto.certificate_.cost > 0


# ---- which search --------------------------------------------------------------------------------


def test_small_tables_and_bits_keep_a_column_per_test() -> None:
    assert not prefers_ranks(
        150, np.array([33, 23, 33, 22], dtype=np.int32), Question(4, n_values=3)
    )
    assert not prefers_ranks(10**6, np.full(1000, 2, dtype=np.int32), Question(3))
    assert not prefers_ranks(10**6, np.array([3, 3, 3], dtype=np.int32), Question(3))
    assert prefers_ranks(10_000, np.full(20, 33, dtype=np.int32), Question(2))
    assert prefers_ranks(1000, np.full(10, 1000, dtype=np.int32), Question(4))
    assert prefers_ranks(18_000, np.full(8, 18_000, dtype=np.int32), Question(1))


def test_the_chosen_search_is_near_the_better_one_on_the_measured_grid() -> None:
    record = Path(__file__).parents[2] / "benchmarks" / "results" / "choice.json"
    cells = json.loads(record.read_text(encoding="utf-8"))["cells"]
    assert {cell["kind"] for cell in cells} == {"labels", "squares", "quantile"}
    for cell in cells:
        if not (cell["columns proven"] or cell["ranks proven"]):
            continue  # both were stopped
        given = cell["asked"]
        n_ranks = np.array(given["n_ranks"], dtype=np.int32)
        question = Question(cell["depth"], n_values=given["n_classes"], kind=given["kind"])
        is_ranked = prefers_ranks(given["n_rows"], n_ranks, question)
        best = min(cell["columns"], cell["ranks"])
        # Some hundredths of a second are what imports and other work on the machine take.
        assert cell["ranks" if is_ranked else "columns"] <= 2 * best + 0.02, cell


def test_a_table_that_is_too_large_for_a_column_per_test_is_ranked(by_ranks: list[int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)), rng.integers(0, 2, 20_000)
    for limit in (None, "2MB"):
        model = OptimalTreeClassifier(1, thresholds=32, memory_limit=limit, complexity=0.01)
        model.fit(X, y)
        assert model.certificate_.is_optimal
        assert model.certificate_.n_tests_searched is None
        assert by_ranks == ([] if limit is None else [96])


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": None, "complexity": 0.05},  # until tests are many
        {"max_depth": None, "complexity": 0.05, "search": "best-first"},
        {"objective": "f1"},
        {"objective": "auc", "max_depth": 1},
    ],
    ids=str,
)
def test_what_the_search_over_ranks_lacks_gets_a_column_per_test(
    options: dict[str, Any], by_ranks: list[int]
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 2)), rng.integers(0, 2, 700)
    OptimalTreeClassifier(**{"max_depth": 2, "thresholds": 60, "gap": 1e6, **options}).fit(X, y)
    assert not by_ranks
    OptimalTreeClassifier(max_depth=2, thresholds=60).fit(X, y)
    assert by_ranks == [120]


@pytest.mark.parametrize("search", ["depth-first", "best-first"])
@pytest.mark.parametrize("options", [{}, {"max_depth": None, "complexity": 0.06}], ids=str)
def test_both_searches_take_ranks(search: str, options: Any, by_ranks: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(300) < 0.05)
    settings = {"max_depth": 2, "thresholds": "all", **options}
    model = OptimalTreeClassifier(**settings, search=search).fit(X, y)
    assert len(by_ranks) == 1
    assert model.certificate_.is_optimal
    assert model.certificate_.cost == OptimalTreeClassifier(**settings).fit(X, y).certificate_.cost
    assert model.score(X, y) == 1 - model.certificate_.leaf_cost / 300


@pytest.mark.parametrize("options", [{"max_splits": 2}, {"max_depth": None, "max_splits": 2}])
def test_limits_on_splits_are_searched_by_ranks(options: Any, by_ranks: list[int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 2)), rng.integers(0, 2, 700)
    model = OptimalTreeClassifier(**{"max_depth": 2, "thresholds": 60, **options}).fit(X, y)
    assert by_ranks == [120]
    assert verify(model, X, y)


def test_a_price_per_split_is_searched_by_ranks_where_tests_are_many(by_ranks: list[int]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3))
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) | (X[:, 2] > 1)
    model = OptimalTreeClassifier(max_depth=None, complexity=0.02, thresholds="all").fit(X, y)
    assert by_ranks == [3 * 699]
    assert model.certificate_.is_optimal
    assert model.certificate_.n_splits == 3
    assert verify(model, X, y)


def test_threads_share_pair_tables_and_change_nothing(by_ranks: list[int]) -> None:
    """Trees, bounds and work are those of one thread."""
    X, y = make_classification(3000, 10, n_informative=6, flip_y=0.1, random_state=1)
    models = []
    for n_jobs in (1, 3):
        model = OptimalTreeClassifier(max_depth=3, thresholds=150, gap=5, n_jobs=n_jobs).fit(X, y)
        models.append(model)
    assert by_ranks == [1500, 1500]
    assert models[0].tree_ == models[1].tree_
    first, second = (model.certificate_ for model in models)
    assert (first.cost, first.lower_bound) == (second.cost, second.lower_bound)
    for name in ("splits_tried", "pair_tables", "thresholds", "depth_two_evaluations"):
        assert first.counters[name] == second.counters[name]


def test_paths_by_ranks_are_those_by_columns(forced: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(150, 3)), 1)
    y = (X[:, 0] + X[:, 1] > 0) ^ (rng.random(150) < 0.2)
    paths = []
    for choice in (False, True):
        forced(choice)
        model = OptimalTreeClassifier(max_depth=3, thresholds=20).fit(X, y, path=True)
        assert verify(model, X, y)
        alone = regularization_path(X, y, max_depth=3, thresholds=20)
        for path in (model.path_, alone):
            assert path.status == "optimal"
            paths.append([(entry.splits, entry.errors, entry.lower_bound) for entry in path])
    assert paths[0] == paths[1] == paths[2] == paths[3]


def test_paths_and_trees_of_any_depth_prefer_ranks_later() -> None:
    n_ranks = np.full(20, 33, dtype=np.int32)
    assert prefers_ranks(20_000, n_ranks, Question(3))
    assert not prefers_ranks(20_000, n_ranks, Question(3, search="path"))
    assert not prefers_ranks(1000, np.full(7, 101, dtype=np.int32), Question(None))
    assert prefers_ranks(1000, np.full(7, 1000, dtype=np.int32), Question(None))
    assert prefers_ranks(2000, np.full(8, 2000, dtype=np.int32), Question(3, search="path"))


# ---- a tree to start from ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_to_start_from_is_found_among_ranks(seed: int, forced: Any) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(90, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 90)
    greedy = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    forced(True)
    alone = OptimalTreeClassifier(2, thresholds="all").fit(X, y)
    best = OptimalTreeClassifier(2, thresholds="all").fit(X, y, warm_start_tree=greedy)
    assert best.certificate_.cost == alone.certificate_.cost
    # All of its tests are candidates already, or the complement of one.
    assert best.certificate_.n_tests == alone.certificate_.n_tests
    assert verify(best, X, y)
    again = OptimalTreeClassifier(2, thresholds="all").fit(X, y, warm_start_tree=best)
    assert again.certificate_.cost == best.certificate_.cost
    gap = optimality_gap(greedy, X, y, thresholds="all", max_splits=None)
    assert gap.upper_bound == best.certificate_.cost
    assert verify(gap, X, y)


def test_tests_of_a_tree_to_start_from_are_added_to_ranks(forced: Any) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    start = OptimalTreeClassifier(2, thresholds=5).fit(X, y)
    forced(True)
    model = OptimalTreeClassifier(2, thresholds=1).fit(X, y, warm_start_tree=start)
    n_added = len({str(test) for test in start.tree_.tests} - {f"{t}" for t in words_of(X, 1)})
    assert model.certificate_.n_tests == 3 + n_added
    assert model.certificate_.cost <= start.certificate_.cost
    assert verify(model, X, y, exhaustive=True)


def words_of(X: Any, thresholds: int) -> list[str]:
    """Return the tests of a table."""
    model = OptimalTreeClassifier(1, thresholds=thresholds).fit(X, np.arange(len(X)) % 2)
    return [str(test) for test in model.encoder_.tests_]


# ---- tables of any kind --------------------------------------------------------------------------


def test_a_fit_with_every_midpoint_takes_memory_by_the_size_of_the_table() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = (X[:, 0] > 0.2) ^ (rng.random(20_000) < 0.05)
    tracemalloc.start()
    model = OptimalTreeClassifier(1, thresholds="all", memory_limit="100MB").fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.certificate_.is_optimal
    assert model.certificate_.n_tests == 5 * 19_999
    assert peak < 50 * X.size
    assert int((model.predict(X) != y).sum()) == model.certificate_.cost
    assert verify(model, X, y)


def test_many_different_values() -> None:
    rng = np.random.default_rng(0)
    X = rng.permutation(100_000).astype(float)[:, None]
    y = (X[:, 0] < 31_234).astype(int)
    model = OptimalTreeClassifier(1, thresholds="all").fit(X, y)
    assert (model.certificate_.cost, model.certificate_.n_tests) == (0, 99_999)
    assert str(model.tree_.tests[0]) == "x0 <= 31233.5"


def test_columns_without_information(forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X = pd.DataFrame({"same": [2.5] * 40, "none": [np.nan] * 40, "zero": [0] * 40, "x": x})
    model = OptimalTreeClassifier(1, thresholds="all").fit(X, x > 0)
    assert (model.certificate_.cost, model.certificate_.n_tests) == (0, 40)
    assert verify(model, X, x > 0)


def test_integers_that_float64_cannot_tell_apart_are_refused(forced: Any) -> None:
    forced(True)
    X = np.array([[2**53], [2**53 + 1], [2**53 + 2], [2**53 + 4]] * 3)
    y = [0, 1, 1, 1] * 3
    with pytest.raises(ValueError, match="9007199254740992 and 9007199254740993 in column 0"):
        OptimalTreeClassifier(1, thresholds="all").fit(X, y)
    # Less a constant, float64 holds them; further apart, it rounds them to different numbers.
    for told_apart in (X - 2**53, 5 * (X - 2**53) + 2**54 + 1):
        model = OptimalTreeClassifier(1, thresholds="all").fit(told_apart, y)
        assert (model.certificate_.cost, model.certificate_.n_tests) == (0, 3)
        assert model.predict(told_apart).tolist() == y
        assert verify(model, told_apart, y)


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinities_are_refused(infinity: float) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[7, 1] = infinity
    with pytest.raises(ValueError, match=r"infinity .* column 1, row 7"):
        OptimalTreeClassifier(2, thresholds="all").fit(X, np.arange(200) % 2)


@pytest.mark.skipif(np.finfo(np.longdouble).max <= np.finfo(float).max, reason="no wider floats")
def test_numbers_that_float64_cannot_hold_are_refused() -> None:
    X = np.arange(60, dtype=np.longdouble)[:, None]
    assert OptimalTreeClassifier(1, thresholds="all").fit(X, np.arange(60) > 7).score(X, X > 7) == 1
    X[58:, 0] = [np.longdouble("1e400"), np.longdouble("1e401")]
    with pytest.raises(ValueError, match=r"too large for float64: column 0, row 58"):
        OptimalTreeClassifier(1, thresholds="all").fit(X, np.arange(60) == 59)


def test_numbers_and_texts_in_a_column_are_refused() -> None:
    X = [[float(i)] for i in range(200)]
    X[5] = ["five"]  # type: ignore[list-item]
    with pytest.raises(TypeError, match="column 0 holds both"):
        OptimalTreeClassifier(2, thresholds="all").fit(X, np.arange(200) % 2)


def test_models_of_ranks_can_be_copied(forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    model = OptimalTreeClassifier(1, thresholds="all").fit(X, y)
    copied = pickle.loads(pickle.dumps(model))
    assert copied.tree_ == model.tree_
    assert copied.encoder_.tests_ == model.encoder_.tests_
    assert copied.encoder_.transform(X[:5]).shape == (5, 3 * 299)
    again = clone(model).fit(X, y)
    assert again.certificate_.cost == model.certificate_.cost
    assert Fraction(copied.certificate_.cost) == model.certificate_.cost


@pytest.mark.parametrize(
    "X", [np.full((30, 2), 3.5), np.full((30, 1), np.nan), np.arange(30.0)[:, None] * [1, 0]]
)
def test_a_table_without_tests_gives_a_leaf(forced: Any, X: Any) -> None:
    """Once, an empty list of tests was asked for the test of the leaf."""
    y = np.arange(30) % 3 // 2
    first, second = fit_both(forced, X, y, max_depth=2, thresholds="all")
    assert first.tree_.n_leaves == second.tree_.n_leaves
    assert second.certificate_.n_tests == len(second.encoder_.tests_)


@pytest.mark.parametrize("n_ranks", [[], [1], [1, 1], [3, 1]])
def test_the_test_of_a_leaf_is_none(n_ranks: list[int]) -> None:
    nothing = np.zeros(len(n_ranks), dtype=np.intp)
    columns = RankedColumns(
        np.zeros((len(n_ranks), 4), dtype=np.int32), np.array(n_ranks, np.int32), nothing, nothing
    )
    assert columns.tests_at(np.array([-1])).tolist() == [-1]


def test_a_short_time_limit_leaves_tests_out(by_ranks: list[int]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.integers(0, 2, 3000)
    with pytest.warns(Warning, match="time_limit"):
        model = OptimalTreeClassifier(2, thresholds="all", time_limit=1e-6).fit(X, y)
    assert not by_ranks
    assert model.certificate_.n_tests == 3 * 2999
    assert model.certificate_.n_tests_searched < 3 * 2999
    assert verify(model, X, y)


@pytest.mark.parametrize("seed", range(3))
def test_a_fit_can_be_repeated(seed: int, forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 12, (40, 3)) / 2, rng.integers(0, 2, 40)
    models = [OptimalTreeClassifier(3, thresholds="all", n_jobs=n) for n in (1, 1, 2)]
    first, *others = (model.fit(X, y).tree_ for model in models)
    assert all(tree == first for tree in others)


def test_ranks_hold_the_rows_that_count(forced: Any) -> None:
    forced(True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    weights = (np.arange(100) % 3 > 0).astype(int)
    request = Request.of(OptimalTreeClassifier(2, thresholds="all"), X, y, weights)
    statement = state_classes(request)
    assert isinstance(statement.columns, RankedColumns)
    assert statement.columns.shape == (66, 130)
    assert statement.problem.columns.shape == (66, 130)


# ---- bad input -----------------------------------------------------------------------------------

UP = np.arange(20.0)
LARGE = 2**53 + np.arange(20)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        (np.where(UP == 3, np.inf, UP)[:, None], ValueError, "infinity.*column 0, row 3"),
        (np.where(UP == 3, -np.inf, UP)[:, None], ValueError, "infinity.*column 0, row 3"),
        (LARGE[:, None], ValueError, r"integers beyond 2\*\*53 .*9007199254740993 in column 0"),
        ([[int(value)] for value in LARGE], ValueError, r"integers beyond 2\*\*53"),
        ([[k if k % 2 else f"{k}"] for k in range(20)], TypeError, "numbers or strings.*column 0"),
    ],
    ids=["infinity", "minus infinity", "int64", "int", "mixed"],
)
def test_numbers_that_have_no_order_are_refused(table: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        OptimalTreeClassifier(2, thresholds="all").fit(table, UP > 9)


def test_large_integers_that_floats_tell_apart_are_cut_between(forced: Any) -> None:
    forced(True)
    table = (2**60 + 2**10 * np.arange(20))[:, None]
    model = OptimalTreeClassifier(2, thresholds="all").fit(table, UP > 9)
    assert (model.certificate_.cost, model.certificate_.n_tests) == (0, 19)
    assert model.predict(table).tolist() == (UP > 9).tolist()


@pytest.mark.parametrize(
    ("column", "n_tests", "cost"),
    [(np.full(20, 3.5), 0, 10), (np.full(20, np.nan), 0, 10), (np.append(UP[1:], np.nan), 37, 0)],
    ids=["one value", "all missing", "one missing"],
)
def test_columns_that_say_nothing_have_no_test(
    column: Any, n_tests: int, cost: int, forced: Any
) -> None:
    forced(True)
    labels = np.repeat([0, 1], 10)
    model = OptimalTreeClassifier(2, thresholds="all").fit(column[:, None], labels)
    assert model.certificate_.n_tests == n_tests
    assert model.certificate_.is_optimal
    assert model.certificate_.cost == cost


def test_a_million_different_numbers() -> None:
    values = np.random.default_rng(0).permutation(1_000_000) / 8
    model = OptimalTreeClassifier(2, thresholds="all", time_limit=None)
    model.fit(values[:, None], values % 62_500 >= 31_250)
    assert (model.certificate_.cost, model.certificate_.n_tests) == (0, 999_999)
    assert model.certificate_.counters["peak_bytes"] < 100e6
