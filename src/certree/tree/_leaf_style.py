"""The style of leaves in text and pictures: names, what stands below them, colours, bars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._payload_labels import Labels
from ._payload_values import Values
from ._structure import add_up
from ._wording import fitted_question, one_line, plain, question

if TYPE_CHECKING:
    from ._tree import Tree

# Eight hues that stay apart for colour-blind readers, and eight that are as far from them and from
# each other for those who see all colours; names stand beside all of them.
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#8C7A00",
    "#777777",
    "#6A4FCF",
    "#9E2A5B",
    "#E8D77A",
    "#8FCB2E",
    "#7A4A2B",
    "#F7AFA0",
    "#35D6CC",
    "#BFC3C9",
)

# From low to high numbers: lightness falls all the way, so that the order survives in grey, too.
SCALE = ("#D9E6B8", "#93CDA6", "#4BA9A5", "#2D7C9C", "#34508C", "#3A2A68")

_INK, _WHITE = "#1f2328", "#ffffff"
_MOST_PARTS = 64  # of a bar


@dataclass(frozen=True)
class Colours:
    """The colour of everything that leaves may hold.

    Attributes
    ----------
    contents : tuple of str
        A colour for each content.
    low, high : float or None
        The numbers at the ends of the scale, if leaves hold numbers; None for colours of classes.
    """

    contents: tuple[str, ...]
    low: float | None = None
    high: float | None = None

    @property
    def is_scale(self) -> bool:
        """Whether the colours show how large a number is."""
        return self.low is not None

    def ink(self, content: int) -> str:
        """Return the colour of text upon the colour of a content."""
        return _WHITE if _lightness(self.contents[content]) < 0.19 else _INK


def colours(tree: Tree) -> Colours:
    """Return the colours of a tree: a scale for numbers, hues that differ for all else."""
    numbers = _numbers(tree)
    if numbers is None:
        return Colours(_hues(tree.payload.n_contents))
    # Of contents that no leaf holds, as a file may have them, the scale needs to know nothing.
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    places = [0.5 if half == 0 else 0.5 + (x - middle) / half / 2 for x in numbers.tolist()]
    return Colours(tuple(_on_scale(place) for place in places), low, high)


def _numbers(tree: Tree) -> NDArray[np.float64] | None:
    """Return the number that each content stands for; None for classes."""
    payload = tree.payload
    if not isinstance(payload, Values):
        return None
    if isinstance(payload, Labels) and (tree.notes is None or payload.values.dtype.kind != "f"):
        return None
    return payload.levels()


def _hues(number: int) -> tuple[str, ...]:
    """Return colours that all differ: the palette, and lighter and darker rounds of it."""
    rounds = -(-number // len(PALETTE))
    # Light and dark in turn, at most half of the way to white or black.
    shades = [0.5 * ((k + 1) // 2) / max(1, rounds // 2) * (-1) ** k for k in range(rounds)]
    return tuple(
        mixed(PALETTE[content % len(PALETTE)], shades[content // len(PALETTE)])
        for content in range(number)
    )


def mixed(colour: str, shade: float) -> str:
    """Return a colour mixed with black (a positive share) or white (a negative one)."""
    end = 0.0 if shade > 0 else 255.0
    return _hex([(1 - abs(shade)) * part + abs(shade) * end for part in _parts(colour)])


def _on_scale(place: float) -> str:
    """Return the colour at a place of the scale, from 0 to 1."""
    at = min(1.0, max(0.0, place if np.isfinite(place) else 0.5)) * (len(SCALE) - 1)
    step = min(int(at), len(SCALE) - 2)
    low, high = _parts(SCALE[step]), _parts(SCALE[step + 1])
    return _hex([a + (at - step) * (b - a) for a, b in zip(low, high, strict=True)])


def _parts(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def _hex(parts: list[float]) -> str:
    return "#" + "".join(f"{round(part):02X}" for part in parts)


def _lightness(colour: str) -> float:
    """Return the luminance of a colour, as contrast is defined by."""
    linear = [math.pow(part / 255, 2.2) for part in _parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def content_name(tree: Tree, content: int) -> str:
    """Return what leaves may hold as text; beside notes labels that are numbers have six digits."""
    payload = tree.payload
    if tree.notes is not None and isinstance(payload, Labels):
        value = plain(payload.values[content])
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    return payload.name(content)


def support(tree: Tree, node: int, decimals: int | None = None) -> str:
    """Return what stands below the prediction of a leaf: its note, or what its rows say."""
    if tree.notes is not None:
        return one_line(tree.notes[node])
    first, *rest = tree.payload.support(node, decimals)
    return f"{first} ({', '.join(rest)})" if rest else first


def node_lines(tree: Tree, node: int, decimals: int | None, show_counts: bool = True) -> list[str]:
    """Return what stands in the box of a node: its question, or what it holds and its support."""
    if tree.test[node] >= 0:
        return [question(tree, node, decimals)]
    content = int(tree.label[node])
    lines = tree.payload.lines(content)
    lines = lines if len(lines) > 1 else [content_name(tree, content)]
    return [*lines, support(tree, node, decimals)] if show_counts else lines


def fitted_lines(
    tree: Tree, node: int, decimals: int | None, show_counts: bool, width: int
) -> list[str]:
    """Return the same, with a question that is too long for one line in several."""
    lines = node_lines(tree, node, decimals, show_counts)
    is_long = tree.test[node] >= 0 and len(one_line(lines[0])) > width
    return fitted_question(tree, node, decimals, width) if is_long else lines


class BarPart(NamedTuple):
    """A part of the bar of a node.

    Attributes
    ----------
    content : int
        What leaves may hold.
    share : float
        Its share of the training weight: of the rows of a class, or of those that get a prediction.
    rows : int or None
        The number of these rows; None if the tree knows only weights.
    """

    content: int
    share: float
    rows: int | None


def bars(tree: Tree) -> list[list[BarPart]]:
    """Return the bar of each node; of predictions only if they can be told apart."""
    payload = tree.payload
    if isinstance(payload, Labels) and not colours(tree).is_scale:
        shares, rows = tree.probabilities, payload.known_rows
    elif payload.n_contents > _MOST_PARTS:
        return [[] for _ in range(tree.n_nodes)]
    else:
        cells = _by_content(tree, payload.weights)
        totals = cells.sum(axis=1, keepdims=True)
        shares = cells / np.where(totals > 0, totals, 1)
        rows = None if payload.node_rows is None else _by_content(tree, payload.node_rows)
    found: list[list[BarPart]] = []
    for node, line in enumerate(shares.tolist()):
        numbers = [None] * len(line) if rows is None else rows[node].tolist()
        parts = zip(range(len(line)), line, numbers, strict=True)
        found.append([BarPart(*part) for part in parts if part[1] > 0])
    return found


def _by_content(tree: Tree, amounts: NDArray[Any]) -> NDArray[Any]:
    """Return the amounts of all nodes by what leaves hold, given those of leaves."""
    cells = np.zeros((tree.n_nodes, tree.payload.n_contents), dtype=amounts.dtype)
    leaf = np.flatnonzero(tree.test < 0)
    cells[leaf, tree.label[leaf]] = amounts[leaf]
    return add_up(tree, cells)
