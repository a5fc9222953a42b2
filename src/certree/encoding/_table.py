"""Read tables of any kind into columns of numbers, flags and categories.

The table may be a NumPy array, a list of lists, a sparse matrix, a pandas or a polars frame. The
rest of the package sees a :class:`Table`, in which a column is one of three arrays: float64 (or
bool) with NaN for missing, object with strings and None for missing, or datetime64 or timedelta64
with NaT (:mod:`~certree.encoding._times`). Neither pandas nor polars is imported: a frame of theirs
can only arrive when the user has imported them.

A column of Python objects is numbers or text, never both: a category 1 and a category "1" would
read the same in a tree and yet be different, so mixtures are refused with a hint.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Number
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ._named import NamedArray
from ._not_tables import refuse_other_forms
from ._sparse import SparseColumns
from ._times import form_of, read_time_array, read_time_objects, zone_of

__all__ = ["Kind", "Table", "check_columns", "read_table"]

Kind = Literal["number", "flag", "text", "category", "ordered", "date", "zoned", "duration"]
Column = NDArray[Any]
Levels = tuple[Any, ...]


class Table:
    """A table as columns of numbers, flags and categories.

    Made by :func:`read_table`.

    Attributes
    ----------
    n_rows, n_columns : int
        Shape of the table.
    names : list of str
        Column names, ``x0``, ``x1``, ... where the table has none.
    has_names : bool
        Whether the table came with names.
    kinds : list of str
        What the type of each column says: boolean columns are "flag", strings "text", categorical
        types "category" or "ordered", times "date", "zoned" (with a time zone) or "duration", and
        all others "number".
    levels : dict
        By index of an ordered column its levels, lowest first.
    zones : dict
        By index of a column of times with a time zone that zone.
    matrix : ndarray or None
        The table as one array if it came as one of numbers or booleans.
    """

    __slots__ = (
        "_columns",
        "has_names",
        "kinds",
        "levels",
        "matrix",
        "n_columns",
        "n_rows",
        "names",
        "zones",
    )

    def __init__(
        self,
        columns: Sequence[Column] | None,
        kinds: list[Kind],
        names: list[str] | None,
        *,
        matrix: NDArray[Any] | None = None,
        levels: dict[int, Levels] | None = None,
        zones: dict[int, Any] | None = None,
    ) -> None:
        if matrix is not None:
            self.n_rows, self.n_columns = matrix.shape
        elif columns is not None:
            self.n_rows, self.n_columns = len(columns[0]), len(columns)
        self._columns = columns
        self.matrix = matrix
        self.kinds = kinds
        self.levels = {} if levels is None else levels
        self.zones = {} if zones is None else zones
        self.has_names = names is not None
        self.names = [f"x{i}" for i in range(self.n_columns)] if names is None else names

    def column(self, index: int) -> Column:
        """Return a column as float64 with NaN, bool, object (text) with None, or times with NaT."""
        if self._columns is not None:
            return self._columns[index]
        assert self.matrix is not None
        column = self.matrix[:, index]
        return column if column.dtype == np.bool_ else column.astype(np.float64, copy=False)

    def select(self, rows: NDArray[Any]) -> Table:
        """Return the table of some rows, given by a mask or by indices."""
        names = self.names if self.has_names else None
        if self._columns is not None:
            columns: Sequence[Column] = (
                self._columns.select(rows)
                if isinstance(self._columns, SparseColumns)
                else [column[rows] for column in self._columns]
            )
            return Table(columns, self.kinds, names, levels=self.levels, zones=self.zones)
        assert self.matrix is not None
        return Table(None, self.kinds, names, matrix=self.matrix[rows])

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows, {self.n_columns} columns)"


def read_table(X: Any, *, names: Sequence[str] | None = None) -> Table:
    """Read a table of any kind.

    Parameters
    ----------
    X : array-like, sparse matrix, pandas.DataFrame, polars.DataFrame or Table
        Numbers, booleans, strings, categories, dates, times and durations. NaN, NaT, None,
        ``pandas.NA`` and polars' null are missing values. A :class:`Table` is returned as it is.
    names : sequence of str, optional
        Column names to use instead of those of `X`.

    Returns
    -------
    Table

    Raises
    ------
    TypeError
        If a column holds objects that are neither numbers nor text, or both.
    ValueError
        If `X` is not two-dimensional, is empty, or holds complex or infinite numbers.

    Examples
    --------
    >>> table = read_table([[35, "red"], [None, "blue"]])
    >>> table.kinds
    ['number', 'text']
    >>> table.column(0)
    array([35., nan])
    """
    if isinstance(X, Table):
        return X
    refuse_other_forms(X)
    family = type(X).__module__.partition(".")[0]
    if sparse.issparse(X):
        table = _read_sparse(X)
    elif family == "pandas" and hasattr(X, "columns"):
        table = _read_pandas(X)
    elif family == "polars" and type(X).__name__ == "DataFrame":
        table = _read_polars(X)
    else:
        table = _read_array(X)
        if names is None and isinstance(X, NamedArray):
            names = X.columns
    if names is not None:
        if len(names) != table.n_columns:
            raise ValueError(
                f"names has {len(names)} entries, but the table has {table.n_columns} columns."
            )
        table.names, table.has_names = [str(name) for name in names], True
    return table


def check_columns(
    table: Table, n_columns: int, names: Sequence[str] | None, *, owner: str = "Tree"
) -> None:
    """Check that a table has the columns that were there in training.

    The messages are those of scikit-learn, which users know.

    Parameters
    ----------
    table : Table
        The table to predict for.
    n_columns : int
        Number of columns in training.
    names : sequence of str or None
        Column names in training, None if there were none. Unnamed tables match by position.
    owner : str
        Who is asking, for the message.
    """
    if names is not None and table.has_names and list(names) != table.names:
        unseen = sorted(set(table.names) - set(names))
        missing = sorted(set(names) - set(table.names))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += "Feature names unseen at fit time:\n" + _bullets(unseen)
        if missing:
            message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)
    if table.n_columns != n_columns:
        raise ValueError(
            f"X has {table.n_columns} features, but {owner} is expecting {n_columns} features as "
            "input."
        )


def remember_columns(estimator: Any, X: Any, table: Table) -> None:
    """Set the number and the names of columns, which scikit-learn expects of a fitted estimator.

    Parameters
    ----------
    estimator : estimator
        Whose attributes are set.
    X : table
        The raw table.
    table : Table
        The same table, read. It has the names of polars frames, which scikit-learn before 1.8
        does not look for.
    """
    if table.has_names and len(set(table.names)) < table.n_columns:
        repeated = sorted({name for name in table.names if table.names.count(name) > 1})
        raise ValueError(
            f"Column names must differ, but {repeated} appear more than once; rename the columns, "
            "or pass X.to_numpy()."
        )
    validate_data(estimator, X, reset=True, skip_check_array=True)
    if table.has_names and not hasattr(estimator, "feature_names_in_"):
        estimator.feature_names_in_ = np.array(table.names, dtype=object)


def compare_columns(estimator: Any, X: Any, table: Table) -> None:
    """Check that a table has the columns that :func:`remember_columns` saw.

    Parameters
    ----------
    estimator : estimator
        A fitted one.
    X : table
        The raw table, or one that was read before.
    table : Table
        The same table, read.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if X is table or (names is not None and table.has_names):
        owner = type(estimator).__name__
        check_columns(table, estimator.n_features_in_, names, owner=owner)
    else:
        validate_data(estimator, X, reset=False, skip_check_array=True)


