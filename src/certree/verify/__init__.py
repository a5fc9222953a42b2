"""Check certificates against the data, by code that shares nothing with the search.

Nothing in this package imports the engine, the searches, the encoder, the estimators or the tasks:
numbers, tables, tests, candidates, leaf costs and metrics are read and computed here once more, by
their definitions. Of a model it reads only plain attributes. The registry in `_verify` names the
checker of each certificate.
"""

from __future__ import annotations

from ._verify import VerificationReport, verify

__all__ = ["VerificationReport", "verify"]
