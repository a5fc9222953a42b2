"""All public names, which :mod:`certree` hands on. Each loads when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import estimators
from ._version import __version__

if TYPE_CHECKING:
    from certree import datasets, metrics, oracles, tasks

    from .encoding import Reduced, TableEncoder
    from .encoding._reduce import reduce
    from .engine._techniques import most_branches, techniques, without
    from .estimators import *
    from .estimators._solve import Solution, solve
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
    from .results._separable_solution import SeparableCertificate, SeparablePoint, SeparableSolution
    from .results._summary import ClassificationSummary, CostReport, classification_summary
    from .results._task_certificate import TaskCertificate
    from .results._task_front import FrontPoint, TaskFront, TaskFrontCertificate
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

_MODULES = {
    "Certificate": "results._certificate",
    "CertificateError": "exceptions",
    "Change": "tree",
    "ClassificationSummary": "results._summary",
    "ColumnChange": "tree",
    "CostReport": "results._summary",
    "Explanation": "tree",
    "Explanations": "tree",
    "FairnessCertificate": "results._fairness",
    "FairnessCurve": "results._fairness",
    "FairnessReport": "results._fairness",
    "FrontCertificate": "results._pareto",
    "FrontPoint": "results._task_front",
    "InfeasibleError": "exceptions",
    "LimitValue": "results._limit_certificate",
    "LimitedCertificate": "results._limit_certificate",
    "OptimalityWarning": "exceptions",
    "ParetoFront": "results._pareto",
    "PathEntry": "results._path",
    "PathStep": "tree",
    "Progress": "results._progress",
    "RareClassWarning": "exceptions",
    "Reach": "results._limit_certificate",
    "Reduced": "encoding",
    "RegularizationPath": "results._path",
    "Report": "report",
    "SeparableCertificate": "results._separable_solution",
    "SeparablePoint": "results._separable_solution",
    "SeparableSolution": "results._separable_solution",
    "Solution": "estimators._solve",
    "StepFunction": "tree",
    "SurvivalCurve": "tree",
    "TableEncoder": "encoding",
    "TaskCertificate": "results._task_certificate",
    "TaskFront": "results._task_front",
    "TaskFrontCertificate": "results._task_front",
    "TaskReport": "tasks._check_task",
    "Tree": "tree",
    "ValidationCurve": "results._validation",
    "VerificationReport": "verify",
    "check_task": "tasks._check_task",
    "classification_summary": "results._summary",
    "load": "files",
    "most_branches": "engine._techniques",
    "plot_roc": "results._roc",
    "reduce": "encoding._reduce",
    "report": "report",
    "solve": "estimators._solve",
    "techniques": "engine._techniques",
    "verify": "verify",
    "without": "engine._techniques",
}
"""Where each name is, but for estimators and modules."""


def __getattr__(name: str) -> Any:
    if name in estimators.__all__:
        return getattr(estimators, name)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__package__}.{_MODULES[name]}"), name)
