"""Tasks: objectives to minimise, the laws they keep, and ready-made leaf costs."""

from __future__ import annotations

from . import _examples, _label_costs
from ._examples import *
from ._label_costs import *
from ._leaf_cost import LeafCost
from ._limit import LeafMinimum, Limit
from ._limited import Front, Limited
from ._misclassification import Misclassification
from ._separable import Separable
from ._squares import SquaredError
from ._survival_loss import SurvivalLoss
from ._task import Laws, LeafCosts, Task

__all__ = [
    "Front",
    "Laws",
    "LeafCost",
    "LeafCosts",
    "LeafMinimum",
    "Limit",
    "Limited",
    "Misclassification",
    "Separable",
    "SquaredError",
    "SurvivalLoss",
    "Task",
]
__all__ += _examples.__all__
__all__ += _label_costs.__all__
