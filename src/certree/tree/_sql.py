"""The tree as a SQL expression: one flat CASE with a WHEN per leaf.

The leaves form a decision list (see :func:`certree.tree._rules.decision_list`): every WHEN lists
only conditions that hold, none that fail. So a word about NULL, for which a comparison is not true,
is needed only where missing values hold; nothing is nested, which some databases limit; and
thresholds on one column shrink to one.

Strings are written in standard SQL, quotation marks doubled. MySQL reads a backslash in a string
as an escape unless the mode NO_BACKSLASH_ESCAPES is on, and compares strings by collation. Truth
values are written without TRUE and FALSE: SQLite takes these for columns, if there are such.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from certree.encoding import (
    Category,
    Flag,
    Level,
    Missing,
    Multiway,
    Subset,
    Test,
    Threshold,
    TimeThreshold,
)
from certree.encoding._times import DAY, write_time

from ._collapsed import default_last
from ._rules import decision_list
from ._wording import plain

if TYPE_CHECKING:
    from ._tree import Tree

_CLOSING = {'"': '"', "`": "`", "[": "]"}


def to_sql(
    tree: Tree,
    columns: Mapping[str, str] | Sequence[str] | None,
    quote: str,
    alias: str | None,
) -> str:
    """Return the CASE expression, or a literal if the tree is one leaf."""
    if quote not in _CLOSING:
        raise ValueError(f"quote must be one of {', '.join(_CLOSING)}, got {quote!r}.")
    tree = default_last(tree)
    names = _names(tree, columns, {test.feature for test in tree.tests})
    ending = "" if alias is None else f" AS {_identifier(alias, quote)}"
    lines = ["CASE"]
    for conditions, leaf in decision_list(tree):
        label = _literal(tree.payload.sql_value(leaf), quote)
        if not conditions:
            lines.append(f"  ELSE {label}")
            continue
        parts = [
            _condition(test, outcome, _identifier(names[test.feature], quote), quote)
            for test, outcome in conditions
        ]
        lines.append(f"  WHEN {' AND '.join(parts)} THEN {label}")
    if tree.n_splits == 0:
        return _literal(tree.payload.sql_value(0), quote) + ending
    return "\n".join([*lines, "END"]) + ending


def _names(
    tree: Tree, columns: Mapping[str, str] | Sequence[str] | None, asked: set[int]
) -> Mapping[int, str]:
    """Return the database's name of each raw column that the tree asks about."""
    if columns is None:
        return {feature: tree.feature_name(feature) for feature in asked}
    if isinstance(columns, Mapping):
        unknown = sorted(set(columns) - set(tree.feature_names))
        if unknown:
            raise ValueError(
                f"columns names {unknown[0]!r}, which is not a feature of the tree; "
                f"the features are {', '.join(map(repr, tree.feature_names[:10]))}."
            )
        given = {feature: tree.feature_name(feature) for feature in asked}
        return {feature: columns.get(name, name) for feature, name in given.items()}
    if isinstance(columns, str) or len(columns) != tree.n_features:
        raise ValueError(
            f"columns must be a mapping or list one name for each of the {tree.n_features} "
            f"features, got {columns!r}."
        )
    return {feature: columns[feature] for feature in asked}


def _condition(test: Test, outcome: int, column: str, quote: str) -> str:
    """Return the predicate that is true for an outcome other than the last."""
    if isinstance(test, Multiway):
        group = test.categories[outcome]
        values = [value for value in group if value is not None]
        parts = [_is_one_of(column, values, quote)] if values else []
        return _or_null(column, parts, None in group)
    if outcome == 0:
        if isinstance(test, Missing):
            return _or_null(column, [], True)
        if isinstance(test, Category):
            return _is_one_of(column, [test.value], quote)
        if isinstance(test, Subset):
            known = _is_one_of(column, test.values, quote, excluded=test.rest)
            return _or_null(column, [known], test.missing)
        if isinstance(test, Level):
            return _or_null(column, [_is_one_of(column, test.held, quote)], test.missing)
        if isinstance(test, Threshold):
            return _or_null(
                column, [f"{column} <= {_literal(test.threshold, quote)}"], test.missing
            )
        if isinstance(test, TimeThreshold):
            return _or_null(column, [f"{column} <= {_time(test, quote)}"], test.missing)
        if isinstance(test, Flag):
            holds = f"{column} > 0.5"
            if test.boolean:
                # A truth value is a condition by itself, but for SQL Server, which has bits.
                holds = f"{column} = 1" if quote == "[" else column
            return _or_null(column, [holds], test.missing)
    raise TypeError(f"to_sql cannot express outcome {outcome} of {test!r}.")


def _or_null(column: str, holds: list[str], is_missing_too: bool | None) -> str:
    """Return the predicate that one of some others holds, or that the value is missing."""
    parts = [*holds, f"{column} IS NULL"] if is_missing_too else holds
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _is_one_of(column: str, values: Sequence[Any], quote: str, excluded: bool = False) -> str:
    """Return the predicate that is true for some values, or for all but these."""
    texts = [_literal(value, quote) for value in values]
    if len(texts) == 1:
        return f"{column} {'<>' if excluded else '='} {texts[0]}"
    return f"{column} {'NOT IN' if excluded else 'IN'} ({', '.join(texts)})"


def _identifier(name: str, quote: str) -> str:
    closing = _CLOSING[quote]
    return quote + _checked(name).replace(closing, closing * 2) + closing


def _literal(value: Any, quote: str) -> str:
    """Return a label, category or threshold in standard SQL."""
    value = plain(value)
    if isinstance(value, bool):
        return f"CAST({int(value)} AS BIT)" if quote == "[" else f"(1 = {int(value)})"
    if isinstance(value, str):
        return "'" + _checked(value).replace("'", "''") + "'"
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    raise TypeError(
        f"{value!r} of type {type(value).__name__} has no literal in standard SQL; "
        "train with strings, finite numbers or booleans."
    )


def _time(test: TimeThreshold, quote: str) -> str:
    """Return a date, a time or a duration in standard SQL.

    Databases count microseconds, and what is at most a time is at most its last microsecond.
    """
    moment = test.moment // 1000 * 1000
    if test.form == "duration":
        if quote == "[":
            raise TypeError(
                f"to_sql cannot express {test.describe(0)!r} for SQL Server, which has no type for "
                "durations; train with numbers, such as days."
            )
        sign, size = "-" if moment < 0 else "", abs(moment)
        days, clock = divmod(size, DAY)
        seconds, fraction = divmod(clock // 1000, 10**6)
        ending = f".{fraction:06}" if fraction else ""
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{ending}"
        return f"INTERVAL '{sign}{days} days {sign}{time}'"
    text = write_time("date", moment).replace("T", " ")
    if test.form == "date" and len(text) == len("2024-03-01") and quote != "[":
        return f"DATE '{text}'"
    text = text if len(text) > len("2024-03-01") else f"{text} 00:00"
    text = text if len(text) > len("2024-03-01 12:00") else f"{text}:00"
    if test.form == "zoned":
        text, kind = f"{text}+00:00", "TIMESTAMP WITH TIME ZONE"
        return f"CAST('{text}' AS datetimeoffset)" if quote == "[" else f"{kind} '{text}'"
    return f"CAST('{text}' AS datetime2)" if quote == "[" else f"TIMESTAMP '{text}'"


def _checked(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL text cannot hold a zero character, got {text!r}; rename it.")
    return text
