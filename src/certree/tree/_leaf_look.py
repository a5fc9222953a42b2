"""How leaves look in text and pictures: names, what stands below them, colours, bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._leaf_text import one_line, plain, question
from ._payload_labels import Labels
from ._structure import add_up

if TYPE_CHECKING:
    from ._tree import Tree

# Eight hues that stay apart for colour-blind readers; classes beyond the eighth start again.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#8C7A00",
    "#777777",
)


def content_name(tree: Tree, content: int) -> str:
    """Return what leaves may hold as text; beside notes labels that are numbers have six digits."""
    payload = tree.payload
    if tree.notes is not None and isinstance(payload, Labels):
        value = plain(payload.values[content])
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return payload.name(content)


def support(tree: Tree, node: int, decimals: int | None = None) -> str:
    """Return what stands below the prediction of a leaf: its note, or what its rows say."""
    if tree.notes is not None:
        return one_line(tree.notes[node])
    first, *rest = tree.payload.support(node, decimals)
    return f"{first} ({', '.join(rest)})" if rest else first


def node_lines(tree: Tree, node: int, decimals: int | None, show_counts: bool = True) -> list[str]:
    """Return what stands in the box of a node: its question, or what it holds and its support."""
    if tree.test[node] >= 0:
        return [question(tree, node, decimals)]
    lines = [content_name(tree, int(tree.label[node]))]
    return [*lines, support(tree, node, decimals)] if show_counts else lines


def colour(content: int) -> str:
    """Return the colour of leaves that hold content number `content`."""
    return PALETTE[content % len(PALETTE)]


def bars(tree: Tree) -> list[list[tuple[int, float]]]:
    """Return the bar of each node: what leaves may hold, and its share of the training weight.

    The weight is that of the rows of a class, or of those that get a prediction; of predictions
    only if there are no more than colours.
    """
    if isinstance(tree.payload, Labels):
        shares = tree.probabilities
    elif tree.payload.n_contents > len(PALETTE):
        return [[] for _ in range(tree.n_nodes)]
    else:
        cells = np.zeros((tree.n_nodes, tree.payload.n_contents))
        leaf = np.flatnonzero(tree.test < 0)
        cells[leaf, tree.label[leaf]] = tree.weights[leaf]
        cells = add_up(tree, cells)
        totals = cells.sum(axis=1, keepdims=True)
        shares = cells / np.where(totals > 0, totals, 1.0)
    return [
        [(content, share) for content, share in enumerate(line) if share > 0]
        for line in shares.tolist()
    ]
