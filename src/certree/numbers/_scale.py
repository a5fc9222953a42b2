"""The one map between what a search counts and what users read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm


@dataclass(frozen=True)
class Scale:
    """How the integers of a search relate to the user's cost.

    The search minimises ``U = error_scale * (units of the leaves) + split_penalty * splits``, and
    the cost is ``U * unit + constant``.

    Attributes
    ----------
    error_scale, split_penalty : int
        Factors of U.
    unit, constant : Fraction
        What one unit of U costs, and what every tree pays in addition.
    penalty : Fraction
        What a split costs, as the search has it.
    complexity : Fraction
        The penalty that was asked for, in units of the objective.
    """

    error_scale: int
    split_penalty: int
    unit: Fraction
    constant: Fraction
    penalty: Fraction
    complexity: Fraction

    @classmethod
    def of(
        cls,
        penalty: Fraction,
        leaf_unit: Fraction,
        complexity: Fraction,
        *,
        constant: Fraction = Fraction(0),
        per_leaf: bool = False,
        stated: Fraction | None = None,
    ) -> Scale:
        """Return the scale on which a split costs `penalty` units of the leaves.

        Parameters
        ----------
        penalty : Fraction
            What a split costs, in units of the leaves.
        leaf_unit : Fraction
            What one unit of the leaves costs the user.
        complexity : Fraction
            The penalty that was asked for.
        constant : Fraction
            What every tree costs in addition.
        per_leaf : bool
            Whether leaves pay the penalty: a binary tree has one leaf more than splits.
        stated : Fraction, optional
            The penalty to report, where the search may use a smaller one.
        """
        used = penalty * leaf_unit if stated is None else stated
        return cls(
            error_scale=penalty.denominator,
            split_penalty=penalty.numerator,
            unit=leaf_unit / penalty.denominator,
            constant=constant + (used if per_leaf else 0),
            penalty=used,
            complexity=complexity,
        )

    @cached_property
    def _line(self) -> tuple[int, int, int]:
        """Return factor, summand and denominator of the map, as integers."""
        unit, constant = self.unit, self.constant
        common = lcm(unit.denominator, constant.denominator)
        return int(unit * common), int(constant * common), common

    def cost(self, value: int | Fraction) -> Fraction:
        """Return the cost that U = `value` stands for."""
        # In integers until the end: this is done for every entry of a history.
        factor, summand, denominator = self._line
        if isinstance(value, Fraction):
            return (value * factor + summand) / denominator
        return Fraction(int(value) * factor + summand, denominator)

    def value(self, leaf_units: int, n_splits: int) -> int:
        """Return U of a tree."""
        return self.error_scale * leaf_units + self.split_penalty * n_splits

    def gap(self, accepted: Fraction, most: Fraction) -> int:
        """Return an accepted gap in units of U; more than `most`, what a leaf costs, is no more."""
        return int(min(accepted, most) / self.unit)


def fitting_penalty(wanted: Fraction, most: int) -> Fraction:
    """Return the nearest penalty with a denominator of at most `most`; 0 only for 0."""
    penalty = wanted.limit_denominator(max(most, 1))
    return Fraction(1, max(most, 1)) if wanted > 0 and penalty == 0 else penalty
