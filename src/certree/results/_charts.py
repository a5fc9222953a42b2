"""The charts of histories, paths, fronts and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from certree import metrics
from certree.numbers._fractions import to_float

from ._chart import BLUE, INK, ORANGE, Chart, Point, Series

if TYPE_CHECKING:
    from ._certificate import Certificate
    from ._fairness import FairnessCurve
    from ._pareto import ParetoFront
    from ._path import PathEntry, RegularizationPath
    from ._validation import ValidationCurve

_SHADES = ("#2f81d6", "#7a5cc4", "#2a9d6f", "#b04a7a", "#6b7280")
"""Colours of lines side by side, none of them that of the choice."""


def history_chart(certificate: Certificate) -> Chart:
    """Return how incumbent and bound moved, from the first event to the end."""
    events = certificate.history
    end = max([certificate.seconds, *(event[0] for event in events)])
    uppers = [(event[0], to_float(event[2])) for event in events]
    lowers = [(event[0], to_float(event[3])) for event in events]
    uppers.append((end, to_float(certificate.upper_bound)))
    lowers.append((end, to_float(certificate.lower_bound)))
    series = [
        Series("best tree so far", uppers, BLUE, "step", ""),
        Series("proven lower bound", lowers, ORANGE, "step", ""),
    ]
    return Chart(series, "seconds", "cost", "Cost of the best tree and lower bound over time")


def path_chart(path: RegularizationPath) -> Chart:
    """Return cost against splits, with the trees that are best for some complexity."""
    total = Fraction(path.total_weight)

    def points(entries: Iterable[PathEntry]) -> list[Point]:
        return [(float(e.splits), to_float(e.errors / total)) for e in entries]

    series = [
        Series("best for its number of splits", points(path), BLUE, "step", "empty"),
        Series("best for some complexity", points(path.hull()), ORANGE, "straight", "full"),
    ]
    if not path.is_optimal:
        bounds = [(float(e.splits), to_float(e.lower_bound / total)) for e in path]
        series.append(Series("proven lower bound", bounds, INK, "step", "", is_dotted=True))
    cost = path.measures[0]
    what = f"training {cost} per weight"
    if cost.endswith("errors"):
        what = f"training {cost.removesuffix('s')}"
    title = f"{what.capitalize()} against the number of splits"
    return Chart(series, "splits", what, title, has_whole_x=True)


def front_chart(front: ParetoFront, picks: Sequence[Any] = ()) -> Chart:
    """Return false negatives against false positives, with the best trees of some metrics."""
    certificate = front.certificate
    points = [(to_float(fp), to_float(fn)) for fp, fn, _ in certificate.points]
    corners = {points[place] for place in front.is_supported.nonzero()[0]}
    others = sorted(point for point in points if point not in corners)
    so_far = "" if front.is_optimal else " so far"
    series = [
        Series("best for some weights of errors", sorted(corners), BLUE, "straight", "full"),
        Series(f"other nondominated trees{so_far}", others, BLUE, "", "empty"),
    ]
    if not front.is_optimal:
        low = _falling((to_float(fp), to_float(fn)) for fp, fn, _ in certificate.lower_points)
        series.append(Series("proven bound", low, INK, "step", "", is_dotted=True))
    chosen: dict[Point, list[str]] = {}
    for metric in map(metrics.get, picks):
        tree = front.best(metric).tree_
        place = next(i for i, other in enumerate(front.trees) if other is tree)
        chosen.setdefault(points[place], []).append(metric.name)
    for point, names in chosen.items():
        series.append(Series(f"best {', '.join(names)}", [point], ORANGE, "", "ring"))
    fp, fn = front.measures
    title = f"{fn.capitalize()} against {fp}"
    return Chart(series, f"{fp} (positive: {certificate.pos_label!r})", fn, title)


def fairness_chart(curve: FairnessCurve) -> Chart:
    """Return the least error against the tolerance."""
    points = list(zip(curve.tolerances.tolist(), curve.errors.tolist(), strict=True))
    # A short line after the last tree shows that larger tolerances gain nothing.
    after = [(min(1.0, x * 1.15 + 0.01), y) for x, y in points[-1:]]
    so_far = "" if curve.is_optimal else " so far"
    series = [
        Series("", [*points, *after], BLUE, "step", ""),
        Series(f"best tree within the tolerance{so_far}", points, BLUE, "", "full"),
    ]
    if not curve.is_optimal:
        total = Fraction(curve.certificates[0].total_weight) if len(curve) else Fraction(1)
        low = _falling((to_float(gap), to_float(cost / total)) for gap, cost in curve.lower_points)
        series.append(Series("proven bound", low, INK, "step", "", is_dotted=True))
    what = f"training {curve.measure}"
    return Chart(series, "tolerance", what, f"{what.capitalize()} against the tolerance")


def validation_chart(curve: ValidationCurve) -> Chart:
    """Return mean scores on rows left out, with bands of one standard error."""
    across, x, lines = curve._by_depth()
    series = [
        Series(
            f"{label}, with one standard error" if len(lines) == 1 else label,
            [(x[place], float(curve.mean[place])) for place in places],
            _SHADES[number % len(_SHADES)],
            "straight",
            "full",
            errors=[float(curve.standard_error[place]) for place in places],
        )
        for number, (label, places) in enumerate(lines)
    ]
    if curve.rule == "one_se" and curve.n_folds > 1:
        least = float(curve.mean[curve.best] - curve.standard_error[curve.best])
        level = [(min(x), least), (max(x), least)]
        series.append(Series("best less one error", level, INK, "straight", "", is_dotted=True))
    chosen = [(x[curve.chosen], float(curve.mean[curve.chosen]))]
    series.append(Series("chosen", chosen, ORANGE, "", "ring"))
    what = f"{curve.measure} on rows left out"
    title = f"{what} against the {across}"
    if across == "complexity":
        spread = min((place for place in x if place > 0), default=1.0)
        across = "complexity (smaller trees to the right)"
        return Chart(series, across, what, title, from_zero=False, x_spread=spread)
    return Chart(series, across, what, title, from_zero=False, has_whole_x=True)


def _falling(points: Iterable[Point]) -> list[Point]:
    """Return points by rising x, each with the least y so far."""
    ordered = sorted(points)
    least = accumulate((y for _, y in ordered), min)
    return [(x, y) for (x, _), y in zip(ordered, least, strict=True)]
