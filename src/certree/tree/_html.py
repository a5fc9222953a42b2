"""The tree as HTML: a drawing that can be folded and asked, and the same without a script.

A fragment brings style and script along, under class names of its own, and loads nothing. It first
holds the static drawing; the script puts the other one in its place. So the tree can be read where
scripts do not run. Colours of text and lines are those of the surrounding page.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ._leaf_style import SCALE, Colours, colours, content_name, support
from ._payload_labels import Labels
from ._svg import draw
from ._view import view
from ._wording import answer, one_line, question, shorten

if TYPE_CHECKING:
    from ._tree import Tree

_WIDTH = 36  # characters of a name in the legend; the full one is in the tooltip
_READABLE = 0.6  # the least size of letters in the drawing, as a share of their full size

_MOUNT = """
document.querySelectorAll(".certree-app:not([data-ready])").forEach(function (host) {
  host.setAttribute("data-ready", "");
  const data = JSON.parse(host.querySelector(".certree-data").textContent);
  new TreeView(host.querySelector(".tree"), data);
});
"""


@cache
def asset(package: str, name: str) -> str:
    """Return the text of a file that is shipped beside the code."""
    return (files(package) / "assets" / name).read_text(encoding="utf-8")


def style_of_trees() -> str:
    """Return the style of trees, as it stands in a page."""
    return asset("certree.tree", "tree.css")


def script_of_trees() -> str:
    """Return the script of trees; it declares `TreeView`."""
    return asset("certree.tree", "tree.js")


def embedded(data: Any) -> str:
    """Return data as JSON that can stand within a script element, whatever texts it holds."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def to_html(
    tree: Tree, title: str | None, decimals: int | None, page: bool, interactive: bool
) -> str:
    """Return the fragment, or a whole document around it."""
    heading = title if title is not None else size_of(tree)
    fragment = static_figure(tree, heading, decimals)
    if interactive:
        data = embedded(view(tree, heading, decimals))
        fragment = (
            f'<div class="certree certree-app"><style>{style_of_trees()}</style>\n'
            f'<div class="tree">{fragment}</div>\n'
            f'<script type="application/json" class="certree-data">{data}</script>\n'
            f'<script>(function () {{\n"use strict";\n{script_of_trees()}{_MOUNT}}})();</script>\n'
            "</div>"
        )
    else:
        fragment = f'<div class="certree"><style>{style_of_trees()}</style>\n{fragment}\n</div>'
    return document(heading, fragment) if page else fragment


def document(heading: str, fragment: str) -> str:
    """Return a whole document around a fragment."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n"
        "<style>:root{color-scheme:light dark;scrollbar-gutter:stable;--certree-paper:960 560}"
        "body{margin:1.5rem}"
        "@page{size:landscape;margin:12mm}"
        "@media print{:root{color-scheme:light}body{margin:0}}</style>\n"
        f"</head>\n<body>\n<main>\n{fragment}\n</main>\n</body>\n</html>\n"
    )


def static_figure(tree: Tree, heading: str, decimals: int | None) -> str:
    """Return the drawing without a script, and the same as a list and as text."""
    text = tree.to_text(decimals=decimals)
    # Several trees on one page must not share ids; equal trees may, they say the same.
    told = f"{heading}\n{text}".encode("utf-8", "surrogatepass")
    name = "certree-" + hashlib.sha256(told).hexdigest()[:12]
    drawing = draw(tree, decimals, heading, name)
    return (
        f'<figure class="static" id="{name}" style="margin:0">'
        f"<style>@container (max-width:{_READABLE * drawing.width:.0f}px){{"
        f"#{name} .drawing{{display:none}}#{name} .outline{{display:block}}}}</style>\n"
        f"<figcaption><strong>{escape(heading)}</strong>{legend(tree)}</figcaption>\n"
        f"{drawing.svg}\n{_outline(tree, decimals)}\n"
        f"<details><summary>The tree as text</summary>\n<pre>{escape(text)}</pre></details>\n"
        "</figure>"
    )


def size_of(tree: Tree) -> str:
    """Return the size of a tree in words."""
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    splits = "1 split" if tree.n_splits == 1 else f"{tree.n_splits} splits"
    return f"Decision tree: {splits}, {leaves}, depth {tree.depth}"


def legend(tree: Tree) -> str:
    """Return what the colours stand for: every class, or the ends of a scale."""
    shades = colours(tree)
    if shades.is_scale:
        return _ramp(shades)
    items = []
    for content, shade in enumerate(shades.contents):
        name = content_name(tree, content)
        items.append(
            f'<li title="{escape(name)}"><span class="swatch" style="background:{shade}"></span>'
            f"{escape(shorten(name, _WIDTH))}</li>"
        )
    title = "Classes" if isinstance(tree.payload, Labels) else "Predictions"
    return f'<ul class="legend" aria-label="{title}">{"".join(items)}</ul>'


def _ramp(shades: Colours) -> str:
    low, high = f"{shades.low:.6g}", f"{shades.high:.6g}"
    return (
        f'<div class="scale" role="img" aria-label="Colours from {low} (light) to {high} (dark)">'
        f"<span>Prediction</span><span>{low}</span>"
        f'<span class="ramp" style="background:linear-gradient(to right,{",".join(SCALE)})"></span>'
        f"<span>{high}</span></div>"
    )


def _outline(tree: Tree, decimals: int | None) -> str:
    """Return the tree as a list that is indented and may be as narrow as it likes."""
    items = []
    for node in tree.preorder.tolist():
        led = f"{escape(one_line(answer(tree, node)))}: " if node else ""
        if tree.test[node] < 0:
            name = escape(one_line(content_name(tree, int(tree.label[node]))))
            told = f"<b>{name}</b>, {escape(support(tree, node, decimals))}"
        else:
            told = escape(one_line(question(tree, node, decimals))) + "?"
        items.append(f'<li style="--level:{tree.node_depth[node]}">{led}{told}</li>')
    return f'<ul class="outline">{"".join(items)}</ul>'
