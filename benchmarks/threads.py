"""One search by several threads: seconds of the clock, of all processors, of the busiest thread.

    CERTREE_DATA=... python benchmarks/threads.py --threads 1 2 --only sparse front

Wall seconds say something on a quiet machine with a free core per thread. On any machine, the
processor seconds of the busiest thread are what the search would take if every thread had a core of
its own; "times" is how much less that is than with one thread. Needs Linux, which counts them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from harness.instances import Instance, accuracy_instances, sparse_instances

from certree import OptimalTreeClassifier, pareto_front


def busy_seconds() -> dict[str, float]:
    """Return the processor seconds of each thread of this process."""
    found = {}
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat") as file:
                found[thread] = int(file.read().split()[0]) / 1e9
        except OSError:  # it has ended
            continue
    return found


def tree_of(instance: Instance, watch: Any, **settings: Any) -> Any:
    """Fit a sparse tree without a depth."""
    model = OptimalTreeClassifier(None, time_limit=None, **settings)
    return model.fit(instance.columns, instance.labels, callback=watch)


def front_of(instance: Instance, watch: Any, **settings: Any) -> Any:
    """Find a front."""
    table = (instance.columns, instance.labels)
    return pareto_front(*table, time_limit=None, callback=watch, **settings)


def answer_of(found: Any) -> list[str]:
    """Return the status and the texts of all trees."""
    models = [found] if isinstance(found, OptimalTreeClassifier) else list(found)
    status = found.certificate_.status if models[0] is found else found.status
    return [status, *(model.tree_.to_text() for model in models)]


def cases() -> Iterator[tuple[str, Instance, Callable[..., Any], dict[str, Any]]]:
    """Yield searches of five seconds or more: their kind, data, how to run them, and settings."""
    multiway = {"categorical_features": "all"}
    for name, complexity in (("lymph-f", 0.01), ("balance", 0.003)):
        for instance in sparse_instances([name]):
            yield "sparse", instance, tree_of, {"complexity": complexity}
    for name, complexity in (("tictactoe-o", 0.002), ("careval-o", 0.001)):
        for instance in sparse_instances([name]):
            settings = {"complexity": complexity, "splits": "both", **multiway}
            yield "multiway", instance, tree_of, settings
    for instance in accuracy_instances():
        if instance.name == "diabetes":
            yield "front", instance, front_of, {"max_depth": 5}
        if instance.name == "german-credit":
            yield "front", instance, front_of, {"max_depth": 4, "per_splits": True}


def measure(run: Callable[..., Any], threads: int) -> tuple[list[str], float, float, float]:
    """Return the answer, and the seconds of the clock, of all threads and of the busiest one."""
    before, seen = busy_seconds(), {}

    def watch(_: Any) -> None:
        seen.update(busy_seconds())  # threads that end take their seconds with them

    start = time.perf_counter()
    found = run(watch=watch, n_jobs=threads)
    wall = time.perf_counter() - start
    seen.update(busy_seconds())
    spent = [seconds - before.get(thread, 0.0) for thread, seconds in seen.items()]
    return answer_of(found), wall, sum(spent), max(spent)


def main() -> None:
    """Print a line per search and number of threads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", default=["sparse", "multiway", "front"])
    chosen = parser.parse_args()
    head = f"{'search':9} {'data':15} {'settings':30} threads   wall    all  busiest  times"
    print(f"{head}  answer")
    for kind, instance, search, settings in cases():
        if kind not in chosen.only and instance.name not in chosen.only:
            continue
        words = " ".join(str(v) for v in settings.values() if v != "all")
        first: tuple[list[str], float] | None = None
        for threads in chosen.threads:
            run = partial(search, instance, **settings)
            answer, wall, total, busiest = measure(run, threads)
            first = first or (answer, busiest)
            same = "same" if answer == first[0] else "DIFFERENT"
            print(
                f"{kind:9} {instance.name:15} {words:30} {threads:7} {wall:6.1f} {total:6.1f} "
                f"{busiest:8.1f} {first[1] / busiest:6.2f}  {answer[0]}, {same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
