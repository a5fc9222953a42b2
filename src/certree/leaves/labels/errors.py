"""The task of classification: errors in one output, or in several with classes of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels, encode_labels
from certree.encoding._named import read_outputs
from certree.leaves.outputs.weights import read_output_weights, refuse_for_one
from certree.numbers._exact import class_fractions, read_fraction
from certree.numbers._fixed_point import round_up
from certree.numbers._fractions import common_unit
from certree.tasks._label_costs import LabelProblem, _LabelTask
from certree.tasks._task import LeafCosts, LeafProblem, Rows, Sums

# Weights of classes that are multiples of one number up to this are exact.
_MOST_MULTIPLE = 10**15


class AccuracyProblem(LabelProblem):
    """A label problem reported as a share of right answers, with costs in class weights."""

    def __init__(
        self,
        labels: NDArray[Any],
        class_weights: list[Fraction],
        rows: Rows,
        codes: NDArray[np.intp],
    ) -> None:
        prices, price_unit = _as_prices(class_weights)
        if rows.prices is not None:
            # Prices of tests share the unit of errors.
            prices, price_unit = prices * float(price_unit), Fraction(1)
        costs = prices[:, None] * (1.0 - np.eye(len(labels)))
        super().__init__(labels, costs, rows, codes, codes)
        self.unit *= price_unit
        self.rounding *= price_unit
        self.whole *= price_unit
        # Right answers are a share of the weight of all rows, that of their classes included.
        totals = [rows.weight_of(codes == k) for k in range(len(labels))]
        self.total_weight = sum(map(Fraction.__mul__, class_weights, totals), Fraction(0))
        self.complexity_unit = self.total_weight
        if any(weight != 1 for weight in class_weights):
            self.class_weights = class_weights
        counted = [read_fraction(price, "class_weight") * price_unit for price in prices.tolist()]
        change = sum(
            abs(used - weight) * total
            for used, weight, total in zip(counted, class_weights, totals, strict=True)
        )
        if rows.given is not None and len(labels) > 1:
            # Totals of real weights are floats; with one class there are no errors.
            change += self.total_weight / 2**50
        self.rounding = round_up(self.rounding + change)

    objective_name = "accuracy"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.total_weight)


class OutputErrors(LabelProblem):
    """The weight of wrong labels, summed over outputs; a leaf takes the best label of each.

    The sums of a leaf are what each label of each output costs. A leaf costs the sum over outputs
    of the least of them, which is superadditive as each of them is.

    Parameters
    ----------
    classes : sequence of arrays
        The classes of each output.
    codes : array of int, shape (n_rows, n_outputs)
        Which of them the rows that count have.
    weights : sequence of Fraction
        What an error in each output costs.
    rows : Rows
        These rows.
    names : sequence of str, optional
        What the outputs are called.
    """

    def __init__(
        self,
        classes: Sequence[NDArray[Any]],
        codes: NDArray[np.intp],
        weights: Sequence[Fraction],
        rows: Rows,
        names: Sequence[str] | None,
    ) -> None:
        n_outputs = len(classes)
        prices, price_unit = _as_prices(list(weights))
        kinds, lines = np.unique(codes, axis=0, return_inverse=True)
        costs = [
            price * (kinds[:, [k]] != np.arange(len(classes[k])))
            for k, price in enumerate(prices.tolist())
        ]
        lines = lines.reshape(-1).astype(np.intp)
        # The errors of all outputs share the range.
        shared = replace(rows, most=max(rows.most // n_outputs, 1))
        labels = np.arange(sum(map(len, classes)))
        super().__init__(labels, np.hstack(costs), shared, lines, lines)
        self.output_classes, self.output_codes = tuple(classes), codes
        self.output_names, self.output_weights = names, list(weights)
        self.ends = np.cumsum([len(one) for one in classes])[:-1]
        counted = [read_fraction(price, "output_weights") * price_unit for price in prices.tolist()]
        change = sum(abs(used - w) for used, w in zip(counted, weights, strict=True))
        self.total_weight = self.complexity_unit = rows.total_weight * sum(weights)
        self.unit *= price_unit
        self.rounding = round_up(
            self.rounding * price_unit * n_outputs + change * rows.total_weight
        )
        self.largest *= n_outputs

    def engine_settings(self) -> dict[str, Any]:
        return {"outputs": tuple(len(classes) for classes in self.output_classes)}

    def _by_output(self, sums: Sums) -> list[Sums]:
        return np.split(sums, self.ends, axis=1)

    def units(self, sums: Sums) -> NDArray[np.int64]:
        least = [part.min(axis=1) for part in self._by_output(sums)]
        return np.asarray(np.sum(least, axis=0, dtype=np.int64))

    def single_leaf(self) -> Fraction:
        return LeafProblem.single_leaf(self)

    def read(self, sums: Sums, leaves: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the place of the label of each output among its classes."""
        return np.stack([part.argmin(axis=1) for part in self._by_output(sums)], axis=1)

    objective_name = "accuracy"

    def objective(self, cost: Fraction) -> float:
        return float(1 - cost / self.total_weight)


