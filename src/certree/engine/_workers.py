"""What an executor runs of a search that several processes share.

A worker keeps the table, the session over it, and with that all it has proven, from one task to the
next. Tasks are short. They carry what others have proven, and bring back what was proven.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import signal
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree._version import __version__
from certree.tree._nodes import Nodes

from ._budget import current
from ._scalar import CoreTable, Options, call_core, read_nodes

Entries = NDArray[np.int64]
"""Lines of the transposition table: key (two numbers), lower, upper, column, effort."""

NO_ENTRIES: Entries = np.empty((0, 6), dtype=np.int64)

INFINITE = (2**63 - 1) // 8
"""What the core says where no value is known."""

# A process keeps the tables of so many searches.
_MOST_TABLES = 2


class Packed(NamedTuple):
    """A problem with a bit per answer, and a key that says which one it is.

    `others` is the problem without its columns; `row_counts` are those of the options.
    """

    key: str
    bits: NDArray[np.uint8]
    n_rows: int
    others: CoreTable
    row_counts: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, problem: CoreTable, row_counts: NDArray[np.int64] | None = None) -> Packed:
        """Pack a problem."""
        bits = np.packbits(np.asfortranarray(problem.answers) != 0, axis=0)
        others = replace(problem, columns=problem.answers[:0])
        rest = (len(problem.columns), others, row_counts)
        digest = hashlib.blake2b(pickle.dumps((bits, *rest)), digest_size=20)
        return cls(digest.hexdigest(), bits, *rest)

    def problem(self) -> CoreTable:
        """Return the problem."""
        columns = np.unpackbits(self.bits, axis=0, count=self.n_rows)
        return replace(self.others, columns=np.asfortranarray(columns))


class Proven(NamedTuple):
    """What a worker has proven in one task, and the place of this among all such parts."""

    place: int
    worker: str
    lines: Entries


@dataclass(frozen=True)
class WorkerTask:
    """A part of a search: a node by its path of tests, and what is asked of it.

    Attributes
    ----------
    key : str
        Which problem.
    options : Options
        Limits of the node, and of the task.
    path : tuple of (column, holds)
        The tests that lead to the node, and their answers.
    only : tuple of int
        The columns that are tried there; empty: all.
    factor : int
        Values are this times the value of U plus the number of splits.
    ceiling : int or None
        Only trees of less value are looked for.
    proven : sequence of Proven
        What workers have proven.
    seen : int
        How many parts of it a worker has seen with these.
    search : str
        Which search; what was seen of others counts for one.
    least_effort : int
        What takes so much work is brought back.
    seed : int
        The key of the fingerprints of row sets, the same for all workers.
    is_canonical : bool
        Whether the canonical tree is wanted, not any best one.
    data : Packed, optional
        The problem, for workers that do not have it.
    """

    key: str
    options: Options
    factor: int
    path: tuple[tuple[int, bool], ...] = ()
    only: tuple[int, ...] = ()
    ceiling: int | None = None
    proven: Sequence[Proven] = ()
    seen: int = 0
    search: str = ""
    least_effort: int = 1
    seed: int = 0
    is_canonical: bool = False
    opens_only: bool = False
    data: Packed | None = None
    version: str = __version__

    def limits(self) -> Options:
        """Return the limits of the node, and of the trees that are looked for."""
        if self.ceiling is None:
            return self.options
        return replace(self.options, known=divmod(self.ceiling, self.factor))

    def assignment(self, entries: Entries) -> Mapping[str, Any]:
        """Return the part as the core reads it, with what others have proven."""
        return {
            "path": list(self.path),
            "only": list(self.only),
            "factor": self.factor,
            "least_effort": self.least_effort,
            "seed": self.seed,
            "is_canonical": self.is_canonical,
            "opens_only": self.opens_only,
            "entries": entries,
        }


@dataclass(frozen=True)
class Reply:
    """What a worker found.

    Attributes
    ----------
    worker : str
        Host, process and thread.
    version : str
        Its version of certree.
    missing : bool
        Whether it has no table to search in. Then nothing was done.
    seen : int
        How many parts of what others have proven it has seen.
    lower, upper : int
        Bounds of the node, in units of the search; `upper` is at most the ceiling.
    nodes : Nodes
        A tree below the ceiling, or none.
    splits : int64 array of shape (n_splits, 3)
        Column, lower bound and depth-two value of each split of the node.
    entries : Entries
        What was proven.
    counters : mapping
        What the work was.
    seconds, cpu_seconds : float
        What the task took.
    error : Exception, optional
        What it raised.
    """

    worker: str
    version: str = __version__
    missing: bool = False
    seen: int = 0
    status: str = ""
    lower: int = 0
    upper: int = INFINITE
    nodes: Nodes | None = None
    splits: NDArray[np.int64] = field(default_factory=lambda: NO_ENTRIES[:, :3])
    entries: Entries = field(default_factory=lambda: NO_ENTRIES)
    counters: Mapping[str, int] | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    error: Exception | None = None


class _Table(NamedTuple):
    problem: CoreTable
    row_counts: NDArray[np.int64] | None


class Holder:
    """A session over a table, and how much it has seen of what others have proven."""

    def __init__(self, table: _Table) -> None:
        self.row_counts = table.row_counts
        self.solve = table.problem.open()
        self.seen = 0
        self.search = ""

    def call(self, options: Options, callback: Any = None, **more: Any) -> Any:
        """Solve, with the options of the core and some more."""
        given = replace(options, row_counts=self.row_counts).to_core()
        return call_core(self.solve, ({**given, **more},), callback)

    def run(self, task: WorkerTask, callback: Any = None) -> Reply:
        """Do a task."""
        start, me = thread_time(), _name()
        if task.search != self.search:
            self.search, self.seen = task.search, 0
        news = [one.lines for one in task.proven if one.place >= self.seen and one.worker != me]
        entries = np.concatenate(news) if news else NO_ENTRIES
        raw = self.call(task.limits(), callback, assignment=task.assignment(entries))
        self.seen = max(self.seen, task.seen)
        lower, upper, _ = raw.inner_bounds
        return Reply(
            worker=me,
            seen=self.seen,
            status=raw.status,
            lower=lower,
            upper=upper,
            nodes=read_nodes(raw),
            splits=raw.splits,
            entries=raw.entries,
            counters=raw.counters,
            seconds=raw.seconds,
            cpu_seconds=thread_time() - start,
        )


# Tables by their key, for all threads of a process; sessions are of one thread.
_TABLES: OrderedDict[str, _Table] = OrderedDict()
_LOCK = threading.Lock()
_OWN = threading.local()


def run_task(task: WorkerTask) -> Reply:
    """Do a task in a worker; what is wrong with it comes back as a reply."""
    if task.version != __version__:
        return Reply(_name())
    try:
        with leaving_interrupts():
            holder = holder_of(task)
            return Reply(_name(), missing=True) if holder is None else holder.run(task)
    except Exception as error:
        return Reply(_name(), error=error)


def _name() -> str:
    return f"{platform.node()}/{os.getpid()}/{threading.get_ident()}"


def holder_of(task: WorkerTask) -> Holder | None:
    """Return the session of this thread; None if the table is not here."""
    with _LOCK:
        if task.key not in _TABLES and task.data is not None:
            _TABLES[task.key] = _Table(task.data.problem(), task.data.row_counts)
            while len(_TABLES) > _MOST_TABLES:
                _TABLES.popitem(last=False)
        table = _TABLES.get(task.key)
        if table is not None:
            _TABLES.move_to_end(task.key)
        kept = set(_TABLES)
    held: dict[str, Holder] = vars(_OWN).setdefault("held", {})
    for key in set(held) - kept:
        del held[key]
    if table is None:
        return None
    if task.key not in held:
        held[task.key] = Holder(table)
    return held[task.key]


def forget(key: str) -> None:
    """Let go of a table, and of what this thread has proven about it."""
    with _LOCK:
        _TABLES.pop(key, None)
    vars(_OWN).get("held", {}).pop(key, None)


@contextmanager
def leaving_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the process that waits, if this is one that works for it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or current() is not None:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
