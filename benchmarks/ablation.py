"""What every technique of the search saves: each is switched off in turn, in every kind of search.

    python benchmarks/ablation.py                       # all techniques, all searches
    python benchmarks/ablation.py --only use_table      # some techniques
    python benchmarks/ablation.py --searches front auc  # some searches
    python benchmarks/ablation.py --quick               # small tables, as in the tests

Every search runs through the public estimators, on tables that scikit-learn bundles or that are
generated from a fixed seed. `certree.without` switches techniques off. The answer must stay the
same; depth-two evaluations, which do not depend on the machine, and processor seconds are compared
with those of a search that has everything on. A technique counts as one that matters where it saves
a tenth of either. Techniques that serve searches which are stopped have a table of their own: cost
and proven bound after a number of evaluations.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes

import certree
from certree import TableEncoder, tasks

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import random_instance
from harness.report import markdown

MATTERS = 1.1
"""A search without a technique takes at least so many times as long where it matters."""

_LIMIT = 60.0

_LIMITED = ("fair", "fair, no planes", "two limits", "scarce, no planes", "loose, no planes")

_ORDERED = ("numbers", "numbers, many rows", "flags and numbers", "regression over numbers")

# Techniques whose use shows where a search is stopped.
_ANYTIME = ("use_greedy_incumbent", "use_iterative_deepening", "use_rising_bound")

# Techniques of one kind of search; all others are tried in every search.
_KINDS = {
    "use_chain_": ("auc", "auc, penalty", "auc, sparse", "auc, no tangents"),
    "use_front_": ("front", "front, many trees", "front, deep"),
    "use_limit_": _LIMITED,
    "use_interval_tests": _LIMITED,
    "use_dropped_rows": _ORDERED,
    "use_threshold_": _ORDERED,
    "use_root_feature_bounds": _ORDERED,
    "use_bit_pairs": _ORDERED,
    "use_run_blocks": ("one column",),
    "use_weight_reuse": ("f1", "fair"),
    "use_leaf_table": ("leaf function",),
    "use_saving_estimates": ("regression", "survival", "rates"),
}


class Run(NamedTuple):
    """What a search took, and what it found."""

    work: int
    seconds: float
    answer: Any
    proven: bool


def tables(quick: bool) -> dict[str, Any]:
    """Make the tables that the searches share."""
    cells, diagnosis = load_breast_cancer(return_X_y=True)
    blood, progress = load_diabetes(return_X_y=True)
    bits = _bits(cells, 2 if quick else 3)
    return {
        "cells": cells[:, :3] if quick else cells,
        "bits": bits[:, :16] if quick else bits,
        "diagnosis": diagnosis,
        # The quarter of the rows that a value falls into, as a category.
        "quarters": np.argsort(np.argsort(cells[:, : 3 if quick else 10], axis=0), axis=0)
        * 4
        // len(cells),
        "blood": blood[:, :2] if quick else blood,
        "blood bits": _bits(blood, 2 if quick else 8),
        # Half of the patients, hard to tell from the others: errors of both kinds trade off.
        "rough blood bits": _bits(blood, 1 if quick else 6),
        "progress": progress,
        "patients": certree.datasets.make_heart_failure(60 if quick else 400),
        "deep": random_instance(80 if quick else 300, 12 if quick else 25, seed=3, noise=0.3),
        # Few columns and many rows: most rows have equals, and some of them another class.
        "narrow": random_instance(300 if quick else 60_000, 8 if quick else 12, seed=5, noise=0.25),
        "counts": counts(100 if quick else 1000, 10 if quick else 80),
        # Columns that hold for few rows, as symptoms, words or products do.
        "rare": rare_columns(200 if quick else 2000, 10 if quick else 40),
        # Many rows of numbers, of which two tell the classes apart, together only.
        "plane": plane(300 if quick else 40_000, 3 if quick else 12),
        "column": column(300 if quick else 30_000),
        "flags": flags(200 if quick else 10_000, 8 if quick else 40),
        # Each column and its opposite, as one-hot encodings of two categories have them.
        "twins": np.hstack([bits[:, : 10 if quick else 90], 1 - bits[:, : 10 if quick else 90]]),
    }


def rare_columns(rows: int, columns: int) -> tuple[Any, Any]:
    """Draw columns that hold for one row in thirty; eight of them tell most of the classes."""
    rng = np.random.default_rng(1)
    bits = (rng.random((rows, columns)) < 0.03).astype(np.uint8)
    return bits, bits[:, :8].any(axis=1) ^ (rng.random(rows) < 0.1)


def counts(rows: int, columns: int) -> tuple[Any, Any]:
    """Draw 0/1 columns, and counts whose rate depends on the first three."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (rows, columns)).astype(np.uint8)
    return bits, rng.poisson(np.exp(0.5 * bits[:, 0] + 0.4 * bits[:, 1] * bits[:, 2]))


