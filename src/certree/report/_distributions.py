"""How the values of a split's column are distributed among the rows that reach it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Condition, Table, Test
from certree.encoding._times import DAY, SECOND, Form, is_time, ticks, time_words
from certree.tree import Tree
from certree.tree._wording import answer, one_line, shorten

from ._given import MOST_LETTERS, distinct_values, named_values, text_of
from ._ranges import FEWEST, bins_of, counts_in_bins

_MOST_VALUES = 12
_LABEL_UNITS = (DAY, 3600 * SECOND, 60 * SECOND, SECOND)
MOST_SERIES = 8
"""Classes are told apart up to this number."""


def distributions(
    tree: Tree, table: Table, codes: NDArray[np.intp] | None, fewest: int = FEWEST
) -> dict[str, Any]:
    """Return for each node with a test the distribution of its column among the rows there.

    Parameters
    ----------
    tree : Tree
        The tree.
    table : Table
        Rows.
    codes : array of int, or None
        The class of each row among those of the tree; None: all rows are counted together.
    fewest : int
        Values that fewer rows of a node have are not told, unless its test names them.
    """
    leaves = tree.apply(table)
    reached = _leaves_below(tree)
    result = {}
    for node in np.flatnonzero(tree.test >= 0).tolist():
        rows = np.flatnonzero(np.isin(leaves, reached[node]))
        column = tree.node_test(node).column_of(table)[rows]
        own = None if codes is None else codes[rows]
        result[str(node)] = _of_node(tree, node, column, own, fewest)
    return result


def _leaves_below(tree: Tree) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for node in reversed(tree.preorder.tolist()):
        children = tree.children(node)
        below[node] = [leaf for child in children for leaf in below[child]] if children else [node]
    return below


def _of_node(
    tree: Tree, node: int, column: NDArray[Any], codes: NDArray[np.intp] | None, fewest: int
) -> dict[str, Any]:
    test = tree.node_test(node)
    sides = [one_line(answer(tree, child)) for child in tree.children(node)]
    base = {"name": shorten(test.name, MOST_LETTERS), "sides": sides, "rows": len(column)}
    series = _series(codes)
    condition, cut = test.condition(0), test.cut
    if cut is not None and condition.kind == "number" and column.dtype != object:
        told = _bins(column.astype(np.float64), cut, codes, series, fewest)
    elif cut is not None and condition.kind == "time" and is_time(column):
        numbers, size = ticks(column)
        known = np.where(np.isnat(column), np.nan, numbers.astype(np.float64))
        told = _bins(known, condition.position(cut) / size, codes, series, fewest)
        if "bins" in told:
            told.update(_time_labels(condition, cut, size, told))
    else:
        listed = _values if named_values(test) else _outcomes
        return {**base, "values": listed(test, column, codes, series, fewest), "series": series}
    return {**base, **told, "series": series, "missing_side": test.missing_outcome}


def _time_labels(condition: Condition, cut: str, size: int, told: dict[str, Any]) -> dict[str, Any]:
    """Return a few dates or durations below the axis, and the cut point as the test words it."""
    places = [told["low"] + part * (told["high"] - told["low"]) for part in (0.1, 0.5, 0.9)]
    unit = next((u for u in _LABEL_UNITS if (places[2] - places[0]) * size >= 2 * u), 1)
    form: Form = "date" if condition.form == "zoned" else condition.form
    texts = [time_words(form, round(place * size / unit) * unit) for place in places]
    labels = list(zip(places, texts, strict=True))
    return {"labels": labels, "cut_text": one_line(condition.bound_words(cut))}


def _series(codes: NDArray[np.intp] | None) -> list[int]:
    """Return the classes that occur, in order."""
    return [] if codes is None else np.unique(codes).tolist()


def _counts(codes: NDArray[np.intp] | None, chosen: Any, series: list[int]) -> list[int]:
    """Return the number of chosen rows, for each class if these are known."""
    if codes is None:
        return [int(np.count_nonzero(chosen))]
    return [int(np.count_nonzero(chosen & (codes == code))) for code in series]


def _bins(
    numbers: NDArray[np.float64], cut: float, codes: Any, series: list[int], fewest: int
) -> dict[str, Any]:
    """Return counts in bars; the outer ones also hold the rows beyond them."""
    known = np.isfinite(numbers)
    values, missing = numbers[known], int(np.count_nonzero(~known))
    bins = bins_of(values, cut, fewest)
    if bins is None:
        return {"values": [], "missing": missing, "fewest": 2 * fewest}
    places = counts_in_bins(values, bins)
    low, high, number = bins
    parts = [places] if codes is None else [places[codes[known] == code] for code in series]
    return {
        "low": low,
        "high": high,
        "cut": cut,
        "bins": [np.bincount(part, minlength=number).tolist() for part in parts],
        "missing": missing,
        "beyond": bool((values < low).any() or (values > high).any()),
    }


def _values(
    test: Test, column: NDArray[Any], codes: Any, series: list[int], fewest: int
) -> list[list[Any]]:
    """Return the most frequent values: text, outcome, and counts."""
    if not len(column):
        return []
    outcome = test.outcome(column)
    values, places = distinct_values(column)
    names = [*map(text_of, values), "missing"]  # place -1 is the last one
    sizes = np.bincount(places % len(names), minlength=len(names))
    named = set(named_values(test))
    told = [size >= fewest or value in named for value, size in zip(values, sizes, strict=False)]
    order = [place for place in np.argsort(-sizes, kind="stable").tolist() if sizes[place]]
    listed = [place for place in order if [*told, True][place]][:_MOST_VALUES]
    result = []
    for place in listed:
        chosen = places % len(names) == place
        side = int(outcome[np.argmax(chosen)])
        result.append([names[place], side, _counts(codes, chosen, series)])
    rest = ~np.isin(places % len(names), listed)
    if rest.any():
        n_more = len(order) - len(listed)
        told_more = "1 other value" if n_more == 1 else f"{n_more} other values"
        result.append([told_more, -1, _counts(codes, rest, series)])
    return result


def _outcomes(
    test: Test, column: NDArray[Any], codes: Any, series: list[int], fewest: int
) -> list[list[Any]]:
    """Return the outcomes of a test that names no values: text, outcome, and counts."""
    outcome = test.outcome(column)
    return [
        [shorten(test.describe(side), MOST_LETTERS), side, _counts(codes, outcome == side, series)]
        for side in range(test.n_outcomes)
    ]
