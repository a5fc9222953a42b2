"""Certified optimal decision trees: the best tree there is, and the proof."""

from . import datasets, metrics, oracles, tasks
from ._check_task import TaskReport, check_task
from ._limit_certificate import LimitedCertificate, LimitValue, NoTreeCertificate, Reach
from ._plots import plot_roc
from ._progress import Progress
from ._solve import Solution, solve
from ._solve_limited import FrontPoint, LimitedSolution, TaskFront, TaskFrontCertificate
from ._solve_separable import SeparableCertificate, SeparablePoint, SeparableSolution
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
from .exceptions import CertificateError, InfeasibleError, OptimalityWarning
from .fairness import FairnessCertificate, FairnessCurve, FairnessReport
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
    "FairnessReport",
    "FrontCertificate",
    "FrontPoint",
    "InfeasibleError",
    "LimitValue",
    "LimitedCertificate",
    "LimitedSolution",
    "Measurement",
    "NoTreeCertificate",
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
    "Reach",
    "RegularizationPath",
    "SPOForest",
    "SPOTree",
    "SeparableCertificate",
    "SeparablePoint",
    "SeparableSolution",
    "Solution",
    "TableEncoder",
    "TaskCertificate",
    "TaskFront",
    "TaskFrontCertificate",
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
