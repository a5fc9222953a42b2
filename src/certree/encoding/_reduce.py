"""Reducing a table by queries of the engine that holds it: the tests first, then the groups."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import warn
from certree.numbers._fixed_squares import SquareSums

from ._asked import is_index
from ._columns import MOST_CATEGORIES, MOST_SUM, ColumnQueries, Roles, int_array, kind_of, rank_of
from ._encoder import TableEncoder
from ._reduced import Coded, CostSums, Reduced, SeenTable, Words, pack
from ._sources import Source, open_table
from ._texts import as_array

__all__ = ["reduce"]

# A target of integers with more different values than this is a number, not a class.
_FEW_TARGETS = 100

# Groups are nearly as many as rows if they are more than this share, of at least so many rows.
_NEARLY, _MANY = 0.5, 10_000


def reduce(
    table: Any,
    *,
    features: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    costs: Sequence[str] | None = None,
    thresholds: str | int | Mapping[str, Any] = "auto",
    categorical_features: str | Sequence[Any] = "auto",
    min_category_rows: int = 1,
    category_tests: str = "one",
    identifiers: str = "drop",
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
    target : str or sequence of str, optional
        The column to be predicted. Several are outputs, or time and event of a
        :class:`SurvivalTree`: rows with different values are in different groups, so that each may
        have 1000 values.
    sample_weight : str, optional
        A column of weights: decimals of up to nine digits after the point, not negative.
    sensitive : str or sequence of str, optional
        Columns of groups, for :class:`FairTreeClassifier`.
    costs : sequence of str, optional
        Columns with what each label costs a row, for :class:`CostSensitiveTreeClassifier`, or what
        each treatment brings it, for :class:`PolicyTree`.
    thresholds, categorical_features, min_category_rows, category_tests, identifiers
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
    for name, size in (("max_groups", max_groups), ("memory_limit", memory_limit)):
        if size is not None and not (is_index(size) and size > 0):
            raise ValueError(f"{name} must be a positive integer, got {size!r}.")
    if isinstance(costs, str):
        raise TypeError(f"costs must be a list of columns, got the text {costs!r}.")
    if not isinstance(sample_weight, str | None):
        raise TypeError(f"sample_weight must be the name of one column, got {sample_weight!r}.")
    outputs = [] if isinstance(target, str | None) else list(target)
    if not all(isinstance(name, str) for name in outputs) or len(set(outputs)) < len(outputs):
        raise TypeError(f"target must name one column, or several different ones, got {target!r}.")
    if outputs and target_kind == "numbers":
        raise ValueError(
            "target_kind='numbers' adds up one target; for several, leave it out, so that groups "
            "keep their values."
        )
    source = open_table(table, memory_limit)
    given = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    single = target if isinstance(target, str) else None
    roles = Roles(single, sample_weight, given, list(costs or ()), outputs)
    names = _check_columns(source, features, roles)
    job = _Reduction(source, roles, names)
    rules = TableEncoder(
        thresholds=thresholds,
        categorical_features=categorical_features,
        min_category_rows=min_category_rows,
        category_tests=category_tests,
        identifiers=identifiers,
    )
    seen = job.look_at_columns(rules)
    return job.group(seen, rules.get_params(), target_kind, form, max_groups)


def _check_columns(source: Source, features: Sequence[str] | None, roles: Roles) -> list[str]:
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
        kind_of(name, schema[name])
    for name in [*roles.costs, *([] if roles.weight is None else [roles.weight])]:
        if not schema[name].is_numeric():
            raise ValueError(
                f"The column {name!r} must hold numbers, since it is in {used[name]}, but "
                f"it is of type {schema[name]}."
            )
    return names


class _Layout(NamedTuple):
    """Where the codes of features, target and sensitive columns go, and the words they make."""

    features: list[Coded]
    target: Coded | None
    groups: dict[str, Coded]
    outputs: dict[str, Coded]
    words: list[Any]


class _Reduction(ColumnQueries):
    """The queries of one reduction."""

    def group(
        self, seen: SeenTable, asked: dict[str, Any], kind: str, form: str, max_groups: int
    ) -> Reduced:
        """Return the groups of rows."""
        import ibis

        layout = self._lay_out(seen, kind)
        summed = self._sums(layout.target is None)
        columns = {f"word{i}": word for i, word in enumerate(layout.words)}
        keys, units = list(columns), self._units(self.rows)
        if units is not None:
            columns["u"] = units
        rows = self.rows.select(**columns, **summed.columns(self, ibis))
        if form == "groups":
            added = {name: rows[name].sum() for name in rows.columns if name not in keys}
            query = rows.group_by(keys).aggregate(n=rows.count(), **added).limit(max_groups + 1)
            arrays = self._read_groups(query, max_groups)
            order = np.lexsort([arrays[key] for key in keys])
            arrays = {name: array[order] for name, array in arrays.items()}
        else:
            arrays = self._read_groups(rows, None)
        self._check_groups(arrays)
        return Reduced(
            seen,
            np.stack([arrays[key] for key in keys]),
            layout.features,
            int(self.facts["rows"]),
            arrays.get("n"),
            arrays.get("u"),
            Fraction(1, 10**self.decimals),
            self.roles.target,
            layout.target,
            layout.groups,
            summed.costs(self, arrays),
            summed.squares(self, arrays),
            asked,
            layout.outputs,
        )

    def _lay_out(self, seen: SeenTable, kind: str) -> _Layout:
        """Return where the codes of all columns go, and the words that they make."""
        words, target = Words(), None
        features = [words.add(values) for values in seen.values]
        codes = [self._code(seen, i) for i in range(len(self.names))]
        labelled: dict[str, Coded] = {}
        outputs: dict[str, Coded] = {}
        if self.roles.target is not None and self._has_classes(kind):
            target = words.add(self._labels(self.roles.target, "target"))
            codes.append(self._code_of_labels(self.roles.target, target.values))
        for names, role, coded in (
            (self.roles.outputs, "target", outputs),
            (self.roles.sensitive, "sensitive", labelled),
        ):
            for name in names:
                coded[name] = words.add(self._labels(name, role))
                codes.append(self._code_of_labels(name, coded[name].values))
        one = [] if target is None else [target]
        places = [*features, *one, *outputs.values(), *labelled.values()]
        packed = pack(places, [code.cast("int64") for code in codes], words.n_words)
        return _Layout(features, target, labelled, outputs, packed)

    def _check_groups(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Refuse a table that changed meanwhile, and say if grouping was of little use."""
        n_groups, n_rows = len(arrays["word0"]), int(self.facts["rows"])
        counts = arrays.get("n")
        n_found = n_groups if counts is None else int(counts.sum())
        if n_found != n_rows:
            raise RuntimeError(
                f"The table changed while it was reduced: it had {n_rows} rows, and then "
                f"{n_found}. Reduce a copy of it, or within one transaction."
            )
        if counts is not None and n_rows >= _MANY and n_groups > _NEARLY * n_rows:
            warn(
                f"The {n_rows} rows are in {n_groups} groups, so that grouping saves little. Ask "
                "for fewer cut points (thresholds=8) or fewer columns; or use form='rows', which "
                "reads the rows in batches, packed, without grouping them."
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
                parts[name].append(int_array(batch[name]))
        return {name: np.concatenate(arrays) for name, arrays in parts.items()}

    def _code(self, seen: SeenTable, index: int) -> Any:
        """Return the code of a feature in every row, as an expression."""
        import ibis

        name, kind, values = self.names[index], self.kinds[index], seen.values[index]
        column = self._clean(self.rows, name)
        absent = bool(self.facts[f"absent{index}"])
        n_present = len(values) - absent
        if n_present <= 1:
            code = ibis.literal(0, "int32")
        elif index in seen.thresholds and kind != "ordered":
            points: list[Any] = seen.thresholds[index]
            if kind in ("date", "zoned"):
                points = [_literal(value, column.type()) for value in values[: n_present - 1]]
            code = rank_of(column, points)
        else:
            code = self._code_of_labels(name, values[:n_present])
        if not absent or len(values) == 1:
            return code
        return ibis.ifelse(column.isnull(), ibis.literal(len(values) - 1, "int32"), code)

    def _code_of_labels(self, name: str, values: NDArray[Any]) -> Any:
        """Return the place of each row's value among some values; 0 for all others."""
        import ibis

        column = self._clean(self.rows, name)
        if column.type().is_boolean():
            column = ibis.ifelse(column, 1, 0)
            values = values.astype(np.int64)
        pairs = [
            (column == value, ibis.literal(place, "int32"))
            for place, value in enumerate(values.tolist())
            if place
        ]
        zero = ibis.literal(0, "int32")
        return ibis.cases(*pairs, else_=zero) if pairs else zero

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
        query = self._counted(name).limit(MOST_CATEGORIES + 1)
        values, _, _ = self._read_counted(query, name)
        if len(values) > MOST_CATEGORIES:
            raise ValueError(
                f"The {role} column {name!r} has more than {MOST_CATEGORIES} different values. "
                + (
                    "For squared errors, use target_kind='numbers'; for other losses, round it in "
                    "the table."
                    if name == self.roles.target
                    else "Give classes, or round numbers and times in the table."
                )
            )
        plain = values.to_pylist()
        if self.schema[name].is_integer():
            plain = [int(value) for value in plain]
        return as_array(sorted(plain))

    def _sums(self, has_no_classes: bool) -> _Summed:
        """Return which numbers are added up, as integers of which quantum."""
        target = self.roles.target if has_no_classes else None
        return _Summed(
            None if target is None else self._quantum([target]),
            None if not self.roles.costs else self._quantum(self.roles.costs),
        )

    def _quantum(self, names: Sequence[str]) -> _Quantum:
        """Return the integers that stand for the numbers of some columns."""
        low = min(float(self.facts[self._fact("low", name)]) for name in names)
        high = max(float(self.facts[self._fact("high", name)]) for name in names)
        decimals = self._exact_decimals(names)
        # The product of a square and a weight fits 64 bits.
        most = math.isqrt(MOST_SUM // self.largest_unit())
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
        # A float64 with so few digits that it is a multiple of the unit, or larger than that.
        centre = round(Fraction(low / 2 + high / 2) * factor)
        # A difference is off by a last bit of its own; a product with a power of two is exact.
        return _Quantum(factor, centre, Fraction(1, 2) + Fraction(1, 2**16), ends)


@dataclass(frozen=True)
class _Quantum:
    """Integers that stand for numbers: ``x * factor - centre``, rounded if there is an error."""

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
        if not self.error:
            return (column * float(self.factor)).round().cast("int64") - self.centre
        # Numbers far from zero times the factor may leave 64 bits.
        return (
            ((column - float(self.centre * self.unit)) * float(self.factor)).round().cast("int64")
        )


@dataclass(frozen=True)
class _Summed:
    """The numbers that are added up: a target and its square, and costs."""

    target: _Quantum | None
    cost: _Quantum | None

    def columns(self, job: _Reduction, ibis: Any) -> dict[str, Any]:
        """Return what rows add, as expressions."""
        found: dict[str, Any] = {}
        units = job._units(job.rows)
        weight = ibis.literal(1, "int64") if units is None else units

        most = job.largest_unit()

        def add(name: str, number: Any, largest: int) -> None:
            product = number if units is None else number * weight
            # Sums that may leave 64 bits are decimals.
            is_large = job.facts["rows"] * most * largest >= MOST_SUM
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

    def costs(self, job: _Reduction, arrays: Mapping[str, NDArray[Any]]) -> CostSums | None:
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

    def squares(self, job: _Reduction, arrays: Mapping[str, NDArray[Any]]) -> SquareSums | None:
        """Return the sums of the target."""
        quantum = self.target
        if quantum is None:
            return None
        weights = arrays.get("u", arrays.get("n"))
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


def _literal(value: Any, dtype: Any) -> Any:
    """Return a time as a literal of the engine."""
    import ibis

    if dtype.is_date():
        return ibis.literal(value.astype("M8[D]").item(), "date")
    moment = value.astype("M8[us]").item()
    if dtype.timezone is not None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return ibis.literal(moment, dtype.copy(nullable=True))
