"""Attacks on costs, rewards and limits on the whole tree, with bounds at totals that trees have."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from certree import CostSensitiveTreeClassifier, PolicyTree, solve, tasks

from . import truth
from .checks import Attack, show
from .problems import HARD, ORDINARY, Nature, Problem
from .trees import judge_front, nature_of, penalties, row_weights

Table = list[list[Fraction]]
"""A number for each row of the table and each label."""


@dataclass
class Objective:
    """What is minimised: what each label costs each row of weight one."""

    task: Any
    costs: Table
    y: Any = None
    weighed: list[Fraction] | None = None
    """What a row that counts weighs in the objective, where that is not its weight."""


@dataclass
class Bound:
    """A limit: what rows add with each label, and the bounds as they are given and as they mean."""

    name: str
    given: Any
    amounts: Table
    at_most: Any = None
    at_least: Any = None
    unit: Fraction = Fraction(1)

    def meant(self) -> tuple[Fraction | None, Fraction | None]:
        """Return the bounds in fractions."""
        most, least = (
            None if bound is None else truth.number(bound) * self.unit
            for bound in (self.at_most, self.at_least)
        )
        return most, least


class Limited:
    """A problem with an objective and limits, whose bounds lie at or next to totals of trees."""

    def __init__(self, attack: Attack, problem: Problem, objectives: list[Objective]) -> None:
        self.attack, self.problem, self.objectives = attack, problem, objectives
        self.n_labels = len(objectives[0].costs[0])
        self.bounds: list[Bound] = []
        self.minimum: tuple[dict[int, int], list[list[int]]] | None = None
        """What labels need in each leaf that has them, and what each row counts for each."""

    def draw_minimum(self) -> tasks.LeafMinimum:
        """Draw a condition on the leaves."""
        draw, n_rows = self.attack.draw, len(self.problem.X)
        chosen = draw.rng.permutation(self.n_labels)[: draw.one_of(1, self.n_labels)]
        needed = {int(label): int(draw.rng.integers(1, 4)) for label in chosen}
        counts = draw.rng.integers(0, 2, (n_rows, self.n_labels))
        self.minimum = needed, counts.tolist()
        return tasks.LeafMinimum(needed, counts)

    def _enough(self, rows: list[int], label: int) -> bool:
        if self.minimum is None:
            return True
        needed, counts = self.minimum
        have = sum(counts[self.problem.rows[i]][label] for i in rows)
        return have >= needed.get(label, 0)

    def draw_amounts(self, name: str) -> Bound:
        """Draw a limit, without its bounds."""
        draw, n_rows = self.attack.draw, len(self.problem.X)
        shape = draw.one_of("count", "count", "labels", "rows", "one label")
        label = int(draw.rng.integers(self.n_labels))
        given: Any
        if shape == "count":
            given, table = {label: 1}, np.zeros((n_rows, self.n_labels), dtype=int)
            table[:, label] = 1
        elif shape == "labels":
            given, nature = draw.numbers((self.n_labels,))
            table = np.broadcast_to(given, (n_rows, self.n_labels))
            self.problem.harder(nature)
        elif shape == "rows":
            given, nature = draw.numbers((n_rows, self.n_labels))
            table = given
            self.problem.harder(nature)
        else:
            column, nature = draw.numbers((n_rows,))
            given, table = {label: column}, np.zeros((n_rows, self.n_labels), dtype=column.dtype)
            table[:, label] = column
            self.problem.harder(nature)
        return Bound(name, given, [[truth.number(x) for x in row] for row in table])

    def all_trees(self) -> truth.LabelledTrees:
        """Return all trees with their costs and totals."""
        problem = self.problem
        amounts = []
        for place, i in enumerate(problem.rows):
            weight = problem.weights[place]
            weighed = [weight if o.weighed is None else o.weighed[place] for o in self.objectives]
            amounts.append(
                [
                    [
                        *(w * o.costs[i][k] for w, o in zip(weighed, self.objectives, strict=True)),
                        *(weight * bound.amounts[i][k] for bound in self.bounds),
                    ]
                    for k in range(self.n_labels)
                ]
            )
        self.trees = problem.trees(amounts, enough=self._enough)
        return self.trees

    def draw_bounds(self) -> None:
        """Put the bounds at totals of one tree, often of the best one; or next to them."""
        draw, trees = self.attack.draw, self.trees
        points = sorted(trees.points)
        if not points:  # no leaf has enough rows for a label
            points = [(0,) * (len(self.objectives) + len(self.bounds) + 1)]
        point = points[0] if draw.chance(0.4) else points[int(draw.rng.integers(len(points)))]
        for j, bound in enumerate(self.bounds):
            total = Fraction(point[len(self.objectives) + j], trees.scale) / bound.unit
            quantum = Fraction(1, trees.scale) / bound.unit
            side = draw.one_of("most", "most", "least", "both")
            if bound.unit != 1 or bound.name.startswith("capacity"):
                side = "most"
            if side != "least":
                bound.at_most = draw.bound(total, quantum)
            if side != "most":
                bound.at_least = draw.bound(total, quantum)
            most, least = bound.meant()
            if most is not None and least is not None and most < least:
                bound.at_least = bound.at_most

    def limits(self) -> list[tasks.Limit]:
        """Return the limits as users write them."""
        return [
            tasks.Limit(b.name, b.given, at_most=b.at_most, at_least=b.at_least)
            for b in self.bounds
        ]

    def within(self) -> list[Any]:
        """Return the points of the trees that keep to all limits."""
        first = len(self.objectives)
        return self.trees.within([(first + j, *b.meant()) for j, b in enumerate(self.bounds)])

    def check_totals(self, stated: Any, point: Any) -> None:
        """Compare the totals of a tree with the bounds, and with what is stated of them."""
        report, first = self.attack.report, len(self.objectives)
        for j, (bound, limit) in enumerate(zip(self.bounds, stated, strict=True)):
            total = Fraction(point[first + j], self.trees.scale)
            most, least = bound.meant()
            if (most is not None and total > most) or (least is not None and total < least):
                report.fail(
                    "limit", f"{bound.name} {show(total)}, at most {most}, at least {least}"
                )
            if limit.value is None or abs(Fraction(limit.value) - total) > Fraction(limit.rounding):
                report.fail("stated", f"total {limit.value}, but it is {show(total)}")

    def check_bounds(self, stated: Any) -> None:
        """Compare the bounds that are stated with those that were asked for."""
        for bound, limit in zip(self.bounds, stated, strict=True):
            most, least = bound.meant()
            for mine, theirs in ((most, limit.at_most), (least, limit.at_least)):
                if mine != theirs:
                    self.attack.report.fail("stated", f"bound {theirs}, but it is {mine}")

    def check(self, tree: Any, certificate: Any, label_of: dict[Any, int]) -> None:
        """Compare a tree, or that there is none, with the truth."""
        problem, trees = self.problem, self.trees
        objective = self.objectives[0]
        weighed = problem.weights if objective.weighed is None else objective.weighed
        whole = sum(weighed, Fraction(0))
        penalty, fixed, off = penalties(problem, certificate, whole)
        spread = sum(
            (
                w * (max(objective.costs[i]) - min(objective.costs[i]))
                for w, i in zip(weighed, problem.rows, strict=True)
            ),
            Fraction(0),
        )
        found = None
        if tree is not None:
            labels = [label_of[label] for label in tree.predict(problem.X)[problem.rows].tolist()]
            point = trees.sums(labels)
            self.attack.check_tree(tree, point, trees.points)
            found = trees.cost((*point, tree.n_splits), penalty) + fixed
            if self.bounds:
                self.check_totals(certificate.limits, point)
        optimum = trees.least(self.within(), penalty)
        rounding = Fraction(certificate.rounding) + off
        if optimum is not None:
            optimum += fixed
        self.attack.judge(certificate, found, optimum, rounding)
        if spread:
            self.attack.check_rounding(rounding, spread / 10**6)
        if optimum is None and certificate.status == "infeasible":
            self._check_reach(certificate)
        if self.bounds:
            self.check_bounds(certificate.limits)
            self._check_cuts(certificate, penalty, fixed, rounding)

    def _check_cuts(
        self, certificate: Any, penalty: Fraction, fixed: Fraction, rounding: Fraction
    ) -> None:
        """Try the proofs behind the bound on trees of all kinds."""
        points = sorted(self.trees.points)
        some = points[:: max(1, len(points) // 200)]
        scale = self.trees.scale
        vectors = [
            [self.trees.cost(p, penalty) + fixed, *(Fraction(x, scale) for x in p[1:-1])]
            for p in [*some, *self.within()[:50]]
        ]
        off = [rounding, *(Fraction(limit.rounding) for limit in certificate.limits)]
        if vectors:
            self.attack.check_cuts([(c[:-1], c[-1]) for c in certificate.cuts], vectors, off)

    def _check_reach(self, certificate: Any) -> None:
        """Compare how near trees come to a bound, where there is one limit with one bound."""
        if len(self.bounds) != 1 or None not in self.bounds[0].meant():
            return
        if self.minimum is not None:
            return
        totals, limit = self.trees.fractions(len(self.objectives)), certificate.limits[0]
        off = Fraction(limit.rounding)
        for reach, true, sign in ((limit.least, totals[0], 1), (limit.greatest, totals[-1], -1)):
            if reach is None:
                continue
            if sign * (Fraction(reach.bound) - true) > off:
                self.attack.report.fail("status", f"reach {reach}, but it is {show(true)}")
            if reach.attained is not None and sign * (true - Fraction(reach.attained)) > off:
                self.attack.report.fail("stated", f"reach {reach}, but it is {show(true)}")


# ---- kinds ---------------------------------------------------------------------------------------


def costs(attack: Attack) -> None:
    """Costs by a matrix or by rows, sometimes with a capacity or limits."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    k = problem.n_classes
    by_rows = draw.chance(0.5)
    options: dict[str, Any] = {}
    if by_rows:
        given, nature = draw.numbers((len(problem.X), k))
        options, table = {"costs": given}, [[truth.number(x) for x in row] for row in given]
    else:
        given, nature = draw.numbers((k, k), signed=draw.chance(0.3))
        if draw.chance(0.8):
            np.fill_diagonal(given, 0)
        table = [[truth.number(x) for x in given[c]] for c in problem.classes]
    problem.harder(nature)
    limited = Limited(attack, problem, [Objective(None, table)])
    settings = {**draw.complexity(), **draw.search()}
    problem.notes = {**settings, **options} if by_rows else {**settings, "matrix": given.tolist()}
    with_capacity = draw.chance(0.4)
    if with_capacity:
        limited.bounds.append(_capacity(limited))
    if draw.chance(0.3):
        limited.bounds.append(limited.draw_amounts("more"))
    limited.all_trees()
    limited.draw_bounds()
    own = limited.limits()[1 if with_capacity else 0 :]
    model = CostSensitiveTreeClassifier(
        cost_matrix=None if by_rows else given,
        classes=list(range(k)),
        capacity=_as_capacity(limited.bounds[0]) if with_capacity else None,
        limits=own or None,
        **problem.sizes,
        **settings,
    )
    y = None if by_rows else problem.y
    attack.call(lambda: model.fit(problem.X, y, problem.given_weights, **options))
    limited.check(getattr(model, "tree_", None), model.certificate_, {i: i for i in range(k)})
    attack.verify(model, y, **options)


