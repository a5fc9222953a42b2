"""Records what certree certifies for many small problems, or compares two such records.

A change of structure must not change an answer. Record before and after, and compare:

    python tools/golden.py record before.json
    python tools/golden.py record after.json
    python tools/golden.py compare before.json after.json

A record holds every field of every certificate but seconds, history and counters, and every tree.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import certree
from certree import oracles, tasks

# What depends on the machine or on the way of a search, and not on the answer.
_LEFT_OUT = {"seconds", "history", "counters", "n_solves", "n_rounds", "version"}

Case = tuple[str, Callable[[], Any]]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in fields(value) if f.name not in _LEFT_OUT]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Fraction | complex):
        return str(value)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items() if k not in _LEFT_OUT}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return f"<{type(value).__name__}>"


def answer(found: Any) -> Any:
    """Return what was found: certificates and trees of a model, solution, path, front or curve."""
    record: dict[str, Any] = {}
    for name in ("certificate_", "certificate", "points", "status", "lower_points", "values"):
        if hasattr(found, name):
            record[name.rstrip("_")] = plain(getattr(found, name))
    tree = getattr(found, "tree_", getattr(found, "tree", None))
    if hasattr(tree, "to_dict"):
        record["tree"] = plain(tree.to_dict())
    if hasattr(found, "__len__") and hasattr(found, "__getitem__"):
        record["parts"] = [answer(found[i]) for i in range(len(found))]
    return record


def data(seed: int, n: int = 60) -> dict[str, Any]:
    """Return a table of numbers, categories and gaps, with classes, groups, costs and weights."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (n, 5))
    numbers = np.round(rng.normal(size=(n, 3)), 1)
    gaps = numbers.copy()
    gaps[rng.random(gaps.shape) < 0.1] = np.nan
    table = np.empty((n, 4), dtype=object)
    table[:, :3] = gaps
    table[:, 3] = rng.choice(["a", "b", "c"], n)
    y = (bits[:, 0] ^ (rng.random(n) < 0.2) ^ (numbers[:, 0] > 0.3)).astype(int)
    return {
        "bits": bits,
        "numbers": numbers,
        "mixed": table,
        "y": y,
        "three": (y + rng.integers(0, 2, n)),
        "target": np.round(numbers[:, 0] * 2 + y + rng.normal(size=n), 2),
        "groups": rng.integers(0, 2, n),
        "costs": np.round(rng.normal(size=(n, 3)), 2),
        "weights": {
            "none": None,
            "whole": rng.integers(1, 6, n),
            "decimal": np.round(rng.random(n) + 0.1, 2),
            "real": rng.random(n) + 0.1,
        },
    }


def cases() -> Iterator[Case]:
    """Yield every case, by name."""
    for seed in (1, 2):
        d = data(seed)
        for kind, weights in d["weights"].items():
            where = f"{seed} {kind}"
            yield from _classifiers(where, d, weights)
            yield from _tasks(where, d, weights)
            yield from _limits(where, d, weights)
            yield from _decisions(where, d, weights)


def _classifiers(where: str, d: dict[str, Any], w: Any) -> Iterator[Case]:
    trees = certree.OptimalTreeClassifier
    for table in ("bits", "numbers", "mixed"):
        for name, parameters in {
            "plain": {},
            "depth none": {"max_depth": None, "complexity": 0.02},
            "splits": {"max_depth": 3, "max_splits": 4},
            "leaf": {"complexity": "1/60", "complexity_per": "leaf", "min_samples_leaf": 4},
            "balanced": {"class_weight": "balanced"},
            "dict": {"class_weight": {0: 1, 1: 2.5}},
            "all": {"thresholds": "all", "max_depth": 2},
            "quantiles": {"thresholds": 4},
        }.items():
            settings = {"max_depth": 2, **parameters}
            yield (
                f"{where} {table} {name}",
                lambda s=settings, t=table: trees(**s).fit(d[t], d["y"], w),
            )
    for objective in ("balanced_accuracy", "f1", "mcc", "kappa", "gmean", "auc"):
        yield (
            f"{where} {objective}",
            lambda o=objective: trees(max_depth=2, objective=o, complexity=0.01).fit(
                d["bits"], d["y"], w
            ),
        )
    yield f"{where} three", lambda: trees(max_depth=3).fit(d["mixed"], d["three"], w)
    yield (
        f"{where} multiway",
        lambda: trees(max_depth=2, splits="multiway").fit(d["mixed"], d["three"], w),
    )
    yield (
        f"{where} path",
        lambda: certree.regularization_path(d["bits"], d["y"], sample_weight=w, max_depth=3),
    )
    yield (
        f"{where} front",
        lambda: certree.pareto_front(d["bits"], d["y"], sample_weight=w, max_depth=2),
    )


