"""The base of metrics: a value for false positives and negatives, and its kind for the search."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, NamedTuple

import numpy as np

from certree.numbers._exact import read_fraction

from ._binary_labels import confusion
from ._numbers import Exact, Number

KINDS = ("linear", "linear-fractional", "supported", "monotone", "front", "chain")
"""Kinds of metrics, from the easiest to the hardest; see docs/theory/metrics.md."""

# No two fractions with denominators up to this are the same float64.
_LARGEST_DENOMINATOR = 10**6


class Affine(NamedTuple):
    """The function ``constant + fp * (false positives) + fn * (false negatives)``."""

    constant: Exact
    fp: Exact
    fn: Exact

    def __call__(self, fp: Exact, fn: Exact) -> Exact:
        """Return the value at a point."""
        return self.constant + self.fp * fp + self.fn * fn


class Metric(ABC):
    """A quality of binary predictions, to be maximised.

    Attributes
    ----------
    name : str
        Short name, as in ``objective="f1"``.
    kind : str
        How the search maximises it. "linear": a weighted accuracy, one solve.
        "linear-fractional": a ratio of two linear functions. "supported": its best point is the
        best one of some weighted accuracy. "monotone": fewer errors are never worse, nothing
        else is known. "front" and "chain" are not values of a single confusion matrix.
    """

    kind: ClassVar[str]
    _name: ClassVar[str]
    _parameters: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """Short name."""
        return self._name

    @abstractmethod
    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Number:
        """Return the exact value.

        Parameters
        ----------
        fp, fn : int or fractions.Fraction
            Weight of the false positives and of the false negatives.
        positives, negatives : int
            Weight of all rows of the positive and of the negative class.

        Returns
        -------
        fractions.Fraction or Root
            In the order of the real numbers.
        """

    def approximate(self, fp: float, fn: float, positives: Exact, negatives: Exact) -> float:
        """Return a float near the value, quickly: it may guide a search, but not decide."""
        return float(self.exact(Fraction(fp), Fraction(fn), positives, negatives))

    def __call__(self, fp: Any, fn: Any, positives: Exact, negatives: Exact) -> float:
        """Return the value for false positives, false negatives and the totals of the classes."""
        numbers = {"fp": fp, "fn": fn, "positives": positives, "negatives": negatives}
        for name, number in numbers.items():
            if not np.isfinite(number) or number < 0:
                raise ValueError(
                    f"{self.name}: {name} must be a number of rows, or their weight, and at least "
                    f"0; got {number!r}."
                )
        # Floats are sums of weights, and stand for the decimals that Python prints.
        whole = [
            Fraction(float(n)) if isinstance(n, float) else Fraction(n) for n in numbers.values()
        ]
        if whole[0] > whole[3] or whole[1] > whole[2]:
            raise ValueError(
                f"{self.name}: more errors than rows: fp={fp!r} of {negatives!r} negatives, "
                f"fn={fn!r} of {positives!r} positives."
            )
        return float(self.exact(*whole))

    def score(
        self, y_true: Any, y_pred: Any, *, pos_label: Any = None, sample_weight: Any = None
    ) -> float:
        """Return the value for labels and predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
            Labels and predictions, of two classes at most.
        pos_label : label, optional
            The positive class; by default the greater of the two.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        return self(*confusion(self.name, y_true, y_pred, pos_label, sample_weight))

    def scorer(self, pos_label: Any = None) -> Any:
        """Return a scorer for scikit-learn's ``scoring=``.

        Parameters
        ----------
        pos_label : label, optional
            The positive class; by default the greater of the two.
        """
        from sklearn.metrics import make_scorer

        return make_scorer(self.score, pos_label=pos_label)

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._parameters)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_show(getattr(self, name))}" for name in self._parameters)
        return f"{type(self).__name__}({shown})"


def _show(value: Any) -> str:
    if not isinstance(value, Fraction):
        return repr(value)
    return str(value) if value.denominator == 1 else repr(str(value))


def read_parameter(value: Any, what: str, *, may_be_zero: bool = False) -> Fraction:
    """Read a positive (or non-negative) parameter of a metric as the decimal that is written.

    A float that is a simple fraction, such as 1 / 3, is read as that.
    """
    number = read_fraction(value, what)
    if isinstance(value, float):
        simple = number.limit_denominator(_LARGEST_DENOMINATOR)
        number = simple if float(simple) == value else number
    if number < 0 or (number == 0 and not may_be_zero):
        least = "at least 0" if may_be_zero else "greater than 0"
        raise ValueError(f"{what} must be {least}, got {value!r}.")
    return number


class RatioMetric(Metric):
    """A metric ``numerator / denominator`` of two affine functions, the lower one positive.

    For every level q, ``value > q`` is the linear inequality ``numerator - q denominator > 0``:
    the better points lie on one side of a line, which a weighted accuracy can test.
    """

    kind = "linear-fractional"

    @abstractmethod
    def numerator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the upper affine function."""

    @abstractmethod
    def denominator(self, positives: Exact, negatives: Exact) -> Affine:
        """Return the lower affine function; positive at every point."""

    def _forms(self, positives: Exact, negatives: Exact) -> tuple[Affine, Affine]:
        """Return both functions, scaled to whole numbers; the last ones are kept."""
        kept = self.__dict__.get("_kept")
        if kept is not None and kept[0] == (positives, negatives):
            return kept[1]  # type: ignore[no-any-return]
        forms = *self.numerator(positives, negatives), *self.denominator(positives, negatives)
        scale = lcm(*(Fraction(number).denominator for number in forms))
        whole = [int(number * scale) for number in forms]
        both = Affine(*whole[:3]), Affine(*whole[3:])
        self._kept = (positives, negatives), both
        return both

    def exact(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Fraction:
        """Return the exact value."""
        above, below = self._forms(positives, negatives)
        return Fraction(above(fp, fn)) / below(fp, fn)

    def approximate(self, fp: float, fn: float, positives: Exact, negatives: Exact) -> float:
        """Return the value in floating point."""
        (a, a_fp, a_fn), (b, b_fp, b_fn) = self._forms(positives, negatives)
        return float(a + a_fp * fp + a_fn * fn) / float(b + b_fp * fp + b_fn * fn)

    def level_line(self, level: Fraction, positives: Exact, negatives: Exact) -> Affine:
        """Return ``a`` such that the value exceeds the level exactly where ``a(fp, fn) < 0``."""
        above, below = self._forms(positives, negatives)
        constant, fp, fn = (level * b - a for a, b in zip(above, below, strict=True))
        return Affine(constant, fp, fn)


class SupportedMetric(Metric):
    """A metric whose sublevel sets at levels of 0 and above are convex.

    Together with monotonicity this puts its best point at a corner of the convex hull of all
    points (docs/theory/metrics.md, theorem 2).
    """

    kind = "supported"

    @abstractmethod
    def tangent(
        self, fp: int, fn: int, positives: Exact, negatives: Exact
    ) -> tuple[Exact, Exact] | None:
        """Return weights of false positives and negatives proportional to the negative gradient.

        None where the metric has no gradient: where all or no rows are predicted positive.
        """
