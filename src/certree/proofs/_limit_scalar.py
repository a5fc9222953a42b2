"""Scalar solves for limited problems: sums of planes, within one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np

from certree import engine
from certree.engine._budget import Spending
from certree.engine._within_limits import LimitedProblem
from certree.numbers._exact import cost_budget

from ._limit_rows import LimitedRows

# Values of sums of planes stay below this for every tree.
_LARGEST = 2**58


class Scalar(NamedTuple):
    """What a scalar solve found: no tree has less than `value`; a tree if it is a better one."""

    value: int
    tree: engine.Nodes | None
    is_proven: bool
    """Whether the solve ran to its end."""


class Scalars:
    """Minimises sums of planes, ignoring limits on them and which labels leaves may take.

    Parameters
    ----------
    rows : LimitedRows
        Of the problem.
    options : Options
        Limits of the trees; those on time and work are given with each solve.
    """

    def __init__(self, rows: LimitedRows, options: engine.Options) -> None:
        self.rows = rows
        self.options = options
        self.n_solves = 0
        problem = rows.problem
        self.budget = cost_budget(len(rows.columns), options.most_splits(len(problem.columns)))
        for plane, span in enumerate(rows.spans):
            if span > self.budget:
                what = f"limit {problem.name(plane - 1)!r}" if plane else "objective"
                raise ValueError(
                    f"The {what} can differ by {span:.3g} between trees, but the search has room "
                    f"for {self.budget:.3g} only; scale its amounts or the weights down."
                )
        self.splits = splits = options.most_splits(len(problem.columns))
        self._sizes = [
            max(abs(low), abs(high)) + splits * split
            for low, high, split in zip(rows.least, rows.most, rows.split_values, strict=True)
        ]
        self._session = self._open_session(problem)

    def _open_session(self, problem: LimitedProblem) -> engine.Session | None:
        types, counts = self.rows.types, problem.row_counts
        counts_rows = counts is None or self.options.min_leaf <= 1 or bool((counts == 1).all())
        if types is None or not counts_rows:
            return None
        return engine.Session(self.rows.columns, types.types, types.weights)

    def _room_of_core(self, multipliers: Sequence[int]) -> Fraction:
        """Return by how much multipliers may grow, or must shrink, for the integers of the core.

        It makes room for a tree with the most splits, which all pay the penalty; a dearer one than
        all leaves is cut.
        """
        leaves = sum(m * span for m, span in zip(multipliers, self.rows.spans, strict=True))
        split = sum(m * s for m, s in zip(multipliers, self.rows.split_values, strict=True))
        paid = min(split, leaves + 1) * (self.splits + 1)
        return Fraction(self.budget, max(leaves + paid, 1))

    def whole(self, multipliers: Sequence[Fraction]) -> tuple[int, ...]:
        """Return integers in proportion to multipliers, or nearly so where they must be small."""
        factor = lcm(*(m.denominator for m in multipliers))
        exact = [int(m * factor) for m in multipliers]
        common = gcd(*exact) or 1
        exact = [m // common for m in exact]
        share = min(self._room_of_core(exact), _room(exact, self._sizes, _LARGEST))
        if share >= 1:
            return tuple(exact)
        # Rounded down; the one that counts most does not vanish.
        kept = [int(m * share) for m in exact]
        common = gcd(*kept) or 1
        return tuple(m // common for m in kept)

    def solve(
        self,
        multipliers: Sequence[int],
        known: int | None,
        spent: Spending,
        callback: engine.Callback | None = None,
        max_depth: int | None = None,
        part: tuple[float, int] | None = None,
    ) -> Scalar | None:
        """Minimise a sum of planes.

        Parameters
        ----------
        multipliers : sequence of int
            Of the planes; not negative.
        known : int or None
            Only trees with less than this are wanted.
        spent : Spending
            Time and work left.
        callback : callable, optional
            As for `engine.solve`.
        max_depth : int, optional
            Another limit on the depth.
        part : tuple, optional
            A share of the time left and the most work.

        Returns
        -------
        Scalar or None
            None if a limit was reached before.
        """
        options = spent.remaining() if part is None else spent.part(*part)
        if options is None:
            return None
        planes = self.rows.planes
        costs = np.array(multipliers, dtype=np.int64) @ planes.reshape(len(planes), -1)
        costs = costs.reshape(planes.shape[1:])
        base = costs.min(axis=1)
        types = self.rows.types
        constant = int(base.sum() if types is None else base @ types.totals)
        constant += sum(m * least for m, least in zip(multipliers, self.rows.least, strict=True))
        costs -= base[:, None]
        # A split that costs more than one leaf for all rows never pays, so its price is cut there.
        spread = costs.max(axis=1)
        total = int(spread.sum() if types is None else spread @ types.totals)
        if total == 0:
            return Scalar(constant, None, True)
        split = sum(m * s for m, s in zip(multipliers, self.rows.split_values, strict=True))
        options = replace(
            options,
            error_scale=1,
            split_penalty=min(split, total + 1),
            gap=0,
            known=None if known is None else (known - constant, 0),
        )
        if max_depth is not None:
            options = replace(options, max_depth=max_depth)
        result = self._call(costs, options, callback, self.rows.problem.price_of(multipliers))
        self.n_solves += 1
        work = result.history[-1][1] if result.history else 0
        spent.account(result.status, result.counters, work, is_part=part is not None)
        lower, tree = result.lower_bound + constant, result.nodes
        return Scalar(lower, tree if len(tree) else None, result.status == "optimal")

    def _call(
        self, costs: Any, options: engine.Options, callback: engine.Callback | None, price: int
    ) -> engine.Result:
        if self._session is not None and price == 0:
            return self._session.solve(costs, options, callback)
        types, problem = self.rows.types, self.rows.problem
        if types is not None:
            costs = replace(types, values=costs)
        prices = None
        if price and problem.test_costs is not None:
            units = {name: problem.test_costs[name] * price for name in ("price", "discounted")}
            prices = {**problem.test_costs, **units}
        by_row = engine.VectorProblem(
            self.rows.columns,
            costs,
            row_counts=problem.row_counts,
            test_costs=prices,
            weights=problem.weights,
        )
        return engine.solve(by_row, options, callback)


def _room(multipliers: Sequence[int], sizes: Sequence[int], budget: int) -> Fraction:
    """Return by how much multipliers may grow, or must shrink, for planes of these sizes."""
    total = sum(m * size for m, size in zip(multipliers, sizes, strict=True))
    return Fraction(budget, max(total, 1))
