"""Tasks written in Python: statistics per row and a function from sums to costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.engine._vector import RateLoss
from certree.numbers._exact import read_fraction
from certree.numbers._fixed_point import (
    check_numbers,
    check_size,
    finest,
    fixed_point,
    round_up,
)
from certree.numbers._fractions import to_float

from ._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task

EPSILON = 2.0**-51
"""Every operation of float64 in leaf costs, also a logarithm, is off by at most this share."""

# Sums of statistics stay below this, so that a float64 holds them all.
_MOST_SUM = 2**52

# With integer weights up to this, a row counts as often as its weight says, exactly.
_FEW_UNITS = 2**10

# The most that a leaf may cost, in units of the search, if no law bounds it.
_MOST_UNKNOWN = 2**44

Cost = Callable[[NDArray[Any]], Any]
"""From sums (n_leaves, n_statistics) to costs (n_leaves,), or costs and predictions."""

Noise = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], float]
"""From statistics, weights, and the most that each weighted statistic is off, to the most that the
costs of the parts of any partition are off together: by float64 and by these errors."""


class FunctionProblem(LeafProblem):
    """A leaf cost that is called with batches of sums.

    Float costs become integer numbers of units, rounded down: integer parts of a superadditive
    cost are superadditive. Integer costs are used exactly.
    """

    kind: ClassVar[str] = "callback"

    rounded_up: ClassVar[int] = 0
    """So many of the first statistics, none of them negative, are rounded up."""

    def __init__(self, task: LeafCost, rows: Rows) -> None:
        self.task = task
        given = task.table(rows.n_rows)
        table = check_numbers(given, "statistics", (rows.n_rows, None), exactly=True)
        self.is_integer = given.dtype.kind in "iub"
        self.statistics, self.quanta, errors = _scaled(rows.select(table), rows, self.rounded_up)
        # The search rounds real weights; the predictions of leaves use them unrounded.
        self.floats = None if rows.given is None else rows.select(table) * rows.given[:, None]
        rows.check_range()
        self.weight_quantum = rows.quantum
        self.total_weight = rows.total_weight
        self.complexity_unit = rows.total_weight
        whole = self.statistics.sum(axis=0, keepdims=True)
        costs, _ = call_cost(task.cost, self.sums(whole))
        self.is_exact = costs.dtype.kind in "iub"
        self.noise = self._noise(task, rows.select(table), rows, errors)
        largest = self._without_noise(float(costs[0]))
        if largest < 0:
            raise ValueError(
                f"cost gives {largest!r} for all rows in one leaf; costs must not be negative. "
                "Add a constant per row to the statistics or to the cost."
            )
        is_bounded = task.laws.superadditive
        self.most = rows.most if is_bounded else _MOST_UNKNOWN // len(rows.weights)
        self.scale = self._scale(largest, rows.most_leaves)
        self.unit = 1 / self.scale
        self.constant = Fraction(0)
        floors = Fraction(0) if self.is_exact else self.unit * rows.most_leaves
        self.rounding = floors + self.noise
        self.cost_of_all = Fraction(largest)
        self.has_level_rows = _are_proportional(rows.select(table)[:, : self.rounded_up or None])
        self.whole = int(self.cost_of_all * self.scale)
        self.largest = max(self.whole, 1) if is_bounded else _MOST_UNKNOWN
        self.worst_change = self._worst_change(task, rows)

    @property
    def hidden(self) -> Fraction:
        """What rounding may hide: integer parts are as fine as the user asks for."""
        return self.noise

    def single_leaf(self) -> Fraction:
        """Return what a tree without splits costs.

        Where noise leaves nothing of it, that is the noise, or the weight of all rows if these are
        alike, so that all trees cost the same.
        """
        return self.cost_of_all or (self.total_weight if self.has_level_rows else self.noise)

    def _scale(self, largest: float, most_leaves: int) -> Fraction:
        """Return the units per cost: one over that of the user, or a power of ten."""
        if self.is_exact:
            return Fraction(1)
        if self.task.unit is not None:
            scale = 1 / read_fraction(self.task.unit, "unit")
            if Fraction(largest) * scale > self.most:
                raise ValueError(
                    f"unit={self.task.unit!r} is too fine: all rows in one leaf cost {largest!r}, "
                    f"and at most {self.most} units can be counted."
                )
            return scale
        if self.task.laws.superadditive:
            scale = _power_of_ten(largest, self.most)
        else:
            # A leaf may cost more than one leaf with all rows, and more than the samples here.
            scale = _power_of_ten(max(largest, self._largest_seen()), self.most // 64)
        # A unit far below the noise would add no information.
        while self.noise and 10 * most_leaves / scale <= self.noise:
            scale /= 10
        return scale

    def _largest_seen(self) -> float:
        """Return the largest cost of single rows, and of the first and the last few of them."""
        rising = self.statistics.cumsum(axis=0)
        falling = rising[-1] - rising[:-1]
        sums = self.sums(np.asfortranarray(np.concatenate([self.statistics, rising, falling])))
        try:
            with np.errstate(all="ignore"):
                answer = self.task.cost(sums)
        except Exception:
            # Sets of few rows may be too small for leaves; real leaves are asked about again.
            return 0.0
        costs = np.asarray(answer[0] if isinstance(answer, tuple) else answer, dtype=np.float64)
        return float(costs[np.isfinite(costs)].max(initial=0.0))

    def _noise(
        self, task: LeafCost, table: NDArray[np.float64], rows: Rows, errors: NDArray[np.float64]
    ) -> Fraction:
        """Return how far costs are off in all, where the task knows that."""
        if task.noise is None:
            return Fraction(0)
        with np.errstate(all="ignore"):
            noise = task.noise(table, rows.floats, errors)
        if not math.isfinite(noise):
            low, high = rows.floats.min().item(), rows.floats.max().item()
            raise ValueError(
                f"sample_weight, from {low:.3g} to {high:.3g}, times the numbers of rows leaves "
                "the range of float64; leave out rows that hardly count."
            )
        return round_up(Fraction(noise))

    def _least_cost(self) -> float:
        """Return the number below which a cost is negative and not noise of float64 around 0."""
        return -max(1e-9, float(self.noise))

    def _without_noise(self, cost: float) -> float:
        return 0.0 if self._least_cost() < cost < 0 else cost

    def _worst_change(self, task: LeafCost, rows: Rows) -> NDArray[np.int64] | None:
        changes = task.worst_change(rows.n_rows)
        if changes is None:
            return None
        part = rows.quantum.denominator
        if rows.given is not None or (part != 1 and (rows.weights % part).any()):
            # The law is about whole rows: part of one may change a cost by as much as all of it.
            return None
        weights = rows.weights * to_float(rows.quantum)
        # Rounded up, and one more for the integer parts of two costs.
        units = np.ceil(rows.select(changes) * weights * float(self.scale)) + 1
        worst: NDArray[np.int64] = np.minimum(units, float(self.largest)).astype(np.int64)
        return worst

    def engine_settings(self) -> dict[str, Any]:
        return {
            "leaf_function": self.leaf_units,
            "superadditive": self.task.laws.superadditive,
            "worst_change": self.worst_change,
        }

    def sums(self, units: Sums) -> NDArray[Any]:
        """Return sums in the user's own numbers."""
        if self.is_integer and all(q == 1 for q in self.quanta):
            return units
        return np.asarray(units * np.array([float(q) for q in self.quanta]))

    def leaf_units(self, sums: Sums) -> NDArray[np.int64]:
        """Return the cost of leaves in units of the search; called by it with batches."""
        # Column by column: for few columns and many lines this is a hundred times faster in NumPy.
        costs, _ = call_cost(self.task.cost, self.sums(np.asfortranarray(sums)))
        if self.is_exact:
            if costs.dtype.kind not in "iub":
                raise ValueError(
                    "cost gave integers for all rows in one leaf, and numbers of type "
                    f"{costs.dtype} for others; give the same type always."
                )
            units = costs.astype(np.int64, copy=False)
        else:
            units = np.minimum(np.floor(costs * float(self.scale)), 2.0**62).astype(np.int64)
        least, most = int(units.min(initial=0)), int(units.max(initial=0))
        if least < 0:
            units = np.where((units < 0) & (costs > self._least_cost()) & (costs < 0), 0, units)
            if units.min() < 0:
                place = int(np.argmin(units))
                raise ValueError(
                    f"cost gives {costs[place].item()!r} for the sums "
                    f"{self.sums(sums)[place].tolist()}; costs must not be negative."
                )
        limit = self.whole if self.task.laws.superadditive else self.most
        if most > limit:
            # Noise of float64 above the cost of the whole counts as that cost.
            noise = int(self.noise * self.scale) + int(limit * 1e-9) + 1
            if most > limit + (0 if self.is_exact else noise):
                self._refuse(int(np.argmax(units)), costs, sums)
            units = np.minimum(units, limit)
        return np.ascontiguousarray(units)

    def _refuse(self, place: int, costs: NDArray[Any], sums: Sums) -> None:
        """Raise because of a cost that is too large."""
        at = f"cost gives {costs[place].item()!r} for the sums {self.sums(sums)[place].tolist()}"
        if self.task.laws.superadditive:
            raise ValueError(
                f"{at}, more than {float(self.whole * self.unit)!r} for all rows in one leaf: it "
                "is not superadditive, as its bounds say, or it loses too many digits of float64."
            )
        advice = "costs of a smaller range" if self.is_exact else "LeafCost a larger unit"
        raise ValueError(
            f"{at}, more than the search can count, {float(self.most * self.unit)!r}; give "
            f"{advice}, or bounds."
        )

    def units(self, sums: Sums) -> NDArray[np.int64]:
        return self.leaf_units(sums)

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[Any]:
        own = self.sums(sums)
        if self.floats is not None:
            own = own.copy()
            own[np.unique(leaves)] = 0
            np.add.at(own, leaves, self.floats)
        _, predictions = call_cost(self.task.cost, own)
        if predictions is None:
            return np.zeros(len(sums), dtype=np.int64)
        for leaf in np.unique(leaves).tolist():
            value = predictions.tolist()[leaf]
            if value != value:
                raise ValueError(
                    f"cost predicts {value!r} for the sums {self.sums(sums)[leaf].tolist()}; "
                    "predictions of leaves must be values."
                )
        return predictions

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str]:
        costs, _ = call_cost(self.task.cost, self.sums(sums))
        return [f"cost {float(cost):.5g}" for cost in costs]

    def objective(self, cost: Fraction) -> float:
        return float(cost)


