"""Time leaf costs beside each other: accuracy in NumPy, and the criteria of regression.

    python benchmarks/leaf_cost.py                 # depth 3, all sets of the folder
    python benchmarks/leaf_cost.py --only monk1 --depth 4
    python benchmarks/leaf_cost.py --criteria      # absolute error and others beside squared error

Accuracy must come to the same cost both ways. The least of three times counts.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from certree import OptimalTreeClassifier, OptimalTreeRegressor, solve, tasks

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import Instance, accuracy_instances
from harness.report import markdown
from harness.task_suites import regression_instances

REPEATS = 3


def rows_of_other_classes(sums: Any) -> tuple[Any, Any]:
    """Errors of leaves with so many rows of each class, and the labels that make them."""
    return sums.sum(axis=1) - sums.max(axis=1), sums.argmax(axis=1)


def timed(solve: Callable[[], Any]) -> tuple[float, Any]:
    """Solve a few times; give the least time and the certificate."""
    best, certificate = math.inf, None
    for _ in range(REPEATS):
        start = time.perf_counter()
        certificate = solve()
        best = min(best, time.perf_counter() - start)
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
            model = OptimalTreeRegressor(depth, criterion=criterion, quantile=0.9, n_jobs=1)
            seconds[criterion], _ = timed(partial(model.fit, instance.columns, target))
        squared = seconds["squared_error"]
        ratios = [f"{seconds[criterion] / squared:.1f}" for criterion in criteria]
        lines.append([instance.name, f"{squared:.3f}", *ratios])
    print(markdown(["data set", "squared_error s", *criteria], lines))


def main() -> None:
    """Print a line per set, and the greatest ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--criteria", action="store_true")
    chosen = parser.parse_args()
    if chosen.criteria:
        compare_criteria(chosen.only, chosen.depth)
        return
    lines, ratios = [], []
    for instance in accuracy_instances():
        if chosen.only and instance.name not in chosen.only:
            continue
        built_in, seconds = compare(instance, chosen.depth)
        ratios.append(seconds / built_in)
        lines.append([instance.name, f"{built_in:.4f}", f"{seconds:.4f}", f"{ratios[-1]:.1f}"])
    print(markdown(["data set", "built-in s", "leaf cost s", "ratio"], lines))
    print(f"\ngreatest ratio {max(ratios):.1f}")


if __name__ == "__main__":
    main()
