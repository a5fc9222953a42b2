"""The charts of histories, paths, fronts and curves that notebooks show."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from certree.numbers._fractions import to_float

from ._chart import BLUE, INK, ORANGE, Series, chart

if TYPE_CHECKING:
    from ._certificate import Certificate
    from ._fairness import FairnessCurve
    from ._pareto import ParetoFront
    from ._path import RegularizationPath
    from ._validation import ValidationCurve

_SHADES = ("#2f81d6", "#7a5cc4", "#2a9d6f", "#b04a7a", "#6b7280")
"""Colours of lines side by side, none of them that of the choice."""


def history_chart(certificate: Certificate) -> str:
    """Return how incumbent and bound moved, if they did."""
    events = certificate.history
    if len(events) < 2:
        return ""
    end = max(certificate.seconds, *(event[0] for event in events))
    uppers = [(event[0], to_float(event[2])) for event in events]
    lowers = [(event[0], to_float(event[3])) for event in events]
    uppers.append((end, to_float(certificate.upper_bound)))
    lowers.append((end, to_float(certificate.lower_bound)))
    series = [
        Series("best tree so far", uppers, BLUE, "step", ""),
        Series("proven lower bound", lowers, ORANGE, "step", ""),
    ]
    return chart(series, "seconds", "cost", "Cost of the best tree and lower bound over time")


def path_measure(path: RegularizationPath) -> str:
    """Return what charts of a path call the cost of the leaves, divided by the weight."""
    cost = path.measures[0]
    return "training error" if cost == "errors" else f"training {cost} per weight"


def path_chart(path: RegularizationPath) -> str:
    """Return cost against splits, with the trees that are best for some complexity."""
    total = Fraction(path.total_weight)

    def points(entries: object, bound: bool = False) -> list[tuple[float, float]]:
        return [
            (float(e.splits), to_float((e.lower_bound if bound else e.errors) / total))
            for e in entries  # type: ignore[attr-defined]
        ]

    series = [
        Series("best for its number of splits", points(path), BLUE, "step", "empty"),
        Series("best for some complexity", points(path.hull()), ORANGE, "straight", "full"),
    ]
    if not path.is_optimal:
        series.append(Series("proven lower bound", points(path, bound=True), INK, "step", ""))
    what = path_measure(path)
    return chart(series, "splits", what, f"{what.capitalize()} against the number of splits")


def front_chart(front: ParetoFront) -> str:
    """Return false negatives against false positives."""
    points = sorted((to_float(fp), to_float(fn)) for fp, fn, _ in front.certificate.points)
    corners = {
        (to_float(point[0]), to_float(point[1]))
        for point, is_corner in zip(front.certificate.points, front.is_supported, strict=True)
        if is_corner
    }
    others = [point for point in points if point not in corners]
    series = [
        Series("best for some weights of errors", sorted(corners), BLUE, "straight", "full"),
        Series("other nondominated trees", others, BLUE, "", "empty"),
    ]
    title = "False negatives against false positives"
    return chart(series, "false positives", "false negatives", title)


def fairness_chart(curve: FairnessCurve) -> str:
    """Return the least error against the tolerance."""
    points = list(zip(curve.tolerances.tolist(), curve.errors.tolist(), strict=True))
    series = [Series("best tree within the tolerance", points, BLUE, "step", "full")]
    if not curve.is_optimal and len(curve):
        total = Fraction(curve.certificates[0].total_weight)
        low = [(to_float(gap), to_float(cost / total)) for gap, cost in curve.lower_points]
        series.append(Series("proven bound", sorted(low), INK, "step", ""))
    what = f"training {curve.measure}"
    return chart(series, "tolerance", what, f"{what.capitalize()} against the tolerance")


def validation_chart(curve: ValidationCurve) -> str:
    """Return mean scores on rows left out, with bands of one standard error."""
    across, x, lines = curve._lines()
    series = [
        Series(
            f"{label}, with one standard error" if len(lines) == 1 else label,
            [(x[place], float(curve.mean[place])) for place in places],
            _SHADES[number % len(_SHADES)],
            "straight",
            "full",
            [float(curve.standard_error[place]) for place in places],
        )
        for number, (label, places) in enumerate(lines)
    ]
    chosen = [(x[curve.chosen], float(curve.mean[curve.chosen]))]
    series.append(Series("chosen", chosen, ORANGE, "", "full"))
    what = f"{curve.measure} on rows left out"
    return chart(series, across, what, f"{what} against the {across}", from_zero=False)
