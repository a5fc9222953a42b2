"""Check that a metric never rises with errors, on visited points and on a grid."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from ._custom import Custom
from ._metric import Metric
from ._numbers import Exact, Number

_GRID = 32
"""Steps from no errors of one kind to all, where there are more."""


def is_taken_on_trust(metric: Metric) -> bool:
    """Return whether only the user says that a metric never rises with errors."""
    is_own = type(metric).__module__.startswith(__package__)
    return metric.kind == "monotone" and (isinstance(metric, Custom) or not is_own)


def look_around(
    metric: Metric, points: Iterable[tuple[Exact, Exact]], positives: Exact, negatives: Exact
) -> None:
    """Raise if a user's metric rises with errors, by some points and a grid.

    Parameters
    ----------
    metric : Metric
        Any metric; those of certree are known to be monotone where that is used.
    points : iterable of (fp, fn)
        Points that matter.
    positives, negatives : int or Fraction
        Weight of all rows of each class.
    """
    if not is_taken_on_trust(metric):
        return
    grid = [(fp, fn) for fp in _steps(negatives) for fn in _steps(positives)]
    totals = positives, negatives
    values = {point: metric.exact(*point, *totals) for point in {*points, *grid}}
    check_monotone(metric.name, values)


def _steps(total: Exact) -> list[Exact]:
    if isinstance(total, int):
        n_steps = min(max(total, 1), _GRID)
        return [total * step // n_steps for step in range(n_steps + 1)]
    return [total * step / _GRID for step in range(_GRID + 1)]


def check_monotone(name: str, values: Mapping[tuple[Exact, Exact], Number]) -> None:
    """Raise if some point is worth more than one with fewer errors of both kinds.

    Parameters
    ----------
    name : str
        The metric, for the message.
    values : mapping of points to values
        Points visited.
    """
    # By rising false positives; `steps` holds points by false negatives, each worth less than all
    # before it: the least value among points with at most so many errors of both kinds.
    steps: list[tuple[Exact, Number, tuple[Exact, Exact]]] = []
    for point in sorted(values):
        value = values[point]
        at = bisect_right(steps, point[1], key=lambda step: step[0])
        if at and steps[at - 1][1] < value:
            fewer = steps[at - 1][2]
            raise ValueError(
                f"The metric {name!r} is not monotone: fp={fewer[0]}, fn={fewer[1]} is worth "
                f"{float(steps[at - 1][1])!r}, and with fp={point[0]}, fn={point[1]}, which are no "
                f"fewer errors, it is worth {float(value)!r}. A metric must not grow with errors."
            )
        end = at
        while end < len(steps) and steps[end][1] >= value:
            end += 1
        steps[at:end] = [(point[1], value, point)]
