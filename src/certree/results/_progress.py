"""Watching a search: the state for callbacks, and the progress line of ``verbose=1``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import TextIO

from certree.engine._scalar import Event
from certree.numbers._fractions import to_float

from ._certificate import Certificate, Exact, exact

SECONDS_BETWEEN_UPDATES = 0.1
"""A terminal line is redrawn at most this often; a log gets a line when something has changed."""


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


class Observer:
    """Pass the core's events on, in units of cost, to a progress line and to a user's callback."""

    def __init__(
        self,
        to_cost: Callable[[int], Exact],
        callback: Callback | None = None,
        line: ProgressLine | None = None,
    ) -> None:
        self._to_cost = to_cost
        self._callback = callback
        self._line = line
        self.asked_to_stop = False

    def __call__(self, event: Event) -> bool:
        upper = exact(self._to_cost(event["upper_bound"]))
        lower = exact(self._to_cost(event["lower_bound"]))
        gap = exact(upper - lower)
        return self._tell(Progress(event["seconds"], event["work"], upper, lower, gap))

    def _tell(self, progress: Progress) -> bool:
        """Pass on a state of the search, and return whether the search should stop."""
        if self._line is not None:
            self._line.update(progress)
        if self._callback is not None and self._callback(progress):
            self.asked_to_stop = True
        return self.asked_to_stop

    def finish(self, certificate: Certificate) -> None:
        """Complete the progress line once the search is over."""
        if self._line is None:
            return
        work = certificate.history[-1][1] if certificate.history else 0
        last = Progress(
            certificate.seconds,
            work,
            certificate.upper_bound,
            certificate.lower_bound,
            certificate.gap,
        )
        self._line.finish(last, certificate.status)


class ProgressLine:
    """One line about the search: redrawn in place on a terminal, appended to a log otherwise.

    Where costs are errors, the gap is shown as a share of all weight. For other costs,
    `total_weight` is None and the gap is shown as a share of the cost of the best tree so far.
    """

    def __init__(self, total_weight: Exact | None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._in_place = self._stream.isatty()
        self._total_weight = total_weight
        self._last_time = float("-inf")
        self._last_bounds: tuple[Exact | None, Exact] | None = None
        self._width = 0

    def update(self, progress: Progress) -> None:
        """Show the state, unless it was shown a moment ago."""
        now = perf_counter()
        bounds = (progress.upper_bound, progress.lower_bound)
        recent = now - self._last_time < SECONDS_BETWEEN_UPDATES
        if recent or (bounds == self._last_bounds and not self._in_place):
            return
        self._last_time, self._last_bounds = now, bounds
        self._write(self._text(progress))

    def finish(self, progress: Progress, status: str) -> None:
        """Show the last state and what ended the search, and end the line."""
        self._write(f"{self._text(progress)}  {status}")
        if self._in_place:
            self._stream.write("\n")
            self._stream.flush()

    def _text(self, progress: Progress) -> str:
        start = f"certree {progress.seconds:7.1f} s  incumbent"
        bound = f"bound {_short(progress.lower_bound)}"
        if progress.upper_bound is None or progress.gap is None:
            return f"{start} none yet  {bound}"
        of, whole = "all weight", self._total_weight
        if whole is None:
            of, whole = "the incumbent", progress.upper_bound
        share = f" ({float(progress.gap / Fraction(whole)):.2%} of {of})" if whole > 0 else ""
        return f"{start} {_short(progress.upper_bound)}  {bound}  gap {_short(progress.gap)}{share}"

    def _write(self, text: str) -> None:
        if self._in_place:
            # Blanks wipe out the rest of a longer line drawn before.
            self._stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def _short(number: Exact) -> str:
    return str(number) if isinstance(number, int) else f"{to_float(number):.7g}"
