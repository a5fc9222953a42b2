"""Tests of dates, times and durations, and their cut points."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._cell_values import is_missing
from ._condition import Condition
from ._test_list import Cuts
from ._tests import SidedTest, Test, register_kind
from ._times import (
    DAY,
    EPOCH,
    SECOND,
    Form,
    form_of,
    is_time,
    local_time,
    offset_at,
    parse_time,
    ticks,
    write_time,
)

__all__ = ["TimeCuts", "TimeThreshold", "time_between"]

_NAMES = {"date": "dates", "zoned": "times with a time zone", "duration": "durations"}

# Parts of a day, coarsest first: hours, minutes, seconds and decimal fractions of them.
_PARTS = (3600 * SECOND, 60 * SECOND, *(10**power for power in range(9, -1, -1)))
_LENGTHS = (
    *(10**power * DAY for power in range(5, -1, -1)),
    3600 * SECOND,
    600 * SECOND,
    60 * SECOND,
    *(10**power for power in range(10, -1, -1)),
)


@register_kind
@dataclass(frozen=True, slots=True)
class TimeThreshold(SidedTest):
    """``x <= value`` for a column of dates, times or durations.

    Columns of other units are compared exactly, and so are texts of ISO 8601. A date stands for
    its first moment.

    Parameters
    ----------
    feature : int
        Index of the raw column.
    name : str
        Name of the raw column.
    value : str
        The latest time, or the longest duration, that holds: ``2024-03-01``, ``2024-03-01T12:30``,
        ``2024-03-01T12:30+01:00`` or ``P3DT4H``.
    missing : bool, optional
        Whether missing values hold; None if none was missing in training.

    .. versionadded:: 0.1

    Examples
    --------
    >>> test = TimeThreshold(0, "admitted", "2024-03-01")
    >>> test.describe(0), test.describe(1)
    ('admitted <= 2024-03-01', 'admitted > 2024-03-01')
    >>> test.outcome(np.array(["2024-02-29", "2024-03-02", "NaT"], dtype="datetime64[us]"))
    array([0, 1, 1], dtype=int32)
    >>> TimeThreshold(0, "stay", "P3DT12H").describe(0)
    'stay <= 3 days 12 h'
    """

    kind: ClassVar[str] = "time"
    feature: int
    name: str
    value: str
    missing: bool | None = None

    def __post_init__(self) -> None:
        self._check_missing()
        object.__setattr__(self, "value", write_time(*parse_time(str(self.value))))

    @property
    def form(self) -> Form:
        """What the column holds: "date", "zoned" (times with a time zone) or "duration"."""
        return parse_time(self.value)[0]

    @property
    def moment(self) -> int:
        """The value in nanoseconds, since 1970 in UTC, or long."""
        return parse_time(self.value)[1]

    def column_of(self, table: Any) -> NDArray[Any]:
        """Return the column of a table as times; texts of ISO 8601 are read."""
        column: NDArray[Any] = table.column(self.feature)
        if column.dtype == object:
            return read_time_texts(column, self.form, self.name)
        if is_time(column):
            form = form_of(column, table.kinds[self.feature] == "zoned")
            if form != self.form:
                _refuse(self.name, self.form, _NAMES[form])
        return column

    def check(self, column: NDArray[Any]) -> None:
        """Raise ValueError if the column holds no times."""
        if not is_time(column) and not is_missing(column).all():
            _refuse(self.name, self.form, "text" if column.dtype == object else "numbers")
        if is_time(column) and (column.dtype.kind == "m") != (self.form == "duration"):
            _refuse(self.name, self.form, _NAMES[form_of(column)])

    def limit_for(self, column: NDArray[Any]) -> int:
        """Return the largest integer that holds, in the unit of a column of times."""
        return self.moment // ticks(column[:0])[1]

    def condition(self, outcome: int) -> Condition:
        """Return that the time is at most the threshold, or later."""
        low, high = (None, self.value) if outcome == 0 else (self.value, None)
        return self._condition(outcome, "time", low=low, high=high)


def _refuse(name: str, form: Form, found: str) -> None:
    hints = {
        "date": "dates without a time zone, or texts such as '2024-03-01'",
        "zoned": "times with a time zone, or texts such as '2024-03-01T12:00+01:00'",
        "duration": "durations, or texts such as 'P3DT4H'",
    }
    raise ValueError(
        f"Column {name!r} held {_NAMES[form]} in training, but now holds {found}; give "
        f"{hints[form]}."
    )


def read_time_texts(column: NDArray[Any], form: Form, name: str) -> NDArray[Any]:
    """Return a column of texts of ISO 8601 as times."""
    absent = is_missing(column)
    numbers = []
    for row, text in enumerate(column):
        try:
            found, moment, _ = (form, 0, 0) if text is None else parse_time(text)
        except ValueError as error:
            raise ValueError(
                f"Column {name!r} held {_NAMES[form]} in training, but row {row} holds another "
                f"text: {error}"
            ) from None
        if found != form:
            _refuse(name, form, f"{_NAMES[found]}, such as {text!r}")
        numbers.append(moment)
    is_fine = any(number % 1000 for number in numbers)
    if is_fine and max(map(abs, numbers)) >= 2**63:
        raise ValueError(
            f"Column {name!r} holds nanoseconds beside times that are too far from 1970 for them; "
            "round the times to microseconds."
        )
    unit, size = ("ns", 1) if is_fine else ("us", 1000)
    values = np.array([number // size for number in numbers], dtype=np.int64)
    result = values.view(f"{'m' if form == 'duration' else 'M'}8[{unit}]")
    result[absent] = np.array("NaT", dtype=result.dtype)
    return result


# --- cut points -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TimeCuts(Cuts):
    """Gaps between neighbouring times, in each of which lies one cut point.

    Attributes
    ----------
    form : str
        Of the column.
    step : int
        Nanoseconds of which all times of the column are multiples: a day, an hour and so on.
    zone : tzinfo or None
        The time zone in which cut points are short.
    """

    form: Form = "date"
    step: int = 1
    zone: Any = None

    @classmethod
    def of(
        cls, values: NDArray[Any], gaps: NDArray[np.intp] | None, form: Form, zone: Any
    ) -> TimeCuts:
        """Return the cuts after some of the different times of a column."""
        numbers, size = ticks(values)
        steps = _LENGTHS if form == "duration" else (DAY, *_PARTS)
        steps = tuple(step for step in steps if step <= DAY)
        step = next(s for s in steps if s <= size or not (numbers % (s // size)).any())
        if gaps is None or len(gaps) == len(values) - 1:
            return cls(values, None, None, form, step, zone)
        chosen = Cuts.between(values, gaps)
        return cls(chosen.values, chosen.gaps, None, form, step, zone)

    def test(self, feature: int, name: str, cut: Any, missing: bool | None) -> Test:
        """Return the test at a cut point."""
        return TimeThreshold(feature, name, cut, missing)

    def point(self, place: int) -> Any:
        """Return one of the cut points, as text."""
        return self.points(place, place + 1)[0]

    def points(self, start: int, stop: int) -> NDArray[Any]:
        """Return some of the cut points, as texts."""
        if self.given is not None:
            return self.given[start:stop]
        numbers, size = self._ticks
        below = np.arange(start, stop) if self.gaps is None else self.gaps[start:stop]
        texts = [
            time_between(int(low) * size, int(high) * size, self.form, self.step, self.zone)
            for low, high in zip(numbers[below].tolist(), numbers[below + 1].tolist(), strict=True)
        ]
        return np.array(texts, dtype=object)

    @cached_property
    def _ticks(self) -> tuple[NDArray[np.int64], int]:
        return ticks(self.values)


def time_between(low: int, high: int, form: Form, step: int = 1, zone: Any = None) -> str:
    """Return the text of a short time t with low <= t < high.

    It is a whole number of steps. In the middle half between the two it is the first of a year,
    else the first of a month, else a day, a full hour, a full minute and so on; of several the
    nearest to the middle. If no step lies between the two, it is `low`.
    """
    if form == "duration":
        found = _shortest(low, high, [s for s in _LENGTHS if s >= step], low)
        return write_time(form, found)
    start, end = local_time(zone, low), local_time(zone, high)
    wall = _shortest_date(start, end, step) if start < end else start
    found = wall - offset_at(zone, wall - (start - low)) * SECOND
    if not low <= found < high:  # clocks change between the two
        found = low
    return write_time(form, found, offset_at(zone, found))


def _shortest_date(low: int, high: int, step: int) -> int:
    middle = (low + high) // 2
    date = datetime.date.fromordinal(middle // DAY + EPOCH)
    years = [datetime.date(y, 1, 1) for y in (date.year, date.year + 1) if y <= 9999]
    months = [date.replace(day=1)]
    if (date.year, date.month) != (9999, 12):
        months.append((months[0] + datetime.timedelta(days=31)).replace(day=1))
    for dates in (years, months):
        moments = [(one.toordinal() - EPOCH) * DAY for one in dates]
        nearest = min(moments, key=lambda moment: abs(2 * moment - low - high))
        if _is_central(nearest, low, high):
            return nearest
    return _shortest(low, high, [s for s in (DAY, *_PARTS) if s >= step], low)


def _shortest(low: int, high: int, steps: list[int], otherwise: int) -> int:
    """Return the multiple of the coarsest step in the middle half, the nearest to the middle."""
    for step in steps:
        # Half a step up, rounded down: the nearest multiple, of two the later one.
        nearest = (low + high + step) // (2 * step) * step
        if _is_central(nearest, low, high):
            return nearest
    return otherwise


def _is_central(moment: int, low: int, high: int) -> bool:
    """Return whether a moment is in the middle half between two others."""
    return 3 * low + high <= 4 * moment <= low + 3 * high and low < moment < high
