"""The base of tasks: statistics per row, the cost of a leaf by their sum, and its laws."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.engine._row_types import RowTypes
from certree.numbers._digits import whole_numbers
from certree.numbers._weights import read_weights
from certree.tree._nodes import Nodes

Sums = NDArray[np.int64]
"""Sums of statistics, one line per leaf."""


# Sums of more weight than this, or less than one over it, are too close to the ends of float64.
_LARGEST_TOTAL = Fraction(10**300)

# Weights below this share of the largest are nothing beside it, and squares of it leave float64.
_LEAST_RATIO = 1e-100


@dataclass(frozen=True)
class Laws:
    """What is known of a leaf cost; bounds that need a law are used only where it is stated.

    Attributes
    ----------
    superadditive : bool
        Splitting rows never costs more: ``cost(A) + cost(B) <= cost(A + B)`` for the sums A and B
        of any two disjoint sets of rows. Then subsets never cost more than sets, and rows that no
        test tells apart cost at least what they cost in a leaf of their own.
    worst_change : array of shape (n_rows,), optional
        One more row raises the cost of any leaf by at most this much. It is not used if sample
        weights are not integers, since it is a law about whole rows.
    """

    superadditive: bool = False
    worst_change: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Rows:
    """The rows that count, and the range of the integers.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table, those of weight zero included.
    kept : array of int, or None
        The rows of positive weight; None: all.
    weights : int64 array of shape (n_kept,)
        Integer weights of these.
    quantum : Fraction
        What one unit of weight stands for.
    most : int
        Largest total that statistics and costs may have, with room for a penalty's denominator.
    budget : int
        The same without such room.
    most_leaves : int
        No tree has more leaves.
    prices : float array, optional
        Prices of tests, in units of cost.
    most_paid : float
        The most that one row can pay for tests.
    given : float array of shape (n_kept,), optional
        The weights as they were given, if the integers are not exactly these.
    sample_weight : array-like or number, optional
        The argument of `fit`, for all rows.
    sums_error : fractions.Fraction, optional
        Where the costs of rows are sums over the rows that they stand for, weights included: how
        far all these sums together are off, at most.
    """

    n_rows: int
    kept: NDArray[np.intp] | None
    weights: NDArray[np.int64]
    quantum: Fraction
    most: int
    budget: int
    most_leaves: int
    prices: NDArray[np.float64] | None = None
    most_paid: float = 0.0
    given: NDArray[np.float64] | None = None
    sample_weight: Any = None
    sums_error: Fraction | None = None

    @property
    def cost_quantum(self) -> Fraction:
        """What a unit of the product of cost and weight stands for."""
        return self.quantum if self.sums_error is None else Fraction(1)

    def select(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the entries of the rows that count."""
        chosen: NDArray[Any] = values if self.kept is None else values[self.kept]
        return chosen

    def whole_weights(self) -> tuple[NDArray[Any], Fraction]:
        """Return the weights, exactly as they were given, as integers of any size times a unit."""
        if self.given is None:
            return self.weights.astype(object), self.quantum
        given = read_weights(self.sample_weight, self.n_rows)
        return whole_numbers(self.select(given.numbers), "sample_weight")

    @property
    def total_weight(self) -> Fraction:
        """Weight of all rows."""
        if self.given is None:
            return int(self.weights.sum()) * self.quantum
        return self.weight_of(np.ones(len(self.weights), dtype=np.bool_))

    def weight_of(self, chosen: NDArray[np.bool_]) -> Fraction:
        """Return the weight of the rows that are marked."""
        if self.given is not None:
            largest = float(self.given.max())
            return Fraction(math.fsum(self.given[chosen] / largest)) * Fraction(largest)
        return int(self.weights[chosen].sum()) * self.quantum

    @property
    def floats(self) -> NDArray[np.float64]:
        """Weights of the rows as they were given."""
        self.check_range()
        if self.given is not None:
            return self.given
        return np.asarray(self.weights * float(self.quantum), dtype=np.float64)

    def check_range(self) -> None:
        """Refuse weights too large or too small for sums of float64, where these are needed."""
        if not 1 / _LARGEST_TOTAL <= self.total_weight <= _LARGEST_TOTAL:
            raise ValueError(
                "sample_weight has a total that leaves the range of float64; only ratios of "
                "weights matter, so multiply or divide them all by one number."
            )

    def check_ratios(self) -> None:
        """Refuse weights of which some are nothing beside others, where they are divided."""
        self.check_range()
        low, high = self.floats.min().item(), self.floats.max().item()
        if low < high * _LEAST_RATIO:
            raise ValueError(
                f"sample_weight, from {low:.3g} to {high:.3g}, leaves the range of float64; leave "
                "out rows that hardly count."
            )

    @property
    def shares(self) -> NDArray[np.float64]:
        """Weights of the rows as they were given, relative to the largest."""
        numbers = self.weights if self.given is None else self.given
        return np.asarray(numbers / numbers.max(), dtype=np.float64)

    @property
    def weight_errors(self) -> NDArray[np.float64] | None:
        """How far the integer weights are from those given, at most; None: not at all."""
        if self.given is None:
            return None
        counted = self.weights * float(self.quantum)
        # The float64 of the difference is off by a few of the last bits of both.
        errors: NDArray[np.float64] = np.abs(self.given - counted)
        return errors + self.given * 2.0**-51 + counted * 2.0**-51

    def weigh(self, table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return numbers per row, and the integers that they are to be multiplied by.

        Both are in units of weight. Weights that are not multiples of one unit are multiplied in,
        so that only the products are rounded; :meth:`noise` bounds the error of float64 in them.
        """
        if self.sums_error is not None:
            return table, np.ones_like(self.weights)
        if self.given is None:
            return table, self.weights
        factors = self.given / float(self.quantum)
        return table * factors[:, None], np.ones_like(self.weights)

    def noise(self, weighed: NDArray[np.float64]) -> Fraction:
        """Return the most that a number from :meth:`weigh` is off; 0 where weights are exact."""
        if self.given is None:
            return Fraction(0)
        return Fraction(float(np.abs(weighed).max(initial=0.0))) / 2**50


class LeafProblem(ABC):
    """A task on certain rows, as the search reads it, and how to read what it answers.

    Attributes
    ----------
    kind : str
        Which leaf cost of the core applies: "min_label", "squares", "quantile",
        "rates" or "callback".
    statistics : int64 array of shape (n_rows, n_statistics)
        What is summed over the rows of a leaf, weights included.
    types : RowTypes or None
        The same by type, if the rows are known to be of a few types.
    unit, constant : Fraction
        ``cost = unit * (units of the search) + constant``.
    rounding : Fraction
        The cost of any tree within the limits, as counted here, differs by at most this from the
        one with the numbers as they were given.
    complexity_unit : Fraction
        What a complexity of one costs.
    largest : int
        No leaf costs more units than this.
    """

    kind: ClassVar[str]
    statistics: NDArray[np.int64]
    types: RowTypes | None = None
    unit: Fraction
    constant: Fraction
    rounding: Fraction
    complexity_unit: Fraction
    largest: int
    least_leaf_cost: Fraction | None = None
    """No leaf costs less, where rounding may count less than that; None: it never does."""
    class_weights: Sequence[Fraction] | None = None
    """What an error costs each class, where costs are errors; None: one."""
    output_names: Sequence[str] | None = None
    """Names of the outputs, if there are several and they have names."""

    @property
    def most_counted(self) -> int:
        """How many units the core adds up at most, where it bounds what each row can cost."""
        return self.largest

    def engine_settings(self) -> dict[str, Any]:
        """Return what the core needs to know beyond the statistics."""
        return {}

    @abstractmethod
    def units(self, sums: Sums) -> NDArray[np.int64]:
        """Return what leaves with these sums cost, in units of the search."""

    def sums_at(self, places: NDArray[np.intp], n_places: int) -> Sums:
        """Return the sums of the statistics of the rows at each place."""
        if self.types is not None:
            return self.types.sums(places, n_places)
        sums = np.zeros((n_places, self.statistics.shape[1]), dtype=np.int64)
        for column, values in zip(sums.T, self.statistics.T, strict=True):
            np.add.at(column, places, values)  # many times faster than for all columns at once
        return sums

    def node_sums(self, nodes: Nodes, leaves: NDArray[np.intp]) -> Sums:
        """Return the sums of the statistics of the rows of all nodes, given the rows' leaves."""
        return nodes.sums(self.sums_at(leaves, len(nodes)))

    @property
    def hidden(self) -> Fraction:
        """What rounding the numbers of the rows may hide, in units of the user's cost."""
        return self.rounding

    def single_leaf(self) -> Fraction:
        """Return what a tree without splits costs, the constant aside, about as it was given."""
        whole = self.statistics.sum(axis=0, keepdims=True)
        return int(self.units(whole)[0]) * self.unit

    @abstractmethod
    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        """Return what nodes with these sums predict; `leaves` are those of the rows."""

    counted: str = ""
    """What the weights in nodes are, if not those of the rows' own classes: ``best for``."""

    @abstractmethod
    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str] | None:
        """Return a remark on each node for the exports; None: shares of classes say it all.

        `amounts` say how many rows each has, and what they weigh if weights were given.
        """

    def describe_nodes(
        self, nodes: Nodes, leaves: NDArray[np.intp], sums: Sums, amounts: Sequence[str]
    ) -> list[str] | None:
        """Return the same for a tree, of which a remark may need the rows in each node."""
        return self.describe(sums, amounts)

    objective_name: str = "cost"
    """What `objective` returns."""

    @abstractmethod
    def objective(self, cost: Fraction) -> float:
        """Return a cost in the user's terms."""

    def counters(self) -> dict[str, int]:
        """Return work that leaf costs have done themselves."""
        return {}

    def classes(self) -> NDArray[Any] | None:
        """Return the labels to choose from; None if a leaf may predict any value."""
        return None

    def codes(self) -> NDArray[np.intp] | None:
        """Return what the rows are counted by in nodes: positions in `classes`."""
        return None


