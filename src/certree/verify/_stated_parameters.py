"""The parameters of a model: which values a fit can have had.

Checkers read what was asked from the parameters. So these are looked at first, by rules of their
own: a file may have been changed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

Check = Callable[[Any], bool]

_TEXT_OF_NUMBER = re.compile(r"[-+]?[0-9_]*[./]?[0-9_]+([eE][-+]?[0-9]+)?")


def _is_whole(value: Any, least: int = 0) -> bool:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_whole and bool(value >= least)


def _is_size(value: Any) -> bool:
    return value is None or _is_whole(value)


def _is_positive(value: Any) -> bool:
    return _is_whole(value, 1)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        # Its size is for those to judge who read it: some exponents take minutes to write out.
        return _TEXT_OF_NUMBER.fullmatch(value.strip()) is not None
    # Decimals are no real numbers for Python, and can be compared with them.
    is_real = isinstance(value, Real) or type(value).__name__ == "Decimal"
    return is_real and not isinstance(value, bool | np.bool_)


def _are_numbers(value: Any) -> bool:
    """Return whether a value is a number, or numbers in lists, arrays and mappings."""
    if isinstance(value, Mapping):
        return all(map(_are_numbers, value.values()))
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return all(map(_are_numbers, value))
    return _is_number(value)


def _is_table(value: Any) -> bool:
    return _is_number(value) is False and hasattr(value, "__len__")


def _one_of(*texts: str) -> Check:
    return lambda value: isinstance(value, str) and value in texts


def _are_thresholds(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("auto", "all")
    return isinstance(value, Mapping) or _is_whole(value)


def _are_columns(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("auto", "all")
    return not isinstance(value, Mapping) and hasattr(value, "__len__")


def _are_class_weights(value: Any) -> bool:
    if isinstance(value, str):
        return value == "balanced"
    return value is None or isinstance(value, Mapping | list)


_CHECKS: Mapping[str, Check] = {
    "max_depth": _is_size,
    "max_splits": _is_size,
    "max_leaf_nodes": _is_size,
    "complexity": _is_number,
    "complexity_per": _one_of("split", "leaf"),
    "min_samples_leaf": _is_number,
    "gap": _is_number,
    "tolerance": _are_numbers,
    "thresholds": _are_thresholds,
    "categorical_features": _are_columns,
    "min_category_rows": _is_positive,
    "category_tests": _one_of("one", "subsets", "drop-first", "drop-last"),
    "identifiers": _one_of("drop", "keep"),
    "splits": _one_of("binary", "multiway", "both"),
    "class_weight": _are_class_weights,
    "capacity": lambda value: value is None or isinstance(value, Mapping),
    "test_costs": lambda value: value is None or _is_table(value),
}
"""What the parameters that checkers read must be, by name."""


def check_parameters(model: Any) -> None:
    """Raise if a parameter has a value that no fit accepts.

    Raises
    ------
    CertificateError
        With the parameters at fault.
    """
    stated = vars(model)
    # What a file could not hold has a placeholder, which the checker that needs it names.
    wrong = [
        f"{name} = {stated[name]!r:.60}"
        for name, check in _CHECKS.items()
        if name in stated and type(stated[name]).__name__ != "Omitted" and not check(stated[name])
    ]
    if wrong:
        raise CertificateError(f"no fit accepts these parameters: {', '.join(wrong)}.")
