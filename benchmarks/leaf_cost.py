"""Time leaf costs beside each other: built in and in NumPy, and several criteria.

    python benchmarks/leaf_cost.py                 # accuracy, depth 3, all sets of the folder
    python benchmarks/leaf_cost.py --only monk1 --depth 4
    python benchmarks/leaf_cost.py --linear        # lines and ridge models in the leaves
    python benchmarks/leaf_cost.py --survival      # the loss of survival trees, on sets of SurvSet
    python benchmarks/leaf_cost.py --criteria      # absolute error and others beside squared error
    python benchmarks/leaf_cost.py --composed      # what composition costs, on bundled data

Both ways must come to the same cost. The least of three times of the processor counts.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from certree import (
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    LinearTreeRegressor,
    Measurement,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    SurvivalTree,
    TreeCV,
    datasets,
    solve,
    tasks,
)
from certree.fitting.fit import find
from certree.fitting.request import Request
from certree.leaves.linear.loss import LinearError

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import Instance, accuracy_instances
from harness.report import markdown
from harness.task_suites import linear_instances, regression_instances, survival_instances

REPEATS = 3


def rows_of_other_classes(sums: Any) -> tuple[Any, Any]:
    """Errors of leaves with so many rows of each class, and the labels that make them."""
    return sums.sum(axis=1) - sums.max(axis=1), sums.argmax(axis=1)


def timed(solve: Callable[[], Any]) -> tuple[float, Any]:
    """Solve a few times; give the least time and the certificate."""
    best, certificate = math.inf, None
    for _ in range(REPEATS):
        start = time.process_time()
        certificate = solve()
        best = min(best, time.process_time() - start)
    return best, certificate


def compare(instance: Instance, depth: int) -> tuple[float, float]:
    """Give the seconds of the built-in accuracy and of the leaf cost."""
    columns, labels = instance.columns, instance.labels
    classes, codes = np.unique(labels, return_inverse=True)
    laws = tasks.Laws(superadditive=True, worst_change=np.ones(len(codes)))
    own = tasks.LeafCost(np.eye(len(classes))[codes], rows_of_other_classes, bounds=laws)
    model = OptimalTreeClassifier(max_depth=depth, complexity=0, n_jobs=1)
    built_in, known = timed(lambda: model.fit(columns, labels).certificate_)
    seconds, found = timed(lambda: solve(own, columns, max_depth=depth, n_jobs=1).certificate)
    if known.cost != found.cost:
        raise SystemExit(f"{instance.name}: cost {found.cost}, but {known.cost} by the built-in")
    return built_in, seconds


def compare_criteria(only: list[str] | None, depth: int) -> None:
    """Print the seconds of squared error, and how many times as long other criteria take."""
    criteria = ("absolute_error", "quantile", "poisson", "gamma")
    lines = []
    for instance in regression_instances():
        if only and instance.name not in only:
            continue
        target = np.round(instance.extra["target"] - instance.extra["target"].min() + 1, 3)
        seconds = {}
        for criterion in ("squared_error", *criteria):
            level = 0.9 if criterion == "quantile" else 0.5
            model = OptimalTreeRegressor(depth, criterion=criterion, quantile=level, n_jobs=1)
            seconds[criterion], _ = timed(partial(model.fit, instance.columns, target))
        squared = seconds["squared_error"]
        ratios = [f"{seconds[criterion] / squared:.1f}" for criterion in criteria]
        lines.append([instance.name, f"{squared:.3f}", *ratios])
    print(markdown(["data set", "squared_error s", *criteria], lines))


def composed() -> None:
    """Print what composed tasks take beside the plain ones."""
    lines = [fair_metric(), three_objectives(), *group_discounts(), *prices_with_limits()]
    lines.append(tuned_costs())
    print(markdown(["task", "plain s", "composed s", "ratio"], lines))


def _line(name: str, plain: float, seconds: float) -> list[str]:
    return [name, f"{plain:.3f}", f"{seconds:.3f}", f"{seconds / plain:.1f}"]


def fair_metric() -> list[str]:
    """Time fair F1 beside fair accuracy, at depth 3."""
    X, y = datasets.load_credit(return_X_y=True)
    groups = np.where(X["housing"] == "own", "owner", "other")

    def fit(objective: str) -> Any:
        model = FairTreeClassifier(
            "equalized_odds",
            0.01,
            objective=objective,
            max_depth=3,
            thresholds=4,
            pos_label="repaid",
            n_jobs=1,
        )
        return model.fit(X, y, sensitive_features=groups).certificate_

    plain, _ = timed(lambda: fit("accuracy"))
    seconds, found = timed(lambda: fit("f1"))
    assert found.status == "optimal"
    return _line("fair F1 beside fair accuracy, depth 3", plain, seconds)


def _table(n_columns: int, n_rows: int = 1000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (n_rows, n_columns)).astype(bool)
    return columns, ((columns[:, 0] & columns[:, 1]) ^ (rng.random(n_rows) < 0.2)).astype(int)


def three_objectives() -> list[str]:
    """Time a front of three objectives beside one of two, on 1000 rows and 30 columns."""
    columns, y = _table(30)
    rng = np.random.default_rng(1)
    harm = np.where(y[:, None] == [0, 1], 0, rng.integers(1, 4, (1000, 1)))
    amounts = rng.integers(0, 3, (1000, 1)) * [0, 1]
    each = [tasks.RowCosts(costs) for costs in (1 * (harm > 0), harm, amounts)]
    plain, _ = timed(lambda: solve(tasks.Front(*each[:2]), columns, max_depth=2, n_jobs=1))
    seconds, front = timed(lambda: solve(tasks.Front(*each), columns, max_depth=2, n_jobs=1))
    assert front.is_optimal
    return _line("three objectives beside two, 1000 x 30, depth 2", plain, seconds)


def group_discounts() -> Iterator[list[str]]:
    """Time discounts of groups, written with a state, beside built-in ones, and with a limit."""
    columns, y = _table(50)
    prices, less, group = 2 + np.arange(50) % 9, np.arange(50) % 3, np.arange(50) % 5

    @cache
    def charged(made: frozenset[int]) -> Any:
        seen = np.isin(group, [group[column] for column in made])
        now = np.where(seen, np.minimum(prices, less), prices)
        now[list(made)] = 0
        return now

    own = tasks.Separable(
        [0, 1],
        lambda sums: 100 * sums[:, ::-1],
        split_cost=lambda sums, made: sums.sum(axis=1, keepdims=True) * charged(made),
        initial=frozenset(),
        transition=lambda made, column, holds: made | {column},
        statistics=np.eye(2, dtype=int)[y],
    )
    measurements = [
        Measurement(c, prices[c] / 100, group=f"g{group[c]}", discounted=less[c] / 100)
        for c in range(50)
    ]
    model = CostSensitiveTreeClassifier([[0, 1], [1, 0]], measurements, max_depth=3, n_jobs=1)
    plain, known = timed(lambda: model.fit(columns, y).certificate_)
    seconds, found = timed(lambda: solve(own, columns, max_depth=3))
    assert found.value == 100 * known.cost
    yield _line("own state beside built-in discounts, 50 columns, depth 3", plain, seconds)
    few = tasks.Limit("ones", {1: 1}, at_most=150)
    limited, found = timed(lambda: solve(own & few, columns, max_depth=3))
    assert found.certificate.is_optimal
    yield _line("the same state with a limit beside without, depth 3", seconds, limited)


def prices_with_limits() -> Iterator[list[str]]:
    """Time prices of tests with a limit beside prices alone."""
    X, y = datasets.load_credit(return_X_y=True)
    repaid = (y == "repaid").astype(int)
    tables = [("credit", X, repaid, 3), ("credit", X, repaid, 4)]
    tables += [
        (f"{n_rows} x {n_columns}", *_table(n_columns, n_rows), depth)
        for n_rows, n_columns, depth in ((1000, 50, 3), (5000, 100, 3), (1000, 30, 4))
    ]
    for name, table, labels, depth in tables:
        n = table.shape[1]
        measurements = [
            Measurement(c, 0.002 + c % 9 / 1000, group=f"g{c % 5}", discounted=c % 3 / 1000)
            for c in range(n)
        ]
        model = CostSensitiveTreeClassifier(
            [[0, 1], [2, 0]], measurements, max_depth=depth, thresholds=4, n_jobs=1
        )
        plain, _ = timed(partial(model.fit, table, labels))
        few = int(0.8 * (model.predict(table) == 1).sum())
        model.set_params(capacity={1: few})
        seconds, _ = timed(partial(model.fit, table, labels))
        assert model.certificate_.is_optimal
        yield _line(
            f"prices with a limit beside prices alone, {name}, depth {depth}", plain, seconds
        )


def tuned_costs() -> list[str]:
    """Time the choice among 15 numbers of splits in five folds beside one fit."""
    X, y = datasets.load_credit(return_X_y=True)
    model = CostSensitiveTreeClassifier([[0, 1], [5, 0]], max_depth=4, thresholds=4, n_jobs=1)
    plain, _ = timed(partial(model.fit, X, y))
    tuned = TreeCV(model, sizes=range(15), cv=5, n_jobs=1)
    seconds, _ = timed(partial(tuned.fit, X, y))
    return _line("costs tuned over 15 sizes in 5 folds beside one fit, depth 4", plain, seconds)


def compare_linear(instance: Instance, depth: int, form: str) -> tuple[float, float, float]:
    """Give the seconds of fits with the built-in cost and with that in NumPy, and their ratio.

    The ratio is of the costs of the same leaves alone, without the search around them.
    """
    columns, models, target = instance.columns, instance.extra["models"], instance.extra["target"]
    models = models[:, :5]
    table, n_tests = np.column_stack([columns, models]), columns.shape[1]
    places = range(n_tests, table.shape[1])
    model = LinearTreeRegressor(
        depth,
        min_samples_leaf=5,
        leaf_model=form,
        model_features=list(places),
        thresholds=dict.fromkeys(places, ()),
        n_jobs=1,
    )
    own = LinearError(models, form == "simple").leaf_costs(target, len(target))
    task = tasks.LeafCost(own.statistics, own.cost, bounds="superadditive")
    least = 5 + (1 if form == "simple" else models.shape[1])
    settings = {"max_depth": depth, "min_samples_leaf": least, "n_jobs": 1, "time_limit": 300}
    built_in, known = timed(lambda: model.fit(table, target).certificate_)
    seconds, found = timed(lambda: solve(task, columns, **settings).certificate)
    if not math.isclose(known.cost, found.cost, rel_tol=1e-5):
        raise SystemExit(f"{instance.name}: cost {float(found.cost)}, but {float(known.cost)}")
    problem = find(Request.of(model, table, target)).statement.problem
    leaves = np.random.default_rng(0).integers(0, 2, (20_000, len(target)))
    sums, numbers = leaves @ problem.statistics, leaves @ own.statistics
    alone = timed(lambda: own.cost(numbers))[0] / timed(lambda: problem.units(sums))[0]
    return built_in, seconds, alone


def compare_survival(instance: Instance, depth: int) -> tuple[float, float]:
    """Give the seconds of a survival tree, and of the same loss as a function in NumPy."""
    columns, y = instance.columns, np.stack([instance.extra["time"], instance.extra["event"]], 1)
    own = tasks.SurvivalLoss().leaf_costs(y, len(y))
    task = tasks.LeafCost(own.statistics, own.cost, bounds="superadditive")
    model = SurvivalTree(depth, n_jobs=1)
    built_in, known = timed(lambda: model.fit(columns, y).certificate_)
    seconds, found = timed(lambda: solve(task, columns, max_depth=depth, n_jobs=1).certificate)
    if not math.isclose(known.cost, found.cost, rel_tol=1e-6):
        raise SystemExit(f"{instance.name}: cost {float(found.cost)}, but {float(known.cost)}")
    return built_in, seconds


def main() -> None:
    """Print a line per set, and the greatest ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--criteria", action="store_true")
    parser.add_argument("--composed", action="store_true")
    parser.add_argument("--survival", action="store_true")
    parser.add_argument("--linear", nargs="*", help="linear models (simple, ridge), not accuracy")
    chosen = parser.parse_args()
    if chosen.criteria:
        compare_criteria(chosen.only, chosen.depth)
        return
    if chosen.composed:
        composed()
        return
    lines, ratios = [], []
    is_linear = chosen.linear is not None
    forms = ("survival",) if chosen.survival else ("accuracy",)
    if is_linear:
        forms = chosen.linear or ("simple", "ridge")
    instances = survival_instances() if chosen.survival else accuracy_instances()
    for instance, form in itertools.product(linear_instances() if is_linear else instances, forms):
        if chosen.only and instance.name not in chosen.only:
            continue
        alone = math.nan
        if is_linear:
            built_in, seconds, alone = compare_linear(instance, chosen.depth, form)
        else:
            timing = compare_survival if chosen.survival else compare
            built_in, seconds = timing(instance, chosen.depth)
        ratios.append(seconds / built_in)
        times = [f"{built_in:.4f}", f"{seconds:.4f}", f"{ratios[-1]:.1f}", f"{alone:.0f}"]
        lines.append([instance.name, form, *times])
    heads = ["data set", "leaf cost", "built-in s", "in NumPy s", "ratio", "of costs alone"]
    print(
        markdown(heads[: 6 if is_linear else 5], [line[: 6 if is_linear else 5] for line in lines])
    )
    print(f"\nleast ratio {min(ratios):.1f}, greatest {max(ratios):.1f}")


if __name__ == "__main__":
    main()
