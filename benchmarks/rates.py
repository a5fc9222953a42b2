"""How long do passes over pairs of features take? The rates of the core's model, measured again.

    python benchmarks/rates.py                  # every instruction set of this machine
    python benchmarks/rates.py --isa avx2 --repeats 30

At every set of rows, the search over ordered features chooses between pair tables and columns of
bits, and how many bins to make, by a model of the time of a pass
(cpp/core/search/ordered/model.hpp). This command fits trees of depth two to generated features with
few ranks, which is one pass and nothing else, by the time of the processor with one thread, the
least of several repeats. Differences between numbers of features, rows and ranks give the rates in
nanoseconds; what grows with the features and not with their pairs cancels out. Write what differs
much into ``pair_rates`` there. The other tables show whole passes over 30 features with the choice
of the model and with tables alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import report

from certree import _core

FEW_ROWS, MANY_ROWS = 500, 12_000
LANES = 32  # of 16 bits: what sums of so few rows take


def seconds(
    n_rows: int, n_features: int, n_ranks: int, isa: str, bits: bool, repeats: int
) -> float:
    """Time one pass over all pairs of features: the least of some repeats."""
    rng = np.random.default_rng(0)
    ranks = rng.integers(0, n_ranks, size=(n_features, n_rows)).astype(np.int32)
    counts = np.full(n_features, n_ranks, dtype=np.int32)
    labels = rng.integers(0, 2, n_rows).astype(np.int32)
    costs = np.array([[0, 1], [1, 0]], dtype=np.int64)
    options = {
        "max_depth": 2,
        "isa": isa,
        "use_bit_pairs": bits,
        "use_greedy_incumbent": False,
        "smallest": False,
    }
    least = np.inf
    for _ in range(repeats):
        start = time.process_time()
        found = _core.solve_ordered(ranks, counts, labels, costs, None, options, None)
        least = min(least, time.process_time() - start)
    assert found.counters["thresholds"] == 0, "all ranks are bins"
    return float(least)


def per_pair(n_rows: int, n: int, n_ranks: int, isa: str, bits: bool, repeats: int) -> float:
    """Give the nanoseconds of a pair of features, without what grows with the features alone."""
    few, many = (seconds(n_rows, k, n_ranks, isa, bits, repeats) for k in (n, 2 * n))
    return (many - 2 * few) / n**2 * 1e9  # 2 n (2 n + 1) / 2 pairs less twice n (n + 1) / 2


def rates(isa: str, repeats: int) -> dict[str, float]:
    """Measure all rates of an instruction set."""
    flags = {n: per_pair(n, 30, 2, isa, False, repeats) for n in (FEW_ROWS, MANY_ROWS)}
    row = (flags[MANY_ROWS] - flags[FEW_ROWS]) / (MANY_ROWS - FEW_ROWS)
    few, many = (per_pair(FEW_ROWS, 30, b, isa, False, repeats) for b in (LANES // 2, LANES))
    cells = (many - few) / (LANES - LANES // 2) / 2  # one register a bin, two labels
    # Four ranks are three columns: a pair of features is nine pairs of these.
    bits = {n: per_pair(n, 100, 4, isa, True, repeats) / 9 for n in (FEW_ROWS, MANY_ROWS)}
    word = (bits[MANY_ROWS] - bits[FEW_ROWS]) / ((MANY_ROWS - FEW_ROWS) / 64)
    return {
        "row": row,
        "cells": cells,
        "table": flags[FEW_ROWS] - row * FEW_ROWS - 2 * 2 * cells,
        "word": word,
        "column": (bits[FEW_ROWS] - word * (FEW_ROWS / 64 + 2)) / 2,
    }


def choices(isa: str, repeats: int) -> str:
    """Lay out what the choice of bits saves for features of some numbers of ranks."""
    lines = []
    for n_rows, n_ranks in product((FEW_ROWS, MANY_ROWS), (2, 3, 5, 8, 12, 20)):
        chosen, tables = (
            seconds(n_rows, 30, n_ranks, isa, bits, repeats) * 1e3 for bits in (True, False)
        )
        lines.append([isa, str(n_rows), str(n_ranks), f"{chosen:.3f}", f"{tables:.3f}"])
    return report.markdown(["instruction set", "rows", "ranks", "chosen ms", "tables ms"], lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--isa", nargs="+", choices=_core.isas(), default=_core.isas())
    parser.add_argument("--repeats", type=int, default=20)
    settings = parser.parse_args()
    measured = {isa: rates(isa, settings.repeats) for isa in settings.isa}
    names = list(next(iter(measured.values())))
    lines = [[isa, *(f"{found[name]:.3g}" for name in names)] for isa, found in measured.items()]
    print(report.markdown(["instruction set", *names], lines))
    for isa in settings.isa:
        print("", choices(isa, settings.repeats), sep="\n")


if __name__ == "__main__":
    main()
