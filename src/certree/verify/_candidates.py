"""Tests by their plain fields, and the candidates that a table and the parameters allow.

A test is compared with the candidates by how it divides the rows, never by how it is written: by
the column, the gap between two observed values or the category, and the side of missing values.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from itertools import chain, compress, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import CertificateError

from ._plain_numbers import Exact
from ._plain_times import nanoseconds, nanoseconds_of_text
from ._raw_table import Column, RawTable

Test = Mapping[str, Any]
"""A test as a dictionary of its fields, with its kind."""

Key = tuple[Any, ...]
"""How a test divides the rows: column, kind, gap or category, and whether missing values hold."""

# Number of cut points of a column, and of values that are all separated, for thresholds="auto".
_AUTO = 32

# Most categories, with missing values as one, whose sets are all candidates.
_MOST_GROUPS = 10

# Rounded weights may move a quantile by this share of all weight.
_ROUNDED = Fraction(1, 2**18)

_FIELDS = {
    "threshold": {"feature", "name", "threshold", "missing"},
    "time": {"feature", "name", "value", "missing"},
    "category": {"feature", "name", "value", "missing"},
    "flag": {"feature", "name", "boolean", "missing"},
    "missing": {"feature", "name"},
    "subset": {"feature", "name", "values", "rest", "missing"},
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
    cls: Any = type(test)
    kind, names = _kind_and_fields(cls)
    values = {name: getattr(test, name) for name in names}
    feature = values["feature"]
    if not isinstance(feature, int) or not 0 <= feature < n_columns:
        raise CertificateError(f"a test asks for column {feature!r} of {n_columns}.")
    return {"kind": kind, "missing": None, **values}


@cache
def _kind_and_fields(cls: type) -> tuple[str, tuple[str, ...]]:
    """Return the kind of the tests of a class, and their fields."""
    kind = getattr(cls, "kind", None)
    if kind not in _FIELDS or not is_dataclass(cls):
        raise CertificateError(f"the model asks a test of unknown kind {kind!r}.")
    names = tuple(field.name for field in fields(cls))
    unknown = set(names) - _FIELDS[kind]
    if unknown:
        raise CertificateError(f"a test of kind {kind!r} has unknown fields {sorted(unknown)}.")
    return kind, names


def outcome_of(test: Test, value: Any) -> int:
    """Return 0 if the test holds for a raw value, 1 if not; the outcome of a multiway test."""
    kind = test["kind"]
    if kind == "multiway":
        for number, group in enumerate(test["categories"]):
            if any(is_category(value, category) for category in group):
                return number
        return int(test["default"])
    if kind == "missing":
        return int(value is not None)
    if value is None:
        return int(test["missing"] is not True)
    if kind == "threshold":
        return int(not value <= test["threshold"])
    if kind == "time":
        return int(not value <= nanoseconds_of_text(test["value"]))
    if kind == "flag":
        return int(not value > 0.5)
    if kind == "level":
        held = test["levels"][: test["levels"].index(test["value"]) + 1]
        return int(not any(is_category(value, level) for level in held))
    if kind == "subset":
        is_listed = any(is_category(value, category) for category in test["values"])
        return int(is_listed == test["rest"])
    return int(not is_category(value, test["value"]))


def is_category(value: Any, category: Any) -> bool:
    """Return whether a raw value is a category; None is a missing value."""
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
    min_category_rows: int = 1
    category_tests: str = "one"
    identifiers: str = "drop"

    def of_column(self, table: RawTable, feature: int) -> Any:
        """Return what is asked of a column: "auto", "all", a number, or a list of cut points."""
        if not isinstance(self.thresholds, Mapping):
            return self.thresholds
        for key, value in self.thresholds.items():
            place = None if isinstance(key, str) else _place(table, key)
            if feature == place or table.name(feature) == key:
                return value if isinstance(value, str | int | np.integer) else list(value)
        return "auto"

    def declared(self, table: RawTable) -> list[bool]:
        """Return which columns the user declares to be categories."""
        given, n_columns = self.categorical_features, len(table.columns)
        if isinstance(given, str):
            return [given == "all"] * n_columns
        entries = list(given)
        if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
            return [bool(entry) for entry in entries]
        names = list(table.names or ())
        places = {names.index(e) if isinstance(e, str) else _place(table, e) for e in entries}
        return [place in places for place in range(n_columns)]


def _place(table: RawTable, index: Any) -> int:
    return int(index) % len(table.columns)


@dataclass(frozen=True)
class _Seen:
    """The values of a column in the rows that count."""

    values: Sequence[Any]
    has_missing: bool
    weights: Sequence[Exact]
    """Weight of the rows of each value."""
    n_rows: Sequence[int]
    """Number of rows of each value."""


class StatedTests(Sequence[Test]):
    """The tests that a model states, each read when it is asked for."""

    def __init__(self, stated: Any, n_columns: int) -> None:
        self._stated = stated
        self._n_columns = n_columns

    def __len__(self) -> int:
        return len(self._stated)

    def __getitem__(self, index: Any) -> Any:
        return plain_test(self._stated[index], self._n_columns)

    def __iter__(self) -> Iterator[Test]:
        return (plain_test(test, self._n_columns) for test in self._stated)


class StatedKeys:
    """How the tests that a model states divide the rows.

    Cuts are kept as their gaps, by column and side of missing values: there may be millions.
    """

    def __init__(self, keys: Iterable[Key]) -> None:
        self.others: Counter[Key] = Counter()
        self.n_repeated = 0
        cuts: dict[tuple[int, bool], array[int]] = {}
        for key in keys:
            if key[1] == "cut":
                cuts.setdefault((key[0], key[3]), array("q")).append(key[2])
            else:
                self.others[key] += 1
        self.cuts: dict[tuple[int, bool], NDArray[np.int64]] = {}
        for place, gaps in cuts.items():
            self.cuts[place] = np.unique(np.frombuffer(gaps, dtype=np.int64))
            self.n_repeated += len(gaps) - len(self.cuts[place])
        self.n_repeated += sum(n - 1 for n in self.others.values())

    def __contains__(self, key: Key) -> bool:
        if key[1] != "cut":
            return key in self.others
        return bool(np.isin(key[2], self.gaps(key[0], key[3])))

    def gaps(self, feature: int, side: bool) -> NDArray[np.int64]:
        """Return the gaps of a column that are cut, in increasing order."""
        return self.cuts.get((feature, side), np.empty(0, dtype=np.int64))


class Candidates:
    """The tests that trees may ask of a table, by the parameters.

    Parameters
    ----------
    table : RawTable
        The raw table.
    rules : CandidateRules
        The parameters.
    weights : mapping from row to number
        The rows that count, with their weights.
    is_exact : bool
        Whether quantiles are those of these weights; otherwise they are of rounded weights.
    """

    def __init__(
        self, table: RawTable, rules: CandidateRules, weights: Mapping[int, Exact], is_exact: bool
    ) -> None:
        self.table = table
        self.rules = rules
        self.slack = 0 if is_exact else _ROUNDED * sum(weights.values())
        self.seen = [_see(column, weights) for column in table.columns]
        declared = rules.declared(table)
        self.is_category = [
            d or c.kind == "category" for d, c in zip(declared, table.columns, strict=True)
        ]
        self.identifiers = {
            place
            for place, column in enumerate(table.columns)
            if rules.identifiers == "drop"
            and rules.min_category_rows == 1
            and column.kind == "category"
            and not declared[place]
            and _names_rows(self.seen[place])
        }
        """Columns whose values name single rows, so that they are no candidates."""
        self.asked = [rules.of_column(table, i) for i in range(len(table.columns))]
        self.all_flags = table.is_matrix and all(
            not seen.has_missing and set(seen.values) <= {0, 1} and not isinstance(asked, list)
            for seen, asked in zip(self.seen, self.asked, strict=True)
        )

    def key(self, test: Test) -> Key:
        """Return how a test divides the rows."""
        feature, kind, side = test["feature"], test["kind"], test["missing"] is True
        column, values = self.table.columns[feature], self.seen[feature].values
        if kind == "threshold" and column.kind != "time" and not _are_texts(values):
            return feature, "cut", bisect_right(values, test["threshold"]), side
        if kind == "time" and column.kind == "time":
            return feature, "cut", bisect_right(values, nanoseconds_of_text(test["value"])), side
        if kind == "level" and tuple(test["levels"]) == column.levels:
            rank = column.levels.index(test["value"])
            return feature, "cut", bisect_right(self._in_order(feature), rank), side
        if kind in ("category", "subset") and self._has_sets(feature):
            return self._division(feature, [v for v in values if not outcome_of(test, v)], side)
        if kind == "category":
            return feature, "is", test["value"], side
        if kind == "subset":
            held = frozenset(v for v in values if outcome_of(test, v) == 0)
            return feature, "in", held, side
        if kind == "multiway":
            return feature, "multiway", tuple(tuple(group) for group in test["categories"])
        return feature, kind, side

    def read(self, tests: Iterable[Test]) -> tuple[StatedKeys, str | None]:
        """Return how tests divide the rows, and the error in the name of the first wrong one."""
        wrong: str | None = None

        def keys() -> Iterator[Key]:
            nonlocal wrong
            for test in tests:
                name = self.table.name(test["feature"])
                if wrong is None and test["name"] != name:
                    wrong = (
                        f"test {test['name']!r} asks for column {test['feature']}, which is called "
                        f"{name!r}"
                    )
                yield self.key(test)

        return StatedKeys(keys()), wrong

    def differences(
        self, stated: StatedKeys, *, may_have_more: bool = False, may_lack: bool = False
    ) -> list[str]:
        """Return the errors in the candidates; an empty list if they are right.

        A tree to start from may add its own tests. A budget of time or memory may leave some
        candidates out.
        """
        found = []
        for feature in range(len(self.table.columns)):
            wrong = self._wrong_cuts(feature, stated, may_have_more, may_lack)
            if wrong is not None:
                found.append(
                    f"candidates of column {self.table.name(feature)!r} for "
                    f"thresholds={self.asked[feature]!r}: {wrong}"
                )
        wanted = Counter(self._fixed())
        if stated.n_repeated and not may_have_more:
            found.append(f"{stated.n_repeated} candidates are repeated")
        others = stated.others
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
        if feature in self.identifiers:
            return "identifier"
        if column.kind == "time":
            return "number"
        is_binary = column.kind == "flag" or (
            not _are_texts(seen.values) and set(seen.values) <= {0, 1}
        )
        is_category = self.is_category[feature]
        if is_category and self.rules.splits != "binary" and (seen.has_missing or not is_binary):
            return "multiway"
        if is_category and not is_binary:
            return "category"
        if column.kind == "ordered" and not is_category:
            return "level"
        return "flag" if is_binary and not isinstance(self.asked[feature], list) else "number"

    def _sides(self, feature: int) -> tuple[bool, ...]:
        """Return whether missing values hold: they may join either side of a cut or flag."""
        return (False, True) if self.seen[feature].has_missing else (False,)

    def _fixed(self) -> Iterable[Key]:
        """Yield all candidates except the cuts between numbers or levels."""
        for feature, seen in enumerate(self.seen):
            kind = self._kind(feature)
            if kind == "flag":
                yield from ((feature, "flag", side) for side in self._sides(feature))
            elif kind == "category" and self._has_sets(feature):
                yield from self._all_sets(feature)
            elif kind == "category":
                single, asked = self._single_groups(feature), self.rules.category_tests
                is_told = not seen.has_missing and len(single) <= 2
                if asked == "drop-last":
                    single = single[:-1]
                elif asked == "drop-first" or is_told:
                    single = single[1:]
                elif len(single) == 1:
                    single = []
                yield from single
            elif kind == "multiway" and len(self._groups(feature)) + seen.has_missing > 1:
                groups = self._groups(feature) + [(None,)] * seen.has_missing
                yield feature, "multiway", tuple(groups)
                if self.rules.splits == "both":
                    yield from self._single_groups(feature)
            is_asked = kind != "multiway" or self.rules.splits == "both"
            is_asked = is_asked or not self._groups(feature)
            if seen.has_missing and kind != "nothing" and is_asked:
                yield feature, "missing", False

    def _groups(self, feature: int) -> list[tuple[Any, ...]]:
        """Return the categories one by one, and the rare ones together at the end.

        If all are rare, they say nothing.
        """
        seen, least = self.seen[feature], self.rules.min_category_rows
        rows = dict(zip(seen.values, seen.n_rows, strict=True))
        rare = tuple(value for value in seen.values if rows[value] < least)
        known: list[tuple[Any, ...]] = [(v,) for v in seen.values if rows[v] >= least]
        return [*known, rare] if rare and known else known

    def _has_sets(self, feature: int) -> bool:
        """Return whether all sets of the categories of a column are candidates."""
        if self.rules.category_tests != "subsets" or not self.is_category[feature]:
            return False
        return len(self._groups(feature)) + self.seen[feature].has_missing <= _MOST_GROUPS

    def _division(self, feature: int, held: Iterable[Any], side: bool) -> Key:
        """Return how a set divides the values, missing ones included: it or the others."""
        seen = self.seen[feature]
        inside = frozenset(held) | ({None} if side else set())
        if not seen.values or seen.values[0] in inside:
            inside = frozenset([*seen.values, *([None] * seen.has_missing)]) - inside
        return feature, "divided", inside

    def _all_sets(self, feature: int) -> Iterable[Key]:
        """Yield the divisions of the categories, except that of present and missing values."""
        groups = self._groups(feature)
        if not groups:
            return
        # The first group stays outside, so that every division comes once.
        for picks in product((False, True), repeat=len(groups) - 1):
            held = list(chain.from_iterable(compress(groups[1:], picks)))
            for side in self._sides(feature) if held else ():
                yield self._division(feature, held, side)

    def _single_groups(self, feature: int) -> list[Key]:
        """Return how each category, and all rare ones together, divide the rows."""
        groups, least = self._groups(feature), self.rules.min_category_rows
        rows = dict(zip(self.seen[feature].values, self.seen[feature].n_rows, strict=True))
        return [
            (feature, "is", group[0], False)
            if rows[group[0]] >= least
            else (feature, "in", frozenset(group), False)
            for group in groups
        ]

    def _asked_gaps(self, feature: int) -> list[set[int]] | None:
        """Return for each quantile the gaps nearest to it; None: all gaps are candidates.

        Of cut points that are given, the gap of each, if it has values on both sides.
        """
        seen, asked_for = self.seen[feature], self.asked[feature]
        n_gaps = len(seen.values) - 1
        if isinstance(asked_for, list):
            order = self._in_order(feature)
            places = {bisect_right(order, self._point(feature, cut)) for cut in asked_for}
            return [{place} for place in places if 1 <= place <= n_gaps]
        if asked_for == "auto":
            # The limit is one of values here: 33 of them have 32 gaps, but 32 quantiles.
            limit, is_whole = _AUTO, len(seen.values) <= _AUTO
        else:
            limit = n_gaps if asked_for == "all" else asked_for
            is_whole = n_gaps <= limit
        if is_whole:
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

    def _in_order(self, feature: int) -> list[Any]:
        """Return the values of a column as numbers, levels by their places."""
        levels, values = self.table.columns[feature].levels, self.seen[feature].values
        return [levels.index(value) for value in values] if levels else list(values)

    def _point(self, feature: int, cut: Any) -> Any:
        """Return a given cut point as a number of the same kind."""
        column = self.table.columns[feature]
        if column.kind == "ordered":
            return column.levels.index(cut)
        if column.kind != "time":
            return float(cut)
        return nanoseconds_of_text(cut) if isinstance(cut, str) else nanoseconds(cut)

    def count(self) -> int | None:
        """Return the number of candidates; None if rounded weights leave some of them open."""
        total = len(list(self._fixed()))
        for feature in range(len(self.table.columns)):
            if self._kind(feature) not in ("number", "level"):
                continue
            asked = self._asked_gaps(feature)
            if asked is None:
                n_cuts = len(self.seen[feature].values) - 1
            elif self.slack and not isinstance(self.asked[feature], list):
                return None
            else:
                n_cuts = len(set().union(*asked))
            total += n_cuts * len(self._sides(feature))
        return total

    def _wrong_cuts(
        self, feature: int, stated: StatedKeys, may_have_more: bool, may_lack: bool
    ) -> str | None:
        """Return the error in the cut points of a column; None if they are right."""
        by_side = {side: stated.gaps(feature, side) for side in (False, True)}
        if self._kind(feature) not in ("number", "level"):
            is_wrong = any(map(len, by_side.values())) and not may_have_more
            return "there are cut points, but none are asked for" if is_wrong else None
        n_gaps = len(self.seen[feature].values) - 1
        asked = self._asked_gaps(feature)
        for side, cuts in by_side.items():
            if side not in self._sides(feature):
                if len(cuts) and not may_have_more:
                    return "missing values hold for some cut points, but none are missing"
                continue
            if asked is None:
                n_real = np.count_nonzero((cuts >= 1) & (cuts <= n_gaps))
                if not (may_lack or n_real == n_gaps) or not (may_have_more or n_real == len(cuts)):
                    return f"{len(cuts)} cut points, but {n_gaps} gaps between values"
                continue
            gaps = set(cuts.tolist())
            if not (may_lack or all(gaps & places for places in asked)):
                return "no cut point nearest to some of the quantiles"
            if not (may_have_more or gaps <= set().union(*asked)):
                return "cut points that are nearest to no quantile"
        return None


def _names_rows(seen: _Seen) -> bool:
    """Return whether the values of a column name single rows.

    Of at least 20 rows with a value, more than nine tenths of the values are different, and none
    is that of ten rows or more.
    """
    n_rows = sum(seen.n_rows)
    is_many = n_rows >= 20 and len(seen.values) * 10 > n_rows * 9
    return is_many and max(seen.n_rows) < 10


def _are_texts(values: Sequence[Any]) -> bool:
    return bool(values) and isinstance(values[0], str)


def _see(column: Column, weights: Mapping[int, Exact]) -> _Seen:
    totals: dict[Any, Exact] = {}
    n_rows: Counter[Any] = Counter()
    has_missing = False
    for row, weight in weights.items():
        value = column.values[row]
        if value is None:
            has_missing = True
        else:
            totals[value] = totals.get(value, 0) + weight
            n_rows[value] += 1
    values = sorted(totals, key=column.levels.index if column.levels else None)
    weights_of, rows_of = [totals[value] for value in values], [n_rows[value] for value in values]
    return _Seen(values, has_missing, weights_of, rows_of)