class Composable:
    """What ``&`` puts together: tasks, limits and minima.

    The algebra needs all of them, so it is defined after them, in :mod:`certree.tasks._limited`,
    which sets `join`.
    """

    join: ClassVar[Callable[[object, object], Any]]

    def __and__(self, other: object) -> Any:
        """Return both together: a task with a limit on the whole tree; see :class:`Limit`."""
        return Composable.join(self, other)

    def __rand__(self, other: object) -> Any:
        """Return the same where the other part comes first, or say why that is no task."""
        return Composable.join(other, self)


class Task(Composable, ABC):
    """An objective to minimise over trees: the sum of the costs of the leaves.

    The cost of a leaf is a function of the sum of a vector over its rows. Subclasses say which
    vector and which function; see the guide on tasks of your own.
    """

    name: ClassVar[str]
    """What certificates call it."""

    laws: Laws
    """What is known of the leaf cost."""

    @abstractmethod
    def on(self, y: Any, rows: Rows) -> LeafProblem:
        """Return the task on certain rows, with what there is to be predicted, if anything."""

    @abstractmethod
    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        """Return statistics and leaf cost in the user's own numbers, to be looked at by itself."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@dataclass(frozen=True)
class LeafCosts:
    """A task as its definition has it: what is summed, and what sums cost.

    Attributes
    ----------
    statistics : array of shape (n_rows, n_statistics)
        What is summed over the rows of a leaf.
    cost : callable
        From sums, of shape (n_leaves, n_statistics), to costs, of shape (n_leaves,).
    state : callable, optional
        From row numbers to the statistics of these rows together, where they were given so.
    any_sign : bool
        Whether costs may be negative, since every tree pays the same constant in addition.
    """

    statistics: NDArray[Any]
    cost: Callable[[NDArray[Any]], NDArray[np.float64]]
    state: Callable[[NDArray[np.intp]], Any] | None = None
    any_sign: bool = False
