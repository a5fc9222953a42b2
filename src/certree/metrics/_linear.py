"""Metrics that are linear in false positives and negatives: one solve."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from ._metric import Affine, RatioMetric, read_parameter
from ._numbers import Exact


class LinearMetric(RatioMetric):
    """A metric ``constant - a * fp - b * fn``: a weighted accuracy."""

    kind = "linear"

    def denominator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return one."""
        return Affine(1, 0, 0)


class WeightedAccuracy(LinearMetric):
    r"""Accuracy where each positive row counts as `weight` negative ones.

    .. math:: 1 - \frac{fp + w \cdot fn}{N + w \cdot P}

    Linear: one solve.

    Parameters
    ----------
    weight : float, default=1
        What a false negative costs, in false positives; greater than 0, read as the decimal that
        is written.

    Examples
    --------
    >>> WeightedAccuracy(weight=3)(fp=2, fn=1, positives=5, negatives=5)
    0.75
    """

    _name = "weighted_accuracy"
    _parameters: ClassVar[tuple[str, ...]] = ("weight",)

    def __init__(self, weight: Any = 1) -> None:
        self.weight = read_parameter(weight, "WeightedAccuracy: weight")

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the share of the weight that is right."""
        total = negatives + self.weight * positives
        return Affine(1, -1 / total, -self.weight / total)


class Accuracy(WeightedAccuracy):
    r"""The share of rows that are right.

    .. math:: 1 - \frac{fp + fn}{N + P}

    Linear: one solve.
    """

    _name = "accuracy"
    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(1)


def _rates(positives: Exact, negatives: Exact) -> tuple[Fraction, Fraction]:
    """Return what one false positive and one false negative take from the two rates."""
    fp = Fraction(-1) / negatives if negatives else Fraction(0)
    fn = Fraction(-1) / positives if positives else Fraction(0)
    return fp, fn


class BalancedAccuracy(LinearMetric):
    r"""The mean of the shares of positive and of negative rows that are right.

    .. math:: 1 - \frac12 \Bigl( \frac{fp}{N} + \frac{fn}{P} \Bigr)

    Linear: one solve. With rows of one class only, it is the share of these.
    """

    _name = "balanced_accuracy"

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the mean of the rates."""
        fp, fn = _rates(positives, negatives)
        classes = (positives > 0) + (negatives > 0)
        return Affine(1, fp / classes, fn / classes)


class Informedness(LinearMetric):
    r"""Youden's J: true positive rate plus true negative rate minus one.

    .. math:: 1 - \frac{fp}{N} - \frac{fn}{P}

    Linear: one solve; the same trees are best as for balanced accuracy, but a penalty for splits
    weighs half as much. The rate of a class without rows is one.
    """

    _name = "informedness"

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the sum of the rates, less one."""
        return Affine(1, *_rates(positives, negatives))
