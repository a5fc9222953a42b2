"""The best trees for any separable objective, by dynamic programming over sets of rows.

This is the recursion of van der Linden, de Weerdt and Demirović (NeurIPS 2023, equation 8), with a
leaf as an option at every depth: the values of a set of rows are those of its labels, and those
that the two sides of each test combine to; what is not feasible, or not as good as another, is
dropped. By their theorem 4.6 nothing is lost if the objective is separable. Costs, combination and
order are Python functions, so the search has no bounds and is slow; an objective that is a sum per
row and label is better stated as another task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.engine import Nodes
from certree.engine._budget import current
from certree.tasks import Separable
from certree.tasks._check_separable import same


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
        self.known: dict[tuple[int, int], list[Candidate]] = {}
        self.end = None if time_limit is None else perf_counter() + time_limit

    def _different_tests(self, columns: NDArray[np.uint8]) -> list[tuple[int, int]]:
        """Return column and rows of each test, those left out that repeat one or its opposite."""
        kept: dict[int, int] = {}
        for column in range(columns.shape[1]):
            packed = np.packbits(columns[:, column], bitorder="little").tobytes()
            holds = int.from_bytes(packed, "little")
            if holds not in kept and self.all_rows ^ holds not in kept:
                kept[holds] = column
        return [(column, holds) for holds, column in kept.items()]

    @property
    def depth(self) -> int:
        """The depth that trees can have."""
        limits: list[int] = [len(self.tests), max(self.n_rows - 1, 0)]
        limits += [n for n in (self.sizes.max_depth, self.sizes.max_splits) if n is not None]
        return min(limits)

    def solve(self) -> Iterator[list[Candidate]]:
        """Yield the nondominated values for growing depths; the last is the answer."""
        for depth in range(self.depth + 1):
            # Of the whole tree only the value counts.
            whole: list[Candidate] = []
            for found in self._front(self.all_rows, depth):
                self._offer(whole, found, splits_matter=False)
            yield whole

    def members(self, rows: int) -> NDArray[np.intp]:
        """Return row numbers."""
        packed = np.frombuffer(rows.to_bytes((self.n_rows + 7) // 8, "little"), dtype=np.uint8)
        return np.flatnonzero(np.unpackbits(packed, bitorder="little"))

    def _front(self, rows: int, depth: int) -> list[Candidate]:
        depth = min(depth, rows.bit_count() - 1)
        if (rows, depth) not in self.known:
            if depth > 0:  # leaves there are in any case
                self._check_time()
            members = self.members(rows)
            kept: list[Candidate] = []
            for found in self._candidates(rows, members, depth):
                if self.task.feasible is None or self.task.feasible(found.value, members):
                    self._offer(kept, found, splits_matter=self.sizes.max_splits is not None)
            self.known[rows, depth] = kept
        return self.known[rows, depth]

    def _check_time(self) -> None:
        call = current()
        if call is not None and call.is_interrupted:
            raise OutOfTime("interrupted")
        if self.end is not None and perf_counter() > self.end:
            raise OutOfTime("time_limit")

    def _candidates(self, rows: int, members: NDArray[np.intp], depth: int) -> Iterator[Candidate]:
        for k, label in enumerate(self.task.labels):
            yield Candidate(self.task.cost(members, label), 0, Plan(k))
        most = self.sizes.max_splits
        for column, holds in self.tests if depth > 0 else ():
            sides = rows & holds, rows & ~holds
            if min(side.bit_count() for side in sides) < max(self.sizes.min_leaf, 1):
                continue
            for yes in self._front(sides[0], depth - 1):
                for no in self._front(sides[1], depth - 1):
                    splits = yes.splits + no.splits + 1
                    if most is None or splits <= most:
                        plan = Plan(-1, column, (yes.plan, no.plan))
                        yield Candidate(self._combine(yes, no, members, column), splits, plan)

    def _combine(
        self, yes: Candidate, no: Candidate, members: NDArray[np.intp], column: int
    ) -> Any:
        values = [yes.value, no.value]
        if self.task.split_cost is not None:
            values.append(self.task.split_cost(members, self.features[column]))
        return reduce(self.task.combine, values)

    def _offer(self, kept: list[Candidate], found: Candidate, *, splits_matter: bool) -> None:
        """Keep a value unless another one is as good, and drop those that it is better than."""
        if any(self._replaces(other, found, splits_matter) for other in kept):
            return
        kept[:] = [other for other in kept if not self._replaces(found, other, splits_matter)]
        kept.append(found)

    def _replaces(self, one: Candidate, other: Candidate, splits_matter: bool) -> bool:
        is_equal = same(one.value, other.value)
        if not is_equal and not self.task.better(one.value, other.value):
            return False
        return not (splits_matter or is_equal) or one.splits <= other.splits


def nodes_of(plan: Plan) -> Nodes:
    """Return a tree as arrays."""
    plans, first = [plan], []
    for at in plans:
        first.append(len(plans) if at.sides else -1)
        plans.extend(at.sides)
    return Nodes.of([at.column for at in plans], first, [at.label for at in plans])
