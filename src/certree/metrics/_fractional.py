"""Ratios of two affine functions of false positives and negatives.

Theorem 1 (docs/theory/metrics.md): whether any tree exceeds a level q is one weighted accuracy, so
the best one is found by raising q to the value found until nothing exceeds it (Dinkelbach).
"""

from __future__ import annotations

from typing import Any, ClassVar

from ._metric import Affine, RatioMetric, read_parameter
from ._numbers import Exact

# The constant 0 for tables that lack the class which the metric is about.
_ZERO, _ONE = Affine(0, 0, 0), Affine(1, 0, 0)


class Tversky(RatioMetric):
    r"""The Tversky index: true positives against weighted errors.

    .. math:: \frac{tp}{tp + \alpha \, fp + \beta \, fn}
              = \frac{P - fn}{P + \alpha \, fp + (\beta - 1) \, fn}

    Linear-fractional. Both halves are F1, both ones Jaccard. Without positive rows it is 0
    whatever is predicted.

    Parameters
    ----------
    alpha : float
        Weight of a false positive, at least 0.
    beta : float
        Weight of a false negative, greater than 0: without it, one pure leaf with a single
        positive row would be perfect.

    Examples
    --------
    >>> Tversky(alpha=0.5, beta=0.5)(fp=1, fn=1, positives=4, negatives=6)
    0.75
    """

    _name = "tversky"
    _parameters: ClassVar[tuple[str, ...]] = ("alpha", "beta")

    def __init__(self, alpha: Any, beta: Any) -> None:
        name = type(self).__name__
        self.alpha = read_parameter(alpha, f"{name}: alpha", may_be_zero=True)
        self.beta = read_parameter(beta, f"{name}: beta")

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the true positives."""
        return Affine(positives, 0, -1) if positives else _ZERO

    def denominator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return true positives and weighted errors."""
        # tp + beta fn > 0 because one of both is positive where there are positive rows.
        return Affine(positives, self.alpha, self.beta - 1) if positives else _ONE


class Jaccard(Tversky):
    r"""The Jaccard index of the rows that are and those that are predicted positive.

    .. math:: \frac{tp}{tp + fp + fn} = \frac{P - fn}{P + fp}

    Linear-fractional. An increasing function of F1, so the same trees are best (without a penalty).
    Without positive rows it is 0.
    """

    _name = "jaccard"
    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(1, 1)


class FBeta(RatioMetric):
    r"""The weighted harmonic mean of precision and recall.

    .. math:: \frac{(1 + \beta^2) \, tp}{(1 + \beta^2) \, tp + \beta^2 fn + fp}
              = \frac{(1 + \beta^2)(P - fn)}{(1 + \beta^2) P - fn + fp}

    Linear-fractional. Without positive rows it is 0 whatever is predicted, as in scikit-learn.

    Parameters
    ----------
    beta : float
        Recall counts beta times as much as precision; greater than 0, read as the decimal that is
        written.

    Examples
    --------
    >>> FBeta(beta=2)(fp=1, fn=1, positives=4, negatives=6)
    0.75
    """

    _name = "fbeta"
    _parameters: ClassVar[tuple[str, ...]] = ("beta",)

    def __init__(self, beta: Any) -> None:
        self.beta = read_parameter(beta, f"{type(self).__name__}: beta")

    @property
    def name(self) -> str:
        """Short name: f1, f2, f0.5."""
        return f"f{float(self.beta):g}"

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the true positives, scaled."""
        scale = 1 + self.beta**2
        return Affine(scale * positives, 0, -scale) if positives else _ZERO

    def denominator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return true positives and weighted errors."""
        return Affine((1 + self.beta**2) * positives, 1, -1) if positives else _ONE


class F1(FBeta):
    r"""The harmonic mean of precision and recall.

    .. math:: \frac{2 \, tp}{2 \, tp + fp + fn} = \frac{2 (P - fn)}{2 P - fn + fp}

    Linear-fractional. Without positive rows it is 0 whatever is predicted, as in scikit-learn.

    Examples
    --------
    >>> F1()(fp=1, fn=1, positives=4, negatives=6)
    0.75
    """

    _parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(1)


class CohenKappa(RatioMetric):
    r"""Cohen's kappa: agreement beyond chance.

    .. math:: \frac{2 (P N - P \, fp - N \, fn)}{P (n - \hat p) + N \hat p},
              \qquad \hat p = P - fn + fp, \quad n = P + N

    Linear-fractional, because the agreement by chance is affine in the number of predicted
    positives. It falls with either error, below zero too: the weights of the two errors at the
    level q are proportional to :math:`n \pm (1 - q)(P - N)`, and not negative as
    :math:`q \ge -2 P N / (P^2 + N^2)`. With rows of one class only it is 0.
    """

    _name = "cohen_kappa"

    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the agreement beyond chance, scaled."""
        if not (positives and negatives):
            return _ZERO
        return Affine(2 * positives * negatives, -2 * positives, -2 * negatives)

    def denominator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the most agreement beyond chance there could be, scaled."""
        if not (positives and negatives):
            return _ONE
        # P (n - p) + N p for p = P - fn + fp.
        slope = negatives - positives
        return Affine(positives * (negatives + negatives), slope, -slope)
