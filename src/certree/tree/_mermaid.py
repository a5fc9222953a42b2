"""The tree as a flowchart in the language of Mermaid, which Markdown pages draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._leaf_style import colours, fitted_lines
from ._wording import fitted_answer, shorten

if TYPE_CHECKING:
    from ._tree import Tree

_WIDTH = 60

# Letters, digits and these stand for themselves; all else could be read as a mark of the language.
_SAFE = frozenset(" .,:()%=+-'/_?!")


def to_mermaid(tree: Tree, decimals: int | None, show_counts: bool) -> str:
    """Return the lines of a flowchart from top to bottom."""
    lines, shades = ["flowchart TD"], colours(tree)
    for node in tree.preorder.tolist():
        lines_of = fitted_lines(tree, node, decimals, show_counts, _WIDTH)
        text = "<br/>".join(map(_escape, lines_of))
        is_leaf = tree.test[node] < 0
        lines.append(f'  n{node}(["{text}"])' if is_leaf else f'  n{node}["{text}"]')
        for child in tree.children(node):
            lines.append(f'  n{node} -->|"{_escape(fitted_answer(tree, child, _WIDTH))}"| n{child}')
        if is_leaf:
            shade = shades.contents[int(tree.label[node])]
            lines.append(f"  style n{node} stroke:{shade},stroke-width:2px")
    return "\n".join(lines) + "\n"


def _escape(text: str) -> str:
    """Return a text in which every mark of the language is written by its number."""
    return "".join(
        letter if letter in _SAFE or (letter.isalnum() and letter.isascii()) else f"#{ord(letter)};"
        for letter in shorten(text, _WIDTH)
    )
