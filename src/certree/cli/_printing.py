"""What commands print: results to the output, remarks to the error stream."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

_WIDE = 10_000
"""Columns of a pipe or a file: lines are not broken."""


def console(*, errors: bool = False) -> Console:
    """Return the terminal; what is not one gets plain, unbroken lines."""
    stream = sys.stderr if errors else sys.stdout
    width = None if stream.isatty() else _WIDE
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width)


def say(text: str = "", style: str | None = None) -> None:
    """Print a result."""
    console().print(Text(text, style=style or ""), soft_wrap=True)


def remark(text: str, style: str = "yellow") -> None:
    """Print a remark in one line, which is no result."""
    line = " ".join(text.split())
    console(errors=True).print(Text(f"certree: {line}", style=style), soft_wrap=True)


def say_json(value: Any) -> None:
    """Print plain values as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def say_result(certificate: Any) -> None:
    """Print what was found and proven: the statement first, in colour."""
    proven = certificate.is_optimal
    mark = Text(
        "proven best  " if proven else "not proven  ", style="green" if proven else "yellow"
    )
    console().print(Text.assemble(mark, certificate.statement()), soft_wrap=True)
