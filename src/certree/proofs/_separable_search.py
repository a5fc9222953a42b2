"""The best trees for any separable objective, by dynamic programming over sets of rows.

This is the recursion of van der Linden, de Weerdt and Demirović (NeurIPS 2023, equation 8), with a
leaf as an option at every depth: the values of a set of rows are those of its labels, and those
that the two sides of each test combine to; what is not feasible, or not as good as another, is
dropped. By their theorem 4.6 nothing is lost if the objective is separable. Costs, combination and
order are Python functions, so the search has no bounds and is slow; an objective that is a sum per
row and label is better stated as another task.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.engine import Nodes
from certree.engine._budget import current
from certree.tasks import Separable
from certree.tasks._separable import hashable, same


class Plan(NamedTuple):
    """A tree: a leaf with a label, or a column with the plans of its two sides."""

    label: int
    column: int = -1
    sides: tuple[Any, ...] = ()


class Candidate(NamedTuple):
    """A value that some tree has, its number of splits, and the tree."""

    value: Any
    splits: int
    plan: Plan


class OutOfTime(Exception):
    """The call must end; the status says why."""


@dataclass(frozen=True)
class ProgrammeLimits:
    """Limits on trees; None: no limit."""

    max_depth: int | None
    max_splits: int | None
    min_leaf: int


class Programme:
    """All values of all sets of rows that are asked for, remembered."""

    def __init__(
        self,
        task: Separable,
        columns: NDArray[np.uint8],
        features: Sequence[int],
        sizes: ProgrammeLimits,
        time_limit: float | None,
    ) -> None:
        self.task = task
        self.sizes = sizes
        self.n_rows = columns.shape[0]
        self.all_rows = (1 << self.n_rows) - 1
        self.features = features
        self.tests = self._different_tests(columns)
        self.known: dict[tuple[int, Hashable, int], list[Candidate]] = {}
        hashable(task.initial, "initial")
        self.end = None if time_limit is None else perf_counter() + time_limit
        self.poll: Callable[[], object] | None = None
        """Asked now and then; a true answer ends the search."""
        self._prepare(columns)

    def _prepare(self, columns: NDArray[np.uint8]) -> None:
        """Get ready; for programmes that need more."""

    def _different_tests(self, columns: NDArray[np.uint8]) -> list[tuple[int, int]]:
        """Return column and rows of each test, those left out that repeat one or its opposite.

        Where tests cost something, those of different columns differ; and where they change the
        state, so do opposites.
        """
        kept: dict[tuple[int, int], int] = {}
        matters = self.task.split_cost is not None or self.task.transition is not None
        for column in range(columns.shape[1]):
            packed = np.packbits(columns[:, column], bitorder="little").tobytes()
            holds, feature = int.from_bytes(packed, "little"), self.features[column]
            of = feature if matters else -1
            is_opposite = (self.all_rows ^ holds, of) in kept and self.task.transition is None
            if (holds, of) not in kept and not is_opposite:
                kept[holds, of] = column
        return [(column, holds) for (holds, _), column in kept.items()]

    @property
    def depth(self) -> int:
        """The depth that trees can have."""
        limits: list[int] = [len(self.tests), max(self.n_rows - 1, 0)]
        limits += [n for n in (self.sizes.max_depth, self.sizes.max_splits) if n is not None]
        return min(limits)

    @property
    def n_row_sets(self) -> int:
        """Number of subproblems that were solved."""
        return len(self.known)

    def solve(self) -> Iterator[tuple[int, list[Candidate]]]:
        """Yield depths and nondominated values, for growing depths; the last is the answer."""
        for depth in range(self.depth + 1):
            # Of the whole tree only the value counts.
            whole: list[Candidate] = []
            for found in self._front(self.all_rows, self.task.initial, depth):
                self._offer(whole, found, None)
            yield depth, whole

    def members(self, rows: int) -> NDArray[np.intp]:
        """Return row numbers."""
        packed = np.frombuffer(rows.to_bytes((self.n_rows + 7) // 8, "little"), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(packed, bitorder="little"))

    def _front(self, rows: int, state: Any, depth: int) -> list[Candidate]:
        depth = min(depth, rows.bit_count() - 1)
        if (rows, state, depth) not in self.known:
            if depth > 0:  # leaves there are in any case
                self._check_time()
            members = self.members(rows)
            kept: list[Candidate] = []
            for found in self._candidates(rows, members, state, depth):
                if self.task.feasible is None or self.task.feasible(found.value, members):
                    self._offer(kept, found, self.sizes.max_splits is not None)
            self.known[rows, state, depth] = kept
        return self.known[rows, state, depth]

    def _check_time(self) -> None:
        call = current()
        if call is not None and call.is_interrupted:
            raise OutOfTime("interrupted")
        if self.poll is not None and self.poll():
            raise OutOfTime("interrupted")
        if self.end is not None and perf_counter() > self.end:
            raise OutOfTime("time_limit")

    def _candidates(
        self, rows: int, members: NDArray[np.intp], state: Any, depth: int
    ) -> Iterator[Candidate]:
        for k, label in enumerate(self.task.labels):
            yield Candidate(self.task.leaf_value(members, label, state), 0, Plan(k))
        most = self.sizes.max_splits
        for column, holds in self.tests if depth > 0 else ():
            sides = rows & holds, rows & ~holds
            if min(side.bit_count() for side in sides) < max(self.sizes.min_leaf, 1):
                continue
            feature = self.features[column]
            cost = None
            if self.task.split_cost is not None:
                cost = self.task.split_value(members, feature, state)
            below = [self.task.next_state(state, feature, holds) for holds in (True, False)]
            for yes in self._front(sides[0], below[0], depth - 1):
                for no in self._front(sides[1], below[1], depth - 1):
                    splits = yes.splits + no.splits + 1
                    if most is None or splits <= most:
                        plan = Plan(-1, column, (yes.plan, no.plan))
                        value = self.task.combine(yes.value, no.value)
                        if self.task.split_cost is not None:
                            value = self.task.combine(value, cost)
                        yield Candidate(value, splits, plan)

    def _offer(self, kept: list[Candidate], found: Candidate, splits_matter: bool | None) -> None:
        """Keep a value unless another one is as good, and drop those that it is better than.

        `splits_matter` is None for trees of all rows.
        """
        if any(self._replaces(other, found, splits_matter) for other in kept):
            return
        kept[:] = [other for other in kept if not self._replaces(found, other, splits_matter)]
        kept.append(found)

    def _replaces(self, one: Candidate, other: Candidate, splits_matter: bool | None) -> bool:
        if splits_matter is None:
            is_equal = self.task.whole_same(one.value, other.value)
            is_better = self.task.whole_better(one.value, other.value)
        else:
            is_equal = same(one.value, other.value)
            is_better = is_equal or self.task.better(one.value, other.value)
        if not (is_equal or is_better):
            return False
        return not (splits_matter or is_equal) or one.splits <= other.splits


def nodes_of(plan: Plan) -> Nodes:
    """Return a tree as arrays."""
    plans, first = [plan], []
    for at in plans:
        first.append(len(plans) if at.sides else -1)
        plans.extend(at.sides)
    return Nodes.of([at.column for at in plans], first, [at.label for at in plans])
