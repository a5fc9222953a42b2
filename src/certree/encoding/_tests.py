"""Tests: the questions that trees ask about a row.

A test looks at one raw column and has two or more outcomes that partition the rows. It says the
:class:`~certree.encoding.Condition` of each outcome, and how to become JSON. All tests here are
binary: outcome 0 is "holds", outcome 1 "does not hold". :mod:`certree.encoding._multiway` has the
one with more outcomes.

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

from ._cell_values import find_numbers, format_value, is_missing, level_ranks, plain_value
from ._condition import Condition

__all__ = [
    "Category",
    "Flag",
    "Level",
    "Missing",
    "Test",
    "Threshold",
    "find_numbers",
    "format_value",
    "is_missing",
    "kind_of_test",
    "kinds_of_tests",
    "level_ranks",
    "test_from_dict",
]


class Test(ABC):
    """A question about one column of a raw table, with two or more outcomes.

    A kind of test says the :class:`Condition` of each outcome. All else follows from these.

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

    @abstractmethod
    def condition(self, outcome: int) -> Condition:
        """Return what an outcome says about a value; conditions of one test are of one kind."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The condition of each outcome."""
        return tuple(map(self.condition, range(self.n_outcomes)))

    @property
    def cut(self) -> Any:
        """Where two outcomes part a column of numbers or times in two; None if they do not."""
        first = self.condition(0)
        is_cut = self.n_outcomes == 2 and first.kind in ("number", "time", "flag")
        if not is_cut or first.excluded or (first.low is None) == (first.high is None):
            return None
        return first.low if first.high is None else first.high

    @property
    def usual_outcome(self) -> int | None:
        """The outcome of values that no other one names, where a tree may choose it."""
        return None

    def with_usual(self, outcome: int) -> Test:
        """Return the test with another usual outcome, if it has one."""
        return self

    def joined(self, groups: Sequence[Sequence[int]]) -> Test:
        """Return the test with one outcome for each group of outcomes."""
        raise TypeError(f"Outcomes of {self.describe(0)!r} cannot be joined.")

    def without_missing_words(self) -> Test:
        """Return the test without a word about missing values."""
        return self

    def renamed(self, name: str, has_missing: bool) -> Test:
        """Return the test for a column of another name that may have missing values."""
        return cast(Test, replace(cast(Any, self), name=name))

    @property
    def missing_outcome(self) -> int:
        """The outcome of a missing value."""
        return next(k for k, one in enumerate(self.conditions) if one.missing)

    @property
    def is_text(self) -> bool | None:
        """Whether the test is about text or about numbers; None if it suits any column."""
        return self.condition(0).is_text

    def column_of(self, table: Any) -> NDArray[Any]:
        """Return the column of a :class:`~certree.encoding.Table` that the test is about."""
        column: NDArray[Any] = table.column(self.feature)
        return column

    def check(self, column: NDArray[Any]) -> None:
        """Raise ValueError if the column holds text in place of numbers, or the reverse."""
        is_text = self.is_text
        # A column without any value has no type of its own and comes as numbers.
        found = "dates or durations" if column.dtype.kind in "mM" else "numbers"
        if is_text and column.dtype != object and not is_missing(column).all():
            raise ValueError(
                f"Column {self.name!r} held text in training, but now holds {found}; convert it to "
                "strings."
            )
        if is_text is False and (column.dtype == object or found != "numbers"):
            raise ValueError(
                f"Column {self.name!r} held numbers in training, but now holds "
                f"{'text' if column.dtype == object else found}; convert it to numbers."
            )

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it has the first outcome."""
        self.check(column)
        return self.condition(0).holds(column)

    def outcome(self, column: NDArray[Any]) -> NDArray[np.int32]:
        """Return for each value of the column the outcome: of two, 0 holds and 1 does not.

        Parameters
        ----------
        column : ndarray
            A column of a :class:`~certree.encoding.Table`: float64 with NaN, bool, or object
            (text) with None.
        """
        result = np.logical_not(self.holds(column)).astype(np.int32)
        for number in range(2, self.n_outcomes):
            result[self.condition(number).holds(column)] = number
        return result

    def describe(self, outcome: int = 0) -> str:
        """Return the outcome in words, such as ``age <= 35.5`` and ``age > 35.5``."""
        if not 0 <= outcome < self.n_outcomes:
            last = self.n_outcomes - 1
            listed = "0 and 1" if last == 1 else f"0..{last}"
            raise ValueError(
                f"The question of {self.name!r} has outcomes {listed}, got {outcome!r}."
            )
        return self.condition(outcome).describe()

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary of plain values that JSON can hold."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if values.get("missing", True) is None:
            del values["missing"]
        return {"kind": self.kind, **values}

    def __str__(self) -> str:
        return self.describe(0)


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

    def without_missing_words(self) -> Test:
        """Return the test without a word about missing values."""
        return cast(Test, replace(cast(Any, self), missing=None))

    def renamed(self, name: str, has_missing: bool) -> Test:
        """Return the test for a column of another name that may have missing values."""
        missing = False if self.missing is None and has_missing else self.missing
        return cast(Test, replace(cast(Any, self), name=name, missing=missing))

    def _condition(self, outcome: int, kind: Any, **parts: Any) -> Condition:
        """Return a condition with the side of missing values."""
        is_taken, is_told = outcome == self.missing_outcome, self.missing is not None
        return Condition(
            self.feature, self.name, kind, missing=is_taken, tells_missing=is_told, **parts
        )

    def _check_missing(self) -> None:
        if self.missing is not None and not isinstance(self.missing, bool):
            raise ValueError(
                f"missing must be True, False or None, got {self.missing!r} for column "
                f"{self.name!r}."
            )


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

    def condition(self, outcome: int) -> Condition:
        """Return that the value is at most the threshold, or above it."""
        low, high = (None, self.threshold) if outcome == 0 else (self.threshold, None)
        return self._condition(outcome, "number", low=low, high=high)


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
        levels = tuple(plain_value(level) for level in self.levels)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "value", plain_value(self.value))
        if len({isinstance(level, str) for level in levels}) > 1:
            raise ValueError(f"The levels of {self.name!r} are both text and numbers: {levels}.")
        if len(set(levels)) < len(levels) or self.value not in levels:
            raise ValueError(
                f"The levels of {self.name!r} must differ and contain {self.value!r}, got {levels}."
            )

    @property
    def rank(self) -> int:
        """Position of the value among the levels."""
        return self.levels.index(self.value)

    def condition(self, outcome: int) -> Condition:
        """Return that the value is at most a level, or above it or no level."""
        low, high = (None, self.value) if outcome == 0 else (self.value, None)
        return self._condition(outcome, "level", low=low, high=high, known=self.levels)

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
        object.__setattr__(self, "value", plain_value(self.value))

    def condition(self, outcome: int) -> Condition:
        """Return that the value is the category, or that it is not."""
        return self._condition(outcome, "set", values=(self.value,), excluded=outcome == 1)


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

    def condition(self, outcome: int) -> Condition:
        """Return that the value is above one half, or not."""
        if self.boolean:
            said = self.name if outcome == 0 else f"not {self.name}"
        else:
            said = f"{self.name} = {1 - outcome}"
        low, high = (0.5, None) if outcome == 0 else (None, 0.5)
        return self._condition(outcome, "flag", low=low, high=high, boolean=self.boolean, said=said)


@dataclass(frozen=True, slots=True)
class Missing(Test):
    """``x`` is missing.

    .. versionadded:: 0.1
    """

    kind: ClassVar[str] = "missing"
    feature: int
    name: str

    def condition(self, outcome: int) -> Condition:
        """Return that the value is missing, or that it is present."""
        return Condition(self.feature, self.name, "missing", missing=outcome == 0)


_KINDS: dict[str, type[Test]] = {t.kind: t for t in (Threshold, Level, Category, Flag, Missing)}

TestClass = TypeVar("TestClass", bound=type[Test])


def register_kind(cls: TestClass) -> TestClass:
    """Let :func:`test_from_dict` know a class of tests; to be used as a decorator."""
    _KINDS[cls.kind] = cls
    return cls


def kinds_of_tests() -> list[type[Test]]:
    """Return all classes of tests."""
    return list(_KINDS.values())


def kind_of_test(kind: Any) -> type[Test]:
    """Return the class of the tests of a kind."""
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"Unknown kind of question {kind!r:.60}; known are {', '.join(_KINDS)}.")
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
            f"A question of kind {cls.kind!r} has the keys {sorted(wanted)}, got "
            f"{sorted(set(values) - {'kind'})}."
        )
    return cls(**{key: value for key, value in values.items() if key != "kind"})
