"""Estimators with scikit-learn manners."""

from ._classifier import OptimalTreeClassifier
from ._optimality import OptimalityGap, optimality_gap
from ._path import regularization_path

__all__ = ["OptimalTreeClassifier", "OptimalityGap", "optimality_gap", "regularization_path"]
