"""What a tree shows beside its tests and predictions: rows of nodes, notes on them, and savings.

Text, pictures, reports and files show how many rows every node has and what they weigh, by class
where leaves hold labels, and a remark on each node where they hold something else. All of that is
computed from the rows once more, and numbers in remarks are compared as far as they are printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ._audit import Audit, Data, Walk
from ._leaf_costs import Leaves
from ._node_rows import ClassPositions, check_node_rows, weight_unit
from ._notes import Note, Printed, RowsOf, is_note, note_text
from ._plain_numbers import Exact, last_bits


def quiet(audit: Audit) -> Audit:
    """Return an audit that notes the same differences, and no checks that passed."""
    return replace(audit, checks=[])


def check_shown(
    audit: Audit, data: Data, walk: Walk, leaves: Leaves, where: str = "tree", slack: Exact = 0
) -> None:
    """Compare the rows of all nodes, and the notes on them, with the data.

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
        _check_rows(audit, data, walk, leaves, Fraction(slack))
    _check_notes(audit, walk, leaves, where, Fraction(slack))
    audit.done(f"{where}: what is noted on all nodes")


def check_given_labels(audit: Audit, data: Data, walk: Walk, where: str) -> None:
    """Compare the rows of all nodes of a tree that counts them by the labels they get."""
    check_node_rows(audit, data, walk, [_by_leaf(walk)])
    check_no_notes(audit, walk, where)


def check_no_notes(audit: Audit, walk: Walk, where: str = "tree") -> None:
    """Check that a tree has no notes, which would be shown in place of its counts."""
    if walk.tree.source.notes is not None:
        audit.differ(f"{where}: notes on nodes are not its own")


# ---- rows of nodes -----------------------------------------------------------------------------


def _check_rows(audit: Audit, data: Data, walk: Walk, leaves: Leaves, slack: Fraction) -> None:
    """Compare the rows of every node, by class where leaves hold labels."""
    values = walk.tree.values
    if not has_labels(walk):
        check_node_rows(audit, data, walk)
    elif leaves.counted is not None:
        check_node_rows(audit, data, walk, [ClassPositions(leaves.counted, len(values))])
    elif leaves.counts_best and leaves.amounts is not None:
        _check_best(audit, data, walk, leaves.amounts, slack)
    else:
        check_node_rows(audit, data, walk, [_by_leaf(walk)])


def has_labels(walk: Walk) -> bool:
    """Return whether the leaves of a tree hold labels, by which rows are counted."""
    return getattr(walk.tree.source.payload, "kind", None) == "labels"


def _by_leaf(walk: Walk) -> ClassPositions:
    """Return the label that each row gets."""
    label = walk.tree.label
    positions = {row: label[leaf] for leaf in walk.leaves for row in walk.rows[leaf]}
    return ClassPositions(positions, len(walk.tree.values))


def _check_best(
    audit: Audit,
    data: Data,
    walk: Walk,
    amounts: Mapping[int, Sequence[Fraction]],
    slack: Fraction,
) -> None:
    """Compare how many rows of every node a label is best for.

    Where costs were rounded, labels that cost about the same may both be the best.
    """
    weights, tree, n_labels = data.sample_weights, walk.tree, len(walk.tree.values)
    best: dict[int, list[int]] = {}
    for row in data.rows:
        line = [weights[row] * cost for cost in amounts[row]]
        best[row] = [k for k, cost in enumerate(line) if cost <= min(line) + slack]
    if not slack or all(len(positions) == 1 for positions in best.values()):
        first = {row: positions[0] for row, positions in best.items()}
        check_node_rows(audit, data, walk, [ClassPositions(first, n_labels)])
        return
    whole = weight_unit(data)
    shares: dict[int, Exact] = {row: weights[row] / whole for row in data.rows}
    sizes: dict[int, Exact] = {row: data.n_behind(row) for row in data.rows}
    for node, rows in sorted(walk.rows.items()):
        stated = tree.counts[node], tree.counts[node] if tree.rows is None else tree.rows[node]
        for told, each in zip(stated, (shares, sizes), strict=True):
            if not _are_possible(told, rows, best, each, n_labels):
                audit.differ(f"class counts of node {node}: {told}, which its rows cannot have")


def _are_possible(
    stated: Sequence[Any],
    rows: Sequence[int],
    best: Mapping[int, Sequence[int]],
    each: Mapping[int, Exact],
    n_labels: int,
) -> bool:
    """Return whether counts agree with the labels that can be best for the rows of a node."""
    sure, possible = [Fraction(0)] * n_labels, [Fraction(0)] * n_labels
    for row in rows:
        for position in best[row]:
            possible[position] += each[row]
        if len(best[row]) == 1:
            sure[best[row][0]] += each[row]
    total = Fraction(sum(each[row] for row in rows))
    slack, told = total * last_bits(len(rows)), list(map(Fraction, stated))
    return (
        len(told) == n_labels
        and abs(sum(told) - total) <= slack
        and all(a - slack <= b <= c + slack for a, b, c in zip(sure, told, possible, strict=True))
    )


# ---- notes -------------------------------------------------------------------------------------


