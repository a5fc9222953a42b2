"""What a leaf costs, as the checks of certificates ask for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from ._audit import Audit, Data, Walk
from ._notes import Note

Amounts = Mapping[int, Sequence[Fraction]]
"""The cost or amount of each label for each row."""


@dataclass(frozen=True)
class Rates:
    """What the loss of one rate of events per leaf is computed from.

    Attributes
    ----------
    events, times : mapping
        Events and the time under observation of each row, with its weight.
    factor : int
        What the logarithm of the likelihood is multiplied by: two for a deviance.
    """

    events: Mapping[int, Fraction]
    times: Mapping[int, Fraction]
    factor: int


@dataclass(frozen=True)
class Leaves:
    """What leaves cost.

    Attributes
    ----------
    name : str
        What certificates call the task.
    of : callable
        From rows and what is predicted for them to the cost.
    least : callable
        From rows to the cost of the best prediction.
    objective : callable
        From a cost to the user's terms.
    whole : Fraction
        What a complexity of one costs.
    labels : list or None
        The labels to choose from; None: any value may be predicted.
    amounts : mapping or None
        What each label costs each row, if there are labels.
    target : mapping or None
        What is to be predicted, for a regression.
    noise : callable
        From rows to the largest error of float64 inside a function of the user.
    rates : Rates or None
        Events and times, where leaves cost the loss of one rate each.
    slopes : pair of int, or None
        For losses around quantiles: what a unit above and below the value of a leaf costs, in
        units of their greatest common divisor.
    inspect : callable, optional
        Compares what the leaves of a tree hold beside their predictions.
    predict : callable, optional
        From a table to what the leaves of its rows hold, if the model predicts something else.
    outputs : sequence of (Fraction, Leaves)
        What each of several outputs counts, and what its leaves cost.
    says : callable, optional
        From what a leaf holds and a row to the prediction, where these differ, and to the size of
        the terms that it adds up.
    allowed : callable, optional
        From a certificate to the most that rounding may take, where the task has its own rule.
    more_rows : int
        How many rows a leaf needs beyond ``min_samples_leaf``.
    counted : mapping or None
        The place among the labels of the class of each row, by which rows of nodes are counted.
    counts_best : bool
        Whether rows are counted by the label that is best for them; if not, and if they have no
        class, they are counted by what they get.
    of_groups : bool
        Whether the costs of rows were added up and rounded before the tree was grown, in a reduced
        table, so that what is best for single rows was not known.
    class_weights : sequence of Fraction, optional
        What an error costs each of the labels, where leaves cost errors.
    note : callable, optional
        From the rows of a node, and how far costs may be off, to what trees note on it.
    """

    name: str
    of: Callable[[Sequence[int], Any], Fraction]
    least: Callable[[Sequence[int]], Fraction]
    objective: Callable[[Fraction], float]
    whole: Fraction
    labels: Sequence[Any] | None = None
    amounts: Amounts | None = None
    target: Mapping[int, Fraction] | None = None
    noise: Callable[[Sequence[int]], Fraction] = lambda rows: Fraction(0)
    rates: Rates | None = None
    slopes: tuple[int, int] | None = None
    inspect: Callable[[Audit, Any, Walk], None] | None = None
    predict: Callable[[Any], Any] | None = None
    outputs: Sequence[tuple[Fraction, Leaves]] = ()
    says: Callable[[Any, int], tuple[Fraction, Fraction]] | None = None
    allowed: Callable[[Any], Fraction] | None = None
    more_rows: int = 0
    counted: Mapping[int, int] | None = None
    counts_best: bool = False
    of_groups: bool = False
    class_weights: Sequence[Fraction] | None = None
    note: Callable[[Sequence[int], Fraction], Note] | None = None

    def as_noted(self, tree: Any) -> Leaves:
        """Return the same as a tree shows them: without notes, it is one of groups of rows.

        Its rows are counted by what they get, and not by what is best for them.
        """
        if not self.counts_best or getattr(tree, "notes", None) is not None:
            return self
        return replace(self, counts_best=False, of_groups=True)

    def paid_by_all(self, data: Data) -> Fraction:
        """Return what every tree pays: the cheapest label of each row; 0 where there are none."""
        if self.amounts is None:
            return Fraction(0)
        parts = (data.weights[row] * min(line) for row, line in self.amounts.items())
        return sum(parts, Fraction(0))
