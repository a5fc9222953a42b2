"""The fields of certificates: the type of each, and which are recomputed.

A field is either recomputed from the data, or informative: it tells how the search went, and the
proof does not use it. docs/guide/verification.md lists both, and a test compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

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

Check = Callable[[Any], bool]


def is_exact(value: Any) -> bool:
    """Return whether a value is an exact number."""
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _is_amount(value: Any) -> bool:
    return is_exact(value) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_float(value: Any) -> bool:
    return isinstance(value, float) and isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_anything(value: Any) -> bool:
    return True


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _each(check: Check, size: int | None = None) -> Check:
    def is_tuple(value: Any) -> bool:
        fits = isinstance(value, tuple) and (size is None or len(value) == size)
        return fits and all(map(check, value))

    return is_tuple


def _tuple(*checks: Check) -> Check:
    def is_tuple(value: Any) -> bool:
        return (
            isinstance(value, tuple)
            and len(value) == len(checks)
            and all(check(part) for check, part in zip(checks, value, strict=True))
        )

    return is_tuple


def _one_or_each(check: Check) -> Check:
    several = _each(check)
    return lambda value: check(value) or several(value)


def _is_limit(value: Any) -> bool:
    return type(value).__name__ == "LimitValue" and not wrong_types(value)


def _is_cut(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) >= 2 and all(map(is_exact, value))


_is_reach = _or_none(_tuple(is_exact, _or_none(is_exact)))
_is_vector = _each(is_exact)
_is_point = _tuple(is_exact, is_exact, _is_count)

_SEARCHED: dict[str, Check] = {
    "status": _is_text,
    "max_depth": _or_none(_is_count),
    "max_splits": _or_none(_is_count),
    "complexity": is_exact,
    "complexity_per": _is_text,
    "split_penalty": is_exact,
    "min_samples_leaf": _is_count,
    "n_rows": _is_count,
    "n_tests": _is_count,
    "n_tests_searched": _or_none(_is_count),
}

_CERTIFICATE: dict[str, Check] = {
    **_SEARCHED,
    "objective": _is_float,
    "cost": is_exact,
    "lower_bound": is_exact,
    "upper_bound": is_exact,
    "gap": is_exact,
    "leaf_cost": is_exact,
    "n_splits": _is_count,
    "depth": _is_count,
    "task": _is_text,
    "total_weight": is_exact,
    "weight_quantum": _or_none(is_exact),
    "class_weights": _or_none(_each(is_exact)),
    "search": _is_text,
    "fp": _or_none(is_exact),
    "fn": _or_none(is_exact),
    "positives": _or_none(is_exact),
    "negatives": _or_none(is_exact),
    "pos_label": _is_anything,
    "cuts": _or_none(_each(_each(is_exact, 4))),
    "rounding": _is_amount,
    "identifiers": _each(_is_text),
}

_TASK: dict[str, Check] = {
    **_CERTIFICATE,
    "unit": is_exact,
    "test_cost": is_exact,
}

_WITHOUT_TREE: dict[str, Check] = {
    name: _or_none(_CERTIFICATE[name])
    for name in ("objective", "cost", "lower_bound", "upper_bound", "gap", "leaf_cost")
}
"""Fields that are None if there is no tree, where that can be."""

CHECKED: Mapping[str, Mapping[str, Check]] = {
    "Certificate": _CERTIFICATE,
    "TaskCertificate": _TASK,
    "LimitedCertificate": {
        **_TASK,
        **_WITHOUT_TREE,
        "limits": _each(_is_limit),
        "proof": _is_text,
        "cuts": _each(_is_cut),
        "dual_bound": _or_none(is_exact),
        "leaf_minimum": _each(_tuple(_is_text, _is_count)),
    },
    "LimitValue": {
        "name": _is_text,
        "value": _or_none(is_exact),
        "at_most": _or_none(is_exact),
        "at_least": _or_none(is_exact),
        "rounding": _is_amount,
        "unit": is_exact,
        "least": _is_reach,
        "greatest": _is_reach,
    },
    "FairnessCertificate": {
        **_CERTIFICATE,
        **_WITHOUT_TREE,
        "constraint": _or_none(_one_or_each(_is_text)),
        "tolerance": _one_or_each(is_exact),
        "groups": _each(_is_anything),
        "rates": _each(_tuple(_is_text, _each(is_exact))),
        "disparity": _or_none(is_exact),
        "differences": _each(_tuple(_is_text, _is_anything, _is_anything, _or_none(is_exact))),
        "unconstrained_cost": _or_none(is_exact),
        "least_disparity": _or_none(is_exact),
        "left_out": _each(_is_text),
        "use_sensitive": _is_truth,
        "cuts": _each(_is_cut),
    },
    "FrontCertificate": {
        "status": _is_text,
        "points": _each(_is_point),
        "lower_points": _each(_is_point),
        "positives": is_exact,
        "negatives": is_exact,
        "pos_label": _is_anything,
        "supported_only": _is_truth,
        "per_splits": _is_truth,
    },
    "TaskFrontCertificate": {
        **_SEARCHED,
        "points": _each(_is_vector),
        "lower_points": _each(_is_vector),
        "tasks": _each(_is_text),
        "limits": _each(_is_limit),
        "leaf_minimum": _each(_tuple(_is_text, _is_count)),
        "rounding": _each(_is_amount),
    },
    "SeparableCertificate": {
        "status": _is_text,
        "values": _each(_is_anything),
        "depth": _is_count,
        "max_depth": _or_none(_is_count),
        "max_splits": _or_none(_is_count),
        "min_samples_leaf": _is_count,
        "n_rows": _is_count,
        "n_tests": _is_count,
    },
    "PathEntry": {
        "splits": _is_count,
        "errors": is_exact,
        "lower_bound": is_exact,
        "accuracy": _is_float,
        "tree": _is_anything,
    },
    "OptimalityGap": {
        "cost": is_exact,
        "lower_bound": is_exact,
        "upper_bound": is_exact,
        "gap": is_exact,
        "improvement": is_exact,
        "total_weight": is_exact,
        "tree": _is_anything,
        "best_tree": _is_anything,
        "certificate": _is_anything,
        "keeps_limits": _is_truth,
        "model": _is_anything,
    },
}
"""For each class the fields that are recomputed or compared, and what they must be."""

_HOW = {"seconds", "counters", "version", "n_solves"}

INFORMATIVE: Mapping[str, set[str]] = {
    "Certificate": {*_HOW, "history", "n_row_groups"},
    "TaskCertificate": {*_HOW, "history", "n_row_groups"},
    "LimitedCertificate": {*_HOW, "history", "n_row_groups", "n_rounds"},
    "LimitValue": set(),
    "FairnessCertificate": {*_HOW, "history", "n_row_groups"},
    "FrontCertificate": {"seconds", "counters", "n_solves"},
    "TaskFrontCertificate": _HOW,
    "SeparableCertificate": {"seconds", "n_row_sets", "n_samples"},
    "PathEntry": set(),
    "OptimalityGap": set(),
}
"""For each class the fields that tell how a search went."""


def wrong_types(certificate: Any) -> list[str]:
    """Return the fields that have a wrong type."""
    checks = CHECKED[type(certificate).__name__]
    return [name for name, check in checks.items() if not check(getattr(certificate, name, _NONE))]


_NONE = object()


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
    if name not in CHECKED:
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