def plane(rows: int, columns: int) -> tuple[Any, Any]:
    """Draw numbers; the class is the quarter of the first two, and two in a hundred are wrong."""
    rng = np.random.default_rng(0)
    numbers = rng.random((rows, columns))
    quarter = (numbers[:, 0] > 0.5) ^ (numbers[:, 1] > 0.4)
    return numbers, quarter ^ (rng.random(rows) < 0.02)


def flags(rows: int, columns: int) -> tuple[Any, Any]:
    """Draw four columns of numbers beside flags; the class depends on both kinds, and on chance."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(rows, 4))
    bits = rng.random((rows, columns)) < rng.uniform(0.1, 0.9, columns)
    score = numbers[:, 0] * bits[:, 0] + np.where(
        numbers[:, 1] > 0.3, bits[:, 1], -1.0 * bits[:, 2]
    )
    score += (bits[:, 3] & bits[:, 4]) * numbers[:, 2] + 0.8 * rng.normal(size=rows)
    return np.hstack([numbers, bits]), score > 0


def column(rows: int) -> tuple[Any, Any]:
    """Draw one column of numbers, and targets that it says nothing about."""
    rng = np.random.default_rng(0)
    return rng.random((rows, 1)), np.round(rng.normal(size=rows), 3)


def _bits(values: Any, thresholds: int) -> Any:
    return np.asarray(TableEncoder(thresholds=thresholds).fit_transform(values), dtype=np.uint8)


def searches(quick: bool) -> dict[str, Callable[[], Any]]:
    """Return the searches by name; each gives a certificate."""
    data = tables(quick)
    bits, y, deep, narrow = data["bits"], data["diagnosis"], data["deep"], data["narrow"]
    few = bits[:, : 10 if quick else 40]
    rough = bits[:, : 6 if quick else 15]
    shared: dict[str, Any] = {"time_limit": _LIMIT, "verbose": False}
    groups = np.digitize(data["cells"][:, 1], [16, 19, 22])
    depth = 3 if quick else 4

    def classify(X: Any, labels: Any = y, **settings: Any) -> Any:
        return certree.OptimalTreeClassifier(**{**shared, **settings}).fit(X, labels).certificate_

    def fair(X: Any) -> Any:
        model = certree.FairTreeClassifier(max_depth=3, tolerance=0.02, **shared)
        return model.fit(X, y, sensitive_features=groups).certificate_

    def limited() -> Any:
        # Three treatments, of which two are scarce and depend on different columns.
        rng = np.random.default_rng(0)
        better = np.stack([np.ones(len(y)), 2.0 * y + rough[:, 0], 1.0 + rough[:, 1] + rough[:, 2]])
        rewards = tasks.Rewards(np.round(better.T + rng.random((len(y), 3)), 1), [0, 1, 2])
        scarce = [tasks.Limit(f"treatment {k}", {k: 1}, at_most=len(y) // (2 + k)) for k in (1, 2)]
        task = rewards & scarce[0] & scarce[1]
        return certree.solve(task, rough, max_depth=3, **shared).certificate

    def scarce(n_loose: int = 0) -> Any:
        # So deep that the same rows are reached on several ways; some limits matter to few of them.
        rng = np.random.default_rng(1)
        rewards = tasks.Rewards(np.stack([y, 1 - y], axis=1), [0, 1])
        task = rewards & tasks.Limit("second", {1: 1}, at_most=3 * len(y) // 10)
        for k in range(n_loose):
            amounts = rng.integers(0, 5, (len(y), 2))
            most = int(0.97 * amounts.max(axis=1).sum())
            task = task & tasks.Limit(f"loose {k}", amounts, at_most=most)
        return certree.solve(task, bits[:, : 6 if quick else 12], max_depth=5, **shared).certificate

    def leaf_function() -> Any:
        def gini(sums: Any) -> Any:
            return sums[:, 0] * sums[:, 1] / np.maximum(sums.sum(axis=1), 1)

        task = tasks.LeafCost(np.stack([y, 1 - y], axis=1), gini)
        return certree.solve(task, few, max_depth=depth, **shared).certificate

    return {
        "accuracy": lambda: classify(bits, max_depth=depth),
        "repeated rows": lambda: classify(narrow.columns, narrow.labels, max_depth=depth),
        "twin columns": lambda: classify(data["twins"], max_depth=depth),
        "rare columns": lambda: classify(*data["rare"], max_depth=depth + 1),
        "deep": lambda: classify(deep.columns, deep.labels, max_depth=depth + 1),
        "sparse": lambda: classify(few, max_depth=None, complexity=0.01),
        "sparse, conflicts": lambda: classify(rough, max_depth=None, complexity=0.002),
        "regression": lambda: (
            certree.OptimalTreeRegressor(max_depth=depth, **shared)
            .fit(data["blood bits"], data["progress"])
            .certificate_
        ),
        "survival": lambda: (
            certree.SurvivalTree(max_depth=3, thresholds=5 if quick else 10, **shared)
            .fit(data["patients"].data, data["patients"].target)
            .certificate_
        ),
        "rates": lambda: (
            certree.OptimalTreeRegressor(depth, criterion="poisson", **shared)
            .fit(*data["counts"])
            .certificate_
        ),
        "regression over numbers": lambda: (
            certree.OptimalTreeRegressor(2 if quick else 3, thresholds="all", **shared)
            .fit(data["blood"], data["progress"])
            .certificate_
        ),
        "one column": lambda: (
            certree.OptimalTreeRegressor(2, thresholds="all", **shared)
            .fit(*data["column"])
            .certificate_
        ),
        "leaf function": leaf_function,
        "categories": lambda: classify(
            data["quarters"],
            max_depth=None,
            complexity=0.01,
            splits="both",
            categorical_features="all",
        ),
        "numbers": lambda: classify(data["cells"], max_depth=3, thresholds="all"),
        "numbers, many rows": lambda: classify(
            *data["plane"], max_depth=3, thresholds="all", complexity=0.01
        ),
        "flags and numbers": lambda: classify(*data["flags"], max_depth=3, thresholds="all"),
        "f1": lambda: classify(bits, max_depth=depth, objective="f1"),
        "front": lambda: certree.pareto_front(bits, y, max_depth=depth, **shared).certificate,
        "front, deep": lambda: (
            certree.pareto_front(
                bits[:, : 6 if quick else 25], y, max_depth=5, **shared
            ).certificate
        ),
        "front, many trees": lambda: (
            certree.pareto_front(
                data["rough blood bits"], data["progress"] > 140, max_depth=depth, **shared
            ).certificate
        ),
        "auc": lambda: classify(few, max_depth=3, objective="auc"),
        "auc, penalty": lambda: classify(rough, max_depth=4, objective="auc", complexity=0.003),
        "auc, sparse": lambda: classify(rough, max_depth=None, objective="auc", complexity=0.03),
        # The bounds of areas and limits are so tight that others hardly count beside them.
        "auc, no tangents": _without(
            "use_chain_tangents", lambda: classify(rough, max_depth=3, objective="auc")
        ),
        "fair": lambda: fair(few),
        "fair, no planes": _without("use_limit_planes", lambda: fair(rough)),
        "two limits": limited,
        "scarce, no planes": _without("use_limit_planes", scarce),
        "loose, no planes": _without("use_limit_planes", lambda: scarce(3)),
    }


def stopped(quick: bool) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return searches by name, with the evaluations after which they are looked at."""
    data = tables(quick)
    far = random_instance(100 if quick else 2000, 10 if quick else 60, seed=3, noise=0.3)

    def search(X: Any, y: Any, depth: int) -> Callable[[], Any]:
        model = certree.OptimalTreeClassifier(depth, time_limit=_LIMIT, verbose=False)
        return lambda: model.fit(X, y).certificate_

    few = data["bits"][:, : 8 if quick else 40]
    return {
        "breast cancer, depth 6": (search(few, data["diagnosis"], 6), 50 if quick else 20_000),
        "generated, depth 5": (search(far.columns, far.labels, 5), 50 if quick else 200_000),
    }


