"""A line of the table of routes that forbids something."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from string import Formatter

from .asked import NEUTRAL, Asked


@dataclass(frozen=True)
class Law:
    """A line of the table that forbids something.

    Attributes
    ----------
    word : str
        What the page of combinations calls the reason.
    features : tuple of str
        What it is about; one of them must be asked.
    forbids : callable
        Whether what is asked forbids them.
    message : str
        The text for users.
    """

    word: str
    features: tuple[str, ...]
    forbids: Callable[[Asked], bool]
    message: str

    def broken_by(self, asked: Asked) -> str | None:
        """Return the text for what is asked, or None if the law allows it."""
        name = asked.first(self.features)
        if name is None or not self.forbids(asked):
            return None
        return self.message.format(
            asked=asked, name=name, neutral=NEUTRAL.get(name), objective=asked.objective.name
        )

    def matches(self, text: str) -> bool:
        """Return whether a text is one of this law."""
        parts = Formatter().parse(self.message)
        pattern = "".join(
            re.escape(literal) + ("" if field is None else ".*") for literal, field, *_ in parts
        )
        return re.fullmatch(pattern, text) is not None
