"""Remarks on nodes, such as "mean of 24, deviation 1.109", as texts and numbers.

Notes are printed from float64, and from numbers that a search may have rounded. A number is right
if it is printed as one that is off by no more than that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ._plain_numbers import Exact, float_or_infinite, last_bits, root_between

# By how much weights that were rounded for a search may be off, as a share.
_ROUNDED = Fraction(1, 2**16)


@dataclass(frozen=True)
class Printed:
    """A number of a note: its exact value, how it is printed, and how far it may be off."""

    value: Fraction
    form: Callable[[float], str]
    off: Fraction = Fraction(0)

    def text(self, side: int = 0) -> str:
        """Return the number, the least or the greatest possible one, as it is printed."""
        off = self.off + abs(self.value) * last_bits()
        return self.form(float_or_infinite(self.value + side * off))

    def is_written(self, text: str) -> bool:
        """Return whether a text is this number."""
        ends = [self.text(side) for side in (-1, 0, 1)]
        if text in ends:
            return True
        try:
            number, low, high = map(_read, (text, ends[0], ends[-1]))
        except ValueError:
            return False
        return low < number < high and self.form(number) == text


@dataclass(frozen=True)
class RowsOf:
    """Where a note says how many rows a node has, and what they weigh if they have weights."""

    joint: str = " of "


Note = Sequence[str | tuple[str, ...] | Printed | RowsOf]
"""The parts of a note; a tuple holds texts of which any may be there."""


def _read(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def note_text(note: Note) -> str:
    """Return a note as it is printed."""
    return "".join(part.text() if isinstance(part, Printed) else _texts(part)[0] for part in note)


def _texts(part: Any) -> Sequence[str]:
    return [part] if isinstance(part, str) else list(part)


def is_note(stated: Any, note: Note) -> bool:
    """Return whether a text is this note."""
    pattern = "".join(
        r"(\S+?)"
        if isinstance(part, Printed)
        else "(?:" + "|".join(map(re.escape, _texts(part))) + ")"
        for part in note
    )
    found = re.fullmatch(pattern, stated) if isinstance(stated, str) else None
    if found is None:
        return False
    numbers = [part for part in note if isinstance(part, Printed)]
    return all(n.is_written(text) for n, text in zip(numbers, found.groups(), strict=True))


# ---- numbers that notes have -------------------------------------------------------------------


def mean(total: Fraction, weight: Exact, off: Fraction, form: str = ".4g") -> Printed:
    """Return a mean as the number of a note, of a total that may be off."""
    if not weight:
        return Printed(Fraction(0), f"{{:{form}}}".format)
    value = total / weight
    more = Fraction(0) if Fraction(weight).denominator == 1 else abs(value) * _ROUNDED
    return Printed(value, f"{{:{form}}}".format, off / weight + more)


def deviation(squares: Fraction, weight: Exact, off: Fraction) -> Printed:
    """Return the root of a mean of squares as the number of a note."""
    if not weight:
        return Printed(Fraction(0), "{:.4g}".format)
    value, _ = root_between(squares / weight)
    low, _ = root_between(max(squares - off, Fraction(0)) / weight)
    _, high = root_between((squares + off) / weight)
    more = Fraction(0) if Fraction(weight).denominator == 1 else value * _ROUNDED
    return Printed(value, "{:.4g}".format, max(high - value, value - low) + more)
