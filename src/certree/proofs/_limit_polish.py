"""Better subtrees of a tree within limits, found by exact searches of their rows.

The rows below a node are a limited problem of their own: what the rest of the tree leaves of each
limit is its bound. So a subtree that is best for it makes the tree better and keeps the limits; and
where a tree exceeds a limit by a little, a subtree may make up for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.encoding._row_cells import Cells, take_rows
from certree.engine import Nodes
from certree.engine._budget import current
from certree.engine._within_limits import LimitedProblem

from ._limit_rows import EvaluatedTree, LimitedRows

Solve = Callable[[LimitedProblem, engine.Options, Nodes], Nodes | None]
"""Finds a tree of some of the rows that is better than a given one; None if no time is left."""


class Polish:
    """Searches subtrees of one tree after the other.

    Parameters
    ----------
    rows : LimitedRows
        Of the problem. Its limits must not have finer digits.
    options : Options
        Limits of the trees.
    solve : callable
        Asked for subtrees.
    """

    def __init__(self, rows: LimitedRows, options: engine.Options, solve: Solve) -> None:
        self.rows = rows
        self.options = options
        self.solve = solve

    def run(self, tree: EvaluatedTree, window: int) -> EvaluatedTree:
        """Return a tree that no subtree of this depth makes better, or as far as time allows.

        Subtrees begin so far above the deepest level; leaves above that may grow.
        """
        before = None
        while tree is not before:
            before = tree
            for path in self._places(tree.nodes, window):
                call = current()
                if call is not None and call.status() is not None:
                    return tree
                new = self._try(tree, path, window)
                if new is None:
                    return tree
                tree = new
        return tree

    def _places(self, nodes: Nodes, window: int) -> list[str]:
        """Return the paths to the roots of subtrees, those with most rows first."""
        assert self.options.max_depth is not None
        level = max(self.options.max_depth - window, 0)
        found = []
        for path, (node, members) in _walk(nodes, self.rows.columns).items():
            if len(members) > 1 and (
                len(path) == level or (len(path) < level and nodes.test[node] < 0)
            ):
                found.append((-len(members), path))
        return [path for _, path in sorted(found)]

    def _try(self, tree: EvaluatedTree, path: str, window: int) -> EvaluatedTree | None:
        """Return the tree with the best subtree at a place; None if no time is left."""
        assert self.options.max_depth is not None
        nodes = tree.nodes
        reached = _walk(nodes, self.rows.columns).get(path)
        if reached is None:
            return tree
        node, members = reached
        old = _subtree(nodes, node)
        other_splits = nodes.n_splits - old.n_splits
        part, bounds = self._part(tree, old, members)
        limit = self.options.max_splits
        options = replace(
            self.options,
            max_depth=min(window, self.options.max_depth - len(path)),
            max_splits=None if limit is None else limit - other_splits,
        )
        found = self.solve(replace(part, bounds=bounds), options, old)
        if found is None:
            return None
        new = self.rows.evaluate(_graft(nodes, node, found))
        was_inside = self.rows.is_inside(tree, self.rows.problem.bounds)
        if not (new.is_allowed and self.rows.is_inside(new, self.rows.problem.bounds)):
            return tree
        return new if not was_inside or new.values[0] < tree.values[0] else tree

    def _part(
        self, tree: EvaluatedTree, old: Nodes, members: NDArray[np.intp]
    ) -> tuple[LimitedProblem, tuple[int, ...]]:
        """Return the problem of some rows, and what the rest of the tree leaves of its bounds."""
        whole = self.rows.problem

        def some(values: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
            return None if values is None else values[members]

        part = replace(
            whole,
            columns=take_rows(whole.columns, members),
            values=whole.values[members],
            row_counts=some(whole.row_counts),
            label_counts=some(whole.label_counts),
        )
        labels = old.label[old.route(part.columns)]
        sums = part.values[np.arange(len(members)), labels].sum(axis=0)
        own = whole.planes @ np.append(sums, old.n_splits)
        left = [
            bound - total + mine
            for bound, total, mine in zip(
                whole.bounds, tree.values[1:], own[1:].tolist(), strict=True
            )
        ]
        return part, tuple(left)


def _walk(nodes: Nodes, columns: Cells) -> dict[str, tuple[int, NDArray[np.intp]]]:
    """Return the node and the rows of each path, which is a 1 or 0 for each test on it."""
    found: dict[str, tuple[int, NDArray[np.intp]]] = {}
    pending = [("", 0, np.arange(len(columns)))]
    for path, node, members in pending:  # grows while it is read
        found[path] = node, members
        if nodes.test[node] >= 0:
            holds = columns[members, nodes.test[node]] != 0
            child = int(nodes.first_child[node])
            pending.append((path + "1", child, members[holds]))
            pending.append((path + "0", child + 1, members[~holds]))
    return found


def _subtree(nodes: Nodes, root: int) -> Nodes:
    return _copied([(nodes, root)], lambda one, node: (one, node))


def _graft(nodes: Nodes, place: int, other: Nodes) -> Nodes:
    """Return a tree with another one in place of a node."""

    def turn(one: Nodes, node: int) -> tuple[Nodes, int]:
        return (other, 0) if one is nodes and node == place else (one, node)

    return _copied([(nodes, 0)], turn)


def _copied(
    origin: list[tuple[Nodes, int]], turn: Callable[[Nodes, int], tuple[Nodes, int]]
) -> Nodes:
    """Return the nodes below the first one, each of them as `turn` says."""
    test, first_child, label = [], [], []
    for one in origin:  # grows while it is read
        nodes, node = turn(*one)
        is_leaf = nodes.test[node] < 0
        test.append(int(nodes.test[node]))
        label.append(int(nodes.label[node]))
        first_child.append(-1 if is_leaf else len(origin))
        if not is_leaf:
            child = int(nodes.first_child[node])
            origin += [(nodes, child), (nodes, child + 1)]
    return Nodes.of(test, first_child, label)
