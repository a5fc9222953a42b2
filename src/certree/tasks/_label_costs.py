"""Tasks in which a leaf takes the label that costs its rows least."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import encode_labels
from certree.encoding._reduced import CostSums
from certree.encoding._texts import as_array
from certree.engine._row_types import RowTypes
from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import (
    LabelCosts,
    first_place,
    label_costs,
    refuse_tiny,
    round_up,
)

from ._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task

# Rows of more kinds than this are taken one by one.
_MOST_KINDS = 4096


@dataclass(frozen=True)
class _Kinds:
    """Rows with the same line of costs and the same weight are of one kind."""

    line: NDArray[np.intp]
    weight: NDArray[np.int64]
    times: NDArray[np.int64]
    of_row: NDArray[np.int32]

    @classmethod
    def of(cls, lines: NDArray[np.intp], rows: Rows) -> _Kinds | None:
        """Return the kinds of all rows, or None if these are many or weights are real numbers."""
        if rows.given is not None:
            return None
        weights = np.unique(rows.weights) if np.ptp(rows.weights) else rows.weights[:1]
        n_kinds = (int(lines.max()) + 1) * len(weights)
        if n_kinds > min(_MOST_KINDS, len(lines)):
            return None
        codes = lines * len(weights) + np.searchsorted(weights, rows.weights)
        counts = np.bincount(codes, minlength=n_kinds)
        present = np.flatnonzero(counts)
        number = np.zeros(n_kinds, dtype=np.int32)
        number[present] = np.arange(len(present))
        line, weight = np.divmod(present, len(weights))
        return cls(line, weights[weight], counts[present], number[codes])


class LabelProblem(LeafProblem):
    """Costs per row and label as integers; a leaf costs the least of their sums.

    The cheapest label of a row is left out of the sums, and is the constant that all trees pay.
    Sums of minima are at most the minimum of sums, so the cost is superadditive; a row more costs
    a leaf at most its dearest label.
    """

    kind: ClassVar[str] = "min_label"

    def __init__(
        self,
        labels: NDArray[Any],
        costs: NDArray[np.float64],
        rows: Rows,
        row_codes: NDArray[np.intp] | None = None,
        lines: NDArray[np.intp] | None = None,
    ) -> None:
        """State the task; with `lines`, these say which line of `costs` each row has."""
        refuse_tiny(costs, "costs")
        kinds = None if lines is None else _Kinds.of(lines, rows)
        if kinds is None:
            table = costs if lines is None else costs[lines]
            weighed, weights = rows.weigh(table)
            times = np.ones(len(weights), dtype=np.int64)
        else:
            weighed, weights, times = costs[kinds.line], kinds.weight, kinds.times
        paying = int(rows.weights.sum())
        quantum = rows.cost_quantum
        scaled: LabelCosts = label_costs(
            weighed, weights, quantum, rows.most, rows.prices, rows.most_paid, paying, times
        )
        differences = (weighed - weighed.min(axis=1, keepdims=True)) * (weights * times)[:, None]
        self.whole = Fraction(float(differences.sum(axis=0).min())) * quantum
        self.labels = labels
        best = scaled.costs.argmin(axis=1)
        if kinds is None:
            self.statistics = scaled.costs
        else:
            self.types = RowTypes(kinds.of_row, scaled.costs, None, times)
            best = best[kinds.of_row]
        self.prices = scaled.prices
        self.unit = scaled.unit
        self.constant = scaled.constant
        self.rounding = scaled.rounding + _weight_rounding(weighed, rows)
        spans = np.ptp(costs, axis=1)
        if not (rows.most_paid or (spans if lines is None else spans[lines]).any()):
            # All trees cost the same, which is known without rounding.
            each = costs[:, 0] if lines is None else costs[lines, 0]
            self.constant, self.rounding = _exact_cost(each, rows), Fraction(0)
        self.total_weight = rows.total_weight
        self.complexity_unit = rows.total_weight
        self.row_codes = best if row_codes is None else row_codes
        self.counted = "best for" if row_codes is None else ""
        if rows.sums_error is not None and row_codes is None:
            # The rows of a group may have different labels that are best for them.
            self.row_codes, self.counted = None, ""
        paid = Fraction(rows.most_paid) * paying * rows.quantum / scaled.unit
        self.largest = int(scaled.costs.max(axis=1) @ times) + ceil(paid)

    @cached_property
    def statistics(self) -> NDArray[np.int64]:  # type: ignore[override]
        """What is summed over the rows of a leaf, weights included."""
        if self.types is None:
            raise AttributeError("a problem without types has statistics of its own")
        return self.types.by_row()

    def units(self, sums: Sums) -> NDArray[np.int64]:
        return np.asarray(sums.min(axis=1))

    def single_leaf(self) -> Fraction:
        # Before rounding, which may leave nothing of it.
        return self.whole

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        chosen: NDArray[Any] = self.labels[sums.argmin(axis=1)]
        return chosen

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str] | None:
        return None

    objective_name = "mean cost"

    def objective(self, cost: Fraction) -> float:
        return _mean(cost, self.total_weight)

    def classes(self) -> NDArray[Any]:
        return self.labels

    def codes(self) -> NDArray[np.intp] | None:
        return None if self.row_codes is None else self.row_codes.astype(np.intp, copy=False)


class RewardProblem(LabelProblem):
    """A label problem reported as a mean reward; the cost is the regret."""

    def __init__(
        self, labels: NDArray[Any], rewards: NDArray[np.float64], rows: Rows, maximise: bool
    ) -> None:
        super().__init__(labels, -rewards if maximise else rewards, rows)
        self.sign = -1 if maximise else 1
        self.best_total = self.constant
        self.constant = Fraction(0)

    objective_name = "mean reward"

    def objective(self, cost: Fraction) -> float:
        return _mean(self.sign * (cost + self.best_total), self.total_weight)


class _LabelTask(Task):
    """A task with costs per row and label."""

    laws: Laws = Laws(superadditive=True)

    @abstractmethod
    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        """Return the labels, what each costs each row, and the rows' own labels or None."""

    def on(self, y: Any, rows: Rows) -> LabelProblem:
        labels, costs, codes = self.table(y, rows.n_rows)
        own = None if codes is None else rows.select(codes)
        return LabelProblem(labels, rows.select(costs), summed(rows, self), own)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        _, costs, _ = self.table(y, n_rows)
        return LeafCosts(costs, lambda sums: sums.min(axis=1), any_sign=True)


