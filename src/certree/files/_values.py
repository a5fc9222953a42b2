"""Values as JSON, and back: all that parameters and fitted attributes hold.

Numbers, texts, truth values, None and lists are themselves. Any other value is an object with one
key, its tag, which says what it is: ``{"tuple": [1, 2]}``, ``{"fraction": "1/3"}``,
``{"array": {...}}``. Only the tags that are listed here and in :mod:`certree.files._parts` can be
read, and each makes values of one class, from checked parts. So a file cannot run code.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from decimal import Decimal
from fractions import Fraction
from types import NoneType, UnionType
from typing import (
    Any,
    NamedTuple,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from certree.tree._payload_labels import read_array, write_array
from certree.tree._plain import plain_float, read, read_float, read_whole, shown

C = TypeVar("C", bound=type)


class Form(NamedTuple):
    """How the values of a class are written, and read from JSON at a place in a file."""

    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


FORMS: dict[str, Form] = {}
"""By tag."""

TAGS: dict[type, str] = {}
"""By class."""


class NotWritableError(TypeError):
    """A value has no form in files: a function, a model of another library."""


class Omitted:
    """Stands for a parameter that a model file could not hold; any use of it says so.

    Parameters
    ----------
    text : str
        What the parameter was.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<omitted: {self.text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Omitted) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self._reason()} So it has no {name!r}.")

    def __call__(self, *given: Any, **named: Any) -> NoReturn:
        raise ValueError(self._reason())

    def _reason(self) -> str:
        return (
            f"The model was loaded from a file, which could not hold {self.text}; give it again, "
            "by set_params for a parameter."
        )


def form(tag: str, cls: type) -> Callable[[type], None]:
    """Register a class with the functions `write` and `read` as the form of another class."""

    def register(holder: Any) -> None:
        FORMS[tag] = Form(holder.write, holder.read)
        TAGS[cls] = tag

    return register


def to_plain(value: Any) -> Any:
    """Return a value in the terms of JSON.

    Raises
    ------
    NotWritableError
        If it has no form there, such as a function.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return plain_float(float(value))
    if isinstance(value, str):
        return str(value)
    if type(value) in (list, range):
        return [to_plain(item) for item in value]
    tag = TAGS.get(type(value))
    if tag is not None:
        return {tag: FORMS[tag].write(value)}
    if isinstance(value, Mapping):
        return {"map": _write_pairs(value)}
    if isinstance(value, datetime.datetime) and not getattr(value, "nanosecond", 0):  # of pandas
        return {"datetime": value.isoformat()}
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        return {"array": _Array.write(np.asarray(value))}
    raise NotWritableError(f"{type(value).__name__} {shown(value)}")


def plain_or_omitted(name: str, value: Any) -> Any:
    """Return a parameter in the terms of JSON, or what it was, if it has no form there."""
    try:
        return to_plain(value)
    except NotWritableError as error:
        return to_plain(Omitted(f"{name}={error}"))


def from_plain(value: Any, where: str) -> Any:
    """Return the value that :func:`to_plain` wrote; ValueError for anything else."""
    if isinstance(value, list):
        return [from_plain(item, where) for item in value]
    if not isinstance(value, dict):
        return read(str | int | float | bool | None, value, where)
    tag = next(iter(value)) if len(value) == 1 else None
    if tag == "float":
        return read_float(value, where)
    if tag not in FORMS:
        known = ", ".join(sorted(FORMS))
        raise ValueError(f"{where} must be an object with one key of {known}, got {shown(tag)}.")
    return FORMS[tag].read(value[tag], where)


def read_object(
    value: Any, keys: set[str], where: str, optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return an object of a file that has exactly these keys; older files lack optional ones."""
    if not isinstance(value, dict) or not keys - optional <= set(value) <= keys:
        raise ValueError(
            f"{where} must be an object with the keys {', '.join(sorted(keys))}, got "
            f"{shown(value)}."
        )
    return value


def read_list(value: Any, where: str) -> list[Any]:
    """Return a list of a file."""
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a list, got {shown(value)}.")
    return value


