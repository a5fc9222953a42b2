"""The entry point of the core for leaf costs that are functions of a sum of vectors.

Everything is an integer here, as in `_scalar`: the core minimises

    U = error_scale * (total cost of the leaves) + split_penalty * (number of splits),

where the cost of a leaf is a function of the sum of its rows' statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from certree import _core
from certree.encoding._row_cells import Cells
from certree.tree._nodes import Nodes

from . import _scalar
from ._executors import solve_shared
from ._row_types import RowTypes, few_types, row_types
from ._scalar import (
    Callback,
    CoreTable,
    Guard,
    Options,
    PathResult,
    Problem,
    Result,
    call_core,
    read_path,
    read_result,
)

LeafFunction = Callable[[NDArray[np.int64]], Any]
"""From sums of shape (B, m) to costs of shape (B,), or to a pair of costs and labels."""


class RateLoss(NamedTuple):
    """What one rate of events per leaf saves, in units of cost.

    Rows add their events E, their exposure S, and what they would save at rates of their own, B. A
    leaf saves ``gain * E * log(E / (ratio * S))``, with 0 for ``0 * log(0)``, less the most that
    float64 may be off, rounded up; it costs B less that.

    Attributes
    ----------
    gain : float
        Units of cost per unit of E.
    ratio : float
        Units of E per unit of S.
    """

    gain: float
    ratio: float

    def costs(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what leaves with these sums cost."""
        lines = np.ascontiguousarray(sums, dtype=np.int64)
        saved = np.empty(len(lines), dtype=np.int64)
        _core.rate_savings(lines, self, saved)
        return lines[:, 2] - saved