def _capacity(limited: Limited) -> Bound:
    """Draw a capacity, without its bound: in weight, or as a share of all weight."""
    draw = limited.attack.draw
    label = int(draw.rng.integers(limited.n_labels))
    one = [Fraction(int(k == label)) for k in range(limited.n_labels)]
    unit = limited.problem.total if draw.chance(0.6) else Fraction(1)
    return Bound("capacity", label, [one] * len(limited.problem.X), unit=unit)


def _as_capacity(bound: Bound) -> dict[int, Any]:
    """Return the parameter; what cannot be written as one is moved to what can."""
    if bound.unit == 1:
        # Weights of rows are integers there.
        bound.at_most = max(int(truth.number(bound.at_most)), 0)
    else:
        share = truth.number(bound.at_most)
        if not 0 <= share <= 1:
            bound.at_most = min(max(share, Fraction(0)), Fraction(1))
        if type(bound.at_most) is int:
            bound.at_most = str(bound.at_most)
    return {bound.given: bound.at_most}


def policy(attack: Attack) -> None:
    """The best treatments within a capacity and a budget."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    k, n_rows = problem.n_classes, len(problem.X)
    rewards, nature = draw.numbers((n_rows, k))
    problem.harder(nature)
    read = [[truth.number(x) for x in row] for row in rewards]
    limited = Limited(
        attack, problem, [Objective(None, [[max(row) - x for x in row] for row in read])]
    )
    settings = {**draw.complexity(), **draw.search()}
    problem.notes = {**settings, "rewards": rewards.tolist()}
    has_capacity, has_budget = draw.one_of(
        (True, False), (True, False), (False, True), (True, True)
    )
    if has_capacity:
        limited.bounds.append(_capacity(limited))
    if has_budget:
        limited.bounds.append(limited.draw_amounts("budget"))
    treatment = None
    if draw.chance(0.2):
        treatment = draw.rng.integers(0, k, n_rows)
        needed = {int(draw.rng.integers(k)): int(draw.rng.integers(1, 4))}
        limited.minimum = needed, (treatment[:, None] == np.arange(k)).astype(int).tolist()
    limited.all_trees()
    limited.draw_bounds()
    options: dict[str, Any] = {}
    if has_capacity:
        options["capacity"] = _as_capacity(limited.bounds[0])
    if has_budget:
        bound = limited.bounds[-1]
        if bound.at_most is None:
            bound.at_most = bound.at_least
        bound.at_least = None
        options |= {"treatment_costs": bound.given, "budget": bound.at_most}
    if treatment is not None:
        options["min_treated"] = limited.minimum[0]
    problem.notes |= options
    model = PolicyTree(treatments=list(range(k)), **problem.sizes, **settings, **options)
    attack.call(
        lambda: model.fit_rewards(problem.X, rewards, problem.given_weights, treatment=treatment)
    )
    limited.check(getattr(model, "tree_", None), model.certificate_, {i: i for i in range(k)})
    attack.verify(model, rewards)


def prices(attack: Attack) -> None:
    """Costs by a matrix, and prices of the columns that tests ask for."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    k, n_columns = problem.n_classes, problem.X.shape[1]
    matrix, nature = draw.numbers((k, k), signed=False)
    problem.harder(nature)
    asked, nature = draw.numbers((n_columns,), signed=False)
    problem.harder(nature)
    # Rows pay for tests by their weight, so prices share their digits with weights.
    problem.harder(nature_of(list(problem.weights), 2**24))
    factor = draw.one_of(1, 0.1, 0.01)
    # Products of decimals as float64 are no short decimals.
    problem.harder(ORDINARY if factor == 1 else HARD)
    asked = asked * factor
    settings = {**draw.complexity(), **draw.search()}
    problem.notes = {**settings, "matrix": matrix.tolist(), "test_costs": asked.tolist()}
    model = CostSensitiveTreeClassifier(
        matrix, asked.tolist(), classes=list(range(k)), **problem.sizes, **settings
    )
    attack.call(lambda: model.fit(problem.X, problem.y, problem.given_weights))
    certificate = model.certificate_
    paid = [truth.number(x) for x in asked.tolist()]
    costs = [[truth.number(x) for x in matrix[problem.classes[i]]] for i in problem.rows]

    def leaf(rows: list[int]) -> Fraction:
        each = [[problem.weights[i] * x for x in costs[i]] for i in rows]
        return min(map(sum, zip(*each, strict=True)))

    columns = [problem.X[problem.rows, j].tolist() for j in range(n_columns)]
    tests = [(rows, j) for j, column in enumerate(columns) for rows in truth.candidates_of(column)]
    sizes = problem.sizes
    trees = truth.PricedTrees(problem.weights, tests, paid, leaf, sizes["min_samples_leaf"])
    penalty, fixed, off = penalties(problem, certificate, problem.total)
    optimum = min(
        cost + penalty * splits
        for splits, cost in trees.least(sizes["max_depth"]).items()
        if sizes["max_splits"] is None or splits <= sizes["max_splits"]
    )
    labels = [int(label) for label in model.predict(problem.X)[problem.rows]]
    ways = _columns_asked(model, problem)
    found = sum(
        (
            w * (costs[i][label] + sum((paid[j] for j in way), Fraction(0)))
            for i, (w, label, way) in enumerate(zip(problem.weights, labels, ways, strict=True))
        ),
        penalty * model.tree_.n_splits,
    )
    attack.judge(certificate, found + fixed, optimum + fixed, Fraction(certificate.rounding) + off)
    dearest = sum(
        (w * max(row) for w, row in zip(problem.weights, costs, strict=True)), Fraction(0)
    )
    # Rows pay for tests by rounded weights, which is documented.
    if dearest and not draw.wide:
        dearest += sum(paid, Fraction(0)) * problem.total
        attack.check_rounding(Fraction(certificate.rounding), dearest / 10**4)
    attack.verify(model, problem.y)


