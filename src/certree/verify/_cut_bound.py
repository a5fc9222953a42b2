"""The bound on a metric that follows from cuts: no errors that satisfy all of them are worth more.

A cut says that every tree has ``a * fp + b * fn + c * splits >= v``. Ratios of linear functions are
greatest in a corner of what cuts leave, and so are, above the values of single leaves, MCC and
Fowlkes-Mallows (docs/theory/metrics.md). The errors of trees are multiples of the unit of weights.
The bounds of other metrics need arguments beyond cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any

from ._audit import Audit
from ._formulas import exceeds
from ._plain_numbers import show

_GREATEST_IN_CORNERS = (
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "F1",
    "FBeta",
    "FowlkesMallows",
    "Informedness",
    "Jaccard",
    "MCC",
    "Tversky",
    "WeightedAccuracy",
)
"""Metrics that are greatest in corners, by their classes."""

# Most cuts whose corners are tried, and most errors between corners.
_MOST_CUTS = 300
_MOST_ERRORS = 100_000

Line = tuple[Fraction, Fraction, Fraction]
"""``(a, b, v)``: every tree has ``a * fp + b * fn >= v``."""


def rests_on_cuts(audit: Audit, metric: Any) -> bool:
    """Return whether a lower bound was proven by the cuts that are stated, and by nothing else.

    With a penalty, some cuts hold for some numbers of splits only, and are not stated; a search of
    some of the tests states none. Limits and fairness have proofs of their own kind.
    """
    certificate = audit.certificate
    return (
        metric.kind in _GREATEST_IN_CORNERS
        and type(certificate).__name__ == "Certificate"
        and 0 not in (certificate.n_tests, certificate.max_depth, certificate.max_splits)
        and certificate.split_penalty == 0
        and certificate.n_tests_searched is None
    )


def check_cut_bound(audit: Audit, metric: Any, found: Any, unit: Fraction) -> None:
    """Check that no errors that satisfy all cuts are worth more than the lower bound says.

    Parameters
    ----------
    audit : Audit
        Where differences go.
    metric : Objective
        A metric that is greatest in corners.
    found : Confusion
        The errors of the tree.
    unit : Fraction
        All errors of trees are multiples of it.
    """
    certificate = audit.certificate
    lines = [
        (Fraction(a), Fraction(b), Fraction(v))
        for a, b, c, v in certificate.cuts or ()
        if c <= 0 <= min(a, b) and a + b > 0
    ]
    if len(lines) > _MOST_CUTS:
        return
    level = 1 - Fraction(certificate.lower_bound)
    positives, negatives = Fraction(found.positives), Fraction(found.negatives)

    def is_better(fp: Fraction, fn: Fraction) -> bool:
        return bool(exceeds(metric.value(fp, fn, positives, negatives), level))

    def is_better_swapped(fn: Fraction, fp: Fraction) -> bool:
        return is_better(fp, fn)

    swapped = [(b, a, v) for a, b, v in lines]
    by_columns = _Corners(lines, negatives, positives, is_better)
    by_rows = _Corners(swapped, positives, negatives, is_better_swapped)
    better = by_columns.better_multiple(unit) and by_rows.better_multiple(unit)
    if better is not None:
        fn, fp = better
        audit.differ(
            f"lower bound {show(certificate.lower_bound)}: it does not follow from the cuts, "
            f"which allow {show(fp)} false positives with {show(fn)} false negatives"
        )
        return
    audit.done("the lower bound follows from the cuts")


class _Corners:
    """The lower corners of what cuts leave, from 0 errors of the first kind to the most.

    Parameters
    ----------
    lines : sequence of Line
        The cuts.
    width, height : Fraction
        Most errors of the first and of the second kind.
    is_better : callable
        Whether a point is worth more than the lower bound says. All others form a convex set.
    """

    def __init__(
        self,
        lines: Sequence[Line],
        width: Fraction,
        height: Fraction,
        is_better: Callable[[Fraction, Fraction], bool],
    ) -> None:
        self.lines, self.height, self.is_better = lines, height, is_better
        zero, one = Fraction(0), Fraction(1)
        places = {zero, width}
        ends = [(zero, one, zero), (zero, one, height)]
        for (a, b, v), (d, e, w) in combinations([*lines, *ends], 2):
            if a * e != b * d:
                places.add((v * e - b * w) / (a * e - b * d))
        kept = (at for at in places if 0 <= at <= width)
        self.places = sorted(at for at in kept if self._least(at) is not None)

    def better_multiple(self, unit: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return better errors that are multiples of a unit, or a better corner of too many."""
        better = [i for i, at in enumerate(self.places) if self._is_better(at)]
        if not better:
            return None
        # On a side from a corner that is not better to one that is, a last part is better.
        first, last = better[0], better[-1]
        low = ceil(self.places[first] / unit)
        if first:
            low = self._last_better(low, floor(self.places[first - 1] / unit), unit)
        high = floor(self.places[last] / unit)
        if last + 1 < len(self.places):
            high = self._last_better(high, ceil(self.places[last + 1] / unit), unit)
        if high - low > _MOST_ERRORS:
            return self.places[first], self._least(self.places[first]) or Fraction(0)
        for at in (unit * n for n in range(low, high + 1)):
            least = self._least(at)
            if least is not None:
                above = unit * ceil(least / unit)
                if above <= self.height and self.is_better(at, above):
                    return at, above
        return None

    def _last_better(self, inside: int, outside: int, unit: Fraction) -> int:
        """Return the last multiple that is better than the bound, on the way to one that is not."""
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            if self._is_better(unit * middle):
                inside = middle
            else:
                outside = middle
        return inside

    def _is_better(self, at: Fraction) -> bool:
        least = self._least(at)
        return least is not None and self.is_better(at, least)

    def _least(self, at: Fraction) -> Fraction | None:
        """Return the fewest errors of the second kind that cuts leave; None if they leave none."""
        least = Fraction(0)
        for a, b, v in self.lines:
            left = v - a * at
            if left > 0 and not b:
                return None
            least = max(least, left / b if b else Fraction(0))
        return least if least <= self.height else None
