"""The exceptions and warnings that are certree's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .results._fairness import FairnessCertificate
    from .results._limit_certificate import NoTreeCertificate

__all__ = ["CertificateError", "InfeasibleError", "OptimalityWarning"]


class CertificateError(ValueError):
    """A certificate and what was recomputed from the data disagree.

    Raised by :func:`certree.verify`; the message names every quantity that differs, with the
    certified and the recomputed value.

    .. versionadded:: 0.1
    """


class InfeasibleError(ValueError):
    """There is no tree to predict with: none keeps to the limits, or none was found in time.

    Attributes
    ----------
    certificate : NoTreeCertificate or FairnessCertificate
        What is proven, and how near trees come to the limits.

    .. versionadded:: 0.1
    """

    def __init__(self, certificate: NoTreeCertificate | FairnessCertificate) -> None:
        super().__init__(certificate.statement())
        self.certificate = certificate

    def __reduce__(self) -> tuple[type[InfeasibleError], tuple[Any]]:
        return InfeasibleError, (self.certificate,)


class OptimalityWarning(UserWarning):
    """The search stopped at a limit before the tree was proven optimal.

    The tree is the best one found, and the certificate says how far it can be from the best there
    is. Raise the limit that was hit, or make the problem smaller, to have the proof.

    .. versionadded:: 0.1
    """
