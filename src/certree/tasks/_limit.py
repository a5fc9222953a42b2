"""Limits on the whole tree: bounds on sums of amounts that depend on the labels of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._digits import Amounts, to_digits, whole_numbers
from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import check_numbers

from ._task import Composable, Rows

# Two computations of one sum of floats may differ by this share of it.
_NOISE = 1e-9

State = Callable[[NDArray[np.intp]], Any]
"""From row numbers to the amounts of these rows together, one per label."""


@dataclass(frozen=True)
class LimitOnRows:
    """A limit on certain rows, in integers; nothing is rounded.

    Attributes
    ----------
    name : str
        Name of the limit.
    amounts : Amounts
        What a row adds with each label, weights multiplied in.
    unit : Fraction
        What one unit of the last digit stands for.
    at_most, at_least : Fraction or None
        The bounds as they were given.
    """

    name: str
    amounts: Amounts
    unit: Fraction
    at_most: Fraction | None
    at_least: Fraction | None

    @property
    def sides(self) -> list[tuple[int, int]]:
        """The bounds on totals times a sign, with the sign, in units of the last digit."""
        sides = []
        if self.at_most is not None:
            sides.append((self.amounts.within(math.floor(self.at_most / self.unit), 1), 1))
        if self.at_least is not None:
            sides.append((self.amounts.within(-math.ceil(self.at_least / self.unit), -1), -1))
        return sides

    @property
    def leading_unit(self) -> Fraction:
        """What one unit of the leading digit stands for."""
        return self.unit * (1 << self.amounts.shift)


class Limit(Composable):
    """A limit on a sum over all rows of a tree, of amounts that depend on their labels.

    Every row adds the amount of its leaf's label, times its weight. Only trees whose total is
    within the bounds are allowed; a total exactly at a bound is within it. ``&`` adds a limit to a
    task.

    Parameters
    ----------
    name : str
        What certificates call it; each limit of a task has a name of its own.
    amounts : array-like of shape (n_rows, n_labels) or (n_labels,), mapping, or callable
        What a row adds with each label, in the order of the labels of the task: for each row, or
        the same for all. A mapping names labels, each with a number or with one number per row;
        labels that it does not name add nothing. A callable takes an array of row numbers and
        returns what these rows add together, one number per label, which must be the sum of what it
        returns for each of them: this is checked for all rows and for halves of them, and
        :func:`check_task` tries more. Any sign is fine. Numbers are
        read as the decimals that they are written as; fractions and texts such as ``"1/3"`` are
        read exactly.
    at_most, at_least : number, fraction or text, optional
        Bounds on the total; at least one of them.

    Raises
    ------
    ValueError
        If there is no bound, if a bound is not finite, or if they contradict each other.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    At most one row gets the drug:

    >>> from certree import solve, tasks
    >>> gains = tasks.Rewards([[0, 3], [0, 2], [0, 1]], treatments=["wait", "drug"])
    >>> scarce = tasks.Limit("drug", {"drug": 1}, at_most=1)
    >>> solution = solve(gains & scarce, [[0, 0], [0, 1], [1, 1]], max_depth=2)
    >>> solution.predict([[0, 0], [0, 1], [1, 1]]).tolist()
    ['drug', 'wait', 'wait']
    >>> solution.certificate.limits[0].value
    1
    """

    def __init__(
        self,
        name: str,
        amounts: Any,
        at_most: Any = None,
        at_least: Any = None,
    ) -> None:
        if type(name) is not str or name == "":
            raise ValueError(f"the name of a limit must be a text that is not empty, got {name!r}.")
        if at_most is None and at_least is None:
            raise ValueError(
                f"limit {name!r} bounds nothing: give at_most, at_least, or both of them."
            )
        self.name = name
        self.amounts = amounts
        self.at_most = at_most
        self.at_least = at_least
        upper, lower = self.bounds()
        if upper is not None and lower is not None and lower > upper:
            raise ValueError(
                f"limit {name!r}: at_least={at_least!r} is above at_most={at_most!r}, so that no "
                "total is within both."
            )

    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """Return `at_most` and `at_least` as the fractions that they are written as."""
        upper, lower = (
            None if bound is None else read_fraction(bound, f"limit {self.name!r}: {what}")
            for what, bound in (("at_most", self.at_most), ("at_least", self.at_least))
        )
        return upper, lower

    def table(self, labels: NDArray[Any], n_rows: int) -> NDArray[Any]:
        """Return the amounts of all rows and labels: integers, floats, or fractions as objects."""
        what = f"amounts of limit {self.name!r}"
        if isinstance(self.amounts, Mapping):
            return _from_mapping(self.amounts, labels, n_rows, what)
        if callable(self.amounts):
            return self._from_function(self.amounts, len(labels), n_rows, what)
        return _spread(_numbers(self.amounts, what), len(labels), n_rows, what)

    def state(self) -> State | None:
        """Return the function from row numbers to their amounts, if the user gave one."""
        return self.amounts if callable(self.amounts) else None

    def on(self, labels: NDArray[Any], rows: Rows) -> LimitOnRows:
        """Return the limit on certain rows, in integers."""
        what = f"amounts of limit {self.name!r}"
        table, unit = whole_numbers(rows.select(self.table(labels, rows.n_rows)), what)
        weights, weight_unit = rows.whole_weights()
        products = table * weights[:, None]
        common = math.gcd(*products.ravel().tolist()) or 1
        unit = unit * weight_unit * common
        amounts = to_digits(products // common, what)
        return LimitOnRows(self.name, amounts, unit, *self.bounds())

    def _from_function(
        self, function: State, n_labels: int, n_rows: int, what: str
    ) -> NDArray[Any]:
        lines = []
        for row in range(n_rows):
            line = _numbers(function(np.array([row], dtype=np.intp)), what)
            if line.shape != (n_labels,):
                raise ValueError(
                    f"{what} must be one number per label, {n_labels} of them, for the rows they "
                    f"are asked about; for row {row} they have shape {line.shape}."
                )
            lines.append(line)
        table = np.stack(lines)
        _check_additive(function, table, what)
        return table

    def __repr__(self) -> str:
        bounds = ", ".join(
            f"{what}={bound!r}"
            for what, bound in (("at_most", self.at_most), ("at_least", self.at_least))
            if bound is not None
        )
        return f"Limit({self.name!r}, {bounds})"


class LeafMinimum(Composable):
    """A label needs a minimum of rows in each leaf that has it.

    Parameters
    ----------
    at_least : int or mapping from label to int
        Fewest rows, for all labels or for some; labels that are not named need none.
    counts : array-like of shape (n_rows, n_labels), optional
        Which rows count for which label: whole numbers that are not negative, such as one where a
        row received the treatment, zero elsewhere. By default every row counts for every label.
        Weights are not used.

    Raises
    ------
    ValueError
        If a minimum is negative or not an integer.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import solve, tasks
    >>> gains = tasks.Rewards([[0, 3], [0, 2], [1, 0]], treatments=["wait", "drug"])
    >>> careful = gains & tasks.LeafMinimum({"drug": 3})
    >>> solve(careful, [[0], [0], [1]], max_depth=1).predict([[0]]).tolist()
    ['drug']
    """

    def __init__(self, at_least: Any, counts: Any = None) -> None:
        self.at_least = at_least
        self.counts = counts
        for number in at_least.values() if isinstance(at_least, Mapping) else [at_least]:
            _whole(number, "at_least of LeafMinimum")

    def on(self, labels: NDArray[Any], rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what the rows count for each label, and how much each label needs."""
        needed = np.zeros(len(labels), dtype=np.int64)
        named = (
            self.at_least
            if isinstance(self.at_least, Mapping)
            else dict.fromkeys(labels.tolist(), self.at_least)
        )
        for place, number in _places(named, labels, "at_least of LeafMinimum"):
            needed[place] = _whole(number, "at_least of LeafMinimum")
        if self.counts is None:
            return np.ones((len(rows.weights), len(labels)), dtype=np.int64), needed
        table = check_numbers(self.counts, "counts of LeafMinimum", (rows.n_rows, len(labels)))
        if (table < 0).any() or (table != np.rint(table)).any():
            raise ValueError("counts of LeafMinimum must be whole numbers of at least 0.")
        return np.ascontiguousarray(rows.select(table).astype(np.int64)), needed

    def __repr__(self) -> str:
        return f"LeafMinimum({self.at_least!r})"


