"""The form for one row: the columns that trees use, what a value answers, what leaves compute."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import Table, Test
from certree.encoding._times import Form, form_of, is_time
from certree.tree import LinearLeaves, Tree
from certree.tree._wording import one_line, shorten

from ._given import MOST_LETTERS, distinct_values, named_values, text_of
from ._ranges import FEWEST, number_range, time_range

_MOST_OPTIONS = 200
_UNSEEN = "\x00another value"


@dataclass(frozen=True)
class _Field:
    """What the page shows of a field, and the values of its options if it has such."""

    shown: dict[str, Any]
    values: NDArray[Any] | None = None
    is_question: bool = False


def row_form(trees: list[Tree], table: Table | None, fewest: int = FEWEST) -> dict[str, Any]:
    """Return the fields of the form, and the tests of every tree in terms of them.

    A field is a number, a time, or a choice among options. Tests on numbers and times come with
    their thresholds; other tests come as the outcome of each option, so that the page need not know
    what they mean. Where leaves hold formulas, the columns of these are fields, too.

    Parameters
    ----------
    trees : list of Tree
        The trees.
    table : Table or None
        The training rows.
    fewest : int
        Values that fewer of them have are not told, unless a tree asks for them.
    """
    asked: dict[int, list[Test]] = {}
    names: dict[int, str] = {}
    questions: dict[Hashable, Test] = {}
    for tree in trees:
        for test in tree.tests:
            if not _is_asked_in_words(test):
                asked.setdefault(test.feature, []).append(test)
                names[test.feature] = test.name
            else:
                questions[_key(test)] = test
        if isinstance(tree.payload, LinearLeaves):
            used = zip(tree.payload.features, tree.payload.columns, strict=True)
            names |= {feature: name for feature, name in used if feature in tree.payload.needs}
    fields: dict[Hashable, _Field] = {}
    for feature in sorted(names):
        tests = asked.get(feature, [])
        column = None if table is None else _column(feature, tests, table)
        is_zoned = table is not None and table.kinds[feature] == "zoned"
        fields[feature] = _field(names[feature], tests, column, is_zoned, fewest)
    fields |= {key: _question(test) for key, test in questions.items()}
    places = {key: place for place, key in enumerate(fields)}

    def answers(test: Test) -> dict[str, Any]:
        key = _key(test)
        return {"field": places[key], **_answers(test, fields[key])}

    return {
        "fields": [field.shown for field in fields.values()],
        "tests": [[answers(test) for test in tree.tests] for tree in trees],
        "formulas": [_formulas(tree, places) for tree in trees],
    }


def _key(test: Test) -> Hashable:
    """Return what the field of a test is found by: its column, or all that it says."""
    if not _is_asked_in_words(test):
        return test.feature
    return test.feature, *(condition.describe() for condition in test.conditions)


def _is_asked_in_words(test: Test) -> bool:
    """Return whether the page asks a test as it is worded: a value alone does not answer it."""
    condition = test.condition(0)
    # On the page, a time that is not later has outcome 0.
    is_one_cut = test.cut is not None and (condition.kind != "time" or condition.low is None)
    return condition.kind == "other" or (condition.kind in ("number", "time") and not is_one_cut)


def _of_kind(kind: str, tests: list[Test]) -> list[Test]:
    return [test for test in tests if test.condition(0).kind == kind]


def _column(feature: int, tests: list[Test], table: Table) -> NDArray[Any]:
    """Return the column as the tests read it: texts may stand for times."""
    times = _of_kind("time", tests)
    column: NDArray[Any] = times[0].column_of(table) if times else table.column(feature)
    return column


def _formulas(tree: Tree, places: dict[Hashable, int]) -> list[Any] | None:
    """Return what the leaves of a tree compute, in terms of fields; None for constants."""
    leaves = tree.payload
    if not isinstance(leaves, LinearLeaves):
        return None
    found = [leaves.formula(content) for content in range(leaves.n_contents)]
    return [[one.intercept, [[places[k], slope] for k, slope in one.terms]] for one in found]


# ---- fields --------------------------------------------------------------------------------------


def _field(
    name: str, tests: list[Test], column: NDArray[Any] | None, is_zoned: bool, fewest: int
) -> _Field:
    base = {"name": shorten(name, MOST_LETTERS)}
    valued = [test for test in tests if test.condition(0).kind != "missing"]
    times = _of_kind("time", tests)
    if times:
        form = times[0].condition(0).form
        return _Field({**base, "kind": "time", **_time(form, times, column, fewest)})
    if column is not None and is_time(column):
        form = form_of(column, is_zoned)
        return _Field({**base, "kind": "time", **_time(form, [], column, fewest)})
    is_number = not tests or bool(_of_kind("number", tests))
    if is_number or (not valued and column is not None and column.dtype != object):
        return _Field({**base, "kind": "number", **_number(valued, column, fewest)})
    if not valued:  # all that matters is whether there is a value
        options = ["present", "missing"]
        return _Field({**base, "kind": "choice", "options": options, "value": 0})
    values, texts = _options(valued, column, fewest)
    start, hint = 0, ""
    if column is not None:
        common = _common(column, 1, fewest)
        start = next((i for i, value in enumerate(values[:-1]) if value in common), len(texts) - 2)
        if set(distinct_values(column)[0].tolist()) - set(values.tolist()):
            hint = "rare values are not listed"
    shown = {**base, "kind": "choice", "options": texts, "value": start, "hint": hint}
    return _Field(shown, values)


def _question(test: Test) -> _Field:
    """Return the field of a test of another kind: its question, with its answers as options."""
    options = [
        shorten(one_line(condition.describe()), MOST_LETTERS) for condition in test.conditions
    ]
    name = shorten(test.name, MOST_LETTERS)
    shown = {"name": name, "kind": "choice", "options": options, "value": 0}
    return _Field(shown, is_question=True)


def _number(tests: list[Test], column: NDArray[Any] | None, fewest: int) -> dict[str, Any]:
    """Return where a number starts, and what is known of its range."""
    cuts = [test.cut for test in _of_kind("number", tests)]
    found = None if column is None else number_range(column.astype(np.float64), fewest)
    if found is None:
        return {"value": cuts[0] if cuts else 0, "hint": ""}
    return {"value": found[1], "hint": found[0]}


def _time(
    form: Form, tests: list[Test], column: NDArray[Any] | None, fewest: int
) -> dict[str, Any]:
    """Return the form of a time, where it starts, and what is known of its range."""
    found = None
    if column is not None and is_time(column):  # a column without any value holds numbers
        found = time_range(column, form, fewest)
    if found is None:
        words = tests[0].condition(0).bound_words(tests[0].cut) if tests else ""
        return {"form": form, "value": words, "hint": ""}
    return {"form": form, "value": found[1], "hint": found[0]}


def _options(
    tests: list[Test], column: NDArray[Any] | None, fewest: int
) -> tuple[NDArray[Any], list[str]]:
    """Return the values to choose from, and their texts; the last one is a missing value."""
    named = [value for test in tests for value in named_values(test)]
    is_text = any(test.is_text for test in tests) if column is None else column.dtype == object
    kind: Any = object if is_text else np.float64
    seen = np.array([], dtype=kind)
    if column is not None:
        seen = _common(column, _MOST_OPTIONS, fewest).astype(kind)
    values = np.array(list(dict.fromkeys([*np.array(named, dtype=kind), *seen])), dtype=kind)
    texts = [_text(value, tests) for value in values]
    if is_text:
        values = np.array([*values, _UNSEEN, None], dtype=object)
        return values, [*texts, "another value", "missing"]
    if len(_of_kind("flag", tests)) == len(tests):
        ends, told = [np.nan], ["missing"]
    else:
        ends, told = [values.max(initial=0.0) + 1.0, np.nan], ["another value", "missing"]
    return np.array([*values, *ends]), [*texts, *told]


def _common(column: NDArray[Any], most: int, fewest: int) -> NDArray[Any]:
    """Return the most frequent values of a column that enough rows have, in order."""
    values, places = distinct_values(column)
    sizes = np.bincount(places[places >= 0], minlength=len(values))
    listed = np.argsort(-sizes, kind="stable")[:most]
    return values[np.sort(listed[sizes[listed] >= fewest])]


def _text(value: Any, tests: list[Test]) -> str:
    if any(test.condition(0).boolean for test in tests):
        return "yes" if value else "no"
    return text_of(value)


# ---- answers -------------------------------------------------------------------------------------


def _answers(test: Test, field: _Field) -> dict[str, Any]:
    """Return a test in terms of its field."""
    if field.is_question:
        return {"outcomes": list(range(test.n_outcomes))}
    if field.values is not None:
        return {"outcomes": test.outcome(field.values).tolist()}
    missing = test.missing_outcome
    if field.shown["kind"] == "choice":  # present or missing
        return {"outcomes": [1 - missing, missing]}
    condition = test.condition(0)
    if condition.kind == "time":
        # As text: JavaScript rounds integers beyond 53 bits.
        return {"moment": str(condition.position(test.cut)), "missing": missing}
    if test.cut is not None:
        sides = [1, 0] if condition.high is None else [0, 1]
        return {"cut": test.cut, "sides": sides, "missing": missing}
    if condition.kind == "missing":
        return {"missing": missing}
    known = np.array(named_values(test), dtype=np.float64)
    other = test.outcome(np.array([known.max() + 1.0]))[0]
    pairs = zip(known.tolist(), test.outcome(known).tolist(), strict=True)
    return {"values": [list(pair) for pair in pairs], "other": int(other), "missing": missing}