def _columns_asked(model: Any, problem: Problem) -> list[set[int]]:
    """Return the columns that each row that counts is asked for, by the tree as it is written."""
    tree = model.tree_.to_dict()
    ways: dict[int, set[int]] = {0: set()}
    for place, node in enumerate(tree["nodes"]):
        for child in node.get("children", ()):
            ways[child] = ways[place] | {tree["tests"][node["test"]]["feature"]}
    return [ways[int(leaf)] for leaf in model.apply(problem.X)[problem.rows]]


def objective(attack: Attack, problem: Problem, n_labels: int) -> Objective:
    """Draw a task over labels 0, 1, ... that can have limits."""
    draw = attack.draw
    kind = draw.one_of("errors", "errors", "matrix", "rows", "rewards")
    nature: Nature
    if kind == "errors":
        given, nature = draw.class_weight(n_labels) if draw.chance(0.3) else (None, 0)
        problem.harder(nature)
        table = [[Fraction(int(label != c)) for label in range(n_labels)] for c in problem.classes]
        weighed = row_weights(problem, given)
        return Objective(tasks.Misclassification(class_weight=given), table, problem.y, weighed)
    if kind == "matrix":
        given, nature = draw.numbers((n_labels, n_labels))
        problem.harder(nature)
        table = [[truth.number(x) for x in given[c]] for c in problem.classes]
        return Objective(tasks.CostMatrix(given, classes=list(range(n_labels))), table, problem.y)
    given, nature = draw.numbers((len(problem.X), n_labels))
    problem.harder(nature)
    read = [[truth.number(x) for x in row] for row in given]
    if kind == "rows":
        return Objective(tasks.RowCosts(given), read)
    return Objective(tasks.Rewards(given), [[max(row) - x for x in row] for row in read])