class RateProblem(FunctionProblem):
    """The loss of one rate of events per leaf, which the core computes itself.

    The third statistic becomes what rows save at rates of their own, in units of cost, rounded up.
    That is no less than what any leaf saves, so no leaf costs less than nothing (docs/theory). What
    it is above the true number, `constant` takes back. All rates are relative to that of all rows,
    so that what leaves save is of the size of the loss, in whatever units time is given.
    """

    kind: ClassVar[str] = "rates"

    # A row with an event or a time has at least a unit of it, so that no rate has lost its sign.
    rounded_up: ClassVar[int] = 2

    # A deviance is a sum of terms of at least 0; the constant below can take it under that.
    least_leaf_cost = Fraction(0)

    def __init__(self, task: LeafCost, rows: Rows) -> None:
        assert task.centred is not None
        rows.check_ratios()
        for number, column in enumerate(rows.select(task.table(rows.n_rows)).T[:2]):
            what = ("the numbers of events", "the times or amounts")[number]
            check_size(column, what, rows.total_weight)
        weights = np.zeros(rows.n_rows)
        weights[slice(None) if rows.kept is None else rows.kept] = rows.shares
        unit, task = task.unit, task.centred(weights)
        task.unit = unit
        super().__init__(task, rows)
        events, exposure, own = self.quanta
        factor = Fraction(task.rate_factor or 1)
        gain = events * factor * self.scale
        ratio = exposure / events * Fraction(task.common_rate)
        self.rate_loss = RateLoss(to_float(gain), to_float(ratio))
        given = round(int(self.statistics[:, 2].sum()) * own * factor / self.unit)
        self.statistics[:, 2] = self._own_units()
        self.constant = (given - int(self.statistics[:, 2].sum())) * self.unit
        self.rounding += self.unit + round_up(Fraction(2.0**-48 * self._most_saved()))
        self.quanta[2] = self.unit / factor
        self.whole = int(self.units(self.statistics.sum(axis=0, keepdims=True))[0])
        self.largest = max(self.whole, 1)
        self.cost_of_one_leaf = max(self.whole * self.unit + self.constant, Fraction(0))

    @property
    def hidden(self) -> Fraction:
        """What rounding may hide, with the units: sums that are large make them coarse."""
        return self.rounding

    def _most_saved(self) -> float:
        """Return more than what the leaves of a tree save or lose together, and their events."""
        events, _, own = np.abs(self.sums(self.statistics)).sum(axis=0).tolist()
        return float((self.task.rate_factor or 1) * (own + 2 * events))

    def _own_units(self) -> NDArray[np.float64]:
        """Return what rows save at rates of their own, at least."""
        events, exposure, _ = self.statistics.T.astype(np.float64)
        gained = events * self.rate_loss.gain
        rates = np.where(events > 0, events / (exposure * self.rate_loss.ratio), 1.0)
        saved = gained * np.log(rates)
        # Twice what the core takes away for the errors of float64.
        more = saved + 2.0**-48 * (np.abs(saved) + gained)
        return np.where(saved != 0, np.ceil(more), 0.0)

    def _scale(self, largest: float, most_leaves: int) -> Fraction:
        scale = super()._scale(largest, most_leaves)
        # Savings are whole numbers of float64.
        while self._most_saved() * float(scale) > 2**50:
            scale /= 10
        return scale

    def engine_settings(self) -> dict[str, Any]:
        return {"rate_loss": self.rate_loss}

    def leaf_units(self, sums: Sums) -> NDArray[np.int64]:
        return self.rate_loss.costs(sums)


