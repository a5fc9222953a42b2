"""Where the nodes of a drawing go: a tidy tree with nodes of different widths.

Subtrees are packed from the bottom up. Each keeps its outline, the leftmost and rightmost extent
per level; siblings move together until their outlines touch, and a parent sits midway between its
first and last child. So nothing overlaps, equal subtrees look equal, and the drawing is narrow.
`_svg` and `_plot` draw the boxes, each in its own unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._tree import Tree

# Leftmost and rightmost extent per level below a node, relative to the node's centre.
_Outline = list[tuple[float, float]]


class Box(NamedTuple):
    """Where the box of a node is: its middle, its upper end, and its size."""

    x: float
    top: float
    width: float
    height: float


class PlacedBoxes(NamedTuple):
    """The boxes of all nodes, and the size of the drawing."""

    boxes: list[Box]
    width: float
    height: float


def layout(
    tree: Tree,
    sizes: Sequence[tuple[float, float]],
    captions: Sequence[float],
    *,
    gap: float,
    between: float,
    margin: float,
) -> PlacedBoxes:
    """Return where all nodes go; a level is as tall as its tallest box.

    Parameters
    ----------
    tree : Tree
        The tree.
    sizes : sequence of (width, height)
        Of the box of each node.
    captions : sequence of float
        Width of the answer above each box.
    gap : float
        Least distance between neighbours on a level.
    between : float
        Distance between two levels.
    margin : float
        Around the drawing.
    """
    taken = [max(width, caption) for (width, _), caption in zip(sizes, captions, strict=True)]
    middles = centres(tree, taken, gap)
    levels = tree.node_depth.tolist()
    tallest = [0.0] * (tree.depth + 1)
    for level, (_, height) in zip(levels, sizes, strict=True):
        tallest[level] = max(tallest[level], height)
    tops = [margin]
    for height in tallest:
        tops.append(tops[-1] + height + between)
    boxes = [
        Box(margin + x, tops[level], *size)
        for x, level, size in zip(middles, levels, sizes, strict=True)
    ]
    right = max(box.x + width / 2 for box, width in zip(boxes, taken, strict=True))
    return PlacedBoxes(boxes, right + margin, max(box.top + box.height for box in boxes) + margin)


def centres(tree: Tree, widths: Sequence[float], gap: float) -> list[float]:
    """Return the horizontal centre of each node; the leftmost edge of the drawing is 0.

    Parameters
    ----------
    tree : Tree
        The tree.
    widths : sequence of float
        Width of each node.
    gap : float
        Least distance between neighbours on a level.
    """
    outlines: dict[int, _Outline] = {}
    offsets = [0.0] * tree.n_nodes  # relative to the parent
    for node in reversed(tree.preorder.tolist()):
        children = tree.children(node)
        places = _pack([outlines.pop(child) for child in children], gap)
        middle = (places[0][0] + places[-1][0]) / 2 if places else 0.0
        for child, (place, _) in zip(children, places, strict=True):
            offsets[child] = place - middle
        below = _merge([(place - middle, outline) for place, outline in places])
        outlines[node] = [(-widths[node] / 2, widths[node] / 2), *below]
    result = [0.0] * tree.n_nodes
    result[0] = -min(left for left, _ in outlines[0])
    for node in tree.preorder.tolist()[1:]:
        result[node] = result[int(tree.parent[node])] + offsets[node]
    return result


def _pack(outlines: list[_Outline], gap: float) -> list[tuple[float, _Outline]]:
    """Place subtrees side by side, each as far left as the ones before it allow."""
    placed: list[tuple[float, _Outline]] = []
    right: list[float] = []  # the right edge of all subtrees placed so far, per level
    for outline in outlines:
        place = max(
            (edge + gap - left for edge, (left, _) in zip(right, outline, strict=False)),
            default=0.0,
        )
        edges = [place + extent for _, extent in outline]
        right = edges + right[len(edges) :]
        placed.append((place, outline))
    return placed


def _merge(placed: list[tuple[float, _Outline]]) -> _Outline:
    """Return the outline of several placed subtrees."""
    result: _Outline = []
    for place, outline in placed:
        for level, (left, right) in enumerate(outline):
            if level == len(result):
                result.append((place + left, place + right))
            else:
                old_left, old_right = result[level]
                result[level] = (min(old_left, place + left), max(old_right, place + right))
    return result
