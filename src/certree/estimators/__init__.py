"""Estimators with scikit-learn manners."""

from ._classifier import OptimalTreeClassifier
from ._cost_sensitive import CostSensitiveTreeClassifier
from ._measurements import Measurement
from ._optimality import OptimalityGap, optimality_gap
from ._path import regularization_path
from ._policy import PolicyTree, PolicyValue
from ._regressor import OptimalTreeRegressor

__all__ = [
    "CostSensitiveTreeClassifier",
    "Measurement",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "OptimalityGap",
    "PolicyTree",
    "PolicyValue",
    "optimality_gap",
    "regularization_path",
]
