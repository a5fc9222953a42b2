"""The test whether a value is one of several categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

from ._cell_values import format_value, plain_value
from ._condition import Condition
from ._tests import Category, SidedTest, Test, register_kind

__all__ = ["MOST_GROUPS", "Subset", "subset_tests"]

MOST_GROUPS = 10
"""Of so many categories, with missing values as one, all 511 divisions into two sets are tests."""

Value = str | int | float | bool


@register_kind
@dataclass(frozen=True, slots=True)
class Subset(SidedTest):
    """``x in {values}``; with `rest`, that ``x`` is any other category, seen in training or not.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    values : sequence
        Categories: text, or numbers.
    rest : bool
        Whether the test holds for all categories but these: those that are rare in training, and
        those that it did not see.
    missing : bool, optional
        Whether missing values hold; None if none was missing in training.

    .. versionadded:: 0.1

    Examples
    --------
    >>> import numpy as np
    >>> test = Subset(0, "city", ("Bonn", "Ulm"))
    >>> test.describe(0), test.describe(1)
    ('city in {Bonn, Ulm}', 'city not in {Bonn, Ulm}')
    >>> test.outcome(np.array(["Ulm", "Rom", None], dtype=object))
    array([0, 1, 1], dtype=int32)
    >>> test = Subset(0, "city", ("Bonn", "Ulm"), rest=True)
    >>> test.describe(0), test.describe(1)
    ('city is rare', 'city is frequent')
    >>> test.outcome(np.array(["Ulm", "Rom", None], dtype=object))
    array([1, 0, 1], dtype=int32)
    """

    kind: ClassVar[str] = "subset"
    feature: int
    name: str
    values: tuple[Value, ...]
    rest: bool = False
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()
        given: Any = self.values
        if not isinstance(given, tuple | list) or not given:
            raise ValueError(f"The values of {self.name!r} must be a list, got {given!r}.")
        values = tuple(plain_value(value) for value in given)
        object.__setattr__(self, "values", values)
        if len({isinstance(value, str) for value in values}) > 1:
            raise ValueError(f"The values of {self.name!r} are both text and numbers: {values}.")
        if len(set(values)) < len(values):
            raise ValueError(f"The values of {self.name!r} must differ, got {values}.")

    def condition(self, outcome: int) -> Condition:
        """Return that the value is one of the categories, or none; or that it is rare, or not."""
        excluded = self.rest == (outcome == 0)
        said = None
        if self.rest:
            said = f"{self.name} is {'rare' if outcome == 0 else 'frequent'}"
        elif len(self.values) == 1:  # rules join the categories of `Category` alone
            said = f"{self.name} {'!=' if excluded else '='} {format_value(self.values[0])}"
        return self._condition(outcome, "set", values=self.values, excluded=excluded, said=said)

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        # The class is made anew for its slots, so super() without arguments does not know it.
        return {**Test.to_dict(self), "values": list(self.values)}


def subset_tests(single: Sequence[Test], has_missing: bool) -> list[Test] | None:
    """Return a test for each division of the categories of a column into two sets.

    The division of present and missing values is left out: a test of its own makes it. Sets are
    written in few words. If some categories are rare, they are on the side that is not listed, and
    so are those that training did not see.

    Parameters
    ----------
    single : sequence of Test
        One test for each category, and perhaps one for all rare ones at the end.
    has_missing : bool
        Whether values are missing.

    Returns
    -------
    list of Test, or None
        None if there are too many.
    """
    if len(single) + has_missing > MOST_GROUPS:
        return None
    if not single:
        return []
    known = [test for test in single if isinstance(test, Category)]
    has_rare = len(known) < len(single)
    found: dict[frozenset[Any], Test] = {}
    everything: frozenset[Any] = frozenset(test.value for test in known)
    everything |= {None} if has_missing else frozenset()
    everything |= {_RARE} if has_rare else frozenset()
    for size in range(1, len(known) + 1):
        for chosen in combinations(known, size):
            for side in (False, True) if has_missing else (None,):
                held: frozenset[Any] = frozenset(test.value for test in chosen)
                held |= {None} if side else frozenset()
                others = everything - held
                if others and others != {None} and others not in found:
                    found[held] = _held(chosen, side, others)
    return list(found.values())


_RARE = object()
"""Stands for all rare categories."""


def _held(chosen: Sequence[Category], side: bool | None, others: frozenset[Any]) -> Test:
    """Return the test that holds for some categories, given all others."""
    first, values = chosen[0], tuple(test.value for test in chosen)
    if others <= {_RARE, None} and _RARE in others:
        # Those that are not rare are many, so the others are named.
        return Subset(first.feature, first.name, values, True, None if side is None else not side)
    if len(values) == 1 and not side:
        return first
    return Subset(first.feature, first.name, values, False, side)
