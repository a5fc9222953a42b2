"""What notebooks show of results: a title, a sentence, a small table, a small chart."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

_MOST_LINES = 12

_STYLE = """
.certree-card{font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:inherit;
max-width:60em;text-align:left}
.certree-card p{margin:.35em 0}
.certree-card table{border-collapse:collapse;margin:.3em 0;font:inherit;color:inherit}
.certree-card th,.certree-card td{padding:.15em 1.1em .15em 0;text-align:left;vertical-align:top;
border:0;border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent);background:none}
.certree-card th{font-weight:600;opacity:.75}
.certree-card .number{text-align:right;font-variant-numeric:tabular-nums}
.certree-card details{margin:.35em 0}
.certree-card summary{cursor:pointer;opacity:.75}
.certree-card .mark{font-weight:600}
.certree-card .beside{display:flex;flex-wrap:wrap;gap:.4em 2em;align-items:flex-start}
.certree-card .chart{max-width:100%;height:auto;display:block}
.certree-card .chart text{font:11px system-ui,sans-serif;fill:currentColor;text-anchor:middle}
.certree-card .chart .end{text-anchor:end}
.certree-card .chart .grid{stroke:currentColor;stroke-opacity:.15;fill:none}
.certree-card .key{display:inline;margin-right:1.2em;font-size:.92em;white-space:nowrap}
"""


def card(title: str, *parts: str) -> str:
    """Return a piece of HTML that needs nothing else: a title, and parts below it."""
    head = f'<p><span class="mark">{escape(title)}</span></p>' if title else ""
    body = "\n".join(part for part in (head, *parts) if part)
    return f'<div class="certree-card"><style>{_STYLE}</style>\n{body}\n</div>'


def sentence(text: str) -> str:
    """Return a sentence as a paragraph."""
    return f"<p>{escape(text)}</p>" if text else ""


def beside(*parts: str) -> str:
    """Return parts that stand side by side where there is room."""
    return f'<div class="beside">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def folded(summary: str, content: str) -> str:
    """Return content that shows on request."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def facts_table(facts: Sequence[tuple[str, str]]) -> str:
    """Return names and texts as a table with two columns."""
    lines = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
        for name, text in facts
    )
    return f"<table>{lines}</table>" if lines else ""


def table(heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    """Return a table of numbers and texts; of a long one the first lines and the last ones."""
    first = lines[0] if lines else heads
    head = "".join(
        f'<th scope="col"{_side(cell)}>{escape(one)}</th>'
        for one, cell in zip(heads, first, strict=True)
    )
    shown: list[Sequence[Any] | None] = list(lines)
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        shown = [*lines[:half], None, *lines[-half:]]
    body = "".join(_line(line, len(heads)) for line in shown)
    return f"<table><tr>{head}</tr>{body}</table>"


def _line(line: Sequence[Any] | None, width: int) -> str:
    if line is None:
        return f'<tr><td colspan="{width}">…</td></tr>'
    cells = "".join(f"<td{_side(cell)}>{escape(_cell(cell))}</td>" for cell in line)
    return f"<tr>{cells}</tr>"


def _side(cell: Any) -> str:
    """Return the attribute of a cell that holds a number, also one that is written as text."""
    is_number = not isinstance(cell, str) or cell[:1].isdecimal() or cell[:1] in ("-", "~")
    return ' class="number"' if is_number and cell != "" else ""


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
