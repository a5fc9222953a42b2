"""Certificates of trees within limits: totals, dual cuts, and proofs that no tree keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from certree.tree._plain import plain_fields, read_fields

from ._certificate import Exact, exact, show
from ._task_certificate import TaskCertificate

Cut = tuple[Exact, ...]
"""``(a, b_1, ..., b_n, v)``: every tree has ``a * cost + sum(b_j * total_j) >= v``."""


class Reach(NamedTuple):
    """How near trees come to a bound.

    Attributes
    ----------
    bound : int or Fraction
        No tree comes nearer than this.
    attained : int or Fraction or None
        The total of some tree; the same as `bound`, unless the search was stopped.
    """

    bound: Exact
    attained: Exact | None


@dataclass(frozen=True)
class LimitValue:
    """A limit, and the total of a tree.

    Attributes
    ----------
    name : str
        Name of the limit.
    value : int or Fraction or None
        Total of the tree; None if there is no tree.
    at_most, at_least : int or Fraction or None
        The bounds, as they were given.
    rounding : int or Fraction
        The rounding of totals: 0, since limits are kept exactly.
    unit : int or Fraction
        All totals are multiples of this.
    least : Reach or None
        If no tree keeps all limits, and there is an `at_most`: the least total of any tree that
        keeps `at_least`.
    greatest : Reach or None
        If no tree keeps all limits, and there is an `at_least`: the greatest total of any tree that
        keeps `at_most`.
    """

    name: str
    value: Exact | None
    at_most: Exact | None
    at_least: Exact | None
    rounding: Exact = 0
    unit: Exact = 1
    least: Reach | None = None
    greatest: Reach | None = None

    @property
    def closest(self) -> Exact | None:
        """The attained total nearest to the bounds; that of the tree, if there is one."""
        if self.value is not None:
            return self.value
        found = [
            reach.attained
            for reach in (self.least, self.greatest)
            if reach is not None and reach.attained is not None
        ]
        return min(found, key=self.excess, default=None)

    def excess(self, total: Exact) -> Exact:
        """Return how far a total is out of bounds; 0 if it is within."""
        over = [Fraction(0)]
        if self.at_most is not None:
            over.append(Fraction(total) - self.at_most)
        if self.at_least is not None:
            over.append(Fraction(self.at_least) - total)
        return exact(max(over))

    @property
    def is_kept_alone(self) -> bool | None:
        """Whether some tree keeps this limit alone, without the others; None if unknown."""
        closest = self.closest
        if closest is not None and self.excess(closest) == 0:
            return True
        for reach, sign in ((self.least, 1), (self.greatest, -1)):
            limit = self.at_most if sign == 1 else self.at_least
            if reach is not None and limit is not None and sign * (reach.bound - limit) > 0:
                return False
        return None

    def bounds_text(self) -> str:
        """Return the bounds in words."""
        parts = []
        if self.at_least is not None:
            parts.append(f"at least {show(self.at_least)}")
        if self.at_most is not None:
            parts.append(f"at most {show(self.at_most)}")
        return " and ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; exact numbers that are not whole become text such as "7/3"."""
        return plain_fields(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LimitValue:
        """Rebuild the limit from `to_dict`; ValueError for other values."""
        return cls(**read_fields(cls, data))


@dataclass(frozen=True, repr=False)
class LimitedCertificate(TaskCertificate):
    """The proof about the best tree that keeps limits on its totals, or that no tree keeps them.

    As :class:`TaskCertificate`; bounds and statement are about trees within the limits.

    Attributes
    ----------
    limits : tuple of LimitValue
        The limits, with the totals of the tree; without a tree, with how near trees come.
    proof : str
        If the status is "infeasible": "dual" if a limit or one of `cuts` shows by itself that no
        tree keeps the limits, "search" if a search of the remaining trees proved it. Otherwise "".
    cuts : tuple of (a, b_1, ..., b_n, v)
        What searches without limits have proven: every tree has
        ``a * cost + b_1 * total_1 + ... + b_n * total_n >= v``.
    dual_bound : int or Fraction or None
        The lower bound that these give for trees within the limits, if there is a tree.
    n_rounds : int
        Number of searches in the gap that was left between this bound and a tree.
    leaf_minimum : tuple of (label, int)
        Rows that labels need in each leaf that has them.

    Examples
    --------
    >>> from certree import solve, tasks
    >>> task = tasks.Misclassification() & tasks.Limit("ones", {1: 1}, at_most=1)
    >>> solution = solve(task, [[0], [1], [1]], [1, 0, 1], max_depth=1)
    >>> solution.certificate.cost, solution.certificate.limits[0].value
    (1, 1)
    >>> task = tasks.Misclassification() & tasks.Limit("ones", {1: 1}, at_least=7)
    >>> certificate = solve(task, [[0], [1], [1]], [1, 0, 1], max_depth=1).certificate
    >>> certificate.status, certificate.limits[0].closest
    ('infeasible', 3)
    """

    limits: tuple[LimitValue, ...] = ()
    proof: str = ""
    cuts: tuple[Cut, ...] = ()
    dual_bound: Exact | None = None
    n_rounds: int = 0
    leaf_minimum: tuple[tuple[str, int], ...] = ()

    def _limit_texts(self) -> list[str]:
        totals = (f"a total of {one.name!r} of {one.bounds_text()}" for one in self.limits)
        return [*self._size_texts(), *totals]

    def _size_texts(self) -> list[str]:
        """Return the limits that are not on totals, each in words."""
        minima = (
            f"at least {number} rows for {label!r} in every leaf that has it"
            for label, number in self.leaf_minimum
        )
        return [*super()._limit_texts(), *minima]

    def _infeasible_text(self) -> str:
        trees = self._no_tree(self._size_texts())
        if len(self.limits) == 1:
            limit = self.limits[0]
            return (
                f"{trees} has a total of {limit.name!r} of {limit.bounds_text()} on these rows; "
                f"{_closest_text(limit)}."
            )
        if not self.limits:
            return f"{trees} has enough rows for the labels of all its leaves."
        how = "; ".join(
            f"{limit.name!r} {limit.bounds_text()}: {_closest_text(limit)}" for limit in self.limits
        )
        text = f"{trees} keeps to all {len(self.limits)} limits on these rows. {how}."
        if all(limit.is_kept_alone for limit in self.limits):
            text += " Each limit can be kept by itself, but not all of them by one tree."
        return text

    def _facts_of_tree(self) -> list[tuple[str, str]]:
        facts = super()._facts_of_tree()
        if self.dual_bound is not None:
            facts.insert(3, ("dual bound", show(self.dual_bound)))
        if self.proof:
            how = {"dual": "by a dual cut", "search": "by search"}
            facts.append(("proof", how.get(self.proof, self.proof)))
        totals = [
            f"{limit.bounds_text()}; {_closest_text(limit)}"
            if limit.value is None
            else f"{show(limit.value)}, {limit.bounds_text()}"
            for limit in self.limits
        ]
        facts[4:4] = [
            ("limit", f"{limit.name}: {text}")
            for limit, text in zip(self.limits, totals, strict=True)
        ]
        return facts


def _closest_text(limit: LimitValue) -> str:
    """Return in words how near trees come to a limit."""
    parts = []
    for reach, what in ((limit.least, "least"), (limit.greatest, "greatest")):
        if reach is None:
            continue
        within = _other_side(limit, reach, what)
        if reach.attained == reach.bound:
            parts.append(f"the {what}{within} that any tree has is {show(reach.bound)}")
        else:
            side = "no less" if what == "least" else "no more"
            known = "" if reach.attained is None else f", and one has {show(reach.attained)}"
            parts.append(f"trees have {side} than {show(reach.bound)}{within}{known}")
    return " and ".join(parts) if parts else "how near trees come was not found out"


def _other_side(limit: LimitValue, reach: Reach, what: str) -> str:
    """Return in words which trees were compared, if only those that keep the other bound."""
    near = reach.bound if reach.attained is None else reach.attained
    if what == "least" and limit.at_least is not None and near >= limit.at_least:
        return f" of at least {show(limit.at_least)}"
    if what == "greatest" and limit.at_most is not None and near <= limit.at_most:
        return f" of at most {show(limit.at_most)}"
    return ""
