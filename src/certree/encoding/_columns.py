"""What an engine says of columns: what is missing, and which values are near the cut points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ._asked import declared_categories, is_index
from ._cuts import AUTO_THRESHOLDS
from ._encoder import SeenColumn, TableEncoder
from ._identifiers import are_identifiers, check_identifiers, warn_of_identifier
from ._integers import EXACT_INTEGERS
from ._reduced import SeenTable
from ._sources import Source
from ._table import Kind
from ._test_list import CutTests, TestList
from ._tests import Level, is_missing
from ._times import read_time_array

__all__ = [
    "MOST_CATEGORIES",
    "MOST_SUM",
    "ColumnQueries",
    "Roles",
    "int_array",
    "kind_of",
    "rank_of",
]

MOST_CATEGORIES = 1000
"""Categories that have a test of their own, classes, and sensitive groups."""

MOST_SUM = 2**62
"""Sums up to this fit 64 bits in every engine."""

# Different values that are read of a column; of one with more, those near the cut points.
_MOST_VALUES = 50_000

# Decimals that sums keep exactly.
_DECIMALS = 9

# Bins in which values are looked for.
_BINS = 1 << 16


@dataclass(frozen=True)
class Roles:
    """The columns that are no features."""

    target: str | None
    weight: str | None
    sensitive: list[str]
    costs: list[str]
    outputs: list[str]

    def named(self) -> dict[str, str]:
        """Return the columns, and what each is for."""
        roles = dict.fromkeys(self.costs, "costs") | dict.fromkeys(self.sensitive, "sensitive")
        if self.weight is not None:
            roles[self.weight] = "sample_weight"
        roles |= dict.fromkeys(self.outputs, "target")
        return roles if self.target is None else {**roles, self.target: "target"}


class ColumnQueries:
    """The queries about single columns."""

    def __init__(self, source: Source, roles: Roles, names: list[str]) -> None:
        self.source, self.roles, self.names = source, roles, names
        self.schema = source.rows.schema()
        self.levels = {i: source.levels[n] for i, n in enumerate(names) if n in source.levels}
        self.kinds: list[Kind] = [
            "ordered" if i in self.levels else kind_of(name, self.schema[name])
            for i, name in enumerate(names)
        ]
        self.zones = {
            i: str(self.schema[name].timezone)
            for i, name in enumerate(names)
            if self.kinds[i] == "zoned"
        }
        self.facts = self._look()
        rows = source.rows
        if roles.weight is not None:
            rows = rows.filter(rows[roles.weight] > 0)
        self.rows = rows
        self.decimals = 0 if roles.weight is None else self._weight_decimals()

    # ---- the first look ----------------------------------------------------------------------

    def _look(self) -> dict[str, Any]:
        """Return the number of rows, what is missing, and the ends of columns, by one query."""
        import ibis

        rows, roles = self.source.rows, self.roles
        if roles.weight is not None:
            rows = rows.filter((rows[roles.weight] > 0) | rows[roles.weight].isnull())
        asked: dict[str, Any] = {"rows": rows.count()}
        for i, name in enumerate(self.names):
            column = self._clean(rows, name)
            asked[f"absent{i}"] = column.isnull().sum()
            if self.kinds[i] == "number":
                asked |= {f"low{i}": column.min(), f"high{i}": column.max()}
                asked[f"many{i}"] = column.approx_nunique()
        for name in roles.named():
            asked[self._fact("null", name)] = self._clean(rows, name).isnull().sum()
        for name in self._summed():
            column = self._clean(rows, name)
            asked |= {self._fact("low", name): column.min(), self._fact("high", name): column.max()}
            for decimals in range(_DECIMALS + 1):
                power = 10.0**decimals
                # Numbers beyond 2**53 quanta are not told apart, and may leave 64 bits.
                fits = column.abs() * power < 2.0**53
                scaled = ibis.ifelse(fits, column * power, 0.0).round().cast("float64")
                is_short = scaled / power == column
                asked[self._fact(f"long{decimals}", name)] = (~(is_short & fits)).sum()
        if roles.weight is not None:
            asked["weight"] = self._clean(rows, roles.weight).sum()
        facts = self._one(rows.aggregate(**asked))
        if roles.weight is not None:
            negative = (self.source.rows[roles.weight] < 0).sum()
            facts["negative"] = self._one(self.source.rows.aggregate(n=negative))["n"]
        self._check(facts)
        return facts

    def _fact(self, what: str, name: str) -> str:
        """Return what a fact about a column with a role is called; engines cut long names off."""
        return f"{what}_{list(self.roles.named()).index(name)}"

    def _one(self, query: Any) -> dict[str, Any]:
        """Return the only line of an answer."""
        return cast(dict[str, Any], self.source.answer(query, "reading the columns").to_pylist()[0])

    def _summed(self) -> list[str]:
        """Return the columns whose numbers are added up."""
        names, target = list(self.roles.costs), self.roles.target
        if target is not None and self.schema[target].is_numeric():
            names.append(target)
        return names if self.roles.weight is None else [*names, self.roles.weight]

    def _clean(self, rows: Any, name: str) -> Any:
        """Return a column in which null alone stands for missing; numbers are float64."""
        import ibis

        column = rows[name]
        if column.type().is_numeric():
            number = column.cast("float64")
            if not column.type().is_floating():
                return number
            return ibis.ifelse(number.isnan(), ibis.null("float64"), number)
        if column.type().is_timestamp() and (column.type().scale or 0) > 6:
            # Other engines have no finer times.
            return column.cast(column.type().copy(scale=6))
        return column

    def _check(self, facts: Mapping[str, Any]) -> None:
        """Refuse tables that nothing can be learned from."""
        if facts.get("negative"):
            raise ValueError(
                f"sample_weight must not be negative, but the column {self.roles.weight!r} is so "
                f"in {facts['negative']} rows."
            )
        if not facts["rows"]:
            raise ValueError("The table has no rows (of positive weight); there is nothing to fit.")
        for name, role in self.roles.named().items():
            absent = facts[self._fact("null", name)]
            if absent:
                raise ValueError(
                    f"The {role} column {name!r} has no value in {absent} of "
                    f"{facts['rows']} rows; filter these rows out, or fill them in."
                )
        ends = [(name, f"low{i}", f"high{i}") for i, name in enumerate(self.names)]
        ends += [(n, self._fact("low", n), self._fact("high", n)) for n in self._summed()]
        for name, low, high in ends:
            found = [float(facts[key]) for key in (low, high) if facts.get(key) is not None]
            if not all(map(math.isfinite, found)):
                raise ValueError(f"The column {name!r} contains infinity; filter such rows out.")
            is_integer = self.schema[name].is_integer()
            if is_integer and any(abs(end) > EXACT_INTEGERS for end in found):
                raise ValueError(
                    f"The column {name!r} holds integers beyond 2**53, which float64 cannot tell "
                    "apart; cast it to text if they are names, or leave it out."
                )

    def _weight_decimals(self) -> int:
        """Return how many decimals weights have."""
        name = cast(str, self.roles.weight)
        decimals = self._exact_decimals([name])
        if decimals is None:
            raise ValueError(
                f"The sample_weight column {name!r} has numbers of more than {_DECIMALS} decimals, "
                "whose sums would not be exact; round the column, for instance to 6 decimals."
            )
        units = float(self.facts["weight"]) * 10.0**decimals
        if units >= MOST_SUM:
            raise ValueError(
                f"The weights in the column {name!r} add up to {units:.2g} units of their last "
                "decimal, which leaves 64 bits; divide the column by one number, or round it."
            )
        return decimals

    def _exact_decimals(self, names: Sequence[str]) -> int | None:
        """Return the fewest decimals with which all numbers of some columns are exact."""
        for decimals in range(_DECIMALS + 1):
            if not any(self.facts[self._fact(f"long{decimals}", name)] for name in names):
                return decimals
        return None

    def largest_unit(self) -> int:
        """Return the largest integer weight of a row."""
        if self.roles.weight is None:
            return 1
        units = float(self.facts[self._fact("high", self.roles.weight)]) * 10.0**self.decimals
        return round(units)

    def _units(self, rows: Any) -> Any:
        """Return the integer weight of each row; None: one each."""
        if self.roles.weight is None:
            return None
        return (self._clean(rows, self.roles.weight) * 10.0**self.decimals).round().cast("int64")

    # ---- columns -----------------------------------------------------------------------------

    def look_at_columns(self, rules: TableEncoder) -> SeenTable:
        """Choose the tests as a fit in memory would, and return what they divide columns into."""
        empty = SeenTable(self.names, self.kinds, [], [], {}, [], self.levels, self.zones)
        nothing = empty.table([np.empty(0)] * len(self.names))
        declared = declared_categories(rules.categorical_features, nothing)
        are_categories = [
            is_declared or kind == "text"
            for is_declared, kind in zip(declared, self.kinds, strict=True)
        ]
        identifiers = self._find_identifiers(declared, rules)
        found = [
            self._values(i, are_categories[i], rules, i in identifiers)
            for i in range(len(self.names))
        ]
        counts = [SeenColumn(weights, rows) for _, weights, rows in found]
        full = empty.table([values for values, _, _ in found])
        # Values of identifiers are one by now, and values that come once each are no rows.
        known = {"categorical_features": declared, "identifiers": "keep"}
        encoder = TableEncoder(**{**rules.get_params(), **known})
        encoder._fit_seen(full, counts)
        seen = replace(
            empty,
            values=[values for values, _, _ in found],
            rows=[rows for _, _, rows in found],
            categories=[i for i, is_category in enumerate(are_categories) if is_category],
            min_category_rows=rules.min_category_rows,
            category_tests=rules.category_tests,
            identifiers=identifiers,
        )
        for i in range(len(self.names)):
            _divide(seen, i, encoder.tests_)
        return seen

    def _find_identifiers(self, declared: Sequence[bool], rules: TableEncoder) -> list[int]:
        """Return the columns whose values name single rows, by the rule of a fit in memory."""
        check_identifiers(rules.identifiers)
        if rules.identifiers == "keep" or rules.min_category_rows > 1:
            return []
        found = []
        for i, name in enumerate(self.names):
            if self.kinds[i] != "text" or declared[i]:
                continue
            values = self._counted(name)
            facts = self._one(values.aggregate(n=values.count(), most=values.n.max()))
            n_rows = int(self.facts["rows"]) - int(self.facts[f"absent{i}"])
            if are_identifiers(int(facts["n"]), n_rows, int(facts["most"] or 0)):
                found.append(i)
                warn_of_identifier(name)
        return found

    def _values(
        self, index: int, is_category: bool, rules: TableEncoder, is_identifier: bool
    ) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return different values of a column in order, the missing one last; weights and rows."""
        name, kind = self.names[index], self.kinds[index]
        asked: Any = rules.thresholds
        if isinstance(asked, Mapping):
            asked = asked.get(name, asked.get(index, "auto"))
        is_discrete = is_category or kind in ("flag", "ordered", "text")
        limit = AUTO_THRESHOLDS if asked == "auto" else asked
        if is_identifier:
            found = self._any_value(index)
        elif is_discrete:
            found = self._most_frequent(name, rules.min_category_rows)
        elif kind == "number" and _are_numbers(asked):
            found = self._beside_points(name, sorted(float(point) for point in asked))
        elif kind == "number" and self.facts[f"many{index}"] > _MOST_VALUES and is_index(limit):
            found = self._near_quantiles(index, int(limit))
        else:
            found = self._all_values(name, int(limit) if is_index(limit) else None)
        values, weights, rows = found
        column = self._as_column(values, kind, name)
        order = np.argsort(column, kind="stable")
        column, weights, rows = column[order], weights[order], rows[order]
        absent = self.facts[f"absent{index}"]
        if absent:
            if column.dtype == np.bool_:
                column = column.astype(np.float64)
            nothing: Any = np.array([None if column.dtype == object else np.nan])
            if column.dtype.kind in "mM":
                nothing = np.array(["NaT"], dtype=column.dtype)
            column = np.concatenate([column, nothing])
            rows = np.append(rows, absent)
            weights = np.append(weights, max(absent, 1))
        return column, weights, rows

    def _as_column(self, values: Any, kind: Kind, name: str) -> NDArray[Any]:
        """Return values of Arrow as the column of a table."""
        if kind in ("date", "zoned"):
            times = values.to_numpy(zero_copy_only=False)
            return read_time_array(times, f"column {name!r}")
        plain = values.to_pylist()
        if plain and isinstance(plain[0], bool):
            return np.array(plain, dtype=np.bool_)
        if kind == "text" or (plain and isinstance(plain[0], str)):
            column = np.empty(len(plain), dtype=object)
            column[:] = plain
            return column
        return np.array(plain, dtype=np.float64)

    def _counted(self, name: str) -> Any:
        """Return the query for the values of a column, their rows and their weights."""
        value = self._clean(self.rows, name)
        rows = self.rows.select(v=value, u=self._unit_or_one())
        rows = rows.filter(rows.v.notnull())
        return rows.group_by("v").aggregate(n=rows.count(), w=rows.u.sum())

    def _unit_or_one(self) -> Any:
        import ibis

        units = self._units(self.rows)
        return ibis.literal(1, "int64") if units is None else units

    def _read_counted(self, query: Any, name: str) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        answer = self.source.answer(query, f"reading the values of the column {name!r}")
        weights, rows = int_array(answer["w"]), int_array(answer["n"])
        return answer["v"].combine_chunks(), weights, rows

    def _any_value(self, index: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return one text that stands for all values of a column."""
        import pyarrow

        rows = np.array([int(self.facts["rows"]) - int(self.facts[f"absent{index}"])])
        return pyarrow.array([""]), rows, rows

    def _most_frequent(self, name: str, least: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the categories of a column, of the rare ones just some."""
        import ibis

        query = self._counted(name).order_by(ibis.desc("n")).limit(MOST_CATEGORIES + 1)
        values, weights, rows = self._read_counted(query, name)
        if len(rows) > MOST_CATEGORIES and int(rows.min()) >= least:
            raise ValueError(
                f"The column {name!r} has more than {MOST_CATEGORIES} categories"
                f"{'' if least == 1 else f' of at least {least} rows'}; leave it out, or join rare "
                "ones with a higher min_category_rows."
            )
        return values, weights, rows

    def _all_values(self, name: str, limit: int | None) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return all values of a column, or those near its cut points if there are many."""
        found = self._read_counted(self._counted(name).limit(_MOST_VALUES + 1), name)
        if len(found[1]) <= _MOST_VALUES:
            return found
        if limit is None:
            raise ValueError(
                f"The column {name!r} has more than {_MOST_VALUES} different values, too many for "
                "a cut point between any two of them, or for cut points that are given; ask for a "
                "number of quantiles, such as thresholds=32."
            )
        return self._window(name, limit)

    def _beside_points(
        self, name: str, points: list[float]
    ) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the least and the greatest value between any two of the cut points given."""
        import pyarrow

        value = self._clean(self.rows, name)
        rows = self.rows.select(v=value, u=self._unit_or_one(), b=rank_of(value, points))
        rows = rows.filter(rows.v.notnull())
        found = rows.group_by("b").aggregate(
            low=rows.v.min(), high=rows.v.max(), n=rows.count(), w=rows.u.sum()
        )
        answer = self.source.answer(found, f"reading the values of the column {name!r}")
        low, high = answer["low"].to_numpy(), answer["high"].to_numpy()
        counts, weights = int_array(answer["n"]), int_array(answer["w"])
        # The greatest value stands for one row, unless it is the only one.
        more = high > low
        return (
            pyarrow.array(np.concatenate([low, high[more]])),
            np.concatenate([weights - more, np.ones(more.sum(), dtype=np.int64)]),
            np.concatenate([counts - more, np.ones(more.sum(), dtype=np.int64)]),
        )

    def _window(self, name: str, limit: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the values next to each quantile, by sorting the column in the engine."""
        import ibis

        found = self._counted(name)
        order, everything = ibis.cumulative_window(order_by=found.v), ibis.window()
        found = found.mutate(
            below=found.w.sum().over(order),
            number=found.n.sum().over(order),
            place=ibis.row_number().over(order_by=found.v),
            total=found.w.sum().over(everything),
        )
        parts = limit + 1
        # A value is the first at or above a quantile if the share of rows passes it there.
        before = (found.below - found.w) * parts // found.total
        passes = found.below * parts // found.total > before
        found = found.mutate(hit=ibis.ifelse(passes, 1, 0))
        found = found.mutate(
            last=found.hit.lag().over(order_by=found.v),
            next=found.hit.lead().over(order_by=found.v),
        )
        # Some more, so that there are never as few values as cut points.
        near = (found.hit == 1) | (found.last == 1) | (found.next == 1)
        kept = found.filter(near | (found.place <= 2 * parts)).select(
            v=found.v, w=found.below.cast("int64"), n=found.number.cast("int64")
        )
        values, below, number = self._read_counted(kept.order_by("v"), name)
        return values, np.diff(below, prepend=0), np.diff(number, prepend=0)

    def _near_quantiles(self, index: int, limit: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the values near the cut points of a column of numbers with very many.

        Bins of equal width are counted first. Only values in bins that hold a quantile, and in the
        bins next to these, are read; the others are one value for each bin.
        """
        import pyarrow

        name = self.names[index]
        low, high = float(self.facts[f"low{index}"]), float(self.facts[f"high{index}"])
        width = (high - low) / _BINS
        if not (math.isfinite(width) and width > 0):
            return self._all_values(name, limit)
        value = self._clean(self.rows, name)
        number = ((value - low) / width).floor().cast("int64")
        rows = self.rows.select(v=value, u=self._unit_or_one(), b=number)
        rows = rows.filter(rows.v.notnull())
        bins = rows.group_by("b").aggregate(v=rows.v.max(), n=rows.count(), w=rows.u.sum())
        answer = self.source.answer(bins, f"counting the column {name!r}").sort_by("b")
        weights, counts = int_array(answer["w"]), int_array(answer["n"])
        below, total = np.cumsum(weights).astype(object), int(weights.sum())
        quantiles = np.arange(1, limit + 1).astype(object) * total
        hit = np.searchsorted(below * (limit + 1), quantiles).clip(max=len(below) - 1)
        near = np.unique(np.concatenate([hit - 1, hit, hit + 1]).clip(0, len(below) - 1))
        if int(counts[near].sum()) > 64 * _MOST_VALUES:
            # Nearly all values lie in a few bins.
            return self._window(name, limit)
        numbers = answer["b"].to_numpy()
        inside = rows.filter(rows.b.isin(numbers[near].tolist()))
        fine = inside.group_by("v").aggregate(n=inside.count(), w=inside.u.sum())
        values, more_weights, more_counts = self._read_counted(fine, name)
        far = np.setdiff1d(np.arange(len(below)), near)
        joined = pyarrow.concat_arrays([values, answer["v"].combine_chunks().take(far)])
        return (
            joined,
            np.concatenate([more_weights, weights[far]]),
            np.concatenate([more_counts, counts[far]]),
        )


def kind_of(name: str, dtype: Any) -> Kind:
    """Return what a column of an engine holds."""
    if dtype.is_boolean():
        return "flag"
    if dtype.is_numeric():
        return "number"
    if dtype.is_string():
        return "text"
    if dtype.is_date():
        return "date"
    if dtype.is_timestamp():
        return "date" if dtype.timezone is None else "zoned"
    raise ValueError(
        f"The column {name!r} is of type {dtype}, which trees cannot ask; leave it out of "
        "features, or make it a number, a text, a truth value or a date."
    )


def _divide(seen: SeenTable, index: int, tests: TestList) -> None:
    """Keep one value for each part into which the tests divide a column."""
    values, rows = seen.values[index], seen.rows[index]
    absent = is_missing(values)
    present, counts = values[~absent], rows[~absent]
    kind = seen.kinds[index]
    parts = [part for part in tests.parts if part[0].feature == index]
    cuts = next((part.cuts for part in parts if isinstance(part, CutTests)), None)
    if index in seen.categories:
        is_known = counts >= seen.min_category_rows
        rare = present[~is_known][:1]
        present = np.concatenate([rare, present[is_known]])
        counts = np.concatenate([np.zeros(len(rare), dtype=np.int64), counts[is_known]])
    elif kind == "ordered":
        levels = [test.value for part in parts for test in part if isinstance(test, Level)]
        seen.thresholds[index] = list(dict.fromkeys(levels))
    elif cuts is not None:
        seen.thresholds[index] = list(cuts)
        bins = np.searchsorted(cuts.low, present)
        first = np.searchsorted(bins, np.arange(len(cuts) + 1), side="right") - 1
        sums = np.zeros(len(cuts) + 1, dtype=np.int64)
        np.add.at(sums, bins, counts)
        present, counts = present[first], sums
    elif not parts or kind in ("date", "zoned"):
        present, counts = present[:1], counts.sum(keepdims=True)[: len(present)]
    seen.values[index] = np.concatenate([present, values[absent]])
    seen.rows[index] = np.concatenate([counts, rows[absent]])


def int_array(column: Any) -> NDArray[Any]:
    """Return integers of Arrow: as int64, or as Python's where they are decimals that need it."""
    if str(column.type).startswith("decimal"):
        numbers = [int(value) for value in column.to_pylist()]
        fits = all(-MOST_SUM < number < MOST_SUM for number in numbers)
        return np.array(numbers, dtype=np.int64 if fits else object)
    return np.asarray(column.to_numpy(), dtype=np.int64)


def rank_of(column: Any, points: Sequence[Any], first: int = 0) -> Any:
    """Return how many of some cut points each value is above, plus `first`, as an expression."""
    import ibis

    if not len(points):
        return ibis.literal(first, "int32")
    middle = len(points) // 2
    below, above = points[:middle], points[middle + 1 :]
    return ibis.ifelse(
        column <= points[middle],
        rank_of(column, below, first),
        rank_of(column, above, first + middle + 1),
    )


def _are_numbers(asked: Any) -> bool:
    """Return whether cut points are given, all of them finite numbers."""
    if not isinstance(asked, Sequence | np.ndarray) or isinstance(asked, str) or not len(asked):
        return False
    return all(
        isinstance(point, int | float | np.number)
        and not isinstance(point, bool)
        and math.isfinite(point)
        for point in asked
    )
