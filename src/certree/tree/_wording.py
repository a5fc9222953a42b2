"""How tests and numbers read; shared by the exports that people look at."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._tree import Tree


def plain(value: Any) -> Any:
    """Return a NumPy scalar as the Python value it stands for, anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def one_line(text: str) -> str:
    """Escape control characters and line separators, so that a name cannot break a layout."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shorten(text: str, width: int) -> str:
    """Return at most `width` characters of one line, the end kept and the middle replaced."""
    text = one_line(text)
    if len(text) <= width:
        return text
    for joint in (" > ", " + "):
        first, *parts = text.split(joint)
        if len(parts) > 2 and len(first) + len(parts[-1]) + 2 * len(joint) < width:
            return _without_middle(first, parts, joint, width)
    tail = width // 3
    return text[: width - tail - 1] + "…" + text[len(text) - tail :]


def _without_middle(first: str, parts: list[str], joint: str, width: int) -> str:
    """Return the first parts of a path or a sum that fit beside its last one."""
    ending = f"{joint}…{joint}{parts[-1]}"
    for part in parts:
        longer = first + joint + part
        if len(longer) + len(ending) > width:
            break
        first = longer
    return first + ending


def wrapped(text: str, width: int, most: int) -> list[str]:
    """Return a text in lines of at most `width` characters; of too long a text the end is kept."""
    lines = textwrap.wrap(one_line(text), width) or [""]
    return lines if len(lines) <= most else [*lines[: most - 1], shorten(text, width)]


def text_width(text: str) -> int:
    """Count the columns a text takes: wide East Asian characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def n_rows(number: int) -> str:
    """Say how many rows there are."""
    return f"{number} row" if number == 1 else f"{number} rows"


def weight(value: float, decimals: int | None = None) -> str:
    """Return a weight with `decimals`, or without zeros at its end; three digits if it is small."""
    number = float(value)
    if number.is_integer():
        return str(int(number))
    if decimals is not None:
        return f"{number:.{decimals}f}"
    return f"{number:.3g}" if number < 1 else f"{number:.2f}".rstrip("0").rstrip(".")


def condition(tree: Tree, node: int, outcome: int, decimals: int | None = None) -> str:
    """Describe one outcome of a node's test, thresholds rounded to `decimals` when given."""
    said = tree.node_test(node).condition(outcome)
    return said.words(decimals) + _missing_words(tree, node, outcome)


def question(tree: Tree, node: int, decimals: int | None = None) -> str:
    """Return what is written in the node of a drawing: the condition, or the column if multiway.

    The edges say where missing values go.
    """
    test = tree.node_test(node)
    return test.condition(0).words(decimals) if test.n_outcomes == 2 else test.name


def question_parts(tree: Tree, node: int, decimals: int | None = None) -> tuple[str, str]:
    """Return a question as the column and what is asked of it; the latter is empty if multiway."""
    text, name = one_line(question(tree, node, decimals)), one_line(tree.node_test(node).name)
    if text.startswith(f"{name} "):
        return name, text[len(name) + 1 :]
    return text, ""


def fitted_question(tree: Tree, node: int, decimals: int | None, width: int) -> list[str]:
    """Return a question in lines of at most `width`: a long column is cut, not what is asked."""
    name, asked = question_parts(tree, node, decimals)
    return [shorten(name, width), *wrapped(asked, width, 4)] if asked else wrapped(name, width, 2)


def fitted_answer(tree: Tree, child: int, width: int) -> str:
    """Return what is written on an edge: without the column, which its node has, if too long."""
    text, node = one_line(answer(tree, child)), int(tree.parent[child])
    name = "" if node < 0 else one_line(tree.node_test(node).name)
    if len(text) > width and text.startswith(f"{name} "):
        text = text[len(name) + 1 :]
    return shorten(text, width)


def answer(tree: Tree, child: int) -> str:
    """Return what is written on the edge that leads to a node of a drawing; nothing at the root."""
    node = int(tree.parent[child])
    if node < 0:
        return ""
    test, outcome = tree.node_test(node), child - int(tree.first_child[node])
    words = ("yes", "no")[outcome] if test.n_outcomes == 2 else test.condition(outcome).words()
    return words + _missing_words(tree, node, outcome)


def _missing_words(tree: Tree, node: int, outcome: int) -> str:
    """Return what to add to an outcome about missing values: nothing if none can arrive there."""
    test, below = tree.node_test(node), node
    words = test.condition(outcome).missing_words
    if not words:
        return ""
    while (above := int(tree.parent[below])) >= 0:
        asked = tree.node_test(above)
        taken = below - int(tree.first_child[above])
        if asked.feature == test.feature and asked.missing_outcome != taken:
            return ""
        below = above
    return words
