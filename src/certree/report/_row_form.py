"""The form for one row: the columns that trees use, what a value answers, what leaves compute."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.encoding import (
    Category,
    Flag,
    Level,
    Missing,
    Multiway,
    Subset,
    Table,
    Test,
    Threshold,
)
from certree.tree import LinearLeaves, Tree
from certree.tree._wording import shorten

from ._given import MOST_LETTERS, distinct_values, text_of

_MOST_OPTIONS = 200
_UNSEEN = "\x00another value"
# Tests that say which values a column has.
_KINDS = (Category, Flag, Level, Missing, Multiway, Subset, Threshold)


def row_form(trees: list[Tree], table: Table | None) -> dict[str, Any]:
    """Return the fields of the form, and the tests of every tree in terms of them.

    A field is a number, or a choice among options. Tests on numbers are thresholds; other tests
    come as the outcome of each option, so that the page need not know what they mean. Where leaves
    hold formulas, the columns of these are fields, too.
    """
    asked: dict[int, list[Test]] = {}
    names: dict[int, str] = {}
    for tree in trees:
        for test in tree.tests:
            asked.setdefault(test.feature, []).append(test)
            names[test.feature] = test.name
        if isinstance(tree.payload, LinearLeaves):
            used = zip(tree.payload.features, tree.payload.columns, strict=True)
            names |= {feature: name for feature, name in used if feature in tree.payload.needs}
    if table is None and not all(isinstance(test, _KINDS) for test in chain(*asked.values())):
        # The values of such columns are not known.
        return {"fields": [], "tests": [], "formulas": []}
    fields = {}
    for feature in sorted(names):
        column = None if table is None else table.column(feature)
        fields[feature] = _field(names[feature], asked.get(feature, []), column)
    places = {feature: place for place, feature in enumerate(fields)}
    return {
        "fields": [shown for shown, _ in fields.values()],
        "tests": [
            [_answers(test, places[test.feature], fields[test.feature][1]) for test in tree.tests]
            for tree in trees
        ],
        "formulas": [_formulas(tree, places) for tree in trees],
    }


def _formulas(tree: Tree, places: dict[int, int]) -> list[Any] | None:
    """Return what the leaves of a tree compute, in terms of fields; None for constants."""
    leaves = tree.payload
    if not isinstance(leaves, LinearLeaves):
        return None
    found = [leaves.formula(content) for content in range(leaves.n_contents)]
    return [[one.intercept, [[places[k], slope] for k, slope in one.terms]] for one in found]


def _field(
    name: str, tests: list[Test], column: NDArray[Any] | None
) -> tuple[dict[str, Any], NDArray[Any] | None]:
    """Return a field, and the values of its options if it has such."""
    name = shorten(name, MOST_LETTERS)
    kinds = {isinstance(test, Threshold) for test in tests if not isinstance(test, Missing)}
    if kinds == {True} or not tests:
        return {"name": name, "kind": "number", **_number(tests, column)}, None
    values, texts = _options(tests, column)
    start = 0
    if column is not None:
        common = _common(column, 1)
        start = next((i for i, value in enumerate(values[:-1]) if value in common), len(texts) - 1)
    return {"name": name, "kind": "choice", "options": texts, "value": start}, values


def _number(tests: list[Test], column: NDArray[Any] | None) -> dict[str, Any]:
    """Return where a number starts, and what is known of its range."""
    cuts = [test.threshold for test in tests if isinstance(test, Threshold)]
    known = np.array([]) if column is None else np.asarray(column, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return {"value": cuts[0] if cuts else 0, "hint": ""}
    middle = float(np.quantile(known, 0.5, method="lower"))
    hint = f"{known.min():.5g} to {known.max():.5g} in the data"
    return {"value": float(f"{middle:.5g}"), "hint": hint}


def _options(tests: list[Test], column: NDArray[Any] | None) -> tuple[NDArray[Any], list[str]]:
    """Return the values to choose from, and their texts; the last one is a missing value."""
    named = [value for test in tests for value in _values_of(test)]
    is_text = any(test.is_text for test in tests) if column is None else column.dtype == object
    if column is None or column.dtype.kind in "fbO":
        kind: Any = object if is_text else np.float64
        seen = np.array([], dtype=kind) if column is None else _common(column).astype(kind)
        values = np.array(list(dict.fromkeys([*np.array(named, dtype=kind), *seen])), dtype=kind)
    else:  # of a kind that tests compare with, but do not list
        values = _common(column)
    texts = [_text(value, tests) for value in values]
    if is_text:
        values = np.array([*values, _UNSEEN, None], dtype=object)
        return values, [*texts, "another value", "missing"]
    if values.dtype != np.float64:
        return np.concatenate([values, np.array(["NaT"], dtype=values.dtype)]), [*texts, "missing"]
    if all(isinstance(test, Flag | Missing) for test in tests):
        ends, told = [np.nan], ["missing"]
    else:
        ends, told = [values.max(initial=0.0) + 1.0, np.nan], ["another value", "missing"]
    return np.array([*values, *ends]), [*texts, *told]


def _common(column: NDArray[Any], most: int = _MOST_OPTIONS) -> NDArray[Any]:
    """Return the most frequent values of a column, in order."""
    values, places = distinct_values(column)
    sizes = np.bincount(places[places >= 0], minlength=len(values))
    return values[np.sort(np.argsort(-sizes, kind="stable")[:most])]


def _values_of(test: Test) -> list[Any]:
    """Return the values that a test names."""
    if isinstance(test, Level):
        return list(test.levels)
    if isinstance(test, Category):
        return [test.value]
    if isinstance(test, Subset):
        return list(test.values)
    if isinstance(test, Flag):
        return [1.0, 0.0]
    if isinstance(test, Multiway):
        return [value for group in test.categories for value in group if value is not None]
    return []


def _text(value: Any, tests: list[Test]) -> str:
    if any(isinstance(test, Flag) and test.boolean for test in tests):
        return "yes" if value else "no"
    return text_of(value)


def _answers(test: Test, place: int, values: NDArray[Any] | None) -> dict[str, Any]:
    """Return a test in terms of its field."""
    if values is not None:
        return {"field": place, "outcomes": test.outcome(values).tolist()}
    if isinstance(test, Threshold):
        return {"field": place, "cut": test.threshold, "missing": test.missing_outcome}
    return {"field": place, "missing": test.missing_outcome}
