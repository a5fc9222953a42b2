"""Ctrl-C: the first ends a call with the best so far, the second raises, and so do loops."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from certree import (
    FairTreeClassifier,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    SPOForest,
    SPOTree,
    oracles,
    pareto_front,
    regularization_path,
    verify,
)
from certree.engine._budget import Budget, budget, current

pytestmark = [
    pytest.mark.usefixtures("listens_to_ctrl_c"),
    pytest.mark.filterwarnings("ignore::certree.OptimalityWarning"),
]

RNG = np.random.default_rng(0)
N = 900
X = RNG.normal(size=(N, 12))
Y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
Y[RNG.random(N) < 0.2] ^= 1
GROUPS = RNG.integers(0, 2, N)
COSTS = np.random.default_rng(1).uniform(1, 2, size=(N, 12))

# A call that would take a minute is over soon after Ctrl-C, also on a machine with other work.
LONG, SOON = 60.0, 20.0


@contextmanager
def ctrl_c(*after: float) -> Iterator[None]:
    """Press Ctrl-C after so many seconds."""
    timers = [threading.Timer(s, os.kill, (os.getpid(), signal.SIGINT)) for s in after]
    for timer in timers:
        timer.start()
    try:
        yield
    finally:
        for timer in timers:
            timer.cancel()


CALLS: dict[str, Callable[[], Any]] = {
    "fit": lambda: OptimalTreeClassifier(max_depth=6, time_limit=LONG).fit(X, Y),
    "threads": lambda: OptimalTreeClassifier(max_depth=6, time_limit=LONG, n_jobs=2).fit(X, Y),
    "path": lambda: OptimalTreeClassifier(max_depth=6, time_limit=LONG).fit(X, Y, path=True),
    "metric": lambda: OptimalTreeClassifier(6, objective="f1", time_limit=LONG).fit(X, Y),
    "fair": lambda: FairTreeClassifier(max_depth=6, time_limit=LONG).fit(X, Y, GROUPS),
    "policy": lambda: PolicyTree(max_depth=6, time_limit=LONG).fit_rewards(
        X, np.column_stack([Y, 1 - Y]) + X[:, :2]
    ),
}


STOPPED: dict[str, Callable[[Any], Any]] = {
    "fit": lambda ask: OptimalTreeClassifier(5, time_limit=1).fit(X, Y, callback=ask),
    "threads": lambda ask: OptimalTreeClassifier(5, time_limit=1, n_jobs=3).fit(X, Y, callback=ask),
    "all thresholds": lambda ask: OptimalTreeClassifier(
        4, thresholds="all", time_limit=1, n_jobs=2
    ).fit(X, Y, callback=ask),
    "f1": lambda ask: OptimalTreeClassifier(5, objective="f1", time_limit=1).fit(
        X, Y, callback=ask
    ),
    "auc": lambda ask: OptimalTreeClassifier(4, objective="auc", time_limit=1).fit(
        X, Y, callback=ask
    ),
    "fair": lambda ask: FairTreeClassifier(max_depth=4, time_limit=1).fit(
        X, Y, GROUPS, callback=ask
    ),
    "numbers": lambda ask: OptimalTreeRegressor(max_depth=4, time_limit=1).fit(
        X, X[:, 0] * X[:, 1], callback=ask
    ),
}


@pytest.mark.parametrize("patience", [0, 1, 2, 5])
@pytest.mark.parametrize("name", STOPPED)
def test_a_callback_that_asks_once_to_stop_is_told_so(name: str, patience: int) -> None:
    """Once, the time limit had the last word, and so had the next of several searches."""
    asked: list[Any] = []

    def stop(event: Any) -> bool:
        asked.append(event)
        return len(asked) == patience + 1

    certificate = STOPPED[name](stop).certificate_
    if len(asked) > patience:
        assert certificate.status in ("interrupted", "optimal")
    else:
        assert certificate.status != "interrupted"


@pytest.mark.parametrize("name", CALLS)
def test_the_first_ctrl_c_ends_the_whole_call_with_the_best_so_far(name: str) -> None:
    start = time.perf_counter()
    with ctrl_c(0.6):
        model = CALLS[name]()
    assert time.perf_counter() - start < SOON
    assert model.certificate_.status == "interrupted"
    assert model.tree_.n_splits > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if name == "path":
        assert model.path_.status == "interrupted"
        assert verify(model, X, Y)


@pytest.mark.parametrize("function", [pareto_front, regularization_path])
def test_functions_return_what_they_have(function: Callable[..., Any]) -> None:
    with ctrl_c(0.5):
        found = function(X, Y, max_depth=6, time_limit=LONG)
    assert found.status == "interrupted"
    assert len(found) > 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cross_validation_ends_with_the_folds_that_are_done(n_jobs: int) -> None:
    start = time.perf_counter()
    model = OptimalTreeClassifierCV(depths=(2, 6), cv=4, time_limit=LONG, n_jobs=n_jobs)
    with ctrl_c(0.8), pytest.warns(OptimalityWarning, match="of 4 folds"):
        model.fit(X, Y)
    assert time.perf_counter() - start < SOON
    assert 1 <= model.n_splits_ < 4
    assert len(model.predict(X)) == N


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_forest_keeps_the_trees_that_it_has(n_jobs: int | None) -> None:
    C = RNG.normal(size=(N, 24))
    forest = SPOForest(oracles.GridShortestPath(4, 4), n_estimators=10_000, n_jobs=n_jobs)
    start = time.perf_counter()
    with (
        parallel_config(backend="threading"),
        ctrl_c(1.0),
        pytest.warns(OptimalityWarning, match="of 10000 trees"),
    ):
        forest.fit(X[:, :3], C)
    assert time.perf_counter() - start < SOON
    assert 1 <= len(forest.estimators_) < 10_000
    assert forest.decide(X[:5, :3]).shape == (5, 24)


def test_the_second_ctrl_c_raises_and_leaves_the_model_as_it_was() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit(X[:50], Y[:50])
    before = dict(vars(model))
    model.max_depth = 6

    def slow(progress: Any) -> None:
        time.sleep(0.5)

    with pytest.raises(KeyboardInterrupt), ctrl_c(0.3, 0.4):
        model.fit(X, Y, callback=slow)
    assert vars(model) == before | {"max_depth": 6}


def test_ctrl_c_in_a_loop_of_scikit_learn_raises() -> None:
    model = OptimalTreeClassifier(max_depth=6, time_limit=LONG)
    loops: list[Callable[[], Any]] = [
        lambda: GridSearchCV(model, {"complexity": [0.0, 0.001]}, cv=3).fit(X, Y),
        lambda: cross_val_score(make_pipeline(FunctionTransformer(), model), X, Y, cv=3),
    ]
    for loop in loops:
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt), ctrl_c(0.5):
            loop()
        assert time.perf_counter() - start < SOON


def test_a_pipeline_is_no_loop() -> None:
    model = OptimalTreeClassifier(max_depth=6, time_limit=LONG)
    with ctrl_c(0.5):
        make_pipeline(FunctionTransformer(), model).fit(X, Y)
    assert model.certificate_.status == "interrupted"


def test_the_second_ctrl_c_ends_a_loop_of_the_user() -> None:
    done = []

    def loop() -> None:
        for _ in range(5):
            done.append(CALLS["fit"]())

    with pytest.raises(KeyboardInterrupt), ctrl_c(0.5, 1.5):
        loop()
    assert [model.certificate_.status for model in done] == ["interrupted"]


def test_other_threads_are_not_told() -> None:
    found = []
    thread = threading.Thread(
        target=lambda: found.append(OptimalTreeClassifier(max_depth=6, time_limit=1.5).fit(X, Y))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        with pytest.raises(KeyboardInterrupt), ctrl_c(0.3):
            time.sleep(10)
        thread.join()
    assert found[0].certificate_.status == "time_limit"


def test_a_program_keeps_its_own_handler() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("once"))
    with ctrl_c(0.3):
        model = OptimalTreeClassifier(max_depth=6, time_limit=1.5).fit(X, Y)
    assert (heard, model.certificate_.status) == (["once"], "time_limit")


def test_ctrl_c_raises_where_there_is_nothing_to_return() -> None:
    class Slow(LinearRegression):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            time.sleep(30)

    start = time.perf_counter()
    model = PolicyTree(method="dm", outcome_model=Slow())
    with pytest.raises(KeyboardInterrupt), ctrl_c(0.5):
        model.fit(X, GROUPS, Y)
    assert time.perf_counter() - start < SOON
    assert not hasattr(model, "tree_")


def test_a_greedy_tree_is_left_as_it_is() -> None:
    C = RNG.normal(size=(N, 24))
    tree = SPOTree(oracles.GridShortestPath(4, 4), method="greedy", max_depth=None, time_limit=0.2)
    start = time.perf_counter()
    tree.fit(X, C)
    assert time.perf_counter() - start < SOON
    # A fast machine grows it to the end, where it loses nothing, and that is optimal.
    status = tree.certificate_.status
    assert status in ("time_limit", "greedy") or (status, tree.certificate_.cost) == ("optimal", 0)


def test_calls_inside_of_others_get_no_more_than_these_have_left() -> None:
    with budget(10, 1000) as outer:
        with budget(100, 10) as inner:
            assert inner.remaining() <= 10  # type: ignore[operator]
            assert (inner.memory, current()) == (10, inner)
        with budget(None, None) as inner:
            assert inner.memory == 1000
            inner.interrupt()
        assert outer.is_interrupted
        with pytest.raises(KeyboardInterrupt):
            outer.interrupt()
    assert current() is None


def test_what_is_left_is_never_no_limit() -> None:
    late = Budget(1e-9)
    assert late.remaining() > 0  # type: ignore[operator]
    assert late.status() == "time_limit"
    assert Budget(None, 3).memory_left() == 3
