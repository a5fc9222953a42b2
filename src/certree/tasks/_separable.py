"""Objectives given by their parts: what labels cost, how costs combine, and which are better.

Parts may depend on a state that tests change on the way down, and objectives join: by proposition
A.4 of van der Linden, de Weerdt and Demirović (NeurIPS 2023), pairs of the values of two separable
objectives, compared by Pareto dominance, are separable, and so are values within limits on sums.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._digits import whole_numbers

from ._limit import Limit
from ._task import Composable

Rows = NDArray[np.intp]
"""Row numbers."""

Transition = Callable[[Any, int, bool], Hashable]
"""From a state, the column that is tested and whether the test holds to the state below."""

# Sums below this are exact as floats.
_MOST_TOTAL = 2**52

# Two computations of one float may differ by this share of it.
_NOISE = 1e-9

Value = Any
"""What rows cost with a label, and what trees cost: a number, a tuple, or anything else."""

LabelCost = Callable[..., Value]
"""From row numbers, a label, and the state if it is wanted, to a value."""

Combine = Callable[[Value, Value], Value]
"""From the values of the two sides of a split to the value of the whole."""

Better = Callable[[Value, Value], bool]
"""Whether the first value is better than the second."""

SplitCost = Callable[..., Value]
"""From row numbers, the column that is tested, and the state if it is wanted, to a value."""

Feasible = Callable[[Value, Rows], bool]
"""Whether a tree with a value is allowed for these rows."""


class Separable(Composable):
    """An objective by its parts: what labels cost, how costs combine, and which are better.

    By theorem 4.6 of van der Linden, de Weerdt and Demirović (NeurIPS 2023), the best tree can be
    put together from the best trees of its parts if and only if three conditions hold. The cost of
    a label depends on its rows alone (Markovian). If one value is better than another, it stays so
    in combination with any third (order is preserved). And a part that is not allowed makes no tree
    that is (the constraint is anti-monotonic). :func:`check_task` looks for rows that break one of
    them; :func:`solve` does so first, and then finds all nondominated trees. It asks the functions
    about every set of rows that tests select, so tables and depths must be small; an objective
    whose values are sums over rows is better stated as one of the other tasks.

    Costs may depend on the tests above, by a state: it begins with `initial`, and each test changes
    it by `transition`. With `statistics`, functions get sums for many nodes at once, and values are
    numbers that add up; tables may then have a hundred columns. ``&`` adds a :class:`Limit`, or
    another separable objective over the same labels, for all trees that none beats in both.

    Parameters
    ----------
    labels : sequence
        The labels that a leaf may have.
    cost : callable
        Called with an array of row numbers and a label, and with the state if it takes three
        arguments; returns the value of a leaf. With `statistics`: called with sums of shape
        (n_nodes, n_statistics), and with the state if it takes two arguments; returns numbers of
        shape (n_nodes, n_labels).
    combine : callable, optional
        Called with the values of the two sides of a split; by default their sum.
    better : callable, optional
        Called with two values; whether the first is better. By default, whether it is less.
    feasible : callable, optional
        Called with a value and an array of row numbers; whether a tree for these rows may have it.
        By default all may.
    split_cost : callable, optional
        Called with an array of row numbers and the column of X that is tested, and with the state
        above the test if it takes three arguments; returns a value that is combined with those of
        the two sides. By default tests cost nothing. With `statistics`: called with sums, and with
        the state if it takes two arguments; returns numbers of shape (n_nodes, n_columns of X).
    initial : hashable, optional
        The state of the root.
    transition : callable, optional
        Called with a state, the column of X that is tested, and whether the test holds; returns
        the state below, which must be hashable. It knows nothing of the rows: what the rows of a
        node are is known to the costs.
    statistics : array-like of shape (n_rows, n_statistics), optional
        What is summed over the rows of a node, for functions that are called with batches.

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

    The second test on a way costs one, and further ones two; the first is free:

    >>> later = tasks.Separable(
    ...     [0, 1],
    ...     lambda rows, label: int((y[rows] != label).sum()),
    ...     split_cost=lambda rows, column, depth: min(depth, 2),
    ...     initial=0,
    ...     transition=lambda depth, column, holds: depth + 1,
    ... )
    >>> solve(later, X, max_depth=2).value
    2
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
        initial: Hashable = None,
        transition: Transition | None = None,
        statistics: Any = None,
    ) -> None:
        if len(labels) == 0:
            raise ValueError("labels must name at least one label, got none.")
        parts: dict[str, Any] = {"cost": cost, "combine": combine, "better": better}
        others = {"feasible": feasible, "split_cost": split_cost, "transition": transition}
        parts |= {name: part for name, part in others.items() if part is not None}
        for name, part in parts.items():
            if not callable(part):
                raise TypeError(f"{name} must be callable, got {type(part).__name__}.")
        self.labels = list(labels)
        self.cost = cost
        self.combine = combine
        self.better = better
        self.feasible = feasible
        self.split_cost = split_cost
        self.initial = initial
        self.transition = transition
        self.statistics = None if statistics is None else _read_statistics(statistics)
        if initial is not None and transition is None:
            raise ValueError("initial is the state of the root; give a transition, too.")
        if self.is_batched and (
            combine is not operator.add or better is not operator.lt or feasible is not None
        ):
            raise ValueError(
                "with statistics, values are numbers that add up, and less is better: leave "
                "combine, better and feasible out, or the statistics."
            )
        self._cost_takes_state = _takes(cost, 2 if self.is_batched else 3)
        self._split_takes_state = split_cost is not None and _takes(
            split_cost, 2 if self.is_batched else 3
        )

    @property
    def is_batched(self) -> bool:
        """Whether functions are called with sums of statistics."""
        return self.statistics is not None

    @property
    def leaf_has_state(self) -> bool:
        """Whether the cost of a leaf may depend on the state."""
        return self.transition is not None and self._cost_takes_state

    def bind(self, n_rows: int) -> Separable:
        """Return the objective for a table with so many rows."""
        if self.statistics is not None and len(self.statistics) != n_rows:
            raise ValueError(
                f"statistics has {len(self.statistics)} rows, but X has {n_rows}; give one line "
                "per row."
            )
        return self

    def next_state(self, state: Any, column: int, holds: bool) -> Hashable:
        """Return the state below a test.

        Raises
        ------
        ValueError
            If the transition takes other arguments, or its state is not hashable.
        """
        if self.transition is None:
            return None
        try:
            found = self.transition(state, column, holds)
        except TypeError as error:
            if _takes_three(self.transition):
                raise
            raise ValueError(
                "transition must take a state, a column and whether the question holds, and "
                "nothing else: a state that depended on the rows of a node would not be Markovian "
                f"({error})."
            ) from None
        return hashable(found, f"transition({state!r}, {column}, {holds})")

    def leaf_value(self, rows: Rows, label: Any, state: Any = None) -> Value:
        """Return the value of a leaf."""
        if self.is_batched:
            return self.leaf_values(self.sums(rows), state)[0, self.labels.index(label)].item()
        return self.cost(rows, label, state) if self._cost_takes_state else self.cost(rows, label)

    def split_value(self, rows: Rows, column: int, state: Any = None) -> Value:
        """Return what a test adds to the values of its sides."""
        assert self.split_cost is not None
        if self.is_batched:
            values = self.split_values(self.sums(rows), state)
            return values[0, column].item()
        if self._split_takes_state:
            return self.split_cost(rows, column, state)
        return self.split_cost(rows, column)

    def sums(self, rows: Rows) -> NDArray[Any]:
        """Return the sums of a set of rows, as a line."""
        assert self.statistics is not None
        total: NDArray[Any] = self.statistics[rows].sum(axis=0, keepdims=True)
        return total

    def leaf_values(self, sums: NDArray[Any], state: Any) -> NDArray[Any]:
        """Return what each label costs in nodes with these sums."""
        answer = self.cost(sums, state) if self._cost_takes_state else self.cost(sums)
        return _read_batch(answer, (len(sums), len(self.labels)), "cost", sums)

    def split_values(self, sums: NDArray[Any], state: Any) -> NDArray[Any]:
        """Return what tests of each column cost in nodes with these sums."""
        assert self.split_cost is not None
        takes = self._split_takes_state
        answer = self.split_cost(sums, state) if takes else self.split_cost(sums)
        return _read_batch(answer, (len(sums), -1), "split_cost", sums)

    def whole_better(self, one: Value, other: Value) -> bool:
        """Return whether a tree for all rows is better than another; limits no longer matter."""
        return bool(self.better(one, other))

    def whole_same(self, one: Value, other: Value) -> bool:
        """Return whether two trees for all rows are equally good."""
        return same(one, other)

    def __repr__(self) -> str:
        return f"Separable(labels={self.labels!r})"


