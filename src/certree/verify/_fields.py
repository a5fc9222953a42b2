"""The fields of certificates: the type of each, and which are recomputed.

A field is either recomputed from the data, or informative: it tells how the search went, and the
proof does not use it. docs/guide/verification.md lists both, and a test compares. Types are those
that the classes of certificates declare.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from certree.exceptions import CertificateError

STATUSES = (
    "optimal",
    "gap",
    "time_limit",
    "memory_limit",
    "work_limit",
    "interrupted",
    "infeasible",
    "greedy",
    "precision",
)

CERTIFICATES = (
    "Certificate",
    "TaskCertificate",
    "LimitedCertificate",
    "LimitValue",
    "FairnessCertificate",
    "FrontCertificate",
    "TaskFrontCertificate",
    "SeparableCertificate",
    "PathEntry",
    "OptimalityGap",
)
"""The classes whose fields are checked."""

INFORMATIVE = frozenset(
    {
        "seconds",
        "counters",
        "version",
        "history",
        "n_solves",
        "n_rounds",
        "n_row_groups",
        "n_row_sets",
        "n_samples",
    }
)
"""The fields that tell how a search went."""

# Fields that are None if there is no tree, and the certificates that may have none.
_OF_TREE = ("objective", "cost", "lower_bound", "upper_bound", "gap", "leaf_cost")
_WITHOUT_TREE = ("LimitedCertificate", "FairnessCertificate")


def is_exact(value: Any) -> bool:
    """Return whether a value is an exact number."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def checked_fields(cls: type) -> list[str]:
    """Return the fields of a class that are recomputed or compared; none of an unknown class."""
    if cls.__name__ not in CERTIFICATES or not is_dataclass(cls):
        return []
    return [field.name for field in fields(cls) if field.name not in INFORMATIVE]


def wrong_types(certificate: Any) -> list[str]:
    """Return the fields that have a wrong type."""
    cls = type(certificate)
    hints = get_type_hints(cls)
    return [
        name
        for name in checked_fields(cls)
        if not _is_field(cls.__name__, name, getattr(certificate, name), hints[name])
    ]


def _is_field(kind: str, name: str, value: Any, hint: Any) -> bool:
    """Return whether a field has a value that it may have."""
    if value is None and name in _OF_TREE and kind in _WITHOUT_TREE:
        return True
    if not _is_a(value, hint):
        return False
    if name == "rounding":
        return all(number >= 0 for number in (value if isinstance(value, tuple) else (value,)))
    if name == "cuts" and value is not None:
        # Those of a metric weigh two errors and splits, others any number of totals.
        return all(len(cut) >= 2 if kind in _WITHOUT_TREE else len(cut) == 4 for cut in value)
    return True


def _is_a(value: Any, hint: Any) -> bool:
    """Return whether a value is of a type; integers alone are counts, and floats are finite."""
    parts = get_args(hint)
    if get_origin(hint) in (Union, UnionType):
        if {int, Fraction} <= set(parts) and is_exact(value):
            return True
        return any(_is_a(value, part) for part in parts)
    if get_origin(hint) is tuple:
        return isinstance(value, tuple) and _are(value, parts)
    if hasattr(hint, "_fields"):  # a named tuple
        types = get_type_hints(hint)
        return isinstance(value, tuple) and _are(value, [types[name] for name in hint._fields])
    if hint in (str, bool, NoneType):
        return isinstance(value, hint)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if hint is float:
        return isinstance(value, float) and isfinite(value)
    if getattr(hint, "__name__", None) == "LimitValue":
        return type(value).__name__ == "LimitValue" and not wrong_types(value)
    # Trees, models and the certificates of a gap are read where they are checked.
    return hint is not Fraction


def _are(values: tuple[Any, ...], hints: Any) -> bool:
    """Return whether values are of the types of a tuple."""
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(_is_a(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(_is_a, values, hints))


def check_types(certificate: Any) -> None:
    """Raise if a field of a certificate is of the wrong type.

    Raises
    ------
    CertificateError
        With the fields at fault.
    ValueError
        If this package does not know the type of the certificate.
    """
    name = type(certificate).__name__
    if name not in CERTIFICATES:
        raise ValueError(f"verify knows no certificate of type {name}.")
    wrong = wrong_types(certificate)
    if wrong:
        what = ", ".join(f"{field} = {getattr(certificate, field, None)!r:.60}" for field in wrong)
        raise CertificateError(f"the certificate states impossible values: {what}.")
    status = getattr(certificate, "status", "optimal")
    if status not in STATUSES:
        raise CertificateError(
            "the certificate does not hold for this model and data:\n"
            f"  - status {status!r} is unknown"
        )
