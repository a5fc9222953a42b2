"""The entry point of the core for one best tree: typed problems and options in, a typed result out.

Everything is an integer here. The core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * (number of splits);

the caller knows what one unit of U means. `solve_path` answers all numbers of splits at once. Both
need a column per test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding._row_cells import Cells, as_columns
from certree.tree._nodes import Nodes

from ._alarms import check_bounds, check_value, label_cost
from ._budget import current
from ._techniques import switched_off

Event = Mapping[str, Any]
"""An event of the search: seconds, work, upper_bound, lower_bound (units of U)."""

Callback = Callable[[Event], object]
"""Called now and then with an event; a true answer stops the search."""

# No table has more rows, so no larger limit means more; the core counts in 32 bits.
_MOST = 2**31 - 1

# Trees of this depth have room for more splits than there are rows.
_DEEP = 40

CostOf = Callable[[Nodes], "int | None"]
"""From a tree to what its leaves cost."""


@dataclass(frozen=True)
class CoreTable(ABC):
    """What the core can search: the answers of rows to tests, and what leaves cost.

    Attributes
    ----------
    columns : Cells
        The answers. An array has zeros and ones, one column per test; Fortran order is read
        fastest.
    """

    columns: Cells

    @cached_property
    def answers(self) -> NDArray[np.uint8]:
        """A column per test."""
        return as_columns(self.columns)

    @abstractmethod
    def cost_of(self, nodes: Nodes) -> int | None:
        """Return what the leaves of a tree cost; None if only a function of the caller's knows."""

    @abstractmethod
    def open(self) -> Callable[..., Any]:
        """Return what solves this table, again and again, for options of the core."""


@dataclass(frozen=True)
class Problem(CoreTable):
    """Rows, what a label costs them, and their weights.

    Attributes
    ----------
    row_types : int32 array of shape (n_rows,)
        The type of each row: its class, for accuracy.
    cost_matrix : int64 array of shape (n_types, n_labels)
        What one unit of weight of a row of a type costs in a leaf with a label.
    weights : int64 array of shape (n_rows,), optional
        At least one each; None: one each.
    """

    row_types: NDArray[np.int32]
    cost_matrix: NDArray[np.int64]
    weights: NDArray[np.int64] | None = None

    def cost_of(self, nodes: Nodes) -> int:
        leaves = nodes.route(self.columns)
        return label_cost(nodes, leaves, self.row_types, self.cost_matrix, self.weights)

    def open(self) -> Callable[..., Any]:
        session = _core.Session(self.answers, self.row_types, self.weights)
        return lambda options, callback: session.solve(self.cost_matrix, options, callback)


@dataclass(frozen=True)
class Options:
    """Limits and choices of one solve; None means no limit.

    `known` is the value of U and the number of splits of a tree that the caller has: only better
    trees are looked for. `partial` says that the columns are only some of the tests that were asked
    for, and what kept the others out, "memory_limit" or "time_limit": results then have this status
    and bounds that hold for all tests. `extra` goes to the core as it is: technique switches,
    instruction set, work limit. `row_counts` says how many rows each row stands for, which matters
    to `min_leaf`; None: one each. `executor` is what runs parts of a search that can be shared.
    """

    max_depth: int | None = None
    max_splits: int | None = None
    min_leaf: int = 1
    error_scale: int = 1
    split_penalty: int = 0
    gap: int = 0
    time_limit: float | None = None
    memory_limit: int | None = None
    threads: int = 1
    search: str = "auto"
    known: tuple[int, int] | None = None
    partial: str = ""
    executor: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    row_counts: NDArray[np.int64] | None = None

    @property
    def limits_size(self) -> bool:
        """Whether trees have a largest size, or a price per split."""
        has_limit = self.max_depth is not None or self.max_splits is not None
        return has_limit or self.split_penalty > 0

    def status(self, status: str) -> str:
        """Return a status of the core in terms of all tests that were asked for."""
        is_done = status in ("optimal", "gap", "infeasible")
        return self.partial if self.partial and is_done else status

    def bound(self, lower: int, least: int = 0) -> int:
        """Return a lower bound in terms of all tests, given the `least` that any tree has."""
        return min(lower, least) if self.partial else lower

    def sized(self, result: Result) -> SizedTree:
        """Return the tree of a solve with these options as one of a path, without a bound."""
        splits = result.nodes.n_splits
        cost = (result.upper_bound - self.split_penalty * splits) // self.error_scale
        return SizedTree(splits, 0, cost, result.nodes)

    def most_splits(self, n_rows: int) -> int:
        """Return the number of splits of binary tests for which the core makes room."""
        return most_splits(n_rows, self.max_depth, self.max_splits)

    def to_core(self) -> dict[str, Any]:
        """Return the dictionary that the core reads, where -1 and 0 stand for no limit."""
        known: dict[str, Any] = {}
        if self.known is not None:
            known = {"known_value": self.known[0], "known_splits": self.known[1]}
        if self.row_counts is not None:
            known["row_counts"] = np.ascontiguousarray(self.row_counts, dtype=np.int64)
        return {
            "max_depth": -1 if self.max_depth is None else min(self.max_depth, _MOST),
            "max_splits": -1 if self.max_splits is None else min(self.max_splits, _MOST),
            "min_leaf": min(self.min_leaf, _MOST),
            "error_scale": self.error_scale,
            "split_penalty": self.split_penalty,
            "gap": self.gap,
            "time_limit": self.time_limit or 0.0,
            "memory_limit": self.memory_limit or 0,
            "threads": self.threads,
            "search": self.search,
            **known,
            **switched_off(),
            **self.extra,
        }


