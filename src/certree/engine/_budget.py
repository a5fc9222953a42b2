"""The budget of a call: time, memory, and Ctrl-C.

Every call of a user that searches opens a `Budget`. All steps of the call, from reading the table
to the last of several solves, ask `current()` for the rest of it. A call inside another one, such
as the refit of a cross-validation, gets at most the rest of the outer one.

Ctrl-C: the first one ends the call, which returns the best so far; a second one raises
`KeyboardInterrupt` at once. The first one should also end a loop of calls, so it raises if

- scikit-learn or joblib loop around the call (`GridSearchCV`, `cross_val_score`, ...),
- or a call that was interrupted ended less than two seconds before this one began: that is a loop
  of the user's own.

Python delivers Ctrl-C only to its main thread, and a program with its own handler keeps it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._scalar import Options

# Time for all solves that begin after Ctrl-C, so that there is a tree to return.
_TO_FINISH = 0.3
# A call that begins this soon after an interrupted one is treated as the next one of a loop.
_NEXT_OF_A_LOOP = 2.0
# The core takes 0 for no limit.
_LEAST_SECONDS = 1e-3

# Parts of scikit-learn that fit once; the others are treated as loops.
_FIT_ONCE = ("sklearn.pipeline", "sklearn.base", "sklearn.utils", "sklearn.compose")

# Counters of a size: the largest counts, not the sum.
_SIZES = ("peak_bytes", "table_entries", "row_groups", "columns")

# What ends a solve that has a part of the time and work left.
_OVER = ("time_limit", "work_limit")


class Budget:
    """The time and memory of a call, and the rest of them.

    Parameters
    ----------
    seconds : float or None
        Time limit; None: none.
    memory : int or None
        Memory limit in bytes; None: none.
    outer : Budget, optional
        That of the call inside of which this one is made.

    Attributes
    ----------
    limit : float or None
        Seconds that the call may take; None: no limit.
    memory : int or None
        Memory limit in bytes.
    held : int
        Bytes of the encoded table.
    raises : bool
        Whether Ctrl-C raises `KeyboardInterrupt`, because there is no result yet.
    """

    _last_interrupted = float("-inf")

    def __init__(
        self, seconds: float | None = None, memory: int | None = None, outer: Budget | None = None
    ) -> None:
        self._start = perf_counter()
        self._end = None if seconds is None else self._start + float(seconds)
        self.memory = memory
        self.held = 0
        if outer is not None:
            self._end = _least(self._end, outer._end)
            self.memory = _least(memory, outer.memory)
        self.limit = None if self._end is None else self._end - self._start
        self._root: Budget = self if outer is None else outer._root
        self._interrupted: float | None = None
        self.raises = outer is None and (
            self._start - Budget._last_interrupted < _NEXT_OF_A_LOOP or _is_in_a_loop()
        )

    @property
    def seconds(self) -> float:
        """Time since the call began."""
        return perf_counter() - self._start

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._root._interrupted is not None

    def interrupt(self) -> None:
        """End the call as Ctrl-C does; raise `KeyboardInterrupt` the second time."""
        if self._root.raises or self.is_interrupted:
            raise KeyboardInterrupt
        self._root._interrupted = perf_counter()

    def remaining(self, share: float = 1.0) -> float | None:
        """Return a share of the seconds left, more than 0; None: no limit."""
        if self._end is None:
            return None
        return max((self._end - perf_counter()) * share, _LEAST_SECONDS)

    def memory_left(self) -> int | None:
        """Return the bytes left for the search, at least half of the limit."""
        if self.memory is None:
            return None
        return max(self.memory - self.held, (self.memory + 1) // 2)

    def status(self) -> str | None:
        """Return the reason to end a loop between solves: "interrupted", "time_limit" or None."""
        if self.must_stop():
            return "interrupted"
        if self._end is not None and perf_counter() >= self._end:
            return "time_limit"
        return None

    def must_stop(self, *, at_once: bool = False) -> bool:
        """Whether Ctrl-C was pressed and, unless `at_once`, the time to finish after it is over."""
        at = self._root._interrupted
        return at is not None and (at_once or perf_counter() > at + _TO_FINISH)

    @contextmanager
    def nothing_to_return(self) -> Iterator[None]:
        """Let Ctrl-C raise while there is no tree yet, such as while other models are fitted."""
        root = self._root
        before, root.raises = root.raises, True
        try:
            yield
        finally:
            root.raises = before

    def _handle_signals(self) -> bool:
        """Take over Ctrl-C, if it is Python's own to raise; return whether that was done."""
        if self.raises or threading.current_thread() is not threading.main_thread():
            return False
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return False
        with suppress(ValueError):  # an interpreter within another has no signals
            signal.signal(signal.SIGINT, self._on_signal)
            return True
        return False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.interrupt()


