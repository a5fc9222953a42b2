"""The tree drawn with matplotlib.

Sizes are computed in points for the wanted font, and the axes are scaled so that one unit is one
point (or less, if the axes are too small, text and boxes alike). So what does not overlap in the
layout does not overlap on the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._layout import layout
from ._leaf_style import bars, colours, fitted_lines, mixed
from ._sketch import Point
from ._wording import fitted_answer, one_line, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._tree import Tree

_INK, _LINE, _PAPER, _FAINT = "#1f2328", "#8a8f98", "#f5f6f8", "#57606a"
_CURVE, _BAND = "#0b4f8a", "#c9dcee"
_WIDTH = 32  # characters per line; longer names of columns lose their middle
_BETWEEN = 2.2  # lines between two levels
_LARGEST = 40.0  # inches; larger trees are drawn smaller


def plot(
    tree: Tree, ax: Axes | None, decimals: int | None, show_counts: bool, fontsize: float
) -> Axes:
    """Draw the tree and return the axes."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Drawing a tree needs matplotlib; install it with `pip install certree[plot]`, "
            "or use to_text() or to_html(), which need nothing."
        ) from error

    drawing = _Drawing(tree, decimals, show_counts, fontsize)
    if ax is None:
        inches = 1 / max(72, drawing.width / _LARGEST, drawing.height / _LARGEST)
        figure = plt.figure(figsize=(drawing.width * inches, drawing.height * inches))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    drawing.draw(ax)
    return ax


