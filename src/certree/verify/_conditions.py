"""That the conditions of a test, which texts and exports show, say what its fields say.

Both divide the values of a column at a few points: the ends of ranges, or the categories that are
named. So it is enough to compare them at these points, right above them, and far from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from certree.exceptions import CertificateError

from ._candidates import Test, is_category, outcome_of
from ._plain_times import nanoseconds_of_text

_FAR = 10**30  # nanoseconds before and after all dates


def check_conditions(test: Test, source: Any) -> str | None:
    """Return how the conditions of a test differ from its fields; None if they do not.

    Parameters
    ----------
    test : dict
        The fields of the test.
    source : Test
        The test itself.

    Raises
    ------
    CertificateError
        If it has no conditions.
    """
    try:
        conditions: Sequence[Any] = tuple(source.conditions)
        for condition in conditions:
            if (condition.feature, condition.name) != (test["feature"], test["name"]):
                return f"a condition asks for {condition.name!r}, its test for {test['name']!r}"
        for value in _points(test, conditions):
            outcome = outcome_of(test, value)
            met = [place for place, one in enumerate(conditions) if _is_met(one, value)]
            if met != [outcome]:
                return f"the value {value!r} has outcome {outcome}, but meets the conditions {met}"
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise CertificateError(f"a test of the model has unreadable conditions: {error}") from None
    return None


def _points(test: Test, conditions: Sequence[Any]) -> Iterator[Any]:
    """Yield values that stand for all that the test or its conditions tell apart."""
    yield None
    kind = test["kind"]
    ends = [end for one in conditions for end in (one.low, one.high) if end is not None]
    if kind == "time":
        yield from (-_FAR, _FAR)
        for moment in map(nanoseconds_of_text, [test["value"], *ends]):
            yield from (moment, moment + 1)
    elif kind in ("threshold", "flag", "missing"):
        yield from (-math.inf, math.inf)
        for number in map(float, [test.get("threshold", 0.5), *ends]):
            yield from (number, math.nextafter(number, math.inf))
    else:
        groups = [*test.get("categories", ()), test.get("levels", ()), test.get("values", ())]
        named = [value for group in groups for value in group] + [test.get("value")]
        named += [value for one in conditions for value in (*one.values, *(one.known or ()))]
        named += ends
        known = {value for value in named if value is not None}
        yield from known
        is_text = any(isinstance(value, str) for value in known)
        yield "".join(map(str, known)) + "*" if is_text else max(known) + 1


def _is_met(condition: Any, value: Any) -> bool:
    """Return whether a raw value meets a condition."""
    kind, low, high = condition.kind, condition.low, condition.high
    if value is None:
        return condition.missing is True
    if kind == "missing":
        return condition.missing is False
    if kind == "set":
        found = any(is_category(value, one) for one in condition.values)
        return bool(found != condition.excluded)
    if kind == "level":
        levels = list(condition.known)
        value = next((k for k, one in enumerate(levels) if is_category(value, one)), len(levels))
        low, high = (None if end is None else levels.index(end) for end in (low, high))
    elif kind == "time":
        low, high = (None if end is None else nanoseconds_of_text(end) for end in (low, high))
    elif kind not in ("number", "flag"):
        raise ValueError(f"kind {kind!r}")
    inside = (low is None or low < value) and (high is None or value <= high)
    return bool(inside != condition.excluded)
