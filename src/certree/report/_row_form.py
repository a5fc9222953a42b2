"""The form for one row: which columns trees ask about, and what each value answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import (
    Category,
    Flag,
    Level,
    Missing,
    Multiway,
    Table,
    Test,
    Threshold,
    format_value,
)
from certree.tree import Tree
from certree.tree._wording import one_line

_MOST_OPTIONS = 200
_UNSEEN = "\x00another value"


def row_form(trees: list[Tree], table: Table | None) -> dict[str, Any]:
    """Return the fields of the form, and the tests of every tree in terms of them.

    A field is a number, or a choice among options. Tests on numbers are thresholds; other tests
    come as the outcome of each option, so that the page need not know what they mean.
    """
    asked: dict[int, list[Test]] = {}
    for tree in trees:
        for test in tree.tests:
            asked.setdefault(test.feature, []).append(test)
    fields = {}
    for feature in sorted(asked):
        column = None if table is None else table.column(feature)
        fields[feature] = _field(asked[feature], column)
    places = {feature: place for place, feature in enumerate(fields)}
    return {
        "fields": [shown for shown, _ in fields.values()],
        "tests": [
            [_answers(test, places[test.feature], fields[test.feature][1]) for test in tree.tests]
            for tree in trees
        ],
    }


def _field(
    tests: list[Test], column: NDArray[Any] | None
) -> tuple[dict[str, Any], NDArray[Any] | None]:
    """Return a field, and the values of its options if it has such."""
    name = one_line(tests[0].name)
    kinds = {isinstance(test, Threshold) for test in tests if not isinstance(test, Missing)}
    if kinds == {True}:
        return {"name": name, "kind": "number", **_number(tests, column)}, None
    values, texts = _options(tests, column)
    start = 0
    if column is not None and len(column):
        start = _most_common(values, column)
    return {"name": name, "kind": "choice", "options": texts, "value": start}, values


def _number(tests: list[Test], column: NDArray[Any] | None) -> dict[str, Any]:
    """Return where a number starts, and what is known of its range."""
    cuts = [test.threshold for test in tests if isinstance(test, Threshold)]
    known = np.array([]) if column is None else np.asarray(column, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return {"value": cuts[0], "hint": ""}
    middle = float(np.quantile(known, 0.5, method="lower"))
    hint = f"{known.min():.5g} to {known.max():.5g} in the data"
    return {"value": float(f"{middle:.5g}"), "hint": hint}


def _options(tests: list[Test], column: NDArray[Any] | None) -> tuple[NDArray[Any], list[str]]:
    """Return the values to choose from, and their texts; missing comes last."""
    is_text = any(test.is_text for test in tests)
    if column is not None:
        is_text = column.dtype == object
    found: dict[Any, None] = {}
    for test in tests:
        found.update(dict.fromkeys(_values_of(test)))
    if column is not None:
        present = [value for value in column.tolist() if value is not None and value == value]
        names, sizes = np.unique(np.array(present, dtype=object).astype(str), return_counts=True)
        common = set(names[np.argsort(-sizes)[:_MOST_OPTIONS]].tolist())
        found.update(dict.fromkeys(sorted({v for v in present if str(v) in common})))
    is_flag = all(isinstance(test, Flag | Missing) for test in tests)
    texts = {value: _text(value, tests) for value in found}
    values: list[Any] = list(found) or ([] if is_text else [0.0])
    named = [texts.get(value, "any value") for value in values]
    if is_text:
        values, named = [*values, _UNSEEN], [*named, "another value"]
        return np.array([*values, None], dtype=object), [*named, "missing"]
    if not is_flag and column is not None:
        beyond = max(float(value) for value in values) + 1.0
        values, named = [*values, beyond], [*named, "another value"]
    return np.array([*map(float, values), np.nan]), [*named, "missing"]


def _values_of(test: Test) -> list[Any]:
    """Return the values that a test names."""
    if isinstance(test, Level):
        return list(test.levels)
    if isinstance(test, Category):
        return [test.value]
    if isinstance(test, Flag):
        return [True, False]
    if isinstance(test, Multiway):
        return [value for group in test.categories for value in group if value is not None]
    return []


def _text(value: Any, tests: list[Test]) -> str:
    if any(isinstance(test, Flag) and test.boolean for test in tests):
        return "yes" if value else "no"
    return one_line(format_value(float(value) if isinstance(value, bool) else value))


def _most_common(values: NDArray[Any], column: NDArray[Any]) -> int:
    counts = np.array([np.count_nonzero(column == value) for value in values[:-1].tolist()])
    return int(np.argmax(counts)) if counts.any() else len(values) - 1


def _answers(test: Test, place: int, values: NDArray[Any] | None) -> dict[str, Any]:
    """Return a test in terms of its field."""
    if values is not None:
        return {"field": place, "outcomes": test.outcome(values).tolist()}
    if isinstance(test, Threshold):
        return {"field": place, "cut": test.threshold, "missing": test.missing_outcome}
    return {"field": place, "missing": test.missing_outcome}
