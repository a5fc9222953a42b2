"""How the values of a split's column are distributed among the rows that reach it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import SidedTest, Table, Test, Threshold
from certree.tree import Tree
from certree.tree._wording import answer, one_line, shorten

from ._given import MOST_LETTERS, distinct_values, text_of

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
    base = {"name": shorten(test.name, MOST_LETTERS), "sides": sides, "rows": len(column)}
    series = _series(codes)
    if isinstance(test, Threshold) and column.dtype != object:
        numbers = column.astype(np.float64)
        told = _bins(numbers, test.threshold, codes, series)
    elif column.dtype.kind in "mM":
        numbers = np.where(np.isnat(column), np.nan, column.astype(np.int64).astype(np.float64))
        told = _bins(numbers, _boundary(test, column, numbers), codes, series)
        if "bins" in told:
            told.update(_time_labels(test, column.dtype, told))
    else:
        return {**base, "values": _values(test, column, codes, series), "series": series}
    return {**base, **told, "series": series, "missing_side": test.missing_outcome}


def _boundary(test: Test, column: NDArray[Any], numbers: NDArray[np.float64]) -> float:
    """Return a number between the values that hold and those that do not."""
    holds = test.outcome(column) == 0
    known = np.isfinite(numbers)
    low, high = numbers[holds & known], numbers[~holds & known]
    if not low.size or not high.size:
        return float(low.max() if low.size else high.min() if high.size else 0.0)
    return float(low.max() / 2 + high.min() / 2)


def _time_labels(test: Test, dtype: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Return a few dates or durations below the axis, and the cut point as the test words it."""
    places = [told["low"] + part * (told["high"] - told["low"]) for part in (0.1, 0.5, 0.9)]
    unit = "timedelta64[h]" if dtype.kind == "m" else "datetime64[D]"
    times = [np.array(round(place), dtype=np.int64).view(dtype).astype(unit) for place in places]
    silent = test.silent() if isinstance(test, SidedTest) else test
    words = silent.describe(0).removeprefix(test.name).removeprefix(" <= ")
    return {
        "labels": [[place, text_of(time[()])] for place, time in zip(places, times, strict=True)],
        "cut_text": one_line(words),
    }


def _series(codes: NDArray[np.intp] | None) -> list[int]:
    """Return the classes that occur, in order."""
    return [] if codes is None else np.unique(codes).tolist()


def _counts(codes: NDArray[np.intp] | None, chosen: Any, series: list[int]) -> list[int]:
    """Return the number of chosen rows, for each class if these are known."""
    if codes is None:
        return [int(np.count_nonzero(chosen))]
    return [int(np.count_nonzero(chosen & (codes == code))) for code in series]


def _bins(
    numbers: NDArray[np.float64], cut: float, codes: Any, series: list[int]
) -> dict[str, Any]:
    """Return counts in bins; the outer ones also hold the rows beyond them."""
    known = np.isfinite(numbers)
    values, missing = numbers[known], int(np.count_nonzero(~known))
    nothing: dict[str, Any] = {"values": [], "missing": missing}
    if not values.size:
        return nothing
    low, high = np.quantile(values, [0.01, 0.99]).tolist()
    low, high = min(low, cut), max(high, cut)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    # A margin on both sides, so that the threshold never stands at the edge.
    low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        return nothing
    places = np.clip(((values - low) / (high - low) * _N_BINS).astype(np.intp), 0, _N_BINS - 1)
    parts = [places] if codes is None else [places[codes[known] == code] for code in series]
    return {
        "low": low,
        "high": high,
        "cut": cut,
        "bins": [np.bincount(part, minlength=_N_BINS).tolist() for part in parts],
        "missing": missing,
        "beyond": bool((values < low).any() or (values > high).any()),
    }


def _values(test: Test, column: NDArray[Any], codes: Any, series: list[int]) -> list[list[Any]]:
    """Return the most frequent values: text, outcome, and counts."""
    if not len(column):
        return []
    outcome = test.outcome(column)
    values, places = distinct_values(column)
    names = [*map(text_of, values), "missing"]  # place -1 is the last one
    sizes = np.bincount(places % len(names), minlength=len(names))
    listed = [place for place in np.argsort(-sizes, kind="stable").tolist() if sizes[place]]
    result = []
    for place in listed[:_MOST_VALUES]:
        chosen = places % len(names) == place
        side = int(outcome[np.argmax(chosen)])
        result.append([names[place], side, _counts(codes, chosen, series)])
    rest = np.isin(places % len(names), listed[_MOST_VALUES:])
    if rest.any():
        n_more = len(listed) - _MOST_VALUES
        result.append([f"{n_more} other values", -1, _counts(codes, rest, series)])
    return result
