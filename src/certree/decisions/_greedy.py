"""Greedy trees over encoded columns: recursive partitioning, and pruning of the weakest link.

What a leaf costs is any function of the sums of its rows' statistics, asked for many sums at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.engine import Nodes
from certree.engine._budget import current

# Entries of a table that are converted to floats at once.
_CHUNK = 20_000_000


@dataclass(frozen=True)
class Growth:
    """What a tree is grown from.

    Attributes
    ----------
    columns : uint8 array of shape (n_rows, n_columns)
        The answers to the tests.
    statistics : float64 array of shape (n_rows, n_statistics)
        What is summed; whole numbers below 2**53 are added exactly.
    weights : int64 array of shape (n_rows,)
        Weight of the rows, for the least weight of a leaf.
    loss : callable
        From sums to costs of leaves.
    """

    columns: NDArray[np.uint8]
    statistics: NDArray[np.float64]
    weights: NDArray[np.int64]
    loss: Callable[[NDArray[np.float64]], NDArray[Any]]


@dataclass(frozen=True)
class Bagging:
    """Only some features, drawn for each split, are considered.

    Attributes
    ----------
    features : array of shape (n_columns,)
        The raw column that each encoded column belongs to.
    n_drawn : int
        How many raw columns are drawn.
    random : numpy.random.Generator
        What draws.
    """

    features: NDArray[np.intp]
    n_drawn: int
    random: np.random.Generator

    def draws(self) -> Iterator[NDArray[np.intp]]:
        """Yield columns to look at: first those of the features drawn, then, if none of them
        splits, those of one further feature at a time."""
        order = self.random.permutation(np.unique(self.features))
        yield np.flatnonzero(np.isin(self.features, order[: self.n_drawn]))
        for feature in order[self.n_drawn :]:
            yield np.flatnonzero(self.features == feature)


@dataclass(frozen=True)
class Split:
    """The best split of a node: its column, and how much it saves."""

    column: int
    saving: float


def grow(
    growth: Growth,
    *,
    max_depth: int | None = None,
    max_splits: int | None = None,
    min_weight: int = 1,
    bagging: Bagging | None = None,
) -> Nodes:
    """Grow a tree: every node gets the split after which its two leaves cost least.

    Nodes that cost nothing are not split. With a limit on splits those that save most come first.
    When the time of the call is up, the tree is left as it is.
    """
    test, first_child, depth = [-1], [-1], [0]
    rows_of: dict[int, NDArray[np.intp]] = {0: np.arange(len(growth.weights))}
    waiting: list[tuple[float, int, int]] = []
    n_splits = 0

    def consider(node: int) -> None:
        if max_depth is not None and depth[node] >= max_depth:
            return
        found = best_split(growth, rows_of[node], min_weight, bagging)
        if found is not None:
            heapq.heappush(waiting, (-found.saving, node, found.column))

    consider(0)
    while waiting and (max_splits is None or n_splits < max_splits) and not _is_over():
        _, node, column = heapq.heappop(waiting)
        rows = rows_of.pop(node)
        holds = growth.columns[rows, column] != 0
        test[node], first_child[node] = column, len(test)
        n_splits += 1
        for part in (rows[holds], rows[~holds]):
            child = len(test)
            test.append(-1)
            first_child.append(-1)
            depth.append(depth[node] + 1)
            rows_of[child] = part
        consider(first_child[node])
        consider(first_child[node] + 1)
    return Nodes.of(test, first_child)


def best_split(
    growth: Growth, rows: NDArray[np.intp], min_weight: int, bagging: Bagging | None
) -> Split | None:
    """Return the first of the splits that cost least; None if no split is allowed or useful."""
    weights = growth.weights[rows]
    if int(weights.sum()) < 2 * min_weight or len(rows) < 2:
        return None
    statistics = np.column_stack([growth.statistics[rows], weights])
    total = statistics.sum(axis=0)
    cost = float(growth.loss(total[None, :-1])[0])
    if cost == 0:
        return None
    n_columns = growth.columns.shape[1]
    draws = iter([np.arange(n_columns)]) if bagging is None else bagging.draws()
    for columns in draws:
        sums = _sums(growth.columns, rows, columns, statistics)
        columns = columns[: len(sums)]
        rest = total - sums
        allowed = np.minimum(sums[:, -1], rest[:, -1]) >= max(min_weight, 1)
        if not allowed.any():
            continue
        columns, sums, rest = columns[allowed], sums[allowed], rest[allowed]
        parts = growth.loss(np.vstack([sums, rest])[:, :-1])
        costs = parts[: len(sums)] + parts[len(sums) :]
        best = int(np.argmin(costs))
        return Split(int(columns[best]), cost - float(costs[best]))
    return None


def _is_over() -> bool:
    call = current()
    return call is not None and call.status() is not None


def _sums(
    table: NDArray[np.uint8],
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
    statistics: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sums of the rows for which each column holds; if time is up, of fewer columns."""
    step = max(_CHUNK // max(len(rows), 1), 1)
    parts: list[NDArray[np.float64]] = []
    for start in range(0, len(columns), step):
        if parts and _is_over():
            break
        bits = table[np.ix_(rows, columns[start : start + step])]
        parts.append(bits.T.astype(np.float64) @ statistics)
    return np.vstack(parts) if parts else np.zeros((0, statistics.shape[1]))


def collapse(nodes: Nodes, costs: NDArray[Any], penalty: Any) -> tuple[Nodes, NDArray[np.intp]]:
    """Return the tree without splits that do not save more than they cost, and its origin.

    Parameters
    ----------
    nodes : Nodes
        A tree.
    costs : array of shape (n_nodes,)
        What each node costs as a leaf.
    penalty : number
        What a split costs.
    """
    n = len(nodes.test)
    best: list[Any] = [0] * n
    is_leaf = np.ones(n, dtype=np.bool_)
    for node in range(n - 1, -1, -1):
        best[node] = costs[node].item()
        if nodes.test[node] >= 0:
            child = int(nodes.first_child[node])
            below = best[child] + best[child + 1] + penalty
            if below < best[node]:
                best[node], is_leaf[node] = below, False
    shorter, origin = nodes.cut(is_leaf)
    return shorter.with_labels(np.int32(0)), origin


def weakest_links(nodes: Nodes, costs: NDArray[Any]) -> list[NDArray[np.bool_]]:
    """Return the nested trees of cost-complexity pruning, from the whole tree to the root.

    Each is an array that marks the nodes that are leaves, or below one. In every step the nodes
    go that save least per split below them (Breiman, Friedman, Olshen and Stone, chapter 3).
    """
    n = len(nodes.test)
    is_leaf = nodes.test < 0
    trees = [is_leaf.copy()]
    while not is_leaf[0]:
        below = np.array([c.item() for c in costs], dtype=object)
        splits = np.zeros(n, dtype=np.int64)
        reached = np.zeros(n, dtype=np.bool_)
        reached[0] = True
        for node in range(n):
            if reached[node] and not is_leaf[node]:
                child = int(nodes.first_child[node])
                reached[child] = reached[child + 1] = True
        for node in range(n - 1, -1, -1):
            if reached[node] and not is_leaf[node]:
                child = int(nodes.first_child[node])
                below[node] = below[child] + below[child + 1]
                splits[node] = splits[child] + splits[child + 1] + 1
        inner = np.flatnonzero(reached & ~is_leaf)
        savings = [(costs[v].item() - below[v]) / int(splits[v]) for v in inner]
        is_leaf = is_leaf.copy()
        is_leaf[inner[np.array(savings) <= min(savings)]] = True
        trees.append(is_leaf.copy())
    return trees


def choose_tree(losses: NDArray[np.float64], weights: NDArray[np.float64], rule: str) -> int:
    """Return which of nested trees, the largest first, to keep by their losses on other rows.

    Parameters
    ----------
    losses : array of shape (n_trees, n_rows)
        Loss of every row under every tree.
    weights : array of shape (n_rows,)
        Weights of the rows.
    rule : {"one_se", "best"}
        The smallest tree within one standard error of the best one, or the best one itself, the
        smallest of equals.
    """
    total = weights.sum()
    means = losses @ weights / total
    best = len(means) - 1 - int(np.argmin(means[::-1]))
    if rule == "best":
        return best
    # The standard error of a weighted mean.
    spread = np.square(weights * (losses[best] - means[best])).sum()
    error = float(np.sqrt(spread)) / float(total)
    within = np.flatnonzero(means <= means[best] + error)
    return int(within[-1])
