"""Reducing a table by queries of the engine that holds it: the tests first, then the groups."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import warn
from certree.numbers._fixed_squares import SquareSums

from ._asked import declared_categories, is_index
from ._cuts import AUTO_THRESHOLDS
from ._encoder import SeenColumn, TableEncoder
from ._integers import EXACT_INTEGERS
from ._reduced import CostSums, Reduced, SeenTable, Words, pack
from ._sources import Source, open_table
from ._table import Kind
from ._test_list import CutTests, TestList
from ._tests import Level, is_missing
from ._times import read_time_array

__all__ = ["reduce"]

# Different values that are read of a column; of one with more, those near the cut points.
_MOST_VALUES = 50_000

# Categories that have a test of their own, classes, and sensitive groups.
_MOST_CATEGORIES = 1000

# A target of integers with more different values than this is a number, not a class.
_FEW_TARGETS = 100

# Decimals that sums keep exactly.
_DECIMALS = 9

# Sums up to this fit 64 bits in every engine.
_MOST_SUM = 2**62

# Bins in which values are looked for.
_BINS = 1 << 16

# Groups are nearly as many as rows if they are more than this share, of at least so many rows.
_NEARLY, _MANY = 0.5, 10_000


def reduce(
    table: Any,
    *,
    features: Sequence[str] | None = None,
    target: str | None = None,
    sample_weight: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    costs: Sequence[str] | None = None,
    thresholds: str | int | Mapping[str, Any] = "auto",
    categorical_features: str | Sequence[Any] = "auto",
    min_category_rows: int = 1,
    category_tests: str = "one",
    target_kind: Literal["auto", "classes", "numbers"] = "auto",
    form: Literal["groups", "rows"] = "groups",
    max_groups: int = 20_000_000,
    memory_limit: int | None = None,
) -> Reduced:
    """Reduce a table to groups of rows that no test tells apart, where the table is.

    The engine that holds the table answers a few queries: one for what is missing and where the
    columns begin and end, one for the values of each column, and one that groups the rows. Only
    these answers leave it. The tests are those that a fit in memory would choose, so that the tree
    and its certificate are the same. Needs the extra ``certree[sql]``.

    Parameters
    ----------
    table : ibis table, DuckDB relation, str, path, or frame of pandas, polars or pyarrow
        The rows. A text is a path, or a pattern such as ``"data/*.parquet"``, of Parquet or CSV
        files, which DuckDB reads.
    features : sequence of str, optional
        The columns that trees may ask; by default all that have no other role.
    target : str, optional
        The column to be predicted.
    sample_weight : str, optional
        A column of weights: decimals of up to nine digits after the point, not negative.
    sensitive : str or sequence of str, optional
        Columns of groups, for :class:`FairTreeClassifier`.
    costs : sequence of str, optional
        Columns with what each label costs a row, for :class:`CostSensitiveTreeClassifier`, or what
        each treatment brings it, for :class:`PolicyTree`.
    thresholds, categorical_features, min_category_rows, category_tests
        As for :class:`TableEncoder`.
    target_kind : {"auto", "classes", "numbers"}, default="auto"
        "classes": rows with different targets are in different groups. "numbers": groups have sums
        of the target and its square, for :class:`OptimalTreeRegressor`. "auto": numbers for
        floats, decimals, and integers with more than 100 different values.
    form : {"groups", "rows"}, default="groups"
        "rows": every row is a group of its own, read in batches and packed in a few bits per
        column. Of use where groups are nearly as many as rows, which `reduce` warns of.
    max_groups : int, default=20_000_000
        More groups than this are refused, before they fill the memory.
    memory_limit : int, optional
        Bytes for the DuckDB that reads files and frames; by default its own limit.

    Returns
    -------
    Reduced
        What ``fit_reduced`` of the estimators learns from.

    See Also
    --------
    Reduced : What it returns.
    verify : Recompute a certificate from a reduced table, or by one query from the table itself.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> import pandas as pd
    >>> from certree import OptimalTreeClassifier, reduce
    >>> frame = pd.DataFrame({"age": [20, 30, 40, 50] * 5, "sick": ["no", "no", "yes", "no"] * 5})
    >>> reduced = reduce(frame, target="sick")
    >>> reduced.n_rows, reduced.n_groups
    (20, 4)
    >>> model = OptimalTreeClassifier(max_depth=2).fit_reduced(reduced)
    >>> model.certificate_.cost, model.certificate_.n_rows
    (0, 20)
    """
    if target_kind not in ("auto", "classes", "numbers"):
        raise ValueError(f"target_kind must be auto, classes or numbers, got {target_kind!r}.")
    if form not in ("groups", "rows"):
        raise ValueError(f"form must be 'groups' or 'rows', got {form!r}.")
    source = open_table(table, memory_limit)
    given = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    roles = _Roles(target, sample_weight, given, list(costs or ()))
    names = _check_columns(source, features, roles)
    job = _Job(source, roles, names)
    rules = TableEncoder(
        thresholds=thresholds,
        categorical_features=categorical_features,
        min_category_rows=min_category_rows,
        category_tests=category_tests,
    )
    seen = job.look_at_columns(rules)
    return job.group(seen, target_kind, form, max_groups)


@dataclass(frozen=True)
class _Roles:
    """The columns that are no features."""

    target: str | None
    weight: str | None
    sensitive: list[str]
    costs: list[str]

    def named(self) -> dict[str, str]:
        """Return the columns, and what each is for."""
        roles = dict.fromkeys(self.costs, "costs") | dict.fromkeys(self.sensitive, "sensitive")
        if self.weight is not None:
            roles[self.weight] = "sample_weight"
        return roles if self.target is None else {**roles, self.target: "target"}


def _check_columns(source: Source, features: Sequence[str] | None, roles: _Roles) -> list[str]:
    """Return the features; raise if a column is not there or of a type that is not known."""
    schema = source.rows.schema()
    if isinstance(features, str):
        raise TypeError(f"features must be a list of columns, got the text {features!r}.")
    used = roles.named()
    names = [name for name in schema if name not in used] if features is None else list(features)
    for name, role in {**dict.fromkeys(names, "features"), **used}.items():
        if name not in schema:
            raise ValueError(
                f"{role} names the column {name!r}, which the table does not have; its columns are "
                f"{', '.join(map(repr, schema))}."
            )
    wrong = [name for name in names if used.get(name, "sensitive") != "sensitive"]
    if wrong:
        raise ValueError(
            f"The column {wrong[0]!r} is in features and in {used[wrong[0]]}; name it once."
        )
    if not names:
        raise ValueError("There are no features; name at least one column.")
    if len(set(names)) < len(names):
        raise ValueError("features names a column twice.")
    for name in names:
        _kind(name, schema[name])
    for name in [*roles.costs, *([] if roles.weight is None else [roles.weight])]:
        if not schema[name].is_numeric():
            raise ValueError(
                f"The column {name!r} must hold numbers, since it is in {used[name]}, but "
                f"it is of type {schema[name]}."
            )
    return names


def _kind(name: str, dtype: Any) -> Kind:
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


class _Job:
    """The queries of one reduction."""

    def __init__(self, source: Source, roles: _Roles, names: list[str]) -> None:
        self.source, self.roles, self.names = source, roles, names
        self.schema = source.rows.schema()
        self.levels = {i: source.levels[n] for i, n in enumerate(names) if n in source.levels}
        self.kinds: list[Kind] = [
            "ordered" if i in self.levels else _kind(name, self.schema[name])
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
        rows, roles = self.source.rows, self.roles
        if roles.weight is not None:
            rows = rows.filter((rows[roles.weight] > 0) | rows[roles.weight].isnull())
        asked: dict[str, Any] = {"rows": rows.count()}
        for i, name in enumerate(self.names):
            column = self._clean(rows, name)
            asked[f"absent{i}"] = column.isnull().cast("int64").sum()
            if self.kinds[i] == "number":
                asked |= {f"low{i}": column.min(), f"high{i}": column.max()}
                asked[f"many{i}"] = column.approx_nunique()
        for name in roles.named():
            asked[f"null {name}"] = self._clean(rows, name).isnull().cast("int64").sum()
        for name in self._summed():
            column = self._clean(rows, name)
            asked |= {f"low {name}": column.min(), f"high {name}": column.max()}
            for decimals in range(_DECIMALS + 1):
                power = 10.0**decimals
                is_short = ((column * power).round().cast("float64") / power) == column
                # Numbers beyond 2**53 quanta are not told apart.
                fits = column.abs() * power < 2.0**53
                asked[f"{decimals} {name}"] = (~(is_short & fits)).cast("int64").sum()
        for name in [] if roles.weight is None else [roles.weight]:
            asked["negative"] = (self.source.rows[name] < 0).cast("int64").sum()
        negative = asked.pop("negative", None)
        facts = self._one(rows.aggregate(**asked))
        if negative is not None:
            facts["negative"] = self._one(self.source.rows.aggregate(n=negative))["n"] or 0
        self._check(facts)
        return facts

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
            if facts[f"null {name}"]:
                raise ValueError(
                    f"The {role} column {name!r} has no value in {facts[f'null {name}']} of "
                    f"{facts['rows']} rows; filter these rows out, or fill them in."
                )
        ends = [(name, f"low{i}", f"high{i}") for i, name in enumerate(self.names)]
        ends += [(name, f"low {name}", f"high {name}") for name in self._summed()]
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
        return decimals

    def _exact_decimals(self, names: Sequence[str]) -> int | None:
        """Return the fewest decimals with which all numbers of some columns are exact."""
        for decimals in range(_DECIMALS + 1):
            if not any(self.facts[f"{decimals} {name}"] for name in names):
                return decimals
        return None

    def largest_unit(self) -> int:
        """Return the largest integer weight of a row."""
        if self.roles.weight is None:
            return 1
        return round(float(self.facts[f"high {self.roles.weight}"]) * 10**self.decimals)

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
        found = [self._values(i, are_categories[i], rules) for i in range(len(self.names))]
        counts = [SeenColumn(weights, rows) for _, weights, rows in found]
        full = empty.table([values for values, _, _ in found])
        encoder = TableEncoder(**{**rules.get_params(), "categorical_features": declared})
        encoder._fit_seen(full, counts)
        seen = replace(
            empty,
            values=[values for values, _, _ in found],
            rows=[rows for _, _, rows in found],
            categories=[i for i, is_category in enumerate(are_categories) if is_category],
            min_category_rows=rules.min_category_rows,
            category_tests=rules.category_tests,
        )
        for i in range(len(self.names)):
            _divide(seen, i, encoder.tests_)
        return seen

    def _values(
        self, index: int, is_category: bool, rules: TableEncoder
    ) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return different values of a column in order, the missing one last; weights and rows."""
        name, kind = self.names[index], self.kinds[index]
        asked = rules.thresholds
        if isinstance(asked, Mapping):
            asked = asked.get(name, asked.get(index, "auto"))
        is_discrete = is_category or kind in ("flag", "ordered", "text")
        limit = AUTO_THRESHOLDS if asked == "auto" else asked
        if is_discrete:
            found = self._most_frequent(name, rules.min_category_rows)
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
        if plain and isinstance(plain[0], str):
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
        weights, rows = _int_array(answer["w"]), _int_array(answer["n"])
        return answer["v"].combine_chunks(), weights, rows

    def _most_frequent(self, name: str, least: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
        """Return the categories of a column, of the rare ones just some."""
        import ibis

        query = self._counted(name).order_by(ibis.desc("n")).limit(_MOST_CATEGORIES + 1)
        values, weights, rows = self._read_counted(query, name)
        if len(rows) > _MOST_CATEGORIES and int(rows.min()) >= least:
            raise ValueError(
                f"The column {name!r} has more than {_MOST_CATEGORIES} categories"
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
        found = found.mutate(hit=(found.below * parts // found.total > before).cast("int64"))
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
        weights, counts = _int_array(answer["w"]), _int_array(answer["n"])
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

    # ---- groups ------------------------------------------------------------------------------

    def group(self, seen: SeenTable, kind: str, form: str, max_groups: int) -> Reduced:
        """Return the groups of rows."""
        import ibis

        roles, words = self.roles, Words()
        features = [words.add(values) for values in seen.values]
        codes = [self._code(seen, i) for i in range(len(self.names))]
        places = list(features)
        target = None
        if roles.target is not None and self._has_classes(kind):
            target = words.add(self._labels(roles.target, "target"))
            places.append(target)
            codes.append(self._code_of_labels(roles.target, target.values))
        groups = {}
        for name in roles.sensitive:
            groups[name] = words.add(self._labels(name, "sensitive"))
            places.append(groups[name])
            codes.append(self._code_of_labels(name, groups[name].values))
        packed = pack(places, codes, words.n_words)
        columns = {f"word{i}": word.cast("int64") for i, word in enumerate(packed)}
        units = self._units(self.rows)
        if units is not None:
            columns["u"] = units
        summed = self._sums(target is None)
        columns |= summed.columns(self, ibis)
        rows = self.rows.select(**columns)
        keys = [f"word{i}" for i in range(words.n_words)]
        if form == "groups":
            asked = {"n": rows.count()} | {
                name: rows[name].sum() for name in rows.columns if name not in keys
            }
            query = rows.group_by(keys).aggregate(**asked).limit(max_groups + 1)
        else:
            query = rows
        arrays = self._read_groups(query, max_groups if form == "groups" else None)
        order = np.lexsort([arrays[key] for key in keys])
        arrays = {name: array[order] for name, array in arrays.items()}
        counts = arrays.get("n")
        n_groups, n_rows = len(order), int(self.facts["rows"])
        if form == "groups" and n_rows >= _MANY and n_groups > _NEARLY * n_rows:
            warn(
                f"The {n_rows} rows are in {n_groups} groups, so that grouping saves little. Ask "
                "for fewer cut points (thresholds=8) or fewer columns; or use form='rows', which "
                "reads the rows in batches, packed, without grouping them."
            )
        return Reduced(
            seen,
            np.stack([arrays[key] for key in keys]),
            features,
            n_rows,
            counts,
            arrays.get("u"),
            Fraction(1, 10**self.decimals),
            roles.target,
            target,
            groups,
            summed.costs(self, arrays),
            summed.squares(self, arrays, counts),
        )

    def _read_groups(self, query: Any, most: int | None) -> dict[str, NDArray[Any]]:
        """Return the columns of an answer, read in batches."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in query.columns}
        n_read = 0
        for batch in self.source.batches(query, "grouping the rows"):
            n_read += batch.num_rows
            if most is not None and n_read > most:
                raise ValueError(
                    f"The rows are in more than max_groups={most} groups. Ask for fewer cut points "
                    "(thresholds=8) or fewer columns; or use form='rows', which reads the rows in "
                    "batches, packed, without grouping them."
                )
            for name in parts:
                parts[name].append(_int_array(batch[name]))
        return {name: np.concatenate(arrays) for name, arrays in parts.items()}

    def _code(self, seen: SeenTable, index: int) -> Any:
        """Return the code of a feature in every row, as an expression."""
        import ibis

        name, kind, values = self.names[index], self.kinds[index], seen.values[index]
        column = self._clean(self.rows, name)
        absent = bool(self.facts[f"absent{index}"])
        n_present = len(values) - absent
        if n_present <= 1:
            code = ibis.literal(0, "int64")
        elif index in seen.thresholds and kind != "ordered":
            points: list[Any] = seen.thresholds[index]
            if kind in ("date", "zoned"):
                points = [_literal(value, column.type()) for value in values[: n_present - 1]]
            code = _rank(column, points, 0)
        else:
            code = self._code_of_labels(name, values[:n_present])
        if not absent or len(values) == 1:
            return code
        return ibis.ifelse(column.isnull(), ibis.literal(len(values) - 1, "int64"), code)

    def _code_of_labels(self, name: str, values: NDArray[Any]) -> Any:
        """Return the place of each row's value among some values; 0 if it is none of them."""
        import ibis

        column = self._clean(self.rows, name)
        if column.type().is_boolean():
            column = column.cast("int64")
            values = values.astype(np.int64)
        pairs = [(column == value, place) for place, value in enumerate(values.tolist()) if place]
        zero = ibis.literal(0, "int64")
        return ibis.cases(*pairs, else_=zero).cast("int64") if pairs else zero

    def _has_classes(self, kind: str) -> bool:
        """Return whether rows of different targets are in different groups."""
        dtype = self.schema[self.roles.target]
        if kind == "numbers" and not dtype.is_numeric():
            raise ValueError(
                f"target_kind='numbers' needs a target of numbers, but the column "
                f"{self.roles.target!r} is of type {dtype}."
            )
        if kind != "auto":
            return kind == "classes"
        if not dtype.is_numeric():
            return True
        if not dtype.is_integer():
            return False
        query = self._counted(cast(str, self.roles.target)).limit(_FEW_TARGETS + 1)
        return len(self.source.answer(query, "reading the target")) <= _FEW_TARGETS

    def _labels(self, name: str, role: str) -> NDArray[Any]:
        """Return the different values of a column of labels, in order."""
        query = self._counted(name).limit(_MOST_CATEGORIES + 1)
        values, _, _ = self._read_counted(query, name)
        if len(values) > _MOST_CATEGORIES:
            raise ValueError(
                f"The {role} column {name!r} has more than {_MOST_CATEGORIES} different values; "
                "give classes"
                + (", or use target_kind='numbers'." if role == "target" else ", not numbers.")
            )
        plain = values.to_pylist()
        if self.schema[name].is_integer():
            plain = [int(value) for value in plain]
        return np.array(sorted(plain))

    def _sums(self, has_no_classes: bool) -> _Summed:
        """Return which numbers are added up, as integers of which quantum."""
        target = self.roles.target if has_no_classes else None
        return _Summed(
            None if target is None else self._quantum([target]),
            None if not self.roles.costs else self._quantum(self.roles.costs),
        )

    def _quantum(self, names: Sequence[str]) -> _Quantum:
        """Return the integers that stand for the numbers of some columns."""
        low = min(float(self.facts[f"low {name}"]) for name in names)
        high = max(float(self.facts[f"high {name}"]) for name in names)
        decimals = self._exact_decimals(names)
        # The product of a square and a weight fits 64 bits.
        most = math.isqrt(_MOST_SUM // self.largest_unit())
        if decimals is not None:
            ends = round(low * 10**decimals), round(high * 10**decimals)
            centre = (ends[0] + ends[1]) // 2
            if ends[1] - ends[0] < 2 * most:
                return _Quantum(Fraction(10) ** decimals, centre, Fraction(0), ends)
        # The finest power of two for which squares fit 64 bits; rounded once for every row.
        spread = max(high - low, 2.0**-900)
        power = math.floor(math.log2(most) - math.log2(spread))
        if most < 2**10 or abs(power) > 900:
            raise ValueError(
                f"The column {names[0]!r}, or the weights, hold numbers so large or so small that "
                "sums leave 64 bits; multiply or divide the column by one number."
            )
        factor = Fraction(2) ** power
        ends = math.floor(Fraction(low) * factor), math.ceil(Fraction(high) * factor)
        # A product with a power of two is exact; adding may round numbers far from zero.
        noise = max(map(abs, ends)) * Fraction(1, 2**51)
        return _Quantum(factor, (ends[0] + ends[1]) // 2, Fraction(1, 2) + noise, ends)


@dataclass(frozen=True)
class _Quantum:
    """Integers that stand for numbers: ``round(x * factor) - centre``."""

    factor: Fraction
    centre: int
    error: Fraction
    ends: tuple[int, int]

    @property
    def unit(self) -> Fraction:
        return 1 / self.factor

    @property
    def widest(self) -> int:
        return max(abs(end - self.centre) for end in self.ends) + 1

    def of(self, column: Any) -> Any:
        """Return the integers of a column, as an expression."""
        return (column * float(self.factor)).round().cast("int64") - self.centre


@dataclass(frozen=True)
class _Summed:
    """The numbers that are added up: a target and its square, and costs."""

    target: _Quantum | None
    cost: _Quantum | None

    def columns(self, job: _Job, ibis: Any) -> dict[str, Any]:
        """Return what rows add, as expressions."""
        found: dict[str, Any] = {}
        units = job._units(job.rows)
        weight = ibis.literal(1, "int64") if units is None else units

        most = job.largest_unit()

        def add(name: str, number: Any, largest: int) -> None:
            product = number if units is None else number * weight
            # Sums that may leave 64 bits are decimals.
            is_large = job.facts["rows"] * most * largest >= _MOST_SUM
            found[name] = product.cast("decimal(38, 0)") if is_large else product

        if self.target is not None:
            t = self.target.of(job._clean(job.rows, cast(str, job.roles.target)))
            add("total", t, self.target.widest)
            add("square", t * t, self.target.widest**2)
        if self.cost is not None:
            each = [self.cost.of(job._clean(job.rows, name)) for name in job.roles.costs]
            for i, number in enumerate(each):
                add(f"cost{i}", number, self.cost.widest)
            add("least", ibis.least(*each), self.cost.widest)
            add("greatest", ibis.greatest(*each), self.cost.widest)
        return found

    def costs(self, job: _Job, arrays: Mapping[str, NDArray[Any]]) -> CostSums | None:
        """Return the sums of costs."""
        quantum = self.cost
        if quantum is None:
            return None
        weights = arrays.get("u", arrays.get("n"))
        n_units = int(arrays["least"].shape[0]) if weights is None else int(weights.sum())
        # The centre was taken off every cost.
        moved = quantum.centre * (1 if weights is None else weights.astype(object))
        names = [f"cost{i}" for i in range(len(job.roles.costs))]
        sums = np.stack([arrays[name].astype(object) + moved for name in names], axis=1)
        whole = quantum.centre * n_units
        unit = quantum.unit * Fraction(1, 10**job.decimals)
        return CostSums(
            job.roles.costs,
            sums,
            unit,
            2 * quantum.error * n_units * unit,
            int(arrays["least"].sum()) + whole,
            int(arrays["greatest"].sum()) + whole,
        )

    def squares(
        self, job: _Job, arrays: Mapping[str, NDArray[Any]], counts: NDArray[np.int64] | None
    ) -> SquareSums | None:
        """Return the sums of the target."""
        quantum = self.target
        if quantum is None:
            return None
        weights = arrays.get("u", counts)
        if weights is None:
            weights = np.ones(len(arrays["total"]), dtype=np.int64)
        return SquareSums(
            weights,
            arrays["total"],
            arrays["square"],
            quantum.centre * quantum.unit,
            quantum.unit,
            Fraction(1, 10**job.decimals),
            quantum.error,
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


def _rank(column: Any, points: Sequence[Any], first: int) -> Any:
    """Return how many of some cut points each value is above, plus `first`, as an expression."""
    import ibis

    if not len(points):
        return ibis.literal(first, "int64")
    middle = len(points) // 2
    below, above = points[:middle], points[middle + 1 :]
    return ibis.ifelse(
        column <= points[middle],
        _rank(column, below, first),
        _rank(column, above, first + middle + 1),
    )


def _literal(value: Any, dtype: Any) -> Any:
    """Return a time as a literal of the engine."""
    import ibis

    if dtype.is_date():
        return ibis.literal(value.astype("M8[D]").item(), "date")
    moment = value.astype("M8[us]").item()
    if dtype.timezone is not None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return ibis.literal(moment, dtype.copy(nullable=True))


def _int_array(column: Any) -> NDArray[Any]:
    """Return integers of Arrow: as int64, or as Python's where they are decimals that need it."""
    if str(column.type).startswith("decimal"):
        numbers = [int(value) for value in column.to_pylist()]
        fits = all(-_MOST_SUM < number < _MOST_SUM for number in numbers)
        return np.array(numbers, dtype=np.int64 if fits else object)
    return np.asarray(column.to_numpy(), dtype=np.int64)
