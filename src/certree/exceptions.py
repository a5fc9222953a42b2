"""The exceptions and warnings that are certree's own."""

from __future__ import annotations

__all__ = ["CertificateError", "OptimalityWarning"]


class CertificateError(ValueError):
    """A certificate and what was recomputed from the data disagree.

    Raised by :func:`certree.verify`; the message names every quantity that differs, with the
    certified and the recomputed value.

    .. versionadded:: 0.1
    """


class OptimalityWarning(UserWarning):
    """The search stopped at a limit before the tree was proven optimal.

    The tree is the best one found, and the certificate says how far it can be from the best there
    is. Raise the limit that was hit, or make the problem smaller, to have the proof.

    .. versionadded:: 0.1
    """
