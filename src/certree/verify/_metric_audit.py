"""Check trees of a positive class: metrics of false positives and negatives, and areas."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

from certree.exceptions import CertificateError

from ._area import all_areas, area
from ._audit import Audit, Data, Walk
from ._brute_force import WORK_LIMIT, Point, TreeSizes, different, label_points, nondominated
from ._cut_bound import check_cut_bound, rests_on_cuts
from ._formulas import FORMULAS, as_float, exceeds, is_value
from ._plain_numbers import Exact, common_unit, exact, is_close, show, text

_NAMES = {
    "accuracy": "Accuracy",
    "auc": "AUC",
    "balanced_accuracy": "BalancedAccuracy",
    "cohen_kappa": "CohenKappa",
    "f1": "F1",
    "fowlkes_mallows": "FowlkesMallows",
    "front": "ErrorFront",
    "gmean": "GMean",
    "informedness": "Informedness",
    "jaccard": "Jaccard",
    "kappa": "CohenKappa",
    "macro_f1": "MacroF1",
    "mcc": "MCC",
}

# Most values of a user's metric that are compared with each other.
_MOST_VALUES = 100_000


@dataclass(frozen=True)
class Objective:
    """The objective to maximise.

    Attributes
    ----------
    name : str
        What certificates call it.
    kind : str
        Name of its class, "errors" for one that counts weighted errors, "function" for a function.
    given : object
        The metric or function of the user.
    max_fpr : Fraction or None
        For an area, the rate up to which it is taken.
    """

    name: str
    kind: str
    given: Any = None
    max_fpr: Fraction | None = None

    @property
    def counts_errors(self) -> bool:
        """Whether the cost is the weight of the errors."""
        return self.kind == "errors"

    @property
    def is_own(self) -> bool:
        """Whether the user wrote it."""
        return self.kind not in FORMULAS and self.kind not in ("errors", "ErrorFront", "AUC")

    def value(self, fp: Exact, fn: Exact, positives: Exact, negatives: Exact) -> Any:
        """Return the exact value, by the textbook definition or by the user's function."""
        if self.kind in FORMULAS:
            tp, tn = Fraction(positives - fn), Fraction(negatives - fp)
            return FORMULAS[self.kind](self.given, (tp, Fraction(fp), Fraction(fn), tn))
        if self.kind != "function":
            return Fraction(self.given.exact(fp, fn, positives, negatives))
        whole = [Fraction(number) for number in (fp, fn, positives, negatives)]
        value = self.given(*(n.numerator if n.denominator == 1 else float(n) for n in whole))
        value = getattr(value, "item", lambda: value)()
        return Fraction(value if isinstance(value, Rational | Decimal) else float(value))


def metric_of(objective: Any) -> Objective:
    """Return the objective that a parameter names.

    Raises
    ------
    CertificateError
        If no metric has this name.
    ValueError
        If this package does not know it.
    """
    if isinstance(objective, str):
        name = objective.lower()
        if name in ("accuracy", "balanced_accuracy"):
            return Objective(name, "errors")
        if name not in _NAMES:
            raise CertificateError(f"verify knows no metric called {objective!r}.")
        kind = _NAMES[name]
        name = "cohen_kappa" if name == "kappa" else name
        return Objective(name, kind, None, Fraction(1) if kind == "AUC" else None)
    kind = type(objective).__name__
    is_ours = type(objective).__module__.startswith("certree.")
    if is_ours and kind == "Custom":
        return Objective(objective.name, "function", objective.function)
    if is_ours and kind in ("AUC", "PartialAUC"):
        return Objective(objective.name, "AUC", objective, Fraction(objective.max_fpr))
    if is_ours and (kind in FORMULAS or kind == "ErrorFront"):
        return Objective(objective.name, kind, objective)
    if hasattr(objective, "exact") and hasattr(objective, "name"):
        return Objective(objective.name, f"{kind} of the user", objective)
    if not callable(objective):
        raise ValueError(f"verify does not know the objective {objective!r}.")
    return Objective(str(getattr(objective, "__name__", kind)), "function", objective)


@dataclass(frozen=True)
class Confusion:
    """Weights of rows by class and prediction."""

    fp: Exact
    fn: Exact
    positives: Exact
    negatives: Exact


def positive_class(audit: Audit, labels: Sequence[Any]) -> int:
    """Return the position of the positive class that the parameters ask for."""
    asked = audit.parameters["pos_label"]
    if asked is not None and asked not in labels:
        raise CertificateError(f"pos_label={asked!r} is not among the classes {list(labels)}.")
    return len(labels) - 1 if asked is None else labels.index(asked)


def compare_positive(audit: Audit, stated: Any, label: Any) -> None:
    """Compare the positive class; 1 and True are not the same."""
    if stated != label or type(stated) is not type(label):
        audit.differ(f"positive class: certified {stated!r}, recomputed {label!r}")


