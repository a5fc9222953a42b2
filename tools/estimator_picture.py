"""Draw docs/guide/choose.svg, the picture of "Which estimator do I need?", from the page's table.

    python tools/estimator_picture.py

The picture stands in the page itself: it takes its colours from the page, light or dark, and its
boxes are links. A test compares the file with what this program draws.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "choose.md"
PICTURE = PAGE.with_suffix(".svg")

WIDTH = 944
ROW = 46
BOX = 34
ROOT = (4, 116)  # left edge and width of each column
WANT = (176, 128)
CONDITION = (348, 0)
ESTIMATOR = (664, 276)


class Choice(NamedTuple):
    """A row of the table."""

    want: str
    condition: str
    estimator: str
    page: str


def read_choices(text: str) -> list[Choice]:
    """Return the rows of the first table of the page."""
    table = text.partition("| You want |")[2].partition("\n\n")[0].splitlines()[2:]
    choices = []
    for line in table:
        want, condition, answer = (cell.strip() for cell in line.strip("|").split("|"))
        link = re.fullmatch(r"\[([^\]]*)\]\((\S+)\.md\)", answer)
        if link is None:
            raise ValueError(f"{answer!r} is no link to a page of the guide.")
        choices.append(Choice(want, condition, link[1].replace("`", ""), f"{link[2]}.html"))
    return choices


def box(left: float, middle: float, width: float, words: str, name: str) -> str:
    """Return a box with words in its middle."""
    return (
        f'<rect class="{name}" x="{left}" y="{middle - BOX / 2:g}" width="{width}" '
        f'height="{BOX}" rx="6"/>'
        f'<text class="{name}" x="{left + width / 2:g}" y="{middle + 5:g}" '
        f'text-anchor="middle">{html.escape(words)}</text>'
    )


def line(left: float, top: float, right: float, bottom: float) -> str:
    """Return a line from the right edge of one thing to the left edge of another."""
    bend = (left + right) / 2
    return (
        f'<path d="M{left:g} {top:g}C{bend:g} {top:g} {bend:g} {bottom:g} {right:g} {bottom:g}"/>'
    )


def draw(choices: list[Choice]) -> str:
    """Return the picture."""
    height = ROW * len(choices)
    middles = [ROW * (row + 0.5) for row in range(len(choices))]
    lines, boxes = [], [box(*ROOT[:1], height / 2, ROOT[1], "I want ...", "question")]
    row = 0
    for want, group in groupby(choices, key=lambda choice: choice.want):
        members = list(group)
        own = middles[row : row + len(members)]
        middle = (own[0] + own[-1]) / 2
        lines.append(line(sum(ROOT), height / 2, WANT[0], middle))
        boxes.append(box(WANT[0], middle, WANT[1], want, "question"))
        for choice, at in zip(members, own, strict=True):
            lines.append(line(sum(WANT), middle, CONDITION[0] - 8, at))
            boxes.append(
                f'<text x="{CONDITION[0]}" y="{at + 5:g}">{html.escape(choice.condition)}</text>'
            )
            lines.append(line(ESTIMATOR[0] - 12, at, ESTIMATOR[0], at))
            target = box(*ESTIMATOR[:1], at, ESTIMATOR[1], choice.estimator, "answer")
            boxes.append(f'<a href="{choice.page}">{target}</a>')
        row += len(members)
    label = "Which estimator do I need? The table below says the same."
    opening = (
        f'<div class="choose"><svg xmlns="http://www.w3.org/2000/svg" role="group" '
        f'aria-label="{label}" viewBox="0 0 {WIDTH} {height}">'
    )
    return "\n".join([opening, *lines, *boxes, "</svg></div>\n"])


if __name__ == "__main__":
    PICTURE.write_text(draw(read_choices(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {PICTURE.name}")
