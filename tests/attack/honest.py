"""Attacks on what verify accepts: honest models of every criterion, on numbers of all kinds.

Losses with logarithms have their truth in decimals of many digits, all others in fractions.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from certree import (
    CostSensitiveTreeClassifier,
    LinearTreeRegressor,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    SurvivalTree,
    reduce,
)

from . import truth
from .checks import Attack, show
from .problems import ABSURD, HARD, Problem
from .trees import penalties

Loss = Callable[[list[int]], Fraction]
"""From places among the rows that count to what a leaf of these costs."""

_DIGITS = 60
"""Of logarithms."""


def logarithm(number: Fraction) -> Fraction:
    """Return a logarithm, to many digits."""
    with localcontext() as context:
        context.prec = _DIGITS
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


# ---- criteria of regression --------------------------------------------------------------------


def criterion(attack: Attack) -> None:
    """Trees of medians, quantiles and deviances, and their paths."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    kind = draw.one_of("absolute_error", "quantile", "poisson", "gamma")
    has_logs = kind in ("poisson", "gamma")
    targets, nature = draw.numbers((len(problem.X),), signed=not has_logs)
    problem.harder(nature)
    if kind == "gamma":
        targets = np.where(targets == 0, 1, targets)
    if draw.chance(0.2):
        targets, _ = targets + draw.one_of(1e6, 1e9), problem.harder(HARD)
    settings = {**draw.complexity(), **draw.search(), "criterion": kind}
    if kind == "quantile":
        settings["quantile"] = draw.one_of(0.1, 0.25, 0.5, "1/3", 0.9)
    problem.notes = {**settings, "targets": targets.tolist()}
    read = [truth.number(y) for y in problem.of_rows(targets)]
    if has_logs:
        # Far from one another, numbers of float64 have few digits of what they differ by.
        problem.harder(ABSURD if draw.wide or nature == ABSURD else HARD)
        loss = _deviance(problem, read, kind)
    else:
        level = truth.number(settings["quantile"]) if kind == "quantile" else None
        loss = _pinball(problem, read, level)
    model = OptimalTreeRegressor(**problem.sizes, **settings)
    _judge(attack, model, loss, targets, draw.chance(0.4))


def _pinball(problem: Problem, targets: list[Fraction], level: Fraction | None) -> Loss:
    above, below = (Fraction(1), Fraction(1)) if level is None else (level, 1 - level)

    def loss(rows: list[int]) -> Fraction:
        return min(
            sum(
                (
                    problem.weights[i] * max(above * (targets[i] - v), below * (v - targets[i]))
                    for i in rows
                ),
                Fraction(0),
            )
            for v in {targets[i] for i in rows}
        )

    return loss


def _deviance(problem: Problem, targets: list[Fraction], kind: str) -> Loss:
    logs = [logarithm(y) if y else Fraction(0) for y in targets]

    def loss(rows: list[int]) -> Fraction:
        if len({targets[i] for i in rows}) == 1:
            return Fraction(0)
        weight = sum((problem.weights[i] for i in rows), Fraction(0))
        total = sum((problem.weights[i] * targets[i] for i in rows), Fraction(0))
        of_mean = logarithm(total / weight)
        if kind == "gamma":
            own = sum((problem.weights[i] * logs[i] for i in rows), Fraction(0))
            return 2 * (weight * of_mean - own)
        own = sum((problem.weights[i] * targets[i] * logs[i] for i in rows), Fraction(0))
        return 2 * (own - total * of_mean)

    return loss


# ---- survival ----------------------------------------------------------------------------------


