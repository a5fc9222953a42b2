"""Solve a task on a table: the entry point for objectives that have no estimator of their own."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from certree.encoding import TableEncoder
from certree.exceptions import InfeasibleError
from certree.fitting.asked import COSTS, LEAVES, PARTS, SEVERAL, Asked, Objective
from certree.fitting.fit import fit, function_of
from certree.fitting.goals import TaskGoal
from certree.fitting.objectives import objective_asked
from certree.fitting.request import Request
from certree.leaves.labels.errors import Misclassification
from certree.metrics import Metric
from certree.results._limit_certificate import LimitedCertificate
from certree.results._path import RegularizationPath
from certree.results._progress import Callback
from certree.results._separable_solution import SeparableSolution
from certree.results._task_certificate import TaskCertificate
from certree.results._task_front import TaskFront
from certree.tasks import Front, Limited, Separable, Task
from certree.tasks._label_costs import _LabelTask
from certree.tree import Tree

from ._rare_classes import BY_WEIGHT, hint_at_rare_classes
from ._settings import TaskSettings, takes
from ._task_tree import BaseTargetTree
from ._vocabulary import fixed, parameter, with_parameters

if TYPE_CHECKING:
    from typing_extensions import Unpack


C = TypeVar("C", bound=TaskCertificate)


@dataclass(frozen=True, repr=False)
class Solution(Generic[C]):
    """The best tree for a task and what is proven about it; made by :func:`solve`.

    Attributes
    ----------
    tree : Tree
        The tree; None if no tree keeps the limits of the task, or none was found in time.
    certificate : TaskCertificate
        What is proven; a :class:`LimitedCertificate` for a task with limits.
    encoder : TableEncoder
        The tests that were considered.
    path : RegularizationPath or None
        The best tree for every number of splits, if asked for.
    """

    tree: Tree
    certificate: C
    encoder: TableEncoder
    path: RegularizationPath | None = None
    _model: TaskTree | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        try:
            pickle.dumps(self._model)
        except (pickle.PicklingError, AttributeError, TypeError):
            # Functions such as a task's leaf cost can often not be pickled.
            state["_model"] = copy.copy(self._model)
            state["_model"].task = None
        return state

    def predict(self, X: Any) -> NDArray[Any]:
        """Return what the leaf of each row predicts.

        Raises
        ------
        InfeasibleError
            If there is no tree; the message says why.
        """
        return self._found().predict(X)

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Return the leaf that each row reaches."""
        return self._found().apply(X)

    def _found(self) -> Tree:
        if not self.certificate.has_tree:
            raise InfeasibleError(self.certificate)
        return self.tree

    def _repr_html_(self) -> str:
        tree = self.tree.to_html(interactive=False) if self.certificate.has_tree else ""
        return tree + self.certificate._repr_html_()

    def __repr__(self) -> str:
        return repr(self.certificate).replace(type(self.certificate).__name__, "Solution", 1)

    def __str__(self) -> str:
        tree = f"{self.tree.to_text()}\n\n" if self.certificate.has_tree else ""
        return f"{tree}{self.certificate}"


@with_parameters
class TaskTree(BaseTargetTree):
    """An estimator for any task; `solve` is the entry point for users."""

    task: Any = parameter(default=None, kw_only=False)
    test_costs: Any = None
    executor: Any = fixed(default=None)

    def _task(self, y: Any, n_rows: int, sample_weight: Any = None, costs: Any = None) -> Task:
        task: Task = self.task
        return task

    def _what_is_optimised(self) -> Objective:
        return _objective_of(self.task)

    def _what_is_asked(self, *, n_outputs: int = 1, **call: Any) -> Asked:
        limits = [*getattr(self.task, "limits", ()), getattr(self.task, "minimum", None)]
        listed = [one for one in limits if one is not None]
        return super()._what_is_asked(n_outputs=n_outputs, **{"limits": listed, **call})

    def _goal(self, X: Any, y: Any, sample_weight: Any, costs: Any = None, **call: Any) -> TaskGoal:
        # That no tree keeps the limits is an answer.
        goal = replace(super()._goal(X, y, sample_weight), allows_no_tree=True)
        if not isinstance(self.task, Front):
            return goal
        given = self.get_params(deep=False).items()
        return replace(goal, parameters={name: value for name, value in given if name != "task"})


class _Given(TaskSettings, total=False):
    """What `solve` takes by keyword, for type checkers."""

    sample_weight: Any
    callback: Callback | None
    path: bool


# Type checkers see what each kind of task gives.
@overload
def solve(
    task: Task, X: Any, y: Any = ..., **given: Unpack[_Given]
) -> Solution[TaskCertificate]: ...
@overload
def solve(
    task: Limited, X: Any, y: Any = ..., **given: Unpack[_Given]
) -> Solution[LimitedCertificate]: ...
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
        (``task & tasks.Limit(...)``), several objectives at once, or an objective by its parts.
    X : table of shape (n_rows, n_features)
        The rows, as for :class:`OptimalTreeClassifier`.
    y : array-like of shape (n_rows,), optional
        Classes or target, for tasks that need them.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    max_depth, max_splits, max_leaf_nodes, min_samples_leaf
        Limits on the trees, as for :class:`OptimalTreeClassifier`.
    complexity : float, default=0.0
        Penalty per split (or leaf) in units of the mean cost of a row: a split must lower it by
        at least so much. For :class:`tasks.SquaredError`, in units of R2.
    complexity_per : {"split", "leaf"}, default="split"
        What the penalty counts.
    test_costs : mapping, sequence or list of Measurement, optional
        Prices of tests, as for :class:`CostSensitiveTreeClassifier`; for tasks with costs per
        label only.
    categorical_features, thresholds, min_category_rows, category_tests, identifiers
        As for :class:`OptimalTreeClassifier`.
    search, time_limit, memory_limit, gap, n_jobs, verbose
        As for :class:`OptimalTreeClassifier`; `gap` is in units of ``certificate.cost``.
    callback : callable, optional
        Called with a :class:`Progress` now and then; a true answer stops the search.
    path : bool, default=False
        Also find the best tree for every number of splits.

    Returns
    -------
    Solution, TaskFront or SeparableSolution
        Tree and certificate. With limits, the tree is None if no tree keeps them. For several
        objectives: all trees that no other beats in all. For an objective by its parts: all
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
    request = Request.of(model, X, y, sample_weight, callback=callback, path=path)
    if request.asked.objective.kind in (SEVERAL, PARTS):  # many trees, which no estimator holds
        return function_of(request.route)(request)
    model._take(fit(request))
    tree = cast(Tree, getattr(model, "tree_", None))
    errors = task.objective if isinstance(task, Limited) else task
    is_plain = isinstance(errors, Misclassification) and errors.class_weight is None
    if is_plain and sample_weight is None and tree is not None:
        hint_at_rare_classes(tree, BY_WEIGHT)
    return Solution(tree, model.certificate_, model.encoder_, model._path, model)


def _objective_of(task: Any) -> Objective:
    """Return a task as the table of routes knows it."""
    if isinstance(task, Metric):
        return objective_asked(task)
    if isinstance(task, Front):
        return Objective(SEVERAL, repr(task))
    if isinstance(task, Separable):
        return Objective(PARTS, repr(task))
    if not isinstance(task, Task | Limited):
        raise TypeError(
            f"task must be a certree.tasks.Task, such as tasks.RowCosts(costs), got "
            f"{type(task).__name__}."
        )
    minimised = task.objective if isinstance(task, Limited) else task
    return Objective(COSTS if isinstance(minimised, _LabelTask) else LEAVES, repr(task))
