"""Certified optimal decision trees: the best tree there is, and the proof."""

from certree import datasets, metrics, oracles, tasks

from ._version import __version__
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
from .estimators._solve import Solution, solve
from .estimators._solve_limited import FrontPoint, LimitedSolution, TaskFront, TaskFrontCertificate
from .estimators._solve_separable import SeparableCertificate, SeparablePoint, SeparableSolution
from .exceptions import CertificateError, InfeasibleError, OptimalityWarning
from .results._certificate import Certificate
from .results._fairness import FairnessCertificate, FairnessCurve, FairnessReport
from .results._limit_certificate import LimitedCertificate, LimitValue, NoTreeCertificate, Reach
from .results._pareto import FrontCertificate, ParetoFront
from .results._path import PathEntry, RegularizationPath
from .results._plots import plot_roc
from .results._progress import Progress
from .results._summary import ClassificationSummary, classification_summary
from .results._task_certificate import TaskCertificate
from .tasks._check_task import TaskReport, check_task
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
