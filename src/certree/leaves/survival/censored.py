"""Times until an event, and whether it was seen, in the forms in which users have them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from certree.encoding._frames import column_arrays, column_labels

TYPE = np.dtype([("event", np.bool_), ("time", np.float64)])
"""How scikit-survival has them, too."""

_FORMS = (
    "give scikit-survival's structured array of event and time, a frame with the columns time and "
    "event, or an array with these two columns"
)

_EVENTS = ("event", "events", "status", "death", "died", "dead", "observed", "failure")


def read_censored(y: Any, n_rows: int, name: str) -> NDArray[Any]:
    """Return time and event of each row as a structured array.

    One column alone holds times that all ended with the event.

    Parameters
    ----------
    y : object
        As a user gave it.
    n_rows : int
        Number of rows of the table.
    name : str
        Who asks, for messages.
    """
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None; {_FORMS}.")
    time, event = _columns(y)
    if len(time) != n_rows:
        raise ValueError(f"X has {n_rows} rows, but y has {len(time)}; give one per row.")
    found = np.empty(n_rows, dtype=TYPE)
    found["time"] = _times(time)
    found["event"] = True if event is None else _events(event)
    return found


def _columns(y: Any) -> tuple[Any, Any]:
    """Return the times, and the events, None if there are times alone."""
    if getattr(getattr(y, "dtype", None), "names", None):
        names = list(y.dtype.names)
        return _named([np.asarray(y[name]) for name in names], names, "event first")
    columns = column_arrays(y)
    if columns is not None:
        if len(columns) != 1:
            return _named(columns, column_labels(y), "time first")
        return columns[0], None
    array = np.asarray(y)
    if array.ndim == 0:
        raise ValueError(f"y is of type {type(y).__name__}; {_FORMS}.")
    if array.ndim == 2 and array.shape[1] == 2:
        return array[:, 0], array[:, 1]
    if array.ndim > 2 or (array.ndim == 2 and array.shape[1] != 1):
        raise ValueError(f"y has shape {array.shape}; {_FORMS}.")
    return column_or_1d(array, warn=True), None


def _named(columns: list[NDArray[Any]], names: list[Any], order: str) -> tuple[Any, Any]:
    """Return the columns of times and events: by type, by name, or by their order."""
    if len(names) != 2:
        raise ValueError(f"y has the columns {names}, where time and event are needed; {_FORMS}.")
    is_event = [column.dtype.kind == "b" for column in columns]
    if sum(is_event) != 1:
        is_event = [str(name).lower() in _EVENTS for name in names]
    if sum(is_event) != 1:
        is_event = [order == "event first", order != "event first"]
    event = is_event.index(True)
    return columns[1 - event], columns[event]


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _numbers(values: Any, what: str, advice: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        # NumPy cannot convert what pandas has for a missing value.
        array = np.array([math.nan if _is_missing(value) else value for value in array.tolist()])
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: y has dtype {array.dtype}.")
    if array.dtype.kind in "mM":
        raise ValueError(f"{what} of y must be numbers, got values of type {array.dtype}; {advice}")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{what} of y must be numbers, got values of type {array.dtype}; {advice}"
        ) from None
    for bad, told in ((np.isnan(numbers), "NaN"), (np.isinf(numbers), "infinity")):
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"Input y contains {told} (first among the {what} in row {row}); drop such rows."
            )
    return numbers


def _times(values: Any) -> NDArray[np.float64]:
    times = _numbers(values, "times", "give the time under observation in one unit, such as days.")
    bad = times <= 0
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"Times of y must be greater than 0, got {times[row].item()!r} in row {row}; drop rows "
            "without any time under observation, and give the columns in the order time, event."
        )
    return times


def _events(values: Any) -> NDArray[np.bool_]:
    advice = "give 1 where the event was seen and 0 where the row is censored."
    events = _numbers(values, "events", advice)
    bad = (events != 0) & (events != 1)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"Events of y must be 0 or 1, got {events[row].item()!r} in row {row}; {advice} The "
            "columns of an array have the order time, event."
        )
    return np.asarray(events == 1)
