"""Reading budgets: memory with units, threads, and what the machine has."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray

from certree.encoding import TableEncoder
from certree.encoding._row_cells import Cells
from certree.encoding._test_budget import BudgetLeft
from certree.engine._budget import Budget, budget, current
from certree.engine._choice import Question, encode_rows
from certree.exceptions import OptimalityWarning, warn
from certree.numbers._fractions import is_whole
from certree.results._activity import phase, watched

# More threads than this are of no use on any machine.
_MOST_THREADS = 4096

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*")

# The budget that left tests out, in words.
_LIMITS = {"memory_limit": "memory_limit", "time_limit": "time_limit", "interrupted": "Ctrl-C"}

# Where control groups, version 2 and version 1, state the memory of this process's group.
_GROUP_LIMITS = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def memory_bytes(limit: object) -> int | None:
    """Return a memory limit in bytes.

    Parameters
    ----------
    limit : None, "auto", int or str
        No limit; half of the machine's memory; bytes; or a number with a unit, such as "2GB"
        (powers of 1000) or "1.5GiB" (powers of 1024).

    Returns
    -------
    int or None
        Bytes; None for no limit, and for "auto" on a machine that does not tell its memory.
    """
    if limit is None:
        return None
    if isinstance(limit, str):
        if limit == "auto":
            memory = machine_memory()
            return None if memory is None else memory // 2
        match = _SIZE.fullmatch(limit)
        unit = _UNITS.get(match[2].upper()) if match else None
        if match is None or unit is None:
            raise ValueError(
                f"memory_limit={limit!r} is not a size; write bytes as an integer, a number with a "
                'unit such as "2GB", "512MB" or "1.5GiB", "auto" (half of the memory), or None.'
            )
        size = int(float(match[1]) * unit)
    elif is_whole(limit):
        size = int(limit)
    else:
        raise TypeError(
            'memory_limit must be an integer (bytes), a text such as "2GB", "auto" or None, '
            f"got {limit!r} of type {type(limit).__name__}."
        )
    if size <= 0:
        raise ValueError(f"memory_limit must be more than 0 bytes, got {limit!r}; None: no limit.")
    # The limit must fit the integers of the core; no machine has more memory than that.
    return min(size, 2**62)


@dataclass(frozen=True)
class BudgetRequest:
    """What a call may take, and what it shows meanwhile."""

    time_limit: float | None
    memory_limit: Any
    n_jobs: Any
    verbose: Any

    @classmethod
    def of(cls, owner: Any) -> BudgetRequest:
        """Read the parameters of an estimator; those that it lacks are no limits."""
        return cls(*(getattr(owner, one.name, None) for one in fields(cls)))


@contextmanager
def open_call(by: str, options: BudgetRequest) -> Iterator[Budget]:
    """Open the budget of a call of an estimator, and show what the call does."""
    memory = memory_bytes(options.memory_limit)
    with budget(options.time_limit, memory) as call, watched(by, options.verbose, call):
        yield call


def encode_within(
    encoder: TableEncoder,
    X: Any,
    sample_weight: NDArray[np.int64] | None,
    question: Question,
) -> Cells:
    """Fit an encoder and return the rows that count, within the budget of the current call.

    If not all tests fit, the columns have fewer cut points or categories, and a warning says so.
    """
    call = current()
    phase("reading the table")

    def left() -> BudgetLeft:
        seconds = None if call is None else call.remaining()
        memory = machine_memory() if call is None or call.memory is None else call.memory
        return BudgetLeft(
            seconds, memory, call is not None and call.is_interrupted, question.has_pairs
        )

    columns = encode_rows(encoder, X, sample_weight, left, question)
    phase("searching")
    if call is not None:
        call.held = columns.nbytes + encoder.tests_.nbytes
    if encoder._stopped_by:
        n_tests = len(encoder.tests_)
        warn(
            f"Only {n_tests} of {'the' if encoder._is_counted else 'at least'} "
            f"{n_tests + encoder._n_left_out} questions asked for are searched, "
            f"which is what {_LIMITS[encoder._stopped_by]} leaves room for: cut points near "
            "quantiles, and the most frequent categories. Trees over the others may be better, so "
            "the lower bound is what holds for any tree. Raise the limit, or ask for fewer "
            "questions with thresholds.",
            OptimalityWarning,
        )
    return columns


@cache
def machine_memory() -> int | None:
    """Return the memory that this process may use, in bytes, or None if it is unknown."""
    known = []
    with suppress(AttributeError, ValueError, OSError):  # not all systems know these names
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError, ValueError, OSError):
        import resource

        known.append(resource.getrlimit(resource.RLIMIT_AS)[0])  # -1: no limit
    for path in _GROUP_LIMITS:
        try:
            known.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # absent, or "max"
            continue
    return min((size for size in known if size > 0), default=None)


def thread_count(n_jobs: object) -> int:
    """Return the number of threads for `n_jobs` as scikit-learn means it.

    None is one thread, -1 all processors, -2 all but one, and so on.
    """
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs):
        raise TypeError(
            f"n_jobs must be an integer or None, got {n_jobs!r} of type {type(n_jobs).__name__}."
        )
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; give a number of threads, or -1 for all cores.")
    if n_jobs > 0:
        return min(int(n_jobs), _MOST_THREADS)
    return max(1, processor_count() + 1 + int(n_jobs))


def job_count(n_jobs: object) -> int:
    """Return the number of jobs for `n_jobs`; None: what ``joblib.parallel_config`` says."""
    return int(effective_n_jobs(None)) if n_jobs is None else thread_count(n_jobs)


def shares_memory() -> bool:
    """Whether jobs run in this process, unless ``joblib.parallel_config`` names another backend."""
    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "supports_sharedmem", False))


def run_jobs(
    jobs: Iterable[Any], total: int, n_jobs: int | None, call: Budget, what: str
) -> list[Any]:
    """Run jobs of joblib and count them; on Ctrl-C return those that are done, at least one."""
    done: list[Any] = []
    phase(f"{what}, 0 of {total} done")
    backend, _ = get_active_backend()
    if not getattr(backend, "supports_return_generator", False):
        # Such backends, Ray's among them, give all results at once.
        return list(Parallel(n_jobs=n_jobs)(jobs))
    found = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    for one in found:
        done.append(one)
        phase(f"{what}, {len(done)} of {total} done")
        if call.is_interrupted:
            break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of jobs that were given up
        found.close()
    return done


def processor_count() -> int:
    """Return the number of processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only some systems have affinities
        return os.cpu_count() or 1
