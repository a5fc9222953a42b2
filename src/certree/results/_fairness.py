"""Fair trees: their certificates, and the price of fairness over all tolerances."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from certree.tasks._rates import CONSTRAINTS, allowed_by_rate, constraint_names, read_tolerance
from certree.tree import Tree
from certree.tree._plain import plain, shown

from ._card import card, sentence, table
from ._certificate import Certificate, Exact, exact, many, show
from ._chart import Chart
from ._charts import fairness_chart
from ._record import status_text
from ._trees import Trees

if TYPE_CHECKING:
    from certree.estimators import FairTreeClassifier

_MOST_LINES = 30
"""If a curve has more trees, some in the middle are not printed."""

_MOST_NAMES = 5
"""The most tests that are named if tests were left out."""


@dataclass(frozen=True, repr=False)
class FairnessCertificate(Certificate):
    """The proof that a fair tree is the best within the tolerance, or that no tree is within it.

    As :class:`Certificate`, with these additions.

    Attributes
    ----------
    constraint : str, tuple of str, or None
        What was compared between groups, a tuple where a list was asked for; None if no groups
        were given.
    tolerance : int or Fraction, or a tuple of them
        The largest difference of a rate between two groups that was allowed, by each constraint.
    groups : tuple
        The groups.
    rates : tuple of (str, tuple of (int or Fraction))
        Each rate that was compared, with its exact value in every group.
    disparity : int or Fraction or None
        The largest difference of a rate between two groups.
    differences : tuple of (str, object, object, int or Fraction)
        Every limit of the search: a rate, two groups, and the rate of the first minus that of the
        second. Without a tree: the smallest difference of any tree that need not keep the other
        limits, as far as it is known.
    unconstrained_cost : int or Fraction or None
        A lower bound on the cost of all trees, fair or not; the cost of the best one, if that was
        proven. The price of fairness is the rest of the cost. If this is None, it is zero.
    least_disparity : int or Fraction or None
        The least that any tree within the other limits has; given if the status is "infeasible".
    left_out : tuple of str
        Tests that only state the group, and were left out for this reason.
    use_sensitive : bool
        Whether trees may ask for the group.
    cuts : tuple of (a, b_1, ..., b_n, v)
        What searches without limits have proven: every tree has ``a * cost + b_1 * d_1 + ... +
        b_n * d_n >= v`` for its differences d in the order of `differences`.

    Examples
    --------
    >>> from certree import FairTreeClassifier
    >>> X, y, a = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], ["f", "f", "m", "m"]
    >>> model = FairTreeClassifier(max_depth=2, tolerance=0).fit(X, y, sensitive_features=a)
    >>> model.certificate_.disparity, model.certificate_.left_out
    (0, ('x0 = 1',))
    """

    constraint: str | tuple[str, ...] | None = None
    tolerance: Exact | tuple[Exact, ...] = 1
    groups: tuple[Any, ...] = ()
    rates: tuple[tuple[str, tuple[Exact, ...]], ...] = ()
    disparity: Exact | None = None
    differences: tuple[tuple[str, Any, Any, Exact | None], ...] = ()
    unconstrained_cost: Exact | None = None
    least_disparity: Exact | None = None
    left_out: tuple[str, ...] = ()
    use_sensitive: bool = False
    cuts: tuple[tuple[Exact, ...], ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FairnessCertificate:
        """Rebuild a certificate from what `to_dict` returned."""
        restored = super().from_dict(data)
        restored._check_groups()
        return restored

    def _check_groups(self) -> None:
        """Raise ValueError if the fields about groups do not agree."""
        if self.constraint is not None:
            names = constraint_names(self.constraint)
            if not names or not set(names) <= set(CONSTRAINTS):
                raise ValueError(
                    f"constraint must be one of {', '.join(CONSTRAINTS)}, got "
                    f"{shown(self.constraint)}."
                )
            if isinstance(self.constraint, str) == isinstance(self.tolerance, tuple) or (
                isinstance(self.tolerance, tuple) and len(self.tolerance) != len(names)
            ):
                raise ValueError(
                    f"tolerance must be one number for each of {len(names)} constraints, got "
                    f"{shown(self.tolerance)}."
                )
        for name, rates in self.rates:
            if (
                not rates
                or len(rates) != len(self.groups)
                or not 0 <= min(rates) <= max(rates) <= 1
            ):
                raise ValueError(
                    f"rates must have a number from 0 to 1 for each of {len(self.groups)} groups, "
                    f"but {shown(name)} does not."
                )

    def _value_in_words(self) -> tuple[str, ...]:
        apart = () if self.disparity is None else (f"groups {show(self.disparity)} apart",)
        return (*super()._value_in_words(), *apart)

    def _infeasible_text(self) -> str:
        text = super()._infeasible_text()
        if self.least_disparity is None:
            return text
        return f"{text[:-1]}; the closest that any comes is {show(self.least_disparity)}."

    def report(self) -> str:
        """Return a table of the rates of all groups, and how far they are apart.

        Examples
        --------
        >>> from certree import FairTreeClassifier
        >>> X, y, a = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], ["f", "f", "m", "m"]
        >>> model = FairTreeClassifier(max_depth=2, tolerance=0).fit(X, y, sensitive_features=a)
        >>> print(model.certificate_.report())
        group  selection rate
        'f'            1.0000
        'm'            1.0000
        apart          0.0000  (allowed: 0)
        """
        if not self.rates:
            return "There are no groups to compare, or no tree."
        titles = [_title(name) for name, _ in self.rates]
        lines = [[repr(group)] for group in self.groups] + [["apart"]]
        for _, rates in self.rates:
            apart = max(rates) - min(rates)
            for line, number in zip(lines, [*rates, apart], strict=True):
                line.append(f"{float(number):.4f}")
        if not isinstance(self.tolerance, tuple):
            table = _laid_out([["group", *titles], *lines])
            return f"{table}  (allowed: {show(self.tolerance)})"
        allowed = self.allowed
        lines.append(["allowed", *(show(allowed[name]) for name, _ in self.rates)])
        return _laid_out([["group", *titles], *lines])

    @property
    def allowed(self) -> dict[str, Exact]:
        """The largest difference that was allowed, for each rate that was compared."""
        if self.constraint is None:
            return {}
        each = self.tolerance if isinstance(self.tolerance, tuple) else (self.tolerance,)
        return {kind.name: most for kind, most in allowed_by_rate(self.constraint, each).items()}

    def _limit_texts(self) -> list[str]:
        limits = super()._limit_texts()
        rates: dict[Exact, list[str]] = {}
        for name, most in self.allowed.items():
            rates.setdefault(most, []).append(f"{_title(name)}s")
        for most, names in rates.items():
            limits.append(f"{' and '.join(names)} of groups at most {show(most)} apart")
        return limits

    @property
    def counts_errors(self) -> bool:
        """Whether the cost is weighted errors, and not that of a cost matrix or a metric."""
        return self.task != "cost" and super().counts_errors

    def _name(self) -> str:
        return "mean cost" if self.task == "cost" else super()._name()

    def _proven_and_found(self) -> tuple[str, str]:
        if self.task != "cost":
            return super()._proven_and_found()
        found = f"costs {show(self.cost)}, at most {self.gap_text()} more than the best"
        return f"costs less than {show(self.lower_bound)}", found

    def _errors(self, number: Exact) -> str:
        return f"{show(number)} in the leaves" if self.task == "cost" else super()._errors(number)

    def _facts(self) -> list[tuple[str, str]]:
        facts = super()._facts()
        if self.weight_quantum is not None and self.constraint is not None:
            told = f"rounded to multiples of {show(self.weight_quantum)} in costs, exact in rates"
            facts = [(name, told if name == "weights" else text) for name, text in facts]
        added = []
        for name, rates in self.rates:
            each = ", ".join(
                f"{group!r} {float(rate):.4g}"
                for group, rate in zip(self.groups, rates, strict=True)
            )
            added.append((_short_title(name), f"{each}: {_apart(rates)} apart"))
        if self.unconstrained_cost is not None:
            added.append(("unfair trees", f"cost at least {show(self.unconstrained_cost)}"))
        if self.left_out:
            names = ", ".join(self.left_out[:_MOST_NAMES])
            more = len(self.left_out) - _MOST_NAMES
            added.append(("left out", names + (f" and {more} more" if more > 0 else "")))
        return [*facts[:-1], *added, facts[-1]]


@dataclass(frozen=True)
class FairnessReport:
    """Rates of groups on some rows, by :meth:`FairTreeClassifier.fairness_report`.

    Attributes
    ----------
    groups : tuple
        The groups among these rows.
    rows : tuple of int
        Their numbers of rows.
    weights : tuple of float
        Their weights; numbers of rows, if rows have no weights.
    rates : dict
        For each rate a dict from groups to its value; NaN for a group that has no row to count.
    differences : dict
        For each rate the largest difference between two groups that have it.
    disparity : float
        The largest difference of a rate that the constraint of the model compares.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import FairTreeClassifier
    >>> X, y, a = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], ["f", "f", "m", "m"]
    >>> model = FairTreeClassifier(max_depth=2, tolerance=0).fit(X, y, sensitive_features=a)
    >>> print(model.fairness_report(X, y, sensitive_features=a))
    group  rows  selection rate  true positive rate  false positive rate  error rate
    'f'       2          1.0000              1.0000               1.0000      0.5000
    'm'       2          1.0000              1.0000                  nan      0.0000
    apart                0.0000              0.0000               0.0000      0.5000
    """

    groups: tuple[Any, ...]
    rows: tuple[int, ...]
    weights: tuple[float, ...]
    rates: dict[str, dict[Any, float]]
    differences: dict[str, float]
    disparity: float

    def __repr__(self) -> str:
        return f"<FairnessReport: {len(self.groups)} groups, {self.disparity:.6g} apart>"

    def __str__(self) -> str:
        return _laid_out(self._lines())

    def _repr_html_(self) -> str:
        heads, *lines = self._lines()
        told = sentence(f"Groups are {self.disparity:.6g} apart.")
        return card("Fairness report", told, table(heads, lines))

    def _lines(self) -> list[list[str]]:
        """Return a table of the rates: its head, a line for each group, and how far they differ."""
        sizes = {"rows": list(map(str, self.rows))}
        if self.weights != self.rows:
            sizes["weight"] = [f"{weight:g}" for weight in self.weights]
        lines = [["group", *sizes, *map(_title, self.rates)]]
        for place, group in enumerate(self.groups):
            numbers = [f"{of_groups[group]:.4f}" for of_groups in self.rates.values()]
            lines.append([repr(group), *(size[place] for size in sizes.values()), *numbers])
        apart = [f"{difference:.4f}" for difference in self.differences.values()]
        lines.append(["apart", *("" for _ in sizes), *apart])
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; groups become texts."""
        return {
            "groups": [str(group) for group in self.groups],
            "rows": list(self.rows),
            "weights": list(self.weights),
            "rates": {name: list(of_groups.values()) for name, of_groups in self.rates.items()},
            "differences": dict(self.differences),
            "disparity": self.disparity,
        }


