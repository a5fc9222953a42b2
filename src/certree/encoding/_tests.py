"""Tests: the questions that trees ask about a row.

A test looks at one raw column and has two or more outcomes that partition the rows. It knows how to
answer itself for a column of a :class:`~certree.encoding.Table`, how to say each outcome in words,
and how to become JSON. All tests here are binary: outcome 0 is "holds", outcome 1 "does not hold".
:mod:`certree.encoding._multiway` has the one with more outcomes.

A binary test says by its field `missing` where missing values go. True: they hold, too (``age <=
35.5 or missing``). False: they do not hold (``age > 35.5 or missing``). None: no value of the
column was missing in training; they do not hold, and the words do not mention them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ._texts import equals

__all__ = [
    "Category",
    "Flag",
    "Level",
    "Missing",
    "Test",
    "Threshold",
    "format_value",
    "kind_of_test",
    "test_from_dict",
]


class Test(ABC):
    """A question about one column of a raw table, with two or more outcomes.

    Attributes
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    """

    __slots__ = ()
    # The name would make pytest collect it where it is imported.
    __test__: ClassVar[bool] = False

    kind: ClassVar[str]
    feature: int
    name: str

    @property
    def n_outcomes(self) -> int:
        """Number of outcomes."""
        return 2

    @property
    def missing_outcome(self) -> int:
        """The outcome of a missing value."""
        return 1

    @abstractmethod
    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether the test holds."""

    @property
    def is_text(self) -> bool | None:
        """Whether the test is about text or about numbers; None if it suits any column."""
        return None

    def column_of(self, table: Any) -> NDArray[Any]:
        """Return the column of a :class:`~certree.encoding.Table` that the test is about."""
        column: NDArray[Any] = table.column(self.feature)
        return column

    def check(self, column: NDArray[Any]) -> None:
        """Raise ValueError if the column holds text in place of numbers, or the reverse."""
        # A column without any value has no type of its own and comes as numbers.
        found = "dates or durations" if column.dtype.kind in "mM" else "numbers"
        if self.is_text and column.dtype != object and not is_missing(column).all():
            raise ValueError(
                f"Column {self.name!r} held text in training, but now holds {found}; convert it to "
                "strings."
            )
        if self.is_text is False and (column.dtype == object or found != "numbers"):
            raise ValueError(
                f"Column {self.name!r} held numbers in training, but now holds "
                f"{'text' if column.dtype == object else found}; convert it to numbers."
            )

    def outcome(self, column: NDArray[Any]) -> NDArray[np.int32]:
        """Return for each value of the column the outcome: 0 holds, 1 does not.

        Parameters
        ----------
        column : ndarray
            A column of a :class:`~certree.encoding.Table`: float64 with NaN, bool, or object
            (text) with None.
        """
        return np.logical_not(self.holds(column)).astype(np.int32)

    @abstractmethod
    def describe(self, outcome: int = 0) -> str:
        """Return the outcome in words, such as ``age <= 35.5`` and ``age > 35.5``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if values.get("missing", True) is None:
            del values["missing"]
        return {"kind": self.kind, **values}

    def __str__(self) -> str:
        return self.describe(0)

    def _choose(self, outcome: int, texts: tuple[str, str]) -> str:
        if outcome not in (0, 1):
            raise ValueError(f"The test {texts[0]!r} has outcomes 0 and 1, got {outcome!r}.")
        return texts[outcome]


class SidedTest(Test):
    """A binary test about the values of a column, with a side for missing ones.

    Attributes
    ----------
    missing : bool or None
        Whether missing values hold; None if none was missing in training.
    """

    __slots__ = ()
    missing: bool | None

    @property
    def missing_outcome(self) -> int:
        """The outcome of a missing value."""
        return 0 if self.missing else 1

    def silent(self) -> Test:
        """Return the test without a word about missing values."""
        return cast(Test, replace(cast(Any, self), missing=None))

    def missing_words(self, outcome: int) -> str:
        """Return the words about missing values for an outcome, or an empty text."""
        is_said = self.missing is not None and outcome == self.missing_outcome
        return " or missing" if is_said else ""

    def _choose(self, outcome: int, texts: tuple[str, str]) -> str:
        return super()._choose(outcome, texts) + self.missing_words(outcome)

    def _check_missing(self) -> None:
        if self.missing is not None and not isinstance(self.missing, bool):
            raise ValueError(
                f"missing must be True, False or None, got {self.missing!r} for column "
                f"{self.name!r}."
            )

    def _with_missing(self, holds: Any, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return where the test holds, with missing values on their side."""
        return _truth(holds) | is_missing(column) if self.missing else _truth(holds)


