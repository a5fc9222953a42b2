"""The task of survival trees: the likelihood of censored times, with one hazard ratio per leaf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.leaves.numbers.deviances import rate_deviance
from certree.leaves.survival.censored import read_censored
from certree.leaves.survival.event_times import nelson_aalen
from certree.tasks._leaf_cost import LeafCost, RateProblem
from certree.tasks._task import Laws, LeafCosts, Rows, Sums, Task

# The events, of the lightest row, that a leaf without any has in its prediction; it costs 0 anyway.
_UNSEEN = 0.5


class SurvivalProblem(RateProblem):
    """The loss on certain rows.

    Attributes
    ----------
    target : structured array of shape (n_rows,)
        Event and time of the rows that count.
    weights : array of shape (n_rows,)
        Their weights.
    hazard : float array of shape (n_rows,)
        The cumulative hazard of all rows at their times.
    times, hazards : float arrays
        The baseline: times of events, and the cumulative hazard from each of them on.
    """

    def __init__(self, target: NDArray[Any], rows: Rows) -> None:
        self.target = rows.select(target)
        self.is_weighted = rows.sample_weight is not None
        counted: NDArray[Any] = rows.weights
        if rows.given is not None:
            counted = np.empty(len(rows.given), dtype=object)
            counted[:] = [Fraction(weight) for weight in rows.given.tolist()]
        # What curves add up and subtract is exact.
        self.weights = counted
        if rows.given is None and rows.quantum != 1:
            self.weights = counted.astype(object) * rows.quantum
        self.times, self.hazards = nelson_aalen(self.target["time"], self.target["event"], counted)
        lightest = Fraction(min(counted.tolist())) * (rows.quantum if rows.given is None else 1)
        least = float(lightest / (rows.total_weight + lightest))
        hazard = _of_rows(target["time"], self.times, self.hazards, least)
        self.unseen = _UNSEEN * float(lightest)
        super().__init__(_loss(target["event"], hazard, self.unseen), rows)
        self.hazard = rows.select(hazard)
        # A complexity of one costs as much as a single leaf.
        self.complexity_unit = self.cost_of_one_leaf

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        risks = np.array(super().read(sums, leaves))
        weights = self.weights.astype(np.float64)
        for leaf in np.unique(leaves).tolist():
            # From numbers that are not rounded to integers.
            rows = leaves == leaf
            events = math.fsum(weights[rows & self.target["event"]])
            risks[leaf] = (events or self.unseen) / math.fsum(weights[rows] * self.hazard[rows])
        return risks

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str]:
        told = [(events, f"{expected:.4g}") for events, expected, _ in self.sums(sums).tolist()]
        if self.is_weighted:
            return [
                f"{amount}, events of weight {events:.6g}, {expected} expected"
                for amount, (events, expected) in zip(amounts, told, strict=True)
            ]
        return [
            f"{events:.6g} {'event' if events == 1 else 'events'}, {expected} expected"
            for events, expected in told
        ]

    objective_name = "explained deviance"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.complexity_unit) if self.complexity_unit else 1.0


class SurvivalLoss(Task):
    r"""The loss of survival trees: the likelihood of times until an event, some of them censored.

    A leaf has the hazard of all rows times a number :math:`\theta`, its risk. With the
    cumulative hazard :math:`\Lambda` of all rows (Nelson and Aalen) and :math:`\delta_i = 1` where
    the event was seen, the best :math:`\theta` of a leaf is :math:`\sum \delta_i / \sum
    \Lambda(t_i)`, and its loss against a risk of its own for every row is

    .. math:: -\sum_i \delta_i \log \Lambda(t_i) - \sum_i \delta_i \cdot \log \theta.

    A complexity of one costs as much as a single leaf, so that ``objective`` is the share of that
    loss which a tree explains, less ``complexity * splits``.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> y = [[1, 1], [2, 1], [4, 1], [8, 0]]  # time, event
    >>> solution = solve(tasks.SurvivalLoss(), [[0], [0], [1], [1]], y, max_depth=1)
    >>> [round(risk, 3) for risk in solution.predict([[0], [1]]).tolist()]
    [2.4, 0.462]
    """

    name: ClassVar[str] = "survival"
    laws: Laws = Laws(superadditive=True)

    def on(self, y: Any, rows: Rows) -> SurvivalProblem:
        return SurvivalProblem(read_censored(y, rows.n_rows, type(self).__name__), rows)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        target = read_censored(y, n_rows, type(self).__name__)
        baseline = nelson_aalen(target["time"], target["event"], np.ones(n_rows, dtype=np.int64))
        hazard = _of_rows(target["time"], *baseline, 1 / (n_rows + 1))
        return _loss(target["event"], hazard, _UNSEEN).leaf_costs(None, n_rows)


def _loss(event: NDArray[np.bool_], hazard: NDArray[np.float64], unseen: float) -> LeafCost:
    events = event.astype(np.float64)
    return rate_deviance(events, hazard, "survival", factor=1, unseen=unseen)


def _of_rows(
    time: NDArray[Any],
    times: NDArray[np.float64],
    hazards: NDArray[np.float64],
    least: float,
) -> NDArray[np.float64]:
    """Return the cumulative hazard of every row, which is `least`, and not 0, before all events.

    SurTree has one over the number of rows and one. With weights that is the share of the lightest
    row in all rows and one more like it, which is less than the first step.
    """
    return np.append(least, hazards)[np.searchsorted(times, time, side="right")]