class _Drawing:
    """Texts, sizes and places of all nodes, in points."""

    def __init__(self, tree: Tree, decimals: int | None, show_counts: bool, fontsize: float):
        self.tree = tree
        self.fontsize = fontsize
        self.bars = bars(tree)
        self.colours = colours(tree)
        self.heads: list[list[str]] = []
        self.lines: list[list[str]] = []
        for node in range(tree.n_nodes):
            told, rest = fitted_lines(tree, node, decimals, show_counts, _WIDTH), []
            if tree.test[node] < 0:
                told, rest = wrapped(told[0], _WIDTH, 2), told[1:]
            self.heads.append([one_line(line) for line in told])
            self.lines.append([*self.heads[node], *rest])
        self.captions = [fitted_answer(tree, node, _WIDTH) for node in range(tree.n_nodes)]
        self.line = 1.45 * fontsize
        self.pad = 0.7 * fontsize
        leaf = (tree.test < 0).tolist()
        self.sketches = [
            tree.payload.sketch(node) if leaf[node] else None for node in range(tree.n_nodes)
        ]
        self.boxes, self.width, self.height = layout(
            tree,
            list(map(self._size, range(tree.n_nodes))),
            [_measure(text, 0.85 * fontsize) for text in self.captions],
            gap=1.3 * fontsize,
            between=_BETWEEN * self.line,
            margin=1.2 * fontsize,
        )

    def _size(self, node: int) -> tuple[float, float]:
        """Return the size of a node's box: its lines, its picture, the bar of class shares."""
        lines = self.lines[node]
        width = max(_measure(text, self.fontsize) for text in lines) + 2 * self.pad
        height = len(lines) * self.line + 0.5 * self.line + self.pad
        if self.sketches[node] is None:
            return width, height
        return max(width, 13 * self.fontsize), height + 6.5 * self.fontsize

    def draw(self, ax: Axes) -> None:
        """Fill the axes."""
        scale = self._fit(ax)
        for node in self.tree.preorder.tolist():
            for child in self.tree.children(node):
                self._edge(ax, node, child, scale)
            self._node(ax, node, scale)

    def _fit(self, ax: Axes) -> float:
        """Set limits so that one unit is one point, or less if the axes are small."""
        box = ax.get_window_extent()
        points = 72.0 / ax.figure.dpi
        width, height = float(box.width) * points, float(box.height) * points
        scale = float(min(1.0, width / self.width, height / self.height))
        spare_x, spare_y = width / scale - self.width, height / scale - self.height
        ax.set_xlim(-spare_x / 2, self.width + spare_x / 2)
        ax.set_ylim(self.height + spare_y / 2, -spare_y / 2)
        ax.set_axis_off()
        return scale

    def _edge(self, ax: Axes, node: int, child: int, scale: float) -> None:
        box, below = self.boxes[node], self.boxes[child]
        caption_top = below.top - self.line
        # Below the tallest box of the level, so that a line never runs through a neighbour.
        bend = below.top - (_BETWEEN - 0.5) * self.line
        ax.plot(
            [box.x, box.x, below.x, below.x],
            [box.top + box.height, bend, bend, caption_top - 0.1 * self.line],
            color=_LINE,
            linewidth=1.0 * scale,
            solid_joinstyle="round",
            solid_capstyle="round",
            zorder=1,
        )
        middle = below.top - 0.5 * self.line
        self._text(ax, below.x, middle, self.captions[child], 0.85 * scale, _FAINT)

    def _node(self, ax: Axes, node: int, scale: float) -> None:
        from matplotlib.patches import FancyBboxPatch

        tree, (x, y, width, height) = self.tree, self.boxes[node]
        leaf = tree.test[node] < 0
        shade, fill, ink = _LINE, _PAPER, _INK
        if leaf:
            content = int(tree.label[node])
            shade = fill = self.colours.contents[content]
            if self.colours.is_scale:
                ink = self.colours.ink(content)
            else:
                fill = _tint(shade)
        radius = 0.45 * self.fontsize
        ax.add_patch(
            FancyBboxPatch(
                (x - width / 2, y),
                width,
                height,
                boxstyle=f"round,pad=0,rounding_size={radius}",
                facecolor=fill,
                edgecolor=shade,
                linewidth=1.2 * scale,
                zorder=2,
            )
        )
        for i, line in enumerate(self.lines[node]):
            is_head = i < len(self.heads[node])
            centre = y + self.pad / 2 + (i + 0.5) * self.line
            size = 1.0 if is_head else 0.85
            bold = bool(leaf) and is_head
            self._text(ax, x, centre, line, size * scale, ink, bold=bold)
        if self.sketches[node] is not None:
            self._sketch(ax, node, scale)
        if not (leaf and self.colours.is_scale):
            self._bar(ax, node, y + height - self.pad / 2 - 0.35 * self.line)

    def _sketch(self, ax: Axes, node: int, scale: float) -> None:
        """Draw the small picture of a leaf upon white, above the lower end of its box."""
        from matplotlib.patches import Polygon, Rectangle

        sketch, size, box = self.sketches[node], self.fontsize, self.boxes[node]
        assert sketch is not None
        width, height = box.width - 2 * self.pad, 6.2 * size
        left, low = box.x - width / 2, box.top + box.height - 0.5 * size
        ax.add_patch(Rectangle((left, low - height), width, height, color="white", zorder=3))
        inner, x0, base = width - 1.2 * size, left + 0.6 * size, low - 1.5 * size
        tall = base - (low - height) - 0.5 * size

        def placed(points: list[Point]) -> list[Point]:
            return [(x0 + x * inner, base - y * tall) for x, y in points]

        ax.add_patch(Polygon(placed(sketch.band), color=_BAND, linewidth=0, zorder=3.2))
        axis: dict[str, Any] = {"color": _LINE, "linewidth": 0.8 * scale, "zorder": 3.4}
        ax.plot([x0, x0, x0 + inner], [base - tall, base, base], **axis)
        x, y = zip(*placed(sketch.line), strict=True)
        ax.plot(x, y, color=_CURVE, linewidth=1.6 * scale, zorder=3.6)
        small: dict[str, Any] = {
            "fontsize": 0.75 * size * scale,
            "color": _FAINT,
            "va": "center",
            "zorder": 4,
        }
        ax.text(x0, base + 0.65 * size, sketch.first, ha="left", **small)
        ax.text(x0 + inner, base + 0.65 * size, sketch.last, ha="right", **small)

    def _bar(self, ax: Axes, node: int, y: float) -> None:
        """Draw the shares of a node as a thin stacked bar."""
        from matplotlib.patches import Rectangle

        width = self.boxes[node].width - 2 * self.pad
        left = self.boxes[node].x - width / 2
        for content, part, _ in self.bars[node]:
            size = (part * width, 0.28 * self.line)
            shade = self.colours.contents[content]
            ax.add_patch(Rectangle((left, y), *size, color=shade, linewidth=0, zorder=3))
            left += part * width

    def _text(
        self, ax: Axes, x: float, y: float, text: str, size: float, colour: str, bold: bool = False
    ) -> None:
        ax.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=self.fontsize * size,
            color=colour,
            fontweight="bold" if bold else "normal",
            parse_math=False,
            zorder=4,
        )


def _measure(text: str, fontsize: float) -> float:
    """Return the width of bold text in points, without a figure."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=fontsize, weight="bold")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width)


def _tint(colour: str) -> str:
    """Return a colour mixed with much white."""
    return mixed(colour, -0.85)