CurvePoint = tuple[Exact, Exact, int]
"""Disparity, cost, and number of splits."""


class FairnessCurve(Trees["FairTreeClassifier"]):
    """The price of fairness: the best tree for every tolerance, from one search.

    Made by :meth:`FairTreeClassifier.fairness_curve`. A sequence of fitted models, by rising
    disparity and falling cost: all trees that no other beats in both.

    Parameters
    ----------
    model : FairTreeClassifier
        A model fitted to one of the points; the others are made from it.
    trees : sequence of Tree
        The trees, in the order of the points.
    certificates : sequence of FairnessCertificate
        The certificate of each tree.
    points : sequence of (disparity, cost, splits)
        Exact disparity, exact cost and splits of each tree.
    status : str
        "optimal": the points are complete; otherwise the reason why the search stopped.
    lower_points : sequence of (disparity, cost)
        If the search was stopped: for every tree, one of these is at most as great in both.
    least_tolerance : int or Fraction
        Where the curve begins: smaller tolerances were not asked for.
    seconds : float
        Time of the search, encoding included.

    Notes
    -----
    .. versionadded:: 0.1

    Examples
    --------
    >>> from certree import FairTreeClassifier
    >>> X, y, a = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1], ["f", "f", "m", "m"]
    >>> curve = FairTreeClassifier(max_depth=2).fairness_curve(X, y, sensitive_features=a)
    >>> curve.tolerances.tolist(), curve.costs.tolist()
    ([0.0], [1])
    >>> curve.at(0.2).predict(X).tolist()
    [1, 1, 1, 1]
    """

    def __init__(
        self,
        model: FairTreeClassifier,
        trees: Sequence[Tree],
        certificates: Sequence[FairnessCertificate],
        points: Sequence[CurvePoint],
        status: str,
        lower_points: Sequence[tuple[Exact, Exact]],
        least_tolerance: Exact,
        seconds: float,
    ) -> None:
        self._model = model
        self._trees = trees
        self._certificates = certificates
        self.points = tuple(points)
        self.status = status
        self.lower_points = tuple(lower_points)
        self.least_tolerance = least_tolerance
        self.seconds = seconds

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in the order of the points."""
        return tuple(self._trees)

    @property
    def certificates(self) -> tuple[FairnessCertificate, ...]:
        """The certificate of each tree."""
        return tuple(self._certificates)

    @property
    def tolerances(self) -> NDArray[np.float64]:
        """The tolerances at which the best tree changes: the disparity of each tree."""
        return np.array([float(point[0]) for point in self.points])

    @property
    def costs(self) -> NDArray[Any]:
        """The cost of each tree: weighted errors, or costs of a matrix, and penalty."""
        costs = [point[1] for point in self.points]
        whole = all(isinstance(cost, int) for cost in costs)
        return np.array([cost if whole else float(cost) for cost in costs])

    @property
    def errors(self) -> NDArray[np.float64]:
        """Share of the weight that each tree gets wrong; with a cost matrix, the mean cost."""
        shares = [c.leaf_cost / Fraction(c.total_weight) for c in self.certificates]
        return np.array([float(share) for share in shares])

    @property
    def measure(self) -> str:
        """What `errors` are called: "error", "weighted error", or "mean cost" by a cost matrix."""
        if self._model.cost_matrix is not None:
            return "mean cost"
        return "weighted error" if any(c.is_weighted for c in self._certificates[:1]) else "error"

    def __len__(self) -> int:
        return len(self._trees)

    def _entry(self, place: int) -> FairTreeClassifier:
        return self._fitted(place, self._certificates[place])

    def at(self, tolerance: Any) -> FairTreeClassifier:
        """Return the fitted model that is best for a tolerance.

        Parameters
        ----------
        tolerance : float, Fraction or str
            Read as the decimal or fraction that is written.

        Raises
        ------
        ValueError
            If no tree is within it.
        """
        allowed = read_tolerance(tolerance)
        places = [i for i, point in enumerate(self.points) if point[0] <= allowed]
        if not places:
            raise ValueError(self._nothing_within(tolerance, allowed))
        found = self._certificates[places[-1]]
        bound, status = self.bound(places[-1], exact(allowed))
        certificate = replace(
            found,
            tolerance=one_for_all(found.constraint, exact(allowed)),
            status=status,
            lower_bound=bound,
            gap=exact(found.cost - bound),
        )
        return self._fitted(places[-1], certificate)

    def bound(self, place: int, tolerance: Exact) -> tuple[Exact, str]:
        """Return the lower bound on the cost within a tolerance, and the status of a tree."""
        cost = self.points[place][1]
        bound = min([cost, *(c for apart, c in self.lower_points if apart <= tolerance)])
        if bound == cost:
            return bound, "optimal"
        return bound, "precision" if self.is_optimal else self.status

    def _nothing_within(self, tolerance: Any, allowed: Fraction) -> str:
        if not len(self):
            return "The curve has no trees."
        if allowed < self.least_tolerance:
            return (
                f"tolerance={tolerance!r} is below least_tolerance={show(self.least_tolerance)}, "
                "where the curve begins; ask for a curve with a smaller one."
            )
        closest = show(self.points[0][0])
        return f"No tree of the curve is within tolerance={tolerance!r}; the closest has {closest}."

    def _fitted(self, place: int, certificate: FairnessCertificate) -> FairTreeClassifier:
        model = copy.copy(self._model)
        model.tree_ = self._trees[place]
        most = certificate.tolerance
        model.tolerance = _short(most[0] if isinstance(most, tuple) else most)
        model._keep_certificate(certificate)
        return model

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: status, points, and each tree."""
        return {
            "status": self.status,
            "points": plain(self.points),
            "lower_points": plain(self.lower_points),
            "trees": [tree.to_dict() for tree in self.trees],
        }

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per tree: tolerance, error, cost, splits.

        The second column is "mean cost" with a cost matrix, and "weighted error" where rows or
        classes have weights.
        """
        return super().to_frame()

    def _columns(self) -> Mapping[str, Any]:
        return {
            "tolerance": self.tolerances,
            self.measure: self.errors,
            "cost": self.costs,
            "splits": [point[2] for point in self.points],
        }

    def _chart(self) -> Chart:
        return fairness_chart(self)

    def _title(self) -> str:
        return f"Fairness curve of {many(len(self), 'tree')}: {status_text(self.status)}"

    def _lines(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        errors = self.errors.tolist()
        lines = [
            (float(apart), error, show(cost), splits)
            for (apart, cost, splits), error in zip(self.points, errors, strict=True)
        ]
        return ("tolerance", self.measure, "cost", "splits"), lines

    def __repr__(self) -> str:
        return f"FairnessCurve({len(self)} trees, status={self.status!r})"

    def __str__(self) -> str:
        status, wide = status_text(self.status), max(10, len(self.measure))
        lines = [
            f"Fairness curve of {many(len(self), 'tree')}: {status}, {self.seconds:.3g} s",
            f"{'':>4} {'tolerance':>10} {self.measure:>{wide}} {'cost':>10} {'splits':>7}",
        ]
        shown = range(len(self))
        half = _MOST_LINES // 2
        for i in shown:
            if len(self) > _MOST_LINES and half <= i < len(self) - half:
                if lines[-1] != "   ...":
                    lines.append("   ...")
                continue
            apart, cost, splits = self.points[i]
            numbers = f"{float(apart):>10.4g} {self.errors[i]:>{wide}.4g} {show(cost):>10}"
            lines.append(f"{i:>4} {numbers} {splits:>7}")
        return "\n".join(lines)


def _laid_out(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as text; all columns but the first are right-aligned."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    )


def one_for_all(constraint: Any, tolerance: Exact) -> Exact | tuple[Exact, ...]:
    """Return a tolerance as certificates state it: once, or for each of several constraints."""
    return tolerance if isinstance(constraint, str) else (tolerance,) * len(constraint)


def _title(name: str) -> str:
    return name.replace("_", " ")


def _short_title(name: str) -> str:
    short = {
        "selection_rate": "selected",
        "true_positive_rate": "true pos.",
        "false_positive_rate": "false pos.",
        "error_rate": "errors",
    }
    return short.get(name, _title(name))


def _apart(rates: Sequence[Exact]) -> str:
    return f"{float(max(rates) - min(rates)):.4g}"


def _short(number: Exact) -> Any:
    """Return an exact number as a float that reads back as the same decimal, if there is one."""
    value = float(number)
    return value if Fraction(str(value)) == number else number