class LinearLoss(NamedTuple):
    """The squared error around a linear model per leaf, which the core computes itself.

    Rows add w, w y and w y^2, for every column of a model w x, w x^2 and w x y, and then the
    products of every two columns, if a model may have several. All sums are less than 2^51. A leaf
    costs the whole part of ``scale`` times its least squared error plus ridge; at least 0 and at
    most `most`.

    Attributes
    ----------
    is_simple : bool
        Whether a model has one column, the best; otherwise it has all.
    ridge : tuple of float
        What the square of each coefficient costs.
    noise : tuple of float
        Of each column: where its mean square, around its mean and beside other columns, is not
        above this, it counts as constant or as a combination of others. 0: it is not rounded.
    scale : float
        See above.
    most : int
        The cost of all rows in one leaf.
    """

    is_simple: bool
    ridge: tuple[float, ...]
    noise: tuple[float, ...]
    scale: float
    most: int

    def costs(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what leaves with these sums cost."""
        columns = np.ascontiguousarray(sums.T, dtype=np.int64)
        costs = np.empty(len(sums), dtype=np.int64)
        _core.linear_costs(columns, self, costs)
        return costs


@dataclass(frozen=True, kw_only=True)
class LeafRule:
    """What a leaf costs, given the vectors of its rows.

    Attributes
    ----------
    kind : {"min_label", "squares", "quantile", "rates", "callback"}
        What a leaf with the sum s costs. "min_label": the least of s, which holds the cost of each
        label and is not negative; the label is the first that attains it. "squares": the whole part
        of ``scale * (s[2] - s[1]**2 / s[0])``, for statistics w, w * y and w * y * y. "quantile":
        no function of a sum, but the least over v of the sum of ``above * w * (y - v)`` where y is
        above v and ``below * w * (v - y)`` where it is below, for statistics w and y of every row.
        "rates": what `rate_loss` says. "callback": what `leaf_function` says. What several outputs
        cost is added up.
    scale : int
        For "squares".
    outputs : tuple of int
        For several outputs. "min_label": how many labels each has. "squares": ``scale * f`` for
        each, with the statistics w, w * y of each output, and the sum of all f * w * y * y.
    above, below : int
        For "quantile".
    leaf_function : callable, optional
        For "callback": called with many sums at once, as an array of shape (B, m); returns the
        costs, integers that are not negative, or a pair of costs and labels.
    rate_loss : RateLoss, optional
        For "rates".
    linear_loss : LinearLoss, optional
        For "callback": a leaf cost that the core computes itself, in place of `leaf_function`.
    superadditive : bool
        For "callback": a leaf costs at least as much as any two leaves that it could be split into.
    worst_change : int64 array of shape (n_rows,), optional
        For "callback": a row added to any leaf raises its cost by no more than this.
    """

    kind: str = "min_label"
    scale: int = 1
    outputs: tuple[int, ...] = ()
    above: int = 1
    below: int = 1
    leaf_function: LeafFunction | None = None
    rate_loss: RateLoss | None = None
    linear_loss: LinearLoss | None = None
    superadditive: bool = False
    worst_change: NDArray[np.int64] | None = None

    def total_cost(
        self,
        nodes: Nodes,
        leaves: NDArray[np.intp],
        statistics: NDArray[np.int64] | RowTypes,
    ) -> int | None:
        """Return what the leaves of a tree cost; None if only a function of the caller's knows.

        Parameters
        ----------
        nodes : Nodes
            The tree.
        leaves : int array of shape (n_rows,)
            The leaf that each row reaches.
        statistics : int64 array of shape (n_rows, m), or RowTypes
            The vectors of the rows.
        """
        if self.kind == "callback" and self.linear_loss is None:
            return None
        if self.kind == "quantile":
            by_row = statistics.by_row() if isinstance(statistics, RowTypes) else statistics
            return sum(
                self._quantile_cost(by_row[leaves == leaf]) for leaf in np.unique(leaves).tolist()
            )
        places, inverse = np.unique(leaves, return_inverse=True)
        inverse = inverse.reshape(-1).astype(np.intp)
        if isinstance(statistics, RowTypes):
            sums = statistics.sums(inverse, len(places))
        else:
            sums = np.zeros((len(places), statistics.shape[1]), dtype=np.int64)
            np.add.at(sums, inverse, statistics)
        if self.rate_loss is not None and self.kind == "rates":
            return int(self.rate_loss.costs(sums).sum())
        if self.linear_loss is not None:
            return int(self.linear_loss.costs(sums).sum())
        if self.kind == "squares":
            return sum(self._square_cost(line) for line in sums.tolist())
        if not self.outputs:
            return int(sums[np.arange(len(places)), nodes.label[places]].sum())
        ends = np.cumsum(self.outputs)[:-1]
        return sum(int(part.min(axis=1).sum()) for part in np.split(sums, ends, axis=1))

    def _square_cost(self, sums: list[int]) -> int:
        weight, *moments, squares = sums
        cost = self.scale * squares
        for factor, moment in zip(self.outputs or (self.scale,), moments, strict=True):
            cost -= -(-factor * moment * moment // weight)
        return cost

    def _quantile_cost(self, rows: NDArray[np.int64]) -> int:
        """Return the least loss of rows of weights and targets: at a target, since it is convex."""
        order = np.argsort(rows[:, 1], kind="stable")
        weights, targets = rows[order, 0], rows[order, 1]
        passed = np.cumsum(weights)[:-1]
        slopes = np.minimum(self.below * passed, self.above * (weights.sum() - passed))
        return int(slopes @ np.diff(targets))

    def extra(self) -> dict[str, Any]:
        """Return what the core needs to know beside the kind."""
        extra: dict[str, Any] = {}
        if self.kind == "squares":
            extra["scale"] = self.scale
        if self.outputs:
            extra["outputs"] = list(self.outputs)
        if self.kind == "quantile":
            extra |= {"above": self.above, "below": self.below}
        if self.kind == "rates":
            extra["rate_loss"] = self.rate_loss
        if self.kind == "callback":
            extra |= self._function()
        return extra

    def _function(self) -> dict[str, Any]:
        if self.linear_loss is not None:
            return {"linear_loss": self.linear_loss, "superadditive": bool(self.superadditive)}
        if self.leaf_function is None:
            raise ValueError("A problem of kind 'callback' needs a leaf_function.")
        stop = Guard(None)
        return {
            "leaf_function": _Leaf(self.leaf_function),
            "goes_on": lambda: not stop({}),
            "superadditive": bool(self.superadditive),
        }


@dataclass(frozen=True)
class VectorProblem(LeafRule, CoreTable):
    """Rows, the vector that each adds to its leaf, and what a sum of vectors costs.

    Attributes
    ----------
    statistics : int64 array of shape (n_rows, m), or RowTypes
        The vector of each row, weights multiplied in. Rows whose vectors are multiples of a few
        are counted instead of added up, whether or not the caller knows their types.
    row_counts : int64 array of shape (n_rows,), optional
        How many rows each row stands for, for the minimum leaf size; None: one each.
    test_costs : mapping, optional
        For "min_label": what tests cost, in units of the statistics. "feature" (n_columns,) is the
        feature that each column looks at; "group", "price" and "discounted" (n_features,) are the
        group of each feature (negative: none), what one unit of weight pays for it, and what it
        pays once another feature of the group was tested above. A feature tested above is free.
    weights : int64 array of shape (n_rows,), optional
        What a row pays prices for; None: `row_counts`.
    """

    statistics: NDArray[np.int64] | RowTypes
    row_counts: NDArray[np.int64] | None = None
    test_costs: Mapping[str, NDArray[Any]] | None = None
    weights: NDArray[np.int64] | None = None

    def cost_of(self, nodes: Nodes) -> int | None:
        cost = self.total_cost(nodes, nodes.route(self.columns), self.statistics)
        if cost is None or self.test_costs is None:
            return cost
        weights = self.row_counts if self.weights is None else self.weights
        if weights is None:
            weights = np.ones(len(self.columns), dtype=np.int64)
        return cost + paid_for_tests(self.test_costs, weights, nodes, self.columns)

    def open(self) -> Callable[..., Any]:
        (columns, statistics, kind, row_counts, _), extra = self.to_core(Options())
        return _core.VectorSession(columns, statistics, kind, row_counts, extra).solve

    def to_core(self, options: Options) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of the core's functions, and what some kinds need besides."""
        extra = self.extra()
        if self.test_costs is not None:
            extra |= price_arrays(self.test_costs)
        numbers, types = self._numbers()
        if types is not None:
            extra["row_types"] = types.types
            if types.weights is not None:
                extra["row_weights"] = types.weights
        vectors = np.ascontiguousarray(numbers.pop("statistics"))
        extra |= {name: np.ascontiguousarray(array) for name, array in numbers.items()}
        arguments = (self.answers, vectors, self.kind, self.row_counts, options.to_core())
        return arguments, extra

    def _numbers(self) -> tuple[dict[str, NDArray[np.int64]], RowTypes | None]:
        """Return everything that rows add up, by type if these are few, else by row."""
        others: dict[str, Any] = {}
        if self.kind == "callback" and self.worst_change is not None:
            others["row_worst"] = self.worst_change
        if self.test_costs is not None and self.weights is not None:
            others["weights"] = self.weights
        elif self.test_costs is not None and self.row_counts is None:
            others["weights"] = np.ones(len(self.columns), dtype=np.int64)
        others = {name: np.asarray(array, dtype=np.int64) for name, array in others.items()}
        can_count = self.kind in ("min_label", "callback") and self.row_counts is None
        known = self.statistics if isinstance(self.statistics, RowTypes) else None
        by_type = known.of_types(others) if known is not None and can_count else None
        if known is not None and by_type is not None:
            numbers = {"statistics": known.values, **by_type}
            found = replace(known, values=_table(numbers)).merged()
            if found.are_few:
                return _parts(found.values, numbers), found
        by_row = self.statistics if known is None else known.by_row()
        numbers = {"statistics": np.asarray(by_row, dtype=np.int64), **others}
        types = row_types(_table(numbers)) if can_count and by_type is None else None
        types = None if types is None else types.merged()
        if types is None or not types.are_few:
            return numbers, None
        return _parts(types.values, numbers), types


def price_arrays(given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return prices of tests in the types of the core."""
    types = {"feature": np.int32, "group": np.int32, "price": np.int64, "discounted": np.int64}
    return {name: np.ascontiguousarray(given[name], dtype=kind) for name, kind in types.items()}


def paid_for_tests(
    prices: Mapping[str, NDArray[Any]],
    weights: NDArray[np.int64],
    nodes: Nodes,
    columns: Cells,
) -> int:
    """Return what all rows together pay for the tests of a tree.

    Parameters
    ----------
    prices : mapping
        As `VectorProblem.test_costs`.
    weights : int64 array of shape (n_rows,)
        What each row pays prices for.
    nodes : Nodes
        The tree.
    columns : Cells
        The answers of the rows.
    """
    feature, group = prices["feature"], prices["group"]
    paying = nodes.add_up(nodes.route(columns), weights)
    made: dict[int, tuple[int, ...]] = {0: ()}
    total = 0
    for node in np.flatnonzero(nodes.test >= 0).tolist():
        test = int(nodes.test[node])
        number = int(feature[test if nodes.outcomes is None else nodes.outcomes[test][0]])
        is_known = group[number] >= 0 and any(group[f] == group[number] for f in made[node])
        if number not in made[node]:
            price = prices["discounted" if is_known else "price"][number]
            total += int(price) * int(paying[node])
        children = nodes.children(node)
        made |= dict.fromkeys(range(children.start, children.stop), (*made[node], number))
    return total


def _table(numbers: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the numbers of rows or types side by side."""
    table: NDArray[np.int64] = np.column_stack(list(numbers.values()))
    return table


def _parts(
    table: NDArray[np.int64], like: dict[str, NDArray[np.int64]]
) -> dict[str, NDArray[np.int64]]:
    """Cut a table into parts of as many columns as other arrays have."""
    parts, at = {}, 0
    for name, array in like.items():
        end = at + (array.shape[1] if array.ndim == 2 else 1)
        parts[name] = table[:, at:end] if array.ndim == 2 else table[:, at]
        at = end
    return parts


class _Leaf:
    """The caller's leaf function, with its answers checked and in the types of the core."""

    def __init__(self, function: LeafFunction) -> None:
        self.function = function

    def __call__(self, sums: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        answer = self.function(sums)
        costs, labels = answer if isinstance(answer, tuple) else (answer, None)
        costs = np.asarray(costs)
        if costs.shape != (len(sums),):
            raise ValueError(
                f"leaf_function returned costs of shape {costs.shape} for {len(sums)} sums; "
                f"expected ({len(sums)},)."
            )
        if costs.dtype.kind not in "iub":
            raise ValueError(
                f"leaf_function returned costs of type {costs.dtype}; the core counts in integers."
            )
        units = np.ascontiguousarray(costs, dtype=np.int64)
        if len(units) and units.min() < 0:
            place = int(np.argmin(units))
            raise ValueError(
                f"leaf_function returned {int(units[place])} for the sums {sums[place].tolist()}; "
                "costs must not be negative."
            )
        if labels is None:
            return units, np.zeros(len(sums), dtype=np.int32)
        labels = np.asarray(labels)
        if labels.shape != (len(sums),):
            raise ValueError(
                f"leaf_function returned labels of shape {labels.shape} for {len(sums)} sums; "
                f"expected ({len(sums)},)."
            )
        return units, np.ascontiguousarray(labels, dtype=np.int32)


def solve(problem: VectorProblem, options: Options, callback: Callback | None = None) -> Result:
    """Find the best tree within the options.

    Parameters
    ----------
    problem : VectorProblem
        The data and the costs.
    options : Options
        Limits and choices.
    callback : callable, optional
        As for `engine.solve`.

    Returns
    -------
    Result
        The incumbent when the search ended, with its status and bounds.
    """
    counted = _counted(problem)
    if options.executor is not None:
        shared = _without_function(problem) if counted is None else counted
        return solve_shared(shared, options, callback)
    if counted is not None:
        return _scalar.solve(counted, options, callback)
    raw = _call(_core.solve_vector, problem, options, callback)
    return read_result(raw, options, problem.cost_of)


def solve_path(
    problem: VectorProblem, options: Options, callback: Callback | None = None
) -> PathResult:
    """Find the best tree for every number of splits within the options.

    Parameters
    ----------
    problem : VectorProblem
        The data and the costs.
    options : Options
        Limits, of which `max_depth` or `max_splits` is needed; the penalty plays no part.
    callback : callable, optional
        As for `engine.solve`.

    Returns
    -------
    PathResult
        Costs are those of the leaves, in units of the leaf cost.
    """
    counted = _counted(problem)
    if counted is not None:
        return _scalar.solve_path(counted, options, callback)
    raw = _call(_core.solve_vector_path, problem, options, callback)
    return read_path(raw, options, problem.cost_of)


def _counted(problem: VectorProblem) -> Problem | None:
    """Return the problem as one of counting rows, where that is faster: two types, two labels.

    On 569 rows and 954 columns, counting takes half of the time at depth three. With three or more
    types and labels, it takes more than twice as long.
    """
    if (
        problem.kind != "min_label"
        or len(problem.outputs) > 1
        or problem.row_counts is not None
        or problem.test_costs is not None
    ):
        return None
    types = few_types(problem.statistics)
    if types is None or types.values.shape != (2, 2):
        return None
    costs = np.ascontiguousarray(types.values)
    return Problem(problem.columns, types.types, costs, types.weights)


def _without_function(problem: VectorProblem) -> VectorProblem:
    """Return a problem that can be sent to other processes."""
    if problem.rate_loss is not None or problem.linear_loss is not None:
        return replace(problem, leaf_function=None)
    if problem.leaf_function is not None:
        raise ValueError(
            "An executor shares searches whose leaf costs the core knows, and no function of "
            "Python; fit without it."
        )
    return problem


def _call(
    function: Callable[..., Any],
    problem: VectorProblem,
    options: Options,
    callback: Callback | None,
) -> Any:
    arguments, extra = problem.to_core(options)
    return call_core(lambda *given: function(*given, extra), arguments, callback)
