"""Exact arithmetic between the user's numbers and the integers that the search minimises.

The search compares costs as 64-bit integers, so that "equal" and "better" are exact. The user
states costs as decimals: a complexity of 0.005, weights such as 0.25, class weights. This module
translates them in rational arithmetic, and reports every rounding.

The cost of a tree is

    cost = weighted errors + complexity * W * splits,       W = total weight of the rows,

(``splits + 1`` when the complexity is per leaf: a binary tree has one leaf more than splits), and
the search minimises

    U = error_scale * (leaf costs by the integer cost matrix) + split_penalty * splits,

where ``cost == U * unit + constant`` holds exactly for the :class:`Scale` returned here.

A float stands for the decimal that Python prints for it: 0.1 is read as 1/10 and not as
3602879701896397/2**55, because that is what the user wrote.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from ._error_weights import class_fractions
from ._fractions import read_fraction, shown
from ._scale import Scale, fitting_penalty
from ._weights import ScaledWeights, check_weights, read_weights, scale_given

__all__ = [
    "ScaledWeights",
    "check_weights",
    "class_fractions",
    "cost_budget",
    "error_scale",
    "parse_complexity",
    "parse_penalty",
    "read_fraction",
    "scale_weights",
]

# Everything the search forms stays below this, one bit short of the range of int64.
_LIMIT = 2**62

# The unit of rounded weights is about the largest weight over this number, where other numbers
# share the range of the search with the weights.
_WEIGHT_STEPS = 2**20

# Share of the integer range kept free for the denominator of the complexity, and for costs.
_RESERVED_FACTOR = 2**12

# Greater penalties leave the range of floats in sums and products.
_LARGEST_PENALTY = 10**200


def parse_complexity(value: Any) -> Fraction:
    """Read the ``complexity`` parameter as an exact fraction.

    Parameters
    ----------
    value : int, float, fractions.Fraction, decimal.Decimal or str
        The penalty per split (or leaf) as a share of the total weight of the rows.

    Returns
    -------
    fractions.Fraction
        Between 0 and 1.

    Examples
    --------
    >>> parse_complexity(0.005)
    Fraction(1, 200)
    """
    complexity = read_fraction(value, "complexity")
    if not 0 <= complexity <= 1:
        raise ValueError(
            f"complexity must lie between 0 and 1, got {shown(value)}. It is the penalty per split "
            "as a share of all rows: 0.01 means that a split must save one row in a hundred."
        )
    return complexity


def parse_penalty(value: Any, metric_name: str) -> Fraction:
    """Read the ``complexity`` parameter where it is in units of a metric.

    Parameters
    ----------
    value : int, float, fractions.Fraction, decimal.Decimal or str
        The penalty per split (or leaf).
    metric_name : str
        The metric, for the message.

    Returns
    -------
    fractions.Fraction
        At least 0.

    Examples
    --------
    >>> parse_penalty(2, "profit")
    Fraction(2, 1)
    """
    penalty = read_fraction(value, "complexity")
    if not 0 <= penalty <= _LARGEST_PENALTY:
        raise ValueError(
            f"complexity must be a number of at least 0, and at most 1e200, got {shown(value)}. It "
            f"is the penalty per split in units of the metric {metric_name!r}: with 0.01, a split "
            "must raise it by 0.01."
        )
    return penalty


def cost_budget(n_rows: int, max_splits: int | None = None) -> int:
    """Return the largest scaled total cost for which the search cannot overflow.

    Ties are broken by the number of splits, for which costs are multiplied by one more than the
    number of splits that a tree can have. Within the search a value is at most the sum of two leaf
    costs and eight penalties, and a penalty is at most the total cost: ten times the total, rounded
    up to sixteen.

    Parameters
    ----------
    n_rows : int
        Number of rows with positive weight; a tree without empty leaves has fewer splits.
    max_splits : int, optional
        A smaller bound on the number of splits, where a depth or split limit gives one.
    """
    most_splits = max(n_rows - 1, 0)
    if max_splits is not None:
        most_splits = min(most_splits, max_splits)
    return _LIMIT // (16 * (most_splits + 2))


def scale_weights(
    sample_weight: Any,
    n_rows: int,
    *,
    budget: int | None = None,
    reserve: int = _RESERVED_FACTOR,
) -> ScaledWeights:
    """Turn sample weights into integers, exactly where they are multiples of one unit that fits.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Non-negative weights; None and a single number mean that all rows weigh the same.
    n_rows : int
        Number of rows.
    budget : int, optional
        What :func:`cost_budget` returned for this problem; by default that for `n_rows`.
    reserve : int, optional
        Factor kept free for costs and the denominator of the complexity.

    Returns
    -------
    ScaledWeights
        Integers, fractions and decimals (of up to 15 digits, all multiples of one power of ten) are
        exact whenever their total fits the range of the search. Other weights are rounded to
        multiples of the largest weight divided by about ``2**20`` (by less if there are so many
        rows that the total would not fit); a positive weight is never rounded to zero.
    """
    most = (cost_budget(n_rows) if budget is None else budget) // reserve
    # At least one unit of weight per row must fit.
    return scale_given(read_weights(sample_weight, n_rows), max(most, n_rows), _WEIGHT_STEPS)


def error_scale(
    total: int,
    unit: Fraction,
    complexity: Fraction,
    *,
    per: Literal["split", "leaf"] = "split",
    budget: int,
) -> Scale:
    """Return the scale of errors plus a penalty per split or leaf.

    Parameters
    ----------
    total : int
        Weight of all rows in units, that of their classes included.
    unit : fractions.Fraction
        Weight that one unit stands for.
    complexity : fractions.Fraction
        From :func:`parse_complexity`.
    per : {"split", "leaf"}
        What the penalty is counted by. For binary trees the two differ by one constant penalty.
    budget : int
        What :func:`cost_budget` returned for this problem.

    Returns
    -------
    Scale
        With the exact penalty if the integers fit, and otherwise with the nearest penalty that
        does; its ``penalty`` says which.
    """
    if per not in ("split", "leaf"):
        raise ValueError(f"complexity_per must be 'split' or 'leaf', got {per!r}.")
    if total > budget:
        raise ValueError(
            f"The weights overflow 64-bit costs: the total weight is {total} units of the finest "
            f"weight, and at most {budget} fit; use coarser sample or class weights."
        )
    penalty = fitting_penalty(complexity * total, budget // total)
    return Scale.of(penalty, unit, complexity, per_leaf=per == "leaf")
