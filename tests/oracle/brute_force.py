"""The least cost of a tree, found by looking at all trees: plain Python, exact integers.

Nothing here comes from the package under test.  Rows are bits of a Python integer, a test is the
tuple of the row sets of its outcomes, and the recursion is the definition of the problem: a node
is a leaf, or it is split by some test and every part is solved on its own.  There are no bounds,
no orderings and no incumbents; the only saving is to remember a row set that was met before.

The same recursion serves binary columns (two outcomes) and multiway tests (one outcome for each
category).  Conventions, where a definition leaves room:

* A test may be used when at least two of its outcomes have rows, and each outcome that has rows
  has at least ``min_leaf`` of them.  Outcomes without rows make no leaf and cost nothing.
* It follows that a multiway test is used at most once on a path: below it every part has rows in
  one outcome only.
* The tree of a single leaf is always allowed, even on fewer than ``min_leaf`` rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Test = tuple[int, ...]
"""Row sets of the outcomes of one test, each a bit mask over the rows."""


class Optimum(NamedTuple):
    """What every optimal tree has in common, and the size of the smallest one."""

    value: int
    splits: int
    depth: int


def binary_tests(columns: Sequence[Sequence[int]]) -> list[Test]:
    """Turn a 0/1 matrix, given row by row, into one two-outcome test for each column."""
    n_columns = len(columns[0])
    everything = (1 << len(columns)) - 1
    tests: list[Test] = []
    for j in range(n_columns):
        ones = sum(1 << i for i, row in enumerate(columns) if row[j])
        tests.append((ones, everything ^ ones))
    return tests


def multiway_tests(categories: Sequence[Sequence[int]]) -> list[Test]:
    """Turn a matrix of category codes, given row by row, into one test for each column."""
    tests = []
    for j in range(len(categories[0])):
        codes = sorted({row[j] for row in categories})
        tests.append(
            tuple(
                sum(1 << i for i, row in enumerate(categories) if row[j] == code) for code in codes
            )
        )
    return tests


class BruteForce:
    r"""Exact optimum of :math:`U = s \cdot cost + p \cdot splits + q \cdot leaves`.

    Parameters
    ----------
    tests : sequence of tuple of int
        Row sets of the outcomes of each test.
    row_types : sequence of int
        Type of each row.
    cost_matrix : sequence of sequence of int
        ``cost_matrix[t][l]`` is the cost of label ``l`` for one unit of weight of type ``t``.
    weights : sequence of int, optional
        Weight of each row; 1 when left out.
    error_scale, split_penalty, leaf_penalty : int
        The factors s, p and q of the objective.
    min_leaf : int
        Least number of rows (not weight) in each leaf of a tree that has a split.
    """

    def __init__(
        self,
        tests: Sequence[Test],
        row_types: Sequence[int],
        cost_matrix: Sequence[Sequence[int]],
        weights: Sequence[int] | None = None,
        *,
        error_scale: int = 1,
        split_penalty: int = 0,
        leaf_penalty: int = 0,
        min_leaf: int = 1,
    ) -> None:
        self.n_rows = len(row_types)
        self.root = (1 << self.n_rows) - 1
        self.tests = list(dict.fromkeys(tests))
        self.row_types = [int(t) for t in row_types]
        self.cost_matrix = [[int(c) for c in row] for row in cost_matrix]
        self.weights = [1] * self.n_rows if weights is None else [int(w) for w in weights]
        self.error_scale = error_scale
        self.split_penalty = split_penalty
        self.leaf_penalty = leaf_penalty
        self.min_leaf = min_leaf
        self._leaf: dict[int, int] = {}
        self._best: dict[tuple[int, int], tuple[int, int]] = {}
        self._array: dict[tuple[int, int, int], list[float]] = {}

    def optimum(self, max_depth: int | None = None, max_splits: int | None = None) -> Optimum:
        """Least value, then the fewest splits that reach it, then the least depth."""
        best = self._value_and_splits(max_depth, max_splits)
        depth = 0
        while self._value_and_splits(depth, max_splits) != best:
            depth += 1
        return Optimum(best[0], best[1], depth)

    def value(self, max_depth: int | None = None, max_splits: int | None = None) -> int:
        """Least value of a tree within the limits."""
        return self._value_and_splits(max_depth, max_splits)[0]

    def costs_by_splits(self, n_splits: int, max_depth: int | None = None) -> list[int]:
        """Least ``s * cost + q * leaves`` of a tree with at most k splits, k = 0..n_splits."""
        exact = self._exactly(self.root, self._depth(self.root, max_depth), n_splits)
        exact = exact + [math.inf] * (n_splits + 1 - len(exact))
        return [int(min(exact[: k + 1])) for k in range(n_splits + 1)]

    def leaf_cost(self, rows: int) -> int:
        """Cost of the best label for a set of rows, penalty for the leaf included."""
        known = self._leaf.get(rows)
        if known is not None:
            return known
        totals = [0] * len(self.cost_matrix[0])
        rest = rows
        while rest:
            low = rest & -rest
            i = low.bit_length() - 1
            for label, cost in enumerate(self.cost_matrix[self.row_types[i]]):
                totals[label] += self.weights[i] * cost
            rest ^= low
        cost = self.error_scale * min(totals) + self.leaf_penalty
        self._leaf[rows] = cost
        return cost

    def parts(self, rows: int, test: Test) -> list[int] | None:
        """Row sets of the children, or None when the test may not be used here."""
        found = [rows & outcome for outcome in test if rows & outcome]
        if len(found) < 2 or any(part.bit_count() < self.min_leaf for part in found):
            return None
        return found

    def _value_and_splits(self, max_depth: int | None, max_splits: int | None) -> tuple[int, int]:
        depth = self._depth(self.root, max_depth)
        if max_splits is None:
            return self._solve(self.root, depth)
        exact = self._exactly(self.root, depth, max_splits)
        return min(
            (int(cost) + self.split_penalty * k, k)
            for k, cost in enumerate(exact)
            if cost < math.inf
        )

    @staticmethod
    def _depth(rows: int, max_depth: int | None) -> int:
        """Depth that can be used at all: every split needs another row."""
        limit = rows.bit_count() - 1
        return limit if max_depth is None else min(max_depth, limit)

    def _solve(self, rows: int, depth: int) -> tuple[int, int]:
        """Least (value, splits), compared in this order, within a depth."""
        known = self._best.get((rows, depth))
        if known is not None:
            return known
        best = (self.leaf_cost(rows), 0)
        if depth > 0:
            for test in self.tests:
                parts = self.parts(rows, test)
                if parts is None:
                    continue
                value, splits = self.split_penalty, 1
                for part in parts:
                    child = self._solve(part, min(depth - 1, part.bit_count() - 1))
                    value += child[0]
                    splits += child[1]
                best = min(best, (value, splits))
        self._best[rows, depth] = best
        return best

    def _exactly(self, rows: int, depth: int, n_splits: int) -> list[float]:
        """Least cost with exactly k splits for k = 0..n_splits; infinite where none exists."""
        if depth <= 0 or n_splits <= 0:
            return [self.leaf_cost(rows)]
        key = (rows, depth, n_splits)
        known = self._array.get(key)
        if known is not None:
            return known
        best: list[float] = [math.inf] * (n_splits + 1)
        best[0] = self.leaf_cost(rows)
        for test in self.tests:
            parts = self.parts(rows, test)
            if parts is None:
                continue
            total: list[float] = [0]
            for part in parts:
                child = self._exactly(part, self._depth(part, depth - 1), n_splits - 1)
                total = _convolve(total, child, n_splits - 1)
            for k, cost in enumerate(total):
                best[k + 1] = min(best[k + 1], cost)
        self._array[key] = best
        return best


def _convolve(first: list[float], second: list[float], limit: int) -> list[float]:
    """(min,+) convolution, cut off after ``limit``."""
    result: list[float] = [math.inf] * (min(len(first) + len(second) - 2, limit) + 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second[: max(0, limit + 1 - i)]):
            if a + b < result[i + j]:
                result[i + j] = a + b
    return result
