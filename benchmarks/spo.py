"""The experiments on trees that decide: two roads, noisy shortest paths, news recommendation.

    python -m benchmarks.spo                      # everything, to benchmarks/results/spo.json
    python -m benchmarks.spo paths --n 200        # one part; --repeats, --plot FOLDER
    python -m benchmarks.spo speed                # seconds to the proof, and against the program

Test losses are normalised extra costs, means over data sets with graphs of their own, 1000 test
rows each, leaves of at least 20 rows. CART is the greedy method with squared error. All are learned
from the same rows and tests; "pruned" trees hold out a fifth of the rows, as in the paper.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from certree import SPOForest, SPOTree, datasets, oracles

RESULTS = Path(__file__).parent / "results"
SETTINGS = [(degree, noise) for degree in (2, 10) for noise in (0.0, 0.25)]


def two_roads() -> dict[str, Any]:
    """Where trees of each depth split, and what they lose."""
    train = datasets.make_two_roads(10000, random_state=0)
    test = datasets.make_two_roads(10000, random_state=1)
    found: dict[str, Any] = {}
    for depth in (1, 2, 3, 4):
        for name, settings in (
            ("exact", {"method": "exact"}),
            ("CART", {"method": "greedy", "criterion": "squared_error"}),
        ):
            model = SPOTree(max_depth=depth, thresholds=1000, **settings).fit(train.X, train.C)
            cuts = sorted(t.threshold for t in model.tree_.tests)
            loss = model.loss(test.X, test.C, normalize=True)
            found[f"{name} {depth}"] = {"cuts": cuts, "extra": loss}
            shown = ", ".join(f"{cut:.3f}" for cut in cuts[:5])
            print(f"two roads   {name:6} depth {depth}: extra {loss:8.4%}, cuts at {shown}")
    return found


def methods(depth: int | None, thresholds: Any) -> dict[str, Callable[[Any, int], Any]]:
    """Return what is compared at a depth: name to a function of oracle and seed."""
    common = {"max_depth": depth, "min_samples_leaf": 20, "thresholds": thresholds}
    grown = {"method": "greedy", **common}
    pruned = {"validation_fraction": 0.2, **grown}
    mse = "squared_error"
    found: dict[str, Callable[[Any, int], Any]] = {
        "CART": lambda o, s: SPOTree(o, criterion=mse, **grown),
        "CART pruned": lambda o, s: SPOTree(o, criterion=mse, random_state=s, **pruned),
        "greedy": lambda o, s: SPOTree(o, **grown),
        "greedy pruned": lambda o, s: SPOTree(o, random_state=s, **pruned),
    }
    if depth is not None:
        found["exact"] = lambda o, s: SPOTree(o, **common)
    return found


def forests(n_trees: int, thresholds: Any) -> dict[str, Callable[[Any, int], Any]]:
    """Return the forests that are compared."""
    common = {
        "n_estimators": n_trees,
        "min_samples_leaf": 20,
        "max_features": 3,
        "thresholds": thresholds,
        "n_jobs": 2,
    }
    return {
        "CART forest": lambda o, s: SPOForest(
            o, criterion="squared_error", random_state=s, **common
        ),
        "SPO forest": lambda o, s: SPOForest(o, random_state=s, **common),
    }


def paths(
    n: int, repeats: int, depths: list[int | None], thresholds: Any, n_trees: int
) -> dict[str, Any]:
    """Test losses of all methods on noisy shortest paths."""
    oracle = oracles.GridShortestPath(4, 4)
    found: dict[str, Any] = {}
    for degree, noise in SETTINGS:
        for depth in depths:
            for name, make in methods(depth, thresholds).items():
                key = f"degree {degree} noise {noise} depth {depth} {name}"
                found[key] = _run(make, oracle, n, degree, noise, repeats)
        for name, make in forests(n_trees, thresholds).items():
            key = f"degree {degree} noise {noise} depth None {name}"
            found[key] = _run(make, oracle, n, degree, noise, repeats)
        _check_training(found, degree, noise, [d for d in depths if d is not None])
    return found


def _run(
    make: Callable[[Any, int], Any], oracle: Any, n: int, degree: int, noise: float, repeats: int
) -> dict[str, Any]:
    losses, seconds, training = [], [], []
    for seed in range(repeats):
        data = datasets.make_shortest_path(
            n=n, degree=degree, noise=noise, random_state=seed, n_test=1000
        )
        start = perf_counter()
        model = make(oracle, seed).fit(data.X, data.C)
        seconds.append(perf_counter() - start)
        losses.append(model.loss(data.X_test, data.C_test, normalize=True))
        training.append(model.loss(data.X, data.C, normalize=True))
    return {"extra": losses, "training": training, "seconds": seconds}


def _check_training(found: dict[str, Any], degree: int, noise: float, depths: list[int]) -> None:
    for depth in depths:
        start = f"degree {degree} noise {noise} depth {depth} "
        exact, greedy = found[start + "exact"], found[start + "greedy"]
        for ours, other in zip(exact["training"], greedy["training"], strict=True):
            assert ours <= other + 1e-12, f"{start}: exact is worse than greedy in training"


def show_paths(n: int, found: dict[str, Any]) -> None:
    """Print mean test losses, one line per setting and depth."""
    names = ["CART", "CART pruned", "greedy", "greedy pruned", "exact", "CART forest", "SPO forest"]
    print(f"\nshortest path, n = {n}: mean extra travel time on test rows")
    print(f"{'degree':>6} {'noise':>6} {'depth':>6} " + " ".join(f"{name:>13}" for name in names))
    for degree, noise in SETTINGS:
        depths = {
            key.split()[5] for key in found if key.startswith(f"degree {degree} noise {noise} ")
        }
        for depth in sorted(depths):
            line = []
            for name in names:
                record = found.get(f"degree {degree} noise {noise} depth {depth} {name}")
                line.append("" if record is None else f"{np.mean(record['extra']):.3%}")
            print(f"{degree:>6} {noise:>6} {depth:>6} " + " ".join(f"{x:>13}" for x in line))


def plot_paths(n: int, found: dict[str, Any], folder: Path) -> None:
    """Draw a box plot of the test losses for every setting."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(12, 8), constrained_layout=True)
    for ax, (degree, noise) in zip(axes.ravel(), SETTINGS, strict=True):
        start = f"degree {degree} noise {noise} depth "
        chosen = {
            key[len(start) :]: v["extra"] for key, v in found.items() if key.startswith(start)
        }
        ax.boxplot([100 * np.array(losses) for losses in chosen.values()])
        ax.set_xticks(range(1, len(chosen) + 1), list(chosen), rotation=60, ha="right", fontsize=7)
        ax.set_title(f"degree {degree}, noise {noise}")
        ax.set_ylabel("extra travel time, %")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"spo-paths-{n}.png", dpi=120)
    plt.close(figure)


