"""Exact arithmetic between the user's numbers and the integers that the search minimises.

The search compares costs as 64-bit integers, so that "equal" and "better" mean what they say. The
user states costs as decimals: a complexity of 0.005, weights such as 0.25, class weights. This
module translates, in rational arithmetic, and says so where a translation had to round.

The cost of a tree is

    cost = weighted errors + complexity * W * splits,       W = total weight of the rows,

(``splits + 1`` when the complexity is per leaf: a binary tree has one leaf more than splits), and
the search minimises

    U = error_scale * (leaf costs by the integer cost matrix) + split_penalty * splits,

where ``cost == (U + offset) * unit`` holds exactly for the :class:`Objective` returned here.

A float stands for the decimal that Python prints for it: 0.1 is read as 1/10 and not as
3602879701896397/2**55, because that is what the user wrote.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ClassWeights",
    "Objective",
    "ScaledWeights",
    "build_objective",
    "check_weights",
    "class_fractions",
    "class_multipliers",
    "cost_budget",
    "parse_complexity",
    "parse_penalty",
    "read_fraction",
    "scale_weights",
]

# Everything the search forms stays below this, one bit short of the range of int64.
_LIMIT = 2**62

# Real weights that are no short decimals are rounded to the largest weight over this.
_WEIGHT_STEPS = 2**20

# Decimals of up to this many digits are distinct as float64, so reading them back is unambiguous.
_MAX_DIGITS = 15

# 10**22 is the last power of ten that float64 holds exactly.
_MAX_DECIMALS = 22

# Share of the integer range kept free for class weights and the denominator of the complexity
# when sample weights are scaled.
_RESERVED_FACTOR = 2**12

# Greater penalties leave the range of floats in sums and products.
_LARGEST_PENALTY = 10**200


def read_fraction(value: Any, what: str) -> Fraction:
    """Read a number as the exact fraction that it is written as.

    Parameters
    ----------
    value : int, float, fractions.Fraction, decimal.Decimal or str
        Floats are read as the decimal that Python prints for them; strings may be decimals
        (``"0.005"``) or fractions (``"1/200"``).
    what : str
        What the number is, for the error message.

    Returns
    -------
    fractions.Fraction
    """
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating | Rational | Decimal | str
    ):
        raise TypeError(
            f"{what} must be a number, a fraction or a decimal string, got {value!r} of type "
            f"{type(value).__name__}."
        )
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    try:
        # str and not repr: NumPy 2 prints the type into the repr of its scalars.
        return Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{what} must be a finite number, got {value!r}.") from None


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
            f"complexity must lie between 0 and 1, got {value!r}. It is the penalty per split as a "
            "share of all rows: 0.01 means that a split must save one row in a hundred."
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
            f"complexity must be a number of at least 0, and at most 1e200, got {value!r}. It is "
            f"the penalty per split in units of the metric {metric_name!r}: with 0.01, a split "
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


@dataclass(frozen=True, slots=True)
class ScaledWeights:
    """Sample weights as integers.

    Attributes
    ----------
    values : ndarray of int64
        ``values * quantum`` are the weights, up to rounding where ``is_exact`` is False. Rows of
        weight zero have value zero; all others have at least one.
    quantum : fractions.Fraction
        The weight that one unit stands for.
    is_exact : bool
        Whether ``values * quantum`` equals the given weights, read as decimals.
    relative_error : float
        The largest relative change of a weight by rounding; 0.0 when exact.
    """

    values: NDArray[np.int64]
    quantum: Fraction
    is_exact: bool
    relative_error: float


def scale_weights(
    sample_weight: Any,
    n_rows: int,
    *,
    budget: int | None = None,
    reserve: int = _RESERVED_FACTOR,
) -> ScaledWeights:
    """Turn sample weights into integers, exactly where they are short decimals.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
        Non-negative weights; None and a single number mean that all rows weigh the same.
    n_rows : int
        Number of rows.
    budget : int, optional
        What :func:`cost_budget` returned for this problem; by default that for `n_rows`.
    reserve : int, optional
        Factor kept free for class weights and the denominator of the complexity.

    Returns
    -------
    ScaledWeights
        Integers and decimals (of up to 15 digits, all multiples of one power of ten) are exact
        whenever their total fits the range of the search. Other weights are rounded to multiples
        of the largest weight divided by ``2**20`` (by less if there are so many rows that the
        total would not fit); a positive weight is never rounded to zero.
    """
    if sample_weight is None:
        return ScaledWeights(np.ones(n_rows, dtype=np.int64), Fraction(1), True, 0.0)
    weights = check_weights(sample_weight, n_rows)
    most = (cost_budget(n_rows) if budget is None else budget) // reserve
    # Rows that all weigh one unit must fit, or nothing would.
    most = max(most, n_rows)
    exact = _as_decimals(weights) if _are_kept(sample_weight, weights) else None
    if exact is not None and float(exact[0].sum(dtype=np.float64)) <= most:
        return ScaledWeights(*exact, True, 0.0)
    return _round_weights(weights, most)


def _are_kept(given: Any, weights: NDArray[np.float64]) -> bool:
    """Return whether float64 holds the weights as given; it does not hold all large integers."""
    if float(weights.max()) < 2.0**53:
        return True
    numbers = np.asarray(given, dtype=object).reshape(-1).tolist()
    read = weights.tolist() if len(numbers) > 1 else weights[:1].tolist()
    return all(number == weight for number, weight in zip(numbers, read, strict=True))


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return weights of rows as float64: finite, not negative, and not all zero."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "sample_weight must hold numbers, one per row; got "
            f"{type(sample_weight).__name__} that cannot be read as such."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.ndim != 1:
        raise ValueError(
            f"sample_weight must be 1D array or scalar, got an array of shape {weights.shape}; "
            "give one weight per row."
        )
    if len(weights) != n_rows:
        raise ValueError(
            f"sample_weight has {len(weights)} entries, but there are {n_rows} rows; give one "
            "weight per row."
        )
    for bad, complaint in (
        (~np.isfinite(weights), "not a finite number"),
        (weights < 0, "negative"),
    ):
        if bad.any():
            index = int(np.argmax(bad))
            raise ValueError(
                f"sample_weight[{index}] = {float(weights[index])!r} is {complaint}; weights must "
                "be finite and at least 0."
            )
    if not weights.any():
        raise ValueError(
            "All sample weights are zero, so no row counts; give at least one row a positive "
            "weight."
        )
    return weights


def _as_decimals(weights: NDArray[np.float64]) -> tuple[NDArray[np.int64], Fraction] | None:
    """Return integers and a quantum that give the weights exactly, or None if there are none."""
    largest = float(weights.max())
    positive = weights > 0
    if bool((weights[positive] == largest).all()):
        return positive.astype(np.int64), read_fraction(largest, "sample_weight")
    for decimals in range(_MAX_DECIMALS + 1):
        power = 10.0**decimals
        if largest * power >= 10.0**_MAX_DIGITS:
            return None
        units = np.rint(weights * power)
        # The division is correctly rounded and both operands are exact, so equality says that the
        # weight is the float64 that the decimal units / power is read as.
        if np.array_equal(units / power, weights):
            integers = units.astype(np.int64)
            common = int(np.gcd.reduce(integers))
            return integers // common, Fraction(common, 10**decimals)
    return None


def _round_weights(weights: NDArray[np.float64], most: int) -> ScaledWeights:
    """Round weights to a quantum such that their total is about `most` or less."""
    largest = float(weights.max())
    # Relative to the largest, because a sum of huge weights could overflow.
    shares = weights / largest
    steps = max(1, min(_WEIGHT_STEPS, int(most / float(shares.sum()))))
    integers = np.rint(shares * steps).astype(np.int64)
    positive = weights > 0
    integers[positive] = np.maximum(integers[positive], 1)
    wanted = shares[positive] * steps
    # A weight can be smaller than any ratio can express: the error is then infinite.
    with np.errstate(divide="ignore", over="ignore"):
        error = float((np.abs(integers[positive] - wanted) / wanted).max())
    return ScaledWeights(integers, Fraction(largest) / steps, False, error)


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """Class weights as integers.

    Attributes
    ----------
    multipliers : tuple of int
        ``multipliers[k] * quantum`` is the weight of class ``k``, up to rounding where
        ``is_exact`` is False.
    quantum : fractions.Fraction
        The class weight that one unit stands for.
    is_exact : bool
        Whether the products equal the given weights.
    relative_error : float
        The largest relative change of a class weight by rounding; 0.0 when exact.
    """

    multipliers: tuple[int, ...]
    quantum: Fraction
    is_exact: bool
    relative_error: float


def class_multipliers(
    class_weight: Mapping[Any, Any] | Literal["balanced"] | None,
    classes: Sequence[Any] | NDArray[Any],
    class_totals: Sequence[int] | NDArray[np.int64],
    *,
    budget: int,
) -> ClassWeights:
    """Turn class weights into integers with a common denominator.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weight per class label (1 where a label is not named), or ``"balanced"``:
        ``total / (n_classes * class total)``, with weighted totals, as an exact fraction.
    classes : sequence of length n_classes
        The labels, in the order of the totals.
    class_totals : sequence of int, of length n_classes
        Total integer sample weight of each class.
    budget : int
        What :func:`cost_budget` returned for this problem.

    Returns
    -------
    ClassWeights
        Exact unless the multipliers would overflow the range of the search, as they do for
        ``"balanced"`` with many classes; then rounded to ``2**-20`` of the largest.
    """
    totals = [int(total) for total in class_totals]
    wanted = class_fractions(class_weight, list(classes), totals)
    weighted_total = sum(w * t for w, t in zip(wanted, totals, strict=True))
    if weighted_total == 0:
        raise ValueError(
            "class_weight gives weight zero to every class in y, so no row counts; give at least "
            f"one of the classes {[_plain(label) for label in classes]} a positive weight."
        )
    denominator = math.lcm(*(w.denominator for w in wanted))
    integers = [int(w * denominator) for w in wanted]
    common = math.gcd(*integers)
    if weighted_total * denominator / common <= budget:
        return ClassWeights(
            tuple(i // common for i in integers), Fraction(common, denominator), True, 0.0
        )
    quantum = max(max(wanted) / _WEIGHT_STEPS, weighted_total / budget)
    # Rounding up to one unit keeps a positive class weight positive, and may add that much again.
    if weighted_total / quantum + sum(totals) > budget:
        quantum = weighted_total / max(budget - sum(totals), 1)
    rounded = [max(round(w / quantum), 1) if w else 0 for w in wanted]
    error = max(abs(r * quantum / w - 1) for r, w in zip(rounded, wanted, strict=True) if w)
    return ClassWeights(tuple(rounded), quantum, error == 0, float(error))


def class_fractions(
    class_weight: Mapping[Any, Any] | Literal["balanced"] | None,
    classes: list[Any],
    totals: Sequence[int | Fraction],
) -> list[Fraction]:
    """Return the weight of each class as an exact fraction, for the total weight of its rows."""
    if class_weight is None:
        return [Fraction(1)] * len(classes)
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = sum(1 for total in totals if total)
        total = sum(totals)
        return [Fraction(total) / (present * t) if t else Fraction(0) for t in totals]
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}; for weights "
            "per row use sample_weight."
        )
    labels = [_plain(label) for label in classes]
    unnamed = [label for label in labels if label not in class_weight]
    unknown = [key for key in class_weight if _plain(key) not in labels]
    # Keys beyond the classes at hand are normal in a fold that lacks a class; together with a class
    # that has no weight they are a slip of the pen.
    if unnamed and unknown:
        raise ValueError(
            f"class_weight names {unknown}, which are no classes of y, and lacks {unnamed}; the "
            f"classes are {labels}."
        )
    weights = []
    for label in labels:
        weight = read_fraction(class_weight.get(label, 1), f"class_weight[{label!r}]")
        if weight < 0:
            raise ValueError(
                f"class_weight[{label!r}] = {class_weight[label]!r} is negative; class weights "
                "must be at least 0."
            )
        weights.append(weight)
    return weights


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


class SizedTree(Protocol):
    """A tree as far as its value goes."""

    @property
    def leaf_cost(self) -> int:
        """Total cost of the leaves by the integer cost matrix."""

    @property
    def n_splits(self) -> int:
        """Number of splits."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What the search minimises, and how it relates to the user's cost.

    Attributes
    ----------
    cost_matrix : ndarray of int64, shape (n_classes, n_classes)
        Cost of label ``l`` for one unit of weight of class ``t``.
    error_scale, split_penalty : int
        ``U = error_scale * (leaf costs) + split_penalty * splits``.
    offset : int
        Constant part of the cost in units of U: the first leaf where the complexity is per leaf.
    unit : fractions.Fraction
        ``cost == (U + offset) * unit``.
    total_weight : fractions.Fraction
        W, the total weight of the rows with sample and class weights.
    complexity, complexity_used : fractions.Fraction
        The complexity asked for, and the one that the integers stand for.
    penalty_is_exact : bool
        Whether the two are the same.
    """

    cost_matrix: NDArray[np.int64]
    error_scale: int
    split_penalty: int
    offset: int
    unit: Fraction
    total_weight: Fraction
    complexity: Fraction
    complexity_used: Fraction
    penalty_is_exact: bool

    def cost(self, value: int) -> Fraction:
        """Return the cost (weighted errors plus penalty) that U = `value` stands for."""
        return (int(value) + self.offset) * self.unit

    def value(self, tree: SizedTree) -> int:
        """Return U of a tree."""
        return self.error_scale * tree.leaf_cost + self.split_penalty * tree.n_splits

    def score(self, value: int) -> Fraction:
        """Return ``1 - cost / W``: accuracy minus the complexity of the tree."""
        return 1 - self.cost(value) / self.total_weight


def build_objective(
    class_totals: Sequence[int] | NDArray[np.int64],
    class_weights: ClassWeights,
    complexity: Fraction,
    *,
    per: Literal["split", "leaf"] = "split",
    weight_quantum: Fraction = Fraction(1),
    budget: int,
) -> Objective:
    """Build the integer objective for errors plus a penalty per split or leaf.

    Parameters
    ----------
    class_totals : sequence of int, of length n_classes
        Total integer sample weight of each class.
    class_weights : ClassWeights
        From :func:`class_multipliers`.
    complexity : fractions.Fraction
        From :func:`parse_complexity`.
    per : {"split", "leaf"}
        What the penalty is counted by. For binary trees the two differ by one constant penalty.
    weight_quantum : fractions.Fraction
        Weight that one unit of integer sample weight stands for.
    budget : int
        What :func:`cost_budget` returned for this problem.

    Returns
    -------
    Objective
        With the exact penalty if the integers fit, and otherwise with the nearest penalty that
        does; ``complexity_used`` says which.
    """
    if per not in ("split", "leaf"):
        raise ValueError(f"complexity_per must be 'split' or 'leaf', got {per!r}.")
    multipliers = class_weights.multipliers
    total = sum(m * int(t) for m, t in zip(multipliers, class_totals, strict=True))
    if total > budget:
        raise ValueError(
            f"The weights overflow 64-bit costs: the total weight is {total} units of the finest "
            f"weight, and at most {budget} fit; use coarser sample or class weights."
        )
    exact = complexity * total
    penalty = exact.limit_denominator(max(budget // total, 1))
    if complexity > 0 and penalty == 0:
        penalty = Fraction(1, max(budget // total, 1))
    unit = weight_quantum * class_weights.quantum
    matrix = np.repeat(np.array(multipliers, dtype=np.int64)[:, None], len(multipliers), axis=1)
    np.fill_diagonal(matrix, 0)
    return Objective(
        cost_matrix=matrix,
        error_scale=penalty.denominator,
        split_penalty=penalty.numerator,
        offset=penalty.numerator if per == "leaf" else 0,
        unit=unit / penalty.denominator,
        total_weight=total * unit,
        complexity=complexity,
        complexity_used=penalty / total,
        penalty_is_exact=penalty == exact,
    )