@dataclass(frozen=True, slots=True)
class Threshold(SidedTest):
    """``x <= threshold``.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    threshold : float
        The largest value that holds.
    missing : bool, optional
        Whether missing values hold; None if none was missing in training.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = Threshold(0, "age", 35.5)
    >>> test.describe(0), test.describe(1)
    ('age <= 35.5', 'age > 35.5')
    >>> test.outcome(np.array([20.0, 50.0, np.nan]))
    array([0, 1, 1], dtype=int32)
    >>> test = Threshold(0, "age", 35.5, missing=True)
    >>> test.describe(0), test.describe(1)
    ('age <= 35.5 or missing', 'age > 35.5')
    >>> test.outcome(np.array([20.0, 50.0, np.nan]))
    array([0, 1, 0], dtype=int32)
    """

    kind: ClassVar[str] = "threshold"
    feature: int
    name: str
    threshold: float
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()
        object.__setattr__(self, "threshold", float(self.threshold))

    @property
    def is_text(self) -> bool:
        """Whether the test is about text: no."""
        return False

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is at most the threshold."""
        self.check(column)
        return self._with_missing(column <= self.threshold, column)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name <= threshold`` or ``name > threshold``."""
        number = format_value(self.threshold)
        return self._choose(outcome, (f"{self.name} <= {number}", f"{self.name} > {number}"))


@dataclass(frozen=True, slots=True)
class Level(SidedTest):
    """``x <= value`` in the order of the levels of an ordered categorical column.

    The test does not hold for a value outside the levels.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    levels : sequence
        All levels of the column, lowest first: text, or numbers.
    value : str, int, float or bool
        The highest level that holds.
    missing : bool, optional
        Whether missing values hold; None if none was missing in training.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = Level(0, "stage", ("I", "II", "III"), "II")
    >>> test.describe(0), test.describe(1)
    ('stage <= II', 'stage > II')
    >>> test.outcome(np.array(["I", "III", "IV", None], dtype=object))
    array([0, 1, 1, 1], dtype=int32)
    """

    kind: ClassVar[str] = "level"
    feature: int
    name: str
    levels: tuple[str | int | float | bool, ...]
    value: str | int | float | bool
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()
        if not isinstance(self.levels, tuple | list):
            raise ValueError(f"The levels of {self.name!r} must be a list, got {self.levels!r}.")
        levels = tuple(_plain_value(level) for level in self.levels)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "value", _plain_value(self.value))
        if len({isinstance(level, str) for level in levels}) > 1:
            raise ValueError(f"The levels of {self.name!r} are both text and numbers: {levels}.")
        if len(set(levels)) < len(levels) or self.value not in levels:
            raise ValueError(
                f"The levels of {self.name!r} must differ and contain {self.value!r}, got {levels}."
            )

    @property
    def is_text(self) -> bool:
        """Whether the levels are text."""
        return isinstance(self.value, str)

    @property
    def rank(self) -> int:
        """Position of the value among the levels."""
        return self.levels.index(self.value)

    @property
    def held(self) -> tuple[str | int | float | bool, ...]:
        """The levels that hold."""
        return self.levels[: self.rank + 1]

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is at most the level."""
        self.check(column)
        return self._with_missing(level_ranks(self.levels, column) <= self.rank, column)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name <= value`` or ``name > value``."""
        value = format_value(self.value)
        return self._choose(outcome, (f"{self.name} <= {value}", f"{self.name} > {value}"))

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        # The class is made anew for its slots, so super() without arguments does not know it.
        return {**Test.to_dict(self), "levels": list(self.levels)}


