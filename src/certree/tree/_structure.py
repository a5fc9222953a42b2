"""What makes flat arrays a tree: checks, the depth-first walk, read-only copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from certree.encoding import Test

if TYPE_CHECKING:
    from ._tree import Tree


def check_shapes(tree: Tree) -> None:
    """Raise ValueError unless the arrays agree in length and refer to what exists."""
    n_nodes = tree.test.shape[0] if tree.test.ndim == 1 else 0
    if n_nodes == 0:
        raise ValueError("A tree has at least one node; got an empty or nested list of nodes.")
    if tree.first_child.shape != (n_nodes,):
        raise ValueError(
            f"test and first_child need one entry per node, got {n_nodes} and "
            f"{tree.first_child.shape}."
        )
    if tree.notes is not None and len(tree.notes) != n_nodes:
        raise ValueError(f"notes needs one text per node, {n_nodes}, got {len(tree.notes)}.")
    if tree.test.max() >= len(tree.tests) or tree.test.min() < -1:
        raise ValueError(f"test must lie in -1..{len(tree.tests) - 1}, got {tree.test}.")
    leaf = tree.test < 0
    if (tree.first_child[leaf] != -1).any():
        raise ValueError("A leaf has first_child -1.")
    tree.payload.check(leaf)
    if max((-1, *tree.payload.needs)) >= tree.n_features:
        raise ValueError(
            f"Leaves need the columns {tree.payload.needs}, but the tree has {tree.n_features}."
        )
    outside = max((-1, *tree.columns)) >= tree.n_columns or min((0, *tree.columns)) < 0
    if len(tree.columns) != len(tree.tests) or outside:
        raise ValueError(
            f"columns needs one position below {tree.n_columns} for each of the "
            f"{len(tree.tests)} tests, got {tree.columns}."
        )


def walk(tree: Tree) -> tuple[list[int], list[int], list[int]]:
    """Visit the tree depth-first; return parents, depths and the order of the visit."""
    tests, first_children = tree.test.tolist(), tree.first_child.tolist()
    n_nodes = len(tests)
    n_outcomes = [test.n_outcomes for test in tree.tests]
    parent, depths, preorder = [-1] * n_nodes, [-1] * n_nodes, []
    depths[0] = 0
    stack = [0]
    while stack:
        node = stack.pop()
        preorder.append(node)
        if tests[node] < 0:
            continue
        first = first_children[node]
        last = first + n_outcomes[tests[node]] - 1
        if not 0 < first <= last < n_nodes:
            raise ValueError(f"Node {node} has children {first}..{last} of {n_nodes} nodes.")
        for child in range(last, first - 1, -1):
            if depths[child] >= 0:
                raise ValueError(f"Node {child} is reached twice; a tree has one path to each.")
            parent[child], depths[child] = node, depths[node] + 1
            stack.append(child)
    if len(preorder) != n_nodes:
        raise ValueError(
            f"Only {len(preorder)} of {n_nodes} nodes can be reached from node 0; drop the others."
        )
    return parent, depths, preorder


def add_up(tree: Tree, amounts: NDArray[Any]) -> NDArray[Any]:
    """Return what reaches every node, given what reaches every leaf (other nodes zero)."""
    sums: NDArray[Any] = amounts.copy()
    for node in reversed(tree.preorder.tolist()):
        for child in tree.children(node):
            sums[node] += sums[child]
    return sums


def frozen(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    """Return a read-only copy."""
    try:
        result = np.array(values, dtype=dtype, copy=True)
    except OverflowError as error:
        raise ValueError(f"The numbers of a tree must fit into {np.dtype(dtype)}.") from error
    result.flags.writeable = False
    return result


def frozen_counts(values: ArrayLike, what: str = "counts") -> NDArray[Any]:
    """Return read-only counts, int64 if they were integers and float64 otherwise."""
    array = np.asarray(values)
    result = frozen(array, np.int64 if array.dtype.kind in "bui" else np.float64)
    if not (np.isfinite(result).all() and (result >= 0).all()):
        raise ValueError(f"{what} must be finite and not negative, got {result.min()}.")
    return result


def are_whole(counts: NDArray[Any]) -> bool:
    """Return whether counts can be numbers of rows."""
    if counts.dtype.kind == "i":
        return True
    return bool(((counts == np.floor(counts)) & (counts < 2.0**53)).all())


def default_names(n_features: int) -> tuple[str, ...]:
    """Return what unnamed columns are called."""
    return tuple(f"x{i}" for i in range(n_features))


def column_names(
    names: Sequence[str] | None, n_features: int | None, tests: tuple[Test, ...]
) -> tuple[tuple[str, ...] | None, int]:
    """Return the names of the raw columns, None if they are the default ones, and their number."""
    features = [test.feature for test in tests]
    if min(features, default=0) < 0:
        raise ValueError(f"Columns are numbered from 0, but a question asks about {min(features)}.")
    needed = max(features, default=-1) + 1
    if n_features is None:
        n_features = needed if names is None else len(names)
    if n_features < needed:
        raise ValueError(f"The questions need {needed} columns, but n_features is {n_features}.")
    # Default names are made when asked for: a tree over many columns may ask about few.
    if names is None:
        return None, n_features
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names for {n_features} columns.")
    given = tuple(str(name) for name in names)
    return None if given == default_names(n_features) else given, n_features
