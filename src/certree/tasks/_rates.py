"""Group fairness in exact arithmetic: groups, their rates, and rates that must be close as limits.

A constraint compares a *rate* between groups: the share of rows with some property among those of
a group that count. With weight N_g of the rows that count in group g, and weight x_g of those of
them that have the property,

    |x_g / N_g - x_h / N_h| <= tolerance    for every two groups g and h,

and multiplied with N_g N_h / gcd(N_g, N_h) that is a limit on a sum of integers over the rows, in
which only the label that a row is given matters. Integers are at most the floor of the exact right
hand side, so a tree that is exactly at the tolerance is within it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._frames import column_arrays
from certree.encoding._texts import as_array
from certree.numbers._exact import read_fraction

MOST_GROUPS = 16
"""All pairs of groups are compared, so many groups would give too many limits."""

LARGEST_SCALE = 2**48
"""Differences of rates that do not fit 64 bits exactly are multiples of one over this."""


@dataclass(frozen=True)
class RateKind:
    """A share that is compared: of rows that count, those that have a property."""

    name: str
    among: Literal["all", "positives", "negatives"]
    counts: Literal["positive", "wrong"]

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    def relevant(self, codes: NDArray[Any], positive: int) -> NDArray[np.bool_]:
        """Return which rows count, given their classes."""
        if self.among == "all":
            return np.ones(len(codes), dtype=bool)
        is_positive: NDArray[np.bool_] = codes == positive
        return is_positive if self.among == "positives" else ~is_positive

    def counted(self, codes: NDArray[Any], positive: int, n_classes: int) -> NDArray[np.bool_]:
        """Return for rows and labels whether a row that counts has the property with the label."""
        labels = np.arange(n_classes)
        if self.counts == "wrong":
            return np.asarray(codes[:, None] != labels)
        return np.broadcast_to(labels == positive, (len(codes), n_classes))


SELECTION = RateKind("selection_rate", "all", "positive")
TRUE_POSITIVES = RateKind("true_positive_rate", "positives", "positive")
FALSE_POSITIVES = RateKind("false_positive_rate", "negatives", "positive")
ERRORS = RateKind("error_rate", "all", "wrong")

CONSTRAINTS: dict[str, tuple[RateKind, ...]] = {
    "demographic_parity": (SELECTION,),
    "equal_opportunity": (TRUE_POSITIVES,),
    "predictive_equality": (FALSE_POSITIVES,),
    "equalized_odds": (TRUE_POSITIVES, FALSE_POSITIVES),
    "accuracy_parity": (ERRORS,),
}
"""What each constraint compares between groups."""


def constraint_names(constraint: str | Sequence[str]) -> tuple[str, ...]:
    """Return the constraints that a parameter names: one, or several at once."""
    return (constraint,) if isinstance(constraint, str) else tuple(constraint)


def check_constraint(name: str, value: object) -> None:
    """Raise TypeError or ValueError unless `value` names constraints, each of them once."""
    known = ", ".join(f'"{option}"' for option in CONSTRAINTS)
    asked = value if isinstance(value, list | tuple) else [value]
    for one in asked:
        if not isinstance(one, str) or one not in CONSTRAINTS:
            message = f"{name}={one!r} is not supported; the supported values are {known}."
            raise ValueError(message) if isinstance(one, str) else TypeError(message)
    if not asked:
        raise ValueError(f"{name} is empty; name at least one of {known}.")
    names = [str(one) for one in asked]
    twice = sorted({one for one in names if names.count(one) > 1})
    if twice:
        raise ValueError(f"{name} names {twice[0]!r} twice; a constraint has one tolerance.")


def needs_two_classes(constraint: str | Sequence[str]) -> bool:
    """Return whether a constraint speaks of a positive class."""
    kinds = (kind for one in constraint_names(constraint) for kind in CONSTRAINTS[one])
    return any(kind.counts == "positive" for kind in kinds)


T = TypeVar("T", Fraction, int | Fraction)


def allowed_by_rate(constraint: str | Sequence[str], tolerances: Sequence[T]) -> dict[RateKind, T]:
    """Return the rates that constraints compare, and the least tolerance of each.

    Examples
    --------
    >>> both = ["equal_opportunity", "equalized_odds"]
    >>> found = allowed_by_rate(both, [Fraction(1, 10), Fraction(1, 5)])
    >>> {kind.name: str(tolerance) for kind, tolerance in found.items()}
    {'true_positive_rate': '1/10', 'false_positive_rate': '1/5'}
    """
    allowed: dict[RateKind, T] = {}
    for name, tolerance in zip(constraint_names(constraint), tolerances, strict=True):
        for kind in CONSTRAINTS[name]:
            allowed[kind] = min(tolerance, allowed.get(kind, tolerance))
    return allowed


def read_tolerances(constraint: str | Sequence[str], tolerance: Any) -> tuple[Fraction, ...]:
    """Read the tolerance of each constraint: one for all, one each, or by name.

    Examples
    --------
    >>> read_tolerances(["demographic_parity", "equal_opportunity"], [0.1, "1/3"])
    (Fraction(1, 10), Fraction(1, 3))
    """
    names = constraint_names(constraint)
    if isinstance(tolerance, Mapping):
        if set(tolerance) != set(names):
            raise ValueError(
                f"tolerance names {sorted(map(str, tolerance))}, but the constraints are "
                f"{list(names)}; give each of them one tolerance."
            )
        return tuple(read_tolerance(tolerance[name]) for name in names)
    if not isinstance(tolerance, list | tuple):
        return (read_tolerance(tolerance),) * len(names)
    if len(tolerance) != len(names):
        raise ValueError(
            f"tolerance has {len(tolerance)} entries, but there are {len(names)} constraints; give "
            "one for each, or one number for all."
        )
    return tuple(map(read_tolerance, tolerance))


def read_tolerance(value: Any) -> Fraction:
    """Read a tolerance as the decimal or fraction that is written, from 0 to 1.

    Examples
    --------
    >>> read_tolerance(0.1), read_tolerance("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    tolerance = read_fraction(value, "tolerance")
    if not 0 <= tolerance <= 1:
        raise ValueError(
            f"tolerance must lie between 0 and 1, since it is a difference of shares, got {value!r}"
            "; 0.01 is one percent."
        )
    return tolerance


# ---- groups --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Groups:
    """The group of every row, as a number, and what the groups are called."""

    names: tuple[Any, ...]
    codes: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.names)


