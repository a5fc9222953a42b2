"""Shortest paths in graphs without cycles, for many cost vectors at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._oracle import Constraints, Matrix, Oracle


class DAGShortestPath(Oracle):
    """Shortest path in a directed graph without cycles.

    A cost vector has one entry per edge, of any sign; a decision is 1 on the edges of a path. The
    dynamic programme passes the nodes in topological order, all cost vectors at once.

    Parameters
    ----------
    edges : sequence of (tail, head)
        The edges, in the order of the cost vectors; nodes are any hashable things.
    source, target : node
        Where paths begin and end.
    sense : {"min", "max"}, default="min"
        Shortest or longest paths.

    Notes
    -----
    Of several best paths, the one whose last edge is first in the list is taken, and so on
    backwards.

    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> graph = oracles.DAGShortestPath([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    >>> graph.decide([[1.0, 1.0, 3.0], [1.0, 1.0, 1.5]])
    array([[1., 1., 0.],
           [0., 0., 1.]])
    """

    is_integral = True
    is_fast = True

    def __init__(
        self, edges: Sequence[tuple[Any, Any]], source: Any, target: Any, sense: str = "min"
    ) -> None:
        pairs = [(tail, head) for tail, head in edges]
        super().__init__(len(pairs), sense)
        self.edges = pairs
        self.source, self.target = source, target
        order = _topological_order(pairs)
        for role, node in (("source", source), ("target", target)):
            if node not in order:
                raise ValueError(f"the {role} {node!r} has no edge.")
        self._tail = np.array([order[tail] for tail, _ in pairs], dtype=np.intp)
        self._head = np.array([order[head] for _, head in pairs], dtype=np.intp)
        self._source, self._target, self._n_nodes = order[source], order[target], len(order)
        self._into = [np.flatnonzero(self._head == v) for v in range(self._n_nodes)]
        if self._source == self._target or self.n_decisions == 0:
            raise ValueError(f"there is no path from {source!r} to {target!r}.")

    @property
    def n_decisions(self) -> int:
        """Number of paths."""
        counts = [0] * self._n_nodes
        counts[self._source] = 1
        for node, into in enumerate(self._into):
            counts[node] += sum(counts[self._tail[edge]] for edge in into)
        return counts[self._target]

    def _list(self) -> Matrix:
        paths: list[list[list[int]]] = [[] for _ in range(self._n_nodes)]
        paths[self._source] = [[]]
        useful = self._reaches_target()
        for node, into in enumerate(self._into):
            if useful[node]:
                for edge in into.tolist():
                    paths[node] += [[*path, edge] for path in paths[self._tail[edge]]]
        table = np.zeros((len(paths[self._target]), self.n_costs))
        for line, path in enumerate(paths[self._target]):
            table[line, path] = 1.0
        return table

    def _reaches_target(self) -> NDArray[np.bool_]:
        reaches = np.zeros(self._n_nodes, dtype=np.bool_)
        reaches[self._target] = True
        for node in range(self._n_nodes - 1, -1, -1):
            if reaches[node]:
                reaches[self._tail[self._into[node]]] = True
        return reaches

    def _decide(self, costs: Matrix) -> Matrix:
        n = len(costs)
        # Nodes first: a step of the programme then reads and writes whole lines.
        by_edge = np.ascontiguousarray(costs.T)
        distance = np.full((self._n_nodes, n), np.inf)
        distance[self._source] = 0.0
        last = np.zeros((self._n_nodes, n), dtype=np.intp)
        for node, into in enumerate(self._into):
            for edge in into.tolist():
                reached = distance[self._tail[edge]] + by_edge[edge]
                shorter = reached < distance[node]
                np.copyto(distance[node], reached, where=shorter)
                last[node][shorter] = edge
        return self._trace(last, n)

    def _trace(self, last: NDArray[np.intp], n: int) -> Matrix:
        """Walk back from the target along the last edges."""
        decisions = np.zeros((n, self.n_costs))
        node = np.full(n, self._target, dtype=np.intp)
        rows = np.arange(n)
        while rows.size:
            edge = last[node[rows], rows]
            decisions[rows, edge] = 1.0
            node[rows] = self._tail[edge]
            rows = rows[node[rows] != self._source]
        return decisions

    def constraints(self) -> Constraints:
        """Return the flow of one unit from source to target; its extreme points are the paths."""
        matrix = np.zeros((self._n_nodes, self.n_costs))
        matrix[self._tail, np.arange(self.n_costs)] += 1.0
        matrix[self._head, np.arange(self.n_costs)] -= 1.0
        balance = np.zeros(self._n_nodes)
        balance[self._source], balance[self._target] = 1.0, -1.0
        zeros, ones = np.zeros(self.n_costs), np.ones(self.n_costs)
        return Constraints(matrix, balance, balance, zeros, ones, zeros.astype(np.bool_))

    def describe(self, decision: NDArray[Any]) -> str:
        """Return the nodes of a path."""
        following = {self.edges[e][0]: self.edges[e][1] for e in np.flatnonzero(decision)}
        nodes = [self.source]
        while nodes[-1] in following and len(nodes) <= len(following):
            nodes.append(following[nodes[-1]])
        return " > ".join(map(str, nodes))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_costs} edges)"


class GridShortestPath(DAGShortestPath):
    """Shortest path through a grid, with steps to the east and to the north.

    Nodes are pairs (row, column); row 0 is the southern one. Paths lead from (0, 0) to the
    opposite corner. Edges come row by row: first the steps to the east within a row, from west to
    east, then the steps from this row to the one north of it, from west to east.

    Parameters
    ----------
    rows, cols : int
        Number of nodes in each direction. A 4 x 4 grid has 24 edges and 20 paths.
    sense : {"min", "max"}, default="min"
        Shortest or longest paths.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import oracles
    >>> grid = oracles.GridShortestPath(4, 4)
    >>> grid.n_costs, grid.decisions().shape
    (24, (20, 24))
    >>> grid.describe(grid.decisions()[0])
    'EEENNN'
    """

    def __init__(self, rows: int, cols: int, sense: str = "min") -> None:
        if rows < 1 or cols < 1 or rows * cols < 2:
            raise ValueError(f"a grid needs at least two nodes, got {rows} x {cols}.")
        edges = []
        for row in range(rows):
            edges += [((row, col), (row, col + 1)) for col in range(cols - 1)]
            if row < rows - 1:
                edges += [((row, col), (row + 1, col)) for col in range(cols)]
        super().__init__(edges, (0, 0), (rows - 1, cols - 1), sense)
        self.rows, self.cols = int(rows), int(cols)

    def describe(self, decision: NDArray[Any]) -> str:
        """Return the steps of a path: N to the north, E to the east."""
        following = {self.edges[e][0]: self.edges[e][1] for e in np.flatnonzero(decision)}
        node, steps = self.source, ""
        while node in following and len(steps) <= len(following):
            steps += "N" if following[node][0] > node[0] else "E"
            node = following[node]
        return steps

    def __repr__(self) -> str:
        return f"GridShortestPath({self.rows}, {self.cols})"


def _topological_order(edges: Sequence[tuple[Any, Any]]) -> dict[Any, int]:
    """Return the place of each node in an order in which all edges lead forward."""
    if not edges:
        raise ValueError("a graph needs at least one edge.")
    nodes = dict.fromkeys(node for edge in edges for node in edge)
    n_into = dict.fromkeys(nodes, 0)
    outgoing: dict[Any, list[Any]] = {node: [] for node in nodes}
    for tail, head in edges:
        n_into[head] += 1
        outgoing[tail].append(head)
    ready = [node for node in nodes if n_into[node] == 0]
    order: dict[Any, int] = {}
    while ready:
        node = ready.pop(0)
        order[node] = len(order)
        for head in outgoing[node]:
            n_into[head] -= 1
            if n_into[head] == 0:
                ready.append(head)
    if len(order) < len(nodes):
        rest = [node for node in nodes if node not in order]
        raise ValueError(f"the graph has a cycle through some of the nodes {rest[:6]}.")
    return order
