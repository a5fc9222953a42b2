"""Read tables of any kind into columns of numbers, flags and categories.

The table may be a NumPy array, a list of lists, a sparse matrix, or a data frame of any library
that narwhals knows. The rest of the package sees a :class:`Table`, in which a column is one of
three arrays: float64 (or bool) with NaN for missing, object with strings and None for missing, or
datetime64 or timedelta64 with NaT (:mod:`~certree.encoding._times`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from ._column_values import Column, Kind, check_finite, infinity, read_values
from ._frames import Levels, as_frame, as_matrix, column_labels, read_column
from ._named import NamedArray
from ._not_tables import refuse_other_forms
from ._sparse import SparseColumns

__all__ = ["Kind", "Table", "check_columns", "read_table"]


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
    X : array-like, sparse matrix, data frame or Table
        Numbers, booleans, strings, categories, dates, times and durations. NaN, NaT, None,
        ``pandas.NA`` and null are missing values. A :class:`Table` is returned as it is.
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
    matrix = as_matrix(X)
    frame = as_frame(X) if matrix is None else None
    if matrix is not None:
        _check_shape(matrix.shape)
        table = _from_matrix(matrix, _frame_names(column_labels(X)))
    elif frame is not None:
        table = _read_frame(frame, column_labels(X))
    elif sparse.issparse(X):
        table = _read_sparse(X)
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
    if array.dtype.kind in "USTOmM":
        places = range(array.shape[1])
        return _from_columns([read_values(array[:, i], f"column {i}") for i in places])
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
        raise ValueError(infinity(f"column {column}", int(row)))
    kind: Kind = "flag" if X.dtype.kind == "b" else "number"
    return Table(columns, [kind] * len(columns), None)


def _from_columns(read: list[tuple[Column, Kind, Any]], names: list[str] | None = None) -> Table:
    """Return the table of columns, each with its kind, and its levels or its time zone."""
    columns, kinds = [column for column, _, _ in read], [kind for _, kind, _ in read]
    levels = {i: found for i, (_, kind, found) in enumerate(read) if kind == "ordered"}
    zones = {i: found for i, (_, kind, found) in enumerate(read) if kind == "zoned"}
    return Table(columns, kinds, names, levels=levels, zones=zones)


def _from_matrix(array: NDArray[Any], names: list[str] | None) -> Table:
    if array.dtype.kind not in "biuf":
        raise TypeError(f"X must hold numbers, booleans or strings, got dtype {array.dtype}.")
    check_finite(array, _labels(array.shape[1], names))
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


def _labels(n_columns: int, names: list[str] | None) -> list[str]:
    """Return the names of the columns in messages."""
    if names is None:
        return [f"column {i}" for i in range(n_columns)]
    return [f"column {name!r}" for name in names]


# --- data frames ----------------------------------------------------------------------------------


def _read_frame(frame: Any, labels: list[Any]) -> Table:
    """Read a frame of narwhals, whose columns have these labels."""
    _check_shape(frame.shape)
    names = _frame_names(labels)
    told = _labels(len(labels), names)
    columns = zip(frame.iter_columns(), told, strict=True)
    return _from_columns([read_column(series, label) for series, label in columns], names)


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
