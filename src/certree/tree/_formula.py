"""Formulas of raw columns, as leaves may compute them and exports write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

# So many columns of a formula fit the box of a leaf.
_MOST_LINES = 5


class Formula(NamedTuple):
    """What a leaf computes: a number plus coefficients times columns."""

    intercept: float
    terms: tuple[tuple[int, float], ...]
    """Raw columns and their coefficients."""

    def write(self, names: Mapping[int, str], number: Callable[[float], str]) -> str:
        """Return the formula as text, with these names of columns and numbers written so."""
        return " ".join(self._parts(names, number))

    def lines(self, names: Mapping[int, str]) -> list[str]:
        """Return the formula as lines of text, one for each column, and not too many."""
        first, *terms = self._parts(names, lambda number: f"{number:.4g}")
        lines = [" ".join([first, *terms[:1]]), *terms[1:]]
        left_out = len(lines) - _MOST_LINES
        return [*lines[:_MOST_LINES], f"and {left_out} more"] if left_out > 1 else lines

    def _parts(self, names: Mapping[int, str], number: Callable[[float], str]) -> list[str]:
        parts = [number(self.intercept)]
        for column, slope in self.terms:
            sign = "-" if slope < 0 else "+"
            parts.append(f"{sign} {number(abs(slope))} * {names[column]}")
        return parts
