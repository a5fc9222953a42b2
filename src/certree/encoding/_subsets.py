"""The test whether a value is one of several categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._tests import (
    SidedTest,
    Test,
    _plain_value,
    find_numbers,
    format_value,
    is_missing,
    register_kind,
)

__all__ = ["Subset"]

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
        values = tuple(_plain_value(value) for value in given)
        object.__setattr__(self, "values", values)
        if len({isinstance(value, str) for value in values}) > 1:
            raise ValueError(f"The values of {self.name!r} are both text and numbers: {values}.")
        if len(set(values)) < len(values):
            raise ValueError(f"The values of {self.name!r} must differ, got {values}.")

    @property
    def is_text(self) -> bool:
        """Whether the categories are text."""
        return isinstance(self.values[0], str)

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is one of the categories."""
        self.check(column)
        absent = is_missing(column)
        if self.is_text:
            known = set(self.values)
            listed = np.fromiter((v in known for v in column), np.bool_, count=len(column))
        else:
            numbers = np.array(self.values, dtype=np.float64)
            listed = find_numbers(numbers, column) < len(numbers)
        holds: NDArray[np.bool_] = (listed != self.rest) & ~absent
        return holds | absent if self.missing else holds

    def describe(self, outcome: int = 0) -> str:
        """Return ``name in {values}`` or ``name not in {values}``, or that the value is rare."""
        if self.rest:
            return self._choose(outcome, (f"{self.name} is rare", f"{self.name} is frequent"))
        listed = "{" + ", ".join(map(format_value, self.values)) + "}"
        return self._choose(outcome, (f"{self.name} in {listed}", f"{self.name} not in {listed}"))

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        # The class is made anew for its slots, so super() without arguments does not know it.
        return {**Test.to_dict(self), "values": list(self.values)}