# ---- reading -----------------------------------------------------------------------------------


def _numbers(values: Any, what: str) -> NDArray[Any]:
    """Return finite numbers: integers and floats as arrays of their kind, others as fractions."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{what} must be a table of numbers, with rows of equal length.") from None
    is_list = array.dtype.kind == "f" and not hasattr(values, "dtype")
    if is_list and np.isfinite(array).all() and (np.abs(array) >= 2.0**53).any():
        # NumPy makes floats of a list with a single float in it, also of large integers.
        array = np.asarray(values, dtype=object)
    if array.dtype.kind in "ib" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if array.dtype.kind == "u":
        array = array.astype(object)
    if array.dtype.kind == "f":
        return check_numbers(array, what, (None,) * array.ndim)
    if array.dtype.kind not in "OUS":
        raise ValueError(f"{what} must hold numbers, got an array of type {array.dtype}.")
    exact = np.empty(array.shape, dtype=object)
    for place, value in np.ndenumerate(array):
        try:
            exact[place] = read_fraction(value, f"{what}{list(place)}")
        except TypeError as error:
            raise ValueError(str(error)) from None
    return exact


def _spread(numbers: NDArray[Any], n_labels: int, n_rows: int, what: str) -> NDArray[Any]:
    """Return amounts per label or per row and label as a table of all rows."""
    if numbers.shape == (n_labels,):
        return np.broadcast_to(numbers, (n_rows, n_labels))
    if numbers.shape != (n_rows, n_labels):
        given = " x ".join(map(str, numbers.shape)) or "a single number"
        raise ValueError(
            f"{what} must have shape {n_rows} x {n_labels} (rows x labels) or {n_labels} (labels), "
            f"got {given}."
        )
    return numbers


def _from_mapping(
    amounts: Mapping[Any, Any], labels: NDArray[Any], n_rows: int, what: str
) -> NDArray[Any]:
    columns: list[NDArray[Any]] = [np.zeros(n_rows, dtype=np.int64)] * len(labels)
    for place, given in _places(amounts, labels, what):
        label = labels[place].item() if isinstance(labels[place], np.generic) else labels[place]
        column = _numbers(given, f"{what} for {label!r}")
        if column.shape not in ((), (n_rows,)):
            raise ValueError(
                f"{what} for {label!r} must be a number, or {n_rows} of them, one per row; got "
                f"shape {column.shape}."
            )
        columns[place] = np.broadcast_to(column, (n_rows,))
    kinds = {column.dtype.kind for column in columns}
    if "O" in kinds:
        # Floats among fractions are read as the decimals that they are written as.
        columns = [_as_fractions(column, what) for column in columns]
    return np.stack(columns, axis=1)


def _as_fractions(column: NDArray[Any], what: str) -> NDArray[Any]:
    exact = np.empty(column.shape, dtype=object)
    exact[:] = [read_fraction(value, what) for value in column.tolist()]
    return exact


def _places(given: Mapping[Any, Any], labels: NDArray[Any], what: str) -> list[tuple[int, Any]]:
    """Return the position of each label that is named, with what is said of it."""
    position = {label: k for k, label in enumerate(labels.tolist())}
    plain = {key.item() if isinstance(key, np.generic) else key: v for key, v in given.items()}
    unknown = [key for key in plain if key not in position]
    if unknown:
        raise ValueError(
            f"{what} name {unknown}, but the labels of the task are {labels.tolist()}."
        )
    return [(position[key], value) for key, value in plain.items()]


def _whole(number: Any, what: str) -> int:
    value = read_fraction(number, what)
    if value.denominator != 1 or value < 0:
        raise ValueError(f"{what} must be a whole number of at least 0, got {number!r}.")
    return min(int(value), 2**31)


def _check_additive(function: State, table: NDArray[Any], what: str) -> None:
    """Compare the amounts of all rows, and of halves, with the sum over single rows."""
    n_rows, n_labels = table.shape
    for first, last in ((0, n_rows), (0, n_rows // 2), (n_rows // 2, n_rows)):
        if last - first < 2:
            continue
        rows = f"rows {first} to {last - 1}"
        together = _numbers(function(np.arange(first, last, dtype=np.intp)), what)
        if together.shape != (n_labels,):
            raise ValueError(
                f"{what} must be one number per label, {n_labels} of them, for the rows they are "
                f"asked about; for {rows} they have shape {together.shape}."
            )
        lines = table[first:last]
        apart = lines.sum(axis=0)
        if (together == apart).all():
            continue
        # Floats are not added up without error; others are.
        is_float = "f" in (together.dtype.kind, table.dtype.kind)
        noise = _NOISE * np.abs(lines).sum(axis=0).astype(np.float64) if is_float else 0.0
        if (np.abs(together - apart).astype(np.float64) > noise).any():
            raise ValueError(
                f"{what} are not additive: {rows} have {_listed(together)} together, but add up to "
                f"{_listed(apart)} one by one. By theorem 4.6 of the STreeD paper the cost "
                "function must be Markovian, here a sum of what each row adds by its label: a "
                "limit on another function of rows is not separable. check_task looks for more."
            )


def _listed(numbers: NDArray[Any]) -> str:
    return f"[{', '.join(map(str, numbers.tolist()))}]"
