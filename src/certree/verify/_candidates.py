"""Tests by their plain fields, and the candidates that a table and the parameters allow.

A test is compared with the candidates by how it divides the rows, never by how it is written: by
the column, the gap between two observed values or the category, and the side of missing values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._plain_numbers import Exact
from ._raw_table import Column, RawTable

Test = Mapping[str, Any]
"""A test as a dictionary of its fields, with its kind."""

Key = tuple[Any, ...]
"""How a test divides the rows: column, kind, gap or category, and whether missing values hold."""

# Number of cut points of a column, and of values that are all separated, for thresholds="auto".
_AUTO = 32

# Rounded weights may move a quantile by this share of all weight.
_ROUNDED = Fraction(1, 2**18)

_FIELDS = {
    "threshold": {"feature", "name", "threshold", "missing"},
    "category": {"feature", "name", "value", "missing"},
    "flag": {"feature", "name", "boolean", "missing"},
    "missing": {"feature", "name"},
    "level": {"feature", "name", "levels", "value", "missing"},
    "multiway": {"feature", "name", "categories", "default"},
}


def plain_test(test: Any, n_columns: int) -> Test:
    """Return the fields of a test.

    Raises
    ------
    CertificateError
        If its kind is unknown, or the table does not have its column.
    """
    kind = getattr(type(test), "kind", None)
    if kind not in _FIELDS or not is_dataclass(test):
        raise CertificateError(f"the model asks a test of unknown kind {kind!r}.")
    values = {field.name: getattr(test, field.name) for field in fields(test)}
    unknown = set(values) - _FIELDS[kind]
    if unknown:
        raise CertificateError(f"a test of kind {kind!r} has unknown fields {sorted(unknown)}.")
    feature = values["feature"]
    if not isinstance(feature, int) or not 0 <= feature < n_columns:
        raise CertificateError(f"a test asks for column {feature!r} of {n_columns}.")
    return {"kind": kind, "missing": None, **values}


def outcome_of(test: Test, value: Any) -> int:
    """Return 0 if the test holds for a raw value, 1 if not; the outcome of a multiway test."""
    kind = test["kind"]
    if kind == "multiway":
        for number, group in enumerate(test["categories"]):
            if any(_is_category(value, category) for category in group):
                return number
        return int(test["default"])
    if kind == "missing":
        return int(value is not None)
    if value is None:
        return int(test["missing"] is not True)
    if kind == "threshold":
        return int(not value <= test["threshold"])
    if kind == "flag":
        return int(not value > 0.5)
    if kind == "level":
        held = test["levels"][: test["levels"].index(test["value"]) + 1]
        return int(not any(_is_category(value, level) for level in held))
    return int(not _is_category(value, test["value"]))


def _is_category(value: Any, category: Any) -> bool:
    if value is None or category is None:
        return value is category
    return isinstance(value, str) == isinstance(category, str) and bool(value == category)


# ---- candidates --------------------------------------------------------------------------------


@dataclass(frozen=True)
class CandidateRules:
    """The parameters that determine the candidates."""

    thresholds: Any = "auto"
    categorical_features: Any = "auto"
    splits: str = "binary"

    def limit(self) -> int | None:
        """Return the most cut points of a column, 0 for "auto", None for all."""
        if isinstance(self.thresholds, str):
            return 0 if self.thresholds == "auto" else None
        return int(self.thresholds)

    def declared(self, table: RawTable) -> list[bool]:
        """Return which columns the user declares to be categories."""
        given, n_columns = self.categorical_features, len(table.columns)
        if isinstance(given, str):
            return [given == "all"] * n_columns
        entries = list(given)
        if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
            return [bool(entry) for entry in entries]
        names = list(table.names or ())
        places = {names.index(e) if isinstance(e, str) else int(e) % n_columns for e in entries}
        return [place in places for place in range(n_columns)]


@dataclass(frozen=True)
class _Seen:
    """The values of a column in the rows that count."""

    values: Sequence[Any]
    has_missing: bool
    weights: Sequence[Exact]
    """Weight of the rows of each value."""


class Candidates:
    """The tests that trees may ask of a table, by the parameters.

    Parameters
    ----------
    table : RawTable
        The raw table.
    wishes : CandidateRules
        The parameters.
    weights : mapping from row to number
        The rows that count, with their weights.
    is_exact : bool
        Whether quantiles are those of these weights; otherwise they are of rounded weights.
    """

    def __init__(
        self, table: RawTable, wishes: CandidateRules, weights: Mapping[int, Exact], is_exact: bool
    ) -> None:
        self.table = table
        self.wishes = wishes
        self.slack = 0 if is_exact else _ROUNDED * sum(weights.values())
        self.seen = [_see(column, weights) for column in table.columns]
        declared = wishes.declared(table)
        self.is_category = [
            d or c.kind == "category" for d, c in zip(declared, table.columns, strict=True)
        ]
        self.all_flags = table.is_matrix and all(
            not seen.has_missing and set(seen.values) <= {0, 1} for seen in self.seen
        )

    def key(self, test: Test) -> Key:
        """Return how a test divides the rows."""
        feature, kind, side = test["feature"], test["kind"], test["missing"] is True
        column, values = self.table.columns[feature], self.seen[feature].values
        if kind == "threshold" and not any(isinstance(value, str) for value in values[:1]):
            return feature, "cut", bisect_right(values, test["threshold"]), side
        if kind == "level" and tuple(test["levels"]) == column.levels:
            rank = column.levels.index(test["value"])
            return (
                feature,
                "cut",
                bisect_right([column.levels.index(v) for v in values], rank),
                side,
            )
        if kind == "category":
            return feature, "is", test["value"], side
        if kind == "multiway":
            return feature, "multiway", tuple(tuple(group) for group in test["categories"])
        return feature, kind, side

    def differences(
        self, tests: Sequence[Test], *, may_have_more: bool = False, may_lack: bool = False
    ) -> list[str]:
        """Return the errors in a list of candidates; an empty list if it is right.

        A tree to start from may add its own tests. A budget of time or memory may leave some
        candidates out.
        """
        found = [
            f"test {test['name']!r} asks for column {test['feature']}, which is called "
            f"{self.table.name(test['feature'])!r}"
            for test in tests
            if test["name"] != self.table.name(test["feature"])
        ][:1]
        keys = Counter(self.key(test) for test in tests)
        cuts = [key for key in keys if key[1] == "cut"]
        for feature in range(len(self.table.columns)):
            own = [key for key in cuts if key[0] == feature]
            wrong = self._wrong_cuts(feature, own, may_have_more, may_lack)
            if wrong is not None:
                found.append(
                    f"candidates of column {self.table.name(feature)!r} for "
                    f"thresholds={self.wishes.thresholds!r}: {wrong}"
                )
        wanted = Counter(self._fixed())
        others = Counter({key: n for key, n in keys.items() if key[1] != "cut"})
        if not may_have_more:
            found += [f"{n} times the candidate {key}" for key, n in keys.items() if n > 1][:1]
        for what, keys_left in (("lack", wanted - others), ("hold", others - wanted)):
            if keys_left and not (may_have_more if what == "hold" else may_lack):
                first = next(iter(keys_left))
                found.append(
                    f"candidates {what} {len(keys_left)} tests of column "
                    f"{self.table.name(first[0])!r} and others that the parameters "
                    f"{'ask for' if what == 'lack' else 'do not'}, such as {first[1:]}"
                )
        return found

    # ---- by column -----------------------------------------------------------------------------

    def _kind(self, feature: int) -> str:
        """Return how the tests of a column are made."""
        column, seen = self.table.columns[feature], self.seen[feature]
        if self.all_flags:
            return "flag"
        if not seen.values:
            return "nothing"
        is_binary = column.kind == "flag" or (
            not isinstance(seen.values[0], str) and set(seen.values) <= {0, 1}
        )
        is_category = self.is_category[feature]
        if is_category and self.wishes.splits != "binary" and (seen.has_missing or not is_binary):
            return "multiway"
        if is_category and not is_binary:
            return "category"
        if column.kind == "ordered" and not is_category:
            return "level"
        return "flag" if is_binary else "number"

    def _sides(self, feature: int) -> tuple[bool, ...]:
        """Return whether missing values hold: they may join either side of a cut or flag."""
        return (False, True) if self.seen[feature].has_missing else (False,)

    def _fixed(self) -> Iterable[Key]:
        """Yield all candidates except the cuts between numbers or levels."""
        for feature, seen in enumerate(self.seen):
            kind, values = self._kind(feature), list(seen.values)
            if kind == "flag":
                yield from ((feature, "flag", side) for side in self._sides(feature))
            elif kind == "category":
                if not seen.has_missing and len(values) <= 2:
                    values = values[1:]
                elif len(values) == 1:
                    values = []
                yield from ((feature, "is", value, False) for value in values)
            elif kind == "multiway" and len(values) + seen.has_missing > 1:
                groups = [(value,) for value in values] + [(None,)] * seen.has_missing
                yield feature, "multiway", tuple(groups)
                if self.wishes.splits == "both":
                    yield from ((feature, "is", value, False) for value in values)
            is_asked = kind != "multiway" or self.wishes.splits == "both"
            if seen.has_missing and kind != "nothing" and is_asked:
                yield feature, "missing", False

    def _asked_gaps(self, feature: int) -> list[set[int]] | None:
        """Return for each quantile the gaps nearest to it; None: all gaps are candidates."""
        seen, limit = self.seen[feature], self.wishes.limit()
        n_gaps = len(seen.values) - 1
        if limit == 0:
            limit = n_gaps if len(seen.values) <= _AUTO else _AUTO
        if limit is None or n_gaps <= limit:
            return None
        total, below, sums = sum(seen.weights), Fraction(0), []
        for weight in seen.weights[:-1]:
            below += weight
            sums.append(below)
        asked = []
        for number in range(1, limit + 1):
            target = Fraction(total * number) / (limit + 1)
            place = min(bisect_right(sums, target), n_gaps - 1)
            # Of two that are equally near, the lower one.
            nearest = min(range(max(place - 1, 0), place + 1), key=lambda i: abs(sums[i] - target))
            if self.slack:
                least = abs(sums[nearest] - target) + self.slack
                low, high = bisect_left(sums, target - least), bisect_right(sums, target + least)
                asked.append(set(range(low + 1, high + 1)))
            else:
                asked.append({nearest + 1})
        return asked

    def count(self) -> int | None:
        """Return the number of candidates; None if rounded weights leave some of them open."""
        total = len(list(self._fixed()))
        for feature in range(len(self.table.columns)):
            if self._kind(feature) not in ("number", "level"):
                continue
            asked = self._asked_gaps(feature)
            if asked is None:
                n_cuts = len(self.seen[feature].values) - 1
            elif self.slack:
                return None
            else:
                n_cuts = len(set().union(*asked))
            total += n_cuts * len(self._sides(feature))
        return total

    def _wrong_cuts(
        self, feature: int, keys: Sequence[Key], may_have_more: bool, may_lack: bool
    ) -> str | None:
        """Return the error in the cut points of a column; None if they are right."""
        if self._kind(feature) not in ("number", "level"):
            is_wrong = keys and not may_have_more
            return "there are cut points, but none are asked for" if is_wrong else None
        gaps = set(range(1, len(self.seen[feature].values)))
        asked = self._asked_gaps(feature)
        for side in (False, True):
            stated = {key[2] for key in keys if key[3] == side}
            if side not in self._sides(feature):
                if stated and not may_have_more:
                    return "missing values hold for some cut points, but none are missing"
            elif asked is None:
                if not (may_lack or gaps <= stated) or not (may_have_more or stated <= gaps):
                    return f"{len(stated)} cut points, but {len(gaps)} gaps between values"
            elif not (may_lack or all(stated & places for places in asked)):
                return "no cut point nearest to some of the quantiles"
            elif not (may_have_more or stated <= set().union(*asked)):
                return "cut points that are nearest to no quantile"
        return None


def _see(column: Column, weights: Mapping[int, Exact]) -> _Seen:
    totals: dict[Any, Exact] = {}
    has_missing = False
    for row, weight in weights.items():
        value = column.values[row]
        if value is None:
            has_missing = True
        else:
            totals[value] = totals.get(value, 0) + weight
    values = sorted(totals, key=column.levels.index if column.levels else None)
    return _Seen(values, has_missing, [totals[value] for value in values])
