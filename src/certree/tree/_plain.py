"""Values as JSON has them, and back by the types that fields declare.

Files come from anywhere, so reading trusts nothing: every value is checked against the type that
its field declares, the size of numbers is checked before they are expanded, and every error is a
ValueError that names the place. Time and memory are linear in the size of the file.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

MOST_DIGITS = 4300
"""Of one whole number; as many as Python itself reads and writes."""

_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?", re.ASCII)


def plain(value: Any) -> Any:
    """Return a value in the terms of JSON: fractions as text such as "7/3", tuples as lists."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


def plain_fields(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass in the terms of JSON."""
    return {f.name: plain(getattr(record, f.name)) for f in fields(record)}


def load_json(text: str | bytes, what: str) -> Any:
    """Return what a JSON text holds.

    Parameters
    ----------
    text : str or bytes
        The text.
    what : str
        What writes such texts, for the message.

    Raises
    ------
    ValueError
        If it is not JSON, nests too deeply, or has a number of too many digits.
    """
    try:
        return json.loads(text, parse_int=_whole, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"The text nests too deeply; pass what {what} gave.") from None
    except ValueError as error:
        raise ValueError(f"The text is not JSON ({error}); pass what {what} gave.") from error


def read_fields(cls: type, data: Any, *, may_be_none: Iterable[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass from what :func:`plain_fields` made of them.

    Parameters
    ----------
    cls : type
        The dataclass.
    data : mapping
        One value for each field.
    may_be_none : iterable of str
        Fields that may be null although their type does not say so.

    Raises
    ------
    ValueError
        If a field is missing or unknown, or its value is not of the type that it declares.
    """
    if not isinstance(data, Mapping) or set(data) != {f.name for f in fields(cls)}:
        names = {f.name for f in fields(cls)}
        given = set(data) if isinstance(data, Mapping) else set()
        raise ValueError(
            f"not a certificate: missing fields {sorted(names - given)}, unknown fields "
            f"{_listed(given - names)}; give what {cls.__name__}.to_dict returned."
        )
    return read_known(cls, data, may_be_none=may_be_none)


def read_known(
    cls: type, data: Mapping[str, Any], *, may_be_none: Iterable[str] = ()
) -> dict[str, Any]:
    """Return those fields of a dataclass that are there, each of the type that it declares."""
    hints, nullable = type_hints(cls), set(may_be_none)
    return {
        name: None if value is None and name in nullable else read(hints[name], value, name)
        for name, value in data.items()
        if name in hints
    }


@cache
def type_hints(cls: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass."""
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls)}


def read(hint: Any, value: Any, where: str) -> Any:
    """Return a JSON value as the type that is declared, or raise ValueError."""
    if hint is Any:
        return _label(value, where)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _read_union(get_args(hint), value, where)
    if origin is tuple:
        return _read_tuple(get_args(hint), value, where)
    if origin is dict:
        if not isinstance(value, dict):
            _refuse(where, "an object", value)
        key_hint, item_hint = get_args(hint)
        return {read(key_hint, k, where): read(item_hint, v, where) for k, v in value.items()}
    if hasattr(hint, "_fields"):  # a named tuple
        types = get_type_hints(hint)
        return hint(*_read_tuple(tuple(types[name] for name in hint._fields), value, where))
    if hasattr(hint, "from_dict"):
        return hint.from_dict(value)
    return _read_scalar(hint, value, where)


def _read_scalar(hint: Any, value: Any, where: str) -> Any:
    if hint is float:
        return read_number(value, where)
    if hint is int:
        return read_whole(value, where)
    if hint in (str, bool):
        if type(value) is not hint:
            _refuse(where, "text" if hint is str else "true or false", value)
        return value
    if hint is Fraction:
        return _read_exact(value, where)
    raise TypeError(f"no way to read {hint!r}, the type of {where}")


def _read_union(hints: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and NoneType in hints:
        return None
    others = [hint for hint in hints if hint is not NoneType]
    several = [hint for hint in others if get_origin(hint) is tuple]
    if several and isinstance(value, list | tuple):
        return read(several[0], value, where)
    others = [hint for hint in others if hint not in several]
    if Fraction in others:
        return _read_exact(value, where)
    if len(others) == 1:
        return read(others[0], value, where)
    if type(value) not in others:
        _refuse(where, " or ".join(hint.__name__ for hint in others), value)
    return _single(value, where)


def _read_tuple(hints: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        _refuse(where, "a list", value)
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(read(hints[0], item, where) for item in value)
    if len(value) != len(hints):
        _refuse(where, f"lists of {len(hints)}", value)
    return tuple(read(hint, item, where) for hint, item in zip(hints, value, strict=True))


# ---- numbers and labels ------------------------------------------------------------------------


def read_whole(value: Any, where: str, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number within bounds."""
    if type(value) is not int:
        _refuse(where, "a whole number", value)
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    if not low <= value <= high:
        _refuse(where, f"a whole number from {low} to {high}", value)
    return value


def read_number(value: Any, where: str) -> float:
    """Return a finite number."""
    if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
        _refuse(where, "a finite number", value)
    return float(value)


def plain_float(value: float) -> Any:
    """Return a number in the terms of JSON; infinities, which JSON lacks, as {"float": "inf"}."""
    return value if math.isfinite(value) else {"float": repr(value)}


def read_float(value: Any, where: str) -> float:
    """Return a number as :func:`plain_float` wrote it."""
    if not isinstance(value, dict):
        return read_number(value, where)
    text = value.get("float") if set(value) == {"float"} else None
    if text not in ("inf", "-inf", "nan"):
        _refuse(where, "one number", value)
    return float(text)


def _read_exact(value: Any, where: str) -> int | Fraction:
    """Return an exact number, an int when it is whole."""
    if isinstance(value, str):
        if len(value) > 2 * MOST_DIGITS or not _FRACTION.fullmatch(value):
            _refuse(where, 'a fraction such as "7/3"', value)
        upper, _, lower = value.partition("/")
        if max(len(upper), len(lower)) > MOST_DIGITS or (lower and not lower.strip("0")):
            _refuse(where, 'a fraction such as "7/3"', value)
        number = Fraction(int(upper), int(lower or 1))
        value = number.numerator if number.denominator == 1 else number
    if type(value) not in (int, Fraction):
        _refuse(where, 'a number, or a fraction such as "7/3"', value)
    return value  # type: ignore[no-any-return]


def _label(value: Any, where: str) -> Any:
    """Return a class label or a group: one value, or a tuple of them."""
    if isinstance(value, list | tuple):
        return tuple(_single(item, where) for item in value)
    return _single(value, where)


def _single(value: Any, where: str) -> Any:
    if value is None or type(value) in (str, bool):
        return value
    number = read_number(value, where)
    return value if type(value) is int else number


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _listed(names: set[Any]) -> list[str]:
    """Return names for a message, shortened."""
    return sorted(shown(name) if len(str(name)) > 60 else str(name) for name in names)[:10]


def shown(value: Any) -> str:
    """Return a value for a message, shortened and without expanding what is large."""
    if isinstance(value, list | dict | tuple):
        return f"a {'object' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _refuse(where: str, wanted: str, value: Any) -> NoReturn:
    raise ValueError(f"{where} must be {wanted}, got {shown(value)}.")
