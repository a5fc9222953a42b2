"""The algebra of tasks: objectives with limits, and reasons for refusal.

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
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.engine._within_limits import Finer
from certree.metrics import Metric

from ._label_costs import LabelProblem, _LabelTask
from ._limit import LeafMinimum, Limit, LimitOnRows
from ._separable import Both, Separable
from ._task import Composable, Rows, Task

# Totals of an objective that has to be rounded stay below this, so that it can be weighed against
# limits in 60 bits; exact ones may be larger, at the price of coarser multipliers.
_MOST_ROUNDED = 2**40
_MOST_EXACT = 2**48

NO_LABELS = (
    "cannot be combined with {name}: by theorem 4.6 of the STreeD paper the cost function must "
    "be Markovian, a function of the rows and the label of a leaf. The leaves of {objective} have "
    "no labels to choose from: what they predict is decided inside of the leaf cost, so that "
    "amounts per label are not defined. Use tasks.RowCosts with candidates for the prediction as "
    "labels."
)
"""Why limits and further objectives need leaves with labels."""

_TWO_OBJECTIVES = (
    "{first} & {second} has two objectives. A pair of costs is ordered in part only: by theorem "
    "4.6 of the STreeD paper the combining operator must preserve order, which sums of pairs do "
    "over Pareto dominance but not over a single cost, so there is no one best tree. "
    "tasks.Front(a, b) finds all nondominated trees; a bound on one of them is a tasks.Limit."
)


NO_SUM = (
    "{objective} is not a task, a sum over the leaves: by theorem 4.6 of the STreeD paper the "
    "combining operator must preserve order, and ratios of counts do not. A part with 1 row right, "
    "1 missed has F1 2/3, above the 4/7 of 2 right and 3 wrong; beside 6 more wrong ones it has "
    "2/9, below 4/13. OptimalTreeClassifier(objective={objective!r}, limits=...) maximises it by "
    "other theorems, also within limits. Prices of tests are sums, which nothing makes comparable "
    "with it: limit the tests by max_depth or max_splits, or find all trees by "
    "certree.pareto_front."
)
"""Why a metric is no task."""


def refuse_metric(task: object) -> None:
    """Raise ValueError for a metric of counts, with the law that it breaks as a task."""
    if isinstance(task, Metric):
        raise ValueError(NO_SUM.format(objective=task.name))


@dataclass(frozen=True)
class LimitedOnRows:
    """An objective and limits on certain rows, in integers.

    Attributes
    ----------
    problems : tuple of LabelProblem
        The objectives: one, or several for a front.
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
        """Return what rows add by label: the objectives' costs, then the digits of the limits."""
        return self.values_beside([problem.statistics[:, :, None] for problem in self.problems])

    def values_beside(self, own: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return what rows add by label: sums of one's own, then the digits of the limits."""
        parts = [*own]
        for limit in self.limits:
            parts += [limit.amounts.leading[:, :, None], limit.amounts.finer]
        return np.ascontiguousarray(np.concatenate(parts, axis=2), dtype=np.int64)

    def planes(self, error_scale: int, split_penalty: int) -> Planes:
        """Return the objectives and limits of the search as planes."""
        objectives = np.eye(len(self.problems), dtype=np.int64)
        objectives[0, 0] = error_scale
        return self.planes_beside(objectives, split_penalty)

    def planes_beside(self, objectives: NDArray[np.int64], split_penalty: int = 0) -> Planes:
        """Return objectives over sums of one's own, and the limits beside them, as planes."""
        n_objectives, place = objectives.shape
        n_digits = sum(1 + limit.amounts.n_finer for limit in self.limits)
        lines = np.zeros((n_objectives, place + n_digits + 1), dtype=np.int64)
        lines[:, :place], lines[0, -1] = objectives, split_penalty
        planes = Planes([*lines], [], [], [], [])
        for j, limit in enumerate(self.limits):
            planes.add(j, limit, place)
            place += 1 + limit.amounts.n_finer
        return planes

    def totals(self, labels: NDArray[np.int32]) -> list[Fraction]:
        """Return the total of each limit, in the user's terms, if rows have these labels."""
        return [limit.amounts.total(labels) * limit.unit for limit in self.limits]

    def needed(self, labels: NDArray[Any]) -> tuple[tuple[str, int], ...]:
        """Return the labels that need rows in their leaves, and how many."""
        if self.label_min is None:
            return ()
        each = zip(labels.tolist(), self.label_min.tolist(), strict=True)
        return tuple((str(label), number) for label, number in each if number > 0)


def limits_on(
    limits: Sequence[Limit],
    minimum: LeafMinimum | None,
    labels: NDArray[Any],
    rows: Rows,
    problems: tuple[LabelProblem, ...] = (),
) -> LimitedOnRows:
    """Return limits on certain rows, in integers, beside objectives on these."""
    counts, needed = (None, None) if minimum is None else minimum.on(labels, rows)
    on_rows = tuple(limit.on(labels, rows) for limit in _distinct(limits))
    return LimitedOnRows(problems, on_rows, counts, needed)


@dataclass
class Planes:
    """The essential planes of a search.

    Attributes
    ----------
    lines : list of int64 arrays of length n_quantities + 1
        Objectives, then one plane for each bound; the last entry is for splits.
    bounds : list of int
        The most of each plane after the objectives, which is that of leading digits.
    finer : list of Finer or None
        The finer digits of these, if they have any.
    names : list of str
        Names of these.
    sources : list of (limit, sign)
        Which limit each of these stands for, and with which sign.
    """

    lines: list[NDArray[np.int64]]
    bounds: list[int]
    finer: list[Finer | None]
    names: list[str]
    sources: list[tuple[int, int]]

    def add(self, number: int, limit: LimitOnRows, place: int) -> None:
        """Add the bounds of a limit whose digits are the quantities from a place on."""
        amounts, width = limit.amounts, len(self.lines[0])
        for bound, sign in limit.sides:
            digits = np.zeros((1 + amounts.n_finer, width), dtype=np.int64)
            digits[np.arange(len(digits)), place + np.arange(len(digits))] = sign
            self.lines.append(digits[0])
            self.bounds.append(amounts.leading_bound(bound, sign))
            self.finer.append(
                Finer(
                    digits[1:],
                    amounts.bits,
                    bound,
                    amounts.least_finer(sign),
                    amounts.least_total(sign),
                )
                if amounts.n_finer
                else None
            )
            self.names.append(limit.name)
            self.sources.append((number, sign))


class _Composed(Composable, ABC):
    """Objectives over one set of labels, with limits."""

    limits: tuple[Limit, ...]
    minimum: LeafMinimum | None

    @abstractmethod
    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""

    @property
    def name(self) -> str:
        """What certificates call the objective, or the first of them."""
        return self.objectives()[0].name

    def on(self, y: Any, rows: Rows) -> LimitedOnRows:
        """Return the task on certain rows, with the target, if there is one."""
        problems = tuple(_objective_on(task, y, rows) for task in self.objectives())
        if any("outputs" in problem.engine_settings() for problem in problems):
            raise ValueError(
                "Limits and fronts need one output, but y has several columns; pass one of them."
            )
        labels = problems[0].labels
        for problem in problems[1:]:
            if problem.labels.tolist() != labels.tolist():
                raise ValueError(
                    "the objectives of a front must have the same labels, got "
                    f"{labels.tolist()} and {problem.labels.tolist()}."
                )
        return limits_on(self.limits, self.minimum, labels, rows, problems)

    def labels(self, y: Any, n_rows: int) -> NDArray[Any]:
        """Return the labels to choose from."""
        return self.objectives()[0].table(y, n_rows)[0]


class Limited(_Composed):
    """An objective with limits on the whole tree; made by ``task & limit``.

    Attributes
    ----------
    objective : Task
        What is minimised: a task with costs per row and label.
    limits : tuple of Limit
        The bounds on totals of a tree.
    minimum : LeafMinimum or None
        The rows that labels need in their leaves.

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

    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""
        return (self.objective,)

    def __repr__(self) -> str:
        parts: list[Any] = [self.objective, *self.limits]
        if self.minimum is not None:
            parts.append(self.minimum)
        return " & ".join(map(repr, parts))


class Front(_Composed):
    """Several objectives at once: all trees that no other tree beats in all of them.

    Parameters
    ----------
    *tasks : Task
        Two or more tasks with costs per row and label, over the same labels. A penalty per split
        counts for the first.

    Attributes
    ----------
    tasks : tuple of Task
        The objectives.
    limits : tuple of Limit
        Limits that ``&`` has added.

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

    def __init__(self, *tasks: Any) -> None:
        if len(tasks) < 2:
            raise ValueError(
                f"a front has two objectives or more, got {len(tasks)}; one objective has a best "
                "tree, which solve(task, ...) finds."
            )
        limits: list[Limit] = []
        minimum: LeafMinimum | None = None
        each: list[_LabelTask] = []
        for task in tasks:
            if isinstance(task, Limited):
                limits += task.limits
                minimum = _only(minimum, task.minimum)
                task = task.objective
            each.append(_with_labels(task, "another objective"))
        self.tasks = tuple(each)
        self.limits = _distinct(limits)
        self.minimum = minimum

    def objectives(self) -> tuple[_LabelTask, ...]:
        """Return what is minimised."""
        return self.tasks

    def __repr__(self) -> str:
        front = f"Front({', '.join(map(repr, self.tasks))})"
        parts: list[Any] = [*self.limits, *([] if self.minimum is None else [self.minimum])]
        return " & ".join([front, *map(repr, parts)])


def combine(first: object, second: object) -> Any:
    """Return ``first & second``: objective and limits in one, or raise with the reason.

    Raises
    ------
    ValueError
        If the result is not separable; the message names the condition that fails.
    TypeError
        If one of them is neither a task nor a limit.
    """
    if isinstance(first, Separable) or isinstance(second, Separable):
        return _join_separable(first, second)
    for part in (first, second):
        refuse_metric(part)
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
        extended: _Composed = Front(*first.tasks)
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


def _join_separable(first: object, second: object) -> Both:
    """Return a separable objective with a limit, or two of them, or raise with the reason."""
    if not isinstance(first, Separable):
        first, second = second, first
    assert isinstance(first, Separable)
    if not isinstance(second, Separable | Limit):
        raise ValueError(
            f"{first!r} & {second!r}: a separable objective is joined by a tasks.Limit or another "
            "tasks.Separable. By proposition A.4 of the STreeD paper both parts need a combining "
            f"operator and an order of their values, and {type(second).__name__} states neither; "
            "write it as a tasks.Separable, such as Separable(labels, lambda rows, label: "
            "costs[rows, label].sum())."
        )
    return Both(first, second)


Composable.join = staticmethod(combine)


def _objective_on(task: _LabelTask, y: Any, rows: Rows) -> LabelProblem:
    """Return an objective on certain rows, exactly if that leaves room for limits."""
    problem = task.on(y, replace(rows, most=min(rows.most, _MOST_EXACT)))
    if problem.rounding and rows.most > _MOST_ROUNDED:
        problem = task.on(y, replace(rows, most=_MOST_ROUNDED))
    return problem


def _with_labels(task: object, what: str) -> _LabelTask:
    """Return a task with costs per row and label, or raise with the reason."""
    if isinstance(task, _LabelTask):
        return task
    refuse_metric(task)
    if isinstance(task, Task):
        reason = NO_LABELS.format(name=what, objective=type(task).__name__)
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