def news(repeats: int) -> dict[str, Any]:
    """Mean click probability on test rows under random constraints."""
    found: dict[str, list[float]] = {}
    for seed in range(repeats):
        data = datasets.make_news(2000, random_state=seed, n_test=2000)
        oracle = oracles.LinearProgram(
            A_ub=data.A, b_ub=data.b, A_eq=np.ones((1, 6)), b_eq=[1], sense="max"
        )
        least = 4000
        trees: dict[str, Any] = {}
        for depth in (2, 4):
            common = {"max_depth": depth, "min_samples_leaf": least, "thresholds": 8}
            trees[f"CART {depth}"] = SPOTree(oracle, "greedy", criterion="squared_error", **common)
            trees[f"greedy {depth}"] = SPOTree(oracle, "greedy", **common)
        trees["exact 2"] = SPOTree(
            oracle, max_depth=2, min_samples_leaf=least, thresholds=8, time_limit=300
        )
        trees["SPO forest"] = SPOForest(
            oracle, n_estimators=20, min_samples_leaf=least, thresholds=8, random_state=seed
        )
        for name, model in trees.items():
            model.fit(data.X, data.C, data.sample_weight)
            clicks = np.einsum("ij,ij->i", data.C_test, model.decide(data.X_test))
            mean = float(np.average(clicks, weights=data.sample_weight_test))
            found.setdefault(name, []).append(mean)
    print("\nnews: mean click probability on test rows")
    for name, values in found.items():
        print(f"  {name:12} {np.mean(values):.5f}")
    return dict(found)


def speed() -> dict[str, Any]:
    """Seconds to the proof, 10 thresholds per feature, and the program at depth 2."""
    oracle = oracles.GridShortestPath(4, 4)
    found: dict[str, Any] = {}
    for n, depths in ((200, (2, 3, 4)), (10000, (2, 3))):
        data = datasets.make_shortest_path(n=n, random_state=0)
        for depth in depths:
            model = SPOTree(oracle, max_depth=depth, thresholds=10, time_limit=600)
            start = perf_counter()
            model.fit(data.X, data.C)
            seconds = perf_counter() - start
            status = model.certificate_.status
            found[f"n {n} depth {depth}"] = {"seconds": seconds, "status": status}
            print(f"exact   n = {n:6} depth {depth}: {seconds:8.3f} s, {status}")
    data = datasets.make_shortest_path(n=50, random_state=0)
    times = {}
    for method, limit in (("exact", 60.0), ("milp", 1800.0)):
        model = SPOTree(oracle, method, max_depth=2, thresholds=10, time_limit=limit)
        start = perf_counter()
        model.fit(data.X, data.C)
        times[method] = perf_counter() - start
        cost, status = float(model.certificate_.cost), model.certificate_.status
        print(f"{method:7} n =     50 depth 2: {times[method]:8.3f} s, {status}, loss {cost:.6f}")
        found[f"{method} n 50 depth 2"] = {
            "seconds": times[method],
            "status": status,
            "loss": cost,
            "lower_bound": float(model.certificate_.lower_bound),
        }
    print(f"ratio {times['milp'] / times['exact']:.0f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = ("roads", "paths", "news", "speed")
    parser.add_argument("part", nargs="*", help=f"any of {', '.join(parts)}; all by default")
    parser.add_argument("--n", type=int, nargs="*", default=[200, 10000])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--depths", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--thresholds", type=int, default=10)
    parser.add_argument("--trees", type=int, default=100, help="trees of a forest")
    parser.add_argument("--plot", type=Path, help="folder for box plots")
    parser.add_argument("--out", type=Path, default=RESULTS / "spo.json")
    args = parser.parse_args()
    chosen = args.part or parts
    records = json.loads(args.out.read_text()) if args.out.exists() else {}
    if "roads" in chosen:
        records["roads"] = two_roads()
    if "paths" in chosen:
        for n in args.n:
            found = paths(n, args.repeats, [*args.depths, None], args.thresholds, args.trees)
            records[f"paths {n}"] = found
            show_paths(n, found)
            if args.plot is not None:
                plot_paths(n, found, args.plot)
    if "news" in chosen:
        records["news"] = news(min(args.repeats, 9))
    if "speed" in chosen:
        records["speed"] = speed()
    args.out.parent.mkdir(exist_ok=True)
    args.out.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
