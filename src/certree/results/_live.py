"""Where progress is shown: a line on a terminal or in a notebook, or lines in a log."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import current_process
from time import perf_counter
from typing import Any, TextIO

# A log gets a line when something has changed: at most one per second, and after ten seconds at
# most one per tenth of the time so far.
_BETWEEN_LINES = 1.0
_SHARE_BETWEEN_LINES = 0.1
# If nothing changes, it gets one this often, to show that the search is alive.
_BETWEEN_SIGNS_OF_LIFE = 30.0

# Columns of a screen that does not say how wide it is.
_USUAL_WIDTH = 100

_BAR_WIDTH = 16


@dataclass(frozen=True)
class Shown:
    """What there is to show: what is being done, the bounds, the time and its limit."""

    doing: str
    bounds: str
    seconds: float
    limit: float | None

    @property
    def time(self) -> str:
        """The time and its limit."""
        spent = f"{self.seconds:.0f} s" if self.seconds >= 10 else f"{self.seconds:.1f} s"
        return spent if self.limit is None else f"{spent} of {self.limit:g} s"

    def line(self) -> str:
        """Return all of it in one line."""
        return "  ".join(filter(None, (f"certree {self.time}", self.doing, self.bounds)))


class Screen(ABC):
    """Something that shows progress.

    Parameters
    ----------
    patience : float
        Seconds before anything is shown.
    stays : bool
        Whether the result stays to be seen at the end, or the line is cleared.
    """

    def __init__(self, patience: float, stays: bool) -> None:
        self.patience = patience
        self._stays = stays

    @abstractmethod
    def show(self, shown: Shown) -> None:
        """Show the state now."""

    @abstractmethod
    def close(self, last: Shown) -> None:
        """Show the result, or clear the line."""


class LogScreen(Screen):
    """A file or a pipe: one line after the other."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(_BETWEEN_LINES, stays=True)
        self._stream = stream
        self._last: tuple[float, object] = (float("-inf"), None)

    def show(self, shown: Shown) -> None:
        now, state = perf_counter(), (shown.doing, shown.bounds)
        waited = _BETWEEN_SIGNS_OF_LIFE
        if state != self._last[1]:
            waited = min(max(_BETWEEN_LINES, _SHARE_BETWEEN_LINES * shown.seconds), waited)
        if now - self._last[0] >= waited:
            self._last = (now, state)
            self._write(shown)

    def close(self, last: Shown) -> None:
        if last.bounds:
            self._write(Shown("", last.bounds, last.seconds, last.limit))

    def _write(self, shown: Shown) -> None:
        self._stream.write(shown.line() + "\n")
        self._stream.flush()


class LineScreen(Screen):
    """A terminal: one line that is redrawn in place."""

    def __init__(self, stream: TextIO, patience: float, stays: bool) -> None:
        super().__init__(patience, stays)
        self._stream = stream
        self._width = 0

    def show(self, shown: Shown) -> None:
        text = shown.line()[: _columns(self._stream) - 1]
        # Blanks wipe out the rest of a longer line drawn before.
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def close(self, last: Shown) -> None:
        if self._stays and last.bounds:
            self.show(Shown("", last.bounds, last.seconds, last.limit))
            self._stream.write("\n")
        elif self._width:
            self._stream.write("\r" + " " * self._width + "\r")
        self._stream.flush()


class NotebookScreen(Screen):
    """A notebook: one output that is updated, since a saved notebook keeps all that is printed."""

    def __init__(self, patience: float, stays: bool) -> None:
        super().__init__(patience, stays)
        self._handle: Any = None

    def show(self, shown: Shown) -> None:
        self._put({"text/plain": shown.line()})

    def close(self, last: Shown) -> None:
        if self._stays and last.bounds:
            self.show(Shown("", last.bounds, last.seconds, last.limit))
        elif self._handle is not None:
            self._put({})  # an output that shows nothing; it cannot be taken back

    def _put(self, data: dict[str, str]) -> None:
        if self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class TerminalScreen(LineScreen):
    """A terminal: rich draws the line if it is installed; that is looked up when it is needed."""

    def __init__(self, stream: TextIO, patience: float, stays: bool) -> None:
        super().__init__(stream, patience, stays)
        self._rich: RichLine | None = None
        self._is_open = False

    def show(self, shown: Shown) -> None:
        if not self._is_open:
            self._is_open = True
            self._rich = None if find_spec("rich") is None else RichLine(self._stream)
        if self._rich is None:
            super().show(shown)
        else:
            self._rich.show(shown)

    def close(self, last: Shown) -> None:
        if self._rich is not None:
            self._rich.clear()
            self._rich = None
        super().close(last)


class RichLine:
    """A line of rich: colours, a bar of the time, and prints of others stay readable."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(console=Console(file=stream), auto_refresh=False, transient=True)
        self._live.start()

    def show(self, shown: Shown) -> None:
        """Draw the line again."""
        self._live.update(self._render(shown), refresh=True)

    def clear(self) -> None:
        """Take the line off the terminal."""
        self._live.stop()

    def _render(self, shown: Shown) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        cells: list[Any] = [self._spinner]
        if shown.doing:
            cells.append(Text(shown.doing, style="bold"))
        if shown.bounds:
            cells.append(Text(shown.bounds, style="green"))
        if shown.limit is not None:
            bar = ProgressBar(shown.limit, shown.seconds, _BAR_WIDTH, complete_style="cyan")
            cells.append(bar)
        grid = Table.grid(padding=(0, 1))
        for place in range(len(cells)):
            # On a narrow terminal texts give way, not the spinner and the time.
            grid.add_column(no_wrap=True, overflow="ellipsis", min_width=0 if place else 1)
        grid.add_column(no_wrap=True, min_width=len(shown.time))
        grid.add_row(*cells, Text(shown.time, style="dim"))
        return grid


def choose_screen(verbose: object, patience: float, *, is_logged: bool) -> Screen | None:
    """Return where progress is shown.

    Parameters
    ----------
    verbose : "auto", int or bool
        0: nowhere. "auto": on a terminal or in a notebook, after some patience, and not in tests
        or beside a log. Other numbers: everywhere, at once.
    patience : float
        Seconds.
    is_logged : bool
        Whether a log tells the same.
    """
    is_auto = isinstance(verbose, str)
    if not verbose or (is_auto and (is_logged or not _is_first_process())):
        return None
    patience = patience if is_auto else 0.0
    if _is_notebook(sys.stdout):
        return NotebookScreen(patience, stays=not is_auto)
    stream = sys.stderr
    if not _is_terminal(stream):
        return None if is_auto or stream is None else LogScreen(stream)
    return TerminalScreen(stream, patience, stays=not is_auto)


def _is_first_process() -> bool:
    """Whether this is neither a worker among many nor a test."""
    return current_process().name == "MainProcess" and "PYTEST_CURRENT_TEST" not in os.environ


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        is_terminal = stream is not None and stream.isatty()
    except ValueError:  # closed
        return False
    return is_terminal and os.environ.get("TERM") != "dumb"


def _is_notebook(stream: object) -> bool:
    return type(stream).__module__.startswith("ipykernel.")


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH
