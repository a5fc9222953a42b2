"""What all optimal trees share: limits, encoding, the solve, and reading the fitted tree."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import is_classifier

from certree import engine
from certree.engine._budget import Budget, current
from certree.engine._scalar import most_splits
from certree.exceptions import InfeasibleError, OptimalityWarning, warn
from certree.fitting.asked import Asked, Objective
from certree.fitting.budgets import open_call, thread_count
from certree.fitting.certify import find_path
from certree.fitting.known_tree import WarmTree, better_of
from certree.fitting.plan import Route, plan
from certree.fitting.statement import Statement
from certree.numbers._exact import cost_budget, read_fraction
from certree.results._activity import activity
from certree.results._answer import Answer
from certree.results._certificate import Certificate, Exact, show
from certree.results._pareto import ParetoFront
from certree.results._path import RegularizationPath
from certree.results._progress import Callback, Measure, Observer
from certree.results._record import status_text
from certree.tree import Tree

from ._parameters import check_executor
from ._reading import EncodesTables, KeepsPath, PredictsByTree
from ._scoring import accepted
from ._vocabulary import (
    BudgetParameters,
    SearchParameters,
    SizeParameters,
    check_parameters,
    fitted,
    parameter,
    with_parameters,
)

# Of the time left, so much is for the tree if a path is asked for, too.
SHARE_BEFORE_PATH = 0.5


@with_parameters
class BaseOptimalTree(
    SizeParameters,
    SearchParameters,
    BudgetParameters,
    EncodesTables,
    KeepsPath,
    PredictsByTree,
):
    """Base of the estimators: everything that does not depend on what is optimised."""

    tree_: Tree = fitted()
    certificate_: Certificate = fitted()
    _path: RegularizationPath | None = fitted()

    if TYPE_CHECKING:

        def fit(self, X: Any, *args: Any, **params: Any) -> Any:
            """Every estimator has its own."""

        def score(self, X: Any, *args: Any, **params: Any) -> float:
            """Every estimator has its own."""
            ...

    @abstractmethod
    def _what_is_optimised(self) -> Objective:
        """Return the objective, by which the table of routes knows it."""

    def _what_is_asked(self, *, n_outputs: int = 1, **call: Any) -> Asked:
        """Return what the parameters ask, and the arguments of a call."""
        given = {one.name: getattr(self, one.name) for one in fields(cast(Any, self)) if one.init}
        objective = self._what_is_optimised()
        return Asked(type(self).__name__, objective, {**given, **call}, n_outputs)

    def _plan(self, **call: Any) -> Route:
        """Check each parameter by itself, and return the route for all of them together."""
        check_parameters(self)
        return plan(self._what_is_asked(**call))

    def _check_size_limits(self) -> None:
        """Warn if nothing limits the size of the tree and that makes the search endless."""
        if self.max_depth is not None or self._split_limit is not None:
            return
        # With leaves of a single row, a tree that separates all it can is best, and found at once.
        if self.min_samples_leaf != 1 and read_fraction(self.complexity, "complexity") == 0:
            warn(
                "Nothing limits the size of the tree: max_depth and max_splits are None, and "
                "complexity is 0, so that trees with as many splits as there are rows are "
                "searched. The search may well end at time_limit or memory_limit; set a "
                "complexity or a limit.",
                UserWarning,
            )

    def _budget(self) -> AbstractContextManager[Budget]:
        """Open the budget of a call: its limits hold for all that happens in it."""
        return open_call(self)

    def _engine_options(self, share: float = 1.0) -> engine.Options:
        """Return the limits that do not depend on the objective, with a share of the time left."""
        call = current()
        return engine.Options(
            max_depth=None if self.max_depth is None else int(self.max_depth),
            max_splits=self._split_limit,
            min_leaf=self._least_rows,
            time_limit=None if call is None else call.remaining(share),
            memory_limit=None if call is None else call.memory_left(),
            threads=thread_count(self.n_jobs),
            search=self.search,
            partial=self.encoder_._stopped_by,
            row_counts=self._row_counts,
        )

    def _question(self, search: engine.Search = "tree") -> engine.Question:
        """Return what a search is asked, as far as the form of its rows depends on it."""
        return engine.Question(
            max_depth=self.max_depth,
            max_splits=self._split_limit,
            search=search,
            has_penalty=read_fraction(self.complexity, "complexity") > 0,
            is_multiway=self.splits != "binary",
        )

    def _most_splits(self, n_rows: int) -> int:
        """Return a number of splits that no tree within the limits exceeds."""
        if self.splits == "binary":
            return most_splits(n_rows, self.max_depth, self._split_limit)
        # A multiway test has any number of children, so the depth says little.
        return most_splits(n_rows, None)

    def _cost_budget(self, n_rows: int, complexity: Fraction) -> int:
        """Return the largest total cost, in the core's units, that it can minimise in int64.

        The core allows for a tree with the most splits, which all pay the penalty.
        """
        most = self._most_splits(n_rows)
        return int(cost_budget(n_rows, most) / (1 + complexity * (most + 1)))

    def _prove(
        self,
        statement: Statement,
        callback: Callback | None,
        *,
        warm: WarmTree | None = None,
        path: bool = False,
    ) -> Observer | None:
        """Find and keep the best tree, and the path; return what watched the search."""
        scale = statement.scale
        known = None
        if warm is not None:
            value = warm.value(scale) + statement.paid_for_leaves(warm.nodes)
            known = (value, warm.nodes.n_splits)
        options = replace(
            self._engine_options(SHARE_BEFORE_PATH if path else 1.0),
            error_scale=scale.error_scale,
            split_penalty=scale.split_penalty,
            gap=scale.gap(read_fraction(self.gap, "gap"), statement.most_cost),
            known=known,
        )
        watch = self._watch(scale.cost, statement.measure, callback)
        result = statement.solve(options, watch)
        if warm is not None and known is not None:
            result = better_of(result, warm, known[0])
        self._keep(statement, Answer.of(result, scale))
        self._path = None
        if path:
            paid = statement.paid_for_leaves(result.nodes)
            found = options.sized(replace(result, upper_bound=result.upper_bound - paid))
            self._path = find_path(self, statement, callback, known=[found])
        return watch

    @abstractmethod
    def _keep(self, statement: Any, answer: Answer) -> None:
        """Give the fitted estimator its tree and certificate."""

    # ---- what choosing a size asks for -------------------------------------------------------

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Check targets and keywords of all rows before these are divided, and return them.

        What is estimated once from all rows is estimated here, and what parts of the rows cannot
        know, such as all classes, becomes a parameter.
        """
        return y, params

    def _state_path(
        self, X: Any, y: Any, sample_weight: Any = None, **more: Any
    ) -> Statement | None:
        """Return what a path is searched in; None if the objective has none."""
        return None

    def _hold(self, statement: Any, nodes: engine.Nodes) -> None:
        """Give the estimator a tree to predict with."""
        self.tree_ = statement.grow(nodes)

    def _fit_part(self, X: Any, y: Any, **params: Any) -> None:
        """Fit to rows that `_prepare` has seen."""
        self.fit(X, y, **params)

    def _score_params(self, y: Any, params: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords of `_score_part` for all rows."""
        return params

    def _fold_classes(self, y: Any) -> Any:
        """Return the classes of rows whose shares all folds keep; None where there are none."""
        return y if is_classifier(self) and np.ndim(y) == 1 else None

    def _score_part(self, X: Any, y: Any, **params: Any) -> float:
        """Return what the estimator is to be good at, on rows that it was not fitted to."""
        return float(self.score(X, y, **accepted(self.score, params)))

    def _measure_name(self) -> str:
        """Return what plots call the number that `_score_part` returns."""
        return "score"

    def _watch(
        self, to_cost: Callable[[int], Exact], measure: Measure, callback: Callback | None
    ) -> Observer | None:
        """Return what watches the search, if anyone does: a callback, a progress line, a log."""
        if callback is None and activity() is None:
            return None
        return Observer(to_cost, callback, measure)

    def _finish(self, watch: Observer | None) -> None:
        """Warn with the gap if a limit ended the search."""
        certificate = self.certificate_
        if not certificate.has_tree:
            self._warn_without_tree()
            return
        if certificate.status in ("optimal", "gap"):
            return
        if certificate.status == "precision" and certificate.gap == 0:
            rounding = show(certificate.rounding)
            warn(
                f"Numbers were rounded by {rounding} in all to fit 64 bits, so the proof is not "
                f"exact: the cost is {show(certificate.cost)}, and another tree may cost less by "
                f"up to twice the rounding. {self._advice_on_digits()}",
                OptimalityWarning,
            )
            return
        if certificate.status == "precision":
            cause = "The search needed numbers of more than 64 bits"
            advice = f"Accept a gap. {self._advice_on_digits()}"
        elif certificate.status != "interrupted":
            limit = getattr(self, certificate.status, None)
            cause = f"The search reached {certificate.status}={limit!r}"
            advice = f"Raise {certificate.status}, accept a gap, or ask for a smaller tree."
        elif watch is not None and watch.asked_to_stop:
            cause, advice = "The callback stopped the search", "Let it run longer for a proof."
        else:
            cause, advice = "The search was interrupted", "Let it run longer for a proof."
        warn(
            f"{cause} before the tree was proven optimal: its cost is {show(certificate.cost)}, no "
            f"tree can cost less than {show(certificate.lower_bound)}, so the gap is "
            f"{certificate.gap_text()}. {advice}",
            OptimalityWarning,
        )

    def _advice_on_digits(self) -> str:
        """Return which numbers need fewer digits, so that nothing has to be rounded."""
        if self.certificate_.weight_quantum is not None:
            return (
                "Round sample_weight yourself, for example to two decimals: weights of few digits "
                "are counted exactly, and leave room for the digits of the other numbers."
            )
        if self.certificate_.task in ("poisson", "gamma", "survival"):
            return (
                "The rows differ so little by this criterion that logarithms in float64 do not "
                "show it; 'squared_error' tells such rows apart."
            )
        return (
            "Round the numbers that are given for rows, as y or costs, yourself: those of few "
            "digits are counted exactly."
        )

    def _warn_without_tree(self) -> None:
        """Say why there is no tree."""
        certificate = self.certificate_
        kind = UserWarning if certificate.is_infeasible else OptimalityWarning
        warn(f"{certificate.statement()} There is nothing to predict with.", kind)

    def _check_tree(self) -> None:
        super()._check_tree()
        if not hasattr(self, "tree_"):
            raise InfeasibleError(self.certificate_)

    def _warn_about_path(self, path: RegularizationPath | None) -> None:
        """Warn if a limit ended the search for a path."""
        if path is None or path.is_optimal:
            return
        proven = sum(entry.is_optimal for entry in path)
        warn(
            f"The path was {status_text(path.status)}: {proven} of {len(path)} trees "
            "are proven best for their number of splits. Raise the limit, or ask for a smaller "
            "max_depth or max_splits.",
            OptimalityWarning,
        )

    def _warn_about_front(self, front: ParetoFront | None) -> None:
        """Warn if a limit ended the search for a front."""
        if front is None or front.is_optimal:
            return
        warn(
            f"The search for the front was {status_text(front.status)}: "
            f"{len(front)} trees were found, and others may be missing; its lower_points bound "
            "what any tree can reach. Raise the limit, or ask for smaller trees.",
            OptimalityWarning,
        )


@with_parameters
class SharesSearch(BaseOptimalTree):
    """Base of the estimators whose search the workers of an executor may share."""

    executor: Any = parameter(default=None, check=check_executor)

    def _engine_options(self, share: float = 1.0) -> engine.Options:
        return replace(super()._engine_options(share), executor=self.executor)

    def _question(self, search: engine.Search = "tree") -> engine.Question:
        return replace(super()._question(search), is_shared=self.executor is not None)

    def __sklearn_clone__(self) -> Any:
        # Clones use the same workers. A copy leaves them behind.
        bare = copy.copy(self)
        cloned = super(SharesSearch, bare).__sklearn_clone__()
        cloned.executor = self.executor
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        # Workers stay where they are.
        state: dict[str, Any] = super().__getstate__()
        return {**state, "executor": None}
