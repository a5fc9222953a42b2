"""One solver on one instance, in a process of its own.

The driver starts this file with the interpreter that has the solver: the project's environment
for certree, the peers' environment for the others. It therefore imports nothing of the harness,
only NumPy and the solver asked for. The job comes as a JSON file, the answer goes into a JSON file,
so that whatever a peer prints stays out of the way.

What is measured is the same for everybody:

* ``seconds``: from the call of ``fit`` to its return, on arrays already in memory and in the type
  that the solver's documentation asks for. A fit of a tiny table comes first, so that lazy imports
  are charged to nobody.
* ``processor_seconds``: the processor time of the same call. On a busy machine it is the steadier
  of the two; with one thread and no waiting they are equal.
* ``peak_kib``: the highest resident size during the first fit minus the resident size just before
  it. Where Linux allows it the high-water mark is reset first; otherwise ``ru_maxrss`` before and
  after, which understates everybody alike.
* ``errors``: training rows whose prediction differs from their label, counted here from the
  predictions, never taken from the solver.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.metadata
import json
import resource
import sys
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Job = dict[str, Any]
Answer = dict[str, Any]
Array = np.ndarray[Any, Any]


class Solver(ABC):
    """What the measurement needs of a solver; one subclass per package."""

    package = ""

    def __init__(self, job: Job) -> None:
        self.depth: int | None = job.get("max_depth")
        self.complexity: float = job.get("complexity", 0.0)
        self.limit: float = job["limit"]
        self.options: dict[str, Any] = job.get("options", {})

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        """Give the data in the form this solver likes best; not timed."""
        return columns, labels

    @abstractmethod
    def fit(self, columns: Any, labels: Any) -> Any:
        """Search for the best tree; this is what is timed."""

    def predict(self, model: Any, columns: Any) -> Array:
        """Predict the training rows."""
        return np.asarray(model.predict(columns))

    def read(self, data: Any) -> tuple[Any, Any]:
        """Take from the data file what this solver needs."""
        return self.prepare(data["columns"], data["labels"])

    def warm_up(self) -> None:
        """Fit a tiny table, so that lazy imports are charged to nobody."""
        columns = np.array([[i >> b & 1 for b in range(4)] for i in range(16)], dtype=np.uint8)
        self.fit(*self.prepare(columns, columns[:, 0] ^ columns[:, 1]))

    def measure(self, model: Any, columns: Any, labels: Any) -> Answer:
        """Count what the tree costs, from its predictions."""
        return {"errors": int((self.predict(model, columns) != labels).sum())}

    @abstractmethod
    def describe(self, model: Any) -> Answer:
        """Report ``proven``, ``splits``, and ``counters`` where the solver has them."""


class Certree(Solver):
    """The estimator, as a user calls it."""

    package = "certree"

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import OptimalTreeClassifier

        model = OptimalTreeClassifier(
            max_depth=self.depth,
            complexity=self.complexity,
            time_limit=self.limit,
            **{"n_jobs": 1, **self.options},
        )
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        certificate = model.certificate_
        return {
            "proven": bool(certificate.is_optimal),
            "splits": int(model.tree_.n_splits),
            "depth": int(model.tree_.depth),
            "status": certificate.status,
            "gap": float(certificate.gap),
            "counters": dict(certificate.counters),
        }


class CertreeCore(Solver):
    """The compiled core alone: no validation, no encoding, every switch at hand."""

    package = "certree"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        self.classes, types = np.unique(labels, return_inverse=True)
        self.cost_matrix = 1 - np.eye(len(self.classes), dtype=np.int64)
        return np.asfortranarray(columns, dtype=np.uint8), types.astype(np.int32)

    def fit(self, columns: Any, labels: Any) -> Any:
        from certree import _core

        scale, penalty = integer_objective(self.complexity, len(labels))
        options = {
            "max_depth": -1 if self.depth is None else self.depth,
            "error_scale": scale,
            "split_penalty": penalty,
            "time_limit": self.limit,
            **self.options,
        }
        return _core.solve(columns, labels, self.cost_matrix, None, options)

    def predict(self, model: Any, columns: Any) -> Array:
        test, first = np.asarray(model.test), np.asarray(model.first_child)
        node = np.zeros(len(columns), dtype=np.int64)
        while (inner := test[node] >= 0).any():
            rows = np.flatnonzero(inner)
            bit = columns[rows, test[node[rows]]]
            node[rows] = first[node[rows]] + (bit == 0)
        return np.asarray(self.classes[np.asarray(model.label)[node]])

    def describe(self, model: Any) -> Answer:
        return {
            "proven": model.status == "optimal",
            "splits": int((np.asarray(model.test) >= 0).sum()),
            "status": model.status,
            "counters": dict(model.counters),
        }


class Pystreed(Solver):
    """STreeD. Labels and features as C integers, which is what it converts everything to."""

    package = "pystreed"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.intc), labels.astype(np.intc)

    def fit(self, columns: Any, labels: Any) -> Any:
        from pystreed import STreeDClassifier

        depth = 20 if self.depth is None else self.depth
        model = STreeDClassifier(
            "cost-complex-accuracy" if self.complexity else "accuracy",
            max_depth=depth,
            max_num_nodes=2**depth - 1,
            time_limit=self.limit,
            cost_complexity=self.complexity,
            **self.options,
        )
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        if not hasattr(model, "fit_result"):  # The limit came before any tree did.
            return {"proven": False, "splits": None}
        result = model.fit_result
        return {"proven": bool(result.is_optimal()), "splits": int(result.tree_nodes())}


class Pydl85(Solver):
    """DL8.5 with the defaults of its own classifier (depth-two solver and similarity bound on)."""

    package = "pydl8.5"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=np.int32), labels.astype(np.int32)

    def fit(self, columns: Any, labels: Any) -> Any:
        from pydl85 import DL85Classifier

        limit = max(1, round(self.limit))
        model = DL85Classifier(max_depth=self.depth, time_limit=limit, **self.options)
        return model.fit(columns, labels)

    def describe(self, model: Any) -> Answer:
        if model.tree_ is None:
            return {"proven": False, "splits": None}
        return {"proven": not model.timeout_, "splits": count_splits(model.tree_)}


class Gosdt(Solver):
    """GOSDT. Its penalty is per leaf: on binary trees the same objective up to one constant."""

    package = "gosdt"

    def prepare(self, columns: Array, labels: Array) -> tuple[Any, Any]:
        return np.ascontiguousarray(columns, dtype=bool), labels

    def fit(self, columns: Any, labels: Any) -> Any:
        from gosdt import GOSDTClassifier

        model = GOSDTClassifier(
            regularization=self.complexity,
            allow_small_reg=True,
            depth_budget=self.depth,
            time_limit=max(1, round(self.limit)),
            **self.options,
        )
        return model.fit(columns, labels)

    def predict(self, model: Any, columns: Any) -> Array:
        # GOSDTClassifier.predict uses an argument that newer scikit-learn no longer takes; the
        # tree below it predicts without.
        return np.asarray(model.trees_[0].predict(columns))

    def describe(self, model: Any) -> Answer:
        result = model.get_result()
        tree = json.loads(result["models_string"])[0]
        return {
            "proven": str(result["status"]).endswith(".CONVERGED"),
            "splits": count_splits(tree),
            "counters": {key: int(result[key]) for key in ("n_iterations", "graph_size")},
        }


SOLVERS: dict[str, type[Solver]] = {
    "certree": Certree,
    "certree-core": CertreeCore,
    "pystreed": Pystreed,
    "pydl8.5": Pydl85,
    "gosdt": Gosdt,
}


def solver_class(name: str) -> type[Solver]:
    """Find a solver by name; those of the other suites have files of their own."""
    if name in SOLVERS:
        return SOLVERS[name]
    if not __package__:
        # This file is the main program: the others must see the same classes.
        sys.modules.setdefault("worker", sys.modules[__name__])
    for kind in ("metric", "task", "limit", "number", "anytime"):
        module = importlib.import_module(f"{__package__ or ''}.{kind}_solvers".lstrip("."))
        solvers: dict[str, type[Solver]] = getattr(module, f"{kind.upper()}_SOLVERS")
        if name in solvers:
            return solvers[name]
    raise ValueError(f"there is no solver {name!r}.")


def integer_objective(complexity: float, rows: int) -> tuple[int, int]:
    """Turn "errors + complexity * rows * splits" into two integer coefficients."""
    from fractions import Fraction

    penalty = Fraction(repr(complexity)) * rows
    return penalty.denominator, penalty.numerator


def count_splits(node: Any) -> int:
    """Count the inner nodes of a tree of nested dictionaries: those with dictionaries below."""
    children = [child for child in node.values() if isinstance(child, dict)]
    return bool(children) + sum(count_splits(child) for child in children)


def memory_kib(field: str) -> int:
    """Read one size of this process, or the peak that POSIX gives where Linux' files are absent."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def timed(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """Run an action; give its value, its seconds and its processor seconds."""
    start, processor_start = time.perf_counter(), time.process_time()
    value = action()
    seconds = time.perf_counter() - start
    return value, seconds, time.process_time() - processor_start


