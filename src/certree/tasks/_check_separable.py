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
    """The conditions of theorem 4.6, each as a law of two disjoint sets of rows."""

    def __init__(self, task: Separable) -> None:
        self.task = task

    def laws(self) -> list[Law]:
        """Return all conditions."""
        laws: list[Law] = [self.markovian, self.strict_order, self.order_preserved]
        if self.task.feasible is not None:
            laws.append(self.anti_monotonic)
        return laws

    def _values(self, rows: Indices) -> list[tuple[str, Any]]:
        """Return values of leaves and of small trees with these rows, and what they are."""
        found = [(f"label {k!r}", self.task.cost(rows, k)) for k in self.task.labels]
        if len(rows) > 1:
            half = len(rows) // 2
            for k in self.task.labels:
                for other in self.task.labels:
                    if k != other:
                        parts = self.task.cost(rows[:half], k), self.task.cost(rows[half:], other)
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
            before = self.task.cost(first, label)
            self.task.cost(second, label)
            after = self.task.cost(first[::-1].copy(), label)
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


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the noise of floats."""
    try:
        return bool(np.allclose(one, other, rtol=_NOISE, atol=_NOISE))
    except TypeError:
        return bool(one == other)