class LeafCost(Task):
    """A task of your own: what is summed over the rows of a leaf, and what the sums cost.

    Parameters
    ----------
    statistics : array-like of shape (n_rows, n_statistics), or callable
        What is summed over the rows of a leaf, times their weights. A callable takes an array of
        row numbers and returns the statistics of these rows together, which must be the sum of
        what it returns for each of them; :func:`check_task` tries that.
    cost : callable
        Called with an array of sums, one line per leaf, of shape (n_leaves, n_statistics); returns
        the costs of these leaves, or a pair of costs and predictions, each of shape (n_leaves,).
        Costs are not negative. The batches are large, so NumPy does the work. Sums are integers
        if the statistics and the sample weights are, floats otherwise; costs that are integers are
        used exactly, floats are rounded down to a fine quantum. What float64 does inside of the
        function is its own: the certificate is about the costs that it returns.
    bounds : "superadditive", Laws or None, default=None
        The laws that the cost keeps. Without any, only bounds that hold for every cost are used.
        :func:`check_task` looks for rows that break them.
    name : str, default="leaf_cost"
        What the certificate calls it.
    unit : float, optional
        What costs that are floats are rounded down to a multiple of. By default a power of ten:
        about 12 digits of the cost of all rows in one leaf, and without bounds some digits fewer
        than the largest of some other leaves leaves room for.

    Examples
    --------
    >>> import numpy as np
    >>> from certree import solve, tasks
    >>> def smaller_part(sums):
    ...     return sums.min(axis=1), sums.argmax(axis=1)
    >>> classes = np.eye(2, dtype=int)[[0, 1, 0]]
    >>> task = tasks.LeafCost(classes, smaller_part, bounds="superadditive")
    >>> solve(task, [[0], [1], [1]], max_depth=1).certificate.cost
    1
    """

    name: ClassVar[str] = "leaf_cost"

    noise: Noise | None = None
    """How far costs may be off as float64 computes them; None: not known."""

    rate_factor: float | None = None
    """The factor of a :class:`~certree.engine._vector.RateLoss`, if the cost is one."""

    common_rate: float = 1.0
    """What the rates of such a cost are relative to."""

    centred: Callable[[NDArray[np.float64]], LeafCost] | None = None
    """From the weights of all rows to the same cost, with rates relative to their common one."""

    def __init__(
        self,
        statistics: Any,
        cost: Cost,
        bounds: Laws | str | None = None,
        name: str = "leaf_cost",
        unit: float | None = None,
    ) -> None:
        if not callable(cost):
            raise TypeError(f"cost must be callable, got {type(cost).__name__}.")
        if unit is not None and read_fraction(unit, "unit") <= 0:
            raise ValueError(f"unit must be greater than 0, got {unit!r}.")
        self.statistics = statistics
        self.cost = cost
        self.bounds = bounds
        self.name = name  # type: ignore[misc]
        self.unit = unit
        self.laws = _read_laws(bounds)

    def on(self, y: Any, rows: Rows) -> FunctionProblem:
        return (FunctionProblem if self.rate_factor is None else RateProblem)(self, rows)

    def table(self, n_rows: int) -> NDArray[Any]:
        """Return the statistics of every row."""
        if not callable(self.statistics):
            return np.asarray(self.statistics)
        lines = [np.atleast_1d(self.statistics(np.array([row]))) for row in range(n_rows)]
        return np.stack(lines)

    def worst_change(self, n_rows: int) -> NDArray[np.float64] | None:
        """Return what a row may add to the cost of a leaf, if that is stated."""
        if self.laws.worst_change is None:
            return None
        changes = check_numbers(self.laws.worst_change, "worst_change", (n_rows,))
        if (changes < 0).any():
            row = int(np.argmax(changes < 0))
            raise ValueError(f"worst_change[{row}] = {float(changes[row])!r} must not be negative.")
        return changes

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        self.worst_change(n_rows)
        table = self.table(n_rows)
        check_numbers(table, "statistics", (n_rows, None))
        return LeafCosts(
            table,
            lambda sums: call_cost(self.cost, sums)[0],
            self.statistics if callable(self.statistics) else None,
        )

    def __repr__(self) -> str:
        return f"LeafCost(name={self.name!r}, bounds={self.bounds!r})"


