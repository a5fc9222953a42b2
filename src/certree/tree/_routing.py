"""Send the rows of a table down a tree.

Row numbers are partitioned from the root to the leaves, so a test is evaluated only on the rows
that reach it, and the work in Python is per node, never per row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from certree.encoding import Table

if TYPE_CHECKING:
    from ._tree import Tree


def route(tree: Tree, table: Table) -> NDArray[np.intp]:
    """Return the leaf of each row."""
    leaves = np.zeros(table.n_rows, dtype=np.intp)
    columns: dict[tuple[int, type], NDArray[Any]] = {}
    for test in tree.tests:
        # Of all rows, whichever test these reach: what fits the columns does not depend on values.
        place = test.feature, type(test)
        if place not in columns:
            columns[place] = test.column_of(table)
        test.check(columns[place])
    stack: list[tuple[int, NDArray[np.intp]]] = [(0, np.arange(table.n_rows, dtype=np.intp))]
    while stack:
        node, rows = stack.pop()
        position = tree.test[node]
        if position < 0:
            leaves[rows] = node
            continue
        test = tree.tests[position]
        column = columns[test.feature, type(test)]
        outcome = test.outcome(column if node == 0 else column[rows])
        for k, child in enumerate(tree.children(node)):
            part = rows[outcome == k]
            if part.size:
                stack.append((child, part))
    return leaves


def path(tree: Tree, node: int) -> list[int]:
    """Return the nodes from the root to `node`, both included."""
    nodes = [node]
    while (node := int(tree.parent[node])) >= 0:
        nodes.append(node)
    return nodes[::-1]


def path_matrix(tree: Tree, leaves: NDArray[np.intp]) -> csr_matrix:
    """Return the 0/1 matrix of the nodes above each of the given leaves, leaves included."""
    lengths = np.zeros(tree.n_nodes, dtype=np.intp)
    starts = np.zeros(tree.n_nodes, dtype=np.intp)
    flat: list[int] = []
    for leaf in np.flatnonzero(tree.test < 0).tolist():
        nodes = sorted(path(tree, leaf))
        starts[leaf], lengths[leaf] = len(flat), len(nodes)
        flat += nodes
    indptr = np.concatenate([[0], np.cumsum(lengths[leaves])])
    # Entry j of a row is entry j of its leaf's path: shift one running index by row.
    within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths[leaves])
    indices = np.asarray(flat, dtype=np.intp)[np.repeat(starts[leaves], lengths[leaves]) + within]
    ones = np.ones(indices.size, dtype=np.int64)
    return csr_matrix((ones, indices, indptr), shape=(leaves.size, tree.n_nodes))
