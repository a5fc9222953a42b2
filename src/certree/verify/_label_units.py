"""The unit of costs per label that had to be rounded.

A search counts the cost of every tree as a multiple of the unit, beside what all trees pay alike.
Let c(T) be what it counts for a tree T, and C(T) what T costs by the user's numbers. The rounding R
of a certificate is defined by ``|c(T) - C(T)| <= R`` for every tree T. Two trees with the same
splits, of which one leaf has the label k in the first and j in the second, differ by

    C(T_k) - C(T_j) = sum over the rows of the leaf of weight * (cost of k - cost of j).

``c(T_k) - c(T_j)`` is a multiple of the unit and differs from that sum by at most 2 R. So the sum
is within 2 R of a multiple, in any leaf of any tree, for weights that were rounded and for costs
that were rounded, and for rows that were grouped before they were counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from ._audit import Audit
from ._leaf_costs import Leaves
from ._plain_numbers import Exact, show


def check_unit_in_leaves(
    audit: Audit, leaves: Leaves, places: Iterable[Sequence[int]], rounding: Exact
) -> None:
    """Check that the labels of leaves cost multiples of the unit more or less, up to rounding.

    Parameters
    ----------
    audit : Audit
        With the certificate.
    leaves : Leaves
        What labels cost.
    places : iterable of sequences of int
        The rows of each leaf of some trees.
    rounding : number
        By how much the cost of a tree may be off.
    """
    unit = Fraction(audit.certificate.unit)
    if unit <= 4 * rounding or leaves.amounts is None:
        # Every number is within two roundings of a multiple.
        return
    for rows in places:
        for difference in _differences(leaves, rows):
            off = abs(difference - round(difference / unit) * unit)
            if off > 2 * rounding:
                audit.differ(
                    f"unit: certified {show(unit)}, but labels of a leaf differ by "
                    f"{show(difference)}, which is no multiple, also if it is off by "
                    f"{show(2 * rounding)}"
                )
                return


def _differences(leaves: Leaves, rows: Sequence[int]) -> Iterable[Fraction]:
    """Yield what each label costs some rows more than the first one of its output."""
    for weight, part in leaves.outputs or [(Fraction(1), leaves)]:
        first, *others = part.labels or [None]
        base = part.of(rows, first) if others else Fraction(0)
        for label in others:
            yield weight * (part.of(rows, label) - base)
