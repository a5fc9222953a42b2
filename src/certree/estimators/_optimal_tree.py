"""What all optimal trees share: limits, what is asked of a fit, and what is kept of it."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import is_classifier

from certree.exceptions import InfeasibleError
from certree.fitting.asked import Asked, Objective
from certree.fitting.fitted import Fitted
from certree.fitting.goals import Goal
from certree.fitting.plan import refusal_of
from certree.fitting.request import Request
from certree.results._certificate import Certificate
from certree.results._path import RegularizationPath
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

if TYPE_CHECKING:
    from typing_extensions import Self


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

    @abstractmethod
    def _goal(self, X: Any, y: Any, sample_weight: Any, **call: Any) -> Goal:
        """Return what is optimised, for what a user passes to `fit`."""

    def _check_parameters(self) -> None:
        """Check each parameter by itself."""
        check_parameters(self)

    def _take(self, fitted: Fitted) -> Self:
        """Take over what a fit has found."""
        self._take_encoder(fitted.statement.encoder, fitted.statement.least_rows)
        if fitted.tree is not None:
            self.tree_ = fitted.tree
        elif hasattr(self, "tree_"):
            del self.tree_
        if fitted.certificate is not None:
            self.certificate_ = fitted.certificate
        self._path = fitted.path
        return self

    # ---- what choosing a size asks for -------------------------------------------------------

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Check targets and keywords of all rows before these are divided, and return them.

        What is estimated once from all rows is estimated here, and what parts of the rows cannot
        know, such as all classes, becomes a parameter.
        """
        return y, params

    def _path_request(
        self, X: Any, y: Any, sample_weight: Any = None, **more: Any
    ) -> Request | None:
        """Return what asks for a tree of every size; None if the table of routes has no path."""
        # Who chooses a size says how large trees may be, so the parameter may be None.
        asked = self._what_is_asked(**more, path=True, auto_complexities=True, max_depth=0)
        if refusal_of(asked) is not None:
            return None
        return replace(Request.of(self, X, y, sample_weight, **more), path=True)

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

    def _check_tree(self) -> None:
        super()._check_tree()
        if not hasattr(self, "tree_"):
            raise InfeasibleError(self.certificate_)


@with_parameters
class SharesSearch(BaseOptimalTree):
    """Base of the estimators whose search the workers of an executor may share."""

    executor: Any = parameter(default=None, check=check_executor)

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
