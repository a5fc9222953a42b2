"""Prices of tests: what a row pays before its value of a column is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.files import written_by_fields
from certree.numbers._fixed_point import check_numbers

if TYPE_CHECKING:
    from certree.tasks._task import LeafProblem


_LISTS = (list, tuple, range, np.ndarray)


@written_by_fields
@dataclass(frozen=True)
class Measurement:
    """Something that has to be paid for before a tree may ask certain columns.

    A row pays when it reaches the first test of one of the columns on its way down; further tests
    of them are free. Once another measurement of the same group has been made on the way, the
    discounted price applies: for instance, drawing blood is paid once for several blood tests.

    Parameters
    ----------
    columns : int, str or sequence of these
        Columns of the table, by number or name, that it reveals.
    price : float
        What a row of weight one pays; not negative.
    group : str, optional
        Name of a group of measurements.
    discounted : float, optional
        Price once another measurement of the group has been made; by default the same.

    Examples
    --------
    >>> from certree import Measurement
    >>> Measurement("thal", 102.9, group="exercise", discounted=1.0).price
    102.9
    """

    columns: Any
    price: float
    group: str | None = None
    discounted: float | None = None


@dataclass(frozen=True)
class Measurements:
    """The measurements of a table, by number.

    Attributes
    ----------
    of_test : int array of shape (n_tests,)
        The measurement that each test of the encoder needs; one without a price if none is stated.
    of_column : int array of shape (n_columns,)
        The same for raw columns.
    group : int array of shape (n_measurements,)
        Group of each; -1 if there is no other measurement in it.
    price, discounted : float array of shape (n_measurements,)
        Prices.
    """

    of_test: NDArray[np.int32]
    of_column: NDArray[np.int32]
    group: NDArray[np.int32]
    price: NDArray[np.float64]
    discounted: NDArray[np.float64]

    @classmethod
    def read(
        cls,
        test_costs: Any,
        test_columns: Sequence[int],
        n_columns: int,
        names: NDArray[Any] | None,
    ) -> Measurements:
        """Read what the user states about columns.

        Parameters
        ----------
        test_costs : mapping, sequence of numbers or sequence of Measurement
            Price per column, by name or number; a price for each column in order; or measurements.
        test_columns : sequence of int
            The raw column of each test of the encoder.
        n_columns : int
            Number of raw columns.
        names : array of str, optional
            Their names.
        """
        listed = _listed(test_costs, n_columns)
        positions = _ColumnPositions(n_columns, None if names is None else names.tolist())
        of_column = np.full(n_columns, -1, dtype=np.int32)
        sizes = Counter(measurement.group for measurement in listed)
        shared = [name for name, size in sizes.items() if name is not None and size > 1]
        groups: dict[str | None, int] = {name: number for number, name in enumerate(shared)}
        group, price, discounted = [], [], []
        for number, measurement in enumerate(listed):
            cost, less = _prices(measurement, number)
            for column in positions.find(measurement.columns, number):
                if of_column[column] >= 0:
                    raise ValueError(
                        f"test_costs[{number}] prices column {positions.name(column)!r}, which "
                        f"test_costs[{of_column[column]}] has priced already."
                    )
                of_column[column] = number
            group.append(groups.get(measurement.group, -1))
            price.append(cost)
            discounted.append(less)
        _refuse_lonely_discounts(listed)
        for column in np.flatnonzero(of_column < 0).tolist():
            of_column[column] = len(price)
            group.append(-1)
            price.append(0.0)
            discounted.append(0.0)
        return cls(
            of_column[np.asarray(test_columns, dtype=np.intp)],
            of_column,
            np.array(group, dtype=np.int32),
            np.array(price),
            np.array(discounted),
        )

    def numbers(self) -> NDArray[np.float64]:
        """Return all prices, then all discounted ones."""
        return np.concatenate([self.price, self.discounted])

    def most_paid(self, max_depth: int | None) -> float:
        """Return the most that a row can pay on its way down."""
        dearest = np.sort(np.maximum(self.price, self.discounted))[::-1]
        return float(dearest[:max_depth].sum())

    def for_engine(self, problem: LeafProblem) -> dict[str, NDArray[Any]]:
        """Return the prices in units of the search."""
        n = len(self.price)
        units: NDArray[np.int64] = problem.prices  # type: ignore[attr-defined]
        return {
            "feature": self.of_test,
            "group": self.group,
            "price": np.ascontiguousarray(units[:n]),
            "discounted": np.ascontiguousarray(units[n:]),
        }

    def paid(self, steps: Sequence[int]) -> float:
        """Return what a row pays that passes tests of these columns, in this order."""
        made: list[int] = []
        total = 0.0
        for column in steps:
            number = int(self.of_column[column])
            total += self.charge(number, made, self.price, self.discounted)
            made.append(number)
        return total

    def charge(
        self, number: int, made: Sequence[int], price: NDArray[Any], discounted: NDArray[Any]
    ) -> Any:
        """Return what a measurement costs after others, by these prices of all."""
        if number in made:
            return 0
        group = int(self.group[number])
        is_known = group >= 0 and any(self.group[other] == group for other in made)
        return (discounted if is_known else price)[number].item()


class _ColumnPositions:
    """Columns by number or name."""

    def __init__(self, n_columns: int, names: list[str] | None) -> None:
        self.n_columns = n_columns
        self.names = names

    def find(self, columns: Any, number: int) -> list[int]:
        several = isinstance(columns, _LISTS)
        return [self._one(column, number) for column in (columns if several else [columns])]

    def _one(self, column: Any, number: int) -> int:
        if isinstance(column, str) and self.names is not None and column in self.names:
            return self.names.index(column)
        is_number = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if is_number and 0 <= column < self.n_columns:
            return int(column)
        known = f"0 to {self.n_columns - 1}" if self.names is None else str(self.names)
        raise ValueError(
            f"test_costs[{number}] names the column {column!r}, which X does not have; its "
            f"columns are {known}."
        )

    def name(self, column: int) -> Any:
        return column if self.names is None else self.names[column]


def _listed(test_costs: Any, n_columns: int) -> list[Measurement]:
    """Return measurements, whichever way they were stated."""
    if isinstance(test_costs, Mapping) or hasattr(test_costs, "items"):
        # A Series has its prices under the names of columns, too.
        return [_under(column, cost) for column, cost in test_costs.items()]
    if not isinstance(test_costs, _LISTS):
        raise TypeError(
            "test_costs must be a mapping from columns to prices, one price per column, or a list "
            f"of Measurement, got {type(test_costs).__name__}."
        )
    if any(isinstance(cost, Measurement) for cost in test_costs):
        for number, cost in enumerate(test_costs):
            if not isinstance(cost, Measurement):
                raise TypeError(
                    f"test_costs[{number}] must be a Measurement as the others are, got {cost!r}."
                )
        return list(test_costs)
    prices = check_numbers(test_costs, "test_costs", (n_columns,))
    return [Measurement(column, float(price)) for column, price in enumerate(prices)]


def _under(column: Any, cost: Any) -> Measurement:
    """Return what a mapping has for a column."""
    if not isinstance(cost, Measurement):
        return Measurement(column, cost)
    revealed = list(cost.columns) if isinstance(cost.columns, _LISTS) else [cost.columns]
    if column not in revealed:
        raise ValueError(
            f"test_costs[{column!r}] is a Measurement of {cost.columns!r}, which {column!r} is not "
            "one of; give measurements as a list."
        )
    return cost


def _prices(measurement: Measurement, number: int) -> tuple[float, float]:
    """Check the prices of a measurement."""
    full = measurement.price
    less = full if measurement.discounted is None else measurement.discounted
    for what, value in (("price", full), ("discounted", less)):
        number_like = isinstance(value, int | float | np.integer | np.floating)
        if not number_like or isinstance(value, bool) or not np.isfinite(value) or value < 0:
            raise ValueError(
                f"test_costs[{number}] (columns {measurement.columns!r}) has the {what} "
                f"{value!r}; prices of tests must be finite and not negative."
            )
    if less > full:
        raise ValueError(
            f"test_costs[{number}] (columns {measurement.columns!r}) costs {less!r} discounted, "
            f"which is more than its price {full!r}."
        )
    return float(full), float(less)


def _refuse_lonely_discounts(listed: Sequence[Measurement]) -> None:
    """Raise where a discount can never apply: a slip in the name of a group."""
    sizes = Counter(measurement.group for measurement in listed)
    for number, measurement in enumerate(listed):
        if measurement.discounted is None or measurement.discounted == measurement.price:
            continue
        if measurement.group is None or sizes[measurement.group] < 2:
            known = sorted({str(m.group) for m in listed if m.group is not None})
            raise ValueError(
                f"test_costs[{number}] (columns {measurement.columns!r}) has a discounted price, "
                f"but its group {measurement.group!r} has no other measurement; the groups are "
                f"{known}."
            )
