"""What fewer thresholds lose: training cost with 8, 32 ("auto") and all cut points per number.

    CERTREE_DATA=... python benchmarks/thresholds.py [--limit S] [--only NAME ...]
    python benchmarks/thresholds.py --page     # put the latest record into the guide's page

Trees of depth 2 and 3 on the sets of numbers and on scikit-learn's bundled sets. The record goes to
``results/thresholds.json``; a run with ``--only`` or ``--depth`` is stored only where ``--out``
says. A cost that is not proven least within the limit has the sign ≤.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import instances, report  # noqa: E402
from harness.number_suites import continuous_instances  # noqa: E402
from sklearn import datasets  # noqa: E402

from certree import OptimalityWarning, OptimalTreeClassifier, OptimalTreeRegressor  # noqa: E402

PAGE = HERE.parent / "docs" / "guide" / "thresholds.md"
RECORD = HERE / "results" / "thresholds.json"
MARKED = re.compile(r"(<!-- table: thresholds -->\n).*?(<!-- end -->)", re.DOTALL)
CHOICES: tuple[Any, ...] = (8, "auto", "all")

Line = dict[str, Any]


def tables() -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield name, features, targets and whether the targets are numbers."""
    if instances.data_folder() is not None:
        for found in continuous_instances():
            yield found.name, found.columns, found.labels, False
    for name in ("breast_cancer", "wine", "diabetes"):
        values, targets = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name.replace("_", " "), values, targets, name == "diabetes"


def measure(values: Any, targets: Any, is_regression: bool, depth: int, limit: float) -> Line:
    """Fit one table with every choice of thresholds."""
    kind = OptimalTreeRegressor if is_regression else OptimalTreeClassifier
    found: Line = {}
    for thresholds in CHOICES:
        model = kind(max_depth=depth, thresholds=thresholds, time_limit=limit, n_jobs=1)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimalityWarning)
            model.fit(values, targets)
        found[str(thresholds)] = {
            "cost": float(model.certificate_.cost),
            "score": float(model.score(values, targets)),
            "proven": bool(model.certificate_.is_optimal),
            "status": model.certificate_.status,
            "seconds": round(perf_counter() - start, 4),
        }
    return found


def cost_text(fit: Line, is_regression: bool) -> str:
    """Write errors, or the squared error in thousands; ≤ without a proof."""
    cost = f"{fit['cost'] / 1000:.1f}" if is_regression else f"{fit['cost']:.0f}"
    return cost if fit["proven"] else f"≤ {cost}"


def loss_text(line: Line) -> str:
    """Write how many points of accuracy or R² the default loses, where both are proven."""
    auto, everything = line["fits"]["auto"], line["fits"]["all"]
    if not (auto["proven"] and everything["proven"]):
        return "not known"
    return f"{100 * (everything['score'] - auto['score']):.2f}"


def table(lines: list[Line]) -> str:
    """Lay the record out."""
    header = ["data set", "rows x features", "depth", "8", '32 ("auto")', '"all"', "auto loses"]
    cells = []
    for line in lines:
        fits = [line["fits"][str(choice)] for choice in CHOICES]
        name = f"{line['name']} (squared error / 1000)" if line["is_regression"] else line["name"]
        shape = f"{line['rows']} x {line['features']}"
        costs = [cost_text(fit, line["is_regression"]) for fit in fits]
        cells.append([name, shape, str(line["depth"]), *costs, loss_text(line)])
    return report.markdown(header, cells)


def write_page(record: dict[str, Any]) -> None:
    """Replace the table of the guide by the one of the record."""
    source = (
        f"Measured on {record['date'][:10]}, one thread, at most {record['limit']:g} seconds a fit."
    )
    text = f"{source}\n\n{table(record['lines'])}\n"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda m: m[1] + text + m[2], page), encoding="utf-8")


def main() -> None:
    """Run, print and store, or rewrite the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these sets alone")
    parser.add_argument("--depth", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds per fit")
    parser.add_argument("--page", action="store_true", help="measure nothing, rewrite the page")
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON (default: results/)")
    settings = parser.parse_args()
    if settings.page:
        write_page(json.loads((settings.out or RECORD).read_text(encoding="utf-8")))
        return
    if instances.data_folder() is None:
        print("CERTREE_DATA is not set: using bundled sets alone.", file=sys.stderr)
    origin = report.provenance()
    lines: list[Line] = []
    for name, values, targets, is_regression in tables():
        if settings.only and name not in settings.only:
            continue
        for depth in settings.depth:
            fits = measure(values, targets, is_regression, depth, settings.limit)
            rows, features = values.shape
            head = {"name": name, "rows": rows, "features": features, "depth": depth}
            lines.append({**head, "is_regression": is_regression, "fits": fits})
            print(f"{name}, depth {depth}: {fits}", file=sys.stderr, flush=True)
    if not lines:
        parser.error(f"no set is named {settings.only}.")
    print(table(lines))
    is_whole = (
        not settings.only and settings.depth == [2, 3] and instances.data_folder() is not None
    )
    if settings.out or is_whole:
        record = {**origin, "limit": settings.limit, "lines": lines}
        text = json.dumps(record, indent=1) + "\n"
        (settings.out or RECORD).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