def count_confusion(data: Data, walk: Walk, positive: int) -> Confusion:
    """Count by going through the rows of every leaf."""
    fp: Exact = 0
    fn: Exact = 0
    totals: list[Exact] = [0, 0]
    for leaf in walk.leaves:
        says = walk.tree.label[leaf] == positive
        for row in walk.rows[leaf]:
            weight, is_positive = data.weights[row], data.classes[row] == positive
            totals[is_positive] += weight
            if says and not is_positive:
                fp += weight
            elif is_positive and not says:
                fn += weight
    return Confusion(exact(fp), exact(fn), exact(totals[1]), exact(totals[0]))


def check_metric_cost(
    audit: Audit, data: Data, walk: Walk, metric: Objective, labels: Sequence[Any]
) -> Exact:
    """Compare confusion, metric, cost and objective, and return the cost."""
    certificate, positive = audit.certificate, positive_class(audit, labels)
    found = count_confusion(data, walk, positive)
    compare_positive(audit, certificate.pos_label, labels[positive])
    for name in ("fp", "fn", "positives", "negatives"):
        if getattr(certificate, name) is None:
            audit.compare(name, None, getattr(found, name))
        else:
            audit.compare_within(name, getattr(certificate, name), getattr(found, name), data.slack)
    audit.done("false positives and false negatives")
    audit.raise_if_different()
    found = Confusion(certificate.fp, certificate.fn, certificate.positives, certificate.negatives)
    if metric.kind == "ErrorFront":
        audit.compare("cost", certificate.cost, found.fn)
        audit.compare("leaf cost", certificate.leaf_cost, found.fn)
        _compare_floats(audit, float(1 - found.fn / Fraction(found.positives)))
        return found.fn
    n_paid = len(walk.leaves) if certificate.complexity_per == "leaf" else walk.n_splits
    penalty = n_paid * Fraction(certificate.split_penalty)
    value = _value(metric, data, walk, found, positive)
    if not is_value(1 + penalty - certificate.cost, value):
        audit.differ(
            f"{metric.name}: certified {text(1 + penalty - certificate.cost)}, recomputed "
            f"{as_float(value):.15g}"
        )
    audit.compare("leaf cost", certificate.leaf_cost, certificate.cost - penalty)
    _compare_floats(audit, as_float(value) - float(penalty))
    _check_cuts(audit, data, found, walk.n_splits)
    if rests_on_cuts(audit, metric):
        quantum = certificate.weight_quantum
        unit = common_unit(data.weights.values()) if quantum is None else Fraction(quantum)
        check_cut_bound(audit, metric, found, unit)
    audit.done(f"{metric.name} and cost, from the confusion matrix")
    return exact(certificate.cost)


def _value(metric: Objective, data: Data, walk: Walk, found: Confusion, positive: int) -> Any:
    if metric.max_fpr is None:
        return metric.value(found.fp, found.fn, found.positives, found.negatives)
    steps = []
    for leaf in walk.leaves:
        step: list[Exact] = [0, 0]
        for row in walk.rows[leaf]:
            step[data.classes[row] == positive] += data.weights[row]
        steps.append((Fraction(step[0]), Fraction(step[1])))
    totals = (sum(step[0] for step in steps), sum(step[1] for step in steps))
    return area(steps, totals, metric.max_fpr)


def _compare_floats(audit: Audit, recomputed: float) -> None:
    if not is_close(audit.certificate.objective, recomputed):
        audit.compare("objective", audit.certificate.objective, recomputed)


def _check_cuts(audit: Audit, data: Data, found: Confusion, n_splits: int) -> None:
    """Check that the cuts hold for this tree and for single leaves."""
    points = [
        (found.fp, found.fn, n_splits),
        (0, found.positives, 0),
        (found.negatives, 0, 0),
    ]
    for a, b, c, least in audit.certificate.cuts or ():
        if any(a * fp + b * fn + c * splits < least for fp, fn, splits in points):
            audit.differ(
                f"cut: {text(a)} fp + {text(b)} fn + {text(c)} splits >= {text(least)} does not "
                "hold for the tree, or for a single leaf"
            )


# ---- by trying all trees -----------------------------------------------------------------------


def all_tests(data: Data) -> list[tuple[list[int], int]]:
    """Return the candidates as parts of the rows, with their columns.

    Raises
    ------
    ValueError
        If there are too many to try all trees.
    """
    n_tests, n_rows = len(data.tests), len(data.rows)
    if n_tests * n_rows > 8 * WORK_LIMIT:
        raise ValueError(
            f"the problem is too large for a proof by brute force: {n_tests} questions on {n_rows} "
            "rows; use exhaustive=False, fewer questions or fewer rows."
        )
    return [(data.parts(test), test["feature"]) for test in data.tests]


