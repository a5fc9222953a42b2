"""What a user asks of a fit, as one frozen record: the last place that sees an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from certree import engine
from certree.engine._budget import current
from certree.engine._scalar import most_splits
from certree.numbers._exact import cost_budget, read_fraction
from certree.results._activity import activity
from certree.results._certificate import Exact
from certree.results._progress import Callback, Measure, Observer

from .asked import Asked
from .budgets import BudgetRequest, thread_count
from .goals import ClassGoal, Goal, GroupGoal, TaskGoal
from .plan import Route, plan
from .read import TableRequest, count_rows, refuse_reduced

if TYPE_CHECKING:
    from .statement import Statement


@dataclass(frozen=True)
class SizeRequest:
    """How large a tree may be, and what its size costs.

    Attributes
    ----------
    max_depth, max_splits : int or None
        Most tests on a path, and in the tree; None: no limit.
    complexity : object
        The penalty, as it is written.
    complexity_per : str
        What it counts.
    """

    max_depth: int | None
    max_splits: int | None
    complexity: Any
    complexity_per: Literal["split", "leaf"]


@dataclass(frozen=True)
class SearchRequest:
    """How the search proceeds, and when it may end early."""

    search: Any
    gap: Any
    executor: Any = None


@dataclass(frozen=True)
class Start:
    """A tree to start from, and whether it has to be one of the trees searched."""

    tree: Any
    must_keep_limits: bool = True


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a fit: parameters in groups, the rows, and the goal.

    Attributes
    ----------
    by : str
        The estimator that was called.
    size, table, search, budget
        Its parameters.
    asked : Asked
        What the table of routes was asked.
    route : Route
        What it answered.
    goal : Goal
        What is optimised, with the target.
    X : table or Reduced
        The rows.
    sample_weight : object
        Their weights.
    callback : callable or None
        What hears of the search.
    path : bool
        Whether the best tree of every size is asked for, too.
    start : Start or None
        A tree that is known.
    """

    by: str
    size: SizeRequest
    table: TableRequest
    search: SearchRequest
    budget: BudgetRequest
    asked: Asked
    route: Route
    goal: Goal
    X: Any
    sample_weight: Any = None
    callback: Callback | None = None
    path: bool = False
    start: Start | None = None

    @classmethod
    def of(
        cls,
        owner: Any,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
        start: Start | None = None,
        **call: Any,
    ) -> Request:
        """Check the parameters of an estimator, find its route, and take over what it asks.

        Parameters
        ----------
        owner : estimator
            Whose parameters are read; nothing of it is kept.
        X, y, sample_weight, callback, path
            What users pass to `fit`.
        start : Start, optional
            A tree that is known.
        **call
            Further arguments of the call, by the names that users write.
        """
        if not call.get("reduced"):
            refuse_reduced(X)
        owner._check_parameters()
        given = {"sample_weight": sample_weight, "callback": callback, "path": path}
        given["warm_start_tree"] = None if start is None else start.tree
        asked = owner._what_is_asked(**given, **call)
        route = plan(asked)
        goal: Goal = owner._goal(X, y, sample_weight, **call)
        if goal.n_outputs > 1:
            asked = replace(asked, n_outputs=goal.n_outputs)
            route = plan(asked)
        depth = owner.max_depth
        return cls(
            by=type(owner).__name__,
            size=SizeRequest(
                None if depth is None else int(depth),
                owner._split_limit,
                owner.complexity,
                owner.complexity_per,
            ),
            table=TableRequest.of(owner),
            search=SearchRequest(owner.search, owner.gap, getattr(owner, "executor", None)),
            budget=BudgetRequest.of(owner),
            asked=asked,
            route=route,
            goal=goal,
            X=X,
            sample_weight=sample_weight,
            callback=callback,
            path=bool(path),
            start=start,
        )

    # ---- the goal, by its kind ---------------------------------------------------------------

    @property
    def classes(self) -> ClassGoal:
        """The goal, if it is about classes."""
        assert isinstance(self.goal, ClassGoal)
        return self.goal

    @property
    def groups(self) -> GroupGoal:
        """The goal, if it compares groups."""
        assert isinstance(self.goal, GroupGoal)
        return self.goal

    @property
    def task(self) -> TaskGoal:
        """The goal, if it is a task."""
        assert isinstance(self.goal, TaskGoal)
        return self.goal

    # ---- what follows from the parameters ----------------------------------------------------

    @cached_property
    def n_rows(self) -> int:
        """Number of rows of the table, or of groups of a reduced one."""
        return count_rows(self.X)

    @property
    def gap(self) -> Fraction:
        """The gap that is accepted."""
        return read_fraction(self.search.gap, "gap")

    def most_splits(self, n_rows: int) -> int:
        """Return a number of splits that no tree within the limits exceeds."""
        if self.table.splits == "binary":
            return most_splits(n_rows, self.size.max_depth, self.size.max_splits)
        # A multiway test has any number of children, so the depth says little.
        return most_splits(n_rows, None)

    def cost_budget(self, n_rows: int, complexity: Fraction) -> int:
        """Return the largest total cost, in the core's units, that it can minimise in int64.

        The core allows for a tree with the most splits, which all pay the penalty.
        """
        most = self.most_splits(n_rows)
        return int(cost_budget(n_rows, most) / (1 + complexity * (most + 1)))

    def question(self, search: engine.Search = "tree") -> engine.Question:
        """Return what a search is asked, as far as the form of its rows depends on it."""
        return engine.Question(
            max_depth=self.size.max_depth,
            max_splits=self.size.max_splits,
            search=search,
            has_penalty=read_fraction(self.size.complexity, "complexity") > 0,
            is_multiway=self.table.splits != "binary",
            is_shared=self.search.executor is not None,
        )

    def options(self, statement: Statement, share: float = 1.0) -> engine.Options:
        """Return the limits of a search, with a share of the time left."""
        call = current()
        return engine.Options(
            max_depth=self.size.max_depth,
            max_splits=self.size.max_splits,
            min_leaf=statement.min_leaf,
            time_limit=None if call is None else call.remaining(share),
            memory_limit=None if call is None else call.memory_left(),
            threads=thread_count(self.budget.n_jobs) if statement.may_share else 1,
            search=self.search.search,
            partial=statement.encoder._stopped_by,
            row_counts=statement.row_counts,
            executor=self.search.executor,
        )

    def watch(self, to_cost: Callable[[int], Exact], measure: Measure) -> Observer | None:
        """Return what watches a search, if anyone does: a callback, a progress line, a log."""
        if not self.is_watched:
            return None
        return Observer(to_cost, self.callback, measure)

    @property
    def is_watched(self) -> bool:
        """Whether anyone wants to hear of the search."""
        return self.callback is not None or activity() is not None
