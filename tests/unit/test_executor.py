"""The parameter `executor`: workers that die, lag or differ; limits, Ctrl-C, clusters."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from certree import (
    CostSensitiveTreeClassifier,
    LinearTreeRegressor,
    OptimalityWarning,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    OrdinalTreeClassifier,
    PolicyTree,
    SurvivalTree,
    TreeCV,
    load,
    reduce,
    verify,
)
from certree._version import __version__
from certree.engine import Options, _shared_search
from certree.engine._scalar import Problem
from certree.engine._shared_nodes import SharedLog
from certree.engine._workers import Packed, Reply, WorkerTask, run_task

Array = NDArray[Any]


@pytest.fixture(autouse=True)
def share_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave little to the first search, which one process makes."""
    monkeypatch.setattr(_shared_search, "FIRST_WORK", 20)


@pytest.fixture
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2) as executor:
        yield executor


def _table(n: int = 300, columns: int = 12, seed: int = 0) -> tuple[Array, Array]:
    """Return rows whose best trees take some hundred tasks at depth 4, and long at depth 7."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, columns))
    return X, (X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(n) < 0.3)).astype(int)


def _fit(executor: Any, **more: Any) -> OptimalTreeClassifier:
    callback = more.pop("callback", None)
    given = {"max_depth": 4, "time_limit": None, **more}
    return OptimalTreeClassifier(**given, executor=executor).fit(*_table(), callback=callback)


@pytest.fixture(scope="module")
def alone() -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=4).fit(*_table())


def _is_same(model: Any, other: Any) -> bool:
    is_equal = model.tree_.to_dict() == other.tree_.to_dict()
    return is_equal and model.certificate_.cost == other.certificate_.cost


# ---- the same tree -----------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_tree_is_the_same_from_any_number_of_workers(
    workers: int, alone: OptimalTreeClassifier
) -> None:
    with ProcessPoolExecutor(workers) as executor:
        model = _fit(executor)
    assert model.certificate_.status == "optimal"
    assert _is_same(model, alone)
    verify(model, *_table())


def test_penalties_weights_and_leaf_sizes_are_shared(processes: Executor) -> None:
    X, y = _table(120, 8)
    weight = np.arange(len(y)) % 3
    for more in ({"complexity": 0.01}, {"min_samples_leaf": 6, "class_weight": "balanced"}):
        given = {"max_depth": 4, **more}
        expected = OptimalTreeClassifier(**given).fit(X, y, weight)
        assert _is_same(
            OptimalTreeClassifier(**given, executor=processes).fit(X, y, weight), expected
        )


_X, _Y = _table(150, 8)
_NUMBERS = np.random.default_rng(3).normal(size=(150, 2)).round(1)
_AMOUNTS = (_X[:, 0] * 3 + _X[:, 1] * _X[:, 2] + np.abs(_NUMBERS[:, 0])).round(2)
_COSTS = np.random.default_rng(4).integers(0, 20, (150, 3))
_TIMES = np.array(
    [(bool(event), time + 0.1) for event, time in zip(_Y, _AMOUNTS, strict=True)],
    dtype=[("event", bool), ("time", float)],
)


@pytest.mark.parametrize(
    ("model", "rows", "more"),
    [
        (OptimalTreeClassifier(4, thresholds=6), (_NUMBERS, _Y), {}),
        (OptimalTreeClassifier(4), (_X, np.c_[_Y, _X[:, 3] ^ _X[:, 4]]), {}),
        (OptimalTreeRegressor(4, complexity=0.01), (_X, _AMOUNTS, 1 + _Y), {}),
        (OptimalTreeRegressor(3, thresholds=6, min_samples_leaf=5), (_NUMBERS, _AMOUNTS), {}),
        (OptimalTreeRegressor(3), (_X, np.c_[_AMOUNTS, _Y]), {}),
        (OptimalTreeRegressor(4, criterion="absolute_error"), (_X, _AMOUNTS), {}),
        (OptimalTreeRegressor(4, criterion="poisson"), (_X, _AMOUNTS), {}),
        (CostSensitiveTreeClassifier([[0, 3], [7, 0]], max_depth=4), (_X, _Y), {}),
        (
            CostSensitiveTreeClassifier([[0, 3, 1], [7, 0, 2], [1, 1, 0]], max_depth=4),
            (_X, _Y + _X[:, 5]),
            {},
        ),
        (CostSensitiveTreeClassifier(max_depth=4), (_X, None), {"costs": _COSTS}),
        (PolicyTree(max_depth=4, random_state=0), (_X, _X[:, 7], _AMOUNTS), {}),
        (OrdinalTreeClassifier(max_depth=4), (_X, _Y + _X[:, 5]), {}),
        (LinearTreeRegressor(3), (_X, _AMOUNTS), {}),
        (SurvivalTree(3), (_X, _TIMES), {}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_leaf_cost_of_the_core_is_shared(
    model: Any, rows: tuple[Any, ...], more: dict[str, Any]
) -> None:
    expected = clone(model).fit(*rows, **more)
    with _Counting() as executor:
        found = clone(model).set_params(executor=executor, time_limit=None).fit(*rows, **more)
        assert executor.sent[False], "the workers had nothing to do"
    assert found.certificate_.status == expected.certificate_.status == "optimal"
    assert _is_same(found, expected)


def test_numbers_of_rows_travel_with_the_table() -> None:
    """What groups stand for is sent once, and counts for the least leaf."""
    X, y = _table(240, 6)
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)]).assign(y=y)
    reduced = reduce(frame, target="y")
    given = {"max_depth": 4, "min_samples_leaf": 9, "time_limit": None}
    with _Counting() as executor:
        model = OptimalTreeClassifier(**given, executor=executor).fit_reduced(reduced)
        assert not executor.carried_counts
    assert _is_same(model, OptimalTreeClassifier(**given).fit_reduced(reduced))


def test_a_tree_to_start_from_is_certified(
    processes: Executor, alone: OptimalTreeClassifier
) -> None:
    model = OptimalTreeClassifier(max_depth=4, executor=processes)
    assert _is_same(model.fit(*_table(), warm_start_tree=alone), alone)


# ---- workers that fail -------------------------------------------------------------------------


def _killer(executor: ProcessPoolExecutor) -> Callable[[Any], None]:
    """Return a callback that kills a worker once."""
    killed: list[int] = []

    def kill(progress: Any) -> None:
        if not killed and executor._processes:
            killed.append(next(iter(executor._processes)))
            os.kill(killed[0], signal.SIGKILL)

    return kill


def test_without_its_workers_a_search_goes_on_in_this_process(
    alone: OptimalTreeClassifier,
) -> None:
    with ProcessPoolExecutor(2) as executor:
        list(executor.map(abs, range(4)))
        with pytest.warns(RuntimeWarning, match="lost its workers.*goes on in this process"):
            model = _fit(executor, callback=_killer(executor))
    assert _is_same(model, alone)


def test_a_function_makes_other_workers(alone: OptimalTreeClassifier) -> None:
    made: list[ProcessPoolExecutor] = []

    def make() -> ProcessPoolExecutor:
        made.append(ProcessPoolExecutor(2))
        return made[-1]

    def kill_the_first(progress: Any) -> None:
        if len(made) == 1 and made[0]._processes and not made[0]._broken:
            os.kill(next(iter(made[0]._processes)), signal.SIGKILL)
            # The search is short, and must not end before the pool knows that it is broken.
            while not made[0]._broken:
                time.sleep(0.01)

    model = _fit(make, callback=kill_the_first)
    for executor in made:
        executor.shutdown()
    assert len(made) == 2
    assert _is_same(model, alone)


class _Unreliable(ThreadPoolExecutor):
    """An executor that never answers, or raises, every third time."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__(2)
        self.error = error
        self.n_tasks = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n_tasks += 1
        if self.n_tasks % 3:
            return super().submit(fn, *args, **kwargs)
        future: Future[Any] = Future()
        if self.error is not None:
            future.set_exception(self.error)
        return future


