"""The tree as the source of a C function, which needs nothing but the standard library.

The function takes a pointer to a struct with one member for each column that the tree asks about.
Numbers and truth values are ``double``, NaN where they are missing; texts are UTF-8, NULL where
they are missing. It returns what the leaf holds: an integer, a number, a text, or a pointer to the
numbers or texts of a vector; to a struct with one member for each output, where some are texts and
others are not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from certree.encoding import Condition

from ._collapsed import default_last
from ._formula import Formula
from ._payload_values import NamedVector
from ._rules import decision_list
from ._wording import one_line

if TYPE_CHECKING:
    from ._tree import Tree

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)

_WORDS = """
alignas alignof and asm auto bool break case char class const constexpr continue default delete do
double else enum extern false float for goto if inline int long main namespace new not nullptr
operator or private public register restrict return row short signed sizeof static static_assert
struct switch template this thread_local throw true try typedef typeof union unsigned using virtual
void volatile while xor INFINITY NAN NULL isnan strcmp
"""

_RESERVED = frozenset(re.findall(r"\w+", _WORDS))


def to_c(tree: Tree, function_name: str) -> str:
    """Return the source."""
    if not _IDENTIFIER.fullmatch(function_name) or function_name in _RESERVED:
        raise ValueError(
            f"function_name must be an identifier of C, got {function_name!r}; try 'predict'."
        )
    tree = default_last(tree)
    features = sorted({test.feature for test in tree.tests} | set(tree.payload.needs))
    texts = {test.feature for test in tree.tests if test.is_text}
    members = _members(tree, features)
    answers = _Answers(tree, function_name, members)
    lines = ["#include <math.h>", "#include <stddef.h>", "#include <string.h>", ""]
    lines += [*_struct(tree, members, texts, function_name), *answers.tables()]
    lines += [f"{answers.returns}{function_name}(const struct {function_name}_row *row)", "{"]
    if not features:
        lines.append("    (void)row;")
    for conditions, leaf in decision_list(tree):
        parts = [
            _expression(one, f"row->{members[one.feature]}", one.feature in texts)
            for one in conditions
        ]
        answer = f"return {answers.of(leaf)};"
        lines.append(f"    if ({' && '.join(parts)}) {answer}" if parts else f"    {answer}")
    return "\n".join([*lines, "}"]) + "\n"


def _members(tree: Tree, features: Sequence[int]) -> dict[int, str]:
    """Name a member after each column where that is a plain identifier, else ``x<i>``."""
    taken, result = set(_RESERVED), {}
    for feature in features:
        name = tree.feature_name(feature)
        if not _IDENTIFIER.fullmatch(name) or len(name) > 60 or name in taken:
            name = f"x{feature}"
        while name in taken:
            name += "_"
        taken.add(name)
        result[feature] = name
    return result


def _struct(tree: Tree, members: dict[int, str], texts: set[int], function_name: str) -> list[str]:
    """Return the declaration of a row, with the names of columns as comments."""
    lines = [f"struct {function_name}_row {{"]
    for feature, member in members.items():
        kind = "const char *" if feature in texts else "double "
        name = _comment(tree.feature_name(feature))
        missing = "NULL" if feature in texts else "NAN"
        lines.append(f"    {kind}{member}; /* {name}; {missing} if missing */")
    # A struct has at least one member.
    return [*lines, *([] if members else ["    int unused;"]), "};", ""]


def _comment(text: str) -> str:
    """Return a name that can neither end a comment nor continue a line."""
    escaped = one_line(text).encode("unicode_escape").decode()
    return escaped.replace("*/", "* /").replace("/*", "/ *")


class _Answers:
    """What the function returns: its type, and the expression for each leaf."""

    def __init__(self, tree: Tree, function_name: str, members: dict[int, str]) -> None:
        self._payload, self._name = tree.payload, function_name
        self._members = {feature: f"row->{member}" for feature, member in members.items()}
        leaves = [node for node in range(tree.n_nodes) if tree.test[node] < 0]
        self._values = {int(tree.label[leaf]): tree.payload.python_value(leaf) for leaf in leaves}
        kinds = {type(value) for value in self._values.values()}
        self._is_vector = kinds == {NamedVector}
        self._parts: list[str] = []
        if self._is_vector:
            columns = zip(*self._values.values(), strict=True)
            self._parts = [_kind_of_output(column) for column in columns]
            one = len(set(self._parts)) == 1
            self.returns = _array_of(self._parts[0]) if one else f"const {self._struct} *"
        elif kinds <= {str}:
            self.returns = "const char *"
        elif kinds <= {bool, int} and all(abs(value) < 2**63 for value in self._values.values()):
            self.returns = "int " if kinds == {bool} else "long long "
        elif kinds <= {float, Formula}:
            self.returns = "double "
        else:
            value = next(v for v in self._values.values() if type(v) not in (str, bool, float))
            raise TypeError(
                f"{value!r} of type {type(value).__name__} cannot be written as C source; train "
                "with strings, truth values, integers of 64 bits or numbers."
            )

    def tables(self) -> list[str]:
        """Return the declarations of the vectors that leaves hold."""
        if not self._is_vector:
            return []
        lines, size = [], f"[{len(self._parts)}]"
        if len(set(self._parts)) > 1:
            names = [name for name, _ in self._payload.outputs()]
            members = [
                f"    {kind}y{k}; /* {_comment(name)} */"
                for k, (kind, name) in enumerate(zip(self._parts, names, strict=True))
            ]
            lines, size = [f"{self._struct} {{", *members, "};", ""], ""
        for content, vector in sorted(self._values.items()):
            parts = ", ".join(map(_literal, vector))
            lines.append(f"/* {_comment(str(vector))} */")
            held = self.returns.removesuffix("*")
            lines.append(f"static {held}{self._name}_{content}{size} = {{{parts}}};")
        return [*lines, ""]

    @property
    def _struct(self) -> str:
        return f"struct {self._name}_outputs"

    def of(self, leaf: int) -> str:
        """Return what a leaf returns."""
        content = int(self._payload.label[leaf])
        if self._is_vector:
            return f"{'' if len(set(self._parts)) == 1 else '&'}{self._name}_{content}"
        value = self._values[content]
        if isinstance(value, Formula):
            return value.write(self._members, _literal)
        if self.returns.startswith("long"):
            # The least integer is not a literal.
            return f"({value + 1}LL - 1)" if value < 0 else f"{value}LL"
        return _literal(value)


def _kind_of_output(values: Sequence[Any]) -> str:
    """Return the type of one output of a vector."""
    if all(isinstance(value, str) for value in values):
        return "const char *"
    return "double "


def _array_of(kind: str) -> str:
    """Return the type of a pointer to outputs of one type, none of which changes."""
    return "const double *" if kind == "double " else "const char *const *"


def _expression(condition: Condition, member: str, is_text: bool) -> str:
    """Return the expression that is true where a condition is met."""
    is_missing = f"{member} == NULL" if is_text else f"isnan({member})"
    if condition.kind == "missing":
        return is_missing if condition.missing else f"!({is_missing})"
    if condition.kind in ("set", "level"):
        values, excluded = condition.listed
        parts = [_is_one_of(member, values, is_text)] if values else []
    elif condition.kind in ("number", "flag"):
        # No comparison holds for NaN.
        ends, excluded = [(">", condition.low), ("<=", condition.high)], condition.excluded
        texts = [f"{member} {sign} {_literal(end)}" for sign, end in ends if end is not None]
        parts = [texts[0] if len(texts) == 1 else f"({' && '.join(texts)})"]
    else:
        raise TypeError(
            f"to_c cannot express {condition.describe()!r}, since C has no type for it; train with "
            "numbers, such as days, or use to_python or to_sql."
        )
    if excluded:
        inside = [part if part.startswith("(") else f"({part})" for part in parts]
        parts = [f"({' && '.join(f'!{part}' for part in [f'({is_missing})', *inside])})"]
    return _any([is_missing, *parts] if condition.missing else parts)


def _any(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"


def _is_one_of(member: str, values: Sequence[Any], is_text: bool) -> str:
    """Return the expression that is true for some values."""
    if not is_text:
        return _any([f"{member} == {_literal(float(value))}" for value in values])
    equal = _any([f"strcmp({member}, {_literal(value)}) == 0" for value in values])
    return f"({member} != NULL && {equal})"


def _literal(value: Any) -> str:
    """Return a text, a truth value or a number in C."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(int(value))
    number = float(value)
    if math.isfinite(number):
        # The digits that Python prints are read back as the same number.
        text = repr(abs(number))
        return f"-{text}" if math.copysign(1, number) < 0 else text
    return "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"


def _text(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"A text of C cannot hold a zero character, got {text!r}; rename it.")
    # Bytes that are not plain, and question marks, which could form trigraphs, are octal.
    return (
        '"'
        + "".join(
            chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
            for byte in text.encode("utf-8", "surrogatepass")
        )
        + '"'
    )
