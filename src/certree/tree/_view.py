"""The tree as the data that its page draws: texts, rules, rows and colours, as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._leaf_style import SCALE, BarPart, bars, colours, content_name, node_lines, support
from ._payload_labels import Labels
from ._rules import conditions, merged
from ._wording import answer, one_line, question_parts

if TYPE_CHECKING:
    from ._tree import Tree

_MOST_STEPS = 100  # of a rule


def view(
    tree: Tree,
    title: str,
    decimals: int | None = None,
    *,
    noun: str | None = None,
) -> dict[str, Any]:
    """Return what a page needs to know of a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    title : str
        What it is called.
    decimals : int, optional
        Digits after the point of thresholds and weights.
    noun : str, optional
        What a leaf predicts, in one word; by default as the leaves say.
    """
    shades, shares = colours(tree), bars(tree)
    scale = None
    if shades.is_scale:
        scale = {"low": f"{shades.low:.6g}", "high": f"{shades.high:.6g}", "stops": list(SCALE)}
    contents = range(tree.payload.n_contents)
    return {
        "title": one_line(title),
        "noun": tree.payload.noun if noun is None else noun,
        "classes": isinstance(tree.payload, Labels) and scale is None,
        "contents": [one_line(content_name(tree, content)) for content in contents],
        "colours": list(shades.contents),
        "inks": [shades.ink(content) for content in contents] if scale else None,
        "scale": scale,
        "nodes": [_node(tree, node, decimals, shares[node]) for node in range(tree.n_nodes)],
    }


def _rule(tree: Tree, node: int) -> list[str]:
    """Return the conditions of a node; of a very deep one, how many there are."""
    depth = int(tree.node_depth[node])
    if depth > _MOST_STEPS:
        return [f"the {depth} answers above"]
    return list(merged(conditions(tree, node)))


def _sketch(tree: Tree, node: int) -> dict[str, Any] | None:
    sketch = tree.payload.sketch(node)
    return None if sketch is None else sketch.to_dict()


def _node(
    tree: Tree, node: int, decimals: int | None, parts_of_bar: list[BarPart]
) -> dict[str, Any]:
    is_leaf = bool(tree.test[node] < 0)
    payload, rows = tree.payload, tree.payload.node_rows
    children = tree.children(node)
    first, *parts = map(one_line, node_lines(tree, node, decimals, show_counts=False))
    return {
        "parent": int(tree.parent[node]),
        "children": [children.start, len(children)] if children else [],
        "answer": one_line(answer(tree, node)),
        "says": first,
        "asks": [] if is_leaf else list(question_parts(tree, node, decimals)),
        "parts": parts,
        "told": support(tree, node, decimals) if is_leaf else "",
        "label": int(tree.label[node]),
        "rows": None if rows is None else int(rows[node]),
        "weight": float(payload.weights[node]) if payload.is_weighted else None,
        "mix": [
            [content, float(f"{share:.6g}"), number] for content, share, number in parts_of_bar
        ],
        "rule": _rule(tree, node),
        "sketch": _sketch(tree, node) if is_leaf else None,
        "note": "" if tree.notes is None else one_line(tree.notes[node]),
    }
