"""The tree as a SQL expression: one flat CASE with a WHEN per leaf.

The leaves form a decision list (see :func:`certree.tree._rules.decision_list`): every WHEN lists
only conditions that hold, none that fail. So a word about NULL, for which a comparison is not true,
is needed only where missing values hold; nothing is nested, which some databases limit; and
thresholds on one column shrink to one.

Without a dialect, strings are written in standard SQL, quotation marks doubled. Some databases
(MySQL, SQL Server) compare strings by a collation, which may take capital and small letters for
the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from certree.encoding import Condition
from certree.encoding._times import DAY, parse_time, write_time

from ._collapsed import default_last
from ._formula import Formula
from ._rules import decision_list
from ._sql_dialect import Dialect

if TYPE_CHECKING:
    from ._tree import Tree


def to_sql(
    tree: Tree,
    columns: Mapping[str, str] | Sequence[str] | None,
    dialect: Dialect,
    alias: str | None,
) -> str:
    """Return the CASE expression, or a literal if the tree is one leaf.

    For several outputs, there is one for each, with its name.
    """
    outputs = tree.payload.outputs()
    if outputs:
        prefix = "" if alias is None else f"{alias}_"
        trees = [
            (f"{prefix}{name}", tree._with(payload=part, notes=None)) for name, part in outputs
        ]
        return ",\n".join(to_sql(one, columns, dialect, name) for name, one in trees)
    tree = default_last(tree)
    asked = {test.feature for test in tree.tests} | set(tree.payload.needs)
    names = {f: dialect.identifier(name) for f, name in _names(tree, columns, asked).items()}
    ending = "" if alias is None else f" AS {dialect.identifier(alias)}"
    lines = ["CASE"]
    for conditions, leaf in decision_list(tree):
        label = _answer(tree, leaf, names, dialect)
        if not conditions:
            lines.append(f"  ELSE {label}")
            continue
        parts = [_predicate(one, names[one.feature], dialect) for one in conditions]
        lines.append(f"  WHEN {' AND '.join(parts)} THEN {label}")
    if tree.n_splits == 0:
        return _answer(tree, 0, names, dialect) + ending
    return "\n".join([*lines, "END"]) + ending


def _answer(tree: Tree, leaf: int, names: Mapping[int, str], dialect: Dialect) -> str:
    """Return the expression for what a leaf holds."""
    value = tree.payload.sql_value(leaf)
    if isinstance(value, Formula):
        return value.write(names, dialect.literal)
    return dialect.literal(value)


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


def _predicate(condition: Condition, column: str, dialect: Dialect) -> str:
    """Return the predicate that is true where a condition is met."""
    if condition.kind == "missing":
        return f"{column} IS NULL" if condition.missing else f"{column} IS NOT NULL"
    if condition.kind in ("set", "level"):
        values, excluded = condition.listed
        parts = [_is_one_of(column, values, dialect, excluded)] if values else []
    elif condition.kind == "flag" and condition.boolean:
        is_set = condition.high is None
        truth = column if is_set else f"NOT {column}"
        parts = [truth if dialect.has_truth else f"{column} = {int(is_set)}"]
    elif condition.kind in ("number", "time", "flag"):
        ends = [(">", condition.low), ("<=", condition.high)]
        write = _time if condition.kind == "time" else Dialect.literal
        texts = [f"{column} {sign} {write(dialect, end)}" for sign, end in ends if end is not None]
        both = " AND ".join(texts)
        parts = [f"NOT ({both})" if condition.excluded else both]
    else:
        raise TypeError(f"to_sql cannot express {condition.describe()!r}.")
    if condition.missing:
        parts.append(f"{column} IS NULL")
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _is_one_of(column: str, values: Sequence[Any], dialect: Dialect, excluded: bool = False) -> str:
    """Return the predicate that is true for some values, or for all but these."""
    texts = [dialect.literal(value) for value in values]
    if len(texts) == 1:
        return f"{column} {'<>' if excluded else '='} {texts[0]}"
    return f"{column} {'NOT IN' if excluded else 'IN'} ({', '.join(texts)})"


def _time(dialect: Dialect, text: str) -> str:
    """Return a date, a time or a duration.

    Databases count microseconds, and what is at most a time is at most its last microsecond.
    """
    form, moment, _ = parse_time(text)
    moment = moment // 1000 * 1000
    if form == "duration":
        sign, size = "-" if moment < 0 else "", abs(moment)
        days, clock = divmod(size, DAY)
        seconds, fraction = divmod(clock // 1000, 10**6)
        ending = f".{fraction:06}" if fraction else ""
        time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{ending}"
        return dialect.time("duration", f"{sign}{days} days {sign}{time}")
    text = write_time("date", moment).replace("T", " ")
    if form == "date" and len(text) == len("2024-03-01") and not dialect.is_server:
        return dialect.time("date", text)
    text = text if len(text) > len("2024-03-01") else f"{text} 00:00"
    text = text if len(text) > len("2024-03-01 12:00") else f"{text}:00"
    if form == "zoned":
        return dialect.time("zoned", f"{text}+00:00")
    return dialect.time("time", text)
