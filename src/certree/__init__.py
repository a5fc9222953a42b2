"""Certified optimal decision trees: the best tree there is, and the proof."""

from . import datasets, metrics, oracles, tasks
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
    FairTreeClassifier,
    Measurement,
    OptimalityGap,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    PolicyTree,
    PolicyValue,
    SPOForest,
    SPOTree,
    optimality_gap,
    pareto_front,
    regularization_path,
)
from .exceptions import CertificateError, OptimalityWarning
from .fairness import FairnessCertificate, FairnessCurve
from .front import FrontCertificate, ParetoFront
from .path import PathEntry, RegularizationPath
from .summary import ClassificationSummary, classification_summary
from .tree import Tree
from .verify import VerificationReport, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "ClassificationSummary",
    "CostSensitiveTreeClassifier",
    "FairTreeClassifier",
    "FairnessCertificate",
    "FairnessCurve",
    "FrontCertificate",
    "Measurement",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "OptimalityGap",
    "OptimalityWarning",
    "ParetoFront",
    "PathEntry",
    "PolicyTree",
    "PolicyValue",
    "Progress",
    "RegularizationPath",
    "SPOForest",
    "SPOTree",
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
    "oracles",
    "pareto_front",
    "plot_roc",
    "regularization_path",
    "solve",
    "tasks",
    "verify",
]
