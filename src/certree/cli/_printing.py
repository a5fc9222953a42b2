"""What commands print: results to the output, remarks to the error stream.

Rich loads when the first line is printed: help does without it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_WIDE = 10_000
"""Columns of a pipe or a file: lines are not broken."""


def console(*, errors: bool = False) -> Console:
    """Return the terminal; what is not one gets plain, unbroken lines."""
    from rich.console import Console

    stream = sys.stderr if errors else sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def say(text: str = "", style: str | None = None) -> None:
    """Print a result."""
    console().print(_text((text, style or "")), soft_wrap=True)


def remark(text: str, style: str = "yellow") -> None:
    """Print a remark in one line, which is no result."""
    line = " ".join(text.split())
    console(errors=True).print(_text((f"certree: {line}", style)), soft_wrap=True)


def say_json(value: Any) -> None:
    """Print plain values as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def say_result(certificate: Any) -> None:
    """Print what was found and proven: the statement first, in colour."""
    mark = ("proven best  ", "green") if certificate.is_optimal else ("not proven  ", "yellow")
    console().print(_text(mark, certificate.statement()), soft_wrap=True)


def _text(*parts: str | tuple[str, str]) -> Text:
    """Return texts with their styles."""
    from rich.text import Text

    return Text.assemble(*parts)
