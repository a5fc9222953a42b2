"""Do fits end when their time is up, with columns that name every row?

    python benchmarks/time_limits.py                 # 500 fits with limits of 0.2 to 2 s
    python benchmarks/time_limits.py --fits 50 --seed 7

Identifiers are the worst that a table can have: every row has a category or a number of its own, so
tests are as many as rows, and none of them is of use. Every fit draws a table of 1 000 to 200 000
rows with one to three identifiers, as texts, as integers or both, beside columns of numbers, flags
and categories; an estimator, an objective, a depth, the cut points, and a limit. What counts is the
processor time from the limit to the end, so that other programs on the machine matter little; the
wall clock is recorded beside it. Records go to ``results/time-limits.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import report  # noqa: E402

from certree import (  # noqa: E402
    CostSensitiveTreeClassifier,
    FairTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    PolicyTree,
    pareto_front,
)

ROWS = (1_000, 3_000, 10_000, 20_000, 50_000, 200_000)
ROW_SHARES = (0.25, 0.2, 0.2, 0.2, 0.1, 0.05)
LIMITS = (0.2, 0.5, 1.0, 2.0)
SOON = 1.0
"""Seconds after its limit within which a fit ends."""


def draw_table(rng: np.random.Generator, n_rows: int) -> tuple[Any, str]:
    """Draw columns of all kinds, of which one to three name the rows."""
    n_numbers = int(rng.integers(2, 16))
    columns: list[Any] = list(np.round(rng.normal(size=(n_numbers, n_rows)), 3).astype(object))
    columns += [rng.integers(0, 2, n_rows) for _ in range(int(rng.integers(0, 4)))]
    columns += [np.array(["red", "green", "blue"])[rng.integers(0, 3, n_rows)]]
    kinds = list(rng.choice(["text", "integer", "nearly"], size=int(rng.integers(1, 4))))
    for kind in kinds:
        names = rng.permutation(n_rows)
        if kind == "text":
            columns.append(np.array([f"C{name}" for name in names], dtype=object))
        elif kind == "integer":
            columns.append(names)
        else:  # some names come twice
            columns.append(np.array([f"N{name * 9 // 10}" for name in names], dtype=object))
    table = np.empty((n_rows, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = column
    return table, "+".join(kinds)


def keeping(model: Any) -> Any:
    """Let a model keep columns that name the rows, if it would leave them out."""
    if "identifiers" in model.get_params():
        model.set_params(identifiers="keep")
    return model


def kinds_of_fits(rng: np.random.Generator, X: Any) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Return what may be fitted to a table, by name."""
    n_rows = len(X)
    labels = rng.random(n_rows) < rng.choice([0.01, 0.2, 0.5])
    labels[:2] = False, True
    classes, groups = rng.integers(0, 4, n_rows), rng.integers(0, 2, n_rows)
    numbers = np.round(rng.normal(size=n_rows), 2)
    costs = rng.integers(0, 9, (n_rows, 3))

    def classify(y: Any, **more: Any) -> Callable[[dict[str, Any]], Any]:
        return lambda given: keeping(OptimalTreeClassifier(**given, **more)).fit(X, y)

    def front(given: dict[str, Any]) -> Any:
        texts = [k for k in range(X.shape[1]) if not isinstance(X[0, k], str)]
        return pareto_front(X[:, texts].astype(float), labels, **given)

    return {
        "errors": classify(labels),
        "errors of classes": classify(classes),
        "penalty": classify(labels, complexity=0.001),
        "balanced accuracy": classify(labels, objective="balanced_accuracy"),
        "f1": classify(labels, objective="f1"),
        "auc": classify(labels, objective="auc"),
        "squares": lambda given: keeping(OptimalTreeRegressor(**given)).fit(X, numbers),
        "absolute errors": lambda given: keeping(
            OptimalTreeRegressor(criterion="absolute_error", **given)
        ).fit(X, numbers),
        "costs": lambda given: keeping(CostSensitiveTreeClassifier(**given)).fit(
            X, classes % 3, costs=costs
        ),
        "policies": lambda given: keeping(PolicyTree(**given)).fit_rewards(X, costs / 9),
        "fairness": lambda given: keeping(FairTreeClassifier(**given)).fit(X, labels, groups),
        "front": front,
    }


def measure(seed: int) -> dict[str, Any]:
    """Fit one drawn model; give the processor time from its limit to its end."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.choice(ROWS, p=ROW_SHARES))
    X, identifiers = draw_table(rng, n_rows)
    kinds = kinds_of_fits(rng, X)
    kind, limit = str(rng.choice(list(kinds))), float(rng.choice(LIMITS))
    given: dict[str, Any] = {"max_depth": int(rng.integers(2, 6)), "time_limit": limit}
    if rng.random() < 0.3:
        given["thresholds"] = "all"
    at_limit: list[float] = []
    timer = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    timer.start()
    start = time.perf_counter()
    found = kinds[kind](given)
    end, wall = time.process_time(), time.perf_counter() - start
    timer.cancel()
    return {
        "seed": seed,
        "kind": kind,
        "rows": n_rows,
        "identifiers": identifiers,
        **given,
        "status": getattr(getattr(found, "certificate_", found), "status", None),
        "after": round(end - at_limit[0], 3) if at_limit else 0.0,
        "wall": round(wall, 3),
    }


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fits", type=int, default=500, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="that of the first fit")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "time-limits.json")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = []
    with suppress(KeyboardInterrupt):  # what was measured is stored
        for seed in range(settings.seed, settings.seed + settings.fits):
            cells.append(measure(seed))
            if cells[-1]["after"] > SOON / 2:
                print(cells[-1], file=sys.stderr, flush=True)
    lines = []
    for kind in sorted({cell["kind"] for cell in cells}):
        after = [cell["after"] for cell in cells if cell["kind"] == kind]
        late = sum(seconds > SOON for seconds in after)
        figures = (np.median(after), max(after))
        lines.append([kind, str(len(after)), *(f"{x:.2f}" for x in figures), str(late)])
    header = ["fit", "fits", "median s after the limit", "most", f"more than {SOON:g} s"]
    print(report.markdown(header, lines))
    record = {"suite": "time-limits", **report.provenance(), "cells": cells}
    settings.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
