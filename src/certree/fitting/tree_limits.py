"""Capacities, budgets and minima of estimators, as limits on the whole tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._exact import read_fraction
from certree.numbers._fractions import is_whole
from certree.tasks._limit import LeafMinimum, Limit
from certree.tasks._limited import Limited
from certree.tasks._task import Task


def capacity_limits(
    capacity: Any, labels: Sequence[Any], n_rows: int, sample_weight: Any, what: str
) -> list[Limit]:
    """Return a limit for each label that may be given to some of the rows only.

    Parameters
    ----------
    capacity : mapping or None
        From label to a number of rows (an integer), or to a share of all rows (a float, fraction
        or text).
    labels : sequence
        The labels there are.
    n_rows : int
        Number of rows.
    sample_weight : array-like or None
        Their weights, by which rows and shares are counted.
    what : str
        What a label is called, for error messages and names.
    """
    if capacity is None:
        return []
    if not isinstance(capacity, Mapping) or not capacity:
        raise TypeError(
            f"capacity must be a mapping from {what} to a number or share of rows, or None; got "
            f"{capacity!r}."
        )
    limits = []
    for label, given in capacity.items():
        if label not in labels:
            raise ValueError(
                f"capacity names {label!r}, which is not a {what}; there are {list(labels)}."
            )
        most = _most(label, given, n_rows, sample_weight)
        limits.append(Limit(f"{what} {label}", {label: 1}, at_most=most))
    return limits


def _most(label: Any, given: Any, n_rows: int, sample_weight: Any) -> Fraction:
    what = f"capacity[{label!r}]"
    number = read_fraction(given, what)
    if number < 0:
        raise ValueError(f"{what} must not be negative, got {given!r}.")
    if is_whole(given):
        return number
    if number > 1:
        raise ValueError(
            f"{what} = {given!r} is a share of the rows and must lie between 0 and 1; write a "
            "number of rows as an integer."
        )
    return number * _total_weight(n_rows, sample_weight)


def _total_weight(n_rows: int, sample_weight: Any) -> Fraction:
    """Return the weight of all rows, as the decimals that are written."""
    if sample_weight is None:
        return Fraction(n_rows)
    weights = np.asarray(sample_weight)
    if weights.dtype.kind in "iub":
        # In integers of Python, since sums of 64 bits may exceed 64 bits.
        total = Fraction(sum(weights.reshape(-1).tolist()))
    else:
        numbers, counts = np.unique(weights, return_counts=True)
        total = sum(
            (
                read_fraction(number, "sample_weight") * count
                for number, count in zip(numbers.tolist(), counts.tolist(), strict=True)
            ),
            Fraction(0),
        )
    return total * n_rows if weights.ndim == 0 else total


def budget_limits(costs: Any, budget: Any) -> list[Limit]:
    """Return the limit on what all rows cost together, if there is one."""
    return [] if costs is None else [Limit("budget", costs, at_most=budget)]


def received_minimum(
    least: Any, codes: NDArray[Any] | None, labels: Sequence[Any]
) -> LeafMinimum | None:
    """Return the condition that leaves with a treatment hold rows that have received it."""
    if least is None:
        return None
    assert codes is not None
    named = least.values() if isinstance(least, Mapping) else [least]
    for number in named:
        if not is_whole(number) or number < 0:
            raise ValueError(
                "min_treated must be an integer of at least 0, or a mapping from treatments to "
                f"such, got {least!r}."
            )
    return LeafMinimum(least, codes[:, None] == np.arange(len(labels)))


def split_limits(given: Any) -> tuple[list[Limit], LeafMinimum | None]:
    """Return the limits that a user lists, and the condition on leaves among them."""
    limits: list[Limit] = []
    minimum = None
    single = isinstance(given, Limit | LeafMinimum)
    if not single and given is not None and not isinstance(given, Iterable):
        raise TypeError(
            f"limits must be a list of tasks.Limit, or one, got {type(given).__name__}."
        )
    for one in [given] if single else given or ():
        if isinstance(one, Limit):
            limits.append(one)
        elif isinstance(one, LeafMinimum) and minimum is None:
            minimum = one
        else:
            raise TypeError(
                "limits must be a list of tasks.Limit, with one tasks.LeafMinimum at most, got "
                f"{one!r}."
            )
    return limits, minimum


def with_limits(
    task: Task, limits: Sequence[Limit], minimum: LeafMinimum | None = None
) -> Task | Limited:
    """Return a task with limits, or the task itself without limits."""
    if not limits and minimum is None:
        return task
    return Limited(task, limits, minimum)
