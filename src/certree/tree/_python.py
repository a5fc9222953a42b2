"""The tree as the source of a Python function of the standard library.

The function takes one row, either a mapping from column name to value (a dict, a pandas row) or a
sequence of values in the order of the training columns. ``None`` and NaN are missing values and go
where training sent them. Unseen categories equal no category, are outside the levels of an order,
and take the default way of a multiway test.
"""

from __future__ import annotations

import builtins
import datetime
import keyword
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certree.encoding import Condition
from certree.encoding._times import EPOCH, parse_time

from ._collapsed import default_last
from ._formula import Formula
from ._payload_values import NamedVector
from ._rules import decision_list
from ._wording import plain

if TYPE_CHECKING:
    from ._tree import Tree

# Python refuses more than 100 levels of indentation; deeper trees become a flat list of rules.
_DEEPEST = 60

_DOCSTRING = '''    """Return the predicted {noun} of one row.

    The row maps column names to values, or lists values in the order of the training columns.
    None and NaN stand for missing values.
    """
'''


def to_python(tree: Tree, function_name: str) -> str:
    """Return the source."""
    if not function_name.isidentifier() or keyword.iskeyword(function_name):
        raise ValueError(
            f"function_name must be a Python identifier, got {function_name!r}; try 'predict'."
        )
    tree = default_last(tree)
    features = sorted({test.feature for test in tree.tests} | set(tree.payload.needs))
    variables = _variables(tree, features)
    body = _nested(tree, variables) if max(_levels(tree)) <= _DEEPEST else _flat(tree, variables)
    lines = [*_times_reader(tree), *_reading(tree, features, variables), *body]
    head = f"def {function_name}(row):\n" + _DOCSTRING.format(noun=tree.payload.noun)
    return head + "\n".join("    " + x if x else "" for x in lines) + "\n"


def _variables(tree: Tree, features: list[int]) -> dict[int, str]:
    """Name a variable after each column where the name is a plain identifier, else ``x<i>``."""
    taken = {"row", "as_time", "datetime", "timedelta", "timezone", *dir(builtins), *keyword.kwlist}
    result = {}
    for feature in features:
        name = tree.feature_name(feature)
        if not (name.isascii() and name.isidentifier()) or name in taken:
            name = f"x{feature}"
        while name in taken:
            name += "_"
        taken.add(name)
        result[feature] = name
    return result


def _reading(tree: Tree, features: list[int], variables: dict[int, str]) -> list[str]:
    """Return the lines that take the values out of the row."""
    if not features:
        return []
    by_name, by_place = ["if hasattr(row, 'keys'):"], ["else:"]
    for feature in features:
        by_name.append(f"    {variables[feature]} = row[{tree.feature_name(feature)!r}]")
        by_place.append(f"    {variables[feature]} = row[{feature}]")
    times = [f"{variables[i]} = as_time({variables[i]})" for i in sorted(_times(tree))]
    return by_name + by_place + times


_AS_TIME = """from datetime import datetime, timedelta, timezone

def as_time(value):
    if value is None or value != value or isinstance(value, (datetime, timedelta)):
        return value
    if hasattr(value, 'astype'):  # of NumPy
        return value.astype(value.dtype.kind + '8[us]').item()
    return datetime.fromisoformat(str(value).replace('Z', '+00:00'))
"""


def _times_reader(tree: Tree) -> list[str]:
    """Return the lines that make one type of dates, if the tree asks for any."""
    return [*_AS_TIME.splitlines(), ""] if _times(tree) else []


def _times(tree: Tree) -> set[int]:
    """Return the columns of times that the tree asks about."""
    return {test.feature for test in tree.tests if test.condition(0).kind == "time"}


