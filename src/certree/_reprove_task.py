"""Re-prove the optimum of a task by trying all trees: slow, short, independent of the search.

The best cost for a set of rows, a depth, a number of splits and what has been paid for is that of
a leaf, or that of the best test with the best trees for its two sides. Nothing is pruned; answers
are remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from ._reprove import WORK_LIMIT


@dataclass(frozen=True)
class Charges:
    """Prices of tests: the measurement of each column, and group and prices of each."""

    measurement: Sequence[int]
    group: Sequence[int]
    price: Sequence[Fraction]
    discounted: Sequence[Fraction]

    def price_of(self, column: int, made: frozenset[int]) -> Fraction:
        """Return what a row pays for a test of a column after these measurements."""
        number = self.measurement[column]
        if number in made:
            return Fraction(0)
        group = self.group[number]
        known = group >= 0 and any(self.group[other] == group for other in made)
        return self.discounted[number] if known else self.price[number]


@dataclass(frozen=True)
class TaskQuestion:
    """The problem to be solved again.

    Attributes
    ----------
    tests : list of (int, int)
        For each test the rows where it holds, as bits, and its raw column.
    n_rows : int
        Number of rows.
    leaf : callable
        Least cost of a leaf with these rows.
    weights : list of Fraction
        Weight of each row.
    penalty : Fraction
        Cost of a split.
    max_depth, max_splits : int or None
        Limits.
    min_leaf : int
        Fewest rows in a leaf.
    charges : Charges or None
        Prices of tests.
    by_weight : bool
        Whether `min_leaf`, if more than one, is a weight and not a number of rows.
    """

    tests: Sequence[tuple[int, int]]
    n_rows: int
    leaf: Callable[[Sequence[int]], Fraction]
    weights: Sequence[Fraction]
    penalty: Fraction
    max_depth: int | None
    max_splits: int | None
    min_leaf: int
    charges: Charges | None
    by_weight: bool = False


def best_task_cost(question: TaskQuestion) -> Fraction:
    """Return the cost of the best tree, by brute force.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    return _BruteForce(question).solve()


class _BruteForce:
    def __init__(self, question: TaskQuestion) -> None:
        self.question = question
        self.tests = list(dict.fromkeys(question.tests))
        depth = min(len(self.tests), max(question.n_rows - 1, 0))
        limits = [depth]
        if question.max_depth is not None:
            limits.append(question.max_depth)
        if question.max_splits is not None:
            limits.append(question.max_splits)
        self.depth = min(limits)
        most = 2**self.depth - 1
        self.splits = most if question.max_splits is None else min(question.max_splits, most)
        self.leaves: dict[int, Fraction] = {}
        self.known: dict[tuple[int, int, int, frozenset[int]], Fraction] = {}
        self._refuse_if_too_large()

    def _refuse_if_too_large(self) -> None:
        n_tests = len(self.tests)
        budget = 1 if self.splits == 2**self.depth - 1 else self.splits**2
        n_sets = sum(2**k * comb(n_tests, k) for k in range(self.depth))
        work = n_sets * n_tests * budget * (1 if self.question.charges is None else self.depth)
        # A leaf is a sum of fractions here, where it is a few bit counts for errors.
        if work * max(self.question.n_rows, 1) > 100 * WORK_LIMIT:
            raise ValueError(
                f"the problem is too large for a proof by brute force: up to {work:.3g} pairs of "
                f"row set and test on {self.question.n_rows} rows; use exhaustive=False, fewer "
                "tests or a smaller depth."
            )

    def solve(self) -> Fraction:
        rows = (1 << self.question.n_rows) - 1
        return self._best(rows, self.depth, self.splits, frozenset())

    def _members(self, rows: int) -> list[int]:
        return [i for i in range(self.question.n_rows) if rows >> i & 1]

    def _is_large_enough(self, rows: int) -> bool:
        least = max(self.question.min_leaf, 1)
        if not self.question.by_weight or least == 1:
            return rows.bit_count() >= least
        return sum(self.question.weights[i] for i in self._members(rows)) >= least

    def _leaf(self, rows: int) -> Fraction:
        if rows not in self.leaves:
            self.leaves[rows] = self.question.leaf(self._members(rows))
        return self.leaves[rows]

    def _best(self, rows: int, depth: int, splits: int, made: frozenset[int]) -> Fraction:
        depth = min(depth, splits)
        splits = min(splits, 2**depth - 1)
        key = (rows, depth, splits, made)
        if key not in self.known:
            best = self._leaf(rows)
            if splits:
                best = min(best, self._best_split(rows, depth - 1, splits - 1, made))
            self.known[key] = best
        return self.known[key]

    def _best_split(self, rows: int, depth: int, splits: int, made: frozenset[int]) -> Fraction:
        best = self._leaf(rows)
        most = 2**depth - 1
        charges = self.question.charges
        weight = sum((self.question.weights[i] for i in self._members(rows)), Fraction(0))
        for holds, column in self.tests:
            left, right = rows & holds, rows & ~holds
            if not (self._is_large_enough(left) and self._is_large_enough(right)):
                continue
            cost, then = self.question.penalty, made
            if charges is not None:
                cost += charges.price_of(column, made) * weight
                then = made | {charges.measurement[column]}
            for given in range(max(0, splits - most), min(splits, most) + 1):
                below = self._best(left, depth, given, then)
                below += self._best(right, depth, splits - given, then)
                best = min(best, cost + below)
        return best