def all_points(audit: Audit, data: Data, positive: int, *, everything: bool = False) -> list[Point]:
    """Return (fp, fn, splits) of all nondominated trees.

    With `everything`, return all that differ.
    """
    amounts = []
    for row in data.rows:
        weight, nothing = Fraction(data.weights[row]), Fraction(0)
        right = (nothing, nothing)
        # Labelled as negative, and as positive.
        if data.classes[row] == positive:
            amounts.append([(nothing, weight), right])
        else:
            amounts.append([right, (weight, nothing)])
    keep = different if everything else nondominated
    sizes = TreeSizes.of(audit.certificate)
    per_split = [Fraction(0), Fraction(0)]
    return label_points(all_tests(data), amounts, per_split, sizes, keep)


def check_metric_optimum(
    audit: Audit, data: Data, metric: Objective, labels: Sequence[Any]
) -> None:
    """Prove the best value of a metric or area again by trying all trees."""
    certificate, positive = audit.certificate, positive_class(audit, labels)
    penalty, first = Fraction(certificate.split_penalty), certificate.complexity_per == "leaf"
    if metric.max_fpr is not None:
        best = min(
            1 - value + penalty * (splits + first)
            for value, splits in all_areas(
                all_tests(data),
                [data.classes[row] == positive for row in data.rows],
                [Fraction(data.weights[row]) for row in data.rows],
                TreeSizes.of(certificate),
                metric.max_fpr,
            )
        )
        _compare_bounds(audit, best)
        audit.done(f"optimum {show(best)}, by trying all trees")
        return
    if metric.kind == "ErrorFront":
        points = all_points(audit, data, positive)
        fewest = min(fn for fp, fn, _ in points if fp <= certificate.fp)
        _compare_bounds(audit, fewest)
        audit.done(f"{show(fewest)} false negatives at least, by trying all trees")
        return
    totals = (certificate.positives, certificate.negatives)
    points = _points_that_count(audit, data, metric, positive)
    for a, b, c, least in certificate.cuts or ():
        if min(a * fp + b * fn + c * splits for fp, fn, splits in points) < least:
            audit.differ(f"cut: {text((a, b, c, least))} does not hold for all trees")
    values = [
        (metric.value(fp, fn, *totals), penalty * (splits + first)) for fp, fn, splits in points
    ]
    # No value may exceed the bound of the certificate, and one must reach the cost.
    above = any(exceeds(v, 1 - Fraction(certificate.lower_bound) + p) for v, p in values)
    level = 1 - Fraction(certificate.cost)
    reached = any(is_value(level + p, v) or exceeds(v, level + p) for v, p in values)
    if above or not reached:
        audit.differ(
            f"optimum: the best {metric.name} over all trees is outside of the certified bounds "
            f"{text(level)} to {text(1 - Fraction(certificate.lower_bound))}"
        )
    audit.done(f"best {metric.name}, by trying all trees")


def _points_that_count(audit: Audit, data: Data, metric: Objective, positive: int) -> list[Point]:
    """Return points among which a metric has its greatest value.

    For a metric of a user these are the points of all trees. If they are too many, the metric must
    never rise with errors at any weights that the points could have.
    """
    if not metric.is_own:
        return all_points(audit, data, positive)
    try:
        return all_points(audit, data, positive, everything=True)
    except ValueError:
        values = _grid(audit, data, metric)
        if values is None:
            raise
    rising = _rises(values)
    if rising is not None:
        audit.differ(f"optimum: the metric {metric.name!r} is not monotone: {rising}")
    return all_points(audit, data, positive)


def _grid(audit: Audit, data: Data, metric: Objective) -> dict[tuple[Exact, Exact], Any] | None:
    """Return the metric at all weights that errors could have; None if these are too many."""
    certificate, unit = audit.certificate, common_unit(data.weights.values())
    negatives, positives = (
        int(Fraction(total) / unit) for total in (certificate.negatives, certificate.positives)
    )
    if (negatives + 1) * (positives + 1) > _MOST_VALUES:
        return None
    return {
        (i * unit, j * unit): metric.value(
            i * unit, j * unit, certificate.positives, certificate.negatives
        )
        for i in range(negatives + 1)
        for j in range(positives + 1)
    }


def _rises(values: Mapping[tuple[Exact, Exact], Any]) -> str | None:
    """Return two points of which the one with more errors is worth more, or None."""
    steps: list[tuple[Exact, Any, tuple[Exact, Exact]]] = []
    for point in sorted(values):
        value = values[point]
        at = bisect_right(steps, point[1], key=lambda step: step[0])
        if at and steps[at - 1][1] < value:
            return f"{text(point)} is worth more than {text(steps[at - 1][2])}"
        end = at
        while end < len(steps) and steps[end][1] >= value:
            end += 1
        steps[at:end] = [(point[1], value, point)]
    return None


def _compare_bounds(audit: Audit, best: Exact) -> None:
    certificate = audit.certificate
    if not certificate.lower_bound <= best <= certificate.cost:
        audit.differ(
            f"optimum: the best tree costs {text(best)}, outside of the certified bounds "
            f"{text(certificate.lower_bound)} to {text(certificate.cost)}"
        )
