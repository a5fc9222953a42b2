"""The tree in the language of Graphviz (``dot -Tsvg``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._leaf_look import colours, node_lines
from ._wording import answer, one_line, shorten

if TYPE_CHECKING:
    from ._tree import Tree

_WIDTH = 48

_HEAD = """digraph tree {
  charset="UTF-8";
  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11,
        color="#8a8f98", fillcolor="#f5f6f8", fontcolor="#1f2328"];
  edge [fontname="Helvetica", fontsize=10, color="#8a8f98", fontcolor="#57606a"];
"""


def to_dot(tree: Tree, decimals: int | None, show_counts: bool) -> str:
    """Return the text of a directed graph; full names are in the tooltips."""
    lines, shades = [], colours(tree)
    for node in tree.preorder.tolist():
        style = ""
        if tree.test[node] < 0:
            content = int(tree.label[node])
            shade = shades.contents[content]
            style = f', color="{shade}", fillcolor="{shade}22"'
            if shades.is_scale:
                style = f', color="{shade}", fillcolor="{shade}", fontcolor="{shades.ink(content)}"'
        texts = node_lines(tree, node, decimals, show_counts)
        lines.append(f"  n{node} [{_texts(texts)}{style}];")
        for child in tree.children(node):
            lines.append(f"  n{node} -> n{child} [{_texts([answer(tree, child)])}];")
    return _HEAD + "\n".join(lines) + "\n}\n"


def _texts(lines: list[str]) -> str:
    """Return the label, lines shortened, and the tooltip, lines in full."""
    label = "\\n".join(_escape(shorten(line, _WIDTH)) for line in lines)
    tooltip = "\\n".join(_escape(one_line(line)) for line in lines)
    return f'label="{label}", tooltip="{tooltip}"'


def _escape(text: str) -> str:
    # A backslash starts an escape sequence in labels (\N is the node's name), a quotation mark
    # ends the string, and an ampersand may start an HTML entity.
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
