"""The whole error-versus-splits path against one solve, at depth 4.

    CERTREE_DATA=... python benchmarks/path.py [--depth D] [--only NAME ...]

Processor seconds of the compiled core, the least of three, for the best tree and for the best tree
of every size. The table goes to the screen, the record to ``results/path.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import instances, report  # noqa: E402

from certree import _core  # noqa: E402


def least_seconds(action: Callable[[], Any], rounds: int = 3) -> tuple[Any, float]:
    """Run a few times and keep the least processor time."""
    best = float("inf")
    answer = None
    for _ in range(rounds):
        start = time.process_time()
        answer = action()
        best = min(best, time.process_time() - start)
    return answer, best


def measure(instance: instances.Instance, depth: int) -> dict[str, Any]:
    """Solve once for the best tree and once for the path, and compare their last entries."""
    columns = np.asfortranarray(instance.columns)
    classes, labels = np.unique(instance.labels, return_inverse=True)
    costs = (1 - np.eye(len(classes))).astype(np.int64)
    arguments = (columns, labels.astype(np.int32), costs, None, {"max_depth": depth})
    single, single_s = least_seconds(lambda: _core.solve(*arguments))
    path, path_s = least_seconds(lambda: _core.solve_path(*arguments))
    if path.entries[-1][2] != single.upper_bound:
        raise SystemExit(f"{instance.name}: the path ends at another optimum than the solve")
    return {
        "name": instance.name,
        "solve_s": single_s,
        "path_s": path_s,
        "ratio": path_s / single_s,
        "sizes": len(path.entries),
    }


def main() -> None:
    """Run, print, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    runs = [
        measure(instance, arguments.depth)
        for instance in instances.accuracy_instances()
        if not arguments.only or instance.name in arguments.only
    ]
    header = ["data set", "one solve s", "path s", "ratio", "sizes on the path"]
    lines = [
        [
            run["name"],
            f"{run['solve_s']:.3g}",
            f"{run['path_s']:.3g}",
            f"{run['ratio']:.2f}",
            str(run["sizes"]),
        ]
        for run in runs
    ]
    print(report.markdown(header, lines))
    mean = report.geometric_mean([run["ratio"] for run in runs])
    print(f"geometric mean {mean:.2f}, largest {max(run['ratio'] for run in runs):.2f}")
    record = {**report.provenance(), "depth": arguments.depth, "runs": runs}
    (HERE / "results" / "path.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
