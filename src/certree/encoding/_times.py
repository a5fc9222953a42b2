"""Dates, times and durations as exact integers, and as texts of ISO 8601.

A column of a table holds them as datetime64 or timedelta64, in nanoseconds if they came so and in
microseconds otherwise, with NaT for missing. There are three forms: a "date" has no time zone, a
"zoned" time is an instant, kept in UTC, and a "duration" is a difference of two times. A single
value is a Python integer of nanoseconds, so that comparisons never round: since 1970, or long.

Dates lie in the years 1 to 9999, as in Python and SQL.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DAY",
    "EPOCH",
    "Form",
    "form_of",
    "is_time",
    "local_time",
    "offset_at",
    "parse_time",
    "read_time_array",
    "read_time_objects",
    "ticks",
    "time_words",
    "write_time",
    "zone_of",
]

Form = Literal["date", "zoned", "duration"]

SECOND = 10**9
DAY = 86_400 * SECOND

# Nanoseconds of the units of datetime64 that have a fixed length.
_UNITS = {"W": 7 * DAY, "D": DAY, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND}
_UNITS |= {"ms": 10**6, "us": 10**3, "ns": 1}
_FINER = {"ps": 10**3, "fs": 10**6, "as": 10**9}
EPOCH = datetime.date(1970, 1, 1).toordinal()

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"(Z| UTC|[+-]\d\d:?\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_DURATION = re.compile(
    r"(-?)P(?=\d|T\d)(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,9}))?S)?)?",
    re.ASCII,
)
_LONGEST_TEXT = 64

_LEAST, _MOST = -(2**63) + 1, 2**63 - 1


# --- texts ----------------------------------------------------------------------------------------


def parse_time(text: str) -> tuple[Form, int, int]:
    """Return the form of a text of ISO 8601, its nanoseconds, and its offset from UTC in seconds.

    A date, ``2024-03-01``, is its first moment. Times may have a zone, ``Z`` or ``+01:00``, and
    nine digits after the point. A duration is ``P3DT4H30M5.5S`` or shorter.

    Raises
    ------
    ValueError
        If the text is something else.
    """
    if len(text) <= _LONGEST_TEXT:
        if found := _TIME.fullmatch(text):
            return _parse_date(text, *found.groups())
        if found := _DURATION.fullmatch(text):
            sign, days, hours, minutes, seconds, fraction = found.groups()
            total = int(days or 0) * DAY + _clock(hours, minutes, seconds, fraction)
            return "duration", -total if sign else total, 0
    raise ValueError(f"{text[:60]!r} is no date, time or duration of ISO 8601.")


def _parse_date(text: str, *parts: Any) -> tuple[Form, int, int]:
    year, month, day, hour, minute, second, fraction, zone = parts
    try:
        days = datetime.date(int(year), int(month), int(day)).toordinal() - EPOCH
        datetime.time(int(hour or 0), int(minute or 0), int(second or 0))
        offset = _parse_offset(zone)
    except ValueError as error:
        raise ValueError(f"{text!r} is no date or time: {error}.") from None
    moment = days * DAY + _clock(hour, minute, second, fraction) - offset * SECOND
    if not _within_years(moment):
        raise ValueError(f"{text!r} is outside of the years 1 to 9999 in UTC.")
    return "date" if zone is None else "zoned", moment, offset


def _parse_offset(zone: str | None) -> int:
    if zone is None or zone in ("Z", " UTC"):
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[i : i + 2]) for i in (0, 2, 4))
    if max(minutes, seconds) > 59 or hours > 23:
        raise ValueError(f"the offset {zone!r} is at most 23:59:59")
    total = (hours * 60 + minutes) * 60 + seconds
    return -total if zone[0] == "-" else total


def _clock(*parts: str | None) -> int:
    hours, minutes, seconds, fraction = parts
    total = (int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    return total * SECOND + int((fraction or "").ljust(9, "0"))


def _within_years(moment: int) -> bool:
    """Return whether a moment is in the years 1 to 9999."""
    return 1 - EPOCH <= moment // DAY <= datetime.date.max.toordinal() - EPOCH


def write_time(form: Form, moment: int, offset: int = 0) -> str:
    """Return the shortest text from which :func:`parse_time` reads the same."""
    if form == "duration":
        return _write_duration(moment)
    days, rest = divmod(moment + offset * SECOND, DAY)
    text = datetime.date.fromordinal(days + EPOCH).isoformat()
    if form == "date" and rest == 0:
        return text
    seconds, fraction = divmod(rest, SECOND)
    text += f"T{seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or fraction:
        text += f":{seconds % 60:02}{_fraction(fraction)}"
    return text + _write_offset(offset) if form == "zoned" else text


def _write_offset(offset: int) -> str:
    if offset == 0:
        return "Z"
    size = abs(offset)
    ending = f":{size % 60:02}" if size % 60 else ""
    return f"{'-' if offset < 0 else '+'}{size // 3600:02}:{size // 60 % 60:02}{ending}"


def _fraction(fraction: int) -> str:
    return f".{fraction:09}".rstrip("0") if fraction else ""


def _parts_of(moment: int) -> tuple[int, int, int, str]:
    """Return days, hours and minutes, and the seconds as text, of a duration without its sign."""
    days, rest = divmod(abs(moment), DAY)
    seconds, fraction = divmod(rest, SECOND)
    return days, seconds // 3600, seconds // 60 % 60, f"{seconds % 60}{_fraction(fraction)}"


def _write_duration(moment: int) -> str:
    days, hours, minutes, seconds = _parts_of(moment)
    text = f"{days}D" if days else ""
    clock = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    clock += "" if seconds == "0" and (days or clock) else f"{seconds}S"
    return ("-P" if moment < 0 else "P") + text + (f"T{clock}" if clock else "")


def time_words(form: Form, moment: int, offset: int = 0) -> str:
    """Return a time as it reads in a tree: ``2024-03-01``, ``2024-03-01 12:30``, ``3 days 4 h``."""
    if form != "duration":
        return write_time(form, moment, offset).replace("T", " ").replace("Z", " UTC")
    days, hours, minutes, seconds = _parts_of(moment)
    parts = [f"{days} day{'s' if days != 1 else ''}"] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes else []
    parts += [f"{seconds} s"] if seconds != "0" or not parts else []
    text = " ".join(parts)
    return text if moment >= 0 else f"-{text}" if len(parts) == 1 else f"-({text})"


# --- zones ----------------------------------------------------------------------------------------


def zone_of(name: str) -> datetime.tzinfo:
    """Return the time zone of a name or an offset; UTC where the machine has no table of zones."""
    try:
        if name[:1] in "+-":
            return datetime.timezone(datetime.timedelta(seconds=_parse_offset(name)))
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.timezone.utc


def offset_at(zone: Any, moment: int) -> int:
    """Return the offset of a zone from UTC, in whole seconds, at a moment."""
    if zone is None:
        return 0
    since = datetime.timedelta(seconds=moment // SECOND)
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    try:
        offset = (start + since).astimezone(zone).utcoffset()
    except OverflowError:  # on the first or the last day of all
        offset = None
    return 0 if offset is None else int(offset.total_seconds())


def local_time(zone: Any, moment: int) -> int:
    """Return what clocks of a zone show at a moment, as nanoseconds."""
    return moment + offset_at(zone, moment) * SECOND


# --- columns --------------------------------------------------------------------------------------


def is_time(column: NDArray[Any]) -> bool:
    """Return whether a column holds dates, times or durations."""
    return column.dtype.kind in "mM"


def form_of(column: NDArray[Any], is_zoned: bool = False) -> Form:
    """Return the form of a column of times."""
    if column.dtype.kind == "m":
        return "duration"
    return "zoned" if is_zoned else "date"


def ticks(column: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return a column of times as integers, and how many nanoseconds one of them is.

    NaT is the least integer.
    """
    unit, count = np.datetime_data(column.dtype)
    return np.ascontiguousarray(column).view(np.int64), _UNITS[unit] * count


