"""Check what a tree says of the rows in its nodes: how many there are, and what they weigh.

Weights are sample weights. Those of classes, and roundings of a search, only say what errors cost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ._audit import Audit, Data, Walk
from ._plain_numbers import Exact, exact


class ClassPositions(NamedTuple):
    """By what the rows in nodes are counted: the position of each row's class among all classes.

    Without positions all rows are counted together.
    """

    positions: Mapping[int, int] | None = None
    n_positions: int = 1


def check_node_rows(
    audit: Audit, data: Data, walk: Walk, outputs: Sequence[ClassPositions] = (ClassPositions(),)
) -> None:
    """Compare the numbers and the weights of rows in all nodes, by the classes of each output."""
    tree, weights = walk.tree, data.sample_weights
    whole = weight_unit(data)
    named = "class counts" if sum(n_positions for _, n_positions in outputs) > 1 else "weight"
    for node, rows in sorted(walk.rows.items()):
        found: list[Exact] = []
        numbers: list[Exact] = []
        for positions, n_positions in outputs:
            sums: list[Exact] = [0] * n_positions
            sizes = [0] * n_positions
            for row in rows:
                position = 0 if positions is None else positions[row]
                sums[position] += weights[row]
                sizes[position] += data.n_behind(row)
            found += [exact(number / whole) for number in sums]
            numbers += sizes
        stated = tree.counts[node] if tree.rows is None else tree.rows[node]
        if not _are_equal(tree.counts[node], found):
            audit.compare(f"{named} of node {node}", list(tree.counts[node]), found)
        elif not _are_equal(stated, numbers):
            audit.compare(f"rows of node {node}", list(stated), numbers)
    audit.done("the number and the weight of the rows in every node")


def weight_unit(data: Data) -> Fraction:
    """Return what weights of nodes are multiples of: 1, or near the ends of float64 all weight."""
    total = Fraction(sum(data.sample_weights.values()))
    return Fraction(1) if Fraction(1, 10**290) <= total <= 10**290 else total


def _are_equal(stated: Sequence[Any], found: Sequence[Exact]) -> bool:
    """Return whether a tree, whose numbers are integers or float64, states these."""
    return list(map(float, stated)) == list(map(float, found))
