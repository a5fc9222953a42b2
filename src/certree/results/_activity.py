"""What a call is doing, for the live line and for the log.

Every call of a user that searches opens an `Activity`. Its steps say where they are with `phase`
and `step`, and searches pass their events to it. A call inside another one is a part of it.

The line is drawn by a thread of its own, so that it also moves while nothing is heard of a search.
A call that nobody watches has no such thread, and its searches report nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from threading import Event, Lock, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

from certree.engine._budget import Budget

from ._live import Screen, Shown, choose_screen
from ._record import status_text

if TYPE_CHECKING:
    from ._progress import Observer

PATIENCE = 3.0
"""Seconds that ``verbose="auto"`` waits before it shows anything."""

_BETWEEN_DRAWINGS = 0.2
_BETWEEN_LOGS = 1.0

_LOG = logging.getLogger("certree")

# One line at a time: of two calls in two threads, the first has it.
_SCREEN = Lock()


class Activity:
    """What a call is doing.

    Parameters
    ----------
    name : str
        Who does it: the class of the estimator.
    call : Budget
        The time of the call.
    screen : Screen or None
        Where it is shown; None: nowhere.
    is_logged : bool
        Whether there is a log that wants to know.
    """

    def __init__(self, name: str, call: Budget, screen: Screen | None, is_logged: bool) -> None:
        self.name = name
        self.phase = ""
        self._call = call
        self._screen = screen
        self._is_logged = is_logged
        self._steps: list[str] = []
        self._observer: Observer | None = None
        self._logged: tuple[float, object] = (float("-inf"), None)
        self._ended = ""
        self._certificate: Any = None

    @property
    def is_watched(self) -> bool:
        """Whether anyone wants to hear of the searches."""
        return self._screen is not None or self._is_logged

    def hear(self, observer: Observer) -> None:
        """Take note of an event of a search; log a better tree, at most one per second."""
        self._observer = observer
        if not self._is_logged:
            return
        now = perf_counter()
        if now - self._logged[0] >= _BETWEEN_LOGS and observer.best != self._logged[1]:
            self._logged = (now, observer.best)
            _LOG.info("%s: %.1f s: %s", self.name, self._call.seconds, observer.text())

    def shown(self) -> Shown:
        """Return what there is to show now."""
        observer = self._observer
        doing = [*self._steps, "stopping" if self._call.is_interrupted else self.phase]
        return Shown(
            ", ".join(filter(None, doing)),
            "" if observer is None else observer.text(),
            self._call.seconds,
            self._call.limit,
        )

    def begin(self) -> None:
        """Log the begin of the call."""
        if self._is_logged:
            limit = "no limit" if self._call.limit is None else f"limit {self._call.limit:g} s"
            _LOG.info("%s: begins, %s", self.name, limit)

    def prove(self, call: Budget, certificate: Any) -> None:
        """Take note of what a call has proven, if it is this one and not a part of it."""
        if call is self._call:
            self._certificate = certificate

    def end(self, error: BaseException | None = None) -> None:
        """Log the end of the call, and keep its result for the last line."""
        if not self.is_watched:
            return
        certificate = None if error is not None else self._certificate
        result = "done" if error is None else f"ended by {type(error).__name__}"
        if certificate is not None:
            observer, result = self._observer, status_text(certificate.status)
            if observer is not None and certificate.has_tree:
                found = observer.text_of(certificate.cost, certificate.lower_bound)
                result = f"{found}, {result}"
        self._ended = result if error is None else ""
        if self._is_logged:
            _LOG.info("%s: ends after %.1f s: %s", self.name, self._call.seconds, result)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Say that a part of the call is under way."""
        self._steps.append(text)
        self._observer = None  # what was heard is about another part
        self.say("")
        try:
            yield
        finally:
            self._steps.remove(text)
            self.phase = ""

    def say(self, phase: str) -> None:
        """Say what is being done now."""
        self.phase = phase
        if self._is_logged:
            _LOG.debug("%s: %.1f s: %s", self.name, self._call.seconds, self.shown().doing)

    @contextmanager
    def displayed(self) -> Iterator[None]:
        """Keep the line on the screen up to date."""
        screen = self._screen
        if screen is None or not _SCREEN.acquire(blocking=False):
            yield
            return
        over = Event()
        # With the context of the call: by it a notebook knows the cell that the line belongs to.
        draw = partial(copy_context().run, self._draw, screen, over)
        thread = Thread(target=draw, name="certree", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            _SCREEN.release()

    def _draw(self, screen: Screen, over: Event) -> None:
        try:
            is_over = over.wait(screen.patience)
            while not is_over:
                screen.show(self.shown())
                is_over = over.wait(_BETWEEN_DRAWINGS)
            last = self.shown()
            screen.close(Shown(last.doing, self._ended, last.seconds, last.limit))
        except (OSError, ValueError):
            return  # the terminal was closed; the result matters more than the line


_CURRENT: ContextVar[Activity | None] = ContextVar("certree_activity", default=None)


def activity() -> Activity | None:
    """Return what the current call does, if anyone watches it."""
    now = _CURRENT.get()
    return now if now is not None and now.is_watched else None


@contextmanager
def watched(by: str, verbose: object, call: Budget) -> Iterator[None]:
    """Show what a call of an estimator does; one inside another call is shown as a part of that."""
    if _CURRENT.get() is not None:
        yield
        return
    is_logged = _LOG.isEnabledFor(logging.INFO)
    screen = choose_screen(verbose, PATIENCE, is_logged=is_logged)
    now = Activity(by, call, screen, is_logged)
    token = _CURRENT.set(now)
    try:
        now.begin()
        with now.displayed():
            try:
                yield
            except BaseException as error:
                now.end(error=error)
                raise
            now.end()
    finally:
        _CURRENT.reset(token)


def proven(call: Budget, certificate: Any) -> None:
    """Say what a call has proven, for the line that ends it."""
    now = activity()
    if now is not None:
        now.prove(call, certificate)


def phase(text: str) -> None:
    """Say what the current call does now."""
    now = activity()
    if now is not None:
        now.say(text)


@contextmanager
def step(text: str) -> Iterator[None]:
    """Say which part of the current call is under way, such as ``fold 2 of 5``."""
    now = activity()
    if now is None:
        yield
        return
    with now.step(text):
        yield
