"""The bound on a metric that follows from cuts: no errors that satisfy all of them are worth more.

A cut says that every tree has ``a * fp + b * fn + c * splits >= v``. Ratios of linear functions are
greatest in a corner of what cuts leave. The bounds of other metrics need arguments beyond cuts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from ._audit import Audit
from ._formulas import exceeds
from ._plain_numbers import show

_RATIOS = (
    "Accuracy",
    "BalancedAccuracy",
    "CohenKappa",
    "F1",
    "FBeta",
    "Informedness",
    "Jaccard",
    "Tversky",
    "WeightedAccuracy",
)
"""Metrics that are ratios of linear functions of the two errors, by their classes."""

# Most cuts whose corners are tried.
_MOST_CUTS = 300

Line = tuple[Fraction, Fraction, Fraction]
"""``(a, b, v)``: every tree has ``a * fp + b * fn >= v``."""


def rests_on_cuts(audit: Audit, metric: Any) -> bool:
    """Return whether a lower bound was proven by the cuts that are stated, and by nothing else.

    With a penalty, some cuts hold for some numbers of splits only, and are not stated; a search of
    some of the tests states none. Limits and fairness have proofs of their own kind.
    """
    certificate = audit.certificate
    return (
        metric.kind in _RATIOS
        and type(certificate).__name__ == "Certificate"
        and 0 not in (certificate.n_tests, certificate.max_depth, certificate.max_splits)
        and certificate.split_penalty == 0
        and certificate.n_tests_searched is None
    )


def check_cut_bound(audit: Audit, metric: Any, found: Any) -> None:
    """Check that no errors that satisfy all cuts are worth more than the lower bound says."""
    certificate = audit.certificate
    lines = [
        (Fraction(a), Fraction(b), Fraction(v))
        for a, b, c, v in certificate.cuts or ()
        if c <= 0 <= min(a, b) and a + b > 0
    ]
    if len(lines) > _MOST_CUTS:
        return
    level = 1 - Fraction(certificate.lower_bound)
    for fp, fn in _corners(lines, Fraction(found.negatives), Fraction(found.positives)):
        if exceeds(metric.value(fp, fn, found.positives, found.negatives), level):
            audit.differ(
                f"lower bound {show(certificate.lower_bound)}: it does not follow from the cuts, "
                f"which allow {show(fp)} false positives with {show(fn)} false negatives"
            )
            return
    audit.done("the lower bound follows from the cuts")


def _corners(
    lines: Sequence[Line], negatives: Fraction, positives: Fraction
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the lower corners of what cuts leave."""
    zero, one = Fraction(0), Fraction(1)
    ends = [(zero, one, zero), (zero, one, positives)]
    places = {zero, negatives}
    for (a, b, v), (d, e, w) in combinations([*lines, *ends], 2):
        if a * e != b * d:
            places.add((v * e - b * w) / (a * e - b * d))
    for fp in places:
        fn = _least(lines, fp, positives) if 0 <= fp <= negatives else None
        if fn is not None:
            yield fp, fn


def _least(lines: Sequence[Line], fp: Fraction, most: Fraction) -> Fraction | None:
    """Return the fewest false negatives that cuts leave; None if they leave none."""
    least = Fraction(0)
    for a, b, v in lines:
        left = v - a * fp
        if left > 0 and not b:
            return None
        least = max(least, left / b if b else Fraction(0))
    return least if least <= most else None