def read_as(cls: type, value: Any, where: str) -> Any:
    """Return a value of a file that must be of a class."""
    found = from_plain(value, where)
    if not isinstance(found, cls):
        raise ValueError(f"{where} must hold a {cls.__name__}, got {type(found).__name__}.")
    return found


# ---- plain containers and numbers ---------------------------------------------------------------


@form("tuple", tuple)
class _Tuple:
    @staticmethod
    def write(value: tuple[Any, ...]) -> Any:
        return [to_plain(item) for item in value]

    @staticmethod
    def read(value: Any, where: str) -> tuple[Any, ...]:
        return tuple(from_plain(item, where) for item in read_list(value, where))


@form("map", dict)
class _Map:
    @staticmethod
    def write(value: dict[Any, Any]) -> Any:
        return _write_pairs(value)

    @staticmethod
    def read(value: Any, where: str) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for pair in read_list(value, where):
            if not isinstance(pair, list) or len(pair) != 2:
                raise ValueError(f"{where} must be a list of pairs, got {shown(pair)}.")
            key = from_plain(pair[0], where)
            _check_key(key, where)
            found[key] = from_plain(pair[1], where)
        return found


def _write_pairs(value: Mapping[Any, Any]) -> Any:
    return [[to_plain(key), to_plain(item)] for key, item in value.items()]


def _check_key(key: Any, where: str) -> None:
    """Refuse keys that cannot be hashed; integers of any size could share one hash value."""
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if type(part) is int:
            read_whole(part, f"key of {where}", -(2**63), 2**64 - 1)
        elif not isinstance(part, str | bool | float | Fraction | None):
            raise ValueError(f"{where} cannot have the key {shown(key)}.")


@form("fraction", Fraction)
class _Fraction:
    @staticmethod
    def write(value: Fraction) -> str:
        return str(value)

    @staticmethod
    def read(value: Any, where: str) -> Fraction:
        return Fraction(read(Fraction, value, where))


@form("decimal", Decimal)
class _Decimal:
    @staticmethod
    def write(value: Decimal) -> str:
        return str(value)

    @staticmethod
    def read(value: Any, where: str) -> Decimal:
        text = read(str, value, where)
        try:
            number = Decimal(text) if len(text) < 100 else None
        except ArithmeticError:
            number = None
        if number is None or not number.is_finite() or abs(number.adjusted()) > 400:
            raise ValueError(f"{where} must be a decimal number, got {shown(text)}.")
        return number


@form("datetime", datetime.datetime)
class _Datetime:
    @staticmethod
    def write(value: datetime.datetime) -> str:
        return value.isoformat()

    @staticmethod
    def read(value: Any, where: str) -> datetime.datetime:
        return datetime.datetime.fromisoformat(read(str, value, where))


@form("date", datetime.date)
class _Date:
    @staticmethod
    def write(value: datetime.date) -> str:
        return value.isoformat()

    @staticmethod
    def read(value: Any, where: str) -> datetime.date:
        return datetime.date.fromisoformat(read(str, value, where))


@form("timedelta", datetime.timedelta)
class _Timedelta:
    @staticmethod
    def write(value: datetime.timedelta) -> list[int]:
        return [value.days, value.seconds, value.microseconds]

    @staticmethod
    def read(value: Any, where: str) -> datetime.timedelta:
        days, seconds, rest = read(tuple[int, int, int], value, where)
        if abs(days) >= 10**9 or not (0 <= seconds < 86_400 and 0 <= rest < 10**6):
            raise ValueError(f"{where} must be days, seconds and microseconds, got {value}.")
        return datetime.timedelta(days, seconds, rest)