def test_a_worker_that_does_not_answer_is_not_waited_for(
    alone: OptimalTreeClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_shared_search, "_PATIENCE", 0.05)
    monkeypatch.setattr(_shared_search, "_SHORTEST", 0.05)
    with _Unreliable() as executor:
        assert _is_same(_fit(executor), alone)
        assert executor.n_tasks > 3


def test_a_task_that_is_lost_is_done_by_another_worker(alone: OptimalTreeClassifier) -> None:
    with _Unreliable(OSError("the worker is gone")) as executor:
        assert _is_same(_fit(executor), alone)
        assert executor.n_tasks > 3


def test_a_worker_without_the_data_says_so() -> None:
    X, y = _table(40, 4)
    costs = np.array([[0, 1], [1, 0]], dtype=np.int64)
    packed = Packed.of(Problem(X.astype(np.uint8), y.astype(np.int32), costs))
    task = WorkerTask(packed.key, Options(max_depth=3), factor=100)
    assert run_task(task).missing
    reply = run_task(WorkerTask(packed.key, Options(max_depth=3), factor=100, data=packed))
    assert not reply.missing
    assert reply.upper < 100 * len(y)
    assert not run_task(task).missing


def test_tasks_do_not_carry_what_only_a_dead_worker_has_not_seen() -> None:
    log, lines = SharedLog(), np.zeros((3, 6), dtype=np.int64)
    for name in ("dead", "slow", "quick"):
        log.add(Reply(name, entries=lines))
    slow_has = 0
    for turn in range(100):
        log.add(Reply("quick", entries=lines, seen=len(log)))
        assert log.news[1][0].place <= slow_has, "a worker that still replies misses something"
        if turn % 4 == 3:
            slow_has = len(log)
            log.add(Reply("slow", entries=lines, seen=slow_has))
    assert len(log.news[1]) < 10


