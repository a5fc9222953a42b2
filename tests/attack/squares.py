"""Attacks on regression trees: targets and weights of all kinds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from certree import OptimalTreeRegressor

from . import truth
from .checks import Attack, show
from .trees import penalties


def regressor(attack: Attack) -> None:
    """The tree of least squared error."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    targets, nature = draw.numbers((len(problem.X),))
    offset = draw.one_of(1e6, -1e9, 1e12) if draw.chance(0.2) else 0
    targets = targets + offset
    problem.harder(nature)
    settings = {**draw.complexity(), **draw.search()}
    problem.notes = {**settings, "targets": targets.tolist()}
    read = [truth.number(y) for y in problem.of_rows(targets)]

    def leaf(rows: list[int]) -> list[tuple[Any, ...]]:
        return [(truth.squared_error([problem.weights[i] for i in rows], [read[i] for i in rows]),)]

    sizes = problem.sizes
    trees = truth.AllTrees(len(problem.rows), problem.tests, leaf, sizes["min_samples_leaf"])
    points = trees.points(sizes["max_depth"], sizes["max_splits"])
    model = OptimalTreeRegressor(**sizes, **settings)
    attack.call(lambda: model.fit(problem.X, targets, problem.given_weights))
    certificate = model.certificate_
    everything = list(range(len(problem.rows)))
    whole = leaf(everything)[0][0]
    penalty, fixed, off = penalties(problem, certificate, whole)
    found = sum((leaf(rows)[0][0] for rows in _leaves(attack, model, read)), Fraction(0))
    attack.check_tree(model.tree_, (found,), points)
    found += penalty * model.tree_.n_splits + fixed
    optimum = min(p[0] + penalty * p[1] for p in points) + fixed
    rounding = Fraction(certificate.rounding) + off
    attack.judge(certificate, found, optimum, rounding)
    # Far from zero, float64 has few digits of what targets differ by, which is documented; and
    # squares of wide ranges are wider.
    if whole and not offset and not draw.wide:
        attack.check_rounding(rounding, whole / 10**6)
    attack.verify(model, targets)


def _leaves(attack: Attack, model: Any, read: list[Fraction]) -> list[list[int]]:
    """Return the rows of every leaf, after checking that leaves predict their means."""
    problem = attack.problem
    reached, predicted = model.apply(problem.X), model.predict(problem.X)
    scale = max(map(abs, read)) or 1
    leaves: list[list[int]] = []
    for leaf in np.unique(reached[problem.rows]):
        rows = [k for k, i in enumerate(problem.rows) if reached[i] == leaf]
        total = sum((problem.weights[k] for k in rows), Fraction(0))
        mean = sum((problem.weights[k] * read[k] for k in rows), Fraction(0)) / total
        for k in rows:
            value = Fraction(float(predicted[problem.rows[k]]))
            if abs(value - mean) > scale / 10**9:
                attack.report.fail("stated", f"a leaf predicts {show(value)}, not {show(mean)}")
                break
        leaves.append(rows)
    return leaves
