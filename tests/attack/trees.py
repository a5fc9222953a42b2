"""Attacks on classifiers: accuracies, class weights, metrics, fronts and paths."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from certree import (
    OptimalTreeClassifier,
    metrics,
    optimality_gap,
    pareto_front,
    regularization_path,
)

from . import truth
from .checks import Attack, show
from .problems import HARD, ORDINARY, Problem


def classifier(attack: Attack) -> None:
    """The most accurate tree, with class weights and penalties."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    given, nature = draw.class_weight(problem.n_classes)
    problem.harder(nature)
    objective = draw.one_of("accuracy", "accuracy", "balanced_accuracy")
    settings = {"objective": objective, "class_weight": given, **draw.complexity()}
    search = draw.search()
    problem.notes = settings
    weights = row_weights(problem, given, balance=objective == "balanced_accuracy")
    model = OptimalTreeClassifier(**problem.sizes, **settings, **search)
    start = _small_tree(attack, settings) if draw.chance(0.15) else None
    attack.call(
        lambda: model.fit(problem.X, problem.y, problem.given_weights, warm_start_tree=start)
    )
    certificate = model.certificate_
    whole = sum(weights, Fraction(0))
    trees = problem.trees(errors(problem, weights))
    penalty, fixed, off = penalties(problem, certificate, whole)
    rounding = stated_rounding(problem, certificate, weights, settings) + off
    labels = [int(label) for label in model.predict(problem.X)[problem.rows]]
    point = trees.sums(labels)
    attack.check_tree(model.tree_, point, trees.points)
    found = trees.cost((*point, model.tree_.n_splits), penalty) + fixed
    optimum = trees.least(trees.points, penalty)
    assert optimum is not None
    attack.judge(certificate, found, optimum + fixed, rounding, whole)
    objective_value = float(1 - found / whole)
    if abs(certificate.objective - objective_value) > 1e-9 + float(rounding / whole):
        attack.report.fail("stated", f"objective {certificate.objective}, not {objective_value}")
    attack.verify(model, problem.y)


def _small_tree(attack: Attack, settings: dict[str, Any]) -> Any:
    """Return a tree of one split at most, to start from or to ask about."""
    problem = attack.problem
    model = OptimalTreeClassifier(**{**problem.sizes, "max_depth": 1}, **settings)
    attack.call(lambda: model.fit(problem.X, problem.y, problem.given_weights))
    return model.tree_


def gap(attack: Attack) -> None:
    """How far a small tree is from the best."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    given, nature = draw.class_weight(problem.n_classes) if draw.chance(0.5) else (None, 0)
    problem.harder(nature)
    settings = {"class_weight": given, **draw.complexity()}
    problem.notes = settings
    small = _small_tree(attack, settings)
    found = attack.call(
        lambda: optimality_gap(
            small,
            problem.X,
            problem.y,
            sample_weight=problem.given_weights,
            **problem.sizes,
            **settings,
        )
    )
    weights = row_weights(problem, given)
    trees = problem.trees(errors(problem, weights))
    whole = sum(weights, Fraction(0))
    penalty, fixed, off = penalties(problem, found.certificate, whole)
    rounding = stated_rounding(problem, found.certificate, weights, settings) + off
    costs = []
    for tree in (small, found.best_tree):
        labels = [int(label) for label in tree.predict(problem.X)[problem.rows]]
        point = trees.sums(labels)
        attack.check_tree(tree, point, trees.points)
        costs.append(trees.cost((*point, tree.n_splits), penalty) + fixed)
    optimum = trees.least(trees.points, penalty)
    assert optimum is not None
    attack.judge(found.certificate, costs[1], optimum + fixed, rounding, whole)
    if abs(Fraction(found.cost) - costs[0]) > rounding:
        attack.report.fail("stated", f"cost {show(found.cost)}, but it is {show(costs[0])}")
    if Fraction(found.lower_bound) > optimum + fixed + rounding:
        attack.report.fail("status", f"lower bound {show(found.lower_bound)}, {show(optimum)}")


def row_weights(problem: Problem, given: Any, *, balance: bool = False) -> list[Fraction]:
    """Return what an error in each row that counts costs."""
    classes = problem.of_rows(problem.classes)
    names = sorted(set(classes))
    totals = [
        sum((w for w, c in zip(problem.weights, classes, strict=True) if c == k), Fraction(0))
        for k in names
    ]
    of_classes = dict(
        zip(names, truth.class_weights(given, names, totals, balance=balance), strict=True)
    )
    return [w * of_classes[c] for w, c in zip(problem.weights, classes, strict=True)]


def errors(problem: Problem, weights: list[Fraction]) -> list[list[list[Fraction]]]:
    """Return what rows with each label add to the weighted errors."""
    return [
        [[Fraction(0) if label == c else w] for label in range(problem.n_classes)]
        for w, c in zip(weights, problem.of_rows(problem.classes), strict=True)
    ]


def penalties(
    problem: Problem, certificate: Any, whole: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the penalty per split, that of every tree, and how far it is from what was asked for.

    A penalty that does not fit the search may be another one, which the certificate states.
    """
    asked = truth.number(problem.notes.get("complexity", 0)) * whole
    used = Fraction(certificate.split_penalty)
    leaf = problem.notes.get("complexity_per") == "leaf"
    most = 2 ** problem.sizes["max_depth"] - 1 + leaf
    return asked, asked if leaf else Fraction(0), abs(asked - used) * most