@dataclass(frozen=True, slots=True)
class Category(SidedTest):
    """``x = value``; missing values and categories unseen in training do not hold.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = Category(2, "color", "red")
    >>> test.describe(0), test.describe(1)
    ('color = red', 'color != red')
    >>> test.outcome(np.array(["red", "blue", None], dtype=object))
    array([0, 1, 1], dtype=int32)
    """

    kind: ClassVar[str] = "category"
    feature: int
    name: str
    value: str | int | float | bool
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()
        if self.missing:
            raise ValueError(
                f"A missing value of {self.name!r} is a category of its own and never equals "
                f"{self.value!r}; missing must be False or None."
            )
        object.__setattr__(self, "value", _plain_value(self.value))

    @property
    def is_text(self) -> bool:
        """Whether the category is text."""
        return isinstance(self.value, str)

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is the category."""
        self.check(column)
        if self.is_text and column.dtype != object:
            return np.zeros(len(column), dtype=np.bool_)
        if isinstance(self.value, str):
            return equals(column, self.value)
        # As a float: NumPy cannot compare truth values with integers beyond 64 bits.
        return _truth(column == float(self.value))

    def describe(self, outcome: int = 0) -> str:
        """Return ``name = value`` or ``name != value``."""
        value = format_value(self.value)
        return self._choose(outcome, (f"{self.name} = {value}", f"{self.name} != {value}"))


@dataclass(frozen=True, slots=True)
class Flag(SidedTest):
    """``x`` is 1 or true, that is above one half.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    boolean : bool
        Whether the column holds truth values rather than the numbers 0 and 1: it then reads
        ``smoker`` and ``not smoker`` instead of ``smoker = 1`` and ``smoker = 0``.
    missing : bool, optional
        Whether missing values hold; None if none was missing in training.

    .. versionadded:: 0.1
    """

    kind: ClassVar[str] = "flag"
    feature: int
    name: str
    boolean: bool = False
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()

    @property
    def is_text(self) -> bool:
        """Whether the test is about text: no."""
        return False

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is true."""
        self.check(column)
        return self._with_missing(column > 0.5, column)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name`` or ``not name``; ``name = 1`` or ``name = 0`` for numbers."""
        if self.boolean:
            return self._choose(outcome, (self.name, f"not {self.name}"))
        return self._choose(outcome, (f"{self.name} = 1", f"{self.name} = 0"))


@dataclass(frozen=True, slots=True)
class Missing(Test):
    """``x`` is missing.

    .. versionadded:: 0.1
    """

    kind: ClassVar[str] = "missing"
    feature: int
    name: str

    @property
    def missing_outcome(self) -> int:
        """The outcome of a missing value."""
        return 0

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is missing."""
        return is_missing(column)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name is missing`` or ``name is present``."""
        return self._choose(outcome, (f"{self.name} is missing", f"{self.name} is present"))


_KINDS: dict[str, type[Test]] = {t.kind: t for t in (Threshold, Level, Category, Flag, Missing)}

TestClass = TypeVar("TestClass", bound=type[Test])


def register_kind(cls: TestClass) -> TestClass:
    """Let :func:`test_from_dict` know a class of tests; to be used as a decorator."""
    _KINDS[cls.kind] = cls
    return cls


def kind_of_test(kind: Any) -> type[Test]:
    """Return the class of the tests of a kind."""
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"Unknown kind of test {kind!r:.60}; known are {', '.join(_KINDS)}.")
    return _KINDS[kind]


def test_from_dict(values: Mapping[str, Any]) -> Test:
    """Return the test that :meth:`Test.to_dict` described.

    Parameters
    ----------
    values : mapping
        With the keys ``kind``, ``feature``, ``name`` and those of the kind. The key ``missing`` may
        be absent.

    Examples
    --------
    >>> test_from_dict(Flag(0, "smoker", True).to_dict())
    Flag(feature=0, name='smoker', boolean=True, missing=None)
    """
    cls = kind_of_test(values.get("kind"))
    wanted = {f.name for f in fields(cls)}  # type: ignore[arg-type]
    if not wanted - {"missing"} <= set(values) - {"kind"} <= wanted:
        raise ValueError(
            f"A test of kind {cls.kind!r} has the keys {sorted(wanted)}, got "
            f"{sorted(set(values) - {'kind'})}."
        )
    return cls(**{key: value for key, value in values.items() if key != "kind"})


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return for each value of a column of a table whether it is missing."""
    if column.dtype == object:
        return _truth(column == None)  # noqa: E711 (elementwise)
    if column.dtype == np.bool_:
        return np.zeros(len(column), dtype=np.bool_)
    return _truth(np.isnan(column))


def _truth(values: Any) -> NDArray[np.bool_]:
    return np.asarray(values, dtype=np.bool_)


def format_value(value: str | int | float | bool) -> str:
    """Return a threshold or category as it reads in a tree: 3 for 3.0, all digits otherwise."""
    if isinstance(value, str):
        # Blanks at the ends cannot be seen, nor can an empty string.
        return value if value and value == value.strip() else f'"{value}"'
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _plain_value(value: Any) -> str | int | float | bool:
    """Return a category as the plain Python value that equals it."""
    if type(value) is str:  # most are, and a table may have as many as rows
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool | int | str) or (isinstance(value, float) and value == value):
        return value
    raise TypeError(
        f"A category must be a string, a number or a truth value, got {value!r} of type "
        f"{type(value).__name__}."
    )


def level_ranks(levels: Sequence[Any], column: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each value among the levels; the number of levels for other values."""
    positions = {level: position for position, level in enumerate(levels)}
    none = len(positions)
    if column.dtype == object or isinstance(levels[0], str):
        return np.fromiter((positions.get(v, none) for v in column), np.intp, count=len(column))
    return find_numbers(np.array(levels, dtype=np.float64), column)


def find_numbers(values: NDArray[np.float64], column: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each number among the values; the number of values for others."""
    order = np.argsort(values)
    numbers = column.astype(np.float64, copy=False)
    nearest = order[np.searchsorted(values, numbers, sorter=order).clip(max=len(values) - 1)]
    return np.where(values[nearest] == numbers, nearest, len(values))
