"""Solve a task on a table: the door for objectives that have no estimator of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from certree.encoding import TableEncoder
from certree.results._path import RegularizationPath
from certree.results._progress import Callback
from certree.results._task_certificate import TaskCertificate
from certree.tasks import Front, Limited, Separable, Task
from certree.tasks._task import Given
from certree.tree import Tree

from ._settings import TaskSettings, takes
from ._solve_limited import LimitedSolution, TaskFront, solve_for_front, solve_with_limits
from ._solve_separable import SeparableSolution, solve_separable
from ._task_tree import BaseTargetTree
from ._vocabulary import parameter, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, repr=False)
class Solution:
    """The best tree for a task and what is proven about it; made by :func:`solve`.

    Attributes
    ----------
    tree : Tree
        The tree.
    certificate : TaskCertificate
        What is proven.
    encoder : TableEncoder
        The tests that were considered.
    path : RegularizationPath or None
        The best tree for every number of splits, if asked for.
    """

    tree: Tree
    certificate: TaskCertificate
    encoder: TableEncoder
    path: RegularizationPath | None = None
    _model: TaskTree | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        # Functions such as a task's leaf cost can often not be pickled.
        state = dict(self.__dict__)
        if self._model is not None:
            state["_model"] = copy.copy(self._model)
            state["_model"].task = None
        return state

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the leaf of each row predicts."""
        return self.tree.predict(X)

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches."""
        return self.tree.apply(X)

    def __repr__(self) -> str:
        return repr(self.certificate).replace(type(self.certificate).__name__, "Solution", 1)

    def __str__(self) -> str:
        return f"{self.tree.to_text()}\n\n{self.certificate}"


@with_parameters
class TaskTree(BaseTargetTree):
    """An estimator for any task; `solve` is the door for users."""

    task: Any = parameter(default=None, kw_only=False)
    test_costs: Any = None

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        task: Task = self.task
        return task


class _Given(TaskSettings, total=False):
    """What `solve` takes by keyword, for type checkers."""

    sample_weight: Any
    callback: Callback | None
    path: bool


# Type checkers see what each kind of task gives.
@overload
def solve(task: Task, X: Any, y: Any = ..., **given: Unpack[_Given]) -> Solution: ...
@overload
def solve(task: Limited, X: Any, y: Any = ..., **given: Unpack[_Given]) -> LimitedSolution: ...
@overload
def solve(task: Front, X: Any, y: Any = ..., **given: Unpack[_Given]) -> TaskFront: ...
@overload
def solve(task: Separable, X: Any, y: Any = ..., **given: Unpack[_Given]) -> SeparableSolution: ...
@takes(TaskSettings, TaskTree)
def solve(
    task: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    callback: Callback | None = None,
    path: bool = False,
    **settings: Unpack[TaskSettings],
) -> Any:
    """Find the best tree for a task, with a certificate.

    Parameters
    ----------
    task : tasks.Task, tasks.Limited, tasks.Front or tasks.Separable
        What is minimised: the sum of what the leaves cost; with limits on the whole tree
        (``task & tasks.Limit(...)``), two objectives at once, or an objective by its parts.
    X : table of shape (n_rows, n_features)
        The rows, as for :class:`OptimalTreeClassifier`.
    y : array-like of shape (n_rows,), optional
        Classes or target, for tasks that need them.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    max_depth, max_splits, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf) in units of the mean cost of a row: a split must lower it by
        at least so much. For :class:`tasks.SquaredError`, in units of R2.
    complexity_per : {"split", "leaf"}, default="split"
        What the penalty counts.
    test_costs : mapping, sequence or list of Measurement, optional
        Prices of tests, as for :class:`CostSensitiveTreeClassifier`; for tasks with costs per
        label only.
    categorical_features, thresholds, search, time_limit, memory_limit, gap, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`; `gap` is in units of ``certificate.cost``.
    callback : callable, optional
        Called with a :class:`Progress` now and then; a true answer stops the search.
    path : bool, default=False
        Also find the best tree for every number of splits.

    Returns
    -------
    Solution, LimitedSolution, TaskFront or SeparableSolution
        Tree and certificate. With limits, the tree is None if no tree keeps them. For two
        objectives: all trees that no other beats in both. For an objective by its parts: all
        nondominated trees.

    See Also
    --------
    check_task : Look for rows that break the laws of a task.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import solve, tasks
    >>> costs = [[0, 4], [3, 0], [1, 2]]
    >>> solution = solve(tasks.RowCosts(costs), [[0, 0], [0, 1], [1, 1]], max_depth=2)
    >>> solution.certificate.cost, solution.tree.n_splits
    (1, 2)
    """
    model = TaskTree(task, **settings)
    given = Given(X, y, sample_weight, callback, path)
    solver = next((way for kind, way in _WAYS.items() if isinstance(task, kind)), None)
    if solver is None:
        raise TypeError(
            f"task must be a certree.tasks.Task, such as tasks.RowCosts(costs), got "
            f"{type(task).__name__}."
        )
    model._check_parameters()
    with model._budget():
        return solver(model, task, given)


def _solve_task(model: TaskTree, task: Task, given: Given) -> Solution:
    """Solve the task of a model."""
    X, y, sample_weight, callback, path = given
    model.fit(X, y, sample_weight, callback=callback, path=path)
    return Solution(model.tree_, model.certificate_, model.encoder_, model._path, model)


_WAYS: dict[type, Callable[[Any, Any, Given], Any]] = {
    Limited: solve_with_limits,
    Front: solve_for_front,
    Separable: solve_separable,
    Task: _solve_task,
}
"""How each kind of task is solved, with the parameters of a model."""
