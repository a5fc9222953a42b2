"""What trees for a task share: the statement, the proof, the tree, the certificate."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.fitting.asked import LEAVES, Objective
from certree.fitting.fit import fit
from certree.fitting.fitted import Fitted
from certree.fitting.goals import TaskGoal
from certree.fitting.read import count_rows
from certree.fitting.request import Request
from certree.fitting.state_task import TaskStatement
from certree.results._progress import Callback
from certree.results._task_certificate import TaskCertificate
from certree.tasks._limited import Limited
from certree.tasks._task import Task
from certree.tree._spread import importances

from ._optimal_tree import SharesSearch
from ._vocabulary import fitted, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Self

# Some tasks let tests have prices, and then this is a parameter.
_NO_COSTS: Any = None


@with_parameters
class BaseTaskTree(SharesSearch):
    """Base of the estimators in which a leaf costs a function of a sum over its rows."""

    test_costs = _NO_COSTS

    _statement_kind: ClassVar[type[TaskStatement]] = TaskStatement

    certificate_: TaskCertificate = fitted()
    _node_costs: NDArray[np.float64] = fitted()

    @abstractmethod
    def _task(
        self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None
    ) -> Task | Limited:
        """Return what is minimised, for what a user passes to `fit` or `verify`."""

    def _what_is_optimised(self) -> Objective:
        return Objective(LEAVES, type(self).__name__)

    def _read_target(self, y: Any, n_rows: int) -> Any:
        """Return the target of each row, and refuse targets that do not fit."""
        return y

    def _goal(self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any) -> TaskGoal:
        n_rows = count_rows(X)
        target = self._read_target(y, n_rows)
        task = self._task(target, n_rows, sample_weight, costs)
        return TaskGoal(y=target, task=task, kind=self._statement_kind, test_costs=self.test_costs)

    def _take(self, fitted: Fitted) -> Self:
        super()._take(fitted)
        if fitted.tree is not None:
            self._node_costs = fitted.details
        return self

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Normalised decrease of the leaf cost by the splits on each column."""
        self._check_tree()
        return importances(self.tree_, self._node_costs)


class BaseTargetTree(BaseTaskTree):
    """Base of the estimators that learn from one target per row, and need nothing else."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        callback: Callback | None = None,
        path: bool = False,
    ) -> Self:
        """Find the best tree for the training rows.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            As for :class:`OptimalTreeClassifier`.
        y : array-like of shape (n_rows,), or (n_rows, n_outputs) where several outputs are known
            What is to be predicted: class labels, or numbers.
        sample_weight : array-like of shape (n_rows,), optional
            Weights, not negative. Rows of weight zero are left out.
        callback, path
            As for :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        estimator
            The fitted estimator itself.
        """
        request = Request.of(self, X, y, sample_weight, callback=callback, path=path)
        return self._take(fit(request))

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return self._read_target(y, count_rows(X)), params
