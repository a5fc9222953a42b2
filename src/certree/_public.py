"""All public names, which :mod:`certree` hands on when one of them is asked for."""

from certree import datasets, estimators, metrics, oracles, tasks

from ._version import __version__
from .encoding import Reduced, TableEncoder, reduce
from .engine._techniques import most_branches, techniques, without
from .estimators import *
from .estimators._solve import Solution, solve
from .estimators._solve_limited import FrontPoint, TaskFront, TaskFrontCertificate
from .estimators._solve_separable import SeparableCertificate, SeparablePoint, SeparableSolution
from .exceptions import CertificateError, InfeasibleError, OptimalityWarning, RareClassWarning
from .files import load
from .report import Report, report
from .results._certificate import Certificate
from .results._fairness import FairnessCertificate, FairnessCurve, FairnessReport
from .results._limit_certificate import LimitedCertificate, LimitValue, Reach
from .results._pareto import FrontCertificate, ParetoFront
from .results._path import PathEntry, RegularizationPath
from .results._progress import Progress
from .results._roc import plot_roc
from .results._summary import ClassificationSummary, CostReport, classification_summary
from .results._task_certificate import TaskCertificate
from .results._validation import ValidationCurve
from .tasks._check_task import TaskReport, check_task
from .tree import (
    Change,
    ColumnChange,
    Explanation,
    Explanations,
    PathStep,
    StepFunction,
    SurvivalCurve,
    Tree,
)
from .verify import VerificationReport, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "Change",
    "ClassificationSummary",
    "ColumnChange",
    "CostReport",
    "Explanation",
    "Explanations",
    "FairnessCertificate",
    "FairnessCurve",
    "FairnessReport",
    "FrontCertificate",
    "FrontPoint",
    "InfeasibleError",
    "LimitValue",
    "LimitedCertificate",
    "OptimalityWarning",
    "ParetoFront",
    "PathEntry",
    "PathStep",
    "Progress",
    "RareClassWarning",
    "Reach",
    "Reduced",
    "RegularizationPath",
    "Report",
    "SeparableCertificate",
    "SeparablePoint",
    "SeparableSolution",
    "Solution",
    "StepFunction",
    "SurvivalCurve",
    "TableEncoder",
    "TaskCertificate",
    "TaskFront",
    "TaskFrontCertificate",
    "TaskReport",
    "Tree",
    "ValidationCurve",
    "VerificationReport",
    "__version__",
    "check_task",
    "classification_summary",
    "datasets",
    "load",
    "metrics",
    "most_branches",
    "oracles",
    "plot_roc",
    "reduce",
    "report",
    "solve",
    "tasks",
    "techniques",
    "verify",
    "without",
]
__all__ += estimators.__all__
