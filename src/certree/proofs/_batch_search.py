"""The best tree for an objective of sums with a state, in batches.

As in :mod:`._separable_search`, a subproblem is a set of rows, a state and a depth. Values are
numbers that add up, so one best tree per subproblem is enough. Trees of depth two are found from
the sums of pairs of tests: the user's functions are called once for all nodes that share a state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from certree.tasks._separable import Both, limit_sides

from ._separable_search import Candidate, Plan, Programme

Array = NDArray[Any]


class _BatchNode(NamedTuple):
    """What is known of the rows of a node: sums of its own, and where each test holds."""

    total: Array  # (n_statistics,)
    size: int
    held: Array  # (n_tests, n_statistics)
    sizes: NDArray[np.int64]  # (n_tests,)
    columns: Array  # (n_rows, n_tests)
    statistics: Array  # (n_rows, n_statistics)


class BatchProgramme(Programme):
    """The recursion with a best tree for every subproblem."""

    def _prepare(self, columns: NDArray[np.uint8]) -> None:
        statistics = self.task.statistics
        assert statistics is not None
        self.statistics = statistics
        self.answers = columns
        self.columns = np.ascontiguousarray(columns[:, [column for column, _ in self.tests]])
        self.column_of = np.array([column for column, _ in self.tests], dtype=np.intp)
        self.feature_of = np.array([self.features[c] for c, _ in self.tests], dtype=np.intp)
        self.least = max(self.sizes.min_leaf, 1)
        # Sums of integers stay exact as floats, unless they are huge.
        largest = float(np.abs(statistics.astype(np.float64)).sum(axis=0).max(initial=0.0))
        self.counts_exactly = statistics.dtype.kind == "f" or largest < 2**53
        self.best: dict[tuple[bytes, Any, int], Candidate] = {}
        self.states: dict[tuple[Any, int, bool], Any] = {}

    @property
    def n_row_sets(self) -> int:
        return len(self.best)

    def solve(self) -> Iterator[tuple[int, list[Candidate]]]:
        """Yield depths and the best tree, for growing depths; the last is the answer."""
        for depth in range(self.depth + 1):
            if 2 < depth < self.depth:
                continue  # smaller trees come along
            # The products of matrices are small: several threads would wait for each other.
            with threadpool_limits(limits=1, user_api="blas"):
                best = self._best(np.arange(self.n_rows), self.task.initial, depth)
            yield depth, [best]

    def _next(self, state: Any, feature: int, holds: bool) -> Any:
        key = state, feature, holds
        if key not in self.states:
            self.states[key] = self.task.next_state(state, feature, holds)
        return self.states[key]

    # Batches.

    def _by_state(
        self, states: list[Any], sums: Array, ask: Callable[[Array, Any], Array]
    ) -> Array:
        """Return answers to lines of sums, asked once per state."""
        lines: dict[Any, list[int]] = {}
        for line, state in enumerate(states):
            lines.setdefault(state, []).append(line)
        if len(lines) == 1:
            return ask(sums, states[0])
        parts = {state: ask(sums[some], state) for state, some in lines.items()}
        kinds = [part.dtype for part in parts.values()]
        first = next(iter(parts.values()))
        answers = np.empty((len(sums), *first.shape[1:]), dtype=np.result_type(*kinds))
        for state, some in lines.items():
            answers[some] = parts[state]
        return answers

    def _leaves(self, states: list[Any], sums: Array) -> Array:
        """Return what the best label of each leaf costs, of shape (n_leaves,)."""

        def ask(some: Array, state: Any) -> Array:
            return np.asarray(self.task.leaf_values(some, state).min(axis=1))

        if not self.task.leaf_has_state:
            return ask(sums, self.task.initial)
        return self._by_state(states, sums, ask)

    def _tests(self, states: list[Any], sums: Array) -> Array:
        """Return what each test costs in each node, of shape (n_nodes, n_tests)."""
        if self.task.split_cost is None:
            return np.zeros((len(sums), len(self.feature_of)), dtype=np.int64)

        def ask(some: Array, state: Any) -> Array:
            return self.task.split_values(some, state)[:, self.feature_of]

        return self._by_state(states, sums, ask)

    # The recursion.

    def _best(self, rows: NDArray[np.intp], state: Any, depth: int) -> Candidate:
        depth = min(depth, len(rows) - 1)
        key = rows.tobytes(), state, depth
        if key not in self.best:
            if depth > 0:
                self._check_time()
            self.best[key] = self._solve(rows, state, depth)
        return self.best[key]

    def _solve(self, rows: NDArray[np.intp], state: Any, depth: int) -> Candidate:
        statistics, columns = self.statistics[rows], self.columns[rows]
        total = statistics.sum(axis=0)
        values = self.task.leaf_values(total[None], state)[0]
        label = int(values.argmin())
        leaf = Candidate(values[label].item(), 0, Plan(label))
        if depth == 0:
            return leaf
        sizes = columns.sum(axis=0, dtype=np.int64)
        held = self._product(statistics, columns).T
        node = _BatchNode(total, len(rows), held, sizes, columns, statistics)
        splits = self._tests([state], total[None])[0]
        found = self._of_depth_two if depth <= 2 else self._deeper
        best = found(node, rows, state, depth, splits)
        return best if best is not None and best.value < leaf.value else leaf

    def _product(self, statistics: Array, columns: Array) -> Array:
        """Return sums of statistics where columns hold, of shape (n_statistics, n_columns)."""
        if not self.counts_exactly:
            return np.asarray(statistics.T @ columns.astype(np.int64))
        sums = statistics.T.astype(np.float64) @ columns.astype(np.float64)
        return np.asarray(np.rint(sums).astype(np.int64) if statistics.dtype.kind == "i" else sums)

    def _deeper(
        self, node: _BatchNode, rows: NDArray[np.intp], state: Any, depth: int, splits: Array
    ) -> Candidate | None:
        best: Candidate | None = None
        for test in np.flatnonzero(np.minimum(node.sizes, node.size - node.sizes) >= self.least):
            feature, holds = int(self.feature_of[test]), node.columns[:, test] != 0
            sides = [
                self._best(rows[part], self._next(state, feature, side), depth - 1)
                for part, side in ((holds, True), (~holds, False))
            ]
            value = sides[0].value + sides[1].value + splits[test].item()
            if best is None or value < best.value:
                plan = Plan(-1, int(self.column_of[test]), (sides[0].plan, sides[1].plan))
                best = Candidate(value, sides[0].splits + sides[1].splits + 1, plan)
        return best

    def _of_depth_two(
        self, node: _BatchNode, rows: NDArray[np.intp], state: Any, depth: int, splits: Array
    ) -> Candidate | None:
        """Return the best tree with a split, of depth one or two."""
        inside = np.minimum(node.sizes, node.size - node.sizes) >= self.least
        first = np.flatnonzero(inside)
        if not len(first):
            return None
        below = [
            [self._next(state, int(self.feature_of[test]), side) for test in first]
            for side in (True, False)
        ]
        sums = [node.held[first], node.total - node.held[first]]
        sides = [self._leaves(below[k], sums[k]) for k in (0, 1)]
        second = [np.full(len(first), -1), np.full(len(first), -1)]
        if depth == 2:
            pairs, sizes = self._pairs(node, first)
            for k in (0, 1):
                sides[k], second[k] = self._one_more(
                    node, first, below[k], sums[k], sides[k], (pairs, sizes), holds=k == 0
                )
        values = sides[0] + sides[1] + splits[first]
        at = int(values.argmin())
        plans = [
            self._side_plan(below[k][at], sums[k][at], first, second[k][at], node, at, k == 0)
            for k in (0, 1)
        ]
        n_splits = 1 + sum(1 for plan in plans if plan.sides)
        return Candidate(
            values[at].item(), n_splits, Plan(-1, int(self.column_of[first[at]]), tuple(plans))
        )

    def _pairs(self, node: _BatchNode, first: NDArray[np.intp]) -> tuple[Array, NDArray[np.int64]]:
        """Return sums and numbers of rows where two tests hold: (n_first, n_tests, ...)."""
        ones = np.ones((node.size, 1), dtype=node.statistics.dtype)
        each = np.concatenate([node.statistics, ones], axis=1)
        some = node.columns[:, first]
        lines = (some[:, :, None] * each[:, None, :]).reshape(node.size, -1)
        sums = self._product(lines, node.columns)
        shaped = sums.reshape(len(first), each.shape[1], -1).transpose(0, 2, 1)
        return shaped[:, :, :-1], np.rint(shaped[:, :, -1]).astype(np.int64)

    def _one_more(
        self,
        node: _BatchNode,
        first: NDArray[np.intp],
        below: list[Any],
        sums: Array,
        leaves: Array,
        pairs: tuple[Array, NDArray[np.int64]],
        *,
        holds: bool,
    ) -> tuple[Array, NDArray[np.intp]]:
        """Return the best value of one side of each test with at most one more, and that test."""
        both, sizes = pairs
        side_sizes = node.sizes[first] if holds else node.size - node.sizes[first]
        yes = both if holds else node.held[None] - both
        yes_sizes = sizes if holds else node.sizes[None] - sizes
        enough = np.minimum(yes_sizes, side_sizes[:, None] - yes_sizes) >= self.least
        at, tests = np.nonzero(enough)
        if not len(at):
            return leaves, np.full(len(first), -1)
        cells = yes[at, tests], sums[at] - yes[at, tests]
        found = self._tests(below, sums)[at, tests]
        for cell, side in zip(cells, (True, False), strict=True):
            states: list[Any] = []
            if self.task.leaf_has_state:
                states = [
                    self._next(below[a], int(self.feature_of[t]), side)
                    for a, t in zip(at.tolist(), tests.tolist(), strict=True)
                ]
            found = found + self._leaves(states, cell)
        none = np.inf if found.dtype.kind == "f" else np.iinfo(np.int64).max
        values = np.full(enough.shape, none, dtype=found.dtype)
        values[at, tests] = found
        best = values.argmin(axis=1)
        least = values[np.arange(len(first)), best]
        is_better = enough.any(axis=1) & (least < leaves)
        return np.where(is_better, least, leaves), np.where(is_better, best, -1)

    def _side_plan(
        self,
        state: Any,
        sums: Array,
        first: NDArray[np.intp],
        second: int,
        node: _BatchNode,
        at: int,
        holds: bool,
    ) -> Plan:
        """Return the tree of one side of the best first test."""
        if second < 0:
            return Plan(int(self.task.leaf_values(sums[None], state)[0].argmin()))
        column = node.columns[:, first[at]] != 0
        inside = column if holds else ~column
        other, feature = node.columns[:, second] != 0, int(self.feature_of[second])
        leaves = []
        for part, side in ((inside & other, True), (inside & ~other, False)):
            below = self._next(state, feature, side)
            values = self.task.leaf_values(node.statistics[part].sum(axis=0)[None], below)
            leaves.append(Plan(int(values[0].argmin())))
        return Plan(-1, int(self.column_of[second]), tuple(leaves))


class LimitedBatch(BatchProgramme):
    """The recursion with limits: lists of nondominated vectors for every subproblem.

    The first number of a vector is the value, the others are what labels add to limits above the
    least that they can add, so that parts above a bound are dropped (docs/theory/limits.md).
    """

    def _prepare(self, columns: NDArray[np.uint8]) -> None:
        assert isinstance(self.task, Both)
        base, limits = self.task.parts()
        assert base.statistics is not None
        self.whole, self.task = self.task, base
        super()._prepare(columns)
        self.n_own = base.statistics.shape[1]
        sides = [side for limit in limits for side in limit_sides(limit, base.labels, self.n_rows)]
        amounts = [amount.astype(np.int64) for amount, _ in sides]
        self.bounds = np.array([bound for _, bound in sides], dtype=np.float64)
        self.statistics = np.concatenate([base.statistics, *amounts], axis=1)
        self.lists: dict[tuple[bytes, Any, int], tuple[Array, list[Plan]]] = {}

    @property
    def n_row_sets(self) -> int:
        return len(self.lists)

    def solve(self) -> Iterator[tuple[int, list[Candidate]]]:
        """Yield depths and the best tree within the limits, for growing depths."""
        for depth in range(self.depth + 1):
            if 2 < depth < self.depth:
                continue
            with threadpool_limits(limits=1, user_api="blas"):
                vectors, plans = self._list(np.arange(self.n_rows), self.task.initial, depth)
            best = [plans[int(vectors[:, 0].argmin())]] if plans else []
            rows = np.arange(self.n_rows)
            yield (
                depth,
                [
                    Candidate(self._value(plan, rows, self.whole.initial), _n_splits(plan), plan)
                    for plan in best
                ],
            )

    def _value(self, plan: Plan, rows: NDArray[np.intp], state: Any) -> Any:
        """Return the value of a tree by the functions of the task, with the totals of limits."""
        task = self.whole
        if not plan.sides:
            return task.leaf_value(rows, task.labels[plan.label], state)
        feature, holds = self.features[plan.column], self.answers[rows, plan.column] != 0
        parts = [
            self._value(side, rows[part], task.next_state(state, feature, outcome))
            for side, part, outcome in zip(plan.sides, (holds, ~holds), (True, False), strict=True)
        ]
        value = task.combine(*parts)
        if task.split_cost is not None:
            value = task.combine(value, task.split_value(rows, feature, state))
        return value

    def _tests(self, states: list[Any], sums: Array) -> Array:
        return super()._tests(states, sums[:, : self.n_own])

    def _vectors(self, states: list[Any], sums: Array) -> Array:
        """Return the vectors of all labels, of shape (n_leaves, n_labels, 1 + n_limits)."""
        own = sums[:, : self.n_own]
        if self.task.leaf_has_state:
            costs = self._by_state(states, own, self.task.leaf_values)
        else:
            costs = self.task.leaf_values(own, self.task.initial)
        n_labels = len(self.task.labels)
        amounts = sums[:, self.n_own :].reshape(len(sums), len(self.bounds), n_labels)
        each = [costs[:, :, None], amounts.transpose(0, 2, 1)]
        return np.concatenate(each, axis=2).astype(np.float64)

    def _list(self, rows: NDArray[np.intp], state: Any, depth: int) -> tuple[Array, list[Plan]]:
        depth = min(depth, len(rows) - 1)
        key = rows.tobytes(), state, depth
        if key not in self.lists:
            if depth > 0:
                self._check_time()
            self.lists[key] = self._find(rows, state, depth)
        return self.lists[key]

    def _find(self, rows: NDArray[np.intp], state: Any, depth: int) -> tuple[Array, list[Plan]]:
        statistics, columns = self.statistics[rows], self.columns[rows]
        total = statistics.sum(axis=0)
        vectors = [self._vectors([state], total[None])[0]]
        plans = [Plan(label) for label in range(len(self.task.labels))]
        if depth > 0:
            sizes = columns.sum(axis=0, dtype=np.int64)
            held = self._product(statistics, columns).T
            node = _BatchNode(total, len(rows), held, sizes, columns, statistics)
            inside = np.flatnonzero(np.minimum(sizes, node.size - sizes) >= self.least)
            splits = self._tests([state], total[None])[0]
            for test, sides in self._sides(node, rows, state, depth, inside):
                joined = sides[0][0][:, None, :] + sides[1][0][None, :, :]
                flat = joined.reshape(-1, joined.shape[2])
                flat[:, 0] += splits[test]
                kept = self._nondominated(flat)
                n_no, column = len(sides[1][1]), int(self.column_of[test])
                vectors.append(flat[kept])
                for place in kept.tolist():
                    yes, no = sides[0][1][place // n_no], sides[1][1][place % n_no]
                    plans.append(Plan(-1, column, (yes, no)))
        every = np.concatenate(vectors)
        kept = self._nondominated(every)
        return every[kept], [plans[place] for place in kept.tolist()]

    def _sides(
        self,
        node: _BatchNode,
        rows: NDArray[np.intp],
        state: Any,
        depth: int,
        inside: NDArray[np.intp],
    ) -> Iterator[tuple[int, list[tuple[Array, list[Plan]]]]]:
        """Yield tests, and the lists of both their sides, where both have some."""
        if depth == 2 and len(inside):
            yield from self._shallow(node, state, inside)
            return
        for test in inside.tolist():
            holds, feature = node.columns[:, test] != 0, int(self.feature_of[test])
            sides = [
                self._list(rows[part], self._next(state, feature, side), depth - 1)
                for part, side in ((holds, True), (~holds, False))
            ]
            if sides[0][1] and sides[1][1]:
                yield test, sides

    def _shallow(
        self, node: _BatchNode, state: Any, first: NDArray[np.intp]
    ) -> Iterator[tuple[int, list[tuple[Array, list[Plan]]]]]:
        """Yield tests with the lists of their sides, of depth one, from the sums of pairs."""
        both, sizes = self._pairs(node, first)
        found: list[list[tuple[Array, list[Plan]]]] = [[] for _ in first]
        for holds in (True, False):
            sums = node.held[first] if holds else node.total - node.held[first]
            side_sizes = node.sizes[first] if holds else node.size - node.sizes[first]
            yes = both if holds else node.held[None] - both
            yes_sizes = sizes if holds else node.sizes[None] - sizes
            enough = np.minimum(yes_sizes, side_sizes[:, None] - yes_sizes) >= self.least
            at, tests = np.nonzero(enough)
            below = [self._next(state, int(self.feature_of[t]), holds) for t in first]
            leaves = self._vectors(below, sums)
            costs = self._tests(below, sums)[at, tests]
            cells = []
            for cell, side in ((yes[at, tests], True), (sums[at] - yes[at, tests], False)):
                states = []
                if self.task.leaf_has_state:
                    states = [
                        self._next(below[a], int(self.feature_of[t]), side)
                        for a, t in zip(at.tolist(), tests.tolist(), strict=True)
                    ]
                cells.append(self._vectors(states, cell) if len(at) else leaves[:0])
            starts = np.searchsorted(at, np.arange(len(first) + 1))
            for place in range(len(first)):
                part = slice(int(starts[place]), int(starts[place + 1]))
                found[place].append(
                    self._one_side(
                        leaves[place], tests[part], costs[part], cells[0][part], cells[1][part]
                    )
                )
        for place, test in enumerate(first.tolist()):
            if all(plans for _, plans in found[place]):
                yield test, found[place]

    def _one_side(
        self, leaves: Array, tests: NDArray[np.intp], costs: Array, yes: Array, no: Array
    ) -> tuple[Array, list[Plan]]:
        """Return the vectors of a side with at most one more test."""
        n_labels, width = leaves.shape
        joined = yes[:, :, None, :] + no[:, None, :, :]
        joined[..., 0] += costs[:, None, None]
        every = np.concatenate([leaves, joined.reshape(-1, width)])
        kept = self._nondominated(every)
        plans = []
        for place in kept.tolist():
            if place < n_labels:
                plans.append(Plan(place))
                continue
            test, labels = divmod(place - n_labels, n_labels * n_labels)
            sides = (Plan(labels // n_labels), Plan(labels % n_labels))
            plans.append(Plan(-1, int(self.column_of[tests[test]]), sides))
        return every[kept], plans

    def _nondominated(self, vectors: Array) -> NDArray[np.intp]:
        """Return places of vectors within the bounds that no other equals or beats."""
        inside = np.flatnonzero((vectors[:, 1:] <= self.bounds).all(axis=1))
        some = vectors[inside]
        order = inside[np.lexsort(some.T[::-1])]
        some = vectors[order]
        if vectors.shape[1] == 2:
            least = np.minimum.accumulate(some[:, 1])
            is_new = np.append(np.True_, least[1:] < least[:-1])[: len(order)]
            return np.asarray(order[is_new])
        kept: list[int] = []
        while len(order):
            kept.append(int(order[0]))
            beaten = (some >= some[0]).all(axis=1)
            order, some = order[~beaten], some[~beaten]
        return np.array(kept, dtype=np.intp)


def _n_splits(plan: Plan) -> int:
    return 1 + sum(map(_n_splits, plan.sides)) if plan.sides else 0
