"""Costs and formulas of trees with linear models, recomputed in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree.exceptions import CertificateError

from ._attributes import stated_list
from ._audit import Audit, Data, Walk
from ._candidates import CandidateRules
from ._leaf_costs import Leaves
from ._notes import Note, RowsOf, deviation
from ._plain_numbers import (
    LAST_FLOAT,
    common_unit,
    decimals,
    read,
    read_list,
    root_above,
    share_explained,
)
from ._stated_weights import are_short, cost_range, most_splits

# A search adds up products of integers to less than this.
_SUMS = 2**51

# Weights of more units are rounded, with the rows.
_MOST_UNITS = 2**26

# What float64 may be off by, as a share of all squares, in models of one column and of several.
_FLOAT_NOISE = {"simple": Fraction(1, 2**47), "ridge": Fraction(1, 2**27)}


class Whole(NamedTuple):
    """Numbers of rows as Python's integers, at the places of the rows, times a unit."""

    values: NDArray[Any]
    unit: Fraction

    @classmethod
    def of(cls, numbers: Mapping[int, Fraction | int], n_rows: int) -> Whole:
        """Return numbers as integers of the coarsest unit."""
        values = np.zeros(n_rows, dtype=object)
        found, unit = _integers(numbers.values())
        values[list(numbers)] = found
        return cls(values, unit)


