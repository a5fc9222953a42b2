"""Formulas as pictures in the page: they need no script, no fonts and no network.

A Sphinx extension. ziamath turns LaTeX into SVG with a font of its own. Pictures take the colour of
the text around them, so that they suit light and dark pages; screen readers read the LaTeX.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import ziafont
import ziamath
from docutils import nodes
from sphinx.util import logging
from ziamath.operators import operators
from ziamath.tex import tex2mml

logger = logging.getLogger(__name__)

# Points of the font in the picture, and its height in units of the text around it.
SIZE = 24
EM = 1.12

# Each glyph in its place: shared symbols would bring the same id into a page many times.
ziafont.config.svg2 = False

# Spaces as TeX sets them: little after a comma, none beside an accent.
operators[",", "infix"] = {**operators[",", "infix"], "rspace": "mediummathspace"}
for accent in "^~":
    operators[accent, "infix"] = {"lspace": "0em", "rspace": "0em"}


def extent(drawing: str) -> tuple[float, float]:
    """Return left edge and width of what is drawn; the box of an accent is wider than it looks."""
    edges: list[float] = []
    for path in re.findall(r' d="([^"]*)"', drawing):
        edges += [float(number) for number in re.findall(r"-?[\d.]+", path)[::2]]
    for bar in re.findall(r"<rect [^>]*>", drawing):
        x, width = (float(re.search(rf' {name}="([^"]*)"', bar)[1]) for name in ("x", "width"))
        edges += [x, x + width]
    margin = SIZE / 24
    return min(edges) - margin, max(edges) - min(edges) + 2 * margin


def plain(latex: str) -> str:
    """Return a formula in the LaTeX that ziamath knows."""
    # It takes these for letters, and sets no space around them.
    latex = re.sub(r"\\(setminus|cup|cap)\b", r"\\,\\\1\\,", latex)
    # It knows sizes of brackets that are single characters only.
    latex = re.sub(r"\\[bB]igg?l\s*(?=\\)", r"\\left", latex)
    latex = re.sub(r"\\[bB]igg?r\s*(?=\\)", r"\\right", latex)
    latex = latex.replace(r"\arg", r"\operatorname{arg}\,")
    if r"\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return latex


@cache
def draw(latex: str, is_inline: bool) -> str:
    """Return a formula as SVG whose lengths are in em of the text around it."""
    known = plain(latex)
    if re.search(r">[^<]*\\", tex2mml(known)):
        raise ValueError("it has a command that is not known; see `plain` in docs/formulas.py")
    drawing = ziamath.Latex(known, size=SIZE, inline=is_inline, color="currentColor").svg()
    box = re.search(r'<svg [^>]*?viewBox="(\S+) (\S+) (\S+) (\S+)"', drawing)
    if box is None:
        raise ValueError("the drawing of a formula has no size")
    inner = drawing[drawing.index(">", box.start()) + 1 : drawing.rindex("</svg>")]
    inner = inner.replace('fill="black"', 'fill="currentColor"')  # bars of fractions
    _, top, _, height = (float(number) for number in box.groups())
    left, width = extent(inner)
    below = top + height  # the baseline is at zero
    style = (
        f"width:{width * EM / SIZE:.3f}em;height:{height * EM / SIZE:.3f}em;"
        f"vertical-align:{-below * EM / SIZE:.3f}em"
    )
    view = f"{left:g} {top:g} {width:g} {height:g}"
    label = html.escape(" ".join(latex.split()), quote=True)
    return (
        f'<svg class="formula" role="img" aria-label="{label}" viewBox="{view}" '
        f'style="{style}" fill="currentColor">{inner}</svg>'
    )


def picture(node: nodes.Element, is_inline: bool) -> str:
    """Return the picture of a formula, or its LaTeX with a warning where it cannot be drawn."""
    latex = node.astext().strip()
    # A number that is set by hand stands beside the formula, not in it.
    body, _, tag = latex.partition(r"\tag{")
    try:
        drawn = draw(body.strip(), is_inline)
    except Exception as error:
        logger.warning("formula %r: %s", latex, error, location=node, type="formulas")
        return f"<code>{html.escape(latex)}</code>"
    return drawn + (f'<span class="formula-tag">({tag.rstrip("} ")})</span>' if tag else "")


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula in a line of text."""
    translator.body.append(picture(node, is_inline=True))
    raise nodes.SkipNode


def visit_display(translator: Any, node: nodes.Element) -> None:
    """Write a formula on lines of its own."""
    drawn = picture(node, is_inline=False)
    translator.body.append(f'<div class="formula-block">{drawn}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer(
        "formulas", inline_renderers=(visit_inline, None), block_renderers=(visit_display, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
