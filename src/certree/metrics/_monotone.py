"""Metrics that are only known to be monotone: the front of all trees decides."""

from __future__ import annotations

from fractions import Fraction

from ._metric import Metric
from ._numbers import Exact, Number, signed_root


class GMean(Metric):
    r"""The geometric mean of the true positive and the true negative rate.

    .. math:: \sqrt{\frac{P - fn}{P} \cdot \frac{N - fp}{N}}

    Monotone, not supported: of the points (fp/N, fn/P) = (0, 1), (1, 0) and (0.55, 0.55) the third
    is best, and it lies above the line between the others. The rate of a class without rows is
    one.

    Examples
    --------
    >>> GMean()(fp=1, fn=1, positives=2, negatives=2)
    0.5
    """

    kind = "monotone"
    _name = "gmean"

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Number:
        """Return the exact value: a square root."""
        right_positives = Fraction(positives - fn) / positives if positives else Fraction(1)
        right_negatives = Fraction(negatives - fp) / negatives if negatives else Fraction(1)
        return signed_root(1, right_positives * right_negatives)


class MacroF1(Metric):
    r"""The mean of the F1 scores of the two classes.

    .. math:: \frac12 \Bigl( \frac{2 (P - fn)}{2 P - fn + fp}
              + \frac{2 (N - fp)}{2 N - fp + fn} \Bigr)

    Monotone on all binary tables, because both terms are: the derivative of the first has the
    sign of :math:`-(P + fp)` by fn and of :math:`-(P - fn)` by fp, and the second is the first with
    the classes exchanged. It is neither a ratio of affine functions nor supported. With more than
    two classes a mean of F1 scores depends on more than two counts, and is refused. A class that
    neither occurs nor is predicted is left out, as in scikit-learn.

    Examples
    --------
    >>> MacroF1()(fp=1, fn=1, positives=4, negatives=4)
    0.75
    """

    kind = "monotone"
    _name = "macro_f1"

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Fraction:
        """Return the exact value."""
        below = (2 * positives - fn + fp, 2 * negatives - fp + fn)
        above = (2 * (positives - fn), 2 * (negatives - fp))
        scores = [Fraction(a) / b for a, b in zip(above, below, strict=True) if b]
        return Fraction(sum(scores)) / len(scores)
