"""The best tree within limits on the whole tree: dual bound first, then a search inside its gap.

Multipliers that few scalar solves find bound the objective, and trees met on the way are often
within the limits. What is left between the two is searched in rounds: each asks the core for trees
up to some objective, and the next one for more. A round without a tree raises the bound; a round
with one ends the search. See docs/theory/limits.md for the theorems.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from certree import engine
from certree.engine._alarms import alarm, check_bounds
from certree.engine._budget import Spending
from certree.engine._within_limits import Closest, LimitedProblem, LimitedResult, search_inside

from ._limit_dual import Dual
from ._limit_labels import repaired
from ._limit_polish import Polish
from ._limit_rows import EvaluatedTree, LimitedRows
from ._limit_scalar import Scalars

# Multipliers whose sums of planes bound the search inside the gap; more cost more than they save.
_MOST_MULTIPLIERS = 1

# The dual ends when it can close less than one part in so many of what is open. With prices of
# tests, a scalar solve takes as long as a good part of the search.
_CLOSE = 20
_CLOSE_WITH_PRICES = 4

# The first round covers one part in so many of the gap, and each one twice as much as the last: far
# above the best tree, a round can take hundreds of times as long. With one limit, rounds differ
# less; without a tree, the gap says little. Prices keep lists of points short, so that most of the
# time goes into sums that all rounds need.
_FIRST_SHARE = 8
_FIRST_SHARE_OF_ONE = 4
_FIRST_SHARE_WITHOUT_TREE = 64
_FIRST_SHARE_WITH_PRICES = 1
_GROWTH = 2

# Trees deeper than this are first looked for by short scalar solves, each with a share of the time
# left and so much work at most; then with fewer levels, within shares of the time and work, too;
# and the best of them gets better subtrees of these depths.
_SHALLOW = 4
_SHORT = 0.05, 3000
_MOST_SHORT = 6
_FEWER_LEVELS = 0.1, 20000
_WINDOWS = (1, 2, 3)
_POLISH_SHARE = 0.4
_POLISH_SHARE_OF_DEEP = 0.7
_SUBTREE = 0.1, 2000
_MOST_SUBTREES = 200  # where time has no limit

# The labels of trees with fewer leaves are all tried.
_MANY_LEAVES = 8

# Multipliers for one level less are no help to much deeper trees.
_DEEP = 6
_LESS_DEPTH = 0.25, 10**9


def solve_limited(
    problem: LimitedProblem,
    options: engine.Options,
    *,
    first: engine.Nodes | None = None,
    dual: bool = True,
    callback: engine.Callback | None = None,
) -> LimitedResult:
    """Find the tree with the least objective within the limits.

    Parameters
    ----------
    problem : LimitedProblem
        The data, the objective and the limits.
    options : Options
        Limits of the search, of which `max_depth`, `max_splits` or a positive entry of the
        objective for splits is needed; penalties are those of the planes.
    first : Nodes, optional
        A tree that the caller knows.
    dual : bool, default=True
        Whether to look for multipliers first. Shallow trees with few limits are found faster
        without: their search takes less time than a few scalar solves. The result then has no cuts.
    callback : callable, optional
        Called now and then with seconds, work, upper_bound and lower_bound (None if unknown); a
        true answer stops the search.

    Returns
    -------
    LimitedResult
        The tree and what is proven.
    """
    search = LimitedSearch(problem, replace(options, partial=""), callback)
    status = search.run(first, dual)
    if not options.partial:
        return search.result(status, search.closest() if search.proof else [])
    # The proof covers only the tests that were searched.
    least = search.rows.least[0]
    return replace(
        search.result(options.status(status), []),
        lower_bound=least,
        cuts=[],
        proof="",
        dual_bound=None,
        history=[(s, work, upper, least) for s, work, upper, _ in search.history],
    )


def checked_options(problem: LimitedProblem, options: engine.Options) -> engine.Options:
    """Return options with a limit on the depth that follows from the others."""
    if options.error_scale != 1 or options.split_penalty != 0:
        raise ValueError("Penalties of limited problems are those of the planes, not of options.")
    if options.max_splits is not None and options.max_splits < 0:
        raise ValueError(f"max_splits must not be negative, got {options.max_splits}.")
    n_rows, n_columns = problem.columns.shape
    most = min(n_columns, n_rows - 1)
    if options.max_splits is not None:
        most = min(most, options.max_splits)
    if options.max_depth is not None:
        return replace(options, max_depth=min(options.max_depth, most), known=None)
    if options.max_splits is None and problem.planes[0, -1] <= 0:
        raise ValueError("max_depth may be None only with max_splits or a penalty for splits.")
    return replace(options, max_depth=most, known=None)


class LimitedSearch:
    """State of one search: the best tree within the limits, bounds, and what is left to do."""

    def __init__(
        self,
        problem: LimitedProblem,
        options: engine.Options,
        callback: engine.Callback | None = None,
    ) -> None:
        self.options = checked_options(problem, options)
        self.spent = Spending(self.options)
        self.rows = LimitedRows(problem, self.options.min_leaf, self.options.max_depth)
        self.problem = self.rows.problem
        self.callback = callback
        watch = None if callback is None else self._watch
        self.scalars = Scalars(self.rows, self.options)
        self.dual = Dual(self.rows, self.scalars, self.spent, self._meet, watch)
        self.incumbent: EvaluatedTree | None = None
        self.nearest: EvaluatedTree | None = None
        """A tree with many leaves that is not within the limits, but near."""
        self.lower = self.rows.least[0]
        self.n_rounds = 0
        self.proof = ""
        self.history: list[tuple[float, int, int | None, int | None]] = []

    # Trees and bounds.

    @property
    def upper(self) -> int | None:
        """Objective of the best tree within the limits."""
        return None if self.incumbent is None else self.incumbent.values[0]

    def _meet(self, tree: EvaluatedTree) -> None:
        """Take a tree as the best if it is, or else with other labels."""
        if tree.is_allowed and self.rows.is_inside(tree, self.problem.bounds):
            self._consider(tree)
        if self.problem.n_limits:
            other = self.rows.best_labels(tree, self.problem.bounds, self.upper)
            if other is not None:
                self._consider(other)
            elif len(tree.leaves) > _MANY_LEAVES:
                self._repair(tree)

    def _repair(self, tree: EvaluatedTree) -> None:
        """Take a tree with labels chosen leaf by leaf: as the best, or for better subtrees."""
        for near in repaired(self.rows, tree, self.problem.bounds):
            if self.rows.is_inside(near, self.problem.bounds):
                self._consider(near)
            elif self.nearest is None or near.values[0] < self.nearest.values[0]:
                self.nearest = near

    def _consider(self, tree: EvaluatedTree) -> None:
        size = tree.values[0], tree.nodes.n_splits
        best = self.incumbent
        if best is None or size < (best.values[0], best.nodes.n_splits):
            self.incumbent = tree
            self._record()

    def _record(self) -> None:
        self.history.append((self.spent.seconds, self.spent.work, self.upper, self.lower))

    def _raise_bound(self) -> None:
        """Take over what the dual has proven."""
        best = self.dual.best
        if best is not None and best.bound is not None and ceil(best.bound) > self.lower:
            self.lower = ceil(best.bound)
            self._record()

    def is_closed(self) -> bool:
        """Whether the best tree is proven to be as good as asked for."""
        self._raise_bound()
        return self.upper is not None and self.upper - self.lower <= self.options.gap

    def _is_enough(self, proven: Fraction | None, possible: Fraction | None) -> bool:
        """Whether better multipliers are not worth a solve."""
        if self.is_closed():
            return True
        if proven is None or possible is None or self.upper is None:
            return False
        # Unless it might end the search.
        part = _CLOSE if self.problem.test_costs is None else _CLOSE_WITH_PRICES
        return possible <= self.upper - 1 and (possible - proven) * part < self.upper - proven

    def _watch(self, event: engine.Event) -> object:
        assert self.callback is not None
        bounds = {"upper_bound": self.upper, "lower_bound": self.lower}
        now = {"seconds": self.spent.seconds, "work": self.spent.work + event.get("work", 0)}
        return self.callback({**event, **now, **bounds})

    # The search.

    def run(self, first: engine.Nodes | None = None, dual: bool = True) -> str:
        """Search, and return the status."""
        for label in range(self.rows.n_labels):
            self.dual.add(self.rows.leaf(label))
        if first is not None and self._is_within_options(first):
            self.dual.add(self.rows.evaluate(first))
        if not dual:
            self._at_once()
            return self._status()
        depth = self.options.max_depth
        assert depth is not None
        if depth > 2:
            self._start(depth)
        self.dual.run(self._is_enough)
        self._raise_bound()
        if self.dual.is_infeasible:
            self.proof = "dual"
        elif not self.is_closed() and self.spent.status == "optimal":
            self._rounds()
        return self._status()

    def _start(self, depth: int) -> None:
        """Look for multipliers with one level less, and for a good tree where that takes long."""
        is_easy = depth <= _SHALLOW or self.dual.run(self._is_enough, None, _SHORT, _MOST_SHORT)
        if not is_easy:
            self._find_good_tree(depth)
        if is_easy or depth <= _DEEP:
            is_done = self.dual.run(self._is_enough, depth - 1, _LESS_DEPTH)
            if is_easy and not is_done:
                self._find_good_tree(depth)

    def _find_good_tree(self, depth: int) -> None:
        """Search for trees of few levels, while that takes little time, and improve the best."""
        for levels in range(2, min(depth, _SHALLOW + 1)):
            options = self.spent.part(*_FEWER_LEVELS)
            if options is None or self.is_closed():
                return
            search = self._run_part(self.problem, replace(options, max_depth=levels), levels > 2)
            if search.incumbent is not None:
                self.dual.add(self.rows.evaluate(search.incumbent.nodes))
            if search.spent.status != "optimal":
                break
        has_digits = any(finer is not None for finer in self.problem.finer)
        if not has_digits and self.problem.test_costs is None:
            self._polish()

    def _run_part(
        self,
        problem: LimitedProblem,
        options: engine.Options,
        dual: bool,
        first: engine.Nodes | None = None,
    ) -> LimitedSearch:
        """Run a search that helps this one, within its options."""
        watch = None if self.callback is None else self._watch
        search = LimitedSearch(problem, replace(options, gap=0), watch)
        search.run(first, dual)
        spent = search.spent
        self.spent.account(spent.status, spent.counters, spent.work, is_part=True)
        return search

    def _polish(self) -> None:
        """Search for better subtrees of the best tree, and of one that is nearly allowed."""
        left = self.spent.remaining()
        if left is None:
            return
        n_before, end = self.spent.n_solves, None
        if left.time_limit is not None:
            is_deep = self.options.max_depth is None or self.options.max_depth > _DEEP
            share = _POLISH_SHARE_OF_DEEP if is_deep else _POLISH_SHARE
            end = self.spent.seconds + share * left.time_limit

        def solve(
            part: LimitedProblem, options: engine.Options, first: engine.Nodes
        ) -> engine.Nodes | None:
            now = self.spent.part(*_SUBTREE)
            n_solves = self.spent.n_solves - n_before
            is_over = n_solves >= _MOST_SUBTREES if end is None else self.spent.seconds > end
            if now is None or is_over:
                return None
            options = replace(options, time_limit=now.time_limit, extra=now.extra)
            found = self._run_part(part, options, False, first).incumbent
            return first if found is None else found.nodes

        polish = Polish(self.rows, self.options, solve)
        for window in _WINDOWS:
            for tree in (self.nearest, self.incumbent):
                if tree is not None and not self.is_closed():
                    self.dual.add(polish.run(tree, window))

    def _at_once(self) -> None:
        """Search up to the best tree known, without multipliers."""
        last = self._most_objective() if self.upper is None else self.upper - 1
        objective = (1, *(0 for _ in self.problem.bounds))
        if self.lower <= last:
            self._round(last, [objective])
        if self.upper is None and self.lower > last:
            self.proof = "search"

    def _is_within_options(self, nodes: engine.Nodes) -> bool:
        tree = self.rows.evaluate(nodes)
        splits, limits = tree.nodes.n_splits, self.options
        assert limits.max_depth is not None
        if tree.nodes.depth > limits.max_depth:
            return False
        if limits.max_splits is not None and splits > limits.max_splits:
            return False
        return splits == 0 or int(self.rows.sizes(tree).min()) >= max(limits.min_leaf, 1)

    def _status(self) -> str:
        if self.proof:
            return "infeasible"
        if self.upper is not None and self.upper <= self.lower:
            return "optimal"
        return "gap" if self.is_closed() else self.spent.status

    def _rounds(self) -> None:
        """Search up to growing objectives until there is a tree, or none."""
        most = self._most_objective()
        multipliers = self.multipliers()
        last = most if self.upper is None else self.upper - 1
        share = _FIRST_SHARE_OF_ONE if self.dual.has_one_limit else _FIRST_SHARE
        if self.upper is None:
            share = _FIRST_SHARE_WITHOUT_TREE
        elif self.problem.test_costs is not None:
            share = _FIRST_SHARE_WITH_PRICES
        width = max((last - self.lower) // share, 1)
        while self.lower <= last:
            corner = min(self.lower + width, last)
            if not self._round(corner, multipliers):
                return
            width *= _GROWTH
            last = most if self.upper is None else self.upper - 1
        if self.upper is None:
            self.proof = "search"

    def _round(self, corner: int, multipliers: list[tuple[int, ...]]) -> bool:
        """Search up to an objective; return whether to go on."""
        options = self.spent.remaining()
        if options is None or not self._fits(options):
            return False
        found = search_inside(
            self.problem,
            multipliers,
            [(corner, *self.problem.bounds)],
            replace(options, max_depth=self._depth_up_to(corner), gap=0),
            callback=None if self.callback is None else self._watch,
        )
        self.n_rounds += 1
        self.spent.account(found.status, found.counters, found.work)
        if len(found.points):
            self._consider(self.rows.evaluate(found.trees[0]))
        if found.status != "optimal":
            return False
        if len(found.points):
            assert self.upper is not None
            check_bounds(self.lower, self.upper)
            self.lower = self.upper
        else:
            self.lower = max(self.lower, corner + 1)
        self._record()
        return not self.is_closed()

    def _fits(self, options: engine.Options) -> bool:
        """Return whether there is memory for a column per test; if not, what is proven stays."""
        fits = self.problem.has_answers_within(options.memory_limit)
        if not fits:
            self.spent.account("memory_limit", {})
        return fits

    def multipliers(self) -> list[tuple[int, ...]]:
        """Return multipliers for the search inside the gap, the best first."""
        cuts = [cut for cut in self.dual.cuts if cut.bound is not None]
        cuts.sort(key=lambda cut: cut.bound or Fraction(0), reverse=True)
        return [cut.multipliers for cut in cuts[:_MOST_MULTIPLIERS]]

    def _most_objective(self) -> int:
        """Return an objective that no tree exceeds."""
        most = self.options.most_splits(len(self.problem.columns))
        return self.rows.most[0] + most * self.rows.split_values[0]

    def _depth_up_to(self, corner: int) -> int:
        """Return the depth that trees with an objective up to this can have."""
        depth = self.options.max_depth
        assert depth is not None
        penalty = self.rows.split_values[0]
        if penalty > 0:
            depth = min(depth, max((corner - self.rows.least[0]) // penalty, 0))
        return depth

    # The result.

    def result(self, status: str, closest: list[Closest]) -> LimitedResult:
        """Return the best tree and what is proven."""
        best = self.dual.best
        if self.upper is not None:
            check_bounds(self.lower, self.upper)
            if self.proof:
                alarm(f"there is a tree of {self.upper}, and a proof that there is none")
        return LimitedResult(
            status=status,
            lower_bound=self.lower,
            upper_bound=self.upper,
            nodes=engine.Nodes.empty() if self.incumbent is None else self.incumbent.nodes,
            values=() if self.incumbent is None else self.incumbent.values,
            cuts=self.dual.cuts,
            closest=closest,
            proof=self.proof,
            dual_bound=None if best is None else best.bound,
            n_solves=self.scalars.n_solves,
            n_rounds=self.n_rounds,
            counters=dict(self.spent.counters),
            history=self.history,
            seconds=self.spent.seconds,
        )

    def closest(self) -> list[Closest]:
        """Return the least value of each limit alone."""
        return [self._closest_to(limit) for limit in range(self.problem.n_limits)]

    def _closest_to(self, limit: int) -> Closest:
        """Return the least value of a limit, among trees that keep to its other side if any do."""
        planes = self.problem.planes
        own = limit + 1
        other = [
            j for j in range(1, len(planes)) if j != own and not (planes[j] + planes[own]).any()
        ]
        answer = self._least(limit, other)
        if answer is not None and answer.proof:
            answer = self._least(limit, [])
        if answer is None:
            return Closest(limit, self.problem.least_total(limit, self.rows.least[own]), None)
        tree = answer.incumbent
        attained = None if tree is None else self.problem.total(limit, tree.point)
        return Closest(limit, self.problem.least_total(limit, answer.lower), attained)

    def _least(self, limit: int, others: list[int]) -> LimitedSearch | None:
        """Minimise the value of a limit within other limits, or return None if time is over."""
        left = self.spent.remaining()
        if left is None:
            return None
        alone = replace(
            self.problem,
            planes=self.problem.planes[[limit + 1, *others]],
            bounds=tuple(self.problem.bounds[j - 1] for j in others),
            names=(),
            finer=tuple(self.problem.finer[j - 1] for j in others) if self.problem.finer else (),
            test_costs=None,
        )
        search = LimitedSearch(alone, replace(left, gap=0), self.callback)
        search.run()
        self.spent.account("optimal", search.spent.counters, search.spent.work)
        return search
