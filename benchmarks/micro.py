"""Time the compiled core alone on generated tables: work counters and nanoseconds per evaluation.

    python benchmarks/micro.py                      # the standard shapes
    python benchmarks/micro.py --rows 2000 --columns 60 --depth 4 --isa avx2
    python benchmarks/micro.py --set similarity=off --repeats 1

The tables come from a fixed seed and the search is deterministic with one thread, so the counters
are the same on every machine: a change in them is a change in the algorithm, a change in
nanoseconds per evaluation alone is a change in the code that evaluates. Run it before and after a
change of the core; under callgrind or perf through benchmarks/profile.sh.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from certree import _core

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.instances import Instance, random_instance
from harness.report import WORK_COUNTERS, markdown

# (rows, columns, depth): few rows and many columns, the usual middle, many rows and few columns.
SHAPES = ((150, 60, 4), (700, 60, 4), (700, 120, 3), (5000, 40, 4), (50000, 30, 3))


def switch(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE, where on and off are booleans and digits are numbers."""
    name, _, value = text.partition("=")
    if value in ("on", "off"):
        return name, value == "on"
    return name, int(value) if value.lstrip("-").isdigit() else value


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--noise", type=float, default=0.2, help="share of labels flipped")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--isa", default="auto", choices=["auto", *_core.isas()])
    parser.add_argument("--set", nargs="+", type=switch, default=[], metavar="NAME=VALUE")
    parser.add_argument("--all-counters", action="store_true")
    return parser.parse_args()


def solve(instance: Instance, options: dict[str, Any], repeats: int) -> tuple[Any, float]:
    """Solve a few times; give the result and the least seconds."""
    columns = np.asfortranarray(instance.columns)
    types = instance.labels.astype(np.int32)
    cost_matrix = 1 - np.eye(2, dtype=np.int64)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = _core.solve(columns, types, cost_matrix, None, options)
        times.append(time.perf_counter() - start)
    return result, min(times)


def main() -> None:
    """Solve the tables and print one line each."""
    settings = arguments()
    shapes = (
        SHAPES if settings.rows is None else ((settings.rows, settings.columns, settings.depth),)
    )
    header = ["table", "depth", "value", "ms", "ns per evaluation"]
    header += [name.replace("_", " ") for name in WORK_COUNTERS]
    lines = []
    for rows, columns, depth in shapes:
        instance = random_instance(rows, columns, settings.seed, settings.noise)
        options = {"max_depth": depth, "isa": settings.isa, **dict(settings.set)}
        result, seconds = solve(instance, options, settings.repeats)
        evaluations = result.counters.get(WORK_COUNTERS[0], 0)
        line = [instance.name, str(depth), str(result.upper_bound), f"{1e3 * seconds:.3f}"]
        line += [f"{1e9 * seconds / max(1, evaluations):.0f}"]
        lines.append([*line, *(f"{result.counters.get(name, 0):,}" for name in WORK_COUNTERS)])
        if settings.all_counters:
            print(instance.name, {k: v for k, v in result.counters.items() if v}, file=sys.stderr)
    print(markdown(header, lines))


if __name__ == "__main__":
    main()
