"""Certified optimal decision trees: the best tree there is, and the proof."""

from . import datasets
from ._progress import Progress
from ._version import __version__
from .certificate import Certificate
from .encoding import TableEncoder
from .estimators import OptimalTreeClassifier
from .exceptions import CertificateError, OptimalityWarning
from .tree import Tree
from .verify import VerificationReport, verify

__all__ = [
    "Certificate",
    "CertificateError",
    "OptimalTreeClassifier",
    "OptimalityWarning",
    "Progress",
    "TableEncoder",
    "Tree",
    "VerificationReport",
    "__version__",
    "datasets",
    "verify",
]
