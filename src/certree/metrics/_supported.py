r"""An affine function over a concave one: MCC and Fowlkes-Mallows.

Theorem 2 (docs/theory/metrics.md): :math:`\{A / C \le \alpha\} = \{A - \alpha C \le 0\}` is convex
for :math:`\alpha \ge 0`, because A is affine and C concave. Both fall
with either error, so their best point is a corner of the convex hull of all points.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ._metric import SupportedMetric
from ._numbers import Exact, Number, sign, signed_root


class MCC(SupportedMetric):
    r"""Matthews' correlation coefficient.

    .. math:: \frac{tp \cdot tn - fp \cdot fn}{\sqrt{P N \hat p (n - \hat p)}}
              = \frac{P N - P \, fp - N \, fn}{\sqrt{P N \hat p (n - \hat p)}},
              \qquad \hat p = P - fn + fp, \quad n = P + N

    Supported: affine over concave. It is 0 where all rows are, or are predicted, of one class, as
    in scikit-learn.

    Examples
    --------
    >>> MCC()(fp=0, fn=1, positives=2, negatives=2)
    0.5773502691896257
    """

    _name = "mcc"

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Number:
        """Return the exact value: a square root with a sign."""
        predicted = positives - fn + fp
        rest = positives + negatives - predicted
        square = positives * negatives * predicted * rest
        if square <= 0:
            return Fraction(0)
        above = positives * negatives - positives * fp - negatives * fn
        return signed_root(sign(above), Fraction(above * above) / square)

    def approximate(self, fp: float, fn: float, positives: Exact, negatives: Exact) -> float:
        """Return the value in floating point."""
        predicted = float(positives) - fn + fp
        square = positives * negatives * predicted * (positives + negatives - predicted)
        above = positives * negatives - positives * fp - negatives * fn
        return above / math.sqrt(square) if square > 0 else 0.0

    def tangent(
        self, fp: int, fn: int, positives: Exact, negatives: Exact
    ) -> tuple[Exact, Exact] | None:
        """Return weights orthogonal to the level curve."""
        predicted = positives - fn + fp
        rest = positives + negatives - predicted
        if predicted <= 0 or rest <= 0:
            return None
        above = positives * negatives - positives * fp - negatives * fn
        steep, skew = 2 * predicted * rest, above * (rest - predicted)
        return positives * steep + skew, negatives * steep - skew


class FowlkesMallows(SupportedMetric):
    r"""The geometric mean of precision and recall.

    .. math:: \frac{tp}{\sqrt{(tp + fp)(tp + fn)}} = \frac{P - fn}{\sqrt{P \hat p}},
              \qquad \hat p = P - fn + fp

    Supported: affine over concave. It is 0 where no row is, or is predicted, positive.
    """

    _name = "fowlkes_mallows"

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Number:
        """Return the exact value: a square root."""
        predicted = positives - fn + fp
        if positives <= 0 or predicted <= 0:
            return Fraction(0)
        right = positives - fn
        return signed_root(sign(right), Fraction(right * right) / (positives * predicted))

    def approximate(self, fp: float, fn: float, positives: Exact, negatives: Exact) -> float:
        """Return the value in floating point."""
        square = positives * (positives - fn + fp)
        return (positives - fn) / math.sqrt(square) if square > 0 else 0.0

    def tangent(
        self, fp: int, fn: int, positives: Exact, negatives: Exact
    ) -> tuple[Exact, Exact] | None:
        """Return weights orthogonal to the level curve."""
        predicted = positives - fn + fp
        if predicted <= 0:
            return None
        right = positives - fn
        return right, 2 * predicted - right
