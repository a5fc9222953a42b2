"""Estimators that follow the conventions of scikit-learn. Each loads when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from certree.decisions._policy import PolicyTree
    from certree.decisions._policy_value import PolicyValue
    from certree.decisions._spo_forest import SPOForest
    from certree.decisions._spo_tree import SPOTree
    from certree.fitting.measurements import Measurement
    from certree.leaves.clusters.estimator import OptimalTreeClusterer
    from certree.leaves.costs.estimator import CostSensitiveTreeClassifier
    from certree.leaves.linear.estimator import LinearTreeRegressor
    from certree.leaves.numbers.estimator import OptimalTreeRegressor
    from certree.leaves.ordinal.estimator import OrdinalTreeClassifier
    from certree.leaves.survival.estimator import SurvivalTree

    from ._classifier import OptimalTreeClassifier
    from ._fair import FairTreeClassifier
    from ._optimality import OptimalityGap, optimality_gap
    from ._pareto_front import pareto_front
    from ._regularization import regularization_path
    from ._tree_cv import OptimalTreeClassifierCV, OptimalTreeRegressorCV, TreeCV

__all__ = [
    "CostSensitiveTreeClassifier",
    "FairTreeClassifier",
    "LinearTreeRegressor",
    "Measurement",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeClusterer",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
    "OptimalityGap",
    "OrdinalTreeClassifier",
    "PolicyTree",
    "PolicyValue",
    "SPOForest",
    "SPOTree",
    "SurvivalTree",
    "TreeCV",
    "optimality_gap",
    "pareto_front",
    "regularization_path",
]

_MODULES = {
    "CostSensitiveTreeClassifier": "certree.leaves.costs.estimator",
    "FairTreeClassifier": "._fair",
    "LinearTreeRegressor": "certree.leaves.linear.estimator",
    "Measurement": "certree.fitting.measurements",
    "OptimalTreeClassifier": "._classifier",
    "OptimalTreeClassifierCV": "._tree_cv",
    "OptimalTreeClusterer": "certree.leaves.clusters.estimator",
    "OptimalTreeRegressor": "certree.leaves.numbers.estimator",
    "OptimalTreeRegressorCV": "._tree_cv",
    "OptimalityGap": "._optimality",
    "OrdinalTreeClassifier": "certree.leaves.ordinal.estimator",
    "PolicyTree": "certree.decisions._policy",
    "PolicyValue": "certree.decisions._policy_value",
    "SPOForest": "certree.decisions._spo_forest",
    "SPOTree": "certree.decisions._spo_tree",
    "SurvivalTree": "certree.leaves.survival.estimator",
    "TreeCV": "._tree_cv",
    "optimality_gap": "._optimality",
    "pareto_front": "._pareto_front",
    "regularization_path": "._regularization",
}
"""Where each name is."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_MODULES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
