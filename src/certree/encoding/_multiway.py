"""The test with one outcome for each category of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._cell_values import format_value, is_missing, plain_value
from ._condition import Condition
from ._tests import Test, register_kind
from ._texts import equals

__all__ = ["Multiway"]

Value = str | int | float | bool | None


@register_kind
@dataclass(frozen=True, slots=True)
class Multiway(Test):
    """The category of ``x``: one outcome for each category, or for each set of categories.

    A missing value is a category of its own if it was one in training. Values that belong to no
    outcome, unseen categories and missing values that did not occur in training, go to `default`;
    in a tree that is the child that got most of the training weight.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    categories : sequence
        For each outcome its category, or a tuple of several; None is a missing value.
    default : int
        The outcome of all other values.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = Multiway(0, "color", ["blue", "red", None], default=1)
    >>> [test.describe(outcome) for outcome in range(3)]
    ['color = blue', 'color = red', 'color is missing']
    >>> test.outcome(np.array(["red", "blue", None, "green"], dtype=object))
    array([1, 0, 2, 1], dtype=int32)
    >>> Multiway(0, "color", [("blue", "red"), "green"]).describe(0)
    'color in {blue, red}'
    """

    kind: ClassVar[str] = "multiway"
    feature: int
    name: str
    categories: tuple[tuple[Value, ...], ...]
    default: int = 0

    def __post_init__(self) -> None:
        given: Sequence[Any] = self.categories
        groups = tuple(
            tuple(_plain_category(value) for value in group)
            if isinstance(group, tuple | list)
            else (_plain_category(group),)
            for group in given
        )
        values = [value for group in groups for value in group]
        if len(groups) < 2 or not all(groups) or len(set(values)) < len(values):
            raise ValueError(
                "A multiway question needs at least two outcomes of different categories, got "
                f"{groups}."
            )
        texts = {isinstance(value, str) for value in values if value is not None}
        if len(texts) > 1:
            raise ValueError(
                f"The categories of {self.name!r} are both text and numbers: {values}."
            )
        if not 0 <= self.default < len(groups):
            raise ValueError(
                f"default must be an outcome, 0..{len(groups) - 1}, got {self.default}."
            )
        object.__setattr__(self, "categories", groups)
        object.__setattr__(self, "default", int(self.default))

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return len(self.categories)

    @property
    def usual_outcome(self) -> int:
        """The outcome of all values that no other one names."""
        return self.default

    def with_usual(self, outcome: int) -> Multiway:
        """Return the test with another outcome for all other values."""
        return replace(self, default=outcome)

    def joined(self, groups: Sequence[Sequence[int]]) -> Multiway:
        """Return the test with one outcome for each group of outcomes."""
        categories = tuple(
            tuple(value for outcome in group for value in self.categories[outcome])
            for group in groups
        )
        default = next(k for k, group in enumerate(groups) if self.default in group)
        return replace(self, categories=categories, default=default)

    @property
    def missing_outcome(self) -> int:
        """The outcome of a missing value."""
        for number, group in enumerate(self.categories):
            if None in group:
                return number
        return self.default

    def condition(self, outcome: int) -> Condition:
        """Return that the value is one of some categories, or that no other outcome names it."""
        group = self.categories[outcome]
        is_usual = outcome == self.default
        others = (*self.categories[:outcome], *self.categories[outcome + 1 :])
        told = others if is_usual else (group,)
        return Condition(
            self.feature,
            self.name,
            "set",
            values=tuple(value for one in told for value in one if value is not None),
            excluded=is_usual,
            known=tuple(value for one in self.categories for value in one),
            missing=outcome == self.missing_outcome,
            said=self._words(group),
        )

    def outcome(self, column: NDArray[Any]) -> NDArray[np.int32]:
        """Return for each value of the column the number of the outcome that it belongs to."""
        self.check(column)
        result = np.full(len(column), self.default, dtype=np.int32)
        for number, group in enumerate(self.categories):
            for value in group:
                # As a float: NumPy cannot compare truth values with integers beyond 64 bits.
                known = value if value is None or isinstance(value, str) else float(value)
                where = is_missing(column) if known is None else equals(column, known)
                result[where] = number
        return result

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it belongs to the first outcome."""
        first: NDArray[np.bool_] = self.outcome(column) == 0
        return first

    def _words(self, group: tuple[Value, ...]) -> str:
        """Return ``name = category``, ``name in {categories}`` or ``name is missing``."""
        if group == (None,):
            return f"{self.name} is missing"
        texts = ["missing" if value is None else format_value(value) for value in group]
        if len(texts) == 1:
            return f"{self.name} = {texts[0]}"
        return f"{self.name} in {{{', '.join(texts)}}}"

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        return {
            "kind": self.kind,
            "feature": self.feature,
            "name": self.name,
            "categories": [list(group) for group in self.categories],
            "default": self.default,
        }


def _plain_category(value: Any) -> Value:
    return None if value is None else plain_value(value)