def _check_notes(audit: Audit, walk: Walk, leaves: Leaves, where: str, slack: Fraction) -> None:
    """Compare what is noted on every node with its rows."""
    notes = walk.tree.source.notes
    wanted = _notes(walk, leaves, slack)
    if wanted is None:
        check_no_notes(audit, walk, where)
        return
    if notes is None:
        audit.differ(f"{where}: notes on nodes are lacking")
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
        return lambda node: [
            part if not isinstance(part, RowsOf) else _rows_of(walk, node, part.joint)
            for part in told(walk.rows[node], slack)
        ]
    if leaves.counts_best:
        return lambda node: _best_for(walk, node)
    return None


def _rows_of(walk: Walk, node: int, joint: str) -> str:
    """Return the rows of a node, whose numbers have been compared before, as they are printed."""
    n_rows = int(sum(_numbers(walk, node)))
    told = f"{n_rows} row" if n_rows == 1 else f"{n_rows} rows"
    return told if walk.tree.rows is None else f"{told}{joint}weight {_weight(walk, node)}"


def _numbers(walk: Walk, node: int) -> Sequence[Any]:
    return walk.tree.counts[node] if walk.tree.rows is None else walk.tree.rows[node]


def _weight(walk: Walk, node: int) -> str:
    weight = float(sum(walk.tree.counts[node]))
    if weight.is_integer():
        return str(int(weight))
    return f"{weight:.3g}" if weight < 1 else f"{weight:.2f}".rstrip("0").rstrip(".")


def _best_for(walk: Walk, node: int) -> Note:
    """Return the note on a node whose rows are counted by what is best for them."""
    label, numbers = walk.tree.label[node], _numbers(walk, node)
    if label < 0:
        return [_rows_of(walk, node, " of "), " in all"]
    counts = [Fraction(count) for count in walk.tree.counts[node]]
    # A leaf without rows is sure of its label.
    share = counts[label] / sum(counts) if sum(counts) else Fraction(1)
    told: list[str | Printed] = [f"best for {int(numbers[label])} of {int(sum(numbers))}"]
    told += ["" if walk.tree.rows is None else " rows", ", ", Printed(share, "{:.1%}".format)]
    return told if walk.tree.rows is None else [*told, f" of weight {_weight(walk, node)}"]


# ---- what splits save --------------------------------------------------------------------------


def check_node_costs(
    audit: Audit, data: Data, walk: Walk, leaves: Leaves, model: Any, slack: Exact = 0
) -> None:
    """Compare the costs of nodes, if there are any; their proportions are shown, as importances."""
    if "_node_costs" not in vars(model):
        return
    stated = model._node_costs
    if np.shape(stated) != (len(walk.rows),):
        audit.differ(f"costs of nodes: the model does not have one for each of {len(walk.rows)}")
        return
    if leaves.of_groups:
        _check_savings(audit, walk, leaves, stated.tolist(), Fraction(slack))
        return
    whole, scale = _above_least(data, leaves, data.rows), float(stated[0])
    if whole <= slack:
        # There is nothing to save.
        return
    off = float(
        last_bits(len(data.rows)) + 2 * (slack + _node_rounding(audit, data, leaves)) / whole
    )
    for node, rows in sorted(walk.rows.items()):
        share = float(_above_least(data, leaves, rows) / whole)
        if not abs(float(stated[node]) - share * scale) <= off * scale:
            audit.differ(f"cost of node {node}: its share of the whole is not {share:.6g}")
            return
    audit.done("the costs of nodes, of which importances are made")


def _node_rounding(audit: Audit, data: Data, leaves: Leaves) -> Fraction:
    """Return by how much whole units move the cost of a node, where costs are rounded.

    For rates, what every row would save at a rate of its own is rounded up to whole units.
    """
    if not audit.certificate.rounding:
        return Fraction(0)
    n_rounded = 1 if leaves.rates is None else len(data.rows) + 1
    return n_rounded * abs(Fraction(audit.certificate.unit))


def _check_savings(
    audit: Audit, walk: Walk, leaves: Leaves, stated: Sequence[float], slack: Fraction
) -> None:
    """Compare what splits save, as shares of all savings.

    Costs of nodes are above what their groups of rows cost at least, which single rows do not tell.
    It is the same for a node and for all its children together.
    """
    least = {n: leaves.least(rows) if rows else Fraction(0) for n, rows in walk.rows.items()}
    children = {node: walk.tree.children[node] for node in walk.rows}
    saved = {n: least[n] - sum(least[c] for c in below) for n, below in children.items() if below}
    told = {n: stated[n] - sum(stated[c] for c in below) for n, below in children.items() if below}
    whole = sum(saved.values(), Fraction(0))
    if whole <= slack:
        # There is nothing to save.
        return
    size = max(map(abs, stated)) * float(last_bits(len(stated)))
    scale = sum(told.values())
    off = float(4 * len(saved) * slack / whole) * scale + 4 * len(saved) * size
    for node, saving in saved.items():
        if not abs(told[node] - float(saving / whole) * scale) <= off:
            audit.differ(f"cost of node {node}: its split does not save {float(saving):.6g}")
            return
    audit.done("what splits save, of which importances are made")


def _above_least(data: Data, leaves: Leaves, rows: Sequence[int]) -> Fraction:
    """Return the cost of a node above what its rows cost at least."""
    if not rows:
        return Fraction(0)
    least = leaves.least(rows)
    if leaves.amounts is None:
        return least
    return least - sum((data.weights[row] * min(leaves.amounts[row]) for row in rows), Fraction(0))