class _Counting(ThreadPoolExecutor):
    """An executor that counts tasks, and those that carry the table."""

    def __init__(self) -> None:
        super().__init__(2)
        self.sent = [0, 0]
        self.carried_counts = False

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if args and isinstance(args[0], WorkerTask):
            self.sent[args[0].data is not None] += 1
            self.carried_counts |= args[0].options.row_counts is not None
        return super().submit(fn, *args, **kwargs)


def test_the_table_is_sent_once_to_each_worker() -> None:
    with _Counting() as executor:
        _fit(executor)
        assert executor.sent[True] <= 2 < executor.sent[False]


class _Answering(Executor):
    """An executor whose tasks all end in the same way."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if isinstance(self.answer, Exception):
            future.set_exception(self.answer)
        else:
            future.set_result(self.answer)
        return future


def test_workers_need_certree_of_the_same_version() -> None:
    with pytest.raises(RuntimeError, match=f"certree 0.0.1.*this process has {__version__}"):
        _fit(_Answering("0.0.1"))
    with pytest.raises(RuntimeError, match=r"cannot import certree.*Install certree"):
        _fit(_Answering(ModuleNotFoundError("No module named 'certree'")))
    assert run_task(WorkerTask("", Options(), 1, version="0.0.1")).version == __version__


# ---- limits ------------------------------------------------------------------------------------


def _endless(executor: Any, **more: Any) -> OptimalTreeClassifier:
    X, y = _table(3000, 60, seed=1)
    callback = more.pop("callback", None)
    model = OptimalTreeClassifier(max_depth=7, executor=executor, **more)
    return model.fit(X, y, callback=callback)


def test_the_time_limit_holds(processes: Executor) -> None:
    list(processes.map(abs, range(4)))
    start = time.perf_counter()
    with pytest.warns(OptimalityWarning, match="time_limit=2"):
        model = _endless(processes, time_limit=2.0)
    assert time.perf_counter() - start < 3.0
    assert model.certificate_.status == "time_limit"
    assert model.certificate_.lower_bound < model.certificate_.cost


def test_the_time_limit_holds_where_no_worker_answers() -> None:
    class Silent(_Answering):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            return (
                super().submit(fn) if len(args) and args[0] == "certree:__version__" else Future()
            )

    start = time.perf_counter()
    with pytest.warns(OptimalityWarning, match="time_limit=1"):
        model = _endless(Silent(__version__), time_limit=1.0)
    assert time.perf_counter() - start < 2.0
    assert model.tree_.n_splits > 0


@pytest.mark.usefixtures("listens_to_ctrl_c")
def test_ctrl_c_returns_the_best_tree(processes: Executor) -> None:
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.warns(OptimalityWarning, match="interrupted"):
        model = _endless(processes, time_limit=None)
    assert time.perf_counter() - start < 3.5
    assert model.certificate_.status == "interrupted"


def test_a_callback_stops_the_search(processes: Executor) -> None:
    seen = []

    def stop(progress: Any) -> bool:
        seen.append((progress.upper_bound, progress.lower_bound))
        return progress.seconds > 1

    with pytest.warns(OptimalityWarning, match="callback stopped"):
        model = _endless(processes, time_limit=None, callback=stop)
    assert model.certificate_.cost == min(cost for cost, _ in seen)


def test_a_gap_ends_the_search(processes: Executor) -> None:
    model = _endless(processes, gap=10**6)
    assert model.certificate_.status == "gap"


# ---- parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"max_depth": None, "complexity": 0.1}, "needs max_depth to be a number, got None"),
        ({"max_splits": 3}, "needs max_splits to be None"),
        ({"max_leaf_nodes": 3}, "needs max_leaf_nodes to be None, and max_splits, too, got 3"),
        ({"splits": "multiway"}, "needs splits to be 'binary'"),
        ({"search": "best-first"}, "needs search to be 'auto'"),
        ({"objective": "f1"}, "needs objective to be 'accuracy'"),
    ],
)
def test_what_workers_cannot_share_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _fit(_Answering(None), **more)


def test_prices_and_limits_on_the_tree_are_refused() -> None:
    model = CostSensitiveTreeClassifier(max_depth=3, executor=_Answering(None))
    with pytest.raises(ValueError, match="needs test_costs to be None"):
        clone(model).set_params(test_costs=[1] * 8).fit(_X, _Y)
    with pytest.raises(ValueError, match="shares no search with limits on the whole tree"):
        clone(model).set_params(capacity={1: 10}).fit(_X, _Y)


@pytest.mark.parametrize("end", ["optimal", "time_limit", "error"])
def test_an_executor_that_was_made_for_a_search_ends_with_it(end: str) -> None:
    made: list[ProcessPoolExecutor] = []

    def make() -> Executor:
        made.append(ProcessPoolExecutor(2))
        return made[-1]

    def fail(_: Any) -> None:
        if made:
            raise KeyError("of the callback")

    if end == "optimal":
        _fit(make)
    elif end == "time_limit":
        with pytest.warns(OptimalityWarning):
            _endless(make, time_limit=1.0)
    else:
        with pytest.raises(KeyError):
            _endless(make, time_limit=5.0, callback=fail)
    assert len(made) == 1
    with pytest.raises(RuntimeError, match="shutdown"):
        made[0].submit(abs, 1)


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"executor must be a concurrent.futures.Executor.*got 2"):
        _fit(2)
    with pytest.raises(TypeError, match="must return an executor, and returned None"):
        _fit(lambda: None)
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ValueError, match=r"takes no tasks: .*shutdown"):
        _fit(executor)


def test_clones_keep_the_workers_and_files_do_not(processes: Executor, tmp_path: Path) -> None:
    model = _fit(processes)
    assert clone(model).executor is processes
    assert pickle.loads(pickle.dumps(model)).executor is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").executor is None
    TreeCV(model, depths=(1,), cv=2).fit(*_table(60, 3))


# ---- clusters ----------------------------------------------------------------------------------


def test_dask_shares_a_search(alone: OptimalTreeClassifier) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert _is_same(_fit(client), alone)
        assert _is_same(_fit(client.get_executor()), alone)
    with pytest.raises(ValueError, match="takes no tasks: the client is closed"):
        _fit(client)


def test_ray_shares_a_search(alone: OptimalTreeClassifier) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert _is_same(_fit(ray), alone)
    finally:
        ray.shutdown()
