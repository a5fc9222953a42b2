"""The task of trees with linear models in the leaves: least squares, with or without a ridge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.engine._vector import LinearLoss
from certree.numbers._fixed_point import (
    check_numbers,
    check_size,
    exact_decimals,
    root_up,
    round_up,
    weighted_mean,
)
from certree.tasks._task import Laws, LeafCosts, LeafProblem, Rows, Sums, Task

# Sums of products are less than this, so that differences of their products lose no digit.
_MOST_SUM = 2**51 - 1

# Integer weights are used as they are, if that leaves columns so many steps on each side. Where the
# lightest rows have fewer, a tree is the best for other columns than those that were given.
_FEWEST_STEPS = 2**12

# Units that the cost of all rows has at most, and where a leaf may cost more than its parts.
_MOST_UNITS = 2**40
_MOST_UNKNOWN = 2**44

# A column that is rounded counts as constant in a leaf, or as a combination of other columns, where
# it is within so many units of that.
_NOISE_UNITS = 2

# How far float64 is off, as a share of the squared error of a single constant: for one column, and
# for several, whose pivots the core watches (docs/theory/linear-leaves.md).
_NOISE_SIMPLE = Fraction(1, 2**48)
_NOISE_TOGETHER = Fraction(1, 2**28)

# In a model of several columns, a column of which less than this share is left beside the others
# is a combination of them.
_NOTHING = 2.0**-30


@dataclass(frozen=True)
class Line:
    """A linear model.

    Attributes
    ----------
    intercept : float
        The prediction where all columns are 0.
    slopes : array of shape (n_columns,)
        Coefficients of the columns.
    """

    intercept: float
    slopes: NDArray[np.float64]


@dataclass(frozen=True)
class _Scaled:
    """Numbers as integers: ``middle + quantum * values``, off by at most `error` quanta."""

    values: NDArray[np.int64]
    middle: Fraction
    quantum: Fraction
    error: float


@dataclass(frozen=True)
class _Design:
    """The rows as integers; the moments of a leaf are sums of ``times * a * b`` over its rows.

    Attributes
    ----------
    table : int64 array of shape (n_rows, n_columns + 2)
        The constant, the target and the columns.
    times : int64 array of shape (n_rows,)
        What products of two columns are multiplied by.
    weight : Fraction
        What one unit of weight stands for.
    quanta : list of Fraction
        What one unit of the target, and of each column, stands for.
    units : tuple of Fraction
        What columns are rounded to a multiple of; 0: not rounded.
    moved : Fraction
        Weighted squares of what the targets were moved by, in units.
    share : Fraction
        The most that a weight was changed by, as a share of it.
    is_coarse : bool
        Whether the columns of the lightest rows have few steps, since weights are far apart.
    """

    table: NDArray[np.int64]
    times: NDArray[np.int64]
    weight: Fraction
    quanta: list[Fraction]
    units: tuple[Fraction, ...]
    moved: Fraction
    share: Fraction
    is_coarse: bool = False


def _scaled(numbers: NDArray[np.float64], most: int) -> _Scaled:
    """Return numbers as integers of at most this size, exactly where they are short decimals."""
    low, high = float(numbers.min()), float(numbers.max())
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    if half == 0:
        return _Scaled(np.zeros(len(numbers), np.int64), Fraction(middle), Fraction(1), 0.0)
    fixed = exact_decimals(numbers, 2 * half, 2 * most - 2)
    if fixed is not None:
        centre = (int(fixed.values.min()) + int(fixed.values.max())) // 2
        values = fixed.values - centre
        common = max(int(np.gcd.reduce(values)), 1)
        return _Scaled(values // common, centre * fixed.quantum, fixed.quantum * common, 0.0)
    exponent = math.ceil(math.log2(half / (most - 1)))
    quantum = Fraction(2) ** exponent
    values = np.rint(np.ldexp(numbers - middle, -exponent)).astype(np.int64)
    # What float64 loses in the difference is far below half a unit.
    return _Scaled(values, Fraction(middle), quantum, 0.501)


def _design(columns: NDArray[np.float64], target: NDArray[np.float64], rows: Rows) -> _Design:
    common = int(np.gcd.reduce(rows.weights))
    total = int(rows.weights.sum()) // common
    most = math.isqrt(_MOST_SUM // total)
    given = np.column_stack([target, columns])
    if rows.given is None and most >= _FEWEST_STEPS:
        parts = [_scaled(column, most) for column in given.T]
        table = np.column_stack([np.ones(len(target), np.int64), *(one.values for one in parts)])
        times = rows.weights // common
        weight = rows.quantum * common
        moved = Fraction(parts[0].error) ** 2 * total
        units = tuple(one.quantum if one.error else Fraction(0) for one in parts[1:])
        return _Design(
            table, times, weight, [one.quantum for one in parts], units, moved, Fraction(0)
        )
    return _weighted_design(given, rows)


def _weighted_design(given: NDArray[np.float64], rows: Rows) -> _Design:
    """Return rows multiplied by the roots of their weights, so that only products are rounded."""
    n_rows = len(given)
    most = math.isqrt(_MOST_SUM // n_rows)
    # Numbers between -1 and 1, times roots.
    steps = 2.0 ** (most.bit_length() - 1)
    weights = rows.floats
    heaviest = float(weights.max())
    roots = np.sqrt(weights / heaviest) * steps
    constant = np.maximum(np.rint(roots), 1.0)
    low, high = given.min(axis=0), given.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    is_constant = half == 0
    half = np.where(is_constant, 1.0, half)
    wanted = roots[:, None] * ((given - middle) / half)
    entries = np.rint(wanted)
    # The target of a row is its entry over the constant, the weight is the square of that.
    apart = np.abs(entries[:, 0] - constant * (wanted[:, 0] / roots))
    # The last bits of the target, and of its distance from the middle, count as moved, too.
    apart += roots * (float(np.abs(given[:, 0]).max() / half[0]) * 2.0**-51)
    moved = float(np.square(apart).sum())
    share = float(np.abs(np.square(constant / roots) - 1).max()) + 2.0**-50
    table = np.column_stack([constant, entries]).astype(np.int64)
    quanta = [Fraction(size) for size in half.tolist()]
    finest = int(constant.min())
    # A constant column is 0 in all rows, so that nothing of it is rounded.
    units = [Fraction(0) if c else q / finest for q, c in zip(quanta, is_constant, strict=True)]
    return _Design(
        table,
        np.ones(n_rows, np.int64),
        Fraction(heaviest) / int(steps) ** 2,
        quanta,
        tuple(units[1:]),
        Fraction(moved) * (1 + Fraction(1, 2**40)),
        Fraction(share),
        is_coarse=finest < _FEWEST_STEPS,
    )


def _squares_of(target: NDArray[np.float64], rows: Rows) -> tuple[Fraction, Fraction]:
    """Return the squared error around the mean of numbers as given, and the most it is off."""
    shares, largest = rows.shares, Fraction(rows.floats.max().item())
    total = math.fsum(shares)
    mean = math.fsum(shares * target) / total
    off = target - mean
    squares = max(math.fsum(shares * off * off) - math.fsum(shares * off) ** 2 / total, 0.0)
    # Targets and their distances from the mean have a last bit each, and so have products.
    moved = float(np.abs(target).max()) * 2.0**-51
    error = squares * 2.0**-48 + moved * (2 * math.sqrt(squares * total) + moved * total)
    return Fraction(squares) * largest, Fraction(error) * largest


def moment_columns(n_columns: int, is_simple: bool) -> list[tuple[int, int]]:
    """Return which two columns each moment multiplies: 0 the constant, 1 the target, then others.

    The order is that of :class:`certree.engine._vector.LinearLoss`.
    """
    pairs = [(0, 0), (0, 1), (1, 1)]
    for place in range(2, n_columns + 2):
        pairs += [(0, place), (place, place), (place, 1)]
    if not is_simple:
        places = range(2, n_columns + 2)
        pairs += [(j, k) for j in places for k in places if j < k]
    return pairs


class LinearProblem(LeafProblem):
    r"""Squared errors around linear models, from sums of products of integers.

    Attributes
    ----------
    columns : float array of shape (n_rows, n_columns)
        The columns of the models, of the rows that count.
    units_of_columns : tuple of Fraction
        What columns with many digits are rounded to a multiple of; 0 where nothing is rounded.
    """

    kind: ClassVar[str] = "callback"

    def __init__(self, task: LinearError, target: NDArray[np.float64], rows: Rows) -> None:
        self.task, self.target, self.weights = task, target, rows.floats
        self.columns = rows.select(task.columns)
        rows.check_ratios()
        check_size(target, "y", rows.total_weight)
        for place, column in zip(task.features, self.columns.T, strict=False):
            check_size(column, f"column {place} of X", rows.total_weight)
        design = _design(self.columns, target, rows)
        self._design = design
        self.units_of_columns = design.units
        pairs = moment_columns(self.columns.shape[1], task.is_simple)
        products = [design.table[:, j] * design.table[:, k] for j, k in pairs]
        self.statistics = np.stack(products, axis=1) * design.times[:, None]
        self._whole_unit = design.quanta[0] ** 2 * design.weight
        sums = self.statistics.sum(axis=0, keepdims=True)
        weight, total, square = (int(x) for x in sums[0, :3])
        squares = square - Fraction(total * total, weight)
        self.superadditive = task.ridge == 0
        self.loss = self._loss(rows, float(squares), sums)
        self.largest = max(self.loss.most, 1) if self.superadditive else _MOST_UNKNOWN
        self.unit = self._whole_unit / Fraction(self.loss.scale)
        self.constant = Fraction(0)
        self.complexity_unit, unsure = squares * self._whole_unit, Fraction(0)
        if design.moved or design.share:
            # Penalties are shares of this unit. It is computed from the targets themselves: moving
            # them changes their squares by more than leaves that fit well cost.
            self.complexity_unit, unsure = _squares_of(target, rows)
        self.rounding = round_up(self._rounding(rows, squares) + rows.most_leaves * unsure)

    def _loss(self, rows: Rows, squares: float, sums: Sums) -> LinearLoss:
        """Return the leaf cost of the core, with a scale that fills its range."""
        task, design = self.task, self._design
        room = min(rows.most, _MOST_UNITS)
        if not self.superadditive:
            room = min(room, _MOST_UNKNOWN // len(rows.weights))
        # Constant targets cost 0 on every scale; a fine one keeps the unit of costs small.
        scale = 2.0 ** math.floor(math.log2(max(room, 1) / (squares or 1.0)))
        per_unit = Fraction(task.ridge) / design.weight
        ridge = tuple(float(per_unit / quantum**2) for quantum in design.quanta[1:])
        pairs = zip(design.units, design.quanta[1:], strict=True)
        noise = tuple(float((_NOISE_UNITS * unit / quantum) ** 2) for unit, quantum in pairs)
        loss = LinearLoss(task.is_simple, ridge, noise, scale, 2**62)
        return loss._replace(most=int(loss.costs(sums)[0]))

    def _rounding(self, rows: Rows, squares: Fraction) -> Fraction:
        """Return what rounding of targets, weights and leaves changes in the cost of a tree.

        The root of a cost is the distance of the targets from a subspace, so that it changes by no
        more than they are moved. Without a ridge, no tree costs more than a single leaf.
        """
        design = self._design
        most = Fraction(self.loss.most + 1) / Fraction(self.loss.scale)
        single = most if self.superadditive else squares
        noise = squares * (_NOISE_SIMPLE if self.task.is_simple else _NOISE_TOGETHER)
        by_targets = design.moved + 2 * root_up(design.moved * single) if design.moved else 0
        floors = Fraction(rows.most_leaves) / Fraction(self.loss.scale)
        return (floors + noise + by_targets + design.share * single) * self._whole_unit

    @property
    def hidden(self) -> Fraction:
        """What rounding may hide: where columns are coarse, the cost itself."""
        return max(self.rounding, self.single_leaf()) if self._design.is_coarse else self.rounding

    def engine_settings(self) -> dict[str, Any]:
        return {"linear_loss": self.loss, "superadditive": self.superadditive}

    def units(self, sums: Sums) -> NDArray[np.int64]:
        return self.loss.costs(sums)

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the mean target of each node."""
        means = np.zeros(len(sums))
        for leaf in np.unique(leaves):
            at = leaves == leaf
            means[leaf] = weighted_mean(self.target[at], self.weights[at])
        return means

    def fit(self, rows: NDArray[np.intp], sums: Sums) -> Line:
        """Return the best model of the rows of a leaf with these sums, from unrounded numbers."""
        x, y, weights = self.columns[rows], self.target[rows], self.weights[rows]
        total = math.fsum(weights)
        centres = np.array([math.fsum(weights * column) / total for column in x.T])
        mean = math.fsum(weights * y) / total
        around, targets = x - centres, y - mean
        slopes = np.zeros(x.shape[1])
        if self.task.is_simple:
            best = self._best_column(sums)
            if best is not None:
                column = around[:, best]
                spread = math.fsum(weights * column * column) + self.task.ridge
                slopes[best] = math.fsum(weights * column * targets) / spread
        else:
            noise = np.array([_NOISE_UNITS * float(unit) for unit in self.units_of_columns])
            slopes = _least_squares(
                around, targets, weights, self.task.ridge, noise * math.sqrt(total)
            )
        return Line(mean - math.fsum(slopes * centres), slopes)

    def _best_column(self, sums: Sums) -> int | None:
        """Return the first of the columns whose line saves most; None if none has a slope."""
        best, most = None, Fraction(0)
        weight, y, _, *others = (int(number) for number in sums)
        for column, (penalty, noise) in enumerate(zip(*self.loss[1:3], strict=True)):
            x, xx, xy = others[3 * column : 3 * column + 3]
            spread = weight * xx - x * x
            if spread <= weight**2 * Fraction(noise):
                continue
            saved = (weight * xy - x * y) ** 2 / (spread + weight * Fraction(penalty))
            if saved > most:
                best, most = column, saved
        return best

    def describe(self, sums: Sums, amounts: Sequence[str]) -> list[str]:
        sizes = sums[:, 0] * float(self._design.weight)
        errors = np.sqrt(self.units(sums) * float(self.unit) / np.where(sizes > 0, sizes, 1.0))
        pairs = zip(amounts, errors.tolist(), strict=True)
        return [f"{amount}, error {error:.4g}" for amount, error in pairs]

    objective_name = "R2"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.complexity_unit) if self.complexity_unit else 1.0