def stated_rounding(
    problem: Problem, certificate: Any, weights: list[Fraction], settings: dict[str, Any]
) -> Fraction:
    """Return how far the cost of a tree may be off by what the certificate says of rounding."""
    stated = getattr(certificate, "rounding", None)
    if stated is not None:
        return Fraction(stated)
    if certificate.weight_quantum is None:
        return Fraction(0)
    quantum = Fraction(certificate.weight_quantum)
    # A weight is rounded to a multiple, and at least one; class weights multiply what that changes.
    rows = sum(
        (quantum * x / w for x, w in zip(weights, problem.weights, strict=True)), Fraction(0)
    )
    if (
        settings.get("class_weight") == "balanced"
        or settings.get("objective") == "balanced_accuracy"
    ):
        rows *= 3  # totals of classes change, too, and with them the weights of all their rows
    return rows


# ---- metrics -------------------------------------------------------------------------------------


def _custom_sum(fp: Any, fn: Any, positives: Any, negatives: Any) -> Any:
    return -(fp + 5 * fn)


def _custom_worst(fp: Any, fn: Any, positives: Any, negatives: Any) -> Any:
    return -max(fp, 2 * fn)


def _custom_rates(fp: Any, fn: Any, positives: Any, negatives: Any) -> Any:
    return min(1 - fn / positives, 1 - fp / negatives)


_CUSTOM = {f.__name__: f for f in (_custom_sum, _custom_worst, _custom_rates)}


def metric(attack: Attack) -> None:
    """The best tree for a metric of false positives and false negatives."""
    draw = attack.draw
    problem = attack.begin(draw.problem(n_classes=2))
    given, nature = draw.class_weight(2) if draw.chance(0.3) else (None, 0)
    problem.harder(nature)
    # Functions of users get floats, which do not hold absurd weights times absurd weights.
    name = draw.one_of(*truth.METRICS, *(_CUSTOM if problem.nature <= HARD else ()))
    objective = _CUSTOM.get(name, metrics.FBeta(2) if name == "f2" else name)
    settings = {"objective": objective, "class_weight": given, **draw.complexity()}
    search = draw.search()
    problem.notes = settings
    weights = row_weights(problem, given)
    problem.harder(nature_of(weights, 2**29))
    model = OptimalTreeClassifier(**problem.sizes, **settings, **search)
    attack.call(lambda: model.fit(problem.X, problem.y, problem.given_weights))
    certificate = model.certificate_
    trees = problem.trees(confusion(problem, weights))
    labels = [int(label) for label in model.predict(problem.X)[problem.rows]]
    point = trees.sums(labels)
    attack.check_tree(model.tree_, point, trees.points)
    judge = _MetricJudge(attack, trees, weights, name)
    judge.judge(certificate, (*point, model.tree_.n_splits))
    attack.verify(model, problem.y)


def confusion(problem: Problem, weights: list[Fraction]) -> list[list[list[Fraction]]]:
    """Return what rows with each label add to false positives and to false negatives."""
    zero = Fraction(0)
    return [
        [[zero, w if c == 1 else zero], [w if c == 0 else zero, zero]]
        for w, c in zip(weights, problem.of_rows(problem.classes), strict=True)
    ]