def _bullets(names: Sequence[str]) -> str:
    shown = "".join(f"- {name}\n" for name in names[:5])
    return shown + ("- ...\n" if len(names) > 5 else "")


# --- arrays and lists -----------------------------------------------------------------------------


def _read_array(X: Any) -> Table:
    array = _as_array(X)
    if array.dtype.kind in "US":
        columns = [_read_text(column) for column in array.astype(object).T]
        return Table(columns, ["text"] * len(columns), None)
    if array.dtype.kind in "OmM":
        reads = _read_objects if array.dtype.kind == "O" else _read_times
        return _from_columns([reads(array[:, i], f"column {i}") for i in range(array.shape[1])])
    return _from_matrix(array, None)


def _read_sparse(X: Any) -> Table:
    if X.ndim != 2:
        raise ValueError(
            f"X must be a table of rows and columns, got a sparse array of shape {X.shape}; "
            "Reshape your data."
        )
    _check_shape(X.shape)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is sparse and holds {X.dtype} values.")
    if X.dtype.kind not in "biuf":
        raise TypeError(f"A sparse X must hold numbers or booleans, got dtype {X.dtype}.")
    columns = SparseColumns(X)
    entries = columns.matrix.tocoo()
    infinite = np.flatnonzero(np.isinf(entries.data))
    if len(infinite):
        row, column = entries.row[infinite[0]], entries.col[infinite[0]]
        raise ValueError(_infinity(f"column {column}", int(row)))
    kind: Kind = "flag" if X.dtype.kind == "b" else "number"
    return Table(columns, [kind] * len(columns), None)