def summed(rows: Rows, task: Any) -> Rows:
    """Return the rows, which costs of groups of rows have been added up with."""
    costs = getattr(task, "costs", getattr(task, "rewards", None))
    if not isinstance(costs, CostSums):
        return rows
    if rows.prices is not None:
        raise ValueError(
            "test_costs need the costs of single rows, but a reduced table has their sums; use "
            "cost_matrix, or fit without test_costs."
        )
    return replace(rows, sums_error=costs.error)


def _exact_cost(costs: NDArray[np.float64], rows: Rows) -> Fraction:
    """Return the sum of costs by the weights as they were given."""
    weights, unit = rows.whole_weights()
    if rows.sums_error is not None:
        weights, unit = np.ones(len(costs), dtype=object), Fraction(1)
    values, places = np.unique(costs, return_inverse=True)
    totals = [0] * len(values)
    for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
        totals[place] += weight
    parts = zip(values.tolist(), totals, strict=True)
    return unit * sum((read_fraction(cost, "costs") * w for cost, w in parts), Fraction(0))


def _weight_rounding(weighed: NDArray[np.float64], rows: Rows) -> Fraction:
    """Return the largest effect of rounded weights on the cost of a tree.

    That is what float64 does to a row's cost and to its cheapest one; tests are paid for by rounded
    weights.
    """
    if rows.sums_error is not None:
        return rows.sums_error
    if rows.weight_errors is None:
        return Fraction(0)
    noise = 2 * len(weighed) * rows.noise(weighed) * rows.quantum
    paid = Fraction(0)
    if rows.most_paid:
        paid = Fraction(float(rows.weight_errors.sum())) * Fraction(rows.most_paid)
    return round_up((noise + paid) * (1 + Fraction(1, 10**6)))


def read_labels(labels: Any, n_columns: int, what: str, named: str = "labels") -> NDArray[Any]:
    """Return what columns stand for: as given, or their numbers."""
    if n_columns == 0:
        raise ValueError(f"{what} must have at least one column, got none.")
    if labels is None:
        return np.arange(n_columns)
    given = as_array(labels)
    if given.shape != (n_columns,):
        raise ValueError(
            f"{what} has {n_columns} columns, so {named} must name as many; got {given.tolist()}."
        )
    if len(set(given.tolist())) < n_columns:
        raise ValueError(
            f"{named} must be distinct, one for each column of {what}, got {given.tolist()}."
        )
    return given


def match_classes(
    labels: NDArray[Any], classes: Any, n_columns: int, what: str
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes that columns stand for, and the position of each row's class."""
    seen, codes = encode_labels(labels)
    if classes is None and len(seen) == n_columns:
        return seen, codes.astype(np.intp)
    if classes is None:
        integers = seen.dtype.kind in "iu" and int(seen.min()) >= 0 and int(seen.max()) < n_columns
        if not integers:
            raise ValueError(
                f"{what} has {n_columns} columns, but y has {len(seen)} classes, "
                f"{seen.tolist()}; say with classes what the columns stand for."
            )
        classes = np.arange(n_columns)
    known = read_labels(classes, n_columns, what, "classes")
    position = {label: k for k, label in enumerate(known.tolist())}
    unknown = np.array([label not in position for label in seen.tolist()])[codes]
    if unknown.any():
        place, value = first_place(unknown, labels)
        raise ValueError(f"y{place} = {value!r} is not among the classes {known.tolist()}.")
    order = np.array([position[label] for label in seen.tolist()], dtype=np.intp)
    return known, order[codes]


def _mean(total: Fraction, weight: Fraction) -> float:
    try:
        return float(total / weight)
    except OverflowError:
        raise ValueError(
            "the mean of the costs or rewards leaves the range of float64; divide all of them by "
            "one number."
        ) from None