def limits(attack: Attack) -> None:
    """A task of any kind within one or two limits."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    k = problem.n_classes
    chosen = objective(attack, problem, k)
    limited = Limited(attack, problem, [chosen])
    for j in range(draw.one_of(1, 1, 2)):
        limited.bounds.append(limited.draw_amounts(f"limit {j}"))
    minimum = limited.draw_minimum() if draw.chance(0.2) else None
    limited.all_trees()
    limited.draw_bounds()
    settings = {**draw.complexity(), **draw.search()}
    problem.notes = {
        **settings,
        "task": chosen.task,
        "bounds": limited.bounds,
        "minimum": limited.minimum,
    }
    task = chosen.task
    for limit in limited.limits():
        task = task & limit
    if minimum is not None:
        task = task & minimum
    solution = attack.call(
        lambda: solve(
            task,
            problem.X,
            chosen.y,
            sample_weight=problem.given_weights,
            **problem.sizes,
            **settings,
        )
    )
    limited.check(solution.tree, solution.certificate, {i: i for i in range(k)})
    attack.verify(solution, chosen.y)


def task_front(attack: Attack) -> None:
    """All trees that no other beats in two objectives, sometimes within a limit."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    k = problem.n_classes
    pair = [objective(attack, problem, k), objective(attack, problem, k)]
    limited = Limited(attack, problem, pair)
    if draw.chance(0.4):
        limited.bounds.append(limited.draw_amounts("limit"))
    trees = limited.all_trees()
    limited.draw_bounds()
    problem.notes = {"tasks": [o.task for o in pair], "bounds": limited.bounds}
    y = next((o.y for o in pair if o.y is not None), None)
    task = tasks.Front(pair[0].task, pair[1].task)
    for limit in limited.limits():
        task = task & limit
    found = attack.call(
        lambda: solve(
            task,
            problem.X,
            y,
            sample_weight=problem.given_weights,
            **problem.sizes,
        )
    )
    certificate = found.certificate
    limited.check_bounds(certificate.limits)
    rounding = tuple(Fraction(r) for r in certificate.rounding)
    points = []
    for stated in found:
        labels = [int(label) for label in stated.tree.predict(problem.X)[problem.rows]]
        sums = trees.sums(labels)
        attack.check_tree(stated.tree, sums, trees.points)
        values = tuple(Fraction(x, trees.scale) for x in sums[:2])
        points.append((*values, stated.n_splits))
        if any(
            abs(a - Fraction(b)) > r
            for a, b, r in zip(values, stated.values, rounding, strict=True)
        ):
            attack.report.fail("stated", f"values {stated.values}, but it is {values}")
        limited.check_totals(stated.limits, sums)
    wanted = [
        (*(Fraction(x, trees.scale) for x in pair_of_costs), None)
        for pair_of_costs in truth.nondominated(p[:2] for p in limited.within())
    ]
    largest = max((abs(Fraction(p[0], trees.scale)) for p in trees.points), default=Fraction(0))
    judge_front(attack, certificate.status, points, wanted, rounding, largest)
    attack.verify(found, y)