def _integers(numbers: Iterable[Fraction | int]) -> tuple[list[int], Fraction]:
    """Return numbers as integers, and what a unit of these stands for."""
    plain = list(numbers)
    common = math.lcm(*{number.denominator for number in plain})
    return [n.numerator * (common // n.denominator) for n in plain], Fraction(1, common)


@dataclass(frozen=True)
class Models:
    """Rows with their targets and the columns of models, and what a model costs."""

    data: Data
    target: Mapping[int, Fraction]
    columns: Sequence[Mapping[int, Fraction]]
    is_simple: bool
    ridge: Fraction
    units: Sequence[Fraction]
    """What columns were rounded to; 0: not at all."""
    formulas: dict[tuple[Any, ...], tuple[list[int], Fraction]] = field(default_factory=dict)
    """Formulas that have been read."""

    @cached_property
    def whole(self) -> list[Whole]:
        """Columns, and the target last, as integers: their sums need no common denominators."""
        return [Whole.of(numbers, self.data.n_rows) for numbers in (*self.columns, self.target)]

    @cached_property
    def weights(self) -> Whole:
        """The weights of rows as integers."""
        return Whole.of(self.data.weights, self.data.n_rows)

    def moments(self, rows: Sequence[int]) -> list[list[Fraction]]:
        """Return sums of products around the means: of columns, and of the target last."""
        at = np.asarray(rows, dtype=np.intp)
        weights, numbers = self.weights.values[at], [one.values[at] for one in self.whole]
        weighed = [weights * values for values in numbers]
        total, sums = int(weights.sum()), [int(values.sum()) for values in weighed]
        size = len(numbers)
        found = [[Fraction(0)] * size for _ in range(size)]
        for j in range(size):
            for k in range(j + 1):
                around = total * int(weighed[j] @ numbers[k]) - sums[j] * sums[k]
                unit = self.whole[j].unit * self.whole[k].unit * self.weights.unit
                found[j][k] = found[k][j] = Fraction(around, total) * unit
        return found

    def best(self, rows: Sequence[int]) -> tuple[Fraction, list[Fraction]]:
        """Return the least cost of some rows, and coefficients that have it."""
        return self._best(self.moments(rows), Fraction(self.data.weight(rows)), 2)

    def _best(
        self, moments: list[list[Fraction]], weight: Fraction, factor: int
    ) -> tuple[Fraction, list[Fraction]]:
        """Return the same, where columns within so many units are nothing."""
        n_columns = len(self.columns)
        least = [weight * (factor * unit) ** 2 for unit in self.units]
        moments = [list(line) for line in moments]
        is_nothing = [moments[k][k] <= least[k] for k in range(n_columns)]
        for k in range(n_columns):
            moments[k][k] += self.ridge
        whole = moments[-1][-1]
        if not self.is_simple:
            return _solve(moments, [factor * unit for unit in self.units], weight, self.ridge)
        best, slopes = whole, [Fraction(0)] * n_columns
        for k in range(n_columns):
            if not is_nothing[k]:
                slope = moments[k][-1] / moments[k][k]
                if whole - slope * moments[k][-1] < best:
                    best = whole - slope * moments[k][-1]
                    slopes = [slope * (j == k) for j in range(n_columns)]
        return best, slopes

    def predict(self, value: Sequence[Any], row: int) -> tuple[Fraction, Fraction]:
        """Return what a formula says of a row, and the size of its terms."""
        (constant, *slopes), unit = self._formula(value)
        terms = [constant]
        pairs = zip(slopes, self.whole, strict=False)
        terms += [slope * one.values[row] for slope, one in pairs if slope]
        return sum(terms) * unit, sum(map(abs, terms)) * unit

    def _formula(self, value: Sequence[Any]) -> tuple[list[int], Fraction]:
        """Return the numbers of a formula, for columns as integers, as integers of one unit."""
        key = tuple(value)
        if key not in self.formulas:
            numbers = [read(value[0])]
            pairs = zip(value[1:], self.whole, strict=False)
            numbers += [read(slope) * one.unit for slope, one in pairs]
            self.formulas[key] = _integers(numbers)
        return self.formulas[key]

    def cost(self, rows: Sequence[int], value: Any) -> Fraction:
        """Return what a leaf costs with a formula."""
        if not isinstance(value, list) or len(value) != len(self.columns) + 1:
            raise CertificateError(f"a leaf holds {value!r}, and no formula of its columns.")
        if self.is_simple and sum(slope != 0 for slope in value[1:]) > 1:
            raise CertificateError(f"a leaf holds {value!r}, which uses more than one column.")
        at, target = np.asarray(rows, dtype=np.intp), self.whole[-1]
        numbers, unit = self._formula(value)
        # The target and what the formula says, as integers of one unit.
        (per_target, per_term), fine = _integers([target.unit, unit])
        left = per_target * target.values[at] - per_term * numbers[0]
        for slope, one in zip(numbers[1:], self.whole, strict=False):
            if slope:
                left = left - (per_term * slope) * one.values[at]
        squares = int((self.weights.values[at] * left) @ left) * fine**2 * self.weights.unit
        penalty = self.ridge * sum((read(slope) ** 2 for slope in value[1:]), Fraction(0))
        return squares + penalty

    def note(self, rows: Sequence[int], off: Fraction) -> Note:
        """Return what trees note on a node."""
        weight = self.data.weight(rows)
        cost = self.best(rows)[0] if rows else Fraction(0)
        return [RowsOf(), ", error ", deviation(cost, weight, off)]

    def noise(self, rows: Sequence[int]) -> Fraction:
        """Return how far rounded columns may move the cost of a leaf.

        The root of the cost is a distance; moving columns by their units moves it by no more than
        the coefficients times that.
        """
        if not any(self.units):
            return Fraction(0)
        moments, weight = self.moments(rows), Fraction(self.data.weight(rows))
        # What is nothing by one of the two may be something by the other.
        (low, _), (high, _) = self._best(moments, weight, 1), self._best(moments, weight, 4)
        cost, slopes = self._best(moments, weight, 2)
        moved = self._moved(slopes)
        if not self.is_simple:
            # The search may have used rounded columns in place of exact ones.
            moved = max(moved, self._moved(self._rounded_first(moments, weight)))
        square = moved**2 * weight
        return high - low + 4 * (square + 2 * root_above(square * cost))

    def _moved(self, slopes: Sequence[Fraction]) -> Fraction:
        """Return how far rounded columns may move a prediction."""
        return sum((abs(b) * u for b, u in zip(slopes, self.units, strict=True)), Fraction(0))

    def _rounded_first(self, moments: list[list[Fraction]], weight: Fraction) -> list[Fraction]:
        """Return coefficients in which exact columns are combinations of rounded ones."""
        order = sorted(range(len(self.columns)), key=lambda k: -self.units[k])
        places = [*order, len(order)]
        turned = [[moments[j][k] for k in places] for j in places]
        for k in range(len(order)):
            turned[k][k] += self.ridge
        found = _solve(turned, [2 * self.units[k] for k in order], weight, self.ridge)[1]
        return [found[order.index(k)] for k in range(len(order))]

    def allowed(self, certificate: Any) -> Fraction:
        """Return the most that rounding may take from the cost of a tree."""
        n_leaves = most_splits(self.data.n_rows, certificate) + 1
        share = Fraction(1 if certificate.complexity else 0)
        most = min(cost_range(self.data.n_rows, certificate, share) // 2**10, 2**40)
        if self.ridge:
            most = min(most, 2**44 // len(self.data.rows))
        squares = self.squares
        weights = set(map(Fraction, self.data.weights.values()))
        # Targets that are all equal count in units of weight.
        floors = n_leaves * 4 * (squares or max(weights)) / max(most, 1)
        noise = squares * _FLOAT_NOISE["simple" if self.is_simple else "ridge"]
        spread = max(self.target.values()) - min(self.target.values())
        moved = self.data.total() * (2 * self.coarsest(list(self.target.values()))) ** 2
        by_targets = moved + 2 * root_above(moved * squares) if moved * squares else moved
        uneven = Fraction(0)
        if not self.has_short_weights:
            n_weights = len(self.data.weights)
            steps = root_above(max(weights) / min(weights) * Fraction(n_weights, _SUMS))
            uneven = 4 * steps * (1 + steps) * squares
            by_targets += spread**2 * Fraction(1, 2**40)
        bound = noise + by_targets + uneven
        if certificate.status != "precision":
            bound = min(bound, squares / 2**8)
        return floors + bound

    @cached_property
    def squares(self) -> Fraction:
        """The squared error of the mean of all rows."""
        return self.moments(self.data.rows)[-1][-1]

    @cached_property
    def n_units(self) -> Fraction:
        """Number of units of weight."""
        return self.data.total() / common_unit(self.data.weights.values())

    @cached_property
    def has_short_weights(self) -> bool:
        """Whether weights are used as they are."""
        return self.n_units <= _MOST_UNITS and are_short(self.data.weights, 2**40)

    def coarsest(self, numbers: Sequence[Fraction]) -> Fraction:
        """Return the coarsest unit that numbers may be rounded to; 0 if they have to be exact."""
        spread = max(numbers) - min(numbers)
        weights = set(self.data.weights.values())
        units = self.n_units if self.n_units <= 2 * _MOST_UNITS else Fraction(len(numbers))
        if not self.has_short_weights:
            units = max(units, len(numbers) * Fraction(max(weights)) / min(weights))
        step = root_above(units / _SUMS)
        places = decimals(numbers)
        if self.has_short_weights and places is not None and spread * 10**places * step <= 1:
            return Fraction(0)
        return 4 * spread * step


def _solve(
    moments: list[list[Fraction]], noise: list[Fraction], weight: Fraction, ridge: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """Return what is left of the last square beside the others, and coefficients of these.

    A column of which each row has no more than its `noise` left is a combination of those before.
    What is left of a column holds the noise of those that were taken away from it.
    """
    size = len(moments) - 1
    lines, noise = [list(line) for line in moments], list(noise)
    pivots = []
    for k in range(size):
        if lines[k][k] <= weight * noise[k] ** 2 + (ridge if noise[k] else 0):
            continue
        pivots.append(k)
        for j in range(size + 1):
            if j != k and lines[j][k]:
                factor = lines[j][k] / lines[k][k]
                lines[j] = [a - factor * b for a, b in zip(lines[j], lines[k], strict=True)]
                if j < size:
                    noise[j] += abs(factor) * noise[k]
    slopes = [Fraction(0)] * size
    for k in pivots:
        slopes[k] = lines[k][-1] / lines[k][k]
    return lines[-1][-1], slopes


def linear(data: Data, y: Any, estimator: Any) -> Leaves:
    """Return leaves that cost the squared error around their formulas, and the ridge."""
    numbers = read_list(y, data.n_rows, "y")
    features = _features(data, estimator)
    columns = [
        {row: read(data.table.columns[k].values[row], "a column") for row in data.rows}
        for k in features
    ]
    units = [Fraction(unit) for unit in stated_list(estimator, "model_units_")]
    models = Models(
        data,
        {row: numbers[row] for row in data.rows},
        columns,
        estimator.leaf_model == "simple",
        read(estimator.ridge, "ridge"),
        units,
    )
    if len(units) != len(columns):
        raise CertificateError(f"model_units_: {len(units)} units for {len(columns)} columns.")
    for k, unit, column in zip(features, units, columns, strict=True):
        coarsest = models.coarsest(list(column.values()))
        if not 0 <= unit <= coarsest:
            raise CertificateError(
                f"column {data.table.name(k)} was rounded to {float(unit):.6g}, but needs "
                f"{float(coarsest):.6g} at most."
            )
    whole = models.squares
    return Leaves(
        "ridge_error" if models.ridge else "linear_error",
        models.cost,
        lambda rows: models.best(rows)[0],
        lambda cost: share_explained(cost, whole),
        whole,
        noise=models.noise,
        inspect=lambda audit, tree, walk: _check_columns(audit, tree, features, models, walk),
        says=models.predict,
        note=models.note,
        allowed=models.allowed,
        more_rows=1 if models.is_simple else len(columns),
    )


def _features(data: Data, estimator: Any) -> list[int]:
    """Return the columns of models, by the parameters; raise if the model has others."""
    table = data.table
    named = estimator.model_features
    if named is not None:
        found = [
            list(table.names or ()).index(one) if isinstance(one, str) else one % len(table.columns)
            for one in named
        ]
    else:
        rules = CandidateRules(categorical_features=estimator.categorical_features)
        declared = rules.declared(table)
        found = [
            k
            for k, column in enumerate(table.columns)
            if column.kind == "number"
            and not declared[k]
            and all(value is not None for value in column.values)
        ]
    stated = stated_list(estimator, "model_features_")
    if stated != found:
        raise CertificateError(f"model_features_: {stated}, but the parameters ask for {found}.")
    return found


def _check_columns(
    audit: Audit, tree: Any, features: Sequence[int], models: Models, walk: Walk
) -> None:
    """Compare what a certificate and leaves state beside costs: rounding, columns and means."""
    payload = tree.payload
    if audit.certificate.rounding < audit.certificate.unit:
        # Costs of leaves are fractions, of which a search counts whole units.
        audit.differ("rounding: less than one unit, but leaves are counted in whole units")
    audit.compare("columns of formulas", list(payload.features), list(features))
    names = list(map(models.data.table.name, features))
    audit.compare("names of columns in formulas", list(payload.columns), names)
    weights = models.data.weights
    # Leaves with one formula hold one model.
    of_model: dict[int, list[int]] = {}
    for leaf in walk.leaves:
        of_model.setdefault(walk.tree.label[leaf], []).extend(walk.rows[leaf])
    for model, rows in of_model.items():
        total = sum((weights[row] * models.target[row] for row in rows), Fraction(0))
        mean, size = total / models.data.weight(rows), max(abs(models.target[i]) for i in rows)
        stated = float(payload.means[model])
        what = f"mean of the rows with formula {model}"
        audit.compare_within(what, read(stated), mean, size / 2**44 + LAST_FLOAT)
    audit.done("the columns of formulas, and the mean of the rows of each")