class Both(Separable):
    """Two separable objectives, or one with a limit on a sum; made by ``first & second``."""

    def __init__(self, first: Separable, second: Separable | Limit, n_rows: int | None = None):
        self.first, self.second = first, second
        labels = first.labels
        if isinstance(second, Separable) and second.labels != labels:
            raise ValueError(
                f"{first!r} & {second!r}: both label the same leaves, so their labels must be the "
                f"same, got {labels!r} and {second.labels!r}."
            )
        if isinstance(second, Separable) and (first.split_cost is None) != (
            second.split_cost is None
        ):
            raise ValueError(
                f"{first!r} & {second!r}: give both a split_cost, or neither; one that changes "
                "nothing, such as 0 for sums, will do."
            )
        self._n_rows = n_rows
        has_split = any(getattr(one, "split_cost", None) is not None for one in (first, second))
        has_state = any(getattr(one, "transition", None) is not None for one in (first, second))
        super().__init__(
            labels,
            lambda rows, label, state: self._each("leaf_value", rows, label, state),
            combine=lambda a, b: (first.combine(a[0], b[0]), self._other.combine(a[1], b[1])),
            better=self._beats,
            feasible=self._allows,
            split_cost=self._split if has_split else None,
            initial=(first.initial, getattr(second, "initial", None)) if has_state else None,
            transition=self._next if has_state else None,
        )

    @cached_property
    def _other(self) -> Separable:
        if isinstance(self.second, Separable):
            return self.second
        if self._n_rows is None:
            raise ValueError("a limit is a sum over all rows; bind(n_rows) says how many.")
        return _as_separable(self.second, self.labels, self._n_rows)

    def bind(self, n_rows: int) -> Both:
        second = self.second.bind(n_rows) if isinstance(self.second, Separable) else self.second
        return Both(self.first.bind(n_rows), second, n_rows)

    def parts(self) -> tuple[Separable, list[Limit]]:
        """Return the objective and its limits, or itself where there is another objective."""
        if not isinstance(self.second, Limit):
            return self, []
        if not isinstance(self.first, Both):
            return self.first, [self.second]
        base, limits = self.first.parts()
        return base, [*limits, self.second]

    @property
    def is_limited_batch(self) -> bool:
        """Whether this is an objective of sums in batches, with limits that are small integers."""
        base, limits = self.parts()
        if not base.is_batched or self._n_rows is None:
            return False
        sides = [side for one in limits for side in limit_sides(one, self.labels, self._n_rows)]
        return all(int(amounts.max(axis=1).sum()) < _MOST_TOTAL for amounts, _ in sides)

    @property
    def _is_limit(self) -> bool:
        return isinstance(self.second, Limit)

    def _each(self, what: str, rows: Rows, which: Any, state: Any) -> tuple[Value, Value]:
        states = (None, None) if state is None else state
        one, two = (getattr(part, what) for part in (self.first, self._other))
        return one(rows, which, states[0]), two(rows, which, states[1])

    def _split(self, rows: Rows, column: int, state: Any) -> tuple[Value, Value]:
        states = (None, None) if state is None else state
        parts = zip((self.first, self._other), states, strict=True)
        one, two = (part.split_value(rows, column, own) for part, own in parts)
        return one, two

    def _next(self, state: Any, column: int, holds: bool) -> Hashable:
        one, two = (self.first, self._other)
        return one.next_state(state[0], column, holds), two.next_state(state[1], column, holds)

    def _allows(self, value: Value, rows: Rows) -> bool:
        parts = zip((self.first, self._other), value, strict=True)
        return all(part.feasible is None or part.feasible(own, rows) for part, own in parts)

    def _beats(self, one: Value, other: Value) -> bool:
        equal = [same(a, b) for a, b in zip(one, other, strict=True)]
        parts = zip((self.first, self._other), one, other, equal, strict=True)
        return not all(equal) and all(eq or part.better(a, b) for part, a, b, eq in parts)

    def whole_better(self, one: Value, other: Value) -> bool:
        if self._is_limit:
            return self.first.whole_better(one[0], other[0])
        equal = (
            self.first.whole_same(one[0], other[0]),
            self._other.whole_same(one[1], other[1]),
        )
        better = (
            self.first.whole_better(one[0], other[0]),
            self._other.whole_better(one[1], other[1]),
        )
        return not all(equal) and all(eq or b for eq, b in zip(equal, better, strict=True))

    def whole_same(self, one: Value, other: Value) -> bool:
        if self._is_limit:
            return self.first.whole_same(one[0], other[0])
        return self.first.whole_same(one[0], other[0]) and self._other.whole_same(one[1], other[1])

    def __repr__(self) -> str:
        return f"{self.first!r} & {self.second!r}"