def read_groups(
    given: Any,
    n_rows: int,
    kept: NDArray[np.intp] | None = None,
    what: str = "sensitive_features",
    least: int = 2,
) -> Groups:
    """Read the group of every row; the groups of several columns are the combinations there are.

    Parameters
    ----------
    given : array-like of shape (n_rows,) or (n_rows, n_columns)
        Texts, truth values, whole numbers or categories.
    n_rows : int
        Number of rows there must be.
    kept : array of int, optional
        The rows that count; by default all.
    what : str
        What it is, for error messages.
    least : int
        Fewest groups there must be.

    Raises
    ------
    ValueError
        If values are missing, there are not as many as rows, or there is a single group or too
        many.
    TypeError
        If values are neither texts nor numbers nor truth values.
    """
    columns = [_read_values(column, what) for column in _split_columns(given, what)]
    for column in columns:
        if len(column) != n_rows:
            raise ValueError(
                f"{what} has {len(column)} entries, but X has {n_rows} rows; give one group per "
                "row."
            )
    if kept is not None:
        columns = [column[kept] for column in columns]
    coded = [_code(column) for column in columns]
    if len(coded) == 1:
        names, codes = coded[0][0].tolist(), coded[0][1]
    else:
        table = np.stack([codes for _, codes in coded], axis=1)
        found, codes = np.unique(table, axis=0, return_inverse=True)
        values = [names.tolist() for names, _ in coded]
        names = [tuple(v[i] for v, i in zip(values, row, strict=True)) for row in found.tolist()]
    if len(names) < least:
        raise ValueError(
            f"{what} has only one group, {names[0]!r}, among the rows that count; a constraint "
            "compares two or more. A group without rows, or whose rows all have weight zero, is "
            "none."
        )
    if len(names) > MOST_GROUPS:
        raise ValueError(
            f"{what} has {len(names)} groups, but at most {MOST_GROUPS} can be compared; join some "
            "of them, or cut numbers into a few ranges."
        )
    return Groups(tuple(names), codes.reshape(-1).astype(np.intp))


