"""Watching a search: the state for callbacks, and the same in the user's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certree.engine._scalar import Event
from certree.numbers._fractions import to_float

from ._activity import activity
from ._certificate import Exact, exact, many


@dataclass(frozen=True)
class Progress:
    """State of a search, as a callback sees it.

    Attributes
    ----------
    seconds : float
        Time since the search began.
    work : int
        Work done so far, in the core's deterministic measure.
    upper_bound : int or Fraction or None
        Cost of the best tree so far, in units of the certificate; None if there is none yet.
    lower_bound : int or Fraction
        No tree costs less.
    gap : int or Fraction or None
        Their difference.
    """

    seconds: float
    work: int
    upper_bound: Exact | None
    lower_bound: Exact
    gap: Exact | None


Callback = Callable[[Progress], object]
"""Called with a `Progress`; a true answer stops the search."""


@dataclass(frozen=True)
class Measure:
    """How people speak of costs: as errors, as R2, as a mean reward, and so on.

    Attributes
    ----------
    name : str
        What `value` is.
    value : callable
        The value that a cost stands for.
    whole : int or Fraction or None
        What a gap is told as a share of; None: it is told as it is.
    of_all : str
        What to call that share: of the rows, or of their weight.
    """

    name: str
    value: Callable[[Exact], Exact | float]
    whole: Exact | None = None
    of_all: str = "of the rows"

    def text(self, cost: Exact | None, bound: Exact) -> str:
        """Return the value of the best tree so far, the bound on all values, and the gap."""
        best = self.value(bound)
        if cost is None:
            limit = "at most" if self.value(bound + 1) < best else "at least"
            return f"no tree yet, {self.name} {limit} {_short(best)}"
        value = self.value(cost)
        limit = "at most" if best > value else "at least"
        if value == best:
            return f"{self.name} {_short(value)} (gap 0)"
        apart = max(value, best) - min(value, best)
        gap = _short(apart)
        if self.whole:
            gap += f", {float(apart / Fraction(self.whole)):.2%} {self.of_all}"
        return f"{self.name} {_short(value)}, {limit} {_short(best)} (gap {gap})"


class Observer:
    """Pass the core's events on: to a user's callback in units of cost, and to what is shown.

    Parameters
    ----------
    to_cost : callable
        From values of the search to costs.
    callback : callable, optional
        The user's own.
    measure : Measure or None
        How costs are shown; None: they are not, since there is no best tree of many sizes.
    """

    def __init__(
        self,
        to_cost: Callable[[Any], Exact],
        callback: Callback | None = None,
        measure: Measure | None = None,
    ) -> None:
        self._to_cost = to_cost
        self._callback = callback
        self._event: Event = {}
        self._activity = activity()
        self.measure = measure
        self.asked_to_stop = False

    def __call__(self, event: Event) -> bool:
        # Numbers are read when they are needed: most events are neither shown nor passed on.
        self._event = event
        if self._activity is not None and self.measure is not None:
            self._activity.hear(self)
        if self._callback is not None and self._callback(self.progress()):
            self.asked_to_stop = True
        return self.asked_to_stop

    def progress(self) -> Progress:
        """Return the last event in units of cost."""
        event = self._event
        upper = exact(self._to_cost(event["upper_bound"]))
        lower = exact(self._to_cost(event["lower_bound"]))
        return Progress(event["seconds"], event["work"], upper, lower, exact(upper - lower))

    @property
    def best(self) -> object:
        """What changes when a better tree is found."""
        return self._event.get("upper_bound")

    def text(self) -> str:
        """Return the last event in the user's units."""
        now = self.progress()
        return self.text_of(now.upper_bound, now.lower_bound)

    def text_of(self, cost: Exact | None, bound: Exact) -> str:
        """Return a cost and a bound in the user's units."""
        return "" if self.measure is None else self.measure.text(cost, bound)


class FrontObserver(Observer):
    """Watch a search for many trees, which has no best one so far: any cost is still possible."""

    def __init__(self, most: Exact, callback: Callback | None = None) -> None:
        super().__init__(exact, callback, Measure("cost", exact))
        self._most = most

    def progress(self) -> Progress:
        event = self._event
        return Progress(event["seconds"], event["work"], self._most, 0, self._most)

    @property
    def best(self) -> object:
        return self._event.get("n_points")

    def text(self) -> str:
        return trees_so_far(self._event)


def trees_so_far(event: Event) -> str:
    """Return what the search for many trees has found, in words."""
    found = event.get("n_points")
    return "" if found is None else f"{many(found, 'tree')} so far"


def _short(number: Exact | float) -> str:
    if isinstance(number, int):
        return str(number)
    return f"{number if isinstance(number, float) else to_float(number):.6g}"
