"""Every tree, one after the other: the oracle's oracle.

Slower than :mod:`tests.oracle.brute_force` by orders of magnitude and different in every step:
trees are built as explicit objects with explicit labels, and each row walks through each tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product


@dataclass(frozen=True)
class Node:
    """A leaf with a label, or a test with one child for each outcome."""

    label: int = -1
    test: int = -1
    children: tuple[Node, ...] = ()

    @property
    def splits(self) -> int:
        """Number of tests in the tree."""
        return sum(child.splits for child in self.children) + (self.test >= 0)

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        return 1 + max(child.depth for child in self.children) if self.children else 0

    def leaves(self) -> Iterator[Node]:
        """All leaves, left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@cache
def all_trees(depth: int, outcomes: tuple[int, ...], n_labels: int) -> tuple[Node, ...]:
    """Every tree up to a depth; ``outcomes[j]`` is the number of outcomes of test ``j``."""
    trees = [Node(label=label) for label in range(n_labels)]
    if depth > 0:
        below = all_trees(depth - 1, outcomes, n_labels)
        for test, n_outcomes in enumerate(outcomes):
            trees.extend(
                Node(test=test, children=children) for children in product(below, repeat=n_outcomes)
            )
    return tuple(trees)


@dataclass(frozen=True)
class Walk:
    """Where the rows of a problem go in one tree, and what that costs."""

    cost: int
    rows_of_leaf: tuple[int, ...]


def walk(
    tree: Node,
    outcome_of: Sequence[Sequence[int]],
    row_types: Sequence[int],
    cost_matrix: Sequence[Sequence[int]],
    weights: Sequence[int],
) -> Walk:
    """Send each row through the tree; ``outcome_of[i][j]`` is its outcome in test ``j``."""
    path_of_leaf: dict[tuple[int, ...], int] = {}
    cost = 0
    for i, outcomes in enumerate(outcome_of):
        node, path = tree, []
        while node.children:
            path.append(outcomes[node.test])
            node = node.children[outcomes[node.test]]
        cost += weights[i] * cost_matrix[row_types[i]][node.label]
        path_of_leaf[tuple(path)] = path_of_leaf.get(tuple(path), 0) + 1
    return Walk(cost, tuple(path_of_leaf.values()))


def best_by_enumeration(
    outcome_of: Sequence[Sequence[int]],
    row_types: Sequence[int],
    cost_matrix: Sequence[Sequence[int]],
    weights: Sequence[int],
    *,
    max_depth: int,
    max_splits: int | None = None,
    min_leaf: int = 1,
    error_scale: int = 1,
    split_penalty: int = 0,
    leaf_penalty: int = 0,
) -> tuple[int, int, int]:
    """Least (value, splits, depth) over all trees in which every leaf has enough rows.

    A tree with an empty leaf is skipped where tests have two outcomes: its parent test does
    nothing.  With more outcomes an empty leaf is as good as absent, so only the leaves that have
    rows are counted, and a test must have rows in at least two outcomes: a tree that breaks this
    is equalled by one with fewer splits, so it never wins.
    """
    n_outcomes = tuple(
        max(2, 1 + max(outcomes[j] for outcomes in outcome_of)) for j in range(len(outcome_of[0]))
    )
    best: tuple[int, int, int] | None = None
    for tree in all_trees(max_depth, n_outcomes, len(cost_matrix[0])):
        if max_splits is not None and tree.splits > max_splits:
            continue
        found = walk(tree, outcome_of, row_types, cost_matrix, weights)
        binary = set(n_outcomes) <= {2}
        if binary and len(found.rows_of_leaf) < sum(1 for _ in tree.leaves()):
            continue
        if tree.children and min(found.rows_of_leaf) < min_leaf:
            continue
        value = (
            error_scale * found.cost
            + split_penalty * tree.splits
            + leaf_penalty * len(found.rows_of_leaf)
        )
        candidate = (value, tree.splits, tree.depth)
        if best is None or candidate < best:
            best = candidate
    assert best is not None
    return best
