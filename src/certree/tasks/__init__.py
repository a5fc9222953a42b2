"""Tasks: objectives to minimise, the laws they keep, and ready-made leaf costs.

The ready-made ones are in :mod:`certree.leaves`, and load when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._leaf_cost import LeafCost
from ._limit import LeafMinimum, Limit
from ._limited import Front, Limited
from ._separable import Separable
from ._task import Laws, LeafCosts, Task

if TYPE_CHECKING:
    from certree.leaves.costs.loss import CostMatrix, Rewards, RowCosts
    from certree.leaves.labels.errors import Misclassification
    from certree.leaves.labels.impurities import entropy, gini
    from certree.leaves.numbers.deviances import (
        exponential_survival,
        gamma_deviance,
        poisson_deviance,
    )
    from certree.leaves.numbers.quantiles import AbsoluteError, QuantileLoss, pinball
    from certree.leaves.numbers.squares import SquaredError
    from certree.leaves.ordinal.loss import OrdinalError
    from certree.leaves.survival.loss import SurvivalLoss

__all__ = [
    "AbsoluteError",
    "CostMatrix",
    "Front",
    "Laws",
    "LeafCost",
    "LeafCosts",
    "LeafMinimum",
    "Limit",
    "Limited",
    "Misclassification",
    "OrdinalError",
    "QuantileLoss",
    "Rewards",
    "RowCosts",
    "Separable",
    "SquaredError",
    "SurvivalLoss",
    "Task",
    "entropy",
    "exponential_survival",
    "gamma_deviance",
    "gini",
    "pinball",
    "poisson_deviance",
]

_LEAVES = {
    "AbsoluteError": "numbers.quantiles",
    "CostMatrix": "costs.loss",
    "Misclassification": "labels.errors",
    "OrdinalError": "ordinal.loss",
    "QuantileLoss": "numbers.quantiles",
    "Rewards": "costs.loss",
    "RowCosts": "costs.loss",
    "SquaredError": "numbers.squares",
    "SurvivalLoss": "survival.loss",
    "entropy": "labels.impurities",
    "exponential_survival": "numbers.deviances",
    "gamma_deviance": "numbers.deviances",
    "gini": "labels.impurities",
    "pinball": "numbers.quantiles",
    "poisson_deviance": "numbers.deviances",
}
"""Where the ready-made leaf costs are."""


def __getattr__(name: str) -> Any:
    if name not in _LEAVES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"certree.leaves.{_LEAVES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
