"""What is asked of a fit, as a record that the table of routes reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from certree.numbers._exact import read_fraction

ERRORS = "errors"
"""Weighted errors of classes: accuracy and balanced accuracy."""
COSTS = "costs"
"""What labels cost rows: cost matrices, costs of rows, rewards."""
LEAVES = "leaves"
"""Costs of leaves that have no labels: squared errors, survival, models in leaves."""
WEIGHTS = "weights"
"""Metrics that solves for one pair of weights after the other maximise: F1, MCC."""
MONOTONE = "monotone"
"""Metrics of which only the direction is known, as of a user's function."""
CHAIN = "chain"
"""Areas under curves."""
DECISIONS = "decisions"
"""What decisions by predicted costs cost more than the best ones."""
SEVERAL = "several"
"""Several objectives at once, each with costs per label."""
PARTS = "parts"
"""An objective by its parts, with a combining operator of its own."""
FRONT = "front"
"""All trees that no other beats in both kinds of errors."""

METRICS = (WEIGHTS, MONOTONE, CHAIN, FRONT)
"""Objectives that are functions of false positives and negatives, and no sums over leaves."""

LIMITS = ("capacity", "limits", "treatment_costs", "budget", "min_treated")
"""What bounds totals over the whole tree, by the names that users write."""

_BOUNDS = ("max_depth", "max_splits", "max_leaf_nodes", "n_clusters")

NEUTRAL: dict[str, Any] = {
    "objective": "accuracy",
    "splits": "binary",
    "category_tests": "one",
    "search": "auto",
    "complexity": Fraction(0),
    "gap": Fraction(0),
    "quantile": Fraction(1, 2),
    "complexity_per": "split",
}
"""What asks for nothing, where that is neither None nor False."""


@dataclass(frozen=True)
class Objective:
    """What is to be optimised.

    Attributes
    ----------
    kind : str
        How it is searched: one of the constants above, such as `ERRORS`.
    name : str
        What users call it.
    """

    kind: str
    name: str


@dataclass(frozen=True)
class Asked:
    """All that decides which search answers, and nothing about the values of rows.

    Attributes
    ----------
    by : str
        The estimator or function that was called.
    objective : Objective
        What is to be optimised.
    given : mapping
        Parameters and arguments by the names that users write, with the values that they gave.
        What is not among them is not asked.
    n_outputs : int
        Number of columns of y.
    """

    by: str
    objective: Objective
    given: Mapping[str, Any] = field(default_factory=dict)
    n_outputs: int = 1

    def __getitem__(self, name: str) -> Any:
        return self.given.get(name, NEUTRAL.get(name))

    def asks(self, name: str) -> bool:
        """Return whether something is asked that has this name."""
        value, neutral = self[name], NEUTRAL.get(name)
        if isinstance(neutral, Fraction):
            return read_fraction(value, name) != neutral
        if isinstance(neutral, str):
            return not isinstance(value, str) or value.lower() != neutral
        if isinstance(value, bool | np.bool_ | list | tuple):
            return bool(value)
        return value is not None

    def first(self, names: tuple[str, ...]) -> str | None:
        """Return the first of some names that is asked, if one is."""
        if self.named.isdisjoint(names):
            return None
        return next((name for name in names if self.asks(name)), None)

    @cached_property
    def named(self) -> frozenset[str]:
        """Names that may be asked: the others have the value that asks for nothing."""
        return frozenset(
            name
            for name, value in self.given.items()
            if value is not None and value is not False and value is not NEUTRAL.get(name)
        )

    @property
    def has_limits(self) -> bool:
        """Whether totals over the whole tree are bounded."""
        return self.first(LIMITS) is not None

    @property
    def is_bounded(self) -> bool:
        """Whether trees have a greatest depth or number of splits."""
        return any(self[name] is not None for name in _BOUNDS)

    @property
    def is_multiway(self) -> bool:
        """Whether tests may have more than two outcomes."""
        return self.asks("splits")