def read_time_array(values: NDArray[Any], label: str) -> NDArray[Any]:
    """Return datetime64 or timedelta64 of any unit in microseconds, or in nanoseconds if finer.

    Raises
    ------
    ValueError
        If values are outside of the years 1 to 9999, too long, or finer than nanoseconds.
    """
    unit, count = np.datetime_data(values.dtype)
    is_date = values.dtype.kind == "M"
    if unit == "generic" or (not is_date and unit in ("Y", "M")):
        raise ValueError(
            f"Durations in X need a unit of fixed length, but {label} has dtype {values.dtype}; "
            "give days, for instance with astype('timedelta64[D]')."
        )
    absent = np.isnat(values)
    if unit in _FINER:
        size = _FINER[unit]
        whole = values.astype(f"{values.dtype.kind}8[{unit}]").view(np.int64)
        if (whole[~absent] % size).any():
            raise ValueError(
                f"X holds times finer than nanoseconds, in {label}; round them, for instance with "
                f"astype('{values.dtype.kind}8[ns]')."
            )
        return values.astype(f"{values.dtype.kind}8[ns]")
    present = values[~absent]
    if is_date:
        ends = np.array([present.min(), present.max()] if len(present) else [], values.dtype)
        for year in (ends.astype("M8[Y]").view(np.int64) + 1970).tolist():
            if not 1 <= year <= 9999:
                raise ValueError(
                    f"Dates must lie in the years 1 to 9999, but {label} has one in the year "
                    f"{year}; correct it, or make it missing (NaT)."
                )
    else:
        longest = int(np.abs(present.view(np.int64).astype(object)).max(initial=0))
        if longest * _UNITS[unit] * count > _MOST * (1 if unit == "ns" else 1000):
            raise ValueError(f"X holds a duration beyond 64 bits of microseconds, in {label}.")
    return values.astype(f"{values.dtype.kind}8[{'ns' if unit == 'ns' else 'us'}]", copy=False)


