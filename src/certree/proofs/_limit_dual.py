"""The Lagrangian dual of a limited problem: which sums of planes bound the objective best.

For multipliers m >= 0 every tree has ``m . values >= V(m)``, where V(m) is what a scalar solve
proves. A tree within the limits then has an objective of at least ``(V(m) - sum of m_j * bound_j) /
m_0``. Every tree met bounds from above what multipliers can prove: this model, the least of
finitely many linear functions, says which to try next (Kelley's cutting planes; with one limit, the
intersection of lines). Floating point only chooses multipliers; bounds are exact. See
docs/theory/limits.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from certree import engine
from certree.engine._budget import Spending
from certree.engine._within_limits import DualCut

from ._limit_model import Step, Values, best_in_model, best_on_line
from ._limit_rows import EvaluatedTree, LimitedRows
from ._limit_scalar import Scalars

# Steps of one search for multipliers; more than any has taken by far.
_MOST_STEPS = 200


def cut_bound(multipliers: Sequence[int], value: int, bounds: Sequence[int]) -> Fraction:
    """Return what a cut proves of the objective of trees within the bounds of limits."""
    rest = sum(m * b for m, b in zip(multipliers[1:], bounds, strict=True))
    return Fraction(value - rest, multipliers[0])


class Dual:
    """Searches for multipliers, and keeps what they prove and the trees met.

    Parameters
    ----------
    rows : LimitedRows
        Of the problem.
    scalars : Scalars
        To solve with.
    spent : Spending
        Limits of time and work.
    meet : callable
        Told of every tree that is found.
    callback : callable, optional
        As for `engine.solve`.
    """

    def __init__(
        self,
        rows: LimitedRows,
        scalars: Scalars,
        spent: Spending,
        meet: Callable[[EvaluatedTree], None],
        callback: engine.Callback | None = None,
    ) -> None:
        self.rows = rows
        self.scalars = scalars
        self.spent = spent
        self.meet = meet
        self.callback = callback
        self.points: dict[Values, None] = {}
        self.cuts: list[DualCut] = []
        self.is_proven = False
        self.aim(rows.problem.bounds)

    def aim(self, bounds: Sequence[int]) -> None:
        """Set the bounds of the limits; what is known of other bounds is carried over."""
        self.bounds = tuple(bounds)
        self.best: DualCut | None = None
        self.is_infeasible = False
        self._sides = self._find_sides()
        for cut in self.cuts:
            self._take(self._cut(cut.multipliers, cut.value))

    def _cut(self, multipliers: tuple[int, ...], value: int) -> DualCut:
        bound = cut_bound(multipliers, value, self.bounds) if multipliers[0] else None
        return DualCut(multipliers, value, bound)

    def _rest(self, multipliers: Sequence[int]) -> int:
        return sum(m * b for m, b in zip(multipliers[1:], self.bounds, strict=True))

    def _take(self, cut: DualCut) -> None:
        if cut.bound is None:
            exceeds = cut.value > self._rest(cut.multipliers)
            self.is_infeasible = self.is_infeasible or exceeds
        elif self.best is None or self.best.bound is None or cut.bound > self.best.bound:
            self.best = cut

    def _find_sides(self) -> list[int] | None:
        """Return the limits if they are one, or two sides of one, that matter; else None."""
        planes, most = self.rows.problem.planes, self.rows.most
        splits = len(self.rows.columns) - 1
        matter = [
            j
            for j in range(1, len(planes))
            if most[j] + splits * self.rows.split_values[j] > self.bounds[j - 1]
        ]
        if len(matter) <= 1:
            return matter
        if len(matter) == 2 and not (planes[matter[0]] + planes[matter[1]]).any():
            return matter
        return None

    @property
    def has_one_limit(self) -> bool:
        """Whether there is one limit that matters, of one or two sides."""
        return self._sides is not None

    def add(self, tree: EvaluatedTree) -> None:
        """Take a tree into the model."""
        if tree.values not in self.points:
            self.points[tree.values] = None
            self.meet(tree)

    # What to try next.

    def propose(self) -> Step:
        """Return the multipliers that are best in the model."""
        points = list(self.points)
        n_planes = len(self.bounds) + 1
        if self._sides is None:
            return best_in_model(points, self.bounds)
        zeros = [Fraction(0)] * n_planes
        steps = [Step((Fraction(1), *zeros[1:]), Fraction(min(p[0] for p in points)))]
        for j in self._sides:
            bound = self.bounds[j - 1]
            best = best_on_line([(p[0], p[j] - bound) for p in points])
            if best is None:
                alone = [Fraction(1) if e == j else Fraction(0) for e in range(n_planes)]
                return Step(tuple(alone), None)
            along = [Fraction(1), *zeros[1:]]
            along[j] = best[0]
            steps.append(Step(tuple(along), best[1]))
        return max(steps, key=lambda step: step.value or Fraction(0))

    def run(
        self,
        is_enough: Callable[[Fraction | None, Fraction | None], bool],
        max_depth: int | None = None,
        part: tuple[float, int] | None = None,
        most: int = _MOST_STEPS,
    ) -> bool:
        """Improve the bound until the model has no more to offer, a limit, or enough is known.

        Parameters
        ----------
        is_enough : callable
            Asked before each solve: what is proven of the objective, and what might be at most.
        max_depth : int, optional
            A smaller limit on the depth, for trees to start with: nothing is then proven.
        part : tuple, optional
            For each solve a share of the time left and the most work, for trees to start with.
        most : int
            Number of solves.

        Returns
        -------
        bool
            Whether all solves ran to their end.
        """
        are_proven = True
        tried: set[tuple[int, ...]] = set()
        best = None if max_depth is not None or self.best is None else self.best.bound
        for _ in range(most):
            step = self.propose()
            if is_enough(best, step.value):
                return are_proven
            if best is not None and step.value is not None and step.value <= best:
                return are_proven
            multipliers = self.scalars.whole(step.multipliers)
            if multipliers in tried or not any(multipliers):
                return are_proven
            tried.add(multipliers)
            proven = self.prove(multipliers, max_depth, part)
            are_proven = are_proven and self.is_proven
            if self.spent.status != "optimal" or self.is_infeasible:
                return are_proven
            if proven is not None and (best is None or proven > best):
                best = proven
        return are_proven

    def prove(
        self,
        multipliers: tuple[int, ...],
        max_depth: int | None = None,
        part: tuple[float, int] | None = None,
    ) -> Fraction | None:
        """Solve for a sum of planes; return what follows for the objective."""
        known = min(sum(m * v for m, v in zip(multipliers, p, strict=True)) for p in self.points)
        answer = self.scalars.solve(multipliers, known, self.spent, self.callback, max_depth, part)
        self.is_proven = answer is not None and answer.is_proven
        if answer is None:
            return None
        if answer.tree is not None:
            self.add(self.rows.evaluate(answer.tree))
        cut = self._cut(multipliers, answer.value)
        if max_depth is None and (part is None or answer.is_proven):
            self.cuts.append(cut)
            self._take(cut)
        return cut.bound
