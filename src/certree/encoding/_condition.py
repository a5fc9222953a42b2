"""What an outcome of a test says about a value of its column: the one record that others read.

Texts, code in other languages, explanations and pages know conditions and no kinds of tests. So a
new kind of test is a class that says the condition of each of its outcomes, and nothing else.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._cell_values import find_numbers, format_value, is_missing
from ._texts import equals
from ._times import Form, is_time, parse_time, ticks, time_words

__all__ = ["Condition"]


class Condition(NamedTuple):
    """A range, a set, or "missing": what a value of a column must be.

    Attributes
    ----------
    feature, name : int and str
        Index and name of the raw column.
    kind : str
        "number", "time" and "level" are ranges, ``low < value <= high``, of numbers, of times, and
        of `known` levels in their order. "flag" is a range of numbers, or of truth values, that
        parts 1 from 0 at one half. "set" is a set of `values`. "missing" is about nothing but
        whether the value is missing. "other" is known by its words alone.
    low, high : float, str, int, bool or None
        Ends of a range: numbers, texts of ISO 8601, or levels; None for no end.
    values : tuple
        Categories of a set: texts or numbers. It is empty if only a missing value is meant.
    excluded : bool
        Whether the condition is met outside of the range or the set.
    known : tuple or None
        All categories of the column in training, if the test lists them; None among them is a
        missing value. For levels, in their order.
    boolean : bool
        Whether a flag is a truth value rather than one of the numbers 0 and 1.
    missing : bool
        Whether a missing value meets the condition.
    tells_missing : bool
        Whether the words are to tell where missing values go: they occurred in training, and `said`
        does not name them.
    said : str or None
        The condition in words, without a word about missing values; None: those of its kind.

    Examples
    --------
    >>> condition = Condition(0, "age", "number", high=35.5, missing=True, tells_missing=True)
    >>> condition.describe(), condition.words()
    ('age <= 35.5 or missing', 'age <= 35.5')
    >>> condition.holds(np.array([20.0, 50.0, np.nan]))
    array([ True, False,  True])
    >>> Condition(0, "color", "set", values=("blue", "red"), excluded=True).words()
    'color not in {blue, red}'
    """

    feature: int
    name: str
    kind: Literal["number", "time", "level", "flag", "set", "missing", "other"]
    low: Any = None
    high: Any = None
    values: tuple[Any, ...] = ()
    excluded: bool = False
    known: tuple[Any, ...] | None = None
    boolean: bool = False
    missing: bool = False
    tells_missing: bool = False
    said: str | None = None

    # ---- in words --------------------------------------------------------------------------------

    def describe(self) -> str:
        """Return the condition in words."""
        return self.words() + self.missing_words

    @property
    def missing_words(self) -> str:
        """The words about missing values that are added to others, or an empty text."""
        return " or missing" if self.missing and self.tells_missing else ""

    def words(self, decimals: int | None = None) -> str:
        """Return the condition without a word about missing values.

        Parameters
        ----------
        decimals : int, optional
            Digits after the point of numbers that end a range; by default all.
        """
        if self.said is not None:
            return self.said
        name = self.name
        if self.kind == "missing":
            return f"{name} is {'missing' if self.missing else 'present'}"
        if self.kind == "set":
            if len(self.values) == 1:
                return f"{name} {'!=' if self.excluded else '='} {format_value(self.values[0])}"
            listed = ", ".join(map(format_value, self.values))
            return f"{name} {'not in' if self.excluded else 'in'} {{{listed}}}"
        low, high = (self.bound_words(end, decimals) for end in (self.low, self.high))
        if self.low is None or self.high is None:
            above = (self.high is None) != self.excluded
            return f"{name} {'>' if above else '<='} {low if self.high is None else high}"
        return f"{'not ' if self.excluded else ''}{low} < {name} <= {high}"

    def bound_words(self, bound: Any, decimals: int | None = None) -> str:
        """Return an end of the range as it reads in a tree."""
        if bound is None:
            return ""
        if self.kind == "time":
            return time_words(*parse_time(bound))
        if self.kind == "number" and decimals is not None:
            return f"{bound:.{decimals}f}"
        return format_value(bound)

    # ---- ranges and sets -------------------------------------------------------------------------

    @property
    def is_range(self) -> bool:
        """Whether it is a range of numbers, times or levels; parts of one can be joined."""
        return self.kind in ("number", "time", "level") and not self.excluded

    @property
    def order(self) -> tuple[Any, ...]:
        """What ranges have in common that can be compared: column, kind and levels."""
        return self.feature, self.kind, self.known

    def position(self, bound: Any) -> Any:
        """Return an end of the range as a number that can be compared: nanoseconds of a time."""
        if self.kind == "time":
            return parse_time(bound)[1]
        return bound if self.known is None else self.known.index(bound)

    def narrowed(self, other: Condition) -> Condition:
        """Return the condition that is met where this range and another of its order are."""
        lows = [end for end in (self.low, other.low) if end is not None]
        highs = [end for end in (self.high, other.high) if end is not None]
        return self._replace(
            low=max(lows, key=self.position, default=None),
            high=min(highs, key=self.position, default=None),
            missing=self.missing and other.missing,
            tells_missing=self.tells_missing or other.tells_missing,
            said=None,
        )

    @property
    def is_empty(self) -> bool:
        """Whether no value is in the range."""
        if self.low is None or self.high is None:
            return False
        return bool(self.position(self.low) >= self.position(self.high))

    @property
    def form(self) -> Form:
        """What a column of times holds: "date", "zoned" (times with a zone) or "duration"."""
        return parse_time(self.high if self.low is None else self.low)[0]

    @property
    def listed(self) -> tuple[tuple[Any, ...], bool]:
        """The values of a set or of levels, and whether these are excluded."""
        if self.kind != "level" or self.known is None:
            return self.values, self.excluded
        if self.high is None:  # values that are no level are above all levels
            return self.known[: self.position(self.low) + 1], not self.excluded
        start = 0 if self.low is None else self.position(self.low) + 1
        return self.known[start : self.position(self.high) + 1], self.excluded

    @property
    def named(self) -> tuple[Any, ...]:
        """The categories that the test of this condition names."""
        if self.kind == "flag":
            return (True, False) if self.boolean else (1, 0)
        return tuple(v for v in (self.known or self.values) if v is not None)

    @property
    def known_that_meet(self) -> frozenset[Any]:
        """Those of the known categories that meet the condition; None is a missing value."""
        values, excluded = self.listed
        return frozenset(
            v
            for v in self.known or ()
            if (self.missing if v is None else (v in values) != excluded)
        )

    @property
    def is_text(self) -> bool | None:
        """Whether it is about text or about numbers; None if about neither, or about both."""
        if self.kind in ("number", "flag"):
            return False
        if self.kind in ("level", "set"):
            return any(isinstance(value, str) for value in (self.known or self.values))
        return None

    # ---- columns ---------------------------------------------------------------------------------

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of a column of a table whether it meets the condition."""
        if self.kind == "missing":
            return is_missing(column) if self.missing else ~is_missing(column)
        found = self._inside(column)
        if self.excluded:
            return ~found if self.missing else ~(found | is_missing(column))
        return found | is_missing(column) if self.missing else found

    def _inside(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value whether it is present, and in the range or the set."""
        if self.kind in ("level", "set"):
            values, excluded = self.listed
            if self.kind == "level" and excluded != self.excluded:
                return ~(_is_one_of(values, column) | is_missing(column))
            return _is_one_of(values, column)
        if self.kind not in ("number", "flag", "time"):
            raise TypeError(f"The words {self.describe()!r} do not say which values are meant.")
        if self.kind == "time" and not is_time(column):  # all are missing
            return np.zeros(len(column), dtype=np.bool_)
        ends: tuple[Any, Any] = (self.low, self.high)
        numbers: NDArray[Any] = column
        parts = []
        if self.kind == "time":
            parts.append(~is_missing(column))
            numbers, size = ticks(column)
            ends = self._time_end(self.low, size), self._time_end(self.high, size)
        # No comparison holds for NaN.
        if ends[0] is not None:
            parts.append(numbers > ends[0])
        if ends[1] is not None:
            parts.append(numbers <= ends[1])
        return np.asarray(parts[0] if len(parts) == 1 else np.logical_and.reduce(parts))

    @staticmethod
    def _time_end(bound: str | None, size: int) -> int | None:
        """Return the largest integer that is not later, in units of so many nanoseconds."""
        if bound is None:
            return None
        return min(max(parse_time(bound)[1] // size, -(2**63)), 2**63 - 1)


def _is_one_of(values: tuple[Any, ...], column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value of a column whether it is listed; a missing one never is."""
    is_text = any(isinstance(value, str) for value in values[:1])
    if not values or (is_text and column.dtype != object):
        return np.zeros(len(column), dtype=np.bool_)
    if is_text:
        if len(values) == 1:
            return equals(column, values[0])
        known = set(values)
        return np.fromiter((value in known for value in column), np.bool_, count=len(column))
    if len(values) == 1:
        # As a float: NumPy cannot compare truth values with integers beyond 64 bits.
        return np.asarray(column == float(values[0]), dtype=np.bool_)
    return find_numbers(np.array(values, dtype=np.float64), column) < len(values)
