"""Tasks that say what labels cost: by the class of a row, for each row, or as rewards."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certree.encoding._classes import check_labels
from certree.encoding._reduced import CostSums
from certree.numbers._fixed_point import check_numbers
from certree.tasks._label_costs import (
    LabelProblem,
    RewardProblem,
    _LabelTask,
    match_classes,
    read_labels,
    summed,
)
from certree.tasks._task import Rows


class CostMatrix(_LabelTask):
    """What a label costs a row of a class.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        Row: true class; column: predicted class.
    classes : array-like of shape (n_classes,), optional
        The classes that rows and columns stand for; by default those of y in sorted order, or 0 to
        ``n_classes - 1`` if y holds such numbers only.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.CostMatrix([[0, 1], [5, 0]])
    >>> solution = solve(task, [[0], [1], [1]], [0, 1, 0], max_depth=1)
    >>> solution.certificate.cost
    1
    """

    name: ClassVar[str] = "cost"
    argument: ClassVar[str] = "matrix"
    """What the user calls the matrix."""

    def __init__(self, matrix: Any, classes: Any = None) -> None:
        self.matrix = matrix
        self.classes = classes

    def lines(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        """Return the classes, the matrix, and the line of the matrix that each row has."""
        labels = check_labels(y, n_rows, type(self).__name__)
        matrix = check_numbers(self.matrix, self.argument, (None, None), exactly=True)
        classes, codes = match_classes(labels, self.classes, matrix.shape[1], self.argument)
        if matrix.shape[0] != len(classes):
            raise ValueError(
                f"{self.argument} must have one row and one column per class, {len(classes)} x "
                f"{len(classes)}, got {matrix.shape[0]} x {matrix.shape[1]}."
            )
        return classes, matrix, codes

    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        classes, matrix, codes = self.lines(y, n_rows)
        return classes, matrix[codes], codes

    def on(self, y: Any, rows: Rows) -> LabelProblem:
        classes, matrix, codes = self.lines(y, rows.n_rows)
        own = rows.select(codes)
        return LabelProblem(classes, matrix, rows, own, own)

    def __repr__(self) -> str:
        return f"CostMatrix({self.matrix!r})"


class RowCosts(_LabelTask):
    """What each label costs each row.

    Parameters
    ----------
    costs : array-like of shape (n_rows, n_labels)
        Finite costs of any sign.
    labels : array-like of shape (n_labels,), optional
        What the columns stand for; by default 0 to ``n_labels - 1``. They may be numbers to be
        predicted, such as the candidates of a quantile.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.RowCosts([[0, 2.5], [1, 0], [3, 0.5]], labels=["wait", "act"])
    >>> solve(task, [[0], [1], [1]], max_depth=1).certificate.cost
    Fraction(1, 2)
    """

    name: ClassVar[str] = "cost"

    def __init__(self, costs: Any, labels: Any = None) -> None:
        self.costs = costs
        self.labels = labels

    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        costs = check_numbers(self.costs, "costs", (n_rows, None), exactly=True)
        return read_labels(self.labels, costs.shape[1], "costs"), costs, None

    def __repr__(self) -> str:
        return f"RowCosts(costs of shape {np.shape(self.costs)})"


class Rewards(_LabelTask):
    """What each treatment brings each row; the policy with the largest mean reward is sought.

    The cost of a tree is its regret: what it loses against the best treatment of every row.

    Parameters
    ----------
    rewards : array-like of shape (n_rows, n_treatments)
        Finite scores.
    treatments : array-like of shape (n_treatments,), optional
        What the columns stand for; by default 0 to ``n_treatments - 1``.
    maximise : bool, default=True
        Whether larger is better.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.Rewards([[1, 0], [0, 3], [2, 1]], treatments=["a", "b"])
    >>> solution = solve(task, [[0], [1], [1]], max_depth=1)
    >>> solution.tree.predict([[0], [1]]).tolist(), solution.certificate.cost
    (['a', 'b'], 1)
    """

    name: ClassVar[str] = "reward"

    def __init__(self, rewards: Any, treatments: Any = None, maximise: bool = True) -> None:
        self.rewards = rewards
        self.treatments = treatments
        self.maximise = maximise

    def table(self, y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.float64], Any]:
        rewards = check_numbers(self.rewards, "rewards", (n_rows, None), exactly=True)
        labels = read_labels(self.treatments, rewards.shape[1], "rewards", "treatments")
        return labels, -rewards if self.maximise else rewards, None

    def on(self, y: Any, rows: Rows) -> LabelProblem:
        labels, costs, _ = self.table(y, rows.n_rows)
        rewards = rows.select(-costs if self.maximise else costs)
        problem = RewardProblem(labels, rewards, summed(rows, self), self.maximise)
        if isinstance(self.rewards, CostSums):
            # Rows of a group differ in their best treatment, too.
            sums = self.rewards
            best = (-sums.greatest if self.maximise else sums.least) * sums.unit
            problem.constant, problem.best_total = problem.best_total - best, best
        return problem

    def __repr__(self) -> str:
        return f"Rewards(rewards of shape {np.shape(self.rewards)}, maximise={self.maximise})"