def read_time_objects(column: NDArray[Any], label: str) -> tuple[NDArray[Any], Any]:
    """Return a column of Python's, NumPy's or pandas' times as an array, and its time zone.

    None is a missing value. The zone is that of the first value, None if times have none.

    Raises
    ------
    ValueError
        If dates and durations are mixed, or times with and without a zone.
    """
    present = [value for value in column if value is not None]
    spans = [isinstance(v, datetime.timedelta | np.timedelta64) for v in present]
    if any(spans) != all(spans):
        raise ValueError(f"X holds both dates and durations in {label}; make two columns of them.")
    zones = [getattr(value, "tzinfo", None) for value in present]
    with_zone = [zone is not None for zone in zones]
    if any(with_zone) != all(with_zone):
        raise ValueError(
            f"X holds times with and without a time zone in {label}; convert them, for instance "
            "with pandas.to_datetime(column, utc=True)."
        )
    kind = "m" if any(spans) else "M"
    arrays = [read_time_array(np.asarray(_as_numpy(value)), label) for value in present]
    fine = [array.astype(f"{kind}8[us]") for array in arrays]
    is_fine = any(array != rounded for array, rounded in zip(arrays, fine, strict=True))
    result = np.full(len(column), np.array("NaT", dtype=f"{kind}8[us]"))
    if is_fine:
        for array in arrays:
            number, size = ticks(array.reshape(1))
            if not _LEAST <= int(number[0]) * size <= _MOST:
                raise ValueError(
                    f"X holds nanoseconds beside times that are too far from 1970 for them, in "
                    f"{label}; round the times to microseconds."
                )
        result = result.astype(f"{kind}8[ns]")
    result[[value is not None for value in column]] = arrays
    return result, zones[0] if any(with_zone) else None


def _as_numpy(value: Any) -> Any:
    """Return a time of Python, NumPy or pandas as NumPy's, in UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    for method in ("to_datetime64", "to_timedelta64"):  # of pandas, with nanoseconds
        if hasattr(value, method):
            return getattr(value, method)()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value
    return np.timedelta64(value) if isinstance(value, datetime.timedelta) else np.datetime64(value)
