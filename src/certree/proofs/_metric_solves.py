"""Scalar solves for metric searches: one budget, cuts proven, and trees found on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine._budget import Spending, current
from certree.engine._multiway_search import MultiwaySession
from certree.numbers._exact import cost_budget

from ._metric_cuts import Cut
from ._metric_limits import ROOM_FOR_MULTIPLIERS, LimitedSession

# Seconds between events outside of solves, and for what remains to do once a limit is reached.
_BETWEEN_EVENTS = 0.2
_TO_FINISH = 0.2


Sessions = engine.Session | MultiwaySession | LimitedSession
Weighable = Sessions | engine.Problem
"""Rows of two types, to be solved with weights of their errors."""


@dataclass(frozen=True)
class Found:
    """A tree, and where it is in the plane of false positives and negatives."""

    nodes: engine.Nodes
    fp: int
    fn: int
    leaf_sums: NDArray[np.int64] | None = None

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return self.nodes.n_splits

    @property
    def point(self) -> tuple[int, int]:
        """False positives and false negatives."""
        return self.fp, self.fn


@dataclass(frozen=True)
class Relabellings:
    """A tree with its first 0, 1, 2, ... leaves in some order positive, and the others negative.

    Attributes
    ----------
    fp, fn, n_splits : list of int
        By number of positive leaves; splits between leaves of the same label do not count.
    """

    nodes: engine.Nodes
    order: NDArray[np.intp]
    fp: list[int]
    fn: list[int]
    n_splits: list[int]

    def __len__(self) -> int:
        """Return the number of choices."""
        return len(self.fp)

    def tree(self, i: int) -> Found:
        """Return the tree with `i` positive leaves, without splits that do not count."""
        label = np.zeros(len(self.nodes), dtype=np.int32)
        label[self.order[:i]] = 1
        return Found(self.nodes.with_labels(label).merged(), self.fp[i], self.fn[i])


class BinaryRows:
    """The rows of a binary problem, with their weights by class."""

    def __init__(self, problem: Weighable) -> None:
        self.columns = problem.columns
        types = np.unique(problem.row_types).tolist()
        if not set(types) <= {0, 1}:
            raise ValueError(
                f"Metrics of false positives and negatives need row types 0 and 1, got {types[:9]}."
            )
        n_rows = len(problem.row_types)
        weights = np.ones(n_rows, dtype=np.int64) if problem.weights is None else problem.weights
        self.by_class = np.zeros((n_rows, 2), dtype=np.int64)
        self.by_class[np.arange(n_rows), problem.row_types] = weights
        self.negatives, self.positives = (int(total) for total in self.by_class.sum(axis=0))

    def leaf(self, label: int) -> Found:
        """Return the tree of one leaf."""
        fp, fn = (self.negatives, 0) if label else (0, self.positives)
        return Found(engine.Nodes.leaf(label), fp, fn)

    def found(self, nodes: engine.Nodes) -> Found:
        """Return a tree with its point."""
        sums = self.leaf_sums(nodes)
        fp, fn = int(sums[nodes.label == 1, 0].sum()), int(sums[nodes.label == 0, 1].sum())
        return Found(nodes, fp, fn, sums)

    def relabellings(self, tree: Found) -> Relabellings:
        """Return the labels of the leaves that are best for some weights of the two errors.

        With leaves in the order of their share of positive rows, some first ones are positive and
        the others negative.
        """
        nodes = tree.nodes
        sums = self.leaf_sums(nodes) if tree.leaf_sums is None else tree.leaf_sums
        leaves = np.flatnonzero(nodes.test < 0)
        share = sums[leaves, 0] / np.maximum(sums[leaves].sum(axis=1), 1)
        order = leaves[np.argsort(share, kind="stable")]
        fp = np.concatenate(([0], np.cumsum(sums[order, 0])))
        fn = self.positives - np.concatenate(([0], np.cumsum(sums[order, 1])))
        splits = _splits_left(nodes, order)
        return Relabellings(nodes, order, fp.tolist(), fn.tolist(), splits.tolist())

    def leaf_sums(self, nodes: engine.Nodes) -> NDArray[np.int64]:
        """Return the weights of negative and positive rows in each leaf."""
        leaves = nodes.route(self.columns)
        sums = np.zeros((len(nodes), 2), dtype=np.int64)
        if self.positives + self.negatives < 2**53:  # doubles hold such sums exactly
            for side in (0, 1):
                weights = self.by_class[:, side]
                sums[:, side] = np.bincount(leaves, weights=weights, minlength=len(sums))
        else:
            np.add.at(sums, leaves, self.by_class)
        return sums


def _splits_left(nodes: engine.Nodes, order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how many splits have both labels below them, for each number of positive leaves."""
    first = np.zeros(len(nodes.test), dtype=np.int64)
    first[order] = np.arange(len(order))
    last = first.copy()
    change = np.zeros(len(order) + 2, dtype=np.int64)
    # A child is numbered after its parent.
    for node in range(len(first) - 1, -1, -1):
        if nodes.test[node] >= 0:
            children = nodes.children(node)
            first[node] = first[children].min()
            last[node] = last[children].max()
            # With j positive leaves its first one is positive and its last one negative
            # for first < j <= last.
            change[first[node] + 1] += 1
            change[last[node] + 1] -= 1
    return np.cumsum(change)[: len(order) + 1]


