"""Estimators that follow the conventions of scikit-learn."""

from ._classifier import OptimalTreeClassifier
from ._clusterer import OptimalTreeClusterer
from ._cost_sensitive import CostSensitiveTreeClassifier
from ._fair import FairTreeClassifier
from ._linear_tree import LinearTreeRegressor
from ._measurements import Measurement
from ._optimality import OptimalityGap, optimality_gap
from ._ordinal import OrdinalTreeClassifier
from ._pareto_front import pareto_front
from ._policy import PolicyTree
from ._policy_value import PolicyValue
from ._regressor import OptimalTreeRegressor
from ._regularization import regularization_path
from ._spo_forest import SPOForest
from ._spo_tree import SPOTree
from ._survival_tree import SurvivalTree
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
