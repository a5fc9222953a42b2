"""Attacks on fair trees: tolerances at differences that trees have, and whole curves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certree import FairTreeClassifier

from . import truth
from .checks import Attack, show
from .problems import Problem
from .trees import errors, judge_front, nature_of, penalties, row_weights, stated_rounding


@dataclass
class _Fair:
    """A problem with groups, and all its trees: their cost and their disparity."""

    attack: Attack
    problem: Problem
    constraint: str
    groups: list[str]
    settings: dict[str, Any]

    def __post_init__(self) -> None:
        problem = self.problem
        self.weights = row_weights(problem, self.settings["class_weight"])
        problem.harder(nature_of(self.weights, 2**40))
        self.whole = sum(self.weights, Fraction(0))
        groups = problem.of_rows(self.groups)
        self.n_groups = len(set(groups))
        shares = truth.shares(
            self.constraint,
            problem.of_rows(problem.classes),
            groups,
            problem.weights,
            problem.n_classes,
        )
        amounts = [
            [[*cost, *rates] for cost, rates in zip(row, of_rates, strict=True)]
            for row, of_rates in zip(errors(problem, self.weights), shares, strict=True)
        ]
        tests = problem.tests
        if not self.settings["use_sensitive"]:
            tests = [test for test in tests if not _says_only_the_group(test, groups)]
        self.trees = problem.trees(amounts, tests)
        apart = {p: self._apart(p) for p in self.trees.points}
        self.points = [(apart[p], p) for p in self.trees.points]

    def _apart(self, point: Any) -> int:
        return truth.disparity(self.constraint, self.n_groups, point[1:-1])

    def disparity(self, point: Any) -> Fraction:
        """Return the disparity of a point."""
        return Fraction(self._apart((*point, 0)), self.trees.scale)

    def within(self, tolerance: Fraction) -> list[Any]:
        """Return the points of trees within a tolerance."""
        most = tolerance * self.trees.scale
        return [p for apart, p in self.points if apart <= most]

    def of_tree(self, tree: Any) -> Any:
        """Return the sums of a tree, after checking that there is such a tree."""
        problem = self.problem
        labels = [int(label) for label in tree.predict(problem.X)[problem.rows]]
        sums = self.trees.sums(labels)
        self.attack.check_tree(tree, sums, self.trees.points)
        return sums

    def check_cuts(
        self, certificate: Any, penalty: Fraction, fixed: Fraction, rounding: Fraction
    ) -> None:
        """Try the proofs behind the bound on trees of all kinds."""
        points = sorted(self.trees.points)
        names = sorted(set(self.problem.of_rows(self.groups)))
        titles = [name for name, _ in certificate.rates]
        if not titles or not certificate.cuts:
            return
        vectors = []
        for p in points[:: max(1, len(points) // 200)]:
            rate = {
                (title, group): Fraction(p[1 + k * len(names) + g], self.trees.scale)
                for k, title in enumerate(titles)
                for g, group in enumerate(names)
            }
            differences = [
                rate[title, a] - rate[title, b] for title, a, b, _ in certificate.differences
            ]
            vectors.append([self.trees.cost(p, penalty) + fixed, *differences])
        cuts = [(c[:-1], c[-1]) for c in certificate.cuts]
        self.attack.check_cuts(cuts, vectors, [rounding, *[Fraction(0)] * len(differences)])


def _says_only_the_group(test: int, groups: list[str]) -> bool:
    """Return whether all rows of a group are on the same side of a test."""
    sides = {(group, test >> i & 1) for i, group in enumerate(groups)}
    return len(sides) == len(set(groups))


def _draw(attack: Attack) -> _Fair:
    draw = attack.draw
    n_classes = draw.one_of(2, 2, 2, 3)
    constraint = draw.one_of(*truth.RATES) if n_classes == 2 else "accuracy_parity"
    n_groups = draw.one_of(2, 2, 3) if n_classes == 2 else 2
    problem = attack.begin(draw.problem(n_classes, min_rows=2 * n_groups + 1))
    given, nature = draw.class_weight(n_classes) if draw.chance(0.5) else (None, 0)
    problem.harder(nature)
    groups = ["abc"[i] for i in draw.rng.integers(0, n_groups, len(problem.X))]
    # Every group has a row that counts of both classes, as far as there are rows.
    cells = [(g, c) for g in "abc"[:n_groups] for c in (0, 1)]
    for (group, label), i in zip(cells, problem.rows, strict=False):
        groups[i], problem.classes[i] = group, label
    if n_classes == 3 and len(problem.rows) > len(cells):
        problem.classes[problem.rows[len(cells)]] = 2
    if len(problem.rows) < len(cells) or len(set(problem.of_rows(problem.classes))) < n_classes:
        problem.given_weights = None
        problem = attack.begin(
            Problem(problem.name, problem.X, problem.classes, None, problem.nature, problem.sizes)
        )
        for (group, label), i in zip(cells, problem.rows, strict=False):
            groups[i], problem.classes[i] = group, label
        if n_classes == 3:
            problem.classes[problem.rows[len(cells)]] = 2
    settings = {"class_weight": given, "use_sensitive": draw.chance(0.7)}
    problem.notes = {"groups": groups, "constraint": constraint, **settings}
    return _Fair(attack, problem, constraint, groups, settings)


def fair(attack: Attack) -> None:
    """The best tree within a tolerance that lies at, or next to, a difference that a tree has."""
    draw, fairs = attack.draw, _draw(attack)
    problem, trees = fairs.problem, fairs.trees
    settings = {**fairs.settings, **draw.complexity()}
    ordered = sorted(apart for apart, _ in fairs.points)
    best = min(fairs.points, key=lambda pair: pair[1])[0]
    chosen = draw.one_of(best, ordered[int(draw.rng.integers(len(ordered)))], 0, ordered[0])
    tolerance = draw.bound(Fraction(chosen, trees.scale), Fraction(1, trees.scale))
    if not 0 <= truth.number(tolerance) <= 1:
        tolerance = Fraction(chosen, trees.scale)
    problem.notes |= {**settings, "tolerance": tolerance}
    model = FairTreeClassifier(
        fairs.constraint, tolerance, **problem.sizes, **settings, **draw.search()
    )
    attack.call(lambda: model.fit(problem.X, problem.y, fairs.groups, problem.given_weights))
    certificate = model.certificate_
    allowed = truth.number(tolerance)
    penalty, fixed, off = penalties(problem, certificate, fairs.whole)
    rounding = stated_rounding(problem, certificate, fairs.weights, settings) + off
    found = None
    if certificate.has_tree:
        sums = fairs.of_tree(model.tree_)
        found = trees.cost((*sums, model.tree_.n_splits), penalty) + fixed
        apart = fairs.disparity(sums)
        if apart > allowed:
            attack.report.fail("limit", f"disparity {show(apart)}, tolerance {show(allowed)}")
        if Fraction(certificate.disparity) != apart:
            attack.report.fail(
                "stated", f"disparity {show(certificate.disparity)}, but it is {show(apart)}"
            )
    optimum = trees.least(fairs.within(allowed), penalty)
    attack.judge(
        certificate, found, None if optimum is None else optimum + fixed, rounding, fairs.whole
    )
    fairs.check_cuts(certificate, penalty, fixed, rounding)
    if Fraction(certificate.tolerance) != allowed:
        attack.report.fail("stated", f"tolerance {certificate.tolerance}, but it is {allowed}")
    least = Fraction(ordered[0], trees.scale)
    if certificate.least_disparity is not None and Fraction(certificate.least_disparity) != least:
        attack.report.fail(
            "stated", f"least disparity {certificate.least_disparity}, but it is {show(least)}"
        )
    attack.verify(model, problem.y, sensitive_features=fairs.groups)


def curve(attack: Attack) -> None:
    """All trees that no other beats in both disparity and cost."""
    fairs = _draw(attack)
    problem, trees = fairs.problem, fairs.trees
    model = FairTreeClassifier(fairs.constraint, 0, **problem.sizes, **fairs.settings)
    found = attack.call(
        lambda: model.fairness_curve(
            problem.X, problem.y, fairs.groups, problem.given_weights, least_tolerance=0
        )
    )
    rounding = Fraction(0)
    points = []
    for tree, certificate, stated in zip(
        found.trees, found.certificates, found.points, strict=True
    ):
        rounding = stated_rounding(problem, certificate, fairs.weights, fairs.settings)
        sums = fairs.of_tree(tree)
        cost, apart = Fraction(sums[0], trees.scale), fairs.disparity(sums)
        points.append((apart, cost, tree.n_splits))
        if apart != Fraction(stated[0]) or abs(cost - Fraction(stated[1])) > rounding:
            attack.report.fail("stated", f"point {stated}, but it is {show(apart)}, {show(cost)}")
    wanted = [
        (Fraction(apart, trees.scale), Fraction(cost, trees.scale), None)
        for apart, cost in truth.nondominated((apart, p[0]) for apart, p in fairs.points)
    ]
    judge_front(attack, found.status, points, wanted, (Fraction(0), rounding), fairs.whole)
    attack.verify(found, problem.y, sensitive_features=fairs.groups)
