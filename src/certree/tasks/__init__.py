"""Tasks: objectives to minimise, the laws they keep, and ready-made leaf costs."""

from __future__ import annotations

from ._examples import entropy, exponential_survival, gini, pinball, poisson_deviance
from ._label_costs import CostMatrix, Misclassification, Rewards, RowCosts
from ._leaf_cost import LeafCost
from ._limit import LeafMinimum, Limit
from ._limited import Front, Limited
from ._separable import Separable
from ._squares import SquaredError
from ._task import Laws, LeafCosts, Task

__all__ = [
    "CostMatrix",
    "Front",
    "Laws",
    "LeafCost",
    "LeafCosts",
    "LeafMinimum",
    "Limit",
    "Limited",
    "Misclassification",
    "Rewards",
    "RowCosts",
    "Separable",
    "SquaredError",
    "Task",
    "entropy",
    "exponential_survival",
    "gini",
    "pinball",
    "poisson_deviance",
]