def _without(name: str, search: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with certree.without(name):
            return search()

    return run


def measure(search: Callable[[], Any]) -> Run:
    """Run a search once."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The table says what is not proven.
        certificate = search()
    seconds = time.process_time() - start
    answer = getattr(certificate, "cost", None)
    if answer is None:
        # The errors of the trees on a front; which tree makes them is left open.
        answer = [point[:2] for point in certificate.to_dict()["points"]]
    work = int(certificate.counters["depth_two_evaluations"])
    return Run(work, seconds, answer, bool(certificate.is_optimal))


def applies(technique: str, search: str) -> bool:
    """Tell whether a search can use a technique."""
    for beginning, kinds in _KINDS.items():
        if technique.startswith(beginning):
            return search in kinds
    return True


def ratio(without: float, all_on: float) -> float:
    """Return how many times as much it takes, where tiny amounts count as one another."""
    return (without + 1e-3) / (all_on + 1e-3)


def compare(
    names: Iterable[str], chosen: dict[str, Callable[[], Any]], show: Callable[[str], object]
) -> list[tuple[str, str, Run, Run]]:
    """Switch every technique off in every search; return technique, search and both runs."""
    found = []
    for search, run in chosen.items():
        base = min((measure(run) for _ in range(2)), key=lambda one: one.seconds)
        show(f"{search}: {base.work:,} evaluations, {base.seconds:.2f} s")
        for name in names:
            if not applies(name, search):
                continue
            with certree.without(name):
                other = measure(run)
                # Seconds differ by chance, evaluations do not.
                for _ in range(2):
                    if other.seconds < 2 and gain(base, other) > ratio(other.work, base.work):
                        other = min(other, measure(run), key=lambda one: one.seconds)
            if base.proven and other.proven and base.answer != other.answer:
                raise SystemExit(f"{search} without {name}: {other.answer}, not {base.answer}.")
            found.append((name, search, base, other))
    return found


def gain(base: Run, other: Run) -> float:
    """Return how many times as much a search takes, in work or seconds, whichever is more."""
    # Short runs differ by chance.
    seconds = ratio(other.seconds, base.seconds) if other.seconds > base.seconds + 0.05 else 1.0
    return max(ratio(other.work, base.work), seconds)


def table(found: list[tuple[str, str, Run, Run]]) -> str:
    """Write a line for each technique: where it saves most, and in which other searches it pays."""
    lines = []
    for name in dict.fromkeys(entry[0] for entry in found):
        mine = sorted(
            (entry for entry in found if entry[0] == name), key=lambda e: -gain(e[2], e[3])
        )
        _, search, base, other = mine[0]
        more = [e[1] for e in mine[1:] if gain(e[2], e[3]) >= MATTERS]
        matters = gain(base, other) >= MATTERS
        lines.append(
            [
                f"`{name}`",
                search if matters else "none of these",
                f"{base.work:,}",
                f"{other.work:,}" + ("" if other.proven else " (stopped)"),
                f"{base.seconds:.2f}",
                f"{other.seconds:.2f}",
                ", ".join(more),
            ]
        )
    header = ["technique", "saves most in", "evaluations", "without it", "seconds", "without it"]
    return markdown([*header, "also pays in"], lines)


def reached(search: Callable[[], Any], work: int) -> tuple[float, float]:
    """Return cost and proven bound of a search after so many evaluations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = search().history
    _, _, cost, bound = [step for step in history if step[1] <= work][-1]
    return float(cost), float(bound)


def stopped_table(names: Iterable[str], quick: bool) -> str:
    """Write cost and bound of stopped searches, with everything on and without each technique."""
    header = ["search", "evaluations", "without", "cost", "proven bound"]
    lines = []
    for search, (run, work) in stopped(quick).items():
        for name in ("", *names):
            with certree.without(*filter(None, [name])):
                cost, bound = reached(run, work)
            without = f"`{name}`" if name else "nothing"
            lines.append([search, f"{work:,}", without, f"{cost:g}", f"{bound:g}"])
    return markdown(header, lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(certree.techniques()))
    parser.add_argument("--searches", nargs="+")
    parser.add_argument("--quick", action="store_true")
    settings = parser.parse_args()
    offered = searches(settings.quick)
    unknown = set(settings.searches or ()) - set(offered)
    if unknown:
        raise SystemExit(f"There is no search {sorted(unknown)}; there are {sorted(offered)}.")
    chosen = {name: run for name, run in offered.items() if name in (settings.searches or offered)}
    timed = [name for name in settings.only if name not in _ANYTIME]
    if timed:
        print(table(compare(timed, chosen, lambda text: print(text, file=sys.stderr))))
    anytime = [name for name in settings.only if name in _ANYTIME]
    if anytime and settings.searches is None:
        print(f"\n{stopped_table(anytime, settings.quick)}")


if __name__ == "__main__":
    main()
