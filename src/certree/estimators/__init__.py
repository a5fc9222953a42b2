"""Estimators with scikit-learn manners."""

from ._classifier import OptimalTreeClassifier

__all__ = ["OptimalTreeClassifier"]
