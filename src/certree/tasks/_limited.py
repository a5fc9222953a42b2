"""The algebra of tasks: an objective with limits, and what cannot be put together.

A task with limits is separable in the sense of van der Linden, de Weerdt and Demirović (NeurIPS
2023, theorem 4.6) if what a leaf adds depends on its rows and its label only (the cost function is
Markovian), if better parts make better wholes (the combining operator preserves order), and if
what is out of reach for a part is out of reach for the whole (the constraint is anti-monotonic).
Sums of amounts per row and label satisfy all three, whatever their sign: taking the least amount
of each row out of the sum changes the totals of all trees alike, and what is left is not negative,
so that totals only grow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._base import Given, Rows, Task
from ._labels import LabelProblem, _LabelTask
from ._limit import LeafMinimum, Limit, LimitOnRows

if TYPE_CHECKING:
    from certree._solve_limited import LimitedSolution, TaskFront

# Totals of the objective stay below this, so that it can be weighed against limits in 60 bits.
_MOST_OBJECTIVE = 2**40

_NO_LABELS = (
    "cannot be combined with {what}: by theorem 4.6 of the STreeD paper the cost function must "
    "be Markovian, a function of the rows and the label of a leaf. The leaves of {task} have no "
    "labels to choose from: what they predict is decided inside of the leaf cost, so that amounts "
    "per label are not defined. Use tasks.RowCosts with candidates for the prediction as labels."
)

_TWO_OBJECTIVES = (
    "{first} & {second} has two objectives. A pair of costs is ordered in part only: by theorem "
    "4.6 of the STreeD paper the combining operator must preserve order, which sums of pairs do "
    "over Pareto dominance but not over a single cost, so there is no one best tree. "
    "tasks.Front(a, b) finds all nondominated trees; a bound on one of them is a tasks.Limit."
)


@dataclass(frozen=True)
class LimitedOnRows:
    """An objective and limits on certain rows, in integers.

    Attributes
    ----------
    problems : tuple of LabelProblem
        The objectives: one, or two for a front.
    limits : tuple of LimitOnRows
        The limits.
    label_counts, label_min : int64 arrays, or None
        What rows count for each label of their leaf, and how much each label needs.
    """

    problems: tuple[LabelProblem, ...]
    limits: tuple[LimitOnRows, ...]
    label_counts: NDArray[np.int64] | None
    label_min: NDArray[np.int64] | None

    def values(self) -> NDArray[np.int64]:
        """Return what rows add by label: the objectives' costs first, then the limits' amounts."""
        parts = [problem.statistics for problem in self.problems]
        parts += [limit.amounts for limit in self.limits]
        return np.ascontiguousarray(np.stack(parts, axis=2), dtype=np.int64)

    def planes(
        self, error_scale: int, split_penalty: int
    ) -> tuple[NDArray[np.int64], list[int], list[str], list[tuple[int, int]]]:
        """Return the essential planes of a search.

        Returns
        -------
        planes : int64 array of shape (n_planes, n_quantities + 1)
            Objectives, then one plane for each bound; the last column counts splits.
        bounds : list of int
            The most of each plane after the objectives.
        names : list of str
            Names of these.
        sources : list of (limit, sign)
            Which limit each of these stands for, and with which sign.
        """
        n_objectives = len(self.problems)
        width = n_objectives + len(self.limits) + 1
        lines = [[0] * width for _ in range(n_objectives)]
        lines[0][0], lines[0][-1] = error_scale, split_penalty
        for k in range(1, n_objectives):
            lines[k][k] = 1
        bounds, names, sources = [], [], []
        for j, limit in enumerate(self.limits):
            for bound, sign in ((limit.upper, 1), (limit.lower, -1)):
                if bound is None:
                    continue
                line = [0] * width
                line[n_objectives + j] = sign
                lines.append(line)
                bounds.append(sign * bound)
                names.append(limit.name)
                sources.append((j, sign))
        return np.array(lines, dtype=np.int64), bounds, names, sources


class _Composed(ABC):
    """Objectives over one set of labels, with limits."""

    limits: tuple[Limit, ...]
    minimum: LeafMinimum | None

    @abstractmethod
    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""

    def on(self, y: Any, rows: Rows) -> LimitedOnRows:
        """Return the task on certain rows, with what there is to be predicted, if anything."""
        few = replace(rows, most=min(rows.most, _MOST_OBJECTIVE))
        problems = tuple(task.on(y, few) for task in self.objectives())
        labels = problems[0].labels
        for problem in problems[1:]:
            if problem.labels.tolist() != labels.tolist():
                raise ValueError(
                    "the objectives of a front must have the same labels, got "
                    f"{labels.tolist()} and {problem.labels.tolist()}."
                )
        limits = tuple(limit.on(labels, rows) for limit in self.limits)
        counts, needed = (None, None) if self.minimum is None else self.minimum.on(labels, rows)
        return LimitedOnRows(problems, limits, counts, needed)

    def labels(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return the labels to choose from."""
        return self.objectives()[0].table(y, n_rows)[0]

    def __and__(self, other: object) -> Any:
        return combine(self, other)