@form("array", np.ndarray)
class _Array:
    @staticmethod
    def write(value: NDArray[Any]) -> Any:
        if value.dtype.kind == "O":
            values, dtype = [to_plain(item) for item in value.ravel().tolist()], "|O"
        else:
            try:
                dtype, values = write_array(value.ravel())
            except TypeError as error:
                raise NotWritableError(str(error)) from None
        return {"dtype": dtype, "shape": list(value.shape), "values": values}

    @staticmethod
    def read(value: Any, where: str) -> NDArray[Any]:
        parts = read_object(value, {"dtype", "shape", "values"}, where)
        shape = [
            read_whole(n, f"shape of {where}", 0, 2**31) for n in read_list(parts["shape"], where)
        ]
        values = read_list(parts["values"], where)
        if len(shape) > 4 or math.prod(shape) != len(values):
            raise ValueError(f"{where} has {len(values)} values, which its shape contradicts.")
        if parts["dtype"] == "|O":
            flat = np.empty(len(values), dtype=object)
            for place, item in enumerate(values):
                flat[place] = from_plain(item, where)
        else:
            flat = read_array(parts["dtype"], values, where)
        return flat.reshape(shape)


@form("omitted", Omitted)
class _Omitted:
    @staticmethod
    def write(value: Omitted) -> str:
        return value.text

    @staticmethod
    def read(value: Any, where: str) -> Omitted:
        return Omitted(read(str, value, where))


# ---- objects that are made of parts --------------------------------------------------------------


def written_as(
    cls: Any,
    tag: str,
    parts: Callable[[Any], Mapping[str, Any]],
    names: tuple[str, ...],
    make: Callable[..., Any] | None = None,
    optional: frozenset[str] = frozenset(),
) -> None:
    """Let files hold objects of a class by named parts, which its constructor takes.

    Parameters
    ----------
    cls : type
        The class.
    tag : str
        Its name in files.
    parts : callable
        From an object to its parts.
    names : tuple of str
        Their names.
    make : callable, optional
        What makes an object of parts; by default the class.
    optional : set of str
        The parts that older files lack.
    """

    def write(value: Any) -> Any:
        return {name: to_plain(part) for name, part in parts(value).items()}

    def read_parts(value: Any, where: str) -> Any:
        given = read_object(value, set(names), where, optional)
        read_in = {name: from_plain(part, f"{name} of {where}") for name, part in given.items()}
        try:
            return (cls if make is None else make)(**read_in)
        except (TypeError, AttributeError, IndexError, KeyError, ArithmeticError) as error:
            raise ValueError(f"{where} is not a {cls.__name__}: {shown(str(error))}.") from None

    FORMS[tag] = Form(write, read_parts)
    TAGS[cls] = tag


def written_by_fields(cls: C) -> C:
    """Let files hold a dataclass by its fields; to be used as a decorator.

    Fields with a default may be missing in files, since they were added later.
    """
    names = tuple(one.name for one in fields(cls))

    def parts(value: Any) -> dict[str, Any]:
        return {name: getattr(value, name) for name in names}

    def make(**given: Any) -> Any:
        hints = get_type_hints(cls)
        for name, part in given.items():
            if not fits(hints[name], part):
                raise ValueError(f"{name} of a {cls.__name__} cannot be {shown(part)}.")
        return cls(**given)

    optional = frozenset(one.name for one in fields(cls) if one.default is not MISSING)
    written_as(cls, cls.__name__, parts, names, make, optional)
    return cls


def fits(hint: Any, value: Any) -> bool:
    """Return whether a value has the type that an attribute declares."""
    origin = get_origin(hint)
    if hint is Any:
        return True
    if hint is None or hint is NoneType:
        return value is None
    if origin in (Union, UnionType):
        return any(fits(one, value) for one in get_args(hint))
    if origin is np.ndarray:
        wanted = get_args(get_args(hint)[1])[0]
        is_numeric = isinstance(wanted, type) and issubclass(wanted, np.number)
        return isinstance(value, np.ndarray) and (not is_numeric or value.dtype.kind in "iuf")
    if origin is list:
        return type(value) is list and all(fits(get_args(hint)[0], item) for item in value)
    if origin is not None:
        return isinstance(value, origin)
    if isinstance(value, Omitted):
        return True
    if hint in (int, float, bool, str):
        return type(value) is hint or (hint is float and type(value) is int)
    return isinstance(value, hint)
