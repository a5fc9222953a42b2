"""Objectives given by their parts: what labels cost, how costs combine, and which are better."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Value = Any
"""What rows cost with a label, and what trees cost: a number, a tuple, or anything else."""

LabelCost = Callable[[NDArray[np.intp], Any], Value]
"""From row numbers and a label to a value."""

Combine = Callable[[Value, Value], Value]
"""From the values of the two sides of a split to the value of the whole."""

Better = Callable[[Value, Value], bool]
"""Whether the first value is better than the second."""

SplitCost = Callable[[NDArray[np.intp], int], Value]
"""From row numbers and the column that is tested to a value."""

Feasible = Callable[[Value, NDArray[np.intp]], bool]
"""Whether a tree with a value is allowed for these rows."""


class Separable:
    """An objective by its parts: what labels cost, how costs combine, and which are better.

    By theorem 4.6 of van der Linden, de Weerdt and Demirović (NeurIPS 2023), the best tree can be
    put together from the best trees of its parts if and only if three conditions hold. The cost of
    a label depends on its rows alone (Markovian). If one value is better than another, it stays so
    in combination with any third (order is preserved). And a part that is not allowed makes no tree
    that is (the constraint is anti-monotonic). :func:`check_task` looks for rows that break one of
    them; :func:`solve` does so first, and then finds all nondominated trees. It asks the functions
    about every set of rows that tests select, so tables and depths must be small; an objective
    whose values are sums over rows is better stated as one of the other tasks.

    Parameters
    ----------
    labels : sequence
        The labels that a leaf may have.
    cost : callable
        Called with an array of row numbers and a label; returns the value of a leaf.
    combine : callable, optional
        Called with the values of the two sides of a split; by default their sum.
    better : callable, optional
        Called with two values; whether the first is better. By default, whether it is less.
    feasible : callable, optional
        Called with a value and an array of row numbers; whether a tree for these rows may have it.
        By default all may.
    split_cost : callable, optional
        Called with an array of row numbers and the column of X that is tested; returns a value
        that is combined with those of the two sides. By default tests cost nothing.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    The worst error rate of any leaf is separable; a rate as close to one half as possible is not:

    >>> import numpy as np
    >>> from certree import check_task, tasks
    >>> X, y = np.eye(6), np.array([0, 1, 1, 0, 1, 0])
    >>> def rate(rows, label):
    ...     return float(np.mean(y[rows] != label))
    >>> worst = tasks.Separable([0, 1], rate, combine=max)
    >>> bool(check_task(worst, X))
    True
    >>> from certree import solve
    >>> solve(worst, X, max_depth=2).value
    0.25
    >>> closest_to_half = lambda a, b: abs(a - 0.5) < abs(b - 0.5)
    >>> check_task(tasks.Separable([0, 1], rate, better=closest_to_half), X).law
    'order preserved'
    """

    def __init__(
        self,
        labels: Sequence[Any],
        cost: LabelCost,
        *,
        combine: Combine = operator.add,
        better: Better = operator.lt,
        feasible: Feasible | None = None,
        split_cost: SplitCost | None = None,
    ) -> None:
        if len(labels) == 0:
            raise ValueError("labels must name at least one label, got none.")
        for name, part in (("cost", cost), ("combine", combine), ("better", better)):
            if not callable(part):
                raise TypeError(f"{name} must be callable, got {type(part).__name__}.")
        self.labels = list(labels)
        self.cost = cost
        self.combine = combine
        self.better = better
        self.feasible = feasible
        self.split_cost = split_cost

    def __repr__(self) -> str:
        return f"Separable(labels={self.labels!r})"
