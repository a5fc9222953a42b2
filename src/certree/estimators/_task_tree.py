"""What trees for a task share: the statement, the proof, the tree, the certificate."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree import engine
from certree.fitting.asked import LEAVES, Objective
from certree.fitting.certify import certify
from certree.fitting.plan import Route
from certree.fitting.prove_limited import fit_within
from certree.fitting.state_task import TaskStatement, state_task
from certree.fitting.statement import Statement
from certree.results._answer import Answer
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

    certificate_: TaskCertificate = fitted()
    _node_costs: NDArray[np.float64] = fitted()

    @abstractmethod
    def _task(
        self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None
    ) -> Task | Limited:
        """Return what is minimised, for what a user passes to `fit` or `verify`."""

    def _what_is_optimised(self) -> Objective:
        return Objective(LEAVES, type(self).__name__)

    def _fit_and_report(
        self,
        route: Route,
        task: Task | Limited,
        X: Any,
        y: Any,
        sample_weight: Any,
        callback: Callback | None,
        path: bool,
    ) -> None:
        """Solve a task, keep tree and certificate, and warn of what was not proven."""
        if route.name == "limits":
            assert isinstance(task, Limited)
            with self._budget():
                watch, _ = fit_within(self, task, X, y, sample_weight, callback)
            self._finish(watch)
            return
        assert isinstance(task, Task)
        self._check_size_limits()
        with self._budget():
            statement = self._state(task, X, y, sample_weight, path)
            watch = self._prove(statement, callback, path=path)
        self._finish(watch)
        self._warn_about_path(self._path)

    def _state(
        self, task: Task, X: Any, y: Any, sample_weight: Any, path: bool = False
    ) -> TaskStatement:
        """Return what is asked of the search, or of two, if there is to be a path."""
        question = self._question("path" if path else "tree")
        return state_task(self, task, X, y, sample_weight, TaskStatement, question)

    def _keep(
        self,
        statement: TaskStatement,
        answer: Answer,
        kind: type[TaskCertificate] = TaskCertificate,
        **more: Any,
    ) -> None:
        if hasattr(self, "tree_"):
            del self.tree_
        if answer.cost is not None:
            self._hold(statement, answer.nodes)
        self.certificate_ = certify(self, statement, answer, kind, **more)

    def _hold(self, statement: TaskStatement, nodes: engine.Nodes) -> None:
        reached = statement.reach(nodes)
        self.tree_ = statement.grow(nodes, reached)
        self._node_costs = statement.problem.units(reached.sums).astype(np.float64)

    def _state_path(
        self, X: Any, y: Any, sample_weight: Any = None, **more: Any
    ) -> Statement | None:
        task = self._task(y, self._row_count(X), sample_weight, **more)
        if isinstance(task, Limited):
            return None
        return self._state(task, X, y, sample_weight, path=True)

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
        route = self._plan(path=path)
        n_rows = self._row_count(X)
        target = self._read_target(y, n_rows)
        task = self._task(target, n_rows, sample_weight)
        self._fit_and_report(route, task, X, target, sample_weight, callback, path)
        return self

    def _read_target(self, y: Any, n_rows: int) -> Any:
        """Return the target of each row, and refuse targets that do not fit."""
        return y

    def _prepare(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        return self._read_target(y, self._row_count(X)), params