def _code(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the different values in order, and the place of each."""
    if values.dtype.kind in "iub" and len(values):
        low, high = int(values.min()), int(values.max())
        if low >= 0 and high < 2 * len(values) + 2:
            # Small numbers need no sort.
            numbers = values.astype(np.intp)
            found = np.bincount(numbers) > 0
            places = np.cumsum(found) - 1
            return np.flatnonzero(found).astype(values.dtype), places[numbers]
    different, places = np.unique(values, return_inverse=True)
    return different, places.reshape(-1)


def _split_columns(given: Any, what: str) -> list[Any]:
    columns = column_arrays(given)
    if columns is not None:
        return list(columns)
    if isinstance(given, list | tuple):
        # Mixed lists become texts all over, gaps included, unless they are kept as they are.
        given = _as_objects(given)
    array = np.asarray(given)
    if array.ndim == 2 and array.shape[1] > 0:
        return [array[:, i] for i in range(array.shape[1])]
    if isinstance(given, str):
        raise ValueError(
            f"{what} must hold the group of every row, got the text {given!r}; pass the column "
            f"itself, or sensitive_columns=[{given!r}] to the estimator."
        )
    if array.ndim != 1:
        raise ValueError(
            f"{what} must be one column, or a table of some, got an array of shape {array.shape}."
        )
    return [given]


def _as_objects(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype=object)
    except ValueError:
        # Rows of different lengths.
        array = np.empty(len(given), dtype=object)
        array[:] = given
        return array


def _read_values(column: Any, what: str) -> NDArray[Any]:
    """Return texts, truth values or numbers without gaps."""
    values = as_array(column)
    if values.dtype.kind == "O":
        values = _read_objects(values, what)
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
        if bad.any():
            raise _missing(int(np.argmax(bad)), what)
        if len(values) and (values == np.floor(values)).all() and np.abs(values).max() < 2**53:
            values = values.astype(np.int64)
    if values.dtype.kind not in "biufUTO":
        raise TypeError(
            f"{what} must hold texts, truth values or numbers, got dtype {values.dtype}; turn it "
            "into texts."
        )
    return values


def _read_objects(values: NDArray[Any], what: str) -> NDArray[Any]:
    for row, value in enumerate(values.tolist()):
        # pandas' NA compares to neither true nor false, and pandas need not be installed.
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            raise _missing(row, what)
        if isinstance(value, float) and value != value:
            raise _missing(row, what)
    if all(isinstance(value, str) for value in values.tolist()):
        return as_array(values.tolist())
    kinds = {_kind(value) for value in values.tolist()}
    if kinds in ({bool}, {int}, {float}, {int, float}):
        plain = np.asarray(values.tolist())
        if plain.dtype.kind in "biuf":
            return plain
    names = sorted(kind.__name__ for kind in kinds)
    raise TypeError(
        f"{what} holds values of type {', '.join(names)}; groups must be all texts, all truth "
        "values or all numbers."
    )


def _kind(value: Any) -> type:
    """Return the type of a value, that of Python where NumPy has its own."""
    for kinds, kind in (
        (bool | np.bool_, bool),
        (int | np.integer, int),
        (float | np.floating, float),
        (str, str),
    ):
        if isinstance(value, kinds):
            return kind
    return type(value)


def _missing(row: int, what: str) -> ValueError:
    return ValueError(
        f"{what} has a missing or infinite value (first in row {row}); drop such rows, or give "
        "them a group of their own."
    )


# ---- rates ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What is compared between groups: rates of rows with classes and weights.

    Attributes
    ----------
    kinds : tuple of RateKind
        The rates.
    tolerances : tuple of Fraction
        Largest difference of each rate between two groups.
    groups : Groups
        The group of every row.
    codes : int array
        The class of every row.
    positive, n_classes : int
        The positive class, and the number of classes.
    weights : int64 or object array or None
        Weights of the rows in some unit, as integers of any size; None: one each.
    totals : tuple of tuple of int
        Weight of the rows that count, for every rate and group.
    """

    kinds: tuple[RateKind, ...]
    tolerances: tuple[Fraction, ...]
    groups: Groups
    codes: NDArray[Any]
    positive: int
    n_classes: int
    weights: NDArray[Any] | None
    totals: tuple[tuple[int, ...], ...]

    def rates(self, predicted: NDArray[Any]) -> list[list[Fraction]]:
        """Return every rate of every group, if rows are given these labels."""
        result = []
        for kind, totals in zip(self.kinds, self.totals, strict=True):
            is_wrong = kind.counts == "wrong"
            has = predicted != self.codes if is_wrong else predicted == self.positive
            has = has & kind.relevant(self.codes, self.positive)
            sums = _group_sums(self.groups, self.weights, has)
            result.append([Fraction(x, n) for x, n in zip(sums, totals, strict=True)])
        return result

    def is_fair(self, rates: Sequence[Sequence[Fraction]]) -> bool:
        """Return whether rates, in the order of `kinds`, are within their tolerances."""
        spans = (max(of_groups) - min(of_groups) for of_groups in rates)
        return all(a <= most for a, most in zip(spans, self.tolerances, strict=True))


def compare_groups(
    kinds: Mapping[RateKind, Fraction],
    groups: Groups,
    codes: NDArray[Any],
    positive: int,
    n_classes: int,
    weights: NDArray[Any] | None,
    pos_label: Any,
) -> Comparison:
    """Set up the comparison of rates, each with the largest difference that is allowed.

    Raises
    ------
    ValueError
        If a group has no row that counts, so that it has no rate.
    """
    totals = []
    for kind in kinds:
        sums = _group_sums(groups, weights, kind.relevant(codes, positive))
        for name, total in zip(groups.names, sums, strict=True):
            if total == 0:
                which = "" if kind.among == "positives" else "other than "
                raise ValueError(
                    f"The constraint compares the {kind.title}, but the group {name!r} has no row "
                    f"of a class {which}{pos_label!r}, so it has none; leave the group out, join "
                    "it with another, or choose another constraint."
                )
        totals.append(tuple(sums))
    return Comparison(
        tuple(kinds),
        tuple(kinds.values()),
        groups,
        codes,
        positive,
        n_classes,
        weights,
        tuple(totals),
    )


def rates_on_rows(
    groups: Groups,
    codes: NDArray[Any],
    predicted: NDArray[Any],
    positive: int,
    weights: NDArray[np.float64],
    *,
    binary: bool,
) -> dict[str, list[float]]:
    """Return all rates of all groups on any rows; NaN where a group has no row that counts.

    Classes are codes; those of `codes` that the model does not know are negative.
    """
    result = {}
    for kind in (SELECTION, TRUE_POSITIVES, FALSE_POSITIVES, ERRORS):
        if kind.counts == "positive" and not binary:
            continue
        is_wrong = kind.counts == "wrong"
        has = predicted != codes if is_wrong else predicted == positive
        relevant = kind.relevant(codes, positive)
        totals = np.bincount(groups.codes, weights * relevant, minlength=len(groups))
        sums = np.bincount(groups.codes, weights * (has & relevant), minlength=len(groups))
        safe = np.where(totals > 0, totals, 1.0)
        result[kind.name] = np.where(totals > 0, sums / safe, np.nan).tolist()
    return result


def disparity(rates: Sequence[Sequence[Fraction]]) -> Fraction:
    """Return the largest difference of a rate between two groups.

    Examples
    --------
    >>> disparity([[Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)]])
    Fraction(1, 3)
    """
    return max((max(of_groups) - min(of_groups) for of_groups in rates), default=Fraction(0))


def _group_sums(groups: Groups, weights: NDArray[Any] | None, mask: NDArray[np.bool_]) -> list[int]:
    counts: NDArray[Any]
    if weights is None:
        counts = np.bincount(groups.codes[mask], minlength=len(groups))
    else:
        counts = np.zeros(len(groups), dtype=weights.dtype)
        np.add.at(counts, groups.codes[mask], weights[mask])
    return [int(count) for count in counts]
