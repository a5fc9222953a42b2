"""Policies over every threshold, on tables of the shape that policytree reports.

    python benchmarks/policies.py                     # 1 000 and 10 000 rows
    python benchmarks/policies.py --rows 1000 --limit 20

Thirty features of real numbers, twenty actions with a score per row, trees of depth two.
policytree, which looks at every threshold too, takes about a minute and a half for 1 000 rows and
three hours for 10 000 (its documentation, on other machines). Tables are drawn with two seeds each:
"signal", where the best action depends on two features, "weak signal", with five times the noise,
and "noise" alone. Seconds are those of the processor, with one thread. Records go to
``results/policies.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import report  # noqa: E402

from certree import PolicyTree  # noqa: E402

FEATURES, ACTIONS, DEPTH = 30, 20, 2
KINDS = {"signal": (1.0, 1.0), "weak signal": (1.0, 5.0), "noise": (0.0, 1.0)}
"""How much of the scores depends on features, and how much is noise."""


def draw(n_rows: int, kind: str, seed: int) -> tuple[Any, Any]:
    """Draw features, and scores in tenths: an action is good on its side of two features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, FEATURES))
    action = np.arange(ACTIONS)
    signal, noise = KINDS[kind]
    good = (X[:, [0]] > 0.2) * (action % 4 < 2) + (X[:, [1]] > -0.3) * (action % 3 == 0)
    scores = signal * (good + action / ACTIONS) + noise * rng.normal(size=(n_rows, ACTIONS))
    return X, np.round(scores, 1)


def measure(n_rows: int, kind: str, seed: int, limit: float) -> dict[str, Any]:
    """Fit one table."""
    X, scores = draw(n_rows, kind, seed)
    model = PolicyTree(max_depth=DEPTH, thresholds="all", time_limit=limit, n_jobs=1)
    start = time.process_time()
    model.fit_rewards(X, scores)
    seconds = time.process_time() - start
    found = model.certificate_
    return {
        "rows": n_rows,
        "kind": kind,
        "seed": seed,
        "seconds": round(seconds, 3),
        "proven": bool(found.is_optimal),
        "gap": float(found.gap),
    }


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds per fit")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "policies.json")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = []
    for n_rows, kind, seed in product(settings.rows, KINDS, (0, 1)):
        cells.append(measure(n_rows, kind, seed, settings.limit))
        print(cells[-1], file=sys.stderr, flush=True)
    lines = []
    for cell in cells:
        proven = "yes" if cell["proven"] else f"no, gap {cell['gap']:.3g}"
        names = [str(cell[name]) for name in ("rows", "kind", "seed")]
        lines.append([*names, f"{cell['seconds']:.2f}", proven])
    print(report.markdown(["rows", "table", "seed", "seconds", "proven"], lines))
    record = {"suite": "policies", **report.provenance(), "cells": cells}
    settings.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