def survival(attack: Attack) -> None:
    """Trees of censored times, and their paths."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    times, nature = draw.numbers((len(problem.X),), signed=False)
    times = np.where(times == 0, 1, times)
    events = draw.rng.integers(0, 2, len(times))
    events[problem.rows[0]] = 1
    problem.harder(max(nature, ABSURD if draw.wide else HARD))
    settings = {**draw.complexity(), **draw.search()}
    target = np.column_stack([times.astype(float), events])
    problem.notes = {**settings, "target": target.tolist()}
    model = SurvivalTree(**problem.sizes, **settings)
    _judge(attack, model, _likelihood(problem, target), target, draw.chance(0.4))


def _likelihood(problem: Problem, target: np.ndarray) -> Loss:
    pairs = [target[i].tolist() for i in problem.rows]
    times, seen = [truth.number(t) for t, _ in pairs], [bool(event) for _, event in pairs]
    weights, places = problem.weights, range(len(pairs))
    lightest = min(weights)

    def hazard(place: int) -> Fraction:
        total = Fraction(0)
        for moment in {times[i] for i in places if seen[i] and times[i] <= times[place]}:
            ended = sum((weights[i] for i in places if seen[i] and times[i] == moment), Fraction(0))
            at_risk = sum((weights[i] for i in places if times[i] >= moment), Fraction(0))
            total += ended / at_risk
        return total or lightest / (problem.total + lightest)

    hazards = [hazard(place) for place in places]
    logs = [logarithm(one) for one in hazards]

    def loss(rows: list[int]) -> Fraction:
        events = sum((weights[i] for i in rows if seen[i]), Fraction(0))
        if not events:
            return Fraction(0)
        expected = sum((weights[i] * hazards[i] for i in rows), Fraction(0))
        own = sum((weights[i] * logs[i] for i in rows if seen[i]), Fraction(0))
        return -own - events * logarithm(events / expected)

    return loss


# ---- lines -------------------------------------------------------------------------------------


def lines(attack: Attack) -> None:
    """Trees with a line over one column in each leaf, often of rows that lie on lines."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    settings = {**draw.complexity(), **draw.search()}
    columns = [
        [truth.number(row[k]) for row in problem.X.tolist()]
        for k in range(problem.X.shape[1])
        if not any(isinstance(v, str) or v is None or v != v for v in problem.X[:, k].tolist())
    ]
    if columns and draw.chance(0.6):
        slopes = draw.rng.integers(-5, 6, 3).tolist()
        targets = np.array(
            [
                float(slopes[0] + slopes[problem.classes[i] % 2 + 1] * x)
                for i, x in enumerate(columns[0])
            ]
        )
        nature = HARD
    else:
        targets, nature = draw.numbers((len(problem.X),))
    problem.harder(max(nature, ABSURD if draw.wide else HARD))
    problem.notes = {**settings, "targets": targets.tolist()}
    read = [truth.number(y) for y in problem.of_rows(targets)]
    kept = [problem.of_rows(column) for column in columns]
    model = LinearTreeRegressor(**problem.sizes, **settings)
    if not kept:
        attack.call(lambda: model.fit(problem.X, targets, problem.given_weights))
        attack.verify(model, targets)
        return
    problem.sizes = {**problem.sizes, "min_samples_leaf": problem.sizes["min_samples_leaf"] + 1}

    def loss(rows: list[int]) -> Fraction:
        weights = [problem.weights[i] for i in rows]
        return min(_line(weights, [c[i] for i in rows], [read[i] for i in rows]) for c in kept)

    whole = truth.squared_error(problem.weights, read)
    _judge(attack, model, loss, targets, draw.chance(0.2), whole)


def _line(weights: list[Fraction], x: list[Fraction], y: list[Fraction]) -> Fraction:
    """Return the squared error around the best line."""
    total = sum(weights, Fraction(0))
    along, across = (
        sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0)) / total
        for values in (x, y)
    )
    rows = list(zip(weights, x, y, strict=True))
    spread = sum((w * (a - along) ** 2 for w, a, _ in rows), Fraction(0))
    common = sum((w * (a - along) * (b - across) for w, a, b in rows), Fraction(0))
    squares = sum((w * (b - across) ** 2 for w, _, b in rows), Fraction(0))
    return squares - common**2 / spread if spread else squares