_CURRENT: ContextVar[Budget | None] = ContextVar("certree_budget", default=None)


def current() -> Budget | None:
    """Return the budget of the current call, if there is one."""
    return _CURRENT.get()


@contextmanager
def budget(seconds: float | None, memory: int | None) -> Iterator[Budget]:
    """Open the budget of a call, with its limits."""
    outer = _CURRENT.get()
    opened = Budget(seconds, memory, outer)
    token = _CURRENT.set(opened)
    handles = outer is None and opened._handle_signals()
    try:
        yield opened
    finally:
        _CURRENT.reset(token)
        if handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if opened.is_interrupted:
                Budget._last_interrupted = perf_counter()


def _least(one: Any, other: Any) -> Any:
    """Return the smaller of two limits; None stands for no limit."""
    return min((limit for limit in (one, other) if limit is not None), default=None)


def _is_in_a_loop() -> bool:
    """Whether a loop of scikit-learn or joblib makes the call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        package = name.partition(".")[0]
        if package == "joblib" or (package == "sklearn" and not name.startswith(_FIT_ONCE)):
            return True
        frame = frame.f_back
    return False


class Spending:
    """What several solves of one search have taken, and what that leaves of their limits.

    Attributes
    ----------
    status : str
        "optimal" for as long as no limit was reached.
    counters : Counter
        Work of all solves.
    work : int
        The part of it that the work limit counts.
    n_solves : int
        Number of solves.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.status = "optimal"
        self.counters: Counter[str] = Counter()
        self.work = 0
        self.n_solves = 0
        self._start = perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return perf_counter() - self._start

    def part(self, share: float, work: int) -> Options | None:
        """Return the options with a share of the time left and at most so much work, or None.

        Nothing is over when a part is: `account` the solve as one that was a part.
        """
        options = self.remaining()
        if options is None:
            return None
        if options.time_limit is not None:
            options = replace(options, time_limit=max(options.time_limit * share, _LEAST_SECONDS))
        left = options.extra.get("work_limit", 0) or work
        return replace(options, extra={**options.extra, "work_limit": min(work, left)})

    def remaining(self) -> Options | None:
        """Return the options with what is left of the limits, or None if nothing is."""
        call = current()
        if self.status == "optimal" and call is not None and call.must_stop():
            self.status = "interrupted"
        if self.status != "optimal":
            return None
        options = self.options
        if options.time_limit is not None:
            left = options.time_limit - self.seconds
            if left <= 0:
                self.status = "time_limit"
                return None
            options = replace(options, time_limit=left)
        work_limit = options.extra.get("work_limit", 0)
        if work_limit:
            if self.work >= work_limit:
                self.status = "work_limit"
                return None
            options = replace(
                options, extra={**options.extra, "work_limit": work_limit - self.work}
            )
        return options

    def account(
        self, status: str, counters: dict[str, int], work: int = 0, *, is_part: bool = False
    ) -> None:
        """Add up the work of a solve, and remember what stopped it, unless that was its part."""
        self.n_solves += 1
        self.work += work
        for name, count in counters.items():
            kept = self.counters[name]
            self.counters[name] = max(kept, count) if name in _SIZES else kept + count
        if status != "optimal" and not (is_part and status in _OVER):
            self.status = status