class Limited(_Composed):
    """An objective with limits on the whole tree; made by ``task & limit``.

    Attributes
    ----------
    objective : Task
        What is minimised: a task with costs per row and label.
    limits : tuple of Limit
        What bounds the totals of a tree.
    minimum : LeafMinimum or None
        What labels need in their leaves.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import tasks
    >>> tasks.Misclassification() & tasks.Limit("yes", {1: 1}, at_most=10)
    Misclassification(class_weight=None) & Limit('yes', at_most=10)
    """

    def __init__(
        self,
        objective: Task,
        limits: Sequence[Limit] = (),
        minimum: LeafMinimum | None = None,
    ) -> None:
        self.objective = _with_labels(objective, "limits")
        self.limits = _distinct(limits)
        self.minimum = minimum

    @property
    def name(self) -> str:
        """What certificates call the objective."""
        return self.objective.name

    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""
        return (self.objective,)

    def _solve(self, model: Any, given: Given) -> LimitedSolution:
        """Solve the task with the parameters of a model; :func:`certree.solve` is the door."""
        from certree._solve_limited import solve_with_limits

        return solve_with_limits(model, self, given)

    def __repr__(self) -> str:
        parts: list[Any] = [self.objective, *self.limits]
        if self.minimum is not None:
            parts.append(self.minimum)
        return " & ".join(map(repr, parts))


class Front(_Composed):
    """Two objectives at once: all trees that no other tree beats in both.

    Parameters
    ----------
    first, second : Task
        Tasks with costs per row and label, over the same labels. A penalty per split counts for
        the first.

    Attributes
    ----------
    limits : tuple of Limit
        Limits that were put to it with ``&``.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import solve, tasks
    >>> errors = tasks.Misclassification()
    >>> harm = tasks.RowCosts([[0, 5], [0, 0], [0, 2]])
    >>> front = solve(tasks.Front(errors, harm), [[0], [1], [1]], [1, 1, 0], max_depth=1)
    >>> [point.values for point in front]
    [(1, 5), (2, 0)]
    """

    def __init__(self, first: Any, second: Any) -> None:
        limits: list[Limit] = []
        minimum: LeafMinimum | None = None
        tasks: list[_LabelTask] = []
        for task in (first, second):
            if isinstance(task, Limited):
                limits += task.limits
                minimum = _only(minimum, task.minimum)
                task = task.objective
            tasks.append(_with_labels(task, "another objective"))
        self.first, self.second = tasks
        self.limits = _distinct(limits)
        self.minimum = minimum

    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""
        return self.first, self.second

    def _solve(self, model: Any, given: Given) -> TaskFront:
        """Solve the task with the parameters of a model; :func:`certree.solve` is the door."""
        from certree._solve_limited import solve_for_front

        return solve_for_front(model, self, given)

    def __repr__(self) -> str:
        front = f"Front({self.first!r}, {self.second!r})"
        parts: list[Any] = [*self.limits, *([] if self.minimum is None else [self.minimum])]
        return " & ".join([front, *map(repr, parts)])


def combine(first: object, second: object) -> Any:
    """Return ``first & second``: objective and limits in one, or say why there is no such task.

    Raises
    ------
    ValueError
        If the result is not separable; the message names the condition that fails.
    TypeError
        If one of them is neither a task nor a limit.
    """
    for part in (first, second):
        if not isinstance(part, Task | _Composed | Limit | LeafMinimum):
            raise TypeError(
                f"& combines a task with limits, such as tasks.Misclassification() & tasks.Limit("
                f"...); got {type(part).__name__}."
            )
    if isinstance(first, Limit | LeafMinimum):
        if isinstance(second, Limit | LeafMinimum):
            raise ValueError(
                f"{first!r} & {second!r} has no objective; begin with one, such as "
                "tasks.Misclassification() & limit & another."
            )
        first, second = second, first
    if not isinstance(second, Limit | LeafMinimum):
        raise ValueError(_TWO_OBJECTIVES.format(first=repr(first), second=repr(second)))
    if isinstance(first, Front):
        extended: _Composed = Front(first.first, first.second)
        extended.limits, extended.minimum = first.limits, first.minimum
    elif isinstance(first, Limited):
        extended = Limited(first.objective, first.limits, first.minimum)
    else:
        assert isinstance(first, Task)
        extended = Limited(first)
    if isinstance(second, LeafMinimum):
        extended.minimum = _only(extended.minimum, second)
    else:
        extended.limits = _distinct((*extended.limits, second))
    return extended


def _with_labels(task: object, what: str) -> _LabelTask:
    """Return a task with costs per row and label, or say why another one does not do."""
    if isinstance(task, _LabelTask):
        return task
    if isinstance(task, Task):
        reason = _NO_LABELS.format(what=what, task=type(task).__name__)
        raise ValueError(f"{task!r} {reason}")
    raise TypeError(
        f"expected a certree.tasks.Task, such as tasks.Misclassification(), got "
        f"{type(task).__name__}."
    )


def _distinct(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    names = [limit.name for limit in limits]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"limits must have different names, but {twice} are used more than once; a limit from "
            "both sides is one limit with at_most and at_least."
        )
    return tuple(limits)


def _only(first: LeafMinimum | None, second: LeafMinimum | None) -> LeafMinimum | None:
    if first is not None and second is not None:
        raise ValueError("a task has one LeafMinimum at most; put all labels into one mapping.")
    return first if second is None else second
