"""The tree as one drawing in SVG, without a script: it scales with the place that it gets."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._layout import Box, layout
from ._leaf_style import BarPart, Colours, bars, colours, content_name, node_lines
from ._payload_labels import percent
from ._sketch import Point, Sketch
from ._wording import fitted_answer, fitted_question, one_line, shorten, text_width

if TYPE_CHECKING:
    from ._tree import Tree

_WIDTH = 26  # characters per line; the full text is in the tooltip
_CHARACTER = 7.2  # pixels, generous for the system font at 13 px
_LINE, _PAD, _MARGIN, _GAP = 17.0, 9.0, 6.0, 12.0
_CAPTION, _BEND = 19.0, 10.0  # room for the answer above a box, and for lines to turn
_PICTURE = (132.0, 62.0)  # size of the small picture in a leaf
_MOST_TOLD = 8
_SHORT = 11  # characters that always stay on one line
_SIGN = re.compile(r" (?=(?:<=|>|!?=|in) .{1,20}$|\(|deviation |loss )")


class Drawing(NamedTuple):
    """A drawing, and its width in pixels where letters have their full size."""

    svg: str
    width: float


class _Texts(NamedTuple):
    """What a node says in full, and the lines that stand in its box."""

    full: list[str]
    lines: list[str]


def draw(tree: Tree, decimals: int | None, heading: str, name: str) -> Drawing:
    """Draw the tree; `name` is the beginning of the ids of the drawing."""
    texts = [node_lines(tree, node, decimals) for node in range(tree.n_nodes)]
    captions = [fitted_answer(tree, node, _WIDTH) for node in range(tree.n_nodes)]
    lines = [
        fitted_question(tree, node, decimals, _WIDTH)
        if tree.test[node] >= 0 and len(told[0]) > _SHORT
        else [part for text in told for part in _folded(text)]
        for node, told in enumerate(texts)
    ]
    boxes, width, height = layout(
        tree,
        _sizes(tree, lines),
        [text_width(caption) * 0.9 * _CHARACTER for caption in captions],
        gap=_GAP,
        between=_CAPTION + 2 * _BEND,
        margin=_MARGIN,
    )
    parts, shares, shades = [], bars(tree), colours(tree)
    for node in tree.preorder.tolist():
        for child in tree.children(node):
            parts.append(_edge(boxes[node], boxes[child], captions[child]))
        told = _Texts(texts[node], lines[node])
        parts.append(_node(tree, node, boxes[node], told, shares[node], shades))
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
        f'aria-labelledby="{name}-t {name}-d" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px">'
        f'<title id="{name}-t">{escape(heading)}</title>'
        f'<desc id="{name}-d">The tree is written out below the drawing.</desc>\n'
        + "\n".join(parts)
        + "</svg>"
    )
    return Drawing(svg, width)


def _sizes(tree: Tree, lines: list[list[str]]) -> list[tuple[float, float]]:
    """Return the width and height of every box."""
    widths = [max(62.0, max(map(text_width, own)) * _CHARACTER + 2 * _PAD) for own in lines]
    # The bar of shares takes half a line.
    heights = [len(own) * _LINE + _LINE / 2 + _PAD for own in lines]
    for node in np.flatnonzero(tree.test < 0).tolist():
        if tree.payload.sketch(node) is not None:
            widths[node] = max(widths[node], _PICTURE[0] + 2 * _PAD)
            heights[node] += _PICTURE[1]
    return list(zip(widths, heights, strict=True))


def _folded(text: str) -> list[str]:
    """Return a text as one line, or as two: before a sign or bracket, else about in the middle."""
    text = shorten(text, 2 * _WIDTH - 2)
    cuts = [match.start() for match in _SIGN.finditer(text)] if len(text) > _SHORT else []
    if not cuts and len(text) > 16:
        cuts = [place for place, character in enumerate(text) if character == " "]
    if not cuts:
        return [shorten(text, _WIDTH)]
    cut = min(cuts, key=lambda place: abs(2 * place - len(text)))
    return [shorten(text[:cut], _WIDTH), shorten(text[cut + 1 :], _WIDTH)]


def _edge(box: Box, child: Box, caption: str) -> str:
    end = child.top - _CAPTION
    return (
        f'<path class="edge" d="M{box.x:.1f} {box.top + box.height:.1f}V{end - _BEND:.1f}'
        f'H{child.x:.1f}V{end:.1f}"/>' + _text(child.x, child.top - 6, caption, "small")
    )


def _node(
    tree: Tree,
    node: int,
    box: Box,
    told: _Texts,
    shares: list[BarPart],
    shades: Colours,
) -> str:
    style, ink, is_leaf = 'class="split"', "", tree.test[node] < 0
    if is_leaf:
        content = int(tree.label[node])
        shade = shades.contents[content]
        style = f'class="leaf" fill="{shade}" stroke="{shade}"'
        if shades.is_scale:
            style = f'class="amount" fill="{shade}" stroke="{shade}"'
            ink = f' style="fill:{shades.ink(content)}"'
    left = box.x - box.width / 2
    frame = f'x="{left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    title = f"{'; '.join(map(one_line, told.full))} ({_told(tree, node, shares)})"
    parts = [f'<g><title>{escape(title)}</title><rect {style} {frame} rx="6"/>']
    n_first = len(_folded(told.full[0])) if is_leaf else len(told.lines)
    for i, line in enumerate(told.lines):
        kind = "small" if i >= n_first else "class" if is_leaf else ""
        parts.append(_text(box.x, box.top + 18 + i * _LINE, line, kind, ink))
    sketch = tree.payload.sketch(node) if is_leaf else None
    if sketch is not None:
        top = box.top + box.height - _PICTURE[1] - _PAD
        parts.append(_picture(sketch, box.x - _PICTURE[0] / 2, top))
    if not (is_leaf and shades.is_scale):
        place = (left + _PAD, box.top + box.height - 11, box.width - 2 * _PAD)
        parts.append(_bar(shares, place, shades))
    return "".join(parts) + "</g>"


def _bar(shares: list[BarPart], place: tuple[float, float, float], shades: Colours) -> str:
    """Return the shares of a node as a thin stacked bar."""
    left, top, width = place
    parts = []
    for content, part, _ in shares:
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{part * width:.1f}" height="4" '
            f'fill="{shades.contents[content]}"/>'
        )
        left += part * width
    return "".join(parts)


def _picture(sketch: Sketch, left: float, top: float) -> str:
    """Return the small picture of a leaf: a band, a curve, and the ends of the axis."""
    width, height = _PICTURE[0] - 10, _PICTURE[1] - 20

    def path(points: list[Point]) -> str:
        return "L".join(
            f"{left + 5 + x * width:.1f} {top + 5 + (1 - y) * height:.1f}" for x, y in points
        )

    base = top + 5 + height
    return (
        f'<g class="sketch"><title>{escape(sketch.told)}</title>'
        f'<rect class="paper" x="{left:.1f}" y="{top:.1f}" width="{_PICTURE[0]:.0f}" '
        f'height="{_PICTURE[1]:.0f}" rx="4"/><path class="band" d="M{path(sketch.band)}Z"/>'
        f'<path class="axis" d="M{left + 5:.1f} {top + 5:.1f}V{base:.1f}h{width:.1f}"/>'
        f'<path class="curve" d="M{path(sketch.line)}"/>'
        f'<text class="first" x="{left + 5:.1f}" y="{base + 11:.1f}">{escape(sketch.first)}</text>'
        f'<text class="last" x="{left + 5 + width:.1f}" y="{base + 11:.1f}">'
        f"{escape(sketch.last)}</text></g>"
    )


def _text(x: float, y: float, text: str, kind: str, ink: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'<text{attribute}{ink} x="{x:.1f}" y="{y:.1f}">{escape(shorten(text, _WIDTH))}</text>'


def _told(tree: Tree, node: int, shares: list[BarPart]) -> str:
    """Return the shares of a node in words, or its rows if there are too many."""
    if not 0 < len(shares) <= _MOST_TOLD:
        return tree.payload.support(node)[0] if tree.test[node] < 0 else "many predictions"
    return ", ".join(
        f"{shorten(content_name(tree, part.content), _WIDTH)} {percent(part.share)}"
        for part in shares
    )