def call_cost(cost: Cost, sums: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Call a user's leaf cost and check what it returns.

    Raises
    ------
    ValueError
        If costs or predictions have another shape than one per leaf, or a cost is not a number.
    """
    answer = cost(sums)
    predictions = None
    if isinstance(answer, tuple):
        if len(answer) != 2:
            raise ValueError(
                f"cost must return costs, or costs and predictions; got {len(answer)} things."
            )
        answer, predictions = answer[0], np.asarray(answer[1])
    costs = np.asarray(answer)
    for what, values in (("costs", costs), ("predictions", predictions)):
        if values is not None and values.shape != (len(sums),):
            raise ValueError(
                f"cost must return {what} of shape ({len(sums)},), one for each line of sums, got "
                f"shape {values.shape}."
            )
    if costs.dtype.kind not in "iubf":
        raise ValueError(f"cost must return numbers, got costs of type {costs.dtype}.")
    if costs.dtype.kind == "f" and not np.isfinite(costs).all():
        place = int(np.argmax(~np.isfinite(costs)))
        raise ValueError(
            f"cost[{place}] = {costs[place].item()!r} for the sums {sums[place].tolist()} is not a "
            "finite number."
        )
    return costs, predictions


def _read_laws(bounds: Laws | str | None) -> Laws:
    if bounds is None:
        return Laws()
    if isinstance(bounds, Laws):
        return bounds
    if bounds == "superadditive":
        return Laws(superadditive=True)
    raise ValueError(f"bounds must be 'superadditive', tasks.Laws(...) or None, got {bounds!r}.")


def _scaled(
    table: NDArray[np.float64], rows: Rows, n_up: int
) -> tuple[NDArray[np.int64], list[Fraction], NDArray[np.float64]]:
    """Return weighted statistics as integers, what one unit of each column stands for, and errors.

    The errors are the most that each weighted statistic is off by rounding. The first `n_up`
    columns are rounded up.
    """
    columns, quanta, errors = [], [], []
    weighed, weights = rows.weigh(table)
    # Weights that are multiples of a large number need no more digits than others.
    common = int(np.gcd.reduce(weights))
    weights, unit = weights // common, rows.quantum * common
    for number, column in enumerate(weighed.T):
        total = float((np.abs(column) * weights).sum())
        fixed, times = fixed_point(column, total, _MOST_SUM, binary=True), weights
        is_product = rows.given is not None
        if fixed.error and not is_product and weights.max() > _FEW_UNITS:
            # A product is rounded once, a number once for every unit of weight.
            column, times, is_product = column * weights, np.ones_like(weights), True
            fixed = fixed_point(column, total, _MOST_SUM, binary=True)
        values, error = fixed.values, fixed.error
        if fixed.error and number < n_up:
            values, error = _rounded_up(column, fixed.quantum), fixed.quantum
        columns.append(values * times)
        quanta.append(fixed.quantum * unit)
        off = np.where(column != 0, times * to_float(error * unit), 0.0)
        if is_product:
            off += np.abs(column) * (to_float(unit) * 2.0**-49)
        errors.append(off)
    if not columns:
        raise ValueError("statistics must have at least one column, got none.")
    return np.stack(columns, axis=1), quanta, np.stack(errors, axis=1)


def _are_proportional(table: NDArray[np.float64]) -> bool:
    """Return whether all rows are multiples of one, up to the last digits of float64."""
    one = table[np.abs(table).sum(axis=1).argmax()]
    largest = np.abs(one).argmax()
    return np.allclose(table * one[largest], table[:, [largest]] * one, rtol=1e-12, atol=0.0)


def _rounded_up(column: NDArray[np.float64], quantum: Fraction) -> NDArray[np.int64]:
    """Return how many quanta, of a power of two, are at least the products that a column holds."""
    bits = quantum.denominator.bit_length() - quantum.numerator.bit_length()
    return np.ceil(np.ldexp(column, bits) * (1 + 2.0**-50)).astype(np.int64)


def _power_of_ten(largest: float, most: int) -> Fraction:
    """Return the units per cost, a power of ten: about 12 digits of the largest cost."""
    if largest <= 0:
        return Fraction(10**9)
    digits = finest(largest, min(most, 10**12))
    return Fraction(10) ** (digits if digits >= 0 else min(finest(largest, most), 0))


def times_log(factor: NDArray[Any], number: NDArray[Any]) -> NDArray[np.float64]:
    """Return ``factor * log(number)``, and 0 where the factor is."""
    positive = factor > 0
    logs = np.log(np.where(positive, number, 1.0))
    return np.asarray(np.where(positive, factor * logs, 0.0), dtype=np.float64)
