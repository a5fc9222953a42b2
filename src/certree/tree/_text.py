"""The tree as indented text.

One line per branch, and a leaf on the line of the branch that leads to it::

    age <= 35.5
    |   color = red: yes (11 of 12, 91.7%)
    |   color != red: no (8 of 8, 100.0%)
    age > 35.5: no (40 of 43, 93.0%)

``11 of 12, 91.7%`` reads: of 12 training rows in this leaf, 11 have the predicted class, a share of
91.7%. Where rows had weights, the share is that of weight: ``11 of 12 rows, 93.4% of weight 30.5``.
A branch says ``or missing`` if missing values take it and the column had some in training. Leaves
that hold no labels show their rows, or what a note says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._leaf_style import content_name, support
from ._wording import condition, shorten

if TYPE_CHECKING:
    from ._tree import Tree

# Names longer than this lose their middle, so that one long category cannot hide the tree.
_WIDTH = 120


def to_text(tree: Tree, max_depth: int | None, decimals: int | None, show_counts: bool) -> str:
    """Return the lines of the tree."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be at least 0 or None, got {max_depth}.")
    lines = []
    for node in tree.preorder.tolist():
        depth = int(tree.node_depth[node])
        if max_depth is not None and depth > max_depth:
            continue
        ending = ""
        if tree.test[node] < 0:
            ending = _leaf(tree, node, decimals, show_counts)
        elif depth == max_depth:
            splits = _splits_below(tree, node)
            ending = f"... ({splits} {'split' if splits == 1 else 'splits'})"
        if depth == 0:
            if ending:
                # Some leaves name what they predict themselves: "risk 0.5".
                is_named = tree.n_splits > 0 or ending.startswith(f"{tree.payload.noun} ")
                lines.append(ending if is_named else f"{tree.payload.noun}: {ending}")
            continue
        above = int(tree.parent[node])
        branch = condition(tree, above, node - int(tree.first_child[above]), decimals)
        line = "|   " * (depth - 1) + shorten(branch, _WIDTH)
        lines.append(f"{line}: {ending}" if ending else line)
    return "\n".join(lines)


def _leaf(tree: Tree, node: int, decimals: int | None, show_counts: bool) -> str:
    """Return what the leaf predicts and how well."""
    name = shorten(content_name(tree, int(tree.label[node])), _WIDTH)
    if not show_counts:
        return name
    if not tree.counts[node].any():
        return f"{name} (no training rows)"
    if tree.notes is not None:
        return f"{name} ({support(tree, node)})"
    return f"{name} ({', '.join(tree.payload.support(node, decimals))})"


def _splits_below(tree: Tree, top: int) -> int:
    """Count the tests in the subtree of a node."""
    count, stack = 0, [top]
    while stack:
        node = stack.pop()
        count += int(tree.test[node] >= 0)
        stack += tree.children(node)
    return count