def _tasks(where: str, d: dict[str, Any], w: Any) -> Iterator[Case]:
    sensitive = certree.CostSensitiveTreeClassifier
    matrix = [[0, 3], [1, 0]]
    yield f"{where} matrix", lambda: sensitive(matrix, max_depth=2).fit(d["mixed"], d["y"], w)
    yield (
        f"{where} prices",
        lambda: sensitive(matrix, max_depth=2, test_costs=[0.1, 0.2, 0.1, 0, 0.3]).fit(
            d["bits"], d["y"], w
        ),
    )
    yield (
        f"{where} row costs",
        lambda: sensitive(classes=[0, 1, 2], max_depth=2).fit(
            d["bits"], sample_weight=w, costs=d["costs"]
        ),
    )
    yield (
        f"{where} regression",
        lambda: certree.OptimalTreeRegressor(max_depth=2).fit(d["numbers"], d["target"], w),
    )
    yield (
        f"{where} policy",
        lambda: certree.PolicyTree(max_depth=2).fit_rewards(d["mixed"], d["costs"], w),
    )
    for task in (tasks.gini(d["y"]), tasks.entropy(d["y"])):
        yield (
            f"{where} {task.name}",
            lambda t=task: certree.solve(t, d["bits"], sample_weight=w, max_depth=2),
        )


def _limits(where: str, d: dict[str, Any], w: Any) -> Iterator[Case]:
    policy = certree.PolicyTree
    total = len(d["y"]) if w is None else float(np.sum(w))
    yield (
        f"{where} capacity",
        lambda: policy(max_depth=2, capacity={1: 0.3}).fit_rewards(d["bits"], d["costs"], w),
    )
    for most in (0.1, 0.3):
        limit = tasks.Limit("ones", {1: 1}, at_most=most * total, at_least=0.05 * total)
        yield (
            f"{where} limit {most}",
            lambda l=limit: certree.solve(
                tasks.Misclassification() & l, d["bits"], d["y"], sample_weight=w, max_depth=3
            ),
        )
    two = tasks.Front(tasks.Misclassification(), tasks.CostMatrix([[0, 4], [1, 0]]))
    yield (
        f"{where} two objectives",
        lambda: certree.solve(two, d["bits"], d["y"], sample_weight=w, max_depth=2),
    )
    impossible = tasks.Limit("ones", {1: 1}, at_least=2 * total)
    yield (
        f"{where} infeasible",
        lambda: certree.solve(
            tasks.Misclassification() & impossible, d["bits"], d["y"], sample_weight=w, max_depth=1
        ),
    )
    for constraint in ("demographic_parity", "equal_opportunity", "equalized_odds"):
        fair = certree.FairTreeClassifier(constraint, tolerance=0.05, max_depth=2)
        yield (
            f"{where} {constraint}",
            lambda f=fair: f.fit(d["bits"], d["y"], d["groups"], w),
        )
    curve = certree.FairTreeClassifier("demographic_parity", max_depth=2)
    yield (
        f"{where} curve",
        lambda: curve.fairness_curve(d["bits"], d["y"], d["groups"], w),
    )


def _decisions(where: str, d: dict[str, Any], w: Any) -> Iterator[Case]:
    oracle = oracles.TopK(3, 1)
    for method in ("exact", "greedy"):
        yield (
            f"{where} SPO {method}",
            lambda m=method: certree.SPOTree(oracle, max_depth=2, method=m).fit(
                d["bits"], d["costs"], w
            ),
        )


def record(path: Path) -> None:
    """Write a record."""
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name, make in cases():
        try:
            found[name] = answer(make())
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {error}"}
    path.write_text(json.dumps(found, indent=1, sort_keys=True))
    errors = [name for name, one in found.items() if "error" in one]
    print(f"{len(found)} cases, {len(errors)} of them errors {errors[:5]}")


def differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Yield where two records differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            yield from differences(a.get(key), b.get(key), f"{where}/{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{where}/{k}")
    elif a != b:
        yield f"{where}: {str(a)[:80]} -> {str(b)[:80]}"


def main(arguments: list[str]) -> int:
    """Record or compare."""
    if len(arguments) == 2 and arguments[0] == "record":
        record(Path(arguments[1]))
        return 0
    if len(arguments) == 3 and arguments[0] == "compare":
        before, after = (json.loads(Path(name).read_text()) for name in arguments[1:])
        found = list(differences(before, after))
        print("\n".join(found[:200]))
        print(f"{len(found)} differences")
        return int(bool(found))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
