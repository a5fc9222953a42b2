"""Tasks of counts, amounts and times: deviances from one rate or mean for each leaf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._fixed_point import check_numbers, weighted_mean
from certree.tasks._leaf_cost import EPSILON, LeafCost, RateProblem, times_log
from certree.tasks._task import Laws, LeafCosts, Rows, Sums, Task
from certree.tree._nodes import Nodes

# Distances from a mean, as shares of it, for which a series of so many terms has all digits.
_SMALL, _N_TERMS = 2.0**-8, 9


def poisson_deviance(y: Any, exposure: Any = None) -> LeafCost:
    r"""Return the task of least Poisson deviance, for counts.

    .. math:: 2 \sum_i \Big( y_i \log \frac{y_i}{\mu_i} - (y_i - \mu_i) \Big),
              \qquad \mu_i = e_i \frac{\sum y}{\sum e} \text{ over the rows of the leaf}

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Counts, not negative; a leaf predicts the rate of its rows.
    exposure : array-like of shape (n_rows,), optional
        Time or size that a count refers to, positive; by default one each.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.poisson_deviance([0, 1, 5, 7])
    >>> solve(task, [[0], [0], [1], [1]], max_depth=1).predict([[0], [1]]).tolist()
    [0.5, 6.0]
    """
    counts = check_numbers(y, "y", (None,))
    time = np.ones(len(counts)) if exposure is None else exposure
    time = check_numbers(time, "exposure", (len(counts),))
    _refuse(counts < 0, "y", counts, "negative; counts must not be")
    _refuse(time <= 0, "exposure", time, "not positive; exposures must be")
    return rate_deviance(counts, time, "poisson_deviance")


def gamma_deviance(y: Any) -> LeafCost:
    r"""Return the task of least gamma deviance, for amounts.

    .. math:: 2 \sum_i \Big( \log \frac{\mu}{y_i} + \frac{y_i}{\mu} - 1 \Big),
              \qquad \mu \text{ the mean of the leaf}

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Amounts, positive; a leaf predicts the mean of its rows.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.gamma_deviance([1.0, 2.0, 10.0, 30.0])
    >>> solve(task, [[0], [0], [1], [1]], max_depth=1).predict([[0], [1]]).tolist()
    [1.5, 20.0]
    """
    amounts = check_numbers(y, "y", (None,))
    _refuse(amounts <= 0, "y", amounts, "not positive; amounts must be")
    # One event for every row, in the time y: the mean is one over their rate.
    ones = np.ones(len(amounts))
    return rate_deviance(ones, amounts, "gamma_deviance", inverse=True)


def exponential_survival(time: Any, event: Any) -> LeafCost:
    r"""Return the task of least deviance of exponential survival times, some of them censored.

    In a leaf with :math:`d` events in the total time :math:`T` the hazard is :math:`d / T`; the
    deviance against a hazard of its own for every row is

    .. math:: -2 \Big( d \log \frac dT + \sum_{\text{events}} \log t_i \Big).

    Parameters
    ----------
    time : array-like of shape (n_rows,)
        Time under observation, positive.
    event : array-like of shape (n_rows,)
        Whether it ended with the event (1) or was censored (0). A leaf predicts its hazard.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.exponential_survival([1, 3, 10, 30], [1, 1, 1, 0])
    >>> solve(task, [[0], [0], [1], [1]], max_depth=1).predict([[0], [1]]).tolist()
    [0.5, 0.025]
    """
    times = check_numbers(time, "time", (None,))
    events = check_numbers(event, "event", (len(times),))
    _refuse(times <= 0, "time", times, "not positive; times must be")
    _refuse((events != 0) & (events != 1), "event", events, "neither 0 nor 1; events must be")
    return rate_deviance(events, times, "exponential_survival")


def rate_deviance(
    events: NDArray[Any],
    time: NDArray[Any],
    name: str,
    *,
    weights: NDArray[np.float64] | None = None,
    factor: int = 2,
    unseen: float = 0.0,
    inverse: bool = False,
) -> LeafCost:
    """Return the task of least deviance from one rate of events for each leaf.

    Logarithms are of rates relative to the common one of all rows, with these `weights`; the loss
    is the same with any, and float64 loses least of it with this one. A deviance is twice the loss,
    which has the `factor` 1. A leaf without events predicts the rate that it had with `unseen` of
    them. With `inverse`, leaves predict one over their rate.
    """
    common = _common_rate(events, time, weights)

    def cost(sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        number, length, best = sums.T
        rate = number / np.maximum(length, 1e-300)
        loss = np.maximum(factor * (best - times_log(number, rate / common)), 0.0)
        if inverse:
            return loss, length / np.maximum(number, 1e-300)
        return loss, np.where(number > 0, rate, unseen / np.maximum(length, 1e-300))

    # What rows contribute at rates of their own.
    own = times_log(events, events / time / common)
    task = LeafCost(np.stack([events, time, own], axis=1), cost, bounds="superadditive", name=name)
    task.noise = partial(_rate_noise, common=common)
    task.rate_factor = factor
    task.common_rate = common
    task.centred = lambda weights: rate_deviance(
        events, time, name, weights=weights, factor=factor, unseen=unseen, inverse=inverse
    )
    return task


def _common_rate(
    events: NDArray[Any], time: NDArray[Any], weights: NDArray[np.float64] | None
) -> float:
    """Return the rate of all rows together; 1 if that is no positive number of float64."""
    weights = np.ones(len(time)) if weights is None else weights
    with np.errstate(all="ignore"):
        rate = float((weights * events).sum() / (weights * time).sum())
    return rate if 1e-290 < rate < 1e290 else 1.0


class DevianceProblem(RateProblem):
    """A deviance on certain rows, around the mean of each leaf."""

    objective_name = "D2"

    def __init__(self, task: LeafCost, target: NDArray[np.float64], rows: Rows) -> None:
        super().__init__(task, rows)
        self.target, self.rows = rows.select(target), rows
        # A complexity of one costs as much as a single leaf: nothing, where all rows are equal.
        is_constant = self.target.min() == self.target.max()
        self.complexity_unit = Fraction(0) if is_constant else self.cost_of_one_leaf
        self.is_constant = bool(is_constant)

    @property
    def hidden(self) -> Fraction:
        """Where all rows are equal, no tree is better than another."""
        return Fraction(0) if self.is_constant else super().hidden

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        means = np.array(super().read(sums, leaves), dtype=np.float64)
        weights = self.rows.shares
        for leaf in np.unique(leaves).tolist():
            # From numbers that are not rounded to integers.
            at = leaves == leaf
            means[leaf] = weighted_mean(self.target[at], weights[at])
        return means

    def describe_nodes(
        self, nodes: Nodes, leaves: NDArray[np.intp], sums: Sums, amounts: Sequence[str]
    ) -> list[str]:
        """Return remarks from the numbers as given: sums that were rounded may tell another."""
        target, weights = self.target, self.rows.shares
        is_gamma = self.task.name == "gamma_deviance"
        return [
            f"mean of {amount}, mean deviance "
            f"{_mean_deviance(target[at], weights[at], is_gamma):.4g}"
            for amount, at in zip(amounts, nodes.rows(leaves), strict=True)
        ]

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.complexity_unit) if self.complexity_unit else 1.0


class Deviance(Task):
    """The deviance of counts or amounts, for an estimator that is given them as y.

    Parameters
    ----------
    kind : {"poisson", "gamma"}
        Which deviance.
    """

    laws: Laws = Laws(superadditive=True)

    def __init__(self, kind: str) -> None:
        self.name = kind  # type: ignore[misc]
        self.make = {"poisson": poisson_deviance, "gamma": gamma_deviance}[kind]

    def on(self, y: Any, rows: Rows) -> DevianceProblem:
        target = check_numbers(y, "y", (rows.n_rows,))
        loss = self.make(target)
        chosen = rows.select(target)
        if chosen.min() == chosen.max() > 0:
            # Logarithms of ones are exactly nothing, as the deviance of equal rows is.
            loss = self.make(np.ones(rows.n_rows))
        return DevianceProblem(loss, target, rows)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        return self.make(y).leaf_costs(None, n_rows)


def _mean_deviance(
    target: NDArray[np.float64], weights: NDArray[np.float64], is_gamma: bool
) -> float:
    """Return the mean of the deviances of some numbers from their mean; 0 for no numbers.

    With d the distance from the mean m, as a share of it, these are ``2 * (d - log(1 + d))`` for
    gamma and ``2 * m * ((1 + d) * log(1 + d) - d)`` for Poisson. Where d is small the first terms
    cancel, and a series has the digits.
    """
    if not len(target) or target.min() == target.max():
        return 0.0
    exponent = math.frexp(float(target.max()))[1]
    # Relative to the largest, so that no mean is next to zero.
    parts = np.ldexp(target, -exponent)
    mean = weighted_mean(parts, weights)
    share = (parts - mean) / mean
    is_small = np.abs(share) < _SMALL
    near, far = np.where(is_small, share, 0.0), np.where(is_small, 0.0, share)
    # Not of the quotient, which can be too small for float64.
    positive = (target > 0) & ~is_small
    log_of_mean = math.log(mean) + exponent * math.log(2)
    logs = np.where(positive, np.log(np.where(positive, target, 1.0)) - log_of_mean, 0.0)
    terms = range(2, _N_TERMS)
    if is_gamma:
        series = sum((-near) ** k / k for k in terms)
        losses, scale = series + far - logs, 1.0
    else:
        series = sum((-near) ** k / (k * (k - 1)) for k in terms)
        losses, scale = series + (1 + far) * logs - far, mean
    value = 2 * math.fsum(weights * losses) / math.fsum(weights) * scale
    with np.errstate(over="ignore"):
        return value if is_gamma else float(np.ldexp(value, exponent))


def _rate_noise(
    table: NDArray[np.float64],
    weights: NDArray[np.float64],
    errors: NDArray[np.float64],
    *,
    common: float,
) -> float:
    """Return how far ``2 * (own - E * log(E / L))`` is off, summed over the parts of a partition.

    L is the time times the `common` rate. With r the largest ``|log(E / L)|`` of a part, the terms
    are at most ``|own| + E (1 + r)``, and float64 is off by a few epsilon of that. E and L are
    rounded up. A change of E by d changes ``E * log(E / L)`` by at most ``d * (r + 1)``, one of L
    by d changes it by ``E * log(1 + d / L)``. Logarithms are concave, so the sum over the parts is
    at most ``N * log(1 + s / N)``, with all events N and s the sum of ``E * d / L``. That is at
    most ``(a * E**2 + d**2 / a) / (2 * L)`` for any a. The squares over L add up to no more in the
    parts than in single rows, and the best a gives the root of their product.
    """
    counts, lengths, own = table.T
    if not counts.any() or (common == 1 and np.array_equal(counts, lengths)):
        # Events and times are the same integers in every leaf, and the logarithm of one is 0.
        return 0.0
    events, times = weights * counts, weights * lengths
    more, longer, own_off = errors.T
    most_rate = float(((events + more) / times).max()) / common
    least_rate = float(events[counts > 0].min() / (times + longer).sum()) / common
    log = max(abs(np.log(most_rate)), abs(np.log(least_rate)))
    terms = float((weights * np.abs(own)).sum()) + float(events.sum()) * (1 + log)
    by_time = math.sqrt(float(((events + more) ** 2 / times).sum()))
    by_time *= math.sqrt(float((longer**2 / times).sum()))
    seen = float((events + more).sum())
    by_time = seen * math.log1p(by_time / seen)
    rounded = float(own_off.sum()) + float(more.sum()) * (log + 1) + by_time
    return float(2.01 * (8 * EPSILON * terms + rounded))


def _refuse(bad: NDArray[np.bool_], what: str, values: NDArray[Any], why: str) -> None:
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what}[{row}] = {values[row].item()!r} is {why}.")