def _from_columns(read: list[tuple[Column, Kind, Any]], names: list[str] | None = None) -> Table:
    """Return the table of columns, each with its kind, and its levels or its time zone."""
    columns, kinds = [column for column, _, _ in read], [kind for _, kind, _ in read]
    levels = {i: found for i, (_, kind, found) in enumerate(read) if kind == "ordered"}
    zones = {i: found for i, (_, kind, found) in enumerate(read) if kind == "zoned"}
    return Table(columns, kinds, names, levels=levels, zones=zones)


def _read_times(values: Column, label: str, zone: Any = None) -> tuple[Column, Kind, Any]:
    """Read an array of times, which are in UTC if they have a zone."""
    column = read_time_array(values, label)
    return column, form_of(column, zone is not None), zone


def _from_matrix(array: NDArray[Any], names: list[str] | None) -> Table:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"X must hold numbers, booleans or strings, got dtype {array.dtype}.")
    _check_finite(array, _labels(array.shape[1], names))
    kind: Kind = "flag" if array.dtype.kind == "b" else "number"
    return Table(None, [kind] * array.shape[1], names, matrix=array)


def _as_array(X: Any) -> NDArray[Any]:
    """Return X as a 2-D array, or raise with scikit-learn's messages."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biuf" and X.size:
        return X
    if isinstance(X, np.ma.MaskedArray):
        # check_array would drop the mask and read the masked values as data.
        mask, X = np.ma.getmaskarray(X), np.ma.getdata(X)
        if mask.any():
            X = X.astype(object)
            X[mask] = None
    if isinstance(X, list | tuple):
        # NumPy would turn numbers beside strings into strings, and warns of ragged lists.
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                converted = np.asarray(X)
            if converted.dtype.kind in "US":
                converted = np.asarray(X, dtype=object)
        except (ValueError, Warning):
            lengths = sorted({len(row) for row in X if hasattr(row, "__len__")})
            raise ValueError(
                f"X must be a table, but its rows have different lengths {lengths[:5]}; give every "
                "row the same number of values."
            ) from None
        X = converted
    array: NDArray[Any] = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
    return array


def _check_shape(shape: tuple[int, ...]) -> None:
    """Refuse empty tables, in scikit-learn's words."""
    for length, what in ((shape[0], "sample"), (shape[1], "feature")):
        if length == 0:
            found = f"Found array with 0 {what}(s) (shape={tuple(shape)})"
            raise ValueError(f"{found} while a minimum of 1 is required.")


