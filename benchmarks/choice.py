"""Which search is faster, that over columns or that over ranks, and which one is chosen?

    python benchmarks/choice.py                # the grid, and the factors that it suggests
    python benchmarks/choice.py --kinds quantile --limit 60

The engine chooses by `expected_times` (src/certree/engine/_choice.py), a model of the time of both
searches with measured rates. This command measures the same fits either way with one thread, by the
time of the processor, and prints what the choice costs beside the better search. The last table has
a factor for each kind of cost and depth: by how much the search over ranks takes longer than is
expected, beside that over columns. Multiply the rates of that kind with it (`_Rates.ranks`), and
measure again. Records go to ``results/choice.json``; a test compares the choices with them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import report  # noqa: E402

from certree import OptimalTreeClassifier, OptimalTreeRegressor  # noqa: E402
from certree.engine import Question, _choice  # noqa: E402
from certree.engine._choice import expected_times, prefers_ranks  # noqa: E402

ROWS, FEATURES, CUTS, DEPTHS = (400, 2500), 6, (8, 32, "all"), (2, 3)
KINDS: dict[str, Callable[..., Any]] = {
    "labels": OptimalTreeClassifier,
    "squares": OptimalTreeRegressor,
    "quantile": lambda *given, **more: OptimalTreeRegressor(
        *given, criterion="absolute_error", **more
    ),
}
"""The estimator of each kind of cost; labels are counted, others are sums of the values of rows."""


def draw(kind: str, n_rows: int) -> tuple[Any, Any]:
    """Draw a table of numbers with as much noise as signal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, FEATURES))
    target = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + rng.normal(size=n_rows)
    return X, target > 0 if kind == "labels" else np.round(target, 2)


def measure(kind: str, n_rows: int, cuts: Any, depth: int, limit: float) -> dict[str, Any]:
    """Fit both ways; give the seconds, or those until the limit, and what was expected."""
    X, y = draw(kind, n_rows)
    cell: dict[str, Any] = {"kind": kind, "rows": n_rows, "cuts": cuts, "depth": depth}
    for name, is_ranked in (("columns", False), ("ranks", True)):

        def choose(
            n_rows: int, n_ranks: Any, question: Question, is_ranked: bool = is_ranked
        ) -> bool:
            cell["asked"] = {
                "n_rows": n_rows,
                "n_ranks": n_ranks.tolist(),
                "n_classes": question.n_values,
                "kind": question.kind,
            }
            return is_ranked

        _choice.prefers_ranks = choose
        model = KINDS[kind](depth, thresholds=cuts, time_limit=None)
        start = time.process_time()
        model.fit(X, y, callback=lambda _, start=start: time.process_time() - start > limit)
        cell[name] = round(time.process_time() - start, 4)
        cell[f"{name} proven"] = bool(model.certificate_.is_optimal)
    return cell


def asked(cell: dict[str, Any]) -> dict[str, Any]:
    """Give what the choice of a cell is made from."""
    given = cell["asked"]
    return {
        "n_rows": given["n_rows"],
        "n_ranks": np.array(given["n_ranks"], dtype=np.int32),
        "question": Question(cell["depth"], n_values=given["n_classes"], kind=given["kind"]),
    }


def loss(cell: dict[str, Any]) -> float:
    """Give how many times as long as the faster search the chosen one takes."""
    chosen = cell["ranks"] if prefers_ranks(**asked(cell)) else cell["columns"]
    return float(chosen / min(cell["ranks"], cell["columns"]))


def factors(cells: list[dict[str, Any]]) -> str:
    """Lay out by how much the rates of ranks differ from what was measured beside columns."""
    lines = []
    for kind, depth in product(KINDS, DEPTHS):
        own = [cell for cell in cells if (cell["kind"], cell["depth"]) == (kind, depth)]
        ratios = []
        for cell in own:
            columns, ranks = expected_times(**asked(cell))
            ratios.append((cell["ranks"] / cell["columns"]) / (ranks / columns))
        if ratios:
            lines.append([kind, str(depth), f"{np.exp(np.mean(np.log(ratios))):.2f}"])
    return report.markdown(["kind", "depth", "factor"], lines)


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=tuple(KINDS))
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds per fit")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "choice.json")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = []
    for given in product(settings.kinds, ROWS, CUTS, DEPTHS):
        if given[:3] == ("quantile", max(ROWS), "all"):
            continue  # with 15 000 columns the first look takes minutes
        cells.append(measure(*given, settings.limit))
        print(cells[-1], file=sys.stderr, flush=True)
    header = ["kind", "rows", "cuts", "depth", "columns s", "ranks s", "choice / better"]
    lines = [
        [str(cell[name]) for name in ("kind", "rows", "cuts", "depth", "columns", "ranks")]
        + [f"{loss(cell):.2f}"]
        for cell in cells
    ]
    print(report.markdown(header, lines), factors(cells), sep="\n\n")
    record = {"suite": "choice", **report.provenance(), "cells": cells}
    settings.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