@dataclass(frozen=True)
class Result:
    """The best tree found and what is proven about it (bounds in units of U).

    The tree is empty if nothing better was found than what the caller said was known.
    """

    status: str
    lower_bound: int
    upper_bound: int
    nodes: Nodes
    counters: dict[str, int]
    history: list[tuple[float, int, int, int]]
    seconds: float


@dataclass(frozen=True)
class SizedTree:
    """The best tree with at most so many splits, and bounds on the least leaf cost."""

    splits: int
    lower_bound: int
    upper_bound: int
    nodes: Nodes


@dataclass(frozen=True)
class PathResult:
    """One entry for every number of splits that costs less than any smaller one."""

    status: str
    entries: list[SizedTree]
    counters: dict[str, int]
    seconds: float

    def with_trees(self, known: Iterable[SizedTree]) -> PathResult:
        """Return the path with further trees within its limits, where they cost no more.

        Their lower bounds count for nothing.
        """
        entries: list[SizedTree] = []
        mine = {entry.splits: entry.lower_bound for entry in self.entries}
        # Of trees of the same size and cost those that are known come first.
        for tree in sorted(
            [*known, *self.entries], key=lambda tree: (tree.splits, tree.upper_bound)
        ):
            if entries and tree.upper_bound >= entries[-1].upper_bound:
                continue
            # What holds for more splits holds for fewer.
            proven = max((low for size, low in mine.items() if size >= tree.splits), default=0)
            check_bounds(proven, tree.upper_bound)
            entries.append(replace(tree, lower_bound=proven))
        return replace(self, entries=entries)


def most_splits(n_rows: int, max_depth: int | None, max_splits: int | None = None) -> int:
    """Return the number of splits of binary tests for which the core makes room.

    No tree within these limits has more. A limit on splits is one on depth, and counts as such.
    """
    depth = min(int(limit) for limit in (max_depth, max_splits, _DEEP) if limit is not None)
    return min(max(n_rows - 1, 0), (1 << depth) - 1)


class Guard:
    """What the core asks whether to stop: the call's budget, and a callback.

    What the callback raises does not cross the core but stops the search, to be raised after it.
    """

    def __init__(self, callback: Callback | None) -> None:
        self.callback = callback
        self.error: BaseException | None = None
        self._call = current()
        # A search that begins after Ctrl-C has a moment to find a tree at all.
        self._at_once = self._call is not None and not self._call.is_interrupted

    def __call__(self, event: Event) -> bool:
        try:
            if self.callback is not None and self.callback(event):
                return True
        except KeyboardInterrupt as error:
            return self._is_first(error)
        except BaseException as error:
            self.error = error
            return True
        return self._call is not None and self._call.must_stop(at_once=self._at_once)

    def _is_first(self, error: KeyboardInterrupt) -> bool:
        """Treat a `KeyboardInterrupt` of a callback like Ctrl-C, and return True."""
        try:
            if self._call is not None:
                self._call.interrupt()
        except KeyboardInterrupt:
            self.error = error
        return True