class _MetricJudge:
    """Values of a metric at the points of all trees, with what rounding may change in them."""

    def __init__(
        self, attack: Attack, trees: truth.LabelledTrees, weights: list[Fraction], name: str
    ) -> None:
        self.attack, self.trees, self.name = attack, trees, name
        classes = attack.problem.of_rows(attack.problem.classes)
        self.totals = [
            sum((w for w, c in zip(weights, classes, strict=True) if c == k), Fraction(0))
            for k in (1, 0)
        ]
        self.weights = weights
        notes = attack.problem.notes
        self.penalty = truth.number(notes.get("complexity", 0))
        self.fixed = self.penalty if notes.get("complexity_per") == "leaf" else Fraction(0)

    def value(
        self, fp: Fraction, fn: Fraction, positives: Fraction, negatives: Fraction
    ) -> Fraction:
        if self.name in _CUSTOM:
            plain = [
                int(x) if x.denominator == 1 else float(x) for x in (fp, fn, positives, negatives)
            ]
            return Fraction(_CUSTOM[self.name](*plain))
        return truth.METRICS[self.name](fp, fn, positives, negatives)

    def cost(self, point: Any) -> Fraction:
        fp, fn = (Fraction(x, self.trees.scale) for x in point[:2])
        return 1 - self.value(fp, fn, *self.totals) + self.penalty * point[-1] + self.fixed

    def judge(self, certificate: Any, point: Any) -> None:
        problem = self.attack.problem
        quantum = stated_rounding(problem, certificate, self.weights, problem.notes)
        fp, fn = (Fraction(x, self.trees.scale) for x in point[:2])
        stated = [certificate.fp, certificate.fn, certificate.positives, certificate.negatives]
        for of, mine, theirs in zip(
            ("fp", "fn", "positives", "negatives"), (fp, fn, *self.totals), stated, strict=True
        ):
            if abs(mine - Fraction(theirs)) > quantum:
                self.attack.report.fail("stated", f"{of} {show(theirs)}, but it is {show(mine)}")
        found = self.cost(point)
        front = self._front()
        optimum = min(self.cost(p) for p in front)
        rounding = self._noise(found)
        if quantum:
            # Monotone in each number of errors, and nearly so in the totals: look at the corners.
            rounding += 2 * max(self._spread(p, quantum) for p in [*front, point])
        self.attack.judge(certificate, found, optimum, rounding)
        if certificate.cuts:
            scale = self.trees.scale
            points = sorted(self.trees.points)
            some = [*front, *points[:: max(1, len(points) // 200)]]
            vectors = [[Fraction(p[0], scale), Fraction(p[1], scale), Fraction(p[2])] for p in some]
            cuts = [(cut[:-1], cut[-1]) for cut in certificate.cuts]
            self.attack.check_cuts(cuts, vectors, [quantum, quantum, Fraction(0)])
        self.attack.check_rounding(quantum, sum(self.totals, Fraction(0)) / 2**12)

    def _front(self) -> list[Any]:
        """Return the points that no other beats with as few splits."""
        best: list[Any] = []
        for splits in sorted({p[-1] for p in self.trees.points}):
            pairs = truth.nondominated(p[:2] for p in self.trees.points if p[-1] == splits)
            best += [(*pair, splits) for pair in pairs]
        return best

    def _noise(self, found: Fraction) -> Fraction:
        """Costs with roots are multiples of 1e-15; functions in Python may compute in floats."""
        if self.name in truth.WITH_ROOTS:
            return Fraction(1, 10**15)
        if self.name in _CUSTOM:
            size = max(abs(self.value(n, p, p, n)) for p, n in [self.totals])
            return size / 10**12 + abs(found) / 10**12
        return Fraction(0)

    def _spread(self, point: Any, quantum: Fraction) -> Fraction:
        fp, fn = (Fraction(x, self.trees.scale) for x in point[:2])
        center = self.value(fp, fn, *self.totals)
        most = Fraction(0)
        for signs in product((-1, 0, 1), repeat=4):
            p, n = (
                max(t + s * quantum, t / 2) for t, s in zip(self.totals, signs[:2], strict=True)
            )
            a = min(max(fp + signs[2] * quantum, Fraction(0)), n)
            b = min(max(fn + signs[3] * quantum, Fraction(0)), p)
            most = max(most, abs(self.value(a, b, p, n) - center))
        return most


def nature_of(weights: list[Fraction], most: int) -> int:
    """Return whether weights of rows and classes together are so many units that they are hard."""
    unit = Fraction(1, lcm(*(weight.denominator for weight in weights)))
    return HARD if sum(weights) >= most * unit else ORDINARY


def area(attack: Attack) -> None:
    """The tree with the largest area under the ROC curve, or a part of it."""
    draw = attack.draw
    problem = attack.begin(draw.problem(n_classes=2))
    given, nature = draw.class_weight(2) if draw.chance(0.3) else (None, 0)
    problem.harder(nature)
    part = draw.one_of(1, 1, 0.3, "1/3")
    settings = {"class_weight": given, **draw.complexity()}
    problem.notes = {**settings, "part": part}
    objective = "auc" if part == 1 else metrics.PartialAUC(part)
    weights, classes = row_weights(problem, given), problem.of_rows(problem.classes)
    # The weights of both classes are multiplied, and so are the units that they count in.
    problem.harder(nature_of(weights, 2**29))
    model = OptimalTreeClassifier(objective=objective, **problem.sizes, **settings)
    attack.call(lambda: model.fit(problem.X, problem.y, problem.given_weights))
    certificate = model.certificate_

    def leaf(rows: list[int]) -> list[Any]:
        totals = (sum((weights[i] for i in rows if classes[i] == k), Fraction(0)) for k in (1, 0))
        return [((tuple(totals),),)]

    sizes, most = problem.sizes, truth.number(part)
    trees = truth.AllTrees(len(problem.rows), problem.tests, leaf, sizes["min_samples_leaf"])
    areas = {
        (truth.area(leaves, most), splits)
        for leaves, splits in trees.points(sizes["max_depth"], sizes["max_splits"])
    }
    reached = model.apply(problem.X)[problem.rows]
    parts = [[i for i, x in enumerate(reached) if x == node] for node in set(reached.tolist())]
    own = truth.area([leaf(rows)[0][0][0] for rows in parts], most)
    attack.check_tree(model.tree_, (own,), areas)
    penalty, fixed, off = penalties(problem, certificate, Fraction(1))
    # A pair of rows is in the wrong order by the share of its weights among those of all pairs.
    positives, negatives = leaf(list(range(len(classes))))[0][0][0]
    changed = stated_rounding(problem, certificate, weights, settings)
    rounding = 4 * changed * (1 / positives + 1 / negatives) / most + off
    found = 1 - own + penalty * model.tree_.n_splits + fixed
    optimum = min(1 - value + penalty * splits for value, splits in areas) + fixed
    attack.judge(certificate, found, optimum, rounding)
    attack.verify(model, problem.y)


# ---- all nondominated trees, and the best tree of each size --------------------------------------


def front(attack: Attack) -> None:
    """All pairs of false positives and false negatives that no other pair beats."""
    draw = attack.draw
    problem = attack.begin(draw.problem(n_classes=2))
    given, nature = draw.class_weight(2) if draw.chance(0.3) else (None, 0)
    problem.harder(nature)
    per_splits = draw.chance(0.3)
    problem.notes = {"class_weight": given, "per_splits": per_splits}
    weights = row_weights(problem, given)
    problem.harder(nature_of(weights, 2**29))
    found = attack.call(
        lambda: pareto_front(
            problem.X,
            problem.y,
            sample_weight=problem.given_weights,
            **problem.sizes,
            **problem.notes,
        )
    )
    trees = problem.trees(confusion(problem, weights))
    # The models of a front have certificates of their own, which say how weights were rounded.
    rounding = stated_rounding(problem, found[0].certificate_, weights, problem.notes)
    points = []
    for tree, stated in zip(found.trees, found.certificate.points, strict=True):
        labels = [int(label) for label in tree.predict(problem.X)[problem.rows]]
        sums = trees.sums(labels)
        attack.check_tree(tree, sums, trees.points)
        points.append((*(Fraction(x, trees.scale) for x in sums), tree.n_splits))
        if any(abs(a - Fraction(b)) > rounding for a, b in zip(points[-1], stated, strict=True)):
            attack.report.fail("stated", f"point {stated}, but it is {tuple(map(str, points[-1]))}")
    sizes = sorted({p[-1] for p in trees.points}) if per_splits else [None]
    wanted = [
        (*(Fraction(x, trees.scale) for x in pair), size)
        for size in sizes
        for pair in truth.nondominated(p[:2] for p in trees.points if size in (None, p[-1]))
    ]
    judge_front(attack, found.certificate.status, points, wanted, rounding, sum(weights))
    attack.verify(found, problem.y)


def judge_front(
    attack: Attack,
    status: str,
    points: list[Any],
    wanted: list[Any],
    rounding: Any,
    whole: Fraction,
) -> None:
    """Note points that are missing from a front that is said to be complete, or are beaten.

    Points are (first cost, second cost, splits or None); `rounding` is one number, or one for each.
    """
    report = attack.report
    report.status = status
    first, second = rounding if isinstance(rounding, tuple) else (rounding, rounding)
    if status == "precision":
        report.precision = True
        if attack.problem.nature == 0:
            report.fail("precision", "with ordinary numbers")
        return
    if status != "optimal":
        if status != "infeasible" or wanted:
            report.fail("status", f"{status}, but there are {len(wanted)} points")
        return
    attack.check_rounding(first, whole / 2**12)
    for a, b, size in wanted:
        if not any(
            x <= a + 2 * first and y <= b + 2 * second and (size is None or k <= size)
            for x, y, k in points
        ):
            report.fail("status", f"all there are, but {show(a)}, {show(b)}, {size} is missing")
    if not first and not second and wanted and wanted[0][-1] is None:
        pairs = sorted(point[:2] for point in points)
        if pairs != [point[:2] for point in wanted]:
            report.fail("status", f"{len(points)} points, but there are {len(wanted)}")


def path(attack: Attack) -> None:
    """The best tree for every number of splits."""
    draw = attack.draw
    problem = attack.begin(draw.problem())
    given, nature = draw.class_weight(problem.n_classes) if draw.chance(0.5) else (None, 0)
    problem.harder(nature)
    objective = draw.one_of("accuracy", "accuracy", "balanced_accuracy")
    settings = {"objective": objective, "class_weight": given}
    problem.notes = settings
    weights = row_weights(problem, given, balance=objective == "balanced_accuracy")
    model = OptimalTreeClassifier(**problem.sizes, **settings)
    attack.call(lambda: model.fit(problem.X, problem.y, problem.given_weights, path=True))
    found = attack.call(
        lambda: regularization_path(
            problem.X, problem.y, sample_weight=problem.given_weights, **problem.sizes, **settings
        )
    )
    entries = [(entry.splits, entry.errors, entry.lower_bound) for entry in found]
    if entries != [(entry.splits, entry.errors, entry.lower_bound) for entry in model.path_]:
        attack.report.fail("stated", "the function and the model find different paths")
    rounding = stated_rounding(problem, model.certificate_, weights, settings)
    trees = problem.trees(errors(problem, weights))
    best: list[tuple[int, Fraction]] = []
    for splits in sorted({p[-1] for p in trees.points}):
        least = trees.least([p for p in trees.points if p[-1] <= splits])
        if least is not None and (not best or least < best[-1][1]):
            best.append((splits, least))
    for entry in found:
        labels = [int(label) for label in entry.tree.predict(problem.X)[problem.rows]]
        sums = trees.sums(labels)
        attack.check_tree(entry.tree, sums, trees.points)
        cost = Fraction(sums[0], trees.scale)
        if abs(cost - Fraction(entry.errors)) > rounding:
            attack.report.fail("stated", f"errors {entry.errors}, but it is {show(cost)}")
        true = min(least for splits, least in best if splits <= entry.splits)
        if Fraction(entry.lower_bound) > true + rounding:
            attack.report.fail("status", f"lower bound {entry.lower_bound}, least {show(true)}")
    points = [(e.splits, Fraction(e.errors), None) for e in found]
    wanted = [(splits, least, None) for splits, least in best]
    if rounding == 0:
        judge_front(attack, found.status, points, wanted, (0, Fraction(0)), sum(weights))
    attack.verify(model, problem.y)
