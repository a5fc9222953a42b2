"""Re-prove an optimum by trying all trees: slow, short, and nothing in common with the search.

Rows are bits of Python integers. The best cost for a set of rows, a depth and a number of splits is
the cost of a leaf, or that of the best test with the best trees for its two sides; answers are
remembered. Nothing is pruned, except that a split is not tried where its penalty alone is as much
as the leaf costs. Tests with more outcomes have a brute force of their own, without split limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, lcm

WORK_LIMIT = 3_000_000
"""Most pairs of row set and test for which a brute force is tried: some seconds."""


@dataclass(frozen=True)
class Question:
    """The problem to be solved again.

    Attributes
    ----------
    tests : list of tuple of int
        For each test the rows of each of its outcomes, as bits; outcomes without rows left out.
    classes : list of int
        Class of each row.
    weights : list of Fraction
        Weight of each row, class weight included.
    n_classes : int
        Number of classes.
    penalty : Fraction
        Cost of a split, or of a leaf.
    max_depth, max_splits : int or None
        Limits.
    min_leaf : int
        Fewest rows in a leaf.
    is_per_leaf : bool
        Whether the penalty is paid by leaves.
    """

    tests: Sequence[tuple[int, ...]]
    classes: Sequence[int]
    weights: Sequence[Fraction]
    n_classes: int
    penalty: Fraction
    max_depth: int | None
    max_splits: int | None
    min_leaf: int
    is_per_leaf: bool = False


def best_cost(question: Question) -> Fraction:
    """Return the cost of the best tree (penalties included), by brute force over binary tests.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    # A binary tree has one leaf more than splits.
    first_leaf = question.penalty if question.is_per_leaf else 0
    return _BruteForce(question).solve() + first_leaf


def best_multiway_cost(question: Question) -> Fraction:
    """Return the cost of the best tree over tests with any number of outcomes; no split limit.

    Raises
    ------
    ValueError
        If there are too many trees to try.
    """
    return _MultiwayBruteForce(question).solve()


class _BruteForce:
    def __init__(self, question: Question) -> None:
        self.all_rows = (1 << len(question.classes)) - 1
        self.min_leaf = question.min_leaf
        self.tests = self._different_tests(question.tests)
        self.scale = lcm(
            question.penalty.denominator, *(weight.denominator for weight in question.weights)
        )
        self.penalty = int(question.penalty * self.scale)
        self.planes = self._weight_planes(question)
        self.depth, self.splits = self._limits(question)
        self.known: dict[tuple[int, int, int], int] = {}
        self._refuse_if_too_large()

    def _different_tests(self, tests: Sequence[tuple[int, ...]]) -> list[int]:
        """Keep one of each pair of tests that split the rows in the same way."""
        kept: dict[int, None] = {}
        for parts in tests:
            if len(parts) == 2 and parts[1] not in kept:
                kept[parts[0]] = None
        return list(kept)

    def _weight_planes(self, question: Question) -> list[list[tuple[int, int]]]:
        """Return for each class pairs (2**k, rows whose integer weight has bit k)."""
        planes: list[dict[int, int]] = [{} for _ in range(question.n_classes)]
        for row, (klass, weight) in enumerate(zip(question.classes, question.weights, strict=True)):
            for power in _powers_of_two(int(weight * self.scale)):
                planes[klass][power] = planes[klass].get(power, 0) | 1 << row
        return [list(plane.items()) for plane in planes]

    def _limits(self, question: Question) -> tuple[int, int]:
        """Return depth and number of splits beyond which no further tree exists."""
        # Tests on a path are different, and every split takes at least one row from the others.
        depth = min(len(self.tests), max(len(question.classes) - 1, 0))
        if question.max_depth is not None:
            depth = min(depth, question.max_depth)
        if question.max_splits is None:
            return depth, 2**depth - 1
        return min(depth, question.max_splits), min(question.max_splits, 2**depth - 1)

    def _refuse_if_too_large(self) -> None:
        n_tests, budget = len(self.tests), 1
        if self.splits < 2**self.depth - 1:
            # Budgets are then part of the question, and are shared out in every possible way.
            budget = self.splits**2
        n_sets = sum(2**k * comb(n_tests, k) for k in range(self.depth))
        work = n_sets * n_tests * budget
        if work > WORK_LIMIT:
            raise ValueError(
                f"the problem is too large for a proof by brute force: up to {work:.3g} pairs of "
                f"row set and test ({n_tests} different tests, depth up to {self.depth}), and the "
                f"limit is {WORK_LIMIT:.3g}; use exhaustive=False, fewer tests or a smaller depth."
            )

    def solve(self) -> Fraction:
        return Fraction(self._best(self.all_rows, self.depth, self.splits), self.scale)

    def _leaf(self, rows: int) -> int:
        by_class = [
            sum(power * (rows & plane).bit_count() for power, plane in planes)
            for planes in self.planes
        ]
        return sum(by_class) - max(by_class)

    def _best(self, rows: int, depth: int, splits: int) -> int:
        depth = min(depth, splits)
        splits = min(splits, 2**depth - 1)
        key = (rows, depth, splits)
        if key not in self.known:
            best = self._leaf(rows)
            if splits and best > self.penalty:
                best = min(best, self.penalty + self._best_split(rows, depth - 1, splits - 1))
            self.known[key] = best
        return self.known[key]

    def _best_split(self, rows: int, depth: int, splits: int) -> int:
        best = self._leaf(rows)
        most = 2**depth - 1
        for test in self.tests:
            left = rows & test
            right = rows ^ left
            if left.bit_count() < self.min_leaf or right.bit_count() < self.min_leaf:
                continue
            for left_splits in range(max(0, splits - most), min(splits, most) + 1):
                cost = self._best(left, depth, left_splits)
                cost += self._best(right, depth, splits - left_splits)
                best = min(best, cost)
        return best


