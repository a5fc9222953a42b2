"""Limits on the whole tree as the user gave them: capacities, budgets, amounts and minima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree.exceptions import CertificateError

from ._audit import Audit, Data, Walk
from ._brute_force import Charges
from ._leaf_costs import Amounts, Leaves
from ._plain_numbers import Exact, as_array, exact, plain_list, read, show

Cut = tuple[Exact, ...]
"""``(a, b_1, ..., b_n, v)``: every tree has ``a * cost + sum(b_j * total_j) >= v``."""


@dataclass(frozen=True)
class Total:
    """A limit: amounts by row and label, and bounds on their total."""

    name: str
    amounts: Amounts
    at_most: Exact | None
    at_least: Exact | None

    def of(self, data: Data, rows: Sequence[int], label: int) -> Fraction:
        """Return what rows add up to with a label."""
        return sum((data.weights[row] * self.amounts[row][label] for row in rows), Fraction(0))

    def extreme(self, data: Data, choose: Callable[..., Any]) -> Fraction:
        """Return the least or greatest total that labels can give the rows."""
        parts = (data.weights[row] * choose(self.amounts[row]) for row in data.rows)
        return sum(parts, Fraction(0))

    def is_within(self, value: Exact) -> bool:
        """Return whether a total is within the bounds, exactly."""
        below = self.at_most is None or value <= self.at_most
        return below and (self.at_least is None or value >= self.at_least)

    def bounds_text(self) -> str:
        """Return the bounds in words."""
        parts = []
        if self.at_least is not None:
            parts.append(f"at least {show(self.at_least)}")
        if self.at_most is not None:
            parts.append(f"at most {show(self.at_most)}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Minimum:
    """How many rows a label needs in each leaf that has it, and which rows count."""

    needed: Mapping[Any, int]
    counts: Mapping[int, Sequence[int]]
    labels: Sequence[Any]

    def count(self, rows: Sequence[int], label: Any) -> int:
        """Return how many rows count for a label."""
        place = list(self.labels).index(label)
        return sum(self.counts[row][place] for row in rows)


@dataclass(frozen=True)
class Asked:
    """All limits that were asked for."""

    totals: Sequence[Total]
    minimum: Minimum | None

    @classmethod
    def of(cls, task: Any, data: Data, labels: Sequence[Any]) -> Asked:
        """Read the limits of a composed task."""
        totals = [_read_limit(limit, data, labels) for limit in task.limits]
        minimum = None
        if task.minimum is not None:
            minimum = _minimum(task.minimum.at_least, task.minimum.counts, data, labels)
        return cls(totals, minimum)


def read_asked(model: Any, data: Data, labels: Sequence[Any]) -> Asked:
    """Read the limits of an estimator from its parameters."""
    totals, minimum = [], None
    named = "treatment" if hasattr(model, "treatments_") else "class"
    for label, given in (model.capacity or {}).items():
        most = read(given, "capacity")
        if not isinstance(given, int | np.integer):
            most *= data.total()
        amounts = _amounts({label: 1}, labels, data.n_rows)
        totals.append(Total(f"{named} {label}", amounts, exact(most), None))
    if getattr(model, "budget", None) is not None:
        amounts = _amounts(model.treatment_costs, labels, data.n_rows)
        totals.append(Total("budget", amounts, exact(read(model.budget, "budget")), None))
    if getattr(model, "min_treated", None) is not None:
        received = model._received.tolist()
        counts = [[int(code == k) for k in range(len(labels))] for code in received]
        minimum = _minimum(model.min_treated, counts, data, labels)
    given = getattr(model, "limits", None) or ()
    for one in given if isinstance(given, list | tuple) else [given]:
        if hasattr(one, "amounts"):
            totals.append(_read_limit(one, data, labels))
        else:
            minimum = _minimum(one.at_least, one.counts, data, labels)
    return Asked(totals, minimum)


def _read_limit(limit: Any, data: Data, labels: Sequence[Any]) -> Total:
    upper, lower = (
        None if bound is None else exact(read(bound, f"limit {limit.name!r}"))
        for bound in (limit.at_most, limit.at_least)
    )
    return Total(limit.name, _amounts(limit.amounts, labels, data.n_rows), upper, lower)


def _amounts(given: Any, labels: Sequence[Any], n_rows: int) -> Amounts:
    """Return what a row adds with each label."""
    if isinstance(given, Mapping):
        columns = [[Fraction(0)] * n_rows for _ in labels]
        for label, numbers in zip(plain_list(list(given)), given.values(), strict=True):
            if label not in labels:
                raise CertificateError(f"a limit is for {label!r}, which is not in {list(labels)}.")
            flat = np.asarray(numbers, dtype=object)
            values = [numbers] * n_rows if flat.ndim == 0 else flat.tolist()
            columns[list(labels).index(label)] = [read(n, "an amount") for n in values]
        return {row: [column[row] for column in columns] for row in range(n_rows)}
    if callable(given):
        lines = [list(np.asarray(given(np.array([row])), dtype=object)) for row in range(n_rows)]
    else:
        table = as_array(given)
        lines = [table.tolist()] * n_rows if table.ndim == 1 else table.tolist()
    return {row: [read(n, "an amount") for n in line] for row, line in enumerate(lines)}


def _minimum(at_least: Any, counts: Any, data: Data, labels: Sequence[Any]) -> Minimum:
    needed = dict.fromkeys(labels, 0)
    if isinstance(at_least, Mapping):
        named = zip(plain_list(list(at_least)), at_least.values(), strict=True)
        needed.update({label: int(number) for label, number in named})
    else:
        needed = dict.fromkeys(labels, int(at_least))
    if counts is None:
        return Minimum(needed, {row: [1] * len(labels) for row in range(data.n_rows)}, labels)
    lines = np.asarray(counts).tolist()
    return Minimum(needed, {r: [int(n) for n in line] for r, line in enumerate(lines)}, labels)


@dataclass(frozen=True)
class LimitedTask:
    """The problem in the user's own numbers."""

    audit: Audit
    data: Data
    leaves: Sequence[Leaves]
    totals: Sequence[Total]
    minimum: Minimum | None
    charges: Charges | None = None

    @property
    def labels(self) -> Sequence[Any]:
        """The labels to choose from."""
        return self.leaves[0].labels or ()

    @property
    def penalty(self) -> Fraction:
        """What a split costs."""
        return Fraction(self.audit.certificate.split_penalty)

    @property
    def first(self) -> Fraction:
        """The penalty of the first leaf, which every tree pays if the penalty is per leaf."""
        per_leaf = self.audit.certificate.complexity_per == "leaf"
        return self.penalty if per_leaf else Fraction(0)

    def leaf_cost(self, k: int, walk: Walk) -> Fraction:
        """Return what a tree costs by an objective, without penalty."""
        leaves = self.leaves[k]
        parts = (leaves.of(walk.rows[leaf], walk.tree.value(leaf)) for leaf in walk.leaves)
        return sum(parts, Fraction(0))

    def total(self, total: Total, walk: Walk) -> Fraction:
        """Return the total of a limit for a tree."""
        place = {label: k for k, label in enumerate(self.labels)}
        return sum(
            (
                total.of(self.data, walk.rows[leaf], place[walk.tree.value(leaf)])
                for leaf in walk.leaves
            ),
            Fraction(0),
        )


def roundings(certificate: Any) -> list[Fraction]:
    """Return by how much costs may be off, for each objective."""
    stated = certificate.rounding
    return [Fraction(r) for r in (stated if isinstance(stated, tuple) else (stated,))]


# ---- the checks --------------------------------------------------------------------------------


def slack_of(certificate: Any, cut: Cut) -> Fraction:
    """Return how far rounding may move the two sides of a cut."""
    return abs(Fraction(cut[0])) * Fraction(certificate.rounding)
