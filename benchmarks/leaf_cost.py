"""Time leaf costs written in NumPy beside the same ones built in: accuracy, or linear models.

    python benchmarks/leaf_cost.py                 # depth 3, all sets of the folder
    python benchmarks/leaf_cost.py --only monk1 --depth 4
    python benchmarks/leaf_cost.py --linear        # lines and ridge models in the leaves

Both must come to the same cost. The least of three times of the processor counts.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from certree import LinearTreeRegressor, OptimalTreeClassifier, solve, tasks
from certree.tasks._linear_error import LinearError

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import Instance, accuracy_instances
from harness.report import markdown
from harness.task_suites import linear_instances

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
    problem = model._state(model._task(target, len(target)), table, target, None).problem
    leaves = np.random.default_rng(0).integers(0, 2, (20_000, len(target)))
    sums, numbers = leaves @ problem.statistics, leaves @ own.statistics
    alone = timed(lambda: own.cost(numbers))[0] / timed(lambda: problem.units(sums))[0]
    return built_in, seconds, alone


def main() -> None:
    """Print a line per set, and the greatest ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--linear", nargs="*", help="linear models (simple, ridge), not accuracy")
    chosen = parser.parse_args()
    lines, ratios = [], []
    is_linear = chosen.linear is not None
    forms = (chosen.linear or ("simple", "ridge")) if is_linear else ("accuracy",)
    for instance, form in itertools.product(
        linear_instances() if is_linear else accuracy_instances(), forms
    ):
        if chosen.only and instance.name not in chosen.only:
            continue
        alone = math.nan
        if is_linear:
            built_in, seconds, alone = compare_linear(instance, chosen.depth, form)
        else:
            built_in, seconds = compare(instance, chosen.depth)
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
