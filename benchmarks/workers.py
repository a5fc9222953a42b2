"""One search over worker processes: seconds, work, what tasks carry, and a model of more workers.

    CERTREE_DATA=... python benchmarks/workers.py --only german-credit endgame --workers 1 2

Each line is a fit of its own: first one process without an executor, then as many processes at once
that do the same fit and know nothing of each other ("apart"), then pools of processes. The lines
"apart" show what the machine itself gives: cores that share memory and clock are slower together.
Wall seconds say something on a quiet machine with as many free cores as workers; processor seconds
and depth-two evaluations on any. "Ideal" is what the processor seconds of the busiest worker would
give if it had a core of its own. "endgame" is generated, and held out from all tuning. The model at
the end is for a search of an hour.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from harness.instances import Instance, accuracy_instances

from certree import OptimalTreeClassifier
from certree.engine import _shared_search

MODELLED = (2, 4, 8, 16, 32, 64, 100)


def endgame(rows: int = 2500, columns: int = 60, seed: int = 19) -> Instance:
    """Draw a table like that of a chess endgame: few frequent answers, labels by a deep tree."""
    rng = np.random.default_rng(seed)
    bits = (rng.random((rows, columns)) < rng.uniform(0.1, 0.6, columns)).astype(np.uint8)
    labels, node = np.zeros(rows, dtype=np.int64), np.ones(rows, dtype=np.int64)
    asked = rng.integers(0, columns, 2**9)
    for _ in range(8):
        node = 2 * node + bits[np.arange(rows), asked[node]]
    labels = np.random.default_rng(seed + 1).integers(0, 2, 2**9)[node]
    flips = rng.random(rows) < 0.02
    return Instance("endgame", bits, labels ^ flips)


class MeasuredPool(ProcessPoolExecutor):
    """A pool that notes what its tasks carry and take."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.sent: list[int] = []
        self.received: list[int] = []
        self.busy: dict[str, float] = {}
        self.seconds: list[float] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Note the size of a task, and of its reply."""
        future = super().submit(fn, *args, **kwargs)
        if args and hasattr(args[0], "path"):
            self.sent.append(len(pickle.dumps(args)))
            future.add_done_callback(self._note)
        return future

    def _note(self, future: Future[Any]) -> None:
        if future.cancelled() or future.exception() is not None:
            return
        reply = future.result()
        self.received.append(len(pickle.dumps(reply)))
        self.seconds.append(reply.seconds)
        self.busy[reply.worker] = self.busy.get(reply.worker, 0.0) + reply.cpu_seconds


def fit_apart(instance: Instance, depth: int) -> tuple[float, float]:
    """Fit in this process, and return its wall and processor seconds."""
    return fit(instance, depth, None)[1:]


def run_apart(instance: Instance, depth: int, workers: int) -> tuple[float, float]:
    """Return the mean seconds of so many equal fits at once, none of which knows of the others."""
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(abs, range(4 * workers)))
        found = [pool.submit(fit_apart, instance, depth) for _ in range(workers)]
        walls, cpus = zip(*(one.result() for one in found), strict=True)
    return sum(walls) / workers, sum(cpus) / workers


def overhead(workers: int) -> None:
    """Print what an executor costs a search that one process ends at once."""
    start = time.perf_counter()
    small = endgame(rows=300, columns=10)
    with ProcessPoolExecutor(workers) as pool:
        list(pool.map(abs, range(4 * workers)))
        begun = time.perf_counter() - start
        _, alone, _ = fit(small, 3, None)
        _, shared, _ = fit(small, 3, pool)
        before, _shared_search.FIRST_WORK = _shared_search.FIRST_WORK, 20
        try:
            _, sent, _ = fit(small, 4, pool)
        finally:
            _shared_search.FIRST_WORK = before
    print(
        f"\nA pool of {workers} starts in {begun:.2f} s. A search of {alone:.3f} s takes "
        f"{shared:.3f} s with it, and one of {sent:.3f} s if all of it goes to the workers."
    )


def fit(instance: Instance, depth: int, executor: Any) -> tuple[Any, float, float]:
    """Return a model, and the wall and processor seconds of this process."""
    model = OptimalTreeClassifier(depth, time_limit=None, executor=executor)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(instance.columns, instance.labels)
    return model, time.perf_counter() - wall, time.process_time() - cpu


@contextmanager
def exchange_of(workers: int) -> Iterator[None]:
    """Let workers tell each other as little as so many would."""
    before = _shared_search.least_effort
    _shared_search.least_effort = lambda _: before(workers)
    try:
        yield
    finally:
        _shared_search.least_effort = before


def children_cpu() -> float:
    """Return the processor seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def model_speedup(pool: MeasuredPool, coordinator: float, factor: float) -> None:
    """Print what more workers would make of an hour; `factor`: work by that of one process."""
    n_tasks = max(len(pool.seconds), 1)
    each, size = coordinator / n_tasks, sum(pool.sent + pool.received) / n_tasks
    task = sum(pool.seconds) / n_tasks
    print(
        f"\ncoordinator: {1e3 * each:.1f} ms a task; tasks of {task:.2f} s and {size / 1e3:.0f} kB"
    )
    print("| workers | speed-up | coordinator busy | MB/s |\n| ---: | ---: | ---: | ---: |")
    for workers in MODELLED:
        rate = min(workers / max(task, 1e-9), 1 / each)
        useful = rate * task  # workers that the coordinator keeps busy
        seconds = 1.0 + 3600 * factor / useful  # a second for the first trees and the last tasks
        load, traffic = rate * each, rate * size / 1e6
        print(f"| {workers} | {3600 / seconds:.1f} | {100 * load:.0f} % | {traffic:.1f} |")


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=["german-credit", "endgame"])
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    for instance in (*accuracy_instances(), endgame()):
        if instance.name not in given.only:
            continue
        print(f"{instance.name}, depth {given.depth}\n")
        print("| workers | wall, s | processor, s | ideal, s | evaluations | tasks | cost |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        model, wall, alone = fit(instance, given.depth, None)
        work = model.certificate_.counters["depth_two_evaluations"]
        cost, shape = model.certificate_.cost, model.tree_.to_dict()
        print(f"| none | {wall:.1f} | {alone:.1f} | {alone:.1f} | {work} | | {cost} |", flush=True)
        for workers in given.workers:
            if workers > 1:
                apart, used = run_apart(instance, given.depth, workers)
                print(f"| {workers} apart | {apart:.1f} | {used:.1f} | | | | |", flush=True)
            before = children_cpu()
            with MeasuredPool(workers) as pool:
                list(pool.map(abs, range(4 * workers)))  # starts the workers
                model, wall, own = fit(instance, given.depth, pool)
            cpu, found = children_cpu() - before, model.certificate_
            ideal = max(pool.busy.values(), default=0.0) + own
            done = found.counters["depth_two_evaluations"]
            line = f"{wall:.1f} | {cpu + own:.1f} | {ideal:.1f} | {done} | {len(pool.seconds)}"
            print(f"| {workers} | {line} | {found.cost} |", flush=True)
            if model.tree_.to_dict() != shape:
                raise SystemExit(f"{workers} workers found another tree")
        # The same with what a hundred workers would tell each other.
        with exchange_of(MODELLED[-1]), MeasuredPool(2) as pool:
            list(pool.map(abs, range(8)))
            model, _, own = fit(instance, given.depth, pool)
        done = model.certificate_.counters["depth_two_evaluations"]
        print(f"\nwith the exchange of {MODELLED[-1]} workers: {done / work:.2f} times the work")
        model_speedup(pool, own, done / work)
    overhead(max(given.workers))
    print(f"The first {_shared_search.FIRST_WORK} evaluations are those of one process.")


if __name__ == "__main__":
    main()
