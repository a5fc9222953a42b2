"""Is the returned array a tree, does it keep the limits, and what is it worth?

Rows are routed one by one through the arrays of a result.  The value is computed from the labels
that the tree carries, not from the best labels, so a wrong label shows as a wrong value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.problems import Problem


@dataclass(frozen=True)
class TreeFacts:
    """Size and exact value of a tree on the rows of a problem."""

    value: int
    cost: int
    splits: int
    depth: int
    leaf_sizes: tuple[int, ...]


def tree_value(result: Any, problem: Problem) -> TreeFacts:
    """Check the structure of ``result``'s tree and recompute its value.

    Raises
    ------
    AssertionError
        When the arrays are not a tree, or the tree breaks a limit of the problem.
    """
    test = [int(v) for v in result.test]
    first_child = [int(v) for v in result.first_child]
    label = [int(v) for v in result.label]
    depth_of = _depths(test, first_child, label, problem)
    sizes, cost = _route(test, first_child, label, problem)

    leaves = [node for node, column in enumerate(test) if column < 0]
    splits = len(test) - len(leaves)
    depth = max(depth_of)
    if splits:
        smallest = min(sizes[leaf] for leaf in leaves)
        assert smallest >= problem.min_leaf, f"leaf of {smallest} rows < {problem.min_leaf}"
    if problem.max_depth >= 0:
        assert depth <= problem.max_depth, f"depth {depth} > {problem.max_depth}"
    if problem.max_splits >= 0:
        assert splits <= problem.max_splits, f"{splits} splits > {problem.max_splits}"
    value = problem.error_scale * cost + problem.split_penalty * splits
    return TreeFacts(value, cost, splits, depth, tuple(sizes[leaf] for leaf in leaves))


def check_result(
    result: Any, problem: Problem, optimum: int | None = None, about: Any = ""
) -> TreeFacts:
    """Check what every result promises; ``optimum``, where known, must lie between the bounds."""
    where = f"{problem!r} {about}"
    facts = tree_value(result, problem)
    assert facts.value == result.upper_bound, f"tree {facts} is not worth its bound; {where}"
    assert result.lower_bound <= result.upper_bound, where
    if result.status == "optimal":
        assert result.lower_bound == result.upper_bound, where
    if optimum is not None:
        bounds = (result.lower_bound, result.upper_bound)
        assert bounds[0] <= optimum <= bounds[1], f"{optimum} not in {bounds}; {where}"
    return facts


def _depths(
    test: list[int], first_child: list[int], label: list[int], problem: Problem
) -> list[int]:
    """Depth of each node, after checking that every node is reached exactly once."""
    n_nodes, n_columns = len(test), problem.columns.shape[1]
    n_labels = problem.cost_matrix.shape[1]
    assert n_nodes == len(first_child) == len(label) >= 1
    depth_of = [-1] * n_nodes
    pending = [(0, 0)]
    while pending:
        node, depth = pending.pop()
        assert depth_of[node] < 0, f"node {node} is reached twice"
        depth_of[node] = depth
        if test[node] < 0:
            assert (test[node], first_child[node]) == (-1, -1), f"leaf {node} has a child"
            assert 0 <= label[node] < n_labels, f"leaf {node} has label {label[node]}"
            continue
        assert test[node] < n_columns, f"node {node} tests column {test[node]}"
        assert label[node] == -1, f"inner node {node} has label {label[node]}"
        child = first_child[node]
        assert 0 < child < n_nodes - 1, f"node {node} has first child {child}"
        pending += [(child, depth + 1), (child + 1, depth + 1)]
    assert min(depth_of) >= 0, "some node is not reached from the root"
    return depth_of


def _route(
    test: list[int], first_child: list[int], label: list[int], problem: Problem
) -> tuple[list[int], int]:
    """Rows that end in each node, and the total cost of their labels."""
    sizes = [0] * len(test)
    cost = 0
    weights = problem.weight_list()
    for i, row in enumerate(problem.columns.tolist()):
        node = 0
        while test[node] >= 0:
            node = first_child[node] + (0 if row[test[node]] else 1)
        sizes[node] += 1
        cost += weights[i] * int(problem.cost_matrix[problem.row_types[i], label[node]])
    return sizes, cost