def limit_sides(
    limit: Limit, labels: Sequence[Any], n_rows: int
) -> list[tuple[NDArray[np.int64], int]]:
    """Return what labels add to each side of a limit above the least, and the most of its sum."""
    table, unit = _whole_amounts(limit, labels, n_rows)
    upper, lower = limit.bounds()
    sides = []
    if upper is not None:
        above = table - table.min(axis=1)[:, None]
        sides.append((above, math.floor(upper / unit) - int(table.min(axis=1).sum())))
    if lower is not None:
        below = table.max(axis=1)[:, None] - table
        sides.append((below, int(table.max(axis=1).sum()) - math.ceil(lower / unit)))
    return sides


def _whole_amounts(
    limit: Limit, labels: Sequence[Any], n_rows: int
) -> tuple[NDArray[Any], Fraction]:
    names = np.empty(len(labels), dtype=object)
    names[:] = labels
    return whole_numbers(limit.table(names, n_rows), f"amounts of limit {limit.name!r}")


def _as_separable(limit: Limit, labels: Sequence[Any], n_rows: int) -> Separable:
    """Return a limit on a sum as an objective: totals, of which those out of reach are left out.

    The rest of the rows adds at least its least amounts, so a part that is too large stays so.
    """
    table, unit = _whole_amounts(limit, labels, n_rows)
    upper, lower = limit.bounds()
    at_most = None if upper is None else math.floor(upper / unit)
    at_least = None if lower is None else math.ceil(lower / unit)
    least, most = table.min(axis=1), table.max(axis=1)
    least_of_all, most_of_all = int(least.sum()), int(most.sum())

    def total(rows: Rows, label: Any) -> Any:
        found = int(table[rows, labels.index(label)].sum()) * unit
        return int(found) if found.denominator == 1 else found

    def feasible(value: Any, rows: Rows) -> bool:
        whole = value / unit
        if at_most is not None and whole + least_of_all - int(least[rows].sum()) > at_most:
            return False
        return at_least is None or whole + most_of_all - int(most[rows].sum()) >= at_least

    def better(one: Any, other: Any) -> bool:
        # With bounds from both sides, only equal totals are as good as each other.
        if at_most is not None:
            return bool(at_least is None and one < other)
        return bool(one > other)

    return Separable(
        list(labels),
        total,
        better=better,
        feasible=feasible,
        split_cost=lambda rows, column: 0,
    )


