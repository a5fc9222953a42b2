"""Search for rows on which limits do not add up, or an objective is not separable.

The conditions are those of theorem 4.6 of van der Linden, de Weerdt and Demirović (NeurIPS 2023):
the cost of a label is a function of its rows (Markovian), combining values preserves their order,
and the constraint is anti-monotonic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import Limit, Separable
from ._separable import hashable, same

Indices = NDArray[np.intp]

# Two computations of one float may differ by this share of it.
_NOISE = 1e-9


class Failure(NamedTuple):
    """A law, and what was seen against it."""

    law: str
    text: str


Law = Callable[[Indices, Indices], Failure | None]
"""A function of two disjoint sets of rows that says what fails."""


def limit_laws(limit: Limit, n_labels: int) -> list[Law]:
    """Return the laws of a limit whose amounts are given as a function of rows; none otherwise."""
    state = limit.state()
    if state is None:
        return []
    what = f"the amounts of limit {limit.name!r}"

    def ask(rows: Indices) -> NDArray[np.float64]:
        return np.asarray(state(rows), dtype=np.float64)

    def well_formed(first: Indices, second: Indices) -> Failure | None:
        for rows in (first, second, np.concatenate([first, second])):
            amounts = ask(rows)
            if amounts.shape != (n_labels,):
                text = f"{what} have shape {amounts.shape}, not one number for {n_labels} labels."
                return Failure("shape", text)
            if not np.isfinite(amounts).all():
                return Failure("finite", f"{what} are {amounts.tolist()}.")
        return None

    def deterministic(first: Indices, second: Indices) -> Failure | None:
        before = ask(first)
        ask(second)
        after = ask(first[::-1].copy())
        if np.allclose(before, after, rtol=_NOISE, atol=_NOISE):
            return None
        text = f"{what} are {before.tolist()} at first and {after.tolist()} later."
        return Failure("deterministic", text)

    def additive(first: Indices, second: Indices) -> Failure | None:
        both = ask(np.concatenate([first, second]))
        apart = ask(first) + ask(second)
        if np.allclose(both, apart, rtol=_NOISE, atol=_NOISE):
            return None
        return Failure(
            "additive",
            f"{what} of two sets of rows sum to {apart.tolist()}, those of the sets together are "
            f"{both.tolist()}: such a limit is not a sum over rows, and not separable.",
        )

    return [well_formed, deterministic, additive]


class SeparableHunt:
    """The conditions of theorem 4.6, each as a law of two disjoint sets of rows.

    Parameters
    ----------
    task : Separable
        The objective.
    n_columns : int
        Columns of the table, by which tests change the state.
    """

    def __init__(self, task: Separable, n_columns: int) -> None:
        self.task = task
        self.n_columns = n_columns
        self.state: Any = task.initial

    def laws(self) -> list[Law]:
        """Return all conditions, for the state of the root and for some below it."""
        laws: list[Law] = []
        if self.task.transition is not None:
            hashable(self.task.initial, "initial")
            laws += [self.deterministic_states, self.split_costs]
        for state in self._some_states():
            laws += [self._in(state, law) for law in (self.markovian, self.order_preserved)]
            if self.task.feasible is not None:
                laws.append(self._in(state, self.anti_monotonic))
        return [self.strict_order, *laws]

    def _some_states(self) -> list[Any]:
        """Return the state of the root, and those after one, two and three tests."""
        found, state = [self.task.initial], self.task.initial
        for test in range(3 if self.task.transition is not None else 0):
            state = self.task.next_state(state, test % self.n_columns, test % 2 == 0)
            if state not in found:
                found.append(state)
        return found

    def _in(self, state: Any, law: Law) -> Law:
        """Return a law with costs in a state."""

        def in_state(first: Indices, second: Indices) -> Failure | None:
            self.state = state
            try:
                return law(first, second)
            finally:
                self.state = self.task.initial

        return in_state

    def _leaf(self, rows: Indices, label: Any) -> Any:
        return self.task.leaf_value(rows, label, self.state)

    def deterministic_states(self, first: Indices, second: Indices) -> Failure | None:
        """Check that a test leads to one state, whatever rows were asked about before."""
        column = int(first[0]) % self.n_columns
        for state in self._some_states():
            for holds in (False, True):
                self._leaf(first, self.task.labels[0])
                before = self.task.next_state(state, column, holds)
                self._leaf(second, self.task.labels[0])
                after = self.task.next_state(state, column, holds)
                if before != after:
                    return Failure(
                        "Markovian",
                        f"from the state {state!r}, a question of column {column} leads to "
                        f"{before!r} after a look at the first rows and to {after!r} after one at "
                        "the second; a state may depend on the questions above only.",
                    )
        return None

    def split_costs(self, first: Indices, second: Indices) -> Failure | None:
        """Check that a test costs the same in every call and in any order of rows."""
        if self.task.split_cost is None:
            return None
        column = int(first[0]) % self.n_columns
        for state in self._some_states():
            before = self.task.split_value(first, column, state)
            self.task.split_value(second, column, state)
            after = self.task.split_value(first[::-1].copy(), column, state)
            if not same(before, after):
                return Failure(
                    "Markovian",
                    f"a question of column {column} in the state {state!r} costs the same rows "
                    f"{before!r} at first and {after!r} later.",
                )
        return None

    def _values(self, rows: Indices) -> list[tuple[str, Any]]:
        """Return values of leaves and of small trees with these rows, and what they are."""
        found = [(f"label {k!r}", self._leaf(rows, k)) for k in self.task.labels]
        if len(rows) > 1:
            half = len(rows) // 2
            for k in self.task.labels:
                for other in self.task.labels:
                    if k != other:
                        parts = self._leaf(rows[:half], k), self._leaf(rows[half:], other)
                        text = f"labels {k!r} and {other!r}"
                        found.append((text, self.task.combine(*parts)))
        return found

    def _pairs(self, rows: Indices) -> Iterator[tuple[Any, Any]]:
        """Return pairs of values of which the first is better."""
        values = [value for _, value in self._values(rows)]
        for one in values:
            for other in values:
                if self.task.better(one, other):
                    yield one, other

    def markovian(self, first: Indices, second: Indices) -> Failure | None:
        """Check that a label costs the same in every call and in any order of rows."""
        for label in self.task.labels:
            before = self._leaf(first, label)
            self._leaf(second, label)
            after = self._leaf(first[::-1].copy(), label)
            if not same(before, after):
                return Failure(
                    "Markovian",
                    f"label {label!r} costs the same rows {before!r} at first and {after!r} later.",
                )
        return None

    def strict_order(self, first: Indices, second: Indices) -> Failure | None:
        """Check that `better` is a strict partial order."""
        better = self.task.better
        values = [value for rows in (first, second) for _, value in self._values(rows)]
        for a in values:
            if better(a, a):
                return Failure("order", f"the value {a!r} is better than itself.")
            for b in values:
                if better(a, b) and better(b, a):
                    text = f"{a!r} is better than {b!r}, and the other way round."
                    return Failure("order", text)
                for c in values[:4]:
                    if better(a, b) and better(b, c) and not better(a, c):
                        return Failure(
                            "order",
                            f"{a!r} is better than {b!r}, and that better than {c!r}, but the "
                            "first is not better than the last.",
                        )
        return None

    def order_preserved(self, first: Indices, second: Indices) -> Failure | None:
        """Check that a better part never makes a worse whole."""
        combine, better = self.task.combine, self.task.better
        others = [value for _, value in self._values(second)]
        for good, bad in self._pairs(first):
            for other in others:
                for one, two in (
                    (combine(good, other), combine(bad, other)),
                    (combine(other, good), combine(other, bad)),
                ):
                    if not better(one, two) and not same(one, two):
                        return Failure(
                            "order preserved",
                            f"for the first rows {good!r} is better than {bad!r}, but combined "
                            f"with {other!r} of the others it gives {one!r}, which is not better "
                            f"than {two!r}.",
                        )
        return None

    def anti_monotonic(self, first: Indices, second: Indices) -> Failure | None:
        """Check that no allowed tree has a part that is not allowed."""
        feasible = self.task.feasible
        assert feasible is not None
        both = np.concatenate([first, second])
        for what, value in self._values(first):
            if feasible(value, first):
                continue
            for other, rest in self._values(second):
                whole = self.task.combine(value, rest)
                if feasible(whole, both):
                    return Failure(
                        "anti-monotonic",
                        f"the first rows with {what} have {value!r}, which is not allowed, but "
                        f"with {other} for the others the whole has {whole!r}, which is.",
                    )
        return None
