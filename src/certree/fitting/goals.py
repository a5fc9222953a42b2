"""What is to be optimised, with its parameters and the target of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from certree.tasks._limit import LeafMinimum, Limit

from .tree_limits import capacity_limits, split_limits

if TYPE_CHECKING:
    from .state_task import TaskStatement


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What all goals have.

    Attributes
    ----------
    y : object
        The target of the rows, as users pass it or read by the estimator.
    n_outputs : int
        Number of columns of y.
    """

    y: Any
    n_outputs: int = 1


@dataclass(frozen=True, kw_only=True)
class ClassGoal(Goal):
    """Classes, by weighted errors or by a metric of two kinds of errors.

    Attributes
    ----------
    objective, pos_label, class_weight, capacity, limits
        As for `OptimalTreeClassifier`.
    """

    objective: Any
    pos_label: Any
    class_weight: Any
    capacity: Any = None
    limits: Any = None

    def limits_on(
        self, classes: list[Any], n_rows: int, sample_weight: Any
    ) -> tuple[list[Limit], LeafMinimum | None]:
        """Return the limits on the whole tree, and what leaves need."""
        limits, minimum = split_limits(self.limits)
        held = capacity_limits(self.capacity, classes, n_rows, sample_weight, "class")
        return [*held, *limits], minimum


@dataclass(frozen=True, kw_only=True)
class GroupGoal(ClassGoal):
    """Classes, with rates of groups that may differ by a tolerance only.

    Attributes
    ----------
    constraint, tolerance, use_sensitive, sensitive_columns, sensitive_features, cost_matrix
        As for `FairTreeClassifier`, whose `fit` gets the groups.
    """

    constraint: Any
    tolerance: Any
    use_sensitive: bool
    sensitive_columns: Any
    sensitive_features: Any
    cost_matrix: Any


@dataclass(frozen=True, kw_only=True)
class TaskGoal(Goal):
    """A task: leaves cost a function of sums over their rows.

    Attributes
    ----------
    task : Task, Limited, Front or Separable
        What is minimised, within which limits.
    name : str
        What certificates call it, if not by the name of the task.
    kind : type or None
        The statement to make of it; None: `TaskStatement`.
    classes : array or None
        The classes of the rows, if the task counts errors.
    test_costs : object
        Prices of tests.
    more_rows : int
        How many rows a leaf needs beyond `min_samples_leaf`.
    is_searched : bool
        Whether the core searches; otherwise other code goes through the rows.
    weights_are_rows : bool
        Whether a row of weight two is two rows where leaves have a least size.
    allows_no_tree : bool
        Whether that no tree keeps the limits is an answer like any other, without a warning.
    parameters : mapping
        What users set beside the task, for fronts, which hold it.
    """

    task: Any
    name: str = ""
    kind: type[TaskStatement] | None = None
    classes: NDArray[Any] | None = None
    test_costs: Any = None
    more_rows: int = 0
    is_searched: bool = True
    weights_are_rows: bool = False
    allows_no_tree: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)


def sensitive_name(goal: GroupGoal) -> str:
    """Return what to call the groups in messages."""
    if goal.sensitive_features is not None:
        return "sensitive_features"
    return f"sensitive_columns={goal.sensitive_columns!r}"
