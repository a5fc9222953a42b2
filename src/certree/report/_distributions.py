"""How the values of a split's column are distributed among the rows that reach it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Table, Test, Threshold, format_value
from certree.tree import Tree
from certree.tree._wording import answer, one_line

_N_BINS = 24
_MOST_VALUES = 12
MOST_SERIES = 8
"""Classes are told apart up to this number."""


def distributions(tree: Tree, table: Table, codes: NDArray[np.intp] | None) -> dict[str, Any]:
    """Return for each node with a test the distribution of its column among the rows there.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : Table
        Rows.
    codes : array of int, or None
        The class of each row among those of the tree; None: all rows are counted together.
    """
    leaves = tree.apply(table)
    reached = _leaves_below(tree)
    result = {}
    for node in np.flatnonzero(tree.test >= 0).tolist():
        rows = np.flatnonzero(np.isin(leaves, reached[node]))
        column = table.column(tree.node_test(node).feature)[rows]
        result[str(node)] = _of_node(tree, node, column, None if codes is None else codes[rows])
    return result


def _leaves_below(tree: Tree) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for node in reversed(tree.preorder.tolist()):
        children = tree.children(node)
        below[node] = [leaf for child in children for leaf in below[child]] if children else [node]
    return below


def _of_node(
    tree: Tree, node: int, column: NDArray[Any], codes: NDArray[np.intp] | None
) -> dict[str, Any]:
    test = tree.node_test(node)
    sides = [one_line(answer(tree, child)) for child in tree.children(node)]
    base = {"name": one_line(test.name), "sides": sides, "rows": len(column)}
    series = _series(codes)
    if isinstance(test, Threshold) and column.dtype != object:
        return {**base, **_bins(test, column.astype(np.float64), codes, series)}
    return {**base, "values": _values(test, column, codes, series), "series": series}


def _series(codes: NDArray[np.intp] | None) -> list[int]:
    """Return the classes that occur, in order."""
    return [] if codes is None else np.unique(codes).tolist()


def _counts(codes: NDArray[np.intp] | None, chosen: Any, series: list[int]) -> list[int]:
    """Return the number of chosen rows, for each class if these are known."""
    if codes is None:
        return [int(np.count_nonzero(chosen))]
    return [int(np.count_nonzero(chosen & (codes == code))) for code in series]


def _bins(
    test: Threshold, column: NDArray[np.float64], codes: Any, series: list[int]
) -> dict[str, Any]:
    """Return counts in bins; the outer ones also hold the rows beyond them."""
    known = np.isfinite(column)
    values, cut = column[known], test.threshold
    missing = int(np.count_nonzero(~known))
    if not values.size:
        return {"values": [], "series": series, "missing": missing}
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    low, high = min(low, cut), max(high, cut)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    # A margin on both sides, so that the threshold never stands at the edge.
    low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return {"values": [], "series": series, "missing": missing}
    places = np.clip(((values - low) / (high - low) * _N_BINS).astype(np.intp), 0, _N_BINS - 1)
    groups = [None] if codes is None else series
    counts = []
    for code in groups:
        own = places if code is None else places[codes[known] == code]
        counts.append(np.bincount(own, minlength=_N_BINS).tolist())
    return {
        "low": low,
        "high": high,
        "cut": cut,
        "cut_text": one_line(test.silent().describe(0)),
        "bins": counts,
        "series": series,
        "missing": missing,
        "missing_side": test.missing_outcome,
        "beyond": bool((values < low).any() or (values > high).any()),
    }


def _values(test: Test, column: NDArray[Any], codes: Any, series: list[int]) -> list[list[Any]]:
    """Return the most frequent values: text, outcome, and counts."""
    if not len(column):
        return []
    outcome = test.outcome(column)
    texts = np.array([_text(value) for value in column.tolist()], dtype=object)
    names, inverse = np.unique(texts.astype(str), return_inverse=True)
    sizes = np.bincount(inverse)
    listed = np.argsort(-sizes, kind="stable")[:_MOST_VALUES].tolist()
    result = []
    for place in listed:
        chosen = inverse == place
        first = int(np.flatnonzero(chosen)[0])
        result.append([str(names[place]), int(outcome[first]), _counts(codes, chosen, series)])
    rest = ~np.isin(inverse, listed)
    if rest.any():
        n_more = len(names) - len(listed)
        result.append([f"{n_more} other values", -1, _counts(codes, rest, series)])
    return result


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return one_line(format_value(value))
