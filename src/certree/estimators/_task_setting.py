"""A task on the rows of a table, ready to be solved, and what its trees say of their nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.engine import _vector
from certree.tasks._task import LeafProblem, Rows
from certree.tree._leaf_text import weight

from ._certify import float_counts
from ._measurements import Measurements

# Rounding of more than one in so many parts of what there is to save leaves nothing optimal.
_NEGLIGIBLE = 2**10


@dataclass(frozen=True)
class TaskObjective:
    """What the search minimises, and how it relates to the user's cost.

    ``U = error_scale * (units of the leaves) + split_penalty * splits``, and the cost is
    ``(U + offset) * unit + constant``.
    """

    error_scale: int
    split_penalty: int
    offset: int
    unit: Fraction
    constant: Fraction
    penalty: Fraction
    complexity: Fraction

    def cost(self, value: int) -> Fraction:
        """Return the cost that U = `value` stands for."""
        # In integers until the end: this is done for every entry of the history.
        unit, constant = self.unit, self.constant
        common = unit.denominator * constant.denominator
        units = (int(value) + self.offset) * unit.numerator * constant.denominator
        return Fraction(units + constant.numerator * unit.denominator, common)


@dataclass(frozen=True)
class Setting:
    """A task on the rows of a table, ready to be solved."""

    name: str
    rows: Rows
    columns: NDArray[np.uint8]
    problem: LeafProblem
    objective: TaskObjective
    weights_are_exact: bool
    measurements: Measurements | None
    seconds: float

    def engine_problem(self) -> _vector.VectorProblem:
        """Return what the core is asked to solve."""
        settings = dict(self.problem.engine_settings())
        if self.measurements is not None:
            settings["test_costs"] = self.measurements.for_engine(self.problem)
            settings["weights"] = self.rows.weights
        known = self.problem.types
        vectors = self.problem.statistics if known is None else known
        return _vector.VectorProblem(self.columns, vectors, kind=self.problem.kind, **settings)


@dataclass(frozen=True)
class Stated:
    """A task in integers: the rows, what their leaves cost, what is minimised, and prices."""

    rows: Rows
    problem: LeafProblem
    objective: TaskObjective
    measurements: Measurements | None


def hides_much(problem: LeafProblem) -> bool:
    """Return whether rounding is more than a thousandth of what a tree without splits costs."""
    return 0 < problem.single_leaf() < problem.hidden * _NEGLIGIBLE


def node_sums(
    setting: Setting, result: engine.Nodes, leaves: NDArray[np.intp]
) -> NDArray[np.int64]:
    """Return the sums of the statistics in every node."""
    return engine.sums_of_nodes(result, setting.problem.sums_at(leaves, len(result.test)))


def units_paid(setting: Setting, result: engine.Nodes, leaves: NDArray[np.intp]) -> int:
    """Return what all rows pay for tests, in units of the search."""
    if setting.measurements is None:
        return 0
    prices = setting.measurements.for_engine(setting.problem)
    sums = np.zeros(len(result.test), dtype=np.int64)
    np.add.at(sums, leaves, setting.rows.weights)
    weights = engine.sums_of_nodes(result, sums)
    made: dict[int, list[int]] = {0: []}
    total = 0
    for node in np.flatnonzero(result.test >= 0).tolist():
        number = int(prices["feature"][result.test[node]])
        price = setting.measurements.charge(
            number, made[node], prices["price"], prices["discounted"]
        )
        total += price * int(weights[node])
        child = int(result.first_child[node])
        made[child] = made[child + 1] = [*made[node], number]
    return total


def node_counts(
    setting: Setting,
    result: engine.Nodes,
    leaves: NDArray[np.intp],
    predicted: NDArray[np.int32],
    n_classes: int,
) -> NDArray[Any]:
    """Return the weight of the rows in every node by their class, or by what they get."""
    codes = setting.problem.codes()
    if codes is None:
        codes = predicted.astype(np.intp)
    given, quantum, total = setting.rows.given, setting.rows.quantum, setting.rows.total_weight
    weights = setting.rows.weights if given is None else given
    if given is not None and total >= 10**290:
        # As shares of all weight, as for integers.
        weights = setting.rows.shares / math.fsum(setting.rows.shares)
    cells = np.zeros((len(result.test), n_classes), dtype=weights.dtype)
    np.add.at(cells, (leaves, codes), weights)
    counts = engine.sums_of_nodes(result, cells)
    if given is not None:
        return counts
    return counts if quantum == 1 else float_counts(counts, quantum, total)


def node_notes(
    problem: LeafProblem, sums: NDArray[np.int64], counts: NDArray[Any], label: NDArray[np.int32]
) -> list[str] | None:
    """Return a remark on each node, which says what is counted if that is no class of the rows."""
    told = problem.describe(sums)
    if told is not None or not problem.counted:
        return told
    totals = counts.sum(axis=1).tolist()
    shown = counts[np.arange(len(label)), np.maximum(label, 0)].tolist()
    return [
        f"{problem.counted} {weight(part)} of {weight(total)}, {part / (total or 1):.1%}"
        if of_leaf >= 0
        else f"{weight(total)} in all"
        for part, total, of_leaf in zip(shown, totals, label.tolist(), strict=True)
    ]