def _judge(
    attack: Attack, model: Any, loss: Loss, y: Any, path: bool, whole: Fraction | None = None
) -> None:
    """Fit, compare cost and bounds with all trees, and let verify look at it."""
    problem, known = attack.problem, dict[tuple[int, ...], Fraction]()

    def leaf(rows: list[int]) -> list[tuple[Any, ...]]:
        key = tuple(rows)
        if key not in known:
            known[key] = loss(rows)
        return [(known[key],)]

    attack.call(lambda: model.fit(problem.X, y, problem.given_weights, path=path))
    certificate, sizes = model.certificate_, problem.sizes
    if not any(getattr(model, "model_units_", ())):
        trees = truth.AllTrees(len(problem.rows), problem.tests, leaf, sizes["min_samples_leaf"])
        points = trees.points(sizes["max_depth"], sizes["max_splits"])
        if whole is None:
            whole = leaf(list(range(len(problem.rows))))[0][0]
        penalty, fixed, off = penalties(problem, certificate, whole)
        reached = model.apply(problem.X)[problem.rows].tolist()
        found = sum(
            (
                leaf([k for k, node in enumerate(reached) if node == one])[0][0]
                for one in set(reached)
            ),
            Fraction(0),
        )
        attack.check_tree(model.tree_, (found,), points)
        found += penalty * model.tree_.n_splits + fixed
        optimum = min(p[0] + penalty * p[1] for p in points) + fixed
        rounding = Fraction(certificate.rounding) + off
        attack.judge(certificate, found, optimum, rounding)
        for entry in model.path_ if path else ():
            least = min(p[0] for p in points if p[1] <= entry.splits)
            if Fraction(entry.lower_bound) > least + rounding:
                attack.report.fail("status", f"bound {entry.lower_bound}, least {show(least)}")
    attack.verify(model, y)


# ---- reduced tables, and too little memory -----------------------------------------------------


def reduced(attack: Attack) -> None:
    """Trees of a reduced table with costs or rewards of any sign."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    costs, nature = draw.numbers((len(problem.X), draw.one_of(2, 3)))
    problem.harder(max(nature, HARD))
    names = [f"label {k}" for k in range(costs.shape[1])]
    features = [f"x{k}" for k in range(problem.X.shape[1])]
    settings = {**problem.sizes, **draw.complexity(), **draw.search()}
    problem.notes = {**settings, "costs": costs.tolist()}
    import pandas as pd

    table = pd.DataFrame({name: problem.X[:, k] for k, name in enumerate(features)})
    table[names] = costs.astype(float)
    options = {}
    if draw.chance(0.5):
        table["weight"] = np.round(draw.rng.uniform(0.1, 3, len(table)), 2)
        options["sample_weight"] = "weight"
    found = attack.call(lambda: reduce(table, features=features, costs=names, **options))
    model: Any
    if draw.chance(0.5):
        model = CostSensitiveTreeClassifier(classes=names, **settings)
    else:
        model = PolicyTree(treatments=names, maximise=draw.chance(0.5), **settings)
    attack.call(lambda: model.fit_reduced(found))
    attack.report.status = model.certificate_.status
    attack.verify_alone(model, found)


def memory(attack: Attack) -> None:
    """Models of all kinds with memory for a few tests only."""
    draw = attack.draw
    problem = attack.begin(draw.problem(n_classes=2))
    settings = {**problem.sizes, **draw.complexity(), "memory_limit": draw.one_of(1, 2000, 6000)}
    kind = draw.one_of("classes", "classes", "numbers", "costs")
    problem.notes = {**settings, "kind": kind}
    problem.harder(ABSURD)
    model: Any
    options: dict[str, Any] = {}
    y: Any = problem.y
    if kind == "classes":
        objective = draw.one_of("accuracy", "balanced_accuracy", "f1", "gmean", "mcc", "auc")
        model = OptimalTreeClassifier(objective=objective, **settings)
    elif kind == "numbers":
        loss = draw.one_of("squared_error", "absolute_error", "poisson")
        y, _ = draw.numbers((len(problem.X),), signed=False)
        model = OptimalTreeRegressor(criterion=loss, **settings)
    else:
        costs, _ = draw.numbers((len(problem.X), 2))
        model = CostSensitiveTreeClassifier(classes=[0, 1], **settings)
        y, options = None, {"costs": costs}
    attack.call(lambda: model.fit(problem.X, y, sample_weight=problem.given_weights, **options))
    certificate = model.certificate_
    attack.report.status = certificate.status
    if certificate.lower_bound > certificate.cost:
        attack.report.fail("status", "the lower bound is above the cost")
    attack.verify(model, y, **options)