def _time(condition: Condition, text: str) -> str:
    """Return Python source for a date, a time or a duration."""
    form, moment, _ = parse_time(text)
    microseconds, rest = divmod(moment, 1000)
    if rest:
        raise TypeError(
            f"to_python cannot express {condition.describe()!r}: Python's times have no "
            "nanoseconds. Train with times that are rounded to microseconds."
        )
    seconds, fraction = divmod(microseconds, 10**6)
    days, clock = divmod(seconds, 86_400)
    if form == "duration":
        parts = {"days": days, "seconds": clock, "microseconds": fraction}
        given = [f"{name}={number}" for name, number in parts.items() if number]
        return f"timedelta({', '.join(given)})"
    date = datetime.date.fromordinal(days + EPOCH)
    numbers = [date.year, date.month, date.day, clock // 3600, clock // 60 % 60, clock % 60]
    numbers.append(fraction)
    while len(numbers) > 3 and not numbers[-1]:
        del numbers[-1]
    zone = ", tzinfo=timezone.utc" if form == "zoned" else ""
    return f"datetime({', '.join(map(str, numbers))}{zone})"


def _nested(tree: Tree, variables: dict[int, str]) -> list[str]:
    """Return the tree as nested if statements.

    Every block ends in a return, so the last outcome of a test follows without an else.
    """
    lines: list[str] = []
    levels = _levels(tree)
    for node in tree.preorder.tolist():
        above = int(tree.parent[node])
        if above >= 0 and levels[node] > levels[above]:
            condition = tree.node_test(above).condition(node - int(tree.first_child[above]))
            holds = _expression(condition, variables[condition.feature])
            lines.append("    " * levels[above] + f"if {holds}:")
        if tree.test[node] < 0:
            answer = _answer(tree, node, variables)
            lines.append("    " * levels[node] + f"return {answer}")
    return lines


def _levels(tree: Tree) -> list[int]:
    """Return the indentation of each node: the outcomes above it that are not the last."""
    levels = [0] * tree.n_nodes
    for node in tree.preorder.tolist():
        for child in tree.children(node):
            levels[child] = levels[node] + (child != tree.children(node)[-1])
    return levels


def _flat(tree: Tree, variables: dict[int, str]) -> list[str]:
    """Return the tree as a decision list."""
    lines = []
    for conditions, leaf in decision_list(tree):
        answer = f"return {_answer(tree, leaf, variables)}"
        parts = [_expression(one, variables[one.feature]) for one in conditions]
        if parts:
            lines.append("if " + " and ".join(f"({part})" for part in parts) + ":")
            answer = "    " + answer
        lines.append(answer)
    return lines


def _answer(tree: Tree, leaf: int, variables: dict[int, str]) -> str:
    """Return the expression for what a leaf holds."""
    value = tree.payload.python_value(leaf)
    return value.write(variables, literal) if isinstance(value, Formula) else literal(value)


def _expression(condition: Condition, variable: str) -> str:
    """Return the expression that is true where a condition is met."""
    # Only NaN differs from itself.
    is_missing = f"{variable} is None or {variable} != {variable}"
    if condition.kind == "missing":
        return is_missing if condition.missing else f"not ({is_missing})"
    if condition.kind in ("set", "level"):
        values, excluded = condition.listed
        holds = _is_one_of(variable, values) if values else ""
    elif condition.kind in ("number", "time", "flag"):
        holds, excluded = _range(condition, variable), condition.excluded
    else:
        raise TypeError(f"to_python cannot express {condition.describe()!r}.")
    if excluded:
        holds = f"not ({holds} or {is_missing})" if holds else f"not ({is_missing})"
    elif condition.kind not in ("set", "level") and not condition.missing:
        # No comparison holds for NaN, and None cannot be compared.
        holds = f"{variable} is not None and {holds}"
    return " or ".join(filter(None, [is_missing if condition.missing else "", holds]))


def _range(condition: Condition, variable: str) -> str:
    """Return the expression that compares a value with the ends of a range."""
    low, high = (
        "" if end is None else _time(condition, end) if condition.kind == "time" else literal(end)
        for end in (condition.low, condition.high)
    )
    if low and high:
        return f"{low} < {variable} <= {high}"
    return f"{variable} > {low}" if low else f"{variable} <= {high}"


def _is_one_of(variable: str, values: Sequence[Any]) -> str:
    """Return the expression that is true for some values."""
    if len(values) == 1:
        return f"{variable} == {literal(values[0])}"
    return f"{variable} in ({', '.join(map(literal, values))})"


def literal(value: Any) -> str:
    """Return Python source for a label, vector, category or threshold."""
    value = plain(value)
    if isinstance(value, NamedVector):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or isinstance(value, (str, bytes, bool, int, float)):
        return repr(value)
    raise TypeError(
        f"{value!r} of type {type(value).__name__} cannot be written as Python source; "
        "train with strings, numbers or booleans."
    )
