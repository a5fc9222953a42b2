"""What a tree shows beside its tests and predictions: weights of nodes, notes, and savings.

Text, pictures, reports and files show the weight of the rows of every node, by class where leaves
hold labels, and a remark on each node where they hold something else. All of that is computed from
the rows once more, and numbers in remarks are compared as far as they are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ._audit import Audit, Data, Walk
from ._leaf_costs import Leaves
from ._notes import Note, Number, is_note, note_text
from ._plain_numbers import Exact

# What float64 may be off by where it adds up weights, as a share of them.
_LAST_BITS = Fraction(1, 2**40)

# By how much the savings of splits may be off, as a share of the cost of all rows.
_SHARE = 1e-6


def quiet(audit: Audit) -> Audit:
    """Return an audit that notes the same differences, and no checks that passed."""
    return replace(audit, checks=[])


def check_shown(
    audit: Audit, data: Data, walk: Walk, leaves: Leaves, where: str = "tree", slack: Exact = 0
) -> None:
    """Compare the weights of all nodes, and the notes on them, with the rows.

    Parameters
    ----------
    audit, data, walk
        The claim, and the rows of every node.
    leaves : Leaves
        What leaves hold.
    where : str
        What the tree is called.
    slack : number
        How far costs may be off.
    """
    if not leaves.outputs or leaves.amounts is None:
        _check_weights(audit, data, walk, leaves, where, slack)
    _check_notes(audit, walk, leaves, where, slack)
    audit.done(f"{where}: weights of all nodes, and what is noted on them")


def check_given_labels(audit: Audit, data: Data, walk: Walk, where: str) -> None:
    """Compare the weights of all nodes of a tree that counts rows by the labels they get."""
    label = walk.tree.label
    places = {row: (label[leaf],) for leaf in walk.leaves for row in walk.rows[leaf]}
    compare_counts(audit, data.weights, walk, places, len(walk.tree.values), where)
    if walk.tree.source.notes is not None:
        audit.differ(f"{where}: notes on nodes are not its own")


# ---- weights -----------------------------------------------------------------------------------


def _check_weights(
    audit: Audit, data: Data, walk: Walk, leaves: Leaves, where: str, slack: Exact
) -> None:
    """Compare the weight of the rows of every node, by class where leaves hold labels."""
    tree = walk.tree
    n_columns = len(tree.values) if _holds_labels(walk) else 1
    places = dict.fromkeys(data.rows, (0,))
    if n_columns > 1:
        places = _places(data, walk, leaves, Fraction(slack))
    compare_counts(audit, data.weights, walk, places, n_columns, where)


def _holds_labels(walk: Walk) -> bool:
    return getattr(walk.tree.source.payload, "kind", None) == "labels"


def _places(
    data: Data, walk: Walk, leaves: Leaves, slack: Fraction
) -> Mapping[int, tuple[int, ...]]:
    """Return the columns in which each row may be counted; several, if rounding decides."""
    if leaves.counted is not None:
        return {row: (place,) for row, place in leaves.counted.items()}
    if not leaves.counts_best or leaves.amounts is None:
        label = walk.tree.label
        return {row: (label[leaf],) for leaf in walk.leaves for row in walk.rows[leaf]}
    found = {}
    for row in data.rows:
        line = [data.weights[row] * cost for cost in leaves.amounts[row]]
        best = [k for k, cost in enumerate(line) if cost <= min(line) + slack]
        found[row] = tuple(best) if slack else (best[0],)
    return found


def compare_counts(
    audit: Audit,
    weights: Mapping[int, Exact],
    walk: Walk,
    places: Mapping[int, tuple[int, ...]],
    n_columns: int,
    where: str = "tree",
) -> None:
    """Compare the weights that a tree states for its nodes, in each column, with its rows.

    Parameters
    ----------
    audit, walk
        The claim, and the rows of every node.
    weights : mapping from row to number
        What each row weighs.
    places : mapping from row to columns
        The column in which a row counts, or all those in which it may.
    n_columns : int
        Number of columns.
    where : str
        What the tree is called.
    """
    total = Fraction(sum(weights.values()))
    # Weights near the ends of float64 may be stated as shares of all weight.
    wholes = [Fraction(1)] if 10**-290 < total < 10**290 else [Fraction(1), total]
    for node, rows in sorted(walk.rows.items()):
        sure, possible = [Fraction(0)] * n_columns, [Fraction(0)] * n_columns
        for row in rows:
            for place in places[row]:
                possible[place] += weights[row]
            if len(places[row]) == 1:
                sure[places[row][0]] += weights[row]
        stated = walk.tree.counts[node]
        if not any(_are_counts(stated, sure, possible, rows, weights, n) for n in wholes):
            audit.compare(f"{where}: weights of node {node}", stated, possible)
            return


def _are_counts(
    stated: Sequence[Any],
    sure: Sequence[Fraction],
    possible: Sequence[Fraction],
    rows: Sequence[int],
    weights: Mapping[int, Exact],
    whole: Fraction,
) -> bool:
    """Return whether weights that are stated are those of the rows, as shares of a whole."""
    if len(stated) != len(sure):
        return False
    told = [Fraction(number) * whole for number in stated]
    weight = Fraction(sum(weights[row] for row in rows))
    slack = weight * _LAST_BITS
    return abs(sum(told) - weight) <= slack and all(
        low - slack <= number <= high + slack
        for low, number, high in zip(sure, told, possible, strict=True)
    )


# ---- notes -------------------------------------------------------------------------------------


def _check_notes(audit: Audit, walk: Walk, leaves: Leaves, where: str, slack: Exact) -> None:
    """Compare what is noted on every node with its rows."""
    notes = walk.tree.source.notes
    wanted = _notes(walk, leaves, Fraction(slack))
    if (notes is None) != (wanted is None):
        audit.differ(f"{where}: notes on nodes are {'lacking' if notes is None else 'not its own'}")
    if notes is None or wanted is None:
        return
    for node in sorted(walk.rows):
        note = wanted(node)
        if not is_note(notes[node], note):
            audit.differ(
                f"{where}: node {node} has the note {notes[node]!r}, but its rows give "
                f"{note_text(note)!r}"
            )
            return


def _notes(walk: Walk, leaves: Leaves, slack: Fraction) -> Callable[[int], Note] | None:
    """Return what tells the note of a node; None, if nodes have none."""
    if leaves.note is not None:
        told = leaves.note
        return lambda node: told(walk.rows[node], slack)
    if leaves.counts_best:
        return lambda node: _best_for(walk, node)
    return None


def _best_for(walk: Walk, node: int) -> Note:
    """Return the note on a node whose rows are counted by what is best for them."""
    counts = [Fraction(count) for count in walk.tree.counts[node]]
    total = sum(counts, Fraction(0))
    if walk.tree.label[node] < 0:
        return [Number(total, _weight), " in all"]
    part = counts[walk.tree.label[node]]
    share = Number(part / (total or 1), "{:.1%}".format, Fraction(1, 10**12))
    return ["best for ", Number(part, _weight), " of ", Number(total, _weight), ", ", share]


def _weight(number: float) -> str:
    return str(int(number)) if number.is_integer() else f"{number:.2f}"


# ---- what splits save --------------------------------------------------------------------------


def check_node_costs(
    audit: Audit, data: Data, walk: Walk, leaves: Leaves, stated: Any, slack: Exact = 0
) -> None:
    """Compare the costs of nodes, if there are any; their proportions are shown, as importances."""
    if stated is None:
        return
    costs = [float(_above_least(data, leaves, walk.rows.get(k, ()))) for k in range(len(stated))]
    whole, scale = costs[0], float(stated[0])
    if whole <= float(slack) or scale <= 0:
        # There is nothing to save, and all importances are zero.
        return
    off = _SHARE + 2 * float(slack) / whole
    for node, cost in enumerate(costs):
        if not abs(float(stated[node]) / scale - cost / whole) <= off:
            audit.compare(f"share of node {node} in the cost", stated[node] / scale, cost / whole)
            return
    audit.done("the costs of nodes, of which importances are made")


def _above_least(data: Data, leaves: Leaves, rows: Sequence[int]) -> Fraction:
    """Return the cost of a node above what its rows cost at least."""
    if not rows:
        return Fraction(0)
    least = leaves.least(rows)
    if leaves.amounts is None:
        return least
    return least - sum((data.weights[row] * min(leaves.amounts[row]) for row in rows), Fraction(0))
