"""A table as groups of rows that no test tells apart: what a search needs, and nothing else."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_squares import SquareSums

from ._encoder import SeenColumn, TableEncoder
from ._named import NamedArray, side_by_side
from ._table import Kind, Table
from ._times import zone_of

__all__ = ["Coded", "CostSums", "Reduced", "SeenTable", "Words", "pack"]

_FORMAT = 1

# Codes of several columns share one integer below this.
_MOST_KEYS = 2**62


@dataclass(frozen=True)
class Coded:
    """A column as small integers, one part of packed words.

    Attributes
    ----------
    values : array
        What each code stands for: one of the values that no test tells apart.
    word, stride : int
        The code of a row is ``words[word] // stride % len(values)``.
    """

    values: NDArray[Any]
    word: int
    stride: int


class Words:
    """Where the codes of columns go: as many in one integer of 64 bits as fit."""

    def __init__(self) -> None:
        self.n_words = 0
        self._used = 1

    def add(self, values: NDArray[Any]) -> Coded:
        """Return the place of one more column with so many codes."""
        size = max(len(values), 1)
        if not self.n_words or self._used * size > _MOST_KEYS:
            self.n_words, self._used = self.n_words + 1, 1
        stride, self._used = self._used, self._used * size
        return Coded(values, self.n_words - 1, stride)


def pack(places: Sequence[Coded], codes: Sequence[Any], n_words: int) -> list[Any]:
    """Return the words of codes that are arrays, or expressions of an engine."""
    words: list[Any] = [0] * n_words
    for place, code in zip(places, codes, strict=True):
        words[place.word] = words[place.word] + code * place.stride
    return words


@dataclass(frozen=True)
class SeenTable:
    """What is known of the columns: enough to choose the tests, and to read them back.

    Attributes
    ----------
    names, kinds : list of str
        Of the columns; kinds as in :class:`Table`.
    values, rows : list of arrays
        By column a value for each of its codes, with the missing one last, and how many rows have
        it; 0 for one of the categories that are joined since they are rare.
    thresholds : dict
        By column its cut points.
    categories : list of int
        The columns whose values have no order.
    levels, zones : dict
        By column its levels, and the name of its time zone.
    min_category_rows, category_tests
        As for :class:`TableEncoder`.
    identifiers : list of int
        The columns whose values have no tests since they name single rows.
    """

    names: list[str]
    kinds: list[Kind]
    values: list[NDArray[Any]]
    rows: list[NDArray[np.int64]]
    thresholds: dict[int, list[Any]]
    categories: list[int]
    levels: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    zones: dict[int, str] = field(default_factory=dict)
    min_category_rows: int = 1
    category_tests: str = "one"
    identifiers: list[int] = field(default_factory=list)

    def table(self, columns: Sequence[NDArray[Any]]) -> Table:
        """Return columns of such values as a table."""
        zones = {column: zone_of(name) for column, name in self.zones.items()}
        return Table(columns, self.kinds, self.names, levels=self.levels, zones=zones)

    def encoder(self) -> TableEncoder:
        """Return the encoder with the tests of these columns."""
        encoder = TableEncoder(
            thresholds=self.thresholds,
            categorical_features=self.categories,
            min_category_rows=self.min_category_rows,
            category_tests=self.category_tests,
        )
        seen = [SeenColumn(np.maximum(rows, 1), rows) for rows in self.rows]
        with warnings.catch_warnings():
            # Who reduced the table has been warned.
            warnings.simplefilter("ignore")
            encoder._fit_seen(self.table(self.values), seen)
        encoder.identifiers_ = tuple(self.names[i] for i in self.identifiers)
        return encoder


@dataclass(frozen=True)
class CostSums:
    """What labels or treatments cost groups of rows together, weights included.

    Attributes
    ----------
    names : list of str
        The columns that the costs are from.
    sums : array of shape (n_groups, n_labels)
        Integers, as Python's where they may be large.
    unit : Fraction
        What one stands for.
    error : Fraction
        How far the sums of all rows together are off, at most.
    least, greatest : int
        The sums of the least and of the greatest cost of each row.
    """

    names: list[str]
    sums: NDArray[Any]
    unit: Fraction
    error: Fraction
    least: int
    greatest: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of groups and of labels."""
        return self.sums.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the sums in the units of the costs."""
        above, below = self.unit.numerator, self.unit.denominator
        exact = self.sums.astype(object) * above
        # A quotient of Python's integers is rounded once.
        floats = np.array([[x / below for x in line] for line in exact.tolist()])
        return floats.astype(np.float64 if dtype is None else dtype)


@dataclass(frozen=True, eq=False, repr=False)
class Reduced:
    """A table reduced to groups of rows that no candidate test tells apart.

    Made by :func:`reduce`, and learned from by ``fit_reduced`` of the estimators. It can be
    pickled, and written to one Parquet file.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table; those of weight zero are left out.
    n_groups : int
        Number of groups.
    feature_names : list of str
        The columns that trees may ask.
    target : array of shape (n_groups,) or (n_groups, n_outputs), or None
        What is to be predicted, where each value has groups of its own.
    weights : array of shape (n_groups,)
        The weight of each group: exact decimals, or numbers of rows.
    counts : int64 array of shape (n_groups,)
        The number of rows of each group.
    sensitive : array of shape (n_groups,) or (n_groups, n_columns), or None
        The sensitive columns.
    costs : CostSums or None
        What labels or treatments cost the groups.
    sums : SquareSums or None
        Sums of the target, where it is a number that each row has its own of.
    asked : dict
        What was asked of the columns: thresholds and the like.

    Notes
    -----
    .. versionadded:: 0.1
    """

    seen: SeenTable
    words: NDArray[np.int64]
    features: list[Coded]
    n_rows: int
    row_counts: NDArray[np.int64] | None = None
    units: NDArray[np.int64] | None = None
    unit: Fraction = Fraction(1)
    target_name: str | None = None
    classes: Coded | None = None
    groups: dict[str, Coded] = field(default_factory=dict)
    costs: CostSums | None = None
    sums: SquareSums | None = None
    asked: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Coded] = field(default_factory=dict)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.words.shape[1])

    @property
    def feature_names(self) -> list[str]:
        """The columns that trees may ask."""
        return list(self.seen.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of groups and of columns."""
        return self.n_groups, len(self.features)

    def __len__(self) -> int:
        """Return the number of groups."""
        return self.n_groups

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        if self.row_counts is None:
            return np.ones(self.n_groups, dtype=np.int64)
        return self.row_counts

    @property
    def weights(self) -> NDArray[Any]:
        """The weight of each group."""
        if self.units is None:
            return self.counts
        if self.unit == 1:
            return self.units
        if int(self.units.max()) < 10**15:
            # The float64 nearest to a decimal of so few digits is read as that decimal.
            return np.asarray(self.units / float(1 / self.unit))
        return np.array([int(unit) * self.unit for unit in self.units], dtype=object)

    @property
    def target(self) -> NDArray[Any] | None:
        """What is to be predicted, where each value has groups of its own."""
        if self.outputs:
            columns = [self._decode(place) for place in self.outputs.values()]
            return NamedArray(side_by_side(columns), list(self.outputs))
        return None if self.classes is None else self._decode(self.classes)

    @property
    def sensitive(self) -> NDArray[Any] | None:
        """The sensitive columns."""
        columns = [self._decode(place) for place in self.groups.values()]
        if len(columns) < 2:
            return columns[0] if columns else None
        rows = np.empty((self.n_groups, len(columns)), dtype=object)
        for place, column in enumerate(columns):
            rows[:, place] = column
        return rows

    @cached_property
    def encoder(self) -> TableEncoder:
        """The tests."""
        return self.seen.encoder()

    def table(self) -> Table:
        """Return one row for each group, with values that stand for those of its rows."""
        return self.seen.table([self._decode(place) for place in self.features])

    def codes(self, place: Coded) -> NDArray[np.int64]:
        """Return the codes of a column, which are positions in its values."""
        codes: NDArray[np.int64] = self.words[place.word] // place.stride
        return codes % max(len(place.values), 1)

    def _decode(self, place: Coded) -> NDArray[Any]:
        decoded: NDArray[Any] = place.values[self.codes(place)]
        return decoded

    @property
    def nbytes(self) -> int:
        """Memory of the groups."""
        arrays = (self.words, self.row_counts, self.units)
        return sum(array.nbytes for array in arrays if array is not None)

    def __repr__(self) -> str:
        columns = f"{len(self.features)} columns, {len(self.encoder.tests_)} questions"
        return f"<Reduced: {self.n_rows} rows in {self.n_groups} groups, {columns}>"

    # ---- files -------------------------------------------------------------------------------

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the groups to one Parquet file, with all that :meth:`from_parquet` needs.

        Parameters
        ----------
        path : str or path
            Where to write; an existing file is replaced once the new one is complete.
        """
        from pyarrow import parquet

        target, whole = Path(path), self._arrow()
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            parquet.write_table(whole, partial, compression="zstd")
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Reduced:
        """Read what :meth:`to_parquet` wrote.

        Parameters
        ----------
        path : str or path
            The file.
        """
        import pyarrow
        from pyarrow import parquet

        try:
            found = parquet.read_table(path)
            schema = json.loads((found.schema.metadata or {})[b"certree"])
            if schema["format"] != _FORMAT:
                raise ValueError(f"format {schema['format']!r}")
            return _read(schema, found)
        except FileNotFoundError:
            raise
        except (
            KeyError,
            IndexError,
            ValueError,
            TypeError,
            ArithmeticError,
            pyarrow.ArrowException,
        ) as error:
            raise ValueError(
                f"{os.fspath(path)!r} is not a reduced table that this version of certree reads "
                f"({error}); write it with Reduced.to_parquet."
            ) from error

    def _arrow(self) -> Any:
        import pyarrow

        columns: dict[str, Any] = {f"word{i}": word for i, word in enumerate(self.words)}
        columns |= {"rows": self.row_counts, "weight": self.units}
        if self.costs is not None:
            columns |= {f"cost{i}": _texts(sums) for i, sums in enumerate(self.costs.sums.T)}
        if self.sums is not None:
            columns |= {"total": _texts(self.sums.totals), "square": _texts(self.sums.squares)}
        given = {name: array for name, array in columns.items() if array is not None}
        # Numbers of NumPy and times that users list are written as Python and ISO 8601 have them.
        schema = json.dumps(_schema(self), ensure_ascii=False, default=_plain)
        return pyarrow.table(given).replace_schema_metadata({"certree": schema})


def _schema(reduced: Reduced) -> dict[str, Any]:
    """Return everything but the columns of the groups, as values of JSON."""
    seen, costs, sums = reduced.seen, reduced.costs, reduced.sums
    return {
        "format": _FORMAT,
        "n_rows": reduced.n_rows,
        "unit": str(reduced.unit),
        "features": [
            {
                "name": name,
                "kind": seen.kinds[i],
                "codes": _write(reduced.features[i]),
                "rows": seen.rows[i].tolist(),
                "thresholds": seen.thresholds.get(i),
                "is_category": i in seen.categories,
                "levels": list(seen.levels[i]) if i in seen.levels else None,
                "zone": seen.zones.get(i),
            }
            for i, name in enumerate(seen.names)
        ],
        "min_category_rows": seen.min_category_rows,
        "category_tests": seen.category_tests,
        "identifiers": seen.identifiers,
        "asked": reduced.asked,
        "target": reduced.target_name,
        "classes": None if reduced.classes is None else _write(reduced.classes),
        "groups": {name: _write(place) for name, place in reduced.groups.items()},
        "outputs": {name: _write(place) for name, place in reduced.outputs.items()},
        "costs": None
        if costs is None
        else {
            "names": costs.names,
            "unit": str(costs.unit),
            "error": str(costs.error),
            "least": costs.least,
            "greatest": costs.greatest,
        },
        "sums": None
        if sums is None
        else {name: str(getattr(sums, name)) for name in ("centre", "quantum", "weight", "error")},
    }


def _read(schema: Mapping[str, Any], found: Any) -> Reduced:
    """Return the object that a file describes."""
    columns = {name: found.column(name).to_numpy() for name in found.column_names}
    features = [_read_codes(one["codes"]) for one in schema["features"]]

    def by_column(key: str) -> dict[int, Any]:
        entries = enumerate(one[key] for one in schema["features"])
        return {place: value for place, value in entries if value is not None}

    seen = SeenTable(
        [one["name"] for one in schema["features"]],
        [one["kind"] for one in schema["features"]],
        [place.values for place in features],
        [np.array(one["rows"], dtype=np.int64) for one in schema["features"]],
        by_column("thresholds"),
        [place for place, is_category in by_column("is_category").items() if is_category],
        {place: tuple(levels) for place, levels in by_column("levels").items()},
        by_column("zone"),
        schema["min_category_rows"],
        schema["category_tests"],
        schema["identifiers"],
    )
    costs, sums, units = schema["costs"], schema["sums"], columns.get("weight")
    n_words = sum(name.startswith("word") for name in columns)
    if costs is not None:
        table = [_integers(columns[f"cost{i}"]) for i in range(len(costs["names"]))]
        exact = (Fraction(costs["unit"]), Fraction(costs["error"]))
        costs = CostSums(
            costs["names"], np.stack(table, axis=1), *exact, costs["least"], costs["greatest"]
        )
    if sums is not None:
        total, square = _integers(columns["total"]), _integers(columns["square"])
        weights = columns["rows"] if units is None else units
        sums = SquareSums(weights, total, square, **{k: Fraction(v) for k, v in sums.items()})
    classes = None if schema["classes"] is None else _read_codes(schema["classes"])
    groups = {name: _read_codes(place) for name, place in schema["groups"].items()}
    outputs = {name: _read_codes(place) for name, place in schema.get("outputs", {}).items()}
    labels = (*groups.values(), *outputs.values(), *(() if classes is None else (classes,)))
    for place in (*features, *labels):
        if not (0 <= place.word < n_words and place.stride > 0 and len(place.values)):
            raise ValueError("a column has no codes, or names a word that the file does not have")
    return Reduced(
        seen,
        np.stack([columns[f"word{i}"] for i in range(n_words)]),
        features,
        schema["n_rows"],
        columns.get("rows"),
        units,
        Fraction(schema["unit"]),
        schema["target"],
        classes,
        groups,
        costs,
        sums,
        schema["asked"],
        outputs,
    )


def _write(place: Coded) -> dict[str, Any]:
    values = place.values
    plain = values.view(np.int64) if values.dtype.kind in "mM" else values
    listed = [None if value != value else value for value in plain.tolist()]
    return {
        "dtype": values.dtype.str,
        "values": listed,
        "word": place.word,
        "stride": place.stride,
    }


def _read_codes(given: Mapping[str, Any]) -> Coded:
    dtype = np.dtype(given["dtype"])
    values: NDArray[Any]
    if dtype.kind in "mM":
        values = np.array(given["values"], dtype=np.int64).view(dtype)
    elif dtype.kind == "O":
        values = np.empty(len(given["values"]), dtype=object)
        values[:] = given["values"]
    else:
        values = np.array(
            [np.nan if value is None else value for value in given["values"]], dtype=dtype
        )
    return Coded(values, int(given["word"]), int(given["stride"]))


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _texts(numbers: Iterable[Any]) -> list[str]:
    """Return integers of any size as texts."""
    return [str(int(number)) for number in numbers]


def _integers(texts: Iterable[Any]) -> NDArray[Any]:
    """Return texts as integers: of 64 bits where all fit."""
    numbers = [int(text) for text in texts]
    fits = all(-(2**62) < number < 2**62 for number in numbers)
    return np.array(numbers, dtype=np.int64 if fits else object)
