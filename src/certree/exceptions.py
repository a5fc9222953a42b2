"""The exceptions and warnings that are certree's own."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

__all__ = [
    "CertificateError",
    "InfeasibleError",
    "InternalError",
    "OptimalityWarning",
    "RareClassWarning",
]

_LIBRARIES = ("certree", "sklearn", "joblib")


class CertificateError(ValueError):
    """A certificate and what was recomputed from the data disagree.

    Raised by :func:`certree.verify`; the message names every quantity that differs, with the
    certified and the recomputed value.

    .. versionadded:: 0.1
    """


class InfeasibleError(ValueError):
    """The model has no tree: no tree keeps the limits, or none was found in time.

    Attributes
    ----------
    certificate : LimitedCertificate or FairnessCertificate
        What is proven, and how near trees come to the limits.

    .. versionadded:: 0.1
    """

    def __init__(self, certificate: Any) -> None:
        super().__init__(certificate.statement())
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[InfeasibleError], tuple[Any]]:
        return InfeasibleError, (self.certificate,)


class InternalError(RuntimeError):
    """A proof contradicts itself, so that no answer can be trusted and none is returned.

    A lower bound is above the value of a tree, a tree costs other than the search says, or the
    like. This is a bug in certree: please report it, with the data and the parameters if you can
    share them.

    .. versionadded:: 0.1
    """


class OptimalityWarning(UserWarning):
    """The search stopped at a limit before the tree was proven optimal.

    The tree is the best one found, and the certificate says how far it can be from the optimum. To
    get a proof, raise the limit that was reached, or make the problem smaller.

    .. versionadded:: 0.1
    """


class RareClassWarning(UserWarning):
    """A tree with the best accuracy gets most rows of a rare class wrong.

    Accuracy counts all rows alike, so a class with less than 5 % of them counts little. For such
    classes use another objective: ``"auc"`` ranks rows by their risk, ``"balanced_accuracy"``
    counts all classes alike. Who wants the accuracy ignores the warning:
    ``warnings.simplefilter("ignore", certree.RareClassWarning)``.

    .. versionadded:: 0.1
    """


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that made the call, however deep the cause is."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_library(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LIBRARIES
