"""Tests: the questions that trees ask about a row.

A test looks at one raw column and has two or more outcomes that partition the rows. It knows how to
answer itself for a column of a :class:`~certree.encoding.Table`, how to say each outcome in words,
and how to become JSON. All tests here are binary: outcome 0 is "holds", outcome 1 "does not hold",
which is where missing values go, so that a missing value takes the same way in training and in
prediction. :mod:`certree.encoding._multiway` has the one with more outcomes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from ._table import Table

__all__ = [
    "Category",
    "Flag",
    "Missing",
    "Test",
    "Threshold",
    "encode_tests",
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

    @abstractmethod
    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether the test holds."""

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
        return {"kind": self.kind, **values}

    def __str__(self) -> str:
        return self.describe(0)

    def _choose(self, outcome: int, texts: tuple[str, str]) -> str:
        if outcome not in (0, 1):
            raise ValueError(f"The test {texts[0]!r} has outcomes 0 and 1, got {outcome!r}.")
        return texts[outcome]

    def _check_numbers(self, column: NDArray[Any]) -> None:
        if column.dtype == object:
            raise ValueError(
                f"Column {self.name!r} held numbers in training, but now holds text; convert it to "
                "numbers."
            )


@dataclass(frozen=True, slots=True)
class Threshold(Test):
    """``x <= threshold``; a missing value does not hold.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = Threshold(0, "age", 35.5)
    >>> test.describe(0), test.describe(1)
    ('age <= 35.5', 'age > 35.5')
    >>> test.outcome(np.array([20.0, 50.0, np.nan]))
    array([0, 1, 1], dtype=int32)
    """

    kind: ClassVar[str] = "threshold"
    feature: int
    name: str
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", float(self.threshold))

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is at most the threshold."""
        self._check_numbers(column)
        return _truth(column <= self.threshold)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name <= threshold`` or ``name > threshold``."""
        number = format_value(self.threshold)
        return self._choose(outcome, (f"{self.name} <= {number}", f"{self.name} > {number}"))


@dataclass(frozen=True, slots=True)
class Category(Test):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _plain_value(self.value))

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is the category."""
        if isinstance(self.value, str):
            if column.dtype == object:
                return _truth(column == self.value)
            _check_all_missing(self, column)
            return np.zeros(len(column), dtype=np.bool_)
        self._check_numbers(column)
        # As a float: NumPy compares truth values with no integer beyond 64 bits.
        return _truth(column == float(self.value))

    def describe(self, outcome: int = 0) -> str:
        """Return ``name = value`` or ``name != value``."""
        value = format_value(self.value)
        return self._choose(outcome, (f"{self.name} = {value}", f"{self.name} != {value}"))


@dataclass(frozen=True, slots=True)
class Flag(Test):
    """``x`` is 1 or true, that is above one half; a missing value does not hold.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    boolean : bool
        Whether the column holds truth values rather than the numbers 0 and 1: it then reads
        ``smoker`` and ``not smoker`` instead of ``smoker = 1`` and ``smoker = 0``.

    .. versionadded:: 0.1
    """

    kind: ClassVar[str] = "flag"
    feature: int
    name: str
    boolean: bool = False

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is true."""
        self._check_numbers(column)
        return _truth(column > 0.5)

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

    def holds(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return for each value of the column whether it is missing."""
        return is_missing(column)

    def describe(self, outcome: int = 0) -> str:
        """Return ``name is missing`` or ``name is present``."""
        return self._choose(outcome, (f"{self.name} is missing", f"{self.name} is present"))


_KINDS: dict[str, type[Test]] = {t.kind: t for t in (Threshold, Category, Flag, Missing)}

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
        With the keys ``kind``, ``feature``, ``name`` and those of the kind.

    Examples
    --------
    >>> test_from_dict(Flag(0, "smoker", True).to_dict())
    Flag(feature=0, name='smoker', boolean=True)
    """
    cls = kind_of_test(values.get("kind"))
    wanted = {f.name for f in fields(cls)}  # type: ignore[arg-type]
    if set(values) != wanted | {"kind"}:
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


def _check_all_missing(test: Test, column: NDArray[Any]) -> None:
    # A column without any value has no type of its own and comes as numbers.
    if not is_missing(column).all():
        raise ValueError(
            f"Column {test.name!r} held text in training, but now holds numbers; convert it to "
            "strings."
        )


# --- many tests at once ---------------------------------------------------------------------------


def encode_tests(tests: Sequence[Test], table: Table) -> NDArray[np.uint8]:
    """Answer all tests for all rows.

    Tests of a kind on the same column are answered together: a column is searched once among its
    thresholds or categories, and each test is then one comparison of small integers.

    Parameters
    ----------
    tests : sequence of Test
        Binary tests, in any order.
    table : Table
        The rows.

    Returns
    -------
    ndarray of uint8, shape (n_rows, n_tests), in Fortran order
        1 where the test holds, else 0.
    """
    result = np.empty((table.n_rows, len(tests)), dtype=np.uint8, order="F")
    groups: dict[tuple[int, type[Test]], list[int]] = {}
    for position, test in enumerate(tests):
        groups.setdefault((test.feature, type(test)), []).append(position)
    for (feature, cls), positions in groups.items():
        column = table.column(feature)
        group = [tests[position] for position in positions]
        done = False
        if len(group) > 1 and cls is Threshold:
            done = _encode_thresholds(group, positions, column, result)
        elif len(group) > 1 and cls is Category:
            done = _encode_categories(group, positions, column, result)
        if not done:
            for test, position in zip(group, positions, strict=True):
                result[:, position] = test.holds(column)
    return result


def _encode_thresholds(
    group: Sequence[Any], positions: list[int], column: NDArray[Any], result: NDArray[np.uint8]
) -> bool:
    """Answer thresholds on one column together; return whether that was possible."""
    if column.dtype == object:
        return False
    cuts, ranks = np.unique([test.threshold for test in group], return_inverse=True)
    # The number of cuts below x: x <= cuts[r] if and only if it is at most r. NaN sorts last.
    bins = np.searchsorted(cuts, column.astype(np.float64, copy=False), side="left")
    bins = bins.astype(np.min_scalar_type(len(cuts)))
    view = result.view(np.bool_)
    for position, rank in zip(positions, ranks.tolist(), strict=True):
        np.less_equal(bins, bins.dtype.type(rank), out=view[:, position])
    return True


def _encode_categories(
    group: Sequence[Any], positions: list[int], column: NDArray[Any], result: NDArray[np.uint8]
) -> bool:
    """Answer categories of one column together; return whether that was possible."""
    codes = {test.value: code for code, test in enumerate(group)}
    is_text = column.dtype == object
    if len(codes) < len(group) or any(isinstance(value, str) != is_text for value in codes):
        return False
    none = len(codes)
    if is_text:
        found = np.fromiter((codes.get(v, none) for v in column), np.intp, count=len(column))
    else:
        values = np.array(list(codes), dtype=np.float64)
        order = np.argsort(values)
        numbers = column.astype(np.float64, copy=False)
        nearest = order[np.searchsorted(values, numbers, sorter=order).clip(max=none - 1)]
        found = np.where(values[nearest] == numbers, nearest, none)
    found = found.astype(np.min_scalar_type(none))
    view = result.view(np.bool_)
    for code, position in enumerate(positions):
        np.equal(found, found.dtype.type(code), out=view[:, position])
    return True