def _check_finite(values: NDArray[Any], labels: list[str]) -> None:
    """Refuse infinities in a column, or in a matrix with one label per column."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.itemsize > 8:
            values = values.astype(np.float64)  # as it is read
        # For most tables the sum is finite, and no array has to be allocated.
        if np.isfinite(values.sum()):
            return
    infinite = np.isinf(values)
    if infinite.any():
        row, *column = (int(i) for i in np.argwhere(infinite)[0])
        raise ValueError(_infinity(labels[column[0] if column else 0], row))


def _infinity(label: str, row: int) -> str:
    return (
        f"X contains infinity or a value too large for float64: {label}, row {row}. Replace it by "
        "a number, or by NaN if the value is unknown."
    )


def _labels(n_columns: int, names: list[str] | None) -> list[str]:
    """Return the names of the columns in messages."""
    if names is None:
        return [f"column {i}" for i in range(n_columns)]
    return [f"column {name!r}" for name in names]


# --- columns of Python objects --------------------------------------------------------------------


def _read_objects(column: NDArray[Any], label: str) -> tuple[Column, Kind, Any]:
    """Read an object column as numbers, flags, text or times, by the types that it holds.

    The last value is the time zone.
    """
    types = set(map(type, column))
    if any(t.__name__ in ("NAType", "NaTType") for t in types):
        column = _blank(column, lambda v: type(v).__name__ in ("NAType", "NaTType"))
        types = set(map(type, column))
    text = {t for t in types if issubclass(t, str | bytes)}
    if text and any(issubclass(t, float | np.floating) for t in types):
        column = _blank(column, lambda v: isinstance(v, float | np.floating) and v != v)
        types = set(map(type, column))
    present = types - {type(None)}
    if text and text == present:
        return _read_text(column), "text", None
    if present and all(issubclass(t, _TIMES) for t in present):
        is_nat = any(issubclass(t, np.datetime64 | np.timedelta64) for t in present)
        column = _blank(column, lambda v: v != v) if is_nat else column
        times, zone = read_time_objects(column, label)
        return times, form_of(times, zone is not None), zone
    _check_types(present, text, label)
    try:
        numbers = column.astype(np.float64)
    except (OverflowError, ValueError, TypeError):
        raise ValueError(
            f"X contains a number that float64 cannot hold, in {label}; rescale it, or give the "
            "values as strings if they are names."
        ) from None
    _check_finite(numbers, [label])
    if present and all(issubclass(t, bool | np.bool_) for t in present):
        return (numbers.astype(np.bool_) if types == present else numbers), "flag", None
    return numbers, "number", None


def _blank(column: NDArray[Any], is_missing: Callable[[Any], bool]) -> NDArray[Any]:
    """Return the column with None for missing values."""
    result = np.empty(len(column), dtype=object)
    result[:] = [None if is_missing(v) else v for v in column]
    return result


def _check_types(types: set[type], text: set[type], label: str) -> None:
    """Refuse values that are not numbers, and say what to do about them."""
    for t in sorted(types, key=lambda t: t.__name__):
        if issubclass(t, complex | np.complexfloating):
            raise ValueError(f"Complex data not supported: {label} holds {t.__name__} values.")
        if issubclass(t, datetime.time):
            raise ValueError(_clocks(label, t.__name__))
        if issubclass(t, _TIMES):
            others = sorted(t.__name__ for t in types if not issubclass(t, _TIMES))
            raise ValueError(
                f"X must hold dates or something else in a column, but {label} holds both "
                f"({t.__name__} beside {', '.join(others)}); convert it, for instance with "
                "pandas.to_datetime."
            )
        if t not in text and not issubclass(t, Number | Decimal | np.generic):
            raise TypeError(
                f"Every value of X: argument must be a string or a number, but {label} holds a "
                f"{t.__name__!r}; turn it into one or more columns of numbers or strings."
            )
    if text:
        others = sorted(t.__name__ for t in types - text)
        raise TypeError(
            f"X must hold numbers or strings in a column, but {label} holds both (strings beside "
            f"{', '.join(others)}); convert the column to one of them, for instance with "
            "astype(str)."
        )


_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)


def _clocks(where: str, what: object) -> str:
    return (
        f"Times of day without a date are not supported: {where} holds {what}. Convert it to "
        "numbers, such as hours since midnight."
    )


def _read_text(column: NDArray[Any]) -> Column:
    """Return text as plain str, with None for missing."""
    if all(t is str or t is type(None) for t in set(map(type, column))):
        return column
    result = np.empty(len(column), dtype=object)
    result[:] = [
        v.decode("utf-8", "backslashreplace")
        if isinstance(v, bytes)
        else None
        if v is None
        else str(v)
        for v in column
    ]
    return result


# --- data frames ----------------------------------------------------------------------------------


def _read_pandas(X: Any) -> Table:
    _check_shape(X.shape)
    names = _frame_names(list(X.columns))
    dtypes = set(X.dtypes)
    if len(dtypes) == 1 and getattr(next(iter(dtypes)), "str", "|O")[1] in "biuf":
        return _from_matrix(X.to_numpy(), names)
    labels = _labels(X.shape[1], names)
    return _from_columns(
        [_read_series(series, label) for (_, series), label in zip(X.items(), labels, strict=True)],
        names,
    )


def _frame_names(labels: list[Any]) -> list[str] | None:
    """Return the names of a frame, None if they are not strings (as in scikit-learn)."""
    are_text = [isinstance(label, str) for label in labels]
    if all(are_text):
        return [str(label) for label in labels]
    if any(are_text):
        types = sorted({type(label).__name__ for label in labels})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. Convert them all to strings, "
            "by X.columns = X.columns.astype(str) for example."
        )
    return None


def _read_series(series: Any, label: str) -> tuple[Column, Kind, Any]:
    """Read a pandas column by its dtype, with its levels or its time zone."""
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _read_categorical(series.cat, label)
    kind = getattr(dtype, "kind", "O")
    zone = getattr(dtype, "tz", None)
    if zone is not None:
        return _read_times(series.dt.tz_convert(None).to_numpy(), label, zone)
    if isinstance(dtype, np.dtype) and kind in "mM":
        return _read_times(series.to_numpy(), label)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {label} holds {dtype} values.")
    if kind in "biuf":
        if kind == "b" and not series.isna().any():
            return series.to_numpy(dtype=np.bool_), "flag", None
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        _check_finite(numbers, [label])
        return numbers, "flag" if kind == "b" else "number", None
    return _read_objects(series.to_numpy(dtype=object), label)


def _read_categorical(categorical: Any, label: str) -> tuple[Column, Kind, Levels | None]:
    """Read a pandas categorical: its categories once, then its codes."""
    codes = categorical.codes.to_numpy()
    categories = np.asarray(categorical.categories, dtype=object)
    if not all(isinstance(v, str | Number) for v in categories):
        # Intervals, periods, dates: the user has made them categories, so their text is a name.
        categories = np.array([str(v) for v in categories], dtype=object)
    values, kind, _ = _read_objects(categories, label)
    levels = _levels(values) if categorical.ordered and kind != "flag" else None
    # A code of -1 means missing and picks the last entry.
    missing = np.array([None if values.dtype == object else np.nan])
    values = np.concatenate([values, missing]) if (codes < 0).any() else values
    return values[codes], "flag" if kind == "flag" else _kind_of(levels), levels


def _levels(values: Column) -> Levels | None:
    """Return the levels of an ordered type; None where reading made different ones equal."""
    levels = tuple(values.tolist())
    return levels if levels and len(set(levels)) == len(levels) else None


def _kind_of(levels: Levels | None) -> Kind:
    return "category" if levels is None else "ordered"


def _read_polars(X: Any) -> Table:
    _check_shape(X.shape)
    names = list(X.columns)
    labels = _labels(len(names), names)
    return _from_columns(
        [_read_polars_series(s, label) for s, label in zip(X.get_columns(), labels, strict=True)],
        names,
    )


def _read_polars_series(series: Any, label: str) -> tuple[Column, Kind, Levels | None]:
    dtype = series.dtype
    name = str(dtype).partition("(")[0]
    if name == "Time":
        raise ValueError(_clocks(label, dtype))
    if dtype.is_temporal():
        zone = getattr(dtype, "time_zone", None)
        if zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _read_times(series.to_numpy(), label, None if zone is None else zone_of(zone))
    if dtype.is_numeric() and name != "Decimal":
        # to_numpy gives NaN for null, and floats wherever there is one.
        numbers = series.to_numpy().astype(np.float64)
        _check_finite(numbers, [label])
        return numbers, "number", None
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    column, kind, _ = _read_objects(values, label)
    if name == "Enum":
        levels = tuple(dtype.categories.to_list()) or None
        return column, _kind_of(levels), levels
    return column, "category" if name == "Categorical" else kind, None