def measured(action: Callable[[], Any]) -> tuple[Any, float, float, int]:
    """Run an action as :func:`timed` does; give its peak memory above the start as well."""
    gc.collect()
    # Free heap pages that the allocator keeps would hide what the action takes: hand them back.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = memory_kib("VmRSS")
    except OSError:
        before = memory_kib("VmHWM")
    value, seconds, processor_seconds = timed(action)
    return value, seconds, processor_seconds, max(0, memory_kib("VmHWM") - before)


def run(job: Job) -> Answer:
    """Do the job: warm up, fit one or more times, check the result."""
    data = np.load(job["data"])
    solver = solver_class(job["solver"])(job)
    solver.warm_up()
    columns, labels = solver.read(data)
    model, seconds, processor_seconds, peak = measured(lambda: solver.fit(columns, labels))
    times, processor_times = [seconds], [processor_seconds]
    while len(times) < job["repeats"] and sum(times) < job["enough"]:
        _, seconds, processor_seconds = timed(lambda: solver.fit(columns, labels))
        times.append(seconds)
        processor_times.append(processor_seconds)

    answer: Answer = {"times": times, "processor_times": processor_times, "peak_kib": peak}
    answer |= solver.describe(model)
    if answer["splits"] is not None:
        answer |= solver.measure(model, columns, labels)
    answer["version"] = importlib.metadata.version(solver.package)
    return answer


def main(job_file: str, answer_file: str) -> None:
    """Read the job, run it, write the answer; an exception is an answer too."""
    warnings.simplefilter("ignore")
    job = json.loads(Path(job_file).read_text())
    if job.get("memory_limit"):
        resource.setrlimit(resource.RLIMIT_AS, (job["memory_limit"], job["memory_limit"]))
    try:
        answer = run(job)
    except Exception as error:
        answer = {"failure": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    Path(answer_file).write_text(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
