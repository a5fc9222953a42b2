"""Times, dates and durations as whole numbers of nanoseconds, read a second time."""

from __future__ import annotations

import datetime
import re
from functools import cache
from typing import Any

import numpy as np

_SIZES = {"W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3_600 * 10**9, "m": 60 * 10**9}
_SIZES |= {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_START = datetime.datetime(1970, 1, 1)
_TICK = datetime.timedelta(microseconds=1)
_PARTS = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?")


def nanoseconds(value: Any) -> int | None:
    """Return a date, time or duration as nanoseconds; None if it is something else."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return nanoseconds_of_array(np.array([value]))[0]
    if isinstance(value, datetime.timedelta):
        # Those of pandas have a rest below microseconds.
        whole = datetime.timedelta(value.days, value.seconds, value.microseconds)
        return whole // _TICK * 1000 + int(getattr(value, "nanoseconds", 0))
    if isinstance(value, datetime.datetime):
        offset = value.utcoffset() or datetime.timedelta(0)
        date = datetime.datetime(value.year, value.month, value.day)
        clock = datetime.timedelta(
            hours=value.hour,
            minutes=value.minute,
            seconds=value.second,
            microseconds=value.microsecond,
        )
        since = date - _START + clock - offset
        return since // _TICK * 1000 + int(getattr(value, "nanosecond", 0))
    if isinstance(value, datetime.date):
        return (value - _START.date()) // _TICK * 1000
    return None


def nanoseconds_of_array(values: Any, unit: str | None = None) -> list[int | None]:
    """Return an array of times, or integers of a unit, as nanoseconds; None for missing ones."""
    if unit is not None:
        return [None if value is None else int(value) * _SIZES[unit] for value in values]
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M"):
        return nanoseconds_of_array(values.astype("datetime64[D]"))
    if unit in ("ps", "fs", "as"):
        return nanoseconds_of_array(values.astype(f"{values.dtype.kind}8[ns]"))
    return [
        None if absent else number * count * _SIZES[unit]
        for number, absent in zip(
            values.astype(np.int64).tolist(), np.isnat(values).tolist(), strict=True
        )
    ]


@cache
def nanoseconds_of_text(text: str) -> int:
    """Return a time as tests state it, such as ``2024-03-01T12:30+01:00`` or ``P3DT4H``."""
    found = _PARTS.fullmatch(text)
    if found:
        sign, days, hours, minutes, seconds, digits = found.groups()
        whole = (int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)
        size = (whole * 60 + int(seconds or 0)) * 10**9 + _fraction(digits)
        return -size if sign else size
    point = re.search(r"\.\d+", text)
    clock = text if point is None else text.replace(point[0], "")
    read = nanoseconds(datetime.datetime.fromisoformat(clock.replace("Z", "+00:00")))
    assert read is not None
    return read + _fraction(None if point is None else point[0])


def _fraction(digits: str | None) -> int:
    return int((digits or ".")[1:].ljust(9, "0"))
