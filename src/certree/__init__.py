"""Certified optimal decision trees: the best tree there is, and the proof."""

from . import datasets, metrics
from ._progress import Progress
from ._version import __version__
from .certificate import Certificate
from .encoding import TableEncoder
from .estimators import (
    OptimalityGap,
    OptimalTreeClassifier,
    optimality_gap,
    regularization_path,
)
from .exceptions import CertificateError, OptimalityWarning
from .path import PathEntry, RegularizationPath
from .tree import Tree
from .verify import VerificationReport, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "OptimalTreeClassifier",
    "OptimalityGap",
    "OptimalityWarning",
    "PathEntry",
    "Progress",
    "RegularizationPath",
    "TableEncoder",
    "Tree",
    "VerificationReport",
    "__version__",
    "datasets",
    "metrics",
    "optimality_gap",
    "regularization_path",
    "verify",
]
