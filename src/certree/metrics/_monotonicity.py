"""Does a metric fall with more errors? A test on points that were visited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping

from ._numbers import Exact, Number


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
