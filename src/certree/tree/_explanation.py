"""The explanation of one prediction: as data, as text and as HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from certree.encoding import format_value

from ._plain import plain
from ._wording import one_line, shorten, weight

_WIDTH = 80
_MOST_CHANGES = 3

_STYLE = """
.certree-why{font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:inherit;
max-width:46em}
.certree-why p{margin:.4em 0}
.certree-why table{border-collapse:collapse;margin:.2em 0 .8em;font:inherit;color:inherit}
.certree-why caption{text-align:left;padding:.2em 0;caption-side:top;color:inherit;
white-space:nowrap}
.certree-why th,.certree-why td{text-align:left;padding:.2em 1.2em .2em 0;vertical-align:top;
border:0;border-bottom:1px solid color-mix(in srgb,currentColor 18%,transparent);background:none}
.certree-why th{font-weight:600;opacity:.75}
.certree-why .note{opacity:.75;font-size:.92em}
"""


@dataclass(frozen=True)
class PathStep:
    """One test on the way of a row.

    Attributes
    ----------
    column : str
        Name of the column.
    value : object
        The value of the row; None if it is missing.
    condition : str
        What holds for the row, such as ``income > 30.5``.
    note : str
        How the tree treats a value that is missing or was not seen in training; otherwise empty.
    """

    column: str
    value: Any
    condition: str
    note: str = ""


@dataclass(frozen=True)
class ColumnChange:
    """What a column has to become.

    Attributes
    ----------
    column : str
        Name of the column.
    value : object
        The value of the row now; None if it is missing.
    condition : str
        What has to hold, such as ``20 < income <= 30.5``.
    example : object
        A value for which it holds; None if the value has to be missing.
    """

    column: str
    value: Any
    condition: str
    example: Any


@dataclass(frozen=True)
class Change:
    """The fewest columns that have to change for another prediction.

    Attributes
    ----------
    prediction : object
        What the tree predicts then.
    name : str
        The same in words.
    leaf : int
        The leaf that is reached.
    support : str
        What the training rows of this leaf say.
    columns : tuple of ColumnChange
        What has to change; all other values stay as they are.
    """

    prediction: Any
    name: str
    leaf: int
    support: str
    columns: tuple[ColumnChange, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns that change."""
        return len(self.columns)


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a row gets its prediction; made by the method `explain` of a fitted model.

    It prints as text, and draws itself in a notebook.

    Attributes
    ----------
    row : dict
        The row: its values by the names of columns, None where they are missing.
    prediction : object
        What the tree predicts.
    name : str
        The same in words.
    leaf : int
        Number of the leaf in ``tree_``.
    support : str
        What the training rows of the leaf say, in words.
    rows : int or None
        Number of the training rows in the leaf; None if the tree knows only weights.
    weight : float
        Their weight: the sum of sample weights, or their number if there were none.
    counts : dict or None
        Number of the training rows of each class, if the leaves hold classes; their weight, if the
        tree knows only weights.
    weights : dict or None
        Weight of the training rows of each class, if rows had weights.
    steps : tuple of PathStep
        The tests on the way from the root to the leaf.
    changes : tuple of Change
        For each other prediction the fewest columns that have to change. First those with the
        fewest columns, of these those that need no missing value, then those to the leaf with the
        most training weight, then the first in the order of the tree.

    Notes
    -----
    .. versionadded:: 0.1
    """

    row: dict[str, Any]
    prediction: Any
    name: str
    leaf: int
    support: str
    rows: int | None
    weight: float
    counts: dict[Any, Any] | None
    weights: dict[Any, Any] | None
    steps: tuple[PathStep, ...]
    changes: tuple[Change, ...] = field(default=())

    @property
    def nearest(self) -> Change | None:
        """The change of the fewest columns; None if no other prediction can be reached."""
        return self.changes[0] if self.changes else None

    @property
    def notes(self) -> tuple[str, ...]:
        """How the tree treats values that are missing or were not seen in training."""
        found = [_is(step.column, step.value, step.note) for step in self.steps if step.note]
        return tuple(dict.fromkeys(found))

    def to_text(self) -> str:
        """Return the explanation as a few lines of text."""
        lines = [f"Prediction: {shorten(self.name, _WIDTH)} ({self.support})"]
        others = self._others_in_words()
        if others:
            lines.append(others)
        if self.steps:
            lines.append("Because:")
            lines += _aligned([(s.condition, _is(s.column, s.value, s.note)) for s in self.steps])
        else:
            lines.append("The tree is a single leaf and asks nothing.")
        for change in self.changes[:_MOST_CHANGES]:
            lines.append(f"{_headline(change)}:")
            lines += _aligned(
                [(one.condition, f"{_is(one.column, one.value)} now") for one in change.columns]
            )
        return "\n".join([*lines, *self._rest()])

    def _others_in_words(self) -> str:
        if self.counts is None:
            return ""
        largest = sorted(self.counts.items(), key=lambda item: -item[1])
        shown = [self._class_in_words(name) for name, count in largest[:5] if count]
        if not shown:
            return ""
        if len(largest) > 5 and any(count for _, count in largest[5:]):
            shown.append("...")
        title = "Training weight" if self.rows is None else "Training rows"
        return f"{title} in this leaf: {', '.join(shown)}"

    def _class_in_words(self, name: Any) -> str:
        assert self.counts is not None
        said = f"{one_line(str(name))} {weight(self.counts[name])}"
        if self.rows is None or self.weights is None:
            return said
        return f"{said} (weight {weight(self.weights[name])})"

    def _rest(self) -> list[str]:
        if self.steps and not self.changes:
            return ["No change of the row gives it another prediction."]
        left = len(self.changes) - _MOST_CHANGES
        return [f"({left} more in .changes)"] if left > 0 else []

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        counts = None
        if self.counts is not None:
            weights = self.counts if self.weights is None else self.weights
            counts = [
                {"class": plain(c), "rows": None if self.rows is None else n, "weight": weights[c]}
                for c, n in self.counts.items()
            ]
        return {
            "row": dict(self.row),
            "prediction": plain(self.prediction),
            "name": self.name,
            "leaf": self.leaf,
            "support": self.support,
            "rows": self.rows,
            "weight": self.weight,
            "counts": counts,
            "steps": [vars(step) for step in self.steps],
            "changes": [
                {
                    **vars(change),
                    "prediction": plain(change.prediction),
                    "columns": [vars(one) for one in change.columns],
                }
                for change in self.changes
            ],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent)

    def to_html(self) -> str:
        """Return the explanation as a piece of HTML that needs nothing else."""
        others = self._others_in_words()
        name = f"<strong>{escape(shorten(self.name, _WIDTH))}</strong>"
        parts = [
            f'<div class="certree-why"><style>{_STYLE}</style>',
            f"<p>Prediction: {name} ({escape(self.support)})</p>",
        ]
        if others:
            parts.append(f"<p>{escape(others)}</p>")
        if self.steps:
            lines = [(step.condition, _said(step.value), step.note) for step in self.steps]
            parts.append(_table("Because", ("Question", "Value of the row"), lines))
        else:
            parts.append("<p>The tree is a single leaf and asks nothing.</p>")
        for change in self.changes[:_MOST_CHANGES]:
            cells = [(one.condition, _said(one.value), "") for one in change.columns]
            parts.append(_table(_headline(change), ("Change to", "Value now"), cells))
        parts += [f"<p>{escape(line)}</p>" for line in self._rest()]
        return "\n".join([*parts, "</div>"])

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        near = self.nearest
        other = "no other can be reached"
        if near is not None:
            other = f"{shorten(near.name, 40)} by {_many(near.n_columns)}"
        return f"<Explanation: {shorten(self.name, 40)} ({self.support}); {other}>"


class Explanations(Sequence[Explanation]):
    """The explanations of several rows, in their order.

    Parameters
    ----------
    explanations : sequence of Explanation
        One for each row.

    Notes
    -----
    .. versionadded:: 0.1
    """

    def __init__(self, explanations: Sequence[Explanation]) -> None:
        self._explanations = tuple(explanations)

    def __len__(self) -> int:
        return len(self._explanations)

    def __getitem__(self, index: Any) -> Any:
        found = self._explanations[index]
        return Explanations(found) if isinstance(index, slice) else found

    def to_dict(self) -> list[dict[str, Any]]:
        """Return plain values that JSON can hold, one dictionary for each row."""
        return [one.to_dict() for one in self]

    def to_text(self) -> str:
        """Return all explanations as text, with the position of each row, counted from 0."""
        return "\n\n".join(f"Row {number}\n{one.to_text()}" for number, one in enumerate(self))

    def to_html(self) -> str:
        """Return all explanations as a piece of HTML."""
        return "\n".join(f"<h4>Row {k}</h4>\n{one.to_html()}" for k, one in enumerate(self))

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Explanations: {len(self)} rows>"


# ---- words ---------------------------------------------------------------------------------------


def _said(value: Any) -> str:
    """Return a value of a row as it reads in a sentence."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = format_value(value) if isinstance(value, str | int | float) else str(value)
    return shorten(one_line(text), _WIDTH)


def _is(column: str, value: Any, note: str = "") -> str:
    return f"{one_line(column)} is {_said(value)}" + (f" ({note})" if note else "")


def _headline(change: Change) -> str:
    return (
        f"For {shorten(change.name, _WIDTH)} ({change.support}), change {_many(change.n_columns)}"
    )


def _many(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _aligned(lines: Sequence[tuple[str, str]]) -> list[str]:
    width = min(44, max(len(first) for first, _ in lines))
    return [f"  {first:<{width}}  {second}" for first, second in lines]


def _table(caption: str, heads: Sequence[str], lines: Sequence[tuple[str, str, str]]) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = ""
    for condition, value, note in lines:
        more = f' <span class="note">({escape(note)})</span>' if note else ""
        body += f"<tr><td>{escape(condition)}</td><td>{escape(value)}{more}</td></tr>"
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"
