"""The certificate of a task: costs other than error counts, and the effect of rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from certree.numbers._fractions import to_float

from ._certificate import Certificate, Exact, show

_NAMES = {
    "squared_error": "R2",
    "linear_error": "R2",
    "ridge_error": "R2 less ridge",
    "reward": "mean reward",
    "cost": "mean cost",
    "survival": "explained deviance",
    **dict.fromkeys(("absolute_error", "quantile", "poisson", "gamma"), "D2"),
}
_LEAVES = {
    "squared_error": "squared error",
    "linear_error": "squared error",
    "ridge_error": "squared error and ridge",
    "reward": "lost against the best treatment of every row",
    "survival": "loss",
    "absolute_error": "absolute error",
    "quantile": "pinball loss",
    "poisson": "deviance",
    "gamma": "deviance",
}
_VERBS = {
    "cost": ("costs less than {}", "costs {}"),
    "squared_error": ("has a squared error below {}", "has {}"),
    "linear_error": ("has a squared error below {}", "has {}"),
    "ridge_error": ("has a squared error and ridge below {}", "has {}"),
    "reward": ("loses less than {}", "loses {}"),
    "survival": ("has a loss below {}", "has {}"),
    "absolute_error": ("has an absolute error below {}", "has {}"),
    "quantile": ("has a pinball loss below {}", "has {}"),
    "poisson": ("has a deviance below {}", "has {}"),
    "gamma": ("has a deviance below {}", "has {}"),
}
"""The lower bound and the result of the tree in words, if there is no penalty."""


_NOT_NEGATIVE = (
    *("squared_error", "linear_error", "ridge_error", "absolute_error", "quantile"),
    *("poisson", "gamma", "reward", "accuracy", "balanced_accuracy"),
)
"""Tasks in which no tree costs less than nothing."""


@dataclass(frozen=True, repr=False)
class TaskCertificate(Certificate):
    """The proof about a tree that minimises costs, regret, squared error or a leaf cost.

    As :class:`Certificate`, with these differences. `cost` is the total cost of the leaves,
    `leaf_cost` (for rewards: what is lost against the best treatment of every row), plus what rows
    pay for tests, plus the penalty. Real numbers were turned into integers first; see `rounding`.

    Attributes
    ----------
    objective : float
        The value in the user's terms, penalty included: mean cost, mean reward, R2, or the cost.
    rounding : int or Fraction
        The cost of any tree within the limits, as counted here, differs by at most this from the
        cost with the numbers as they were given; 0 when nothing was rounded. For a function of your
        own: from the sum of what it returns for the sums of the rounded statistics. Weights are
        used as they were given, except for prices of tests, which rows pay by rounded weights
        (`weight_quantum`).
    unit : int or Fraction
        All costs are multiples of this, apart from what every tree pays.
    test_cost : int or Fraction
        What all rows together pay for the tests that they pass, where these have prices.

    Examples
    --------
    >>> from certree import OptimalTreeRegressor
    >>> model = OptimalTreeRegressor(max_depth=1).fit([[0], [0], [1]], [1.0, 2.0, 7.5])
    >>> model.certificate_.cost, model.certificate_.gap
    (Fraction(1, 2), 0)
    >>> float(model.certificate_.rounding) < 1e-9
    True
    """

    rounding: Exact = 0
    unit: Exact = 1
    test_cost: Exact = 0

    @property
    def counts_errors(self) -> bool:
        """Whether the cost is weighted errors, and not that of another task or of a metric."""
        return self.task in ("accuracy", "balanced_accuracy") and self.positives is None

    @property
    def _proves_nothing(self) -> bool:
        is_known = self.task in _NOT_NEGATIVE and self.positives is None
        return is_known and self.lower_bound <= 0

    def _name(self) -> str:
        return _NAMES.get(self.task) or super()._name()

    def gap_text(self) -> str:
        """Return the gap in words."""
        return _short(self.gap)

    def _proven_and_found(self) -> tuple[str, str]:
        is_bare = self.complexity == 0 and self.test_cost == 0
        if self.positives is not None or (self.counts_errors and is_bare):
            # A metric within limits, or errors.
            return super()._proven_and_found()
        less, here = _VERBS.get(self.task if is_bare else "", _VERBS["cost"])
        if self._proves_nothing:
            # The bound is not told, so the tree says what it has.
            here = less.replace(" below ", " of ") if " below " in less else here
        found = here.format(_short(self.cost))
        proven = less.format(_short(self.lower_bound))
        return proven, f"{found}, at most {self.gap_text()} more than the best"

    def _facts(self) -> list[tuple[str, str]]:
        facts = [
            (name, _short(self.lower_bound) if name == "lower bound" else text)
            for name, text in super()._facts()
            # Only prices of tests are paid by rounded weights.
            if name != "weights" or self.test_cost
        ]
        if self.has_tree:
            facts[1] = ("cost", f"{_short(self.cost)} = {self._breakdown()}")
        if self.rounding:
            facts.insert(-1, ("rounding", f"costs are counted to {to_float(self.rounding):.3g}"))
        return facts

    def _rounding_text(self) -> str:
        # Costs are rounded after they are multiplied by weights as they were given.
        return " for prices of tests"

    def _breakdown(self) -> str:
        if self.positives is not None:
            return super()._breakdown()
        leaves = f"{_short(self.leaf_cost)} {_LEAVES.get(self.task, 'in the leaves')}"
        if self.counts_errors:
            leaves = self._errors(self.leaf_cost)
        if self.test_cost:
            leaves += f" + {_short(self.test_cost)} for tests"
        if self.complexity == 0 or self.split_penalty == 0:
            return leaves
        paid = self.leaf_cost + self.test_cost
        n_paid = round((self.cost - paid) / Fraction(self.split_penalty))
        unit = "leaves" if self.complexity_per == "leaf" else "splits"
        return f"{leaves} + {n_paid} {unit} x {_short(self.split_penalty)}"


def _short(number: Exact) -> str:
    """Return an exact number as text, long fractions as decimals."""
    text = show(number)
    return text if len(text) <= 20 else f"~{to_float(number):.10g}"