def _least_squares(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    ridge: float,
    noise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the coefficients of centred columns, the smallest in units of the columns' spread.

    `noise` is how large a column may be, in all rows, and still count as nothing.
    """
    roots = np.sqrt(weights)
    table, target = x * roots[:, None], y * roots
    spread = np.sqrt(np.square(table).sum(axis=0) + ridge)
    spread = np.where(spread > 0, spread, 1.0)
    table = table / spread
    if ridge:
        table = np.concatenate([table, np.diag(math.sqrt(ridge) / spread)])
        target = np.concatenate([target, np.zeros(x.shape[1])])
    table[:, spread <= noise] = 0.0
    least = (noise / spread)[spread > noise].max(initial=_NOTHING)
    found, *_ = np.linalg.lstsq(table, target, rcond=float(least))
    return np.asarray(found / spread, dtype=np.float64)


class LinearError(Task):
    r"""Weighted squared error around a linear model in each leaf, with a ridge.

    .. math:: \sum_{\text{leaves}} \min_{a, b} \Big( \sum_{i \in \text{leaf}} w_i
              (y_i - a - b \cdot x_i)^2 + \lambda |b|^2 \Big)

    A complexity of one costs as much as the squared error of a single constant, so that
    ``objective = R2 - complexity * splits``.

    Parameters
    ----------
    columns : float array of shape (n_rows, n_columns)
        What models may use.
    is_simple : bool
        Whether a model has one column, the best; otherwise it has all.
    ridge : float
        The factor of the squared coefficients.
    features : tuple of int
        Which columns of the table these are.
    """

    name: ClassVar[str] = "linear_error"

    def __init__(
        self,
        columns: NDArray[np.float64],
        is_simple: bool = True,
        ridge: float = 0.0,
        features: tuple[int, ...] = (),
    ) -> None:
        self.columns, self.is_simple, self.ridge = columns, is_simple, float(ridge)
        self.features = features
        self.name = "ridge_error" if self.ridge else "linear_error"  # type: ignore[misc]
        self.laws = Laws(superadditive=self.ridge == 0)

    def on(self, y: Any, rows: Rows) -> LinearProblem:
        target = check_numbers(y, "y", (rows.n_rows,), exactly=True)
        return LinearProblem(self, rows.select(target), rows)

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        target = check_numbers(y, "y", (n_rows,))
        columns = self.columns - self.columns.mean(axis=0)
        table = np.column_stack([np.ones(n_rows), target - target.mean(), columns])
        pairs = moment_columns(columns.shape[1], self.is_simple)
        statistics = np.stack([table[:, j] * table[:, k] for j, k in pairs], axis=1)
        return LeafCosts(statistics, self._cost)

    def _cost(self, sums: NDArray[Any]) -> NDArray[np.float64]:
        """Return the costs of leaves with sums of the user's own numbers."""
        weight, y, yy = np.maximum(sums[:, 0], 1e-300), sums[:, 1], sums[:, 2]
        n_columns = self.columns.shape[1]
        x, xx, xy = np.moveaxis(sums[:, 3 : 3 + 3 * n_columns].reshape(len(sums), -1, 3), 2, 0)
        spread = xx - x * x / weight[:, None] + self.ridge
        common = xy - x * y[:, None] / weight[:, None]
        squares = yy - y * y / weight
        if self.is_simple:
            saved = np.divide(common**2, spread, out=np.zeros_like(spread), where=spread > 1e-12)
            return np.asarray(np.maximum(squares - saved.max(axis=1), 0.0))
        products = np.zeros((len(sums), n_columns, n_columns))
        for place, (j, k) in enumerate(moment_columns(n_columns, False)[3 + 3 * n_columns :]):
            line = sums[:, 3 + 3 * n_columns + place] - x[:, j - 2] * x[:, k - 2] / weight
            products[:, j - 2, k - 2] = products[:, k - 2, j - 2] = line
        places = np.arange(n_columns)
        products[:, places, places] = spread
        slopes = np.einsum("kij,kj->ki", np.linalg.pinv(products, hermitian=True), common)
        return np.asarray(np.maximum(squares - (slopes * common).sum(axis=1), 0.0))

    def __repr__(self) -> str:
        return f"LinearError(is_simple={self.is_simple}, ridge={self.ridge!r})"