class _MultiwayBruteForce:
    """The definition of the problem, with answers remembered and work counted."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.all_rows = (1 << len(question.classes)) - 1
        partitions = {frozenset(parts): parts for parts in question.tests if len(parts) > 1}
        self.tests = list(partitions.values())
        self.known: dict[tuple[int, int], Fraction] = {}
        self.work = 0

    def solve(self) -> Fraction:
        limit = self.question.max_depth
        depth = len(self.tests) if limit is None else min(limit, len(self.tests))
        return self._best(self.all_rows, depth)

    def _leaf(self, rows: int) -> Fraction:
        by_class = [Fraction(0)] * self.question.n_classes
        for row, klass in enumerate(self.question.classes):
            if rows >> row & 1:
                by_class[klass] += self.question.weights[row]
        penalty = self.question.penalty if self.question.is_per_leaf else Fraction(0)
        return sum(by_class, Fraction(0)) - max(by_class) + penalty

    def _best(self, rows: int, depth: int) -> Fraction:
        depth = min(depth, rows.bit_count() - 1)
        if (rows, depth) not in self.known:
            best = self._leaf(rows)
            for test in self.tests if depth > 0 else ():
                self._count_work()
                parts = [rows & part for part in test if rows & part]
                if len(parts) < 2 or any(p.bit_count() < self.question.min_leaf for p in parts):
                    continue
                cost = Fraction(0) if self.question.is_per_leaf else self.question.penalty
                best = min(best, cost + sum(self._best(part, depth - 1) for part in parts))
            self.known[rows, depth] = best
        return self.known[rows, depth]

    def _count_work(self) -> None:
        self.work += 1
        if self.work > WORK_LIMIT:
            raise ValueError(
                "the problem is too large for a proof by brute force: more than "
                f"{WORK_LIMIT:.3g} pairs of row set and test ({len(self.tests)} different tests); "
                "use exhaustive=False, fewer tests or a smaller depth."
            )


def _powers_of_two(number: int) -> Iterator[int]:
    while number:
        power = number & -number
        yield power
        number ^= power
