"""The certificate of a fitted tree: its cost, the bound, the gap, and the trees searched."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from certree.exceptions import InfeasibleError
from certree.numbers._fractions import to_float

from ._chart_plot import draw
from ._chart_svg import svg
from ._charts import history_chart
from ._record import Record, status_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Exact = int | Fraction
"""An exact number: an int when it is whole, a Fraction otherwise."""


# Numbers of at least this size, and their reciprocals, are shown by their size.
_MOST_SHOWN = 10**40


def exact(value: Exact) -> Exact:
    """Return the same number, as an int when it is whole."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


@dataclass(frozen=True, repr=False)
class Certificate(Record):
    """The trees that were searched, and the proof about the tree found.

    All costs are exact numbers: int when whole, `fractions.Fraction` otherwise. For accuracy, the
    cost of a tree is its weighted training errors plus `split_penalty` per split (or per leaf),
    and ``objective = 1 - cost / total_weight``. For a metric of false positives and negatives, or
    an area under the ROC curve, ``cost = 1 - objective``; where a root makes that irrational, it is
    the nearest multiple of ``10**-15``. For a point of a front, the cost is the weight of the false
    negatives, and no tree with as few false positives has fewer.

    With limits on totals or rates there may be no tree: the status is "infeasible" if none exists,
    otherwise it says why none was found. Then `objective`, `cost`, `upper_bound`, `gap` and
    `leaf_cost` are None, and `n_splits` and `depth` are 0. `lower_bound` is None if the status is
    "infeasible".

    Attributes
    ----------
    status : str
        "optimal", "gap" (the accepted gap was reached), "time_limit", "memory_limit",
        "work_limit", "interrupted", "infeasible" (no tree keeps to the limits) or "precision": the
        rounding of weights is not negligible, or the weights that a metric needs next exceed 64
        bits.
    objective : float
        The value in the user's terms: accuracy, or another metric, minus
        ``complexity * n_splits`` (or leaves); the recall, for a point of a front.
    cost : int or Fraction
        The minimised number for the tree found; the same as `upper_bound`.
    lower_bound, upper_bound : int or Fraction
        No tree within the limits costs less than `lower_bound`; the best costs at most
        `upper_bound`.
    gap : int or Fraction
        ``upper_bound - lower_bound``; zero when the tree is proven optimal.
    leaf_cost : int or Fraction
        The cost without the penalty: the weighted errors, or one minus the metric.
    n_splits, depth : int
        Size of the tree found.
    seconds : float
        Wall-clock time of the fit, encoding included.
    counters : dict of str to int
        Work done by the search.
    history : tuple of (seconds, work, upper_bound, lower_bound)
        How incumbent and bound moved, in units of cost.
    task : str
        The objective that was asked for.
    max_depth, max_splits : int or None
        Limits on the trees searched; None: no limit.
    complexity : int or Fraction
        Penalty per split, or per leaf, in units of the objective.
    complexity_per : str
        "split" or "leaf".
    split_penalty : int or Fraction
        The same penalty in units of cost, as the search used it.
    min_samples_leaf : int
        Smallest number of rows in a leaf.
    n_rows, n_tests : int
        Number of rows and of tests asked for; rows of weight zero do not count.
    n_row_groups : int or None
        Number of different rows, if the search counted them.
    total_weight : int or Fraction
        Weight of all rows, class weights included.
    weight_quantum : int or Fraction or None
        The unit that the weights of rows, times those of their classes, were rounded to; None when
        they are used exactly.
    class_weights : tuple of (int or Fraction) or None
        Weight of each class as it was asked for, in the order of ``classes_``; None: all one.
    search : str
        The search that was asked for.
    version : str
        Version of certree that wrote the certificate.
    fp, fn : int or Fraction or None
        Weight of false positives and of false negatives, for objectives that have a positive class.
    positives, negatives : int or Fraction or None
        Weight of the rows of the positive class, and of the others.
    pos_label : object
        The positive class.
    n_solves : int or None
        Number of searches that the proof took, for a metric.
    cuts : tuple of (a, b, c, v) or None
        What these searches proved: every tree has ``a * fp + b * fn + c * splits >= v``. Limits and
        fairness have cuts of their own kind.
    n_tests_searched : int or None
        How many of the `n_tests` tests were searched, if the budget had no room for all; None: all
        of them. The lower bound always holds for all of them. Where there was no time to count the
        tests of some columns, `n_tests` is less than the number asked for.
    identifiers : tuple of str
        Columns whose values name single rows: trees were not asked for them.
    rounding : int or Fraction
        The sum over all rows of the change of their weight, times that of their class, by rounding;
        0 if weights are used exactly. The weighted errors of any tree differ by at most this from
        those with the given weights.

    Examples
    --------
    >>> from certree import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[0], [1], [1]], [0, 1, 0])
    >>> model.certificate_.status, model.certificate_.cost, model.certificate_.gap
    ('optimal', 1, 0)
    """

    status: str
    objective: float
    cost: Exact
    lower_bound: Exact
    upper_bound: Exact
    gap: Exact
    leaf_cost: Exact
    n_splits: int
    depth: int
    seconds: float
    counters: dict[str, int] = field(hash=False)
    history: tuple[tuple[float, int, Exact, Exact], ...]
    task: str
    max_depth: int | None
    max_splits: int | None
    complexity: Exact
    complexity_per: str
    split_penalty: Exact
    min_samples_leaf: int
    n_rows: int
    n_row_groups: int | None
    n_tests: int
    total_weight: Exact
    weight_quantum: Exact | None
    class_weights: tuple[Exact, ...] | None
    search: str
    version: str
    fp: Exact | None = None
    fn: Exact | None = None
    positives: Exact | None = None
    negatives: Exact | None = None
    pos_label: Any = None
    n_solves: int | None = None
    cuts: tuple[tuple[Exact, ...], ...] | None = None
    n_tests_searched: int | None = None
    rounding: Exact = 0
    identifiers: tuple[str, ...] = ()

    @property
    def has_tree(self) -> bool:
        """Whether a tree was found; if not, `status` says why."""
        return cast(Any, self.cost) is not None

    @property
    def counts_errors(self) -> bool:
        """Whether the cost is weighted errors, and not one minus a metric."""
        return self.positives is None

    @property
    def n_searched(self) -> int:
        """Number of tests that were searched."""
        return self.n_tests if self.n_tests_searched is None else self.n_tests_searched

    @property
    def is_optimal(self) -> bool:
        """Whether no tree within the limits is better: the gap is zero, and rounding negligible."""
        return self.gap == 0 and self.status != "precision"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how the cost of the best tree and the lower bound moved in time; return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Raises
        ------
        InfeasibleError
            If there is no tree.
        """
        if not self.has_tree:
            raise InfeasibleError(self)
        return draw(history_chart(self), ax, "certificate.history")

    def _chart(self) -> str:
        return svg(history_chart(self)) if self.has_tree and len(self.history) > 1 else ""

    def _in_few_words(self) -> tuple[str, ...]:
        if not self.has_tree:
            return (f"{self.n_rows} rows",)
        size = f"{many(self.n_splits, 'split')}, depth {self.depth}"
        return *self._value_in_words(), size, f"{self.n_rows} rows"

    def _value_in_words(self) -> tuple[str, ...]:
        """Return the value of the tree in few words, and the bound on the best value."""
        value = f"cost {show(self.cost)}"
        if not self.counts_errors:
            value = f"{self._name()} {self.objective:.6g}"
        return (value,) if self.is_optimal else (value, f"gap {self.gap_text()}")

    def statement(self) -> str:
        """Return the proven statement in one sentence.

        Examples
        --------
        >>> from certree import OptimalTreeClassifier
        >>> model = OptimalTreeClassifier(max_depth=1).fit([[0], [1], [1]], [0, 1, 0])
        >>> model.certificate_.statement()
        'No tree with depth at most 1 over this question makes fewer than 1 error on these rows.'
        """
        if self.is_infeasible:
            return self._infeasible_text()
        if not self.has_tree:
            return (
                f"The search was {status_text(self.status)} before a tree was found "
                f"with {self._limits()}; none costs less than {show(self.lower_bound)}."
            )
        trees = self._no_tree(self._limit_texts())
        proven, found = self._proven_and_found()
        if self.is_optimal:
            return f"{trees} {proven} on these rows."
        some = ""
        if self.n_tests_searched is not None:
            some = f" Only {self._tests_text()} were searched."
        if self._proves_nothing:
            return f"Nothing is proven yet; the tree found {found}.{some}"
        return f"{trees} {proven} on these rows; the tree found {found}.{some}"

    @property
    def _proves_nothing(self) -> bool:
        """Whether the lower bound is what any tree costs at least, without a search."""
        return self.counts_errors and self.lower_bound == 0

    def _infeasible_text(self) -> str:
        """Return in words that no tree keeps to the limits, and how near trees come."""
        return f"There is no tree with {self._limits()} over {text_of_tests(self.n_tests)}."

    def _no_tree(self, limits: list[str]) -> str:
        """Return the first words of a statement about all trees within limits."""
        within = f" with {_listed(limits)}" if limits else ""
        return f"No tree{within} over {text_of_tests(self.n_tests)}"

    def _proven_and_found(self) -> tuple[str, str]:
        """Return the lower bound and the result of the tree found in words."""
        if self.task == "front":
            fewer = f"{show(self.lower_bound)} false negatives"
            by = ", by weight," if self.is_weighted else ""
            proven = f"has at most {show(self.fp or 0)} false positives and fewer than {fewer}{by}"
            return proven, f"has {show(self.cost)}, at most {show(self.gap)} more than necessary"
        if not self.counts_errors:
            name = self._name() + ("" if self.complexity == 0 else " less penalty")
            proven = f"has {name} above {show(exact(1 - Fraction(self.lower_bound)))}"
            reached = show(exact(1 - Fraction(self.cost)))
            return proven, f"has {reached}, at most {self.gap_text()} less than the best"
        if self.task == "balanced_accuracy" and self.complexity == 0:
            least, reached, apart = (
                show(exact(1 - Fraction(cost) / self.total_weight))
                for cost in (self.lower_bound, self.cost, self.total_weight - self.gap)
            )
            found = f"has balanced accuracy {reached}, at most {apart} less than the best"
            return f"has balanced accuracy above {least}", found
        if self.complexity == 0:
            proven = f"makes fewer than {self._errors(self.lower_bound)}"
            found = f"makes {self._errors(self.cost)}"
        else:
            proven = f"costs less than {show(self.lower_bound)}"
            found = f"costs {show(self.cost)}"
        return proven, f"{found}, at most {self.gap_text()} more than the best"

    def gap_text(self) -> str:
        """Return the gap in words, with its share of the rows where it counts errors."""
        if not self.counts_errors:
            return show(self.gap)
        share = to_float(self.gap / Fraction(self.total_weight))
        return f"{show(self.gap)} ({share:.2%} {self.of_all()})"

    def _facts_of_tree(self) -> list[tuple[str, str]]:
        """Return what is known of the tree; without a tree, of the cost of all trees."""
        if not self.has_tree:
            return [] if self.is_infeasible else [("lower bound", show(self.lower_bound))]
        name = "recall" if self.task == "front" else self._name()
        penalty = "" if self.complexity == 0 else f" (penalty of {self._penalty()} included)"
        return [
            ("objective", f"{name} {self.objective:.6g}{penalty}"),
            ("cost", f"{show(self.cost)} = {self._breakdown()}"),
            ("lower bound", show(self.lower_bound)),
            ("gap", show(self.gap)),
            ("tree", f"{many(self.n_splits, 'split')}, depth {self.depth}"),
        ]

    def _facts(self) -> list[tuple[str, str]]:
        rows = f"{self.n_rows} rows"
        if self.n_row_groups:  # none are known if the search had no room to begin
            rows += f" ({self.n_row_groups} different)"
        if self.total_weight != self.n_rows:
            rows += f", total weight {show(self.total_weight)}"
        searched = self._limits() or "any depth and number of splits"
        facts = [
            *self._facts_of_tree(),
            ("searched", f"trees with {searched}, over {self._tests_text()}"),
            ("data", rows),
        ]
        if self.identifiers:
            facts.append(("not asked", f"{', '.join(self.identifiers)}, like an identifier"))
        if self.positives is not None and self.negatives is not None:
            wrong = f"{show(self.fp or 0)} false positives, {show(self.fn or 0)} false negatives"
            totals = f"{show(self.positives)} positives and {show(self.negatives)} negatives"
            by = ", by weight" if self.is_weighted else ""
            facts.insert(4, ("confusion", f"{wrong} of {totals}{by}"))
            facts.insert(5, ("positive", repr(self.pos_label)))
        if self.class_weights is not None:
            facts.append(("per class", "weights " + ", ".join(map(show, self.class_weights))))
        if self.weight_quantum is not None:
            told = f"rounded to multiples of {show(self.weight_quantum)}"
            facts.append(("weights", told + self._rounding_text()))
        facts.append(("seconds", f"{self.seconds:.4g}"))
        return facts

    def _tests_text(self) -> str:
        if self.n_tests_searched is None:
            return many(self.n_tests, "question")
        # Where there was no time to count the questions of all columns, there are more.
        return f"{self.n_tests_searched} of at least {many(self.n_tests, 'question')}"

    def _rounding_text(self) -> str:
        return f", by {show(self.rounding)} in all"

    def _limits(self) -> str:
        return _listed(self._limit_texts())

    def _limit_texts(self) -> list[str]:
        """Return the limits on trees, each in words."""
        limits = []
        if self.max_depth is not None:
            limits.append(f"depth at most {self.max_depth}")
        if self.max_splits is not None:
            limits.append(f"at most {many(self.max_splits, 'split')}")
        if self.min_samples_leaf > 1:
            # A tree without splits may have fewer rows than that.
            of = "" if self.min_samples_leaf <= self.n_rows else " of a split"
            limits.append(f"at least {self.min_samples_leaf} rows in every leaf{of}")
        return limits

    def of_all(self) -> str:
        """Return what shares of errors are told of: of the rows, unless these have weights."""
        return "of all weight" if self.is_weighted else "of the rows"

    @property
    def is_weighted(self) -> bool:
        """Whether errors are counted by weights of rows or classes."""
        return self.total_weight != self.n_rows or self.class_weights is not None

    def _errors(self, number: Exact) -> str:
        return f"{show(number)} {'weighted ' if self.is_weighted else ''}" + (
            "error" if number == 1 else "errors"
        )

    def _penalty(self) -> str:
        return f"{show(self.complexity)} per {self.complexity_per}"

    def _name(self) -> str:
        name = self.task.replace("_", " ")
        return f"weighted {name}" if name == "accuracy" and self.is_weighted else name

    def _breakdown(self) -> str:
        errors = self._errors(self.leaf_cost)
        if self.task == "front":
            errors = f"{show(self.leaf_cost)} false negatives"
            errors += ", by weight" if self.is_weighted else ""
        elif not self.counts_errors and self.task != "cost":
            value = exact(1 - Fraction(self.leaf_cost))
            errors = f"1 - {show(value)}" if value >= 0 else f"1 - ({show(value)})"
        if self.complexity == 0 or self.split_penalty == 0:
            return errors
        n = int((self.cost - self.leaf_cost) / Fraction(self.split_penalty or 1))
        unit = "leaf" if self.complexity_per == "leaf" else "split"
        return f"{errors} + {many(n, unit)} x {show(self.split_penalty)}"


def _listed(texts: list[str]) -> str:
    """Return texts with commas and an "and"."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if texts[1:] else texts)


def text_of_tests(n_tests: int) -> str:
    """Return the number of questions in words."""
    if n_tests == 0:
        return "an empty set of questions"
    return "this question" if n_tests == 1 else f"these {n_tests} questions"


def show(number: Exact) -> str:
    """Return an exact number as short text: a decimal when it ends, else with its fraction."""
    number = exact(number)
    size = abs(Fraction(number))
    if size >= _MOST_SHOWN or 0 < size * _MOST_SHOWN < 1:
        return f"~{Decimal(number.numerator) / Decimal(number.denominator):.7g}"
    if isinstance(number, int):
        return str(number)
    text = f"{to_float(number):.10g}"
    if not math.isfinite(to_float(number)):
        return f"~{text}"
    if Fraction(text) == number:
        return text
    if len(str(number)) > 12:
        return f"~{float(number):.7g}"
    return f"{float(number):.6g} ({number})"


def many(number: int, noun: str) -> str:
    """Return a number of things, such as ``1 split`` or ``3 leaves``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} leaves" if noun == "leaf" else f"{number} {noun}s"