def solve(
    problem: Problem,
    options: Options,
    callback: Callback | None = None,
) -> Result:
    """Find the best tree within the options.

    Parameters
    ----------
    problem : Problem
        The data and the costs.
    options : Options
        Limits and choices.
    callback : callable, optional
        Called now and then with an event; a true answer stops the search. What it raises is
        raised here once the search has stopped.

    Returns
    -------
    Result
        The incumbent when the search ended, with its status and bounds.
    """
    raw = call_core(_core.solve, _arguments(problem, options), callback)
    return read_result(raw, options, problem.cost_of)


def solve_path(
    problem: Problem,
    options: Options,
    callback: Callback | None = None,
) -> PathResult:
    """Find the best tree for every number of splits within the options.

    Parameters
    ----------
    problem : Problem
        The data and the costs.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed; the penalty is not used.
    callback : callable, optional
        As for `solve`.

    Returns
    -------
    PathResult
        Costs are those of the leaves, in units of the cost matrix.
    """
    raw = call_core(_core.solve_path, _arguments(problem, options), callback)
    return read_path(raw, options, problem.cost_of)


def call_core(
    function: Callable[..., Any], arguments: Sequence[Any], callback: Callback | None
) -> Any:
    """Call a function of the core whose last argument is the callback; raise what that raised."""
    guard = Guard(callback)
    raw = function(*arguments, guard)
    if guard.error is not None:
        raise guard.error
    return raw


def read_nodes(raw: Any) -> Nodes:
    """Return the tree of what the core answered."""
    return Nodes(raw.test, raw.first_child, raw.label)


def read_result(
    raw: Any,
    options: Options,
    cost_of: CostOf,
    nodes: Nodes | None = None,
    leaf_penalties: int = 0,
    least: int = 0,
) -> Result:
    """Return what the core answered to one solve, once it has passed the alarms.

    Parameters
    ----------
    raw : object
        What the core answered.
    options : Options
        What it was asked.
    cost_of : callable
        What the leaves of a tree cost; None if nobody but the caller's function knows.
    nodes : Nodes, optional
        The tree as `cost_of` reads it; by default as the core writes it.
    leaf_penalties : int
        What the number of leaves adds to the value of the tree.
    least : int
        No tree has a value below this.
    """
    nodes = read_nodes(raw) if nodes is None else nodes
    check_bounds(raw.lower_bound, raw.upper_bound, raw.status)
    cost = cost_of(nodes) if len(nodes) else None
    if cost is not None:
        penalties = options.split_penalty * nodes.n_splits + leaf_penalties
        check_value(raw.upper_bound, options.error_scale * cost + penalties)
    return Result(
        status=options.status(raw.status),
        lower_bound=options.bound(raw.lower_bound, least),
        upper_bound=raw.upper_bound,
        nodes=nodes,
        counters=raw.counters,
        history=[(s, work, upper, options.bound(l, least)) for s, work, upper, l in raw.history],
        seconds=raw.seconds,
    )


def read_path(
    raw: Any, options: Options, cost_of: CostOf, read: Callable[[Nodes], Nodes] | None = None
) -> PathResult:
    """Return what the core answered to a solve for every number of splits, as `read_result` does.

    Trees are as `read` makes them of what the core writes.
    """
    entries = []
    for k, lower, upper, *arrays in raw.entries:
        nodes = Nodes(*arrays) if read is None else read(Nodes(*arrays))
        check_bounds(lower, upper, raw.status)
        cost = cost_of(nodes)
        if cost is not None:
            check_value(upper, cost)
        entries.append(SizedTree(k, options.bound(lower), upper, nodes))
    return PathResult(options.status(raw.status), entries, raw.counters, raw.seconds)


def _arguments(problem: Problem, options: Options) -> tuple[Any, ...]:
    return (
        problem.answers,
        problem.row_types,
        problem.cost_matrix,
        problem.weights,
        options.to_core(),
    )