def hashable(state: Any, what: str) -> Hashable:
    """Return a state, or raise ValueError if subproblems cannot be looked up by it."""
    try:
        hash(state)
    except TypeError:
        raise ValueError(
            f"{what} is a {type(state).__name__}, which is not hashable, so that equal states "
            "cannot be told; use a number, a text, a tuple or a frozenset."
        ) from None
    found: Hashable = state
    return found


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the noise of floats."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or abs(one - other) <= _NOISE * (1 + abs(other))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    try:
        return bool(np.allclose(one, other, rtol=_NOISE, atol=_NOISE))
    except (TypeError, ValueError):
        return bool(one == other)


def _takes(function: Callable[..., Any], number: int) -> bool:
    """Return whether a function takes so many arguments by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return True
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in by_place for one in parameters) >= number


def _takes_three(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(None, 0, True)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _read_statistics(given: Any) -> NDArray[Any]:
    table = np.asarray(given)
    if table.ndim != 2 or table.shape[1] == 0 or table.dtype.kind not in "iubf":
        raise ValueError(
            f"statistics must be numbers of shape (n_rows, n_statistics), got shape {table.shape} "
            f"and type {table.dtype}."
        )
    if table.dtype.kind == "f" and not np.isfinite(table).all():
        raise ValueError("statistics must be finite numbers.")
    return table.astype(np.int64) if table.dtype.kind in "iub" else table


def _read_batch(answer: Any, shape: tuple[int, int], what: str, sums: NDArray[Any]) -> NDArray[Any]:
    values = np.asarray(answer)
    fits = values.ndim == 2 and len(values) == shape[0] and shape[1] in (-1, values.shape[1])
    if not fits or values.dtype.kind not in "iubf":
        columns = "one for each column of X" if shape[1] < 0 else f"{shape[1]} labels"
        raise ValueError(
            f"{what} must return numbers for {shape[0]} nodes and {columns}, got shape "
            f"{values.shape} and type {values.dtype}."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        node = int(np.argmax(~np.isfinite(values).all(axis=1)))
        raise ValueError(
            f"{what} returns {values[node].tolist()} for the sums {sums[node].tolist()}; give "
            "finite numbers."
        )
    return values
