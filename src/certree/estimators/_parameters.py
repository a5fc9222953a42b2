"""Checks of parameters, as data: one for each parameter, next to its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from sys import float_info
from typing import Protocol

from certree import metrics
from certree.engine._executors import is_executor
from certree.fitting.objectives import DIRECT
from certree.metrics import Metric
from certree.numbers._fractions import is_number, is_whole, read_fraction, shown

from ._suggestions import nearest_objective, nearest_value


class Check(Protocol):
    """Something that accepts a value of a parameter or raises."""

    def __call__(self, name: str, value: object) -> None:
        """Raise TypeError or ValueError unless `value` is fine for the parameter `name`."""


@dataclass(frozen=True)
class WholeNumber:
    """An integer of at least `minimum`; None if `none` says what that means."""

    minimum: int
    none: str | None = None
    allow_bool: bool = False

    def __call__(self, name: str, value: object) -> None:
        if type(value) is int and value >= self.minimum:
            return
        if value is None and self.none is not None:
            return
        wanted = f"an integer of at least {self.minimum}{_or_none(self.none)}"
        if not is_whole(value) and not (self.allow_bool and isinstance(value, bool)):
            raise _wrong_type(name, wanted, value)
        if int(value) < self.minimum:
            raise ValueError(f"{name} must be {wanted}, got {value!r}.")


@dataclass(frozen=True)
class Number:
    """A finite number from `minimum` to `maximum`; None if `none` says what that means.

    If `text`, it may be written as such, as a decimal or a fraction: ``"1/3"``.
    """

    minimum: float
    maximum: float = inf
    minimum_allowed: bool = True
    none: str | None = None
    text: bool = False
    maximum_allowed: bool = True

    def __call__(self, name: str, value: object) -> None:
        if value is None and self.none is not None:
            return
        if not is_number(value) and not (self.text and isinstance(value, str)):
            raise _wrong_type(name, self._wanted(), value)
        try:
            number = read_fraction(value, name)
        except ValueError:
            raise ValueError(f"{name} must be {self._wanted()}, got {value!r}.") from None
        above = number > self.minimum or (self.minimum_allowed and number == self.minimum)
        below = number < self.maximum or (self.maximum_allowed and number == self.maximum)
        if not (above and below and number <= float_info.max):
            raise ValueError(f"{name} must be {self._wanted()}, got {shown(value)}.")

    def _wanted(self) -> str:
        if self.maximum < inf and not self.maximum_allowed:
            return f"a number above {self.minimum:g} and below {self.maximum:g}"
        if self.maximum < inf:
            return f"a number from {self.minimum:g} to {self.maximum:g}{_or_none(self.none)}"
        relation = "of at least" if self.minimum_allowed else "greater than"
        return f"a finite number {relation} {self.minimum:g}{_or_none(self.none)}"


@dataclass(frozen=True)
class RowsOrShare:
    """A number of rows of at least 1, or a share of all rows: a fraction of at most one half."""

    def __call__(self, name: str, value: object) -> None:
        if is_whole(value) and value >= 1:
            return
        wanted = "an integer of at least 1, or a share of the rows above 0 and up to 0.5"
        if not is_number(value):
            raise _wrong_type(name, wanted, value)
        if is_whole(value) or not 0 < value <= 0.5:
            raise ValueError(f"{name} must be {wanted}, got {value!r}.")


@dataclass(frozen=True)
class OneOf:
    """One of a few texts, or None, if that is among them."""

    options: tuple[str | None, ...]
    nearest: Callable[[str, Iterable[str]], str | None] = nearest_value

    def __call__(self, name: str, value: object) -> None:
        if (value is None or isinstance(value, str)) and value in self.options:
            return
        supported = ", ".join(f'"{one}"' if one else "None" for one in self.options)
        message = f"{name}={value!r} is not supported; the supported values are {supported}."
        if not isinstance(value, str):
            raise TypeError(message)
        near = self.nearest(value, filter(None, self.options))
        raise ValueError(message if near is None else f"{message} The nearest is {name}={near!r}.")


def check_verbose(name: str, value: object) -> None:
    """Refuse what says neither how much is shown nor "auto"."""
    if isinstance(value, bool) or (isinstance(value, str) and value == "auto"):
        return
    wanted = '"auto", 0 (silent) or 1 (always show progress)'
    if not is_whole(value):
        raise _wrong_type(name, wanted, value)
    if value < 0:
        raise ValueError(f"{name} must be {wanted}, got {value!r}.")


def check_objective(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless `value` can be an objective."""
    if isinstance(value, type):
        raise TypeError(
            f"{name}={value.__name__} is a class; give one of its instances, {value.__name__}()."
        )
    if isinstance(value, Metric) or callable(value):
        return
    if isinstance(value, str):
        # Some have further names.
        with suppress(ValueError):
            metrics.get(value)
            return
    others = (other for other in metrics.names() if other not in DIRECT)
    OneOf((*DIRECT, *others), nearest_objective)(name, value)


def check_executor(name: str, value: object) -> None:
    """Refuse what runs no tasks."""
    if not is_executor(value):
        wanted = (
            "a concurrent.futures.Executor, a Dask client, the module ray, a function that makes "
            "an executor, or None"
        )
        raise _wrong_type(name, wanted, value)


def _or_none(meaning: str | None) -> str:
    return "" if meaning is None else f", or None ({meaning})"


def _wrong_type(name: str, wanted: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {wanted}, got {value!r} of type {type(value).__name__}.")
