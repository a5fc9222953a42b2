"""What each of several outputs counts."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.numbers._exact import read_fraction

# Weights that are farther apart than this leave nothing of the smaller one.
_MOST_RATIO = 10**100

# Squares of larger differences, times their number, may be beyond float64.
_MOST_SPREAD = 1e140


def read_output_weights(given: Any, n_outputs: int) -> list[Fraction]:
    """Return the weight of each output; None counts all of them once.

    Raises
    ------
    ValueError
        If there is not one positive number for each output.
    """
    if given is None:
        return [Fraction(1)] * n_outputs
    if isinstance(given, str):
        raise ValueError(
            f"output_weights must be one positive number for each output, or None, got {given!r}."
        )
    listed = np.asarray(given, dtype=object).ravel().tolist()
    if len(listed) != n_outputs:
        raise ValueError(
            f"output_weights must have one number for each of the {n_outputs} columns of y, got "
            f"{len(listed)}."
        )
    weights = [read_fraction(weight, "output_weights") for weight in listed]
    if min(weights) <= 0:
        raise ValueError(
            f"output_weights must be more than 0, got {given!r}; leave out columns of y that are "
            "not to count."
        )
    if max(weights) > _MOST_RATIO * min(weights):
        raise ValueError(f"output_weights must not differ by a factor above 1e100, got {given!r}.")
    return weights


def refuse_for_one(given: Any) -> None:
    """Raise ValueError if there are weights of outputs, but only one output."""
    if given is not None:
        raise ValueError(
            f"output_weights={given!r} needs several outputs, but y has one column; leave it at "
            "None."
        )


def is_balanced(given: Any) -> bool:
    """Return whether outputs are to count by their variances."""
    return isinstance(given, str) and given == "balanced"


def balanced_weights(
    target: NDArray[np.float64], row_weights: NDArray[np.float64]
) -> tuple[list[float], Fraction]:
    """Return one over the variance of each output, and 1 for an output without variance.

    The second number bounds the share by which float64 gets any of them wrong.
    """
    total = math.fsum(row_weights)
    weights, digits = [], 1.0
    for column in np.asarray(target).T:
        centred = column - (column.min() / 2 + column.max() / 2)
        if np.abs(centred).max() > _MOST_SPREAD:
            raise ValueError(
                f"Numbers that differ by {2 * np.abs(centred).max():.2g} have no variance in "
                "float64; divide the column by one number."
            )
        mean = math.fsum(row_weights * centred) / total
        variance = math.fsum(row_weights * (centred - mean) ** 2) / total
        if variance > 0 and math.isfinite(1 / variance):
            weights.append(1 / variance)
            # Numbers far from zero leave few digits for their differences.
            digits = max(digits, float(np.abs(column).max()) / math.sqrt(variance))
        elif column.min() < column.max():
            raise ValueError(
                f"Numbers that differ by {column.max() - column.min():.2g}, by the weights of "
                "their rows, have no variance in float64; multiply the column by one number."
            )
        else:
            weights.append(1.0)
    return weights, Fraction(digits) / 2**48
