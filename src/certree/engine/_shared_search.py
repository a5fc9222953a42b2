"""One search over several processes.

The coordinator knows the first levels of the search: a node has a lower and an upper bound, and a
lower bound for each of its splits. It gives splits to workers, each with the ceiling that the best
tree so far leaves, for a slice of time. A worker brings back bounds, better trees, and the lines of
its transposition table that took much work; the next tasks carry these to the other workers. If
workers have nothing to do, a split that another one works on is divided: both of its sides become
nodes of the coordinator.

Values are those of the core's search, ``factor * U + splits``, so the smallest of the best trees is
found. Once its value is known, the rules of ties choose the tree, whoever found it first.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any
from uuid import uuid4

from certree._core import fingerprint_seed
from certree.exceptions import warn
from certree.tree._nodes import Nodes

from ._alarms import check_bounds, check_value
from ._executors import (
    Inline,
    ask_version,
    can_be_renewed,
    check_version,
    check_workers,
    close_executor,
    no_certree,
    open_executor,
    worker_count,
)
from ._scalar import Callback, CoreTable, Guard, Options, Result, read_result
from ._shared_nodes import LOCAL, SharedLog, SharedNode, SharedSplit, join
from ._workers import Holder, Packed, Reply, WorkerTask, forget, holder_of, run_task

FIRST_WORK = 60_000
"""Depth-two evaluations that one process makes first; what it solves needs no other."""

# Seconds of a task: a share of the time that has passed, within these ends.
_SLICE_SHARE = 0.1
_SHORTEST = 0.3
_LONGEST = 1.0

# A task that is not back after its slice and this is given to somebody else.
_PATIENCE = 15.0

# What took so much work, for each worker beyond the second, is told to the others.
_SHARED_WORK = 4

# Nodes with so many levels left are divided among workers.
_LEAST_DEPTH = 4

# Failures in a row, without a reply, after which an executor is given up.
_MOST_FAILURES = 3

_POLL = 0.05


_Chosen = tuple[SharedNode, SharedSplit, int]
"""A node, the split to be tried, and the ceiling of the node."""


class _Stopped(Exception):
    """The budget is used up, or the gap is closed."""


@dataclass(eq=False)
class _Part:
    """A task that is under way: a split of a node, or the canonical tree of the node."""

    node: SharedNode
    split: SharedSplit | None
    ceiling: int
    seconds: float
    executor: Executor
    sent: float
    future: Future[Any] | None = None
    is_lost: bool = False
    reply: Reply | None = None


def solve_shared(problem: CoreTable, options: Options, callback: Callback | None = None) -> Result:
    """Find the best tree within the options, as `solve` does, with the workers of an executor.

    Parameters
    ----------
    problem : Problem or VectorProblem
        The data and the costs.
    options : Options
        Limits and choices; `max_depth` is needed, and `max_splits` is not known here. `executor` is
        an executor, a Dask client, Ray, or a function that makes an executor. If the executor of a
        function breaks, the function makes another one; otherwise this process does the rest.
    callback : callable, optional
        As for `solve`.
    """
    return _Search(problem, options, callback).run()


def least_effort(workers: int) -> int:
    """Return the work from which on workers tell each other what they have proven.

    Two workers tell each other everything. Many would have too much to read.
    """
    return max(1, _SHARED_WORK * (workers - 2))


class _Search:
    """The coordinator."""

    def __init__(self, problem: CoreTable, options: Options, callback: Callback | None) -> None:
        self.start = perf_counter()
        self.given = options.executor
        self.executor: Executor = Inline()
        self.options = replace(options, executor=None)
        self.guard = Guard(callback)
        self.problem = problem
        self.status = "optimal"
        self.counters: Counter[str] = Counter()
        self.history: list[tuple[float, int, int, int]] = []
        self.log = SharedLog()
        self.replies: SimpleQueue[tuple[_Part, Future[Any]]] = SimpleQueue()
        self.parts: list[_Part] = []
        self.name = uuid4().hex
        self.with_data = 0
        self.failures = 0
        self.n_renewed = 0
        self.asked = 0.0

    # ---- the steps ---------------------------------------------------------------------------

    def run(self) -> Result:
        """Search."""
        self.packed = Packed.of(self.problem, self.options.row_counts)
        self.options = replace(self.options, row_counts=None)
        local = holder_of(WorkerTask(self.packed.key, self.options, 1, data=self.packed))
        assert local is not None
        self.local: Holder = local
        try:
            first = self._solve_alone()
            if first is not None:
                return first
            self._open_executor()
            self._share()
        except _Stopped:
            pass
        finally:
            for part in self.parts:
                if part.future is not None:
                    part.future.cancel()
            close_executor(self.given, self.executor)
            # What stays would be known to the next search of the same table.
            forget(self.packed.key)
        if self.guard.error is not None:
            raise self.guard.error
        return self._result()

    def _solve_alone(self) -> Result | None:
        """Search in this process for a while, which finds good trees; return the end of a search.

        What ends by itself is the answer of one process, also in the choice among equal trees.
        """
        limit = self.options.extra.get("work_limit", 0)
        least = FIRST_WORK if (self.options.max_depth or 0) > 2 else 0
        work = min(one for one in (least, limit) if one) if least or limit else 0
        journal = {"least_effort": least_effort(2)}
        given = {"work_limit": work, "assignment": journal}
        raw = self.local.call(self.options, self.guard.callback, **given)
        result = read_result(raw, self.options, self.problem.cost_of)
        done = raw.counters["depth_two_evaluations"]
        is_cut_short = 0 < work <= done and work != limit
        if not is_cut_short or result.status in ("time_limit", "interrupted", "memory_limit"):
            return result
        self.counters.update(raw.counters)
        self.history = list(result.history)
        self.first = Reply(LOCAL, entries=raw.entries)
        lower, self.upper, self.factor = raw.inner_bounds
        self.nodes = result.nodes
        self.penalty = self.factor * self.options.split_penalty + 1
        assert self.options.max_depth is not None
        most = min(raw.counters["columns"], raw.counters["row_groups"] - 1)
        self.depth = min(self.options.max_depth, most)
        self.root = SharedNode((), self.depth, lower, self.upper, self.nodes)
        return None

    def _open_executor(self) -> None:
        """Open the executor, and see that its workers can do the tasks."""
        self.executor = open_executor(self.given)
        self.slots = worker_count(self.executor)
        try:
            version = ask_version(self.executor)
        except RuntimeError as error:
            raise ValueError(f"executor={self.given!r} takes no tasks: {error}.") from error
        while not self._must_stop():
            try:
                check_workers(version, _POLL)
            except TimeoutError:
                continue
            except BrokenExecutor as error:
                if self._may_renew():
                    self._open_executor()
                else:
                    self._go_alone(error)
            return
        raise _Stopped

    def _may_renew(self) -> bool:
        """Whether there is another executor; not for workers that die again and again."""
        self.n_renewed += 1
        return can_be_renewed(self.given) and self.n_renewed <= _MOST_FAILURES

    def _share(self) -> None:
        """Prove the value of the best tree, then choose among the trees that have it."""
        told = self.first.entries[:, -1] >= least_effort(self.slots)
        self.log.add(replace(self.first, entries=self.first.entries[told]))
        levels = [SharedNode((), depth) for depth in range(3, self.depth)]
        for level in levels:
            # Trees of less depth are found sooner, and tell where to look for others.
            self._prove(level)
            if level.upper < self.root.upper:
                self.root.upper, self.root.nodes = level.upper, level.nodes
        self._prove(self.root)
        value = self.root.upper
        pairs = self.local.run(self._task(SharedNode((), 2), math.inf, is_canonical=True))
        if pairs.upper <= value and pairs.nodes is not None:
            self.nodes = pairs.nodes
            return
        depth = next((level.depth for level in levels if level.upper <= value), self.depth)
        self.nodes = self._canonical(depth, value)

    def _prove(
        self, node: SharedNode, ceiling: int | None = None, *, in_order: bool = False
    ) -> None:
        """Raise the bound of a node until no tree below the ceiling is left.

        `in_order`: until the first column is known that begins a tree below the ceiling.
        """
        self._open(node)
        while True:
            self._check()
            node.refresh(self.penalty)
            goal = node.upper if ceiling is None else ceiling
            if self._is_proven(node, goal, in_order):
                return
            while len(self.parts) < self.slots:
                part = self._next(node, goal, in_order)
                if part is None:
                    break
                self._send(*part)
            self._take_replies()

    def _is_proven(self, node: SharedNode, ceiling: int, in_order: bool) -> bool:
        if not in_order:
            return node.lower >= min(node.upper, ceiling)
        for split in node.splits:
            if split.upper < ceiling:
                return True
            if split.lower < ceiling:
                return False
        return True

    def _canonical(self, depth: int, value: int) -> Nodes:
        """Return the tree of a depth that the rules of ties choose among all of a value."""
        root = SharedNode((), depth)
        self._prove(root, value + 1, in_order=True)
        first = next(split for split in root.splits if split.upper <= value)
        # Both sides of a best tree are best, so one tells the value of the other.
        yes, no = (SharedNode(((first.column, holds),), depth - 1) for holds in (True, False))
        self._prove(yes)
        left = value - self.penalty - yes.upper
        sides = [self._canonical_below(*side) for side in ((yes, yes.upper), (no, left))]
        return join(first.column, *sides)

    def _canonical_below(self, node: SharedNode, value: int) -> Nodes:
        """Let a worker choose among the trees of a side, for as long as that takes."""
        slices = 1.0
        while True:
            self._check()
            part = self._send(node, None, value + 1, slices)
            while part in self.parts:
                self._check()
                self._take_replies()
            if part.reply is not None and part.reply.seconds < part.seconds:
                assert part.reply.nodes is not None
                return part.reply.nodes
            slices *= 2

    # ---- choosing parts ----------------------------------------------------------------------

    def _next(self, node: SharedNode, ceiling: int, in_order: bool) -> _Chosen | None:
        """Return a split that nobody works on, and the ceiling for its node."""
        bound = ceiling if in_order else min(node.upper, ceiling)
        if not node.is_open:
            self._open(node)
            bound = ceiling if in_order else min(node.upper, ceiling)
        wanted = list(self._wanted(node, bound, in_order))
        for split in wanted:
            if split.sides is not None:
                part = self._next_below(split, bound)
                if part is not None:
                    return part
            elif not split.busy:
                return node, split, bound
        if node.depth < _LEAST_DEPTH:
            return None
        for split in wanted:
            if split.sides is None:
                split.sides = (
                    SharedNode((*node.path, (split.column, True)), node.depth - 1),
                    SharedNode((*node.path, (split.column, False)), node.depth - 1),
                )
                return self._next_below(split, bound)
        return None

    def _wanted(self, node: SharedNode, bound: int, in_order: bool) -> Iterator[SharedSplit]:
        """Yield the splits that may begin a tree below the bound, the most promising ones first."""
        if in_order:
            for split in node.splits:
                if split.upper < bound:
                    return
                if split.lower < bound:
                    yield split
            return
        still = [split for split in node.splits if split.lower < bound]
        # What was begun is finished first, by the worker that is free now and began it.
        yield from sorted(still, key=lambda split: (not split.begun, split.lower, split.guess))

    def _next_below(self, split: SharedSplit, bound: int) -> _Chosen | None:
        assert split.sides is not None
        for side in split.sides:
            if not side.is_open:
                self._open(side)
        pairs = [(split.sides[0], split.sides[1]), (split.sides[1], split.sides[0])]
        for side, other in sorted(pairs, key=lambda pair: pair[0].lower - pair[0].upper):
            left = bound - self.penalty - other.lower
            if side.lower < min(side.upper, left):
                part = self._next(side, left, in_order=False)
                if part is not None:
                    return part
        return None

    def _open(self, node: SharedNode) -> None:
        """Let this process find the splits of a node and their first bounds."""
        if node.is_open:
            return
        seen, proven = self.log.news
        task = self._task(node, math.inf, opens_only=True, proven=proven, seen=seen)
        reply = replace(self.local.run(task), worker=LOCAL)
        self.log.add(reply)
        self._count(reply)
        node.lower = max(node.lower, reply.lower)
        if reply.upper < node.upper:
            node.upper, node.nodes = reply.upper, reply.nodes
        node.splits = [SharedSplit(*line) for line in sorted(reply.splits.tolist())]
        node.is_open = True
        node.refresh(self.penalty)
        if not node.splits and node.lower < node.upper:
            self._check()

    # ---- tasks and replies -------------------------------------------------------------------

    def _task(self, node: SharedNode, seconds: float, **more: Any) -> WorkerTask:
        """Return a task for a node."""
        limit, memory = self.options.time_limit, self.options.memory_limit
        if limit is not None:
            seconds = min(seconds, max(limit - self._seconds, 1e-3))
        options = replace(
            self.options,
            max_depth=node.depth,
            gap=0,
            threads=1,
            search="depth-first",
            known=None,
            time_limit=None if math.isinf(seconds) else seconds,
            memory_limit=None if memory is None else memory // (self.slots + 1),
            extra={
                **self.options.extra,
                "use_greedy_incumbent": False,
                "use_iterative_deepening": False,
                "use_rising_bound": False,
                "work_limit": 0,
            },
        )
        return WorkerTask(
            self.packed.key,
            options,
            self.factor,
            path=node.path,
            search=self.name,
            least_effort=least_effort(self.slots),
            seed=fingerprint_seed(),
            **more,
        )

    def _send(
        self, node: SharedNode, split: SharedSplit | None, ceiling: int, slices: float = 1.0
    ) -> _Part:
        """Give a part to the executor."""
        slice_ = min(max(_SLICE_SHARE * self._seconds, _SHORTEST), _LONGEST) * slices
        seen, proven = self.log.news
        task = self._task(
            node,
            slice_,
            only=() if split is None else (split.column,),
            ceiling=ceiling,
            proven=proven,
            seen=seen,
            is_canonical=split is None,
        )
        if self.with_data < self.slots and not isinstance(self.executor, Inline):
            task = replace(task, data=self.packed)
            self.with_data += 1
        part = _Part(node, split, ceiling, slice_, self.executor, perf_counter())
        if split is not None:
            split.busy += 1
            split.begun = True
        self.parts.append(part)
        try:
            part.future = self.executor.submit(run_task, task)
        except (BrokenExecutor, RuntimeError) as error:
            part.future = Future()
            part.future.set_exception(error)
        part.future.add_done_callback(lambda future: self.replies.put((part, future)))
        return part

    def _take_replies(self) -> None:
        """Wait a moment for replies, and take in all that there are."""
        with suppress(Empty):
            self._take(*self.replies.get(timeout=_POLL))
            while True:
                self._take(*self.replies.get_nowait())
        now = perf_counter()
        for part in list(self.parts):
            if now - part.sent > part.seconds + _PATIENCE:
                self._release(part)

    def _release(self, part: _Part) -> None:
        """Let others have the split of a part."""
        if part.is_lost:
            return
        part.is_lost = True
        self.parts.remove(part)
        if part.split is not None:
            part.split.busy -= 1

    def _take(self, part: _Part, future: Future[Any]) -> None:
        """Take in the reply to a part."""
        self._release(part)
        try:
            reply: Reply = future.result(0)
        except ImportError as error:
            raise no_certree(error) from error
        except Exception as error:
            self._lose(part, error)
            return
        check_version(reply.version)
        if reply.error is not None:
            raise reply.error
        self.failures = self.n_renewed = 0
        if reply.missing:
            self.with_data = min(self.with_data, self.slots - 1)
            return
        part.reply = reply
        self._count(reply)
        self.log.add(reply)
        self._learn(part, reply)

    def _learn(self, part: _Part, reply: Reply) -> None:
        """Put what a worker found into the node."""
        node = part.node
        node.lower = max(node.lower, min(reply.lower, node.upper))
        bounds = {column: lower for column, lower, _ in reply.splits.tolist()}
        for split in node.splits:
            split.lower = max(split.lower, bounds.get(split.column, 0))
        tree = reply.nodes
        if tree is None or not len(tree) or reply.upper >= part.ceiling:
            return
        for split in node.splits:
            if split.column == tree.test[0]:
                node.offer(split, reply.upper, tree)
        if reply.upper < node.upper:
            node.upper, node.nodes = reply.upper, tree

    def _count(self, reply: Reply) -> None:
        for name, count in (reply.counters or {}).items():
            is_size = name in ("peak_bytes", "table_entries", "row_groups", "columns")
            kept = self.counters[name]
            self.counters[name] = max(kept, count) if is_size else kept + count

    def _lose(self, part: _Part, error: BaseException) -> None:
        """Go on without a worker that died: with another executor, or in this process."""
        self.failures += 1
        is_broken = isinstance(error, BrokenExecutor) or self.failures >= _MOST_FAILURES
        if part.executor is not self.executor or not is_broken:
            return
        self.with_data = self.failures = 0
        if self._may_renew():
            self.executor = open_executor(self.given)
        else:
            self._go_alone(error)

    def _go_alone(self, error: BaseException) -> None:
        warn(
            f"The executor lost its workers ({type(error).__name__}: {error}); the search goes on "
            "in this process. Pass a function that makes an executor to get a new one.",
            RuntimeWarning,
        )
        self.executor, self.slots, self.with_data = Inline(), 1, 1

    # ---- budgets and the result --------------------------------------------------------------

    @property
    def _seconds(self) -> float:
        return perf_counter() - self.start

    def _bounds(self) -> tuple[int, int]:
        """Return what is proven of the best value, in the caller's units."""
        upper = self.root.upper // self.factor
        lower = self.root.lower // self.factor
        return (upper if self.root.lower >= self.root.upper else lower), upper

    def _check(self) -> None:
        """Raise if the search is over."""
        if self._must_stop():
            raise _Stopped
        self.root.refresh(self.penalty)
        lower, upper = self._bounds()
        if lower < upper <= lower + self.options.gap:
            self.status = "gap"
            raise _Stopped

    def _must_stop(self) -> bool:
        # The first reason stays: who has asked to stop is not asked again, and is told so.
        if self.status != "optimal":
            return True
        limit, work = self.options.time_limit, self.counters["depth_two_evaluations"]
        if limit is not None and self._seconds >= limit:
            self.status = "time_limit"
            return True
        most = self.options.extra.get("work_limit", 0)
        if most and work >= most:
            self.status = "work_limit"
            return True
        lower, upper = self._bounds()
        if not self.history or self.history[-1][2:] != (upper, lower):
            self.history.append((self._seconds, work, upper, lower))
        elif self._seconds < self.asked + _POLL:
            return False
        self.asked = self._seconds
        event = {"seconds": self._seconds, "work": work, "upper_bound": upper, "lower_bound": lower}
        if self.guard(event):
            self.status = "interrupted"
            return True
        return False

    def _result(self) -> Result:
        lower, upper = self._bounds()
        status = "optimal" if lower >= upper else self.status
        is_chosen = self.status == "optimal" or self.root.nodes is None
        nodes = self.nodes if is_chosen else self.root.nodes
        assert nodes is not None
        check_bounds(self.root.lower, self.root.upper)
        cost = self.problem.cost_of(nodes)
        if cost is not None:
            penalties = self.options.split_penalty * nodes.n_splits
            check_value(upper, self.options.error_scale * cost + penalties)
        bound = self.options.bound
        return Result(
            status=self.options.status(status),
            lower_bound=bound(lower),
            upper_bound=upper,
            nodes=nodes,
            counters=dict(self.counters),
            history=[(s, work, u, bound(low)) for s, work, u, low in self.history],
            seconds=self._seconds,
        )
