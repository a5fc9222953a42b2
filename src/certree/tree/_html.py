"""The tree as HTML: an inline drawing, and the same as text for screen readers and for copying.

The fragment brings its style along under its own class names, uses no script and loads nothing.
Colours are those of the surrounding page, so it can be read on light and dark paper.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import TYPE_CHECKING

from ._layout import centres
from ._leaf_look import PALETTE, bars, colour, content_name, node_lines
from ._leaf_text import answer, one_line, shorten, text_width
from ._payload_labels import Labels, percent

if TYPE_CHECKING:
    from ._tree import Tree

_WIDTH = 36  # characters per line; the full name is in the tooltip
_CHARACTER = 7.4  # pixels, generous for the system font at 13 px
_LINE, _PAD, _MARGIN, _GAP, _LEVEL = 17.0, 10.0, 8.0, 16.0, 98.0
_INNER_HEIGHT, _LEAF_HEIGHT = 38.0, 54.0

_STYLE = """
.certree{margin:0;font:13px/1.4 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:inherit}
.certree figcaption{margin:0 0 .5em}
.certree .certree-view{overflow-x:auto}
.certree svg{display:block;max-width:none}
.certree svg text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
fill:currentColor;text-anchor:middle}
.certree svg .small{font-size:11px;opacity:.75}
.certree svg .class{font-weight:600}
.certree svg .edge{fill:none;stroke:currentColor;stroke-opacity:.45}
.certree svg .split{fill:currentColor;fill-opacity:.05;stroke:currentColor;stroke-opacity:.45}
.certree svg .leaf{fill-opacity:.13;stroke-width:1.5}
.certree ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:.3em 0 0;padding:0}
.certree li span{display:inline-block;width:.75em;height:.75em;border-radius:2px;margin-right:.4em}
.certree details{margin-top:.6em}
.certree summary{cursor:pointer}
.certree pre{overflow-x:auto;font:12px/1.5 ui-monospace,Menlo,Consolas,monospace}
"""


def to_html(tree: Tree, title: str | None, decimals: int | None, page: bool) -> str:
    """Return the fragment, or a whole document around it."""
    heading = title if title is not None else _size(tree)
    text = tree.to_text(decimals=decimals)
    # Several trees on one page must not share ids; equal trees may, they say the same.
    name = (
        "certree-"
        + hashlib.sha256(f"{heading}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    )
    fragment = (
        f'<figure class="certree"><style>{_STYLE}</style>\n'
        f"<figcaption><strong>{escape(heading)}</strong>{_legend(tree)}</figcaption>\n"
        f'<div class="certree-view" tabindex="0" role="group" aria-label="Drawing of the tree">\n'
        f"{_svg(tree, decimals, heading, name)}\n</div>\n"
        f"<details><summary>The tree as text</summary>\n<pre>{escape(text)}</pre></details>\n"
        f"</figure>"
    )
    if not page:
        return fragment
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n"
        "<style>:root{color-scheme:light dark}body{margin:2rem}</style>\n"
        f"</head>\n<body>\n<main>\n{fragment}\n</main>\n</body>\n</html>\n"
    )


def _size(tree: Tree) -> str:
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    splits = "1 split" if tree.n_splits == 1 else f"{tree.n_splits} splits"
    return f"Decision tree: {splits}, {leaves}, depth {tree.depth}"


def _legend(tree: Tree) -> str:
    """Return what the colours stand for, as many as there are."""
    items = "".join(
        f'<li><span style="background:{PALETTE[label]}"></span>'
        f"{escape(shorten(content_name(tree, label), _WIDTH))}</li>"
        for label in range(min(tree.payload.n_contents, len(PALETTE)))
    )
    title = "Classes" if isinstance(tree.payload, Labels) else "Predictions"
    return f'<ul aria-label="{title}">{items}</ul>'


def _svg(tree: Tree, decimals: int | None, heading: str, name: str) -> str:
    texts = [node_lines(tree, node, decimals) for node in range(tree.n_nodes)]
    captions = [answer(tree, node) for node in range(tree.n_nodes)]
    boxes = [
        max(72.0, max(text_width(shorten(t, _WIDTH)) for t in lines) * _CHARACTER + 2 * _PAD)
        for lines in texts
    ]
    widths = [
        max(box, text_width(shorten(caption, _WIDTH)) * _CHARACTER)
        for box, caption in zip(boxes, captions, strict=True)
    ]
    x = [_MARGIN + centre for centre in centres(tree, widths, _GAP)]
    parts, shares = [], bars(tree)
    for node in tree.preorder.tolist():
        top = _MARGIN + float(tree.node_depth[node]) * _LEVEL
        for child in tree.children(node):
            parts.append(_edge(x[node], x[child], top, captions[child]))
        parts.append(_node(tree, node, x[node], top, boxes[node], texts[node], shares[node]))
    width = max(a + b / 2 for a, b in zip(x, widths, strict=True)) + _MARGIN
    height = 2 * _MARGIN + tree.depth * _LEVEL + _LEAF_HEIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{name}-t {name}-d" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f'<title id="{name}-t">{escape(heading)}</title>'
        f'<desc id="{name}-d">The tree is written out below the drawing.</desc>\n'
        + "\n".join(parts)
        + "</svg>"
    )


def _edge(x: float, child_x: float, top: float, caption: str) -> str:
    start, end = top + _INNER_HEIGHT, top + _LEVEL
    # Below the tallest box of the level, so that a line never runs through a neighbour.
    bend = top + _LEAF_HEIGHT + 8
    return (
        f'<path class="edge" d="M{x:.1f} {start:.1f}V{bend:.1f}H{child_x:.1f}V{end - 19:.1f}"/>'
        + _text(child_x, end - 7, caption, "small")
    )


def _node(
    tree: Tree,
    node: int,
    x: float,
    top: float,
    width: float,
    lines: list[str],
    shares: list[tuple[int, float]],
) -> str:
    leaf = tree.test[node] < 0
    left, height = x - width / 2, _LEAF_HEIGHT if leaf else _INNER_HEIGHT
    style = 'class="split"'
    if leaf:
        shade = colour(int(tree.label[node]))
        style = f'class="leaf" fill="{shade}" stroke="{shade}"'
    tooltip = "; ".join(one_line(line) for line in lines)
    box = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="6"'
    title = f"{tooltip} ({_told(tree, node, shares)})"
    parts = [f"<g><title>{escape(title)}</title><rect {style} {box}/>"]
    for i, line in enumerate(lines):
        kind = "small" if i else "class" if leaf else ""
        parts.append(_text(x, top + 18 + i * _LINE, line, kind))
    parts.append(_bar(shares, left + _PAD, top + height - 11, width - 2 * _PAD))
    return "".join(parts) + "</g>"


def _bar(shares: list[tuple[int, float]], left: float, top: float, width: float) -> str:
    """Return the shares of a node as a thin stacked bar."""
    parts = []
    for content, part in shares:
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{part * width:.1f}" height="4" '
            f'fill="{colour(content)}"/>'
        )
        left += part * width
    return "".join(parts)


def _text(x: float, y: float, text: str, kind: str) -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute} x="{x:.1f}" y="{y:.1f}">{escape(shorten(text, _WIDTH))}</text>'


def _told(tree: Tree, node: int, shares: list[tuple[int, float]]) -> str:
    """Return the shares of a node in words, or its weight if there are too many."""
    if not shares:
        return tree.payload.support(node)[0]
    return ", ".join(
        f"{shorten(content_name(tree, content), _WIDTH)} {percent(part)}"
        for content, part in shares
    )