class WeightedSolves(Spending):
    """Runs scalar solves within one budget and keeps what they prove.

    Attributes
    ----------
    cuts : list of Cut
        What has been proven.
    is_proven : bool
        Whether the last solve ran to its end.
    """

    def __init__(self, problem: Weighable, options: engine.Options) -> None:
        if isinstance(problem, engine.Problem):
            problem = engine.Session(problem.columns, problem.row_types, problem.weights)
        super().__init__(options)
        self.session: Sessions = problem
        self.rows = BinaryRows(problem)
        self.cuts: list[Cut] = []
        self.is_proven = False
        self.callback: engine.Callback | None = None
        self._next_event = _BETWEEN_EVENTS
        self._end: float | None = None
        n_rows = len(self.rows.columns)
        if isinstance(problem, MultiwaySession):
            # The core makes room for a split per row: the depth says little of multiway tests.
            most, room = problem.most_splits(options), cost_budget(n_rows)
        else:
            most = options.most_splits(n_rows)
            room = cost_budget(n_rows, most)
        self.max_splits = most if options.max_splits is None else min(most, options.max_splits)
        total = max(self.rows.positives + self.rows.negatives, 1)
        # Weights up to this keep every cost within the 64 bits of the core.
        self.largest_weight = max(room // total, 1)
        if isinstance(problem, LimitedSession):
            self.largest_weight = max(self.largest_weight // ROOM_FOR_MULTIPLIERS, 1)

    @property
    def limits(self) -> LimitedSession | None:
        """The rows, if trees have to keep limits."""
        return self.session if isinstance(self.session, LimitedSession) else None

    def first_trees(self) -> list[Found]:
        """Return trees to begin with, which keep all limits: single leaves where there are none."""
        if self.limits is None:
            return [self.rows.leaf(label) for label in (0, 1)]
        return [self.rows.found(nodes) for nodes in self.limits.trees]

    def solve(
        self,
        weights: tuple[int, int, int],
        known: tuple[int, int] | None = None,
        *,
        max_splits: int | None = None,
        max_depth: int | None = None,
        part: tuple[float, int] | None = None,
    ) -> Found | None:
        """Minimise ``fp * w_fp + fn * w_fn + splits * w_split``.

        Parameters
        ----------
        weights : tuple of int
            Of a false positive, a false negative and a split.
        known : tuple of int, optional
            Only trees below this value, or of this value and with fewer splits, are wanted.
        max_splits : int, optional
            A limit below that of the search; the cut then holds for so many splits only.
        max_depth : int, optional
            A limit below that of the search, for a first tree: nothing is then proven.
        part : tuple, optional
            A share of the time left and the most work, for a first tree.

        Returns
        -------
        Found or None
            None where no such tree was found.
        """
        options = self.remaining() if part is None else self.part(*part)
        if options is None:
            return None
        options = replace(options, split_penalty=weights[2], known=known)
        if max_splits is not None and max_splits < self.max_splits:
            options = replace(options, max_splits=max_splits)
        else:
            max_splits = None
        if max_depth is not None:
            options = replace(options, max_depth=max_depth)
        matrix = np.array([[0, weights[0]], [weights[1], 0]], dtype=np.int64)
        result = self.session.solve(matrix, options, self.watch if self.callback else None)
        work = result.history[-1][1] if result.history else 0
        status, lower = result.status, result.lower_bound
        if status == "infeasible":
            # No tree of this size keeps the limits, so that none is at any of the points.
            most = weights[0] * self.rows.negatives + weights[1] * self.rows.positives
            status, lower = "optimal", most + weights[2] * self.max_splits + 1
        self.account(status, result.counters, work, is_part=part is not None)
        self.is_proven = status == "optimal"
        if max_depth is None and (part is None or lower > 0):
            self.cuts.append(Cut(*weights, lower, max_splits))
        return self.rows.found(result.nodes) if len(result.nodes) else None

    def solve_path(self, weights: tuple[int, int]) -> list[Found]:
        """Minimise ``fp * w_fp + fn * w_fn`` for every number of splits; return the trees."""
        options = self.remaining()
        if options is None or isinstance(self.session, LimitedSession):
            return []
        matrix = np.array([[0, weights[0]], [weights[1], 0]], dtype=np.int64)
        result = self.session.solve_path(
            matrix, replace(options, known=None), self.watch if self.callback else None
        )
        self.account(result.status, result.counters)
        entries = result.entries
        for entry, after in zip_longest(entries, entries[1:]):
            limit: int | None = entry.splits
            # Numbers of splits without an entry are no better than the entry before.
            if result.status == "optimal":
                limit = None if after is None else after.splits - 1
            self.cuts.append(Cut(*weights, 0, entry.lower_bound, limit))
        return [self.rows.found(entry.nodes) for entry in entries]

    def remaining(self) -> engine.Options | None:
        """Return the options with what is left of the budget, or None and the status."""
        left = super().remaining()
        return None if left is None else replace(left, error_scale=1, gap=0, partial="")

    def is_over(self) -> bool:
        """Whether loops between solves must end; called often in them.

        Looks at the clock and asks the callback, and gives a moment to apply what is proven.
        """
        now = self.seconds
        limit = self.options.time_limit
        if self.status in ("optimal", "work_limit") and limit is not None and now > limit:
            self.status = "time_limit"
        call = current()
        if self.status in ("optimal", "work_limit") and call is not None and call.is_interrupted:
            self.status = "interrupted"
        if self.status == "optimal" and self.callback is not None and now > self._next_event:
            self._next_event = now + _BETWEEN_EVENTS
            if self.watch({}):
                self.status = "interrupted"
        if self.status in ("optimal", "work_limit"):
            return False
        if self._end is None:
            self._end = now + _TO_FINISH
        return now > self._end

    def watch(self, event: engine.Event) -> object:
        """Pass an event on, with the time and work of all solves."""
        assert self.callback is not None
        moved: dict[str, Any] = {**event, "seconds": self.seconds, "work": self.work}
        return self.callback(moved)
