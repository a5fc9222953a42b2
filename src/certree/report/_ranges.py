"""Ranges of values that give no single row away: round ends, with several rows beyond each.

What a report says of a column stands for at least `fewest` rows. With ``fewest=1``, which a report
has to be asked for, ranges are those of the rows, to the last digit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import format_value
from certree.encoding._times import DAY, SECOND, Form, ticks, time_words, write_time

FEWEST = 5
"""A report lists no value that fewer rows have, unless it is asked for."""

_LEAST_BINS, _MOST_BINS = 8, 24
_BEYOND = 0.05  # share of the rows beyond each end of "most rows"
_TAIL = 0.01  # share of the rows that the outer bars of a histogram take in
_HOUR, _MINUTE = 3600 * SECOND, 60 * SECOND
# Units of dates, and how long they are; and those of durations.
_CALENDAR = (("Y", 365 * DAY), ("M", 30 * DAY), ("D", DAY), ("h", _HOUR), ("m", _MINUTE))
_LENGTHS = (DAY, _HOUR, _MINUTE, SECOND, 10**6, 10**3, 1)


def inner_ends(values: NDArray[Any], share: float, fewest: int) -> tuple[Any, Any] | None:
    """Return two values with a share of the rows, and at least `fewest`, at or beyond each.

    None if there are too few rows for that.
    """
    beyond = max(fewest, math.ceil(share * len(values)))
    if len(values) < 2 * beyond:
        return None
    ordered = np.partition(values, [beyond - 1, len(values) - beyond])
    return ordered[beyond - 1].item(), ordered[len(values) - beyond].item()


def round_step(size: float) -> float:
    """Return the least of 1, 2 or 5 times a power of ten that is at least a size."""
    power = 10.0 ** math.floor(math.log10(size))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= size * (1 - 1e-9)))


def _multiple(count: int, step: float) -> float:
    """Return a multiple of a round step without the noise of floating point."""
    return float(f"{count * step:.12g}")


def _is_wide(low: float, high: float) -> bool:
    """Return whether there are numbers between two to round to."""
    return math.isfinite(high - low) and high - low > 1e-9 * max(abs(low), abs(high))


# ---- what the form says of a column --------------------------------------------------------------


def number_range(values: NDArray[np.float64], fewest: int) -> tuple[str, float] | None:
    """Return the range of numbers in words, and a typical one; None if too few are known."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    middle = float(np.quantile(known, 0.5, method="lower"))
    if fewest == 1:
        told = f"{known.min():.5g} to {known.max():.5g} in the data"
        return told, float(f"{middle:.5g}")
    ends = inner_ends(known, _BEYOND, fewest)
    if ends is None:
        return None
    low, high = ends
    if not _is_wide(low, high):
        return f"most rows: {format_value(float(f'{low:.6g}'))}", float(f"{low:.6g}")
    step = round_step((high - low) / 10)
    low, high = _multiple(math.floor(low / step), step), _multiple(math.ceil(high / step), step)
    told = f"most rows: {format_value(low)} to {format_value(high)}"
    return told, _multiple(round(middle / step), step)


def time_range(column: NDArray[Any], form: Form, fewest: int) -> tuple[str, str] | None:
    """Return the range of times in words, and a typical one as text; None if too few are known."""
    numbers, size = ticks(column[~np.isnat(column)])
    if not numbers.size:
        return None
    middle = int(np.partition(numbers, len(numbers) // 2)[len(numbers) // 2]) * size
    if fewest == 1:
        low, high = int(numbers.min()) * size, int(numbers.max()) * size
        told = f"{time_words(form, low)} to {time_words(form, high)} in the data"
        return told, _typed(form, middle)
    ends = inner_ends(numbers, _BEYOND, fewest)
    if ends is None:
        return None
    low, high = int(ends[0]) * size, int(ends[1]) * size
    return (_length_range if form == "duration" else _date_range)(form, low, high, middle)


def _typed(form: Form, moment: int) -> str:
    """Return a time as people type it."""
    if form == "duration":
        return time_words(form, moment)
    return write_time(form, moment).replace("T", " ")


def _length_range(form: Form, low: int, high: int, middle: int) -> tuple[str, str]:
    unit = next((unit for unit in _LENGTHS if high - low >= 3 * unit), 1)
    step = unit * max(1, round(round_step(max(1.0, (high - low) / unit / 10))))
    low, high = low // step * step, -(-high // step) * step
    told = f"most rows: {time_words(form, low)} to {time_words(form, high)}"
    return told, time_words(form, middle // step * step)


def _date_range(form: Form, low: int, high: int, middle: int) -> tuple[str, str]:
    unit = next((unit for unit, long in _CALENDAR if high - low >= 3 * long), "m")
    start, end, typical = (_floored(moment, unit) for moment in (low, high, middle))
    if _moment(end) < high:
        end = end + 1  # the next year, month, and so on
    shown, zone = (unit, "") if unit in "YMD" else ("m", " UTC" if form == "zoned" else "")
    texts = (str(time.astype(f"M8[{shown}]")) for time in (start, end))
    first, last = (text.replace("T", " ") + zone for text in texts)
    return f"most rows: {first} to {last}", _typed(form, _moment(typical))


def _floored(moment: int, unit: str) -> Any:
    """Return the year, month, day, hour or minute that a moment is in."""
    # In microseconds every year from 1 to 9999 has its place.
    return np.datetime64(moment // 1000, "us").astype(f"M8[{unit}]")


def _moment(time: Any) -> int:
    return int(time.astype("M8[us]").astype(np.int64)) * 1000


# ---- bars ----------------------------------------------------------------------------------------


def bins_of(
    values: NDArray[np.float64], cut: float, fewest: int
) -> tuple[float, float, int] | None:
    """Return where the bars of a histogram begin and end, and their number; None: too few rows.

    Ends are round, the cut is between them, and few rows get few bars. The outer bars also hold the
    rows beyond them: at least `fewest`.
    """
    ends = inner_ends(values, _TAIL, fewest) if len(values) else None
    if ends is None:
        return None
    low, high = min(ends[0], cut), max(ends[1], cut)
    if not math.isfinite(high - low):
        return None
    if not _is_wide(low, high):
        half = 0.5 * max(1.0, 1e-6 * abs(low))
        low, high = low - half, high + half
    most = min(_MOST_BINS - 2, max(_LEAST_BINS, len(values) // fewest))
    step = round_step((high - low) / most)
    first, last = math.floor(low / step), math.ceil(high / step)
    # The cut does not stand at the edge.
    first -= cut <= _multiple(first, step)
    last += cut >= _multiple(last, step)
    return _multiple(first, step), _multiple(last, step), last - first


def counts_in_bins(values: NDArray[np.float64], bins: tuple[float, float, int]) -> NDArray[np.intp]:
    """Return the bar of each value."""
    low, high, number = bins
    return np.clip(((values - low) / (high - low) * number).astype(np.intp), 0, number - 1)
