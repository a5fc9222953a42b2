"""Nodes: the one array form of a tree over encoded columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._row_cells import Cells

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Nodes:
    """A tree over the columns of a table of zeros and ones.

    Children have consecutive numbers, greater than that of their parent. The root is node 0.

    Attributes
    ----------
    test : int32 array
        The column of each node, or its position in `outcomes`; -1 in leaves.
    first_child : int32 array
        The first child of each node, where the test holds; -1 in leaves. The next node is the
        child where the test does not hold.
    label : int32 array
        The label of each leaf; -1 in other nodes.
    outcomes : sequence of int32 arrays, optional
        For trees with multiway tests: the columns of each test, one per outcome, of which exactly
        one holds in every row. A single column has the two outcomes of a binary test.
    """

    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]
    outcomes: Sequence[NDArray[np.int32]] | None = None

    @classmethod
    def of(
        cls, test: Sequence[int], first_child: Sequence[int], label: Sequence[int] = ()
    ) -> Nodes:
        """Return a tree from lists; leaves get the label 0 if none are given."""
        tests = np.array(test, dtype=np.int32)
        labels = label if len(label) else np.where(tests < 0, 0, -1)
        return cls(tests, np.array(first_child, np.int32), np.array(labels, np.int32))

    @classmethod
    def leaf(cls, label: int = 0) -> Nodes:
        """Return the tree without splits."""
        return cls.of([-1], [-1], [label])

    @classmethod
    def empty(cls) -> Nodes:
        """Return what stands for no tree."""
        return cls.of([], [])

    def __len__(self) -> int:
        """Return the number of nodes; 0 if there is no tree."""
        return len(self.test)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return np.asarray(self.test < 0)

    @cached_property
    def n_splits(self) -> int:
        """Number of nodes with a test."""
        return int(np.count_nonzero(self.test >= 0))

    @property
    def depth(self) -> int:
        """Most tests on a path from the root to a leaf."""
        level, depth = [0] * len(self), 0
        for node in np.flatnonzero(self.test >= 0).tolist():
            depth = max(depth, level[node] + 1)
            children = self.children(node)
            level[children] = [level[node] + 1] * (children.stop - children.start)
        return depth

    def children(self, node: int) -> slice:
        """Return where the children of an inner node are."""
        first = int(self.first_child[node])
        n_columns = 1 if self.outcomes is None else len(self.outcomes[self.test[node]])
        return slice(first, first + max(n_columns, 2))

    def route(self, columns: Cells) -> NDArray[np.intp]:
        """Return the leaf that each row reaches."""
        if self.outcomes is not None:
            return self._route_multiway(columns)
        node = np.zeros(columns.shape[0], dtype=np.intp)
        if self.test[0] < 0:
            return node
        rows = np.arange(columns.shape[0])
        while rows.size:
            at = node[rows]
            node[rows] = self.first_child[at] + (columns[rows, self.test[at]] == 0)
            rows = rows[self.test[node[rows]] >= 0]
        return node

    def _route_multiway(self, columns: Cells) -> NDArray[np.intp]:
        assert self.outcomes is not None
        leaves = np.zeros(columns.shape[0], dtype=np.intp)
        pending = [(0, np.arange(columns.shape[0]))]
        while pending:
            node, rows = pending.pop()
            if self.test[node] < 0:
                leaves[rows] = node
                continue
            asked = self.outcomes[self.test[node]]
            if len(asked) == 1:
                outcome = columns[rows, asked[0]] == 0
            else:
                outcome = columns[rows[:, None], asked].argmax(axis=1)
            for number in range(max(len(asked), 2)):
                part = rows[outcome == number]
                if part.size:
                    pending.append((int(self.first_child[node]) + number, part))
        return leaves

    def add_up(self, leaves: NDArray[np.intp], values: NDArray[Any]) -> NDArray[Any]:
        """Return the sums of the rows' values in every node, given the leaf of each row."""
        sums = np.zeros((len(self), *values.shape[1:]), dtype=values.dtype)
        np.add.at(sums, leaves, values)
        return self.sums(sums)

    def sums(self, leaf_sums: NDArray[_Number]) -> NDArray[_Number]:
        """Return what reaches every node, given what reaches every leaf (other nodes zero)."""
        sums: NDArray[_Number] = leaf_sums.copy()
        # A child is numbered after its parent, so one backward sweep adds up everything.
        for node in np.flatnonzero(self.test >= 0)[::-1].tolist():
            children = self.children(node)
            sums[node] = sums[children.start]
            for other in range(children.start + 1, children.stop):
                sums[node] += sums[other]
        return sums

    def rows(self, leaves: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """Return the places of the rows that reach every node, given the leaf of each row."""
        order = np.argsort(leaves, kind="stable")
        ends = np.cumsum(np.bincount(leaves, minlength=len(self)))
        rows: list[NDArray[np.intp]] = np.split(order, ends[:-1])
        for node in np.flatnonzero(self.test >= 0)[::-1].tolist():
            rows[node] = np.concatenate(rows[self.children(node)])
        return rows

    def with_labels(self, label: NDArray[Any]) -> Nodes:
        """Return the tree with other labels."""
        return replace(self, label=np.where(self.is_leaf, label, -1).astype(np.int32))

    def over(self, places: NDArray[np.intp]) -> Nodes:
        """Return the tree over other columns: column i becomes ``places[i]``."""
        moved = places if len(places) else np.zeros(1, dtype=np.intp)
        test = np.where(self.is_leaf, -1, moved[np.maximum(self.test, 0)])
        return replace(self, test=test.astype(np.int32))

    def cut(self, becomes_leaf: NDArray[np.bool_]) -> tuple[Nodes, NDArray[np.intp]]:
        """Return the tree that ends at the first marked nodes of each path, and its nodes' origin.

        Labels are those of the nodes where it ends.
        """
        origin, test, first_child = [0], [], []
        ends = (self.is_leaf | becomes_leaf).tolist()
        for node in origin:  # grows while it is read
            test.append(-1 if ends[node] else int(self.test[node]))
            first_child.append(-1 if ends[node] else len(origin))
            if not ends[node]:
                children = self.children(node)
                origin += range(children.start, children.stop)
        kept = np.array(origin, dtype=np.intp)
        labels = self.label[kept].tolist()
        return replace(Nodes.of(test, first_child, labels), outcomes=self.outcomes), kept

    def merged(self) -> Nodes:
        """Return the tree without splits between leaves of the same label."""
        only = self.label.copy()
        for node in np.flatnonzero(self.test >= 0)[::-1].tolist():
            below = only[self.children(node)]
            only[node] = below[0] if (below == below[0]).all() else -1
        return replace(self, label=only).cut(only >= 0)[0]


@dataclass(frozen=True, eq=False)
class Forest(Sequence[Nodes]):
    """Many trees in one set of arrays, each of them read when it is asked for.

    Attributes
    ----------
    offsets : int64 array of shape (n_trees + 1,)
        Tree i has the nodes ``offsets[i]:offsets[i + 1]`` of the other arrays.
    test, first_child, label : int32 arrays
        The nodes of all trees; `first_child` counts from the first node of its own tree.
    """

    offsets: NDArray[np.int64]
    test: NDArray[np.int32]
    first_child: NDArray[np.int32]
    label: NDArray[np.int32]

    def __len__(self) -> int:
        """Return the number of trees."""
        return len(self.offsets) - 1

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        nodes = slice(int(self.offsets[place]), int(self.offsets[place + 1]))
        return Nodes(self.test[nodes], self.first_child[nodes], self.label[nodes])
