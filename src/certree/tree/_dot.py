"""The tree in the language of Graphviz (``dot -Tsvg``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._leaf_style import colours, fitted_lines, node_lines
from ._wording import answer, fitted_answer, one_line, shorten

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
        short = fitted_lines(tree, node, decimals, show_counts, _WIDTH)
        full = node_lines(tree, node, decimals, show_counts)
        lines.append(f"  n{node} [{_texts(short, full)}{style}];")
        for child in tree.children(node):
            texts = _texts([fitted_answer(tree, child, _WIDTH)], [answer(tree, child)])
            lines.append(f"  n{node} -> n{child} [{texts}];")
    return _HEAD + "\n".join(lines) + "\n}\n"


def _texts(short: list[str], full: list[str]) -> str:
    """Return the label, and the tooltip with all that it is short for."""
    label = "\\n".join(_escape(shorten(line, _WIDTH)) for line in short)
    tooltip = "\\n".join(_escape(one_line(line)) for line in full)
    return f'label="{label}", tooltip="{tooltip}"'


def _escape(text: str) -> str:
    # A backslash starts an escape sequence in labels (\N is the node's name), a quotation mark
    # ends the string, and an ampersand may start an HTML entity.
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
