"""Certified optimal decision trees: the best tree there is, and the proof."""

from . import datasets, metrics, tasks
from ._check_task import TaskReport, check_task
from ._plots import plot_roc
from ._progress import Progress
from ._solve import Solution, solve
from ._task_certificate import TaskCertificate
from ._version import __version__
from .certificate import Certificate
from .encoding import TableEncoder
from .estimators import (
    CostSensitiveTreeClassifier,
    Measurement,
    OptimalityGap,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    PolicyValue,
    optimality_gap,
    regularization_path,
)
from .exceptions import CertificateError, OptimalityWarning
from .path import PathEntry, RegularizationPath
from .summary import ClassificationSummary, classification_summary
from .tree import Tree
from .verify import VerificationReport, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "ClassificationSummary",
    "CostSensitiveTreeClassifier",
    "Measurement",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "OptimalityGap",
    "OptimalityWarning",
    "PathEntry",
    "PolicyTree",
    "PolicyValue",
    "Progress",
    "RegularizationPath",
    "Solution",
    "TableEncoder",
    "TaskCertificate",
    "TaskReport",
    "Tree",
    "VerificationReport",
    "__version__",
    "check_task",
    "classification_summary",
    "datasets",
    "metrics",
    "optimality_gap",
    "plot_roc",
    "regularization_path",
    "solve",
    "tasks",
    "verify",
]
