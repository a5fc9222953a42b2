"""The help of commands: options in panels, drawn as text.

Typer draws the same panels with rich, whose import takes longer than all else that help does.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_MOST_COLUMNS = 100
"""Longer lines are hard to read."""

_FEWEST_COLUMNS = 40

_LINES = "╭─╮│╰╯"
_PLAIN_LINES = "+-+|++"

Row = tuple[str, str]
"""What is explained, and its explanation."""


class Command(TyperCommand):
    """A command whose help loads nothing."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of this command."""
        formatter.write(_page(self, ctx, _options_by_panel(self, ctx)))


class Group(TyperGroup):
    """The program: its help lists the commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the program."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.help or "") for name, one in commands if one is not None]
        formatter.write(_page(self, ctx, {**_options_by_panel(self, ctx), "Commands": rows}))


def _options_by_panel(command: Any, context: Any) -> dict[str, list[Row]]:
    """Return the panels of a command in the order of its parameters, each with its rows."""
    panels: dict[str, list[Row]] = {}
    for one in command.get_params(context):
        row = one.get_help_record(context)
        if row is not None:
            name = "Arguments" if one.param_type_name == "argument" else "Options"
            panels.setdefault(getattr(one, "rich_help_panel", None) or name, []).append(row)
    return panels


def _page(command: Any, context: Any, panels: dict[str, list[Row]]) -> str:
    width = min(max(shutil.get_terminal_size().columns, _FEWEST_COLUMNS), _MOST_COLUMNS)
    pieces = " ".join(command.collect_usage_pieces(context))
    paragraphs = [f"Usage: {context.command_path} {pieces}", *(command.help or "").split("\n\n")]
    text = "\n\n".join("\n".join(_wrapped(one, width - 2)) for one in paragraphs)
    drawn = (line for name, rows in panels.items() for line in _panel(name, rows, width))
    indented = "\n".join(f" {line}".rstrip() for line in text.split("\n"))
    return "\n".join(["", indented, "", *drawn, ""])


def _panel(title: str, rows: Iterable[Row], width: int) -> Iterator[str]:
    """Draw a frame with a title around two columns."""
    left_top, line, right_top, side, left_end, right_end = tuple(
        _LINES if _has_lines() else _PLAIN_LINES
    )
    rows = [(name, " ".join(text.split())) for name, text in rows]
    inner = width - 4
    flag = max(
        (len(word) for name, _ in rows for word in name.split() if word[0] == "-"), default=0
    )
    left = min(max(len(name) for name, _ in rows), max(inner * 2 // 5, flag))
    yield f"{left_top}{line} {title} {line * (inner - len(title) - 1)}{right_top}"
    for name, text in rows:
        names, texts = _wrapped(name, left), _wrapped(text, inner - left - 2)
        for k in range(max(len(names), len(texts))):
            first = names[k] if k < len(names) else ""
            second = texts[k] if k < len(texts) else ""
            shown = _coloured(first) + " " * (left - len(first))
            yield f"{side} {shown}  {second:<{inner - left - 2}} {side}"
    yield f"{left_end}{line * (inner + 2)}{right_end}"


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_on_hyphens=False)


def _coloured(name: str) -> str:
    # Typer takes colours out again where the output is no terminal.
    return name if not name or "NO_COLOR" in os.environ else typer.style(name, fg="cyan", bold=True)


def _has_lines() -> bool:
    """Say whether the output can show the lines of a frame."""
    try:
        _LINES.encode(sys.stdout.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