class Misclassification(_LabelTask):
    """The weight of the rows that get a wrong label.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as for :class:`OptimalTreeClassifier`: "balanced" gives all classes
        the same weight in total, sample weights included. For one output only.
    output_weights : array-like of shape (n_outputs,) or None, default=None
        If y has several columns, the outputs: what an error in each costs, more than 0; None: 1.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> solution = solve(tasks.Misclassification(), [[0], [1], [1]], [0, 1, 0], max_depth=1)
    >>> solution.certificate.cost
    1
    """

    name: ClassVar[str] = "accuracy"

    def __init__(
        self,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        output_weights: Any = None,
    ) -> None:
        self.class_weight = class_weight
        self.output_weights = output_weights

    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        classes, codes = encode_labels(check_labels(y, n_rows, type(self).__name__))
        totals = [Fraction(int(count)) for count in np.bincount(codes, minlength=len(classes))]
        prices, unit = _as_prices(class_fractions(self.class_weight, classes.tolist(), totals))
        costs = np.repeat(prices[codes][:, None] * float(unit), len(classes), axis=1)
        costs[np.arange(n_rows), codes] = 0.0
        return classes, costs, codes

    def on(self, y: Any, rows: Rows) -> LabelProblem:
        several = read_outputs(y, rows.n_rows)
        if several is not None:
            return self._on_outputs(several, rows)
        refuse_for_one(self.output_weights)
        classes, codes = encode_labels(check_labels(y, rows.n_rows, type(self).__name__))
        own = rows.select(codes).astype(np.intp)
        totals = [rows.weight_of(own == k) for k in range(len(classes))]
        weights = class_fractions(self.class_weight, classes.tolist(), totals)
        return AccuracyProblem(classes, weights, rows, own)

    def _on_outputs(self, y: NDArray[Any], rows: Rows) -> OutputErrors:
        """Return the errors in all columns of y."""
        given = {"class_weight": self.class_weight, "test_costs": rows.prices}
        for name, value in given.items():
            if value is not None:
                raise ValueError(
                    f"{name} needs one output, but y has {y.shape[1]} columns; leave it out, or "
                    "pass one column. Weights of rows can be given as sample_weight."
                )
        classes, codes = encode_outputs(y, type(self).__name__)
        weights = read_output_weights(self.output_weights, y.shape[1])
        return OutputErrors(classes, rows.select(codes), weights, rows, getattr(y, "columns", None))

    def leaf_costs(self, y: Any, n_rows: int) -> LeafCosts:
        several = read_outputs(y, n_rows)
        if several is None:
            return super().leaf_costs(y, n_rows)
        classes, codes = encode_outputs(several, type(self).__name__)
        weights = read_output_weights(self.output_weights, several.shape[1])
        parts = [
            float(weight) * (codes[:, [k]] != np.arange(len(classes[k])))
            for k, weight in enumerate(weights)
        ]
        ends = np.cumsum([part.shape[1] for part in parts])[:-1]

        def cost(sums: NDArray[Any]) -> NDArray[np.float64]:
            least = [part.min(axis=1) for part in np.split(sums, ends, axis=1)]
            return np.asarray(np.sum(least, axis=0), dtype=np.float64)

        return LeafCosts(np.hstack(parts), cost)

    def __repr__(self) -> str:
        given = "" if self.output_weights is None else f", output_weights={self.output_weights!r}"
        return f"Misclassification(class_weight={self.class_weight!r}{given})"


def encode_outputs(
    y: NDArray[Any], estimator_name: str
) -> tuple[list[NDArray[Any]], NDArray[np.intp]]:
    """Return the sorted classes of each column, and which of them each row has."""
    classes, codes = [], []
    for column in np.asarray(y).T:
        found, numbers = encode_labels(check_labels(column, len(column), estimator_name))
        classes.append(found)
        codes.append(numbers)
    return classes, np.stack(codes, axis=1).astype(np.intp)


def _as_prices(weights: list[Fraction]) -> tuple[NDArray[np.float64], Fraction]:
    """Return what an error costs each class, and the unit of that: integers if they are few."""
    unit = common_unit(weights, _MOST_MULTIPLE)
    if unit is None:
        # Relative to the largest, which may be beyond all floats.
        unit = max(weights)
    return np.array([float(weight / unit) for weight in weights]), unit
